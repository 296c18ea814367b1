//! Springs and drains: entities that pour or take water where they stand.
//!
//! ```text
//! source   d += Q·dt·w/(l²·Σw)                  w = 1 − (a/R)², a distance to it
//!          s += share·(the same)
//! sink     f = min(1, Q·dt / volume within R)   d −= f·d,  s −= f·s
//! ```
//!
//! A sink takes the same share of each cell's water, so that it never takes
//! more than there is and the water's load goes with it.

use super::{LavaSource, MAX_DEPTH, add_counted, disc::Disc, gain, tile_of};
use crate::{
    models::plugin::ModelFailed,
    schedule::Erosion,
    settings::{self, Setting},
    terrain::{Grid, SettingsError, Terrain, TerrainCursor, add_exactly},
};
use bevy::prelude::*;

const SOURCE: &str = "WaterSource";
const SINK: &str = "WaterSink";

/// Pours water on the land where its entity stands.
///
/// [The guide](crate::guide::forcing) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default)]
#[require(Transform)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct WaterSource {
    /// Water poured. units: m³/s
    #[reflect(@Setting::new("m³/s", 0.0..=100.0).limits(0.0..=1e9).about("Water poured"))]
    pub discharge: f32,
    /// Radius of the patch it is poured on, or the cell that covers the source
    /// if that is larger. units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e6)
        .about("Radius of the patch that it is poured on"))]
    pub radius: f32,
    /// Sediment that comes with the water, as a share of its volume, 0 to 0.5.
    #[reflect(@Setting::new("", 0.0..=0.5).limits(0.0..=0.5)
        .about("Sediment that comes with the water, as a share of its volume"))]
    pub sediment: f32,
}

impl Default for WaterSource {
    fn default() -> Self {
        Self {
            discharge: 1.0,
            radius: 5.0,
            sediment: 0.0,
        }
    }
}

/// Takes water from the land where its entity stands, with the sediment in it.
///
/// [The guide](crate::guide::forcing) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default)]
#[require(Transform)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct WaterSink {
    /// Most water that it takes. units: m³/s
    #[reflect(@Setting::new("m³/s", 0.0..=100.0).limits(0.0..=1e9)
        .about("Most water that it takes"))]
    pub discharge: f32,
    /// Radius of the patch it takes from, or the cell that covers the sink if
    /// that is larger. units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e6)
        .about("Radius of the patch that it takes from"))]
    pub radius: f32,
}

impl Default for WaterSink {
    fn default() -> Self {
        Self {
            discharge: 1.0,
            radius: 5.0,
        }
    }
}

impl WaterSource {
    /// A spring of clear water. units: m³/s
    pub fn cubic_metres_per_second(discharge: f32) -> Self {
        Self {
            discharge,
            ..Self::default()
        }
    }

    /// Pours on another radius. units: m
    pub fn with_radius(self, radius: f32) -> Self {
        Self { radius, ..self }
    }

    /// Pours water with a share of sediment in it, 0 to 0.5.
    pub fn with_sediment(self, sediment: f32) -> Self {
        Self { sediment, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }

    /// [`check`](Self::check), and whether it stands on the land.
    pub(crate) fn check_at(&self, grid: &Grid, position: Vec3) -> Result<(), SettingsError> {
        self.check()?;
        disc_at(SOURCE, grid, position, self.radius).map(drop)
    }

    /// What sources are sorted by, so that the order in which they come does
    /// not matter.
    pub(crate) fn order(&self, at: Vec3) -> [u32; 5] {
        let Self {
            discharge,
            radius,
            sediment,
        } = *self;
        [at.x, at.z, discharge, radius, sediment].map(f32::to_bits)
    }

    /// Pours for `dt` seconds at a world position. Returns the water poured. A
    /// `dt` that is not a positive, finite number pours nothing. units: m³
    pub fn pour(
        &self,
        terrain: &mut Terrain,
        position: Vec3,
        dt: f32,
    ) -> Result<f64, SettingsError> {
        self.check()?;
        let grid = *terrain.grid();
        let disc = disc_at(SOURCE, &grid, position, self.radius)?;
        let volume = f64::from(self.discharge) * f64::from(dt);
        if !(volume > 0.0 && volume.is_finite()) {
            return Ok(0.0);
        }
        let total: f64 = disc.cells(grid.size()).map(|(_, weight)| weight).sum();
        let (mut poured, mut brought) = (0.0, 0.0);
        let layers = terrain.layers_mut();
        for (cell, weight) in disc.cells(grid.size()) {
            let depth = volume * weight / (total * grid.cell_area());
            let depth = depth.min(MAX_DEPTH) as f32;
            poured += add_counted(&mut layers.water[cell], &mut layers.water_low[cell], depth);
            let load = &mut layers.suspended[cell];
            let before = *load;
            *load += depth * self.sediment;
            brought += f64::from(*load) - f64::from(before);
        }
        poured *= grid.cell_area();
        terrain.account.water.poured += poured;
        terrain.account.solids.added += brought * grid.cell_area();
        mark(terrain, &disc);
        Ok(poured)
    }
}

impl WaterSink {
    /// A drain that takes so much at most. units: m³/s
    pub fn cubic_metres_per_second(discharge: f32) -> Self {
        Self {
            discharge,
            ..Self::default()
        }
    }

    /// Takes from another radius. units: m
    pub fn with_radius(self, radius: f32) -> Self {
        Self { radius, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }

    /// [`check`](Self::check), and whether it stands on the land.
    pub(crate) fn check_at(&self, grid: &Grid, position: Vec3) -> Result<(), SettingsError> {
        self.check()?;
        disc_at(SINK, grid, position, self.radius).map(drop)
    }

    /// What sinks are sorted by; see [`WaterSource::order`].
    pub(crate) fn order(&self, at: Vec3) -> [u32; 4] {
        [at.x, at.z, self.discharge, self.radius].map(f32::to_bits)
    }

    /// Takes water for `dt` seconds at a world position. Returns the water
    /// taken. A `dt` that is not a positive, finite number takes nothing.
    /// units: m³
    pub fn drain(
        &self,
        terrain: &mut Terrain,
        position: Vec3,
        dt: f32,
    ) -> Result<f64, SettingsError> {
        self.check()?;
        let grid = *terrain.grid();
        let disc = disc_at(SINK, &grid, position, self.radius)?;
        let volume = f64::from(self.discharge) * f64::from(dt);
        let cells = || disc.cells(grid.size()).map(|(cell, _)| cell);
        let there: f64 = cells().map(|cell| f64::from(terrain.water()[cell])).sum();
        if !(volume > 0.0 && volume.is_finite() && there > 0.0) {
            return Ok(0.0);
        }
        let share = volume / (there * grid.cell_area());
        let (mut drained, mut left) = (0.0, 0.0);
        let layers = terrain.layers_mut();
        for cell in cells() {
            let before = (layers.water[cell], layers.water_low[cell]);
            let mut after = before;
            let taken = (f64::from(before.0) * share) as f32;
            add_exactly(&mut after.0, &mut after.1, -taken);
            if share >= 1.0 || after.0 <= 0.0 {
                after = (0.0, 0.0);
            }
            (layers.water[cell], layers.water_low[cell]) = after;
            drained -= gain(before, after);
            // A dry cell's load is no longer the water's: it stays.
            if before.0 > 0.0 {
                let load = &mut layers.suspended[cell];
                let remains = (f64::from(*load) * (1.0 - share).max(0.0)) as f32;
                left += f64::from(*load) - f64::from(remains);
                *load = remains;
            }
        }
        drained *= grid.cell_area();
        terrain.account.water.drained += drained;
        terrain.account.solids.left += left * grid.cell_area();
        mark(terrain, &disc);
        Ok(drained)
    }
}

/// The cells around a world position: a disc, or the cell that covers the
/// position if the disc is too small to reach a cell's center.
pub(super) fn disc_at(
    model: &'static str,
    grid: &Grid,
    position: Vec3,
    radius: f32,
) -> Result<Disc, SettingsError> {
    let Some(cell) = grid.cell_at(position) else {
        return Err(SettingsError {
            model,
            field: POSITION.into(),
            reason: format!(
                "must be on the land, was x = {}, z = {}",
                position.x, position.z
            ),
        });
    };
    let radius = f64::from(radius / grid.cell_size());
    let disc = Disc::new(grid.world_to_grid(position).as_dvec2(), radius);
    if radius > 0.0 && disc.cells(grid.size()).next().is_some() {
        Ok(disc)
    } else {
        Ok(Disc::cell(cell.as_vec2()))
    }
}

fn mark(terrain: &mut Terrain, disc: &Disc) {
    let tiles = tiles_of(terrain.grid(), disc);
    terrain.mark_water_tiles(tiles);
}

/// The tiles that a disc reaches, by their numbers.
pub(super) fn tiles_of(grid: &Grid, disc: &Disc) -> Vec<usize> {
    let mut tiles: Vec<usize> = disc
        .cells(grid.size())
        .map(|(cell, _)| tile_of(grid, cell))
        .collect();
    tiles.sort_unstable();
    tiles.dedup();
    tiles
}

/// The field that an error names when an entity stands outside the land.
const POSITION: &str = "Transform.translation";

/// Entities that could not pour or drain, and why, on which terrain.
#[derive(Default)]
pub(super) struct Refused {
    cursor: TerrainCursor,
    entities: Vec<(Entity, SettingsError)>,
}

impl Refused {
    /// Whether this was said before. Where an entity is outside does not matter.
    fn knows(&self, entity: Entity, error: &SettingsError) -> bool {
        self.entities.iter().any(|(other, known)| {
            let same = known.reason == error.reason || error.field == POSITION;
            let field = (known.model, &known.field) == (error.model, &error.field);
            *other == entity && field && same
        })
    }
}

/// Lets all sources pour, then all sinks take, then all vents pour.
pub(super) fn run_springs(
    terrain: Option<ResMut<Terrain>>,
    sources: Query<(Entity, &WaterSource, &Transform)>,
    sinks: Query<(Entity, &WaterSink, &Transform)>,
    vents: Query<(Entity, &LavaSource, &Transform)>,
    places: TransformHelper,
    time: Res<Time<Erosion>>,
    mut refused: Local<Refused>,
    mut faults: MessageWriter<ModelFailed>,
) {
    let Some(mut terrain) = terrain else {
        return;
    };
    if sources.is_empty() && sinks.is_empty() && vents.is_empty() {
        refused.entities.clear();
        return;
    }
    // Propagated transforms are a frame old and, for a new child, wrong. A
    // parent without a place leaves the entity its own.
    let place = |entity, own: &Transform| {
        let place = places.compute_global_transform(entity);
        place.map_or(own.translation, |place| place.translation())
    };
    let sources = sources.iter().map(|(e, s, own)| (place(e, own), *s, e));
    let mut sources: Vec<_> = sources.collect();
    let sinks = sinks.iter().map(|(e, s, own)| (place(e, own), *s, e));
    let mut sinks: Vec<_> = sinks.collect();
    let vents = vents.iter().map(|(e, s, own)| (place(e, own), *s, e));
    let mut vents: Vec<_> = vents.collect();
    // The order in which a world holds its entities may differ from run to run.
    sources.sort_unstable_by_key(|(at, source, _)| source.order(*at));
    sinks.sort_unstable_by_key(|(at, sink, _)| sink.order(*at));
    vents.sort_unstable_by_key(|(at, vent, _)| vent.order(*at));

    let dt = time.context().step_size().as_secs_f32();
    let mut wrong = Vec::new();
    for (at, source, entity) in sources {
        if let Err(error) = source.pour(&mut terrain, at, dt) {
            wrong.push((entity, error));
        }
    }
    for (at, sink, entity) in sinks {
        if let Err(error) = sink.drain(&mut terrain, at, dt) {
            wrong.push((entity, error));
        }
    }
    for (at, vent, entity) in vents {
        if let Err(error) = vent.pour(&mut terrain, at, dt) {
            wrong.push((entity, error));
        }
    }
    if refused.cursor.changes(&terrain).replaced() {
        refused.entities.clear();
    }
    for (entity, error) in &wrong {
        if !refused.knows(*entity, error) {
            warn!("entity {entity} is not running: {error}");
            faults.write(ModelFailed {
                model: error.model,
                reason: error.to_string(),
            });
        }
    }
    refused.entities = wrong;
}
