//! Reading the terrain at world positions, one by one or in batches: bilinear between cell centers,
//! constant in the half cell outside the outermost centers, `None` beyond.

use super::{Layer, Terrain};
use crate::parallel::Workers;
use bevy::math::*;

/// Positions that one worker looks up at a time.
const BATCH: usize = 2048;

/// The ground at a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroundPoint {
    /// World height. units: m
    pub height: f32,
    /// Upward unit normal.
    pub normal: Vec3,
}

/// The water at a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaterPoint {
    /// Depth, as of [`Terrain::water_depth_at`]. units: m
    pub depth: f32,
    /// World height of the surface, `None` where it is dry, as of
    /// [`Terrain::water_surface_at`]. units: m
    pub surface: Option<f32>,
    /// Along +X and +Z, as of [`Terrain::velocity_at`]. units: m/s
    pub velocity: Vec2,
    /// Per metre of width along +X and +Z, as of [`Terrain::discharge_at`].
    /// units: m²/s
    pub discharge: Vec2,
}

impl Terrain {
    /// Height and normal of the ground at a position (its y is ignored): the
    /// same as [`height_at`](Self::height_at) and [`normal_at`](Self::normal_at),
    /// at once.
    pub fn ground_at(&self, position: Vec3) -> Option<GroundPoint> {
        let at = self.grid().world_to_grid(position);
        let far = self.size().as_vec2() - 2.0;
        // Where all neighbors are there, and where NaN is not.
        if !(at.cmpge(Vec2::ONE).all() && at.cmplt(far).all()) {
            return Some(GroundPoint {
                height: self.height_at(position)?,
                normal: self.normal_at(position)?,
            });
        }
        let (low_x, low_y) = (at.x as usize, at.y as usize);
        // All twelve cells that the four corners' slopes need, row by row.
        let width = self.grid().width();
        let first = (low_y - 1) * width + low_x - 1;
        let rows: [[f32; 4]; 4] = core::array::from_fn(|row| {
            let from = first + row * width;
            let bedrock = &self.bedrock()[from..from + 4];
            let soil = &self.soil()[from..from + 4];
            core::array::from_fn(|i| bedrock[i] + soil[i])
        });
        let (x, y) = (at.x - low_x as f32, at.y - low_y as f32);
        let blend = |a: f32, b: f32, c: f32, d: f32| {
            (a * (1.0 - x) + b * x) * (1.0 - y) + (c * (1.0 - x) + d * x) * y
        };
        let [north, upper, lower, south] = rows;
        let twice = 2.0 * self.cell_size();
        let along_x = blend(
            upper[2] - upper[0],
            upper[3] - upper[1],
            lower[2] - lower[0],
            lower[3] - lower[1],
        ) / twice;
        let along_z = blend(
            lower[1] - north[1],
            lower[2] - north[2],
            south[1] - upper[1],
            south[2] - upper[2],
        ) / twice;
        Some(GroundPoint {
            height: blend(upper[1], upper[2], lower[1], lower[2]) + self.grid().origin().y,
            normal: Vec3::new(-along_x, 1.0, -along_z).normalize(),
        })
    }

    /// [`ground_at`](Self::ground_at) for many positions, on all of Bevy's
    /// compute threads. `points` gets a value for each position.
    pub fn ground_at_all(&self, positions: &[Vec3], points: &mut Vec<Option<GroundPoint>>) {
        self.look_up_all(positions, points, Self::ground_at);
    }

    /// [`water_at`](Self::water_at) for many positions, on all of Bevy's
    /// compute threads. `points` gets a value for each position.
    pub fn water_at_all(&self, positions: &[Vec3], points: &mut Vec<Option<WaterPoint>>) {
        self.look_up_all(positions, points, Self::water_at);
    }

    /// [`raycast`](Self::raycast) for many rays, on all of Bevy's compute
    /// threads. `hits` gets a value for each ray.
    pub fn raycast_all(&self, rays: &[Ray3d], far: f32, hits: &mut Vec<Option<super::TerrainHit>>) {
        self.look_up_all(rays, hits, |terrain, ray| terrain.raycast(ray, far));
    }

    /// Any lookup for many keys at once, on all of Bevy's compute threads.
    /// `values` gets a value for each key.
    ///
    /// ```
    /// # use bevy::math::{UVec2, Vec2, Vec3};
    /// # use bevy_erode::prelude::*;
    /// # use bevy_erode::terrain::TerrainError;
    /// # let terrain = Terrain::flat(UVec2::splat(64), 1.0)?;
    /// let places = [Vec3::ZERO, Vec3::X * 500.0];
    /// let mut slopes = Vec::new();
    /// terrain.look_up_all(&places, &mut slopes, Terrain::slope_at);
    /// assert_eq!(slopes, [Some(Vec2::ZERO), None]);
    ///
    /// let mut soil = Vec::new();
    /// terrain.look_up_all(&places, &mut soil, |terrain, at| terrain.layer_at(Layer::Soil, at));
    /// # Ok::<(), TerrainError>(())
    /// ```
    pub fn look_up_all<K: Copy + Sync, V: Clone + Send>(
        &self,
        keys: &[K],
        values: &mut Vec<Option<V>>,
        look: impl Fn(&Self, K) -> Option<V> + Sync,
    ) {
        values.clear();
        values.resize(keys.len(), None);
        let parts = keys.chunks(BATCH).zip(values.chunks_mut(BATCH));
        Workers::global().each(parts, |(keys, values)| {
            for (key, value) in keys.iter().zip(values) {
                *value = look(self, *key);
            }
        });
    }

    /// Rise of the ground per metre along +X and +Z at a position (its y is
    /// ignored).
    pub fn slope_at(&self, position: Vec3) -> Option<Vec2> {
        let normal = self.normal_at(position)?;
        Some(-normal.xz() / normal.y)
    }

    /// Depth of the water at a position (its y is ignored), that of rivers too.
    /// units: m
    pub fn water_depth_at(&self, position: Vec3) -> Option<f32> {
        Some(self.patch(position)?.water_depth(self))
    }

    /// Depth, surface, velocity and discharge of the water at a position (its y
    /// is ignored), at once.
    #[inline]
    pub fn water_at(&self, position: Vec3) -> Option<WaterPoint> {
        let patch = self.patch(position)?;
        Some(WaterPoint {
            depth: patch.water_depth(self),
            surface: patch.water_surface(self),
            velocity: patch.velocity(self),
            discharge: patch.discharge(self),
        })
    }

    /// Thickness of the lava at a position (its y is ignored). units: m
    pub fn lava_depth_at(&self, position: Vec3) -> Option<f32> {
        self.layer_at(Layer::Lava, position)
    }

    /// World height of the water's surface at a position (its y is ignored), or
    /// `None` where it is dry. Between wet and dry cells it goes on level, into
    /// the bank. units: m
    pub fn water_surface_at(&self, position: Vec3) -> Option<f32> {
        self.patch(position)?.water_surface(self)
    }

    /// Velocity of the water at a position (its y is ignored), along +X and +Z.
    /// Zero where it is dry or no water model has run. units: m/s
    #[inline]
    pub fn velocity_at(&self, position: Vec3) -> Option<Vec2> {
        Some(self.patch(position)?.velocity(self))
    }

    /// Discharge of the water per metre of width at a position (its y is
    /// ignored), along +X and +Z. units: m²/s
    #[inline]
    pub fn discharge_at(&self, position: Vec3) -> Option<Vec2> {
        Some(self.patch(position)?.discharge(self))
    }

    /// World height of the ground at a position (its y is ignored). units: m
    #[inline]
    pub fn height_at(&self, position: Vec3) -> Option<f32> {
        let patch = self.patch(position)?;
        Some(patch.blend(|i| self.ground(i)) + self.grid().origin().y)
    }

    /// Upward unit normal of the ground at a position (its y is ignored).
    pub fn normal_at(&self, position: Vec3) -> Option<Vec3> {
        let patch = self.patch(position)?;
        let slope = |axis: fn(Vec2) -> f32| {
            patch.blend(|i| {
                let x = (i % self.grid().width()) as u32;
                let y = (i / self.grid().width()) as u32;
                axis(self.slope(x, y))
            })
        };
        Some(Vec3::new(-slope(|s| s.x), 1.0, -slope(|s| s.y)).normalize())
    }

    /// Value of a layer at a position (its y is ignored). A terrain without a
    /// hardness map has hardness 0, and one without lava has none of it.
    pub fn layer_at(&self, layer: Layer, position: Vec3) -> Option<f32> {
        let values = match layer {
            Layer::Bedrock => self.bedrock(),
            Layer::Soil => self.soil(),
            Layer::Water => self.water(),
            Layer::Suspended => self.suspended(),
            Layer::Hardness => match self.hardness() {
                Some(hardness) => hardness,
                None => return self.patch(position).map(|_| 0.0),
            },
            Layer::Lava => match self.lava() {
                Some(lava) => lava,
                None => return self.patch(position).map(|_| 0.0),
            },
        };
        Some(self.patch(position)?.blend(|i| values[i]))
    }

    /// Rise of the ground per metre along +X and +Z at a cell's center, by
    /// central differences (one-sided on the border).
    #[inline]
    pub fn slope(&self, x: u32, y: u32) -> Vec2 {
        let last = self.size() - 1;
        let (x, y) = (x.min(last.x), y.min(last.y));
        let along = |from: UVec2, to: UVec2| {
            let cells = (to - from).max_element();
            if cells == 0 {
                return 0.0;
            }
            let rise = self.ground(self.grid().index(to.x, to.y))
                - self.ground(self.grid().index(from.x, from.y));
            rise / (cells as f32 * self.cell_size())
        };
        let (west, east) = (x.saturating_sub(1), (x + 1).min(last.x));
        let (north, south) = (y.saturating_sub(1), (y + 1).min(last.y));
        Vec2::new(
            along(UVec2::new(west, y), UVec2::new(east, y)),
            along(UVec2::new(x, north), UVec2::new(x, south)),
        )
    }

    /// Depth of all water of a cell by its index.
    #[inline]
    fn depth_of(&self, cell: usize) -> f32 {
        let width = self.grid().width();
        match self.has_streams() {
            true => self.water_depth((cell % width) as u32, (cell / width) as u32),
            false => self.water()[cell],
        }
    }

    #[inline]
    fn patch(&self, position: Vec3) -> Option<Patch> {
        let grid = self.grid();
        grid.cell_at(position)?;
        let last = grid.size() - 1;
        let at = grid
            .world_to_grid(position)
            .clamp(Vec2::ZERO, last.as_vec2());
        let low = at.as_uvec2().min(last);
        let high = (low + 1).min(last);
        Some(Patch {
            corners: [
                grid.index(low.x, low.y),
                grid.index(high.x, low.y),
                grid.index(low.x, high.y),
                grid.index(high.x, high.y),
            ],
            fraction: at - low.as_vec2(),
        })
    }
}

/// Four cells around a position, and how far it lies between them.
struct Patch {
    corners: [usize; 4],
    fraction: Vec2,
}

impl Patch {
    /// The cells and their shares of a value between them.
    #[inline]
    fn shares(&self) -> [(usize, f32); 4] {
        let [a, b, c, d] = self.corners;
        let Vec2 { x, y } = self.fraction;
        [
            (a, (1.0 - x) * (1.0 - y)),
            (b, x * (1.0 - y)),
            (c, (1.0 - x) * y),
            (d, x * y),
        ]
    }

    #[inline]
    fn water_depth(&self, terrain: &Terrain) -> f32 {
        self.blend(|i| terrain.depth_of(i))
    }

    #[inline]
    fn water_surface(&self, terrain: &Terrain) -> Option<f32> {
        let [mut level, mut weight] = [0.0, 0.0];
        for (cell, share) in self.shares() {
            let depth = terrain.depth_of(cell);
            if depth > super::FILM {
                level += share * (terrain.ground(cell) + depth);
                weight += share;
            }
        }
        let level = (weight > 0.0).then(|| level / weight)?;
        let ground = self.blend(|i| terrain.ground(i));
        (level > ground).then(|| level + terrain.grid().origin().y)
    }

    #[inline]
    fn velocity(&self, terrain: &Terrain) -> Vec2 {
        self.blend_vectors(|x, y| terrain.velocity(x, y), terrain.grid().width())
    }

    #[inline]
    fn discharge(&self, terrain: &Terrain) -> Vec2 {
        self.blend_vectors(|x, y| terrain.discharge(x, y), terrain.grid().width())
    }

    #[inline]
    fn blend_vectors(&self, value: impl Fn(u32, u32) -> Vec2, width: usize) -> Vec2 {
        let value = |cell: usize| value((cell % width) as u32, (cell / width) as u32);
        self.shares()
            .iter()
            .map(|&(cell, share)| share * value(cell))
            .sum()
    }

    #[inline]
    fn blend(&self, value: impl Fn(usize) -> f32) -> f32 {
        let [a, b, c, d] = self.corners.map(value);
        let Vec2 { x, y } = self.fraction;
        (a * (1.0 - x) + b * x) * (1.0 - y) + (c * (1.0 - x) + d * x) * y
    }
}
