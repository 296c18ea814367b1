//! The source's own pipe model as passes.

use super::super::{
    frame_plan::{FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Next, State, Status, Working},
        Pass, PassModule,
        Plane::{Cover, Flow, Load, Rock},
        SCRATCH, WorkingBuffer, shader_file,
    },
    shader_module::shader_module,
};
use crate::models::pipe::{PublishedPipe, published::MAX_LOAD};
use bevy::render::render_resource::ShaderType;

shader_module! {
    pub(in crate::gpu) static CONSTANTS = "bevy_erode::gpu::pipe::published::constants";
    constants {
        /// No water carries more than this; only absurd settings come near. units: m
        MAX_LOAD: f32 = MAX_LOAD;
    }
    /// Constants of a step; `models::pipe::published` says what they mean.
    struct PublishedConstants as published at (1, 0) {
        gravity: f32,
        push: f32,
        capacity: f32,
        /// Shares that a step takes up of what is lacking, lets fall of what is too
        /// much, and dries.
        dissolving: f32,
        deposition: f32,
        drying: f32,
        min_sine: f32,
        /// Time by the area of a cell and by its length.
        per_area: f32,
        cells: f32,
    }
}

/// Outflow through the four pipes of a cell, along x and along y.
static ALONG_X: WorkingBuffer = WorkingBuffer {
    label: "erosion outflow along x",
    bytes_per_cell: 8,
};
static ALONG_Y: WorkingBuffer = WorkingBuffer {
    label: "erosion outflow along y",
    bytes_per_cell: 8,
};

static START: Pass = Pass {
    label: "erosion/pipe/published/start",
    shader: shader_file!("start.wgsl"),
    bindings: &[
        (State(Flow), Read),
        (Working(&ALONG_X), Write),
        (Working(&ALONG_Y), Write),
    ],
    constants: None,
};

static OUTFLOW: Pass = Pass {
    label: "erosion/pipe/published/outflow",
    shader: shader_file!("outflow.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (Working(&ALONG_X), ReadWrite),
        (Working(&ALONG_Y), ReadWrite),
    ],
    constants: Some(PublishedConstants::min_size),
};

static DEPTH: Pass = Pass {
    label: "erosion/pipe/published/depth",
    shader: shader_file!("depth.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Cover), Read),
        (State(Load), Read),
        (Working(&ALONG_X), Read),
        (Working(&ALONG_Y), Read),
        (Next(Cover), Write),
        (Next(Load), Write),
        (Working(&SCRATCH), Write),
    ],
    constants: Some(PublishedConstants::min_size),
};

static DISSOLVE: Pass = Pass {
    label: "erosion/pipe/published/dissolve",
    shader: shader_file!("dissolve.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Load), ReadWrite),
        (Working(&SCRATCH), Read),
        (Next(Rock), Write),
        (Next(Cover), ReadWrite),
    ],
    constants: Some(PublishedConstants::min_size),
};

static CARRY: Pass = Pass {
    label: "erosion/pipe/published/carry",
    shader: shader_file!("carry.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Load), Read),
        (Working(&SCRATCH), Read),
        (Working(&ALONG_X), Read),
        (Working(&ALONG_Y), Read),
        (Next(Cover), ReadWrite),
        (Next(Load), ReadWrite),
        (Next(Flow), Write),
    ],
    constants: Some(PublishedConstants::min_size),
};

pub(in crate::gpu) static MODULE: PassModule = PassModule {
    passes: &[&START, &OUTFLOW, &DEPTH, &DISSOLVE, &CARRY],
    libraries: &[],
    constants: &[&CONSTANTS],
    twins: |_| {},
};

/// A step of the source's own pipe model.
pub(super) struct Step {
    pub dt: f32,
    pub settings: PublishedPipe,
}

/// Which flow the outflows are of, as [`FramePlan::flow_version`] counts it.
#[derive(Default)]
struct Outflow {
    version: Option<u64>,
}

impl GpuCommand for Step {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        let constants = PublishedConstants::new(self.dt, &self.settings, plan.cell_size());
        let constants = plan.constants(&constants);
        let flow = plan.flow_version();
        // Another method let the water flow in the meantime.
        if plan.with_state(|outflow: &mut Outflow| outflow.version) != Some(flow) {
            plan.over_cells(&START, constants);
        }
        for pass in [&OUTFLOW, &DEPTH, &DISSOLVE, &CARRY] {
            plan.over_cells(pass, constants);
        }
        plan.flip_state();
        plan.flow_changed();
        let flow = plan.flow_version();
        plan.with_state(|outflow: &mut Outflow| outflow.version = Some(flow));
    }
}

impl PublishedConstants {
    fn new(dt: f32, settings: &PublishedPipe, cell_size: f32) -> Self {
        let l = cell_size;
        let tilt = f64::from(settings.min_tilt).to_radians();
        Self {
            gravity: settings.gravity,
            push: dt * settings.pipe_area * settings.gravity / l,
            capacity: settings.capacity,
            dissolving: settings.dissolving,
            deposition: settings.deposition,
            drying: (settings.evaporation * dt).min(1.0),
            min_sine: libm::sin(tilt) as f32,
            per_area: dt / (l * l),
            cells: dt / l,
        }
    }
}
