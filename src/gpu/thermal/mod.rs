//! Thermal weathering as passes: two for each of its own passes.

use super::{
    frame_plan::{FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Map, State, Status, Working},
        HARDNESS, Pass, PassModule,
        Plane::{Cover, Rock},
        SCRATCH, shader_file,
    },
    shader_module::shader_module,
    status,
    twin::{GpuTwin, StepRecorder},
};
use crate::models::thermal::{
    ThermalSolver,
    solver::{NEARLY_ALL as SOIL_SHARE, Substep as SlideStep, WALL},
};
use bevy::{math::*, render::render_resource::ShaderType};

shader_module! {
    pub(super) static CONSTANTS = "bevy_erode::gpu::thermal::constants";
    constants {
        /// Height of what lies beyond the border: nothing flows up there.
        HIGH: f32 = WALL;
        /// Largest share of a cell's soil that slides in a sub-step.
        NEARLY_ALL: f32 = SOIL_SHARE;
        /// The smallest number of a full mantissa, and the share of a power of two in
        /// which flows are counted.
        SMALLEST: f32 = f32::MIN_POSITIVE;
        QUANTUM_SHARE: f32 = 4.0 * f32::EPSILON;
        /// The distance to a neighbor along an axis, by that along a diagonal.
        PER_DIAGONAL: f32 = core::f32::consts::FRAC_1_SQRT_2;
    }
    /// Constants of a pass; `models::thermal` says what they mean.
    struct ThermalConstants as thermal at (1, 0) {
        stable: Vec2,
        share: Vec2,
        /// The words of the status buffer for the deepest soil: of this pass, and
        /// of the next.
        deepest: UVec2,
        rock_stable: f32,
        breaking: f32,
        shelter: f32,
    }
}

static SHARES: Pass = Pass {
    label: "erosion/thermal/shares",
    shader: shader_file!("shares.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (Working(&SCRATCH), Write),
    ],
    constants: Some(ThermalConstants::min_size),
};

static SLIDE: Pass = Pass {
    label: "erosion/thermal/slide",
    shader: shader_file!("slide.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (Working(&SCRATCH), Read),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(ThermalConstants::min_size),
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&SHARES, &SLIDE],
    libraries: &[],
    constants: &[&CONSTANTS],
    twins: |twins| twins.add::<ThermalSolver>(),
};

/// Passes of one step.
struct Slides {
    count: u32,
    substep: SlideStep,
}

/// Which of its two words of the status buffer the next pass uses.
#[derive(Default)]
struct Turn {
    next: usize,
}

impl GpuCommand for Slides {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        for _ in 0..self.count {
            let now = plan.with_state(|turn: &mut Turn| {
                let now = turn.next;
                turn.next = 1 - now;
                now
            });
            let constants = plan.constants(&ThermalConstants {
                stable: self.substep.stable.into(),
                share: self.substep.share.into(),
                deepest: uvec2(status::DEEPEST[now], status::DEEPEST[1 - now]),
                rock_stable: self.substep.rock_stable,
                breaking: self.substep.breaking,
                shelter: self.substep.shelter,
            });
            plan.over_cells(&SHARES, constants);
            plan.over_cells(&SLIDE, constants);
        }
    }
}

impl GpuTwin for ThermalSolver {
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        let (count, substep) = self.plan(dt);
        recorder.begin().push(Slides { count, substep });
    }
}
