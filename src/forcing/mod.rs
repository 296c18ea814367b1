//! What acts on the ground: edits, rain, evaporation, springs, drains and vents.
//!
//! Each is a resource or a component whose presence turns it on, and each adds what
//! it really did to the terrain's ledger. In a step they act in the order
//! of [`ForcingSystems`]. Without an app, use the solvers and
//! [`WaterSource::pour`], [`WaterSink::drain`] and [`LavaSource::pour`].

mod disc;
mod drops;
pub mod edits;
mod evaporation;
mod rain;
mod season;
mod springs;
mod vents;

pub use evaporation::{Evaporation, EvaporationSolver};
pub use rain::{Rain, RainPattern, RainSolver};
pub use season::Season;
pub use springs::{WaterSink, WaterSource};
pub use vents::LavaSource;

use crate::{
    schedule::{ErosionStep, ErosionStepSystems},
    terrain::{Grid, TILE, Terrain, add_exactly},
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// The sets within [`ErosionStepSystems::Forcing`], in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForcingSystems {
    /// [`WaterSource`]s pour, then [`WaterSink`]s take, then [`LavaSource`]s pour.
    SourcesAndSinks,
    /// [`Rain`] falls.
    Rain,
    /// [`Evaporation`] takes.
    Evaporation,
}

/// Rows of a band, the piece of work that one worker does.
const BAND: usize = TILE as usize;
/// Most water that one step may add to a cell: no step, however long, makes
/// depths that the models cannot count with. units: m
pub(crate) const MAX_DEPTH: f64 = 1e6;
/// Millimetres an hour in a metre a second.
const MM_PER_HOUR: f64 = 3.6e6;

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    edits::build(app, schedule);
    app.register_type::<Season>()
        .register_type::<WaterSource>()
        .register_type::<WaterSink>()
        .register_type::<LavaSource>()
        .configure_sets(
            ErosionStep,
            (
                ForcingSystems::SourcesAndSinks,
                ForcingSystems::Rain,
                ForcingSystems::Evaporation,
            )
                .chain()
                .in_set(ErosionStepSystems::Forcing),
        )
        .add_systems(
            ErosionStep,
            springs::run_springs.in_set(ForcingSystems::SourcesAndSinks),
        );
}

/// Whether a step of `dt` seconds may run on this terrain.
fn fits(grid: &Grid, terrain: &Terrain, dt: f32) -> bool {
    grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()
}

/// Adds to a cell's water. Returns what it really gained, which is not quite
/// the same where the water is deep. units: m
#[inline(always)]
fn add_counted(water: &mut f32, rest: &mut f32, change: f32) -> f64 {
    let before = (*water, *rest);
    add_exactly(water, rest, change);
    gain(before, (*water, *rest))
}

/// Difference of two two-float sums.
#[inline(always)]
fn gain(before: (f32, f32), after: (f32, f32)) -> f64 {
    (f64::from(after.0) - f64::from(before.0)) + (f64::from(after.1) - f64::from(before.1))
}

/// The tile, by its row-major number, that a cell lies in.
#[inline]
fn tile_of(grid: &Grid, cell: usize) -> usize {
    let (x, y) = (cell % grid.width(), cell / grid.width());
    y / BAND * grid.tiles().x as usize + x / BAND
}
