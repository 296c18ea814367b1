//! The models of a scene, of this crate and of others.

use super::error::FieldError;
use crate::models::{AnyModel, ErosionModels, ModelEntry, Solver, water::kept_models};
use bevy::prelude::*;
use core::{cell::RefCell, fmt};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeStruct,
};

/// The models of a scene; those that are not there do not run.
///
/// In a file they are fields named by the models' [keys](Solver::KEY), such as
/// `(pipe: (roughness: 0.05), thermal: ())`.
///
/// ```
/// use bevy_erode::prelude::*;
/// use bevy_erode::{models::droplet::DropletSolver, models::thermal::ThermalSolver, scene::SceneModels};
///
/// let models = SceneModels::default()
///     .with::<DropletSolver>(Droplets::seeded(7))
///     .with::<ThermalSolver>(Thermal::default());
/// assert_eq!(models.get::<Droplets>().map(|droplets| droplets.seed), Some(7));
/// assert!(models.get::<PipeModel>().is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct SceneModels(Vec<AnyModel>);

impl SceneModels {
    /// The same with a model, in place of former settings of that model.
    pub fn with<S: Solver>(mut self, settings: S::Settings) -> Self {
        self.set(AnyModel::new::<S>(settings));
        self
    }

    /// Adds a model, in place of former settings of that model.
    pub fn set(&mut self, model: AnyModel) {
        match self.0.iter_mut().find(|own| own.entry() == model.entry()) {
            Some(own) => *own = model,
            None => self.0.push(model),
        }
    }

    /// The settings of this type, if there are such.
    pub fn get<T: Resource>(&self) -> Option<&T> {
        self.0.iter().find_map(AnyModel::get)
    }

    /// The settings of this type, to change them, if there are such.
    pub fn get_mut<T: Resource>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(AnyModel::get_mut)
    }

    /// Takes away the settings of this type. Returns whether there were such.
    pub fn remove<T: Resource>(&mut self) -> bool {
        let before = self.0.len();
        self.0.retain(|model| model.get::<T>().is_none());
        self.0.len() < before
    }

    /// The settings of a model, if it is there.
    pub fn with_entry(&self, entry: &ModelEntry) -> Option<&AnyModel> {
        self.iter().find(|model| model.entry() == *entry)
    }

    /// All that are there.
    pub fn iter(&self) -> impl Iterator<Item = &AnyModel> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let mut water = None;
        for model in &self.0 {
            check_model("models", model)?;
            if !model.entry().moves_water() {
                continue;
            }
            if let Some(other) = water.replace(model.key()) {
                let reason = format!("only one water model can run, found `{other}` as well");
                return Err(FieldError::new(format!("models.{}", model.key()), reason));
            }
        }
        Ok(())
    }

    /// The models of a world, without weather.
    pub(super) fn of(world: &World) -> Self {
        let models = kept_models(world)
            .into_iter()
            .filter(|entry| !entry.is_forcing());
        Self(models.filter_map(|entry| entry.capture(world)).collect())
    }

    /// Replaces the models of a world.
    pub(super) fn apply(&self, world: &mut World) {
        for entry in ErosionModels::of(world).iter() {
            if !entry.is_forcing() && self.with_entry(entry).is_none() {
                entry.remove_from(world);
            }
        }
        let known = ErosionModels::of(world);
        for model in &self.0 {
            if known.named(model.name()).is_none() {
                let name = model.name();
                error!("no model `{name}` in this app: call `add_erosion_model` for it");
                continue;
            }
            model.insert(world);
        }
    }
}

/// Checks a model that stands in a part of a scene.
pub(super) fn check_model(part: &str, model: &AnyModel) -> Result<(), FieldError> {
    let path = format!("{part}.{}", model.key());
    match model.check() {
        Ok(()) => Ok(()),
        Err(error) => {
            let field = format!("{path}.{}", model.field_path(&error));
            Err(FieldError::new(field, error.reason))
        }
    }
}

/// In whatever order they are.
impl PartialEq for SceneModels {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|model| other.0.contains(model))
    }
}

impl Serialize for SceneModels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SceneModels", self.0.len())?;
        for model in &self.0 {
            fields.serialize_field(model.key(), model)?;
        }
        fields.end()
    }
}

thread_local! {
    /// The models that a scene may have which is being read: serde's derived code
    /// does not hand them on.
    static KNOWN: RefCell<Option<ErosionModels>> = const { RefCell::new(None) };
}

/// Reads something that may have these models.
pub(super) fn reading<T>(models: &ErosionModels, read: impl FnOnce() -> T) -> T {
    let outer = KNOWN.replace(Some(models.clone()));
    let result = read();
    KNOWN.set(outer);
    result
}

/// Models of this crate, and in [`ErosionScene::from_ron_with`] and the like those
/// that were given.
///
/// [`ErosionScene::from_ron_with`]: super::ErosionScene::from_ron_with
impl<'de> Deserialize<'de> for SceneModels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let known = KNOWN.with_borrow(Clone::clone).unwrap_or_default();
        deserializer.deserialize_struct("SceneModels", &[], ModelsVisitor(known))
    }
}

struct ModelsVisitor(ErosionModels);

impl<'de> Visitor<'de> for ModelsVisitor {
    type Value = SceneModels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("models by their keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SceneModels, A::Error> {
        let mut models = SceneModels::default();
        let mut seen: Vec<&str> = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            let entry = self.0.with_key(&key).filter(|entry| !entry.is_forcing());
            let Some(entry) = entry else {
                return Err(A::Error::custom(self.unknown(&key)));
            };
            if seen.contains(&entry.key()) {
                return Err(A::Error::duplicate_field(entry.key()));
            }
            seen.push(entry.key());
            if let Some(model) = map.next_value_seed(entry)? {
                models.set(model);
            }
        }
        Ok(models)
    }
}

impl ModelsVisitor {
    fn unknown(&self, key: &str) -> String {
        let known = self.0.iter().filter(|entry| !entry.is_forcing());
        let known: Vec<String> = known.map(|entry| format!("`{}`", entry.key())).collect();
        format!("no model `{key}`, expected one of {}", known.join(", "))
    }
}

/// The name of a field.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the key of a model")
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
                Ok(Key(key.into()))
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}
