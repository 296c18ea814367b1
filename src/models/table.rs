//! The table of this crate's models: the one place that lists them.

use super::{
    ageing::AgeingSolver, droplet::DropletSolver, lava::LavaSolver, pipe::PipeSolver,
    registry::ModelEntry, shallow_water::ShallowWaterSolver, thermal::ThermalSolver,
};
use crate::forcing::{EvaporationSolver, RainSolver};

/// All models of this crate, in the order in which they act in a step. A new model
/// needs a line here; what it is called, reads and writes, and when it runs, its
/// [`Solver`](super::Solver) declares. (Rivers are entities, so they are not here.)
pub const BUILT_IN: &[ModelEntry] = &[
    ModelEntry::of::<RainSolver>(),
    ModelEntry::of::<EvaporationSolver>(),
    ModelEntry::of::<AgeingSolver>(),
    ModelEntry::of::<DropletSolver>(),
    ModelEntry::of::<PipeSolver>(),
    ModelEntry::of::<ShallowWaterSolver>(),
    ModelEntry::of::<LavaSolver>(),
    ModelEntry::of::<ThermalSolver>(),
];
