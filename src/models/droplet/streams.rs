//! Streams: what drops leave behind for the drops after them.
//!
//! The idea is N. McDonald's (SimpleHydrology): maps of discharge and momentum,
//! averaged over past drops, pull later drops along. Here discharge is kept as
//! a catchment area, the land whose rain passes a cell, so that it means the
//! same at any resolution, number of drops and batch size.

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::{math::Vec2, prelude::Reflect};

/// How drops join into streams.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Streams {
    /// Catchment at which run-off is half a stream. units: m²
    #[reflect(@Setting::new("m²", 10.0..=100_000.0).limits(1e-3..=1e12)
        .about("Catchment at which run-off is half a stream"))]
    pub onset: f32,
    /// How fast a stream takes a drop along at its own velocity. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=5.0).limits(0.0..=1e3)
        .about("How fast a stream takes a drop along"))]
    pub pull: f32,
    /// How its capacity grows with its catchment: by this power of it, where
    /// four times the onset have what the drops' settings say. More than 0 lets
    /// valleys grow at the cost of the slopes between them.
    #[reflect(@Setting::new("", 0.0..=2.0).limits(0.0..=2.0)
        .about("How a stream's capacity grows with its catchment"))]
    pub power: f32,
    /// How much of the record a batch of drops renews, 0 to 1.
    #[reflect(@Setting::new("", 0.01..=1.0).limits(1e-3..=1.0)
        .about("How much of the record a batch renews"))]
    pub memory: f32,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            onset: 2000.0,
            pull: 0.5,
            power: 0.5,
            memory: 0.1,
        }
    }
}

impl Streams {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}

/// Largest speed that the momentum record takes. units: m/s
const MAX_SPEED: f32 = 100.0;
/// Fixed-point units of momentum per m/s: half a million visits at full speed
/// still fit.
const MOMENTUM_UNITS: f32 = 32.0;

/// Whole numbers that drops add up in a cell until the record is renewed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    visits: i32,
    momentum: [i32; 2],
}

impl Passed {
    /// Counts a drop.
    #[inline(always)]
    pub fn add_drop(&mut self, velocity_x: f32, velocity_y: f32) {
        let units = |v: f32| (v.clamp(-MAX_SPEED, MAX_SPEED) * MOMENTUM_UNITS) as i32;
        self.visits += 1;
        self.momentum[0] += units(velocity_x);
        self.momentum[1] += units(velocity_y);
    }

    /// Adds what another worker counted.
    #[inline(always)]
    pub fn add(&mut self, other: Passed) {
        self.visits += other.visits;
        self.momentum[0] += other.momentum[0];
        self.momentum[1] += other.momentum[1];
    }

    /// The bits of its numbers.
    #[inline]
    pub fn to_words(self) -> [u32; 3] {
        [self.visits, self.momentum[0], self.momentum[1]].map(i32::cast_unsigned)
    }

    /// From the bits of its numbers, if they are small enough to go on counting.
    #[inline]
    pub fn from_words(words: [u32; 3]) -> Option<Self> {
        let [visits, x, y] = words.map(u32::cast_signed);
        let room = |count: i32| count.unsigned_abs() <= 1 << 30;
        let fits = visits >= 0 && room(visits) && room(x) && room(y);
        fits.then_some(Self {
            visits,
            momentum: [x, y],
        })
    }
}

/// The averaged record of past drops in a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamCell {
    /// Catchment. units: m²
    pub area: f32,
    /// Catchment times velocity. units: m³/s
    pub momentum: Vec2,
}

impl StreamCell {
    /// Blends in what passed, where a visit stands for `area_per_visit` m²,
    /// weighing `memory`.
    #[inline(always)]
    pub fn renew(&mut self, passed: Passed, area_per_visit: f32, memory: f32) {
        let area = passed.visits as f32 * area_per_visit;
        let [x, y] = passed.momentum;
        let flow = Vec2::new(x as f32, y as f32) * (area_per_visit / MOMENTUM_UNITS);
        self.area += memory * (area - self.area);
        self.momentum += memory * (flow - self.momentum);
    }

    /// The bits of its numbers.
    #[inline]
    pub fn to_words(self) -> [u32; 3] {
        [self.area, self.momentum.x, self.momentum.y].map(f32::to_bits)
    }

    /// From the bits of its numbers, if they are valid.
    #[inline]
    pub fn from_words(words: [u32; 3]) -> Option<Self> {
        let [area, x, y] = words.map(f32::from_bits);
        let momentum = Vec2::new(x, y);
        let fits = area >= 0.0 && area.is_finite() && momentum.is_finite();
        fits.then_some(Self { area, momentum })
    }
}
