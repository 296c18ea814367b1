//! Steam that rises where lava meets water.

use super::dynamic_mesh::{DynamicMesh, triangle_mesh};
use crate::models::lava::LavaSteam;
use bevy::{
    asset::RenderAssetUsages,
    image::Image,
    math::*,
    mesh::Indices,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};

/// Side of a puff's picture. units: pixels
const PIXELS: u32 = 64;
/// No more puffs start in a frame: a flood is a cloud, not a wall.
const MAX_STARTS: usize = 8;

/// How steam is drawn.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct SteamView {
    /// Whether steam is drawn at all.
    pub visible: bool,
    /// Water that makes a puff when it boils off. units: m³
    pub volume: f32,
    /// Size of a puff at first; it grows to four times that. units: m
    pub size: f32,
    /// How long a puff is seen. units: s
    pub lifetime: f32,
    /// How fast it rises and drifts. units: m/s
    pub wind: Vec3,
    /// Its color where it is thickest.
    pub color: LinearRgba,
    /// Puffs at a time.
    pub max_puffs: usize,
}

impl Default for SteamView {
    fn default() -> Self {
        Self {
            visible: true,
            volume: 0.4,
            size: 4.0,
            lifetime: 5.0,
            wind: Vec3::new(1.2, 4.5, 0.6),
            color: LinearRgba::new(0.80, 0.83, 0.86, 0.55),
            max_puffs: 240,
        }
    }
}

/// The entity that draws all steam.
#[derive(Component, Reflect, Clone, Copy, Debug, Default)]
#[reflect(Component)]
pub struct SteamPuffs;

/// Puffs in the air.
#[derive(Resource, Default)]
pub(super) struct Steam {
    puffs: Vec<Puff>,
    /// Puffs that are due and have not started.
    due: f32,
    /// How many have started so far.
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Puff {
    /// Where it started, and how long ago. units: m, s
    from: Vec3,
    age: f32,
    number: u32,
}

impl Steam {
    /// Ages what is in the air by `dt` seconds, and lets rise what boiled off.
    fn advance(
        &mut self,
        view: &SteamView,
        dt: f32,
        boiled: impl IntoIterator<Item = (Vec3, f64)>,
    ) {
        for puff in &mut self.puffs {
            puff.age += dt;
        }
        self.puffs.retain(|puff| puff.age < view.lifetime);
        let mut started = 0;
        for (from, volume) in boiled {
            self.due += (volume / f64::from(view.volume.max(1e-6))) as f32;
            // What is too much is not made up for later.
            self.due = self.due.min(MAX_STARTS as f32);
            while self.due >= 1.0 {
                self.due -= 1.0;
                if started < MAX_STARTS && self.puffs.len() < view.max_puffs {
                    started += 1;
                    self.count = self.count.wrapping_add(1);
                    let aside = 0.8 * view.size;
                    self.puffs.push(Puff {
                        from: from
                            + Vec3::new(random(self.count, 1), 0.0, random(self.count, 2)) * aside,
                        age: 0.0,
                        number: self.count,
                    });
                }
            }
        }
    }

    /// Quads that face a camera, the farthest first.
    fn mesh(&self, view: &SteamView, camera: &GlobalTransform) -> Mesh {
        let (right, up) = (camera.right().as_vec3(), camera.up().as_vec3());
        let mut puffs: Vec<(f32, Vec3, &Puff)> = self
            .puffs
            .iter()
            .map(|puff| {
                let sway = Vec3::new(
                    random(puff.number, 3),
                    random(puff.number, 4),
                    random(puff.number, 5),
                );
                let way = (view.wind + sway * (0.3 * view.wind.length())) * puff.age;
                let at = puff.from + Vec3::Y * view.size + way;
                (at.distance_squared(camera.translation()), at, puff)
            })
            .collect();
        puffs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = 4 * puffs.len();
        let (mut positions, mut uvs) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut colors = Vec::with_capacity(count);
        let mut indices = Vec::with_capacity(6 * puffs.len());
        for (_, at, puff) in puffs {
            let share = puff.age / view.lifetime.max(1e-3);
            let half = 0.5 * view.size * (1.0 + 3.0 * share.sqrt());
            // It comes quickly and goes slowly.
            let fade = (8.0 * share).min(1.0) * (1.0 - share) * (1.0 - share);
            let turn = Vec2::from_angle(3.0 * random(puff.number, 6) + 0.3 * puff.age);
            let first = positions.len() as u32;
            for corner in [
                vec2(-1.0, -1.0),
                vec2(1.0, -1.0),
                vec2(1.0, 1.0),
                vec2(-1.0, 1.0),
            ] {
                let turned = turn.rotate(corner) * half;
                positions.push((at + right * turned.x + up * turned.y).to_array());
                uvs.push([0.5 + 0.5 * corner.x, 0.5 - 0.5 * corner.y]);
                let LinearRgba {
                    red,
                    green,
                    blue,
                    alpha,
                } = view.color;
                colors.push([red, green, blue, alpha * fade]);
            }
            indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
        }
        triangle_mesh(positions, Indices::U32(indices))
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
    }
}

/// A pseudo-random number from −1 to 1 for a puff and one of its properties.
#[inline]
fn random(number: u32, property: u32) -> f32 {
    let mut bits = number.wrapping_mul(0x9E37_79B9) ^ property.wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x2C1B_3C6D);
    bits = (bits ^ (bits >> 12)).wrapping_mul(0x297A_2D39);
    (bits ^ (bits >> 15)) as f32 / (u32::MAX / 2) as f32 - 1.0
}

/// A soft white puff: a few round clouds in one.
fn puff_image() -> Image {
    let blobs: [(Vec2, f32); 6] = core::array::from_fn(|i| {
        let place = Vec2::from_angle(i as f32 * 1.05) * if i == 0 { 0.0 } else { 0.36 };
        (place, 0.30 + 0.06 * random(i as u32, 7))
    });
    let pixels = (0..PIXELS * PIXELS).flat_map(|pixel| {
        let place = UVec2::new(pixel % PIXELS, pixel / PIXELS).as_vec2() + 0.5;
        let at = place / PIXELS as f32 * 2.0 - 1.0;
        let clear = blobs.iter().fold(1.0, |clear, (center, size)| {
            let off = at.distance_squared(*center) / (size * size);
            clear * (1.0 - 0.75 * libm::expf(-off))
        });
        // Nothing at the picture's border.
        let rim = (1.0 - at.length_squared()).clamp(0.0, 1.0);
        let thick = (1.0 - clear) * rim.min(0.5) * 2.0;
        [255, 255, 255, (255.0 * thick.clamp(0.0, 1.0)) as u8]
    });
    Image::new(
        Extent3d {
            width: PIXELS,
            height: PIXELS,
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        pixels.collect(),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    )
}

pub(super) fn raise_steam(
    view: Res<SteamView>,
    time: Res<Time>,
    mut steam: ResMut<Steam>,
    mut boiled: MessageReader<LavaSteam>,
    cameras: Query<&GlobalTransform, With<Camera3d>>,
    mut puffs: DynamicMesh<SteamPuffs>,
    images: Option<ResMut<Assets<Image>>>,
) {
    let boiled = boiled.read().map(|own| (own.position, own.volume));
    steam.advance(&view, time.delta_secs(), boiled);
    let camera = cameras.iter().next();
    let (Some(camera), false, true) = (camera, steam.puffs.is_empty(), view.visible) else {
        puffs.hide();
        return;
    };
    let mesh = steam.mesh(&view, camera);
    puffs.show("steam", mesh, || StandardMaterial {
        base_color_texture: images.map(|mut images| images.add(puff_image())),
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        cull_mode: None,
        ..default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steam_follows_what_boils_off_and_is_bounded() {
        let view = SteamView::default();
        let mut steam = Steam::default();
        steam.advance(&view, 0.1, [(Vec3::ZERO, 0.75 * f64::from(view.volume))]);
        assert!(steam.puffs.is_empty(), "too little for a puff");
        steam.advance(&view, 0.1, [(Vec3::X, 0.75 * f64::from(view.volume))]);
        assert_eq!(steam.puffs.len(), 1);
        assert!(steam.puffs[0].from.distance(Vec3::X) < 2.0 * view.size);
        for _ in 0..200 {
            steam.advance(&view, 0.01, [(Vec3::ZERO, 1e9), (Vec3::Z, 1e9)]);
        }
        assert_eq!(steam.puffs.len(), view.max_puffs);
        let mesh = steam.mesh(&view, &GlobalTransform::IDENTITY);
        assert_eq!(mesh.count_vertices(), 4 * view.max_puffs);
        // What is due at most then starts at once, and all of it is gone in time.
        steam.advance(&view, view.lifetime, []);
        assert!(steam.puffs.is_empty());
    }

    #[test]
    fn a_puff_is_thick_in_the_middle_and_nothing_at_its_border() {
        let data = puff_image().data.expect("pixels");
        let alpha = |x: u32, y: u32| data[((y * PIXELS + x) * 4 + 3) as usize];
        let middle = PIXELS / 2;
        assert!(alpha(middle, middle) > 180);
        for i in 0..PIXELS {
            for (x, y) in [(i, 0), (0, i), (i, PIXELS - 1), (PIXELS - 1, i)] {
                assert!(alpha(x, y) < 20, "{x}, {y}");
            }
        }
    }
}
