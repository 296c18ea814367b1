//! Thermal weathering: what is steeper than it can stand slides down. Named as
//! future work by two of our sources; the talus rule is F. K. Musgrave's
//! (1989), with eight neighbours. Explicit: a pass takes `D·dt/l² ≤ 0.2`, and a
//! longer step is split into passes.
//!
//! For each pair of cells at distance `s` (l or l·√2) with heights `h`:
//!
//! ```text
//! q   = w·D·dt/l²·max(0, |Δh| − s·tan θ_soil)     w = 2/3 axes, 1/6 diagonals
//! q  ← q·min(1, soil / Σ q out of the cell)       no more than there is
//! b   = dt·Kb·max(0, max slope − tan θ_rock)·c/(c + soil)   bedrock → soil
//! ```
//!
//! Flows are rounded to the last place of the deepest soil, so that what leaves
//! one cell and what reaches the next are the same number.
//!
//! The weights are those of the isotropic nine-point Laplacian, so slides have
//! no favourite direction, and `D` means the same at any resolution.

mod solver;

#[cfg(feature = "gpu")]
pub(crate) use solver::Pass;
pub use solver::ThermalSolver;

use crate::terrain::{SettingsError, in_range};
use bevy::prelude::*;

/// Lets slopes crumble and slide: insert this resource and it runs.
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Thermal {
    /// Steepest slope on which soil rests. units: degrees
    pub soil_angle: f32,
    /// Steepest slope on which bedrock stands without breaking. units: degrees
    pub bedrock_angle: f32,
    /// How fast soil slides where it is too steep. units: m²/s
    pub mobility: f32,
    /// Bedrock broken in a second for each unit of slope beyond its angle,
    /// where no soil covers it. The terrain's hardness map lowers it. units: m/s
    pub breaking: f32,
    /// Soil of this thickness halves the breaking of the bedrock below. units: m
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
        const M: &str = "Thermal";
        in_range(M, "soil_angle", self.soil_angle, 0.0..=89.0)?;
        in_range(M, "bedrock_angle", self.bedrock_angle, 0.0..=89.9)?;
        in_range(M, "mobility", self.mobility, 0.0..=1e6)?;
        in_range(M, "breaking", self.breaking, 0.0..=1e3)?;
        in_range(M, "shelter", self.shelter, 1e-4..=1e3)
    }
}
