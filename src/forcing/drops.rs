//! Single drops: where they fall and the water that they leave.

use super::{BAND, MAX_DEPTH, add_counted, disc::Disc};
use crate::{
    models::solver_state::{StateError, StateReader, StateWriter},
    parallel::Workers,
    terrain::{Grid, Terrain},
};
use bevy::math::{DVec2, USizeVec2, Vec2};
use core::f64::consts::{FRAC_PI_2, SQRT_2};
use rand::Rng;
use rand_pcg::Pcg32;

/// Largest radius of a splash, in cells.
pub(super) const MAX_RADIUS: f64 = 256.0;
/// Drops in a step. Where the rate asks for more, each is larger.
const MAX_DROPS: f64 = 65_536.0;
/// How many times a step's drops may cover the land.
const MAX_COVER: f64 = 4.0;
/// Places that a drop tries before it takes the best of them.
const TRIES: u32 = 12;

/// Lets drops of one kind fall, step after step. All lengths are in cells.
#[derive(Clone, Debug)]
pub(super) struct Drops {
    grid: Grid,
    seed: u64,
    radius: f64,
    /// Sum over cells of a drop's depths. units: m
    volume: f64,
    /// Rain that is due but has not fallen, as a sum of depths. units: m
    owed: f64,
    /// Drops that fell so far.
    fallen: u64,
    /// Side lengths of the region where drops fall: the land and a margin.
    region: DVec2,
    recent: Option<Recent>,
}

impl Drops {
    pub fn new(grid: &Grid, radius: f32, depth: f32, seed: u64, spacing: Option<f32>) -> Self {
        let cell = f64::from(grid.cell_size());
        let radius = f64::from(radius) / cell;
        let region = grid.size().as_dvec2() + 2.0 * radius;
        Self {
            grid: *grid,
            seed,
            radius,
            volume: FRAC_PI_2 * radius * radius * f64::from(depth),
            owed: 0.0,
            fallen: 0,
            region,
            recent: spacing.map(|spacing| Recent::new(region, f64::from(spacing) / cell)),
        }
    }

    /// Lets as many drops fall as make up for `depth` metres of rain on each
    /// cell. Returns the sum of what fell (m) and the tiles that it fell on.
    pub fn fall(
        &mut self,
        workers: &Workers,
        terrain: &mut Terrain,
        depth: f64,
    ) -> (f64, Vec<usize>) {
        let cells = self.grid.cells() as f64;
        self.owed += depth.min(MAX_DEPTH) * cells;
        // What the land gets of a drop in the mean.
        let yielded = self.volume * (cells / self.region.element_product());
        let footprint = (2.0 * FRAC_PI_2 * self.radius * self.radius).max(1.0);
        let most = (MAX_COVER * cells / footprint).clamp(1.0, MAX_DROPS).ceil();
        let wanted = (self.owed / yielded).floor();
        let (count, larger) = if wanted > most {
            (most, self.owed / (most * yielded))
        } else {
            (wanted, 1.0)
        };
        let splashes: Vec<Splash> = (0..count as u64)
            .map(|_| self.next_splash(self.volume * larger))
            .collect();
        if splashes.is_empty() {
            return (0.0, Vec::new());
        }
        let fell = self.splash(workers, terrain, &splashes);
        self.owed -= fell;
        (fell, self.tiles(&splashes))
    }

    fn next_splash(&mut self, volume: f64) -> Splash {
        let number = self.fallen;
        self.fallen += 1;
        // The place depends on the seed and the number alone, and with blue
        // noise on the drops before it.
        let mix = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = Pcg32::new(self.seed ^ mix, number);
        let region = self.region;
        let mut place = || {
            let mut unit = || f64::from(random.next_u32()) / (1u64 << 32) as f64;
            DVec2::new(unit(), unit()) * region
        };
        let place = match &mut self.recent {
            Some(recent) => recent.choose(number, place),
            None => place(),
        };
        // Cell (0, 0)'s center is at (0, 0).
        let center = place - self.radius - 0.5;
        let mut disc = Disc::new(center, self.radius);
        let mut total = disc.total();
        if total <= 0.0 {
            disc = Disc::cell(center.round().as_vec2());
            total = 1.0;
        }
        Splash {
            disc,
            depth: volume / total,
        }
    }

    /// Wets the land. Each band takes what falls on it, in the drops' order.
    fn splash(&self, workers: &Workers, terrain: &mut Terrain, splashes: &[Splash]) -> f64 {
        let (size, width) = (self.grid.size(), self.grid.width());
        let mut sums = vec![0.0; self.grid.height().div_ceil(BAND)];
        let layers = terrain.layers_mut();
        let jobs = layers
            .water
            .chunks_mut(BAND * width)
            .zip(layers.water_low.chunks_mut(BAND * width))
            .zip(&mut sums)
            .enumerate();
        workers.each(jobs, |(band, ((water, rest), sum))| {
            let first = band * BAND;
            let end = first + water.len() / width;
            for splash in splashes {
                let (columns, rows) = splash.disc.span_in(size);
                for y in rows.start.max(first)..rows.end.min(end) {
                    for x in columns.clone() {
                        let weight = splash.disc.weight(x as f64, y as f64);
                        let depth = (weight * splash.depth).min(MAX_DEPTH) as f32;
                        if depth > 0.0 {
                            let cell = (y - first) * width + x;
                            *sum += add_counted(&mut water[cell], &mut rest[cell], depth);
                        }
                    }
                }
            }
        });
        sums.iter().sum()
    }

    fn tiles(&self, splashes: &[Splash]) -> Vec<usize> {
        let tiles = self.grid.tiles().as_usizevec2();
        let mut wet = vec![false; tiles.x * tiles.y];
        for splash in splashes {
            let (columns, rows) = splash.disc.span_in(self.grid.size());
            if columns.is_empty() || rows.is_empty() {
                continue;
            }
            for y in rows.start / BAND..=(rows.end - 1) / BAND {
                for x in columns.start / BAND..=(columns.end - 1) / BAND {
                    wet[y * tiles.x + x] = true;
                }
            }
        }
        (0..wet.len()).filter(|&tile| wet[tile]).collect()
    }

    /// Writes what the next drops depend on.
    pub fn save_state(&self, writer: &mut StateWriter) {
        writer.write_real(self.owed);
        writer.write_count(self.fallen);
        let Some(recent) = &self.recent else {
            return;
        };
        for drop in &recent.drops {
            // A drop's number, counted from one; zero stands for no drop.
            let (number, place) = drop.map_or((0, Vec2::ZERO), |(n, place)| (n + 1, place));
            writer.write_count(number);
            writer.write_words([place.x.to_bits(), place.y.to_bits()]);
        }
    }

    /// Reads what [`save_state`](Self::save_state) wrote.
    pub fn load_state(&mut self, reader: &mut StateReader) -> Result<(), StateError> {
        // No step leaves over more than the greatest depth on every cell of a land.
        self.owed = reader.read_real_in(-1e20..=1e20, "rain left over, in metres times cells,")?;
        self.fallen = reader.read_count()?;
        let Some(recent) = &mut self.recent else {
            return Ok(());
        };
        for drop in &mut recent.drops {
            let number = reader.read_count()?;
            let place = reader.read_floats(2)?;
            // A later drop than the last would count backwards.
            reader.ensure(
                number <= self.fallen,
                format!(
                    "drop {number} is recorded, but only {} have fallen",
                    self.fallen
                ),
            )?;
            let number = number.checked_sub(1);
            *drop = number.map(|number| (number, Vec2::new(place[0], place[1])));
        }
        Ok(())
    }
}

/// One drop that falls.
struct Splash {
    disc: Disc,
    /// Water where the weight is 1. units: m
    depth: f64,
}

/// The latest drops, in buckets small enough that one drop fills a bucket. The
/// region is a torus, lest drops crowd at its edges.
#[derive(Clone, Debug)]
struct Recent {
    region: DVec2,
    spacing: f64,
    buckets: USizeVec2,
    /// Number and place of a bucket's latest drop.
    drops: Vec<Option<(u64, Vec2)>>,
    /// How many of the latest drops are looked at.
    window: u64,
}

impl Recent {
    fn new(region: DVec2, spacing: f64) -> Self {
        // Below a cell's size a distance has no meaning, and the buckets must
        // not take more memory than the land.
        let spacing = spacing
            .max(1.0)
            .max(region.element_product().sqrt() / 1000.0);
        let buckets = (region / (spacing / SQRT_2)).ceil().max(DVec2::ONE);
        let buckets = buckets.as_usizevec2();
        // Dart throwing ends at 0.7 drops on a square of the spacing; with half
        // of that a free place is soon found.
        let window = 0.35 * region.element_product() / (spacing * spacing);
        Self {
            region,
            spacing,
            buckets,
            drops: vec![None; buckets.x * buckets.y],
            window: window.ceil() as u64,
        }
    }

    /// The first place that is far enough from the latest drops, or the
    /// farthest of those tried.
    #[inline]
    fn choose(&mut self, number: u64, mut place: impl FnMut() -> DVec2) -> DVec2 {
        let mut best = (-1.0, DVec2::ZERO);
        for _ in 0..TRIES {
            let place = place();
            let room = self.room(number, place);
            if room > best.0 {
                best = (room, place);
            }
            if room >= self.spacing * self.spacing {
                break;
            }
        }
        let bucket = self.bucket(best.1);
        self.drops[bucket.y * self.buckets.x + bucket.x] = Some((number, best.1.as_vec2()));
        best.1
    }

    /// Squared distance to the nearest of the latest drops, as far as it
    /// matters.
    #[inline]
    fn room(&self, number: u64, place: DVec2) -> f64 {
        let USizeVec2 { x: wide, y: high } = self.buckets;
        let bucket = self.bucket(place);
        let mut nearest = self.spacing * self.spacing;
        // Two buckets are at least as long as the spacing, unless there are so
        // few that five are all.
        for row in 0..5.min(high) {
            let y = (bucket.y + high + row - 2.min(high / 2)) % high;
            for column in 0..5.min(wide) {
                let x = (bucket.x + wide + column - 2.min(wide / 2)) % wide;
                if let Some((other, center)) = self.drops[y * wide + x]
                    && number - other <= self.window
                {
                    let away = (place - center.as_dvec2()).abs();
                    let away = away.min(self.region - away);
                    nearest = nearest.min(away.length_squared());
                }
            }
        }
        nearest
    }

    #[inline]
    fn bucket(&self, place: DVec2) -> USizeVec2 {
        let bucket = (place / self.region * self.buckets.as_dvec2()).as_usizevec2();
        bucket.min(self.buckets - 1)
    }
}
