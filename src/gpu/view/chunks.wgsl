// What the passes that draw know of a chunk.
#define_import_path bevy_erode::gpu::view::chunks

#import bevy_erode::gpu::constants::{constants, TILE}
#import bevy_erode::gpu::status::status_word
#import bevy_erode::gpu::view::constants::Chunk

// Whether anything changed in a chunk or next to it since it was last drawn.
fn is_changed(chunk: Chunk) -> bool {
    let tile = vec2<i32>(chunk.cell / TILE);
    var changed = 0u;
    for (var y = max(tile.y - 1, 0); y <= min(tile.y + 1, i32(constants.tiles.y) - 1); y++) {
        for (var x = max(tile.x - 1, 0); x <= min(tile.x + 1, i32(constants.tiles.x) - 1); x++) {
            changed |= status_word(constants.redraw + u32(y) * constants.tiles.x + u32(x));
        }
    }
    return changed != 0u;
}

// The level by whose rule a vertex is computed: both chunks at an edge use that
// of the coarser.
fn vertex_level(chunk: Chunk, place: vec2<u32>) -> u32 {
    let west = place.x == 0u;
    let east = place.x == chunk.quads.x;
    let north = place.y == 0u;
    let south = place.y == chunk.quads.y;
    if (west || east) && (north || south) {
        let corner = select(0u, 1u, east) + select(0u, 2u, south);
        return (chunk.corners >> (4u * corner)) & 15u;
    }
    var side = 0u;
    if west { side = 1u; }
    if east { side = 2u; }
    if north { side = 3u; }
    if south { side = 4u; }
    return (chunk.edges >> (4u * side)) & 15u;
}
