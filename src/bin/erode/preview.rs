//! Colors of the ground for a shaded relief.

use bevy::math::Vec3;
use bevy_erode::io::{HeightmapError, VerticalRange};
use bevy_erode::prelude::*;

// Linear RGB, bright enough to be seen from straight above.
const ROCK: Vec3 = Vec3::new(0.33, 0.30, 0.25);
const CLIFF: Vec3 = Vec3::new(0.15, 0.13, 0.12);
const SOIL: Vec3 = Vec3::new(0.26, 0.17, 0.085);
const GRASS: Vec3 = Vec3::new(0.14, 0.19, 0.055);
const SNOW: Vec3 = Vec3::new(0.80, 0.82, 0.85);
const SHALLOWS: Vec3 = Vec3::new(0.07, 0.22, 0.25);
const DEEP: Vec3 = Vec3::new(0.015, 0.07, 0.16);

/// The relief of a terrain with its water.
pub fn write(terrain: &Terrain, path: &std::path::Path) -> Result<(), HeightmapError> {
    let ground = Heightmap::from_ground(terrain);
    let VerticalRange { lowest, highest } = VerticalRange::from_values(&ground.values);
    let width = terrain.grid().width();
    let color = |cell: usize| {
        let slope = terrain.slope((cell % width) as u32, (cell / width) as u32);
        let up = 1.0 / (1.0 + slope.length_squared()).sqrt();
        let height = (terrain.ground(cell) - lowest) / (highest - lowest);
        let dry = ground_color(height, up, terrain.soil()[cell]);
        let depth = terrain.water()[cell];
        let water = SHALLOWS.lerp(DEEP, ramp(depth, 0.0, 8.0));
        dry.lerp(water, ramp(depth, 0.005, 0.4)).to_array()
    };
    // Water lies level over its bed.
    let mut surface = ground.clone();
    for (height, depth) in surface.values.iter_mut().zip(terrain.water()) {
        *height += depth;
    }
    surface.write_hillshade(path, color)
}

/// By height (0 to 1), the upward part of the normal and the depth of soil.
fn ground_color(height: f32, up: f32, soil: f32) -> Vec3 {
    let rock = ROCK.lerp(CLIFF, ramp(up, 0.86, 0.66));
    let grown = ramp(up, 0.78, 0.93) * ramp(height, 0.75, 0.40);
    let earth = SOIL.lerp(GRASS, grown);
    let ground = rock.lerp(earth, ramp(soil, 0.0, 0.4).max(0.75 * grown));
    ground.lerp(SNOW, ramp(height, 0.78, 0.86) * ramp(up, 0.62, 0.80))
}

/// 0 at `from`, 1 at `to` (which may be smaller), smooth between.
fn ramp(value: f32, from: f32, to: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
