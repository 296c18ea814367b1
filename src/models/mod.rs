//! The models that shape the ground. Each folder: `mod.rs` (settings and the
//! equations as the code computes them) and `solver.rs` (plain Rust, no app
//! needed).
//!
//! Every model is a [`Solver`], which also declares how the model is named, which
//! layers it uses, when it runs in a step and whether it moves water. [`BUILT_IN`]
//! lists the models of this crate, one line each; an app's [`ErosionModels`] hold
//! these and any that [`add_erosion_model`](AppErosionExt::add_erosion_model)
//! added. All that deals with models in general asks them: the plugin, saved
//! states, scenes, presets, bakes, the command line, the panel and the tests.

pub mod ageing;
mod any_model;
pub mod droplet;
pub mod lava;
pub mod meander;
pub mod pipe;
pub mod plugin;
mod registry;
mod rows;
pub mod shallow_water;
pub mod solver_state;
mod table;
pub mod thermal;
pub(crate) mod water;

pub use any_model::{AnyModel, AnySolver};
pub(crate) use registry::build;
pub use registry::{AppErosionExt, ErosionModels, ModelEntry, ModelSystems};
pub use table::BUILT_IN;

use crate::{
    parallel::Workers,
    terrain::{Grid, Layer, SettingsError, Terrain, TerrainCursor},
};
use bevy::{
    ecs::{component::Mutable, schedule::SystemSet},
    math::IVec2,
    prelude::{Reflect, Resource},
    reflect::GetTypeRegistration,
};
use core::fmt::Debug;
use solver_state::{StateError, StateReader};

/// A method that changes a terrain step by step: what a model does, and its
/// declaration.
///
/// A model is two types: its settings, a resource whose presence turns the model
/// on, and a solver of them, which holds working state and needs no app. To add a
/// model to an app, implement this trait and call
/// [`add_erosion_model`](AppErosionExt::add_erosion_model); this crate's own models
/// are listed in [`BUILT_IN`].
///
/// Only [`new`](Self::new), [`settings`](Self::settings),
/// [`set_settings`](Self::set_settings), [`check_settings`](Self::check_settings)
/// and [`step_on`](Self::step_on) have to be written. A model that keeps anything
/// between steps, such as the time since an event or the number of the next random
/// draw, also writes [`save_state`](Self::save_state),
/// [`load_state`](Self::load_state) and [`shift`](Self::shift).
///
/// [`testing::check_contract`](crate::testing::check_contract) runs a model and
/// checks what is promised here:
///
/// - a step changes no layer that is not in [`WRITES`](Self::WRITES), and its result
///   depends on no layer that is not in [`READS`](Self::READS);
/// - volumes are kept: what is taken from one layer is added to another, or is
///   recorded in the terrain's [ledger](Terrain::ledger);
/// - the result is the same, bit for bit, for any number of [`Workers`], and after
///   saving and loading;
/// - any size of terrain from 1 × 1 cell and any length of step leave finite values
///   and no negative thickness;
/// - settings outside the limits that their [`Setting`](crate::settings::Setting)
///   declares are refused with an error that names the field, and change nothing.
///
/// [The guide](crate::guide::custom_models) has an example.
pub trait Solver: Sized + Send + Sync + 'static {
    /// What users set: a resource whose presence turns the model on.
    type Settings: SolverSettings;

    /// Name of the settings type, such as `PipeModel`. Messages and saved states
    /// use it, so it has to be unique and must not change later.
    const NAME: &'static str;
    /// Name in scenes and presets, such as `shallow_water`: in snake case, unique, and
    /// not to be changed later. The program `erode` uses it too, but knows only the
    /// models of this crate, [`BUILT_IN`].
    const KEY: &'static str;
    /// Layers that a step depends on.
    const READS: &'static [Layer];
    /// Layers that a step may change; it leaves all others as they are.
    const WRITES: &'static [Layer];

    /// Whether it lets water flow: then it writes the terrain's flow too. Only one
    /// such model runs at a time.
    const MOVES_WATER: bool = false;

    /// Whether it is weather. Rain and evaporation are: scenes have fields for them
    /// in their forcing. All others are among a scene's models.
    #[doc(hidden)]
    const IS_FORCING: bool = false;

    /// When it runs in a step, for instance
    /// [`ErosionStepSystems::Water`](crate::schedule::ErosionStepSystems::Water).
    /// Models of the same set run in the order in which they were added.
    fn step_set() -> impl SystemSet;

    /// A solver for terrains of this grid.
    ///
    /// # Errors
    /// When [`check_settings`](Self::check_settings) refuses the settings, or they do
    /// not suit the grid.
    fn new(settings: Self::Settings, grid: &Grid) -> Result<Self, SettingsError>;

    /// Whether settings can be used, on whatever grid; the error names the field.
    ///
    /// # Errors
    /// When a value is not in its range.
    fn check_settings(settings: &Self::Settings) -> Result<(), SettingsError>;

    /// The settings that are in use.
    fn settings(&self) -> &Self::Settings;

    /// Changes the settings and keeps working state; the same settings again change
    /// nothing.
    ///
    /// # Errors
    /// When the settings cannot be used; nothing changes then.
    fn set_settings(&mut self, settings: Self::Settings) -> Result<(), SettingsError>;

    /// Advances by `dt` seconds of erosion time, with the same result for any
    /// workers. A terrain of another size or cell size than the solver's grid,
    /// and a `dt` that is not a positive, finite number, change nothing.
    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32);

    /// [`step_on`](Self::step_on) Bevy's compute task pool.
    fn step(&mut self, terrain: &mut Terrain, dt: f32) {
        self.step_on(Workers::global(), terrain, dt);
    }

    /// Erosion time that the last step could not cover within its bounds: the
    /// model is so much behind. units: s
    fn time_lost(&self) -> f32 {
        0.0
    }

    /// Working state that the next step on this terrain depends on, besides settings
    /// and terrain, as bytes: a new solver that [loads](Self::load_state) it continues
    /// bit for bit. Empty by default. A
    /// [`StateWriter`](solver_state::StateWriter) helps to write it.
    fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        let _ = terrain;
        Vec::new()
    }

    /// Restores the working state that a solver of the same settings
    /// [saved](Self::save_state); `terrain` is the terrain of that time, saved and
    /// loaded. The bytes may come from a damaged file: check whatever is read. A
    /// [`StateReader`] helps.
    ///
    /// # Errors
    /// When the bytes are not such a state; nothing changes then.
    fn load_state(&mut self, state: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let _ = terrain;
        StateReader::new(Self::NAME, state).finish()
    }

    /// Adapts working state after the terrain's window moved by whole 64 × 64 tiles:
    /// what was in tile `t` is now in tile `t - by_tiles`, and tiles that came in at
    /// the other side are new. `terrain` is the terrain after the move; its grid has
    /// as many cells as before.
    ///
    /// By default the solver is made anew from its settings, so that working state is
    /// lost: right for solvers that only cache what they can find in the terrain
    /// again. Solvers with state of other kinds should keep it, and move what belongs
    /// to places.
    ///
    /// # Errors
    /// When the solver cannot be made anew for the terrain's grid; nothing changes
    /// then.
    fn shift(&mut self, by_tiles: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        let _ = by_tiles;
        *self = Self::new(self.settings().clone(), terrain.grid())?;
        Ok(ShiftOutcome::Rebuilt)
    }

    /// Takes one large array out of the settings, for instance a number for each
    /// cell, which saved states store in binary instead of as text. Empty by default.
    fn take_plane(settings: &mut Self::Settings) -> Vec<f32> {
        let _ = settings;
        Vec::new()
    }

    /// Puts back what [`take_plane`](Self::take_plane) took.
    fn put_plane(settings: &mut Self::Settings, plane: Vec<f32>) {
        let _ = (settings, plane);
    }
}

/// What became of a solver's working state when the terrain's window moved; see
/// [`Solver::shift`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftOutcome {
    /// It was kept, and moved where it belongs to places.
    Kept,
    /// The solver was made anew from its settings: its working state is lost.
    Rebuilt,
}

/// What the settings of a [`Solver`] have to be: a reflected resource with defaults
/// that can be compared and, with feature `serialize`, serialized with serde.
/// Implemented for all such types.
pub trait SolverSettings:
    Resource<Mutability = Mutable>
    + Reflect
    + GetTypeRegistration
    + Default
    + Clone
    + PartialEq
    + Debug
    + MaybeSerialize
{
}

impl<T> SolverSettings for T where
    T: Resource<Mutability = Mutable>
        + Reflect
        + GetTypeRegistration
        + Default
        + Clone
        + PartialEq
        + Debug
        + MaybeSerialize
{
}

/// With feature `serialize`: what serde can write and read. Otherwise: every type.
#[cfg(feature = "serialize")]
pub trait MaybeSerialize: serde::Serialize + serde::de::DeserializeOwned {}

#[cfg(feature = "serialize")]
impl<T: serde::Serialize + serde::de::DeserializeOwned> MaybeSerialize for T {}

/// With feature `serialize`: what serde can write and read. Otherwise: every type.
#[cfg(not(feature = "serialize"))]
pub trait MaybeSerialize {}

#[cfg(not(feature = "serialize"))]
impl<T> MaybeSerialize for T {}

/// Moves a plane with one value a cell after the terrain's window moved; cells that
/// are new get the default.
pub(crate) fn shift_plane<T: Copy + Default>(plane: &mut [T], grid: &Grid, by_tiles: IVec2) {
    let size = grid.size().as_i64vec2();
    let by = by_tiles.as_i64vec2() * i64::from(crate::terrain::TILE);
    if plane.len() != grid.cells() {
        return;
    }
    let old = plane.to_vec();
    let width = grid.width();
    for (cell, value) in plane.iter_mut().enumerate() {
        let (x, y) = ((cell % width) as i64 + by.x, (cell / width) as i64 + by.y);
        let is_old = (0..size.x).contains(&x) && (0..size.y).contains(&y);
        *value = match is_old {
            true => old[y as usize * width + x as usize],
            false => T::default(),
        };
    }
}

/// Brings a solver's copy of the ground (above the terrain's datum) up to date,
/// reading only tiles that changed.
pub(crate) fn refresh_ground(ground: &mut Vec<f32>, cursor: &mut TerrainCursor, terrain: &Terrain) {
    if ground.len() != terrain.grid().cells() {
        ground.resize(terrain.grid().cells(), 0.0);
        cursor.forget_tiles();
    }
    for tile in cursor.changes(terrain).shift_as_replaced().ground() {
        let (columns, rows) = terrain.grid().tile_cells(tile);
        for row in rows {
            let first = row * terrain.grid().width();
            for cell in first + columns.start..first + columns.end {
                ground[cell] = terrain.relative_ground(cell);
            }
        }
    }
}

/// The smaller of two numbers that are not NaN. `f32::min` would check for it,
/// which doubles the work of a vector loop.
#[inline(always)]
pub(crate) fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger of two numbers that are not NaN; see [`least`].
#[inline(always)]
pub(crate) fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
