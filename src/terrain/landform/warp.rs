//! Domain warping.

use super::noise_stack::{Dice, Stack};
use super::{Checks, Landform, LandformError, Sampler, builders};
use bevy::{math::DVec2, prelude::Reflect};

/// A land pushed sideways by noise, which bends straight features into natural curves.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Warped<L> {
    /// The land to bend.
    pub land: L,
    /// Another seed bends the same land in another way.
    pub seed: u32,
    /// How far points are pushed at most, roughly, units: m.
    pub strength: f64,
    /// The size of the bends, units: m.
    pub feature_size: f64,
}

impl<L> Warped<L> {
    /// `land` bent gently.
    #[must_use]
    pub fn new(land: L, seed: u32) -> Self {
        Self {
            land,
            seed,
            strength: 50.0,
            feature_size: 600.0,
        }
    }

    builders! {
        with_seed => seed: u32,
        with_strength => strength: f64,
        with_feature_size => feature_size: f64,
    }
}

impl<L: Default> Default for Warped<L> {
    fn default() -> Self {
        Self::new(L::default(), 1)
    }
}

impl<L: Landform> Landform for Warped<L> {
    fn check(&self) -> Result<(), LandformError> {
        Checks("Warped")
            .not_negative("strength", self.strength)?
            .positive("feature_size", self.feature_size)?;
        self.land.check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let land = self.land.sampler(extent);
        let mut dice = Dice::new(self.seed, 0x3a4b);
        // Few octaves: fine bends would smear the land's own detail into stripes.
        let mut push = || Stack::new(&mut dice, self.feature_size, 2, 0.25, 2.0);
        let (east, south) = (push(), push());
        Box::new(move |point| {
            let push = DVec2::new(east.fbm(point), south.fbm(point));
            land(point + push * self.strength)
        })
    }
}
