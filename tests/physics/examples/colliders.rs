//! Rigid bodies (avian) on ground that changes: balls and boxes roll down a slope while
//! it is dug, flooded and eroded. The program counts bodies that fall through it: none.
//!
//! `cargo run -p physics_tests --example colliders`
//!
//! Space drops all bodies again at the top.

#[path = "../../../examples/common/mod.rs"]
mod common;

use avian3d::prelude::*;
use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::edits::Falloff,
    physics::TerrainCollider,
    terrain::landform::{Sum, TiltedPlane},
};
use clap::Parser;
use core::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const SIZE: UVec2 = UVec2::new(150, 200);
const CELL_SIZE: f32 = 1.0;
const BODIES: usize = 120;

fn main() -> AppExit {
    let cli = Cli::parse();
    let fallen = Arc::new(AtomicUsize::new(0));
    let mut app = common::app(&cli.options, "bevy_erode: colliders");
    let stage = common::SunAndCamera {
        yaw: 0.55,
        pitch: 0.42,
        distance: 0.62,
        ..common::SunAndCamera::new(SIZE.max_element() as f32 * CELL_SIZE, 70.0)
    };
    app.add_plugins((
        ErosionPlugin::default(),
        PhysicsPlugins::default().set(PhysicsInterpolationPlugin::interpolate_all()),
        stage,
    ))
    .insert_resource(Chance(Pcg64::seed_from_u64(4)))
    .insert_resource(Count {
        below: 0,
        most: fallen.clone(),
    })
    .add_systems(Startup, (raise_land, drop_bodies).chain())
    .add_systems(Update, dig.before(ErosionSystems::Input))
    .add_systems(
        Update,
        (respawn_bodies, count_bodies)
            .chain()
            .after(ErosionSystems::Output),
    )
    .add_systems(
        Update,
        start_again.run_if(resource_exists::<ButtonInput<KeyCode>>),
    );
    let screenshots = common::Screenshots::start_and_end(cli.options.seconds_or(40.0));
    let exit = common::run(app, screenshots);
    match fallen.load(Ordering::Relaxed) {
        0 => exit,
        fallen => {
            eprintln!("{fallen} bodies fell through the ground");
            AppExit::error()
        }
    }
}

/// All that happens by chance.
#[derive(Resource)]
struct Chance(Pcg64);

impl Chance {
    fn between(&mut self, from: f32, to: f32) -> f32 {
        self.0.random_range(from..to)
    }
}

/// A slope that falls towards the camera, with springs on it.
fn raise_land(mut commands: Commands, mut time: ResMut<Time<Erosion>>) -> Result {
    let slope = TiltedPlane {
        slope: 0.3,
        base: 32.0,
        ..default()
    };
    let hills = Fbm {
        feature_size: 70.0,
        height: 14.0,
        octaves: 4,
        roughness: 0.3,
        ..Fbm::seeded(11)
    };
    let terrain = Terrain::generate(&Sum::new(slope, hills), SIZE, CELL_SIZE)?;
    commands.insert_resource(terrain.with_soil_depth(1.0)?);
    commands.insert_resource(PipeModel::default());
    commands.insert_resource(Thermal::default());
    for (x, z) in [(-25.0, -60.0), (30.0, -20.0)] {
        commands.spawn((
            WaterSource {
                discharge: 25.0,
                radius: 6.0,
                ..default()
            },
            Transform::from_xyz(x, 0.0, z),
        ));
    }
    // Water and slides hurry, so that there is something to see soon.
    time.set_speed(3.0);
    time.set_step_size(Duration::from_millis(50));
    Ok(())
}

/// A body that takes part, and for how long it has been below the ground.
#[derive(Component, Default)]
struct Rolls {
    below: Duration,
}

/// A place in the air above the upper part of the slope.
fn somewhere(terrain: &Terrain, chance: &mut Chance, part: f32) -> Vec3 {
    let half = terrain.grid().extent() * 0.45;
    let x = chance.between(-half.x, half.x);
    let z = half.y * (2.0 * part * chance.between(0.0, 1.0) - 1.0);
    let ground = terrain.height_at(Vec3::new(x, 0.0, z)).unwrap_or_default();
    Vec3::new(x, ground + chance.between(4.0, 12.0), z)
}

fn drop_bodies(
    mut commands: Commands,
    terrain: Res<Terrain>,
    mut chance: ResMut<Chance>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let colors = [
        Color::srgb(0.85, 0.22, 0.16),
        Color::srgb(0.95, 0.70, 0.18),
        Color::srgb(0.16, 0.45, 0.78),
        Color::srgb(0.93, 0.92, 0.88),
    ];
    let paints = colors.map(|base_color| {
        materials.add(StandardMaterial {
            base_color,
            perceptual_roughness: 0.5,
            ..default()
        })
    });
    for number in 0..BODIES {
        let size = chance.between(1.0, 2.4);
        let paint = MeshMaterial3d(paints[number % paints.len()].clone());
        let place = Transform::from_translation(somewhere(&terrain, &mut chance, 0.6));
        let body = (Rolls::default(), RigidBody::Dynamic, place, paint);
        if number % 2 == 0 {
            let ball = meshes.add(Sphere::new(size));
            commands.spawn((
                body,
                Mesh3d(ball),
                Collider::sphere(size),
                Friction::new(0.4),
            ));
        } else {
            let sides = Vec3::new(size, size * 0.8, size * 1.3) * 1.6;
            let block = meshes.add(Cuboid::from_size(sides));
            let collider = Collider::cuboid(sides.x, sides.y, sides.z);
            commands.spawn((body, Mesh3d(block), collider, Friction::new(0.2)));
        }
    }
}

/// Makes a hole, now and then a heap, somewhere on the slope.
fn dig(
    ground: TerrainQuery,
    time: Res<Time>,
    mut chance: ResMut<Chance>,
    mut since: Local<Duration>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    *since += time.delta();
    let Some(grid) = ground.grid() else { return };
    if *since < Duration::from_millis(1500) {
        return;
    }
    *since = Duration::ZERO;
    let half = grid.extent() * 0.42;
    let middle = Vec3::new(
        chance.between(-half.x, half.x),
        0.0,
        chance.between(-half.y, half.y),
    );
    let digs = chance.between(0.0, 1.0) < 0.75;
    let brush = Brush::circle(chance.between(5.0, 9.0)).with_falloff(Falloff::Sphere);
    edits.write(match digs {
        true => TerrainEdit::lower(middle, brush).with_strength(5.0),
        false => TerrainEdit::raise(middle, brush).with_strength(4.0),
    });
}

/// Puts what has left the land back at its top.
fn respawn_bodies(
    terrain: Option<Res<Terrain>>,
    mut chance: ResMut<Chance>,
    mut bodies: Query<(&mut Position, &mut LinearVelocity, &mut AngularVelocity), With<Rolls>>,
) {
    let Some(terrain) = terrain else { return };
    let half = terrain.grid().extent() * 0.5 - 2.0;
    for (mut position, mut velocity, mut spin) in &mut bodies {
        let is_placed = *position != Position::PLACEHOLDER;
        if is_placed && position.xz().abs().cmpgt(half).any() {
            position.0 = somewhere(&terrain, &mut chance, 0.15);
            velocity.0 = Vec3::ZERO;
            spin.0 = Vec3::ZERO;
        }
    }
}

/// Bodies below the ground, now and at most.
#[derive(Resource)]
struct Count {
    below: usize,
    most: Arc<AtomicUsize>,
}

/// Counts the bodies whose middle is below the ground. It rises a moment before
/// its colliders do, so only what stays there for a second has fallen through.
fn count_bodies(
    terrain: Option<Res<Terrain>>,
    mut bodies: Query<(&Position, &mut Rolls)>,
    colliders: Query<(), With<TerrainCollider>>,
    time: Res<Time>,
    mut count: ResMut<Count>,
    mut windows: Query<&mut Window>,
    mut told: Local<Duration>,
) {
    let Some(terrain) = terrain else { return };
    count.below = 0;
    for (position, mut body) in &mut bodies {
        let ground = terrain.height_at(position.0);
        body.below = match ground {
            Some(ground) if position.y < ground => body.below + time.delta(),
            _ => Duration::ZERO,
        };
        count.below += usize::from(body.below > Duration::from_secs(1));
    }
    let most = count.most.fetch_max(count.below, Ordering::Relaxed);
    *told += time.delta();
    if *told >= Duration::from_secs(2) {
        *told = Duration::ZERO;
        let line = format!(
            "{} bodies on {} colliders: {} below the ground, {} at most so far",
            bodies.iter().len(),
            colliders.iter().len(),
            count.below,
            most.max(count.below)
        );
        info!("{line}");
        for mut window in &mut windows {
            window.title = format!("bevy_erode: colliders, {line}");
        }
    }
}

fn start_again(
    keys: Res<ButtonInput<KeyCode>>,
    terrain: Res<Terrain>,
    mut chance: ResMut<Chance>,
    mut bodies: Query<&mut Position, With<Rolls>>,
) {
    if keys.just_pressed(KeyCode::Space) {
        for mut position in &mut bodies {
            position.0 = somewhere(&terrain, &mut chance, 0.3);
        }
    }
}

/// Balls and boxes on ground that changes.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: common::Options,
}
