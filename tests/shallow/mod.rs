//! Implicit shallow water by its promises: analytic solutions, conservation,
//! symmetry, and what it does to the ground.

mod ground;
mod published;
mod scenes;
mod steep;
mod switching;
mod water;

use bevy::math::UVec2;
use bevy_erode::models::shallow_water::ShallowWaterSolver;
use bevy_erode::prelude::*;

fn solver(settings: ShallowWater, terrain: &Terrain) -> ShallowWaterSolver {
    ShallowWaterSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Water that leaves the ground alone.
fn clear_water() -> ShallowWater {
    ShallowWater {
        regolith_depth: 0.0,
        ..ShallowWater::default()
    }
}

/// Without friction as well: what shallow-water theory speaks of.
fn ideal_water() -> ShallowWater {
    ShallowWater {
        roughness: 0.0,
        damping: 0.0,
        ..clear_water()
    }
}

/// A plane of 1 m cells that falls by `slope` towards +X, walls at its sides.
fn plane(size: UVec2, slope: f32) -> Terrain {
    let heights = (0..size.x * size.y).map(|i| (size.x - 1 - i % size.x) as f32 * slope);
    Terrain::from_heights(size, 1.0, heights.collect())
        .and_then(|t| {
            t.with_borders(Borders {
                east: Border::Open,
                ..Borders::closed()
            })
        })
        .expect("valid")
}

fn sum(layer: &[f32]) -> f64 {
    layer.iter().map(|v| f64::from(*v)).sum()
}
