//! A terrain of 4096 × 4096 cells under rain, simulated on the GPU.
//!
//! `cargo run --example huge`
//!
//! Seventeen million cells of water and sediment stay on the GPU: a pass writes
//! the ground's vertices where they are drawn from, and only a few tiles a frame
//! are read back for queries and colliders. Without a GPU it runs on the CPU, slowly: try
//! `--cells 512`. `G` changes the backend while it runs.

mod common;

use bevy::prelude::*;
use bevy_erode::gpu::BackendChanged;
use bevy_erode::prelude::*;
use clap::Parser;

/// Side of a cell. units: m
const CELL: f32 = 2.0;

fn main() -> AppExit {
    let cli = Cli::parse();
    let extent = cli.cells as f32 * CELL;
    let mut app = common::app(&cli.options, "bevy_erode: huge");
    app.add_plugins((
        ErosionPlugin::default().with_backend(ErosionBackend::Gpu),
        common::SunAndCamera {
            pitch: 0.45,
            distance: 0.6,
            ..common::SunAndCamera::new(extent, extent * 0.12)
        },
    ))
    .insert_resource(cli.clone())
    .add_systems(Startup, setup)
    .add_systems(
        Update,
        (
            change_backend.run_if(resource_exists::<ButtonInput<KeyCode>>),
            say_who_runs,
        ),
    );
    let seconds = cli.options.seconds_or(20.0);
    common::run(app, common::Screenshots::start_and_end(seconds))
}

fn setup(mut commands: Commands, cli: Res<Cli>) -> Result {
    let extent = f64::from(cli.cells) * f64::from(CELL);
    let mountains = Ridged::seeded(3)
        .with_feature_size(extent * 0.3)
        .with_height(extent * 0.12);
    let size = UVec2::splat(cli.cells);
    commands.insert_resource(Terrain::generate(&mountains, size, CELL)?.with_soil_depth(0.5)?);
    commands.insert_resource(PipeModel::default());
    commands.insert_resource(Rain::mm_per_hour(400.0));
    commands.insert_resource(Thermal::default());
    Ok(())
}

fn change_backend(keys: Res<ButtonInput<KeyCode>>, mut backend: ResMut<ErosionBackend>) {
    if keys.just_pressed(KeyCode::KeyG) {
        *backend = match *backend {
            ErosionBackend::Cpu => ErosionBackend::Gpu,
            _ => ErosionBackend::Cpu,
        };
    }
}

fn say_who_runs(mut changes: MessageReader<BackendChanged>, status: Res<ErosionBackendStatus>) {
    for change in changes.read() {
        let who = match (&status.adapter, change.on_gpu) {
            (Some(adapter), true) => adapter.as_str(),
            _ => "the CPU",
        };
        println!("  erosion runs on {who}: {}", change.reason);
    }
}

/// Seventeen million cells of running water.
#[derive(Parser, Resource, Clone)]
struct Cli {
    /// Cells along each side.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(2..=4096))]
    cells: u32,
    #[command(flatten)]
    options: common::Options,
}
