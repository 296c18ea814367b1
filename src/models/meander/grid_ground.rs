//! The ground as a grid of heights, centered on the origin. Rows run along the
//! second coordinate, as in the terrain; a point is a cell.

use super::{Cut, Ground, MeanderingRiver, Surface, kernels::whole};
use crate::{parallel::Workers, settings::Setting};
use bevy::{
    math::{DVec2, UVec2},
    prelude::Reflect,
};
use core::ops::Range;
use thiserror::Error;

/// Cells along a tile's side. Only tiles that changed lately are settled.
const TILE: usize = 16;
/// Shares of the height beyond the talus that slide at once: the isotropic
/// nine-point weights, a fifth in all, which is stable.
const AXIS_SHARE: f64 = 0.2 * 2.0 / 3.0;
const DIAGONAL_SHARE: f64 = 0.2 / 6.0;
/// Most cells of a ground.
const MAX_CELLS: usize = 1 << 28;
/// Largest part of a bank that one cut takes.
const MAX_BANK_SHARE: f64 = 0.5;

/// How a cut moves a bank.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum SidewaysRule {
    /// The bank moves back at the speed of the cut: what is taken is in
    /// proportion to its height.
    #[reflect(@Setting::variant("advance", || SidewaysRule::Advance)
        .about("A bank moves by its height, as a whole"))]
    Advance,
    /// The paper's: the point and its neighbor in the direction of the cut are
    /// both lowered, however high the bank is.
    #[reflect(@Setting::variant("two points", || SidewaysRule::TwoPoints)
        .about("The paper's: two points are cut at once"))]
    TwoPoints,
}

/// Why a ground cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroundError {
    /// The grid has no cells or too many.
    #[error("invalid grid size: {} × {} cells; expected at least 1 × 1 and at most {MAX_CELLS} in all", .0.x, .0.y)]
    Size(UVec2),
    /// The cell size is not a positive, finite number.
    #[error("the cell size must be a positive, finite number")]
    CellSize,
    /// A plane does not have one value for each cell of the grid.
    #[error("length mismatch: {what} has {found} values, expected {expected}, one per cell")]
    Length {
        /// The plane, such as `heights`.
        what: &'static str,
        /// Values that it has.
        found: usize,
        /// Cells of the grid.
        expected: usize,
    },
    /// A value is out of its range.
    #[error("invalid value in {what} at index {index}: it must be finite, and hardness above 0")]
    Value {
        /// The plane, such as `heights`.
        what: &'static str,
        /// Index of the first such value.
        index: usize,
    },
}

/// A grid of heights with soft deposits and hardness.
#[derive(Clone, Debug, PartialEq)]
pub struct GridGround {
    width: usize,
    height: usize,
    cell: f64,
    pub(super) heights: Vec<f64>,
    /// Thickness of what was laid down lately, part of the height. units: m
    pub(super) soft: Vec<f64>,
    pub(super) hardness: Option<Vec<f32>>,
    /// Level of the floodplain. units: m
    pub(super) plain: Vec<f64>,
    tiles_x: usize,
    /// Seconds since each tile was settled, and whether it changed since.
    pub(super) waiting: Vec<(f64, bool)>,
    /// Tiles whose heights changed since [`take_changed`](Self::take_changed).
    pub(super) changed: Vec<bool>,
    /// Where particles are not gone, if that is less than all of the grid.
    outline: Option<Outline>,
    /// Cells that may change, if those are not all.
    inside: Option<Vec<bool>>,
}

/// A rectangle that may be turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outline {
    pub center: DVec2,
    /// Unit vector along it.
    pub along: DVec2,
    /// Half its length along that, and half its width across. units: m
    pub half: DVec2,
}

impl Outline {
    #[inline]
    pub fn holds(&self, at: DVec2) -> bool {
        let away = at - self.center;
        away.dot(self.along).abs() <= self.half.x && away.perp_dot(self.along).abs() <= self.half.y
    }
}

impl GridGround {
    /// The number of cells, if it is not too large.
    pub(super) fn check_size(size: UVec2) -> Result<usize, GroundError> {
        let cells = (size.x as usize).checked_mul(size.y as usize);
        let cells = cells.filter(|n| (1..=MAX_CELLS).contains(n));
        cells.ok_or(GroundError::Size(size))
    }

    /// A ground of these heights (m), row by row, whose cells have this size
    /// (m). Its floodplain lies at these heights too.
    pub fn new(size: UVec2, cell_size: f64, heights: Vec<f64>) -> Result<Self, GroundError> {
        let (width, height) = (size.x as usize, size.y as usize);
        let cells = Self::check_size(size)?;
        if !(cell_size > 0.0 && cell_size.is_finite()) {
            return Err(GroundError::CellSize);
        }
        checked("heights", &heights, cells, |h| h.is_finite())?;
        let tiles_x = width.div_ceil(TILE);
        Ok(Self {
            width,
            height,
            cell: cell_size,
            plain: heights.clone(),
            soft: vec![0.0; cells],
            hardness: None,
            tiles_x,
            waiting: vec![(0.0, false); tiles_x * height.div_ceil(TILE)],
            changed: vec![false; tiles_x * height.div_ceil(TILE)],
            outline: None,
            inside: None,
            heights,
        })
    }

    /// Sets how many times slower each cell is cut than soil.
    pub fn with_hardness(mut self, hardness: Vec<f32>) -> Result<Self, GroundError> {
        let valid = |h: &f32| *h > 0.0 && h.is_finite();
        checked("hardness", &hardness, self.heights.len(), valid)?;
        self.hardness = Some(hardness);
        Ok(self)
    }

    /// Sets the level (m) up to which bars grow.
    pub fn with_plain(mut self, plain: Vec<f64>) -> Result<Self, GroundError> {
        checked("floodplain", &plain, self.heights.len(), |h| h.is_finite())?;
        self.plain = plain;
        Ok(self)
    }

    /// Finds the floodplain: hollows narrower than twice `reach` (m) are level
    /// with the land beside them.
    pub fn with_plain_over_hollows(mut self, reach: f64) -> Self {
        let reach = (reach / self.cell).ceil().max(0.0) as usize;
        self.plain = over_hollows(&self.heights, (self.width, self.height), reach);
        self
    }

    /// Particles that leave this rectangle are gone, and cells beyond `margin`
    /// (m) around it stay as they are.
    pub(super) fn with_outline(mut self, outline: Outline, margin: f64) -> Self {
        let wider = Outline {
            half: outline.half + margin,
            ..outline
        };
        let inside: Vec<bool> = (0..self.heights.len())
            .map(|cell| wider.holds(self.center(cell)))
            .collect();
        self.outline = Some(outline);
        self.inside = inside.contains(&false).then_some(inside);
        self
    }

    /// Whether a cell may change.
    #[inline]
    pub(super) fn is_inside(&self, cell: usize) -> bool {
        self.inside.as_ref().is_none_or(|inside| inside[cell])
    }

    /// Tiles whose heights changed since this was asked last.
    pub(super) fn take_changed(&mut self) -> Vec<usize> {
        let tiles = self.changed.iter_mut().enumerate();
        let changed = tiles.filter_map(|(tile, changed)| core::mem::take(changed).then_some(tile));
        changed.collect()
    }

    /// Raises or lowers a cell by what someone else did to it. units: m
    #[inline]
    pub(super) fn shift(&mut self, cell: usize, change: f64) {
        self.heights[cell] += change;
        self.soft[cell] = (self.soft[cell] + change.min(0.0)).max(0.0);
    }

    /// Sets how many times slower a cell is cut than soil.
    #[inline]
    pub(super) fn harden(&mut self, cell: usize, hardness: f32) {
        if self.hardness.is_some() || hardness != 1.0 {
            let cells = self.heights.len();
            self.hardness.get_or_insert_with(|| vec![1.0; cells])[cell] = hardness;
        }
    }

    /// The level of the floodplain, to change it. units: m
    pub(super) fn plain_mut(&mut self) -> &mut [f64] {
        &mut self.plain
    }

    /// Size in cells.
    #[inline]
    pub fn size(&self) -> UVec2 {
        UVec2::new(self.width as u32, self.height as u32)
    }

    /// Side of a cell. units: m
    #[inline]
    pub fn cell_size(&self) -> f64 {
        self.cell
    }

    /// Heights, row by row. units: m
    #[inline]
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Thickness of deposits that have not hardened, part of the heights.
    /// units: m
    #[inline]
    pub fn soft(&self) -> &[f64] {
        &self.soft
    }

    /// How many times slower each cell is cut than soil, if they differ.
    #[inline]
    pub fn hardness(&self) -> Option<&[f32]> {
        self.hardness.as_deref()
    }

    /// Level of the floodplain. units: m
    #[inline]
    pub fn plain(&self) -> &[f64] {
        &self.plain
    }

    /// Middle of a cell. units: m
    #[inline]
    pub fn center(&self, cell: usize) -> DVec2 {
        let (column, row) = (cell % self.width, cell / self.width);
        let middle = self.middle();
        DVec2::new(column as f64 - middle.x, row as f64 - middle.y) * self.cell
    }

    /// Column and row of the origin.
    #[inline]
    fn middle(&self) -> DVec2 {
        DVec2::new((self.width - 1) as f64, (self.height - 1) as f64) * 0.5
    }

    #[inline]
    fn touch(&mut self, cell: usize) {
        let tile = cell / self.width / TILE * self.tiles_x + cell % self.width / TILE;
        self.waiting[tile].1 = true;
        self.changed[tile] = true;
    }

    #[inline]
    fn lower(&mut self, cell: usize, depth: f64) {
        self.heights[cell] -= depth;
        self.soft[cell] = (self.soft[cell] - depth).max(0.0);
        self.touch(cell);
    }

    /// The neighbor along an axis, if there is one.
    #[inline]
    fn beside(&self, cell: usize, column: isize, row: isize) -> Option<usize> {
        let x = (cell % self.width).checked_add_signed(column)?;
        let y = (cell / self.width).checked_add_signed(row)?;
        let there = x < self.width && y < self.height;
        there
            .then(|| y * self.width + x)
            .filter(|&cell| self.is_inside(cell))
    }

    /// Depths that a cut takes at its point and at the neighbor ahead.
    #[inline]
    fn depths(&self, settings: &MeanderingRiver, cut: &Cut) -> (f64, Option<(usize, f64)>) {
        let here = self.heights[cut.point];
        let down = cut.down.min((here - cut.floor).max(0.0));
        match settings.rule {
            SidewaysRule::Advance => {
                // Upwind: the bank takes on the height behind it.
                let back = |speed: f64, column: isize, row: isize| {
                    let behind = self.beside(cut.point, column, row);
                    let step = behind.map_or(0.0, |cell| (here - self.heights[cell]).max(0.0));
                    (speed.abs() / self.cell).min(MAX_BANK_SHARE) * step
                };
                let Cut { sideways, .. } = *cut;
                let x = back(sideways.x, -(sideways.x.signum() as isize), 0);
                let y = back(sideways.y, 0, -(sideways.y.signum() as isize));
                (down + x + y, None)
            }
            SidewaysRule::TwoPoints => {
                let Cut { sideways, .. } = *cut;
                let along_x = sideways.x.abs() > sideways.y.abs();
                let ahead = if along_x {
                    self.beside(cut.point, sideways.x.signum() as isize, 0)
                } else {
                    self.beside(cut.point, 0, sideways.y.signum() as isize)
                };
                let depth = sideways.length();
                (
                    down,
                    ahead.filter(|_| depth > 0.0).map(|cell| (cell, depth)),
                )
            }
        }
    }

    /// What each of some cells of a row gains and loses by sliding, in any order
    /// the same: multiples of 2⁻³⁶. `cells` follow each other.
    fn exchange(&self, stable: [f64; 2], cells: Range<usize>) -> ([f64; TILE], [f64; TILE]) {
        let (mut gain, mut loss) = ([0.0; TILE], [0.0; TILE]);
        let (x, y, count) = (
            cells.start % self.width,
            cells.start / self.width,
            cells.len(),
        );
        let here = &self.heights[cells.clone()];
        let inner = self.inside.is_none()
            && x > 0
            && x + count < self.width
            && y > 0
            && y + 1 < self.height;
        for (i, (column, row)) in RING.into_iter().enumerate() {
            let (stable, share) = if i < 4 {
                (stable[0], AXIS_SHARE)
            } else {
                (stable[1], DIAGONAL_SHARE)
            };
            let moved = |rise: f64| whole(share * (rise.abs() - stable).max(0.0));
            if inner {
                let first = cells
                    .start
                    .wrapping_add_signed(row * self.width as isize + column);
                let others = &self.heights[first..first + count];
                let sums = gain.iter_mut().zip(&mut loss);
                for ((here, other), (gain, loss)) in here.iter().zip(others).zip(sums) {
                    let rise = other - here;
                    let moved = moved(rise);
                    *gain += if rise > 0.0 { moved } else { 0.0 };
                    *loss += if rise > 0.0 { 0.0 } else { moved };
                }
                continue;
            }
            for (j, cell) in cells.clone().enumerate() {
                if let Some(other) = self
                    .beside(cell, column, row)
                    .filter(|_| self.is_inside(cell))
                {
                    let rise = self.heights[other] - here[j];
                    let sum = if rise > 0.0 { &mut gain } else { &mut loss };
                    sum[j] += moved(rise);
                }
            }
        }
        (gain, loss)
    }

    /// New heights and soft layers of a tile's cells, and whether any slid.
    fn slide(&self, settings: &MeanderingRiver, tile: usize) -> (Vec<(f64, f64)>, bool) {
        let along_axis = f64::from(settings.talus) * self.cell;
        let stable = [along_axis, along_axis * core::f64::consts::SQRT_2];
        let harden = libm::exp(-f64::from(settings.hardening) * self.waiting[tile].0);
        let mut slid = false;
        let mut out = Vec::with_capacity(TILE * TILE);
        for cells in self.tile_rows(tile) {
            let (gain, loss) = self.exchange(stable, cells.clone());
            for ((cell, gain), loss) in cells.zip(gain).zip(loss) {
                if !self.is_inside(cell) {
                    out.push((self.heights[cell], self.soft[cell]));
                    continue;
                }
                slid |= gain > 0.0 || loss > 0.0;
                let soft = (self.soft[cell] * harden - loss).max(0.0) + gain;
                out.push((self.heights[cell] + (gain - loss), soft));
            }
        }
        (out, slid)
    }

    /// The cells of a tile.
    #[inline]
    pub(super) fn tile_cells(&self, tile: usize) -> impl Iterator<Item = usize> + use<> {
        self.tile_rows(tile).flatten()
    }

    /// The cells of a tile, row by row.
    #[inline]
    fn tile_rows(&self, tile: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (x, y) = (tile % self.tiles_x * TILE, tile / self.tiles_x * TILE);
        let (x1, y1) = ((x + TILE).min(self.width), (y + TILE).min(self.height));
        let width = self.width;
        (y..y1).map(move |row| row * width + x..row * width + x1)
    }
}

/// The whole number below: `floor`, which is a call where the target has no
/// instruction for it.
#[inline]
fn below(value: f64) -> f64 {
    let whole = value as i64 as f64;
    if whole > value { whole - 1.0 } else { whole }
}

/// The eight neighbors, those along the axes first.
const RING: [(isize, isize); 8] = [
    (-1, 0),
    (1, 0),
    (0, -1),
    (0, 1),
    (-1, -1),
    (1, -1),
    (-1, 1),
    (1, 1),
];

impl Ground for GridGround {
    #[inline]
    fn bounds(&self) -> (DVec2, DVec2) {
        let half = DVec2::new(self.width as f64, self.height as f64) * (0.5 * self.cell);
        (-half, half)
    }

    #[inline]
    fn surface(&self, at: DVec2) -> Surface {
        let (middle, u) = (self.middle(), at / self.cell);
        // Both weights by themselves, not one as the rest of the other: so the
        // mirrored place has the mirrored weights to the last bit.
        let axis = |u: f64, middle: f64, count: usize| {
            let low = below(u + middle).clamp(0.0, (count - 1) as f64);
            let at_low = u - (low - middle);
            let at_high = (low - middle + 1.0) - u;
            let (low, high) = (low as usize, (low as usize + 1).min(count - 1));
            (low, high, at_high.clamp(0.0, 1.0), at_low.clamp(0.0, 1.0))
        };
        let (x0, x1, wx0, wx1) = axis(u.x, middle.x, self.width);
        let (y0, y1, wy0, wy1) = axis(u.y, middle.y, self.height);
        let (row0, row1) = (y0 * self.width, y1 * self.width);
        let (a, b) = (self.heights[row0 + x0], self.heights[row0 + x1]);
        let (c, d) = (self.heights[row1 + x0], self.heights[row1 + x1]);
        Surface {
            height: (a * wx0 + b * wx1) * wy0 + (c * wx0 + d * wx1) * wy1,
            slope: DVec2::new((b - a) * wy0 + (d - c) * wy1, (c - a) * wx0 + (d - b) * wx1)
                / self.cell,
        }
    }

    #[inline]
    fn point_at(&self, at: DVec2) -> usize {
        let place = |u: f64, middle: f64, count: usize| {
            (below(u + middle + 0.5).max(0.0) as usize).min(count - 1)
        };
        let (middle, u) = (self.middle(), at / self.cell);
        let row = place(u.y, middle.y, self.height);
        row * self.width + place(u.x, middle.x, self.width)
    }

    #[inline]
    fn points_in(&self, min: DVec2, max: DVec2, mut visit: impl FnMut(usize, DVec2)) {
        let middle = self.middle();
        let range = |min: f64, max: f64, middle: f64, count: usize| {
            let first = (min / self.cell + middle).ceil().max(0.0) as usize;
            let end = (max / self.cell + middle).ceil().max(0.0) as usize;
            first..end.min(count)
        };
        for row in range(min.y, max.y, middle.y, self.height) {
            let y = (row as f64 - middle.y) * self.cell;
            for column in range(min.x, max.x, middle.x, self.width) {
                let x = (column as f64 - middle.x) * self.cell;
                let cell = row * self.width + column;
                if self.is_inside(cell) {
                    visit(cell, DVec2::new(x, y));
                }
            }
        }
    }

    #[inline]
    fn floodplain(&self, point: usize) -> f64 {
        self.plain[point]
    }

    #[inline]
    fn softness(&self, settings: &MeanderingRiver, point: usize) -> f64 {
        if self.soft[point] > 0.0 {
            return f64::from(settings.softness);
        }
        let hardness = self
            .hardness
            .as_ref()
            .map_or(1.0, |hardness| hardness[point]);
        1.0 / f64::from(hardness)
    }

    #[inline]
    fn cut_volume(&self, settings: &MeanderingRiver, cut: &Cut) -> f64 {
        let (here, ahead) = self.depths(settings, cut);
        (here + ahead.map_or(0.0, |(_, depth)| depth)) * (self.cell * self.cell)
    }

    #[inline]
    fn take(&mut self, settings: &MeanderingRiver, cut: &Cut, volume: f64) {
        let depth = volume / (self.cell * self.cell);
        let (here, ahead) = match settings.rule {
            SidewaysRule::Advance => (depth, None),
            SidewaysRule::TwoPoints => self.depths(settings, cut),
        };
        match ahead {
            Some((cell, share)) => {
                let share = depth * (share / (here + share));
                self.lower(cell, share);
                self.lower(cut.point, depth - share);
            }
            None => self.lower(cut.point, depth),
        }
    }

    #[inline]
    fn room(&self, point: usize, level: f64) -> f64 {
        (level - self.heights[point]).max(0.0) * (self.cell * self.cell)
    }

    #[inline]
    fn lay(&mut self, point: usize, volume: f64) {
        let depth = volume / (self.cell * self.cell);
        self.heights[point] += depth;
        self.soft[point] += depth;
        self.touch(point);
    }

    #[inline]
    fn excess(&self, point: usize, level: f64) -> f64 {
        (self.heights[point] - level).max(0.0) * (self.cell * self.cell)
    }

    #[inline]
    fn dig(&mut self, point: usize, volume: f64) {
        self.lower(point, volume / (self.cell * self.cell));
    }

    fn settle(&mut self, workers: &Workers, settings: &MeanderingRiver, dt: f64) {
        for tile in &mut self.waiting {
            tile.0 += dt;
        }
        let tiles_y = self.waiting.len() / self.tiles_x;
        let near = |tile: usize| {
            let (x, y) = (tile % self.tiles_x, tile / self.tiles_x);
            let rows = y.saturating_sub(1)..(y + 2).min(tiles_y);
            rows.into_iter().any(|row| {
                let columns = x.saturating_sub(1)..(x + 2).min(self.tiles_x);
                columns
                    .into_iter()
                    .any(|column| self.waiting[row * self.tiles_x + column].1)
            })
        };
        let tiles: Vec<usize> = (0..self.waiting.len()).filter(|&tile| near(tile)).collect();
        let mut results = vec![(Vec::new(), false); tiles.len()];
        // A tile is worth some microseconds, too few for a job.
        const BATCH: usize = 32;
        // Nor are a few worth another thread.
        let workers = if tiles.len() < 8 * BATCH {
            &Workers::serial()
        } else {
            workers
        };
        let jobs = tiles.chunks(BATCH).zip(results.chunks_mut(BATCH));
        workers.each(jobs, |(tiles, results)| {
            for (tile, result) in tiles.iter().zip(results) {
                *result = self.slide(settings, *tile);
            }
        });
        for (tile, (cells, slid)) in tiles.into_iter().zip(results) {
            let own = self.tile_rows(tile).flatten();
            for (cell, (height, soft)) in own.zip(cells) {
                self.heights[cell] = height;
                self.soft[cell] = soft;
            }
            self.waiting[tile] = (0.0, slid);
            self.changed[tile] |= slid;
        }
    }

    fn smooth(&mut self, points: &[usize]) {
        let mut wet = vec![false; self.heights.len()];
        for &point in points {
            wet[point] = true;
        }
        let evened = |point: usize| {
            let sides = RING[..4].iter().filter_map(|&(column, row)| {
                let other = self.beside(point, column, row).filter(|&cell| wet[cell])?;
                Some(whole(0.125 * (self.heights[other] - self.heights[point])))
            });
            self.heights[point] + sides.sum::<f64>()
        };
        let heights: Vec<f64> = points.iter().map(|&point| evened(point)).collect();
        for (&point, height) in points.iter().zip(heights) {
            self.heights[point] = height;
            self.touch(point);
        }
    }

    #[inline]
    fn holds(&self, at: DVec2) -> bool {
        let (min, max) = self.bounds();
        let there = at.cmpge(min).all() && at.cmple(max).all();
        there && self.outline.is_none_or(|outline| outline.holds(at))
    }

    fn solids(&self) -> f64 {
        self.heights.iter().sum::<f64>() * (self.cell * self.cell)
    }
}

fn checked<T>(
    what: &'static str,
    values: &[T],
    expected: usize,
    valid: impl Fn(&T) -> bool,
) -> Result<(), GroundError> {
    let found = values.len();
    if found != expected {
        return Err(GroundError::Length {
            what,
            found,
            expected,
        });
    }
    match values.iter().position(|value| !valid(value)) {
        Some(index) => Err(GroundError::Value { what, index }),
        None => Ok(()),
    }
}

/// Heights (m) row by row, with hollows narrower than twice `reach` cells level
/// with the land beside them.
pub(super) fn over_hollows(heights: &[f64], size: (usize, usize), reach: usize) -> Vec<f64> {
    // Beyond the border the land goes on with its slope, so that a slope does not count
    // as a hollow.
    let pad = 2 * reach;
    let wide = (size.0 + 2 * pad, size.1 + 2 * pad);
    let across = |place: usize, count: usize| {
        let last = count as isize - 1;
        let place = place as isize - pad as isize;
        let inside = place.clamp(0, last);
        let mirrored = (2 * inside - place).clamp(0, last);
        (inside as usize, mirrored as usize)
    };
    let mut padded = Vec::with_capacity(wide.0 * wide.1);
    for row in 0..wide.1 {
        let (y, mirrored_y) = across(row, size.1);
        for column in 0..wide.0 {
            let (x, mirrored_x) = across(column, size.0);
            let border = heights[y * size.0 + x];
            padded.push(2.0 * border - heights[mirrored_y * size.0 + mirrored_x]);
        }
    }
    let raised = window(&padded, wide, reach, f64::max);
    let level = window(&raised, wide, reach, f64::min);
    (0..size.0 * size.1)
        .map(|cell| {
            let (x, y) = (cell % size.0 + pad, cell / size.0 + pad);
            level[y * wide.0 + x].max(heights[cell])
        })
        .collect()
}

/// The largest or smallest value within `reach` cells along both axes.
fn window(
    values: &[f64],
    (width, height): (usize, usize),
    reach: usize,
    pick: fn(f64, f64) -> f64,
) -> Vec<f64> {
    let along = |values: &[f64], count: usize, stride: usize, first: usize, i: usize| {
        let near = i.saturating_sub(reach)..(i + reach + 1).min(count);
        near.map(|j| values[first + j * stride]).reduce(pick)
    };
    let rows: Vec<f64> = (0..values.len())
        .filter_map(|cell| along(values, width, 1, cell - cell % width, cell % width))
        .collect();
    (0..values.len())
        .filter_map(|cell| along(&rows, height, width, cell % width, cell / width))
        .collect()
}
