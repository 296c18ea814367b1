//! The plugin: puts clock, models and view together. No logic of its own.

use crate::{
    backend::{self, ErosionBackend},
    bake, forcing, masks, models, schedule,
};
use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// Adds erosion to an app.
///
/// Insert a [`Terrain`](crate::terrain::Terrain) and a model, such as
/// [`Droplets`](crate::models::droplet::Droplets) or
/// [`Thermal`](crate::models::thermal::Thermal), and the ground erodes. With feature `render` it
/// is drawn too.
#[derive(Clone, Debug)]
pub struct ErosionPlugin {
    /// The schedule in which [`ErosionSystems`](crate::schedule::ErosionSystems) run.
    pub schedule: InternedScheduleLabel,
    /// Who runs the models; [`ErosionBackend`] may be changed later too. Without the
    /// feature `gpu` it is always the CPU.
    pub backend: ErosionBackend,
}

impl Default for ErosionPlugin {
    fn default() -> Self {
        Self::in_schedule(Update)
    }
}

impl ErosionPlugin {
    /// Runs erosion in another schedule, for instance `FixedUpdate`.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
            backend: ErosionBackend::default(),
        }
    }

    /// Lets the models run on another backend.
    pub fn with_backend(self, backend: ErosionBackend) -> Self {
        Self { backend, ..self }
    }
}

impl Plugin for ErosionPlugin {
    fn build(&self, app: &mut App) {
        schedule::build(app, self.schedule);
        models::build(app, self.schedule);
        forcing::build(app, self.schedule);
        bake::build(app, self.schedule);
        masks::build(app, self.schedule);
        backend::build(app, self.backend);
        #[cfg(feature = "gpu")]
        app.add_plugins(crate::gpu::GpuPlugin {
            schedule: self.schedule,
        });
        #[cfg(feature = "render")]
        app.add_plugins(crate::view::TerrainViewPlugin {
            schedule: self.schedule,
        });
        #[cfg(any(feature = "avian", feature = "rapier"))]
        crate::physics::build(app, self.schedule);
        #[cfg(all(feature = "serialize", feature = "render"))]
        app.add_plugins(crate::scene::ErosionScenePlugin);
        #[cfg(feature = "io")]
        app.add_plugins(crate::io::HeightmapPlugin);
    }
}
