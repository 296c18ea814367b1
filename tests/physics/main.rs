//! Colliders of the ground, the same tests with each engine.

mod avian;
mod bodies;
mod rapier;
mod rays;
mod sliding;
#[path = "../terrains.rs"]
#[expect(dead_code, reason = "shared with other test programs")]
mod terrains;
mod upkeep;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::{
    physics::{PhysicsEngine, TerrainColliderState},
    prelude::*,
};
use core::time::Duration;
use terrains::land;

/// What the tests need of an engine.
trait Lab {
    type Engine: PhysicsEngine;

    fn add_plugins(app: &mut App);
    fn ball(radius: f32) -> impl Bundle;
    /// A ball that only the game moves.
    fn kinematic(radius: f32) -> impl Bundle;
    /// A box with a friction that no other surface makes greater.
    fn block(half: Vec3, friction: f32, velocity: Vec3) -> impl Bundle;
    fn velocity(world: &World, body: Entity) -> Vec3;
    fn sleeps(world: &World, body: Entity) -> bool;
    /// Distances to what the rays meet first.
    fn cast(world: &mut World, rays: Vec<Ray3d>) -> Vec<Option<f32>>;
}

/// An app with an engine, whose frames last a fixed tick.
fn create_app<L: Lab>(terrain: Terrain) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin));
    L::add_plugins(&mut app);
    app.add_plugins(ErosionPlugin::default())
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
            15_625,
        )))
        .insert_resource(ErosionPace::StepsPerTick(1))
        .insert_resource(terrain);
    app.finish();
    app.cleanup();
    app
}

/// An app whose colliders are all there.
fn settled_app<L: Lab>(terrain: Terrain) -> App {
    let mut app = create_app::<L>(terrain);
    settle::<L>(&mut app);
    app
}

/// Runs frames until all colliders show the ground as it is, and two more for
/// the engine to take them in.
fn settle<L: Lab>(app: &mut App) -> u32 {
    let mut frames = 0;
    while frames < 3 || !is_settled::<L>(app) {
        app.update();
        // The pool builds meanwhile.
        std::thread::sleep(Duration::from_micros(200));
        frames += 1;
        assert!(frames < 5000, "the colliders never settle");
    }
    app.update();
    app.update();
    frames
}

fn is_settled<L: Lab>(app: &App) -> bool {
    let terrain = app.world().get_resource::<Terrain>();
    terrain.is_none_or(|terrain| state::<L>(app).is_settled(terrain))
}

fn state<L: Lab>(app: &App) -> &TerrainColliderState<L::Engine> {
    app.world().resource()
}

fn ticks(app: &mut App, count: u32) {
    for _ in 0..count {
        app.update();
    }
}

fn position(app: &App, body: Entity) -> Vec3 {
    app.world()
        .get::<Transform>(body)
        .expect("a body")
        .translation
}

/// World height of the triangles that mesh and colliders share, by the rule in
/// words: each quad is split from its north-east to its south-west corner.
fn triangle_height(terrain: &Terrain, at: Vec3) -> f64 {
    let grid = terrain.grid();
    let half = grid.extent().as_dvec2() * 0.5;
    let from_corner = (at - grid.origin()).xz().as_dvec2() + half;
    let cells = from_corner / f64::from(grid.cell_size()) - 0.5;
    let last = (grid.size() - 2).as_dvec2();
    let cell = cells.floor().clamp(bevy::math::DVec2::ZERO, last);
    let (u, v) = (cells.x - cell.x, cells.y - cell.y);
    let corner = |x: u32, y: u32| {
        f64::from(terrain.ground(grid.index(cell.x as u32 + x, cell.y as u32 + y)))
    };
    let (ne, sw) = (corner(1, 0), corner(0, 1));
    let height = if u + v <= 1.0 {
        let nw = corner(0, 0);
        nw + u * (ne - nw) + v * (sw - nw)
    } else {
        let se = corner(1, 1);
        se + (1.0 - u) * (sw - se) + (1.0 - v) * (ne - se)
    };
    height + f64::from(grid.origin().y)
}

/// Replaces the ground by what `height` makes of each cell's center and height.
fn reshape(app: &mut App, height: impl Fn(Vec3, f32) -> f32) {
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let grid = *terrain.grid();
    let width = grid.width();
    let heights = (0..grid.cells())
        .map(|i| {
            let center = grid.cell_center((i % width) as u32, (i / width) as u32);
            height(center, terrain.bedrock()[i])
        })
        .collect();
    terrain
        .set_layer(Layer::Bedrock, heights)
        .expect("finite heights");
}

/// The tests that every engine must pass.
macro_rules! tests_with {
    ($lab:ty) => {
        $crate::tests_with!($lab: rays: vertical_rays_meet_the_triangles,
            slanted_rays_meet_the_triangles, no_ray_falls_between_chunks);
        $crate::tests_with!($lab: sliding: a_border_slows_a_sliding_box_no_more_than_other_ground);
        $crate::tests_with!($lab: bodies: dropped_balls_come_to_rest_on_the_ground,
            rising_ground_carries_sleeping_bodies, ground_that_sinks_wakes_the_sleeping,
            nothing_falls_through_ground_that_is_eroded_and_dug, lava_bears_what_falls_on_it,
            bodies_above_ground_that_comes_late_are_saved);
        $crate::tests_with!($lab: upkeep: only_changed_chunks_are_built,
            no_more_than_allowed_are_built_in_a_frame, the_nearest_to_bodies_are_built_first,
            colliders_stand_only_in_the_areas, colliders_follow_bodies, colliders_follow_what_a_game_moves,
            a_new_terrain_is_built_near_bodies_first, a_collider_that_a_game_removed_bears_nothing,
            colliders_go_with_their_terrain, a_terrain_of_one_row_has_no_colliders);
    };
    ($lab:ty: $module:ident: $($name:ident),+) => {
        $(
            #[test]
            fn $name() {
                $crate::$module::$name::<$lab>();
            }
        )+
    };
}
use tests_with;
