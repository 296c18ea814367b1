//! A bake beside a running game.

use super::{Bake, BakeError, background::Background};
use crate::{schedule::ErosionSystems, terrain::Terrain};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};
use core::time::Duration;

/// A bake under way; spawn it. When it is done, its terrain becomes the world's
/// [`Terrain`], or a [`BakedTerrain`] of this entity if
/// [`aside`](Self::aside) was asked for, a [`BakeFinished`] message is sent and
/// the component is removed. Removing, replacing or despawning it cancels the bake.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_erode::prelude::*;
/// fn start(mut commands: Commands) -> Result {
///     let land = Terrain::generate(&Ridged::seeded(7), UVec2::splat(512), 2.0)?;
///     commands.spawn(BakeTask::start(Bake::new(land).droplets(Droplets::default(), 200_000)));
///     Ok(())
/// }
///
/// fn show(bakes: Query<&BakeTask>) {
///     for bake in &bakes {
///         println!("{:.0} %, {:?} to go", bake.done() * 100.0, bake.time_left());
///     }
/// }
/// ```
#[derive(Component, Debug)]
pub struct BakeTask {
    work: Background<Terrain>,
    aside: bool,
}

/// The terrain of a bake that was to be kept aside.
#[derive(Component, Debug)]
pub struct BakedTerrain(pub Terrain);

/// A bake has ended.
///
/// [The guide](crate::guide::baking) has an example.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct BakeFinished {
    /// The entity that it ran on.
    pub entity: Entity,
    /// How long it took, or why there is no terrain.
    pub result: Result<Duration, BakeError>,
}

impl BakeTask {
    /// Starts a bake on Bevy's async compute threads.
    pub fn start(bake: Bake) -> Self {
        Self {
            work: Background::start(move |progress| bake.run(progress)),
            aside: false,
        }
    }

    /// Leaves the world's terrain as it is.
    pub fn aside(mut self) -> Self {
        self.aside = true;
        self
    }

    /// The share that is done, 0 to 1.
    pub fn done(&self) -> f32 {
        self.work.done()
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.work.elapsed()
    }

    /// How long it will still take, judged by what is done; `None` at first.
    pub fn time_left(&self) -> Option<Duration> {
        self.work.time_left()
    }

    /// Stops it after the step under way. A [`BakeFinished`] message tells when.
    pub fn cancel(&self) {
        self.work.cancel();
    }
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_message::<BakeFinished>()
        .add_systems(schedule, finish_bakes.in_set(ErosionSystems::Input));
}

fn finish_bakes(
    mut commands: Commands,
    mut bakes: Query<(Entity, &mut BakeTask)>,
    mut finished: MessageWriter<BakeFinished>,
) {
    for (entity, mut bake) in &mut bakes {
        // Looking marks nothing as changed.
        let bake = bake.bypass_change_detection();
        let Some(result) = bake.work.finished() else {
            continue;
        };
        // A game may despawn it in this very frame.
        commands.entity(entity).try_remove::<BakeTask>();
        let result = result.map(|terrain| {
            match bake.aside {
                true => {
                    commands.entity(entity).try_insert(BakedTerrain(terrain));
                }
                false => commands.insert_resource(terrain),
            }
            bake.elapsed()
        });
        finished.write(BakeFinished { entity, result });
    }
}
