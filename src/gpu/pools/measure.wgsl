// Sums up what stands in each pool, and what its cells lack, in whole numbers, so
// that the order does not matter.
#define_import_path bevy_erode::gpu::pools::measure

#import bevy_erode::gpu::constants::{constants, GROUP}
#import bevy_erode::gpu::state::{index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::pools::pool::{parents, NONE, first_of}
#import bevy_erode::gpu::shallow_water::sheet::lacks
#import bevy_erode::gpu::shallow_water::constants::solve

// Two words a pool, the lower one first: see `restore.wgsl` for their units.
@group(0) @binding(3) var<storage, read_write> standing: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> missing: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read> regolith: array<vec2<f32>>;

// A number of units of the higher word, as two words.
fn words(value: f32) -> vec2<u32> {
    let high = floor(value);
    return vec2(u32((value - high) * 4294967296.0), u32(high));
}

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) || !lacks() { return; }
    let at = index(cell);
    if atomicLoad(&parents[at]) == NONE { return; }
    let root = first_of(at);
    // A shorter way for `restore`; others find the same root either way.
    atomicMin(&parents[at], root);
    var depth = vec2(cover[at].y, load[at].y);
    if solve.creeps != 0u { depth = regolith[at]; }
    let total = depth.x + depth.y;
    if depth.x < 0.0 {
        let amount = words(-total);
        let before = atomicAdd(&missing[2u * root], amount.x);
        let carry = select(0u, 1u, before + amount.x < before);
        if amount.y + carry > 0u { atomicAdd(&missing[2u * root + 1u], amount.y + carry); }
    } else if total > 0.0 {
        let amount = words(total * 0.00390625);
        let before = atomicAdd(&standing[2u * root], amount.x);
        let carry = select(0u, 1u, before + amount.x < before);
        if amount.y + carry > 0u { atomicAdd(&standing[2u * root + 1u], amount.y + carry); }
    }
}
