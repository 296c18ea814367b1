//! A saved state and a world: taken from it, and put into it.

use super::{
    SaveError, SavedState,
    header::Clock,
    models::Restore,
    rivers::{capture_rivers, find_rivers, restore_rivers},
};
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    models::{ErosionModels, meander::Rivers, water::kept_models},
    scene::points::{capture_points, restore_points},
    schedule::{Erosion, ErosionPace},
    terrain::Terrain,
};
use bevy::prelude::*;

/// Lets solvers and rivers follow a shift of the terrain that no step has seen yet.
fn follow_shift(world: &mut World) {
    for entry in ErosionModels::of(world).iter() {
        (entry.files.follow_shift)(world);
    }
    if world.contains_resource::<Terrain>() && world.contains_resource::<Rivers>() {
        world.resource_scope(|world, mut terrain: Mut<Terrain>| {
            // Mostly nothing was shifted, and the resource counts as unchanged.
            let terrain = terrain.bypass_change_detection();
            world.resource_mut::<Rivers>().follow_shift(terrain);
        });
    }
}

impl SavedState {
    /// Takes the whole state of a world: terrain, models with their working state,
    /// rivers with all that they carry, weather, sources, sinks, vents and clock. The
    /// world stays as it is.
    ///
    /// A river whose entity is gone, or no longer has its components, is written
    /// back into the saved terrain's layers, as the next frame would do. Of several
    /// water models, the one that runs is saved: the next frame removes the others.
    ///
    /// Edits that wait for a later step are not part of it: send them again. Nor
    /// are the history of edits and the [masks](crate::masks): after a load wear
    /// and deposit count from then, unless masks were written as
    /// [heightmaps](crate::io::Heightmap::from_mask).
    ///
    /// Call it between steps: in any system of a frame, but not within
    /// [`ErosionStep`](crate::schedule::ErosionStep).
    ///
    /// # Errors
    /// When there is no terrain, when the GPU is ahead of it, or when a setting is out
    /// of range, so that it could not be loaded again.
    pub fn capture(world: &mut World) -> Result<Self, SaveError> {
        follow_shift(world);
        let sources = capture_points::<WaterSource>(world);
        let sinks = capture_points::<WaterSink>(world);
        let vents = capture_points::<LavaSource>(world);
        for source in &sources {
            source.component.check()?;
        }
        for sink in &sinks {
            sink.component.check()?;
        }
        for vent in &vents {
            vent.component.check()?;
        }
        let found = find_rivers(world);
        if let Some(last) = world.get_resource::<crate::schedule::LastRun>()
            && last.mixes_moments
        {
            return Err(SaveError::Behind);
        }
        let terrain = world.get_resource::<Terrain>();
        let terrain = terrain.ok_or(SaveError::NoTerrain)?;
        terrain.check_saved()?;
        let mut models = Vec::new();
        for entry in kept_models(world) {
            models.extend((entry.files.capture)(world, terrain)?);
        }
        let running = world.get_resource::<Rivers>();
        let is_there = |river: Entity| found.iter().any(|(entity, _)| *entity == river);
        let saved = match running {
            Some(running) => running.written_back_except(terrain, is_there),
            None => terrain.clone(),
        };
        let rivers = capture_rivers(found, running, terrain, &saved);
        for river in &rivers {
            river.check(&saved)?;
        }
        let clock = world.get_resource::<Time<Erosion>>();
        Ok(Self {
            terrain: saved,
            clock: clock.map(|time| Clock {
                context: *time.context(),
                elapsed: time.elapsed(),
                delta: time.delta(),
            }),
            pace: world.get_resource::<ErosionPace>().copied(),
            models,
            sources,
            sinks,
            vents,
            rivers,
        })
    }

    /// Puts the whole state into a world with
    /// [`ErosionPlugin`](crate::ErosionPlugin). It continues as if it had never
    /// been saved: the same steps give the same bits.
    ///
    /// Models and weather that the state does not have are removed. Sources, sinks
    /// and rivers that are the same and at the same place stay; others lose their
    /// component, or are despawned if a scene or a state spawned them. New ones
    /// are spawned with [`SceneEntity`](crate::scene::SceneEntity).
    ///
    /// # Errors
    /// When the world has no [`ErosionPlugin`](crate::ErosionPlugin), or not all the
    /// models of the state. Nothing changes then.
    pub fn restore(self, world: &mut World) -> Result<(), SaveError> {
        if !world.contains_resource::<Time<Erosion>>() {
            return Err(SaveError::NoPlugin);
        }
        let models = ErosionModels::of(world);
        if let Some(name) = self.model_names().find(|name| models.named(name).is_none()) {
            return Err(SaveError::UnknownModel {
                name: name.into(),
                known: models.names(),
            });
        }
        let prepared: Result<Vec<Restore>, SaveError> = models
            .iter()
            .map(|entry| (entry.files.prepare)(self.model(entry.name()), &self.terrain))
            .collect();
        let running = self.open_rivers()?;
        for restore in prepared? {
            restore(world, &self.terrain);
        }
        restore_points(world, "source", self.sources);
        // Found only now: a sink may have gone with a source.
        restore_points(world, "sink", self.sinks);
        restore_points(world, "vent", self.vents);
        let rivers = restore_rivers(world, &self.rivers);
        if let Some(mut own) = world.get_resource_mut::<Rivers>() {
            let running = rivers.into_iter().zip(running);
            let running = running.filter_map(|(entity, river)| Some((entity, river?)));
            own.resume(&self.terrain, running);
        }
        if let Some(clock) = self.clock
            && let Some(mut time) = world.get_resource_mut::<Time<Erosion>>()
        {
            let mut restored = Time::new_with(clock.context);
            restored.set_wrap_period(time.wrap_period());
            restored.advance_by(clock.elapsed.saturating_sub(clock.delta));
            restored.advance_by(clock.delta);
            *time = restored;
        }
        if let Some(pace) = self.pace {
            world.insert_resource(pace);
        }
        world.insert_resource(self.terrain);
        Ok(())
    }
}
