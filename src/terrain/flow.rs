//! How water moves: the discharge through every face between cells. Water
//! models write it; velocity and discharge are read from it, whichever model runs.

use super::{Grid, Terrain};
use bevy::math::*;

/// Water shallower than this is a film: it neither flows nor counts as wet.
/// units: m
pub const FILM: f32 = 1e-5;

/// The largest discharge that is accepted from files and models. units: m²/s
pub(crate) const MAX_DISCHARGE: f32 = 1e18;

/// Discharge per metre of face. units: m²/s
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Through each cell's east face, positive towards +X.
    pub(crate) east: Vec<f32>,
    /// Through each cell's south face, positive towards +Z.
    pub(crate) south: Vec<f32>,
    /// Through the west border, a value a row, positive into the land.
    pub(crate) west_border: Vec<f32>,
    /// Through the north border, a value a column, positive into the land.
    pub(crate) north_border: Vec<f32>,
}

impl Flow {
    pub(crate) fn still(grid: &Grid) -> Self {
        Self {
            east: vec![0.0; grid.cells()],
            south: vec![0.0; grid.cells()],
            west_border: vec![0.0; grid.height()],
            north_border: vec![0.0; grid.width()],
        }
    }

    /// Discharge through each cell's east face, row by row. units: m²/s
    #[inline]
    pub fn east(&self) -> &[f32] {
        &self.east
    }

    /// Discharge through each cell's south face, row by row. units: m²/s
    #[inline]
    pub fn south(&self) -> &[f32] {
        &self.south
    }
}

impl Terrain {
    /// The moving water, once a water model has run.
    #[inline]
    pub fn flow(&self) -> Option<&Flow> {
        self.flow.as_ref()
    }

    /// Discharge per metre of width at a cell's center, along +X and +Z. Zero
    /// outside the grid and where no water model has run. That of rivers is in
    /// it. units: m²/s
    #[inline]
    pub fn discharge(&self, x: u32, y: u32) -> Vec2 {
        let size = self.size();
        if x >= size.x || y >= size.y {
            return Vec2::ZERO;
        }
        let rivers = match self.has_streams() {
            true => self.stream_discharge(x, y),
            false => Vec2::ZERO,
        };
        let Some(flow) = &self.flow else {
            return rivers;
        };
        let cell = self.grid().index(x, y);
        let west = match x {
            0 => flow.west_border[y as usize],
            _ => flow.east[cell - 1],
        };
        let north = match y {
            0 => flow.north_border[x as usize],
            _ => flow.south[cell - self.grid().width()],
        };
        0.5 * Vec2::new(west + flow.east[cell], north + flow.south[cell]) + rivers
    }

    /// Velocity of the water at a cell's center, along +X and +Z. units: m/s
    #[inline]
    pub fn velocity(&self, x: u32, y: u32) -> Vec2 {
        let discharge = self.discharge(x, y);
        if discharge == Vec2::ZERO {
            return discharge;
        }
        // What is left where water has just run off would seem to race.
        discharge / self.water_depth(x, y).max(100.0 * FILM)
    }
}
