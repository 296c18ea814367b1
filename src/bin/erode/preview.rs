//! Pictures of the ground.

use bevy::math::Vec3;
use bevy_erode::drainage::network::RiverNetwork;
use bevy_erode::io::{HeightmapError, VerticalRange};
use bevy_erode::prelude::*;
use clap::ValueEnum;
use std::path::Path;

// No doc comments: with them, the help of all options would take two lines each.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum PreviewStyle {
    // Rock, earth, grass, snow and water, lit by sun and sky.
    Relief,
    // Gray, by light from the north-west alone.
    Hillshade,
    // Steepness by colors: `SLOPE_COLORS`.
    Slope,
    // Depth of the water in blue, over the hillshade.
    Water,
}

/// Where the light of a plain hillshade comes from: north-west (rows run south), 45° up.
/// Right, down, up.
const LIGHT: Vec3 = Vec3::new(-0.5, -0.5, core::f32::consts::FRAC_1_SQRT_2);
/// Gray of a slope that no light reaches, where 1 is white.
const SHADOW: f32 = 0.08;

/// Slopes and their colors, with even steps between. units: °, sRGB
const SLOPE_COLORS: [(f32, [u8; 3]); 6] = [
    (0.0, [255, 255, 255]),
    (15.0, [102, 189, 99]),
    (30.0, [254, 224, 76]),
    (45.0, [215, 48, 39]),
    (60.0, [84, 39, 136]),
    (90.0, [0, 0, 0]),
];

/// Water that is not shown: rain wets all of the land. units: m
const WET: f32 = 0.01;
/// The depth of the darkest blue. units: m
const DEEPEST: f32 = 10.0;
/// Colors of no depth and of the deepest water, and how much they cover. units: sRGB
const SHALLOW_BLUE: [u8; 3] = [158, 202, 225];
const DEEP_BLUE: [u8; 3] = [8, 48, 107];
const WATER_COVER: f32 = 0.85;

// Of a relief. Linear RGB, bright enough to be seen from straight above.
const ROCK: Vec3 = Vec3::new(0.33, 0.30, 0.25);
const CLIFF: Vec3 = Vec3::new(0.15, 0.13, 0.12);
const SOIL: Vec3 = Vec3::new(0.26, 0.17, 0.085);
const GRASS: Vec3 = Vec3::new(0.14, 0.19, 0.055);
const SNOW: Vec3 = Vec3::new(0.80, 0.82, 0.85);
const SHALLOWS: Vec3 = Vec3::new(0.07, 0.22, 0.25);
const DEEP: Vec3 = Vec3::new(0.015, 0.07, 0.16);

// Of a river network: order 1, the highest orders, lakes. units: sRGB
const BROOK: [u8; 3] = [96, 165, 220];
const RIVER: [u8; 3] = [10, 60, 150];
const LAKE: [u8; 3] = [60, 130, 200];
/// Order of the darkest rivers.
const DARKEST_ORDER: f32 = 5.0;

/// Draws the rivers and lakes of a terrain over its hillshade. Rivers of higher order are
/// darker, and those from the third on two cells wide.
pub fn write_rivers(
    terrain: &Terrain,
    network: &RiverNetwork,
    path: &Path,
) -> Result<(), HeightmapError> {
    let (width, cells) = (terrain.grid().width(), terrain.grid().cells());
    let mut orders = vec![0u8; cells];
    for river in network.rivers() {
        for point in &river.points {
            let cell = point.cell as usize;
            orders[cell] = orders[cell].max(river.order);
            if river.order >= 3 {
                let east = (cell % width + 1 < width).then_some(cell + 1);
                let south = (cell + width < cells).then_some(cell + width);
                for beside in [east, south].into_iter().flatten() {
                    orders[beside] = orders[beside].max(river.order);
                }
            }
        }
    }
    let map = Heightmap::from_ground(terrain);
    map.write_picture(path, |cell| {
        let ground = shade(terrain, cell);
        let color = if network.lake_depth(cell) > 0.0 {
            ground.lerp(srgb(LAKE), WATER_COVER)
        } else if orders[cell] > 0 {
            let part = (f32::from(orders[cell] - 1) / (DARKEST_ORDER - 1.0)).min(1.0);
            srgb(BROOK).lerp(srgb(RIVER), part)
        } else {
            ground
        };
        to_linear(color).to_array()
    })
}

/// Light from the north-west alone.
fn shade(terrain: &Terrain, cell: usize) -> Vec3 {
    let width = terrain.grid().width();
    let slope = terrain.slope((cell % width) as u32, (cell / width) as u32);
    let length = (1.0 + slope.length_squared()).sqrt();
    let facing = LIGHT.dot(Vec3::new(-slope.x, -slope.y, 1.0)) / length;
    Vec3::splat(SHADOW + (1.0 - SHADOW) * facing.max(0.0))
}

/// Draws a terrain.
pub fn write(terrain: &Terrain, style: PreviewStyle, path: &Path) -> Result<(), HeightmapError> {
    let width = terrain.grid().width();
    let slope = |cell: usize| terrain.slope((cell % width) as u32, (cell / width) as u32);
    let shade = |cell: usize| shade(terrain, cell);
    let picture = |color: &dyn Fn(usize) -> Vec3| {
        let map = Heightmap::from_ground(terrain);
        map.write_picture(path, |cell| to_linear(color(cell)).to_array())
    };
    match style {
        PreviewStyle::Relief => write_relief(terrain, path),
        PreviewStyle::Hillshade => picture(&shade),
        PreviewStyle::Slope => {
            picture(&|cell| slope_color(slope(cell).length().atan().to_degrees()))
        }
        PreviewStyle::Water => picture(&|cell| {
            let depth = terrain.water()[cell];
            match depth > WET {
                true => shade(cell).lerp(water_color(depth), WATER_COVER),
                false => shade(cell),
            }
        }),
    }
}

fn slope_color(degrees: f32) -> Vec3 {
    let steeper = SLOPE_COLORS.iter().position(|(stop, _)| *stop > degrees);
    let steeper = steeper.unwrap_or(SLOPE_COLORS.len() - 1).max(1);
    let ((from, low), (to, high)) = (SLOPE_COLORS[steeper - 1], SLOPE_COLORS[steeper]);
    let part = ((degrees - from) / (to - from)).clamp(0.0, 1.0);
    srgb(low).lerp(srgb(high), part)
}

/// Shallow water differs more than deep water.
fn water_color(depth: f32) -> Vec3 {
    let part = (depth / DEEPEST).sqrt().min(1.0);
    srgb(SHALLOW_BLUE).lerp(srgb(DEEP_BLUE), part)
}

fn srgb(bytes: [u8; 3]) -> Vec3 {
    Vec3::from(bytes.map(f32::from)) / 255.0
}

/// What a picture stores as this color.
fn to_linear(srgb: Vec3) -> Vec3 {
    let linear = |value: f32| match value <= 0.040_45 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    };
    Vec3::from(srgb.to_array().map(linear))
}

/// The relief of a terrain with its water.
fn write_relief(terrain: &Terrain, path: &Path) -> Result<(), HeightmapError> {
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
