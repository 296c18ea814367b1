//! The source's method, literally, on ground `br` = bedrock + soil, of which the
//! top `r` is regolith and `b = br − r`.
//!
//! ```text
//! A·h = h₁ + (1 − τ)·(h₁ − h₂)                  h₁, h₂: the two past levels
//! k   = g·dt²/(2·l²)
//! f_i = −k·(d_i + d_{i+1})
//! e_i = 1 + k·(d_{i−1} + 2·d_i + d_{i+1})       one-sided at a wall
//! rows first, with that right side: h*;  then columns: A·h = h*
//! h < br: h = h₁ = h₂ = br                      dry
//! r   ← min(d, c_r)                             the rest of it is b
//! ```
//!
//! A cycle is water to steady, the exchange, and the same solver for level `br`
//! with depth `r` to steady. "Steady" is a largest speed of the level, or a
//! number of solves. The printed damping has a minus before (1 − τ); waves need
//! a plus. Levels below the ground are raised to it, which makes water (and
//! ground) out of nothing: the ledger counts it as lost, with a minus.

use crate::{
    models::solver_state::{StateError, StateReader, StateWriter},
    settings::{self, Setting},
    terrain::{Grid, SettingsError},
};
use bevy::prelude::*;

/// The source's constants.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PublishedShallowWater {
    /// Gravity g. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Damping τ of the water in a solve.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("Share of its motion that water loses in a solve"))]
    pub water_damping: f32,
    /// Damping τ of the regolith in a solve.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("Share of its motion that regolith loses in a solve"))]
    pub regolith_damping: f32,
    /// Depth c_r to which water softens the ground; the source says 0 to 0.01.
    /// units: m
    #[reflect(@Setting::new("m", 0.0..=0.1).limits(0.0..=10.0)
        .about("Depth to which water softens the ground; the source says 0 to 0.01"))]
    pub regolith_depth: f32,
    /// Solves after which water or regolith counts as steady; the source says 5
    /// to 10.
    #[reflect(@Setting::new("", 1..=50).limits(1..=1000)
        .about("Solves after which water or regolith counts as steady"))]
    pub solves: u32,
    /// A level that rises and falls slower than this is steady. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=0.01).limits(0.0..=1e3)
        .about("A level that rises and falls slower than this is steady"))]
    pub steady: f32,
}

impl Default for PublishedShallowWater {
    fn default() -> Self {
        Self {
            gravity: 9.807,
            water_damping: 0.001,
            regolith_damping: 0.01,
            regolith_depth: 0.01,
            solves: 10,
            steady: 1e-5,
        }
    }
}

impl PublishedShallowWater {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}

/// What the source's method keeps from solve to solve.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// h₁ − h₂ of the water, row by row. units: m
    pub water: Vec<f32>,
    /// br₁ − br₂ of the regolith. units: m
    pub regolith: Vec<f32>,
    /// Water solves since the last exchange.
    pub solves: u32,
}

impl History {
    /// Water and regolith at rest.
    pub fn new(grid: &Grid) -> Self {
        Self {
            water: vec![0.0; grid.cells()],
            regolith: vec![0.0; grid.cells()],
            solves: 0,
        }
    }

    pub fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.solves.into());
        writer.write_floats(&self.water);
        writer.write_floats(&self.regolith);
    }

    pub fn load_state(reader: &mut StateReader, grid: &Grid) -> Result<Self, StateError> {
        let solves = reader.read_count()?;
        let solves = u32::try_from(solves)
            .map_err(|_| reader.error(format!("too many solves: {solves}")))?;
        Ok(Self {
            solves,
            water: reader.read_floats(grid.cells())?,
            regolith: reader.read_floats(grid.cells())?,
        })
    }
}
