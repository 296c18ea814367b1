//! Lands made of other lands.

use super::{Checks, Landform, LandformError, Sampler};
use bevy::{math::DVec2, prelude::Reflect};

/// Two lands on top of each other: their elevations add up.
#[derive(Clone, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Sum<A, B> {
    /// The one land.
    pub a: A,
    /// The other land.
    pub b: B,
}

impl<A, B> Sum<A, B> {
    /// `a` and `b` on top of each other.
    #[must_use]
    pub fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A: Landform, B: Landform> Landform for Sum<A, B> {
    fn check(&self) -> Result<(), LandformError> {
        self.a.check()?;
        self.b.check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let (a, b) = (self.a.sampler(extent), self.b.sampler(extent));
        Box::new(move |point| a(point) + b(point))
    }
}

/// A land made taller or flatter, and then raised or lowered.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Scaled<L> {
    /// The land to change.
    pub land: L,
    /// What elevations are multiplied by; below 0 turns the land upside down.
    pub factor: f64,
    /// What is added to elevations after that, units: m.
    pub offset: f64,
}

impl<L> Scaled<L> {
    /// `land` with its elevations multiplied by `factor`, then raised by `offset` metres.
    #[must_use]
    pub fn new(land: L, factor: f64, offset: f64) -> Self {
        Self {
            land,
            factor,
            offset,
        }
    }
}

impl<L: Default> Default for Scaled<L> {
    fn default() -> Self {
        Self::new(L::default(), 1.0, 0.0)
    }
}

impl<L: Landform> Landform for Scaled<L> {
    fn check(&self) -> Result<(), LandformError> {
        Checks("Scaled")
            .finite("factor", self.factor)?
            .finite("offset", self.offset)?;
        self.land.check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let land = self.land.sampler(extent);
        Box::new(move |point| land(point) * self.factor + self.offset)
    }
}
