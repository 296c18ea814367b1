//! What banks do by themselves: they cave in where they are too steep, and lose
//! their kinks. All goes from point to point along edges, so volume is kept.

use super::{
    EVEN_OUT, MeshGround,
    rings::{BATCH, Shape},
    topology::Point,
};
use crate::parallel::Workers;

/// Share of the height beyond the talus that slides down an edge at once.
const SLIDE: f64 = 0.3;
/// Edges that run less along the stream are left out: square of the cosine.
const MIN_ALONG: f64 = 0.5;

/// What a point gains and loses by what its neighbors and it exchange. units: m
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Exchange {
    /// What creeps to it, or from it below zero.
    crept: f64,
    /// What slides to it and from it.
    gained: f64,
    lost: f64,
}

impl MeshGround {
    /// Evens the ground out along the stream, never across: banks lose their
    /// kinks and the bed its bumps, cross-sections stay. And lets what is too
    /// steep near the water slide. Deposits keep this share of their softness.
    pub(super) fn even_out(&mut self, workers: &Workers, talus: f64, dt: f64, harden: f64) {
        let (rate, fine) = (self.detail.smoothing * dt, self.detail.fine);
        let flows = self.buckets.flows();
        let Self {
            sheet,
            shapes,
            rings,
            buckets,
            wanted,
            exchanges,
            ..
        } = self;
        let points = &sheet.points[..];
        let above = |own: &Point| own.height - own.plain;
        // Both ends of an edge find the same, to the last bit but the sign.
        let exchange = |p: usize| {
            let (own, Shape { area, .. }) = (&points[p], shapes[p]);
            let mut sum = Exchange::default();
            for &other in rings.neighbors(p, own.border) {
                let (other, other_area) = (&points[other as usize], shapes[other as usize].area);
                let edge = other.at - own.at;
                let square = edge.length_squared();
                let flow = flows[buckets.of((own.at + other.at) * 0.5)];
                let along = flow.dot(edge) * flow.dot(edge) / square;
                if along >= MIN_ALONG {
                    let share = (rate * along * along / square).min(EVEN_OUT);
                    let volume = share * (above(other) - above(own)) * area.min(other_area);
                    sum.crept += volume / area;
                }
                let drop = own.height - other.height;
                if drop * drop <= talus * talus * square {
                    continue;
                }
                let high = if drop > 0.0 { own.at } else { other.at };
                if wanted[buckets.of(high)] > fine {
                    continue;
                }
                let excess = drop.abs() - talus * square.sqrt();
                let volume = SLIDE * excess * (area * other_area) / (area + other_area);
                if drop > 0.0 {
                    sum.lost += volume / area;
                } else {
                    sum.gained += volume / area;
                }
            }
            sum
        };
        exchanges.clear();
        exchanges.resize(points.len(), Exchange::default());
        workers.each(exchanges.chunks_mut(BATCH).enumerate(), |(i, out)| {
            for (p, out) in (i * BATCH..).zip(out) {
                *out = exchange(p);
            }
        });
        for (own, exchange) in sheet.points.iter_mut().zip(exchanges) {
            own.height += exchange.crept + (exchange.gained - exchange.lost);
            own.soft = (own.soft * harden - exchange.lost).max(0.0) + exchange.gained;
        }
    }
}
