//! What the pipe model takes of the machine's memory.

use crate::terrains::flooded_hills;
use allocation_counter::measure;
use bevy::math::UVec2;
use bevy_erode::models::pipe::PipeSolver;
use bevy_erode::{parallel::Workers, prelude::*};

fn solver(settings: PipeModel, terrain: &Terrain) -> PipeSolver {
    PipeSolver::new(settings, terrain.grid()).expect("valid settings")
}

#[test]
fn a_step_takes_no_memory() {
    let mut terrain = flooded_hills(3, UVec2::new(300, 260));
    let mut solver = solver(PipeModel::default(), &terrain);
    // The first step makes room for what later ones need.
    solver.step_on(Workers::serial(), &mut terrain, 0.1);
    let taken = measure(|| {
        for _ in 0..20 {
            solver.step_on(Workers::serial(), &mut terrain, 0.1);
        }
    });
    assert!(terrain.ledger().solids.moved > 1.0, "nothing happened");
    assert_eq!(taken.count_total, 0, "{taken:?}");
}

#[test]
fn terrain_and_model_take_at_most_64_bytes_a_cell() {
    let size = UVec2::new(520, 390);
    let mut kept = None;
    let taken = measure(|| {
        let mut terrain = flooded_hills(3, size);
        let mut solver = solver(PipeModel::default(), &terrain);
        solver.step_on(Workers::serial(), &mut terrain, 0.1);
        kept = Some((terrain, solver));
    });
    assert!(kept.is_some());
    let bytes = taken.bytes_current as f64 / f64::from(size.element_product());
    // Six planes at the very least, or the measure is wrong.
    assert!((24.0..=64.0).contains(&bytes), "{bytes} bytes a cell");
}
