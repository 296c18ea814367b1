//! Where an edit acts, and how strongly: the brush, drawn along a stroke.

use crate::terrain::{Grid, SettingsError, in_range};
use bevy::{math::*, prelude::*};
use core::ops::Range;

/// Outline of a brush, seen from above.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum BrushShape {
    /// A disc.
    #[default]
    Circle,
    /// A square along the grid; its radius is half its side.
    Square,
}

/// How a brush weakens from its middle to its rim.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Falloff {
    /// Not at all: a sharp rim.
    Hard,
    /// Evenly, like a cone.
    Linear,
    /// Smoothly at the middle and at the rim.
    #[default]
    Smooth,
    /// Like a ball: strong until near the rim.
    Sphere,
}

/// Shape, radius and falloff of an edit.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Brush {
    /// Outline.
    pub shape: BrushShape,
    /// From the middle to the rim. A brush smaller than a cell still reaches
    /// the cell it is on. units: m
    pub radius: f32,
    /// How it weakens towards the rim.
    pub falloff: Falloff,
}

impl Default for Brush {
    fn default() -> Self {
        Self {
            shape: BrushShape::Circle,
            radius: 10.0,
            falloff: Falloff::Smooth,
        }
    }
}

impl Brush {
    /// A smooth disc. units: m
    pub fn circle(radius: f32) -> Self {
        Self {
            radius,
            ..Self::default()
        }
    }

    /// A smooth square of twice this side. units: m
    pub fn square(radius: f32) -> Self {
        Self {
            shape: BrushShape::Square,
            ..Self::circle(radius)
        }
    }

    /// Weakens in another way.
    pub fn with_falloff(self, falloff: Falloff) -> Self {
        Self { falloff, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        in_range("Brush", "radius", self.radius, 0.0..=1e6)
    }

    /// Strength, 0 to 1, at a distance from the middle. units: m
    pub fn weight(&self, away: Vec2) -> f32 {
        self.weight_within(away, self.radius)
    }

    #[inline]
    fn weight_within(&self, away: Vec2, radius: f32) -> f32 {
        let far = match self.shape {
            BrushShape::Circle => away.length(),
            BrushShape::Square => away.abs().max_element(),
        } / radius;
        if far.is_nan() || far > 1.0 {
            return 0.0;
        }
        let near = 1.0 - far;
        match self.falloff {
            Falloff::Hard => 1.0,
            Falloff::Linear => near,
            Falloff::Smooth => near * near * (3.0 - 2.0 * near),
            Falloff::Sphere => (1.0 - far * far).sqrt(),
        }
    }
}

/// The cells under a brush that is drawn along a line.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    brush: Brush,
    /// Ends of the line and the radius, in cells.
    from: Vec2,
    to: Vec2,
    radius: f32,
    cell_size: f32,
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

impl Footprint {
    pub fn new(brush: Brush, grid: &Grid, from: Vec3, to: Vec3) -> Self {
        let (from, to) = (grid.world_to_grid(from), grid.world_to_grid(to));
        // A smaller one might fall between four cells' centres.
        let radius = (brush.radius / grid.cell_size()).max(0.75);
        let cut = |low: f32, high: f32, end: usize| {
            // A cast of a float out of range gives the nearest end.
            let start = (low - radius).ceil().max(0.0) as usize;
            let stop = ((high + radius).floor() + 1.0).max(0.0) as usize;
            start.min(end)..stop.clamp(start.min(end), end)
        };
        Self {
            brush,
            from,
            to,
            radius,
            cell_size: grid.cell_size(),
            columns: cut(from.x.min(to.x), from.x.max(to.x), grid.width()),
            rows: cut(from.y.min(to.y), from.y.max(to.y), grid.height()),
        }
    }

    /// How far along the line a cell lies, 0 to 1.
    pub fn along(&self, x: usize, y: usize) -> f32 {
        let line = self.to - self.from;
        let length = line.length_squared();
        if length == 0.0 {
            return 1.0;
        }
        let at = Vec2::new(x as f32, y as f32) - self.from;
        (at.dot(line) / length).clamp(0.0, 1.0)
    }

    /// From the nearest point of the line to a cell. units: m
    pub fn away(&self, x: usize, y: usize) -> Vec2 {
        let nearest = self.from.lerp(self.to, self.along(x, y));
        (Vec2::new(x as f32, y as f32) - nearest) * self.cell_size
    }

    /// Strength at a cell, 0 to 1.
    pub fn weight(&self, x: usize, y: usize) -> f32 {
        let radius = self.radius * self.cell_size;
        self.brush.weight_within(self.away(x, y), radius)
    }

    /// Radius as it is used. units: m
    pub fn radius(&self) -> f32 {
        self.radius * self.cell_size
    }

    /// Row-major numbers of the tiles that it touches.
    pub fn tiles(&self, grid: &Grid) -> Vec<usize> {
        if self.columns.is_empty() || self.rows.is_empty() {
            return Vec::new();
        }
        let tile = super::super::BAND;
        let wide = grid.tiles().x as usize;
        let columns = self.columns.start / tile..=(self.columns.end - 1) / tile;
        let rows = self.rows.start / tile..=(self.rows.end - 1) / tile;
        rows.flat_map(|y| columns.clone().map(move |x| y * wide + x))
            .collect()
    }
}
