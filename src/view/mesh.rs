//! Builds the mesh of one chunk from a copy of its cells.

use super::{
    Overlay, TerrainView,
    colours::{Spot, Variation, wetness},
};
use crate::{
    parallel::Workers,
    terrain::{Grid, Terrain},
};
use bevy::{
    asset::RenderAssetUsages,
    camera::primitives::Aabb,
    math::*,
    mesh::{Indices, Mesh, PrimitiveTopology},
};

/// What the ground was when the view first saw it.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Ground of every cell. units: m
    pub ground: Vec<f32>,
    /// Natural variation of the colours.
    variation: Vec<Variation>,
    lowest: f32,
    relief: f32,
}

impl Baseline {
    /// Takes the ground as it is now.
    pub fn of(terrain: &Terrain) -> Self {
        let ground = terrain.ground_heights();
        let lowest = ground.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = ground.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut variation = vec![Variation::default(); ground.len()];
        let rows = variation.chunks_mut(terrain.grid().width()).enumerate();
        Workers::global().each(rows, |(y, row)| {
            for (x, variation) in row.iter_mut().enumerate() {
                *variation = Variation::at(Vec2::new(x as f32, y as f32) * terrain.cell_size());
            }
        });
        Self {
            variation,
            lowest,
            relief: (highest - lowest).max(1e-3),
            ground,
        }
    }
}

/// A fingerprint of how wet a chunk's ground looks. Water that changes without
/// changing it, such as a lake's, needs no new mesh of the ground.
pub(super) fn wet_look(terrain: &Terrain, chunk: UVec2) -> u64 {
    let grid = terrain.grid();
    let (first, last) = grid.chunk_cells(chunk);
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for y in first.y..=last.y {
        let row = grid.index(first.x, y)..grid.index(last.x, y) + 1;
        for &depth in &terrain.water()[row] {
            let level = (wetness(depth) * 8.0) as u64;
            hash = (hash ^ level).wrapping_mul(0x100_0000_01B3);
        }
    }
    hash
}

/// A copy of all that a chunk's mesh depends on, so that it can be built while
/// the simulation goes on.
#[derive(Clone, Debug)]
pub struct ChunkSource {
    /// First cell of the chunk, and its vertices along x and y.
    first: UVec2,
    vertices: UVec2,
    /// Cells copied: the vertices and a ring around them, cut at the border.
    from: UVec2,
    size: UVec2,
    grid: Grid,
    cells: Vec<Cell>,
    /// What the overlay shows of each vertex; empty unless it shows water.
    measures: Vec<f32>,
    lowest: f32,
    relief: f32,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    ground: f32,
    soil: f32,
    water: f32,
    before: f32,
    variation: Variation,
}

impl ChunkSource {
    /// Copies the cells of a chunk, and what an overlay shows of them.
    pub fn copy(terrain: &Terrain, baseline: &Baseline, overlay: Overlay, chunk: UVec2) -> Self {
        let grid = *terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let from = first.saturating_sub(UVec2::ONE);
        let to = (last + 1).min(grid.size() - 1);
        let size = to - from + 1;
        let mut cells = Vec::with_capacity(size.element_product() as usize);
        for y in from.y..=to.y {
            let row = grid.index(from.x, y)..=grid.index(to.x, y);
            cells.extend(row.map(|i| Cell {
                ground: terrain.ground(i),
                soil: terrain.soil()[i],
                water: terrain.water()[i],
                before: baseline.ground.get(i).copied().unwrap_or_default(),
                variation: baseline.variation.get(i).copied().unwrap_or_default(),
            }));
        }
        let mut measures = Vec::new();
        if overlay.shows_water() {
            for y in first.y..=last.y {
                measures.extend((first.x..=last.x).map(|x| overlay.measure(terrain, x, y)));
            }
        }
        Self {
            first,
            vertices: last - first + 1,
            from,
            size,
            grid,
            cells,
            measures,
            lowest: baseline.lowest,
            relief: baseline.relief,
        }
    }

    fn cell(&self, x: u32, y: u32) -> &Cell {
        &self.cells[((y - self.from.y) * self.size.x + (x - self.from.x)) as usize]
    }

    /// Rise per metre along +X and +Z, by the same rule as [`Terrain::slope`].
    fn slope(&self, x: u32, y: u32, height: impl Fn(&Cell) -> f32) -> Vec2 {
        let last = self.grid.size() - 1;
        let (west, east) = (x.saturating_sub(1), (x + 1).min(last.x));
        let (north, south) = (y.saturating_sub(1), (y + 1).min(last.y));
        let l = self.grid.cell_size();
        Vec2::new(
            (height(self.cell(east, y)) - height(self.cell(west, y))) / ((east - west) as f32 * l),
            (height(self.cell(x, south)) - height(self.cell(x, north)))
                / ((south - north) as f32 * l),
        )
    }

    /// Builds the mesh and its bounds.
    pub fn build(&self, view: &TerrainView) -> (Mesh, Aabb) {
        let count = self.vertices.element_product() as usize;
        let mut positions = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut uvs = Vec::with_capacity(count);
        let mut colours = Vec::with_capacity(count);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        let l = self.grid.cell_size();
        let height = |cell: &Cell| {
            if view.before {
                cell.before
            } else {
                cell.ground
            }
        };
        for y in 0..self.vertices.y {
            for x in 0..self.vertices.x {
                let at = self.first + UVec2::new(x, y);
                let cell = self.cell(at.x, at.y);
                let ground = height(cell);
                lowest = lowest.min(ground);
                highest = highest.max(ground);
                positions.push([x as f32 * l, ground, y as f32 * l]);
                let slope = self.slope(at.x, at.y, height);
                let normal = Vec3::new(-slope.x, 1.0, -slope.y).normalize();
                normals.push(normal.to_array());
                uvs.push(((at.as_vec2() + 0.5) / self.grid.size().as_vec2()).to_array());
                let spot = Spot {
                    variation: cell.variation,
                    relative_height: (ground - self.lowest) / self.relief,
                    up: normal.y,
                    soil: cell.soil,
                    change: ground - cell.before,
                    // Water that is not drawn leaves the land dry too.
                    water: if view.before { 0.0 } else { cell.water },
                    measure: self
                        .measures
                        .get(colours.len())
                        .copied()
                        .unwrap_or_default(),
                };
                let colour = view.palette.colour(&spot, view.overlay);
                colours.push([colour.red, colour.green, colour.blue, 1.0]);
            }
        }
        let extent = (self.vertices - 1).as_vec2() * l;
        let bounds = Aabb::from_min_max(
            Vec3::new(0.0, lowest, 0.0),
            Vec3::new(extent.x, highest, extent.y),
        );
        let mesh = Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colours)
        .with_inserted_indices(Indices::U16(self.indices()));
        (mesh, bounds)
    }

    /// Two triangles a quad, split along the diagonal from +X to +Z.
    fn indices(&self) -> Vec<u16> {
        let quads = self.vertices - 1;
        let pitch = self.vertices.x as u16;
        let mut indices = Vec::with_capacity(quads.element_product() as usize * 6);
        for y in 0..quads.y as u16 {
            for x in 0..quads.x as u16 {
                let north_west = y * pitch + x;
                let south_west = north_west + pitch;
                indices.extend([north_west, south_west, north_west + 1]);
                indices.extend([north_west + 1, south_west, south_west + 1]);
            }
        }
        indices
    }
}
