//! The water: smoothed particles that slide on the ground.

use super::{
    MeanderingRiver,
    curve::Turn,
    ground::Ground,
    kernels::{Kernels, left, whole, whole2},
    neighbors::Cells,
};
use crate::parallel::Workers;
use bevy::math::DVec2;
use core::{array, ops::Range};
use multiversion::multiversion;

/// Particles of one job; with fewer than some jobs' worth one thread is faster.
const BATCH: usize = 512;
pub(super) const PARALLEL_FROM: usize = 3 * BATCH;

/// A particle of water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterParticle {
    /// Place on the ground plane. units: m
    pub position: DVec2,
    /// Velocity on the ground plane. units: m/s
    pub velocity: DVec2,
    /// Mean velocity of the water in reach. units: m/s
    pub mean_velocity: DVec2,
    /// How the stream bends here, positive to the left, in the units of the
    /// river's [`CurveSignal`](super::CurveSignal).
    pub curve: f64,
    /// Particles per area here. units: 1/m²
    pub density: f64,
    /// Id of the particle, in the order of emission.
    pub id: u64,
}

/// All water of a river.
#[derive(Clone, Debug)]
pub(super) struct Water {
    pub particles: Vec<WaterParticle>,
    pub cells: Cells,
    scratch: Vec<WaterParticle>,
}

/// What a place feels of the water.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Felt {
    /// Kernel sum: about 1 at the edge of a stream, 0 in the dry.
    pub amount: f64,
    pub velocity: DVec2,
    /// From the place to the center of the water in reach.
    pub center: DVec2,
    pub curve: f64,
}

impl Felt {
    /// Makes means of sums, if there is any water.
    #[inline]
    fn averaged(mut self) -> Option<Self> {
        if self.amount <= 0.0 {
            return None;
        }
        let share = 1.0 / self.amount;
        self.velocity *= share;
        self.center *= share;
        self.curve *= share;
        Some(self)
    }
}

/// Places that are asked about at once: a vector of them.
pub(super) const LANES: usize = 4;

/// Sums of [`Felt`] for some places.
#[derive(Default)]
struct Sums {
    amount: [f64; LANES],
    velocity: [[f64; LANES]; 2],
    center: [[f64; LANES]; 2],
    curve: [f64; LANES],
}

impl Sums {
    #[inline]
    fn felt(&self, lane: usize) -> Option<Felt> {
        let pair = |of: &[[f64; LANES]; 2]| DVec2::new(of[0][lane], of[1][lane]);
        let felt = Felt {
            amount: self.amount[lane],
            velocity: pair(&self.velocity),
            center: pair(&self.center),
            curve: self.curve[lane],
        };
        felt.averaged()
    }
}

/// Adds what the places feel of these particles: the same terms that
/// [`Water::near`] adds for one place. Beyond its radius a particle has no weight.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_terms(
    sums: &mut Sums,
    k: &Kernels,
    [x, y]: &[[f64; LANES]; 2],
    particles: &[WaterParticle],
) {
    // Of our own, so that they stay in registers.
    let mut all = core::mem::take(sums);
    for own in particles {
        let (mut away_x, mut away_y, mut weight) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            away_x[i] = own.position.x - x[i];
            away_y[i] = own.position.y - y[i];
            let square = away_x[i] * away_x[i] + away_y[i] * away_y[i];
            let near = k.weight(square);
            weight[i] = if square < k.square { near } else { 0.0 };
        }
        for i in 0..LANES {
            all.amount[i] += whole(weight[i]);
            all.velocity[0][i] += whole(own.velocity.x * weight[i]);
            all.velocity[1][i] += whole(own.velocity.y * weight[i]);
            all.center[0][i] += whole(away_x[i] * weight[i]);
            all.center[1][i] += whole(away_y[i] * weight[i]);
            all.curve[i] += whole(own.curve * weight[i]);
        }
    }
    *sums = all;
}

impl Water {
    pub fn new(bounds: (DVec2, DVec2), radius: f64) -> Self {
        Self {
            particles: Vec::new(),
            cells: Cells::new(bounds, radius),
            scratch: Vec::new(),
        }
    }

    pub fn sort(&mut self) {
        self.cells
            .sort(&mut self.particles, &mut self.scratch, |p| p.position);
    }

    /// What some places feel of the particles in these runs.
    #[inline]
    pub fn felt_by(
        &self,
        kernels: &Kernels,
        places: &[DVec2; LANES],
        runs: &[Range<usize>; 3],
    ) -> [Option<Felt>; LANES] {
        let mut sums = Sums::default();
        let places = [places.map(|at| at.x), places.map(|at| at.y)];
        for run in runs {
            add_terms(&mut sums, kernels, &places, &self.particles[run.clone()]);
        }
        array::from_fn(|lane| sums.felt(lane))
    }

    /// What a place feels of the water.
    #[inline]
    pub fn felt(&self, kernels: &Kernels, at: DVec2) -> Option<Felt> {
        self.near(kernels, at).map(|(felt, _)| felt)
    }

    /// What a place feels of the water, and where from there the nearest particle is.
    #[inline]
    pub fn near(&self, kernels: &Kernels, at: DVec2) -> Option<(Felt, DVec2)> {
        let mut felt = Felt::default();
        let (mut nearest, mut least) = (DVec2::ZERO, f64::INFINITY);
        for run in self.cells.around(at) {
            for particle in &self.particles[run] {
                let offset = particle.position - at;
                let square = offset.length_squared();
                if square >= kernels.square {
                    continue;
                }
                let weight = kernels.weight(square);
                felt.amount += whole(weight);
                felt.velocity += whole2(particle.velocity * weight);
                felt.center += whole2(offset * weight);
                felt.curve += whole(particle.curve * weight);
                if square < least {
                    (nearest, least) = (offset, square);
                }
            }
        }
        felt.averaged().map(|felt| (felt, nearest))
    }

    /// Density, mean velocity and bend of each particle.
    pub fn sense(&mut self, workers: &Workers, settings: &MeanderingRiver, k: &Kernels, dt: f64) {
        let (particles, cells) = (&self.particles, &self.cells);
        each_batch(workers, particles, &mut self.scratch, |own| {
            let (mut amount, mut momentum) = (0.0, DVec2::ZERO);
            for run in cells.around(own.position) {
                for other in &particles[run] {
                    let square = own.position.distance_squared(other.position);
                    if square < k.square {
                        let weight = k.weight(square);
                        amount += whole(weight);
                        momentum += whole2(other.velocity * weight);
                    }
                }
            }
            let mean = momentum / amount;
            let mean_turn = Turn {
                from: own.mean_velocity,
                to: mean,
            };
            WaterParticle {
                density: k.peak * amount,
                mean_velocity: mean,
                curve: match &settings.curve {
                    signal @ super::CurveSignal::Smoothed { .. } => {
                        signal.follow(own.curve, mean_turn, mean_turn, dt)
                    }
                    // Its own velocity turns when it moves.
                    super::CurveSignal::Accumulated { .. } => own.curve,
                },
                ..*own
            }
        });
        core::mem::swap(&mut self.particles, &mut self.scratch);
    }

    /// Forces, then motion.
    pub fn advance(
        &mut self,
        workers: &Workers,
        settings: &MeanderingRiver,
        k: &Kernels,
        ground: &impl Ground,
        dt: f64,
    ) {
        let (particles, cells) = (&self.particles, &self.cells);
        let stiffness = f64::from(settings.stiffness);
        let viscosity = f64::from(settings.viscosity);
        let gravity = f64::from(settings.gravity);
        let coriolis = f64::from(settings.coriolis);
        let rest = f64::from(settings.rest_density);
        let pressure = |density: f64| stiffness * (density - rest).max(0.0);
        each_batch(workers, particles, &mut self.scratch, |own| {
            let own_pressure = pressure(own.density);
            let (mut push, mut pull, mut grip) = (DVec2::ZERO, DVec2::ZERO, 0.0);
            for run in cells.around(own.position) {
                for other in &particles[run] {
                    let away = own.position - other.position;
                    let square = away.length_squared();
                    if square >= k.square || square == 0.0 {
                        continue;
                    }
                    let distance = square.sqrt();
                    let volume = 1.0 / other.density;
                    let both = own_pressure + pressure(other.density);
                    push +=
                        whole2(away * (0.5 * both * volume * k.spiky_slope(distance) / distance));
                    let share = viscosity * volume * k.viscosity_laplacian(distance);
                    pull += whole2((other.velocity - own.velocity) * share);
                    grip += whole(share);
                }
            }
            let volume = 1.0 / own.density;
            let slope = ground.surface(own.position).slope;
            // The grip is taken at the end of the step: stable however strong.
            let shared = pull * (volume / (1.0 + grip * volume * dt));
            let force = push * volume + shared - slope * gravity + left(own.velocity) * coriolis;
            let drag = settings.drag_on(own.velocity.length(), own.density);
            let velocity = (own.velocity + force * dt) / (1.0 + drag * dt);
            let own_turn = Turn {
                from: own.velocity,
                to: velocity,
            };
            WaterParticle {
                velocity,
                position: own.position + velocity * dt,
                curve: match &settings.curve {
                    super::CurveSignal::Smoothed { .. } => own.curve,
                    signal => signal.follow(own.curve, own_turn, own_turn, dt),
                },
                ..*own
            }
        });
        core::mem::swap(&mut self.particles, &mut self.scratch);
    }
}

/// Fills `out` with what `make` makes of each item, in fixed batches.
pub(super) fn each_batch<T: Sync, U: Clone + Send>(
    workers: &Workers,
    items: &[T],
    out: &mut Vec<U>,
    make: impl Fn(&T) -> U + Sync,
) {
    if items.len() < PARALLEL_FROM || workers.count() < 2 {
        out.clear();
        out.extend(items.iter().map(make));
        return;
    }
    // What is there already is written over, so only the rest is filled.
    out.resize(items.len(), make(&items[0]));
    let jobs = items.chunks(BATCH).zip(out.chunks_mut(BATCH));
    workers.each(jobs, |(items, out)| {
        for (item, out) in items.iter().zip(out) {
            *out = make(item);
        }
    });
}
