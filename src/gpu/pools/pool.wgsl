// Pools: cells that a fluid connects, each known by its first cell. To be
// included by passes that bind `parents`.
#define_import_path bevy_erode::gpu::pools::pool

#import bevy_erode::gpu::constants::constants

// For each cell one that is of the same pool; itself for the first of a pool.
@group(0) @binding(2) var<storage, read_write> parents: array<atomic<u32>>;

// Of a cell that is in no pool.
const NONE: u32 = 0xFFFFFFFFu;

fn first_of(cell: u32) -> u32 {
    var at = cell;
    loop {
        let parent = atomicLoad(&parents[at]);
        if parent >= at { break; }
        at = parent;
    }
    return at;
}
