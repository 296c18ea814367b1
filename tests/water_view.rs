//! The drawn water, without a renderer: chunk entities and their meshes.

use crate::view::{create_app, settle};
use bevy::{
    camera::primitives::Aabb, ecs::system::RunSystemOnce, math::UVec2, mesh::VertexAttributeValues,
    prelude::*,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    models::droplet::DropletSolver,
    view::{LavaChunk, TerrainViewState, WaterChunk, WaterView},
};
use std::collections::HashMap;

struct Chunk {
    place: Vec3,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Depth and share of sediment.
    loads: Vec<[f32; 2]>,
    bounds: Aabb,
    indices: Vec<usize>,
}

/// The chunks that are drawn.
fn chunks(app: &mut App) -> HashMap<UVec2, Chunk> {
    let read = |query: Query<(&WaterChunk, &Mesh3d, &Transform, &Aabb)>,
                meshes: Res<Assets<Mesh>>| {
        let vectors = |mesh: &Mesh, attribute| match mesh.attribute(attribute) {
            Some(VertexAttributeValues::Float32x3(v)) => {
                v.iter().map(|&v| Vec3::from(v)).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let mut found = HashMap::new();
        for (chunk, mesh, transform, bounds) in &query {
            let mesh = meshes.get(&mesh.0).expect("a mesh");
            let loads = match mesh.attribute(Mesh::ATTRIBUTE_UV_0) {
                Some(VertexAttributeValues::Float32x2(v)) => v.clone(),
                other => panic!("{other:?}"),
            };
            let chunk_data = Chunk {
                place: transform.translation,
                positions: vectors(mesh, Mesh::ATTRIBUTE_POSITION),
                normals: vectors(mesh, Mesh::ATTRIBUTE_NORMAL),
                loads,
                bounds: *bounds,
                indices: mesh.indices().expect("indices").iter().collect(),
            };
            found.insert(chunk.coord, chunk_data);
        }
        found
    };
    app.world_mut().run_system_once(read).expect("runs")
}

fn water_rebuilt(app: &App) -> u64 {
    app.world().resource::<TerrainViewState>().water_rebuilt()
}

/// Hills that stand in water up to their middle, brown on one side, with
/// puddles on the slopes.
pub fn flooded(seed: u32, size: UVec2) -> Terrain {
    let terrain = crate::land(seed, size, 2.5)
        .with_origin(Vec3::new(30.0, 4.0, -70.0))
        .expect("valid");
    let ground = terrain.ground_heights();
    let level = ground.iter().sum::<f32>() / ground.len() as f32;
    let depth = |(i, &g): (usize, &f32)| (level - g).max(if i % 37 == 0 { 0.3 } else { 0.0 });
    let depths: Vec<f32> = ground.iter().enumerate().map(depth).collect();
    let suspended = depths.iter().map(|depth| 0.03 * depth).collect();
    terrain
        .with_layer(Layer::Water, depths)
        .and_then(|terrain| terrain.with_layer(Layer::Suspended, suspended))
        .expect("valid")
}

fn replace_water(app: &mut App, depths: impl Fn(UVec2) -> f32) {
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let size = terrain.size();
    let cells = (0..size.y).flat_map(|y| (0..size.x).map(move |x| UVec2::new(x, y)));
    let depths = cells.map(depths).collect();
    terrain.set_layer(Layer::Water, depths).expect("valid");
    app.update();
    settle(app);
}

#[test]
fn the_surface_meets_water_and_land_without_cracks() {
    let thinnest = WaterView::default().min_depth;
    for size in [
        UVec2::new(150, 100),
        UVec2::new(64, 65),
        UVec2::new(2, 2),
        UVec2::new(2, 70),
        UVec2::new(129, 66),
    ] {
        let terrain = flooded(3, size);
        let mut app = create_app(terrain.clone());
        let chunks = chunks(&mut app);
        assert!(!chunks.is_empty());
        let mut seen: HashMap<(u32, u32), (f32, Vec3, [f32; 2])> = HashMap::new();
        let mut quads = 0;
        for chunk in chunks.values() {
            quads += chunk.indices.len() / 6;
            for &i in &chunk.indices {
                let world = chunk.place + chunk.positions[i];
                let at = terrain.grid().world_to_grid(world);
                assert!(
                    (at - at.round()).length() < 1e-3,
                    "vertices are cell centers"
                );
                let (x, y) = (at.round().x as u32, at.round().y as u32);
                let cell = terrain.grid().index(x, y);
                let (ground, water) = (terrain.ground(cell), terrain.water()[cell]);
                let (height, load) = (chunk.positions[i].y, chunk.loads[i]);
                if water > thinnest {
                    assert_eq!(height, ground + water);
                    assert_eq!(load[0], water);
                    assert!((load[1] - 0.03).abs() < 1e-4);
                } else {
                    assert!(height < ground, "above dry ground: {height} {ground}");
                    assert!((load[0] - (height - ground)).abs() < 1e-3);
                }
                assert!(chunk.normals[i].is_normalized() && chunk.normals[i].y > 0.0);
                let same = *seen
                    .entry((x, y))
                    .or_insert((height, chunk.normals[i], load));
                assert_eq!(same, (height, chunk.normals[i], load), "at {x}, {y}");
                let relative = chunk.positions[i] - Vec3::from(chunk.bounds.center);
                let inside = relative
                    .abs()
                    .cmple(Vec3::from(chunk.bounds.half_extents) + 1e-3);
                assert!(inside.all(), "outside the bounds");
            }
        }
        let wet = |x, y| terrain.water()[terrain.grid().index(x, y)] > thinnest;
        let quad = |x, y| wet(x, y) || wet(x + 1, y) || wet(x, y + 1) || wet(x + 1, y + 1);
        let expected = (0..size.y - 1)
            .flat_map(|y| (0..size.x - 1).map(move |x| (x, y)))
            .filter(|&(x, y)| quad(x, y))
            .count();
        assert_eq!(
            quads, expected,
            "every quad with a wet corner, and no other"
        );
    }
}

#[test]
fn a_lake_is_level_to_the_shore() {
    // A bowl: the land rises on all sides.
    let size = UVec2::splat(80);
    let bowl = |i: usize| {
        let at = Vec2::new((i % 80) as f32, (i / 80) as f32) - 40.0;
        at.length_squared() * 0.01
    };
    let ground: Vec<f32> = (0..6400).map(bowl).collect();
    let depths = ground.iter().map(|g| (5.0 - g).max(0.0)).collect();
    let terrain = Terrain::from_heights(size, 1.0, ground)
        .and_then(|terrain| terrain.with_layer(Layer::Water, depths))
        .expect("valid");
    let mut app = create_app(terrain);
    for chunk in chunks(&mut app).values() {
        for &i in &chunk.indices {
            assert!(chunk.positions[i].y < 5.0 + 1e-4);
            if chunk.loads[i][0] > -0.02 {
                assert!((chunk.positions[i].y - 5.0).abs() < 0.05);
            }
            assert!(chunk.normals[i].y > 0.999, "{}", chunk.normals[i]);
        }
    }
}

#[test]
fn dry_land_costs_no_water() {
    let mut app = create_app(crate::hills(1));
    assert_eq!(water_rebuilt(&app), 0);
    let mut query = app.world_mut().query::<&WaterChunk>();
    assert_eq!(query.iter(app.world()).count(), 0);
    // Nor does a film that nobody could see.
    replace_water(&mut app, |_| 1e-4);
    assert_eq!(water_rebuilt(&app), 0);
}

#[test]
fn chunks_come_and_go_with_the_water() {
    let mut app = create_app(crate::hills(1));
    replace_water(&mut app, |at| if at.x < 20 { 1.0 } else { 0.0 });
    let mut found: Vec<UVec2> = chunks(&mut app).into_keys().collect();
    found.sort_by_key(|coord| coord.y);
    assert_eq!(found, [UVec2::new(0, 0), UVec2::new(0, 1)]);

    replace_water(&mut app, |at| if at.x > 100 { 1.0 } else { 0.0 });
    assert!(chunks(&mut app).keys().all(|coord| coord.x == 1));
    replace_water(&mut app, |_| 0.0);
    assert!(chunks(&mut app).is_empty());
    let mut query = app.world_mut().query::<&WaterChunk>();
    assert_eq!(query.iter(app.world()).count(), 4, "entities stay");

    replace_water(&mut app, |_| 0.5);
    assert_eq!(chunks(&mut app).len(), 4);
    let mut query = app.world_mut().query::<&WaterChunk>();
    assert_eq!(query.iter(app.world()).count(), 4, "and are used again");

    app.insert_resource(flooded(2, UVec2::new(40, 300)));
    settle(&mut app);
    let found = chunks(&mut app);
    assert!(found.keys().all(|coord| coord.x == 0 && coord.y < 5));
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    let mut query = app.world_mut().query::<&WaterChunk>();
    assert_eq!(query.iter(app.world()).count(), 0);
}

#[test]
fn only_dirty_water_is_rebuilt() {
    // Wet all over, but for the place where drops will fall.
    let dry = UVec2::splat(32 + 3 * 64).as_vec2();
    let place = |i: u32| Vec2::new((i % 513) as f32, (i / 513) as f32);
    let depth = |i| {
        if place(i).distance(dry) < 29.0 {
            0.0
        } else {
            1.0
        }
    };
    let terrain = crate::land(1, UVec2::splat(513), 1.0)
        .with_layer(Layer::Water, (0..513 * 513).map(depth).collect())
        .expect("valid");
    let mut app = create_app(terrain);
    assert_eq!(water_rebuilt(&app), 64);
    app.update();
    assert_eq!(water_rebuilt(&app), 64, "nothing changed, nothing is built");
    // Drops that move the ground move the water above it.
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let settings = Droplets {
        max_steps: 24,
        ..Droplets::default()
    };
    let mut solver = DropletSolver::new(settings, terrain.grid()).expect("valid");
    let start = terrain.grid().cell_center(32 + 3 * 64, 32 + 3 * 64);
    solver.release(&mut terrain, &[start; 20]);
    settle(&mut app);
    let fresh = water_rebuilt(&app) - 64;
    assert!((1..=9).contains(&fresh), "{fresh} chunks were rebuilt");
}

#[test]
fn the_ground_is_repainted_only_where_it_gets_wetter() {
    let mut app = create_app(crate::hills(1));
    let rebuilt = |app: &App| app.world().resource::<TerrainViewState>().rebuilt();
    assert_eq!(rebuilt(&app), 4);
    replace_water(&mut app, |at| if at.x < 20 { 1.0 } else { 0.0 });
    assert_eq!(rebuilt(&app), 6, "two chunks got wet");
    replace_water(&mut app, |at| if at.x < 20 { 1.1 } else { 0.0 });
    assert_eq!(rebuilt(&app), 6, "deeper water wets no more");
    replace_water(&mut app, |_| 0.0);
    assert_eq!(rebuilt(&app), 8, "they dried");
}

#[test]
fn overlays_and_the_switch_hide_water() {
    let mut app = create_app(flooded(1, UVec2::new(100, 80)));
    let count = chunks(&mut app).len();
    assert!(count > 0);
    for overlay in Overlay::ALL.into_iter().cycle().skip(1).take(6) {
        app.world_mut().resource_mut::<TerrainView>().overlay = overlay;
        app.update();
        settle(&mut app);
        let expected = if overlay == Overlay::None { count } else { 0 };
        assert_eq!(chunks(&mut app).len(), expected, "{overlay:?}");
    }
    app.world_mut().resource_mut::<WaterView>().visible = false;
    app.update();
    settle(&mut app);
    assert!(chunks(&mut app).is_empty());
}

#[test]
fn water_overlays_follow_the_water() {
    let mut app = create_app(crate::hills(1));
    app.world_mut().resource_mut::<TerrainView>().overlay = Overlay::Depth;
    app.update();
    settle(&mut app);
    let before = app.world().resource::<TerrainViewState>().rebuilt();
    replace_water(&mut app, |_| 1.0);
    replace_water(&mut app, |_| 2.0);
    let after = app.world().resource::<TerrainViewState>().rebuilt();
    assert_eq!(after - before, 8);
}

#[test]
fn overlays_cycle_through_all() {
    let mut overlay = Overlay::None;
    for expected in Overlay::ALL.into_iter().skip(1) {
        overlay = overlay.next();
        assert_eq!(overlay, expected);
    }
    assert_eq!(overlay.next(), Overlay::None);
    let terrain = flooded(1, UVec2::new(30, 20));
    for overlay in Overlay::ALL {
        assert!((0..20).all(|y| overlay.measure(&terrain, 3, y) >= 0.0));
        // The top of the scale of rivers is their water.
        let full = match overlay {
            Overlay::River => 0.75,
            _ => 1.0,
        };
        let share = overlay.share(1.0, 1.0);
        assert!((share - full).abs() < 1e-5 && overlay.share(0.0, 1.0) == 0.0);
    }
}

#[test]
fn a_users_water_material_stays() {
    let mut app = create_app(flooded(1, UVec2::new(100, 80)));
    let mine = app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::default());
    let mut query = app
        .world_mut()
        .query_filtered::<&mut MeshMaterial3d<StandardMaterial>, With<WaterChunk>>();
    for mut material in query.iter_mut(app.world_mut()) {
        material.0 = mine.clone();
    }
    replace_water(&mut app, |_| 0.0);
    replace_water(&mut app, |_| 1.0);
    let mut query = app
        .world_mut()
        .query_filtered::<&MeshMaterial3d<StandardMaterial>, With<WaterChunk>>();
    assert!(query.iter(app.world()).all(|material| material.0 == mine));
}

#[test]
fn deeper_and_browner_water_hides_more() {
    let view = WaterView::default();
    let alpha = |depth, share| view.color(depth, share).alpha;
    assert_eq!(alpha(0.0, 0.0), 0.0);
    for depth in [0.01, 0.1, 0.3, 1.0, 3.0] {
        assert!(alpha(2.0 * depth, 0.0) > alpha(depth, 0.0));
        assert!(alpha(depth, 0.05) >= alpha(depth, 0.0));
        assert!(alpha(depth, 0.0) <= 1.0);
    }
    let brown = view.color(2.0, 0.2);
    assert!(brown.red > brown.blue);
    let blue = view.color(8.0, 0.0);
    assert!(blue.blue > blue.red);
}

#[test]
fn lava_is_drawn_where_it_lies_and_goes_when_it_froze() {
    let size = UVec2::new(150, 100);
    let depth = |x: u32, y: u32| {
        if x.abs_diff(64) + y.abs_diff(50) < 20 {
            2.0
        } else {
            0.0
        }
    };
    let depths = (0..size.x * size.y).map(|i| depth(i % size.x, i / size.x));
    let terrain = crate::land(3, size, 2.5)
        .with_layer(Layer::Lava, depths.collect())
        .expect("valid");
    let mut app = create_app(terrain.clone());
    let read = move |query: Query<(&LavaChunk, &Mesh3d, &Transform)>, meshes: Res<Assets<Mesh>>| {
        let mut vertices = 0;
        let mut chunks = 0;
        for (chunk, mesh, transform) in &query {
            chunks += 1;
            let mesh = meshes.get(&mesh.0).expect("a mesh");
            let Some(VertexAttributeValues::Float32x3(places)) =
                mesh.attribute(Mesh::ATTRIBUTE_POSITION)
            else {
                panic!("{:?} has no places", chunk.coord);
            };
            let Some(VertexAttributeValues::Float32x2(loads)) =
                mesh.attribute(Mesh::ATTRIBUTE_UV_0)
            else {
                panic!("{:?} has no heat", chunk.coord);
            };
            for index in mesh.indices().expect("indices").iter() {
                let world = transform.translation + Vec3::from(places[index]);
                let at = terrain.grid().world_to_grid(world).round().as_uvec2();
                let cell = terrain.grid().index(at.x, at.y);
                let lava = terrain.lava().expect("lava")[cell];
                if lava > 0.0 {
                    vertices += 1;
                    assert_eq!(places[index][1], terrain.ground(cell) + lava);
                    assert_eq!(loads[index], [lava, 1.0], "fresh lava");
                } else {
                    assert!(places[index][1] < terrain.ground(cell));
                }
            }
        }
        (chunks, vertices)
    };
    let (chunks, vertices) = app.world_mut().run_system_once(read).expect("runs");
    assert!(
        chunks == 4 && vertices > 1000,
        "{chunks} chunks, {vertices}"
    );

    let drawn = |query: Query<&LavaChunk, With<Mesh3d>>| query.iter().count();
    let cells = size.element_product() as usize;
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    terrain
        .set_layer(Layer::Lava, vec![0.0; cells])
        .expect("valid");
    app.update();
    settle(&mut app);
    assert_eq!(app.world_mut().run_system_once(drawn).expect("runs"), 0);
}
