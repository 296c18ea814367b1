//! What gameplay code asks the terrain.

use crate::terrain::{Grid, GroundPoint, Layer, Terrain, TerrainHit};
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
    #[cfg(feature = "gpu")]
    control: Option<Res<'w, crate::gpu::GpuControl>>,
}

impl TerrainQuery<'_> {
    /// The terrain itself, for whatever is not asked here.
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
        #[cfg(feature = "gpu")]
        if let Some(control) = &self.control {
            return control.oldest();
        }
        0
    }

    /// Erosion steps by which the answers at a place may be behind; see
    /// [`age`](Self::age).
    pub fn age_at(&self, at: Vec3) -> Option<u64> {
        let cell = self.grid()?.cell_at(at)?;
        #[cfg(feature = "gpu")]
        if let Some(control) = &self.control {
            return Some(control.age(cell / crate::terrain::TILE));
        }
        let _ = cell;
        Some(0)
    }

    /// World height of the ground. units: m
    pub fn height(&self, at: Vec3) -> Option<f32> {
        self.terrain()?.height_at(at)
    }

    /// Upward unit normal of the ground.
    pub fn normal(&self, at: Vec3) -> Option<Vec3> {
        self.terrain()?.normal_at(at)
    }

    /// Height and normal of the ground.
    pub fn ground(&self, at: Vec3) -> Option<GroundPoint> {
        self.terrain()?.ground_at(at)
    }

    /// Height and normal of the ground at many places, on all compute threads.
    /// Without a terrain all are `None`.
    pub fn ground_all(&self, places: &[Vec3], points: &mut Vec<Option<GroundPoint>>) {
        match self.terrain() {
            Some(terrain) => terrain.ground_at_all(places, points),
            None => {
                points.clear();
                points.resize(places.len(), None);
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
        match self.terrain() {
            Some(terrain) => terrain.raycast_all(rays, far, hits),
            None => {
                hits.clear();
                hits.resize(rays.len(), None);
            }
        }
    }
}
