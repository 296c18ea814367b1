// Second pass of a pipe sub-step: water and sediment move by the discharges of
// the first, and the water takes up and drops.
#define_import_path bevy_erode::gpu::pipe::update

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, TILE, MOVED, SETTLING, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, beyond, exactly, ground_of, index, inside, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, status_word, status_number, takes_part, is_settled, mark_ground, mark_water}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::pipe::constants::pipe
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

fn surface(cell: vec2<i32>) -> vec2<f32> {
    let at = index(cell);
    let z = ground_of(rock[at], cover[at].x);
    return vec2(z, z + cover[at].y);
}

// Ground of a neighbor, or beyond the border.
fn ground_at(cell: vec2<i32>, side: u32) -> f32 {
    if inside(cell) { return surface(cell).x; }
    let last = vec2<i32>(constants.size) - 1;
    let edge = clamp(cell, vec2(0), last);
    let inner = surface(clamp(edge - (cell - edge), vec2(0), last)).x;
    return beyond(side, surface(edge), inner).x;
}

// Sediment per water of a cell; what comes from beyond is clean.
fn load_of(cell: vec2<i32>) -> f32 {
    if !inside(cell) { return 0.0; }
    let at = index(cell);
    return load[at].x / max(cover[at].y, FILM);
}

fn carried(given: f32, load_before: f32, load_after: f32) -> f32 {
    return max(given, 0.0) * load_before + min(given, 0.0) * load_after;
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

    // Moved, water out, water in, solids out. units: m
    var sums = vec4(0.0);
    if inside(cell) {
        let at = index(cell);
        let share = stable_share();
        let a = pipe.per_length * share;
        let here = flow[at];
        let size = vec2<i32>(constants.size);
        var west: f32;
        var north: f32;
        if cell.x == 0 { west = status_number(constants.edges.y + u32(cell.y)); }
        else { west = flow[at - 1u].x; }
        if cell.y == 0 { north = status_number(constants.edges.y + constants.size.y + u32(cell.x)); }
        else { north = flow[at - constants.size.x].y; }
        let own = load_of(cell);
        let load_west = carried(west, load_of(cell + vec2(-1, 0)), own);
        let load_east = carried(here.x, own, load_of(cell + vec2(1, 0)));
        let load_north = carried(north, load_of(cell + vec2(0, -1)), own);
        let load_south = carried(here.y, own, load_of(cell + vec2(0, 1)));

        let before = cover[at].y;
        let gain = a * ((west - here.x) + (north - here.y));
        let after_sum = add_exactly(vec2(before, load[at].y), gain);
        let after = max(after_sum.x, 0.0);
        let load_gain = a * ((load_west - load_east) + (load_north - load_south));
        let load_now = max(load[at].x + load_gain, 0.0);

        let z = surface(cell).x;
        let z_west = ground_at(cell + vec2(-1, 0), 0u);
        let z_east = ground_at(cell + vec2(1, 0), 1u);
        let z_north = ground_at(cell + vec2(0, -1), 2u);
        let z_south = ground_at(cell + vec2(0, 1), 3u);
        let depth = max(max(before, after), FILM);
        let rise = vec2(z_east - z_west, z_south - z_north) * pipe.gradient;
        let tilt = rise.x * rise.x + rise.y * rise.y;
        let squares = ((west * west + here.x * here.x) + (north * north + here.y * here.y)) * 0.5;
        let steep = 1.0 + tilt;
        let inverse = squares / ((depth * depth) * steep);
        let wave = pipe.gravity * depth;
        atomicMax(&pace, bitcast<u32>(wave + min(inverse * steep, 4.0 * wave)));
        let effective = min(depth, pipe.full_depth);
        let sine = max(tilt, pipe.min_sine_squared * steep);
        let around = (z_west + z_east) + (z_north + z_south);
        let curvature = around - 4.0 * z;
        let shape = min(max(1.0 - pipe.rounding * curvature, 0.0), 2.0);
        let wet = after > FILM;
        let full = pipe.capacity * effective * sqrt(inverse * sine) * shape;
        let capacity = select(0.0, full, wet);
        let fall_share = select(1.0, pipe.fall_share * share, wet);

        let lack = capacity - load_now;
        let fallen = max(-lack, 0.0) * fall_share;
        let wanted = max(lack, 0.0) * pipe.soil_share * share;
        let soil = cover[at].x;
        let taken = min(wanted, soil);
        var cut = (wanted - taken) * pipe.rock_per_soil;
        if constants.has_hardness != 0u { cut *= 1.0 - textureLoad(hardness, cell, 0).x; }
        let new_soil = exactly(exactly(soil - taken) + fallen);
        // What the soil's numbers really lost, so that nothing is made up.
        let lost = exactly(soil - new_soil);
        let left = select(0.0, max(load_now + lost, 0.0), wet);
        new_cover[at] = vec2(new_soil, after);
        new_load[at] = vec2(left + cut, after_sum.y);
        new_rock[at] = add_exactly(rock[at], -cut);

        sums.x = max(lost, 0.0) + cut;
        if cell.x == 0 { cross_border(-west, -load_west, &sums); }
        if cell.y == 0 { cross_border(-north, -load_north, &sums); }
        if cell.x == size.x - 1 { cross_border(here.x, load_east, &sums); }
        if cell.y == size.y - 1 { cross_border(here.y, load_south, &sums); }
        sums = vec4(sums.x, sums.yzw * a);
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
