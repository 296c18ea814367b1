//! The plugin that draws the terrain.

use super::{
    TerrainViewState,
    brush_ring::{BrushRing, draw_ring},
    detail::choose_levels,
    ground::Ground,
    lava::Lava,
    river::{RiverView, draw_particles},
    steam::{Steam, SteamView, raise_steam},
    surface::{
        SurfaceLayerPlugin,
        rebuild::{find_changes, finish_rebuild, start_rebuild, update_layer},
    },
    water::Water,
};
use crate::schedule::ErosionSystems;
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// Draws the terrain. [`ErosionPlugin`](crate::ErosionPlugin) adds it.
#[derive(Clone, Debug)]
pub struct TerrainViewPlugin {
    /// The schedule that [`ErosionSystems`] run in.
    pub schedule: InternedScheduleLabel,
}

impl Plugin for TerrainViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<TerrainViewState>()
            .add_plugins((
                SurfaceLayerPlugin::<Ground>::default(),
                SurfaceLayerPlugin::<Water>::default(),
                SurfaceLayerPlugin::<Lava>::default(),
            ))
            .add_systems(
                self.schedule,
                (
                    find_changes,
                    update_layer::<Ground>,
                    update_layer::<Water>,
                    update_layer::<Lava>,
                    choose_levels,
                    // In this order, the next build starts in the frame in
                    // which the last one is shown.
                    finish_rebuild,
                    start_rebuild,
                )
                    .chain()
                    .in_set(ErosionSystems::Output)
                    // A server may have the feature but no renderer.
                    .run_if(resource_exists::<Assets<Mesh>>)
                    .run_if(resource_exists::<Assets<StandardMaterial>>),
            );
        app.init_resource::<BrushRing>()
            .init_resource::<RiverView>()
            .init_resource::<SteamView>()
            .init_resource::<Steam>()
            .register_type::<BrushRing>()
            .register_type::<RiverView>()
            .register_type::<SteamView>()
            .add_systems(
                self.schedule,
                // All make meshes and materials.
                (
                    draw_ring,
                    draw_particles,
                    // Each has images of its own.
                    raise_steam.ambiguous_with(crate::masks::paint_images),
                )
                    .chain()
                    .in_set(ErosionSystems::Output)
                    .run_if(resource_exists::<Assets<Mesh>>)
                    .run_if(resource_exists::<Assets<StandardMaterial>>),
            );
        #[cfg(feature = "picking")]
        super::picking::build(app);
    }
}
