//! Lava that flows between the cells of one tile, for one sub-step.
//!
//! Each tile is computed from a copy of its cells and two more on each side, so
//! that all tiles can be computed at once. The flow through a face between two
//! tiles is computed in both, from the same numbers by the same operations: what
//! one loses the other gains.

use super::Lava;
use crate::{
    models::{least, most},
    terrain::{TILE, Terrain, relative_ground},
};
use bevy::math::UVec2;
use multiversion::multiversion;

const SIDE: usize = TILE as usize;
/// Cells around a tile that its flow depends on.
const RING: usize = 2;
/// Cells from one row of a copy to the next.
const PITCH: usize = SIDE + 2 * RING;
/// The largest share of a difference in level that may flow through a face.
const MAX_LEVELED_SHARE: f32 = 0.2;
/// The largest share of a cell's lava that may flow out of it.
const MAX_OUTFLOW_SHARE: f32 = 0.5;
/// Surface of what lies beyond the border: nothing flows there, and nothing
/// comes because it has no lava.
const WALL: f32 = 1e10;
/// Lava thicker than this is as mobile as at this thickness, so that no number
/// overflows. units: m
const MAX_THICKNESS: f32 = 1e4;

/// Constants of one sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Substep {
    /// ρ·g/(3·μ) of fresh lava. units: 1/(m·s)
    pub mobility: f32,
    /// How much stiffer the coldest is, less one.
    pub stiffening: f32,
    /// τ/(ρ·g): thickness times slope at which lava begins to move. units: m
    pub hold: f32,
    /// Cells in a metre.
    pub cells_per_metre: f32,
    /// Length of the sub-step. units: s
    pub dt: f32,
}

impl Substep {
    pub fn new(settings: &Lava, cell_size: f32, dt: f32) -> Self {
        let weight = settings.density * settings.gravity;
        Self {
            mobility: weight / (3.0 * settings.viscosity),
            stiffening: settings.stiffening - 1.0,
            hold: settings.yield_strength / weight,
            cells_per_metre: 1.0 / cell_size,
            dt,
        }
    }

    /// Sub-steps in a second that a cell needs: its thickness, its temperature
    /// and how far its surface lies above the lowest around.
    #[inline]
    fn substeps_per_second(&self, depth: f32, warmth: f32, drop: f32) -> f32 {
        let slope = drop * self.cells_per_metre;
        let held = self.hold / most(slope * depth, 1e-30);
        if held >= 1.0 {
            return 0.0;
        }
        let depth = least(depth, MAX_THICKNESS);
        let mobility = self.mobility / (1.0 + self.stiffening * (1.0 - warmth));
        let spread = depth * (1.0 - held * held * held) / MAX_LEVELED_SHARE;
        let fall = 2.0 * least(drop, 1.0 / self.cells_per_metre) / MAX_OUTFLOW_SHARE;
        let per_metre = self.cells_per_metre * self.cells_per_metre;
        mobility * depth * depth * most(spread, fall) * per_metre
    }
}

/// A copy of a tile's cells and those around it, and scratch memory.
#[derive(Debug)]
pub(super) struct Copied {
    /// Columns and rows of the tile.
    size: (usize, usize),
    ground: Vec<f32>,
    surface: Vec<f32>,
    depth: Vec<f32>,
    warmth: Vec<f32>,
    /// Slopes of each cell's surface along x and y, in cells.
    slope: [Vec<f32>; 2],
    /// Flow through each cell's east and south face, and the heat in it.
    flow: [Vec<f32>; 2],
    heat_flow: [Vec<f32>; 2],
    /// The share of the wanted outflow that each cell may give.
    share: Vec<f32>,
}

/// The new state of a tile's lava.
#[derive(Clone, Debug, Default)]
pub(super) struct TileFlow {
    /// Row-major number of the tile.
    pub tile: usize,
    pub depth: Vec<f32>,
    pub rest: Vec<f32>,
    pub heat: Vec<f32>,
    /// Whether anything was computed.
    pub is_set: bool,
    /// Whether there is lava in it.
    pub holds: bool,
}

impl Copied {
    pub fn new() -> Self {
        let plane = || vec![0.0; PITCH * PITCH];
        Self {
            size: (0, 0),
            ground: plane(),
            surface: plane(),
            depth: plane(),
            warmth: plane(),
            slope: [plane(), plane()],
            flow: [plane(), plane()],
            heat_flow: [plane(), plane()],
            share: plane(),
        }
    }

    /// Copies a tile and its ring; returns whether there is any lava.
    fn load(&mut self, terrain: &Terrain, tile: UVec2) -> bool {
        let grid = terrain.grid();
        let (columns, rows) = grid.tile_cells(tile);
        self.size = (columns.len(), rows.len());
        let Some((depth, heat)) = terrain.lava().zip(terrain.lava_heat()) else {
            return false;
        };
        let from = |first: usize| first.saturating_sub(RING);
        let (left, top) = (from(columns.start), from(rows.start));
        let right = (columns.end + RING).min(grid.width());
        let bottom = (rows.end + RING).min(grid.height());
        // Most neighbors of lava have none near enough.
        let row = |y: usize| y * grid.width() + left..y * grid.width() + right;
        let holds = |y: usize| depth[row(y)].iter().any(|depth| *depth > 0.0);
        if !(top..bottom).any(holds) {
            return false;
        }
        for plane in [&mut self.depth, &mut self.warmth] {
            plane.fill(0.0);
        }
        self.ground.fill(WALL);
        self.surface.fill(WALL);
        let layers = [terrain.bedrock(), terrain.bedrock_low(), terrain.soil()];
        for y in top..bottom {
            let cells = row(y);
            let count = cells.len();
            let place = (y + RING - rows.start) * PITCH + left + RING - columns.start;
            let [bedrock, rest, soil] = layers.map(|layer| &layer[cells.clone()]);
            load_row(
                [bedrock, rest, soil, &depth[cells.clone()], &heat[cells]],
                terrain.datum(),
                &mut self.ground[place..][..count],
                &mut self.surface[place..][..count],
                &mut self.depth[place..][..count],
                &mut self.warmth[place..][..count],
            );
        }
        true
    }
}

/// Copies a row of cells.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl",
    "x86_64+avx2",
    "x86_64+sse4.1"
))]
fn load_row(
    layers: [&[f32]; 5],
    datum: f32,
    ground: &mut [f32],
    surface: &mut [f32],
    depth: &mut [f32],
    warmth: &mut [f32],
) {
    let count = ground.len();
    let [bedrock, rest, soil, lava, heat] = layers.map(|layer| &layer[..count]);
    let (surface, depth) = (&mut surface[..count], &mut depth[..count]);
    let warmth = &mut warmth[..count];
    for x in 0..count {
        ground[x] = relative_ground(bedrock[x], rest[x], soil[x], datum);
        surface[x] = ground[x] + lava[x];
        depth[x] = lava[x];
        warmth[x] = least(heat[x] / most(lava[x], 1e-20), 1.0);
    }
}

/// Lets the lava of a tile flow for one sub-step.
pub(super) fn flow_tile(
    copied: &mut Copied,
    terrain: &Terrain,
    substep: &Substep,
    result: &mut TileFlow,
) {
    let wide = terrain.grid().tiles().x as usize;
    let tile = UVec2::new((result.tile % wide) as u32, (result.tile / wide) as u32);
    result.is_set = copied.load(terrain, tile);
    result.holds = false;
    if result.is_set {
        find_flows(copied, substep);
        give(copied, terrain, tile, result);
    }
}

/// Flows through all faces, as far as the giving cells have so much.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl",
    "x86_64+avx2",
    "x86_64+sse4.1"
))]
fn find_flows(copied: &mut Copied, substep: &Substep) {
    let Copied {
        size: (width, height),
        ground,
        surface,
        depth,
        warmth,
        slope: [slope_x, slope_y],
        flow: [east, south],
        heat_flow: [east_heat, south_heat],
        share,
    } = copied;
    let (width, height) = (*width, *height);
    // Cells of the tile and one around it; rows begin one cell before those.
    for y in RING - 1..height + RING + 1 {
        let row = y * PITCH + RING - 1;
        slope_row(&mut slope_x[row..], surface, depth, row, 1, width + 2);
        slope_row(&mut slope_y[row..], surface, depth, row, PITCH, width + 2);
    }
    for y in RING - 2..height + RING + 1 {
        let row = y * PITCH + RING - 2;
        let cells = [&ground[..], surface, depth, warmth];
        let count = width + 3;
        face_row(&mut east[row..], cells, slope_y, row, 1, count, substep);
        face_row(
            &mut south[row..],
            cells,
            slope_x,
            row,
            PITCH,
            count,
            substep,
        );
    }
    for y in RING - 1..height + RING + 1 {
        let row = y * PITCH + RING - 1;
        let count = width + 2;
        let (e, w) = (&east[row..][..count], &east[row - 1..][..count]);
        let (s, n) = (&south[row..][..count], &south[row - PITCH..][..count]);
        let (depth, share) = (&depth[row..][..count], &mut share[row..][..count]);
        for x in 0..count {
            let out = (most(e[x], 0.0) - least(w[x], 0.0)) + (most(s[x], 0.0) - least(n[x], 0.0));
            let most_given = MAX_OUTFLOW_SHARE * depth[x];
            share[x] = most_given / most(most(out, most_given), 1e-30);
        }
    }
    for y in RING - 1..height + RING {
        let row = y * PITCH + RING - 1;
        let count = width + 1;
        let (flow, heat) = (&mut east[row..][..count], &mut east_heat[row..][..count]);
        limit_row(flow, heat, share, warmth, row, 1);
        let (flow, heat) = (&mut south[row..][..count], &mut south_heat[row..][..count]);
        limit_row(flow, heat, share, warmth, row, PITCH);
    }
}

/// Limits a row's wanted flows to what the giving cells have, with their heat.
#[inline(always)]
fn limit_row(
    flow: &mut [f32],
    heat: &mut [f32],
    share: &[f32],
    warmth: &[f32],
    row: usize,
    step: usize,
) {
    let count = flow.len();
    let heat = &mut heat[..count];
    let (share, other_share) = (&share[row..][..count], &share[row + step..][..count]);
    let (warmth, other_warmth) = (&warmth[row..][..count], &warmth[row + step..][..count]);
    for x in 0..count {
        // One of the two is zero: a selection that needs no branch.
        let (forward, back) = (most(flow[x], 0.0), least(flow[x], 0.0));
        let (forward, back) = (forward * share[x], back * other_share[x]);
        flow[x] = forward + back;
        heat[x] = forward * warmth[x] + back * other_warmth[x];
    }
}

/// Slope of a row's surface towards the cells `step` before and after. Dry
/// ground that stands higher is a wall, no part of the surface.
#[inline(always)]
fn slope_row(
    slope: &mut [f32],
    surface: &[f32],
    depth: &[f32],
    row: usize,
    step: usize,
    count: usize,
) {
    let slope = &mut slope[..count];
    let here = &surface[row..][..count];
    let (before, after) = (
        &surface[row - step..][..count],
        &surface[row + step..][..count],
    );
    let (depth_before, depth_after) =
        (&depth[row - step..][..count], &depth[row + step..][..count]);
    for x in 0..count {
        let level = |surface: f32, depth: f32| {
            let is_wall = (depth <= 0.0) & (surface > here[x]);
            if is_wall { here[x] } else { surface }
        };
        slope[x] = 0.5 * (level(after[x], depth_after[x]) - level(before[x], depth_before[x]));
    }
}

/// Flow from a row's cells to those `step` after them, below zero if it comes
/// from there.
#[inline(always)]
fn face_row(
    flow: &mut [f32],
    [ground, surface, depth, warmth]: [&[f32]; 4],
    across: &[f32],
    row: usize,
    step: usize,
    count: usize,
    substep: &Substep,
) {
    let flow = &mut flow[..count];
    let pair = |plane| {
        let plane: &[f32] = plane;
        (&plane[row..][..count], &plane[row + step..][..count])
    };
    let (ground, other_ground) = pair(ground);
    let (surface, other_surface) = pair(surface);
    let (depth, other_depth) = pair(depth);
    let (warmth, other_warmth) = pair(warmth);
    let (across, other_across) = pair(across);
    for x in 0..count {
        let drop = surface[x] - other_surface[x];
        let gives = drop > 0.0;
        let of = |own: f32, other: f32| if gives { own } else { other };
        let step = most(ground[x], other_ground[x]);
        let above = of(surface[x], other_surface[x]) - step;
        let thick = least(
            most(least(of(depth[x], other_depth[x]), above), 0.0),
            MAX_THICKNESS,
        );
        let fall = most(drop, -drop);
        let along = fall * substep.cells_per_metre;
        let aside = of(across[x], other_across[x]) * substep.cells_per_metre;
        let steep = along * along + aside * aside;
        let slant = (1.0 + steep).sqrt();
        let held = substep.hold * slant / most(steep.sqrt() * thick, 1e-30);
        let held = least(held, 1.0);
        let free = (1.0 - held) * (1.0 - held) * (1.0 + 0.5 * held);
        let stiff = 1.0 + substep.stiffening * (1.0 - of(warmth[x], other_warmth[x]));
        let speed = substep.mobility / stiff * (thick * thick) * (along / slant) * free;
        let wish = speed * thick * substep.dt * substep.cells_per_metre;
        let wish = least(wish, MAX_LEVELED_SHARE * fall);
        flow[x] = if gives { wish } else { -wish };
    }
}

/// Moves the lava and its heat.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl",
    "x86_64+avx2",
    "x86_64+sse4.1"
))]
fn give(copied: &Copied, terrain: &Terrain, tile: UVec2, result: &mut TileFlow) {
    let (width, height) = copied.size;
    let (columns, rows) = terrain.grid().tile_cells(tile);
    let TileFlow {
        depth, rest, heat, ..
    } = result;
    for plane in [&mut *depth, &mut *rest, &mut *heat] {
        plane.resize(width * height, 0.0);
    }
    let Some(lava) = terrain.lava_planes() else {
        return;
    };
    let mut deepest = 0;
    for y in 0..height {
        let first = (y + RING) * PITCH + RING;
        let cell = (rows.start + y) * terrain.grid().width() + columns.start;
        let old = lava.map(|plane| &plane[cell..][..width]);
        let place = y * width;
        deepest = deepest.max(give_row(
            old,
            [&copied.flow, &copied.heat_flow],
            first,
            &mut depth[place..][..width],
            &mut rest[place..][..width],
            &mut heat[place..][..width],
        ));
    }
    result.holds = deepest != 0;
}

/// New depths (both parts) and heats of a row; returns the largest depth's bits.
#[inline(always)]
fn give_row(
    [old_depth, old_rest, old_heat]: [&[f32]; 3],
    [flow, heat_flow]: [&[Vec<f32>; 2]; 2],
    first: usize,
    depth: &mut [f32],
    rest: &mut [f32],
    heat: &mut [f32],
) -> u32 {
    let count = depth.len();
    let (rest, heat) = (&mut rest[..count], &mut heat[..count]);
    let (old_depth, old_rest) = (&old_depth[..count], &old_rest[..count]);
    let old_heat = &old_heat[..count];
    let [west, east] = [first - 1, first].map(|at| &flow[0][at..][..count]);
    let [north, south] = [first - PITCH, first].map(|at| &flow[1][at..][..count]);
    let [west_heat, east_heat] = [first - 1, first].map(|at| &heat_flow[0][at..][..count]);
    let [north_heat, south_heat] = [first - PITCH, first].map(|at| &heat_flow[1][at..][..count]);
    let mut deepest = 0;
    for x in 0..count {
        // Opposite faces in pairs: mirroring the land mirrors the result.
        let gain =
            (f64::from(west[x]) - f64::from(east[x])) + (f64::from(north[x]) - f64::from(south[x]));
        let total = f64::from(old_depth[x]) + f64::from(old_rest[x]) + gain;
        let new = most(total as f32, 0.0);
        let gain = (west_heat[x] - east_heat[x]) + (north_heat[x] - south_heat[x]);
        let warmed = old_heat[x] + gain;
        depth[x] = new;
        rest[x] = (total - f64::from(new)) as f32;
        heat[x] = most(least(warmed, new), 0.0);
        // Bits of positive numbers are ordered as the numbers are.
        deepest = deepest.max(new.to_bits());
    }
    deepest
}

/// Sub-steps in a second that the lava of a tile needs.
pub(super) fn substeps_needed(terrain: &Terrain, tile: UVec2, substep: &Substep) -> f32 {
    let Some((depth, heat)) = terrain.lava().zip(terrain.lava_heat()) else {
        return 0.0;
    };
    let grid = terrain.grid();
    let (width, height) = (grid.width(), grid.height());
    let (columns, rows) = grid.tile_cells(tile);
    let surface = |cell: usize| terrain.relative_ground(cell) + depth[cell];
    let mut rate = 0.0f32;
    for y in rows {
        for x in columns.clone() {
            let cell = y * width + x;
            if depth[cell] <= 0.0 {
                continue;
            }
            let mut lowest = f32::INFINITY;
            if x > 0 {
                lowest = least(lowest, surface(cell - 1));
            }
            if x + 1 < width {
                lowest = least(lowest, surface(cell + 1));
            }
            if y > 0 {
                lowest = least(lowest, surface(cell - width));
            }
            if y + 1 < height {
                lowest = least(lowest, surface(cell + width));
            }
            let warmth = least(heat[cell] / depth[cell], 1.0);
            let drop = most(surface(cell) - lowest, 0.0);
            rate = most(rate, substep.substeps_per_second(depth[cell], warmth, drop));
        }
    }
    rate
}
