#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod backend;
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
pub mod settings;
#[cfg(feature = "render")]
mod shaders;
pub mod terrain;
pub mod testing;
#[cfg(feature = "render")]
pub mod view;

pub use plugin::{ErosionCorePlugin, ErosionPlugin, ErosionPlugins};
pub use query::TerrainQuery;

/// Everything that most users need.
pub mod prelude {
    pub use crate::{
        ErosionPlugin, TerrainQuery,
        backend::ErosionBackend,
        bake::{
            Bake, BakeError, BakeFinished, BakeModel, BakeProgress, BakeTask, BakedTerrain,
            RiverBake, RiverTask,
        },
        forcing::{
            Evaporation, EvaporationSolver, ForcingSystems, LavaSource, Rain, RainPattern,
            RainSolver, Season, WaterSink, WaterSource,
            edits::{
                Brush, BrushShape, EditAction, EditApplied, EditEffect, EditRefused, EditStep,
                Falloff, Fill, HeightStamp, HistoryApplied, HistoryRefused, HistoryRequest, Matter,
                Supply, TerrainEdit, TerrainHistory,
            },
        },
        masks::{Mask, MaskSettings, TerrainMasks},
        models::{
            AppErosionExt, Solver,
            droplet::{DropletSolver, Droplets, PublishedDroplets, Streams},
            lava::{Lava, LavaSolver, LavaSteam},
            meander::{
                GridGround, MeanderingRiver, RiverRequest, RiverSolver, RiverStretch, Rivers,
                TerrainRiver,
            },
            pipe::{PipeModel, PipeSolver, PublishedPipe},
            plugin::ModelFailed,
            shallow_water::{PublishedShallowWater, ShallowWater, ShallowWaterSolver},
            thermal::{Thermal, ThermalSolver},
        },
        schedule::{
            Erosion, ErosionDiagnostics, ErosionPace, ErosionStep, ErosionStepSystems,
            ErosionSystems, ErosionTime, TerrainChanged,
        },
        terrain::{
            Border, Borders, Flow, Grid, GroundPoint, Layer, Ledger, SettingsError, Terrain,
            TerrainError, TerrainHit, WaterPoint, landform::*,
        },
    };

    #[cfg(feature = "gpu")]
    pub use crate::gpu::{
        BackendChanged, EditShortfall, ErosionBackendStatus, Readback, ReadbackCompleted,
    };
    #[cfg(feature = "io")]
    pub use crate::io::{
        Endian, Heightmap, HeightmapError, HeightmapFormat, HeightmapLoader, HeightmapOptions,
        SaveError, SavedState, Vertical, VerticalRange,
    };
    #[cfg(feature = "egui")]
    pub use crate::panel::{
        BrushTool, ErosionPanel, ErosionPanelPlugin, PanelBrush, PanelPlots, PanelSection,
        PanelSections, PanelSide, Shortcuts,
    };
    #[cfg(all(feature = "egui", feature = "io"))]
    pub use crate::panel::{ExportedField, ImportedField, PanelFiles};
    #[cfg(all(feature = "egui", feature = "serialize"))]
    pub use crate::panel::{PanelPresets, PanelSceneOpened, PanelScenes};
    #[cfg(any(feature = "avian", feature = "rapier"))]
    pub use crate::physics::{ColliderArea, TerrainCollider, TerrainColliders};
    #[cfg(feature = "serialize")]
    pub use crate::scene::{
        ErosionPreset, ErosionScene, SceneCamera, SceneEntity, SceneError, SceneForcing,
        SceneModels, ScenePoint, SceneRiver, SceneTerrain, WaterColumn,
    };
    #[cfg(all(feature = "serialize", feature = "render"))]
    pub use crate::scene::{ErosionSceneLoader, ErosionScenePlugin};
    #[cfg(feature = "picking")]
    pub use crate::view::TerrainPicking;
    #[cfg(feature = "render")]
    pub use crate::view::{
        BrushRing, Detail, GroundMaterial, LavaChunk, LavaView, Overlay, Palette, Quality,
        RiverView, SteamView, TerrainChunk, TerrainView, TerrainViewState, WaterChunk,
        WaterMaterial, WaterView,
    };
}
