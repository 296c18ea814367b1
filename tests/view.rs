//! The drawn terrain, without a renderer: chunk entities and their meshes.

use bevy::time::TimeUpdateStrategy;
use bevy::{
    camera::primitives::Aabb, ecs::system::RunSystemOnce, math::UVec2, mesh::VertexAttributeValues,
    prelude::*,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::edits::EditAction,
    models::droplet::DropletSolver,
    view::{Quality, TerrainViewState},
};
use core::time::Duration;
use std::collections::HashMap;

pub fn create_app(terrain: Terrain) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
        ErosionPlugin::default(),
    ))
    .init_asset::<StandardMaterial>()
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        20,
    )))
    .insert_resource(terrain);
    settle(&mut app);
    app
}

/// Runs frames until all meshes are up to date.
pub fn settle(app: &mut App) {
    for _ in 0..2000 {
        app.update();
        let world = app.world();
        if world
            .resource::<TerrainViewState>()
            .is_settled(world.resource())
        {
            return;
        }
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
    panic!("the meshes never settled");
}

struct Chunk {
    place: Vec3,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    bounds: Aabb,
    triangles: usize,
}

fn chunks(app: &mut App) -> HashMap<UVec2, Chunk> {
    let read = |query: Query<(&TerrainChunk, &Mesh3d, &Transform, &Aabb)>,
                meshes: Res<Assets<Mesh>>| {
        let vectors = |mesh: &Mesh, attribute| match mesh.attribute(attribute) {
            Some(VertexAttributeValues::Float32x3(v)) => {
                v.iter().map(|&v| Vec3::from(v)).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        query
            .iter()
            .map(|(chunk, mesh, transform, bounds)| {
                let mesh = meshes.get(&mesh.0).expect("a mesh");
                let chunk_data = Chunk {
                    place: transform.translation,
                    positions: vectors(mesh, Mesh::ATTRIBUTE_POSITION),
                    normals: vectors(mesh, Mesh::ATTRIBUTE_NORMAL),
                    bounds: *bounds,
                    triangles: mesh.indices().expect("indices").len() / 3,
                };
                (chunk.coord, chunk_data)
            })
            .collect::<HashMap<_, _>>()
    };
    app.world_mut().run_system_once(read).expect("runs")
}

#[test]
fn chunks_cover_the_land_without_cracks_or_seams() {
    for size in [
        UVec2::new(150, 100),
        UVec2::new(64, 65),
        UVec2::new(2, 2),
        UVec2::new(129, 66),
    ] {
        let terrain = crate::land(3, size, 2.5)
            .with_origin(Vec3::new(30.0, 4.0, -70.0))
            .expect("valid");
        let mut app = create_app(terrain.clone());
        let chunks = chunks(&mut app);
        let mut seen: HashMap<(i64, i64), (Vec3, Vec3)> = HashMap::new();
        for chunk in chunks.values() {
            for (position, normal) in chunk.positions.iter().zip(&chunk.normals) {
                let world = chunk.place + *position;
                // Vertices are cell centers.
                let cell = terrain.grid().world_to_grid(world).round();
                assert!((terrain.grid().world_to_grid(world) - cell).length() < 1e-3);
                let index = terrain.grid().index(cell.x as u32, cell.y as u32);
                let ground = terrain.ground(index) + 4.0;
                assert!((world.y - ground).abs() < 1e-3, "{world} {ground}");
                let expected = terrain.normal_at(world).expect("inside");
                assert!(normal.distance(expected) < 2e-3, "{normal} {expected}");
                // Shared vertices are the same, bit by bit in height and normal.
                let (height, same) = seen
                    .entry((cell.x as i64, cell.y as i64))
                    .or_insert((*position, *normal));
                assert_eq!((height.y, *same), (position.y, *normal));
                let relative = (*position - Vec3::from(chunk.bounds.center)).abs();
                let inside = relative.cmple(Vec3::from(chunk.bounds.half_extents) + 1e-3);
                assert!(inside.all(), "outside the bounds");
            }
        }
        assert_eq!(
            seen.len(),
            (size.x * size.y) as usize,
            "every cell is a vertex"
        );
        let triangles: usize = chunks.values().map(|chunk| chunk.triangles).sum();
        assert_eq!(triangles as u32, 2 * (size.x - 1) * (size.y - 1));
    }
}

#[test]
fn only_dirty_chunks_are_rebuilt() {
    let mut app = create_app(crate::land(1, UVec2::splat(513), 1.0));
    let rebuilt = |app: &App| app.world().resource::<TerrainViewState>().rebuilt();
    assert_eq!(rebuilt(&app), 64);
    app.update();
    assert_eq!(rebuilt(&app), 64, "nothing changed, nothing is built");
    // A few drops in the middle of one tile touch it and its neighbors at most.
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let mut solver = DropletSolver::new(
        Droplets {
            max_steps: 24,
            ..Droplets::default()
        },
        terrain.grid(),
    )
    .expect("valid");
    let start = terrain.grid().cell_center(32 + 3 * 64, 32 + 3 * 64);
    solver.release(&mut terrain, &[start; 20]);
    settle(&mut app);
    let fresh = rebuilt(&app) - 64;
    assert!((1..=9).contains(&fresh), "{fresh} chunks were rebuilt");
}

#[test]
fn a_replaced_mesh_is_gone_unless_a_game_keeps_its_handle() {
    let land = Terrain::flat(UVec2::splat(130), 1.0).expect("valid");
    let mut app = create_app(land);
    let chunks = app.world_mut().query::<(&TerrainChunk, &Mesh3d)>();
    let mesh_of = |world: &World, coord: UVec2| {
        let chunks = chunks.query_manual(world);
        let found = chunks.iter().find(|chunk| chunk.0.coord == coord);
        found.map(|(_, mesh)| mesh.0.clone()).expect("a chunk")
    };
    let kept = mesh_of(app.world(), UVec2::ZERO);
    let given_up = mesh_of(app.world(), UVec2::ONE).id();
    let before = app.world().resource::<Assets<Mesh>>().len();
    let everywhere = TerrainEdit::raise(Vec3::ZERO, Brush::circle(200.0));
    app.world_mut().write_message(everywhere);
    settle(&mut app);
    let meshes = app.world().resource::<Assets<Mesh>>();
    assert!(meshes.get(&kept).is_some(), "a game may go on with it");
    assert!(meshes.get(given_up).is_none());
    assert_eq!(meshes.len(), before + 1, "no other is left over");
    for coord in [UVec2::ZERO, UVec2::ONE] {
        let new = mesh_of(app.world(), coord);
        assert!(new != kept && new.id() != given_up);
        assert!(meshes.get(&new).is_some());
    }
}

#[test]
fn meshes_follow_a_running_model_and_a_replaced_terrain() {
    let mut app = create_app(crate::hills(1));
    app.insert_resource(Thermal {
        soil_angle: 5.0,
        bedrock_angle: 10.0,
        ..Thermal::default()
    });
    for _ in 0..50 {
        app.update();
    }
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    settle(&mut app);
    let terrain = app.world().resource::<Terrain>().clone();
    let first = chunks(&mut app);
    assert_ne!(
        terrain.state_hash(),
        crate::hills(1).state_hash(),
        "it eroded"
    );
    assert_eq!(first.len(), 4);
    for chunk in first.values() {
        for position in &chunk.positions {
            let height = terrain.height_at(chunk.place + *position).expect("inside");
            assert!((height - position.y).abs() < 1e-3, "{height} {position}");
        }
    }

    app.insert_resource(crate::land(2, UVec2::new(40, 300), 2.0));
    settle(&mut app);
    assert_eq!(chunks(&mut app).len(), 5, "chunks of the new size only");
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    let mut query = app.world_mut().query::<&TerrainChunk>();
    assert_eq!(query.iter(app.world()).count(), 0);
}

#[test]
fn a_users_material_stays() {
    let mut app = create_app(crate::hills(1));
    let mine = app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::default());
    let mut query = app
        .world_mut()
        .query::<&mut MeshMaterial3d<StandardMaterial>>();
    for mut material in query.iter_mut(app.world_mut()) {
        material.0 = mine.clone();
    }
    let before = app.world().resource::<TerrainViewState>().rebuilt();
    app.insert_resource(Droplets::default());
    for _ in 0..5 {
        app.update();
    }
    settle_after_pause(&mut app);
    let after = app.world().resource::<TerrainViewState>().rebuilt();
    assert!(after > before, "meshes were rebuilt");
    let mut query = app.world_mut().query::<&MeshMaterial3d<StandardMaterial>>();
    assert!(query.iter(app.world()).all(|material| material.0 == mine));
}

fn settle_after_pause(app: &mut App) {
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    settle(app);
}

#[test]
fn the_overlay_repaints_everything() {
    let mut app = create_app(crate::hills(1));
    let before = app.world().resource::<TerrainViewState>().rebuilt();
    app.world_mut().resource_mut::<TerrainView>().overlay = Overlay::Change;
    app.update();
    settle(&mut app);
    let after = app.world().resource::<TerrainViewState>().rebuilt();
    assert_eq!(after - before, 4);
}

#[test]
fn the_land_is_drawn_as_it_was_when_asked_for() {
    let terrain = crate::hills(4);
    let mut app = create_app(terrain.clone());
    // Where four chunks meet.
    let at = terrain.grid().cell_center(64, 64);
    let hill = TerrainEdit::raise(at, Brush::circle(30.0)).with_strength(20.0);
    app.world_mut().write_message(hill);
    app.update();
    settle(&mut app);
    let wrong_vertices = |app: &mut App, terrain: &Terrain| {
        let mut wrong = 0;
        for chunk in chunks(app).values() {
            for (position, normal) in chunk.positions.iter().zip(&chunk.normals) {
                let world = chunk.place + *position;
                let cell = terrain.grid().world_to_grid(world).round().as_uvec2();
                let ground = terrain.ground(terrain.grid().index(cell.x, cell.y));
                let expected = terrain.normal_at(world).expect("inside");
                wrong += usize::from(position.y != ground || normal.distance(expected) > 2e-3);
            }
        }
        wrong
    };
    let edited = app.world().resource::<Terrain>().clone();
    assert_eq!(wrong_vertices(&mut app, &edited), 0);
    assert!(
        wrong_vertices(&mut app, &terrain) > 100,
        "a hill was raised"
    );
    app.world_mut().resource_mut::<TerrainView>().before = true;
    app.update();
    settle(&mut app);
    assert_eq!(wrong_vertices(&mut app, &terrain), 0, "it is gone again");
}

#[test]
fn another_quality_builds_no_mesh_and_keeps_a_games_own_material() {
    let mut app = create_app(crate::land(1, UVec2::splat(100), 1.0));
    let built = |app: &App| app.world().resource::<TerrainViewState>().rebuilt();
    let before = built(&app);
    let own = app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::default());
    let mut chunks = app
        .world_mut()
        .query_filtered::<&mut MeshMaterial3d<StandardMaterial>, With<TerrainChunk>>();
    for mut material in chunks.iter_mut(app.world_mut()) {
        material.0 = own.clone();
    }
    for quality in Quality::ALL {
        app.world_mut().resource_mut::<TerrainView>().quality = quality;
        settle(&mut app);
    }
    assert_eq!(built(&app), before);
    let mut chunks = app
        .world_mut()
        .query_filtered::<&MeshMaterial3d<StandardMaterial>, With<TerrainChunk>>();
    assert!(
        chunks
            .iter(app.world())
            .all(|material| material.0.id() == own.id())
    );
}

/// Colors of the ground's vertices, chunk by chunk.
fn colors(app: &mut App) -> Vec<(UVec2, Vec<[f32; 4]>)> {
    let mut query = app.world_mut().query::<(&TerrainChunk, &Mesh3d)>();
    let meshes = app.world().resource::<Assets<Mesh>>();
    let chunks = query.iter(app.world()).map(|(chunk, mesh)| {
        let mesh = meshes.get(&mesh.0).expect("a mesh");
        match mesh.attribute(Mesh::ATTRIBUTE_COLOR) {
            Some(VertexAttributeValues::Float32x4(colors)) => (chunk.coord, colors.clone()),
            other => panic!("{other:?}"),
        }
    });
    let mut chunks: Vec<_> = chunks.collect();
    chunks.sort_by_key(|(coord, _)| (coord.y, coord.x));
    chunks
}

#[test]
fn ground_that_was_dry_is_drawn_wet_when_water_comes() {
    let land = || crate::land(4, UVec2::new(140, 70), 1.0);
    let cells = land().grid().cells();
    // In the middle chunk, and on the vertices that it shares with the next.
    let lake = |depth: f32| -> Vec<f32> {
        let at = |i: usize| (i % 140, i / 140);
        let wet = |(x, y): (usize, usize)| (90..=128).contains(&x) && (20..=64).contains(&y);
        (0..cells)
            .map(|i| if wet(at(i)) { depth } else { 0.0 })
            .collect()
    };
    // Changes no height, but has the ground drawn anew.
    let touch = |app: &mut App| {
        let hard = EditAction::SetHardness { value: 0.5 };
        let brush = Brush::square(100.0);
        let edit = TerrainEdit::new(hard, Vec3::ZERO, brush).with_strength(0.01);
        app.world_mut().write_message(edit);
        app.update();
        settle(app);
    };
    let mut app = create_app(land());
    let dry = colors(&mut app);
    touch(&mut app);
    assert_eq!(colors(&mut app), dry);
    for depth in [0.5, 0.0, 0.002] {
        let mut terrain = app.world_mut().resource_mut::<Terrain>();
        terrain.set_layer(Layer::Water, lake(depth)).expect("valid");
        app.update();
        settle(&mut app);
        touch(&mut app);
        let mut fresh = land();
        fresh.set_layer(Layer::Water, lake(depth)).expect("valid");
        let wanted = colors(&mut create_app(fresh));
        assert_eq!(wanted == dry, depth == 0.0);
        assert!(colors(&mut app) == wanted, "{depth} m deep");
    }
}
