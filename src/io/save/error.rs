//! What can be wrong with a saved state, said so that a user can mend it.

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
    #[error("the state cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// The file is something else.
    #[error("it is no saved state of bevy_erode")]
    NotASave,
    /// The file is of a later version of this crate.
    #[error("it was saved in version {found} of the format, but {newest} is the newest known here")]
    Version {
        /// The file's version.
        found: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// The file is cut off or was changed.
    #[error("the saved state is damaged: {0}")]
    Damaged(&'static str),
    /// The file's header cannot be understood or written.
    #[error("the saved state's header: {0}")]
    Header(String),
    /// A model that is not known here.
    #[error("the model `{0}` is not known here")]
    UnknownModel(String),
    /// No terrain can be like that.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
    /// No settings can be like that.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// No solver can go on from that.
    #[error(transparent)]
    Memory(#[from] StateError),
    /// There is nothing to save.
    #[error("there is no terrain to save")]
    NoTerrain,
    /// The GPU runs the models, and not all of it is in the terrain yet.
    #[error(
        "the GPU is ahead of the terrain: call `Readback::request_all` and save at `ReadbackCompleted`"
    )]
    Behind,
    /// The world has no erosion.
    #[error("the world has no erosion: add `ErosionPlugin` first")]
    NoPlugin,
}
