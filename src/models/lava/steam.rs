//! Messages about water that boils off on lava.

use super::LavaSolver;
use crate::{
    models::plugin::{ModelState, advance_model},
    schedule::{ErosionStep, ErosionStepSystems},
    terrain::Terrain,
};
use bevy::prelude::*;

/// Water that boiled off on lava in a step: one message for each 64 × 64 tile.
/// The view lets steam rise there; a game may hiss.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct LavaSteam {
    /// Where most of it did, on the ground.
    pub position: Vec3,
    /// Water that became steam. units: m³
    pub volume: f64,
}

/// Cells of the last step where most of a tile's water boiled off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boiled {
    /// Number of the cell, row by row.
    pub cell: usize,
    /// Of the whole tile. units: m³
    pub volume: f64,
}

pub(crate) fn build(app: &mut App) {
    app.add_message::<LavaSteam>().add_systems(
        ErosionStep,
        write_steam_messages
            .in_set(ErosionStepSystems::Lava)
            // The messages are about the step that was just made.
            .after(advance_model::<LavaSolver>),
    );
}

fn write_steam_messages(
    terrain: Option<Res<Terrain>>,
    mut state: ResMut<ModelState<LavaSolver>>,
    mut steam: MessageWriter<LavaSteam>,
) {
    let boiled = match state.solver_mut() {
        Some(solver) => solver.take_boiled(),
        None => return,
    };
    let Some(terrain) = terrain else { return };
    let (width, cells) = (terrain.grid().width(), terrain.grid().cells());
    let boiled = boiled.into_iter().filter(|own| own.cell < cells);
    steam.write_batch(boiled.map(|Boiled { cell, volume }| {
        let place = terrain
            .grid()
            .cell_center((cell % width) as u32, (cell / width) as u32);
        LavaSteam {
            position: place.with_y(terrain.grid().origin().y + terrain.ground(cell)),
            volume,
        }
    }));
}
