//! What water does to the ground: softens its top, and what the soft layer
//! gained or lost by creeping is applied to the terrain's layers.

use super::sheet::BAND;
use crate::{
    parallel::Workers,
    terrain::{TILE, Terrain},
};
use multiversion::multiversion;

const TILE_WIDTH: usize = TILE as usize;

/// The soft top of the ground, and what each band of rows did.
#[derive(Clone, Debug, Default)]
pub(super) struct Regolith {
    /// Thickness when it was softened. units: m
    pub start: Vec<f32>,
    /// Thickness now, as a two-float sum. units: m
    pub depth: Vec<f32>,
    pub rest: Vec<f32>,
    reports: Vec<Report>,
}

#[derive(Clone, Debug, Default)]
struct Report {
    /// Sum of thicknesses taken from the ground. units: m
    taken: f64,
    /// Tiles whose ground changed.
    changed: Vec<bool>,
    /// Tiles whose suspended sediment fell.
    fallen: Vec<bool>,
}

impl Regolith {
    /// Resizes for a number of cells.
    pub fn fit(&mut self, cells: usize, width: usize) {
        for plane in [&mut self.start, &mut self.depth, &mut self.rest] {
            plane.resize(cells, 0.0);
        }
        let bands = cells.div_ceil(width).div_ceil(BAND);
        self.reports.resize(bands, Report::default());
    }

    /// Softens the ground under water to `most`, less where it is hard if
    /// `by_hardness`. Suspended sediment falls.
    pub fn soften(
        &mut self,
        workers: Workers,
        terrain: &mut Terrain,
        most: f32,
        by_hardness: bool,
    ) {
        let width = terrain.grid().width();
        let rows = BAND * width;
        let workers = workers.for_cells(self.start.len());
        let layers = terrain.layers_mut();
        let hardness = layers.hardness.filter(|_| by_hardness);
        let mut hardness = hardness.map(|hardness| hardness.chunks(rows));
        let thickness = self.start.chunks_mut(rows).zip(self.depth.chunks_mut(rows));
        let thickness = thickness.zip(self.rest.chunks_mut(rows));
        let ground = layers.soil.chunks_mut(rows);
        let ground = ground.zip(layers.bedrock.chunks_mut(rows));
        let ground = ground.zip(layers.bedrock_low.chunks_mut(rows));
        let water = layers
            .water
            .chunks(rows)
            .zip(layers.suspended.chunks_mut(rows));
        let bands = thickness.zip(water).zip(ground).zip(&mut self.reports);
        let bands = bands.map(|band| (band, hardness.as_mut().and_then(Iterator::next)));
        workers.each(bands, |(band, hardness)| {
            let (((((start, depth), rest), (water, suspended)), ground), report) = band;
            let ((soil, bedrock), bedrock_low) = ground;
            soften(most, water, hardness, start);
            depth.copy_from_slice(start);
            rest.fill(0.0);
            report.clear(width);
            for cell in 0..suspended.len() {
                if suspended[cell] > 0.0 {
                    let parts = (&mut soil[cell], &mut bedrock[cell], &mut bedrock_low[cell]);
                    change(parts, suspended[cell].into());
                    suspended[cell] = 0.0;
                    report.fallen[cell % width / TILE_WIDTH] = true;
                }
            }
        });
        mark(terrain, &self.reports, |report| &report.fallen, true);
        mark(terrain, &self.reports, |report| &report.fallen, false);
    }

    /// Applies what the regolith gained to the ground.
    pub fn apply(&mut self, workers: Workers, terrain: &mut Terrain) {
        let width = terrain.grid().width();
        let rows = BAND * width;
        let layers = terrain.layers_mut();
        let thickness = self.start.chunks(rows).zip(self.depth.chunks(rows));
        let thickness = thickness.zip(self.rest.chunks(rows));
        let ground = layers.soil.chunks_mut(rows);
        let ground = ground.zip(layers.bedrock.chunks_mut(rows));
        let ground = ground.zip(layers.bedrock_low.chunks_mut(rows));
        let bands = thickness.zip(ground).zip(&mut self.reports);
        workers.for_cells(self.start.len()).each(bands, |band| {
            let ((((start, depth), rest), ground), report) = band;
            let ((soil, bedrock), bedrock_low) = ground;
            report.clear(width);
            apply(
                width,
                [start, depth, rest],
                [soil, bedrock, bedrock_low],
                report,
            );
        });
        let taken: f64 = self.reports.iter().map(|report| report.taken).sum();
        terrain.account.solids.moved += taken * terrain.grid().cell_area();
        mark(terrain, &self.reports, |report| &report.changed, false);
    }
}

impl Report {
    fn clear(&mut self, width: usize) {
        let tiles = width.div_ceil(TILE_WIDTH);
        self.taken = 0.0;
        for flags in [&mut self.changed, &mut self.fallen] {
            flags.clear();
            flags.resize(tiles, false);
        }
    }
}

/// Marks the tiles that bands say something of, of water or of the ground.
fn mark(terrain: &mut Terrain, reports: &[Report], flags: fn(&Report) -> &Vec<bool>, water: bool) {
    let wide = terrain.grid().tiles().x as usize;
    let bands = reports.iter().enumerate();
    let tiles = bands.flat_map(|(band, report)| {
        let first = band * BAND / TILE_WIDTH * wide;
        let flags = flags(report).iter().enumerate();
        flags.filter_map(move |(tile, on)| on.then_some(first + tile))
    });
    let mut tiles = tiles.peekable();
    if tiles.peek().is_none() {
        return;
    }
    match water {
        true => terrain.mark_water_tiles(tiles),
        false => terrain.mark_tiles(tiles),
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn soften(most: f32, water: &[f32], hardness: Option<&[f32]>, thickness: &mut [f32]) {
    match hardness {
        None => {
            for (thickness, water) in thickness.iter_mut().zip(water) {
                *thickness = water.min(most);
            }
        }
        Some(hardness) => {
            for ((thickness, water), hardness) in thickness.iter_mut().zip(water).zip(hardness) {
                *thickness = water.min(most * (1.0 - hardness));
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn apply(
    width: usize,
    [start, depth, rest]: [&[f32]; 3],
    [soil, bedrock, bedrock_low]: [&mut [f32]; 3],
    report: &mut Report,
) {
    for first in (0..soil.len()).step_by(width) {
        for (tile, changed) in report.changed.iter_mut().enumerate() {
            let from = first + tile * TILE_WIDTH;
            let cells = from..(from + TILE_WIDTH).min(first + width);
            let (start, depth) = (&start[cells.clone()], &depth[cells.clone()]);
            let rest = &rest[cells.clone()];
            // What did not move is not written.
            let same = |x: usize| start[x] == depth[x] && rest[x] == 0.0;
            if (0..start.len()).fold(true, |all, x| all & same(x)) {
                continue;
            }
            *changed = true;
            let (soil, bedrock) = (&mut soil[cells.clone()], &mut bedrock[cells.clone()]);
            let bedrock_low = &mut bedrock_low[cells];
            for x in 0..start.len() {
                let gain = (f64::from(depth[x]) - f64::from(start[x])) + f64::from(rest[x]);
                report.taken += (-gain).max(0.0);
                let parts = (&mut soil[x], &mut bedrock[x], &mut bedrock_low[x]);
                change(parts, gain);
            }
        }
    }
}

/// Changes the ground of a cell: soil gives first, then bedrock, and what comes
/// is soil. What soil's number cannot hold goes to the bedrock's rest.
#[inline(always)]
fn change((soil, bedrock, rest): (&mut f32, &mut f32, &mut f32), gain: f64) {
    let wanted = f64::from(*soil) + gain;
    *soil = wanted.max(0.0) as f32;
    let left = wanted - f64::from(*soil);
    let total = (f64::from(*bedrock) + f64::from(*rest)) + left;
    *bedrock = total as f32;
    *rest = (total - f64::from(*bedrock)) as f32;
}
