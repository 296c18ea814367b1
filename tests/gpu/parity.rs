//! Each model on the GPU, against its twin on the CPU after 1, 10 and 100 steps.

use crate::{gpu, layers_apart, read, step, terrain, twin, wet_hills};
use bevy::prelude::*;
use bevy_erode::forcing::RainPattern;
use bevy_erode::prelude::*;
use std::time::Duration;

/// What runs on both.
pub type Setup = fn(&mut App);

const STEP: Duration = Duration::from_millis(20);

/// Runs both and compares: all layers within `tolerance` metres a step, and all
/// volumes of the ledger.
fn compare(name: &str, land: impl Fn() -> Terrain, setup: Setup, tolerance: f32) {
    compare_by(STEP, name, land, setup, tolerance);
}

/// As [`compare`], with steps of another length.
pub fn compare_by(
    length: Duration,
    name: &str,
    land: impl Fn() -> Terrain,
    setup: Setup,
    tolerance: f32,
) {
    let mut theirs = gpu(land(), length);
    let mut ours = twin(land(), length);
    setup(&mut theirs);
    setup(&mut ours);
    // What the setup spawned has its place in the world from here on.
    theirs.update();
    ours.update();
    let mut steps = 0;
    for goal in [1u32, 10, 100] {
        step(&mut theirs, goal - steps);
        step(&mut ours, goal - steps);
        steps = goal;
        read(&mut theirs);
        let apart = layers_apart(terrain(&theirs), terrain(&ours));
        println!("{name} after {goal}: {apart:?}");
        let bar = tolerance * (goal as f32).sqrt();
        assert!(
            apart.iter().all(|apart| *apart <= bar),
            "{name} after {goal} steps: {apart:?} beyond {bar:e}"
        );
    }
    let (a, b) = (terrain(&theirs).ledger(), terrain(&ours).ledger());
    let near = |what: &str, a: f64, b: f64, scale: f64| {
        println!("{name} {what}: {a:.6} against {b:.6}");
        let bar = 1e-4 * scale + 1e-6;
        assert!((a - b).abs() <= bar, "{name} {what}: {a} against {b}");
    };
    near("moved", a.solids.moved, b.solids.moved, b.solids.moved);
    near("solids left", a.solids.left, b.solids.left, b.solids.moved);
    near("solids lost", a.solids.lost, b.solids.lost, b.solids.moved);
    let water = b.water.standing + b.water.rained;
    near("water left", a.water.left, b.water.left, b.water.left);
    near(
        "sea",
        a.water.sea_inflow,
        b.water.sea_inflow,
        b.water.sea_inflow,
    );
    near("rained", a.water.rained, b.water.rained, b.water.rained);
    near(
        "evaporated",
        a.water.evaporated,
        b.water.evaporated,
        b.water.evaporated,
    );
    near("standing", a.water.standing, b.water.standing, water);
    let solids = a.solids.drift_of_total().abs();
    let fluid = a.water.drift_of_total().abs();
    println!("{name} drift: solids {solids:e}, water {fluid:e}");
    assert!(
        solids < 1e-6 && fluid < 1e-6,
        "{name}: {solids:e} {fluid:e}"
    );
}

/// Sizes that are no multiple of a workgroup or tile, none of them square.
pub const SIZES: [UVec2; 3] = [UVec2::new(70, 45), UVec2::new(33, 130), UVec2::new(128, 64)];

#[test]
fn pipes_follow_the_cpu() {
    for size in SIZES {
        let setup: Setup = |app| {
            app.insert_resource(PipeModel::default());
        };
        compare("pipes", || wet_hills(3, size), setup, 2e-5);
    }
}

#[test]
fn pipes_follow_the_cpu_on_hard_ground_between_all_borders() {
    let land = || {
        let land = wet_hills(5, UVec2::new(90, 77));
        let cells = land.grid().cells();
        let hardness = (0..cells).map(|i| (i % 7) as f32 / 7.0).collect();
        let borders = Borders {
            west: Border::Sea { level: 7.0 },
            east: Border::Wall,
            north: Border::Open,
            south: Border::Sea { level: 3.0 },
        };
        land.with_layer(Layer::Hardness, hardness)
            .and_then(|land| land.with_layer(Layer::Soil, vec![0.001; cells]))
            .and_then(|land| land.with_borders(borders))
            .expect("valid")
    };
    let setup: Setup = |app| {
        app.insert_resource(PipeModel::default());
    };
    compare("borders", land, setup, 2e-5);
}

#[test]
fn pipes_follow_the_cpu_under_rain_with_springs_and_drains() {
    let setup: Setup = |app| {
        app.insert_resource(PipeModel::default())
            .insert_resource(Rain::mm_per_hour(5000.0))
            .insert_resource(Evaporation::mm_per_hour(1000.0));
        let at = Transform::from_xyz;
        let world = app.world_mut();
        world.spawn((
            WaterSource::cubic_metres_per_second(4.0),
            at(10.0, 0.0, -12.0),
        ));
        world.spawn((WaterSink::cubic_metres_per_second(1.0), at(-20.0, 0.0, 9.0)));
    };
    compare("weather", || wet_hills(7, UVec2::new(70, 61)), setup, 2e-5);
}

#[test]
fn rain_by_a_map_follows_the_cpu() {
    let setup: Setup = |app| {
        let weights = (0..70 * 45).map(|i| (i % 11) as f32).collect();
        let rain = Rain::mm_per_hour(2000.0).with_pattern(RainPattern::Map(weights));
        app.insert_resource(PipeModel::default())
            .insert_resource(rain);
    };
    compare("rain map", || wet_hills(2, SIZES[0]), setup, 2e-5);
}

#[test]
fn thermal_follows_the_cpu() {
    for size in SIZES {
        let setup: Setup = |app| {
            app.insert_resource(Thermal {
                soil_angle: 10.0,
                bedrock_angle: 20.0,
                ..Thermal::default()
            });
        };
        compare("thermal", || wet_hills(4, size), setup, 2e-5);
    }
}

#[test]
fn all_together_follow_the_cpu() {
    let setup: Setup = |app| {
        app.insert_resource(PipeModel::default())
            .insert_resource(Rain::mm_per_hour(1000.0))
            .insert_resource(Evaporation::mm_per_hour(100.0))
            .insert_resource(Thermal::default());
    };
    compare("all", || wet_hills(9, UVec2::new(100, 70)), setup, 5e-5);
}

#[test]
fn published_pipes_follow_the_cpu() {
    let setup: Setup = |app| {
        app.insert_resource(PipeModel::as_published());
    };
    for size in SIZES {
        compare("published pipes", || wet_hills(9, size), setup, 2e-6);
    }
    // Waves on water that is deep everywhere.
    let waves = || {
        let land = wet_hills(8, UVec2::new(90, 77));
        let levels = (0..).zip(land.bedrock()).map(|(cell, z)| {
            let hump = if cell % 90 < 30 { 1.5 } else { 0.0 };
            35.0 + hump - z
        });
        let water = levels.collect();
        land.with_layer(Layer::Water, water).expect("valid")
    };
    compare("published waves", waves, setup, 2e-6);
}

/// A film of rain is torn apart by the source's method: a hair's difference
/// grows to metres. Ten steps agree, a hundred only as a whole.
#[test]
fn published_pipes_under_rain_agree_as_a_whole() {
    let land = || wet_hills(9, SIZES[0]);
    let (mut theirs, mut ours) = (gpu(land(), STEP), twin(land(), STEP));
    for app in [&mut theirs, &mut ours] {
        app.insert_resource(PipeModel::as_published())
            .insert_resource(Rain::mm_per_hour(2000.0));
        step(app, 10);
    }
    read(&mut theirs);
    let apart = layers_apart(terrain(&theirs), terrain(&ours));
    println!("published rain after 10: {apart:?}");
    assert!(apart.iter().all(|apart| *apart < 2e-5), "{apart:?}");
    for app in [&mut theirs, &mut ours] {
        step(app, 90);
    }
    read(&mut theirs);
    let (a, b) = (terrain(&theirs), terrain(&ours));
    let squares = a
        .bedrock()
        .iter()
        .zip(b.bedrock())
        .map(|(a, b)| (a - b).powi(2));
    let mean = (squares.sum::<f32>() / a.bedrock().len() as f32).sqrt();
    let (a, b) = (a.ledger(), b.ledger());
    println!("after 100: {mean} m apart, {a:?} against {b:?}");
    assert!(mean < 0.05, "{mean} m");
    let near = |a: f64, b: f64| (a - b).abs() < 2e-3 * b;
    assert!(near(a.solids.moved, b.solids.moved));
    assert!(near(a.solids.lost, b.solids.lost));
    assert!(near(a.water.standing, b.water.standing));
    assert!(near(a.water.evaporated, b.water.evaporated));
    assert!(a.solids.drift_of_total().abs() < 1e-6 && a.water.drift_of_total().abs() < 1e-6);
}

#[test]
fn models_without_passes_run_on_the_host_and_are_named() {
    let setups: [(&str, Setup); 2] = [
        ("streams", |app| {
            app.insert_resource(Droplets::default().with_streams());
        }),
        ("published droplets", |app| {
            app.insert_resource(Droplets::as_published());
        }),
    ];
    for (name, setup) in setups {
        let land = || wet_hills(9, UVec2::new(100, 70));
        compare(name, land, setup, 1e-6);
        let mut app = gpu(land(), STEP);
        setup(&mut app);
        step(&mut app, 1);
        let on_host = |app: &App| {
            app.world()
                .resource::<ErosionBackendStatus>()
                .on_host
                .clone()
        };
        assert_eq!(on_host(&app), ["Droplets"], "{name}");
        // A frame without steps tells nothing new.
        app.update();
        assert_eq!(on_host(&app), ["Droplets"], "{name}");
        app.insert_resource(Droplets::default());
        step(&mut app, 1);
        assert!(on_host(&app).is_empty(), "{name}");
    }
}

#[test]
fn runs_are_the_same_from_run_to_run() {
    let run = |setup: Setup| {
        let mut app = gpu(wet_hills(11, UVec2::new(80, 50)), STEP);
        setup(&mut app);
        step(&mut app, 60);
        read(&mut app);
        terrain(&app).state_hash()
    };
    let setups: [(&str, Setup); 5] = [
        ("droplets", |app| {
            app.insert_resource(Droplets {
                rate: 1.0,
                ..Droplets::default()
            });
        }),
        ("published pipes", |app| {
            app.insert_resource(PipeModel::as_published());
        }),
        ("pipes", |app| {
            app.insert_resource(PipeModel::default());
        }),
        ("thermal", |app| {
            app.insert_resource(Thermal::default());
        }),
        ("all", |app| {
            app.insert_resource(PipeModel::default())
                .insert_resource(Rain::mm_per_hour(1000.0))
                .insert_resource(Thermal::default());
        }),
    ];
    for (name, setup) in setups {
        let hashes = [run(setup), run(setup)];
        println!("{name}: {hashes:x?}");
        assert_eq!(hashes[0], hashes[1], "{name}");
    }
}

#[test]
fn dry_tiles_rest_and_wake() {
    // Water in one corner of a land of nine tiles, which spreads.
    let land = || {
        let size = UVec2::splat(160);
        let land = Terrain::flat(size, 2.0).expect("valid");
        let mut water = vec![0.0; land.grid().cells()];
        for y in 0..40 {
            for x in 0..40 {
                water[y * 160 + x] = 5.0;
            }
        }
        land.with_layer(Layer::Water, water).expect("valid")
    };
    let setup: Setup = |app| {
        app.insert_resource(PipeModel::default());
    };
    compare("flood", land, setup, 2e-5);
}
