//! Where water runs off a ground, and what network its ways make: steepest of
//! eight neighbors (O'Callaghan and Mark, 1984), over full hollows where
//! needed (priority flood, Barnes, 2014), and Strahler's orders.

use std::{cmp::Reverse, collections::BinaryHeap};

/// The ways of water over a ground, from the border inwards.
pub struct Network {
    pub width: usize,
    pub height: usize,
    pub cell_size: f64,
    /// Cells in an order in which each comes after the one it drains to.
    order: Vec<usize>,
    /// The cell that each drains to; itself at the border.
    receiver: Vec<usize>,
    /// Level of water if every hollow stood full. units: m
    pub level: Vec<f32>,
    /// Land that drains through each cell, itself included. units: m²
    pub area: Vec<f64>,
}

/// What a network is like.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Share of the land from which the steepest way leads to the border
    /// without climbing.
    pub drained: f64,
    /// Share of the land that lies under water if every hollow stands full.
    pub ponded: f64,
    /// Highest order of a channel (Strahler).
    pub order: u32,
    /// Streams of each order from one; zero beyond the highest.
    pub streams: [usize; 8],
    /// Where channels join, in a kilometre of channels.
    pub junctions_per_km: f64,
    /// How much longer channels get with their land: Hack's exponent.
    pub hack: f64,
    /// Share of the land that the ten largest catchments drain.
    pub largest: f64,
    /// Mean depth of channels below the land around them. units: m
    pub depth: f64,
}

impl Network {
    pub fn of(ground: &[f32], width: usize, cell_size: f32) -> Self {
        let height = ground.len() / width;
        let (level, order) = flood(ground, width, height);
        let mut rank = vec![0; ground.len()];
        for (number, &cell) in order.iter().enumerate() {
            rank[cell] = number;
        }
        let receiver: Vec<usize> = (0..ground.len())
            .map(|cell| {
                if on_border(cell, width, height) {
                    return cell;
                }
                let steepest = steepest(&level, cell, width, height);
                // On a lake the water goes where the flood came from.
                steepest.unwrap_or_else(|| {
                    let around = neighbors(cell, width, height);
                    let first = around.min_by_key(|(next, _)| rank[*next]);
                    first.map_or(cell, |(next, _)| next)
                })
            })
            .collect();
        let cell_area = f64::from(cell_size) * f64::from(cell_size);
        let mut area = vec![cell_area; ground.len()];
        for &cell in order.iter().rev() {
            if receiver[cell] != cell {
                area[receiver[cell]] += area[cell];
            }
        }
        Self {
            width,
            height,
            cell_size: cell_size.into(),
            order,
            receiver,
            level,
            area,
        }
    }

    /// Strahler order of the channels: cells that drain at least `onset` m².
    pub fn strahler(&self, onset: f64) -> Vec<u32> {
        // Highest order that flows in, and how often.
        let mut inflow = vec![(0u32, 0u32); self.area.len()];
        let mut orders = vec![0; self.area.len()];
        for &cell in self.order.iter().rev() {
            if self.area[cell] < onset {
                continue;
            }
            let order = match inflow[cell] {
                (0, _) => 1,
                (highest, 1) => highest,
                (highest, _) => highest + 1,
            };
            orders[cell] = order;
            if self.receiver[cell] != cell {
                let next = &mut inflow[self.receiver[cell]];
                *next = match order.cmp(&next.0) {
                    core::cmp::Ordering::Less => *next,
                    core::cmp::Ordering::Equal => (order, next.1 + 1),
                    core::cmp::Ordering::Greater => (order, 1),
                };
            }
        }
        orders
    }

    /// Share of the land whose way to the border leads through no hollow deeper
    /// than `depth` m.
    pub fn drained(&self, ground: &[f32], depth: f32) -> f64 {
        let mut free = vec![true; ground.len()];
        for &cell in &self.order {
            free[cell] = self.level[cell] - ground[cell] <= depth && free[self.receiver[cell]];
        }
        free.iter().filter(|free| **free).count() as f64 / ground.len() as f64
    }

    /// Measures the channels of at least `onset` m² of this ground.
    pub fn figures(&self, ground: &[f32], onset: f64) -> Figures {
        let orders = self.strahler(onset);
        let cells = self.area.len();
        let length = |cell: usize| {
            let next = self.receiver[cell];
            let straight =
                cell % self.width == next % self.width || cell / self.width == next / self.width;
            self.cell_size * if straight { 1.0 } else { 2f64.sqrt() }
        };
        let mut inflows = vec![0u32; cells];
        let mut streams = [0usize; 8];
        let mut channels = 0.0;
        let mut longest = vec![0.0f64; cells];
        for &cell in self.order.iter().rev() {
            let next = self.receiver[cell];
            if next != cell {
                longest[next] = longest[next].max(longest[cell] + length(cell));
            }
            if orders[cell] == 0 {
                continue;
            }
            channels += length(cell);
            if next != cell {
                inflows[next] += 1;
            }
            if next == cell || orders[next] != orders[cell] {
                streams[(orders[cell] as usize - 1).min(7)] += 1;
            }
        }
        let junctions = inflows.iter().filter(|&&count| count > 1).count();
        let mut outlets: Vec<f64> = (0..cells)
            .filter(|&cell| self.receiver[cell] == cell)
            .map(|cell| self.area[cell])
            .collect();
        outlets.sort_by(f64::total_cmp);
        let land = cells as f64 * self.cell_size * self.cell_size;
        let ponded = (0..cells).filter(|&cell| self.level[cell] > ground[cell] + 0.01);
        let points = (0..cells).filter(|&cell| orders[cell] > 0 && longest[cell] > 0.0);
        let points = points.map(|cell| (self.area[cell].ln(), longest[cell].ln()));
        Figures {
            drained: drained(ground, self.width, self.height),
            ponded: ponded.count() as f64 / cells as f64,
            order: orders.iter().copied().max().unwrap_or(0),
            streams,
            junctions_per_km: junctions as f64 / (channels / 1000.0).max(1e-9),
            hack: slope_of(points),
            largest: outlets.iter().rev().take(10).sum::<f64>() / land,
            depth: self.depth(ground, &orders),
        }
    }

    /// Mean depth of channels below the land within 30 m. units: m
    fn depth(&self, ground: &[f32], orders: &[u32]) -> f64 {
        let reach = (30.0 / self.cell_size).round() as usize;
        let (mut sum, mut count) = (0.0, 0usize);
        for cell in (0..ground.len()).filter(|&cell| orders[cell] > 0) {
            let (x, y) = (cell % self.width, cell / self.width);
            let inside = x >= reach && y >= reach;
            if !inside || x + reach >= self.width || y + reach >= self.height {
                continue;
            }
            let ring = [
                cell - reach,
                cell + reach,
                cell - reach * self.width,
                cell + reach * self.width,
            ];
            let around: f64 = ring.iter().map(|&at| f64::from(ground[at])).sum();
            sum += around / 4.0 - f64::from(ground[cell]);
            count += 1;
        }
        sum / count.max(1) as f64
    }
}

/// Share of the land from which going down the steepest way, cell by cell, ends
/// at the border.
fn drained(ground: &[f32], width: usize, height: usize) -> f64 {
    let mut by_height: Vec<usize> = (0..ground.len()).collect();
    by_height.sort_by(|a, b| ground[*a].total_cmp(&ground[*b]));
    let mut reaches = vec![false; ground.len()];
    for cell in by_height {
        reaches[cell] = on_border(cell, width, height)
            || steepest(ground, cell, width, height).is_some_and(|next| reaches[next]);
    }
    reaches.iter().filter(|reaches| **reaches).count() as f64 / ground.len() as f64
}

/// Levels if every hollow stood full, and the order in which the flood from the
/// border reached the cells.
pub fn flood(ground: &[f32], width: usize, height: usize) -> (Vec<f32>, Vec<usize>) {
    let key = |level: f32| (f64::from(level) * 1e6) as i64;
    let mut level = vec![f32::INFINITY; ground.len()];
    let mut order = Vec::with_capacity(ground.len());
    let mut front = BinaryHeap::new();
    for cell in (0..ground.len()).filter(|&cell| on_border(cell, width, height)) {
        level[cell] = ground[cell];
        front.push(Reverse((key(ground[cell]), cell)));
    }
    while let Some(Reverse((_, cell))) = front.pop() {
        order.push(cell);
        for (next, _) in neighbors(cell, width, height) {
            if level[next] == f32::INFINITY {
                level[next] = ground[next].max(level[cell]);
                front.push(Reverse((key(level[next]), next)));
            }
        }
    }
    (level, order)
}

fn on_border(cell: usize, width: usize, height: usize) -> bool {
    let (x, y) = (cell % width, cell / width);
    x == 0 || y == 0 || x + 1 == width || y + 1 == height
}

/// Cells around a cell with their distances, in cells.
fn neighbors(cell: usize, width: usize, height: usize) -> impl Iterator<Item = (usize, f32)> {
    let (x, y) = (cell % width, cell / width);
    let rows = y.saturating_sub(1)..(y + 2).min(height);
    let columns = x.saturating_sub(1)..(x + 2).min(width);
    let around = rows.flat_map(move |ny| columns.clone().map(move |nx| (nx, ny)));
    let others = around.filter(move |&at| at != (x, y));
    others.map(move |(nx, ny)| {
        let straight = nx == x || ny == y;
        (ny * width + nx, if straight { 1.0 } else { f32::sqrt(2.0) })
    })
}

/// The neighbor to which the way down is steepest, if any lies lower.
fn steepest(ground: &[f32], cell: usize, width: usize, height: usize) -> Option<usize> {
    let falls = neighbors(cell, width, height)
        .map(|(next, distance)| (next, (ground[cell] - ground[next]) / distance));
    let steepest = falls.max_by(|a, b| a.1.total_cmp(&b.1));
    steepest
        .filter(|(_, fall)| *fall > 0.0)
        .map(|(next, _)| next)
}

/// Slope of the straight line through points, by least squares.
fn slope_of(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count().max(1) as f64;
    let (mx, my) = points
        .clone()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mx, my) = (mx / count, my / count);
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
    }
    xy / xx.max(1e-12)
}
