//! How far a pass is: a bar on a terminal, plain lines elsewhere.

use bevy_erode::bake::BakeProgress;
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    thread,
    time::Instant,
};

/// Parts of a bar.
const PARTS: u64 = 10_000;
/// Time between two looks at a bar, and at least between two lines.
const LOOK: Duration = Duration::from_millis(80);
const LINES: Duration = Duration::from_secs(1);
/// So much more must be done for another line. units: %
const LINE_STEP: u32 = 10;

/// Where progress is told.
#[derive(Clone, Copy, PartialEq)]
pub enum Style {
    Bar,
    Lines,
    Silent,
}

impl Style {
    /// What suits the standard error.
    pub fn fitting(quiet: bool) -> Self {
        match quiet {
            true => Self::Silent,
            false if io::stderr().is_terminal() => Self::Bar,
            false => Self::Lines,
        }
    }

    /// A line for people, unless there is to be none.
    pub fn say(self, line: &str) {
        if self != Self::Silent {
            eprintln!("{line}");
        }
    }
}

/// Does a work and tells how far it is, then how long it took.
pub fn watch<T>(
    style: Style,
    label: &str,
    progress: &BakeProgress,
    work: impl FnOnce() -> T,
) -> (T, Duration) {
    if style == Style::Lines {
        eprintln!("{label}");
    }
    let began = Instant::now();
    let done = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        let watcher = scope.spawn(|| match style {
            Style::Bar => draw_bar(label, progress, &done),
            Style::Lines => print_lines(label, progress, &done, began),
            Style::Silent => {}
        });
        // Also if the work panics, the watcher must end.
        let guard = Finish(&done, watcher.thread());
        let result = work();
        drop(guard);
        result
    });
    let took = began.elapsed();
    style.say(&format!("{label}: done in {:.2} s", took.as_secs_f32()));
    (result, took)
}

struct Finish<'a>(&'a AtomicBool, &'a thread::Thread);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

fn draw_bar(label: &str, progress: &BakeProgress, done: &AtomicBool) {
    let bar = ProgressBar::new(PARTS);
    let template = "{prefix} [{wide_bar}] {percent:>3} %, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(label.to_owned());
    while !done.load(Ordering::Acquire) {
        bar.set_position((f64::from(progress.done()) * PARTS as f64) as u64);
        thread::park_timeout(LOOK);
    }
    bar.finish_and_clear();
}

fn print_lines(label: &str, progress: &BakeProgress, done: &AtomicBool, began: Instant) {
    let mut next = LINE_STEP;
    loop {
        thread::park_timeout(LINES);
        if done.load(Ordering::Acquire) {
            return;
        }
        let share = f64::from(progress.done());
        let percent = (share * 100.0) as u32;
        if percent >= next {
            let left = began.elapsed().mul_f64((1.0 - share) / share);
            eprintln!("{label}: {percent} %, {:.0} s left", left.as_secs_f32());
            next = percent / LINE_STEP * LINE_STEP + LINE_STEP;
        }
    }
}
