//! Opens a scene in an app, in place of the one before.

use super::{ErosionScene, SceneError};
use crate::{
    schedule::{Erosion, ErosionTime},
    terrain::Terrain,
};
use bevy::prelude::*;
use core::time::Duration;

/// Marks what a scene spawned. The next scene despawns it.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default)]
pub struct SceneEntity;

impl ErosionScene {
    /// Opens the scene: inserts its terrain, models and weather and spawns its
    /// rivers, sources, sinks and vents. Models and weather that the scene does not have are removed, and
    /// what the scene before spawned is despawned. Speed and step of
    /// `Time<Erosion>` become the scene's. The camera is left to you: see
    /// [`SceneCamera::transform`](super::SceneCamera::transform).
    ///
    /// # Errors
    /// When a setting is out of range; then nothing changes.
    pub fn insert(&self, commands: &mut Commands) -> Result<(), SceneError> {
        let (terrain, scene) = self.prepare()?;
        commands.queue(move |world: &mut World| open(world, terrain, scene));
        Ok(())
    }

    /// [`insert`](Self::insert), at once.
    ///
    /// # Errors
    /// When a setting is out of range; then nothing changes.
    pub fn apply(&self, world: &mut World) -> Result<(), SceneError> {
        let (terrain, scene) = self.prepare()?;
        open(world, terrain, scene);
        Ok(())
    }

    fn prepare(&self) -> Result<(Terrain, Self), SceneError> {
        self.check()?;
        Ok((self.build_terrain()?, self.clone()))
    }
}

fn open(world: &mut World, terrain: Terrain, scene: ErosionScene) {
    let mut former = world.query_filtered::<Entity, With<SceneEntity>>();
    let former: Vec<Entity> = former.iter(world).collect();
    for entity in former {
        world.despawn(entity);
    }
    scene.forcing.apply(world, &terrain);
    for river in scene.rivers {
        river.spawn(world);
    }
    world.insert_resource(terrain);
    scene.models.apply(world);
    if let Some(mut time) = world.get_resource_mut::<Time<Erosion>>() {
        time.set_speed(scene.speed);
        // It was checked, so it is a duration.
        time.set_step_size(Duration::try_from_secs_f32(scene.step).unwrap_or_default());
    }
}

/// Inserts a resource, or removes it if there is none.
pub(super) fn set_resource<R: Resource>(world: &mut World, resource: Option<R>) {
    match resource {
        Some(resource) => world.insert_resource(resource),
        None => {
            world.remove_resource::<R>();
        }
    }
}
