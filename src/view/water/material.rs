//! The default material of water: Bevy's own, with colors by depth, ripples
//! that drift with the flow, and foam.

use super::WaterView;
use crate::view::Quality;
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};

/// The default material of [`WaterChunk`](super::WaterChunk)s.
pub type WaterMaterial = ExtendedMaterial<StandardMaterial, WaterExtension>;

/// Uniforms of the water's shader: a [`WaterView`] in the layout of the GPU.
#[derive(Asset, AsBindGroup, Reflect, Clone, Debug)]
pub struct WaterExtension {
    #[uniform(100)]
    shallow: LinearRgba,
    #[uniform(100)]
    deep: LinearRgba,
    #[uniform(100)]
    sediment: LinearRgba,
    #[uniform(100)]
    foam: LinearRgba,
    #[uniform(100)]
    sky: LinearRgba,
    /// Clarity and murk; z and w are unused.
    #[uniform(100)]
    optics: Vec4,
    /// Strength, size, number of octaves; w is unused.
    #[uniform(100)]
    ripples: Vec4,
}

impl WaterExtension {
    /// The settings of water in the layout of the GPU.
    pub fn new(view: &WaterView, quality: Quality) -> Self {
        Self {
            shallow: view.shallow,
            deep: view.deep,
            sediment: view.sediment,
            foam: view.foam,
            sky: view.sky,
            // The shader divides by these.
            optics: Vec4::new(view.clarity.max(1e-3), view.murk.max(1e-6), 0.0, 0.0),
            ripples: Vec4::new(
                view.ripple_strength.max(0.0),
                view.ripple_size.max(1e-2),
                match quality {
                    Quality::Low => 0.0,
                    Quality::Medium => 2.0,
                    Quality::High => 3.0,
                },
                0.0,
            ),
        }
    }
}

impl MaterialExtension for WaterExtension {
    fn fragment_shader() -> ShaderRef {
        "embedded://bevy_erode/view/water/surface.wgsl".into()
    }

    fn alpha_mode() -> Option<AlphaMode> {
        Some(AlphaMode::Blend)
    }

    // Transparent: it neither hides what is behind nor throws shadows.
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
