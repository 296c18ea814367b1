//! What the colliders need to know of a physics engine.

use super::heights::ChunkPlace;
use bevy::{ecs::component::Mutable, prelude::*};

/// A physics engine that the ground can have colliders for.
pub trait PhysicsEngine: Send + Sync + 'static {
    /// The engine's collider component. A clone must be cheap.
    type Collider: Component<Mutability = Mutable> + Clone;

    /// A heightfield of these heights, column by column, around its middle, split along the same
    /// diagonals as the mesh, with internal edges fixed. May take its time.
    fn collider(place: &ChunkPlace, columns: Vec<f32>) -> Self::Collider;

    /// The heights that a collider was made of, column by column.
    fn heights(collider: &Self::Collider) -> &[f32];

    /// What makes an entity with such a collider a body that never moves.
    fn immovable() -> impl Bundle;
}

/// A body that moves, as the ground sees it: a dynamic or a kinematic one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// The entity with the body.
    pub entity: Entity,
    /// Whether forces move it. What a game moves itself is neither lifted nor
    /// woken.
    pub is_dynamic: bool,
    /// Its position. units: m
    pub position: Vec3,
    /// Lowest corner of the box around its colliders. units: m
    pub min: Vec3,
    /// Highest corner of the box around its colliders. units: m
    pub max: Vec3,
}

/// A body whose ground has changed: it must wake up, and perhaps rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbed {
    /// The entity with the body.
    pub entity: Entity,
    /// How far it is to rise. units: m
    pub lift: f32,
}

/// Makes the heightfield of a chunk by an engine's own version of parry, which
/// splits quads as the mesh does.
///
/// Parry loses rays in two ways, and both matter where chunks meet. A ray that
/// enters the field's box from the side is looked for in a wrong row whenever
/// rounding puts its entry a hair outside the box: so the box is made a hair
/// narrower than the field. (It has no setter; but a scale so small that its
/// last digits are lost takes them from the box and not from the field.) And a
/// ray through an edge of a triangle may miss both sides: see
/// [`ChunkPlace::middle`].
macro_rules! heightfield {
    ($parry:path, $place:expr, $columns:expr) => {{
        use $parry::{
            shape::{HeightField, HeightFieldFlags, SharedShape},
            utils::Array2,
        };
        let size = $place.vertices().as_usizevec2();
        let extent = $place.extent();
        let scale = Vec3::new(extent.x, 1.0, extent.y);
        let field = HeightField::with_flags(
            Array2::new(size.y, size.x, $columns),
            scale,
            HeightFieldFlags::FIX_INTERNAL_EDGES,
        );
        let mut narrow = field.clone();
        for scale in $crate::physics::engine::detour(scale) {
            narrow.set_scale(scale);
        }
        let sides = narrow.root_aabb().half_extents().xz() / (extent * 0.5);
        // Where such small numbers count as zero, the field stays as it was.
        let is_narrow = sides.cmpgt(Vec2::splat(0.999)).all() && sides.cmplt(Vec2::ONE).all();
        SharedShape::new(if is_narrow { narrow } else { field })
    }};
}
pub(super) use heightfield;

/// Scales that, set one after the other, end where they began and leave a
/// heightfield's box narrower along x and z by 1 part in 20 000.
pub(super) fn detour(scale: Vec3) -> [Vec3; 3] {
    let least = f64::from(f32::from_bits(1));
    let lossy = (scale.as_dvec3() * 10_000.49 * least).as_vec3();
    [
        lossy.with_y(scale.y),
        (scale * 1e-20).with_y(scale.y),
        scale,
    ]
}
