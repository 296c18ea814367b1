//! The ground under the pointer, for `bevy_picking` (feature `picking`).
//!
//! Rays are cast against the terrain itself, exact on its triangles at full
//! detail, whatever the drawn meshes look like. Hits name the [`TerrainChunk`]
//! they lie on, so observers on a chunk, or global ones, get `Pointer` events
//! with the position on the ground. As with other meshes, a camera that does not
//! draw a chunk, by its [`RenderLayers`], does not pick it, nor is a hidden one
//! picked.

use super::{TerrainChunk, TerrainViewState};
use crate::terrain::{TILE, Terrain, TerrainHit};
use bevy::{
    camera::visibility::RenderLayers,
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

/// What decides whether a chunk is picked.
type PickFilter = (
    Option<&'static Pickable>,
    Option<&'static RenderLayers>,
    Option<&'static InheritedVisibility>,
);

fn pick_terrain(
    settings: Res<TerrainPicking>,
    terrain: Res<Terrain>,
    rays: Res<RayMap>,
    // A 2D camera does not draw the terrain.
    cameras: Query<(&Camera, Option<&RenderLayers>), Without<Camera2d>>,
    view: Res<TerrainViewState>,
    chunks: Query<PickFilter, With<TerrainChunk>>,
    mut hits: MessageWriter<PointerHits>,
) {
    if !settings.enabled {
        return;
    }
    for (id, ray) in rays.iter() {
        let Ok((camera, seen)) = cameras.get(id.camera) else {
            continue;
        };
        let Some(hit) = terrain.raycast(*ray, settings.reach) else {
            continue;
        };
        let chunk = view.chunk(chunk_of(&terrain, &hit));
        let chunk = chunk.and_then(|entity| Some((entity, chunks.get(entity).ok()?)));
        let Some((entity, (pickable, layers, visibility))) = chunk else {
            continue;
        };
        let is_hidden = visibility.is_some_and(|visibility| !visibility.get());
        let is_ignored = pickable.is_some_and(|pickable| !pickable.is_hoverable);
        let is_seen =
            (seen.cloned().unwrap_or_default()).intersects(&layers.cloned().unwrap_or_default());
        if is_hidden || is_ignored || !is_seen {
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

/// The chunk that a hit lies on; a border belongs to the chunk after it.
fn chunk_of(terrain: &Terrain, hit: &TerrainHit) -> UVec2 {
    let place = terrain.grid().world_to_grid(hit.position);
    let chunk = (place.max(Vec2::ZERO) / TILE as f32).floor().as_uvec2();
    chunk.min(terrain.grid().chunks().saturating_sub(UVec2::ONE))
}
