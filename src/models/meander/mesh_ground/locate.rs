//! Finds what is where: square buckets over the sheet, each with a triangle to
//! start a search from, its points, and when water was last near.

use super::topology::{NONE, Sheet, doubled};
use bevy::math::{DVec2, Vec2Swizzles};
use core::ops::Range;

/// A search that takes longer starts over with all triangles.
const MAX_WALK: usize = 256;

/// Buckets over a rectangle, in rows along its shorter side: so the points of
/// some rows, which follow each other, have few neighbors in others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buckets {
    min: DVec2,
    size: f64,
    inverse: f64,
    /// Rows run along the second coordinate.
    turned: bool,
    columns: usize,
    rows: usize,
    /// A triangle in or near each bucket.
    seeds: Vec<u32>,
    /// First point of each bucket, and one past the last.
    starts: Vec<u32>,
    /// Where each point was when the buckets were filled, and the farthest that
    /// one is from there. units: m
    filed: Vec<DVec2>,
    drift: f64,
    /// Time since water was near. units: s
    pub dry_for: Vec<f64>,
    /// Which way it ran; the length says nothing.
    flow: Vec<DVec2>,
}

impl Buckets {
    /// Buckets of about this size. They grow where there would be too many,
    /// which changes the speed and coarsens where water is seen.
    pub fn new(min: DVec2, max: DVec2, size: f64) -> Self {
        let extent = max - min;
        let size = size.max((extent.x * extent.y / f64::from(1 << 22)).sqrt());
        let turned = extent.x > extent.y;
        let counts = (extent / size).ceil().max(DVec2::ONE);
        let counts = if turned { counts.yx() } else { counts };
        let (columns, rows) = (counts.x as usize, counts.y as usize);
        Self {
            min,
            size,
            inverse: 1.0 / size,
            turned,
            columns,
            rows,
            seeds: vec![NONE; columns * rows],
            starts: vec![0; columns * rows + 1],
            filed: Vec::new(),
            drift: 0.0,
            dry_for: vec![f64::INFINITY; columns * rows],
            flow: vec![DVec2::ZERO; columns * rows],
        }
    }

    #[inline]
    fn place(&self, at: DVec2) -> (usize, usize) {
        let cell = (at - self.min) * self.inverse;
        let cell = if self.turned { cell.yx() } else { cell };
        // `as` takes what lies outside to the border.
        let column = (cell.x as usize).min(self.columns - 1);
        (column, (cell.y as usize).min(self.rows - 1))
    }

    /// The bucket of a place.
    #[inline]
    pub fn of(&self, at: DVec2) -> usize {
        let (column, row) = self.place(at);
        row * self.columns + column
    }

    /// Which way the water runs in each bucket; zero if there was none.
    pub fn flows(&self) -> Vec<DVec2> {
        let flow = self.flow.iter().copied();
        flow.map(DVec2::normalize_or_zero).collect()
    }

    /// Points of so many rows at once.
    pub fn bands(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let start = |row: usize| self.starts[row.min(self.rows) * self.columns] as usize;
        (0..self.rows)
            .step_by(rows)
            .map(move |row| start(row)..start(row + rows))
    }

    /// Records that water is within `reach` of a place, and which way it runs.
    #[inline]
    pub fn wet(&mut self, at: DVec2, reach: f64, velocity: DVec2) {
        let ((x0, y0), (x1, y1)) = (self.place(at - reach), self.place(at + reach));
        for row in y0..=y1 {
            let own = row * self.columns + x0..=row * self.columns + x1;
            self.dry_for[own.clone()].fill(0.0);
            for flow in &mut self.flow[own] {
                *flow += velocity;
            }
        }
    }

    /// Lets time pass since water was near.
    pub fn wait(&mut self, dt: f64) {
        for (dry_for, flow) in self.dry_for.iter_mut().zip(&mut self.flow) {
            *dry_for += dt;
            *flow *= 0.5;
        }
    }

    /// Lets low values of the buckets rise by no more than `grading` for each
    /// metre.
    pub fn spread(&self, values: &mut [f64], grading: f64) {
        // There and back: a distance transform in two sweeps.
        let step = grading * self.size;
        let mut before = Vec::new();
        for row in values.chunks_exact_mut(self.columns) {
            rise(row, &before, step, false);
            before.clear();
            before.extend_from_slice(row);
        }
        before.clear();
        for row in values.chunks_exact_mut(self.columns).rev() {
            rise(row, &before, step, true);
            before.clear();
            before.extend_from_slice(row);
        }
    }

    /// Gives the sheet's points and triangles numbers by bucket, and knows them.
    pub fn fill(&mut self, sheet: &mut Sheet) {
        let count = self.columns * self.rows;
        self.starts = sheet.renumber(count, |at| self.of(at));
        // The point next to the middle knows a triangle there. Where there is
        // no point the last bucket's is not far.
        let mut seed = 0;
        for bucket in 0..count {
            let own = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
            let cell = DVec2::new(
                (bucket % self.columns) as f64,
                (bucket / self.columns) as f64,
            );
            let cell = if self.turned { cell.yx() } else { cell };
            let middle = self.min + (cell + 0.5) * self.size;
            let mut nearest = f64::INFINITY;
            for own in &sheet.points[own] {
                let square = own.at.distance_squared(middle);
                if square < nearest {
                    (nearest, seed) = (square, own.triangle);
                }
            }
            self.seeds[bucket] = seed;
        }
        self.filed.clear();
        self.filed.extend(sheet.points.iter().map(|point| point.at));
        self.drift = 0.0;
    }

    /// How far a point would be at a place from where it was filed. units: m
    #[inline]
    pub fn way_to(&self, point: usize, to: DVec2) -> f64 {
        self.filed[point].distance(to)
    }

    /// Records how far points moved from where they were filed (m).
    pub fn moved(&mut self, drift: f64) {
        self.drift = self.drift.max(drift);
    }

    /// The triangle under a place within the bounds, with its share of each
    /// corner.
    #[inline]
    pub fn locate(&self, sheet: &Sheet, at: DVec2) -> (u32, [f64; 3]) {
        let mut own = self.seeds[self.of(at)];
        for _ in 0..MAX_WALK {
            let [a, b, c] = sheet.places(own);
            let parts = [doubled(b, c, at), doubled(c, a, at), doubled(a, b, at)];
            let mut worst = usize::from(parts[1] < parts[0]);
            if parts[2] < parts[worst] {
                worst = 2;
            }
            let beyond = sheet.triangles[own as usize].across[worst];
            if parts[worst] >= 0.0 || beyond == NONE {
                return (own, shares(parts));
            }
            own = beyond;
        }
        self.nearest(sheet, at)
    }

    /// The triangle that a place is least outside of, by a look at all.
    fn nearest(&self, sheet: &Sheet, at: DVec2) -> (u32, [f64; 3]) {
        let mut best = (f64::NEG_INFINITY, 0, [1.0, 0.0, 0.0]);
        for t in sheet.live_triangles() {
            let [a, b, c] = sheet.places(t);
            let parts = [doubled(b, c, at), doubled(c, a, at), doubled(a, b, at)];
            let least = parts[0].min(parts[1]).min(parts[2]);
            if least > best.0 {
                best = (least, t, shares(parts));
            }
        }
        (best.1, best.2)
    }

    /// Calls `visit` with each point of `min ≤ place < max`.
    #[inline]
    pub fn points_in(
        &self,
        sheet: &Sheet,
        min: DVec2,
        max: DVec2,
        mut visit: impl FnMut(usize, DVec2),
    ) {
        let low = self.place(min - self.drift);
        let high = self.place(max + self.drift);
        for row in low.1..=high.1 {
            let row = row * self.columns;
            let run = self.starts[row + low.0]..self.starts[row + high.0 + 1];
            for p in run.start as usize..run.end as usize {
                let at = sheet.points[p].at;
                if at.cmpge(min).all() && at.cmplt(max).all() {
                    visit(p, at);
                }
            }
        }
    }
}

/// One sweep over a row: no value is more than a step above the one before it
/// or those of the row before, which may be none.
fn rise(row: &mut [f64], before: &[f64], step: f64, back: bool) {
    let diagonal = step * core::f64::consts::SQRT_2;
    for x in 0..before.len() {
        let mut value = row[x].min(before[x] + step);
        if x > 0 {
            value = value.min(before[x - 1] + diagonal);
        }
        if x + 1 < before.len() {
            value = value.min(before[x + 1] + diagonal);
        }
        row[x] = value;
    }
    let mut last = f64::INFINITY;
    let mut along = |value: &mut f64| {
        *value = value.min(last + step);
        last = *value;
    };
    if back {
        row.iter_mut().rev().for_each(&mut along);
    } else {
        row.iter_mut().for_each(&mut along);
    }
}

/// Parts that may lie a bit outside as shares that do not.
#[inline(always)]
fn shares(parts: [f64; 3]) -> [f64; 3] {
    let parts = parts.map(|part| part.max(0.0));
    let sum = parts[0] + parts[1] + parts[2];
    parts.map(|part| part / sum)
}
