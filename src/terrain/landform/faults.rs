//! Fault lines and white noise.

use super::noise_stack::{Dice, mix};
use super::{Checks, Landform, LandformError, Sampler, builders, smoothstep};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};

/// The most fault lines: every sample looks at each of them.
const MAX_FAULTS: u32 = 10_000;

/// Land broken along random straight fault lines, each of which raises one of its sides, under
/// fine white noise.
///
/// The faults are spread over the whole extent, so a larger extent has other faults.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Faults {
    /// Another seed gives another land of the same character.
    pub seed: u32,
    /// How many fault lines cross the land, 1 to 10 000.
    pub count: u32,
    /// The land rises and falls over about this height, centered on 0, units: m.
    pub height: f64,
    /// The width over which a fault's step rises; 0 is a vertical cliff, units: m.
    pub scarp: f64,
    /// The amplitude of the white noise on top, units: m.
    pub roughness: f64,
    /// The distance between two independent values of the white noise, units: m.
    pub grain: f64,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            seed: 1,
            count: 200,
            height: 250.0,
            scarp: 40.0,
            roughness: 1.5,
            grain: 4.0,
        }
    }
}

impl Faults {
    /// The default land with its own seed.
    #[must_use]
    pub fn seeded(seed: u32) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    builders! {
        with_seed => seed: u32,
        with_count => count: u32,
        with_height => height: f64,
        with_scarp => scarp: f64,
        with_roughness => roughness: f64,
        with_grain => grain: f64,
    }
}

/// A line, and how much it lifts the side its normal points to.
struct Fault {
    normal: DVec2,
    offset: f64,
    lift: f64,
}

impl Landform for Faults {
    fn check(&self) -> Result<(), LandformError> {
        Checks("Faults")
            .count("count", self.count, 1, MAX_FAULTS)?
            .not_negative("height", self.height)?
            .not_negative("scarp", self.scarp)?
            .not_negative("roughness", self.roughness)?
            .positive("grain", self.grain)?
            .done()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let mut dice = Dice::new(self.seed, 0xfa17);
        let count = self.count.min(MAX_FAULTS);
        let reach = extent.length() / 2.0;
        // The lifts add up like a random walk, so their sum grows with the root of their count.
        let lift = 0.6 * self.height / f64::from(count.max(1)).sqrt();
        let faults: Vec<Fault> = (0..count)
            .map(|_| Fault {
                normal: dice.direction(),
                offset: (2.0 * dice.unit() - 1.0) * reach,
                lift: lift * (0.4 + 1.2 * dice.unit()),
            })
            .collect();
        let noise_seed = mix(u64::from(self.seed) ^ 0x0077_4173);
        Box::new(move |point| {
            let mut elevation = 0.0;
            for fault in &faults {
                let side = fault.normal.dot(point) - fault.offset;
                // Half up on one side and half down on the other keeps the mean near 0.
                let rise = if side.abs() * 2.0 >= self.scarp {
                    if side < 0.0 { -0.5 } else { 0.5 }
                } else {
                    smoothstep(side / self.scarp + 0.5) - 0.5
                };
                elevation += fault.lift * rise;
            }
            elevation + self.roughness * white_noise(point / self.grain, noise_seed)
        })
    }
}

/// Independent values in ±1 on the whole numbers, joined smoothly: sampled at one value per grain
/// it is white, sampled finer it has no steps.
#[inline]
fn white_noise(point: DVec2, seed: u64) -> f64 {
    let corner = point.floor();
    let (x, y) = (
        smoothstep(point.x - corner.x),
        smoothstep(point.y - corner.y),
    );
    // Casts saturate far out, where single grains are below the precision of a position anyway.
    let (column, row) = (corner.x as i64, corner.y as i64);
    let value = |dx: i64, dy: i64| {
        let row = mix(seed ^ row.wrapping_add(dy) as u64);
        let bits = mix(row ^ column.wrapping_add(dx) as u64) >> 11;
        bits as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let north = value(0, 0) * (1.0 - x) + value(1, 0) * x;
    let south = value(0, 1) * (1.0 - x) + value(1, 1) * x;
    north * (1.0 - y) + south * y
}
