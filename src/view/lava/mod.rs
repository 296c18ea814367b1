//! The lava's surface: what it looks like, and the chunks that draw it.
//!
//! Wherever there is lava, an entity marked [`LavaChunk`] draws it, in the same
//! way as water: see [`water`](super::water). Its vertices carry:
//!
//! | attribute | x | y |
//! |---|---|---|
//! | `ATTRIBUTE_UV_0` | thickness of the lava, m; negative where the surface dips into the ground | heat: 1 fresh, 0 about to freeze |
//! | `ATTRIBUTE_UV_1` | velocity along +X, m/s | velocity along +Z, m/s |
//!
//! The default material glows by heat, with a dark crust where the lava is cold
//! or slow. Its light is brighter than white, for cameras with bloom. Put any
//! other material on the chunks (`Added<LavaChunk>` finds new ones).

mod layer;
mod material;

pub(super) use layer::Lava;
pub use material::{LavaExtension, LavaMaterial};

use crate::terrain::Terrain;
use bevy::{math::*, prelude::*};

/// How far fresh basalt runs in a second where a metre of it lies on a slope of
/// one, and the product of thickness and slope at which it stands still.
const FLOW: (f32, f32) = (11.0, 0.06);
/// Faster lava is not drawn any faster. units: m/s
const FASTEST: f32 = 2.0;

/// A piece of the lava's surface, above the ground's chunk of the same place.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct LavaChunk {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// How lava is drawn. Changing it repaints the lava.
///
/// Colors are linear RGB.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct LavaView {
    /// Whether lava is drawn at all.
    pub visible: bool,
    /// Color of its crust.
    pub crust: LinearRgba,
    /// Light of lava that is about to freeze, as a share of white in full sun.
    pub dull: LinearRgba,
    /// Light of the freshest lava, as a share of white in full sun.
    pub bright: LinearRgba,
    /// Factor on the brightness of the glow.
    pub glow: f32,
    /// Size of the plates of crust. units: m
    pub plate_size: f32,
    /// Thinner lava is not drawn. units: m
    pub min_depth: f32,
}

impl Default for LavaView {
    fn default() -> Self {
        Self {
            visible: true,
            crust: LinearRgba::rgb(0.022, 0.017, 0.015),
            dull: LinearRgba::rgb(0.42, 0.018, 0.0),
            bright: LinearRgba::rgb(1.25, 0.34, 0.015),
            glow: 1.0,
            plate_size: 5.0,
            min_depth: 1e-3,
        }
    }
}

/// Velocity of the lava in a cell as it is drawn: fresh basalt's, for a terrain
/// does not keep its own. units: m/s
fn velocity(terrain: &Terrain, x: u32, y: u32) -> Vec2 {
    let grid = terrain.grid();
    let Some((depths, heats)) = terrain.lava().zip(terrain.lava_heat()) else {
        return Vec2::ZERO;
    };
    let here = grid.index(x, y);
    let depth = depths[here];
    let own = terrain.ground(here) + depth;
    // Dry ground is a wall, or an edge to fall over.
    let level = |x: u32, y: u32| {
        let cell = grid.index(x, y);
        let level = terrain.ground(cell) + depths[cell];
        if depths[cell] > 0.0 || level < own {
            level
        } else {
            own
        }
    };
    let last = grid.size() - 1;
    let fall = vec2(
        level(x.saturating_sub(1), y) - level((x + 1).min(last.x), y),
        level(x, y.saturating_sub(1)) - level(x, (y + 1).min(last.y)),
    ) / (2.0 * grid.cell_size());
    let steep = fall.length();
    let free = (1.0 - FLOW.1 / (steep * depth).max(1e-6)).max(0.0);
    let warmth = (heats[here] / depth.max(1e-6)).min(1.0);
    (fall * FLOW.0 * depth * depth * free * (0.1 + 0.9 * warmth)).clamp_length_max(FASTEST)
}
