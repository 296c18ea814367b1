// Before the source's own pipe model begins: outflow through its four one-way
// pipes from the discharges that another method left. The equations of these
// passes are those of the module `pipe::published`.
#define_import_path bevy_erode::gpu::pipe::published::start

#import bevy_erode::gpu::constants::{constants, GROUP}
#import bevy_erode::gpu::state::{index, inside}

@group(0) @binding(1) var<storage, read> flow: array<vec2<f32>>;
// Outflow towards -x and +x, and towards -y and +y.
@group(0) @binding(2) var<storage, read_write> along_x: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> along_y: array<vec2<f32>>;

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) { return; }
    let at = index(cell);
    let last = vec2<i32>(constants.size) - 1;
    let here = flow[at];
    var x = vec2(0.0);
    var y = vec2(0.0);
    if cell.x > 0 { x.x = max(-flow[at - 1u].x, 0.0); }
    if cell.x < last.x { x.y = max(here.x, 0.0); }
    if cell.y > 0 { y.x = max(-flow[at - constants.size.x].y, 0.0); }
    if cell.y < last.y { y.y = max(here.y, 0.0); }
    along_x[at] = x * constants.cell_size;
    along_y[at] = y * constants.cell_size;
}
