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

mod brush;
mod lakes;
mod published;
mod solver;
mod streams;
mod trace;

pub use published::PublishedDroplets;
pub use solver::DropletSolver;
pub use streams::Streams;

use crate::terrain::{SettingsError, in_range};
use bevy::prelude::*;

/// Lets it drizzle: insert this resource and droplets carve the terrain.
///
/// [The guide](crate::guide::models) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Droplets {
    /// Same seed, same landscape.
    pub seed: u64,
    /// Drops that fall on a square metre in a second of erosion time. units: 1/(m²·s)
    pub rate: f32,
    /// Water in a drop when it falls. A drop stands for a parcel of run-off
    /// over a long time, so this is far more than a raindrop. units: m³
    pub volume: f32,
    /// Radius over which a drop cuts and fills. units: m
    pub radius: f32,
    /// Gravity. units: m/s²
    pub gravity: f32,
    /// Friction with the ground. units: 1/s
    pub friction: f32,
    /// Sediment that a volume of water carries at 1 m/s on a slope of 1. units: s/m
    pub capacity: f32,
    /// Largest share of sediment in the water.
    pub max_concentration: f32,
    /// How fast a drop fills up to its capacity. units: 1/s
    pub erosion: f32,
    /// How fast a drop lets fall what is beyond its capacity. units: 1/s
    pub deposition: f32,
    /// How fast a drop evaporates. units: 1/s
    pub evaporation: f32,
    /// A drop ends when less than this share of its water is left.
    pub min_volume: f32,
    /// A drop ends after this many steps (of at most one cell each).
    pub max_steps: u32,
    /// How readily bedrock is cut, where soil is 1. The terrain's hardness map
    /// lowers it further, cell by cell.
    pub bedrock_erodibility: f32,
    /// Lets drops join into streams that run out of hollows and reach the
    /// border; `None` keeps them ignorant of each other, which is faster.
    pub streams: Option<Streams>,
    /// Runs the source's own method instead, in which only the seed and the
    /// rate of the settings above have a meaning.
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
        const M: &str = "Droplets";
        in_range(M, "rate", self.rate, 0.0..=1e6)?;
        in_range(M, "volume", self.volume, 1e-9..=1e9)?;
        in_range(M, "radius", self.radius, 0.0..=1e6)?;
        in_range(M, "gravity", self.gravity, 1e-3..=1e3)?;
        in_range(M, "friction", self.friction, 0.0..=1e3)?;
        in_range(M, "capacity", self.capacity, 0.0..=1e6)?;
        in_range(M, "max_concentration", self.max_concentration, 1e-6..=1.0)?;
        in_range(M, "erosion", self.erosion, 0.0..=1e6)?;
        in_range(M, "deposition", self.deposition, 0.0..=1e6)?;
        in_range(M, "evaporation", self.evaporation, 0.0..=1e3)?;
        in_range(M, "min_volume", self.min_volume, 0.0..=0.99)?;
        in_range(M, "max_steps", self.max_steps as f32, 1.0..=65_536.0)?;
        in_range(
            M,
            "bedrock_erodibility",
            self.bedrock_erodibility,
            0.0..=1.0,
        )?;
        if let Some(streams) = &self.streams {
            streams.check()?;
        }
        if let Some(published) = &self.published {
            published.check()?;
        }
        Ok(())
    }
}
