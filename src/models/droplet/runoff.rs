//! Droplets by run-off: how many drops of which size bring so many metres of water.

use super::Droplets;
use crate::terrain::{Grid, SettingsError, in_range};

/// Largest volume of a drop, in cubes of a cell's side. What drops of more do to
/// a cell in one visit is out of proportion to it: slots and spikes.
const LARGEST_DROP: f64 = 0.5;

/// Fewest drops for each cell, so that none is missed by chance.
const DROPS_PER_CELL: f64 = 1.0;

/// Smallest radius of a drop, in cells: slots of one cell are narrower.
const SMALLEST_RADIUS: f32 = 1.5;

/// Drops that together bring a given depth of water to a terrain; see
/// [`Droplets::runoff`].
#[derive(Clone, Debug, PartialEq)]
pub struct Runoff {
    /// The settings, with a volume that suits the cells.
    pub droplets: Droplets,
    /// How many of these drops fall.
    pub count: u64,
}

impl Droplets {
    /// Drops that bring so many metres of run-off to terrains of this grid: the sum
    /// of all rain that runs off in a long time, at any cell size. The volume of a drop
    /// follows, at most half a cube of a cell's side, and so does their
    /// number, at least one for each cell. units: m
    ///
    /// Three cell sizes of run-off carve gullies and fill basins; a tenth of a cell
    /// size is hardly seen.
    ///
    /// ```
    /// use bevy::math::UVec2;
    /// use bevy_erode::{prelude::*, terrain::Grid};
    ///
    /// let grid = Grid::new(UVec2::splat(512), 4.0)?;
    /// let twelve = Droplets::default().runoff(12.0, &grid)?;
    /// assert_eq!((twelve.count, twelve.droplets.volume), (6 * 512 * 512, 32.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the run-off is not a number of 0 to 10 000 m.
    pub fn runoff(self, metres: f32, grid: &Grid) -> Result<Runoff, SettingsError> {
        self.runoff_by(metres, grid, 0)
    }

    /// [`runoff`](Self::runoff) by at least so many drops: more and smaller ones
    /// give smoother results.
    ///
    /// # Errors
    /// When the run-off is not a number of 0 to 10 000 m.
    pub fn runoff_by(
        self,
        metres: f32,
        grid: &Grid,
        at_least: u64,
    ) -> Result<Runoff, SettingsError> {
        in_range("Droplets", "runoff", metres, 0.0..=10_000.0)?;
        let side = f64::from(grid.cell_size());
        let cells = grid.cells() as f64;
        let metres = f64::from(metres);
        if metres <= 0.0 {
            return Ok(Runoff {
                droplets: self,
                count: 0,
            });
        }
        let a_cell = DROPS_PER_CELL.max(metres / (LARGEST_DROP * side));
        let count = ((a_cell * cells).ceil() as u64).max(at_least);
        let volume = metres * cells * grid.cell_area() / count as f64;
        let droplets = Self {
            volume: volume as f32,
            radius: self.radius.max(SMALLEST_RADIUS * grid.cell_size()),
            ..self
        };
        droplets.check()?;
        Ok(Runoff { droplets, count })
    }

    /// The run-off that so many of these drops bring to a terrain of this grid.
    /// units: m
    pub fn runoff_of(&self, count: u64, grid: &Grid) -> f32 {
        let land = grid.cells() as f64 * grid.cell_area();
        (count as f64 * f64::from(self.volume) / land) as f32
    }
}
