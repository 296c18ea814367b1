//! Constants of a sub-step of the pipe model.

use super::super::{shader_module::shader_module, status};
use crate::models::pipe::{rows, solver::COURANT};

shader_module! {
    pub(in crate::gpu) static CONSTANTS = "bevy_erode::gpu::pipe::constants";
    constants {
        /// A cell that gives away all it has would come out a hair below zero.
        NEVER_ALL: f32 = rows::NEVER_ALL;
        /// Share of a discharge along an axis that goes to each side.
        SPREADING: f32 = rows::SPREADING;
        /// No water runs stronger through a metre of width. units: m²/s
        STRONGEST: f32 = rows::MAX_UNIT_DISCHARGE;
        /// A flood runs so many times as fast as its water.
        FLOOD: f32 = rows::FLOOD;
        /// Largest share of a cell that a flood may run through in a sub-step.
        MAX_BORNE_SHARE: f32 = rows::MAX_BORNE_SHARE;
        /// Fastest water that counts in the pace: its v² by g·d.
        MAX_SQUARED_FROUDE: f32 = rows::MAX_SQUARED_FROUDE;
        /// Sharp edges wear so much more, and notches so much less, at most.
        MAX_SMOOTHING: f32 = rows::MAX_SMOOTHING;
        /// Share of what falls that goes to each neighbor.
        SCATTER: f32 = rows::SCATTER;
        /// Largest Courant number of a sub-step.
        COURANT: f32 = COURANT;
        /// The word of the status buffer that counts time not covered.
        LOST_TIME: u32 = status::LOST_TIME;
    }
    /// Constants of a sub-step; `models::pipe` says what they mean.
    struct PipeConstants as pipe at (1, 0) {
        /// units: s
        dt: f32,
        per_length: f32,
        push: f32,
        drag: f32,
        calm: f32,
        gravity: f32,
        stress: f32,
        carving: f32,
        threshold: f32,
        carrying: f32,
        settling: f32,
        smoothing: f32,
        rock_per_soil: f32,
    }
}

impl PipeConstants {
    pub fn new(dt: f32, step: &rows::Step) -> Self {
        Self {
            dt,
            per_length: step.per_length,
            push: step.push,
            drag: step.drag,
            calm: step.calm,
            gravity: step.gravity,
            stress: step.stress,
            carving: step.carving,
            threshold: step.threshold,
            carrying: step.carrying,
            settling: step.settling,
            smoothing: step.smoothing,
            rock_per_soil: step.rock_per_soil,
        }
    }
}
