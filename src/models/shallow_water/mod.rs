//! Implicit shallow water with a layer of regolith, after B. Beneš (2007) and
//! M. Kass and G. Miller (1990). Stable for any step: waves that a step is too
//! long for are damped, not amplified.
//!
//! The default, on water `d` over ground `z` = bedrock + soil (m) and one signed
//! discharge `q` a face (m²/s, per metre of face). `H = z + d` is the level. For
//! the face between cells i and j, with i the one of the higher level, and `p`
//! the mean of the four faces that cross its ends:
//!
//! ```text
//! h  = min(d_i, (H_i − H_j) + d_j)                  depth of the face, from the lagged d
//! q* = e^(−λ·dt)·q − g·h·dt·∂H/∂x                   as the old level pushes it
//! φ  = 2 / (1 + √(1 + 4·g·n²·dt·√(q*² + p²)/h^(7/3)))   friction;  h ≤ film: nothing flows
//! q̄  = φ·e^(−λ·dt)·q                                what is kept
//! c  = φ·g·h·dt²/l²                                 conductance of the face
//! f  = q̄ − φ·g·h·dt·∂H/∂x / (1 + c)                 about what will flow; cell k gives it
//! v  = 5/3·f/h, at most 20·l/dt                     speed of flood waves
//! q  ← q̄ − φ·g·h·dt·∂H'/∂x + v·(d'_k − d_k)         H' and d' are the new level and depth
//! H' = H − dt·(∂q/∂x + ∂q/∂y)                       so this is implicit
//! ```
//!
//! φ is what solves q = q* − g·n²·dt·q·|q|/h^(7/3), so that also friction takes
//! any step.
//!
//! The term with v is there because h is that of the old state. On steep ground the
//! level's own slope hardly counts, and a discharge that grows with depth (by
//! Manning as h^(5/3), so that waves run at 5/3 of the water's speed) would follow
//! its depth a step late: films of water would overdraw their cells, break into
//! waves, and cut terraces into the bed. With it a cell that empties gives less
//! within the same step. It vanishes where nothing changes, so that steady flow is
//! as Manning says, and still water stays still. Regolith goes without it.
//!
//! It is solved one direction after the other: `Aₓ·H* = H − dt·∇·q̄` along all
//! rows, then `A_y·H' = H*` along all columns, in turns also columns first. Each
//! line is a tridiagonal system. A cell's rise in the first direction lacks what
//! it will gain in the other; for the term with v that is taken to be what it was
//! in the last step, but no more than the depth. The source keeps two past levels
//! instead of `q`; their difference is `dt·∇·q`, so rain, evaporation and a moving
//! bed act on both of them by themselves.
//!
//! A cell that gives more than it has is left with nothing, and its pool, the
//! cells that water connects before or after the step, makes up for it: all its
//! depths are scaled so that no volume is gained. So a step neither makes nor
//! loses water.
//!
//! Every `interval` the water acts on the ground:
//!
//! ```text
//! r  = min(d, c_r·(1 − hardness))        the top of the ground, softened: regolith
//! solve as above with level z, depth r and friction n_r, until it is steady
//! z += what r gained                     soil first, then bedrock; arrivals are soil
//! ```
//!
//! The regolith is part of the ground: it is soft while there is water above it
//! and hardens to soil where there is too little. Sediment that another model
//! left suspended falls.
//!
//! It runs on all threads of Bevy's task pool, or on the GPU; the source's own
//! method, [`ShallowWater::as_published`], on the CPU only.
//!
//! Nothing passes a wall. Beyond an open border the land goes on as it does at
//! the edge, and water and regolith leave; an edge cell gives no more than it
//! has. Beyond a sea the level is fixed: water comes and goes, regolith leaves.

mod finish;
mod ground;
mod lines;
mod pools;
mod published;
pub(crate) mod sheet;
pub(crate) mod solver;
mod sweeps;

pub use published::PublishedShallowWater;
pub use solver::ShallowWaterSolver;

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// Lets water flow in long steps and the ground below it creep: insert this
/// resource and it runs.
///
/// [The guide](crate::guide::models) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Water (implicit)", "Shallow water in long steps over soft ground"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ShallowWater {
    /// Gravity g. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Manning's roughness n of the bed. units: s/m^⅓
    #[reflect(@Setting::new("s/m^⅓", 0.0..=0.2).limits(0.0..=1.0)
        .about("Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush"))]
    pub roughness: f32,
    /// How fast all waves die away, λ. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=2.0).limits(0.0..=1e3)
        .about("How fast all waves die away"))]
    pub damping: f32,
    /// Depth c_r to which water softens ground of hardness 0. units: m
    #[reflect(@Setting::new("m", 0.0..=0.5).limits(0.0..=10.0)
        .about("Depth to which water softens the ground"))]
    pub regolith_depth: f32,
    /// Roughness n_r for the regolith: the larger, the slower it creeps.
    /// units: s/m^⅓
    #[reflect(@Setting::new("s/m^⅓", 0.0..=2.0).limits(0.0..=10.0)
        .about("The larger, the slower soft ground creeps"))]
    pub regolith_roughness: f32,
    /// Time between two exchanges with the ground. units: s
    #[reflect(@Setting::new("s", 0.05..=10.0).limits(1e-3..=1e6)
        .about("Time between two exchanges with the ground"))]
    pub interval: f32,
    /// Parts of the interval in which the regolith is solved.
    #[reflect(@Setting::new("", 1..=20).limits(1..=100)
        .about("Parts of the interval in which soft ground creeps"))]
    pub regolith_solves: u32,
    /// Regolith that rises and falls slower than this is steady. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=0.001).limits(0.0..=1e3)
        .about("Soft ground that rises and falls slower than this is left"))]
    pub steady: f32,
    /// The source's own method instead, literally.
    #[reflect(@Setting::optional(PublishedShallowWater::default)
        .label("published method")
        .about("B. Beneš's method, literally: it depends on the step and makes water at shores")
        .hides_all_but(&[]))]
    pub published: Option<PublishedShallowWater>,
}

impl Default for ShallowWater {
    fn default() -> Self {
        Self {
            gravity: 9.807,
            roughness: 0.03,
            damping: 0.01,
            regolith_depth: 0.01,
            regolith_roughness: 0.05,
            interval: 0.5,
            regolith_solves: 5,
            steady: 1e-7,
            published: None,
        }
    }
}

impl ShallowWater {
    /// The method of the source, literally, but for a misprint: the damped
    /// equation needs a plus before (1 − τ), with the printed minus there are no
    /// waves.
    pub fn as_published() -> Self {
        Self {
            published: Some(PublishedShallowWater::default()),
            ..Self::default()
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}
