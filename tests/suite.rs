//! All integration tests in one program: linking Bevy once is slow enough.

mod app;
mod bake;
mod cli;
mod contract;
mod detail;
mod determinism;
mod drainage;
mod droplets;
mod edits;
mod files;
mod forcing;
mod lava;
mod lockstep;
mod masks;
mod meander;
mod oracle;
mod physics;
mod picking;
mod pipe;
mod prelude;
mod properties;
mod queries;
mod scenes;
mod shallow;
mod terrain;
mod thermal;
mod view;
mod water_shader;
mod water_view;

use bevy::math::UVec2;
use bevy_erode::prelude::*;

/// A land that every test may use: rough hills of 128 × 96 cells of 2 m.
fn hills(seed: u32) -> Terrain {
    land(seed, UVec2::new(128, 96), 2.0)
}

/// Rough hills of 250 m × 190 m and more, the same at any resolution.
fn land(seed: u32, size: UVec2, cell_size: f32) -> Terrain {
    let shape = Fbm::seeded(seed).with_feature_size(150.0).with_height(60.0);
    Terrain::generate(&shape, size, cell_size).expect("a valid landform")
}

/// A basin of 2 m cells between walls, rough hills in it, half under water that
/// stands higher in the east.
fn flooded_hills(seed: u32, size: UVec2) -> Terrain {
    let land = land(seed, size, 2.0);
    let level = |i: usize| 20.0 + (i % size.x as usize) as f32 * 0.1;
    let water = land.bedrock().iter().enumerate();
    let water: Vec<f32> = water.map(|(i, z)| (level(i) - z).max(0.0)).collect();
    let cells = land.grid().cells();
    land.with_layer(Layer::Water, water)
        .and_then(|land| land.with_layer(Layer::Soil, vec![0.5; cells]))
        .and_then(|land| land.with_borders(Borders::closed()))
        .expect("valid")
}

/// Volume that lies lower than before. units: m³
fn eroded(before: &[f32], terrain: &Terrain) -> f64 {
    let cut = before.iter().enumerate();
    let cut = cut.map(|(i, old)| f64::from((old - terrain.ground(i)).max(0.0)));
    cut.sum::<f64>() * terrain.grid().cell_area()
}
