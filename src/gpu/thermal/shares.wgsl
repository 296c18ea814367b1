// First pass of thermal weathering: what share of its wish to slide each cell's
// soil allows. The equations are those of the module `thermal`.
#define_import_path bevy_erode::gpu::thermal::shares

#import bevy_erode::gpu::constants::{constants, GROUP, MOVED}
#import bevy_erode::gpu::state::{exactly, index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::thermal::constants::{thermal, HIGH, NEARLY_ALL}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
// Share and ground, for the second pass, which changes the ground.
@group(0) @binding(4) var<storage, read_write> slides: array<vec2<f32>>;

var<workgroup> deepest: atomic<u32>;

fn ground_at(cell: vec2<i32>) -> f32 {
    if !inside(cell) { return HIGH; }
    let at = index(cell);
    return exactly(rock[at].x - constants.datum) + cover[at].x;
}

// By how much a neighbor lies lower than it may.
fn fall(here: f32, there: f32, stable: f32) -> f32 {
    let rise = there - here;
    return max(-(rise - min(max(rise, -stable), stable)), 0.0);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var slid = 0.0;
    if inside(cell) {
        let z = ground_at(cell);
        let axis = thermal.stable.x;
        let diagonal = thermal.stable.y;
        let along = (fall(z, ground_at(cell + vec2(1, 0)), axis) + fall(z, ground_at(cell + vec2(-1, 0)), axis))
            + (fall(z, ground_at(cell + vec2(0, 1)), axis) + fall(z, ground_at(cell + vec2(0, -1)), axis));
        let across = (fall(z, ground_at(cell + vec2(1, 1)), diagonal) + fall(z, ground_at(cell + vec2(-1, -1)), diagonal))
            + (fall(z, ground_at(cell + vec2(-1, 1)), diagonal) + fall(z, ground_at(cell + vec2(1, -1)), diagonal));
        let wish = along * thermal.share.x + across * thermal.share.y;
        let soil = cover[index(cell)].x;
        let share = NEARLY_ALL * soil / max(max(wish, soil), 1e-30);
        slides[index(cell)] = vec2(share, z);
        slid = share * wish;
        atomicMax(&deepest, bitcast<u32>(soil));
    }
    add_to_ledger(group.y * groups.x + group.x, MOVED, 1u, number, vec4(slid, 0.0, 0.0, 0.0));
    if number == 0u {
        atomicMax(&status[thermal.deepest.x], atomicLoad(&deepest));
    }
}
