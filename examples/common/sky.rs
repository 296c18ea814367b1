//! A clear sky, as a small cube map: pale at the horizon, deep blue above,
//! bright around the sun.

use bevy::{
    asset::RenderAssetUsages,
    prelude::*,
    render::render_resource::{
        Extent3d, TextureDimension, TextureFormat, TextureViewDescriptor, TextureViewDimension,
    },
};

/// Texels along an edge: the sky is smooth, little is enough.
const SIDE: u32 = 128;

pub const ZENITH: LinearRgba = LinearRgba::rgb(0.07, 0.23, 0.60);
pub const HORIZON: LinearRgba = LinearRgba::rgb(0.78, 0.88, 1.0);
/// Mist, in which the land stands.
const BELOW: LinearRgba = LinearRgba::rgb(0.38, 0.47, 0.55);
const SUN: LinearRgba = LinearRgba::rgb(1.0, 0.85, 0.6);

/// The sky seen in a direction.
fn color(direction: Vec3, to_sun: Vec3) -> LinearRgba {
    let up = direction.y;
    let sky = if up > 0.0 {
        HORIZON.mix(&ZENITH, 1.0 - (1.0 - up).powf(3.0))
    } else {
        HORIZON.mix(&BELOW, 1.0 - (1.0 + up).powf(2.0))
    };
    let toward_sun = direction.dot(to_sun).max(0.0);
    let glow = 0.25 * toward_sun.powf(6.0) + 0.5 * toward_sun.powf(200.0);
    sky.mix(&SUN, glow)
}

/// The cube map, for a `Skybox`.
pub fn cube_map(to_sun: Vec3) -> Image {
    let mut texels = Vec::with_capacity((SIDE * SIDE * 6 * 4) as usize);
    for face in 0..6 {
        for row in 0..SIDE {
            for column in 0..SIDE {
                let [u, v] = [column, row].map(|at| (at as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0);
                let (x, y, z) = match face {
                    0 => (1.0, -v, -u),
                    1 => (-1.0, -v, u),
                    2 => (u, 1.0, v),
                    3 => (u, -1.0, -v),
                    4 => (u, -v, 1.0),
                    _ => (-u, -v, -1.0),
                };
                // Cube maps are left-handed.
                let direction = Vec3::new(x, y, -z).normalize();
                texels.extend(Srgba::from(color(direction, to_sun)).to_u8_array());
            }
        }
    }
    let mut image = Image::new(
        Extent3d {
            width: SIDE,
            height: SIDE,
            depth_or_array_layers: 6,
        },
        TextureDimension::D2,
        texels,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.texture_view_descriptor = Some(TextureViewDescriptor {
        dimension: Some(TextureViewDimension::Cube),
        ..default()
    });
    image
}
