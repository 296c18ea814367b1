// Paints water: color by depth and sediment, ripples that drift with the flow,
// foam where it breaks. Light comes from Bevy's own material.
#define_import_path bevy_erode::view::water::surface

#import bevy_pbr::{
    forward_io::{FragmentOutput, VertexOutput},
    mesh_view_bindings::globals,
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
}

#ifdef OIT_ENABLED
#import bevy_core_pipeline::oit::oit_draw
#endif

struct Water {
    shallow: vec4<f32>,
    deep: vec4<f32>,
    sediment: vec4<f32>,
    foam: vec4<f32>,
    sky: vec4<f32>,
    // Clarity (m), murk (share).
    optics: vec4<f32>,
    // Strength, size (m), how many sizes of them.
    ripples: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(100) var<uniform> water: Water;

// Ripples are carried along for this long, then start again where they were;
// two sets take turns, so that no start is seen. It divides the hour after
// which the clock starts again. units: s
const CYCLE: f32 = 2.5;
// Faster water would tear the ripples apart within a cycle. units: m/s
const FASTEST: f32 = 4.0;

fn hash(cell: vec2<i32>) -> f32 {
    var bits = (bitcast<u32>(cell.x) * 0x9E3779B1u) ^ (bitcast<u32>(cell.y) * 0x85EBCA77u);
    bits = (bits ^ (bits >> 15u)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12u)) * 0x297A2D39u;
    bits ^= bits >> 15u;
    return f32(bits >> 8u) / 16777216.0;
}

// Smooth noise from 0 to 1 on a unit lattice, and its slope.
fn noise(at: vec2<f32>) -> vec3<f32> {
    let corner = floor(at);
    let cell = vec2<i32>(corner);
    let t = at - corner;
    let u = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let du = 30.0 * t * t * (t * (t - 2.0) + 1.0);
    let a = hash(cell);
    let b = hash(cell + vec2(1, 0));
    let c = hash(cell + vec2(0, 1));
    let d = hash(cell + vec2(1, 1));
    let twist = a - b - c + d;
    return vec3(
        a + (b - a) * u.x + (c - a) * u.y + twist * u.x * u.y,
        du * (vec2(b - a, c - a) + twist * u.yx),
    );
}

// Turns by some angle that lattices do not share.
const TURN: mat2x2<f32> = mat2x2<f32>(0.8, 0.6, -0.6, 0.8);

// Some sizes of ripples that wander over each other: height and slope.
// `footprint` is the size of a pixel; what is smaller is left out.
fn ripples(at: vec2<f32>, drift: f32, footprint: f32) -> vec3<f32> {
    var sum = vec3(0.0);
    var size = water.ripples.y;
    var turned = at;
    var turn_back = mat2x2<f32>(1.0, 0.0, 0.0, 1.0);
    var away = vec2(drift, 0.35 * drift);
    var weight = 0.5;
    for (var octave = 0.0; octave < water.ripples.z; octave += 1.0) {
        let seen = 1.0 - smoothstep(0.25, 0.75, footprint / size);
        if seen > 0.0 {
            let n = noise((turned + away) / size);
            sum += seen * weight * vec3(n.x - 0.5, turn_back * n.yz);
        }
        turned = TURN * turned;
        turn_back = turn_back * transpose(TURN);
        away = -1.3 * away.yx;
        size *= 0.47;
        weight *= 0.72;
    }
    return sum;
}

// Foam on a unit lattice; seen from afar it is an even veil, not a speckle.
fn flake(at: vec2<f32>, footprint: f32) -> f32 {
    return mix(noise(at).x, 0.5, smoothstep(0.2, 0.7, footprint));
}

// One of the two sets of ripples that the flow carries, and its foam from 0 to 1.
fn carried(at: vec2<f32>, velocity: vec2<f32>, phase: f32, footprint: f32) -> vec4<f32> {
    let turn = fract(globals.time / CYCLE + phase);
    // Another pattern each time, or eyes would see it jump back.
    let start = floor(globals.time / CYCLE + phase) * vec2(17.3, 9.1) + phase * 61.7;
    let weight = 1.0 - abs(1.0 - 2.0 * turn);
    let moved = at - velocity * (turn - 0.5) * CYCLE + start;
    let waves = ripples(moved, 0.0, footprint);
    // Foam gathers in the folds of the waves, in flakes much smaller than they are.
    let folded = moved + 3.0 * waves.yz;
    let flakes = 0.55 * flake(TURN * folded * 0.55, 0.55 * footprint)
        + 0.45 * flake(folded * 1.4, 1.4 * footprint);
    return weight * vec4(waves, flakes);
}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    let footprint = length(fwidth(in.world_position.xz));
#ifdef VERTEX_UVS_A
    let depth = in.uv.x;
    let share = max(in.uv.y, 0.0);
#else
    let depth = 1.0;
    let share = 0.0;
#endif
#ifdef VERTEX_UVS_B
    let flow = in.uv_b;
#else
    let flow = vec2(0.0);
#endif
#ifdef VERTEX_COLORS
    // White water is brighter than white.
    let cover = clamp(in.color.r - 1.0, 0.0, 1.0);
#else
    let cover = 0.0;
#endif
    // The surface goes on below the shore.
    if depth <= 0.0 {
        discard;
    }
    var pbr = pbr_input_from_standard_material(in, is_front);
    let place = in.world_position.xz;
    let speed = length(flow);

    // Ripples: a breath of wind on still water, and what the flow stirs up.
    let wind = ripples(place, globals.time * 0.45, footprint);
    var relief = 0.30 * wind;
    var pattern = 0.0;
    if speed > 0.01 && water.ripples.z == 0.0 {
        // Foam is an even veil.
        pattern = 0.5;
    } else if speed > 0.01 {
        let velocity = flow * min(1.0, FASTEST / speed);
        // Rapids are made of smaller waves than lakes.
        let near = 2.2 * place;
        let stirred = carried(near, 2.2 * velocity, 0.0, 2.2 * footprint)
            + carried(near, 2.2 * velocity, 0.5, 2.2 * footprint);
        relief += stirred.xyz * smoothstep(0.0, 2.5, speed) * 1.3;
        pattern = stirred.w;
    }
    // Shallow water has no room for waves.
    let slope = relief.yz * water.ripples.x * 0.8 * smoothstep(0.0, 0.4, depth);
    let normal = normalize(pbr.N - vec3(slope.x, 0.0, slope.y));
    // What is too small to be seen still scatters the light.
    let blurred = smoothstep(0.05, 1.0, footprint / water.ripples.y) * min(water.ripples.x, 1.5);
    let roughness = mix(0.10, 0.26, blurred);

    // Light is swallowed with depth, and by sediment.
    let lengths = depth / water.optics.x;
    let murk = 1.0 - exp(-3.0 * share / water.optics.y);
    var body = mix(water.shallow.rgb, water.deep.rgb, 1.0 - exp(-0.7 * lengths));
    body = mix(body, water.sediment.rgb, murk);
    let shore = smoothstep(0.0, 0.12, depth);
    var alpha = max(1.0 - exp(-lengths * (1.0 + 6.0 * murk)), 0.30 * shore);

    // Even wild water shows between the streaks.
    let bar = mix(0.75, 0.25, cover);
    let foam = smoothstep(bar, bar + 0.45, pattern) * smoothstep(0.0, 0.3, cover)
        * smoothstep(0.01, 0.15, depth);
    body = mix(body, water.foam.rgb, foam);
    alpha = mix(alpha, 1.0, 0.85 * foam);

    // The sky is mirrored at flat angles.
    let facing = clamp(dot(normal, pbr.V), 0.0, 1.0);
    let mirror = (0.02 + 0.98 * pow(1.0 - facing, 5.0)) * (1.0 - foam) * (1.0 - 0.6 * blurred);
#ifdef ENVIRONMENT_MAP
    let sky = 0.35 * mirror;
#else
    let sky = mirror;
#endif

    // Only what comes from within the water thins out with it; what its skin
    // mirrors does not. So light is counted as already weighted by alpha.
    pbr.N = normal;
    pbr.material.base_color = vec4(body * alpha * (1.0 - mirror) + water.sky.rgb * sky, 1.0);
    pbr.material.perceptual_roughness = mix(roughness, 0.9, foam);
    let lit = apply_pbr_lighting(pbr).rgb * shore;
    alpha = (alpha + mirror * (1.0 - alpha)) * shore;
    // Glints are brighter than thin water hides.
    alpha = clamp(max(alpha, max(lit.r, max(lit.g, lit.b))), 1e-4, 1.0);

    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(pbr, vec4(lit / alpha, alpha));
#ifdef OIT_ENABLED
    oit_draw(in.position, out.color);
    discard;
#endif
    return out;
}
