//! The default material of the ground: Bevy's own, painted finer than the
//! vertices are.
//!
//! Beside position, normal and `ATTRIBUTE_UV_0`, which is the place on the land
//! from 0 to 1, the ground's meshes carry what a material wants to know:
//!
//! | attribute | holds |
//! |---|---|
//! | `ATTRIBUTE_COLOR` | color by the [`Palette`](super::Palette) or the overlay; alpha is 0.75 on dry, even ground, up to 1 on crests, down to 0.5 in gullies, and falls to 0 below water |
//! | `ATTRIBUTE_UV_1` | thickness of loose ground, m; change since the view first saw the land, m |
//!
//! A material of your own takes the place of this one: insert it on the chunks
//! and remove their `MeshMaterial3d<GroundMaterial>`.

use super::{Overlay, Quality, TerrainView, coat::Coat, colors::PaletteUniform, mesh::Baseline};
use crate::terrain::Grid;
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension, PbrPlugin},
    prelude::*,
    render::render_resource::{AsBindGroup, ShaderType},
    shader::ShaderRef,
};

/// What [`TerrainChunk`](super::TerrainChunk)s are drawn with at first.
pub type GroundMaterial = ExtendedMaterial<StandardMaterial, GroundExtension>;

/// What the ground's shader is told; a [`TerrainView`] and the land it shows in
/// the layout of the GPU.
#[derive(Asset, AsBindGroup, Reflect, Clone, Debug)]
pub struct GroundExtension {
    #[uniform(100)]
    look: GroundLook,
}

#[derive(ShaderType, Reflect, Clone, Copy, Debug, Default)]
struct GroundLook {
    palette: PaletteUniform,
    octaves: u32,
    pebbles: u32,
    cell_size: f32,
    spare: f32,
}

impl GroundExtension {
    /// The look of a land.
    pub(super) fn new(view: &TerrainView, grid: &Grid, baseline: &Baseline) -> Self {
        // Overlays are to be read, not to look like ground.
        let quality = match view.overlay {
            Overlay::None => view.quality,
            _ => Quality::Low,
        };
        let (lowest, relief) = baseline.range();
        let look = GroundLook {
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
        Self { look }
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

/// Sets the material up, if the app draws.
pub(super) fn build(app: &mut App) {
    if app.is_plugin_added::<PbrPlugin>() {
        crate::shaders::load(app);
        embedded_asset!(app, "surface.wgsl");
        app.add_plugins(MaterialPlugin::<GroundMaterial>::default());
    }
}

/// The material of a new land.
pub(super) fn default_material(
    extension: GroundExtension,
    ground: Option<&mut Assets<GroundMaterial>>,
    standard: &mut Assets<StandardMaterial>,
) -> Coat<GroundMaterial> {
    let base = StandardMaterial {
        perceptual_roughness: 0.95,
        reflectance: 0.15,
        ..default()
    };
    match ground {
        Some(materials) => Coat::Own(materials.add(GroundMaterial { base, extension })),
        None => Coat::Plain(standard.add(base)),
    }
}
