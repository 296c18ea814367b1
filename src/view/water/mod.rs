//! The water's surface: what it looks like, and the chunks that draw it.
//!
//! Wherever there is water, an entity marked [`WaterChunk`] draws it, 64 × 64
//! quads like the ground's. Vertices are cell centers. Beside position and
//! normal they carry what a water material needs:
//!
//! | attribute | x | y |
//! |---|---|---|
//! | `ATTRIBUTE_UV_0` | depth of the water, m; negative where the surface dips into dry ground | sediment as a share of the water |
//! | `ATTRIBUTE_UV_1` | velocity along +X, m/s | velocity along +Z, m/s |
//!
//! So the depth is zero just where water meets land. Put any other material on
//! the chunks (`Added<WaterChunk>` finds new ones): the view only ever replaces
//! their meshes. A chunk that runs dry keeps its entity and loses its `Mesh3d`
//! until water comes back.
//!
//! `ATTRIBUTE_COLOR` is white where water is clear, and up to twice as bright where it
//! foams: red, green and blue are 1 + foam, 0 to 1, and alpha is 1. So foam shows on a
//! plain material too.
//!
//! Water foams where it breaks: where it runs into slower water, at the foot of
//! falls, on faces too steep for it to keep to, and among boulders. A smooth, steep
//! chute is clear, however fast it is.

pub(crate) mod foam;
mod layer;
mod material;

pub(super) use layer::Water;
pub use material::{WaterExtension, WaterMaterial};

use crate::settings::Setting;
use bevy::prelude::*;

/// A piece of the water's surface, above the ground's chunk of the same place.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct WaterChunk {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// How water is drawn. Changing it repaints the water.
///
/// Colors are linear RGB.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct WaterView {
    /// Whether water is drawn at all.
    #[reflect(@Setting::plain().label("draw water").about("Whether water is drawn at all"))]
    pub visible: bool,
    /// Color of clear, shallow water.
    pub shallow: LinearRgba,
    /// Color of clear, deep water.
    pub deep: LinearRgba,
    /// Color of water full of sediment.
    pub sediment: LinearRgba,
    /// Color of foam, where water breaks.
    pub foam: LinearRgba,
    /// Color of the sky that water reflects at grazing angles. Without an
    /// environment map nothing else of the sky is reflected.
    pub sky: LinearRgba,
    /// Depth at which two thirds of the ground are hidden. units: m
    #[reflect(@Setting::new("m", 0.1..=50.0)
        .about("Depth at which two thirds of the ground are hidden"))]
    pub clarity: f32,
    /// Sediment, as a share of the water, at which water has nearly the color
    /// [`sediment`](Self::sediment).
    #[reflect(@Setting::new("", 0.001..=1.0)
        .about("Share of sediment at which water is as brown as it gets"))]
    pub murk: f32,
    /// Speed whose energy water loses by breaking where it is all white; it begins
    /// to foam at a quarter of it. So 2 m/s is the fall from 20 cm. Water that keeps
    /// its speed has no foam. units: m/s
    #[reflect(@Setting::new("m/s", 0.1..=20.0)
        .about("Speed that water loses by breaking where it is all white"))]
    pub foam_speed: f32,
    /// How rough ripples make the surface: 0 is a mirror.
    pub ripple_strength: f32,
    /// Length of the longest ripples. units: m
    pub ripple_size: f32,
    /// Shallower water is not drawn: rain would cover all land with a film.
    /// units: m
    pub min_depth: f32,
}

impl Default for WaterView {
    fn default() -> Self {
        Self {
            visible: true,
            shallow: LinearRgba::rgb(0.055, 0.16, 0.16),
            deep: LinearRgba::rgb(0.004, 0.028, 0.055),
            sediment: LinearRgba::rgb(0.15, 0.10, 0.055),
            foam: LinearRgba::rgb(0.80, 0.84, 0.86),
            sky: LinearRgba::rgb(0.30, 0.44, 0.62),
            clarity: 1.4,
            murk: 0.1,
            foam_speed: 2.0,
            ripple_strength: 1.0,
            ripple_size: 6.0,
            min_depth: 2e-3,
        }
    }
}

impl WaterView {
    /// The color of water seen from above and how much of the ground it
    /// hides, by its depth in metres and its share of sediment. The material
    /// paints the same, and adds light, ripples and foam.
    #[inline]
    pub fn color(&self, depth: f32, share: f32) -> LinearRgba {
        if depth <= self.min_depth {
            return LinearRgba::NONE;
        }
        let lengths = depth / self.clarity.max(1e-3);
        let murk = 1.0 - (-3.0 * share.max(0.0) / self.murk.max(1e-6)).exp();
        let clear = self.shallow.mix(&self.deep, 1.0 - (-0.7 * lengths).exp());
        // Sediment dims what clear water lets through.
        let hidden = 1.0 - (-lengths * (1.0 + 6.0 * murk)).exp();
        let shore = (depth / 0.12).min(1.0);
        let alpha = hidden.max(0.30 * shore * shore * (3.0 - 2.0 * shore));
        clear.mix(&self.sediment, murk).with_alpha(alpha)
    }
}
