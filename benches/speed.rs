//! Speed of everything that matters, one `name value unit` line a figure.
//!
//! `cargo bench --bench speed --features avian [NAME …]` runs all figures, or those
//! whose names contain one of the words. Each is the median of several runs.
//! Machines differ and are noisy: compare figures of one run with each other,
//! starting with `triad_gb_s`, the memory bandwidth of all threads.

use bevy::{
    math::UVec2,
    tasks::{ComputeTaskPool, TaskPool},
};
use bevy_erode::{
    bake::BakeProgress,
    models::ageing::{AgeingSolver, Uplift},
};
use bevy_erode::{
    forcing::RainSolver, models::droplet::DropletSolver, models::lava::LavaSolver,
    models::pipe::PipeSolver, models::shallow_water::ShallowWaterSolver,
    models::thermal::ThermalSolver,
};
use bevy_erode::{
    parallel::Workers,
    prelude::*,
    view::{
        ChunkDetail,
        ground::mesh::{Baseline, GroundChunkCopy},
        liquid::mesh::LiquidChunkCopy,
    },
};
use std::{hint::black_box, time::Instant};

// The same oracle that the tests hold the pipe model against.
#[path = "../tests/oracle/pipe.rs"]
#[expect(dead_code, reason = "the bench uses one of its two methods")]
mod oracle;

#[path = "speed/game.rs"]
mod game;
#[path = "speed/gpu.rs"]
mod gpu;
#[path = "speed/river.rs"]
mod river;
#[path = "speed/screen.rs"]
mod screen;

/// Name, unit and how to measure it.
type Figure = (&'static str, &'static str, fn() -> f64);

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let figures: &[Figure] = &[
        ("triad_gb_s", "GB/s", triad),
        ("droplets_published_512", "Msteps/s", droplets_published),
        ("droplets_default_512", "kdrops/s", droplets_default),
        ("droplets_streams_512", "kdrops/s", droplets_streams),
        ("age_1024_raw", "ms", age_raw),
        ("age_1024_dissected", "ms", age_dissected),
        ("age_4096", "ms", age_4096),
        ("age_bake_1024", "s", age_bake),
        ("thermal_1024", "ms", thermal),
        ("lava_1024", "ms", lava),
        ("pipe_512", "ms", || pipe(512)),
        ("pipe_1024", "ms", || pipe(1024)),
        ("pipe_2048", "ms", || pipe(2048)),
        ("pipe_4096", "ms", || pipe(4096)),
        ("pipe_scene_1024", "ms/s", pipe_scene),
        ("pipe_1024_floor_ratio", "", pipe_floor_ratio),
        ("pipe_1024_wet5_ratio", "", pipe_wet5_ratio),
        ("pipe_oracle_ratio", "", pipe_oracle_ratio),
        ("shallow_water_300", "cycles/s", || shallow_water(300)),
        ("shallow_water_400", "cycles/s", || shallow_water(400)),
        ("shallow_water_1024", "cycles/s", || shallow_water(1024)),
        ("shallow_water_1d_2000", "cycles/s", shallow_water_1d),
        (
            "shallow_water_1d_2000_solves",
            "solves/s",
            shallow_water_1d_solves,
        ),
        ("meander_300", "ms", river::meander_300),
        ("meander_10000", "ms", river::meander_10000),
        ("meander_mesh_300", "ms", river::meander_mesh_300),
        ("meander_mesh_10000", "ms", river::meander_mesh_10000),
        ("rain_1024", "ms", rain),
        ("river_network_1024", "ms", river::network_1024),
        ("mesh_full_1024", "ms", mesh_full),
        ("mesh_chunk", "ms", mesh_chunk),
        ("water_mesh_1024", "ms", water_mesh),
        ("mesh_far_2048", "ms", mesh_far),
        ("query_batch", "Mqueries/s", game::query_batch),
        ("raycast", "kilorays/s", game::raycast),
        ("collider_chunk", "ms", game::collider_chunk),
        ("game_frame_512", "ms", game::game_frame),
        ("edit_apply", "ms", game::edit_apply),
        ("edit_frame", "ms", game::edit_frame_1024),
        ("edit_frame_idle", "ms", game::edit_frame_1024_idle),
        ("edit_frame_whole", "ms", game::edit_frame_1024_whole),
        ("edit_frame_4096", "ms", game::edit_frame_4096),
        ("edit_frame_4096_idle", "ms", game::edit_frame_4096_idle),
        ("edit_frame_4096_whole", "ms", game::edit_frame_4096_whole),
        ("edit_frame_4096_ratio", "", game::edit_frame_4096_ratio),
        ("insert_1024", "ms", game::insert_1024),
        ("insert_4096", "ms", game::insert_4096),
        ("on_screen_4096", "s", screen::on_screen_4096),
        ("masks_full_1024", "ms", game::masks_full),
        ("save_1024", "ms", game::save),
        ("load_1024", "ms", game::load),
        ("gpu_pipe_bytes_per_cell", "bytes", gpu::bytes),
        ("gpu_pipe_1024", "ms", || gpu::sub_step(1024)),
        ("gpu_pipe_4096", "ms", || gpu::sub_step(4096)),
        ("gpu_vs_cpu_1024", "", gpu::against_cpu),
        ("gpu_droplets_512", "kdrops/s", gpu::droplets),
    ];
    for (name, unit, measure) in figures {
        if words.is_empty() || words.iter().any(|word| name.contains(word)) {
            println!("{name} {:.3} {unit}", measure());
        }
    }
}

/// Median seconds of `runs` runs after a warm-up.
fn median(runs: usize, mut run: impl FnMut()) -> f64 {
    run();
    let mut seconds: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[runs / 2]
}

fn mountains(cells: u32) -> Terrain {
    Terrain::generate(
        &Ridged::seeded(7),
        UVec2::splat(cells),
        1024.0 / cells as f32,
    )
    .expect("a valid landform")
}

/// Copy-add `a = b + c` over planes far larger than the caches, all threads.
fn triad() -> f64 {
    let cells = 16 << 20;
    let (b, c) = (vec![1.0f32; cells], vec![2.0f32; cells]);
    let mut a = vec![0.0f32; cells];
    let workers = Workers::global();
    let chunk = cells / (workers.count() * 8);
    let seconds = median(9, || {
        let jobs = a
            .chunks_mut(chunk)
            .zip(b.chunks(chunk))
            .zip(c.chunks(chunk));
        workers.each(jobs, |((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + c;
            }
        });
        black_box(&a);
    });
    (3 * 4 * cells) as f64 / seconds / 1e9
}

fn droplets_published() -> f64 {
    let terrain = mountains(512);
    let mut steps = 0;
    let seconds = median(5, || {
        let mut terrain = terrain.clone();
        let mut solver =
            DropletSolver::new(Droplets::as_published(), terrain.grid()).expect("valid");
        solver.rain(&mut terrain, 20_000);
        steps = solver.published_steps();
    });
    steps as f64 / seconds / 1e6
}

fn droplets_default() -> f64 {
    droplets(Droplets::default())
}

fn droplets_streams() -> f64 {
    droplets(Droplets::default().with_streams())
}

/// Radius of two cells, at most 32 steps each.
fn droplets(settings: Droplets) -> f64 {
    let drops = 200_000;
    let terrain = mountains(512);
    let settings = Droplets {
        radius: 2.0 * terrain.cell_size(),
        max_steps: 32,
        ..settings
    };
    let seconds = median(5, || {
        let mut terrain = terrain.clone();
        let mut solver = DropletSolver::new(settings.clone(), terrain.grid()).expect("valid");
        solver.rain(&mut terrain, drops);
    });
    drops as f64 / seconds / 1e3
}

/// A step of lava a metre thick on a quarter of the land.
fn lava() -> f64 {
    let mut terrain = mountains(1024);
    let depths = (0..1024 * 1024).map(|i: u32| {
        let (x, y) = (i % 1024, i / 1024);
        if (x / 256 + y / 256).is_multiple_of(4) {
            1.0
        } else {
            0.0
        }
    });
    terrain
        .set_layer(Layer::Lava, depths.collect())
        .expect("valid");
    let settings = Lava {
        cooling: 0.0,
        ..Lava::default()
    };
    let mut solver = LavaSolver::new(settings, terrain.grid()).expect("valid");
    median(31, || solver.step(&mut terrain, 1.0 / 64.0)) * 1e3
}

/// One pass over mountains with half a metre of soil, everything sliding.
/// The land that ages: 30 m cells.
fn noise(cells: u32) -> Terrain {
    let shape = Fbm::seeded(5)
        .with_feature_size(f64::from(cells) * 30.0)
        .with_height(f64::from(cells) * 5.0);
    Terrain::generate(&shape, UVec2::splat(cells), 30.0).expect("valid")
}

fn ageing(terrain: &Terrain) -> AgeingSolver {
    let settings = Ageing::default().with_uplift(Uplift::keep(0.8));
    AgeingSolver::new(settings, terrain.grid()).expect("valid")
}

/// A first ageing step, with hollows everywhere.
fn age_raw() -> f64 {
    let terrain = noise(1024);
    let solver = ageing(&terrain);
    let run = || {
        let (mut terrain, mut solver) = (terrain.clone(), solver.clone());
        solver.age(&mut terrain, 2500.0);
    };
    median(5, run) * 1e3
}

/// An ageing step on land with valleys.
fn age_dissected() -> f64 {
    let mut terrain = noise(1024);
    let mut solver = ageing(&terrain);
    solver.age(&mut terrain, 100_000.0);
    median(9, || solver.age(&mut terrain, 2500.0)) * 1e3
}

fn age_4096() -> f64 {
    let mut terrain = noise(4096);
    let mut solver = ageing(&terrain);
    median(3, || solver.age(&mut terrain, 2500.0)) * 1e3
}

/// A whole bake of 500 000 years, coarse to fine.
fn age_bake() -> f64 {
    let land = noise(1024);
    let settings = Ageing::default().with_uplift(Uplift::keep(0.8));
    let start = Instant::now();
    let bake = Bake::new(land).age(settings, 500_000.0);
    bake.run(&BakeProgress::default()).expect("valid");
    start.elapsed().as_secs_f64()
}

fn thermal() -> f64 {
    let mut terrain = mountains(1024).with_soil_depth(0.5).expect("valid");
    let mut solver = ThermalSolver::new(Thermal::default(), terrain.grid()).expect("valid");
    median(31, || solver.step(&mut terrain, 0.01)) * 1e3
}

/// Mountains of one land under half a metre of water, with soil that is taken up.
fn flooded(cells: u32) -> Terrain {
    let land = mountains(cells).with_soil_depth(0.5).expect("valid");
    let depths = vec![0.5; land.grid().cells()];
    land.with_layer(Layer::Water, depths).expect("valid")
}

/// One sub-step with sediment, all cells wet.
fn pipe(cells: u32) -> f64 {
    let mut terrain = flooded(cells);
    let mut solver = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    // Short enough that it is never split, and no tile runs dry.
    let dt = 2e-3 * 1024.0 / cells as f32;
    let runs = if cells > 2048 { 9 } else { 31 };
    median(runs, || solver.step(&mut terrain, dt)) * 1e3
}

/// A second of streams down mountains, from 64 springs that have run for a minute:
/// as many sub-steps as fast water needs.
fn pipe_scene() -> f64 {
    let mut terrain = mountains(1024);
    let mut solver = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    let spring = WaterSource::cubic_metres_per_second(20.0).with_radius(6.0);
    let mut second = || {
        for _ in 0..10 {
            for i in 0..64 {
                let at = terrain
                    .grid()
                    .cell_center(64 + 128 * (i % 8), 64 + 128 * (i / 8));
                spring.pour(&mut terrain, at, 0.1).expect("on the land");
            }
            solver.step(&mut terrain, 0.1);
        }
    };
    for _ in 0..60 {
        second();
    }
    median(9, second) * 1e3
}

/// Step time over the time to read and write six planes once, at the bandwidth
/// of the same minute.
fn pipe_floor_ratio() -> f64 {
    let mut ratios: Vec<f64> = (0..5)
        .map(|_| {
            let floor = 48.0 * 1024.0 * 1024.0 / (triad() * 1e9);
            pipe(1024) * 1e-3 / floor
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[2]
}

/// A block of 13 of 256 tiles is wet, the rest is dry.
fn pipe_wet5_ratio() -> f64 {
    let land = mountains(1024).with_soil_depth(0.5).expect("valid");
    // A walled pond, so that it stays where it is.
    let in_block = |cell: usize| {
        let (x, y) = (cell % 1024, cell / 1024);
        (384..640).contains(&x) && (448..640).contains(&y)
    };
    let cells = land.grid().cells();
    let bed = (0..cells).map(|cell| match in_block(cell) {
        true => 0.01 * (cell % 7) as f32,
        false => 100.0,
    });
    let depths = (0..cells).map(|cell| if in_block(cell) { 0.5 } else { 0.0 });
    let mut pond = Terrain::from_heights(land.size(), land.cell_size(), bed.collect())
        .and_then(|t| t.with_soil_depth(0.5))
        .and_then(|t| t.with_layer(Layer::Water, depths.collect()))
        .expect("valid");
    let mut solver = PipeSolver::new(PipeModel::default(), pond.grid()).expect("valid");
    let wet = median(31, || solver.step(&mut pond, 2e-3)) * 1e3;
    wet / pipe(1024)
}

/// Time of the `f64` oracle over ours, on one thread each.
fn pipe_oracle_ratio() -> f64 {
    let mut terrain = flooded(256);
    let settings = PipeModel::default();
    let mut oracle = oracle::default::Oracle::of(&terrain);
    let slow = median(3, || oracle.step(&settings, 2e-3));
    let mut solver = PipeSolver::new(settings.clone(), terrain.grid()).expect("valid");
    let fast = median(31, || solver.step_on(Workers::serial(), &mut terrain, 2e-3));
    slow / fast
}

/// Solves of the water, and of the regolith, in a cycle. The source says that 5
/// to 10 make them steady.
const CYCLE: u32 = 5;

/// Water that is exchanged with the ground after [`CYCLE`] steps of `dt`.
fn cyclic(dt: f32) -> ShallowWater {
    ShallowWater {
        interval: CYCLE as f32 * dt,
        regolith_solves: CYCLE,
        // None is left out.
        steady: 0.0,
        ..ShallowWater::default()
    }
}

/// Whole cycles on wet mountains: water, exchange, regolith, and pools, for
/// which water runs off the ridges in long steps.
fn shallow_water(cells: u32) -> f64 {
    let mut terrain = flooded(cells);
    let dt = 0.2 * 1024.0 / cells as f32;
    let mut solver = ShallowWaterSolver::new(cyclic(dt), terrain.grid()).expect("valid");
    let seconds = median(31, || {
        for _ in 0..CYCLE {
            solver.step(&mut terrain, dt);
        }
    });
    1.0 / seconds
}

/// The source's row of 2000 vertices: a rough bed under water that swings.
fn trough() -> Terrain {
    let bed = (0..2000u32).map(|x| {
        let rough = (x.wrapping_mul(2_654_435_761) >> 24) as f32 / 255.0;
        0.5 + 0.3 * (x as f32 * 0.01).sin() + 0.02 * rough
    });
    let bed: Vec<f32> = bed.collect();
    let water = bed.iter().zip(0..).map(|(z, x)| 1.5 + 1e-4 * x as f32 - z);
    let water = water.collect();
    Terrain::from_heights(UVec2::new(2000, 1), 0.1, bed)
        .and_then(|t| t.with_layer(Layer::Water, water))
        .and_then(|t| t.with_borders(Borders::closed()))
        .expect("valid")
}

fn shallow_water_1d() -> f64 {
    let mut terrain = trough();
    let mut solver = ShallowWaterSolver::new(cyclic(0.01), terrain.grid()).expect("valid");
    let cycles = 100;
    let seconds = median(31, || {
        for _ in 0..cycles * CYCLE {
            solver.step(&mut terrain, 0.01);
        }
    });
    f64::from(cycles) / seconds
}

/// The water alone.
fn shallow_water_1d_solves() -> f64 {
    let mut terrain = trough();
    let settings = ShallowWater {
        interval: 1e6,
        ..ShallowWater::default()
    };
    let mut solver = ShallowWaterSolver::new(settings, terrain.grid()).expect("valid");
    let solves = 1000;
    let seconds = median(31, || {
        for _ in 0..solves {
            solver.step(&mut terrain, 0.01);
        }
    });
    f64::from(solves) / seconds
}

/// Even rain on all cells.
fn rain() -> f64 {
    let mut terrain = flooded(1024);
    let mut solver = RainSolver::new(Rain::mm_per_hour(40.0), terrain.grid()).expect("valid");
    median(31, || solver.step(&mut terrain, 0.01)) * 1e3
}

/// All chunks of a terrain, from the layers to finished meshes.
fn mesh_full() -> f64 {
    let terrain = mountains(1024);
    let baseline = Baseline::of(&terrain);
    let chunks = terrain.grid().chunks();
    let view = TerrainView::default();
    let pool: &TaskPool = ComputeTaskPool::get();
    let seconds = median(9, || {
        Workers::on(pool).each(0..chunks.element_product(), |number| {
            let chunk = UVec2::new(number % chunks.x, number / chunks.x);
            black_box(
                GroundChunkCopy::of(&terrain, &baseline, &view, chunk, ChunkDetail::FULL)
                    .build(&view),
            );
        });
    });
    seconds * 1e3
}

/// All chunks of a wide land, seen from afar: every 8th vertex.
fn mesh_far() -> f64 {
    let terrain = mountains(2048);
    let baseline = Baseline::of(&terrain);
    let (chunks, view) = (terrain.grid().chunks(), TerrainView::default());
    let detail = ChunkDetail::among([[3; 3]; 3]);
    let seconds = median(9, || {
        Workers::global().each(0..chunks.element_product(), |number| {
            let chunk = UVec2::new(number % chunks.x, number / chunks.x);
            let source = GroundChunkCopy::of(&terrain, &baseline, &view, chunk, detail);
            black_box(source.build(&view));
        });
    });
    seconds * 1e3
}

fn mesh_chunk() -> f64 {
    let terrain = mountains(256);
    let baseline = Baseline::of(&terrain);
    let view = TerrainView::default();
    let seconds = median(101, || {
        black_box(
            GroundChunkCopy::of(&terrain, &baseline, &view, UVec2::ONE, ChunkDetail::FULL)
                .build(&view),
        );
    });
    seconds * 1e3
}

/// The water's surface on a terrain that is wet everywhere, all chunks.
fn water_mesh() -> f64 {
    let terrain = mountains(1024);
    let depths = vec![0.5; terrain.grid().cells()];
    let terrain = terrain.with_layer(Layer::Water, depths).expect("valid");
    let chunks = terrain.grid().chunks();
    let seconds = median(9, || {
        Workers::global().each(0..chunks.element_product(), |number| {
            let chunk = UVec2::new(number % chunks.x, number / chunks.x);
            black_box(
                LiquidChunkCopy::of_water(&terrain, chunk, 1e-3, ChunkDetail::FULL)
                    .map(|source| source.build()),
            );
        });
    });
    seconds * 1e3
}
