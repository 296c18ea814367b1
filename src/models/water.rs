//! Exactly one water model runs. All keep water and its discharge in the terrain,
//! so that one can take over from another at any time.

use super::{BUILT_IN, ErosionModels, ModelEntry, plugin::ModelFailed};
use crate::schedule::ErosionSystems;
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// Name of the water model that runs in this frame, if there is one.
#[derive(Resource, Default, Debug)]
pub(crate) struct RunningWaterModel(pub Option<&'static str>);

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<RunningWaterModel>()
        .add_message::<ModelFailed>()
        .add_systems(
            schedule,
            keep_one_water_model
                // What was inserted in this frame is seen.
                .after(ErosionSystems::Input)
                // No step has two.
                .before(ErosionSystems::Simulate),
        );
}

/// The water models whose settings a world has.
fn water_models_in(world: &World) -> Vec<ModelEntry> {
    let models = world.get_resource::<ErosionModels>();
    let models = models.map_or(BUILT_IN, ErosionModels::as_slice).iter();
    let found = models.filter(|model| model.moves_water() && model.is_in(world));
    found.copied().collect()
}

/// Which of them runs, or will from the next frame on: the one that ran in the last
/// frame if it is still there, else the first in the table.
fn kept_water_model(world: &World, found: &[ModelEntry]) -> Option<ModelEntry> {
    let running = world.get_resource::<RunningWaterModel>();
    let running = running.and_then(|running| running.0);
    let is_running = |model: &&ModelEntry| Some(model.name()) == running;
    found.iter().find(is_running).or(found.first()).copied()
}

/// The models whose settings a world has, without water models that the next frame
/// will remove: what is to be saved.
#[cfg(feature = "serialize")]
pub(crate) fn kept_models(world: &World) -> Vec<ModelEntry> {
    let kept = kept_water_model(world, &water_models_in(world));
    let models = ErosionModels::of(world);
    let is_kept = |model: &&ModelEntry| !model.moves_water() || Some(**model) == kept;
    let models = models.iter().filter(|model| model.is_in(world));
    models.filter(is_kept).copied().collect()
}

/// Removes a water model that was inserted while another runs, and says so. To
/// switch, remove the one and insert the other in one frame.
pub(crate) fn keep_one_water_model(world: &mut World) {
    let found = water_models_in(world);
    let kept = kept_water_model(world, &found);
    world.resource_mut::<RunningWaterModel>().0 = kept.as_ref().map(ModelEntry::name);
    let Some(kept) = kept else { return };
    for model in found.iter().filter(|model| **model != kept) {
        model.remove_from(world);
        let (removed, kept) = (model.name(), kept.name());
        let reason = format!(
            "`{removed}` was removed: only one water model can run, and `{kept}` is in use"
        );
        warn!("{reason}");
        world.write_message(ModelFailed {
            model: removed,
            reason,
        });
    }
}
