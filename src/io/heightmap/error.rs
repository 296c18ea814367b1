//! What can be wrong with a heightmap file, and what was expected instead.

use crate::terrain::TerrainError;
use bevy::math::UVec2;
use std::path::PathBuf;
use thiserror::Error;

/// Why a heightmap could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HeightmapError {
    /// The file system refused.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The bytes are not those of a PNG, EXR or TIFF file.
    #[error(
        "not a heightmap: expected a PNG, EXR or TIFF file; for a RAW file set \
         `HeightmapOptions::format`"
    )]
    UnknownFormat,
    /// The file is truncated, corrupt, or of an unsupported kind.
    #[error("cannot read the {format} file: {reason}")]
    Damaged {
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The file could not be encoded.
    #[error("cannot write the {format} file: {reason}")]
    Encoder {
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A RAW file does not say its size.
    #[error("a RAW file does not say its size: set `HeightmapOptions::size`")]
    NeedsSize,
    /// A RAW file is longer or shorter than its size says.
    #[error(
        "RAW file size mismatch: found {found} bytes, expected {expected} for {} × {} cells",
        size.x,
        size.y
    )]
    RawLength {
        /// Bytes of the file.
        found: u64,
        /// Bytes needed.
        expected: u64,
        /// The size in cells.
        size: UVec2,
    },
    /// A file of whole numbers does not say what they are in metres.
    #[error(
        "the file holds whole numbers, not metres: set `HeightmapOptions::vertical` to the \
         range of heights, or to the metres per unit"
    )]
    NeedsRange,
    /// A range or scale of heights is invalid.
    #[error("invalid vertical {what}: {reason}")]
    Vertical {
        /// `range`, `scale` or `no_data`.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A terrain needs the size of its cells.
    #[error(
        "unknown cell size: set it by `HeightmapOptions::cell_size` or `Heightmap::with_cell_size`"
    )]
    NeedsCellSize,
    /// The cells of the file are not square.
    #[error(
        "cells are not square: found {x} m × {y} m; set `HeightmapOptions::cell_size` to override"
    )]
    NotSquare {
        /// Width of a cell. units: m
        x: f64,
        /// Depth of a cell. units: m
        y: f64,
    },
    /// The map does not have the size that is expected.
    #[error(
        "grid size mismatch: found {} × {} cells, expected {} × {}",
        found.x,
        found.y,
        expected.x,
        expected.y
    )]
    SizeMismatch {
        /// The map's size.
        found: UVec2,
        /// The size expected.
        expected: UVec2,
    },
    /// There are more or fewer values than cells.
    #[error("length mismatch: found {found} values, expected {expected} for {} × {} cells", size.x, size.y)]
    LengthMismatch {
        /// Values of the map.
        found: usize,
        /// Values needed.
        expected: usize,
        /// The size in cells.
        size: UVec2,
    },
    /// A value is out of range.
    #[error("invalid value {value} at cell ({x}, {y}): {reason}")]
    Value {
        /// Column.
        x: u32,
        /// Row.
        y: u32,
        /// The value.
        value: f32,
        /// What is wrong with it.
        reason: String,
    },
    /// A terrain cannot have this size, cell size or heights.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
}
