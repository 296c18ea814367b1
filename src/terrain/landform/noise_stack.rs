//! Gradient noise without a visible lattice, and stacks of it.

use bevy::math::DVec2;
use noise::{NoiseFn, Perlin};
use rand::Rng;
use rand_pcg::Pcg32;

/// The most octaves a stack may have.
pub(super) const MAX_OCTAVES: u32 = 32;

/// The mean distance from one crest of the basis noise to the next, in lattice cells.
const BASIS_WAVELENGTH: f64 = 2.39;

/// The factor that gives the basis noise a standard deviation of about one half.
const BASIS_GAIN: f64 = 1.61;

/// Seeded random numbers, the same on every platform and with every version of `rand`.
pub(super) struct Dice(Pcg32);

impl Dice {
    /// `salt` keeps two landforms with the same seed from sharing their random numbers, which
    /// would show as features that line up.
    pub(super) fn new(seed: u32, salt: u32) -> Self {
        Self(Pcg32::new(mix(u64::from(seed)), u64::from(salt)))
    }

    /// A number in 0..1.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// A unit vector in any direction.
    #[inline]
    pub(super) fn direction(&mut self) -> DVec2 {
        let angle = self.unit() * core::f64::consts::TAU;
        DVec2::new(libm::cos(angle), libm::sin(angle))
    }
}

/// Scrambles all bits (the finalizer of `SplitMix64`).
#[inline]
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One octave of smooth noise, mostly within ±1.
///
/// Perlin noise is zero on every lattice point, and in two dimensions `noise` gives it only four
/// gradients, both of which show as a grid. So this cuts a plane through three-dimensional Perlin
/// noise, at right angles to the lattice's diagonal, turned and moved at random: the cut meets no
/// regular row of lattice points and sees all twelve gradients.
pub(super) struct Basis {
    noise: Perlin,
    along_x: [f64; 3],
    along_y: [f64; 3],
    origin: [f64; 3],
}

impl Basis {
    pub(super) fn new(dice: &mut Dice, wavelength: f64) -> Self {
        let noise = Perlin::new(dice.0.next_u32());
        let turn = dice.direction() * (BASIS_WAVELENGTH / wavelength);
        // An orthonormal pair in the plane at right angles to (1, 1, 1).
        let (a, b) = ((1.0 / 2.0_f64).sqrt(), (1.0 / 6.0_f64).sqrt());
        let (u, v) = ([a, -a, 0.0], [b, b, -2.0 * b]);
        Self {
            noise,
            along_x: core::array::from_fn(|i| turn.x * u[i] + turn.y * v[i]),
            along_y: core::array::from_fn(|i| turn.x * v[i] - turn.y * u[i]),
            origin: core::array::from_fn(|_| dice.unit() * 256.0),
        }
    }

    #[inline]
    pub(super) fn at(&self, point: DVec2) -> f64 {
        let cut: [f64; 3] = core::array::from_fn(|i| {
            fold(self.origin[i] + point.x * self.along_x[i] + point.y * self.along_y[i])
        });
        BASIS_GAIN * self.noise.get(cut)
    }
}

/// Brings a coordinate into the range where `noise` can turn it into an integer, which would
/// panic otherwise. `noise` repeats after 256 cells, so this changes nothing else.
#[inline]
fn fold(coordinate: f64) -> f64 {
    if coordinate.abs() < 1e6 {
        return coordinate;
    }
    let folded = coordinate - 256.0 * (coordinate / 256.0).floor();
    if folded.abs() <= 256.0 { folded } else { 0.0 }
}

/// Octaves of noise, each finer and weaker than the one before.
pub(super) struct Stack {
    layers: Vec<(Basis, f64)>,
}

impl Stack {
    /// `wavelength` is that of the coarsest octave; each further octave is `lacunarity` times
    /// finer and `gain` times as strong. The amplitudes add up to one.
    pub(super) fn new(
        dice: &mut Dice,
        wavelength: f64,
        octaves: u32,
        gain: f64,
        lacunarity: f64,
    ) -> Self {
        let (mut size, mut amplitude, mut total) = (wavelength, 1.0, 0.0);
        let mut layers = Vec::new();
        for _ in 0..octaves.min(MAX_OCTAVES) {
            layers.push((Basis::new(dice, size), amplitude));
            total += amplitude;
            size /= lacunarity;
            amplitude *= gain;
        }
        for layer in &mut layers {
            layer.1 /= total;
        }
        Self { layers }
    }

    /// Plain sum, mostly within ±0.7.
    #[inline]
    pub(super) fn fbm(&self, point: DVec2) -> f64 {
        self.layers.iter().map(|(n, a)| a * n.at(point)).sum()
    }

    /// Sum of folded noise: round hills that meet in sharp valleys.
    #[inline]
    pub(super) fn billow(&self, point: DVec2) -> f64 {
        self.layers.iter().map(|(n, a)| a * n.at(point).abs()).sum()
    }

    /// Ridged multifractal: sharp crests where the noise changes sign. An octave adds its detail
    /// only near the crests of the octaves before it, so that valleys stay smooth and spurs
    /// branch off the main crests.
    #[inline]
    pub(super) fn ridged(&self, point: DVec2) -> f64 {
        // Where one octave alone changes sign is a smooth curve, and such crests look like dunes.
        // With a share of the finer octaves mixed in they wander as real crests do.
        const WANDER: f64 = 0.32;
        let mut mixed = [0.0; MAX_OCTAVES as usize];
        let mut finer = 0.0;
        for (slot, (noise, _)) in mixed.iter_mut().zip(&self.layers).rev() {
            finer = noise.at(point) + WANDER * finer;
            *slot = finer;
        }
        let (mut sum, mut weight) = (0.0, 1.0);
        for (value, (_, amplitude)) in mixed.iter().zip(&self.layers) {
            let crest = 1.0 - soft_limit(value.abs());
            sum += amplitude * crest * weight;
            weight *= (crest * 1.4).clamp(0.25, 1.0);
        }
        sum
    }
}

/// Limits a number to ±1, smoothly: a hard limit would show as a crease around level ground.
#[inline]
pub(super) fn soft_limit(value: f64) -> f64 {
    value / (1.0 + value * value).sqrt()
}

/// The range that nearly all values of a noise lie in: its 1st and 99th of a hundred.
///
/// How far a stack of octaves spreads depends on its settings in no simple way, so it is measured
/// at points far apart, the same for every seed and extent.
pub(super) fn usual_range(noise: impl Fn(DVec2) -> f64, wavelength: f64) -> (f64, f64) {
    const POINTS: usize = 2048;
    let mut dice = Dice::new(0, 0x5ca1e);
    let mut values: Vec<f64> = (0..POINTS)
        .map(|_| {
            let place = DVec2::new(dice.unit(), dice.unit());
            noise((place - 0.5) * 200.0 * wavelength)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    (values[POINTS / 100], values[POINTS - 1 - POINTS / 100])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basis_has_the_wavelength_and_spread_it_claims() {
        let (mut crossings, mut squares, mut length) = (0, 0.0, 0.0);
        for seed in 0..40 {
            let noise = Basis::new(&mut Dice::new(seed, 1), 100.0);
            let mut last = noise.at(DVec2::ZERO);
            for step in 1..5000 {
                let value = noise.at(DVec2::new(f64::from(step) * 5.0, 0.0));
                crossings += i32::from(last < 0.0 && value >= 0.0);
                squares += value * value;
                length += 5.0;
                last = value;
            }
        }
        let wavelength = length / f64::from(crossings);
        let spread = (squares / (length / 5.0)).sqrt();
        assert!((wavelength - 100.0).abs() < 5.0, "wavelength {wavelength}");
        assert!((spread - 0.5).abs() < 0.03, "spread {spread}");
    }

    #[test]
    fn basis_survives_any_coordinate() {
        let noise = Basis::new(&mut Dice::new(3, 1), 100.0);
        for far in [1e8, 1e12, 1e300, f64::MAX, f64::INFINITY, f64::NAN] {
            assert!(noise.at(DVec2::new(far, -far)).is_finite());
            assert!(noise.at(DVec2::new(-far, 0.0)).is_finite());
        }
        let garbage = Basis::new(&mut Dice::new(3, 1), 0.0);
        assert!(garbage.at(DVec2::ONE).is_finite());
    }

    #[test]
    fn folding_does_not_change_the_noise() {
        let noise = Perlin::new(1);
        let cut = [1e7 + 0.25, 0.5, -2e7 + 0.75];
        assert_eq!(noise.get(cut), noise.get(cut.map(fold)));
    }
}
