//! Builds the mesh of one chunk from a copy of its cells.

use super::{
    ChunkDetail, Overlay, TerrainView,
    colours::{Spot, Variation, wetness},
    detail::Lattice,
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
use std::sync::{Arc, OnceLock};

/// What the ground was when the view first saw it.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Ground of every cell. units: m
    pub ground: Vec<f32>,
    /// Natural variation of the colours, a list a chunk. Made when the chunk is
    /// first drawn in full: most of a large land is only ever seen from afar.
    variation: Arc<[OnceLock<Vec<Variation>>]>,
    lowest: f32,
    relief: f32,
}

impl Baseline {
    /// Takes the ground as it is now.
    pub fn of(terrain: &Terrain) -> Self {
        let grid = terrain.grid();
        let mut ground = vec![0.0; grid.cells()];
        let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); grid.height()];
        let rows = ground.chunks_mut(grid.width()).zip(&mut ranges).enumerate();
        Workers::global().each(rows, |(y, (row, range))| {
            let first = y * grid.width();
            for (x, ground) in row.iter_mut().enumerate() {
                *ground = terrain.ground(first + x);
                *range = (range.0.min(*ground), range.1.max(*ground));
            }
        });
        let lowest = ranges.iter().map(|range| range.0);
        let lowest = lowest.fold(f32::INFINITY, f32::min);
        let highest = ranges.iter().map(|range| range.1);
        let highest = highest.fold(f32::NEG_INFINITY, f32::max);
        let chunks = grid.chunks().element_product();
        Self {
            ground,
            variation: (0..chunks).map(|_| OnceLock::new()).collect(),
            lowest,
            relief: (highest - lowest).max(1e-3),
        }
    }
}

/// A fingerprint of how wet a chunk's ground looks. Water that changes without
/// changing it, such as a lake's, needs no new mesh of the ground.
pub(super) fn wet_look(terrain: &Terrain, chunk: UVec2, detail: ChunkDetail) -> u64 {
    let grid = terrain.grid();
    let (first, last) = grid.chunk_cells(chunk);
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    Lattice::new(last - first, detail).each_vertex(|place, _| {
        let at = first + place;
        let level = (wetness(terrain.water()[grid.index(at.x, at.y)]) * 8.0) as u64;
        hash = (hash ^ level).wrapping_mul(0x100_0000_01B3);
    });
    hash
}

/// A copy of all that a chunk's mesh depends on, so that it can be built while
/// the simulation goes on.
#[derive(Clone, Debug)]
pub struct ChunkSource {
    /// First cell of the chunk, its number, and its quads along x and y.
    first: UVec2,
    number: usize,
    quads: UVec2,
    grid: Grid,
    lattice: Lattice,
    is_full: bool,
    /// Draws the land as it was.
    before: bool,
    points: Vec<Point>,
    /// What the overlay shows of each vertex; empty unless it shows water.
    measures: Vec<f32>,
    variation: Arc<[OnceLock<Vec<Variation>>]>,
    lowest: f32,
    relief: f32,
}

/// What is copied of a vertex.
#[derive(Clone, Copy, Debug)]
struct Point {
    height: f32,
    /// Rise per metre along +X and +Z.
    slope: Vec2,
    soil: f32,
    water: f32,
    before: f32,
}

impl ChunkSource {
    /// Copies a chunk at full resolution, and what an overlay shows of it.
    pub fn copy(terrain: &Terrain, baseline: &Baseline, overlay: Overlay, chunk: UVec2) -> Self {
        let view = TerrainView {
            overlay,
            ..TerrainView::default()
        };
        Self::copy_at(terrain, baseline, &view, chunk, ChunkDetail::FULL)
    }

    /// Copies what a chunk's mesh needs at some level of detail, and what the
    /// view shows of it.
    pub fn copy_at(
        terrain: &Terrain,
        baseline: &Baseline,
        view: &TerrainView,
        chunk: UVec2,
        detail: ChunkDetail,
    ) -> Self {
        let grid = *terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let lattice = Lattice::new(last - first, detail);
        let was = |cell: usize| baseline.ground.get(cell).copied().unwrap_or_default();
        let height = |x: u32, y: u32| match grid.index(x, y) {
            cell if view.before => was(cell),
            cell => terrain.ground(cell),
        };
        // By the same rule as `Terrain::slope`, at every level: nothing changes
        // its light when the vertices around it come and go.
        let end = grid.size() - 1;
        let l = grid.cell_size();
        let slope = |at: UVec2| {
            let (west, east) = (at.x.saturating_sub(1), (at.x + 1).min(end.x));
            let (north, south) = (at.y.saturating_sub(1), (at.y + 1).min(end.y));
            Vec2::new(
                (height(east, at.y) - height(west, at.y)) / ((east - west) as f32 * l),
                (height(at.x, south) - height(at.x, north)) / ((south - north) as f32 * l),
            )
        };
        let mut points = Vec::with_capacity(lattice.capacity());
        let mut measures = Vec::new();
        lattice.each_vertex(|place, _| {
            let at = first + place;
            let cell = grid.index(at.x, at.y);
            points.push(Point {
                height: height(at.x, at.y),
                slope: slope(at),
                soil: terrain.soil()[cell],
                water: terrain.water()[cell],
                before: was(cell),
            });
            if view.overlay.shows_water() {
                measures.push(view.overlay.measure(terrain, at.x, at.y));
            }
        });
        Self {
            first,
            number: (chunk.y * grid.chunks().x + chunk.x) as usize,
            quads: last - first,
            grid,
            lattice,
            is_full: detail.level() == 0,
            before: view.before,
            points,
            measures,
            variation: baseline.variation.clone(),
            lowest: baseline.lowest,
            relief: baseline.relief,
        }
    }

    /// The variation of a place in the chunk. At full resolution it is kept:
    /// whatever is near is built again and again.
    fn variation(&self) -> impl Fn(UVec2) -> Variation + '_ {
        let at =
            |place: UVec2| Variation::at((self.first + place).as_vec2() * self.grid.cell_size());
        let pitch = self.quads.x + 1;
        let kept = self.variation.get(self.number).filter(|_| self.is_full);
        let kept = kept.map(|kept| {
            kept.get_or_init(|| {
                let rows = 0..=self.quads.y;
                rows.flat_map(|y| (0..pitch).map(move |x| at(UVec2::new(x, y))))
                    .collect()
            })
        });
        move |place| match kept.and_then(|kept| kept.get((place.y * pitch + place.x) as usize)) {
            Some(&variation) => variation,
            None => at(place),
        }
    }

    /// Builds the mesh and its bounds, in the colours of a view.
    pub fn build(&self, view: &TerrainView) -> (Mesh, Aabb) {
        let count = self.points.len();
        let mut positions = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut uvs = Vec::with_capacity(count);
        let mut colours = Vec::with_capacity(count);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        let l = self.grid.cell_size();
        let variation = self.variation();
        self.lattice.each_vertex(|place, _| {
            let Some(point) = self.points.get(positions.len()) else {
                return;
            };
            let ground = point.height;
            lowest = lowest.min(ground);
            highest = highest.max(ground);
            positions.push([place.x as f32 * l, ground, place.y as f32 * l]);
            let normal = Vec3::new(-point.slope.x, 1.0, -point.slope.y).normalize();
            normals.push(normal.to_array());
            let at = (self.first + place).as_vec2();
            uvs.push(((at + 0.5) / self.grid.size().as_vec2()).to_array());
            let spot = Spot {
                variation: variation(place),
                relative_height: (ground - self.lowest) / self.relief,
                up: normal.y,
                soil: point.soil,
                change: ground - point.before,
                // Water that is not drawn leaves the land dry too.
                water: if self.before { 0.0 } else { point.water },
                measure: self
                    .measures
                    .get(colours.len())
                    .copied()
                    .unwrap_or_default(),
            };
            let colour = view.palette.colour(&spot, view.overlay);
            colours.push([colour.red, colour.green, colour.blue, 1.0]);
        });
        let extent = self.quads.as_vec2() * l;
        let bounds = Aabb::from_min_max(
            Vec3::new(0.0, lowest, 0.0),
            Vec3::new(extent.x, highest, extent.y),
        );
        let mut indices = Vec::with_capacity(count * 6);
        self.lattice
            .each_patch(|triangles| indices.extend(triangles.iter().flatten()));
        let mesh = Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colours)
        .with_inserted_indices(Indices::U16(indices));
        (mesh, bounds)
    }
}
