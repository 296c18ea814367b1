//! Thermal weathering: ground that is steeper than its talus angle slides down. Named
//! as future work by two of our sources; the talus rule is F. K. Musgrave's (1989),
//! with eight neighbors. Explicit: stable for `D·dt/l² ≤ 0.2`; a longer step is split
//! into sub-steps.
//!
//! For each pair of cells at distance `s` (l or l·√2) with heights `h`:
//!
//! ```text
//! q   = w·D·dt/l²·max(0, |Δh| − s·tan θ_soil)     w = 2/3 axes, 1/6 diagonals
//! q  ← q·min(1, soil / Σ q out of the cell)       no more than there is
//! b   = dt·Kb·max(0, max slope − tan θ_rock)·c/(c + soil)   bedrock → soil
//! ```
//!
//! Flows are rounded towards zero to the last place of the deepest soil, so that
//! what leaves one cell and what reaches the next are the same number, and no cell
//! gives more than it has.
//!
//! The weights are those of the isotropic nine-point Laplacian, so slides have
//! no favorite direction, and `D` means the same at any resolution.

pub(crate) mod solver;

pub use solver::ThermalSolver;

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// Lets slopes crumble and slide: insert this resource and it runs.
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Thermal weathering", "Steep slopes crumble and slide"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Thermal {
    /// Steepest slope on which soil rests. units: °
    #[reflect(@Setting::new("°", 0.0..=89.0).limits(0.0..=89.0)
        .about("Steepest slope on which soil rests"))]
    pub soil_angle: f32,
    /// Steepest slope on which bedrock stands without breaking. units: °
    #[reflect(@Setting::new("°", 0.0..=89.0).limits(0.0..=89.9)
        .about("Steepest slope on which bedrock stands"))]
    pub bedrock_angle: f32,
    /// How fast soil slides where it is too steep. units: m²/s
    #[reflect(@Setting::new("m²/s", 0.0..=50.0).limits(0.0..=1e6)
        .about("How fast soil slides where it is too steep"))]
    pub mobility: f32,
    /// Bedrock broken in a second for each unit of slope beyond its angle,
    /// where no soil covers it. The terrain's hardness map lowers it. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=1.0).limits(0.0..=1e3)
        .about("Bedrock broken in a second, bare and one unit too steep"))]
    pub breaking: f32,
    /// Soil of this thickness halves the breaking of the bedrock below. units: m
    #[reflect(@Setting::new("m", 0.01..=5.0).limits(1e-4..=1e3)
        .about("Soil of this thickness halves the breaking"))]
    pub shelter: f32,
}

impl Default for Thermal {
    fn default() -> Self {
        Self {
            soil_angle: 34.0,
            bedrock_angle: 55.0,
            mobility: 2.0,
            breaking: 0.02,
            shelter: 0.5,
        }
    }
}

impl Thermal {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}
