//! Rivers that meander: water as smoothed particles, sediment as particles of
//! its own, a ground that is cut sideways. After M. Kurowski, *Procedural
//! Generation of Meandering Rivers Inspired by Erosion* (WSCG 2012). Explicit:
//! a step is split so that no particle crosses more than a quarter of the
//! smoothing radius or of a cell, see [`RiverSolver::largest_step`].
//!
//! Water (M. Müller and others, 2003, with kernels of two dimensions; particles
//! slide on the ground), with `q = distance/r`:
//!
//! ```text
//! ρ   = Σ 4/(π·r²)·(1 − q²)³                        particles per m²
//! p   = k·max(0, ρ − ρ0)
//! a   = −Σ (pᵢ + pⱼ)/(2·ρᵢ·ρⱼ)·∇spiky + μ·Σ (vⱼ − vᵢ)/(ρᵢ·ρⱼ)·∇²visc
//!       − g·∇ground − f·v + coriolis·left(v)        left(v) = v turned by 90°
//! f   = drag·|v|/speed/max(1, ρ/ρ0)                 or drag alone
//! κ   = turning rate of the neighbors' mean velocity, smoothed, / speed
//! ```
//!
//! Ground, at each point that water reaches, every `interval`; `w` is the
//! kernel sum, `u` the mean velocity, `c` the center of the water in reach:
//!
//! ```text
//! bend = ramp(|κ|, curve_start … curve_full)        outward = −sign(κ)·left(u)
//! E    = erosion·|u|·min(w, 1)·side·softness        side = ½ + ½·clamp((x − c)·outward/r)
//! cut  = E·(sideways·bend·outward + ahead·u/|u|, −downward)    where |u| > threshold
//! ```
//!
//! A cut goes to the nearest sediment particle, as far as that can carry it.
//! Sediment follows the water, is drawn to the inner bank and settles where it
//! is slow, old, crowded or out of the water: only near the edge of the stream
//! and up to the level of the floodplain, which builds bars.
//!
//! Where a neck between two reaches becomes narrower than the channel, the river
//! breaks through it and leaves an [`OxbowLake`].
//!
//! Sums over neighbors are rounded to a fixed last place (`kernels::whole`),
//! so their order does not matter: any number of threads gives the same bits,
//! and a mirrored river stays the mirror image.

mod curve;
mod cutoff;
mod grade;
mod grid_ground;
mod ground;
mod kernels;
mod layout;
mod measure;
mod mesh_ground;
mod neighbors;
mod oxbow;
mod plain;
pub(crate) mod plugin;
mod sediment;
mod solver;
mod springs;
mod state;
mod stream;
mod stretch;
mod water;

pub use curve::CurveSignal;
pub use cutoff::{Cutoff, RiverWaterLedger};
pub use grid_ground::{GridGround, GroundError, SidewaysRule};
pub use ground::{Cut, Ground, Surface};
pub use measure::{Centerline, Tally, course};
pub use mesh_ground::{MeshDetail, MeshGround, RemeshTally};
pub use oxbow::OxbowLake;
pub use plain::RiverPlain;
pub use plugin::{RiverRequest, Rivers};
pub use sediment::SedimentParticle;
pub use solver::{RiverLedger, RiverSolver};
pub use springs::{RiverSink, RiverSource, SinkId, SourceId};
pub use stretch::{RiverStretch, TerrainRiver};
pub use water::WaterParticle;

use crate::{
    settings::{self, Setting},
    terrain::{SettingsError, in_range},
};
use bevy::prelude::*;

/// How the ground slows water.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum Friction {
    /// The same whatever the water's speed and depth: a steady stream runs at
    /// gravity·slope/drag, so half as fast where a bend is twice as long, and
    /// backs up there.
    #[reflect(@Setting::variant("linear", || Friction::Linear)
        .about("The same whatever the speed and depth"))]
    Linear,
    /// As on a rough bed: grows with the speed, and is less the deeper the water
    /// is, which is its density over the rest density. A steady stream runs at
    /// √(gravity·slope·speed/drag), and faster where it backs up.
    #[reflect(@Setting::variant("rough", || MeanderingRiver::default().friction)
        .about("Grows with the speed, less in deep water"))]
    Rough {
        /// Speed at which it is as strong as the linear one. units: m/s
        #[reflect(@Setting::new("m/s", 0.01..=50.0).limits(1e-3..=1e3)
            .about("Speed at which it is as strong as the linear one"))]
        speed: f32,
    },
}

impl Friction {
    fn slower(self, times: f32) -> Self {
        match self {
            Self::Linear => Self::Linear,
            Self::Rough { speed } => Self::Rough {
                speed: speed / times,
            },
        }
    }
}

/// A river that wanders through its plain. As a component it runs on a
/// [`RiverStretch`] of the terrain: its entity's `Transform` says where the river
/// enters and, by its forward direction (−Z), which way it runs.
///
/// [The guide](crate::guide::rivers) has an example.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default)]
#[reflect(@Setting::titled("River",
    "A river that wanders: it cuts its outer banks, fills its inner ones and breaks \
     through necks"))]
#[require(RiverStretch, Transform)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct MeanderingRiver {
    /// Random numbers of the sources depend on it.
    #[reflect(@Setting::seed().about("Same seed, same river"))]
    pub seed: u64,

    /// Reach of a water particle, half the width of a stream. units: m
    #[reflect(@Setting::new("m", 1.0..=100.0).limits(1e-2..=1e4)
        .about("Reach of a water particle, half the width of a stream"))]
    pub radius: f32,
    /// Water with more particles on a square metre pushes apart. units: 1/m²
    #[reflect(@Setting::new("1/m²", 0.0001..=1.0).limits(0.0..=1e6)
        .about("Water denser than this pushes apart"))]
    pub rest_density: f32,
    /// Pressure for each particle/m² beyond that. units: m⁴/s²
    #[reflect(@Setting::new("m⁴/s²", 0.0..=1000.0).limits(0.0..=1e6)
        .about("Pressure for each particle/m² beyond that"))]
    pub stiffness: f32,
    /// How strongly neighbors share their velocity. units: 1/(m²·s)
    #[reflect(@Setting::new("1/(m²·s)", 0.0..=10.0).limits(0.0..=1e6)
        .about("How strongly neighbors share their velocity"))]
    pub viscosity: f32,
    /// Pull down the slope. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.0..=30.0).limits(0.0..=1e3).about("Pull down the slope"))]
    pub gravity: f32,
    /// Slows water on the ground. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=1.0).limits(0.0..=1e3).about("Slows water on the ground"))]
    pub drag: f32,
    /// How that depends on the water's speed and depth.
    #[reflect(@Setting::plain().about("How that depends on the water's speed and depth"))]
    pub friction: Friction,
    /// Turns water to the left of its way, or to the right below zero. units: 1/s
    #[reflect(@Setting::new("1/s", -0.1..=0.1).limits(-10.0..=10.0)
        .about("Turns water to the left, or to the right below zero"))]
    pub coriolis: f32,

    /// How water knows that it runs through a bend.
    #[reflect(@Setting::plain().about("How water knows that it runs through a bend"))]
    pub curve: CurveSignal,
    /// Straighter water does not cut sideways. units: 1/m (radians for the
    /// accumulated signal)
    #[reflect(@Setting::new("1/m", 0.0..=0.1).limits(0.0..=1e3)
        .about("Straighter water does not cut sideways"))]
    pub curve_start: f32,
    /// From here on sideways cutting is at its full. units: 1/m (radians for
    /// the accumulated signal)
    #[reflect(@Setting::new("1/m", 0.0001..=1.0).limits(1e-6..=1e3)
        .about("From here on sideways cutting is at its full"))]
    pub curve_full: f32,

    /// Cut for each metre that water runs past, at full water. units: m/m
    #[reflect(@Setting::new("m/m", 0.0..=0.1).limits(0.0..=1e3)
        .about("Cut for each metre that water runs past, at full water"))]
    pub erosion: f32,
    /// Slower water does not cut. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("Slower water does not cut"))]
    pub threshold: f32,
    /// Share of a cut that goes sideways, in a full bend.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=1e3)
        .about("Share of a cut that goes sideways, in a full bend"))]
    pub sideways: f32,
    /// Share of a cut that goes ahead, into what stands in the water's way.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=1e3)
        .about("Share that goes into what stands in the water's way"))]
    pub ahead: f32,
    /// Share of a cut that goes down.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=1e3)
        .about("Share of a cut that goes down"))]
    pub downward: f32,
    /// Water does not dig deeper than this below the floodplain, and sediment
    /// fills deeper hollows under the main flow. units: m
    #[reflect(@Setting::new("m", 0.1..=50.0).limits(0.0..=f64::INFINITY)
        .about("Water does not dig deeper than this below the floodplain"))]
    pub depth: f32,
    /// Way along the stream over which its bed falls evenly, about that round a
    /// full bend; zero: with the floodplain, which leaves bends that run across
    /// the valley without any fall. units: m
    #[reflect(@Setting::new("m", 0.0..=5000.0).limits(0.0..=1e6)
        .about("Way along the stream over which its bed falls evenly"))]
    pub grading: f32,
    /// Time between two looks at the ground. units: s
    #[reflect(@Setting::new("s", 0.05..=60.0).limits(1e-3..=1e3)
        .about("Time between two looks at the ground"))]
    pub interval: f32,
    /// How cuts move a bank of the height grid.
    #[reflect(@Setting::plain().about("How cuts move a bank of the height grid"))]
    pub rule: SidewaysRule,
    /// How many times faster fresh deposits are cut.
    #[reflect(@Setting::new("", 0.0..=10.0).limits(0.0..=1e3)
        .about("How many times faster fresh deposits are cut"))]
    pub softness: f32,
    /// Share of fresh deposits that hardens in a second. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=0.1).limits(0.0..=1e3)
        .about("Share of fresh deposits that hardens in a second"))]
    pub hardening: f32,
    /// Steepest slope that stands; steeper banks cave in.
    #[reflect(@Setting::new("", 0.05..=5.0).limits(0.0..=f64::INFINITY)
        .about("Steepest slope that stands; steeper banks cave in"))]
    pub talus: f32,
    /// Smooths the ground under water once in this many seconds, as the paper
    /// does; zero: never. units: s
    #[reflect(@Setting::new("s", 0.0..=60.0).limits(0.0..=1e6)
        .about("Smooths the ground under water once in a while; 0: never"))]
    pub smoothing: f32,

    /// Most that a sediment particle carries. units: m³
    #[reflect(@Setting::new("m³", 1.0..=5000.0).limits(1e-6..=1e9)
        .about("Most that a sediment particle carries"))]
    pub capacity: f32,
    /// A cut looks so far for a particle that carries it, at most the radius.
    /// units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e4)
        .about("A cut looks so far for a particle that carries it"))]
    pub reach: f32,
    /// How quickly sediment takes on the water's velocity. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("How quickly sediment takes on the water's velocity"))]
    pub follow: f32,
    /// Pull towards the inner bank for each m/s of the water. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("Pull towards the inner bank, for each m/s of the water"))]
    pub attraction: f32,
    /// Sediment in the middle of the stream that is slower settles; five times
    /// as much at the edge. units: m/s
    #[reflect(@Setting::new("m/s", 0.0..=20.0).limits(0.0..=1e3)
        .about("Slower sediment in the middle of the stream settles"))]
    pub settling_speed: f32,
    /// Older sediment settles wherever it may. units: s
    #[reflect(@Setting::new("s", 1.0..=10_000.0).limits(0.0..=f64::INFINITY)
        .about("Older sediment settles wherever it may"))]
    pub lifetime: f32,
    /// Most sediment in reach of full water; what is more settles. units: m³
    #[reflect(@Setting::new("m³", 1.0..=10_000.0).limits(0.0..=f64::INFINITY)
        .about("Most sediment in reach of full water"))]
    pub saturation: f32,
    /// Share of a particle that settles in a second. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=10.0).limits(0.0..=1e3)
        .about("Share of a particle that settles in a second"))]
    pub settling: f32,
    /// Sediment settles only where the water's kernel sum is below this: at the
    /// edge of the stream. Infinite: everywhere, as in the paper.
    #[reflect(@Setting::new("", 0.0..=10.0).limits(0.0..=f64::INFINITY)
        .about("Sediment settles where there is less water: at the edge"))]
    pub bar_edge: f32,
    /// Deposits rise to the floodplain and not above.
    #[reflect(@Setting::plain().about("Deposits rise to the floodplain and not above"))]
    pub level_bars: bool,
    /// Particles that are nearer than this become one; at most the radius counts.
    /// units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e4)
        .about("Sediment particles that are nearer become one"))]
    pub merging: f32,
    /// What leaves with the water is fed in again at the sources.
    #[reflect(@Setting::plain().about("What leaves with the water is fed in again at the source"))]
    pub recirculate: bool,
    /// Most of it that comes in with a particle of water. A river that grows
    /// longer has more channel, so more leaves it than can come back: fed in
    /// whole, it would silt up. units: m³
    #[reflect(@Setting::new("m³", 0.0..=1000.0).limits(0.0..=1e9)
        .about("Most of it that comes in with a particle of water"))]
    pub feed: f32,

    /// Water of one particle: by the rest density it makes some metres of depth.
    /// units: m³
    #[reflect(@Setting::new("m³", 0.001..=10_000.0).limits(1e-6..=1e9)
        .about("Water of one particle"))]
    pub particle_volume: f32,
    /// The river breaks through land between two of its reaches that is
    /// narrower: about the width of its channel. Zero: never. units: m
    #[reflect(@Setting::new("m", 0.0..=500.0).limits(0.0..=1e6)
        .about("Narrower land between two reaches is cut through; 0: never"))]
    pub neck: f32,
    /// Shortest way round such a neck for a break-through, never below eight radii: two
    /// mouths and a bit of a lake between them. units: m
    #[reflect(@Setting::new("m", 8.0..=5000.0).limits(0.0..=f64::INFINITY)
        .about("Only where the way round is at least so long"))]
    pub neck_way: f32,
    /// Time between two looks at the river's course, for its grade and for such
    /// necks. units: s
    #[reflect(@Setting::new("s", 0.1..=600.0).limits(1e-3..=f64::INFINITY)
        .about("Time between two looks at the river's course"))]
    pub course_interval: f32,
    /// Length of a plug in a mouth of an old bend, at its crest, at most two
    /// radii. units: m
    #[reflect(@Setting::new("m", 0.0..=200.0).limits(0.0..=1e4)
        .about("Length of a plug in a mouth of an old bend"))]
    pub plug: f32,
}

impl Default for MeanderingRiver {
    fn default() -> Self {
        Self {
            seed: 0,
            radius: 25.0,
            rest_density: 0.0035,
            stiffness: 50.0,
            viscosity: 0.3,
            gravity: 9.81,
            drag: 0.06,
            friction: Friction::Rough { speed: 9.81 },
            coriolis: 0.005,
            curve: CurveSignal::Smoothed { time: 3.0 },
            curve_start: 0.001,
            curve_full: 0.005,
            erosion: 0.015,
            threshold: 1.5,
            sideways: 1.0,
            ahead: 0.3,
            downward: 0.1,
            depth: 8.0,
            grading: 640.0,
            interval: 0.5,
            rule: SidewaysRule::Advance,
            softness: 3.0,
            hardening: 0.002,
            talus: 0.8,
            smoothing: 0.0,
            capacity: 400.0,
            reach: 20.0,
            follow: 1.0,
            attraction: 1.0,
            settling_speed: 5.0,
            lifetime: 120.0,
            saturation: 600.0,
            settling: 0.3,
            bar_edge: 0.5,
            level_bars: true,
            merging: 12.0,
            recirculate: true,
            feed: 50.0,
            particle_volume: 1000.0,
            neck: 40.0,
            neck_way: 200.0,
            course_interval: 10.0,
            plug: 25.0,
        }
    }
}

impl MeanderingRiver {
    /// The paper's rules on a height map, as far as it gives them: bends by an
    /// accumulator that never decays, two points cut at once, deposits wherever
    /// sediment is slow, smoothing every ten steps of 0.1 s, nothing fed in
    /// again. It starts bends and then, as the paper says, silts up and stalls.
    pub fn as_published() -> Self {
        Self {
            curve: CurveSignal::Accumulated {
                least_turn: 0.0,
                decay: f32::INFINITY,
                limit: f32::INFINITY,
            },
            friction: Friction::Linear,
            curve_start: 0.05,
            curve_full: 0.5,
            rule: SidewaysRule::TwoPoints,
            ahead: 0.0,
            depth: f32::INFINITY,
            grading: 0.0,
            talus: f32::INFINITY,
            smoothing: 1.0,
            bar_edge: f32::INFINITY,
            level_bars: false,
            recirculate: false,
            neck: 0.0,
            ..Self::default()
        }
    }

    /// The same river, slower by a factor: it takes the same course after `times` the
    /// time, from 1/`times` of the inflow. By default it is as fast as in the paper,
    /// whose plane is far steeper than a river's valley.
    #[must_use]
    pub fn slower(self, times: f32) -> Self {
        let square = times * times;
        Self {
            gravity: self.gravity / square,
            stiffness: self.stiffness / square,
            drag: self.drag / times,
            friction: self.friction.slower(times),
            viscosity: self.viscosity / times,
            coriolis: self.coriolis / times,
            curve: self.curve.slower(times),
            threshold: self.threshold / times,
            interval: self.interval * times,
            course_interval: self.course_interval * times,
            smoothing: self.smoothing * times,
            hardening: self.hardening / times,
            follow: self.follow / times,
            attraction: self.attraction / times,
            settling_speed: self.settling_speed / times,
            settling: self.settling / times,
            lifetime: self.lifetime * times,
            ..self
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        in_range(
            "MeanderingRiver",
            "curve_start",
            self.curve_start,
            0.0..=self.curve_full * 0.999,
        )
    }

    /// Speed of a steady stream on a slope, at the rest density. units: m/s
    pub fn steady_speed(&self, slope: f64) -> f64 {
        let linear = f64::from(self.gravity) * slope.max(0.0) / f64::from(self.drag).max(1e-3);
        match self.friction {
            Friction::Linear => linear,
            Friction::Rough { speed } => (linear * f64::from(speed)).sqrt(),
        }
    }

    /// How strongly water of a speed and density is slowed. units: 1/s
    #[inline]
    fn drag_on(&self, speed: f64, density: f64) -> f64 {
        let drag = f64::from(self.drag);
        match self.friction {
            Friction::Linear => drag,
            Friction::Rough { speed: usual } => {
                let depth = (density / f64::from(self.rest_density).max(1e-12)).max(1.0);
                drag * speed / (f64::from(usual) * depth)
            }
        }
    }

    /// Shortest way round a neck that is cut off. units: m
    pub(super) fn way_round(&self) -> f64 {
        f64::from(self.neck_way.max(8.0 * self.radius))
    }

    /// Length of a plug's crest. units: m
    pub(super) fn plug_length(&self) -> f64 {
        f64::from(self.plug.min(2.0 * self.radius))
    }

    /// Height of the banks of a channel. units: m
    #[inline]
    pub(super) fn bank(&self) -> f64 {
        f64::from(self.depth.min(self.radius / 3.0))
    }
}
