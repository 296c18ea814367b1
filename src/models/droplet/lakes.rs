//! Lakes: where hollows of the ground would stand full, and where they spill.
//!
//! A drop that runs into a hollow would fill it and stay. With [`Streams`] the
//! hollow counts as a full lake instead: the drop builds a delta at the shore,
//! and what it then still has runs out at the lowest sill, which it cuts down.
//! So hollows are filled and breached, and valleys join up to the border.
//!
//! The levels come from a priority flood (R. Barnes, 2014) from the border
//! inwards over a coarse grid of lowest points, which is cheap enough to be
//! repeated while the ground changes.
//!
//! [`Streams`]: super::Streams

use crate::models::memory::{MemoryError, MemoryReader, MemoryWriter};
use bevy::math::Vec2;
use std::{cmp::Reverse, collections::BinaryHeap};

/// The coarse grid has at most so many cells a side.
const MAX_SIDE: usize = 256;

/// Fewest coarse cells of a lake.
const MIN_CELLS: usize = 12;

/// Full lakes of a terrain.
#[derive(Clone, Debug, Default)]
pub(super) struct Lakes {
    /// Cells a side of one coarse cell.
    factor: usize,
    width: usize,
    /// Water level if every hollow stood full, −∞ on dry land. units: m
    level: Vec<f32>,
    /// Lowest ground in each coarse cell and where it lies.
    lowest: Vec<(f32, Vec2)>,
    /// The coarse cell that a cell drains to.
    receiver: Vec<u32>,
    /// The sill over which a lake cell spills; its own number elsewhere.
    sill: Vec<u32>,
}

/// Where a drop that reached a lake goes on.
pub(super) struct Spill {
    /// The sill, in grid coordinates.
    pub sill: Vec2,
    /// Unit vector over the sill.
    pub way: Vec2,
}

impl Lakes {
    /// Finds all lakes of at least this depth on a `width` × `height` ground.
    /// Coarse cells are about `reach` cells wide, what a drop can cut through.
    pub fn find(
        &mut self,
        ground: &[f32],
        (width, height): (usize, usize),
        reach: usize,
        min_depth: f32,
    ) {
        self.factor = width.max(height).div_ceil(MAX_SIDE).max(reach);
        self.width = width.div_ceil(self.factor);
        let rows = height.div_ceil(self.factor);
        let cells = self.width * rows;
        self.find_lowest(ground, width, rows);
        self.level.clear();
        self.level.resize(cells, f32::INFINITY);
        self.receiver.clear();
        self.receiver.extend(0..cells as u32);
        self.sill.clear();
        self.sill.extend(0..cells as u32);

        let mut front = BinaryHeap::new();
        for cell in 0..cells {
            let (x, y) = (cell % self.width, cell / self.width);
            if x == 0 || y == 0 || x + 1 == self.width || y + 1 == rows {
                self.level[cell] = self.lowest[cell].0;
                front.push(Reverse((sortable(self.level[cell]), cell)));
            }
        }
        while let Some(Reverse((_, cell))) = front.pop() {
            let (x, y) = (cell % self.width, cell / self.width);
            let level = self.level[cell];
            let in_lake = level > self.lowest[cell].0;
            let sill = if in_lake {
                self.sill[cell]
            } else {
                cell as u32
            };
            for ny in y.saturating_sub(1)..=(y + 1).min(rows - 1) {
                for nx in x.saturating_sub(1)..=(x + 1).min(self.width - 1) {
                    let next = ny * self.width + nx;
                    if self.level[next] != f32::INFINITY {
                        continue;
                    }
                    self.level[next] = self.lowest[next].0.max(level);
                    self.receiver[next] = cell as u32;
                    self.sill[next] = sill;
                    front.push(Reverse((sortable(self.level[next]), next)));
                }
            }
        }
        self.drain_puddles(min_depth);
    }

    /// Takes hollows that are too small for a lake out again: they silt up by
    /// themselves, and to spill out of each would only stir the ground.
    fn drain_puddles(&mut self, min_depth: f32) {
        let mut lakes = vec![(0usize, 0.0f32); self.level.len()];
        for cell in 0..self.level.len() {
            let depth = self.level[cell] - self.lowest[cell].0;
            if depth > 0.0 {
                let lake = &mut lakes[self.sill[cell] as usize];
                *lake = (lake.0 + 1, lake.1.max(depth));
            }
        }
        for cell in 0..self.level.len() {
            let (cells, depth) = lakes[self.sill[cell] as usize];
            let dry = self.level[cell] <= self.lowest[cell].0;
            // Below any ground: a dry cell that is cut down later stays dry.
            if dry || cells < MIN_CELLS || depth < min_depth {
                self.level[cell] = f32::NEG_INFINITY;
            }
        }
    }

    fn find_lowest(&mut self, ground: &[f32], width: usize, rows: usize) {
        self.lowest.clear();
        self.lowest
            .resize(self.width * rows, (f32::INFINITY, Vec2::ZERO));
        for (y, row) in ground.chunks(width).enumerate() {
            let lowest = &mut self.lowest[y / self.factor * self.width..][..self.width];
            for (x, &height) in row.iter().enumerate() {
                let lowest = &mut lowest[x / self.factor];
                if height < lowest.0 {
                    *lowest = (height, Vec2::new(x as f32, y as f32));
                }
            }
        }
    }

    /// Where a drop at (x, y) on ground of this height goes on, if it stands in
    /// a lake deeper than `depth`.
    #[inline]
    pub fn spill(&self, x: usize, y: usize, height: f32, depth: f32) -> Option<Spill> {
        if self.level.is_empty() {
            return None;
        }
        let cell = y / self.factor * self.width + x / self.factor;
        if self.level[cell] <= height + depth {
            return None;
        }
        let sill = self.sill[cell] as usize;
        if sill == cell {
            return None;
        }
        let beyond = self.lowest[self.receiver[sill] as usize].1;
        let sill = self.lowest[sill].1;
        Some(Spill {
            sill,
            way: (beyond - sill).normalize_or_zero(),
        })
    }

    /// Writes the lakes: they are older than the ground.
    pub fn remember(&self, memory: &mut MemoryWriter) {
        memory.count(self.factor as u64);
        memory.floats(&self.lowest.iter().map(|low| low.0).collect::<Vec<_>>());
        let places = self.lowest.iter().map(|low| low.1);
        memory.words(places.flat_map(|place| [place.x.to_bits(), place.y.to_bits()]));
        memory.words(self.level.iter().map(|level| level.to_bits()));
        memory.words(self.receiver.iter().copied());
        memory.words(self.sill.iter().copied());
    }

    /// Reads lakes of a `width` × `height` ground that
    /// [`remember`](Self::remember) wrote.
    pub fn recall(
        memory: &mut MemoryReader,
        (width, height): (usize, usize),
    ) -> Result<Self, MemoryError> {
        let factor = memory.count()? as usize;
        if factor == 0 {
            return Ok(Self::default());
        }
        let wide = width.div_ceil(factor);
        let cells = wide * height.div_ceil(factor);
        let few = wide <= MAX_SIDE && cells <= MAX_SIDE * MAX_SIDE;
        memory.ensure(few, "there are too many lakes")?;
        let heights = memory.floats(cells)?;
        let places = memory.floats(2 * cells)?;
        let places = places.as_chunks::<2>().0.iter().copied().map(Vec2::from);
        let last = Vec2::new((width - 1) as f32, (height - 1) as f32);
        let on_land = |place: Vec2| place.cmpge(Vec2::ZERO).all() && place.cmple(last).all();
        let all_on_land = places.clone().all(on_land);
        memory.ensure(all_on_land, "a lake lies beyond the land")?;
        let level: Vec<f32> = memory.words(cells)?.map(f32::from_bits).collect();
        let levels_fit = level.iter().all(|level| *level < f32::INFINITY);
        memory.ensure(levels_fit, "a lake has no level")?;
        let receiver: Vec<u32> = memory.words(cells)?.collect();
        let sill: Vec<u32> = memory.words(cells)?.collect();
        let known = |cell: &u32| (*cell as usize) < cells;
        let all_known = receiver.iter().all(known) && sill.iter().all(known);
        memory.ensure(all_known, "a lake spills out of the land")?;
        Ok(Self {
            factor,
            width: wide,
            level,
            lowest: heights.into_iter().zip(places).collect(),
            receiver,
            sill,
        })
    }
}

/// Bits that sort like the numbers.
fn sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bowl_spills_over_its_lowest_sill() {
        // A bowl with a rim of 10 m and a notch of 4 m at (7, 3).
        let (width, height) = (8, 7);
        let mut ground = vec![0.0f32; width * height];
        for y in 0..height {
            for x in 0..width {
                let rim = x == 1 || y == 1 || x == width - 2 || y == height - 2;
                let outside = x == 0 || y == 0 || x == width - 1 || y == height - 1;
                ground[y * width + x] = if outside {
                    -5.0
                } else if rim {
                    10.0
                } else {
                    1.0
                };
            }
        }
        ground[3 * width + 6] = 4.0;
        let mut lakes = Lakes::default();
        lakes.find(&ground, (width, height), 1, 1.0);
        let spill = lakes.spill(3, 3, 1.0, 0.5).expect("the bowl is a lake");
        assert_eq!(spill.sill, Vec2::new(6.0, 3.0));
        assert!(spill.way.x > 0.5, "{}", spill.way);
        assert!(lakes.spill(1, 3, 10.0, 0.5).is_none(), "the rim is dry");
    }
}
