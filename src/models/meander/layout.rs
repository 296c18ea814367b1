//! Where a stretch lies on the cells of a terrain.

use super::{GridGround, GroundError, MeanderingRiver, RiverStretch, grid_ground::Outline};
use crate::terrain::{Grid, SettingsError};
use bevy::{math::*, prelude::*};

const M: &str = "MeanderingRiver";

/// The box of cells around a stretch, and the stretch in it. Depends on nothing
/// but settings, place and grid, so it need not be saved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub grid: Grid,
    /// First cell of the box, and its size in cells.
    pub first: UVec2,
    pub size: UVec2,
    /// World x and z of the middle of the box: the river's origin. units: m
    pub origin: DVec2,
    /// The stretch, and the middle of its upper end, from that origin.
    pub outline: Outline,
    pub start: DVec2,
}

impl Layout {
    /// Checks the stretch, and places it on the grid.
    pub fn new(
        settings: &MeanderingRiver,
        stretch: &RiverStretch,
        place: &Transform,
        grid: &Grid,
    ) -> Result<Self, SettingsError> {
        stretch.check_on(settings, place, grid)?;
        let (mut outline, start) = stretch.place(place)?;
        let (first, size) = cells_around(&outline, grid)?;
        let corner = grid.cell_center(first.x, first.y).xz().as_dvec2();
        let origin = corner + (size - 1).as_dvec2() * 0.5 * f64::from(grid.cell_size());
        outline.center -= origin;
        Ok(Self {
            grid: *grid,
            first,
            size,
            origin,
            outline,
            start: start - origin,
        })
    }

    /// Cells of the box.
    pub fn cells(&self) -> usize {
        (self.size.x * self.size.y) as usize
    }

    /// The terrain's cell of one in the box.
    #[inline]
    pub fn index(&self, cell: usize) -> usize {
        index(&self.grid, self.first, self.size, cell)
    }

    /// The ground of these heights, of which the river changes its stretch.
    pub fn ground(&self, heights: Vec<f64>) -> Result<GridGround, GroundError> {
        let cell = f64::from(self.grid.cell_size());
        // At the lower end the outermost cells have no slope of their own.
        let half = self.outline.half;
        let holds = Outline {
            half: DVec2::new((half.x - cell).max(0.5 * cell), half.y),
            ..self.outline
        };
        let ground = GridGround::new(self.size, cell, heights)?;
        Ok(ground.with_outline(holds, 1.5 * cell))
    }

    /// Where water comes in.
    pub fn source_at(&self, radius: f64) -> DVec2 {
        let cell = f64::from(self.grid.cell_size());
        self.start + self.outline.along * radius.max(2.0 * cell)
    }

    /// Cells of the box whose water the river takes in.
    pub fn intake(&self, ground: &GridGround, radius: f64) -> Vec<usize> {
        let cells = 0..self.cells();
        let takes_in = |&i: &usize| {
            let away = ground.center(i) - self.start;
            ground.is_inside(i) && away.dot(self.outline.along) <= radius
        };
        cells.filter(takes_in).collect()
    }
}

/// The box of cells around a rectangle in world x and z: first cell and size.
pub(super) fn cells_around(
    outline: &Outline,
    grid: &Grid,
) -> Result<(UVec2, UVec2), SettingsError> {
    let across = outline.along.perp();
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)].map(|(along, side)| {
        outline.center + outline.along * (along * outline.half.x) + across * (side * outline.half.y)
    });
    let half = grid.extent().as_dvec2() * 0.5;
    let slack = 1e-3 * f64::from(grid.cell_size());
    let middle = grid.origin().xz().as_dvec2();
    for corner in corners {
        if !(corner - middle).abs().cmple(half + slack).all() {
            return Err(SettingsError {
                model: M,
                field: "RiverStretch".into(),
                reason: format!(
                    "must lie on the terrain of {} m × {} m, but reaches x = {:.1}, z = {:.1}",
                    grid.extent().x,
                    grid.extent().y,
                    corner.x,
                    corner.y
                ),
            });
        }
    }
    let [a, b, c, d] = corners.map(|corner| {
        let corner = Vec3::new(corner.x as f32, 0.0, corner.y as f32);
        grid.world_to_grid(corner)
    });
    let low = (a.min(b).min(c).min(d)).round().max(Vec2::ZERO).as_uvec2();
    let high = a.max(b).max(c).max(d).round().max(Vec2::ZERO).as_uvec2();
    let high = high.min(grid.size() - 1);
    let low = low.min(high);
    Ok((low, high - low + 1))
}

/// The terrain's cell of one in a box.
#[inline]
pub(super) fn index(grid: &Grid, first: UVec2, size: UVec2, cell: usize) -> usize {
    let (x, y) = (cell as u32 % size.x, cell as u32 / size.x);
    grid.index(first.x + x, first.y + y)
}
