//! Bits that must not change unnoticed: hashes of each model after a short run,
//! and files written by earlier versions that must load and go on alike.
//!
//! When a change of bits is meant, put the new hashes here and name the change in
//! the changelog. The files in this folder stay as they were written.

use crate::app::create_app;
use bevy::prelude::*;
use bevy_erode::{
    models::{AnyModel, BUILT_IN},
    parallel::Workers,
    prelude::*,
    scene::ErosionPreset,
};
use std::path::{Path, PathBuf};

/// A model by its key in scenes, settings that differ from the defaults as RON, and
/// the hash after twenty steps of 0.25 s.
const GOLDEN: &[(&str, &str, u64)] = &[
    (
        "ageing",
        "(uplift: Keep(share: 0.8, years: 20000.0))",
        0x7512_61e7_08ab_f56e,
    ),
    ("droplets", "(seed: 5)", 0x2d4d_8204_c137_15b8),
    (
        "droplets",
        "(seed: 5, max_steps: 1024, streams: ())",
        0xdd02_b2e5_f36c_1ac2,
    ),
    ("droplets", "(published: ())", 0x42e8_6005_41c0_54ef),
    ("pipe", "()", 0x5d1e_f309_9706_1e55),
    ("pipe", "(published: ())", 0x7504_e42e_e0fc_3ccb),
    ("shallow_water", "()", 0x97bf_9fc9_82a1_110f),
    ("shallow_water", "(published: ())", 0xefe9_5969_c5b6_2903),
    ("lava", "()", 0xe583_e1e9_6491_e98c),
    ("thermal", "()", 0x3102_5d33_8035_1cfc),
    ("rain", "(mm_per_hour: 5000.0)", 0x0d29_1f64_1335_37b2),
    ("evaporation", "()", 0xd5af_4c3a_e195_b6fb),
];

/// Uneven soil, hardness, a lake and a body of lava on rough hills whose sides are
/// no multiples of a tile.
fn land() -> Terrain {
    let size = UVec2::new(150, 71);
    let cells = size.element_product() as usize;
    let by_cell = |value: fn(usize) -> f32| (0..cells).map(value).collect::<Vec<f32>>();
    let at = |first: fn(usize) -> bool, depth: f32| {
        let depths = (0..cells).map(|cell| if first(cell % 150) { depth } else { 0.0 });
        depths.collect::<Vec<f32>>()
    };
    crate::land(4, size, 2.0)
        .with_layer(Layer::Soil, by_cell(|cell| (cell % 11) as f32 / 16.0))
        .and_then(|land| land.with_layer(Layer::Hardness, by_cell(|cell| (cell % 7) as f32 / 8.0)))
        .and_then(|land| land.with_layer(Layer::Water, at(|x| x < 40, 1.5)))
        .and_then(|land| land.with_layer(Layer::Lava, at(|x| x > 110, 2.0)))
        .and_then(|land| land.with_origin(Vec3::new(10.0, -3.0, 7.5)))
        .expect("valid")
}

/// The model of a key with settings as a scene has them.
fn model(key: &str, settings: &str) -> AnyModel {
    let entry = BUILT_IN.iter().find(|entry| entry.key() == key);
    let entry = entry.expect("a model of this crate");
    let part = if entry.is_forcing() {
        "forcing"
    } else {
        "models"
    };
    let text = format!("({part}: ({key}: {settings}))");
    let scene = ErosionScene::from_ron(key, &text).expect("valid settings");
    scene.model(entry).expect("a model of the scene")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

/// The hash after so many more frames, a step each.
fn advance(app: &mut App, frames: u32) -> u64 {
    app.insert_resource(ErosionPace::StepsPerTick(1));
    for _ in 0..frames {
        app.update();
    }
    app.world().resource::<Terrain>().state_hash()
}

#[test]
fn every_model_gives_the_same_bits_as_before() {
    for entry in BUILT_IN {
        let covered = GOLDEN.iter().any(|(key, ..)| *key == entry.key());
        assert!(covered, "no golden hash for `{}`", entry.key());
    }
    let mut changed = Vec::new();
    for (key, settings, golden) in GOLDEN {
        let mut terrain = land();
        let start = terrain.state_hash();
        let model = model(key, settings);
        let mut solver = model.solver(terrain.grid()).expect("valid settings");
        for _ in 0..20 {
            solver.step_on(Workers::global(), &mut terrain, 0.25);
        }
        let hash = terrain.state_hash();
        assert_ne!(hash, start, "{key}{settings} does something");
        if hash != *golden {
            changed.push(format!("{key} {settings}: {hash:#018x}"));
        }
    }
    assert!(
        changed.is_empty(),
        "bits have changed:\n{}",
        changed.join("\n")
    );
}

#[test]
fn an_old_scene_with_a_river_opens_and_runs_alike() {
    let scene = ErosionScene::read_file(file("written_before.scene.ron")).expect("readable");
    let mut app = create_app();
    scene.apply(app.world_mut()).expect("valid");
    assert_eq!(advance(&mut app, 40), 0x2a73_aefd_687e_07c4);
}

#[test]
fn an_old_saved_state_loads_and_goes_on_alike() {
    let bytes = std::fs::read(file("written_before.erode")).expect("readable");
    let state = SavedState::from_bytes(&bytes).expect("a saved state");
    let mut app = create_app();
    state
        .restore(app.world_mut())
        .expect("an app with all models");
    let hash = app.world().resource::<Terrain>().state_hash();
    assert_eq!(hash, 0x7363_6198_e246_4d0c);
    assert_eq!(advance(&mut app, 30), 0xf26c_4bc0_f168_9283);
}

#[test]
fn old_presets_apply_and_run_alike() {
    for (name, golden) in [
        ("written_before_pipe.preset.ron", 0x5297_9555_fb61_a14d),
        (
            "written_before_shallow_water.preset.ron",
            0x5c16_e2d1_5999_8cde,
        ),
    ] {
        let preset = ErosionPreset::read_file(file(name)).expect("readable");
        let mut app = create_app();
        app.insert_resource(land());
        preset.apply(app.world_mut()).expect("valid");
        let hash = advance(&mut app, 30);
        assert_eq!(hash, golden, "{name}: {hash:#018x}");
    }
}
