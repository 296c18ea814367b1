//! Runs a [`MeanderingRiver`] on any [`Ground`]. Needs no app.

use super::{
    Cut, Ground, MeanderingRiver, RiverSink, RiverSource, SedimentParticle, SinkId, SourceId,
    WaterParticle,
    cutoff::Necks,
    grade::Grade,
    kernels::{Kernels, left, whole},
    measure::Tally,
    neighbors::Busy,
    sediment::{Sediment, Wanted},
    springs::Spring,
    water::{Felt, LANES, Water},
};
use crate::{parallel::Workers, terrain::SettingsError};
use bevy::math::DVec2;
use core::array;

/// Looks at the ground between two settlings of the banks.
const SETTLE_EVERY: u64 = 4;
/// Largest part of the smoothing radius that sound and water may cross in a
/// step.
const COURANT: f64 = 0.25;

/// Where the solids of a river are. Their sum stays what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RiverLedger {
    /// In the ground. units: m³
    pub ground: f64,
    /// On its way with the water. units: m³
    pub carried: f64,
    /// Gone with the water through sinks and over the border, so far. units: m³
    pub left: f64,
    /// Fed in at the sources, so far. units: m³
    pub fed: f64,
}

impl RiverLedger {
    /// What must not change. units: m³
    pub fn total(&self) -> f64 {
        self.ground + self.carried + self.left - self.fed
    }
}

/// A river on its ground.
#[derive(Clone, Debug)]
pub struct RiverSolver<G> {
    pub(super) settings: MeanderingRiver,
    pub(super) kernels: Kernels,
    pub(super) ground: G,
    pub(super) water: Water,
    pub(super) sediment: Sediment,
    pub(super) springs: Vec<Spring>,
    pub(super) sinks: Vec<(u64, RiverSink)>,
    pub(super) next_id: u64,
    pub(super) next_drop: u64,
    /// Particles of water that came in and went out so far.
    pub(super) entered: u64,
    pub(super) gone: u64,
    pub(super) time: f64,
    pub(super) steps: u64,
    pub(super) necks: Necks,
    pub(super) grade: Grade,
    /// Seconds since the last look at the ground, and looks so far.
    pub(super) since_look: f64,
    pub(super) looks: u64,
    pub(super) since_smoothing: f64,
    pub(super) fastest: f64,
    pub(super) left: f64,
    pub(super) fed: f64,
    /// What left and was not fed in again yet. units: m³
    pub(super) waiting: f64,
    /// Where water left since [`take_gone`](Self::take_gone), if anyone asks.
    gone_at: Option<Vec<DVec2>>,
    pub(super) tally: Tally,
}

impl<G: Ground> RiverSolver<G> {
    /// A dry river on this ground.
    pub fn new(settings: MeanderingRiver, ground: G) -> Result<Self, SettingsError> {
        settings.check()?;
        let radius = f64::from(settings.radius);
        let bounds = ground.bounds();
        Ok(Self {
            kernels: Kernels::new(radius),
            water: Water::new(bounds, radius),
            sediment: Sediment::new(bounds, radius),
            settings,
            ground,
            springs: Vec::new(),
            sinks: Vec::new(),
            next_id: 0,
            next_drop: 0,
            entered: 0,
            gone: 0,
            time: 0.0,
            steps: 0,
            necks: Necks::default(),
            grade: Grade::default(),
            since_look: 0.0,
            looks: 0,
            since_smoothing: 0.0,
            fastest: 0.0,
            left: 0.0,
            fed: 0.0,
            waiting: 0.0,
            gone_at: None,
            tally: Tally::default(),
        })
    }

    /// The settings it works by.
    #[inline]
    pub fn settings(&self) -> &MeanderingRiver {
        &self.settings
    }

    /// Changes the settings and keeps water and sediment. Nothing changes on
    /// error.
    pub fn set_settings(&mut self, settings: MeanderingRiver) -> Result<(), SettingsError> {
        settings.check()?;
        if settings.radius != self.settings.radius {
            let (bounds, radius) = (self.ground.bounds(), f64::from(settings.radius));
            self.kernels = Kernels::new(radius);
            let water = core::mem::replace(&mut self.water, Water::new(bounds, radius));
            self.water.particles = water.particles;
            self.sediment.with_cells(bounds, radius);
        }
        if settings.grading <= 0.0 || settings.depth.is_infinite() {
            self.grade = Grade::default();
        }
        self.settings = settings;
        Ok(())
    }

    /// The ground it runs on.
    #[inline]
    pub fn ground(&self) -> &G {
        &self.ground
    }

    /// Ends the river and returns its ground. Sediment on its way is deposited first.
    pub fn into_ground(mut self) -> G {
        for own in &self.sediment.particles {
            self.ground
                .lay(self.ground.point_at(own.position), own.volume);
        }
        self.ground
    }

    /// The water, in no particular order.
    #[inline]
    pub fn water(&self) -> &[WaterParticle] {
        &self.water.particles
    }

    /// The sediment on its way, in no particular order.
    pub fn sediment(&self) -> &[SedimentParticle] {
        &self.sediment.particles
    }

    /// What was cut and laid so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Time that it has run. units: s
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Where the solids are.
    pub fn ledger(&self) -> RiverLedger {
        RiverLedger {
            ground: self.ground.solids(),
            carried: self.sediment.carried(),
            left: self.left,
            fed: self.fed,
        }
    }

    /// Adds a source; it can be moved and removed at any time.
    pub fn add_source(&mut self, source: RiverSource) -> Result<SourceId, SettingsError> {
        source.check()?;
        let id = self.new_id();
        self.springs.push(Spring::new(id, source));
        Ok(SourceId(id))
    }

    /// Replaces a source: moves it, or changes its rate. Tells whether it was
    /// there.
    pub fn set_source(&mut self, id: SourceId, source: RiverSource) -> Result<bool, SettingsError> {
        source.check()?;
        let spring = self.springs.iter_mut().find(|spring| spring.id == id.0);
        Ok(spring.map(|spring| spring.source = source).is_some())
    }

    /// Lets so much more water in at a source, beside its rate. Tells whether it
    /// was there. units: particles
    pub(super) fn feed(&mut self, id: SourceId, particles: f64) -> bool {
        let spring = self.springs.iter_mut().find(|spring| spring.id == id.0);
        spring.map(|spring| spring.due += particles).is_some()
    }

    /// Takes back what is due at a source and less than a particle, or more
    /// where none was let in since. units: particles
    pub(super) fn take_due(&mut self, id: SourceId) -> f64 {
        let spring = self.springs.iter_mut().find(|spring| spring.id == id.0);
        spring.map_or(0.0, |spring| core::mem::take(&mut spring.due))
    }

    /// Where water left by sinks and over the border since this was asked last,
    /// a place for each particle; nothing the first time. units: m
    pub(super) fn take_gone(&mut self) -> Vec<DVec2> {
        self.gone_at.replace(Vec::new()).unwrap_or_default()
    }

    /// Removes a source; its water stays. Tells whether it was there.
    pub fn remove_source(&mut self, id: SourceId) -> bool {
        let before = self.springs.len();
        self.springs.retain(|spring| spring.id != id.0);
        self.springs.len() < before
    }

    /// Adds a sink; it can be moved and removed at any time.
    pub fn add_sink(&mut self, sink: RiverSink) -> Result<SinkId, SettingsError> {
        sink.check()?;
        let id = self.new_id();
        self.sinks.push((id, sink));
        Ok(SinkId(id))
    }

    /// Moves a sink. Tells whether it was there.
    pub fn set_sink(&mut self, id: SinkId, sink: RiverSink) -> Result<bool, SettingsError> {
        sink.check()?;
        let own = self.sinks.iter_mut().find(|own| own.0 == id.0);
        Ok(own.map(|own| own.1 = sink).is_some())
    }

    /// Removes a sink. Tells whether it was there.
    pub fn remove_sink(&mut self, id: SinkId) -> bool {
        let before = self.sinks.len();
        self.sinks.retain(|own| own.0 != id.0);
        self.sinks.len() < before
    }

    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The longest step that is not split now. units: s
    pub fn largest_step(&self) -> f64 {
        let sound = f64::from(self.settings.stiffness).sqrt();
        COURANT * self.kernels.radius / (sound + self.fastest.max(1.0))
    }

    /// Advances by `dt` seconds on Bevy's compute task pool; see
    /// [`step_on`](Self::step_on).
    pub fn step(&mut self, dt: f64) {
        self.step_on(Workers::global(), dt);
    }

    /// Advances by `dt` seconds, with the same result for any workers. A `dt`
    /// that is not a positive, finite number changes nothing; one beyond the
    /// [`largest_step`](Self::largest_step) is split.
    pub fn step_on(&mut self, workers: Workers, dt: f64) {
        if !(dt > 0.0 && dt.is_finite()) {
            return;
        }
        self.steps += 1;
        let mut rest = dt;
        while rest > 0.0 {
            // Equal parts, as far as the water's speed allows.
            let part = rest / (rest / self.largest_step()).ceil().max(1.0);
            self.sub_step(&workers, part);
            rest = if part < rest { rest - part } else { 0.0 };
        }
    }

    fn sub_step(&mut self, workers: &Workers, dt: f64) {
        self.emit(dt);
        self.water.sort();
        self.water.sense(workers, &self.settings, &self.kernels, dt);
        let Self {
            settings,
            kernels,
            ground,
            water,
            sediment,
            ..
        } = self;
        sediment.advance(workers, settings, kernels, water, ground, dt);
        self.since_look += dt;
        self.since_smoothing += dt;
        // A step may be a bit short of the interval by rounding.
        let looked = if self.since_look > f64::from(self.settings.interval) - 1e-9 {
            let dt = core::mem::take(&mut self.since_look);
            self.shape_ground(workers, dt);
            dt
        } else {
            0.0
        };
        self.water
            .advance(workers, &self.settings, &self.kernels, &self.ground, dt);
        self.drain();
        self.time += dt;
        if looked > 0.0 {
            self.look_at_necks(workers, looked);
        }
    }

    /// Lets in water, and sediment that had left.
    fn emit(&mut self, dt: f64) {
        let first = self.water.particles.len();
        for spring in &mut self.springs {
            spring.emit(&self.settings, dt, &mut self.water.particles);
        }
        for particle in &mut self.water.particles[first..] {
            particle.id = self.next_drop;
            self.next_drop += 1;
            self.entered += 1;
            if !self.settings.recirculate {
                continue;
            }
            // What waits comes back with the next water, as far as it may.
            let most = self.settings.capacity.min(self.settings.feed);
            let volume = self.waiting.min(f64::from(most));
            if volume > 0.0 {
                self.waiting -= volume;
                let felt = Felt {
                    amount: 1.0,
                    velocity: particle.velocity,
                    ..Felt::default()
                };
                self.sediment.add(particle.position, volume, &felt);
                self.fed += volume;
            }
        }
    }

    /// Removes what reached a sink or the border.
    fn drain(&mut self) {
        let (ground, sinks) = (&self.ground, &self.sinks);
        let stays = |at: DVec2| ground.holds(at) && !sinks.iter().any(|(_, s)| s.holds(at));
        let mut fastest = 0.0f64;
        let gone = &mut self.gone_at;
        let before = self.water.particles.len();
        self.water.particles.retain(|own| {
            fastest = fastest.max(own.velocity.length_squared());
            let stay = stays(own.position);
            if let Some(gone) = gone.as_mut().filter(|_| !stay) {
                gone.push(own.position);
            }
            stay
        });
        self.gone += (before - self.water.particles.len()) as u64;
        self.fastest = fastest.sqrt();
        let mut left = 0.0;
        self.sediment.particles.retain(|own| {
            let stay = stays(own.position);
            if !stay {
                left += own.volume;
            }
            stay
        });
        self.left += left;
        self.waiting += left;
    }

    /// Cuts, carries, lays down and settles, for the last `dt` seconds.
    fn shape_ground(&mut self, workers: &Workers, dt: f64) {
        let busy = self.water.cells.busy();
        self.ground
            .attend(workers, &self.water.particles, self.kernels.radius);
        let wanted = self.wanted_cuts(workers, &busy, dt);
        self.sediment.sort();
        let felt = |at| self.water.felt(&self.kernels, at);
        let granted = self
            .sediment
            .take_up(workers, &self.settings, &wanted, felt);
        let cut = |i: usize| (wanted[i].cut, granted[i]);
        self.ground
            .take_all(workers, &self.settings, wanted.len(), cut);
        for (wanted, volume) in wanted.iter().zip(&granted) {
            self.tally.count_cut(*volume, wanted.outer);
        }
        // New particles are not sorted in yet.
        self.sediment.sort();
        let Self {
            settings,
            kernels,
            grade,
            ground,
            sediment,
            ..
        } = self;
        self.tally.laid += sediment.settle(workers, settings, kernels, grade, ground, dt);
        self.sediment.merge(workers, &self.settings);
        self.looks += 1;
        let every = f64::from(self.settings.smoothing);
        if every > 0.0 && self.since_smoothing >= every {
            self.since_smoothing = 0.0;
            let points = self.wet_points(workers, &busy, |point, _, _| Some(point));
            self.ground.smooth(&points);
        }
        if self.looks.is_multiple_of(SETTLE_EVERY) {
            let dt = dt * SETTLE_EVERY as f64;
            self.ground.settle(workers, &self.settings, dt);
        }
    }

    /// Level below which the bed does not sink. units: m
    #[inline]
    pub(super) fn bed_at(&self, point: usize, at: DVec2) -> f64 {
        bed_at(&self.settings, &self.grade, &self.ground, point, at)
    }

    /// Calls `make` for each point that water reaches.
    fn wet_points<T: Send + Clone>(
        &self,
        workers: &Workers,
        busy: &[Busy],
        make: impl Fn(usize, DVec2, Felt) -> Option<T> + Sync,
    ) -> Vec<T> {
        let work = |busy: &[Busy], out: &mut Vec<T>| {
            let mut points = Vec::new();
            for cell in busy {
                points.clear();
                self.ground
                    .points_in(cell.min, cell.max, |point, at| points.push((point, at)));
                for points in points.chunks(LANES) {
                    // The last ones are asked about with one of them again.
                    let places = array::from_fn(|i| points[i.min(points.len() - 1)].1);
                    let felt = self.water.felt_by(&self.kernels, &places, &cell.runs);
                    let felt = points.iter().zip(felt);
                    out.extend(felt.filter_map(|(&(point, at), felt)| make(point, at, felt?)));
                }
            }
        };
        // Some cells at once, worth a job each.
        const BATCH: usize = 128;
        let mut parts = vec![Vec::new(); busy.len().div_ceil(BATCH)];
        workers.each(busy.chunks(BATCH).zip(&mut parts), |(busy, out)| {
            work(busy, out)
        });
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for part in &mut parts {
            all.append(part);
        }
        all
    }

    /// What the water wants to cut, within `dt`.
    fn wanted_cuts(&self, workers: &Workers, busy: &[Busy], dt: f64) -> Vec<Wanted> {
        let settings = &self.settings;
        let erosion = f64::from(settings.erosion);
        let (sideways, down) = (f64::from(settings.sideways), f64::from(settings.downward));
        let (ahead, threshold) = (f64::from(settings.ahead), f64::from(settings.threshold));
        let make = |point, at, felt: Felt| {
            let speed = felt.velocity.length();
            if speed <= threshold {
                return None;
            }
            let bend = settings.bend(felt.curve);
            let outward = left(felt.velocity) * (-bend / speed);
            // The center is given as seen from the point.
            let off = -felt.center.dot(outward) / self.kernels.radius;
            let (side, outer) = if bend == 0.0 {
                (0.5, None)
            } else {
                let off = off / bend.abs();
                (0.5 + 0.5 * off.clamp(-1.0, 1.0), Some(off > 0.0))
            };
            let softness = self.ground.softness(settings, point);
            let depth = erosion * speed * felt.amount.min(1.0) * side * softness * dt;
            let cut = Cut {
                point,
                sideways: outward * (depth * sideways) + felt.velocity * (depth * ahead / speed),
                down: depth * down,
                floor: self.bed_at(point, at),
            };
            let volume = whole(self.ground.cut_volume(settings, &cut));
            (volume > 0.0).then_some(Wanted {
                cut,
                volume,
                at,
                outer,
            })
        };
        self.wet_points(workers, busy, make)
    }
}

/// The river's grade, or an even depth below the floodplain away from its course.
#[inline]
pub(super) fn bed_at(
    settings: &MeanderingRiver,
    grade: &Grade,
    ground: &impl Ground,
    point: usize,
    at: DVec2,
) -> f64 {
    let level = grade.level(at);
    level.unwrap_or_else(|| ground.floodplain(point) - f64::from(settings.depth))
}

impl MeanderingRiver {
    /// How much of a bend a curve is: −1 (right) to 1 (left).
    #[inline]
    pub(super) fn bend(&self, curve: f64) -> f64 {
        let (start, full) = (f64::from(self.curve_start), f64::from(self.curve_full));
        let size = ((curve.abs() - start) / (full - start)).clamp(0.0, 1.0);
        if curve < 0.0 { -size } else { size }
    }
}
