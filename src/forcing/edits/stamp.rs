//! Stamps: small heightmaps that an edit adds to the ground.

use crate::terrain::SettingsError;
use bevy::{math::*, prelude::*};

/// A small heightmap that an edit adds to the ground: a crater, a cliff, a dune.
/// Its values, usually 0 to 1 or −1 to 1, are multiplied by the edit's strength.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Raw", into = "Raw")
)]
pub struct HeightStamp {
    size: UVec2,
    values: Vec<f32>,
}

/// The serialized form; deserializing checks it.
#[cfg(feature = "serialize")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "HeightStamp", deny_unknown_fields)]
struct Raw {
    size: (u32, u32),
    values: Vec<f32>,
}

#[cfg(feature = "serialize")]
impl TryFrom<Raw> for HeightStamp {
    type Error = SettingsError;

    fn try_from(raw: Raw) -> Result<Self, SettingsError> {
        Self::new(raw.size.into(), raw.values)
    }
}

#[cfg(feature = "serialize")]
impl From<HeightStamp> for Raw {
    fn from(stamp: HeightStamp) -> Self {
        Self {
            size: stamp.size.into(),
            values: stamp.values,
        }
    }
}

impl HeightStamp {
    /// The longest side.
    pub const MAX_SIDE: u32 = 4096;

    /// A stamp of `size` values along x and y, row by row.
    pub fn new(size: UVec2, values: Vec<f32>) -> Result<Self, SettingsError> {
        let wrong = |field, reason: String| Err(SettingsError::new("HeightStamp", field, reason));
        if size.min_element() == 0 || size.max_element() > Self::MAX_SIDE {
            let max = Self::MAX_SIDE;
            return wrong(
                "size",
                format!("each side must be 1 to {max}, was {} × {}", size.x, size.y),
            );
        }
        let expected = size.x as usize * size.y as usize;
        if values.len() != expected {
            let found = values.len();
            let reason = format!(
                "must have {expected} values for {} × {}, has {found}",
                size.x, size.y
            );
            return wrong("values", reason);
        }
        // NaN fails the comparison, so it is found too.
        if let Some(at) = values.iter().position(|v| !(-1e6..=1e6).contains(v)) {
            let value = values[at];
            return wrong(
                "values",
                format!("must be within ±1e6, was {value} at index {at}"),
            );
        }
        Ok(Self { size, values })
    }

    /// A round crater with a raised rim, of depth 1.
    pub fn crater() -> Self {
        let size = 65;
        let value = |i: u32| {
            let at = UVec2::new(i % size, i / size).as_vec2() / 32.0 - 1.0;
            let far = at.length();
            let (inner, outer) = (far / 0.7, ((1.0 - far) / 0.3).max(0.0));
            match far < 0.7 {
                true => 1.3 * inner * inner - 1.0,
                false => 0.3 * outer * outer,
            }
        };
        Self {
            size: UVec2::splat(size),
            values: (0..size * size).map(value).collect(),
        }
    }

    /// Values along x and y.
    #[inline]
    pub fn size(&self) -> UVec2 {
        self.size
    }

    /// The values, row by row.
    #[inline]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The interpolated value at a position, where −1 and 1 are the borders of the map.
    #[inline]
    pub fn at(&self, place: Vec2) -> f32 {
        let last = self.size - 1;
        let at = ((place * 0.5 + 0.5) * last.as_vec2()).clamp(Vec2::ZERO, last.as_vec2());
        let low = at.as_uvec2().min(last);
        let high = (low + 1).min(last);
        let t = at - low.as_vec2();
        let value = |x: u32, y: u32| self.values[(y * self.size.x + x) as usize];
        let north = value(low.x, low.y) * (1.0 - t.x) + value(high.x, low.y) * t.x;
        let south = value(low.x, high.y) * (1.0 - t.x) + value(high.x, high.y) * t.x;
        north * (1.0 - t.y) + south * t.y
    }
}
