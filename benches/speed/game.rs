//! What a game does with the terrain: asks, edits, saves.

use super::{median, mountains};
use bevy::prelude::*;
use bevy_erode::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::hint::black_box;

/// Height and normal at random places of 1024².
pub fn query_batch() -> f64 {
    let terrain = mountains(1024);
    let mut dice = Pcg64::seed_from_u64(1);
    let count = 1 << 20;
    let places: Vec<Vec3> = (0..count)
        .map(|_| Vec3::new(along(&mut dice), 0.0, along(&mut dice)))
        .collect();
    let mut points = Vec::new();
    let seconds = median(9, || {
        terrain.ground_at_all(&places, &mut points);
        black_box(&points);
    });
    f64::from(count) / seconds / 1e6
}

fn along(dice: &mut Pcg64) -> f32 {
    dice.random_range(-511.0..511.0)
}

/// Rays from above the land to random places of it, as a player's would be.
pub fn raycast() -> f64 {
    let terrain = mountains(1024);
    let mut dice = Pcg64::seed_from_u64(2);
    let count = 100_000;
    let rays: Vec<Ray3d> = (0..count)
        .map(|_| {
            let from = Vec3::new(along(&mut dice), 400.0, along(&mut dice));
            let to = Vec3::new(along(&mut dice), 50.0, along(&mut dice));
            Ray3d::new(from, Dir3::new(to - from).unwrap_or(Dir3::NEG_Y))
        })
        .collect();
    let mut hits = Vec::new();
    let seconds = median(9, || {
        terrain.raycast_all(&rays, 1e4, &mut hits);
        black_box(&hits);
    });
    f64::from(count) / seconds / 1e3
}
