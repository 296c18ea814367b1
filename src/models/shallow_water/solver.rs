//! Runs implicit shallow water on a terrain. Plain Rust, no app needed.

use super::{
    PublishedShallowWater, ShallowWater,
    ground::Regolith,
    pools::Pools,
    published::History,
    sheet::{BAND, Fluid, Motion, Sheet},
};
use crate::{
    models::{
        ShiftOutcome, Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{Border, Borders, Flow, Grid, Layer, SettingsError, TILE, Terrain, relative_ground},
};
use bevy::{math::IVec2, prelude::SystemSet};

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaterStep {
    pub water: Motion,
    pub exchange: Option<Exchange>,
}

/// What the water does to the ground at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Of the first solve; the others begin with rows and columns in turns.
    pub creep: Motion,
    /// Most solves for the regolith.
    pub solves: u32,
    /// Depth to which water softens ground of hardness 0. units: m
    pub depth: f32,
    /// A solve that changes no level by more than this is the last. units: m
    pub steady: f32,
}

/// Runs [`ShallowWater`] on a terrain. A step is one solve for the water.
#[derive(Debug)]
pub struct ShallowWaterSolver {
    settings: ShallowWater,
    grid: Grid,
    /// Whether the next solve begins with columns.
    columns_first: bool,
    /// Time since the last exchange with the ground. units: s
    elapsed: f64,
    /// Whether it is known that nothing flows.
    pub(crate) calm: bool,
    sheet: Sheet,
    pools: Pools,
    regolith: Regolith,
    /// How the regolith creeps.
    creep: Flow,
    /// Of the source's own method.
    history: Option<History>,
}

impl Clone for ShallowWaterSolver {
    fn clone(&self) -> Self {
        Self {
            columns_first: self.columns_first,
            elapsed: self.elapsed,
            calm: self.calm,
            regolith: self.regolith.clone(),
            creep: self.creep.clone(),
            history: self.history.clone(),
            ..Self::with(self.settings.clone(), self.grid)
        }
    }
}

impl Solver for ShallowWaterSolver {
    type Settings = ShallowWater;

    const NAME: &'static str = "ShallowWater";
    const KEY: &'static str = "shallow_water";
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

    fn new(settings: ShallowWater, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self::with(settings, *grid))
    }

    fn check_settings(settings: &ShallowWater) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &ShallowWater {
        &self.settings
    }

    fn set_settings(&mut self, settings: ShallowWater) -> Result<(), SettingsError> {
        settings.check()?;
        if settings.published.is_none() {
            // The discharges say how the water moves.
            self.history = None;
        }
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        terrain.ensure_flow();
        if !(is_wet(terrain) || has_sea(terrain.borders())) {
            self.stop_flow(terrain);
            return;
        }
        match self.settings.published.clone() {
            Some(settings) => self.step_literally(&workers, terrain, dt, &settings),
            None => self.step_default(&workers, terrain, dt),
        }
    }

    /// Turns and time go on; what the source's own method knows of places is lost.
    fn shift(&mut self, _: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        let mut new = Self::new(self.settings.clone(), terrain.grid())?;
        new.columns_first = self.columns_first;
        new.elapsed = self.elapsed;
        let had_history = self.history.is_some();
        *self = new;
        Ok(match had_history {
            true => ShiftOutcome::Rebuilt,
            false => ShiftOutcome::Kept,
        })
    }

    fn save_state(&self, _: &Terrain) -> Vec<u8> {
        let mut writer = StateWriter::default();
        writer.write_count(self.columns_first.into());
        writer.write_real(self.elapsed);
        writer.write_count(self.history.is_some().into());
        if let Some(history) = &self.history {
            history.save_state(&mut writer);
        }
        writer.finish()
    }

    fn load_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let mut reader = StateReader::new(Self::NAME, bytes);
        reader.ensure_grid(&self.grid, terrain.grid())?;
        let columns_first = reader.read_count()? != 0;
        let elapsed = reader.read_real_in(0.0..=f64::MAX, "the elapsed time, in seconds,")?;
        let history = match reader.read_count()? {
            0 => None,
            _ => Some(History::load_state(&mut reader, &self.grid)?),
        };
        reader.finish()?;
        *self = Self {
            columns_first,
            elapsed,
            history,
            ..Self::with(self.settings.clone(), self.grid)
        };
        Ok(())
    }
}

impl ShallowWaterSolver {
    fn with(settings: ShallowWater, grid: Grid) -> Self {
        Self {
            settings,
            grid,
            columns_first: false,
            elapsed: 0.0,
            calm: false,
            sheet: Sheet::new(&grid),
            pools: Pools::default(),
            regolith: Regolith::default(),
            creep: Flow::still(&grid),
            history: None,
        }
    }

    /// Thickness of the soft top of the ground after the last exchange, row by
    /// row; empty before the first. units: m
    pub fn regolith(&self) -> &[f32] {
        &self.regolith.depth
    }

    /// Ends all motion where there is no water.
    fn stop_flow(&mut self, terrain: &mut Terrain) {
        if !self.calm
            && let Some(flow) = terrain.layers_mut().flow
        {
            still(flow);
            self.calm = true;
        }
        if let Some(history) = &mut self.history {
            history.water.fill(0.0);
        }
    }

    /// What a step of `dt` seconds comes to; the next call is of the step after.
    pub(crate) fn next_step(&mut self, dt: f32) -> WaterStep {
        let s = &self.settings;
        let l = self.grid.cell_size();
        let water = Motion {
            columns_first: self.columns_first,
            ..Motion::new(s.gravity, s.roughness, s.damping, dt, l)
        };
        self.columns_first = !self.columns_first;
        self.elapsed += f64::from(dt);
        // As many steps as make up the interval, whatever they round to.
        if self.elapsed < f64::from(s.interval) * (1.0 - 1e-6) {
            return WaterStep {
                water,
                exchange: None,
            };
        }
        let part = (self.elapsed / f64::from(s.regolith_solves)) as f32;
        let creep = Motion {
            // Soft ground creeps too slowly for flood waves.
            carries: false,
            columns_first: self.columns_first,
            ..Motion::new(s.gravity, s.regolith_roughness, 0.0, part, l)
        };
        let exchange = Exchange {
            creep,
            solves: s.regolith_solves,
            depth: s.regolith_depth,
            steady: s.steady * part,
        };
        self.columns_first = !self.columns_first;
        self.elapsed = 0.0;
        WaterStep {
            water,
            exchange: Some(exchange),
        }
    }

    fn step_default(&mut self, workers: &Workers, terrain: &mut Terrain, dt: f32) {
        let step = self.next_step(dt);
        self.solve_water(workers, terrain, &step.water);
        let Some(mut exchange) = step.exchange else {
            return;
        };
        self.soften(workers, terrain, exchange.depth, true);
        // Regolith has no momentum: each solve starts from rest.
        still(&mut self.creep);
        for _ in 0..exchange.solves {
            if self.solve_regolith(workers, terrain, &exchange.creep) <= exchange.steady {
                break;
            }
            exchange.creep.columns_first = !exchange.creep.columns_first;
        }
        self.regolith.apply(*workers, terrain);
    }

    fn step_literally(
        &mut self,
        workers: &Workers,
        terrain: &mut Terrain,
        dt: f32,
        s: &PublishedShallowWater,
    ) {
        let l = self.grid.cell_size();
        let grid = self.grid;
        let history = self.history.get_or_insert_with(|| History::new(&grid));
        // Where others removed all water, the past levels do not count.
        for (past, water) in history.water.iter_mut().zip(terrain.water()) {
            *past = if *water > 0.0 { *past } else { 0.0 };
        }
        history.solves += 1;
        let solves = history.solves;
        let motion = Motion::literal(s.gravity, s.water_damping, dt, l);
        let fastest = self.solve_water(workers, terrain, &motion);
        if solves < s.solves && fastest > s.steady * dt {
            return;
        }
        if let Some(history) = &mut self.history {
            history.solves = 0;
        }
        self.soften(workers, terrain, s.regolith_depth, false);
        // It only accompanies the past levels.
        still(&mut self.creep);
        if let Some(history) = &mut self.history {
            let soft = self.regolith.start.iter();
            for (past, soft) in history.regolith.iter_mut().zip(soft) {
                *past = if *soft > 0.0 { *past } else { 0.0 };
            }
        }
        let motion = Motion::literal(s.gravity, s.regolith_damping, dt, l);
        for _ in 0..s.solves {
            if self.solve_regolith(workers, terrain, &motion) <= s.steady * dt {
                break;
            }
        }
        self.regolith.apply(*workers, terrain);
    }

    /// One solve for the water; returns the largest change of a level. units: m
    fn solve_water(&mut self, workers: &Workers, terrain: &mut Terrain, motion: &Motion) -> f32 {
        let (width, datum) = (self.grid.width(), terrain.datum());
        let borders = *terrain.borders();
        let layers = terrain.layers_mut();
        let Some(flow) = layers.flow else {
            return 0.0;
        };
        self.calm = false;
        let sheet = &mut self.sheet;
        let ground = [&*layers.bedrock, &*layers.bedrock_low, &*layers.soil];
        let water = &*layers.water;
        sheet.load(*workers, borders, flow, |y, level, depth| {
            let cells = y * width..(y + 1) * width;
            ground_row(ground.map(|layer| &layer[cells.clone()]), datum, level);
            depth.copy_from_slice(&water[cells]);
            for (level, depth) in level.iter_mut().zip(depth) {
                *level += *depth;
            }
        });
        sheet.surround(|border, edge, inner| beyond(border, edge, inner, datum));
        let mut fluid = Fluid {
            depth: layers.water,
            rest: layers.water_low,
            flow,
            history: self.history.as_mut().map(|past| &mut past.water[..]),
        };
        sheet.solve(*workers, motion, &mut fluid);
        let (gone, come, lacking, fastest) = totals(sheet);
        let area = self.grid.cell_area();
        let account = &mut layers.account.water;
        account.left += gone * area;
        account.sea_inflow += come * area;
        if motion.literal {
            account.lost -= lacking * area;
        } else if lacking > 0.0 {
            self.pools.restore(*workers, sheet, &mut fluid);
        }
        let wide = self.grid.tiles().x as usize;
        let bands = sheet.reports.iter().enumerate();
        let moved = bands.flat_map(|(band, report)| {
            let first = band * BAND / TILE as usize * wide;
            let tiles = report.moved.iter().enumerate();
            tiles.filter_map(move |(tile, moved)| moved.then_some(first + tile))
        });
        let mut moved = moved.peekable();
        if moved.peek().is_some() {
            terrain.mark_water_tiles(moved);
        }
        fastest
    }

    fn soften(&mut self, workers: &Workers, terrain: &mut Terrain, most: f32, by_hardness: bool) {
        self.regolith.fit(self.grid.cells(), self.grid.width());
        self.regolith.soften(*workers, terrain, most, by_hardness);
    }

    /// One solve for the regolith; returns the largest change of a level.
    /// units: m
    fn solve_regolith(&mut self, workers: &Workers, terrain: &mut Terrain, motion: &Motion) -> f32 {
        let (width, datum) = (self.grid.width(), terrain.datum());
        let ground = [terrain.bedrock(), terrain.bedrock_low(), terrain.soil()];
        let sheet = &mut self.sheet;
        let regolith = &mut self.regolith;
        sheet.load(
            *workers,
            *terrain.borders(),
            &self.creep,
            |y, level, depth| {
                let cells = y * width..(y + 1) * width;
                ground_row(ground.map(|layer| &layer[cells.clone()]), datum, level);
                let start = &regolith.start[cells.clone()];
                depth.copy_from_slice(&regolith.depth[cells]);
                for ((level, depth), start) in level.iter_mut().zip(depth).zip(start) {
                    *level += *depth - start;
                }
            },
        );
        // The bed goes on beyond the border, but not upwards.
        sheet.surround(|_, [level, depth], inner| {
            let ground = level - depth;
            [level - (inner - ground).max(0.0), depth]
        });
        let mut fluid = Fluid {
            depth: &mut regolith.depth,
            rest: &mut regolith.rest,
            flow: &mut self.creep,
            history: self.history.as_mut().map(|past| &mut past.regolith[..]),
        };
        sheet.solve(*workers, motion, &mut fluid);
        let (gone, come, lacking, fastest) = totals(sheet);
        let area = self.grid.cell_area();
        let account = &mut terrain.account.solids;
        account.left += (gone - come) * area;
        if motion.literal {
            account.lost -= lacking * area;
        } else if lacking > 0.0 {
            self.pools.restore(*workers, sheet, &mut fluid);
        }
        fastest
    }
}

/// Sums over all bands, in their order: what went, came and lacked, and the
/// largest change.
fn totals(sheet: &Sheet) -> (f64, f64, f64, f32) {
    let reports = sheet.reports.iter();
    let (gone, come, lacking, fastest) = reports.fold((0.0, 0.0, 0.0, 0), |sum, report| {
        (
            sum.0 + report.gone,
            sum.1 + report.come,
            sum.2 + report.lacking,
            sum.3.max(report.fastest),
        )
    });
    (gone, come, lacking, f32::from_bits(fastest))
}

fn is_wet(terrain: &Terrain) -> bool {
    let any = |water: &[f32]| water.iter().fold(0, |any, depth| any | depth.to_bits()) != 0;
    terrain.water().chunks(1024).any(any)
}

fn has_sea(borders: &Borders) -> bool {
    let sides = [borders.west, borders.east, borders.north, borders.south];
    sides.iter().any(|side| matches!(side, Border::Sea { .. }))
}

fn still(flow: &mut Flow) {
    flow.east.fill(0.0);
    flow.south.fill(0.0);
    flow.west_border.fill(0.0);
    flow.north_border.fill(0.0);
}

/// Ground of a row above the datum.
#[inline(always)]
fn ground_row([bedrock, rest, soil]: [&[f32]; 3], datum: f32, ground: &mut [f32]) {
    let layers = bedrock.iter().zip(rest).zip(soil);
    for (ground, ((bedrock, rest), soil)) in ground.iter_mut().zip(layers) {
        *ground = relative_ground(*bedrock, *rest, *soil, datum);
    }
}

/// Level and depth beyond the border of an edge cell: the ground goes on as it
/// does there. `inner` is the ground of the next cell inwards.
#[inline]
fn beyond(border: Border, [level, depth]: [f32; 2], inner: f32, datum: f32) -> [f32; 2] {
    let ground = level - depth;
    let outer = ground + (ground - inner);
    match border {
        Border::Wall => [level, depth],
        Border::Open => {
            // At least as steep as an outfall over a step.
            let fall = (ground - outer).max(depth);
            let level = (level - fall).max(outer);
            [level, level - outer]
        }
        Border::Sea { level: sea } => {
            let outer = outer.min(ground);
            let level = (sea - datum).max(outer);
            [level, level - outer]
        }
    }
}
