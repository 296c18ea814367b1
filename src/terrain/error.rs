//! What can be wrong with a terrain's data: what, where, and what was expected.

use super::{Layer, landform::LandformError};
use bevy::math::{IVec2, UVec2};
use std::borrow::Cow;
use thiserror::Error;

/// Why a terrain could not be made or changed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TerrainError {
    /// A side is zero or beyond [`Grid::MAX_SIDE`](super::Grid::MAX_SIDE).
    #[error("terrain size {width} × {height} is out of range: each side must be 1 to {max} cells")]
    Size {
        /// Cells along x.
        width: u32,
        /// Cells along y.
        height: u32,
        /// The largest side.
        max: u32,
    },
    /// The cell size is not a usable length.
    #[error("cell size {0} m is out of range: it must be 0.001 to 100000 m")]
    CellSize(f32),
    /// The world origin is not finite.
    #[error("terrain origin ({0}, {1}, {2}) is not finite")]
    Origin(f32, f32, f32),
    /// The level of a sea is not a usable elevation.
    #[error("sea level {level} m at the {side} border is out of range: it must be within ±1e9 m")]
    SeaLevel {
        /// The side.
        side: &'static str,
        /// The level.
        level: f32,
    },
    /// A layer has the wrong number of values.
    #[error(
        "layer `{layer}` has {found} values, but {} × {} cells need {expected}",
        size.x,
        size.y
    )]
    Length {
        /// The layer.
        layer: Layer,
        /// Values given.
        found: usize,
        /// Values needed.
        expected: usize,
        /// The terrain's size in cells.
        size: UVec2,
    },
    /// A value is not finite, or beyond what a layer may hold.
    #[error("layer `{layer}` at cell ({x}, {y}): {value} is out of range, {expected}")]
    Value {
        /// The layer.
        layer: Layer,
        /// Column of the first bad value.
        x: u32,
        /// Row of the first bad value.
        y: u32,
        /// The bad value.
        value: f32,
        /// What is allowed.
        expected: &'static str,
    },
    /// A cell outside the grid was named.
    #[error("cell ({x}, {y}) lies outside the terrain of {} × {} cells", size.x, size.y)]
    OutsideGrid {
        /// Column.
        x: u32,
        /// Row.
        y: u32,
        /// The terrain's size in cells.
        size: UVec2,
    },
    /// A layer was written that [`Terrain::write`](super::Terrain::write) was not
    /// asked for.
    #[error(
        "layer `{0}` was not declared: pass it to `Terrain::write`, and list it in the \
         solver's `WRITES`"
    )]
    UndeclaredLayer(Layer),
    /// A terrain cannot be shifted so.
    #[error(
        "cannot shift a terrain of {} × {} cells by ({}, {}) tiles: {reason}",
        size.x,
        size.y,
        by.x,
        by.y
    )]
    Shift {
        /// How far it was to be shifted. units: tiles
        by: IVec2,
        /// The terrain's size in cells.
        size: UVec2,
        /// Why not.
        reason: &'static str,
    },
    /// A part of a saved terrain is out of range, or does not fit the others.
    #[error("invalid saved terrain: {0}")]
    Saved(&'static str),
    /// A landform's settings are wrong.
    #[error(transparent)]
    Landform(#[from] LandformError),
}

/// Why a model's settings cannot be used. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("`{model}.{field}`: {reason}")]
pub struct SettingsError {
    /// The model, e.g. `Droplets`.
    pub model: &'static str,
    /// The field that is wrong, such as `streams.onset`.
    pub field: Cow<'static, str>,
    /// What was expected and what was found.
    pub reason: String,
}

impl SettingsError {
    /// A field that is wrong, and why.
    pub fn new(
        model: &'static str,
        field: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            model,
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The same error of settings that are a part of a model's: `time_step` of
    /// its field `published` is `published.time_step`.
    #[must_use]
    pub fn within(self, model: &'static str, part: &str) -> Self {
        Self {
            model,
            field: format!("{part}.{}", self.field).into(),
            ..self
        }
    }
}

/// Checks a value against a range that depends on other values. What a field's
/// range is by itself stands [at the field](crate::settings::Setting).
pub(crate) fn in_range(
    model: &'static str,
    field: &'static str,
    value: f32,
    range: core::ops::RangeInclusive<f32>,
) -> Result<(), SettingsError> {
    if range.contains(&value) {
        return Ok(());
    }
    let reason = format!("must be {} to {}, was {value}", range.start(), range.end());
    Err(SettingsError::new(model, field, reason))
}
