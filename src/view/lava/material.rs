//! The default material of lava: Bevy's own, with a glow under a crust that
//! drifts with the flow.

use super::LavaView;
use crate::view::coat::Coat;
use bevy::{
    asset::embedded_asset,
    pbr::{ExtendedMaterial, MaterialExtension, PbrPlugin},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};

/// What [`LavaChunk`](super::LavaChunk)s are drawn with at first.
pub type LavaMaterial = ExtendedMaterial<StandardMaterial, LavaExtension>;

/// What the lava's shader is told; a [`LavaView`] in the layout of the GPU.
#[derive(Asset, AsBindGroup, Reflect, Clone, Debug)]
pub struct LavaExtension {
    #[uniform(100)]
    crust: LinearRgba,
    #[uniform(100)]
    dull: LinearRgba,
    #[uniform(100)]
    bright: LinearRgba,
    /// Glow, size of the plates, nothing, nothing.
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

impl From<&LavaView> for LavaMaterial {
    fn from(view: &LavaView) -> Self {
        Self {
            base: StandardMaterial {
                base_color: view.crust.into(),
                perceptual_roughness: 0.85,
                reflectance: 0.3,
                ..default()
            },
            extension: view.into(),
        }
    }
}

/// Sets the material up, if the app draws.
pub(in crate::view) fn build(app: &mut App) {
    if app.is_plugin_added::<PbrPlugin>() {
        embedded_asset!(app, "surface.wgsl");
        app.add_plugins(MaterialPlugin::<LavaMaterial>::default());
    }
}

/// The material of a new chunk; a plain one where [`build`] came before Bevy's
/// renderer.
pub(in crate::view) fn default_material(
    view: &LavaView,
    lava: Option<&mut Assets<LavaMaterial>>,
    standard: &mut Assets<StandardMaterial>,
) -> Coat<LavaMaterial> {
    match lava {
        Some(materials) => Coat::Own(materials.add(view)),
        None => Coat::Plain(standard.add(StandardMaterial {
            base_color: view.crust.into(),
            emissive: view.bright,
            ..default()
        })),
    }
}
