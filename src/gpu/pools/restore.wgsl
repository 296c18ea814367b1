// Brings depths below zero to zero, and scales the others of each pool so that
// its volume is what it was.
#define_import_path bevy_erode::gpu::pools::restore

#import bevy_erode::gpu::constants::{constants, GROUP}
#import bevy_erode::gpu::state::{add_exactly, index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::pools::pool::{parents, NONE, first_of}
#import bevy_erode::gpu::shallow_water::sheet::lacks
#import bevy_erode::gpu::shallow_water::constants::solve

@group(0) @binding(3) var<storage, read> standing: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> missing: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> load: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> regolith: array<vec2<f32>>;

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) || !lacks() { return; }
    let at = index(cell);
    if atomicLoad(&parents[at]) == NONE { return; }
    let root = first_of(at);
    // Metres and 2⁻³² of them; 256 m and 2⁻³² of them.
    let lack = f32(missing[root].y) + f32(missing[root].x) * 2.3283064e-10;
    let stands = f32(standing[root].y) * 256.0 + f32(standing[root].x) * 5.9604645e-8;
    let creeps = solve.creeps != 0u;
    var depth = vec2(cover[at].y, load[at].y);
    if creeps { depth = regolith[at]; }
    if lack == 0.0 && depth.x >= 0.0 { return; }
    if depth.x < 0.0 || stands <= lack {
        // No pool lacks more than it has, but for rounding.
        depth = vec2(0.0);
    } else {
        let cut = depth.x * (lack / stands);
        depth = add_exactly(depth, -cut);
    }
    if creeps {
        regolith[at] = depth;
    } else {
        cover[at].y = depth.x;
        load[at].y = depth.y;
    }
}
