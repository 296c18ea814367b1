//! What this crate writes into a file's metadata, as a short text:
//! `lowest=-3.5 highest=120 cell_size=2`, or `scale=0.3048` instead of a range.

use super::{Vertical, VerticalRange};
use core::fmt;

/// Where the text is kept: PNG's keyword, EXR's attribute, first word of TIFF's image
/// description.
pub(super) const KEY: &str = "bevy_erode";

/// Longest text that is parsed. units: bytes
const MAX_LENGTH: usize = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub vertical: Option<Vertical>,
    /// units: m
    pub cell_size: Option<f32>,
}

impl Metadata {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the text. Unknown or invalid parts of it are ignored.
    pub fn parse(text: &str) -> Self {
        let mut metadata = Self::default();
        if text.len() > MAX_LENGTH {
            return metadata;
        }
        let (mut lowest, mut highest) = (None, None);
        for word in text.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else {
                continue;
            };
            let value: Option<f32> = value.parse().ok();
            let value = value.filter(|value| value.is_finite());
            match name {
                "lowest" => lowest = value,
                "highest" => highest = value,
                "scale" => metadata.vertical = value.map(Vertical::Scale),
                "cell_size" => metadata.cell_size = value.filter(|size| *size > 0.0),
                _ => {}
            }
        }
        if let (Some(lowest), Some(highest)) = (lowest, highest)
            && lowest < highest
        {
            metadata.vertical = Some(VerticalRange { lowest, highest }.into());
        }
        // Invalid ranges and scales are ignored, too.
        metadata.vertical = metadata
            .vertical
            .filter(|vertical| vertical.check().is_ok());
        metadata
    }
}

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut space = "";
        match self.vertical {
            Some(Vertical::Range(VerticalRange { lowest, highest })) => {
                write!(f, "lowest={lowest} highest={highest}")?;
                space = " ";
            }
            Some(Vertical::Scale(scale)) => {
                write!(f, "scale={scale}")?;
                space = " ";
            }
            None => {}
        }
        if let Some(cell_size) = self.cell_size {
            write!(f, "{space}cell_size={cell_size}")?;
        }
        Ok(())
    }
}
