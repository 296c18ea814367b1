//! Oxbow lakes: what is left of a bend that the river has cut off.
//!
//! A lake is still water. It lies along the old channel, between two plugs, at
//! the level that its volume fills. It has no particles: its water is counted in
//! whole particles, so that the water ledger stays exact.

use super::{Ground, MeanderingRiver, WaterParticle, kernels::whole, measure::foot};
use bevy::math::DVec2;

/// How far a lake may reach from the line of the old channel, of the radius.
const REACH: f64 = 1.6;
/// Halvings of an interval that find a level or a length.
const HALVINGS: u32 = 48;
/// Slope of a plug's two ends. units: m/m
pub(super) const PLUG_SLOPE: f64 = 0.8;
/// Looks at the ground between two particles that a river drains from a lake.
pub(super) const DRAIN_EVERY: u64 = 2;
/// How far off the middle of the stream a lake's water comes in, of the way to
/// the lake: so no two lakes let it in at the same place.
pub(super) const TOWARDS_LAKE: f64 = 0.05;

/// Still water in a bend that was cut off.
#[derive(Clone, Debug, PartialEq)]
pub struct OxbowLake {
    /// Number of the lake.
    pub id: u64,
    /// Places along the middle of the old channel. units: m
    pub line: Vec<DVec2>,
    /// How far from that line its water may lie. units: m
    pub reach: f64,
    /// Level of its water. units: m
    pub level: f64,
    /// Level at which it is full. units: m
    pub brim: f64,
    /// Its water, in particles of the river.
    pub particles: u64,
    /// Where it runs off into the river now, if it does. units: m
    pub outlet: Option<DVec2>,
    /// Whether the river has come to it again: then it is drained.
    pub opened: bool,
}

impl OxbowLake {
    /// A lake along an old channel, without its level yet.
    pub(super) fn new(
        settings: &MeanderingRiver,
        ground: &impl Ground,
        id: u64,
        line: Vec<DVec2>,
        particles: u64,
    ) -> Self {
        let levels = line
            .iter()
            .map(|at| ground.floodplain(ground.point_at(*at)));
        let brim = levels.fold(f64::INFINITY, f64::min);
        let mut lake = Self {
            id,
            line,
            reach: REACH * f64::from(settings.radius),
            level: brim,
            brim,
            particles,
            outlet: None,
            opened: false,
        };
        lake.find_level(settings, ground);
        lake
    }

    /// Whether a place is within its reach. Where the ground there is lower
    /// than its level, it is under water.
    #[inline]
    pub fn holds(&self, at: DVec2) -> bool {
        distance(&self.line, at) <= self.reach
    }

    /// Points of the ground under its water, with their places (m), in no
    /// particular order.
    pub fn points(&self, ground: &impl Ground) -> Vec<(usize, DVec2)> {
        let mut points = self.points_in_reach(ground);
        points.retain(|&(point, _)| ground.room(point, self.level) > 0.0);
        points
    }

    fn points_in_reach(&self, ground: &impl Ground) -> Vec<(usize, DVec2)> {
        let (mut min, mut max) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for at in &self.line {
            (min, max) = (min.min(*at), max.max(*at));
        }
        let mut points = Vec::new();
        ground.points_in(min - self.reach, max + self.reach, |point, at| {
            if self.holds(at) {
                points.push((point, at));
            }
        });
        points
    }

    /// Sets its level to what its water fills, at most to the brim. Returns
    /// whether it is full.
    pub(super) fn find_level(&mut self, settings: &MeanderingRiver, ground: &impl Ground) -> bool {
        let points = self.points_in_reach(ground);
        let volume = self.particles as f64 * f64::from(settings.particle_volume);
        // In thousands, for these sums are large; see `whole`.
        let fits = |level: f64| {
            let rooms = points.iter().map(|own| ground.room(own.0, level));
            rooms.map(|room| whole(1e-3 * room)).sum::<f64>() <= 1e-3 * volume
        };
        if fits(self.brim) {
            self.level = self.brim;
            return true;
        }
        let lowest = self.line.iter().map(|at| ground.surface(*at).height);
        let mut low = lowest.fold(self.brim, f64::min) - settings.bank();
        let mut high = self.brim;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.level = low;
        false
    }

    /// Whether a particle has come to rest in it.
    pub(super) fn catches(
        &self,
        settings: &MeanderingRiver,
        ground: &impl Ground,
        own: &WaterParticle,
    ) -> bool {
        own.velocity.length() < f64::from(settings.threshold)
            && self.holds(own.position)
            && ground.surface(own.position).height < self.level
    }

    /// Where the river has come so near that no land above the lake's level is
    /// between them.
    pub(super) fn opening(
        &self,
        settings: &MeanderingRiver,
        ground: &impl Ground,
        course: &[DVec2],
    ) -> Option<DVec2> {
        let near = f64::from(settings.radius);
        let (at, own) = self.nearest_on(course)?;
        let way = at.distance(own);
        let count = (way / (0.2 * near)).ceil().max(1.0);
        let mut along = (0..=count as usize).map(|i| at.lerp(own, i as f64 / count));
        let open = way < near + self.reach && along.all(|p| ground.surface(p).height < self.level);
        open.then_some(at.lerp(own, TOWARDS_LAKE))
    }

    /// The place of a course that is nearest to the lake, and the lake's place.
    pub(super) fn nearest_on(&self, course: &[DVec2]) -> Option<(DVec2, DVec2)> {
        let pairs = course
            .iter()
            .flat_map(|at| self.line.iter().map(move |own| (*at, *own)));
        let square = |pair: &(DVec2, DVec2)| pair.0.distance_squared(pair.1);
        pairs.min_by(|a, b| square(a).total_cmp(&square(b)))
    }
}

/// Distance of a place from a line of places. units: m
#[inline]
fn distance(line: &[DVec2], at: DVec2) -> f64 {
    let first = line
        .first()
        .map_or(f64::INFINITY, |p| p.distance_squared(at));
    let to_part = |part: &[DVec2]| foot(part[0], part[1], at).0.distance_squared(at);
    line.windows(2).map(to_part).fold(first, f64::min).sqrt()
}

/// Distance of a place from the nearest of some places. units: m
#[inline]
pub(super) fn away(places: &[DVec2], at: DVec2) -> f64 {
    let squares = places.iter().map(|own| own.distance_squared(at));
    squares.fold(f64::INFINITY, f64::min).sqrt()
}

/// A mouth of an old bend that is filled with deposit up to the floodplain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plug {
    /// Its middle, and the direction of the old channel there.
    pub at: DVec2,
    pub along: DVec2,
    /// Places of the river nearby, which stay open.
    pub river: Vec<DVec2>,
}

impl Plug {
    /// Fills two mouths with at most this much, their crests as long as it goes.
    /// Returns what was laid, and whether they are full. units: m³
    pub fn fill(
        plugs: &[Self],
        settings: &MeanderingRiver,
        ground: &mut impl Ground,
        stock: f64,
    ) -> (f64, bool) {
        let full = 0.5 * settings.plug_length();
        let points: Vec<(usize, f64)> = plugs
            .iter()
            .flat_map(|plug| plug.points(settings, ground))
            .collect();
        let all = room(ground, &points, full);
        let least = room(ground, &points, 0.0);
        let (mut half, mut share) = (full, 1.0);
        if least > stock {
            // A bit less, so that rounding cannot take more than there is.
            (half, share) = (0.0, (1.0 - 1e-9) * stock / least);
        } else if all > stock {
            let mut high = full;
            half = 0.0;
            for _ in 0..HALVINGS {
                let middle = 0.5 * (half + high);
                if room(ground, &points, middle) <= stock {
                    half = middle;
                } else {
                    high = middle;
                }
            }
        }
        let mut laid = 0.0;
        for &own in &points {
            let volume = whole(room_at(ground, own, half) * share);
            if volume > 0.0 {
                ground.lay(own.0, volume);
                laid += volume;
            }
        }
        (laid, all <= stock)
    }

    /// Its points, each with its distance from the middle along the channel.
    fn points(&self, settings: &MeanderingRiver, ground: &impl Ground) -> Vec<(usize, f64)> {
        let radius = f64::from(settings.radius);
        let long = 0.5 * settings.plug_length() + settings.bank() / PLUG_SLOPE;
        let wide = REACH * radius;
        let reach = long + wide;
        let mut points = Vec::new();
        ground.points_in(self.at - reach, self.at + reach, |point, at| {
            let off = (at - self.at).dot(self.along).abs();
            let across = (at - self.at).perp_dot(self.along).abs();
            if off < long && across < wide && away(&self.river, at) > radius {
                points.push((point, off));
            }
        });
        points
    }

    /// Whether the river runs there again.
    pub fn is_washed_out(&self, settings: &MeanderingRiver, course: &[DVec2]) -> bool {
        away(course, self.at) < 0.5 * f64::from(settings.radius)
    }
}

/// Room at a point of a plug whose crest is twice as long. units: m³
#[inline]
fn room_at(ground: &impl Ground, (point, off): (usize, f64), half: f64) -> f64 {
    let level = ground.floodplain(point) - PLUG_SLOPE * (off - half).max(0.0);
    whole(ground.room(point, level))
}

fn room(ground: &impl Ground, points: &[(usize, f64)], half: f64) -> f64 {
    points.iter().map(|own| room_at(ground, *own, half)).sum()
}
