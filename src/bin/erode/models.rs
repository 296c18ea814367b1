//! The models that a pass can run, each with its settings.

use crate::{
    failure::Failure,
    settings::{self, OpenSettings},
};
use bevy_erode::models::{AnyModel, BUILT_IN, ModelEntry};

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
    /// What was set by options.
    set: Vec<SetField>,
}

/// A field that an option has set.
struct SetField {
    path: String,
    /// The option, for messages.
    option: String,
}

impl Model {
    pub fn new(entry: &'static ModelEntry, settings: AnyModel) -> Self {
        Self {
            entry,
            settings,
            set: Vec::new(),
        }
    }

    /// Its name on the command line.
    pub fn name(&self) -> String {
        command_name(self.entry)
    }

    /// Finds a field by its path.
    ///
    /// # Errors
    /// When it has none; says what there is.
    pub fn find(&self, key: &str) -> Result<OpenSettings, String> {
        OpenSettings::find(&self.settings, key)
    }

    pub fn field_names(&self) -> Vec<String> {
        settings::names(&self.settings)
    }

    /// Sets a field that was [found](Self::find), for an option.
    ///
    /// # Errors
    /// When the field does not take the value.
    pub fn set(
        &mut self,
        field: &OpenSettings,
        value: &str,
        option: String,
    ) -> Result<(), Failure> {
        let changed = field.with_value(value);
        self.settings = changed.map_err(|reason| Failure::usage(format!("{option}: {reason}")))?;
        self.set.push(SetField {
            path: field.path.clone(),
            option,
        });
        Ok(())
    }

    /// Checks the settings; the error names the option that set them.
    pub fn check(&self) -> Result<(), Failure> {
        let Err(error) = self.settings.check() else {
            return Ok(());
        };
        let field = self.settings.field_path(&error);
        let group = |path: &str| path.split('.').next().map(str::to_owned);
        let is_within = |set: &&SetField| {
            let below = field.strip_prefix(set.path.as_str());
            below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        };
        // Some rules are about several fields of a group.
        let is_beside = |set: &&SetField| group(&set.path) == group(&field);
        let mut last_first = self.set.iter().rev();
        let cause = last_first.clone().find(is_within);
        let cause = cause.or_else(|| last_first.find(is_beside));
        Err(Failure::usage(match cause {
            Some(set) => format!("{}: `{field}` {}", set.option, error.reason),
            None => format!("--model {}: {error}", self.name()),
        }))
    }
}
