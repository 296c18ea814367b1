//! Settings described where they stand: unit, sensible range and hard limits of
//! a field are a [`Setting`], a custom attribute of Bevy's `Reflect` derive.
//!
//! Everything that needs to know about a field reads it there: [`check`], the
//! tuning panel's rows, the errors of scenes, `erode --set` and the random
//! settings of the property tests. Settings of a model from another crate are
//! described, checked and shown in the same way:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_erode::settings::{self, Setting};
//!
//! #[derive(Resource, Reflect, Clone, Debug, PartialEq)]
//! #[reflect(@Setting::titled("Frost", "Frost breaks bare rock"))]
//! struct Frost {
//!     /// Rock broken in a second. units: m/s
//!     #[reflect(@Setting::new("m/s", 0.0..=0.01).limits(0.0..=1.0)
//!         .about("Rock broken in a second"))]
//!     rate: f32,
//!     #[reflect(@Setting::optional(Night::default).about("It freezes at night only"))]
//!     night: Option<Night>,
//! }
//!
//! #[derive(Reflect, Clone, Debug, PartialEq)]
//! struct Night {
//!     /// units: s
//!     #[reflect(@Setting::new("s", 1.0..=3600.0).limits(0.1..=1e8).about("Length of a day"))]
//!     day: f32,
//! }
//!
//! impl Default for Night {
//!     fn default() -> Self {
//!         Self { day: 120.0 }
//!     }
//! }
//!
//! let mut frost = Frost { rate: 0.001, night: Some(Night { day: 60.0 }) };
//! assert!(settings::check(&frost).is_ok());
//! frost.night = Some(Night { day: -1.0 });
//! let error = settings::check(&frost).unwrap_err();
//! assert_eq!(error.to_string(), "`Frost.night.day`: must be 0.1 to 100000000, was -1");
//! ```

mod check;
mod list;
mod path;
#[cfg(test)]
mod tests;
mod wrong;

pub use check::check;
pub use list::{ListedSetting, list};
pub use path::open_path;
pub(crate) use wrong::{other_variants, wrong_numbers};

use bevy::{
    platform::sync::Arc,
    prelude::*,
    reflect::{PartialReflect, TypeInfo, Typed},
};
use core::{fmt, ops::RangeInclusive};

/// What makes a value that a part of settings starts with.
type Start = Arc<dyn Fn() -> Box<dyn PartialReflect> + Send + Sync>;

/// Description of a field, of an enum's variant or of a whole settings struct:
/// an attribute `#[reflect(@Setting::…)]`. See the [module](self) for an example.
#[derive(Reflect, Clone)]
#[reflect(opaque, Clone, Debug)]
pub struct Setting {
    label: Option<&'static str>,
    about: &'static str,
    unit: &'static str,
    range: Option<(f64, f64)>,
    limits: (f64, f64),
    start: Option<Start>,
    hides_all_but: Option<&'static [&'static str]>,
}

impl Setting {
    /// A field that is not a number: a `bool` or an enum.
    pub const fn plain() -> Self {
        Self {
            label: None,
            about: "",
            unit: "",
            range: None,
            limits: (f64::MIN, f64::MAX),
            start: None,
            hides_all_but: None,
        }
    }

    /// A number with its unit (empty where it has none) and the range of sensible
    /// values, which a slider covers. Any finite value is accepted unless there
    /// are [`limits`](Self::limits).
    pub fn new(unit: &'static str, range: RangeInclusive<impl Into<f64> + Copy>) -> Self {
        Self {
            unit,
            range: Some(ends(&range)),
            ..Self::plain()
        }
    }

    /// A seed of random numbers: any whole number.
    pub fn seed() -> Self {
        Self::new("", 0..=9999)
    }

    /// An `Option` of further settings, and those it starts with when it is
    /// switched on.
    pub fn optional<S: Reflect>(start: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self {
            start: Some(Arc::new(move || Box::new(start()))),
            ..Self::plain()
        }
    }

    /// A variant of an enum: its label, and the value that it starts with when
    /// it is chosen.
    pub fn variant<E: Reflect>(
        label: &'static str,
        start: impl Fn() -> E + Send + Sync + 'static,
    ) -> Self {
        Self::optional(start).label(label)
    }

    /// A settings struct: its title and what it does.
    pub const fn titled(title: &'static str, about: &'static str) -> Self {
        Self::plain().label(title).about(about)
    }

    /// Hard limits, which [`check`] enforces. They include the sensible range.
    /// Infinite values are accepted where a limit is infinite.
    #[must_use]
    pub fn limits(self, limits: RangeInclusive<impl Into<f64> + Copy>) -> Self {
        Self {
            limits: ends(&limits),
            ..self
        }
    }

    /// What the field does, in a sentence.
    #[must_use]
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// What to show instead of the field's name.
    #[must_use]
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    /// For an `Option` of an alternative method: while it is `Some`, only these
    /// other fields of the struct have an effect.
    #[must_use]
    pub const fn hides_all_but(mut self, fields: &'static [&'static str]) -> Self {
        self.hides_all_but = Some(fields);
        self
    }

    /// The unit; empty where there is none.
    pub const fn unit(&self) -> &'static str {
        self.unit
    }

    /// The range of sensible values, if this is a number.
    pub fn range(&self) -> Option<RangeInclusive<f64>> {
        self.range.map(|(low, high)| low..=high)
    }

    /// The hard limits.
    pub const fn hard_limits(&self) -> RangeInclusive<f64> {
        self.limits.0..=self.limits.1
    }

    /// What the field does.
    pub const fn explanation(&self) -> &'static str {
        self.about
    }

    /// The label, or the field's name in words.
    pub fn label_or(&self, field: &str) -> String {
        match self.label {
            Some(label) => label.into(),
            None => field.replace('_', " "),
        }
    }

    /// What an optional part or a variant starts with.
    pub fn start(&self) -> Option<Box<dyn PartialReflect>> {
        self.start.as_ref().map(|start| start())
    }

    /// The other fields that have an effect while this one is `Some`, if not all.
    pub const fn shown_beside(&self) -> Option<&'static [&'static str]> {
        self.hides_all_but
    }

    /// The description of a settings struct.
    pub fn of<S: Typed>() -> Option<&'static Self> {
        Self::of_type(S::type_info())
    }

    /// The description of a settings struct whose type is known only at run time.
    pub fn of_type(info: &TypeInfo) -> Option<&Self> {
        match info {
            TypeInfo::Struct(info) => info.get_attribute(),
            TypeInfo::Enum(info) => info.get_attribute(),
            _ => None,
        }
    }

    /// Whether a value is within the limits.
    pub fn accepts(&self, value: f64) -> bool {
        let (low, high) = self.limits;
        // NaN fails the comparison.
        low <= value && value <= high
    }

    /// Whether a single-precision value is within the limits, rounded to single
    /// precision as well: 89.9 as `f32` is a little more than 89.9.
    fn accepts_single(&self, value: f32) -> bool {
        let (low, high) = self.limits;
        // Limits that are finite must not become infinite by the rounding.
        let bound = |limit: f64| match limit.is_finite() {
            true => limit.clamp(f32::MIN.into(), f32::MAX.into()) as f32,
            false => limit as f32,
        };
        bound(low) <= value && value <= bound(high)
    }
}

/// The ends of a range.
fn ends(range: &RangeInclusive<impl Into<f64> + Copy>) -> (f64, f64) {
    ((*range.start()).into(), (*range.end()).into())
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Setting")
            .field("label", &self.label)
            .field("about", &self.about)
            .field("unit", &self.unit)
            .field("range", &self.range)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
