//! What the colliders need to know of a physics engine.

use super::heights::ChunkPlace;
use bevy::{ecs::component::Mutable, prelude::*};

/// A physics engine that the ground can have colliders for.
pub trait PhysicsEngine: Send + Sync + 'static {
    /// The engine's collider component. A clone must be cheap.
    type Collider: Component<Mutability = Mutable> + Clone;

    /// A heightfield of these heights, column by column, around its middle, split along the same
    /// diagonals as the mesh, with internal edges fixed. May take its time.
    fn collider(place: &ChunkPlace, columns: Vec<f32>) -> Self::Collider;

    /// The heights that a collider was made of, column by column.
    fn heights(collider: &Self::Collider) -> &[f32];

    /// What makes an entity with such a collider a body that never moves.
    fn immovable() -> impl Bundle;
}

/// A dynamic body, as the ground sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// The entity with the body.
    pub entity: Entity,
    /// Its position. units: m
    pub position: Vec3,
    /// Lowest corner of the box around its colliders. units: m
    pub min: Vec3,
    /// Highest corner of the box around its colliders. units: m
    pub max: Vec3,
}

/// A body whose ground has changed: it must wake up, and perhaps rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbed {
    /// The entity with the body.
    pub entity: Entity,
    /// How far it is to rise. units: m
    pub lift: f32,
}
