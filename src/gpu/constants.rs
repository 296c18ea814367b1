//! What all passes know: the terrain, where things lie in the status buffer, and
//! the constants that several models share.

use super::{
    pass::{PassModule, shader_file},
    shader_module::shader_module,
    status::{self, StatusLayout},
};
use crate::{
    models::pipe::rows::{self, power},
    terrain::{Border, Borders, FILM, Grid, TILE},
};
use bevy::math::*;

/// Numbers of the kinds of [`Border`].
const WALL: u32 = 0;
const OPEN: u32 = 1;
const SEA: u32 = 2;

shader_module! {
    pub(super) static CONSTANTS = "bevy_erode::gpu::constants";
    constants {
        /// Water that is no deeper does not flow. units: m
        FILM: f32 = FILM;
        /// Cells along a side of a tile.
        TILE: u32 = TILE;
        /// Cells along a side of a workgroup that works on cells.
        GROUP: u32 = status::GROUP;
        /// Bits of a tile's state.
        WET: u32 = status::WET;
        WET_NORTH: u32 = status::WET_NORTH;
        WET_SOUTH: u32 = status::WET_SOUTH;
        WET_WEST: u32 = status::WET_WEST;
        WET_EAST: u32 = status::WET_EAST;
        /// So near to an edge water concerns the tile beyond. units: cells
        WET_REACH: u32 = rows::WET_REACH as u32;
        SETTLED: u32 = status::SETTLED;
        SETTLING: u32 = status::SETTLING;
        AT_REST: u32 = status::AT_REST;
        /// Terms of the ledger.
        MOVED: u32 = status::MOVED;
        SOLIDS_LEFT: u32 = status::SOLIDS_LEFT;
        RAINED: u32 = status::RAINED;
        EVAPORATED: u32 = status::EVAPORATED;
        SHORTFALL_SOLIDS: u32 = status::SHORTFALL_SOLIDS;
        LOST_SOLIDS: u32 = status::LOST_SOLIDS;
        LOST_WATER: u32 = status::LOST_WATER;
        LEDGER_TERMS: u32 = status::LEDGER_TERMS;
        /// Kinds of borders.
        WALL: u32 = WALL;
        OPEN: u32 = OPEN;
        SEA: u32 = SEA;
        /// Of `depth_power`: see the pipe model.
        POWER_DEEPEST: f32 = power::MAX_FRICTION_DEPTH;
        POWER_GUESS: f32 = power::GUESS;
        POWER_SQUARE: f32 = power::SQUARE;
        POWER_LINE: f32 = power::LINE;
        POWER_START: f32 = power::START;
    }
    /// The terrain, and where parts of the status buffer begin. Two of a kind are
    /// those of the newest state and of the next one.
    struct TerrainConstants as constants at (0, 0) {
        size: UVec2,
        tiles: UVec2,
        /// West, east, north, south.
        borders: UVec4,
        /// Levels of those that are a sea. units: m
        seas: Vec4,
        cell_size: f32,
        datum: f32,
        gravity: f32,
        /// Always zero, but the compiler does not know: see `exactly`.
        zero: u32,
        pace: UVec2,
        tile_states: UVec2,
        edges: UVec2,
        ground_changed: u32,
        water_changed: u32,
        redraw: u32,
        ledger: u32,
        /// Whether there is a map of hardness.
        has_hardness: u32,
    }
}

/// WGSL that all passes share.
pub(super) static MODULE: PassModule = PassModule {
    passes: &[],
    libraries: &[
        shader_file!("state.wgsl"),
        shader_file!("status.wgsl"),
        shader_file!("ledger.wgsl"),
    ],
    constants: &[&CONSTANTS],
    twins: |_| {},
};

/// Of the terrain that is not in its buffers, and may change from frame to frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    pub datum: f32,
    pub borders: Borders,
    /// units: m/s²
    pub gravity: f32,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            datum: 0.0,
            borders: Borders::default(),
            gravity: 9.81,
        }
    }
}

impl TerrainConstants {
    /// Of a terrain whose newest state is in this copy.
    pub fn new(
        grid: &Grid,
        layout: &StatusLayout,
        surroundings: &Surroundings,
        current: usize,
        has_hardness: bool,
    ) -> Self {
        let borders = &surroundings.borders;
        let sides = [borders.west, borders.east, borders.north, borders.south];
        let pair = |of: &dyn Fn(usize) -> u32| uvec2(of(current), of(1 - current));
        Self {
            size: grid.size(),
            tiles: grid.tiles(),
            borders: UVec4::from_array(sides.map(|side| match side {
                Border::Wall => WALL,
                Border::Open => OPEN,
                Border::Sea { .. } => SEA,
            })),
            seas: Vec4::from_array(sides.map(|side| match side {
                Border::Sea { level } => level,
                _ => 0.0,
            })),
            cell_size: grid.cell_size(),
            datum: surroundings.datum,
            gravity: surroundings.gravity,
            zero: 0,
            pace: pair(&|copy| status::PACE[copy]),
            tile_states: pair(&|copy| layout.tile_states(copy)),
            edges: pair(&|copy| layout.edges(copy)),
            ground_changed: layout.ground_changed(),
            water_changed: layout.water_changed(),
            redraw: layout.redraw(),
            ledger: layout.ledger(),
            has_hardness: has_hardness.into(),
        }
    }
}
