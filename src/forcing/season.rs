//! Seasons: parts of a year, which may be as short as a game wants it, in which
//! it rains or in which water dries.

use crate::{
    models::solver_state::{StateError, StateReader, StateWriter},
    settings::Setting,
};
use bevy::prelude::*;

/// A part of every year. Years are counted from when rain or evaporation was
/// switched on, in erosion time.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Season {
    /// Length of a year. units: s
    #[reflect(@Setting::new("s", 1.0..=3600.0).limits(0.1..=1e8).about("Length of a year"))]
    pub year: f32,
    /// When in the year it begins: 0 with the year, 0.5 in its middle.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0).about("When in the year it begins"))]
    pub start: f32,
    /// How much of the year it lasts; it may go on into the next.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0)
        .about("How much of the year it lasts"))]
    pub share: f32,
}

impl Default for Season {
    /// The first half of a year of two minutes.
    fn default() -> Self {
        Self {
            year: 120.0,
            start: 0.0,
            share: 0.5,
        }
    }
}

impl Season {
    /// The rest of the year.
    pub fn opposite(self) -> Self {
        Self {
            start: (self.start + self.share).fract(),
            share: 1.0 - self.share,
            ..self
        }
    }

    /// Time of the season in the first `time` seconds. units: s
    fn until(&self, time: f64) -> f64 {
        let year = f64::from(self.year);
        let (start, share) = (f64::from(self.start), f64::from(self.share));
        // As if years began with the season.
        let time = time / year - start;
        let within = (time - time.floor()).min(share);
        year * (time.floor() * share + within)
    }
}

/// The date, for seasons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Calendar {
    /// units: s
    elapsed: f64,
}

impl Calendar {
    /// Advances the time. Returns how much of it lies within the season; all of it
    /// without a season. units: s
    pub fn pass(&mut self, season: Option<&Season>, dt: f32) -> f64 {
        let before = self.elapsed;
        self.elapsed += f64::from(dt);
        match season {
            None => dt.into(),
            Some(season) => (season.until(self.elapsed) - season.until(before)).max(0.0),
        }
    }

    pub fn save_state(&self, writer: &mut StateWriter) {
        writer.write_real(self.elapsed);
    }

    pub fn load_state(reader: &mut StateReader) -> Result<Self, StateError> {
        let elapsed = reader.read_real_in(0.0..=f64::MAX, "the elapsed time, in seconds,")?;
        Ok(Self { elapsed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time of a season within each step.
    fn steps(season: Season, dt: f32, steps: usize) -> Vec<f64> {
        let mut calendar = Calendar::default();
        (0..steps)
            .map(|_| calendar.pass(Some(&season), dt))
            .collect()
    }

    #[test]
    fn a_season_lasts_its_share_of_every_year() {
        let wet = Season {
            year: 8.0,
            start: 0.0,
            share: 0.25,
        };
        let year = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(steps(wet, 1.0, 16), [year, year].concat());
        // The same by any step.
        let total: f64 = steps(wet, 0.3, 1000).iter().sum();
        let whole = steps(wet, 300.0, 1)[0];
        assert!((total - whole).abs() < 1e-4, "{total} against {whole}");
        assert!((whole - 76.0).abs() < 1e-9, "{whole}");
    }

    #[test]
    fn opposite_seasons_make_up_the_year() {
        let wet = Season {
            year: 7.0,
            start: 0.8,
            share: 0.4,
        };
        let pairs = steps(wet, 0.5, 100);
        for (wet, dry) in pairs.iter().zip(steps(wet.opposite(), 0.5, 100)) {
            assert!((wet + dry - 0.5).abs() < 1e-5, "{wet} and {dry}");
        }
        let never = Season { share: 0.0, ..wet };
        assert_eq!(steps(never, 0.5, 100), [0.0; 100]);
    }
}
