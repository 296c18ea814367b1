//! A generated plain with a channel, for a river to start from, like the paper's.

use super::{
    GridGround, GroundError, MeanderingRiver, RiverSink, RiverSolver, RiverSource, measure::foot,
};
use crate::terrain::{SettingsError, in_range};
use bevy::math::{DVec2, UVec2};
use core::f64::consts::TAU;
use rand::Rng;
use rand_pcg::Pcg32;

/// Harmonics of the channel's waviness.
const WAVES: u32 = 24;

/// Parts of a loop.
const LOOP_STEPS: usize = 256;

/// Distance of a place from a line, and the level there.
fn beside(line: &[(DVec2, f64)], at: DVec2) -> (f64, f64) {
    let to_part = |part: &[(DVec2, f64)]| {
        let (place, share) = foot(part[0].0, part[1].0, at);
        let level = part[0].1 + (part[1].1 - part[0].1) * share;
        (place.distance(at), level)
    };
    let parts = line.windows(2).map(to_part);
    let nearest = parts.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.unwrap_or((f64::INFINITY, 0.0))
}

/// A plane that falls along +X, with a channel along its middle.
#[derive(Clone, Debug, PartialEq)]
pub struct RiverPlain {
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
    /// Way of the channel round an omega-shaped loop in the middle of the plain,
    /// which bulges to +Y, or to −Y below zero; zero: no loop. units: m
    pub loop_way: f64,
    /// Land between the two ends of that loop, at half the depth. units: m
    pub loop_neck: f64,
    /// Random waviness of the channel: root of the mean square. units: m
    pub waviness: f64,
    /// Random numbers of the waviness depend on it.
    pub seed: u64,
    /// Half size of the source of water; a negative one mirrors its pattern. units: m
    pub spread: f64,
    /// Water that comes in. units: particles/s
    pub rate: f64,
}

impl Default for RiverPlain {
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
            loop_way: 0.0,
            loop_neck: 30.0,
            waviness: 0.0,
            seed: 0,
            spread: 10.0,
            rate: 1.0,
        }
    }
}

impl RiverPlain {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        const M: &str = "RiverPlain";
        in_range(M, "length", self.length as f32, 1.0..=1e6)?;
        in_range(M, "width", self.width as f32, 1.0..=1e6)?;
        in_range(M, "cell_size", self.cell_size as f32, 1e-2..=1e4)?;
        in_range(M, "slope", self.slope as f32, -1.0..=1.0)?;
        in_range(M, "channel_width", self.channel_width as f32, 0.0..=1e6)?;
        in_range(M, "channel_depth", self.channel_depth as f32, 0.0..=1e4)?;
        in_range(M, "bank_slope", self.bank_slope as f32, 1e-3..=1e3)?;
        in_range(M, "amplitude", self.amplitude as f32, -1e6..=1e6)?;
        in_range(M, "wavelength", self.wavelength as f32, 1e-2..=1e6)?;
        in_range(M, "loop_way", self.loop_way as f32, -1e6..=1e6)?;
        in_range(M, "loop_neck", self.loop_neck as f32, 0.0..=1e6)?;
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

    /// The middle of a channel with a loop, each place with the level of its bed
    /// (m), which falls evenly round the loop. Nothing without a loop.
    ///
    /// A loop is one wave of W. Langbein's and L. Leopold's sine-generated curve,
    /// whose direction is `ω·sin(2π·s/way)`, with the `ω` that leaves the neck.
    fn around(&self, waves: &[(f64, f64, f64)]) -> Vec<(DVec2, f64)> {
        let way = self.loop_way.abs();
        if way == 0.0 {
            return Vec::new();
        }
        let step = way / LOOP_STEPS as f64;
        let curve = |widest: f64| -> Vec<DVec2> {
            let mut at = DVec2::ZERO;
            let mut curve = vec![at];
            for i in 0..LOOP_STEPS {
                let angle = widest * libm::sin(TAU * (i as f64 + 0.5) / LOOP_STEPS as f64);
                let (sine, cosine) = libm::sincos(angle);
                at += DVec2::new(cosine, sine) * step;
                curve.push(at);
            }
            curve
        };
        // The ends of the loop are nearest where it runs straight across.
        let neck = |curve: &[DVec2]| {
            let rising = curve[..=LOOP_STEPS / 4].iter().map(|at| at.x);
            curve[LOOP_STEPS].x - 2.0 * rising.fold(0.0, f64::max) - self.channel_width
        };
        let (mut low, mut high) = (0.25 * TAU, 0.37 * TAU);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if neck(&curve(middle)) > self.loop_neck {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut curve = curve(low);
        let start = -0.5 * curve[LOOP_STEPS].x;
        for at in &mut curve {
            *at = DVec2::new(at.x + start, at.y * self.loop_way.signum());
        }
        let far = 0.5 * self.length + self.channel_width;
        let straight = |from: f64, to: f64| {
            let count = ((to - from) / self.cell_size).ceil().max(1.0);
            (0..count as usize).map(move |i| DVec2::new(from + (to - from) * i as f64 / count, 0.0))
        };
        let fall = |i: usize| start * (1.0 - 2.0 * i as f64 / LOOP_STEPS as f64);
        let upper = straight(-far, start).map(|at| (at, at.x));
        let inner = curve.into_iter().enumerate().map(|(i, at)| (at, fall(i)));
        let lower = straight(-start, far).skip(1).map(|at| (at, at.x));
        let line = upper.chain(inner).chain(lower).map(|(at, valley)| {
            let (off, _) = self.middle(waves, at.x);
            let bed = -self.slope * valley - self.channel_depth;
            (at + DVec2::new(0.0, off), bed)
        });
        line.collect()
    }

    /// Its ground.
    pub fn ground(&self) -> Result<GridGround, GroundError> {
        let columns = (self.length / self.cell_size).round().max(1.0);
        let rows = (self.width / self.cell_size).round().max(1.0);
        let size = UVec2::new(columns as u32, rows as u32);
        GridGround::check_size(size)?;
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
        let around = self.around(&waves);
        let mut plain = Vec::with_capacity(size.x as usize * size.y as usize);
        let mut heights = Vec::with_capacity(size.x as usize * size.y as usize);
        for row in 0..size.y {
            let y = (f64::from(row) - (rows - 1.0) * 0.5) * self.cell_size;
            for column in 0..size.x {
                let x = (f64::from(column) - (columns - 1.0) * 0.5) * self.cell_size;
                let level = -self.slope * x;
                let (off, deepest) = if around.is_empty() {
                    let (middle, across) = self.middle(&waves, x);
                    let off = (y - middle).abs() / (1.0 + across * across).sqrt();
                    (off, self.channel_depth)
                } else {
                    let (off, bed) = beside(&around, DVec2::new(x, y));
                    (off, (level - bed).max(0.0))
                };
                let inside = (0.5 * self.channel_width - off) * self.bank_slope;
                let depth = inside + deepest - 0.5 * self.channel_depth;
                let depth = depth.clamp(0.0, deepest);
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
        let speed = 0.8 * settings.steady_speed(self.slope);
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
            .map(|row| ground.center(row * width).y)
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
