//! The GPU's models against their twins on the CPU, on whatever adapter there
//! is; without one these tests fail. A program of its own: all of it needs a
//! renderer.

mod backend;
mod drawing;
mod droplets;
mod exchange;
mod parity;
mod shallow_water;

use bevy::{
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        settings::{WgpuLimits, WgpuSettings},
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_erode::gpu::{Readback, ReadbackCompleted};
use bevy_erode::prelude::*;
use std::time::{Duration, Instant};

/// A land of rough hills with a lake in each hollow, soil, and load in the water.
fn wet_hills(seed: u32, size: UVec2) -> Terrain {
    let shape = Fbm::seeded(seed).with_feature_size(60.0).with_height(20.0);
    let land = Terrain::generate(&shape, size, 2.0).expect("a valid landform");
    let level = 6.0;
    let water: Vec<f32> = land
        .bedrock()
        .iter()
        .map(|z| (level - z).max(0.0))
        .collect();
    let load = water.iter().map(|depth| depth.min(1.0) * 0.01).collect();
    land.with_soil_depth(0.05)
        .and_then(|land| land.with_layer(Layer::Water, water))
        .and_then(|land| land.with_layer(Layer::Suspended, load))
        .expect("valid layers")
}

/// An app that steps only when told to.
fn twin(terrain: Terrain, step: Duration) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, ErosionPlugin::default()));
    prepare(&mut app, terrain, step);
    app
}

fn prepare(app: &mut App, terrain: Terrain, step: Duration) {
    let second = Duration::from_millis(16);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(second))
        .insert_resource(ErosionPace::StepsPerTick(0))
        .insert_resource(terrain);
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.set_step_size(step);
}

/// The same with a renderer but no window.
fn renderer(backend: ErosionBackend, terrain: Terrain, step: Duration) -> App {
    renderer_within(None, backend, terrain, step)
}

/// The same on a device that has no more than this.
fn renderer_within(
    limits: Option<WgpuLimits>,
    backend: ErosionBackend,
    terrain: Terrain,
    step: Duration,
) -> App {
    let mut app = App::new();
    let windowless = WindowPlugin {
        primary_window: None,
        exit_condition: ExitCondition::DontExit,
        ..default()
    };
    let render = RenderPlugin {
        synchronous_pipeline_compilation: true,
        render_creation: WgpuSettings {
            constrained_limits: limits,
            ..default()
        }
        .into(),
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .set(windowless)
            .set(render)
            .disable::<LogPlugin>()
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    )
    .add_plugins(ErosionPlugin::default().with_backend(backend));
    prepare(&mut app, terrain, step);
    app.finish();
    app.cleanup();
    app
}

/// An app whose models already run on the GPU.
fn gpu(terrain: Terrain, step: Duration) -> App {
    let mut app = renderer(ErosionBackend::Gpu, terrain, step);
    until(&mut app, "the GPU runs", |world| {
        let status = world.resource::<ErosionBackendStatus>();
        assert!(status.missing.is_empty(), "{:?}", status.missing);
        status.on_gpu
    });
    app
}

/// Updates until something is so.
fn until(app: &mut App, what: &str, so: impl Fn(&World) -> bool) {
    let started = Instant::now();
    while !so(app.world()) {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "never: {what}"
        );
        app.update();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs steps.
fn step(app: &mut App, steps: u32) {
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.single_step(steps);
    app.update();
}

/// Brings everything back from the GPU.
fn read(app: &mut App) {
    app.world_mut().resource_mut::<Readback>().request_all();
    let steps = app.world().resource::<Time<Erosion>>().steps();
    let started = Instant::now();
    let mut cursor = bevy::ecs::message::MessageCursor::<ReadbackCompleted>::default();
    cursor.clear(app.world().resource::<Messages<ReadbackCompleted>>());
    loop {
        app.update();
        let whole = app.world().resource::<Messages<ReadbackCompleted>>();
        if cursor.read(whole).any(|whole| whole.step == steps) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "no answer");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn terrain(app: &App) -> &Terrain {
    app.world().resource::<Terrain>()
}

/// Largest difference of two layers. units: m
fn apart(a: &[f32], b: &[f32]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// Largest differences of bedrock, soil, water, suspended sediment. units: m
fn layers_apart(a: &Terrain, b: &Terrain) -> [f32; 4] {
    [
        apart(a.bedrock(), b.bedrock()),
        apart(a.soil(), b.soil()),
        apart(a.water(), b.water()),
        apart(a.suspended(), b.suspended()),
    ]
}
