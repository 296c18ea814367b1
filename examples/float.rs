//! Water queries: boats float on a river and drift with its current.
//!
//! `cargo run --example float`
//!
//! A spring fills a winding valley. Each boat asks where the water's surface is
//! and how fast it flows, and settles on the bank where it runs dry. Boats that
//! reach the border start again below the spring.

mod common;

use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::{
    terrain::landform::{Sum, WindingChannel},
    view::Palette,
};
use clap::Parser;

const SPRING: Vec3 = Vec3::new(54.8, 0.0, -170.0);
/// Where boats start: below the spring, in the middle of the stream.
const PIER: Vec3 = Vec3::new(49.0, 0.0, -148.0);
const BOATS: usize = 24;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: float");
    app.add_plugins((
        ErosionPlugin::default(),
        common::SunAndCamera {
            yaw: 0.35,
            pitch: 0.62,
            distance: 0.48,
            ..common::SunAndCamera::new(400.0, 60.0)
        },
    ))
    .insert_resource(TerrainView {
        palette: Palette {
            snow_line: 2.0,
            ..default()
        },
        ..default()
    })
    .add_systems(Startup, setup)
    .add_systems(
        Update,
        (launch, float).chain().after(ErosionSystems::Publish),
    );
    common::run(
        app,
        common::Screenshots::start_and_end(cli.options.seconds_or(60.0)),
    )
}

/// A boat, and how fast it goes. units: m/s
#[derive(Component, Default)]
struct Boat {
    velocity: Vec2,
}

#[derive(Resource)]
struct Shipyard {
    hull: Handle<Mesh>,
    sail: Handle<Mesh>,
    hull_materials: Vec<Handle<StandardMaterial>>,
    sail_material: Handle<StandardMaterial>,
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) -> Result {
    let valley = WindingChannel {
        slope: 0.03,
        channel_width: 55.0,
        channel_depth: 9.0,
        meander_amplitude: 55.0,
        meander_wavelength: 230.0,
        base: 10.0,
    };
    let hills = Fbm::seeded(5).with_feature_size(90.0).with_height(7.0);
    let land = Sum::new(valley.clone(), hills);
    let terrain = Terrain::generate(&land, UVec2::splat(256), 400.0 / 256.0)?;
    // A river that runs already, level with the valley.
    let place = |i: usize| {
        terrain
            .grid()
            .cell_center((i % 256) as u32, (i / 256) as u32)
    };
    let level = |at: Vec3| (valley.base - valley.slope * f64::from(at.z)) as f32 - 1.5;
    let depth = |i: usize| (level(place(i)) - terrain.ground(i)).clamp(0.0, 6.0);
    let water = (0..terrain.grid().cells()).map(depth).collect();
    commands.insert_resource(
        terrain
            .with_soil_depth(0.3)?
            .with_layer(Layer::Water, water)?
            .with_borders(Borders {
                south: Border::Open,
                ..Borders::closed()
            })?,
    );
    commands.insert_resource(PipeModel::default());
    let spring = WaterSource::cubic_metres_per_second(120.0).with_radius(8.0);
    commands.spawn((spring, Transform::from_translation(SPRING)));
    let paint = [0xb03a2e, 0x21618c, 0xd4ac0d].map(|hex: u32| {
        let [_, r, g, b] = hex.to_be_bytes();
        materials.add(Color::srgb_u8(r, g, b))
    });
    commands.insert_resource(Shipyard {
        hull: meshes.add(Cuboid::new(3.6, 2.0, 8.0)),
        sail: meshes.add(Cone::new(2.4, 7.0)),
        hull_materials: paint.to_vec(),
        sail_material: materials.add(Color::srgb(0.95, 0.93, 0.86)),
    });
    Ok(())
}

/// Puts a boat on the water at the pier, one at a time.
fn launch(
    mut commands: Commands,
    ground: TerrainQuery,
    boats: Query<&Boat>,
    yard: Res<Shipyard>,
    time: Res<Time>,
    mut next: Local<f32>,
) {
    let count = boats.iter().count();
    if count >= BOATS || time.elapsed_secs() < *next || ground.water_depth(PIER) < Some(0.4) {
        return;
    }
    *next = time.elapsed_secs() + 2.5;
    commands.spawn((
        Boat::default(),
        Transform::from_translation(PIER),
        Mesh3d(yard.hull.clone()),
        MeshMaterial3d(yard.hull_materials[count % yard.hull_materials.len()].clone()),
        children![(
            Mesh3d(yard.sail.clone()),
            MeshMaterial3d(yard.sail_material.clone()),
            Transform::from_xyz(0.0, 4.5, 0.0),
        )],
    ));
}

fn float(ground: TerrainQuery, mut boats: Query<(&mut Boat, &mut Transform)>, time: Res<Time>) {
    let dt = time.delta_secs();
    for (mut boat, mut place) in &mut boats {
        let here = place.translation;
        let (Some(land), Some(water)) = (ground.ground(here), ground.water(here)) else {
            // Over the border: back to the pier.
            *boat = Boat::default();
            place.translation = PIER;
            continue;
        };
        // Deep water carries a boat along; on the ground it stands.
        let afloat = (water.depth / 0.5).clamp(0.0, 1.0);
        let current = water.velocity * afloat;
        let velocity = boat.velocity.lerp(current, (2.0 * dt).min(1.0));
        boat.velocity = velocity;
        let surface = water.surface.unwrap_or(land.height).max(land.height);
        let height = here.y + (surface + 0.3 - here.y) * (6.0 * dt).min(1.0);
        place.translation += Vec3::new(velocity.x, 0.0, velocity.y) * dt;
        place.translation.y = height.max(land.height + 0.3);
        // The bow follows the current, and the deck the ground when aground.
        let up = land.normal.lerp(Vec3::Y, afloat);
        if velocity.length() > 0.1 {
            let ahead = Vec3::new(velocity.x, 0.0, velocity.y);
            let heading = place.looking_to(-ahead, up).rotation;
            place.rotation = place.rotation.slerp(heading, (3.0 * dt).min(1.0));
        }
    }
}

/// Boats on a river.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: common::Options,
}
