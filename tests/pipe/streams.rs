//! Streams stay even: no roll waves on steep ground, whatever the direction.
//! (`src/models/pipe/channel_tests.rs` has the whole table of slopes, depths and
//! cells.)

use super::{clear_water, solver};
use bevy::math::{UVec2, Vec2};
use bevy_erode::{forcing::RainSolver, prelude::*};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

/// A plane that falls by `slope` in a direction, with noise of so many metres on
/// it. Water leaves on all sides.
fn rough_plane(size: UVec2, cell_size: f32, slope: f32, direction: Vec2, noise: f32) -> Terrain {
    let mut random = Pcg32::seed_from_u64(7);
    let heights = (0..size.x * size.y).map(|i| {
        let at = UVec2::new(i % size.x, i / size.x).as_vec2() * cell_size;
        let noise = noise * random.random_range(-1.0..=1.0);
        -slope * at.dot(direction) + noise
    });
    Terrain::from_heights(size, cell_size, heights.collect()).expect("valid")
}

/// Mean of the standard deviation in time, by the mean, of the depths of cells.
struct Fluctuation {
    sums: Vec<[f64; 2]>,
    count: f64,
}

impl Fluctuation {
    fn of(cells: usize) -> Self {
        Self {
            sums: vec![[0.0; 2]; cells],
            count: 0.0,
        }
    }

    fn look(&mut self, depths: impl Iterator<Item = f32>) {
        for (sum, depth) in self.sums.iter_mut().zip(depths) {
            let depth = f64::from(depth);
            *sum = [sum[0] + depth, sum[1] + depth * depth];
        }
        self.count += 1.0;
    }

    fn mean(&self) -> f64 {
        let each = self.sums.iter().map(|[sum, squares]| {
            let mean = sum / self.count;
            (squares / self.count - mean * mean).max(0.0).sqrt() / mean
        });
        each.sum::<f64>() / self.sums.len() as f64
    }
}

/// A flume of 200 × 3 cells of 2 m, fed at its upper end for five minutes: the
/// depths' fluctuation over the last 100 s, their mean and Manning's normal depth.
fn flume(slope: f32, discharge: f32, noise: f32) -> (f64, f64, f64) {
    let mut terrain = rough_plane(UVec2::new(200, 3), 2.0, slope, Vec2::X, noise)
        .with_borders(Borders {
            east: Border::Open,
            ..Borders::closed()
        })
        .expect("valid");
    let settings = PipeModel {
        max_substeps: 64,
        ..clear_water()
    };
    // Per metre of width.
    let unit = discharge / 6.0;
    let normal = (unit * settings.roughness / slope.sqrt()).powf(0.6);
    let mut solver = solver(settings, &terrain);
    let source = WaterSource::cubic_metres_per_second(discharge / 3.0).with_radius(0.5);
    let dt = 0.05;
    let middle = 250..350usize;
    let mut fluctuation = Fluctuation::of(middle.len());
    let mut mean = 0.0;
    for step in 0..6000 {
        for row in 0..3 {
            let at = terrain.grid().cell_center(0, row);
            source.pour(&mut terrain, at, dt).expect("on the land");
        }
        solver.step(&mut terrain, dt);
        assert_eq!(solver.time_lost(), 0.0);
        if step >= 4000 {
            let depths = &terrain.water()[middle.clone()];
            fluctuation.look(depths.iter().copied());
            let sum: f64 = depths.iter().map(|depth| f64::from(*depth)).sum();
            mean += sum / middle.len() as f64 / 2000.0;
        }
    }
    (fluctuation.mean(), mean, normal.into())
}

#[test]
fn a_stream_over_a_rough_bed_flows_evenly() {
    for (slope, discharge) in [(0.1, 2.0), (0.5, 10.0), (1.0, 10.0)] {
        let (uneven, ..) = flume(slope, discharge, 0.02);
        println!("slope {slope}, {discharge} m³/s: fluctuation {uneven:.4}");
        assert!(uneven < 0.02, "slope {slope}, {discharge} m³/s: {uneven}");
    }
}

#[test]
fn a_stream_has_mannings_depth() {
    for (slope, discharge) in [(0.1, 2.0), (0.3, 5.0), (0.5, 10.0)] {
        let (uneven, depth, normal) = flume(slope, discharge, 0.0);
        println!("slope {slope}: {depth:.4} m, Manning's {normal:.4} m, fluctuation {uneven:.5}");
        let off = (depth / normal - 1.0).abs();
        assert!(off < 0.02, "slope {slope}: {depth} against {normal} m");
    }
}

#[test]
fn sheets_of_rain_run_evenly_in_any_direction() {
    for degrees in [0.0f32, 22.5, 45.0] {
        let direction = Vec2::from_angle(degrees.to_radians());
        let size = UVec2::splat(96);
        let mut terrain = rough_plane(size, 2.0, 0.5, direction, 0.0);
        let mut rain = RainSolver::new(Rain::mm_per_hour(2000.0), terrain.grid()).expect("valid");
        let settings = PipeModel {
            max_substeps: 64,
            ..clear_water()
        };
        let mut solver = solver(settings, &terrain);
        // A square in the middle.
        let cells = (0..1024u32).map(|i| terrain.grid().index(32 + i % 32, 32 + i / 32));
        let cells: Vec<usize> = cells.collect();
        let mut fluctuation = Fluctuation::of(cells.len());
        for step in 0..3000 {
            rain.step(&mut terrain, 0.1);
            solver.step(&mut terrain, 0.1);
            if step >= 2000 {
                fluctuation.look(cells.iter().map(|cell| terrain.water()[*cell]));
            }
        }
        let uneven = fluctuation.mean();
        println!("{degrees}°: fluctuation {uneven:.5}");
        assert!(uneven < 0.02, "{degrees}°: {uneven}");
    }
}

#[test]
fn a_flood_over_dry_ground_makes_no_waves_behind_its_front() {
    // A dam breaks onto dry ground: the depth falls all the way to the front.
    let n = 200u32;
    let water = (0..n * 2).map(|i| if i % n < n / 2 { 1.0 } else { 0.0 });
    let mut terrain = Terrain::flat(UVec2::new(n, 2), 1.0)
        .and_then(|t| t.with_layer(Layer::Water, water.collect()))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid");
    let mut solver = solver(clear_water(), &terrain);
    for _ in 0..150 {
        solver.step(&mut terrain, 0.05);
    }
    let row = &terrain.water()[..n as usize];
    let variation: f32 = row.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    let span = row[0] - row[n as usize - 1];
    println!("total variation {:.4} of the span", variation / span);
    assert!(variation / span < 1.02, "{variation} against {span}");
}
