//! The plugin in an app, with time by hand.

use bevy::{
    diagnostic::{DiagnosticPath, DiagnosticsStore},
    ecs::schedule::{LogLevel, ScheduleBuildSettings},
    math::UVec2,
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_erode::{
    ErosionCorePlugin, ErosionPlugins, gpu::GpuPlugin, io::HeightmapPlugin, prelude::*,
    view::TerrainViewPlugin,
};
use bevy_erode::{
    models::plugin::ModelFailed,
    scene::ErosionScenePlugin,
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
    let time_lost = value(ErosionDiagnostics::TIME_LOST).expect("measured");
    assert!((time_lost - 7.0 / 64.0).abs() < 1e-6, "{time_lost}");
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
            heard[0].ground.len() as u32,
            (size.x.div_ceil(64)) * size.y.div_ceil(64)
        );
        assert_eq!(heard[0].ground, heard[0].water);
        assert_eq!(heard[0].ground, heard[0].lava);
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
fn changes_of_ground_water_and_lava_are_told_apart() {
    let mut app = create_app();
    app.init_resource::<Heard>()
        .add_systems(Update, hear.after(ErosionSystems::Publish))
        .insert_resource(crate::land(1, UVec2::new(130, 70), 2.0));
    tick_app(&mut app, 2);
    let heard = |app: &mut App| {
        app.world_mut().resource_mut::<Heard>().0.clear();
        tick_app(app, 1);
        core::mem::take(&mut app.world_mut().resource_mut::<Heard>().0)
    };
    assert!(heard(&mut app).is_empty(), "nothing runs");
    let last = vec![UVec2::new(2, 1)];
    let at = |app: &App| {
        app.world()
            .resource::<Terrain>()
            .grid()
            .cell_center(129, 69)
    };
    let brush = Brush::circle(1.0);
    let expected = [
        TerrainEdit::raise(at(&app), brush),
        TerrainEdit::add(Matter::Water, at(&app), brush),
        TerrainEdit::add(Matter::Lava, at(&app), brush),
    ];
    for (kind, edit) in expected.into_iter().enumerate() {
        app.world_mut().write_message(edit);
        let mut change = TerrainChanged::default();
        match kind {
            0 => change.ground = last.clone(),
            1 => change.water = last.clone(),
            _ => change.lava = last.clone(),
        }
        assert_eq!(heard(&mut app), [change]);
    }
}

#[test]
fn erosion_goes_on_when_the_window_moves() {
    let mut app = create_app();
    app.init_resource::<Heard>()
        .add_systems(Update, hear.after(ErosionSystems::Publish))
        .insert_resource(crate::land(1, UVec2::new(200, 130), 2.0))
        .insert_resource(Rain::mm_per_hour(500.0))
        .insert_resource(Droplets::default())
        .insert_resource(PipeModel::default())
        .insert_resource(Thermal::default())
        .insert_resource(TerrainMasks::all());
    tick_app(&mut app, 20);
    for by in [IVec2::X, IVec2::new(-1, 1)] {
        let mut terrain = app.world_mut().resource_mut::<Terrain>();
        terrain.shift_tiles(by, |new| new.edge).expect("valid");
        let moved = terrain.ledger().solids.moved;
        app.world_mut().resource_mut::<Heard>().0.clear();
        tick_app(&mut app, 20);
        let heard = &app.world().resource::<Heard>().0;
        assert_eq!(heard[0].shifted, Some(by));
        assert!(heard.iter().all(|change| !change.replaced));
        assert!(heard[1..].iter().all(|change| change.shifted.is_none()));
        let terrain = app.world().resource::<Terrain>();
        let ledger = terrain.ledger();
        assert!(ledger.solids.moved > moved, "models run on");
        assert!(ledger.solids.drift_of_total().abs() < 1e-6, "{ledger:?}");
        assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
        let masks = app.world().resource::<TerrainMasks>();
        assert_eq!(masks.grid(), Some(terrain.grid()));
    }
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
        let mut faults = app.world_mut().resource_mut::<Messages<ModelFailed>>();
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

/// An app with some of the plugins, whose frames last an erosion step.
fn app_with(plugins: impl PluginGroup) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
    ))
    .init_asset::<StandardMaterial>()
    .add_plugins(plugins.build())
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
        15_625,
    )))
    .insert_resource(ErosionPace::StepsPerTick(1))
    .insert_resource(crate::hills(1))
    .insert_resource(Droplets::default());
    app.finish();
    app.cleanup();
    // The first frame has no duration.
    app.update();
    app
}

fn chunk_entities(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&TerrainChunk>().iter(world).count()
}

#[test]
fn erosion_runs_alike_with_parts_left_out() {
    let mut all = app_with(ErosionPlugins::default());
    let mut unseen = app_with(
        ErosionPlugins::default()
            .build()
            .disable::<TerrainViewPlugin>(),
    );
    let mut core = app_with(
        ErosionPlugins::default()
            .build()
            .disable::<TerrainViewPlugin>()
            .disable::<GpuPlugin>()
            .disable::<ErosionScenePlugin>()
            .disable::<HeightmapPlugin>(),
    );
    let untouched = hash(&all);
    for app in [&mut all, &mut unseen, &mut core] {
        tick_app(app, 4);
        assert_eq!(clock(app).steps(), 4);
    }
    assert_ne!(hash(&all), untouched);
    assert_eq!(hash(&unseen), hash(&all));
    assert_eq!(hash(&core), hash(&all));
    assert_eq!(chunk_entities(&mut all), 4);
    assert_eq!(chunk_entities(&mut unseen), 0);
    assert_eq!(chunk_entities(&mut core), 0);
    assert!(!core.world().contains_resource::<ErosionBackendStatus>());
}

/// A game's own view: it only counts the frames in which the ground changed.
struct CountingView;

#[derive(Resource, Default)]
struct ChangedFrames(u32);

impl Plugin for CountingView {
    fn build(&self, app: &mut App) {
        app.init_resource::<ChangedFrames>()
            .add_systems(FixedUpdate, count.in_set(ErosionSystems::Output));
    }
}

fn count(mut frames: ResMut<ChangedFrames>, mut changes: MessageReader<TerrainChanged>) {
    frames.0 += u32::from(changes.read().next().is_some());
}

#[test]
fn a_part_can_be_replaced_and_all_run_in_the_schedule_asked_for() {
    let plugins = ErosionPlugins(ErosionPlugin::in_schedule(FixedUpdate));
    let mut app = app_with(
        plugins
            .build()
            .disable::<TerrainViewPlugin>()
            .add_after::<ErosionCorePlugin>(CountingView),
    );
    tick_app(&mut app, 5);
    assert_eq!(clock(&app).steps(), 5, "a step a tick");
    let frames = app.world().resource::<ChangedFrames>().0;
    assert!(
        (1..=5).contains(&frames),
        "{frames} ticks changed the ground"
    );
    assert_eq!(chunk_entities(&mut app), 0);
}

#[test]
fn parts_are_never_added_twice() {
    let group = ErosionPlugins::default().build();
    let group = group.disable::<TerrainViewPlugin>();
    let mut app = app_with(group.add(ErosionPlugin::default()));
    tick_app(&mut app, 3);
    assert_eq!(clock(&app).steps(), 3);
    assert_eq!(chunk_entities(&mut app), 0, "the view is still left out");
}
