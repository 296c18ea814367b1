//! Builds the surface of one chunk's water from a copy of its cells.

use crate::{
    terrain::{Grid, Terrain},
    view::colours::ramp,
};
use bevy::{
    asset::RenderAssetUsages,
    camera::primitives::Aabb,
    math::*,
    mesh::{Indices, Mesh, PrimitiveTopology},
};

/// A dry vertex beside water lies at least this far below the ground, and at
/// most that far where the land falls away. units: m
const SINK: (f32, f32) = (0.02, 0.3);

/// Cells around a chunk that its mesh depends on: normals need the level of the
/// next cell, and a dry cell's level comes from the cells around that one.
const RING: u32 = 2;

/// A copy of all that a chunk's water depends on.
#[derive(Clone, Debug)]
pub struct WaterChunkSource {
    /// First cell of the chunk, and its vertices along x and y.
    first: UVec2,
    vertices: UVec2,
    /// Cells copied: the vertices and a ring around them, cut at the border.
    from: UVec2,
    size: UVec2,
    grid: Grid,
    ground: Vec<f32>,
    /// Depth of water, zero where it is too thin to be seen.
    depth: Vec<f32>,
    /// Sediment as a share of the water.
    share: Vec<f32>,
    velocity: Vec<Vec2>,
}

/// A vertex of the surface.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    height: f32,
    depth: f32,
    share: f32,
    velocity: Vec2,
}

impl WaterChunkSource {
    /// Copies the cells of a chunk, or nothing if no water deeper than
    /// `thinnest` is in it.
    pub fn copy(terrain: &Terrain, chunk: UVec2, thinnest: f32) -> Option<Self> {
        let grid = *terrain.grid();
        let (first, last) = grid.chunk_cells(chunk);
        let rows = first.y..=last.y;
        let row = |y| grid.index(first.x, y)..grid.index(last.x, y) + 1;
        let is_wet = |y| terrain.water()[row(y)].iter().any(|&d| d > thinnest);
        if !rows.into_iter().any(is_wet) {
            return None;
        }

        let from = first.saturating_sub(UVec2::splat(RING));
        let to = (last + RING).min(grid.size() - 1);
        let size = to - from + 1;
        let cells = size.element_product() as usize;
        let mut source = Self {
            first,
            vertices: last - first + 1,
            from,
            size,
            grid,
            ground: Vec::with_capacity(cells),
            depth: Vec::with_capacity(cells),
            share: Vec::with_capacity(cells),
            velocity: Vec::with_capacity(cells),
        };
        for y in from.y..=to.y {
            let row = grid.index(from.x, y)..grid.index(to.x, y) + 1;
            let depths = &terrain.water()[row.clone()];
            let layers = terrain.bedrock()[row.clone()].iter();
            let layers = layers.zip(&terrain.soil()[row.clone()]);
            source.ground.extend(layers.map(|(b, s)| b + s));
            let seen = |&d: &f32| if d > thinnest { d } else { 0.0 };
            source.depth.extend(depths.iter().map(seen));
            let loads = depths.iter().zip(&terrain.suspended()[row]);
            let share = |(&d, &s): (&f32, &f32)| if d > thinnest { s / d } else { 0.0 };
            source.share.extend(loads.map(share));
            if terrain.flow().is_some() {
                let columns = from.x..=to.x;
                source
                    .velocity
                    .extend(columns.zip(depths).map(|(x, &d)| match d > thinnest {
                        true => terrain.velocity(x, y),
                        false => Vec2::ZERO,
                    }));
            }
        }
        source.velocity.resize(cells, Vec2::ZERO);
        Some(source)
    }

    /// Place of a cell in the copy.
    fn index(&self, x: u32, y: u32) -> usize {
        ((y - self.from.y) * self.size.x + (x - self.from.x)) as usize
    }

    /// The wet cells around a cell, always in the same order: chunks that
    /// share a vertex must find the same sums.
    fn wet_around(&self, x: u32, y: u32) -> impl Iterator<Item = usize> + '_ {
        let to = self.from + self.size - 1;
        let columns = x.saturating_sub(1).max(self.from.x)..=(x + 1).min(to.x);
        let rows = y.saturating_sub(1).max(self.from.y)..=(y + 1).min(to.y);
        rows.flat_map(move |y| columns.clone().map(move |x| self.index(x, y)))
            .filter(|&i| self.depth[i] > 0.0)
    }

    /// The level that water has in a cell, or would have if that of the cells
    /// around it went on; NaN far from water.
    fn levels(&self) -> Vec<f32> {
        let mut levels = Vec::with_capacity(self.depth.len());
        for y in self.from.y..self.from.y + self.size.y {
            for x in self.from.x..self.from.x + self.size.x {
                let i = self.index(x, y);
                levels.push(if self.depth[i] > 0.0 {
                    self.ground[i] + self.depth[i]
                } else {
                    let (mut sum, mut count) = (0.0, 0.0);
                    for j in self.wet_around(x, y) {
                        sum += self.ground[j] + self.depth[j];
                        count += 1.0;
                    }
                    // None around: zero by zero is the NaN that says so.
                    sum / count
                });
            }
        }
        levels
    }

    fn vertex(&self, x: u32, y: u32, level: f32) -> Vertex {
        let i = self.index(x, y);
        if self.depth[i] > 0.0 {
            return Vertex {
                height: level,
                depth: self.depth[i],
                share: self.share[i],
                velocity: self.velocity[i],
            };
        }
        let (mut depth, mut share, mut velocity) = (0.0, 0.0, Vec2::ZERO);
        let (mut count, mut deepest) = (0.0, 0.0);
        for j in self.wet_around(x, y) {
            deepest = f32::max(deepest, self.depth[j]);
            depth += self.depth[j];
            share += self.share[j];
            velocity += self.velocity[j];
            count += 1.0;
        }
        let mean = 1.0 / f32::max(count, 1.0);
        // The water's level goes on into the bank and meets the ground where
        // real water would. Where the land falls away instead, the surface
        // follows it down: it must not hang over dry ground.
        let buried = self.ground[i] - (depth * mean).clamp(SINK.0, SINK.1);
        // `min` drops the NaN of a vertex far from water.
        let level = level.min(buried);
        // A brook that is a cell wide would be a thread between its banks: it
        // spreads over them instead, too thin for anyone to see it climb.
        let runs = ramp(velocity.length() * mean, 0.2, 0.8);
        let height = level + (buried - level) * runs * ramp(deepest, 0.6, 0.2);
        Vertex {
            height,
            depth: height - self.ground[i],
            share: share * mean,
            velocity: velocity * mean,
        }
    }

    /// Upward normal of the surface; land around is as level as the water.
    fn normal(&self, levels: &[f32], x: u32, y: u32) -> Vec3 {
        let last = self.grid.size() - 1;
        let own = levels[self.index(x, y)];
        if own.is_nan() {
            return Vec3::Y;
        }
        let level = |x: u32, y: u32| {
            let level = levels[self.index(x, y)];
            if level.is_nan() { own } else { level }
        };
        let (west, east) = (x.saturating_sub(1), (x + 1).min(last.x));
        let (north, south) = (y.saturating_sub(1), (y + 1).min(last.y));
        let l = self.grid.cell_size();
        let slope = Vec2::new(
            (level(east, y) - level(west, y)) / ((east - west).max(1) as f32 * l),
            (level(x, south) - level(x, north)) / ((south - north).max(1) as f32 * l),
        );
        Vec3::new(-slope.x, 1.0, -slope.y).normalize()
    }

    /// Builds the mesh and its bounds.
    pub fn build(&self) -> (Mesh, Aabb) {
        let count = self.vertices.element_product() as usize;
        let mut positions = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut loads = Vec::with_capacity(count);
        let mut velocities = Vec::with_capacity(count);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        let l = self.grid.cell_size();
        let levels = self.levels();
        for y in 0..self.vertices.y {
            for x in 0..self.vertices.x {
                let at = self.first + UVec2::new(x, y);
                let level = levels[self.index(at.x, at.y)];
                let vertex = self.vertex(at.x, at.y, level);
                if !level.is_nan() {
                    lowest = lowest.min(vertex.height);
                    highest = highest.max(vertex.height);
                }
                positions.push([x as f32 * l, vertex.height, y as f32 * l]);
                normals.push(self.normal(&levels, at.x, at.y).to_array());
                loads.push([vertex.depth, vertex.share]);
                velocities.push(vertex.velocity.to_array());
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
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, loads)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, velocities)
        .with_inserted_indices(Indices::U16(self.indices()));
        (mesh, bounds)
    }

    /// Two triangles a quad with a wet corner, split as the ground's are: so
    /// the depth between vertices is that of the surface over the ground.
    fn indices(&self) -> Vec<u16> {
        let quads = self.vertices - 1;
        let pitch = self.vertices.x as u16;
        let mut indices = Vec::with_capacity(quads.element_product() as usize * 6);
        for y in 0..quads.y {
            for x in 0..quads.x {
                let here = self.index(self.first.x + x, self.first.y + y);
                let below = here + self.size.x as usize;
                let corners = [here, here + 1, below, below + 1];
                if corners.iter().all(|&i| self.depth[i] <= 0.0) {
                    continue;
                }
                let north_west = y as u16 * pitch + x as u16;
                let south_west = north_west + pitch;
                indices.extend([north_west, south_west, north_west + 1]);
                indices.extend([north_west + 1, south_west, south_west + 1]);
            }
        }
        indices
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
        terrain.let_flow();
        if let Some(flow) = terrain.layers_mut().flow {
            flow.east[27..36].fill(discharge);
            flow.west_border[3] = discharge;
        }
        terrain
    }

    fn vertices(terrain: &Terrain, attribute: u32) -> Vec<Vec2> {
        let source = WaterChunkSource::copy(terrain, UVec2::ZERO, 1e-3).expect("water");
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
}
