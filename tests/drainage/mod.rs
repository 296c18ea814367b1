//! Streams must make a drainage network: valleys that branch, join and reach the
//! border. Each figure must beat both the land before and drops without streams.

pub mod judge;
mod network;
mod rivers;

use bevy::math::UVec2;
use bevy_erode::prelude::*;
use bevy_erode::{
    models::droplet::DropletSolver,
    terrain::landform::{ConicalHill, Sum},
};
use network::{Figures, Network};

/// Catchment from which on a way of water counts as a channel. units: m²
const CHANNEL: f64 = 2000.0;

/// A hollow less deep than this does not hold water up. units: m
const DOORSTEP: f32 = 0.5;

/// Ridges on a mountain that falls off to all borders, with a dozen hollows.
fn mountain(seed: u32) -> Terrain {
    let ridges = Ridged::seeded(seed)
        .with_feature_size(430.0)
        .with_height(150.0);
    let slopes = ConicalHill::seeded(seed)
        .with_height(150.0)
        .with_radius(760.0)
        .with_roughness(0.0);
    let shape = Sum::new(ridges, slopes);
    Terrain::generate(&shape, UVec2::splat(224), 4.0).expect("valid")
}

fn figures(terrain: &Terrain) -> (Figures, f64) {
    let ground = terrain.ground_heights();
    let network = Network::of(&ground, terrain.grid().width(), terrain.cell_size());
    (
        network.figures(&ground, CHANNEL),
        network.drained(&ground, DOORSTEP),
    )
}

fn after_rain(mut terrain: Terrain, settings: Droplets) -> (Figures, f64) {
    let settings = Droplets {
        volume: 50.0,
        ..settings
    };
    let mut solver = DropletSolver::new(settings, terrain.grid()).expect("valid");
    solver.rain(&mut terrain, 900_000);
    figures(&terrain)
}

fn valleys_join_and_reach_the_border(seed: u32) {
    let land = mountain(seed);
    let before = figures(&land);
    let plain = Droplets {
        max_steps: 1024,
        ..Droplets::seeded(7)
    };
    let without = after_rain(land.clone(), plain);
    let with = after_rain(land, Droplets::seeded(7).with_streams());
    let all = format!("\nbefore  {before:?}\nwithout {without:?}\nwith    {with:?}");
    let ((before, drained_before), (without, _), (with, drained)) = (before, without, with);

    // Hollows are filled or breached.
    assert!(with.ponded < 0.3 * before.ponded, "ponded{all}");
    assert!(
        drained > 0.6 && drained > 2.0 * drained_before,
        "drained{all}"
    );
    // Valleys are cut in, not only drawn on the land.
    assert!(with.depth > 1.4 * before.depth, "depth{all}");
    assert!(with.depth > 1.8 * without.depth, "depth{all}");
    // They branch and join: side by side they would join seldom.
    let joins = with.junctions_per_km / without.junctions_per_km;
    assert!(joins > 1.3, "junctions{all}");
    assert!(with.order >= 3, "order{all}");
    // Horton's ratio of bifurcation is 3 to 5 in nature.
    let ratio = with.streams[0] as f64 / with.streams[1] as f64;
    assert!((3.0..5.5).contains(&ratio), "bifurcation {ratio}{all}");
    // Hack's exponent is 0.5 to 0.6 there; 1 where streams run side by side.
    assert!((0.45..0.65).contains(&with.hack), "Hack's exponent{all}");
    // A few rivers drain most of the land.
    assert!(with.largest > 1.15 * without.largest, "largest{all}");
}

#[test]
fn streams_drain_a_mountain() {
    valleys_join_and_reach_the_border(1);
}

#[test]
fn streams_drain_another_mountain() {
    valleys_join_and_reach_the_border(2);
}

#[test]
fn streams_drain_a_third_mountain() {
    valleys_join_and_reach_the_border(3);
}

#[test]
fn a_plane_drains_in_straight_lines() {
    // The measure itself: 40 × 30 cells of 2 m that fall to the south.
    let ground: Vec<f32> = (0..1200).map(|i| 60.0 - (i / 40) as f32).collect();
    let network = Network::of(&ground, 40, 2.0);
    let figures = network.figures(&ground, 40.0);
    assert_eq!(network.drained(&ground, 0.0), 1.0);
    assert_eq!((figures.drained, figures.ponded), (1.0, 0.0));
    assert_eq!((figures.order, figures.junctions_per_km), (1, 0.0));
    // Each inner column is a stream of 28 cells, and the last row its end.
    assert_eq!(figures.streams[0], 38);
    assert_eq!(network.area[29 * 40 + 20], 29.0 * 4.0);
}

#[test]
fn a_hollow_is_ponded_and_a_valley_is_deep() {
    let side = 41usize;
    let at = |i: usize| ((i % side) as f32 - 20.0, (i / side) as f32);
    // A valley to the south, and a pit of 3 m in its middle.
    let valley = |i: usize| at(i).0.abs() * 0.5 + 80.0 - at(i).1;
    let mut ground: Vec<f32> = (0..side * side).map(valley).collect();
    let pit = 20 * side + 20;
    ground[pit] -= 3.0;
    let network = Network::of(&ground, side, 4.0);
    let figures = network.figures(&ground, 400.0);
    assert_eq!(network.level[pit], ground[pit + side]);
    assert!(network.drained(&ground, 1.0) < figures.largest);
    assert_eq!(network.drained(&ground, 3.0), 1.0);
    assert!((figures.ponded - 1.0 / (side * side) as f64).abs() < 1e-9);
    assert!(figures.depth > 0.5, "{}", figures.depth);
}
