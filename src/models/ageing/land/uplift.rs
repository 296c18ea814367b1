//! Land that rises from below, and the law that keeps the mountains.
//!
//! ```text
//! U = u·P(x, y), P = the large forms of the land at the start,
//!     from 0 (lowest) to 1 (highest)
//! u·ΔP·dt = R_wanted(t + dt) − R + (loss of relief in the last step)·dt/dt_last
//! R_wanted = R₀·(share + (1 − share)·e^(−t/settle)),   R = p99 − p1 of the ground
//! ```
//!
//! ΔP is the share of a rise that becomes relief: found by trying it on a sample of the land.
//! Only the rate is steered: heights are never scaled.

use crate::{
    models::solver_state::{StateError, StateReader, StateWriter},
    terrain::Terrain,
};

/// Most samples that a relief is measured from.
const SAMPLES: usize = 1 << 16;
/// Cells along the longer side of the pattern.
const COARSE: usize = 48;
/// Shares of the map that the pattern may be smoothed over, smoothest first.
const SMOOTH: [f64; 5] = [0.2, 0.14, 0.1, 0.06, 0.03];
/// Fewest years in which the highest places may rise by the land's whole relief: beyond that
/// the ground is too steep to be kept. units: yr
const FASTEST: f64 = 100_000.0;
/// How much of a rise has to become relief: the smoothest pattern that does so is used.
const LEVER: f64 = 0.4;

/// A smooth field over the unit square.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Pattern {
    /// The large forms of a ground, from 0 to 1.
    fn of(ground: &[f64], (width, height): (usize, usize), smooth: f64) -> Self {
        let longer = width.max(height).max(1);
        let coarse = |side: usize| (side * COARSE).div_ceil(longer).clamp(1, side.max(1));
        let (w, h) = (coarse(width), coarse(height));
        let mut sums = vec![(0.0f64, 0u32); w * h];
        for (cell, z) in ground.iter().enumerate() {
            let (x, y) = (cell % width, cell / width);
            let at = &mut sums[y * h / height * w + x * w / width];
            at.0 += z;
            at.1 += 1;
        }
        let mut values: Vec<f64> = sums
            .iter()
            .map(|(sum, count)| sum / f64::from((*count).max(1)))
            .collect();
        // Three boxes make a bell whose variance is that of three boxes.
        let reach = (smooth * w.min(h) as f64) as usize;
        for _ in 0..3 {
            values = box_rows(&values, w, reach);
            values = transposed(&box_rows(&transposed(&values, w), h, reach), h);
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let span = (high - low).max(1e-9);
        Self {
            width: w,
            height: h,
            values: values.iter().map(|z| ((z - low) / span) as f32).collect(),
        }
    }

    /// Fills a row of a map of the given size.
    pub(super) fn row(&self, out: &mut [f32], y: usize, height: usize) {
        let width = out.len();
        let place = |at: usize, side: usize, coarse: usize| {
            let p = (at as f32 + 0.5) / side as f32 * coarse as f32 - 0.5;
            let p = p.clamp(0.0, (coarse - 1) as f32);
            let low = (p as usize).min(coarse.saturating_sub(2));
            (low, (low + 1).min(coarse - 1), p - low as f32)
        };
        if self.values.is_empty() {
            out.fill(1.0);
            return;
        }
        let (north, south, v) = place(y, height, self.height);
        for (x, out) in out.iter_mut().enumerate() {
            let (west, east, u) = place(x, width, self.width);
            let at = |x: usize, y: usize| self.values[y * self.width + x];
            let high = at(west, north) + (at(east, north) - at(west, north)) * u;
            let low = at(west, south) + (at(east, south) - at(west, south)) * u;
            *out = high + (low - high) * v;
        }
    }

    fn at(&self, (x, y): (usize, usize), (width, height): (usize, usize)) -> f64 {
        let cx = x * self.width / width.max(1);
        let cy = y * self.height / height.max(1);
        f64::from(
            self.values
                .get(cy * self.width + cx)
                .copied()
                .unwrap_or(1.0),
        )
    }
}

fn box_rows(values: &[f64], width: usize, reach: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(values.len());
    for row in values.chunks(width.max(1)) {
        for x in 0..row.len() {
            let (from, to) = (
                x.saturating_sub(reach / 2),
                (x + reach / 2 + 1).min(row.len()),
            );
            out.push(row[from..to].iter().sum::<f64>() / (to - from) as f64);
        }
    }
    out
}

fn transposed(values: &[f64], width: usize) -> Vec<f64> {
    let height = values.len() / width.max(1);
    let cells = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
    cells.map(|(x, y)| values[y * width + x]).collect()
}

/// The law that keeps the mountains, with what it remembers from step to step. It may be
/// handed on to a run of the same land in other cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keeper {
    pub(super) pattern: Pattern,
    start: f64,
    years: f64,
    /// Relief after the last uplift, with the length of that step; none before the first.
    raised: Option<(f64, f64)>,
    /// Relief lost to erosion, smoothed. units: m/yr
    loss: f64,
}

impl Keeper {
    /// Writes it down, exactly.
    pub fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.pattern.width as u64);
        writer.write_count(self.pattern.height as u64);
        writer.write_floats(&self.pattern.values);
        writer.write_real(self.start);
        writer.write_real(self.years);
        let (relief, years) = self.raised.unwrap_or_default();
        writer.write_flag(self.raised.is_some());
        writer.write_real(relief);
        writer.write_real(years);
        writer.write_real(self.loss);
    }

    /// Reads what [`save_state`](Self::save_state) wrote.
    pub fn load_state(reader: &mut StateReader) -> Result<Self, StateError> {
        let (width, height) = (reader.read_count()?, reader.read_count()?);
        let most = COARSE as u64;
        reader.ensure(
            width <= most && height <= most,
            format!("the pattern of uplift has at most {most} × {most} cells"),
        )?;
        let (width, height) = (width as usize, height as usize);
        let values = reader.read_floats(width * height)?;
        let (start, years) = (reader.read_real()?, reader.read_real()?);
        let raised = reader.read_flag()?;
        let last = (reader.read_real()?, reader.read_real()?);
        Ok(Self {
            pattern: Pattern {
                width,
                height,
                values,
            },
            start,
            years,
            raised: raised.then_some(last),
            loss: reader.read_real()?,
        })
    }

    /// Remembers a terrain as it is.
    pub fn of(terrain: &Terrain) -> Self {
        let ground = terrain.ground_heights();
        let ground: Vec<f64> = ground.iter().map(|z| f64::from(*z)).collect();
        let grid = terrain.grid();
        Self::new(&ground, (grid.width(), grid.height()))
    }

    /// Remembers the land as it is.
    pub(super) fn new(ground: &[f64], size: (usize, usize)) -> Self {
        let mut keeper = Self::default();
        for smooth in SMOOTH {
            keeper.pattern = Pattern::of(ground, size, smooth);
            let samples = keeper.samples(ground, size);
            keeper.start = relief(&samples, 0.0);
            let rise = 0.1 * keeper.start;
            if relief(&samples, rise) - keeper.start >= LEVER * rise {
                break;
            }
        }
        keeper
    }

    /// How far the highest place rises in a step of `dt` years. units: m
    pub(super) fn rise(
        &mut self,
        ground: &[f64],
        size: (usize, usize),
        (share, settle): (f64, f64),
        dt: f64,
    ) -> f64 {
        let samples = self.samples(ground, size);
        let now = relief(&samples, 0.0);
        if let Some((raised, years)) = self.raised {
            let loss = (raised - now) / years;
            // A single step's figure is noisy; a change of pace still shows within a few.
            self.loss += 0.4 * (loss - self.loss);
        }
        self.years += dt;
        let left = (1.0 - share) * libm::exp(-self.years / settle.max(dt));
        let wanted = self.start * (share + left);
        let short = wanted - now + self.loss * dt;
        // What a rise of that height makes of the relief tells how much higher it has to be.
        let gained = relief(&samples, short) - now;
        let lever = (gained / short).clamp(0.25, 1.0);
        let most = self.start * (dt / FASTEST).min(0.1);
        let rise = match lever.is_finite() {
            true => (short / lever).clamp(-most, most),
            false => 0.0,
        };
        self.raised = Some((relief(&samples, rise), dt));
        rise
    }

    /// Heights with the pattern there, on a lattice of cells.
    fn samples(&self, ground: &[f64], (width, height): (usize, usize)) -> Vec<(f64, f64)> {
        let mut step = 1;
        while (width / step) * (height / step) > SAMPLES {
            step += 1;
        }
        let rows = (step / 2..height).step_by(step);
        let cells = rows.flat_map(|y| (step / 2..width).step_by(step).map(move |x| (x, y)));
        cells
            .map(|(x, y)| {
                (
                    ground[y * width + x],
                    self.pattern.at((x, y), (width, height)),
                )
            })
            .collect()
    }
}

/// Span of heights without the lowest and the highest hundredth, after a rise.
fn relief(samples: &[(f64, f64)], rise: f64) -> f64 {
    let mut heights: Vec<f64> = samples.iter().map(|(z, place)| z + rise * place).collect();
    if heights.is_empty() {
        return 0.0;
    }
    let last = heights.len() - 1;
    let hundredth = last / 100;
    let low = *heights.select_nth_unstable_by(hundredth, f64::total_cmp).1;
    let high = *heights
        .select_nth_unstable_by(last - hundredth, f64::total_cmp)
        .1;
    high - low
}
