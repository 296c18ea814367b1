//! The default material of lava: Bevy's own, with a glow under a crust that
//! drifts with the flow.

use super::LavaView;
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};

/// The default material of [`LavaChunk`](super::LavaChunk)s.
pub type LavaMaterial = ExtendedMaterial<StandardMaterial, LavaExtension>;

/// Uniforms of the lava's shader: a [`LavaView`] in the layout of the GPU.
#[derive(Asset, AsBindGroup, Reflect, Clone, Debug)]
pub struct LavaExtension {
    #[uniform(100)]
    crust: LinearRgba,
    #[uniform(100)]
    dull: LinearRgba,
    #[uniform(100)]
    bright: LinearRgba,
    /// Glow, size of the plates; z and w are unused.
    #[uniform(100)]
    shape: Vec4,
}

impl From<&LavaView> for LavaExtension {
    fn from(view: &LavaView) -> Self {
        Self {
            crust: view.crust,
            dull: view.dull,
            bright: view.bright,
            // The shader divides by the size.
            shape: Vec4::new(view.glow.max(0.0), view.plate_size.max(1e-2), 0.0, 0.0),
        }
    }
}

impl MaterialExtension for LavaExtension {
    fn fragment_shader() -> ShaderRef {
        "embedded://bevy_erode/view/lava/surface.wgsl".into()
    }

    // The surface is cut where it meets the ground, which only the main pass
    // knows.
    fn enable_prepass() -> bool {
        false
    }

    fn enable_shadows() -> bool {
        false
    }
}

pub(super) fn embed_shaders(app: &mut App) {
    embedded_asset!(app, "surface.wgsl");
}
