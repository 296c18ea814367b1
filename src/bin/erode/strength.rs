//! How strong a pass will be on a land, said before it runs.

use crate::passes::{Amount, Pass};
use bevy_erode::prelude::*;

/// Mean change of the ground by droplets, for each metre of run-off: found on lands of
/// 4 to 30 m cells with 4 mm to 60 m of run-off.
const CHANGE_PER_RUNOFF: f32 = 0.5;
/// Mean changes of less than these shares of the relief are hardly visible, or faint.
const HARDLY: f32 = 0.002;
const FAINT: f32 = 0.01;

/// One line for people: how much of what comes, and what it will change.
pub fn of(pass: &Pass, terrain: &Terrain) -> String {
    let relief = relief(terrain);
    match pass.amount {
        Amount::Droplets(count) => {
            let runoff = pass.droplets().runoff_of(count, terrain.grid());
            runoff_line(runoff, relief, terrain)
        }
        Amount::Runoff { metres, .. } => runoff_line(metres, relief, terrain),
        Amount::Years(years) => format!("{PLAIN} ({years} years of rivers, slides and creep)"),
        Amount::Seconds { seconds, .. } => seconds_line(pass, seconds),
    }
}

/// Drops that are not there change nothing; all others are judged by their water.
fn runoff_line(runoff: f32, relief: f32, terrain: &Terrain) -> String {
    let change = CHANGE_PER_RUNOFF * runoff;
    let line = format!(
        "{} of run-off, expected mean change about {}",
        length(runoff),
        length(change)
    );
    match verdict(change, relief) {
        HARDLY_VISIBLE => {
            let better = good_runoff(relief, terrain.cell_size());
            format!("{HARDLY_VISIBLE} ({line}); try --runoff {better}")
        }
        verdict => format!("{verdict} ({line})"),
    }
}

/// What seconds of a live model do, against the years behind a landscape.
fn seconds_line(pass: &Pass, seconds: f32) -> String {
    let water = pass.models.iter().any(|model| model.entry.moves_water());
    let what = match (water, pass.rain_mm_per_hour()) {
        (true, Some(rain)) => {
            let depth = length(rain / 3.6e6 * seconds);
            format!("{seconds} s of flowing water with {depth} of rain")
        }
        (true, None) => format!("{seconds} s of flowing water"),
        (false, _) => format!("{seconds} s"),
    };
    format!("small by nature ({what})")
}

const HARDLY_VISIBLE: &str = "hardly visible";
const PLAIN: &str = "plain to see";

fn verdict(change: f32, relief: f32) -> &'static str {
    match change / relief.max(1e-3) {
        share if share < HARDLY => HARDLY_VISIBLE,
        share if share < FAINT => "a matter of details",
        _ => PLAIN,
    }
}

/// A run-off that is seen: it moves a few cell sizes, and more on high mountains.
fn good_runoff(relief: f32, cell_size: f32) -> f32 {
    let metres = (3.0 * cell_size).max(relief / 40.0);
    // One digit is exact enough.
    let power = 10f32.powf(metres.log10().floor());
    (metres / power).ceil() * power
}

/// Height between the lowest and the highest ground. units: m
fn relief(terrain: &Terrain) -> f32 {
    let ground = terrain.ground_heights();
    let low = ground.iter().copied().fold(f32::INFINITY, f32::min);
    let high = ground.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    (high - low).max(0.0)
}

/// A length in the unit that suits it.
fn length(metres: f32) -> String {
    match metres {
        m if m >= 10.0 => format!("{m:.0} m"),
        m if m >= 1.0 => format!("{m:.1} m"),
        m if m >= 0.1 => format!("{:.0} cm", 100.0 * m),
        m if m >= 0.001 => format!("{:.0} mm", 1000.0 * m),
        m if m > 0.0 => "less than 1 mm".into(),
        _ => "0 m".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_the_unit_that_suits() {
        let all = [0.0, 2e-4, 0.004, 0.27, 3.21, 2900.0].map(length);
        let expected = ["0 m", "less than 1 mm", "4 mm", "27 cm", "3.2 m", "2900 m"];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_runoff_that_is_tried_is_seen() {
        for (relief, cell) in [(20.0, 0.5), (300.0, 4.0), (2900.0, 30.0)] {
            let runoff = good_runoff(relief, cell);
            assert_eq!(verdict(CHANGE_PER_RUNOFF * runoff, relief), PLAIN);
        }
    }
}
