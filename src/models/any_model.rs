//! A model whose type is not known: its settings, and what can be done with them.

use super::{ModelEntry, ShiftOutcome, Solver, solver_state::StateError};
use crate::{
    bake::BakeModel,
    parallel::Workers,
    terrain::{Grid, SettingsError, Terrain},
};
use bevy::{
    math::IVec2,
    prelude::*,
    reflect::{PartialReflect, ReflectRef},
};
use core::{any::Any, fmt};

/// The settings of any model, for what deals with models in general: a scene holds
/// some, a tool edits them, a bake runs them.
///
/// ```
/// use bevy_erode::{models::AnyModel, prelude::*};
/// use bevy_erode::models::thermal::ThermalSolver;
///
/// let model = AnyModel::new::<ThermalSolver>(Thermal { shelter: -1.0, ..Thermal::default() });
/// assert_eq!(model.key(), "thermal");
/// assert_eq!(model.get::<Thermal>().map(|thermal| thermal.shelter), Some(-1.0));
/// assert_eq!(model.check().unwrap_err().field, "shelter");
/// ```
pub struct AnyModel(Box<dyn Model>);

/// A solver of any model; see [`AnyModel::solver`]. Its methods are those of
/// [`Solver`].
pub trait AnySolver: Send + Sync {
    /// See [`Solver::step_on`].
    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32);
    /// See [`Solver::time_lost`].
    fn time_lost(&self) -> f32;
    /// The model with the solver's settings.
    fn model(&self) -> AnyModel;
    /// See [`Solver::set_settings`]; settings of another model change nothing.
    ///
    /// # Errors
    /// When the settings cannot be used, or are those of another model.
    fn set_model(&mut self, model: &AnyModel) -> Result<(), SettingsError>;
    /// See [`Solver::save_state`].
    fn save_state(&self, terrain: &Terrain) -> Vec<u8>;
    /// See [`Solver::load_state`].
    ///
    /// # Errors
    /// When the bytes are not a state of this model.
    fn load_state(&mut self, state: &[u8], terrain: &Terrain) -> Result<(), StateError>;
    /// See [`Solver::shift`].
    ///
    /// # Errors
    /// When the solver cannot be made anew.
    fn shift(&mut self, by_tiles: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError>;
}

impl<S: Solver> AnySolver for S {
    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        Solver::step_on(self, workers, terrain, dt);
    }

    fn time_lost(&self) -> f32 {
        Solver::time_lost(self)
    }

    fn model(&self) -> AnyModel {
        AnyModel::new::<S>(self.settings().clone())
    }

    fn set_model(&mut self, model: &AnyModel) -> Result<(), SettingsError> {
        let settings = model.get::<S::Settings>().ok_or_else(|| SettingsError {
            model: S::NAME,
            field: "settings".into(),
            reason: format!(
                "expected settings of `{}`, found `{}`",
                S::NAME,
                model.name()
            ),
        })?;
        self.set_settings(settings.clone())
    }

    fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        Solver::save_state(self, terrain)
    }

    fn load_state(&mut self, state: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        Solver::load_state(self, state, terrain)
    }

    fn shift(&mut self, by_tiles: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        Solver::shift(self, by_tiles, terrain)
    }
}

/// What [`AnyModel`] holds: the settings of a solver, with its type erased.
trait Model: Send + Sync {
    fn entry(&self) -> ModelEntry;
    fn settings(&self) -> &dyn Reflect;
    fn settings_mut(&mut self) -> &mut dyn Reflect;
    fn clone_boxed(&self) -> Box<dyn Model>;
    fn is_equal(&self, other: &dyn Any) -> bool;
    fn check(&self) -> Result<(), SettingsError>;
    fn insert(&self, world: &mut World);
    fn bake_model(&self) -> BakeModel;
    fn solver(&self, grid: &Grid) -> Result<Box<dyn AnySolver>, SettingsError>;
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    #[cfg(feature = "serialize")]
    fn as_serialize(&self) -> &dyn erased_serde::Serialize;
}

struct ModelOf<S: Solver>(S::Settings);

impl<S: Solver> Model for ModelOf<S> {
    fn entry(&self) -> ModelEntry {
        ModelEntry::of::<S>()
    }

    fn settings(&self) -> &dyn Reflect {
        &self.0
    }

    fn settings_mut(&mut self) -> &mut dyn Reflect {
        &mut self.0
    }

    fn clone_boxed(&self) -> Box<dyn Model> {
        Box::new(Self(self.0.clone()))
    }

    fn is_equal(&self, other: &dyn Any) -> bool {
        other
            .downcast_ref::<S::Settings>()
            .is_some_and(|other| *other == self.0)
    }

    fn check(&self) -> Result<(), SettingsError> {
        S::check_settings(&self.0)
    }

    fn insert(&self, world: &mut World) {
        world.insert_resource(self.0.clone());
    }

    fn bake_model(&self) -> BakeModel {
        BakeModel::new::<S>(self.0.clone())
    }

    fn solver(&self, grid: &Grid) -> Result<Box<dyn AnySolver>, SettingsError> {
        Ok(Box::new(S::new(self.0.clone(), grid)?))
    }

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }

    #[cfg(feature = "serialize")]
    fn as_serialize(&self) -> &dyn erased_serde::Serialize {
        &self.0
    }
}

impl AnyModel {
    /// Settings of a solver.
    pub fn new<S: Solver>(settings: S::Settings) -> Self {
        Self(Box::new(ModelOf::<S>(settings)))
    }

    /// What the model declares.
    pub fn entry(&self) -> ModelEntry {
        self.0.entry()
    }

    /// Name of the settings type, such as `PipeModel`.
    pub fn name(&self) -> &'static str {
        self.entry().name()
    }

    /// Name in scenes and presets, such as `shallow_water`.
    pub fn key(&self) -> &'static str {
        self.entry().key()
    }

    /// The settings, if they are of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.settings().as_any().downcast_ref()
    }

    /// The settings, to change them, if they are of this type.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.settings_mut().as_any_mut().downcast_mut()
    }

    /// The settings, whatever their type.
    pub fn settings(&self) -> &dyn Reflect {
        self.0.settings()
    }

    /// The settings, to change them, whatever their type.
    pub fn settings_mut(&mut self) -> &mut dyn Reflect {
        self.0.settings_mut()
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// When a value is not in its range; see [`field_path`](Self::field_path).
    pub fn check(&self) -> Result<(), SettingsError> {
        self.0.check()
    }

    /// Where the field of an error lies in the settings: `streams.memory` for the
    /// field `memory` of the type `Streams`, which the settings hold as `streams`.
    pub fn field_path(&self, error: &SettingsError) -> String {
        match part_named(self.settings().as_partial_reflect(), error.model) {
            Some(part) => format!("{part}.{}", error.field),
            None => error.field.to_string(),
        }
    }

    /// Turns the model on in a world: inserts its settings as a resource.
    pub fn insert(&self, world: &mut World) {
        self.0.insert(world);
    }

    /// The model as a part of a [`Bake`](crate::bake::Bake).
    pub fn bake_model(&self) -> BakeModel {
        self.0.bake_model()
    }

    /// A solver for terrains of a grid.
    ///
    /// # Errors
    /// When the settings cannot be used on it.
    pub fn solver(&self, grid: &Grid) -> Result<Box<dyn AnySolver>, SettingsError> {
        self.0.solver(grid)
    }
}

/// Path of the part of some settings whose type has this name.
fn part_named(settings: &dyn PartialReflect, type_name: &str) -> Option<String> {
    let found = |name: &str, part: &dyn PartialReflect| {
        // The content of `Some(…)` stands under the option's own name.
        let part = match part.reflect_ref() {
            ReflectRef::Enum(option) => option.field_at(0).unwrap_or(part),
            _ => part,
        };
        if part.reflect_short_type_path() == type_name {
            return Some(name.to_owned());
        }
        part_named(part, type_name).map(|below| format!("{name}.{below}"))
    };
    let ReflectRef::Struct(fields) = settings.reflect_ref() else {
        return None;
    };
    (0..fields.field_len()).find_map(|index| found(fields.name_at(index)?, fields.field_at(index)?))
}

impl Clone for AnyModel {
    fn clone(&self) -> Self {
        Self(self.0.clone_boxed())
    }
}

impl PartialEq for AnyModel {
    fn eq(&self, other: &Self) -> bool {
        self.entry() == other.entry() && self.0.is_equal(other.settings().as_any())
    }
}

impl fmt::Debug for AnyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(feature = "serialize")]
impl serde::Serialize for AnyModel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0.as_serialize(), serializer)
    }
}

/// Reads the settings of a model, or `None`.
#[cfg(feature = "serialize")]
pub(super) type Deserialize =
    fn(&mut dyn erased_serde::Deserializer) -> Result<Option<AnyModel>, erased_serde::Error>;

#[cfg(feature = "serialize")]
pub(super) fn deserialize<S: Solver>(
    deserializer: &mut dyn erased_serde::Deserializer,
) -> Result<Option<AnyModel>, erased_serde::Error> {
    let settings: Option<S::Settings> = erased_serde::deserialize(deserializer)?;
    Ok(settings.map(AnyModel::new::<S>))
}

/// Reads settings of the model, which may be written as an option.
#[cfg(feature = "serialize")]
impl<'de> serde::de::DeserializeSeed<'de> for &ModelEntry {
    type Value = Option<AnyModel>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<AnyModel>, D::Error> {
        let mut erased = <dyn erased_serde::Deserializer>::erase(deserializer);
        (self.deserialize)(&mut erased).map_err(serde::de::Error::custom)
    }
}
