// Second pass of a step of the source's own pipe model: new depth and velocity.
#define_import_path bevy_erode::gpu::pipe::published::depth

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, LOST_WATER}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::pipe::published::constants::published

@group(0) @binding(2) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> along_x: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> along_y: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> new_cover: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> new_load: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> velocity: array<vec2<f32>>;

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var gained = 0.0;
    if inside(cell) {
        let at = index(cell);
        let last = vec2<i32>(constants.size) - 1;
        let wide = constants.size.x;
        // From the neighbors before and after this cell.
        var from_x = vec2(0.0);
        var from_y = vec2(0.0);
        if cell.x > 0 { from_x.x = along_x[at - 1u].y; }
        if cell.x < last.x { from_x.y = along_x[at + 1u].x; }
        if cell.y > 0 { from_y.x = along_y[at - wide].y; }
        if cell.y < last.y { from_y.y = along_y[at + wide].x; }
        let x = along_x[at];
        let y = along_y[at];
        let inflow = (from_x.x + from_x.y) + (from_y.x + from_y.y);
        let outflow = (x.x + x.y) + (y.y + y.x);
        let before = vec2(cover[at].y, load[at].y);
        var after = add_exactly(before, published.per_area * (inflow - outflow));
        if after.x <= 0.0 { after = vec2(0.0); }
        gained = exactly(after.x - before.x) + exactly(after.y - before.y);
        new_cover[at] = vec2(cover[at].x, after.x);
        new_load[at] = vec2(load[at].x, after.y);
        let mean = 0.5 * (before.x + after.x);
        let through = vec2((from_x.x - x.x) + (x.y - from_x.y), (from_y.x - y.x) + (y.y - from_y.y));
        velocity[at] = select(vec2(0.0), 0.5 * through / (constants.cell_size * mean), mean > FILM);
    }
    add_to_ledger(group.y * groups.x + group.x, LOST_WATER, 1u, number, vec4(-gained, 0.0, 0.0, 0.0));
}
