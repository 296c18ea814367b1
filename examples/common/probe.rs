//! What the headless runner reads from the world.

use std::path::Path;

use bevy::prelude::*;
use bevy_erode::view::{TerrainViewState, WaterView};
use bevy_erode::{
    prelude::*,
    view::colors::{GroundSample, Variation},
};

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
    let backend = world.get_resource::<ErosionBackendStatus>();
    let is_known = backend.is_none_or(|status| !status.readback_pending);
    let is_drawn = drawn
        .zip(terrain)
        .is_some_and(|(drawn, terrain)| drawn.is_settled(terrain));
    is_known && is_drawn
}

/// Whether the terrain has been drawn at all: its first meshes appear together.
pub fn terrain_is_there(world: &World) -> bool {
    let drawn = world.get_resource::<TerrainViewState>();
    drawn.is_some_and(|drawn| drawn.rebuilt() > 0)
}

/// World height of the ground at a position. units: m
pub fn ground_height(terrain: Option<&Terrain>, position: Vec3) -> Option<f32> {
    terrain?.height_at(position)
}

/// Draws the terrain as a hillshade on the CPU, in the colors of the view.
pub fn paint_hillshade(world: &World, path: &Path) -> Result<(), String> {
    let terrain = world
        .get_resource::<Terrain>()
        .ok_or("no `Terrain` resource to draw")?;
    let (size, heights) = (terrain.size(), terrain.ground_heights());
    let view = world.get_resource::<TerrainView>().cloned();
    let view = view.unwrap_or_default();
    let water = world.get_resource::<WaterView>().cloned();
    let water = water.unwrap_or_default();
    let draws_water = water.visible && view.overlay == Overlay::None && !view.before;
    // The land at the start, if the view has seen it.
    let before = world.get_resource::<TerrainViewState>();
    let before = before.map_or(&[][..], |state| &state.baseline().ground);
    let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
    let highest = heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);

    let color = |cell: usize| {
        let at = UVec2::new(cell as u32 % size.x, cell as u32 / size.x);
        let slope = terrain.slope(at.x, at.y);
        let spot = GroundSample {
            variation: Variation::at(at.as_vec2() * terrain.cell_size()),
            relative_height: (heights[cell] - lowest) / (highest - lowest).max(1e-3),
            relief: highest - lowest,
            up: 1.0 / (1.0 + slope.length_squared()).sqrt(),
            soil: terrain.soil()[cell],
            change: heights[cell] - before.get(cell).unwrap_or(&heights[cell]),
            water: terrain.water_depth(at.x, at.y),
            measure: view.overlay.measure(terrain, at.x, at.y),
            // The relief's own light shows it.
            hollow: 0.0,
        };
        let mut color = view.palette.color(&spot, view.overlay);
        let depth = terrain.water_depth(at.x, at.y);
        if draws_water && depth > water.min_depth {
            let seen = water.color(depth, terrain.suspended()[cell] / depth);
            // The sky in it, which a relief has no way to mirror.
            let sky = LinearRgba::rgb(0.015, 0.05, 0.09);
            color = color.mix(&(seen + sky), seen.alpha);
        }
        // From straight above there is no glare: a little brighter reads better.
        [color.red, color.green, color.blue].map(|c| 1.7 * c)
    };
    // Water lies level over its bed.
    let mut surface = heights.clone();
    if draws_water {
        for (cell, height) in surface.iter_mut().enumerate() {
            *height += terrain.water_depth(cell as u32 % size.x, cell as u32 / size.x);
        }
    }
    let surface = Heightmap::new(size, surface).map(|map| map.with_cell_size(terrain.cell_size()));
    surface
        .and_then(|surface| surface.write_hillshade(path, color))
        .map_err(|error| error.to_string())
}
