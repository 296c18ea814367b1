// Second pass of a pipe sub-step: water and sediment move by the discharges of
// the first, and the water takes up and drops. What it wears is smoothed over a
// cell's neighbors and what falls is scattered to them, so a workgroup works on one
// more cell around its own.
#define_import_path bevy_erode::gpu::pipe::update

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, TILE, MOVED, SETTLING, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, beyond, depth_power, exactly, ground_of, index, inside, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, status_word, status_number, takes_part, is_settled, mark_ground, mark_water}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::pipe::constants::{pipe, MAX_SMOOTHING, MAX_SQUARED_FROUDE, SCATTER}
#import bevy_erode::gpu::pipe::stable::stable_share

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> new_rock: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> new_cover: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> new_load: array<vec2<f32>>;
@group(0) @binding(9) var hardness: texture_2d<f32>;

var<workgroup> mode: u32;
// Most of g·d + v², and what the tile is told.
var<workgroup> pace: atomic<u32>;
var<workgroup> tile_state: atomic<u32>;
var<workgroup> changes: atomic<u32>;

const GROUND_CHANGED: u32 = 1u;

// Cells along a side of what a workgroup works on, and its ring beyond its own.
const SIDE: u32 = GROUP + 2u;
const RING: u32 = 4u * (GROUP + 1u);

// What the water wears; its level and the ground; what it lets fall, and the same by
// its depth.
var<workgroup> worn: array<f32, SIDE * SIDE>;
var<workgroup> heights: array<vec2<f32>, SIDE * SIDE>;
var<workgroup> falls: array<vec2<f32>, SIDE * SIDE>;

// Sediment per water of a cell; what comes from beyond is clean.
fn load_of(cell: vec2<i32>) -> f32 {
    if !inside(cell) { return 0.0; }
    let at = index(cell);
    return load[at].x / max(cover[at].y, FILM);
}

fn carried(given: f32, load_before: f32, load_after: f32) -> f32 {
    return max(given, 0.0) * load_before + min(given, 0.0) * load_after;
}

// A cell after its water has moved.
struct Moved {
    // Water as a two-float sum, and its sediment.
    water: vec2<f32>,
    load: f32,
    // Discharges and what they carry: west, east, north, south.
    given: vec4<f32>,
    carried: vec4<f32>,
    pace: f32,
}

// Moves the water of a cell, and notes what it does to its bed at `at`.
fn move_on(cell: vec2<i32>, share: f32, at: u32) -> Moved {
    let here = index(cell);
    let a = pipe.per_length * share;
    var given = vec4(0.0, flow[here].x, 0.0, flow[here].y);
    if cell.x == 0 { given.x = status_number(constants.edges.y + u32(cell.y)); }
    else { given.x = flow[here - 1u].x; }
    if cell.y == 0 { given.z = status_number(constants.edges.y + constants.size.y + u32(cell.x)); }
    else { given.z = flow[here - constants.size.x].y; }
    let own = load_of(cell);
    let carries = vec4(
        carried(given.x, load_of(cell + vec2(-1, 0)), own),
        carried(given.y, own, load_of(cell + vec2(1, 0))),
        carried(given.z, load_of(cell + vec2(0, -1)), own),
        carried(given.w, own, load_of(cell + vec2(0, 1))),
    );
    let before = cover[here].y;
    let gain = a * ((given.x - given.y) + (given.z - given.w));
    let sum = add_exactly(vec2(before, load[here].y), gain);
    let after = max(sum.x, 0.0);
    let load_gain = a * ((carries.x - carries.y) + (carries.z - carries.w));
    let load_now = max(load[here].x + load_gain, 0.0);

    let depth = max(max(before, after), FILM);
    let squares = given * given;
    let speed = ((squares.x + squares.y) + (squares.z + squares.w)) / (depth * depth);
    let wave = 2.0 * pipe.gravity * depth;
    let bounded = min(speed, MAX_SQUARED_FROUDE * wave);
    // The bed feels where the water goes as a whole.
    let run = given.xz + given.yw;
    let drawn = min(0.5 * (run.x * run.x + run.y * run.y) / (depth * depth), MAX_SQUARED_FROUDE * wave);
    let stress = pipe.stress * drawn * ((depth * depth) / depth_power(depth));
    let wet = after > FILM;
    let settling = pipe.settling * share;
    let fallen = load_now * select(1.0, settling / (depth + settling), wet);
    let ground = ground_of(rock[here], cover[here].x);
    worn[at] = select(0.0, pipe.carving * share * max(stress - pipe.threshold, 0.0), wet);
    heights[at] = vec2(ground + depth, ground);
    falls[at] = vec2(fallen, fallen / depth);
    return Moved(vec2(after, sum.y), load_now, given, carries, 0.5 * (wave + bounded));
}

// What of that which falls goes from one place of the workgroup to another, less
// what comes back.
fn scattered(one: u32, other: u32) -> f32 {
    let there = clamp((heights[one].x - heights[other].y) * falls[one].y, 0.0, falls[one].x);
    let back = clamp((heights[other].x - heights[one].y) * falls[other].y, 0.0, falls[other].x);
    return SCATTER * (there - back);
}

// The mean of what is worn at a place and around it.
fn smoothed(at: u32) -> f32 {
    let corners = (worn[at - SIDE - 1u] + worn[at + SIDE + 1u]) + (worn[at - SIDE + 1u] + worn[at + SIDE - 1u]);
    let sides = (worn[at - SIDE] + worn[at + SIDE]) + (worn[at - 1u] + worn[at + 1u]);
    return ((corners + sides) + worn[at]) * (1.0 / 9.0);
}

// Adds to a thickness, rounded down: what is left over of `gain` is never negative.
fn add_rounded_down(thickness: f32, gain: f32) -> f32 {
    let sum = exactly(thickness + gain);
    let above = exactly(sum - thickness) > gain;
    return bitcast<f32>(bitcast<u32>(sum) - select(0u, 1u, above));
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let tile = group.xy * GROUP / TILE;
    let tile_number = tile.y * constants.tiles.x + tile.x;
    let cell = vec2<i32>(group.xy * GROUP + id.xy);
    if number == 0u {
        mode = select(select(2u, 0u, is_settled(tile)), 1u, takes_part(tile));
    }
    let mode_here = workgroupUniformLoad(&mode);
    if mode_here != 1u {
        if mode_here == 2u && inside(cell) {
            let at = index(cell);
            new_rock[at] = rock[at];
            new_cover[at] = cover[at];
            new_load[at] = load[at];
        }
        if number == 0u {
            // Only when both copies are equal may this tile rest.
            let is_second = (status_word(constants.tile_states.x + tile_number) & SETTLING) != 0u;
            let rest = select(SETTLING, AT_REST, is_second);
            atomicOr(&status[constants.tile_states.y + tile_number], rest);
        }
        return;
    }

    let share = stable_share();
    let last = vec2<i32>(constants.size) - 1;
    let place = (id.y + 1u) * SIDE + id.x + 1u;
    var moved: Moved;
    if inside(cell) { moved = move_on(cell, share, place); }
    if number < RING {
        // The ring: its north and south rows, then what is left of its columns.
        var local = vec2(number % SIDE, select(0u, SIDE - 1u, number >= SIDE));
        if number >= 2u * SIDE {
            let rest = number - 2u * SIDE;
            local = vec2(select(0u, SIDE - 1u, rest >= GROUP), rest % GROUP + 1u);
        }
        let there = vec2<i32>(group.xy * GROUP + local) - 1;
        move_on(clamp(there, vec2(0), last), share, local.y * SIDE + local.x);
    }
    workgroupBarrier();
    // Where the land ends within the group, what is worn beyond is as at its edge.
    if all(cell <= last + 1) && any(cell > last) {
        let edge = vec2<u32>(min(cell, last) - cell + vec2<i32>(id.xy) + 1);
        worn[place] = worn[edge.y * SIDE + edge.x];
    }
    workgroupBarrier();

    // Moved, water out, water in, solids out. units: m
    var sums = vec4(0.0);
    if inside(cell) {
        let at = index(cell);
        let after = moved.water.x;
        let wet = after > FILM;
        // Ground around: west, east, north, south. Beyond a border it goes on.
        let z = heights[place].y;
        var around = vec4(z);
        if cell.x > 0 { around.x = heights[place - 1u].y; }
        if cell.x < last.x { around.y = heights[place + 1u].y; }
        if cell.y > 0 { around.z = heights[place - SIDE].y; }
        if cell.y < last.y { around.w = heights[place + SIDE].y; }
        let inner = around.yxwz;
        if cell.x == 0 { around.x = beyond(0u, vec2(z, 0.0), inner.x).x; }
        if cell.x == last.x { around.y = beyond(1u, vec2(z, 0.0), inner.y).x; }
        if cell.y == 0 { around.z = beyond(2u, vec2(z, 0.0), inner.z).x; }
        if cell.y == last.y { around.w = beyond(3u, vec2(z, 0.0), inner.w).x; }
        let bend = pipe.smoothing * (((around.x + around.y) + (around.z + around.w)) - 4.0 * z);
        let worn_here = smoothed(place) * (1.0 - clamp(bend, -MAX_SMOOTHING, MAX_SMOOTHING));
        // Nothing is scattered over a border.
        var net = vec4(0.0);
        if cell.x > 0 { net.x = scattered(place - 1u, place); }
        if cell.x < last.x { net.y = scattered(place, place + 1u); }
        if cell.y > 0 { net.z = scattered(place - SIDE, place); }
        if cell.y < last.y { net.w = scattered(place, place + SIDE); }
        let fallen = falls[place].x;
        let comes = max(fallen + ((net.x - net.y) + (net.z - net.w)), 0.0);

        let load_now = max(moved.load - fallen, 0.0);
        let full = pipe.carrying * after;
        let room = max(full - load_now, 0.0);
        let wanted = select(0.0, worn_here * room / max(full + worn_here, 1e-30), wet);
        let surplus = max(load_now - full, 0.0);
        let soil = cover[at].x;
        let taken = min(wanted, soil);
        var cut = (wanted - taken) * pipe.rock_per_soil;
        if constants.has_hardness != 0u { cut *= 1.0 - textureLoad(hardness, cell, 0).x; }
        let bare = exactly(soil - taken);
        // A load that stays keeps what rounding leaves; of one that dries all falls.
        let gain = comes + surplus;
        let new_soil = select(exactly(bare + gain), add_rounded_down(bare, gain), wet);
        // What the soil's numbers really lost, so that nothing is made up.
        let lost = exactly(soil - new_soil);
        let left = select(0.0, max((load_now + comes) + lost, 0.0), wet);
        new_cover[at] = vec2(new_soil, after);
        new_load[at] = vec2(left + cut, moved.water.y);
        new_rock[at] = add_exactly(rock[at], -cut);

        sums.x = max(lost, 0.0) + cut;
        if cell.x == 0 { cross_border(-moved.given.x, -moved.carried.x, &sums); }
        if cell.y == 0 { cross_border(-moved.given.z, -moved.carried.z, &sums); }
        if cell.x == last.x { cross_border(moved.given.y, moved.carried.y, &sums); }
        if cell.y == last.y { cross_border(moved.given.w, moved.carried.w, &sums); }
        sums = vec4(sums.x, sums.yzw * (pipe.per_length * share));
        atomicMax(&pace, bitcast<u32>(moved.pace));
        if wet { atomicOr(&tile_state, wet_bits(vec2<u32>(cell))); }
        if cut != 0.0 || lost != 0.0 { atomicOr(&changes, GROUND_CHANGED); }
    }
    add_to_ledger(group.y * groups.x + group.x, MOVED, 4u, number, sums);
    // `add_to_ledger` ends with a barrier.
    if number == 0u {
        atomicMax(&status[constants.pace.y], atomicLoad(&pace));
        atomicOr(&status[constants.tile_states.y + tile_number], atomicLoad(&tile_state));
        mark_water(tile_number);
        if atomicLoad(&changes) != 0u {
            mark_ground(tile_number);
        }
    }
}

// Counts what crosses the border: positive where water goes out.
fn cross_border(given: f32, solids: f32, sums: ptr<function, vec4<f32>>) {
    (*sums).y += max(given, 0.0);
    (*sums).z += max(-given, 0.0);
    (*sums).w += solids;
}
