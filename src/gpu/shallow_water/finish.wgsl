// Last pass of a solve: moves the fluid by kept and new flows, and adds to the ledger what
// crosses the borders. Cells that gave more than they had come out below zero,
// and their pools make up for it.
#define_import_path bevy_erode::gpu::shallow_water::finish

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, MOVED, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, index, inside, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, write_status, mark_water}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::shallow_water::sheet::{WEST, EAST, NORTH, SOUTH, KEPT, SWEPT, rim, is_steady, allowed_over}
#import bevy_erode::gpu::shallow_water::constants::{solve, DEFICIT}

@group(0) @binding(2) var<storage, read> sheet: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> kept: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> swept: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> load: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> regolith: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> flow: array<vec2<f32>>;

var<workgroup> moved: atomic<u32>;
var<workgroup> fastest: atomic<u32>;
var<workgroup> deepest: atomic<u32>;
var<workgroup> tile_state: atomic<u32>;

// The share of its depth that a cell may give over one of its borders.
fn border_share(cell: vec2<i32>) -> f32 {
    let last = vec2<i32>(constants.size) - 1;
    let sides = dot(vec2<f32>(cell == vec2(0)) + vec2<f32>(cell == last), vec2(1.0));
    return 1.0 / max(sides, 1.0);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    let creeps = solve.creeps != 0u;
    var sums = vec4(0.0);
    if inside(cell) && !is_steady() {
        let at = index(cell);
        let last = vec2<i32>(constants.size) - 1;
        let share = sheet[at].y * border_share(cell);
        var east = kept[at].x + swept[at].x;
        var south = kept[at].y + swept[at].y;
        var west: f32;
        var north: f32;
        if cell.x == 0 {
            let wanted = rim(WEST, KEPT, id.y) + rim(WEST, SWEPT, id.y);
            west = allowed_over(WEST, wanted, -1.0, share);
            sums += vec4(0.0, max(-west, 0.0), max(west, 0.0), -west);
        } else { west = kept[at - 1u].x + swept[at - 1u].x; }
        if cell.y == 0 {
            let wanted = rim(NORTH, KEPT, id.x) + rim(NORTH, SWEPT, id.x);
            north = allowed_over(NORTH, wanted, -1.0, share);
            sums += vec4(0.0, max(-north, 0.0), max(north, 0.0), -north);
        } else {
            let above = at - constants.size.x;
            north = kept[above].y + swept[above].y;
        }
        if cell.x == last.x {
            east = allowed_over(EAST, east, 1.0, share);
            sums += vec4(0.0, max(east, 0.0), max(-east, 0.0), east);
        }
        if cell.y == last.y {
            south = allowed_over(SOUTH, south, 1.0, share);
            sums += vec4(0.0, max(south, 0.0), max(-south, 0.0), south);
        }
        // Water and regolith each have their own terms.
        sums *= select(vec4(0.0, 1.0, 1.0, 0.0), vec4(0.0, 0.0, 0.0, 1.0), creeps);

        var depth = vec2(cover[at].y, load[at].y);
        if creeps { depth = regolith[at]; }
        // One by one, so that what one cell loses is what the others gain.
        depth = add_exactly(add_exactly(depth, west), -east);
        depth = add_exactly(add_exactly(depth, north), -south);
        if depth.x < 0.0 { atomicStore(&status[DEFICIT], 1u); }
        let gain = (west - east) + (north - south);
        atomicMax(&fastest, bitcast<u32>(abs(gain)));
        let per_flow = 1.0 / solve.per_length;
        flow[at] = vec2(east, south) * per_flow;
        if cell.x == 0 { write_status(solve.edges + id.y, west * per_flow); }
        if cell.y == 0 { write_status(solve.edges + constants.size.y + id.x, north * per_flow); }
        if creeps {
            regolith[at] = depth;
        } else {
            cover[at].y = depth.x;
            load[at].y = depth.y;
            if any(vec4(west, east, north, south) != vec4(0.0)) { atomicOr(&moved, 1u); }
            atomicMax(&deepest, bitcast<u32>(max(depth.x, 0.0)));
            if depth.x > FILM { atomicOr(&tile_state, wet_bits(id.xy)); }
        }
    }
    add_to_ledger(group.y * groups.x + group.x, MOVED, 4u, number, sums);
    if number == 0u {
        atomicMax(&status[solve.level_change.y], atomicLoad(&fastest));
        if atomicLoad(&moved) != 0u {
            let tile = tile_of(group.xy * GROUP);
            // For the pipe model, if it goes on from here.
            let states = constants.tile_states.x;
            atomicAnd(&status[states + tile], ~AT_REST);
            atomicOr(&status[states + tile], atomicLoad(&tile_state));
            let pace = 5.0 * constants.gravity * bitcast<f32>(atomicLoad(&deepest));
            atomicMax(&status[constants.pace.x], bitcast<u32>(pace));
            mark_water(tile);
        }
    }
}
