//! Lava, face by face and cell by cell.

/// A land with lava, row by row, in metres.
#[derive(Clone)]
pub struct Land {
    pub size: (i64, i64),
    pub cell_size: f64,
    pub bedrock: Vec<f64>,
    pub soil: Vec<f64>,
    pub water: Vec<f64>,
    pub suspended: Vec<f64>,
    pub lava: Vec<f64>,
    pub heat: Vec<f64>,
}

/// The model's settings.
#[derive(Clone, Copy)]
pub struct Settings {
    pub viscosity: f64,
    pub stiffening: f64,
    pub yield_strength: f64,
    pub density: f64,
    pub gravity: f64,
    pub cooling: f64,
    pub edge_cooling: f64,
    pub steam: f64,
}

const SIDES: [(i64, i64); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];

impl Land {
    fn index(&self, (x, y): (i64, i64)) -> Option<usize> {
        let (width, height) = self.size;
        let inside = x >= 0 && y >= 0 && x < width && y < height;
        inside.then_some((y * width + x) as usize)
    }

    fn ground(&self, i: usize) -> f64 {
        self.bedrock[i] + self.soil[i]
    }

    fn surface(&self, i: usize) -> f64 {
        self.ground(i) + self.lava[i]
    }

    /// Slope of a cell's surface along an axis; walls are as high as it is.
    fn slope(&self, at: (i64, i64), axis: (i64, i64)) -> f64 {
        let own = self.index(at).map_or(0.0, |i| self.surface(i));
        let level = |sign: i64| {
            let other = self.index((at.0 + sign * axis.0, at.1 + sign * axis.1));
            match other {
                Some(i) if self.lava[i] > 0.0 || self.surface(i) <= own => self.surface(i),
                _ => own,
            }
        };
        (level(1) - level(-1)) / (2.0 * self.cell_size)
    }

    /// What a cell would give to another in `dt` seconds.
    fn wish(&self, from: (i64, i64), side: (i64, i64), set: &Settings, dt: f64) -> f64 {
        let there = self.index((from.0 + side.0, from.1 + side.1));
        let (Some(i), Some(j)) = (self.index(from), there) else {
            return 0.0;
        };
        let drop = self.surface(i) - self.surface(j);
        if drop <= 0.0 || self.lava[i] <= 0.0 {
            return 0.0;
        }
        let step = self.ground(i).max(self.ground(j));
        let thick = self.lava[i].min(self.surface(i) - step);
        let along = drop / self.cell_size;
        let across = self.slope(from, (side.1.abs(), side.0.abs()));
        let slope = (along * along + across * across).sqrt();
        let slant = (1.0 + slope * slope).sqrt();
        let weight = set.density * set.gravity;
        let r = (set.yield_strength * slant / (weight * slope * thick)).min(1.0);
        let warmth = (self.heat[i] / self.lava[i]).min(1.0);
        let viscosity = set.viscosity * (1.0 + (set.stiffening - 1.0) * (1.0 - warmth));
        let q = weight / (3.0 * viscosity) * thick.powi(3) * along / slant;
        let q = q * (1.0 - 1.5 * r + 0.5 * r.powi(3));
        (q * dt / self.cell_size).min(0.2 * drop)
    }

    /// Lets lava flow for one sub-step.
    pub fn flow(&mut self, set: &Settings, dt: f64) {
        let old = self.clone();
        for y in 0..self.size.1 {
            for x in 0..self.size.0 {
                let here = (x, y);
                let wishes = SIDES.map(|side| old.wish(here, side, set, dt));
                let total: f64 = wishes.iter().sum();
                let Some(i) = old.index(here).filter(|_| total > 0.0) else {
                    continue;
                };
                let share = (0.5 * old.lava[i] / total).min(1.0);
                let warmth = (old.heat[i] / old.lava[i]).min(1.0);
                for (side, wish) in SIDES.into_iter().zip(wishes) {
                    if let Some(j) = old.index((x + side.0, y + side.1)) {
                        let flow = share * wish;
                        self.lava[i] -= flow;
                        self.lava[j] += flow;
                        self.heat[i] -= flow * warmth;
                        self.heat[j] += flow * warmth;
                    }
                }
            }
        }
    }

    /// Cools lava and lets it meet water. Returns the steam, as a depth of water.
    pub fn freeze(&mut self, set: &Settings, dt: f64) -> f64 {
        let old = self.clone();
        let mut steam = 0.0;
        for y in 0..self.size.1 {
            for x in 0..self.size.0 {
                let Some(i) = old.index((x, y)).filter(|&i| old.lava[i] > 0.0) else {
                    continue;
                };
                let around = SIDES.map(|(dx, dy)| old.index((x + dx, y + dy)));
                let open = around.iter().flatten().filter(|&&j| old.lava[j] <= 0.0);
                let lost = set.cooling * (1.0 + set.edge_cooling * open.count() as f64) * dt;
                let warmth = old.heat[i] / old.lava[i];
                let cold = (lost - old.heat[i]).clamp(0.0, old.lava[i]);
                let left = old.lava[i] - cold;
                let quenched = left.min(old.water[i] / set.steam);
                let mut frozen = cold + quenched;
                self.heat[i] = (old.heat[i] - lost).max(0.0) - quenched * warmth;
                if old.lava[i] - frozen < 1e-4 {
                    frozen = old.lava[i];
                }
                self.lava[i] -= frozen;
                self.heat[i] = self.heat[i].clamp(0.0, self.lava[i]);
                self.bedrock[i] += frozen;
                if cold + quenched > 0.0 {
                    self.bedrock[i] += self.soil[i];
                    self.soil[i] = 0.0;
                }
                self.water[i] -= set.steam * quenched;
                steam += set.steam * quenched;
                if quenched > 0.0 && self.water[i] < 1e-7 {
                    self.bedrock[i] += self.suspended[i];
                    self.suspended[i] = 0.0;
                }
            }
        }
        steam
    }
}
