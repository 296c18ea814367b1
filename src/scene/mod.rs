//! Scenes: a terrain, its models, what acts on it and a camera, in one RON file.
//!
//! A file names only what differs from the defaults. What it names wrongly is
//! refused, and the error says in which file, line, column and field.
//!
//! ```
//! use bevy_erode::prelude::*;
//! use bevy_erode::scene::SceneError;
//!
//! let scene = ErosionScene::from_ron("hill.scene.ron", r#"(
//!     title: "A hill in the rain",
//!     terrain: (
//!         landform: Island(land: Ridged(seed: 7, height: 300.0), radius: 120.0),
//!         size: (64, 64),
//!         cell_size: 4.0,
//!     ),
//!     models: (droplets: (seed: 7), thermal: ()),
//! )"#)?;
//! let terrain = scene.build_terrain()?;
//! assert_eq!(terrain.grid().cells(), 64 * 64);
//!
//! let error = ErosionScene::from_ron("hill.scene.ron", "(\n  models: (thermal: (shelter: -1.0)),\n)");
//! assert_eq!(
//!     error.unwrap_err().to_string(),
//!     "hill.scene.ron:2:22: `models.thermal.shelter`: must be 0.0001 to 1000, was -1"
//! );
//! # Ok::<(), SceneError>(())
//! ```
//!
//! In an app, [`ErosionScene::insert`] opens a scene and closes the one before.
//! With feature `render`, files `*.scene.ron` are assets: see `ErosionScenePlugin`.

mod error;
mod forcing;
#[cfg(feature = "render")]
mod loader;
mod models;
mod open;
mod place;
pub(crate) mod points;
mod preset;
mod rivers;

pub use error::SceneError;
pub use forcing::{SceneForcing, ScenePoint};
#[cfg(feature = "render")]
pub use loader::{ErosionSceneLoader, ErosionScenePlugin};
pub use models::SceneModels;
pub use open::SceneEntity;
pub use preset::ErosionPreset;
pub use rivers::SceneRiver;

use crate::{
    models::{AnyModel, ErosionModels, ModelEntry},
    terrain::{
        Borders, Grid, Layer, Terrain, TerrainError, in_range,
        landform::{Landform, LandformKind},
    },
};
use bevy::{math::*, prelude::*};
use error::FieldError;
use ron::{Options, extensions::Extensions, ser::PrettyConfig};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A terrain with all that acts on it; see the [module](self).
///
/// [The guide](crate::guide::scenes) has an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TypePath)]
#[cfg_attr(feature = "render", derive(Asset))]
#[serde(default, deny_unknown_fields)]
pub struct ErosionScene {
    /// A short name for people.
    pub title: String,
    /// What there is to see.
    pub description: String,
    /// The ground at the start.
    pub terrain: SceneTerrain,
    /// What shapes the ground.
    pub models: SceneModels,
    /// Weather, sources, sinks and vents.
    pub forcing: SceneForcing,
    /// Rivers that meander.
    pub rivers: Vec<SceneRiver>,
    /// From where to look.
    pub camera: SceneCamera,
    /// Erosion time until what the scene shows has happened. units: s
    pub seconds: f32,
    /// Erosion seconds per second of game time.
    pub speed: f32,
    /// Erosion time of one step. units: s
    pub step: f32,
}

impl Default for ErosionScene {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            terrain: SceneTerrain::default(),
            models: SceneModels::default(),
            forcing: SceneForcing::default(),
            rivers: Vec::new(),
            camera: SceneCamera::default(),
            seconds: 60.0,
            speed: 1.0,
            step: 1.0 / 64.0,
        }
    }
}

/// The ground of a scene at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneTerrain {
    /// The shape of the bedrock.
    pub landform: LandformKind,
    /// Cells along x and along z.
    pub size: (u32, u32),
    /// Side of a cell. units: m
    pub cell_size: f32,
    /// An even cover of soil. units: m
    pub soil_depth: f32,
    /// Resistance to erosion, the same everywhere: 0 erodes freely, 1 not at all.
    pub hardness: Option<f32>,
    /// Elevation up to which the terrain is under water at the start. units: m
    pub lake: Option<f32>,
    /// Columns of water that stand on the ground at the start, and collapse.
    pub columns: Vec<WaterColumn>,
    /// What lies beyond the sides.
    pub borders: Borders,
}

impl Default for SceneTerrain {
    fn default() -> Self {
        Self {
            landform: LandformKind::default(),
            size: (256, 256),
            cell_size: 2.0,
            soil_depth: 0.0,
            hardness: None,
            lake: None,
            columns: Vec::new(),
            borders: Borders::default(),
        }
    }
}

/// A round column of water on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WaterColumn {
    /// World x and z, from the center of the terrain. units: m
    pub at: (f32, f32),
    /// Its radius. units: m
    pub radius: f32,
    /// Its height above the ground in the middle; it is level on top. units: m
    pub height: f32,
}

impl Default for WaterColumn {
    fn default() -> Self {
        Self {
            at: (0.0, 0.0),
            radius: 10.0,
            height: 10.0,
        }
    }
}

/// From where to look at a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneCamera {
    /// The point in the middle of the picture. units: m
    pub focus: (f32, f32, f32),
    /// From which side: 0 from the south (world +Z), 90 from the east (+X).
    /// units: degrees
    pub yaw: f32,
    /// How far above the horizon. units: degrees
    pub pitch: f32,
    /// How far from the focus. units: m
    pub distance: f32,
}

impl Default for SceneCamera {
    fn default() -> Self {
        Self {
            focus: (0.0, 60.0, 0.0),
            yaw: 30.0,
            pitch: 30.0,
            distance: 700.0,
        }
    }
}

impl SceneCamera {
    /// The camera's place and direction.
    pub fn transform(&self) -> Transform {
        let turn = Quat::from_rotation_y(self.yaw.to_radians())
            * Quat::from_rotation_x(-self.pitch.to_radians());
        let focus = Vec3::from(self.focus);
        Transform::from_translation(focus + turn * Vec3::Z * self.distance).with_rotation(turn)
    }

    fn check(&self) -> Result<(), FieldError> {
        let (x, y, z) = self.focus;
        for value in [x, y, z] {
            range("camera.focus", value, -1e9, 1e9)?;
        }
        range("camera.yaw", self.yaw, -360.0, 360.0)?;
        range("camera.pitch", self.pitch, -89.9, 89.9)?;
        range("camera.distance", self.distance, 1e-3, 1e9)
    }
}

impl ErosionScene {
    /// Reads a scene with models of this crate. `name` is the file's name, for errors.
    ///
    /// # Errors
    /// When the text is not RON, names something unknown or sets something out of its
    /// range; the error says where.
    pub fn from_ron(name: &str, text: &str) -> Result<Self, SceneError> {
        Self::from_ron_with(name, text, &ErosionModels::default())
    }

    /// Reads a scene that may have models of other crates: those in `models`, for
    /// instance [`ErosionModels::of`] a world.
    ///
    /// # Errors
    /// As [`from_ron`](Self::from_ron).
    pub fn from_ron_with(
        name: &str,
        text: &str,
        models: &ErosionModels,
    ) -> Result<Self, SceneError> {
        let scene: Self = models::reading(models, || ron_options().from_str(text))
            .map_err(|error| SceneError::from_parser(name, text, &error))?;
        match scene.find_error() {
            Ok(()) => Ok(scene),
            Err(error) => Err(SceneError::from_field_error(name, text, error)),
        }
    }

    /// Reads a scene with models of this crate from a file.
    ///
    /// # Errors
    /// When the file cannot be read; otherwise as [`from_ron`](Self::from_ron).
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        Self::read_file_with(path, &ErosionModels::default())
    }

    /// Reads a scene that may have models of other crates from a file.
    ///
    /// # Errors
    /// As [`read_file`](Self::read_file).
    pub fn read_file_with(
        path: impl AsRef<Path>,
        models: &ErosionModels,
    ) -> Result<Self, SceneError> {
        let (name, text) = error::read_text(path.as_ref())?;
        Self::from_ron_with(&name, &text, models)
    }

    /// The settings of a model in the scene: among its models, or in its forcing.
    pub fn model(&self, model: &ModelEntry) -> Option<AnyModel> {
        match model.is_forcing() {
            true => {
                let mut weather = self.forcing.weather();
                weather.find(|found| found.entry() == *model)
            }
            false => self.models.with_entry(model).cloned(),
        }
    }

    /// Writes the scene, such that [`from_ron`](Self::from_ron) reads it again.
    ///
    /// # Errors
    /// When a landform is nested too deeply for a file.
    pub fn to_ron(&self) -> Result<String, SceneError> {
        ron_options()
            .to_string_pretty(self, PrettyConfig::default())
            .map_err(|error| self.error(FieldError::new("", error)))
    }

    /// Checks all settings; the error names the field.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), SceneError> {
        self.find_error().map_err(|error| self.error(error))
    }

    /// Makes the terrain, as it is at the start.
    ///
    /// # Errors
    /// When the terrain's settings are out of range.
    pub fn build_terrain(&self) -> Result<Terrain, SceneError> {
        let build = || {
            self.terrain.check()?;
            self.terrain.build().map_err(terrain_error)
        };
        build().map_err(|error| self.error(error))
    }

    /// An error in a scene whose text is not at hand.
    fn error(&self, error: FieldError) -> SceneError {
        SceneError {
            file: match self.title.as_str() {
                "" => "scene".into(),
                title => title.into(),
            },
            place: None,
            field: error.field,
            reason: error.reason,
        }
    }

    fn find_error(&self) -> Result<(), FieldError> {
        self.terrain.check()?;
        self.models.check()?;
        let extent = UVec2::from(self.terrain.size).as_vec2() * self.terrain.cell_size;
        self.forcing.check(extent)?;
        let grid = Grid::new(self.terrain.size.into(), self.terrain.cell_size);
        let grid = grid.map_err(terrain_error)?;
        for (number, river) in self.rivers.iter().enumerate() {
            river.check(&format!("rivers[{number}]"), &grid)?;
        }
        self.camera.check()?;
        // Beyond these, `Time<Erosion>` would not follow.
        range("seconds", self.seconds, 0.0, 1e9)?;
        range("speed", self.speed, 0.0, 1e4)?;
        range("step", self.step, 1e-6, 86_400.0)
    }
}

impl SceneTerrain {
    fn check(&self) -> Result<(), FieldError> {
        Grid::new(self.size.into(), self.cell_size).map_err(terrain_error)?;
        range("terrain.soil_depth", self.soil_depth, 0.0, 1e9)?;
        if let Some(hardness) = self.hardness {
            range("terrain.hardness", hardness, 0.0, 1.0)?;
        }
        self.borders.check().map_err(terrain_error)?;
        if let Some(lake) = self.lake {
            range("terrain.lake", lake, -1e9, 1e9)?;
        }
        for (number, column) in self.columns.iter().enumerate() {
            let path = format!("terrain.columns[{number}]");
            range(&format!("{path}.at"), column.at.0, -1e9, 1e9)?;
            range(&format!("{path}.at"), column.at.1, -1e9, 1e9)?;
            range(&format!("{path}.radius"), column.radius, 1e-3, 1e6)?;
            range(&format!("{path}.height"), column.height, 0.0, 1e6)?;
        }
        check_landform("terrain.landform", &self.landform)
    }

    fn build(&self) -> Result<Terrain, TerrainError> {
        let mut terrain = Terrain::generate(&self.landform, self.size.into(), self.cell_size)?
            .with_soil_depth(self.soil_depth)?
            .with_borders(self.borders)?;
        if self.lake.is_some() || !self.columns.is_empty() {
            let water = self.water(&terrain);
            terrain = terrain.with_layer(Layer::Water, water)?;
        }
        let Some(hardness) = self.hardness else {
            return Ok(terrain);
        };
        let cells = terrain.grid().cells();
        terrain.with_layer(Layer::Hardness, vec![hardness; cells])
    }
}

impl SceneTerrain {
    /// Depths of the lake and of the columns.
    fn water(&self, terrain: &Terrain) -> Vec<f32> {
        let grid = terrain.grid();
        let mut water: Vec<f32> = (0..grid.cells())
            .map(|cell| self.lake.map_or(0.0, |lake| lake - terrain.ground(cell)))
            .collect();
        for column in &self.columns {
            let at = Vec3::new(column.at.0, 0.0, column.at.1);
            let top = terrain.height_at(at).unwrap_or(0.0) + column.height;
            for (cell, depth) in water.iter_mut().enumerate() {
                let (x, y) = (cell % grid.width(), cell / grid.width());
                let center = grid.cell_center(x as u32, y as u32);
                if center.distance(at) < column.radius {
                    *depth = depth.max(top - terrain.ground(cell));
                }
            }
        }
        water.into_iter().map(|depth| depth.max(0.0)).collect()
    }
}

/// Parts come first: a landform checks them too, but cannot say where they are.
fn check_landform(path: &str, land: &LandformKind) -> Result<(), FieldError> {
    for (field, part) in land.parts() {
        check_landform(&format!("{path}.{field}"), part)?;
    }
    land.check()
        .map_err(|error| FieldError::new(format!("{path}.{}", error.field), error.reason))
}

fn range(path: &str, value: f32, low: f32, high: f32) -> Result<(), FieldError> {
    in_range("", "", value, low..=high).map_err(|error| FieldError::new(path, error.reason))
}

/// Which field of the scene a terrain complains about.
fn terrain_error(error: TerrainError) -> FieldError {
    let field = match &error {
        TerrainError::Size { .. } => "terrain.size".into(),
        TerrainError::CellSize(_) => "terrain.cell_size".into(),
        TerrainError::SeaLevel { side, .. } => format!("terrain.borders.{side}.level"),
        TerrainError::Value { .. } | TerrainError::Landform(_) => "terrain.landform".into(),
        _ => "terrain".into(),
    };
    FieldError::new(field, error)
}

/// A file may say `pipe: (…)` instead of `Some(…)`, and `Fbm(seed: 1)` instead
/// of `Fbm((seed: 1))`. The parser's own limit of recursion holds.
fn ron_options() -> Options {
    Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}
