//! Simple shapes with known slopes, for tests, comparisons and demonstrations.

use super::noise_stack::{Dice, Stack};
use super::{Checks, Landform, LandformError, Sampler, builders};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};
use core::f64::consts::TAU;

/// A plane sloping one way.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct TiltedPlane {
    /// The steepness, units: m/m (rise over run).
    pub slope: f64,
    /// The compass direction of downhill: 0 is north (world −Z), 90 east (world +X), 180 south,
    /// units: °.
    pub downhill: f64,
    /// The elevation at the center, units: m.
    pub base: f64,
}

impl Default for TiltedPlane {
    fn default() -> Self {
        Self {
            slope: 0.25,
            downhill: 180.0,
            base: 125.0,
        }
    }
}

impl TiltedPlane {
    builders! {
        with_slope => slope: f64,
        with_downhill => downhill: f64,
        with_base => base: f64,
    }
}

impl Landform for TiltedPlane {
    fn check(&self) -> Result<(), LandformError> {
        Checks("TiltedPlane")
            .finite("slope", self.slope)?
            .finite("downhill", self.downhill)?
            .finite("base", self.base)?
            .done()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        let angle = self.downhill.to_radians();
        let downhill = DVec2::new(libm::sin(angle), -libm::cos(angle));
        Box::new(move |point| self.base - self.slope * downhill.dot(point))
    }
}

/// A round cone on level ground.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ConicalHill {
    /// The height of the apex above the ground, units: m.
    pub height: f64,
    /// The distance from the apex to the foot, units: m.
    pub radius: f64,
    /// The elevation of the ground, units: m.
    pub base: f64,
    /// The amplitude of the noise on the cone and the ground alike, 0 for a perfect cone,
    /// units: m.
    pub roughness: f64,
    /// The size of the noise's largest features, units: m.
    pub feature_size: f64,
    /// The seed of the noise.
    pub seed: u32,
}

impl Default for ConicalHill {
    fn default() -> Self {
        Self {
            height: 250.0,
            radius: 420.0,
            base: 0.0,
            roughness: 6.0,
            feature_size: 60.0,
            seed: 1,
        }
    }
}

impl ConicalHill {
    /// The default cone with its own seed.
    #[must_use]
    pub fn seeded(seed: u32) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    builders! {
        with_height => height: f64,
        with_radius => radius: f64,
        with_base => base: f64,
        with_roughness => roughness: f64,
        with_feature_size => feature_size: f64,
        with_seed => seed: u32,
    }
}

impl Landform for ConicalHill {
    fn check(&self) -> Result<(), LandformError> {
        Checks("ConicalHill")
            .finite("height", self.height)?
            .positive("radius", self.radius)?
            .finite("base", self.base)?
            .not_negative("roughness", self.roughness)?
            .positive("feature_size", self.feature_size)?
            .done()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        let mut dice = Dice::new(self.seed, 0xc0e);
        let noise = Stack::new(&mut dice, self.feature_size, 6, 0.5, 2.0);
        Box::new(move |point| {
            let cone = self.height * (1.0 - point.length() / self.radius).max(0.0);
            self.base + cone + self.roughness * noise.fbm(point)
        })
    }
}

/// Regular round hills and hollows: the product of a sine in x and a sine in y.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SineWaves {
    /// The height of the hills above the base and the depth of the hollows below it, units: m.
    pub amplitude: f64,
    /// The distance from one hill to the next along either axis, units: m.
    pub wavelength: f64,
    /// The mean elevation, units: m.
    pub base: f64,
}

impl Default for SineWaves {
    fn default() -> Self {
        Self {
            amplitude: 60.0,
            wavelength: 400.0,
            base: 60.0,
        }
    }
}

impl SineWaves {
    builders! {
        with_amplitude => amplitude: f64,
        with_wavelength => wavelength: f64,
        with_base => base: f64,
    }
}

impl Landform for SineWaves {
    fn check(&self) -> Result<(), LandformError> {
        Checks("SineWaves")
            .finite("amplitude", self.amplitude)?
            .positive("wavelength", self.wavelength)?
            .finite("base", self.base)?
            .done()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        let wave = move |metres: f64| {
            // Whole waves go first: the sine of a very large number costs time and precision.
            let waves = metres / self.wavelength;
            libm::sin(TAU * (waves - waves.floor()))
        };
        Box::new(move |point| self.base + self.amplitude * wave(point.x) * wave(point.y))
    }
}

/// A square basin of four planes that slope to its center, on level ground (Mei et al. 2007,
/// figure 5).
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct FourSlopeBasin {
    /// How far the center lies below the rim, units: m.
    pub depth: f64,
    /// The distance from the center to each of the four sides of the rim, units: m.
    pub half_width: f64,
    /// The elevation of the center, units: m.
    pub base: f64,
}

impl Default for FourSlopeBasin {
    fn default() -> Self {
        Self {
            depth: 150.0,
            half_width: 500.0,
            base: 0.0,
        }
    }
}

impl FourSlopeBasin {
    builders! {
        with_depth => depth: f64,
        with_half_width => half_width: f64,
        with_base => base: f64,
    }
}

impl Landform for FourSlopeBasin {
    fn check(&self) -> Result<(), LandformError> {
        Checks("FourSlopeBasin")
            .not_negative("depth", self.depth)?
            .positive("half_width", self.half_width)?
            .finite("base", self.base)?
            .done()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        Box::new(move |point| {
            let outward = point.abs().max_element() / self.half_width;
            self.base + self.depth * outward.min(1.0)
        })
    }
}
