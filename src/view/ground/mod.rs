//! The ground: the chunks that draw it, and what they look like.
//!
//! Beside position, normal and `ATTRIBUTE_UV_0`, which is the place on the land
//! from 0 to 1, the ground's meshes carry what a material needs:
//!
//! | attribute | holds |
//! |---|---|
//! | `ATTRIBUTE_COLOR` | color by the [`Palette`](super::Palette) or the overlay; alpha is 0.75 on dry, even ground, up to 1 on crests, down to 0.5 in gullies, and falls to 0 below water |
//! | `ATTRIBUTE_UV_1` | thickness of loose ground, m; change since the view first saw the land, m |
//!
//! To use a material of your own instead of [`GroundMaterial`], insert it on the
//! chunks and remove their `MeshMaterial3d<GroundMaterial>`.

mod material;
pub mod mesh;

pub use material::{GroundExtension, GroundMaterial};

use super::{
    TerrainView,
    surface::{Change, ChunkSource, GpuVertices, LayerMesh, MeshAndBounds, SurfaceLayer},
};
use crate::terrain::{Grid, Terrain};
use bevy::{math::*, prelude::*};
use mesh::{Baseline, GroundChunkCopy, wetness_hash};

/// A piece of the ground: 64 × 64 quads, fewer at the far border.
///
/// [The guide](crate::guide::view) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct TerrainChunk {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// The ground as a surface.
pub(super) struct Ground;

/// How wet a chunk was when its mesh was built.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wetness {
    hash: u64,
    /// The revision of the water at which there was none.
    dry_at: Option<u64>,
}

impl Wetness {
    /// Whether there is no water, without a look at it.
    fn is_known_dry(&self, source: &ChunkSource) -> bool {
        let newest = || source.terrain.newest_water_around(source.coord);
        !source.terrain.has_streams() && self.dry_at.is_some_and(|seen| newest() <= seen)
    }
}

impl SurfaceLayer for Ground {
    const NAME: &'static str = "terrain chunk";
    const COVERS_ALL: bool = true;
    const CASTS_SHADOWS: bool = true;
    const REBUILT_BY: &'static [Change] = &[Change::Ground];

    type Chunk = TerrainChunk;
    type Settings = TerrainView;
    type Extension = GroundExtension;

    fn chunk(coord: UVec2) -> TerrainChunk {
        TerrainChunk { coord }
    }

    fn embed_shaders(app: &mut App) {
        material::embed_shaders(app);
    }

    fn base_material(_: &TerrainView) -> StandardMaterial {
        StandardMaterial {
            perceptual_roughness: 0.95,
            reflectance: 0.15,
            ..default()
        }
    }

    fn extension(
        _: &TerrainView,
        view: &TerrainView,
        grid: &Grid,
        baseline: &Baseline,
    ) -> GroundExtension {
        GroundExtension::new(view, grid, baseline)
    }

    fn mesh_settings(_: &TerrainView, view: &TerrainView) -> TerrainView {
        TerrainView {
            detail: default(),
            quality: default(),
            ..view.clone()
        }
    }
}

impl LayerMesh for Ground {
    const GPU_VERTICES: GpuVertices = GpuVertices::Same;
    const AFFECTED_BY: &'static [Change] = &[Change::Water];

    type MeshSettings = TerrainView;
    type Copied = GroundChunkCopy;
    type Memory = Wetness;

    fn is_in(_: &TerrainView, _: &Terrain, _: UVec2, _: UVec2) -> bool {
        true
    }

    fn is_affected(source: &ChunkSource, view: &TerrainView, wetness: &Wetness) -> bool {
        view.overlay.shows_water()
            || wetness_hash(source.terrain, source.coord, source.detail) != wetness.hash
    }

    fn copy(
        source: &ChunkSource,
        view: &TerrainView,
        wetness: Option<&Wetness>,
    ) -> Option<GroundChunkCopy> {
        let is_dry = wetness.is_some_and(|wetness| wetness.is_known_dry(source));
        let land = (source.terrain, source.baseline);
        let copied = GroundChunkCopy::copy(land, view, source.coord, source.detail, is_dry);
        Some(copied)
    }

    fn build(copied: &GroundChunkCopy, view: &TerrainView) -> (MeshAndBounds, Wetness) {
        let wetness = Wetness {
            hash: copied.wetness_hash(),
            dry_at: copied.dry_at(),
        };
        (copied.build(view), wetness)
    }
}
