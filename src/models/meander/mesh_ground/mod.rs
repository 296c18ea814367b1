//! The ground as a sheet of triangles whose points move in all three
//! directions: a bank is cut by moving its points back. It is fine where the
//! water is, and coarse where it is not.
//!
//! With `a` the plan area of a point, a third of its triangles', the volume
//! under the sheet is `Σ a·h`. It changes linearly where one point moves by `d`:
//!
//! ```text
//! ΔV = G·d     G = Σ left(c − b)/6·(h_b + h_c)     over its triangles (p, b, c)
//! ```
//!
//! which is `a` times the mean slope around it. So a cut that moves a bank back
//! by `d` takes as much as the bank is high, exactly. A point moves up the slope
//! only, as far as no triangle becomes too small; what the move does not take
//! is taken by sinking.

mod banks;
mod land;
mod locate;
mod patch;
mod remesh;
mod rings;
mod topology;

#[cfg(test)]
mod river_tests;
#[cfg(test)]
mod tests;

pub use remesh::RemeshTally;

use super::{Cut, GridGround, Ground, MeanderingRiver, Surface, WaterParticle};
use crate::{
    parallel::Workers,
    terrain::{SettingsError, in_range},
};
use banks::Exchange;
use bevy::math::DVec2;
use land::Land;
use locate::Buckets;
use patch::{Patch, Surroundings, parts};
use remesh::Wish;
use rings::{BATCH, Rings, Shape};
use topology::Sheet;

/// Wanted edges grow by so much for each metre from the water.
const GRADING: f64 = 0.4;
/// Largest share of an exchange between two points that are evened out.
const EVEN_OUT: f64 = 0.125;
/// Fresh deposit thinner than this is ignored. Splits and collapses spread traces that
/// a grid does not have. units: m
const MIN_DEPOSIT: f64 = 0.02;
/// Number of settlings between two changes of the sheet.
const REMESH_EVERY: u32 = 2;
/// Number of changes after which all points far from the water have been looked at.
const TURNS: u32 = 8;
/// Rows of buckets whose points are cut by themselves, and the cuts from which
/// on that is worth it.
const BAND: usize = 32;
const MANY_CUTS: usize = 4096;

/// How finely a [`MeshGround`] follows its river.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshDetail {
    /// Length of edges near the water. At most 1.2 times the water's radius keeps the
    /// paper's rule that no water touches a triangle without reaching one of
    /// its points. units: m
    pub fine: f64,
    /// Length of edges far from the water. units: m
    pub coarse: f64,
    /// How far the surface may move where points are removed. units: m
    pub tolerance: f64,
    /// The ground stays fine for this time after water was near. units: s
    pub fine_for: f64,
    /// Share of a cut along a bank that still moves the bank back.
    pub side_wear: f64,
    /// How fast kinks of banks and bumps of the bed are smoothed along the stream.
    /// units: m²/s
    pub smoothing: f64,
    /// Share of the points of a mesh that is fine everywhere; with more points than
    /// this the tolerance far from the water grows.
    pub max_point_share: f64,
}

impl Default for MeshDetail {
    fn default() -> Self {
        Self {
            fine: 9.0,
            coarse: 48.0,
            tolerance: 0.15,
            fine_for: 60.0,
            side_wear: 0.2,
            smoothing: 0.4,
            max_point_share: 0.5,
        }
    }
}

impl MeshDetail {
    /// Checks the detail; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "MeshDetail";
        in_range(M, "fine", self.fine as f32, 1e-2..=1e4)?;
        in_range(M, "coarse", self.coarse as f32, self.fine as f32..=1e5)?;
        in_range(M, "tolerance", self.tolerance as f32, 0.0..=1e4)?;
        in_range(M, "fine_for", self.fine_for as f32, 0.0..=f32::INFINITY)?;
        in_range(M, "side_wear", self.side_wear as f32, 0.0..=1.0)?;
        in_range(M, "smoothing", self.smoothing as f32, 0.0..=1e6)?;
        in_range(
            M,
            "max_point_share",
            self.max_point_share as f32,
            1e-3..=1.0,
        )
    }
}

/// A sheet of triangles with soft deposits and hardness.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshGround {
    detail: MeshDetail,
    bounds: (DVec2, DVec2),
    sheet: Sheet,
    rings: Rings,
    shapes: Vec<Shape>,
    exchanges: Vec<Exchange>,
    land: Land,
    buckets: Buckets,
    /// Length of an edge that is wanted in each bucket. units: m
    wanted: Vec<f64>,
    settled: u32,
    tally: RemeshTally,
}

impl MeshGround {
    /// A sheet over a height grid, of the same volume: fine where the grid is
    /// curved, coarse elsewhere.
    pub fn from_grid(grid: &GridGround, detail: MeshDetail) -> Result<Self, SettingsError> {
        detail.check()?;
        let bounds = grid.bounds();
        let squares = ((bounds.1 - bounds.0) / detail.coarse)
            .ceil()
            .max(DVec2::ONE);
        let (columns, rows) = (squares.x as usize, squares.y as usize);
        let mut ground = Self {
            detail,
            bounds,
            sheet: Sheet::rectangle(bounds.0, bounds.1, columns, rows),
            rings: Rings::default(),
            shapes: Vec::new(),
            exchanges: Vec::new(),
            land: Land::new(grid),
            buckets: Buckets::new(bounds.0, bounds.1, 2.0 * detail.fine),
            wanted: Vec::new(),
            settled: 0,
            tally: RemeshTally::default(),
        };
        ground.mark_curved(grid);
        ground.spread_wishes();
        let workers = Workers::serial();
        ground.rings.fill(&workers, &ground.sheet);
        // Heights come last: until then all is flat, so no change is refused.
        ground.refine(&workers);
        for own in &mut ground.sheet.points {
            ground.land.measure(own);
            own.height = ground.land.mean(grid.heights(), own.at);
            own.soft = ground.land.mean(grid.soft(), own.at);
        }
        let area = (bounds.1 - bounds.0).element_product();
        let lift = (grid.solids() - ground.solids()) / area;
        for own in &mut ground.sheet.points {
            own.height += lift;
        }
        ground.incline(&workers, |_| true);
        ground.tally = RemeshTally::default();
        Ok(ground)
    }

    /// Marks as near water what bends by more than the tolerance.
    fn mark_curved(&mut self, grid: &GridGround) {
        let (width, heights) = (grid.size().x as usize, grid.heights());
        for (cell, here) in heights.iter().enumerate() {
            let (x, y) = (cell % width, cell / width);
            let bend = |inner: bool, stride: usize| {
                let sides = || heights[cell - stride] + heights[cell + stride];
                inner && (sides() - 2.0 * here).abs() > self.detail.tolerance
            };
            let inner = (
                x > 0 && x + 1 < width,
                y > 0 && cell + width < heights.len(),
            );
            if bend(inner.0, 1) || bend(inner.1, width) {
                self.buckets
                    .wet(grid.center(cell), self.detail.fine, DVec2::ZERO);
            }
        }
    }

    /// Wanted lengths of edges: fine near water, and growing evenly from there.
    fn spread_wishes(&mut self) {
        let MeshDetail {
            fine,
            coarse,
            fine_for,
            ..
        } = self.detail;
        let wet = |dry_for: &f64| if *dry_for <= fine_for { fine } else { coarse };
        self.wanted.clear();
        self.wanted.extend(self.buckets.dry_for.iter().map(wet));
        self.buckets.spread(&mut self.wanted, GRADING);
    }

    /// Splits, collapses and flips edges until the mesh has the wanted lengths.
    fn refine(&mut self, workers: &Workers) {
        let Self {
            detail,
            sheet,
            rings,
            land,
            buckets,
            wanted,
            tally,
            ..
        } = self;
        // Equilateral triangles have two for each point.
        let each = detail.fine * detail.fine * 0.75f64.sqrt();
        let all = (self.bounds.1 - self.bounds.0).element_product() / each;
        let excess = sheet.point_count() as f64 / (detail.max_point_share * all);
        let far = detail.tolerance * (excess * excess).max(1.0);
        let edge = |at: DVec2| wanted[buckets.of(at)];
        let tolerance = |at: DVec2| {
            if edge(at) > detail.fine {
                far
            } else {
                detail.tolerance
            }
        };
        let wish = Wish {
            workers,
            edge,
            tolerance,
            fine: detail.fine,
        };
        let turn = (self.settled / REMESH_EVERY % TURNS) as usize;
        let is_turn = |at: DVec2| buckets.of(at) % TURNS as usize == turn;
        wish.collapse(sheet, rings, is_turn, tally);
        wish.split(sheet, tally, |sheet, point| {
            land.measure(&mut sheet.points[point as usize]);
        });
        wish.flip(sheet, None, tally);
        self.buckets.fill(&mut self.sheet);
        self.rings.fill(workers, &self.sheet);
        self.shapes.clear();
        self.shapes
            .resize(self.sheet.points.len(), Shape::default());
        self.incline(workers, |_| true);
    }

    /// How finely it follows its river.
    pub fn detail(&self) -> MeshDetail {
        self.detail
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        self.sheet.point_count()
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.sheet.triangle_count()
    }

    /// Its triangles, counter-clockwise seen with the second axis up; each
    /// corner as place and height (m).
    pub fn triangles(&self) -> impl Iterator<Item = [(DVec2, f64); 3]> + '_ {
        self.sheet.live_triangles().map(|t| {
            let corners = self.sheet.triangles[t as usize].corners;
            corners.map(|corner| (self.sheet.at(corner), self.sheet.height(corner)))
        })
    }

    /// How often the mesh was changed to follow the river so far.
    pub fn remesh_tally(&self) -> RemeshTally {
        self.tally
    }

    /// Level of the floodplain at a place. units: m
    pub fn floodplain_at(&self, at: DVec2) -> f64 {
        self.land.plain(at)
    }

    /// Thickness of deposits that have not hardened at a place. units: m
    pub fn soft_at(&self, at: DVec2) -> f64 {
        let (corners, shares) = self.under(at);
        let soft = |i: usize| self.sheet.points[corners[i] as usize].soft * shares[i];
        soft(0) + soft(1) + soft(2)
    }

    /// Corners of the triangle under a place, and their shares.
    #[inline]
    fn under(&self, at: DVec2) -> ([u32; 3], [f64; 3]) {
        let at = at.clamp(self.bounds.0, self.bounds.1);
        let (t, shares) = self.buckets.locate(&self.sheet, at);
        (self.sheet.triangles[t as usize].corners, shares)
    }

    /// Updates the slopes where water was near at a time for which `counts` holds.
    fn incline(&mut self, workers: &Workers, counts: impl Fn(f64) -> bool + Sync) {
        let Self {
            sheet,
            rings,
            shapes,
            buckets,
            ..
        } = self;
        let points = &sheet.points[..];
        let jobs = shapes.chunks_mut(BATCH).enumerate();
        workers.each(jobs, |(i, shapes)| {
            for (p, shape) in (i * BATCH..).zip(shapes) {
                if counts(buckets.dry_for[buckets.of(points[p].at)]) {
                    *shape = Shape::new(points, 0, p, rings.of(p));
                }
            }
        });
    }
}

impl Ground for MeshGround {
    #[inline]
    fn bounds(&self) -> (DVec2, DVec2) {
        self.bounds
    }

    #[inline]
    fn surface(&self, at: DVec2) -> Surface {
        let (corners, shares) = self.under(at);
        let [a, b, c] = corners.map(|corner| self.sheet.height(corner));
        let [u, v, w] = corners.map(|corner| self.shapes[corner as usize].slope);
        // Mean slopes of the corners: water that met the edges of flat
        // triangles would lose its speed on them.
        Surface {
            height: a * shares[0] + b * shares[1] + c * shares[2],
            slope: u * shares[0] + v * shares[1] + w * shares[2],
        }
    }

    #[inline]
    fn point_at(&self, at: DVec2) -> usize {
        let (corners, _) = self.under(at);
        let square = |corner: u32| self.sheet.at(corner).distance_squared(at);
        let nearer = |a: u32, b: u32| if square(b) < square(a) { b } else { a };
        nearer(nearer(corners[0], corners[1]), corners[2]) as usize
    }

    #[inline]
    fn points_in(&self, min: DVec2, max: DVec2, visit: impl FnMut(usize, DVec2)) {
        self.buckets.points_in(&self.sheet, min, max, visit);
    }

    #[inline]
    fn floodplain(&self, point: usize) -> f64 {
        self.sheet.points[point].plain
    }

    #[inline]
    fn softness(&self, settings: &MeanderingRiver, point: usize) -> f64 {
        let own = &self.sheet.points[point];
        if own.soft > MIN_DEPOSIT {
            return f64::from(settings.softness);
        }
        1.0 / own.hardness
    }

    #[inline]
    fn cut_volume(&self, _: &MeanderingRiver, cut: &Cut) -> f64 {
        let points = &self.sheet.points;
        let shape = Shape::new(points, 0, cut.point, self.rings.of(cut.point));
        let (way, sink) = parts(&self.detail, &points[cut.point], cut, shape.slope);
        sink * shape.area - shape.volume_slope().dot(way)
    }

    fn take(&mut self, settings: &MeanderingRiver, cut: &Cut, volume: f64) {
        self.take_all(&Workers::serial(), settings, 1, |_| (*cut, volume));
    }

    fn take_all(
        &mut self,
        workers: &Workers,
        _: &MeanderingRiver,
        count: usize,
        cut: impl Fn(usize) -> (Cut, f64) + Sync,
    ) {
        let around = Surroundings {
            detail: &self.detail,
            land: &self.land,
            rings: &self.rings,
            buckets: &self.buckets,
        };
        let mut drift = 0.0f64;
        // Cuts at the seams of the bands, which come last.
        let mut rest: Vec<usize> = Vec::new();
        if count < MANY_CUTS {
            rest.extend(0..count);
        } else {
            let mut bands: Vec<(Patch, Vec<usize>)> = Vec::new();
            let (mut points, mut shapes) = (&mut self.sheet.points[..], &mut self.shapes[..]);
            for band in self.buckets.bands(BAND) {
                let (own, after) = core::mem::take(&mut points).split_at_mut(band.len());
                points = after;
                let (own_shapes, after) = core::mem::take(&mut shapes).split_at_mut(band.len());
                shapes = after;
                let patch = Patch {
                    first: band.start,
                    points: own,
                    shapes: own_shapes,
                    drift: 0.0,
                };
                bands.push((patch, Vec::new()));
            }
            for i in 0..count {
                let (Cut { point, .. }, volume) = cut(i);
                let band = bands.partition_point(|(patch, _)| patch.first <= point) - 1;
                if volume > 0.0 {
                    bands[band].1.push(i);
                }
            }
            workers.each(&mut bands, |(patch, cuts)| {
                cuts.retain(|&i| {
                    let (cut, volume) = cut(i);
                    let held = patch.holds(&around, cut.point);
                    if held {
                        patch.take(&around, &cut, volume);
                    }
                    !held
                });
            });
            for (patch, cuts) in bands {
                drift = drift.max(patch.drift);
                rest.extend(cuts);
            }
        }
        let mut whole = Patch {
            first: 0,
            points: &mut self.sheet.points,
            shapes: &mut self.shapes,
            drift,
        };
        for i in rest {
            let (cut, volume) = cut(i);
            if volume > 0.0 {
                whole.take(&around, &cut, volume);
            }
        }
        let drift = whole.drift;
        self.buckets.moved(drift);
    }

    #[inline]
    fn room(&self, point: usize, level: f64) -> f64 {
        (level - self.sheet.points[point].height).max(0.0) * self.shapes[point].area
    }

    #[inline]
    fn lay(&mut self, point: usize, volume: f64) {
        let depth = volume / self.shapes[point].area;
        let own = &mut self.sheet.points[point];
        own.height += depth;
        own.soft += depth;
    }

    #[inline]
    fn excess(&self, point: usize, level: f64) -> f64 {
        let excess = (self.sheet.points[point].height - level).max(0.0);
        excess * self.shapes[point].area
    }

    #[inline]
    fn dig(&mut self, point: usize, volume: f64) {
        let depth = volume / self.shapes[point].area;
        let own = &mut self.sheet.points[point];
        own.height -= depth;
        own.soft = (own.soft - depth).max(0.0);
    }

    fn attend(&mut self, workers: &Workers, water: &[WaterParticle], reach: f64) {
        for own in water {
            self.buckets.wet(own.position, reach, own.velocity);
        }
        self.incline(workers, |dry_for| dry_for <= 0.0);
    }

    fn settle(&mut self, workers: &Workers, settings: &MeanderingRiver, dt: f64) {
        let harden = libm::exp(-f64::from(settings.hardening) * dt);
        self.even_out(workers, f64::from(settings.talus), dt, harden);
        self.buckets.wait(dt);
        self.settled = self.settled.wrapping_add(1);
        if self.settled.is_multiple_of(REMESH_EVERY) {
            self.spread_wishes();
            self.refine(workers);
        }
    }

    fn smooth(&mut self, points: &[usize]) {
        let mut wet = vec![false; self.sheet.points.len()];
        for &point in points {
            wet[point] = true;
        }
        let mut gains = Vec::with_capacity(points.len());
        for &point in points {
            let own = &self.sheet.points[point];
            let area = self.shapes[point].area;
            let gain = |&other: &u32| {
                let rise = self.sheet.height(other) - own.height;
                EVEN_OUT * rise * area.min(self.shapes[other as usize].area)
            };
            let ring = self.rings.neighbors(point, own.border).iter();
            let near = ring.filter(|&&other| wet[other as usize]);
            gains.push(near.map(gain).sum::<f64>() / area);
        }
        for (&point, gain) in points.iter().zip(gains) {
            self.sheet.points[point].height += gain;
        }
    }

    fn solids(&self) -> f64 {
        let all = self.sheet.live_triangles();
        all.map(|t| self.sheet.volume(t)).sum()
    }
}
