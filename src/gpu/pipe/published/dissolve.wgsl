// Third pass of a step of the source's own pipe model: the water cuts and lets
// fall. What it holds then stands in the old state's place, where the fourth
// pass carries it from.
#define_import_path bevy_erode::gpu::pipe::published::dissolve

#import bevy_erode::gpu::constants::{constants, GROUP, LOST_SOLIDS, MOVED}
#import bevy_erode::gpu::state::{add_exactly, exactly, ground_of, index, inside, tile_of}
#import bevy_erode::gpu::status::{status, mark_ground}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::pipe::published::constants::{published, MAX_LOAD}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> velocity: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> new_rock: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> new_cover: array<vec2<f32>>;

var<workgroup> changed: atomic<u32>;

fn ground_at(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    return ground_of(rock[at], cover[at].x);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var taken = 0.0;
    var gained = 0.0;
    if inside(cell) {
        let at = index(cell);
        let last = vec2<i32>(constants.size) - 1;
        // Central differences, one-sided at the border.
        let low = max(cell - 1, vec2(0));
        let high = min(cell + 1, last);
        let span = vec2<f32>(max(high - low, vec2(1))) * constants.cell_size;
        let rise = vec2(
            ground_at(vec2(high.x, cell.y)) - ground_at(vec2(low.x, cell.y)),
            ground_at(vec2(cell.x, high.y)) - ground_at(vec2(cell.x, low.y)),
        ) / span;
        let steep = rise.x * rise.x + rise.y * rise.y;
        let sine = max(sqrt(steep / (1.0 + steep)), published.min_sine);
        let speed = sqrt(dot(velocity[at], velocity[at]));
        let capacity = min(published.capacity * sine * speed, MAX_LOAD);

        let held = load[at].x;
        let old_soil = cover[at].x;
        let old_rock = rock[at];
        var soil = old_soil;
        var bedrock = old_rock;
        var now = held;
        if capacity > held {
            let cut = exactly(published.dissolving * (capacity - held));
            soil = max(exactly(old_soil - cut), 0.0);
            // What soil really gave, after rounding; rock gives the rest where
            // no soil is left.
            taken = exactly(old_soil - soil);
            if cut > old_soil {
                bedrock = add_exactly(old_rock, -exactly(cut - taken));
                taken = cut;
            }
            now = exactly(held + taken);
        } else {
            soil = exactly(old_soil + published.deposition * (held - capacity));
            now = max(exactly(held - exactly(soil - old_soil)), 0.0);
        }
        new_rock[at] = bedrock;
        new_cover[at].x = soil;
        load[at].x = now;
        let rock_gain = exactly(bedrock.x - old_rock.x) + exactly(bedrock.y - old_rock.y);
        let solid = exactly(rock_gain + exactly(soil - old_soil));
        gained = solid + exactly(now - held);
        if solid != 0.0 { atomicOr(&changed, 1u); }
    }
    let account = group.y * groups.x + group.x;
    add_to_ledger(account, MOVED, 1u, number, vec4(taken, 0.0, 0.0, 0.0));
    workgroupBarrier();
    add_to_ledger(account, LOST_SOLIDS, 1u, number, vec4(-gained, 0.0, 0.0, 0.0));
    if number == 0u && atomicLoad(&changed) != 0u { mark_ground(tile_of(group.xy * GROUP)); }
}
