//! Stream power with deposition, and slides, solved on the tree of water's ways
//! (Yuan, Braun, Guerit, Rouby and Cordonnier, 2019, without its iterations).
//!
//! ```text
//! x  depth eroded here = p + q·x_receiver; inflow of sediment = a + b·x (in metres · cells)
//! F  = K·k·A^m·dt/L    γ = G/N      Δ = drop to the receiver's ground or water
//! E  = 1 + F + γ·(1 + b)             p = (F·Δ − γ·a)/E             q = F/E
//! slides: d = L·√max(Sc² − s_t², Sc²/4); if Δ − d > p: p = Δ − d, q = 1
//! a_r += a + (1 + b)·p               b_r += (1 + b)·q
//! ```

use crate::drainage::routing::{OUTLET, Reach, Routing};

/// Length of a diagonal step, in cells.
const DIAGONAL: f64 = core::f64::consts::SQRT_2;

/// What the sweeps read.
pub(super) struct View<'a> {
    pub routing: &'a Routing,
    pub ground: &'a [f64],
    /// Drained cells, or rain on them.
    pub flow: &'a [f64],
    /// F for a step along an axis.
    pub power: &'a [f32],
    /// Factor on erodibility from varied rock; empty for 1.
    pub rock: &'a [f32],
    /// Water that lakes hold, in metres · cells.
    pub lake_room: &'a [f64],
    pub cell: f64,
    pub deposition: f64,
    pub slope_limit: f64,
    pub sea_levels: bool,
}

/// What a part of the down-sweep gives besides the planes.
#[derive(Clone, Debug, Default)]
pub(super) struct Swept {
    /// Sediment that reached outlets, in metres · cells.
    pub left: f64,
    /// Lakes whose exit was passed, with the share of their room that gets filled.
    pub filled: Vec<(u32, f64)>,
}

/// From leaves to outlets. The planes `inflow` (a, b) and `way` (p, q) begin at cell `start`.
pub(super) fn down(
    view: &View,
    cells: &[u32],
    start: usize,
    inflow: &mut [[f64; 2]],
    way: &mut [[f64; 2]],
    swept: &mut Swept,
) {
    let (width, height) = view.routing.size();
    let reach = Reach::new(width);
    let (toward, covers) = (view.routing.directions(), view.routing.covers());
    let limit = view.slope_limit * view.cell;
    for &cell in cells {
        let i = cell as usize;
        let direction = toward[i];
        let [a, b] = inflow[i - start];
        let cover = covers[i];
        if direction >= OUTLET {
            way[i - start] = [0.0; 2];
            let beyond = sea_beyond(view, i, cover);
            let Some(level) = beyond else {
                swept.left += a;
                continue;
            };
            // The sea is a receiver that never moves.
            let drop = (view.ground[i] - level).max(0.0);
            let (f, g) = (f64::from(view.power[i]), view.deposition / view.flow[i]);
            let p = (f * drop - g * a) / (1.0 + f + g * (1.0 + b));
            way[i - start] = [p.max(drop - if limit > 0.0 { limit } else { drop }), 0.0];
            swept.left += a + (1.0 + b) * way[i - start][0];
            continue;
        }
        let j = reach.step(i, direction);
        if cover != 0 {
            way[i - start] = [0.0; 2];
            let mut passes = a;
            if cover >= 5 && covers[j] != cover {
                let room = view.lake_room[cover as usize - 5];
                if room > 0.0 {
                    let kept = a.clamp(0.0, room);
                    swept.filled.push((cover, kept / room));
                    passes -= kept;
                }
            }
            inflow[j - start][0] += passes;
            continue;
        }
        let below = match covers[j] {
            0 => view.ground[j],
            water => f64::from(view.routing.cover_level(water)).max(view.ground[j]),
        };
        let drop = (view.ground[i] - below).max(0.0);
        let straight = direction < 4;
        let f = f64::from(view.power[i]) * if straight { 1.0 } else { 1.0 / DIAGONAL };
        let g = view.deposition / view.flow[i];
        let e = 1.0 / (1.0 + f + g * (1.0 + b));
        let (mut p, mut q) = ((f * drop - g * a) * e, f * e);
        if limit > 0.0 {
            let length = if straight { 1.0 } else { DIAGONAL };
            // Weak rock stands less steep.
            let firm = view
                .rock
                .get(i)
                .map_or(1.0, |&rock| 1.0 / f64::from(rock.sqrt()));
            let stands = limit * firm;
            // Half the limit always stands: no need to look to the sides.
            if drop - 0.5 * stands * length > p {
                let across = transverse(view.ground, (width, height), i, direction);
                let left = (stands * stands - across * across).max(0.25 * stands * stands);
                let slide = drop - left.sqrt() * length;
                if slide > p {
                    (p, q) = (slide, 1.0);
                }
            }
        }
        way[i - start] = [p, q];
        let next = &mut inflow[j - start];
        next[0] += a + (1.0 + b) * p;
        next[1] += (1.0 + b) * q;
    }
}

/// From outlets to leaves: turns p into the depth eroded.
pub(super) fn up(routing: &Routing, cells: &[u32], start: usize, way: &mut [[f64; 2]]) {
    let reach = Reach::new(routing.size().0);
    let toward = routing.directions();
    for &cell in cells.iter().rev() {
        let i = cell as usize;
        if toward[i] < OUTLET {
            let next = way[reach.step(i, toward[i]) - start][0];
            let [p, q] = way[i - start];
            way[i - start] = [p + q * next, q];
        }
    }
}

/// Level of the sea that an outlet above it falls to.
fn sea_beyond(view: &View, cell: usize, cover: u32) -> Option<f64> {
    if !view.sea_levels || cover != 0 {
        return None;
    }
    let level = view.routing.sea_at(cell)?;
    let level = f64::from(level);
    (view.ground[cell] > level).then_some(level)
}

/// How far the ground rises across the way of the water, over one cell. units: m
fn transverse(ground: &[f64], (width, height): (usize, usize), cell: usize, direction: u8) -> f64 {
    let (x, y) = (cell % width, cell / width);
    if x == 0 || y == 0 || x + 1 >= width || y + 1 >= height {
        return 0.0;
    }
    let (one, other, distance) = match direction {
        0 | 1 => (cell + width, cell - width, 2.0),
        2 | 3 => (cell + 1, cell - 1, 2.0),
        4 | 7 => (cell + width - 1, cell - width + 1, 2.0 * DIAGONAL),
        _ => (cell + width + 1, cell - width - 1, 2.0 * DIAGONAL),
    };
    (ground[one] - ground[other]) / distance
}
