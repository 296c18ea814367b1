//! What a game asks at a place: where its water goes, and how much comes through.

use super::{NONE, RiverLake, RiverNetwork, build::step_length};
use bevy::math::Vec3;

/// Where the water of a place goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drainage {
    /// Number of the basin; none for a place in the sea.
    pub basin: Option<u32>,
    /// The first lake on the way, by its number: that over the place itself, if there is
    /// one.
    pub lake: Option<u32>,
    /// The cell at which water leaves the land or enters the sea.
    pub outlet: u32,
    /// World position of that cell's ground. units: m
    pub position: Vec3,
    /// What is there.
    pub end: DrainageEnd,
    /// Length of the way. units: m
    pub length: f64,
}

/// What is at the end of the water's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainageEnd {
    /// Water leaves the land; in a land with walls all around it gathers there.
    Outlet,
    /// Water enters the sea.
    Sea,
}

impl RiverNetwork {
    /// The cell that covers a world position (its y is ignored); none beyond the land.
    pub fn cell_at(&self, position: Vec3) -> Option<usize> {
        let cell = self.grid.cell_at(position)?;
        Some(self.grid.index(cell.x, cell.y))
    }

    /// Where rain that falls at a world position goes; none beyond the land.
    pub fn drains_to(&self, position: Vec3) -> Option<Drainage> {
        let start = self.cell_at(position)?;
        let number = self.basin[start];
        let mut lakes = self.way(start).map(|cell| self.lake[cell]);
        let lake = lakes.find(|lake| *lake != NONE);
        let (mut cell, mut length) = (start, 0.0);
        for next in self.way(start).skip(1) {
            length += step_length(&self.grid, cell, next);
            cell = next;
        }
        let basin = self.basins.get(number as usize);
        Some(Drainage {
            basin: basin.map(|_| number),
            lake,
            outlet: cell as u32,
            position: self.position(cell),
            end: match basin {
                Some(basin) if !basin.at_sea => DrainageEnd::Outlet,
                _ => DrainageEnd::Sea,
            },
            length,
        })
    }

    /// The cells from one cell down to where its water leaves the land or enters the
    /// sea, both included. A cell that is not there gives none.
    pub fn way(&self, start: usize) -> impl Iterator<Item = usize> + '_ {
        let first = (start < self.toward.len()).then_some(start);
        core::iter::successors(first, move |&cell| {
            let next = self.receiver(cell)?;
            // The sea takes what comes.
            (self.basin[next] != NONE).then_some(next)
        })
    }

    /// The way of water from a world position, on the ground. Empty beyond the land.
    /// units: m
    pub fn path(&self, position: Vec3) -> Vec<Vec3> {
        match self.cell_at(position) {
            Some(start) => self.way(start).map(|cell| self.position(cell)).collect(),
            None => Vec::new(),
        }
    }

    /// Area that drains through the cell at a world position; none beyond the land.
    /// units: m²
    pub fn area_at(&self, position: Vec3) -> Option<f64> {
        Some(self.area(self.cell_at(position)?))
    }

    /// Water that runs through the cell at a world position; none beyond the land.
    /// units: m³/s
    pub fn discharge_at(&self, position: Vec3) -> Option<f32> {
        Some(self.discharge(self.cell_at(position)?))
    }

    /// The lake over a world position.
    pub fn lake_at(&self, position: Vec3) -> Option<&RiverLake> {
        let number = self.lake[self.cell_at(position)?];
        self.lakes.get(number as usize)
    }
}
