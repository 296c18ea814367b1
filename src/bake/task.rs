//! A bake beside a running game.

use super::{Bake, BakeError, BakeProgress};
use crate::{schedule::ErosionSystems, terrain::Terrain};
use bevy::{
    ecs::schedule::InternedScheduleLabel,
    platform::time::Instant,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, TaskPool, futures::check_ready},
};
use core::time::Duration;
use std::sync::Arc;

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
    progress: Arc<BakeProgress>,
    task: Task<Result<Terrain, BakeError>>,
    started: Instant,
    aside: bool,
}

/// The terrain of a bake that was to be kept aside.
#[derive(Component, Debug)]
pub struct BakedTerrain(pub Terrain);

/// A bake has ended.
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
        let progress = Arc::new(BakeProgress::default());
        let shared = progress.clone();
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::new);
        Self {
            progress,
            task: pool.spawn(async move { bake.run(&shared) }),
            started: Instant::now(),
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
        self.progress.done()
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long it will still take, judged by what is done; `None` at first.
    pub fn time_left(&self) -> Option<Duration> {
        let done = f64::from(self.done());
        (done > 0.0).then(|| self.elapsed().mul_f64((1.0 - done) / done))
    }

    /// Stops it after the step under way. A [`BakeFinished`] message tells when.
    pub fn cancel(&self) {
        self.progress.cancel();
    }
}

/// A bake that nobody waits for must not go on for minutes: dropping its task
/// does not stop it, for it runs in one go.
impl Drop for BakeTask {
    fn drop(&mut self) {
        self.cancel();
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
        let Some(result) = check_ready(&mut bake.task) else {
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
