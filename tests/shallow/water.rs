//! How the water moves.

use super::{clear_water, ideal_water, plane, solver, sum};
use crate::flooded_hills;
use bevy::math::{UVec2, Vec2};
use bevy_erode::{
    forcing::{EvaporationSolver, RainPattern, RainSolver},
    models::shallow_water::{PublishedShallowWater, ShallowWaterSolver},
};
use bevy_erode::{prelude::*, terrain::TerrainCursor};
use std::f64::consts::PI;

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
    let mut solver = solver(clear_water(), &terrain);
    let seen = TerrainCursor::at(&terrain);
    for step in 0..10_000 {
        // Any step, as long as it likes.
        let dt = [0.02, 1.0, 50.0][step % 3];
        solver.step(&mut terrain, dt);
    }
    assert_eq!(terrain.water(), water);
    let flow = terrain.flow().expect("it ran");
    assert!(flow.east().iter().chain(flow.south()).all(|q| *q == 0.0));
    let touched = seen.peek(&terrain).water().count();
    assert_eq!(touched, 0, "nothing moves, so nothing is drawn anew");
}

/// A standing wave of tiny amplitude in a closed trough, along x or along y:
/// decay per step |z|² and phase per step, measured.
fn seiche(settings: ShallowWater, along_x: bool, dt: f64) -> (f64, f64) {
    let (n, depth) = (64u32, 4.0f64);
    let phase = |x: u32| (PI * (f64::from(x) + 0.5) / f64::from(n)).cos();
    let size = if along_x { (n, 3) } else { (3, n) };
    let along = |i: u32| if along_x { i % n } else { i / 3 };
    let water = (0..n * 3).map(|i| (depth + 0.01 * phase(along(i))) as f32);
    let mut terrain = Terrain::flat(size.into(), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(settings, &terrain);
    let amplitude = |terrain: &Terrain| -> f64 {
        let cells = terrain.water().iter().zip(0u32..);
        cells
            .map(|(d, i)| (f64::from(*d) - depth) * phase(along(i)))
            .sum()
    };
    // a_{i+1} = 2·|z|·cos θ·a_i − |z|²·a_{i−1}: found by least squares.
    let mut a = vec![amplitude(&terrain)];
    for _ in 0..300 {
        solver.step(&mut terrain, dt as f32);
        a.push(amplitude(&terrain));
    }
    let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for w in a.windows(3) {
        let (y, x, z) = (w[0], w[1], w[2]);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
    }
    let determinant = xx * yy - xy * xy;
    let first = (xz * yy - yz * xy) / determinant;
    let square = -(yz * xx - xz * xy) / determinant;
    (square, (first / (2.0 * square.sqrt())).acos())
}

#[test]
fn a_seiche_is_damped_and_swings_as_theory_says() {
    for (damping, along_x, dt) in [
        (0.0, true, 0.1),
        (0.0, false, 0.1),
        (0.5, true, 0.1),
        (0.5, false, 0.4),
    ] {
        let settings = ShallowWater {
            damping,
            ..ideal_water()
        };
        let g = f64::from(settings.gravity);
        let keep = (-f64::from(damping) * dt).exp();
        // ω of the grid's own wave.
        let omega = 2.0 * (g * 4.0).sqrt() * (PI / 128.0).sin();
        let square = keep / (1.0 + (omega * dt).powi(2));
        let cosine = (1.0 + keep) / (2.0 * (keep * (1.0 + (omega * dt).powi(2))).sqrt());
        let (measured, phase) = seiche(settings, along_x, dt);
        println!(
            "|z|² {measured:.6} for {square:.6}, phase {phase:.5} for {:.5}",
            cosine.acos()
        );
        assert!(
            (measured / square - 1.0).abs() < 1e-3,
            "{measured} for {square}"
        );
        assert!((phase / cosine.acos() - 1.0).abs() < 0.01, "{phase}");
        if damping == 0.0 {
            assert!((phase / (omega * dt).atan() - 1.0).abs() < 0.01, "{phase}");
        }
    }
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
        .and_then(|t| t.with_borders(*terrain.borders()))
        .expect("valid")
}

#[test]
fn mirrored_and_turned_land_gives_the_mirrored_and_turned_result() {
    // Lines of odd length are solved from both ends alike.
    let size = UVec2::new(75, 67);
    let transposed_size = UVec2::new(size.y, size.x);
    for borders in [Borders::closed(), Borders::default()] {
        let start = flooded_hills(5, size).with_borders(borders).expect("valid");
        let run = |mut terrain: Terrain, steps: u32| {
            let mut solver = solver(ShallowWater::default(), &terrain);
            for _ in 0..steps {
                solver.step(&mut terrain, 0.05);
            }
            terrain
        };
        let plain = run(start.clone(), 100);
        for mirror in [|x: u32, y: u32| (74 - x, y), |x: u32, y: u32| (x, 66 - y)] {
            let mirrored = run(turned(&start, mirror, size), 100);
            let expected = turned(&plain, mirror, size);
            assert_eq!(expected.water(), mirrored.water());
            assert_eq!(expected.soil(), mirrored.soil());
            assert_eq!(expected.bedrock(), mirrored.bedrock());
        }
        // Turned, rows come where columns came; they take turns, so that this
        // is soon made good.
        let turn = |x: u32, y: u32| (y, x);
        let transposed = run(turned(&start, turn, transposed_size), 100);
        let expected = turned(&plain, turn, transposed_size);
        let moved = most_off(start.water(), plain.water());
        let off = most_off(expected.water(), transposed.water());
        println!("turned: off by {off} m, moved {moved} m");
        assert!(off < 0.02 * moved, "{off} of {moved}");
        assert!(plain.ledger().solids.moved > 0.1);
    }
}

fn most_off(a: &[f32], b: &[f32]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

#[test]
fn pools_keep_their_volume_to_rounding() {
    // Two basins with a ridge between them that no water passes.
    let size = UVec2::new(96, 40);
    let bed = (0..96 * 40u32).map(|i| {
        let (x, y) = (i % 96, i / 96);
        let rough = (i.wrapping_mul(2_654_435_761) >> 24) as f32 / 100.0;
        match x {
            48 => 1000.0,
            _ => (x.abs_diff(24).min(x.abs_diff(72)) + y.abs_diff(20)) as f32 * 0.3 + rough,
        }
    });
    let water = (0..96 * 40u32).map(|i| {
        if i % 96 < 12 || i % 96 == 90 {
            2.0
        } else {
            0.0
        }
    });
    let mut terrain = Terrain::from_heights(size, 1.0, bed.collect())
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut water = solver(ideal_water(), &terrain);
    // Uneven, and none on the ridge, from where it would run to either side.
    let weights = (0..96 * 40u32).map(|i| if i % 96 == 48 { 0.0 } else { (i % 7) as f32 });
    let showers = RainPattern::Map(weights.collect());
    let showers = Rain::mm_per_hour(20_000.0).with_pattern(showers);
    let mut rain = RainSolver::new(showers, terrain.grid()).expect("valid");
    let drought = Evaporation::mm_per_hour(18_000.0);
    let mut drought = EvaporationSolver::new(drought, terrain.grid()).expect("valid");
    let basins = |terrain: &Terrain| {
        let rows = terrain.water().chunks(96);
        rows.fold([0.0, 0.0], |sums: [f64; 2], row| {
            [sums[0] + sum(&row[..48]), sums[1] + sum(&row[49..])]
        })
    };
    println!("season   rained m³  evaporated m³  standing m³  drift of total");
    for step in 0..10_000 {
        // Seasons of 500 steps each.
        match step / 500 % 2 {
            0 => rain.step(&mut terrain, 0.1),
            _ => drought.step(&mut terrain, 0.1),
        }
        let before = basins(&terrain);
        // Long steps, so that many cells give more than they have.
        water.step(&mut terrain, [0.05, 0.5, 2.0][step % 3]);
        let after = basins(&terrain);
        for (before, after) in before.iter().zip(after) {
            let off = (after / before.max(1e-9) - 1.0).abs();
            assert!(off < 1e-6, "step {step}: {before} to {after}");
        }
        if step % 500 == 499 {
            let books = terrain.ledger().water;
            println!(
                "{:6} {:11.3} {:14.3} {:12.3} {:15.1e}",
                step / 500 + 1,
                books.rained,
                books.evaporated,
                books.standing,
                books.drift_of_total()
            );
        }
    }
    let books = terrain.ledger().water;
    assert!(
        books.rained > 1000.0 && books.evaporated > 1000.0,
        "{books:?}"
    );
    assert!(books.drift_of_total().abs() < 1e-9, "{books:?}");
    assert_eq!(books.lost, 0.0);
}

#[test]
fn steps_a_hundred_times_too_long_for_others_stay_bounded() {
    let start = flooded_hills(3, UVec2::new(130, 90));
    let deepest = start.water().iter().copied().fold(0.0, f32::max);
    // c·dt/l ≤ 0.7 is what explicit methods can do.
    let longest = 0.7 * 2.0 / (9.807 * deepest).sqrt();
    let highest = |t: &Terrain| {
        let cells = (0..t.grid().cells()).filter(|&i| t.water()[i] > 1e-3);
        cells
            .map(|i| t.ground(i) + t.water()[i])
            .fold(0.0, f32::max)
    };
    let top = highest(&start);
    let settings = ShallowWater {
        roughness: 0.0,
        damping: 0.001,
        ..ShallowWater::default()
    };
    let mut terrain = start.clone();
    let mut solver = solver(settings, &terrain);
    for step in 0..2000 {
        solver.step(&mut terrain, 100.0 * longest);
        assert!(terrain.water().iter().all(|d| d.is_finite() && *d >= 0.0));
        let now = highest(&terrain);
        assert!(now < 1.5 * top, "step {step}: {now} m, at first {top} m");
    }
    // Waves are damped by such steps: the lake comes to rest.
    let fastest = (0..90).flat_map(|y| (0..130).map(move |x| (x, y)));
    let fastest = fastest.map(|(x, y)| terrain.discharge(x, y).length());
    let fastest = fastest.fold(0.0, f32::max);
    println!(
        "{} s a step; fastest discharge {fastest} m²/s",
        100.0 * longest
    );
    assert!(fastest < 0.5, "{fastest}");
    let ledger = terrain.ledger();
    assert!(ledger.water.drift_of_total().abs() < 1e-9, "{ledger:?}");
    assert!(ledger.solids.drift_of_total().abs() < 1e-9, "{ledger:?}");
}

#[test]
fn rain_on_a_plane_runs_off_as_manning_says() {
    let (length, slope, rain) = (200u32, 0.02f32, 100.0f32);
    // A step of the pipe model's and one that is forty times as long.
    for dt in [0.1, 4.0f32] {
        let mut terrain = plane(UVec2::new(length, 3), slope);
        let settings = ShallowWater {
            damping: 0.0,
            ..clear_water()
        };
        let n = settings.roughness;
        let mut solver = solver(settings, &terrain);
        let mut rain_solver =
            RainSolver::new(Rain::mm_per_hour(rain), terrain.grid()).expect("valid");
        for _ in 0..(1600.0 / dt) as u32 {
            rain_solver.step(&mut terrain, dt);
            solver.step(&mut terrain, dt);
        }
        for x in [50, 100, 150] {
            // What falls upslope of the cell's center runs by.
            let discharge = (x as f32 + 0.5) * rain / 1000.0 / 3600.0;
            let expected = (discharge * n / slope.sqrt()).powf(0.6);
            let depth = terrain.water()[(length + x) as usize];
            let off = (depth / expected - 1.0).abs();
            assert!(off < 0.02, "dt {dt}, at {x}: {depth} against {expected}");
            let shown = terrain.discharge(x, 1).x;
            assert!((shown / discharge - 1.0).abs() < 0.02, "{shown}");
        }
        let water = terrain.ledger().water;
        assert!(water.left > 0.4 * water.rained, "{water:?}");
        assert!(water.drift_of_total().abs() < 1e-9);
    }
}

#[test]
fn a_sea_comes_in_and_open_borders_let_out() {
    let sea = Borders {
        west: Border::Sea { level: 2.0 },
        ..Borders::closed()
    };
    let mut terrain = Terrain::flat(UVec2::new(100, 20), 2.0)
        .and_then(|t| t.with_borders(sea))
        .expect("valid");
    let settings = ShallowWater {
        roughness: 0.1,
        ..clear_water()
    };
    let mut water = solver(settings, &terrain);
    for _ in 0..4000 {
        water.step(&mut terrain, 0.5);
    }
    let off = terrain.water().iter().map(|d| (d - 2.0).abs());
    let off = off.fold(0.0, f32::max);
    assert!(off < 0.01, "off by {off}");
    let books = terrain.ledger().water;
    assert!(books.sea_inflow > 7_900.0, "{books:?}");
    assert!(books.drift_of_total().abs() < 1e-9, "{books:?}");

    // Then the sea is gone, and the land drains on all sides.
    terrain.set_borders(Borders::default()).expect("valid");
    for _ in 0..2000 {
        water.step(&mut terrain, 0.5);
    }
    let books = terrain.ledger().water;
    assert!(books.standing < 0.1 * 8000.0, "{books:?}");
    assert!(books.drift_of_total().abs() < 1e-9, "{books:?}");
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

#[test]
fn extreme_inputs_stay_finite() {
    let size = UVec2::new(66, 70);
    let cliffs = (0..66 * 70u32).map(|i| if (i / 7) % 2 == 0 { 10_000.0 } else { 0.0 });
    let terrain = Terrain::from_heights(size, 1.0, cliffs.collect()).expect("valid");
    for settings in [
        ShallowWater::default(),
        ideal_water(),
        ShallowWater::as_published(),
    ] {
        for dt in [1e-4f32, 0.1, 60.0, 1e6] {
            let mut terrain = terrain.clone();
            let mut solver = solver(settings.clone(), &terrain);
            for step in 0..50 {
                // A million cubic metres a second on a few cells.
                let mut water = terrain.water().to_vec();
                for cell in [1000, 2000, 2001] {
                    water[cell] = (water[cell] + 1e6 * dt.min(60.0) / 3.0).min(1e8);
                }
                terrain.set_layer(Layer::Water, water).expect("valid");
                // The step may change at any time.
                solver.step(&mut terrain, if step % 7 == 3 { 1e-3 } else { dt });
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
            let mut flows = flow.east().iter().chain(flow.south());
            assert!(flows.all(|q| q.is_finite()), "dt {dt}");
            let books = terrain.ledger().water;
            // What the source's method makes is far more than there was.
            let all = books.added + books.lost.abs();
            assert!(books.drift().abs() < 1e-6 * all, "dt {dt}: {books:?}");
        }
    }
}

#[test]
fn wrong_settings_are_named() {
    let grid = *Terrain::flat(UVec2::new(4, 3), 1.0).expect("valid").grid();
    let default = ShallowWater::default;
    let published = |published: PublishedShallowWater| ShallowWater {
        published: Some(published),
        ..default()
    };
    for (bad, field) in [
        (
            ShallowWater {
                gravity: 0.0,
                ..default()
            },
            "`ShallowWater.gravity`",
        ),
        (
            ShallowWater {
                roughness: f32::NAN,
                ..default()
            },
            "`ShallowWater.roughness`",
        ),
        (
            ShallowWater {
                damping: -1.0,
                ..default()
            },
            "`ShallowWater.damping`",
        ),
        (
            ShallowWater {
                regolith_depth: 11.0,
                ..default()
            },
            "`ShallowWater.regolith_depth`",
        ),
        (
            ShallowWater {
                regolith_roughness: f32::INFINITY,
                ..default()
            },
            "`ShallowWater.regolith_roughness`",
        ),
        (
            ShallowWater {
                interval: 0.0,
                ..default()
            },
            "`ShallowWater.interval`",
        ),
        (
            ShallowWater {
                regolith_solves: 0,
                ..default()
            },
            "`ShallowWater.regolith_solves`",
        ),
        (
            ShallowWater {
                steady: -1.0,
                ..default()
            },
            "`ShallowWater.steady`",
        ),
        (
            published(PublishedShallowWater {
                water_damping: 2.0,
                ..Default::default()
            }),
            "`ShallowWater.published.water_damping`",
        ),
        (
            published(PublishedShallowWater {
                solves: 0,
                ..Default::default()
            }),
            "`ShallowWater.published.solves`",
        ),
    ] {
        let error = ShallowWaterSolver::new(bad, &grid).expect_err("impossible");
        assert!(error.to_string().contains(field), "{error}");
    }
}
