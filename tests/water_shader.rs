//! The shipped shaders of ground and water, compiled by a real graphics driver.

use bevy::{
    camera::RenderTarget,
    log::LogPlugin,
    prelude::*,
    render::{
        ExtractSchedule, MainWorld, RenderApp, RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{CachedPipelineState, PipelineCache, PipelineDescriptor, TextureFormat},
    },
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_erode::prelude::*;
use std::time::{Duration, Instant};

/// What became of the pipelines that draw ground, water and lava.
#[derive(Resource, Default)]
struct Found {
    ready: [usize; 3],
    waiting: Vec<String>,
}

fn look(mut main: ResMut<MainWorld>, pipelines: Res<PipelineCache>) {
    let mut found = Found::default();
    for pipeline in pipelines.pipelines() {
        let PipelineDescriptor::RenderPipelineDescriptor(descriptor) = &pipeline.descriptor else {
            continue;
        };
        let shader = descriptor.fragment.as_ref().map(|f| &f.shader);
        let path = shader.and_then(|shader| shader.path());
        let path = path.map(ToString::to_string).unwrap_or_default();
        let which = match path {
            path if path.ends_with("ground/surface.wgsl") => 0,
            path if path.ends_with("water/surface.wgsl") => 1,
            path if path.ends_with("lava/surface.wgsl") => 2,
            _ => continue,
        };
        match &pipeline.state {
            CachedPipelineState::Ok(_) => found.ready[which] += 1,
            other => found.waiting.push(format!("{other:?}")),
        }
    }
    main.insert_resource(found);
}

fn has_adapter() -> bool {
    let settings = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(settings);
    bevy::tasks::block_on(instance.request_adapter(&default())).is_ok()
}

#[test]
fn the_shaders_of_ground_water_and_lava_compile() {
    assert!(
        has_adapter(),
        "no graphics adapter; scripts/test.sh installs a software one"
    );
    // A land under water and lava, with the sky in it and without.
    let size = UVec2::splat(20);
    let terrain = crate::land(1, size, 2.0)
        .with_layer(Layer::Water, vec![1.0; 400])
        .and_then(|land| land.with_layer(Layer::Lava, vec![0.5; 400]))
        .expect("valid");
    let mut app = App::new();
    let windowless = WindowPlugin {
        primary_window: None,
        exit_condition: ExitCondition::DontExit,
        ..default()
    };
    let renderer = RenderPlugin {
        synchronous_pipeline_compilation: true,
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .set(windowless)
            .set(renderer)
            .disable::<LogPlugin>()
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    )
    .add_plugins(ErosionPlugin::default())
    .insert_resource(terrain)
    .init_resource::<Found>();
    app.sub_app_mut(RenderApp)
        .add_systems(ExtractSchedule, look);
    let mut images = app.world_mut().resource_mut::<Assets<Image>>();
    let mut target = || {
        images.add(Image::new_target_texture(
            32,
            32,
            TextureFormat::Rgba8UnormSrgb,
            None,
        ))
    };
    let (plain, mirrored) = (target(), target());
    let sky = EnvironmentMapLight::hemispherical_gradient(
        &mut images,
        LinearRgba::BLUE,
        LinearRgba::WHITE,
        LinearRgba::BLACK,
    );
    let above = Transform::from_xyz(0.0, 200.0, 50.0).looking_at(Vec3::ZERO, Vec3::Y);
    let camera = |image: Handle<Image>| {
        (
            Camera3d::default(),
            RenderTarget::Image(image.into()),
            above,
        )
    };
    let world = app.world_mut();
    world.spawn((DirectionalLight::default(), above));
    world.spawn((camera(plain), DistanceFog::default()));
    world.spawn((camera(mirrored), sky));
    app.finish();
    app.cleanup();

    let began = Instant::now();
    loop {
        app.update();
        let found = app.world().resource::<Found>();
        if found.ready.iter().all(|ready| *ready >= 2) && found.waiting.is_empty() {
            break;
        }
        assert!(
            began.elapsed() < Duration::from_secs(100),
            "{:?} ready, waiting: {:?}",
            found.ready,
            found.waiting
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
