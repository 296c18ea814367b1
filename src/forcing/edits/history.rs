//! Undo and redo of edits while the simulation goes on.
//!
//! For each edited cell the history keeps what a layer was before an edit and
//! after it. Undo restores the old value where nothing else has changed the
//! cell since, with the same bits. Where water or gravity changed it, undo removes only
//! the edit's difference, as far as that is still there: erosion's own work stays.

use super::{EditAction, EditEffect, Matter, TerrainEdit, brush::Footprint};
use crate::terrain::{Grid, SettingsError, Terrain, TerrainCursor, add_exactly};
use bevy::prelude::*;
use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

/// Strokes that may go on at the same time, one a player.
const STROKES_AT_ONCE: usize = 16;

/// The history of edits, to undo and redo them. Its memory is bounded: the oldest
/// edits are dropped first, and an edit or stroke that is too large by itself is not
/// kept, nor anything before it. It belongs to one terrain and is emptied with it.
///
/// It is not saved: a machine that joins a lockstep game by a saved state cannot undo
/// what was done before. Let all machines [`clear`](Self::clear) theirs then.
#[derive(Resource, Debug)]
pub struct TerrainHistory {
    limit: usize,
    /// The terrain that it belongs to, if any, and how often that had been shifted.
    terrain: Option<(TerrainCursor, u64)>,
    done: VecDeque<Entry>,
    undone: Vec<Entry>,
    /// Strokes that were too large to keep and may go on: half a stroke must
    /// not be undone.
    dropped: VecDeque<u64>,
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
    hand: EditEffect,
    /// What the terrain gained. units: m³
    effect: EditEffect,
}

/// What a tile's cells were before and after, for each [`Part`]; empty where
/// edits leave a part alone.
type Patch = [Vec<Change>; 4];

/// Before and after.
type Change = [State; 2];

/// A quantity as a two-float sum (high and low part), and a third value that belongs
/// to it.
type State = (f32, f32, f32);

/// What an edit may change.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Both parts of bedrock, and soil.
    Ground,
    /// Both parts of water, and the sediment that it carries.
    Water,
    /// Both parts of lava, and its heat.
    Lava,
    /// Hardness alone.
    Hardness,
}

impl Part {
    const ALL: [Self; 4] = [Self::Ground, Self::Water, Self::Lava, Self::Hardness];

    fn of(action: &EditAction) -> Self {
        match action {
            EditAction::Add(Matter::Water) | EditAction::Remove(Matter::Water) => Part::Water,
            EditAction::Add(Matter::Lava) | EditAction::Remove(Matter::Lava) => Part::Lava,
            EditAction::SetHardness { .. } => Part::Hardness,
            _ => Part::Ground,
        }
    }

    #[inline]
    fn read(self, terrain: &Terrain, cell: usize) -> State {
        match self {
            Part::Ground => terrain.ground_parts(cell),
            Part::Water => terrain.water_parts(cell),
            Part::Lava => terrain.lava_parts(cell),
            Part::Hardness => {
                let value = terrain.hardness().map_or(0.0, |hardness| hardness[cell]);
                (value, 0.0, 0.0)
            }
        }
    }

    /// Adds the states of some cells, one after the other, to a list.
    fn read_row(self, terrain: &Terrain, cells: Range<usize>, states: &mut Vec<State>) {
        let planes = match self {
            Part::Ground => Some([terrain.bedrock(), terrain.bedrock_low(), terrain.soil()]),
            Part::Water => Some([terrain.water(), terrain.water_low(), terrain.suspended()]),
            Part::Lava => terrain.lava_planes(),
            Part::Hardness => None,
        };
        match planes {
            Some(planes) => {
                let [a, b, c] = planes.map(|plane| &plane[cells.clone()]);
                let rows = a.iter().zip(b).zip(c);
                states.extend(rows.map(|((a, b), c)| (*a, *b, *c)));
            }
            None => states.extend(cells.map(|cell| self.read(terrain, cell))),
        }
    }

    #[inline]
    fn write(self, terrain: &mut Terrain, cell: usize, state: State) {
        if self == Part::Hardness {
            terrain.hardness_mut()[cell] = state.0;
            return;
        }
        let layers = terrain.layers_mut();
        let planes = match self {
            Part::Water => [layers.water, layers.water_low, layers.suspended],
            Part::Lava => {
                let lava = terrain.ensure_lava();
                [&mut lava.depth, &mut lava.low, &mut lava.heat].map(Vec::as_mut_slice)
            }
            _ => [layers.bedrock, layers.bedrock_low, layers.soil],
        };
        for (plane, value) in planes.into_iter().zip([state.0, state.1, state.2]) {
            plane[cell] = value;
        }
    }

    /// The state that undoes a change: the old one if nothing else happened, else
    /// the present one less the difference.
    #[inline]
    fn undone(self, now: State, [before, after]: Change) -> State {
        if before == after {
            return now;
        }
        let wanted = match now == after {
            true => before,
            false => shifted(now, after, before),
        };
        self.clamped(wanted)
    }

    /// The nearest state to the wanted one that is valid.
    #[inline]
    fn clamped(self, (mut high, mut rest, mut third): State) -> State {
        let (lowest, highest) = match self {
            Part::Ground => (f32::NEG_INFINITY, f32::INFINITY),
            Part::Water | Part::Lava => (0.0, f32::INFINITY),
            Part::Hardness => (0.0, 1.0),
        };
        if !(lowest..=highest).contains(&high) || self == Part::Hardness {
            (high, rest) = (high.clamp(lowest, highest), 0.0);
        }
        third = third.max(0.0);
        if self == Part::Lava {
            // The heat of lava is at most its depth.
            third = third.min(high);
        }
        (high, rest, third)
    }

    /// What the land gains between two states. units: m
    #[inline]
    fn gain(self, from: State, to: State) -> EditEffect {
        let high = f64::from(to.0) - f64::from(from.0);
        let sum = high + (f64::from(to.1) - f64::from(from.1));
        let third = f64::from(to.2) - f64::from(from.2);
        let [solids, water, lava] = match self {
            Part::Ground => [sum + third, 0.0, 0.0],
            Part::Water => [third, sum, 0.0],
            Part::Lava => [0.0, 0.0, sum],
            Part::Hardness => [0.0; 3],
        };
        EditEffect {
            solids,
            water,
            lava,
        }
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let patches = self.tiles.values();
        let changes = patches.flatten().map(Vec::capacity).sum::<usize>();
        size_of::<Self>()
            + self.tiles.len() * size_of::<(usize, Patch)>()
            + changes * size_of::<Change>()
    }
}

impl TerrainHistory {
    /// A history of at most this many bytes; 0 keeps nothing.
    pub fn with_limit(bytes: usize) -> Self {
        Self {
            limit: bytes,
            terrain: None,
            done: VecDeque::new(),
            undone: Vec::new(),
            dropped: VecDeque::new(),
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

    /// Empties the history.
    pub fn clear(&mut self) {
        self.done.clear();
        self.undone.clear();
        self.dropped.clear();
    }

    /// Applies an edit and keeps what is needed to undo it.
    pub fn apply(
        &mut self,
        edit: &TerrainEdit,
        terrain: &mut Terrain,
    ) -> Result<EditEffect, SettingsError> {
        edit.check()?;
        self.set_terrain(Some(terrain));
        let part = Part::of(&edit.action);
        let grid = *terrain.grid();
        let print = edit.footprint(terrain);
        let tiles = print.tiles(&grid);
        let cells = |tile: &usize| {
            let (columns, rows) = grid.tile_cells(grid.tile_at(*tile));
            columns.len() * rows.len()
        };
        let room = tiles.iter().map(cells).sum::<usize>() * size_of::<Change>();
        if room > self.limit || self.dropped.contains(&edit.stroke) {
            return self.apply_unrecorded(edit, terrain);
        }
        // Only what the brush reaches: a tile has far more cells than that.
        let within = |tile: usize| rows_within(&grid, tile, &print);
        let read = |terrain: &Terrain, tile: usize| {
            let count = within(tile).map(|(_, cells)| cells.len()).sum();
            let mut states = Vec::with_capacity(count);
            for (_, cells) in within(tile) {
                part.read_row(terrain, cells, &mut states);
            }
            states
        };
        let before: Vec<Vec<State>> = tiles.iter().map(|tile| read(terrain, *tile)).collect();
        let hand = in_hand(terrain);
        let had_hardness = terrain.hardness().is_some();
        let effect = edit.apply(terrain)?;
        let changes = tiles.into_iter().zip(before).filter_map(|(tile, before)| {
            let after = read(terrain, tile);
            (before != after).then_some((tile, before, after))
        });
        let changes: Vec<(usize, Vec<State>, Vec<State>)> = changes.collect();
        if changes.is_empty() {
            return Ok(effect);
        }
        self.undone.clear();
        let entry = self.entry(edit.stroke);
        entry.made_hardness |= terrain.hardness().is_some() && !had_hardness;
        entry.hand = sum(entry.hand, in_hand(terrain), 1.0);
        entry.hand = sum(entry.hand, hand, -1.0);
        entry.effect = sum(entry.effect, effect, 1.0);
        for (tile, before, after) in changes {
            let known = &mut entry.tiles.entry(tile).or_default()[part as usize];
            if known.is_empty() {
                known.reserve_exact(cells(&tile));
                let cells = grid.tile_indices(tile);
                known.extend(cells.map(|cell| [part.read(terrain, cell); 2]));
            }
            let mut states = before.into_iter().zip(after);
            for (place, cells) in within(tile) {
                let known = &mut known[place..place + cells.len()];
                for (known, (before, after)) in known.iter_mut().zip(&mut states) {
                    merge(known, [before, after]);
                }
            }
        }
        self.shrink();
        Ok(effect)
    }

    /// Applies an edit that is too large to keep, or belongs to a stroke that was too
    /// large. What came before it could not be undone without it, so it is dropped.
    fn apply_unrecorded(
        &mut self,
        edit: &TerrainEdit,
        terrain: &mut Terrain,
    ) -> Result<EditEffect, SettingsError> {
        let before = TerrainCursor::at(terrain);
        let effect = edit.apply(terrain)?;
        if before.peek(terrain).is_empty() {
            return Ok(effect);
        }
        self.undone.clear();
        if !self.dropped.contains(&edit.stroke) {
            for entry in self.done.drain(..) {
                record_dropped(&mut self.dropped, entry.stroke);
            }
            record_dropped(&mut self.dropped, edit.stroke);
        }
        Ok(effect)
    }

    /// The entry that an edit of a stroke belongs to: a new one, unless the
    /// stroke is one of the last.
    fn entry(&mut self, stroke: u64) -> &mut Entry {
        let strokes = self.done.iter().enumerate().rev();
        let strokes = strokes.filter(|(_, entry)| entry.stroke != 0);
        let mut lately = strokes.take(STROKES_AT_ONCE);
        let known = lately.find(|(_, entry)| entry.stroke == stroke);
        let number = known.map_or(self.done.len(), |(number, _)| number);
        if number == self.done.len() {
            self.done.push_back(Entry {
                stroke,
                ..default()
            });
        }
        &mut self.done[number]
    }

    /// Undoes the last edit or stroke. Returns whether there was one.
    pub fn undo(&mut self, terrain: &mut Terrain) -> bool {
        self.set_terrain(Some(terrain));
        let Some(entry) = self.done.pop_back() else {
            return false;
        };
        self.undone.push(entry.revert(terrain));
        true
    }

    /// Redoes the edit or stroke that was undone last. Returns whether there was one.
    pub fn redo(&mut self, terrain: &mut Terrain) -> bool {
        self.set_terrain(Some(terrain));
        let Some(entry) = self.undone.pop() else {
            return false;
        };
        self.done.push_back(entry.revert(terrain));
        true
    }

    /// Sets the terrain that the history belongs to. It is emptied if that changes or
    /// was shifted: what it holds is of fixed cells. A window that came back where it
    /// was has other cells at its edge.
    pub(super) fn set_terrain(&mut self, terrain: Option<&Terrain>) {
        let is_same = match (self.terrain, terrain) {
            (Some((cursor, shifts)), Some(terrain)) => {
                cursor.is_of(terrain) && shifts == terrain.shift_count()
            }
            (own, other) => own.is_none() && other.is_none(),
        };
        if !is_same {
            self.terrain =
                terrain.map(|terrain| (TerrainCursor::at(terrain), terrain.shift_count()));
            self.clear();
        }
    }

    /// Drops the oldest entries until the others fit.
    fn shrink(&mut self) {
        let mut bytes = self.bytes();
        while bytes > self.limit
            && let Some(oldest) = self.done.pop_front()
        {
            bytes -= oldest.bytes();
            // A stroke with more after it than may go on at once is over.
            let strokes = self.done.iter().filter(|entry| entry.stroke != 0);
            if strokes.count() < STROKES_AT_ONCE {
                record_dropped(&mut self.dropped, oldest.stroke);
            }
        }
    }
}

/// Records a stroke that was dropped and may still go on.
fn record_dropped(dropped: &mut VecDeque<u64>, stroke: u64) {
    if stroke != 0 && !dropped.contains(&stroke) {
        dropped.push_back(stroke);
        if dropped.len() > STROKES_AT_ONCE {
            dropped.pop_front();
        }
    }
}

/// What the hand holds. units: m³
fn in_hand(terrain: &Terrain) -> EditEffect {
    let account = &terrain.account;
    EditEffect {
        solids: account.solids.carried,
        water: account.water.carried,
        lava: account.solids.lava_carried,
    }
}

/// `a + times·b`.
#[inline]
fn sum(a: EditEffect, b: EditEffect, times: f64) -> EditEffect {
    EditEffect {
        solids: a.solids + times * b.solids,
        water: a.water + times * b.water,
        lava: a.lava + times * b.lava,
    }
}

/// The cells of a tile that a brush may reach, row by row: the place of the first
/// in the tile, and their indices in the grid.
#[inline]
fn rows_within<'a>(
    grid: &Grid,
    tile: usize,
    print: &'a Footprint,
) -> impl Iterator<Item = (usize, Range<usize>)> + use<'a> {
    let width = grid.width();
    let (columns, rows) = grid.tile_cells(grid.tile_at(tile));
    let reached = rows.start.max(print.rows.start)..rows.end.min(print.rows.end);
    reached.filter_map(move |y| {
        let span = print.columns(y);
        let row = span.start.max(columns.start)..span.end.min(columns.end);
        let place = (y - rows.start) * columns.len() + row.start.saturating_sub(columns.start);
        let cells = y * width + row.start..y * width + row.end;
        (!row.is_empty()).then_some((place, cells))
    })
}

/// Merges a change with a later one. What the simulation, or another player, did
/// between them is not part of the stroke: the first value moves with it. It may become
/// negative by that, until it is restored.
#[inline]
fn merge(known: &mut Change, later: Change) {
    if known[0] == known[1] {
        // Not edited so far.
        *known = later;
        return;
    }
    if known[1] != later[0] {
        known[0] = shifted(known[0], known[1], later[0]);
    }
    known[1] = later[1];
}

/// `before` moved by what lies between `from` and `to`.
#[inline]
fn shifted(before: State, from: State, to: State) -> State {
    let (mut high, mut rest) = (before.0, before.1);
    add_exactly(&mut high, &mut rest, (to.0 - from.0) + (to.1 - from.1));
    (high, rest, before.2 + (to.2 - from.2))
}

impl Entry {
    /// Restores what was before. Returns the entry that undoes this.
    fn revert(mut self, terrain: &mut Terrain) -> Entry {
        let grid = *terrain.grid();
        let mut gained = EditEffect::default();
        let mut marks: [Vec<usize>; 4] = default();
        for (&tile, patch) in &mut self.tiles {
            for (part, changes) in Part::ALL.into_iter().zip(patch) {
                if !changes.is_empty() {
                    marks[part as usize].push(tile);
                }
                for (change, cell) in changes.iter_mut().zip(grid.tile_indices(tile)) {
                    let now = part.read(terrain, cell);
                    let then = part.undone(now, *change);
                    *change = [now, then];
                    if now != then {
                        part.write(terrain, cell, then);
                        gained = sum(gained, part.gain(now, then), grid.cell_area());
                    }
                }
            }
        }
        let [ground, water, lava, hardness] = marks;
        terrain.mark_tiles(ground.into_iter().chain(hardness));
        terrain.mark_water_tiles(water);
        terrain.mark_lava_tiles(lava);
        let soft = |hardness: &[f32]| hardness.iter().all(|hardness| *hardness == 0.0);
        if self.made_hardness && terrain.hardness().is_some_and(soft) {
            terrain.remove_hardness();
        }

        // The hand gives back what it took, if it still has it, and gets back
        // what it gave, less what the land has lost of it.
        let missing = sum(gained, self.effect, 1.0);
        let carried = in_hand(terrain);
        let back = |hand: f64, missing: f64, carried: f64| match hand > 0.0 {
            true => hand.min(carried.max(0.0)),
            false => (hand + missing.max(0.0)).min(0.0),
        };
        let back = EditEffect {
            solids: back(self.hand.solids, missing.solids, carried.solids),
            water: back(self.hand.water, missing.water, carried.water),
            lava: back(self.hand.lava, missing.lava, carried.lava),
        };
        let account = &mut terrain.account;
        account.solids.carried -= back.solids;
        account.water.carried -= back.water;
        account.solids.lava_carried -= back.lava;
        account.solids.added += gained.solids - back.solids;
        account.solids.added += gained.lava - back.lava;
        account.water.added += gained.water - back.water;
        self.hand = sum(EditEffect::default(), back, -1.0);
        self.effect = gained;
        self
    }
}
