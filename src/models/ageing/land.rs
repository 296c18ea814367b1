//! Ageing: land over geological time. Stream power with deposition (Yuan and others, 2019),
//! solved directly on the tree of water's ways; slides; creep; uplift. Stable for any step;
//! steps longer than [`LONGEST_STEP`] are cut.
//!
//! A step of `dt` years:
//!
//! ```text
//! once       hollows are cut open along the way over their lowest pass
//! uplift     z += U·dt, not at outlets
//! routing    see [`crate::drainage::routing`]; jitter changes by years, not by steps
//! sweeps     see [`sweep`]
//! apply      soil first, then rock
//! creep      see [`hillslope`]; what creeps into channels is their sediment in the next step
//! k          = Ks·(1 − e^(−soil/H)) + (1 − hardness)·rock·e^(−soil/H)
//! ```
//!
//! Outlets of open sides stay where they are: the land's base. Under a sea nothing moves, and
//! what reaches it has left. Land with walls all around loses nothing: what reaches its lowest
//! pit is laid down around it.

mod breach;
mod hillslope;
mod law;
mod powers;
mod rock;
mod sweep;
mod uplift;

use law::{Law, Lift, Volumes};
pub(crate) use uplift::Keeper;

use super::Ageing;
use crate::drainage::routing::{BAND_ROWS, Jitter, OUTLET, Routing};
use crate::parallel::Workers;
use crate::terrain::{Border, Borders, Grid};
use sweep::{Swept, View};

/// Longest step that is done in one: in longer ones valleys would grow too few cells
/// upstream. units: yr
pub const LONGEST_STEP: f64 = 2500.0;

/// Creep is at least what makes slopes as long as this many cells.
const FINEST: f64 = 0.7;

/// What is done next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    Begin,
    FirstRoute,
    Breach,
    Uplift,
    Round,
    Route,
    Flow,
    Power,
    Bands,
    Trunk,
    Up,
    Apply,
    Creep(usize),
    Settle,
    #[default]
    Idle,
}

/// What one step hands on to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Carried {
    /// Whether hollows were cut open.
    pub is_begun: bool,
    /// Where the water ran.
    pub directions: Vec<u8>,
    /// What has crept into channels; part of the soil. units: m
    pub load: Vec<f32>,
}

/// Land that grows older: a copy of the ground and all working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgeingLand {
    width: usize,
    height: usize,
    cell: f64,
    law: Law,
    borders: Borders,
    routing: Routing,
    /// Ground, bedrock and soil together. units: m
    ground: Vec<f64>,
    /// units: m
    soil: Vec<f32>,
    /// 0 erodes freely … 1 not at all; empty for 0.
    hardness: Vec<f32>,
    /// Rain over its mean; empty for 1.
    rain: Vec<f32>,
    rock: Vec<f32>,
    rounded: Vec<f32>,
    flow: Vec<f64>,
    power: Vec<f32>,
    inflow: Vec<[f64; 2]>,
    way: Vec<[f64; 2]>,
    creep: [Vec<f64>; 2],
    /// What has crept into channels since the sweeps: part of the ground until the next step
    /// takes it up. units: m
    load: Vec<f32>,
    lake_room: Vec<f64>,
    lake_filled: Vec<f64>,
    swept: Vec<Swept>,
    keeper: Option<Keeper>,
    volumes: Volumes,
    years: f64,
    stage: Stage,
    prepared: bool,
    steps_left: usize,
    dt: f64,
    to_settle: f64,
}

impl AgeingLand {
    /// Takes over a land: its law, size and layers. Memory of the land before is used
    /// again, and rock that is the same is not made anew.
    pub fn load(
        &mut self,
        settings: &Ageing,
        grid: &Grid,
        borders: Borders,
        bedrock: impl Iterator<Item = f64>,
        soil: &[f32],
        hardness: &[f32],
    ) {
        let law = Law::of(settings);
        let (width, height) = (grid.width(), grid.height());
        let cell = f64::from(grid.cell_size());
        let same_size = (self.width, self.height, self.cell) == (width, height, cell);
        if !same_size {
            *self = Self {
                routing: Routing::new(width, height),
                ..Self::default()
            };
        }
        if law.rock_noise != self.law.rock_noise || self.rock.is_empty() {
            let size = (width, height);
            rock::fill(
                &mut self.rock,
                Workers::global(),
                law.rock_noise,
                size,
                cell,
            );
        }
        (self.width, self.height, self.cell) = (width, height, cell);
        (self.law, self.borders) = (law, borders);
        self.ground.clear();
        let ground = bedrock.zip(soil);
        let ground = ground.map(|(rock, soil)| rock + f64::from(*soil));
        self.ground.extend(ground);
        replace(&mut self.soil, soil);
        replace(&mut self.hardness, hardness);
        replace(&mut self.rain, &settings.rain_map);
        let rain = self.rain.iter().map(|rain| f64::from(*rain)).sum::<f64>();
        let mean = (rain / self.rain.len().max(1) as f64) as f32;
        self.rain.iter_mut().for_each(|rain| *rain /= mean);
        let cells = width * height;
        self.rounded.resize(cells, 0.0);
        self.power.resize(cells, 0.0);
        self.load.resize(cells, 0.0);
        self.inflow.resize(cells, [0.0; 2]);
        self.inflow.fill([0.0; 2]);
        self.way.resize(cells, [0.0; 2]);
        self.volumes = Volumes::default();
        self.stage = Stage::Idle;
        self.to_settle = 0.0;
    }

    /// What the next step on the same land depends on besides its layers.
    pub fn carried(&self) -> Carried {
        Carried {
            is_begun: self.prepared,
            directions: self.routing.directions().to_vec(),
            load: self.load.clone(),
        }
    }

    /// Goes on with what was [carried](Self::carried) over from a step before, by a land
    /// of the same size.
    pub fn carry_on(&mut self, carried: &Carried) {
        self.prepared = carried.is_begun;
        self.routing.set_directions(&carried.directions);
        replace(&mut self.load, &carried.load);
    }

    /// [`carry_on`](Self::carry_on) of a land that has no size yet.
    pub fn carry_on_at(&mut self, carried: &Carried, grid: &Grid) {
        *self = Self {
            width: grid.width(),
            height: grid.height(),
            cell: grid.cell_size().into(),
            routing: Routing::new(grid.width(), grid.height()),
            ..Self::default()
        };
        self.carry_on(carried);
    }

    /// Ground: bedrock and soil together. units: m
    pub fn ground(&self) -> &[f64] {
        &self.ground
    }

    /// Soil. units: m
    pub fn soil(&self) -> &[f32] {
        &self.soil
    }

    /// What was moved so far.
    pub fn volumes(&self) -> Volumes {
        self.volumes
    }

    /// Years that have passed.
    pub fn years(&self) -> f64 {
        self.years
    }

    /// Where the water ran in the last step.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// What keeps the mountains; for the same land in other cells.
    pub fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// Goes on with a keeper and a clock; without a keeper the mountains are kept as they
    /// are now.
    pub fn continue_from(&mut self, keeper: Option<Keeper>, years: f64) {
        let keeps = matches!(self.law.uplift, Lift::Keep { .. });
        let size = (self.width, self.height);
        let new = || keeps.then(|| Keeper::new(&self.ground, size));
        self.keeper = keeper.or_else(new);
        self.years = years;
    }

    /// Begins to age the land by some years, in slices: see [`advance`](Self::advance).
    pub fn begin(&mut self, years: f64) {
        if !(years > 0.0 && years.is_finite()) || self.ground.is_empty() {
            return;
        }
        self.steps_left = (years / LONGEST_STEP).ceil().max(1.0) as usize;
        self.dt = years / self.steps_left as f64;
        self.stage = match self.prepared {
            true => Stage::Uplift,
            false => Stage::Begin,
        };
    }

    /// Does a slice of a few milliseconds (for a million cells). Whether all is done. How
    /// the work is sliced does not change its result.
    pub fn advance(&mut self, workers: Workers) -> bool {
        self.stage = match self.stage {
            Stage::Begin => {
                self.round(workers);
                // Without jitter: hollows are cut where the ground itself says.
                self.routing.begin(self.borders, None);
                Stage::FirstRoute
            }
            Stage::FirstRoute => match self.routing.advance(workers, &self.rounded) {
                true => Stage::Breach,
                false => Stage::FirstRoute,
            },
            Stage::Breach => {
                self.prepared = true;
                self.inflow.fill([0.0; 2]);
                if self.law.breach {
                    self.breach();
                }
                Stage::Uplift
            }
            Stage::Uplift => {
                self.lift_load(workers);
                self.uplift(workers);
                Stage::Round
            }
            Stage::Round => {
                self.round(workers);
                self.routing.begin(self.borders, self.jitter());
                Stage::Route
            }
            Stage::Route => match self.routing.advance(workers, &self.rounded) {
                true => Stage::Flow,
                false => Stage::Route,
            },
            Stage::Flow => {
                let rain = (!self.rain.is_empty()).then_some(&self.rain[..]);
                self.routing.accumulate(workers, rain, &mut self.flow);
                self.measure_lakes();
                Stage::Power
            }
            Stage::Power => {
                self.find_power(workers);
                Stage::Bands
            }
            Stage::Bands => {
                self.sweep_bands(workers);
                Stage::Trunk
            }
            Stage::Trunk => {
                self.sweep_trunk();
                Stage::Up
            }
            Stage::Up => {
                self.sweep_up(workers);
                Stage::Apply
            }
            Stage::Apply => {
                self.apply(workers);
                Stage::Creep(0)
            }
            Stage::Creep(stage) => match self.creep_stage(workers, stage) {
                true => Stage::Settle,
                false => Stage::Creep(stage + 1),
            },
            Stage::Settle => {
                self.settle();
                self.years += self.dt;
                self.steps_left = self.steps_left.saturating_sub(1);
                match self.steps_left {
                    0 => Stage::Idle,
                    _ => Stage::Uplift,
                }
            }
            Stage::Idle => Stage::Idle,
        };
        self.stage == Stage::Idle
    }

    /// Cells of a band of rows: the unit of parallel work, whatever the threads.
    fn band(&self) -> usize {
        (self.width * BAND_ROWS).max(1)
    }

    fn jitter(&self) -> Option<Jitter> {
        let settings = &self.law;
        let epoch = self.years / settings.jitter_years.max(1.0);
        (settings.jitter > 0.0).then(|| Jitter {
            seed: settings.rock_noise.seed,
            step: epoch as u32,
            amount: settings.jitter.min(1.0) as f32,
        })
    }

    /// The ground as the routing reads it.
    fn round(&mut self, workers: Workers) {
        let band = self.band();
        let parts = self.rounded.chunks_mut(band).zip(self.ground.chunks(band));
        workers.each(parts, |(rounded, ground)| {
            for (rounded, &ground) in rounded.iter_mut().zip(ground) {
                *rounded = ground as f32;
            }
        });
    }

    fn breach(&mut self) {
        let fall = 1e-3 * self.cell;
        let cut = breach::cut(&self.routing, &mut self.ground, &mut self.inflow, fall);
        let area = self.cell * self.cell;
        self.volumes.moved += cut * area;
        for (cell, &[depth, _]) in self.inflow.iter().enumerate() {
            if depth > 0.0 {
                let soil = f64::from(self.soil[cell]);
                self.soil[cell] = (soil - depth).max(0.0) as f32;
                self.volumes.eroded += (depth - soil).max(0.0) * area;
            }
        }
    }

    fn uplift(&mut self, workers: Workers) {
        let (width, height, dt) = (self.width, self.height, self.dt);
        let rise = match &self.law.uplift {
            Lift::None => return,
            Lift::Rate(rate) => rate * dt,
            // Maps are in mm.
            Lift::Map(_) => dt / 1000.0,
            Lift::Keep { share, settle } => {
                let law = (*share, *settle);
                let keeper = self.keeper.as_mut();
                keeper.map_or(0.0, |keeper| {
                    keeper.rise(&self.ground, (width, height), law, dt)
                })
            }
        };
        let keeper = self.keeper.as_ref();
        let (settings, toward, band) = (&self.law, self.routing.directions(), self.band());
        let mut sums = vec![0.0; height.div_ceil(BAND_ROWS)];
        let parts = self.ground.chunks_mut(band).zip(&mut sums).enumerate();
        workers.each(parts, |(part, (ground, sum))| {
            let mut share = vec![1.0f32; width];
            for (row, ground) in ground.chunks_mut(width).enumerate() {
                let y = part * BAND_ROWS + row;
                match (&settings.uplift, keeper) {
                    (Lift::Keep { .. }, Some(keeper)) => {
                        keeper.pattern.row(&mut share, y, height);
                    }
                    (Lift::Map(map), _) if map.len() == toward.len() => {
                        share.copy_from_slice(&map[y * width..][..width]);
                    }
                    (Lift::Map(_), _) => share.fill(0.0),
                    _ => {}
                }
                let toward = &toward[y * width..][..width];
                for x in 0..width {
                    if toward[x] < OUTLET {
                        let up = rise * f64::from(share[x]);
                        ground[x] += up;
                        *sum += up;
                    }
                }
            }
        });
        self.volumes.uplifted += sums.iter().sum::<f64>() * self.cell * self.cell;
    }

    /// Water that each lake holds.
    fn measure_lakes(&mut self) {
        let lakes = self.routing.lakes();
        self.lake_room.clear();
        self.lake_room.resize(lakes.len(), 0.0);
        self.lake_filled.clear();
        self.lake_filled.resize(lakes.len(), 0.0);
        if lakes.is_empty() {
            return;
        }
        for (&cover, ground) in self.routing.covers().iter().zip(&self.ground) {
            if let Some(lake) = (cover as usize).checked_sub(5) {
                self.lake_room[lake] += (f64::from(lakes[lake].level) - ground).max(0.0);
            }
        }
    }

    /// F of each cell, for a step along an axis.
    fn find_power(&mut self, workers: Workers) {
        let settings = &self.law;
        let (area, m) = (self.cell * self.cell, settings.area_exponent as f32);
        let scale =
            settings.erodibility * self.dt / self.cell * libm::pow(area, settings.area_exponent);
        let scale = scale as f32;
        let (soil_factor, depth) = (settings.soil_factor as f32, settings.soil_depth as f32);
        let (hardness, rock, band) = (&self.hardness, &self.rock, self.band());
        let parts = self.power.chunks_mut(band).zip(self.flow.chunks(band));
        let parts = parts.zip(self.soil.chunks(band)).enumerate();
        workers.each(parts, |(part, ((power, flow), soil))| {
            let start = part * band;
            for (power, &flow) in power.iter_mut().zip(flow) {
                // No rain at all still leaves a positive number to take the power of.
                let flow = (flow as f32).max(1e-6);
                *power = scale * powers::power(flow, m);
            }
            for (x, power) in power.iter_mut().enumerate() {
                let shield = match soil[x] > 0.0 {
                    true => powers::exp(-soil[x] / depth.max(1e-3)),
                    false => 1.0,
                };
                let hard = hardness.get(start + x).map_or(1.0, |hard| 1.0 - hard);
                let weak = rock.get(start + x).map_or(hard, |rock| rock * hard);
                *power *= soil_factor * (1.0 - shield) + weak * shield;
            }
        });
    }

    fn view(&self) -> View<'_> {
        let borders = &self.borders;
        let sides = [borders.west, borders.east, borders.north, borders.south];
        View {
            routing: &self.routing,
            ground: &self.ground,
            flow: &self.flow,
            power: &self.power,
            rock: &self.rock,
            lake_room: &self.lake_room,
            cell: self.cell,
            deposition: self.law.deposition,
            slope_limit: self.law.slope_limit,
            sea_levels: sides.iter().any(|side| matches!(side, Border::Sea { .. })),
        }
    }

    fn sweep_bands(&mut self, workers: Workers) {
        let band = self.band();
        let mut inflow = core::mem::take(&mut self.inflow);
        let mut way = core::mem::take(&mut self.way);
        let mut swept = core::mem::take(&mut self.swept);
        swept.resize_with(self.height.div_ceil(BAND_ROWS) + 1, Swept::default);
        let view = self.view();
        let parts = inflow.chunks_mut(band).zip(way.chunks_mut(band));
        let parts = parts.zip(view.routing.order().bands().zip(&mut swept));
        workers.each(
            parts.enumerate(),
            |(part, ((inflow, way), (cells, swept)))| {
                swept.left = 0.0;
                swept.filled.clear();
                sweep::down(&view, cells, part * band, inflow, way, swept);
            },
        );
        (self.inflow, self.way, self.swept) = (inflow, way, swept);
    }

    fn sweep_trunk(&mut self) {
        let mut inflow = core::mem::take(&mut self.inflow);
        let mut way = core::mem::take(&mut self.way);
        let mut last = self.swept.pop().unwrap_or_default();
        last.left = 0.0;
        last.filled.clear();
        let view = self.view();
        sweep::down(
            &view,
            view.routing.order().trunk(),
            0,
            &mut inflow,
            &mut way,
            &mut last,
        );
        (self.inflow, self.way) = (inflow, way);
        self.swept.push(last);
        let left: f64 = self.swept.iter().map(|swept| swept.left).sum();
        match self.borders == Borders::closed() {
            true => self.to_settle = left,
            false => self.volumes.left += left * self.cell * self.cell,
        }
        for &(lake, share) in self.swept.iter().flat_map(|swept| &swept.filled) {
            self.lake_filled[lake as usize - 5] = share;
        }
    }

    fn sweep_up(&mut self, workers: Workers) {
        let (routing, band) = (&self.routing, self.band());
        sweep::up(routing, routing.order().trunk(), 0, &mut self.way);
        let parts = self.way.chunks_mut(band).zip(routing.order().bands());
        workers.each(parts.enumerate(), |(part, (way, cells))| {
            sweep::up(routing, cells, part * band, way);
        });
    }

    /// Moves the ground by what the sweeps found.
    fn apply(&mut self, workers: Workers) {
        let band = self.band();
        let (lakes, covers) = (self.routing.lakes(), self.routing.covers());
        let filled = &self.lake_filled;
        let mut sums = vec![(0.0, 0.0); self.height.div_ceil(BAND_ROWS)];
        let parts = self.ground.chunks_mut(band).zip(self.soil.chunks_mut(band));
        let parts = parts.zip(self.way.chunks(band).zip(covers.chunks(band)));
        let parts = parts.zip(&mut sums).zip(self.inflow.chunks_mut(band));
        workers.each(
            parts,
            |((((ground, soil), (way, covers)), sums), inflow)| {
                inflow.fill([0.0; 2]);
                for x in 0..ground.len() {
                    let mut eroded = way[x][0];
                    if let Some(lake) = (covers[x] as usize).checked_sub(5) {
                        let depth = f64::from(lakes[lake].level) - ground[x];
                        eroded = -filled[lake] * depth.max(0.0);
                    }
                    ground[x] -= eroded;
                    sums.0 += lower_soil(&mut soil[x], eroded);
                    sums.1 += eroded.max(0.0);
                }
            },
        );
        self.book(&sums);
    }

    /// Adds up rock eroded and ground moved, of each band.
    fn book(&mut self, sums: &[(f64, f64)]) {
        let area = self.cell * self.cell;
        self.volumes.eroded += sums.iter().map(|sums| sums.0).sum::<f64>() * area;
        self.volumes.moved += sums.iter().map(|sums| sums.1).sum::<f64>() * area;
    }

    /// What has crept into channels leaves the ground and becomes their sediment.
    fn lift_load(&mut self, workers: Workers) {
        let band = self.band();
        let parts = self.ground.chunks_mut(band).zip(self.soil.chunks_mut(band));
        let parts = parts.zip(self.inflow.chunks_mut(band).zip(self.load.chunks_mut(band)));
        workers.each(parts, |((ground, soil), (inflow, load))| {
            for x in 0..ground.len() {
                let depth = f64::from(core::mem::take(&mut load[x]));
                ground[x] -= depth;
                inflow[x][0] += depth;
                // Rounding alone could make this rock.
                soil[x] = (f64::from(soil[x]) - depth).max(0.0) as f32;
            }
        });
    }

    /// One stage of creep; whether it was the last, applied then.
    fn creep_stage(&mut self, workers: Workers, stage: usize) -> bool {
        let (width, band, settings) = (self.width, self.band(), &self.law);
        // Less than this could not smooth valleys and ridges of single cells.
        let finest = settings.erodibility
            * libm::pow(FINEST * self.cell, 2.0 * settings.area_exponent + 1.0);
        let creep = settings
            .creep
            .max(if settings.creep > 0.0 { finest } else { 0.0 });
        let reach = creep * self.dt / (self.cell * self.cell);
        let stages = hillslope::stages(reach);
        let toward = self.routing.directions();
        if reach <= 0.0 {
            return true;
        }
        if stage == 0 {
            for plane in &mut self.creep {
                plane.clear();
                plane.extend_from_slice(&self.ground);
            }
            return false;
        }
        let mix = hillslope::mix(stage, stages, reach);
        let [last, before] = &mut self.creep;
        let parts = before.chunks_mut(band).enumerate();
        workers.each(parts, |(part, out)| {
            hillslope::stage_rows(out, part * BAND_ROWS, last, toward, width, mix);
        });
        self.creep.swap(0, 1);
        if stage < stages {
            return false;
        }
        // Drained cells at which running water takes over from creep: where the Péclet number
        // K·L^(2m+1)/D is 1 (Perron, Dietrich and Kirchner, 2008).
        let ratio = settings.creep / settings.erodibility.max(1e-30);
        let length = libm::pow(ratio, 1.0 / (2.0 * settings.area_exponent + 1.0));
        let head = (length * length / (self.cell * self.cell)).max(1e-9);
        let mut sums = vec![(0.0, 0.0, 0.0); self.height.div_ceil(BAND_ROWS)];
        let parts = self.ground.chunks_mut(band).zip(self.soil.chunks_mut(band));
        let parts = parts.zip(self.creep[0].chunks(band)).zip(&mut sums);
        let parts = parts.zip(self.load.chunks_mut(band).zip(self.flow.chunks(band)));
        workers.each(parts, |((((ground, soil), after), sums), (load, flow))| {
            for x in 0..ground.len() {
                let eroded = ground[x] - after[x];
                if eroded < 0.0 {
                    let channel = (flow[x] / head) * (flow[x] / head);
                    load[x] = (-eroded * (channel / (1.0 + channel))) as f32;
                }
                ground[x] = after[x];
                sums.0 += lower_soil(&mut soil[x], eroded);
                sums.1 += eroded.max(0.0);
                sums.2 += eroded;
            }
        });
        let flat: Vec<(f64, f64)> = sums.iter().map(|sums| (sums.0, sums.1)).collect();
        self.book(&flat);
        // Outlets stay, so what creeps onto them has left; between cells nothing is lost.
        let left: f64 = sums.iter().map(|sums| sums.2).sum();
        match self.borders == Borders::closed() {
            true => self.to_settle += left,
            false => self.volumes.left += left * self.cell * self.cell,
        }
        true
    }

    /// Lays down around a closed land's lowest pit what has come there.
    fn settle(&mut self) {
        let volume = core::mem::take(&mut self.to_settle);
        if volume > 0.0 {
            breach::pour(&self.routing, &mut self.ground, &mut self.soil, volume);
        }
    }
}

fn replace(plane: &mut Vec<f32>, by: &[f32]) {
    plane.clear();
    plane.extend_from_slice(by);
}

/// Takes a depth (laid down if negative) from the soil first. Gives back the rock taken.
#[inline]
fn lower_soil(soil: &mut f32, depth: f64) -> f64 {
    let left = f64::from(*soil) - depth;
    *soil = left.max(0.0) as f32;
    (-left).max(0.0)
}
