// Writes heights, normals and colors of the ground's chunks straight into their
// meshes. A vertex tells by its place in the chunk which cell it shows, so any
// level of detail will do.
#define_import_path bevy_erode::gpu::view::ground

#import bevy_erode::gpu::constants::{constants, FILM}
#import bevy_erode::gpu::state::index
#import bevy_erode::gpu::view::chunks::is_changed
#import bevy_erode::gpu::view::streams::stream_at
#import bevy_erode::gpu::view::constants::{Chunk, VERTICES_PER_GROUP}
#import bevy_erode::gpu::view::ground_look::{look, SEEN_STREAM, STREAM}
#import bevy_erode::view::colors::{GroundSample, hollow, paint, ramp, variation, wetness}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read> before: array<f32>;
@group(0) @binding(8) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(9) var<storage, read_write> vertices: array<f32>;

fn height(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    return rock[at].x + cover[at].x;
}

fn linear(srgb: vec3<f32>) -> vec3<f32> {
    let high = pow((srgb + 0.055) / 1.055, vec3(2.4));
    return select(high, srgb / 12.92, srgb <= vec3(0.04045));
}

// What the overlay shows of a cell, in its unit.
fn measure(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    let river = stream_at(cell, look.rivers);
    let depth = cover[at].y + river.x;
    if look.overlay == 2u { return depth; }
    if look.overlay == 6u { return select(river.w, STREAM, river.x > SEEN_STREAM); }
    if look.overlay == 5u { return select(0.0, load[at].x / max(depth, 10.0 * FILM), depth > FILM); }
    var through = flow[at];
    if cell.x > 0 { through.x = 0.5 * (through.x + flow[at - 1u].x); }
    if cell.y > 0 { through.y = 0.5 * (through.y + flow[at - constants.size.x].y); }
    let discharge = length(through + river.yz);
    return select(discharge, discharge / max(depth, 100.0 * FILM), look.overlay == 3u);
}

fn overlaid(base: vec3<f32>, cell: vec2<i32>, change: f32) -> vec3<f32> {
    if look.overlay == 0u { return base; }
    let gray = vec3(dot(base, vec3(0.2126, 0.7152, 0.0722)));
    if look.overlay == 1u {
        let amount = sqrt(min(abs(change) / max(look.range, 1e-6), 1.0));
        let tint = select(vec3(0.04, 0.16, 0.85), vec3(0.80, 0.06, 0.03), change < 0.0);
        return mix(gray, tint, amount);
    }
    let measured = measure(cell);
    var share = clamp(measured / max(look.range, 1e-6), 0.0, 1.0);
    if look.overlay == 4u { share = log(1.0 + 999.0 * share) / log(1000.0); }
    else if look.overlay == 6u { share = select(0.75 * share, 1.0, measured >= STREAM); }
    else { share = sqrt(share); }
    let step = share * 4.0;
    let lower = min(u32(step), 3u);
    let color = mix(look.stops[lower].rgb, look.stops[lower + 1u].rgb, step - f32(lower));
    return mix(gray, linear(color), ramp(measured, 0.0, 0.002 * look.range));
}

@compute @workgroup_size(VERTICES_PER_GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) number: u32) {
    let chunk = chunks[group.y];
    let vertex = group.x * VERTICES_PER_GROUP + number;
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
    let beside = vec4(
        height(vec2(west, cell.y)), height(vec2(east, cell.y)),
        height(vec2(cell.x, north)), height(vec2(cell.x, south)),
    );
    let slope = (beside.yw - beside.xz) / (vec2<f32>(vec2(east - west, south - north)) * l);
    let ground = height(cell);
    let normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    let here = index(cell);
    let change = ground - before[here];
    var spot: GroundSample;
    let vary = variation(vec2<f32>(cell) * l);
    spot.blotch = vary.x;
    spot.bars = vary.y;
    spot.relative_height = (ground - look.palette.lowest) / look.palette.relief;
    spot.up = normal.y;
    spot.hollow = hollow((0.25 * dot(beside, vec4(1.0)) - ground) / l);
    spot.soil = cover[here].x;
    spot.change = change;
    spot.wet = wetness(cover[here].y + stream_at(cell, look.rivers).x);
    let color = overlaid(paint(look.palette, spot).color, cell, change);
    vertices[position + 1u] = ground;
    for (var i = 0u; i < 3u; i++) {
        vertices[at + look.normal + i] = normal[i];
        vertices[at + look.color + i] = color[i];
    }
    vertices[at + look.layers] = spot.soil;
    vertices[at + look.layers + 1u] = change;
    vertices[at + look.color + 3u] = (0.75 - 0.25 * spot.hollow) * (1.0 - spot.wet);
}
