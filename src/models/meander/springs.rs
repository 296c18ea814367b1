//! Sources and sinks of a river's water.

use super::{MeanderingRiver, WaterParticle};
use crate::terrain::{SettingsError, in_range};
use bevy::math::DVec2;
use rand::Rng;
use rand_pcg::Pcg32;

/// Id of a source; see [`RiverSolver::add_source`](super::RiverSolver::add_source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceId(pub(super) u64);

/// Id of a sink; see [`RiverSolver::add_sink`](super::RiverSolver::add_sink).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SinkId(pub(super) u64);

/// A source: emits water particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiverSource {
    /// Center of the source. units: m
    pub position: DVec2,
    /// Half axes of the ellipse around it, within which water appears at random
    /// positions. The sign mirrors the pattern: a mirrored river's source has
    /// the mirrored spread. units: m
    pub spread: DVec2,
    /// Velocity of new water. units: m/s
    pub velocity: DVec2,
    /// Emission rate. units: particles/s
    pub rate: f64,
}

impl RiverSource {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "RiverSource";
        in_range(M, "position", self.position.length() as f32, 0.0..=1e9)?;
        in_range(M, "spread", self.spread.length() as f32, 0.0..=1e6)?;
        in_range(M, "velocity", self.velocity.length() as f32, 0.0..=1e3)?;
        in_range(M, "rate", self.rate as f32, 0.0..=1e4)
    }
}

/// A sink: a rectangle that removes water and the sediment in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiverSink {
    /// Its center. units: m
    pub position: DVec2,
    /// Half its sides. units: m
    pub half_size: DVec2,
}

impl RiverSink {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "RiverSink";
        in_range(M, "position", self.position.length() as f32, 0.0..=1e9)?;
        in_range(M, "half_size", self.half_size.length() as f32, 0.0..=1e9)
    }

    #[inline]
    pub(super) fn holds(&self, at: DVec2) -> bool {
        let away = (at - self.position).abs();
        away.x <= self.half_size.x && away.y <= self.half_size.y
    }
}

/// A source and its state.
#[derive(Clone, Debug)]
pub(super) struct Spring {
    pub id: u64,
    pub source: RiverSource,
    /// Fraction of a particle that is due.
    pub due: f64,
    /// Particles so far: random numbers depend on it.
    pub emitted: u64,
}

impl Spring {
    pub fn new(id: u64, source: RiverSource) -> Self {
        Self {
            id,
            source,
            due: 0.0,
            emitted: 0,
        }
    }

    /// Emits the water of the next `dt` seconds, without ids.
    pub fn emit(&mut self, settings: &MeanderingRiver, dt: f64, out: &mut Vec<WaterParticle>) {
        self.due += self.source.rate * dt;
        while self.due >= 1.0 {
            self.due -= 1.0;
            let mix = self.emitted.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mut random = Pcg32::new(settings.seed ^ mix, self.id);
            let mut side = || f64::from(random.next_u32()) / f64::from(1u32 << 31) - 1.0;
            let offset = loop {
                let offset = DVec2::new(side(), side());
                if offset.length_squared() <= 1.0 {
                    break offset;
                }
            };
            self.emitted += 1;
            out.push(WaterParticle {
                position: self.source.position + offset * self.source.spread,
                velocity: self.source.velocity,
                mean_velocity: self.source.velocity,
                curve: 0.0,
                density: 0.0,
                id: 0,
            });
        }
    }
}
