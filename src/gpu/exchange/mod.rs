//! What travels between host and GPU: uploads and differences one way, tiles that
//! are read back the other.

mod readback;
mod upload;

pub(super) use readback::{
    CELL_WORDS, ReadbackRequest, ReadbackResult, ReadbackResults, TILES_PER_REQUEST,
};
pub(super) use upload::{Differences, MAX_ROW, SetFlow, SetMap, Upload};

use super::{
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Given, State, Status},
        GivenKind, GivenSlot, LIST, Pass, PassModule,
        Plane::{Cover, Flow, Load, Rock},
        shader_file,
    },
    shader_module::shader_module,
};
use bevy::{math::*, render::render_resource::ShaderType};

shader_module! {
    pub(super) static CONSTANTS = "bevy_erode::gpu::exchange::constants";
    constants {
        DIFFERENCES_PER_GROUP: u32 = upload::DIFFERENCES_PER_GROUP;
    }
    /// What the host changed in a cell. units: m
    struct CellDifference {
        cell: u32,
        soil: f32,
        suspended: f32,
        spare: f32,
        /// Two-float sums.
        rock: Vec2,
        water: Vec2,
    }
    /// How long the list is.
    struct DifferencesConstants as differences at (1, 0) {
        count: u32,
    }
}

/// Tiles, packed one after the other.
static PACKED: GivenSlot = GivenSlot {
    label: "erosion packed tiles",
    kind: GivenKind::Buffer,
    bytes_per_cell: 0,
};

static DIFFERENCES: Pass = Pass {
    label: "erosion/exchange/differences",
    shader: shader_file!("differences.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Given(&LIST), Read),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (State(Load), ReadWrite),
    ],
    constants: Some(DifferencesConstants::min_size),
};

static GATHER: Pass = Pass {
    label: "erosion/exchange/gather",
    shader: shader_file!("gather.wgsl"),
    bindings: &[
        (Given(&LIST), Read),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Load), Read),
        (State(Flow), Read),
        (Given(&PACKED), Write),
    ],
    constants: None,
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&DIFFERENCES, &GATHER],
    libraries: &[],
    constants: &[&CONSTANTS],
    twins: |_| {},
};
