//! Measures of a river: its course, its bends and what it moved.

use super::{Ground, MeanderingRiver, WaterParticle, neighbors::Cells};
use bevy::math::DVec2;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links between particles grow up to this many radii where the stream is thin.
const MAX_LINK: f64 = 3.0;

/// What a river cut and laid down so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Cut in all. units: m³
    pub cut: f64,
    /// Of it, on the outer side of bends. units: m³
    pub outer: f64,
    /// Of it, on the inner side of bends. units: m³
    pub inner: f64,
    /// Laid down. units: m³
    pub laid: f64,
}

impl Tally {
    #[inline]
    pub(super) fn count_cut(&mut self, volume: f64, outer: Option<bool>) {
        self.cut += volume;
        match outer {
            Some(true) => self.outer += volume,
            Some(false) => self.inner += volume,
            None => {}
        }
    }
}

/// The way of the water from the first place to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Centerline {
    /// Places along it, about evenly spaced. units: m
    pub points: Vec<DVec2>,
    /// Length of the shortest path through the water. units: m
    pub length: f64,
    /// Straight distance between its ends. units: m
    pub straight: f64,
}

/// The shortest path through the water from the particle next to `from` to the
/// one next to `to`, by links of at most `radius`, longer ones where the water
/// has gaps. Nothing, if there is no such path.
///
/// It knows nothing of the ground: where two reaches come as near as the links
/// are long, it takes the short cut. [`RiverSolver::course`](super::RiverSolver::course)
/// goes round.
pub fn course(water: &[WaterParticle], radius: f64, from: DVec2, to: DVec2) -> Option<Centerline> {
    let net = Net::new(water, MAX_LINK * radius);
    let (start, end) = (net.nearest(from)?, net.nearest(to)?);
    let mut link = radius;
    let path = loop {
        let within = |step: f64| (step <= link).then_some(step);
        let reached = net.spread(start, within, |_, _| true);
        if let Some(path) = reached.path(start, end) {
            break path;
        }
        link *= 1.25;
        if link > MAX_LINK * radius {
            return None;
        }
    };
    Some(net.centerline(&path, radius, |_, _| true))
}

/// The water of a river on its ground, to find its courses in.
pub(super) struct Courses<'a, G> {
    net: Net,
    ground: &'a G,
    settings: &'a MeanderingRiver,
}

impl<'a, G: Ground> Courses<'a, G> {
    pub fn new(water: &[WaterParticle], ground: &'a G, settings: &'a MeanderingRiver) -> Self {
        Self {
            net: Net::new(water, MAX_LINK * f64::from(settings.radius)),
            ground,
            settings,
        }
    }

    /// The way of the water from `from` as far down the land as it goes, round
    /// all land that stands between two reaches.
    pub fn from(&self, from: DVec2) -> Option<Centerline> {
        let Self {
            net,
            ground,
            settings,
        } = self;
        let radius = f64::from(settings.radius);
        let start = net.nearest(from)?;
        // Long links are there for gaps, not for short cuts.
        let cost = |step: f64| {
            let stretch = (step / radius).max(1.0);
            (step <= net.link).then_some(step * stretch * stretch)
        };
        let open = |a: usize, b: usize| {
            let (a, b) = (net.places[a], net.places[b]);
            // So near there is no room for land.
            a.distance(b) < 0.5 * radius || !land_between(*ground, settings, a, b)
        };
        let reached = net.spread(start, cost, open);
        let level = |i: usize| ground.floodplain(ground.point_at(net.places[i]));
        let end = (0..net.places.len())
            .filter(|&i| reached.costs[i].is_finite())
            .map(|i| (level(i), i))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let path = reached.path(start, end.1)?;
        Some(net.centerline(&path, radius, open))
    }
}

/// The place of a straight line that is nearest to another place, and its share
/// of the way along the line.
#[inline]
pub(super) fn foot(from: DVec2, to: DVec2, at: DVec2) -> (DVec2, f64) {
    let way = to - from;
    let share = (at - from).dot(way) / way.length_squared().max(1e-12);
    let share = share.clamp(0.0, 1.0);
    (from + way * share, share)
}

/// Whether land stands between two places: higher than both by a quarter of the
/// banks, and higher than half way up the banks.
fn land_between(ground: &impl Ground, settings: &MeanderingRiver, a: DVec2, b: DVec2) -> bool {
    let bank = settings.bank();
    let height = |at: DVec2| ground.surface(at).height;
    let both = height(a).max(height(b)) + 0.25 * bank;
    let count = (a.distance(b) / (0.2 * f64::from(settings.radius))).ceil();
    (1..count as usize).any(|i| {
        let at = a.lerp(b, i as f64 / count);
        let here = height(at);
        here > both && here > ground.floodplain(ground.point_at(at)) - 0.5 * bank
    })
}

/// Particles that are near each other. They are in the order of their numbers,
/// so that nothing depends on how they are sorted.
struct Net {
    places: Vec<DVec2>,
    link: f64,
    cells: Cells,
    /// Numbers and places by cell.
    sorted: Vec<(u32, DVec2)>,
}

/// What each particle of a net costs to get to, and where from.
struct Reached {
    costs: Vec<f64>,
    before: Vec<usize>,
}

impl Net {
    fn new(water: &[WaterParticle], link: f64) -> Self {
        let mut by_id: Vec<(u64, DVec2)> = water.iter().map(|own| (own.id, own.position)).collect();
        by_id.sort_by_key(|own| own.0);
        let places: Vec<DVec2> = by_id.into_iter().map(|own| own.1).collect();
        let (cells, sorted) = Cells::of(&places, link);
        Self {
            places,
            link,
            cells,
            sorted,
        }
    }

    fn nearest(&self, at: DVec2) -> Option<usize> {
        let square = |i: usize| self.places[i].distance_squared(at);
        (0..self.places.len()).min_by(|a, b| square(*a).total_cmp(&square(*b)))
    }

    /// All particles that may be within a link of here, with their places.
    #[inline]
    fn near(&self, at: DVec2) -> impl Iterator<Item = (usize, DVec2)> {
        let runs = self.cells.around(at).into_iter();
        let near = runs.flat_map(|run| &self.sorted[run]);
        near.map(|&(number, place)| (number as usize, place))
    }

    /// Dijkstra's way.
    fn spread(
        &self,
        start: usize,
        cost: impl Fn(f64) -> Option<f64>,
        open: impl Fn(usize, usize) -> bool,
    ) -> Reached {
        let mut costs = vec![f64::INFINITY; self.places.len()];
        let mut before = vec![usize::MAX; self.places.len()];
        // Bits of a positive number sort like the number.
        let mut front = BinaryHeap::from([Reverse((0u64, start))]);
        costs[start] = 0.0;
        while let Some(Reverse((bits, own))) = front.pop() {
            if bits != costs[own].to_bits() {
                // A cheaper way was found since.
                continue;
            }
            let here = self.places[own];
            for (other, there) in self.near(here) {
                let Some(cost) = cost(here.distance(there)).map(|cost| costs[own] + cost) else {
                    continue;
                };
                if cost < costs[other] && open(own, other) {
                    costs[other] = cost;
                    before[other] = own;
                    front.push(Reverse((cost.to_bits(), other)));
                }
            }
        }
        Reached { costs, before }
    }

    /// The middle of the water along a path.
    fn centerline(
        &self,
        path: &[usize],
        radius: f64,
        open: impl Fn(usize, usize) -> bool,
    ) -> Centerline {
        let at = |i: &usize| self.places[*i];
        let steps = path.windows(2).map(|p| at(&p[0]).distance(at(&p[1])));
        // The path cuts corners; the middle of the water around it does not.
        let middle = |&own: &usize| {
            let here = self.places[own];
            let beside = self.near(here).filter(|(_, at)| at.distance(here) < radius);
            let mut beside: Vec<(usize, DVec2)> = beside.collect();
            // Numbers are added up in an order that the cells do not decide.
            beside.sort_unstable_by_key(|other| other.0);
            beside.retain(|other| open(own, other.0));
            beside.iter().map(|other| other.1).sum::<DVec2>() / beside.len() as f64
        };
        let middles: Vec<DVec2> = path.iter().map(middle).collect();
        Centerline {
            points: smoothed(&spaced(&middles, 0.5 * radius), 3),
            length: steps.sum(),
            straight: match (path.first(), path.last()) {
                (Some(first), Some(last)) => at(first).distance(at(last)),
                _ => 0.0,
            },
        }
    }
}

impl Reached {
    fn path(&self, start: usize, end: usize) -> Option<Vec<usize>> {
        if !self.costs[end].is_finite() {
            return None;
        }
        let mut path = vec![end];
        let mut at = end;
        while at != start {
            at = self.before[at];
            path.push(at);
        }
        path.reverse();
        Some(path)
    }
}

/// Places along a line, this far apart.
pub(super) fn spaced(line: &[DVec2], spacing: f64) -> Vec<DVec2> {
    let mut out: Vec<DVec2> = line.first().copied().into_iter().collect();
    let mut due = spacing;
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        let mut at = due;
        while at <= length {
            out.push(pair[0].lerp(pair[1], at / length));
            at += spacing;
        }
        due = at - length;
    }
    out
}

/// Mean of this many neighbors on either side, fewer at the ends.
fn smoothed(line: &[DVec2], reach: usize) -> Vec<DVec2> {
    let mean = |i: usize| {
        let reach = reach.min(i).min(line.len() - 1 - i);
        let near = &line[i - reach..=i + reach];
        near.iter().sum::<DVec2>() / near.len() as f64
    };
    (0..line.len()).map(mean).collect()
}

impl Centerline {
    /// Length of the river for each metre of its valley: 1 if straight; a
    /// meandering river has 1.5 and more.
    pub fn sinuosity(&self) -> f64 {
        self.length / self.straight.max(1e-9)
    }

    /// Signed curvature at each inner point, positive to the left. units: 1/m
    pub fn curvature(&self) -> Vec<f64> {
        let turns = self.points.windows(3).map(|p| {
            let (a, b) = (p[1] - p[0], p[2] - p[1]);
            let size = (a.length() * b.length()).max(1e-12);
            2.0 * a.perp_dot(b) / size / (a.length() + b.length())
        });
        turns.collect()
    }

    /// The strongest point of each bend: number of the point, and whether it
    /// bends to the left. Bends weaker than half of the usual curvature
    /// count as part of their neighbors.
    pub fn apexes(&self) -> Vec<(usize, bool)> {
        let raw = self.curvature();
        let mean = |i: usize| {
            let reach = 4.min(i).min(raw.len() - 1 - i);
            let near = &raw[i - reach..=i + reach];
            near.iter().sum::<f64>() / near.len() as f64
        };
        let curve: Vec<f64> = (0..raw.len()).map(mean).collect();
        let square: f64 = curve.iter().map(|c| c * c).sum();
        let usual = (square / curve.len().max(1) as f64).sqrt();
        let mut apexes: Vec<(usize, bool)> = Vec::new();
        for (i, c) in curve.iter().enumerate() {
            if c.abs() < 0.5 * usual {
                continue;
            }
            match apexes.last_mut() {
                Some(last) if last.1 == (*c > 0.0) => {
                    if c.abs() > curve[last.0 - 1].abs() {
                        last.0 = i + 1;
                    }
                }
                _ => apexes.push((i + 1, *c > 0.0)),
            }
        }
        apexes
    }

    /// Mean distance along the valley from a bend to the next that turns the
    /// same way. units: m
    pub fn wavelength(&self) -> Option<f64> {
        let apexes = self.apexes();
        let (first, last) = (apexes.first()?, apexes.last()?);
        let bends = apexes.len() as f64 - 1.0;
        let distance = self.points[first.0].distance(self.points[last.0]);
        (bends > 0.0).then(|| 2.0 * distance / bends)
    }
}
