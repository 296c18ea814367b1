//! The method as published, against its oracle and by its known fault.

use super::{solver, sum};
use crate::flooded_hills;
use crate::oracle::shallow_water::{Constants, Oracle};
use bevy::math::UVec2;
use bevy_erode::models::shallow_water::PublishedShallowWater;
use bevy_erode::prelude::*;

fn constants(settings: &PublishedShallowWater, dx: f32, dt: f32) -> Constants {
    Constants {
        gravity: settings.gravity.into(),
        water_damping: settings.water_damping.into(),
        regolith_damping: settings.regolith_damping.into(),
        regolith_depth: settings.regolith_depth.into(),
        dx: dx.into(),
        dt: dt.into(),
    }
}

#[test]
fn it_is_what_the_source_prints() {
    // One row, one column, and a plane; shores and islands in all of them.
    for size in [(80, 1), (1, 60), (37, 29)] {
        let (width, height) = size;
        let count = width * height;
        let bed: Vec<f32> = (0..count)
            .map(|i| {
                let (x, y) = ((i % width) as f32, (i / width) as f32);
                2.0 + (x * 0.21).sin() + (y * 0.17).cos() + 0.01 * (i * 7 % 13) as f32
            })
            .collect();
        let level = |i: u32| {
            if i % width < 12 && i / width < 12 {
                3.5
            } else {
                2.2
            }
        };
        let water: Vec<f32> = (0..count)
            .map(|i| (level(i) - bed[i as usize]).max(0.0))
            .collect();
        let mut terrain = Terrain::from_heights(size.into(), 0.5, bed.clone())
            .and_then(|t| t.with_layer(Layer::Water, water))
            .and_then(|t| t.with_borders(Borders::closed()))
            .expect("valid");
        let published = PublishedShallowWater {
            steady: 0.0,
            ..PublishedShallowWater::default()
        };
        let dt = 0.02;
        let wide = |layer: &[f32]| -> Vec<f64> { layer.iter().map(|v| f64::from(*v)).collect() };
        let constants = constants(&published, 0.5, dt);
        let depths = wide(terrain.water());
        let (w, h) = (width as usize, height as usize);
        let mut oracle = Oracle::new(w, h, wide(&bed), &depths, constants);
        let solves = published.solves;
        let settings = ShallowWater {
            published: Some(published),
            ..ShallowWater::default()
        };
        let mut solver = solver(settings, &terrain);
        for cycle in 1..=20 {
            for _ in 0..solves {
                solver.step(&mut terrain, dt);
            }
            oracle.cycle(solves, 0.0);
            let off = |ours: &[f32], theirs: &[f64]| {
                let off = ours
                    .iter()
                    .zip(theirs)
                    .map(|(a, b)| (f64::from(*a) - b).abs());
                off.fold(0.0, f64::max)
            };
            let ground = terrain.ground_heights();
            let worst = [
                off(terrain.water(), &oracle.depths()),
                off(&ground, &oracle.ground.h),
                off(solver.regolith(), &oracle.regolith_depths()),
            ];
            if cycle == 1 || cycle == 20 {
                println!("{size:?}, cycle {cycle}: off by {worst:?}");
            }
            let bar = if cycle == 1 { 2e-5 } else { 2e-3 };
            assert!(worst.iter().all(|w| *w < bar), "cycle {cycle}: {worst:?}");
        }
        let moved = off_by(&bed, &terrain.ground_heights());
        assert!(moved > 1e-3, "the ground moved by {moved}");
    }
}

fn off_by(a: &[f32], b: &[f32]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

#[test]
fn it_makes_water_at_shores_and_the_default_does_not() {
    let run = |settings: ShallowWater| {
        let mut terrain = flooded_hills(4, UVec2::new(60, 50));
        let before = sum(terrain.water());
        let mut solver = solver(settings, &terrain);
        for _ in 0..2000 {
            solver.step(&mut terrain, 0.05);
        }
        (sum(terrain.water()) / before, terrain.ledger())
    };
    let (grown, books) = run(ShallowWater::as_published());
    println!("published: {grown:.3} times the water");
    assert!(grown > 1.05, "{grown}");
    assert!(books.water.lost < 0.0, "{books:?}");
    // It is in the books all the same.
    assert!(books.water.drift_of_total().abs() < 1e-6, "{books:?}");
    assert!(books.solids.drift_of_total().abs() < 1e-6, "{books:?}");
    let (kept, books) = run(ShallowWater::default());
    assert!((kept - 1.0).abs() < 1e-6, "{kept}");
    assert_eq!((books.water.lost, books.solids.lost), (0.0, 0.0));
}

#[test]
fn steady_water_ends_a_cycle_early() {
    // Still water is steady at once: the ground is softened after one step.
    let mut terrain = Terrain::flat(UVec2::new(9, 5), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, vec![0.5; 45]))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut still = solver(ShallowWater::as_published(), &terrain);
    still.step(&mut terrain, 0.01);
    assert_eq!(still.regolith(), vec![0.01; 45]);
    // Water that moves is not.
    let mut wave = terrain.water().to_vec();
    wave[22] += 0.1;
    terrain.set_layer(Layer::Water, wave).expect("valid");
    let mut moving = solver(ShallowWater::as_published(), &terrain);
    for _ in 0..9 {
        moving.step(&mut terrain, 0.01);
    }
    assert!(moving.regolith().is_empty());
    moving.step(&mut terrain, 0.01);
    assert!(!moving.regolith().is_empty());
}
