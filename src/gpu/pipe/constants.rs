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
        gradient: f32,
        capacity: f32,
        full_depth: f32,
        min_sine_squared: f32,
        rounding: f32,
        soil_share: f32,
        rock_per_soil: f32,
        fall_share: f32,
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
            gradient: step.gradient,
            capacity: step.capacity,
            full_depth: step.full_depth,
            min_sine_squared: step.min_sine_squared,
            rounding: step.rounding,
            soil_share: step.soil_share,
            rock_per_soil: step.rock_per_soil,
            fall_share: step.fall_share,
        }
    }
}
