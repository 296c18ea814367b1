//! Where water runs off a ground, without moving anything: receivers (steepest of eight
//! neighbors, O'Callaghan and Mark, 1984), lakes that spill over their lowest pass
//! (Cordonnier, Bovy and Braun, 2019), an order from springs to outlets, and sums along it.
//!
//! Cells are numbered row by row, x right, y down. Every cell reaches an outlet:
//!
//! ```text
//! receiver   = steepest lower neighbor; diagonal distance √2, or with jitter √2 + a·(2 − √2 − u)
//! Open side  = beyond it the ground goes on at the slope from the inner neighbor: an outlet
//!              where that is the steepest way, or where no neighbor is lower
//! Sea side   = a cell at or below the level is an outlet; above, the sea is one more neighbor
//! Wall side  = never an outlet
//! hollows    = spill over their lowest pass; the way pit → pass is turned round
//! level      = max(pass, level of the basin it spills into)
//! ```
//!
//! An open side is also a pass: a hollow that is closed by the edge's own height spills over
//! the edge. Land with walls on all sides has no outlet: all water ends in the lowest pit (the
//! first in raster order among equals), which is given as an outlet without a lake.
//!
//! Any number of threads gives the same bits: all work is cut into bands of rows of fixed
//! height, and what crosses bands is done by one thread in a fixed order.

mod basins;
mod order;
mod receivers;
#[cfg(test)]
mod tests;

use crate::parallel::Workers;
use crate::terrain::Borders;
use basins::{Basins, FIRST};
pub use order::{BAND_ROWS, Order};
pub(crate) use receivers::scramble;

/// Steps to the neighbors: east, west, south, north, then south-east, south-west,
/// north-east, north-west. The first four are one cell long, the others √2.
pub const DIRECTIONS: [(isize, isize); 8] = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (-1, 1),
    (1, -1),
    (-1, -1),
];
/// The direction that leads back.
pub const OPPOSITE: [u8; 8] = [1, 0, 3, 2, 7, 6, 5, 4];
/// In place of a direction: water leaves the land here.
pub const OUTLET: u8 = 8;
/// In place of a direction, while routing: no lower neighbor.
const PIT: u8 = 9;
/// No cell, basin or link.
const NO_CELL: u32 = u32::MAX;
/// Cells that a slice of work handles: a few milliseconds.
const SLICE: usize = 1 << 20;

/// Random change of diagonal distances (rho8, Fairfield and Leymarie, 1991), against
/// ways that keep to eight directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Together with `step` picks one of many sets of distances.
    pub seed: u32,
    /// A number that changes in time.
    pub step: u32,
    /// 0 none … 1 diagonals from 1 to 2 cells long.
    pub amount: f32,
}

impl Jitter {
    fn salt(&self) -> u32 {
        scramble(self.seed ^ scramble(self.step.wrapping_mul(0x9E37_79B9).wrapping_add(12_345)))
    }
}

/// A hollow that water fills to its lowest pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lake {
    /// Deepest cell.
    pub pit: u32,
    /// Cell over which it spills: the sill.
    pub spill: u32,
    /// Level at which it spills: the sill's ground. units: m
    pub level: f32,
}

/// What stands over a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Nothing.
    Dry,
    /// The sea of a side: west 0, east 1, north 2, south 3.
    Sea(usize),
    /// A lake, by its place in [`Routing::lakes`].
    Lake(usize),
}

/// Offsets of the neighbors in a plane.
#[derive(Clone, Copy, Debug)]
pub struct Reach([isize; 9]);

impl Reach {
    /// For planes of this width.
    pub fn new(width: usize) -> Self {
        let mut offsets = [0; 9];
        for (offset, (dx, dy)) in offsets.iter_mut().zip(DIRECTIONS) {
            *offset = dy * width as isize + dx;
        }
        Self(offsets)
    }

    /// The cell that lies in a direction; the same for an outlet.
    #[inline]
    pub fn step(self, cell: usize, direction: u8) -> usize {
        cell.wrapping_add_signed(self.0[(direction as usize).min(8)])
    }
}

/// What is done next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    Receivers(usize),
    Pits(usize),
    Spread,
    Passes,
    Sort(usize),
    Tree,
    Walk,
    Flood,
    Donors(usize),
    Bands(usize),
    Trunk,
    #[default]
    Done,
}

/// Routes water over grounds of one size; memory is reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct Routing {
    width: usize,
    height: usize,
    borders: Borders,
    jitter: Option<Jitter>,
    stage: Stage,
    toward: Vec<u8>,
    basins: Basins,
    lakes: Vec<Lake>,
    order: Order,
}

impl Routing {
    /// For grounds of this size.
    pub fn new(width: usize, height: usize) -> Self {
        let mut order = Order::default();
        order.resize(width, height);
        Self {
            width,
            height,
            toward: vec![OUTLET; width * height],
            order,
            ..Self::default()
        }
    }

    /// Routes a ground in one go. A ground of another size changes nothing.
    /// units of `ground`: m
    pub fn route(
        &mut self,
        workers: Workers,
        ground: &[f32],
        borders: Borders,
        jitter: Option<Jitter>,
    ) {
        self.begin(borders, jitter);
        while !self.advance(workers, ground) {}
    }

    /// Begins to route in slices. Until [`advance`](Self::advance) says that it is done,
    /// the results are of no use, and the ground must stay the same.
    pub fn begin(&mut self, borders: Borders, jitter: Option<Jitter>) {
        self.borders = borders;
        self.jitter = jitter;
        self.lakes.clear();
        self.stage = Stage::Receivers(0);
    }

    /// Does a slice of a few milliseconds. Whether all is done.
    pub fn advance(&mut self, workers: Workers, ground: &[f32]) -> bool {
        if ground.is_empty() || ground.len() != self.toward.len() {
            self.stage = Stage::Done;
        }
        let width = self.width;
        let bands = self.height.div_ceil(BAND_ROWS);
        let band_cells = self.order.band_cells();
        let slice = (SLICE / band_cells).max(1);
        let after = |from: usize, now: fn(usize) -> Stage, then: Stage| match from + slice < bands {
            true => now(from + slice),
            false => then,
        };
        self.stage = match self.stage {
            Stage::Receivers(from) => {
                self.find_receivers(workers, ground, from..(from + slice).min(bands));
                after(from, Stage::Receivers, Stage::Pits(0))
            }
            Stage::Pits(from) => {
                if from == 0 {
                    self.basins.clear(ground.len());
                }
                let end = ((from + slice) * BAND_ROWS).min(self.height);
                let rows = from * BAND_ROWS..end;
                let basins = &mut self.basins;
                basins.find_pits(&self.toward, ground, width, &self.borders, rows);
                if end == self.height && self.borders == Borders::closed() {
                    basins.open_lowest_pit(&mut self.toward, ground);
                }
                let none = end == self.height && basins.none();
                let then = if none {
                    Stage::Donors(0)
                } else {
                    Stage::Spread
                };
                after(from, Stage::Pits, then)
            }
            Stage::Spread => {
                let basins = &mut self.basins;
                match basins.spread(&self.toward, ground, width, &self.borders, SLICE / 4) {
                    true => Stage::Passes,
                    false => Stage::Spread,
                }
            }
            Stage::Passes => {
                let basins = &mut self.basins;
                basins.find_passes(workers, ground, width, &self.borders, BAND_ROWS);
                Stage::Sort(0)
            }
            Stage::Sort(digit) => {
                self.basins.sort(digit);
                if digit < 2 {
                    Stage::Sort(digit + 1)
                } else {
                    self.basins.begin_tree();
                    Stage::Tree
                }
            }
            Stage::Tree => match self.basins.grow_tree(width, SLICE / 4) {
                true => {
                    self.basins.begin_walk(&self.borders);
                    Stage::Walk
                }
                false => Stage::Tree,
            },
            Stage::Walk => {
                let (toward, lakes) = (&mut self.toward, &mut self.lakes);
                match self.basins.walk(toward, ground, width, lakes, SLICE / 64) {
                    true => Stage::Flood,
                    false => Stage::Walk,
                }
            }
            Stage::Flood => {
                self.basins.flood(workers, ground, band_cells);
                Stage::Donors(0)
            }
            Stage::Donors(from) => {
                let some = from..(from + slice).min(bands);
                self.order.count_donors(workers, &self.toward, some);
                after(from, Stage::Donors, Stage::Bands(0))
            }
            Stage::Bands(from) => {
                let some = from..(from + slice).min(bands);
                self.order.order_bands(workers, &self.toward, some);
                after(from, Stage::Bands, Stage::Trunk)
            }
            Stage::Trunk => {
                self.order.order_trunk(&self.toward);
                Stage::Done
            }
            Stage::Done => Stage::Done,
        };
        self.stage == Stage::Done
    }

    fn find_receivers(&mut self, workers: Workers, ground: &[f32], bands: core::ops::Range<usize>) {
        let (width, borders, jitter) = (self.width, self.borders, self.jitter);
        let size = self.order.band_cells();
        let parts = self.toward.chunks_mut(size).enumerate();
        let parts = parts.skip(bands.start).take(bands.len());
        workers.each(parts, |(band, toward)| {
            let first = band * BAND_ROWS;
            receivers::fill_rows(toward, first, ground, width, &borders, jitter);
        });
    }

    /// Size of the grid in cells.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Direction of each cell's water, an index into [`DIRECTIONS`], or [`OUTLET`].
    pub fn directions(&self) -> &[u8] {
        &self.toward
    }

    /// The cell that a cell drains to; none at an outlet.
    #[inline]
    pub fn receiver(&self, cell: usize) -> Option<usize> {
        match self.toward.get(cell) {
            Some(&direction) if direction < OUTLET => {
                Some(Reach::new(self.width).step(cell, direction))
            }
            _ => None,
        }
    }

    /// All lakes. Some may be of no depth: a flat that spills at its own level.
    pub fn lakes(&self) -> &[Lake] {
        &self.lakes
    }

    /// What stands over a cell when all hollows are full.
    pub fn cover(&self, cell: usize) -> Cover {
        match self.covers().get(cell).map_or(0, |&cover| cover as usize) {
            0 => Cover::Dry,
            sea if sea < FIRST => Cover::Sea(sea - 1),
            lake => Cover::Lake(lake - FIRST),
        }
    }

    /// What stands over each cell, as a number: 0 nothing, 1 to 4 a sea (west, east,
    /// north, south), from 5 on a lake, its place in [`Self::lakes`] plus 5. The
    /// ground of covered cells is below the water's level.
    pub fn covers(&self) -> &[u32] {
        &self.basins.plane
    }

    /// Level of the water that a cover's number stands for. units: m
    #[inline]
    pub fn cover_level(&self, cover: u32) -> f32 {
        use crate::terrain::Border;
        let side = match cover {
            0 => Border::Open,
            1 => self.borders.west,
            2 => self.borders.east,
            3 => self.borders.north,
            4 => self.borders.south,
            _ => {
                let lake = self.lakes.get(cover as usize - FIRST);
                return lake.map_or(f32::NEG_INFINITY, |lake| lake.level);
            }
        };
        match side {
            Border::Sea { level } => level,
            _ => f32::NEG_INFINITY,
        }
    }

    /// Cells from springs to outlets.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Adds up along the flow: what each cell gives (1 without weights) and all that
    /// drains into it. `flow` gets as long as the ground.
    pub fn accumulate(&self, workers: Workers, weights: Option<&[f32]>, flow: &mut Vec<f64>) {
        flow.clear();
        match weights {
            Some(weights) if weights.len() == self.toward.len() => {
                flow.extend(weights.iter().map(|&weight| f64::from(weight)));
            }
            _ => flow.resize(self.toward.len(), 1.0),
        }
        self.order.accumulate(workers, &self.toward, flow);
    }
}
