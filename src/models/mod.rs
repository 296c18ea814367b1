//! The models that shape the ground. Each folder: `mod.rs` (settings and the
//! equations as the code computes them) and `solver.rs` (plain Rust, no app
//! needed). [`plugin`] wires any of them into an app.

pub mod droplet;
pub mod lava;
pub mod meander;
pub mod pipe;
pub mod plugin;
mod rows;
pub mod shallow_water;
pub mod solver_state;
pub mod thermal;
pub(crate) mod water;

use crate::{
    parallel::Workers,
    terrain::{Grid, Layer, SettingsError, Terrain},
};
use bevy::{ecs::component::Mutable, prelude::Resource};
use solver_state::{StateError, StateReader};

/// A method that changes a terrain step by step.
///
/// [The guide](crate::guide::custom_models) has an example.
pub trait Solver: Sized + Send + Sync + 'static {
    /// What users set: a resource whose presence turns the model on.
    type Settings: Resource<Mutability = Mutable> + Clone + PartialEq;

    /// Name of the settings, for messages.
    const NAME: &'static str;
    /// Layers that a step depends on.
    const READS: &'static [Layer];
    /// Layers that a step may change; it leaves all others as they are.
    const WRITES: &'static [Layer];

    /// Whether it lets water flow: then it writes the terrain's flow too.
    const MOVES_WATER: bool = false;

    /// A solver for terrains of this grid.
    fn new(settings: Self::Settings, grid: &Grid) -> Result<Self, SettingsError>;

    /// The settings it works by.
    fn settings(&self) -> &Self::Settings;

    /// Takes on other settings and keeps working state; the same settings again
    /// change nothing. Nothing changes on error.
    fn set_settings(&mut self, settings: Self::Settings) -> Result<(), SettingsError>;

    /// Advances by `dt` seconds of erosion time, with the same result for any
    /// workers. A terrain of another size or cell size than the solver's grid,
    /// and a `dt` that is not a positive, finite number, change nothing.
    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32);

    /// [`step_on`](Self::step_on) Bevy's compute task pool.
    fn step(&mut self, terrain: &mut Terrain, dt: f32) {
        self.step_on(Workers::global(), terrain, dt);
    }

    /// What the GPU is to do for a step; nothing, if the host is to do it.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    fn gpu_job(&mut self, dt: f32) -> Option<crate::gpu::GpuJob<'_>> {
        let _ = dt;
        None
    }

    /// The GPU goes on without it: what it knew of the terrain holds no longer.
    /// What does not depend on the terrain stays.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    fn hand_over(&mut self, grid: &Grid) {
        if let Ok(new) = Self::new(self.settings().clone(), grid) {
            *self = new;
        }
    }

    /// Erosion time that the last step could not cover within its bounds: the
    /// model is so much behind. units: s
    fn time_lost(&self) -> f32 {
        0.0
    }

    /// What its next step on this terrain depends on besides settings and
    /// terrain, so that a new solver that [`load_state`](Self::load_state)s it goes on
    /// bit by bit. Nothing, unless a solver says otherwise.
    fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        let _ = terrain;
        Vec::new()
    }

    /// Takes up what a solver of the same settings remembered of this terrain,
    /// before it was saved and loaded.
    ///
    /// # Errors
    /// When that cannot be; nothing changes then.
    fn load_state(&mut self, memory: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let _ = terrain;
        StateReader::new(Self::NAME, memory).finish()
    }
}

/// Brings a solver's copy of the ground (above the terrain's datum) up to date,
/// reading only tiles that changed since `seen` (terrain and revision).
pub(crate) fn refresh_ground(ground: &mut Vec<f32>, seen: &mut (u64, u64), terrain: &Terrain) {
    if seen.0 != terrain.id.get() || ground.len() != terrain.grid().cells() {
        ground.resize(terrain.grid().cells(), 0.0);
        *seen = (terrain.id.get(), 0);
    }
    for tile in terrain.tiles_changed_since(seen.1) {
        let (columns, rows) = terrain.grid().tile_cells(tile);
        for row in rows {
            let first = row * terrain.grid().width();
            for cell in first + columns.start..first + columns.end {
                ground[cell] = terrain.relative_ground(cell);
            }
        }
    }
    seen.1 = terrain.revision();
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
