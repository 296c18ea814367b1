//! Sediment in transport: particles of its own, beside the water's.

use super::{
    Cut, Ground, MeanderingRiver,
    grade::Grade,
    kernels::{Kernels, left, whole},
    neighbors::Cells,
    solver::bed_at,
    water::{Felt, Water, each_batch},
};
use crate::parallel::Workers;
use bevy::math::DVec2;

/// How near a particle must stay to the water, of the water's radius.
const CONFINED: f64 = 0.99;
/// The edge of a stream is at least so far from its middle, of the radius.
const EDGE: f64 = 0.5;
/// New particles start so much of the way to the middle of the water: off the
/// ground's points, where a grid has a kink and no slope of its own.
const INTO_WATER: f64 = 0.05;
/// Under the main flow only hollows are filled that are deeper than this below
/// the bed, of the depth.
const HOLLOW: f64 = 1.0 / 16.0;
/// So near to the course is the middle of the channel, of the radius: with water
/// in it, and when it ran dry.
const OPEN_CHANNEL: f64 = 0.4;
const DRY_CHANNEL: f64 = 0.8;
/// Speed of sediment that lost the water and found no room, of that below which
/// it settles.
const CREEP: f64 = 0.2;
/// Crumbs smaller than this share of the capacity settle as a whole.
const CRUMB: f64 = 1e-3;

/// A particle of sediment in transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SedimentParticle {
    /// Place on the ground plane. units: m
    pub position: DVec2,
    /// Velocity on the ground plane. units: m/s
    pub velocity: DVec2,
    /// Solids it carries. units: m³
    pub volume: f64,
    /// Time since it was taken up. units: s
    pub age: f64,
    /// Number of the particle.
    pub id: u64,
    /// Kernel sum of the water here; zero when it lost the water.
    pub(super) amount: f64,
    /// Distance from the center of the water in reach. units: m
    pub(super) off_center: f64,
}

/// A cut that looks for someone to carry it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub cut: Cut,
    pub volume: f64,
    pub at: DVec2,
    /// Whether it lies on the outer side of a bend, or on the inner one.
    pub outer: Option<bool>,
}

/// A deposit that looks for room.
#[derive(Clone, Copy, Debug)]
struct Settling {
    point: usize,
    /// Number of its particle in the sorted list.
    slot: usize,
    volume: f64,
    /// Level up to which it may lie. units: m
    level: f64,
}

/// All sediment of a river.
#[derive(Clone, Debug)]
pub(super) struct Sediment {
    pub particles: Vec<SedimentParticle>,
    cells: Cells,
    scratch: Vec<SedimentParticle>,
    pub next_id: u64,
}

impl Sediment {
    pub fn new(bounds: (DVec2, DVec2), radius: f64) -> Self {
        Self {
            particles: Vec::new(),
            cells: Cells::new(bounds, radius),
            scratch: Vec::new(),
            next_id: 0,
        }
    }

    /// Takes on new cells and keeps what is carried.
    pub fn with_cells(&mut self, bounds: (DVec2, DVec2), radius: f64) {
        self.cells = Cells::new(bounds, radius);
    }

    pub fn carried(&self) -> f64 {
        self.particles.iter().map(|p| p.volume).sum()
    }

    pub fn sort(&mut self) {
        self.cells
            .sort(&mut self.particles, &mut self.scratch, |p| p.position);
    }

    /// A new particle in the water.
    #[inline]
    pub fn add(&mut self, position: DVec2, volume: f64, felt: &Felt) {
        self.particles.push(SedimentParticle {
            position,
            velocity: felt.velocity,
            volume,
            age: 0.0,
            id: self.next_id,
            amount: felt.amount,
            off_center: felt.center.length(),
        });
        self.next_id += 1;
    }

    /// Moves with the water, towards inner banks, and never far from it.
    pub fn advance(
        &mut self,
        workers: &Workers,
        settings: &MeanderingRiver,
        k: &Kernels,
        water: &Water,
        ground: &impl Ground,
        dt: f64,
    ) {
        let follow = f64::from(settings.follow);
        let attraction = f64::from(settings.attraction);
        let gravity = f64::from(settings.gravity);
        let creep = CREEP * f64::from(settings.settling_speed);
        let farthest = CONFINED * k.radius;
        each_batch(workers, &self.particles, &mut self.scratch, |own| {
            let Some((felt, nearest)) = water.near(k, own.position) else {
                // What found no room yet creeps down to where there is some. If
                // it were heaped up here it would fall into the channel as a dam.
                let slope = ground.surface(own.position).slope;
                let velocity = slope.normalize_or_zero() * -creep;
                return SedimentParticle {
                    position: own.position + velocity * dt,
                    velocity,
                    amount: 0.0,
                    age: own.age + dt,
                    ..*own
                };
            };
            // Left of the water's way times a left bend: to the inner bank. As
            // long as the water is fast.
            let inward = left(felt.velocity) * settings.bend(felt.curve);
            let slope = ground.surface(own.position).slope;
            let push = felt.velocity * follow + inward * attraction - slope * gravity;
            let velocity = (own.velocity + push * dt) / (1.0 + follow * dt);
            let mut position = own.position + velocity * dt;
            let nearest = own.position + nearest;
            let away = position - nearest;
            let distance = away.length();
            if distance > farthest {
                position = nearest + away * (farthest / distance);
            }
            SedimentParticle {
                position,
                velocity,
                age: own.age + dt,
                amount: felt.amount,
                off_center: felt.center.length(),
                ..*own
            }
        });
        core::mem::swap(&mut self.particles, &mut self.scratch);
    }

    /// Finds a carrier for each cut and returns how much it takes, in the order
    /// of the cuts. Cuts far from any sediment start a particle in the water that
    /// is felt there. The particles must be sorted.
    pub fn take_up(
        &mut self,
        workers: &Workers,
        settings: &MeanderingRiver,
        wanted: &[Wanted],
        felt: impl Fn(DVec2) -> Option<Felt>,
    ) -> Vec<f64> {
        let capacity = f64::from(settings.capacity);
        let reach = f64::from(settings.reach.min(settings.radius));
        let mut carriers: Vec<Option<usize>> = Vec::new();
        each_batch(workers, wanted, &mut carriers, |wanted| {
            self.nearest(wanted.at, reach * reach, |_| true)
        });
        let mut demands = vec![0.0; self.particles.len()];
        for (wanted, carrier) in wanted.iter().zip(&carriers) {
            if let Some(slot) = carrier {
                demands[*slot] += whole(wanted.volume);
            }
        }
        let shares: Vec<f64> = demands
            .iter()
            .zip(&self.particles)
            .map(|(demand, own)| ((capacity - own.volume).max(0.0) / demand).min(1.0))
            .collect();
        let mut granted = Vec::with_capacity(wanted.len());
        for (wanted, carrier) in wanted.iter().zip(carriers) {
            let volume = match carrier {
                Some(slot) => {
                    let volume = whole(whole(wanted.volume) * shares[slot]);
                    self.particles[slot].volume += volume;
                    volume
                }
                None => {
                    let volume = whole(wanted.volume.min(capacity));
                    if volume > 0.0 {
                        // There is water, or there would be no cut.
                        let felt = felt(wanted.at).unwrap_or_default();
                        self.add(wanted.at + felt.center * INTO_WATER, volume, &felt);
                    }
                    volume
                }
            };
            granted.push(volume);
        }
        granted
    }

    /// The nearest particle below this squared distance. Two as near are told
    /// apart by what a mirror keeps; cuts and new particles share the ground's
    /// points, so that happens. None where that does not help: on the axis of a
    /// mirror.
    #[inline]
    fn nearest(
        &self,
        at: DVec2,
        within: f64,
        fits: impl Fn(&SedimentParticle) -> bool,
    ) -> Option<usize> {
        let mut best: Option<((f64, f64, f64), u64, usize)> = None;
        let mut tied = false;
        for run in self.cells.around(at) {
            for slot in run {
                let own = &self.particles[slot];
                let square = own.position.distance_squared(at);
                if square >= within {
                    continue;
                }
                let key = (square, own.position.x, own.position.y.abs());
                let before = best.map(|(key, id, _)| (key, id));
                if before.is_none_or(|before| (key, own.id) < before) && fits(own) {
                    tied = before.is_some_and(|before| before.0 == key);
                    best = Some((key, own.id, slot));
                } else if before.is_some_and(|before| before.0 == key) && fits(own) {
                    tied = true;
                }
            }
        }
        best.filter(|_| !tied).map(|(_, _, slot)| slot)
    }

    /// Lays down what is slow, old, crowded or out of the water, where it may.
    /// Returns the volume. The particles must be sorted.
    pub fn settle(
        &mut self,
        workers: &Workers,
        settings: &MeanderingRiver,
        k: &Kernels,
        grade: &Grade,
        ground: &mut impl Ground,
        dt: f64,
    ) -> f64 {
        let still = &*ground;
        let mut found: Vec<Option<Settling>> = Vec::new();
        each_batch(workers, &self.particles, &mut found, |own| {
            let share = self.settling_share(settings, k, own, dt);
            let mut volume = whole(own.volume * share);
            if share > 0.0 && own.volume < CRUMB * f64::from(settings.capacity) {
                volume = own.volume;
            }
            if volume <= 0.0 {
                return None;
            }
            let point = still.point_at(own.position);
            // Under the main flow it only fills hollows of the bed. A thin
            // stream is all edge by its kernel sum: it must not be dammed,
            // so the middle of the water is main flow too.
            let edge =
                own.amount < f64::from(settings.bar_edge) && own.off_center > EDGE * k.radius;
            let dry = own.amount <= 0.0;
            // Nor must the middle of the channel, where the water is gone or
            // thin for a while.
            let open = if dry { DRY_CHANNEL } else { OPEN_CHANNEL } * k.radius;
            let level = if !settings.level_bars {
                f64::INFINITY
            } else if let Some(bed) = grade.level_within(own.position, open) {
                bed - HOLLOW * f64::from(settings.depth)
            } else if edge || dry {
                still.floodplain(point)
            } else {
                let bed = bed_at(settings, grade, still, point, own.position);
                bed - HOLLOW * f64::from(settings.depth)
            };
            Some(Settling {
                point,
                slot: 0,
                volume,
                level,
            })
        });
        let found = found.into_iter().enumerate();
        let mut settling: Vec<Settling> = found
            .filter_map(|(slot, found)| found.map(|settling| Settling { slot, ..settling }))
            .collect();
        // The deepest levels first: what may lie higher comes on top.
        settling.sort_by(|a, b| (a.point.cmp(&b.point)).then(a.level.total_cmp(&b.level)));
        let mut laid = 0.0;
        for same in settling.chunk_by(|a, b| a.point == b.point && a.level == b.level) {
            let point = same[0].point;
            let demand: f64 = same.iter().map(|settling| settling.volume).sum();
            let share = (ground.room(point, same[0].level) / demand).min(1.0);
            let mut sum = 0.0;
            for settling in same {
                let volume = whole(settling.volume * share).min(settling.volume);
                self.particles[settling.slot].volume -= volume;
                sum += volume;
            }
            if sum > 0.0 {
                ground.lay(point, sum);
            }
            laid += sum;
        }
        laid
    }

    /// Share of a particle that wants to settle within `dt`.
    #[inline]
    fn settling_share(
        &self,
        settings: &MeanderingRiver,
        k: &Kernels,
        own: &SedimentParticle,
        dt: f64,
    ) -> f64 {
        if own.amount <= 0.0 {
            return 1.0;
        }
        let within = f64::from(settings.settling) * dt;
        let share = within / (1.0 + within);
        let slow = f64::from(settings.settling_speed) * (1.0 + 4.0 / k.radius * own.off_center);
        if own.velocity.length() < slow || own.age > f64::from(settings.lifetime) {
            return share;
        }
        let mut load = 0.0;
        for run in self.cells.around(own.position) {
            for other in &self.particles[run] {
                let square = own.position.distance_squared(other.position);
                if square < k.square {
                    load += whole(other.volume * k.weight(square));
                }
            }
        }
        let limit = f64::from(settings.saturation) * own.amount.min(1.0);
        share * (1.0 - limit / load).max(0.0)
    }

    /// Joins particles that are each other's nearest, if one can carry both,
    /// and drops empty ones. The particles must be sorted.
    pub fn merge(&mut self, workers: &Workers, settings: &MeanderingRiver) {
        let capacity = f64::from(settings.capacity);
        let within = f64::from(settings.merging.min(settings.radius)).powi(2);
        let mut nearest = Vec::new();
        each_batch(workers, &self.particles, &mut nearest, |own| {
            // Nor does it join its own mirror image: between the two there may
            // be the border of two cells, and the sum had to fall into one.
            let image = DVec2::new(own.position.x, -own.position.y);
            self.nearest(own.position, within, |other| {
                other.id != own.id
                    && other.position != image
                    && own.volume + other.volume <= capacity
            })
        });
        for slot in 0..self.particles.len() {
            let Some(other) = nearest[slot].filter(|&other| other > slot) else {
                continue;
            };
            if nearest[other] != Some(slot) {
                continue;
            }
            let (a, b) = (self.particles[slot], self.particles[other]);
            let volume = a.volume + b.volume;
            if volume <= 0.0 {
                continue;
            }
            // Nothing here depends on which of the two comes first.
            let mean = |x: f64, y: f64| (x * a.volume + y * b.volume) / volume;
            let mean2 = |x: DVec2, y: DVec2| (x * a.volume + y * b.volume) / volume;
            self.particles[slot] = SedimentParticle {
                position: mean2(a.position, b.position),
                velocity: mean2(a.velocity, b.velocity),
                volume,
                age: mean(a.age, b.age),
                id: a.id.min(b.id),
                amount: mean(a.amount, b.amount),
                off_center: mean(a.off_center, b.off_center),
            };
            self.particles[other].volume = 0.0;
        }
        self.particles.retain(|own| own.volume > 0.0);
    }
}
