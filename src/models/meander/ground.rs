//! The interface between a river and the ground that it runs on.

use super::{MeanderingRiver, WaterParticle};
use crate::parallel::Workers;
use bevy::math::DVec2;

/// Height and slope of the ground at a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Height. units: m
    pub height: f64,
    /// Rise along each axis. units: m/m
    pub slope: DVec2,
}

/// A cut that water makes into the ground at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Index of the ground's point.
    pub point: usize,
    /// How far the bank moves back. units: m
    pub sideways: DVec2,
    /// How far the bed is lowered. units: m
    pub down: f64,
    /// Level below which the bed is not lowered. units: m
    pub floor: f64,
}

/// Ground made of points that a river can cut and fill.
///
/// All cuts of a step are measured on the same ground before any of them is made, so
/// their order does not matter.
pub trait Ground: Send + Sync {
    /// Smallest and largest coordinates. Particles beyond them are removed. units: m
    fn bounds(&self) -> (DVec2, DVec2);

    /// Whether a position is on the ground; particles elsewhere are removed.
    #[inline]
    fn holds(&self, at: DVec2) -> bool {
        let (min, max) = self.bounds();
        at.cmpge(min).all() && at.cmple(max).all()
    }

    /// Height and slope; beyond the border those of the border.
    fn surface(&self, at: DVec2) -> Surface;

    /// The point nearest to a position.
    fn point_at(&self, at: DVec2) -> usize;

    /// Calls `visit` with each point of `min ≤ position < max`.
    fn points_in(&self, min: DVec2, max: DVec2, visit: impl FnMut(usize, DVec2));

    /// Level up to which bars grow at a point. units: m
    fn floodplain(&self, point: usize) -> f64;

    /// How fast a point is cut, compared with the base ground.
    fn softness(&self, settings: &MeanderingRiver, point: usize) -> f64;

    /// Volume that a cut would remove now. units: m³
    fn cut_volume(&self, settings: &MeanderingRiver, cut: &Cut) -> f64;

    /// Removes this much of a cut, at most its
    /// [`cut_volume`](Self::cut_volume). units: m³
    fn take(&mut self, settings: &MeanderingRiver, cut: &Cut, volume: f64);

    /// Removes this much of each of `count` cuts, as [`take`](Self::take) does one
    /// after the other. Any number of workers gives the same ground.
    fn take_all(
        &mut self,
        _: &Workers,
        settings: &MeanderingRiver,
        count: usize,
        cut: impl Fn(usize) -> (Cut, f64) + Sync,
    ) {
        for (cut, volume) in (0..count).map(cut) {
            if volume > 0.0 {
                self.take(settings, &cut, volume);
            }
        }
    }

    /// Volume that a point can take in below a level. units: m³
    fn room(&self, point: usize, level: f64) -> f64;

    /// Adds fresh deposit to a point. units: m³
    fn lay(&mut self, point: usize, volume: f64);

    /// Volume of a point above a level. units: m³
    fn excess(&self, point: usize, level: f64) -> f64;

    /// Removes this much from a point, at most its [`excess`](Self::excess) over the
    /// target level. units: m³
    fn dig(&mut self, point: usize, volume: f64);

    /// Lets deposits harden and steep banks cave in where the river was.
    fn settle(&mut self, workers: &Workers, settings: &MeanderingRiver, dt: f64);

    /// Smooths the ground between these points, given in any order, each once. Volume
    /// is conserved.
    fn smooth(&mut self, points: &[usize]);

    /// Called before each look at the ground with the water and its reach (m). Ground
    /// that adapts to the river does so when it [settles](Self::settle).
    fn attend(&mut self, _: &Workers, _water: &[WaterParticle], _reach: f64) {}

    /// All solids above height zero, less what lies below. units: m³
    fn solids(&self) -> f64;
}
