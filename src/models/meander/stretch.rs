//! A river on a stretch of the shared [`Terrain`]. Plain Rust.
//!
//! The river's ground is the terrain's own cells, in the box around a rectangle
//! that may be rotated. At every look at the ground changes go both ways: what others
//! did to those cells since is taken over, and what the river did is written to soil
//! and bedrock. Cuts take soil first; deposits are soil. Changes
//! too small for the layers' `f32` wait.
//!
//! A particle stands for [`particle_volume`](MeanderingRiver::particle_volume)
//! of water. That water is not in the `water` layer, where other models would
//! move it, but is drawn and counted in queries ([`Terrain::water_depth`] and all
//! others). What a river carries is in the ledger.

use super::{
    MeanderingRiver, RiverSolver, RiverSource, SourceId,
    grid_ground::{GridGround, Outline, over_hollows},
    ground::Ground,
    kernels::Kernels,
    layout::{Layout, cells_around, index},
};
use crate::{
    parallel::Workers,
    settings::{self, Setting},
    terrain::{
        FILM, Grid, SettingsError, StreamPatch, TILE, Terrain, TerrainCursor, add_exactly, in_range,
    },
};
use bevy::{math::*, prelude::*};

const M: &str = "MeanderingRiver";
/// Smaller changes of the ground wait until they are worth a new mesh. units: m
const MIN_CHANGE: f64 = 1e-5;
/// Changes by others from which on the floodplain is found again. units: m
const EDITED: f64 = 0.01;
/// Hollows narrower than three radii are part of the floodplain.
const HOLLOW: f64 = 1.5;
/// Most water that other models bring in. units: particles/s
const INTAKE: f64 = 1e4;
/// Half size of the place where water comes in, of the radius.
const SPREAD: f64 = 0.4;
/// New water runs at this share of the speed that its slope would give it.
const ENTRY_SPEED: f64 = 0.8;
/// Directions that differ by less are the same: a centimetre in a kilometre.
const SAME_WAY: f32 = 1e-5;

/// The stretch of the terrain that a [`MeanderingRiver`] runs on: a rectangle
/// that begins where its entity stands and lies along its forward direction
/// (−Z). Water that leaves it leaves the river.
///
/// [The guide](crate::guide::rivers) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    // The name in files, from before it was `RiverStretch`.
    serde(rename = "Stretch", default, deny_unknown_fields)
)]
pub struct RiverStretch {
    /// Along the stream. units: m
    #[reflect(@Setting::new("m", 100.0..=8000.0).limits(0.0..=1e6)
        .about("Length along the stream, four radii of its water at least"))]
    pub length: f32,
    /// Across. units: m
    #[reflect(@Setting::new("m", 50.0..=4000.0).limits(0.0..=1e6)
        .about("Width across the stream, two radii of its water at least"))]
    pub width: f32,
    /// Water that comes in at the upper end, beside what other models bring
    /// there. units: m³/s
    #[reflect(@Setting::new("m³/s", 0.0..=10_000.0).limits(0.0..=1e13)
        .about("Water that comes in at the upper end"))]
    pub inflow: f32,
}

impl Default for RiverStretch {
    fn default() -> Self {
        Self {
            length: 1024.0,
            width: 512.0,
            inflow: 1000.0,
        }
    }
}

/// Checks a value against a lower limit that depends on other values.
fn at_least(
    model: &'static str,
    field: &'static str,
    value: f32,
    least: f32,
) -> Result<(), SettingsError> {
    match value >= least {
        true => Ok(()),
        false => {
            let reason = format!("must be {least} or more, was {value}");
            Err(SettingsError::new(model, field, reason))
        }
    }
}

impl RiverStretch {
    /// Checks the values against the river's; the error names the field.
    pub fn check(&self, river: &MeanderingRiver) -> Result<(), SettingsError> {
        const S: &str = "RiverStretch";
        river.check()?;
        settings::check(self)?;
        at_least(S, "length", self.length, 4.0 * river.radius)?;
        at_least(S, "width", self.width, 2.0 * river.radius)?;
        // Sources let in 10 000 particles a second at most.
        in_range(S, "inflow", self.inflow, 0.0..=1e4 * river.particle_volume)
    }

    /// [`check`](Self::check), and whether it lies on the terrain, with cells that are
    /// small enough for the river.
    pub(crate) fn check_on(
        &self,
        river: &MeanderingRiver,
        place: &Transform,
        grid: &Grid,
    ) -> Result<(), SettingsError> {
        self.check(river)?;
        at_least(M, "radius", river.radius, grid.cell_size())?;
        let (outline, _) = self.place(place)?;
        cells_around(&outline, grid).map(drop)
    }

    /// The rectangle in world x and z, and where its upper end is.
    pub(super) fn place(&self, place: &Transform) -> Result<(Outline, DVec2), SettingsError> {
        let forward = place.forward().xz().as_dvec2();
        let start = place.translation.xz().as_dvec2();
        // NaN fails the comparison, so it is found too.
        if !(forward.length() > 1e-3 && start.is_finite()) {
            return Err(SettingsError {
                model: M,
                field: "Transform.rotation".into(),
                reason: format!(
                    "the forward direction must not be vertical, was {}",
                    place.forward().as_vec3()
                ),
            });
        }
        let along = forward.normalize();
        let half = DVec2::new(f64::from(self.length), f64::from(self.width)) * 0.5;
        let center = start + along * half.x;
        Ok((
            Outline {
                center,
                along,
                half,
            },
            start,
        ))
    }
}

/// A river that runs on a stretch of a terrain and changes it. Without an app:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::{models::meander::*, prelude::*};
/// use bevy_erode::terrain::landform::TiltedPlane;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let land = TiltedPlane::default().with_slope(0.05).with_downhill(90.0);
/// let mut terrain = Terrain::generate(&land, UVec2::new(128, 64), 8.0)?;
/// let start = Transform::from_xyz(-500.0, 0.0, 0.0).looking_to(Vec3::X, Vec3::Y);
/// let stretch = RiverStretch { length: 1000.0, width: 480.0, ..default() };
/// let mut river = TerrainRiver::new(MeanderingRiver::default(), stretch, &start, &terrain)?;
/// for _ in 0..100 {
///     river.step(&mut terrain, 0.1);
/// }
/// river.write_back(&mut terrain);
/// assert!(terrain.ledger().water.drift_of_total().abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TerrainRiver {
    pub(super) river: RiverSolver<GridGround>,
    stretch: RiverStretch,
    place: Transform,
    pub(super) source: SourceId,
    source_at: DVec2,
    /// Number of the river among those that the terrain shows.
    pub(super) number: u64,
    pub(super) grid: Grid,
    /// First cell of the box, and its size in cells.
    first: UVec2,
    size: UVec2,
    /// World x and z of the middle of the box: the river's origin. units: m
    origin: DVec2,
    /// The terrain's ground as it was last seen or written. units: m
    pub(super) shown: Vec<f64>,
    /// The ground without what the river did: the floodplain follows it.
    pub(super) base: Vec<f64>,
    /// Cells, by their index in the box, whose water the river takes in.
    intake: Vec<usize>,
    pub(super) cursor: TerrainCursor,
    pub(super) looks: u64,
    /// The river's share of what the ledger has in rivers. units: m³
    pub(super) carried_solids: f64,
    pub(super) carried_water: f64,
    /// Whether what leaves goes to the water layer of the cells there.
    pub(super) passes_water_on: bool,
}

impl TerrainRiver {
    /// A dry river on a stretch of this terrain.
    ///
    /// # Errors
    /// When settings are out of range, when the stretch is too small for the
    /// river, or when it does not lie on the terrain.
    pub fn new(
        settings: MeanderingRiver,
        stretch: RiverStretch,
        place: &Transform,
        terrain: &Terrain,
    ) -> Result<Self, SettingsError> {
        let layout = Layout::new(&settings, &stretch, place, terrain.grid())?;
        let radius = f64::from(settings.radius);
        let cells = layout.cells();
        let at = |i: usize| layout.index(i);
        let shown: Vec<f64> = (0..cells).map(|i| exact_ground(terrain, at(i))).collect();
        let wrong = |error: super::GroundError| SettingsError {
            model: M,
            field: "RiverStretch".into(),
            reason: error.to_string(),
        };
        let mut ground = layout.ground(shown.clone()).map_err(wrong)?;
        for i in 0..cells {
            ground.harden(i, hardness(terrain, at(i)));
        }
        let ground = ground.with_plain_over_hollows(HOLLOW * radius);
        let Outline { along, half, .. } = layout.outline;
        let source_at = layout.source_at(radius);
        let fall_over = half.x.min(8.0 * radius);
        let fall =
            ground.surface(source_at).height - ground.surface(source_at + along * fall_over).height;
        let speed = settings.steady_speed(fall / fall_over);
        let source = RiverSource {
            position: source_at,
            spread: DVec2::splat(SPREAD * radius),
            velocity: along * (ENTRY_SPEED * speed).clamp(0.1, 20.0),
            rate: 0.0,
        };
        let mut river = RiverSolver::new(settings, ground)?;
        let source = river.add_source(source)?;
        let number = StreamPatch::new_number();
        let mut new = Self::on(layout, river, stretch, place, source, number);
        new.base.clone_from(&shown);
        new.shown = shown;
        new.cursor = TerrainCursor::at(terrain);
        Ok(new)
    }

    /// A river that has not read its terrain yet.
    pub(super) fn on(
        layout: Layout,
        mut river: RiverSolver<GridGround>,
        stretch: RiverStretch,
        place: &Transform,
        source: SourceId,
        number: u64,
    ) -> Self {
        // From now on it records where water leaves.
        river.take_gone();
        let radius = f64::from(river.settings().radius);
        Self {
            stretch,
            place: *place,
            source,
            source_at: layout.source_at(radius),
            number,
            grid: layout.grid,
            first: layout.first,
            size: layout.size,
            origin: layout.origin,
            base: Vec::new(),
            shown: Vec::new(),
            intake: layout.intake(&river.ground, radius),
            cursor: TerrainCursor::default(),
            looks: 0,
            carried_solids: 0.0,
            carried_water: 0.0,
            passes_water_on: false,
            river,
        }
    }

    /// The river itself. Its coordinates are world x and z from
    /// [`origin`](Self::origin).
    pub fn river(&self) -> &RiverSolver<GridGround> {
        &self.river
    }

    /// The stretch it runs on.
    pub fn stretch(&self) -> &RiverStretch {
        &self.stretch
    }

    /// Where the stretch begins and which way it lies.
    pub fn place(&self) -> &Transform {
        &self.place
    }

    /// Whether it runs at this place. The rotation of a computed or saved place may
    /// differ by rounding.
    pub(super) fn runs_at(&self, place: &Transform) -> bool {
        let forward = |place: &Transform| place.rotation * Vec3::NEG_Z;
        place.translation == self.place.translation
            && forward(place).abs_diff_eq(forward(&self.place), SAME_WAY)
    }

    /// World x and z of the river's own origin. units: m
    pub fn origin(&self) -> DVec2 {
        self.origin
    }

    /// The first of the terrain's cells in the box that it runs on, and the
    /// box's size in cells.
    pub fn cells(&self) -> (UVec2, UVec2) {
        (self.first, self.size)
    }

    /// Where water comes in and which way the stretch lies, in the river's own
    /// coordinates.
    pub fn entry(&self) -> (DVec2, DVec2) {
        let forward = self.place.forward().xz().as_dvec2();
        (self.source_at, forward.normalize_or_zero())
    }

    /// Solids that the river carries now. units: m³
    pub fn carried_solids(&self) -> f64 {
        self.carried_solids
    }

    /// Water that the river holds now. units: m³
    pub fn carried_water(&self) -> f64 {
        self.carried_water
    }

    /// Sets whether water that leaves goes to the `water` layer of the cells there,
    /// where a water model carries it on. By default it leaves the terrain.
    pub fn pass_water_on(&mut self, on: bool) {
        self.passes_water_on = on;
    }

    /// Changes the water that comes in. units: m³/s
    ///
    /// # Errors
    /// When it is out of range; nothing changes then.
    pub fn set_inflow(&mut self, inflow: f32) -> Result<(), SettingsError> {
        let stretch = RiverStretch {
            inflow,
            ..self.stretch
        };
        stretch.check(self.river.settings())?;
        self.stretch = stretch;
        Ok(())
    }

    /// Changes the settings and keeps water and sediment. With another radius the
    /// river is [written back](Self::write_back) and starts again. If a particle stands
    /// for another volume, the ledger counts the difference as added.
    ///
    /// # Errors
    /// When they are out of range; nothing changes then.
    pub fn set_settings(
        &mut self,
        settings: MeanderingRiver,
        terrain: &mut Terrain,
    ) -> Result<(), SettingsError> {
        if settings.radius != self.river.settings().radius {
            let mut new = Self::new(settings, self.stretch, &self.place, terrain)?;
            new.passes_water_on = self.passes_water_on;
            self.write_back(terrain);
            new.adopt(terrain);
            *self = new;
            return Ok(());
        }
        self.stretch.check(&settings)?;
        let (before, after) = (self.volume(), f64::from(settings.particle_volume));
        self.river.set_settings(settings)?;
        if before != after {
            let due = self.river.take_due(self.source);
            self.river.feed(self.source, due * before / after);
            let more = self.river.particles() as f64 * (after - before);
            terrain.account.water.added += more;
            self.add_water(terrain, more);
        }
        Ok(())
    }

    /// Advances by `dt` seconds on Bevy's compute task pool; see
    /// [`step_on`](Self::step_on).
    pub fn step(&mut self, terrain: &mut Terrain, dt: f32) {
        self.step_on(Workers::global(), terrain, dt);
    }

    /// Advances by `dt` seconds, with the same result for any workers. A terrain
    /// of another size, cell size or place, and a `dt` that is not a positive,
    /// finite number, change nothing.
    pub fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if *terrain.grid() != self.grid || !(dt > 0.0 && dt.is_finite()) {
            return;
        }
        self.adopt(terrain);
        self.take_in(terrain, f64::from(dt));
        self.river.step_on(workers, f64::from(dt));
        self.let_out(terrain);
        if core::mem::replace(&mut self.looks, self.river.looks) != self.looks {
            self.write_ground(terrain, false);
            self.show(workers, terrain);
        }
    }

    /// Puts all water into the `water` layer where it is, and all sediment on
    /// the ground as soil; nothing is lost. The river is dry then, and may go on.
    pub fn write_back(&mut self, terrain: &mut Terrain) {
        if *terrain.grid() != self.grid {
            return;
        }
        self.adopt(terrain);
        let stream = self.river.stream(&Workers::serial());
        self.lay_all();
        self.write_ground(terrain, true);
        // It left with the water and was to be fed in again.
        let gone = core::mem::take(&mut self.river.waiting);
        terrain.account.solids.left += gone;
        self.add_solids(terrain, -gone);

        self.river.forget_water();
        self.river.take_due(self.source);
        let cells: Vec<(usize, f64)> = match stream.is_empty() {
            true => vec![(self.river.ground.point_at(self.source_at), 1.0)],
            false => stream.iter().map(|own| (own.cell, own.depth)).collect(),
        };
        let cells: Vec<(usize, f64)> = cells
            .into_iter()
            .map(|(cell, weight)| (self.index(cell), weight))
            .collect();
        let given = pour(terrain, &cells, self.carried_water);
        self.add_water(terrain, -given);
        terrain.hide_stream(self.number);
    }

    /// Follows a shift of the terrain's window by whole tiles, if its box is
    /// still on the land. Returns whether it is.
    pub(super) fn shift(&mut self, by: IVec2, grid: &Grid) -> bool {
        let first = self.first.as_i64vec2() - by.as_i64vec2() * i64::from(TILE);
        let end = first + self.size.as_i64vec2();
        let stays = first.cmpge(I64Vec2::ZERO).all() && end.cmple(grid.size().as_i64vec2()).all();
        if stays {
            self.first = first.as_uvec2();
            self.grid = *grid;
            self.cursor.shift(by);
        }
        stays
    }

    /// Leaves the land with all that it carries.
    pub(super) fn leave(&mut self, terrain: &mut Terrain) {
        terrain.account.solids.left += self.carried_solids;
        terrain.account.water.left += self.carried_water;
        self.add_solids(terrain, -self.carried_solids);
        self.add_water(terrain, -self.carried_water);
        terrain.hide_stream(self.number);
    }

    /// Water that a particle stands for. units: m³
    fn volume(&self) -> f64 {
        f64::from(self.river.settings().particle_volume)
    }

    /// The terrain's cell of one in the box.
    #[inline]
    fn index(&self, cell: usize) -> usize {
        index(&self.grid, self.first, self.size, cell)
    }

    fn add_solids(&mut self, terrain: &mut Terrain, change: f64) {
        self.carried_solids += change;
        terrain.account.solids.in_rivers += change;
    }

    fn add_water(&mut self, terrain: &mut Terrain, change: f64) {
        self.carried_water += change;
        terrain.account.water.in_rivers += change;
    }

    /// Takes over what others did to the ground since the last look.
    fn adopt(&mut self, terrain: &Terrain) {
        let changes = self.cursor.changes(terrain).shift_as_replaced();
        let last = self.first + self.size;
        let mut edited: Option<(UVec2, UVec2)> = None;
        for tile in changes.ground() {
            let from = (tile * TILE).max(self.first);
            let to = ((tile + 1) * TILE).min(last);
            for y in from.y..to.y {
                for x in from.x..to.x {
                    let local = UVec2::new(x, y) - self.first;
                    let (i, cell) = (
                        (local.y * self.size.x + local.x) as usize,
                        self.grid.index(x, y),
                    );
                    let change = exact_ground(terrain, cell) - self.shown[i];
                    if change != 0.0 {
                        self.shown[i] += change;
                        self.base[i] += change;
                        self.river.ground.shift(i, change);
                    }
                    self.river.ground.harden(i, hardness(terrain, cell));
                    if change.abs() > EDITED {
                        let (least, most) = edited.unwrap_or((local, local));
                        edited = Some((least.min(local), most.max(local)));
                    }
                }
            }
        }
        if let Some((from, to)) = edited {
            self.find_plain(from, to);
        }
    }

    /// Finds the floodplain again around cells of the box that were edited.
    fn find_plain(&mut self, from: UVec2, to: UVec2) {
        let radius = f64::from(self.river.settings().radius);
        let reach = (HOLLOW * radius / f64::from(self.grid.cell_size())).ceil() as u32;
        let last = self.size - 1;
        let wider = |from: UVec2, to: UVec2| {
            let by = UVec2::splat(2 * reach);
            (from.saturating_sub(by), (to + by).min(last))
        };
        let (from, to) = wider(from, to);
        let (first, end) = wider(from, to);
        let size = end - first + 1;
        let row = |y: u32, from: u32, to: u32| {
            let start = (y * self.size.x) as usize;
            start + from as usize..start + to as usize + 1
        };
        let mut part = Vec::with_capacity((size.x * size.y) as usize);
        for y in first.y..=end.y {
            part.extend_from_slice(&self.base[row(y, first.x, end.x)]);
        }
        let level = over_hollows(&part, (size.x as usize, size.y as usize), reach as usize);
        for y in from.y..=to.y {
            let start = ((y - first.y) * size.x + from.x - first.x) as usize;
            let cells = row(y, from.x, to.x);
            let count = cells.len();
            self.river.ground.plain_mut()[cells].copy_from_slice(&level[start..start + count]);
        }
    }

    /// Lets in the inflow, and the water of other models at the upper end.
    fn take_in(&mut self, terrain: &mut Terrain, dt: f64) {
        let area = self.grid.cell_area();
        let inflow = f64::from(self.stretch.inflow) * dt;
        terrain.account.water.poured += inflow;
        let (mut water, mut load) = (0.0, 0.0);
        let feeds_sediment = self.river.settings().recirculate;
        let most = (INTAKE * dt).max(1.0) * self.volume();
        let mut tiles = Vec::new();
        let layers = terrain.layers_mut();
        for i in 0..self.intake.len() {
            let cell = self.index(self.intake[i]);
            if layers.water[cell] <= FILM {
                continue;
            }
            // A lake at its upper end runs in bit by bit.
            if water * area > most {
                break;
            }
            water += f64::from(core::mem::take(&mut layers.water[cell]));
            water += f64::from(core::mem::take(&mut layers.water_low[cell]));
            if feeds_sediment {
                load += f64::from(core::mem::take(&mut layers.suspended[cell]));
            }
            tiles.push(tile_of(&self.grid, cell));
        }
        if !tiles.is_empty() {
            tiles.sort_unstable();
            tiles.dedup();
            terrain.mark_water_tiles(tiles);
        }
        let (water, load) = (inflow + water * area, load * area);
        self.add_water(terrain, water);
        self.river.feed(self.source, water / self.volume());
        self.add_solids(terrain, load);
        self.river.waiting += load;
    }

    /// Removes what left the stretch, and passes water on.
    fn let_out(&mut self, terrain: &mut Terrain) {
        if !self.river.settings().recirculate {
            let gone = core::mem::take(&mut self.river.waiting);
            terrain.account.solids.left += gone;
            self.add_solids(terrain, -gone);
        }
        let kernels = Kernels::new(f64::from(self.river.settings().radius));
        for at in self.river.take_gone() {
            let cells = match self.passes_water_on {
                true => self.cells_near(&kernels, at),
                false => Vec::new(),
            };
            let gone = match cells.is_empty() {
                true => {
                    terrain.account.water.left += self.volume();
                    self.volume()
                }
                false => pour(terrain, &cells, self.volume()),
            };
            self.add_water(terrain, -gone);
            // What was too little for a cell comes with the next water.
            let rest = (self.volume() - gone) / self.volume();
            self.river.feed(self.source, rest);
        }
    }

    /// Cells of the land around a place of the river, with their weights, if
    /// the place itself is on the land.
    fn cells_near(&self, kernels: &Kernels, at: DVec2) -> Vec<(usize, f64)> {
        let world = at + self.origin;
        let world = Vec3::new(world.x as f32, 0.0, world.y as f32);
        let Some(middle) = self.grid.cell_at(world) else {
            return Vec::new();
        };
        let reach = (kernels.radius / f64::from(self.grid.cell_size())).ceil() as u32;
        let from = middle.saturating_sub(UVec2::splat(reach));
        let to = (middle + reach).min(self.grid.size() - 1);
        let mut cells = Vec::new();
        for y in from.y..=to.y {
            for x in from.x..=to.x {
                let center = self.grid.cell_center(x, y).xz().as_dvec2() - self.origin;
                let square = center.distance_squared(at);
                if square < kernels.square {
                    cells.push((self.grid.index(x, y), kernels.weight(square)));
                }
            }
        }
        cells
    }

    /// Writes what the river did to its ground; with `is_end` also what is too small
    /// otherwise.
    fn write_ground(&mut self, terrain: &mut Terrain, is_end: bool) {
        let ground = &mut self.river.ground;
        let changed = ground.take_changed();
        let cells: Vec<usize> = match is_end {
            true => (0..self.shown.len()).collect(),
            false => changed
                .into_iter()
                .flat_map(|tile| ground.tile_cells(tile))
                .collect(),
        };
        let least = if is_end { 0.0 } else { MIN_CHANGE };
        let mut tiles = Vec::new();
        let (mut gained, mut taken) = (0.0, 0.0);
        for i in cells {
            let wanted = self.river.ground.heights()[i] - self.shown[i];
            if wanted.abs() <= least {
                continue;
            }
            let cell = index(&self.grid, self.first, self.size, i);
            let before = exact_ground(terrain, cell);
            let layers = terrain.layers_mut();
            let (bedrock, rest) = (&mut layers.bedrock[cell], &mut layers.bedrock_low[cell]);
            let soil = &mut layers.soil[cell];
            let cover = f64::from(*soil);
            *soil = (cover + wanted).max(0.0) as f32;
            // Below the soil, rock; and what is too small for the soil's `f32`.
            let more = wanted - (f64::from(*soil) - cover);
            if is_end || cover + wanted < 0.0 {
                add_exactly(bedrock, rest, more as f32);
            }
            let now = exact_ground(terrain, cell);
            self.shown[i] = now;
            gained += now - before;
            taken += (before - now).max(0.0);
            self.river.ground.harden(i, hardness(terrain, cell));
            tiles.push(tile_of(&self.grid, cell));
        }
        if tiles.is_empty() {
            return;
        }
        tiles.sort_unstable();
        tiles.dedup();
        terrain.mark_tiles(tiles);
        self.cursor = TerrainCursor::at(terrain);
        let area = self.grid.cell_area();
        terrain.account.solids.moved += taken * area;
        self.add_solids(terrain, -gained * area);
    }

    /// Lays all sediment down, spread over the ground around it.
    fn lay_all(&mut self) {
        let kernels = Kernels::new(f64::from(self.river.settings().radius));
        let ground = &mut self.river.ground;
        for own in core::mem::take(&mut self.river.sediment.particles) {
            let reach = DVec2::splat(kernels.radius);
            let mut around = Vec::new();
            ground.points_in(own.position - reach, own.position + reach, |cell, at| {
                let square = own.position.distance_squared(at);
                if square < kernels.square {
                    around.push((cell, kernels.weight(square)));
                }
            });
            let total: f64 = around.iter().map(|(_, weight)| weight).sum();
            let mut rest = own.volume;
            for (cell, weight) in around {
                let volume = own.volume * (weight / total);
                ground.lay(cell, volume);
                rest -= volume;
            }
            ground.lay(ground.point_at(own.position), rest);
        }
    }

    /// Lets the terrain show the stream as it is now.
    fn show(&mut self, workers: Workers, terrain: &mut Terrain) {
        let cells = self.shown.len();
        let mut patch = StreamPatch {
            river: self.number,
            first: self.first,
            size: self.size,
            depth: vec![0.0; cells],
            velocity: [vec![0.0; cells], vec![0.0; cells]],
            fresh: (self.river.ground.soft().iter())
                .map(|soft| *soft as f32)
                .collect(),
        };
        for own in self.river.stream(&workers) {
            patch.depth[own.cell] = own.depth as f32;
            let [x, z] = &mut patch.velocity;
            (x[own.cell], z[own.cell]) = own.velocity.as_vec2().into();
        }
        terrain.show_stream(patch);
    }
}

#[inline]
fn tile_of(grid: &Grid, cell: usize) -> usize {
    let (x, y) = (cell % grid.width(), cell / grid.width());
    let tile = TILE as usize;
    y / tile * grid.tiles().x as usize + x / tile
}

/// Both parts of bedrock, and soil. units: m
#[inline]
fn exact_ground(terrain: &Terrain, cell: usize) -> f64 {
    let (bedrock, rest, soil) = terrain.ground_parts(cell);
    f64::from(bedrock) + f64::from(rest) + f64::from(soil)
}

/// How many times slower than soil a cell is cut. As with the other models,
/// hardness is the rock's.
#[inline]
fn hardness(terrain: &Terrain, cell: usize) -> f32 {
    match terrain.hardness() {
        Some(hardness) if terrain.soil()[cell] <= 0.0 => {
            (1.0 / (1.0 - hardness[cell])).min(f32::MAX)
        }
        _ => 1.0,
    }
}

/// Pours water on cells by their weights. Returns what they really gained.
/// units: m³
fn pour(terrain: &mut Terrain, cells: &[(usize, f64)], volume: f64) -> f64 {
    let grid = *terrain.grid();
    let total: f64 = cells.iter().map(|(_, weight)| weight).sum();
    let wanted = volume / grid.cell_area();
    let layers = terrain.layers_mut();
    let mut gained = 0.0;
    let mut add = |cell: usize, depth: f64| {
        let (high, rest) = (&mut layers.water[cell], &mut layers.water_low[cell]);
        let before = f64::from(*high) + f64::from(*rest);
        add_exactly(high, rest, depth as f32);
        gained += f64::from(*high) + f64::from(*rest) - before;
        gained
    };
    let mut poured = 0.0;
    for (cell, weight) in cells {
        poured = add(*cell, wanted * weight / total);
    }
    // The shares are rounded.
    if let Some((cell, _)) = cells.first() {
        add(*cell, wanted - poured);
    }
    let mut tiles: Vec<usize> = cells
        .iter()
        .map(|(cell, _)| tile_of(&grid, *cell))
        .collect();
    tiles.sort_unstable();
    tiles.dedup();
    terrain.mark_water_tiles(tiles);
    gained * grid.cell_area()
}
