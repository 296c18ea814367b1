#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod models;
#[cfg(feature = "egui")]
pub mod panel;
pub mod parallel;
mod plugin;
pub mod schedule;
pub mod terrain;
#[cfg(feature = "render")]
pub mod view;

pub use plugin::ErosionPlugin;

/// Everything that most users need.
pub mod prelude {
    pub use crate::{
        ErosionPlugin,
        models::{
            Solver,
            droplet::{DropletSolver, Droplets, PublishedDroplets, Streams},
            plugin::ErosionFault,
            thermal::{Thermal, ThermalSolver},
        },
        schedule::{
            Erosion, ErosionDiagnostics, ErosionPace, ErosionStep, ErosionStepSystems,
            ErosionSystems, ErosionTime, TerrainChanged,
        },
        terrain::{Grid, Layer, Ledger, Terrain, TerrainError, landform::*},
    };

    #[cfg(feature = "egui")]
    pub use crate::panel::{ErosionPanel, ErosionPanelPlugin};
    #[cfg(feature = "render")]
    pub use crate::view::{Overlay, Palette, TerrainChunk, TerrainView, TerrainViewState};
}
