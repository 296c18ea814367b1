//! Rivers, which the host runs, as one map for the passes that draw.

use crate::terrain::Terrain;
use bevy::math::*;

/// All rivers in one box of cells around them, row by row.
#[derive(Default)]
pub(super) struct StreamMap {
    /// First cell of the box, and its size in cells.
    pub first: UVec2,
    pub size: UVec2,
    /// Depth (m), discharge along +X and +Z (m²/s), fresh deposit (m).
    pub cells: Vec<Vec4>,
}

impl StreamMap {
    /// All rivers of a terrain, if there are any.
    pub fn new(terrain: &Terrain) -> Option<Self> {
        let first = terrain.streams.iter().map(|patch| patch.first);
        let first = first.reduce(UVec2::min)?;
        let end = terrain.streams.iter().map(|patch| patch.first + patch.size);
        let size = end.reduce(UVec2::max)? - first;
        let mut cells = vec![Vec4::ZERO; (size.x * size.y) as usize];
        for patch in &terrain.streams {
            for (place, depth) in patch.depth.iter().enumerate() {
                let (x, y) = (place as u32 % patch.size.x, place as u32 / patch.size.x);
                let at = patch.first + UVec2::new(x, y) - first;
                let [x, y] = [0, 1].map(|axis| patch.velocity[axis][place] * depth);
                cells[(at.y * size.x + at.x) as usize] +=
                    Vec4::new(*depth, x, y, patch.fresh[place]);
            }
        }
        Some(Self { first, size, cells })
    }
}
