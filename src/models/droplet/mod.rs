//! Droplets: Newtonian water droplets that carve a heightmap, after T. Power,
//! "Creating Realistic Terrain by Modelling the Physics of Hydraulic Erosion"
//! (2025). Stable at any setting: a step never moves a drop further than a cell.
//!
//! `Default` is our method. Each drop is a volume of water `V` that slides over
//! the ground `h`, in metres and seconds on cells of side `l`:
//!
//! ```text
//! a  = −g·∇h / (1 + |∇h|²)                 gravity along the slope
//! dt = l / (|v| + √(|a|·l))                 so that a step is at most one cell
//! v  ← (v + a·dt) / (1 + μ·dt)              friction
//! p  ← p + v·dt
//! C  = min(Kc·|v|·tan α, c_max)·V           what it can carry, m³
//! s  ← s ± share(K·dt)·(C − s)              share(x) = x / (1 + x)
//! V  ← V / (1 + Ke·dt)                      evaporation
//! ```
//!
//! `tan α` is the slope along the drop's path. Sediment is exchanged once in a
//! radius of the way (a leg of one to six steps). Drops fall in batches: a batch
//! first traces all its paths over the frozen ground and counts how often each
//! cell is visited, then exchanges sediment along them. What one visit may cut
//! is half the leg's fall divided by the visits; what it may fill is that, or
//! the rise ahead, and a thin layer. So a whole batch digs no pit and builds no
//! spike. Only what a drop cannot lay down within these bounds before it ends
//! is spread evenly over its way. Sediment is counted in whole
//! fixed-point units, so sums do not depend on their order: any number of
//! threads gives the same bits, the GPU too, and not a grain is lost.
//!
//! `as_published()` is the source, literally; see [`PublishedDroplets`].

pub(crate) mod brush;
mod lakes;
mod published;
mod runoff;
pub(crate) mod solver;
mod streams;
pub(crate) mod trace;

pub use published::PublishedDroplets;
pub use runoff::Runoff;
pub use solver::DropletSolver;
pub use streams::Streams;

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// Lets it drizzle: insert this resource and droplets carve the terrain.
///
/// [The guide](crate::guide::models) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Droplets", "Drops of water slide downhill, cut and deposit"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Droplets {
    /// Same seed, same landscape.
    #[reflect(@Setting::seed().about("Same seed, same landscape"))]
    pub seed: u64,
    /// Drops that fall on a square metre in a second of erosion time. units: 1/(m²·s)
    #[reflect(@Setting::new("1/(m²·s)", 0.0..=1.0).limits(0.0..=1e6)
        .about("Drops that fall on a square metre in a second"))]
    pub rate: f32,
    /// Water in a drop when it falls. A drop stands for a parcel of run-off
    /// over a long time, so this is far more than a raindrop. units: m³
    #[reflect(@Setting::new("m³", 0.1..=100.0).limits(1e-9..=1e9)
        .about("Water in a drop when it falls"))]
    pub volume: f32,
    /// Radius over which a drop cuts and fills. units: m
    #[reflect(@Setting::new("m", 0.0..=24.0).limits(0.0..=1e6)
        .about("Radius over which a drop cuts and fills"))]
    pub radius: f32,
    /// Gravity. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Friction with the ground. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=5.0).limits(0.0..=1e3).about("Friction with the ground"))]
    pub friction: f32,
    /// Sediment that a volume of water carries at 1 m/s on a slope of 1. units: s/m
    #[reflect(@Setting::new("s/m", 0.0..=10.0).limits(0.0..=1e6)
        .about("Sediment that water carries at 1 m/s on a slope of 1"))]
    pub capacity: f32,
    /// Largest share of sediment in the water.
    #[reflect(@Setting::new("", 0.01..=1.0).limits(1e-6..=1.0)
        .about("Largest share of sediment in the water"))]
    pub max_concentration: f32,
    /// How fast a drop fills up to its capacity. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=5.0).limits(0.0..=1e6)
        .about("How fast a drop fills up to its capacity"))]
    pub erosion: f32,
    /// How fast a drop lets fall what is beyond its capacity. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=5.0).limits(0.0..=1e6)
        .about("How fast a drop deposits sediment above its capacity"))]
    pub deposition: f32,
    /// How fast a drop evaporates. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=0.2).limits(0.0..=1e3)
        .about("How fast a drop evaporates"))]
    pub evaporation: f32,
    /// A drop ends when less than this share of its water is left.
    #[reflect(@Setting::new("", 0.0..=0.5).limits(0.0..=0.99)
        .about("A drop ends when less of its water is left"))]
    pub min_volume: f32,
    /// A drop ends after this many steps (of at most one cell each).
    #[reflect(@Setting::new("", 1..=2048).limits(1..=65_536)
        .about("Maximum number of steps of a drop"))]
    pub max_steps: u32,
    /// How readily bedrock is cut, where soil is 1. The terrain's hardness map
    /// lowers it further, cell by cell.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("How readily bedrock is cut, where soil is 1"))]
    pub bedrock_erodibility: f32,
    /// Lets drops join into streams that run out of hollows and reach the
    /// border; `None` keeps them ignorant of each other, which is faster.
    #[reflect(@Setting::optional(Streams::default)
        .about("Drops join into streams and run out of hollows"))]
    pub streams: Option<Streams>,
    /// Runs the source's own method instead, in which only the seed and the
    /// rate of the settings above have a meaning.
    #[reflect(@Setting::optional(PublishedDroplets::default)
        .label("published method")
        .about("T. Power's method, literally: it loses mass and makes spikes")
        .hides_all_but(&["seed", "rate"]))]
    pub published: Option<PublishedDroplets>,
}

impl Default for Droplets {
    fn default() -> Self {
        Self {
            seed: 0,
            rate: 0.05,
            volume: 5.0,
            radius: 4.0,
            gravity: 9.81,
            friction: 0.5,
            capacity: 1.0,
            max_concentration: 0.6,
            erosion: 0.5,
            deposition: 0.5,
            evaporation: 0.01,
            min_volume: 0.05,
            max_steps: 256,
            bedrock_erodibility: 0.5,
            streams: None,
            published: None,
        }
    }
}

impl Droplets {
    /// The source's method, literally.
    pub fn as_published() -> Self {
        Self {
            published: Some(PublishedDroplets::default()),
            ..Self::default()
        }
    }

    /// The default settings with another seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// The same drops, joining into [`streams`](Self::streams) and going on long
    /// enough to reach the border.
    pub fn with_streams(self) -> Self {
        Self {
            max_steps: self.max_steps.max(1024),
            streams: Some(Streams::default()),
            ..self
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        // It has a rule that concerns several fields.
        match &self.published {
            Some(published) => published
                .check()
                .map_err(|error| error.within("Droplets", "published")),
            None => Ok(()),
        }
    }
}
