//! The ground under the pointer, for `bevy_picking` (feature `picking`).
//!
//! Rays are cast against the terrain itself, exact on its triangles at full
//! detail, whatever the drawn meshes look like. Hits name the [`TerrainChunk`]
//! they lie on, so observers on a chunk, or global ones, get `Pointer` events
//! with the position on the ground.

use super::{TerrainChunk, TerrainViewState};
use crate::terrain::{TILE, Terrain, TerrainHit};
use bevy::{
    picking::{
        PickingSystems,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

/// Whether pointers hit the terrain.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct TerrainPicking {
    /// Turns the backend on.
    pub enabled: bool,
    /// How far pointers reach. units: m
    pub reach: f32,
}

impl Default for TerrainPicking {
    fn default() -> Self {
        Self {
            enabled: true,
            reach: 1e6,
        }
    }
}

pub(super) fn build(app: &mut App) {
    app.init_resource::<TerrainPicking>()
        .register_type::<TerrainPicking>()
        .add_systems(
            PreUpdate,
            pick_terrain
                .in_set(PickingSystems::Backend)
                // An app may have the feature but no picking.
                .run_if(resource_exists::<RayMap>)
                .run_if(resource_exists::<Messages<PointerHits>>)
                .run_if(resource_exists::<Terrain>),
        );
}

fn pick_terrain(
    settings: Res<TerrainPicking>,
    terrain: Res<Terrain>,
    rays: Res<RayMap>,
    cameras: Query<&Camera>,
    view: Res<TerrainViewState>,
    chunks: Query<Option<&Pickable>, With<TerrainChunk>>,
    mut hits: MessageWriter<PointerHits>,
) {
    if !settings.enabled {
        return;
    }
    for (id, ray) in rays.iter() {
        let Ok(camera) = cameras.get(id.camera) else {
            continue;
        };
        let Some(hit) = terrain.raycast(*ray, settings.reach) else {
            continue;
        };
        let chunk = view.chunk(chunk_of(&terrain, &hit));
        let Some((entity, Ok(pickable))) = chunk.map(|entity| (entity, chunks.get(entity))) else {
            continue;
        };
        if pickable.is_some_and(|pickable| !pickable.is_hoverable) {
            continue;
        }
        let data = HitData::new(
            id.camera,
            hit.distance,
            Some(hit.position),
            Some(hit.normal),
        );
        let picks = vec![(entity, data)];
        hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
    }
}

/// The chunk that a hit lies on; a border belongs to the chunk before it.
fn chunk_of(terrain: &Terrain, hit: &TerrainHit) -> UVec2 {
    let place = terrain.grid().world_to_grid(hit.position);
    let chunk = (place.max(Vec2::ZERO) / TILE as f32).floor().as_uvec2();
    chunk.min(terrain.grid().chunks().saturating_sub(UVec2::ONE))
}
