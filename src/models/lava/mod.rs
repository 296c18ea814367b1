//! Lava: molten rock that creeps, piles up and freezes. A laminar film of a
//! Bingham fluid: H. Huppert's (1982) viscous gravity currents with the yield
//! strength of G. Hulme (1974), cooled through its
//! surface and its borders. Explicit: a sub-step is stable where
//! `D·dt/l² ≤ 0.2` with `D = K·h³`; beyond `max_substeps` thick lava is slower
//! than its viscosity says, but as stable.
//!
//! For each cell the thickness `h`, the heat `E` (0 to `h`), its temperature
//! `T = E/h` (1 fresh … 0 about to freeze), the ground `z` and the surface
//! `s = z + h`; for each face between two cells, where the one with the higher
//! surface gives:
//!
//! ```text
//! h_f = min(h, s − max(z, z'))             what lies above the step between them
//! S_n = (s − s')/l                         S² = S_n² + S_t², across from the giver's slope
//! r   = min(1, τ·√(1 + S²) / (ρ·g·S·h_f))  no flow where r = 1: lava piles up
//! K   = ρ·g / (3·μ·(1 + (k − 1)·(1 − T)))  colder lava is stiffer
//! q   = K·h_f³·S_n/√(1 + S²)·(1 − r)²·(1 + r/2)
//! f   = min(q·dt/l, 0.2·(s − s'))          never past level
//! f  ← f·min(1, ½·h / Σ f out of the cell) never more than there is
//! h  ← h + Σ f        E ← E + Σ f·T of the giver
//! ```
//!
//! Then, once a step, with `n` sides of four without lava:
//!
//! ```text
//! E  ← E − c·(1 + e·n)·dt                  E < 0: so much of h freezes, E = 0
//! x   = min(h, d/w)                        where water of depth d is: freezes at once,
//! d  ← d − w·x                             and w times as much water is steam
//! ```
//!
//! What freezes becomes bedrock, volume by volume, and the soil that it freezes
//! on is baked to bedrock with it. The ledger counts steam as evaporated. Nothing flows
//! over the border. Water models ignore lava: water runs on the ground, and freezes
//! lava where both are in the same cell.

mod flow;
mod freeze;
mod solver;
pub(crate) mod steam;

pub use solver::LavaSolver;
pub use steam::{Boiled, LavaSteam};

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// Lets lava flow and freeze: insert this resource and it does. Lava comes from
/// a [`LavaSource`](crate::forcing::LavaSource), an edit or a layer of the
/// terrain.
///
/// [The guide](crate::guide::lava) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Lava", "Lava flows, piles up and freezes to bedrock"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Lava {
    /// How thick-flowing fresh lava is: basalt has 100 to 1000. units: Pa·s
    #[reflect(@Setting::new("Pa·s", 1.0..=100_000.0).limits(1.0..=1e12)
        .about("How thick-flowing fresh lava is"))]
    pub viscosity: f32,
    /// How many times as stiff lava is when it is about to freeze.
    #[reflect(@Setting::new("", 1.0..=1000.0).limits(1.0..=1e6)
        .about("How many times as stiff it is when about to freeze"))]
    pub stiffening: f32,
    /// Stress below which lava does not flow at all: the higher, the steeper it
    /// stands. units: Pa
    #[reflect(@Setting::new("Pa", 0.0..=100_000.0).limits(0.0..=1e9)
        .about("Stress below which it does not flow at all"))]
    pub yield_strength: f32,
    /// Mass of a cubic metre. units: kg/m³
    #[reflect(@Setting::new("kg/m³", 100.0..=5000.0).limits(1.0..=1e5)
        .about("Mass of a cubic metre"))]
    pub density: f32,
    /// Acceleration of gravity. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Heat lost through the surface, as the thickness of fresh lava that would
    /// be cold in a second. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=0.1).limits(0.0..=1e3)
        .about("Thickness of fresh lava that would be cold in a second"))]
    pub cooling: f32,
    /// How much more is lost for each side without lava, as a share of that
    /// through the surface.
    #[reflect(@Setting::new("", 0.0..=10.0).limits(0.0..=1e3)
        .about("How much more is lost for each side without lava"))]
    pub edge_cooling: f32,
    /// Water that lava boils off where it turns to rock, in proportion to it by
    /// volume.
    #[reflect(@Setting::new("", 0.0..=10.0).limits(0.0..=100.0)
        .about("Water boiled off by a volume that turns to rock"))]
    pub steam: f32,
    /// Parts that a step is cut into at most.
    #[reflect(@Setting::new("", 1..=64).limits(1..=1024)
        .about("Most parts of a step; beyond it time slows down for the lava"))]
    pub max_substeps: u32,
}

impl Default for Lava {
    fn default() -> Self {
        Self {
            viscosity: 800.0,
            stiffening: 12.0,
            yield_strength: 1500.0,
            density: 2700.0,
            gravity: 9.81,
            cooling: 0.006,
            edge_cooling: 1.0,
            steam: 0.5,
            max_substeps: 16,
        }
    }
}

impl Lava {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}
