//! Pools, cells that a fluid connects, make up for cells that gave more than they
//! had in a solve of shallow water.
//!
//! A finished solve no longer needs its shares, conductances and kept flows: pools
//! keep their parents and sums there.

use super::{
    pass::{
        Access::{Read, ReadWrite, Write},
        Binding::{Given, State, Status, Working},
        Pass, PassModule,
        Plane::{Cover, Load},
        shader_file,
    },
    shallow_water::{
        CONDUCTANCE, DISCHARGE, KEPT, REGOLITH, SHARES, SHEET, constants::SolveConstants,
    },
};
use bevy::render::render_resource::ShaderType;

static LINK: Pass = Pass {
    label: "erosion/pools/link",
    shader: shader_file!("link.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Working(&SHARES), ReadWrite),
        (Working(&SHEET), Read),
        (Given(&DISCHARGE), Read),
        (Working(&CONDUCTANCE), Write),
        (Working(&KEPT), Write),
        (State(Cover), Read),
        (Working(&REGOLITH), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

static UNITE: Pass = Pass {
    label: "erosion/pools/unite",
    shader: shader_file!("unite.wgsl"),
    bindings: &[(Status, ReadWrite), (Working(&SHARES), ReadWrite)],
    constants: Some(SolveConstants::min_size),
};

static MEASURE: Pass = Pass {
    label: "erosion/pools/measure",
    shader: shader_file!("measure.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Working(&SHARES), ReadWrite),
        (Working(&CONDUCTANCE), ReadWrite),
        (Working(&KEPT), ReadWrite),
        (State(Cover), Read),
        (State(Load), Read),
        (Working(&REGOLITH), Read),
    ],
    constants: Some(SolveConstants::min_size),
};

static RESTORE: Pass = Pass {
    label: "erosion/pools/restore",
    shader: shader_file!("restore.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (Working(&SHARES), ReadWrite),
        (Working(&CONDUCTANCE), Read),
        (Working(&KEPT), Read),
        (State(Cover), ReadWrite),
        (State(Load), ReadWrite),
        (Working(&REGOLITH), ReadWrite),
    ],
    constants: Some(SolveConstants::min_size),
};

/// All passes, in their order.
pub(super) static PASSES: [&Pass; 4] = [&LINK, &UNITE, &MEASURE, &RESTORE];

pub(super) static MODULE: PassModule = PassModule {
    passes: &PASSES,
    libraries: &[shader_file!("pool.wgsl")],
    constants: &[],
    twins: |_| {},
};
