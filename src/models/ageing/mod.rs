//! Ageing: land over geological time. Rivers of a whole catchment cut down and lay down
//! (stream power with deposition, Davy and Lague, 2009; Yuan and others, 2019), slopes
//! slide and creep, and the ground may rise from below. Implicit: stable for any step;
//! steps of more than 2500 years are cut into shorter ones.
//!
//! One ageing step of `dt` years works on a copy of the ground; its equations are those
//! of `land`. The years that are due, `years_per_second` for each second of
//! erosion time, are worked off in such steps, a slice in every erosion step, and the
//! *difference* that a step makes to bedrock and soil is applied when its years are
//! over. So other models run on meanwhile, a frame never waits for a whole step, and
//! when it is applied depends on nothing but the settings: runs replay bit by bit.
//!
//! Water and suspended sediment are neither read nor written: water keeps its depth
//! on ground that moves.

mod coarse;
mod land;
mod presets;
mod solver;
pub(crate) mod timeline;

pub use presets::AgePreset;
pub use solver::AgeingSolver;
pub use timeline::{AgeTimeline, ShowAge, TimelineError};

use crate::{
    settings::{self, Setting},
    terrain::{Grid, SettingsError},
};
use bevy::prelude::*;

const M: &str = "Ageing";

/// Lets the land grow older by thousands of years a second: insert this resource and it
/// runs. A bake takes years, too: [`Bake::age`](crate::bake::Bake::age).
///
/// [The guide](crate::guide::ageing) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Ageing", "Rivers, slides and uplift over thousands of years"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Ageing {
    /// Years that pass in a second of erosion time. units: yr/s
    #[reflect(@Setting::new("yr/s", 0.0..=100_000.0).limits(0.0..=1e9)
        .about("Years that pass in a second of erosion time"))]
    pub years_per_second: f32,
    /// Years of one ageing step; shorter ones change the land more often. units: yr
    #[reflect(@Setting::new("yr", 100.0..=2500.0).limits(1.0..=2500.0)
        .about("Years of one ageing step; shorter ones change the land more often"))]
    pub step_years: f32,
    /// How readily rivers cut rock: erosion of a slope of 1 that drains 1 m².
    /// units: m^(1−2m)/yr
    #[reflect(@Setting::new("m^(1−2m)/yr", 1e-6..=2e-4).limits(0.0..=1.0)
        .about("How readily rivers cut rock"))]
    pub erodibility: f32,
    /// How much more large rivers cut than small ones: exponent m of the drained area.
    #[reflect(@Setting::new("", 0.3..=0.6).limits(0.0..=1.0)
        .about("How much more large rivers cut than small ones"))]
    pub area_exponent: f32,
    /// How much of what rivers carry they lay down on the way: 0 lets all of it leave,
    /// more builds fans and plains.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=100.0)
        .about("How much of what rivers carry they lay down: fans and plains"))]
    pub deposition: f32,
    /// How fast slopes creep and get round. units: m²/yr
    #[reflect(@Setting::new("m²/yr", 0.0..=0.1).limits(0.0..=1e3)
        .about("How fast slopes creep and get round"))]
    pub creep: f32,
    /// Steepest slope that does not slide. units: °
    #[reflect(@Setting::new("°", 10.0..=60.0).limits(1.0..=89.0)
        .about("Steepest slope that does not slide"))]
    pub slope_angle: f32,
    /// How much more readily soil is cut than rock.
    #[reflect(@Setting::new("", 1.0..=10.0).limits(0.0..=1e3)
        .about("How much more readily soil is cut than rock"))]
    pub soil_erodibility: f32,
    /// Makes rock uneven, against regular valleys.
    #[reflect(@Setting::plain().about("Makes rock uneven, against regular valleys"))]
    pub variation: RockVariation,
    /// How much the ways of water stray from the steepest of eight neighbors, 0 to 1.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("How much water strays from the steepest of eight neighbors"))]
    pub straying: f32,
    /// How the land rises.
    #[reflect(@Setting::plain().about("How the land rises from below"))]
    pub uplift: Uplift,
    /// Rain of each cell, row by row, in proportion to its mean; empty for the same
    /// everywhere.
    #[reflect(@Setting::titled("rain map", "A weight for each cell"))]
    pub rain_map: Vec<f32>,
    /// Whether hollows are cut open when a run begins, instead of standing as lakes.
    #[reflect(@Setting::plain().about("Cut hollows open when a run begins"))]
    pub breach: bool,
    /// Whether lakes are filled with water up to their spill after each step.
    #[reflect(@Setting::plain().about("Fill lakes with water up to their spill"))]
    pub fill_lakes: bool,
}

/// Rock that is not the same everywhere: a random factor on its erodibility.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RockVariation {
    /// Standard deviation of the factor's logarithm; 0 for even rock.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=3.0)
        .about("How uneven it is; 0 for even rock"))]
    pub strength: f32,
    /// Size of the largest patches. units: m
    #[reflect(@Setting::new("m", 50.0..=5000.0).limits(1e-2..=1e7)
        .about("Size of the largest patches"))]
    pub size: f32,
    /// Same seed, same rock and ways of water.
    #[reflect(@Setting::seed().about("Same seed, same rock and ways of water"))]
    pub seed: u64,
}

/// How the land rises from below.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum Uplift {
    /// Not at all: mountains wear down.
    #[default]
    #[reflect(@Setting::variant("none", || Uplift::None).about("Mountains wear down"))]
    None,
    /// Everywhere alike, but at outlets.
    #[reflect(@Setting::variant("rate", || Uplift::Rate { mm_per_year: 0.5 })
        .about("Everywhere alike"))]
    Rate {
        /// How fast. units: mm/yr
        #[reflect(@Setting::new("mm/yr", 0.0..=5.0).limits(-1e3..=1e3).about("How fast"))]
        mm_per_year: f32,
    },
    /// As fast as it takes to hold a share of the land's relief (its span of heights
    /// without the lowest and the highest hundredth).
    #[reflect(@Setting::variant("keep the mountains", || Uplift::keep(0.8))
        .about("As fast as it takes to hold the land's relief"))]
    Keep {
        /// Relief that is held over relief at the start.
        #[reflect(@Setting::new("", 0.1..=1.5).limits(0.01..=10.0)
            .about("Relief that is held, as a share of that at the start"))]
        share: f32,
        /// Time in which the relief comes near that share. units: yr
        #[reflect(@Setting::new("yr", 1e4..=1e6).limits(1.0..=1e9)
            .about("Time in which the relief comes near that share"))]
        years: f32,
    },
    /// A rate for each cell, row by row. units: mm/yr
    #[reflect(@Setting::titled("map", "A rate for each cell, mm/yr"))]
    Map(Vec<f32>),
}

impl Uplift {
    /// Holds this share of the relief, soon.
    pub fn keep(share: f32) -> Self {
        Self::Keep {
            share,
            years: 80_000.0,
        }
    }
}

impl Default for RockVariation {
    fn default() -> Self {
        Self {
            strength: 0.3,
            size: 500.0,
            seed: 0,
        }
    }
}

impl Default for Ageing {
    fn default() -> Self {
        Self {
            years_per_second: 10_000.0,
            step_years: 2500.0,
            erodibility: 3e-5,
            area_exponent: 0.45,
            deposition: 1.0,
            creep: 5e-4,
            slope_angle: 40.0,
            soil_erodibility: 2.0,
            variation: RockVariation::default(),
            straying: 1.0,
            uplift: Uplift::None,
            rain_map: Vec::new(),
            breach: true,
            fill_lakes: false,
        }
    }
}

impl Ageing {
    /// The default settings with another seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            variation: RockVariation {
                seed,
                ..RockVariation::default()
            },
            ..Self::default()
        }
    }

    /// The same land with another uplift.
    pub fn with_uplift(self, uplift: Uplift) -> Self {
        Self { uplift, ..self }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        check_map("rain_map", &self.rain_map, 0.0..=1e6)?;
        match &self.uplift {
            Uplift::Map(rates) => check_map("uplift.Map", rates, -1e3..=1e3),
            _ => Ok(()),
        }
    }

    /// [`check`](Self::check), and whether the maps suit a grid.
    fn check_on(&self, grid: &Grid) -> Result<(), SettingsError> {
        self.check()?;
        let fits = |field: &'static str, map: &[f32]| match map.len() == grid.cells() {
            true => Ok(()),
            false => Err(SettingsError {
                model: M,
                field: field.into(),
                reason: format!(
                    "must be one number for each cell: {} × {} cells need {}, but there are {}",
                    grid.width(),
                    grid.height(),
                    grid.cells(),
                    map.len()
                ),
            }),
        };
        if !self.rain_map.is_empty() {
            fits("rain_map", &self.rain_map)?;
            if self.rain_map.iter().all(|rain| *rain <= 0.0) {
                let reason = "must have a cell with rain, but all are 0";
                return Err(SettingsError::new(M, "rain_map", reason));
            }
        }
        match &self.uplift {
            Uplift::Map(rates) => fits("uplift.Map", rates),
            _ => Ok(()),
        }
    }
}

/// Whether all numbers of a map are in a range; the error names the first that is not.
fn check_map(
    field: &'static str,
    map: &[f32],
    range: core::ops::RangeInclusive<f32>,
) -> Result<(), SettingsError> {
    match map.iter().position(|value| !range.contains(value)) {
        None => Ok(()),
        Some(cell) => Err(SettingsError {
            model: M,
            field: field.into(),
            reason: format!(
                "must be {} to {} in every cell, was {} in cell {cell}",
                range.start(),
                range.end(),
                map[cell]
            ),
        }),
    }
}
