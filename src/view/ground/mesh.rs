//! Builds the mesh of one chunk from a copy of its cells.

use crate::{
    parallel::Workers,
    terrain::{Grid, TILE, Terrain},
    view::{
        ChunkDetail, TerrainView,
        colors::{GroundSample, Variation, hollow, wetness},
        detail::VertexGrid,
        dynamic_mesh::triangle_mesh,
        surface::{Cells, CopiedCells, LiveCells, Planes},
        water::Water,
    },
};
use bevy::{
    camera::primitives::Aabb,
    math::*,
    mesh::{Indices, Mesh},
};
use std::sync::{Arc, OnceLock};

/// The coarsest level whose chunks are copied cell by cell. Up to here whole
/// rows take less time than every other vertex and the four cells around it.
const LAST_COPIED: u8 = 1;

/// Cells around a chunk that its mesh depends on: normals need the next one.
const RING: u32 = 1;

/// The ground as it was when the view first saw it. It never changes, so a clone
/// shares it.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Ground of every cell. units: m
    pub ground: Arc<Vec<f32>>,
    /// Natural variation of the colors, a list a chunk. Made when the chunk is
    /// first drawn in full: most of a large land is only ever seen from afar.
    variation: Arc<[OnceLock<Vec<Variation>>]>,
    /// Lowest and highest ground of each chunk. units: m
    pub(in crate::view) ranges: Arc<[(f32, f32)]>,
    lowest: f32,
    relief: f32,
}

impl Baseline {
    /// Lowest ground and the relief above it. units: m
    pub(crate) fn range(&self) -> (f32, f32) {
        (self.lowest, self.relief)
    }

    /// Ground of a cell. It may be another land's: nothing was there then.
    #[inline]
    pub(in crate::view) fn ground_of(&self, cell: usize) -> f32 {
        self.ground.get(cell).copied().unwrap_or_default()
    }

    /// Takes the ground as it is now.
    pub fn of(terrain: &Terrain) -> Self {
        let grid = terrain.grid();
        let (width, chunks) = (grid.width(), grid.chunks());
        let band = width * TILE as usize;
        let mut ground = vec![0.0; grid.cells()];
        let layers = terrain
            .bedrock()
            .chunks(band)
            .zip(terrain.soil().chunks(band));
        Workers::global().each(ground.chunks_mut(band).zip(layers), |(ground, layers)| {
            for ((ground, bedrock), soil) in ground.iter_mut().zip(layers.0).zip(layers.1) {
                *ground = bedrock + soil;
            }
        });
        let mut ranges = vec![NO_RANGE; chunks.element_product() as usize];
        let rows = (0..).zip(ranges.chunks_mut(chunks.x.max(1) as usize));
        Workers::global().each(rows, |(y, row)| {
            for (x, range) in (0..).zip(row) {
                let (first, last) = grid.chunk_cells(UVec2::new(x, y));
                for y in first.y..=last.y {
                    let row = grid.index(first.x, y)..grid.index(last.x, y) + 1;
                    *range = wider(*range, range_of(&ground[row]));
                }
            }
        });
        let (lowest, highest) = ranges.iter().copied().fold(NO_RANGE, wider);
        Self {
            ground: Arc::new(ground),
            variation: ranges.iter().map(|_| OnceLock::new()).collect(),
            ranges: ranges.into(),
            lowest,
            relief: (highest - lowest).max(1e-3),
        }
    }
}

/// Lowest and highest of no values.
const NO_RANGE: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

#[inline]
fn wider(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Lowest and highest value, eight at a time.
#[inline]
fn range_of(values: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([NO_RANGE.0; 8], [NO_RANGE.1; 8]);
    let (lots, rest) = values.as_chunks::<8>();
    for lot in lots {
        for lane in 0..8 {
            low[lane] = low[lane].min(lot[lane]);
            high[lane] = high[lane].max(lot[lane]);
        }
    }
    let lanes = low.into_iter().zip(high);
    let rest = rest.iter().map(|&value| (value, value));
    lanes.chain(rest).fold(NO_RANGE, wider)
}

/// A hash of how wet a chunk's ground looks. Water that changes without changing
/// it, such as a lake's, needs no new mesh of the ground.
pub(super) fn wetness_hash(terrain: &Terrain, chunk: UVec2, detail: ChunkDetail) -> u64 {
    let grid = terrain.grid();
    let (first, last) = grid.chunk_cells(chunk);
    let mut hash = FNV_OFFSET;
    VertexGrid::new(last - first, detail).each_vertex(|place, _| {
        let at = first + place;
        hash = hash_wetness(hash, terrain.water_depth(at.x, at.y));
    });
    hash
}

/// FNV-1a's hash of nothing, and its prime.
const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x100_0000_01B3;

/// The hash with another vertex below this depth of water.
#[inline]
fn hash_wetness(hash: u64, depth: f32) -> u64 {
    let level = (wetness(depth) * 8.0) as u64;
    (hash ^ level).wrapping_mul(FNV_PRIME)
}

/// What a vertex is made of.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    height: f32,
    /// Rise per metre along +X and +Z.
    slope: Vec2,
    /// From −1 on a crest to 1 in a gully.
    hollow: f32,
    soil: f32,
    water: f32,
}

impl Point {
    /// The vertex in a cell, of a land that ends with cell `end`.
    #[inline]
    fn new(cells: &impl Cells, at: UVec2, end: UVec2, cell_size: f32) -> Self {
        // By the same rule as `Terrain::slope`, at every level: nothing changes
        // its light when the vertices around it come and go.
        let (west, east) = (at.x.saturating_sub(1), (at.x + 1).min(end.x));
        let (north, south) = (at.y.saturating_sub(1), (at.y + 1).min(end.y));
        let height = cells.ground(at.x, at.y);
        let (before_x, after_x) = (cells.ground(west, at.y), cells.ground(east, at.y));
        let (before_y, after_y) = (cells.ground(at.x, north), cells.ground(at.x, south));
        let mean = 0.25 * (before_x + after_x + before_y + after_y);
        Self {
            height,
            slope: Vec2::new(
                (after_x - before_x) / ((east - west) as f32 * cell_size),
                (after_y - before_y) / ((south - north) as f32 * cell_size),
            ),
            hollow: hollow((mean - height) / cell_size),
            soil: cells.soil(at.x, at.y),
            water: cells.depth(at.x, at.y),
        }
    }
}

/// A copy of all that a chunk's mesh depends on, so that it can be built while
/// the simulation goes on.
#[derive(Clone, Debug)]
pub struct GroundChunkCopy {
    /// First cell of the chunk, its number, and its quads along x and y.
    first: UVec2,
    number: usize,
    quads: UVec2,
    grid: Grid,
    vertices: VertexGrid,
    /// Draws the land as it was.
    before: bool,
    /// The cells of a chunk that is drawn in full, or nearly so.
    cells: Option<CopiedCells>,
    /// Vertices of a coarser one, in their order. They lie too far apart for a
    /// copy of all cells between them.
    points: Vec<Point>,
    /// Drawn in full.
    is_full: bool,
    /// What the overlay shows of each vertex; empty unless it shows water.
    measures: Vec<f32>,
    /// Revision of the water that was copied.
    water_revision: u64,
    baseline: Baseline,
}

impl GroundChunkCopy {
    /// Copies what a chunk's mesh needs at some level of detail, and what the
    /// view shows of it.
    pub fn of(
        terrain: &Terrain,
        baseline: &Baseline,
        view: &TerrainView,
        chunk: UVec2,
        detail: ChunkDetail,
    ) -> Self {
        Self::copy((terrain, baseline), view, chunk, detail, false)
    }

    /// The same of a chunk that may be known to be dry.
    pub(super) fn copy(
        (terrain, baseline): (&Terrain, &Baseline),
        view: &TerrainView,
        chunk: UVec2,
        detail: ChunkDetail,
        is_dry: bool,
    ) -> Self {
        let grid = *terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let vertices = VertexGrid::new(last - first, detail);
        // Any water counts: the thinnest film darkens the ground.
        let live = LiveCells::<Water>::new(terrain, f32::NEG_INFINITY)
            .with_ground_of(view.before.then_some(baseline));
        let planes = Planes {
            soil: true,
            depth: !is_dry,
            flow: false,
        };
        let cells = (detail.level() <= LAST_COPIED)
            .then(|| CopiedCells::copy(&live, (first, last), RING, planes));
        let mut points = Vec::new();
        if cells.is_none() {
            points.reserve(vertices.capacity());
            vertices.each_vertex(|place, _| {
                let at = first + place;
                points.push(Point::new(&live, at, grid.size() - 1, grid.cell_size()));
            });
        }
        let mut measures = Vec::new();
        if view.overlay.shows_water() {
            vertices.each_vertex(|place, _| {
                let at = first + place;
                measures.push(view.overlay.measure(terrain, at.x, at.y));
            });
        }
        Self {
            first,
            number: (chunk.y * grid.chunks().x + chunk.x) as usize,
            quads: last - first,
            grid,
            vertices,
            before: view.before,
            cells,
            points,
            is_full: detail.level() == 0,
            measures,
            water_revision: terrain.water_revision(),
            baseline: baseline.clone(),
        }
    }

    /// Calls `visit` with the place of each vertex in the chunk, and what is there.
    #[inline]
    fn each_point(&self, mut visit: impl FnMut(UVec2, Point)) {
        let (end, l) = (self.grid.size() - 1, self.grid.cell_size());
        let mut points = self.points.iter();
        self.vertices.each_vertex(|place, _| {
            let point = match &self.cells {
                Some(cells) => Point::new(cells, self.first + place, end, l),
                None => points.next().copied().unwrap_or_default(),
            };
            visit(place, point);
        });
    }

    /// The [`wetness_hash`] of the chunk that was copied.
    pub(super) fn wetness_hash(&self) -> u64 {
        let mut hash = FNV_OFFSET;
        self.each_point(|_, point| hash = hash_wetness(hash, point.water));
        hash
    }

    /// The revision of the water that was copied, if all cells were and there was
    /// none.
    pub(super) fn dry_at(&self) -> Option<u64> {
        let is_dry = self.cells.as_ref()?.is_dry();
        is_dry.then_some(self.water_revision)
    }

    /// The variation of a place in the chunk. At full resolution it is kept:
    /// whatever is near is built again and again.
    #[inline]
    fn variation(&self) -> impl Fn(UVec2) -> Variation + '_ {
        let at =
            |place: UVec2| Variation::at((self.first + place).as_vec2() * self.grid.cell_size());
        let pitch = self.quads.x + 1;
        let kept = self.baseline.variation.get(self.number);
        let kept = kept.filter(|_| self.is_full);
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

    /// Builds the mesh and its bounds, in the colors of a view.
    pub fn build(&self, view: &TerrainView) -> (Mesh, Aabb) {
        let count = self.vertices.capacity();
        let mut positions = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut uvs = Vec::with_capacity(count);
        let mut layers = Vec::with_capacity(count);
        let mut colors = Vec::with_capacity(count);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        let l = self.grid.cell_size();
        let variation = self.variation();
        let (bottom, relief) = self.baseline.range();
        self.each_point(|place, point| {
            let ground = point.height;
            lowest = lowest.min(ground);
            highest = highest.max(ground);
            positions.push([place.x as f32 * l, ground, place.y as f32 * l]);
            let normal = Vec3::new(-point.slope.x, 1.0, -point.slope.y).normalize();
            normals.push(normal.to_array());
            let at = self.first + place;
            let before = self.baseline.ground_of(self.grid.index(at.x, at.y));
            uvs.push(((at.as_vec2() + 0.5) / self.grid.size().as_vec2()).to_array());
            let sample = GroundSample {
                variation: variation(place),
                relative_height: (ground - bottom) / relief,
                relief,
                up: normal.y,
                hollow: point.hollow,
                soil: point.soil,
                change: ground - before,
                // Water that is not drawn leaves the land dry too.
                water: if self.before { 0.0 } else { point.water },
                measure: self.measures.get(colors.len()).copied().unwrap_or_default(),
            };
            let color = view.palette.color(&sample, view.overlay);
            // For the ground's own material.
            let open = (0.75 - 0.25 * sample.hollow) * (1.0 - wetness(sample.water));
            layers.push([sample.soil, sample.change]);
            colors.push([color.red, color.green, color.blue, open]);
        });
        let extent = self.quads.as_vec2() * l;
        let bounds = Aabb::from_min_max(
            Vec3::new(0.0, lowest, 0.0),
            Vec3::new(extent.x, highest, extent.y),
        );
        let mut indices = Vec::with_capacity(count * 6);
        self.vertices
            .each_patch(|triangles| indices.extend(triangles.iter().flatten()));
        let mesh = triangle_mesh(positions, Indices::U16(indices))
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, layers)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors);
        (mesh, bounds)
    }
}
