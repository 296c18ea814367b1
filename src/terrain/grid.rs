//! The one place that knows where a cell lies in the world.
//!
//! Row-major; grid x → world +X, grid y → world +Z, height → world +Y. Samples
//! are cell-centered: cell (i, j) covers `cell_size`² and its center lies at
//! `origin + ((i + ½)·l − W·l/2, 0, (j + ½)·l − H·l/2)`.

use super::TerrainError;
use bevy::{math::*, prelude::Reflect};

/// Side of a tile in cells: the unit of change tracking and of chunk meshes.
pub const TILE: u32 = 64;

/// Size, resolution and place of a terrain.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub struct Grid {
    size: UVec2,
    cell_size: f32,
    origin: Vec3,
}

impl Grid {
    /// The largest number of cells along one side.
    pub const MAX_SIDE: u32 = 16_384;

    /// A grid of `size` cells of `cell_size` metres, centered on the world's origin.
    pub fn new(size: UVec2, cell_size: f32) -> Result<Self, TerrainError> {
        if size.min_element() == 0 || size.max_element() > Self::MAX_SIDE {
            return Err(TerrainError::Size {
                width: size.x,
                height: size.y,
                max: Self::MAX_SIDE,
            });
        }
        if !(1e-3..=1e5).contains(&cell_size) {
            return Err(TerrainError::CellSize(cell_size));
        }
        Ok(Self {
            size,
            cell_size,
            origin: Vec3::ZERO,
        })
    }

    /// Moves the grid's center to `origin`. units: m
    pub fn with_origin(mut self, origin: Vec3) -> Result<Self, TerrainError> {
        if !origin.is_finite() {
            return Err(TerrainError::Origin(origin.x, origin.y, origin.z));
        }
        self.origin = origin;
        Ok(self)
    }

    /// Whether another grid has the same cells, wherever it lies.
    #[inline]
    pub fn matches(&self, other: &Grid) -> bool {
        self.size == other.size && self.cell_size == other.cell_size
    }

    /// Cells along x and y.
    #[inline]
    pub fn size(&self) -> UVec2 {
        self.size
    }

    /// Cells along x.
    #[inline]
    pub fn width(&self) -> usize {
        self.size.x as usize
    }

    /// Cells along y (rows).
    #[inline]
    pub fn height(&self) -> usize {
        self.size.y as usize
    }

    /// Number of cells.
    #[inline]
    pub fn cells(&self) -> usize {
        self.width() * self.height()
    }

    /// Side of a cell. units: m
    #[inline]
    pub fn cell_size(&self) -> f32 {
        self.cell_size
    }

    /// Area of a cell. units: m²
    #[inline]
    pub fn cell_area(&self) -> f64 {
        f64::from(self.cell_size) * f64::from(self.cell_size)
    }

    /// World position of the grid's center at height zero. units: m
    #[inline]
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Width and depth of the land. units: m
    #[inline]
    pub fn extent(&self) -> Vec2 {
        self.size.as_vec2() * self.cell_size
    }

    /// Position of cell (x, y) in a layer.
    #[inline]
    pub fn index(&self, x: u32, y: u32) -> usize {
        y as usize * self.width() + x as usize
    }

    /// World position of a cell's center, at height zero. units: m
    #[inline]
    pub fn cell_center(&self, x: u32, y: u32) -> Vec3 {
        let half = self.extent() * 0.5;
        self.origin
            + Vec3::new(
                (x as f32 + 0.5) * self.cell_size - half.x,
                0.0,
                (y as f32 + 0.5) * self.cell_size - half.y,
            )
    }

    /// Continuous grid coordinates of a world position: cell (i, j)'s center is
    /// at exactly (i, j). Not limited to the grid.
    #[inline]
    pub fn world_to_grid(&self, position: Vec3) -> Vec2 {
        let from_corner = (position - self.origin).xz() + self.extent() * 0.5;
        from_corner / self.cell_size - 0.5
    }

    /// The cell that covers a world position, or `None` outside the land.
    #[inline]
    pub fn cell_at(&self, position: Vec3) -> Option<UVec2> {
        let cell = (self.world_to_grid(position) + 0.5).floor();
        let inside = cell.cmpge(Vec2::ZERO).all() && cell.cmplt(self.size.as_vec2()).all();
        inside.then(|| cell.as_uvec2())
    }

    /// Number of tiles along x and y.
    #[inline]
    pub fn tiles(&self) -> UVec2 {
        UVec2::new(self.size.x.div_ceil(TILE), self.size.y.div_ceil(TILE))
    }

    /// Number of chunks along x and y: one for each 64 quads begun. A terrain
    /// that is a single row or column has none.
    #[inline]
    pub fn chunks(&self) -> UVec2 {
        let quads = self.size - 1;
        if quads.min_element() == 0 {
            return UVec2::ZERO;
        }
        UVec2::new(quads.x.div_ceil(TILE), quads.y.div_ceil(TILE))
    }

    /// First and last cell of a chunk; both are vertices of its mesh, and of
    /// those of its neighbors.
    #[inline]
    pub fn chunk_cells(&self, chunk: UVec2) -> (UVec2, UVec2) {
        let last = self.size - 1;
        let first = (chunk * TILE).min(last);
        (first, (first + TILE).min(last))
    }

    /// World position, at height zero, of a chunk's first cell: its vertices
    /// count from there. units: m
    #[inline]
    pub fn chunk_corner(&self, chunk: UVec2) -> Vec3 {
        self.cell_center(chunk.x * TILE, chunk.y * TILE)
    }

    /// Row-major numbers of the chunks that may depend on a tile: each reads its
    /// own tile, and a cell or two of those around it.
    #[inline]
    pub fn chunks_of_tile(&self, tile: UVec2) -> impl Iterator<Item = usize> + Clone + use<> {
        let chunks = self.chunks();
        let from = tile.saturating_sub(UVec2::ONE);
        let to = (tile + 2).min(chunks);
        (from.y..to.y).flat_map(move |y| (from.x..to.x).map(move |x| (y * chunks.x + x) as usize))
    }

    /// Column and row of the tile of a row-major number.
    #[inline]
    pub(crate) fn tile_at(&self, number: usize) -> UVec2 {
        let wide = self.tiles().x.max(1) as usize;
        UVec2::new((number % wide) as u32, (number / wide) as u32)
    }

    /// Indices of a tile's cells, by the tile's row-major number, row by row.
    #[inline]
    pub(crate) fn tile_indices(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let (columns, rows) = self.tile_cells(self.tile_at(number));
        let width = self.width();
        rows.flat_map(move |y| columns.clone().map(move |x| y * width + x))
    }

    /// The cells of a tile: columns and rows, cut at the grid's edge.
    #[inline]
    pub fn tile_cells(&self, tile: UVec2) -> (core::ops::Range<usize>, core::ops::Range<usize>) {
        let from = tile * TILE;
        let to = (from + TILE).min(self.size);
        (
            from.x as usize..to.x.max(from.x) as usize,
            from.y as usize..to.y.max(from.y) as usize,
        )
    }
}
