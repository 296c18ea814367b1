// The first definition of a link counts: these for rustdoc, those at the end of
// the README for the repository's page.
#![doc = "[guide]: crate::guide"]
#![doc = "[getting_started]: crate::guide::getting_started"]
#![doc = "[terrain]: crate::guide::terrain"]
#![doc = "[models]: crate::guide::models"]
#![doc = "[forcing]: crate::guide::forcing"]
#![doc = "[rivers]: crate::guide::rivers"]
#![doc = "[river_network]: crate::guide::river_network"]
#![doc = "[lava]: crate::guide::lava"]
#![doc = "[ageing]: crate::guide::ageing"]
#![doc = "[edits]: crate::guide::edits"]
#![doc = "[queries]: crate::guide::queries"]
#![doc = "[change_tracking]: crate::guide::change_tracking"]
#![doc = "[physics]: crate::guide::physics"]
#![doc = "[view]: crate::guide::view"]
#![doc = "[masks]: crate::guide::masks"]
#![doc = "[determinism]: crate::guide::determinism"]
#![doc = "[files]: crate::guide::files"]
#![doc = "[scenes]: crate::guide::scenes"]
#![doc = "[gallery]: crate::guide::gallery"]
#![doc = "[examples]: crate::guide::examples"]
#![doc = "[baking]: crate::guide::baking"]
#![doc = "[panel]: crate::guide::panel"]
#![doc = "[gpu]: crate::guide::gpu"]
#![doc = "[schedule]: crate::guide::schedule"]
#![doc = "[custom_models]: crate::guide::custom_models"]
#![doc = "[performance]: crate::guide::performance"]
#![doc = "[troubleshooting]: crate::guide::troubleshooting"]
#![doc = ""]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod backend;
pub mod bake;
pub mod drainage;
pub mod forcing;
#[cfg(feature = "gpu")]
pub mod gpu;
// Documentation only: the compiled crate has no part of it.
#[cfg(any(doc, doctest))]
pub mod guide;
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
pub mod settings;
#[cfg(feature = "render")]
mod shaders;
pub mod terrain;
pub mod testing;
#[cfg(feature = "render")]
pub mod view;

pub use plugin::{ErosionCorePlugin, ErosionPlugin, ErosionPlugins};
pub use query::TerrainQuery;

/// The types that most apps use. Everything else is reached by its module, such
/// as `view::WaterView` or [`forcing::Season`].
///
/// ```
/// use bevy_erode::prelude::*;
/// ```
pub mod prelude {
    pub use crate::{
        ErosionPlugin, TerrainQuery,
        backend::ErosionBackend,
        bake::{Bake, BakeFinished, BakeTask},
        forcing::{
            Evaporation, LavaSource, Rain, WaterSink, WaterSource,
            edits::{Brush, HistoryRequest, Matter, TerrainEdit},
        },
        masks::{Mask, TerrainMasks},
        models::{
            AppErosionExt, Solver,
            ageing::Ageing,
            droplet::Droplets,
            lava::Lava,
            meander::{MeanderingRiver, RiverStretch},
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
    pub use crate::gpu::ErosionBackendStatus;
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
