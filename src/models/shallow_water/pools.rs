//! Pools: cells that water connects. Where cells gave more than they had, their
//! pool makes up for it.
//!
//! Runs of cells in a row are found band by band and joined, row to row, by
//! union-find, so that the work is in proportion to the runs rather than to the
//! cells.

use super::sheet::{BAND, Fluid, Sheet};
use crate::parallel::Workers;
use multiversion::multiversion;

/// Cells of a row that are connected: wet before or after a solve, or passed by
/// water in it.
#[derive(Clone, Copy, Debug)]
struct Run {
    row: u32,
    start: u32,
    end: u32,
    /// Sum of depths. units: m
    depth: f64,
    /// Sum of what its cells lacked. units: m
    lacking: f64,
}

/// All pools of a plane; memory is kept from solve to solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    /// Runs of each band, in the order of rows and columns.
    bands: Vec<Vec<Run>>,
    /// Number of each band's first run.
    offsets: Vec<u32>,
    /// For each run one that is of the same pool; itself for the first of a pool.
    parents: Vec<u32>,
    /// Sums of depths and of lacks of the pools, at their first runs.
    sums: Vec<[f64; 2]>,
}

impl Pools {
    /// Brings depths below zero to zero, and scales the others of each pool so
    /// that its volume is what it was. `sheet` has the depths before the solve.
    pub fn restore(&mut self, workers: Workers, sheet: &Sheet, fluid: &mut Fluid) {
        let (depth, rest, flow) = (&mut *fluid.depth, &mut *fluid.rest, &*fluid.flow);
        let workers = workers.for_cells(depth.len());
        let (width, pitch) = (sheet.width, sheet.pitch);
        let rows = BAND * width;
        self.bands.resize(sheet.height.div_ceil(BAND), Vec::new());
        let bands = depth.chunks_mut(rows).zip(rest.chunks_mut(rows));
        let bands = bands.zip(&mut self.bands).enumerate();
        workers.each(bands, |(band, ((depth, rest), runs))| {
            runs.clear();
            let cells = depth.chunks_mut(width).zip(rest.chunks_mut(width));
            for (row, (depth, rest)) in cells.enumerate() {
                let y = band * BAND + row;
                let before = &sheet.depth[(y + 1) * pitch + 1..][..width];
                let north = match y {
                    0 => &flow.north_border[..],
                    _ => &flow.south[(y - 1) * width..y * width],
                };
                let row = y * width..(y + 1) * width;
                let flows = [&flow.east[row.clone()], north, &flow.south[row]];
                find_runs(y as u32, before, flows, [depth, rest], runs);
            }
        });
        self.join();

        let bands = depth.chunks_mut(rows).zip(rest.chunks_mut(rows));
        let bands = bands.zip(&self.bands).zip(&self.offsets).enumerate();
        let (parents, sums) = (&self.parents, &self.sums);
        workers.each(bands, |(band, (((depth, rest), runs), offset))| {
            for (run, number) in runs.iter().zip(*offset..) {
                let [standing, lacking] = sums[parents[number as usize] as usize];
                if lacking > 0.0 && run.depth > 0.0 {
                    // No pool lacks more than it has, but for rounding.
                    let share = (1.0 - lacking / standing).max(0.0);
                    let row = (run.row as usize - band * BAND) * width;
                    let cells = row + run.start as usize..row + run.end as usize;
                    scale(&mut depth[cells.clone()], &mut rest[cells], share);
                }
            }
        });
    }

    /// Finds out which runs touch, and sums up the pools.
    fn join(&mut self) {
        let count: usize = self.bands.iter().map(Vec::len).sum();
        self.parents.clear();
        self.parents.extend(0..count as u32);
        self.offsets.clear();
        let mut number = 0u32;
        for band in &self.bands {
            self.offsets.push(number);
            number += band.len() as u32;
        }
        // A run and the first of those in the row above that it may touch.
        let runs = || self.bands.iter().flatten().zip(0u32..);
        let mut above = runs().peekable();
        for (run, number) in runs() {
            while let Some((other, touching)) = above.peek() {
                let below_it = other.row + 1 == run.row;
                if other.row >= run.row || (below_it && other.start >= run.end) {
                    break;
                }
                if below_it && other.end > run.start {
                    unite(&mut self.parents, *touching, number);
                    if other.end > run.end {
                        // It may touch the next run too.
                        break;
                    }
                }
                above.next();
            }
        }
        self.sums.clear();
        self.sums.resize(count, [0.0; 2]);
        for (run, number) in self.bands.iter().flatten().zip(0u32..) {
            let root = find(&mut self.parents, number);
            self.parents[number as usize] = root;
            let [standing, lacking] = &mut self.sums[root as usize];
            *standing += run.depth;
            *lacking += run.lacking;
        }
    }
}

/// The first run of a pool, with a shorter way to it next time.
#[inline]
fn find(parents: &mut [u32], mut number: u32) -> u32 {
    while parents[number as usize] != number {
        let parent = parents[number as usize];
        parents[number as usize] = parents[parent as usize];
        number = parent;
    }
    number
}

fn unite(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parents, a), find(parents, b));
    // The earlier one leads, whichever way they were met.
    parents[a.max(b) as usize] = a.min(b);
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn find_runs(
    y: u32,
    before: &[f32],
    [east, north, south]: [&[f32]; 3],
    [depth, rest]: [&mut [f32]; 2],
    runs: &mut Vec<Run>,
) {
    let width = depth.len();
    // Water may also run right through a cell, and leave nothing there.
    let passed = |x: usize| {
        let west = if x > 0 { east[x - 1] } else { 0.0 };
        west != 0.0 || east[x] != 0.0 || north[x] != 0.0 || south[x] != 0.0
    };
    let wet = |x: usize, depth: &[f32]| before[x] > 0.0 || depth[x] != 0.0 || passed(x);
    let mut x = 0;
    while x < width {
        if !wet(x, depth) {
            x += 1;
            continue;
        }
        let mut run = Run {
            row: y,
            start: x as u32,
            end: 0,
            depth: 0.0,
            lacking: 0.0,
        };
        while x < width && wet(x, depth) {
            let total = f64::from(depth[x]) + f64::from(rest[x]);
            if total < 0.0 {
                run.lacking -= total;
                (depth[x], rest[x]) = (0.0, 0.0);
            } else {
                run.depth += total;
            }
            x += 1;
        }
        run.end = x as u32;
        runs.push(run);
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn scale(depth: &mut [f32], rest: &mut [f32], share: f64) {
    for (depth, rest) in depth.iter_mut().zip(rest) {
        let total = (f64::from(*depth) + f64::from(*rest)) * share;
        *depth = total as f32;
        *rest = (total - f64::from(*depth)) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terrain::{Flow, Grid};
    use bevy::math::UVec2;

    /// Depths from a picture: digits are tenths of metres, `-` lacks a tenth.
    fn restored(picture: &[&str]) -> Vec<f32> {
        let size = UVec2::new(picture[0].len() as u32, picture.len() as u32);
        let grid = Grid::new(size, 1.0).expect("valid");
        let sheet = Sheet::new(&grid);
        let cells = picture.iter().flat_map(|row| row.bytes());
        let mut depth: Vec<f32> = cells
            .map(|cell| match cell {
                b'-' => -0.1,
                b'.' => 0.0,
                digit => f32::from(digit - b'0') / 10.0,
            })
            .collect();
        let mut rest = vec![0.0; depth.len()];
        let mut fluid = Fluid {
            depth: &mut depth,
            rest: &mut rest,
            flow: &mut Flow::still(&grid),
            history: None,
        };
        Pools::default().restore(Workers::serial(), &sheet, &mut fluid);
        depth
    }

    #[test]
    fn a_pool_pays_for_its_own_cells_only() {
        let depth = restored(&["1-.55", "1..55"]);
        assert_eq!(depth[..2], [0.05, 0.0]);
        assert_eq!(depth[5], 0.05);
        assert_eq!([depth[3], depth[4], depth[8]], [0.5; 3]);
    }

    #[test]
    fn pools_wind_around_corners_but_not_over_diagonals() {
        // A spiral is one pool; what touches it by a corner is another.
        let depth = restored(&[
            "22222222", //
            "2......2", //
            "2.2222.2", //
            "2.2..2.2", //
            "2.2-.2.2", //
            "2.2..2.2", //
            "2.22.2.2", //
            "2....2.2", //
            "222222.2", //
            "........", //
            "4.......",
        ]);
        let total: f64 = depth.iter().map(|d| f64::from(*d)).sum();
        // 0.2 · 41 cells, one lacks 0.1, and the lone one keeps its 0.4.
        let wet = depth.iter().filter(|d| **d > 0.0 && **d < 0.3).count();
        assert!((total - (0.2 * wet as f64 - 0.1 + 0.4)).abs() < 1e-6);
        assert!(depth.iter().all(|d| *d < 0.2 || *d == 0.4));
        let apart = restored(&["3.", ".-"]);
        assert_eq!(apart, [0.3, 0.0, 0.0, 0.0]);
    }
}
