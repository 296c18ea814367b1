#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod forcing;
pub mod models;
#[cfg(feature = "egui")]
pub mod panel;
pub mod parallel;
#[cfg(any(feature = "avian", feature = "rapier"))]
pub mod physics;
mod plugin;
#[cfg(feature = "serialize")]
pub mod scene;
pub mod schedule;
pub mod terrain;
#[cfg(feature = "render")]
pub mod view;

pub use plugin::ErosionPlugin;

/// Everything that most users need.
pub mod prelude {
    pub use crate::{
        ErosionPlugin,
        forcing::{
            Evaporation, EvaporationSolver, ForcingSystems, Rain, RainPattern, RainSolver,
            WaterSink, WaterSource,
        },
        models::{
            Solver,
            droplet::{DropletSolver, Droplets, PublishedDroplets, Streams},
            pipe::{PipeModel, PipeSolver, PublishedPipe},
            plugin::ErosionFault,
            thermal::{Thermal, ThermalSolver},
        },
        schedule::{
            Erosion, ErosionDiagnostics, ErosionPace, ErosionStep, ErosionStepSystems,
            ErosionSystems, ErosionTime, TerrainChanged,
        },
        terrain::{
            Border, Borders, Flow, Grid, Layer, Ledger, SettingsError, Terrain, TerrainError,
            landform::*,
        },
    };

    #[cfg(feature = "egui")]
    pub use crate::panel::{ErosionPanel, ErosionPanelPlugin};
    #[cfg(any(feature = "avian", feature = "rapier"))]
    pub use crate::physics::{ColliderArea, TerrainCollider, TerrainColliders};
    #[cfg(feature = "serialize")]
    pub use crate::scene::{
        ErosionScene, SceneCamera, SceneEntity, SceneError, SceneForcing, SceneModels, ScenePoint,
        SceneTerrain,
    };
    #[cfg(all(feature = "serialize", feature = "render"))]
    pub use crate::scene::{ErosionSceneLoader, ErosionScenePlugin};
    #[cfg(feature = "render")]
    pub use crate::view::{
        Overlay, Palette, TerrainChunk, TerrainView, TerrainViewState, WaterChunk, WaterView,
    };
}
