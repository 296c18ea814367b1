//! Settings by name: any field of any model, by RON, and the list of them all.

use crate::{args::SettingsArgs, failure::Failure, models, report::print};
use bevy_erode::models::{AnyModel, BUILT_IN, ModelEntry};
use ron::{Options, extensions::Extensions, ser::PrettyConfig};
use serde::Serialize;

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

/// As in scenes, `streams=()` may be written for `streams=Some(())`.
pub fn ron_options() -> Options {
    Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// `KEY=VALUE` or `MODEL.KEY=VALUE`.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub model: Option<String>,
    pub key: String,
    pub value: String,
    /// As it was given, for messages.
    pub text: String,
}

impl Assignment {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (place, value) = text
            .split_once('=')
            .ok_or("expected KEY=VALUE, found no `=`")?;
        let (model, key) = match place.trim().split_once('.') {
            Some((model, key)) => (Some(plain_name(model)), key),
            None => (None, place.trim()),
        };
        if key.is_empty() || value.trim().is_empty() {
            return Err("expected KEY=VALUE, found an empty key or value".into());
        }
        Ok(Self {
            model,
            key: key.into(),
            value: value.trim().into(),
            text: text.into(),
        })
    }
}

/// A name as it is compared: `Shallow_Water` is `shallow-water`.
pub fn plain_name(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('_', "-")
}

/// The fields of settings, in order, with their values as RON.
fn fields<T: Serialize>(settings: &T) -> Result<Vec<(String, String)>, ron::Error> {
    // One level of lines: each field is one.
    let lines = PrettyConfig::new()
        .depth_limit(1)
        .new_line("\n")
        .indentor("");
    let text = ron_options().to_string_pretty(settings, lines)?;
    let field = |line: &str| {
        let (name, value) = line.trim_end_matches(',').split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    Ok(text.lines().filter_map(field).collect())
}

/// Names of all fields.
pub fn names<T: Serialize>(settings: &T) -> Vec<String> {
    let fields = fields(settings).unwrap_or_default();
    fields.into_iter().map(|(name, _)| name).collect()
}

/// The settings of a model with another value in a field that they have.
pub fn with_field(
    model: &ModelEntry,
    settings: &AnyModel,
    key: &str,
    value: &str,
) -> Result<AnyModel, String> {
    let mut fields = fields(settings).map_err(|error| error.to_string())?;
    for (name, old) in &mut fields {
        if name == key {
            *old = value.into();
        }
    }
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let text = format!("({})", fields.join(","));
    // Without the place, which is one in this text.
    let read = ron_options().from_str_seed(&text, model);
    let read = read.map_err(|error| error.code.to_string())?;
    read.ok_or_else(|| format!("`{}` has no settings", model.key()))
}
