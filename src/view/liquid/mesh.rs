//! Builds the surface of a liquid in one chunk from a copy of its cells.

use super::{
    Liquid, LiquidMeshSettings, any_deeper,
    vertex::{Rule, Vertex, WIDEST_STREAM},
};
use crate::{
    terrain::{Grid, Terrain},
    view::{
        ChunkDetail, WaterView,
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

/// Cells around a chunk that its full mesh depends on: normals need the level
/// of the next cell, and a dry cell's level comes from the cells around that one.
const RING: u32 = 2;

/// What of these cells it depends on.
const PLANES: Planes = Planes {
    soil: false,
    depth: true,
    flow: true,
};

/// A copy of all that the surface of a liquid in a chunk depends on.
#[derive(Clone, Debug)]
pub struct LiquidChunkCopy {
    /// First cell of the chunk, and its quads along x and y.
    first: UVec2,
    quads: UVec2,
    grid: Grid,
    vertices: VertexGrid,
    /// The cells of a chunk that is drawn in full.
    cells: Option<CopiedCells>,
    /// Vertices by the rules of coarser levels, in their order. They lie too
    /// far apart for a copy of all cells between them.
    coarse: Vec<Vertex>,
    /// All of the chunk is covered: the GPU moves the vertices, and water may
    /// come to any of them.
    covers_all: bool,
    /// Speed that the liquid loses where it is all white, if it foams. units: m/s
    foam_speed: Option<f32>,
}

impl LiquidChunkCopy {
    /// Copies what the mesh of a chunk's water needs at some level of detail, or
    /// nothing if no water deeper than `min_depth` metres can be seen of it. It foams
    /// as by default.
    pub fn of_water(
        terrain: &Terrain,
        chunk: UVec2,
        min_depth: f32,
        detail: ChunkDetail,
    ) -> Option<Self> {
        let settings = LiquidMeshSettings {
            is_drawn: true,
            min_depth,
            foam_speed: Some(WaterView::default().foam_speed),
        };
        Self::copy::<Water>(terrain, chunk, &settings, detail)
    }

    /// The same of any liquid.
    pub(super) fn copy<Q: Liquid>(
        terrain: &Terrain,
        chunk: UVec2,
        settings: &LiquidMeshSettings,
        detail: ChunkDetail,
    ) -> Option<Self> {
        let grid = *terrain.grid();
        let (min_depth, foam_speed) = (settings.min_depth, settings.foam_speed);
        let (first, last) = grid.chunk_cells(chunk);
        // Most land is dry: a quick look at what any vertex could see.
        let from = first.saturating_sub(UVec2::splat(WIDEST_STREAM));
        let to = (last + WIDEST_STREAM).min(grid.size() - 1);
        if !any_deeper::<Q>(terrain, from, to, min_depth) {
            return None;
        }
        let vertices = VertexGrid::new(last - first, detail);
        let live = LiveCells::<Q>::new(terrain, min_depth);
        let (mut coarse, mut is_wet) = (Vec::new(), false);
        vertices.each_vertex(|place, level| {
            let at = first + place;
            if level == 0 {
                is_wet |= live.depth(at.x, at.y) > 0.0;
            } else {
                let rule = Rule::new(&grid, level, min_depth, foam_speed);
                let vertex = rule.vertex(&live, at);
                is_wet |= vertex.is_wet;
                coarse.push(vertex);
            }
        });
        is_wet.then(|| Self {
            first,
            quads: last - first,
            grid,
            vertices,
            cells: (detail.level() == 0)
                .then(|| CopiedCells::copy(&live, (first, last), RING, PLANES)),
            coarse,
            covers_all: false,
            foam_speed,
        })
    }

    /// The whole chunk, wet or dry, for a GPU that writes the vertices.
    pub(super) fn covering<Q: Liquid>(
        terrain: &Terrain,
        chunk: UVec2,
        settings: &LiquidMeshSettings,
        detail: ChunkDetail,
    ) -> Self {
        let grid = *terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let vertices = VertexGrid::new(last - first, detail);
        let live = LiveCells::<Q>::new(terrain, settings.min_depth);
        let mut coarse = Vec::with_capacity(vertices.capacity());
        vertices.each_vertex(|place, _| {
            let at = first + place;
            let depth = live.depth(at.x, at.y);
            coarse.push(Vertex {
                height: live.ground(at.x, at.y) + depth,
                normal: Vec3::Y,
                depth,
                ..Vertex::default()
            });
        });
        Self {
            first,
            quads: last - first,
            grid,
            vertices,
            cells: None,
            coarse,
            covers_all: true,
            foam_speed: settings.foam_speed,
        }
    }

    /// Builds the mesh and its bounds.
    pub fn build(&self) -> (Mesh, Aabb) {
        let count = self.vertices.capacity();
        let mut positions = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut loads = Vec::with_capacity(count);
        let mut velocities = Vec::with_capacity(count);
        let mut colors = Vec::with_capacity(if self.foam_speed.is_some() { count } else { 0 });
        let mut is_wet = Vec::with_capacity(count);
        let l = self.grid.cell_size();
        let fine = Rule::new(&self.grid, 0, 0.0, self.foam_speed);
        let mut coarse = self.coarse.iter();
        self.vertices.each_vertex(|place, level| {
            let vertex = match &self.cells {
                Some(cells) if level == 0 => fine.vertex(cells, self.first + place),
                _ => coarse.next().copied().unwrap_or_default(),
            };
            positions.push([place.x as f32 * l, vertex.height, place.y as f32 * l]);
            normals.push(vertex.normal.to_array());
            loads.push([vertex.depth, vertex.share]);
            velocities.push(vertex.velocity.to_array());
            if self.foam_speed.is_some() {
                let bright = 1.0 + vertex.foam;
                colors.push([bright, bright, bright, 1.0]);
            }
            is_wet.push(vertex.is_wet);
        });
        // Split as the ground's are: so the depth between vertices is that of
        // the surface over the ground.
        let mut indices: Vec<u16> = Vec::with_capacity(count * 6);
        self.vertices.each_patch(|triangles| {
            let mut corners = triangles.iter().flatten();
            if self.covers_all || corners.any(|&i| is_wet[usize::from(i)]) {
                indices.extend(triangles.iter().flatten());
            }
        });
        let heights = indices.iter().map(|&i| positions[usize::from(i)][1]);
        let lowest = heights.clone().fold(f32::INFINITY, f32::min);
        let highest = heights.fold(f32::NEG_INFINITY, f32::max);
        let extent = self.quads.as_vec2() * l;
        let bounds = Aabb::from_min_max(
            Vec3::new(0.0, lowest, 0.0),
            Vec3::new(extent.x, highest, extent.y),
        );
        let mut mesh = triangle_mesh(positions, Indices::U16(indices))
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, loads)
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, velocities);
        if self.foam_speed.is_some() {
            mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colors);
        }
        (mesh, bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terrain::Layer;
    use bevy::mesh::VertexAttributeValues;

    /// A brook of one cell at the bottom of a valley, running along +X.
    fn brook(depth: f32, discharge: f32) -> Terrain {
        let size = UVec2::new(9, 7);
        let place = (0..63u32).map(|i| UVec2::new(i % 9, i / 9));
        let ground = |at: UVec2| 2.0 * at.y.abs_diff(3) as f32 - 0.1 * at.x as f32;
        let wet = |at: UVec2| if at.y == 3 { depth } else { 0.0 };
        let mut terrain = Terrain::from_heights(size, 1.0, place.clone().map(ground).collect())
            .and_then(|terrain| terrain.with_layer(Layer::Water, place.map(wet).collect()))
            .expect("valid");
        terrain.ensure_flow();
        if let Some(flow) = terrain.layers_mut().flow {
            flow.east[27..36].fill(discharge);
            flow.west_border[3] = discharge;
        }
        terrain
    }

    fn vertices(terrain: &Terrain, attribute: u32) -> Vec<Vec2> {
        let source = LiquidChunkCopy::of_water(terrain, UVec2::ZERO, 1e-3, ChunkDetail::FULL);
        let source = source.expect("water");
        let (mesh, _) = source.build();
        let attribute = match attribute {
            0 => mesh.attribute(Mesh::ATTRIBUTE_UV_0),
            _ => mesh.attribute(Mesh::ATTRIBUTE_UV_1),
        };
        match attribute {
            Some(VertexAttributeValues::Float32x2(v)) => v.iter().map(|&v| v.into()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn vertices_carry_the_flow() {
        let velocities = vertices(&brook(0.1, 0.15), 1);
        for x in 0..9 {
            for y in [2, 3, 4] {
                let velocity = velocities[y * 9 + x];
                assert!(velocity.distance(Vec2::new(1.5, 0.0)) < 1e-4, "{velocity}");
            }
            assert_eq!(velocities[x], Vec2::ZERO, "far from the water");
        }
    }

    #[test]
    fn only_a_brook_spreads_over_its_banks() {
        // Depth below the bank's ground, a cell from the middle.
        let bank = |depth, discharge| vertices(&brook(depth, discharge), 0)[2 * 9 + 4].x;
        assert!((bank(0.1, 0.15) + 0.1).abs() < 1e-4, "{}", bank(0.1, 0.15));
        assert!(bank(0.1, 0.0) < -1.8, "still water is level");
        assert!(bank(1.0, 2.0) < -0.9, "a river is level");
    }

    /// Foam in the middle row of a canal along +X, by what its columns have: ground,
    /// depth and speed.
    fn canal_foam(columns: impl Fn(f32) -> Vec3, level: u8) -> Vec<f32> {
        let size = UVec2::new(33, 9);
        let column = |i: u32| columns((i % 33) as f32);
        let cells = 0..33 * 9;
        let mut terrain =
            Terrain::from_heights(size, 2.0, cells.clone().map(|i| column(i).x).collect())
                .and_then(|terrain| {
                    terrain.with_layer(Layer::Water, cells.clone().map(|i| column(i).y).collect())
                })
                .expect("valid");
        terrain.ensure_flow();
        let discharge = columns(0.0).y * columns(0.0).z;
        if let Some(flow) = terrain.layers_mut().flow {
            flow.east.fill(discharge);
            flow.west_border.fill(discharge);
        }
        let detail = ChunkDetail::among([[level; 3]; 3]);
        let source = LiquidChunkCopy::of_water(&terrain, UVec2::ZERO, 1e-3, detail);
        let (mesh, _) = source.expect("water").build();
        let (
            Some(VertexAttributeValues::Float32x3(places)),
            Some(VertexAttributeValues::Float32x4(colors)),
        ) = (
            mesh.attribute(Mesh::ATTRIBUTE_POSITION),
            mesh.attribute(Mesh::ATTRIBUTE_COLOR),
        )
        else {
            panic!("no places or no colors");
        };
        let middle = places
            .iter()
            .zip(colors)
            .filter(|(place, _)| place[2] == 8.0);
        middle
            .map(|(_, color)| {
                assert_eq!([color[1], color[2], color[3]], [color[0], color[0], 1.0]);
                color[0] - 1.0
            })
            .collect()
    }

    #[test]
    fn vertices_are_white_where_a_chute_meets_a_pool() {
        // A smooth chute, 5 m/s fast, whose water ends in a pool of a metre and a half.
        let chute = |x: f32| match x < 16.0 {
            true => Vec3::new(0.6 * 2.0 * (16.0 - x), 0.2, 5.0),
            false => Vec3::new(-1.5, 1.5, 1.0 / 1.5),
        };
        let foam = canal_foam(chute, 0);
        assert_eq!(foam.len(), 33);
        assert!(foam[..15].iter().all(|foam| *foam < 0.05), "{foam:?}");
        assert!(foam[16] > 0.9, "{foam:?}");
        assert!(foam[18..].iter().all(|foam| *foam < 0.05), "{foam:?}");
        // From afar, by every other vertex.
        let far = canal_foam(chute, 1);
        let every_other: Vec<f32> = foam.iter().copied().step_by(2).collect();
        assert_eq!(far, every_other);
    }

    #[test]
    fn banks_of_a_brook_foam_with_it() {
        let mut terrain = brook(0.1, 0.3);
        // A step of two metres in the middle of its way.
        let cells = 0..63u32;
        let step = |i: u32| {
            let (x, y) = (i % 9, i / 9);
            2.0 * y.abs_diff(3) as f32 + if x < 5 { 2.0 } else { 0.0 }
        };
        terrain
            .set_layer(Layer::Bedrock, cells.map(step).collect())
            .expect("valid");
        let source = LiquidChunkCopy::of_water(&terrain, UVec2::ZERO, 1e-3, ChunkDetail::FULL);
        let (mesh, _) = source.expect("water").build();
        let Some(VertexAttributeValues::Float32x4(colors)) = mesh.attribute(Mesh::ATTRIBUTE_COLOR)
        else {
            panic!("no colors");
        };
        let foam = |x: usize, y: usize| colors[y * 9 + x][0] - 1.0;
        assert!(foam(5, 3) > 0.9, "the foot: {}", foam(5, 3));
        assert!(foam(5, 2) > 0.3, "beside it: {}", foam(5, 2));
        assert!(foam(2, 3) < 0.05 && foam(2, 2) < 0.05, "before it");
        assert!(foam(5, 0) == 0.0, "far from the water");
    }

    #[test]
    fn a_stream_just_beyond_the_border_is_seen_from_afar() {
        let size = UVec2::new(130, 9);
        // Runs along +Z in one column of cells, beyond the first chunk's last.
        let is_drawn = |column: usize, level: u8| {
            let depths = (0..130 * 9).map(|i| if i % 130 == column { 0.5 } else { 0.0 });
            let mut terrain = Terrain::flat(size, 1.0)
                .and_then(|terrain| terrain.with_layer(Layer::Water, depths.collect()))
                .expect("valid");
            terrain.ensure_flow();
            if let Some(flow) = terrain.layers_mut().flow {
                for discharge in flow.south.iter_mut().skip(column).step_by(130) {
                    *discharge = 1.0;
                }
                flow.north_border[column] = 1.0;
            }
            let detail = ChunkDetail::among([[level; 3]; 3]);
            LiquidChunkCopy::of_water(&terrain, UVec2::ZERO, 1e-3, detail).is_some()
        };
        assert!(is_drawn(68, 3));
        assert!(!is_drawn(69, 3), "too far away");
        assert!(!is_drawn(65, 0), "the neighbor's alone");
        assert!(is_drawn(64, 0));
    }
}
