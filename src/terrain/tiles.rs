//! Which 64 × 64 tiles changed, and when: a [`TerrainCursor`](super::TerrainCursor)
//! remembers the revision that its owner has seen and asks for what is newer.

use super::{Grid, TILE};
use bevy::math::UVec2;
use core::ops::Range;

/// How near to a tile's side a change is noticed beyond it: meshes look one or
/// two cells over the border, colliders two. units: cells
const RIM: u32 = 3;

/// The revision of each tile's last change.
#[derive(Clone, Debug)]
pub(crate) struct TileRevisions {
    tiles: UVec2,
    current: u64,
    last: Vec<u64>,
    /// The newest of each row of tiles, so that looking for a few changed tiles
    /// of a large world does not look at all of them.
    newest: Vec<u64>,
    /// The revision of the last change near each side: west, east, north, south.
    sides: Vec<[u64; 4]>,
}

impl TileRevisions {
    /// All tiles are new: changed since revision 0.
    pub fn new(grid: &Grid) -> Self {
        let tiles = grid.tiles();
        Self {
            tiles,
            current: 1,
            last: vec![1; (tiles.x * tiles.y) as usize],
            newest: vec![1; tiles.y as usize],
            sides: vec![[1; 4]; (tiles.x * tiles.y) as usize],
        }
    }

    /// Revisions as they were saved; none if they do not fit the grid.
    #[cfg(feature = "io")]
    pub fn restored(grid: &Grid, current: u64, last: Vec<u64>) -> Option<Self> {
        let new = Self::new(grid);
        let fits = current <= 1 << 62
            && last.len() == new.last.len()
            && last.iter().all(|last| (1..=current).contains(last));
        let rows = last.chunks(new.tiles.x.max(1) as usize);
        let newest = rows.map(|row| row.iter().copied().max().unwrap_or_default());
        fits.then_some(Self {
            current,
            newest: newest.collect(),
            sides: last.iter().map(|last| [*last; 4]).collect(),
            last,
            ..new
        })
    }

    /// The revision of each tile's last change.
    #[cfg(feature = "io")]
    #[inline]
    pub fn last(&self) -> &[u64] {
        &self.last
    }

    #[inline]
    pub fn current(&self) -> u64 {
        self.current
    }

    /// Marks the tiles (by row-major number) as changed now.
    #[inline]
    pub fn mark(&mut self, tiles: impl IntoIterator<Item = usize>) {
        self.current += 1;
        for tile in tiles {
            if let (Some(last), Some(sides)) = (self.last.get_mut(tile), self.sides.get_mut(tile)) {
                *last = self.current;
                *sides = [self.current; 4];
                self.newest[tile / self.tiles.x as usize] = self.current;
            }
        }
    }

    /// Marks the tiles of some areas, each of columns and rows of cells, as
    /// changed now.
    pub fn mark_cells(&mut self, areas: impl IntoIterator<Item = (Range<usize>, Range<usize>)>) {
        self.current += 1;
        for (columns, rows) in areas {
            self.mark_area(&columns, &rows);
        }
    }

    fn mark_area(&mut self, columns: &Range<usize>, rows: &Range<usize>) {
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        let cut = |cells: &Range<usize>, tiles: u32| {
            let (from, to) = (cells.start as u32 / TILE, (cells.end - 1) as u32 / TILE);
            from.min(tiles)..(to + 1).min(tiles)
        };
        // Whether the cells come near the low and the high side of a tile.
        let near = |cells: &Range<usize>, tile: u32| {
            let (from, to) = ((tile * TILE) as usize, ((tile + 1) * TILE) as usize);
            let rim = RIM as usize;
            [cells.start < from + rim, cells.end > to - rim]
        };
        for y in cut(rows, self.tiles.y) {
            self.newest[y as usize] = self.current;
            for x in cut(columns, self.tiles.x) {
                let tile = (y * self.tiles.x + x) as usize;
                self.last[tile] = self.current;
                let [west, east] = near(columns, x);
                let [north, south] = near(rows, y);
                for (side, near) in self.sides[tile].iter_mut().zip([west, east, north, south]) {
                    if near {
                        *side = self.current;
                    }
                }
            }
        }
    }

    /// The chunks, by row-major number among `chunks`, that a change after a
    /// revision concerns: those of the changed tiles, and those beyond a side
    /// near which something changed. Some may come more than once.
    pub fn chunks_changed_since(
        &self,
        revision: u64,
        chunks: UVec2,
    ) -> impl Iterator<Item = usize> + '_ {
        self.changed_since(revision).flat_map(move |tile| {
            let sides = self.sides[(tile.y * self.tiles.x + tile.x) as usize];
            let [west, east, north, south] = sides.map(|side| u32::from(side > revision));
            let columns = tile.x.saturating_sub(west)..(tile.x + 1 + east).min(chunks.x);
            let rows = tile.y.saturating_sub(north)..(tile.y + 1 + south).min(chunks.y);
            rows.flat_map(move |y| columns.clone().map(move |x| (y * chunks.x + x) as usize))
        })
    }

    /// The newest change of a tile and of those east and south of it, whose
    /// first cells are the last vertices of its chunk.
    #[inline]
    pub fn newest_around(&self, tile: UVec2) -> u64 {
        let to = (tile + 2).min(self.tiles);
        let rows = tile.y..to.y;
        let numbers = rows.flat_map(|y| (tile.x..to.x).map(move |x| y * self.tiles.x + x));
        let newest = numbers
            .filter_map(|tile| self.last.get(tile as usize))
            .max();
        newest.copied().unwrap_or_default()
    }

    /// Puts tiles in other places: `origin` says where each comes from. Those
    /// that come from nowhere count as changed now.
    pub fn move_tiles(&mut self, origin: impl Fn(UVec2) -> Option<UVec2>) {
        self.current += 1;
        let wide = self.tiles.x;
        let (last, sides) = (self.last.clone(), self.sides.clone());
        for tile in 0..last.len() {
            let from = origin(UVec2::new(tile as u32 % wide, tile as u32 / wide));
            let from = from.map(|from| (from.y * wide + from.x) as usize);
            self.last[tile] = from.map_or(self.current, |from| last[from]);
            self.sides[tile] = from.map_or([self.current; 4], |from| sides[from]);
        }
        let rows = self.last.chunks(wide.max(1) as usize);
        let newest = rows.map(|row| row.iter().copied().max().unwrap_or_default());
        self.newest = newest.collect();
    }

    pub fn mark_all(&mut self) {
        self.current += 1;
        self.last.fill(self.current);
        self.newest.fill(self.current);
        self.sides.fill([self.current; 4]);
    }

    pub fn changed_since(&self, revision: u64) -> impl Iterator<Item = UVec2> + Clone + '_ {
        let wide = self.tiles.x.max(1) as usize;
        let rows = (0u32..).zip(self.newest.iter().zip(self.last.chunks(wide)));
        // Mostly nothing has changed at all.
        let rows = rows.take_while(move |_| self.current > revision);
        let rows = rows.filter(move |(_, (newest, _))| **newest > revision);
        rows.flat_map(move |(y, (_, row))| {
            let tiles = (0u32..).zip(row);
            let changed = tiles.filter(move |(_, last)| **last > revision);
            changed.map(move |(x, _)| UVec2::new(x, y))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_tiles_are_found_row_by_row() {
        let grid = Grid::new(UVec2::new(300, 200), 1.0).expect("valid");
        let mut tiles = TileRevisions::new(&grid);
        assert_eq!(tiles.changed_since(0).count(), 5 * 4);
        let seen = tiles.current();
        assert_eq!(tiles.changed_since(seen).count(), 0);
        tiles.mark([17, 3]);
        let between = tiles.current();
        tiles.mark_cells([(60..70, 10..11)]);
        let found = |since: u64| -> Vec<(u32, u32)> {
            tiles.changed_since(since).map(|t| (t.x, t.y)).collect()
        };
        assert_eq!(found(seen), [(0, 0), (1, 0), (3, 0), (2, 3)]);
        assert_eq!(found(between), [(0, 0), (1, 0)]);
    }
}
