//! The ground's colliders with bevy_rapier3d.

use super::{Lab, Ray3d, tests_with};
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_erode::physics::rapier::Rapier;
use bevy_rapier3d::prelude::*;

pub struct RapierLab;

impl Lab for RapierLab {
    type Engine = Rapier;

    fn add_plugins(app: &mut App) {
        app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default());
    }

    fn ball(radius: f32) -> impl Bundle {
        (
            RigidBody::Dynamic,
            Collider::ball(radius),
            Velocity::default(),
            Sleeping::default(),
        )
    }

    fn kinematic(radius: f32) -> impl Bundle {
        (
            RigidBody::KinematicPositionBased,
            Collider::ball(radius),
            Velocity::default(),
            Sleeping::default(),
        )
    }

    fn block(half: Vec3, friction: f32, velocity: Vec3) -> impl Bundle {
        (
            RigidBody::Dynamic,
            Collider::cuboid(half.x, half.y, half.z),
            Friction {
                coefficient: friction,
                combine_rule: CoefficientCombineRule::Min,
            },
            Velocity::linear(velocity),
            Sleeping::default(),
        )
    }

    fn velocity(world: &World, body: Entity) -> Vec3 {
        world.get::<Velocity>(body).expect("a body").linear
    }

    fn sleeps(world: &World, body: Entity) -> bool {
        world.get::<Sleeping>(body).is_some_and(|it| it.sleeping)
    }

    fn cast(world: &mut World, rays: Vec<Ray3d>) -> Vec<Option<f32>> {
        let cast = move |context: ReadRapierContext| -> Vec<Option<f32>> {
            let context = context.single().expect("one context");
            let all = QueryFilter::default();
            rays.iter()
                .map(|ray| {
                    context
                        .cast_ray(ray.origin, *ray.direction, 1e4, true, all)
                        .map(|(_, distance)| distance)
                })
                .collect()
        };
        world.run_system_once(cast).expect("rapier is there")
    }
}

tests_with!(RapierLab);
