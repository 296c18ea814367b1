// The status buffer: small numbers that passes write for one another and for the
// host. To be included by passes that bind it.
#define_import_path bevy_erode::gpu::status

#import bevy_erode::gpu::constants::{constants, WET, WET_NORTH, WET_SOUTH, WET_WEST, WET_EAST, SEA, SETTLED}

@group(0) @binding(1) var<storage, read_write> status: array<atomic<u32>>;

fn status_word(place: u32) -> u32 {
    return atomicLoad(&status[place]);
}

fn status_number(place: u32) -> f32 {
    return bitcast<f32>(atomicLoad(&status[place]));
}

fn write_status(place: u32, value: f32) {
    atomicStore(&status[place], bitcast<u32>(value));
}

// Whether water is in a tile or may reach it.
fn takes_part(tile: vec2<u32>) -> bool {
    let states = constants.tile_states.x;
    let wide = constants.tiles.x;
    let number = states + tile.y * wide + tile.x;
    let last = tile + 1u == constants.tiles;
    var wet = (status_word(number) & WET) != 0u;
    if tile.x > 0u { wet |= (status_word(number - 1u) & WET_EAST) != 0u; }
    else { wet |= constants.borders.x == SEA; }
    if !last.x { wet |= (status_word(number + 1u) & WET_WEST) != 0u; }
    else { wet |= constants.borders.y == SEA; }
    if tile.y > 0u { wet |= (status_word(number - wide) & WET_SOUTH) != 0u; }
    else { wet |= constants.borders.z == SEA; }
    if !last.y { wet |= (status_word(number + wide) & WET_NORTH) != 0u; }
    else { wet |= constants.borders.w == SEA; }
    return wet;
}

fn is_settled(tile: vec2<u32>) -> bool {
    return (status_word(constants.tile_states.x + tile.y * constants.tiles.x + tile.x) & SETTLED) != 0u;
}

fn mark_ground(tile: u32) {
    atomicOr(&status[constants.ground_changed + tile], 1u);
    atomicOr(&status[constants.redraw + tile], 1u);
}

fn mark_water(tile: u32) {
    atomicOr(&status[constants.water_changed + tile], 1u);
    atomicOr(&status[constants.redraw + tile], 1u);
}
