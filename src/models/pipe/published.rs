//! The source's method, literally, on ground `b` = bedrock + soil. Cell (x, y)
//! sends water to its neighbors through four one-way pipes: L towards −x, R
//! towards +x, B towards −y, T towards +y. Nothing passes the border.
//!
//! ```text
//! f^i ← max(0, f^i + dt·A·g·Δh^i/l)            Δh of b + d, to the neighbor i
//! K   = min(1, d·l²/(Σf·dt)), 1 where Σf = 0;   f ← K·f
//! d₂  = d + dt·(Σf in − Σf out)/l²
//! u   = [f^R(x−1) − f^L(x) + f^R(x) − f^L(x+1)] / (2·l·d̄),  d̄ = (d + d₂)/2
//! v   = the same along y;  both 0 where d̄ ≤ film
//! C   = Kc·max(sin α_min, sin α)·√(u² + v²)
//! C > s: b −= Ks·(C − s), the same to s;  else b += Kd·(s − C), the same from s
//! s   ← s(x − u·dt/l, y − v·dt/l), bilinear;    d ← d₂·(1 − Ke·dt)
//! ```
//!
//! A cut takes soil first and a deposit is soil. K bounds `u` and `v` by `l/dt`.
//! Waves are stable up to `√(g·A/l)·dt ≤ 0.5·l`. The transport of a thickness
//! does not conserve it: the ledger counts the difference as lost.

use crate::{
    models::{
        least, most,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    settings::{self, Setting},
    terrain::{FILM, Flow, Grid, SettingsError, TILE, Terrain, add_exactly},
};
use bevy::prelude::*;

/// Rows that one job works on. A tile holds a whole number of bands.
const BAND: usize = 16;
/// No water carries more than this; only absurd settings come near. units: m
pub(crate) const MAX_LOAD: f32 = 1e6;
/// Numbers of the four pipes.
const L: usize = 0;
const R: usize = 1;
const T: usize = 2;
const B: usize = 3;

/// The source's constants. It gives no values; these are usual ones.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PublishedPipe {
    /// Cross-section A of every pipe. units: m²
    #[reflect(@Setting::new("m²", 0.01..=100.0).limits(1e-6..=1e6)
        .about("Cross-section of every pipe"))]
    pub pipe_area: f32,
    /// Gravity g. units: m/s²
    #[reflect(@Setting::new("m/s²", 0.1..=30.0).limits(1e-3..=1e3).about("Gravity"))]
    pub gravity: f32,
    /// Capacity Kc: sediment that water carries at 1 m/s on a cliff. units: s
    #[reflect(@Setting::new("s", 0.0..=1.0).limits(0.0..=1e3)
        .about("Sediment that water carries at 1 m/s on a cliff"))]
    pub capacity: f32,
    /// Dissolving constant Ks: share of what is lacking that a step takes up; more
    /// than 1 would leave less than nothing.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("Share of what is lacking that a step takes up"))]
    pub dissolving: f32,
    /// Deposition constant Kd: share of what is too much that a step lets fall.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("Share of what is too much that a step lets fall"))]
    pub deposition: f32,
    /// Evaporation constant Ke: share of the water. units: 1/s
    #[reflect(@Setting::new("1/s", 0.0..=0.5).limits(0.0..=1e3)
        .about("Share of the water that dries in a second"))]
    pub evaporation: f32,
    /// Water carries on level ground what it would on this slope. units: °
    #[reflect(@Setting::new("°", 0.0..=45.0).limits(0.0..=89.0)
        .about("Level ground counts as so steep"))]
    pub min_tilt: f32,
}

impl Default for PublishedPipe {
    fn default() -> Self {
        Self {
            pipe_area: 1.0,
            gravity: 9.81,
            capacity: 0.06,
            dissolving: 0.036,
            deposition: 0.006,
            evaporation: 0.015,
            min_tilt: 1.0,
        }
    }
}

impl PublishedPipe {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }
}

/// What the method remembers from step to step, and room to work in.
#[derive(Clone, Debug)]
pub(super) struct PublishedState {
    grid: Grid,
    /// Outflow through the four pipes of each cell. units: m³/s
    flux: [Vec<f32>; 4],
    /// Along x and y. units: m/s
    velocity: [Vec<f32>; 2],
    /// Ground above the datum, as the step found it. units: m
    ground: Vec<f32>,
    /// Ground and water above the datum, as the step found them. units: m
    surface: Vec<f32>,
    /// Suspended sediment before it is carried on. units: m
    load: Vec<f32>,
}

/// What a band of rows did. Bands are summed in their order, so that the ledger
/// does not depend on who was first.
#[derive(Clone, Debug)]
struct Tally {
    /// Sum of what the layers gained. units: m
    gained: f64,
    /// Sum of what left the layers for good reason: cut or evaporated. units: m
    taken: f64,
    /// Tiles of the band where something changed.
    changed: Vec<bool>,
}

impl PublishedState {
    pub(super) fn new(grid: &Grid) -> Self {
        let zeros = || vec![0.0; grid.cells()];
        Self {
            grid: *grid,
            flux: [zeros(), zeros(), zeros(), zeros()],
            velocity: [zeros(), zeros()],
            ground: zeros(),
            surface: zeros(),
            load: zeros(),
        }
    }

    /// Writes what the next step depends on: the outflow.
    pub(super) fn save_state(&self, writer: &mut StateWriter) {
        for plane in &self.flux {
            writer.write_floats(plane);
        }
    }

    /// Reads what [`save_state`](Self::save_state) wrote.
    pub(super) fn load_state(reader: &mut StateReader, grid: &Grid) -> Result<Self, StateError> {
        let mut planes = [const { Vec::new() }; 4];
        for plane in &mut planes {
            *plane = reader.read_floats(grid.cells())?;
            let outflow = plane.iter().all(|flux| *flux >= 0.0);
            reader.ensure(outflow, "an outflow of a pipe is negative")?;
        }
        Ok(Self {
            flux: planes,
            ..Self::new(grid)
        })
    }

    /// One step of the source. Rain has fallen already. A terrain of another
    /// grid and a `dt` that is not positive and finite change nothing.
    pub(super) fn step(
        &mut self,
        settings: &PublishedPipe,
        workers: &Workers,
        terrain: &mut Terrain,
        dt: f32,
    ) {
        self.adopt_flow(terrain);
        self.survey(workers, terrain);
        self.accelerate(settings, workers, terrain, dt);
        let flowed = self.flow(workers, terrain, dt);
        let dissolved = self.exchange(settings, workers, terrain);
        let (carried, dried) = self.carry(settings, workers, terrain, dt);

        let area = self.grid.cell_area();
        let gained = |tallies: &[Tally]| tallies.iter().map(|t| t.gained).sum::<f64>() * area;
        let taken = |tallies: &[Tally]| tallies.iter().map(|t| t.taken).sum::<f64>() * area;
        let account = terrain.layers_mut().account;
        account.water.lost -= gained(&flowed);
        account.water.evaporated += taken(&dried);
        account.solids.lost -= gained(&dissolved) + gained(&carried);
        account.solids.moved += taken(&dissolved);

        let ground = self.changed_tiles(&[&dissolved]);
        if !ground.is_empty() {
            terrain.mark_tiles(ground);
        }
        let water = self.changed_tiles(&[&flowed, &carried, &dried]);
        if !water.is_empty() {
            terrain.mark_water_tiles(water);
        }
    }

    /// Takes over the terrain's flow where it is not the one that this state left:
    /// another method ran, or the terrain was replaced.
    fn adopt_flow(&mut self, terrain: &Terrain) {
        let (w, l) = (self.grid.width(), self.grid.cell_size());
        let Some(flow) = terrain.flow() else {
            return;
        };
        let [left, right, top, bottom] = &mut self.flux;
        let rows = flow.east.chunks(w).enumerate();
        let known_x = rows.clone().all(|(y, row)| {
            let mut faces = (y * w..).zip(&row[..w - 1]);
            faces.all(|(i, &q)| q == (right[i] - left[i + 1]) / l)
        });
        let inner = flow.south.len() - w;
        let mut faces = flow.south[..inner].iter().enumerate();
        if known_x && faces.all(|(i, &q)| q == (top[i] - bottom[i + w]) / l) {
            return;
        }
        for plane in [&mut *left, right, top, bottom] {
            plane.fill(0.0);
        }
        for (y, row) in rows {
            for (i, &q) in (y * w..).zip(&row[..w - 1]) {
                right[i] = most(q * l, 0.0);
                left[i + 1] = most(-q * l, 0.0);
            }
        }
        for (i, &q) in flow.south[..inner].iter().enumerate() {
            top[i] = most(q * l, 0.0);
            bottom[i + w] = most(-q * l, 0.0);
        }
    }

    /// Ground and surface above the datum.
    fn survey(&mut self, workers: &Workers, terrain: &Terrain) {
        let band = BAND * self.grid.width();
        let jobs = self.ground.chunks_mut(band);
        let jobs = jobs.zip(self.surface.chunks_mut(band)).enumerate();
        workers.each(jobs, |(number, (ground, surface))| {
            for (k, i) in (number * band..).take(ground.len()).enumerate() {
                ground[k] = terrain.relative_ground(i);
                surface[k] = ground[k] + terrain.water()[i];
            }
        });
    }

    /// Equations 2 to 5: new outflow, no more than the cell has. In `f64`, so
    /// that no step is too long for it.
    fn accelerate(
        &mut self,
        settings: &PublishedPipe,
        workers: &Workers,
        terrain: &Terrain,
        dt: f32,
    ) {
        let (w, h) = (self.grid.width(), self.grid.height());
        let l = f64::from(self.grid.cell_size());
        let dt = f64::from(dt);
        let push = dt * f64::from(settings.pipe_area) * f64::from(settings.gravity) / l;
        let (surface, water) = (&self.surface, terrain.water());
        let [left, right, top, bottom] = self.flux.each_mut().map(|f| f.chunks_mut(BAND * w));
        let jobs = left.zip(right).zip(top.zip(bottom)).enumerate();
        workers.each(jobs, |(number, ((left, right), (top, bottom)))| {
            for k in 0..left.len() {
                let i = number * BAND * w + k;
                let (x, y) = (i % w, i / w);
                let wish = |old: f32, inside: bool, other: usize| {
                    if !inside {
                        return 0.0;
                    }
                    let fall = f64::from(surface[i]) - f64::from(surface[other]);
                    (f64::from(old) + push * fall).max(0.0)
                };
                let to_left = wish(left[k], x > 0, i.wrapping_sub(1));
                let to_right = wish(right[k], x + 1 < w, i + 1);
                let to_top = wish(top[k], y + 1 < h, i + w);
                let to_bottom = wish(bottom[k], y > 0, i.wrapping_sub(w));
                let out = ((to_left + to_right) + (to_top + to_bottom)) * dt;
                let has = f64::from(water[i]) * l * l;
                let scale = if out > has { has / out } else { 1.0 };
                left[k] = (scale * to_left) as f32;
                right[k] = (scale * to_right) as f32;
                top[k] = (scale * to_top) as f32;
                bottom[k] = (scale * to_bottom) as f32;
            }
        });
    }

    /// Equations 6 to 9: new depth and velocity.
    fn flow(&mut self, workers: &Workers, terrain: &mut Terrain, dt: f32) -> Vec<Tally> {
        let (w, h, l) = (self.grid.width(), self.grid.height(), self.grid.cell_size());
        let per_flux = f64::from(dt) / self.grid.cell_area();
        let mut tallies = self.tallies();
        let flux = &self.flux;
        let layers = terrain.layers_mut();
        let Some(flow) = layers.flow else {
            return tallies;
        };
        let Flow { east, south, .. } = flow;
        let [u, v] = self.velocity.each_mut().map(|v| v.chunks_mut(BAND * w));
        let jobs = layers.water.chunks_mut(BAND * w);
        let jobs = jobs
            .zip(layers.water_low.chunks_mut(BAND * w))
            .zip(u.zip(v));
        let faces = east.chunks_mut(BAND * w).zip(south.chunks_mut(BAND * w));
        let jobs = jobs.zip(faces).zip(&mut tallies).enumerate();
        workers.each(jobs, |(number, (((depth, speed), faces), tally))| {
            let ((water, rest), (u, v), (east, south)) = (depth, speed, faces);
            for k in 0..water.len() {
                let i = number * BAND * w + k;
                let (x, y) = (i % w, i / w);
                let from = |pipe: usize, inside: bool, other: usize| {
                    if inside { flux[pipe][other] } else { 0.0 }
                };
                let from_left = from(R, x > 0, i.wrapping_sub(1));
                let from_right = from(L, x + 1 < w, i + 1);
                let from_bottom = from(T, y > 0, i.wrapping_sub(w));
                let from_top = from(B, y + 1 < h, i + w);
                let inflow = (from_left + from_right) + (from_bottom + from_top);
                let outflow = (flux[L][i] + flux[R][i]) + (flux[T][i] + flux[B][i]);
                let before = (water[k], rest[k]);
                let change = (per_flux * f64::from(inflow - outflow)) as f32;
                add_exactly(&mut water[k], &mut rest[k], change);
                clamp_to_zero(&mut water[k], &mut rest[k]);
                let gained = difference((water[k], rest[k]), before);
                tally.gained += gained;
                tally.changed[x / TILE as usize] |= gained != 0.0;

                let mean = 0.5 * (before.0 + water[k]);
                let speed = |through: f32| {
                    if mean > FILM {
                        0.5 * through / (l * mean)
                    } else {
                        0.0
                    }
                };
                u[k] = speed((from_left - flux[L][i]) + (flux[R][i] - from_right));
                v[k] = speed((from_bottom - flux[B][i]) + (flux[T][i] - from_top));
                east[k] = (flux[R][i] - from_right) / l;
                south[k] = (flux[T][i] - from_top) / l;
            }
        });
        flow.west_border.fill(0.0);
        flow.north_border.fill(0.0);
        tallies
    }

    /// Equations 10 to 12: erosion and deposition, into `load`.
    fn exchange(
        &mut self,
        settings: &PublishedPipe,
        workers: &Workers,
        terrain: &mut Terrain,
    ) -> Vec<Tally> {
        let (w, h, l) = (self.grid.width(), self.grid.height(), self.grid.cell_size());
        let least_tilt = libm::sin(f64::from(settings.min_tilt).to_radians()) as f32;
        let mut tallies = self.tallies();
        let (ground, [u, v]) = (&self.ground, &self.velocity);
        let layers = terrain.layers_mut();
        let suspended = &*layers.suspended;
        let jobs = layers.bedrock.chunks_mut(BAND * w);
        let jobs = jobs.zip(layers.bedrock_low.chunks_mut(BAND * w));
        let jobs = jobs.zip(layers.soil.chunks_mut(BAND * w));
        let jobs = jobs.zip(self.load.chunks_mut(BAND * w)).zip(&mut tallies);
        workers.each(jobs.enumerate(), |(number, job)| {
            let ((((bedrock, rest), soil), load), tally) = job;
            for k in 0..bedrock.len() {
                let i = number * BAND * w + k;
                let (x, y) = (i % w, i / w);
                // Central differences, one-sided at the border.
                let rise = |low: usize, high: usize, cells: usize| {
                    (ground[high] - ground[low]) / (cells.max(1) as f32 * l)
                };
                let (west, east) = ((x > 0) as usize, (x + 1 < w) as usize);
                let (north, south) = ((y > 0) as usize, (y + 1 < h) as usize);
                let along_x = rise(i - west, i + east, west + east);
                let along_y = rise(i - north * w, i + south * w, north + south);
                let steep = along_x * along_x + along_y * along_y;
                let sine = most((steep / (1.0 + steep)).sqrt(), least_tilt);
                let speed = (u[i] * u[i] + v[i] * v[i]).sqrt();
                let capacity = least(settings.capacity * sine * speed, MAX_LOAD);

                let (held, old_soil) = (suspended[i], soil[k]);
                let old_rock = (bedrock[k], rest[k]);
                if capacity > held {
                    let cut = settings.dissolving * (capacity - held);
                    soil[k] = most(old_soil - cut, 0.0);
                    // What soil really gave, after rounding; rock gives the
                    // rest where no soil is left.
                    let mut took = old_soil - soil[k];
                    if cut > old_soil {
                        add_exactly(&mut bedrock[k], &mut rest[k], -(cut - took));
                        took = cut;
                    }
                    load[k] = held + took;
                    tally.taken += f64::from(took);
                } else {
                    soil[k] = old_soil + settings.deposition * (held - capacity);
                    load[k] = most(held - (soil[k] - old_soil), 0.0);
                }
                let solid = difference((bedrock[k], rest[k]), old_rock)
                    + (f64::from(soil[k]) - f64::from(old_soil));
                tally.gained += solid + (f64::from(load[k]) - f64::from(held));
                tally.changed[x / TILE as usize] |= solid != 0.0;
            }
        });
        tallies
    }

    /// Equations 14 and 15: sediment comes from where the water was, and a
    /// share of the water dries. One tally for each.
    fn carry(
        &mut self,
        settings: &PublishedPipe,
        workers: &Workers,
        terrain: &mut Terrain,
        dt: f32,
    ) -> (Vec<Tally>, Vec<Tally>) {
        let (w, h) = (self.grid.width(), self.grid.height());
        let cells = f64::from(dt) / f64::from(self.grid.cell_size());
        let dries = (settings.evaporation * dt).min(1.0);
        let (mut carried, mut dried) = (self.tallies(), self.tallies());
        let (load, [u, v]) = (&self.load, &self.velocity);
        let layers = terrain.layers_mut();
        let jobs = layers.water.chunks_mut(BAND * w);
        let jobs = jobs.zip(layers.water_low.chunks_mut(BAND * w));
        let jobs = jobs.zip(layers.suspended.chunks_mut(BAND * w));
        let jobs = jobs.zip(carried.iter_mut().zip(&mut dried)).enumerate();
        workers.each(jobs, |(number, (((water, rest), suspended), tallies))| {
            let (carried, dried) = tallies;
            for k in 0..water.len() {
                let i = number * BAND * w + k;
                let (x, y) = (i % w, i / w);
                let (x0, x1, fx) = between(x as f64 - f64::from(u[i]) * cells, w);
                let (y0, y1, fy) = between(y as f64 - f64::from(v[i]) * cells, h);
                let row = |y: usize| load[y * w + x0] * (1.0 - fx) + load[y * w + x1] * fx;
                let old = suspended[k];
                suspended[k] = row(y0) * (1.0 - fy) + row(y1) * fy;
                carried.gained += f64::from(suspended[k]) - f64::from(load[i]);
                carried.changed[x / TILE as usize] |= suspended[k] != old;

                let before = (water[k], rest[k]);
                if dries < 1.0 {
                    let gone = -(dries * water[k]);
                    add_exactly(&mut water[k], &mut rest[k], gone);
                    clamp_to_zero(&mut water[k], &mut rest[k]);
                } else {
                    (water[k], rest[k]) = (0.0, 0.0);
                }
                let gone = -difference((water[k], rest[k]), before);
                dried.taken += gone;
                dried.changed[x / TILE as usize] |= gone != 0.0;
            }
        });
        (carried, dried)
    }

    /// An empty tally for each band.
    fn tallies(&self) -> Vec<Tally> {
        let empty = Tally {
            gained: 0.0,
            taken: 0.0,
            changed: vec![false; self.grid.tiles().x as usize],
        };
        vec![empty; self.grid.height().div_ceil(BAND)]
    }

    /// Numbers of the tiles that any of the tallies names.
    fn changed_tiles(&self, tallies: &[&[Tally]]) -> Vec<usize> {
        let wide = self.grid.tiles().x as usize;
        let mut changed = vec![false; wide * self.grid.tiles().y as usize];
        for tallies in tallies {
            for (band, tally) in tallies.iter().enumerate() {
                let row = band * BAND / TILE as usize * wide;
                for (tile, hit) in changed[row..].iter_mut().zip(&tally.changed) {
                    *tile |= hit;
                }
            }
        }
        let changed = changed.iter().enumerate();
        changed
            .filter_map(|(tile, &hit)| hit.then_some(tile))
            .collect()
    }
}

/// The cells on both sides of a position and how far it lies beyond the first.
/// A position beyond the border counts as on it.
#[inline]
fn between(position: f64, cells: usize) -> (usize, usize, f32) {
    let last = cells - 1;
    let position = position.clamp(0.0, last as f64);
    let low = (position as usize).min(last);
    (low, (low + 1).min(last), (position - low as f64) as f32)
}

/// By how much one two-float sum is larger than another, exactly.
#[inline]
fn difference(new: (f32, f32), old: (f32, f32)) -> f64 {
    (f64::from(new.0) - f64::from(old.0)) + (f64::from(new.1) - f64::from(old.1))
}

/// Sets water that rounding made negative to zero.
#[inline]
fn clamp_to_zero(water: &mut f32, rest: &mut f32) {
    if *water <= 0.0 {
        (*water, *rest) = (0.0, 0.0);
    }
}
