//! Presets: models, weather and springs, to share and to lay over any land.

use super::{
    SceneForcing, SceneModels,
    error::{Fault, SceneError, read_text},
    ron_options,
};
use crate::terrain::Terrain;
use bevy::{math::*, prelude::*};
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// All that acts on a land, without the land. As a file it is a part of a scene:
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
    /// Weather and springs.
    pub forcing: SceneForcing,
}

impl ErosionPreset {
    /// Models, weather and springs of a world as they are.
    pub fn capture(world: &mut World) -> Self {
        Self {
            title: String::new(),
            models: SceneModels::of(world),
            forcing: SceneForcing::of(world),
        }
    }

    /// Puts it into a world, in place of all models, weather and springs that
    /// are there. The land stays.
    ///
    /// # Errors
    /// When a setting is out of range or a spring lies beyond the land; then
    /// nothing changes.
    pub fn apply(&self, world: &mut World) -> Result<(), SceneError> {
        let terrain = world.get_resource::<Terrain>();
        // A scene's places count from the middle of the land, at the origin.
        let extent = terrain.map_or(Vec2::INFINITY, |terrain| {
            let grid = terrain.grid();
            grid.extent() + 2.0 * grid.origin().xz().abs()
        });
        self.find_fault(extent).map_err(|fault| SceneError {
            file: match self.title.as_str() {
                "" => "preset".into(),
                title => title.into(),
            },
            place: None,
            field: fault.field,
            reason: fault.reason,
        })?;
        let Self {
            models, forcing, ..
        } = self.clone();
        models.apply(world);
        forcing.replace(world);
        Ok(())
    }

    /// Reads a preset. `name` is the file's name, for errors.
    ///
    /// # Errors
    /// Says where the text is no RON, names something unknown or sets
    /// something out of its range.
    pub fn from_ron(name: &str, text: &str) -> Result<Self, SceneError> {
        let preset: Self = ron_options()
            .from_str(text)
            .map_err(|error| SceneError::from_parser(name, text, &error))?;
        match preset.find_fault(Vec2::INFINITY) {
            Ok(()) => Ok(preset),
            Err(fault) => Err(SceneError::from_fault(name, text, fault)),
        }
    }

    /// Reads a preset from a file.
    ///
    /// # Errors
    /// When the file cannot be read; otherwise as [`from_ron`](Self::from_ron).
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        let (name, text) = read_text(path.as_ref())?;
        Self::from_ron(&name, &text)
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

    fn find_fault(&self, extent: Vec2) -> Result<(), Fault> {
        self.models.check()?;
        self.forcing.check(extent)
    }
}
