//! Splits work over Bevy's task pools, never over threads of our own.
//!
//! Solvers cut their work into fixed pieces (tiles, bands of rows, batches)
//! whose results do not depend on which thread does them or when. So any number of
//! workers gives the same bits.

use bevy::tasks::{ComputeTaskPool, TaskPool, TaskPoolBuilder, available_parallelism};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The threads that do the work of a solver's step.
#[derive(Clone, Copy, Debug)]
pub struct Workers<'a> {
    pool: Option<&'a TaskPool>,
}

impl Workers<'static> {
    /// Bevy's [`ComputeTaskPool`]. Where no app has started it, it gets a
    /// thread for each core but the caller's, which works too.
    pub fn global() -> Self {
        let start = || {
            let threads = available_parallelism().saturating_sub(1);
            TaskPoolBuilder::new().num_threads(threads).build()
        };
        Self {
            pool: Some(ComputeTaskPool::get_or_init(start)),
        }
    }

    /// The calling thread alone.
    pub fn serial() -> Self {
        Self { pool: None }
    }
}

impl<'a> Workers<'a> {
    /// The threads of a given task pool.
    pub fn on(pool: &'a TaskPool) -> Self {
        Self { pool: Some(pool) }
    }

    /// How many threads may work at once, the calling one included.
    #[inline]
    pub fn count(&self) -> usize {
        self.pool.map_or(1, |pool| pool.thread_num() + 1)
    }

    /// Calls `work` once for each job and returns when all are done.
    pub fn each<J: Send>(&self, jobs: impl IntoIterator<Item = J>, work: impl Fn(J) + Sync) {
        self.each_of(&mut jobs.into_iter(), &work);
    }

    /// [`Self::each`], compiled once for each kind of job. Jobs are few and long:
    /// what a dynamic call costs is nothing beside them, while a copy of Bevy's
    /// scope and tasks for each of some fifty callers is a minute of compiling.
    fn each_of<'w, J: Send + 'w>(
        &self,
        jobs: &mut dyn Iterator<Item = J>,
        work: &'w (dyn Fn(J) + Sync),
    ) {
        match self.pool {
            Some(pool) if pool.thread_num() > 0 => run_all(pool, &mut || {
                let job = jobs.next()?;
                Some(Box::new(move || work(job)))
            }),
            _ => jobs.for_each(work),
        }
    }

    /// Lets each of `states` take numbers from `0..count` until all are taken: for
    /// work that needs scratch memory per worker.
    pub fn share<S: Send>(
        &self,
        states: &mut [S],
        count: usize,
        work: impl Fn(&mut S, usize) + Sync,
    ) {
        let next = AtomicUsize::new(0);
        self.each(states, |state| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                work(state, number);
            }
        });
    }
}

type BoxedJob<'w> = Box<dyn FnOnce() + Send + 'w>;

/// Runs all that `next` gives on a pool, and returns when all is done.
fn run_all<'w>(pool: &TaskPool, next: &mut dyn FnMut() -> Option<BoxedJob<'w>>) {
    pool.scope(|scope| {
        while let Some(job) = next() {
            scope.spawn(async move { job() });
        }
    });
}
