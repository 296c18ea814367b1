//! What every example understands on the command line.

use std::{path::PathBuf, time::Duration};

use bevy::prelude::*;

/// The common options. Flatten them into an example's own `clap::Parser`:
///
/// ```ignore
/// #[derive(clap::Parser)]
/// struct Cli {
///     #[command(flatten)]
///     common: common::Options,
/// }
/// ```
#[derive(clap::Args, Resource, Clone, Debug)]
pub struct Options {
    /// Open no window: simulate, write pictures, exit (also chosen when there is no display)
    #[arg(long)]
    pub headless: bool,

    /// Headless: seconds of erosion before the last picture
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: Option<f32>,

    /// Headless: folder for the pictures
    #[arg(long, value_name = "DIR", default_value = concat!("pictures/", env!("CARGO_CRATE_NAME")))]
    pub out: PathBuf,

    /// Size of the window or of rendered pictures, in pixels
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "1280x720")]
    pub size: UVec2,

    /// Draw no shadows: for slow machines
    #[arg(long)]
    pub no_shadows: bool,

    /// Headless: draw pictures at twice their size and shrink them, for smooth edges
    #[arg(long)]
    pub smooth: bool,

    /// Headless: write pictures of 256 colors, as small files
    #[arg(long)]
    pub palette: bool,

    /// Headless: give up after this much real time, in seconds
    #[arg(long, value_name = "S", value_parser = limit, default_value = "1800", allow_negative_numbers = true)]
    pub limit: Duration,
}

impl Options {
    /// `--seconds`, or what the example thinks best.
    pub fn seconds_or(&self, default: f32) -> f32 {
        self.seconds.unwrap_or(default)
    }
}

/// Zero or more seconds.
fn seconds(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("expected a number of seconds, 0 or more".into()),
    }
}

/// More than zero seconds of real time.
fn limit(text: &str) -> Result<Duration, String> {
    let value = seconds(text)?;
    match Duration::try_from_secs_f32(value) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

/// `1280x720` and the like, within what graphics cards can draw.
fn size(text: &str) -> Result<UVec2, String> {
    let allowed = 16..=8192;
    let side = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|side| allowed.contains(side))
    };
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| Some(UVec2::new(side(width)?, side(height)?)))
        .ok_or_else(|| "expected WIDTHxHEIGHT, such as 1280x720, each side from 16 to 8192".into())
}
