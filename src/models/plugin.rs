//! Wires a solver into an app: its settings are a resource, and its state
//! follows terrain and settings as they come, change and go.

use super::Solver;
use crate::{
    schedule::{Erosion, ErosionStep, LastRun},
    terrain::{Terrain, TerrainCursor},
};
use bevy::{ecs::schedule::InternedSystemSet, prelude::*};
use core::marker::PhantomData;

/// A model could not run, and why. It is sent once, and the model rests until
/// its settings or the terrain change.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct ErosionFault {
    /// The model's name, e.g. `Droplets`.
    pub model: &'static str,
    /// What is wrong, and where.
    pub reason: String,
}

/// Runs the solver `S` in every erosion step while its settings are there.
pub struct ModelPlugin<S> {
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
        app.add_message::<ErosionFault>()
            .insert_resource(ModelState::<S> {
                cursor: TerrainCursor::default(),
                solver: None,
                refused: false,
                #[cfg(feature = "gpu")]
                on_gpu: false,
            })
            .add_systems(ErosionStep, advance_model::<S>.in_set(self.set));
    }
}

#[derive(Resource)]
pub(crate) struct ModelState<S> {
    /// The terrain that the solver was made for, and where it was.
    cursor: TerrainCursor,
    /// Kept while settings are refused, so that it goes on where it was.
    solver: Option<S>,
    refused: bool,
    /// The last step was the GPU's.
    #[cfg(feature = "gpu")]
    on_gpu: bool,
}

impl<S> ModelState<S> {
    /// The solver, if there is one.
    pub fn solver_mut(&mut self) -> Option<&mut S> {
        self.solver.as_mut()
    }
}

#[cfg(feature = "io")]
impl<S> ModelState<S> {
    /// The solver, if it works on this terrain.
    pub fn solver_on(&self, terrain: &Terrain) -> Option<&S> {
        self.solver.as_ref().filter(|_| self.cursor.is_at(terrain))
    }

    /// Goes on with a solver on this terrain. Without one, it will be made when
    /// the next step needs it.
    pub fn resume(&mut self, terrain: &Terrain, solver: Option<S>) {
        let known = solver.as_ref().map(|_| TerrainCursor::at(terrain));
        self.cursor = known.unwrap_or_default();
        self.solver = solver;
        self.refused = false;
        #[cfg(feature = "gpu")]
        {
            self.on_gpu = false;
        }
    }
}

pub(crate) fn advance_model<S: Solver>(
    terrain: Option<ResMut<Terrain>>,
    settings: Option<Res<S::Settings>>,
    mut state: ResMut<ModelState<S>>,
    time: Res<Time<Erosion>>,
    mut faults: MessageWriter<ErosionFault>,
    mut last: ResMut<LastRun>,
    #[cfg(feature = "gpu")] mut gpu: Option<ResMut<crate::gpu::GpuControl>>,
) {
    let (Some(mut terrain), Some(settings)) = (terrain, settings) else {
        state.solver = None;
        state.cursor = TerrainCursor::default();
        return;
    };
    let changes = state.cursor.changes(&terrain).shift_as_replaced();
    let new_terrain = changes.replaced();
    let state = &mut *state;
    let result = match (&mut state.solver, new_terrain) {
        (Some(solver), false) if settings.is_changed() => solver.set_settings(settings.clone()),
        // Settings that were refused are not tried again until they change.
        (Some(_), false) if state.refused => return,
        (Some(_), false) => Ok(()),
        (None, false) if !settings.is_changed() => return,
        _ => {
            // A solver of the old terrain is of no use.
            state.solver = None;
            S::new(settings.clone(), terrain.grid()).map(|solver| state.solver = Some(solver))
        }
    };
    if let Err(error) = result {
        error!("{error}; the model rests until this is mended");
        faults.write(ErosionFault {
            model: S::NAME,
            reason: error.to_string(),
        });
        state.refused = true;
        return;
    }
    state.refused = false;
    if let Some(solver) = &mut state.solver {
        let dt = time.context().step_size().as_secs_f32();
        #[cfg(feature = "gpu")]
        {
            if let Some(gpu) = gpu.as_mut().filter(|gpu| gpu.is_running()) {
                if let Some(job) = solver.gpu_job(dt) {
                    gpu.order(job, &mut terrain, dt);
                    if !core::mem::replace(&mut state.on_gpu, true) {
                        solver.hand_over(terrain.grid());
                    }
                    return;
                }
                gpu.host_runs(S::NAME, S::MOVES_WATER);
            }
            state.on_gpu = false;
        }
        solver.step(&mut terrain, dt);
        last.lost_by_models += solver.time_lost();
    }
}
