//! What banks do by themselves: they cave in where they are too steep, and lose
//! their kinks. All goes from point to point along edges, so volume is kept.

use super::{EVEN_OUT, MeshGround};

/// Share of the height beyond the talus that slides down an edge at once.
const SLIDE: f64 = 0.3;
/// Edges that run less along the stream are left out: square of the cosine.
const LEAST_ALONG: f64 = 0.5;

impl MeshGround {
    /// Evens the ground out along the stream, never across: banks lose their
    /// kinks and the bed its bumps, cross-sections stay.
    pub(super) fn creep(&mut self, dt: f64) {
        let rate = self.detail.creep * dt;
        for t in 0..self.sheet.triangles.len() as u32 {
            let own = self.sheet.triangles[t as usize];
            if own.is_free() {
                continue;
            }
            for i in 0..3 {
                // Each inner edge from one side.
                if own.across[i] < t {
                    continue;
                }
                let (a, b) = (own.corners[(i + 1) % 3], own.corners[(i + 2) % 3]);
                let (from, to) = (self.sheet.at(a), self.sheet.at(b));
                let square = from.distance_squared(to);
                let flow = self.buckets.flow((from + to) * 0.5);
                let along = flow.dot(to - from).powi(2) / square;
                if along < LEAST_ALONG {
                    continue;
                }
                let above = |p: u32| {
                    let own = &self.sheet.points[p as usize];
                    own.height - own.plain
                };
                let (one, two) = (self.sheet.area(a), self.sheet.area(b));
                let share = (rate * along * along / square).min(EVEN_OUT);
                let volume = share * (above(b) - above(a)) * one.min(two);
                self.sheet.points[a as usize].height += volume / one;
                self.sheet.points[b as usize].height -= volume / two;
            }
        }
    }

    /// Lets what is too steep slide along the edges near the water.
    pub(super) fn slide(&mut self, talus: f64) {
        for t in 0..self.sheet.triangles.len() as u32 {
            let own = self.sheet.triangles[t as usize];
            if own.is_free() {
                continue;
            }
            for i in 0..3 {
                // Each inner edge from one side.
                if own.across[i] < t {
                    continue;
                }
                let (mut high, mut low) = (own.corners[(i + 1) % 3], own.corners[(i + 2) % 3]);
                if self.sheet.height(high) < self.sheet.height(low) {
                    core::mem::swap(&mut high, &mut low);
                }
                let drop = self.sheet.height(high) - self.sheet.height(low);
                let (from, to) = (self.sheet.at(high), self.sheet.at(low));
                if drop * drop <= talus * talus * from.distance_squared(to)
                    || self.wanted[self.buckets.of(from)] > self.detail.fine
                {
                    continue;
                }
                let excess = drop - talus * from.distance(to);
                let (one, two) = (self.sheet.area(high), self.sheet.area(low));
                let volume = SLIDE * excess * one * two / (one + two);
                let upper = &mut self.sheet.points[high as usize];
                upper.height -= volume / one;
                upper.soft = (upper.soft - volume / one).max(0.0);
                let lower = &mut self.sheet.points[low as usize];
                lower.height += volume / two;
                lower.soft += volume / two;
            }
        }
    }
}
