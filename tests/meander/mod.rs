//! Meandering rivers, by number.

mod app;
mod bake;
mod bends;
mod cutoff;
mod ground;
mod same;
mod saves;
mod scenes;
mod stretch;
mod water;

use bevy::math::DVec2;
use bevy_erode::{models::meander::*, parallel::Workers};

type River = RiverSolver<GridGround>;

/// A short plain, so that a test takes seconds.
fn plain(seed: u64) -> RiverPlain {
    RiverPlain {
        length: 1536.0,
        width: 512.0,
        seed,
        ..RiverPlain::default()
    }
}

fn settings(seed: u64) -> MeanderingRiver {
    MeanderingRiver {
        seed,
        ..MeanderingRiver::default()
    }
}

fn run(river: &mut River, steps: usize) {
    for _ in 0..steps {
        river.step_on(Workers::serial(), 0.1);
    }
}

/// The way of the water along the whole plain.
fn measured(river: &River) -> Option<Centerline> {
    let (min, max) = river.ground().bounds();
    let radius = f64::from(river.settings().radius);
    let (from, to) = (DVec2::new(min.x, 0.0), DVec2::new(max.x, 0.0));
    course(river.water(), radius, from, to)
}

/// Share of the water that stands less than a metre below the floodplain.
fn outside(river: &River) -> f64 {
    let ground = river.ground();
    let is_out = |water: &&WaterParticle| {
        let point = ground.point_at(water.position);
        ground.plain()[point] - ground.heights()[point] < 1.0
    };
    let out = river.water().iter().filter(is_out).count();
    out as f64 / river.water().len().max(1) as f64
}

/// The middle one of some numbers.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
