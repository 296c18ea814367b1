//! Constants of a batch of drops.

use super::super::{shader_module::shader_module, status};
use crate::models::droplet::{
    brush::{SHIFT, WEIGHT_STEPS},
    trace::{Physics, STANDING_WATER},
};
use bevy::math::*;

/// Drops that a workgroup follows.
pub(super) const DROPS_PER_GROUP: u32 = 64;

shader_module! {
    pub(in crate::gpu) static CONSTANTS = "bevy_erode::gpu::droplet::constants";
    constants {
        /// Steps in which weights are summed up; a power of two.
        WEIGHT_STEPS: f32 = WEIGHT_STEPS;
        /// Added to a number, it puts the whole part into the lowest bits.
        SHIFT: f32 = SHIFT;
        /// Deeper water ends a drop's path. units: m
        STANDING_WATER: f32 = STANDING_WATER;
        DROPS_PER_GROUP: u32 = DROPS_PER_GROUP;
        /// Where the status buffer counts what drops took up and carried away.
        DROPLET_SUMS: u32 = status::DROPLET_SUMS;
    }
    /// Constants of a batch of drops; `models::droplet` says what they mean.
    struct DropletConstants as droplet at (1, 0) {
        /// Of friction, erosion, deposition and evaporation. units: 1/s
        rates: Vec4,
        /// Drops of this part of the batch, and places for the legs of each.
        count: u32,
        places: u32,
        /// Numbers of the brush and of its sums, which stand before the starts.
        weights: u32,
        reach: u32,
        pitch: u32,
        max_steps: u32,
        steps_per_leg: u32,
        lifetime_load: i32,
        per_cell: f32,
        gravity: f32,
        capacity: f32,
        max_load: f32,
        min_volume: f32,
        bedrock_erodibility: f32,
        units_per_metre_at_peak: f32,
        layer: f32,
        unit: f32,
    }
}

impl DropletConstants {
    /// What the passes need to know besides terrain and starts. `weights` are the
    /// numbers of the brush.
    pub fn new(physics: &Physics, weights: usize) -> Self {
        Self {
            rates: Vec4::new(
                physics.friction,
                physics.erosion,
                physics.deposition,
                physics.evaporation,
            ),
            // Set for each part of a batch.
            count: 0,
            // Legs are equally long but for the last, and one more may end in
            // water. The first place tells how many there are.
            places: physics.max_steps.div_ceil(physics.steps_per_leg) + 2,
            weights: weights as u32,
            reach: physics.brush.reach as u32,
            pitch: physics.brush.pitch as u32,
            max_steps: physics.max_steps,
            steps_per_leg: physics.steps_per_leg,
            lifetime_load: physics.lifetime_load,
            per_cell: physics.per_cell,
            gravity: physics.gravity,
            capacity: physics.capacity,
            max_load: physics.max_load,
            min_volume: physics.min_volume,
            bedrock_erodibility: physics.bedrock_erodibility,
            units_per_metre_at_peak: physics.units_per_metre_at_peak,
            layer: physics.layer,
            unit: physics.unit,
        }
    }
}
