//! What every model promises, whatever it does.

use crate::hills;
use bevy::math::UVec2;
use bevy_erode::prelude::*;
use bevy_erode::{
    models::droplet::DropletSolver,
    models::lava::LavaSolver,
    models::pipe::PipeSolver,
    models::shallow_water::{PublishedShallowWater, ShallowWaterSolver},
    models::thermal::ThermalSolver,
};

/// A model changes only the layers it says, reacts to nothing but layers it
/// says, keeps the ledger, and copes with any grid and any step.
fn keeps_its_contract<S: Solver>(settings: S::Settings, dt: f32, water: f32) {
    let cells = hills(1).grid().cells();
    let full = || {
        hills(1)
            .with_layer(Layer::Soil, vec![0.5; cells])
            .and_then(|t| t.with_layer(Layer::Suspended, vec![0.25; cells]))
            .and_then(|t| t.with_layer(Layer::Water, vec![water; cells]))
            .and_then(|t| t.with_layer(Layer::Hardness, vec![0.5; cells]))
            .and_then(|t| t.with_layer(Layer::Lava, vec![0.4; cells]))
            .expect("valid")
    };
    let mut terrain = full();
    let before = full();
    let mut solver = S::new(settings.clone(), terrain.grid()).expect("valid settings");
    for _ in 0..10 {
        solver.step(&mut terrain, dt);
    }
    let lava = |terrain: &Terrain| terrain.lava().expect("lava").to_vec();
    let lava = [lava(&before), lava(&terrain)];
    let layers = [
        (Layer::Lava, &lava[0][..], &lava[1][..]),
        (Layer::Bedrock, before.bedrock(), terrain.bedrock()),
        (Layer::Soil, before.soil(), terrain.soil()),
        (Layer::Water, before.water(), terrain.water()),
        (Layer::Suspended, before.suspended(), terrain.suspended()),
    ];
    for (layer, old, new) in layers {
        let changed = old != new;
        let allowed = S::WRITES.contains(&layer);
        assert!(!changed || allowed, "{} changed {layer}", S::NAME);
        assert!(changed || !allowed, "{} left {layer} alone", S::NAME);
    }
    assert_eq!(before.hardness(), terrain.hardness());
    assert!(terrain.ledger().solids.drift_of_total().abs() < 1e-6);
    assert!(terrain.ledger().water.drift_of_total().abs() < 1e-6);
    let changed: Vec<UVec2> = terrain.tiles_changed_since(before.revision()).collect();
    assert!(!changed.is_empty(), "changes are published");

    // Layers that are not read make no difference.
    if !S::READS.contains(&Layer::Suspended) {
        let mut other = full()
            .with_layer(Layer::Suspended, vec![3.0; cells])
            .expect("valid");
        let mut solver = S::new(settings.clone(), other.grid()).expect("valid settings");
        for _ in 0..10 {
            solver.step(&mut other, dt);
        }
        assert_eq!(other.ground_heights(), terrain.ground_heights());
    }

    // Steps that are no steps, and a terrain of another size, change nothing.
    let hash = terrain.state_hash();
    for nothing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        solver.step(&mut terrain, nothing);
    }
    assert_eq!(terrain.state_hash(), hash);
    let mut other = Terrain::flat(UVec2::new(5, 7), 1.0).expect("valid");
    let hash = other.state_hash();
    solver.step(&mut other, dt);
    assert_eq!(other.state_hash(), hash);

    for size in [
        (1, 1),
        (1, 9),
        (9, 1),
        (2, 2),
        (3, 2),
        (65, 64),
        (64, 65),
        (129, 3),
    ] {
        let cells = (size.0 * size.1) as usize;
        let mut terrain = crate::land(2, size.into(), 2.0)
            .with_soil_depth(1.0)
            .and_then(|terrain| terrain.with_layer(Layer::Lava, vec![0.7; cells]))
            .expect("valid");
        let mut solver = S::new(settings.clone(), terrain.grid()).expect("valid settings");
        for dt in [dt, 1e9, dt] {
            solver.step(&mut terrain, dt);
        }
        let layers = [terrain.bedrock(), terrain.soil()];
        assert!(
            layers.iter().all(|l| l.iter().all(|v| v.is_finite())),
            "{size:?}"
        );
        let lava = terrain.lava().expect("lava");
        let thicknesses = terrain.soil().iter().chain(lava);
        assert!(
            thicknesses.clone().all(|&v| v.is_finite() && v >= 0.0),
            "{size:?}"
        );
        let drift = terrain.ledger().solids.drift_of_total();
        assert!(drift.abs() < 1e-6, "{} on {size:?}: {drift}", S::NAME);
    }
}

#[test]
fn droplets() {
    keeps_its_contract::<DropletSolver>(Droplets::seeded(1), 0.5, 0.0);
    keeps_its_contract::<DropletSolver>(Droplets::seeded(1).with_streams(), 0.5, 0.0);
}

#[test]
fn pipes() {
    // So hungry that it reaches the bedrock under half a metre of soil.
    let settings = PipeModel {
        capacity: 50.0,
        soil_erosion: 20.0,
        rounding: 0.0,
        ..PipeModel::default()
    };
    keeps_its_contract::<PipeSolver>(settings, 0.5, 1.0);
}

#[test]
fn shallow_water() {
    // Ground so soft that it creeps down to the bedrock under half a metre of soil.
    let settings = ShallowWater {
        regolith_depth: 1.0,
        regolith_roughness: 0.0,
        ..ShallowWater::default()
    };
    keeps_its_contract::<ShallowWaterSolver>(settings, 0.5, 1.0);
    let published = ShallowWater::as_published()
        .published
        .map(|published| PublishedShallowWater {
            regolith_depth: 1.0,
            ..published
        });
    let settings = ShallowWater {
        published,
        ..ShallowWater::default()
    };
    keeps_its_contract::<ShallowWaterSolver>(settings, 0.5, 1.0);
}

#[test]
fn lava() {
    // So much water that all of it is not boiled, and some load sinks.
    keeps_its_contract::<LavaSolver>(Lava::default(), 0.5, 0.1);
}

#[test]
fn thermal() {
    let settings = Thermal {
        soil_angle: 10.0,
        bedrock_angle: 12.0,
        ..Thermal::default()
    };
    keeps_its_contract::<ThermalSolver>(settings, 0.1, 0.0);
}
