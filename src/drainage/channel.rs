//! Carves a channel with banks along a line, always downhill.
//!
//! ```text
//! bed(s)   = min(bed(s − ds) − fall·ds, ground on the line − depth, ground of the bed's cells)
//! bed      a ≤ w/2:          g = bed(s)
//! banks    a ≤ w/2 + banks:  g = g − (g − bed(s))·(1 − smooth((a − w/2)/banks)),  g above bed(s)
//! ```
//!
//! with `s` the way along the line, `a` the distance from it and `w` the width, at least a
//! cell and a half: so its cells touch by their sides, and water models find a way. Soil is
//! taken first, then rock; what is taken is booked as [`added`](crate::terrain::SolidsLedger::added)
//! below zero, or piled beside the banks as soil.

use crate::{
    settings::{self, Setting},
    terrain::{Grid, Layer, SettingsError, Terrain, add_exactly},
};
use bevy::{
    math::{DVec2, Vec3},
    prelude::Reflect,
};

const M: &str = "ChannelShape";
/// Least width of the bed, so that its cells touch by their sides. units: cells
const LEAST_WIDTH: f64 = 1.5;
/// Longest line. units: cells
const LONGEST: f64 = 4e6;
/// No place on the line.
const FAR: f64 = f64::INFINITY;

/// The shape of a channel across its line.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(@Setting::titled("Channel", "A bed with banks along a line"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ChannelShape {
    /// Width of the bed; at least a cell and a half. units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e5).about("Width of the bed"))]
    pub width: f32,
    /// How far the bed lies below the ground on the line, or more. units: m
    #[reflect(@Setting::new("m", 0.0..=20.0).limits(0.0..=1e4)
        .about("How far the bed lies below the ground on the line, or more"))]
    pub depth: f32,
    /// Width of the slope from the bed up to the ground, on each side. units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e5)
        .about("Width of the slope from the bed up to the ground, on each side"))]
    pub banks: f32,
    /// Least fall of the bed per metre.
    #[reflect(@Setting::new("", 0.0..=0.1).limits(0.0..=10.0)
        .about("Least fall of the bed per metre"))]
    pub fall: f32,
    /// Share of what is dug out that is piled beside the banks, 0 to 1.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("Share of what is dug out that is piled beside the banks"))]
    pub piled: f32,
}

impl Default for ChannelShape {
    fn default() -> Self {
        Self {
            width: 6.0,
            depth: 1.5,
            banks: 6.0,
            fall: 0.001,
            piled: 0.0,
        }
    }
}

impl ChannelShape {
    /// A bed of this width and depth with banks as wide as the bed. units: m
    pub fn new(width: f32, depth: f32) -> Self {
        Self {
            width,
            depth,
            banks: width,
            ..Self::default()
        }
    }

    /// Piles a share of what is dug out beside the banks, 0 to 1.
    pub fn with_piled(self, piled: f32) -> Self {
        Self { piled, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}

/// What carving did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CarvedChannel {
    /// Soil and rock taken. units: m³
    pub dug: f64,
    /// Soil piled beside the banks. units: m³
    pub piled: f64,
    /// World positions along the bed, at its height, downstream, half a cell apart. units: m
    pub bed: Vec<Vec3>,
}

/// Carves a channel along a line of world positions (their y is ignored), from its first point
/// down to its last. Parts of the line beyond the land are skipped.
///
/// ```
/// use bevy::math::{UVec2, Vec3};
/// use bevy_erode::drainage::channel::{ChannelShape, carve_channel};
/// use bevy_erode::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut land = Terrain::flat(UVec2::splat(64), 2.0)?;
/// let line = [Vec3::new(-50.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 20.0), Vec3::new(50.0, 0.0, 0.0)];
/// let carved = carve_channel(&mut land, &line, &ChannelShape::new(8.0, 2.0))?;
/// assert!(carved.dug > 0.0);
/// assert!(carved.bed.is_sorted_by(|a, b| a.y > b.y));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When a value of the shape is out of its limits, a point is not finite, or the line is longer
/// than four million cells. Nothing is changed then.
pub fn carve_channel(
    terrain: &mut Terrain,
    line: &[Vec3],
    shape: &ChannelShape,
) -> Result<CarvedChannel, SettingsError> {
    shape.check()?;
    if let Some(at) = line.iter().position(|point| !point.is_finite()) {
        let reason = format!("points must be finite, was {} at {at}", line[at]);
        return Err(SettingsError::new(M, "line", reason));
    }
    let grid = *terrain.grid();
    let way = Way::new(&grid, line);
    if way.corners.is_empty() {
        return Ok(CarvedChannel::default());
    }
    // An endless line fails the comparison, too.
    if way.length().is_nan() || way.length() > LONGEST {
        let reason = format!("must be {LONGEST} cells long or less, was {}", way.length());
        return Err(SettingsError::new(M, "line", reason));
    }
    let cell = f64::from(grid.cell_size());
    let half = (0.5 * f64::from(shape.width) / cell).max(0.5 * LEAST_WIDTH);
    let banks = f64::from(shape.banks) / cell;
    let beside = half + banks;
    let reach = match shape.piled > 0.0 {
        true => beside + half.max(1.0),
        false => beside,
    };
    let near = way.cells_within(&grid, reach);
    if near.is_empty() {
        return Ok(CarvedChannel::default());
    }
    let bed = way.bed(terrain, &near, half, shape);
    Ok(dig(
        terrain,
        &way,
        &near,
        &bed,
        [half, beside, reach],
        shape,
    ))
}

/// A line in cells.
struct Way {
    /// Corners with the way to them. Lines of no length have one.
    corners: Vec<(DVec2, f64)>,
    /// Distance of the samples of the bed. units: cells
    step: f64,
}

/// A cell near the line.
struct Near {
    cell: usize,
    /// Distance from the line. units: cells
    away: f64,
    /// Way along the line to the nearest place on it. units: cells
    along: f64,
}

impl Way {
    fn new(grid: &Grid, line: &[Vec3]) -> Self {
        let mut corners: Vec<(DVec2, f64)> = Vec::new();
        for point in line {
            let at = grid.world_to_grid(*point).as_dvec2();
            match corners.last() {
                Some((before, _)) if *before == at => {}
                Some((before, way)) => corners.push((at, way + before.distance(at))),
                None => corners.push((at, 0.0)),
            }
        }
        Self { corners, step: 0.5 }
    }

    fn length(&self) -> f64 {
        self.corners.last().map_or(0.0, |(_, way)| *way)
    }

    /// All cells of the grid within a distance of the line, row by row.
    fn cells_within(&self, grid: &Grid, reach: f64) -> Vec<Near> {
        let size = grid.size().as_dvec2();
        let cut = |low: f64, high: f64, end: f64| {
            let (from, to) = ((low - reach).ceil(), (high + reach).floor() + 1.0);
            from.clamp(0.0, end) as usize..to.clamp(0.0, end) as usize
        };
        let points = self.corners.iter().map(|(at, _)| *at);
        let lowest = points.clone().fold(DVec2::INFINITY, DVec2::min);
        let highest = points.fold(DVec2::NEG_INFINITY, DVec2::max);
        let columns = cut(lowest.x, highest.x, size.x);
        let rows = cut(lowest.y, highest.y, size.y);
        let wide = columns.len();
        let mut nearest = vec![(FAR, 0.0); wide * rows.len()];
        let only = [self.corners[0], self.corners[0]];
        let segments = match self.corners.len() {
            1 => only.windows(2),
            _ => self.corners.windows(2),
        };
        for segment in segments {
            let ((from, way), (to, _)) = (segment[0], segment[1]);
            let line = to - from;
            let length = line.length();
            for y in cut(from.y.min(to.y), from.y.max(to.y), size.y) {
                for x in cut(from.x.min(to.x), from.x.max(to.x), size.x) {
                    let at = DVec2::new(x as f64, y as f64) - from;
                    let part = match length > 0.0 {
                        true => (at.dot(line) / (length * length)).clamp(0.0, 1.0),
                        false => 0.0,
                    };
                    let away = at.distance(line * part);
                    let place = (y - rows.start) * wide + (x - columns.start);
                    if away <= reach && away < nearest[place].0 {
                        nearest[place] = (away, way + part * length);
                    }
                }
            }
        }
        let found = nearest.into_iter().enumerate();
        found
            .filter(|(_, (away, _))| *away < FAR)
            .map(|(place, (away, along))| Near {
                cell: (rows.start + place / wide) * grid.width() + columns.start + place % wide,
                away,
                along,
            })
            .collect()
    }

    /// Heights of the bed above the datum, a sample for each step. units: m
    fn bed(&self, terrain: &Terrain, near: &[Near], half: f64, shape: &ChannelShape) -> Vec<f64> {
        let samples = (self.length() / self.step).ceil() as usize + 1;
        let mut highest = vec![f64::INFINITY; samples];
        for cell in near.iter().filter(|cell| cell.away <= half) {
            // Only near the line does the bed lie as deep as asked: on a slope, the far side
            // of the bed is lower anyway.
            let depth = match cell.away <= 0.5 * LEAST_WIDTH {
                true => f64::from(shape.depth),
                false => 0.0,
            };
            let ground = f64::from(terrain.relative_ground(cell.cell)) - depth;
            // Both samples beside the cell, so that the bed between them lies lower, too.
            let at = ((cell.along / self.step) as usize).min(samples - 1);
            for sample in at..=(at + 1).min(samples - 1) {
                highest[sample] = highest[sample].min(ground);
            }
        }
        let fall = f64::from(shape.fall) * self.step * f64::from(terrain.grid().cell_size());
        // Where the line lies beyond the land, the bed goes on as it was.
        let mut level = highest
            .iter()
            .copied()
            .find(|height| height.is_finite())
            .unwrap_or(0.0);
        highest
            .iter()
            .enumerate()
            .map(|(sample, height)| {
                level = match sample {
                    0 => level.min(*height),
                    _ => (level - fall).min(*height),
                };
                level
            })
            .collect()
    }

    /// Place on the line at a sample. units: cells
    fn place(&self, sample: usize) -> DVec2 {
        let way = (sample as f64 * self.step).min(self.length());
        let after = self.corners.partition_point(|(_, at)| *at < way);
        let (to, end) = self.corners[after.min(self.corners.len() - 1)];
        let (from, start) = self.corners[after.saturating_sub(1).min(self.corners.len() - 1)];
        match end > start {
            true => from.lerp(to, (way - start) / (end - start)),
            false => to,
        }
    }
}

/// Height of the bed at a way along the line. units: cells to m
fn bed_at(bed: &[f64], step: f64, along: f64) -> f64 {
    let at = along / step;
    let low = (at as usize).min(bed.len() - 1);
    let high = (low + 1).min(bed.len() - 1);
    bed[low] + (bed[high] - bed[low]) * (at - low as f64).clamp(0.0, 1.0)
}

fn dig(
    terrain: &mut Terrain,
    way: &Way,
    near: &[Near],
    bed: &[f64],
    [half, beside, reach]: [f64; 3],
    shape: &ChannelShape,
) -> CarvedChannel {
    let grid = *terrain.grid();
    let base = f64::from(terrain.datum()) + f64::from(grid.origin().y);
    let mut changes: Vec<(usize, f32)> = Vec::new();
    let mut shoulders: Vec<(usize, f64)> = Vec::new();
    for cell in near {
        let ground = f64::from(terrain.relative_ground(cell.cell));
        let bottom = bed_at(bed, way.step, cell.along);
        let cut = match cell.away <= half {
            true => 1.0,
            false if cell.away < beside => {
                let t = (cell.away - half) / (beside - half);
                1.0 - t * t * (3.0 - 2.0 * t)
            }
            false => 0.0,
        };
        let depth = ((ground - bottom) * cut).max(0.0) as f32;
        if depth > 0.0 {
            changes.push((cell.cell, depth));
        } else if cell.away > beside && ground > bottom {
            let t = (cell.away - beside) / (reach - beside);
            shoulders.push((cell.cell, 4.0 * t * (1.0 - t)));
        }
    }
    let layers = terrain.layers_mut();
    let mut dug = 0.0f64;
    for &(cell, depth) in &changes {
        let soil = &mut layers.soil[cell];
        let (before, taken) = (*soil, depth.min(*soil));
        *soil -= taken;
        dug += f64::from(before) - f64::from(*soil);
        let left = depth - taken;
        if left > 0.0 {
            let (high, low) = (&mut layers.bedrock[cell], &mut layers.bedrock_low[cell]);
            let before = f64::from(*high) + f64::from(*low);
            add_exactly(high, low, -left);
            dug += before - (f64::from(*high) + f64::from(*low));
        }
    }
    let weights: f64 = shoulders.iter().map(|(_, weight)| weight).sum();
    let mut piled = 0.0f64;
    if weights > 0.0 && shape.piled > 0.0 {
        let each = dug * f64::from(shape.piled) / weights;
        for &(cell, weight) in &shoulders {
            let soil = &mut layers.soil[cell];
            let before = *soil;
            *soil += (each * weight) as f32;
            piled += f64::from(*soil) - f64::from(before);
        }
    }
    let (dug, piled) = (dug * grid.cell_area(), piled * grid.cell_area());
    layers.account.solids.moved += dug;
    layers.account.solids.added += piled - dug;

    let touched = changes.iter().map(|(cell, _)| *cell);
    let touched = touched.chain(shoulders.iter().map(|(cell, _)| *cell));
    let areas: Vec<_> = touched
        .map(|cell| {
            let (x, y) = (cell % grid.width(), cell / grid.width());
            (x..x + 1, y..y + 1)
        })
        .collect();
    if !changes.is_empty() {
        terrain.mark_cells(areas, Layer::Bedrock);
    }
    let corner = grid.cell_center(0, 0).as_dvec3();
    let side = f64::from(grid.cell_size());
    let positions = bed.iter().enumerate().map(|(sample, height)| {
        let at = way.place(sample) * side;
        Vec3::new(
            (corner.x + at.x) as f32,
            (base + height) as f32,
            (corner.z + at.y) as f32,
        )
    });
    CarvedChannel {
        dug,
        piled,
        bed: positions.collect(),
    }
}
