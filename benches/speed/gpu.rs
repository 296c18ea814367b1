//! The same on the GPU, whichever adapter there is.

use super::{flooded, median, pipe, screen::renderer};
use bevy::{
    prelude::*,
    render::{RenderApp, render_resource::PollType, renderer::RenderDevice},
    time::TimeUpdateStrategy,
};
use bevy_erode::{gpu::bytes_per_cell, prelude::*};
use core::time::Duration;
use std::time::Instant;

/// Memory that a sub-step moves for each cell.
pub fn bytes() -> f64 {
    f64::from(bytes_per_cell())
}

/// One sub-step with sediment, all cells wet. units: ms
pub fn sub_step(cells: u32) -> f64 {
    let mut app = App::new();
    app.add_plugins(renderer())
        .add_plugins(ErosionPlugin::default().with_backend(ErosionBackend::Gpu))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            16,
        )))
        .insert_resource(ErosionPace::StepsPerTick(0))
        .insert_resource(ReadBack {
            tiles_per_frame: 0,
            whole_every: f32::INFINITY,
            ..default()
        })
        .insert_resource(PipeModel::default())
        .insert_resource(flooded(cells));
    let dt = Duration::from_secs_f32(2e-3 * 1024.0 / cells as f32);
    app.world_mut()
        .resource_mut::<Time<Erosion>>()
        .set_step_size(dt);
    app.finish();
    app.cleanup();
    let began = Instant::now();
    while !app.world().resource::<ErosionBackendStatus>().on_gpu {
        app.update();
        assert!(began.elapsed().as_secs() < 300, "the GPU does not start");
    }
    let status = app.world().resource::<ErosionBackendStatus>();
    let adapter = status.adapter.clone().unwrap_or_default();
    println!("# {cells}² on {adapter}");
    let mut run = |steps: u32| {
        let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
        time.single_step(steps);
        app.update();
        let device = app.sub_app(RenderApp).world().resource::<RenderDevice>();
        device.poll(PollType::wait_indefinitely()).expect("done");
    };
    // A frame costs something besides: the difference of many and few.
    let (few, many) = if cells > 2048 { (1, 3) } else { (1, 9) };
    let short = median(3, || run(few));
    let long = median(3, || run(many));
    (long - short) / f64::from(many - few) * 1e3
}

/// How many times faster than the CPU.
pub fn against_cpu() -> f64 {
    pipe(1024) / sub_step(1024)
}
