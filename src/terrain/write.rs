//! Writing layers from outside the crate: a guard that hands out the declared
//! layers, and marks tiles and balances the ledger when it is dropped.

mod slices;

use super::{
    Flow, Grid, Layer, LayerGroup, MAX_DISCHARGE, SolidsTerm, Terrain, TerrainError, WaterTerm,
    add_exactly,
};
use bevy::{log::error, math::UVec2};
use core::{mem, ops::Range};
pub use slices::{FlowMut, LayerSlice, TerrainLayers};

/// Write access to some layers of a terrain, from [`Terrain::write`].
///
/// Only layers that were declared can be written; all others can be read beside
/// them. When the guard is dropped, or [finished](Self::finish):
///
/// - the tiles in which anything changed are marked, by comparing with what was
///   there before, so that meshes, colliders, masks and other models follow;
/// - the [ledger](Terrain::ledger) is balanced: rock that becomes soil is neutral,
///   what appeared or vanished is recorded as added by edits, unless the model
///   said [where it went](Self::record_solids);
/// - values that are not finite or out of a layer's range are put back to what
///   they were, and an error is logged (or returned by `finish`).
///
/// Only rows that were handed out are copied and compared. A guard that is leaked
/// by [`mem::forget`] does none of this.
///
/// ```
/// use bevy::math::UVec2;
/// use bevy_erode::terrain::{Layer, Terrain, TerrainCursor};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut terrain = Terrain::flat(UVec2::new(100, 80), 2.0)?;
/// let mut cursor = TerrainCursor::at(&terrain);
///
/// // Frost turns a quarter of a metre of rock into loose soil, along one row.
/// let mut write = terrain.write(&[Layer::Bedrock, Layer::Soil]);
/// let layers = write.rows(70..71);
/// let (bedrock, soil) = (layers.bedrock.write()?, layers.soil.write()?);
/// for (bedrock, soil) in bedrock.iter_mut().zip(soil) {
///     *bedrock -= 0.25;
///     *soil += 0.25;
/// }
/// write.finish()?;
///
/// let changed: Vec<UVec2> = cursor.changes(&terrain).ground().collect();
/// assert_eq!(changed, [UVec2::new(0, 1), UVec2::new(1, 1)]);
/// assert_eq!(terrain.ledger().solids.added, 0.0);
///
/// // Water was not declared.
/// let mut write = terrain.write(&[Layer::Soil]);
/// assert!(write.layers().water.write().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TerrainWrite<'a> {
    terrain: &'a mut Terrain,
    declared: [bool; LAYERS],
    before: Copies,
    /// The flow as it was before it was handed out; still, if there was none.
    flow_before: Option<Flow>,
    /// Whether the hardness map, the lava or the flow was made for this guard.
    made: Made,
    /// Flags of the tiles that changed, by group; empty if none.
    changed: [Vec<bool>; 3],
    sums: Sums,
    fault: Option<Fault>,
    is_finished: bool,
}

const LAYERS: usize = 6;
/// The place of lava's heat among the copies.
const HEAT: usize = LAYERS;

const WRONG_HEAT: &str = "heat of lava must be 0 to its thickness";
const WRONG_DISCHARGE: &str = "a discharge must be finite and within ±1e18 m²/s";

/// Rows as they were before they were handed out.
#[derive(Debug, Default)]
struct Copies {
    rows: Vec<bool>,
    /// By layer, and heat; of all cells, but only the rows above are filled.
    planes: [Vec<f32>; LAYERS + 1],
}

#[derive(Clone, Copy, Debug, Default)]
struct Made {
    hardness: bool,
    lava: bool,
    flow: bool,
}

/// Sums of thicknesses over cells (m), and volumes (m³).
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// By how much the solids and the water on the grid became more. units: m
    solids: f64,
    water: f64,
    /// Taken up from the ground. units: m
    moved: f64,
    /// What the model has recorded under other terms. units: m³
    recorded_solids: f64,
    recorded_water: f64,
}

/// The first value that had to be put back, and how many there were.
#[derive(Debug)]
struct Fault {
    first: TerrainError,
    count: usize,
}

impl Terrain {
    /// Write access to these layers, and read access to all: the way in which
    /// models of other crates change a terrain. Pass the model's
    /// [`WRITES`](crate::models::Solver::WRITES). See [`TerrainWrite`].
    pub fn write(&mut self, layers: &[Layer]) -> TerrainWrite<'_> {
        let mut declared = [false; LAYERS];
        for layer in layers {
            declared[*layer as usize] = true;
        }
        let made = Made {
            hardness: declared[Layer::Hardness as usize] && self.hardness.is_none(),
            lava: declared[Layer::Lava as usize] && self.lava.is_none(),
            flow: false,
        };
        if made.hardness {
            self.hardness_mut();
        }
        if made.lava {
            self.ensure_lava();
        }
        TerrainWrite {
            terrain: self,
            declared,
            before: Copies::default(),
            flow_before: None,
            made,
            changed: Default::default(),
            sums: Sums::default(),
            fault: None,
            is_finished: false,
        }
    }

    /// A layer and its low parts, if it is there and has such.
    #[inline]
    fn plane_mut(&mut self, layer: Layer) -> Option<(&mut [f32], Option<&mut [f32]>)> {
        Some(match layer {
            Layer::Bedrock => (&mut self.bedrock, Some(&mut self.bedrock_low)),
            Layer::Soil => (&mut self.soil, None),
            Layer::Water => (&mut self.water, Some(&mut self.water_low)),
            Layer::Suspended => (&mut self.suspended, None),
            Layer::Hardness => (self.hardness.as_mut()?, None),
            Layer::Lava => {
                let lava = self.lava.as_mut()?;
                (&mut lava.depth, Some(&mut lava.low))
            }
        })
    }

    #[inline]
    fn plane(&self, layer: Layer) -> &[f32] {
        match layer {
            Layer::Bedrock => &self.bedrock,
            Layer::Soil => &self.soil,
            Layer::Water => &self.water,
            Layer::Suspended => &self.suspended,
            Layer::Hardness => self.hardness.as_deref().unwrap_or_default(),
            Layer::Lava => self.lava().unwrap_or_default(),
        }
    }
}

impl TerrainWrite<'_> {
    /// The terrain as it is now, to be read.
    #[inline]
    pub fn terrain(&self) -> &Terrain {
        self.terrain
    }

    /// Size, resolution and place of the terrain.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.terrain.grid
    }

    /// All cells of all layers. A model that changes but few rows asks for
    /// [those](Self::rows).
    pub fn layers(&mut self) -> TerrainLayers<'_> {
        self.rows(0..self.terrain.size().y)
    }

    /// All layers of some rows, cut at the grid's edge. The first value is the
    /// first cell of the first row.
    pub fn rows(&mut self, rows: Range<u32>) -> TerrainLayers<'_> {
        let high = self.terrain.size().y;
        let rows = rows.start.min(high) as usize..rows.end.min(high) as usize;
        self.copy_rows(rows.clone());
        let width = self.terrain.grid.width();
        let cells = rows.start * width..(rows.end * width).max(rows.start * width);
        let declared = self.declared;
        let slice = |layer: Layer, values| LayerSlice {
            layer,
            is_declared: declared[layer as usize],
            values,
        };
        let terrain = &mut *self.terrain;
        let (lava, heat) = match &mut terrain.lava {
            Some(lava) => (Some(&mut lava.depth), Some(&mut lava.heat)),
            None => (None, None),
        };
        TerrainLayers {
            bedrock: slice(Layer::Bedrock, &mut terrain.bedrock[cells.clone()]),
            soil: slice(Layer::Soil, &mut terrain.soil[cells.clone()]),
            water: slice(Layer::Water, &mut terrain.water[cells.clone()]),
            suspended: slice(Layer::Suspended, &mut terrain.suspended[cells.clone()]),
            hardness: (terrain.hardness.as_mut())
                .map(|hardness| slice(Layer::Hardness, &mut hardness[cells.clone()])),
            lava: lava.map(|lava| slice(Layer::Lava, &mut lava[cells.clone()])),
            lava_heat: heat.map(|heat| slice(Layer::Lava, &mut heat[cells])),
        }
    }

    /// How water moves, for models that let it flow: the discharge through all
    /// faces between cells. It is still water if none moved so far.
    ///
    /// # Errors
    /// When [`Layer::Water`] was not declared.
    pub fn flow_mut(&mut self) -> Result<FlowMut<'_>, TerrainError> {
        if !self.declared[Layer::Water as usize] {
            return Err(TerrainError::UndeclaredLayer(Layer::Water));
        }
        let grid = self.terrain.grid;
        self.made.flow |= self.terrain.flow.is_none();
        let flow = (self.terrain.flow).get_or_insert_with(|| Flow::still(&grid));
        self.flow_before.get_or_insert_with(|| flow.clone());
        Ok(FlowMut {
            east: &mut flow.east,
            south: &mut flow.south,
            west_border: &mut flow.west_border,
            north_border: &mut flow.north_border,
        })
    }

    /// Adds to a layer at a cell (by its [index](Grid::index)), or takes from
    /// it; of a thickness no more than there is. Bedrock, water and lava keep
    /// what is too small for their `f32`, so that a hair's breadth of rock a
    /// step is not lost at an altitude of 3000 m. Returns what was added.
    /// units: m
    ///
    /// # Errors
    /// When the layer was not declared, there is no such cell, or the result
    /// would be out of the layer's range; nothing changes then.
    #[inline]
    pub fn add(&mut self, layer: Layer, cell: usize, change: f32) -> Result<f64, TerrainError> {
        self.check_cell(layer, cell)?;
        self.settle_cell(cell);
        let after = self.after(layer, cell, change)?;
        Ok(self.put(layer, cell, after))
    }

    /// Moves a thickness from one layer of solids to another, such as rock to
    /// soil, at a cell (by its [index](Grid::index)), and keeps their sum, also
    /// where an `f32` would round. Of a thickness no more moves than there is.
    /// Returns what moved. units: m
    ///
    /// # Errors
    /// When a layer was not declared, is water or hardness, there is no such
    /// cell, the amount is negative or not finite, or a result would be out of
    /// its layer's range; nothing changes then.
    pub fn transfer(
        &mut self,
        from: Layer,
        to: Layer,
        cell: usize,
        amount: f32,
    ) -> Result<f64, TerrainError> {
        for layer in [from, to] {
            self.check_cell(layer, cell)?;
            if matches!(layer, Layer::Water | Layer::Hardness) {
                let expected =
                    "expected bedrock, soil, sediment or lava as the layers to move between";
                return Err(self.value_error(layer, cell, amount, expected));
            }
        }
        if !(0.0..=1e9).contains(&amount) {
            let expected = "an amount to move must be finite and 0 to 1e9 m";
            return Err(self.value_error(from, cell, amount, expected));
        }
        if from == to {
            return Ok(0.0);
        }
        self.settle_cell(cell);
        let amount = match from {
            Layer::Bedrock => amount,
            _ => amount.min(self.terrain.plane(from)[cell]),
        };
        // The layer that is kept as one `f32` rounds; the other one follows it.
        let has_low = |layer| matches!(layer, Layer::Bedrock | Layer::Lava);
        let before = [self.parts(from, cell), self.parts(to, cell)];
        // Of two such layers the thicker one rounds more.
        let is_coarser = !has_low(from) && before[0].0 >= before[1].0;
        let (taken, given) = match has_low(to) || is_coarser {
            true => {
                let taken = self.after(from, cell, -amount)?;
                let change = gain(before[0], taken) as f32;
                (taken, self.after(to, cell, -change)?)
            }
            false => {
                let mut given = self.after(to, cell, amount)?;
                let there = f64::from(before[0].0) + f64::from(before[0].1);
                if from != Layer::Bedrock && gain(before[1], given) > there {
                    // Rounded up to more than there is.
                    given.0 = given.0.next_down().max(before[1].0);
                }
                let change = gain(before[1], given) as f32;
                (self.after(from, cell, -change)?, given)
            }
        };
        let moved = self.sums.moved;
        self.put(from, cell, taken);
        let gained = self.put(to, cell, given);
        if from.group() == LayerGroup::Ground && to.group() == LayerGroup::Ground {
            // Nothing was taken up from the ground.
            self.sums.moved = moved;
        }
        Ok(gained)
    }

    /// Says where solids went that vanished from the layers, or will vanish
    /// before the guard is dropped: so many m³ are recorded under this term of
    /// the [ledger](super::SolidsLedger) and not as taken away by edits. Give a
    /// negative volume for what comes back. Uplift is positive when rock comes in.
    /// units: m³
    pub fn record_solids(&mut self, term: SolidsTerm, volume: f64) {
        if is_volume(volume) {
            self.sums.recorded_solids += term.outward(volume);
            self.terrain.account.solids.record(term, volume);
        }
    }

    /// Says where water went or came from; see
    /// [`record_solids`](Self::record_solids). Volumes of rain, sources and sea
    /// are positive when water comes in, all others when it goes. units: m³
    pub fn record_water(&mut self, term: WaterTerm, volume: f64) {
        if is_volume(volume) {
            self.sums.recorded_water += term.outward(volume);
            self.terrain.account.water.record(term, volume);
        }
    }

    /// Ends the access: marks tiles, balances the ledger, and puts wrong values
    /// back, as dropping does.
    ///
    /// # Errors
    /// Names the first value that had to be put back.
    pub fn finish(mut self) -> Result<(), TerrainError> {
        self.end();
        match self.fault.take() {
            Some(fault) => Err(fault.first),
            None => Ok(()),
        }
    }

    #[inline]
    fn check_cell(&self, layer: Layer, cell: usize) -> Result<(), TerrainError> {
        let grid = &self.terrain.grid;
        if cell >= grid.cells() {
            let at = UVec2::new(
                (cell % grid.width()) as u32,
                (cell / grid.width()).min(u32::MAX as usize) as u32,
            );
            return Err(TerrainError::OutsideGrid {
                x: at.x,
                y: at.y,
                size: grid.size(),
            });
        }
        match self.declared[layer as usize] {
            true => Ok(()),
            false => Err(TerrainError::UndeclaredLayer(layer)),
        }
    }

    fn value_error(
        &self,
        layer: Layer,
        cell: usize,
        value: f32,
        expected: &'static str,
    ) -> TerrainError {
        let width = self.terrain.grid.width();
        TerrainError::Value {
            layer,
            x: (cell % width) as u32,
            y: (cell / width) as u32,
            value,
            expected,
        }
    }

    /// A cell's value with its low part.
    #[inline]
    fn parts(&self, layer: Layer, cell: usize) -> (f32, f32) {
        let low = match layer {
            Layer::Bedrock => self.terrain.bedrock_low[cell],
            Layer::Water => self.terrain.water_low[cell],
            Layer::Lava => (self.terrain.lava.as_ref()).map_or(0.0, |lava| lava.low[cell]),
            _ => 0.0,
        };
        (self.terrain.plane(layer)[cell], low)
    }

    /// What a cell's value and its low part would be after a change.
    #[inline]
    fn after(&self, layer: Layer, cell: usize, change: f32) -> Result<(f32, f32), TerrainError> {
        let mut after = self.parts(layer, cell);
        match layer {
            Layer::Bedrock | Layer::Water | Layer::Lava => {
                add_exactly(&mut after.0, &mut after.1, change);
            }
            _ => after.0 += change,
        }
        let (lowest, highest, expected) = layer.range();
        if !matches!(layer, Layer::Bedrock | Layer::Hardness) && after.0 <= 0.0 {
            after = (0.0, 0.0);
        }
        match (lowest..=highest).contains(&after.0) && change.is_finite() {
            true => Ok(after),
            false => Err(self.value_error(layer, cell, after.0, expected)),
        }
    }

    /// Puts a value with its low part into a cell, and returns by how much it
    /// became more.
    #[inline]
    fn put(&mut self, layer: Layer, cell: usize, after: (f32, f32)) -> f64 {
        let before = self.parts(layer, cell);
        if let Some((high, low)) = self.terrain.plane_mut(layer) {
            high[cell] = after.0;
            if let Some(low) = low {
                low[cell] = after.1;
            }
        }
        if layer == Layer::Lava
            && let Some(lava) = &mut self.terrain.lava
        {
            lava.heat[cell] = heat_after(lava.heat[cell], before.0, after.0);
        }
        let gained = gain(before, after);
        if before != after {
            self.mark(layer.group(), cell);
            self.count(layer, gained);
            if matches!(layer, Layer::Bedrock | Layer::Soil) {
                self.sums.moved += (-gained).max(0.0);
            }
        }
        self.renew_copy(cell);
        gained
    }

    /// Copies rows that were not copied so far.
    fn copy_rows(&mut self, rows: Range<usize>) {
        let grid = self.terrain.grid;
        let (width, cells) = (grid.width(), grid.cells());
        self.before.rows.resize(grid.height(), false);
        for row in rows {
            if mem::replace(&mut self.before.rows[row], true) {
                continue;
            }
            let cells_of_row = row * width..(row + 1) * width;
            for layer in Layer::ALL {
                if !self.declared[layer as usize] {
                    continue;
                }
                let copy = |plane: &mut Vec<f32>, values: &[f32]| {
                    // Zeroed memory that nobody touches costs nothing.
                    if plane.is_empty() {
                        *plane = vec![0.0; cells];
                    }
                    plane[cells_of_row.clone()].copy_from_slice(&values[cells_of_row.clone()]);
                };
                let planes = &mut self.before.planes;
                copy(&mut planes[layer as usize], self.terrain.plane(layer));
                if let (Layer::Lava, Some(lava)) = (layer, &self.terrain.lava) {
                    copy(&mut planes[HEAT], &lava.heat);
                }
            }
        }
    }

    /// Takes a cell as it is now for how it was, if it was copied.
    #[inline]
    fn renew_copy(&mut self, cell: usize) {
        let row = cell / self.terrain.grid.width();
        if !self.before.rows.get(row).is_some_and(|copied| *copied) {
            return;
        }
        for layer in Layer::ALL {
            if let Some(copy) = self.before.planes[layer as usize].get_mut(cell) {
                *copy = self.terrain.plane(layer)[cell];
            }
        }
        let copy = self.before.planes[HEAT].get_mut(cell);
        if let (Some(copy), Some(lava)) = (copy, &self.terrain.lava) {
            *copy = lava.heat[cell];
        }
    }

    /// Takes in what was written to a cell through slices.
    #[inline]
    fn settle_cell(&mut self, cell: usize) {
        let row = cell / self.terrain.grid.width();
        if !self.before.rows.get(row).is_some_and(|copied| *copied) {
            return;
        }
        let mut ground = 0.0;
        for layer in Layer::ALL {
            if let Some(&old) = self.before.planes[layer as usize].get(cell) {
                let heat = self.before.planes[HEAT].get(cell).copied();
                ground += self.settle(layer, cell, old, heat.unwrap_or_default());
            }
        }
        self.sums.moved += (-ground).max(0.0);
        self.renew_copy(cell);
    }

    /// Takes in what was written to a layer at a cell. Returns by how much the
    /// ground became higher.
    fn settle(&mut self, layer: Layer, cell: usize, old: f32, old_heat: f32) -> f64 {
        let (lowest, highest, expected) = layer.range();
        let Some((high, low)) = self.terrain.plane_mut(layer) else {
            return 0.0;
        };
        let new = high[cell];
        // NaN fails the comparison, so it is found too.
        let is_same = new.to_bits() == old.to_bits();
        let is_valid = is_same || (lowest..=highest).contains(&new);
        if !is_valid {
            high[cell] = old;
        }
        let mut gained = 0.0;
        let is_changed = is_valid && !is_same;
        if is_changed {
            gained = f64::from(new) - f64::from(old);
            // The low part stays while it is too small for the new value.
            if let Some(low) = low.map(|low| &mut low[cell])
                && (new + *low != new || (new == 0.0 && layer != Layer::Bedrock))
            {
                gained -= f64::from(mem::take(low));
            }
        }
        if !is_valid {
            self.blame(layer, cell, new, expected);
        }
        let mut any = is_changed;
        if layer == Layer::Lava
            && let Some(lava) = &mut self.terrain.lava
        {
            let (depth, heat) = (lava.depth[cell], lava.heat[cell]);
            if heat.to_bits() == old_heat.to_bits() {
                lava.heat[cell] = heat_after(heat, old, depth);
            } else if (0.0..=depth).contains(&heat) {
                any = true;
            } else {
                lava.heat[cell] = heat_after(old_heat, old, depth);
                self.blame(layer, cell, heat, WRONG_HEAT);
            }
        }
        if any {
            self.mark(layer.group(), cell);
        }
        self.count(layer, gained);
        match layer {
            Layer::Bedrock | Layer::Soil => gained,
            _ => 0.0,
        }
    }

    /// Counts what a layer gained.
    #[inline]
    fn count(&mut self, layer: Layer, gained: f64) {
        match layer {
            Layer::Bedrock | Layer::Soil | Layer::Suspended | Layer::Lava => {
                self.sums.solids += gained;
            }
            Layer::Water => self.sums.water += gained,
            Layer::Hardness => {}
        }
    }

    #[inline]
    fn mark(&mut self, group: LayerGroup, cell: usize) {
        let grid = &self.terrain.grid;
        let tiles = grid.tiles();
        let (x, y) = (cell % grid.width(), cell / grid.width());
        let side = super::TILE as usize;
        let flags = &mut self.changed[group as usize];
        flags.resize(tiles.element_product() as usize, false);
        flags[y / side * tiles.x as usize + x / side] = true;
    }

    fn blame(&mut self, layer: Layer, cell: usize, value: f32, expected: &'static str) {
        let first = self.value_error(layer, cell, value, expected);
        let fault = self.fault.get_or_insert(Fault { first, count: 0 });
        fault.count += 1;
    }

    fn end(&mut self) {
        if mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.compare_rows();
        self.compare_flow();
        self.remove_unused();
        let area = self.terrain.grid.cell_area();
        let sums = self.sums;
        let account = &mut self.terrain.account;
        account.solids.moved += sums.moved * area;
        account.solids.added += sums.solids * area + sums.recorded_solids;
        account.water.added += sums.water * area + sums.recorded_water;
        for group in LayerGroup::ALL {
            let flags = mem::take(&mut self.changed[group as usize]);
            if flags.contains(&true) {
                let tiles = (0..).zip(flags).filter_map(|(tile, on)| on.then_some(tile));
                self.terrain.revisions_mut(group).mark(tiles);
            }
        }
    }

    /// Finds what was written through slices.
    fn compare_rows(&mut self) {
        let width = self.terrain.grid.width();
        let before = mem::take(&mut self.before);
        let copied = before.rows.iter().enumerate();
        let copied = copied.filter_map(|(row, copied)| copied.then_some(row));
        let mut ground = vec![0.0; width];
        for row in copied {
            let cells = row * width..(row + 1) * width;
            ground.fill(0.0);
            for layer in Layer::ALL {
                let Some(old) = before.planes[layer as usize].get(cells.clone()) else {
                    continue;
                };
                let heats = before.planes[HEAT].get(cells.clone()).unwrap_or_default();
                let is_same = same_bits(old, &self.terrain.plane(layer)[cells.clone()]);
                let same_heat = layer != Layer::Lava || {
                    let heat = self.terrain.lava_heat().unwrap_or_default();
                    same_bits(heats, &heat[cells.clone()])
                };
                if is_same && same_heat {
                    continue;
                }
                for (x, &old) in old.iter().enumerate() {
                    let heat = heats.get(x).copied().unwrap_or_default();
                    ground[x] += self.settle(layer, cells.start + x, old, heat);
                }
            }
            self.sums.moved += ground.iter().map(|gained| (-gained).max(0.0)).sum::<f64>();
        }
    }

    /// Finds where the flow was changed.
    fn compare_flow(&mut self) {
        let (Some(before), Some(mut flow)) = (self.flow_before.take(), self.terrain.flow.take())
        else {
            return;
        };
        let (width, cells) = (self.terrain.grid.width(), self.terrain.grid.cells());
        let mut compare = |old: &[f32], new: &mut [f32], cell_of: &dyn Fn(usize) -> usize| {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                if old.to_bits() == new.to_bits() {
                    continue;
                }
                if (-MAX_DISCHARGE..=MAX_DISCHARGE).contains(new) {
                    self.mark(LayerGroup::Water, cell_of(i));
                } else {
                    let wrong = mem::replace(new, *old);
                    self.blame(Layer::Water, cell_of(i), wrong, WRONG_DISCHARGE);
                }
            }
        };
        compare(&before.east, &mut flow.east, &|cell| cell);
        compare(&before.south, &mut flow.south, &|cell| cell);
        let in_row = |row: usize| (row * width).min(cells - 1);
        compare(&before.west_border, &mut flow.west_border, &in_row);
        compare(&before.north_border, &mut flow.north_border, &|x| x);
        let is_still = self.made.flow && before == flow;
        self.terrain.flow = (!is_still).then_some(flow);
    }

    /// Takes maps away that were made for the guard and stayed empty.
    fn remove_unused(&mut self) {
        let is_zero = |values: &[f32]| values.iter().all(|value| *value == 0.0);
        if self.made.hardness && self.terrain.hardness().is_some_and(is_zero) {
            self.terrain.hardness = None;
        }
        if self.made.lava && self.terrain.lava().is_some_and(is_zero) {
            self.terrain.lava = None;
        }
    }
}

impl Drop for TerrainWrite<'_> {
    fn drop(&mut self) {
        self.end();
        if let Some(Fault { first, count }) = self.fault.take() {
            error!("{first}; invalid values written: {count}, all reverted");
        }
    }
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    let differs = |(a, b): (&f32, &f32)| a.to_bits() ^ b.to_bits();
    a.iter().zip(b).map(differs).fold(0, |any, one| any | one) == 0
}

/// By how much a value with its low part became more.
#[inline]
fn gain(before: (f32, f32), after: (f32, f32)) -> f64 {
    (f64::from(after.0) - f64::from(before.0)) + (f64::from(after.1) - f64::from(before.1))
}

/// Heat of lava whose thickness changed: what comes is fresh, and what goes takes
/// its share.
#[inline]
fn heat_after(heat: f32, before: f32, after: f32) -> f32 {
    let new = match after >= before {
        true => heat + (after - before),
        false => heat * (after / before),
    };
    new.clamp(0.0, after.max(0.0))
}

fn is_volume(volume: f64) -> bool {
    if !volume.is_finite() {
        error!("a volume of {volume} m³ cannot be recorded in the ledger: it must be finite");
    }
    volume.is_finite()
}

#[cfg(test)]
mod tests;
