//! A valley with a flat floor.

use super::noise_stack::{Dice, Stack};
use super::{Checks, Landform, LandformError, Sampler, builders};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};
use core::f64::consts::PI;

/// A valley whose cross-section is a flattened sinusoid: a level floor between two flanks
/// (M. Kurowski 2012). Downhill is south (world +Z, grid rows). With narrow flanks it is a tilted
/// plane between barriers.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Valley {
    /// The steepness of the floor along the valley, units: m/m (rise over run).
    pub slope: f64,
    /// The width of the level floor, units: m.
    pub floor_width: f64,
    /// How far a flank rises sideways, from the floor to its rim, units: m.
    pub flank_width: f64,
    /// How high the rims stand above the floor, units: m.
    pub flank_height: f64,
    /// Whether the upper end is closed by such a flank too.
    pub closed: bool,
    /// The elevation of the floor at the center, units: m.
    pub base: f64,
    /// How high hills rise and sink on the rims, less and less down to the floor, 0 for even
    /// flanks, units: m.
    pub hills: f64,
    /// The size of the largest hills, units: m.
    pub feature_size: f64,
    /// The seed of the hills.
    pub seed: u32,
}

impl Default for Valley {
    fn default() -> Self {
        Self {
            slope: 0.06,
            floor_width: 200.0,
            flank_width: 200.0,
            flank_height: 60.0,
            closed: false,
            base: 100.0,
            hills: 0.0,
            feature_size: 260.0,
            seed: 1,
        }
    }
}

impl Valley {
    builders! {
        with_slope => slope: f64,
        with_floor_width => floor_width: f64,
        with_flank_width => flank_width: f64,
        with_flank_height => flank_height: f64,
        with_closed => closed: bool,
        with_base => base: f64,
        with_hills => hills: f64,
        with_feature_size => feature_size: f64,
        with_seed => seed: u32,
    }

    /// How much of a flank's height is reached so far beyond the floor, 0 to 1.
    #[inline]
    fn flank(&self, beyond: f64) -> f64 {
        let share = (beyond / self.flank_width).clamp(0.0, 1.0);
        0.5 * (1.0 - libm::cos(PI * share))
    }
}

impl Landform for Valley {
    fn check(&self) -> Result<(), LandformError> {
        Checks("Valley")
            .not_negative("slope", self.slope)?
            .not_negative("floor_width", self.floor_width)?
            .positive("flank_width", self.flank_width)?
            .finite("flank_height", self.flank_height)?
            .finite("base", self.base)?
            .not_negative("hills", self.hills)?
            .positive("feature_size", self.feature_size)?
            .done()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let mut dice = Dice::new(self.seed, 0x5a11);
        let hills = Stack::new(&mut dice, self.feature_size, 5, 0.45, 2.0);
        Box::new(move |point| {
            let side = point.x.abs() - 0.5 * self.floor_width;
            let head = self.flank_width - 0.5 * extent.y - point.y;
            let beyond = if self.closed { side.max(head) } else { side };
            let flank = self.flank(beyond);
            let hills = match self.hills > 0.0 && flank > 0.0 {
                true => self.hills * hills.fbm(point),
                false => 0.0,
            };
            self.base - self.slope * point.y + flank * (self.flank_height + hills)
        })
    }
}
