//! A dedicated server: no window, no renderer, only the simulation.
//!
//! `cargo run --example server -- --steps 2000`
//!
//! It runs models, applies the edits of two players at their steps, answers
//! queries, and prints the terrain's state hash every 250 steps. Run it with any
//! `--threads` and `--frame-ms`: the hashes are the same, which is what a lockstep game
//! needs. `--save FILE` saves the world at the end, and
//! `--load FILE` goes on from there, again with the same hashes.
//!
//! `tests/headless` builds this file without any default feature.

use bevy::{
    app::{ScheduleRunnerPlugin, TaskPoolPlugin},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::edits::EditRefused,
    schedule::{ErosionStep, ErosionStepSystems},
};
use clap::Parser;
use core::time::Duration;
use std::path::PathBuf;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut pools = TaskPoolOptions::default();
    if let Some(threads) = cli.threads {
        pools = TaskPoolOptions::with_num_threads(threads.max(1));
    }
    let frame = Duration::from_secs_f32(cli.frame_ms.clamp(0.1, 1000.0) / 1000.0);
    App::new()
        .add_plugins((
            MinimalPlugins
                .set(TaskPoolPlugin {
                    task_pool_options: pools,
                })
                .set(ScheduleRunnerPlugin::run_loop(Duration::ZERO)),
            ErosionPlugin::default(),
        ))
        // Not the wall clock: the run takes as long as it takes.
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame))
        .insert_resource(ErosionPace::Budget(1e6))
        .insert_resource(cli)
        .add_systems(Startup, open_world)
        .add_systems(Update, hear_players.before(ErosionSystems::Input))
        .add_systems(ErosionStep, report.after(ErosionStepSystems::Thermal))
        .add_systems(Update, check_edits.after(ErosionSystems::Output))
        .add_systems(Last, finish)
        .run()
}

/// A new world, or the one that was saved.
fn open_world(world: &mut World) -> Result {
    match world.resource::<Cli>().load.clone() {
        Some(path) => Ok(SavedState::read_file(&path)?.restore(world)?),
        None => world.run_system_cached(make_world)?,
    }
}

fn make_world(mut commands: Commands, cli: Res<Cli>) -> Result {
    let land = Ridged::seeded(cli.seed).with_feature_size(250.0);
    commands.insert_resource(Terrain::generate(&land, UVec2::new(192, 128), 2.0)?);
    commands.insert_resource(Droplets::default());
    commands.insert_resource(PipeModel::default());
    commands.insert_resource(Rain::mm_per_hour(60.0));
    commands.insert_resource(Thermal::default());
    commands.spawn((
        WaterSource::cubic_metres_per_second(5.0),
        Transform::from_xyz(30.0, 0.0, -40.0),
    ));
    Ok(())
}

/// Stands in for the network: edits of players arrive before their step.
fn hear_players(
    time: Res<Time<Erosion>>,
    mut heard: Local<u64>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    // A world that was loaded has heard what came before.
    *heard = time.steps().max(*heard);
    let ahead = time.steps() + 200;
    while *heard < ahead {
        *heard += 1;
        let step = *heard;
        if !step.is_multiple_of(20) {
            continue;
        }
        let along = step as f32 * 0.05;
        let brush = Brush::circle(12.0);
        let dig = Vec3::new(along.rem_euclid(300.0) - 150.0, 0.0, 20.0);
        let pile = Vec3::new(-dig.x, 0.0, -60.0);
        edits.write(TerrainEdit::lower(dig, brush).by_hand().at_step(step, 1));
        edits.write(TerrainEdit::raise(pile, brush).by_hand().at_step(step, 2));
    }
}

/// Fails on a refused edit: one that comes too late would let machines diverge.
fn check_edits(mut refused: MessageReader<EditRefused>) -> Result {
    match refused.read().next() {
        Some(refused) => Err(format!("edit refused: {}", refused.reason).into()),
        None => Ok(()),
    }
}

fn report(ground: TerrainQuery, time: Res<Time<Erosion>>, cli: Res<Cli>) {
    let step = time.steps();
    let Some(terrain) = ground.terrain() else {
        return;
    };
    if step.is_multiple_of(250) || step == cli.steps {
        println!(
            "step {step}: state {:016x}, height at the middle {:.3} m, water there {:.3} m",
            terrain.state_hash(),
            ground.height(Vec3::ZERO).unwrap_or_default(),
            ground.water_depth(Vec3::ZERO).unwrap_or_default(),
        );
    }
}

/// Saves and leaves after the last step.
fn finish(world: &mut World) -> Result {
    let cli = world.resource::<Cli>().clone();
    let mut time = world.resource_mut::<Time<Erosion>>();
    let steps = time.steps();
    if steps < cli.steps {
        // Never beyond the last step, however long a frame is.
        let left = u32::try_from(cli.steps - steps).unwrap_or(u32::MAX);
        if left < 64 && !time.is_paused() {
            time.pause();
            time.single_step(left);
        }
        return Ok(());
    }
    if let Some(path) = &cli.save {
        world.resource_mut::<Time<Erosion>>().unpause();
        SavedState::capture(world)?.write_file(path)?;
    }
    world.write_message(AppExit::Success);
    Ok(())
}

/// A headless simulation in lockstep.
#[derive(Parser, Resource, Clone)]
struct Cli {
    /// Erosion steps to run, those before a save included
    #[arg(long, default_value_t = 2000)]
    steps: u64,
    /// Threads to use; all there are by default
    #[arg(long)]
    threads: Option<usize>,
    /// Time of a frame, which decides how many steps it takes. units: ms
    #[arg(long, default_value_t = 50.0)]
    frame_ms: f32,
    /// Saves the world after the last step
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Goes on from a saved world
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,
    /// Seed of the land
    #[arg(long, default_value_t = 7)]
    seed: u32,
}
