//! What can be wrong with a saved state.

use crate::{
    models::solver_state::StateError,
    terrain::{SettingsError, TerrainError},
};
use std::path::PathBuf;
use thiserror::Error;

/// Why a state could not be saved or loaded. Neither the world nor an old file
/// was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The file system refused.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Writing failed.
    #[error("cannot write the state: {0}")]
    Write(#[from] std::io::Error),
    /// The file is something else.
    #[error("not a saved state of bevy_erode: wrong file signature")]
    NotASave,
    /// The file is of a later version of this crate.
    #[error(
        "format version {found} of the saved state is too new: this version of bevy_erode reads up to {newest}"
    )]
    Version {
        /// The file's version.
        found: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// The file is cut off or was changed.
    #[error("damaged saved state: {0}")]
    Damaged(&'static str),
    /// The file's header cannot be read or written.
    #[error("header of the saved state: {0}")]
    Header(String),
    /// The state has a model that the app does not have.
    #[error(
        "the saved state has the model `{name}`, which this app does not have: add it with \
         `App::add_erosion_model` before loading (models of this app: {known})"
    )]
    UnknownModel {
        /// The model's name.
        name: String,
        /// Names of the app's models.
        known: String,
    },
    /// The terrain is out of range.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
    /// A setting is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The working state of a solver cannot be used.
    #[error(transparent)]
    SolverState(#[from] StateError),
    /// There is nothing to save.
    #[error("nothing to save: the world has no `Terrain`")]
    NoTerrain,
    /// The GPU runs the models, and not all of their results are in the terrain yet.
    #[error(
        "the GPU is ahead of the terrain: call `Readback::request_all` and save at `ReadbackCompleted`"
    )]
    Behind,
    /// The world has no erosion.
    #[error("the world has no `Time<Erosion>`: add `ErosionPlugin` before loading")]
    NoPlugin,
}
