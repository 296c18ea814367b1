//! A round patch of cells: one drop's or one spring's water.

use bevy::math::{DVec2, UVec2, Vec2};
use core::ops::Range;

/// A disc in grid coordinates. Its weight `1 − (r/R)²` is 1 in the middle and
/// falls to nothing at the rim, so that a disc that moves changes smoothly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disc {
    center: DVec2,
    radius: f64,
}

impl Disc {
    #[inline]
    pub fn new(center: DVec2, radius: f64) -> Self {
        Self { center, radius }
    }

    /// One cell alone.
    pub fn cell(cell: Vec2) -> Self {
        Self::new(cell.as_dvec2(), 0.5)
    }

    /// Columns and rows that the disc may touch, on an endless grid.
    #[inline]
    fn span(&self) -> (Range<i64>, Range<i64>) {
        let from = (self.center - self.radius).floor().as_i64vec2();
        let to = (self.center + self.radius).ceil().as_i64vec2() + 1;
        (from.x..to.x, from.y..to.y)
    }

    /// Columns and rows that the disc may touch, within a grid.
    #[inline]
    pub fn span_in(&self, size: UVec2) -> (Range<usize>, Range<usize>) {
        let (columns, rows) = self.span();
        let cut = |range: Range<i64>, end: u32| {
            let end = i64::from(end);
            range.start.clamp(0, end) as usize..range.end.clamp(0, end) as usize
        };
        (cut(columns, size.x), cut(rows, size.y))
    }

    #[inline]
    pub fn weight(&self, x: f64, y: f64) -> f64 {
        let away = DVec2::new(x, y) - self.center;
        (1.0 - away.length_squared() / (self.radius * self.radius)).max(0.0)
    }

    /// Sum of all weights on an endless grid.
    pub fn total(&self) -> f64 {
        let (columns, rows) = self.span();
        let mut sum = 0.0;
        for y in rows {
            for x in columns.clone() {
                sum += self.weight(x as f64, y as f64);
            }
        }
        sum
    }

    /// Index and weight of every cell of a grid within the disc.
    #[inline]
    pub fn cells(&self, size: UVec2) -> impl Iterator<Item = (usize, f64)> {
        let (columns, rows) = self.span_in(size);
        let disc = *self;
        rows.flat_map(move |y| {
            columns.clone().map(move |x| {
                let weight = disc.weight(x as f64, y as f64);
                (y * size.x as usize + x, weight)
            })
        })
        .filter(|&(_, weight)| weight > 0.0)
    }
}
