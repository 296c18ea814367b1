// Paints the ground finer than its vertices: the palette once more for every
// pixel, with grain of rock and soil, beds in cliffs, pebbles in deposits, and
// damp beside water. Detail that a pixel cannot show is left out, so that
// nothing shimmers. Light comes from Bevy's own material.
#define_import_path bevy_erode::view::ground::surface

#import bevy_pbr::{
    decal::clustered::apply_decals,
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::alpha_discard,
}
#import bevy_erode::view::colors::{Palette, GroundSample, paint, variation}

#ifdef PREPASS_PIPELINE
#import bevy_pbr::{
    prepass_io::{FragmentOutput, VertexOutput},
    pbr_deferred_functions::deferred_output,
}
#else
#import bevy_pbr::{
    forward_io::{FragmentOutput, VertexOutput},
    pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
}
#endif

struct GroundSettings {
    palette: Palette,
    // Sizes of grain that are drawn, each half of the one before; none paints
    // the vertex colors alone.
    octaves: u32,
    // Whether deposits have pebbles.
    pebbles: u32,
    // units: m
    cell_size: f32,
    spare: f32,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(100) var<uniform> settings: GroundSettings;

// Length of the largest pebbles. units: m
const PEBBLE: f32 = 0.5;
// Turns by an angle that lattices do not share.
const TURN: mat2x2<f32> = mat2x2<f32>(0.8, 0.6, -0.6, 0.8);

fn scramble(bits: u32) -> u32 {
    var hash = (bits ^ (bits >> 15u)) * 0x2C1B3C6Du;
    hash = (hash ^ (hash >> 12u)) * 0x297A2D39u;
    return hash ^ (hash >> 15u);
}

fn unit(hash: u32) -> f32 {
    return f32(hash >> 8u) / 16777216.0;
}

fn hash2(cell: vec2<i32>) -> u32 {
    let c = bitcast<vec2<u32>>(cell);
    return scramble((c.x * 0x9E3779B1u) ^ (c.y * 0x85EBCA77u));
}

fn hash3(cell: vec3<i32>) -> f32 {
    let c = bitcast<vec3<u32>>(cell);
    return unit(scramble((c.x * 0x9E3779B1u) ^ (c.y * 0x85EBCA77u) ^ (c.z * 0xC2B2AE3Du)));
}

// Smooth noise from -0.5 to 0.5 on a unit lattice, and its slope.
fn noise2(at: vec2<f32>) -> vec3<f32> {
    let corner = floor(at);
    let cell = vec2<i32>(corner);
    let t = at - corner;
    let u = t * t * (3.0 - 2.0 * t);
    let du = 6.0 * t * (1.0 - t);
    let a = unit(hash2(cell));
    let b = unit(hash2(cell + vec2(1, 0)));
    let c = unit(hash2(cell + vec2(0, 1)));
    let d = unit(hash2(cell + vec2(1, 1)));
    let twist = a - b - c + d;
    return vec3(
        a + (b - a) * u.x + (c - a) * u.y + twist * u.x * u.y - 0.5,
        du * (vec2(b - a, c - a) + twist * u.yx),
    );
}

// The same in space: rock has grain on every side.
fn noise3(at: vec3<f32>) -> vec4<f32> {
    let corner = floor(at);
    let cell = vec3<i32>(corner);
    let t = at - corner;
    let u = t * t * (3.0 - 2.0 * t);
    let du = 6.0 * t * (1.0 - t);
    let a = hash3(cell);
    let b = hash3(cell + vec3(1, 0, 0));
    let c = hash3(cell + vec3(0, 1, 0));
    let d = hash3(cell + vec3(1, 1, 0));
    let e = hash3(cell + vec3(0, 0, 1));
    let f = hash3(cell + vec3(1, 0, 1));
    let g = hash3(cell + vec3(0, 1, 1));
    let h = hash3(cell + vec3(1, 1, 1));
    let k1 = b - a;
    let k2 = c - a;
    let k3 = e - a;
    let k4 = a - b - c + d;
    let k5 = a - c - e + g;
    let k6 = a - b - e + f;
    let k7 = b + c + e + h - a - d - f - g;
    return vec4(
        a + k1 * u.x + k2 * u.y + k3 * u.z + k4 * u.x * u.y + k5 * u.y * u.z + k6 * u.z * u.x
            + k7 * u.x * u.y * u.z - 0.5,
        du * (vec3(k1, k2, k3) + vec3(k4, k5, k6) * u.yzx + vec3(k6, k4, k5) * u.zxy
            + k7 * u.yzx * u.zxy),
    );
}

// How much of something this large is seen. `footprint` is the size of a pixel.
fn seen(size: f32, footprint: f32) -> f32 {
    return 1.0 - smoothstep(0.2, 0.6, footprint / size);
}

// Grain of loose ground, seen from above: value and slope. Its sizes start
// where the mesh ends.
fn soil_grain(place: vec2<f32>, footprint: f32) -> vec3<f32> {
    var sum = vec3(0.0);
    var size = 2.0 * settings.cell_size;
    var weight = 0.6;
    var turned = place;
    var back = mat2x2<f32>(1.0, 0.0, 0.0, 1.0);
    for (var octave = 0u; octave < settings.octaves; octave += 1u) {
        let share = seen(size, footprint);
        if share <= 0.0 { break; }
        let n = noise2(turned / size);
        sum += share * vec3(weight * n.x, back * n.yz);
        turned = TURN * turned;
        back = back * transpose(TURN);
        size *= 0.5;
        weight *= 0.75;
    }
    return sum;
}

// Grain of rock: value and slope, sharp edged.
fn rock_grain(place: vec3<f32>, footprint: f32) -> vec4<f32> {
    var sum = vec4(0.0);
    var size = 2.5 * settings.cell_size;
    var weight = 0.6;
    for (var octave = 0u; octave < settings.octaves; octave += 1u) {
        let share = seen(size, footprint);
        if share <= 0.0 { break; }
        let n = noise3(place / size + f32(octave) * 17.3);
        // Folded, so that there are edges where it changes sign.
        let edge = select(-1.0, 1.0, n.x < 0.0);
        sum += share * vec4(weight * (0.5 - 2.0 * abs(n.x)), 2.0 * edge * n.yzw);
        size *= 0.5;
        weight *= 0.75;
    }
    return sum;
}

// Beds of rock, lying a little askew: lightness and how it changes upwards.
fn beds(place: vec3<f32>, footprint: f32) -> vec2<f32> {
    var sum = vec2(0.0);
    var size = settings.palette.relief / 24.0;
    let height = place.y + 0.06 * place.x - 0.04 * place.z;
    for (var octave = 0u; octave < settings.octaves; octave += 1u) {
        let share = seen(0.7 * size, footprint);
        if share <= 0.0 { break; }
        let n = noise2(vec2(height / size, 31.7 * f32(octave)));
        sum += share * n.xy;
        size *= 0.37;
    }
    return sum;
}

// Rounded stones side by side: lightness and slope.
fn pebbles(place: vec2<f32>, size: f32) -> vec3<f32> {
    let at = place / size;
    let base = vec2<i32>(floor(at));
    var nearest = 9.0;
    var away = vec2(0.0);
    var tone = 0.0;
    for (var y = -1; y <= 1; y += 1) {
        for (var x = -1; x <= 1; x += 1) {
            let cell = base + vec2(x, y);
            let hash = hash2(cell);
            let center = vec2<f32>(cell) + 0.5
                + 0.7 * (vec2(f32(hash & 0xFFFFu), f32(hash >> 16u)) / 65536.0 - 0.5);
            let to = at - center;
            let distance = dot(to, to);
            if distance < nearest {
                nearest = distance;
                away = to;
                tone = unit(scramble(hash));
            }
        }
    }
    // A dome over each stone, dark gaps between them.
    let gap = smoothstep(0.12, 0.42, nearest);
    return vec3((tone - 0.5) * (1.0 - gap) - 0.45 * gap, -1.6 * away * (1.0 - 0.5 * gap));
}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var pbr = pbr_input_from_standard_material(in, is_front);
#ifdef VERTEX_UVS_B
#ifdef VERTEX_COLORS
    let place = in.world_position.xyz;
    let across = max(length(dpdx(place)), length(dpdy(place)));
    let upward = max(abs(dpdx(place.y)), abs(dpdy(place.y)));
    if settings.octaves > 0u {
        let normal = normalize(pbr.N);
        // Bare rock shows where it is steep or where there is no soil.
        let soil = soil_grain(place.xz, across);
        let vary = variation(place.xz);
        var sample: GroundSample;
        sample.blotch = vary.x + 0.55 * soil.x;
        sample.bars = vary.y + 0.5 * soil.x;
        sample.relative_height = (place.y - settings.palette.lowest) / settings.palette.relief;
        sample.up = normal.y;
        sample.hollow = clamp(3.0 - 4.0 * max(in.color.a, 0.5), -1.0, 1.0);
        sample.soil = in.uv_b.x;
        sample.change = in.uv_b.y;
        sample.wet = clamp(1.0 - 2.0 * in.color.a, 0.0, 1.0);
        var ground = paint(settings.palette, sample);
        var slope = vec3(soil.y, 0.0, soil.z) * mix(0.10, 0.16, ground.fresh);
        var tone = 0.25 * soil.x;
        let bare = (1.0 - ground.loose) * (1.0 - ground.snow);
        if bare > 0.02 {
            let rock = rock_grain(place, across);
            let bed = beds(place, upward);
            let steep = smoothstep(0.9, 0.6, normal.y);
            slope = mix(slope, 0.16 * rock.yzw + vec3(0.0, 0.40 * steep * bed.y, 0.0), bare);
            tone = mix(tone, 0.34 * rock.x + 0.35 * bed.x * (0.25 + steep), bare);
        }
        let stones = ground.fresh * (1.0 - ground.green) * (1.0 - ground.snow);
        let small = seen(PEBBLE, across) * stones;
        if settings.pebbles > 0u && small > 0.02 {
            let stone = pebbles(place.xz, PEBBLE);
            slope += vec3(stone.y, 0.0, stone.z) * small * 0.5;
            tone += 0.5 * stone.x * small;
        }
        // Snow lies smooth over what is below.
        slope *= 1.0 - 0.7 * ground.snow;
        tone *= 1.0 - 0.8 * ground.snow;
        var color = ground.color * (1.0 + tone);
        // Plants are not one green.
        let dry = clamp(0.5 + soil.x + (vary.y - 0.5), 0.0, 1.0);
        let meadow = color * mix(vec3(0.82, 1.0, 0.80), vec3(1.22, 1.02, 0.86), dry);
        color = mix(color, meadow, ground.green * (1.0 - ground.snow));
        // What a game made of the base: its color and its texture.
        let tint = pbr.material.base_color.rgb / max(in.color.rgb, vec3(1e-4));
        pbr.material.base_color = vec4(max(color, vec3(0.0)) * tint, 1.0);
        let bent = slope - normal * dot(slope, normal);
        pbr.N = normalize(normal - bent * (1.0 - 0.6 * sample.wet));
        // Wet ground is smooth and mirrors a little, snow glitters.
        let damp = sample.wet * (1.0 - ground.snow);
        pbr.material.perceptual_roughness =
            mix(mix(pbr.material.perceptual_roughness, 0.7, ground.snow), 0.42, damp);
        pbr.material.reflectance = mix(pbr.material.reflectance, vec3(0.4), damp);
    }
#endif
#endif
    pbr.material.base_color = alpha_discard(pbr.material, pbr.material.base_color);
    apply_decals(&pbr);
#ifdef PREPASS_PIPELINE
    return deferred_output(in, pbr);
#else
    var out: FragmentOutput;
    out.color = apply_pbr_lighting(pbr);
    out.color = main_pass_post_lighting_processing(pbr, out.color);
    return out;
#endif
}
