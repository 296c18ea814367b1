//! From the host to the GPU: a whole terrain, maps, flow, and differences.

use super::{
    super::{
        frame_plan::{Dispatch, FramePlan, GpuCommand},
        pass::{LIST, MapSlot},
    },
    CellDifference, DIFFERENCES, DifferencesConstants,
};
use crate::terrain::Grid;
use bevy::{
    math::*,
    render::render_resource::{ShaderSize, encase},
};

/// All layers, as the GPU keeps them: two numbers a cell in each.
#[derive(Clone, Debug)]
pub(in crate::gpu) struct Upload {
    pub grid: Grid,
    pub rock: Vec<Vec2>,
    pub cover: Vec<Vec2>,
    pub load: Vec<Vec2>,
    pub flow: Vec<Vec2>,
    /// Discharges over the west border, then over the north border.
    pub edges: Vec<f32>,
    /// Most of g·d + v². units: m²/s²
    pub pace: f32,
}

/// Replaces a map, or takes it away.
pub(in crate::gpu) struct SetMap {
    pub slot: &'static MapSlot,
    pub map: Option<Vec<f32>>,
}

impl GpuCommand for SetMap {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        plan.set_map(self.slot, self.map.as_deref());
    }
}

/// Replaces the flow by that of a model which the host runs.
pub(in crate::gpu) struct SetFlow {
    pub flow: Vec<Vec2>,
    /// Discharges over the west border, then over the north border.
    pub edges: Vec<f32>,
    pub pace: f32,
}

impl GpuCommand for SetFlow {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        plan.set_flow(&self.flow, &self.edges, self.pace);
        plan.flow_changed();
    }
}

/// Differences that a workgroup adds.
pub(super) const DIFFERENCES_PER_GROUP: u32 = 256;
/// Differences in one dispatch: their list must fit a binding.
const MAX_DIFFERENCES: usize = 1 << 20;
/// Workgroups in a row of them.
pub(in crate::gpu) const MAX_ROW: u32 = 1024;

/// Adds what the host changed.
pub(in crate::gpu) struct Differences(pub Vec<CellDifference>);

impl GpuCommand for Differences {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        for list in self.0.chunks(MAX_DIFFERENCES) {
            let count = list.len() as u32;
            let groups = count.div_ceil(DIFFERENCES_PER_GROUP);
            let wide = groups.min(MAX_ROW);
            let constants = plan.constants(&DifferencesConstants { count });
            let list = plan.list(&bytes_of(list));
            plan.dispatch(Dispatch {
                pass: &DIFFERENCES,
                constants,
                groups: UVec3::new(wide, groups.div_ceil(wide.max(1)), 1),
                given: vec![(&LIST, list)],
            });
        }
    }
}

fn bytes_of(list: &[CellDifference]) -> Vec<u8> {
    let size = CellDifference::SHADER_SIZE.get() as usize;
    let mut bytes = encase::StorageBuffer::new(Vec::with_capacity(list.len() * size));
    match bytes.write(&list) {
        Ok(()) => bytes.into_inner(),
        // A vector grows as it must.
        Err(_) => Vec::new(),
    }
}
