//! Colliders for [bevy_rapier3d], while its `RapierPhysicsPlugin` is in the app.

use super::{
    Body, ChunkPlace, PhysicsEngine, TerrainCollider, TerrainColliderState, add_engine,
    engine::heightfield,
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};
use bevy_rapier3d::{
    plugin::context::{RapierContextColliders, RapierContextEntityLink, RapierRigidBodySet},
    prelude::*,
};

/// The engine bevy_rapier3d.
pub struct Rapier;

impl PhysicsEngine for Rapier {
    type Collider = Collider;

    fn collider(place: &ChunkPlace, columns: Vec<f32>) -> Collider {
        Collider::from(heightfield!(bevy_rapier3d::parry, place, columns))
    }

    fn heights(collider: &Collider) -> &[f32] {
        let shape = collider.raw.as_heightfield();
        shape.map_or(&[], |shape| shape.heights().data())
    }

    fn immovable() -> impl Bundle {
        RigidBody::Fixed
    }
}

pub(super) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    let present = any_with_component::<RapierRigidBodySet>;
    add_engine::<Rapier, _, _, _>(app, schedule, present, find_bodies, disturb_bodies);
}

type BodyHandle<'a> = (&'a RapierRigidBodyHandle, &'a RapierContextEntityLink);

fn find_bodies(
    mut state: ResMut<TerrainColliderState<Rapier>>,
    contexts: Query<(&RapierRigidBodySet, &RapierContextColliders)>,
    bodies: Query<(Entity, &RigidBody, BodyHandle), Without<TerrainCollider>>,
) {
    state.bodies.clear();
    for (entity, kind, (handle, link)) in &bodies {
        let Ok((set, colliders)) = contexts.get(link.0) else {
            continue;
        };
        let Some(body) = set.bodies.get(handle.0) else {
            continue;
        };
        if *kind == RigidBody::Fixed {
            continue;
        }
        let position = body.translation();
        let (mut min, mut max) = (position, position);
        for collider in body.colliders() {
            if let Some(collider) = colliders.colliders.get(*collider) {
                let bounds = collider.compute_aabb();
                min = min.min(bounds.mins);
                max = max.max(bounds.maxs);
            }
        }
        state.bodies.push(Body {
            entity,
            is_dynamic: *kind == RigidBody::Dynamic,
            position,
            min,
            max,
        });
    }
}

fn disturb_bodies(
    mut state: ResMut<TerrainColliderState<Rapier>>,
    mut contexts: Query<&mut RapierRigidBodySet>,
    bodies: Query<BodyHandle>,
) {
    for disturbed in state.disturbed.drain(..) {
        let Ok((handle, link)) = bodies.get(disturbed.entity) else {
            continue;
        };
        let Ok(mut set) = contexts.get_mut(link.0) else {
            continue;
        };
        let Some(body) = set.bodies.get_mut(handle.0) else {
            continue;
        };
        // Rapier itself is told, for it is not the transform that it goes by.
        if disturbed.lift > 0.0 {
            let raised = body.translation() + Vec3::Y * disturbed.lift;
            body.set_translation(raised, true);
        } else if body.is_sleeping() {
            body.wake_up(true);
        }
    }
}
