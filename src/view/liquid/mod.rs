//! The surface of a liquid on the ground: what water and lava share.

pub mod mesh;
pub(crate) mod vertex;

use super::{
    Overlay, TerrainView,
    surface::{Change, ChunkSource, GpuVertices, LayerMesh, MeshAndBounds},
};
use crate::terrain::{TILE, Terrain};
use bevy::math::*;
use core::ops::Range;
use mesh::LiquidChunkCopy;
use std::borrow::Cow;

/// Something that flows over the ground.
pub(super) trait Liquid: Send + Sync + 'static {
    /// Whether the GPU can write the vertices of its surface.
    const GPU_WRITES_VERTICES: bool;

    /// Whether a terrain can hold any.
    fn is_present(terrain: &Terrain) -> bool;

    /// Its depths in some columns of a row.
    fn depths(terrain: &Terrain, columns: Range<u32>, y: u32) -> Cow<'_, [f32]>;

    /// Its depth in a cell.
    fn depth(terrain: &Terrain, x: u32, y: u32) -> f32;

    /// What it carries, a depth for each cell: sediment, or heat.
    fn loads(terrain: &Terrain) -> Option<&[f32]>;

    /// Its velocity in a cell.
    fn velocity(terrain: &Terrain, x: u32, y: u32) -> Vec2;

    /// Whether its velocity may be other than zero.
    fn is_moving(terrain: &Terrain) -> bool;
}

/// What the meshes of a liquid depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LiquidMeshSettings {
    is_drawn: bool,
    /// Shallower liquid is not drawn. units: m
    min_depth: f32,
    /// Speed that the liquid loses where it is all white, if it foams. units: m/s
    foam_speed: Option<f32>,
}

impl LiquidMeshSettings {
    /// A liquid is not drawn over an overlay, nor in the past.
    pub fn new(view: &TerrainView, visible: bool, min_depth: f32) -> Self {
        Self {
            is_drawn: visible && view.overlay == Overlay::None && !view.before,
            min_depth,
            foam_speed: None,
        }
    }

    /// With foam, all white where the liquid loses this speed as it breaks.
    pub fn with_foam(self, speed: f32) -> Self {
        // Foam is by shares of it.
        let foam_speed = Some(speed.max(1e-3));
        Self { foam_speed, ..self }
    }

    /// Whether there is anything to draw from one cell to another.
    pub fn is_in<Q: Liquid>(&self, terrain: &Terrain, first: UVec2, last: UVec2) -> bool {
        self.is_drawn && any_deeper::<Q>(terrain, first, last, self.min_depth)
    }

    /// Copies what the mesh of a chunk needs, if there is anything to draw.
    pub fn copy<Q: Liquid>(&self, source: &ChunkSource) -> Option<LiquidChunkCopy> {
        let (terrain, chunk) = (source.terrain, source.coord);
        let copy = || LiquidChunkCopy::copy::<Q>(terrain, chunk, self, source.detail);
        self.is_drawn.then(copy).flatten()
    }

    /// The same for a GPU that writes the vertices: the whole chunk, wet or dry,
    /// if the liquid is no farther away than one.
    pub fn copy_covering<Q: Liquid>(&self, source: &ChunkSource) -> Option<LiquidChunkCopy> {
        let (terrain, chunk) = (source.terrain, source.coord);
        let copy = || LiquidChunkCopy::covering::<Q>(terrain, chunk, self, source.detail);
        let is_near = self.is_drawn && self.is_near::<Q>(terrain, chunk);
        is_near.then(copy)
    }

    /// Whether the liquid is in a chunk or no farther away than one.
    pub fn is_near<Q: Liquid>(&self, terrain: &Terrain, chunk: UVec2) -> bool {
        let grid = terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let from = first.saturating_sub(UVec2::splat(TILE));
        let to = (last + TILE).min(grid.size() - 1);
        any_deeper::<Q>(terrain, from, to, self.min_depth)
    }
}

/// The surfaces of all liquids are made alike.
impl<Q: Liquid> LayerMesh for Q {
    const GPU_VERTICES: GpuVertices = match Q::GPU_WRITES_VERTICES {
        true => GpuVertices::Covering,
        false => GpuVertices::None,
    };
    // Whether there is any to be seen depends on the liquid alone: ground that
    // moves where there was none brings none.
    const AFFECTED_BY: &'static [Change] = &[Change::GroundAround];

    type MeshSettings = LiquidMeshSettings;
    type Copied = LiquidChunkCopy;
    type Memory = ();

    fn is_in(settings: &LiquidMeshSettings, terrain: &Terrain, first: UVec2, last: UVec2) -> bool {
        settings.is_in::<Q>(terrain, first, last)
    }

    fn is_in_reach(settings: &LiquidMeshSettings, terrain: &Terrain, chunk: UVec2) -> bool {
        settings.is_near::<Q>(terrain, chunk)
    }

    fn copy(
        source: &ChunkSource,
        settings: &LiquidMeshSettings,
        _: Option<&()>,
    ) -> Option<LiquidChunkCopy> {
        match Q::GPU_WRITES_VERTICES && source.gpu_vertices {
            true => settings.copy_covering::<Q>(source),
            false => settings.copy::<Q>(source),
        }
    }

    fn build(copied: &LiquidChunkCopy, _: &LiquidMeshSettings) -> (MeshAndBounds, ()) {
        (copied.build(), ())
    }
}

/// Whether a liquid from one cell to another is anywhere deeper than `min_depth`.
fn any_deeper<Q: Liquid>(terrain: &Terrain, from: UVec2, to: UVec2, min_depth: f32) -> bool {
    Q::is_present(terrain)
        && (from.y..=to.y).any(|y| {
            let depths = Q::depths(terrain, from.x..to.x + 1, y);
            // No early end within a row: so many are compared at once.
            depths
                .iter()
                .fold(false, |any, depth| any | (*depth > min_depth))
        })
}
