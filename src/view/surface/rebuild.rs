//! The systems that keep the chunks of all layers in step with the terrain.

use super::{
    Change, ChunkSet, ChunkSource, GpuVertices, LayerMaterial, SurfaceLayer,
    chunks::{BuildMeshes, Showing},
    mesh_swap::{MeshSwap, free},
};
use crate::{
    parallel::Workers,
    terrain::Terrain,
    view::{TerrainView, TerrainViewState, ground::mesh::Baseline},
};
use bevy::{
    camera::primitives::Aabb,
    math::*,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, futures::check_ready},
};
use core::any::Any;

/// Chunks that one task builds: small enough to spread, large enough to pay.
const CHUNKS_PER_TASK: usize = 8;

/// Meshes of some chunks, each with the number of its layer.
pub(in crate::view) type BuildTask = Task<Vec<(usize, Box<dyn Any + Send>)>>;

/// Copies of some chunks, each with the number of its layer.
type Copies = Vec<(usize, Box<dyn BuildMeshes>)>;

/// Chunks whose vertices the GPU has moved.
#[derive(Default)]
pub(in crate::view) struct GpuMoves {
    /// Their new bounds.
    pub bounds: Vec<(usize, Aabb)>,
    /// They and those around them.
    pub near: ChunkSet,
}

/// Looks at the terrain: whether it is another one, and which chunks changed.
pub(in crate::view) fn find_changes(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    mut state: ResMut<TerrainViewState>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else {
        if state.changes.has_terrain() {
            state.clear(&mut commands);
            state.changes = default();
        }
        return;
    };
    state.is_new = state.changes.look(&terrain);
    if state.is_new {
        // Meshes under way show the old terrain: they go too.
        state.clear(&mut commands);
        state.chunks = terrain.grid().chunks();
        state.baseline = Baseline::of(&terrain);
    }
    state.gpu_moves.bounds.clear();
    state.gpu_moves.near.clear();
    if state.gpu_vertices && !state.is_new {
        let mut moved = state.changes.of(Change::Ground).clone();
        moved.insert_all(state.changes.of(Change::Water));
        for number in moved.iter() {
            let coord = state.coord(number);
            let bounds = bounds_with_room(&terrain, coord);
            state.gpu_moves.bounds.push((number, bounds));
            let to = (coord + 2).min(state.chunks);
            for y in coord.y.saturating_sub(1)..to.y {
                let row = y * state.chunks.x;
                let columns = coord.x.saturating_sub(1)..to.x;
                let numbers = columns.map(|x| (row + x) as usize);
                state.gpu_moves.near.extend(numbers);
            }
        }
    }
}

/// Brings settings and changes of the terrain to a layer.
pub(in crate::view) fn update_layer<L: SurfaceLayer>(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    settings: Res<L::Settings>,
    mut state: ResMut<TerrainViewState>,
    meshes: Res<Assets<Mesh>>,
    mut standard: ResMut<Assets<StandardMaterial>>,
    mut own: Option<ResMut<Assets<LayerMaterial<L>>>>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else { return };
    let Some(layer) = TerrainViewState::layer_mut::<L>(&mut state.layers) else {
        return;
    };
    let is_changed = state.is_new || view.is_changed() || settings.is_changed();
    if is_changed {
        let land = (&*view, terrain.grid(), &state.baseline);
        layer.set_material(&settings, land, own.as_deref_mut(), &mut standard);
        layer.set_mesh_settings(L::mesh_settings(&settings, &view));
    }
    if state.is_new {
        layer.lay_out(&mut commands, &meshes, terrain.grid());
    } else if state.gpu_vertices && L::GPU_VERTICES != GpuVertices::None {
        layer.follow_gpu(&mut commands, &terrain, &state.gpu_moves);
    } else {
        layer.mark_changes(&state.changes);
    }
}

/// Copies the dirty chunks and starts building them, unless a build is under way.
pub(in crate::view) fn start_rebuild(
    terrain: Option<Res<Terrain>>,
    mut state: ResMut<TerrainViewState>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else { return };
    if !state.building.is_empty() {
        return;
    }
    let other_level = state.levels.advance();
    let mut numbers = ChunkSet::default();
    for layer in &mut state.layers {
        layer.take_queue(&other_level, &mut numbers);
    }
    let numbers: Vec<usize> = numbers.iter().collect();
    let mut old = core::mem::take(&mut state.old);
    let source = |number: usize| ChunkSource {
        terrain: &terrain,
        baseline: &state.baseline,
        coord: state.coord(number),
        detail: state.levels.detail(number),
        gpu_vertices: state.gpu_vertices,
    };
    let mut shares: Vec<(&[usize], Copies)> = numbers
        .chunks(CHUNKS_PER_TASK)
        .map(|share| (share, Copies::new()))
        .collect();
    // A brush's few chunks are copied before another thread has woken up.
    let workers = match shares.len() {
        0 | 1 => Workers::serial(),
        _ => Workers::global(),
    };
    workers.each(shares.iter_mut(), |(share, jobs)| {
        let layers = state.layers.iter().enumerate();
        jobs.extend(
            layers.filter_map(|(number, layer)| Some((number, layer.copy(share, &source)?))),
        );
    });

    let shares = shares.into_iter().map(|(_, jobs)| jobs);
    for jobs in shares.filter(|jobs| !jobs.is_empty()) {
        let old = core::mem::take(&mut old);
        let build = async move {
            let built = jobs.iter().map(|(layer, jobs)| (*layer, jobs.build()));
            let built = built.collect();
            drop(old);
            built
        };
        state
            .building
            .push(AsyncComputeTaskPool::get().spawn(build));
    }
    free(old);
}

/// Shows the built chunks once all of them are ready.
pub(in crate::view) fn finish_rebuild(
    commands: Commands,
    terrain: Option<Res<Terrain>>,
    mut state: ResMut<TerrainViewState>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else { return };
    if state.building.is_empty() || !state.building.iter().all(Task::is_finished) {
        return;
    }
    let mut showing = Showing {
        commands,
        meshes: MeshSwap::new(&mut meshes),
        terrain: &terrain,
        levels: &mut state.levels,
        layer: 0,
        gpu_vertices: state.gpu_vertices,
    };
    for mut task in state.building.drain(..) {
        for (layer, built) in check_ready(&mut task).unwrap_or_default() {
            showing.layer = layer;
            if let Some(surface) = state.layers.get_mut(layer) {
                surface.show(built, &mut showing);
            }
        }
    }
    state.old = showing.meshes.into_old();
}

/// Bounds of a chunk whose ground the GPU moves: what is known of it is a few
/// frames old, so there is room for what it did since.
pub(super) fn bounds_with_room(terrain: &Terrain, chunk: UVec2) -> Aabb {
    let grid = terrain.grid();
    let (first, last) = grid.chunk_cells(chunk);
    let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
    for y in first.y..=last.y {
        for x in first.x..=last.x {
            let ground = terrain.ground(grid.index(x, y));
            let level = ground + terrain.water_depth(x, y);
            (lowest, highest) = (lowest.min(ground), highest.max(level));
        }
    }
    let room = 2.0 + 0.1 * (highest - lowest);
    let extent = (last - first).as_vec2() * grid.cell_size();
    Aabb::from_min_max(
        Vec3::new(0.0, lowest - room, 0.0),
        Vec3::new(extent.x, highest + room, extent.y),
    )
}
