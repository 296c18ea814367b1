//! Water of rivers that run as particles: not in the `water` layer, where other
//! models would move it, but drawn and queried like any other water.

use super::{Grid, TILE, Terrain};
use bevy::math::*;
use core::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};
use std::borrow::Cow;

/// What is seen of one river on the box of cells around its stretch, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamPatch {
    /// Number of the river.
    pub river: u64,
    /// First cell of the box, and its size in cells.
    pub first: UVec2,
    pub size: UVec2,
    /// Depth of the stream. units: m
    pub depth: Vec<f32>,
    /// Velocity of the stream along +X and along +Z. units: m/s
    pub velocity: [Vec<f32>; 2],
    /// Thickness of what the river laid down lately. units: m
    pub fresh: Vec<f32>,
}

impl StreamPatch {
    /// A number that no river has yet.
    pub fn new_number() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// All it has of each cell.
    pub(super) fn planes(&self) -> [&[f32]; 4] {
        let [x, z] = &self.velocity;
        [&self.depth, x, z, &self.fresh]
    }

    /// Place of a cell in the planes, if it lies in the box.
    #[inline]
    fn place(&self, x: u32, y: u32) -> Option<usize> {
        let column = x.checked_sub(self.first.x).filter(|x| *x < self.size.x)?;
        let row = y.checked_sub(self.first.y).filter(|y| *y < self.size.y)?;
        Some((row * self.size.x + column) as usize)
    }

    /// The tiles of the grid, by row-major number, where it differs from what
    /// it was.
    fn tiles_unlike(&self, before: Option<&Self>, grid: &Grid) -> Vec<usize> {
        let wide = grid.tiles().x;
        let mut tiles = Vec::new();
        let before = before.filter(|other| other.first == self.first && other.size == self.size);
        for tile_y in self.first.y / TILE..=(self.first.y + self.size.y - 1) / TILE {
            for tile_x in self.first.x / TILE..=(self.first.x + self.size.x - 1) / TILE {
                let (columns, rows) = grid.tile_cells(UVec2::new(tile_x, tile_y));
                let from = (columns.start as u32).max(self.first.x) - self.first.x;
                let to = (columns.end as u32).min(self.first.x + self.size.x) - self.first.x;
                let first = (rows.start as u32).max(self.first.y) - self.first.y;
                let end = (rows.end as u32).min(self.first.y + self.size.y) - self.first.y;
                let unlike = (first..end).any(|row| {
                    let row = row * self.size.x;
                    let cells = (row + from) as usize..(row + to) as usize;
                    match before {
                        Some(before) => {
                            let mut planes = before.planes().into_iter().zip(self.planes());
                            planes.any(|(before, now)| before[cells.clone()] != now[cells.clone()])
                        }
                        None => self.depth[cells].iter().any(|depth| *depth > 0.0),
                    }
                });
                if unlike {
                    tiles.push((tile_y * wide + tile_x) as usize);
                }
            }
        }
        tiles
    }
}

impl Terrain {
    /// Depth of the water of rivers at a cell, which is beside that in
    /// [`water`](Self::water). units: m
    #[inline]
    pub fn stream_depth(&self, x: u32, y: u32) -> f32 {
        let own = |patch: &StreamPatch| Some(patch.depth[patch.place(x, y)?]);
        self.streams.iter().filter_map(own).sum()
    }

    /// Depth of all water that is seen at a cell: standing or flowing, and that
    /// of rivers. Zero outside the grid. units: m
    #[inline]
    pub fn water_depth(&self, x: u32, y: u32) -> f32 {
        if x >= self.size().x || y >= self.size().y {
            return 0.0;
        }
        self.water[self.grid.index(x, y)] + self.stream_depth(x, y)
    }

    /// Thickness of what rivers laid down lately at a cell, part of the ground,
    /// before it hardens. units: m
    #[inline]
    pub fn fresh_deposit(&self, x: u32, y: u32) -> f32 {
        let own = |patch: &StreamPatch| Some(patch.fresh[patch.place(x, y)?]);
        self.streams.iter().filter_map(own).sum()
    }

    /// Discharge of rivers per metre of width at a cell. units: m²/s
    #[inline]
    pub(super) fn stream_discharge(&self, x: u32, y: u32) -> Vec2 {
        let own = |patch: &StreamPatch| {
            let place = patch.place(x, y)?;
            let [x, z] = &patch.velocity;
            Some(Vec2::new(x[place], z[place]) * patch.depth[place])
        };
        self.streams.iter().filter_map(own).sum()
    }

    /// Depths of all water of some columns of a row. units: m
    #[cfg_attr(not(feature = "render"), allow(dead_code))]
    pub(crate) fn water_depths(&self, columns: Range<u32>, y: u32) -> Cow<'_, [f32]> {
        let first = self.grid.index(columns.start, y);
        let depths = &self.water[first..first + columns.len()];
        let meets = |patch: &&StreamPatch| {
            (patch.first.y..patch.first.y + patch.size.y).contains(&y)
                && patch.first.x < columns.end
                && patch.first.x + patch.size.x > columns.start
        };
        if !self.streams.iter().any(|patch| meets(&patch)) {
            return Cow::Borrowed(depths);
        }
        let mut depths = depths.to_vec();
        for (x, depth) in columns.zip(&mut depths) {
            *depth += self.stream_depth(x, y);
        }
        Cow::Owned(depths)
    }

    /// Whether any river runs as particles.
    #[inline]
    pub(crate) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// What is seen of the rivers.
    #[inline]
    pub(super) fn streams(&self) -> &[StreamPatch] {
        &self.streams
    }

    /// Where a river stands among those that are seen.
    pub(crate) fn stream_place(&self, river: u64) -> Option<usize> {
        self.streams.iter().position(|own| own.river == river)
    }

    /// Number of the river that is seen at a place among them.
    pub(crate) fn river_at(&self, place: usize) -> Option<u64> {
        self.streams.get(place).map(|own| own.river)
    }

    /// Shows a river as it is now, in place of how it was. Tiles where that
    /// differs count as changed water.
    pub(crate) fn show_stream(&mut self, patch: StreamPatch) {
        let number = self.stream_place(patch.river);
        let before = number.map(|number| &self.streams[number]);
        let tiles = patch.tiles_unlike(before, &self.grid);
        match number {
            Some(number) => self.streams[number] = patch,
            None => self.streams.push(patch),
        }
        self.stream_revision += 1;
        if !tiles.is_empty() {
            self.water_tiles.mark(tiles);
        }
    }

    /// No longer shows a river.
    pub(crate) fn hide_stream(&mut self, river: u64) {
        let Some(number) = self.stream_place(river) else {
            return;
        };
        let patch = self.streams.remove(number);
        self.stream_revision += 1;
        let tiles = patch.tiles_unlike(None, &self.grid);
        if !tiles.is_empty() {
            self.water_tiles.mark(tiles);
        }
    }
}
