//! The shape of the land before erosion: seeded mountains and simple analytic shapes.
//!
//! Every landform is a plain struct whose features are given in metres. A landform is a function
//! of position alone, so sampling it at another resolution shows the same land in more detail,
//! never another land. All of them are deterministic and portable: they use only exactly rounded
//! arithmetic and [`libm`], so one seed gives one land on every platform.

mod analytic;
mod any;
mod channel;
mod combine;
mod faults;
mod fractal;
mod glyphs;
mod island;
mod letters;
mod noise_stack;
mod valley;
mod warp;

pub use analytic::{ConicalHill, FourSlopeBasin, SineWaves, TiltedPlane};
pub use any::LandformKind;
pub use channel::WindingChannel;
pub use combine::{Scaled, Sum};
pub use faults::Faults;
pub use fractal::{Billow, Fbm, Ridged};
pub use island::Island;
pub use letters::Letters;
pub use valley::Valley;
pub use warp::Warped;

use bevy::math::DVec2;

/// The elevation of one prepared landform: metres above the datum at a point in metres from the
/// terrain's center.
pub type Sampler<'a> = Box<dyn Fn(DVec2) -> f64 + Send + Sync + 'a>;

/// The shape of a piece of land: elevation as a function of position.
///
/// Positions are metres from the terrain's center; x runs east (grid x) and y runs south (grid
/// rows, world +Z). Wrappers such as [`Warped`] and [`Island`] take any landform, also a
/// `Box<dyn Landform>` or a reference.
///
/// ```
/// # use bevy_erode::prelude::*; use bevy::math::DVec2;
/// # use bevy_erode::terrain::landform::{Landform, LandformError};
/// let land = Island::new(Ridged::seeded(7), 7);
/// land.check()?;
/// let elevation = land.sampler(DVec2::splat(1000.0));
/// assert!(elevation(DVec2::ZERO) > elevation(DVec2::new(500.0, 0.0)));
/// # Ok::<(), LandformError>(())
/// ```
pub trait Landform: Send + Sync {
    /// Checks the settings.
    ///
    /// # Errors
    /// Says which field is wrong and why.
    fn check(&self) -> Result<(), LandformError>;

    /// Prepares noise tables once and returns the elevation, in metres, at a point in metres from
    /// the center. `extent` is the width and depth of the land in metres.
    ///
    /// Settings that [`check`](Self::check) rejects give a meaningless land (possibly NaN), but
    /// no panic.
    fn sampler(&self, extent: DVec2) -> Sampler<'_>;
}

impl<L: Landform + ?Sized> Landform for &L {
    fn check(&self) -> Result<(), LandformError> {
        (**self).check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        (**self).sampler(extent)
    }
}

impl<L: Landform + ?Sized> Landform for Box<L> {
    fn check(&self) -> Result<(), LandformError> {
        (**self).check()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        (**self).sampler(extent)
    }
}

/// A landform setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{landform}.{field}`: {reason}")]
pub struct LandformError {
    /// The landform's type, such as `Fbm`.
    pub landform: &'static str,
    /// The field of it that is wrong.
    pub field: &'static str,
    /// What the field must be and what it was.
    pub reason: String,
}

/// No landform setting in metres may be larger: far beyond any planet, yet small enough that
/// sums and products of settings stay finite.
const MAX_LENGTH: f64 = 1e9;

/// Checks one landform's fields, one after the other.
#[derive(Clone, Copy)]
struct Checks(&'static str);

impl Checks {
    fn that(self, good: bool, field: &'static str, reason: impl FnOnce() -> String) -> Checked {
        if good {
            Ok(self)
        } else {
            Err(LandformError {
                landform: self.0,
                field,
                reason: reason(),
            })
        }
    }

    /// Any elevation or offset, below zero too.
    fn finite(self, field: &'static str, value: f64) -> Checked {
        self.within(field, value, -MAX_LENGTH, MAX_LENGTH)
    }

    /// A size that may not be zero.
    fn positive(self, field: &'static str, value: f64) -> Checked {
        self.that(value > 0.0 && value <= MAX_LENGTH, field, || {
            format!("must be more than 0 and at most {MAX_LENGTH:e}, was {value}")
        })
    }

    /// An amplitude or width that may be zero.
    fn not_negative(self, field: &'static str, value: f64) -> Checked {
        self.within(field, value, 0.0, MAX_LENGTH)
    }

    fn within(self, field: &'static str, value: f64, low: f64, high: f64) -> Checked {
        // NaN is inside no range, so it is rejected here as well.
        self.that((low..=high).contains(&value), field, || {
            if low == -MAX_LENGTH && high == MAX_LENGTH {
                format!("must be finite and within ±{MAX_LENGTH:e}, was {value}")
            } else if high == MAX_LENGTH {
                format!("must be {low} to {high:e}, was {value}")
            } else {
                format!("must be {low} to {high}, was {value}")
            }
        })
    }

    fn count(self, field: &'static str, value: u32, low: u32, high: u32) -> Checked {
        self.that((low..=high).contains(&value), field, || {
            format!("must be {low} to {high}, was {value}")
        })
    }

    fn done(self) -> Result<(), LandformError> {
        Ok(())
    }
}

type Checked = Result<Checks, LandformError>;

/// Writes the `with_*` builders of a landform.
macro_rules! builders {
    ($($name:ident => $field:ident: $kind:ty),+ $(,)?) => {
        $(
            #[doc = concat!("The same land with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $name(mut self, $field: $kind) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
}
use builders;

/// Rises from 0 to 1 as `t` goes from 0 to 1, level at both ends.
#[inline]
fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests;
