//! The models that a pass can run, each with its settings.

use crate::{
    failure::Failure,
    settings::{self, Assignment},
};
use bevy_erode::{
    models::{AnyModel, BUILT_IN, ModelEntry},
    prelude::*,
};

/// The model of a name, in whatever case.
pub fn named(name: &str) -> Option<&'static ModelEntry> {
    let name = settings::plain_name(name);
    BUILT_IN.iter().find(|model| command_name(model) == name)
}

/// The name of a model on the command line: `shallow-water`.
pub fn command_name(model: &ModelEntry) -> String {
    settings::plain_name(model.key())
}

/// Its place in the order of a step.
pub fn place(model: &ModelEntry) -> Option<usize> {
    BUILT_IN.iter().position(|other| other == model)
}

/// The names of all models, for messages.
pub fn all_names() -> String {
    let names: Vec<String> = BUILT_IN.iter().map(command_name).collect();
    names.join(", ")
}

/// A chosen model with its settings.
pub struct Model {
    pub entry: &'static ModelEntry,
    pub settings: AnyModel,
}

impl Model {
    /// A model with the settings of a preset, or the defaults.
    pub fn choose(entry: &'static ModelEntry, preset: &ErosionScene) -> Self {
        let set = preset.model(entry);
        Self {
            entry,
            settings: set.unwrap_or_else(|| entry.default_model()),
        }
    }

    /// Its name on the command line.
    pub fn name(&self) -> String {
        command_name(self.entry)
    }

    pub fn has(&self, key: &str) -> bool {
        self.field_names().iter().any(|name| name == key)
    }

    pub fn field_names(&self) -> Vec<String> {
        settings::names(&self.settings)
    }

    /// Sets a field that it has.
    pub fn set(&mut self, set: &Assignment) -> Result<(), Failure> {
        let changed = settings::with_field(self.entry, &self.settings, &set.key, &set.value);
        self.settings =
            changed.map_err(|reason| Failure::usage(format!("--set {}: {reason}", set.text)))?;
        Ok(())
    }

    /// Checks the settings; the error names the option that set them.
    pub fn check(&self, sets: &[Assignment]) -> Result<(), Failure> {
        let Err(error) = self.settings.check() else {
            return Ok(());
        };
        let field = self.settings.field_path(&error);
        let name = self.name();
        let is_cause = |set: &&Assignment| {
            let is_meant = set.model.as_ref().is_none_or(|model| *model == name);
            field.split('.').next() == Some(set.key.as_str()) && is_meant
        };
        Err(Failure::usage(match sets.iter().rev().find(is_cause) {
            Some(set) => format!("--set {}: `{field}` {}", set.text, error.reason),
            None => format!("--model {name}: {error}"),
        }))
    }
}
