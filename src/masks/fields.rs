//! The masks as fields, without an app.

use super::Mask;
use crate::{
    parallel::Workers,
    terrain::{Grid, TILE, Terrain},
};
use bevy::{math::*, prelude::*};
use core::ops::Range;
use std::collections::BTreeSet;

/// Flow is taken as arrived within this share of what it follows, and within
/// this much. units: –, m²/s
const ARRIVED: (f32, f32) = (1e-3, 1e-6);

/// How masks follow the water.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
pub struct MaskSettings {
    /// Erosion time over which flow is smoothed: it makes two thirds of a jump
    /// in this time. units: s
    pub memory: f32,
    /// Erosion time in which soaked ground dries. units: s
    pub drying: f32,
    /// Depth of water that soaks the ground. units: m
    pub soak_depth: f32,
    /// Least time between two uploads of an image of 1024² cells. Larger ones
    /// wait longer in proportion, smaller ones less: Bevy uploads an image as
    /// a whole. units: s
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

/// The chosen masks of the terrain, a resource: insert it and they are kept up
/// to date. See the [module](super) for what each holds.
///
/// [The guide](crate::guide::masks) has an example.
#[derive(Resource, Debug, Default)]
pub struct TerrainMasks {
    /// How masks follow the water.
    pub settings: MaskSettings,
    chosen: [bool; 6],
    fields: [Vec<f32>; 6],
    /// The ground when the masks first saw it, if wear or deposit are chosen.
    baseline: Vec<f32>,
    seen: Seen,
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

/// The terrain and the revisions of it that were looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    terrain: u64,
    ground: u64,
    water: u64,
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
        let mut chosen = [false; 6];
        for mask in masks {
            chosen[mask.place()] = true;
        }
        Self {
            chosen,
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

    /// Whether a mask is among the chosen.
    pub fn has(&self, mask: Mask) -> bool {
        self.chosen[mask.place()]
    }

    /// Keeps one more mask, or one less. The others go on as they were.
    pub fn choose(&mut self, mask: Mask, kept: bool) {
        if self.has(mask) == kept {
            return;
        }
        self.chosen[mask.place()] = kept;
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

    /// Whether wear or deposit is among the chosen.
    fn counts_from_baseline(&self) -> bool {
        self.has(Mask::Wear) || self.has(Mask::Deposit)
    }

    /// A mask, row by row, in its [unit](Mask::unit). None if it is not among
    /// the chosen, or there was no terrain yet.
    pub fn field(&self, mask: Mask) -> Option<&[f32]> {
        let field = &self.fields[mask.place()];
        (!field.is_empty()).then_some(field)
    }

    /// Size and place of the fields, if there was a terrain.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Takes the ground as it will be at the next update as that from which
    /// wear and deposit count, and flow and wetness without their past.
    pub fn restart(&mut self) {
        self.seen = Seen::default();
    }

    /// Forgets the terrain.
    pub fn clear(&mut self) {
        *self = Self {
            settings: self.settings,
            chosen: self.chosen,
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
        if self.seen.terrain != terrain.id.get() {
            self.begin(terrain);
        }
        let new = self.make_room(terrain);
        let is_new = |mask: Mask| new[mask.place()];
        let seen = self.seen;
        self.seen = Seen {
            terrain: terrain.id.get(),
            ground: terrain.revision(),
            water: terrain.water_revision(),
        };
        let tiles = terrain.grid().tiles();
        let number = |tile: UVec2| (tile.y * tiles.x + tile.x) as usize;
        let everything = || (0..tiles.element_product() as usize).collect();

        let mut ground: BTreeSet<usize> = terrain
            .tiles_changed_since(seen.ground)
            .map(number)
            .collect();
        let mut water = BTreeSet::new();
        for tile in terrain.water_tiles_changed_since(seen.water) {
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
        // Nothing of what does not follow the water, or does, may be chosen.
        let wanted = |follows_water: bool| {
            let mut masks = Mask::ALL.into_iter();
            masks.any(|mask| self.has(mask) && mask.follows_water() == follows_water)
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

    /// Makes room for the chosen masks that have none, and tells which.
    fn make_room(&mut self, terrain: &Terrain) -> [bool; 6] {
        if self.baseline.is_empty() && self.counts_from_baseline() {
            self.baseline = terrain.ground_heights();
        }
        let cells = terrain.grid().cells();
        Mask::ALL.map(|mask| {
            let is_new = self.has(mask) && self.fields[mask.place()].is_empty();
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
        self.seen = Seen::default();
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
            if self.has(mask) {
                let fresh = &mut self.fresh[mask.place()];
                match mask {
                    Mask::Slope => fresh.extend(with_neighbours(grid, tiles)),
                    _ => fresh.extend(tiles),
                }
            }
        }
    }

    /// Follows flow and wetness for so many seconds; those without end leave
    /// nothing of the past.
    fn follow_water(&mut self, terrain: &Terrain, tiles: &BTreeSet<usize>, seconds: [f32; 2]) {
        let grid = *terrain.grid();
        let settings = self.settings;
        // What is no time at all, or no number, forgets at once.
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
            if self.has(mask) {
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
pub(super) fn tile_cells(grid: &Grid, tile: usize) -> (Range<usize>, Range<usize>) {
    grid.tile_cells(grid.tile_at(tile))
}

/// Tiles and those beside them.
#[cfg(feature = "render")]
fn with_neighbours(grid: &Grid, tiles: &BTreeSet<usize>) -> BTreeSet<usize> {
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
/// that is not chosen is empty, and stays so.
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
