//! When everything was last read back at once, and whether the terrain is still
//! what came back then.

use bevy::platform::time::Instant;

/// Readings of everything: those under way, and the last one.
#[derive(Debug, Default)]
pub(super) struct FullReadback {
    requested_at: Option<Instant>,
    in_flight: u32,
    /// Changes to the GPU's terrain that were recorded so far.
    changes: u64,
    /// Changes that are in the last reading of everything.
    mirrored: Option<u64>,
    /// Whether it came in this frame.
    arrival: Arrival,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Arrival {
    #[default]
    Earlier,
    ThisFrame,
}

impl FullReadback {
    /// A terrain is new on the GPU: everything is to be read at once, in case the
    /// device is lost.
    pub fn restart(&mut self) {
        self.requested_at = None;
        self.in_flight = 0;
        self.mirrored = None;
    }

    pub fn begin_frame(&mut self) {
        self.arrival = Arrival::Earlier;
    }

    /// A command that changes the GPU's terrain was recorded.
    pub fn note_change(&mut self) {
        self.changes += 1;
    }

    /// Changes so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    pub fn note_request(&mut self) {
        self.in_flight += 1;
        self.requested_at = Some(Instant::now());
    }

    /// Everything came that was asked for after so many changes.
    pub fn note_result(&mut self, changes: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.mirrored = Some(changes);
        self.arrival = Arrival::ThisFrame;
    }

    pub fn arrived_this_frame(&self) -> bool {
        self.arrival == Arrival::ThisFrame
    }

    /// Whether the terrain has every change that was recorded.
    pub fn is_current(&self) -> bool {
        self.mirrored == Some(self.changes)
    }

    /// Whether it is time for another one, so many seconds after the last.
    pub fn is_due(&self, interval: f32) -> bool {
        let at = self.requested_at;
        let due = at.is_none_or(|at| at.elapsed().as_secs_f32() >= interval);
        due && self.in_flight == 0 && !self.is_current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_current_until_something_changes() {
        let mut full = FullReadback::default();
        assert!(full.is_due(f32::INFINITY), "at once on a new terrain");
        full.note_change();
        let changes = full.changes();
        full.note_request();
        assert!(!full.is_due(0.0), "one at a time");
        full.note_result(changes);
        assert!(full.is_current() && full.arrived_this_frame());
        full.begin_frame();
        assert!(!full.arrived_this_frame());
        full.note_change();
        assert!(!full.is_current() && full.is_due(0.0));
    }

    #[test]
    fn an_earlier_reading_does_not_pass_for_a_later_one() {
        let mut full = FullReadback::default();
        let before = full.changes();
        full.note_request();
        full.note_change();
        full.note_request();
        full.note_result(before);
        assert!(!full.is_current());
        full.note_result(full.changes());
        assert!(full.is_current());
    }
}
