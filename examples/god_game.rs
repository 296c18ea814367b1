//! A small game: keep a village dry until the flood is over.
//!
//! `cargo run --example god_game`
//!
//! The river swells for two minutes. Hold the left button to pick up earth into
//! a floating ball, hold the right one to pour it out: build a dike, or dig the
//! water another way. Keys 1 and 2 choose earth or water, C leads a rain cloud to
//! the pointer, S opens a spring there, W sends a wave from the sea, R starts
//! again. The middle button turns the camera, with Shift it moves it.
//!
//! Nothing appears or vanishes: what is picked up is in the hand, and the ledger
//! counts it. `--autoplay` lets the computer play, also without a window.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_erode::prelude::*;
use bevy_panorbit_camera::PanOrbitCamera;
use clap::Parser;

/// Side of the land. units: m
const EXTENT: f32 = 320.0;
const CELLS: u32 = 160;
/// How long the flood lasts. units: s
const FLOOD: f32 = 120.0;
/// The river's water before the flood and at its height. units: m³/s
const RIVER: [f32; 2] = [25.0, 520.0];
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
        common::Stage {
            yaw: 0.5,
            pitch: 0.7,
            distance: 0.55,
            ..common::Stage::new(EXTENT, 40.0)
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
    .init_resource::<Hand>()
    .init_resource::<Game>()
    .add_systems(Startup, (make_models, start).chain())
    .add_systems(EguiPrimaryContextPass, show)
    .add_systems(
        Update,
        (
            start.run_if(wants_restart),
            play.run_if(resource_exists::<ButtonInput<MouseButton>>),
            autoplay.run_if(|autoplay: Res<Autoplay>| autoplay.0),
        )
            .chain()
            .before(ErosionSystems::Input),
    )
    .add_systems(
        Update,
        (fill_hand, swell, judge, stand, show_ball)
            .chain()
            .after(ErosionSystems::Publish),
    );
    let seconds = cli.options.seconds_or(FLOOD + 5.0);
    let film = common::Film::new()
        .shot("start", 0.0)
        .shot("middle", 0.6 * seconds)
        .shot_with("end", seconds, |world| {
            let game = world.resource::<Game>();
            println!("  {:?}: {} houses stand", game.state, game.standing);
        });
    common::run(app, film)
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
    /// Time since the start. units: s
    seconds: f32,
    /// Houses that are left.
    standing: usize,
}

/// What the player holds, by volume, and what for. units: m³
#[derive(Resource, Default)]
struct Hand {
    earth: f64,
    water: f64,
    matter: Matter,
    /// Where the ball floats.
    at: Option<Vec3>,
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

/// A cloud that the player leads.
#[derive(Component)]
struct Cloud;

/// Everything that a new game replaces.
#[derive(Component)]
struct OfThisGame;

#[derive(Component)]
struct Ball;

#[derive(Resource)]
struct Models {
    wall: Handle<Mesh>,
    roof: Handle<Mesh>,
    puff: Handle<Mesh>,
    plaster: Handle<StandardMaterial>,
    tiles: Handle<StandardMaterial>,
    mist: Handle<StandardMaterial>,
    earth: Handle<StandardMaterial>,
    water: Handle<StandardMaterial>,
}

fn make_models(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let puff = meshes.add(Sphere::new(1.0));
    let models = Models {
        wall: meshes.add(Cuboid::new(6.0, 4.0, 7.0)),
        roof: meshes.add(Cone::new(5.6, 3.6)),
        puff: puff.clone(),
        plaster: materials.add(Color::srgb(0.90, 0.86, 0.76)),
        tiles: materials.add(Color::srgb(0.62, 0.22, 0.16)),
        mist: materials.add(Color::srgba(0.95, 0.96, 1.0, 0.9)),
        earth: materials.add(Color::srgb(0.45, 0.34, 0.22)),
        water: materials.add(Color::srgba(0.25, 0.5, 0.75, 0.85)),
    };
    commands.spawn((
        Ball,
        Mesh3d(puff),
        MeshMaterial3d(models.earth.clone()),
        Visibility::Hidden,
    ));
    commands.insert_resource(models);
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
) -> Result {
    for entity in &old {
        commands.entity(entity).despawn();
    }
    *hand = Hand::default();
    *game = Game {
        standing: HOUSES.len(),
        ..default()
    };
    let hills = Fbm::seeded(4).with_feature_size(140.0).with_height(2.0);
    let land = Sum::new(valley(), hills);
    let terrain = Terrain::generate(&land, UVec2::splat(CELLS), EXTENT / CELLS as f32)?;
    commands.insert_resource(terrain.with_soil_depth(3.0)?.with_borders(Borders {
        south: Border::Sea { level: 8.5 },
        ..Borders::closed()
    })?);
    commands.insert_resource(PipeModel::default());
    commands.insert_resource(Thermal::default());
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

fn wants_restart(keys: Option<Res<ButtonInput<KeyCode>>>) -> bool {
    keys.is_some_and(|keys| keys.just_pressed(KeyCode::KeyR))
}

/// Picks up what the hand is for, or pours it out.
fn hold(hand: &Hand, at: Vec3, picks_up: bool, seconds: f32) -> TerrainEdit {
    let brush = Brush::circle(9.0);
    let edit = match picks_up {
        true => TerrainEdit::remove(hand.matter, at, brush),
        false => TerrainEdit::add(hand.matter, at, brush),
    };
    edit.with_strength(4.0).for_seconds(seconds).by_hand()
}

/// Mouse and keys.
fn play(
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    windows: Query<&Window>,
    mut cameras: Query<(&Camera, &GlobalTransform, &mut PanOrbitCamera), With<common::StageCamera>>,
    ground: TerrainQuery,
    models: Res<Models>,
    clouds: Query<Entity, With<Cloud>>,
    game: Res<Game>,
    mut hand: ResMut<Hand>,
    mut edits: MessageWriter<TerrainEdit>,
    mut commands: Commands,
    time: Res<Time>,
) {
    let Ok((camera, place, mut orbit)) = cameras.single_mut() else {
        return;
    };
    // Left and right are the hand's.
    if orbit.button_orbit != MouseButton::Middle {
        orbit.button_orbit = MouseButton::Middle;
        orbit.button_pan = MouseButton::Middle;
        orbit.modifier_pan = Some(KeyCode::ShiftLeft);
    }
    let pointer = windows.single().ok().and_then(Window::cursor_position);
    let ray = pointer.and_then(|at| camera.viewport_to_world(place, at).ok());
    let hit = ray.and_then(|ray| ground.raycast(ray, 1e4));
    hand.at = hit.map(|hit| hit.position);
    for (key, matter) in [
        (KeyCode::Digit1, Matter::Soil),
        (KeyCode::Digit2, Matter::Water),
    ] {
        if keys.just_pressed(key) {
            hand.matter = matter;
        }
    }
    let Some(at) = hand.at.filter(|_| game.state == State::Playing) else {
        return;
    };
    let seconds = time.delta_secs().min(0.1);
    for (button, picks_up) in [(MouseButton::Left, true), (MouseButton::Right, false)] {
        if buttons.pressed(button) {
            edits.write(hold(&hand, at, picks_up, seconds));
        }
    }
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

/// The computer digs on the far bank and piles a dike between river and village.
fn autoplay(
    game: Res<Game>,
    ground: TerrainQuery,
    mut hand: ResMut<Hand>,
    mut edits: MessageWriter<TerrainEdit>,
    time: Res<Time>,
) {
    if game.state != State::Playing || time.delta_secs() == 0.0 {
        return;
    }
    let seconds = time.delta_secs();
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
    let edit = hold(&hand, place, picks_up, seconds);
    // It has less time than a player, and larger hands.
    edits.write(edit.with_strength(10.0));
}

/// Middle of the river. units: m
fn river_at(z: f32) -> f32 {
    let valley = valley();
    let turn = core::f64::consts::TAU * f64::from(z) / valley.meander_wavelength;
    (valley.meander_amplitude * turn.sin()) as f32
}

/// Keeps count of what the hand holds.
fn fill_hand(mut applied: MessageReader<EditApplied>, mut hand: ResMut<Hand>) {
    for done in applied.read() {
        if done.edit.supply == Supply::Hand {
            hand.earth -= done.effect.solids;
            hand.water -= done.effect.water;
        }
    }
}

/// The river swells, and falls when the flood is over.
fn swell(game: Res<Game>, mut river: Query<&mut WaterSource, With<River>>) {
    let share = (game.seconds / (0.4 * FLOOD)).min(1.0);
    let [low, high] = RIVER;
    for mut spring in &mut river {
        spring.discharge = match game.seconds < FLOOD {
            true => low + (high - low) * share,
            false => low,
        };
    }
}

/// Water wears houses down; the flood's end or the village's ends the game.
fn judge(
    mut commands: Commands,
    mut game: ResMut<Game>,
    mut houses: Query<(Entity, &mut House, &Transform)>,
    ground: TerrainQuery,
    time: Res<Time>,
) {
    if game.state != State::Playing {
        return;
    }
    game.seconds += time.delta_secs();
    for (entity, mut house, place) in &mut houses {
        let depth = ground.water_depth(place.translation).unwrap_or(0.0);
        // A wet threshold does no harm.
        house.health -= 0.35 * (depth - 0.15).max(0.0) * time.delta_secs();
        if house.health <= 0.0 {
            commands.entity(entity).despawn();
            game.standing = game.standing.saturating_sub(1);
        }
    }
    if game.standing < NEEDED {
        game.state = State::Lost;
    } else if game.seconds >= FLOOD {
        game.state = State::Won;
    }
}

/// Houses stand on the ground, whatever becomes of it, and sag as they wear.
fn stand(ground: TerrainQuery, mut houses: Query<(&House, &mut Transform)>) {
    for (house, mut place) in &mut houses {
        if let Some(height) = ground.height(place.translation) {
            place.translation.y = height + 2.0 * house.health;
        }
    }
}

/// The ball in the player's hand, as large as what it holds.
fn show_ball(
    hand: Res<Hand>,
    models: Res<Models>,
    mut balls: Query<
        (
            &mut Transform,
            &mut Visibility,
            &mut MeshMaterial3d<StandardMaterial>,
        ),
        With<Ball>,
    >,
) {
    let (volume, material) = match hand.matter {
        Matter::Water => (hand.water, &models.water),
        _ => (hand.earth, &models.earth),
    };
    for (mut place, mut visibility, mut paint) in &mut balls {
        let radius = (volume.max(0.0) * 0.239).cbrt() as f32;
        let shown = hand.at.filter(|_| radius > 0.2);
        visibility.set_if_neq(match shown {
            Some(_) => Visibility::Visible,
            None => Visibility::Hidden,
        });
        if let Some(at) = shown {
            *place = Transform::from_translation(at + (radius + 6.0) * Vec3::Y)
                .with_scale(Vec3::splat(radius));
        }
        paint.set_if_neq(MeshMaterial3d(material.clone()));
    }
}

fn show(mut contexts: EguiContexts, game: Res<Game>, hand: Res<Hand>) -> Result {
    let context = contexts.ctx_mut()?;
    egui::Window::new("The flood")
        .anchor(egui::Align2::LEFT_TOP, [10.0, 10.0])
        .resizable(false)
        .show(context, |ui| {
            let left = (FLOOD - game.seconds).max(0.0);
            ui.label(format!("{left:.0} s to go"));
            ui.label(format!(
                "{} of {} houses stand",
                game.standing,
                HOUSES.len()
            ));
            let matter = match hand.matter {
                Matter::Water => "water",
                _ => "earth",
            };
            ui.label(format!(
                "{:.0} m³ of earth, {:.0} m³ of water in hand; it holds {matter}",
                hand.earth.max(0.0),
                hand.water.max(0.0)
            ));
            ui.separator();
            ui.label("left: pick up · right: pour · 1 earth · 2 water");
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

/// Keep a village dry until the flood is over.
#[derive(Parser)]
struct Cli {
    /// Let the computer play.
    #[arg(long)]
    autoplay: bool,
    #[command(flatten)]
    options: common::Options,
}
