// Unites the pools of neighbors. The earlier cell leads, whichever way they
// meet, so the outcome does not depend on who comes first.
#define_import_path bevy_erode::gpu::pools::unite

#import bevy_erode::gpu::constants::{constants, GROUP}
#import bevy_erode::gpu::state::{index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::pools::pool::{parents, NONE, first_of}
#import bevy_erode::gpu::shallow_water::sheet::lacks

fn unite(one: u32, other: u32) {
    var a = one;
    var b = other;
    loop {
        a = first_of(a);
        b = first_of(b);
        if a == b { return; }
        let later = max(a, b);
        let earlier = min(a, b);
        let before = atomicMin(&parents[later], earlier);
        if before == later { return; }
        // Somebody else was faster: theirs and ours are of one pool.
        a = before;
        b = earlier;
    }
}

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) || !lacks() { return; }
    let at = index(cell);
    if atomicLoad(&parents[at]) == NONE { return; }
    if cell.x > 0 && atomicLoad(&parents[at - 1u]) != NONE { unite(at, at - 1u); }
    let above = at - constants.size.x;
    if cell.y > 0 && atomicLoad(&parents[above]) != NONE { unite(at, above); }
}
