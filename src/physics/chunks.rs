//! Keeps the colliders in step with the ground.
//!
//! Chunks that changed are copied, at most as many a frame as the settings
//! allow, built on the async task pool, and swapped in together when the last
//! of them is ready. Only then is the next lot started, so neighbors mostly
//! show the same moment, and a chunk that changes again while it is built is
//! built once more.

use super::{
    Body, Disturbed, PhysicsEngine, TerrainColliders,
    area::{ColliderArea, Wanted},
    heights::{ChunkHeights, ChunkPlace},
    lift::{Change, lift},
    queue::BuildQueue,
};
use crate::{
    backend::TileRequests,
    terrain::{Grid, LayerGroup, TILE, Terrain, TerrainCursor},
};
use bevy::{
    math::*,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, futures::check_ready},
};
use std::collections::{BTreeMap, BTreeSet};

/// A piece of ground to stand on: a body that never moves, with a heightfield
/// of 64 × 64 quads, fewer at the far border. Its neighbors overlap by two quads.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct TerrainCollider {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// How far an engine's colliders have come.
#[derive(Resource)]
pub struct TerrainColliderState<E: PhysicsEngine> {
    cursor: TerrainCursor,
    grid: Option<Grid>,
    wanted: Wanted,
    pieces: Vec<Option<Piece<E>>>,
    /// Numbers of the chunks that have a piece.
    standing: BTreeSet<usize>,
    queue: BuildQueue,
    /// One task for all: each would have to wake a thread.
    building: Option<Task<Vec<Built<E>>>>,
    built: u64,
    /// The bodies of this frame that move.
    pub(super) bodies: Vec<Body>,
    /// Bodies to be woken and lifted.
    pub(super) disturbed: Vec<Disturbed>,
}

struct Piece<E: PhysicsEngine> {
    entity: Entity,
    /// Elevation that its heights count from. It stays, for ground should not
    /// move but for its shape.
    base: f32,
    collider: E::Collider,
}

struct Built<E: PhysicsEngine> {
    number: usize,
    base: f32,
    collider: E::Collider,
}

impl<E: PhysicsEngine> Default for TerrainColliderState<E> {
    fn default() -> Self {
        Self {
            cursor: TerrainCursor::default(),
            grid: None,
            wanted: Wanted::None,
            pieces: Vec::new(),
            standing: BTreeSet::new(),
            queue: BuildQueue::default(),
            building: None,
            built: 0,
            bodies: Vec::new(),
            disturbed: Vec::new(),
        }
    }
}

impl<E: PhysicsEngine> TerrainColliderState<E> {
    /// Whether all colliders that are wanted are there and show the terrain as
    /// it is.
    pub fn is_settled(&self, terrain: &Terrain) -> bool {
        let changes = self.cursor.peek(terrain);
        let is_seen = !SOLID.into_iter().any(|group| changes.changed(group));
        is_seen && self.queue.is_empty() && self.building.is_none()
    }

    /// Colliders built so far.
    pub fn built(&self) -> u64 {
        self.built
    }

    /// Colliders that stand now.
    pub fn standing(&self) -> usize {
        self.standing.len()
    }

    fn forget(&mut self, commands: &mut Commands) {
        for piece in self.pieces.drain(..).flatten() {
            commands.entity(piece.entity).try_despawn();
        }
        *self = Self {
            built: self.built,
            bodies: core::mem::take(&mut self.bodies),
            ..Self::default()
        };
    }

    fn drop_piece(&mut self, number: usize, commands: &mut Commands) {
        if let Some(piece) = self.pieces.get_mut(number).and_then(Option::take) {
            commands.entity(piece.entity).try_despawn();
        }
        self.standing.remove(&number);
    }
}

/// What bodies stand on.
const SOLID: [LayerGroup; 2] = [LayerGroup::Ground, LayerGroup::Lava];

#[inline]
fn coord(number: usize, chunks: UVec2) -> UVec2 {
    UVec2::new(number as u32 % chunks.x, number as u32 / chunks.x)
}

/// Finds which chunks changed, and starts over on another grid.
pub(super) fn follow_terrain<E: PhysicsEngine>(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    settings: Res<TerrainColliders>,
    mut state: ResMut<TerrainColliderState<E>>,
    requests: Option<ResMut<TileRequests>>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else {
        if state.grid.is_some() {
            state.forget(&mut commands);
        }
        return;
    };
    let grid = terrain.grid();
    let count = grid.chunks().element_product() as usize;
    // Another terrain in the same place: the old ground stands until it is ready.
    let changes = state.cursor.changes(&terrain).shift_as_replaced();
    if state.grid != Some(*grid) {
        state.forget(&mut commands);
        state.cursor = TerrainCursor::at(&terrain);
        state.grid = Some(*grid);
        state.pieces.resize_with(count, || None);
        state.queue = BuildQueue::new(grid.chunks());
    }
    if count == 0 {
        return;
    }
    for number in SOLID.into_iter().flat_map(|group| changes.chunks(group)) {
        if state.standing.contains(&number) || state.wanted.contains(number) {
            state.queue.push(number);
        }
    }
    let follows_bodies = matches!(settings.area, ColliderArea::NearBodies { .. });
    if settings.is_changed() || follows_bodies || state.wanted == Wanted::None {
        let wanted = Wanted::of(&settings.area, grid, &state.bodies);
        if wanted != state.wanted {
            state.want(wanted, count, &mut commands);
        }
    }
    // Bodies must stand on the ground as it is now.
    if let Some(mut requests) = requests.filter(|_| follows_bodies) {
        let chunks = grid.chunks();
        let wanted = state.wanted.numbers(count);
        requests
            .0
            .extend(wanted.map(|number| coord(number, chunks)));
    }
}

impl<E: PhysicsEngine> TerrainColliderState<E> {
    /// Removes colliders that are no longer wanted, and queues those that are
    /// wanted and missing.
    fn want(&mut self, wanted: Wanted, count: usize, commands: &mut Commands) {
        let old = core::mem::replace(&mut self.wanted, wanted);
        let in_the_way: Vec<usize> = old
            .numbers(count)
            .chain(self.standing.iter().copied())
            .filter(|&number| !self.wanted.may_stay(number))
            .collect();
        for number in in_the_way {
            self.queue.remove(number);
            self.drop_piece(number, commands);
        }
        for number in self.wanted.numbers(count) {
            if !self.standing.contains(&number) {
                self.queue.push(number);
            }
        }
    }
}

/// Swaps in what was built, once all of it is ready.
pub(super) fn swap_colliders<E: PhysicsEngine>(
    mut commands: Commands,
    mut colliders: Query<&mut E::Collider, With<TerrainCollider>>,
    settings: Res<TerrainColliders>,
    mut state: ResMut<TerrainColliderState<E>>,
) {
    let state = &mut *state;
    let Some(built) = state.building.as_mut().and_then(check_ready) else {
        return;
    };
    state.building = None;
    let Some(grid) = state.grid else { return };
    let chunks = grid.chunks();
    // What each chunk looked like until now.
    let mut replaced: BTreeMap<usize, Option<E::Collider>> = BTreeMap::new();
    for Built {
        number,
        base,
        collider,
    } in built
    {
        // No longer wanted.
        if !state.wanted.may_stay(number) {
            continue;
        }
        state.built += 1;
        let coord = coord(number, chunks);
        let piece = &mut state.pieces[number];
        let old = match piece {
            Some(piece) => {
                let old = core::mem::replace(&mut piece.collider, collider.clone());
                let Ok(mut component) = colliders.get_mut(piece.entity) else {
                    // The game has despawned it, as it may: no body stands on it.
                    continue;
                };
                *component = collider;
                Some(old)
            }
            None => {
                let place = ChunkPlace::new(&grid, coord);
                let entity = commands.spawn((
                    Name::new(format!("terrain collider {}, {}", coord.x, coord.y)),
                    TerrainCollider { coord },
                    Transform::from_translation(place.middle(base)),
                    collider.clone(),
                    E::immovable(),
                ));
                *piece = Some(Piece {
                    entity: entity.id(),
                    base,
                    collider,
                });
                state.standing.insert(number);
                None
            }
        };
        replaced.insert(number, old);
    }
    if !replaced.is_empty() && settings.carry_bodies {
        state.carry_bodies(&grid, &replaced);
    }
}

impl<E: PhysicsEngine> TerrainColliderState<E> {
    /// Finds the bodies whose ground was replaced.
    fn carry_bodies(&mut self, grid: &Grid, replaced: &BTreeMap<usize, Option<E::Collider>>) {
        let chunks = grid.chunks();
        let last = (grid.size() - 1).as_vec2();
        let change = |spot: Vec2| {
            let at = grid.world_to_grid(Vec3::new(spot.x, 0.0, spot.y));
            if at.cmplt(Vec2::ZERO).any() || at.cmpgt(last).any() {
                return None;
            }
            let chunk = (at / TILE as f32).as_uvec2().min(chunks - 1);
            let number = (chunk.y * chunks.x + chunk.x) as usize;
            let old = replaced.get(&number)?;
            let piece = self.pieces.get(number)?.as_ref()?;
            let place = ChunkPlace::new(grid, chunk);
            let height = |collider: &E::Collider| {
                let height = place.surface(E::heights(collider), at)?;
                Some(height + piece.base + grid.origin().y)
            };
            Some(Change {
                before: old.as_ref().and_then(height),
                after: height(&piece.collider)?,
            })
        };
        let bodies = self.bodies.iter().filter(|body| body.is_dynamic);
        let disturbed = bodies.filter_map(|body| {
            let lift = lift(body, change)?;
            let entity = body.entity;
            Some(Disturbed { entity, lift })
        });
        let disturbed: Vec<Disturbed> = disturbed.collect();
        self.disturbed = disturbed;
    }
}

/// Copies the chunks whose turn it is and starts building them, unless a lot is
/// under way.
pub(super) fn start_colliders<E: PhysicsEngine>(
    terrain: Option<Res<Terrain>>,
    settings: Res<TerrainColliders>,
    mut state: ResMut<TerrainColliderState<E>>,
) {
    let (Some(terrain), false) = (terrain, state.queue.is_empty()) else {
        return;
    };
    if state.building.is_some() {
        return;
    }
    let state = &mut *state;
    let grid = terrain.grid();
    let chunks = grid.chunks();
    let last = (grid.size() - 1).as_vec2();
    let bodies = state.bodies.iter().map(|body| {
        let at = grid.world_to_grid(body.position);
        (at.clamp(Vec2::ZERO, last) / TILE as f32).as_uvec2()
    });
    let mut lot = Vec::new();
    for number in state.queue.take(settings.per_frame, bodies) {
        let old = state.pieces[number].as_ref();
        let heights = ChunkHeights::copy(&terrain, coord(number, chunks), old.map(|old| old.base));
        lot.push((number, heights, old.map(|old| old.collider.clone())));
    }
    if lot.is_empty() {
        return;
    }
    let build = |(number, heights, old): (usize, ChunkHeights, Option<E::Collider>)| {
        let columns = heights.by_columns();
        // A tile may have changed beyond what this chunk has of it.
        let same = old.is_some_and(|old| E::heights(&old) == columns);
        (!same).then(|| Built {
            number,
            base: heights.base,
            collider: E::collider(&heights.place, columns),
        })
    };
    let build = async move { lot.into_iter().filter_map(build).collect() };
    state.building = Some(AsyncComputeTaskPool::get().spawn(build));
}
