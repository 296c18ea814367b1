//! Meandering rivers: whole steps, with all that happens every few of them. River
//! networks: all of a land.

use super::{median, mountains};
use bevy::math::{DVec2, UVec2};
use bevy_erode::{
    drainage::network::{RiverNetwork, RiverSettings},
    models::meander::*,
};
use std::hint::black_box;

/// Milliseconds to find the rivers, lakes and basins of raw mountains.
pub fn network_1024() -> f64 {
    let terrain = mountains(1024);
    let settings = RiverSettings::default();
    let seconds = median(9, || {
        black_box(RiverNetwork::of(&terrain, &settings).expect("valid"));
    });
    seconds * 1e3
}

/// Steps after which everything has had its turn: the triangles are changed once
/// in two times that the ground is settled.
const ROUND: usize = 40;
/// Length of a reach that is filled from a source of its own. units: m
const REACH: f64 = 512.0;

/// Milliseconds of a step: water in this many channels side by side, each so
/// long (m), on what `lay` makes of their ground.
fn rivers<G: Ground>(count: u32, length: f64, lay: fn(GridGround) -> G) -> f64 {
    let plain = RiverPlain {
        length,
        width: 384.0,
        waviness: 8.0,
        ..RiverPlain::default()
    };
    let one = plain.ground().expect("valid");
    let size = one.size() * UVec2::new(1, count);
    let all = |values: &[f64]| values.repeat(count as usize);
    let ground = GridGround::new(size, plain.cell_size, all(one.heights()))
        .and_then(|ground| ground.with_plain(all(one.plain())))
        .expect("valid");
    let settings = MeanderingRiver::default();
    let speed = f64::from(settings.gravity) * plain.slope / f64::from(settings.drag);
    let mut river = RiverSolver::new(settings, lay(ground)).expect("valid");
    let sink = RiverSink {
        position: DVec2::new(0.5 * length, 0.0),
        half_size: DVec2::new(16.0, 1e6),
    };
    river.add_sink(sink).expect("valid");
    // Each reach is filled by itself, then the first source keeps all going.
    let mut others = Vec::new();
    for channel in 0..count {
        let y = (f64::from(channel) - 0.5 * f64::from(count - 1)) * plain.width;
        let mut x = 25.0 - 0.5 * length;
        while x < 0.5 * length - 16.0 {
            let source = RiverSource {
                position: DVec2::new(x, y),
                spread: DVec2::splat(plain.spread),
                velocity: DVec2::new(speed, 0.0),
                rate: plain.rate,
            };
            let id = river.add_source(source).expect("valid");
            if x > REACH - 0.5 * length {
                others.push(id);
            }
            x += REACH;
        }
    }
    for _ in 0..(REACH / speed / 0.1) as usize {
        river.step(0.1);
    }
    for id in others {
        river.remove_source(id);
    }
    for _ in 0..5 * ROUND {
        river.step(0.1);
    }
    let seconds = median(11, || {
        for _ in 0..ROUND {
            river.step(0.1);
        }
    });
    let (water, sediment) = (river.water().len(), river.sediment().len());
    eprintln!("# {water} water and {sediment} sediment particles");
    seconds * 1e3 / ROUND as f64
}

fn grid(ground: GridGround) -> GridGround {
    ground
}

fn mesh(ground: GridGround) -> MeshGround {
    MeshGround::from_grid(&ground, MeshDetail::default()).expect("valid")
}

/// Length of one river like the paper's. units: m
const SMALL: f64 = 3072.0;
/// Of such rivers, a bit longer, this many have ten thousand particles.
const MANY: u32 = 24;
/// Length of each of the many. units: m
const LONG: f64 = 4096.0;

pub fn meander_300() -> f64 {
    rivers(1, SMALL, grid)
}

pub fn meander_10000() -> f64 {
    rivers(MANY, LONG, grid)
}

pub fn meander_mesh_300() -> f64 {
    rivers(1, SMALL, mesh)
}

pub fn meander_mesh_10000() -> f64 {
    rivers(MANY, LONG, mesh)
}
