//! One solve of a sheet of fluid over a bed: water over ground, or regolith over
//! what it creeps on.
//!
//! Four passes over the plane: [`Sheet::open_faces`] finds how well each face
//! conducts and what flow it keeps, [`Sheet::sweep_rows`] and
//! [`Sheet::sweep_columns`] solve the lines of one direction each, and
//! [`Sheet::finish`] moves the fluid. Flows count in metres of depth a step.
//!
//! Planes have a rim of one cell, that holds what lies beyond the borders, and a
//! pitch that lets a vector of lanes be read anywhere.

use super::{
    finish::{Band, Done, finish_band},
    lines::{Cells, Row, sweep_band, sweep_strip},
    sweeps::{LANES, Lines},
};
use crate::{
    models::{least, most, pipe::rows::depth_power},
    parallel::Workers,
    terrain::{Border, Borders, FILM, Flow, Grid, TILE},
};
use multiversion::multiversion;
use std::sync::Mutex;

/// Rows of a band, the piece of work that one worker does: a whole number of
/// bands makes a tile.
pub(super) const BAND: usize = LANES;
pub(super) const TILE_WIDTH: usize = TILE as usize;
/// Grids of fewer cells are done by the calling thread alone.
const FEW: usize = 8192;
/// Largest conductance of a face: at this one waves would cross ten thousand cells in a
/// step.
pub(crate) const MAX_CONDUCTANCE: f32 = 1e8;
/// Largest flow that is kept from the last step, in depths of the face; only absurd
/// changes of the step come near.
pub(crate) const MAX_KEPT: f32 = 1e4;
/// Most cells that a flood wave is carried in a step: a wave that would go further
/// than this has long lost its shape.
pub(crate) const MAX_CARRIED: f32 = 20.0;

/// How a fluid moves in one solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    /// Follows the source's method: faces of mean depth, no friction, and two
    /// past levels instead of kept flows.
    pub literal: bool,
    /// Whether a flow grows with the cell that gives it, within the step.
    pub carries: bool,
    /// Whether columns come first.
    pub columns_first: bool,
    /// Share of a flow that is kept, 1 − τ.
    pub keep: f32,
    /// g·dt²/l². units: 1/m
    pub conduct: f32,
    /// g·dt/l. units: 1/s
    pub push: f32,
    /// g·n²·dt.
    pub drag: f32,
    /// dt / l: turns a discharge into a flow. units: s/m
    pub per_length: f32,
}

impl Motion {
    /// The default's motion, by gravity, roughness and damping (1/s).
    pub fn new(gravity: f32, roughness: f32, damping: f32, dt: f32, cell_size: f32) -> Self {
        let (g, n) = (f64::from(gravity), f64::from(roughness));
        let (dt, l) = (f64::from(dt), f64::from(cell_size));
        let most = f64::from(MAX_CONDUCTANCE);
        Self {
            literal: false,
            carries: true,
            columns_first: false,
            keep: libm::exp(-f64::from(damping) * dt) as f32,
            conduct: (g * dt * dt / (l * l)).min(most) as f32,
            push: (g * dt / l).min(1e15) as f32,
            drag: (g * n * n * dt).min(1e15) as f32,
            // Neither it nor its inverse may overflow.
            per_length: (dt / l).clamp(1e-15, 1e15) as f32,
        }
    }

    /// The source's motion, by gravity and damping in a solve.
    pub fn literal(gravity: f32, damping: f32, dt: f32, cell_size: f32) -> Self {
        Self {
            literal: true,
            carries: false,
            keep: 1.0 - damping,
            ..Self::new(gravity, 0.0, 0.0, dt, cell_size)
        }
    }
}

/// What a solve changes.
pub(super) struct Fluid<'a> {
    /// Depth, as a two-float sum. units: m
    pub depth: &'a mut [f32],
    pub rest: &'a mut [f32],
    /// Discharge of every face. units: m²/s
    pub flow: &'a mut Flow,
    /// Of the source's method: last change of each level. units: m
    pub history: Option<&'a mut [f32]>,
}

/// What a solve did, summed over the plane. Depths are those of single cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Gone over the border. units: m
    pub gone: f64,
    /// Come in over the border. units: m
    pub come: f64,
    /// Lacking in cells that gave more than they had. units: m
    pub lacking: f64,
    /// The fastest change of a level, as the bits of its size. units: m
    pub fastest: u32,
    /// Tiles of the band in which something moved.
    pub moved: Vec<bool>,
}

impl Report {
    pub fn clear(&mut self, tiles: usize) {
        (self.gone, self.come, self.lacking) = (0.0, 0.0, 0.0);
        self.fastest = 0;
        self.moved.clear();
        self.moved.resize(tiles, false);
    }
}

/// Rows of one worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub lines: Lines,
    pub row: Row,
    rows: [Vec<f32>; 3],
}

/// Planes of a solve; they are used for water and regolith in turn.
#[derive(Debug)]
pub(super) struct Sheet {
    pub width: usize,
    pub height: usize,
    /// Numbers from one row of a plane to the next.
    pub pitch: usize,
    borders: Borders,
    /// Level and depth of cell (x, y) at row y + 1, column x + 1. units: m
    pub level: Vec<f32>,
    pub depth: Vec<f32>,
    /// Old discharge through the west face of cell (x, y) at row y + 1, column
    /// x. units: m²/s
    old_along: Vec<f32>,
    /// Old discharge through the north face of cell (x, y) at row y, column
    /// x + 1. units: m²/s
    old_across: Vec<f32>,
    /// Faces along the rows: west of cell (x, y) at row y, column x.
    along: Faces,
    /// Faces across the rows: north of cell (x, y) at row y, column x.
    across: Faces,
    /// New flow through the faces along the rows.
    flow_along: Vec<f32>,
    /// New flow through the faces across the rows, by strips of columns.
    flow_across: Vec<[f32; LANES]>,
    /// Whether `flow_across` is known to be zero.
    closed_across: bool,
    /// What each band did.
    pub reports: Vec<Report>,
    scratch: Mutex<Vec<Scratch>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Faces {
    pub conductance: Vec<f32>,
    pub kept: Vec<f32>,
}

impl Faces {
    fn new(numbers: usize) -> Self {
        Self {
            conductance: vec![0.0; numbers],
            kept: vec![0.0; numbers],
        }
    }
}

impl Sheet {
    pub fn new(grid: &Grid) -> Self {
        let (width, height) = (grid.width(), grid.height());
        // Not a power of two, which caches dislike.
        let pitch = (width + 2).next_multiple_of(LANES) + LANES;
        let rows = height.next_multiple_of(BAND) + BAND;
        let plane = || vec![0.0; rows * pitch];
        Self {
            width,
            height,
            pitch,
            borders: Borders::closed(),
            level: plane(),
            depth: plane(),
            old_along: plane(),
            old_across: plane(),
            along: Faces::new(rows * pitch),
            across: Faces::new(rows * pitch),
            flow_along: plane(),
            flow_across: vec![[0.0; LANES]; width.div_ceil(LANES) * (height + 1)],
            closed_across: false,
            reports: vec![Report::default(); height.div_ceil(BAND)],
            scratch: Mutex::default(),
        }
    }

    /// Loads level and depth, a row at a time, and old discharges. `fill` gets a
    /// row's number, its level and its depth.
    pub fn load(
        &mut self,
        workers: Workers,
        borders: Borders,
        flow: &Flow,
        fill: impl Fn(usize, &mut [f32], &mut [f32]) + Sync,
    ) {
        self.borders = borders;
        let (width, height, pitch) = (self.width, self.height, self.pitch);
        let rows = BAND * pitch;
        // Rows of cells begin one row further down; old flows do the same.
        let level = self.level[pitch..].chunks_mut(rows);
        let depth = self.depth[pitch..].chunks_mut(rows);
        let along = self.old_along[pitch..].chunks_mut(rows);
        let across = self.old_across[pitch..].chunks_mut(rows);
        let bands = level.zip(depth).zip(along.zip(across)).enumerate();
        workers.for_cells(width * height).each(
            bands,
            |(band, ((level, depth), (along, across)))| {
                let first = band * BAND;
                for y in first..(first + BAND).min(height) {
                    let row = (y - first) * pitch;
                    let cells = row + 1..row + 1 + width;
                    fill(y, &mut level[cells.clone()], &mut depth[cells.clone()]);
                    along[row] = flow.west_border[y];
                    along[cells.clone()].copy_from_slice(&flow.east[y * width..(y + 1) * width]);
                    across[cells].copy_from_slice(&flow.south[y * width..(y + 1) * width]);
                }
            },
        );
        self.old_across[1..=width].copy_from_slice(&flow.north_border);
    }

    /// Sets what lies beyond the borders: `beyond` gets a side, the level and
    /// depth of its edge cell, and the ground of the next cell inwards.
    pub fn surround(&mut self, beyond: impl Fn(Border, [f32; 2], f32) -> [f32; 2]) {
        let (width, height, pitch) = (self.width, self.height, self.pitch);
        let mut set = |border: Border, outer: usize, edge: usize, inner: usize| {
            // Nothing asks for what lies behind a wall.
            if is_wall(border) {
                return;
            }
            let ground = self.level[inner] - self.depth[inner];
            let here = [self.level[edge], self.depth[edge]];
            [self.level[outer], self.depth[outer]] = beyond(border, here, ground);
        };
        for y in 0..height {
            let row = (y + 1) * pitch;
            let (west, east) = (row + 1, row + width);
            set(self.borders.west, row, west, (west + 1).min(east));
            set(self.borders.east, east + 1, east, (east - 1).max(west));
        }
        if is_wall(self.borders.north) && is_wall(self.borders.south) {
            return;
        }
        for x in 1..=width {
            let (north, south) = (pitch + x, height * pitch + x);
            set(self.borders.north, x, north, (north + pitch).min(south));
            let inner = (south - pitch).max(north);
            set(self.borders.south, south + pitch, south, inner);
        }
    }

    /// Solves and moves the fluid, whose old state was loaded. Cells that gave
    /// more than they had come out below zero.
    pub fn solve(&mut self, workers: Workers, motion: &Motion, fluid: &mut Fluid) {
        let workers = workers.for_cells(self.width * self.height);
        self.open_faces(workers, motion);
        let history = fluid.history.as_deref();
        if motion.columns_first {
            self.sweep_columns(workers, motion, history, false);
            self.sweep_rows(workers, motion, history, true);
        } else {
            self.sweep_rows(workers, motion, history, false);
            self.sweep_columns(workers, motion, history, true);
        }
        self.finish(workers, motion, fluid);
    }

    /// Finds the conductance of every face and the flow that it keeps.
    fn open_faces(&mut self, workers: Workers, motion: &Motion) {
        let rows = BAND * self.pitch;
        let along = &mut self.along;
        let along = (along.conductance.chunks_mut(rows)).zip(along.kept.chunks_mut(rows));
        let across = &mut self.across;
        let across = (across.conductance.chunks_mut(rows)).zip(across.kept.chunks_mut(rows));
        let old = Old {
            width: self.width,
            height: self.height,
            pitch: self.pitch,
            borders: self.borders,
            level: &self.level,
            depth: &self.depth,
            along: &self.old_along,
            across: &self.old_across,
        };
        // The last row of faces across may be a band of its own.
        let bands = along.zip(across).enumerate();
        let bands = bands.take(self.height / BAND + 1);
        workers.each(bands, |(band, (along, across))| {
            open_band(&old, motion, band * BAND, along, across);
        });
    }

    fn sweep_rows(
        &mut self,
        workers: Workers,
        motion: &Motion,
        history: Option<&[f32]>,
        second: bool,
    ) {
        let cells = Cells {
            width: self.width,
            height: self.height,
            pitch: self.pitch,
            motion,
            history,
            level: &self.level,
            depth: &self.depth,
            old: [&self.old_along, &self.old_across],
            faces: [&self.along, &self.across],
            flow_along: None,
            flow_across: second.then_some(&self.flow_across),
        };
        let scratch = &self.scratch;
        let bands = self.flow_along.chunks_mut(BAND * self.pitch).enumerate();
        let bands = bands.take(self.height.div_ceil(BAND));
        workers.each(bands, |(band, flow)| {
            let mut own = take(scratch);
            sweep_band(&cells, band * BAND, flow, &mut own);
            put_back(scratch, own);
        });
    }

    fn sweep_columns(
        &mut self,
        workers: Workers,
        motion: &Motion,
        history: Option<&[f32]>,
        second: bool,
    ) {
        if self.height == 1 && is_wall(self.borders.north) && is_wall(self.borders.south) {
            // A single row has nowhere to flow.
            if !self.closed_across {
                self.flow_across.fill([0.0; LANES]);
                self.closed_across = true;
            }
            return;
        }
        self.closed_across = false;
        let cells = Cells {
            width: self.width,
            height: self.height,
            pitch: self.pitch,
            motion,
            history,
            level: &self.level,
            depth: &self.depth,
            old: [&self.old_along, &self.old_across],
            faces: [&self.along, &self.across],
            flow_along: second.then_some(&self.flow_along),
            flow_across: None,
        };
        let scratch = &self.scratch;
        let strips = self.flow_across.chunks_mut(self.height + 1).enumerate();
        workers.each(strips, |(strip, flow)| {
            let mut own = take(scratch);
            sweep_strip(&cells, strip * LANES, flow, &mut own);
            put_back(scratch, own);
        });
    }

    /// Moves the fluid by kept and new flows.
    fn finish(&mut self, workers: Workers, motion: &Motion, fluid: &mut Fluid) {
        let (width, height) = (self.width, self.height);
        let rows = BAND * width;
        let done = Done {
            width,
            height,
            pitch: self.pitch,
            borders: self.borders,
            depth: &self.depth,
            kept: [&self.along.kept, &self.across.kept],
            along: &self.flow_along,
            across: &self.flow_across,
            keep: motion.keep,
            per_flow: 1.0 / motion.per_length,
        };
        let Flow {
            east,
            south,
            west_border,
            north_border,
        } = &mut *fluid.flow;
        let mut history = fluid.history.as_deref_mut().map(|h| h.chunks_mut(rows));
        let mut north_border = Some(&mut north_border[..]);
        let depth = fluid
            .depth
            .chunks_mut(rows)
            .zip(fluid.rest.chunks_mut(rows));
        let flow = east.chunks_mut(rows).zip(south.chunks_mut(rows));
        let flow = flow.zip(west_border.chunks_mut(BAND));
        let bands = depth.zip(flow).zip(&mut self.reports).enumerate();
        let bands = bands.map(
            |(band, (((depth, rest), ((east, south), west_border)), report))| Band {
                first: band * BAND,
                depth,
                rest,
                east,
                south,
                west_border,
                north_border: north_border.take(),
                history: history.as_mut().and_then(Iterator::next),
                report,
            },
        );
        let scratch = &self.scratch;
        workers.each(bands, |band| {
            let mut own = take(scratch);
            finish_band(&done, band, &mut own.rows);
            put_back(scratch, own);
        });
    }
}

#[inline(always)]
pub(super) fn is_wall(border: Border) -> bool {
    matches!(border, Border::Wall)
}

/// The border that the faces north of row `y` lie on, if any.
#[inline(always)]
pub(super) fn border_at(y: usize, height: usize, borders: &Borders) -> Option<Border> {
    match y {
        0 => Some(borders.north),
        y if y == height => Some(borders.south),
        _ => None,
    }
}

fn take(pool: &Mutex<Vec<Scratch>>) -> Scratch {
    let taken = pool.lock().ok().and_then(|mut pool| pool.pop());
    taken.unwrap_or_default()
}

fn put_back(pool: &Mutex<Vec<Scratch>>, scratch: Scratch) {
    if let Ok(mut pool) = pool.lock() {
        pool.push(scratch);
    }
}

impl Workers<'_> {
    /// Waking other threads takes longer than a small grid.
    pub(super) fn for_cells(self, cells: usize) -> Self {
        if cells < FEW { Workers::serial() } else { self }
    }
}

/// The state before the solve, with what lies beyond the borders.
struct Old<'a> {
    width: usize,
    height: usize,
    pitch: usize,
    borders: Borders,
    level: &'a [f32],
    depth: &'a [f32],
    along: &'a [f32],
    across: &'a [f32],
}

/// Conductance and kept flow of a face.
#[inline(always)]
fn face<const LITERAL: bool>(
    level: [f32; 2],
    depth: [f32; 2],
    old: f32,
    crossing: f32,
    motion: &Motion,
) -> [f32; 2] {
    if LITERAL {
        let mean = 0.5 * (depth[0] + depth[1]);
        let conductance = least(motion.conduct * mean, MAX_CONDUCTANCE);
        return [conductance, old * motion.per_length * motion.keep];
    }
    let fall = level[0] - level[1];
    let down = fall >= 0.0;
    let giving = if down { depth[0] } else { depth[1] };
    let taking = if down { depth[1] } else { depth[0] };
    let depth = least(giving, fall.abs() + taking);
    let h = most(depth, FILM);
    let power = depth_power(h);
    // `crossing` is the sum of four.
    let pushed = old * motion.keep + motion.push * h * fall;
    let size = (pushed * pushed + (crossing * crossing) * (1.0 / 16.0)).sqrt();
    // Squares may overflow to infinity, and zero times infinity is NaN.
    let size = least(size, f32::MAX);
    let left = 2.0 / (1.0 + (1.0 + 4.0 * (motion.drag * size / power)).sqrt());
    let conductance = least(motion.conduct * h * left, MAX_CONDUCTANCE);
    let kept = old * motion.per_length * (motion.keep * left);
    let bound = MAX_KEPT * h;
    let kept = least(most(kept, -bound), bound);
    let wet = depth > FILM;
    let conductance = if wet { conductance } else { 0.0 };
    let kept = if wet { kept } else { 0.0 };
    [conductance, kept]
}

type FaceRows<'a> = (&'a mut [f32], &'a mut [f32]);

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn open_band(old: &Old, motion: &Motion, first: usize, along: FaceRows, across: FaceRows) {
    match motion.literal {
        true => open_rows::<true>(old, motion, first, along, across),
        false => open_rows::<false>(old, motion, first, along, across),
    }
}

#[inline(always)]
fn open_rows<const LITERAL: bool>(
    old: &Old,
    motion: &Motion,
    first: usize,
    along: FaceRows,
    across: FaceRows,
) {
    let (width, height, pitch) = (old.width, old.height, old.pitch);
    // Rows of cells, and one more row of faces south of the last.
    for y in first..(first + BAND).min(height + 1) {
        let here = (y + 1) * pitch;
        let start = (y - first) * pitch;
        if y < height {
            let n = width + 1;
            let (level, depth) = (&old.level[here..][..n + 1], &old.depth[here..][..n + 1]);
            let flow = &old.along[here..][..n];
            let north = &old.across[here - pitch..][..n + 1];
            let south = &old.across[here..][..n + 1];
            let conductance = &mut along.0[start..][..n];
            let kept = &mut along.1[start..][..n];
            for k in 0..n {
                let crossing = (north[k] + north[k + 1]) + (south[k] + south[k + 1]);
                let pair = [[level[k], level[k + 1]], [depth[k], depth[k + 1]]];
                [conductance[k], kept[k]] =
                    face::<LITERAL>(pair[0], pair[1], flow[k], crossing, motion);
            }
            for (k, border) in [(0, old.borders.west), (width, old.borders.east)] {
                if is_wall(border) {
                    (conductance[k], kept[k]) = (0.0, 0.0);
                }
            }
        }
        let conductance = &mut across.0[start..][..width];
        let kept = &mut across.1[start..][..width];
        let border = border_at(y, height, &old.borders);
        if border.is_some_and(is_wall) {
            conductance.fill(0.0);
            kept.fill(0.0);
            continue;
        }
        let (above, below) = (here - pitch + 1, here + 1);
        let [level0, level1] = [above, below].map(|at| &old.level[at..][..width]);
        let [depth0, depth1] = [above, below].map(|at| &old.depth[at..][..width]);
        let flow = &old.across[above..][..width];
        let [north, south] = [here - pitch, here].map(|at| &old.along[at..][..width + 1]);
        for x in 0..width {
            let crossing = (north[x] + north[x + 1]) + (south[x] + south[x + 1]);
            let pair = [[level0[x], level1[x]], [depth0[x], depth1[x]]];
            [conductance[x], kept[x]] =
                face::<LITERAL>(pair[0], pair[1], flow[x], crossing, motion);
        }
    }
}
