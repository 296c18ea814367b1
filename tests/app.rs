//! The plugin in an app, with time by hand.

use bevy::{
    diagnostic::{DiagnosticPath, DiagnosticsStore},
    ecs::schedule::{LogLevel, ScheduleBuildSettings},
    math::UVec2,
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    models::plugin::ErosionFault,
    schedule::{ErosionDiagnostics, ErosionStep},
};
use core::time::Duration;

/// An app whose frames last 1/64 s, as long as an erosion step.
pub fn create_app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
            15_625,
        )))
        // No machine is too slow for the tests that count steps.
        .insert_resource(ErosionPace::Budget(1e6));
    // The first frame has no duration.
    app.update();
    app
}

fn tick_app(app: &mut App, frames: u32) {
    for _ in 0..frames {
        app.update();
    }
}

fn clock(app: &App) -> &Time<Erosion> {
    app.world().resource()
}

fn clock_mut(app: &mut App) -> Mut<'_, Time<Erosion>> {
    app.world_mut().resource_mut()
}

fn hash(app: &App) -> u64 {
    app.world().resource::<Terrain>().state_hash()
}

#[test]
fn time_stands_still_without_a_terrain() {
    let mut app = create_app();
    app.insert_resource(Droplets::default());
    tick_app(&mut app, 5);
    assert_eq!(clock(&app).steps(), 0);
    app.insert_resource(crate::hills(1));
    tick_app(&mut app, 5);
    assert_eq!(clock(&app).steps(), 5);
    assert_eq!(clock(&app).elapsed(), Duration::from_micros(5 * 15_625));
}

#[test]
fn a_model_runs_while_its_settings_are_there() {
    let mut app = create_app();
    app.insert_resource(crate::hills(1));
    let untouched = hash(&app);
    tick_app(&mut app, 3);
    assert_eq!(hash(&app), untouched, "no model, no erosion");
    app.insert_resource(Droplets::default());
    tick_app(&mut app, 3);
    let eroded = hash(&app);
    assert_ne!(eroded, untouched);
    app.world_mut().remove_resource::<Droplets>();
    tick_app(&mut app, 3);
    assert_eq!(hash(&app), eroded, "removed, and it rests");
    app.insert_resource(Thermal {
        soil_angle: 5.0,
        ..Thermal::default()
    });
    tick_app(&mut app, 3);
    assert_ne!(hash(&app), eroded, "another model takes over");
}

#[test]
fn pause_single_step_and_speed() {
    let mut app = create_app();
    app.insert_resource(crate::hills(1))
        .insert_resource(Thermal::default());
    clock_mut(&mut app).pause();
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 0);
    assert!(clock(&app).is_paused());
    clock_mut(&mut app).single_step(1);
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 1);
    app.insert_resource(ErosionPace::Budget(f32::NAN));
    clock_mut(&mut app).single_step(3);
    tick_app(&mut app, 2);
    assert_eq!(clock(&app).steps(), 3, "one a frame without a budget");
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 4, "none is lost, none is added");
    app.insert_resource(ErosionPace::Budget(1e6));
    clock_mut(&mut app).set_step_size(Duration::MAX);
    assert_eq!(clock(&app).step_size(), Duration::from_secs(86_400));
    clock_mut(&mut app).set_step_size(Duration::from_micros(15_625));
    clock_mut(&mut app).unpause();
    clock_mut(&mut app).set_speed(3.0);
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 16);
    clock_mut(&mut app).set_speed(0.5);
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 18);
    clock_mut(&mut app).set_speed(f32::NAN);
    assert_eq!(clock(&app).speed(), 0.0);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    clock_mut(&mut app).set_speed(1.0);
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 18, "erosion follows the game's clock");
}

#[test]
fn a_small_budget_slows_erosion_and_says_so() {
    let mut app = create_app();
    app.insert_resource(crate::hills(1))
        .insert_resource(Droplets::default())
        .insert_resource(ErosionPace::Budget(0.0));
    clock_mut(&mut app).set_speed(8.0);
    tick_app(&mut app, 4);
    assert_eq!(clock(&app).steps(), 4, "one step a frame at least");
    let store = app.world().resource::<DiagnosticsStore>();
    let value = |path: DiagnosticPath| store.get(&path).and_then(|d| d.value());
    let behind = value(ErosionDiagnostics::BEHIND).expect("measured");
    assert!((behind - 7.0 / 64.0).abs() < 1e-6, "{behind}");
    assert_eq!(value(ErosionDiagnostics::STEPS), Some(1.0));
    assert!(value(ErosionDiagnostics::STEP_MS).is_some_and(|ms| ms > 0.0));
    assert!(value(ErosionDiagnostics::DIRTY_TILES).is_some_and(|tiles| tiles > 0.0));
    let drift = value(ErosionDiagnostics::MASS_DRIFT).expect("measured");
    assert!(drift.abs() < 1e-6, "{drift}");
}

#[test]
fn the_same_step_gives_the_same_bits_at_any_pace() {
    let run = |pace: ErosionPace, speed: f32| {
        let mut app = create_app();
        app.insert_resource(crate::hills(1))
            .insert_resource(Droplets::seeded(3))
            .insert_resource(Thermal::default())
            .insert_resource(pace);
        clock_mut(&mut app).set_speed(speed);
        while clock(&app).steps() < 12 {
            app.update();
        }
        assert_eq!(clock(&app).steps(), 12);
        hash(&app)
    };
    let one = run(ErosionPace::Budget(1e6), 1.0);
    assert_eq!(run(ErosionPace::Budget(1e6), 4.0), one);
    assert_eq!(run(ErosionPace::Budget(0.0), 3.0), one);
    assert_eq!(run(ErosionPace::StepsPerTick(6), 1.0), one);
}

#[test]
fn lockstep_in_fixed_update() {
    let run = |frame: Duration| {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ErosionPlugin::in_schedule(FixedUpdate)))
            .insert_resource(TimeUpdateStrategy::ManualDuration(frame))
            .insert_resource(ErosionPace::StepsPerTick(2))
            .insert_resource(crate::hills(2))
            .insert_resource(Droplets::seeded(1));
        while clock(&app).steps() < 20 {
            app.update();
        }
        assert_eq!(clock(&app).steps(), 20);
        hash(&app)
    };
    let fast = run(Duration::from_millis(4));
    assert_eq!(run(Duration::from_micros(15_625)), fast);
}

#[derive(Resource, Default)]
struct Heard(Vec<TerrainChanged>);

fn hear(mut heard: ResMut<Heard>, mut changes: MessageReader<TerrainChanged>) {
    heard.0.extend(changes.read().cloned());
}

#[test]
fn terrains_can_be_replaced_by_any_other() {
    let mut app = create_app();
    app.init_resource::<Heard>()
        .add_systems(Update, hear.after(ErosionSystems::Publish))
        .insert_resource(crate::hills(1))
        .insert_resource(Droplets::default())
        .insert_resource(Thermal::default());
    tick_app(&mut app, 2);
    for size in [UVec2::new(200, 70), UVec2::new(1, 1), UVec2::new(128, 96)] {
        app.insert_resource(crate::land(2, size, 3.0));
        app.world_mut().resource_mut::<Heard>().0.clear();
        tick_app(&mut app, 3);
        let heard = &app.world().resource::<Heard>().0;
        assert!(heard[0].replaced, "{heard:?}");
        assert_eq!(
            heard[0].tiles.len() as u32,
            (size.x.div_ceil(64)) * size.y.div_ceil(64)
        );
        assert!(heard[1..].iter().all(|change| !change.replaced));
        let drift = app
            .world()
            .resource::<Terrain>()
            .ledger()
            .solids
            .drift_of_total();
        assert!(drift.abs() < 1e-6);
    }
    app.world_mut().remove_resource::<Terrain>();
    tick_app(&mut app, 2);
    app.insert_resource(crate::hills(3));
    tick_app(&mut app, 2);
    assert!(app.world().resource::<Terrain>().ledger().solids.moved > 0.0);
}

#[test]
fn wrong_settings_are_reported_once_and_can_be_mended() {
    let mut app = create_app();
    app.insert_resource(crate::hills(1))
        .insert_resource(Droplets {
            friction: f32::NAN,
            ..Droplets::default()
        });
    let untouched = hash(&app);
    let faults = |app: &mut App| {
        let mut faults = app.world_mut().resource_mut::<Messages<ErosionFault>>();
        faults.drain().collect::<Vec<_>>()
    };
    app.update();
    let first = faults(&mut app);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].model, "Droplets");
    assert!(first[0].reason.contains("`Droplets.friction`"), "{first:?}");
    tick_app(&mut app, 3);
    assert!(faults(&mut app).is_empty(), "said once");
    assert_eq!(hash(&app), untouched);
    app.world_mut().resource_mut::<Droplets>().friction = 0.5;
    tick_app(&mut app, 1);
    assert_ne!(hash(&app), untouched, "mended, and it runs");
    app.world_mut().resource_mut::<Droplets>().radius = 1e5;
    app.update();
    assert!(
        faults(&mut app)[0].reason.contains("cells"),
        "depends on the terrain"
    );
}

#[test]
fn no_two_systems_are_in_doubt_about_their_order() {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
        ErosionPlugin::default(),
    ));
    app.init_asset::<StandardMaterial>();
    let settings = ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..default()
    };
    app.edit_schedule(ErosionStep, |schedule| {
        schedule.set_build_settings(settings.clone());
    });
    app.edit_schedule(Update, |schedule| {
        schedule.set_build_settings(settings.clone());
    });
    app.insert_resource(crate::hills(1))
        .insert_resource(Droplets::default());
    // An ambiguity is a panic here.
    tick_app(&mut app, 3);
}
