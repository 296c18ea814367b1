//! Implicit shallow water on the GPU, against its twin on the CPU.

use crate::{
    gpu,
    parity::{SIZES, Setup, compare_by},
    read, step, terrain, twin, wet_hills,
};
use bevy::prelude::*;
use bevy_erode::prelude::*;
use std::time::Duration;

/// Long steps: an explicit method would need twenty sub-steps.
const STEP: Duration = Duration::from_millis(250);

fn soft() -> ShallowWater {
    ShallowWater {
        regolith_depth: 0.1,
        ..ShallowWater::default()
    }
}

#[test]
fn shallow_water_follows_the_cpu() {
    for size in SIZES {
        let setup: Setup = |app| {
            app.insert_resource(soft());
        };
        compare_by(STEP, "shallow", || wet_hills(3, size), setup, 5e-6);
    }
}

#[test]
fn shallow_water_follows_the_cpu_on_hard_ground_between_all_borders() {
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
        app.insert_resource(soft());
    };
    compare_by(STEP, "shallow borders", land, setup, 5e-6);
}

#[test]
fn shallow_water_follows_the_cpu_under_rain_with_springs() {
    let setup: Setup = |app| {
        app.insert_resource(soft())
            .insert_resource(Rain::mm_per_hour(5000.0))
            .insert_resource(Evaporation::mm_per_hour(1000.0))
            .insert_resource(Thermal::default());
        let at = Transform::from_xyz;
        let world = app.world_mut();
        world.spawn((
            WaterSource::cubic_metres_per_second(4.0),
            at(10.0, 0.0, -12.0),
        ));
    };
    let land = || wet_hills(7, UVec2::new(70, 61));
    compare_by(STEP, "shallow weather", land, setup, 5e-6);
}

#[test]
fn pools_of_one_row_and_of_one_column_follow_the_cpu() {
    for size in [UVec2::new(50, 1), UVec2::new(1, 50), UVec2::ONE] {
        let setup: Setup = |app| {
            app.insert_resource(soft());
        };
        compare_by(STEP, "a line", || wet_hills(6, size), setup, 5e-6);
    }
}

#[test]
fn shallow_water_is_the_same_from_run_to_run() {
    let run = || {
        let mut app = gpu(wet_hills(11, UVec2::new(80, 50)), STEP);
        app.insert_resource(soft());
        step(&mut app, 60);
        read(&mut app);
        terrain(&app).state_hash()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_published_method_runs_on_the_host() {
    let setup: Setup = |app| {
        app.insert_resource(ShallowWater::as_published());
    };
    let land = || wet_hills(9, UVec2::new(50, 40));
    let mut theirs = gpu(land(), STEP);
    let mut ours = twin(land(), STEP);
    for app in [&mut theirs, &mut ours] {
        setup(app);
        step(app, 10);
    }
    read(&mut theirs);
    let apart = crate::layers_apart(terrain(&theirs), terrain(&ours));
    assert!(apart.iter().all(|apart| *apart < 1e-5), "{apart:?}");
}

#[test]
fn pipes_go_on_where_shallow_water_ends() {
    let mut apps = [
        gpu(wet_hills(3, UVec2::new(70, 45)), Duration::from_millis(20)),
        twin(wet_hills(3, UVec2::new(70, 45)), Duration::from_millis(20)),
    ];
    for app in &mut apps {
        app.insert_resource(soft());
        step(app, 30);
        app.world_mut().remove_resource::<ShallowWater>();
        app.insert_resource(PipeModel::default());
        step(app, 30);
    }
    let [mut theirs, ours] = apps;
    read(&mut theirs);
    let apart = crate::layers_apart(terrain(&theirs), terrain(&ours));
    println!("{apart:?}");
    assert!(apart.iter().all(|apart| *apart < 5e-4), "{apart:?}");
}
