//! A saved state and a world: taken from it, and put into it.

use super::{
    SaveError, SavedRiver, SavedState,
    header::Clock,
    models::{KINDS, Restore},
};
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    models::meander::{MeanderingRiver, Rivers, Stretch},
    scene::{
        SceneEntity,
        springs::{capture_springs, restore_springs},
    },
    schedule::{Erosion, ErosionPace},
    terrain::Terrain,
};
use bevy::{ecs::system::SystemState, prelude::*};

impl SavedState {
    /// Takes the whole state of a world: terrain, models with what they
    /// remember, weather, springs and clock. The world stays as it is.
    ///
    /// What rivers carry is written back into the saved terrain's layers; when
    /// they are loaded they start anew from there, with nothing lost.
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
        let rivers: Vec<SavedRiver> = find_rivers(world)
            .into_iter()
            .map(|(_, river)| river)
            .collect();
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
        for river in &rivers {
            river.check(terrain)?;
        }
        let running = world.get_resource::<Rivers>();
        let clock = world.get_resource::<Time<Erosion>>();
        Ok(Self {
            terrain: running.map_or_else(|| terrain.clone(), |rivers| rivers.written_back(terrain)),
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
    /// [`ErosionPlugin`](crate::ErosionPlugin). It goes on as if it had never
    /// been saved: the same steps give the same bits.
    ///
    /// Models and weather that the state does not have are removed. Sources, sinks
    /// and rivers that are the same and at the same place stay; others lose their
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
        restore_rivers(world, self.rivers);
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

impl SavedRiver {
    pub fn check(&self, terrain: &Terrain) -> Result<(), SaveError> {
        let place = self.place();
        self.stretch
            .check_on(&self.settings, &place, terrain.grid())?;
        Ok(())
    }

    fn place(&self) -> Transform {
        let (x, y, z, w) = self.turned;
        Transform::from_translation(self.at.into()).with_rotation(Quat::from_xyzw(x, y, z, w))
    }
}

/// All rivers, where they run.
fn find_rivers(world: &mut World) -> Vec<(Entity, SavedRiver)> {
    type Found<'w, 's> = Query<'w, 's, (Entity, &'static MeanderingRiver, &'static Stretch)>;
    let mut state: SystemState<(Found, TransformHelper)> = SystemState::new(world);
    // Queries are always there to be had.
    let Ok((rivers, places)) = state.get(world) else {
        return Vec::new();
    };
    let found = rivers.iter().map(|(entity, settings, stretch)| {
        let place = places.compute_global_transform(entity);
        let place = place.map_or_else(|_| Transform::default(), |place| place.compute_transform());
        let river = SavedRiver {
            at: place.translation.into(),
            turned: place.rotation.into(),
            stretch: *stretch,
            settings: settings.clone(),
        };
        (entity, river)
    });
    found.collect()
}

fn restore_rivers(world: &mut World, mut wanted: Vec<SavedRiver>) {
    for (entity, river) in find_rivers(world) {
        if let Some(same) = wanted.iter().position(|other| *other == river) {
            wanted.swap_remove(same);
        } else if world.get::<SceneEntity>(entity).is_some() {
            world.despawn(entity);
        } else {
            world.entity_mut(entity).remove::<MeanderingRiver>();
        }
    }
    for river in wanted {
        let place = river.place();
        let SavedRiver {
            stretch, settings, ..
        } = river;
        world.spawn((SceneEntity, Name::new("river"), settings, stretch, place));
    }
}
