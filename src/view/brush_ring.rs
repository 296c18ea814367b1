//! A ring on the ground that shows where a brush will act.

use super::dynamic_mesh::{DynamicMesh, triangle_mesh};
use crate::{
    forcing::edits::{Brush, BrushShape},
    terrain::Terrain,
};
use bevy::{math::*, mesh::Indices, prelude::*};

/// Points of the outline, at least and at most.
const POINTS: (f32, f32) = (64.0, 720.0);

/// The brush that is shown on the ground. Set `at` to where the pointer meets
/// the terrain, and to `None` to hide the ring.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct BrushRing {
    /// The middle of the brush. units: m
    pub at: Option<Vec3>,
    /// Shape and radius.
    pub brush: Brush,
    /// Color of the line.
    pub color: Color,
}

impl Default for BrushRing {
    fn default() -> Self {
        Self {
            at: None,
            brush: Brush::default(),
            color: Color::srgb(1.0, 0.85, 0.3),
        }
    }
}

/// The entity that draws the ring.
#[derive(Component, Reflect, Clone, Copy, Debug, Default)]
#[reflect(Component)]
pub struct BrushRingMark;

/// Lays the ring on the ground, which may move below it.
pub(super) fn draw_ring(
    ring: Res<BrushRing>,
    terrain: Option<Res<Terrain>>,
    mut mark: DynamicMesh<BrushRingMark>,
) {
    let place = ring.at.filter(|at| at.is_finite());
    let is_valid = ring.brush.check().is_ok();
    let Some((at, terrain)) = place.filter(|_| is_valid).zip(terrain) else {
        mark.hide();
        return;
    };
    let is_old = ring.is_changed() || terrain.is_changed();
    if !is_old && mark.is_shown() {
        return;
    }
    let mesh = ring_mesh(&terrain, &ring.brush, at);
    mark.show("brush ring", mesh, || StandardMaterial {
        base_color: ring.color,
        unlit: true,
        cull_mode: None,
        // Before the ground and the water that it lies on.
        depth_bias: 100.0,
        ..default()
    });
    if ring.is_changed() {
        mark.set_color(ring.color);
    }
}

/// A band along the brush's outline, a little above ground, lava and water.
pub fn ring_mesh(terrain: &Terrain, brush: &Brush, at: Vec3) -> Mesh {
    let cell = terrain.cell_size();
    let radius = brush.radius.max(0.75 * cell);
    let width = (radius * 0.045).max(cell * 0.12);
    let count = (core::f32::consts::TAU * radius / (0.7 * cell)).clamp(POINTS.0, POINTS.1) as u32;
    let mut positions = Vec::with_capacity(count as usize * 2 + 2);
    for i in 0..=count {
        let turn = f64::from(i % count) / f64::from(count) * core::f64::consts::TAU;
        let way = Vec2::new(libm::cos(turn) as f32, libm::sin(turn) as f32);
        // The same way to a square's outline.
        let reach = match brush.shape {
            BrushShape::Circle => 1.0,
            BrushShape::Square => 1.0 / way.abs().max_element(),
        };
        for side in [-0.5, 0.5] {
            let away = way * reach * (radius + side * width);
            positions.push(place_on_top(
                terrain,
                at + Vec3::new(away.x, 0.0, away.y),
                width,
            ));
        }
    }
    let mut indices = Vec::with_capacity(count as usize * 6);
    for i in 0..count {
        let inner = 2 * i;
        indices.extend([inner, inner + 1, inner + 2]);
        indices.extend([inner + 2, inner + 1, inner + 3]);
    }
    let normals = vec![[0.0, 1.0, 0.0]; positions.len()];
    triangle_mesh(positions, Indices::U32(indices))
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
}

/// A place on whatever is on top, or at the given height outside the land.
fn place_on_top(terrain: &Terrain, place: Vec3, lift: f32) -> [f32; 3] {
    let ground = terrain.height_at(place).unwrap_or(place.y);
    let ground = ground + terrain.lava_depth_at(place).unwrap_or_default();
    let top = terrain
        .water_surface_at(place)
        .map_or(ground, |water| water.max(ground));
    [place.x, top + lift, place.z]
}
