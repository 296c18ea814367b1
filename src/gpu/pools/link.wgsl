// Makes every cell that the fluid was in, is in or passed through a pool of its
// own, with empty sums.
#define_import_path bevy_erode::gpu::pools::link

#import bevy_erode::gpu::constants::{constants, GROUP}
#import bevy_erode::gpu::state::{index, inside}
#import bevy_erode::gpu::status::{status, status_number}
#import bevy_erode::gpu::pools::pool::{parents, NONE}
#import bevy_erode::gpu::shallow_water::sheet::lacks
#import bevy_erode::gpu::shallow_water::constants::solve

@group(0) @binding(3) var<storage, read> sheet: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> standing: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> missing: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read> regolith: array<vec2<f32>>;

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) || !lacks() { return; }
    let at = index(cell);
    let depth = select(cover[at].y, regolith[at].x, solve.creeps != 0u);
    var passed = any(flow[at] != vec2(0.0));
    if cell.x > 0 { passed |= flow[at - 1u].x != 0.0; }
    if cell.y > 0 { passed |= flow[at - constants.size.x].y != 0.0; }
    else { passed |= status_number(solve.edges + constants.size.y + id.x) != 0.0; }
    let wet = sheet[at].y > 0.0 || depth != 0.0 || passed;
    atomicStore(&parents[at], select(NONE, at, wet));
    standing[at] = vec2(0u);
    missing[at] = vec2(0u);
}
