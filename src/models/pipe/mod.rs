//! The pipe model: shallow water through virtual pipes between cells, with
//! erosion, transport and deposition, after X. Mei, P. Decaudin and B.-G. Hu
//! (2007). Explicit: `(√(g·d) + |v|)·dt ≤ 0.7·l`; a longer step is split.
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
//! b  = max(0, |v| − |u|)             f = 0.8·(b_i − b_j)·h / max(h, d_i, d_j)
//! F  = g·n²·dt·√(q² + p²)/h^(7/3)    a = min(5/3·dt/l·|q| / max(d_i, d_j), 0.9)
//! D  = Σ q out of the giving cell, signed like q
//! q* = (q̄ + F·q − a·D − g·h·dt·(H_j − H_i)/l + F·f) / (1 + 2F)     h > film, else 0
//! K  = min(1, d / (dt/l·Σ q* out))                  no cell gives more than it has
//! q  ← K of the giving cell · q*
//! d  ← d − dt/l·Σ q out              s ← s − dt/l·Σ (q·s/d of the giving cell) out
//! v² = ((q_w + q_e)² + (q_n + q_s)²) / (4·d²)       the new q, the larger d of before and after
//! τ  = n²·v²/d^(1/3)                 the bed's stress, as a height of water (depth·slope)
//! E  = carving·dt·max(0, τ − threshold)             what the water would wear
//! F  = s·w/(d + w), w = settling·dt                 what falls;  d ≤ film: all of s
//! E' = mean of E over 3 × 3 cells, ·(1 − clamp(smoothing·l·∇²z, −0.8, 0.8))
//! F' = F + what neighbors scatter here − what is scattered: to each of four F/6 times the
//!      part of the giver's depth that its level lies above their ground
//! m  = carrying·d                    the most that the water bears
//! e  = E'·max(0, m − s + F)/(m + E')                less as it fills;  d ≤ film: 0
//! soil −= min(soil, e)               bedrock −= what is left of e·bedrock·(1 − hardness)
//! soil += F' + max(0, s − F − m)     s ← what is kept and taken up
//! ```
//!
//! `a·D` carries discharge with the flood, which runs 5/3 times as fast as the
//! water: then no wave outruns the signals of this law, and an even stream stays
//! even at any Froude number (without it streams break into roll waves above 0.6).
//! It vanishes where water flows evenly or rests. The drag is taken by Newton's
//! step, `2F`, so that it does not overshoot in thin films.
//!
//! Erosion is by shear stress with a threshold: films of rain run off, what gathers
//! carves, and so gullies begin where water gathers and grow uphill. `carving` and
//! `carrying` contain a morphological factor, by which the ground changes faster than
//! under real water; the load is bounded by the water that bears it, so that a large
//! factor stays bounded at any cell size. Smoothing keeps channels from being one cell
//! wide, and what falls is scattered below the water's level only, so that fans and
//! lake beds become even and banks stay.
//!
//! `q̄` calms waves as short as the grid. One signed discharge keeps waves at
//! their true speed, the face's own depth lets deep water run faster,
//! `√(q² + p²)` and the mean of the faces treat all directions alike, and sediment
//! rides the water's own discharge, so that both are conserved.
//!
//! `f` is why channels do not favor the axes. A thread of water that runs askew
//! goes by turns through both kinds of faces and so spreads over a few cells; one
//! along an axis would stay as narrow as a cell, gather more and more, and draw
//! its neighbors in. `f` lets it spread as much: the drag pulls a discharge not
//! to rest but towards a flow from where more goes straight on to where less
//! does. Deep or ideal water, that has little drag, does not feel it. Beds that water
//! cuts would make much of any rest, because a bed as narrow as a cell, which only one
//! along an axis can be, is cut the fastest: so `f` is a little more than water alone
//! would need, and wear is spread evenly over 3 × 3 cells.

#[cfg(test)]
mod channel_tests;
pub(crate) mod published;
pub(crate) mod rows;
#[cfg(feature = "serialize")]
mod saved;
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
    serde(from = "saved::SavedPipe")
)]
pub struct PipeModel {
    /// Gravity g. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Manning's roughness n of the bed. units: s/m^⅓
    #[reflect(@Setting::new("s/m^⅓", 0.0..=0.2).limits(0.0..=1.0)
        .about("Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush"))]
    pub roughness: f32,
    /// How fast water carves: metres of ground a second for each metre of stress
    /// above the threshold. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("How fast water carves, by the stress on its bed"))]
    pub carving: f32,
    /// Stress on its bed below which water carves nothing, as a height of water:
    /// depth times slope where water flows evenly. units: m
    #[reflect(@Setting::new("m", 1e-3..=0.2).limits(1e-4..=10.0)
        .about("Depth times slope below which water carves nothing"))]
    pub threshold: f32,
    /// How much water carries at most: metres of ground for each metre of water.
    #[reflect(@Setting::new("", 0.0..=20.0).limits(0.0..=1e3)
        .about("How much ground a metre of water carries at most"))]
    pub carrying: f32,
    /// How fast sediment settles. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=0.5).limits(0.0..=10.0)
        .about("How fast sediment settles: fine mud 0.001, sand 0.02, gravel 0.2"))]
    pub settling: f32,
    /// How much more sharp edges wear than notches, by their height in cells. More
    /// keeps the beds of strong streams from breaking into steps, less lets rain cut
    /// more and narrower gullies.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=100.0)
        .about("How much more sharp edges wear than notches"))]
    pub smoothing: f32,
    /// How fast bedrock is carved where soil is one; harder rock is carved slower.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=100.0)
        .about("How fast bedrock is carved where soil is one"))]
    pub bedrock: f32,
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
            carving: 3.0,
            threshold: 0.02,
            carrying: 6.0,
            settling: 0.02,
            smoothing: 0.3,
            bedrock: 1.0,
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
