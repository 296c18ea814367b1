//! Keeps the masks up to date in an app.

use super::TerrainMasks;
use crate::{
    schedule::{Erosion, ErosionSystems},
    terrain::Terrain,
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};
use core::time::Duration;

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.register_type::<super::Mask>()
        .register_type::<super::MaskSettings>()
        .add_systems(
            schedule,
            follow_terrain
                .in_set(ErosionSystems::Output)
                .run_if(resource_exists::<TerrainMasks>),
        );
    #[cfg(feature = "render")]
    app.add_systems(
        schedule,
        super::images::paint_images
            // They show what was computed just now.
            .after(follow_terrain)
            .in_set(ErosionSystems::Output)
            .run_if(resource_exists::<TerrainMasks>)
            // A server may have the feature but no images.
            .run_if(resource_exists::<Assets<Image>>),
    );
}

fn follow_terrain(
    terrain: Option<Res<Terrain>>,
    time: Res<Time<Erosion>>,
    mut masks: ResMut<TerrainMasks>,
    mut last: Local<Duration>,
) {
    let seconds = time.elapsed().saturating_sub(*last).as_secs_f32();
    *last = time.elapsed();
    // Flagged as changed only if they are.
    let quiet = masks.bypass_change_detection();
    let changed = match &terrain {
        Some(terrain) => quiet.update(terrain, seconds),
        None => {
            let had_terrain = quiet.grid().is_some();
            if had_terrain {
                quiet.clear();
            }
            had_terrain
        }
    };
    if changed {
        masks.set_changed();
    }
}
