//! Constants of a solve of implicit shallow water, for water or for regolith.

use super::super::{
    shader_module::shader_module,
    status::{DEFICIT, LEVEL_CHANGE, StatusLayout},
};
use crate::models::shallow_water::{
    sheet::{MAX_CARRIED, MAX_CONDUCTANCE, MAX_KEPT, Motion},
    solver::Exchange,
};
use bevy::math::*;

/// Lines that a workgroup of a sweep solves.
pub(super) const LINES: u32 = 32;

shader_module! {
    pub(in crate::gpu) static CONSTANTS = "bevy_erode::gpu::shallow_water::constants";
    constants {
        LINES: u32 = LINES;
        /// Faces conduct no better, and keep no more for their depth: only absurd
        /// steps come near.
        MAX_CONDUCTANCE: f32 = MAX_CONDUCTANCE;
        MAX_KEPT: f32 = MAX_KEPT;
        /// Most cells that a flood wave is carried in a step.
        MAX_CARRIED: f32 = MAX_CARRIED;
        /// The word of the status buffer that tells whether a cell gave more than it
        /// had.
        DEFICIT: u32 = DEFICIT;
    }
    /// Constants of a solve; `models::shallow_water` says what they mean.
    struct SolveConstants as solve at (1, 0) {
        /// Where the largest change of a level is noted: in the last solve, and in
        /// this one.
        level_change: UVec2,
        /// Where discharges over the borders and faces on the borders are noted.
        edges: u32,
        border_faces: u32,
        /// Whether it is regolith that flows.
        creeps: u32,
        /// Which lines a sweep solves, and whether before or after the others.
        by_columns: u32,
        is_second: u32,
        is_first: u32,
        /// Whether a flow grows with the cell that gives it, within the step.
        carries: u32,
        keep: f32,
        conduct: f32,
        push: f32,
        drag: f32,
        per_length: f32,
        /// units: m
        regolith_depth: f32,
        steady: f32,
    }
}

impl SolveConstants {
    /// Of a solve for the water, whose edges are here.
    pub fn of_water(layout: &StatusLayout, edges: u32, motion: &Motion) -> Self {
        Self {
            level_change: LEVEL_CHANGE.into(),
            edges,
            border_faces: layout.border_faces(),
            is_first: 1,
            ..Self::default()
        }
        .with_motion(motion)
    }

    /// Of the regolith's solves of an exchange, the one of this number; or for
    /// what comes before and after all solves.
    pub fn of_regolith(layout: &StatusLayout, exchange: &Exchange, solve: u32) -> Self {
        let [this, last] = match solve % 2 {
            0 => LEVEL_CHANGE,
            _ => [LEVEL_CHANGE[1], LEVEL_CHANGE[0]],
        };
        Self {
            level_change: uvec2(last, this),
            edges: layout.creep_edges(),
            border_faces: layout.border_faces(),
            creeps: 1,
            is_first: (solve == 0).into(),
            regolith_depth: exchange.depth,
            steady: exchange.steady,
            ..Self::default()
        }
        .with_motion(&exchange.creep)
    }

    fn with_motion(self, motion: &Motion) -> Self {
        Self {
            carries: motion.carries.into(),
            keep: motion.keep,
            conduct: motion.conduct,
            push: motion.push,
            drag: motion.drag,
            per_length: motion.per_length,
            ..self
        }
    }
}
