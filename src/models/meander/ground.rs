//! What a river needs of the ground it runs on: the one interface between them.

use super::{MeanderingRiver, WaterParticle};
use crate::parallel::Workers;
use bevy::math::DVec2;

/// The ground at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Height. units: m
    pub height: f64,
    /// Rise along each axis. units: m/m
    pub slope: DVec2,
}

/// What water wants to take from the ground at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Number of the ground's point.
    pub point: usize,
    /// How far the bank is to move back. units: m
    pub sideways: DVec2,
    /// How far the bed is to sink. units: m
    pub down: f64,
    /// Level below which the bed does not sink. units: m
    pub floor: f64,
}

/// Ground made of points that can be cut, heaped up and stood on.
///
/// Cuts of one moment are measured against the same ground before any is taken,
/// so their order does not matter.
pub trait Ground: Send + Sync {
    /// Smallest and largest coordinates. Particles beyond are gone. units: m
    fn bounds(&self) -> (DVec2, DVec2);

    /// Whether a particle here is still there.
    fn holds(&self, at: DVec2) -> bool {
        let (min, max) = self.bounds();
        at.cmpge(min).all() && at.cmple(max).all()
    }

    /// Height and slope; the border's beyond the border.
    fn surface(&self, at: DVec2) -> Surface;

    /// The point next to a place.
    fn point_at(&self, at: DVec2) -> usize;

    /// Calls `visit` with each point of `min ≤ position < max`.
    fn points_in(&self, min: DVec2, max: DVec2, visit: impl FnMut(usize, DVec2));

    /// Level up to which bars grow at a point. units: m
    fn floodplain(&self, point: usize) -> f64;

    /// How fast a point is cut, compared with the base ground.
    fn softness(&self, settings: &MeanderingRiver, point: usize) -> f64;

    /// What a cut would take now. units: m³
    fn cut_volume(&self, settings: &MeanderingRiver, cut: &Cut) -> f64;

    /// Takes this much of a cut, at most its
    /// [`cut_volume`](Self::cut_volume). units: m³
    fn take(&mut self, settings: &MeanderingRiver, cut: &Cut, volume: f64);

    /// Takes this much of each of `count` cuts, as [`take`](Self::take) does one
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

    /// How much fits on a point below a level. units: m³
    fn room(&self, point: usize, level: f64) -> f64;

    /// Heaps up fresh deposit on a point. units: m³
    fn lay(&mut self, point: usize, volume: f64);

    /// How much of a point stands above a level. units: m³
    fn excess(&self, point: usize, level: f64) -> f64;

    /// Takes this much off a point, at most its [`excess`](Self::excess) over
    /// the level it is to have. units: m³
    fn dig(&mut self, point: usize, volume: f64);

    /// Lets deposits harden and steep banks cave in where the river was.
    fn settle(&mut self, workers: &Workers, settings: &MeanderingRiver, dt: f64);

    /// Evens out the ground between these points, which must be in no order
    /// but each there once. Volume is kept.
    fn smooth(&mut self, points: &[usize]);

    /// Tells where the water is and how far it reaches (m), before each look at
    /// the ground. Ground that adapts to the river does so when it
    /// [settles](Self::settle).
    fn attend(&mut self, _: &Workers, _water: &[WaterParticle], _reach: f64) {}

    /// All solids above height zero, less what lies below. units: m³
    fn solids(&self) -> f64;
}
