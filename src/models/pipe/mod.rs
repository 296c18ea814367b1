//! The pipe model: shallow water through virtual pipes between cells, with
//! erosion, transport and deposition, after X. Mei, P. Decaudin and B.-G. Hu
//! (2007). Explicit: `(√(g·d) + |v|)·dt ≤ 0.6·l`; a longer step is split.
//!
//! The default, on ground `z` = bedrock + soil, water `d`, suspended sediment
//! `s` (m), and one signed discharge `q` a face (m²/s, per metre of face). For
//! the face between cell i and its neighbour j, with `p` the mean of the four
//! faces that cross its ends, and `u` and `v` a cell's mean discharges along the
//! face's direction and across it:
//!
//! ```text
//! H  = z + d                         h = max(0, max(H_i, H_j) − max(z_i, z_j))
//! q̄  = q + c·(q of the next face before − 2q + q of the next behind)    c = min(¼, 1 m/s·dt/l)
//! b  = max(0, |v| − |u|)             f = 0.6·(b_i − b_j)·h / max(h, d_i, d_j)
//! r  = 1 / (1 + g·n²·dt·√(q² + p²)/h^(7/3))
//! q* = r·(q̄ − g·h·dt·(H_j − H_i)/l) + (1 − r)·f     h > film, else 0
//! K  = min(1, d / (dt/l·Σ q* out))                  no cell gives more than it has
//! q  ← K of the giving cell · q*
//! d  ← d − dt/l·Σ q out              s ← s − dt/l·Σ (q·s/d of the giving cell) out
//! v² = (q_w² + q_e² + q_n² + q_s²) / (2·d²)         the new q, the larger d of before and after
//! S  = max(sin α_min, |∇z|/√(1 + |∇z|²))            central differences
//! C  = Kc·S·v·min(d, D)·clamp(1 − λ·∇²z, 0, 2)      ∇²z by the four neighbours
//! s > C: soil += (s − C)·(1 − e^(−Kd·dt))           the same from s
//! s < C: w = C − s
//!        soil −= min(soil, w·(1 − e^(−Ks·dt)))      the same to s
//!        bedrock −= (share of the cut that soil could not give)·
//!                   w·(1 − e^(−Kb·dt))·(1 − hardness)
//! d ≤ film: soil += s, s = 0                        what dries lets its load fall
//! ```
//!
//! `q̄` calms waves as short as the grid. One signed discharge keeps waves at
//! their true speed, the face's own depth lets deep water run faster,
//! `√(q² + p²)` and the mean square of the faces treat all directions alike, and
//! sediment rides the water's own discharge, so that both are conserved.
//!
//! `f` is why channels do not favour the axes. A thread of water that runs askew
//! goes by turns through both kinds of faces and so spreads over a few cells; one
//! along an axis would stay as narrow as a cell, gather more and more, and draw
//! its neighbours in. `f` lets it spread as much: the drag pulls a discharge not
//! to rest but towards a flow from where more goes straight on to where less
//! does. Deep or ideal water, that has little drag, does not feel it.

mod published;
pub(in crate::models) mod rows;
mod solver;
mod sweep;

pub use published::PublishedPipe;
#[cfg(feature = "gpu")]
pub(crate) use rows::Step;
pub use solver::PipeSolver;
#[cfg(feature = "gpu")]
pub(crate) use solver::{COURANT, longest_step};

use crate::terrain::{SettingsError, in_range};
use bevy::prelude::*;

/// Lets water flow, carve and carry: insert this resource and it runs.
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PipeModel {
    /// Gravity g. units: m/s²
    pub gravity: f32,
    /// Manning's roughness n of the bed. units: s/m^(1/3)
    pub roughness: f32,
    /// Capacity Kc: sediment that a metre of water carries at 1 m/s on a slope
    /// of 1. units: s/m
    pub capacity: f32,
    /// Depth D beyond which deeper water carries no more. units: m
    pub full_depth: f32,
    /// Water carries on level ground what it would on this slope. units: degrees
    pub min_tilt: f32,
    /// Length λ: where the bed is curved upwards more sharply than 1/λ it is cut
    /// no further, and edges wear more. It keeps channels from being as narrow
    /// as the grid allows. units: m
    pub rounding: f32,
    /// How fast water takes up soil, Ks. units: 1/s
    pub soil_erosion: f32,
    /// How fast water takes up bare bedrock, Kb. units: 1/s
    pub bedrock_erosion: f32,
    /// How fast water lets fall what is too much, Kd. units: 1/s
    pub deposition: f32,
    /// Most parts that a step is split into. Where they do not suffice for a
    /// stable step, time slows down for the water.
    pub max_substeps: u32,
    /// The source's own method instead, literally.
    pub published: Option<PublishedPipe>,
}

impl Default for PipeModel {
    fn default() -> Self {
        Self {
            gravity: 9.81,
            roughness: 0.06,
            capacity: 0.5,
            full_depth: 1.0,
            min_tilt: 1.0,
            rounding: 4.0,
            soil_erosion: 1.0,
            bedrock_erosion: 0.3,
            deposition: 0.5,
            max_substeps: 16,
            published: None,
        }
    }
}

impl PipeModel {
    /// The method of the source, literally: two one-way pipes a face of constant
    /// cross-section, exchange that depends on the step, and transport that
    /// loses mass.
    pub fn as_published() -> Self {
        Self {
            published: Some(PublishedPipe::default()),
            ..Self::default()
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "PipeModel";
        if let Some(published) = &self.published {
            published.check()?;
        }
        in_range(M, "gravity", self.gravity, 1e-3..=1e3)?;
        in_range(M, "roughness", self.roughness, 0.0..=1.0)?;
        in_range(M, "capacity", self.capacity, 0.0..=1e3)?;
        in_range(M, "full_depth", self.full_depth, 1e-3..=1e4)?;
        in_range(M, "min_tilt", self.min_tilt, 0.0..=89.0)?;
        in_range(M, "rounding", self.rounding, 0.0..=1e3)?;
        in_range(M, "soil_erosion", self.soil_erosion, 0.0..=1e3)?;
        in_range(M, "bedrock_erosion", self.bedrock_erosion, 0.0..=1e3)?;
        in_range(M, "deposition", self.deposition, 0.0..=1e3)?;
        in_range(M, "max_substeps", self.max_substeps as f32, 1.0..=4096.0)
    }
}
