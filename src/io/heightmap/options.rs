//! Formats, and how a file's numbers become metres.

use super::HeightmapError;
use bevy::math::UVec2;
use core::ops::RangeInclusive;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Byte order of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Endian {
    /// The lowest byte first, as almost all programs write RAW files.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

/// A file format. Reading accepts any kind of PNG, EXR and TIFF: also of 8 bits, and
/// of color images the first channel (red), without alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeightmapFormat {
    /// Gray PNG of 16 bits.
    Png16,
    /// 16-bit numbers without any header: `.r16`, `.raw`.
    Raw16(Endian),
    /// 32-bit floats without any header: `.r32`, `.r32f`.
    Raw32(Endian),
    /// OpenEXR, 32-bit floats in a channel `Y`. Reading takes `Y`, else `R`, else
    /// the first channel.
    Exr,
    /// Gray TIFF of 16 bits. Reading takes any TIFF.
    Tiff16,
    /// Gray TIFF of 32-bit floats. Reading takes any TIFF.
    Tiff32,
}

impl HeightmapFormat {
    /// The format of a file that begins like this.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png16),
            [0x76, 0x2f, 0x31, 0x01, ..] => Some(Self::Exr),
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Some(Self::Tiff32),
            _ => None,
        }
    }

    /// The format by a file's extension: `.png`, `.exr`, `.tif` and
    /// `.tiff` (of floats), `.r16` and `.raw`, `.r32` and `.r32f` (little-endian).
    pub fn from_path(path: impl AsRef<Path>) -> Option<Self> {
        let extension = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "png" => Some(Self::Png16),
            "exr" => Some(Self::Exr),
            "tif" | "tiff" => Some(Self::Tiff32),
            "r16" | "raw" => Some(Self::Raw16(Endian::Little)),
            "r32" | "r32f" => Some(Self::Raw32(Endian::Little)),
            _ => None,
        }
    }
}

/// A range of heights. units: m
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerticalRange {
    /// Height of the smallest number. units: m
    pub lowest: f32,
    /// Height of the largest number. units: m
    pub highest: f32,
}

impl VerticalRange {
    /// A range from the lowest to the highest height. units: m
    pub fn new(lowest: f32, highest: f32) -> Self {
        Self { lowest, highest }
    }

    /// The smallest range that holds all values; a metre high where they are equal.
    pub fn from_values(values: &[f32]) -> Self {
        let lowest = values.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if lowest < highest {
            Self::new(lowest, highest)
        } else if lowest.is_finite() {
            // A metre vanishes beside a huge number.
            Self::new(lowest, lowest + lowest.abs().max(1.0))
        } else {
            Self::new(0.0, 1.0)
        }
    }
}

/// How a file's numbers are turned into heights and back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Vertical {
    /// The smallest number that the file can hold (0) is the lowest height, the largest
    /// (65 535 for 16 bits, 1 for floats) the highest.
    Range(VerticalRange),
    /// Metres per unit: 1 where a file holds metres, 0.3048 for feet.
    Scale(f32),
}

impl Vertical {
    /// The file's numbers are metres.
    pub const METRES: Self = Self::Scale(1.0);

    pub(super) fn check(&self) -> Result<(), HeightmapError> {
        let wrong = |what, reason| Err(HeightmapError::Vertical { what, reason });
        match *self {
            Self::Range(VerticalRange { lowest, highest }) => {
                let within = |height: f32| (-1e9..=1e9).contains(&height);
                if !(within(lowest) && within(highest) && lowest < highest) {
                    let reason = format!(
                        "expected lowest < highest, both within ±1e9 m, found {lowest} m to \
                         {highest} m"
                    );
                    return wrong("range", reason);
                }
            }
            Self::Scale(scale) => {
                if !(1e-9..=1e9).contains(&scale) {
                    let reason = format!("expected 1e-9 to 1e9 metres per unit, found {scale}");
                    return wrong("scale", reason);
                }
            }
        }
        Ok(())
    }

    /// Height of the number 0, and metres per unit, in a file of these numbers.
    pub(super) fn steps(&self, numbers: &RangeInclusive<f64>) -> (f64, f64) {
        match *self {
            Self::Scale(scale) => (0.0, scale.into()),
            Self::Range(VerticalRange { lowest, highest }) => {
                let (lowest, highest) = (f64::from(lowest), f64::from(highest));
                let step = (highest - lowest) / (numbers.end() - numbers.start());
                (lowest - numbers.start() * step, step)
            }
        }
    }
}

impl From<VerticalRange> for Vertical {
    fn from(range: VerticalRange) -> Self {
        Self::Range(range)
    }
}

/// What a file does not say itself. These are the asset loader's settings, too.
///
/// [The guide](crate::guide::files) has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeightmapOptions {
    /// The format. RAW files need it; others are recognized by their first bytes.
    pub format: Option<HeightmapFormat>,
    /// Cells along x and y. RAW files need it; for others it is the size expected.
    pub size: Option<UVec2>,
    /// How numbers become metres. Files of whole numbers need it, unless this
    /// crate wrote them; floats are metres otherwise.
    pub vertical: Option<Vertical>,
    /// Side of a cell, instead of what the file says. units: m
    pub cell_size: Option<f32>,
    /// Height of cells for which the file has none (not a number, or GDAL's
    /// no-data value); otherwise such cells are an error. units: m
    pub no_data: Option<f32>,
}

impl HeightmapOptions {
    pub(super) fn check(&self) -> Result<(), HeightmapError> {
        if let Some(vertical) = &self.vertical {
            vertical.check()?;
        }
        match self.no_data {
            Some(height) if !height.is_finite() => Err(HeightmapError::Vertical {
                what: "no_data",
                reason: format!("expected a finite height, found {height}"),
            }),
            _ => Ok(()),
        }
    }
}
