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
//! on is baked to bedrock with it. Steam is booked as evaporated. Nothing flows
//! over the border. Water models take no notice of lava: water runs on the
//! ground, and where it gets under lava, the two meet.

mod flow;
mod freeze;
mod solver;
pub(crate) mod steam;

pub use solver::LavaSolver;
pub use steam::{Boiled, LavaSteam};

use crate::terrain::{SettingsError, in_range};
use bevy::prelude::*;

/// Lets lava flow and freeze: insert this resource and it does. Lava comes from
/// a [`LavaSource`](crate::forcing::LavaSource), an edit or a layer of the
/// terrain.
///
/// [The guide](crate::guide::lava) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Lava {
    /// How thick-flowing fresh lava is: basalt has 100 to 1000. units: Pa·s
    pub viscosity: f32,
    /// How many times as stiff lava is when it is about to freeze.
    pub stiffening: f32,
    /// Stress below which lava does not flow at all: the higher, the steeper it
    /// stands. units: Pa
    pub yield_strength: f32,
    /// Mass of a cubic metre. units: kg/m³
    pub density: f32,
    /// Acceleration of gravity. units: m/s²
    pub gravity: f32,
    /// Heat lost through the surface, as the thickness of fresh lava that would
    /// be cold in a second. units: m/s
    pub cooling: f32,
    /// How much more is lost for each side without lava, as a share of that
    /// through the surface.
    pub edge_cooling: f32,
    /// Water that lava boils off where it turns to rock, in proportion to it by
    /// volume.
    pub steam: f32,
    /// Parts that a step is cut into at most.
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
        const M: &str = "Lava";
        in_range(M, "viscosity", self.viscosity, 1.0..=1e12)?;
        in_range(M, "stiffening", self.stiffening, 1.0..=1e6)?;
        in_range(M, "yield_strength", self.yield_strength, 0.0..=1e9)?;
        in_range(M, "density", self.density, 1.0..=1e5)?;
        in_range(M, "gravity", self.gravity, 1e-3..=1e3)?;
        in_range(M, "cooling", self.cooling, 0.0..=1e3)?;
        in_range(M, "edge_cooling", self.edge_cooling, 0.0..=1e3)?;
        in_range(M, "steam", self.steam, 0.0..=100.0)?;
        if !(1..=1024).contains(&self.max_substeps) {
            return Err(SettingsError {
                model: M,
                field: "max_substeps",
                reason: format!("must be 1 to 1024, was {}", self.max_substeps),
            });
        }
        Ok(())
    }
}
