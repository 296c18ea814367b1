//! A saved state and a world: taken from it, and put into it.

use super::{
    SaveError, SavedState, Spring,
    header::Clock,
    models::{KINDS, Restore},
};
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    scene::SceneEntity,
    schedule::{Erosion, ErosionPace},
    terrain::{SettingsError, Terrain},
};
use bevy::{ecs::system::SystemState, prelude::*};

type Springs<'w, 's, C> = Query<'w, 's, (Entity, &'static C, &'static Transform)>;

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
        let sources = capture_springs(world, WaterSource::check)?;
        let sinks = capture_springs(world, WaterSink::check)?;
        let vents = capture_springs(world, LavaSource::check)?;
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
    /// are spawned with [`SceneEntity`].
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

type Found<C> = Vec<(Entity, Spring<C>)>;

fn capture_springs<C: Component + Copy>(
    world: &mut World,
    check: fn(&C) -> Result<(), SettingsError>,
) -> Result<Vec<Spring<C>>, SaveError> {
    let found = capture_entities(world).into_iter();
    let springs: Vec<Spring<C>> = found.map(|(_, spring)| spring).collect();
    for spring in &springs {
        check(&spring.spring)?;
    }
    Ok(springs)
}

/// All springs of a kind, where they pour or drain.
fn capture_entities<C: Component + Copy>(world: &mut World) -> Found<C> {
    let mut state: SystemState<(Springs<C>, TransformHelper)> = SystemState::new(world);
    // Queries are always there to be had.
    match state.get(world) {
        Ok((springs, places)) => find(&springs, &places),
        Err(_) => Vec::new(),
    }
}

fn find<C: Component + Copy>(springs: &Springs<C>, places: &TransformHelper) -> Found<C> {
    let found = springs.iter().map(|(entity, spring, own)| {
        let place = places.compute_global_transform(entity);
        let at = place.map_or(own.translation, |place| place.translation());
        (
            entity,
            Spring {
                at: at.into(),
                spring: *spring,
            },
        )
    });
    found.collect()
}

fn restore_springs<C: Component + Copy + PartialEq>(
    world: &mut World,
    name: &'static str,
    mut wanted: Vec<Spring<C>>,
) {
    for (entity, spring) in capture_entities(world) {
        // Those of a despawned parent are gone.
        if world.get_entity(entity).is_err() {
            continue;
        }
        if let Some(same) = wanted.iter().position(|other| *other == spring) {
            wanted.swap_remove(same);
        } else if world.get::<SceneEntity>(entity).is_some() {
            world.despawn(entity);
        } else {
            world.entity_mut(entity).remove::<C>();
        }
    }
    for Spring { at, spring } in wanted {
        let place = Transform::from_translation(at.into());
        world.spawn((SceneEntity, Name::new(name), spring, place));
    }
}
