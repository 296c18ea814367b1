//! The ground's colliders with avian3d.

use super::{Lab, Ray3d, tests_with};
use avian3d::prelude::*;
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_erode::physics::avian::Avian;

pub struct AvianLab;

impl Lab for AvianLab {
    type Engine = Avian;

    fn add_plugins(app: &mut App) {
        app.add_plugins(PhysicsPlugins::default());
    }

    fn ball(radius: f32) -> impl Bundle {
        (RigidBody::Dynamic, Collider::sphere(radius))
    }

    fn kinematic(radius: f32) -> impl Bundle {
        (RigidBody::Kinematic, Collider::sphere(radius))
    }

    fn block(half: Vec3, friction: f32, velocity: Vec3) -> impl Bundle {
        let size = half * 2.0;
        (
            RigidBody::Dynamic,
            Collider::cuboid(size.x, size.y, size.z),
            Friction::new(friction).with_combine_rule(CoefficientCombine::Min),
            LinearVelocity(velocity),
        )
    }

    fn velocity(world: &World, body: Entity) -> Vec3 {
        world.get::<LinearVelocity>(body).expect("a body").0
    }

    fn sleeps(world: &World, body: Entity) -> bool {
        world.get::<Sleeping>(body).is_some()
    }

    fn cast(world: &mut World, rays: Vec<Ray3d>) -> Vec<Option<f32>> {
        let cast = move |query: SpatialQuery| -> Vec<Option<f32>> {
            let all = SpatialQueryFilter::default();
            rays.iter()
                .map(|ray| {
                    query
                        .cast_ray(ray.origin, ray.direction, 1e4, true, &all)
                        .map(|hit| hit.distance)
                })
                .collect()
        };
        world.run_system_once(cast).expect("avian is there")
    }
}

tests_with!(AvianLab);
