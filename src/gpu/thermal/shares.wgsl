// First pass of thermal weathering: what share of its wish to slide each cell's
// soil allows. The equations are those of the module `thermal`.
#define_import_path bevy_erode::gpu::thermal::shares

#import bevy_erode::gpu::state::{constants, MOVED, exactly, index, inside}
#import bevy_erode::gpu::notes::notes
#import bevy_erode::gpu::ledger::book

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
// Share and ground, for the second pass, which changes the ground.
@group(0) @binding(4) var<storage, read_write> slides: array<vec2<f32>>;

// Beyond the border: nothing flows up there.
const HIGH: f32 = 1e30;

var<workgroup> deepest: atomic<u32>;

fn ground_at(cell: vec2<i32>) -> f32 {
    if !inside(cell) { return HIGH; }
    let at = index(cell);
    return exactly(rock[at].x - constants.datum) + cover[at].x;
}

// By how much a neighbor lies lower than it may.
fn fall(here: f32, there: f32, rest: f32) -> f32 {
    let rise = there - here;
    return max(-(rise - min(max(rise, -rest), rest)), 0.0);
}

@compute @workgroup_size(16, 16)
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
        let axis = constants.rest.x;
        let diagonal = constants.rest.y;
        let along = (fall(z, ground_at(cell + vec2(1, 0)), axis) + fall(z, ground_at(cell + vec2(-1, 0)), axis))
            + (fall(z, ground_at(cell + vec2(0, 1)), axis) + fall(z, ground_at(cell + vec2(0, -1)), axis));
        let across = (fall(z, ground_at(cell + vec2(1, 1)), diagonal) + fall(z, ground_at(cell + vec2(-1, -1)), diagonal))
            + (fall(z, ground_at(cell + vec2(-1, 1)), diagonal) + fall(z, ground_at(cell + vec2(1, -1)), diagonal));
        let wish = along * constants.share.x + across * constants.share.y;
        let soil = cover[index(cell)].x;
        let share = soil / max(max(wish, soil), 1e-30);
        slides[index(cell)] = vec2(share, z);
        slid = share * wish;
        atomicMax(&deepest, bitcast<u32>(soil));
    }
    book(group.y * groups.x + group.x, MOVED, 1u, number, vec4(slid, 0.0, 0.0, 0.0));
    if number == 0u {
        atomicMax(&notes[constants.deepest.x], atomicLoad(&deepest));
    }
}
