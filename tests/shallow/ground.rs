//! What the water does to the ground.

use super::{solver, sum};
use crate::flooded_hills;
use bevy::math::UVec2;
use bevy_erode::prelude::*;

/// Mean square of the ground's second differences along a row. units: m²
fn unevenness(terrain: &Terrain) -> f64 {
    let ground = terrain.ground_heights();
    let bends = ground
        .windows(3)
        .map(|w| f64::from(w[0] - 2.0 * w[1] + w[2]));
    bends.map(|bend| bend * bend).sum::<f64>() / (ground.len() - 2) as f64
}

/// The source's Fig. 4: 2000 cells of 0.1 m in a row, a rough bed under water.
fn trough() -> Terrain {
    let bed = (0..2000u32).map(|x| {
        let rough = (x.wrapping_mul(2_654_435_761) >> 24) as f32 / 255.0;
        0.5 + 0.3 * (x as f32 * 0.01).sin() + 0.02 * rough
    });
    let bed: Vec<f32> = bed.collect();
    let water = bed.iter().map(|z| 1.5 - z).collect();
    Terrain::from_heights(UVec2::new(2000, 1), 0.1, bed)
        .and_then(|t| t.with_layer(Layer::Water, water))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid")
}

#[test]
fn still_water_smooths_a_bed_in_one_dimension() {
    for settings in [ShallowWater::as_published(), ShallowWater::default()] {
        let mut terrain = trough();
        let before = (unevenness(&terrain), sum(terrain.water()));
        let mut solver = solver(settings, &terrain);
        for _ in 0..1000 {
            solver.step(&mut terrain, 0.01);
        }
        let after = unevenness(&terrain);
        let ratio = after / before.0;
        println!("unevenness {:.2e} to {after:.2e} m²", before.0);
        assert!(ratio < 0.1, "{ratio}");
        // The water stands nearly still meanwhile.
        let level = |i: usize| terrain.ground(i) + terrain.water()[i];
        let off = (0..2000)
            .map(|i| (level(i) - 1.5).abs())
            .fold(0.0, f32::max);
        assert!(off < 0.01, "{off}");
        let solids = terrain.ledger().solids;
        assert!(solids.drift_of_total().abs() < 1e-6, "{solids:?}");
        assert!((sum(terrain.water()) / before.1 - 1.0).abs() < 1e-6);
    }
}

#[test]
fn water_and_solids_stay_in_a_closed_basin() {
    let mut terrain = flooded_hills(9, UVec2::new(60, 50));
    let mut solver = solver(ShallowWater::default(), &terrain);
    for _ in 0..10_000 {
        solver.step(&mut terrain, 0.1);
    }
    let ledger = terrain.ledger();
    assert!(ledger.solids.moved > 100.0, "{ledger:?}");
    assert!(ledger.water.drift_of_total().abs() < 1e-9, "{ledger:?}");
    assert!(ledger.solids.drift_of_total().abs() < 1e-9, "{ledger:?}");
    assert!(ledger.solids.drift_of_moved().abs() < 1e-6, "{ledger:?}");
}

#[test]
fn erosion_does_not_stall_with_altitude() {
    let run = |altitude: f32| {
        let low = flooded_hills(6, UVec2::new(64, 60));
        let bed = low
            .bedrock()
            .iter()
            .map(|z| (z * 8.0).round() / 8.0 + altitude);
        let mut terrain = Terrain::from_heights(low.size(), 2.0, bed.collect())
            .and_then(|t| t.with_layer(Layer::Water, low.water().to_vec()))
            .and_then(|t| t.with_borders(Borders::closed()))
            .expect("valid");
        let mut solver = solver(ShallowWater::default(), &terrain);
        for _ in 0..500 {
            solver.step(&mut terrain, 0.1);
        }
        terrain.ledger().solids.moved
    };
    let (low, high) = (run(0.0), run(3000.0));
    assert!(
        low > 1.0 && (high / low - 1.0).abs() < 1e-3,
        "{low} and {high}"
    );
}

#[test]
fn erosion_does_not_depend_on_the_step() {
    let run = |dt: f32| {
        let mut terrain = flooded_hills(8, UVec2::new(80, 70));
        let mut solver = solver(ShallowWater::default(), &terrain);
        for _ in 0..(100.0 / dt) as u32 {
            solver.step(&mut terrain, dt);
        }
        terrain.ledger().solids.moved
    };
    let moved = [0.05, 0.1, 0.25].map(run);
    println!("moved {moved:.2?} m³ with steps of 0.05, 0.1 and 0.25 s");
    for other in &moved[1..] {
        assert!((other / moved[0] - 1.0).abs() < 0.1, "{moved:?}");
    }
}

#[test]
fn hard_ground_gives_less_and_the_hardest_nothing() {
    let run = |hardness: f32| {
        let terrain = flooded_hills(7, UVec2::new(64, 60));
        let cells = terrain.grid().cells();
        let mut terrain = terrain
            .with_layer(Layer::Hardness, vec![hardness; cells])
            .expect("valid");
        let mut solver = solver(ShallowWater::default(), &terrain);
        for _ in 0..200 {
            solver.step(&mut terrain, 0.1);
        }
        terrain.ledger().solids.moved
    };
    let [soft, hard, rock] = [0.0, 0.7, 1.0].map(run);
    assert!(hard > 0.0 && hard < 0.5 * soft, "{soft}, {hard}");
    assert_eq!(rock, 0.0);
}

#[test]
fn soil_is_taken_before_bedrock_and_hardens_to_soil() {
    // A step in the bed under water: its edge is worn, its foot filled.
    let size = UVec2::new(80, 20);
    let bed = (0..1600u32).map(|i| if i % 80 < 40 { 1.0 } else { 0.0 });
    let soil = 0.002;
    let mut terrain = Terrain::from_heights(size, 1.0, bed.collect())
        .and_then(|t| t.with_soil_depth(soil))
        .and_then(|t| t.with_layer(Layer::Water, vec![2.0; 1600]))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(ShallowWater::default(), &terrain);
    for _ in 0..400 {
        solver.step(&mut terrain, 0.1);
    }
    let row = |layer: &[f32]| layer[800..880].to_vec();
    let (bedrock, soil_now) = (row(terrain.bedrock()), row(terrain.soil()));
    assert!(bedrock[39] < 1.0, "the edge gave bedrock: {}", bedrock[39]);
    assert_eq!(soil_now[39], 0.0, "after all of its soil");
    // But for what is too little for the soil to count.
    assert!(bedrock[40].abs() < 1e-6, "no bedrock grows");
    assert!(soil_now[40] > 10.0 * soil, "{}", soil_now[40]);
    assert_eq!(bedrock[2], 1.0, "far from it all is as it was");
}

#[test]
fn what_another_model_left_suspended_falls() {
    let mut terrain = Terrain::flat(UVec2::new(70, 9), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, vec![1.0; 630]))
        .and_then(|t| t.with_layer(Layer::Suspended, vec![0.125; 630]))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(ShallowWater::default(), &terrain);
    for _ in 0..10 {
        solver.step(&mut terrain, 0.1);
    }
    assert!(terrain.suspended().iter().all(|s| *s == 0.0));
    assert!(terrain.soil().iter().all(|s| *s == 0.125));
    assert_eq!(terrain.ledger().solids.drift(), 0.0);
}

#[test]
fn regolith_leaves_over_an_open_border() {
    let mut terrain = super::plane(UVec2::new(60, 12), 0.1);
    let cells = terrain.grid().cells();
    let mut solver = solver(ShallowWater::default(), &terrain);
    for _ in 0..300 {
        terrain
            .set_layer(Layer::Water, vec![0.05; cells])
            .expect("valid");
        solver.step(&mut terrain, 0.1);
    }
    let solids = terrain.ledger().solids;
    assert!(solids.left > 0.01, "{solids:?}");
    assert!(solids.drift_of_total().abs() < 1e-9, "{solids:?}");
}
