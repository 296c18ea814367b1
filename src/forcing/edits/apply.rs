//! Applies an edit to a terrain. Plain Rust, no app needed.

use super::{EditAction, Fill, Matter, Supply, TerrainEdit, brush::Footprint};
use crate::{
    forcing::{add_counted, gain},
    terrain::{Grid, Landform, Layer, SettingsError, Terrain, add_exactly, landform::Fbm},
};
use bevy::{math::*, prelude::*};

/// Most that one edit may change a cell by. units: m
const MAX_CHANGE: f32 = 1e6;
/// A hand with less than this is empty. units: m³
const EMPTY: f64 = 1e-6;
/// The share of the difference that may flow between two cells in one round of
/// smoothing, and the most rounds in one edit.
const SMOOTHING: (f32, u32) = (0.2, 64);

/// What an edit really did.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Default)]
pub struct EditEffect {
    /// Soil, rock and sediment that the terrain gained or, below zero, lost.
    /// units: m³
    pub solids: f64,
    /// Water that the terrain gained or, below zero, lost. units: m³
    pub water: f64,
    /// Lava that the terrain gained or, below zero, lost. units: m³
    pub lava: f64,
}

/// Index in the grid and wanted change of every cell that is to change, row by
/// row. units: m
type Changes = Vec<(usize, f32)>;

/// The changes that a brush asks for, by column, row and weight.
fn changes_of(
    footprint: &Footprint,
    grid: &Grid,
    change: impl Fn(usize, usize, f32) -> f32,
) -> Changes {
    let mut changes = Vec::with_capacity(footprint.cells());
    for (y, span) in footprint.spans() {
        for x in span {
            let weight = footprint.weight(x, y);
            if weight > 0.0 {
                let wanted = change(x, y, weight).clamp(-MAX_CHANGE, MAX_CHANGE);
                if wanted != 0.0 {
                    changes.push((y * grid.width() + x, wanted));
                }
            }
        }
    }
    changes
}

impl TerrainEdit {
    /// The cells that it may change.
    pub(super) fn footprint(&self, terrain: &Terrain) -> Footprint {
        Footprint::new(self.brush, terrain.grid(), self.from, self.to)
    }

    /// Applies the edit at once, whatever its step. Returns what it really did:
    /// nothing where it lies outside the terrain.
    pub fn apply(&self, terrain: &mut Terrain) -> Result<EditEffect, SettingsError> {
        self.check()?;
        let footprint = self.footprint(terrain);
        let amount = self.strength * self.seconds;
        if footprint.is_empty() || amount == 0.0 {
            return Ok(EditEffect::default());
        }
        let mut layer = Layer::Bedrock;
        let effect = match &self.action {
            EditAction::SetHardness { value } => set_hardness(terrain, &footprint, *value, amount),
            EditAction::Add(Matter::Water) => {
                layer = Layer::Water;
                self.add_water(terrain, &footprint, amount)
            }
            EditAction::Remove(Matter::Water) => {
                layer = Layer::Water;
                self.take_water(terrain, &footprint, amount)
            }
            EditAction::Add(Matter::Lava) => {
                layer = Layer::Lava;
                self.add_lava(terrain, &footprint, amount)
            }
            EditAction::Remove(Matter::Lava) => {
                layer = Layer::Lava;
                self.take_lava(terrain, &footprint, amount)
            }
            _ => {
                let changes = self.wanted(terrain, &footprint, amount);
                self.move_ground(terrain, &changes)
            }
        };
        // An empty hand changes nothing, so no tile is marked.
        let Some(effect) = effect else {
            return Ok(EditEffect::default());
        };
        terrain.mark_cells(footprint.bands(), layer);
        let account = &mut terrain.account;
        match self.supply {
            Supply::Endless => {
                account.solids.added += effect.solids + effect.lava;
                account.water.added += effect.water;
            }
            Supply::Hand => {
                account.solids.carried -= effect.solids;
                account.solids.lava_carried -= effect.lava;
                account.water.carried -= effect.water;
            }
        }
        Ok(effect)
    }

    /// The change of the ground that the edit asks for.
    fn wanted(&self, terrain: &Terrain, footprint: &Footprint, amount: f32) -> Changes {
        let grid = *terrain.grid();
        let ground = |x: usize, y: usize| terrain.relative_ground(y * grid.width() + x);
        // Heights of the world to heights above the datum.
        let base = grid.origin().y + terrain.datum();
        let towards = |target: f32, x: usize, y: usize, weight: f32| {
            let most = amount * weight;
            (target - base - ground(x, y)).clamp(-most, most)
        };
        match &self.action {
            EditAction::Raise | EditAction::Add(_) => {
                changes_of(footprint, &grid, |_, _, w| amount * w)
            }
            EditAction::Lower | EditAction::Remove(_) => {
                changes_of(footprint, &grid, |_, _, w| -amount * w)
            }
            EditAction::Flatten { height } => {
                changes_of(footprint, &grid, |x, y, w| towards(*height, x, y, w))
            }
            EditAction::Ramp => {
                let rise = self.to.y - self.from.y;
                let height = |x, y| self.from.y + rise * footprint.along(x, y);
                changes_of(footprint, &grid, |x, y, w| towards(height(x, y), x, y, w))
            }
            EditAction::Stamp { map, rotation } => {
                let angle = f64::from(*rotation);
                let turn = Vec2::new(libm::cos(angle) as f32, libm::sin(angle) as f32);
                let radius = footprint.radius();
                let place = |x, y| turn.rotate(footprint.away(x, y) / radius);
                changes_of(footprint, &grid, |x, y, w| amount * w * map.at(place(x, y)))
            }
            EditAction::Noise { seed, feature_size } => {
                self.noise(&grid, footprint, amount, *seed, *feature_size)
            }
            EditAction::Smooth => smooth(terrain, footprint, amount),
            // Done elsewhere: it changes no ground.
            EditAction::SetHardness { .. } => Vec::new(),
        }
    }

    /// Bumps whose weighted mean is zero, so that as much is added as taken.
    fn noise(
        &self,
        grid: &Grid,
        footprint: &Footprint,
        amount: f32,
        seed: u32,
        feature_size: f32,
    ) -> Changes {
        let bumps = Fbm {
            octaves: 4,
            ..Fbm::seeded(seed)
                .with_feature_size(f64::from(feature_size))
                .with_height(2.0)
        };
        let height = bumps.sampler(grid.extent().as_dvec2());
        let l = f64::from(grid.cell_size());
        let mut spots = Vec::with_capacity(footprint.cells());
        let (mut sum, mut whole) = (0.0f64, 0.0f64);
        for (y, span) in footprint.spans() {
            for x in span {
                let weight = footprint.weight(x, y);
                if weight > 0.0 {
                    let value = height(DVec2::new(x as f64, y as f64) * l) as f32;
                    sum += f64::from(value) * f64::from(weight);
                    whole += f64::from(weight);
                    spots.push((y * grid.width() + x, value, weight));
                }
            }
        }
        let mean = (sum / whole.max(1e-30)) as f32;
        let spots = spots.into_iter();
        let changes = spots.map(|(cell, value, weight)| {
            let change = amount * weight * (value - mean);
            (cell, change.clamp(-MAX_CHANGE, MAX_CHANGE))
        });
        changes.collect()
    }

    /// Takes and adds ground as is wanted, as far as the supply allows.
    fn move_ground(&self, terrain: &mut Terrain, changes: &Changes) -> Option<EditEffect> {
        let grid = *terrain.grid();
        let layers = terrain.layers_mut();
        let takes = match self.action {
            EditAction::Remove(Matter::Soil) => (true, false),
            EditAction::Remove(Matter::Rock) => (false, true),
            _ => (true, true),
        };
        let (mut soil_taken, mut rock_taken, mut wanted) = (0.0f64, 0.0f64, 0.0f64);
        for &(cell, change) in changes {
            if change > 0.0 {
                wanted += f64::from(change);
                continue;
            }
            let mut left = -change;
            if takes.0 {
                let soil = &mut layers.soil[cell];
                let (before, taken) = (*soil, left.min(*soil));
                *soil -= taken;
                left -= taken;
                soil_taken += f64::from(before) - f64::from(*soil);
            }
            if takes.1 && left > 0.0 && layers.bedrock[cell] > -1e9 + MAX_CHANGE {
                let (bedrock, rest) = (&mut layers.bedrock[cell], &mut layers.bedrock_low[cell]);
                let before = (*bedrock, *rest);
                add_exactly(bedrock, rest, -left);
                rock_taken -= gain(before, (*bedrock, *rest));
            }
        }

        let taken = soil_taken + rock_taken;
        let share = match (&self.action, self.supply) {
            // What leaves one cell arrives in another, and no more than that.
            (EditAction::Smooth | EditAction::Noise { .. }, _) => share_of(taken, wanted),
            (_, Supply::Endless) => 1.0,
            (_, Supply::Hand) => {
                let hand = layers.account.solids.carried + taken * grid.cell_area();
                share_of((hand - EMPTY).max(0.0) / grid.cell_area(), wanted)
            }
        };
        // Evened ground stays what it was; new ground is of the edit's choice.
        let rock_share = match (&self.action, self.fill) {
            (EditAction::Smooth | EditAction::Noise { .. }, _) if taken > 0.0 => {
                (rock_taken / taken).clamp(0.0, 1.0)
            }
            (EditAction::Add(Matter::Soil), _) => 0.0,
            (EditAction::Add(Matter::Rock), _) => 1.0,
            (_, Fill::Rock) => 1.0,
            (_, Fill::Soil) => 0.0,
        };
        let mut added = 0.0f64;
        for &(cell, change) in changes {
            let change = f64::from(change) * share;
            if change <= 0.0 {
                continue;
            }
            let rock = (change * rock_share) as f32;
            if rock > 0.0 && layers.bedrock[cell] < 1e9 - MAX_CHANGE {
                let (bedrock, rest) = (&mut layers.bedrock[cell], &mut layers.bedrock_low[cell]);
                added += add_counted(bedrock, rest, rock);
            }
            let earth = (change * (1.0 - rock_share)) as f32;
            let soil = &mut layers.soil[cell];
            if earth > 0.0 && *soil < 1e9 - MAX_CHANGE {
                let before = *soil;
                *soil += earth;
                added += f64::from(*soil) - f64::from(before);
            }
        }
        layers.account.solids.moved += taken * grid.cell_area();
        (taken != 0.0 || added != 0.0).then(|| EditEffect {
            solids: (added - taken) * grid.cell_area(),
            ..EditEffect::default()
        })
    }

    fn add_water(
        &self,
        terrain: &mut Terrain,
        footprint: &Footprint,
        amount: f32,
    ) -> Option<EditEffect> {
        let grid = *terrain.grid();
        let changes = changes_of(footprint, &grid, |_, _, w| amount * w);
        let layers = terrain.layers_mut();
        let wanted: f64 = changes.iter().map(|(_, d)| f64::from(*d)).sum();
        let share = match self.supply {
            Supply::Endless => 1.0,
            Supply::Hand => {
                let hand = (layers.account.water.carried - EMPTY).max(0.0);
                share_of(hand / grid.cell_area(), wanted)
            }
        };
        let mut added = 0.0f64;
        for (cell, depth) in changes {
            let depth = (f64::from(depth) * share) as f32;
            if depth > 0.0 && layers.water[cell] < 1e9 - MAX_CHANGE {
                let (water, rest) = (&mut layers.water[cell], &mut layers.water_low[cell]);
                added += add_counted(water, rest, depth);
            }
        }
        (added != 0.0).then(|| EditEffect {
            water: added * grid.cell_area(),
            ..EditEffect::default()
        })
    }

    fn take_water(
        &self,
        terrain: &mut Terrain,
        footprint: &Footprint,
        amount: f32,
    ) -> Option<EditEffect> {
        let grid = *terrain.grid();
        let changes = changes_of(footprint, &grid, |_, _, w| amount * w);
        let layers = terrain.layers_mut();
        let (mut water, mut load) = (0.0f64, 0.0f64);
        for (cell, depth) in changes {
            let before = (layers.water[cell], layers.water_low[cell]);
            if before.0 <= 0.0 {
                continue;
            }
            let mut after = before;
            add_exactly(&mut after.0, &mut after.1, -depth);
            if after.0 <= 0.0 {
                after = (0.0, 0.0);
            }
            water += gain(before, after);
            (layers.water[cell], layers.water_low[cell]) = after;
            // What the water carries goes with it.
            let carried = &mut layers.suspended[cell];
            let remains = *carried * (after.0 / before.0).clamp(0.0, 1.0);
            load += f64::from(remains) - f64::from(*carried);
            *carried = remains;
        }
        (water != 0.0).then(|| EditEffect {
            solids: load * grid.cell_area(),
            water: water * grid.cell_area(),
            lava: 0.0,
        })
    }

    fn add_lava(
        &self,
        terrain: &mut Terrain,
        footprint: &Footprint,
        amount: f32,
    ) -> Option<EditEffect> {
        let grid = *terrain.grid();
        let changes = changes_of(footprint, &grid, |_, _, w| amount * w);
        let wanted: f64 = changes.iter().map(|(_, d)| f64::from(*d)).sum();
        let hand = (terrain.account.solids.lava_carried - EMPTY).max(0.0);
        let share = match self.supply {
            Supply::Endless => 1.0,
            Supply::Hand => share_of(hand / grid.cell_area(), wanted),
        };
        if share <= 0.0 {
            return None;
        }
        let lava = terrain.ensure_lava();
        let mut added = 0.0f64;
        for (cell, depth) in changes {
            let depth = (f64::from(depth) * share) as f32;
            if depth > 0.0 && lava.depth[cell] < 1e9 - MAX_CHANGE {
                added += add_counted(&mut lava.depth[cell], &mut lava.low[cell], depth);
                lava.heat[cell] = (lava.heat[cell] + depth).min(lava.depth[cell]);
            }
        }
        (added != 0.0).then(|| EditEffect {
            lava: added * grid.cell_area(),
            ..EditEffect::default()
        })
    }

    fn take_lava(
        &self,
        terrain: &mut Terrain,
        footprint: &Footprint,
        amount: f32,
    ) -> Option<EditEffect> {
        let grid = *terrain.grid();
        let changes = changes_of(footprint, &grid, |_, _, w| amount * w);
        let lava = terrain.layers_mut().lava?;
        let mut taken = 0.0f64;
        for (cell, depth) in changes {
            let before = (lava.depth[cell], lava.low[cell]);
            if before.0 <= 0.0 {
                continue;
            }
            let mut after = before;
            add_exactly(&mut after.0, &mut after.1, -depth);
            if after.0 <= 0.0 {
                after = (0.0, 0.0);
            }
            taken += gain(before, after);
            (lava.depth[cell], lava.low[cell]) = after;
            let warmth = (lava.heat[cell] / before.0).clamp(0.0, 1.0);
            lava.heat[cell] = (warmth * after.0).min(after.0);
        }
        (taken != 0.0).then(|| EditEffect {
            lava: taken * grid.cell_area(),
            ..EditEffect::default()
        })
    }
}

/// The share of what is wanted that is available. Rounding must not make it more: what
/// a hand holds is never negative.
fn share_of(available: f64, wanted: f64) -> f64 {
    if available >= wanted || wanted <= 0.0 {
        1.0
    } else {
        (available / wanted * (1.0 - 1e-7)).max(0.0)
    }
}

fn set_hardness(
    terrain: &mut Terrain,
    footprint: &Footprint,
    value: f32,
    amount: f32,
) -> Option<EditEffect> {
    let width = terrain.grid().width();
    let map = terrain.hardness();
    let mut changes = Changes::new();
    for (y, span) in footprint.spans() {
        for x in span {
            let most = amount * footprint.weight(x, y);
            let cell = y * width + x;
            let old = map.map_or(0.0, |map| map[cell]);
            let new = (old + (value - old).clamp(-most, most)).clamp(0.0, 1.0);
            if new != old {
                changes.push((cell, new));
            }
        }
    }
    // Without a change, no map is made.
    (!changes.is_empty()).then(|| {
        let map = terrain.hardness_mut();
        for (cell, hardness) in changes {
            map[cell] = hardness;
        }
        EditEffect::default()
    })
}

/// Diffusion of the ground within the brush; its weight limits what may flow.
fn smooth(terrain: &Terrain, footprint: &Footprint, amount: f32) -> Changes {
    let grid = *terrain.grid();
    let count = footprint.cells();
    let mut cells = Vec::with_capacity(count);
    let (mut old, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (y, span) in footprint.spans() {
        for x in span {
            let cell = y * grid.width() + x;
            cells.push(cell);
            old.push(terrain.relative_ground(cell));
            weights.push(footprint.weight(x, y));
        }
    }

    let whole = amount / (grid.cell_size() * grid.cell_size());
    let rounds = ((whole / SMOOTHING.0).ceil() as u32).clamp(1, SMOOTHING.1);
    let share = (whole / rounds as f32).min(SMOOTHING.0);
    let mut new = old.clone();
    let mut change = vec![0.0f32; new.len()];
    for _ in 0..rounds {
        change.fill(0.0);
        let mut exchange = |a: usize, b: usize| {
            let flow = share * weights[a].min(weights[b]) * (new[a] - new[b]);
            change[a] -= flow;
            change[b] += flow;
        };
        // Between neighbors that are both there, by their places in the lists.
        let mut row = 0;
        for (y, here) in footprint.spans() {
            let below = footprint.columns(y + 1);
            let next = row + here.len();
            for x in here.clone() {
                let place = row + (x - here.start);
                if x + 1 < here.end {
                    exchange(place, place + 1);
                }
                if below.contains(&x) {
                    exchange(place, next + (x - below.start));
                }
            }
            row = next;
        }
        for (new, change) in new.iter_mut().zip(&change) {
            *new += change;
        }
    }
    let change = new.iter().zip(&old).map(|(new, old)| new - old);
    let changes = cells.into_iter().zip(change);
    changes.filter(|(_, change)| *change != 0.0).collect()
}
