//! What is wrong with a scene, and where.

use super::place::{field_at, place_of};
use crate::terrain::SettingsError;
use core::fmt;
use ron::error::{Error, SpannedError};
use std::{fs, path::Path};

/// Longest reason: a broken file may make the parser quote all of it.
const MAX_CHARACTERS: usize = 400;

/// Why a scene cannot be used. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// The file, or the title of a scene that came from none.
    pub file: String,
    /// Line and column in the file, both counted from 1.
    pub place: Option<(usize, usize)>,
    /// The field that is wrong, such as `models.pipe.roughness`; empty where no field
    /// in particular is.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": `{}`", self.field)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl core::error::Error for SceneError {}

/// Longest file of a scene or preset. units: bytes
const MAX_BYTES: u64 = 16 << 20;

/// The name and the text of a file.
pub(super) fn read_text(path: &Path) -> Result<(String, String), SceneError> {
    let name = path.display().to_string();
    let failed = |reason: String| SceneError {
        file: name.clone(),
        place: None,
        field: String::new(),
        reason,
    };
    let about = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if !about.is_file() {
        return Err(failed("not a scene file: not a regular file".into()));
    }
    if about.len() > MAX_BYTES {
        return Err(failed(format!(
            "not a scene file: it has {} bytes, the limit is {MAX_BYTES}",
            about.len()
        )));
    }
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Ok((name, text))
}

/// A field and what is wrong with it.
pub(super) struct FieldError {
    pub field: String,
    pub reason: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            reason: reason.to_string(),
        }
    }
}

/// The result of checking settings, with the field's whole path.
pub(super) fn settings(path: &str, result: Result<(), SettingsError>) -> Result<(), FieldError> {
    result.map_err(|error| FieldError::new(format!("{path}.{}", error.field), error.reason))
}

impl SceneError {
    /// The text could not be parsed.
    pub(super) fn from_parser(name: &str, text: &str, error: &SpannedError) -> Self {
        let start = (error.span.start.line, error.span.start.col);
        let (place, mut field) = field_at(text, start);
        // The parser reports a missing field at the end of its struct.
        if let Error::MissingStructField { field: missing, .. } = &error.code {
            field = format!("{field}.{missing}");
        }
        let mut reason = error.code.to_string();
        if let Some((end, _)) = reason.char_indices().nth(MAX_CHARACTERS) {
            reason.truncate(end);
            reason.push('…');
        }
        Self {
            file: name.into(),
            place: Some(place),
            field,
            reason,
        }
    }

    /// A setting was read, but is out of its range.
    pub(super) fn from_field_error(name: &str, text: &str, error: FieldError) -> Self {
        Self {
            file: name.into(),
            place: Some(place_of(text, &error.field)),
            field: error.field,
            reason: error.reason,
        }
    }
}
