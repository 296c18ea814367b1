//! The cases in which the table's models are tested. A model without a line here is
//! run with its defaults.

use bevy_erode::{
    models::{AnyModel, BUILT_IN, ModelEntry},
    prelude::*,
    testing::Conditions,
};
use ron::{Options, extensions::Extensions};

/// Settings of a model, as in a scene.
pub fn model(entry: &ModelEntry, settings: &str) -> AnyModel {
    let options = Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let read = options.from_str_seed(settings, entry);
    let read = read.unwrap_or_else(|error| panic!("{}: {settings}: {error}", entry.name()));
    read.unwrap_or_else(|| panic!("{}: no settings", entry.name()))
}

/// Settings that have much to do, and the conditions for it.
type Case = (&'static str, &'static str, Conditions);

const fn conditions(step: f32, water: f32) -> Conditions {
    Conditions {
        step,
        water,
        soil: 0.5,
        unchanged: &[],
    }
}

const CASES: &[Case] = &[
    ("Rain", "()", conditions(0.5, 0.0)),
    (
        "Rain",
        "(pattern: Drops(radius: 4.0, depth: 0.01, seed: 1))",
        conditions(5.0, 0.0),
    ),
    // All water dries, and what it carried becomes soil; bedrock takes on only what
    // is too small for soil to count.
    (
        "Evaporation",
        "(mm_per_hour: 3600.0)",
        Conditions {
            unchanged: &[Layer::Bedrock],
            ..conditions(0.5, 0.001)
        },
    ),
    // Whole ageing steps, and one under way.
    (
        "Ageing",
        "(years_per_second: 7000.0, uplift: Keep(share: 0.8, years: 20000.0))",
        Conditions {
            unchanged: &[Layer::Water],
            ..conditions(0.5, 0.0)
        },
    ),
    (
        "Ageing",
        "(years_per_second: 3000.0, breach: false, fill_lakes: true)",
        conditions(1.0, 0.0),
    ),
    ("Droplets", "(seed: 1)", conditions(0.5, 0.0)),
    (
        "Droplets",
        "(seed: 1, max_steps: 1024, streams: ())",
        conditions(0.5, 0.0),
    ),
    // So hungry that it reaches the bedrock under half a metre of soil.
    (
        "PipeModel",
        "(carving: 300.0, threshold: 0.001, carrying: 300.0)",
        conditions(0.5, 1.0),
    ),
    // Ground so soft that it creeps down to the bedrock under half a metre of soil.
    (
        "ShallowWater",
        "(regolith_depth: 1.0, regolith_roughness: 0.0)",
        conditions(0.5, 1.0),
    ),
    (
        "ShallowWater",
        "(published: (regolith_depth: 1.0))",
        conditions(0.5, 1.0),
    ),
    // So much water that all of it is not boiled, and some load sinks.
    ("Lava", "()", conditions(0.5, 0.1)),
    (
        "Thermal",
        "(soil_angle: 10.0, bedrock_angle: 12.0)",
        conditions(0.1, 0.0),
    ),
];

/// All models of the table with their cases.
pub fn cases() -> Vec<(AnyModel, Conditions)> {
    for (name, ..) in CASES {
        assert!(BUILT_IN.iter().any(|entry| entry.name() == *name), "{name}");
    }
    let cases = BUILT_IN.iter().flat_map(|entry| {
        let own = CASES.iter().filter(|(name, ..)| *name == entry.name());
        let own = own.map(|(_, settings, conditions)| (model(entry, settings), *conditions));
        let own: Vec<_> = own.collect();
        match own.is_empty() {
            true => vec![(entry.default_model(), conditions(0.5, 0.1))],
            false => own,
        }
    });
    cases.collect()
}
