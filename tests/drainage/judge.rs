//! Judges a land by the statistics of its drainage, as they are known from real mountains:
//!
//! ```text
//! β     share of the land whose drained area exceeds A ∝ A^−β        real: 0.43–0.52
//! θ_SA  median slope of cells that drain A ∝ A^−θ                     real: 0.15–0.5
//! θ_χ   concavity for which heights along all streams of a catchment
//!       fall best on one line over χ = ∫ (A₀/A)^θ dl                  real: 0.3–0.6
//! pits  share of cells, not at the edge, all of whose neighbors lie higher   real: below 0.3 %
//! ```

use bevy_erode::{
    drainage::routing::{DIRECTIONS, OUTLET, Routing},
    parallel::Workers,
    prelude::*,
};

/// Cells that a stream drains at least, to count in slope and χ.
const STREAM: f64 = 200.0;

/// What a land's drainage is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Exponent of the distribution of drained areas.
    pub beta: f64,
    /// Concavity by slope and area.
    pub theta_slope: f64,
    /// Concavity by χ.
    pub theta_chi: f64,
    /// Share of pits.
    pub pits: f64,
    /// Median slope, rise over run.
    pub slope: f64,
}

/// Judges a ground of cells of `cell` metres (units of `ground`: m).
pub fn judge(ground: &[f32], width: usize, cell: f64) -> Figures {
    let height = ground.len() / width.max(1);
    let mut routing = Routing::new(width, height);
    routing.route(Workers::serial(), ground, Borders::default(), None);
    let mut area = Vec::new();
    routing.accumulate(Workers::serial(), None, &mut area);
    Figures {
        beta: area_exponent(&area),
        theta_slope: slope_area(&routing, ground, &area, cell),
        theta_chi: chi(&routing, ground, &area),
        pits: pits(ground, width),
        slope: median_slope(ground, width, cell),
    }
}

/// Exponent of the exceedance of drained areas between ten cells and a hundredth of the land.
fn area_exponent(area: &[f64]) -> f64 {
    let mut sorted = area.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (10.0f64, area.len() as f64 / 100.0);
    let points = (0..=24).filter_map(|step| {
        let at = low * (high / low).powf(f64::from(step) / 24.0);
        let above = sorted.len() - sorted.partition_point(|&area| area < at);
        (above > 0).then(|| (at.ln(), (above as f64).ln()))
    });
    -line(&points.collect::<Vec<_>>()).0
}

/// Fall of the median slope over drained area, in bins of a factor of two.
fn slope_area(routing: &Routing, ground: &[f32], area: &[f64], cell: f64) -> f64 {
    let mut bins: Vec<Vec<f64>> = vec![Vec::new(); 24];
    for (from, &direction) in routing.directions().iter().enumerate() {
        let Some(to) = routing.receiver(from) else {
            continue;
        };
        let length = if direction < 4 {
            cell
        } else {
            cell * 2f64.sqrt()
        };
        let slope = f64::from(ground[from] - ground[to]) / length;
        if slope > 0.0 && area[from] >= SLOPE_FROM {
            let bin = (area[from].log2() as usize).min(23);
            bins[bin].push(slope);
        }
    }
    let points = bins.iter_mut().enumerate().filter_map(|(bin, slopes)| {
        if slopes.len() < 20 {
            return None;
        }
        slopes.sort_by(f64::total_cmp);
        let median = slopes[slopes.len() / 2];
        Some(((bin as f64 + 0.5) * 2f64.ln(), median.ln()))
    });
    -line(&points.collect::<Vec<_>>()).0
}

/// Cells from which on slopes count.
const SLOPE_FROM: f64 = 4.0;

/// The concavity with the least scatter of heights over χ in the largest catchments.
fn chi(routing: &Routing, ground: &[f32], area: &[f64]) -> f64 {
    let directions = routing.directions();
    let outlets = (0..area.len()).filter(|&cell| directions[cell] == OUTLET);
    let mut outlets: Vec<usize> = outlets.collect();
    outlets.sort_by(|a, b| area[*b].total_cmp(&area[*a]));
    outlets.truncate(8);
    let mut catchment = vec![u8::MAX; area.len()];
    for (number, &outlet) in outlets.iter().enumerate() {
        catchment[outlet] = number as u8;
    }
    let order = routing.order();
    let trunk: Vec<usize> = order
        .trunk()
        .iter()
        .rev()
        .map(|&cell| cell as usize)
        .collect();
    let bands = order.bands().flat_map(|band| band.iter().rev());
    let upwards: Vec<usize> = trunk
        .into_iter()
        .chain(bands.map(|&cell| cell as usize))
        .collect();
    let mut streams = Vec::new();
    for cell in upwards {
        if let Some(next) = routing.receiver(cell) {
            catchment[cell] = catchment[next];
            if area[cell] >= STREAM && catchment[cell] != u8::MAX {
                streams.push((cell, next));
            }
        }
    }
    let mut chi = vec![0.0f64; area.len()];
    let mut best = (f64::INFINITY, 0.0);
    for step in 0..=50 {
        let theta = f64::from(step) * 0.02;
        let mut points = vec![Vec::new(); outlets.len()];
        for &(cell, next) in &streams {
            let length = if directions[cell] < 4 {
                1.0
            } else {
                2f64.sqrt()
            };
            chi[cell] = chi[next] + length * area[cell].powf(-theta);
            points[catchment[cell] as usize].push((chi[cell], f64::from(ground[cell])));
        }
        // What a line leaves of the variance of heights, over all catchments.
        let (mut left, mut all) = (0.0, 0.0);
        for points in points.iter().filter(|points| points.len() >= 30) {
            let (_, rest, variance) = line(points);
            left += rest;
            all += variance;
        }
        let scatter = left / f64::max(all, 1e-30);
        if all > 0.0 && scatter < best.0 {
            best = (scatter, theta);
        }
    }
    best.1
}

/// Share of inner cells all of whose neighbors lie higher.
fn pits(ground: &[f32], width: usize) -> f64 {
    let height = ground.len() / width.max(1);
    if width < 3 || height < 3 {
        return 0.0;
    }
    let mut count = 0;
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let here = ground[y * width + x];
            // Flats of maps in whole metres are no pits.
            let open = DIRECTIONS.iter().any(|&(dx, dy)| {
                let next = y.wrapping_add_signed(dy) * width + x.wrapping_add_signed(dx);
                ground[next] <= here
            });
            count += usize::from(!open);
        }
    }
    count as f64 / ((width - 2) * (height - 2)) as f64
}

fn median_slope(ground: &[f32], width: usize, cell: f64) -> f64 {
    let height = ground.len() / width.max(1);
    let mut slopes = Vec::new();
    for y in 1..height.max(1) - 1 {
        for x in 1..width - 1 {
            let at = |x: usize, y: usize| f64::from(ground[y * width + x]);
            let dx = (at(x + 1, y) - at(x - 1, y)) / (2.0 * cell);
            let dy = (at(x, y + 1) - at(x, y - 1)) / (2.0 * cell);
            slopes.push(dx.hypot(dy));
        }
    }
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}

/// Straight line through points: its slope, what it leaves of the sum of squares, and that sum.
fn line(points: &[(f64, f64)]) -> (f64, f64, f64) {
    let count = points.len().max(1) as f64;
    let (sx, sy) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mx, my) = (sx / count, sy / count);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
    }
    let slope = xy / f64::max(xx, 1e-30);
    (slope, yy - slope * xy, yy)
}
