//! Implicit shallow water with regolith as B. Beneš (2007) prints it, but for
//! the sign of the damping: levels and two past levels, a dense view of the
//! tridiagonal systems, no borders but walls.

/// The source's constants.
#[derive(Clone, Copy)]
pub struct Constants {
    pub gravity: f64,
    pub water_damping: f64,
    pub regolith_damping: f64,
    /// c_r.
    pub regolith_depth: f64,
    pub dx: f64,
    pub dt: f64,
}

/// A fluid's level over its bed, and its two past levels.
#[derive(Clone)]
pub struct Level {
    pub h: Vec<f64>,
    /// h(t − Δt) and h(t − 2Δt), when a solve begins.
    pub past: [Vec<f64>; 2],
}

pub struct Oracle {
    pub width: usize,
    pub height: usize,
    pub constants: Constants,
    /// b, r.
    pub bottom: Vec<f64>,
    pub regolith: Vec<f64>,
    pub water: Level,
    /// The level of the regolith, br.
    pub ground: Level,
}

impl Oracle {
    pub fn new(width: usize, height: usize, ground: Vec<f64>, water: &[f64], c: Constants) -> Self {
        let h: Vec<f64> = ground.iter().zip(water).map(|(z, d)| z + d).collect();
        let at_rest = |h: Vec<f64>| Level {
            past: [h.clone(), h.clone()],
            h,
        };
        Self {
            width,
            height,
            constants: c,
            bottom: ground.clone(),
            regolith: vec![0.0; ground.len()],
            water: at_rest(h),
            ground: at_rest(ground),
        }
    }

    /// d = h − br.
    pub fn depths(&self) -> Vec<f64> {
        let levels = self.water.h.iter().zip(&self.ground.h);
        levels.map(|(h, br)| h - br).collect()
    }

    /// r after it crept, br − b.
    pub fn regolith_depths(&self) -> Vec<f64> {
        let levels = self.ground.h.iter().zip(&self.bottom);
        levels.map(|(br, b)| br - b).collect()
    }

    /// One solve for the water. Returns the largest change of a level.
    pub fn solve_water(&mut self) -> f64 {
        let bed = self.ground.h.clone();
        let tau = self.constants.water_damping;
        solve(
            &mut self.water,
            &bed,
            (self.width, self.height),
            tau,
            &self.constants,
        )
    }

    /// Disintegration and deposition, equation (5).
    pub fn exchange(&mut self) {
        let depths = self.depths();
        for (i, d) in depths.iter().enumerate() {
            self.regolith[i] = d.min(self.constants.regolith_depth);
            self.bottom[i] = self.ground.h[i] - self.regolith[i];
            if self.regolith[i] == 0.0 {
                for past in &mut self.ground.past {
                    past[i] = self.ground.h[i];
                }
            }
        }
    }

    /// One solve for the regolith; the water is lifted with its bed.
    pub fn solve_regolith(&mut self) -> f64 {
        let before = self.ground.h.clone();
        let bed = self.bottom.clone();
        let tau = self.constants.regolith_damping;
        let size = (self.width, self.height);
        let fastest = solve(&mut self.ground, &bed, size, tau, &self.constants);
        for i in 0..before.len() {
            let lift = self.ground.h[i] - before[i];
            self.water.h[i] += lift;
            self.water.past[0][i] += lift;
            self.water.past[1][i] += lift;
        }
        fastest
    }

    /// Water to steady, exchange, regolith to steady.
    pub fn cycle(&mut self, solves: u32, steady: f64) {
        let bar = steady * self.constants.dt;
        for _ in 0..solves {
            if self.solve_water() <= bar {
                break;
            }
        }
        self.exchange();
        for _ in 0..solves {
            if self.solve_regolith() <= bar {
                break;
            }
        }
    }
}

/// A·h = h₁ + (1 − τ)·(h₁ − h₂), rows first and then columns. Levels below the
/// bed are raised to it, and have no past.
fn solve(level: &mut Level, bed: &[f64], size: (usize, usize), tau: f64, c: &Constants) -> f64 {
    let (width, height) = size;
    let depth: Vec<f64> = level.h.iter().zip(bed).map(|(h, b)| h - b).collect();
    let [_, older] = &level.past;
    let now = level.h.clone();
    let right = now.iter().zip(older);
    let mut h: Vec<f64> = right.map(|(h1, h2)| h1 + (1.0 - tau) * (h1 - h2)).collect();
    for y in 0..height {
        let cells: Vec<usize> = (0..width).map(|x| y * width + x).collect();
        solve_line(&cells, &depth, &mut h, c);
    }
    for x in 0..width {
        let cells: Vec<usize> = (0..height).map(|y| y * width + x).collect();
        solve_line(&cells, &depth, &mut h, c);
    }
    let mut fastest: f64 = 0.0;
    level.past = [h.clone(), now.clone()];
    for i in 0..h.len() {
        if h[i] <= bed[i] {
            h[i] = bed[i];
            level.past[0][i] = bed[i];
            level.past[1][i] = bed[i];
        } else {
            fastest = fastest.max((h[i] - now[i]).abs());
        }
    }
    level.h = h;
    fastest
}

/// The tridiagonal system (3) of a line of cells, by elimination.
fn solve_line(cells: &[usize], depth: &[f64], h: &mut [f64], c: &Constants) {
    let n = cells.len();
    let k = c.gravity * c.dt * c.dt / (2.0 * c.dx * c.dx);
    let d: Vec<f64> = cells.iter().map(|&cell| depth[cell]).collect();
    let f = |i: usize| -k * (d[i] + d[i + 1]);
    let mut e: Vec<f64> = (0..n)
        .map(|i| {
            let before = if i > 0 { d[i - 1] + d[i] } else { 0.0 };
            let after = if i + 1 < n { d[i] + d[i + 1] } else { 0.0 };
            1.0 + k * (before + after)
        })
        .collect();
    let mut right: Vec<f64> = cells.iter().map(|&cell| h[cell]).collect();
    for i in 1..n {
        let factor = f(i - 1) / e[i - 1];
        e[i] -= factor * f(i - 1);
        right[i] -= factor * right[i - 1];
    }
    for i in (0..n).rev() {
        let next = if i + 1 < n {
            f(i) * h[cells[i + 1]]
        } else {
            0.0
        };
        h[cells[i]] = (right[i] - next) / e[i];
    }
}
