// Small things that passes write down for one another and for the host. To be
// included by passes that bind `notes`.
#define_import_path bevy_erode::gpu::notes

#import bevy_erode::gpu::state::{constants, WET, WET_NORTH, WET_SOUTH, WET_WEST, WET_EAST, SEA, SETTLED}

@group(0) @binding(1) var<storage, read_write> notes: array<atomic<u32>>;

fn note(place: u32) -> u32 {
    return atomicLoad(&notes[place]);
}

fn note_number(place: u32) -> f32 {
    return bitcast<f32>(atomicLoad(&notes[place]));
}

fn write_number(place: u32, value: f32) {
    atomicStore(&notes[place], bitcast<u32>(value));
}

// The time that this sub-step takes, as a share of what it was asked to: the
// water may have become faster than the host knows.
fn stable_share() -> f32 {
    let signal = max(sqrt(2.0 * note_number(constants.pace.x)), 1e-3);
    return min(1.0, constants.courant * constants.cell_size / signal / constants.dt);
}

// Whether water is in a tile or may reach it.
fn takes_part(tile: vec2<u32>) -> bool {
    let states = constants.tile_states.x;
    let wide = constants.tiles.x;
    let number = states + tile.y * wide + tile.x;
    let last = tile + 1u == constants.tiles;
    var wet = (note(number) & WET) != 0u;
    if tile.x > 0u { wet |= (note(number - 1u) & WET_EAST) != 0u; }
    else { wet |= constants.borders.x == SEA; }
    if !last.x { wet |= (note(number + 1u) & WET_WEST) != 0u; }
    else { wet |= constants.borders.y == SEA; }
    if tile.y > 0u { wet |= (note(number - wide) & WET_SOUTH) != 0u; }
    else { wet |= constants.borders.z == SEA; }
    if !last.y { wet |= (note(number + wide) & WET_NORTH) != 0u; }
    else { wet |= constants.borders.w == SEA; }
    return wet;
}

fn is_settled(tile: vec2<u32>) -> bool {
    return (note(constants.tile_states.x + tile.y * constants.tiles.x + tile.x) & SETTLED) != 0u;
}

fn mark_ground(tile: u32) {
    atomicOr(&notes[constants.ground_changed + tile], 1u);
    atomicOr(&notes[constants.repaint + tile], 1u);
}

fn mark_water(tile: u32) {
    atomicOr(&notes[constants.water_changed + tile], 1u);
    atomicOr(&notes[constants.repaint + tile], 1u);
}
