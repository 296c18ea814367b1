//! The pipe model as published, against its oracle and by its known faults.

use crate::oracle::pipe::published::Oracle;
use bevy::{math::UVec2, tasks::TaskPoolBuilder};
use bevy_erode::models::pipe::{PipeSolver, PublishedPipe};
use bevy_erode::{parallel::Workers, prelude::*, terrain::TerrainCursor};

fn solver(settings: PublishedPipe, terrain: &Terrain) -> PipeSolver {
    let settings = PipeModel {
        published: Some(settings),
        ..PipeModel::as_published()
    };
    PipeSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Wet hills: soil here and there, ponds, and sediment in the water.
fn wet_hills(size: UVec2) -> Terrain {
    let cells = (size.x * size.y) as usize;
    let wave = |i: usize, a: f32, b: f32| {
        let (x, y) = (i % size.x as usize, i / size.x as usize);
        (a * x as f32).sin() * (b * y as f32).cos()
    };
    let layer = |scale: f32, a: f32, b: f32| -> Vec<f32> {
        (0..cells).map(|i| scale * wave(i, a, b).max(0.0)).collect()
    };
    crate::land(4, size, 2.0)
        .with_layer(Layer::Soil, layer(0.05, 0.4, 0.3))
        .and_then(|terrain| terrain.with_layer(Layer::Water, layer(0.5, 0.2, 0.25)))
        .and_then(|terrain| terrain.with_layer(Layer::Suspended, layer(0.02, 0.15, 0.2)))
        .expect("valid")
}

/// Flat ground with still water of 2 m, raised at one end.
fn tank(length: usize, raised: f32) -> Terrain {
    let surface = |i: usize| {
        let x = (i as f32 + 0.5) / length as f32;
        2.0 + raised * (core::f32::consts::PI * x).cos()
    };
    Terrain::flat(UVec2::new(length as u32, 1), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, (0..length).map(surface).collect()))
        .expect("valid")
}

/// Water alone: nothing dissolves, falls or dries.
fn clear_water() -> PublishedPipe {
    PublishedPipe {
        capacity: 0.0,
        dissolving: 0.0,
        deposition: 0.0,
        evaporation: 0.0,
        ..PublishedPipe::default()
    }
}

fn volume(layer: &[f32]) -> f64 {
    layer.iter().map(|&v| f64::from(v)).sum()
}

fn furthest(what: &str, found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "{what}");
    let off = found.iter().zip(expected);
    off.map(|(&a, &b)| (f64::from(a) - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn every_cell_follows_the_oracle() {
    // Gentle enough that a hair's difference stays one: with ten times this
    // capacity the oracle itself, started 2 µm off, ends metres away.
    let settings = PublishedPipe {
        capacity: 0.02,
        dissolving: 0.1,
        deposition: 0.1,
        ..PublishedPipe::default()
    };
    for size in [UVec2::new(70, 45), UVec2::new(33, 66)] {
        let mut terrain = wet_hills(size);
        let mut oracle = Oracle::of(&terrain);
        let mut solver = solver(settings.clone(), &terrain);
        // The step that the solver is given, to the last bit.
        let dt = 0.05f32;
        for step in 1..=100 {
            solver.step(&mut terrain, dt);
            oracle.step(&settings, dt.into());
            // Metres that a cell may be off. Elevations are near 60 m, where
            // one place is 4e-6 m; after 100 steps an oracle that starts half
            // a place off differs by 2e-4.
            let allowed = match step {
                1 => 5e-6,
                10 => 2e-5,
                100 => 5e-4,
                _ => continue,
            };
            let off = [
                furthest("bedrock", terrain.bedrock(), &oracle.bedrock),
                furthest("soil", terrain.soil(), &oracle.soil),
                furthest("water", terrain.water(), &oracle.water),
                furthest("suspended", terrain.suspended(), &oracle.suspended),
            ];
            println!("{size}, step {step}: {off:?}");
            let most = off.into_iter().fold(0.0, f64::max);
            assert!(most < allowed, "{size}, step {step}: {off:?}");
        }
        // Enough has happened to compare.
        let solids = terrain.ledger().solids;
        assert!(solids.moved > 10.0, "{solids:?}");
        let flow = terrain.flow().expect("water moves");
        let l = oracle.l;
        for (x, y) in [(5, 7), (20, 30), (size.x - 2, size.y - 2)] {
            let (i, w) = ((y * size.x + x) as usize, size.x as usize);
            let east = (oracle.f_r[i] - oracle.f_l[i + 1]) / l;
            let south = (oracle.f_t[i] - oracle.f_b[i + w]) / l;
            assert!((f64::from(flow.east()[i]) - east).abs() < 1e-3, "{x}, {y}");
            assert!(
                (f64::from(flow.south()[i]) - south).abs() < 1e-3,
                "{x}, {y}"
            );
        }
    }
}

#[test]
fn a_standing_wave_is_too_fast_by_the_root_of_two() {
    let (length, dt) = (64usize, 0.05f32);
    let settings = clear_water();
    let mut terrain = tank(length, 0.01);
    let mut oracle = Oracle::of(&terrain);
    let mut solver = solver(settings.clone(), &terrain);
    let end = |water: f64| water - 2.0;
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    let (mut last, mut last_oracle) = (0.0, 0.0);
    for step in 0..12_000 {
        solver.step(&mut terrain, dt);
        oracle.step(&settings, dt.into());
        let now = (end(terrain.water()[0].into()), end(oracle.water[0]));
        // Upward crossings of the level, between steps.
        if last < 0.0 && now.0 >= 0.0 {
            found.push(f64::from(step) - now.0 / (now.0 - last));
        }
        if last_oracle < 0.0 && now.1 >= 0.0 {
            expected.push(f64::from(step) - now.1 / (now.1 - last_oracle));
        }
        (last, last_oracle) = now;
    }
    // The first swings still fill the pipes.
    let period = |crossings: &[f64]| {
        let settled = &crossings[2..];
        (settled[settled.len() - 1] - settled[0]) / (settled.len() - 1) as f64 * f64::from(dt)
    };
    let (found, expected) = (period(&found), period(&expected));
    let dt = f64::from(dt);
    let rate = (9.81f32 as f64).sqrt() * (core::f64::consts::PI / 2.0 / length as f64).sin();
    let truth = 2.0 * core::f64::consts::PI / (2.0 / dt * (dt * rate).asin());
    println!("{found} s, oracle {expected} s, truth {truth} s");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    let ratio = found / truth;
    let expected = core::f64::consts::FRAC_1_SQRT_2;
    assert!((ratio - expected).abs() < 0.001, "{found} {truth}");
}

#[test]
fn transport_loses_sediment_and_the_ledger_says_so() {
    // A basin that nothing leaves, stirred by water that closes over a hollow.
    let size = UVec2::new(48, 40);
    let cell = |i: u32| ((i % 48) as f32 - 23.5, (i / 48) as f32 - 19.5);
    let hollow = (0..48 * 40).map(|i| {
        let (x, y) = cell(i);
        1.0 - 0.8 * (-(x * x + y * y) / 40.0).exp()
    });
    let cloud = (0..48 * 40).map(|i| {
        let (x, y) = cell(i);
        0.1 * (-((x - 6.0).powi(2) + y * y) / 60.0).exp()
    });
    let mut terrain = Terrain::flat(size, 1.0)
        .and_then(|t| t.with_layer(Layer::Water, hollow.collect()))
        .and_then(|t| t.with_layer(Layer::Suspended, cloud.collect()))
        .expect("valid");
    let before = volume(terrain.suspended());
    let mut solver = solver(clear_water(), &terrain);
    for _ in 0..400 {
        solver.step(&mut terrain, 0.05);
    }
    let ledger = terrain.ledger();
    let gone = before - volume(terrain.suspended());
    println!("{gone} of {before}; {ledger:?}");
    assert!(gone > 0.1 * before, "{gone} of {before}");
    assert!((ledger.solids.lost - gone).abs() < 1e-9 * before);
    assert!(ledger.solids.drift().abs() < 1e-9 * before, "{ledger:?}");
    assert!(ledger.water.drift_of_total().abs() < 1e-12, "{ledger:?}");
    // Water itself is only rounded.
    assert!(ledger.water.lost.abs() < 1e-6 * ledger.water.initial);
}

#[test]
fn the_ledger_balances_on_wet_hills() {
    let mut terrain = wet_hills(UVec2::new(90, 70));
    let mut solver = solver(PublishedPipe::default(), &terrain);
    for _ in 0..1000 {
        solver.step(&mut terrain, 0.05);
    }
    let ledger = terrain.ledger();
    assert!(ledger.solids.moved > 1.0, "{ledger:?}");
    assert!(ledger.solids.drift_of_total().abs() < 1e-12, "{ledger:?}");
    assert!(ledger.solids.drift_of_moved().abs() < 1e-6, "{ledger:?}");
    assert!(ledger.water.drift_of_total().abs() < 1e-12, "{ledger:?}");
    let kept = (-0.015f64 * 50.0).exp();
    let dried = ledger.water.evaporated / ledger.water.initial;
    assert!((dried - (1.0 - kept)).abs() < 1e-3, "{dried}");
    assert!(ledger.water.lost.abs() < 1e-6 * ledger.water.initial);
}

#[test]
fn a_lake_rests() {
    // Bed and level add exactly.
    let (w, h) = (50u32, 37u32);
    let bed: Vec<f32> = (0..w * h)
        .map(|i| (i * 7919 % 61) as f32 / 16.0 + 500.0)
        .collect();
    let water: Vec<f32> = bed.iter().map(|b| (502.5 - b).max(0.0)).collect();
    let mut terrain = Terrain::from_heights(UVec2::new(w, h), 2.0, bed.clone())
        .and_then(|t| t.with_layer(Layer::Water, water.clone()))
        .expect("valid");
    let settings = PublishedPipe {
        evaporation: 0.0,
        ..PublishedPipe::default()
    };
    let mut solver = solver(settings, &terrain);
    for _ in 0..2000 {
        solver.step(&mut terrain, 0.05);
    }
    assert_eq!(terrain.water(), water);
    assert_eq!(terrain.bedrock(), bed);
    let flow = terrain.flow().expect("let flow");
    assert!(flow.east().iter().chain(flow.south()).all(|&q| q == 0.0));
}

#[test]
fn altitude_does_not_matter() {
    let base = wet_hills(UVec2::new(60, 50));
    let at = |altitude: f32| {
        let bedrock = base
            .bedrock()
            .iter()
            .map(|b| (b * 1024.0).round() / 1024.0 + altitude);
        let mut terrain = Terrain::from_heights(base.size(), 2.0, bedrock.collect())
            .and_then(|t| t.with_layer(Layer::Soil, base.soil().to_vec()))
            .and_then(|t| t.with_layer(Layer::Water, base.water().to_vec()))
            .expect("valid");
        let mut solver = solver(PublishedPipe::default(), &terrain);
        for _ in 0..200 {
            solver.step(&mut terrain, 0.05);
        }
        terrain.ledger().solids.moved
    };
    let (low, high) = (at(0.0), at(3000.0));
    assert!(low > 1.0, "{low}");
    assert!((high / low - 1.0).abs() < 1e-3, "{low} {high}");
}

#[test]
fn same_bits_on_1_2_3_and_8_threads() {
    let run = |workers: Workers| {
        let mut terrain = wet_hills(UVec2::new(200, 190));
        let mut solver = solver(PublishedPipe::default(), &terrain);
        for _ in 0..20 {
            solver.step_on(workers, &mut terrain, 0.05);
        }
        let ledger = terrain.ledger();
        assert_ne!(ledger.solids.moved, 0.0);
        (terrain.state_hash(), format!("{ledger:?}"))
    };
    let alone = run(Workers::serial());
    for threads in [1, 2, 7] {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        assert_eq!(alone, run(Workers::on(&pool)), "{threads} and the caller");
    }
}

#[test]
fn a_clone_goes_on_alike_and_another_land_starts_afresh() {
    let mut terrain = wet_hills(UVec2::new(40, 30));
    let mut first = solver(PublishedPipe::default(), &terrain);
    for _ in 0..10 {
        first.step(&mut terrain, 0.05);
    }
    let (mut second, mut copy) = (first.clone(), terrain.clone());
    first.step(&mut terrain, 0.05);
    second.step(&mut copy, 0.05);
    assert_eq!(terrain.state_hash(), copy.state_hash());

    // Fluxes of the old land do not haunt the new one.
    let mut fresh = wet_hills(UVec2::new(40, 30));
    first.step(&mut fresh, 0.05);
    let mut expected = wet_hills(UVec2::new(40, 30));
    solver(PublishedPipe::default(), &expected).step(&mut expected, 0.05);
    assert_eq!(fresh.state_hash(), expected.state_hash());
}

#[test]
fn any_grid_and_any_step_stay_sound() {
    for size in [(1, 1), (1, 9), (9, 1), (2, 2), (3, 2), (65, 64), (17, 130)] {
        for dt in [0.05f32, 10.0, 1e9, f32::MAX, f32::MIN_POSITIVE] {
            let mut terrain = wet_hills(size.into());
            let mut oracle = Oracle::of(&terrain);
            let mut solver = solver(PublishedPipe::default(), &terrain);
            for dt in [dt, dt, 0.05, dt] {
                solver.step(&mut terrain, dt);
            }
            let thick = [terrain.soil(), terrain.water(), terrain.suspended()];
            for layer in thick {
                let sound = layer.iter().all(|v| v.is_finite() && *v >= 0.0);
                assert!(sound, "{size:?} by {dt}");
            }
            assert!(terrain.bedrock().iter().all(|v| v.is_finite()));
            let flow = terrain.flow().expect("let flow");
            assert!(flow.east().iter().all(|q| q.is_finite()));
            assert!(flow.south().iter().all(|q| q.is_finite()));
            let ledger = terrain.ledger();
            let off = ledger.solids.drift_of_total();
            assert!(off.abs() < 1e-9, "{size:?} by {dt}: {ledger:?}");
            let off = ledger.water.drift_of_total();
            assert!(off.abs() < 1e-9, "{size:?} by {dt}: {ledger:?}");
            if dt == 0.05 {
                for _ in 0..4 {
                    oracle.step(&PublishedPipe::default(), dt.into());
                }
                let off = furthest("water", terrain.water(), &oracle.water);
                assert!(off < 1e-5, "{size:?}: {off}");
            }
        }
    }
}

#[test]
fn steps_that_are_none_change_nothing() {
    let mut terrain = wet_hills(UVec2::new(20, 10));
    let mut solver = solver(PublishedPipe::default(), &terrain);
    let hash = terrain.state_hash();
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        solver.step(&mut terrain, dt);
    }
    assert_eq!(terrain.state_hash(), hash);
    let mut other = wet_hills(UVec2::new(10, 20));
    let hash = other.state_hash();
    solver.step(&mut other, 0.05);
    assert_eq!(other.state_hash(), hash);
}

#[test]
fn only_tiles_that_changed_are_marked() {
    // One pond on level ground in the middle of the second tile of three.
    let mut water = vec![0.0; 192 * 64];
    water[32 * 192 + 96] = 1.0;
    let mut terrain = Terrain::flat(UVec2::new(192, 64), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, water))
        .expect("valid");
    let mut cursor = TerrainCursor::at(&terrain);
    let mut solver = solver(PublishedPipe::default(), &terrain);
    for _ in 0..5 {
        solver.step(&mut terrain, 0.05);
    }
    let middle = vec![UVec2::new(1, 0)];
    let changes = cursor.changes(&terrain);
    assert_eq!(changes.ground().collect::<Vec<_>>(), middle);
    assert_eq!(changes.water().collect::<Vec<_>>(), middle);
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |published: PublishedPipe| {
        let settings = PipeModel {
            published: Some(published),
            ..PipeModel::default()
        };
        settings.check().expect_err("out of range").to_string()
    };
    let message = refused(PublishedPipe {
        dissolving: 1.5,
        ..PublishedPipe::default()
    });
    assert!(
        message.contains("PipeModel.published.dissolving"),
        "{message}"
    );
    let message = refused(PublishedPipe {
        pipe_area: f32::NAN,
        ..PublishedPipe::default()
    });
    assert!(
        message.contains("PipeModel.published.pipe_area"),
        "{message}"
    );
}
