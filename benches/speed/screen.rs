//! How long a large land takes to come on screen, with a renderer.

use avian3d::prelude::*;
use bevy::{
    app::PluginGroupBuilder,
    camera::RenderTarget,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::TextureFormat,
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_erode::view::TerrainViewState;
use bevy_erode::{
    physics::{TerrainColliderState, avian::Avian},
    prelude::*,
};
use std::time::Instant;

/// Small, for where there is no GPU a pixel costs more than all the land.
const FILM: UVec2 = UVec2::new(320, 180);

/// Where the picture arrives.
#[derive(Resource, Default)]
struct Captured(Option<Image>);

/// From given heights of 4096² cells, and nothing else, to a picture in which
/// all of the land is drawn, with colliders around a body: so the time to start
/// the app and its renderer and to compile its shaders is in it. As behind a
/// loading screen, the camera is off until all is there. Not a number where
/// there is no graphics adapter.
pub fn on_screen_4096() -> f64 {
    let size = UVec2::splat(4096);
    let land = Fbm::seeded(3).with_feature_size(700.0);
    let land = Terrain::generate(&land, size, 1.0).expect("a valid landform");
    let heights = land.bedrock().to_vec();
    drop(land);
    if !has_adapter() {
        return f64::NAN;
    }
    let start = Instant::now();
    let land = Terrain::from_heights(size, 1.0, heights).expect("valid");
    let mut app = rendering_app();
    app.insert_resource(land);
    app.finish();
    app.cleanup();
    let is_ready = |world: &World| {
        let terrain = world.resource::<Terrain>();
        let colliders = world.resource::<TerrainColliderState<Avian>>();
        let view = world.resource::<TerrainViewState>();
        view.is_settled(terrain) && colliders.is_settled(terrain) && colliders.standing() > 0
    };
    while !is_ready(app.world()) {
        app.update();
    }
    let film = switch_camera(&mut app, true);
    app.world_mut().spawn(Screenshot::image(film)).observe(
        |captured: On<ScreenshotCaptured>, mut slot: ResMut<Captured>| {
            slot.0 = Some(captured.image.clone());
        },
    );
    // One frame draws it; only its way back from the renderer takes longer.
    app.update();
    switch_camera(&mut app, false);
    let picture = loop {
        app.update();
        if let Some(picture) = app.world_mut().resource_mut::<Captured>().0.take() {
            break picture;
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let pixels = picture.data.as_deref().unwrap_or_default();
    let sky = pixels.chunks_exact(4).next();
    let land = pixels.chunks_exact(4).filter(|pixel| Some(*pixel) != sky);
    assert!(land.count() > pixels.len() / 16, "the screenshot is empty");
    seconds
}

/// Switches the camera and returns what it films to.
fn switch_camera(app: &mut App, on: bool) -> Handle<Image> {
    let world = app.world_mut();
    let mut cameras = world.query::<(&mut Camera, &RenderTarget)>();
    let (mut camera, target) = cameras.single_mut(world).expect("one camera");
    camera.is_active = on;
    target.as_image().cloned().expect("an image")
}

fn has_adapter() -> bool {
    let mut settings = wgpu::InstanceDescriptor::new_without_display_handle();
    settings.backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::all());
    let instance = wgpu::Instance::new(settings);
    bevy::tasks::block_on(instance.request_adapter(&default())).is_ok()
}

/// Bevy's plugins with a renderer but without a window.
pub fn renderer() -> PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            ..default()
        })
        .disable::<WinitPlugin>()
        .disable::<LogPlugin>()
        .disable::<PipelinedRenderingPlugin>()
}

/// A camera high over a corner of the land, light, and a ball in its middle.
fn rendering_app() -> App {
    let mut app = App::new();
    app.add_plugins((
        renderer(),
        PhysicsPlugins::default(),
        ErosionPlugin::default(),
    ))
    .init_resource::<Captured>()
    .insert_resource(TerrainColliders {
        area: ColliderArea::NearBodies { radius: 100.0 },
        ..default()
    });
    let film = Image::new_target_texture(FILM.x, FILM.y, TextureFormat::Rgba8UnormSrgb, None);
    let film = app.world_mut().resource_mut::<Assets<Image>>().add(film);
    app.world_mut().spawn((
        Camera3d::default(),
        Camera {
            is_active: false,
            ..default()
        },
        Projection::Perspective(PerspectiveProjection {
            far: 10_000.0,
            ..default()
        }),
        RenderTarget::Image(film.into()),
        Transform::from_xyz(-1500.0, 900.0, -1500.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    app.world_mut().spawn((
        DirectionalLight::default(),
        Transform::default().looking_to(Vec3::new(1.0, -1.0, 0.3), Vec3::Y),
    ));
    app.world_mut().spawn((
        RigidBody::Dynamic,
        Collider::sphere(1.0),
        Transform::from_xyz(0.0, 300.0, 0.0),
    ));
    app
}
