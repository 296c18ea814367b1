//! Models in a saved state: their settings as text, and the working state of their
//! solvers.

use super::{SaveError, SavedModel, SavedSettings, SavedSolverState};
use crate::{
    models::{Solver, plugin::ModelState},
    terrain::Terrain,
};
use bevy::prelude::*;

/// Sets a model of a world, or removes it.
pub(crate) type Restore = Box<dyn FnOnce(&mut World, &Terrain)>;

/// How a model is saved and loaded.
#[derive(Clone, Copy)]
pub(crate) struct ModelFiles {
    /// Lets the solver follow a shift of the terrain that no step has seen yet.
    pub follow_shift: fn(&mut World),
    /// Takes the model from a world, if it is there.
    pub capture: fn(&World, &Terrain) -> Result<Option<SavedModel>, SaveError>,
    /// Checks everything, and says how to put it into a world.
    pub prepare: fn(Option<&SavedModel>, &Terrain) -> Result<Restore, SaveError>,
}

impl ModelFiles {
    pub const fn of<S: Solver>() -> Self {
        Self {
            follow_shift: follow_shift::<S>,
            capture: capture::<S>,
            prepare: prepare::<S>,
        }
    }
}

fn follow_shift<S: Solver>(world: &mut World) {
    if world.contains_resource::<Terrain>() && world.contains_resource::<ModelState<S>>() {
        world.resource_scope(|world, mut state: Mut<ModelState<S>>| {
            state.follow_shift(world.resource::<Terrain>());
        });
    }
}

fn capture<S: Solver>(world: &World, terrain: &Terrain) -> Result<Option<SavedModel>, SaveError> {
    let Some(settings) = world.get_resource::<S::Settings>() else {
        return Ok(None);
    };
    // What a model refuses could not be loaded again.
    S::new(settings.clone(), terrain.grid())?;
    let state = world.get_resource::<ModelState<S>>();
    let solver = state.and_then(|state| state.solver_on(terrain));
    SavedModel::of(settings, solver, terrain).map(Some)
}

fn prepare<S: Solver>(model: Option<&SavedModel>, terrain: &Terrain) -> Result<Restore, SaveError> {
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
    /// A model with these settings, whose solver may still use others.
    pub fn of<S: Solver>(
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
                state: solver.save_state(terrain),
            }),
            None => None,
        };
        Ok(Self {
            name: S::NAME.into(),
            settings: SavedSettings::of::<S>(settings)?,
            solver,
        })
    }

    /// The settings, and a solver that continues where the saved one was.
    pub fn open<S: Solver>(
        &self,
        terrain: &Terrain,
    ) -> Result<(S::Settings, Option<S>), SaveError> {
        let settings = self.settings.open::<S>()?;
        // Settings that no solver uses yet are checked, too.
        let new = S::new(settings.clone(), terrain.grid())?;
        let Some(saved) = &self.solver else {
            return Ok((settings, None));
        };
        let mut solver = match &saved.settings {
            Some(others) => S::new(others.open::<S>()?, terrain.grid())?,
            None => new,
        };
        solver.load_state(&saved.state, terrain)?;
        Ok((settings, Some(solver)))
    }
}

impl SavedSettings {
    fn of<S: Solver>(settings: &S::Settings) -> Result<Self, SaveError> {
        let mut settings = settings.clone();
        let plane = S::take_plane(&mut settings);
        let text = ron::Options::default().to_string(&settings);
        Ok(Self {
            text: text.map_err(|error| SaveError::Header(error.to_string()))?,
            plane,
        })
    }

    fn open<S: Solver>(&self) -> Result<S::Settings, SaveError> {
        let read = ron::Options::default().from_str(&self.text);
        let mut settings: S::Settings = read.map_err(|error| {
            let reason: String = error.to_string().chars().take(400).collect();
            SaveError::Header(format!("settings of model `{}`: {reason}", S::NAME))
        })?;
        S::put_plane(&mut settings, self.plane.clone());
        Ok(settings)
    }
}
