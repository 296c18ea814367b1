//! The models that a pass can run, each with its settings.

use crate::{
    failure::Failure,
    report,
    settings::{self, Assignment},
};
use bevy_erode::prelude::*;
use bevy_erode::{
    bake::BakeModel,
    forcing::{EvaporationSolver, RainSolver},
    models::droplet::DropletSolver,
    models::lava::LavaSolver,
    models::pipe::PipeSolver,
    models::shallow_water::ShallowWaterSolver,
    models::thermal::ThermalSolver,
    terrain::SettingsError,
};
use core::any::Any;
use serde::{Serialize, de::DeserializeOwned};

/// All models, in the order in which they act in a step of an app.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "rain",
        flows: false,
        choose: |preset| choose::<RainSolver>(preset.forcing.rain.as_ref(), Rain::check),
    },
    Kind {
        name: "evaporation",
        flows: false,
        choose: |preset| {
            choose::<EvaporationSolver>(preset.forcing.evaporation.as_ref(), Evaporation::check)
        },
    },
    Kind {
        name: "droplets",
        flows: false,
        choose: |preset| choose::<DropletSolver>(preset.models.droplets.as_ref(), Droplets::check),
    },
    Kind {
        name: "pipe",
        flows: true,
        choose: |preset| choose::<PipeSolver>(preset.models.pipe.as_ref(), PipeModel::check),
    },
    Kind {
        name: "shallow-water",
        flows: true,
        choose: |preset| {
            let set = preset.models.shallow_water.as_ref();
            choose::<ShallowWaterSolver>(set, ShallowWater::check)
        },
    },
    Kind {
        name: "lava",
        flows: false,
        choose: |preset| choose::<LavaSolver>(preset.models.lava.as_ref(), Lava::check),
    },
    Kind {
        name: "thermal",
        flows: false,
        choose: |preset| choose::<ThermalSolver>(preset.models.thermal.as_ref(), Thermal::check),
    },
];

/// A model that can be chosen.
pub struct Kind {
    pub name: &'static str,
    /// Whether it lets water flow: only one such model can run at a time.
    pub flows: bool,
    /// It with the settings of a preset, or the defaults.
    choose: fn(&ErosionScene) -> Box<dyn Settings>,
}

impl Kind {
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = settings::plain_name(name);
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Its place in the order of a step.
    pub fn place(&self) -> usize {
        let place = KINDS.iter().position(|kind| kind.name == self.name);
        place.unwrap_or_default()
    }

    pub fn choose(&'static self, preset: &ErosionScene) -> Model {
        Model {
            kind: self,
            settings: (self.choose)(preset),
        }
    }
}

/// The names of all models, for messages.
pub fn all_names() -> String {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    names.join(", ")
}

/// A chosen model.
pub struct Model {
    pub kind: &'static Kind,
    pub settings: Box<dyn Settings>,
}

impl Model {
    pub fn has(&self, key: &str) -> bool {
        self.settings.names().iter().any(|name| name == key)
    }

    /// Sets a field that it has.
    pub fn set(&mut self, set: &Assignment) -> Result<(), Failure> {
        let done = self.settings.set(&set.key, &set.value);
        done.map_err(|reason| Failure::usage(format!("--set {}: {reason}", set.text)))
    }

    /// Checks the settings; the error names the option that set them.
    pub fn check(&self, sets: &[Assignment]) -> Result<(), Failure> {
        let Err(error) = self.settings.check() else {
            return Ok(());
        };
        let is_blamed = |set: &&Assignment| {
            let field = error.field.split('.').next();
            field == Some(set.key.as_str())
                && set
                    .model
                    .as_deref()
                    .is_none_or(|model| model == self.kind.name)
        };
        Err(Failure::usage(match sets.iter().rev().find(is_blamed) {
            Some(set) => format!("--set {}: `{}` {}", set.text, error.field, error.reason),
            None => format!("--model {}: {error}", self.kind.name),
        }))
    }
}

/// Settings of a model, whichever it is.
pub trait Settings {
    fn names(&self) -> Vec<String>;
    fn set(&mut self, key: &str, value: &str) -> Result<(), String>;
    fn check(&self) -> Result<(), SettingsError>;
    fn bake_model(&self) -> BakeModel;
    fn json(&self) -> serde_json::Value;
    /// To find out which they are.
    fn as_any(&self) -> &dyn Any;
}

struct SettingsOf<S: Solver> {
    settings: S::Settings,
    check: fn(&S::Settings) -> Result<(), SettingsError>,
}

fn choose<S>(
    preset: Option<&S::Settings>,
    check: fn(&S::Settings) -> Result<(), SettingsError>,
) -> Box<dyn Settings>
where
    S: Solver<Settings: Default + Serialize + DeserializeOwned>,
{
    Box::new(SettingsOf::<S> {
        settings: preset.cloned().unwrap_or_default(),
        check,
    })
}

impl<S> Settings for SettingsOf<S>
where
    S: Solver<Settings: Serialize + DeserializeOwned>,
{
    fn names(&self) -> Vec<String> {
        settings::names(&self.settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        self.settings = settings::with_field(&self.settings, key, value)?;
        Ok(())
    }

    fn check(&self) -> Result<(), SettingsError> {
        (self.check)(&self.settings)
    }

    fn bake_model(&self) -> BakeModel {
        BakeModel::new::<S>(self.settings.clone())
    }

    fn json(&self) -> serde_json::Value {
        report::as_json(&self.settings)
    }

    fn as_any(&self) -> &dyn Any {
        &self.settings
    }
}
