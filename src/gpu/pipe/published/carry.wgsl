// Last pass of a step of the source's own pipe model: sediment comes from where
// the water was, a share of the water dries, and others are told how it flows.
#define_import_path bevy_erode::gpu::pipe::published::carry

#import bevy_erode::gpu::constants::{constants, GROUP, FILM, LOST_SOLIDS, EVAPORATED}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of, wet_bits}
#import bevy_erode::gpu::status::{status, mark_water, write_status}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::pipe::published::constants::published

@group(0) @binding(2) var<storage, read> load: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> velocity: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> along_x: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> along_y: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> new_cover: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> new_load: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> new_flow: array<vec2<f32>>;

var<workgroup> pace: atomic<u32>;
var<workgroup> tile_state: atomic<u32>;

// The cells on both sides of a place so far from a cell, and how far it lies
// beyond the first. A place beyond the border counts as on it.
struct Between {
    low: vec2<i32>,
    high: vec2<i32>,
    part: vec2<f32>,
}

fn between(cell: vec2<i32>, way: vec2<f32>) -> Between {
    let last = vec2<i32>(constants.size) - 1;
    let whole = floor(way);
    let first = cell + vec2<i32>(whole);
    let outside = (first < vec2(0)) | (first >= last);
    let low = clamp(first, vec2(0), last);
    let part = select(way - whole, vec2(0.0), outside);
    return Between(low, min(low + 1, last), part);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    var gained = 0.0;
    var dried = 0.0;
    if inside(cell) {
        let at = index(cell);
        let speed = velocity[at];
        let from_place = between(cell, -speed * published.cells);
        let low = from_place.low;
        let high = from_place.high;
        let part = from_place.part;
        let upper = load[index(low)].x * (1.0 - part.x) + load[index(vec2(high.x, low.y))].x * part.x;
        let lower = load[index(vec2(low.x, high.y))].x * (1.0 - part.x) + load[index(high)].x * part.x;
        let carried = exactly(upper * (1.0 - part.y) + lower * part.y);
        gained = exactly(carried - load[at].x);

        let before = vec2(new_cover[at].y, new_load[at].y);
        var after = vec2(0.0);
        if published.drying < 1.0 {
            after = add_exactly(before, -(published.drying * before.x));
            if after.x <= 0.0 { after = vec2(0.0); }
        }
        dried = exactly(before.x - after.x) + exactly(before.y - after.y);
        new_cover[at].y = after.x;
        new_load[at] = vec2(carried, after.y);

        let last = vec2<i32>(constants.size) - 1;
        var faces = vec2(0.0);
        if cell.x < last.x { faces.x = (along_x[at].y - along_x[at + 1u].x) / constants.cell_size; }
        if cell.y < last.y { faces.y = (along_y[at].y - along_y[at + constants.size.x].x) / constants.cell_size; }
        new_flow[at] = faces;
        // Nothing passes the border.
        if cell.x == 0 { write_status(constants.edges.y + u32(cell.y), 0.0); }
        if cell.y == 0 { write_status(constants.edges.y + constants.size.y + u32(cell.x), 0.0); }
        if after.x > FILM || carried > 0.0 { atomicOr(&tile_state, wet_bits(id.xy)); }
        let wave = published.gravity * after.x;
        atomicMax(&pace, bitcast<u32>(wave + min(dot(speed, speed), 4.0 * wave)));
    }
    let account = group.y * groups.x + group.x;
    add_to_ledger(account, LOST_SOLIDS, 1u, number, vec4(-gained, 0.0, 0.0, 0.0));
    workgroupBarrier();
    add_to_ledger(account, EVAPORATED, 1u, number, vec4(dried, 0.0, 0.0, 0.0));
    if number == 0u {
        let tile = tile_of(group.xy * GROUP);
        atomicMax(&status[constants.pace.y], atomicLoad(&pace));
        atomicOr(&status[constants.tile_states.y + tile], atomicLoad(&tile_state));
        mark_water(tile);
    }
}
