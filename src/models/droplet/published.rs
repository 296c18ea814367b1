//! The source's method, literally: one drop after the other, cell heights read
//! and changed in place, sediment as a fraction of the water.
//!
//! ```text
//! n  = Σ wᵢ·nᵢ  over 8 facets (0.15 axes, 0.10 diagonals), not renormalized
//! v += dt·n_xz / (ρ·V);  p += dt·v;  v *= 1 − μ·dt
//! C  = max(0, V·|v|·(h_here − h_next));  q = C − s
//! s += dt·Kd·q;  h_here −= dt·V·Kd·q;  V *= 1 − Ke·dt
//! ```
//!
//! Where text and code of the source differ, its code is followed: the position
//! moves by the accelerated, not yet damped velocity. Positions are in cells,
//! heights in `height_scale` cells: in raw metres the capacity would explode.

use crate::{
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::{math::Vec2, prelude::Reflect};

/// No height may grow beyond this, in the source's units.
const MAX_HEIGHT: f32 = 1e6;

/// The source's constants, in its own units.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PublishedDroplets {
    /// Time step Δt.
    #[reflect(@Setting::new("", 0.1..=2.0).limits(1e-3..=10.0).about("Δt of the source"))]
    pub time_step: f32,
    /// Height of one unit of the source's heightmap. units: cells
    #[reflect(@Setting::new("cells", 1.0..=500.0).limits(1e-3..=1e6)
        .about("Height of one unit of the source's heightmap"))]
    pub height_scale: f32,
    /// Density ρ of water.
    #[reflect(@Setting::new("", 0.1..=10.0).limits(1e-3..=1e3).about("Density of water"))]
    pub density: f32,
    /// Friction μ; the source says 0.05 to 0.30.
    #[reflect(@Setting::new("", 0.0..=0.45).limits(0.0..=1.0)
        .about("The source says 0.05 to 0.30"))]
    pub friction: f32,
    /// Deposition rate K_d; the source says 0.10 to 0.50.
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0).about("The source says 0.10 to 0.50"))]
    pub deposition_rate: f32,
    /// Evaporation rate K_e; the source says 0.01 to 0.05. Without any a drop in
    /// a pit would never end.
    #[reflect(@Setting::new("", 0.001..=0.45).limits(1e-3..=1.0)
        .about("The source says 0.01 to 0.05"))]
    pub evaporation_rate: f32,
    /// A drop ends when less water than this is left.
    #[reflect(@Setting::new("", 0.001..=0.5).limits(1e-4..=0.99).about("A drop ends below this"))]
    pub min_water: f32,
}

impl Default for PublishedDroplets {
    fn default() -> Self {
        Self {
            time_step: 1.2,
            height_scale: 100.0,
            density: 1.0,
            friction: 0.1,
            deposition_rate: 0.3,
            evaporation_rate: 0.02,
            min_water: 0.01,
        }
    }
}

impl PublishedDroplets {
    /// Checks the settings; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)?;
        if self.time_step * self.evaporation_rate.max(self.friction) >= 1.0 {
            return Err(SettingsError::new(
                "PublishedDroplets",
                "time_step",
                format!(
                    "times friction and times evaporation_rate must be below 1, was {}",
                    self.time_step
                ),
            ));
        }
        Ok(())
    }

    /// Runs one drop from `position` (in cells, from the grid's corner) over
    /// `heights` (in `height_scale` cells). Returns the number of its steps.
    pub(super) fn run(
        &self,
        heights: &mut [f32],
        width: usize,
        height: usize,
        mut position: Vec2,
    ) -> u64 {
        let dt = self.time_step;
        let (mut velocity, mut water, mut sediment) = (Vec2::ZERO, 1.0f32, 0.0f32);
        let mut steps = 0;
        while water > self.min_water {
            let (x, y) = (position.x as usize, position.y as usize);
            if x < 1 || x >= width - 1 || y < 1 || y >= height - 1 {
                break;
            }
            let here = y * width + x;
            let normal = surface_normal(heights, width, here, self.height_scale);
            velocity += normal * (1.0 / (self.density * water)) * dt;
            position += velocity * dt;
            velocity *= 1.0 - self.friction * dt;
            // Written so that a position that is not a number ends the drop too.
            if !(position.x >= 0.0
                && position.x < width as f32
                && position.y >= 0.0
                && position.y < height as f32)
            {
                break;
            }
            let next = position.y as usize * width + position.x as usize;
            let capacity = (water * velocity.length() * (heights[here] - heights[next])).max(0.0);
            let lacking = capacity - sediment;
            let new = heights[here] - dt * water * self.deposition_rate * lacking;
            // On absurd cliffs the source's capacity runs away: end there.
            if new.abs() > MAX_HEIGHT || !new.is_finite() {
                break;
            }
            sediment += dt * self.deposition_rate * lacking;
            heights[here] = new;
            water *= 1.0 - dt * self.evaporation_rate;
            steps += 1;
        }
        steps
    }
}

/// Horizontal part of the source's weighted normal of an interior cell. On a
/// gentle plane it is −0.5·scale·∇h: each axis has two facets of weight 0.15,
/// and the four diagonal ones add 0.2.
#[inline]
pub(super) fn surface_normal(heights: &[f32], width: usize, cell: usize, scale: f32) -> Vec2 {
    const ROOT2: f32 = core::f32::consts::SQRT_2;
    let h = heights[cell];
    let rise = |other: usize| scale * (h - heights[other]);
    // A facet's normal is (fall, 1, 0) normalized; on a diagonal the fall is
    // shared by two axes and stands beside √2.
    let axis = |fall: f32| 0.15 * fall / (fall * fall + 1.0).sqrt();
    let diagonal = |fall: f32| {
        let fall = fall / ROOT2;
        0.10 * fall / (2.0 * fall * fall + 2.0).sqrt()
    };
    let (east, west) = (axis(rise(cell + 1)), axis(-rise(cell - 1)));
    let (south, north) = (axis(rise(cell + width)), axis(-rise(cell - width)));
    let south_east = diagonal(rise(cell + width + 1));
    let north_east = diagonal(rise(cell - width + 1));
    let south_west = diagonal(-rise(cell + width - 1));
    let north_west = diagonal(-rise(cell - width - 1));
    Vec2::new(
        east + west + south_east + north_east + south_west + north_west,
        south + north + south_east - north_east - south_west + north_west,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_of_a_gentle_plane_is_half_the_gradient() {
        let (gx, gy) = (1e-3f32, -2e-3f32);
        let plane: Vec<f32> = (0..25)
            .map(|i| gx * (i % 5) as f32 + gy * (i / 5) as f32)
            .collect();
        let normal = surface_normal(&plane, 5, 12, 1.0);
        assert!((normal.x + 0.5 * gx).abs() < 1e-6, "{normal}");
        assert!((normal.y + 0.5 * gy).abs() < 1e-6, "{normal}");
    }
}
