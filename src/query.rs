//! What gameplay code asks the terrain.

use crate::{
    backend::{Device, StepDevice},
    terrain::{Grid, GroundPoint, Layer, TILE, Terrain, TerrainHit, WaterPoint},
};
use bevy::{ecs::system::SystemParam, math::*, prelude::*};

/// Reads the terrain at world positions; a system parameter. Every method gives
/// `None` where there is no land, or no terrain at all, and never blocks.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::prelude::*;
///
/// #[derive(Component)]
/// struct Boat;
///
/// fn float(ground: TerrainQuery, mut boats: Query<&mut Transform, With<Boat>>, time: Res<Time>) {
///     for mut boat in &mut boats {
///         let here = boat.translation;
///         if let Some(surface) = ground.water_surface(here) {
///             boat.translation.y = surface;
///             let current = ground.velocity(here).unwrap_or_default();
///             boat.translation += Vec3::new(current.x, 0.0, current.y) * time.delta_secs();
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(float);
/// ```
///
/// While the CPU runs the models, all answers are of the newest step. While the
/// GPU does, they may be some steps old: [`age`](Self::age) says how many.
#[derive(SystemParam)]
pub struct TerrainQuery<'w> {
    terrain: Option<Res<'w, Terrain>>,
    device: Option<Res<'w, Device>>,
}

impl TerrainQuery<'_> {
    /// The terrain itself, for whatever is not asked here.
    #[inline]
    pub fn terrain(&self) -> Option<&Terrain> {
        self.terrain.as_deref()
    }

    /// Size, resolution and place.
    pub fn grid(&self) -> Option<&Grid> {
        self.terrain().map(Terrain::grid)
    }

    /// Erosion steps by which the oldest answer may be behind: 0 while the CPU
    /// runs the models, some while the GPU does, for it is never waited for.
    pub fn age(&self) -> u64 {
        self.device.as_ref().map_or(0, |device| device.oldest())
    }

    /// Erosion steps by which the answers at a place may be behind; see
    /// [`age`](Self::age).
    pub fn age_at(&self, at: Vec3) -> Option<u64> {
        let grid = self.grid()?;
        grid.cell_at(at)?;
        let Some(device) = &self.device else {
            return Some(0);
        };
        // Answers come from the four cells around the place.
        let from = grid.world_to_grid(at).floor().max(Vec2::ZERO).as_uvec2();
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(UVec2::from);
        let cells = corners.map(|corner| (from + corner).min(grid.size() - 1));
        let ages = cells.map(|cell| device.age(cell / TILE));
        ages.into_iter().max()
    }

    /// World height of the ground. units: m
    #[inline]
    pub fn height(&self, at: Vec3) -> Option<f32> {
        self.terrain()?.height_at(at)
    }

    /// Upward unit normal of the ground.
    #[inline]
    pub fn normal(&self, at: Vec3) -> Option<Vec3> {
        self.terrain()?.normal_at(at)
    }

    /// Height and normal of the ground.
    #[inline]
    pub fn ground(&self, at: Vec3) -> Option<GroundPoint> {
        self.terrain()?.ground_at(at)
    }

    /// Height and normal of the ground at many places, on all compute threads.
    /// Without a terrain all are `None`.
    pub fn ground_all(&self, places: &[Vec3], points: &mut Vec<Option<GroundPoint>>) {
        self.look_up_all(places, points, Terrain::ground_at);
    }

    /// Any lookup for many keys at once, on all compute threads. Without a
    /// terrain all values are `None`.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_erode::prelude::*;
    /// fn slide(ground: TerrainQuery, stones: Query<&Transform>) {
    ///     let places: Vec<Vec3> = stones.iter().map(|stone| stone.translation).collect();
    ///     let mut slopes = Vec::new();
    ///     ground.look_up_all(&places, &mut slopes, Terrain::slope_at);
    /// }
    /// # bevy::ecs::system::assert_is_system(slide);
    /// ```
    pub fn look_up_all<K: Copy + Sync, V: Clone + Send>(
        &self,
        keys: &[K],
        values: &mut Vec<Option<V>>,
        look: impl Fn(&Terrain, K) -> Option<V> + Sync,
    ) {
        match self.terrain() {
            Some(terrain) => terrain.look_up_all(keys, values, look),
            None => {
                values.clear();
                values.resize(keys.len(), None);
            }
        }
    }

    /// Rise of the ground per metre along +X and +Z.
    pub fn slope(&self, at: Vec3) -> Option<Vec2> {
        self.terrain()?.slope_at(at)
    }

    /// Value of a layer, in its unit.
    pub fn layer(&self, layer: Layer, at: Vec3) -> Option<f32> {
        self.terrain()?.layer_at(layer, at)
    }

    /// Depth of the water. units: m
    pub fn water_depth(&self, at: Vec3) -> Option<f32> {
        self.terrain()?.water_depth_at(at)
    }

    /// Thickness of the lava. units: m
    pub fn lava_depth(&self, at: Vec3) -> Option<f32> {
        self.terrain()?.lava_depth_at(at)
    }

    /// World height of the water's surface, `None` where it is dry. units: m
    pub fn water_surface(&self, at: Vec3) -> Option<f32> {
        self.terrain()?.water_surface_at(at)
    }

    /// Depth, surface, velocity and discharge of the water.
    pub fn water(&self, at: Vec3) -> Option<WaterPoint> {
        self.terrain()?.water_at(at)
    }

    /// Depth, surface, velocity and discharge of the water at many places, on
    /// all compute threads. Without a terrain all are `None`.
    pub fn water_all(&self, places: &[Vec3], points: &mut Vec<Option<WaterPoint>>) {
        self.look_up_all(places, points, Terrain::water_at);
    }

    /// Velocity of the water along +X and +Z. units: m/s
    pub fn velocity(&self, at: Vec3) -> Option<Vec2> {
        self.terrain()?.velocity_at(at)
    }

    /// Discharge of the water per metre of width along +X and +Z. units: m²/s
    pub fn discharge(&self, at: Vec3) -> Option<Vec2> {
        self.terrain()?.discharge_at(at)
    }

    /// Where a ray first meets the ground, as far as `far` metres. units: m
    pub fn raycast(&self, ray: Ray3d, far: f32) -> Option<TerrainHit> {
        self.terrain()?.raycast(ray, far)
    }

    /// Where many rays first meet the ground, on all compute threads. Without a
    /// terrain all are `None`.
    pub fn raycast_all(&self, rays: &[Ray3d], far: f32, hits: &mut Vec<Option<TerrainHit>>) {
        self.look_up_all(rays, hits, |terrain, ray| terrain.raycast(ray, far));
    }
}
