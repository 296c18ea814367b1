//! Colliders for [avian3d], while its `PhysicsPlugins` are in the app.

use super::{
    Body, ChunkPlace, PhysicsEngine, TerrainCollider, TerrainColliderState, add_engine,
    engine::heightfield,
};
use avian3d::{dynamics::solver::islands::WakeBody, prelude::*};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// The engine avian3d.
pub struct Avian;

impl PhysicsEngine for Avian {
    type Collider = Collider;

    fn collider(place: &ChunkPlace, columns: Vec<f32>) -> Collider {
        // Not by avian's own constructor: it mixes up rows and columns, and
        // leaves internal edges as they are.
        Collider::from(heightfield!(avian3d::parry, place, columns))
    }

    fn heights(collider: &Collider) -> &[f32] {
        let shape = collider.shape().as_heightfield();
        shape.map_or(&[], |shape| shape.heights().data())
    }

    fn immovable() -> impl Bundle {
        RigidBody::Static
    }
}

pub(super) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    let present = resource_exists::<Time<Physics>>;
    add_engine::<Avian, _, _, _>(app, schedule, present, find_bodies, disturb_bodies);
}

fn find_bodies(
    mut state: ResMut<TerrainColliderState<Avian>>,
    bodies: Query<
        (Entity, &RigidBody, &Position, Option<&RigidBodyColliders>),
        Without<TerrainCollider>,
    >,
    colliders: Query<(&Collider, &Position, &Rotation)>,
) {
    state.bodies.clear();
    for (entity, body, position, parts) in &bodies {
        // A body that was just spawned is not placed yet.
        if body.is_static() || *position == Position::PLACEHOLDER {
            continue;
        }
        let mut bounds = ColliderAabb::from_min_max(position.0, position.0);
        for part in parts.iter().flat_map(|parts| parts.iter()) {
            if let Ok((collider, position, rotation)) = colliders.get(part)
                && *position != Position::PLACEHOLDER
            {
                bounds = bounds.merged(collider.aabb(position.0, *rotation));
            }
        }
        state.bodies.push(Body {
            entity,
            is_dynamic: body.is_dynamic(),
            position: position.0,
            min: bounds.min,
            max: bounds.max,
        });
    }
}

fn disturb_bodies(
    mut commands: Commands,
    mut state: ResMut<TerrainColliderState<Avian>>,
    mut bodies: Query<(&mut Position, Has<Sleeping>)>,
) {
    for disturbed in state.disturbed.drain(..) {
        let Ok((mut position, sleeps)) = bodies.get_mut(disturbed.entity) else {
            continue;
        };
        if disturbed.lift > 0.0 {
            position.y += disturbed.lift;
        }
        if sleeps {
            // A body without an island cannot be woken, and needs not.
            commands.queue_silenced(WakeBody(disturbed.entity));
        }
    }
}
