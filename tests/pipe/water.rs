//! Water alone: rest, waves, floods, sheets, borders.

use super::{clear_water, ideal_water, solver};
use crate::{flooded_hills, oracle};
use bevy::math::{UVec2, Vec2};
use bevy_erode::{forcing::RainSolver, models::pipe::PipeSolver};
use bevy_erode::{prelude::*, terrain::TerrainCursor};

#[test]
fn follows_the_oracle_cell_by_cell() {
    let lands = [
        (UVec2::new(70, 67), false),
        (UVec2::new(67, 130), true),
        // So high that bands are two tiles high, and the last one is lower.
        (UVec2::new(66, 1100), true),
    ];
    for (size, hard) in lands {
        let mut terrain = flooded_hills(3, size);
        let cells = terrain.grid().cells();
        if hard {
            let hardness = (0..cells).map(|i| (i % 7) as f32 / 7.0);
            terrain = terrain
                .with_layer(Layer::Hardness, hardness.collect())
                .and_then(|t| t.with_layer(Layer::Soil, vec![0.01; cells]))
                .expect("valid");
        }
        let settings = PipeModel {
            max_substeps: 1,
            ..PipeModel::default()
        };
        let mut oracle = oracle::pipe::default::Oracle::of(&terrain);
        let mut solver = solver(settings.clone(), &terrain);
        let dt = 0.02;
        for step in 1..=100 {
            solver.step(&mut terrain, dt);
            assert_eq!(solver.time_lost(), 0.0);
            oracle.step(&settings, f64::from(dt));
            if ![1, 10, 100].contains(&step) {
                continue;
            }
            let off = |ours: &[f32], theirs: &[f64]| {
                let off = ours.iter().zip(theirs);
                let off = off.map(|(a, b)| (f64::from(*a) - b).abs());
                off.fold(0.0, f64::max)
            };
            let worst = [
                off(terrain.water(), &oracle.water),
                off(terrain.suspended(), &oracle.suspended),
                off(terrain.soil(), &oracle.soil),
                off(terrain.bedrock(), &oracle.bedrock),
            ];
            // Rounding at the shore decides when a film starts to flow.
            let bar = 2e-4 * f64::from(step).sqrt();
            assert!(worst.iter().all(|w| *w < bar), "step {step}: {worst:?}");
        }
        assert!(terrain.ledger().solids.moved > 1.0);
    }
}

#[test]
fn a_lake_at_rest_stays_at_rest() {
    // Beds and levels of eighths add exactly.
    let size = UVec2::new(70, 66);
    let bed: Vec<f32> = (0..70 * 66u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32 / 8.0)
        .collect();
    let water: Vec<f32> = bed.iter().map(|z| (20.0 - z).max(0.0)).collect();
    let mut terrain = Terrain::from_heights(size, 2.0, bed)
        .and_then(|t| t.with_layer(Layer::Water, water.clone()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(PipeModel::default(), &terrain);
    let ground = terrain.ground_heights();
    for _ in 0..10_000 {
        solver.step(&mut terrain, 0.02);
    }
    assert_eq!(terrain.water(), water);
    assert_eq!(terrain.ground_heights(), ground);
    let flow = terrain.flow().expect("it ran");
    assert!(flow.east().iter().chain(flow.south()).all(|q| *q == 0.0));
}

/// Reads a terrain's layers at mirrored or turned places.
fn turned(terrain: &Terrain, turn: impl Fn(u32, u32) -> (u32, u32), size: UVec2) -> Terrain {
    let layer = |values: &[f32]| -> Vec<f32> {
        let cells = (0..size.y).flat_map(|y| (0..size.x).map(move |x| (x, y)));
        let cells = cells.map(|(x, y)| {
            let (x, y) = turn(x, y);
            values[terrain.grid().index(x, y)]
        });
        cells.collect()
    };
    Terrain::from_heights(size, terrain.cell_size(), layer(terrain.bedrock()))
        .and_then(|t| t.with_layer(Layer::Soil, layer(terrain.soil())))
        .and_then(|t| t.with_layer(Layer::Water, layer(terrain.water())))
        .and_then(|t| t.with_layer(Layer::Suspended, layer(terrain.suspended())))
        .and_then(|t| t.with_borders(*terrain.borders()))
        .expect("valid")
}

#[test]
fn mirrored_and_turned_land_gives_the_mirrored_and_turned_result() {
    let size = UVec2::new(75, 67);
    for borders in [Borders::closed(), Borders::default()] {
        let start = flooded_hills(5, size).with_borders(borders).expect("valid");
        let run = |mut terrain: Terrain| {
            let mut solver = solver(PipeModel::default(), &terrain);
            for _ in 0..100 {
                solver.step(&mut terrain, 0.05);
            }
            terrain
        };
        let plain = run(start.clone());
        let mirror = |x: u32, y: u32| (size.x - 1 - x, y);
        let turn = |x: u32, y: u32| (y, x);
        let mirrored = run(turned(&start, mirror, size));
        let transposed = run(turned(&start, turn, UVec2::new(size.y, size.x)));
        let same = |a: &Terrain, b: &Terrain| {
            a.water() == b.water()
                && a.soil() == b.soil()
                && a.bedrock() == b.bedrock()
                && a.suspended() == b.suspended()
        };
        assert!(same(&turned(&plain, mirror, size), &mirrored));
        assert!(same(
            &turned(&plain, turn, UVec2::new(size.y, size.x)),
            &transposed
        ));
        assert!(plain.ledger().solids.moved > 1.0);
    }
}

#[test]
fn a_seiche_has_the_period_of_theory() {
    // One standing wave of tiny amplitude in a closed trough.
    let (n, l, depth, dt) = (64u32, 1.0f64, 4.0f64, 0.02f64);
    let wave = |x: u32| {
        let phase = std::f64::consts::PI * (f64::from(x) + 0.5) / f64::from(n);
        (depth + 1e-3 * phase.cos()) as f32
    };
    let water = (0..n * 2).map(|i| wave(i % n));
    let mut terrain = Terrain::flat(UVec2::new(n, 2), l as f32)
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(ideal_water(), &terrain);
    // The wave's amplitude, by projection on its shape, step by step.
    let amplitude = |terrain: &Terrain| {
        (0..n).fold(0.0, |sum, x| {
            let phase = std::f64::consts::PI * (f64::from(x) + 0.5) / f64::from(n);
            sum + (f64::from(terrain.water()[x as usize]) - depth) * phase.cos()
        })
    };
    let mut crossings = Vec::new();
    let mut last = amplitude(&terrain);
    for step in 1..=12_000u32 {
        solver.step(&mut terrain, dt as f32);
        let now = amplitude(&terrain);
        if (last > 0.0) != (now > 0.0) {
            crossings.push(f64::from(step) - now / (now - last));
        }
        last = now;
    }
    let swings = (crossings.len() - 1) as f64;
    let half_period = (crossings[crossings.len() - 1] - crossings[0]) / swings * dt;
    let omega = std::f64::consts::PI / half_period;
    let k = std::f64::consts::PI / (f64::from(n) * l);
    // sin(ω·dt/2) = dt/2·2·√(g·A/l³)·sin(k·l/2), A = depth·l.
    let g = f64::from(ideal_water().gravity);
    let expected = 2.0 / dt * (dt * (g * depth / (l * l)).sqrt() * (k * l / 2.0).sin()).asin();
    let off = (omega / expected - 1.0).abs();
    assert!(swings > 20.0);
    assert!(off < 1e-4, "{omega} against {expected}: off by {off}");
}

/// Relative error of a dam break on so many cells, against Stoker's solution.
fn dam_break_error(n: u32) -> f64 {
    let l = 10.0 / n as f32;
    let water = (0..n * 2).map(|i| if i % n < n / 2 { 0.005 } else { 0.001 });
    let mut terrain = Terrain::flat(UVec2::new(n, 2), l)
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(ideal_water(), &terrain);
    for _ in 0..600 {
        solver.step(&mut terrain, 0.01);
    }
    // Stoker's solution for these depths at t = 6 s.
    let (g, t, x0, left, right): (f64, f64, f64, f64, f64) = (9.81, 6.0, 5.0, 0.005, 0.001);
    let (middle, shock) = (0.002_539_4, 6.2598);
    let speed = 2.0 * ((g * left).sqrt() - (g * middle).sqrt());
    let exact = |x: f64| {
        let tail = x0 - t * (g * left).sqrt();
        let head = x0 + t * (speed - (g * middle).sqrt());
        if x < tail {
            left
        } else if x < head {
            let c = 2.0 / 3.0 * ((g * left).sqrt() - (x - x0) / (2.0 * t));
            c * c / g
        } else if x < shock {
            middle
        } else {
            right
        }
    };
    let (mut off, mut total) = (0.0, 0.0);
    for x in 0..n {
        let expected = exact((f64::from(x) + 0.5) * f64::from(l));
        off += (f64::from(terrain.water()[x as usize]) - expected).abs();
        total += expected;
    }
    off / total
}

#[test]
fn a_dam_breaks_like_stokers() {
    let (coarse, fine) = (dam_break_error(100), dam_break_error(400));
    println!("relative L1 error {coarse:.4} on 100 cells, {fine:.4} on 400");
    assert!(coarse < 0.08, "{coarse}");
    // It converges: a quarter of the cell, less than half the error.
    assert!(fine < 0.03, "{fine}");
}

/// A plane of 1 m cells that falls by `slope` towards +X, walls at its sides.
fn plane(size: UVec2, slope: f32) -> Terrain {
    let heights = (0..size.x * size.y).map(|i| (size.x - 1 - i % size.x) as f32 * slope);
    Terrain::from_heights(size, 1.0, heights.collect())
        .and_then(|t| {
            t.with_borders(Borders {
                east: Border::Open,
                ..Borders::closed()
            })
        })
        .expect("valid")
}

#[test]
fn rain_on_a_plane_runs_off_as_manning_says() {
    let (length, slope, rain) = (200u32, 0.02f32, 100.0f32);
    let mut terrain = plane(UVec2::new(length, 3), slope);
    let settings = clear_water();
    let n = settings.roughness;
    let mut solver = solver(settings, &terrain);
    let mut rain_solver = RainSolver::new(Rain::mm_per_hour(rain), terrain.grid()).expect("valid");
    for _ in 0..12_000 {
        rain_solver.step(&mut terrain, 0.1);
        solver.step(&mut terrain, 0.1);
    }
    for x in [50, 100, 150] {
        // What falls upslope of the cell's center runs by.
        let discharge = (x as f32 + 0.5) * rain / 1000.0 / 3600.0;
        let expected = (discharge * n / slope.sqrt()).powf(0.6);
        let depth = terrain.water()[(length + x) as usize];
        let off = (depth / expected - 1.0).abs();
        assert!(off < 0.02, "at {x}: {depth} against {expected}");
    }
    let water = terrain.ledger().water;
    assert!(water.left > 0.9 * water.rained * 0.5);
    assert!(water.drift_of_total().abs() < 1e-6);
}

#[test]
fn water_and_solids_stay_in_a_closed_basin() {
    let mut terrain = flooded_hills(9, UVec2::new(96, 80));
    let mut solver = solver(PipeModel::default(), &terrain);
    for _ in 0..10_000 {
        solver.step(&mut terrain, 0.03);
    }
    let ledger = terrain.ledger();
    assert!(ledger.solids.moved > 100.0);
    assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
    assert!(ledger.solids.drift_of_total().abs() < 1e-6, "{ledger:?}");
    assert!(ledger.solids.drift_of_moved().abs() < 1e-4, "{ledger:?}");
}

#[test]
fn a_sea_comes_in_and_open_borders_let_out() {
    // A sea two metres above a flat land floods it to its level.
    let sea = Borders {
        west: Border::Sea { level: 2.0 },
        ..Borders::closed()
    };
    let mut terrain = Terrain::flat(UVec2::new(100, 20), 2.0)
        .and_then(|t| t.with_borders(sea))
        .expect("valid");
    // So rough that the waves of the flood die away.
    let settings = PipeModel {
        roughness: 0.5,
        ..clear_water()
    };
    let mut pipes = solver(settings, &terrain);
    for _ in 0..20_000 {
        pipes.step(&mut terrain, 0.1);
    }
    let off = terrain.water().iter().map(|d| (d - 2.0).abs());
    let off = off.fold(0.0, f32::max);
    assert!(off < 0.01, "off by {off}");
    let water = terrain.ledger().water;
    assert!(water.sea_inflow > 7_900.0, "{water:?}");
    assert!(water.drift_of_total().abs() < 1e-6, "{water:?}");

    // Then the sea is gone, and the land drains on all sides.
    terrain.set_borders(Borders::default()).expect("valid");
    for _ in 0..10_000 {
        pipes.step(&mut terrain, 0.1);
    }
    let water = terrain.ledger().water;
    assert!(water.standing < 0.1 * 8000.0, "{water:?}");
    assert!(water.drift_of_total().abs() < 1e-6, "{water:?}");
}

#[test]
fn dry_land_is_left_out_without_a_difference() {
    // The same pond in the corner of a large land and alone.
    let pond = |size: UVec2| {
        let shape = Fbm::seeded(4).with_feature_size(60.0).with_height(20.0);
        let whole = Terrain::generate(&shape, UVec2::new(320, 256), 2.0).expect("valid");
        let cut = |values: &[f32]| -> Vec<f32> {
            let rows = values.chunks(320).cycle().take(size.y as usize);
            rows.flat_map(|row| &row[..size.x as usize])
                .copied()
                .collect()
        };
        let bed = cut(whole.bedrock());
        let water = (0..size.x * size.y).map(|i| {
            let (x, y) = (i % size.x, i / size.x);
            if (70..100).contains(&x) && (70..100).contains(&y) {
                1.0
            } else {
                0.0
            }
        });
        Terrain::from_heights(size, 2.0, bed)
            .and_then(|t| t.with_layer(Layer::Water, water.collect()))
            .expect("valid")
    };
    let run = |size: UVec2| {
        let mut terrain = pond(size);
        let seen = TerrainCursor::at(&terrain);
        let mut solver = solver(PipeModel::default(), &terrain);
        for _ in 0..400 {
            solver.step(&mut terrain, 0.05);
        }
        (terrain, seen)
    };
    // The large one is so high that its bands are two tiles high.
    let (small, _) = run(UVec2::new(192, 192));
    let (large, seen) = run(UVec2::new(320, 1100));
    assert_eq!(small.ledger().water.left, 0.0, "the pond stays inside");
    for y in 0..192 {
        for x in 0..192 {
            let (a, b) = (small.grid().index(x, y), large.grid().index(x, y));
            let off = (small.water()[a] - large.water()[b]).abs();
            assert!(off < 1e-5, "{x}, {y}: off by {off}");
        }
    }
    let mut changed = seen.peek(&large).water();
    let far = changed.any(|t| t.x == 4 || t.y > 3);
    assert!(!far, "tiles without water are not touched");
}

#[test]
fn water_that_is_taken_away_leaves_no_flow_behind() {
    let mut terrain = plane(UVec2::new(200, 130), 0.05);
    let cells = terrain.grid().cells();
    let fill = |depth: f32| vec![depth; cells];
    terrain.set_layer(Layer::Water, fill(0.5)).expect("valid");
    let mut pipes = solver(clear_water(), &terrain);
    for _ in 0..50 {
        pipes.step(&mut terrain, 0.05);
    }
    assert!(terrain.discharge(100, 65).length() > 0.1, "it flows");
    terrain.set_layer(Layer::Water, fill(0.0)).expect("valid");
    pipes.step(&mut terrain, 0.05);
    for y in 0..130 {
        for x in 0..200 {
            assert_eq!(terrain.discharge(x, y), Vec2::ZERO, "{x}, {y}");
        }
    }
}

#[test]
fn extreme_inputs_stay_finite() {
    let size = UVec2::new(66, 70);
    let cliffs = (0..66 * 70u32).map(|i| if (i / 7) % 2 == 0 { 10_000.0 } else { 0.0 });
    let terrain = Terrain::from_heights(size, 1.0, cliffs.collect()).expect("valid");
    for dt in [1e-4f32, 0.1, 60.0, 1e6] {
        let mut terrain = terrain.clone();
        let mut pipes = solver(PipeModel::default(), &terrain);
        for _ in 0..50 {
            // A million cubic metres a second on a few cells.
            let mut water = terrain.water().to_vec();
            for cell in [1000, 2000, 2001] {
                water[cell] = (water[cell] + 1e6 * dt.min(60.0) / 3.0).min(1e8);
            }
            terrain.set_layer(Layer::Water, water).expect("valid");
            pipes.step(&mut terrain, dt);
        }
        let layers = [
            terrain.bedrock(),
            terrain.soil(),
            terrain.water(),
            terrain.suspended(),
        ];
        for layer in layers {
            assert!(layer.iter().all(|v| v.is_finite()), "dt {dt}");
        }
        assert!(layers[1..].iter().all(|l| l.iter().all(|v| *v >= 0.0)));
        let flow = terrain.flow().expect("it ran");
        assert!(
            flow.east()
                .iter()
                .chain(flow.south())
                .all(|q| q.is_finite())
        );
        // A minute on deep water needs more parts than are allowed.
        assert!(dt < 1.0 || pipes.time_lost() > 0.0);
        assert!(terrain.ledger().water.drift_of_total().abs() < 1e-6);
    }
    for bad in [
        PipeModel {
            gravity: 0.0,
            ..PipeModel::default()
        },
        PipeModel {
            roughness: f32::NAN,
            ..PipeModel::default()
        },
        PipeModel {
            max_substeps: 0,
            ..PipeModel::default()
        },
    ] {
        let error = PipeSolver::new(bad, terrain.grid()).expect_err("impossible");
        assert!(error.to_string().contains("PipeModel."));
    }
}

#[test]
fn velocity_points_downstream() {
    let mut terrain = plane(UVec2::new(80, 20), 0.05);
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Water, vec![0.5; cells])
        .expect("valid");
    let mut solver = solver(clear_water(), &terrain);
    for _ in 0..100 {
        solver.step(&mut terrain, 0.05);
    }
    let velocity = terrain.velocity(60, 10);
    assert!(velocity.x > 1.0 && velocity.y.abs() < 1e-3, "{velocity}");
    assert_eq!(terrain.velocity(80, 10), Vec2::ZERO, "outside the grid");
}
