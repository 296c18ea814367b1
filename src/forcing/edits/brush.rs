//! Where an edit acts, and how strongly: the brush, drawn along a stroke.

use crate::{
    forcing::BAND,
    settings::{self, Setting},
    terrain::{Grid, SettingsError},
};
use bevy::{math::*, prelude::*};
use core::ops::Range;

/// Shape of a brush, seen from above.
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

/// How the strength of a brush falls off from its center to its edge.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Falloff {
    /// Not at all: a sharp edge.
    Hard,
    /// Evenly, like a cone.
    Linear,
    /// Smoothly at the center and at the edge (smoothstep).
    #[default]
    Smooth,
    /// Like a hemisphere: strong until near the edge.
    Sphere,
}

/// Shape, radius and falloff of an edit.
///
/// [The guide](crate::guide::edits) has an example.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Brush {
    /// Circle or square.
    #[reflect(@Setting::plain().about("Outline, seen from above"))]
    pub shape: BrushShape,
    /// From the center to the edge. A brush smaller than a cell still reaches the
    /// cell it is on. units: m
    #[reflect(@Setting::new("m", 1.0..=200.0).limits(0.0..=1e6)
        .about("From the center to the edge"))]
    pub radius: f32,
    /// How its strength falls off towards the edge.
    #[reflect(@Setting::plain().about("How its strength falls off towards the edge"))]
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

    /// A smooth square; its side is twice `radius`. units: m
    pub fn square(radius: f32) -> Self {
        Self {
            shape: BrushShape::Square,
            ..Self::circle(radius)
        }
    }

    /// Sets the falloff.
    pub fn with_falloff(self, falloff: Falloff) -> Self {
        Self { falloff, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }

    /// Strength, 0 to 1, at an offset from the center. units: m
    #[inline]
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
    pub rows: Range<usize>,
    /// The columns that the brush may reach in each of those rows: a line
    /// across the land is far from most cells of the box around it.
    spans: Vec<Range<usize>>,
}

impl Footprint {
    pub fn new(brush: Brush, grid: &Grid, from: Vec3, to: Vec3) -> Self {
        let (from, to) = (grid.world_to_grid(from), grid.world_to_grid(to));
        // A smaller one might fall between four cells' centers.
        let radius = (brush.radius / grid.cell_size()).max(0.75);
        let cut = |low: f32, high: f32, end: usize| {
            // A cast of a float out of range gives the nearest end.
            let start = (low - radius).ceil().max(0.0) as usize;
            let stop = ((high + radius).floor() + 1.0).max(0.0) as usize;
            start.min(end)..stop.clamp(start.min(end), end)
        };
        let rows = cut(from.y.min(to.y), from.y.max(to.y), grid.height());
        let line = to - from;
        let span = |y: usize| {
            let (mut first, mut last) = (0.0f32, 1.0);
            if line.y != 0.0 {
                // The part of the line that is near enough to the row. Rounding
                // must not cut it short, so it is a cell longer at either end.
                let reach = radius + 1.0;
                let ends = [-reach, reach].map(|reach| (y as f32 + reach - from.y) / line.y);
                first = ends[0].min(ends[1]).clamp(0.0, 1.0);
                last = ends[0].max(ends[1]).clamp(0.0, 1.0);
            }
            let [a, b] = [first, last].map(|along| from.x + line.x * along);
            cut(a.min(b), a.max(b), grid.width())
        };
        Self {
            brush,
            from,
            to,
            radius,
            cell_size: grid.cell_size(),
            spans: rows.clone().map(span).collect(),
            rows,
        }
    }

    /// Whether it reaches no cell at all.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.is_empty())
    }

    /// The columns that it may reach in a row; none beyond its rows.
    #[inline]
    pub fn columns(&self, y: usize) -> Range<usize> {
        let row = y.checked_sub(self.rows.start);
        let span = row.and_then(|row| self.spans.get(row));
        span.cloned().unwrap_or_default()
    }

    /// Each row, and the columns that it may reach there. Two loops, not an
    /// iterator over cells, which takes several times as long.
    #[inline]
    pub fn spans(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.rows.clone().zip(self.spans.iter().cloned())
    }

    /// How many cells it may reach.
    pub fn cells(&self) -> usize {
        self.spans.iter().map(Range::len).sum()
    }

    /// The cells that it may reach within each row of tiles, as columns and
    /// rows.
    pub fn bands(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let tiles = self.rows.start / BAND..self.rows.end.div_ceil(BAND);
        tiles.filter_map(|tile| {
            let from = (tile * BAND).max(self.rows.start);
            let to = ((tile + 1) * BAND).min(self.rows.end);
            let spans = (from..to).map(|y| self.columns(y));
            let spans = spans.filter(|span| !span.is_empty());
            let columns = spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))?;
            Some((columns, from..to))
        })
    }

    /// How far along the line a cell lies, 0 to 1.
    #[inline]
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
    #[inline]
    pub fn away(&self, x: usize, y: usize) -> Vec2 {
        let nearest = self.from.lerp(self.to, self.along(x, y));
        (Vec2::new(x as f32, y as f32) - nearest) * self.cell_size
    }

    /// Strength at a cell, 0 to 1.
    #[inline]
    pub fn weight(&self, x: usize, y: usize) -> f32 {
        let radius = self.radius * self.cell_size;
        self.brush.weight_within(self.away(x, y), radius)
    }

    /// Radius as it is used. units: m
    #[inline]
    pub fn radius(&self) -> f32 {
        self.radius * self.cell_size
    }

    /// Row-major numbers of the tiles that it touches.
    pub fn tiles(&self, grid: &Grid) -> Vec<usize> {
        let wide = grid.tiles().x as usize;
        let numbers = self.bands().flat_map(|(columns, rows)| {
            let first = rows.start / BAND * wide;
            (columns.start / BAND..columns.end.div_ceil(BAND)).map(move |x| first + x)
        });
        numbers.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn falloffs_fall_from_the_middle_to_the_rim() {
        for shape in [BrushShape::Circle, BrushShape::Square] {
            let brush = Brush {
                shape,
                ..Brush::circle(10.0)
            };
            for (falloff, half) in [
                (Falloff::Hard, 1.0),
                (Falloff::Linear, 0.5),
                (Falloff::Smooth, 0.5),
                (Falloff::Sphere, 0.866),
            ] {
                let weight = |x: f32| brush.with_falloff(falloff).weight(Vec2::new(x, 0.0));
                assert_eq!((weight(0.0), weight(10.1)), (1.0, 0.0), "{falloff:?}");
                assert!((weight(-5.0) - half).abs() < 1e-3, "{falloff:?}");
            }
        }
        let corner = Vec2::splat(9.0);
        assert_eq!(Brush::circle(10.0).weight(corner), 0.0);
        assert!(Brush::square(10.0).weight(corner) > 0.0);
    }

    /// Every cell that the brush acts on is within the span of its row, and each
    /// comes once, row by row.
    #[test]
    fn spans_hold_all_that_the_brush_reaches() {
        let mut dice = Pcg64::seed_from_u64(5);
        let grid = Grid::new(UVec2::new(150, 97), 0.7).expect("valid");
        let mut place = |kind: u32| {
            let wide = [60.0, 60.0, 200.0][kind as usize % 3];
            let mut along = || dice.random_range(-wide..wide);
            Vec3::new(along(), 0.0, along())
        };
        let mut narrower = 0;
        for case in 0..400 {
            let (from, mut to) = (place(case), place(case / 3));
            match case % 5 {
                0 => to = from,
                1 => to.x = from.x,
                2 => to.z = from.z,
                3 => to.z = from.z + 1e-6,
                _ => {}
            }
            let radius = [0.0, 0.4, 3.0, 17.0, 300.0][(case + case / 80) as usize % 5];
            let brush = match case % 2 {
                0 => Brush::circle(radius),
                _ => Brush::square(radius),
            };
            let print = Footprint::new(brush.with_falloff(Falloff::Hard), &grid, from, to);
            let cells = print
                .spans()
                .flat_map(|(y, span)| span.map(move |x| (x, y)));
            let cells: Vec<(usize, usize)> = cells.collect();
            assert_eq!(print.cells(), cells.len());
            assert!(cells.is_sorted_by(|a, b| (a.1, a.0) < (b.1, b.0)));
            let mut reached = 0;
            for y in 0..grid.height() {
                for x in 0..grid.width() {
                    if print.weight(x, y) > 0.0 {
                        reached += 1;
                        assert!(print.columns(y).contains(&x), "case {case}: {x}, {y}");
                    }
                }
            }
            let tiles = print.tiles(&grid);
            let wide = grid.tiles().x as usize;
            for (x, y) in &cells {
                assert!(tiles.contains(&(y / BAND * wide + x / BAND)));
                let mut bands = print.bands();
                assert!(bands.any(|(columns, rows)| columns.contains(x) && rows.contains(y)));
            }
            assert_eq!(print.is_empty(), cells.is_empty());
            let box_of = print.rows.len() * grid.width();
            narrower += usize::from(reached > 0 && cells.len() < box_of / 3);
        }
        assert!(narrower > 50, "{narrower}");
    }
}
