//! Change tracking: whoever follows a terrain keeps a [`TerrainCursor`] and asks
//! it what changed since it last asked.

use super::{Layer, Terrain, tiles::TileRevisions};
use bevy::{math::*, prelude::Reflect};

/// The layers whose changes are tracked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum LayerGroup {
    /// Bedrock, soil and hardness.
    Ground,
    /// Water, what it carries, its flow, and the water of rivers.
    Water,
    /// Molten rock and its heat.
    Lava,
}

impl LayerGroup {
    /// All groups.
    pub const ALL: [Self; 3] = [Self::Ground, Self::Water, Self::Lava];
}

impl Layer {
    /// The group in which changes of this layer are tracked.
    #[inline]
    pub fn group(self) -> LayerGroup {
        match self {
            Layer::Bedrock | Layer::Soil | Layer::Hardness => LayerGroup::Ground,
            Layer::Water | Layer::Suspended => LayerGroup::Water,
            Layer::Lava => LayerGroup::Lava,
        }
    }
}

/// How much of a terrain its owner has seen. Meshes, colliders, masks, solvers
/// and games each keep one and [ask](Self::changes) it what is new.
///
/// A new cursor has seen nothing: its first question is answered by a
/// [replaced](TerrainChanges::replaced) terrain and all tiles. A cursor is a few
/// numbers: copy it to look at the same changes twice.
///
/// ```
/// use bevy::math::UVec2;
/// use bevy_erode::terrain::{Layer, Terrain, TerrainCursor};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut terrain = Terrain::flat(UVec2::new(128, 64), 1.0)?;
/// let mut cursor = TerrainCursor::default();
/// assert!(cursor.changes(&terrain).replaced());
/// assert!(cursor.changes(&terrain).is_empty());
///
/// terrain.set_layer(Layer::Soil, vec![0.5; 128 * 64])?;
/// let changes = cursor.changes(&terrain);
/// assert_eq!(changes.ground().count(), 2);
/// assert_eq!(changes.water().count(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerrainCursor {
    /// Number of the terrain; 0 is none.
    terrain: u64,
    /// Where its window was. units: tiles
    window: IVec2,
    /// Newest revision of each group.
    seen: [u64; 3],
}

impl TerrainCursor {
    /// A cursor that has seen all of a terrain as it is now.
    pub fn at(terrain: &Terrain) -> Self {
        Self {
            terrain: terrain.id.get(),
            window: terrain.window_tiles(),
            seen: LayerGroup::ALL.map(|group| terrain.revisions(group).current()),
        }
    }

    /// What changed since the last call, or since the cursor was made; the
    /// cursor then has seen it. Costs next to nothing when nothing changed.
    pub fn changes<'a>(&mut self, terrain: &'a Terrain) -> TerrainChanges<'a> {
        let changes = self.peek(terrain);
        *self = Self::at(terrain);
        changes
    }

    /// As [`changes`](Self::changes), but the cursor stays where it is.
    pub fn peek<'a>(&self, terrain: &'a Terrain) -> TerrainChanges<'a> {
        let replaced = !self.is_of(terrain);
        let shift = terrain.window_tiles().wrapping_sub(self.window);
        TerrainChanges {
            terrain,
            replaced,
            shift: if replaced { IVec2::ZERO } else { shift },
            since: if replaced { [0; 3] } else { self.seen },
        }
    }

    /// Whether this terrain is the one that the cursor saw last. It may have
    /// been shifted, and its layers may have changed.
    pub fn is_of(&self, terrain: &Terrain) -> bool {
        self.terrain == terrain.id.get()
    }

    /// Whether this terrain is the one that the cursor saw last, in the same
    /// place: neither replaced nor shifted. Its layers may have changed.
    pub fn is_at(&self, terrain: &Terrain) -> bool {
        self.is_of(terrain) && self.window == terrain.window_tiles()
    }

    /// For an owner that has followed a [shift](TerrainChanges::shifted) before
    /// asking: it is not reported again. units: tiles
    pub fn shift(&mut self, by: IVec2) {
        self.window = self.window.wrapping_add(by);
    }

    /// Counts all tiles of the terrain as changed, though it is the same one.
    pub(crate) fn forget_tiles(&mut self) {
        self.seen = [0; 3];
    }

    /// A cursor that knows which terrain it is, and none of its tiles.
    pub(crate) fn before(terrain: &Terrain) -> Self {
        let mut cursor = Self::at(terrain);
        cursor.forget_tiles();
        cursor
    }

    /// The newest revision of a group that it has seen, for saved states.
    pub(crate) fn revision(&self, group: LayerGroup) -> u64 {
        self.seen[group as usize]
    }

    /// A cursor as it was saved with the terrain: it has seen one group up to a
    /// revision. None if the terrain has not come so far.
    pub(crate) fn restored(terrain: &Terrain, group: LayerGroup, revision: u64) -> Option<Self> {
        let mut cursor = Self::before(terrain);
        cursor.seen[group as usize] = revision;
        (revision <= terrain.revisions(group).current()).then_some(cursor)
    }
}

/// What changed of a terrain since a [`TerrainCursor`] saw it last.
///
/// Tiles are 64 × 64 cells, by column and row in the terrain as it is now, in
/// row-major order. Iterators are lazy: what is not asked for costs nothing.
#[derive(Clone, Copy)]
pub struct TerrainChanges<'a> {
    terrain: &'a Terrain,
    replaced: bool,
    shift: IVec2,
    since: [u64; 3],
}

impl<'a> TerrainChanges<'a> {
    /// Whether it is another terrain, perhaps of another size: all tiles count
    /// as changed.
    pub fn replaced(&self) -> bool {
        self.replaced
    }

    /// By how many tiles the terrain's window has moved over the world, if it
    /// has: what is now at tile `t` was at tile `t + by`. Tiles that came in
    /// count as changed. See [`Terrain::shift_tiles`].
    pub fn shifted(&self) -> Option<IVec2> {
        (self.shift != IVec2::ZERO).then_some(self.shift)
    }

    /// For who cannot move along with a shift: takes it as another terrain.
    #[must_use]
    pub fn shift_as_replaced(mut self) -> Self {
        if self.shift != IVec2::ZERO {
            self.replaced = true;
            self.shift = IVec2::ZERO;
            self.since = [0; 3];
        }
        self
    }

    /// Whether nothing changed at all.
    pub fn is_empty(&self) -> bool {
        let same = |group| !self.changed(group);
        !self.replaced && self.shift == IVec2::ZERO && LayerGroup::ALL.into_iter().all(same)
    }

    /// Whether anything of a group of layers changed. Looks at no tile.
    pub fn changed(&self, group: LayerGroup) -> bool {
        self.revisions(group).current() > self.since(group)
    }

    /// The tiles in which a group of layers changed.
    pub fn tiles(&self, group: LayerGroup) -> impl Iterator<Item = UVec2> + Clone + use<'a> {
        self.revisions(group).changed_since(self.since(group))
    }

    /// The tiles whose ground changed: bedrock, soil or hardness.
    pub fn ground(&self) -> impl Iterator<Item = UVec2> + Clone + use<'a> {
        self.tiles(LayerGroup::Ground)
    }

    /// The tiles whose water changed, or what it carries.
    pub fn water(&self) -> impl Iterator<Item = UVec2> + Clone + use<'a> {
        self.tiles(LayerGroup::Water)
    }

    /// The tiles whose lava changed.
    pub fn lava(&self) -> impl Iterator<Item = UVec2> + Clone + use<'a> {
        self.tiles(LayerGroup::Lava)
    }

    /// The [chunks](super::Grid::chunks), by row-major number, in which a group
    /// of layers changed, or just beyond whose border. Some may come more than
    /// once.
    pub fn chunks(&self, group: LayerGroup) -> impl Iterator<Item = usize> + use<'a> {
        let chunks = self.terrain.grid().chunks();
        self.revisions(group)
            .chunks_changed_since(self.since(group), chunks)
    }

    #[inline]
    fn revisions(&self, group: LayerGroup) -> &'a TileRevisions {
        self.terrain.revisions(group)
    }

    #[inline]
    fn since(&self, group: LayerGroup) -> u64 {
        self.since[group as usize]
    }
}

impl core::fmt::Debug for TerrainChanges<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let tiles = |group| self.tiles(group).count();
        f.debug_struct("TerrainChanges")
            .field("replaced", &self.replaced)
            .field("shifted", &self.shifted())
            .field("ground_tiles", &tiles(LayerGroup::Ground))
            .field("water_tiles", &tiles(LayerGroup::Water))
            .field("lava_tiles", &tiles(LayerGroup::Lava))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn land() -> Terrain {
        Terrain::flat(UVec2::new(200, 130), 1.0).expect("valid")
    }

    #[test]
    fn each_group_is_told_apart_and_told_once() {
        let mut terrain = land();
        let mut cursor = TerrainCursor::default();
        let all = terrain.grid().tiles().element_product() as usize;
        let first = cursor.changes(&terrain);
        assert!(first.replaced() && first.shifted().is_none());
        for group in LayerGroup::ALL {
            assert_eq!(first.tiles(group).count(), all);
        }
        assert!(cursor.changes(&terrain).is_empty());
        terrain.mark_tiles([1]);
        terrain.mark_water_tiles([2]);
        terrain.mark_water_tiles([7]);
        terrain.mark_lava_tiles([3]);
        for _ in 0..2 {
            let news = cursor.peek(&terrain);
            assert!(!news.replaced() && !news.is_empty());
            assert_eq!(news.ground().collect::<Vec<_>>(), [UVec2::new(1, 0)]);
            let wet = [UVec2::new(2, 0), UVec2::new(3, 1)];
            assert_eq!(news.water().collect::<Vec<_>>(), wet);
            assert_eq!(news.lava().collect::<Vec<_>>(), [UVec2::new(3, 0)]);
        }
        assert_eq!(cursor.changes(&terrain).water().count(), 2);
        assert_eq!(cursor, TerrainCursor::at(&terrain));
        assert!(cursor.changes(&terrain).is_empty());
    }

    #[test]
    fn a_clone_and_a_moved_terrain_are_others() {
        let terrain = land();
        let mut cursor = TerrainCursor::at(&terrain);
        let copy = terrain.clone();
        assert!(cursor.is_at(&terrain) && !cursor.is_at(&copy));
        assert!(cursor.peek(&copy).replaced());
        assert!(cursor.changes(&terrain).is_empty());
        let moved = terrain.with_origin(Vec3::X).expect("finite");
        assert!(cursor.changes(&moved).replaced());
    }

    #[test]
    fn a_cursor_is_restored_only_on_a_terrain_that_came_so_far() {
        let mut terrain = land();
        terrain.mark_water_tiles([4]);
        let seen = TerrainCursor::at(&terrain).revision(LayerGroup::Water);
        terrain.mark_water_tiles([5]);
        let cursor = TerrainCursor::restored(&terrain, LayerGroup::Water, seen).expect("fits");
        assert_eq!(cursor.peek(&terrain).water().count(), 1);
        assert!(!cursor.peek(&terrain).replaced());
        assert!(TerrainCursor::restored(&terrain, LayerGroup::Water, seen + 2).is_none());
    }
}
