//! The springs of a world: found with their places, and changed for others.

use super::SceneEntity;
#[cfg(feature = "io")]
use crate::terrain::SettingsError;
use bevy::{ecs::system::SystemState, prelude::*};
use serde::{Deserialize, Serialize};

type Springs<'w, 's, C> = Query<'w, 's, (Entity, &'static C, &'static Transform)>;

/// A source, sink or vent and its place in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spring<C> {
    pub at: (f32, f32, f32),
    pub spring: C,
}

#[cfg(feature = "io")]
impl<C> Spring<C> {
    /// Checks that it is somewhere.
    pub fn check_place(&self, model: &'static str) -> Result<(), SettingsError> {
        let at = Vec3::from(self.at);
        if at.is_finite() {
            return Ok(());
        }
        Err(SettingsError {
            model,
            field: "at".into(),
            reason: format!("must be a place, was {at}"),
        })
    }
}

/// All springs of a kind, where they pour or drain.
pub(crate) fn capture_springs<C: Component + Copy>(world: &mut World) -> Vec<Spring<C>> {
    let found = find_springs(world).into_iter();
    found.map(|(_, spring)| spring).collect()
}

/// Lets there be these and no others of their kind. Those that are the same and
/// at the same place stay; others lose their component, or are despawned if a
/// scene or a state spawned them. New ones are spawned with [`SceneEntity`].
pub(crate) fn restore_springs<C: Component + Copy + PartialEq>(
    world: &mut World,
    name: &'static str,
    mut wanted: Vec<Spring<C>>,
) {
    for (entity, spring) in find_springs(world) {
        // Those of a despawned parent are gone.
        if world.get_entity(entity).is_err() {
            continue;
        }
        if let Some(same) = wanted.iter().position(|other| *other == spring) {
            wanted.swap_remove(same);
        } else if world.get::<SceneEntity>(entity).is_some() {
            world.despawn(entity);
        } else {
            world.entity_mut(entity).remove::<C>();
        }
    }
    for Spring { at, spring } in wanted {
        let place = Transform::from_translation(at.into());
        world.spawn((SceneEntity, Name::new(name), spring, place));
    }
}

fn find_springs<C: Component + Copy>(world: &mut World) -> Vec<(Entity, Spring<C>)> {
    let mut state: SystemState<(Springs<C>, TransformHelper)> = SystemState::new(world);
    // Queries are always there to be had.
    let Ok((springs, places)) = state.get(world) else {
        return Vec::new();
    };
    let found = springs.iter().map(|(entity, spring, own)| {
        let place = places.compute_global_transform(entity);
        let at = place.map_or(own.translation, |place| place.translation());
        let at = at.into();
        (
            entity,
            Spring {
                at,
                spring: *spring,
            },
        )
    });
    found.collect()
}
