//! Land over geological time.

mod land;
mod law;
mod live;

use bevy::math::UVec2;
use bevy_erode::{
    models::ageing::{Ageing, AgeingSolver},
    prelude::*,
};

/// Hills of square land whose longest waves span it.
fn hills(cells: u32, cell_size: f32, height: f64, seed: u32) -> Terrain {
    let shape = Fbm::seeded(seed)
        .with_feature_size(f64::from(cells) * f64::from(cell_size))
        .with_height(height);
    Terrain::generate(&shape, UVec2::splat(cells), cell_size).expect("valid")
}

/// The land after some years.
fn aged(mut terrain: Terrain, settings: &Ageing, years: f64) -> Terrain {
    let mut solver = AgeingSolver::new(settings.clone(), terrain.grid()).expect("valid");
    solver.age(&mut terrain, years);
    terrain
}

fn mean(terrain: &Terrain) -> f64 {
    let ground = terrain.ground_heights();
    ground.iter().map(|z| f64::from(*z)).sum::<f64>() / ground.len() as f64
}

/// The span of heights without the lowest and the highest hundredth.
fn relief(terrain: &Terrain) -> f64 {
    let mut heights = terrain.ground_heights();
    heights.sort_by(f32::total_cmp);
    let last = heights.len() - 1;
    f64::from(heights[last - last / 100] - heights[last / 100])
}
