//! Exactly one water model runs. All keep water and its discharge in the terrain,
//! so that one can take over from another at any time.

use super::{ErosionModels, ModelEntry, plugin::ModelFailed};
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

/// Removes a water model that was inserted while another runs, and says so. To
/// switch, remove the one and insert the other in one frame.
pub(crate) fn keep_one_water_model(world: &mut World) {
    let models = world.resource::<ErosionModels>();
    let found = models.water_models().filter(|model| model.is_in(world));
    let found: Vec<ModelEntry> = found.copied().collect();
    let running = world.resource::<RunningWaterModel>().0;
    let is_running = |model: &&ModelEntry| Some(model.name()) == running;
    // Of those that come at once, the first in the table stays.
    let kept = found.iter().find(is_running).or(found.first());
    world.resource_mut::<RunningWaterModel>().0 = kept.map(ModelEntry::name);
    let Some(kept) = kept else { return };
    for model in found.iter().filter(|model| *model != kept) {
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
