//! Same seed, same input, any number of threads: same bits.

use crate::{hills, models};
use bevy::{math::UVec2, tasks::TaskPoolBuilder};
use bevy_erode::models::droplet::DropletSolver;
use bevy_erode::{
    models::{AnyModel, BUILT_IN},
    parallel::Workers,
    prelude::*,
};

/// Hash after some steps, on one thread and on pools of other sizes.
fn hashes(model: &AnyModel, dt: f32, water: f32) -> Vec<u64> {
    let run = |workers: Workers| {
        // Large enough that eight threads all find something to do.
        let cells = 520 * 530;
        let mut terrain = crate::land(11, UVec2::new(520, 530), 2.0)
            .with_soil_depth(0.5)
            .and_then(|terrain| terrain.with_layer(Layer::Water, vec![water; cells]))
            .expect("valid");
        if model.entry().writes().contains(&Layer::Lava) {
            let lava = (0..cells).map(|cell| (cell % 100) as f32 * 0.02);
            terrain
                .set_layer(Layer::Lava, lava.collect())
                .expect("valid");
        }
        let mut solver = model.solver(terrain.grid()).expect("valid settings");
        let before = terrain.state_hash();
        for _ in 0..5 {
            solver.step_on(workers, &mut terrain, dt);
        }
        assert_ne!(
            terrain.state_hash(),
            before,
            "{} does nothing",
            model.name()
        );
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

/// Settings that are not among the cases of the table's models.
const OTHERS: &[(&str, &str)] = &[
    (
        "Rain",
        "(pattern: BlueNoise(spacing: 9.0, radius: 4.0, depth: 0.001, seed: 1))",
    ),
    ("Droplets", "(published: ())"),
    ("PipeModel", "()"),
    ("PipeModel", "(published: ())"),
    ("ShallowWater", "(interval: 1.0)"),
    ("ShallowWater", "(published: (solves: 2))"),
];

fn check(model: &AnyModel, step: f32, water: f32) {
    let hashes = hashes(model, step, water);
    let equal = hashes.iter().all(|hash| *hash == hashes[0]);
    assert!(equal, "{model:?}: {hashes:x?}");
}

#[test]
fn every_model_of_the_table_on_1_2_3_and_8_threads() {
    for (model, conditions) in models::cases() {
        check(&model, conditions.step, conditions.water);
    }
}

#[test]
fn other_settings_on_1_2_3_and_8_threads() {
    for (name, settings) in OTHERS {
        let entry = BUILT_IN.iter().find(|entry| entry.name() == *name);
        let entry = entry.unwrap_or_else(|| panic!("no model {name}"));
        // Droplets end where there is water.
        let water = if *name == "Droplets" { 0.0 } else { 0.3 };
        check(&models::model(entry, settings), 0.5, water);
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
