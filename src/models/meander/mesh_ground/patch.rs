//! A run of points that is cut by itself. Points that follow each other lie
//! near each other, so most have all their neighbors in the same run: runs are
//! cut at once, and what is left at their seams comes after.

use super::{
    super::Cut,
    MeshDetail,
    land::Land,
    locate::Buckets,
    remesh::MIN_AREA,
    rings::{Rings, Shape},
    topology::{Point, doubled},
};
use bevy::math::DVec2;

/// A cut moves a point by this share of a fine edge at most.
const MAX_MOVE: f64 = 0.5;

/// What stays as it is while points are cut.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub detail: &'a MeshDetail,
    pub land: &'a Land,
    pub rings: &'a Rings,
    pub buckets: &'a Buckets,
}

/// Points and their shapes, from number `first` on.
pub(super) struct Patch<'a> {
    pub first: usize,
    pub points: &'a mut [Point],
    pub shapes: &'a mut [Shape],
    /// The farthest that a point is from where it was filed. units: m
    pub drift: f64,
}

/// How far a cut moves its point, straight up the slope, and how much it sinks.
/// units: m
#[inline]
pub(super) fn parts(detail: &MeshDetail, own: &Point, cut: &Cut, slope: DVec2) -> (DVec2, f64) {
    let sink = cut.down.min((own.height - cut.floor).max(0.0));
    let steepness = slope.length();
    // Points of the border stay.
    if own.border || steepness <= 0.0 {
        return (DVec2::ZERO, sink);
    }
    // Along the slope a move takes nothing, and only bunches up points.
    let uphill = slope / steepness;
    let along = cut.sideways.perp_dot(uphill).abs();
    let way = cut.sideways.dot(uphill) + detail.side_wear * along;
    let way = way.clamp(0.0, MAX_MOVE * detail.fine);
    (uphill * way, sink)
}

impl Patch<'_> {
    /// Whether it holds a point and all around it.
    #[inline]
    pub fn holds(&self, around: &Surroundings, point: usize) -> bool {
        let own = self.first..self.first + self.points.len();
        let inside = |other: &u32| own.contains(&(*other as usize));
        own.contains(&point) && around.rings.of(point).iter().all(inside)
    }

    /// Takes this much of a cut of a point that it holds. units: m³
    pub fn take(&mut self, around: &Surroundings, cut: &Cut, volume: f64) {
        let p = cut.point - self.first;
        let ring = around.rings.of(cut.point);
        let shape = Shape::new(self.points, self.first, p, ring);
        let (mut way, sink) = parts(around.detail, &self.points[p], cut, shape.slope);
        let mut rest = volume;
        if way != DVec2::ZERO {
            let slope = shape.volume_slope();
            way *= (volume / (sink * shape.area - slope.dot(way))).min(1.0);
            way *= self.free_share(around.detail, p, ring, way);
            let taken = -slope.dot(way);
            self.shift(p, ring, way);
            let own = &mut self.points[p];
            self.drift = self.drift.max(around.buckets.way_to(cut.point, own.at));
            around.land.measure(own);
            own.soft = (own.soft - taken / shape.area).max(0.0);
            rest -= taken;
        }
        // Its own area is that of the ring, wherever it moved.
        let most = (self.points[p].height - cut.floor).max(0.0) * shape.area;
        self.lower(p, shape.area, rest.min(most));
        if rest > most {
            // It cannot move and must not sink: the bank above it caves in.
            let highest = ring.iter().fold(p, |best, &other| {
                let other = other as usize - self.first;
                if self.points[other].height > self.points[best].height {
                    other
                } else {
                    best
                }
            });
            self.lower(highest, self.shapes[highest].area, rest - most);
        }
    }

    /// The largest share of a move that turns no triangle over.
    fn free_share(&self, detail: &MeshDetail, p: usize, ring: &[u32], way: DVec2) -> f64 {
        let least = 2.0 * MIN_AREA * detail.fine * detail.fine;
        let at = self.points[p].at;
        let place = |other: u32| self.points[other as usize - self.first].at;
        let (mut share, mut b) = (1.0f64, place(ring[0]));
        for &other in &ring[1..] {
            let c = place(other);
            let (before, after) = (doubled(at, b, c), doubled(at + way, b, c));
            if after < least && after < before {
                share = share.min(((before - least) / (before - after)).max(0.0));
            }
            b = c;
        }
        share
    }

    /// Moves a point; its neighbors gain and lose area.
    fn shift(&mut self, p: usize, ring: &[u32], way: DVec2) {
        let at = self.points[p].at;
        self.points[p].at = at + way;
        let (mut b, mut from) = (usize::MAX, DVec2::ZERO);
        for &other in ring {
            let c = other as usize - self.first;
            let to = self.points[c].at;
            if b != usize::MAX {
                let gain = (doubled(at + way, from, to) - doubled(at, from, to)) / 6.0;
                self.shapes[b].area += gain;
                self.shapes[c].area += gain;
            }
            (b, from) = (c, to);
        }
    }

    #[inline]
    fn lower(&mut self, p: usize, area: f64, volume: f64) {
        let depth = volume / area;
        let own = &mut self.points[p];
        own.height -= depth;
        own.soft = (own.soft - depth).max(0.0);
    }
}
