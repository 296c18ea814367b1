//! The springs of a world: found with their places, and changed for others.

use super::SceneEntity;
use crate::forcing::{WaterSink, WaterSource};
use bevy::{ecs::system::SystemState, prelude::*};
use serde::{Deserialize, Serialize};

type Springs<'w, 's, C> = Query<'w, 's, (Entity, &'static C, &'static Transform)>;

/// A source or sink and its place in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spring<C> {
    pub at: (f32, f32, f32),
    pub spring: C,
}

/// All sources and sinks, where they pour or drain.
pub(crate) fn capture_springs(
    world: &mut World,
) -> (Vec<Spring<WaterSource>>, Vec<Spring<WaterSink>>) {
    let (sources, sinks) = find_springs(world);
    let sources = sources.into_iter().map(|(_, spring)| spring);
    (
        sources.collect(),
        sinks.into_iter().map(|(_, spring)| spring).collect(),
    )
}

/// Lets there be these and no others. Those that are the same and at the same
/// place stay; others lose their component, or are despawned if a scene or a
/// state spawned them. New ones are spawned with [`SceneEntity`].
pub(crate) fn restore_springs(
    world: &mut World,
    sources: Vec<Spring<WaterSource>>,
    sinks: Vec<Spring<WaterSink>>,
) {
    let (there, _) = find_springs(world);
    restore(world, "source", there, sources);
    // Found only now: a sink may have gone with a source.
    let (_, there) = find_springs(world);
    restore(world, "sink", there, sinks);
}

type Found<C> = Vec<(Entity, Spring<C>)>;

fn find_springs(world: &mut World) -> (Found<WaterSource>, Found<WaterSink>) {
    let mut state: SystemState<(Springs<WaterSource>, Springs<WaterSink>, TransformHelper)> =
        SystemState::new(world);
    // Queries are always there to be had.
    let Ok((sources, sinks, places)) = state.get(world) else {
        return (Vec::new(), Vec::new());
    };
    (find(&sources, &places), find(&sinks, &places))
}

fn find<C: Component + Copy>(springs: &Springs<C>, places: &TransformHelper) -> Found<C> {
    let found = springs.iter().map(|(entity, spring, own)| {
        let place = places.compute_global_transform(entity);
        let at = place.map_or(own.translation, |place| place.translation());
        (
            entity,
            Spring {
                at: at.into(),
                spring: *spring,
            },
        )
    });
    found.collect()
}

fn restore<C: Component + Copy + PartialEq>(
    world: &mut World,
    name: &'static str,
    there: Found<C>,
    mut wanted: Vec<Spring<C>>,
) {
    for (entity, spring) in there {
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
