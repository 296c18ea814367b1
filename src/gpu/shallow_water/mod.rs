//! Implicit shallow water as passes: solves for the water, and from time to time
//! solves for the regolith below it.

pub(super) mod constants;

use super::{
    frame_plan::{Dispatch, FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Given, Map, State, Status, Working},
        GivenKind, GivenSlot, HARDNESS, Pass, PassModule,
        Plane::{self, Cover, Load, Rock},
        WorkingBuffer, shader_file,
    },
    pools,
    twin::{GpuTwin, StepRecorder},
};
use crate::{
    models::{
        Solver,
        shallow_water::{ShallowWaterSolver, solver::WaterStep},
    },
    terrain::Grid,
};
use bevy::{math::*, render::render_resource::ShaderType};
use constants::{CONSTANTS, LINES, SolveConstants};

/// The soft top of the ground.
pub(super) static REGOLITH: WorkingBuffer = pairs("erosion regolith");
/// Discharge of the regolith.
static CREEP: WorkingBuffer = pairs("erosion creep");
/// Level and depth of the fluid that is solved.
pub(super) static SHEET: WorkingBuffer = pairs("erosion sheet");
/// Of the east and the south face: conductance, kept flow, new flow.
pub(super) static CONDUCTANCE: WorkingBuffer = pairs("erosion conductance");
pub(super) static KEPT: WorkingBuffer = pairs("erosion kept flow");
static SWEPT: WorkingBuffer = pairs("erosion swept flow");
/// How the flow of each face depends on that of the next one.
pub(super) static SHARES: WorkingBuffer = WorkingBuffer {
    label: "erosion shares",
    bytes_per_cell: 4,
};

const fn pairs(label: &'static str) -> WorkingBuffer {
    WorkingBuffer {
        label,
        bytes_per_cell: 8,
    }
}

/// Discharge of the fluid that is solved: of water, or of regolith.
pub(super) static DISCHARGE: GivenSlot = GivenSlot {
    label: "erosion discharge",
    kind: GivenKind::Buffer,
    bytes_per_cell: 8,
};

static FACES: Pass = Pass {
    label: "erosion/shallow_water/faces",
    shader: shader_file!("faces.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (Working(&REGOLITH), Read),
        (Given(&DISCHARGE), Read),
        (Working(&SHEET), Write),
        (Working(&CONDUCTANCE), Write),
        (Working(&KEPT), Write),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

static SWEEP: Pass = Pass {
    label: "erosion/shallow_water/sweep",
    shader: shader_file!("sweep.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Working(&SHEET), Read),
        (Working(&CONDUCTANCE), Read),
        (Working(&KEPT), Read),
        (Working(&SWEPT), ReadWrite),
        (Working(&SHARES), ReadWrite),
        (Given(&DISCHARGE), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

static FINISH: Pass = Pass {
    label: "erosion/shallow_water/finish",
    shader: shader_file!("finish.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Working(&SHEET), Read),
        (Working(&KEPT), Read),
        (Working(&SWEPT), Read),
        (State(Cover), ReadWrite),
        (State(Load), ReadWrite),
        (Working(&REGOLITH), ReadWrite),
        (Given(&DISCHARGE), Write),
    ],
    constants: Some(SolveConstants::min_size),
};

static SOFTEN: Pass = Pass {
    label: "erosion/shallow_water/soften",
    shader: shader_file!("soften.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (State(Load), ReadWrite),
        (Working(&REGOLITH), Write),
        (Working(&CREEP), Write),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

static APPLY: Pass = Pass {
    label: "erosion/shallow_water/apply",
    shader: shader_file!("apply.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (Working(&REGOLITH), Read),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&FACES, &SWEEP, &FINISH, &SOFTEN, &APPLY],
    libraries: &[shader_file!("sheet.wgsl")],
    constants: &[&CONSTANTS],
    twins: |twins| twins.add::<ShallowWaterSolver>(),
};

impl GpuCommand for WaterStep {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        let layout = *plan.layout();
        let water = SolveConstants::of_water(&layout, plan.edges(), &self.water);
        plan_solve(plan, water, self.water.columns_first);
        if let Some(exchange) = &self.exchange {
            let around = plan.constants(&SolveConstants::of_regolith(&layout, exchange, 0));
            plan.over_cells(&SOFTEN, around);
            for number in 0..exchange.solves {
                let constants = SolveConstants::of_regolith(&layout, exchange, number);
                let turned = number % 2 == 1;
                plan_solve(plan, constants, exchange.creep.columns_first != turned);
            }
            plan.over_cells(&APPLY, around);
        }
        plan.flow_changed();
    }
}

/// The passes of one solve.
fn plan_solve(plan: &mut FramePlan, solve: SolveConstants, columns_first: bool) {
    let discharge = match solve.creeps {
        0 => plan.state(Plane::Flow),
        _ => plan.working(&CREEP),
    };
    let constants = plan.constants(&solve);
    let whole = |pass: &'static Pass, plan: &FramePlan| Dispatch {
        given: vec![(&DISCHARGE, discharge.clone())],
        ..plan.dispatch_over_cells(pass, constants)
    };
    plan.dispatch(whole(&FACES, plan));
    for is_second in [false, true] {
        let by_columns = columns_first != is_second;
        let lines = match by_columns {
            true => plan.size().x,
            false => plan.size().y,
        };
        let sweep = plan.constants(&SolveConstants {
            by_columns: by_columns.into(),
            is_second: is_second.into(),
            ..solve
        });
        plan.dispatch(Dispatch {
            pass: &SWEEP,
            constants: sweep,
            groups: UVec3::new(lines.div_ceil(LINES), 1, 1),
            given: vec![(&DISCHARGE, discharge.clone())],
        });
    }
    plan.dispatch(whole(&FINISH, plan));
    for pass in pools::PASSES {
        plan.dispatch(whole(pass, plan));
    }
}

impl GpuTwin for ShallowWaterSolver {
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        // The source's own method has no passes.
        if self.settings().published.is_none() && dt > 0.0 && dt.is_finite() {
            self.calm = false;
            recorder.begin().push(self.next_step(dt));
        }
    }

    fn hand_over(&mut self, _: &Grid) {
        // Every solve looks at the terrain anew; turns and time go on.
    }
}
