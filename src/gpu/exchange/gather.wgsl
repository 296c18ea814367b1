// Packs the tiles that the host requested into one buffer, eight numbers a cell.
#define_import_path bevy_erode::gpu::exchange::gather

#import bevy_erode::gpu::constants::{constants, GROUP, TILE}
#import bevy_erode::gpu::state::{index, inside}

@group(0) @binding(1) var<storage, read> wanted: array<u32>;
@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> packed: array<vec4<f32>>;

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) id: vec3<u32>) {
    let tile = wanted[group.z];
    let within = group.xy * GROUP + id.xy;
    let corner = vec2(tile % constants.tiles.x, tile / constants.tiles.x) * TILE;
    let cell = vec2<i32>(corner + within);
    if !inside(cell) { return; }
    let at = index(cell);
    let place = ((group.z * TILE + within.y) * TILE + within.x) * 2u;
    packed[place] = vec4(rock[at], cover[at]);
    packed[place + 1u] = vec4(load[at], flow[at]);
}
