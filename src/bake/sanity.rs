//! Whether the land of a bake still has heights that land can have.

use crate::terrain::Terrain;
use core::ops::RangeInclusive;

/// Beyond the heights that the land began with, so many times their range…
const TIMES_RELIEF: f32 = 10.0;
/// …and so much more is allowed. units: m
const BEYOND: f32 = 10_000.0;

/// The heights that the land of a bake may have. units: m
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeightLimits(RangeInclusive<f32>);

/// A cell whose height is out of its limits, or not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BadHeight {
    /// Row by row.
    pub cell: usize,
    /// units: m
    pub height: f32,
}

impl HeightLimits {
    /// Limits for what starts with these heights.
    fn around(heights: impl Iterator<Item = f32>) -> Self {
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        for height in heights {
            lowest = lowest.min(height);
            highest = highest.max(height);
        }
        let margin = TIMES_RELIEF * (highest - lowest) + BEYOND;
        Self(lowest - margin..=highest + margin)
    }

    /// Limits for a bake of a terrain.
    pub fn of(terrain: &Terrain) -> Self {
        Self::around(heights(terrain))
    }

    /// The first height that is not within the limits.
    fn first_beyond(&self, heights: impl Iterator<Item = f32>) -> Option<BadHeight> {
        let mut all = heights.enumerate();
        // NaN is in no range.
        let found = all.find(|(_, height)| !self.0.contains(height));
        found.map(|(cell, height)| BadHeight { cell, height })
    }

    /// The first cell whose ground is not within the limits.
    pub fn check(&self, terrain: &Terrain) -> Option<BadHeight> {
        self.first_beyond(heights(terrain))
    }

    /// The lowest and the highest. units: m
    pub fn range(&self) -> (f32, f32) {
        (*self.0.start(), *self.0.end())
    }
}

fn heights(terrain: &Terrain) -> impl Iterator<Item = f32> {
    let layers = terrain.bedrock().iter().zip(terrain.soil());
    layers.map(|(bedrock, soil)| bedrock + soil)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terrain::Layer;
    use bevy::math::UVec2;

    fn land(heights: [f32; 6]) -> Terrain {
        Terrain::from_heights(UVec2::new(3, 2), 30.0, heights.to_vec()).expect("valid")
    }

    #[test]
    fn limits_follow_the_land_wherever_it_lies() {
        let low = land([0.0, 10.0, 100.0, 0.0, 0.0, 0.0]);
        assert_eq!(HeightLimits::of(&low).range(), (-11_000.0, 11_100.0));
        let high = land([50_000.0; 6]);
        assert_eq!(HeightLimits::of(&high).range(), (40_000.0, 60_000.0));
        for start in [low, high] {
            assert_eq!(HeightLimits::of(&start).check(&start), None);
        }
    }

    #[test]
    fn a_bad_cell_is_found() {
        let limits = HeightLimits::of(&land([0.0, 10.0, 100.0, 0.0, 0.0, 0.0]));
        let good = land([-10_900.0, 11_000.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(limits.check(&good), None);
        let bad = |cell, height| Some(BadHeight { cell, height });
        let spike = land([0.0, 0.0, 0.0, 0.0, 12_000.0, -12_000.0]);
        assert_eq!(limits.check(&spike), bad(4, 12_000.0));
        let hole = land([0.0, 0.0, 0.0, 0.0, 0.0, -12_000.0]);
        assert_eq!(limits.check(&hole), bad(5, -12_000.0));
        // Soil counts, too.
        let soil = good.with_layer(Layer::Soil, vec![200.0; 6]).expect("valid");
        assert_eq!(limits.check(&soil), bad(1, 11_200.0));
        for wrong in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let found = limits.first_beyond([0.0, 5.0, wrong].into_iter());
            assert!(found.is_some_and(|bad| bad.cell == 2), "{wrong}");
        }
    }
}
