//! Which chunks changed since the view last looked.

use super::ChunkSet;
use crate::terrain::Terrain;

/// A change of the terrain that surfaces follow, with the chunks it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum Change {
    /// The ground of a chunk's vertices, or of the cells beside them.
    Ground,
    /// The ground anywhere in a chunk's tile or in one of those around it.
    /// Coarse vertices of water and lava look that far.
    GroundAround,
    /// Water in a chunk's tile or in one of those around it.
    Water,
    /// Lava, in the same way.
    Lava,
}

/// The terrain that the view saw last, as it was then, and what is new.
#[derive(Default)]
pub(in crate::view) struct ChangedChunks {
    seen: Seen,
    chunks: [ChunkSet; 4],
}

/// A terrain and its revisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    terrain: u64,
    ground: u64,
    water: u64,
    lava: u64,
}

impl Seen {
    fn of(terrain: &Terrain) -> Self {
        Self {
            terrain: terrain.id.get(),
            ground: terrain.revision(),
            water: terrain.water_revision(),
            lava: terrain.lava_revision(),
        }
    }
}

impl ChangedChunks {
    /// Looks at the terrain. Returns whether it is another one than the last
    /// time: then all of it is new, and no chunk is listed.
    pub fn look(&mut self, terrain: &Terrain) -> bool {
        self.chunks.iter_mut().for_each(ChunkSet::clear);
        let seen = core::mem::replace(&mut self.seen, Seen::of(terrain));
        if seen.terrain != self.seen.terrain {
            return true;
        }
        let grid = terrain.grid();
        let [ground, around, water, lava] = &mut self.chunks;
        ground.extend(terrain.chunks_changed_since(seen.ground));
        let tiles = terrain.tiles_changed_since(seen.ground);
        around.extend(tiles.flat_map(|tile| grid.chunks_of_tile(tile)));
        let tiles = terrain.water_tiles_changed_since(seen.water);
        water.extend(tiles.flat_map(|tile| grid.chunks_of_tile(tile)));
        let tiles = terrain.lava_tiles_changed_since(seen.lava);
        lava.extend(tiles.flat_map(|tile| grid.chunks_of_tile(tile)));
        false
    }

    /// Whether the terrain is as it was at the last look.
    pub fn is_up_to_date(&self, terrain: &Terrain) -> bool {
        self.seen == Seen::of(terrain)
    }

    /// Whether a terrain was seen at all.
    pub fn has_terrain(&self) -> bool {
        self.seen != Seen::default()
    }

    /// The chunks that a change concerns.
    pub fn of(&self, change: Change) -> &ChunkSet {
        &self.chunks[change as usize]
    }
}
