//! Lets lava flow and freeze, tile by tile. Plain Rust.
//!
//! Only tiles that hold lava, and those that it may flow into, are looked at.

use super::{
    Lava,
    flow::{Copied, Substep, TileFlow, flow_tile, substeps_needed},
    freeze::{Band, Changed, OpenSides, bands, freeze_band},
    steam::Boiled,
};
use crate::{
    models::{Solver, most},
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{Grid, Layer, SettingsError, TILE, Terrain, TerrainCursor},
};
use bevy::{math::UVec2, prelude::SystemSet};

const SIDE: usize = TILE as usize;
/// Tiles that one task computes.
const TILES_AT_ONCE: usize = 4;
/// Longest step. units: s
const MAX_STEP: f32 = 1e9;

/// Runs [`Lava`] on a terrain.
#[derive(Clone, Debug)]
pub struct LavaSolver {
    settings: Lava,
    grid: Grid,
    /// Which tiles hold lava, of a terrain at a revision of its lava.
    holds: Vec<bool>,
    cursor: TerrainCursor,
    /// New states of tiles, kept for their memory.
    flows: Vec<TileFlow>,
    time_lost: f32,
    boiled: Vec<Boiled>,
}

impl Solver for LavaSolver {
    type Settings = Lava;

    const NAME: &'static str = "Lava";
    const KEY: &'static str = "lava";
    const READS: &'static [Layer] = Self::WRITES;
    const WRITES: &'static [Layer] = &[
        Layer::Bedrock,
        Layer::Soil,
        Layer::Water,
        Layer::Suspended,
        Layer::Lava,
    ];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Lava
    }

    fn new(settings: Lava, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            grid: *grid,
            holds: vec![false; grid.tiles().element_product() as usize],
            cursor: TerrainCursor::default(),
            flows: Vec::new(),
            time_lost: 0.0,
            boiled: Vec::new(),
        })
    }

    fn check_settings(settings: &Lava) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Lava {
        &self.settings
    }

    fn set_settings(&mut self, settings: Lava) -> Result<(), SettingsError> {
        settings.check()?;
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        self.time_lost = 0.0;
        self.boiled.clear();
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        self.find_lava(terrain);
        if !self.holds.contains(&true) {
            return;
        }
        let dt = dt.min(MAX_STEP);
        let before = self.holds.clone();
        let substeps = self.plan(&workers, terrain, dt);
        let substep = Substep::new(&self.settings, self.grid.cell_size(), dt / substeps as f32);
        for _ in 0..substeps {
            self.flow(&workers, terrain, &substep);
        }
        self.freeze(&workers, terrain, dt, &before);
        self.cursor = TerrainCursor::at(terrain);
    }

    fn time_lost(&self) -> f32 {
        self.time_lost
    }
}

impl LavaSolver {
    /// Where water boiled off in the last step, tile by tile. Empties the list.
    pub fn take_boiled(&mut self) -> Vec<Boiled> {
        core::mem::take(&mut self.boiled)
    }

    /// Finds the tiles with lava, among those that changed since the last step.
    fn find_lava(&mut self, terrain: &Terrain) {
        let Some(depth) = terrain.lava() else {
            self.holds.fill(false);
            self.cursor = TerrainCursor::default();
            return;
        };
        for tile in self.cursor.changes(terrain).shift_as_replaced().lava() {
            let (columns, rows) = self.grid.tile_cells(tile);
            let mut rows = rows.map(|y| y * self.grid.width());
            let holds = rows.any(|first| {
                let row = &depth[first + columns.start..first + columns.end];
                row.iter().any(|depth| *depth > 0.0)
            });
            self.holds[(tile.y * self.grid.tiles().x + tile.x) as usize] = holds;
        }
    }

    /// Tiles that hold lava, by their numbers.
    fn holding(&self) -> impl Iterator<Item = usize> + '_ {
        let tiles = self.holds.iter().enumerate();
        tiles.filter_map(|(tile, holds)| holds.then_some(tile))
    }

    fn coord(&self, tile: usize) -> UVec2 {
        let wide = self.grid.tiles().x;
        UVec2::new(tile as u32 % wide, tile as u32 / wide)
    }

    /// How many sub-steps a step takes. What the fastest lava would need beyond
    /// them is time lost.
    fn plan(&mut self, workers: &Workers, terrain: &Terrain, dt: f32) -> u32 {
        let substep = Substep::new(&self.settings, self.grid.cell_size(), dt);
        let tiles: Vec<usize> = self.holding().collect();
        let mut rates = vec![0.0f32; tiles.len()];
        let jobs = tiles
            .chunks(TILES_AT_ONCE)
            .zip(rates.chunks_mut(TILES_AT_ONCE));
        workers.each(jobs, |(tiles, rates)| {
            for (&tile, rate) in tiles.iter().zip(rates) {
                *rate = substeps_needed(terrain, self.coord(tile), &substep);
            }
        });
        let needed = rates.into_iter().fold(0.0, most) * dt;
        let allowed = self.settings.max_substeps;
        let substeps = (needed.ceil() as u32).clamp(1, allowed);
        if needed > substeps as f32 {
            self.time_lost = dt * (1.0 - substeps as f32 / needed);
        }
        substeps
    }

    /// Lets lava flow for a sub-step.
    fn flow(&mut self, workers: &Workers, terrain: &mut Terrain, substep: &Substep) {
        let tiles = self.grid.tiles();
        let mut reached = self.holds.clone();
        for tile in self.holding() {
            let at = self.coord(tile);
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                let (x, y) = (at.x.wrapping_add_signed(dx), at.y.wrapping_add_signed(dy));
                if x < tiles.x && y < tiles.y {
                    reached[(y * tiles.x + x) as usize] = true;
                }
            }
        }
        let reached: Vec<usize> = (0..reached.len()).filter(|tile| reached[*tile]).collect();
        self.flows.resize_with(reached.len(), TileFlow::default);
        for (flow, tile) in self.flows.iter_mut().zip(reached) {
            flow.tile = tile;
        }
        let ground = &*terrain;
        workers.each(self.flows.chunks_mut(TILES_AT_ONCE), |flows| {
            let mut copied = Copied::new();
            for flow in flows {
                flow_tile(&mut copied, ground, substep, flow);
            }
        });
        for flow in &self.flows {
            self.holds[flow.tile] = flow.holds;
        }
        self.write_flows(workers, terrain);
    }

    /// Writes the new states of the tiles.
    fn write_flows(&self, workers: &Workers, terrain: &mut Terrain) {
        let width = self.grid.width();
        let tiles_wide = self.grid.tiles().x as usize;
        let lava = terrain.ensure_lava();
        let bands = lava
            .depth
            .chunks_mut(SIDE * width)
            .zip(lava.low.chunks_mut(SIDE * width))
            .zip(lava.heat.chunks_mut(SIDE * width));
        let jobs = bands.enumerate().map(|(row, band)| {
            let flows = self.flows.iter();
            (
                band,
                flows.filter(move |flow| flow.tile / tiles_wide == row),
            )
        });
        workers.each(jobs, |(((depth, rest), heat), flows)| {
            for flow in flows.filter(|flow| flow.is_set) {
                let left = flow.tile % tiles_wide * SIDE;
                let columns = SIDE.min(width - left);
                let planes = [
                    (&mut *depth, &flow.depth),
                    (&mut *rest, &flow.rest),
                    (&mut *heat, &flow.heat),
                ];
                for (plane, new) in planes {
                    for (y, new) in new.chunks(columns).enumerate() {
                        plane[y * width + left..][..columns].copy_from_slice(new);
                    }
                }
            }
        });
    }

    /// Cools lava, and marks what changed. `before` says which tiles held some
    /// before it flowed.
    fn freeze(&mut self, workers: &Workers, terrain: &mut Terrain, dt: f32, before: &[bool]) {
        let width = self.grid.width();
        let tiles_wide = self.grid.tiles().x as usize;
        let mut open: Vec<OpenSides> = self.holding().map(OpenSides::new).collect();
        let ground = &*terrain;
        workers.each(open.chunks_mut(TILES_AT_ONCE), |tiles| {
            for tile in tiles {
                tile.count(ground);
            }
        });
        let mut changed = vec![Changed::default(); open.len()];
        let (mut tiles, mut unclaimed) = (&open[..], &mut changed[..]);
        let mut jobs = Vec::with_capacity(self.grid.tiles().y as usize);
        let layers = bands(terrain.layers_mut(), SIDE * width);
        for (row, layers) in layers.enumerate() {
            let count = tiles.partition_point(|open| open.tile / tiles_wide <= row);
            let (here, others) = tiles.split_at(count);
            let (changed, rest) = core::mem::take(&mut unclaimed).split_at_mut(count);
            (tiles, unclaimed) = (others, rest);
            if count > 0 {
                jobs.push(Band {
                    layers,
                    tiles: here,
                    changed,
                    width,
                    tiles_wide,
                });
            }
        }
        let settings = &self.settings;
        workers.each(jobs, |band| freeze_band(band, settings, dt));

        // Tiles are summed in their order, so that the ledger does not depend on which
        // worker was first.
        let boiled: f64 = changed.iter().map(|tile| tile.boiled).sum();
        terrain.account.water.evaporated += boiled * self.grid.cell_area();
        let mut lava: Vec<bool> = before.to_vec();
        let (mut ground, mut water) = (Vec::new(), Vec::new());
        for (open, changed) in open.iter().zip(&changed) {
            self.holds[open.tile] = changed.holds;
            lava[open.tile] = true;
            ground.extend(changed.ground.then_some(open.tile));
            water.extend(changed.water.then_some(open.tile));
            if changed.boiled > 0.0 {
                self.boiled.push(Boiled {
                    cell: open.tile / tiles_wide * SIDE * width + changed.hottest.0,
                    volume: changed.boiled * self.grid.cell_area(),
                });
            }
        }
        if !ground.is_empty() {
            terrain.mark_tiles(ground);
        }
        if !water.is_empty() {
            terrain.mark_water_tiles(water);
        }
        let lava = (0..lava.len()).filter(|tile| lava[*tile]);
        terrain.mark_lava_tiles(lava);
    }
}
