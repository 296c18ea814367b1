//! Wires a solver into an app: its settings are a resource, and its state
//! follows terrain and settings as they come, change and go.

use super::{ShiftOutcome, Solver};
use crate::{
    backend::{Device, StepDevice},
    schedule::{Erosion, ErosionStep, LastRun},
    terrain::{Terrain, TerrainCursor},
};
use bevy::{ecs::schedule::InternedSystemSet, prelude::*};
use core::marker::PhantomData;

/// A model, source or river could not run, and why. It is sent once; the model is
/// paused until its settings or the terrain change.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct ModelFailed {
    /// The model's name, e.g. `Droplets`.
    pub model: &'static str,
    /// What is wrong, and with which field.
    pub reason: String,
}

/// Runs the solver `S` in every erosion step while its settings are there.
pub(crate) struct ModelPlugin<S> {
    set: InternedSystemSet,
    solver: PhantomData<fn() -> S>,
}

impl<S: Solver> ModelPlugin<S> {
    /// Runs the solver in a set of the step, such as
    /// [`ErosionStepSystems::Water`](crate::schedule::ErosionStepSystems::Water).
    pub fn new(set: impl SystemSet) -> Self {
        Self {
            set: set.intern(),
            solver: PhantomData,
        }
    }
}

impl<S: Solver> Plugin for ModelPlugin<S> {
    fn build(&self, app: &mut App) {
        app.add_message::<ModelFailed>()
            .insert_resource(ModelState::<S> {
                cursor: TerrainCursor::default(),
                solver: None,
                refused: false,
            })
            .add_systems(ErosionStep, advance_model::<S>.in_set(self.set));
    }
}

#[derive(Resource)]
pub(crate) struct ModelState<S> {
    /// The terrain that the solver was made for, and where it was.
    cursor: TerrainCursor,
    /// Kept while settings are refused, so that it continues where it was.
    solver: Option<S>,
    refused: bool,
}

impl<S> ModelState<S> {
    /// The solver, if there is one.
    pub fn solver(&self) -> Option<&S> {
        self.solver.as_ref()
    }

    /// The solver, to change it, if there is one.
    pub fn solver_mut(&mut self) -> Option<&mut S> {
        self.solver.as_mut()
    }
}

#[cfg(feature = "io")]
impl<S: Solver> ModelState<S> {
    /// Follows a shift of the terrain that no step has seen yet.
    pub fn follow_shift(&mut self, terrain: &Terrain) {
        if let (Some(by), Some(solver)) = (self.cursor.peek(terrain).shifted(), &mut self.solver)
            && solver.shift(by, terrain).is_ok()
        {
            self.cursor.shift(by);
        }
    }
}

#[cfg(feature = "io")]
impl<S> ModelState<S> {
    /// The solver, if it was made for this terrain.
    pub fn solver_on(&self, terrain: &Terrain) -> Option<&S> {
        self.solver.as_ref().filter(|_| self.cursor.is_at(terrain))
    }

    /// Continues with a solver on this terrain. Without one, it will be made when
    /// the next step needs it.
    pub fn resume(&mut self, terrain: &Terrain, solver: Option<S>) {
        let known = solver.as_ref().map(|_| TerrainCursor::at(terrain));
        self.cursor = known.unwrap_or_default();
        self.solver = solver;
        self.refused = false;
    }
}

pub(crate) fn advance_model<S: Solver>(
    terrain: Option<ResMut<Terrain>>,
    settings: Option<Res<S::Settings>>,
    mut state: ResMut<ModelState<S>>,
    time: Res<Time<Erosion>>,
    mut faults: MessageWriter<ModelFailed>,
    mut last: ResMut<LastRun>,
    device: Option<ResMut<Device>>,
) {
    let (Some(mut terrain), Some(settings)) = (terrain, settings) else {
        state.solver = None;
        state.cursor = TerrainCursor::default();
        return;
    };
    let state = &mut *state;
    let changes = state.cursor.changes(&terrain);
    let (mut new_terrain, shifted) = (changes.replaced(), changes.shifted());
    if let (Some(by), Some(solver)) = (shifted, &mut state.solver) {
        match solver.shift(by, &terrain) {
            Ok(ShiftOutcome::Kept) => {}
            Ok(ShiftOutcome::Rebuilt) => {
                debug!(
                    "{} was rebuilt: the terrain was shifted by {by} tiles",
                    S::NAME
                );
            }
            // The settings do not suit the terrain any more: say so below.
            Err(_) => new_terrain = true,
        }
    }
    let result = match (&mut state.solver, new_terrain) {
        (Some(solver), false) if settings.is_changed() => solver.set_settings(settings.clone()),
        // Settings that were refused are not tried again until they change.
        (Some(_), false) if state.refused => return,
        (Some(_), false) => Ok(()),
        (None, false) if !settings.is_changed() => return,
        _ => {
            // A solver of the old terrain cannot be used on the new one.
            state.solver = None;
            S::new(settings.clone(), terrain.grid()).map(|solver| state.solver = Some(solver))
        }
    };
    if let Err(error) = result {
        error!("{error}; the model is paused until its settings or the terrain change");
        faults.write(ModelFailed {
            model: S::NAME,
            reason: error.to_string(),
        });
        state.refused = true;
        return;
    }
    state.refused = false;
    if let Some(solver) = &mut state.solver {
        let dt = time.context().step_size().as_secs_f32();
        if let Some(mut device) = device.filter(|device| device.is_running())
            && device.run_step(solver, &mut terrain, dt)
        {
            return;
        }
        solver.step(&mut terrain, dt);
        // A model of another crate may have divided by zero.
        last.lost_by_models += solver.time_lost().max(0.0);
    }
}
