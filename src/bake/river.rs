//! Meandering rivers ahead of time.

use super::{BakeError, BakeProgress, background::Background};
use crate::{
    models::meander::{Ground, RiverSolver},
    terrain::in_range,
};
use bevy::ecs::component::Component;
use core::time::Duration;

/// Length of a step unless another is asked for. units: s
const STEP: f64 = 0.1;
/// Steps between two looks at the progress.
const STEPS_AT_ONCE: u64 = 64;

/// A river and how long it is to run.
///
/// ```
/// use bevy_erode::{models::meander::RiverPlain, prelude::*};
/// use bevy_erode::bake::{BakeProgress, RiverBake};
///
/// let plain = RiverPlain { length: 512.0, width: 256.0, ..RiverPlain::default() };
/// let river = plain.river(MeanderingRiver::default()).map_err(|error| error.to_string())?;
/// let river = RiverBake::new(river, 300).run(&BakeProgress::default())?;
/// assert!(river.tally().cut > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RiverBake<G> {
    river: RiverSolver<G>,
    steps: u64,
    step: f64,
}

impl<G: Ground> RiverBake<G> {
    /// Runs a river for so many steps.
    pub fn new(river: RiverSolver<G>, steps: u64) -> Self {
        Self {
            river,
            steps,
            step: STEP,
        }
    }

    /// Takes steps of another length. units: s
    pub fn with_step(self, step: f64) -> Self {
        Self { step, ..self }
    }

    /// Does it all, and returns the river. The result does not depend on the
    /// number of threads.
    pub fn run(mut self, progress: &BakeProgress) -> Result<RiverSolver<G>, BakeError> {
        in_range("RiverBake", "step", self.step as f32, 1e-6..=1e3)?;
        progress.reach(0.0)?;
        for step in 1..=self.steps {
            self.river.step(self.step);
            if step.is_multiple_of(STEPS_AT_ONCE) {
                progress.reach(step as f64 / self.steps as f64)?;
            }
        }
        progress.reach(1.0)?;
        Ok(self.river)
    }
}

/// A river that is grown beside a running game, on Bevy's async compute threads.
/// Ask it for the river with [`finished`](Self::finished); dropping it cancels
/// the bake.
#[derive(Component, Debug)]
pub struct RiverTask<G: Send + Sync + 'static>(Background<RiverSolver<G>>);

impl<G: Ground + 'static> RiverTask<G> {
    /// Starts a bake.
    pub fn start(bake: RiverBake<G>) -> Self {
        Self(Background::start(move |progress| bake.run(progress)))
    }

    /// The river, or why there is none: once, when it has ended.
    pub fn finished(&mut self) -> Option<Result<RiverSolver<G>, BakeError>> {
        self.0.finished()
    }

    /// The share that is done, 0 to 1.
    pub fn done(&self) -> f32 {
        self.0.done()
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// How long it will still take, judged by what is done; `None` at first.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.time_left()
    }

    /// Stops it after the steps under way.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
