//! Ground to stand on: colliders for avian3d and bevy_rapier3d (features
//! `avian` and `rapier`).
//!
//! Add the engine's own plugins and [`ErosionPlugin`](crate::ErosionPlugin), and
//! the terrain has colliders: entities of their own, marked [`TerrainCollider`],
//! one a chunk, each a body that never moves with a heightfield at full
//! resolution. They are the triangles of the ground's mesh exactly, and of the lava's
//! where there is any, need no renderer, and
//! follow the ground as it changes; [`TerrainColliders`] says where they are
//! wanted and how many may be built in a frame. Of two engines in one app each
//! has its own.
//!
//! Colliders follow in [`ErosionSystems::Output`], in the schedule that the
//! plugin was given. With the default, `Update`, that is before rapier's step of
//! the same frame (`PostUpdate`) and avian's of the next (`FixedPostUpdate`);
//! with `FixedUpdate`, before the step of the same tick. They are built on the
//! async task pool meanwhile, so that a change of the ground is felt a frame or
//! two after it was made, and bodies that the new ground would bury are lifted
//! onto it in the same moment. A sleeping body wakes when the ground under it
//! changes.
//!
//! Water is no ground: bodies sink through it. Lava is, molten or frozen: it is
//! heavier than what falls on it, and carries bodies up as any ground that rises.
//! Rays of [`Terrain::raycast`] go through both.
//!
//! Heightfields are thin. Give fast bodies the engine's continuous collision
//! detection: avian's speculative collision is on by default, rapier's wants a
//! `Ccd` component.

mod area;
#[cfg(feature = "avian")]
pub mod avian;
mod chunks;
mod engine;
mod heights;
mod lift;
mod queue;
#[cfg(feature = "rapier")]
pub mod rapier;

pub use area::ColliderArea;
pub use chunks::{TerrainCollider, TerrainColliderState};
pub use engine::{Body, Disturbed, PhysicsEngine};
pub use heights::{ChunkHeights, ChunkPlace};

use crate::{schedule::ErosionSystems, terrain::Terrain};
use bevy::{
    ecs::{schedule::InternedScheduleLabel, system::ScheduleSystem},
    prelude::*,
};

/// Which colliders the ground has, and how much of a frame they may take.
///
/// [The guide](crate::guide::physics) has an example.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct TerrainColliders {
    /// Where there are colliders. Those that are wanted no more are removed.
    pub area: ColliderArea,
    /// How many colliders are built and swapped in a frame at most, nearest to
    /// bodies that move first; 0 leaves all as it is.
    pub per_frame: usize,
    /// Whether ground that is replaced wakes the bodies on it and lifts those
    /// that it would bury. A body whose position was below the ground before
    /// stays there; where there was no collider before, it is lifted too.
    pub carry_bodies: bool,
}

impl Default for TerrainColliders {
    fn default() -> Self {
        Self {
            area: ColliderArea::Everywhere,
            per_frame: 8,
            carry_bodies: true,
        }
    }
}

/// Adds the colliders of all engines that the crate was built with.
/// [`ErosionPlugin`](crate::ErosionPlugin) adds it.
#[derive(Clone, Debug)]
pub struct TerrainColliderPlugin {
    /// The schedule that [`ErosionSystems`] run in.
    pub schedule: InternedScheduleLabel,
}

impl Plugin for TerrainColliderPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<TerrainColliders>()
            .register_type::<TerrainColliders>()
            .register_type::<TerrainCollider>();
        #[cfg(feature = "avian")]
        avian::build(app, self.schedule);
        #[cfg(feature = "rapier")]
        rapier::build(app, self.schedule);
    }
}

/// All engines' systems that find what changed.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FollowTerrain;

/// Adds the colliders of an engine while `present` says that the app has it:
/// the engine's own `find_bodies` and `disturb_bodies` around what all share.
fn add_engine<E: PhysicsEngine, A, B, C>(
    app: &mut App,
    schedule: InternedScheduleLabel,
    present: impl SystemCondition<A>,
    find_bodies: impl IntoScheduleConfigs<ScheduleSystem, B>,
    disturb_bodies: impl IntoScheduleConfigs<ScheduleSystem, C>,
) {
    app.init_resource::<TerrainColliderState<E>>().add_systems(
        schedule,
        (
            find_bodies.run_if(needs_bodies::<E>),
            // Which engine asks the GPU first does not matter.
            chunks::follow_terrain::<E>
                .in_set(FollowTerrain)
                .ambiguous_with(FollowTerrain),
            chunks::swap_colliders::<E>,
            disturb_bodies.run_if(has_disturbed::<E>),
            chunks::start_colliders::<E>,
        )
            .chain()
            .in_set(ErosionSystems::Output)
            .run_if(present),
    );
}

/// Whether anyone asks where bodies are in this frame.
fn needs_bodies<E: PhysicsEngine>(
    terrain: Option<Res<Terrain>>,
    settings: Res<TerrainColliders>,
    state: Res<TerrainColliderState<E>>,
) -> bool {
    let follows_bodies = matches!(settings.area, ColliderArea::NearBodies { .. });
    terrain.is_some_and(|terrain| follows_bodies || !state.is_settled(&terrain))
}

fn has_disturbed<E: PhysicsEngine>(state: Res<TerrainColliderState<E>>) -> bool {
    !state.disturbed.is_empty()
}
