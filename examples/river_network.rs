//! Rivers as data: the network of a range drawn over the land, and water that runs in it.
//!
//! `cargo run --example river_network [-- --seed 3]`
//!
//! W lets water run from springs at the rivers' upper ends, F shows or hides the network,
//! R starts again with another seed.

mod common;

use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_erode::drainage::network::{RiverMap, RiverMapUpdated, RiverNetwork, RiverSettings};
use bevy_erode::prelude::*;
use clap::Parser;

const CELLS: u32 = 384;
const CELL_SIZE: f32 = 4.0;
/// Height of the ribbons above the ground. units: m
const LIFT: f32 = 2.0;
/// How much more the springs pour than the network says: water that one sees at once.
const MORE_WATER: f32 = 1500.0;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: river network");
    app.add_plugins((
        ErosionPlugin::default(),
        common::SunAndCamera {
            pitch: 0.7,
            ..common::SunAndCamera::new(CELLS as f32 * CELL_SIZE, 300.0)
        },
    ))
    .insert_resource(Seed(cli.seed))
    .insert_resource(RiverMap::new(RiverSettings {
        onset_area: 5000.0,
        ..RiverSettings::default()
    }))
    .insert_resource(ShowRivers(true))
    .add_systems(Startup, start)
    .add_systems(PostUpdate, (draw, show).chain())
    .add_systems(Update, keys.run_if(resource_exists::<ButtonInput<KeyCode>>));
    let seconds = cli.options.seconds_or(20.0);
    let screenshots = common::Screenshots::start_and_end(seconds);
    if cli.options.headless {
        app.add_systems(Update, run_water.run_if(resource_added::<Drawn>));
    }
    common::run(app, screenshots)
}

#[derive(Resource)]
struct Seed(u32);

/// Whether the network is drawn.
#[derive(Resource)]
struct ShowRivers(bool);

/// There when the first network is drawn.
#[derive(Resource)]
struct Drawn;

/// The mesh of all rivers of an order.
#[derive(Component)]
struct Ribbon;

#[derive(Component)]
struct Spring;

/// A range that falls off to all sides, with its lakes full.
fn start(mut commands: Commands, seed: Res<Seed>, map: Res<RiverMap>) -> Result {
    let range = common::Land::Range.form(seed.0);
    let land = Terrain::generate(&range, UVec2::splat(CELLS), CELL_SIZE)?;
    let network = RiverNetwork::of(&land, &map.settings)?;
    let depths = (0..land.grid().cells()).map(|cell| network.lake_depth(cell));
    let depths = depths.collect();
    commands.insert_resource(land.with_layer(Layer::Water, depths)?);
    let longest = network.rivers().iter().map(|river| river.length);
    println!(
        "  {} rivers ({:.1} km, the longest reach {:.0} m), {} lakes, {} basins",
        network.rivers().len(),
        network.total_length() / 1000.0,
        longest.fold(0.0, f32::max),
        network.lakes().len(),
        network.basins().len(),
    );
    Ok(())
}

/// Draws the newest network: a ribbon for each river, darker for higher orders.
fn draw(
    mut commands: Commands,
    mut news: MessageReader<RiverMapUpdated>,
    map: Res<RiverMap>,
    ground: TerrainQuery,
    old: Query<Entity, With<Ribbon>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let (Some(_), Some(network)) = (news.read().last(), map.network()) else {
        return;
    };
    for ribbon in &old {
        commands.entity(ribbon).despawn();
    }
    for order in 1..=network.highest_order() {
        let part = (f32::from(order) - 1.0) / 4.0;
        let color = Color::srgb(0.45, 0.75, 1.0).mix(&Color::srgb(0.0, 0.1, 0.6), part.min(1.0));
        commands.spawn((
            Ribbon,
            Mesh3d(meshes.add(ribbons(network, order, &ground))),
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color: color,
                unlit: true,
                cull_mode: None,
                ..default()
            })),
        ));
    }
    commands.insert_resource(Drawn);
}

fn show(rivers: Res<ShowRivers>, mut ribbons: Query<&mut Visibility, With<Ribbon>>) {
    for mut ribbon in &mut ribbons {
        ribbon.set_if_neq(match rivers.0 {
            true => Visibility::Inherited,
            false => Visibility::Hidden,
        });
    }
}

/// A strip along each river of an order, a little above the ground.
fn ribbons(network: &RiverNetwork, order: u8, ground: &TerrainQuery) -> Mesh {
    let (mut positions, mut indices) = (Vec::new(), Vec::new());
    let rivers = network.rivers().iter().enumerate();
    for (number, _) in rivers.filter(|(_, river)| river.order == order) {
        let course = network.smooth_positions(number, 4);
        for (at, here) in course.iter().enumerate() {
            let before = course[at.saturating_sub(1)];
            let after = course[(at + 1).min(course.len() - 1)];
            let along = (after - before).with_y(0.0).normalize_or(Vec3::X);
            // True widths are too narrow to be seen from far above: show the order instead.
            let half = (0.35 + 0.25 * f32::from(order)) * CELL_SIZE;
            let first = positions.len() as u32;
            for side in [-half, half] {
                let place = *here + Vec3::new(-along.z, 0.0, along.x) * side;
                let height = ground.height(place).unwrap_or(here.y);
                positions.push(place.with_y(height + LIFT));
            }
            if at + 1 < course.len() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|corner| first + corner);
                indices.extend([a, b, c, b, d, c]);
            }
        }
    }
    let normals = vec![Vec3::Y; positions.len()];
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
    .with_inserted_indices(Indices::U32(indices))
}

/// Springs at the upper ends of the rivers, and a model that lets their water flow.
fn run_water(mut commands: Commands, map: Res<RiverMap>, old: Query<Entity, With<Spring>>) {
    for spring in &old {
        commands.entity(spring).despawn();
    }
    let springs = map
        .network()
        .map(|network| network.springs(0.0, MORE_WATER));
    for spring in springs.unwrap_or_default() {
        let place = Transform::from_translation(spring.position);
        commands.spawn((Spring, spring.source, place));
    }
    commands.insert_resource(PipeModel::default());
}

fn keys(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    mut seed: ResMut<Seed>,
    mut rivers: ResMut<ShowRivers>,
    springs: Query<Entity, With<Spring>>,
) {
    if keys.just_pressed(KeyCode::KeyW) {
        commands.run_system_cached(run_water);
    }
    if keys.just_pressed(KeyCode::KeyF) {
        rivers.0 = !rivers.0;
    }
    if keys.just_pressed(KeyCode::KeyR) {
        for spring in &springs {
            commands.entity(spring).despawn();
        }
        seed.0 += 1;
        commands.remove_resource::<PipeModel>();
        commands.run_system_cached(start);
    }
}

/// Rivers as data, drawn over the land.
#[derive(Parser)]
struct Cli {
    /// Another land
    #[arg(long, default_value_t = 7)]
    seed: u32,
    #[command(flatten)]
    options: common::Options,
}
