//! How many steps a frame may order, so that the GPU keeps up.

/// Frames that the GPU may be behind before it gets no more steps.
const MAX_UNANSWERED: usize = 3;
/// Most steps of a frame.
const MAX_STEPS: f64 = 4096.0;

/// More steps a frame while the GPU keeps up, fewer when not.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// Steps of each frame with commands that no result came of yet.
    unanswered: Vec<u32>,
    steps_this_frame: u32,
    allowance: f64,
}

impl Pacing {
    /// Steps that this frame may order.
    pub fn allowed_steps(&self) -> u32 {
        match self.unanswered.len() {
            MAX_UNANSWERED.. => 0,
            _ => self.allowance.clamp(1.0, MAX_STEPS) as u32,
        }
    }

    pub fn count_step(&mut self) {
        self.steps_this_frame += 1;
    }

    /// Whether steps were ordered that nothing was asked of yet.
    pub fn has_new_steps(&self) -> bool {
        self.steps_this_frame > 0
    }

    /// Whether results are still to come.
    pub fn is_waiting(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// A result is asked for of all steps so far.
    pub fn note_request(&mut self) {
        self.unanswered.push(self.steps_this_frame);
        self.steps_this_frame = 0;
    }

    /// The oldest result is there.
    pub fn note_result(&mut self) {
        if self.unanswered.is_empty() {
            return;
        }
        let steps = f64::from(self.unanswered.remove(0));
        // A GPU that answers within a frame or two has time for more.
        let keeps_up = self.unanswered.len() + 1 < MAX_UNANSWERED;
        let allowance = self.allowance.max(1.0);
        self.allowance = match keeps_up {
            true if steps + 1.0 > allowance => (1.25 * allowance).min(MAX_STEPS),
            true => allowance,
            false => (0.5 * allowance).max(1.0),
        };
    }

    /// No result comes any more of what was asked for.
    pub fn forget_requests(&mut self) {
        self.unanswered.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_keeps_up_gets_more_steps_and_a_slow_one_fewer() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.allowed_steps(), 1);
        for _ in 0..20 {
            for _ in 0..pacing.allowed_steps() {
                pacing.count_step();
            }
            pacing.note_request();
            pacing.note_result();
        }
        let fast = pacing.allowed_steps();
        assert!(fast > 20, "{fast} steps a frame");
        for _ in 0..MAX_UNANSWERED {
            pacing.count_step();
            pacing.note_request();
        }
        assert_eq!(pacing.allowed_steps(), 0, "it must answer first");
        pacing.note_result();
        assert!(pacing.allowed_steps() <= fast / 2 + 1);
    }
}
