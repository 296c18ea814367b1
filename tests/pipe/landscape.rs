//! Water that erodes: resolution, altitude, step size, materials.

use super::solver;
use bevy::math::UVec2;
use bevy_erode::prelude::*;
use bevy_erode::{forcing::RainSolver, terrain::landform::Scaled};

/// Lets rain fall on a land and run off for a while.
fn rained_on(mut terrain: Terrain, settings: PipeModel, seconds: f32, dt: f32) -> Terrain {
    // So much that it carves: a drizzle stays below the threshold.
    let rain = Rain::mm_per_hour(4000.0);
    let mut rain = RainSolver::new(rain, terrain.grid()).expect("valid");
    let mut pipes = solver(settings, &terrain);
    for _ in 0..(seconds / dt).round() as u32 {
        rain.step(&mut terrain, dt);
        pipes.step(&mut terrain, dt);
        assert_eq!(pipes.time_lost(), 0.0);
    }
    terrain
}

fn hill(cells: u32, altitude: f64) -> Terrain {
    let shape = Scaled {
        land: Fbm::seeded(21)
            .with_feature_size(250.0)
            .with_height(80.0)
            .with_octaves(5),
        factor: 1.0,
        offset: altitude,
    };
    Terrain::generate(&shape, UVec2::splat(cells), 512.0 / cells as f32).expect("valid")
}

#[test]
fn resolution_does_not_change_the_landscape() {
    let run = |cells: u32| {
        let start = hill(cells, 0.0);
        let before = start.ground_heights();
        let after = rained_on(start, PipeModel::default(), 240.0, 0.05);
        (crate::eroded(&before, &after), after)
    };
    let ((coarse, a), (fine, b)) = (run(256), run(512));
    let ratio = coarse / fine;
    // Finer cells gather the water into narrower beds, which wear more: 0.891 here.
    assert!((0.85..=1.15).contains(&ratio), "{coarse} against {fine} m³");
    // Hypsometry: heights at equal shares of the land, against the relief.
    let sorted = |terrain: &Terrain| {
        let mut heights = terrain.ground_heights();
        heights.sort_by(f32::total_cmp);
        heights
    };
    let (a_sorted, b_sorted) = (sorted(&a), sorted(&b));
    let relief = a_sorted[a_sorted.len() - 1] - a_sorted[0];
    for share in 1..20 {
        let at = |heights: &[f32]| heights[heights.len() * share / 20];
        let off = (at(&a_sorted) - at(&b_sorted)).abs() / relief;
        assert!(off < 0.02, "{share}/20: off by {off}");
    }
    // Correlation of blocks of 8 coarse cells.
    let blocks = |terrain: &Terrain, cells: u32| -> Vec<f64> {
        let side = cells / 32;
        let block = |bx: u32, by: u32| {
            let cells = (0..side * side).map(|i| {
                let cell = terrain
                    .grid()
                    .index(bx * side + i % side, by * side + i / side);
                f64::from(terrain.ground(cell))
            });
            cells.sum::<f64>() / f64::from(side * side)
        };
        (0..32 * 32).map(|i| block(i % 32, i / 32)).collect()
    };
    let (x, y) = (blocks(&a, 256), blocks(&b, 512));
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        x.iter().zip(&y).map(|(a, b)| f(a - mx, b - my)).sum()
    };
    let correlation = sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    assert!(correlation > 0.95, "{correlation}");
}

#[test]
fn a_hill_erodes_alike_at_any_altitude() {
    let run = |altitude: f64| {
        let after = rained_on(hill(128, altitude), PipeModel::default(), 60.0, 0.05);
        after.ledger().solids.moved
    };
    let (low, high) = (run(0.0), run(3000.0));
    assert!(low > 10.0);
    assert!((high / low - 1.0).abs() < 1e-3, "{low} against {high} m³");
}

#[test]
fn halving_the_step_halves_the_difference() {
    let run = |dt: f32| rained_on(hill(96, 0.0), PipeModel::default(), 40.0, dt);
    let (long, middle, short) = (run(0.1), run(0.05), run(0.025));
    let off = |a: &Terrain, b: &Terrain| {
        let water = a.water().iter().zip(b.water());
        let water: f64 = water.map(|(a, b)| f64::from((a - b).abs())).sum();
        let cells = 0..a.grid().cells();
        let ground = cells.map(|i| f64::from((a.ground(i) - b.ground(i)).abs()));
        (water, ground.sum::<f64>())
    };
    let (first, second) = (off(&long, &middle), off(&middle, &short));
    for (a, b) in [(first.0, second.0), (first.1, second.1)] {
        let ratio = a / b;
        assert!((1.5..3.0).contains(&ratio), "{first:?} against {second:?}");
    }
}

#[test]
fn soil_goes_before_bedrock_and_hard_rock_stays() {
    let slope = |hardness: f32, soil: f32| {
        let size = UVec2::new(96, 16);
        let heights = (0..96 * 16).map(|i| (95 - i % 96) as f32 * 0.2);
        let cells = 96 * 16;
        let terrain = Terrain::from_heights(size, 2.0, heights.collect())
            .and_then(|t| t.with_layer(Layer::Hardness, vec![hardness; cells]))
            .and_then(|t| t.with_layer(Layer::Soil, vec![soil; cells]))
            .expect("valid");
        let before: f64 = terrain.ledger().solids.bedrock;
        let settings = PipeModel {
            threshold: 1e-3,
            ..PipeModel::default()
        };
        let after = rained_on(terrain, settings, 30.0, 0.05);
        (
            before - after.ledger().solids.bedrock,
            after.ledger().solids.moved,
        )
    };
    let (soft, _) = slope(0.0, 0.0);
    let (half, _) = slope(0.5, 0.0);
    let (hard, _) = slope(1.0, 0.0);
    let (sheltered, moved) = slope(0.0, 5.0);
    assert!(soft > 0.05, "{soft}");
    assert!((0.2..0.95).contains(&(half / soft)), "{half} of {soft}");
    assert!(hard.abs() < 1e-6 * soft, "{hard}");
    assert!(sheltered.abs() < 1e-6 * moved, "{sheltered} of {moved}");
    assert!(moved > 0.05, "{moved}");
}

#[test]
fn what_dries_lets_its_load_fall() {
    let size = UVec2::new(70, 20);
    let mut terrain = Terrain::flat(size, 1.0)
        .and_then(|t| t.with_layer(Layer::Suspended, vec![0.25; 70 * 20]))
        .expect("valid");
    let mut pipes = solver(PipeModel::default(), &terrain);
    pipes.step(&mut terrain, 0.01);
    assert!(terrain.suspended().iter().all(|load| *load == 0.0));
    assert!(terrain.soil().iter().all(|soil| *soil == 0.25));
    assert_eq!(terrain.ledger().solids.drift(), 0.0);
}
