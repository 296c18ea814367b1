//! Batches of drops as passes: their paths, what they cut and fill, and its
//! application to the ground.

mod constants;

use super::{
    frame_plan::{Dispatch, FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Given, Map, State, Status, Working},
        GivenKind, GivenSlot, HARDNESS, LIST, Pass, PassModule,
        Plane::{Cover, Rock},
        WorkingBuffer, shader_file,
    },
    twin::{GpuTwin, StepRecorder},
};
use crate::{
    models::{
        Solver,
        droplet::{
            DropletSolver,
            brush::{ErosionBrush, WEIGHT_STEPS},
            solver::starts_of,
            trace::Physics,
        },
    },
    terrain::Grid,
};
use bevy::{
    math::*,
    render::render_resource::{Buffer, ShaderType},
};
use constants::{CONSTANTS, DROPS_PER_GROUP, DropletConstants};
use std::sync::Arc;

/// Drops' visits to cells, and how they change them.
static TALLIES: WorkingBuffer = WorkingBuffer {
    label: "erosion droplet tallies",
    bytes_per_cell: 8,
};

/// The paths of drops.
static PATHS: GivenSlot = GivenSlot {
    label: "erosion droplet paths",
    kind: GivenKind::Buffer,
    bytes_per_cell: 0,
};

static FOLLOW: Pass = Pass {
    label: "erosion/droplet/follow",
    shader: shader_file!("follow.wgsl"),
    bindings: &[
        (Given(&LIST), Read),
        (State(Rock), Read),
        (State(Cover), Read),
        (Working(&TALLIES), ReadWrite),
        (Given(&PATHS), Write),
    ],
    constants: Some(DropletConstants::min_size),
};

static EXCHANGE: Pass = Pass {
    label: "erosion/droplet/exchange",
    shader: shader_file!("exchange.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Given(&LIST), Read),
        (State(Rock), Read),
        (State(Cover), Read),
        (Working(&TALLIES), ReadWrite),
        (Given(&PATHS), Read),
        (Map(&HARDNESS), Read),
    ],
    constants: Some(DropletConstants::min_size),
};

static APPLY: Pass = Pass {
    label: "erosion/droplet/apply",
    shader: shader_file!("apply.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (Working(&TALLIES), ReadWrite),
    ],
    constants: Some(DropletConstants::min_size),
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&FOLLOW, &EXCHANGE, &APPLY],
    libraries: &[shader_file!("exact.wgsl")],
    constants: &[&CONSTANTS],
    twins: |twins| twins.add::<DropletSolver>(),
};

/// Bytes of a leg of a drop's path.
const LEG_BYTES: u64 = 16;
/// Bytes that the paths of one part of a batch of drops may take.
const MAX_PATH_BYTES: u64 = 1 << 24;

/// Drops that fall on the ground as it is when the first of them falls.
struct Batch {
    constants: DropletConstants,
    /// Weights of the brush, and their sums.
    brush: Arc<[f32]>,
    /// In grid coordinates.
    starts: Vec<Vec2>,
}

/// The paths of each part of a batch of drops.
#[derive(Default)]
struct PathBuffers(Vec<Buffer>);

impl GpuCommand for Batch {
    /// Where the paths of all drops do not fit a binding they are in several parts,
    /// but all visits are counted before any drop cuts.
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        let limit = plan.device().limits().max_storage_buffer_binding_size;
        let path_bytes = u64::from(self.constants.places) * LEG_BYTES;
        let most = (limit.min(MAX_PATH_BYTES) / path_bytes).max(1) as usize;
        let mut exchanges = Vec::new();
        for (part, starts) in self.starts.chunks(most).enumerate() {
            let paths = paths_of(plan, part, starts.len() as u64 * path_bytes);
            let starts_flat = starts.iter().flat_map(|start| start.to_array());
            let numbers = self.brush.iter().copied().chain(starts_flat);
            let list: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
            let list = plan.list(&list);
            let count = starts.len() as u32;
            let constants = plan.constants(&DropletConstants {
                count,
                ..self.constants
            });
            let follow = Dispatch {
                pass: &FOLLOW,
                constants,
                groups: UVec3::new(count.div_ceil(DROPS_PER_GROUP), 1, 1),
                given: vec![(&LIST, list), (&PATHS, paths)],
            };
            exchanges.push(Dispatch {
                pass: &EXCHANGE,
                ..follow.clone()
            });
            plan.dispatch(follow);
        }
        for exchange in exchanges {
            plan.dispatch(exchange);
        }
        let constants = plan.constants(&self.constants);
        plan.over_cells(&APPLY, constants);
    }
}

/// Room for the paths of a part of a batch.
fn paths_of(plan: &mut FramePlan, part: usize, bytes: u64) -> Buffer {
    let known = plan.with_state(|buffers: &mut PathBuffers| buffers.0.get(part).cloned());
    if let Some(buffer) = known.filter(|buffer| buffer.size() >= bytes) {
        return buffer;
    }
    let buffer = plan.storage(PATHS.label, bytes);
    plan.with_state(|buffers: &mut PathBuffers| {
        buffers.0.truncate(part);
        buffers.0.push(buffer.clone());
    });
    buffer
}

impl GpuTwin for DropletSolver {
    /// The batches of a step, as the CPU would let them fall. The host keeps drops
    /// that form streams, for lakes are found one cell after the other; the
    /// source's own, which fall one after the other; and those whose paths are so
    /// long that a device might give up.
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        let settings = self.settings();
        if settings.published.is_some() || settings.streams.is_some() {
            return;
        }
        let batch = self.batch() as u64;
        let physics = Physics::new(self.settings(), &self.grid, batch as usize);
        let brush: Arc<[f32]> = brush_numbers(&physics.brush).into();
        let constants = DropletConstants::new(&physics, brush.len());
        if loop_turns(&constants) > MAX_LOOP_TURNS {
            return;
        }
        let mut step = recorder.begin();
        if !dt.is_finite() || dt <= 0.0 {
            return;
        }
        let count = self.due_drops(dt);
        let start = self.draw(count);
        if self.grid.size().min_element() < 2 {
            return;
        }
        let mut first = 0;
        while first < count {
            let drops = batch.min(count - first) as usize;
            step.push(Batch {
                constants,
                brush: brush.clone(),
                starts: starts_of(drops, |n| start(first + n as u64), &self.grid),
            });
            first += drops as u64;
        }
    }

    /// The count of drops goes on; only the ground is to be read anew.
    fn hand_over(&mut self, _: &Grid) {
        self.cursor.forget_tiles();
    }
}

/// Rows of weights, each padded to the brush's pitch, and then the sums of those
/// in the first columns and rows, none included, in whole steps.
fn brush_numbers(brush: &ErosionBrush) -> Vec<f32> {
    let side = 2 * brush.reach + 1;
    let mut numbers = brush.weights.clone();
    let mut above = vec![0.0; side + 1];
    numbers.extend(&above);
    for row in brush.weights.chunks_exact(brush.pitch) {
        let mut sum = 0;
        for (above, weight) in above[1..].iter_mut().zip(row) {
            sum += (weight * WEIGHT_STEPS) as i32;
            *above += sum as f32;
        }
        numbers.extend(&above);
    }
    numbers
}

/// Turns of loops that an invocation may take in all: software devices end loops
/// after 65 536, and others a dispatch that takes too long.
const MAX_LOOP_TURNS: u64 = 60_000;

/// Turns of the longest of paths: a drop lays something at each leg up to three
/// times, four cells of the brush a turn. To end a loop is a turn as well.
fn loop_turns(constants: &DropletConstants) -> u64 {
    let side = u64::from(2 * constants.reach + 1);
    let laying = side * u64::from(constants.pitch / 4) + 2;
    let exchanging = 3 * (u64::from(constants.places) * laying + 1);
    exchanging.max(u64::from(constants.max_steps))
}
