//! Brings a plane into lines, one direction at a time, and solves them: rows as
//! they lie or in lanes, columns in strips.
//!
//! With the conductance `c` of a face, the fall `D` of the old level over it, the
//! flow `kept` that it keeps and its depth `h` the terms of [`sweeps`](super::sweeps)
//! are
//!
//! ```text
//! f = kept + c·D/(1 + c)              about what will flow
//! m = 5/3·f/h, within ±MAX_CARRIED    cells that a flood wave is carried in a step
//! A = c + max(m, 0),  C = c + max(−m, 0),  P = c·D + m·e
//! ```
//!
//! where `e` is what the cell that gives will gain across the lines, if they are
//! solved first: by the old flows, but for what is kept of them and pushes anyway.
//! Beyond a border nothing rises, and e = 0.

use super::{
    sheet::{BAND, Faces, MAX_CARRIED, Motion, Scratch},
    sweeps::{Known, LANES, Lines, solve},
};
use crate::{
    models::{least, most},
    terrain::FILM,
};
use multiversion::multiversion;

/// Fewer rows are solved one by one.
const FEW_ROWS: usize = 4;
/// Places of what there is for both directions.
const ALONG: usize = 0;
const ACROSS: usize = 1;

/// What is known before a sweep; see [`Sheet`](super::sheet::Sheet) for where things
/// lie in the planes.
pub(super) struct Cells<'a> {
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    pub motion: &'a Motion,
    /// Of the source's method: past changes of the levels.
    pub history: Option<&'a [f32]>,
    pub level: &'a [f32],
    pub depth: &'a [f32],
    /// Old discharges along and across the rows.
    pub old: [&'a [f32]; 2],
    /// Faces along and across the rows.
    pub faces: [&'a Faces; 2],
    /// Flows of the first sweep, if this is the second one.
    pub flow_along: Option<&'a Vec<f32>>,
    pub flow_across: Option<&'a Vec<[f32; LANES]>>,
}

/// One row as a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    before: Vec<f32>,
    behind: Vec<f32>,
    drive: Vec<f32>,
    push: Vec<f32>,
    share: Vec<f32>,
    /// e of the cells, with one beyond each end.
    aside: Vec<f32>,
}

impl Cells<'_> {
    /// Whether flows across the lines have to be guessed: later they are known.
    fn guesses(&self) -> bool {
        self.motion.carries && self.flow_along.is_none() && self.flow_across.is_none()
    }

    /// What the cells of row `y` from column `x` on gain by kept flows, or by the
    /// source's two past levels, and by the flows of a first sweep; as many as
    /// there are, or as `push` has room for.
    #[inline(always)]
    fn find_push(&self, x: usize, y: usize, push: &mut [f32]) {
        let n = push.len().min(self.width - x);
        let push = &mut push[..n];
        let at = y * self.pitch + x;
        if let Some(history) = self.history {
            let history = &history[y * self.width + x..][..n];
            for i in 0..n {
                push[i] = self.motion.keep * history[i];
            }
        } else {
            let along = &self.faces[ALONG].kept[at..][..n + 1];
            let across = &self.faces[ACROSS].kept;
            let north = &across[at..][..n];
            let south = &across[at + self.pitch..][..n];
            for i in 0..n {
                push[i] = (along[i] - along[i + 1]) + (north[i] - south[i]);
            }
        }
        if let Some(flow) = self.flow_along {
            let flow = &flow[at..][..n + 1];
            for i in 0..n {
                push[i] += flow[i] - flow[i + 1];
            }
        }
        if let Some(flow) = self.flow_across {
            for (strip, push) in push.chunks_mut(LANES).enumerate() {
                let row = (x / LANES + strip) * (self.height + 1) + y;
                let (north, south) = (&flow[row], &flow[row + 1]);
                for i in 0..push.len() {
                    push[i] += north[i] - south[i];
                }
            }
        }
    }

    /// e of the cells of row `y` from column `x` on, for faces of one direction; as
    /// many as there are, or as `aside` has room for.
    #[inline(always)]
    fn find_aside(&self, x: usize, y: usize, direction: usize, aside: &mut [f32]) {
        let n = aside.len().min(self.width - x);
        let aside = &mut aside[..n];
        let at = y * self.pitch + x;
        let cell = at + self.pitch + 1;
        // Where old discharges come in and go out, and the same for kept flows.
        let (across, old, kept) = match direction {
            ALONG => (ACROSS, [cell - self.pitch, cell], [at, at + self.pitch]),
            _ => (ALONG, [cell - 1, cell], [at, at + 1]),
        };
        let [old_in, old_out] = old.map(|at| &self.old[across][at..][..n]);
        let [kept_in, kept_out] = kept.map(|at| &self.faces[across].kept[at..][..n]);
        let depth = &self.depth[cell..][..n];
        for i in 0..n {
            let gain = (old_in[i] - old_out[i]) * self.motion.per_length;
            let gain = gain - (kept_in[i] - kept_out[i]);
            aside[i] = least(most(gain, -depth[i]), depth[i]);
        }
    }

    /// Brings row `y` into a line.
    #[inline(always)]
    fn find_row(&self, y: usize, row: &mut Row) {
        let (width, pitch) = (self.width, self.pitch);
        let Row {
            before,
            behind,
            drive,
            push,
            share,
            aside,
        } = row;
        for plane in [
            &mut *before,
            &mut *behind,
            &mut *drive,
            &mut *push,
            &mut *share,
        ] {
            plane.resize(width + 1, 0.0);
        }
        self.find_push(0, y, push);
        aside.clear();
        aside.resize(width + 2, 0.0);
        if self.guesses() {
            self.find_aside(0, y, ALONG, &mut aside[1..=width]);
        }
        // All of a known length, so that the loop below becomes one of vectors.
        let n = width + 1;
        let aside = &aside[..n + 1];
        let [level, depth] = [self.level, self.depth].map(|p| &p[(y + 1) * pitch..][..n + 1]);
        let faces = self.faces[ALONG];
        let [c, kept] = [&faces.conductance, &faces.kept].map(|p| &p[y * pitch..][..n]);
        let (before, behind, drive) = (&mut before[..n], &mut behind[..n], &mut drive[..n]);
        let carries = self.motion.carries;
        for k in 0..n {
            let fall = level[k] - level[k + 1];
            let (depth, aside) = ([depth[k], depth[k + 1]], [aside[k], aside[k + 1]]);
            [before[k], behind[k], drive[k]] = terms(c[k], kept[k], fall, depth, aside, carries);
        }
        // On a border only the edge cell can rise, so that its depth counts.
        for (k, depth) in [(0, depth[1]), (width, depth[width])] {
            let fall = level[k] - level[k + 1];
            let aside = [aside[k], aside[k + 1]];
            [before[k], behind[k], drive[k]] =
                terms(c[k], kept[k], fall, [depth; 2], aside, carries);
        }
    }
}

/// A, C and P of a face between two cells.
#[inline(always)]
fn terms(
    conductance: f32,
    kept: f32,
    fall: f32,
    depth: [f32; 2],
    aside: [f32; 2],
    carries: bool,
) -> [f32; 3] {
    let drive = conductance * fall;
    if !carries {
        return [conductance, conductance, drive];
    }
    let down = fall >= 0.0;
    let giving = if down { depth[0] } else { depth[1] };
    let taking = if down { depth[1] } else { depth[0] };
    // Where it is too dry for a flow, both parts of `flow` are zero.
    let h = most(least(giving, fall.abs() + taking), FILM);
    let flow = kept + drive / (1.0 + conductance);
    let carried = (5.0 / 3.0) * flow / h;
    let carried = least(most(carried, -MAX_CARRIED), MAX_CARRIED);
    let aside = if carried > 0.0 { aside[0] } else { aside[1] };
    [
        conductance + most(carried, 0.0),
        conductance + most(-carried, 0.0),
        drive + carried * aside,
    ]
}

/// Solves the rows of a band, a lane each.
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
pub(super) fn sweep_band(cells: &Cells, first: usize, flow: &mut [f32], scratch: &mut Scratch) {
    let rows = BAND.min(cells.height - first);
    let Scratch { lines, row, .. } = scratch;
    if rows < FEW_ROWS {
        for number in 0..rows {
            let flow = &mut flow[number * cells.pitch..][..cells.width + 1];
            sweep_row(cells, first + number, flow, row);
        }
    } else {
        transpose_in(cells, first, lines, row, rows);
        lines.solve();
        transpose_out(cells, lines, flow, rows);
    }
}

/// Solves one row as it lies.
#[inline(always)]
fn sweep_row(cells: &Cells, y: usize, flow: &mut [f32], row: &mut Row) {
    cells.find_row(y, row);
    let known = Known {
        before: row.before.as_chunks().0,
        behind: row.behind.as_chunks().0,
        drive: row.drive.as_chunks().0,
        push: row.push.as_chunks().0,
    };
    let share = row.share.as_chunks_mut().0;
    solve::<1>(&known, share, flow.as_chunks_mut().0);
}

/// Brings rows from `first` on into lanes.
#[inline(always)]
fn transpose_in(cells: &Cells, first: usize, lines: &mut Lines, row: &mut Row, rows: usize) {
    lines.fit(cells.width);
    for lane in 0..rows {
        cells.find_row(first + lane, row);
        for (to, from) in [
            (&mut lines.before, &row.before),
            (&mut lines.behind, &row.behind),
            (&mut lines.drive, &row.drive),
            (&mut lines.push, &row.push),
        ] {
            for (to, from) in to.iter_mut().zip(from) {
                to[lane] = *from;
            }
        }
    }
}

/// Brings flows from lanes into rows.
#[inline(always)]
fn transpose_out(cells: &Cells, lines: &Lines, flow: &mut [f32], rows: usize) {
    for lane in 0..rows {
        let row = &mut flow[lane * cells.pitch..][..cells.width + 1];
        for (to, from) in row.iter_mut().zip(&lines.flow) {
            *to = from[lane];
        }
    }
}

/// Solves a strip of columns.
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
pub(super) fn sweep_strip(
    cells: &Cells,
    first: usize,
    flow: &mut [[f32; LANES]],
    scratch: &mut Scratch,
) {
    let lines = &mut scratch.lines;
    lines.fit(cells.height);
    let lanes = |plane: &[f32], at: usize| -> [f32; LANES] {
        plane[at..].first_chunk().copied().unwrap_or_default()
    };
    let faces = cells.faces[ACROSS];
    let (carries, guesses) = (cells.motion.carries, cells.guesses());
    let mut aside_above = [0.0; LANES];
    for y in 0..=cells.height {
        let at = y * cells.pitch + first;
        // Rows of the cells north and south of the faces.
        let rows = [at + 1, at + cells.pitch + 1];
        let [above, below] = rows.map(|at| lanes(cells.level, at));
        let [mut depth_above, mut depth_below] = rows.map(|at| lanes(cells.depth, at));
        // On a border only the edge cell can rise, so that its depth counts.
        if y == 0 {
            depth_above = depth_below;
        } else if y == cells.height {
            depth_below = depth_above;
        }
        let mut aside_below = [0.0; LANES];
        if y < cells.height {
            cells.find_push(first, y, &mut lines.push[y]);
            if guesses {
                cells.find_aside(first, y, ACROSS, &mut aside_below);
            }
        }
        let [conductance, kept] = [&faces.conductance, &faces.kept].map(|p| lanes(p, at));
        let (before, behind) = (&mut lines.before[y], &mut lines.behind[y]);
        let drive = &mut lines.drive[y];
        for i in 0..LANES {
            let fall = above[i] - below[i];
            let depth = [depth_above[i], depth_below[i]];
            let aside = [aside_above[i], aside_below[i]];
            [before[i], behind[i], drive[i]] =
                terms(conductance[i], kept[i], fall, depth, aside, carries);
        }
        aside_above = aside_below;
    }
    lines.solve();
    flow.copy_from_slice(&lines.flow);
}
