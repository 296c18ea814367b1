//! What can be painted over the ground instead of its own colors.

use crate::terrain::{FILM, Terrain};
use bevy::prelude::*;

/// A stream that is shallower than this is not painted. units: m
pub(crate) const MIN_STREAM_DEPTH: f32 = 0.05;

/// Paints something measured over the ground. Water is not drawn meanwhile.
///
/// [The guide](crate::guide::view) has an example.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
pub enum Overlay {
    /// The ground as it is.
    #[default]
    None,
    /// Erosion since the start in red, deposits in blue. units: m
    Change,
    /// Depth of water, pale to dark blue. units: m
    Depth,
    /// Speed of water, violet to yellow. units: m/s
    Velocity,
    /// Discharge per metre of width, black over red to white; each step of
    /// color is the same factor. units: m²/s
    Discharge,
    /// Sediment as a share of the water, cream to brown.
    Sediment,
    /// Rivers: the stream in blue, and what they laid down lately and has not
    /// hardened, brown to yellow. units: m
    River,
}

impl Overlay {
    /// All of them, in the order of [`next`](Self::next).
    pub const ALL: [Overlay; 7] = [
        Overlay::None,
        Overlay::Change,
        Overlay::Depth,
        Overlay::Velocity,
        Overlay::Discharge,
        Overlay::Sediment,
        Overlay::River,
    ];

    /// The one after this; after the last comes [`None`](Overlay::None).
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&overlay| overlay == self);
        Self::ALL[place.map_or(0, |place| (place + 1) % Self::ALL.len())]
    }

    /// Its name in a word, for panels.
    pub fn name(self) -> &'static str {
        match self {
            Overlay::None => "ground",
            Overlay::Change => "change",
            Overlay::Depth => "depth",
            Overlay::Velocity => "velocity",
            Overlay::Discharge => "discharge",
            Overlay::Sediment => "sediment",
            Overlay::River => "river",
        }
    }

    /// The unit of what it shows; empty for a share and for the ground itself.
    pub fn unit(self) -> &'static str {
        match self {
            Overlay::None | Overlay::Sediment => "",
            Overlay::Change | Overlay::Depth | Overlay::River => "m",
            Overlay::Velocity => "m/s",
            Overlay::Discharge => "m²/s",
        }
    }

    /// Whether it changes when water does.
    #[inline]
    pub fn shows_water(self) -> bool {
        !matches!(self, Overlay::None | Overlay::Change)
    }

    /// What it shows of a cell's water, in its [`unit`](Self::unit). Zero
    /// where it shows something else.
    #[inline]
    pub fn measure(self, terrain: &Terrain, x: u32, y: u32) -> f32 {
        let cell = terrain.grid().index(x, y);
        match self {
            Overlay::None | Overlay::Change => 0.0,
            Overlay::Depth => terrain.water_depth(x, y),
            Overlay::Velocity => terrain.velocity(x, y).length(),
            Overlay::Discharge => terrain.discharge(x, y).length(),
            // The stream lies beyond all deposits.
            Overlay::River if terrain.stream_depth(x, y) > MIN_STREAM_DEPTH => f32::MAX,
            Overlay::River => terrain.fresh_deposit(x, y),
            Overlay::Sediment => {
                let depth = terrain.water_depth(x, y);
                // A film would seem thick with it.
                if depth > FILM {
                    terrain.suspended()[cell] / depth.max(10.0 * FILM)
                } else {
                    0.0
                }
            }
        }
    }

    /// The color of a share of the full range, 0 to 1. Equal steps look equal.
    #[inline]
    pub fn ramp(self, share: f32) -> LinearRgba {
        let stops = self.stops();
        let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let from = (at as usize).min(stops.len() - 2);
        // Between the stops of these scales, sRGB is even to the eye.
        stops[from].mix(&stops[from + 1], at - from as f32).into()
    }

    /// The ends of the [`ramp`](Self::ramp) and three steps between them.
    #[inline]
    pub(crate) fn stops(self) -> [Srgba; 5] {
        let stops: [u32; 5] = match self {
            Overlay::None | Overlay::Change => [0x2b4fb5, 0x8fa3d1, 0xdcdcdc, 0xd98c7f, 0xb02a22],
            Overlay::Depth => [0xdeebf7, 0x9ecae1, 0x4292c6, 0x08519c, 0x08306b],
            Overlay::Velocity => [0x440154, 0x3b528b, 0x21918c, 0x5ec962, 0xfde725],
            Overlay::Discharge => [0x000004, 0x51127c, 0xb73779, 0xfc8961, 0xfcfdbf],
            Overlay::Sediment => [0xfff7bc, 0xfec44f, 0xec7014, 0x993404, 0x4d1a02],
            Overlay::River => [0x8c6a3f, 0xd1a64f, 0xffe680, 0xffe680, 0x2166ac],
        };
        stops.map(|hex| {
            let [_, r, g, b] = hex.to_be_bytes();
            Srgba::rgb_u8(r, g, b)
        })
    }

    /// Where on the [`ramp`](Self::ramp) a measure lies, `range` being its end.
    #[inline]
    pub fn share(self, measure: f32, range: f32) -> f32 {
        let share = (measure / range.max(1e-6)).clamp(0.0, 1.0);
        if self == Overlay::River {
            return if measure == f32::MAX {
                1.0
            } else {
                0.75 * share
            };
        }
        match self {
            // From a rill to a river are three orders of magnitude.
            Overlay::Discharge => (1.0 + 999.0 * share).ln() / 1000f32.ln(),
            // Thin veils are seen as well.
            _ => share.sqrt(),
        }
    }
}
