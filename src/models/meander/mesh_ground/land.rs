//! What does not change where the ground does: the level of the floodplain and
//! the hardness of the rock at each place.

use super::{super::GridGround, topology::Point};
use bevy::math::DVec2;

/// Planes over the rectangle of a height grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Land {
    columns: usize,
    rows: usize,
    cell: f64,
    plain: Vec<f64>,
    hardness: Option<Vec<f32>>,
}

impl Land {
    pub fn new(grid: &GridGround) -> Self {
        let size = grid.size();
        Self {
            columns: size.x as usize,
            rows: size.y as usize,
            cell: grid.cell_size(),
            plain: grid.plain().to_vec(),
            hardness: grid.hardness().map(<[f32]>::to_vec),
        }
    }

    /// Column and row of a place, both with a fraction.
    #[inline]
    fn place(&self, at: DVec2) -> DVec2 {
        let last = DVec2::new((self.columns - 1) as f64, (self.rows - 1) as f64);
        (at / self.cell + last * 0.5).clamp(DVec2::ZERO, last)
    }

    /// Level of the floodplain. units: m
    #[inline]
    pub fn plain(&self, at: DVec2) -> f64 {
        self.mean(&self.plain, at)
    }

    /// Sets what does not move with a point to what lies below it.
    #[inline]
    pub fn measure(&self, point: &mut Point) {
        point.plain = self.plain(point.at);
        point.hardness = self.hardness(point.at);
    }

    /// The value of a plane between cells.
    #[inline]
    pub fn mean(&self, plane: &[f64], at: DVec2) -> f64 {
        let place = self.place(at);
        let (low, part) = (place.floor(), place - place.floor());
        let (x, y) = (low.x as usize, low.y as usize);
        let (x1, y1) = ((x + 1).min(self.columns - 1), (y + 1).min(self.rows - 1));
        let row = |y: usize| {
            let row = &plane[y * self.columns..];
            row[x] + (row[x1] - row[x]) * part.x
        };
        row(y) + (row(y1) - row(y)) * part.y
    }

    /// Hardness of the nearest cell.
    #[inline]
    pub fn hardness(&self, at: DVec2) -> f64 {
        self.hardness.as_ref().map_or(1.0, |hardness| {
            let place = (self.place(at) + 0.5).floor();
            f64::from(hardness[place.y as usize * self.columns + place.x as usize])
        })
    }
}
