//! Reading the terrain at world positions: bilinear between cell centres,
//! constant in the half cell outside the outermost centres, `None` beyond.

use super::{Layer, Terrain};
use bevy::math::*;

impl Terrain {
    /// World height of the ground at a position (its y is ignored). units: m
    pub fn height_at(&self, position: Vec3) -> Option<f32> {
        let patch = self.patch(position)?;
        Some(patch.blend(|i| self.ground(i)) + self.grid().origin().y)
    }

    /// Upward unit normal of the ground at a position (its y is ignored).
    pub fn normal_at(&self, position: Vec3) -> Option<Vec3> {
        let patch = self.patch(position)?;
        let slope = |axis: fn(Vec2) -> f32| {
            patch.blend(|i| {
                let x = (i % self.grid().width()) as u32;
                let y = (i / self.grid().width()) as u32;
                axis(self.slope(x, y))
            })
        };
        Some(Vec3::new(-slope(|s| s.x), 1.0, -slope(|s| s.y)).normalize())
    }

    /// Value of a layer at a position (its y is ignored). A terrain without a
    /// hardness map has hardness 0.
    pub fn layer_at(&self, layer: Layer, position: Vec3) -> Option<f32> {
        let values = match layer {
            Layer::Bedrock => self.bedrock(),
            Layer::Soil => self.soil(),
            Layer::Water => self.water(),
            Layer::Suspended => self.suspended(),
            Layer::Hardness => match self.hardness() {
                Some(hardness) => hardness,
                None => return self.patch(position).map(|_| 0.0),
            },
        };
        Some(self.patch(position)?.blend(|i| values[i]))
    }

    /// Rise of the ground per metre along +X and +Z at a cell's centre, by
    /// central differences (one-sided on the border).
    pub fn slope(&self, x: u32, y: u32) -> Vec2 {
        let last = self.size() - 1;
        let (x, y) = (x.min(last.x), y.min(last.y));
        let along = |from: UVec2, to: UVec2| {
            let cells = (to - from).max_element();
            if cells == 0 {
                return 0.0;
            }
            let rise = self.ground(self.grid().index(to.x, to.y))
                - self.ground(self.grid().index(from.x, from.y));
            rise / (cells as f32 * self.cell_size())
        };
        let (west, east) = (x.saturating_sub(1), (x + 1).min(last.x));
        let (north, south) = (y.saturating_sub(1), (y + 1).min(last.y));
        Vec2::new(
            along(UVec2::new(west, y), UVec2::new(east, y)),
            along(UVec2::new(x, north), UVec2::new(x, south)),
        )
    }

    fn patch(&self, position: Vec3) -> Option<Patch> {
        let grid = self.grid();
        grid.cell_at(position)?;
        let last = grid.size() - 1;
        let at = grid
            .world_to_grid(position)
            .clamp(Vec2::ZERO, last.as_vec2());
        let low = at.as_uvec2().min(last);
        let high = (low + 1).min(last);
        Some(Patch {
            corners: [
                grid.index(low.x, low.y),
                grid.index(high.x, low.y),
                grid.index(low.x, high.y),
                grid.index(high.x, high.y),
            ],
            fraction: at - low.as_vec2(),
        })
    }
}

/// Four cells around a position, and how far it lies between them.
struct Patch {
    corners: [usize; 4],
    fraction: Vec2,
}

impl Patch {
    fn blend(&self, value: impl Fn(usize) -> f32) -> f32 {
        let [a, b, c, d] = self.corners.map(value);
        let Vec2 { x, y } = self.fraction;
        (a * (1.0 - x) + b * x) * (1.0 - y) + (c * (1.0 - x) + d * x) * y
    }
}
