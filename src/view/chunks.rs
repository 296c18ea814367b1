//! Keeps the chunk entities and their meshes in step with the terrain.
//!
//! Dirty chunks are copied, built on the async task pool, and swapped in all at
//! once when the last of them is ready: neighbours always show the same moment,
//! so no crack opens between them.

use super::{
    TerrainView,
    mesh::{Baseline, ChunkSource, chunk_count},
};
use crate::{schedule::ErosionSystems, terrain::Terrain};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    ecs::schedule::InternedScheduleLabel,
    math::*,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, futures::check_ready},
};
use std::{collections::BTreeSet, sync::Arc};

/// Chunks that one task builds: small enough to spread, large enough to pay.
const CHUNKS_PER_TASK: usize = 8;

/// Draws the terrain. [`ErosionPlugin`](crate::ErosionPlugin) adds it.
pub struct TerrainViewPlugin {
    /// The schedule that [`ErosionSystems`] run in.
    pub schedule: InternedScheduleLabel,
}

impl Plugin for TerrainViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<TerrainView>()
            .init_resource::<TerrainViewState>()
            .register_type::<TerrainView>()
            .register_type::<TerrainChunk>()
            .add_systems(
                self.schedule,
                (lay_out_chunks, start_rebuild, finish_rebuild)
                    .chain()
                    .in_set(ErosionSystems::Output)
                    // A server may have the feature but no renderer.
                    .run_if(resource_exists::<Assets<Mesh>>)
                    .run_if(resource_exists::<Assets<StandardMaterial>>),
            );
    }
}

/// A piece of the ground: 64 × 64 quads, fewer at the far border.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct TerrainChunk {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// How far the drawn terrain has come.
#[derive(Resource, Default)]
pub struct TerrainViewState {
    /// Terrain and revision that were looked at.
    seen: (u64, u64),
    chunks: UVec2,
    entities: Vec<(Entity, Handle<Mesh>)>,
    baseline: Baseline,
    dirty: BTreeSet<usize>,
    building: Vec<Task<Vec<BuiltChunk>>>,
    rebuilt: u64,
}

type BuiltChunk = (usize, Mesh, Aabb);

impl TerrainViewState {
    /// Whether all meshes show the terrain as it is.
    pub fn is_settled(&self, terrain: &Terrain) -> bool {
        self.seen == (terrain.id.get(), terrain.revision())
            && self.dirty.is_empty()
            && self.building.is_empty()
    }

    /// Chunk meshes built so far.
    pub fn rebuilt(&self) -> u64 {
        self.rebuilt
    }

    /// The ground as it was when the view first saw this terrain.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    fn mark_all(&mut self) {
        self.dirty.extend(0..self.entities.len());
    }
}

/// Spawns and despawns chunks as terrains come and go, and notes what changed.
fn lay_out_chunks(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    mut state: ResMut<TerrainViewState>,
    meshes: Res<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else {
        for (entity, _) in state.entities.drain(..) {
            commands.entity(entity).try_despawn();
        }
        *state = TerrainViewState::default();
        return;
    };
    let id = terrain.id.get();
    if state.seen.0 != id {
        // Meshes under way show the old terrain.
        state.building.clear();
        state.dirty.clear();
        for (entity, _) in state.entities.drain(..) {
            commands.entity(entity).try_despawn();
        }
        state.baseline = Baseline::of(&terrain);
        state.chunks = chunk_count(terrain.grid());
        let material = materials.add(StandardMaterial {
            perceptual_roughness: 0.95,
            reflectance: 0.15,
            ..default()
        });
        for number in 0..state.chunks.element_product() {
            let coord = UVec2::new(number % state.chunks.x, number / state.chunks.x);
            let mesh = meshes.reserve_handle();
            let entity = commands.spawn((
                Name::new(format!("terrain chunk {}, {}", coord.x, coord.y)),
                TerrainChunk { coord },
                Mesh3d(mesh.clone()),
                MeshMaterial3d(material.clone()),
                Transform::from_translation(ChunkSource::corner(terrain.grid(), coord)),
                // The view knows the bounds; an automatic one would scan every
                // new mesh.
                NoAutoAabb,
            ));
            state.entities.push((entity.id(), mesh));
        }
        state.mark_all();
    } else {
        for tile in terrain.tiles_changed_since(state.seen.1) {
            // A chunk reads its own tile, and a cell or two of those around it.
            let from = tile.saturating_sub(UVec2::ONE);
            let to = (tile + 1).min(state.chunks.saturating_sub(UVec2::ONE));
            for y in from.y..=to.y {
                for x in from.x..=to.x.min(state.chunks.x.wrapping_sub(1)) {
                    let number = (y * state.chunks.x + x) as usize;
                    if number < state.entities.len() {
                        state.dirty.insert(number);
                    }
                }
            }
        }
    }
    state.seen = (id, terrain.revision());
    if view.is_changed() {
        state.mark_all();
    }
}

/// Copies the dirty chunks and starts building them, unless a build is under way.
fn start_rebuild(
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    mut state: ResMut<TerrainViewState>,
) {
    let Some(terrain) = terrain else { return };
    if !state.building.is_empty() || state.dirty.is_empty() {
        return;
    }
    let wide = state.chunks.x;
    let sources: Vec<(usize, ChunkSource)> = core::mem::take(&mut state.dirty)
        .into_iter()
        .map(|number| {
            let coord = UVec2::new(number as u32 % wide, number as u32 / wide);
            (number, ChunkSource::copy(&terrain, &state.baseline, coord))
        })
        .collect();
    let view = Arc::new(view.clone());
    let mut sources = sources.into_iter().peekable();
    while sources.peek().is_some() {
        let share: Vec<_> = sources.by_ref().take(CHUNKS_PER_TASK).collect();
        let view = view.clone();
        state
            .building
            .push(AsyncComputeTaskPool::get().spawn(async move {
                let build = |(number, source): (usize, ChunkSource)| {
                    let (mesh, bounds) = source.build(&view);
                    (number, mesh, bounds)
                };
                share.into_iter().map(build).collect()
            }));
    }
}

/// Shows the built chunks once all of them are ready.
fn finish_rebuild(
    mut commands: Commands,
    mut state: ResMut<TerrainViewState>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    let state = &mut *state;
    if state.building.is_empty() || !state.building.iter().all(Task::is_finished) {
        return;
    }
    for mut task in state.building.drain(..) {
        for (number, mesh, bounds) in check_ready(&mut task).into_iter().flatten() {
            let Some((entity, handle)) = state.entities.get(number) else {
                continue;
            };
            if meshes.insert(handle.id(), mesh).is_ok() {
                // A game may have despawned a chunk: that is its right.
                commands.entity(*entity).try_insert(bounds);
                state.rebuilt += 1;
            }
        }
    }
}
