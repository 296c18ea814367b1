// Writes the water's surface straight into the meshes of its chunks. Where the
// surface lies is said in the module `view::water::surface`; a vertex tells by
// its place in the chunk which cell it shows.
#define_import_path bevy_erode::gpu::view::water

#import bevy_erode::gpu::constants::{constants, FILM}
#import bevy_erode::gpu::state::{index, inside}
#import bevy_erode::gpu::view::chunks::{is_changed, vertex_level}
#import bevy_erode::gpu::view::foam::{foam_between, ramp, water_beside, water_spot}
#import bevy_erode::gpu::view::streams::stream_at
#import bevy_erode::gpu::view::constants::{Chunk, VERTICES_PER_GROUP}
#import bevy_erode::gpu::view::water_look::{look, BROOK, RUNS, SINK, STILL, WIDEST, WIDEST_STREAM}

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> flow: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(8) var<storage, read_write> vertices: array<f32>;

// Sums over wet cells.
struct Wet {
    count: f32,
    level: f32,
    depth: f32,
    deepest: f32,
    share: f32,
    velocity: vec2<f32>,
    foam: f32,
}

fn ground_at(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    return rock[at].x + cover[at].x;
}

// Depth of water, zero where it is too thin to be seen.
fn depth_at(cell: vec2<i32>) -> f32 {
    let depth = cover[index(cell)].y + stream_at(cell, look.rivers).x;
    return select(0.0, depth, depth > look.thinnest);
}

fn velocity_at(cell: vec2<i32>, depth: f32) -> vec2<f32> {
    let at = index(cell);
    var through = flow[at];
    if cell.x > 0 { through.x = 0.5 * (through.x + flow[at - 1u].x); }
    if cell.y > 0 { through.y = 0.5 * (through.y + flow[at - constants.size.x].y); }
    return (through + stream_at(cell, look.rivers).yz) / max(depth, 100.0 * FILM);
}

// The water beside a cell; of no depth where it is dry.
fn spot_at(cell: vec2<i32>, ground: f32) -> vec3<f32> {
    if !inside(cell) { return vec3(0.0); }
    let depth = depth_at(cell);
    if depth <= 0.0 { return vec3(0.0); }
    return water_spot(ground_at(cell) - ground, depth, velocity_at(cell, depth));
}

// How much of the water in a wet cell is white, 0 to 1.
fn foam_at(cell: vec2<i32>, depth: f32, velocity: vec2<f32>) -> f32 {
    let sum = abs(velocity.x) + abs(velocity.y);
    if sum < STILL { return 0.0; }
    let ground = ground_at(cell);
    let here = water_spot(0.0, depth, velocity);
    let step = select(vec2<i32>(1), vec2<i32>(-1), velocity < vec2<f32>(0.0));
    let weight = abs(velocity) / sum;
    let before_x = spot_at(cell - vec2(step.x, 0), ground);
    let behind_x = spot_at(cell + vec2(step.x, 0), ground);
    let before_y = spot_at(cell - vec2(0, step.y), ground);
    let behind_y = spot_at(cell + vec2(0, step.y), ground);
    let up = weight.x * water_beside(here, before_x, behind_x)
        + weight.y * water_beside(here, before_y, behind_y);
    let down = weight.x * water_beside(here, behind_x, before_x)
        + weight.y * water_beside(here, behind_y, before_y);
    let apart = constants.cell_size * length(velocity) / sum;
    return foam_between(up, here, down, apart, look.foam_speed);
}

// What the wet cells of a square have in all.
fn wet_around(at: vec2<i32>, reach: i32, step: i32) -> Wet {
    var wet = Wet();
    for (var y = at.y - reach; y <= at.y + reach; y += step) {
        for (var x = at.x - reach; x <= at.x + reach; x += step) {
            let cell = vec2(x, y);
            if !inside(cell) { continue; }
            let depth = depth_at(cell);
            if depth <= 0.0 { continue; }
            wet.count += 1.0;
            wet.level += ground_at(cell) + depth;
            wet.depth += depth;
            wet.deepest = max(wet.deepest, depth);
            wet.share += load[index(cell)].x / depth;
            let velocity = velocity_at(cell, depth);
            wet.velocity += velocity;
            wet.foam += foam_at(cell, depth, velocity);
        }
    }
    return wet;
}

// How much the water runs, 0 to 1.
fn runs(wet: Wet) -> f32 {
    return ramp(length(wet.velocity) / max(wet.count, 1.0), RUNS.x, RUNS.y);
}

// The level in a cell, or that of the vertices around it; `own` far from water.
fn level_at(cell: vec2<i32>, reach: i32, own: f32) -> f32 {
    let depth = depth_at(cell);
    if depth > 0.0 { return ground_at(cell) + depth; }
    var sum = 0.0;
    var count = 0.0;
    for (var y = cell.y - reach; y <= cell.y + reach; y += reach) {
        for (var x = cell.x - reach; x <= cell.x + reach; x += reach) {
            let there = vec2(x, y);
            if !inside(there) { continue; }
            let wet = depth_at(there);
            if wet > 0.0 {
                sum += ground_at(there) + wet;
                count += 1.0;
            }
        }
    }
    return select(own, sum / max(count, 1.0), count > 0.0);
}

fn normal_at(cell: vec2<i32>, reach: i32, own: f32) -> vec3<f32> {
    let last = vec2<i32>(constants.size) - 1;
    let low = max(cell - reach, vec2(0));
    let high = min(cell + reach, last);
    let width = vec2<f32>(max(high - low, vec2(1))) * constants.cell_size;
    let slope = vec2(
        level_at(vec2(high.x, cell.y), reach, own) - level_at(vec2(low.x, cell.y), reach, own),
        level_at(vec2(cell.x, high.y), reach, own) - level_at(vec2(cell.x, low.y), reach, own),
    ) / width;
    return normalize(vec3(-slope.x, 1.0, -slope.y));
}

@compute @workgroup_size(VERTICES_PER_GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) number: u32) {
    let chunk = chunks[group.y];
    let vertex = group.x * VERTICES_PER_GROUP + number;
    if vertex >= chunk.vertices || look.all == 0u && !is_changed(chunk) { return; }
    let start = (chunk.first_vertex + vertex) * look.stride;
    let position = start + look.position;
    let place = round(vec2(vertices[position], vertices[position + 2u]) / constants.cell_size);
    let last = vec2<i32>(constants.size) - 1;
    let cell = clamp(vec2<i32>(chunk.cell) + vec2<i32>(place), vec2(0), last);
    let level_of_detail = vertex_level(chunk, vec2<u32>(place));
    let reach = min(1 << level_of_detail, WIDEST);
    let stream = min((1 << level_of_detail) / 2, WIDEST_STREAM);

    let ground = ground_at(cell);
    let depth = depth_at(cell);
    var height = ground + depth;
    var normal = vec3(0.0, 1.0, 0.0);
    var shown = depth;
    var share = 0.0;
    var velocity = vec2(0.0);
    var white = 0.0;
    if depth > 0.0 {
        normal = normal_at(cell, reach, height);
        share = load[index(cell)].x / depth;
        velocity = velocity_at(cell, depth);
        white = foam_at(cell, depth, velocity);
    } else {
        var near = Wet();
        var thin = 0.0;
        if stream > 0 {
            // A stream between coarse vertices is spread over those beside it.
            near = wet_around(cell, stream, 1);
            let side = f32(2 * stream + 1);
            thin = near.depth / (side * side) * runs(near);
        }
        if thin > look.thinnest {
            height = ground + thin;
            normal = normal_at(cell, reach, near.level / near.count);
        } else {
            near = wet_around(cell, reach, reach);
            // The level goes on into the bank, but never hangs over dry ground.
            let buried = ground - clamp(near.depth / max(near.count, 1.0), SINK.x, SINK.y);
            var level = buried;
            if near.count > 0.0 {
                let mean = near.level / near.count;
                normal = normal_at(cell, reach, mean);
                level = min(mean, buried);
            } else {
                // Far from water: well out of sight.
                level = ground - SINK.y;
            }
            // A brook of one cell spreads over its banks.
            height = level + (buried - level) * runs(near) * ramp(near.deepest, BROOK.x, BROOK.y);
        }
        shown = height - ground;
        share = near.share / max(near.count, 1.0);
        velocity = near.velocity / max(near.count, 1.0);
        white = near.foam / max(near.count, 1.0);
    }
    vertices[position + 1u] = height;
    for (var i = 0u; i < 3u; i++) { vertices[start + look.normal + i] = normal[i]; }
    vertices[start + look.load] = shown;
    vertices[start + look.load + 1u] = share;
    vertices[start + look.velocity] = velocity.x;
    vertices[start + look.velocity + 1u] = velocity.y;
    for (var i = 0u; i < 3u; i++) { vertices[start + look.color + i] = 1.0 + white; }
    vertices[start + look.color + 3u] = 1.0;
}
