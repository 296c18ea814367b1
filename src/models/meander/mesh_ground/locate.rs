//! Finds what is where: square buckets over the sheet, each with a triangle to
//! start a search from, its points, and when water was last near.

use super::topology::{NONE, Sheet, doubled};
use bevy::math::DVec2;

/// A search that takes longer starts over with all triangles.
const LONGEST_WALK: usize = 256;

/// Buckets over a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buckets {
    min: DVec2,
    size: f64,
    inverse: f64,
    columns: usize,
    rows: usize,
    /// The triangle at the middle of each bucket.
    seeds: Vec<u32>,
    /// First of each bucket's points, and one past the last.
    starts: Vec<u32>,
    points: Vec<u32>,
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
        let columns = (extent.x / size).ceil().max(1.0) as usize;
        let rows = (extent.y / size).ceil().max(1.0) as usize;
        Self {
            min,
            size,
            inverse: 1.0 / size,
            columns,
            rows,
            seeds: vec![NONE; columns * rows],
            starts: vec![0; columns * rows + 1],
            points: Vec::new(),
            filed: Vec::new(),
            drift: 0.0,
            dry_for: vec![f64::INFINITY; columns * rows],
            flow: vec![DVec2::ZERO; columns * rows],
        }
    }

    fn place(&self, at: DVec2) -> (usize, usize) {
        let cell = (at - self.min) * self.inverse;
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

    /// Which way the water runs here; zero if there is none.
    pub fn flow(&self, at: DVec2) -> DVec2 {
        self.flow[self.of(at)].normalize_or_zero()
    }

    /// Calls `visit` with each bucket that a rectangle touches.
    fn each_in(&self, min: DVec2, max: DVec2, mut visit: impl FnMut(usize)) {
        let ((x0, y0), (x1, y1)) = (self.place(min), self.place(max));
        for row in y0..=y1 {
            for column in x0..=x1 {
                visit(row * self.columns + column);
            }
        }
    }

    /// Notes that water is within `reach` of a place, and which way it runs.
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
        let (columns, step) = (self.columns, grading * self.size);
        let diagonal = step * core::f64::consts::SQRT_2;
        // There and back: a distance transform in two sweeps.
        let mut sweep = |bucket: usize, back: bool| {
            let (x, y) = (bucket % columns, bucket / columns);
            let side = |ahead: isize| x.checked_add_signed(ahead).filter(|&x| x < columns);
            let row = if back { y + 1 } else { y.wrapping_sub(1) };
            let mut value = values[bucket];
            if let Some(x) = side(if back { 1 } else { -1 }) {
                value = value.min(values[y * columns + x] + step);
            }
            if row < self.rows {
                value = value.min(values[row * columns + x] + step);
                for x in [side(-1), side(1)].into_iter().flatten() {
                    value = value.min(values[row * columns + x] + diagonal);
                }
            }
            values[bucket] = value;
        };
        let count = self.columns * self.rows;
        (0..count).for_each(|bucket| sweep(bucket, false));
        (0..count).rev().for_each(|bucket| sweep(bucket, true));
    }

    /// Fills the buckets anew, after triangles came or went.
    pub fn fill(&mut self, sheet: &Sheet) {
        let middle_of = |i: usize| {
            let cell = DVec2::new((i % self.columns) as f64, (i / self.columns) as f64);
            self.min + (cell + 0.5) * self.size
        };
        for t in sheet.live_triangles() {
            let [a, b, c] = sheet.places(t);
            let half = 0.5 * self.size;
            let (low, high) = (a.min(b).min(c) - half, a.max(b).max(c) - half);
            let ((x0, y0), (x1, y1)) = (self.place(low), self.place(high));
            for row in y0..=y1 {
                for column in x0..=x1 {
                    let bucket = row * self.columns + column;
                    let at = middle_of(bucket);
                    let within =
                        |a: DVec2, b: DVec2| doubled(a, b, at) >= -1e-9 * self.size * self.size;
                    if within(a, b) && within(b, c) && within(c, a) {
                        self.seeds[bucket] = t;
                    }
                }
            }
        }
        self.starts.fill(0);
        for p in sheet.live_points() {
            let bucket = self.of(sheet.at(p));
            self.starts[bucket] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.points.clear();
        self.points.resize(sum as usize, NONE);
        for p in sheet.live_points() {
            let bucket = self.of(sheet.at(p));
            self.starts[bucket] -= 1;
            self.points[self.starts[bucket] as usize] = p;
        }
        self.filed.clear();
        self.filed.extend(sheet.points.iter().map(|point| point.at));
        self.drift = 0.0;
    }

    /// Notes that a point went to another place.
    pub fn moved(&mut self, point: usize, to: DVec2) {
        self.drift = self.drift.max(self.filed[point].distance(to));
    }

    /// The triangle under a place within the bounds, with its share of each
    /// corner.
    #[inline]
    pub fn locate(&self, sheet: &Sheet, at: DVec2) -> (u32, [f64; 3]) {
        let mut own = self.seeds[self.of(at)];
        // A middle beyond the border, or rounding, leaves a bucket without.
        if own == NONE || sheet.triangles[own as usize].is_free() {
            own = self.any(sheet);
        }
        for _ in 0..LONGEST_WALK {
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

    fn any(&self, sheet: &Sheet) -> u32 {
        let seed = self.seeds.iter().copied();
        let live = |t: &u32| *t != NONE && !sheet.triangles[*t as usize].is_free();
        seed.into_iter().find(live).unwrap_or_else(|| {
            let first = sheet.live_triangles().next();
            first.unwrap_or(0)
        })
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
    pub fn points_in(
        &self,
        sheet: &Sheet,
        min: DVec2,
        max: DVec2,
        mut visit: impl FnMut(usize, DVec2),
    ) {
        self.each_in(min - self.drift, max + self.drift, |bucket| {
            let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
            for &p in &self.points[range] {
                let at = sheet.at(p);
                if at.cmpge(min).all() && at.cmplt(max).all() {
                    visit(p as usize, at);
                }
            }
        });
    }
}

/// Parts that may lie a bit outside as shares that do not.
#[inline(always)]
fn shares(parts: [f64; 3]) -> [f64; 3] {
    let parts = parts.map(|part| part.max(0.0));
    let sum = parts[0] + parts[1] + parts[2];
    parts.map(|part| part / sum)
}
