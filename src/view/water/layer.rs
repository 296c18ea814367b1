//! Water as a surface in chunks.

use super::{WaterChunk, WaterExtension, WaterView, material};
use crate::{
    terrain::{Grid, Terrain},
    view::{
        TerrainView,
        ground::mesh::Baseline,
        liquid::{Liquid, LiquidMeshSettings},
        surface::{Change, SurfaceLayer},
    },
};
use bevy::{math::*, prelude::*};
use core::ops::Range;
use std::borrow::Cow;

/// Water as a surface.
pub(in crate::view) struct Water;

impl Liquid for Water {
    const GPU_WRITES_VERTICES: bool = true;

    #[inline]
    fn is_present(_: &Terrain) -> bool {
        true
    }

    fn depths(terrain: &Terrain, columns: Range<u32>, y: u32) -> Cow<'_, [f32]> {
        terrain.water_depths(columns, y)
    }

    #[inline]
    fn depth(terrain: &Terrain, x: u32, y: u32) -> f32 {
        terrain.water_depth(x, y)
    }

    #[inline]
    fn loads(terrain: &Terrain) -> Option<&[f32]> {
        Some(terrain.suspended())
    }

    #[inline]
    fn velocity(terrain: &Terrain, x: u32, y: u32) -> Vec2 {
        terrain.velocity(x, y)
    }

    #[inline]
    fn is_moving(terrain: &Terrain) -> bool {
        terrain.flow().is_some() || terrain.has_streams()
    }
}

impl SurfaceLayer for Water {
    const NAME: &'static str = "water chunk";
    const COVERS_ALL: bool = false;
    const CASTS_SHADOWS: bool = false;
    const REBUILT_BY: &'static [Change] = &[Change::Water];

    type Chunk = WaterChunk;
    type Settings = WaterView;
    type Extension = WaterExtension;

    fn chunk(coord: UVec2) -> WaterChunk {
        WaterChunk { coord }
    }

    fn embed_shaders(app: &mut App) {
        material::embed_shaders(app);
    }

    fn base_material(_: &WaterView) -> StandardMaterial {
        StandardMaterial {
            perceptual_roughness: 0.12,
            // 2 % at right angles, as real water.
            reflectance: 0.354,
            alpha_mode: AlphaMode::Blend,
            ..default()
        }
    }

    fn plain_material(settings: &WaterView) -> StandardMaterial {
        StandardMaterial {
            base_color: settings.shallow.with_alpha(0.7).into(),
            perceptual_roughness: 0.12,
            alpha_mode: AlphaMode::Blend,
            ..default()
        }
    }

    fn extension(
        settings: &WaterView,
        view: &TerrainView,
        _: &Grid,
        _: &Baseline,
    ) -> WaterExtension {
        WaterExtension::new(settings, view.quality)
    }

    fn mesh_settings(settings: &WaterView, view: &TerrainView) -> LiquidMeshSettings {
        LiquidMeshSettings::new(view, settings.visible, settings.min_depth)
            .with_foam(settings.foam_speed)
    }
}
