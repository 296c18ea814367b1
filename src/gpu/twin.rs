//! Which solvers have a twin on the GPU, and how a step of theirs is recorded.

use super::{
    control::GpuControl,
    exchange::{SetFlow, SetMap},
    executor::Command,
    frame_plan::GpuCommand,
    mirror::{flow_of, pace_of},
    pass::MapSlot,
};
use crate::{
    models::Solver,
    terrain::{Grid, Terrain},
};
use bevy::platform::collections::HashMap;
use core::any::{Any, TypeId};

/// A solver whose steps the GPU can run.
pub(super) trait GpuTwin: Solver {
    /// Records a step: what [`StepRecorder::begin`] returns takes the commands. If
    /// it does not begin, the host runs the step.
    fn record_step(&mut self, dt: f32, recorder: StepRecorder);

    /// The GPU goes on without the solver: what it knew of the terrain holds no
    /// longer. What does not depend on the terrain stays.
    fn hand_over(&mut self, grid: &Grid) {
        if let Ok(new) = Self::new(self.settings().clone(), grid) {
            *self = new;
        }
    }
}

/// All twins, by the type of their solver.
#[derive(Default)]
pub(super) struct Twins(HashMap<TypeId, Twin>);

/// A twin whose solver's type is not known.
#[derive(Clone, Copy)]
struct Twin {
    record_step: fn(&mut dyn Any, f32, StepRecorder),
    hand_over: fn(&mut dyn Any, &Grid),
    runs_on: RunsOn,
}

/// Who ran a model's last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RunsOn {
    #[default]
    Host,
    Gpu,
}

impl Twins {
    /// The twins of all folders of passes.
    pub fn all() -> Self {
        let mut twins = Self::default();
        for module in super::MODULES {
            (module.twins)(&mut twins);
        }
        twins
    }

    pub fn add<S: GpuTwin>(&mut self) {
        let twin = Twin {
            record_step: |solver, dt, recorder| {
                if let Some(solver) = solver.downcast_mut::<S>() {
                    solver.record_step(dt, recorder);
                }
            },
            hand_over: |solver, grid| {
                if let Some(solver) = solver.downcast_mut::<S>() {
                    solver.hand_over(grid);
                }
            },
            runs_on: RunsOn::Host,
        };
        self.0.insert(TypeId::of::<S>(), twin);
    }

    /// Solvers run on the host again.
    pub fn return_all(&mut self) {
        for twin in self.0.values_mut() {
            twin.runs_on = RunsOn::Host;
        }
    }
}

impl GpuControl {
    /// Records a step of a solver. Returns whether the GPU runs it.
    pub(super) fn record<S: Solver>(
        &mut self,
        solver: &mut S,
        terrain: &mut Terrain,
        dt: f32,
    ) -> bool {
        let Some(twin) = self.twins.0.get(&TypeId::of::<S>()).copied() else {
            return false;
        };
        let mut began = false;
        let recorder = StepRecorder {
            control: self,
            terrain,
            moves_water: S::MOVES_WATER,
            began: &mut began,
        };
        (twin.record_step)(solver, dt, recorder);
        let runs_on = match began {
            true => RunsOn::Gpu,
            false => RunsOn::Host,
        };
        let Some(twin) = self.twins.0.get_mut(&TypeId::of::<S>()) else {
            return began;
        };
        // A recorder that began with another terrain took all models back.
        let before = core::mem::replace(&mut twin.runs_on, runs_on);
        if (before, runs_on) == (RunsOn::Host, RunsOn::Gpu) {
            (twin.hand_over)(solver, terrain.grid());
        }
        began
    }
}

/// Waits for a twin to begin.
pub(super) struct StepRecorder<'a> {
    control: &'a mut GpuControl,
    terrain: &'a mut Terrain,
    moves_water: bool,
    began: &'a mut bool,
}

impl<'a> StepRecorder<'a> {
    /// Sends the GPU what the host changed, and takes the commands of the step.
    pub fn begin(self) -> StepCommands<'a> {
        let Self {
            control,
            terrain,
            moves_water,
            began,
        } = self;
        *began = true;
        if !control.is_of(terrain) {
            control.start(terrain);
        }
        control.send_differences(terrain);
        if moves_water
            && let Some(mirror) = control.owner.mirror_mut()
            && mirror.flow_is_the_hosts()
        {
            // The GPU does not know how the water flows.
            let (flow, edges) = flow_of(terrain);
            let pace = pace_of(terrain, control.surroundings.gravity);
            mirror.take_flow(pace);
            let command = SetFlow { flow, edges, pace };
            control.commands.push(Command::run(command));
        }
        control.full_readback.note_change();
        StepCommands { control, terrain }
    }
}

/// Takes the commands of a step.
pub(super) struct StepCommands<'a> {
    control: &'a mut GpuControl,
    terrain: &'a Terrain,
}

impl StepCommands<'_> {
    /// The terrain as the host knows it.
    pub fn terrain(&self) -> &Terrain {
        self.terrain
    }

    /// Most of g·d + v² that is known of. units: m²/s²
    pub fn pace(&self) -> f32 {
        self.control
            .owner
            .mirror()
            .map_or(0.0, |mirror| mirror.pace)
    }

    /// What passes take as gravity from now on. units: m/s²
    pub fn set_gravity(&mut self, gravity: f32) {
        self.control.surroundings.gravity = gravity;
    }

    /// The step leaves out so much erosion time. units: s
    pub fn skip_time(&mut self, time: f32) {
        self.control.skipped_time += time;
    }

    /// Replaces a map where it is another.
    pub fn set_map(&mut self, slot: &'static MapSlot, map: Option<&[f32]>) {
        let known = self.control.maps.get(slot.label);
        if known.map(Vec::as_slice) == map {
            return;
        }
        let map: Option<Vec<f32>> = map.map(Into::into);
        match &map {
            Some(map) => self.control.maps.insert(slot.label, map.clone()),
            None => self.control.maps.remove(slot.label),
        };
        self.push(SetMap { slot, map });
    }

    pub fn push(&mut self, command: impl GpuCommand) {
        self.control.commands.push(Command::run(command));
    }

    /// The last command, if it is such a one.
    pub fn last_mut<C: GpuCommand>(&mut self) -> Option<&mut C> {
        let Some(Command::Run(command)) = self.control.commands.last_mut() else {
            return None;
        };
        let command: &mut dyn Any = command.as_mut();
        command.downcast_mut()
    }
}
