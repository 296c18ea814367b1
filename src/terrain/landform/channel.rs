//! A dry river bed.

use super::{Checks, Landform, LandformError, Sampler, builders, smoothstep};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};
use core::f64::consts::TAU;

/// A dry winding channel down an even slope (Mei et al. 2007, figure 4). Downhill is south
/// (world +Z, grid rows).
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct WindingChannel {
    /// The steepness of the land along the valley, units: m/m (rise over run).
    pub slope: f64,
    /// The distance from one bank's top to the other's, units: m.
    pub channel_width: f64,
    /// How far the bed lies below the banks, units: m.
    pub channel_depth: f64,
    /// How far the channel swings out to either side of its mean course, units: m.
    pub meander_amplitude: f64,
    /// The length of one full meander along the valley, units: m.
    pub meander_wavelength: f64,
    /// The elevation of the land at the center, units: m.
    pub base: f64,
}

impl Default for WindingChannel {
    fn default() -> Self {
        Self {
            slope: 0.15,
            channel_width: 90.0,
            channel_depth: 25.0,
            meander_amplitude: 130.0,
            meander_wavelength: 480.0,
            base: 100.0,
        }
    }
}

impl WindingChannel {
    builders! {
        with_slope => slope: f64,
        with_channel_width => channel_width: f64,
        with_channel_depth => channel_depth: f64,
        with_meander_amplitude => meander_amplitude: f64,
        with_meander_wavelength => meander_wavelength: f64,
        with_base => base: f64,
    }

    /// Where the channel's center line crosses the row at `y` metres: its x, and how far x changes
    /// per metre of y.
    #[inline]
    fn course(&self, y: f64) -> (f64, f64) {
        let waves = y / self.meander_wavelength;
        let angle = TAU * (waves - waves.floor());
        (
            self.meander_amplitude * libm::sin(angle),
            self.meander_amplitude * TAU / self.meander_wavelength * libm::cos(angle),
        )
    }
}

impl Landform for WindingChannel {
    fn check(&self) -> Result<(), LandformError> {
        Checks("WindingChannel")
            .not_negative("slope", self.slope)?
            .positive("channel_width", self.channel_width)?
            .not_negative("channel_depth", self.channel_depth)?
            .not_negative("meander_amplitude", self.meander_amplitude)?
            .positive("meander_wavelength", self.meander_wavelength)?
            .finite("base", self.base)?
            .done()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        let half_width = self.channel_width / 2.0;
        Box::new(move |point| {
            // The offset along the row, foreshortened by the channel's direction there. It is only
            // near to the true distance, but smooth for every setting, and the bed stays the
            // lowest point of its row.
            let (x, lean) = self.course(point.y);
            let distance = (point.x - x).abs() / (1.0 + lean * lean).sqrt();
            let bank = smoothstep(distance / half_width);
            self.base - self.slope * point.y - self.channel_depth * (1.0 - bank)
        })
    }
}
