//! Erosion ahead of time: for loading screens and tools.
//!
//! A [`Bake`] holds its own terrain and a plan: models for some time, droplets
//! by number, one after the other. Run it here and now with [`Bake::run`], or
//! beside a game with [`BakeTask`], which tells how far it is, how long it will
//! take, and can be cancelled.
//!
//! ```
//! use bevy::math::UVec2;
//! use bevy_erode::prelude::*;
//! use bevy_erode::{bake::{BakeModel, BakeProgress}, models::thermal::ThermalSolver};
//!
//! let land = Terrain::generate(&Ridged::seeded(7), UVec2::splat(64), 8.0)?;
//! let aged = Bake::new(land)
//!     .droplets(Droplets::default(), 2_000)
//!     .simulate(2.0, [BakeModel::new::<ThermalSolver>(Thermal::default())])
//!     .run(&BakeProgress::default())?;
//! assert!(aged.ledger().solids.moved > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod river;
mod sanity;
mod task;

pub use river::{RiverBake, RiverTask};
pub(crate) use task::build;
pub use task::{BakeFinished, BakeTask, BakedTerrain};

use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    models::{
        Solver,
        ageing::{Ageing, AgeingSolver},
        droplet::{DropletSolver, Droplets},
        meander::{MeanderingRiver, RiverStretch, TerrainRiver},
    },
    terrain::{Grid, SettingsError, Terrain, in_range},
};
use bevy::prelude::*;
use core::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};
use sanity::HeightLimits;
use thiserror::Error;

/// Droplets between two looks at the progress.
const DROPS_AT_ONCE: u64 = 16_384;
/// Parts in which progress of ageing is counted: its steps differ in what they cost.
const AGE_PARTS: u64 = 1000;
/// Erosion time of a step unless another is asked for. units: s
const STEP: f32 = 1.0 / 64.0;
/// Steps between two looks at the heights, which would slow down every step.
const STEPS_UNCHECKED: u64 = 16;

/// Why a bake gave no terrain.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A setting is wrong. Nothing was run.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// It was cancelled.
    #[error("the bake was cancelled")]
    Cancelled,
    /// The land left all sane heights: the settings do not suit it.
    #[error(
        "`{models}` drove the ground at cell ({x}, {y}) to {height} m by {reached}, expected \
         {lowest} m to {highest} m: use weaker settings or a smaller step"
    )]
    Diverged {
        /// The models that ran, such as `Rain+PipeModel`.
        models: String,
        /// When it was noticed, such as `12.5 s` or `16384 drops` of a stage.
        reached: String,
        /// Column of the first bad cell.
        x: u32,
        /// Row of the first bad cell.
        y: u32,
        /// Its height, which may be no number. units: m
        height: f32,
        /// The lowest height that is accepted: that of the land at the start, less ten
        /// times its relief and 10 km. units: m
        lowest: f32,
        /// The highest height that is accepted. units: m
        highest: f32,
    },
}

/// How far a bake is; shared between who runs it and who watches.
#[derive(Debug, Default)]
pub struct BakeProgress {
    /// 0 to 1, as bits.
    done: AtomicU32,
    cancelled: AtomicBool,
}

impl BakeProgress {
    /// The share that is done, 0 to 1.
    pub fn done(&self) -> f32 {
        f32::from_bits(self.done.load(Ordering::Relaxed))
    }

    /// Asks the bake to stop. It does so after the step under way.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Records the share that is done.
    fn reach(&self, done: f64) -> Result<(), BakeError> {
        let done = done.clamp(0.0, 1.0) as f32;
        self.done.store(done.to_bits(), Ordering::Relaxed);
        match self.is_cancelled() {
            true => Err(BakeError::Cancelled),
            false => Ok(()),
        }
    }
}

/// A model at work.
trait Work: Send {
    fn advance(&mut self, terrain: &mut Terrain, dt: f32);

    /// The stage ends.
    fn finish(&mut self, terrain: &mut Terrain) {
        let _ = terrain;
    }
}

impl<F: FnMut(&mut Terrain, f32) + Send> Work for F {
    fn advance(&mut self, terrain: &mut Terrain, dt: f32) {
        self(terrain, dt);
    }
}

/// A river, once the terrain that it runs on is there.
struct BakedRiver {
    settings: MeanderingRiver,
    stretch: RiverStretch,
    place: Transform,
    river: Option<TerrainRiver>,
}

impl Work for BakedRiver {
    fn advance(&mut self, terrain: &mut Terrain, dt: f32) {
        if self.river.is_none() {
            let settings = self.settings.clone();
            // It was checked before, so it does not fail.
            self.river = TerrainRiver::new(settings, self.stretch, &self.place, terrain).ok();
        }
        if let Some(river) = &mut self.river {
            river.pass_water_on(terrain.flow().is_some());
            river.step(terrain, dt);
        }
    }

    fn finish(&mut self, terrain: &mut Terrain) {
        if let Some(river) = &mut self.river {
            river.write_back(terrain);
        }
    }
}

type Make = Box<dyn Fn(&Grid) -> Result<Box<dyn Work>, SettingsError> + Send + Sync>;

/// A model to be baked: any [`Solver`], so rain too, a source, sink, vent or river.
pub struct BakeModel {
    name: &'static str,
    /// A terrain has one such model at most.
    moves_water: bool,
    make: Make,
}

impl fmt::Debug for BakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BakeModel({})", self.name)
    }
}

impl BakeModel {
    /// The solver `S` with these settings.
    pub fn new<S: Solver>(settings: S::Settings) -> Self {
        let make = move |grid: &Grid| {
            let mut solver = S::new(settings.clone(), grid)?;
            let work = move |terrain: &mut Terrain, dt: f32| solver.step(terrain, dt);
            Ok(Box::new(work) as Box<dyn Work>)
        };
        Self {
            name: S::NAME,
            moves_water: S::MOVES_WATER,
            make: Box::new(make),
        }
    }

    /// A source that pours at a world position.
    pub fn source(source: WaterSource, at: Vec3) -> Self {
        let make = move |grid: &Grid| {
            source.check_at(grid, at)?;
            // It was checked before, so it does not fail.
            let work = move |terrain: &mut Terrain, dt: f32| {
                let _ = source.pour(terrain, at, dt);
            };
            Ok(Box::new(work) as Box<dyn Work>)
        };
        Self {
            name: "WaterSource",
            moves_water: false,
            make: Box::new(make),
        }
    }

    /// A sink that takes water at a world position.
    pub fn sink(sink: WaterSink, at: Vec3) -> Self {
        let make = move |grid: &Grid| {
            sink.check_at(grid, at)?;
            // It was checked before, so it does not fail.
            let work = move |terrain: &mut Terrain, dt: f32| {
                let _ = sink.drain(terrain, at, dt);
            };
            Ok(Box::new(work) as Box<dyn Work>)
        };
        Self {
            name: "WaterSink",
            moves_water: false,
            make: Box::new(make),
        }
    }

    /// The name of what it runs, such as `PipeModel`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A vent that pours lava at a world position.
    pub fn vent(vent: LavaSource, at: Vec3) -> Self {
        let make = move |grid: &Grid| {
            vent.check_at(grid, at)?;
            // It was checked before, so it does not fail.
            let work = move |terrain: &mut Terrain, dt: f32| {
                let _ = vent.pour(terrain, at, dt);
            };
            Ok(Box::new(work) as Box<dyn Work>)
        };
        Self {
            name: "LavaSource",
            moves_water: false,
            make: Box::new(make),
        }
    }

    /// A river on a stretch of the terrain. At the end of its stage it is written
    /// back into the layers.
    pub fn river(settings: MeanderingRiver, stretch: RiverStretch, place: Transform) -> Self {
        let make = move |grid: &Grid| {
            stretch.check_on(&settings, &place, grid)?;
            Ok(Box::new(BakedRiver {
                settings: settings.clone(),
                stretch,
                place,
                river: None,
            }) as Box<dyn Work>)
        };
        Self {
            name: "MeanderingRiver",
            moves_water: false,
            make: Box::new(make),
        }
    }
}

/// How many whole steps there are in a time, and how long the rest is.
fn steps_of(seconds: f32, step: f32) -> (u64, Option<f32>) {
    let steps = f64::from(seconds) / f64::from(step);
    // What is off by a rounding error only is whole.
    if (steps - steps.round()).abs() < 1e-3 {
        return (steps.round() as u64, None);
    }
    let last = steps.fract() * f64::from(step);
    (steps.floor() as u64, Some(last as f32))
}

#[derive(Debug)]
enum Stage {
    Droplets {
        settings: Droplets,
        count: u64,
    },
    Runoff {
        settings: Droplets,
        metres: f32,
        drops: u64,
    },
    Age {
        settings: Ageing,
        years: f64,
    },
    Models {
        models: Vec<BakeModel>,
        seconds: f32,
        step: f32,
    },
}

/// A stage that is ready to run.
enum ReadyStage {
    Droplets(Box<DropletSolver>, u64),
    Age(Box<AgeingSolver>, f64),
    Models(ReadyModels),
}

/// Models that are ready to run.
struct ReadyModels {
    /// For errors.
    names: String,
    models: Vec<Box<dyn Work>>,
    /// Whole steps, their length, and that of a shorter one at the end. units: s
    steps: u64,
    step: f32,
    last: Option<f32>,
}

impl ReadyStage {
    fn parts(&self) -> u64 {
        match self {
            Self::Droplets(_, count) => count.div_ceil(DROPS_AT_ONCE),
            Self::Age(..) => AGE_PARTS,
            Self::Models(ready) => ready.steps + u64::from(ready.last.is_some()),
        }
    }

    fn run(
        self,
        terrain: &mut Terrain,
        limits: &HeightLimits,
        mut reached: impl FnMut(u64) -> Result<(), BakeError>,
    ) -> Result<(), BakeError> {
        let parts = self.parts();
        match self {
            Self::Droplets(mut solver, count) => {
                for part in 0..parts {
                    let left = count - part * DROPS_AT_ONCE;
                    solver.rain(terrain, left.min(DROPS_AT_ONCE));
                    check_heights(terrain, limits, DropletSolver::NAME, || {
                        format!("{} drops", count.min((part + 1) * DROPS_AT_ONCE))
                    })?;
                    reached(part + 1)?;
                }
            }
            Self::Age(mut solver, years) => {
                let mut ended = Ok(());
                let mut go_on = |share: f64, land: &Terrain| {
                    ended = check_heights(land, limits, AgeingSolver::NAME, || {
                        format!("{:.0} years", share * years)
                    });
                    if ended.is_ok() {
                        ended = reached((share * AGE_PARTS as f64) as u64);
                    }
                    ended.is_ok()
                };
                solver.age_coarse_to_fine(terrain, years, &mut go_on)?;
                ended?;
            }
            Self::Models(ReadyModels {
                names,
                mut models,
                steps,
                step,
                last,
            }) => {
                let mut seconds = 0.0;
                for part in 0..parts {
                    let step = last.filter(|_| part == steps).unwrap_or(step);
                    for model in &mut models {
                        model.advance(terrain, step);
                    }
                    seconds += f64::from(step);
                    if (part + 1) % STEPS_UNCHECKED == 0 {
                        check_heights(terrain, limits, &names, || format!("{seconds:.3} s"))?;
                    }
                    reached(part + 1)?;
                }
                for model in &mut models {
                    model.finish(terrain);
                }
                check_heights(terrain, limits, &names, || format!("{seconds:.3} s"))?;
            }
        }
        Ok(())
    }
}

/// Whether the land is still sane. `reached` says how far the stage is.
fn check_heights(
    terrain: &Terrain,
    limits: &HeightLimits,
    models: &str,
    reached: impl FnOnce() -> String,
) -> Result<(), BakeError> {
    let Some(bad) = limits.check(terrain) else {
        return Ok(());
    };
    let width = terrain.grid().width();
    let (lowest, highest) = limits.range();
    Err(BakeError::Diverged {
        models: models.into(),
        reached: reached(),
        x: (bad.cell % width) as u32,
        y: (bad.cell / width) as u32,
        height: bad.height,
        lowest,
        highest,
    })
}

/// A terrain and what is to be done to it.
///
/// [The guide](crate::guide::baking) has an example.
#[derive(Debug)]
pub struct Bake {
    terrain: Terrain,
    stages: Vec<Stage>,
    step: f32,
}

impl Bake {
    /// Nothing to do yet.
    pub fn new(terrain: Terrain) -> Self {
        Self {
            terrain,
            stages: Vec::new(),
            step: STEP,
        }
    }

    /// Takes steps of another length in the stages that follow. units: s
    pub fn with_step(self, step: f32) -> Self {
        Self { step, ..self }
    }

    /// Then lets so many droplets fall.
    pub fn droplets(mut self, settings: Droplets, count: u64) -> Self {
        self.stages.push(Stage::Droplets { settings, count });
        self
    }

    /// Then lets so many metres of run-off fall as droplets, by as many drops as suit
    /// the cells but at least `drops`; see [`Droplets::runoff`]. units: m
    pub fn runoff(mut self, settings: Droplets, metres: f32, drops: u64) -> Self {
        self.stages.push(Stage::Runoff {
            settings,
            metres,
            drops,
        });
        self
    }

    /// Then ages the land by so many years. units: yr
    pub fn age(mut self, settings: Ageing, years: f64) -> Self {
        self.stages.push(Stage::Age { settings, years });
        self
    }

    /// Then runs models side by side, in this order in every step, for so long;
    /// the last step is shorter if need be. One water model at most. units: s
    pub fn simulate(mut self, seconds: f32, models: impl IntoIterator<Item = BakeModel>) -> Self {
        self.stages.push(Stage::Models {
            models: models.into_iter().collect(),
            seconds,
            step: self.step,
        });
        self
    }

    /// Checks every setting and makes every solver before anything runs.
    fn prepare(&self) -> Result<Vec<ReadyStage>, SettingsError> {
        let grid = self.terrain.grid();
        let work = |stage: &Stage| match stage {
            Stage::Droplets { settings, count } => {
                let solver = DropletSolver::new(settings.clone(), grid)?;
                Ok(ReadyStage::Droplets(Box::new(solver), *count))
            }
            Stage::Runoff {
                settings,
                metres,
                drops,
            } => {
                let runoff = settings.clone().runoff_by(*metres, grid, *drops)?;
                let solver = DropletSolver::new(runoff.droplets, grid)?;
                Ok(ReadyStage::Droplets(Box::new(solver), runoff.count))
            }
            Stage::Age { settings, years } => {
                in_range("Bake", "years", *years as f32, 0.0..=1e9)?;
                let solver = AgeingSolver::new(settings.clone(), grid)?;
                Ok(ReadyStage::Age(Box::new(solver), *years))
            }
            Stage::Models {
                models,
                seconds,
                step,
            } => {
                in_range("Bake", "seconds", *seconds, 0.0..=1e9)?;
                in_range("Bake", "step", *step, 1e-6..=86_400.0)?;
                let water = models.iter().filter(|model| model.moves_water);
                let water: Vec<&str> = water.map(|model| model.name).collect();
                if water.len() > 1 {
                    return Err(SettingsError {
                        model: "Bake",
                        field: "models".into(),
                        reason: format!(
                            "only one water model runs at a time, found {}",
                            water.join(" and ")
                        ),
                    });
                }
                let names: Vec<&str> = models.iter().map(|model| model.name).collect();
                let models = models.iter().map(|model| (model.make)(grid));
                let (steps, last) = steps_of(*seconds, *step);
                Ok(ReadyStage::Models(ReadyModels {
                    names: names.join("+"),
                    models: models.collect::<Result<_, _>>()?,
                    steps,
                    step: *step,
                    last,
                }))
            }
        };
        self.stages.iter().map(work).collect()
    }

    /// Does it all, and returns the terrain. The result does not depend on the
    /// number of threads.
    ///
    /// # Errors
    /// When a setting is wrong, before anything runs; when it is cancelled; and when the
    /// ground gets heights that land does not have, as by absurd settings.
    pub fn run(self, progress: &BakeProgress) -> Result<Terrain, BakeError> {
        let work = self.prepare()?;
        let mut terrain = self.terrain;
        let limits = HeightLimits::of(&terrain);
        // Stages count alike: what a step costs is not known beforehand.
        let stages = work.len().max(1) as f64;
        progress.reach(0.0)?;
        for (number, work) in work.into_iter().enumerate() {
            let parts = work.parts().max(1) as f64;
            work.run(&mut terrain, &limits, |part| {
                progress.reach((number as f64 + part as f64 / parts) / stages)
            })?;
        }
        progress.reach(1.0)?;
        Ok(terrain)
    }
}
