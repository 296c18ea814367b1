//! What counts as a river, and how much water it carries.

use crate::{
    settings::{self, Setting},
    terrain::{Grid, SettingsError},
};
use bevy::prelude::*;

const M: &str = "RiverSettings";

/// Seconds of a year of 365.25 days.
pub const SECONDS_PER_YEAR: f64 = 31_557_600.0;

/// What counts as a river, and how much water it carries.
///
/// ```text
/// channel  A ≥ max(onset_cells·l², min(onset_area, onset_share·land))
/// Q        = Σ run-off of the cells that drain through a place
/// width    = width_factor·Q^0.5    depth = depth_factor·Q^0.3
/// ```
///
/// with `A` the area that drains through a cell and `l` the side of a cell. The law of
/// width and depth is that of Leopold and Maddock (1953), with the factors and exponents of
/// Andreadis, Schumann and Pavelsky (2013).
///
/// [The guide](crate::guide::river_network) has an example.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default)]
#[reflect(@Setting::titled("River network", "What counts as a river, and its water"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RiverSettings {
    /// Water that runs off in a year, as a mean over the land. units: m/yr
    #[reflect(@Setting::new("m/yr", 0.0..=5.0).limits(0.0..=1e6)
        .about("Water that runs off in a year, as a mean over the land"))]
    pub runoff: f32,
    /// Where it comes from.
    #[reflect(@Setting::plain().about("Where the run-off comes from"))]
    pub pattern: RunoffPattern,
    /// Area that must drain through a cell for a river. units: m²
    #[reflect(@Setting::new("m²", 100.0..=1e6).limits(0.0..=1e15)
        .about("Area that must drain through a cell for a river"))]
    pub onset_area: f32,
    /// Cells that must drain through a cell for a river, however large cells are.
    #[reflect(@Setting::new("cells", 1..=1000).limits(1..=1_000_000_000)
        .about("Cells that must drain through a cell for a river, however large cells are"))]
    pub onset_cells: u32,
    /// Share of the land that is always enough of an area for a river: small lands have
    /// rivers too.
    #[reflect(@Setting::new("", 0.0001..=0.1).limits(0.0..=1.0)
        .about("Share of the land that is always enough of an area for a river"))]
    pub onset_share: f32,
    /// Cells of the smallest lake. Rivers run through smaller ones as if they were dry.
    #[reflect(@Setting::new("cells", 1..=1000).limits(1..=1_000_000_000)
        .about("Cells of the smallest lake"))]
    pub lake_cells: u32,
    /// Greatest depth that a lake must have. units: m
    #[reflect(@Setting::new("m", 0.0..=10.0).limits(0.0..=1e9)
        .about("Greatest depth that a lake must have"))]
    pub lake_depth: f32,
    /// Width of a river of 1 m³/s. units: m
    #[reflect(@Setting::new("m", 1.0..=20.0).limits(0.0..=1e4)
        .about("Width of a river of 1 m³/s"))]
    pub width_factor: f32,
    /// Depth of a river of 1 m³/s. units: m
    #[reflect(@Setting::new("m", 0.05..=2.0).limits(0.0..=1e4)
        .about("Depth of a river of 1 m³/s"))]
    pub depth_factor: f32,
}

/// How run-off is spread over the land.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum RunoffPattern {
    /// Everywhere alike.
    #[default]
    #[reflect(@Setting::variant("even", || RunoffPattern::Uniform).about("Everywhere alike"))]
    Uniform,
    /// A weight for each cell, row by row, such as the map of
    /// [`RainPattern::Map`](crate::forcing::RainPattern::Map). Only their proportions
    /// matter: the mean over the land is always [`RiverSettings::runoff`].
    #[reflect(@Setting::titled("map", "A weight for each cell"))]
    Map(Vec<f32>),
}

impl Default for RiverSettings {
    fn default() -> Self {
        Self {
            runoff: 0.5,
            pattern: RunoffPattern::Uniform,
            onset_area: 10_000.0,
            onset_cells: 64,
            onset_share: 0.0025,
            lake_cells: 16,
            lake_depth: 0.1,
            width_factor: 7.2,
            depth_factor: 0.27,
        }
    }
}

impl RiverSettings {
    /// The same with another run-off. units: m/yr
    pub fn with_runoff(self, runoff: f32) -> Self {
        Self { runoff, ..self }
    }

    /// The same with a weight of run-off for each cell.
    pub fn with_runoff_map(self, weights: Vec<f32>) -> Self {
        Self {
            pattern: RunoffPattern::Map(weights),
            ..self
        }
    }

    /// Rivers from exactly this area on, whatever the land and its cells. units: m²
    pub fn with_onset_area(self, area: f32) -> Self {
        Self {
            onset_area: area,
            onset_cells: 1,
            onset_share: 1.0,
            ..self
        }
    }

    /// The same with every hollow as a lake, however small.
    pub fn with_all_lakes(self) -> Self {
        Self {
            lake_cells: 1,
            lake_depth: 0.0,
            ..self
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        let RunoffPattern::Map(weights) = &self.pattern else {
            return Ok(());
        };
        let wrong = |reason: String| Err(SettingsError::new(M, "pattern.Map", reason));
        // NaN fails the comparison, so it is found too.
        if let Some(cell) = weights.iter().position(|w| !(0.0..=1e6).contains(w)) {
            let weight = weights[cell];
            return wrong(format!("weights must be 0 to 1e6, was {weight} at {cell}"));
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return wrong("must be above 0 in some cell".into());
        }
        Ok(())
    }

    /// [`check`](Self::check), and whether the settings suit a grid.
    pub(crate) fn check_on(&self, grid: &Grid) -> Result<(), SettingsError> {
        self.check()?;
        match &self.pattern {
            RunoffPattern::Map(weights) if weights.len() != grid.cells() => {
                let (width, height) = (grid.width(), grid.height());
                let (needed, found) = (grid.cells(), weights.len());
                Err(SettingsError::new(
                    M,
                    "pattern.Map",
                    format!(
                        "must be one weight for each cell: {width} × {height} cells need {needed}, \
                         but there are {found}"
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Cells that must drain through a cell of this grid for a river.
    pub fn onset_on(&self, grid: &Grid) -> u32 {
        let land = grid.cells() as f64 * grid.cell_area();
        let area = f64::from(self.onset_area).min(f64::from(self.onset_share) * land);
        let cells = (area / grid.cell_area()).ceil();
        // More cells than any grid has: no river.
        (cells as u32).max(self.onset_cells).max(1)
    }

    /// Width of a river. units: m³/s to m
    pub fn width_of(&self, discharge: f32) -> f32 {
        self.width_factor * discharge.max(0.0).sqrt()
    }

    /// Depth of a river. units: m³/s to m
    pub fn depth_of(&self, discharge: f32) -> f32 {
        let power = libm::pow(f64::from(discharge.max(0.0)), 0.3);
        (f64::from(self.depth_factor) * power) as f32
    }
}
