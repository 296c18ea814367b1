//! What aged land looks like, by the statistics of real mountains.

use super::{aged, hills, relief};
use crate::drainage::judge::judge;
use bevy::math::UVec2;
use bevy_erode::{
    models::ageing::{Ageing, AgeingSolver, Uplift},
    prelude::*,
};

/// Land of 512² cells: cell size, height, seed.
const LANDS: [(f32, f64, u32); 4] = [
    (2.0, 150.0, 1),
    (4.0, 300.0, 5),
    (10.0, 800.0, 3),
    (30.0, 2500.0, 2),
];

/// By default two of the lands; `AGEING=all` takes all.
#[test]
fn noise_becomes_land() {
    let all = std::env::var("AGEING").is_ok_and(|which| which == "all");
    let lands = if all { &LANDS[..] } else { &LANDS[1..3] };
    for &(cell_size, height, seed) in lands {
        let noise = hills(512, cell_size, height, seed);
        let settings = Ageing::default().with_uplift(Uplift::keep(0.8));
        let judged = |land: &Terrain| judge(&land.ground_heights(), 512, cell_size.into());
        let raw = judged(&noise);
        let mut solver = AgeingSolver::new(settings, noise.grid()).expect("valid");
        let mut land = noise.clone();
        solver.age(&mut land, 50_000.0);
        let young = judged(&land);
        solver.age(&mut land, 450_000.0);
        let old = judged(&land);
        let kept = relief(&land) / relief(&noise);
        let all = format!(
            "{cell_size} m, relief {:.0} m, kept {kept:.3}\nraw {raw:.3?}\nyoung {young:.3?}\nold \
             {old:.3?}",
            relief(&noise)
        );
        println!("{all}");
        // Noise is not such a land.
        assert!(raw.beta > 0.55 && raw.pits > 0.003, "{all}");
        assert!((0.42..=0.53).contains(&old.beta), "{all}");
        assert!((0.15..=0.5).contains(&old.theta_slope), "{all}");
        assert!((0.3..=0.6).contains(&old.theta_chi), "{all}");
        assert!(old.pits < 0.003, "{all}");
        assert!((kept / 0.8 - 1.0).abs() < 0.05, "{all}");
        // Young land has connected valleys already.
        assert!(young.pits < 0.003 && young.theta_chi >= 0.2, "{all}");
    }
}

#[test]
fn fans_grow_below_a_front() {
    let (width, height) = (120usize, 90usize);
    // A block of mountains above a gentle plain that falls to the east.
    let heights: Vec<f32> = (0..width * height)
        .map(|cell| {
            let x = cell % width;
            let rough = (cell * 7919 % 100) as f32 * 0.05;
            let plain = (width - x) as f32 * 0.1;
            plain + rough + if x < 50 { 400.0 } else { 0.0 }
        })
        .collect();
    let size = UVec2::new(width as u32, height as u32);
    let land = Terrain::from_heights(size, 20.0, heights.clone()).expect("valid");
    let borders = Borders {
        east: Border::Open,
        ..Borders::closed()
    };
    let land = land.with_borders(borders).expect("valid");
    let laid = |deposition: f32| {
        let settings = Ageing {
            deposition,
            ..Ageing::default()
        };
        let old = aged(land.clone(), &settings, 100_000.0).ground_heights();
        let plain = (0..heights.len()).filter(|cell| (60..80).contains(&(cell % width)));
        let rise: f64 = plain.map(|cell| f64::from(old[cell] - heights[cell])).sum();
        rise / (20 * height) as f64
    };
    let (with, without) = (laid(1.0), laid(0.0));
    assert!(with > 1.0, "{with}");
    assert!(without < 0.3 * with, "{without} {with}");
}

#[test]
fn turned_land_ages_alike() {
    let width = 160;
    let heights = hills(160, 20.0, 800.0, 6).ground_heights();
    let turn = |cell: usize, way: usize| {
        let (x, y) = (cell % width, cell / width);
        match way {
            1 => y * width + (width - 1 - x),
            2 => x * width + y,
            3 => x * width + (width - 1 - y),
            _ => cell,
        }
    };
    let betas = [0, 1, 2, 3].map(|way| {
        let turned = (0..heights.len()).map(|cell| heights[turn(cell, way)]);
        let land = Terrain::from_heights(UVec2::splat(160), 20.0, turned.collect());
        let old = aged(land.expect("valid"), &Ageing::default(), 150_000.0);
        judge(&old.ground_heights(), width, 20.0).beta
    });
    for beta in betas {
        assert!((beta - betas[0]).abs() < 0.03, "{betas:?}");
    }
}
