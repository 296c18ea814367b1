//! A plain with a channel for a river to start from, like the paper's.

use super::{GridGround, GroundError, MeanderingRiver, RiverSink, RiverSolver, RiverSource};
use crate::terrain::{SettingsError, in_range};
use bevy::math::{DVec2, UVec2};
use core::f64::consts::TAU;
use rand::Rng;
use rand_pcg::Pcg32;

/// Harmonics of the channel's waviness.
const WAVES: u32 = 24;

/// A plane that falls along +X, with a channel along its middle.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// Size along the river. units: m
    pub length: f64,
    /// Size across. units: m
    pub width: f64,
    /// Side of a cell. units: m
    pub cell_size: f64,
    /// Fall along the river. units: m/m
    pub slope: f64,
    /// Width of the channel at half its depth. units: m
    pub channel_width: f64,
    /// Depth of the channel. units: m
    pub channel_depth: f64,
    /// Steepness of its banks. units: m/m
    pub bank_slope: f64,
    /// Bends of the channel to start with. units: m
    pub amplitude: f64,
    /// Length of these bends. units: m
    pub wavelength: f64,
    /// Random waviness of the channel: root of the mean square. units: m
    pub waviness: f64,
    /// Random numbers of the waviness depend on it.
    pub seed: u64,
    /// Where the water comes in across the plain, of the source's spread too.
    /// units: m
    pub spread: f64,
    /// Water that comes in. units: particles/s
    pub rate: f64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            length: 4096.0,
            width: 768.0,
            cell_size: 8.0,
            slope: 0.06,
            channel_width: 40.0,
            channel_depth: 8.0,
            bank_slope: 0.8,
            amplitude: 0.0,
            wavelength: 280.0,
            waviness: 0.0,
            seed: 0,
            spread: 10.0,
            rate: 1.0,
        }
    }
}

impl Plain {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "Plain";
        in_range(M, "length", self.length as f32, 1.0..=1e6)?;
        in_range(M, "width", self.width as f32, 1.0..=1e6)?;
        in_range(M, "cell_size", self.cell_size as f32, 1e-2..=1e4)?;
        in_range(M, "slope", self.slope as f32, -1.0..=1.0)?;
        in_range(M, "channel_width", self.channel_width as f32, 0.0..=1e6)?;
        in_range(M, "channel_depth", self.channel_depth as f32, 0.0..=1e4)?;
        in_range(M, "bank_slope", self.bank_slope as f32, 1e-3..=1e3)?;
        in_range(M, "amplitude", self.amplitude as f32, -1e6..=1e6)?;
        in_range(M, "wavelength", self.wavelength as f32, 1e-2..=1e6)?;
        in_range(M, "waviness", self.waviness as f32, 0.0..=1e6)?;
        in_range(M, "spread", self.spread as f32, -1e6..=1e6)?;
        in_range(M, "rate", self.rate as f32, 0.0..=1e4)
    }

    /// Where the middle of the channel is, and its slope across the plain.
    fn middle(&self, waves: &[(f64, f64, f64)], x: f64) -> (f64, f64) {
        let k = TAU / self.wavelength;
        let (sine, cosine) = libm::sincos(k * x);
        let mut y = self.amplitude * sine;
        let mut dy = self.amplitude * k * cosine;
        for &(size, k, phase) in waves {
            let (sine, cosine) = libm::sincos(k * x + phase);
            y += size * sine;
            dy += size * k * cosine;
        }
        (y, dy)
    }

    /// Its ground.
    pub fn ground(&self) -> Result<GridGround, GroundError> {
        let columns = (self.length / self.cell_size).round().max(1.0);
        let rows = (self.width / self.cell_size).round().max(1.0);
        let size = UVec2::new(columns as u32, rows as u32);
        let mut random = Pcg32::new(self.seed, 77);
        let mut unit = || f64::from(random.next_u32()) / f64::from(u32::MAX);
        let size_of_one = self.waviness * (2.0 / f64::from(WAVES)).sqrt();
        // From four channel widths up to forty, evenly in the logarithm.
        let waves: Vec<(f64, f64, f64)> = (0..WAVES)
            .map(|i| {
                let step = (f64::from(i) + unit()) / f64::from(WAVES);
                let length = 4.0 * self.channel_width * libm::pow(10.0, step);
                (size_of_one, TAU / length.max(1e-3), TAU * unit())
            })
            .collect();
        let mut plain = Vec::with_capacity((size.x * size.y) as usize);
        let mut heights = Vec::with_capacity((size.x * size.y) as usize);
        for row in 0..size.y {
            let y = (f64::from(row) - (rows - 1.0) * 0.5) * self.cell_size;
            for column in 0..size.x {
                let x = (f64::from(column) - (columns - 1.0) * 0.5) * self.cell_size;
                let (middle, across) = self.middle(&waves, x);
                let off = (y - middle).abs() / (1.0 + across * across).sqrt();
                let inside = (0.5 * self.channel_width - off) * self.bank_slope;
                let depth = (inside + 0.5 * self.channel_depth).clamp(0.0, self.channel_depth);
                let level = -self.slope * x;
                plain.push(level);
                heights.push(level - depth);
            }
        }
        GridGround::new(size, self.cell_size, heights)?.with_plain(plain)
    }

    /// A river on it, with a source at the upper end of the channel and a sink
    /// at the lower end of the plain.
    pub fn river(
        &self,
        settings: MeanderingRiver,
    ) -> Result<RiverSolver<GridGround>, Box<dyn core::error::Error + Send + Sync>> {
        self.check()?;
        let ground = self.ground()?;
        let (gravity, drag) = (f64::from(settings.gravity), f64::from(settings.drag));
        let speed = 0.8 * gravity * self.slope / drag.max(1e-3);
        let at = self.spread.abs().max(f64::from(settings.radius)) - 0.5 * self.length;
        let mut river = RiverSolver::new(settings, ground)?;
        // The channel's middle there is the lowest cell of that column.
        let ground = river.ground();
        let width = ground.size().x as usize;
        let column = ((at + 0.5 * self.length) / self.cell_size) as usize;
        let bed = |row: usize| ground.heights()[row * width + column.min(width - 1)];
        let rows = ground.size().y as usize;
        let lowest = (0..rows).map(bed).fold(f64::INFINITY, f64::min);
        let low: Vec<f64> = (0..rows)
            .filter(|&row| bed(row) <= lowest + 1e-9)
            .map(|row| ground.centre(row * width).y)
            .collect();
        let middle = 0.5 * (low[0] + low[low.len() - 1]);
        river.add_source(RiverSource {
            position: DVec2::new(at, middle),
            spread: DVec2::new(self.spread.abs(), self.spread),
            velocity: DVec2::new(speed, 0.0),
            rate: self.rate,
        })?;
        river.add_sink(RiverSink {
            position: DVec2::new(0.5 * self.length, 0.0),
            half_size: DVec2::new(2.0 * self.cell_size, self.width),
        })?;
        Ok(river)
    }
}
