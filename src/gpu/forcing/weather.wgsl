// Rain falls and water evaporates. The equations are those of the modules
// `forcing::rain` and `forcing::evaporation`.
#define_import_path bevy_erode::gpu::forcing::weather

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, RAINED, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, mark_ground, mark_water}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::forcing::constants::{weather, MAX_DEPTH}

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> load: array<vec2<f32>>;
@group(0) @binding(5) var rain_map: texture_2d<f32>;

var<workgroup> changed: atomic<u32>;
var<workgroup> settled: atomic<u32>;
var<workgroup> tile_state: atomic<u32>;
var<workgroup> deepest: atomic<u32>;

fn gain(before: vec2<f32>, after: vec2<f32>) -> f32 {
    return exactly(after.x - before.x) + exactly(after.y - before.y);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var rained = 0.0;
    var dried = 0.0;
    if inside(cell) {
        let at = index(cell);
        let before = vec2(cover[at].y, load[at].y);
        var water = before;
        if weather.rain > 0.0 {
            var depth = weather.rain;
            if weather.has_rain_map != 0u {
                depth = min(depth * textureLoad(rain_map, cell, 0).x, MAX_DEPTH);
            }
            water = add_exactly(water, depth);
            rained = gain(before, water);
        }
        if weather.drying > 0.0 && water.x > 0.0 {
            let wet = water;
            water = add_exactly(water, -weather.drying);
            if !(wet.x > weather.drying && water.x > 0.0) {
                water = vec2(0.0);
                // What dries lets its load fall.
                let fallen = load[at].x;
                if fallen != 0.0 {
                    let soil = cover[at].x;
                    let raised = exactly(soil + fallen);
                    cover[at].x = raised;
                    // Bedrock takes on what is too small for the soil.
                    rock[at] = add_exactly(rock[at], fallen - exactly(raised - soil));
                    load[at].x = 0.0;
                    atomicOr(&settled, 1u);
                }
            }
            dried = -gain(wet, water);
        }
        if any(water != before) {
            cover[at].y = water.x;
            load[at].y = water.y;
            atomicOr(&changed, 1u);
            atomicMax(&deepest, bitcast<u32>(water.x));
        }
        if water.x > FILM { atomicOr(&tile_state, wet_bits(id.xy)); }
    }
    add_to_ledger(group.y * groups.x + group.x, RAINED, 2u, number, vec4(rained, dried, 0.0, 0.0));
    if number == 0u {
        let tile = tile_of(group.xy * GROUP);
        let states = constants.tile_states.x;
        if atomicLoad(&changed) != 0u {
            atomicAnd(&status[states + tile], ~AT_REST);
            atomicOr(&status[states + tile], atomicLoad(&tile_state));
            mark_water(tile);
            let fastest = constants.gravity * bitcast<f32>(atomicLoad(&deepest));
            atomicMax(&status[constants.pace.x], bitcast<u32>(fastest));
        }
        if atomicLoad(&settled) != 0u { mark_ground(tile); }
    }
}
