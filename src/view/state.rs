//! What the view knows of the terrain that it draws.

use super::{
    ChunkDetail,
    detail::Levels,
    ground::{Ground, mesh::Baseline},
    surface::{
        ChangedChunks, Surface, SurfaceChunks, SurfaceLayer,
        rebuild::{BuildTask, GpuMoves},
    },
    water::Water,
};
use crate::terrain::Terrain;
use bevy::{math::*, prelude::*};
use core::any::Any;

/// The chunks that draw the terrain, and how far their meshes are up to date.
#[derive(Resource, Default)]
pub struct TerrainViewState {
    /// Ground, water, lava: whatever is drawn in chunks.
    pub(super) layers: Vec<Box<dyn Surface>>,
    pub(super) changes: ChangedChunks,
    /// The terrain came in this frame.
    pub(super) is_new: bool,
    pub(super) levels: Levels,
    /// Columns and rows of chunks.
    pub(super) chunks: UVec2,
    pub(super) baseline: Baseline,
    pub(super) building: Vec<BuildTask>,
    /// Meshes that are drawn no more, for the next build's thread to free: to wake
    /// one for that alone takes longer.
    pub(super) old: Vec<Mesh>,
    /// The GPU writes the vertices of ground and water itself.
    pub(super) gpu_vertices: bool,
    pub(super) gpu_moves: GpuMoves,
}

impl TerrainViewState {
    /// Whether all meshes show the terrain as it is, as finely as they should.
    pub fn is_settled(&self, terrain: &Terrain) -> bool {
        self.changes.is_up_to_date(terrain)
            && self.layers.iter().all(|layer| layer.is_settled())
            && self.building.is_empty()
            && self.levels.is_settled()
    }

    /// The level of detail that a chunk is drawn at: every 2^level-th vertex.
    pub fn level(&self, chunk: UVec2) -> Option<u8> {
        self.levels.level(self.number(chunk)?)
    }

    /// The levels of detail of a chunk and of those around it.
    pub fn detail(&self, chunk: UVec2) -> ChunkDetail {
        let number = self.number(chunk);
        number.map_or(ChunkDetail::FULL, |number| self.levels.detail(number))
    }

    /// Triangles of all meshes, of the ground, water and lava.
    pub fn triangles(&self) -> usize {
        self.layers.iter().map(|layer| layer.triangles()).sum()
    }

    /// Meshes of the ground built so far.
    pub fn rebuilt(&self) -> u64 {
        self.layer::<Ground>().map_or(0, SurfaceChunks::built)
    }

    /// Meshes of water built so far.
    pub fn water_rebuilt(&self) -> u64 {
        self.layer::<Water>().map_or(0, SurfaceChunks::built)
    }

    /// The entity that draws a chunk's ground.
    pub fn chunk(&self, coord: UVec2) -> Option<Entity> {
        self.layer::<Ground>()?.entity(self.number(coord)?)
    }

    /// The ground as it was when the view first saw this terrain.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// Chunks and the meshes of their ground.
    pub fn ground_meshes(&self) -> impl Iterator<Item = (UVec2, AssetId<Mesh>)> + '_ {
        self.meshes::<Ground>()
    }

    /// Chunks and the meshes of their water, where there are any.
    pub fn water_meshes(&self) -> impl Iterator<Item = (UVec2, AssetId<Mesh>)> + '_ {
        self.meshes::<Water>()
    }

    /// Says whether a compute pass writes the vertices of ground and water. The
    /// view then leaves these meshes as they are when the terrain changes, keeps
    /// their bounds wide, and lets those of water cover whole chunks.
    pub fn set_gpu_vertices(&mut self, by_gpu: bool) {
        if self.gpu_vertices != by_gpu {
            self.gpu_vertices = by_gpu;
            for layer in &mut self.layers {
                layer.set_gpu_vertices(by_gpu);
            }
        }
    }

    /// Adds a layer, unless it is there.
    pub(super) fn add_layer<L: SurfaceLayer>(&mut self) {
        if self.layer::<L>().is_none() {
            self.layers.push(Box::new(SurfaceChunks::<L>::default()));
        }
    }

    pub(super) fn layer_mut<L: SurfaceLayer>(
        layers: &mut [Box<dyn Surface>],
    ) -> Option<&mut SurfaceChunks<L>> {
        let mut layers = layers.iter_mut();
        layers.find_map(|layer| (layer.as_mut() as &mut dyn Any).downcast_mut())
    }

    fn layer<L: SurfaceLayer>(&self) -> Option<&SurfaceChunks<L>> {
        let mut layers = self.layers.iter();
        layers.find_map(|layer| (layer.as_ref() as &dyn Any).downcast_ref())
    }

    fn meshes<L: SurfaceLayer>(&self) -> impl Iterator<Item = (UVec2, AssetId<Mesh>)> + '_ {
        let meshes = self.layer::<L>().map(SurfaceChunks::meshes);
        let meshes = meshes.into_iter().flatten();
        meshes.map(|(number, mesh)| (self.coord(number), mesh))
    }

    /// Row-major number of a chunk that is there.
    fn number(&self, chunk: UVec2) -> Option<usize> {
        let inside = chunk.cmplt(self.chunks).all();
        inside.then_some((chunk.y * self.chunks.x + chunk.x) as usize)
    }

    /// Column and row of a chunk.
    pub(super) fn coord(&self, number: usize) -> UVec2 {
        UVec2::new(number as u32 % self.chunks.x, number as u32 / self.chunks.x)
    }

    /// Forgets the terrain that was drawn, and what is being built of it.
    pub(super) fn clear(&mut self, commands: &mut Commands) {
        for layer in &mut self.layers {
            layer.clear(commands);
        }
        self.levels = default();
        self.chunks = UVec2::ZERO;
        self.baseline = default();
        self.building.clear();
        self.old.clear();
        self.gpu_vertices = false;
    }
}
