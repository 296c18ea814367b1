//! A small game on eroding terrain: protect a village from a flood and a volcano for two
//! minutes.
//!
//! `cargo run --example god_game`
//!
//! The river swells, and then the volcano erupts. Hold the left button to pick up
//! what is under the pointer (earth, water or lava) into a floating ball, hold the
//! right one to pour it out: build a dike, dig the water another way, quench the
//! lava. C leads a rain cloud to the pointer, S opens a spring there, W sends a
//! wave from the sea, R starts again. The middle button turns the camera, with
//! Shift it moves it.
//!
//! Nothing appears or vanishes: what is picked up is in the hand, and the ledger
//! counts it. `--autoplay` lets the computer play, also without a window.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::edits::Falloff,
    terrain::landform::{Sum, WindingChannel},
    view::Palette,
};
use clap::Parser;
use common::{Hand, HandPlugin};

/// Side of the land. units: m
const EXTENT: f32 = 320.0;
const CELLS: u32 = 160;
/// How long the village must last. units: s
const TIME: f32 = 120.0;
/// The river's water before the flood and at its height. units: m³/s
const RIVER: [f32; 2] = [25.0, 520.0];
/// The volcano's top, its foot and height, and its lava. units: m, m³/s
const VOLCANO: Vec3 = Vec3::new(104.0, 0.0, -58.0);
const CONE: [f32; 2] = [74.0, 44.0];
const LAVA: f32 = 60.0;
/// When it erupts. units: s
const ERUPTION: core::ops::Range<f32> = 15.0..95.0;
/// The village is lost when fewer houses stand.
const NEEDED: usize = 5;
const HOUSES: [Vec2; 6] = [
    Vec2::new(40.0, 14.0),
    Vec2::new(54.0, 24.0),
    Vec2::new(48.0, 38.0),
    Vec2::new(62.0, 44.0),
    Vec2::new(46.0, 58.0),
    Vec2::new(60.0, 66.0),
];

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: god game");
    app.add_plugins((
        ErosionPlugin::default(),
        EguiPlugin::default(),
        HandPlugin {
            hand: Hand {
                active: true,
                ..default()
            },
            key: None,
        },
        common::SunAndCamera {
            yaw: 0.5,
            pitch: 0.7,
            distance: 0.55,
            ..common::SunAndCamera::new(EXTENT, 40.0)
        },
    ))
    .insert_resource(TerrainView {
        palette: Palette {
            snow_line: 2.0,
            ..default()
        },
        ..default()
    })
    .insert_resource(Autoplay(cli.autoplay))
    .init_resource::<Game>()
    .add_systems(Startup, (make_models, start).chain())
    .add_systems(EguiPrimaryContextPass, show)
    .add_systems(
        Update,
        (
            start.run_if(wants_restart),
            play.run_if(resource_exists::<ButtonInput<KeyCode>>),
            autoplay.run_if(|autoplay: Res<Autoplay>| autoplay.0),
        )
            .chain()
            .before(ErosionSystems::Input),
    )
    .add_systems(
        Update,
        (tick, swell, erupt, judge, stand)
            .chain()
            .after(ErosionSystems::Publish),
    );
    let seconds = cli.options.seconds_or(TIME + 5.0);
    let screenshots = common::Screenshots::new()
        .shot("start", 0.0)
        .shot("middle", 0.6 * seconds)
        .shot_with("end", seconds, |world| {
            let game = world.resource::<Game>();
            println!("  {:?}: {} houses stand", game.state, game.standing);
        });
    common::run(app, screenshots)
}

/// How it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Playing,
    Won,
    Lost,
}

#[derive(Resource, Default)]
struct Game {
    state: State,
    /// Erosion time since the start, in the last frame, and of the whole clock:
    /// where the machine is slow, flood and village wait for each other. units: s
    seconds: f32,
    delta: f32,
    clock: f32,
    /// Houses that are left.
    standing: usize,
}

/// Whether the computer plays.
#[derive(Resource)]
struct Autoplay(bool);

/// A house, with its health from 1 down to 0.
#[derive(Component)]
struct House {
    health: f32,
}

/// The river's spring.
#[derive(Component)]
struct River;

/// The volcano's vent.
#[derive(Component)]
struct Vent;

/// A tree, which burns.
#[derive(Component)]
struct Tree;

/// A cloud that the player leads.
#[derive(Component)]
struct Cloud;

/// Everything that a new game replaces.
#[derive(Component)]
struct OfThisGame;

#[derive(Resource)]
struct Models {
    wall: Handle<Mesh>,
    roof: Handle<Mesh>,
    puff: Handle<Mesh>,
    plaster: Handle<StandardMaterial>,
    tiles: Handle<StandardMaterial>,
    mist: Handle<StandardMaterial>,
    crown: Handle<Mesh>,
    leaves: Handle<StandardMaterial>,
}

fn make_models(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.insert_resource(Models {
        wall: meshes.add(Cuboid::new(6.0, 4.0, 7.0)),
        roof: meshes.add(Cone::new(5.6, 3.6)),
        puff: meshes.add(Sphere::new(1.0)),
        plaster: materials.add(Color::srgb(0.90, 0.86, 0.76)),
        tiles: materials.add(Color::srgb(0.62, 0.22, 0.16)),
        mist: materials.add(Color::srgba(0.95, 0.96, 1.0, 0.9)),
        crown: meshes.add(Cone::new(2.0, 7.0)),
        leaves: materials.add(Color::srgb(0.13, 0.27, 0.10)),
    });
}

/// A winding valley that falls to the sea in the south.
fn valley() -> WindingChannel {
    WindingChannel {
        slope: 0.02,
        channel_width: 24.0,
        channel_depth: 2.4,
        meander_amplitude: 22.0,
        meander_wavelength: 170.0,
        base: 10.0,
    }
}

/// Begins a new game.
fn start(
    mut commands: Commands,
    old: Query<Entity, With<OfThisGame>>,
    models: Res<Models>,
    mut hand: ResMut<Hand>,
    mut game: ResMut<Game>,
    time: Res<Time<Erosion>>,
) -> Result {
    for entity in &old {
        commands.entity(entity).despawn();
    }
    *hand = Hand {
        active: true,
        ..default()
    };
    *game = Game {
        standing: HOUSES.len(),
        clock: time.elapsed_secs(),
        ..default()
    };
    let hills = Fbm::seeded(4).with_feature_size(140.0).with_height(2.0);
    let land = Sum::new(valley(), hills);
    let terrain = Terrain::generate(&land, UVec2::splat(CELLS), EXTENT / CELLS as f32)?;
    let mut terrain = terrain.with_soil_depth(3.0)?.with_borders(Borders {
        south: Border::Sea { level: 8.5 },
        ..Borders::closed()
    })?;
    raise_volcano(&mut terrain)?;
    plant_trees(&mut commands, &models, &terrain);
    commands.insert_resource(terrain);
    commands.insert_resource(PipeModel::default());
    commands.insert_resource(Thermal::default());
    commands.insert_resource(Lava::default());
    let vent = LavaSource::cubic_metres_per_second(0.0).with_radius(6.0);
    commands.spawn((Vent, OfThisGame, vent, Transform::from_translation(VOLCANO)));
    let river = WaterSource::cubic_metres_per_second(RIVER[0]).with_radius(8.0);
    let at = Transform::from_xyz(7.0, 0.0, -0.45 * EXTENT);
    commands.spawn((River, OfThisGame, river, at));
    for place in HOUSES {
        commands.spawn((
            House { health: 1.0 },
            OfThisGame,
            Transform::from_xyz(place.x, 0.0, place.y),
            Mesh3d(models.wall.clone()),
            MeshMaterial3d(models.plaster.clone()),
            children![(
                Mesh3d(models.roof.clone()),
                MeshMaterial3d(models.tiles.clone()),
                Transform::from_xyz(0.0, 3.8, 0.0),
            )],
        ));
    }
    Ok(())
}

/// A cone of rock with a crater that is open towards the village.
fn raise_volcano(terrain: &mut Terrain) -> Result {
    let [foot, height] = CONE;
    let cone = Brush::circle(foot).with_falloff(Falloff::Linear);
    let rock = TerrainEdit::add(Matter::Rock, VOLCANO, cone);
    rock.with_strength(height).apply(terrain)?;
    let breach = VOLCANO + Vec3::new(-16.0, 0.0, 16.0);
    let crater = TerrainEdit::lower(breach, Brush::circle(13.0)).drawn_from(VOLCANO);
    crater.with_strength(13.0).apply(terrain)?;
    Ok(())
}

/// Trees stand wherever it is neither steep nor wet, but not in the village.
fn plant_trees(commands: &mut Commands, models: &Models, terrain: &Terrain) {
    for i in 0..260u32 {
        // A golden ratio's lattice: even, yet in no rows.
        let at = Vec2::new(i as f32 * 0.754_877_7, i as f32 * 0.569_840_3).fract() - 0.5;
        let place = Vec3::new(at.x, 0.0, at.y) * EXTENT * 0.96;
        let far = HOUSES.map(|house| house.distance(place.xz()));
        let slope = terrain.slope_at(place).map_or(9.0, Vec2::length);
        let height = terrain.height_at(place).unwrap_or_default();
        let beside_river = (place.x - river_at(place.z)).abs() > 22.0;
        if far.iter().all(|far| *far > 11.0) && slope < 0.5 && height > 10.0 && beside_river {
            let size = 0.6 + 0.7 * (i as f32 * 0.618).fract();
            let place = Transform::from_translation(place).with_scale(Vec3::splat(size));
            let look = (
                Mesh3d(models.crown.clone()),
                MeshMaterial3d(models.leaves.clone()),
            );
            commands.spawn((Tree, OfThisGame, place, look));
        }
    }
}

fn wants_restart(keys: Option<Res<ButtonInput<KeyCode>>>) -> bool {
    keys.is_some_and(|keys| keys.just_pressed(KeyCode::KeyR))
}

/// Keys; the mouse is the hand's.
fn play(
    keys: Res<ButtonInput<KeyCode>>,
    models: Res<Models>,
    clouds: Query<Entity, With<Cloud>>,
    game: Res<Game>,
    mut hand: ResMut<Hand>,
    mut edits: MessageWriter<TerrainEdit>,
    mut commands: Commands,
) {
    hand.active = game.state == State::Playing;
    let Some(at) = hand.at.filter(|_| hand.active) else {
        return;
    };
    if keys.just_pressed(KeyCode::KeyS) {
        let spring = WaterSource::cubic_metres_per_second(6.0).with_radius(4.0);
        commands.spawn((OfThisGame, spring, Transform::from_translation(at)));
    }
    if keys.just_pressed(KeyCode::KeyW) {
        edits.write(wave());
    }
    if keys.pressed(KeyCode::KeyC) {
        let above = Transform::from_translation(at + 40.0 * Vec3::Y);
        match clouds.single() {
            Ok(cloud) => {
                commands.entity(cloud).insert(above);
            }
            Err(_) => spawn_cloud(&mut commands, &models, above),
        }
    }
}

/// A wall of water along the shore.
fn wave() -> TerrainEdit {
    let shore = 0.47 * EXTENT;
    let [west, east] = [-0.4, 0.4].map(|side| Vec3::new(side * EXTENT, 0.0, shore));
    TerrainEdit::add(Matter::Water, east, Brush::circle(14.0))
        .drawn_from(west)
        .with_strength(5.0)
}

fn spawn_cloud(commands: &mut Commands, models: &Models, at: Transform) {
    let puffs = [(0.0, 12.0), (-13.0, 8.0), (12.0, 9.0), (4.0, 10.0)];
    commands
        .spawn((
            Cloud,
            OfThisGame,
            WaterSource::cubic_metres_per_second(12.0).with_radius(25.0),
            at,
            Visibility::default(),
        ))
        .with_children(|cloud| {
            for (x, size) in puffs {
                cloud.spawn((
                    Mesh3d(models.puff.clone()),
                    MeshMaterial3d(models.mist.clone()),
                    Transform::from_xyz(x, 0.2 * size, 0.5 * x).with_scale(Vec3::new(
                        size,
                        0.5 * size,
                        0.8 * size,
                    )),
                ));
            }
        });
}

/// The computer digs on the far bank and piles a dike around the village.
fn autoplay(
    game: Res<Game>,
    ground: TerrainQuery,
    mut hand: ResMut<Hand>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    if game.state != State::Playing || game.delta == 0.0 {
        return;
    }
    let turn = (game.seconds / 1.5) as usize;
    let along = (turn / 2 % 14) as f32 / 13.0;
    // By turns: as long to pick up as to pour.
    let picks_up = turn.is_multiple_of(2);
    let place = match picks_up {
        true => Vec3::new(-60.0 - 15.0 * along, 0.0, -20.0 + 80.0 * along),
        // The flood comes from the north, and then along the river.
        false if along < 0.55 => Vec3::new(95.0 - 120.0 * along, 0.0, -8.0),
        false => {
            let z = -8.0 + 180.0 * (along - 0.55);
            Vec3::new(river_at(z) + 20.0, 0.0, z)
        }
    };
    let height = ground.height(place).unwrap_or_default();
    hand.at = Some(place.with_y(height));
    let edit = hand.edit(place, picks_up, game.delta);
    // It has less time than a player, and larger hands.
    edits.write(edit.with_strength(10.0));
}

/// Middle of the river. units: m
fn river_at(z: f32) -> f32 {
    let valley = valley();
    let turn = core::f64::consts::TAU * f64::from(z) / valley.meander_wavelength;
    (valley.meander_amplitude * turn.sin()) as f32
}

/// Follows the clock of erosion.
fn tick(mut game: ResMut<Game>, time: Res<Time<Erosion>>) {
    game.delta = time.elapsed_secs() - game.clock;
    game.clock = time.elapsed_secs();
}

/// The river swells, and falls when the flood is over.
fn swell(game: Res<Game>, mut river: Query<&mut WaterSource, With<River>>) {
    let share = (game.seconds / (0.4 * TIME)).min(1.0);
    let [low, high] = RIVER;
    for mut spring in &mut river {
        spring.discharge = match game.seconds < TIME {
            true => low + (high - low) * share,
            false => low,
        };
    }
}

/// The volcano pours while it erupts.
fn erupt(game: Res<Game>, mut vents: Query<&mut LavaSource, With<Vent>>) {
    for mut vent in &mut vents {
        vent.discharge = match ERUPTION.contains(&game.seconds) {
            true => LAVA,
            false => 0.0,
        };
    }
}

type Trees<'w, 's> = Query<'w, 's, (Entity, &'static Transform), (With<Tree>, Without<House>)>;

/// Houses and trees.
type Things<'w, 's> =
    Query<'w, 's, (Option<&'static House>, &'static mut Transform), Or<(With<House>, With<Tree>)>>;

/// Water wears houses down, lava burns them; the time's end or the village's
/// ends the game.
fn judge(
    mut commands: Commands,
    mut game: ResMut<Game>,
    mut houses: Query<(Entity, &mut House, &Transform)>,
    trees: Trees,
    ground: TerrainQuery,
) {
    if game.state != State::Playing {
        return;
    }
    let seconds = game.delta;
    game.seconds += seconds;
    for (entity, mut house, place) in &mut houses {
        let depth = ground.water_depth(place.translation).unwrap_or(0.0);
        // A wet threshold does no harm.
        house.health -= 0.35 * (depth - 0.15).max(0.0) * seconds;
        if burns(&ground, place.translation, 6.0) {
            house.health -= 0.5 * seconds;
        }
        if house.health <= 0.0 {
            commands.entity(entity).despawn();
            game.standing = game.standing.saturating_sub(1);
        }
    }
    for (entity, place) in &trees {
        if burns(&ground, place.translation, 1.0) {
            commands.entity(entity).despawn();
        }
    }
    if game.standing < NEEDED {
        game.state = State::Lost;
    } else if game.seconds >= TIME {
        game.state = State::Won;
    }
}

/// Whether there is lava within a distance of a place. units: m
fn burns(ground: &TerrainQuery, at: Vec3, distance: f32) -> bool {
    let around = [Vec3::ZERO, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z];
    let mut depths = around.map(|side| ground.lava_depth(at + distance * side));
    depths.iter_mut().flatten().any(|depth| *depth > 0.05)
}

/// Houses and trees stand on the ground, whatever becomes of it; houses sag as
/// they wear.
fn stand(ground: TerrainQuery, mut things: Things) {
    for (house, mut place) in &mut things {
        if let Some(height) = ground.height(place.translation) {
            let middle = house.map_or(3.0 * place.scale.y, |house| 2.0 * house.health);
            let height = height + middle;
            if place.translation.y != height {
                place.translation.y = height;
            }
        }
    }
}

fn show(
    mut contexts: EguiContexts,
    game: Res<Game>,
    hand: Res<Hand>,
    terrain: Option<Res<Terrain>>,
) -> Result {
    let context = contexts.ctx_mut()?;
    let held = terrain.map_or(0.0, |terrain| hand.volume(&terrain));
    egui::Window::new("Flood and fire")
        .anchor(egui::Align2::LEFT_TOP, [10.0, 10.0])
        .resizable(false)
        .show(context, |ui| {
            let left = (TIME - game.seconds).max(0.0);
            let standing = format!("{} of {} houses stand", game.standing, HOUSES.len());
            ui.label(format!("{left:.0} s to go, {standing}"));
            let matter = match hand.matter {
                Matter::Water => "water",
                Matter::Lava => "lava",
                _ => "earth",
            };
            ui.label(format!("{held:.0} m³ of {matter} in hand"));
            ui.separator();
            ui.label("left: pick up · right: pour");
            ui.label("C cloud · S spring · W wave · R start again");
        });
    let verdict = match game.state {
        State::Playing => return Ok(()),
        State::Won => "The village is saved.",
        State::Lost => "The village is lost.",
    };
    egui::Area::new("verdict".into())
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .show(context, |ui| {
            ui.label(egui::RichText::new(verdict).size(40.0).strong());
            ui.label(egui::RichText::new("R starts again").size(18.0));
        });
    Ok(())
}

/// Keep a village dry and unburnt.
#[derive(Parser)]
struct Cli {
    /// Let the computer play.
    #[arg(long)]
    autoplay: bool,
    #[command(flatten)]
    options: common::Options,
}
