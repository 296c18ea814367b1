// Paints lava: it glows by its heat, through the gaps of a dark crust that
// drifts with the flow. Light from outside comes from Bevy's own material.
#define_import_path bevy_erode::view::lava::surface

#import bevy_pbr::{
    forward_io::{FragmentOutput, VertexOutput},
    mesh_view_bindings::globals,
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
}

struct Lava {
    crust: vec4<f32>,
    dull: vec4<f32>,
    bright: vec4<f32>,
    // Glow, size of the plates (m).
    shape: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(100) var<uniform> lava: Lava;

// The crust is carried along for this long, then starts again where it was; two
// sets take turns. It divides the hour after which the clock starts again.
// units: s
const CYCLE: f32 = 6.0;

fn hash(cell: vec2<i32>) -> vec2<f32> {
    var bits = (bitcast<u32>(cell.x) * 0x9E3779B1u) ^ (bitcast<u32>(cell.y) * 0x85EBCA77u);
    bits = (bits ^ (bits >> 15u)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12u)) * 0x297A2D39u;
    bits ^= bits >> 15u;
    return vec2(f32(bits & 0xFFFFu), f32(bits >> 16u)) / 65536.0;
}

// Smooth noise from 0 to 1 on a unit lattice.
fn noise(at: vec2<f32>) -> f32 {
    let corner = floor(at);
    let cell = vec2<i32>(corner);
    let t = at - corner;
    let u = t * t * (3.0 - 2.0 * t);
    let north = mix(hash(cell).x, hash(cell + vec2(1, 0)).x, u.x);
    let south = mix(hash(cell + vec2(0, 1)).x, hash(cell + vec2(1, 1)).x, u.x);
    return mix(north, south, u.y);
}

// How far a place lies from the gaps between plates on a unit lattice: 0 in a
// gap, up to 1 within a plate. (Distance to the border of a Voronoi cell.)
fn plates(at: vec2<f32>) -> f32 {
    let cell = vec2<i32>(floor(at));
    let t = fract(at);
    var nearest = 8.0;
    var to_nearest = vec2(0.0);
    for (var y = -1; y <= 1; y += 1) {
        for (var x = -1; x <= 1; x += 1) {
            let offset = vec2(x, y);
            let to = vec2<f32>(offset) + 0.15 + 0.7 * hash(cell + offset) - t;
            let far = dot(to, to);
            if far < nearest {
                nearest = far;
                to_nearest = to;
            }
        }
    }
    var gap = 1.0;
    for (var y = -1; y <= 1; y += 1) {
        for (var x = -1; x <= 1; x += 1) {
            let offset = vec2(x, y);
            let to = vec2<f32>(offset) + 0.15 + 0.7 * hash(cell + offset) - t;
            let between = to - to_nearest;
            let apart = dot(between, between);
            if apart > 1e-4 {
                gap = min(gap, dot(0.5 * (to + to_nearest), between) * inverseSqrt(apart));
            }
        }
    }
    return gap;
}

// Crust from 0 (open) to 1 (closed), and its relief, of one of the two sets.
fn crust(at: vec2<f32>, velocity: vec2<f32>, phase: f32, footprint: f32) -> vec2<f32> {
    let turn = fract(globals.time / CYCLE + phase);
    let start = floor(globals.time / CYCLE + phase) * vec2(31.7, 17.9) + phase * 61.7;
    let weight = 1.0 - abs(1.0 - 2.0 * turn);
    let moved = (at - velocity * (turn - 0.5) * CYCLE) / lava.shape.y + start;
    // Plates are bent: straight gaps would look like paving.
    let bent = moved + 0.55 * vec2(noise(2.3 * moved), noise(2.3 * moved + 17.0));
    let fine = noise(5.0 * moved) - 0.5;
    // What is too small to be seen is even.
    let seen = 1.0 - smoothstep(0.15, 0.6, footprint / lava.shape.y);
    let gap = mix(0.22, plates(bent) + 0.10 * fine, seen);
    return weight * vec2(gap, noise(3.1 * bent) * seen);
}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    let footprint = length(fwidth(in.world_position.xz));
#ifdef VERTEX_UVS_A
    let depth = in.uv.x;
    let warmth = clamp(in.uv.y, 0.0, 1.0);
#else
    let depth = 1.0;
    let warmth = 1.0;
#endif
#ifdef VERTEX_UVS_B
    let flow = in.uv_b;
#else
    let flow = vec2(0.0);
#endif
    // The surface goes on below the ground around it.
    if depth <= 0.0 {
        discard;
    }
    var pbr = pbr_input_from_standard_material(in, is_front);
    let place = in.world_position.xz;
    let speed = length(flow);
    let cover = crust(place, flow, 0.0, footprint) + crust(place, flow, 0.5, footprint);

    // Hot and fast lava tears its crust, cold and slow lava closes it; thin
    // borders freeze first.
    let stir = smoothstep(0.05, 1.2, speed);
    let body = smoothstep(0.0, 0.5, depth);
    let heat = warmth * mix(0.55, 1.0, body);
    let open = clamp(0.03 + 0.16 * heat * heat + 0.16 * stir * heat, 0.0, 0.40);
    let edge = max(0.07, 0.5 * footprint / lava.shape.y);
    let gap = 1.0 - smoothstep(open - edge, open + edge, cover.x);
    // Even plates glow from below while they are thin.
    let skin = 0.30 * heat * heat * (0.3 + 0.7 * cover.y);
    let shine = clamp(gap * (0.25 + 0.75 * heat) + skin, 0.0, 1.0);
    // Dull red to bright yellow, as hot bodies are.
    let hot = shine * shine;
    let light = lava.dull.rgb * shine + lava.bright.rgb * hot * (0.35 + 0.65 * heat) * heat;

    pbr.material.base_color = vec4(lava.crust.rgb * (0.6 + 0.9 * cover.y), 1.0);
    pbr.material.perceptual_roughness = 0.85;
    let lit = apply_pbr_lighting(pbr).rgb;
    // Brighter than the sun's light on white, whatever the camera's exposure.
    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(pbr, vec4(lit + lava.shape.x * light, 1.0));
    return out;
}
