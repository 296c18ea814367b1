//! Water in pipes, cell by cell: the source's equations and the default's.
//! T and south mean +y, B and north mean −y. Walls all around.

use bevy_erode::models::pipe::PublishedPipe;
use bevy_erode::{prelude::*, terrain::FILM};

fn f64s(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

/// sin α of the ground at a cell, by central differences, one-sided at the
/// border and level across a land of one cell.
fn tilt(z: impl Fn(i64, i64) -> f64, (x, y): (i64, i64), (w, h): (i64, i64), l: f64) -> f64 {
    let (x0, x1) = ((x - 1).max(0), (x + 1).min(w - 1));
    let (y0, y1) = ((y - 1).max(0), (y + 1).min(h - 1));
    let per = |rise: f64, cells: i64| {
        if cells == 0 {
            0.0
        } else {
            rise / (cells as f64 * l)
        }
    };
    let along_x = per(z(x1, y) - z(x0, y), x1 - x0);
    let along_y = per(z(x, y1) - z(x, y0), y1 - y0);
    let gradient = (along_x * along_x + along_y * along_y).sqrt();
    gradient / (1.0 + gradient * gradient).sqrt()
}

/// X. Mei, P. Decaudin, B.-G. Hu 2007, equation by equation.
pub mod published {
    use super::*;

    /// The land of `width` × `height` cells of side `l`, and all that the
    /// method keeps between steps.
    #[derive(Clone)]
    pub struct Oracle {
        pub width: i64,
        pub height: i64,
        pub l: f64,
        pub bedrock: Vec<f64>,
        pub soil: Vec<f64>,
        pub water: Vec<f64>,
        pub suspended: Vec<f64>,
        pub f_l: Vec<f64>,
        pub f_r: Vec<f64>,
        pub f_t: Vec<f64>,
        pub f_b: Vec<f64>,
        pub u: Vec<f64>,
        pub v: Vec<f64>,
    }

    impl Oracle {
        /// The terrain's layers, with water at rest.
        pub fn of(terrain: &Terrain) -> Self {
            let zeros = vec![0.0; terrain.grid().cells()];
            Self {
                width: terrain.size().x.into(),
                height: terrain.size().y.into(),
                l: terrain.cell_size().into(),
                bedrock: f64s(terrain.bedrock()),
                soil: f64s(terrain.soil()),
                water: f64s(terrain.water()),
                suspended: f64s(terrain.suspended()),
                f_l: zeros.clone(),
                f_r: zeros.clone(),
                f_t: zeros.clone(),
                f_b: zeros.clone(),
                u: zeros.clone(),
                v: zeros,
            }
        }

        fn cells(&self) -> impl Iterator<Item = (i64, i64, usize)> + use<> {
            let (w, h) = (self.width, self.height);
            (0..h).flat_map(move |y| (0..w).map(move |x| (x, y, (y * w + x) as usize)))
        }

        /// Position of a cell, or `None` beyond the border.
        fn at(&self, x: i64, y: i64) -> Option<usize> {
            let inside = x >= 0 && y >= 0 && x < self.width && y < self.height;
            inside.then_some((y * self.width + x) as usize)
        }

        pub fn step(&mut self, settings: &PublishedPipe, dt: f64) {
            let area = f64::from(settings.pipe_area);
            let g = f64::from(settings.gravity);
            let kc = f64::from(settings.capacity);
            let ks = f64::from(settings.dissolving);
            let kd = f64::from(settings.deposition);
            let ke = f64::from(settings.evaporation);
            let least_tilt = f64::from(settings.min_tilt).to_radians().sin();
            let l = self.l;
            let b: Vec<f64> = (0..self.bedrock.len())
                .map(|i| self.bedrock[i] + self.soil[i])
                .collect();
            let d1 = self.water.clone();

            // (2), (3): the pipes' flux.
            for (x, y, i) in self.cells() {
                let accelerated = |f: f64, neighbor: Option<usize>| match neighbor {
                    Some(j) => {
                        let fall = b[i] + d1[i] - b[j] - d1[j];
                        f64::max(0.0, f + dt * area * g * fall / l)
                    }
                    None => 0.0,
                };
                self.f_l[i] = accelerated(self.f_l[i], self.at(x - 1, y));
                self.f_r[i] = accelerated(self.f_r[i], self.at(x + 1, y));
                self.f_t[i] = accelerated(self.f_t[i], self.at(x, y + 1));
                self.f_b[i] = accelerated(self.f_b[i], self.at(x, y - 1));
                // (4), (5): no more than there is.
                let sum = self.f_l[i] + self.f_r[i] + self.f_t[i] + self.f_b[i];
                if sum > 0.0 {
                    let k = f64::min(1.0, d1[i] * l * l / (sum * dt));
                    self.f_l[i] *= k;
                    self.f_r[i] *= k;
                    self.f_t[i] *= k;
                    self.f_b[i] *= k;
                }
            }

            // (6), (7): depth. (8), (9): velocity.
            let mut d2 = d1.clone();
            for (x, y, i) in self.cells() {
                let f = |plane: &[f64], x, y| self.at(x, y).map_or(0.0, |j| plane[j]);
                let f_in = f(&self.f_r, x - 1, y)
                    + f(&self.f_t, x, y - 1)
                    + f(&self.f_l, x + 1, y)
                    + f(&self.f_b, x, y + 1);
                let f_out = self.f_l[i] + self.f_r[i] + self.f_t[i] + self.f_b[i];
                d2[i] = d1[i] + dt * (f_in - f_out) / (l * l);
                let through_x = (f(&self.f_r, x - 1, y) - self.f_l[i] + self.f_r[i]
                    - f(&self.f_l, x + 1, y))
                    / 2.0;
                let through_y = (f(&self.f_t, x, y - 1) - self.f_b[i] + self.f_t[i]
                    - f(&self.f_b, x, y + 1))
                    / 2.0;
                let mean = (d1[i] + d2[i]) / 2.0;
                let wet = mean > f64::from(FILM);
                self.u[i] = if wet { through_x / (l * mean) } else { 0.0 };
                self.v[i] = if wet { through_y / (l * mean) } else { 0.0 };
            }

            // (10) to (12): erosion and deposition.
            let mut s1 = self.suspended.clone();
            let size = (self.width, self.height);
            for (x, y, i) in self.cells() {
                let z = |x: i64, y: i64| b[(y * size.0 + x) as usize];
                let sin_alpha = tilt(z, (x, y), size, l).max(least_tilt);
                let speed = (self.u[i] * self.u[i] + self.v[i] * self.v[i]).sqrt();
                let c = kc * sin_alpha * speed;
                let s = self.suspended[i];
                if c > s {
                    let cut = ks * (c - s);
                    let of_soil = cut.min(self.soil[i]);
                    self.soil[i] -= of_soil;
                    self.bedrock[i] -= cut - of_soil;
                    s1[i] = s + cut;
                } else {
                    let fall = kd * (s - c);
                    self.soil[i] += fall;
                    s1[i] = s - fall;
                }
            }

            // (14): an Euler step backward, bilinear.
            for (x, y, i) in self.cells() {
                let last = ((self.width - 1) as f64, (self.height - 1) as f64);
                let from_x = (x as f64 - self.u[i] * dt / l).clamp(0.0, last.0);
                let from_y = (y as f64 - self.v[i] * dt / l).clamp(0.0, last.1);
                let mut value = 0.0;
                for (ox, oy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                    let (cx, cy) = (from_x.floor() + ox, from_y.floor() + oy);
                    let weight = (1.0 - (from_x - cx).abs()) * (1.0 - (from_y - cy).abs());
                    // A corner beyond the border has no weight.
                    if let Some(j) = self.at(cx as i64, cy as i64) {
                        value += weight * s1[j];
                    }
                }
                self.suspended[i] = value;
            }

            // (15): evaporation.
            for (d, d2) in self.water.iter_mut().zip(&d2) {
                *d = f64::max(0.0, d2 * (1.0 - ke * dt));
            }
        }
    }
}

/// The default method, in the words of the model's own page.
pub mod default {
    use super::*;

    /// The land of `width` × `height` cells of side `l`, and the discharge
    /// through each cell's east and south face (m²/s; zero at the border).
    #[derive(Clone)]
    pub struct Oracle {
        pub width: i64,
        pub height: i64,
        pub l: f64,
        pub bedrock: Vec<f64>,
        pub soil: Vec<f64>,
        pub water: Vec<f64>,
        pub suspended: Vec<f64>,
        pub hardness: Option<Vec<f64>>,
        pub east: Vec<f64>,
        pub south: Vec<f64>,
    }

    impl Oracle {
        /// The terrain's layers and its flow, if it has any.
        pub fn of(terrain: &Terrain) -> Self {
            let zeros = || vec![0.0; terrain.grid().cells()];
            Self {
                width: terrain.size().x.into(),
                height: terrain.size().y.into(),
                l: terrain.cell_size().into(),
                bedrock: f64s(terrain.bedrock()),
                soil: f64s(terrain.soil()),
                water: f64s(terrain.water()),
                suspended: f64s(terrain.suspended()),
                hardness: terrain.hardness().map(f64s),
                east: terrain.flow().map_or_else(zeros, |flow| f64s(flow.east())),
                south: terrain.flow().map_or_else(zeros, |flow| f64s(flow.south())),
            }
        }

        fn cells(&self) -> impl Iterator<Item = (i64, i64, usize)> + use<> {
            let (w, h) = (self.width, self.height);
            (0..h).flat_map(move |y| (0..w).map(move |x| (x, y, (y * w + x) as usize)))
        }

        /// Position of a cell, or `None` beyond the border.
        fn at(&self, x: i64, y: i64) -> Option<usize> {
            let inside = x >= 0 && y >= 0 && x < self.width && y < self.height;
            inside.then_some((y * self.width + x) as usize)
        }

        /// One step that is not split.
        pub fn step(&mut self, settings: &PipeModel, dt: f64) {
            let film = f64::from(FILM);
            let g = f64::from(settings.gravity);
            let n = f64::from(settings.roughness);
            let l = self.l;
            let z: Vec<f64> = (0..self.bedrock.len())
                .map(|i| self.bedrock[i] + self.soil[i])
                .collect();
            let (d, s) = (self.water.clone(), self.suspended.clone());
            let face = |plane: &[f64], x, y| self.at(x, y).map_or(0.0, |i| plane[i]);

            // b: how much more goes through a cell across a face's direction than
            // along it.
            let beyond = |along: f64, across: f64| f64::max(0.0, across.abs() - along.abs());
            let straight = |x: i64, y: i64, of_east: bool| {
                let u = (face(&self.east, x - 1, y) + face(&self.east, x, y)) / 2.0;
                let v = (face(&self.south, x, y - 1) + face(&self.south, x, y)) / 2.0;
                if of_east { beyond(u, v) } else { beyond(v, u) }
            };

            // Δ: what leaves a cell in all.
            let sent = |x: i64, y: i64| {
                let along = face(&self.east, x, y) - face(&self.east, x - 1, y);
                let across = face(&self.south, x, y) - face(&self.south, x, y - 1);
                along + across
            };

            // q*: each face by itself, from the old discharge.
            let wish =
                |i: usize, j: usize, q: f64, next: f64, p: f64, b: [f64; 2], sent: [f64; 2]| {
                    let (h_i, h_j) = (z[i] + d[i], z[j] + d[j]);
                    let h = f64::max(0.0, h_i.max(h_j) - z[i].max(z[j]));
                    if h <= film {
                        return 0.0;
                    }
                    let friction = g * n * n * dt * (q * q + p * p).sqrt() / h.powf(7.0 / 3.0);
                    let calmed = q + (dt / l).min(0.25) * (next - 2.0 * q);
                    let deeper = d[i].max(d[j]).max(film);
                    let spread = 0.8 * (b[0] - b[1]) * h / deeper;
                    let push = g * h * dt * (h_j - h_i) / l;
                    let borne = (5.0 / 3.0 * dt / l * q.abs() / deeper).min(0.9);
                    let carried = borne * if q > 0.0 { sent[0] } else { -sent[1] };
                    (calmed - push - carried + friction * (q + spread)) / (1.0 + 2.0 * friction)
                };
            let mut east = vec![0.0; z.len()];
            let mut south = vec![0.0; z.len()];
            for (x, y, i) in self.cells() {
                if let Some(j) = self.at(x + 1, y) {
                    let crossing = face(&self.south, x, y - 1)
                        + face(&self.south, x, y)
                        + face(&self.south, x + 1, y - 1)
                        + face(&self.south, x + 1, y);
                    let next = face(&self.east, x - 1, y) + face(&self.east, x + 1, y);
                    let b = [straight(x, y, true), straight(x + 1, y, true)];
                    let sent = [sent(x, y), sent(x + 1, y)];
                    east[i] = wish(i, j, self.east[i], next, crossing / 4.0, b, sent);
                }
                if let Some(j) = self.at(x, y + 1) {
                    let crossing = face(&self.east, x - 1, y)
                        + face(&self.east, x, y)
                        + face(&self.east, x - 1, y + 1)
                        + face(&self.east, x, y + 1);
                    let next = face(&self.south, x, y - 1) + face(&self.south, x, y + 1);
                    let b = [straight(x, y, false), straight(x, y + 1, false)];
                    let sent = [sent(x, y), sent(x, y + 1)];
                    south[i] = wish(i, j, self.south[i], next, crossing / 4.0, b, sent);
                }
            }

            // K: no cell gives more than it has.
            let mut k = vec![1.0; z.len()];
            for (x, y, i) in self.cells() {
                let out = f64::max(0.0, -face(&east, x - 1, y))
                    + f64::max(0.0, east[i])
                    + f64::max(0.0, -face(&south, x, y - 1))
                    + f64::max(0.0, south[i]);
                if out > 0.0 {
                    k[i] = f64::min(1.0, d[i] / (dt / l * out));
                }
            }
            for (x, y, i) in self.cells() {
                if let Some(j) = self.at(x + 1, y) {
                    east[i] *= if east[i] > 0.0 { k[i] } else { k[j] };
                }
                if let Some(j) = self.at(x, y + 1) {
                    south[i] *= if south[i] > 0.0 { k[i] } else { k[j] };
                }
            }

            // Water and its load go through the faces.
            let (mut new_d, mut new_s) = (d.clone(), s.clone());
            let mut give = |i: usize, j: usize, q: f64| {
                let giver = if q > 0.0 { i } else { j };
                if q == 0.0 || d[giver] == 0.0 {
                    return;
                }
                let (water, load) = (dt / l * q, dt / l * q * s[giver] / d[giver]);
                new_d[i] -= water;
                new_d[j] += water;
                new_s[i] -= load;
                new_s[j] += load;
            };
            for (x, y, i) in self.cells() {
                if let Some(j) = self.at(x + 1, y) {
                    give(i, j, east[i]);
                }
                if let Some(j) = self.at(x, y + 1) {
                    give(i, j, south[i]);
                }
            }
            // What is below zero here is a last place of the sums.
            self.water = new_d.iter().map(|d| d.max(0.0)).collect();
            self.suspended = new_s.iter().map(|s| s.max(0.0)).collect();

            // What each cell's water wears and lets fall, on the ground of before.
            let (carving, threshold) = (
                f64::from(settings.carving) * dt,
                f64::from(settings.threshold),
            );
            let sinks = f64::from(settings.settling) * dt;
            let mut worn = vec![0.0; z.len()];
            let mut fallen = self.suspended.clone();
            let deeper: Vec<f64> = (0..z.len())
                .map(|i| d[i].max(self.water[i]).max(film))
                .collect();
            for (x, y, i) in self.cells() {
                if self.water[i] <= film {
                    continue;
                }
                let face = |plane: &[f64], x, y| self.at(x, y).map_or(0.0, |i| plane[i]);
                let u = (face(&east, x - 1, y) + east[i]) / 2.0;
                let v = (face(&south, x, y - 1) + south[i]) / 2.0;
                let speed = (u * u + v * v) / deeper[i].powi(2);
                let stress = n * n * speed.min(100.0 * g * deeper[i]) / deeper[i].cbrt();
                worn[i] = carving * f64::max(0.0, stress - threshold);
                fallen[i] *= sinks / (deeper[i] + sinks);
            }

            // What falls is scattered to lower neighbors.
            let mut comes = fallen.clone();
            let mut scatter = |i: usize, j: usize| {
                let gives = |i: usize, j: usize| {
                    let share = (z[i] + deeper[i] - z[j]) / deeper[i];
                    fallen[i] / 6.0 * share.clamp(0.0, 1.0)
                };
                let flow = gives(i, j) - gives(j, i);
                comes[i] -= flow;
                comes[j] += flow;
            };
            for (x, y, i) in self.cells() {
                if let Some(j) = self.at(x + 1, y) {
                    scatter(i, j);
                }
                if let Some(j) = self.at(x, y + 1) {
                    scatter(i, j);
                }
            }

            // Erosion and deposition; what is worn is smoothed.
            let carrying = f64::from(settings.carrying);
            let near = |x: i64, y: i64| {
                let (x, y) = (x.clamp(0, self.width - 1), y.clamp(0, self.height - 1));
                worn[(y * self.width + x) as usize]
            };
            for (x, y, i) in self.cells() {
                let mut smooth = 0.0;
                for offset in -1..=1 {
                    let row = near(x - 1, y + offset) + near(x + 1, y + offset);
                    smooth += (row + near(x, y + offset)) / 9.0;
                }
                // Beyond a border the ground goes on as at its edge.
                let bend = |a: Option<usize>, b: Option<usize>| match (a, b) {
                    (Some(a), Some(b)) => z[a] + z[b] - 2.0 * z[i],
                    _ => 0.0,
                };
                let bend = bend(self.at(x - 1, y), self.at(x + 1, y))
                    + bend(self.at(x, y - 1), self.at(x, y + 1));
                let bend = f64::from(settings.smoothing) * bend / l;
                let smooth = smooth * (1.0 - bend.clamp(-0.8, 0.8));
                let load = self.suspended[i] - fallen[i];
                if self.water[i] <= film {
                    self.soil[i] += comes[i];
                    self.suspended[i] = 0.0;
                    continue;
                }
                let full = carrying * self.water[i];
                let wanted = match smooth > 0.0 {
                    true => smooth * f64::max(0.0, full - load) / (full + smooth),
                    false => 0.0,
                };
                let surplus = f64::max(0.0, load - full);
                let of_soil = wanted.min(self.soil[i]);
                let hardness = self.hardness.as_ref().map_or(0.0, |map| map[i]);
                let rock = f64::from(settings.bedrock) * (1.0 - hardness);
                let of_rock = (wanted - of_soil) * rock;
                self.soil[i] += comes[i] + surplus - of_soil;
                self.bedrock[i] -= of_rock;
                self.suspended[i] = load - surplus + of_soil + of_rock;
            }
            self.east = east;
            self.south = south;
        }
    }
}

/// The oracle itself is sound: it keeps water and solids, and its standing wave
/// has the period that the equations of long waves say.
#[test]
fn the_default_oracle_conserves_and_keeps_time() {
    let terrain = crate::land(4, bevy::math::UVec2::new(24, 17), 2.0)
        .with_soil_depth(0.01)
        .and_then(|t| t.with_layer(Layer::Water, vec![0.2; 24 * 17]))
        .and_then(|t| t.with_layer(Layer::Hardness, vec![0.5; 24 * 17]))
        .expect("valid");
    let settings = PipeModel::default();
    let mut oracle = default::Oracle::of(&terrain);
    let water = |o: &default::Oracle| o.water.iter().sum::<f64>();
    let layers = |o: &default::Oracle| -> f64 {
        let layers = [&o.bedrock, &o.soil, &o.suspended];
        layers.into_iter().flatten().sum()
    };
    let before = (water(&oracle), layers(&oracle), oracle.bedrock.clone());
    for _ in 0..300 {
        oracle.step(&settings, 0.02);
    }
    assert_ne!(before.2, oracle.bedrock);
    assert!((water(&oracle) / before.0 - 1.0).abs() < 1e-12);
    assert!((layers(&oracle) - before.1).abs() < 1e-9 * before.1.abs());

    let (cells, depth, dt) = (50, 2.0, 0.1);
    let slosh = (0..cells).map(|i| {
        let x = (f64::from(i) + 0.5) / f64::from(cells);
        depth + 1e-5 * (core::f64::consts::PI * x).cos()
    });
    let settings = PipeModel {
        roughness: 0.0,
        // A bed that gives way would change the period.
        carving: 0.0,
        ..PipeModel::default()
    };
    let flat = Terrain::flat(bevy::math::UVec2::new(cells as u32, 1), 1.0).expect("valid");
    let mut tank = default::Oracle {
        water: slosh.collect(),
        ..default::Oracle::of(&flat)
    };
    let (mut crossings, mut last) = (Vec::new(), 0.0);
    for step in 0..4000 {
        tank.step(&settings, dt);
        let now = tank.water[0] - depth;
        if last < 0.0 && now >= 0.0 {
            crossings.push(f64::from(step) - now / (now - last));
        }
        last = now;
    }
    let swings = (crossings.len() - 1) as f64;
    let period = (crossings[crossings.len() - 1] - crossings[0]) / swings * dt;
    let g = f64::from(settings.gravity);
    let rate = (g * depth).sqrt() * (core::f64::consts::PI / 2.0 / f64::from(cells)).sin();
    let truth = core::f64::consts::PI * dt / (dt * rate).asin();
    assert!((period / truth - 1.0).abs() < 1e-4, "{period} {truth}");
}
