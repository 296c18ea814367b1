//! The same settings as constants of the GPU's passes.

use super::Physics;
use crate::gpu::DropConstants;
use bevy::math::Vec4;

impl Physics {
    /// What the passes need to know besides terrain and starts.
    pub fn gpu_constants(&self) -> DropConstants {
        DropConstants {
            rates: Vec4::new(
                self.friction,
                self.erosion,
                self.deposition,
                self.evaporation,
            ),
            // Legs are equally long but for the last, and one more may end in
            // water. The first place tells how many there are.
            places: self.max_steps.div_ceil(self.steps_per_leg) + 2,
            weights: self.brush.numbers().len() as u32,
            reach: self.brush.reach() as u32,
            pitch: self.brush.pitch() as u32,
            max_steps: self.max_steps,
            steps_per_leg: self.steps_per_leg,
            lifetime_load: self.lifetime_load,
            per_cell: self.per_cell,
            gravity: self.gravity,
            capacity: self.capacity,
            max_load: self.max_load,
            min_volume: self.min_volume,
            bedrock_erodibility: self.bedrock_erodibility,
            units_per_metre_at_peak: self.units_per_metre_at_peak,
            layer: self.layer,
            unit: self.unit,
            ..DropConstants::default()
        }
    }
}
