//! The masks as fields, without an app.

use super::Mask;
use crate::{
    parallel::Workers,
    settings::Setting,
    terrain::{Grid, TILE, Terrain, TerrainCursor},
};
use bevy::{math::*, prelude::*};
use core::ops::Range;
use std::collections::BTreeSet;

/// Smoothed flow snaps to the flow within this share of it, or within this much.
/// units: –, m²/s
const ARRIVED: (f32, f32) = (1e-3, 1e-6);

/// How masks follow the water.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
pub struct MaskSettings {
    /// Erosion time over which flow is smoothed: it makes two thirds of a jump
    /// in this time. units: s
    #[reflect(@Setting::new("s", 0.0..=60.0).about("Erosion time over which flow is smoothed"))]
    pub memory: f32,
    /// Erosion time in which soaked ground dries. units: s
    #[reflect(@Setting::new("s", 0.1..=3600.0).about("Erosion time in which soaked ground dries"))]
    pub drying: f32,
    /// Depth of water that soaks the ground. units: m
    #[reflect(@Setting::new("m", 0.0001..=1.0).about("Depth of water that soaks the ground"))]
    pub soak_depth: f32,
    /// Least time between two uploads of an image of 1024² cells. Larger ones
    /// wait longer in proportion, smaller ones less: Bevy uploads an image as
    /// a whole. units: s
    #[reflect(@Setting::new("s", 0.0..=1.0)
        .about("Least time between two uploads of an image of 1024² cells"))]
    pub image_interval: f32,
}

impl Default for MaskSettings {
    fn default() -> Self {
        Self {
            memory: 2.0,
            drying: 120.0,
            soak_depth: 0.005,
            image_interval: 1.0 / 60.0,
        }
    }
}

/// The enabled masks of the terrain, a resource: insert it and they are kept up
/// to date. See the [module](super) for what each holds.
///
/// [The guide](crate::guide::masks) has an example.
#[derive(Resource, Debug, Default)]
pub struct TerrainMasks {
    /// How masks follow the water.
    pub settings: MaskSettings,
    enabled: [bool; 6],
    fields: [Vec<f32>; 6],
    /// The ground when the masks first saw it, if wear or deposit are enabled.
    baseline: Vec<f32>,
    cursor: TerrainCursor,
    grid: Option<Grid>,
    /// Tiles (by row-major number) with flow, or that dry: they change though
    /// nobody touches them.
    watched: BTreeSet<usize>,
    /// Tiles of each mask that changed and are not in its image yet.
    #[cfg(feature = "render")]
    pub(super) fresh: [BTreeSet<usize>; 6],
    #[cfg(feature = "render")]
    pub(super) images: super::images::MaskImages,
}

/// Which tiles an update computes anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those that can have changed.
    Changed,
    /// All of them, with the same result.
    #[cfg(test)]
    All,
}

impl TerrainMasks {
    /// These masks.
    pub fn new(masks: impl IntoIterator<Item = Mask>) -> Self {
        let mut enabled = [false; 6];
        for mask in masks {
            enabled[mask.place()] = true;
        }
        Self {
            enabled,
            ..Self::default()
        }
    }

    /// All masks.
    pub fn all() -> Self {
        Self::new(Mask::ALL)
    }

    /// With other settings.
    #[must_use]
    pub fn with_settings(mut self, settings: MaskSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Whether a mask is kept up to date.
    pub fn is_enabled(&self, mask: Mask) -> bool {
        self.enabled[mask.place()]
    }

    /// Turns a mask on or off. The others go on as they were.
    pub fn set_enabled(&mut self, mask: Mask, enabled: bool) {
        if self.is_enabled(mask) == enabled {
            return;
        }
        self.enabled[mask.place()] = enabled;
        self.fields[mask.place()] = Vec::new();
        if !self.counts_from_baseline() {
            self.baseline = Vec::new();
        }
        #[cfg(feature = "render")]
        {
            self.fresh[mask.place()].clear();
            self.images.forget_one(mask);
        }
    }

    /// Whether wear or deposit is enabled.
    fn counts_from_baseline(&self) -> bool {
        self.is_enabled(Mask::Wear) || self.is_enabled(Mask::Deposit)
    }

    /// A mask, row by row, in its [unit](Mask::unit). None if it is not
    /// enabled, or there was no terrain yet.
    pub fn field(&self, mask: Mask) -> Option<&[f32]> {
        let field = &self.fields[mask.place()];
        (!field.is_empty()).then_some(field)
    }

    /// Size and place of the fields, if there was a terrain.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Starts over at the next update: wear and deposit count from the ground as
    /// it is then, and flow and wetness have no past.
    pub fn restart(&mut self) {
        self.cursor = TerrainCursor::default();
    }

    /// Drops all fields, until there is a terrain again.
    pub fn clear(&mut self) {
        *self = Self {
            settings: self.settings,
            enabled: self.enabled,
            ..Self::default()
        };
    }

    /// Brings the masks up to date, `seconds` of erosion time after the last
    /// update. A terrain that was not seen before starts them anew. Returns
    /// whether anything was computed. The plugin does this.
    pub fn update(&mut self, terrain: &Terrain, seconds: f32) -> bool {
        self.update_scope(terrain, seconds, Scope::Changed)
    }

    pub(super) fn update_scope(&mut self, terrain: &Terrain, seconds: f32, scope: Scope) -> bool {
        // Where wear is counted from and what was wet belong to a place.
        let changes = self.cursor.changes(terrain).shift_as_replaced();
        if changes.replaced() {
            self.begin(terrain);
        }
        let new = self.make_room(terrain);
        let is_new = |mask: Mask| new[mask.place()];
        let tiles = terrain.grid().tiles();
        let number = |tile: UVec2| (tile.y * tiles.x + tile.x) as usize;
        let everything = || (0..tiles.element_product() as usize).collect();

        let mut ground: BTreeSet<usize> = changes.ground().map(number).collect();
        let mut water = BTreeSet::new();
        for tile in changes.water() {
            // Discharge is read from the faces of the cells before, too.
            let beside = [tile, tile + UVec2::X, tile + UVec2::Y];
            water.extend(
                beside
                    .into_iter()
                    .filter(|t| t.cmplt(tiles).all())
                    .map(number),
            );
        }
        if seconds > 0.0 {
            water.extend(&self.watched);
        }
        match scope {
            Scope::Changed => {}
            #[cfg(test)]
            Scope::All => (ground, water) = (everything(), everything()),
        }
        let any_new = |follows_water: bool| {
            let mut masks = Mask::ALL.into_iter();
            masks.any(|mask| is_new(mask) && mask.follows_water() == follows_water)
        };
        if any_new(false) {
            ground = everything();
        }
        if any_new(true) {
            water = everything();
        }
        // Masks of one kind only may be enabled.
        let wanted = |follows_water: bool| {
            let mut masks = Mask::ALL.into_iter();
            masks.any(|mask| self.is_enabled(mask) && mask.follows_water() == follows_water)
        };
        let (with_ground, with_water) = (wanted(false), wanted(true));
        let follows_ground = with_ground && !ground.is_empty();
        let follows_water = with_water && !water.is_empty();
        if follows_ground {
            self.follow_ground(terrain, &ground);
        }
        if follows_water {
            // A new mask has no past.
            let since = |mask: Mask| if is_new(mask) { f32::INFINITY } else { seconds };
            let since = [since(Mask::Flow), since(Mask::Wetness)];
            self.follow_water(terrain, &water, since);
        }
        follows_ground || follows_water
    }

    #[cfg(test)]
    pub(super) fn watched_tiles(&self) -> usize {
        self.watched.len()
    }

    /// Allocates the enabled masks that have no field yet, and returns which.
    fn make_room(&mut self, terrain: &Terrain) -> [bool; 6] {
        if self.baseline.is_empty() && self.counts_from_baseline() {
            self.baseline = terrain.ground_heights();
        }
        let cells = terrain.grid().cells();
        Mask::ALL.map(|mask| {
            let is_new = self.is_enabled(mask) && self.fields[mask.place()].is_empty();
            if is_new {
                self.fields[mask.place()].resize(cells, 0.0);
            }
            is_new
        })
    }

    fn begin(&mut self, terrain: &Terrain) {
        let grid = *terrain.grid();
        for field in &mut self.fields {
            field.clear();
        }
        self.baseline.clear();
        self.watched.clear();
        #[cfg(feature = "render")]
        {
            self.fresh = Default::default();
            if !self.grid.is_some_and(|old| old.matches(&grid)) {
                self.images.forget();
            }
        }
        self.grid = Some(grid);
    }

    fn follow_ground(&mut self, terrain: &Terrain, tiles: &BTreeSet<usize>) {
        let Self {
            fields: [wear, deposit, _, _, slope, soil],
            baseline,
            ..
        } = self;
        let change = |cell: usize, _, _| terrain.ground(cell) - baseline[cell];
        let cut = |cell, x, y| (-change(cell, x, y)).max(0.0);
        let pile = |cell, x, y| change(cell, x, y).max(0.0);
        let rise = |_, x: u32, y: u32| terrain.slope(x, y).length();
        let depth = |cell: usize, _, _| terrain.soil()[cell];
        let grid = terrain.grid();
        fill(grid, wear, tiles, 0, &cut);
        fill(grid, deposit, tiles, 0, &pile);
        // A slope is read from the cells around.
        fill(grid, slope, tiles, 1, &rise);
        fill(grid, soil, tiles, 0, &depth);
        #[cfg(feature = "render")]
        for mask in [Mask::Wear, Mask::Deposit, Mask::SoilDepth, Mask::Slope] {
            if self.is_enabled(mask) {
                let fresh = &mut self.fresh[mask.place()];
                match mask {
                    Mask::Slope => fresh.extend(with_neighbors(grid, tiles)),
                    _ => fresh.extend(tiles),
                }
            }
        }
    }

    /// Updates flow and wetness for so many seconds; infinitely many leave nothing
    /// of the past.
    fn follow_water(&mut self, terrain: &Terrain, tiles: &BTreeSet<usize>, seconds: [f32; 2]) {
        let grid = *terrain.grid();
        let settings = self.settings;
        // Times of zero, and NaN, follow at once.
        let share = match seconds[0].is_finite() {
            true => 1.0 - libm::expf(-seconds[0] / settings.memory.max(1e-6)),
            false => 1.0,
        };
        let dried = seconds[1] / settings.drying.max(1e-6);
        let soak = settings.soak_depth.max(1e-6);
        let flow_of = |old: f32, x: u32, y: u32| {
            let now = terrain.discharge(x, y).length();
            let new = old + (now - old) * share;
            match (now - new).abs() <= ARRIVED.0 * now + ARRIVED.1 {
                true => now,
                false => new,
            }
        };
        let [_, _, flow, wetness, _, _] = &mut self.fields;
        let wide = grid.tiles().x as usize;
        let band = TILE as usize * grid.width();
        let mut jobs: Vec<WaterBand> = Vec::new();
        let mut flows = flow.chunks_mut(band);
        let mut wets = wetness.chunks_mut(band);
        for y in 0..grid.tiles().y as usize {
            let job = WaterBand {
                tiles: tiles.range(y * wide..(y + 1) * wide).copied().collect(),
                flow: flows.next().unwrap_or_default(),
                wetness: wets.next().unwrap_or_default(),
                watched: Vec::new(),
            };
            if !job.tiles.is_empty() {
                jobs.push(job);
            }
        }
        Workers::global().each(jobs.iter_mut(), |job| {
            for &tile in &job.tiles {
                let (columns, rows) = tile_cells(&grid, tile);
                let first = tile / wide * band;
                let mut lives = false;
                for y in rows {
                    for x in columns.clone() {
                        let cell = y * grid.width() + x;
                        if let Some(flow) = job.flow.get_mut(cell - first) {
                            *flow = flow_of(*flow, x as u32, y as u32);
                            lives |= *flow > 0.0;
                        }
                        if let Some(wetness) = job.wetness.get_mut(cell - first) {
                            let depth = terrain.water_depth(x as u32, y as u32);
                            let wet = (depth / soak).min(1.0);
                            *wetness = (*wetness - dried).max(wet);
                            lives |= *wetness > wet;
                        }
                    }
                }
                if lives {
                    job.watched.push(tile);
                }
            }
        });
        let watched: Vec<usize> = jobs.iter().flat_map(|job| &job.watched).copied().collect();
        drop(jobs);
        self.watched.retain(|tile| !tiles.contains(tile));
        self.watched.extend(watched);
        #[cfg(feature = "render")]
        for mask in [Mask::Flow, Mask::Wetness] {
            if self.is_enabled(mask) {
                self.fresh[mask.place()].extend(tiles);
            }
        }
    }
}

/// A band of tiles whose water changed, and its cells.
struct WaterBand<'a> {
    tiles: Vec<usize>,
    flow: &'a mut [f32],
    wetness: &'a mut [f32],
    watched: Vec<usize>,
}

/// Columns and rows of a tile by its number.
#[inline]
pub(super) fn tile_cells(grid: &Grid, tile: usize) -> (Range<usize>, Range<usize>) {
    grid.tile_cells(grid.tile_at(tile))
}

/// Tiles and those beside them.
#[cfg(feature = "render")]
fn with_neighbors(grid: &Grid, tiles: &BTreeSet<usize>) -> BTreeSet<usize> {
    let all = grid.tiles().as_ivec2();
    let beside = |&tile: &usize| {
        let at = IVec2::new(tile as i32 % all.x, tile as i32 / all.x);
        [IVec2::ZERO, IVec2::X, IVec2::NEG_X, IVec2::Y, IVec2::NEG_Y]
            .map(|step| at + step)
            .into_iter()
            .filter(move |at| at.cmpge(IVec2::ZERO).all() && at.cmplt(all).all())
            .map(move |at| (at.y * all.x + at.x) as usize)
    };
    tiles.iter().flat_map(beside).collect()
}

/// Computes a field anew in some tiles and `margin` cells around each. A field
/// that is not enabled is empty, and stays so.
fn fill(
    grid: &Grid,
    field: &mut [f32],
    tiles: &BTreeSet<usize>,
    margin: usize,
    value: &(impl Fn(usize, u32, u32) -> f32 + Sync),
) {
    if field.is_empty() {
        return;
    }
    let wide = grid.tiles().x as usize;
    let width = grid.width();
    let side = TILE as usize;
    // Each band of tiles is filled by itself, with what its tiles and the
    // margins of those in the bands beside it cover.
    let bands = field.chunks_mut(side * width).enumerate();
    let bands = bands.filter_map(|(y, cells)| {
        let from = (y - margin.min(y)) * wide;
        let near: Vec<usize> = tiles
            .range(from..(y + 1 + margin) * wide)
            .copied()
            .collect();
        (!near.is_empty()).then_some((y * side, cells, near))
    });
    Workers::global().each(bands, |(top, cells, near)| {
        let bottom = top + cells.len() / width;
        for tile in near {
            let (columns, rows) = tile_cells(grid, tile);
            let left = columns.start.saturating_sub(margin);
            let right = (columns.end + margin).min(width);
            let rows = rows.start.saturating_sub(margin).max(top)..(rows.end + margin).min(bottom);
            for y in rows {
                for x in left..right {
                    cells[(y - top) * width + x] = value(y * width + x, x as u32, y as u32);
                }
            }
        }
    });
}
