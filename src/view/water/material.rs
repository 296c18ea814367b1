//! The default material of water: Bevy's own, with colours by depth, ripples
//! that drift with the flow, and foam.

use super::WaterView;
use crate::view::lava::LavaMaterial;
use bevy::{
    asset::embedded_asset,
    light::NotShadowCaster,
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
    /// Strength, size, nothing, nothing.
    #[uniform(100)]
    ripples: Vec4,
}

impl From<&WaterView> for WaterExtension {
    fn from(view: &WaterView) -> Self {
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
                0.0,
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

impl From<&WaterView> for WaterMaterial {
    fn from(view: &WaterView) -> Self {
        Self {
            base: StandardMaterial {
                perceptual_roughness: 0.12,
                // 2 % at right angles, as real water.
                reflectance: 0.354,
                alpha_mode: AlphaMode::Blend,
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
        app.add_plugins(MaterialPlugin::<WaterMaterial>::default());
    }
}

/// The material of a new chunk. Where [`build`] came before Bevy's renderer,
/// it is a plain one: water should not be unseen for the order of plugins.
pub(in crate::view) fn default_material(
    view: &WaterView,
    water: Option<&mut Assets<WaterMaterial>>,
    standard: &mut Assets<StandardMaterial>,
) -> Surface {
    match water {
        Some(materials) => Surface::Water(materials.add(view)),
        None => Surface::Plain(standard.add(StandardMaterial {
            base_color: view.shallow.with_alpha(0.7).into(),
            perceptual_roughness: 0.12,
            alpha_mode: AlphaMode::Blend,
            ..default()
        })),
    }
}

/// The one material that all new chunks get.
#[derive(Clone, Debug)]
pub(in crate::view) enum Surface {
    Water(Handle<WaterMaterial>),
    Lava(Handle<LavaMaterial>),
    Plain(Handle<StandardMaterial>),
}

impl Surface {
    /// Puts it on a chunk.
    pub fn dress(&self, chunk: &mut EntityCommands) {
        chunk.insert(NotShadowCaster);
        match self {
            Surface::Water(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
            Surface::Lava(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
            Surface::Plain(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
        };
    }

    /// Brings changed settings to it.
    pub fn update(&self, view: &WaterView, water: Option<&mut Assets<WaterMaterial>>) {
        if let (Surface::Water(handle), Some(materials)) = (self, water)
            && let Some(mut material) = materials.get_mut(handle)
        {
            material.extension = view.into();
        }
    }
}
