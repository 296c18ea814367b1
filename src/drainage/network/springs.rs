//! Where to pour water so that the rivers of a network run.

use super::RiverNetwork;
use crate::forcing::WaterSource;
use bevy::math::Vec3;

/// A spring, to be spawned: `(spring.source, Transform::from_translation(spring.position))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiverSpring {
    /// World position, on the ground. units: m
    pub position: Vec3,
    /// How much it pours, and on which radius.
    pub source: WaterSource,
    /// The river that it feeds.
    pub river: u32,
}

impl RiverNetwork {
    /// Springs at the upper ends of all rivers. Each pours what its river gains on its own
    /// way, so that all springs above any place together pour the discharge of the rivers
    /// there: water models then run in them. Rivers that gain less than
    /// `least` m³/s get none.
    ///
    /// `times` is by how much more they pour than the network says: rivers in a
    /// game are often larger than their land would have.
    pub fn springs(&self, least: f32, times: f32) -> Vec<RiverSpring> {
        let mut gains: Vec<f64> = self
            .rivers
            .iter()
            .map(|river| f64::from(river.discharge()))
            .collect();
        for river in &self.rivers {
            if let Some(gain) = river
                .downstream
                .and_then(|next| gains.get_mut(next as usize))
            {
                *gain -= f64::from(river.discharge());
            }
        }
        let mut springs = Vec::new();
        for (number, (river, gain)) in self.rivers.iter().zip(gains).enumerate() {
            let Some(first) = river.points.first() else {
                continue;
            };
            // Sums of rounded numbers may leave a trace where nothing is gained.
            if !(gain > f64::from(river.discharge()) * 1e-6 && gain >= f64::from(least)) {
                continue;
            }
            let radius = (0.5 * first.width).max(0.5 * self.grid.cell_size());
            springs.push(RiverSpring {
                position: self.position(first.cell as usize),
                source: WaterSource {
                    discharge: (gain * f64::from(times)) as f32,
                    radius,
                    sediment: 0.0,
                },
                river: number as u32,
            });
        }
        springs
    }
}
