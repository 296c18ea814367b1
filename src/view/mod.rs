//! Draws the terrain as ordinary meshes (feature `render`).
//!
//! The ground is drawn by one entity a chunk of 64 × 64 quads, marked
//! [`TerrainChunk`], with a `Mesh3d` and, at first, a [`GroundMaterial`] that
//! shows the colors of [`TerrainView`]. Put any other material in its place
//! (`Added<TerrainChunk>` finds new chunks, [`ground`] says what their vertices
//! carry): the view only ever replaces their meshes. Vertices are cell centers;
//! neighboring chunks share their border vertices and normals, so there are no
//! cracks and no seams. Chunks far from every camera are drawn by fewer of their
//! vertices; see [`Detail`].
//!
//! Water and lava are drawn by entities of their own; see [`water`] and [`lava`].
//! Where they meet, steam rises; see [`SteamView`].

mod brush_ring;
pub mod colors;
mod detail;
mod dynamic_mesh;
pub mod ground;
pub mod lava;
pub mod liquid;
pub(crate) mod overlay;
#[cfg(feature = "picking")]
mod picking;
mod plugin;
mod river;
mod state;
mod steam;
mod surface;
pub mod water;

pub use brush_ring::{BrushRing, BrushRingMark, ring_mesh};
pub use colors::Palette;
pub use detail::{ChunkDetail, Detail};
pub use ground::{GroundMaterial, TerrainChunk};
pub use lava::{LavaChunk, LavaMaterial, LavaView};
pub use overlay::Overlay;
#[cfg(feature = "picking")]
pub use picking::TerrainPicking;
pub use plugin::TerrainViewPlugin;
pub use river::{RiverDots, RiverView, dots_mesh};
pub use state::TerrainViewState;
pub use steam::{SteamPuffs, SteamView};
pub use water::{WaterChunk, WaterMaterial, WaterView};

use bevy::prelude::*;

/// How the terrain is drawn. Changing its colors repaints the terrain.
///
/// [The guide](crate::guide::view) has an example.
#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Resource, Default)]
pub struct TerrainView {
    /// Colors of rock, soil and deposits.
    pub palette: Palette,
    /// What is painted over them.
    pub overlay: Overlay,
    /// Draws the land as it was when the view first saw it.
    pub before: bool,
    /// How finely it is drawn, near and far. Changing it repaints nothing.
    pub detail: Detail,
    /// How much work the graphics adapter does for the looks of ground and
    /// water. Changing it repaints nothing.
    pub quality: Quality,
}

/// How much work the graphics adapter does for each pixel of ground and water.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[reflect(Default)]
pub enum Quality {
    /// Plain colors, and water without ripples.
    Low,
    /// Grain and beds in the ground, ripples and foam on water.
    #[default]
    Medium,
    /// Finer grain and pebbles, for cameras near the ground.
    High,
}

impl Quality {
    /// All of them, from the cheapest to the best.
    pub const ALL: [Quality; 3] = [Quality::Low, Quality::Medium, Quality::High];
}
