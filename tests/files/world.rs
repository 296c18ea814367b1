//! A state that is saved and loaded goes on as if nothing had happened.

use crate::app::create_app;
use bevy::{math::UVec2, prelude::*};
use bevy_erode::prelude::*;
use bevy_erode::{forcing::RainPattern, io::SaveError, scene::SceneEntity};
use core::time::Duration;

/// No square, no multiple of 64, soil and something hard.
fn land() -> Terrain {
    let size = UVec2::new(150, 71);
    let cells = size.element_product() as usize;
    let hardness = (0..cells).map(|cell| (cell % 7) as f32 / 8.0).collect();
    crate::land(4, size, 2.0)
        .with_soil_depth(0.3)
        .and_then(|land| land.with_layer(Layer::Hardness, hardness))
        .and_then(|land| land.with_origin(Vec3::new(10.0, -3.0, 7.5)))
        .expect("valid")
}

fn lake(terrain: Terrain) -> Terrain {
    let cells = terrain.grid().cells();
    let depths = (0..cells).map(|cell| if cell % 150 < 40 { 1.5 } else { 0.0 });
    let depths = depths.collect();
    terrain.with_layer(Layer::Water, depths).expect("valid")
}

fn save(app: &mut App) -> Vec<u8> {
    let state = SavedState::capture(app.world_mut()).expect("a state");
    state.to_bytes().expect("writable")
}

fn load(bytes: &[u8], app: &mut App) {
    let state = SavedState::from_bytes(bytes).expect("readable");
    state.restore(app.world_mut()).expect("an app with erosion");
}

fn same(a: &App, b: &App, when: &str) {
    let [one, other] = [a, b].map(|app| app.world().resource::<Terrain>());
    assert_eq!(one.state_hash(), other.state_hash(), "{when}");
    assert_eq!(one.ledger(), other.ledger(), "{when}");
    assert_eq!(one.borders(), other.borders(), "{when}");
    let [one, other] = [a, b].map(|app| app.world().resource::<Time<Erosion>>());
    assert_eq!(one.context(), other.context(), "{when}");
    assert_eq!(one.elapsed(), other.elapsed(), "{when}");
    assert_eq!(one.delta(), other.delta(), "{when}");
    let [one, other] = [a, b].map(|app| app.world().resource::<ErosionPace>());
    assert_eq!(one, other, "{when}");
}

/// Runs a while, saves, and goes on; and so does what is loaded, in an app that
/// was new and in one that did something else.
fn goes_on(set_up: impl FnOnce(&mut App)) {
    let mut app = create_app();
    set_up(&mut app);
    for _ in 0..13 {
        app.update();
    }
    let before = app.world().resource::<Terrain>().state_hash();
    let bytes = save(&mut app);
    let mut fresh = create_app();
    let mut busy = create_app();
    busy.insert_resource(crate::hills(9))
        .insert_resource(Droplets::seeded(3).with_streams())
        .insert_resource(PipeModel::default())
        .insert_resource(Rain::mm_per_hour(1e4).with_pattern(RainPattern::drops(1)))
        .insert_resource(ErosionPace::StepsPerTick(3));
    busy.world_mut()
        .spawn(WaterSource::cubic_metres_per_second(9.0));
    for _ in 0..3 {
        busy.update();
    }
    load(&bytes, &mut fresh);
    load(&bytes, &mut busy);
    same(&app, &fresh, "right after loading");
    same(&app, &busy, "right after loading, over another");
    // A state that was loaded is the state that was saved.
    assert_eq!(save(&mut fresh), bytes);
    for step in 0..40 {
        for app in [&mut app, &mut fresh, &mut busy] {
            app.update();
        }
        if step % 13 == 0 || step == 39 {
            same(&app, &fresh, &format!("step {step}"));
            same(&app, &busy, &format!("step {step}, over another"));
        }
    }
    let after = app.world().resource::<Terrain>().state_hash();
    assert_ne!(after, before, "something happened since");
}

#[test]
fn droplets() {
    goes_on(|app| {
        app.insert_resource(land()).insert_resource(Droplets {
            rate: 0.7,
            ..Droplets::seeded(5)
        });
    });
}

#[test]
fn droplets_with_streams() {
    goes_on(|app| {
        app.insert_resource(land()).insert_resource(Droplets {
            rate: 0.7,
            ..Droplets::seeded(5).with_streams()
        });
    });
}

#[test]
fn droplets_as_published() {
    goes_on(|app| {
        app.insert_resource(land()).insert_resource(Droplets {
            rate: 0.02,
            ..Droplets::as_published()
        });
    });
}

#[test]
fn lava_beside_water() {
    goes_on(|app| {
        app.insert_resource(lake(land()))
            .insert_resource(PipeModel::default())
            .insert_resource(Lava::default())
            .insert_resource(Thermal::default());
        let vent = LavaSource::cubic_metres_per_second(60.0).with_radius(9.0);
        let world = app.world_mut();
        world.spawn((vent, Transform::from_xyz(-50.0, 0.0, 8.0)));
    });
}

#[test]
fn pipes_with_rain_springs_and_seas() {
    goes_on(|app| {
        let borders = Borders {
            west: Border::Sea { level: 20.0 },
            east: Border::Wall,
            ..Borders::default()
        };
        let land = lake(land()).with_borders(borders).expect("valid");
        app.insert_resource(land)
            .insert_resource(PipeModel::default())
            .insert_resource(Rain::mm_per_hour(300.0))
            .insert_resource(Evaporation::mm_per_hour(20.0));
        let world = app.world_mut();
        let at = |x: f32, z: f32| Transform::from_xyz(x, 0.0, z);
        world.spawn((
            WaterSource::cubic_metres_per_second(8.0).with_sediment(0.1),
            at(30.0, 5.0),
        ));
        let parent = world
            .spawn(at(-20.0, 3.0).with_scale(Vec3::splat(1.3)))
            .id();
        let child = (
            WaterSource::cubic_metres_per_second(2.0),
            at(4.0, 1.0),
            ChildOf(parent),
        );
        world.spawn(child);
        world.spawn((WaterSink::cubic_metres_per_second(3.0), at(-60.0, 0.0)));
    });
}

/// A step that needs many parts: how long they are depends on what the solver
/// saw last.
#[test]
fn pipes_in_parts() {
    goes_on(|app| {
        app.insert_resource(lake(land()))
            .insert_resource(PipeModel::default())
            .insert_resource(Thermal::default());
        let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
        time.set_step_size(Duration::from_millis(900));
        time.set_speed(57.6);
    });
}

#[test]
fn pipes_as_published() {
    goes_on(|app| {
        app.insert_resource(lake(land()))
            .insert_resource(PipeModel::as_published())
            .insert_resource(Rain::mm_per_hour(300.0));
    });
}

#[test]
fn shallow_water_with_rain_springs_and_seas() {
    goes_on(|app| {
        let borders = Borders {
            west: Border::Sea { level: 20.0 },
            east: Border::Wall,
            ..Borders::default()
        };
        let land = lake(land()).with_borders(borders).expect("valid");
        app.insert_resource(land)
            // An interval that no number of steps makes up exactly.
            .insert_resource(ShallowWater {
                interval: 0.1,
                ..ShallowWater::default()
            })
            .insert_resource(Rain::mm_per_hour(300.0))
            .insert_resource(Evaporation::mm_per_hour(20.0))
            .insert_resource(Thermal::default());
        app.world_mut().spawn((
            WaterSource::cubic_metres_per_second(8.0).with_sediment(0.1),
            Transform::from_xyz(30.0, 0.0, 5.0),
        ));
    });
}

#[test]
fn shallow_water_as_published() {
    goes_on(|app| {
        app.insert_resource(lake(land()))
            .insert_resource(ShallowWater::as_published())
            .insert_resource(Rain::mm_per_hour(300.0));
    });
}

#[test]
fn thermal() {
    goes_on(|app| {
        app.insert_resource(land()).insert_resource(Thermal {
            soil_angle: 15.0,
            bedrock_angle: 20.0,
            ..Thermal::default()
        });
    });
}

#[test]
fn rain_of_every_pattern() {
    let cells = land().grid().cells();
    for pattern in [
        RainPattern::Uniform,
        RainPattern::drops(7),
        RainPattern::blue_noise(7),
        RainPattern::Map((0..cells).map(|cell| (cell % 5) as f32).collect()),
    ] {
        goes_on(|app| {
            app.insert_resource(land())
                .insert_resource(Rain::mm_per_hour(2000.0).with_pattern(pattern));
        });
    }
}

#[test]
fn everything_at_once_at_another_pace() {
    goes_on(|app| {
        app.insert_resource(lake(land()))
            .insert_resource(Droplets::seeded(2).with_streams())
            .insert_resource(PipeModel::default())
            .insert_resource(Thermal::default())
            .insert_resource(Rain::mm_per_hour(500.0).with_pattern(RainPattern::blue_noise(3)))
            .insert_resource(Evaporation::default())
            .insert_resource(ErosionPace::StepsPerTick(2));
    });
}

/// What is due but less than a step, and steps asked for, are not lost.
#[test]
fn a_clock_that_is_out_of_step() {
    goes_on(|app| {
        app.insert_resource(land())
            .insert_resource(Thermal::default());
        let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
        time.set_speed(0.37);
        time.set_step_size(Duration::from_millis(13));
        time.single_step(5);
    });
}

/// Settings that were changed since the last step take hold in the next, as they
/// would have.
#[test]
fn settings_changed_just_before() {
    let mut app = create_app();
    app.insert_resource(lake(land()))
        .insert_resource(PipeModel::as_published())
        .insert_resource(Droplets::seeded(1).with_streams())
        .insert_resource(Rain::mm_per_hour(900.0).with_pattern(RainPattern::drops(1)));
    for _ in 0..9 {
        app.update();
    }
    app.insert_resource(PipeModel::default())
        .insert_resource(Rain::mm_per_hour(900.0).with_pattern(RainPattern::drops(2)));
    app.world_mut().resource_mut::<Droplets>().streams = None;
    // Another layer, which solvers have not seen.
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Soil, vec![0.1; cells])
        .expect("valid");
    let bytes = save(&mut app);
    let mut fresh = create_app();
    load(&bytes, &mut fresh);
    for _ in 0..20 {
        app.update();
        fresh.update();
    }
    same(&app, &fresh, "twenty steps later");
}

#[test]
fn a_state_can_be_loaded_again_and_again() {
    let mut app = create_app();
    app.insert_resource(land())
        .insert_resource(Droplets::seeded(1).with_streams())
        .insert_resource(Rain::mm_per_hour(900.0).with_pattern(RainPattern::blue_noise(1)))
        .insert_resource(PipeModel::default());
    app.world_mut().spawn((
        WaterSource::cubic_metres_per_second(9.0),
        Transform::from_xyz(5.0, 0.0, 5.0),
    ));
    for _ in 0..5 {
        app.update();
    }
    let state = SavedState::capture(app.world_mut()).expect("a state");
    let mut hashes = Vec::new();
    for _ in 0..3 {
        state
            .clone()
            .restore(app.world_mut())
            .expect("an app with erosion");
        for _ in 0..9 {
            app.update();
        }
        hashes.push(app.world().resource::<Terrain>().state_hash());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:x?}");
    let world = app.world_mut();
    let mut sources = world.query::<&WaterSource>();
    assert_eq!(sources.iter(world).count(), 1, "none is added");
}

#[test]
fn springs_are_those_of_the_state() {
    let mut app = create_app();
    app.insert_resource(land());
    let at = |x: f32| Transform::from_xyz(x, 0.0, 0.0);
    let source = WaterSource::cubic_metres_per_second;
    let kept = app.world_mut().spawn((source(1.0), at(1.0))).id();
    let moved = app.world_mut().spawn((source(2.0), at(2.0))).id();
    let bytes = save(&mut app);
    app.world_mut().entity_mut(moved).insert(at(3.0));
    let of_a_scene = app
        .world_mut()
        .spawn((SceneEntity, source(4.0), at(4.0)))
        .id();
    load(&bytes, &mut app);
    let world = app.world_mut();
    assert!(world.get::<WaterSource>(kept).is_some(), "it is the same");
    assert!(
        world.get::<WaterSource>(moved).is_none(),
        "it stood elsewhere"
    );
    assert!(
        world.get_entity(moved).is_ok(),
        "but it is not ours to despawn"
    );
    assert!(world.get_entity(of_a_scene).is_err(), "a scene's is");
    let mut sources = world.query::<(&WaterSource, &Transform)>();
    let mut places: Vec<(f32, f32)> = sources
        .iter(world)
        .map(|(source, place)| (source.discharge, place.translation.x))
        .collect();
    places.sort_by(f32_pairs);
    assert_eq!(places, [(1.0, 1.0), (2.0, 2.0)]);
}

fn f32_pairs(a: &(f32, f32), b: &(f32, f32)) -> core::cmp::Ordering {
    a.0.total_cmp(&b.0)
}

#[test]
fn what_cannot_be_saved_or_loaded_is_said() {
    let mut app = create_app();
    let error = SavedState::capture(app.world_mut()).unwrap_err();
    assert!(matches!(error, SaveError::NoTerrain), "{error}");
    app.insert_resource(land()).insert_resource(Thermal {
        shelter: -1.0,
        ..Thermal::default()
    });
    let error = SavedState::capture(app.world_mut()).unwrap_err();
    assert!(error.to_string().contains("`Thermal.shelter`"), "{error}");
    app.insert_resource(Thermal::default());
    let state = SavedState::capture(app.world_mut()).expect("mended");
    let mut bare = World::new();
    let error = state.restore(&mut bare).unwrap_err();
    assert!(matches!(error, SaveError::NoPlugin), "{error}");
    assert!(!bare.contains_resource::<Terrain>(), "nothing was changed");
}

#[test]
fn springs_that_share_an_entity_are_replaced_too() {
    let mut app = create_app();
    app.insert_resource(land());
    let sink = WaterSink::cubic_metres_per_second(3.0);
    app.world_mut()
        .spawn((sink, Transform::from_xyz(5.0, 0.0, 1.0)));
    let bytes = save(&mut app);

    let mut other = create_app();
    other.insert_resource(land());
    let both = (
        SceneEntity,
        WaterSource::cubic_metres_per_second(1.0),
        sink,
        Transform::from_xyz(5.0, 0.0, 1.0),
    );
    let parent = other.world_mut().spawn(both).id();
    let child = (WaterSink::default(), ChildOf(parent), Transform::default());
    other.world_mut().spawn(child);
    load(&bytes, &mut other);
    let mut sinks = other.world_mut().query::<&WaterSink>();
    assert_eq!(sinks.iter(other.world()).collect::<Vec<_>>(), [&sink]);
    let mut sources = other.world_mut().query::<&WaterSource>();
    assert_eq!(sources.iter(other.world()).count(), 0);
}
