//! Work on Bevy's async compute threads that tells how far it is.

use super::{BakeError, BakeProgress};
use bevy::{
    platform::time::Instant,
    tasks::{AsyncComputeTaskPool, Task, TaskPool, futures::check_ready},
};
use core::time::Duration;
use std::sync::Arc;

/// Work under way. Dropping it cancels the work.
#[derive(Debug)]
pub(super) struct Background<T> {
    progress: Arc<BakeProgress>,
    /// Gone when it has ended.
    task: Option<Task<Result<T, BakeError>>>,
    started: Instant,
}

impl<T: Send + 'static> Background<T> {
    pub fn start(
        work: impl FnOnce(&BakeProgress) -> Result<T, BakeError> + Send + 'static,
    ) -> Self {
        let progress = Arc::new(BakeProgress::default());
        let shared = progress.clone();
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::new);
        Self {
            progress,
            task: Some(pool.spawn(async move { work(&shared) })),
            started: Instant::now(),
        }
    }

    /// What came of it, once: when it has ended.
    pub fn finished(&mut self) -> Option<Result<T, BakeError>> {
        let result = check_ready(self.task.as_mut()?)?;
        self.task = None;
        Some(result)
    }
}

impl<T> Background<T> {
    pub fn done(&self) -> f32 {
        self.progress.done()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn time_left(&self) -> Option<Duration> {
        let done = f64::from(self.done());
        let seconds = self.elapsed().as_secs_f64() * (1.0 - done) / done;
        // None while nothing is done, and beyond all bounds.
        Duration::try_from_secs_f64(seconds).ok()
    }

    pub fn cancel(&self) {
        self.progress.cancel();
    }
}

/// Work that nobody waits for must not continue for minutes: dropping its task does
/// not stop it, because it runs without a pause.
impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}
