// What the passes of implicit shallow water share: border faces, which have no
// cell of their own, and whether there is anything left to do. To be included by
// passes that bind `status`.
#define_import_path bevy_erode::gpu::shallow_water::sheet

#import bevy_erode::gpu::constants::{constants, OPEN, WALL}
#import bevy_erode::gpu::status::{status_word, status_number, write_status}
#import bevy_erode::gpu::shallow_water::constants::{solve, DEFICIT}

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
        case WEST: { return solve.border_faces + number; }
        case EAST: { return solve.border_faces + size.y + number; }
        case NORTH: { return solve.border_faces + 2u * size.y + number; }
        default: { return solve.border_faces + 2u * size.y + size.x + number; }
    }
}

// Where a number of a face on the west or the north border is noted.
fn rim_place(side: u32, what: u32, number: u32) -> u32 {
    let size = constants.size;
    let first = select(number, size.y + number, side == NORTH);
    return solve.border_faces + what * (size.x + size.y) + first;
}

fn rim(side: u32, what: u32, number: u32) -> f32 {
    return status_number(rim_place(side, what, number));
}

// Whether the solve before was the last that moved anything.
fn is_steady() -> bool {
    return solve.is_first == 0u && status_number(solve.level_change.x) <= solve.steady;
}

// Whether some cell gave more than it had, and its pool must make up for it.
fn lacks() -> bool {
    return status_word(DEFICIT) != 0u;
}

// To what depth water softens the ground. units: m
fn softened(water: f32, hardness: f32) -> f32 {
    return min(water, solve.regolith_depth * (1.0 - hardness));
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
