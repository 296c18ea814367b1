//! Drops on the GPU, bit by bit as on the CPU.

use crate::{gpu, read, step, terrain, until, wet_hills};
use bevy::prelude::*;
use bevy_erode::prelude::*;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);

/// An app with the same past, so that states compare bit by bit, whose models
/// run on the CPU from here on.
fn cpu(land: Terrain) -> App {
    let mut app = gpu(land, STEP);
    change_to(&mut app, ErosionBackend::Cpu);
    app
}

fn change_to(app: &mut App, backend: ErosionBackend) {
    app.insert_resource(backend);
    until(app, "the backend changed", |world| {
        world.resource::<ErosionBackendStatus>().on_gpu == (backend == ErosionBackend::Gpu)
    });
}

/// All bits of all layers, and all of the ledger.
fn assert_equal(name: &str, theirs: &App, ours: &App) {
    let (theirs, ours) = (terrain(theirs), terrain(ours));
    let bits = |layer: &[f32]| layer.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
    let unlike = |a: &[f32], b: &[f32]| {
        let pairs = bits(a).into_iter().zip(bits(b));
        pairs.filter(|(a, b)| a != b).count()
    };
    let unlike = [
        unlike(theirs.bedrock(), ours.bedrock()),
        unlike(theirs.soil(), ours.soil()),
        unlike(theirs.water(), ours.water()),
    ];
    assert_eq!(unlike, [0; 3], "{name}: cells of bedrock, soil and water");
    // With bedrock's rests.
    assert_eq!(theirs.state_hash(), ours.state_hash(), "{name}");
    assert_eq!(theirs.ledger(), ours.ledger(), "{name}");
}

/// Runs both and compares after 1, 10 and 100 steps.
fn compare(name: &str, land: impl Fn() -> Terrain, drops: &Droplets) {
    let (mut theirs, mut ours) = (gpu(land(), STEP), cpu(land()));
    let before = terrain(&ours).state_hash();
    for app in [&mut theirs, &mut ours] {
        app.insert_resource(drops.clone());
    }
    let mut steps = 0;
    for goal in [1u32, 10, 100] {
        for app in [&mut theirs, &mut ours] {
            step(app, goal - steps);
        }
        steps = goal;
        read(&mut theirs);
        assert!(
            theirs
                .world()
                .resource::<ErosionBackendStatus>()
                .on_host
                .is_empty()
        );
        assert_equal(&format!("{name} after {goal}"), &theirs, &ours);
    }
    let solids = terrain(&theirs).ledger().solids;
    println!("{name}: moved {} left {}", solids.moved, solids.left);
    assert_ne!(terrain(&theirs).state_hash(), before, "{name}: drops fell");
    assert!(solids.moved > 0.0 && solids.drift_of_total().abs() < 1e-9);
}

fn plenty() -> Droplets {
    Droplets {
        rate: 0.613,
        ..Droplets::seeded(7)
    }
}

#[test]
fn drops_are_bit_equal_on_any_size() {
    for size in [
        UVec2::new(70, 45),
        UVec2::new(33, 130),
        UVec2::new(128, 64),
        UVec2::new(2, 9),
    ] {
        compare(&format!("{size}"), || wet_hills(3, size), &plenty());
    }
}

#[test]
fn drops_are_bit_equal_on_dry_hard_rock_far_up() {
    let land = || {
        let shape = Fbm::seeded(4).with_feature_size(50.0).with_height(60.0);
        let land = Terrain::generate(&shape, UVec2::new(90, 77), 2.0).expect("valid");
        let cells = land.grid().cells();
        let high = land.bedrock().iter().map(|z| z + 3000.0).collect();
        let hardness = (0..cells).map(|i| (i % 7) as f32 / 7.0).collect();
        let soil = (0..cells).map(|i| (i % 5) as f32 * 0.01).collect();
        land.with_layer(Layer::Bedrock, high)
            .and_then(|land| land.with_layer(Layer::Hardness, hardness))
            .and_then(|land| land.with_layer(Layer::Soil, soil))
            .expect("valid layers")
    };
    compare("hard rock", land, &plenty());
}

#[test]
fn drops_are_bit_equal_with_other_settings() {
    let land = || wet_hills(5, UVec2::new(100, 81));
    let wide = Droplets {
        rate: 0.12,
        radius: 19.0,
        volume: 40.0,
        evaporation: 0.05,
        friction: 0.1,
        ..plenty()
    };
    compare("wide brush", land, &wide);
    // Ways so long that those of a batch do not fit one binding.
    let long = Droplets {
        radius: 1.0,
        max_steps: 2048,
        evaporation: 0.0,
        bedrock_erodibility: 1.0,
        ..plenty()
    };
    let land = || wet_hills(5, UVec2::new(130, 99));
    compare("long ways", land, &long);
    // Too long for the GPU: the host follows them.
    let mut app = gpu(land(), STEP);
    app.insert_resource(Droplets {
        max_steps: 65_536,
        ..long
    });
    step(&mut app, 1);
    let status = app.world().resource::<ErosionBackendStatus>();
    assert_eq!(status.on_host, ["Droplets"]);
}

#[test]
fn drops_go_on_when_the_backend_changes() {
    let land = || wet_hills(6, UVec2::new(70, 45));
    let (mut theirs, mut ours) = (gpu(land(), STEP), cpu(land()));
    for app in [&mut theirs, &mut ours] {
        app.insert_resource(plenty());
    }
    for backend in [
        ErosionBackend::Gpu,
        ErosionBackend::Cpu,
        ErosionBackend::Gpu,
        ErosionBackend::Cpu,
    ] {
        change_to(&mut theirs, backend);
        for app in [&mut theirs, &mut ours] {
            step(app, 7);
        }
    }
    assert_equal("changes", &theirs, &ours);
}

#[test]
fn a_save_of_drops_on_the_gpu_knows_how_many_fell() {
    let land = || wet_hills(6, UVec2::new(70, 45));
    let (mut theirs, mut ours) = (gpu(land(), STEP), cpu(land()));
    for app in [&mut theirs, &mut ours] {
        app.insert_resource(plenty());
        step(app, 9);
    }
    read(&mut theirs);
    let saved = SavedState::capture(theirs.world_mut()).expect("whole");
    saved.restore(ours.world_mut()).expect("valid");
    for app in [&mut theirs, &mut ours] {
        step(app, 9);
    }
    read(&mut theirs);
    assert_equal("saved", &theirs, &ours);
}
