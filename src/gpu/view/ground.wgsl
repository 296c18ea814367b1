// Writes heights, normals and colours of the ground's chunks straight into their
// meshes. A vertex tells by its place in the chunk which cell it shows, so any
// level of detail will do. The colours are those of the module `view::colours`.
#define_import_path bevy_erode::gpu::view::ground

#import bevy_erode::gpu::state::{constants, FILM, index}
#import bevy_erode::gpu::view::chunks::{Chunk, is_changed}

struct Look {
    // Where things lie in a vertex, and how long it is. units: words
    stride: u32,
    position: u32,
    normal: u32,
    colour: u32,
    // 0 ground, 1 change, 2 depth, 3 velocity, 4 discharge, 5 sediment.
    overlay: u32,
    // Whether all chunks are to be painted, changed or not.
    all: u32,
    // Lowest ground at the start, and the relief above it. units: m
    lowest: f32,
    relief: f32,
    snow_line: f32,
    deposit_cover: f32,
    // What the overlay shows in full colour, in its unit.
    range: f32,
    spare: f32,
    rock: vec4<f32>,
    cliff: vec4<f32>,
    soil: vec4<f32>,
    grass: vec4<f32>,
    deposit: vec4<f32>,
    snow: vec4<f32>,
    // Steps of the overlay's colours, in sRGB.
    stops: array<vec4<f32>, 5>,
}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> before: array<f32>;
@group(0) @binding(7) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(8) var<storage, read_write> vertices: array<f32>;
@group(0) @binding(9) var<uniform> look: Look;

fn height(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    return rock[at].x + cover[at].x;
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

fn ground_colour(place: vec2<f32>, relative: f32, up: f32, soil: f32, change: f32, water: f32) -> vec3<f32> {
    let blotch = value_noise(place / 23.0) * 0.6 + value_noise(place / 7.0) * 0.4;
    let bars = value_noise(place / 41.0) * 0.7 + value_noise(place / 5.0) * 0.3;
    let vary = blotch - 0.5;
    let steep = ramp(up + vary * 0.10, 0.86, 0.66);
    var colour = mix(look.rock.rgb, look.cliff.rgb, steep);
    let bed = value_noise(vec2(relative * 60.0, 0.0));
    colour *= 1.0 + (bed - 0.5) * 0.22 * (0.3 + steep);

    let gentle = ramp(up + vary * 0.12, 0.78, 0.93);
    let low = ramp(relative + vary * 0.25, 0.75, 0.40);
    let old_soil = soil - max(change, 0.0);
    let earth = mix(look.soil.rgb, look.grass.rgb, gentle * low);
    let covered = max(ramp(old_soil, 0.0, 0.4), gentle * low * 0.75);
    colour = mix(colour, earth, covered);

    let fresh = ramp(min(change, soil), 0.02, look.deposit_cover);
    let overgrown = ramp(bars + vary * 0.3, 0.45, 0.85) * gentle * low * 0.7;
    let deposit = mix(look.deposit.rgb * (0.86 + 0.28 * bars), look.grass.rgb, overgrown);
    colour = mix(colour, deposit, fresh * (0.75 + 0.2 * blotch));

    let high = ramp(relative + vary * 0.12, look.snow_line, look.snow_line + 0.08);
    let holds = ramp(up + vary * 0.1, 0.62, 0.80);
    colour = mix(colour, look.snow.rgb, high * holds);
    let wet = ramp(water, 0.0, 0.05);
    return colour * ((1.0 + vary * 0.16) * (1.0 - 0.35 * wet));
}

fn linear(srgb: vec3<f32>) -> vec3<f32> {
    let high = pow((srgb + 0.055) / 1.055, vec3(2.4));
    return select(high, srgb / 12.92, srgb <= vec3(0.04045));
}

// What the overlay shows of a cell, in its unit.
fn measure(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    let depth = cover[at].y;
    if look.overlay == 2u { return depth; }
    // Rivers run on the host: nothing of them is here.
    if look.overlay == 6u { return 0.0; }
    if look.overlay == 5u { return select(0.0, load[at].x / max(depth, 10.0 * FILM), depth > FILM); }
    var through = flow[at];
    if cell.x > 0 { through.x = 0.5 * (through.x + flow[at - 1u].x); }
    if cell.y > 0 { through.y = 0.5 * (through.y + flow[at - constants.size.x].y); }
    let discharge = length(through);
    return select(discharge, discharge / max(depth, 100.0 * FILM), look.overlay == 3u);
}

fn overlaid(base: vec3<f32>, cell: vec2<i32>, change: f32) -> vec3<f32> {
    if look.overlay == 0u { return base; }
    let grey = vec3(dot(base, vec3(0.2126, 0.7152, 0.0722)));
    if look.overlay == 1u {
        let amount = sqrt(min(abs(change) / max(look.range, 1e-6), 1.0));
        let tint = select(vec3(0.04, 0.16, 0.85), vec3(0.80, 0.06, 0.03), change < 0.0);
        return mix(grey, tint, amount);
    }
    let measured = measure(cell);
    var share = clamp(measured / max(look.range, 1e-6), 0.0, 1.0);
    if look.overlay == 4u { share = log(1.0 + 999.0 * share) / log(1000.0); }
    else { share = sqrt(share); }
    let step = share * 4.0;
    let lower = min(u32(step), 3u);
    let colour = mix(look.stops[lower].rgb, look.stops[lower + 1u].rgb, step - f32(lower));
    return mix(grey, linear(colour), ramp(measured, 0.0, 0.002 * look.range));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) number: u32) {
    let chunk = chunks[group.y];
    let vertex = group.x * 64u + number;
    if vertex >= chunk.vertices || look.all == 0u && !is_changed(chunk) { return; }
    let at = (chunk.first_vertex + vertex) * look.stride;
    let position = at + look.position;
    let place = vec2(vertices[position], vertices[position + 2u]) / constants.cell_size;
    let last = vec2<i32>(constants.size) - 1;
    let cell = clamp(vec2<i32>(chunk.cell) + vec2<i32>(round(place)), vec2(0), last);
    let west = max(cell.x - 1, 0);
    let east = min(cell.x + 1, last.x);
    let north = max(cell.y - 1, 0);
    let south = min(cell.y + 1, last.y);
    let l = constants.cell_size;
    let slope = vec2(
        (height(vec2(east, cell.y)) - height(vec2(west, cell.y))) / (f32(east - west) * l),
        (height(vec2(cell.x, south)) - height(vec2(cell.x, north))) / (f32(south - north) * l),
    );
    let ground = height(cell);
    let normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    let here = index(cell);
    let change = ground - before[here];
    let relative = (ground - look.lowest) / look.relief;
    let base = ground_colour(
        vec2<f32>(cell) * l, relative, normal.y, cover[here].x, change, cover[here].y,
    );
    let colour = overlaid(base, cell, change);
    vertices[position + 1u] = ground;
    for (var i = 0u; i < 3u; i++) {
        vertices[at + look.normal + i] = normal[i];
        vertices[at + look.colour + i] = colour[i];
    }
}
