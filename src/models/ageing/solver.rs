//! Runs [`Ageing`] on a terrain: in slices beside other models, or years at once.

mod state;

use super::{
    Ageing, Uplift,
    land::{AgeingLand, Carried, Keeper},
};
use crate::{
    models::{ShiftOutcome, Solver, solver_state::StateError},
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{Grid, Layer, SettingsError, TILE, Terrain, add_exactly},
};
use bevy::{math::IVec2, prelude::SystemSet};

/// Slices of work that a first ageing step is expected to have; later ones go by the
/// one before.
const USUAL_SLICES: u32 = 48;

/// Longest that one erosion step may go on, in ageing steps; beyond it years are lost.
const MOST_STEPS: f64 = 64.0;

/// Runs [`Ageing`] on a terrain.
#[derive(Clone, Debug)]
pub struct AgeingSolver {
    settings: Ageing,
    grid: Grid,
    /// Years that this land has aged so far.
    years: f64,
    /// Years that have passed since the step under way began.
    due: f64,
    keeper: Option<Keeper>,
    /// Working memory, kept from step to step.
    land: AgeingLand,
    /// The ageing step under way.
    run: Option<Run>,
    usual_slices: u32,
    time_lost: f32,
}

/// An ageing step under way, on a copy of the ground.
#[derive(Clone, Debug)]
struct Run {
    start: Layers,
    carried: Carried,
    slices: u32,
    is_done: bool,
}

/// The ground's layers when a step began.
#[derive(Clone, Debug, Default, PartialEq)]
struct Layers {
    bedrock: Vec<f32>,
    bedrock_low: Vec<f32>,
    soil: Vec<f32>,
}

impl Solver for AgeingSolver {
    type Settings = Ageing;

    const NAME: &'static str = "Ageing";
    const KEY: &'static str = "ageing";
    const READS: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Water, Layer::Hardness];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Water];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Ageing
    }

    fn new(settings: Ageing, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check_on(grid)?;
        Ok(Self {
            settings,
            grid: *grid,
            years: 0.0,
            due: 0.0,
            keeper: None,
            land: AgeingLand::default(),
            run: None,
            usual_slices: USUAL_SLICES,
            time_lost: 0.0,
        })
    }

    fn check_settings(settings: &Ageing) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Ageing {
        &self.settings
    }

    /// The step under way begins anew, unless only the pace is another.
    fn set_settings(&mut self, settings: Ageing) -> Result<(), SettingsError> {
        settings.check_on(&self.grid)?;
        let same = Ageing {
            years_per_second: self.settings.years_per_second,
            ..settings.clone()
        };
        if same != self.settings {
            self.drop_run();
        }
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        self.time_lost = 0.0;
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        let pace = f64::from(self.settings.years_per_second);
        let length = f64::from(self.settings.step_years);
        let passed = pace * f64::from(dt);
        let most = MOST_STEPS * length;
        if passed > most {
            self.time_lost = ((passed - most) / pace) as f32;
        }
        if passed <= 0.0 {
            return;
        }
        self.due += passed.min(most);
        while self.due >= length {
            self.begin(terrain);
            self.finish(workers, terrain);
            self.due -= length;
        }
        self.begin(terrain);
        let share = self.due / length;
        self.advance_to(workers, (share * f64::from(self.usual_slices)) as u32);
    }

    fn time_lost(&self) -> f32 {
        self.time_lost
    }

    /// The clock goes on; the step under way and what the mountains are kept at belong
    /// to the land as it was.
    fn shift(&mut self, by_tiles: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        let _ = by_tiles;
        let mut new = Self::new(self.settings.clone(), terrain.grid())?;
        (new.years, new.due) = (self.years, self.due);
        *self = new;
        Ok(ShiftOutcome::Rebuilt)
    }

    fn save_state(&self, _terrain: &Terrain) -> Vec<u8> {
        self.write_state()
    }

    fn load_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        self.read_state(bytes, terrain)
    }

    /// The rain map, then the map of uplift; what stays behind says which there were.
    fn take_plane(settings: &mut Ageing) -> Vec<f32> {
        let mut plane = take_map(&mut settings.rain_map);
        if let Uplift::Map(rates) = &mut settings.uplift {
            plane.extend(take_map(rates));
        }
        plane
    }

    fn put_plane(settings: &mut Ageing, mut plane: Vec<f32>) {
        let mut maps = vec![&mut settings.rain_map];
        if let Uplift::Map(rates) = &mut settings.uplift {
            maps.push(rates);
        }
        maps.retain(|map| !map.is_empty());
        let Some(cells) = plane.len().checked_div(maps.len()) else {
            return;
        };
        for map in maps {
            let rest = plane.split_off(cells.min(plane.len()));
            *map = core::mem::replace(&mut plane, rest);
        }
    }
}

/// Takes the numbers of a map and leaves one, so that an empty map can be told from one
/// that was taken.
fn take_map(map: &mut Vec<f32>) -> Vec<f32> {
    let first = map.first().copied();
    let taken = core::mem::take(map);
    map.extend(first);
    taken
}

/// Goes on from another age: the land was brought there.
pub(super) fn set_years(solver: &mut AgeingSolver, years: f64) {
    solver.years = years;
    solver.due = 0.0;
    // What crept into channels belongs to the land of before.
    solver.run = None;
    solver.land = AgeingLand::default();
}

impl AgeingSolver {
    /// Years that the land has aged so far by whole ageing steps. units: yr
    pub fn years(&self) -> f64 {
        self.years
    }

    /// Ages the land by some years at once, beside what [`step`](Solver::step) does.
    /// Steps are at most [`step_years`](Ageing::step_years) long. units: yr
    pub fn age(&mut self, terrain: &mut Terrain, years: f64) {
        self.age_on(Workers::global(), terrain, years);
    }

    /// [`age`](Self::age) by other workers; the result is the same.
    pub fn age_on(&mut self, workers: Workers, terrain: &mut Terrain, years: f64) {
        if !(self.grid.matches(terrain.grid()) && years > 0.0 && years.is_finite()) {
            return;
        }
        let longest = f64::from(self.settings.step_years);
        let steps = (years / longest).ceil().max(1.0);
        // A step that is under way is for other years.
        self.drop_run();
        for _ in 0..steps as u64 {
            self.begin_for(terrain, years / steps);
            self.finish(workers, terrain);
        }
    }

    /// Begins with the clock of a solver for the same land in other cells, and keeps the
    /// same mountains.
    pub(super) fn hand_on(&mut self, from: &Self, terrain: &Terrain) {
        self.years = from.years;
        self.keeper = from.keeper.clone();
        if self.keeper.is_none() && matches!(self.settings.uplift, Uplift::Keep { .. }) {
            self.keeper = Some(Keeper::of(terrain));
        }
    }

    /// Goes on where a solver for the same land in other cells has ended: hollows are cut
    /// open again.
    pub(super) fn take_over(&mut self, from: Self) {
        self.years = from.years;
        self.keeper = from.keeper;
        self.run = None;
        self.land = AgeingLand::default();
    }

    /// Gives the step under way up, as if it had not begun.
    fn drop_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.land.carry_on(&run.carried);
        }
    }

    fn begin(&mut self, terrain: &Terrain) {
        if self.run.is_none() {
            self.begin_for(terrain, self.settings.step_years.into());
        }
    }

    /// Copies the ground and begins an ageing step.
    fn begin_for(&mut self, terrain: &Terrain, years: f64) {
        let start = Layers {
            bedrock: terrain.bedrock().to_vec(),
            bedrock_low: terrain.bedrock_low().to_vec(),
            soil: terrain.soil().to_vec(),
        };
        self.begin_from(terrain, start, years);
    }

    fn begin_from(&mut self, terrain: &Terrain, start: Layers, years: f64) {
        let cells = start.bedrock.iter().zip(&start.bedrock_low);
        let rock = cells.map(|(high, low)| f64::from(*high) + f64::from(*low));
        self.land.load(
            &self.settings,
            terrain.grid(),
            *terrain.borders(),
            rock,
            &start.soil,
            terrain.hardness().unwrap_or_default(),
        );
        let carried = self.land.carried();
        self.land.continue_from(self.keeper.clone(), self.years);
        self.land.begin(years);
        self.run = Some(Run {
            start,
            carried,
            slices: 0,
            is_done: false,
        });
    }

    /// Works on the step under way until so many slices are done.
    fn advance_to(&mut self, workers: Workers, slices: u32) {
        if let Some(run) = &mut self.run {
            while !run.is_done && run.slices < slices {
                run.is_done = self.land.advance(workers);
                run.slices += 1;
            }
        }
    }

    /// Ends the step under way and applies what it changed.
    fn finish(&mut self, workers: Workers, terrain: &mut Terrain) {
        self.advance_to(workers, u32::MAX);
        let Some(run) = self.run.take() else {
            return;
        };
        self.usual_slices = run.slices;
        self.years = self.land.years();
        self.keeper = self.land.keeper().cloned();
        self.apply(&run.start, workers, terrain);
        if self.settings.fill_lakes {
            self.fill_lakes(terrain);
        }
    }

    /// Adds the difference that a step made to bedrock and soil, whatever others did to
    /// them meanwhile.
    fn apply(&self, start: &Layers, workers: Workers, terrain: &mut Terrain) {
        let width = self.grid.width();
        let band = TILE as usize * width;
        let tiles_x = width.div_ceil(TILE as usize);
        let (ground, soil_after) = (self.land.ground(), self.land.soil());
        let mut changed = vec![false; self.grid.height().div_ceil(TILE as usize) * tiles_x];
        let layers = terrain.layers_mut();
        let parts = layers
            .bedrock
            .chunks_mut(band)
            .zip(layers.bedrock_low.chunks_mut(band))
            .zip(layers.soil.chunks_mut(band))
            .zip(changed.chunks_mut(tiles_x))
            .enumerate();
        workers.each(parts, |(part, (((bedrock, low), soil), changed))| {
            let first = part * band;
            for x in 0..bedrock.len() {
                let cell = first + x;
                let before = f64::from(start.soil[cell]);
                let rock = f64::from(start.bedrock[cell]) + f64::from(start.bedrock_low[cell]);
                let rise = ground[cell] - (rock + before);
                let gained = f64::from(soil_after[cell]) - before;
                if rise == 0.0 && gained == 0.0 {
                    continue;
                }
                // Soil that is gone by now is taken from the rock below.
                let old = f64::from(soil[x]);
                let new = (old + gained).max(0.0) as f32;
                soil[x] = new;
                // In one sum: a change of kilometres would round the low part away.
                let rock = rise - (f64::from(new) - old);
                let total = f64::from(bedrock[x]) + f64::from(low[x]) + rock;
                bedrock[x] = total as f32;
                low[x] = (total - f64::from(bedrock[x])) as f32;
                changed[x % width / TILE as usize] = true;
            }
        });
        let volumes = self.land.volumes();
        let solids = &mut terrain.account.solids;
        solids.uplifted += volumes.uplifted;
        solids.left += volumes.left;
        solids.moved += volumes.moved;
        let changed = changed.iter().enumerate();
        let changed: Vec<usize> = changed
            .filter_map(|(tile, is)| is.then_some(tile))
            .collect();
        if !changed.is_empty() {
            terrain.mark_tiles(changed);
        }
    }

    /// Pours water into hollows up to their spill.
    fn fill_lakes(&self, terrain: &mut Terrain) {
        let routing = self.land.routing();
        let width = self.grid.width();
        let tiles_x = width.div_ceil(TILE as usize);
        let mut poured = 0.0;
        let mut changed = std::collections::BTreeSet::new();
        for (cell, &cover) in routing.covers().iter().enumerate() {
            let crate::drainage::routing::Cover::Lake(_) = routing.cover(cell) else {
                continue;
            };
            let depth = routing.cover_level(cover) - terrain.ground(cell);
            let missing = depth - terrain.water()[cell];
            if missing > 0.0 {
                let layers = terrain.layers_mut();
                add_exactly(
                    &mut layers.water[cell],
                    &mut layers.water_low[cell],
                    missing,
                );
                poured += f64::from(missing);
                let (x, y) = (cell % width, cell / width);
                changed.insert(y / TILE as usize * tiles_x + x / TILE as usize);
            }
        }
        if !changed.is_empty() {
            terrain.account.water.poured += poured * self.grid.cell_area();
            terrain.mark_water_tiles(changed);
        }
    }
}
