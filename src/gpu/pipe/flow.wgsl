// First pass of a pipe sub-step: the new discharge through every face, limited
// by what the giving cell has. The equations are those of the module `pipe`.
//
// A face's limit depends on all faces around both of its cells, so a workgroup
// loads its 16 × 16 cells and two more around them.
#define_import_path bevy_erode::gpu::pipe::flow

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, TILE, OPEN, WALL}
#import bevy_erode::gpu::state::{beyond, depth_power, ground_of, index, inside}
#import bevy_erode::gpu::status::{status, status_word, status_number, write_status, takes_part, is_settled}
#import bevy_erode::gpu::pipe::constants::{pipe, FLOOD, LOST_TIME, MAX_BORNE_SHARE, NEVER_ALL, SPREADING, STRONGEST}
#import bevy_erode::gpu::pipe::stable::stable_share

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> new_flow: array<vec2<f32>>;

// Cells along a side of what a workgroup loads, and of that without its outermost
// ring.
const SIDE: u32 = GROUP + 4u;
const INNER: u32 = GROUP + 2u;
const AREA: u32 = SIDE * SIDE;
const INNER_AREA: u32 = INNER * INNER;
const INVOCATIONS: u32 = GROUP * GROUP;

// Ground and water of the cells; discharges through their east and south
// faces, as they were and as they would like to be; and what cells can give.
var<workgroup> ground: array<f32, AREA>;
var<workgroup> water: array<f32, AREA>;
var<workgroup> old: array<vec2<f32>, AREA>;
var<workgroup> wish: array<vec2<f32>, AREA>;
var<workgroup> given: array<f32, AREA>;
var<workgroup> mode: u32;

fn surface(cell: vec2<i32>) -> vec2<f32> {
    let at = index(cell);
    let above = cover[at];
    return vec2(ground_of(rock[at], above.x), above.y);
}

// Ground and water of a cell or of what lies beyond the border.
fn look(cell: vec2<i32>) -> vec2<f32> {
    if inside(cell) { return surface(cell); }
    let last = vec2<i32>(constants.size) - 1;
    let edge = clamp(cell, vec2(0), last);
    let out = cell - edge;
    // Corners and what is farther out are not asked for.
    if abs(out.x) + abs(out.y) != 1 { return vec2(0.0); }
    let inner = surface(clamp(edge - out, vec2(0), last)).x;
    var side = select(0u, 1u, out.x > 0);
    if out.y != 0 { side = select(2u, 3u, out.y > 0); }
    return beyond(side, surface(edge), inner);
}

// Old discharges through the east and the south face of a cell. Beyond its ends
// a row flows as it does there; beside the land nothing flows.
fn old_faces(cell: vec2<i32>) -> vec2<f32> {
    let size = vec2<i32>(constants.size);
    var faces = vec2(0.0);
    if cell.y >= 0 && cell.y < size.y {
        let x = clamp(cell.x, -1, size.x - 1);
        if x < 0 { faces.x = status_number(constants.edges.x + u32(cell.y)); }
        else { faces.x = flow[index(vec2(x, cell.y))].x; }
    }
    if cell.x >= 0 && cell.x < size.x {
        let y = clamp(cell.y, -1, size.y - 1);
        if y < 0 { faces.y = status_number(constants.edges.x + u32(size.y + cell.x)); }
        else { faces.y = flow[index(vec2(cell.x, y))].y; }
    }
    return faces;
}

// The new discharge of a face before any limit. `across` are the old discharges
// that cross its direction: at the two sides of its first cell, then of its second.
fn face(share: f32, a: u32, b: u32, was: f32, before: f32, behind: f32, across: vec4<f32>) -> f32 {
    let rise = ground[b] - ground[a];
    let depth = max(water[a] - max(rise, 0.0), water[b] + min(rise, 0.0));
    let h = max(depth, FILM);
    let power = depth_power(h);
    let sums = across.xz + across.yw;
    let crossing = sums.x + sums.y;
    let size = sqrt(was * was + (crossing * crossing) * (1.0 / 16.0));
    let calmed = was + pipe.calm * share * ((before + behind) - 2.0 * was);
    let pushed = calmed - pipe.push * share * h * (rise + (water[b] - water[a]));
    let straight = max(abs(sums.x) - abs(before + was), 0.0) - max(abs(sums.y) - abs(was + behind), 0.0);
    let deeper = max(max(water[a], water[b]), FILM);
    // What the giving cell sends out in all, signed like the discharge.
    let sent = select(
        (was - behind) + (across.z - across.w),
        (was - before) + (across.y - across.x),
        was > 0.0,
    );
    let borne = min(FLOOD * pipe.per_length * share * abs(was), MAX_BORNE_SHARE * deeper);
    let drag = pipe.drag * share * size;
    let flows = (pushed * deeper - borne * sent) * power
        + drag * (was * deeper + (0.5 * SPREADING) * (straight * h));
    let now = flows / ((power + 2.0 * drag) * deeper);
    return select(0.0, clamp(now, -STRONGEST, STRONGEST), depth > FILM);
}

// What a border allows of a discharge; `outward` is +1 or -1.
fn allowed(side: u32, discharge: f32, outward: f32) -> f32 {
    switch constants.borders[side] {
        case WALL: { return 0.0; }
        case OPEN: { return max(discharge * outward, 0.0) * outward; }
        default: { return discharge; }
    }
}

fn limited(wish: f32, share_before: f32, share_after: f32) -> f32 {
    return max(wish, 0.0) * share_before + min(wish, 0.0) * share_after;
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let first = vec2<i32>(group.xy * GROUP) - 2;
    let tile = group.xy * GROUP / TILE;
    let cell = vec2<i32>(group.xy * GROUP + id.xy);
    if number == 0u {
        // The states of the next sub-step begin here.
        if all(group.xy % (TILE / GROUP) == vec2(0u)) {
            atomicStore(&status[constants.tile_states.y + tile.y * constants.tiles.x + tile.x], 0u);
        }
        if all(group.xy == vec2(0u)) {
            atomicStore(&status[constants.pace.y], 0u);
            let lost = status_number(LOST_TIME) + pipe.dt * (1.0 - stable_share());
            write_status(LOST_TIME, lost);
        }
        mode = select(select(2u, 0u, is_settled(tile)), 1u, takes_part(tile));
    }
    let mode_here = workgroupUniformLoad(&mode);
    if mode_here != 1u {
        if inside(cell) {
            // Where it is dry nothing flows any more.
            if mode_here == 2u { new_flow[index(cell)] = vec2(0.0); }
            let edges = constants.edges;
            if cell.x == 0 { write_status(edges.y + u32(cell.y), status_number(edges.x + u32(cell.y))); }
            if cell.y == 0 {
                let north = constants.size.y + u32(cell.x);
                write_status(edges.y + north, status_number(edges.x + north));
            }
        }
        return;
    }

    for (var i = number; i < AREA; i += INVOCATIONS) {
        let there = first + vec2<i32>(vec2(i % SIDE, i / SIDE));
        let seen = look(there);
        ground[i] = seen.x;
        water[i] = seen.y;
        old[i] = old_faces(there);
    }
    workgroupBarrier();

    let share = stable_share();
    let last = vec2<i32>(constants.size) - 1;
    for (var i = number; i < INNER_AREA; i += INVOCATIONS) {
        let local = vec2(i % INNER, i / INNER) + 1u;
        let at = local.y * SIDE + local.x;
        let there = first + vec2<i32>(local);
        var wanted = vec2(0.0);
        if there.y >= 0 && there.y <= last.y && there.x >= -1 && there.x <= last.x {
            let across = vec4(old[at - SIDE].y, old[at].y, old[at - SIDE + 1u].y, old[at + 1u].y);
            wanted.x = face(share, at, at + 1u, old[at].x, old[at - 1u].x, old[at + 1u].x, across);
            if there.x < 0 { wanted.x = allowed(0u, wanted.x, -1.0); }
            if there.x == last.x { wanted.x = allowed(1u, wanted.x, 1.0); }
        }
        if there.x >= 0 && there.x <= last.x && there.y >= -1 && there.y <= last.y {
            let across = vec4(old[at - 1u].x, old[at].x, old[at - 1u + SIDE].x, old[at + SIDE].x);
            wanted.y = face(share, at, at + SIDE, old[at].y, old[at - SIDE].y, old[at + SIDE].y, across);
            if there.y < 0 { wanted.y = allowed(2u, wanted.y, -1.0); }
            if there.y == last.y { wanted.y = allowed(3u, wanted.y, 1.0); }
        }
        wish[at] = wanted;
    }
    workgroupBarrier();

    for (var i = number; i < INNER_AREA; i += INVOCATIONS) {
        let local = vec2(i % INNER, i / INNER) + 1u;
        let at = local.y * SIDE + local.x;
        var part = 1.0;
        if inside(first + vec2<i32>(local)) && all(local > vec2(1u)) {
            let out = (max(wish[at].x, 0.0) - min(wish[at - 1u].x, 0.0))
                + (max(wish[at].y, 0.0) - min(wish[at - SIDE].y, 0.0));
            part = water[at] / max(out * (pipe.per_length * share * NEVER_ALL), max(water[at], 1e-30));
        }
        given[at] = part;
    }
    workgroupBarrier();

    if !inside(cell) { return; }
    let at = (id.y + 2u) * SIDE + id.x + 2u;
    new_flow[index(cell)] = vec2(
        limited(wish[at].x, given[at], given[at + 1u]),
        limited(wish[at].y, given[at], given[at + SIDE]),
    );
    if cell.x == 0 {
        write_status(constants.edges.y + u32(cell.y), limited(wish[at - 1u].x, 1.0, given[at]));
    }
    if cell.y == 0 {
        let north = limited(wish[at - SIDE].y, 1.0, given[at]);
        write_status(constants.edges.y + constants.size.y + u32(cell.x), north);
    }
}
