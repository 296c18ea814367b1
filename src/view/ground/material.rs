//! The default material of the ground: Bevy's own, painted finer than the
//! vertices are.

use super::mesh::Baseline;
use crate::{
    terrain::Grid,
    view::{Overlay, Quality, TerrainView, colors::PaletteUniform},
};
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension},
    prelude::*,
    render::render_resource::{AsBindGroup, ShaderType},
    shader::ShaderRef,
};

/// The default material of [`TerrainChunk`](super::TerrainChunk)s.
pub type GroundMaterial = ExtendedMaterial<StandardMaterial, GroundExtension>;

/// Uniforms of the ground's shader: a [`TerrainView`] and the terrain it shows, in
/// the layout of the GPU.
#[derive(Asset, AsBindGroup, Reflect, Clone, Debug)]
pub struct GroundExtension {
    #[uniform(100)]
    settings: GroundUniform,
}

#[derive(ShaderType, Reflect, Clone, Copy, Debug, Default)]
struct GroundUniform {
    palette: PaletteUniform,
    octaves: u32,
    pebbles: u32,
    cell_size: f32,
    spare: f32,
}

impl GroundExtension {
    /// The settings for a terrain.
    pub(super) fn new(view: &TerrainView, grid: &Grid, baseline: &Baseline) -> Self {
        // Overlays are to be read, not to look like ground.
        let quality = match view.overlay {
            Overlay::None => view.quality,
            _ => Quality::Low,
        };
        let (lowest, relief) = baseline.range();
        let settings = GroundUniform {
            palette: PaletteUniform::new(&view.palette, grid.origin().y + lowest, relief),
            octaves: match quality {
                Quality::Low => 0,
                Quality::Medium => 3,
                Quality::High => 6,
            },
            pebbles: (quality == Quality::High).into(),
            cell_size: grid.cell_size(),
            spare: 0.0,
        };
        Self { settings }
    }
}

impl MaterialExtension for GroundExtension {
    fn fragment_shader() -> ShaderRef {
        "embedded://bevy_erode/view/ground/surface.wgsl".into()
    }

    fn deferred_fragment_shader() -> ShaderRef {
        Self::fragment_shader()
    }
}

pub(super) fn embed_shaders(app: &mut App) {
    crate::shaders::load(app);
    embedded_asset!(app, "surface.wgsl");
}
