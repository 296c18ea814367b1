//! The ground that everything shares: layers, places, change tracking, ledger.
//!
//! Per cell, in metres: `bedrock` (an elevation), `soil`, `water` and
//! `suspended` sediment (thicknesses ≥ 0), and optionally `hardness` (0 erodes
//! freely … 1 not at all) and `lava` (a thickness with its heat). Ground =
//! bedrock + soil: lava and water lie on it. See [`Grid`] for where a cell lies
//! in the world.

mod borders;
mod cursor;
mod error;
mod flow;
mod grid;
mod hash;
pub mod landform;
mod lava;
mod ledger;
mod raycast;
mod sample;
#[cfg(feature = "io")]
mod saved;
mod shift;
mod stream;
mod tiles;
mod volumes;
mod write;

pub use borders::{Border, Borders};
pub use cursor::{LayerGroup, TerrainChanges, TerrainCursor};
pub(crate) use error::in_range;
pub use error::{SettingsError, TerrainError};
pub(crate) use flow::MAX_DISCHARGE;
pub use flow::{FILM, Flow};
pub use grid::{Grid, TILE};
pub use landform::Landform;
pub(crate) use lava::LavaPlanes;
pub use ledger::{Ledger, SolidsLedger, SolidsTerm, WaterLedger, WaterTerm};
pub use raycast::TerrainHit;
pub use sample::{GroundPoint, WaterPoint};
pub use shift::{CellLayers, IncomingCell, ShiftVolumes};
pub(crate) use stream::StreamPatch;
pub(crate) use volumes::StandingVolumes;
pub use write::{FlowMut, LayerSlice, TerrainLayers, TerrainWrite};
#[cfg(feature = "io")]
pub(crate) use {hash::StateHash, saved::TerrainParts};

use crate::parallel::Workers;
use bevy::{math::*, prelude::*};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use raycast::HeightBounds;
use shift::Window;
use tiles::TileRevisions;

/// A layer of the terrain.
///
/// [The guide](crate::guide::terrain) has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum Layer {
    /// Elevation of solid rock. units: m
    Bedrock,
    /// Thickness of loose ground. units: m
    Soil,
    /// Depth of water. units: m
    Water,
    /// Sediment in the water, as a thickness. units: m
    Suspended,
    /// Resistance to erosion, 0 to 1.
    Hardness,
    /// Thickness of molten rock. units: m
    Lava,
}

impl core::fmt::Display for Layer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Layer::Bedrock => "bedrock",
            Layer::Soil => "soil",
            Layer::Water => "water",
            Layer::Suspended => "suspended",
            Layer::Hardness => "hardness",
            Layer::Lava => "lava",
        })
    }
}

impl Layer {
    /// All layers.
    pub const ALL: [Self; 6] = [
        Self::Bedrock,
        Self::Soil,
        Self::Water,
        Self::Suspended,
        Self::Hardness,
        Self::Lava,
    ];

    /// What a value of this layer may be: lowest, highest, in words.
    #[inline]
    fn range(self) -> (f32, f32, &'static str) {
        match self {
            Layer::Bedrock => (-1e9, 1e9, "an elevation must be finite and within ±1e9 m"),
            Layer::Hardness => (0.0, 1.0, "hardness must be 0 to 1"),
            _ => (0.0, 1e9, "a thickness must be finite and 0 to 1e9 m"),
        }
    }
}

/// Stands before lava in a [hash](Terrain::state_hash).
const LAVA_MARK: u32 = 0x4C41_5641;

/// Tells one terrain from another: a clone or a replacement has a new one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TerrainId(u64);

impl TerrainId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number itself, to remember which terrain a state belongs to.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0
    }
}

impl Clone for TerrainId {
    fn clone(&self) -> Self {
        Self::new()
    }
}

/// The layered terrain, a resource. Insert it and it is simulated and drawn.
///
/// [The guide](crate::guide::terrain) has an example.
#[derive(Resource, Clone, Debug)]
pub struct Terrain {
    pub(crate) id: TerrainId,
    grid: Grid,
    bedrock: Vec<f32>,
    /// Low part of bedrock: what is too small for its `f32` at its elevation, the
    /// second number of a two-float sum, so that erosion neither loses mass nor stalls at
    /// altitude (at 3000 m one ulp is a quarter of a millimetre).
    bedrock_low: Vec<f32>,
    soil: Vec<f32>,
    water: Vec<f32>,
    /// Low part of water, as with bedrock: drizzle on a deep lake.
    water_low: Vec<f32>,
    suspended: Vec<f32>,
    hardness: Option<Vec<f32>>,
    /// Molten rock, once there is any.
    lava: Option<LavaPlanes>,
    /// The moving water, once a water model has run.
    flow: Option<Flow>,
    /// Water of rivers, beside that in `water`.
    pub(crate) streams: Vec<StreamPatch>,
    /// Counts the times that those changed.
    pub(crate) stream_revision: u64,
    borders: Borders,
    window: Window,
    /// An elevation of this land. Solvers count heights from it, so that they
    /// compute alike at any altitude.
    datum: f32,
    tiles: TileRevisions,
    /// For rays.
    bounds: HeightBounds,
    water_tiles: TileRevisions,
    lava_tiles: TileRevisions,
    /// Running terms of the ledger; its standing volumes are summed on demand.
    pub(crate) account: Ledger,
}

/// All layers at once, for solvers.
pub(crate) struct LayersMut<'a> {
    pub bedrock: &'a mut [f32],
    pub bedrock_low: &'a mut [f32],
    pub soil: &'a mut [f32],
    pub water: &'a mut [f32],
    pub water_low: &'a mut [f32],
    pub suspended: &'a mut [f32],
    pub hardness: Option<&'a [f32]>,
    /// Empty until someone has asked for it by [`Terrain::ensure_lava`].
    pub lava: Option<&'a mut LavaPlanes>,
    /// Empty until a water model has asked for it by [`Terrain::ensure_flow`].
    pub flow: Option<&'a mut Flow>,
    pub account: &'a mut Ledger,
}

impl Terrain {
    /// Flat bedrock at height zero.
    pub fn flat(size: UVec2, cell_size: f32) -> Result<Self, TerrainError> {
        let cells = Grid::new(size, cell_size)?.cells();
        Self::from_heights(size, cell_size, vec![0.0; cells])
    }

    /// Bare bedrock of the given elevations, row by row. units: m
    pub fn from_heights(
        size: UVec2,
        cell_size: f32,
        bedrock: Vec<f32>,
    ) -> Result<Self, TerrainError> {
        let grid = Grid::new(size, cell_size)?;
        check_layer(&grid, Layer::Bedrock, &bedrock)?;
        let zeros = vec![0.0; grid.cells()];
        let mut terrain = Self {
            id: TerrainId::new(),
            bedrock,
            bedrock_low: zeros.clone(),
            soil: zeros.clone(),
            water: zeros.clone(),
            water_low: zeros.clone(),
            suspended: zeros,
            hardness: None,
            lava: None,
            flow: None,
            streams: Vec::new(),
            stream_revision: 0,
            borders: Borders::default(),
            window: Window::at(grid.origin()),
            datum: 0.0,
            tiles: TileRevisions::new(&grid),
            bounds: HeightBounds::new(&grid),
            water_tiles: TileRevisions::new(&grid),
            lava_tiles: TileRevisions::new(&grid),
            account: Ledger::default(),
            grid,
        };
        terrain.datum = lowest(&terrain.bedrock);
        terrain.start_ledger();
        Ok(terrain)
    }

    /// Bare bedrock in the shape of a [`Landform`].
    pub fn generate(
        landform: &(impl Landform + ?Sized),
        size: UVec2,
        cell_size: f32,
    ) -> Result<Self, TerrainError> {
        let grid = Grid::new(size, cell_size)?;
        landform.check()?;
        let height = landform.sampler(grid.extent().as_dvec2());
        let mut bedrock = vec![0.0f32; grid.cells()];
        let rows = bedrock.chunks_mut(grid.width()).enumerate();
        Workers::global().each(rows, |(y, row)| {
            for (x, value) in row.iter_mut().enumerate() {
                let center = (DVec2::new(x as f64, y as f64) + 0.5 - grid.size().as_dvec2() * 0.5)
                    * f64::from(grid.cell_size());
                *value = height(center) as f32;
            }
        });
        Self::from_heights(size, cell_size, bedrock)
    }

    /// Puts the terrain's center at a world position. units: m
    pub fn with_origin(mut self, origin: Vec3) -> Result<Self, TerrainError> {
        self.grid = self.grid.with_origin(origin)?;
        self.window = Window::at(origin);
        // At another place it is another terrain to all that follow it.
        self.id = TerrainId::new();
        Ok(self)
    }

    /// Starts with these values of a layer.
    pub fn with_layer(mut self, layer: Layer, values: Vec<f32>) -> Result<Self, TerrainError> {
        self.replace_layer(layer, values)?;
        self.start_ledger();
        Ok(self)
    }

    /// Starts with these borders.
    pub fn with_borders(mut self, borders: Borders) -> Result<Self, TerrainError> {
        self.set_borders(borders)?;
        Ok(self)
    }

    /// Changes what lies beyond the land's sides.
    pub fn set_borders(&mut self, borders: Borders) -> Result<(), TerrainError> {
        borders.check()?;
        self.borders = borders;
        // A sea may come in where everything was dry.
        self.water_tiles.mark_all();
        Ok(())
    }

    /// What lies beyond the land's sides.
    #[inline]
    pub fn borders(&self) -> &Borders {
        &self.borders
    }

    /// Starts with an even cover of soil. units: m
    pub fn with_soil_depth(self, depth: f32) -> Result<Self, TerrainError> {
        let cells = self.grid.cells();
        self.with_layer(Layer::Soil, vec![depth; cells])
    }

    /// Size, resolution and place.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Cells along x and y.
    #[inline]
    pub fn size(&self) -> UVec2 {
        self.grid.size()
    }

    /// Side of a cell. units: m
    #[inline]
    pub fn cell_size(&self) -> f32 {
        self.grid.cell_size()
    }

    /// Elevation of bedrock, row by row. units: m
    #[inline]
    pub fn bedrock(&self) -> &[f32] {
        &self.bedrock
    }

    /// Thickness of loose ground, row by row. units: m
    #[inline]
    pub fn soil(&self) -> &[f32] {
        &self.soil
    }

    /// Depth of water, row by row; that of rivers is beside it, see
    /// [`water_depth`](Self::water_depth). units: m
    #[inline]
    pub fn water(&self) -> &[f32] {
        &self.water
    }

    /// Suspended sediment as a thickness, row by row. units: m
    #[inline]
    pub fn suspended(&self) -> &[f32] {
        &self.suspended
    }

    /// Resistance to erosion (0 to 1), row by row, if the terrain has such a map.
    #[inline]
    pub fn hardness(&self) -> Option<&[f32]> {
        self.hardness.as_deref()
    }

    /// Thickness of molten rock, row by row, if there is any. units: m
    #[inline]
    pub fn lava(&self) -> Option<&[f32]> {
        self.lava.as_ref().map(|lava| &lava.depth[..])
    }

    /// Heat in the lava, row by row, if there is any: as thick as lava fresh
    /// from the vent would be that holds as much. So heat by thickness is 1
    /// where it is fresh and 0 where it is about to freeze. units: m
    #[inline]
    pub fn lava_heat(&self) -> Option<&[f32]> {
        self.lava.as_ref().map(|lava| &lava.heat[..])
    }

    /// Elevation of the ground (bedrock + soil) of a cell by its index.
    ///
    /// # Panics
    ///
    /// When `index` is not below [`Grid::cells`], as with any slice.
    #[inline]
    pub fn ground(&self, index: usize) -> f32 {
        self.bedrock[index] + self.soil[index]
    }

    /// Elevation of the ground everywhere, row by row. units: m
    pub fn ground_heights(&self) -> Vec<f32> {
        let layers = self.bedrock.iter().zip(&self.soil);
        layers.map(|(bedrock, soil)| bedrock + soil).collect()
    }

    /// Replaces a whole layer. The difference is recorded as added by edits.
    pub fn set_layer(&mut self, layer: Layer, values: Vec<f32>) -> Result<(), TerrainError> {
        let before = self.standing();
        self.replace_layer(layer, values)?;
        let after = self.standing();
        self.account.solids.added += after.solids.balance() - before.solids.balance();
        self.account.water.added += after.water.standing - before.water.standing;
        Ok(())
    }

    /// Gives each cell bedrock with its low part, and soil. The difference is recorded
    /// as added by edits.
    pub(crate) fn replace_ground(&mut self, of: impl Fn(usize) -> (f32, f32, f32)) {
        let before = self.standing();
        for cell in 0..self.grid.cells() {
            (self.bedrock[cell], self.bedrock_low[cell], self.soil[cell]) = of(cell);
        }
        let after = self.standing();
        self.account.solids.added += after.solids.balance() - before.solids.balance();
        self.tiles.mark_all();
    }

    /// Takes the hardness map away.
    pub fn remove_hardness(&mut self) {
        self.hardness = None;
    }

    /// The number of the newest change of water or of what it carries.
    #[cfg(feature = "render")]
    pub(crate) fn water_revision(&self) -> u64 {
        self.water_tiles.current()
    }

    /// The newest change of the water on a chunk's vertices.
    #[cfg(feature = "render")]
    pub(crate) fn newest_water_around(&self, chunk: UVec2) -> u64 {
        self.water_tiles.newest_around(chunk)
    }

    /// When the layers of a group last changed, tile by tile.
    #[inline]
    fn revisions(&self, group: LayerGroup) -> &TileRevisions {
        match group {
            LayerGroup::Ground => &self.tiles,
            LayerGroup::Water => &self.water_tiles,
            LayerGroup::Lava => &self.lava_tiles,
        }
    }

    #[inline]
    fn revisions_mut(&mut self, group: LayerGroup) -> &mut TileRevisions {
        match group {
            LayerGroup::Ground => &mut self.tiles,
            LayerGroup::Water => &mut self.water_tiles,
            LayerGroup::Lava => &mut self.lava_tiles,
        }
    }

    /// How far the terrain's window has moved over the world since it was made.
    /// units: tiles
    fn window_tiles(&self) -> IVec2 {
        self.window.moved
    }

    /// How often the terrain's window has moved, also there and back.
    pub(crate) fn shift_count(&self) -> u64 {
        self.window.moves
    }

    /// Every volume of rock and water, in m³.
    pub fn ledger(&self) -> Ledger {
        let mut ledger = self.account;
        let standing = self.standing();
        ledger.solids.bedrock = standing.solids.bedrock;
        ledger.solids.soil = standing.solids.soil;
        ledger.solids.suspended = standing.solids.suspended;
        ledger.solids.lava = standing.solids.lava;
        ledger.solids.sum_of_absolute_volumes = standing.solids.sum_of_absolute_volumes;
        ledger.water.standing = standing.water.standing;
        ledger
    }

    /// A fingerprint of all layers: equal states, equal hashes, on any machine.
    pub fn state_hash(&self) -> u64 {
        let mut hash = hash::StateHash::default();
        let Vec3 { x, y, z } = self.grid.origin();
        hash.words([self.size().x, self.size().y]);
        hash.floats(&[self.cell_size(), x, y, z]);
        for layer in [
            &self.bedrock,
            &self.bedrock_low,
            &self.soil,
            &self.water,
            &self.water_low,
            &self.suspended,
        ] {
            hash.floats(layer);
        }
        if let Some(flow) = &self.flow {
            hash.floats(&flow.east);
            hash.floats(&flow.south);
            hash.floats(&flow.west_border);
            hash.floats(&flow.north_border);
        }
        for stream in self.streams() {
            hash.floats(&stream.depth);
            hash.floats(&stream.fresh);
        }
        hash.floats(self.hardness.as_deref().unwrap_or_default());
        // Ground on which all lava froze is like ground that never had any.
        if let Some(lava) = self.lava.as_ref().filter(|lava| !lava.is_empty()) {
            hash.words([LAVA_MARK]);
            hash.floats(&lava.depth);
            hash.floats(&lava.low);
            hash.floats(&lava.heat);
        }
        hash.finish()
    }

    /// Ground of a cell above the datum, with bedrock's low part.
    #[inline]
    pub(crate) fn relative_ground(&self, index: usize) -> f32 {
        relative_ground(
            self.bedrock[index],
            self.bedrock_low[index],
            self.soil[index],
            self.datum,
        )
    }

    #[inline]
    pub(crate) fn bedrock_low(&self) -> &[f32] {
        &self.bedrock_low
    }

    #[inline]
    pub(crate) fn water_low(&self) -> &[f32] {
        &self.water_low
    }

    #[inline]
    pub(crate) fn datum(&self) -> f32 {
        self.datum
    }

    #[inline]
    pub(crate) fn layers_mut(&mut self) -> LayersMut<'_> {
        LayersMut {
            bedrock: &mut self.bedrock,
            bedrock_low: &mut self.bedrock_low,
            soil: &mut self.soil,
            water: &mut self.water,
            water_low: &mut self.water_low,
            suspended: &mut self.suspended,
            hardness: self.hardness.as_deref(),
            lava: self.lava.as_mut(),
            flow: self.flow.as_mut(),
            account: &mut self.account,
        }
    }

    /// The hardness map; of hardness 0 everywhere if there was none.
    pub(crate) fn hardness_mut(&mut self) -> &mut [f32] {
        let cells = self.grid.cells();
        self.hardness.get_or_insert_with(|| vec![0.0; cells])
    }

    /// Bedrock with its low part, and soil, of a cell.
    #[inline]
    pub(crate) fn ground_parts(&self, index: usize) -> (f32, f32, f32) {
        (
            self.bedrock[index],
            self.bedrock_low[index],
            self.soil[index],
        )
    }

    /// Water with its low part, and what it carries, of a cell.
    #[inline]
    pub(crate) fn water_parts(&self, index: usize) -> (f32, f32, f32) {
        (
            self.water[index],
            self.water_low[index],
            self.suspended[index],
        )
    }

    /// Lava with its low part, and its heat, of a cell.
    #[inline]
    pub(crate) fn lava_parts(&self, index: usize) -> (f32, f32, f32) {
        let parts = self
            .lava_planes()
            .map(|planes| planes.map(|plane| plane[index]));
        parts.unwrap_or_default().into()
    }

    /// Lava, its low part and its heat, if there is such a layer.
    #[inline]
    pub(crate) fn lava_planes(&self) -> Option<[&[f32]; 3]> {
        let lava = self.lava.as_ref()?;
        Some([&lava.depth, &lava.low, &lava.heat])
    }

    /// Makes room for moving water; still water unless some moves already.
    pub(crate) fn ensure_flow(&mut self) {
        self.flow.get_or_insert_with(|| Flow::still(&self.grid));
    }

    /// Makes room for molten rock; there is none unless there was.
    pub(crate) fn ensure_lava(&mut self) -> &mut LavaPlanes {
        let cells = self.grid.cells();
        self.lava.get_or_insert_with(|| LavaPlanes::none(cells))
    }

    /// Restores the state of a copy that was made earlier; the id stays, and all
    /// tiles count as changed.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "for a lost device"))]
    pub(crate) fn return_to(&mut self, mut copy: Terrain) {
        core::mem::swap(&mut copy.id, &mut self.id);
        core::mem::swap(&mut copy.tiles, &mut self.tiles);
        core::mem::swap(&mut copy.water_tiles, &mut self.water_tiles);
        core::mem::swap(&mut copy.lava_tiles, &mut self.lava_tiles);
        *self = copy;
        self.tiles.mark_all();
        self.water_tiles.mark_all();
        self.lava_tiles.mark_all();
    }

    /// Marks tiles (by row-major number) as changed.
    pub(crate) fn mark_tiles(&mut self, tiles: impl IntoIterator<Item = usize>) {
        self.tiles.mark(tiles);
    }

    /// Marks the tiles of some areas, each of columns and rows of cells, in
    /// which a layer changed.
    pub(crate) fn mark_cells(
        &mut self,
        areas: impl IntoIterator<Item = (Range<usize>, Range<usize>)>,
        layer: Layer,
    ) {
        self.revisions_mut(layer.group()).mark_cells(areas);
    }

    /// Marks tiles (by row-major number) whose lava changed.
    pub(crate) fn mark_lava_tiles(&mut self, tiles: impl IntoIterator<Item = usize>) {
        self.lava_tiles.mark(tiles);
    }

    /// Marks tiles (by row-major number) whose water changed.
    pub(crate) fn mark_water_tiles(&mut self, tiles: impl IntoIterator<Item = usize>) {
        self.water_tiles.mark(tiles);
    }

    fn replace_layer(&mut self, layer: Layer, values: Vec<f32>) -> Result<(), TerrainError> {
        check_layer(&self.grid, layer, &values)?;
        match layer {
            Layer::Bedrock => {
                self.bedrock = values;
                self.bedrock_low.fill(0.0);
                self.datum = lowest(&self.bedrock);
            }
            Layer::Soil => self.soil = values,
            Layer::Water => {
                self.water = values;
                self.water_low.fill(0.0);
            }
            Layer::Suspended => self.suspended = values,
            Layer::Hardness => self.hardness = Some(values),
            Layer::Lava => self.lava = Some(LavaPlanes::fresh(values)),
        }
        self.revisions_mut(layer.group()).mark_all();
        Ok(())
    }

    /// Starts the ledger with the volumes on the grid now.
    fn start_ledger(&mut self) {
        let mut ledger = self.standing();
        ledger.solids.initial = ledger.solids.balance();
        ledger.water.initial = ledger.water.standing;
        self.account = ledger;
    }

    /// The volumes that stand on the grid now.
    fn standing(&self) -> Ledger {
        let area = self.grid.cell_area();
        let sum = |layer: &[f32]| sum_of(layer, f64::from) * area;
        let mut ledger = Ledger::default();
        ledger.solids.bedrock = sum(&self.bedrock) + sum(&self.bedrock_low);
        ledger.solids.soil = sum(&self.soil);
        ledger.solids.suspended = sum(&self.suspended);
        if let Some(lava) = &self.lava {
            ledger.solids.lava = sum(&lava.depth) + sum(&lava.low);
        }
        ledger.solids.sum_of_absolute_volumes = sum_of(&self.bedrock, |v| f64::from(v.abs()))
            * area
            + ledger.solids.soil
            + ledger.solids.suspended
            + ledger.solids.lava;
        ledger.water.standing = sum(&self.water) + sum(&self.water_low);
        ledger
    }
}

/// Ground above the datum. The difference comes first: it is exact, so a hill
/// at 3000 m gives the same numbers as one at 0 m.
#[inline(always)]
pub(crate) fn relative_ground(bedrock: f32, low: f32, soil: f32, datum: f32) -> f32 {
    ((bedrock - datum) + low) + soil
}

fn lowest(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::INFINITY, f32::min)
}

/// Adds `change` to a quantity kept as a two-float sum (`high` + `low`):
/// bedrock or water.
#[inline(always)]
pub(crate) fn add_exactly(high: &mut f32, low: &mut f32, change: f32) {
    let wanted = *low + change;
    let new = *high + wanted;
    // What `high` really gained; exact unless `wanted` dwarfs `high`, where
    // the general two-sum form still is.
    let gained = new - *high;
    let error = (*high - (new - gained)) + (wanted - gained);
    *high = new;
    *low = error;
}

/// Sum in eight lanes: a fixed order, and fast enough to run beside a game.
#[inline]
fn sum_of(values: &[f32], map: impl Fn(f32) -> f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    let chunks = values.chunks_exact(8);
    let tail: f64 = chunks.remainder().iter().map(|&v| map(v)).sum();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += map(value);
        }
    }
    lanes.iter().sum::<f64>() + tail
}

fn check_layer(grid: &Grid, layer: Layer, values: &[f32]) -> Result<(), TerrainError> {
    if values.len() != grid.cells() {
        return Err(TerrainError::Length {
            layer,
            found: values.len(),
            expected: grid.cells(),
            size: grid.size(),
        });
    }
    let (lowest, highest, _) = layer.range();
    // NaN fails the comparison, so it is found too.
    match values.iter().position(|v| !(lowest..=highest).contains(v)) {
        None => Ok(()),
        Some(index) => {
            let at = UVec2::new((index % grid.width()) as u32, (index / grid.width()) as u32);
            check_value(layer, values[index], at)
        }
    }
}

/// Checks one value of a layer, at a cell.
fn check_value(layer: Layer, value: f32, at: UVec2) -> Result<(), TerrainError> {
    let (lowest, highest, expected) = layer.range();
    match (lowest..=highest).contains(&value) {
        true => Ok(()),
        false => Err(TerrainError::Value {
            layer,
            x: at.x,
            y: at.y,
            value,
            expected,
        }),
    }
}
