//! What a file of ours says of itself, as a short text in its metadata:
//! `lowest=-3.5 highest=120 cell_size=2`.

use super::VerticalRange;
use core::fmt;

/// Where the text is kept: PNG's keyword and EXR's attribute.
pub(super) const KEY: &str = "bevy_erode";

/// Longest text that is looked at.
const MOST: usize = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Note {
    pub range: Option<VerticalRange>,
    /// units: m
    pub cell_size: Option<f32>,
}

impl Note {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a note. What it does not understand says nothing.
    pub fn parse(text: &str) -> Self {
        let mut note = Self::default();
        if text.len() > MOST {
            return note;
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
                "cell_size" => note.cell_size = value.filter(|size| *size > 0.0),
                _ => {}
            }
        }
        if let (Some(lowest), Some(highest)) = (lowest, highest)
            && lowest < highest
        {
            note.range = Some(VerticalRange { lowest, highest });
        }
        note
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut space = "";
        if let Some(VerticalRange { lowest, highest }) = self.range {
            write!(f, "lowest={lowest} highest={highest}")?;
            space = " ";
        }
        if let Some(cell_size) = self.cell_size {
            write!(f, "{space}cell_size={cell_size}")?;
        }
        Ok(())
    }
}
