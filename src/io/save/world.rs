//! A saved state and a world: taken from it, and put into it.

use super::{
    SaveError, SavedState,
    header::Clock,
    models::{KINDS, Restore},
};
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    scene::springs::{capture_springs, restore_springs},
    schedule::{Erosion, ErosionPace},
    terrain::Terrain,
};
use bevy::prelude::*;

impl SavedState {
    /// Takes the whole state of a world: terrain, models with what they
    /// remember, weather, springs and clock. The world stays as it is.
    ///
    /// Edits that wait for a later step are not part of it: send them again.
    ///
    /// Call it between steps: in any system of a frame, but not within
    /// [`ErosionStep`](crate::schedule::ErosionStep).
    ///
    /// # Errors
    /// When there is no terrain, when the GPU is ahead of it, or something is set that cannot be, so that it
    /// could not be loaded again.
    pub fn capture(world: &mut World) -> Result<Self, SaveError> {
        let sources = capture_springs::<WaterSource>(world);
        let sinks = capture_springs::<WaterSink>(world);
        let vents = capture_springs::<LavaSource>(world);
        for source in &sources {
            source.spring.check()?;
        }
        for sink in &sinks {
            sink.spring.check()?;
        }
        for vent in &vents {
            vent.spring.check()?;
        }
        #[cfg(feature = "gpu")]
        if let Some(last) = world.get_resource::<crate::schedule::LastRun>()
            && last.mixes_moments
        {
            return Err(SaveError::Behind);
        }
        let terrain = world.get_resource::<Terrain>();
        let terrain = terrain.ok_or(SaveError::NoTerrain)?;
        terrain.check_saved()?;
        let mut models = Vec::new();
        for kind in KINDS {
            models.extend((kind.capture)(world, terrain)?);
        }
        let clock = world.get_resource::<Time<Erosion>>();
        Ok(Self {
            terrain: terrain.clone(),
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
        })
    }

    /// Puts the whole state into a world with
    /// [`ErosionPlugin`](crate::ErosionPlugin). It goes on as if it had never
    /// been saved: the same steps give the same bits.
    ///
    /// Models and weather that the state does not have are removed. Sources and
    /// sinks that are the same and at the same place stay; others lose their
    /// component, or are despawned if a scene or a state spawned them. New ones
    /// are spawned with [`SceneEntity`](crate::scene::SceneEntity).
    ///
    /// # Errors
    /// When the world has no erosion. Nothing changes then.
    pub fn restore(self, world: &mut World) -> Result<(), SaveError> {
        if !world.contains_resource::<Time<Erosion>>() {
            return Err(SaveError::NoPlugin);
        }
        let prepared: Result<Vec<Restore>, SaveError> = KINDS
            .iter()
            .map(|kind| (kind.prepare)(self.model(kind.name), &self.terrain))
            .collect();
        for restore in prepared? {
            restore(world, &self.terrain);
        }
        restore_springs(world, "source", self.sources);
        // Found only now: a sink may have gone with a source.
        restore_springs(world, "sink", self.sinks);
        restore_springs(world, "vent", self.vents);
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
