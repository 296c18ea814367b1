//! Sun, sky and orbit camera for a terrain of a given size.

use bevy::{
    camera::{Exposure, Hdr, RenderTarget},
    core_pipeline::tonemapping::Tonemapping,
    light::{CascadeShadowConfigBuilder, DirectionalLightShadowMap, ShadowFilteringMethod, Skybox},
    prelude::*,
    render::{render_resource::TextureFormat, renderer::RenderAdapterInfo},
};
use bevy_erode::prelude::*;
use bevy_erode::view::Quality;
use bevy_panorbit_camera::{EguiFocusIncludesHover, PanOrbitCamera, PanOrbitCameraPlugin};

use super::{Mode, Options, probe, skirt, sky};

/// A plugin with sun, sky and an orbit camera for a square terrain around the origin,
/// its lowest point near height 0. Does nothing where nothing is drawn.
#[derive(Resource, Clone, Copy, Debug)]
pub struct SunAndCamera {
    /// Side of the land. units: m
    pub extent: f32,
    /// Height of the land above its lowest point. units: m
    pub height: f32,
    /// Initial yaw of the camera. units: rad
    pub yaw: f32,
    /// Initial pitch of the camera above the horizon. units: rad
    pub pitch: f32,
    /// Initial distance of the camera: 1 has the whole terrain in view.
    pub distance: f32,
}

impl SunAndCamera {
    pub fn new(extent: f32, height: f32) -> Self {
        Self {
            extent,
            height,
            yaw: 0.5,
            pitch: 0.38,
            distance: 1.0,
        }
    }
}

/// Marks the camera of [`SunAndCamera`].
#[derive(Component)]
pub struct ExampleCamera;

impl Plugin for SunAndCamera {
    fn build(&self, app: &mut App) {
        if !app.world().resource::<Mode>().renders() {
            return;
        }
        app.add_plugins(PanOrbitCameraPlugin)
            .insert_resource(EguiFocusIncludesHover(true))
            .insert_resource(*self)
            .insert_resource(DirectionalLightShadowMap { size: 2048 })
            .insert_resource(GlobalAmbientLight::NONE)
            .add_systems(Startup, (spawn_sun, spawn_camera, choose_quality))
            .add_systems(Update, keep_above_ground);
        skirt::build(app);
    }
}

/// Direction to the sun: low enough to show every gully.
fn to_sun() -> Vec3 {
    let (azimuth, altitude) = (-65.0_f32.to_radians(), 34.0_f32.to_radians());
    Quat::from_rotation_y(azimuth) * Quat::from_rotation_x(-altitude) * Vec3::Z
}

fn spawn_sun(mut commands: Commands, scene: Res<SunAndCamera>, options: Res<Options>) {
    commands.spawn((
        Name::new("sun"),
        DirectionalLight {
            color: Color::srgb(1.0, 0.93, 0.82),
            illuminance: 25_000.0,
            shadow_maps_enabled: !options.no_shadows,
            ..default()
        },
        Transform::default().looking_to(-to_sun(), Vec3::Y),
        CascadeShadowConfigBuilder {
            num_cascades: 3,
            minimum_distance: 0.005 * scene.extent,
            first_cascade_far_bound: 0.25 * scene.extent,
            maximum_distance: 2.8 * scene.extent,
            ..default()
        }
        .build(),
    ));
}

fn spawn_camera(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    scene: Res<SunAndCamera>,
    mode: Res<Mode>,
    options: Res<Options>,
    adapter: Res<RenderAdapterInfo>,
) {
    let exposure = Exposure { ev100: 11.5 };
    let mut orbit = frame_camera(scene.extent, scene.height);
    orbit.yaw = Some(scene.yaw);
    orbit.pitch = Some(scene.pitch);
    orbit.radius = orbit.radius.map(|radius| radius * scene.distance);

    let mut camera = commands.spawn((
        ExampleCamera,
        Camera {
            // Screenshots are taken one by one, by the [runner](super::headless).
            is_active: *mode != Mode::Offscreen,
            ..default()
        },
        orbit,
        Projection::from(PerspectiveProjection {
            near: 0.002 * scene.extent,
            far: 20.0 * scene.extent,
            ..default()
        }),
        Hdr,
        exposure,
        Tonemapping::KhronosPbrNeutral,
        Skybox {
            image: Some(images.add(sky::cube_map(to_sun()))),
            brightness: 1.0 / exposure.exposure(),
            ..default()
        },
        // The light of the whole sky: blue from above, brown from the ground.
        EnvironmentMapLight {
            intensity: 1.0 / exposure.exposure(),
            ..EnvironmentMapLight::hemispherical_gradient(
                &mut images,
                LinearRgba::rgb(0.30, 0.44, 0.70),
                LinearRgba::rgb(0.27, 0.33, 0.42),
                LinearRgba::rgb(0.10, 0.08, 0.06),
            )
        },
        DistanceFog {
            color: sky::HORIZON.into(),
            directional_light_color: Color::srgba(1.0, 0.85, 0.6, 0.3),
            directional_light_exponent: 12.0,
            falloff: FogFalloff::from_visibility_squared(9.0 * scene.extent),
        },
    ));
    // Without a GPU, smooth edges of land and shadow take most of a frame.
    if adapter.device_type == wgpu::DeviceType::Cpu {
        camera.insert(Msaa::Off);
        if !options.smooth {
            camera.insert(ShadowFilteringMethod::Hardware2x2);
        }
    }
    if *mode == Mode::Offscreen {
        let fine = if options.smooth { 2 } else { 1 };
        let (width, height) = (fine * options.size.x, fine * options.size.y);
        // egui draws on this format only.
        let target = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
        camera.insert(RenderTarget::Image(images.add(target).into()));
    }
}

/// High quality on a real graphics adapter, and for screenshots that are drawn once.
fn choose_quality(
    adapter: Res<RenderAdapterInfo>,
    options: Res<Options>,
    mut view: ResMut<TerrainView>,
) {
    if adapter.device_type != wgpu::DeviceType::Cpu || options.smooth {
        view.quality = Quality::High;
    }
}

/// An orbit camera that has the whole terrain in view: drag to orbit, right drag to
/// pan, scroll to zoom.
pub fn frame_camera(extent: f32, height: f32) -> PanOrbitCamera {
    PanOrbitCamera {
        focus: Vec3::new(0.0, 0.3 * height, 0.0),
        radius: Some(1.15 * extent + 0.4 * height),
        yaw: Some(0.5),
        pitch: Some(0.38),
        pitch_lower_limit: Some(0.03),
        pitch_upper_limit: Some(1.5),
        zoom_lower_limit: 0.03 * extent,
        zoom_upper_limit: Some(4.0 * extent),
        // Keep moving while the simulation's clock is paused.
        use_real_time: true,
        ..default()
    }
}

/// Keeps the camera above the ground, and its focus over the terrain.
fn keep_above_ground(
    scene: Res<SunAndCamera>,
    terrain: Option<Res<Terrain>>,
    mut cameras: Query<&mut PanOrbitCamera, With<ExampleCamera>>,
) {
    let half = scene.extent / 2.0;
    for mut camera in cameras.iter_mut().filter(|camera| camera.initialized) {
        let mut focus = camera.target_focus.clamp(
            Vec3::new(-half, 0.0, -half),
            Vec3::new(half, 1.5 * scene.height, half),
        );
        let mut pitch = camera.target_pitch;
        let radius = camera.target_radius;
        let back = Quat::from_rotation_y(camera.target_yaw) * Quat::from_rotation_x(-pitch);
        let eye = focus + back * Vec3::Z * radius;
        let ground = probe::ground_height(terrain.as_deref(), eye).unwrap_or(0.0);
        let lowest = ground + 0.01 * scene.extent;
        if eye.y < lowest {
            let rise = (lowest - focus.y) / radius;
            pitch = rise.clamp(-1.0, 1.0).asin().min(1.5);
            focus.y += ((rise - 1.0) * radius).max(0.0);
        }
        // Change the camera only where needed: it smooths its own motion.
        if focus != camera.target_focus || pitch != camera.target_pitch {
            (camera.target_focus, camera.target_pitch) = (focus, pitch);
        }
    }
}
