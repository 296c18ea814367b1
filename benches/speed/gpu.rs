//! The same on the GPU, whichever adapter there is.

use super::{flooded, median, mountains, pipe, screen::renderer};
use bevy::{
    prelude::*,
    render::{RenderApp, render_resource::PollType, renderer::RenderDevice},
    time::TimeUpdateStrategy,
};
use bevy_erode::gpu::Readback;
use bevy_erode::{gpu::bytes_per_cell, prelude::*};
use core::time::Duration;
use std::time::Instant;

/// Memory that a sub-step moves for each cell.
pub fn bytes() -> f64 {
    f64::from(bytes_per_cell())
}

/// An app whose model runs on the GPU when single-stepped, with steps of this length.
fn on_gpu(model: impl Resource, terrain: Terrain, step: Duration) -> App {
    let mut app = App::new();
    let cells = terrain.size().x;
    app.add_plugins(renderer())
        .add_plugins(ErosionPlugin::default().with_backend(ErosionBackend::Gpu))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            16,
        )))
        .insert_resource(ErosionPace::StepsPerTick(0))
        .insert_resource(Readback {
            tiles_per_frame: 0,
            full_interval: f32::INFINITY,
            ..default()
        })
        .insert_resource(model)
        .insert_resource(terrain);
    app.world_mut()
        .resource_mut::<Time<Erosion>>()
        .set_step_size(step);
    app.finish();
    app.cleanup();
    let began = Instant::now();
    while !app.world().resource::<ErosionBackendStatus>().on_gpu {
        app.update();
        assert!(
            began.elapsed().as_secs() < 300,
            "the GPU backend did not start within 300 s"
        );
    }
    let status = app.world().resource::<ErosionBackendStatus>();
    let adapter = status.adapter.clone().unwrap_or_default();
    println!("# {cells}² on {adapter}");
    app
}

/// Seconds of a step. A frame costs something besides: the difference of many
/// and few.
fn seconds_of_step(app: &mut App, few: u32, many: u32) -> f64 {
    let mut run = |steps: u32| {
        let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
        time.single_step(steps);
        app.update();
        let device = app.sub_app(RenderApp).world().resource::<RenderDevice>();
        device.poll(PollType::wait_indefinitely()).expect("done");
    };
    let short = median(3, || run(few));
    let long = median(3, || run(many));
    (long - short) / f64::from(many - few)
}

/// One sub-step with sediment, all cells wet. units: ms
pub fn sub_step(cells: u32) -> f64 {
    let dt = Duration::from_secs_f32(2e-3 * 1024.0 / cells as f32);
    let mut app = on_gpu(PipeModel::default(), flooded(cells), dt);
    let many = if cells > 2048 { 3 } else { 9 };
    seconds_of_step(&mut app, 1, many) * 1e3
}

/// Drops of the default settings. units: thousands a second
pub fn droplets() -> f64 {
    // A step lets fall 0.05 drops on each of 1024² m².
    let drops = 0.05 * 1024.0 * 1024.0;
    let model = Droplets::default();
    let mut app = on_gpu(model, mountains(512), Duration::from_secs(1));
    drops / seconds_of_step(&mut app, 1, 3) / 1e3
}

/// How many times faster than the CPU.
pub fn against_cpu() -> f64 {
    pipe(1024) / sub_step(1024)
}
