//! The default material of water: Bevy's own, with colors by depth, ripples
//! that drift with the flow, and foam.

use super::WaterView;
use crate::view::{Quality, coat::Coat};
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension, PbrPlugin},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};

/// What [`WaterChunk`](super::WaterChunk)s are drawn with at first.
pub type WaterMaterial = ExtendedMaterial<StandardMaterial, WaterExtension>;

/// What the water's shader is told; a [`WaterView`] in the layout of the GPU.
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
    /// Clarity, murk, foam speed, nothing.
    #[uniform(100)]
    optics: Vec4,
    /// Strength, size, how many sizes of them, nothing.
    #[uniform(100)]
    ripples: Vec4,
}

impl WaterExtension {
    /// The look of water.
    pub fn new(view: &WaterView, quality: Quality) -> Self {
        Self {
            shallow: view.shallow,
            deep: view.deep,
            sediment: view.sediment,
            foam: view.foam,
            sky: view.sky,
            // The shader divides by these.
            optics: Vec4::new(
                view.clarity.max(1e-3),
                view.murk.max(1e-6),
                view.foam_speed.max(1e-3),
                0.0,
            ),
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

/// Sets the material up, if the app draws.
pub(in crate::view) fn build(app: &mut App) {
    if app.is_plugin_added::<PbrPlugin>() {
        embedded_asset!(app, "surface.wgsl");
        app.add_plugins(MaterialPlugin::<WaterMaterial>::default());
    }
}

/// The material of new chunks.
pub(in crate::view) fn default_material(
    view: &WaterView,
    quality: Quality,
    water: Option<&mut Assets<WaterMaterial>>,
    standard: &mut Assets<StandardMaterial>,
) -> Coat<WaterMaterial> {
    match water {
        Some(materials) => Coat::Own(materials.add(WaterMaterial {
            base: StandardMaterial {
                perceptual_roughness: 0.12,
                // 2 % at right angles, as real water.
                reflectance: 0.354,
                alpha_mode: AlphaMode::Blend,
                ..default()
            },
            extension: WaterExtension::new(view, quality),
        })),
        None => Coat::Plain(standard.add(StandardMaterial {
            base_color: view.shallow.with_alpha(0.7).into(),
            perceptual_roughness: 0.12,
            alpha_mode: AlphaMode::Blend,
            ..default()
        })),
    }
}
