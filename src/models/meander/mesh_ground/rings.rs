//! What stands around each point. Between two changes of the sheet it is kept
//! as plain lists, which are read far faster than triangles are walked.

use super::topology::{Point, Sheet};
use crate::parallel::Workers;
use bevy::math::DVec2;

/// Points of one job; with fewer than some jobs' worth one thread is faster.
pub(super) const BATCH: usize = 4096;

/// The neighbors of each point, counter-clockwise. Each two that follow each
/// other make a triangle with the point: so around an inner point the first
/// comes again at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rings {
    /// First of each point's neighbors, and one past the last.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Rings {
    /// Looks at all points of a sheet without free ones.
    pub fn fill(&mut self, workers: &Workers, sheet: &Sheet) {
        self.starts.clear();
        self.starts.resize(sheet.points.len() + 1, 1);
        self.starts[0] = 0;
        for own in &sheet.triangles {
            for corner in own.corners {
                self.starts[corner as usize + 1] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.others.clear();
        self.others.resize(sum as usize, 0);
        let mut rest = &mut self.others[..];
        let mut jobs = Vec::with_capacity(sheet.points.len().div_ceil(BATCH));
        for first in (0..sheet.points.len()).step_by(BATCH) {
            let end = (first + BATCH).min(sheet.points.len());
            let count = self.starts[end] - self.starts[first];
            let (own, after) = core::mem::take(&mut rest).split_at_mut(count as usize);
            rest = after;
            jobs.push((first..end, own));
        }
        workers.each(jobs, |(points, out)| {
            let mut out = out.iter_mut();
            let mut push = |other: u32| {
                if let Some(slot) = out.next() {
                    *slot = other;
                }
            };
            for p in points {
                let mut last = 0;
                for (t, i) in sheet.around(p as u32) {
                    let corners = sheet.triangles[t as usize].corners;
                    push(corners[(i + 1) % 3]);
                    last = corners[(i + 2) % 3];
                }
                push(last);
            }
        });
    }

    /// The ring of a point.
    #[inline]
    pub fn of(&self, point: usize) -> &[u32] {
        &self.others[self.starts[point] as usize..self.starts[point + 1] as usize]
    }

    /// The neighbors of a point, each once.
    #[inline]
    pub fn neighbors(&self, point: usize, border: bool) -> &[u32] {
        let ring = self.of(point);
        &ring[..ring.len() - usize::from(!border)]
    }
}

/// A point's part of the sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// Mean slope of its triangles, as of the last look. units: m/m
    pub slope: DVec2,
    /// Plan area that it stands for: a third of its triangles. Always up to
    /// date. units: m²
    pub area: f64,
}

impl Shape {
    /// The shape of `points[own]`, whose ring is given in numbers that start
    /// with the `first` of these points.
    #[inline]
    pub fn new(points: &[Point], first: usize, own: usize, ring: &[u32]) -> Self {
        let (at, here) = (points[own].at, points[own].height);
        let side = |other: u32| {
            let other = &points[other as usize - first];
            (other.at - at, other.height - here)
        };
        let (mut b, mut rise_b) = side(ring[0]);
        let (mut sum, mut doubled) = (DVec2::ZERO, 0.0);
        for &other in &ring[1..] {
            let (c, rise_c) = side(other);
            sum += DVec2::new(rise_b * c.y - rise_c * b.y, rise_c * b.x - rise_b * c.x);
            doubled += b.perp_dot(c);
            (b, rise_b) = (c, rise_c);
        }
        Self {
            slope: sum / doubled,
            area: doubled / 6.0,
        }
    }

    /// How the volume changes for each metre that the point is moved, its
    /// height and all else kept. Not for points of the border. units: m²
    #[inline]
    pub fn volume_slope(&self) -> DVec2 {
        self.slope * -self.area
    }
}
