//! The chunks of one layer: their entities, their meshes, and the queue of
//! those that are to be built anew.

use super::{
    ChangedChunks, ChunkSet, ChunkSource, GpuVertices, LayerMaterial, LayerMesh, MeshAndBounds,
    SurfaceLayer,
    material::ChunkMaterial,
    mesh_swap::{MeshSwap, triangles},
    rebuild::GpuMoves,
};
use crate::{
    terrain::{Grid, Terrain},
    view::{TerrainView, detail::Levels, ground::mesh::Baseline},
};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    light::NotShadowCaster,
    prelude::*,
};
use core::any::Any;

/// The chunks of a layer.
pub(in crate::view) struct SurfaceChunks<L: SurfaceLayer> {
    /// One a chunk of the terrain; none where nothing was ever drawn.
    chunks: Vec<Option<DrawnChunk<L::Memory>>>,
    material: Option<ChunkMaterial<L>>,
    /// What the meshes are built by; none before the first frame.
    settings: Option<L::MeshSettings>,
    queue: Queue,
    /// What of the queue is being copied.
    taken: Queue,
    built: u64,
}

/// A chunk that is drawn, or was.
struct DrawnChunk<M> {
    entity: Entity,
    /// None while there is nothing to draw.
    mesh: Option<Handle<Mesh>>,
    triangles: usize,
    memory: M,
}

/// Chunks to be built anew.
#[derive(Default)]
struct Queue {
    /// In any case.
    dirty: ChunkSet,
    /// If it makes a difference; see [`LayerMesh::is_affected`].
    affected: ChunkSet,
}

/// Copies of some chunks; none for those that are to be drawn no more.
struct Jobs<L: SurfaceLayer> {
    copies: Vec<(usize, Option<L::Copied>)>,
    settings: L::MeshSettings,
}

/// What was built of a chunk.
type Built<L> = (usize, Option<(MeshAndBounds, <L as LayerMesh>::Memory)>);

/// Copies of some chunks of any layer, to be built on another thread.
pub(in crate::view) trait BuildMeshes: Send {
    /// The meshes, for the [layer](Surface::show) that copied the chunks.
    fn build(&self) -> Box<dyn Any + Send>;
}

impl<L: SurfaceLayer> BuildMeshes for Jobs<L> {
    fn build(&self) -> Box<dyn Any + Send> {
        let build = |copied: &L::Copied| L::build(copied, &self.settings);
        let copies = self.copies.iter();
        let built = copies.map(|(number, copied)| (*number, copied.as_ref().map(build)));
        Box::new(built.collect::<Vec<Built<L>>>())
    }
}

/// What layers need to show new meshes.
pub(in crate::view) struct Showing<'a, 'w, 's> {
    pub commands: Commands<'w, 's>,
    pub meshes: MeshSwap<'a>,
    pub terrain: &'a Terrain,
    pub levels: &'a mut Levels,
    /// Number of the layer.
    pub layer: usize,
    pub gpu_vertices: bool,
}

/// The chunks of any layer.
pub(in crate::view) trait Surface: Any + Send + Sync {
    /// Despawns all chunks. The material stays: it may be on something of the
    /// game's own.
    fn clear(&mut self, commands: &mut Commands);

    /// Whether every chunk has the mesh that it should have.
    fn is_settled(&self) -> bool;

    /// Triangles of all meshes.
    fn triangles(&self) -> usize;

    /// Whether there is anything to draw from one cell to another.
    fn is_in(&self, terrain: &Terrain, first: UVec2, last: UVec2) -> bool;

    /// The GPU writes vertices from now on, or does so no more.
    fn set_gpu_vertices(&mut self, by_gpu: bool);

    /// Takes what is in the queue, and chunks whose level of detail changes, to
    /// be copied next. Adds their numbers.
    fn take_queue(&mut self, other_level: &ChunkSet, numbers: &mut ChunkSet);

    /// Copies those of these chunks that were taken, if there are any.
    fn copy<'a>(
        &self,
        numbers: &[usize],
        source: &(dyn Fn(usize) -> ChunkSource<'a> + Sync),
    ) -> Option<Box<dyn BuildMeshes>>;

    /// Puts new meshes in place of the old ones.
    fn show(&mut self, built: Box<dyn Any + Send>, showing: &mut Showing);
}

impl<L: SurfaceLayer> Default for SurfaceChunks<L> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            material: None,
            settings: None,
            queue: Queue::default(),
            taken: Queue::default(),
            built: 0,
        }
    }
}

impl<L: SurfaceLayer> SurfaceChunks<L> {
    /// Meshes built so far.
    pub fn built(&self) -> u64 {
        self.built
    }

    /// The entity of a chunk, if it has one.
    pub fn entity(&self, number: usize) -> Option<Entity> {
        Some(self.chunks.get(number)?.as_ref()?.entity)
    }

    /// Chunks by number, and their meshes.
    pub fn meshes(&self) -> impl Iterator<Item = (usize, AssetId<Mesh>)> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter_map(|(number, chunk)| Some((number, chunk.as_ref()?.mesh.as_ref()?.id())))
    }

    fn is_drawn(&self, number: usize) -> bool {
        is_drawn(&self.chunks, number)
    }

    fn mark_all(&mut self) {
        self.queue.dirty.extend(0..self.chunks.len());
    }

    /// Lays out the chunks of another terrain.
    pub fn lay_out(&mut self, commands: &mut Commands, meshes: &Assets<Mesh>, grid: &Grid) {
        let chunks = grid.chunks();
        self.chunks
            .resize_with(chunks.element_product() as usize, || None);
        if L::COVERS_ALL {
            for (number, slot) in (0..).zip(&mut self.chunks) {
                let coord = UVec2::new(number % chunks.x, number / chunks.x);
                let chunk = spawn::<L>(commands, self.material.as_ref(), grid, coord);
                let mesh = meshes.reserve_handle();
                let entity = chunk.entity;
                commands.entity(entity).insert(Mesh3d(mesh.clone()));
                *slot = Some(DrawnChunk {
                    mesh: Some(mesh),
                    ..chunk
                });
            }
        }
        self.mark_all();
    }

    /// Makes the material, or brings changed settings to it.
    pub fn set_material(
        &mut self,
        settings: &L::Settings,
        (view, grid, baseline): (&TerrainView, &Grid, &Baseline),
        own: Option<&mut Assets<LayerMaterial<L>>>,
        standard: &mut Assets<StandardMaterial>,
    ) {
        let extension = L::extension(settings, view, grid, baseline);
        match &self.material {
            None => {
                let material = ChunkMaterial::new(settings, extension, own, standard);
                self.material = Some(material);
            }
            Some(material) => material.set_extension(extension, own),
        }
    }

    /// Takes on what meshes depend on.
    pub fn set_mesh_settings(&mut self, settings: L::MeshSettings) {
        if self.settings.as_ref() != Some(&settings) {
            self.settings = Some(settings);
            self.mark_all();
        }
    }

    /// Queues the chunks that changes concern.
    pub fn mark_changes(&mut self, changes: &ChangedChunks) {
        for change in L::REBUILT_BY {
            self.queue.dirty.insert_all(changes.of(*change));
        }
        for change in L::AFFECTED_BY {
            self.queue.affected.insert_all(changes.of(*change));
        }
    }

    /// Keeps the bounds of chunks whose vertices the GPU moves, and queues those
    /// that the surface comes near to or has gone from.
    pub fn follow_gpu(&mut self, commands: &mut Commands, terrain: &Terrain, moves: &GpuMoves) {
        for &(number, bounds) in &moves.bounds {
            if let Some(entity) = self.entity(number).filter(|_| self.is_drawn(number)) {
                commands.entity(entity).try_insert(bounds);
            }
        }
        let Some(settings) = &self.settings else {
            return;
        };
        let wide = terrain.grid().chunks().x as usize;
        for number in moves.near.iter() {
            let coord = UVec2::new((number % wide) as u32, (number / wide) as u32);
            if !self.is_drawn(number) || !L::is_in_reach(settings, terrain, coord) {
                self.queue.dirty.insert(number);
            }
        }
    }
}

/// Whether a chunk is drawn.
fn is_drawn<M>(chunks: &[Option<DrawnChunk<M>>], number: usize) -> bool {
    let chunk = chunks.get(number).and_then(Option::as_ref);
    chunk.is_some_and(|chunk| chunk.mesh.is_some())
}

/// Spawns the entity of a chunk, without a mesh.
fn spawn<L: SurfaceLayer>(
    commands: &mut Commands,
    material: Option<&ChunkMaterial<L>>,
    grid: &Grid,
    coord: UVec2,
) -> DrawnChunk<L::Memory> {
    let mut chunk = commands.spawn((
        Name::new(format!("{} {}, {}", L::NAME, coord.x, coord.y)),
        L::chunk(coord),
        Transform::from_translation(grid.chunk_corner(coord)),
        // The view knows the bounds; an automatic one would scan every new mesh.
        NoAutoAabb,
    ));
    if !L::CASTS_SHADOWS {
        chunk.insert(NotShadowCaster);
    }
    if !L::COVERS_ALL {
        // A mesh brings its own visibility, but such a chunk may lose its mesh.
        chunk.insert(Visibility::default());
    }
    if let Some(material) = material {
        material.insert_on(&mut chunk);
    }
    DrawnChunk {
        entity: chunk.id(),
        mesh: None,
        triangles: 0,
        memory: L::Memory::default(),
    }
}

impl<L: SurfaceLayer> Surface for SurfaceChunks<L> {
    fn clear(&mut self, commands: &mut Commands) {
        for chunk in self.chunks.drain(..).flatten() {
            commands.entity(chunk.entity).try_despawn();
        }
        self.queue = Queue::default();
        self.taken = Queue::default();
    }

    fn is_settled(&self) -> bool {
        self.queue.dirty.is_empty() && self.queue.affected.is_empty()
    }

    fn triangles(&self) -> usize {
        let chunks = self.chunks.iter().flatten();
        chunks.map(|chunk| chunk.triangles).sum()
    }

    fn is_in(&self, terrain: &Terrain, first: UVec2, last: UVec2) -> bool {
        let settings = self.settings.as_ref();
        settings.is_some_and(|settings| L::is_in(settings, terrain, first, last))
    }

    fn set_gpu_vertices(&mut self, by_gpu: bool) {
        match (L::GPU_VERTICES, by_gpu) {
            (GpuVertices::Covering, _) | (GpuVertices::Same, false) => self.mark_all(),
            (GpuVertices::Same, true) | (GpuVertices::None, _) => {}
        }
    }

    fn take_queue(&mut self, other_level: &ChunkSet, numbers: &mut ChunkSet) {
        core::mem::swap(&mut self.taken, &mut self.queue);
        self.queue.dirty.clear();
        self.queue.affected.clear();
        self.taken.dirty.insert_all(other_level);
        // Where nothing is drawn, what it depends on brings nothing.
        let chunks = &self.chunks;
        self.taken
            .affected
            .retain(|number| is_drawn(chunks, number));
        numbers.insert_all(&self.taken.dirty);
        numbers.insert_all(&self.taken.affected);
    }

    fn copy<'a>(
        &self,
        numbers: &[usize],
        source: &(dyn Fn(usize) -> ChunkSource<'a> + Sync),
    ) -> Option<Box<dyn BuildMeshes>> {
        let settings = self.settings.as_ref()?;
        let copy = |&number: &usize| {
            let is_dirty = self.taken.dirty.contains(number);
            if !is_dirty && !self.taken.affected.contains(number) {
                return None;
            }
            let drawn = self.chunks.get(number)?.as_ref();
            let drawn = drawn.filter(|chunk| chunk.mesh.is_some());
            let memory = drawn.map(|chunk| &chunk.memory);
            let is_affected = |source: &ChunkSource| {
                memory.is_some_and(|memory| L::is_affected(source, settings, memory))
            };
            let source = source(number);
            if !is_dirty && !is_affected(&source) {
                return None;
            }
            let copied = L::copy(&source, settings, memory);
            (copied.is_some() || drawn.is_some()).then_some((number, copied))
        };
        let copies: Vec<_> = numbers.iter().filter_map(copy).collect();
        if copies.is_empty() {
            return None;
        }
        let settings = settings.clone();
        Some(Box::new(Jobs::<L> { copies, settings }))
    }

    fn show(&mut self, built: Box<dyn Any + Send>, showing: &mut Showing) {
        let Ok(built) = built.downcast::<Vec<Built<L>>>() else {
            return;
        };
        let Showing {
            commands,
            meshes,
            terrain,
            levels,
            ..
        } = showing;
        let grid = terrain.grid();
        let wide = grid.chunks().x as usize;
        for (number, surface) in *built {
            let coord = UVec2::new((number % wide) as u32, (number / wide) as u32);
            let Some(slot) = self.chunks.get_mut(number) else {
                continue;
            };
            levels.set_drawn(number, showing.layer, surface.is_some());
            if let Some(old) = slot.as_mut().and_then(|chunk| chunk.mesh.take()) {
                meshes.take_out(&old);
            }
            let Some(((mesh, bounds), memory)) = surface else {
                if let Some(chunk) = slot {
                    chunk.triangles = 0;
                    commands.entity(chunk.entity).try_remove::<(Mesh3d, Aabb)>();
                }
                continue;
            };
            if L::COVERS_ALL {
                let sea_level = grid.origin().y;
                let (lowest, highest) = (bounds.min().y, bounds.max().y);
                levels.set_heights(number, sea_level + lowest, sea_level + highest);
            }
            let bounds = match showing.gpu_vertices && L::GPU_VERTICES != GpuVertices::None {
                true => super::rebuild::bounds_with_room(terrain, coord),
                false => bounds,
            };
            let chunk = slot
                .get_or_insert_with(|| spawn::<L>(commands, self.material.as_ref(), grid, coord));
            chunk.memory = memory;
            chunk.triangles = triangles(&mesh);
            let handle = meshes.add(mesh);
            chunk.mesh = Some(handle.clone());
            // A game may have despawned a chunk: that is its right.
            let mut entity = commands.entity(chunk.entity);
            entity.try_insert((Mesh3d(handle), bounds));
            self.built += 1;
        }
    }
}
