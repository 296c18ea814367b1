//! Presets: models, weather, sources and sinks, to share and to apply to any terrain.

use super::{
    SceneForcing, SceneModels,
    error::{FieldError, SceneError, read_text},
    models::reading,
    ron_options,
};
use crate::{models::ErosionModels, terrain::Terrain};
use bevy::{math::*, prelude::*};
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// All that acts on a terrain, without the terrain. As a file it is a part of a scene:
/// whatever reads scenes reads presets, too.
///
/// ```
/// use bevy_erode::prelude::*;
/// use bevy_erode::scene::{ErosionPreset, SceneError};
///
/// let preset = ErosionPreset::from_ron("wet.preset.ron", "(
///     models: (pipe: (roughness: 0.05)),
///     forcing: (rain: (mm_per_hour: 2000.0)),
/// )")?;
/// assert_eq!(ErosionPreset::from_ron("again", &preset.to_ron()?)?, preset);
///
/// let error = ErosionPreset::from_ron("wet.preset.ron", "(\n  models: (pipe: (roughness: 5.0)),\n)");
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "wet.preset.ron:2:19: `models.pipe.roughness`: must be 0 to 1, was 5"
/// );
/// # Ok::<(), SceneError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErosionPreset {
    /// A short name for people.
    pub title: String,
    /// What shapes the ground.
    pub models: SceneModels,
    /// Weather, sources, sinks and vents.
    pub forcing: SceneForcing,
}

impl ErosionPreset {
    /// Models, weather, sources, sinks and vents of a world as they are. Of several
    /// water models, it has the one that runs: the next frame removes the others.
    pub fn capture(world: &mut World) -> Self {
        Self {
            title: String::new(),
            models: SceneModels::of(world),
            forcing: SceneForcing::of(world),
        }
    }

    /// Puts it into a world, in place of all models, weather, sources, sinks and vents
    /// that are there. The terrain stays.
    ///
    /// # Errors
    /// When a setting is out of range or a source lies outside the terrain; then
    /// nothing changes.
    pub fn apply(&self, world: &mut World) -> Result<(), SceneError> {
        let terrain = world.get_resource::<Terrain>();
        // A scene's places are relative to the center of the terrain, at the origin.
        let extent = terrain.map_or(Vec2::INFINITY, |terrain| {
            let grid = terrain.grid();
            grid.extent() + 2.0 * grid.origin().xz().abs()
        });
        self.find_error(extent).map_err(|error| SceneError {
            file: match self.title.as_str() {
                "" => "preset".into(),
                title => title.into(),
            },
            place: None,
            field: error.field,
            reason: error.reason,
        })?;
        let Self {
            models, forcing, ..
        } = self.clone();
        models.apply(world);
        forcing.replace(world);
        Ok(())
    }

    /// Reads a preset with models of this crate. `name` is the file's name, for errors.
    ///
    /// # Errors
    /// When the text is not RON, names something unknown or sets something out of its
    /// range; the error says where.
    pub fn from_ron(name: &str, text: &str) -> Result<Self, SceneError> {
        Self::from_ron_with(name, text, &ErosionModels::default())
    }

    /// Reads a preset that may have models of other crates: those in `models`, for
    /// instance [`ErosionModels::of`] a world.
    ///
    /// # Errors
    /// As [`from_ron`](Self::from_ron).
    pub fn from_ron_with(
        name: &str,
        text: &str,
        models: &ErosionModels,
    ) -> Result<Self, SceneError> {
        let preset: Self = reading(models, || ron_options().from_str(text))
            .map_err(|error| SceneError::from_parser(name, text, &error))?;
        match preset.find_error(Vec2::INFINITY) {
            Ok(()) => Ok(preset),
            Err(error) => Err(SceneError::from_field_error(name, text, error)),
        }
    }

    /// Reads a preset with models of this crate from a file.
    ///
    /// # Errors
    /// When the file cannot be read; otherwise as [`from_ron`](Self::from_ron).
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        Self::read_file_with(path, &ErosionModels::default())
    }

    /// Reads a preset that may have models of other crates from a file.
    ///
    /// # Errors
    /// As [`read_file`](Self::read_file).
    pub fn read_file_with(
        path: impl AsRef<Path>,
        models: &ErosionModels,
    ) -> Result<Self, SceneError> {
        let (name, text) = read_text(path.as_ref())?;
        Self::from_ron_with(&name, &text, models)
    }

    /// Writes the preset, such that [`from_ron`](Self::from_ron) reads it again.
    ///
    /// # Errors
    /// When it cannot be written as RON.
    pub fn to_ron(&self) -> Result<String, SceneError> {
        ron_options()
            .to_string_pretty(self, PrettyConfig::default())
            .map_err(|error| SceneError {
                file: "preset".into(),
                place: None,
                field: String::new(),
                reason: error.to_string(),
            })
    }

    fn find_error(&self, extent: Vec2) -> Result<(), FieldError> {
        self.models.check()?;
        self.forcing.check(extent)
    }
}
