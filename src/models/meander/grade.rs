//! The grade of a river: the level of its bed along its course.
//!
//! A plain falls along its valley, a river along its course. Where a bend runs
//! across the valley, or back, a bed at an even depth below the plain would have
//! no fall: the water would stand there, back up and spill. So a bed is graded:
//!
//! ```text
//! grade(s) = mean of the floodplain over `grading` along the stream, never rising, − depth
//! ```

use super::{Ground, MeanderingRiver, neighbors::Nearest};
use bevy::math::DVec2;

/// A bed is at least so deep below the floodplain and at most so deep, of the
/// depth.
const MIN_BED_DEPTH: f64 = 0.5;
const MAX_BED_DEPTH: f64 = 2.0;
/// How far from its course a river's grade counts, in radii.
const REACH: f64 = 2.0;

/// Levels of the bed along the courses of a river.
#[derive(Clone, Debug)]
pub(super) struct Grade {
    pub places: Vec<DVec2>,
    pub levels: Vec<f64>,
    /// Whether a place is the last of its course.
    pub last: Vec<bool>,
    reach: f64,
    /// The lowest floodplain that a course came to. units: m
    pub end: f64,
    nearest: Nearest,
}

impl Default for Grade {
    /// No course at all.
    fn default() -> Self {
        Self {
            places: Vec::new(),
            levels: Vec::new(),
            last: Vec::new(),
            reach: 1.0,
            end: f64::INFINITY,
            nearest: Nearest::new(&[], 1.0),
        }
    }
}

impl Grade {
    /// The grade along courses.
    pub fn along(settings: &MeanderingRiver, ground: &impl Ground, courses: &[Vec<DVec2>]) -> Self {
        let mut grade = Self::default();
        for course in courses {
            grade.add(settings, ground, course);
        }
        grade.ready(settings)
    }

    /// The same, so that places can be found.
    pub fn ready(mut self, settings: &MeanderingRiver) -> Self {
        self.reach = REACH * f64::from(settings.radius);
        self.nearest = Nearest::new(&self.places, self.reach);
        self
    }

    fn add(&mut self, settings: &MeanderingRiver, ground: &impl Ground, course: &[DVec2]) {
        let depth = f64::from(settings.depth);
        let plain: Vec<f64> = course
            .iter()
            .map(|at| ground.floodplain(ground.point_at(*at)))
            .collect();
        let length: f64 = course.windows(2).map(|p| p[0].distance(p[1])).sum();
        let spacing = length / course.len().saturating_sub(1).max(1) as f64;
        // Twice a mean of half the way: smooth, and as wide in all.
        let reach = (0.25 * f64::from(settings.grading) / spacing.max(1e-6)) as usize;
        self.end = plain.iter().copied().fold(self.end, f64::min);
        let mut lowest = f64::INFINITY;
        for (plain, mean) in plain.iter().zip(means(&means(&plain, reach), reach)) {
            lowest = mean.min(lowest);
            let (deepest, shallowest) =
                (plain - MAX_BED_DEPTH * depth, plain - MIN_BED_DEPTH * depth);
            self.levels
                .push((lowest - depth).clamp(deepest, shallowest));
        }
        self.places.extend_from_slice(course);
        self.last
            .extend((1..=course.len()).map(|i| i == course.len()));
    }

    /// Level of the bed at the nearest place of a course, if one is near. units: m
    #[inline]
    pub fn level(&self, at: DVec2) -> Option<f64> {
        self.level_within(at, self.reach)
    }

    /// Level of the bed in the channel of a course, if it is within this
    /// distance (m). units: m
    #[inline]
    pub fn level_within(&self, at: DVec2, reach: f64) -> Option<f64> {
        let nearest = self.nearest.find(at, reach)?;
        // Between the two places of the course beside it.
        let before = nearest.checked_sub(1).filter(|&i| !self.last[i]);
        let after = Some(nearest + 1).filter(|_| !self.last[nearest]);
        let along = |other: Option<usize>| {
            let other = other?;
            let way = self.places[other] - self.places[nearest];
            let share = (at - self.places[nearest]).dot(way) / way.length_squared().max(1e-12);
            let fall = self.levels[other] - self.levels[nearest];
            Some(fall * share.clamp(0.0, 1.0))
        };
        // Beyond the ends of a course nothing is known.
        let fall = match (along(before), along(after)) {
            (Some(before), Some(after)) => before + after,
            (Some(fall), None) | (None, Some(fall)) if fall != 0.0 => fall,
            _ => return None,
        };
        Some(self.levels[nearest] + fall)
    }
}

/// Mean of this many neighbors on either side, fewer at the ends.
fn means(values: &[f64], reach: usize) -> Vec<f64> {
    let mean = |i: usize| {
        let reach = reach.min(i).min(values.len() - 1 - i);
        let near = &values[i - reach..=i + reach];
        near.iter().sum::<f64>() / near.len() as f64
    };
    (0..values.len()).map(mean).collect()
}
