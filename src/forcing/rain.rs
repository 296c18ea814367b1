//! Rain: how much, and where it falls.
//!
//! ```text
//! Uniform          d += r·dt                         r the rate, in every cell
//! Map              d += r·dt·w/mean(w)               w the cell's weight
//! Drops, BlueNoise d += D·(1 − (a/R)²)  a < R        D depth, a distance to the drop
//! ```
//!
//! As many drops fall as the rate asks for; what is less than a drop is carried
//! on to the next step. Drops also fall up to a radius beyond the land, so that
//! its edge gets as much as its middle.

use super::{
    BAND, ForcingSystems, MAX_DEPTH, MM_PER_HOUR, add_counted,
    drops::{Drops, MAX_RADIUS},
    fits,
    season::{Calendar, Season},
    tile_of,
};
use crate::{
    models::{
        ShiftOutcome, Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    settings::{self, Setting},
    terrain::{Grid, Layer, SettingsError, Terrain},
};
use bevy::prelude::*;
use multiversion::multiversion;

const M: &str = "Rain";

/// Lets rain fall: insert this resource and it rains.
///
/// [The guide](crate::guide::forcing) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Rain", "Water falls on the land; a water model lets it flow"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Rain {
    /// Mean over the land: 2 is drizzle, 10 is rain, 50 is a cloudburst. units: mm/h
    #[reflect(@Setting::new("mm/h", 0.0..=10_000.0).limits(0.0..=1e5)
        .about("Mean over the terrain: 10 is rain, 50 a cloudburst; games use more"))]
    pub mm_per_hour: f32,
    /// Where it falls.
    #[reflect(@Setting::plain().about("Where it falls"))]
    pub pattern: RainPattern,
    /// When it falls; always, if there is none.
    #[reflect(@Setting::optional(Season::default)
        .label("in a season")
        .about("Only in a part of every year, which may be short"))]
    pub season: Option<Season>,
}

/// How rain is spread over the land.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum RainPattern {
    /// Everywhere alike.
    #[default]
    #[reflect(@Setting::variant("even", || RainPattern::Uniform).about("Everywhere alike"))]
    Uniform,
    /// Single drops at random places, after X. Mei, P. Decaudin and B.-G. Hu
    /// (2007).
    #[reflect(@Setting::variant("drops", || RainPattern::drops(0)).about("At random places"))]
    Drops {
        /// Radius of a drop's splash. A smaller one than a cell wets the cell
        /// that covers it. units: m
        #[reflect(@Setting::new("m", 0.1..=50.0).limits(1e-3..=1e6)
            .about("Radius of a drop's splash"))]
        radius: f32,
        /// Water in the middle of a splash; at its rim there is none. units: m
        #[reflect(@Setting::new("m", 0.0001..=1.0).limits(1e-6..=1e3)
            .about("Water in the middle of a splash: deeper ones fall more rarely"))]
        depth: f32,
        /// Same seed, same drops.
        #[reflect(@Setting::seed().about("Same seed, same drops"))]
        seed: u64,
    },
    /// Single drops that keep a distance: evenly spread, but in no order.
    ///
    /// A drop tries a few random places and takes the first that is far enough
    /// from the latest drops. So any few drops in a row are spread well, and no
    /// pattern repeats. (The R2 sequence is more even still, but one sees its
    /// rows; a precomputed tile repeats, and is even only when all of it fell.)
    #[reflect(@Setting::variant("spaced drops", || RainPattern::blue_noise(0))
        .about("At places that keep a distance from one another"))]
    BlueNoise {
        /// Distance that drops keep from the latest before them, of which as
        /// many count as fit on half of the land. At least a cell, and a
        /// thousandth of the land's side. units: m
        #[reflect(@Setting::new("m", 0.5..=200.0).limits(1e-3..=1e6)
            .about("Distance that drops keep from the latest before them"))]
        spacing: f32,
        /// Radius of a drop's splash. units: m
        #[reflect(@Setting::new("m", 0.1..=50.0).limits(1e-3..=1e6)
            .about("Radius of a drop's splash"))]
        radius: f32,
        /// Water in the middle of a splash; at its rim there is none. units: m
        #[reflect(@Setting::new("m", 0.0001..=1.0).limits(1e-6..=1e3)
            .about("Water in the middle of a splash: deeper ones fall more rarely"))]
        depth: f32,
        /// Same seed, same drops.
        #[reflect(@Setting::seed().about("Same seed, same drops"))]
        seed: u64,
    },
    /// A weight for each cell, row by row. Only their proportions matter: the
    /// mean over the land is always the rate.
    #[reflect(@Setting::titled("map", "A weight for each cell"))]
    Map(Vec<f32>),
}

impl Default for Rain {
    fn default() -> Self {
        Self::mm_per_hour(40.0)
    }
}

impl Rain {
    /// Rain that falls everywhere alike. units: mm/h
    pub fn mm_per_hour(rate: f32) -> Self {
        Self {
            mm_per_hour: rate,
            pattern: RainPattern::Uniform,
            season: None,
        }
    }

    /// The same rain in another pattern.
    pub fn with_pattern(self, pattern: RainPattern) -> Self {
        Self { pattern, ..self }
    }

    /// The same rain, but in a season only.
    pub fn with_season(self, season: Season) -> Self {
        Self {
            season: Some(season),
            ..self
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        match &self.pattern {
            RainPattern::Map(weights) => check_map(weights),
            _ => Ok(()),
        }
    }

    /// [`check`](Self::check), and whether the settings suit a grid.
    fn check_on(&self, grid: &Grid) -> Result<(), SettingsError> {
        self.check()?;
        match &self.pattern {
            RainPattern::Map(weights) if weights.len() != grid.cells() => Err(SettingsError {
                model: M,
                field: "pattern.Map".into(),
                reason: format!(
                    "must be one weight for each cell: {} × {} cells need {}, but there are {}",
                    grid.width(),
                    grid.height(),
                    grid.cells(),
                    weights.len()
                ),
            }),
            RainPattern::Drops { radius, .. } | RainPattern::BlueNoise { radius, .. }
                if f64::from(radius / grid.cell_size()) > MAX_RADIUS =>
            {
                Err(SettingsError {
                    model: M,
                    field: "pattern.radius".into(),
                    reason: format!(
                        "must be {MAX_RADIUS} cells ({} m) or less, was {radius} m",
                        MAX_RADIUS * f64::from(grid.cell_size())
                    ),
                })
            }
            _ => Ok(()),
        }
    }
}

impl RainPattern {
    /// Splashes of 2 m at random places.
    pub fn drops(seed: u64) -> Self {
        Self::Drops {
            radius: 2.0,
            depth: 0.01,
            seed,
        }
    }

    /// Splashes of 2 m that keep a distance of 8 m.
    pub fn blue_noise(seed: u64) -> Self {
        Self::BlueNoise {
            spacing: 8.0,
            radius: 2.0,
            depth: 0.01,
            seed,
        }
    }
}

fn check_map(weights: &[f32]) -> Result<(), SettingsError> {
    let wrong = |reason| SettingsError {
        model: M,
        field: "pattern.Map".into(),
        reason,
    };
    // NaN fails the comparison, so it is found too.
    if let Some(index) = weights.iter().position(|w| !(0.0..=1e6).contains(w)) {
        let reason = format!(
            "weights must be 0 to 1e6, was {} at {index}",
            weights[index]
        );
        return Err(wrong(reason));
    }
    if weights.iter().all(|&w| w == 0.0) {
        return Err(wrong("must be above 0 in some cell".into()));
    }
    Ok(())
}

/// Runs [`Rain`] on a terrain.
#[derive(Clone, Debug)]
pub struct RainSolver {
    settings: Rain,
    grid: Grid,
    plan: Plan,
    calendar: Calendar,
}

/// What a pattern needs to know besides its settings.
#[derive(Clone, Debug)]
enum Plan {
    Uniform,
    Drops(Box<Drops>),
    /// Mean of all weights, and the tiles on which it rains.
    Map(f64, Vec<usize>),
}

impl Plan {
    fn new(pattern: &RainPattern, grid: &Grid) -> Self {
        match pattern {
            RainPattern::Uniform => Self::Uniform,
            RainPattern::Drops {
                radius,
                depth,
                seed,
            } => Self::Drops(Box::new(Drops::new(grid, *radius, *depth, *seed, None))),
            RainPattern::BlueNoise {
                spacing,
                radius,
                depth,
                seed,
            } => {
                let drops = Drops::new(grid, *radius, *depth, *seed, Some(*spacing));
                Self::Drops(Box::new(drops))
            }
            RainPattern::Map(weights) => {
                let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
                let mut wet = vec![false; (grid.tiles().x * grid.tiles().y) as usize];
                for (cell, &weight) in weights.iter().enumerate() {
                    wet[tile_of(grid, cell)] |= weight > 0.0;
                }
                let tiles = (0..wet.len()).filter(|&tile| wet[tile]).collect();
                Self::Map(sum / weights.len().max(1) as f64, tiles)
            }
        }
    }
}

impl Solver for RainSolver {
    type Settings = Rain;

    const NAME: &'static str = M;
    const KEY: &'static str = "rain";
    const IS_FORCING: bool = true;
    const READS: &'static [Layer] = &[Layer::Water];
    const WRITES: &'static [Layer] = &[Layer::Water];

    fn step_set() -> impl SystemSet {
        ForcingSystems::Rain
    }

    fn new(settings: Rain, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check_on(grid)?;
        Ok(Self {
            plan: Plan::new(&settings.pattern, grid),
            settings,
            grid: *grid,
            calendar: Calendar::default(),
        })
    }

    fn check_settings(settings: &Rain) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Rain {
        &self.settings
    }

    fn set_settings(&mut self, settings: Rain) -> Result<(), SettingsError> {
        settings.check_on(&self.grid)?;
        // Another rate goes on with the same drops.
        if settings.pattern != self.settings.pattern {
            self.plan = Plan::new(&settings.pattern, &self.grid);
        }
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if !fits(&self.grid, terrain, dt) {
            return;
        }
        let depth = self.pass(dt);
        if depth == 0.0 {
            return;
        }
        let (rained, tiles) = match (self.layer(depth), &self.plan) {
            (Some((depth, weights)), Plan::Map(_, tiles)) => {
                (fall(&workers, terrain, depth, weights), tiles.clone())
            }
            (Some((depth, weights)), _) => {
                let tiles = 0..(self.grid.tiles().x * self.grid.tiles().y) as usize;
                (fall(&workers, terrain, depth, weights), tiles.collect())
            }
            (None, _) => match &mut self.plan {
                Plan::Drops(drops) => drops.fall(&workers, terrain, depth),
                _ => return,
            },
        };
        terrain.account.water.rained += rained * self.grid.cell_area();
        if !tiles.is_empty() {
            terrain.mark_water_tiles(tiles);
        }
    }

    /// It knows nothing of places, and the date stays.
    fn shift(&mut self, _: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        self.grid = *terrain.grid();
        Ok(ShiftOutcome::Kept)
    }

    fn take_plane(settings: &mut Rain) -> Vec<f32> {
        match &mut settings.pattern {
            RainPattern::Map(weights) => core::mem::take(weights),
            _ => Vec::new(),
        }
    }

    fn put_plane(settings: &mut Rain, plane: Vec<f32>) {
        if let RainPattern::Map(weights) = &mut settings.pattern {
            *weights = plane;
        }
    }

    fn save_state(&self, _terrain: &Terrain) -> Vec<u8> {
        let mut memory = StateWriter::default();
        self.calendar.save_state(&mut memory);
        if let Plan::Drops(drops) = &self.plan {
            drops.save_state(&mut memory);
        }
        memory.finish()
    }

    fn load_state(&mut self, memory: &[u8], _terrain: &Terrain) -> Result<(), StateError> {
        let mut memory = StateReader::new(M, memory);
        let calendar = Calendar::load_state(&mut memory)?;
        let mut plan = self.plan.clone();
        if let Plan::Drops(drops) = &mut plan {
            drops.load_state(&mut memory)?;
        }
        memory.finish()?;
        (self.plan, self.calendar) = (plan, calendar);
        Ok(())
    }
}

impl RainSolver {
    /// Time goes on; returns the mean depth that falls meanwhile. units: m
    pub(crate) fn pass(&mut self, dt: f32) -> f64 {
        let time = self.calendar.pass(self.settings.season.as_ref(), dt);
        f64::from(self.settings.mm_per_hour) / MM_PER_HOUR * time
    }

    /// What a cell of weight one gets of a mean depth, and the weights of all cells
    /// unless they are equal. Nothing, if the rain falls in drops. units: m
    pub(crate) fn layer(&self, depth: f64) -> Option<(f32, Option<&[f32]>)> {
        match (&self.plan, &self.settings.pattern) {
            (Plan::Drops(_), _) => None,
            (Plan::Map(mean, _), RainPattern::Map(weights)) => {
                Some(((depth / *mean).min(MAX_DEPTH) as f32, Some(weights)))
            }
            _ => Some((depth.min(MAX_DEPTH) as f32, None)),
        }
    }
}

/// Rains on all cells, by their weights if there are such. Returns the sum of
/// what fell. units: m
fn fall(workers: &Workers, terrain: &mut Terrain, depth: f32, weights: Option<&[f32]>) -> f64 {
    let band = BAND * terrain.grid().width();
    let mut sums = vec![0.0; terrain.grid().height().div_ceil(BAND)];
    let layers = terrain.layers_mut();
    let mut weights = weights.map(|weights| weights.chunks(band));
    let jobs: Vec<_> = layers
        .water
        .chunks_mut(band)
        .zip(layers.water_low.chunks_mut(band))
        .zip(&mut sums)
        .map(|((water, rest), sum)| {
            let weights = weights.as_mut().and_then(Iterator::next);
            (water, rest, weights, sum)
        })
        .collect();
    workers.each(jobs, |(water, rest, weights, sum)| {
        *sum = match weights {
            Some(weights) => wet_by_weights(water, rest, weights, depth),
            None => wet_evenly(water, rest, depth),
        };
    });
    // In the order of the bands, whoever was first.
    sums.iter().sum()
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn wet_evenly(water: &mut [f32], rest: &mut [f32], depth: f32) -> f64 {
    let mut lanes = [0.0; 8];
    let (water, water_tail) = water.as_chunks_mut::<8>();
    let (rest, rest_tail) = rest.as_chunks_mut::<8>();
    for (water, rest) in water.iter_mut().zip(rest) {
        for lane in 0..8 {
            lanes[lane] += add_counted(&mut water[lane], &mut rest[lane], depth);
        }
    }
    let tail = water_tail.iter_mut().zip(rest_tail);
    let tail: f64 = tail.map(|(w, r)| add_counted(w, r, depth)).sum();
    lanes.iter().sum::<f64>() + tail
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn wet_by_weights(water: &mut [f32], rest: &mut [f32], weights: &[f32], depth: f32) -> f64 {
    let mut lanes = [0.0; 8];
    let (water, water_tail) = water.as_chunks_mut::<8>();
    let (rest, rest_tail) = rest.as_chunks_mut::<8>();
    let (weights, weights_tail) = weights.as_chunks::<8>();
    for ((water, rest), weights) in water.iter_mut().zip(rest).zip(weights) {
        for lane in 0..8 {
            let depth = crate::models::least(depth * weights[lane], MAX_DEPTH as f32);
            lanes[lane] += add_counted(&mut water[lane], &mut rest[lane], depth);
        }
    }
    let tail = water_tail.iter_mut().zip(rest_tail).zip(weights_tail);
    let tail = tail.map(|((water, rest), weight)| {
        add_counted(
            water,
            rest,
            crate::models::least(depth * weight, MAX_DEPTH as f32),
        )
    });
    lanes.iter().sum::<f64>() + tail.sum::<f64>()
}
