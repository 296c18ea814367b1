//! Water on steep ground runs evenly: it neither breaks into waves nor cuts
//! terraces into its bed.

use super::{clear_water, ideal_water, solver};
use bevy::math::UVec2;
use bevy_erode::prelude::*;

/// Mean of some numbers, and how far they are spread about it.
fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (square / count).sqrt())
}

/// Adds a depth of water to some cells.
fn pour(terrain: &mut Terrain, cells: &[usize], depth: f32) {
    let mut water = terrain.water().to_vec();
    for &cell in cells {
        water[cell] += depth;
    }
    terrain.set_layer(Layer::Water, water).expect("valid");
}

#[test]
fn steep_channels_run_at_normal_depth() {
    let (length, lines) = (160usize, 3usize);
    // Along rows and along columns.
    for (along_x, slope, dt) in [
        (true, 0.1, 0.1),
        (true, 0.1, 0.5),
        (true, 0.3, 0.1),
        (true, 0.3, 0.5),
        (true, 1.0, 0.1),
        (true, 1.0, 0.5),
        (false, 0.3, 0.5),
        (false, 1.0, 0.1f32),
    ] {
        let at = |k: usize, line: usize| match along_x {
            true => line * length + k,
            false => k * lines + line,
        };
        let mut bed = vec![0.0; length * lines];
        for k in 0..length {
            for line in 0..lines {
                bed[at(k, line)] = (length - 1 - k) as f32 * slope;
            }
        }
        let (open, closed) = (Border::Open, Borders::closed());
        let (size, borders) = match along_x {
            true => (
                UVec2::new(length as u32, lines as u32),
                Borders {
                    east: open,
                    ..closed
                },
            ),
            false => (
                UVec2::new(lines as u32, length as u32),
                Borders {
                    south: open,
                    ..closed
                },
            ),
        };
        let mut terrain = Terrain::from_heights(size, 1.0, bed)
            .and_then(|t| t.with_borders(borders))
            .expect("valid");
        let settings = ShallowWater {
            damping: 0.0,
            ..clear_water()
        };
        let expected = (f64::from(settings.roughness) / f64::from(slope).sqrt()).powf(0.6);
        let mut solver = solver(settings, &terrain);
        let source: Vec<usize> = (0..lines).map(|line| at(0, line)).collect();
        for _ in 0..(200.0 / dt) as u32 {
            // 1 m²/s on cells of a metre.
            pour(&mut terrain, &source, dt);
            solver.step(&mut terrain, dt);
        }
        let depths = (40..140).flat_map(|k| (0..lines).map(move |line| (k, line)));
        let depths = depths.map(|(k, line)| f64::from(terrain.water()[at(k, line)]));
        let (mean, off) = spread(&depths.collect::<Vec<_>>());
        println!("slope {slope}, dt {dt}: {mean:.4} m for {expected:.4}, spread {off:.5}");
        let case = format!("slope {slope}, dt {dt}, along rows: {along_x}");
        assert!(
            (mean / expected - 1.0).abs() < 0.02,
            "{case}: {mean} for {expected}"
        );
        assert!(off < 0.02 * mean, "{case}: {off} of {mean}");
    }
}

#[test]
fn streams_smooth_a_steep_valley() {
    let (width, height, middle) = (200usize, 31usize, 15usize);
    for slope in [0.3, 0.6f32] {
        let bed = (0..width * height).map(|i| {
            let (x, y) = (i % width, i / width);
            let noise = ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            let flank = 0.02 * (y as f32 - middle as f32).powi(2);
            (width - x) as f32 * 2.0 * slope + flank + 0.02 * (2.0 * noise - 1.0)
        });
        let size = UVec2::new(width as u32, height as u32);
        let borders = Borders {
            east: Border::Open,
            ..Borders::closed()
        };
        let mut terrain = Terrain::from_heights(size, 2.0, bed.collect())
            .and_then(|t| t.with_borders(borders))
            .expect("valid");
        let settings = ShallowWater {
            regolith_depth: 0.05,
            ..ShallowWater::default()
        };
        let mut solver = solver(settings, &terrain);
        let spring = (middle - 2..=middle + 2).flat_map(|y| (0..4).map(move |x| y * width + x));
        let spring: Vec<usize> = spring.collect();
        let dt = 0.5;
        for _ in 0..2000 {
            // 3 m³/s on twenty cells of 4 m².
            pour(&mut terrain, &spring, 3.0 * dt / 4.0 / 20.0);
            solver.step(&mut terrain, dt);
        }
        let at = |x: usize| middle * width + x;
        let depths = (60..170).map(|x| f64::from(terrain.water()[at(x)]));
        let (depth, off) = spread(&depths.collect::<Vec<_>>());
        // The bed against its mean over 21 cells.
        let ground = |x: usize| f64::from(terrain.ground(at(x)));
        let around = |x: usize| (x - 10..=x + 10).map(ground).sum::<f64>() / 21.0;
        let bends: Vec<f64> = (60..170).map(|x| ground(x) - around(x)).collect();
        let (_, rough) = spread(&bends);
        println!("slope {slope}: {depth:.4} m deep, spread {off:.5}, bed rough by {rough:.5} m");
        assert!(depth > 0.04, "slope {slope}: it runs there, {depth} m deep");
        assert!(off < 0.05 * depth, "slope {slope}: {off} of {depth}");
        assert!(rough < 0.002, "slope {slope}: {rough}");
        let ledger = terrain.ledger();
        assert!(ledger.solids.moved > 0.1, "{ledger:?}");
        assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
    }
}

#[test]
fn a_dam_break_onto_dry_ground_makes_no_ripples() {
    let length = 400usize;
    let water = (0..3 * length).map(|i| if i % length < 200 { 2.0 } else { 0.0 });
    let mut terrain = Terrain::flat(UVec2::new(length as u32, 3), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(ideal_water(), &terrain);
    for _ in 0..300 {
        solver.step(&mut terrain, 0.05);
    }
    let row = &terrain.water()[length..2 * length];
    let variation: f32 = row.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum();
    let front = row.iter().position(|depth| *depth < 0.01);
    println!("total variation {variation} m of 2 m, front at {front:?}");
    assert!(variation <= 1.02 * 2.0, "{variation}");
    // The wave has got somewhere, and keeps all water.
    assert!(row[240] > 0.01, "{}", row[240]);
    let books = terrain.ledger().water;
    assert!(books.drift_of_total().abs() < 1e-9, "{books:?}");
}
