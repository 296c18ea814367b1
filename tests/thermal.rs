//! Thermal weathering against its oracle, and by its promises.

use crate::{hills, oracle};
use bevy::math::UVec2;
use bevy_erode::models::thermal::ThermalSolver;
use bevy_erode::prelude::*;

fn solver(settings: Thermal, terrain: &Terrain) -> ThermalSolver {
    ThermalSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// A cone of loose soil on flat rock, 30 m high with 60° flanks.
fn heap(cells: u32, cell_size: f32) -> Terrain {
    let center = (cells - 1) as f32 / 2.0;
    let soil = (0..cells * cells).map(|i| {
        let (x, y) = ((i % cells) as f32 - center, (i / cells) as f32 - center);
        (30.0 - 1.73 * (x * x + y * y).sqrt() * cell_size).max(0.0)
    });
    Terrain::flat(UVec2::splat(cells), cell_size)
        .and_then(|terrain| terrain.with_layer(Layer::Soil, soil.collect()))
        .expect("valid")
}

#[test]
fn a_pass_follows_the_oracle() {
    for size in [UVec2::new(70, 67), UVec2::new(64, 64), UVec2::new(3, 130)] {
        let mut terrain = crate::land(3, size, 2.0)
            .with_soil_depth(0.3)
            .expect("valid");
        let settings = Thermal {
            soil_angle: 20.0,
            bedrock_angle: 30.0,
            mobility: 2.0,
            breaking: 0.5,
            shelter: 0.5,
        };
        let dt = 0.2;
        let mut bedrock: Vec<f64> = terrain.bedrock().iter().map(|&v| v.into()).collect();
        let mut soil: Vec<f64> = terrain.soil().iter().map(|&v| v.into()).collect();
        let pass = oracle::thermal::Pass {
            cell_size: 2.0,
            share: 2.0 * f64::from(dt) / 4.0,
            tan_soil: 20f64.to_radians().tan(),
            tan_rock: 30f64.to_radians().tan(),
            breaking: 0.5 * f64::from(dt),
            shelter: 0.5,
        };
        let mut solver = solver(settings, &terrain);
        for step in 0..10 {
            solver.step(&mut terrain, dt);
            oracle::thermal::pass(
                &mut bedrock,
                &mut soil,
                (size.x.into(), size.y.into()),
                &pass,
            );
            for i in 0..soil.len() {
                let off = (f64::from(terrain.soil()[i]) - soil[i]).abs()
                    + (f64::from(terrain.bedrock()[i]) - bedrock[i]).abs();
                assert!(off < 1e-4, "{size}, step {step}, cell {i}: off by {off}");
            }
        }
        assert!(terrain.ledger().solids.moved > 1.0);
    }
}

#[test]
fn soil_settles_at_its_angle_of_repose() {
    let mut terrain = heap(97, 1.0);
    let mut solver = solver(Thermal::default(), &terrain);
    for _ in 0..6000 {
        solver.step(&mut terrain, 0.1);
    }
    // Steepest slope between neighbors, halfway down, along an axis and a diagonal.
    let ground = |x: usize, y: usize| f64::from(terrain.ground(y * 97 + x));
    let angle = |fall: f64, run: f64| (fall / run).atan().to_degrees();
    let axis = (52..64).map(|x| angle(ground(x, 48) - ground(x + 1, 48), 1.0));
    let axis = axis.fold(0.0, f64::max);
    let diagonal = (51..59).map(|i| {
        angle(
            ground(i, i) - ground(i + 1, i + 1),
            std::f64::consts::SQRT_2,
        )
    });
    let diagonal = diagonal.fold(0.0, f64::max);
    assert!((axis - 34.0).abs() < 0.5, "axis: {axis}");
    assert!((31.5..34.2).contains(&diagonal), "diagonal: {diagonal}");
}

#[test]
fn nothing_is_lost_in_10_000_steps() {
    let mut terrain = hills(2).with_soil_depth(0.5).expect("valid");
    let settings = Thermal {
        soil_angle: 15.0,
        bedrock_angle: 25.0,
        ..Thermal::default()
    };
    let mut solver = solver(settings, &terrain);
    for _ in 0..10_000 {
        solver.step(&mut terrain, 0.1);
    }
    let solids = terrain.ledger().solids;
    assert!(solids.moved > 100.0, "{solids:?}");
    assert!(solids.drift_of_total().abs() < 1e-6, "{solids:?}");
    assert!(solids.drift_of_moved().abs() < 1e-4, "{solids:?}");
}

#[test]
fn deep_soil_beside_bare_rock_keeps_its_mass() {
    for depth in [30.0f32, 200.0] {
        // Deep soil, a little steeper than it can rest, on the left; bare rock
        // on the right.
        let (width, height) = (48u32, 40u32);
        let slope = 36f32.to_radians().tan();
        let top = |i: u32| 300.0 - (i % width) as f32 * slope;
        let soil: Vec<f32> = (0..width * height)
            .map(|i| if i % width < width / 2 { depth } else { 0.0 })
            .collect();
        let bedrock = (0..width * height).map(|i| top(i) - soil[i as usize]);
        let mut terrain = Terrain::from_heights(UVec2::new(width, height), 1.0, bedrock.collect())
            .and_then(|terrain| terrain.with_layer(Layer::Soil, soil.clone()))
            .expect("valid");
        let mut solver = solver(Thermal::default(), &terrain);
        for _ in 0..20_000 {
            solver.step(&mut terrain, 1.0 / 64.0);
        }
        let solids = terrain.ledger().solids;
        assert!(solids.moved > 10.0, "{depth} m: {solids:?}");
        assert!(
            solids.drift_of_total().abs() < 1e-6,
            "{depth} m: {solids:?}"
        );
        assert!(
            solids.drift_of_moved().abs() < 1e-4,
            "{depth} m: {solids:?}"
        );
    }
}

#[test]
fn mirrored_and_turned_land_gives_the_mirrored_and_turned_result() {
    let (w, h) = (70usize, 51usize);
    let source = crate::land(5, UVec2::new(w as u32, h as u32), 2.0).ground_heights();
    let settings = Thermal {
        soil_angle: 15.0,
        bedrock_angle: 20.0,
        breaking: 0.3,
        ..Thermal::default()
    };
    let run = |width: usize, height: usize, heights: Vec<f32>| {
        let size = UVec2::new(width as u32, height as u32);
        let mut terrain = Terrain::from_heights(size, 2.0, heights)
            .and_then(|terrain| terrain.with_soil_depth(0.2))
            .expect("valid");
        let mut solver = solver(settings.clone(), &terrain);
        for _ in 0..50 {
            solver.step(&mut terrain, 0.1);
        }
        terrain.ground_heights()
    };
    let plain = run(w, h, source.clone());
    let mirror =
        |v: &[f32]| -> Vec<f32> { (0..w * h).map(|i| v[i / w * w + (w - 1 - i % w)]).collect() };
    assert_eq!(mirror(&plain), run(w, h, mirror(&source)), "mirrored");
    // New cell (x, y) of h × w is the old (y, h − 1 − x).
    let turn =
        |v: &[f32]| -> Vec<f32> { (0..w * h).map(|i| v[(h - 1 - i % h) * w + i / h]).collect() };
    let turned = run(h, w, turn(&source));
    for (a, b) in turn(&plain).iter().zip(&turned) {
        assert!((a - b).abs() < 1e-4, "turned: {a} against {b}");
    }
}

#[test]
fn halving_the_step_halves_the_difference() {
    let run = |dt: f32| {
        let mut terrain = heap(49, 1.0);
        let mut solver = solver(Thermal::default(), &terrain);
        for _ in 0..(1.6 / dt).round() as u32 {
            solver.step(&mut terrain, dt);
        }
        terrain.ground_heights()
    };
    let difference = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).sum()
    };
    let (coarse, middle, fine) = (run(0.08), run(0.04), run(0.02));
    let ratio = difference(&coarse, &middle) / difference(&middle, &fine);
    assert!((1.6..2.6).contains(&ratio), "{ratio}");
}

#[test]
fn cliffs_break_alike_at_any_altitude() {
    let base = hills(6).ground_heights();
    let moved_at = |altitude: f32| {
        let heights = base
            .iter()
            .map(|h| (h * 1024.0).round() / 1024.0 + altitude);
        let mut terrain =
            Terrain::from_heights(UVec2::new(128, 96), 2.0, heights.collect()).expect("valid");
        let settings = Thermal {
            bedrock_angle: 20.0,
            breaking: 0.001,
            ..Thermal::default()
        };
        let mut solver = solver(settings, &terrain);
        for _ in 0..500 {
            solver.step(&mut terrain, 0.05);
        }
        terrain.ledger().solids.soil
    };
    let (low, high) = (moved_at(0.0), moved_at(3000.0));
    assert!(low > 1.0, "{low}");
    assert!((high / low - 1.0).abs() < 1e-3, "{low} {high}");
}

#[test]
fn hard_rock_and_sheltered_rock_do_not_break() {
    let broken = |terrain: Terrain| {
        let mut terrain = terrain;
        let before = terrain.ledger().solids.bedrock;
        let settings = Thermal {
            bedrock_angle: 15.0,
            soil_angle: 80.0,
            ..Thermal::default()
        };
        let mut solver = solver(settings, &terrain);
        for _ in 0..50 {
            solver.step(&mut terrain, 0.1);
        }
        before - terrain.ledger().solids.bedrock
    };
    let cells = hills(1).grid().cells();
    let bare = broken(hills(1));
    let covered = broken(hills(1).with_soil_depth(20.0).expect("valid"));
    let hard = broken(
        hills(1)
            .with_layer(Layer::Hardness, vec![1.0; cells])
            .expect("valid"),
    );
    assert!(bare > 1.0);
    assert!(covered < 0.1 * bare, "{covered} {bare}");
    assert_eq!(hard, 0.0);
}
