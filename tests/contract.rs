//! What every model promises, whatever it does.

use crate::models::cases;
use bevy_erode::{models::pipe::PipeSolver, models::thermal::ThermalSolver};
use bevy_erode::{
    models::{AppErosionExt, BUILT_IN, ErosionModels},
    prelude::*,
    testing::{Conditions, check_contract, check_model},
};

#[test]
fn every_model_of_the_table_keeps_its_contract() {
    let broken: Vec<String> = cases()
        .iter()
        .filter_map(|(model, conditions)| check_model(model, conditions).err())
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The checks find what is wrong.
#[test]
fn broken_promises_are_found() {
    let still = Conditions {
        step: 0.1,
        ..Conditions::default()
    };
    // Soil that lies at rest does not move.
    let settings = Thermal {
        soil_angle: 89.0,
        bedrock_angle: 89.9,
        ..Thermal::default()
    };
    let error = check_contract::<ThermalSolver>(settings, &still).unwrap_err();
    assert!(
        error.contains("`Thermal`") && error.contains("does not change"),
        "{error}"
    );
    let settings = Thermal {
        shelter: -1.0,
        ..Thermal::default()
    };
    let error = check_contract::<ThermalSolver>(settings, &still).unwrap_err();
    assert!(error.contains("shelter"), "{error}");
}

#[test]
fn names_and_keys_are_unique_and_fit_into_a_scene() {
    for (number, entry) in BUILT_IN.iter().enumerate() {
        for other in &BUILT_IN[..number] {
            assert_ne!(entry.name(), other.name());
            assert_ne!(entry.key(), other.key());
            assert_ne!(entry.settings_type(), other.settings_type());
        }
        let snake = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(entry.key().chars().all(snake), "{}", entry.key());
    }
    let twice = ErosionModels::default()
        .with::<PipeSolver>()
        .expect("there already");
    assert_eq!(twice.iter().count(), BUILT_IN.len());
    // Adding it again does not run it twice.
    let mut app = bevy::app::App::new();
    app.add_plugins((bevy::MinimalPlugins, ErosionPlugin::default()))
        .add_erosion_model::<ThermalSolver>();
    app.update();
    assert_eq!(
        app.world().resource::<ErosionModels>().iter().count(),
        BUILT_IN.len()
    );
}
