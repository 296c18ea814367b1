//! The heights of one chunk, as a collider needs them.

use crate::terrain::{Grid, Terrain};
use bevy::math::*;

/// Rings of neighboring cells that a collider has around its own.
const RINGS: u32 = 2;

/// How far each ring lies below the ground, the second twice as far as the
/// first, as a part of a cell's side.
const RING_DROP: f32 = 0.01;

/// How far colliders lie aside of the mesh, in cells. See [`ChunkPlace::middle`].
const ASIDE: f32 = 1.0 / 4096.0;

/// Which cells a chunk's collider is made of, and where it lies.
///
/// Beside its own vertices it has two rings of its neighbors', a little below
/// their ground. So no ray slips between two colliders by a rounding error, and
/// nothing that slides catches on an internal edge: parry lets a triangle without
/// a neighbor push sideways, in any direction. With one ring such triangles
/// would still touch the border; with two they lie below the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChunkPlace {
    grid: Grid,
    /// First and last cell of the chunk itself.
    first: UVec2,
    last: UVec2,
    /// First and last cell with the rings, which end at the land's edge.
    from: UVec2,
    to: UVec2,
}

impl ChunkPlace {
    /// The place of a chunk of a grid.
    pub fn new(grid: &Grid, chunk: UVec2) -> Self {
        let (first, last) = grid.chunk_cells(chunk);
        Self {
            grid: *grid,
            first,
            last,
            from: first.saturating_sub(UVec2::splat(RINGS)),
            to: (last + RINGS).min(grid.size() - 1),
        }
    }

    /// Vertices along x and z.
    #[inline]
    pub fn vertices(&self) -> UVec2 {
        self.to - self.from + 1
    }

    /// Width and depth of the collider. units: m
    #[inline]
    pub fn extent(&self) -> Vec2 {
        (self.to - self.from).as_vec2() * self.grid.cell_size()
    }

    /// World position of the collider's middle, for heights that count from
    /// elevation `base`: by 1 part in 4096 of a cell aside, for parry may lose a
    /// ray that meets an edge of a triangle exactly, and cells' centers and
    /// corners are where games cast rays. units: m
    pub fn middle(&self, base: f32) -> Vec3 {
        let first = self.grid.cell_center(self.from.x, self.from.y);
        let half = self.extent() * 0.5 + ASIDE * self.grid.cell_size();
        first + Vec3::new(half.x, base, half.y)
    }

    /// Height above the base at continuous grid coordinates, on the same
    /// triangles as the collider's and the mesh's; `None` outside the chunk.
    /// `heights` are column by column, as in [`ChunkHeights::by_columns`].
    #[inline]
    pub fn surface(&self, heights: &[f32], at: Vec2) -> Option<f32> {
        if at.cmplt(self.first.as_vec2()).any() || at.cmpgt(self.last.as_vec2()).any() {
            return None;
        }
        let cell = at.as_uvec2().min(self.last - 1);
        let Vec2 { x, y } = at - cell.as_vec2();
        let pitch = self.vertices().y;
        let height = |right: u32, down: u32| {
            let local = cell + UVec2::new(right, down) - self.from;
            heights.get((local.x * pitch + local.y) as usize).copied()
        };
        let (north_east, south_west) = (height(1, 0)?, height(0, 1)?);
        Some(if x + y <= 1.0 {
            let north_west = height(0, 0)?;
            north_west + (north_east - north_west) * x + (south_west - north_west) * y
        } else {
            let south_east = height(1, 1)?;
            south_east
                + (south_west - south_east) * (1.0 - x)
                + (north_east - south_east) * (1.0 - y)
        })
    }
}

/// A copy of a chunk's ground, so that its collider can be built while the
/// simulation goes on. Lava counts as ground: it is heavier than what falls on it.
#[derive(Clone, Debug)]
pub struct ChunkHeights {
    /// Which cells they are.
    pub place: ChunkPlace,
    /// Elevation that the heights count from: small numbers are precise ones,
    /// on a hill at 3000 m too. units: m
    pub base: f32,
    /// Heights above the base, row by row. units: m
    rows: Vec<f32>,
}

impl ChunkHeights {
    /// Copies the ground of a chunk; without a `base` to count from, its lowest
    /// whole metre becomes one.
    pub fn copy(terrain: &Terrain, chunk: UVec2, base: Option<f32>) -> Self {
        let grid = terrain.grid();
        let place = ChunkPlace::new(grid, chunk);
        let mut rows = Vec::with_capacity(place.vertices().element_product() as usize);
        for y in place.from.y..=place.to.y {
            let row = grid.index(place.from.x, y)..grid.index(place.to.x, y) + 1;
            let layers = terrain.bedrock()[row.clone()]
                .iter()
                .zip(&terrain.soil()[row.clone()]);
            let start = rows.len();
            rows.extend(layers.map(|(bedrock, soil)| bedrock + soil));
            if let Some(lava) = terrain.lava() {
                for (height, lava) in rows[start..].iter_mut().zip(&lava[row]) {
                    *height += lava;
                }
            }
        }
        let base = base.unwrap_or_else(|| {
            let lowest = rows.iter().copied().fold(f32::INFINITY, f32::min);
            lowest.floor()
        });
        rows.iter_mut().for_each(|height| *height -= base);
        Self { place, base, rows }
    }

    /// Heights above the base column by column, the rings lowered: the order
    /// that parry wants, its rows along z.
    pub fn by_columns(&self) -> Vec<f32> {
        let ChunkPlace {
            first, last, from, ..
        } = self.place;
        let size = self.place.vertices();
        let drop = RING_DROP * self.place.grid.cell_size();
        let mut columns = Vec::with_capacity(self.rows.len());
        for x in 0..size.x {
            for y in 0..size.y {
                let cell = from + UVec2::new(x, y);
                let beyond = first.saturating_sub(cell).max(cell.saturating_sub(last));
                let height = self.rows[(y * size.x + x) as usize];
                columns.push(height - drop * beyond.max_element() as f32);
            }
        }
        columns
    }
}
