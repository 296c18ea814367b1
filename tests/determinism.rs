//! Same seed, same input, any number of threads: same bits.

use crate::hills;
use bevy::{math::UVec2, tasks::TaskPoolBuilder};
use bevy_erode::{
    models::droplet::DropletSolver,
    models::pipe::PipeSolver,
    models::shallow_water::{PublishedShallowWater, ShallowWaterSolver},
    models::thermal::ThermalSolver,
};
use bevy_erode::{parallel::Workers, prelude::*};

/// Hash after some steps, on one thread and on pools of other sizes.
fn hashes<S: Solver>(settings: S::Settings, dt: f32, water: f32) -> Vec<u64> {
    let run = |workers: Workers| {
        // Large enough that eight threads all find something to do.
        let mut terrain = crate::land(11, UVec2::new(520, 530), 2.0)
            .with_soil_depth(0.5)
            .and_then(|terrain| terrain.with_layer(Layer::Water, vec![water; 520 * 530]))
            .expect("valid");
        let mut solver = S::new(settings.clone(), terrain.grid()).expect("valid settings");
        for _ in 0..5 {
            solver.step_on(workers, &mut terrain, dt);
        }
        assert_ne!(terrain.ledger().solids.moved, 0.0);
        terrain.state_hash()
    };
    let mut hashes = vec![run(Workers::serial()), run(Workers::global())];
    // The calling thread works too, so a pool of one less makes 2, 3 and 8.
    for threads in [1, 2, 7] {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        hashes.push(run(Workers::on(&pool)));
    }
    hashes
}

fn all_equal(hashes: &[u64]) -> bool {
    hashes.iter().all(|hash| hash == &hashes[0])
}

#[test]
fn droplets_on_1_2_3_and_8_threads() {
    for settings in [
        Droplets::seeded(5),
        Droplets::seeded(5).with_streams(),
        Droplets::as_published(),
    ] {
        let hashes = hashes::<DropletSolver>(settings, 0.5, 0.0);
        assert!(all_equal(&hashes), "{hashes:x?}");
    }
}

#[test]
fn thermal_on_1_2_3_and_8_threads() {
    let settings = Thermal {
        soil_angle: 20.0,
        bedrock_angle: 30.0,
        ..Thermal::default()
    };
    let hashes = hashes::<ThermalSolver>(settings, 0.1, 0.0);
    assert!(all_equal(&hashes), "{hashes:x?}");
}

#[test]
fn pipes_on_1_2_3_and_8_threads() {
    let hashes = hashes::<PipeSolver>(PipeModel::default(), 0.5, 0.3);
    assert!(all_equal(&hashes), "{hashes:x?}");
}

#[test]
fn shallow_water_on_1_2_3_and_8_threads() {
    let settings = ShallowWater {
        interval: 1.0,
        ..ShallowWater::default()
    };
    let published = PublishedShallowWater {
        solves: 2,
        ..PublishedShallowWater::default()
    };
    let published = ShallowWater {
        published: Some(published),
        ..ShallowWater::default()
    };
    for settings in [settings, published] {
        let hashes = hashes::<ShallowWaterSolver>(settings, 0.5, 0.3);
        assert!(all_equal(&hashes), "{hashes:x?}");
    }
}

#[test]
fn another_seed_gives_another_landscape() {
    let run = |seed| {
        let mut terrain = hills(11);
        let mut solver = DropletSolver::new(Droplets::seeded(seed), terrain.grid()).expect("valid");
        solver.rain(&mut terrain, 1000);
        terrain.state_hash()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
