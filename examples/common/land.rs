//! Landforms to choose from.

use bevy_erode::prelude::*;
use bevy_erode::terrain::landform::{
    Billow, ConicalHill, Faults, FourSlopeBasin, LandformKind, Letters, SineWaves, Sum,
    TiltedPlane, Warped, WindingChannel,
};

/// The landforms on offer.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Land {
    Range,
    Island,
    Ridged,
    Fbm,
    Billow,
    Warped,
    Faults,
    Cone,
    Plane,
    Waves,
    Basin,
    Channel,
    Letters,
}

impl Land {
    pub const ALL: [Land; 13] = [
        Land::Range,
        Land::Island,
        Land::Ridged,
        Land::Fbm,
        Land::Billow,
        Land::Warped,
        Land::Faults,
        Land::Cone,
        Land::Plane,
        Land::Waves,
        Land::Basin,
        Land::Channel,
        Land::Letters,
    ];

    /// Its shape.
    pub fn form(self, seed: u32) -> LandformKind {
        let ridged = || LandformKind::from(Ridged::seeded(seed));
        match self {
            Land::Range => {
                let ridges = Ridged::seeded(seed)
                    .with_feature_size(900.0)
                    .with_height(150.0);
                // Falls off to all borders, where the rivers run out.
                let slopes = ConicalHill::seeded(seed)
                    .with_height(190.0)
                    .with_radius(760.0)
                    .with_roughness(0.0);
                Sum::new(ridges.into(), slopes.into()).into()
            }
            Land::Island => Island::new(ridged(), seed).into(),
            Land::Ridged => ridged(),
            Land::Fbm => Fbm::seeded(seed).into(),
            Land::Billow => Billow::seeded(seed).into(),
            Land::Warped => Warped::new(ridged(), seed).into(),
            Land::Faults => Faults::seeded(seed).into(),
            Land::Cone => ConicalHill::seeded(seed).into(),
            Land::Plane => {
                let bumps = Fbm::seeded(seed).with_feature_size(60.0).with_height(4.0);
                Sum::new(TiltedPlane::default().into(), bumps.into()).into()
            }
            Land::Waves => SineWaves::default().into(),
            Land::Basin => FourSlopeBasin::default().into(),
            Land::Channel => WindingChannel::default().into(),
            Land::Letters => Letters::seeded(seed).into(),
        }
    }
}
