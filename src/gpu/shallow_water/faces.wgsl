// First pass of a solve: how well each face conducts, and what flow it keeps.
// The equations are those of the module `shallow_water`. The fluid is water over
// the ground, or regolith over what it creeps on.
#define_import_path bevy_erode::gpu::shallow_water::faces

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, WALL}
#import bevy_erode::gpu::state::{beyond, depth_power, ground_of, index, inside}
#import bevy_erode::gpu::status::{status, status_number, write_status}
#import bevy_erode::gpu::shallow_water::sheet::{WEST, EAST, NORTH, SOUTH, CONDUCTANCE, KEPT, fall_place, rim_place, is_steady, softened}
#import bevy_erode::gpu::shallow_water::constants::{solve, DEFICIT, MAX_CONDUCTANCE, MAX_KEPT}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> regolith: array<vec2<f32>>;
// Discharges of the fluid.
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
// Level and depth.
@group(0) @binding(6) var<storage, read_write> sheet: array<vec2<f32>>;
// Of the east and the south face of each cell.
@group(0) @binding(7) var<storage, read_write> conductance: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> kept: array<vec2<f32>>;
@group(0) @binding(9) var hardness: texture_2d<f32>;

// Level and depth of the fluid in a cell.
fn column(cell: vec2<i32>) -> vec2<f32> {
    let at = index(cell);
    let above = cover[at];
    let ground = ground_of(rock[at], above.x);
    if solve.creeps == 0u { return vec2(ground + above.y, above.y); }
    var hard = 0.0;
    if constants.has_hardness != 0u { hard = textureLoad(hardness, cell, 0).x; }
    let depth = regolith[at].x;
    return vec2(ground + (depth - softened(above.y, hard)), depth);
}

// Level and depth beyond the border of an edge cell.
fn outside(side: u32, edge: vec2<i32>, inwards: vec2<i32>) -> vec2<f32> {
    let here = column(edge);
    let inner = column(clamp(edge + inwards, vec2(0), vec2<i32>(constants.size) - 1));
    let ground = here.x - here.y;
    let inner_ground = inner.x - inner.y;
    // The bed of regolith goes on, but not upwards.
    if solve.creeps != 0u { return vec2(here.x - max(inner_ground - ground, 0.0), here.y); }
    let outer = beyond(side, vec2(ground, here.y), inner_ground);
    return vec2(outer.x + outer.y, outer.y);
}

// Old discharge through the east face of a cell, or through the west border.
fn along(x: i32, y: i32) -> f32 {
    if y < 0 || y >= i32(constants.size.y) { return 0.0; }
    if x < 0 { return status_number(solve.edges + u32(y)); }
    return flow[index(vec2(x, y))].x;
}

// Old discharge through the south face of a cell, or through the north border.
fn across(x: i32, y: i32) -> f32 {
    if x < 0 || x >= i32(constants.size.x) { return 0.0; }
    if y < 0 { return status_number(solve.edges + constants.size.y + u32(x)); }
    return flow[index(vec2(x, y))].y;
}

// Conductance and kept flow of a face between two columns. `crossing` is the sum
// of the four discharges across its ends.
fn face(a: vec2<f32>, b: vec2<f32>, old: f32, crossing: f32) -> vec2<f32> {
    let fall = a.x - b.x;
    let down = fall >= 0.0;
    let giving = select(b.y, a.y, down);
    let taking = select(a.y, b.y, down);
    let depth = min(giving, abs(fall) + taking);
    if !(depth > FILM) { return vec2(0.0); }
    let power = depth_power(depth);
    let pushed = old * solve.keep + solve.push * depth * fall;
    // Squares may overflow, and no drag of something endless is no number.
    let size = min(sqrt(pushed * pushed + (crossing * crossing) * (1.0 / 16.0)), 3.4e38);
    let left = 2.0 / (1.0 + sqrt(1.0 + 4.0 * (solve.drag * size / power)));
    let bound = MAX_KEPT * depth;
    let kept = old * solve.per_length * (solve.keep * left);
    return vec2(
        min(solve.conduct * depth * left, MAX_CONDUCTANCE),
        min(max(kept, -bound), bound),
    );
}

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if all(id.xy == vec2(0u)) {
        atomicStore(&status[solve.level_change.y], 0u);
        atomicStore(&status[DEFICIT], 0u);
    }
    // What is steady stays so: nothing was fast in this solve either.
    if is_steady() { return; }
    let cell = vec2<i32>(id.xy);
    if !inside(cell) { return; }
    let x = cell.x;
    let y = cell.y;
    let last = vec2<i32>(constants.size) - 1;
    let here = column(cell);
    var east = vec2(0.0);
    var south = vec2(0.0);
    if x < last.x || constants.borders[EAST] != WALL {
        var next: vec2<f32>;
        if x < last.x { next = column(cell + vec2(1, 0)); }
        else { next = outside(EAST, cell, vec2(-1, 0)); }
        let crossing = (across(x, y - 1) + across(x + 1, y - 1)) + (across(x, y) + across(x + 1, y));
        east = face(here, next, along(x, y), crossing);
        if x == last.x { write_status(fall_place(EAST, id.y), here.x - next.x); }
    }
    if y < last.y || constants.borders[SOUTH] != WALL {
        var next: vec2<f32>;
        if y < last.y { next = column(cell + vec2(0, 1)); }
        else { next = outside(SOUTH, cell, vec2(0, -1)); }
        let crossing = (along(x - 1, y) + along(x, y)) + (along(x - 1, y + 1) + along(x, y + 1));
        south = face(here, next, across(x, y), crossing);
        if y == last.y { write_status(fall_place(SOUTH, id.x), here.x - next.x); }
    }
    if x == 0 {
        var west = vec2(0.0);
        if constants.borders[WEST] != WALL {
            let before = outside(WEST, cell, vec2(1, 0));
            let crossing = (across(-1, y - 1) + across(0, y - 1)) + (across(-1, y) + across(0, y));
            west = face(before, here, along(-1, y), crossing);
            write_status(fall_place(WEST, id.y), before.x - here.x);
        }
        write_status(rim_place(WEST, CONDUCTANCE, id.y), west.x);
        write_status(rim_place(WEST, KEPT, id.y), west.y);
    }
    if y == 0 {
        var north = vec2(0.0);
        if constants.borders[NORTH] != WALL {
            let before = outside(NORTH, cell, vec2(0, 1));
            let crossing = (along(x - 1, -1) + along(x, -1)) + (along(x - 1, 0) + along(x, 0));
            north = face(before, here, across(x, -1), crossing);
            write_status(fall_place(NORTH, id.x), before.x - here.x);
        }
        write_status(rim_place(NORTH, CONDUCTANCE, id.x), north.x);
        write_status(rim_place(NORTH, KEPT, id.x), north.y);
    }
    let at = index(cell);
    sheet[at] = here;
    conductance[at] = vec2(east.x, south.x);
    kept[at] = vec2(east.y, south.y);
}
