//! The last part of a solve: moves the fluid by the flows of both sweeps, sums up what
//! crosses the borders, and records which tiles changed.

use super::{
    sheet::{BAND, Report, TILE_WIDTH, border_at, is_wall},
    sweeps::LANES,
};
use crate::terrain::{Border, Borders};
use multiversion::multiversion;

/// The source's method makes water out of nothing; depths are limited to this.
/// units: m
const MAX_DEPTH: f32 = 1e8;

/// What a finished sweep gives, to be read by all bands.
pub(super) struct Done<'a> {
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    pub borders: Borders,
    pub depth: &'a [f32],
    /// Along and across the rows.
    pub kept: [&'a [f32]; 2],
    pub along: &'a [f32],
    pub across: &'a [[f32; LANES]],
    /// Share of a past change that the source's method keeps.
    pub keep: f32,
    /// Turns a flow into a discharge. units: m/s
    pub per_flow: f32,
}

/// The rows that a band changes.
pub(super) struct Band<'a> {
    pub first: usize,
    pub depth: &'a mut [f32],
    pub rest: &'a mut [f32],
    pub east: &'a mut [f32],
    pub south: &'a mut [f32],
    pub west_border: &'a mut [f32],
    /// Of the first band only.
    pub north_border: Option<&'a mut [f32]>,
    pub history: Option<&'a mut [f32]>,
    pub report: &'a mut Report,
}

impl Done<'_> {
    /// Sum of kept and new flows through the faces along row `y`.
    #[inline(always)]
    fn along_row(&self, y: usize, row: &mut [f32]) {
        let at = y * self.pitch;
        let n = row.len();
        let (kept, new) = (&self.kept[0][at..][..n], &self.along[at..][..n]);
        for k in 0..n {
            row[k] = kept[k] + new[k];
        }
        let depth = &self.depth[(y + 1) * self.pitch + 1..][..self.width];
        let last = self.width - 1;
        let share = |x: usize| depth[x] * self.border_share(x, y);
        row[0] = allowed(self.borders.west, row[0], -1.0, share(0));
        row[n - 1] = allowed(self.borders.east, row[n - 1], 1.0, share(last));
    }

    /// Sum of kept and new flows through the faces north of row `y`.
    #[inline(always)]
    fn across_row(&self, y: usize, row: &mut [f32]) {
        let border = border_at(y, self.height, &self.borders);
        if border.is_some_and(is_wall) {
            row.fill(0.0);
            return;
        }
        let kept = &self.kept[1][y * self.pitch..][..self.width];
        for (strip, (row, kept)) in row.chunks_mut(LANES).zip(kept.chunks(LANES)).enumerate() {
            let new = &self.across[strip * (self.height + 1) + y];
            for i in 0..row.len() {
                row[i] = kept[i] + new[i];
            }
        }
        let Some(border) = border else {
            return;
        };
        let (outward, edge) = if y == 0 { (-1.0, 0) } else { (1.0, y - 1) };
        let depth = &self.depth[(edge + 1) * self.pitch + 1..][..self.width];
        for (x, flow) in row.iter_mut().enumerate() {
            let share = depth[x] * self.border_share(x, edge);
            *flow = allowed(border, *flow, outward, share);
        }
    }

    /// Kept flows along, north and south of `n` cells.
    #[inline(always)]
    fn kept_around(&self, x: usize, y: usize, n: usize) -> [&[f32]; 3] {
        let at = y * self.pitch + x;
        let [along, across] = self.kept;
        [
            &along[at..][..n + 1],
            &across[at..][..n],
            &across[at + self.pitch..][..n],
        ]
    }

    /// The share of its depth that a cell may give over one of its borders.
    #[inline(always)]
    fn border_share(&self, x: usize, y: usize) -> f32 {
        let sides = [x == 0, x + 1 == self.width, y == 0, y + 1 == self.height];
        let sides = sides.iter().filter(|side| **side).count();
        1.0 / sides.max(1) as f32
    }
}

/// What a border allows of a flow; `outward` is +1 or −1. Its cell gives no more
/// than its share: what has left cannot be brought back by a pool.
#[inline(always)]
fn allowed(border: Border, flow: f32, outward: f32, share: f32) -> f32 {
    match border {
        Border::Wall => 0.0,
        Border::Open => (flow * outward).clamp(0.0, share) * outward,
        Border::Sea { .. } => (flow * outward).min(share) * outward,
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
pub(super) fn finish_band(done: &Done, band: Band, [along, north, south]: &mut [Vec<f32>; 3]) {
    let width = done.width;
    along.resize(width + 1, 0.0);
    north.resize(width + 1, 0.0);
    south.resize(width + 1, 0.0);
    let (north, south) = (&mut north[..width], &mut south[..width]);
    let Band {
        first,
        depth,
        rest,
        east,
        south: south_flow,
        west_border,
        north_border,
        mut history,
        report,
    } = band;
    report.clear(width.div_ceil(TILE_WIDTH));
    let end = (first + BAND).min(done.height);
    done.across_row(first, north);
    if let Some(border) = north_border {
        for (border, flow) in border.iter_mut().zip(&*north) {
            *border = flow * done.per_flow;
        }
        if !is_wall(done.borders.north) {
            north.iter().for_each(|flow| report.cross(-*flow));
        }
    }
    for y in first..end {
        let row = (y - first) * width;
        done.along_row(y, &mut along[..]);
        done.across_row(y + 1, south);
        report.cross(-along[0]);
        report.cross(along[width]);
        if y + 1 == done.height && !is_wall(done.borders.south) {
            south.iter().for_each(|flow| report.cross(*flow));
        }
        west_border[y - first] = along[0] * done.per_flow;
        for (tile, moved) in report.moved.iter_mut().enumerate() {
            let columns = tile * TILE_WIDTH..((tile + 1) * TILE_WIDTH).min(width);
            let n = columns.len();
            let cells = row + columns.start..row + columns.end;
            let along = &along[columns.start..=columns.end];
            let (north, south) = (&north[columns.clone()], &south[columns.clone()]);
            let (depth, rest) = (&mut depth[cells.clone()], &mut rest[cells.clone()]);
            let (east, south_flow) = (&mut east[cells.clone()], &mut south_flow[cells.clone()]);
            let mut past = history.as_deref_mut().map(|history| &mut history[cells]);
            if let Some(past) = &mut past {
                let faces = done.kept_around(columns.start, y, n);
                report.lacking += push_by_past(past, [depth, rest], faces, done.keep);
            }
            let (mut any, mut fastest, mut below) = (0u32, 0u32, 0u32);
            for x in 0..n {
                // In `f64` the sums are as good as exact, so that what one cell
                // loses is what the others gain.
                let gain = (f64::from(along[x]) - f64::from(along[x + 1]))
                    + (f64::from(north[x]) - f64::from(south[x]));
                let total = (f64::from(depth[x]) + f64::from(rest[x])) + gain;
                depth[x] = total as f32;
                rest[x] = (total - f64::from(depth[x])) as f32;
                below |= depth[x].to_bits() & 0x8000_0000;
                fastest = fastest.max((gain as f32).abs().to_bits());
                east[x] = along[x + 1] * done.per_flow;
                south_flow[x] = south[x] * done.per_flow;
                // Without the sign bit: −0 does not count.
                any |= (along[x].to_bits() | along[x + 1].to_bits()) << 1;
                any |= (north[x].to_bits() | south[x].to_bits()) << 1;
            }
            *moved |= any != 0;
            if below != 0 {
                for x in 0..n {
                    let total = f64::from(depth[x]) + f64::from(rest[x]);
                    report.lacking += (-total).max(0.0);
                }
            }
            if let Some(past) = past {
                let faces = (&mut *east, &mut *south_flow);
                let made;
                (fastest, made) = record_past(past, [depth, rest], [along, north, south], faces);
                report.lacking += made;
            }
            report.fastest = report.fastest.max(fastest);
        }
        north.copy_from_slice(south);
    }
}

/// Of the source's method: moves levels by their past change, instead of by the
/// flows that faces keep. Returns the sum of what that made. units: m
#[inline(always)]
fn push_by_past(
    past: &mut [f32],
    [depth, rest]: [&mut [f32]; 2],
    [along, north, south]: [&[f32]; 3],
    keep: f32,
) -> f64 {
    let mut made = 0.0;
    for x in 0..past.len() {
        let kept = (along[x] - along[x + 1]) + (north[x] - south[x]);
        past[x] = keep * past[x] - kept;
        let total = (f64::from(depth[x]) + f64::from(rest[x])) + f64::from(past[x]);
        depth[x] = total as f32;
        rest[x] = (total - f64::from(depth[x])) as f32;
        made += f64::from(past[x]);
    }
    made
}

/// Of the source's method: records the change of each level, zero where it is dry, and
/// returns the largest as bits. The method lets dry cells give water; no discharge is
/// shown there. Depths that only this error can reach are cut, and what that made (a
/// negative volume) is returned too. units: m
#[inline(always)]
fn record_past(
    past: &mut [f32],
    [depth, rest]: [&mut [f32]; 2],
    [along, north, south]: [&[f32]; 3],
    (east, south_flow): (&mut [f32], &mut [f32]),
) -> (u32, f64) {
    let (mut fastest, mut made) = (0u32, 0.0);
    for x in 0..past.len() {
        let gain = (along[x] - along[x + 1]) + (north[x] - south[x]);
        let dry = depth[x] <= 0.0;
        past[x] = if dry { 0.0 } else { past[x] + gain };
        fastest = fastest.max(past[x].abs().to_bits());
        if dry {
            (depth[x], rest[x]) = (0.0, 0.0);
            (east[x], south_flow[x]) = (0.0, 0.0);
        } else if depth[x] > MAX_DEPTH {
            made -= f64::from(depth[x]) + f64::from(rest[x]) - f64::from(MAX_DEPTH);
            (depth[x], rest[x], past[x]) = (MAX_DEPTH, 0.0, 0.0);
        }
    }
    (fastest, made)
}

impl Report {
    /// A face on the border: `flow` is positive where something goes out.
    #[inline(always)]
    fn cross(&mut self, flow: f32) {
        self.gone += f64::from(flow).max(0.0);
        self.come += (-f64::from(flow)).max(0.0);
    }
}
