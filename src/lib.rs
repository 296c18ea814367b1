#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bake;
pub mod forcing;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "io")]
pub mod io;
pub mod masks;
pub mod models;
#[cfg(feature = "egui")]
pub mod panel;
pub mod parallel;
#[cfg(any(feature = "avian", feature = "rapier"))]
pub mod physics;
mod plugin;
mod query;
#[cfg(feature = "serialize")]
pub mod scene;
pub mod schedule;
#[cfg(any(feature = "gpu", feature = "render"))]
mod shaders;
pub mod terrain;
#[cfg(feature = "render")]
pub mod view;

pub use plugin::ErosionPlugin;
pub use query::TerrainQuery;

/// The types that most apps use. Everything else is reached by its module, such
/// as `view::WaterView` or [`forcing::Season`](crate::forcing::Season).
///
/// ```
/// use bevy_erode::prelude::*;
/// ```
pub mod prelude {
    pub use crate::{
        ErosionPlugin, TerrainQuery,
        bake::{Bake, BakeFinished, BakeTask},
        forcing::{
            Evaporation, LavaSource, Rain, WaterSink, WaterSource,
            edits::{Brush, HistoryRequest, Matter, TerrainEdit},
        },
        masks::{Mask, TerrainMasks},
        models::{
            Solver,
            droplet::Droplets,
            lava::Lava,
            meander::{MeanderingRiver, Stretch},
            pipe::PipeModel,
            shallow_water::ShallowWater,
            thermal::Thermal,
        },
        schedule::{Erosion, ErosionPace, ErosionSystems, ErosionTime, TerrainChanged},
        terrain::{
            Border, Borders, Layer, Terrain,
            landform::{Fbm, Island, Ridged},
        },
    };

    #[cfg(feature = "gpu")]
    pub use crate::gpu::{ErosionBackend, ErosionBackendStatus};
    #[cfg(feature = "io")]
    pub use crate::io::{Heightmap, HeightmapOptions, SavedState};
    #[cfg(all(feature = "egui", feature = "serialize"))]
    pub use crate::panel::PanelScenes;
    #[cfg(feature = "egui")]
    pub use crate::panel::{ErosionPanel, ErosionPanelPlugin, PanelBrush};
    #[cfg(any(feature = "avian", feature = "rapier"))]
    pub use crate::physics::{ColliderArea, TerrainColliders};
    #[cfg(feature = "serialize")]
    pub use crate::scene::ErosionScene;
    #[cfg(feature = "render")]
    pub use crate::view::{Overlay, TerrainChunk, TerrainView};
}
