//! Islands.

use super::noise_stack::{Dice, Stack, soft_limit};
use super::{Checks, Landform, LandformError, Sampler, builders, smoothstep};
use bevy::{math::DVec2, prelude::Reflect};

/// A land that falls off to a sea floor all around, with an irregular coast. The sea level is 0.
///
/// The land inside should lie above 0, as the fractal lands do; where it does not, the sea comes
/// in.
///
/// [The guide](crate::guide::terrain) has an example.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Island<L> {
    /// The land inside, its elevations measured from the sea level.
    pub land: L,
    /// Another seed gives another coast.
    pub seed: u32,
    /// Everything farther from the center than this is sea floor, units: m.
    pub radius: f64,
    /// The width of the belt in which the land falls off to the sea floor, units: m.
    pub falloff: f64,
    /// How far bays cut in, as a share of the radius: 0 (a disc) to 1.
    pub irregularity: f64,
    /// The elevation of the sea floor, below 0, units: m.
    pub sea_floor: f64,
}

impl<L> Island<L> {
    /// `land` as an island nearly 1 km across.
    #[must_use]
    pub fn new(land: L, seed: u32) -> Self {
        Self {
            land,
            seed,
            radius: 490.0,
            falloff: 220.0,
            irregularity: 0.4,
            sea_floor: -30.0,
        }
    }

    builders! {
        with_seed => seed: u32,
        with_radius => radius: f64,
        with_falloff => falloff: f64,
        with_irregularity => irregularity: f64,
        with_sea_floor => sea_floor: f64,
    }
}

impl<L: Default> Default for Island<L> {
    fn default() -> Self {
        Self::new(L::default(), 1)
    }
}

impl<L: Landform> Landform for Island<L> {
    fn check(&self) -> Result<(), LandformError> {
        Checks("Island")
            .positive("radius", self.radius)?
            .positive("falloff", self.falloff)?
            .within("irregularity", self.irregularity, 0.0, 1.0)?
            .that(
                self.sea_floor < 0.0 && self.sea_floor >= -super::MAX_LENGTH,
                "sea_floor",
                || format!("must be below 0 (the sea level), was {}", self.sea_floor),
            )?;
        self.land.check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let land = self.land.sampler(extent);
        let mut dice = Dice::new(self.seed, 0x15_1a4d);
        let coast = Stack::new(&mut dice, self.radius * 0.9, 7, 0.42, 2.0);
        Box::new(move |point| {
            // Bays only cut in, they never push the land out, so that the radius holds.
            let bay = 0.5 + 0.5 * soft_limit(2.0 * coast.fbm(point));
            let inland = self.radius * (1.0 - self.irregularity * bay) - point.length();
            let t = inland / self.falloff;
            // The floor comes up before the land does, so that beaches and shallows lie between.
            let shelf = 1.0 - smoothstep(t * 1.6);
            self.sea_floor * shelf + land(point) * smoothstep(t - 0.1)
        })
    }
}
