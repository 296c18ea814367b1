//! Droplets: the source literally, and our default by its promises.

use crate::{eroded, hills, oracle};
use bevy::math::{UVec2, Vec3};
use bevy_erode::prelude::*;
use bevy_erode::{
    models::droplet::{DropletSolver, PublishedDroplets},
    terrain::landform::TiltedPlane,
};

fn published_params(settings: &PublishedDroplets) -> oracle::droplets::Params {
    oracle::droplets::Params {
        time_step: settings.time_step.into(),
        height_scale: settings.height_scale.into(),
        density: settings.density.into(),
        friction: settings.friction.into(),
        deposition_rate: settings.deposition_rate.into(),
        evaporation_rate: settings.evaporation_rate.into(),
        min_water: settings.min_water.into(),
    }
}

fn solver(settings: Droplets, terrain: &Terrain) -> DropletSolver {
    DropletSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Runs the same drops through the crate and the oracle and returns both
/// changes of height in metres.
fn against_oracle(drops: &[Vec3]) -> (Vec<f64>, Vec<f64>) {
    let mut terrain = hills(3);
    let before = terrain.ground_heights();
    let settings = Droplets::as_published();
    let published = settings.published.expect("published settings");
    let scale = f64::from(published.height_scale) * f64::from(terrain.cell_size());
    let mut heights: Vec<f64> = before.iter().map(|&h| f64::from(h) / scale).collect();
    let size = (terrain.size().x.into(), terrain.size().y.into());
    for drop in drops {
        let at = terrain.grid().world_to_grid(*drop) + 0.5;
        let params = published_params(&published);
        let at = (at.x.into(), at.y.into());
        oracle::droplets::simulate_droplet(&mut heights, size, at, &params);
    }
    solver(settings, &terrain).release(&mut terrain, drops);
    let ours = (0..before.len()).map(|i| f64::from(terrain.ground(i)) - f64::from(before[i]));
    let theirs = heights.iter().zip(&before);
    let theirs = theirs.map(|(new, old)| new * scale - f64::from(*old));
    (ours.collect(), theirs.collect())
}

#[test]
fn published_drop_follows_the_oracle() {
    for (x, z) in [(0.5, 0.7), (-70.3, 40.1), (90.9, -60.2), (33.3, 12.1)] {
        let (ours, theirs) = against_oracle(&[Vec3::new(x, 0.0, z)]);
        let most = theirs.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(
            most > 1e-3,
            "the drop at ({x}, {z}) must do something: {most}"
        );
        for (cell, (our, their)) in ours.iter().zip(&theirs).enumerate() {
            let off = (our - their).abs();
            assert!(
                off < 2e-5 + 1e-3 * most,
                "cell {cell}: {our} against {their}"
            );
        }
    }
}

#[test]
fn published_shower_erodes_as_much_as_the_oracle() {
    let drops: Vec<Vec3> = (0..2000)
        .map(|i| {
            let (u, v) = (
                (i as f32 * 0.754_877).fract(),
                (i as f32 * 0.569_84).fract(),
            );
            Vec3::new((u - 0.5) * 240.0, 0.0, (v - 0.5) * 180.0)
        })
        .collect();
    let (ours, theirs) = against_oracle(&drops);
    let cut = |changes: &[f64]| changes.iter().map(|c| (-c).max(0.0)).sum::<f64>();
    let ratio = cut(&ours) / cut(&theirs);
    // Single drops diverge once two paths differ by a cell; what they do together does not.
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
}

#[test]
fn published_method_loses_mass_and_the_ledger_says_so() {
    let mut terrain = hills(4);
    solver(Droplets::as_published(), &terrain).rain(&mut terrain, 5000);
    let solids = terrain.ledger().solids;
    let lost = solids.lost / solids.moved;
    assert!(lost > 0.005, "the source's fault is missing: {lost}");
    assert!(solids.drift_of_moved().abs() < 1e-4, "{solids:?}");
    assert!(terrain.soil().iter().any(|&s| s > 0.0), "deposits are soil");
}

#[test]
fn nothing_is_lost_over_200_000_drops() {
    let mut terrain = hills(5);
    let mut solver = solver(Droplets::seeded(9).with_streams(), &terrain);
    solver.rain(&mut terrain, 200_000);
    let solids = terrain.ledger().solids;
    assert!(solids.moved > 1000.0, "{solids:?}");
    assert_eq!(solids.lost, 0.0);
    assert!(solids.drift_of_total().abs() < 1e-6, "{solids:?}");
    assert!(solids.drift_of_moved().abs() < 1e-4, "{solids:?}");
}

#[test]
fn a_hill_erodes_alike_at_any_altitude() {
    // Heights that add exactly to 3000 m in f32.
    let base = hills(6).ground_heights();
    let exact: Vec<f32> = base.iter().map(|h| (h * 1024.0).round() / 1024.0).collect();
    let volume_at = |altitude: f32| {
        let heights: Vec<f32> = exact.iter().map(|h| h + altitude).collect();
        let mut terrain =
            Terrain::from_heights(UVec2::new(128, 96), 2.0, heights.clone()).expect("valid");
        solver(Droplets::seeded(1), &terrain).rain(&mut terrain, 20_000);
        let ledger = terrain.ledger().solids;
        (ledger.moved, eroded(&heights, &terrain))
    };
    let (low, high) = (volume_at(0.0), volume_at(3000.0));
    assert!(low.0 > 100.0);
    assert!((high.0 / low.0 - 1.0).abs() < 1e-3, "{low:?} {high:?}");
    assert!((high.1 / low.1 - 1.0).abs() < 1e-3, "{low:?} {high:?}");
}

#[test]
fn resolution_does_not_change_the_landscape() {
    let ratio = coarse_to_fine(8);
    assert!((ratio - 1.0).abs() < 0.10, "eroded volume: {ratio}");
}

#[test]
fn resolution_changes_no_landscape_on_the_whole() {
    // Single lands may be a little farther off.
    let ratios = [8, 21, 34].map(coarse_to_fine);
    let mean = ratios.iter().sum::<f64>() / 3.0;
    assert!((mean - 1.0).abs() < 0.10, "eroded volumes: {ratios:?}");
}

/// How many times more 256² cells lose than 512² of the same land, of which both
/// must come out alike.
fn coarse_to_fine(seed: u32) -> f64 {
    let run = |cells: u32| {
        let shape = Fbm::seeded(seed)
            .with_feature_size(150.0)
            .with_height(60.0)
            .with_octaves(8);
        let mut terrain =
            Terrain::generate(&shape, UVec2::splat(cells), 512.0 / cells as f32).expect("valid");
        let before = terrain.ground_heights();
        let drops = (0.6 * 512.0f64 * 512.0) as u64;
        let settings = Droplets {
            max_steps: 2048,
            ..Droplets::seeded(2).with_streams()
        };
        solver(settings, &terrain).rain(&mut terrain, drops);
        (eroded(&before, &terrain), terrain)
    };
    let (coarse_volume, coarse) = run(256);
    let (fine_volume, fine) = run(512);
    // Hypsometry: the land's heights, sorted, at the same quantiles.
    let sorted = |terrain: &Terrain| {
        let mut heights = terrain.ground_heights();
        heights.sort_by(f32::total_cmp);
        heights
    };
    let (a, b) = (sorted(&coarse), sorted(&fine));
    let relief = b[b.len() - 1] - b[0];
    for quantile in [0.05, 0.25, 0.5, 0.75, 0.95] {
        let at = |heights: &[f32]| heights[(quantile * (heights.len() - 1) as f64) as usize];
        let off = (at(&a) - at(&b)).abs() / relief;
        assert!(off < 0.02, "quantile {quantile}: {off}");
    }

    // Correlation after averaging over blocks of 8 coarse cells.
    let blocks = |terrain: &Terrain, block: usize| {
        let width = terrain.grid().width();
        let mut sums = vec![0.0f64; 32 * 32];
        for (i, h) in terrain.ground_heights().iter().enumerate() {
            sums[i / width / block * 32 + i % width / block] += f64::from(*h);
        }
        sums
    };
    let correlation = correlation(&blocks(&coarse, 8), &blocks(&fine, 16));
    assert!(correlation > 0.95, "{correlation}");
    coarse_volume / fine_volume
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let dot = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum()
    };
    dot(&|x, y| x * y) / (dot(&|x, _| x * x) * dot(&|_, y| y * y)).sqrt()
}

#[test]
fn soil_goes_before_bedrock_and_hard_rock_stays() {
    let cut = |terrain: Terrain| {
        let mut terrain = terrain;
        let before = terrain.ground_heights();
        solver(Droplets::seeded(3), &terrain).rain(&mut terrain, 5_000);
        eroded(&before, &terrain)
    };
    let cells = hills(7).grid().cells();
    let bare = cut(hills(7));
    let soft = cut(hills(7).with_soil_depth(5.0).expect("valid"));
    let hard = cut(hills(7)
        .with_layer(Layer::Hardness, vec![1.0; cells])
        .expect("valid"));
    assert!(soft > 1.1 * bare, "{soft} {bare}");
    assert_eq!(hard, 0.0);
}

#[test]
fn a_hard_wall_stands_in_soft_ground() {
    // Walls three cells wide across a slope, and a brush far wider.
    let slope = TiltedPlane {
        slope: 0.4,
        downhill: 90.0,
        base: 50.0,
    };
    let hard = |i: usize| i / 96 % 24 < 3;
    let hardness = (0..96 * 96).map(|i| if hard(i) { 1.0 } else { 0.0 });
    let mut terrain = Terrain::generate(&slope, UVec2::splat(96), 1.0)
        .and_then(|terrain| terrain.with_layer(Layer::Hardness, hardness.collect()))
        .expect("valid");
    let before = terrain.bedrock().to_vec();
    solver(Droplets::seeded(2), &terrain).rain(&mut terrain, 20_000);
    let cut = |walls: bool| {
        let cells = (0..96 * 96).filter(|&i| hard(i) == walls);
        let cut: f32 = cells.map(|i| before[i] - terrain.bedrock()[i]).sum();
        f64::from(cut)
    };
    assert!(cut(false) > 100.0, "{}", cut(false));
    assert!(
        cut(true) < 0.01 * cut(false),
        "{} {}",
        cut(true),
        cut(false)
    );
}

#[test]
fn drops_end_in_standing_water_and_leave_it_as_it_is() {
    let mut terrain = Terrain::generate(
        &TiltedPlane {
            slope: 0.3,
            ..TiltedPlane::default()
        },
        UVec2::new(64, 64),
        2.0,
    )
    .expect("valid");
    // The lower half stands under water.
    let water: Vec<f32> = (0..64 * 64)
        .map(|i| if i / 64 >= 40 { 1.0 } else { 0.0 })
        .collect();
    terrain
        .set_layer(Layer::Water, water.clone())
        .expect("valid");
    solver(Droplets::seeded(1), &terrain).rain(&mut terrain, 4_000);
    assert_eq!(terrain.water(), water);
    let deposit = |rows: core::ops::Range<usize>| -> f32 {
        terrain.soil()[rows.start * 64..rows.end * 64].iter().sum()
    };
    assert!(deposit(36..44) > 0.0, "a delta grows at the shore");
    assert_eq!(deposit(48..64), 0.0, "nothing is laid down far out");
    let tallest = terrain.soil().iter().copied().fold(0.0, f32::max);
    assert!(tallest < 4.0, "no heap at the shore: {tallest} m");
}

#[test]
fn streams_fill_or_breach_closed_hollows() {
    let shape = Island::new(Ridged::seeded(7).with_feature_size(300.0), 7);
    let mut terrain = Terrain::generate(&shape, UVec2::splat(256), 4.0).expect("valid");
    let (_, before) = hollows(&terrain);
    let settings = Droplets {
        volume: 20.0,
        ..Droplets::seeded(7)
    };
    let mut without = terrain.clone();
    solver(settings.clone(), &without).rain(&mut without, 200_000);
    solver(settings.with_streams(), &terrain).rain(&mut terrain, 200_000);
    let ((_, without), (_, after)) = (hollows(&without), hollows(&terrain));
    assert!(after < 0.2 * before, "hollows hold {after} of {before} m³");
    assert!(
        after < without,
        "{after} m³ with streams, {without} m³ without"
    );
}

#[test]
fn no_spikes_and_no_pits() {
    for settings in [Droplets::seeded(5), Droplets::seeded(5).with_streams()] {
        let mut terrain =
            Terrain::generate(&Ridged::seeded(5), UVec2::splat(192), 4.0).expect("valid");
        let before = terrain.ground_heights();
        solver(settings, &terrain).rain(&mut terrain, 150_000);
        let (spikes, pits) = lone_cells(&before, &terrain);
        assert!(eroded(&before, &terrain) > 1e5, "there was erosion");
        assert!(spikes == 0 && pits == 0, "{spikes} spikes and {pits} pits");
    }
}

/// Cells that were raised above, or cut below, all eight neighbors by a
/// quarter of their size.
fn lone_cells(before: &[f32], terrain: &Terrain) -> (usize, usize) {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let ground = terrain.ground_heights();
    let threshold = 0.25 * terrain.cell_size();
    let (mut spikes, mut pits) = (0, 0);
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let around = (0..9).filter(|&i| i != 4).map(|i| {
                let (nx, ny) = (x + i % 3 - 1, y + i / 3 - 1);
                ground[ny * width + nx]
            });
            let (low, high) = around.fold((f32::MAX, f32::MIN), |(low, high), h| {
                (low.min(h), high.max(h))
            });
            let (here, old) = (ground[y * width + x], before[y * width + x]);
            spikes += usize::from(here > high + threshold && here > old);
            pits += usize::from(here < low - threshold && here < old);
        }
    }
    (spikes, pits)
}

/// Priority flood: the level of the water if every hollow stood full.
fn flood(terrain: &Terrain) -> Vec<f32> {
    use std::{cmp::Reverse, collections::BinaryHeap};
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let ground = terrain.ground_heights();
    let key = |h: f32| (f64::from(h) * 1e6) as i64;
    let mut level = vec![f32::INFINITY; ground.len()];
    let mut front = BinaryHeap::new();
    for i in 0..ground.len() {
        let (x, y) = (i % width, i / width);
        if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
            level[i] = ground[i];
            front.push(Reverse((key(ground[i]), i)));
        }
    }
    while let Some(Reverse((_, i))) = front.pop() {
        let (x, y) = (i % width, i / width);
        for ny in y.saturating_sub(1)..=(y + 1).min(height - 1) {
            for nx in x.saturating_sub(1)..=(x + 1).min(width - 1) {
                let n = ny * width + nx;
                if level[n] == f32::INFINITY {
                    level[n] = ground[n].max(level[i]);
                    front.push(Reverse((key(level[n]), n)));
                }
            }
        }
    }
    level
}

/// Cells and volume (m³) of closed hollows.
fn hollows(terrain: &Terrain) -> (usize, f64) {
    let level = flood(terrain);
    let depth = level
        .iter()
        .enumerate()
        .map(|(i, l)| f64::from(l - terrain.ground(i)));
    let deep: Vec<f64> = depth.filter(|&d| d > 0.05).collect();
    (
        deep.len(),
        deep.iter().sum::<f64>() * terrain.grid().cell_area(),
    )
}

#[test]
fn rate_times_time_is_the_number_of_drops() {
    // Steps of any length release the same drops in the end.
    let run = |steps: u32| {
        let mut terrain = hills(9);
        let mut solver = solver(Droplets::seeded(4), &terrain);
        for _ in 0..steps {
            solver.step(&mut terrain, 1.0 / steps as f32);
        }
        solver.released()
    };
    let expected = (128.0 * 96.0 * 4.0 * Droplets::default().rate) as i64;
    for steps in [1, 7, 64] {
        assert!((run(steps) as i64 - expected).abs() <= 1, "{steps}");
    }
}
