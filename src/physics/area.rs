//! Where colliders are asked for.

use super::Body;
use crate::terrain::{Grid, TILE};
use bevy::{math::*, prelude::*};
use std::collections::BTreeSet;

/// Where the ground has colliders.
///
/// [The guide](crate::guide::physics) has an example.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default)]
pub enum ColliderArea {
    /// On all of the terrain.
    #[default]
    Everywhere,
    /// Around dynamic and kinematic bodies, such as a player's: what a large
    /// terrain wants, unless rays are cast far from any body.
    NearBodies {
        /// Distance from a body, along x and z, within which there is ground.
        /// A body that moves fast should have some seconds' way. units: m
        radius: f32,
    },
    /// In these rectangles of the world: x, and z as the rectangles' y. units: m
    Areas(Vec<Rect>),
}

/// Chunks that shall have colliders.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Wanted {
    #[default]
    None,
    All,
    /// The chunks wanted, and those that may stay if they are there: a body
    /// that goes to and fro must not build and drop its ground all the time.
    Some {
        wanted: BTreeSet<usize>,
        may_stay: BTreeSet<usize>,
    },
}

impl Wanted {
    /// What an area asks for now.
    pub fn of(area: &ColliderArea, grid: &Grid, bodies: &[Body]) -> Self {
        match area {
            ColliderArea::Everywhere => Self::All,
            ColliderArea::NearBodies { radius } => {
                let around = |radius: f32| {
                    let boxes = bodies.iter().map(move |body| {
                        Rect::from_corners(body.min.xz() - radius, body.max.xz() + radius)
                    });
                    chunks_in(boxes, grid)
                };
                let radius = radius.max(0.0);
                let slack = 0.5 * TILE as f32 * grid.cell_size();
                Self::Some {
                    wanted: around(radius),
                    may_stay: around(radius + slack),
                }
            }
            ColliderArea::Areas(areas) => Self::Some {
                wanted: chunks_in(areas.iter().copied(), grid),
                may_stay: BTreeSet::new(),
            },
        }
    }

    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some { wanted, .. } => wanted.contains(&number),
        }
    }

    #[inline]
    pub fn may_stay(&self, number: usize) -> bool {
        match self {
            Self::Some { may_stay, .. } => may_stay.contains(&number) || self.contains(number),
            _ => self.contains(number),
        }
    }

    /// The chunks wanted, of so many in all.
    pub fn numbers(&self, count: usize) -> Box<dyn Iterator<Item = usize> + '_> {
        match self {
            Self::None => Box::new(core::iter::empty()),
            Self::All => Box::new(0..count),
            Self::Some { wanted, .. } => Box::new(wanted.iter().copied()),
        }
    }
}

/// The chunks that world rectangles touch.
fn chunks_in(areas: impl Iterator<Item = Rect>, grid: &Grid) -> BTreeSet<usize> {
    let chunks = grid.chunks();
    let last_cell = (grid.size() - 1).as_vec2();
    let cells = |at: Vec2| grid.world_to_grid(Vec3::new(at.x, 0.0, at.y));
    // Many bodies lie close together: few different ranges remain.
    let ranges: BTreeSet<[u32; 4]> = areas
        .filter_map(|area| {
            let (from, to) = (cells(area.min), cells(area.max));
            let inside = from.cmple(last_cell).all() && to.cmpge(Vec2::ZERO).all();
            // Comparisons with what is not a number fail, so it is left out too.
            inside.then(|| {
                let side = TILE as f32;
                let from = (from.max(Vec2::ZERO) / side).as_uvec2().min(chunks - 1);
                let to = (to.min(last_cell) / side).as_uvec2().min(chunks - 1);
                [from.x, from.y, to.x, to.y]
            })
        })
        .collect();
    let mut numbers = BTreeSet::new();
    for [left, top, right, bottom] in ranges {
        for y in top..=bottom {
            numbers.extend((left..=right).map(|x| (y * chunks.x + x) as usize));
        }
    }
    numbers
}
