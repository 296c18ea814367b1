//! Undo and redo of edits while the simulation goes on.
//!
//! For each edited cell the history keeps what a layer was before an edit and
//! after it. Undo gives the old value back where nothing else has changed the
//! cell since, bit by bit. Where water or gravity went on, it takes back the
//! edit's difference only, as far as that is still there: erosion's own work
//! stays.

use super::{EditAction, EditEffect, Matter, TerrainEdit, brush::Footprint};
use crate::{
    forcing::BAND,
    terrain::{Grid, SettingsError, Terrain, add_exactly},
};
use bevy::prelude::*;
use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

/// Cells of a tile.
const CELLS: usize = BAND * BAND;

/// What was edited, to undo and redo it. Bounded in memory: the oldest edits
/// are forgotten first. It belongs to one terrain and is emptied with it.
#[derive(Resource, Debug)]
pub struct TerrainHistory {
    limit: usize,
    terrain: u64,
    done: VecDeque<Entry>,
    undone: Vec<Entry>,
}

impl Default for TerrainHistory {
    fn default() -> Self {
        Self::with_limit(64 << 20)
    }
}

/// What belongs together: one edit, or a stroke of them.
#[derive(Clone, Debug, Default)]
struct Entry {
    stroke: u64,
    /// By row-major number of the tile.
    tiles: BTreeMap<usize, Patch>,
    /// Whether the terrain had no hardness map before.
    made_hardness: bool,
    /// What the hand gained. units: m³
    hand: Hand,
}

/// What a hand holds, or gained. units: m³
#[derive(Clone, Copy, Debug, Default)]
struct Hand {
    solids: f64,
    water: f64,
    lava: f64,
}

impl Hand {
    fn of(terrain: &Terrain) -> Self {
        let account = &terrain.account;
        Self {
            solids: account.solids.carried,
            water: account.water.carried,
            lava: account.solids.lava_carried,
        }
    }
}

/// Layers of one tile before and after; empty where an edit leaves them alone.
#[derive(Clone, Debug, Default)]
struct Patch {
    ground: Vec<GroundChange>,
    water: Vec<WaterChange>,
    lava: Vec<LavaChange>,
    hardness: Vec<Change<f32>>,
}

type Change<T> = [T; 2];
/// Bedrock with its rest, and soil.
type GroundChange = Change<(f32, f32, f32)>;
/// Water with its rest, and what it carries.
type WaterChange = Change<(f32, f32, f32)>;
/// Lava with its rest, and its heat.
type LavaChange = Change<(f32, f32, f32)>;

impl Entry {
    fn bytes(&self) -> usize {
        let tile = |patch: &Patch| {
            patch.ground.len() * size_of::<GroundChange>()
                + patch.water.len() * size_of::<WaterChange>()
                + patch.lava.len() * size_of::<LavaChange>()
                + patch.hardness.len() * size_of::<Change<f32>>()
                + size_of::<Patch>()
        };
        size_of::<Self>() + self.tiles.values().map(tile).sum::<usize>()
    }
}

/// The layers that an action may change.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Ground,
    Water,
    Lava,
    Hardness,
}

impl Part {
    fn of(action: &EditAction) -> Self {
        match action {
            EditAction::Add(Matter::Water) | EditAction::Remove(Matter::Water) => Part::Water,
            EditAction::Add(Matter::Lava) | EditAction::Remove(Matter::Lava) => Part::Lava,
            EditAction::SetHardness { .. } => Part::Hardness,
            _ => Part::Ground,
        }
    }

    /// Memory of one tile's patch. units: bytes
    fn tile_bytes(self) -> usize {
        CELLS
            * match self {
                Part::Ground => size_of::<GroundChange>(),
                Part::Water => size_of::<WaterChange>(),
                Part::Lava => size_of::<LavaChange>(),
                Part::Hardness => size_of::<Change<f32>>(),
            }
    }
}

impl TerrainHistory {
    /// A history that keeps at most so many bytes; 0 keeps nothing.
    pub fn with_limit(bytes: usize) -> Self {
        Self {
            limit: bytes,
            terrain: 0,
            done: VecDeque::new(),
            undone: Vec::new(),
        }
    }

    /// How many edits or strokes can be undone.
    pub fn undo_count(&self) -> usize {
        self.done.len()
    }

    /// How many edits or strokes can be redone.
    pub fn redo_count(&self) -> usize {
        self.undone.len()
    }

    /// Memory that it holds. units: bytes
    pub fn bytes(&self) -> usize {
        let entries = self.done.iter().chain(&self.undone);
        entries.map(Entry::bytes).sum()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.done.clear();
        self.undone.clear();
    }

    /// Applies an edit and remembers it.
    pub fn apply(
        &mut self,
        edit: &TerrainEdit,
        terrain: &mut Terrain,
    ) -> Result<EditEffect, SettingsError> {
        edit.check()?;
        self.belong_to(terrain);
        if self.limit == 0 {
            return edit.apply(terrain);
        }
        let part = Part::of(&edit.action);
        let grid = *terrain.grid();
        let print = edit.footprint(terrain);
        let tiles = print.tiles(&grid);
        if tiles.len() * part.tile_bytes() > self.limit {
            // Nothing before it could be undone without it.
            self.clear();
            return edit.apply(terrain);
        }
        // Only what the brush reaches: a tile has far more cells than that.
        let within = |tile: usize| cells_within(&grid, tile, &print);
        let read = |&tile: &usize| {
            let mut patch = Patch::default();
            patch.note(terrain, part, within(tile).map(|(_, cell)| cell));
            patch
        };
        let before: Vec<Patch> = tiles.iter().map(read).collect();
        let hand = Hand::of(terrain);
        let had_hardness = terrain.hardness().is_some();
        let effect = edit.apply(terrain)?;
        let mut patches: Vec<(usize, Patch)> = tiles.into_iter().zip(before).collect();
        for (tile, patch) in &mut patches {
            patch.take_after(terrain, within(*tile).map(|(_, cell)| cell));
        }
        patches.retain(|(_, patch)| patch.changes_anything());
        if patches.is_empty() {
            return Ok(effect);
        }
        self.undone.clear();

        let joins = edit.stroke != 0 && self.done.back().is_some_and(|e| e.stroke == edit.stroke);
        if !joins {
            self.done.push_back(Entry {
                stroke: edit.stroke,
                ..default()
            });
        }
        if let Some(entry) = self.done.back_mut() {
            entry.made_hardness |= terrain.hardness().is_some() && !had_hardness;
            let now = Hand::of(terrain);
            entry.hand.solids += now.solids - hand.solids;
            entry.hand.water += now.water - hand.water;
            entry.hand.lava += now.lava - hand.lava;
            for (tile, patch) in patches {
                let known = entry.tiles.entry(tile).or_default();
                known.note(terrain, part, cells_of(&grid, tile));
                known.join(patch, within(tile).map(|(place, _)| place));
            }
        }
        self.shrink();
        Ok(effect)
    }

    /// Takes the last edit or stroke back. Returns whether there was one.
    pub fn undo(&mut self, terrain: &mut Terrain) -> bool {
        self.belong_to(terrain);
        let Some(entry) = self.done.pop_back() else {
            return false;
        };
        self.undone.push(entry.turn_back(terrain));
        true
    }

    /// Does the edit or stroke that was last undone again. Returns whether
    /// there was one.
    pub fn redo(&mut self, terrain: &mut Terrain) -> bool {
        self.belong_to(terrain);
        let Some(entry) = self.undone.pop() else {
            return false;
        };
        self.done.push_back(entry.turn_back(terrain));
        true
    }

    fn belong_to(&mut self, terrain: &Terrain) {
        if self.terrain != terrain.id.get() {
            self.terrain = terrain.id.get();
            self.clear();
        }
    }

    fn shrink(&mut self) {
        let mut bytes = self.bytes();
        while bytes > self.limit
            && let Some(oldest) = self.done.pop_front()
        {
            bytes -= oldest.bytes();
        }
    }
}

/// Indices of a tile's cells in the grid.
fn cells_of(grid: &Grid, tile: usize) -> impl Iterator<Item = usize> + use<> {
    let (wide, width) = (grid.tiles().x as usize, grid.width());
    let coord = UVec2::new((tile % wide) as u32, (tile / wide) as u32);
    let (columns, rows) = grid.tile_cells(coord);
    rows.flat_map(move |y| columns.clone().map(move |x| y * width + x))
}

/// The cells of a tile that a brush may reach: their places in the tile, row by
/// row, and their indices in the grid.
fn cells_within(
    grid: &Grid,
    tile: usize,
    print: &Footprint,
) -> impl Iterator<Item = (usize, usize)> + Clone + use<> {
    let (wide, width) = (grid.tiles().x as usize, grid.width());
    let coord = UVec2::new((tile % wide) as u32, (tile / wide) as u32);
    let (columns, rows) = grid.tile_cells(coord);
    let cut = |all: &Range<usize>, reach: &Range<usize>| {
        all.start.max(reach.start)..all.end.min(reach.end)
    };
    let (within_x, within_y) = (cut(&columns, &print.columns), cut(&rows, &print.rows));
    within_y.flat_map(move |y| {
        let place = (y - rows.start) * columns.len();
        let first = columns.start;
        let row = within_x.clone();
        row.map(move |x| (place + (x - first), y * width + x))
    })
}

impl Patch {
    /// Notes the values of a part now, as both before and after, unless it has
    /// some.
    fn note(&mut self, terrain: &Terrain, part: Part, cells: impl Iterator<Item = usize>) {
        match part {
            Part::Ground if self.ground.is_empty() => {
                self.ground.reserve(CELLS);
                self.ground
                    .extend(cells.map(|i| [terrain.ground_parts(i); 2]));
            }
            Part::Water if self.water.is_empty() => {
                self.water.reserve(CELLS);
                self.water
                    .extend(cells.map(|i| [terrain.water_parts(i); 2]));
            }
            Part::Lava if self.lava.is_empty() => {
                self.lava.reserve(CELLS);
                self.lava.extend(cells.map(|i| [terrain.lava_parts(i); 2]));
            }
            Part::Hardness if self.hardness.is_empty() => {
                let hardness = terrain.hardness();
                let value = |i: usize| hardness.map_or(0.0, |hardness| hardness[i]);
                self.hardness.extend(cells.map(|i| [value(i); 2]));
            }
            _ => {}
        }
    }

    /// Notes what the same cells are after the edit.
    fn take_after(&mut self, terrain: &Terrain, cells: impl Iterator<Item = usize> + Clone) {
        for (change, i) in self.ground.iter_mut().zip(cells.clone()) {
            change[1] = terrain.ground_parts(i);
        }
        for (change, i) in self.water.iter_mut().zip(cells.clone()) {
            change[1] = terrain.water_parts(i);
        }
        for (change, i) in self.lava.iter_mut().zip(cells.clone()) {
            change[1] = terrain.lava_parts(i);
        }
        if let Some(hardness) = terrain.hardness() {
            for (change, i) in self.hardness.iter_mut().zip(cells) {
                change[1] = hardness[i];
            }
        }
    }

    fn changes_anything(&self) -> bool {
        let differ = |change: &Change<(f32, f32, f32)>| change[0] != change[1];
        self.ground.iter().any(differ)
            || self.water.iter().any(differ)
            || self.lava.iter().any(differ)
            || self.hardness.iter().any(|change| change[0] != change[1])
    }

    /// Takes a later edit of the same stroke in, of cells at these places.
    fn join(&mut self, later: Patch, places: impl Iterator<Item = usize> + Clone) {
        let ground = later.ground.into_iter().zip(places.clone());
        join_all(&mut self.ground, ground, |before, from, to| {
            shifted(before, from, to, f32::NEG_INFINITY)
        });
        let water = later.water.into_iter().zip(places.clone());
        join_all(&mut self.water, water, |before, from, to| {
            shifted(before, from, to, 0.0)
        });
        let lava = later.lava.into_iter().zip(places.clone());
        join_all(&mut self.lava, lava, |before, from, to| {
            shifted(before, from, to, 0.0)
        });
        let hardness = later.hardness.into_iter().zip(places);
        join_all(&mut self.hardness, hardness, |before, from, to| {
            (before + (to - from)).clamp(0.0, 1.0)
        });
    }
}

/// Joins the changes of an edit with those of the one after it. What the
/// simulation did between them is no edit: the first value moves with it.
fn join_all<T: Copy + PartialEq>(
    known: &mut [Change<T>],
    later: impl Iterator<Item = (Change<T>, usize)>,
    shifted: impl Fn(T, T, T) -> T,
) {
    for (later, place) in later {
        let Some(known) = known.get_mut(place) else {
            continue;
        };
        if known[0] == known[1] {
            // Not edited so far.
            *known = later;
            continue;
        }
        if known[1] != later[0] {
            known[0] = shifted(known[0], known[1], later[0]);
        }
        known[1] = later[1];
    }
}

/// `before` moved by what lies between `from` and `to`. Its first part does not
/// fall below `lowest`, its last not below zero.
fn shifted(
    before: (f32, f32, f32),
    from: (f32, f32, f32),
    to: (f32, f32, f32),
    lowest: f32,
) -> (f32, f32, f32) {
    let (mut high, mut rest) = (before.0, before.1);
    add_exactly(&mut high, &mut rest, (to.0 - from.0) + (to.1 - from.1));
    if high < lowest {
        (high, rest) = (lowest, 0.0);
    }
    (high, rest, (before.2 + (to.2 - from.2)).max(0.0))
}

impl Entry {
    /// Gives back what was before. Returns the entry that undoes this.
    fn turn_back(mut self, terrain: &mut Terrain) -> Entry {
        let grid = *terrain.grid();
        let mut gained = Hand::default();
        let (mut ground_tiles, mut water_tiles) = (Vec::new(), Vec::new());
        let mut lava_tiles = Vec::new();
        for (&tile, patch) in &mut self.tiles {
            if !patch.ground.is_empty() || !patch.hardness.is_empty() {
                ground_tiles.push(tile);
            }
            if !patch.water.is_empty() {
                water_tiles.push(tile);
            }
            if !patch.lava.is_empty() {
                lava_tiles.push(tile);
                let planes = terrain.let_melt();
                for (change, i) in patch.lava.iter_mut().zip(cells_of(&grid, tile)) {
                    let now = (planes.depth[i], planes.rest[i], planes.heat[i]);
                    let mut then = give_back(now, change, 0.0);
                    // Lava that is left is no hotter than it can be.
                    then.2 = then.2.min(then.0);
                    (planes.depth[i], planes.rest[i], planes.heat[i]) = then;
                    gained.lava += difference((now.0, now.1, 0.0), (then.0, then.1, 0.0));
                    *change = [now, then];
                }
            }
            if !patch.hardness.is_empty() {
                let hardness = terrain.hardness_mut();
                for (change, i) in patch.hardness.iter_mut().zip(cells_of(&grid, tile)) {
                    let now = hardness[i];
                    let then = match now == change[1] {
                        true => change[0],
                        false => (now + (change[0] - change[1])).clamp(0.0, 1.0),
                    };
                    hardness[i] = then;
                    *change = [now, then];
                }
            }
            let layers = terrain.layers_mut();
            for (change, i) in patch.ground.iter_mut().zip(cells_of(&grid, tile)) {
                let now = (layers.bedrock[i], layers.bedrock_rest[i], layers.soil[i]);
                let then = give_back(now, change, f32::NEG_INFINITY);
                (layers.bedrock[i], layers.bedrock_rest[i], layers.soil[i]) = then;
                gained.solids += difference(now, then);
                *change = [now, then];
            }
            for (change, i) in patch.water.iter_mut().zip(cells_of(&grid, tile)) {
                let now = (layers.water[i], layers.water_rest[i], layers.suspended[i]);
                let then = give_back(now, change, 0.0);
                (layers.water[i], layers.water_rest[i], layers.suspended[i]) = then;
                gained.water += difference((now.0, now.1, 0.0), (then.0, then.1, 0.0));
                gained.solids += f64::from(then.2) - f64::from(now.2);
                *change = [now, then];
            }
        }
        terrain.mark_tiles(ground_tiles);
        terrain.mark_water_tiles(water_tiles);
        terrain.mark_lava_tiles(lava_tiles);
        let soft = |hardness: &[f32]| hardness.iter().all(|hardness| *hardness == 0.0);
        if self.made_hardness && terrain.hardness().is_some_and(soft) {
            terrain.remove_hardness();
        }

        // The hand gives back what it took, if it still has it.
        let account = &mut terrain.account;
        let back = Hand {
            solids: self.hand.solids.min(account.solids.carried.max(0.0)),
            water: self.hand.water.min(account.water.carried.max(0.0)),
            lava: self.hand.lava.min(account.solids.lava_carried.max(0.0)),
        };
        account.solids.carried -= back.solids;
        account.water.carried -= back.water;
        account.solids.lava_carried -= back.lava;
        let area = grid.cell_area();
        account.solids.added += gained.solids * area - back.solids;
        account.solids.added += gained.lava * area - back.lava;
        account.water.added += gained.water * area - back.water;
        self.hand = Hand {
            solids: -back.solids,
            water: -back.water,
            lava: -back.lava,
        };
        self
    }
}

/// The value that undoes a change: the old one if nothing else happened, else
/// the present one less the difference.
fn give_back(
    now: (f32, f32, f32),
    change: &Change<(f32, f32, f32)>,
    lowest: f32,
) -> (f32, f32, f32) {
    let [before, after] = *change;
    if before == after {
        return now;
    }
    if now == after {
        return before;
    }
    shifted(now, after, before, lowest)
}

/// What a two-float sum and a thickness gained together. units: m
fn difference(from: (f32, f32, f32), to: (f32, f32, f32)) -> f64 {
    let part = |from: f32, to: f32| f64::from(to) - f64::from(from);
    part(from.0, to.0) + part(from.1, to.1) + part(from.2, to.2)
}
