//! Sources, sinks and vents of a world: found with their places, and replaced.

use super::SceneEntity;
#[cfg(feature = "io")]
use crate::terrain::SettingsError;
use bevy::{ecs::system::SystemState, prelude::*};
use serde::{Deserialize, Serialize};

type Points<'w, 's, C> = Query<'w, 's, (Entity, &'static C, &'static Transform)>;

/// A source, sink or vent and its place in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed<C> {
    pub at: (f32, f32, f32),
    #[serde(rename = "spring")]
    pub component: C,
}

#[cfg(feature = "io")]
impl<C> Placed<C> {
    /// Checks that its place is finite.
    pub fn check_place(&self, model: &'static str) -> Result<(), SettingsError> {
        let at = Vec3::from(self.at);
        if at.is_finite() {
            return Ok(());
        }
        Err(SettingsError {
            model,
            field: "at".into(),
            reason: format!("must be a finite position, was {at}"),
        })
    }
}

/// All entities with the component, with the places where they pour or drain.
pub(crate) fn capture_points<C: Component + Copy>(world: &mut World) -> Vec<Placed<C>> {
    let found = find_points(world).into_iter();
    found.map(|(_, point)| point).collect()
}

/// Makes these the only ones with the component. Those that are the same and at the
/// same place stay; others lose their component, or are despawned if a scene or a
/// saved state spawned them. New ones are spawned with [`SceneEntity`].
pub(crate) fn restore_points<C: Component + Copy + PartialEq>(
    world: &mut World,
    name: &'static str,
    mut wanted: Vec<Placed<C>>,
) {
    for (entity, point) in find_points(world) {
        // Those of a despawned parent are gone.
        if world.get_entity(entity).is_err() {
            continue;
        }
        if let Some(same) = wanted.iter().position(|other| *other == point) {
            wanted.swap_remove(same);
        } else if world.get::<SceneEntity>(entity).is_some() {
            world.despawn(entity);
        } else {
            world.entity_mut(entity).remove::<C>();
        }
    }
    for Placed { at, component } in wanted {
        let place = Transform::from_translation(at.into());
        world.spawn((SceneEntity, Name::new(name), component, place));
    }
}

fn find_points<C: Component + Copy>(world: &mut World) -> Vec<(Entity, Placed<C>)> {
    let mut state: SystemState<(Points<C>, TransformHelper)> = SystemState::new(world);
    // A query never fails to be fetched.
    let Ok((points, places)) = state.get(world) else {
        return Vec::new();
    };
    let found = points.iter().map(|(entity, component, own)| {
        let place = places.compute_global_transform(entity);
        let at = place.map_or(own.translation, |place| place.translation());
        let at = at.into();
        (
            entity,
            Placed {
                at,
                component: *component,
            },
        )
    });
    found.collect()
}
