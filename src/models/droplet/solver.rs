//! Lets batches of drops fall on a terrain. Plain Rust, no app needed.

mod state;

use super::{
    Droplets,
    brush::ErosionBrush,
    lakes::Lakes,
    streams::{Passed, StreamCell},
    trace::{Bed, Physics, Scene, Sums, Traces, follow},
};
use crate::{
    models::{ShiftOutcome, Solver, refresh_ground, shift_plane, solver_state::StateError},
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{
        Grid, Layer, SettingsError, TILE, Terrain, TerrainCursor, add_exactly, relative_ground,
    },
};
use bevy::{
    math::{IVec2, Vec2, Vec3},
    prelude::SystemSet,
};
use multiversion::multiversion;
use rand::Rng;
use rand_pcg::Pcg32;

/// Drops that one worker takes at a time.
const CHUNK: usize = 128;

/// Batches between two renewals of the record of streams.
const STREAMS_INTERVAL: usize = 4;

/// Fewest batches between two searches for lakes.
const LAKES_INTERVAL: usize = 2;

/// Cells of the land for a drop between two searches: they take time for each.
const LAKES_CELLS: usize = 16;

/// How deep lakes cut down their outlets for each metre of water that falls.
const BREACHING: f64 = 5.0;

/// Drops that one step may let fall on a cell, whatever its length.
const MAX_DROPS_PER_CELL: f64 = 16.0;

/// Runs [`Droplets`] on a terrain.
#[derive(Clone, Debug)]
pub struct DropletSolver {
    settings: Droplets,
    pub(crate) grid: Grid,
    /// Terrain and revision that `ground` shows.
    pub(crate) cursor: TerrainCursor,
    datum: f32,
    ground: Vec<f32>,
    visits: Vec<i32>,
    /// Tiles with visits of the last batch.
    visited: Vec<bool>,
    streams: Vec<StreamCell>,
    lakes: Lakes,
    /// Drops that may still fall before the lakes are looked for again.
    lakes_hold_for: usize,
    drops_since_renewal: usize,
    workers: Vec<(Sums, Traces)>,
    /// Drops released so far: each draws its start from its own number.
    released: u64,
    published_steps: u64,
    /// Fraction of a drop that earlier steps left over.
    due: f64,
}

impl Solver for DropletSolver {
    type Settings = Droplets;

    const NAME: &'static str = "Droplets";
    const KEY: &'static str = "droplets";
    const READS: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Water, Layer::Hardness];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Droplets
    }

    fn new(settings: Droplets, grid: &Grid) -> Result<Self, SettingsError> {
        check(&settings, grid)?;
        Ok(Self::blank(settings, *grid))
    }

    fn check_settings(settings: &Droplets) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Droplets {
        &self.settings
    }

    /// Keeps the streams found so far and the count of drops.
    fn set_settings(&mut self, settings: Droplets) -> Result<(), SettingsError> {
        check(&settings, &self.grid)?;
        self.settings = settings;
        Ok(())
    }

    /// As many drops fall as the settings' rate says.
    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if !dt.is_finite() || dt <= 0.0 {
            return;
        }
        let count = self.due_drops(dt);
        self.rain_on(workers, terrain, count);
    }

    /// The count of drops goes on, and streams move with the land.
    fn shift(&mut self, by_tiles: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        let mut new = Self::new(self.settings.clone(), terrain.grid())?;
        new.released = self.released;
        new.published_steps = self.published_steps;
        new.due = self.due;
        new.streams = core::mem::take(&mut self.streams);
        shift_plane(&mut new.streams, terrain.grid(), by_tiles);
        // The same land, of which all ground is to be read anew.
        new.cursor = TerrainCursor::at(terrain);
        new.cursor.forget_tiles();
        new.datum = terrain.datum();
        *self = new;
        Ok(ShiftOutcome::Kept)
    }

    fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        self.write_state(terrain)
    }

    fn load_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        self.read_state(bytes, terrain)
    }
}

impl DropletSolver {
    /// A solver that has seen nothing yet.
    fn blank(settings: Droplets, grid: Grid) -> Self {
        Self {
            settings,
            grid,
            cursor: TerrainCursor::default(),
            datum: 0.0,
            ground: Vec::new(),
            visits: Vec::new(),
            visited: Vec::new(),
            streams: Vec::new(),
            lakes: Lakes::default(),
            lakes_hold_for: 0,
            drops_since_renewal: 0,
            workers: Vec::new(),
            released: 0,
            published_steps: 0,
            due: 0.0,
        }
    }

    /// Drops that fell so far by [`step`](Solver::step) and [`rain`](Self::rain).
    pub fn released(&self) -> u64 {
        self.released
    }

    /// Steps that drops of the source's own method took so far.
    pub fn published_steps(&self) -> u64 {
        self.published_steps
    }

    /// How many drops fall in a step; a fraction of a drop is kept for the next.
    pub(crate) fn due_drops(&mut self, dt: f32) -> u64 {
        let land = self.grid.cells() as f64 * self.grid.cell_area();
        let drops = f64::from(self.settings.rate) * land * f64::from(dt) + self.due;
        // A step of a huge dt is cut short rather than hanging the program.
        let whole = drops
            .floor()
            .min(MAX_DROPS_PER_CELL * self.grid.cells() as f64 + 65_536.0);
        self.due = (drops - drops.floor()).clamp(0.0, 1.0);
        whole as u64
    }

    /// Lets `count` drops fall at random places, beside those of
    /// [`step`](Solver::step).
    pub fn rain(&mut self, terrain: &mut Terrain, count: u64) {
        self.rain_on(Workers::global(), terrain, count);
    }

    /// [`rain`](Self::rain) by other workers; the result is the same.
    pub fn rain_on(&mut self, workers: Workers, terrain: &mut Terrain, count: u64) {
        let start = self.draw(count);
        self.fall(workers, terrain, count, start);
    }

    /// Where the next drops fall, by their number among them.
    pub(crate) fn draw(&mut self, count: u64) -> impl Fn(u64) -> Vec2 + Sync + use<> {
        let (seed, first) = (self.settings.seed, self.released);
        self.released += count;
        let size = self.grid.size().as_vec2();
        move |number: u64| random_unit(seed, first + number) * size - 0.5
    }

    /// Lets one drop fall at each of these world positions. Those outside the
    /// terrain are left out.
    pub fn release(&mut self, terrain: &mut Terrain, positions: &[Vec3]) {
        let starts: Vec<Vec2> = positions
            .iter()
            .filter(|p| terrain.grid().cell_at(**p).is_some())
            .map(|p| terrain.grid().world_to_grid(*p))
            .collect();
        self.fall(Workers::global(), terrain, starts.len() as u64, |n| {
            starts[n as usize]
        });
    }

    /// Drops that fall before the ground is looked at again: one on eight times
    /// the square of the radius. It depends on land and settings alone, so that
    /// the same drops always meet the same ground, and resolution matters little.
    pub(crate) fn batch(&self) -> usize {
        let reach = (self.settings.radius / self.grid.cell_size()).max(1.5);
        let share = 8.0 * f64::from(reach * reach);
        // The ways of a batch are kept: 16 bytes a leg, a quarter of a gigabyte.
        let most = ((1 << 24) / self.settings.max_steps as usize).min(32_768);
        ((self.grid.cells() as f64 / share) as usize).clamp(64, most.max(64))
    }

    fn fall(
        &mut self,
        workers: Workers,
        terrain: &mut Terrain,
        count: u64,
        start: impl Fn(u64) -> Vec2 + Sync,
    ) {
        if !self.grid.matches(terrain.grid()) || count == 0 {
            return;
        }
        if self.settings.published.is_some() {
            self.fall_as_published(terrain, count, start);
            return;
        }
        // Between fewer than two cells there is no slope to run down.
        if self.grid.size().min_element() < 2 {
            return;
        }
        self.prepare(&workers, terrain);
        let batch = self.batch() as u64;
        let physics = Physics::new(&self.settings, &self.grid, batch as usize);
        let any_water = terrain.water().iter().any(|&depth| depth > 0.0);
        let mut first = 0;
        while first < count {
            let drops = batch.min(count - first);
            let start = |n| start(first + n as u64);
            self.fall_batch(
                &workers,
                terrain,
                &physics,
                any_water,
                drops as usize,
                &start,
            );
            first += drops;
        }
    }

    /// Sizes the scratch planes, and takes over what others changed.
    fn prepare(&mut self, workers: &Workers, terrain: &Terrain) {
        let cells = self.grid.cells();
        let tiles = self.grid.tiles().element_product() as usize;
        self.visits.resize(cells, 0);
        self.visited.resize(tiles, false);
        let stream_cells = if self.settings.streams.is_some() {
            cells
        } else {
            0
        };
        self.streams.resize(stream_cells, StreamCell::default());
        // Each worker has planes of its own: bound them to half a gigabyte.
        let bytes = cells * size_of::<i32>() + stream_cells * size_of::<Passed>();
        let affordable = (1usize << 29) / bytes;
        let count = workers.count().min(affordable).clamp(1, 16);
        // Never fewer than before: they hold what passed since the last renewal.
        let count = count.max(self.workers.len());
        self.workers.resize_with(count, Default::default);
        for (sums, _) in &mut self.workers {
            sums.plane.resize(cells, 0);
            sums.passed.resize(stream_cells, Passed::default());
            sums.touched.resize(tiles, false);
        }
        let is_known = self.cursor.is_at(terrain);
        if !is_known {
            // Another land has other streams.
            self.streams.fill(StreamCell::default());
            for (sums, _) in &mut self.workers {
                sums.passed.fill(Passed::default());
            }
            self.drops_since_renewal = 0;
        }
        if !is_known || self.datum != terrain.datum() {
            // Levels are counted from the datum.
            self.datum = terrain.datum();
            self.lakes_hold_for = 0;
        }
        refresh_ground(&mut self.ground, &mut self.cursor, terrain);
    }

    fn fall_batch(
        &mut self,
        workers: &Workers,
        terrain: &mut Terrain,
        physics: &Physics,
        any_water: bool,
        drops: usize,
        start: &(impl Fn(usize) -> Vec2 + Sync),
    ) {
        let lakes_are_new = self.settings.streams.is_some() && self.lakes_hold_for == 0;
        if self.settings.streams.is_some() {
            if lakes_are_new {
                self.lakes_hold_for = self.lakes_interval();
                let size = (self.grid.width(), self.grid.height());
                let lakes = &mut self.lakes;
                lakes.find(&self.ground, size, physics.lake_depth);
            }
            self.lakes_hold_for = self.lakes_hold_for.saturating_sub(drops);
        } else {
            self.lakes = Lakes::default();
            self.lakes_hold_for = 0;
            self.drops_since_renewal = 0;
        }
        let scene = Scene {
            ground: &self.ground,
            water: any_water.then(|| terrain.water()),
            streams: &self.streams,
            lakes: &self.lakes,
        };
        let starts = starts_of(drops, start, &self.grid);
        for (_, traces) in &mut self.workers {
            traces.clear();
        }
        workers.share(
            &mut self.workers,
            drops.div_ceil(CHUNK),
            |(sums, traces), chunk| {
                let end = ((chunk + 1) * CHUNK).min(starts.len());
                let starts = &starts[chunk * CHUNK..end];
                follow(physics, &scene, starts, traces, sums);
            },
        );
        self.gather_visits(workers);

        let bed = Bed {
            ground: &self.ground,
            visits: &self.visits,
            soil: terrain.soil(),
            hardness: terrain.hardness(),
        };
        workers.each(&mut self.workers, |(sums, traces)| {
            traces.exchange(physics, &bed, sums);
        });
        if lakes_are_new {
            self.breach_lakes(terrain, physics);
        }
        self.apply(workers, terrain, physics);
        self.drops_since_renewal += drops;
        if self.drops_since_renewal >= STREAMS_INTERVAL * self.batch() {
            self.renew_streams(workers, physics.steps_per_leg);
        }
    }

    /// Drops between two searches for lakes.
    fn lakes_interval(&self) -> usize {
        (LAKES_INTERVAL * self.batch()).max(self.grid.cells() / LAKES_CELLS)
    }

    /// Lets lakes cut down their outlets; what is cut leaves over the border.
    fn breach_lakes(&mut self, terrain: &Terrain, physics: &Physics) {
        let drops = self.lakes_interval() as f64;
        let land = self.grid.cell_area() * self.grid.cells() as f64;
        let dig = BREACHING * drops * f64::from(self.settings.volume) / land;
        let Some((sums, _)) = self.workers.first_mut() else {
            return;
        };
        let width = self.grid.width();
        let (tiles_x, tile) = (self.grid.tiles().x as usize, TILE as usize);
        self.lakes.breach(width, dig as f32, |cell, depth| {
            let hardness = terrain.hardness().map_or(0.0, |hardness| hardness[cell]);
            let soft = terrain.soil()[cell].min(depth);
            let depth = soft + (depth - soft) * (1.0 - hardness);
            // A batch's own sum is at most twice that, see `Physics::new`.
            let units = (depth / physics.unit).min((1 << 29) as f32) as i32;
            sums.plane[cell] -= units;
            sums.taken += i64::from(units);
            sums.left += i64::from(units);
            sums.touched[cell / width / tile * tiles_x + cell % width / tile] = true;
        });
    }

    /// Sums the workers' visits and clears their planes.
    fn gather_visits(&mut self, workers: &Workers) {
        let width = self.grid.width();
        let touched = self.touched_tiles();
        // Those of the batch before are cleared: a brush that reaches over a
        // tile's edge reads visits there too.
        let former = core::mem::replace(&mut self.visited, touched.clone());
        let touched: Vec<bool> = touched.iter().zip(&former).map(|(a, b)| a | b).collect();
        let mut planes = Vec::new();
        for (sums, _) in &mut self.workers {
            planes.push(bands(&mut sums.plane, &sums.touched, width));
        }
        let mut jobs = Vec::new();
        for (visits, touched) in bands(&mut self.visits, &touched, width) {
            let planes: Vec<_> = planes.iter_mut().filter_map(Iterator::next).collect();
            jobs.push((visits, planes, touched));
        }
        workers.each(jobs, |(visits, mut planes, touched)| {
            for (tile, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
                for span in tile_spans(visits.len(), width, tile) {
                    let total = &mut visits[span.clone()];
                    total.fill(0);
                    for (plane, _) in planes.iter_mut().filter(|(_, t)| t[tile]) {
                        for (total, visits) in total.iter_mut().zip(&mut plane[span.clone()]) {
                            *total += core::mem::take(visits);
                        }
                    }
                }
            }
        });
        drop(planes);
        for (sums, _) in &mut self.workers {
            sums.touched.fill(false);
        }
    }

    /// Blends what passed since the last time into the record of streams.
    fn renew_streams(&mut self, workers: &Workers, steps_per_leg: u32) {
        let Some(settings) = self.settings.streams else {
            return;
        };
        let drops = core::mem::take(&mut self.drops_since_renewal);
        // Every drop stands for an equal part of the land, and visits are
        // counted once a leg.
        let land = self.grid.cell_area() * self.grid.cells() as f64;
        let area_per_visit = (land * f64::from(steps_per_leg) / drops as f64) as f32;
        // A stream is about as wide as the brush: a finer grid has a smaller
        // part of it in each cell.
        let cells_across = (self.settings.radius / self.grid.cell_size()).max(1.0);
        let area_per_visit = area_per_visit * cells_across;
        let batches = drops as f32 / self.batch() as f32;
        let memory = (settings.memory * batches).min(1.0);
        let band = TILE as usize * self.grid.width();
        let passed = self.workers.iter_mut().map(|(sums, _)| &mut sums.passed);
        let mut passed: Vec<_> = passed.map(|plane| plane.chunks_mut(band)).collect();
        let mut jobs = Vec::new();
        for streams in self.streams.chunks_mut(band) {
            let passed: Vec<_> = passed.iter_mut().filter_map(Iterator::next).collect();
            jobs.push((streams, passed));
        }
        workers.each(jobs, |(streams, mut passed)| {
            for (cell, stream) in streams.iter_mut().enumerate() {
                let mut total = Passed::default();
                for plane in &mut passed {
                    total.add(core::mem::take(&mut plane[cell]));
                }
                stream.renew(total, area_per_visit, memory);
            }
        });
    }

    /// Adds the workers' changes to the terrain and clears their planes.
    fn apply(&mut self, workers: &Workers, terrain: &mut Terrain, physics: &Physics) {
        let width = self.grid.width();
        let band = TILE as usize * width;
        let tiles_x = width.div_ceil(TILE as usize);
        let touched = self.touched_tiles();
        let (mut taken, mut left) = (0i64, 0i64);
        let mut planes = Vec::new();
        for (sums, _) in &mut self.workers {
            taken += core::mem::take(&mut sums.taken);
            left += core::mem::take(&mut sums.left);
            planes.push(bands(&mut sums.plane, &sums.touched, width));
        }
        let datum = terrain.datum();
        let layers = terrain.layers_mut();
        let mut bedrock = layers.bedrock.chunks_mut(band);
        let mut rest = layers.bedrock_low.chunks_mut(band);
        let mut soil = layers.soil.chunks_mut(band);
        let mut jobs = Vec::new();
        for (row, ground) in self.ground.chunks_mut(band).enumerate() {
            let (Some(bedrock), Some(rest), Some(soil)) =
                (bedrock.next(), rest.next(), soil.next())
            else {
                break;
            };
            let planes: Vec<_> = planes.iter_mut().filter_map(Iterator::next).collect();
            let touched = &touched[row * tiles_x..][..tiles_x];
            jobs.push((ground, bedrock, rest, soil, planes, touched));
        }
        let unit = f64::from(physics.unit);
        workers.each(
            jobs,
            |(ground, bedrock, rest, soil, mut planes, touched)| {
                for (tile, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
                    for span in tile_spans(ground.len(), width, tile) {
                        let mut units = [0i32; TILE as usize];
                        let units = &mut units[..span.len()];
                        for (plane, _) in planes.iter_mut().filter(|(_, t)| t[tile]) {
                            for (units, part) in units.iter_mut().zip(&mut plane[span.clone()]) {
                                // A batch's sum fits, see `Physics::new`.
                                *units = units.wrapping_add(core::mem::take(part));
                            }
                        }
                        change_row(
                            units,
                            physics.unit,
                            datum,
                            &mut bedrock[span.clone()],
                            &mut rest[span.clone()],
                            &mut soil[span.clone()],
                            &mut ground[span],
                        );
                    }
                }
            },
        );
        drop(planes);
        for (sums, _) in &mut self.workers {
            sums.touched.fill(false);
        }
        let volume = unit * self.grid.cell_area();
        terrain.account.solids.moved += taken as f64 * volume;
        terrain.account.solids.left += left as f64 * volume;
        let changed = (0..touched.len()).filter(|&tile| touched[tile]);
        terrain.mark_tiles(changed);
        self.cursor = TerrainCursor::at(terrain);
    }

    fn touched_tiles(&self) -> Vec<bool> {
        let mut touched = vec![false; self.grid.tiles().element_product() as usize];
        for (sums, _) in &self.workers {
            for (any, one) in touched.iter_mut().zip(&sums.touched) {
                *any |= one;
            }
        }
        touched
    }

    /// The source's serial method on scaled heights; the ledger gets its total.
    fn fall_as_published(
        &mut self,
        terrain: &mut Terrain,
        count: u64,
        start: impl Fn(u64) -> Vec2,
    ) {
        let Some(published) = self.settings.published else {
            return;
        };
        let (width, height) = (self.grid.width(), self.grid.height());
        let scale = published.height_scale * self.grid.cell_size();
        let before: Vec<f32> = terrain.ground_heights().iter().map(|h| h / scale).collect();
        let mut heights = before.clone();
        for number in 0..count {
            // The source counts positions from the grid's corner.
            self.published_steps += published.run(&mut heights, width, height, start(number) + 0.5);
        }
        let mut touched = vec![false; self.grid.tiles().element_product() as usize];
        let tiles_x = self.grid.tiles().x as usize;
        let layers = terrain.layers_mut();
        let (mut cut, mut balance) = (0.0f64, 0.0f64);
        for cell in 0..heights.len() {
            let change = (heights[cell] - before[cell]) * scale;
            if change == 0.0 {
                continue;
            }
            let new_soil = (layers.soil[cell] + change).max(0.0);
            let beyond = f64::from(change) - (f64::from(new_soil) - f64::from(layers.soil[cell]));
            layers.soil[cell] = new_soil;
            add_exactly(
                &mut layers.bedrock[cell],
                &mut layers.bedrock_low[cell],
                beyond as f32,
            );
            balance += f64::from(change);
            cut += f64::from((-change).max(0.0));
            let (x, y) = (cell % width, cell / width);
            touched[y / TILE as usize * tiles_x + x / TILE as usize] = true;
        }
        terrain.account.solids.moved += cut * self.grid.cell_area();
        // The drops end with sediment that nobody puts back.
        terrain.account.solids.lost -= balance * self.grid.cell_area();
        terrain.mark_tiles((0..touched.len()).filter(|&tile| touched[tile]));
    }
}

fn check(settings: &Droplets, grid: &Grid) -> Result<(), SettingsError> {
    settings.check()?;
    let reach = settings.radius / grid.cell_size();
    if settings.published.is_none() && reach > ErosionBrush::MAX_REACH as f32 + 1.0 {
        return Err(SettingsError {
            model: DropletSolver::NAME,
            field: "radius".into(),
            reason: format!(
                "must be at most {} cells, was {} m on cells of {} m",
                ErosionBrush::MAX_REACH + 1,
                settings.radius,
                grid.cell_size()
            ),
        });
    }
    Ok(())
}

/// A worker's plane in bands as high as a tile, each with the tiles it touched.
fn bands<'a, T>(
    plane: &'a mut [T],
    touched: &'a [bool],
    width: usize,
) -> impl Iterator<Item = (&'a mut [T], &'a [bool])> {
    let tiles_x = width.div_ceil(TILE as usize);
    let bands = plane.chunks_mut(TILE as usize * width);
    bands.zip(touched.chunks(tiles_x))
}

/// The cells of a tile's rows within a band of rows as high as a tile.
#[inline]
fn tile_spans(
    band_cells: usize,
    width: usize,
    tile: usize,
) -> impl Iterator<Item = core::ops::Range<usize>> {
    let from = tile * TILE as usize;
    let to = (from + TILE as usize).min(width);
    (0..band_cells / width).map(move |row| row * width + from..row * width + to)
}

/// Adds whole units of change to a row of cells. It does not look for cells
/// without a change, for they come out as they were: no branch, so that the
/// compiler makes vectors of it.
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn change_row(
    units: &[i32],
    unit: f32,
    datum: f32,
    bedrock: &mut [f32],
    rest: &mut [f32],
    soil: &mut [f32],
    ground: &mut [f32],
) {
    let count = units.len();
    let (bedrock, rest) = (&mut bedrock[..count], &mut rest[..count]);
    let (soil, ground) = (&mut soil[..count], &mut ground[..count]);
    for cell in 0..count {
        // In two parts that are exact numbers: 2²⁴ × 64 units at most, and few.
        let most = units[cell].wrapping_add(32) & !63;
        let few = units[cell].wrapping_sub(most);
        let (mut sum, mut beyond) = (soil[cell], 0.0);
        add_exactly(&mut sum, &mut beyond, most as f32 * unit);
        add_exactly(&mut sum, &mut beyond, few as f32 * unit);
        let new_soil = if sum > 0.0 { sum } else { 0.0 };
        // What soil cannot take goes to the bedrock, which keeps a rest.
        let beyond = (sum - new_soil) + beyond;
        soil[cell] = new_soil;
        add_exactly(&mut bedrock[cell], &mut rest[cell], beyond);
        ground[cell] = relative_ground(bedrock[cell], rest[cell], new_soil, datum);
    }
}

/// The starts of a batch. One in the half cell outside the outermost centers is
/// moved in.
#[inline]
pub(crate) fn starts_of(drops: usize, start: impl Fn(usize) -> Vec2, grid: &Grid) -> Vec<Vec2> {
    let last = (grid.size() - 1).as_vec2() - 1e-3;
    let starts = (0..drops).map(|number| start(number).clamp(Vec2::ZERO, last));
    sorted_by_place(&starts.collect::<Vec<Vec2>>(), grid)
}

/// Sorts drops by place, so that a worker's drops share its cache. The
/// sums of a batch do not depend on the order of its drops.
fn sorted_by_place(starts: &[Vec2], grid: &Grid) -> Vec<Vec2> {
    const BLOCK: usize = 16;
    let blocks_x = grid.width() / BLOCK + 1;
    let block = |p: &Vec2| (p.y as usize / BLOCK) * blocks_x + p.x as usize / BLOCK;
    // Counting how many fall into each block tells where its first one goes.
    let mut next = vec![0usize; blocks_x * (grid.height() / BLOCK + 1) + 1];
    for start in starts {
        next[block(start) + 1] += 1;
    }
    for block in 1..next.len() {
        next[block] += next[block - 1];
    }
    let mut sorted = vec![Vec2::ZERO; starts.len()];
    for start in starts {
        let place = &mut next[block(start)];
        sorted[*place] = *start;
        *place += 1;
    }
    sorted
}

/// Two numbers from 0 to 1 that depend on the seed and the drop's number alone.
#[inline]
fn random_unit(seed: u64, number: u64) -> Vec2 {
    let mut random = Pcg32::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number);
    let mut unit = || (random.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
    Vec2::new(unit(), unit())
}
