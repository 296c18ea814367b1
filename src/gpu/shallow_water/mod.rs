//! Implicit shallow water as passes: which ones a step takes, in their order.

use super::{
    executor::storage,
    job::{Job, NotesLayout},
    passes::Pass,
};
use crate::models::shallow_water::WaterStep;
use bevy::{
    prelude::*,
    render::{render_resource::Buffer, renderer::RenderDevice},
};

/// Lines that a workgroup of a sweep solves.
const LINES: u32 = 32;

/// Working state of a solve.
pub(super) struct SolveBuffers {
    pub regolith: Buffer,
    pub creep: Buffer,
    pub sheet: Buffer,
    pub conductance: Buffer,
    pub kept: Buffer,
    pub swept: Buffer,
    pub shares: Buffer,
}

impl SolveBuffers {
    pub fn new(device: &RenderDevice, cells: usize) -> Self {
        let pairs = |label: &'static str| storage(device, label, cells as u64 * 8);
        Self {
            regolith: pairs("erosion regolith"),
            creep: pairs("erosion creep"),
            sheet: pairs("erosion sheet"),
            conductance: pairs("erosion conductance"),
            kept: pairs("erosion kept flow"),
            swept: pairs("erosion swept flow"),
            shares: storage(device, "erosion shares", cells as u64 * 4),
        }
    }
}

/// The passes of a step, with their constants.
pub(super) fn dispatches(step: &WaterStep, base: Job, layout: &NotesLayout) -> Vec<(Pass, Job)> {
    let mut list = Vec::new();
    let water = base.with_motion(&step.water);
    add_solve(&mut list, water, step.water.columns_first);
    let Some(exchange) = &step.exchange else {
        return list;
    };
    list.push((Pass::Soften, base.with_exchange(layout, exchange, 0)));
    for solve in 0..exchange.solves {
        let job = base.with_exchange(layout, exchange, solve);
        let turned = solve % 2 == 1;
        add_solve(&mut list, job, exchange.creep.columns_first != turned);
    }
    list.push((Pass::Apply, base.with_exchange(layout, exchange, 0)));
    list
}

fn add_solve(list: &mut Vec<(Pass, Job)>, job: Job, columns_first: bool) {
    list.push((Pass::Faces, job));
    for is_second in [false, true] {
        let sweep = Job {
            by_columns: (columns_first != is_second).into(),
            is_second: is_second.into(),
            ..job
        };
        list.push((Pass::Sweep, sweep));
    }
    list.push((Pass::Finish, job));
    list.extend(Pass::POOLS.map(|pass| (pass, job)));
}

/// Workgroups of a sweep.
pub(super) fn sweep_groups(job: &Job) -> UVec3 {
    let lines = match job.by_columns {
        0 => job.size.y,
        _ => job.size.x,
    };
    UVec3::new(lines.div_ceil(LINES), 1, 1)
}
