// Colors of the ground by material, slope and height: the module
// `view::colors` for shaders.
#define_import_path bevy_erode::view::colors

struct Palette {
    rock: vec4<f32>,
    cliff: vec4<f32>,
    soil: vec4<f32>,
    grass: vec4<f32>,
    deposit: vec4<f32>,
    snow: vec4<f32>,
    // Lowest ground at the start, and the relief above it. units: m
    lowest: f32,
    relief: f32,
    // As a share of the relief.
    snow_line: f32,
    // units: m
    deposit_cover: f32,
}

// What the color of the ground at a place depends on.
struct GroundSample {
    // Natural variation: 0 to 1, and a little beyond for what is finer than cells.
    blotch: f32,
    bars: f32,
    // Height as a share of the relief at the start.
    relative_height: f32,
    // Upward part of the normal: 1 is flat.
    up: f32,
    // From -1 on a crest to 1 in a gully.
    hollow: f32,
    // Thickness of loose ground, and change since the start. units: m
    soil: f32,
    change: f32,
    // 0 dry to 1.
    wet: f32,
}

// A painted place.
struct Ground {
    color: vec3<f32>,
    // What it is made of, 0 to 1 each: all kinds of loose ground, deposits and
    // plants among it, and snow above it.
    loose: f32,
    fresh: f32,
    green: f32,
    snow: f32,
}

// 0 at `start`, 1 at `end` (which may be smaller), smooth between.
fn ramp(value: f32, start: f32, end: f32) -> f32 {
    let t = clamp((value - start) / (end - start), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

fn corner(cell: vec2<f32>, dx: i32, dy: i32) -> f32 {
    let x = bitcast<u32>(i32(cell.x) + dx);
    let y = bitcast<u32>(i32(cell.y) + dy);
    var hash = (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
    hash = (hash ^ (hash >> 15u)) * 0x2C1B3C6Du;
    hash ^= hash >> 13u;
    return f32(hash >> 8u) / 16777216.0;
}

// Smooth noise from 0 to 1 on a unit lattice.
fn value_noise(at: vec2<f32>) -> f32 {
    let cell = floor(at);
    var t = at - cell;
    t = t * t * (3.0 - 2.0 * t);
    let north = mix(corner(cell, 0, 0), corner(cell, 1, 0), t.x);
    let south = mix(corner(cell, 0, 1), corner(cell, 1, 1), t.x);
    return mix(north, south, t.y);
}

// Blotches and bars, 0 to 1, at a horizontal place. units: m
fn variation(place: vec2<f32>) -> vec2<f32> {
    return vec2(
        value_noise(place / 23.0) * 0.6 + value_noise(place / 7.0) * 0.4,
        value_noise(place / 41.0) * 0.7 + value_noise(place / 5.0) * 0.3,
    );
}

// By how far the ground lies below the mean of the cells beside it, in cells.
fn hollow(below: f32) -> f32 {
    let bent = 4.0 * clamp(below, -1e6, 1e6);
    return bent / (1.0 + abs(bent));
}

fn wetness(depth: f32) -> f32 {
    return ramp(depth, 0.0, 0.05);
}

fn paint(palette: Palette, sample: GroundSample) -> Ground {
    var ground: Ground;
    let vary = sample.blotch - 0.5;
    let steep = ramp(sample.up + vary * 0.10, 0.86, 0.66);
    var color = mix(palette.rock.rgb, palette.cliff.rgb, steep);
    let bed = value_noise(vec2(sample.relative_height * 60.0, 0.0));
    color *= 1.0 + (bed - 0.5) * 0.22 * (0.3 + steep);

    let gentle = ramp(sample.up + vary * 0.12, 0.78, 0.93);
    let low = ramp(sample.relative_height + vary * 0.25, 0.75, 0.40);
    let old_soil = sample.soil - max(sample.change, 0.0);
    let grass = palette.grass.rgb * (0.8 + 0.4 * sample.bars);
    let earth = mix(palette.soil.rgb, grass, gentle * low);
    ground.loose = max(ramp(old_soil, 0.0, 0.4), gentle * low * 0.75);
    color = mix(color, earth, ground.loose);

    let fresh = ramp(min(sample.change, sample.soil), 0.02, palette.deposit_cover);
    let overgrown = ramp(sample.bars + vary * 0.3, 0.25, 0.65) * gentle * low * 0.85;
    let deposit = mix(palette.deposit.rgb * (0.86 + 0.28 * sample.bars), grass, overgrown);
    ground.fresh = fresh * (0.75 + 0.2 * sample.blotch);
    color = mix(color, deposit, ground.fresh);
    ground.loose = max(ground.loose, ground.fresh);
    ground.green = mix(gentle * low * ground.loose, overgrown, ground.fresh);

    let lies = sample.relative_height + vary * 0.12 + 0.03 * sample.hollow;
    let high = ramp(lies, palette.snow_line, palette.snow_line + 0.08);
    let holds = ramp(sample.up + vary * 0.1, 0.62, 0.80);
    ground.snow = high * holds;
    color = mix(color, palette.snow.rgb, ground.snow);
    let open = 1.0 - sample.hollow * select(0.16, 0.32, sample.hollow > 0.0);
    ground.color = color * (1.0 + vary * 0.16) * (1.0 - 0.35 * sample.wet) * open;
    return ground;
}
