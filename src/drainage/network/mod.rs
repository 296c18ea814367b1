//! The rivers, lakes and basins of a land as data, found without eroding it.
//!
//! Water takes the steepest way from cell to cell and through full lakes (see
//! [`routing`](super::routing)). What drains through a cell makes its discharge, and cells that
//! drain enough are rivers:
//!
//! ```text
//! A      = l²·(cells that drain through a cell, itself included)
//! Q      = A·run-off, or the sum of a map of run-off
//! order  = 1 at a source; where two of the highest order i meet, i + 1 (Strahler, 1957)
//! lake   = cells below the level at which their hollow spills;  volume = Σ l²·(level − ground)
//! basin  = all cells that drain out of the land at one cell, or into the sea there
//! river  = a chain of cells from a source, a junction or a lake to the next junction or lake,
//!          to the sea or to where water leaves the land
//! ```
//!
//! | in code | what it answers |
//! |---|---|
//! | [`RiverNetwork::of`] | all of it, from a terrain |
//! | [`rivers`](RiverNetwork::rivers), [`lakes`](RiverNetwork::lakes), [`basins`](RiverNetwork::basins) | the parts |
//! | [`field`](RiverNetwork::field) | area, order, basins … cell by cell, for materials and files |
//! | [`nearest_river`](RiverNetwork::nearest_river), [`drains_to`](RiverNetwork::drains_to), [`area_at`](RiverNetwork::area_at) | questions at a place |
//! | [`positions`](RiverNetwork::positions), [`curve`](RiverNetwork::curve) | a river's course in the world |
//! | [`springs`](RiverNetwork::springs) | where to pour water so that the rivers run |
//! | [`RiverMap`] | the network of an app's terrain, kept up to date in the background |
//!
//! The same land gives the same bits on any number of threads and any machine.

mod build;
mod course;
mod fields;
#[cfg(feature = "io")]
mod geojson;
mod nearest;
pub(crate) mod plugin;
mod query;
mod settings;
mod springs;
#[cfg(test)]
mod tests;

pub use fields::RiverField;
pub use nearest::NearestRiver;
pub use plugin::{RiverMap, RiverMapUpdated};
pub use query::{Drainage, DrainageEnd};
pub use settings::{RiverSettings, RunoffPattern, SECONDS_PER_YEAR};
pub use springs::RiverSpring;

use super::routing::{OUTLET, Reach};
use crate::{
    parallel::Workers,
    terrain::{Grid, SettingsError, Terrain},
};
use bevy::prelude::*;
use nearest::SegmentTiles;

/// In place of the number of a basin or lake: none.
pub const NONE: u32 = u32::MAX;

/// The rivers, lakes and basins of a land. Plain data: it does not change when the land
/// does.
///
/// ```
/// use bevy::math::{UVec2, Vec3};
/// use bevy_erode::drainage::network::{RiverNetwork, RiverSettings};
/// use bevy_erode::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let land = Terrain::generate(&Ridged::seeded(7), UVec2::splat(128), 8.0)?;
/// let network = RiverNetwork::of(&land, &RiverSettings::default().with_runoff(1.2))?;
/// for river in network.rivers() {
///     println!("order {}, {:.0} m long, {:.3} m³/s", river.order, river.length, river.discharge());
/// }
/// let near = network.nearest_river(Vec3::ZERO).ok_or("no river at all")?;
/// println!("river {} is {:.0} m away", near.river, near.distance);
/// let drainage = network.drains_to(Vec3::ZERO).ok_or("not on the land")?;
/// println!("rain that falls here leaves after {:.0} m: {:?}", drainage.length, drainage.end);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RiverNetwork {
    grid: Grid,
    settings: RiverSettings,
    onset: u32,
    ground: Vec<f32>,
    toward: Vec<u8>,
    upstream: Vec<u32>,
    water: Water,
    orders: Vec<u8>,
    basin: Vec<u32>,
    lake: Vec<u32>,
    basins: Vec<Basin>,
    lakes: Vec<RiverLake>,
    rivers: Vec<River>,
    tiles: SegmentTiles,
}

/// How much water runs through each cell.
#[derive(Clone, Debug)]
enum Water {
    /// Discharge that each cell gives. units: m³/s
    Even(f64),
    /// Discharge through each cell. units: m³/s
    Map(Vec<f32>),
}

/// All land that drains to one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Basin {
    /// The last cell on land: water leaves here, or enters the sea.
    pub outlet: u32,
    /// Whether the sea lies beyond the outlet.
    pub at_sea: bool,
    /// Area of the basin. units: m²
    pub area: f64,
    /// Water that leaves. units: m³/s
    pub discharge: f32,
}

/// A hollow that water fills up to where it spills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiverLake {
    /// Deepest cell.
    pub pit: u32,
    /// Cell over which it spills: the sill. Its ground is as high as the water.
    pub spill: u32,
    /// The lake's own cell through which all its water leaves.
    pub exit: u32,
    /// Elevation of the water. units: m
    pub level: f32,
    /// Cells under water.
    pub cells: u32,
    /// Area of the water. units: m²
    pub area: f64,
    /// Volume of the water. units: m³
    pub volume: f64,
    /// Greatest depth. units: m
    pub depth: f32,
    /// Area that drains through it, itself included. units: m²
    pub catchment: f64,
    /// Water that leaves it. units: m³/s
    pub discharge: f32,
    /// Number of the basin that it lies in.
    pub basin: u32,
    /// Cell at which its water leaves the land, or enters the sea.
    pub outlet: u32,
    /// Number of the river that leaves it, if its water makes one.
    pub river: Option<u32>,
}

/// Where a river begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiverStart {
    /// Where enough land drains together.
    Source,
    /// Where others meet.
    Junction,
    /// Where a lake spills, by its number.
    Lake(u32),
}

/// Where a river ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiverEnd {
    /// Where it meets another.
    Junction,
    /// In a lake, by its number. The last point lies under its water.
    Lake(u32),
    /// In the sea. The last point lies under its water.
    Sea,
    /// Where water leaves the land; in the lowest place of a land with walls all around.
    Outlet,
}

/// A place on a river: the center of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiverPoint {
    /// The cell, row by row.
    pub cell: u32,
    /// Elevation of the ground. units: m
    pub ground: f32,
    /// Elevation of the ground, or of the water where it stands in a hollow: it
    /// never rises along a river. units: m
    pub surface: f32,
    /// Water that runs here. units: m³/s
    pub discharge: f32,
    /// Width, by [`RiverSettings::width_of`]. units: m
    pub width: f32,
    /// Fall of the surface per metre, over two cells up and down the river.
    pub slope: f32,
}

/// A river between two junctions, lakes or ends.
#[derive(Clone, Debug, PartialEq)]
pub struct River {
    /// Strahler order.
    pub order: u8,
    /// Where it begins.
    pub start: RiverStart,
    /// Where it ends.
    pub end: RiverEnd,
    /// Length. units: m
    pub length: f32,
    /// Number of the basin that it lies in.
    pub basin: u32,
    /// Number of the river in which its water goes on, also through a lake.
    pub downstream: Option<u32>,
    /// Its course, downstream: two points or more.
    pub points: Vec<RiverPoint>,
}

impl River {
    /// Water at its lower end, before it meets another. units: m³/s
    pub fn discharge(&self) -> f32 {
        self.points.last().map_or(0.0, |point| point.discharge)
    }

    /// Width at its lower end. units: m
    pub fn width(&self) -> f32 {
        self.points.last().map_or(0.0, |point| point.width)
    }

    /// Mean fall per metre.
    pub fn slope(&self) -> f32 {
        match (self.points.first(), self.points.last()) {
            (Some(from), Some(to)) if self.length > 0.0 => {
                (from.surface - to.surface) / self.length
            }
            _ => 0.0,
        }
    }
}

impl RiverNetwork {
    /// Finds the rivers of a terrain's ground, by its borders; water that lies on it
    /// does not count.
    ///
    /// # Errors
    /// When a setting is out of its limits, or a map of run-off has not the size of the
    /// terrain.
    pub fn of(terrain: &Terrain, settings: &RiverSettings) -> Result<Self, SettingsError> {
        Self::of_on(Workers::global(), terrain, settings)
    }

    /// [`of`](Self::of) on these threads. Any number gives the same bits.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_on(
        workers: Workers,
        terrain: &Terrain,
        settings: &RiverSettings,
    ) -> Result<Self, SettingsError> {
        settings.check_on(terrain.grid())?;
        let (grid, borders) = (*terrain.grid(), *terrain.borders());
        let ground = terrain.ground_heights();
        Ok(build::build(workers, grid, borders, ground, settings))
    }

    /// Size, resolution and place of the land.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// What it was made with.
    pub fn settings(&self) -> &RiverSettings {
        &self.settings
    }

    /// Cells that must drain through a cell for a river.
    pub fn onset(&self) -> u32 {
        self.onset
    }

    /// All rivers, in the order of their first cells.
    pub fn rivers(&self) -> &[River] {
        &self.rivers
    }

    /// All lakes of at least the size that the settings ask for.
    pub fn lakes(&self) -> &[RiverLake] {
        &self.lakes
    }

    /// All basins, in the order of their outlets.
    pub fn basins(&self) -> &[Basin] {
        &self.basins
    }

    /// Elevation of the ground as it was, row by row. units: m
    pub fn ground(&self) -> &[f32] {
        &self.ground
    }

    /// Where each cell drains to: an index into
    /// [`DIRECTIONS`](super::routing::DIRECTIONS), or [`OUTLET`].
    pub fn directions(&self) -> &[u8] {
        &self.toward
    }

    /// Cells that drain through each cell, itself included.
    pub fn upstream_cells(&self) -> &[u32] {
        &self.upstream
    }

    /// Strahler order of each cell: 0 where there is no river. Rivers go on through
    /// lakes here, to the way that their water takes.
    pub fn orders(&self) -> &[u8] {
        &self.orders
    }

    /// Number of each cell's basin; [`NONE`] in the sea.
    pub fn basin_numbers(&self) -> &[u32] {
        &self.basin
    }

    /// Number of the lake over each cell; [`NONE`] where there is none.
    pub fn lake_numbers(&self) -> &[u32] {
        &self.lake
    }

    /// The cell that a cell drains to; none where water leaves.
    #[inline]
    pub fn receiver(&self, cell: usize) -> Option<usize> {
        receiver(&self.toward, Reach::new(self.grid.width()), cell)
    }

    /// Area that drains through a cell, itself included; 0 for a cell that is not there.
    /// units: m²
    #[inline]
    pub fn area(&self, cell: usize) -> f64 {
        let cells = self.upstream.get(cell).copied().unwrap_or_default();
        f64::from(cells) * self.grid.cell_area()
    }

    /// Water that runs through a cell; 0 for a cell that is not there. units: m³/s
    #[inline]
    pub fn discharge(&self, cell: usize) -> f32 {
        match self.upstream.get(cell) {
            Some(&cells) => self.water.through(cell, cells),
            None => 0.0,
        }
    }

    /// World position of a cell's center, on the ground. units: m
    pub fn position(&self, cell: usize) -> Vec3 {
        let width = self.grid.width();
        let at = self
            .grid
            .cell_center((cell % width) as u32, (cell / width) as u32);
        at.with_y(self.grid.origin().y + self.ground.get(cell).copied().unwrap_or_default())
    }

    /// Highest Strahler order.
    pub fn highest_order(&self) -> u8 {
        let orders = self.rivers.iter().map(|river| river.order);
        orders.max().unwrap_or_default()
    }

    /// Length of all rivers together. units: m
    pub fn total_length(&self) -> f64 {
        let lengths = self.rivers.iter().map(|river| f64::from(river.length));
        lengths.sum()
    }
}

impl Water {
    /// Discharge through a cell through which so many cells drain. units: m³/s
    #[inline]
    fn through(&self, cell: usize, cells: u32) -> f32 {
        match self {
            Self::Even(each) => (f64::from(cells) * each) as f32,
            Self::Map(discharge) => discharge[cell],
        }
    }
}

/// The cell that a cell drains to; none where water leaves.
#[inline]
fn receiver(toward: &[u8], reach: Reach, cell: usize) -> Option<usize> {
    match toward.get(cell) {
        Some(&direction) if direction < OUTLET => Some(reach.step(cell, direction)),
        _ => None,
    }
}
