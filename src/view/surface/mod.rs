//! How a surface of the terrain is drawn in chunks: one mechanism for the
//! ground, water and lava.
//!
//! A surface is a type that implements [`SurfaceLayer`]: it says how it looks and
//! which changes of the terrain it follows. Which cells a chunk's mesh needs and how
//! the mesh is built from a copy of them is its [`LayerMesh`], which all
//! [liquids](super::liquid::Liquid) share. All else is here, once for all layers: the
//! entities and their material ([`SurfaceChunks`]), the queue of chunks to be
//! built anew, and the build itself ([`rebuild`]).
//!
//! Dirty chunks are copied, built on the async task pool, and swapped in all at
//! once when the last of them is ready: neighbors always show the same moment,
//! and water and lava the same as the ground below them, so no crack opens
//! between them.
//!
//! To add a layer, give it a folder with its settings, its marker, its material,
//! its `SurfaceLayer`, and its `LayerMesh` or `Liquid`; name it in `TerrainViewPlugin` twice, as a
//! [`SurfaceLayerPlugin`] and as [`update_layer`](rebuild::update_layer); and
//! export its public types. If it follows a layer of the terrain that none does
//! yet, [`Change`] needs a variant.

mod cells;
mod changes;
mod chunk_set;
mod chunks;
mod material;
mod mesh_swap;
pub(super) mod rebuild;

pub(super) use cells::{Cells, CopiedCells, LiveCells, Planes};
pub(super) use changes::{Change, ChangedChunks};
pub(super) use chunk_set::ChunkSet;
pub(super) use chunks::{Surface, SurfaceChunks};
pub(super) use mesh_swap::MeshAndBounds;

use super::{ChunkDetail, TerrainView, ground::mesh::Baseline};
use crate::terrain::{Grid, Terrain};
use bevy::{
    math::*,
    pbr::{ExtendedMaterial, MaterialExtension, MaterialPlugin, PbrPlugin},
    prelude::*,
    reflect::GetTypeRegistration,
};
use core::hash::Hash;

/// A surface that is drawn in chunks: how it looks, and which changes it follows. Its
/// meshes are those of [`LayerMesh`].
pub(super) trait SurfaceLayer: LayerMesh {
    /// What its entities are called, before column and row.
    const NAME: &'static str;
    /// Whether every chunk has it. Its entities are there from the start, and
    /// levels of detail go by its heights.
    const COVERS_ALL: bool;
    /// Whether its chunks cast shadows.
    const CASTS_SHADOWS: bool;
    /// Changes after which a chunk's mesh is built anew.
    const REBUILT_BY: &'static [Change];

    /// Marks its entities.
    type Chunk: Component + GetTypeRegistration;
    /// The resource that says how it is drawn.
    type Settings: Resource + FromWorld + GetTypeRegistration;
    /// What its material adds to Bevy's own.
    type Extension: MaterialExtension;

    /// The marker of a chunk.
    fn chunk(coord: UVec2) -> Self::Chunk;

    /// Embeds its shaders as assets.
    fn embed_shaders(app: &mut App);

    /// What Bevy's material is set to below the extension.
    fn base_material(settings: &Self::Settings) -> StandardMaterial;

    /// What the extension is set to.
    fn extension(
        settings: &Self::Settings,
        view: &TerrainView,
        grid: &Grid,
        baseline: &Baseline,
    ) -> Self::Extension;

    /// The material of apps that have no place for the extension.
    fn plain_material(settings: &Self::Settings) -> StandardMaterial {
        Self::base_material(settings)
    }

    /// What meshes depend on.
    fn mesh_settings(settings: &Self::Settings, view: &TerrainView) -> Self::MeshSettings;
}

/// The meshes of a surface: made from copies of the terrain's cells.
pub(super) trait LayerMesh: Send + Sync + 'static {
    /// What becomes of its meshes while the GPU writes their vertices.
    const GPU_VERTICES: GpuVertices;
    /// Changes after which a mesh that is drawn is built anew if
    /// [`is_affected`](Self::is_affected) says so.
    const AFFECTED_BY: &'static [Change];

    /// The part of all settings that meshes depend on. The rest is the
    /// material's, and needs no new mesh.
    type MeshSettings: Clone + PartialEq + Send + Sync + 'static;
    /// A copy of all that a chunk's mesh depends on, so that it can be built
    /// while the simulation goes on.
    type Copied: Send + 'static;
    /// What is kept of a mesh beside its handle, for the next one.
    type Memory: Default + Send + Sync + 'static;

    /// Whether there is anything to draw from one cell to another.
    fn is_in(settings: &Self::MeshSettings, terrain: &Terrain, first: UVec2, last: UVec2) -> bool;

    /// Whether a chunk needs a mesh while the GPU writes its vertices.
    fn is_in_reach(settings: &Self::MeshSettings, terrain: &Terrain, chunk: UVec2) -> bool {
        let (first, last) = terrain.grid().chunk_cells(chunk);
        Self::is_in(settings, terrain, first, last)
    }

    /// Whether one of [these changes](Self::AFFECTED_BY) makes a difference to a
    /// chunk that is drawn.
    fn is_affected(_: &ChunkSource, _: &Self::MeshSettings, _: &Self::Memory) -> bool {
        true
    }

    /// Copies what a chunk's mesh needs; none if there is nothing to draw. The
    /// memory is of the mesh that is drawn now, if any is.
    fn copy(
        source: &ChunkSource,
        settings: &Self::MeshSettings,
        memory: Option<&Self::Memory>,
    ) -> Option<Self::Copied>;

    /// Builds the mesh from the copy.
    fn build(copied: &Self::Copied, settings: &Self::MeshSettings)
    -> (MeshAndBounds, Self::Memory);
}

/// The material of a layer.
pub(super) type LayerMaterial<L> =
    ExtendedMaterial<StandardMaterial, <L as SurfaceLayer>::Extension>;

/// What becomes of a layer's meshes while the GPU writes vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GpuVertices {
    /// They are built as ever.
    None,
    /// The same meshes, into which the GPU writes.
    Same,
    /// Meshes that cover whole chunks, since the GPU may draw anywhere in them.
    Covering,
}

/// A chunk of the terrain that meshes are made from.
pub(super) struct ChunkSource<'a> {
    pub terrain: &'a Terrain,
    pub baseline: &'a Baseline,
    pub coord: UVec2,
    pub detail: ChunkDetail,
    /// The GPU writes the vertices of layers that it can.
    pub gpu_vertices: bool,
}

/// Adds a surface layer to the view: its settings, its marker, its material and
/// the system that keeps its queue.
pub(super) struct SurfaceLayerPlugin<L>(core::marker::PhantomData<fn() -> L>);

impl<L> Default for SurfaceLayerPlugin<L> {
    fn default() -> Self {
        Self(core::marker::PhantomData)
    }
}

impl<L: SurfaceLayer> Plugin for SurfaceLayerPlugin<L>
where
    LayerMaterial<L>: Material<Data: PartialEq + Eq + Hash + Clone>,
{
    fn build(&self, app: &mut App) {
        app.init_resource::<L::Settings>()
            .register_type::<L::Settings>()
            .register_type::<L::Chunk>();
        let mut state = (app.world_mut()).get_resource_or_init::<super::TerrainViewState>();
        state.add_layer::<L>();
        // A server may have the feature but no renderer.
        if app.is_plugin_added::<PbrPlugin>() {
            L::embed_shaders(app);
            app.add_plugins(MaterialPlugin::<LayerMaterial<L>>::default());
        }
    }
}
