//! Which screenshots to take in headless mode, and when.

use bevy::prelude::*;

use super::{headless::HeadlessRunner, probe};

type Before = Box<dyn FnOnce(&mut World)>;

/// One screenshot.
pub struct Shot {
    pub name: String,
    pub seconds: f32,
    pub before: Option<Before>,
}

/// The screenshots of an example.
pub struct Screenshots {
    pub shots: Vec<Shot>,
    pub ready: fn(&World) -> bool,
}

impl Screenshots {
    /// No screenshots yet.
    pub fn new() -> Self {
        Self {
            shots: Vec::new(),
            ready: probe::terrain_is_drawn,
        }
    }

    /// `start.png` before any erosion and `end.png` after `seconds` of it.
    pub fn start_and_end(seconds: f32) -> Self {
        Self::new().shot("start", 0.0).shot("end", seconds)
    }

    /// Adds the screenshot `name.png`, taken after `seconds` of erosion.
    pub fn shot(mut self, name: &str, seconds: f32) -> Self {
        self.shots.push(Shot {
            name: name.into(),
            seconds,
            before: None,
        });
        self
    }

    /// The same, with something to do just before, such as showing another overlay.
    pub fn shot_with(
        mut self,
        name: &str,
        seconds: f32,
        before: impl FnOnce(&mut World) + 'static,
    ) -> Self {
        self.shots.push(Shot {
            name: name.into(),
            seconds,
            before: Some(Box::new(before)),
        });
        self
    }

    /// Runs the app until all screenshots are written.
    pub fn take(mut self, app: App) -> AppExit {
        self.shots.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let count = self.shots.len();
        match HeadlessRunner::new(app).and_then(|mut runner| runner.take(self)) {
            Ok(()) => {
                println!("wrote {count} picture{}", if count == 1 { "" } else { "s" });
                AppExit::Success
            }
            Err(error) => {
                eprintln!("error: {error}");
                AppExit::error()
            }
        }
    }
}
