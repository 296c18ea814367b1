// The water of rivers. The host runs them, as particles: it is beside the water in
// the layers, and all that is seen of it lies in one map.
#define_import_path bevy_erode::gpu::view::streams

// Depth, discharge along x and y, and fresh deposits of the cells in a box.
@group(0) @binding(6) var streams: texture_2d<f32>;

// What rivers have in a cell; `box` is the first cell of theirs and the size.
fn stream_at(cell: vec2<i32>, box: vec4<u32>) -> vec4<f32> {
    let place = cell - vec2<i32>(box.xy);
    if any(place < vec2(0)) || any(place >= vec2<i32>(box.zw)) { return vec4(0.0); }
    return textureLoad(streams, place, 0);
}
