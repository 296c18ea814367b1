//! The drops of a step, for the GPU to let fall.

use super::{DropletSolver, Physics, starts_of};
use crate::gpu::{DropBatch, DropConstants};
use std::sync::Arc;

impl DropletSolver {
    /// The batches of a step, as the CPU would let them fall. None of drops that
    /// form streams, for lakes are found one cell after the other, none of the
    /// source's own, which fall one after the other, and none whose ways are so
    /// long that a device might give up.
    pub(super) fn gpu_batches(&mut self, dt: f32) -> Option<Vec<DropBatch>> {
        if self.settings.published.is_some() || self.settings.streams.is_some() {
            return None;
        }
        let batch = self.batch() as u64;
        let physics = Physics::new(&self.settings, &self.grid, batch as usize);
        let constants = physics.gpu_constants();
        if turns(&constants) > MOST_TURNS {
            return None;
        }
        let mut batches = Vec::new();
        if !dt.is_finite() || dt <= 0.0 {
            return Some(batches);
        }
        let count = self.due_drops(dt);
        let start = self.draw(count);
        if self.grid.size().min_element() < 2 {
            return Some(batches);
        }
        let brush: Arc<[f32]> = physics.brush.numbers().into();
        let mut first = 0;
        while first < count {
            let drops = batch.min(count - first) as usize;
            batches.push(DropBatch {
                constants,
                brush: brush.clone(),
                starts: starts_of(drops, |n| start(first + n as u64), &self.grid),
            });
            first += drops as u64;
        }
        Some(batches)
    }
}

/// Turns of loops that an invocation may take in all: software devices end loops
/// after 65 536, and others a dispatch that takes too long.
const MOST_TURNS: u64 = 60_000;

/// Turns of the longest of ways: a drop lays something at each leg up to three
/// times, four cells of the brush a turn. To end a loop is a turn as well.
fn turns(constants: &DropConstants) -> u64 {
    let side = u64::from(2 * constants.reach + 1);
    let laying = side * u64::from(constants.pitch / 4) + 2;
    let exchanging = 3 * (u64::from(constants.places) * laying + 1);
    exchanging.max(u64::from(constants.max_steps))
}
