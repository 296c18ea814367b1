//! What lies beyond the land's four sides, for water.

use super::TerrainError;
use bevy::prelude::Reflect;

/// One side of the land.
///
/// [The guide](crate::guide::terrain) has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub enum Border {
    /// A wall: nothing passes.
    Wall,
    /// The land goes on as it does at its edge: water and what it carries leave.
    #[default]
    Open,
    /// A sea of fixed level (an elevation): water comes in and goes out.
    Sea {
        /// Elevation of the sea's surface. units: m
        level: f32,
    },
}

/// All four sides; open by default.
///
/// [The guide](crate::guide::terrain) has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Borders {
    /// The side towards −X.
    pub west: Border,
    /// The side towards +X.
    pub east: Border,
    /// The side towards −Z.
    pub north: Border,
    /// The side towards +Z.
    pub south: Border,
}

impl Borders {
    /// The same on all sides.
    pub fn all(border: Border) -> Self {
        Self {
            west: border,
            east: border,
            north: border,
            south: border,
        }
    }

    /// Walls all around: a closed basin.
    pub fn closed() -> Self {
        Self::all(Border::Wall)
    }

    pub(crate) fn check(&self) -> Result<(), TerrainError> {
        let sides = [
            ("west", self.west),
            ("east", self.east),
            ("north", self.north),
            ("south", self.south),
        ];
        for (side, border) in sides {
            if let Border::Sea { level } = border
                && !(-1e9..=1e9).contains(&level)
            {
                return Err(TerrainError::SeaLevel { side, level });
            }
        }
        Ok(())
    }
}
