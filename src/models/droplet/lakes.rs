//! Lakes: where hollows of the ground would stand full, and where they spill.
//!
//! A drop that runs into a hollow would fill it and stay. With [`Streams`] the
//! hollow counts as a full lake instead: the drop lets its load fall at the
//! shore, and goes on beyond the lowest sill. What runs out cuts the sill down
//! and is carried over the border. So hollows are filled and breached, and
//! valleys join up to the border.
//!
//! The levels come from a priority flood (R. Barnes, 2014) from the border
//! inwards, which is cheap enough to be repeated while the ground changes.
//!
//! [`Streams`]: super::Streams

use crate::models::solver_state::{StateError, StateReader, StateWriter};
use bevy::math::Vec2;

/// Most cells along a side of the coarse grid.
const MAX_SIDE: usize = 1024;

/// Steps of height in which the flood rises.
const STEPS: usize = 1 << 16;

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
    /// Depth of the lake where the drop stands. units: m
    pub depth: f32,
    /// Just beyond the sill, in grid coordinates.
    pub place: Vec2,
    /// Unit vector over the sill; `None` where it is the border of the land.
    pub way: Option<Vec2>,
}

impl Lakes {
    /// Finds all lakes of at least this depth on a `width` × `height` ground.
    pub fn find(&mut self, ground: &[f32], (width, height): (usize, usize), min_depth: f32) {
        self.factor = width.max(height).div_ceil(MAX_SIDE);
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

        let mut front = Front::new(&self.lowest);
        for cell in 0..cells {
            let (x, y) = (cell % self.width, cell / self.width);
            if x == 0 || y == 0 || x + 1 == self.width || y + 1 == rows {
                self.level[cell] = self.lowest[cell].0;
                front.push(self.level[cell], cell);
            }
        }
        while let Some(cell) = front.pop() {
            let (x, y) = (cell % self.width, cell / self.width);
            let level = self.level[cell];
            let in_lake = level > self.lowest[cell].0;
            let sill = if in_lake {
                self.sill[cell]
            } else {
                cell as u32
            };
            // Corners are no way: between them the ground may rise.
            let around = [
                (x > 0).then(|| cell - 1),
                (x + 1 < self.width).then(|| cell + 1),
                (y > 0).then(|| cell - self.width),
                (y + 1 < rows).then(|| cell + self.width),
            ];
            for next in around.into_iter().flatten() {
                if self.level[next] != f32::INFINITY {
                    continue;
                }
                self.level[next] = self.lowest[next].0.max(level);
                self.receiver[next] = cell as u32;
                self.sill[next] = sill;
                front.push(self.level[next], next);
            }
        }
        for cell in 0..cells {
            // Below any ground: a dry cell that is cut down later stays dry.
            if self.level[cell] <= self.lowest[cell].0 + min_depth {
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
        let deep = self.level[cell] - height;
        if deep <= depth {
            return None;
        }
        let sill = self.sill[cell] as usize;
        if sill == cell {
            return None;
        }
        let beyond = self.receiver[sill] as usize;
        let way = self.lowest[beyond].1 - self.lowest[sill].1;
        Some(Spill {
            depth: deep,
            place: self.lowest[beyond].1,
            way: (beyond != sill).then(|| way.normalize_or_zero()),
        })
    }

    /// Where a drop at (x, y) that found no way down from this height goes on:
    /// down the way that the flood came, to the first lower ground.
    #[inline]
    pub fn way_out(&self, x: usize, y: usize, height: f32) -> Option<Spill> {
        if self.level.is_empty() {
            return None;
        }
        let mut cell = y / self.factor * self.width + x / self.factor;
        // Not for ever, whatever lakes were saved.
        for _ in 0..self.receiver.len() {
            let next = self.receiver[cell] as usize;
            if next == cell || self.lowest[cell].0 < height {
                break;
            }
            cell = next;
        }
        let beyond = self.receiver[cell] as usize;
        let way = self.lowest[beyond].1 - self.lowest[cell].1;
        Some(Spill {
            depth: 0.0,
            place: self.lowest[beyond].1,
            way: (beyond != cell).then(|| way.normalize_or_zero()),
        })
    }

    /// Where lakes cut down their outlets by `dig` m: calls `cut` with the cell
    /// and how much of its ground. Only where no cell is left out of the search,
    /// for else the outlet is not known well enough.
    pub fn breach(&self, width: usize, dig: f32, mut cut: impl FnMut(usize, f32)) {
        if self.factor != 1 {
            return;
        }
        let mut depths = vec![0.0f32; self.level.len()];
        for cell in 0..self.level.len() {
            let lake = &mut depths[self.sill[cell] as usize];
            *lake = lake.max(self.level[cell] - self.lowest[cell].0);
        }
        // The way out of a lake may be that of others too: the deepest counts.
        let mut cuts = vec![0.0f32; self.level.len()];
        for sill in (0..depths.len()).filter(|&sill| depths[sill] > 0.0) {
            let bottom = self.lowest[sill].0 - depths[sill].min(dig);
            let mut cell = sill;
            while self.lowest[cell].0 > bottom {
                cuts[cell] = cuts[cell].max(self.lowest[cell].0 - bottom);
                let next = self.receiver[cell] as usize;
                if next == cell {
                    break;
                }
                cell = next;
            }
        }
        for (depth, lowest) in cuts.iter().zip(&self.lowest) {
            if *depth > 0.0 {
                cut(lowest.1.y as usize * width + lowest.1.x as usize, *depth);
            }
        }
    }

    /// Writes the lakes: they were found on an earlier ground, so they cannot be found
    /// again.
    pub fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.factor as u64);
        writer.write_floats(&self.lowest.iter().map(|low| low.0).collect::<Vec<_>>());
        let places = self.lowest.iter().map(|low| low.1);
        writer.write_words(places.flat_map(|place| [place.x.to_bits(), place.y.to_bits()]));
        writer.write_words(self.level.iter().map(|level| level.to_bits()));
        writer.write_words(self.receiver.iter().copied());
        writer.write_words(self.sill.iter().copied());
    }

    /// Reads lakes of a `width` × `height` ground that
    /// [`save_state`](Self::save_state) wrote.
    pub fn load_state(
        reader: &mut StateReader,
        (width, height): (usize, usize),
    ) -> Result<Self, StateError> {
        let factor = reader.read_count()? as usize;
        if factor == 0 {
            return Ok(Self::default());
        }
        let wide = width.div_ceil(factor);
        let cells = wide * height.div_ceil(factor);
        let few = wide <= MAX_SIDE && cells <= MAX_SIDE * MAX_SIDE;
        reader.ensure(few, "the map of lakes has too many cells")?;
        let heights = reader.read_floats(cells)?;
        let places = reader.read_floats(2 * cells)?;
        let places = places.as_chunks::<2>().0.iter().copied().map(Vec2::from);
        let last = Vec2::new((width - 1) as f32, (height - 1) as f32);
        let on_land = |place: Vec2| place.cmpge(Vec2::ZERO).all() && place.cmple(last).all();
        let all_on_land = places.clone().all(on_land);
        reader.ensure(
            all_on_land,
            "the lowest point of a lake lies outside the grid",
        )?;
        let level: Vec<f32> = reader.read_words(cells)?.map(f32::from_bits).collect();
        let levels_fit = level.iter().all(|level| *level < f32::INFINITY);
        reader.ensure(
            levels_fit,
            "the level of a lake is not a number or infinite",
        )?;
        let receiver: Vec<u32> = reader.read_words(cells)?.collect();
        let sill: Vec<u32> = reader.read_words(cells)?.collect();
        let known = |cell: &u32| (*cell as usize) < cells;
        let all_known = receiver.iter().all(known) && sill.iter().all(known);
        reader.ensure(all_known, "a lake spills into a cell outside the grid")?;
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

/// Cells that the flood has reached, by level: a stack for each step of height.
/// Within a step their order does not matter, for it is less than a puddle.
struct Front {
    lowest: f32,
    per_metre: f32,
    /// The top of each stack, and the next below each cell; `NONE` at its end.
    tops: Vec<u32>,
    below: Vec<u32>,
    /// No stack lower than this has a cell.
    step: usize,
}

const NONE: u32 = u32::MAX;

impl Front {
    fn new(cells: &[(f32, Vec2)]) -> Self {
        let heights = cells.iter().map(|cell| cell.0);
        let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), h| {
            (low.min(h), high.max(h))
        });
        Self {
            lowest: low,
            per_metre: (STEPS - 1) as f32 / (high - low).max(f32::MIN_POSITIVE),
            tops: vec![NONE; STEPS],
            below: vec![NONE; cells.len()],
            step: STEPS,
        }
    }

    #[inline]
    fn push(&mut self, level: f32, cell: usize) {
        let step = (((level - self.lowest) * self.per_metre) as usize).min(STEPS - 1);
        self.below[cell] = self.tops[step];
        self.tops[step] = cell as u32;
        self.step = self.step.min(step);
    }

    #[inline]
    fn pop(&mut self) -> Option<usize> {
        while *self.tops.get(self.step)? == NONE {
            self.step += 1;
        }
        let cell = self.tops[self.step] as usize;
        self.tops[self.step] = self.below[cell];
        Some(cell)
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
        lakes.find(&ground, (width, height), 1.0);
        let spill = lakes.spill(3, 3, 1.0, 0.5).expect("the bowl is a lake");
        assert_eq!(spill.depth, 3.0);
        assert_eq!(spill.place, Vec2::new(7.0, 3.0));
        assert!(spill.way.is_some_and(|way| way.x > 0.5), "{:?}", spill.way);
        assert!(lakes.spill(1, 3, 10.0, 0.5).is_none(), "the rim is dry");
        let out = lakes.way_out(3, 3, 1.0).expect("there is a way out");
        assert!(out.way.is_none(), "nothing but the border lies lower");
        let mut cuts = Vec::new();
        lakes.breach(width, 2.0, |cell, depth| cuts.push((cell, depth)));
        assert_eq!(cuts, [(3 * width + 6, 2.0)]);
    }
}
