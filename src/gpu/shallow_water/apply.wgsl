// What the regolith gained or lost by creeping is applied to the ground: soil
// gives first, then bedrock, and what comes is soil.
#define_import_path bevy_erode::gpu::shallow_water::apply

#import bevy_erode::gpu::constants::{constants, GROUP, MOVED, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of}
#import bevy_erode::gpu::status::{status, mark_ground}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::shallow_water::sheet::softened

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> regolith: array<vec2<f32>>;
@group(0) @binding(5) var hardness: texture_2d<f32>;

var<workgroup> changed: atomic<u32>;

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var taken = 0.0;
    if inside(cell) {
        let at = index(cell);
        var hard = 0.0;
        if constants.has_hardness != 0u { hard = textureLoad(hardness, cell, 0).x; }
        let now = regolith[at];
        let change = add_exactly(vec2(now.x, 0.0), -softened(cover[at].y, hard));
        let gain = change.x;
        let finer = change.y + now.y;
        if gain != 0.0 || finer != 0.0 {
            taken = max(-(gain + finer), 0.0);
            let soil = cover[at].x;
            let new_soil = max(exactly(soil + gain), 0.0);
            cover[at].x = new_soil;
            // What soil cannot give or hold is bedrock's.
            let rest = exactly(gain - exactly(new_soil - soil));
            rock[at] = add_exactly(add_exactly(rock[at], rest), finer);
            atomicOr(&changed, 1u);
        }
    }
    add_to_ledger(group.y * groups.x + group.x, MOVED, 1u, number, vec4(taken, 0.0, 0.0, 0.0));
    if number == 0u && atomicLoad(&changed) != 0u {
        let tile = tile_of(group.xy * GROUP);
        mark_ground(tile);
        atomicAnd(&status[constants.tile_states.x + tile], ~AT_REST);
    }
}
