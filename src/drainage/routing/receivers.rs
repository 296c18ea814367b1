//! Where the water of each cell goes first: the steepest of its eight neighbors.

use super::{DIRECTIONS, Jitter, OUTLET, PIT};
use crate::terrain::{Border, Borders};

/// Length of a diagonal step, in cells.
const DIAGONAL: f32 = core::f32::consts::SQRT_2;

/// What a cell at the land's edge may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edge {
    /// Only walls, or no edge at all: it drains to other cells.
    Closed,
    /// Water may leave here.
    Open,
    /// Water may leave here, into a sea of this level; the number is the side's.
    Sea(f32, u32),
}

/// What the land's edge is like at a cell. Where sides meet, the highest sea that
/// covers the ground counts first, then open sides, then other seas.
pub(super) fn edge_at(
    borders: &Borders,
    (width, height): (usize, usize),
    (x, y): (usize, usize),
    ground: f32,
) -> Edge {
    let sides = [
        (x == 0, borders.west),
        (x + 1 == width, borders.east),
        (y == 0, borders.north),
        (y + 1 == height, borders.south),
    ];
    let (mut edge, mut deepest) = (Edge::Closed, f32::NEG_INFINITY);
    for (side, (here, border)) in sides.into_iter().enumerate() {
        match border {
            _ if !here => {}
            Border::Wall => {}
            Border::Open => {
                if deepest < ground {
                    edge = Edge::Open;
                }
            }
            Border::Sea { level } => {
                let covers = level >= ground && level > deepest;
                if covers || edge == Edge::Closed {
                    edge = Edge::Sea(level, side as u32);
                    deepest = deepest.max(level);
                }
            }
        }
    }
    edge
}

/// Finds the receivers of whole rows. `toward` holds the rows from `first` on.
pub(super) fn fill_rows(
    toward: &mut [u8],
    first: usize,
    ground: &[f32],
    width: usize,
    borders: &Borders,
    jitter: Option<Jitter>,
) {
    let height = ground.len() / width.max(1);
    for (row, out) in toward.chunks_mut(width).enumerate() {
        let y = first + row;
        if y > 0 && y + 1 < height && width > 2 {
            inner_row(out, ground, width, y, jitter);
            for x in [0, width - 1] {
                out[x] = edge_cell(ground, (width, height), (x, y), borders);
            }
        } else {
            for x in 0..width {
                out[x] = edge_cell(ground, (width, height), (x, y), borders);
            }
        }
    }
}

/// The cells of a row that have all eight neighbors. Written so that the compiler
/// turns it into vector code: no branches, all slices of one length.
fn inner_row(out: &mut [u8], ground: &[f32], width: usize, y: usize, jitter: Option<Jitter>) {
    let count = width - 2;
    let row = |y: usize, from: usize| &ground[y * width + from..][..count];
    let (here, east, west) = (row(y, 1), row(y, 2), row(y, 0));
    let (south, north) = (row(y + 1, 1), row(y - 1, 1));
    let (south_east, south_west) = (row(y + 1, 2), row(y + 1, 0));
    let (north_east, north_west) = (row(y - 1, 2), row(y - 1, 0));
    let out = &mut out[1..][..count];
    let (salt, amount) = jitter.map_or((0, 0.0), |jitter| (jitter.salt(), jitter.amount));
    let base = (y * width + 1) as u32;
    for x in 0..count {
        // Amount 0 gives exactly the diagonal; amount 1 the interval 1 to 2 of rho8.
        let spread = unit(scramble(
            (base + x as u32)
                .wrapping_mul(0x9E37_79B9)
                .wrapping_add(salt),
        ));
        let share = 1.0 / (DIAGONAL + amount * ((2.0 - DIAGONAL) - spread));
        let c = here[x];
        let falls = [
            c - east[x],
            c - west[x],
            c - south[x],
            c - north[x],
            (c - south_east[x]) * share,
            (c - south_west[x]) * share,
            (c - north_east[x]) * share,
            (c - north_west[x]) * share,
        ];
        let (mut best, mut toward) = (0.0f32, u32::from(PIT));
        for (direction, fall) in falls.into_iter().enumerate() {
            toward = if fall > best {
                direction as u32
            } else {
                toward
            };
            best = if fall > best { fall } else { best };
        }
        out[x] = toward as u8;
    }
}

/// A cell at the land's edge, without jitter.
///
/// Beyond an open side the land goes on as it does at its edge: water leaves where that
/// way is the steepest, so a hill that the edge cuts through drains to both sides of it
/// and not over its crest. Beyond a sea's side lies the sea, one cell away.
fn edge_cell(
    ground: &[f32],
    size: (usize, usize),
    (x, y): (usize, usize),
    borders: &Borders,
) -> u8 {
    let (width, height) = size;
    let c = ground[y * width + x];
    let edge = edge_at(borders, size, (x, y), c);
    let outwards = match edge {
        Edge::Closed => f32::NEG_INFINITY,
        Edge::Sea(level, _) if c <= level => return OUTLET,
        Edge::Sea(level, _) => c - level,
        Edge::Open => outward_fall(ground, size, (x, y), borders),
    };
    let (mut best, mut toward) = (0.0, PIT);
    for (direction, (dx, dy)) in DIRECTIONS.into_iter().enumerate() {
        let (nx, ny) = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
        if nx >= width || ny >= height {
            continue;
        }
        let share = if direction < 4 { 1.0 } else { 1.0 / DIAGONAL };
        let fall = (c - ground[ny * width + nx]) * share;
        if fall > best {
            best = fall;
            toward = direction as u8;
        }
    }
    match edge {
        Edge::Open | Edge::Sea(..) if toward == PIT || outwards >= best => OUTLET,
        _ => toward,
    }
}

/// How far the ground falls towards the next cell beyond the open sides of a cell, if it
/// goes on as from the cell before. units: m
fn outward_fall(
    ground: &[f32],
    (width, height): (usize, usize),
    (x, y): (usize, usize),
    borders: &Borders,
) -> f32 {
    let c = ground[y * width + x];
    let mut fall = f32::NEG_INFINITY;
    let sides = [
        (x == 0, borders.west, width, (1, 0)),
        (x + 1 == width, borders.east, width, (-1, 0)),
        (y == 0, borders.north, height, (0, 1)),
        (y + 1 == height, borders.south, height, (0, -1)),
    ];
    for (here, border, across, (dx, dy)) in sides {
        if !here || border != Border::Open {
            continue;
        }
        // Land one cell wide is all edge.
        if across == 1 {
            return f32::INFINITY;
        }
        let inner = y.wrapping_add_signed(dy) * width + x.wrapping_add_signed(dx);
        fall = fall.max(ground[inner] - c);
    }
    fall
}

/// A well mixed number (Ellis, "hash prospector": lowbias32).
pub(crate) fn scramble(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A hash as a number from 0 up to 1.
pub(crate) fn unit(hash: u32) -> f32 {
    // Signed, since processors turn only signed numbers into floats quickly.
    ((hash >> 8) as i32) as f32 * (1.0 / 16_777_216.0)
}
