//! How water knows that it runs through a bend.

use super::kernels::left;
use crate::settings::Setting;
use bevy::{math::DVec2, prelude::Reflect};

/// The sign of a bend: positive to the left, so the outer bank is on the right.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum CurveSignal {
    /// Turning rate of the neighbors' mean velocity, smoothed over a time, by
    /// speed: close to the true curvature of the stream. units: 1/m
    #[reflect(@Setting::variant("smoothed", || CurveSignal::Smoothed { time: 3.0 })
        .about("The turning rate of the water nearby"))]
    Smoothed {
        /// Time to smooth over. units: s
        #[reflect(@Setting::new("s", 0.0..=60.0).limits(0.0..=1e6).about("Time to smooth over"))]
        time: f32,
    },
    /// The paper's: a particle adds up its own turns. units: rad
    #[reflect(@Setting::variant("accumulated", || CurveSignal::Accumulated {
            least_turn: 0.0,
            decay: 3.0,
            limit: 1.5,
        })
        .about("The paper's: a particle adds up its own turns"))]
    Accumulated {
        /// Smaller turns within a step do not count. units: rad
        #[reflect(@Setting::new("rad", 0.0..=1.0).limits(0.0..=4.0)
            .about("Smaller turns in a step do not count"))]
        least_turn: f32,
        /// Time in which it forgets; the paper never does. units: s
        #[reflect(@Setting::new("s", 0.1..=1000.0).limits(1e-3..=f64::INFINITY)
            .about("Time in which it forgets"))]
        decay: f32,
        /// Largest sum; the paper has none. units: rad
        #[reflect(@Setting::new("rad", 0.0..=10.0).limits(0.0..=f64::INFINITY)
            .about("Largest sum"))]
        limit: f32,
    },
}

impl CurveSignal {
    /// The same for a river that is slower by a factor.
    pub(super) fn slower(self, times: f32) -> Self {
        match self {
            Self::Smoothed { time } => Self::Smoothed { time: time * times },
            Self::Accumulated {
                least_turn,
                decay,
                limit,
            } => Self::Accumulated {
                least_turn,
                decay: decay * times,
                limit,
            },
        }
    }

    /// A particle's signal after a step in which the mean velocity around it
    /// and its own one turned.
    #[inline]
    pub(super) fn follow(&self, signal: f64, mean: Turn, own: Turn, dt: f64) -> f64 {
        match *self {
            Self::Smoothed { time } => {
                let speed = mean.to.length();
                if speed < 1e-6 {
                    return signal;
                }
                let curvature = mean.sine() / (dt * speed);
                signal + (curvature - signal) * (dt / (f64::from(time) + dt))
            }
            Self::Accumulated {
                least_turn,
                decay,
                limit,
            } => {
                let turn = own.sine();
                let counted = if turn.abs() > f64::from(least_turn) {
                    turn
                } else {
                    0.0
                };
                let limit = f64::from(limit);
                let kept = signal / (1.0 + dt / f64::from(decay));
                (kept + counted).clamp(-limit, limit)
            }
        }
    }
}

/// A velocity before and after a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub from: DVec2,
    pub to: DVec2,
}

impl Turn {
    /// Sine of the angle, positive to the left; a half turn counts as a quarter.
    #[inline]
    fn sine(&self) -> f64 {
        let size = (self.from.length_squared() * self.to.length_squared()).sqrt();
        if size < 1e-12 {
            return 0.0;
        }
        let sine = left(self.from).dot(self.to) / size;
        if self.from.dot(self.to) >= 0.0 {
            sine
        } else {
            sine.signum()
        }
    }
}
