//! The settings as the solver computes with them: in `f64`, and slopes as ratios.

use crate::models::ageing::{Ageing, Uplift};

/// How the land rises from below.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Lift {
    /// Not at all.
    #[default]
    None,
    /// Everywhere alike. units: m/yr
    Rate(f64),
    /// A rate for each cell. units: mm/yr
    Map(Vec<f32>),
    /// As fast as it takes to hold the relief (the span of heights without the lowest and
    /// the highest hundredth) at a share of what it was. Sinks where erosion is slower.
    Keep {
        /// Relief at the end over relief at the start.
        share: f64,
        /// How long it takes from the relief at the start to that share: the time in which
        /// the difference falls to a third. units: yr
        settle: f64,
    },
}

/// Rock that is not the same everywhere: a log-normal factor on erodibility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RockNoise {
    /// Standard deviation of the factor's logarithm.
    pub spread: f64,
    /// Length of the longest waves. units: m
    pub size: f64,
    /// Picks one of many.
    pub seed: u32,
}

/// Settings of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Law {
    /// Erodibility K of rock of hardness 0. units: m^(1−2m)/yr
    pub erodibility: f64,
    /// Exponent m of the drained area.
    pub area_exponent: f64,
    /// Deposition coefficient G: 0 lets all sediment leave.
    pub deposition: f64,
    /// Creep D of slopes. units: m²/yr
    pub creep: f64,
    /// Steepest slope Sc that stands, as rise over run; 0 lets any slope stand.
    pub slope_limit: f64,
    /// Erodibility of soil over that of rock, Ks.
    pub soil_factor: f64,
    /// Thickness of soil that shields the rock below. units: m
    pub soil_depth: f64,
    /// Varied rock.
    pub rock_noise: RockNoise,
    /// How much the ways of water stray from the steepest neighbor, 0 to 1.
    pub jitter: f64,
    /// How long the ways of water stray in the same manner. units: yr
    pub jitter_years: f64,
    /// How the land rises.
    pub uplift: Lift,
    /// Whether hollows are cut open when a run begins.
    pub breach: bool,
}

impl Law {
    /// Of a user's settings.
    pub fn of(settings: &Ageing) -> Self {
        let slope = f64::from(settings.slope_angle).to_radians();
        let variation = &settings.variation;
        let seed = variation.seed;
        Self {
            erodibility: settings.erodibility.into(),
            area_exponent: settings.area_exponent.into(),
            deposition: settings.deposition.into(),
            creep: settings.creep.into(),
            slope_limit: libm::tan(slope),
            soil_factor: settings.soil_erodibility.into(),
            rock_noise: RockNoise {
                spread: variation.strength.into(),
                size: variation.size.into(),
                seed: (seed ^ (seed >> 32)) as u32,
            },
            jitter: settings.straying.into(),
            uplift: match &settings.uplift {
                Uplift::None => Lift::None,
                Uplift::Rate { mm_per_year } => Lift::Rate(f64::from(*mm_per_year) / 1000.0),
                Uplift::Map(rates) => Lift::Map(rates.clone()),
                Uplift::Keep { share, years } => Lift::Keep {
                    share: (*share).into(),
                    settle: (*years).into(),
                },
            },
            breach: settings.breach,
            ..Self::default()
        }
    }
}

impl Default for Law {
    fn default() -> Self {
        Self {
            erodibility: 3e-5,
            area_exponent: 0.45,
            deposition: 1.0,
            creep: 5e-4,
            slope_limit: 0.85,
            soil_factor: 2.0,
            soil_depth: 1.0,
            rock_noise: RockNoise {
                spread: 0.3,
                size: 500.0,
                seed: 1,
            },
            jitter: 1.0,
            jitter_years: 10_000.0,
            uplift: Lift::None,
            breach: true,
        }
    }
}

/// Volumes that a run has moved. units: m³
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Volumes {
    /// Risen from below (sunk counts negative).
    pub uplifted: f64,
    /// Gone over the borders.
    pub left: f64,
    /// Rock that became soil or sediment.
    pub eroded: f64,
    /// Taken up from the ground by water and slides, soil and rock.
    pub moved: f64,
}
