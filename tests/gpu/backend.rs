//! Which backend runs, and the change from one to the other.

use crate::{
    gpu, layers_apart, read, renderer, renderer_within, step, terrain, twin, until, wet_hills,
};
use bevy::{
    prelude::*,
    render::{
        RenderApp,
        error_handler::{ErrorType, RenderError, RenderErrorHandler, RenderErrorPolicy},
        render_resource::{BufferDescriptor, BufferUsages},
        renderer::RenderDevice,
        settings::{WgpuLimits, WgpuSettings},
    },
};
use bevy_erode::{
    forcing::edits::{Fill, TerrainHistory},
    gpu::BackendChanged,
};
use bevy_erode::{gpu::device_lost, prelude::*};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);
const SIZE: UVec2 = UVec2::new(70, 45);

/// Water that carves at once.
fn hungry() -> PipeModel {
    PipeModel {
        threshold: 1e-4,
        ..PipeModel::default()
    }
}

#[test]
fn a_change_in_mid_run_loses_nothing() {
    let mut app = renderer(ErosionBackend::Cpu, wet_hills(3, SIZE), STEP);
    let mut ours = twin(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    ours.insert_resource(PipeModel::default());
    for backend in [
        ErosionBackend::Cpu,
        ErosionBackend::Gpu,
        ErosionBackend::Cpu,
        ErosionBackend::Gpu,
        ErosionBackend::Cpu,
    ] {
        app.insert_resource(backend);
        let on_gpu = backend == ErosionBackend::Gpu;
        until(&mut app, "the backend changed", |world| {
            world.resource::<ErosionBackendStatus>().on_gpu == on_gpu
        });
        step(&mut app, 20);
        step(&mut ours, 20);
    }
    let apart = layers_apart(terrain(&app), terrain(&ours));
    assert!(apart.iter().all(|apart| *apart < 1e-3), "{apart:?}");
    let ledger = terrain(&app).ledger();
    assert!(ledger.solids.drift_of_total().abs() < 1e-6);
    assert!(ledger.water.drift_of_total().abs() < 1e-6);
    let steps = app.world().resource::<Time<Erosion>>().steps();
    assert_eq!(steps, 100);
}

#[test]
fn auto_takes_no_software_adapter_and_says_so() {
    let mut app = renderer(ErosionBackend::Auto, wet_hills(3, SIZE), STEP);
    app.insert_resource(hungry());
    for _ in 0..5 {
        step(&mut app, 1);
    }
    let status = app.world().resource::<ErosionBackendStatus>();
    let adapter = status.adapter.clone().expect("an adapter");
    if adapter.contains("llvmpipe") {
        assert!(!status.on_gpu);
        assert_eq!(
            status.missing,
            [
                "the graphics adapter is a software renderer: set `ErosionBackend::Gpu` to use it anyway"
            ]
        );
    }
    // It runs all the same.
    assert!(terrain(&app).ledger().solids.moved > 0.0);
}

#[test]
fn without_a_renderer_the_cpu_runs() {
    let mut app = twin(wet_hills(3, SIZE), STEP);
    app.insert_resource(ErosionBackend::Gpu)
        .insert_resource(hungry());
    step(&mut app, 3);
    let status = app.world().resource::<ErosionBackendStatus>();
    assert!(!status.on_gpu);
    assert_eq!(
        status.missing,
        ["no render device: the app has no `RenderPlugin`, or no graphics adapter was found"]
    );
    assert!(terrain(&app).ledger().solids.moved > 0.0);
}

#[test]
fn a_land_too_large_for_the_device_runs_on_the_cpu() {
    // A device on which textures may be 4096 long.
    let land = Terrain::flat(UVec2::new(5000, 2), 1.0).expect("valid");
    let limits = WgpuLimits {
        max_texture_dimension_2d: 4096,
        ..WgpuLimits::default()
    };
    let mut app = renderer_within(Some(limits), ErosionBackend::Gpu, land, STEP);
    for _ in 0..3 {
        step(&mut app, 1);
    }
    let status = app.world().resource::<ErosionBackendStatus>();
    assert!(!status.on_gpu);
    assert!(
        status.missing.iter().any(|lack| lack.contains("texture")),
        "{:?}",
        status.missing
    );
}

#[test]
fn another_terrain_may_come_and_go() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    step(&mut app, 5);
    app.insert_resource(wet_hills(4, UVec2::new(33, 20)));
    app.update();
    step(&mut app, 5);
    read(&mut app);
    let mut ours = twin(wet_hills(4, UVec2::new(33, 20)), STEP);
    ours.insert_resource(PipeModel::default());
    step(&mut ours, 5);
    let apart = layers_apart(terrain(&app), terrain(&ours));
    assert!(apart.iter().all(|apart| *apart < 1e-4), "{apart:?}");
    app.world_mut().remove_resource::<Terrain>();
    step(&mut app, 1);
    assert!(!app.world().resource::<ErosionBackendStatus>().on_gpu);
    assert_eq!(last_change(&app), (false, "the terrain was removed".into()));
    app.insert_resource(wet_hills(5, SIZE));
    until(&mut app, "the GPU runs again", |world| {
        world.resource::<ErosionBackendStatus>().on_gpu
    });
    // Another one, and another backend with it.
    app.insert_resource(wet_hills(6, SIZE))
        .insert_resource(ErosionBackend::Cpu);
    app.update();
    assert!(!app.world().resource::<ErosionBackendStatus>().on_gpu);
    assert_eq!(
        last_change(&app),
        (false, "the terrain was replaced".into())
    );
}

/// The last message of the last update.
fn last_change(app: &App) -> (bool, String) {
    let changes = app.world().resource::<Messages<BackendChanged>>();
    let last = changes.iter_current_update_messages().last();
    let last = last.expect("a message");
    (last.on_gpu, last.reason.clone())
}

#[test]
fn when_the_device_is_lost_the_cpu_goes_on() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    step(&mut app, 20);
    read(&mut app);
    let whole = terrain(&app).state_hash();
    // What comes after the last full reading is lost with the device.
    let hill = TerrainEdit::raise(Vec3::ZERO, Brush::circle(20.0)).with_fill(Fill::Rock);
    app.world_mut().write_message(hill);
    step(&mut app, 20);
    let history = app.world().resource::<TerrainHistory>();
    assert_eq!(history.undo_count(), 1);
    // As Bevy does when the device is lost.
    let handler = app.world().resource::<RenderErrorHandler>().0;
    let error = RenderError {
        ty: ErrorType::DeviceLost,
        description: "out of order".into(),
        source: None,
    };
    let policy = handler(&error, app.world_mut(), &mut World::new());
    assert!(matches!(policy, RenderErrorPolicy::StopRendering));
    let exits = app.world().resource::<Messages<AppExit>>();
    assert!(exits.is_empty(), "the app goes on");
    until(&mut app, "the CPU runs", |world| {
        !world.resource::<ErosionBackendStatus>().on_gpu
    });
    assert_eq!(terrain(&app).state_hash(), whole);
    assert_eq!(last_change(&app), (false, "the device was lost".into()));
    // A hill that is gone is not taken away once more.
    app.world_mut().write_message(HistoryRequest::UNDO);
    app.update();
    assert_eq!(terrain(&app).state_hash(), whole);
    step(&mut app, 20);
    assert_ne!(terrain(&app).state_hash(), whole);
    let ledger = terrain(&app).ledger();
    assert!(ledger.solids.drift_of_total().abs() < 1e-6);
    assert!(ledger.water.drift_of_total().abs() < 1e-6);
}

#[test]
fn another_terrain_may_come_in_the_midst_of_a_frame() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    step(&mut app, 5);
    // Another size, with a hardness map and a past of its own.
    let mut other = wet_hills(4, UVec2::new(133, 120));
    let cells = other.grid().cells();
    for _ in 0..50 {
        let hardness = vec![0.5; cells];
        other.set_layer(Layer::Hardness, hardness).expect("valid");
    }
    let before = other.clone();
    let mut other = Some(other);
    let replace = move |mut commands: Commands| {
        if let Some(other) = other.take() {
            commands.insert_resource(other);
        }
    };
    app.add_systems(Update, replace.in_set(ErosionSystems::Input));
    step(&mut app, 3);
    step(&mut app, 3);
    read(&mut app);
    assert_eq!(terrain(&app).size(), before.size());
    let mut ours = twin(before, STEP);
    ours.insert_resource(PipeModel::default());
    step(&mut ours, 6);
    let apart = layers_apart(terrain(&app), terrain(&ours));
    assert!(apart.iter().all(|apart| *apart < 1e-4), "{apart:?}");
}

#[test]
fn when_rendering_stops_the_cpu_goes_on() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    step(&mut app, 5);
    read(&mut app);
    let handler = app.world().resource::<RenderErrorHandler>().0;
    let error = RenderError {
        ty: ErrorType::Validation,
        description: "out of order".into(),
        source: None,
    };
    // Bevy's own handler, which was there before, stops rendering.
    let policy = handler(&error, app.world_mut(), &mut World::new());
    assert!(matches!(policy, RenderErrorPolicy::StopRendering));
    let before = terrain(&app).state_hash();
    step(&mut app, 5);
    assert!(!app.world().resource::<ErosionBackendStatus>().on_gpu);
    assert_ne!(terrain(&app).state_hash(), before, "the CPU stepped");
}

#[test]
fn when_the_renderer_recovers_the_gpu_takes_over_again() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default())
        .insert_resource(RenderErrorHandler(|_, main_world, _| {
            device_lost(main_world);
            RenderErrorPolicy::Recover(WgpuSettings::default().into())
        }));
    step(&mut app, 20);
    read(&mut app);
    // What no device does: a fault of the renderer's user.
    let device = app.sub_app(RenderApp).world().resource::<RenderDevice>();
    device.create_buffer(&BufferDescriptor {
        label: Some("impossible"),
        size: 1 << 62,
        usage: BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    until(&mut app, "the CPU runs", |world| {
        !world.resource::<ErosionBackendStatus>().on_gpu
    });
    step(&mut app, 20);
    until(&mut app, "the GPU runs again", |world| {
        world.resource::<ErosionBackendStatus>().on_gpu
    });
    step(&mut app, 20);
    read(&mut app);
    let mut ours = twin(wet_hills(3, SIZE), STEP);
    ours.insert_resource(PipeModel::default());
    step(&mut ours, 60);
    let apart = layers_apart(terrain(&app), terrain(&ours));
    assert!(apart.iter().all(|apart| *apart < 1e-3), "{apart:?}");
}

#[test]
fn lava_runs_on_the_host_and_reaches_the_gpu() {
    let land = || {
        let cells = SIZE.element_product() as usize;
        let lava = (0..cells).map(|cell| if cell % 70 < 30 { 1.5 } else { 0.0 });
        let land = wet_hills(3, SIZE).with_layer(Layer::Lava, lava.collect());
        land.expect("valid")
    };
    let mut app = gpu(land(), STEP);
    let before = terrain(&app).ledger();
    app.insert_resource(PipeModel::default())
        .insert_resource(Lava::default());
    step(&mut app, 5);
    for _ in 0..5 {
        step(&mut app, 5);
    }
    let status = app.world().resource::<ErosionBackendStatus>();
    assert!(status.on_gpu);
    assert_eq!(status.on_host, ["Lava"]);
    read(&mut app);
    let after = terrain(&app).ledger();
    assert!(after.water.evaporated > 0.0, "water boiled");
    let frozen = before.solids.lava - after.solids.lava;
    assert!(frozen > 0.0, "lava froze");
    // The rock that it became is on the GPU, too.
    let rock = after.solids.bedrock - before.solids.bedrock;
    assert!(rock > 0.9 * frozen, "{rock} m³ of {frozen} m³");
    assert!(after.solids.drift_of_total().abs() < 1e-6);
    assert!(after.water.drift_of_total().abs() < 1e-6);
}
