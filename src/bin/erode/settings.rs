//! Settings by name: any field of any model, by RON, and the list of them all.

use crate::{args::SettingsArgs, failure::Failure, models, report::print};
use bevy::reflect::ReflectRef;
use bevy_erode::models::{AnyModel, BUILT_IN, ModelEntry};
use bevy_erode::settings::open_path;
use ron::{Options, extensions::Extensions, ser::PrettyConfig};

/// Lists the settings of all models, or of one: default, unit, hard limits,
/// sensible range and what each does.
pub fn run(args: &SettingsArgs) -> Result<(), Failure> {
    let entries: Vec<&ModelEntry> = match &args.model {
        None => BUILT_IN.iter().collect(),
        Some(name) => {
            let entry = models::named(name).ok_or_else(|| {
                let names = models::all_names();
                Failure::usage(format!("no model `{name}`; expected one of {names}"))
            })?;
            vec![entry]
        }
    };
    let mut lines = Vec::new();
    for entry in entries {
        let name = models::command_name(entry);
        for setting in bevy_erode::settings::list(entry.default_model().settings()) {
            lines.push(format!("{name}.{setting}"));
        }
    }
    print(&lines.join("\n"))
}

/// As in scenes, `streams=(onset: 9.0)` may be written for `streams=Some(onset: 9.0)`.
pub fn ron_options() -> Options {
    Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// RON's own way to write options, `streams=Some((onset: 9.0))`, is not among them.
fn plain_ron_options() -> Options {
    Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// `KEY=VALUE` or `MODEL.KEY=VALUE`, where a key may be a path such as
/// `streams.onset`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Model and key, or the key alone.
    pub path: String,
    pub value: String,
    /// As it was given, for messages.
    pub text: String,
}

impl Assignment {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, value) = text
            .split_once('=')
            .ok_or("expected KEY=VALUE, found no `=`")?;
        let (path, value) = (path.trim(), value.trim());
        if path.split('.').any(str::is_empty) || value.is_empty() {
            return Err("expected KEY=VALUE, found an empty key or value".into());
        }
        Ok(Self {
            path: path.into(),
            value: value.into(),
            text: text.into(),
        })
    }

    /// The model that the path begins with, if it does, and the key.
    pub fn model_and_key(&self) -> (Option<&'static ModelEntry>, &str) {
        let named = self.path.split_once('.');
        let named = named.and_then(|(name, key)| Some((models::named(name)?, key)));
        match named {
            Some((model, key)) => (Some(model), key),
            None => (None, &self.path),
        }
    }
}

/// A name as it is compared: `Shallow_Water` is `shallow-water`.
pub fn plain_name(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('_', "-")
}

/// Names of all fields.
pub fn names(settings: &AnyModel) -> Vec<String> {
    let ReflectRef::Struct(fields) = settings.settings().reflect_ref() else {
        return Vec::new();
    };
    let names = (0..fields.field_len()).filter_map(|index| fields.name_at(index));
    names.map(Into::into).collect()
}

/// Settings in which a field was found, to give it another value.
pub struct OpenSettings {
    /// With what the field is a part of switched on.
    settings: AnyModel,
    /// Where the field stands, without names of variants.
    pub path: String,
}

impl OpenSettings {
    /// Finds a field by a path as `erode settings` lists them.
    ///
    /// # Errors
    /// When there is none; says what there is.
    pub fn find(settings: &AnyModel, path: &str) -> Result<Self, String> {
        let mut settings = settings.clone();
        let path = open_path(settings.settings_mut(), path).map_err(|error| error.reason)?;
        Ok(Self { settings, path })
    }

    /// The settings with another value in the field, in RON.
    ///
    /// # Errors
    /// When the field does not take the value.
    pub fn with_value(&self, value: &str) -> Result<AnyModel, String> {
        let usual = self.read_with(&ron_options(), value);
        usual.or_else(|reason| {
            let plain = self.read_with(&plain_ron_options(), value);
            plain.map_err(|_| reason)
        })
    }

    fn read_with(&self, options: &Options, value: &str) -> Result<AnyModel, String> {
        // Each field is a line, or several from its name to its last bracket.
        let lines = PrettyConfig::new()
            .compact_arrays(true)
            .new_line("\n")
            .indentor("");
        let text = options.to_string_pretty(&self.settings, lines);
        let text = text.map_err(|error| error.to_string())?;
        let text = with_field(&text, &self.path, value)
            .ok_or_else(|| format!("no setting `{}` to write to", self.path))?;
        let model = self.settings.entry();
        // Without the place, which is one in this text.
        let read = options.from_str_seed(&text, &model);
        let read = read.map_err(|error| error.code.to_string())?;
        read.ok_or_else(|| format!("`{}` has no settings", model.key()))
    }
}

/// RON of which each field is a line of its own, with another value in one of them.
fn with_field(text: &str, path: &str, value: &str) -> Option<String> {
    let mut changed = Vec::new();
    // Names of the fields that the line is within.
    let mut within: Vec<&str> = Vec::new();
    let mut is_found = false;
    // How many of them there are outside the field, while its lines are passed over.
    let mut outside = None;
    for line in text.lines() {
        let mut is_old = outside.is_some();
        if line.starts_with(')') {
            within.pop();
            outside = outside.filter(|outside| *outside < within.len());
        } else if let Some((name, old)) = line.split_once(':') {
            within.push(name);
            let opens = old.ends_with('(');
            if !is_found && within[..].join(".") == path {
                is_found = true;
                outside = opens.then(|| within.len() - 1);
                // A comment at the end of the value ends with the line.
                changed.push(format!("{name}:{value}\n,"));
                is_old = true;
            }
            if !opens {
                within.pop();
            }
        }
        if !is_old {
            changed.push(line.into());
        }
    }
    is_found.then(|| changed.join("\n"))
}
