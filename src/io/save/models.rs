//! Models in a saved state: their settings as text, and what their solvers
//! remember.

use super::{SaveError, SavedModel, SavedSettings, SavedSolverState};
use crate::{
    forcing::{EvaporationSolver, RainPattern, RainSolver},
    models::{
        Solver, droplet::DropletSolver, lava::LavaSolver, pipe::PipeSolver, plugin::ModelState,
        shallow_water::ShallowWaterSolver, thermal::ThermalSolver,
    },
    terrain::Terrain,
};
use bevy::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

/// A solver that can be saved with its settings.
pub trait SavedSolver: Solver<Settings: Serialize + DeserializeOwned> {
    /// Takes out of the settings what is too large for text, a number a cell.
    fn take_plane(settings: &mut Self::Settings) -> Vec<f32> {
        let _ = settings;
        Vec::new()
    }

    /// Puts back what [`take_plane`](Self::take_plane) took.
    fn put_plane(settings: &mut Self::Settings, plane: Vec<f32>) {
        let _ = (settings, plane);
    }
}

impl SavedSolver for DropletSolver {}
impl SavedSolver for PipeSolver {}
impl SavedSolver for ShallowWaterSolver {}
impl SavedSolver for ThermalSolver {}
impl SavedSolver for LavaSolver {}
impl SavedSolver for EvaporationSolver {}

impl SavedSolver for RainSolver {
    fn take_plane(settings: &mut Self::Settings) -> Vec<f32> {
        match &mut settings.pattern {
            RainPattern::Map(weights) => core::mem::take(weights),
            _ => Vec::new(),
        }
    }

    fn put_plane(settings: &mut Self::Settings, plane: Vec<f32>) {
        if let RainPattern::Map(weights) = &mut settings.pattern {
            *weights = plane;
        }
    }
}

/// All models of this crate. A new one needs a line here.
pub(super) const KINDS: &[Kind] = &[
    Kind::of::<DropletSolver>(),
    Kind::of::<PipeSolver>(),
    Kind::of::<ShallowWaterSolver>(),
    Kind::of::<LavaSolver>(),
    Kind::of::<ThermalSolver>(),
    Kind::of::<RainSolver>(),
    Kind::of::<EvaporationSolver>(),
];

/// Sets a model of a world, or removes it.
pub(super) type Restore = Box<dyn FnOnce(&mut World, &Terrain)>;

/// What can be done with a model of one kind.
pub(super) struct Kind {
    pub name: &'static str,
    /// Takes the model from a world, if it is there.
    pub capture: fn(&World, &Terrain) -> Result<Option<SavedModel>, SaveError>,
    /// Checks everything, and says how to put it into a world.
    pub prepare: fn(Option<&SavedModel>, &Terrain) -> Result<Restore, SaveError>,
}

impl Kind {
    const fn of<S: SavedSolver>() -> Self {
        Self {
            name: S::NAME,
            capture: capture::<S>,
            prepare: prepare::<S>,
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Result<&'static Self, SaveError> {
        let kind = KINDS.iter().find(|kind| kind.name == name);
        kind.ok_or_else(|| SaveError::UnknownModel(name.into()))
    }
}

fn capture<S: SavedSolver>(
    world: &World,
    terrain: &Terrain,
) -> Result<Option<SavedModel>, SaveError> {
    let Some(settings) = world.get_resource::<S::Settings>() else {
        return Ok(None);
    };
    // What a model refuses could not be loaded again.
    S::new(settings.clone(), terrain.grid())?;
    let state = world.get_resource::<ModelState<S>>();
    let solver = state.and_then(|state| state.solver_on(terrain));
    SavedModel::of(settings, solver, terrain).map(Some)
}

fn prepare<S: SavedSolver>(
    model: Option<&SavedModel>,
    terrain: &Terrain,
) -> Result<Restore, SaveError> {
    let (settings, solver) = match model {
        Some(model) => {
            let (settings, solver) = model.open::<S>(terrain)?;
            (Some(settings), solver)
        }
        None => (None, None),
    };
    Ok(Box::new(move |world: &mut World, terrain: &Terrain| {
        if let Some(mut state) = world.get_resource_mut::<ModelState<S>>() {
            state.resume(terrain, solver);
        }
        match settings {
            Some(settings) => world.insert_resource(settings),
            None => {
                world.remove_resource::<S::Settings>();
            }
        }
    }))
}

impl SavedModel {
    /// A model with these settings, whose solver may still work by others.
    pub fn of<S: SavedSolver>(
        settings: &S::Settings,
        solver: Option<&S>,
        terrain: &Terrain,
    ) -> Result<Self, SaveError> {
        let solver = match solver {
            Some(solver) => Some(SavedSolverState {
                settings: match solver.settings() {
                    same if same == settings => None,
                    other => Some(SavedSettings::of::<S>(other)?),
                },
                memory: solver.save_state(terrain),
            }),
            None => None,
        };
        Ok(Self {
            name: S::NAME.into(),
            settings: SavedSettings::of::<S>(settings)?,
            solver,
        })
    }

    /// The settings, and a solver that goes on where the saved one was.
    pub fn open<S: SavedSolver>(
        &self,
        terrain: &Terrain,
    ) -> Result<(S::Settings, Option<S>), SaveError> {
        let settings = self.settings.open::<S>()?;
        // Also those that no solver works by yet must do.
        let new = S::new(settings.clone(), terrain.grid())?;
        let Some(saved) = &self.solver else {
            return Ok((settings, None));
        };
        let mut solver = match &saved.settings {
            Some(others) => S::new(others.open::<S>()?, terrain.grid())?,
            None => new,
        };
        solver.load_state(&saved.memory, terrain)?;
        Ok((settings, Some(solver)))
    }
}

impl SavedSettings {
    fn of<S: SavedSolver>(settings: &S::Settings) -> Result<Self, SaveError> {
        let mut settings = settings.clone();
        let plane = S::take_plane(&mut settings);
        let text = ron::Options::default().to_string(&settings);
        Ok(Self {
            text: text.map_err(|error| SaveError::Header(error.to_string()))?,
            plane,
        })
    }

    fn open<S: SavedSolver>(&self) -> Result<S::Settings, SaveError> {
        let read = ron::Options::default().from_str(&self.text);
        let mut settings: S::Settings = read.map_err(|error| {
            let reason: String = error.to_string().chars().take(400).collect();
            SaveError::Header(format!("`{}`: {reason}", S::NAME))
        })?;
        S::put_plane(&mut settings, self.plane.clone());
        Ok(settings)
    }
}
