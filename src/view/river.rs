//! Draws the particles of rivers, to look at how they work.

use super::dynamic_mesh::{DynamicMesh, triangle_mesh};
use crate::{
    models::meander::{Rivers, TerrainRiver},
    terrain::Terrain,
};
use bevy::{math::*, mesh::Indices, prelude::*};

/// Size of a dot, of the water's radius.
const DOT: f32 = 0.12;
/// A dot is an octahedron: its corners, and the corners of its faces.
const CORNERS: [Vec3; 6] = [
    Vec3::X,
    Vec3::NEG_X,
    Vec3::Y,
    Vec3::NEG_Y,
    Vec3::Z,
    Vec3::NEG_Z,
];
const FACES: [[u32; 3]; 8] = [
    [2, 4, 0],
    [2, 0, 5],
    [2, 5, 1],
    [2, 1, 4],
    [3, 0, 4],
    [3, 5, 0],
    [3, 1, 5],
    [3, 4, 1],
];

/// How rivers are drawn beside their water.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct RiverView {
    /// Whether a dot shows each particle of water and of sediment.
    pub particles: bool,
    /// Slow water.
    pub slow: LinearRgba,
    /// Water that runs at [`full_speed`](Self::full_speed) or faster.
    pub fast: LinearRgba,
    /// Sediment; a particle that carries all it can has a dot as large as
    /// water's.
    pub sediment: LinearRgba,
    /// units: m/s
    pub full_speed: f32,
}

impl Default for RiverView {
    fn default() -> Self {
        Self {
            particles: false,
            slow: LinearRgba::rgb(0.02, 0.10, 0.55),
            fast: LinearRgba::rgb(0.25, 0.85, 1.0),
            sediment: LinearRgba::rgb(0.75, 0.30, 0.03),
            full_speed: 10.0,
        }
    }
}

/// The entity that draws the particles of all rivers.
#[derive(Component, Reflect, Clone, Copy, Debug, Default)]
#[reflect(Component)]
pub struct RiverDots;

pub(super) fn draw_particles(
    view: Res<RiverView>,
    rivers: Res<Rivers>,
    terrain: Option<Res<Terrain>>,
    mut dots: DynamicMesh<RiverDots>,
) {
    let Some(terrain) = terrain.filter(|_| view.particles) else {
        dots.hide();
        return;
    };
    let mesh = dots_mesh(&view, rivers.iter().map(|(_, river)| river), &terrain);
    dots.show("river particles", mesh, || StandardMaterial {
        unlit: true,
        ..default()
    });
}

/// A dot for each particle, on top of the water.
pub fn dots_mesh<'a>(
    view: &RiverView,
    rivers: impl Iterator<Item = &'a TerrainRiver>,
    terrain: &Terrain,
) -> Mesh {
    let mut dots: Vec<(Vec3, f32, LinearRgba)> = Vec::new();
    for stretch in rivers {
        let (river, origin) = (stretch.river(), stretch.origin());
        let size = DOT * river.settings().radius;
        let place = |at: DVec2, lift: f32| {
            let at = (at + origin).as_vec2();
            let place = Vec3::new(at.x, 0.0, at.y);
            let ground = terrain.height_at(place).unwrap_or_default();
            let top = terrain.water_surface_at(place).unwrap_or(ground);
            place.with_y(top.max(ground) + lift)
        };
        for own in river.water() {
            let share = own.velocity.length() as f32 / view.full_speed.max(1e-3);
            let color = view.slow.mix(&view.fast, share.min(1.0));
            dots.push((place(own.position, 0.5 * size), size, color));
        }
        let capacity = f64::from(river.settings().capacity);
        for own in river.sediment() {
            let share = (own.volume / capacity).clamp(0.0, 1.0) as f32;
            let size = size * share.cbrt().max(0.3);
            // Beside water's dots, not in them.
            dots.push((place(own.position, 1.5 * size), size, view.sediment));
        }
    }
    let count = dots.len() * CORNERS.len();
    let mut positions = Vec::with_capacity(count);
    let mut normals = Vec::with_capacity(count);
    let mut colors = Vec::with_capacity(count);
    let mut indices = Vec::with_capacity(dots.len() * 3 * FACES.len());
    for (center, size, color) in dots {
        let first = positions.len() as u32;
        for corner in CORNERS {
            positions.push((center + corner * size).to_array());
            normals.push(corner.to_array());
            // Light from above, so that a dot is not flat.
            let light = 0.75 + 0.25 * corner.y;
            let LinearRgba {
                red, green, blue, ..
            } = color;
            colors.push([red * light, green * light, blue * light, 1.0]);
        }
        indices.extend(FACES.iter().flatten().map(|corner| first + corner));
    }
    triangle_mesh(positions, Indices::U32(indices))
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
}
