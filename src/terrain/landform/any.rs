//! Any of this crate's landforms, as a value: what a file can name.

use super::{
    Billow, ConicalHill, Faults, Fbm, FourSlopeBasin, Island, Landform, LandformError, Letters,
    Ridged, Sampler, Scaled, SineWaves, Sum, TiltedPlane, Valley, Warped, WindingChannel,
};
use bevy::math::DVec2;

/// Writes the enum and everything that treats all its variants alike.
macro_rules! landform_kinds {
    ($($(#[$doc:meta])* $name:ident($land:ty),)+) => {
        /// Any of this crate's landforms. Wrappers hold kinds themselves, so that whole lands can
        /// be chosen at run time or read from a file.
        ///
        /// ```
        /// # use bevy_erode::prelude::*;
        /// # use bevy_erode::terrain::landform::{Landform, LandformError, LandformKind};
        /// let peaks: LandformKind = Ridged::seeded(7).into();
        /// let island: LandformKind = Island::new(peaks, 7).into();
        /// island.check()?;
        /// # Ok::<(), LandformError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
        pub enum LandformKind {
            $($(#[$doc])* $name($land),)+
        }

        impl Landform for LandformKind {
            fn check(&self) -> Result<(), LandformError> {
                match self {
                    $(Self::$name(land) => land.check(),)+
                }
            }

            fn sampler(&self, extent: DVec2) -> Sampler<'_> {
                match self {
                    $(Self::$name(land) => land.sampler(extent),)+
                }
            }
        }
    };
}

landform_kinds! {
    /// Alpine mountains.
    Ridged(Ridged),
    /// Rolling mountains.
    Fbm(Fbm),
    /// Rounded hills.
    Billow(Billow),
    /// Land broken along fault lines.
    Faults(Faults),
    /// A round cone.
    ConicalHill(ConicalHill),
    /// A plane.
    TiltedPlane(TiltedPlane),
    /// Regular hills and hollows.
    SineWaves(SineWaves),
    /// A square basin.
    FourSlopeBasin(FourSlopeBasin),
    /// A dry river bed.
    WindingChannel(WindingChannel),
    /// A valley with a flat floor.
    Valley(Valley),
    /// Mountains in the shape of letters.
    Letters(Letters),
    /// A land in the sea.
    Island(Box<Island<LandformKind>>),
    /// A land bent sideways.
    Warped(Box<Warped<LandformKind>>),
    /// A land made taller or flatter.
    Scaled(Box<Scaled<LandformKind>>),
    /// Two lands on top of each other.
    Sum(Box<Sum<LandformKind, LandformKind>>),
}

impl Default for LandformKind {
    fn default() -> Self {
        Self::Ridged(Ridged::default())
    }
}

impl LandformKind {
    /// The lands that this one is made of, and the fields they stand in.
    pub fn parts(&self) -> Vec<(&'static str, &LandformKind)> {
        match self {
            Self::Island(island) => vec![("land", &island.land)],
            Self::Warped(warped) => vec![("land", &warped.land)],
            Self::Scaled(scaled) => vec![("land", &scaled.land)],
            Self::Sum(sum) => vec![("a", &sum.a), ("b", &sum.b)],
            _ => Vec::new(),
        }
    }
}

macro_rules! from_landforms {
    ($($name:ident),+) => {
        $(impl From<$name> for LandformKind {
            fn from(land: $name) -> Self {
                Self::$name(land)
            }
        })+
    };
}

from_landforms!(
    Ridged,
    Fbm,
    Billow,
    Faults,
    ConicalHill,
    TiltedPlane,
    SineWaves,
    FourSlopeBasin,
    WindingChannel,
    Valley,
    Letters
);

impl From<Island<LandformKind>> for LandformKind {
    fn from(land: Island<LandformKind>) -> Self {
        Self::Island(Box::new(land))
    }
}

impl From<Warped<LandformKind>> for LandformKind {
    fn from(land: Warped<LandformKind>) -> Self {
        Self::Warped(Box::new(land))
    }
}

impl From<Scaled<LandformKind>> for LandformKind {
    fn from(land: Scaled<LandformKind>) -> Self {
        Self::Scaled(Box::new(land))
    }
}

impl From<Sum<LandformKind, LandformKind>> for LandformKind {
    fn from(land: Sum<LandformKind, LandformKind>) -> Self {
        Self::Sum(Box::new(land))
    }
}
