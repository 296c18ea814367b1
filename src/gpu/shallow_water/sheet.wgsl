// What the passes of implicit shallow water share: border faces, which have no
// cell of their own, and whether there is anything left to do. To be included by
// passes that bind `notes`.
#define_import_path bevy_erode::gpu::shallow_water::sheet

#import bevy_erode::gpu::state::{constants, OPEN, WALL}
#import bevy_erode::gpu::notes::{note, note_number, write_number}

// Sides of the land.
const WEST: u32 = 0u;
const EAST: u32 = 1u;
const NORTH: u32 = 2u;
const SOUTH: u32 = 3u;

// Numbers of a face on the west or the north border, in this order.
const CONDUCTANCE: u32 = 2u;
const KEPT: u32 = 3u;
const SWEPT: u32 = 4u;

// Where the fall of the old level over a border's face is noted.
fn fall_place(side: u32, number: u32) -> u32 {
    let size = constants.size;
    switch side {
        case WEST: { return constants.rim + number; }
        case EAST: { return constants.rim + size.y + number; }
        case NORTH: { return constants.rim + 2u * size.y + number; }
        default: { return constants.rim + 2u * size.y + size.x + number; }
    }
}

// Where a number of a face on the west or the north border is noted.
fn rim_place(side: u32, what: u32, number: u32) -> u32 {
    let size = constants.size;
    let first = select(number, size.y + number, side == NORTH);
    return constants.rim + what * (size.x + size.y) + first;
}

fn rim(side: u32, what: u32, number: u32) -> f32 {
    return note_number(rim_place(side, what, number));
}

// Whether the solve before was the last that moved anything.
fn is_steady() -> bool {
    return constants.is_first == 0u && note_number(constants.fastest.x) <= constants.steady;
}

// Whether some cell gave more than it had, and its pool must make up for it.
fn lacks() -> bool {
    return note(constants.lacking) != 0u;
}

// To what depth water softens the ground. units: m
fn softened(water: f32, hardness: f32) -> f32 {
    return min(water, constants.regolith_depth * (1.0 - hardness));
}

// What a border allows of a flow; `outward` is +1 or -1. Its cell gives no more
// than its share: what has left cannot be brought back by a pool.
fn allowed_over(side: u32, flow: f32, outward: f32, share: f32) -> f32 {
    switch constants.borders[side] {
        case WALL: { return 0.0; }
        case OPEN: { return min(max(flow * outward, 0.0), share) * outward; }
        default: { return min(flow * outward, share) * outward; }
    }
}
