//! All integration tests in one program: linking Bevy once is slow enough.

mod ageing;
mod app;
mod bake;
mod contract;
mod detail;
mod determinism;
mod drainage;
mod droplets;
mod edits;
mod files;
mod forcing;
mod golden;
mod lava;
mod lockstep;
mod masks;
mod meander;
mod models;
mod oracle;
mod picking;
mod pipe;
mod prelude;
mod queries;
mod scenes;
mod shallow;
mod terrain;
mod terrains;
mod thermal;
mod view;
mod water_shader;
mod water_view;

use bevy_erode::prelude::*;
use terrains::{flooded_hills, hills, land};

/// Volume that lies lower than before. units: m³
fn eroded(before: &[f32], terrain: &Terrain) -> f64 {
    let cut = before.iter().enumerate();
    let cut = cut.map(|(i, old)| f64::from((old - terrain.ground(i)).max(0.0)));
    cut.sum::<f64>() * terrain.grid().cell_area()
}
