//! What can be wrong with a heightmap's file, said so that a user can mend it.

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
        "the format is not known: it is neither PNG nor EXR nor TIFF; a RAW file needs \
         `HeightmapOptions::format`"
    )]
    UnknownFormat,
    /// The file is cut off, corrupt, or of a kind that is not read.
    #[error("the {format} file cannot be read: {reason}")]
    Damaged {
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The file could not be composed.
    #[error("the {format} file cannot be written: {reason}")]
    Encoder {
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A RAW file says nothing of its size.
    #[error("a RAW file needs its size: set `HeightmapOptions::size`")]
    NeedsSize,
    /// A RAW file is longer or shorter than its size says.
    #[error(
        "the RAW file has {found} bytes, but {} × {} cells need {expected}",
        size.x,
        size.y
    )]
    RawLength {
        /// Bytes there are.
        found: u64,
        /// Bytes needed.
        expected: u64,
        /// The size in cells.
        size: UVec2,
    },
    /// A file of whole numbers says nothing of metres.
    #[error(
        "the file holds whole numbers: set `HeightmapOptions::vertical` to the range of \
         heights, or to the metres that one stands for"
    )]
    NeedsRange,
    /// A range or scale is no such thing.
    #[error("the vertical {what} is not usable: {reason}")]
    Vertical {
        /// Range or scale.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A terrain needs the size of its cells.
    #[error("the cell size is not known: set it by `Heightmap::with_cell_size`")]
    NeedsCellSize,
    /// The cells of the file are not square.
    #[error("the cells are {x} m × {y} m; only square ones can be, unless `cell_size` is set")]
    NotSquare {
        /// Width of a cell. units: m
        x: f64,
        /// Depth of a cell. units: m
        y: f64,
    },
    /// The map has another size than expected.
    #[error(
        "the map has {} × {} cells, but {} × {} are expected",
        found.x,
        found.y,
        expected.x,
        expected.y
    )]
    OtherSize {
        /// The map's size.
        found: UVec2,
        /// The size expected.
        expected: UVec2,
    },
    /// There are more or fewer values than cells.
    #[error("the map has {found} values, but {} × {} cells need {expected}", size.x, size.y)]
    Length {
        /// Values there are.
        found: usize,
        /// Values needed.
        expected: usize,
        /// The size in cells.
        size: UVec2,
    },
    /// A value cannot be.
    #[error("{value} at cell ({x}, {y}): {reason}")]
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
    /// No terrain can be like that.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
}
