//! When erosion happens: system sets, the clock `Time<Erosion>`, and the pace.

#[cfg(feature = "io")]
use crate::terrain::{SettingsError, in_range};
use crate::{
    backend::{Device, StepDevice},
    terrain::{StandingVolumes, Terrain, TerrainCursor},
};
use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel, SingleThreadedExecutor},
    math::{IVec2, UVec2},
    platform::time::Instant,
    prelude::*,
};
use core::time::Duration;

/// The sets of a frame, in this order, in the schedule that
/// [`ErosionPlugin`](crate::ErosionPlugin) was given (`Update` by default).
///
/// [The guide](crate::guide::change_tracking) has an example.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErosionSystems {
    /// What acts on the ground is gathered. Change terrain and models here or before.
    Input,
    /// Models advance: the [`ErosionStep`] schedule runs as often as the pace allows.
    Simulate,
    /// [`TerrainChanged`] is sent and diagnostics are measured.
    Publish,
    /// Meshes follow the ground. Read the new terrain here or after.
    Output,
}

/// One step of all models, run in [`ErosionSystems::Simulate`] once for each
/// erosion step. `Time<Erosion>` stands at the step's end.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ErosionStep;

/// The sets of an [`ErosionStep`], in this order. Your own systems may stand in
/// any of them.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErosionStepSystems {
    /// Changes made by players and tools.
    Edits,
    /// Weather and springs.
    Forcing,
    /// [`Ageing`](crate::models::ageing::Ageing).
    Ageing,
    /// [`Droplets`](crate::models::droplet::Droplets).
    Droplets,
    /// Water models.
    Water,
    /// [`Lava`](crate::models::lava::Lava).
    Lava,
    /// [`Thermal`](crate::models::thermal::Thermal).
    Thermal,
    /// [`MeanderingRiver`](crate::models::meander::MeanderingRiver)s.
    River,
}

/// How many steps a frame may take.
///
/// [The guide](crate::guide::determinism) has an example.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum ErosionPace {
    /// As many steps as erosion time asks for, until this many milliseconds are
    /// used up (but at least one). When that is too few, erosion time slows down
    /// and [`ErosionDiagnostics::TIME_LOST`] says so. units: ms
    Budget(f32),
    /// Exactly so many steps each time (4096 at most), whatever they take. With
    /// `FixedUpdate` as the plugin's schedule a whole run replays bit by bit.
    StepsPerTick(u32),
}

impl Default for ErosionPace {
    fn default() -> Self {
        Self::Budget(6.0)
    }
}

/// The context of `Time<Erosion>`, the clock of the models. It follows
/// `Time<Virtual>` and advances in whole steps; see [`ErosionTime`].
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Erosion {
    paused: bool,
    speed: f32,
    step_size: Duration,
    steps: u64,
    /// Single steps asked for while paused.
    requested: u32,
    /// Erosion time that is due but less than a step.
    overstep: Duration,
}

impl Default for Erosion {
    fn default() -> Self {
        Self {
            paused: false,
            speed: 1.0,
            step_size: Duration::from_micros(15_625),
            steps: 0,
            requested: 0,
            overstep: Duration::ZERO,
        }
    }
}

impl Erosion {
    /// Erosion time of one step.
    pub fn step_size(&self) -> Duration {
        self.step_size
    }

    /// Checks a clock that comes from a file; the error names the field.
    #[cfg(feature = "io")]
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "Time<Erosion>";
        in_range(M, "speed", self.speed, 0.0..=10_000.0)?;
        let day = Duration::from_secs(86_400);
        let wrong = |field, reason: &str| Err(SettingsError::new(M, field, reason));
        if !(Duration::from_micros(1)..=day).contains(&self.step_size) {
            return wrong("step_size", "must be a microsecond to a day");
        }
        // Less than a step is due, whatever the step was.
        if self.overstep > day {
            return wrong("overstep", "must be a day at most");
        }
        if self.steps > 1 << 62 {
            return wrong("steps", "must be at most 2^62");
        }
        Ok(())
    }
}

/// Controls of `Time<Erosion>`.
///
/// [The guide](crate::guide::getting_started) has an example.
pub trait ErosionTime {
    /// Pauses erosion.
    fn pause(&mut self);
    /// Resumes erosion.
    fn unpause(&mut self);
    /// Whether erosion is paused.
    fn is_paused(&self) -> bool;
    /// Runs a number of steps although paused, in the next frame or, where the
    /// pace does not allow so many, the frames after it.
    fn single_step(&mut self, steps: u32);
    /// Erosion seconds per second of game time.
    fn speed(&self) -> f32;
    /// Sets the speed; what is not a number of 0 to 10 000 is brought into that range.
    fn set_speed(&mut self, speed: f32);
    /// Erosion time of one step.
    fn step_size(&self) -> Duration;
    /// Sets the erosion time of one step, a microsecond to a day.
    fn set_step_size(&mut self, step: Duration);
    /// Steps run so far.
    fn steps(&self) -> u64;
}

impl ErosionTime for Time<Erosion> {
    fn pause(&mut self) {
        self.context_mut().paused = true;
    }

    fn unpause(&mut self) {
        self.context_mut().paused = false;
    }

    fn is_paused(&self) -> bool {
        self.context().paused
    }

    fn single_step(&mut self, steps: u32) {
        let requested = &mut self.context_mut().requested;
        *requested = requested.saturating_add(steps);
    }

    fn speed(&self) -> f32 {
        self.context().speed
    }

    fn set_speed(&mut self, speed: f32) {
        let speed = if speed.is_nan() { 0.0 } else { speed };
        self.context_mut().speed = speed.clamp(0.0, 10_000.0);
    }

    fn step_size(&self) -> Duration {
        self.context().step_size
    }

    fn set_step_size(&mut self, step: Duration) {
        let longest = Duration::from_secs(86_400);
        self.context_mut().step_size = step.clamp(Duration::from_micros(1), longest);
    }

    fn steps(&self) -> u64 {
        self.context().steps
    }
}

/// The terrain changed: for vegetation, navigation and game code. Sent in
/// [`ErosionSystems::Publish`], once a frame at most.
///
/// Tiles are 64 × 64 cells, by column and row. To ask for changes at other times,
/// keep a [`TerrainCursor`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::prelude::*;
///
/// fn grow_grass(mut changes: MessageReader<TerrainChanged>) {
///     for change in changes.read() {
///         // Ground alone matters here; floods would be in `change.water`.
///         for tile in &change.ground {
///             println!("new grass on tile {tile}");
///         }
///     }
/// }
/// ```
///
/// [The guide](crate::guide::change_tracking) has an example.
#[derive(Message, Clone, Debug, Default, PartialEq)]
pub struct TerrainChanged {
    /// Tiles whose ground changed: bedrock, soil or hardness.
    pub ground: Vec<UVec2>,
    /// Tiles whose water changed, or what it carries, rivers included.
    pub water: Vec<UVec2>,
    /// Tiles whose lava changed.
    pub lava: Vec<UVec2>,
    /// Whether this is another terrain than before, perhaps of another size. All
    /// its tiles count as changed.
    pub replaced: bool,
    /// By how many tiles the terrain's window moved over the world, if it did:
    /// what is now at tile `t` was at tile `t + by`. The tiles above are those
    /// after it moved. See [`Terrain::shift_tiles`].
    pub shifted: Option<IVec2>,
}

/// Paths of the diagnostics that the plugin measures.
pub struct ErosionDiagnostics;

impl ErosionDiagnostics {
    /// Mean time of a step. units: ms
    pub const STEP_MS: DiagnosticPath = DiagnosticPath::const_new("erosion/step_ms");
    /// Steps run in the frame.
    pub const STEPS: DiagnosticPath = DiagnosticPath::const_new("erosion/steps_per_frame");
    /// Tiles whose ground changed in the frame.
    pub const DIRTY_TILES: DiagnosticPath = DiagnosticPath::const_new("erosion/dirty_tiles");
    /// Solids that appeared or vanished, in proportion to all there are.
    pub const MASS_DRIFT: DiagnosticPath = DiagnosticPath::const_new("erosion/mass_drift");
    /// Erosion time given up in the frame, because the budget was used up or a
    /// model would have needed too many parts of a step. units: s
    pub const TIME_LOST: DiagnosticPath = DiagnosticPath::const_new("erosion/time_lost");
}

/// Steps that a frame may take at most, however large its budget: a long
/// hitch must not be followed by a longer one.
const MAX_STEPS_PER_FRAME: u32 = 4096;

/// Steps between two measurements of mass drift, which reads every changed tile.
const DRIFT_INTERVAL: u64 = 128;

/// What the last run of [`advance_erosion`] did.
#[derive(Resource, Default)]
pub(crate) struct LastRun {
    /// Erosion time that models could not cover in their steps. units: s
    pub lost_by_models: f32,
    /// Tiles of the terrain are of different steps of the GPU: their sum is no
    /// volume of any one moment.
    pub mixes_moments: bool,
    steps: u32,
    took: Duration,
    time_lost: Duration,
    /// What of the terrain was published.
    published: TerrainCursor,
    drift_measured_at: u64,
    volumes: StandingVolumes,
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<Time<Erosion>>()
        .init_resource::<ErosionPace>()
        .init_resource::<LastRun>()
        .register_type::<Time<Erosion>>()
        .register_type::<ErosionPace>()
        .add_message::<TerrainChanged>()
        .register_diagnostic(Diagnostic::new(ErosionDiagnostics::STEP_MS).with_suffix("ms"))
        .register_diagnostic(Diagnostic::new(ErosionDiagnostics::STEPS))
        .register_diagnostic(Diagnostic::new(ErosionDiagnostics::DIRTY_TILES))
        .register_diagnostic(Diagnostic::new(ErosionDiagnostics::MASS_DRIFT))
        .register_diagnostic(Diagnostic::new(ErosionDiagnostics::TIME_LOST).with_suffix("s"))
        .init_schedule(ErosionStep)
        // Models take turns on the terrain, each spreading its own work: a
        // parallel executor would only cost.
        .edit_schedule(ErosionStep, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        })
        .configure_sets(
            ErosionStep,
            (
                ErosionStepSystems::Edits,
                ErosionStepSystems::Forcing,
                ErosionStepSystems::Ageing,
                ErosionStepSystems::Droplets,
                ErosionStepSystems::Water,
                ErosionStepSystems::Lava,
                ErosionStepSystems::Thermal,
                ErosionStepSystems::River,
            )
                .chain(),
        )
        .configure_sets(
            schedule,
            (
                ErosionSystems::Input,
                ErosionSystems::Simulate,
                ErosionSystems::Publish,
                ErosionSystems::Output,
            )
                .chain(),
        )
        .add_systems(schedule, advance_erosion.in_set(ErosionSystems::Simulate))
        .add_systems(schedule, publish_changes.in_set(ErosionSystems::Publish));
}

/// Runs as many steps as time, pace and budget allow.
fn advance_erosion(world: &mut World) {
    let delta = world.resource::<Time>().delta();
    let pace = *world.resource::<ErosionPace>();
    let present = world.contains_resource::<Terrain>();
    let mut time = world.resource_mut::<Time<Erosion>>();
    let step_size = time.step_size();
    let clock = time.context_mut();

    let requested = core::mem::take(&mut clock.requested);
    let mut wanted = requested;
    let mut due = Duration::ZERO;
    if !clock.paused && !delta.is_zero() {
        match pace {
            ErosionPace::StepsPerTick(steps) => wanted = wanted.saturating_add(steps),
            ErosionPace::Budget(_) => {
                due = clock.overstep + delta.mul_f64(f64::from(clock.speed));
                let steps = due.as_nanos() / step_size.as_nanos().max(1);
                wanted = wanted.saturating_add(steps.try_into().unwrap_or(u32::MAX));
            }
        }
    }
    if !present {
        clock.overstep = Duration::ZERO;
        wanted = 0;
    }
    let budget = match pace {
        ErosionPace::Budget(ms) => Some(
            // NaN allows one step only.
            Duration::try_from_secs_f32((ms / 1000.0).clamp(0.0, 3600.0)).unwrap_or_default(),
        ),
        ErosionPace::StepsPerTick(_) => None,
    };

    if let Some(device) = world.get_resource::<Device>() {
        wanted = wanted.min(device.allowed_steps(budget));
    }

    let started = Instant::now();
    let mut ran = 0;
    while ran < wanted.min(MAX_STEPS_PER_FRAME) {
        if ran > 0 && budget.is_some_and(|budget| started.elapsed() >= budget) {
            break;
        }
        let mut time = world.resource_mut::<Time<Erosion>>();
        time.advance_by(step_size);
        time.context_mut().steps += 1;
        count_step(world);
        // The schedule was made by the plugin; it is missing only while it runs.
        if world.try_run_schedule(ErosionStep).is_err() {
            break;
        }
        ran += 1;
    }
    let took = started.elapsed();

    let mut time = world.resource_mut::<Time<Erosion>>();
    if ran == 0 {
        time.advance_by(Duration::ZERO);
    }
    // Steps asked for one by one come first and wait for the next frame.
    let one_by_one = requested.min(ran);
    if present {
        let waiting = &mut time.context_mut().requested;
        *waiting = waiting.saturating_add(requested - one_by_one);
    }
    // What was not reached otherwise is given up: erosion slows, the game does not.
    let mut time_lost = Duration::ZERO;
    if !due.is_zero() && present {
        let whole = due.as_nanos() / step_size.as_nanos().max(1);
        let remainder = due.as_nanos() % step_size.as_nanos().max(1);
        time.context_mut().overstep = Duration::from_nanos(remainder as u64);
        let missed = whole.saturating_sub(u128::from(ran - one_by_one)) as f64;
        time_lost = step_size.mul_f64(missed.min(1e6));
    }
    let mut last = world.resource_mut::<LastRun>();
    let lost = core::mem::take(&mut last.lost_by_models).clamp(0.0, 1e6);
    time_lost += Duration::from_secs_f32(lost);
    last.steps = ran;
    last.took = took;
    last.time_lost = time_lost;
}

/// Lets the device that runs the models know that another step begins.
fn count_step(world: &mut World) {
    let step = world.resource::<Time<Erosion>>().steps();
    if let Some(mut device) = world.get_resource_mut::<Device>() {
        device.count_step(step);
    }
}

fn publish_changes(
    terrain: Option<Res<Terrain>>,
    time: Res<Time<Erosion>>,
    mut last: ResMut<LastRun>,
    mut changes: MessageWriter<TerrainChanged>,
    mut diagnostics: Diagnostics,
) {
    diagnostics.add_measurement(&ErosionDiagnostics::STEPS, || f64::from(last.steps));
    diagnostics.add_measurement(&ErosionDiagnostics::TIME_LOST, || {
        last.time_lost.as_secs_f64()
    });
    if last.steps > 0 {
        diagnostics.add_measurement(&ErosionDiagnostics::STEP_MS, || {
            last.took.as_secs_f64() * 1000.0 / f64::from(last.steps)
        });
    }
    let Some(terrain) = terrain else {
        return;
    };
    let news = last.published.changes(&terrain);
    let change = TerrainChanged {
        ground: news.ground().collect(),
        water: news.water().collect(),
        lava: news.lava().collect(),
        replaced: news.replaced(),
        shifted: news.shifted(),
    };
    let dirty = change.ground.len() as f64;
    diagnostics.add_measurement(&ErosionDiagnostics::DIRTY_TILES, || dirty);
    let due = change.replaced || time.steps() >= last.drift_measured_at + DRIFT_INTERVAL;
    if due && !last.mixes_moments {
        last.drift_measured_at = time.steps();
        diagnostics.add_measurement(&ErosionDiagnostics::MASS_DRIFT, || {
            last.volumes.ledger(&terrain).solids.drift_of_total()
        });
    }
    // A new revision may have no tiles.
    let nothing = TerrainChanged::default();
    if change != nothing {
        changes.write(change);
    }
}
