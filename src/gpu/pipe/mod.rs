//! The pipe model as passes: two for each sub-step. The source's own model is in
//! [`published`].

mod constants;
pub(super) mod published;

use super::{
    frame_plan::{FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Map, Next, State, Status},
        HARDNESS, Pass, PassModule,
        Plane::{Cover, Flow, Load, Rock},
        shader_file,
    },
    twin::{GpuTwin, StepRecorder},
};
use crate::{
    models::{
        Solver,
        pipe::{PipeSolver, rows::Step, solver::longest_step},
    },
    terrain::Grid,
};
use bevy::render::render_resource::ShaderType;
use constants::{CONSTANTS, PipeConstants};

static FLOW: Pass = Pass {
    label: "erosion/pipe/flow",
    shader: shader_file!("flow.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Flow), Read),
        (Next(Flow), Write),
    ],
    constants: Some(PipeConstants::min_size),
};

static UPDATE: Pass = Pass {
    label: "erosion/pipe/update",
    shader: shader_file!("update.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Load), Read),
        (Next(Flow), Read),
        (Next(Rock), Write),
        (Next(Cover), Write),
        (Next(Load), Write),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(PipeConstants::min_size),
};

/// The passes of one sub-step, in their order.
pub(super) static SUB_STEP: [&Pass; 2] = [&FLOW, &UPDATE];

pub(super) static MODULE: PassModule = PassModule {
    passes: &SUB_STEP,
    libraries: &[shader_file!("stable.wgsl")],
    constants: &[&CONSTANTS],
    twins: |twins| twins.add::<PipeSolver>(),
};

/// Equal sub-steps.
struct SubSteps {
    dt: f32,
    count: u32,
    step: Step,
}

impl GpuCommand for SubSteps {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        for _ in 0..self.count {
            let constants = plan.constants(&PipeConstants::new(self.dt, &self.step));
            for pass in SUB_STEP {
                plan.over_cells(pass, constants);
            }
            plan.flip_state();
        }
        plan.flow_changed();
    }
}

impl GpuTwin for PipeSolver {
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        let mut step = recorder.begin();
        let model = self.settings();
        if let Some(settings) = &model.published {
            step.set_gravity(settings.gravity);
            step.push(published::Step {
                dt,
                settings: settings.clone(),
            });
            return;
        }
        step.set_gravity(model.gravity);
        let grid = *step.terrain().grid();
        let (part, count) = split(dt, step.pace(), &grid, model.max_substeps);
        step.skip_time((dt - part * count as f32).max(0.0));
        let constants = model.constants(&grid, step.terrain().datum(), part);
        step.push(SubSteps {
            dt: part,
            count,
            step: constants,
        });
    }
}

/// Equal sub-steps that are stable for what is known of the water.
fn split(dt: f32, pace: f32, grid: &Grid, most: u32) -> (f32, u32) {
    let longest = longest_step(pace, grid.cell_size());
    let parts = (dt / longest).ceil().clamp(1.0, most as f32);
    ((dt / parts).min(longest), parts as u32)
}
