//! Exactly one water model runs. Both keep water and its discharge in the
//! terrain, so that one can take over from the other at any time.

use super::{
    Solver,
    pipe::{PipeModel, PipeSolver},
    plugin::ErosionFault,
    shallow_water::{ShallowWater, ShallowWaterSolver},
};
use crate::schedule::{ErosionStep, ErosionStepSystems, ErosionSystems};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// The water models within a step, so that they take turns on the terrain.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WaterSystems {
    Pipe,
    ShallowWater,
}

/// A water model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaterModel {
    Pipe,
    ShallowWater,
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.configure_sets(
        ErosionStep,
        (WaterSystems::Pipe, WaterSystems::ShallowWater)
            .chain()
            .in_set(ErosionStepSystems::Water),
    )
    .add_systems(
        schedule,
        keep_one_water_model
            // What was inserted in this frame is seen.
            .after(ErosionSystems::Input)
            // No step has two.
            .before(ErosionSystems::Simulate),
    );
}

/// Removes a water model that was inserted while another runs, and says so. To
/// switch, remove the one and insert the other in one frame.
fn keep_one_water_model(
    pipe: Option<Res<PipeModel>>,
    shallow_water: Option<Res<ShallowWater>>,
    mut running: Local<Option<WaterModel>>,
    mut commands: Commands,
    mut faults: MessageWriter<ErosionFault>,
) {
    *running = match (&pipe, &shallow_water) {
        (None, None) => None,
        (Some(_), None) => Some(WaterModel::Pipe),
        (None, Some(_)) => Some(WaterModel::ShallowWater),
        // Of two that come at once this one stays.
        (Some(_), Some(_)) => Some(running.unwrap_or(WaterModel::Pipe)),
    };
    let (Some(running), Some(_), Some(_)) = (*running, pipe, shallow_water) else {
        return;
    };
    let (kept, removed) = match running {
        WaterModel::Pipe => {
            commands.remove_resource::<ShallowWater>();
            (PipeSolver::NAME, ShallowWaterSolver::NAME)
        }
        WaterModel::ShallowWater => {
            commands.remove_resource::<PipeModel>();
            (ShallowWaterSolver::NAME, PipeSolver::NAME)
        }
    };
    let reason = format!("`{removed}` was removed: `{kept}` runs, and only one water model can");
    warn!("{reason}");
    faults.write(ErosionFault {
        model: removed,
        reason,
    });
}
