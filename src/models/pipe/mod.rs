//! The pipe model: shallow water through virtual pipes between cells, with
//! erosion, transport and deposition, after X. Mei, P. Decaudin and B.-G. Hu
//! (2007). Explicit: `(√(g·d) + |v|)·dt ≤ 0.6·l`; a longer step is split.
//!
//! The default, on ground `z` = bedrock + soil, water `d`, suspended sediment
//! `s` (m), and one signed discharge `q` a face (m²/s, per metre of face). For
//! the face between cell i and its neighbor j, with `p` the mean of the four
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
//! C  = Kc·S·v·min(d, D)·clamp(1 − λ·∇²z, 0, 2)      ∇²z by the four neighbors
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
//! `f` is why channels do not favor the axes. A thread of water that runs askew
//! goes by turns through both kinds of faces and so spreads over a few cells; one
//! along an axis would stay as narrow as a cell, gather more and more, and draw
//! its neighbors in. `f` lets it spread as much: the drag pulls a discharge not
//! to rest but towards a flow from where more goes straight on to where less
//! does. Deep or ideal water, that has little drag, does not feel it.

pub(crate) mod published;
pub(crate) mod rows;
pub(crate) mod solver;
mod sweep;

pub use published::PublishedPipe;
pub use solver::PipeSolver;

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// Lets water flow, carve and carry: insert this resource and it runs.
///
/// [The guide](crate::guide::getting_started) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Water (pipe model)",
    "Water flows through virtual pipes, cuts and deposits"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PipeModel {
    /// Gravity g. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Manning's roughness n of the bed. units: s/m^⅓
    #[reflect(@Setting::new("s/m^⅓", 0.0..=0.2).limits(0.0..=1.0)
        .about("Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush"))]
    pub roughness: f32,
    /// Capacity Kc: sediment that a metre of water carries at 1 m/s on a slope
    /// of 1. units: s/m
    #[reflect(@Setting::new("s/m", 0.0..=10.0).limits(0.0..=1e3)
        .about("Sediment that a metre of water carries at 1 m/s on a slope of 1"))]
    pub capacity: f32,
    /// Depth D beyond which deeper water carries no more. units: m
    #[reflect(@Setting::new("m", 0.01..=50.0).limits(1e-3..=1e4)
        .about("Depth beyond which deeper water carries no more"))]
    pub full_depth: f32,
    /// Water carries on level ground what it would on this slope. units: °
    #[reflect(@Setting::new("°", 0.0..=20.0).limits(0.0..=89.0)
        .about("Water carries on level ground what it would on this slope"))]
    pub min_tilt: f32,
    /// Length λ: where the bed is curved upwards more sharply than 1/λ it is cut
    /// no further, and edges wear more. It keeps channels from being as narrow
    /// as the grid allows. units: m
    #[reflect(@Setting::new("m", 0.0..=50.0).limits(0.0..=1e3)
        .about("Beds curved more sharply than one over this are cut no further"))]
    pub rounding: f32,
    /// How fast water takes up soil, Ks. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("How fast water takes up soil"))]
    pub soil_erosion: f32,
    /// How fast water takes up bare bedrock, Kb. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("How fast water takes up bare bedrock"))]
    pub bedrock_erosion: f32,
    /// How fast water lets fall what is too much, Kd. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("How fast water deposits sediment above its capacity"))]
    pub deposition: f32,
    /// Most parts that a step is split into. Where they do not suffice for a
    /// stable step, time slows down for the water.
    #[reflect(@Setting::new("", 1..=64).limits(1..=4096)
        .about("Most parts of a step; beyond it time slows down for the water"))]
    pub max_substeps: u32,
    /// The source's own method instead, literally.
    #[reflect(@Setting::optional(PublishedPipe::default)
        .label("published method")
        .about("X. Mei's method, literally: it depends on the step and loses mass")
        .hides_all_but(&[]))]
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
        settings::check(self)
    }
}
