//! All that the harness asks of the simulation.

use std::path::Path;

use bevy::prelude::*;
use bevy_erode::prelude::*;

use super::relief::{land_colour, write_relief};

/// How much erosion has been simulated so far. units: s
pub fn erosion_seconds(world: &World) -> f32 {
    world
        .get_resource::<Time<Erosion>>()
        .map_or(0.0, |time| time.elapsed_secs())
}

/// Whether the meshes show the terrain as it is.
pub fn terrain_is_drawn(world: &World) -> bool {
    let drawn = world.get_resource::<TerrainViewState>();
    let terrain = world.get_resource::<Terrain>();
    drawn
        .zip(terrain)
        .is_some_and(|(drawn, terrain)| drawn.is_settled(terrain))
}

/// World height of the ground at a position. units: m
pub fn ground_height(terrain: Option<&Terrain>, position: Vec3) -> Option<f32> {
    terrain?.height_at(position)
}

/// Paints the terrain as a shaded relief.
pub fn paint_relief(world: &World, path: &Path) -> Result<(), String> {
    let terrain = world
        .get_resource::<Terrain>()
        .ok_or("there is no terrain to paint")?;
    let (size, heights) = (terrain.size(), terrain.ground_heights());
    let colour = land_colour(&heights);
    write_relief(
        path,
        size.x as usize,
        size.y as usize,
        terrain.cell_size(),
        &heights,
        colour,
    )
}
