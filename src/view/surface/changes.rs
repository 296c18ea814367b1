//! Which chunks changed since the view last looked.

use super::ChunkSet;
use crate::terrain::{LayerGroup, Terrain, TerrainCursor};

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

/// How much of the terrain the view has seen, and what was new at the last look.
#[derive(Default)]
pub(in crate::view) struct ChangedChunks {
    seen: TerrainCursor,
    chunks: [ChunkSet; 4],
}

impl ChangedChunks {
    /// Looks at the terrain. Returns whether it is another one than the last
    /// time: then all of it is new, and no chunk is listed.
    pub fn look(&mut self, terrain: &Terrain) -> bool {
        self.chunks.iter_mut().for_each(ChunkSet::clear);
        let changes = self.seen.changes(terrain).shift_as_replaced();
        if changes.replaced() {
            return true;
        }
        let grid = terrain.grid();
        let [ground, around, water, lava] = &mut self.chunks;
        ground.extend(changes.chunks(LayerGroup::Ground));
        around.extend(changes.ground().flat_map(|tile| grid.chunks_of_tile(tile)));
        water.extend(changes.water().flat_map(|tile| grid.chunks_of_tile(tile)));
        lava.extend(changes.lava().flat_map(|tile| grid.chunks_of_tile(tile)));
        false
    }

    /// Whether the terrain is as it was at the last look.
    pub fn is_up_to_date(&self, terrain: &Terrain) -> bool {
        self.seen.peek(terrain).is_empty()
    }

    /// Whether a terrain was seen at all.
    pub fn has_terrain(&self) -> bool {
        self.seen != TerrainCursor::default()
    }

    /// The chunks that a change concerns.
    pub fn of(&self, change: Change) -> &ChunkSet {
        &self.chunks[change as usize]
    }
}
