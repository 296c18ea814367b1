// Adds what the host changed: differences, so that what the passes did in the
// meantime is kept. Nothing falls below zero; what is missing is booked.
#define_import_path bevy_erode::gpu::exchange::differences

#import bevy_erode::gpu::constants::{constants, SHORTFALL_SOLIDS, AT_REST, FILM}
#import bevy_erode::gpu::state::{add_exactly, exactly, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, mark_ground, mark_water}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::exchange::constants::{CellDifference, differences, DIFFERENCES_PER_GROUP}

@group(0) @binding(2) var<storage, read> list: array<CellDifference>;
@group(0) @binding(3) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> load: array<vec2<f32>>;

@compute @workgroup_size(DIFFERENCES_PER_GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let group_number = group.y * groups.x + group.x;
    let entry = group_number * DIFFERENCES_PER_GROUP + number;
    var short = vec4(0.0);
    if entry < differences.count {
        let d = list[entry];
        let at = d.cell;
        let place = vec2(at % constants.size.x, at / constants.size.x);
        let tile = tile_of(place);
        atomicAnd(&status[constants.tile_states.x + tile], ~AT_REST);
        if any(d.rock != vec2(0.0)) || d.soil != 0.0 {
            rock[at] = add_exactly(add_exactly(rock[at], d.rock.x), d.rock.y);
            let soil = cover[at].x + d.soil;
            cover[at].x = max(soil, 0.0);
            short.x += max(-soil, 0.0);
            mark_ground(tile);
        }
        if any(d.water != vec2(0.0)) || d.suspended != 0.0 {
            var water = vec2(cover[at].y, load[at].y);
            water = add_exactly(add_exactly(water, d.water.x), d.water.y);
            if water.x < 0.0 {
                short.y -= water.x + water.y;
                water = vec2(0.0);
            }
            let suspended = load[at].x + d.suspended;
            short.x += max(-suspended, 0.0);
            cover[at].y = water.x;
            load[at] = vec2(max(suspended, 0.0), water.y);
            if water.x > FILM || suspended > 0.0 {
                atomicOr(&status[constants.tile_states.x + tile], wet_bits(place));
            }
            mark_water(tile);
            atomicMax(&status[constants.pace.x], bitcast<u32>(constants.gravity * water.x));
        }
    }
    add_to_ledger(group_number, SHORTFALL_SOLIDS, 2u, number, short);
}
