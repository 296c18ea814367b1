//! Heightmaps and masks as files.

mod asset;
mod error;
mod exr;
mod geo;
mod hillshade;
mod metadata;
mod options;
mod png;
mod raw;
mod tiff;

pub use asset::{HeightmapLoader, HeightmapPlugin};
pub use error::HeightmapError;
pub use options::{Endian, HeightmapFormat, HeightmapOptions, Vertical, VerticalRange};

use super::atomic;
use crate::{
    masks::{Mask, TerrainMasks},
    terrain::{Grid, Layer, Terrain, TerrainError},
};
use bevy::{asset::Asset, math::UVec2, reflect::TypePath};
use core::ops::RangeInclusive;
use metadata::Metadata;
use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// Largest file: four 32-bit channels of the largest grid. units: bytes
const MAX_BYTES: u64 = 16 * (Grid::MAX_SIDE as u64) * (Grid::MAX_SIDE as u64);
/// Most bytes that a byte of a compressed file can unpack to (LZW of zeros comes
/// nearest). What declares more than that cannot be in the file.
const MAX_COMPRESSION_RATIO: u64 = 4096;

/// A grid of numbers: heights, depths or any mask, row by row from the north
/// (world −Z), each from the west (−X). It is an asset, too: see
/// [`HeightmapLoader`].
///
/// [The guide](crate::guide::files) has an example.
#[derive(Asset, TypePath, Clone, Debug, PartialEq)]
#[type_path = "bevy_erode::io"]
pub struct Heightmap {
    /// Cells along x and y.
    pub size: UVec2,
    /// One number for each cell. Heights are in metres.
    pub values: Vec<f32>,
    /// Side of a cell, if it is known. units: m
    pub cell_size: Option<f32>,
}

impl Heightmap {
    /// A map of these values, row by row.
    ///
    /// # Errors
    /// When the size is out of a terrain's range or there are more or fewer
    /// values.
    pub fn new(size: UVec2, values: Vec<f32>) -> Result<Self, HeightmapError> {
        let map = Self {
            size,
            values,
            cell_size: None,
        };
        map.check()?;
        Ok(map)
    }

    /// The elevation of a terrain's ground. units: m
    pub fn from_ground(terrain: &Terrain) -> Self {
        Self::of(terrain, terrain.ground_heights())
    }

    /// A layer of a terrain. Where there is no hardness map, hardness is 0, and
    /// so is lava where there is none.
    pub fn from_layer(terrain: &Terrain, layer: Layer) -> Self {
        let values = match layer {
            Layer::Bedrock => terrain.bedrock().to_vec(),
            Layer::Soil => terrain.soil().to_vec(),
            Layer::Water => terrain.water().to_vec(),
            Layer::Suspended => terrain.suspended().to_vec(),
            Layer::Hardness => match terrain.hardness() {
                Some(hardness) => hardness.to_vec(),
                None => vec![0.0; terrain.grid().cells()],
            },
            Layer::Lava => match terrain.lava() {
                Some(lava) => lava.to_vec(),
                None => vec![0.0; terrain.grid().cells()],
            },
        };
        Self::of(terrain, values)
    }

    /// A mask, in its [unit](Mask::unit). `None` if it is not computed, or no terrain
    /// has been seen yet.
    pub fn from_mask(masks: &TerrainMasks, mask: Mask) -> Option<Self> {
        let (grid, field) = (masks.grid()?, masks.field(mask)?);
        Some(Self {
            size: grid.size(),
            values: field.to_vec(),
            cell_size: Some(grid.cell_size()),
        })
    }

    fn of(terrain: &Terrain, values: Vec<f32>) -> Self {
        Self {
            size: terrain.size(),
            values,
            cell_size: Some(terrain.cell_size()),
        }
    }

    /// The same with another cell size. units: m
    pub fn with_cell_size(self, cell_size: f32) -> Self {
        Self {
            cell_size: Some(cell_size),
            ..self
        }
    }

    /// Bare bedrock of these heights.
    ///
    /// # Errors
    /// When the cell size is not known, or a value is out of range.
    pub fn into_terrain(self) -> Result<Terrain, HeightmapError> {
        let cell_size = self.cell_size.ok_or(HeightmapError::NeedsCellSize)?;
        Ok(Terrain::from_heights(self.size, cell_size, self.values)?)
    }

    /// The values, as a layer of a terrain or a weight map of rain, if the map has the
    /// size of that terrain's grid.
    ///
    /// # Errors
    /// When the sizes differ.
    pub fn into_layer(self, grid: &Grid) -> Result<Vec<f32>, HeightmapError> {
        if self.size != grid.size() {
            return Err(HeightmapError::SizeMismatch {
                found: self.size,
                expected: grid.size(),
            });
        }
        Ok(self.values)
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// When the bytes are not a file of that format, or the options do not say how to
    /// turn its numbers into metres.
    pub fn read(bytes: &[u8], options: &HeightmapOptions) -> Result<Self, HeightmapError> {
        let format = match options.format {
            Some(format) => format,
            None => HeightmapFormat::from_bytes(bytes).ok_or(HeightmapError::UnknownFormat)?,
        };
        options.check()?;
        let decoded = match format {
            HeightmapFormat::Png16 => png::read(bytes)?,
            HeightmapFormat::Raw16(endian) => raw::read16(bytes, options.size, endian)?,
            HeightmapFormat::Raw32(endian) => raw::read32(bytes, options.size, endian)?,
            HeightmapFormat::Exr => exr::read(bytes)?,
            HeightmapFormat::Tiff16 | HeightmapFormat::Tiff32 => {
                tiff::read(bytes, options.cell_size.is_some())?
            }
        };
        decoded.into_map(options)
    }

    /// Reads a file. Where the options name no format, its first bytes decide, then
    /// [its extension](HeightmapFormat::from_path).
    ///
    /// # Errors
    /// When the file cannot be read; otherwise as [`read`](Self::read).
    pub fn read_file(
        path: impl AsRef<Path>,
        options: &HeightmapOptions,
    ) -> Result<Self, HeightmapError> {
        let path = path.as_ref();
        let bytes = atomic::read(path, MAX_BYTES).map_err(|error| HeightmapError::File {
            path: path.into(),
            error,
        })?;
        Self::read_named(path, &bytes, options)
    }

    /// Reads the bytes of a file whose extension may tell its format.
    fn read_named(
        path: &Path,
        bytes: &[u8],
        options: &HeightmapOptions,
    ) -> Result<Self, HeightmapError> {
        let format = options.format.or_else(|| {
            let by_content = HeightmapFormat::from_bytes(bytes);
            by_content.or_else(|| HeightmapFormat::from_path(path))
        });
        Self::read(bytes, &HeightmapOptions { format, ..*options })
    }

    /// Writes a file's bytes.
    ///
    /// In files of whole numbers [`Vertical::Range`] is stretched over all of
    /// them, and [`Vertical::Scale`] says how many metres one stands for. In
    /// files of floats [`Vertical::Scale`] divides the values (1 leaves them
    /// alone), and a range goes to 0 … 1.
    ///
    /// # Errors
    /// When the map's size is invalid, or a value is not finite or out of range.
    pub fn write(
        &self,
        format: HeightmapFormat,
        vertical: Vertical,
    ) -> Result<Vec<u8>, HeightmapError> {
        self.check()?;
        vertical.check()?;
        let metadata = Metadata {
            vertical: Some(vertical),
            cell_size: self.cell_size,
        };
        match format {
            HeightmapFormat::Png16 => png::write(self.size, &self.whole(vertical)?, &metadata),
            HeightmapFormat::Raw16(endian) => Ok(raw::write16(&self.whole(vertical)?, endian)),
            HeightmapFormat::Raw32(endian) => Ok(raw::write32(&self.floats(vertical)?, endian)),
            HeightmapFormat::Exr => exr::write(self.size, self.floats(vertical)?, &metadata),
            HeightmapFormat::Tiff16 => tiff::write::<::tiff::encoder::colortype::Gray16>(
                self.size,
                &self.whole(vertical)?,
                &metadata,
            ),
            HeightmapFormat::Tiff32 => tiff::write::<::tiff::encoder::colortype::Gray32Float>(
                self.size,
                &self.floats(vertical)?,
                &metadata,
            ),
        }
    }

    /// [`write`](Self::write)s a file. An old file of that name stays as it was
    /// until the new one is complete.
    ///
    /// # Errors
    /// When the file cannot be written; otherwise as [`write`](Self::write).
    pub fn write_file(
        &self,
        path: impl AsRef<Path>,
        format: HeightmapFormat,
        vertical: Vertical,
    ) -> Result<(), HeightmapError> {
        let path = path.as_ref();
        let bytes = self.write(format, vertical)?;
        let written = atomic::write(path, |file: &mut dyn Write| file.write_all(&bytes));
        written.map_err(|error| HeightmapError::File {
            path: path.into(),
            error,
        })
    }

    fn check(&self) -> Result<(), HeightmapError> {
        check_size(self.size)?;
        let expected = cells(self.size) as usize;
        if self.values.len() != expected {
            return Err(HeightmapError::LengthMismatch {
                found: self.values.len(),
                expected,
                size: self.size,
            });
        }
        check_finite(self.size, &self.values)
    }

    /// The values as 16-bit numbers.
    fn whole(&self, vertical: Vertical) -> Result<Vec<u16>, HeightmapError> {
        let (lowest, step) = vertical.steps(&(0.0..=65_535.0));
        let whole = self.values.iter().map(|&value| {
            let number = ((f64::from(value) - lowest) / step).round();
            (0.0..=65_535.0).contains(&number).then_some(number as u16)
        });
        let whole: Option<Vec<u16>> = whole.collect();
        whole.ok_or_else(|| {
            let highest = lowest + 65_535.0 * step;
            let outside = |value: &f32| {
                !(0.0..=65_535.0).contains(&((f64::from(*value) - lowest) / step).round())
            };
            let index = self.values.iter().position(outside).unwrap_or_default();
            self.value_error(index, format!("the file can hold {lowest} to {highest}"))
        })
    }

    /// The values as floats.
    fn floats(&self, vertical: Vertical) -> Result<Vec<f32>, HeightmapError> {
        let (lowest, step) = vertical.steps(&(0.0..=1.0));
        let floats = self.values.iter();
        let floats = floats.map(|&value| ((f64::from(value) - lowest) / step) as f32);
        let floats: Vec<f32> = floats.collect();
        match floats.iter().position(|value| !value.is_finite()) {
            None => Ok(floats),
            Some(index) => {
                Err(self.value_error(index, "too large for the vertical scale or range".into()))
            }
        }
    }

    fn value_error(&self, index: usize, reason: String) -> HeightmapError {
        value_error(self.size, index, self.values[index], reason)
    }
}

fn value_error(size: UVec2, index: usize, value: f32, reason: String) -> HeightmapError {
    let width = (size.x as usize).max(1);
    HeightmapError::Value {
        x: (index % width) as u32,
        y: (index / width) as u32,
        value,
        reason,
    }
}

fn check_finite(size: UVec2, values: &[f32]) -> Result<(), HeightmapError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(value_error(
            size,
            index,
            values[index],
            "expected a finite number".into(),
        )),
    }
}

/// What a file holds, before it is turned into metres.
struct Decoded {
    size: UVec2,
    /// The file's own numbers. Those of 32 bits are rounded.
    values: Vec<f32>,
    /// The range of a file of whole numbers; `None` for floats.
    whole: Option<RangeInclusive<f64>>,
    metadata: Metadata,
    /// The number that marks cells without a value.
    no_data: Option<f32>,
}

impl Decoded {
    fn into_map(self, options: &HeightmapOptions) -> Result<Heightmap, HeightmapError> {
        let Self {
            size,
            whole,
            metadata,
            ..
        } = self;
        if let Some(expected) = options.size
            && expected != size
        {
            return Err(HeightmapError::SizeMismatch {
                found: size,
                expected,
            });
        }
        let mut values = self.values;
        let vertical = match (options.vertical.or(metadata.vertical), &whole) {
            (Some(vertical), _) => vertical,
            (None, None) => Vertical::METRES,
            (None, Some(_)) => return Err(HeightmapError::NeedsRange),
        };
        vertical.check()?;
        let (lowest, step) = vertical.steps(&whole.unwrap_or(0.0..=1.0));
        let no_data = self.no_data;
        for (index, value) in values.iter_mut().enumerate() {
            let missing = value.is_nan() || no_data == Some(*value);
            let metres = (lowest + f64::from(*value) * step) as f32;
            *value = match (missing, options.no_data) {
                (true, Some(instead)) => instead,
                (true, None) => {
                    let reason = "the file has no value here; set `no_data` to fill it".into();
                    return Err(value_error(size, index, *value, reason));
                }
                (false, _) if metres.is_finite() => metres,
                (false, _) => {
                    let reason = "expected a finite height".into();
                    return Err(value_error(size, index, *value, reason));
                }
            };
        }
        let cell_size = options.cell_size.or(metadata.cell_size);
        if let Some(cell_size) = cell_size {
            // Gives the error that a terrain would give.
            Grid::new(size, cell_size)?;
        }
        Ok(Heightmap {
            size,
            values,
            cell_size,
        })
    }
}

fn cells(size: UVec2) -> u64 {
    u64::from(size.x) * u64::from(size.y)
}

fn check_size(size: UVec2) -> Result<(), HeightmapError> {
    if size.min_element() == 0 || size.max_element() > Grid::MAX_SIDE {
        return Err(HeightmapError::Terrain(TerrainError::Size {
            width: size.x,
            height: size.y,
            max: Grid::MAX_SIDE,
        }));
    }
    Ok(())
}

/// Checks what a file declares before memory is taken for it: a valid size, and no
/// more bytes than a file of this length, or any, can hold.
fn check_declared(
    size: UVec2,
    declared: u64,
    file_length: usize,
    format: &'static str,
) -> Result<(), HeightmapError> {
    check_size(size)?;
    if declared > MAX_BYTES {
        let reason = format!("it declares {declared} bytes of cells, the limit is {MAX_BYTES}");
        return Err(HeightmapError::Damaged { format, reason });
    }
    let holds = (file_length as u64).saturating_mul(MAX_COMPRESSION_RATIO);
    if declared > holds {
        let reason = format!(
            "truncated: it declares {} × {} cells, but has only {file_length} bytes",
            size.x, size.y
        );
        return Err(HeightmapError::Damaged { format, reason });
    }
    Ok(())
}

/// Runs a decoder. Some panic on files that break their assumptions.
fn guarded<T>(
    format: &'static str,
    decode: impl FnOnce() -> Result<T, HeightmapError>,
) -> Result<T, HeightmapError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| {
        let reason = "the decoder panicked on its content".into();
        Err(HeightmapError::Damaged { format, reason })
    })
}
