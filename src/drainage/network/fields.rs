//! The network cell by cell.

use super::{NONE, RiverNetwork};
use crate::drainage::routing::DIRECTIONS;

/// Something that a network says of each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RiverField {
    /// Where water goes: 1 east, 2 south-east and so on clockwise (as seen from above, south
    /// is +Z) to 8 north-east; 0 where it leaves the land.
    Direction,
    /// Area that drains through the cell. units: m²
    Area,
    /// Water that runs through the cell. units: m³/s
    Discharge,
    /// Number of the basin, from 1 on; 0 in the sea.
    Basin,
    /// Strahler order; 0 where there is no river.
    Order,
    /// Width of the river; 0 where there is none. units: m
    Width,
    /// Depth of the lake; 0 where there is none. units: m
    LakeDepth,
}

impl RiverField {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Direction,
        Self::Area,
        Self::Discharge,
        Self::Basin,
        Self::Order,
        Self::Width,
        Self::LakeDepth,
    ];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direction => "direction",
            Self::Area => "area",
            Self::Discharge => "discharge",
            Self::Basin => "basin",
            Self::Order => "order",
            Self::Width => "width",
            Self::LakeDepth => "lake depth",
        }
    }

    /// Its unit; empty for a number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Area => "m²",
            Self::Discharge => "m³/s",
            Self::Width | Self::LakeDepth => "m",
            Self::Direction | Self::Basin | Self::Order => "",
        }
    }

    /// Whether its values are whole numbers, which must not be stretched in a file.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Direction | Self::Basin | Self::Order)
    }
}

/// Numbers of [`RiverField::Direction`] by index into [`DIRECTIONS`], and of an outlet.
const CLOCKWISE: [u8; DIRECTIONS.len() + 1] = [1, 5, 3, 7, 2, 4, 8, 6, 0];

impl RiverNetwork {
    /// Values of a field, row by row.
    pub fn field(&self, field: RiverField) -> Vec<f32> {
        let cells = 0..self.toward.len();
        match field {
            RiverField::Direction => self.directions_clockwise().map(f32::from).collect(),
            RiverField::Area => cells.map(|cell| self.area(cell) as f32).collect(),
            RiverField::Discharge => cells.map(|cell| self.discharge(cell)).collect(),
            RiverField::Basin => {
                let numbers = self.basin.iter();
                numbers
                    .map(|number| number.wrapping_add(1) as f32)
                    .collect()
            }
            RiverField::Order => self.orders.iter().copied().map(f32::from).collect(),
            RiverField::Width => cells.map(|cell| self.width_at_cell(cell)).collect(),
            RiverField::LakeDepth => cells.map(|cell| self.lake_depth(cell)).collect(),
        }
    }

    /// Directions as [`RiverField::Direction`] counts them.
    pub fn directions_clockwise(&self) -> impl Iterator<Item = u8> + '_ {
        let directions = self.toward.iter();
        directions.map(|&direction| CLOCKWISE[(direction as usize).min(DIRECTIONS.len())])
    }

    /// Depth of the lake over a cell; 0 where there is none. units: m
    pub fn lake_depth(&self, cell: usize) -> f32 {
        let number = self.lake.get(cell).copied().unwrap_or(NONE);
        let lake = self.lakes.get(number as usize);
        lake.map_or(0.0, |lake| lake.level - self.ground[cell])
    }

    /// Width of the river through a cell, 0 where there is none. units: m
    fn width_at_cell(&self, cell: usize) -> f32 {
        match self.orders[cell] > 0 && self.lake[cell] == NONE {
            true => self.settings.width_of(self.discharge(cell)),
            false => 0.0,
        }
    }

    /// A color for each basin, in linear RGB: the same for the same number, and hardly ever
    /// alike for neighbors. The sea is black.
    pub fn basin_color(&self, cell: usize) -> [f32; 3] {
        match self.basin.get(cell) {
            Some(&number) if number != NONE => {
                let mixed = crate::drainage::routing::scramble(number.wrapping_add(1));
                let channel = |shift: u32| 0.05 + 0.6 * ((mixed >> shift) & 255) as f32 / 255.0;
                [channel(0), channel(8), channel(16)]
            }
            _ => [0.0; 3],
        }
    }
}

#[cfg(feature = "io")]
impl crate::io::Heightmap {
    /// A field of a river network, in its [unit](RiverField::unit).
    pub fn from_rivers(network: &RiverNetwork, field: RiverField) -> Self {
        Self {
            size: network.grid().size(),
            values: network.field(field),
            cell_size: Some(network.grid().cell_size()),
        }
    }
}
