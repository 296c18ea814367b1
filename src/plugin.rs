//! The plugins: put clock, models and view together. No logic of their own.

use crate::{
    backend::{self, ErosionBackend},
    bake, drainage, forcing, masks, models, schedule,
};
use bevy::{
    app::PluginGroupBuilder,
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// Adds erosion to an app: all parts of [`ErosionPlugins`].
///
/// Insert a [`Terrain`](crate::terrain::Terrain) and a model, such as
/// [`Droplets`](crate::models::droplet::Droplets) or
/// [`Thermal`](crate::models::thermal::Thermal), and the ground erodes. With
/// feature `render` it is drawn too.
///
/// To leave a part out, or to put your own in its place, add [`ErosionPlugins`]
/// instead. In an app that has them already, this plugin warns and adds nothing.
///
/// [The guide](crate::guide::getting_started) has an example.
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
        if app.is_plugin_added::<ErosionCorePlugin>() {
            warn!("`ErosionPlugin` has no effect: the app already has `ErosionPlugins`");
            return;
        }
        ErosionPlugins(self.clone()).build().finish(app);
    }
}

/// The parts of erosion, one plugin each, for apps that leave some out or put
/// their own in their place. All others add [`ErosionPlugin`].
///
/// | plugin | feature | without it |
/// |---|---|---|
/// | [`ErosionCorePlugin`] | | there is no erosion: clock, models, forcing, edits, bakes and masks |
#[cfg_attr(
    feature = "gpu",
    doc = "| [`GpuPlugin`](crate::gpu::GpuPlugin) | `gpu` | the CPU runs all models |"
)]
#[cfg_attr(
    feature = "render",
    doc = "| [`TerrainViewPlugin`](crate::view::TerrainViewPlugin) | `render` | nothing is drawn |"
)]
#[cfg_attr(
    any(feature = "avian", feature = "rapier"),
    doc = "| [`TerrainColliderPlugin`](crate::physics::TerrainColliderPlugin) | `avian`, `rapier` | the ground has no colliders |"
)]
#[cfg_attr(
    all(feature = "serialize", feature = "render"),
    doc = "| [`ErosionScenePlugin`](crate::scene::ErosionScenePlugin) | `serialize` and `render` | scenes are no assets |"
)]
#[cfg_attr(
    feature = "io",
    doc = "| [`HeightmapPlugin`](crate::io::HeightmapPlugin) | `io` | heightmaps are no assets |"
)]
///
/// The fields of [`ErosionPlugin`] hold for all parts.
///
#[cfg_attr(
    feature = "render",
    doc = "```
use bevy::prelude::*;
use bevy_erode::{ErosionPlugins, prelude::*, view::TerrainViewPlugin};

# fn main() -> Result {
// A game that draws the terrain in its own way.
let mut app = App::new();
app.add_plugins((
    MinimalPlugins,
    ErosionPlugins::default()
        .build()
        .disable::<TerrainViewPlugin>(),
));
app.insert_resource(Terrain::flat(UVec2::splat(64), 1.0)?);
app.update();
# Ok(())
# }
```"
)]
#[derive(Clone, Debug, Default)]
pub struct ErosionPlugins(pub ErosionPlugin);

impl PluginGroup for ErosionPlugins {
    #[allow(
        clippy::let_and_return,
        reason = "without any feature there is the core alone"
    )]
    fn build(self) -> PluginGroupBuilder {
        let ErosionPlugin { schedule, .. } = self.0;
        let group = PluginGroupBuilder::start::<Self>().add(ErosionCorePlugin {
            schedule,
            backend: self.0.backend,
        });
        #[cfg(feature = "gpu")]
        let group = group.add(crate::gpu::GpuPlugin { schedule });
        #[cfg(feature = "render")]
        let group = group.add(crate::view::TerrainViewPlugin { schedule });
        #[cfg(any(feature = "avian", feature = "rapier"))]
        let group = group.add(crate::physics::TerrainColliderPlugin { schedule });
        #[cfg(all(feature = "serialize", feature = "render"))]
        let group = group.add(crate::scene::ErosionScenePlugin);
        #[cfg(feature = "io")]
        let group = group.add(crate::io::HeightmapPlugin);
        group
    }
}

/// The clock, the models and what acts on the ground: the part of
/// [`ErosionPlugins`] that the others need. It draws nothing and needs no
/// renderer.
#[derive(Clone, Debug)]
pub struct ErosionCorePlugin {
    /// The schedule in which [`ErosionSystems`](crate::schedule::ErosionSystems) run.
    pub schedule: InternedScheduleLabel,
    /// Who runs the models at first.
    pub backend: ErosionBackend,
}

impl Plugin for ErosionCorePlugin {
    fn build(&self, app: &mut App) {
        schedule::build(app, self.schedule);
        models::build(app, self.schedule);
        forcing::build(app, self.schedule);
        bake::build(app, self.schedule);
        masks::build(app, self.schedule);
        drainage::build(app, self.schedule);
        backend::build(app, self.backend);
    }
}
