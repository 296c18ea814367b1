//! Lava as a surface in chunks.

use super::{LavaChunk, LavaExtension, LavaView, material, velocity};
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

/// Lava as a surface.
pub(in crate::view) struct Lava;

impl Liquid for Lava {
    const GPU_WRITES_VERTICES: bool = false;

    #[inline]
    fn is_present(terrain: &Terrain) -> bool {
        terrain.lava().is_some()
    }

    fn depths(terrain: &Terrain, columns: Range<u32>, y: u32) -> Cow<'_, [f32]> {
        match terrain.lava() {
            Some(depths) => {
                let first = terrain.grid().index(columns.start, y);
                Cow::Borrowed(&depths[first..first + columns.len()])
            }
            None => Cow::Owned(vec![0.0; columns.len()]),
        }
    }

    #[inline]
    fn depth(terrain: &Terrain, x: u32, y: u32) -> f32 {
        let depths = terrain.lava();
        depths.map_or(0.0, |depths| depths[terrain.grid().index(x, y)])
    }

    #[inline]
    fn loads(terrain: &Terrain) -> Option<&[f32]> {
        terrain.lava_heat()
    }

    #[inline]
    fn velocity(terrain: &Terrain, x: u32, y: u32) -> Vec2 {
        velocity(terrain, x, y)
    }

    #[inline]
    fn is_moving(_: &Terrain) -> bool {
        true
    }
}

impl SurfaceLayer for Lava {
    const NAME: &'static str = "lava chunk";
    const COVERS_ALL: bool = false;
    const CASTS_SHADOWS: bool = false;
    const REBUILT_BY: &'static [Change] = &[Change::Lava];

    type Chunk = LavaChunk;
    type Settings = LavaView;
    type Extension = LavaExtension;

    fn chunk(coord: UVec2) -> LavaChunk {
        LavaChunk { coord }
    }

    fn embed_shaders(app: &mut App) {
        material::embed_shaders(app);
    }

    fn base_material(settings: &LavaView) -> StandardMaterial {
        StandardMaterial {
            base_color: settings.crust.into(),
            perceptual_roughness: 0.85,
            reflectance: 0.3,
            ..default()
        }
    }

    fn plain_material(settings: &LavaView) -> StandardMaterial {
        StandardMaterial {
            base_color: settings.crust.into(),
            emissive: settings.bright,
            ..default()
        }
    }

    fn extension(settings: &LavaView, _: &TerrainView, _: &Grid, _: &Baseline) -> LavaExtension {
        settings.into()
    }

    fn mesh_settings(settings: &LavaView, view: &TerrainView) -> LiquidMeshSettings {
        LiquidMeshSettings::new(view, settings.visible, settings.min_depth)
    }
}
