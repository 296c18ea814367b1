//! Every field of every model's settings has a row with an explanation.

use super::*;
use crate::{
    forcing::{Evaporation, Rain, RainPattern, Season},
    models::{
        ageing::{Ageing, Uplift},
        droplet::{Droplets, PublishedDroplets, Streams},
        lava::Lava,
        meander::MeanderingRiver,
        pipe::{PipeModel, PublishedPipe},
        shallow_water::{PublishedShallowWater, ShallowWater},
        thermal::Thermal,
    },
    panel::rows::{Rows, Shown},
};
use bevy::reflect::{PartialReflect, ReflectRef, enums::VariantType};
use std::collections::BTreeSet;

/// The rows that the settings show.
fn shown<S: Settings>(settings: &S) -> Vec<Shown> {
    let mut shown = Vec::new();
    let (mut settings, default) = (settings.clone(), S::default());
    let context = egui::Context::default();
    let _ = context.run_ui(egui::RawInput::default(), |ui| {
        // egui may run it twice.
        shown.clear();
        let mut rows = Rows {
            ui,
            path: String::new(),
            shown: &mut shown,
        };
        rows.all(&mut settings, Some(&default));
    });
    shown
}

/// The paths of all fields, those within optional parts and variants too.
fn fields(value: &dyn PartialReflect, path: &str, found: &mut BTreeSet<String>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value.reflect_ref() {
        ReflectRef::Struct(fields_of) => {
            if !path.is_empty() {
                found.insert(path.to_owned());
            }
            for index in 0..fields_of.field_len() {
                let name = fields_of.name_at(index).expect("a field has a name");
                let field = fields_of.field_at(index).expect("a field has a value");
                fields(field, &below(name), found);
            }
        }
        ReflectRef::Enum(variant) => {
            found.insert(path.to_owned());
            for index in 0..variant.field_len() {
                let field = variant.field_at(index).expect("a field has a value");
                match variant.variant_type() {
                    VariantType::Struct => {
                        let name = variant.name_at(index).expect("a field has a name");
                        fields(field, &below(name), found);
                    }
                    // `Some(…)`: its fields stand below its own name.
                    _ => fields(field, path, found),
                }
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// Compares what is there with what is shown, over some settings of a model.
fn check<S: Settings>(examples: &[S]) {
    let name = S::short_type_path();
    let (mut there, mut rows) = (BTreeSet::new(), BTreeSet::new());
    for settings in examples {
        fields(settings, "", &mut there);
        for row in shown(settings) {
            assert!(!row.explanation.is_empty(), "{name}: {}", row.path);
            rows.insert(row.path);
        }
    }
    assert_eq!(there, rows, "{name}: fields, and rows");
    assert!(there.len() >= 2, "{name}: {there:?}");
}

#[test]
fn every_setting_of_every_model_has_a_row() {
    let season = Some(Season::default());
    check(&[
        Rain {
            season,
            ..default()
        },
        Rain::default().with_pattern(RainPattern::drops(1)),
        Rain::default().with_pattern(RainPattern::blue_noise(1)),
    ]);
    check(&[Evaporation {
        season,
        ..default()
    }]);
    check(&[
        Droplets {
            streams: Some(Streams::default()),
            ..default()
        },
        Droplets {
            published: Some(PublishedDroplets::default()),
            ..default()
        },
    ]);
    check(&[
        PipeModel::default(),
        PipeModel {
            published: Some(PublishedPipe::default()),
            ..default()
        },
    ]);
    check(&[
        ShallowWater::default(),
        ShallowWater {
            published: Some(PublishedShallowWater::default()),
            ..default()
        },
    ]);
    check(&[Lava::default()]);
    check(&[
        Ageing::default().with_uplift(Uplift::Rate { mm_per_year: 1.0 }),
        Ageing::default().with_uplift(Uplift::keep(0.5)),
    ]);
    check(&[Thermal::default()]);
    check(&[MeanderingRiver::default(), MeanderingRiver::as_published()]);
    let models = ErosionModels::default();
    let count = models.iter().count();
    assert_eq!(count, 8, "a new model is to be tested here, too");
}

#[test]
fn one_water_model_takes_the_place_of_the_other() {
    let mut world = World::new();
    world.init_resource::<ErosionPanel>();
    let models = ErosionModels::default();
    let switch = |world: &mut World, key: &str, on: bool| {
        let entry = models.with_key(key).expect("a model of this crate");
        turn(entry, &models, world, on);
    };
    switch(&mut world, "pipe", true);
    switch(&mut world, "thermal", true);
    switch(&mut world, "shallow_water", true);
    assert!(!world.contains_resource::<PipeModel>());
    assert!(world.contains_resource::<ShallowWater>());
    assert!(world.contains_resource::<Thermal>());
    switch(&mut world, "shallow_water", false);
    assert!(!world.contains_resource::<ShallowWater>());
}
