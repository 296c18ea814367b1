//! The course of a river in the world, as points and as a curve.

use super::RiverNetwork;
use bevy::math::{
    Vec3,
    cubic_splines::{CubicCardinalSpline, CubicCurve, CubicGenerator},
};

/// Rounds in which a course from cell to cell is smoothed for a curve.
const ROUNDS: usize = 4;

impl RiverNetwork {
    /// A river's points as world positions on the ground, downstream. Empty for a river
    /// that is not there. units: m
    pub fn positions(&self, river: usize) -> Vec<Vec3> {
        let points = self
            .rivers
            .get(river)
            .map_or(&[][..], |river| &river.points);
        let cells = points.iter().map(|point| point.cell as usize);
        cells.map(|cell| self.position(cell)).collect()
    }

    /// The same without the corners of cells: each round puts every point but the first
    /// and the last halfway between itself and the middle of its neighbors. units: m
    pub fn smooth_positions(&self, river: usize, rounds: usize) -> Vec<Vec3> {
        let mut positions = self.positions(river);
        for _ in 0..rounds {
            let mut before = match positions.first() {
                Some(first) => *first,
                None => break,
            };
            for at in 1..positions.len().saturating_sub(1) {
                let here = positions[at];
                positions[at] = 0.5 * here + 0.25 * (before + positions[at + 1]);
                before = here;
            }
        }
        positions
    }

    /// A river as a smooth curve in the world, for things that follow it: a part of the
    /// curve for each two points. It passes near the cells' centers; its height is near
    /// the ground's, which [`TerrainQuery`](crate::TerrainQuery) gives exactly. None for a
    /// river that is not there.
    ///
    /// ```
    /// # use bevy::math::UVec2;
    /// # use bevy_erode::drainage::network::{RiverNetwork, RiverSettings};
    /// # use bevy_erode::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let land = Terrain::generate(&Ridged::seeded(7), UVec2::splat(64), 8.0)?;
    /// let network = RiverNetwork::of(&land, &RiverSettings::default())?;
    /// let curve = network.curve(0).ok_or("no river")?;
    /// for boat in curve.iter_positions(100) {
    ///     println!("{boat}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn curve(&self, river: usize) -> Option<CubicCurve<Vec3>> {
        let points = self.smooth_positions(river, ROUNDS);
        CubicCardinalSpline::new_catmull_rom(points).to_curve().ok()
    }
}
