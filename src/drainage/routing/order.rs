//! An order in which each cell comes after all that drain into it, and sums along it.
//!
//! The land is cut into bands of rows, whatever the number of threads. A cell belongs
//! to its band's part when everything that drains into it and the cell that it drains
//! to lie in the same band: bands are then worked on side by side, each on its own rows
//! alone. All others, a few percent, are the trunk, done afterwards by one thread.

use super::{DIRECTIONS, OUTLET, Reach};
use crate::parallel::Workers;

/// Rows of a band. Fixed: sums must not depend on the number of threads.
pub const BAND_ROWS: usize = 64;

/// Marks cells whose turn has come.
const TAKEN: u8 = u8::MAX;

/// Cells from the leaves of the flow tree to its outlets.
#[derive(Clone, Debug, Default)]
pub struct Order {
    width: usize,
    /// Cells of each band's part, in the first places of the band's own share.
    cells: Vec<u32>,
    /// How many places each band uses.
    counts: Vec<usize>,
    /// How many cells drain into each cell and have not had their turn yet.
    waiting: Vec<u8>,
    /// Cells of each band at which the trunk begins.
    exits: Vec<Vec<u32>>,
    trunk: Vec<u32>,
}

impl Order {
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let bands = height.div_ceil(BAND_ROWS);
        self.width = width;
        self.cells.resize(width * height, 0);
        self.waiting.resize(width * height, 0);
        self.counts.resize(bands, 0);
        self.exits.resize_with(bands, Vec::new);
    }

    /// Cells in a band.
    #[inline]
    pub fn band_cells(&self) -> usize {
        (self.width * BAND_ROWS).max(1)
    }

    /// Each band's part: all cells it names, and those they drain to, lie in the band.
    pub fn bands(&self) -> impl Iterator<Item = &[u32]> {
        let parts = self.cells.chunks(self.band_cells());
        parts
            .zip(&self.counts)
            .map(|(cells, &count)| &cells[..count])
    }

    /// What follows when all bands are done.
    pub fn trunk(&self) -> &[u32] {
        &self.trunk
    }

    /// Counts what drains into the cells of some bands.
    pub(super) fn count_donors(
        &mut self,
        workers: Workers,
        toward: &[u8],
        bands: core::ops::Range<usize>,
    ) {
        let (width, size) = (self.width, self.band_cells());
        let parts = self.waiting.chunks_mut(size).enumerate();
        let parts = parts.skip(bands.start).take(bands.len());
        workers.each(parts, |(band, waiting)| {
            for (row, out) in waiting.chunks_mut(width).enumerate() {
                count_row(out, toward, width, band * BAND_ROWS + row);
            }
        });
    }

    /// Orders the parts of some bands.
    pub(super) fn order_bands(
        &mut self,
        workers: Workers,
        toward: &[u8],
        bands: core::ops::Range<usize>,
    ) {
        let (reach, size) = (Reach::new(self.width), self.band_cells());
        let parts = self
            .waiting
            .chunks_mut(size)
            .zip(self.cells.chunks_mut(size));
        let parts = parts.zip(self.counts.iter_mut().zip(&mut self.exits));
        let parts = parts.enumerate().skip(bands.start).take(bands.len());
        workers.each(parts, |(band, ((waiting, cells), (count, exits)))| {
            let start = band * size;
            let toward = &toward[start..][..waiting.len()];
            exits.clear();
            *count = 0;
            for leaf in 0..waiting.len() {
                let mut at = leaf;
                while waiting[at] == 0 {
                    let direction = toward[at];
                    let next = reach.step(start + at, direction).wrapping_sub(start);
                    waiting[at] = TAKEN;
                    if next >= waiting.len() {
                        exits.push((start + at) as u32);
                        break;
                    }
                    cells[*count] = (start + at) as u32;
                    *count += 1;
                    if direction >= OUTLET {
                        break;
                    }
                    waiting[next] -= 1;
                    at = next;
                }
            }
        });
    }

    /// Orders the trunk, after all bands.
    pub(super) fn order_trunk(&mut self, toward: &[u8]) {
        let reach = Reach::new(self.width);
        self.trunk.clear();
        for &exit in self.exits.iter().flatten() {
            let mut at = exit as usize;
            loop {
                self.trunk.push(at as u32);
                let direction = toward[at];
                if direction >= OUTLET {
                    break;
                }
                at = reach.step(at, direction);
                self.waiting[at] = self.waiting[at].saturating_sub(1);
                if self.waiting[at] > 0 {
                    break;
                }
                self.waiting[at] = TAKEN;
            }
        }
    }

    /// Adds up along the flow: `sums` starts as what each cell gives itself and ends as
    /// what flows through it.
    pub(super) fn accumulate(&self, workers: Workers, toward: &[u8], sums: &mut [f64]) {
        let (reach, size) = (Reach::new(self.width), self.band_cells());
        let parts = sums.chunks_mut(size).zip(self.bands()).enumerate();
        workers.each(parts, |(band, (sums, cells))| {
            let start = band * size;
            for &cell in cells {
                let cell = cell as usize;
                let direction = toward[cell];
                if direction < OUTLET {
                    sums[reach.step(cell, direction) - start] += sums[cell - start];
                }
            }
        });
        for &cell in &self.trunk {
            let direction = toward[cell as usize];
            if direction < OUTLET {
                sums[reach.step(cell as usize, direction)] += sums[cell as usize];
            }
        }
    }
}

/// How many neighbors drain into each cell of row `y`.
fn count_row(out: &mut [u8], toward: &[u8], width: usize, y: usize) {
    let height = toward.len() / width;
    out.fill(0);
    for (direction, (dx, dy)) in DIRECTIONS.into_iter().enumerate() {
        // A cell that goes in this direction comes from the opposite side.
        let from = y.wrapping_add_signed(-dy);
        if from >= height {
            continue;
        }
        let donors = &toward[from * width..][..width];
        let (out, donors) = match dx {
            1 => (&mut out[1..], &donors[..width - 1]),
            -1 => (&mut out[..width - 1], &donors[1..]),
            _ => (&mut out[..], donors),
        };
        for (out, &donor) in out.iter_mut().zip(donors) {
            *out += u8::from(donor == direction as u8);
        }
    }
}
