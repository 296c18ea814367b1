//! The quick start of the README: a terrain, two models, a camera and a light.
//!
//! `cargo run --example minimal`

use bevy::prelude::*;
use bevy_erode::prelude::*;

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, ErosionPlugin::default()))
        .add_systems(Startup, setup)
        .run();
}

fn setup(mut commands: Commands) -> Result {
    // 512 × 512 cells of 2 m. A model is a resource: insert it and it runs.
    let mountains = Ridged::seeded(7).with_height(240.0);
    commands.insert_resource(Terrain::generate(&mountains, UVec2::splat(512), 2.0)?);
    commands.insert_resource(Droplets::default());
    commands.insert_resource(Thermal::default());
    commands.spawn((
        DirectionalLight::default(),
        Transform::default().looking_to(Vec3::new(-1.0, -0.6, -0.3), Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        // A camera sees 1000 m far by default; this land is 1024 m wide.
        Projection::from(PerspectiveProjection {
            far: 4000.0,
            ..default()
        }),
        Transform::from_xyz(-500.0, 550.0, 900.0).looking_at(Vec3::new(0.0, 50.0, 0.0), Vec3::Y),
    ));
    Ok(())
}
