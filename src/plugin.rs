//! The plugin: puts clock, models and view together. No logic of its own.

use crate::{
    bake, forcing, masks,
    models::{
        droplet::{DropletSolver, Droplets, PublishedDroplets, Streams},
        lava::{self, Lava, LavaSolver},
        meander,
        pipe::{PipeModel, PipeSolver, PublishedPipe},
        plugin::ModelPlugin,
        shallow_water::{PublishedShallowWater, ShallowWater, ShallowWaterSolver},
        thermal::{Thermal, ThermalSolver},
        water::{self, WaterSystems},
    },
    schedule::{self, ErosionStepSystems},
};
use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// Adds erosion to an app.
///
/// Insert a [`Terrain`](crate::terrain::Terrain) and a model, such as
/// [`Droplets`] or [`Thermal`], and the ground erodes. With feature `render` it
/// is drawn too.
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Clone, Debug)]
pub struct ErosionPlugin {
    /// The schedule in which [`ErosionSystems`](crate::schedule::ErosionSystems) run.
    pub schedule: InternedScheduleLabel,
    /// Who runs the models; [`ErosionBackend`](crate::gpu::ErosionBackend) may be
    /// changed later too.
    #[cfg(feature = "gpu")]
    pub backend: crate::gpu::ErosionBackend,
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
            #[cfg(feature = "gpu")]
            backend: crate::gpu::ErosionBackend::default(),
        }
    }

    /// Lets the models run on another backend.
    #[cfg(feature = "gpu")]
    pub fn with_backend(self, backend: crate::gpu::ErosionBackend) -> Self {
        Self { backend, ..self }
    }
}

impl Plugin for ErosionPlugin {
    fn build(&self, app: &mut App) {
        schedule::build(app, self.schedule);
        app.register_type::<Droplets>()
            .register_type::<Streams>()
            .register_type::<PublishedDroplets>()
            .register_type::<PipeModel>()
            .register_type::<PublishedPipe>()
            .register_type::<ShallowWater>()
            .register_type::<PublishedShallowWater>()
            .register_type::<Lava>()
            .register_type::<Thermal>()
            .add_plugins((
                ModelPlugin::<DropletSolver>::new(ErosionStepSystems::Droplets),
                ModelPlugin::<PipeSolver>::new(WaterSystems::Pipe),
                ModelPlugin::<ShallowWaterSolver>::new(WaterSystems::ShallowWater),
                ModelPlugin::<LavaSolver>::new(ErosionStepSystems::Lava),
                ModelPlugin::<ThermalSolver>::new(ErosionStepSystems::Thermal),
            ));
        lava::steam::build(app);
        water::build(app, self.schedule);
        meander::plugin::build(app, self.schedule);
        forcing::build(app, self.schedule);
        bake::build(app, self.schedule);
        masks::build(app, self.schedule);
        #[cfg(feature = "gpu")]
        app.insert_resource(self.backend)
            .add_plugins(crate::gpu::GpuPlugin {
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
