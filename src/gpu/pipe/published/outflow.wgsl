// First pass of a step of the source's own pipe model: new outflow through the
// four pipes, no more than the cell has.
#define_import_path bevy_erode::gpu::pipe::published::outflow

#import bevy_erode::gpu::constants::{constants, GROUP, TILE}
#import bevy_erode::gpu::state::{ground_of, index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::pipe::published::constants::published

@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> along_x: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> along_y: array<vec2<f32>>;

fn surface(at: u32) -> f32 {
    return ground_of(rock[at], cover[at].x) + cover[at].y;
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    if number == 0u {
        // The states of the next step begin here.
        if all(group.xy % (TILE / GROUP) == vec2(0u)) {
            let tile = group.xy * GROUP / TILE;
            atomicStore(&status[constants.tile_states.y + tile.y * constants.tiles.x + tile.x], 0u);
        }
        if all(group.xy == vec2(0u)) { atomicStore(&status[constants.pace.y], 0u); }
    }
    let cell = vec2<i32>(id.xy);
    if !inside(cell) { return; }
    let at = index(cell);
    let wide = constants.size.x;
    let last = vec2<i32>(constants.size) - 1;
    let here = surface(at);
    var x = vec2(0.0);
    var y = vec2(0.0);
    let push = published.push;
    if cell.x > 0 { x.x = max(along_x[at].x + push * (here - surface(at - 1u)), 0.0); }
    if cell.x < last.x { x.y = max(along_x[at].y + push * (here - surface(at + 1u)), 0.0); }
    if cell.y > 0 { y.x = max(along_y[at].x + push * (here - surface(at - wide)), 0.0); }
    if cell.y < last.y { y.y = max(along_y[at].y + push * (here - surface(at + wide)), 0.0); }
    let out = ((x.x + x.y) + (y.x + y.y)) * published.per_area;
    let has = cover[at].y;
    var scale = 1.0;
    if out > has { scale = has / out; }
    along_x[at] = x * scale;
    along_y[at] = y * scale;
}
