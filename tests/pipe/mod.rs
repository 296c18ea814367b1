//! The pipe model by its promises: analytic solutions, conservation, symmetry.

mod axes;
mod gullies;
mod landscape;
mod published;
mod scenes;
mod streams;
mod water;

use bevy_erode::models::pipe::PipeSolver;
use bevy_erode::prelude::*;

fn solver(settings: PipeModel, terrain: &Terrain) -> PipeSolver {
    PipeSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Water that neither erodes nor drops anything.
fn clear_water() -> PipeModel {
    PipeModel {
        carving: 0.0,
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
