//! Runs the pipe model: splits a step so that it is stable, and sweeps only
//! where there is water. Plain Rust, no app needed.

use super::{
    PipeModel,
    published::PublishedState,
    rows::Step,
    sweep::{Band, Halo, OldRow, Report, SIDE, Scratch, band_rows, beyond, sweep, wet},
};
use crate::{
    models::{
        Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{
        Border, FILM, Flow, Grid, Layer, LayerGroup, SettingsError, Terrain, TerrainCursor,
        relative_ground,
    },
};
use bevy::prelude::SystemSet;
use core::ops::Range;
use std::sync::Mutex;

/// Largest Courant number of a sub-step: signals run less than this many cells.
pub(crate) const COURANT: f32 = 0.7;

/// How fast a discharge spreads to the faces before and behind it. units: m/s
const CALMING: f32 = 1.0;

/// Columns of a dry tile that take part beside a wet one. Water reaches a cell in
/// a sub-step; a vector of them costs no more than one.
const REACH: usize = 8;

/// Runs [`PipeModel`] on a terrain.
#[derive(Debug)]
pub struct PipeSolver {
    settings: PipeModel,
    grid: Grid,
    /// Terrain and revision of its water that `tiles` and `pace` know.
    cursor: TerrainCursor,
    /// State of each tile, see [`wet`].
    tiles: Vec<u8>,
    /// Squared wave speed: the most of g·d + v² over all cells. units: m²/s²
    pace: f32,
    /// Erosion time that the last step could not cover. units: s
    lost: f32,
    halos: Vec<Halo>,
    strips: Vec<Vec<Range<usize>>>,
    reports: Vec<Report>,
    changed: Changed,
    /// A worker takes one and puts it back.
    scratch: Mutex<Vec<Scratch>>,
    /// Of the source's own method.
    published: Option<PublishedState>,
}

impl Clone for PipeSolver {
    fn clone(&self) -> Self {
        Self {
            published: self.published.clone(),
            ..Self::with(self.settings.clone(), self.grid)
        }
    }
}

impl Solver for PipeSolver {
    type Settings = PipeModel;

    const NAME: &'static str = "PipeModel";
    const KEY: &'static str = "pipe";
    const READS: &'static [Layer] = &[
        Layer::Bedrock,
        Layer::Soil,
        Layer::Water,
        Layer::Suspended,
        Layer::Hardness,
    ];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Water, Layer::Suspended];

    const MOVES_WATER: bool = true;

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Water
    }

    fn new(settings: PipeModel, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self::with(settings, *grid))
    }

    fn check_settings(settings: &PipeModel) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &PipeModel {
        &self.settings
    }

    fn set_settings(&mut self, settings: PipeModel) -> Result<(), SettingsError> {
        settings.check()?;
        if settings.published.is_some() {
            // It does not keep track of where the water is.
            self.cursor = TerrainCursor::default();
        }
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        terrain.ensure_flow();
        if let Some(settings) = &self.settings.published {
            let new = || PublishedState::new(&self.grid);
            let state = self.published.get_or_insert_with(new);
            state.step(settings, &workers, terrain, dt);
            self.lost = 0.0;
            return;
        }
        self.look(terrain);
        self.changed.clear(self.tiles.len());
        self.lost = dt;
        for _ in 0..self.settings.max_substeps {
            let longest = self.longest_step();
            // Equal parts, so that none is tiny.
            let part = self.lost / (self.lost / longest).ceil().max(1.0);
            if !self.sub_step(&workers, terrain, part.min(longest)) {
                // Nothing is wet, and nothing can get wet.
                self.lost = 0.0;
            } else {
                self.lost -= part.min(longest);
            }
            if self.lost <= dt * 1e-6 {
                self.lost = 0.0;
                break;
            }
        }
        self.changed.mark(terrain);
        self.cursor = TerrainCursor::at(terrain);
    }

    fn time_lost(&self) -> f32 {
        self.lost
    }

    fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        let mut writer = StateWriter::default();
        let knows = self.cursor.is_at(terrain);
        writer.write_count(knows.into());
        if knows {
            writer.write_count(self.cursor.revision(LayerGroup::Water));
            writer.write_real(self.pace.into());
            writer.write_words(self.tiles.iter().map(|&state| state.into()));
        }
        writer.write_count(self.published.is_some().into());
        if let Some(published) = &self.published {
            published.save_state(&mut writer);
        }
        writer.finish()
    }

    fn load_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let mut reader = StateReader::new(Self::NAME, bytes);
        let mut new = Self::with(self.settings.clone(), self.grid);
        reader.ensure_grid(&self.grid, terrain.grid())?;
        if reader.read_count()? != 0 {
            let seen = reader.read_count()?;
            let cursor = TerrainCursor::restored(terrain, LayerGroup::Water, seen);
            new.cursor = cursor.ok_or_else(|| {
                let newest = TerrainCursor::at(terrain).revision(LayerGroup::Water);
                reader.error(format!(
                    "the solver has seen revision {seen} of the water, but the terrain is at {newest}"
                ))
            })?;
            let pace = 0.0..=f64::from(f32::MAX);
            new.pace = reader.read_real_in(pace, "the squared wave speed, in m²/s²,")? as f32;
            let states = reader.read_words(new.tiles.len())?;
            for (tile, state) in new.tiles.iter_mut().zip(states) {
                *tile = state as u8;
            }
        }
        if reader.read_count()? != 0 {
            new.published = Some(PublishedState::load_state(&mut reader, &self.grid)?);
        }
        reader.finish()?;
        *self = new;
        Ok(())
    }
}

/// Tiles that a step changed.
#[derive(Debug, Default)]
struct Changed {
    ground: Vec<bool>,
    water: Vec<bool>,
}

impl Changed {
    /// Clears all flags, without a new allocation.
    fn clear(&mut self, tiles: usize) {
        for flags in [&mut self.ground, &mut self.water] {
            flags.clear();
            flags.resize(tiles, false);
        }
    }

    fn mark(&self, terrain: &mut Terrain) {
        if self.ground.contains(&true) {
            terrain.mark_tiles(numbers(&self.ground));
        }
        if self.water.contains(&true) {
            terrain.mark_water_tiles(numbers(&self.water));
        }
    }
}

/// Numbers of the tiles that are flagged.
fn numbers(flags: &[bool]) -> impl Iterator<Item = usize> {
    (0..).zip(flags).filter_map(|(tile, on)| on.then_some(tile))
}

impl PipeSolver {
    fn with(settings: PipeModel, grid: Grid) -> Self {
        let bands = grid.height().div_ceil(band_rows(grid.height()));
        Self {
            settings,
            grid,
            cursor: TerrainCursor::default(),
            tiles: vec![0; grid.tiles().element_product() as usize],
            pace: 0.0,
            lost: 0.0,
            halos: vec![Halo::default(); bands],
            strips: vec![Vec::new(); bands],
            reports: vec![Report::default(); bands],
            changed: Changed::default(),
            scratch: Mutex::default(),
            published: None,
        }
    }

    /// The longest sub-step that is stable for the water as the solver last saw
    /// it. units: s
    pub fn longest_step(&self) -> f32 {
        longest_step(self.pace, self.grid.cell_size())
    }

    /// Takes over what others did to the water.
    fn look(&mut self, terrain: &Terrain) {
        let changes = self.cursor.changes(terrain).shift_as_replaced();
        if changes.replaced() {
            self.tiles.fill(0);
            self.pace = fastest(terrain);
        }
        let mut deepest = 0u32;
        for tile in changes.water() {
            let (columns, rows) = terrain.grid().tile_cells(tile);
            let number = (tile.y * terrain.grid().tiles().x + tile.x) as usize;
            let mut state = 0;
            for row in rows.clone() {
                let first = row * terrain.grid().width();
                let cells = first + columns.start..first + columns.end;
                let water = &terrain.water()[cells.clone()];
                let depths = water.iter().map(|depth| depth.to_bits());
                let depth = depths.fold(0, u32::max);
                let loads = terrain.suspended()[cells].iter();
                let load = loads.fold(0, |any, load| any | load.to_bits());
                deepest = deepest.max(depth);
                if depth <= FILM.to_bits() && load == 0 {
                    continue;
                }
                state |= wet::row(water, wet::near_edges(row - rows.start, rows.len()));
            }
            self.tiles[number] = state | wet::before(self.tiles[number]);
        }
        let deepest = f32::from_bits(deepest);
        self.pace = self.pace.max(self.settings.gravity * deepest);
    }

    /// Finds the runs of columns that take part: wet tiles, and as much of their
    /// neighbors as water may reach. Returns whether there are any.
    fn find_strips(&mut self, terrain: &Terrain) -> bool {
        let tiles = self.grid.tiles();
        let (wide, high) = (tiles.x as usize, tiles.y as usize);
        let sea = |border: Border| matches!(border, Border::Sea { .. });
        let borders = *terrain.borders();
        let state = &self.tiles;
        let has = |x: usize, y: usize, bits: u8| state[y * wide + x] & bits != 0;
        let all_of_it = |x: usize, y: usize| {
            has(x, y, wet::ANY | wet::BEFORE)
                || (y > 0 && has(x, y - 1, wet::SOUTH))
                || (y + 1 < high && has(x, y + 1, wet::NORTH))
                || (x == 0 && sea(borders.west))
                || (x + 1 == wide && sea(borders.east))
                || (y == 0 && sea(borders.north))
                || (y + 1 == high && sea(borders.south))
        };
        let mut any = false;
        let tall = band_rows(self.grid.height()) / SIDE;
        for (band, strips) in self.strips.iter_mut().enumerate() {
            strips.clear();
            let rows = band * tall..((band + 1) * tall).min(high);
            let mut add = |columns: Range<usize>| match strips.last_mut() {
                Some(last) if last.end >= columns.start => last.end = columns.end,
                _ => strips.push(columns),
            };
            for x in 0..wide {
                let (start, end) = (x * SIDE, ((x + 1) * SIDE).min(self.grid.width()));
                if rows.clone().any(|y| all_of_it(x, y)) {
                    add(start..end);
                    continue;
                }
                if x > 0 && rows.clone().any(|y| has(x - 1, y, wet::EAST)) {
                    add(start..(start + REACH).min(end));
                }
                if x + 1 < wide && rows.clone().any(|y| has(x + 1, y, wet::WEST)) {
                    add(end.saturating_sub(REACH).max(start)..end);
                }
            }
            any |= !strips.is_empty();
        }
        any
    }

    fn sub_step(&mut self, workers: &Workers, terrain: &mut Terrain, dt: f32) -> bool {
        if !self.find_strips(terrain) {
            self.pace = 0.0;
            return false;
        }
        let (width, height) = (self.grid.width(), self.grid.height());
        let wide = self.grid.tiles().x as usize;
        let step = self.settings.constants(&self.grid, terrain.datum(), dt);
        let borders = *terrain.borders();

        let old: &Terrain = terrain;
        let bands = self.halos.iter_mut().zip(&self.strips).enumerate();
        let bands = bands.filter(|(_, (_, strips))| !strips.is_empty());
        workers.each(bands, |(band, (halo, strips))| {
            save_halo(halo, old, band, strips);
        });
        for (tile, state) in self.tiles.iter().enumerate() {
            self.changed.water[tile] |= *state != 0;
        }

        let layers = terrain.layers_mut();
        let Some(flow) = layers.flow else {
            return false;
        };
        let Flow {
            east,
            south,
            west_border,
            north_border,
        } = flow;
        let rows = band_rows(height);
        let (cells, band_tiles) = (rows * width, rows / SIDE * wide);
        let mut bedrock = layers.bedrock.chunks_mut(cells);
        let mut bedrock_low = layers.bedrock_low.chunks_mut(cells);
        let mut soil = layers.soil.chunks_mut(cells);
        let mut water = layers.water.chunks_mut(cells);
        let mut water_low = layers.water_low.chunks_mut(cells);
        let mut suspended = layers.suspended.chunks_mut(cells);
        let mut hardness = layers.hardness.map(|hardness| hardness.chunks(cells));
        let mut east = east.chunks_mut(cells);
        let mut south = south.chunks_mut(cells);
        let mut west_border = west_border.chunks_mut(rows);
        let mut north_border = Some(&mut north_border[..]);
        let mut tiles = self.tiles.chunks_mut(band_tiles);
        let mut reports = self.reports.iter_mut();
        let bands = self.halos.iter().zip(&self.strips).enumerate();
        let bands = bands.map_while(|(number, (halo, strips))| {
            let first = number * rows;
            Some(Band {
                first,
                rows: rows.min(height - first),
                height,
                width,
                borders,
                bedrock: bedrock.next()?,
                bedrock_low: bedrock_low.next()?,
                soil: soil.next()?,
                water: water.next()?,
                water_low: water_low.next()?,
                suspended: suspended.next()?,
                hardness: hardness.as_mut().and_then(Iterator::next),
                east: east.next()?,
                south: south.next()?,
                west_border: west_border.next()?,
                north_border: north_border.take(),
                halo,
                strips,
                tiles: tiles.next()?,
                report: reports.next()?,
            })
        });
        let scratch = &self.scratch;
        workers.each(bands, |band: Band| {
            band.report.clear(band.tiles.len());
            if band.strips.is_empty() {
                return;
            }
            for strip in band.strips {
                for row in band.tiles.chunks_mut(wide) {
                    for tile in &mut row[strip.start / SIDE..strip.end.div_ceil(SIDE)] {
                        *tile = wet::before(*tile);
                    }
                }
            }
            let taken = scratch.lock().ok().and_then(|mut pool| pool.pop());
            let mut own = taken.unwrap_or_default();
            own.fit(width);
            sweep(band, &step, &mut own);
            if let Ok(mut pool) = scratch.lock() {
                pool.push(own);
            }
        });

        // Bands are entered in the ledger in their order, so that it does not depend
        // on which worker was first.
        let mut pace = 0.0f32;
        for (band, report) in self.reports.iter().enumerate() {
            report.add_to(layers.account, self.grid.cell_area());
            pace = pace.max(report.pace);
            for (tile, ground) in report.ground_changed.iter().enumerate() {
                self.changed.ground[band * band_tiles + tile] |= ground;
            }
        }
        for (tile, state) in self.tiles.iter().enumerate() {
            self.changed.water[tile] |= *state != 0;
        }
        self.pace = pace;
        true
    }
}

impl PipeModel {
    /// Constants of a sub-step.
    pub(crate) fn constants(&self, grid: &Grid, datum: f32, dt: f32) -> Step {
        let s = self;
        let l = grid.cell_size();
        let squared_roughness = s.roughness * s.roughness;
        Step {
            datum,
            per_length: dt / l,
            push: s.gravity * dt / l,
            drag: s.gravity * squared_roughness * dt,
            calm: (CALMING * dt / l).min(0.25),
            gravity: s.gravity,
            stress: 0.5 * squared_roughness,
            carving: s.carving * dt,
            threshold: s.threshold,
            carrying: s.carrying,
            settling: s.settling * dt,
            smoothing: s.smoothing / l,
            rock_per_soil: s.bedrock,
        }
    }
}

/// The longest stable sub-step where the most of g·d + v² is `pace`. units: s
pub(crate) fn longest_step(pace: f32, cell_size: f32) -> f32 {
    // (√(g·d) + v)² ≤ 2·(g·d + v²)
    let signal = (2.0 * pace).sqrt();
    COURANT * cell_size / signal.max(1e-3)
}

/// Most of v² on a terrain whose water another solver moved. units: m²/s²
fn fastest(terrain: &Terrain) -> f32 {
    let size = terrain.size();
    let cells = (0..size.y).flat_map(|y| (0..size.x).map(move |x| (x, y)));
    match terrain.flow() {
        Some(_) => cells.fold(0.0, |most: f32, (x, y)| {
            most.max(terrain.velocity(x, y).length_squared())
        }),
        None => 0.0,
    }
}

/// Saves the old rows around a band, as far as its strips reach.
fn save_halo(halo: &mut Halo, terrain: &Terrain, band: usize, strips: &[Range<usize>]) {
    let height = terrain.grid().height() as isize;
    let rows = band_rows(terrain.grid().height()) as isize;
    let first = band as isize * rows;
    let end = (first + rows).min(height);
    let (Some(from), Some(to)) = (strips.first(), strips.last()) else {
        return;
    };
    let columns = from.start..to.end;
    let numbers = [first - 3, first - 2, first - 1, end, end + 1, end + 2];
    for (row, number) in halo.rows.iter_mut().zip(numbers) {
        if (-1..=height).contains(&number) {
            row.save(terrain, number, &columns);
        }
    }
    if let Some(flow) = terrain.flow()
        && band > 0
    {
        let width = terrain.grid().width();
        let fourth = (first as usize - 4) * width;
        halo.fourth.resize(width, 0.0);
        halo.fourth[columns.clone()]
            .copy_from_slice(&flow.south[fourth + columns.start..fourth + columns.end]);
    }
}

impl OldRow {
    fn save(&mut self, terrain: &Terrain, row: isize, columns: &Range<usize>) {
        let width = terrain.grid().width();
        self.ground.resize(width + 2, 0.0);
        self.water.resize(width + 2, 0.0);
        self.water_low.resize(width, 0.0);
        self.suspended.resize(width, 0.0);
        self.along.resize(width + 1, 0.0);
        self.south.resize(width, 0.0);
        if row < 0 || row >= terrain.grid().height() as isize {
            self.save_ghost(terrain, row < 0, columns);
        } else {
            self.save_real(terrain, row as usize, columns);
        }
    }

    fn save_real(&mut self, terrain: &Terrain, row: usize, columns: &Range<usize>) {
        let width = terrain.grid().width();
        // A cell more at each side, for the slopes there.
        let from = columns.start.saturating_sub(1);
        let to = (columns.end + 1).min(width);
        let cells = row * width + from..row * width + to;
        let layers = [terrain.bedrock(), terrain.bedrock_low(), terrain.soil()];
        let [bedrock, rest, soil] = layers.map(|layer| &layer[cells.clone()]);
        let water = &terrain.water()[cells.clone()];
        let ground = &mut self.ground[from + 1..=to];
        for x in 0..to - from {
            ground[x] = relative_ground(bedrock[x], rest[x], soil[x], terrain.datum());
        }
        self.water[from + 1..=to].copy_from_slice(water);
        self.water_low[from..to].copy_from_slice(&terrain.water_low()[cells.clone()]);
        self.suspended[from..to].copy_from_slice(&terrain.suspended()[cells.clone()]);
        let Some(flow) = terrain.flow() else {
            return;
        };
        self.along[from + 1..=to].copy_from_slice(&flow.east[cells.clone()]);
        self.along[0] = flow.west_border[row];
        self.south[from..to].copy_from_slice(&flow.south[cells]);
        let borders = terrain.borders();
        let (ground, water) = (&mut self.ground, &mut self.water);
        if columns.start == 0 {
            let inner = ground[2.min(width)];
            let edge = [ground[1], water[1]];
            [ground[0], water[0]] = beyond(borders.west, terrain.datum(), edge, inner);
        }
        if columns.end == width {
            let inner = ground[(width - 1).max(1)];
            let edge = [ground[width], water[width]];
            let outer = beyond(borders.east, terrain.datum(), edge, inner);
            [ground[width + 1], water[width + 1]] = outer;
        }
    }

    /// What lies beyond the north or south border.
    fn save_ghost(&mut self, terrain: &Terrain, north: bool, columns: &Range<usize>) {
        let (width, height) = (terrain.grid().width(), terrain.grid().height());
        let (edge, inner) = match north {
            true => (0, 1.min(height - 1)),
            false => (height - 1, height.saturating_sub(2)),
        };
        let border = match north {
            true => terrain.borders().north,
            false => terrain.borders().south,
        };
        for x in columns.clone() {
            let cell = edge * width + x;
            let ground = terrain.relative_ground(cell);
            let inner = terrain.relative_ground(inner * width + x);
            let water = terrain.water()[cell];
            let outer = beyond(border, terrain.datum(), [ground, water], inner);
            [self.ground[x + 1], self.water[x + 1]] = outer;
        }
        // Slopes along the border are not asked for.
        let (west, east) = (columns.start, columns.end + 1);
        (self.ground[west], self.water[west]) = (self.ground[west + 1], self.water[west + 1]);
        (self.ground[east], self.water[east]) = (self.ground[east - 1], self.water[east - 1]);
        self.suspended[columns.clone()].fill(0.0);
        self.along[columns.start..=columns.end].fill(0.0);
        match terrain.flow() {
            Some(flow) if north => {
                let border = &flow.north_border[columns.clone()];
                self.south[columns.clone()].copy_from_slice(border);
            }
            Some(flow) => {
                // Beyond the border water flows on as it does there.
                let row = (height - 1) * width;
                let border = &flow.south[row + columns.start..row + columns.end];
                self.south[columns.clone()].copy_from_slice(border);
            }
            None => self.south[columns.clone()].fill(0.0),
        }
    }
}
