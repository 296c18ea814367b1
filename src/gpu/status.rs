//! The status buffer: small numbers that passes write for one another and for the
//! host. Where each of them lies, in words.
//!
//! | words | |
//! |---|---|
//! | header | the constants below: one number each |
//! | tiles | two copies of each tile's state, then which tiles' ground and water changed since they were read back, and which changed since they were drawn |
//! | edges | two copies of the discharges over the west and the north border |
//! | ledger | [`LEDGER_TERMS`] sums for each workgroup, two words each |
//! | borders | of shallow water: faces that have no cell of their own |

use crate::terrain::Grid;
use bevy::math::*;

/// Words of the header; those from 12 on are free.
const HEADER: u32 = 16;

/// Most of g·d + v², of both copies of the state. units: m²/s²
pub(super) const PACE: [u32; 2] = [0, 1];
/// Erosion time that sub-steps could not cover. units: s
pub(super) const LOST_TIME: u32 = 2;
/// Deepest soil in this pass of thermal weathering and in the next, in turns.
/// units: m
pub(super) const DEEPEST: [u32; 2] = [3, 4];
/// What drops took up and carried away, each in two halves.
pub(super) const DROPLET_SUMS: u32 = 5;
/// Largest change of a level in this solve of shallow water and in the one before,
/// in turns. units: m
pub(super) const LEVEL_CHANGE: [u32; 2] = [9, 10];
/// Whether a cell of shallow water gave more than it had.
pub(super) const DEFICIT: u32 = 11;

/// Bits of a tile's state: some water in it, and at each of its edges.
pub(super) const WET: u32 = 1;
pub(super) const WET_NORTH: u32 = 2;
pub(super) const WET_SOUTH: u32 = 4;
pub(super) const WET_WEST: u32 = 8;
pub(super) const WET_EAST: u32 = 16;
/// Of a tile that may be wet everywhere.
pub(super) const ALL_WET: u32 = WET | WET_NORTH | WET_SOUTH | WET_WEST | WET_EAST;
/// Both copies of the state are equal, so nothing need be copied.
pub(super) const SETTLED: u32 = 32;
/// One of the two copies is as it will stay.
pub(super) const SETTLING: u32 = 64;
pub(super) const AT_REST: u32 = SETTLED | SETTLING;

/// Terms of the ledger, each a two-float sum over the cells of a workgroup.
/// units: m
pub(super) const MOVED: u32 = 0;
pub(super) const WATER_LEFT: u32 = 1;
pub(super) const SEA_INFLOW: u32 = 2;
pub(super) const SOLIDS_LEFT: u32 = 3;
pub(super) const RAINED: u32 = 4;
pub(super) const EVAPORATED: u32 = 5;
pub(super) const SHORTFALL_SOLIDS: u32 = 6;
pub(super) const SHORTFALL_WATER: u32 = 7;
pub(super) const LOST_SOLIDS: u32 = 8;
pub(super) const LOST_WATER: u32 = 9;
pub(super) const LEDGER_TERMS: u32 = 10;

/// Cells along a side of a workgroup.
pub(super) const GROUP: u32 = 16;

/// Where the parts of the status buffer lie, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusLayout {
    size: UVec2,
    tiles: UVec2,
}

impl StatusLayout {
    pub fn new(grid: &Grid) -> Self {
        Self {
            size: grid.size(),
            tiles: grid.tiles(),
        }
    }

    pub fn tile_count(&self) -> u32 {
        self.tiles.element_product()
    }

    pub fn tile_states(&self, copy: usize) -> u32 {
        HEADER + copy as u32 * self.tile_count()
    }

    pub fn ground_changed(&self) -> u32 {
        HEADER + 2 * self.tile_count()
    }

    pub fn water_changed(&self) -> u32 {
        HEADER + 3 * self.tile_count()
    }

    /// Tiles that changed since they were last drawn.
    pub fn redraw(&self) -> u32 {
        HEADER + 4 * self.tile_count()
    }

    /// Discharges over the west border, then over the north border.
    pub fn edges(&self, copy: usize) -> u32 {
        HEADER + 5 * self.tile_count() + copy as u32 * self.size.element_sum()
    }

    /// Here the ledger begins, and what is always read back ends.
    pub fn ledger(&self) -> u32 {
        self.edges(2)
    }

    /// Words that are ever read back: all up to the ledger's end.
    pub fn words(&self) -> u32 {
        let groups = UVec2::new(self.size.x.div_ceil(GROUP), self.size.y.div_ceil(GROUP));
        self.ledger() + groups.element_product() * LEDGER_TERMS * 2
    }

    /// Faces on the borders in a solve of shallow water: their falls on all four
    /// sides, and three more numbers on two of them.
    pub fn border_faces(&self) -> u32 {
        self.words()
    }

    /// As [`edges`](Self::edges), of the regolith.
    pub fn creep_edges(&self) -> u32 {
        self.border_faces() + 5 * self.size.element_sum()
    }

    /// All words.
    pub fn total(&self) -> u32 {
        self.creep_edges() + self.size.element_sum()
    }
}
