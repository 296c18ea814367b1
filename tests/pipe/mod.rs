//! The pipe model by its promises: analytic solutions, conservation, symmetry.

mod axes;
mod landscape;
mod published;
mod scenes;
mod water;

use bevy::math::UVec2;
use bevy_erode::prelude::*;

fn solver(settings: PipeModel, terrain: &Terrain) -> PipeSolver {
    PipeSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Water that neither erodes nor drops anything.
fn clear_water() -> PipeModel {
    PipeModel {
        capacity: 0.0,
        ..PipeModel::default()
    }
}

/// Without friction as well: what shallow-water theory speaks of.
fn ideal_water() -> PipeModel {
    PipeModel {
        roughness: 0.0,
        ..clear_water()
    }
}

/// A basin of 2 m cells between walls, rough hills in it, half under water that
/// stands higher in the east.
fn flooded_hills(seed: u32, size: UVec2) -> Terrain {
    let land = crate::land(seed, size, 2.0);
    let level = |i: usize| 20.0 + (i % size.x as usize) as f32 * 0.1;
    let water = land.bedrock().iter().enumerate();
    let water: Vec<f32> = water.map(|(i, z)| (level(i) - z).max(0.0)).collect();
    let cells = land.grid().cells();
    land.with_layer(Layer::Water, water)
        .and_then(|land| land.with_layer(Layer::Soil, vec![0.5; cells]))
        .and_then(|land| land.with_borders(Borders::closed()))
        .expect("valid")
}
