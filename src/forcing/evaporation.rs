//! Evaporation: the same depth in the same time off all water, deep or shallow.
//!
//! ```text
//! d ← max(0, d − e·dt)
//! d = 0 now: soil += s, s = 0      what dries lets its load fall
//! ```

use super::{
    BAND, ForcingSystems, MAX_DEPTH, MM_PER_HOUR, fits, gain,
    season::{Calendar, Season},
};
use crate::{
    models::{
        ShiftOutcome, Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    settings::{self, Setting},
    terrain::{Grid, Layer, SettingsError, Terrain, add_exactly},
};
use bevy::prelude::*;
use multiversion::multiversion;

const M: &str = "Evaporation";

/// Lets water evaporate: insert this resource and it does.
///
/// [The guide](crate::guide::forcing) has an example.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default)]
#[reflect(@Setting::titled("Evaporation", "Water dries up"))]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Evaporation {
    /// Depth that goes into the air wherever there is water: some 0.2 over a
    /// mild day, 1 in hot wind. units: mm/h
    #[reflect(@Setting::new("mm/h", 0.0..=1000.0).limits(0.0..=1e5)
        .about("Depth that goes into the air wherever there is water"))]
    pub mm_per_hour: f32,
    /// When it dries; always, if there is none.
    #[reflect(@Setting::optional(|| Season::default().opposite())
        .label("in a season")
        .about("Only in a part of every year, which may be short"))]
    pub season: Option<Season>,
}

impl Default for Evaporation {
    fn default() -> Self {
        Self::mm_per_hour(1.0)
    }
}

impl Evaporation {
    /// Evaporation at a constant rate. units: mm/h
    pub fn mm_per_hour(rate: f32) -> Self {
        Self {
            mm_per_hour: rate,
            season: None,
        }
    }

    /// The same, but in a season only.
    pub fn with_season(self, season: Season) -> Self {
        Self {
            season: Some(season),
            ..self
        }
    }

    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}

/// Runs [`Evaporation`] on a terrain.
#[derive(Clone, Debug)]
pub struct EvaporationSolver {
    settings: Evaporation,
    grid: Grid,
    calendar: Calendar,
}

impl Solver for EvaporationSolver {
    type Settings = Evaporation;

    const NAME: &'static str = M;
    const KEY: &'static str = "evaporation";
    const IS_FORCING: bool = true;
    const READS: &'static [Layer] = Self::WRITES;
    /// Bedrock takes on what is too small for the soil to count.
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Water, Layer::Suspended];

    fn step_set() -> impl SystemSet {
        ForcingSystems::Evaporation
    }

    fn new(settings: Evaporation, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            grid: *grid,
            calendar: Calendar::default(),
        })
    }

    fn check_settings(settings: &Evaporation) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Evaporation {
        &self.settings
    }

    fn set_settings(&mut self, settings: Evaporation) -> Result<(), SettingsError> {
        settings.check()?;
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
        let depth = depth.min(MAX_DEPTH) as f32;
        let width = self.grid.width();
        let length = BAND * width;
        let mut results = vec![BandResult::default(); self.grid.height().div_ceil(BAND)];
        let layers = terrain.layers_mut();
        let jobs: Vec<Band> = layers
            .water
            .chunks_mut(length)
            .zip(layers.water_low.chunks_mut(length))
            .zip(layers.suspended.chunks_mut(length))
            .zip(layers.soil.chunks_mut(length))
            .zip(layers.bedrock.chunks_mut(length))
            .zip(layers.bedrock_low.chunks_mut(length))
            .zip(&mut results)
            .map(
                |((((((water, rest), suspended), soil), bedrock), bedrock_low), result)| Band {
                    width,
                    water,
                    rest,
                    suspended,
                    soil,
                    bedrock,
                    bedrock_low,
                    result,
                },
            )
            .collect();
        workers.each(jobs, |band| dry_band(band, depth));

        // Bands are summed in their order, so the ledger does not depend on
        // who was first.
        let evaporated: f64 = results.iter().map(|result| result.evaporated).sum();
        terrain.account.water.evaporated += evaporated * self.grid.cell_area();
        let tiles = |changed: fn(&BandResult) -> &Vec<bool>| -> Vec<usize> {
            let changed = results.iter().flat_map(changed).enumerate();
            changed
                .filter_map(|(tile, &on)| on.then_some(tile))
                .collect()
        };
        let (drier, settled) = (tiles(|r| &r.drier), tiles(|r| &r.settled));
        if !drier.is_empty() {
            terrain.mark_water_tiles(drier);
        }
        if !settled.is_empty() {
            terrain.mark_tiles(settled);
        }
    }

    /// It knows nothing of places, and the date stays.
    fn shift(&mut self, _: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        self.grid = *terrain.grid();
        Ok(ShiftOutcome::Kept)
    }

    fn save_state(&self, _: &Terrain) -> Vec<u8> {
        let mut memory = StateWriter::default();
        self.calendar.save_state(&mut memory);
        memory.finish()
    }

    fn load_state(&mut self, memory: &[u8], _: &Terrain) -> Result<(), StateError> {
        let mut memory = StateReader::new(M, memory);
        let calendar = Calendar::load_state(&mut memory)?;
        memory.finish()?;
        self.calendar = calendar;
        Ok(())
    }
}

impl EvaporationSolver {
    /// Time goes on; returns the depth that dries meanwhile. units: m
    pub(crate) fn pass(&mut self, dt: f32) -> f64 {
        let time = self.calendar.pass(self.settings.season.as_ref(), dt);
        f64::from(self.settings.mm_per_hour) / MM_PER_HOUR * time
    }
}

#[derive(Clone, Debug, Default)]
struct BandResult {
    /// Sum of depths. units: m
    evaporated: f64,
    /// Tiles that lost water.
    drier: Vec<bool>,
    /// Tiles on which sediment settled.
    settled: Vec<bool>,
}

struct Band<'a> {
    width: usize,
    water: &'a mut [f32],
    rest: &'a mut [f32],
    suspended: &'a mut [f32],
    soil: &'a mut [f32],
    bedrock: &'a mut [f32],
    bedrock_low: &'a mut [f32],
    result: &'a mut BandResult,
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn dry_band(band: Band, depth: f32) {
    let tiles = band.width.div_ceil(BAND);
    band.result.drier = vec![false; tiles];
    band.result.settled = vec![false; tiles];
    let mut before = [[0.0; BAND]; 2];
    for first in (0..band.water.len()).step_by(band.width) {
        for tile in 0..tiles {
            let start = first + tile * BAND;
            let end = (start + BAND).min(first + band.width);
            let water = &mut band.water[start..end];
            // Dry land is not written.
            if water.iter().fold(0, |any, water| any | water.to_bits()) == 0 {
                continue;
            }
            let [wet, wet_rest] = &mut before;
            let wet = &mut wet[..end - start];
            let wet_rest = &mut wet_rest[..end - start];
            let rest = &mut band.rest[start..end];
            wet.copy_from_slice(water);
            wet_rest.copy_from_slice(rest);
            dry(water, rest, depth);
            band.result.evaporated += lost([wet, wet_rest], [water, rest]);
            band.result.drier[tile] = true;
            let emptied = |(wet, water): (&f32, &f32)| (*wet > 0.0) & (*water == 0.0);
            let pairs = wet.iter().zip(&*water);
            if pairs.fold(0, |any, pair| any | u32::from(emptied(pair))) == 0 {
                continue;
            }
            for (cell, wet) in (start..end).zip(&*wet) {
                if emptied((wet, &band.water[cell])) && band.suspended[cell] > 0.0 {
                    settle(
                        &mut band.suspended[cell],
                        &mut band.soil[cell],
                        &mut band.bedrock[cell],
                        &mut band.bedrock_low[cell],
                    );
                    band.result.settled[tile] = true;
                }
            }
        }
    }
}

/// Takes `depth` off each cell, or all there is. It selects and never branches,
/// and counting is left to another loop: so the compiler makes vectors of both.
#[inline(always)]
fn dry(water: &mut [f32], rest: &mut [f32], depth: f32) {
    for (water, rest) in water.iter_mut().zip(rest) {
        let mut left = (*water, *rest);
        add_exactly(&mut left.0, &mut left.1, -depth);
        let wet = (*water > depth) & (left.0 > 0.0);
        *water = if wet { left.0 } else { 0.0 };
        *rest = if wet { left.1 } else { 0.0 };
    }
}

/// Sum of what water (and its rest) lost, in a fixed order of eight lanes.
#[inline(always)]
fn lost(before: [&[f32]; 2], after: [&[f32]; 2]) -> f64 {
    let mut lanes = [0.0; 8];
    let [(wet, wet_tail), (wet_rest, wet_rest_tail)] = before.map(|l| l.as_chunks::<8>());
    let [(water, water_tail), (rest, rest_tail)] = after.map(|l| l.as_chunks::<8>());
    for ((wet, wet_rest), (water, rest)) in wet.iter().zip(wet_rest).zip(water.iter().zip(rest)) {
        for lane in 0..8 {
            lanes[lane] += gain((water[lane], rest[lane]), (wet[lane], wet_rest[lane]));
        }
    }
    let tail = wet_tail.iter().zip(wet_rest_tail);
    let tail = tail.zip(water_tail.iter().zip(rest_tail));
    let tail =
        tail.map(|((wet, wet_rest), (water, rest))| gain((*water, *rest), (*wet, *wet_rest)));
    lanes.iter().sum::<f64>() + tail.sum::<f64>()
}

/// Lets a cell's load fall. What the soil's number cannot hold goes to the
/// bedrock's rest: a river bed dries often, and the rounding would add up.
#[inline(always)]
fn settle(suspended: &mut f32, soil: &mut f32, bedrock: &mut f32, rest: &mut f32) {
    let mut error = 0.0;
    add_exactly(soil, &mut error, *suspended);
    add_exactly(bedrock, rest, error);
    *suspended = 0.0;
}
