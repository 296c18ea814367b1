//! Which 64 × 64 tiles changed, and when: meshes, colliders and masks each
//! remember the revision they have seen and ask for what is newer.

use super::Grid;
use bevy::math::UVec2;

/// The revision of each tile's last change.
#[derive(Clone, Debug)]
pub(crate) struct TileRevisions {
    tiles: UVec2,
    current: u64,
    last: Vec<u64>,
}

impl TileRevisions {
    /// All tiles are new: changed since revision 0.
    pub fn new(grid: &Grid) -> Self {
        let tiles = grid.tiles();
        Self {
            tiles,
            current: 1,
            last: vec![1; (tiles.x * tiles.y) as usize],
        }
    }

    /// Revisions as they were saved, if they can be such of this grid.
    #[cfg(feature = "io")]
    pub fn restored(grid: &Grid, current: u64, last: Vec<u64>) -> Option<Self> {
        let new = Self::new(grid);
        let fits = current <= 1 << 62
            && last.len() == new.last.len()
            && last.iter().all(|last| (1..=current).contains(last));
        fits.then_some(Self {
            current,
            last,
            ..new
        })
    }

    /// The revision of each tile's last change.
    #[cfg(feature = "io")]
    pub fn last(&self) -> &[u64] {
        &self.last
    }

    pub fn current(&self) -> u64 {
        self.current
    }

    /// Marks the tiles (by row-major number) as changed now.
    pub fn mark(&mut self, tiles: impl IntoIterator<Item = usize>) {
        self.current += 1;
        for tile in tiles {
            if let Some(last) = self.last.get_mut(tile) {
                *last = self.current;
            }
        }
    }

    /// The newest change of a tile and of those east and south of it, whose
    /// first cells are the last vertices of its chunk.
    pub fn newest_around(&self, tile: UVec2) -> u64 {
        let to = (tile + 2).min(self.tiles);
        let rows = tile.y..to.y;
        let numbers = rows.flat_map(|y| (tile.x..to.x).map(move |x| y * self.tiles.x + x));
        let newest = numbers
            .filter_map(|tile| self.last.get(tile as usize))
            .max();
        newest.copied().unwrap_or_default()
    }

    pub fn mark_all(&mut self) {
        self.current += 1;
        self.last.fill(self.current);
    }

    pub fn changed_since(&self, revision: u64) -> impl Iterator<Item = UVec2> + '_ {
        let wide = self.tiles.x;
        (0u32..)
            .zip(&self.last)
            .filter(move |&(_, &last)| last > revision)
            .map(move |(i, _)| UVec2::new(i % wide, i / wide))
    }
}
