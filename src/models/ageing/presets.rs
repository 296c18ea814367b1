//! Ages that land is often wanted in, by name.

use super::{Ageing, Uplift};

/// An age with a name: settings and years; `erode --age NAME` runs it.
#[derive(Clone, Copy, Debug)]
pub struct AgePreset {
    /// Its name, such as `alpine`.
    pub name: &'static str,
    /// What the land will look like.
    pub about: &'static str,
    /// How long it takes. units: yr
    pub years: f64,
    settings: fn() -> Ageing,
}

impl AgePreset {
    /// All presets.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "young",
            about: "fresh valleys in land that is still as it was between them",
            years: 50_000.0,
            settings: || Ageing::default().with_uplift(Uplift::keep(1.0)),
        },
        Self {
            name: "alpine",
            about: "sharp ridges, steep slopes, wide valleys",
            years: 500_000.0,
            settings: || Ageing {
                slope_angle: 45.0,
                creep: 0.0003,
                ..Ageing::default().with_uplift(Uplift::keep(0.9))
            },
        },
        Self {
            name: "old",
            about: "worn hills with round tops and plains between them",
            years: 2_000_000.0,
            settings: || Ageing {
                creep: 0.02,
                slope_angle: 32.0,
                ..Ageing::default().with_uplift(Uplift::keep(0.4))
            },
        },
        Self {
            name: "canyon",
            about: "deep valleys with steep walls in a plateau, nothing laid down",
            years: 200_000.0,
            settings: || Ageing {
                deposition: 0.0,
                slope_angle: 60.0,
                creep: 0.0002,
                area_exponent: 0.5,
                ..Ageing::default().with_uplift(Uplift::keep(1.0))
            },
        },
        Self {
            name: "badlands",
            about: "soft ground cut by gullies everywhere",
            years: 100_000.0,
            settings: || Ageing {
                erodibility: 1e-4,
                creep: 0.0005,
                slope_angle: 50.0,
                deposition: 0.5,
                ..Ageing::default().with_uplift(Uplift::keep(0.9))
            },
        },
    ];

    /// The preset of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|preset| preset.name == name)
    }

    /// Its settings.
    pub fn settings(&self) -> Ageing {
        (self.settings)()
    }
}
