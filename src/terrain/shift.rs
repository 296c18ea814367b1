//! The terrain's window moves over the world.

use bevy::math::*;

/// Where the terrain's window lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The grid's origin before it first moved. units: m
    pub start: Vec3,
    /// How far it has moved since, along x and z. units: tiles
    pub moved: IVec2,
}

impl Window {
    /// A window that has not moved.
    pub fn at(origin: Vec3) -> Self {
        Self {
            start: origin,
            moved: IVec2::ZERO,
        }
    }
}
