//! Kernels of two dimensions, and sums that do not depend on their order.

use bevy::math::DVec2;
use core::f64::consts::PI;

/// 1.5 · 2¹⁶: adding and subtracting it leaves a multiple of 2⁻³⁶.
const ROUNDER: f64 = 98_304.0;

/// A term rounded to a multiple of 2⁻³⁶, ties to even, so signs do not matter.
/// Sums of such terms are exact up to 2¹⁷: in any order the same bits.
#[inline(always)]
pub(super) fn whole(term: f64) -> f64 {
    (term + ROUNDER) - ROUNDER
}

/// [`whole`] for both coordinates.
#[inline(always)]
pub(super) fn whole2(term: DVec2) -> DVec2 {
    DVec2::new(whole(term.x), whole(term.y))
}

/// Turned by 90° to the left, seen from above with z to the right of x.
#[inline(always)]
pub(super) fn left(v: DVec2) -> DVec2 {
    DVec2::new(-v.y, v.x)
}

/// The kernels for one radius.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels {
    pub radius: f64,
    pub square: f64,
    inverse_square: f64,
    inverse: f64,
    /// The poly6 kernel at its center. units: 1/m²
    pub peak: f64,
    spiky: f64,
    viscosity: f64,
}

impl Kernels {
    pub fn new(radius: f64) -> Self {
        let square = radius * radius;
        Self {
            radius,
            square,
            inverse_square: 1.0 / square,
            inverse: 1.0 / radius,
            peak: 4.0 / (PI * square),
            spiky: 30.0 / (PI * square * radius),
            viscosity: 40.0 / (PI * square * square),
        }
    }

    /// Poly6 over its peak: 1 at the center, 0 at the radius. Takes the squared
    /// distance, which must be below the squared radius.
    #[inline(always)]
    pub fn weight(&self, distance_squared: f64) -> f64 {
        let t = 1.0 - distance_squared * self.inverse_square;
        t * t * t
    }

    /// Size of the spiky kernel's gradient; it points to the center.
    #[inline(always)]
    pub fn spiky_slope(&self, distance: f64) -> f64 {
        let t = 1.0 - distance * self.inverse;
        self.spiky * t * t
    }

    /// Laplacian of the viscosity kernel.
    #[inline(always)]
    pub fn viscosity_laplacian(&self, distance: f64) -> f64 {
        self.viscosity * (1.0 - distance * self.inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midpoint sum of a radial function over the disc.
    fn over_disc(radius: f64, f: impl Fn(f64) -> f64) -> f64 {
        let n = 20_000;
        let h = radius / n as f64;
        let rings = (0..n).map(|i| (i as f64 + 0.5) * h);
        rings.map(|d| f(d) * 2.0 * PI * d * h).sum()
    }

    #[test]
    fn kernels_are_normalized() {
        let k = Kernels::new(25.0);
        let poly6 = over_disc(25.0, |d| k.peak * k.weight(d * d));
        assert!((poly6 - 1.0).abs() < 1e-6, "{poly6}");
        // ∫ W = −½·∫ d·W′ for a radial function in two dimensions.
        let spiky = over_disc(25.0, |d| 0.5 * d * k.spiky_slope(d));
        assert!((spiky - 1.0).abs() < 1e-6, "{spiky}");
    }

    #[test]
    fn whole_terms_sum_alike_in_any_order() {
        let terms: Vec<f64> = (1..200).map(|i| whole(1.0 / f64::from(i * i))).collect();
        let forward: f64 = terms.iter().sum();
        let backward: f64 = terms.iter().rev().sum();
        assert_eq!(forward.to_bits(), backward.to_bits());
        assert_eq!(whole(-0.1234), -whole(0.1234));
        assert!((whole(0.1) - 0.1).abs() < 1e-10);
    }
}
