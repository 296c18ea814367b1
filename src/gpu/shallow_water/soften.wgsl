// Water softens the top of the ground, and suspended sediment falls. The regolith
// sets out anew, without any swing.
#define_import_path bevy_erode::gpu::shallow_water::soften

#import bevy_erode::gpu::constants::{constants, GROUP, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of}
#import bevy_erode::gpu::status::{status, write_status, mark_ground, mark_water}
#import bevy_erode::gpu::shallow_water::sheet::softened
#import bevy_erode::gpu::shallow_water::constants::solve

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> load: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> regolith: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> creep: array<vec2<f32>>;
@group(0) @binding(7) var hardness: texture_2d<f32>;

@compute @workgroup_size(GROUP, GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let cell = vec2<i32>(id.xy);
    if !inside(cell) { return; }
    let at = index(cell);
    let fallen = load[at].x;
    if fallen > 0.0 {
        let soil = cover[at].x;
        let raised = exactly(soil + fallen);
        cover[at].x = raised;
        // Bedrock takes on what is too small for the soil.
        rock[at] = add_exactly(rock[at], fallen - exactly(raised - soil));
        load[at].x = 0.0;
        let tile = tile_of(id.xy);
        atomicAnd(&status[constants.tile_states.x + tile], ~AT_REST);
        mark_ground(tile);
        mark_water(tile);
    }
    var hard = 0.0;
    if constants.has_hardness != 0u { hard = textureLoad(hardness, cell, 0).x; }
    regolith[at] = vec2(softened(cover[at].y, hard), 0.0);
    creep[at] = vec2(0.0);
    if cell.x == 0 { write_status(solve.edges + id.y, 0.0); }
    if cell.y == 0 { write_status(solve.edges + constants.size.y + id.x, 0.0); }
}
