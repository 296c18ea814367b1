//! Levels of detail: edges that fit, and levels that follow the cameras.

use crate::view::{create_app, settle};
use bevy::{
    camera::primitives::Aabb,
    math::{UVec2, Vec3Swizzles},
    mesh::VertexAttributeValues,
    prelude::*,
};
use bevy_erode::{models::pipe::PipeSolver, view::TerrainViewState};
use bevy_erode::{
    prelude::*,
    view::{
        ChunkDetail,
        ground::mesh::{Baseline, GroundChunkCopy},
        liquid::mesh::LiquidChunkCopy,
    },
};
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;

const SIZES: [UVec2; 6] = [
    UVec2::new(1000, 130),
    UVec2::new(65, 66),
    UVec2::new(2, 2),
    UVec2::new(193, 257),
    UVec2::new(67, 200),
    UVec2::new(130, 3),
];

/// A vertex in cells, and all that a mesh says of it.
#[derive(Clone, Debug, PartialEq)]
struct Vertex {
    cell: UVec2,
    height: f32,
    normal: Vec3,
    rest: Vec<u32>,
}

struct Piece {
    vertices: Vec<Vertex>,
    triangles: Vec<[usize; 3]>,
}

fn read(terrain: &Terrain, chunk: UVec2, (mesh, bounds): (Mesh, Aabb)) -> Piece {
    let vectors = |attribute| match mesh.attribute(attribute) {
        Some(VertexAttributeValues::Float32x3(v)) => v.iter().map(|&v| Vec3::from(v)).collect(),
        _ => Vec::new(),
    };
    let positions = vectors(Mesh::ATTRIBUTE_POSITION);
    let normals = vectors(Mesh::ATTRIBUTE_NORMAL);
    let rest = |i: usize| {
        let mut bits = Vec::new();
        for attribute in [
            Mesh::ATTRIBUTE_UV_0,
            Mesh::ATTRIBUTE_UV_1,
            Mesh::ATTRIBUTE_COLOR,
        ] {
            match mesh.attribute(attribute) {
                Some(VertexAttributeValues::Float32x2(v)) => bits.extend(v[i].map(f32::to_bits)),
                Some(VertexAttributeValues::Float32x4(v)) => bits.extend(v[i].map(f32::to_bits)),
                _ => {}
            }
        }
        bits
    };
    let (first, _) = terrain.grid().chunk_cells(chunk);
    let vertex = |(i, (position, &normal)): (usize, (&Vec3, &Vec3))| {
        let cells = position.xz() / terrain.cell_size();
        assert!(cells.distance(cells.round()) < 1e-4);
        Vertex {
            cell: first + cells.round().as_uvec2(),
            height: position.y,
            normal,
            rest: rest(i),
        }
    };
    let indices: Vec<usize> = mesh.indices().expect("indices").iter().collect();
    for &i in &indices {
        let from_center = positions[i] - Vec3::from(bounds.center);
        let inside = from_center
            .abs()
            .cmple(Vec3::from(bounds.half_extents) + 1e-3);
        assert!(inside.all(), "outside the bounds");
    }
    Piece {
        vertices: positions
            .iter()
            .zip(&normals)
            .enumerate()
            .map(vertex)
            .collect(),
        triangles: indices.chunks(3).map(|t| [t[0], t[1], t[2]]).collect(),
    }
}

/// Draws each chunk at its level.
fn draw(
    terrain: &Terrain,
    levels: &HashMap<UVec2, u8>,
    build: impl Fn(UVec2, ChunkDetail) -> Option<(Mesh, Aabb)>,
) -> HashMap<UVec2, Piece> {
    let chunks = terrain.grid().chunks();
    let mut pieces = HashMap::new();
    for chunk in (0..chunks.y).flat_map(|y| (0..chunks.x).map(move |x| UVec2::new(x, y))) {
        let level = |dx: i32, dy: i32| {
            let at = (chunk.as_ivec2() + IVec2::new(dx, dy)).as_uvec2();
            levels.get(&at).copied().unwrap_or_default()
        };
        let around = [-1, 0, 1].map(|dy| [-1, 0, 1].map(|dx| level(dx, dy)));
        if let Some(mesh) = build(chunk, ChunkDetail::among(around)) {
            pieces.insert(chunk, read(terrain, chunk, mesh));
        }
    }
    pieces
}

fn random_levels(terrain: &Terrain, random: &mut rand_pcg::Pcg32) -> HashMap<UVec2, u8> {
    let chunks = terrain.grid().chunks();
    let places = (0..chunks.y).flat_map(|y| (0..chunks.x).map(move |x| UVec2::new(x, y)));
    places
        .map(|chunk| (chunk, random.random_range(0..=6)))
        .collect()
}

/// Twice the area of a triangle in cells, positive if it faces up.
fn area(piece: &Piece, triangle: [usize; 3]) -> i64 {
    let [a, b, c] = triangle.map(|i| piece.vertices[i].cell.as_i64vec2());
    let (ab, ac) = (b - a, c - a);
    ab.y * ac.x - ab.x * ac.y
}

type Edge = [(u32, u32); 2];

/// Edges of triangles on the line between two chunks.
fn edges_on(piece: &Piece, on_line: impl Fn(UVec2) -> bool) -> Vec<Edge> {
    let mut edges = Vec::new();
    for [a, b, c] in &piece.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let cells = [*from, *to].map(|i| piece.vertices[i].cell);
            if cells.iter().all(|&cell| on_line(cell)) {
                let mut edge = cells.map(|cell| (cell.x, cell.y));
                edge.sort();
                edges.push(edge);
            }
        }
    }
    edges.sort();
    edges
}

/// No two chunks say different things of a vertex they share.
fn assert_shared_vertices_agree(pieces: &HashMap<UVec2, Piece>) {
    let mut seen: HashMap<UVec2, Vertex> = HashMap::new();
    for piece in pieces.values() {
        for vertex in &piece.vertices {
            let same = seen.entry(vertex.cell).or_insert_with(|| vertex.clone());
            assert_eq!(same, vertex);
        }
    }
}

#[test]
fn ground_of_any_levels_fits_together() {
    let mut random = rand_pcg::Pcg32::seed_from_u64(1);
    for size in SIZES {
        let terrain = crate::land(5, size, 2.5);
        let baseline = Baseline::of(&terrain);
        let view = TerrainView::default();
        for _ in 0..6 {
            let levels = random_levels(&terrain, &mut random);
            let pieces = draw(&terrain, &levels, |chunk, detail| {
                let source = GroundChunkCopy::of(&terrain, &baseline, &view, chunk, detail);
                Some(source.build(&view))
            });
            assert_shared_vertices_agree(&pieces);
            for (chunk, piece) in &pieces {
                let (first, last) = terrain.grid().chunk_cells(*chunk);
                let extent = (last - first).as_i64vec2();
                let areas = piece.triangles.iter().map(|&t| area(piece, t));
                assert!(areas.clone().all(|area| area > 0), "all face up");
                assert_eq!(
                    areas.sum::<i64>(),
                    2 * extent.x * extent.y,
                    "all is covered"
                );
                let used: std::collections::HashSet<usize> =
                    piece.triangles.iter().flatten().copied().collect();
                assert_eq!(used.len(), piece.vertices.len(), "no vertex is idle");
                for vertex in &piece.vertices {
                    let cell = terrain.grid().index(vertex.cell.x, vertex.cell.y);
                    assert_eq!(vertex.height, terrain.ground(cell));
                    assert!(vertex.normal.is_normalized());
                }
                // Never more triangles than the level alone has.
                let spacing = 1 << levels[chunk];
                let quads = (last - first).map(|n: u32| n.div_ceil(spacing));
                assert!(piece.triangles.len() as u32 <= 2 * quads.element_product());

                for (beside, at) in [(UVec2::X, last.x), (UVec2::Y, last.y)] {
                    let Some(other) = pieces.get(&(*chunk + beside)) else {
                        continue;
                    };
                    let on_line = |cell: UVec2| cell.dot(beside) == at;
                    let edges = edges_on(piece, on_line);
                    assert!(!edges.is_empty());
                    assert_eq!(edges, edges_on(other, on_line), "{chunk} {beside}");
                }
            }
        }
    }
}

#[test]
fn water_of_any_levels_fits_together() {
    let mut random = rand_pcg::Pcg32::seed_from_u64(2);
    for size in SIZES {
        let terrain = crate::water_view::flooded(5, size);
        let thinnest = 1e-3;
        for _ in 0..6 {
            let levels = random_levels(&terrain, &mut random);
            let pieces = draw(&terrain, &levels, |chunk, detail| {
                let source = LiquidChunkCopy::of_water(&terrain, chunk, thinnest, detail)?;
                Some(source.build())
            });
            assert_shared_vertices_agree(&pieces);
            let is_wet = |piece: &Piece, i: usize| {
                let cell = piece.vertices[i].cell;
                terrain.water()[terrain.grid().index(cell.x, cell.y)] > thinnest
            };
            for (chunk, piece) in &pieces {
                for &triangle in &piece.triangles {
                    assert!(area(piece, triangle) > 0, "all face up");
                }
                for (i, vertex) in piece.vertices.iter().enumerate() {
                    let cell = terrain.grid().index(vertex.cell.x, vertex.cell.y);
                    if is_wet(piece, i) {
                        let level = terrain.ground(cell) + terrain.water()[cell];
                        assert_eq!(vertex.height, level);
                    } else {
                        assert!(vertex.height < terrain.ground(cell), "above dry ground");
                    }
                }
                // Wherever water reaches the line to a neighbor, it goes on there.
                let (_, last) = terrain.grid().chunk_cells(*chunk);
                for (beside, at) in [(UVec2::X, last.x), (UVec2::Y, last.y)] {
                    let Some(other) = pieces.get(&(*chunk + beside)) else {
                        continue;
                    };
                    let on_line = |cell: UVec2| cell.dot(beside) == at;
                    let wet_edges = |piece: &Piece| {
                        let mut edges = edges_on(piece, on_line);
                        edges.retain(|edge| {
                            edge.iter().any(|&(x, y)| {
                                terrain.water()[terrain.grid().index(x, y)] > thinnest
                            })
                        });
                        edges
                    };
                    assert_eq!(wet_edges(piece), wet_edges(other), "{chunk} {beside}");
                }
            }
        }
    }
}

#[test]
fn a_lake_is_level_at_any_level() {
    // A bowl: the land rises on all sides.
    let size = UVec2::splat(257);
    let bowl = |i: usize| {
        let at = Vec2::new((i % 257) as f32, (i / 257) as f32) - 128.0;
        at.length_squared() * 0.001
    };
    let ground: Vec<f32> = (0..257 * 257).map(bowl).collect();
    let depths = ground.iter().map(|g| (5.0 - g).max(0.0)).collect();
    let terrain = Terrain::from_heights(size, 1.0, ground)
        .and_then(|terrain| terrain.with_layer(Layer::Water, depths))
        .expect("valid");
    for level in 0..=5 {
        let levels = [UVec2::ZERO, UVec2::X, UVec2::Y, UVec2::ONE];
        let levels = levels.map(|chunk| (chunk + 1, level));
        let pieces = draw(&terrain, &HashMap::from(levels), |chunk, detail| {
            let source = LiquidChunkCopy::of_water(&terrain, chunk, 1e-3, detail)?;
            Some(source.build())
        });
        assert!(!pieces.is_empty());
        for piece in pieces.values() {
            for &i in piece.triangles.iter().flatten() {
                assert!(piece.vertices[i].height < 5.0 + 1e-4);
                assert!(piece.vertices[i].normal.y > 0.999);
            }
        }
    }
}

#[test]
fn a_stream_between_coarse_vertices_is_seen() {
    // A brook of one cell that runs along +X, in no coarse vertex's row.
    let size = UVec2::splat(65);
    let place = |i: u32| UVec2::new(i % 65, i / 65);
    let heights = (0..65 * 65)
        .map(|i| 20.0 - 0.2 * place(i).x as f32)
        .collect();
    let wet = |i| if place(i).y == 33 { 0.3 } else { 0.0 };
    let mut terrain = Terrain::from_heights(size, 1.0, heights)
        .and_then(|t| t.with_layer(Layer::Water, (0..65 * 65).map(wet).collect()))
        .expect("valid");
    let draw_at = |terrain: &Terrain, level| {
        let detail = ChunkDetail::among([[level; 3]; 3]);
        let source = LiquidChunkCopy::of_water(terrain, UVec2::ZERO, 1e-3, detail);
        source.map(|source| read(terrain, UVec2::ZERO, source.build()))
    };
    assert!(draw_at(&terrain, 1).is_none(), "a puddle may be missed");
    let mut solver = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    for _ in 0..40 {
        solver.step(&mut terrain, 0.02);
    }
    assert!(terrain.velocity(32, 33).x > 0.3, "it runs");
    for level in 1..=2 {
        let piece = draw_at(&terrain, level).expect("it is drawn");
        let mut columns: Vec<u32> = piece
            .vertices
            .iter()
            .filter(|v| f32::from_bits(v.rest[0]) > 0.0 && v.cell.y.abs_diff(33) <= 4)
            .map(|v| v.cell.x)
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let all = 64 / (1 << level);
        assert!(columns.len() as u32 > all * 2 / 3, "{level}: {columns:?}");
    }
}

#[test]
fn nothing_changes_its_light_with_the_level() {
    let terrain = crate::land(9, UVec2::splat(513), 1.0);
    let baseline = Baseline::of(&terrain);
    let view = TerrainView::default();
    let light = Vec3::new(-0.7, 0.6, 0.3).normalize();
    let draw_at = |level: u8| {
        let levels: HashMap<UVec2, u8> =
            (0..64).map(|i| (UVec2::new(i % 8, i / 8), level)).collect();
        draw(&terrain, &levels, |chunk, detail| {
            let source = GroundChunkCopy::of(&terrain, &baseline, &view, chunk, detail);
            Some(source.build(&view))
        })
    };
    // How bright the land is as a whole.
    let shade = |pieces: &HashMap<UVec2, Piece>| {
        let (mut sum, mut all) = (0.0, 0.0);
        for piece in pieces.values() {
            for &triangle in &piece.triangles {
                let weight = area(piece, triangle) as f64;
                let lit = triangle.map(|i| piece.vertices[i].normal.dot(light).max(0.0));
                sum += weight * f64::from(lit.iter().sum::<f32>() / 3.0);
                all += weight;
            }
        }
        sum / all
    };
    let full = draw_at(0);
    let bright = shade(&full);
    let vertices = full.values().flat_map(|piece| &piece.vertices);
    let vertices: HashMap<UVec2, &Vertex> = vertices.map(|v| (v.cell, v)).collect();
    for level in 1..=6 {
        let coarse = draw_at(level);
        for vertex in coarse.values().flat_map(|piece| &piece.vertices) {
            assert_eq!(Some(&vertex), vertices.get(&vertex.cell), "level {level}");
        }
        if level < 5 {
            let coarse = shade(&coarse);
            assert!((coarse - bright).abs() < 0.02, "{level}: {coarse} {bright}");
        }
    }
}

/// A land that costs little to make.
fn wide_land(cells: u32, cell_size: f32) -> Terrain {
    let row = |y: u32| (0..cells).map(move |x| ((x * 7 + y * 13) % 97) as f32 * 0.1);
    let heights = (0..cells).flat_map(row).collect();
    Terrain::from_heights(UVec2::splat(cells), cell_size, heights).expect("valid")
}

fn place_camera(app: &mut App, position: Vec3) -> Entity {
    let camera = app.world_mut().spawn((
        Camera3d::default(),
        GlobalTransform::from_translation(position),
    ));
    camera.id()
}

fn move_camera(app: &mut App, camera: Entity, position: Vec3) {
    let mut camera = app.world_mut().entity_mut(camera);
    camera.insert(GlobalTransform::from_translation(position));
    app.update();
    settle(app);
}

/// Triangles that are really in the meshes of the chunks.
fn triangles(app: &mut App) -> usize {
    let mut query = app.world_mut().query::<&Mesh3d>();
    let meshes = app.world().resource::<Assets<Mesh>>();
    let handles = query.iter(app.world());
    let drawn = handles.filter_map(|mesh| meshes.get(&mesh.0)?.indices());
    drawn.map(|indices| indices.len() / 3).sum()
}

fn level(app: &App, x: u32, y: u32) -> u8 {
    let state = app.world().resource::<TerrainViewState>();
    state.level(UVec2::new(x, y)).expect("a chunk")
}

#[test]
fn a_wide_land_keeps_within_its_triangles() {
    let cells = 4096;
    let wet = vec![1.0; (cells * cells) as usize];
    let terrain = wide_land(cells, 1.0)
        .with_layer(Layer::Water, wet)
        .expect("valid");
    let mut app = create_app(terrain);
    let count = triangles(&mut app);
    assert!(count <= 2_000_000, "{count} without a camera");
    assert_eq!(
        count,
        app.world().resource::<TerrainViewState>().triangles()
    );

    let camera = place_camera(&mut app, Vec3::new(0.0, 20.0, 0.0));
    for position in [
        Vec3::new(0.0, 20.0, 0.0),
        Vec3::new(2000.0, 5.0, -1990.0),
        Vec3::new(-2500.0, 300.0, 100.0),
        Vec3::new(100.0, 3000.0, 100.0),
        Vec3::new(0.0, 1e6, 0.0),
        Vec3::new(-500.0, 40.0, 900.0),
    ] {
        move_camera(&mut app, camera, position);
        let count = triangles(&mut app);
        assert!(count <= 2_000_000, "{count} at {position}");
        let below = ((position.xz() + 2048.0) / 64.0).as_uvec2();
        if position.y < 50.0 {
            assert_eq!(level(&app, below.x, below.y), 0, "full below the camera");
            assert!(count > 1_000_000, "{count} is less than could be");
            // Coarser at the far end of the land.
            let corner =
                UVec2::select(below.cmplt(UVec2::splat(32)), UVec2::splat(63), UVec2::ZERO);
            assert!(level(&app, corner.x, corner.y) >= 1);
        }
    }
    // Fewer if told so.
    let mut view = app.world_mut().resource_mut::<TerrainView>();
    view.detail.triangles = 300_000;
    app.update();
    settle(&mut app);
    let count = triangles(&mut app);
    assert!(count <= 300_000, "{count}");
    assert!(count > 100_000, "{count}");
}

#[test]
fn lava_counts_among_the_triangles() {
    // Twice as much is drawn where lava lies, also if it comes later.
    let cells = 1500;
    let molten = || vec![1.0; (cells * cells) as usize];
    let with_lava = wide_land(cells, 1.0)
        .with_layer(Layer::Lava, molten())
        .expect("valid");
    let mut app = create_app(with_lava);
    let count = triangles(&mut app);
    assert!(count <= 2_000_000, "{count}");
    assert!(count > 500_000, "{count}");

    let mut app = create_app(wide_land(cells, 1.0));
    let dry = triangles(&mut app);
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    terrain.set_layer(Layer::Lava, molten()).expect("valid");
    app.update();
    settle(&mut app);
    let count = triangles(&mut app);
    assert!(
        count <= 2_000_000 && dry <= 2_000_000,
        "{dry}, then {count}"
    );
    let state = app.world().resource::<TerrainViewState>();
    assert_eq!(count, state.triangles());
}

#[test]
fn a_camera_without_perspective_sees_its_own_part_in_full() {
    let mut app = create_app(wide_land(4096, 1.0));
    let position = Vec3::new(700.0, 500.0, -400.0);
    let place = Transform::from_translation(position).looking_to(Vec3::NEG_Y, Vec3::Z);
    let mut lens = OrthographicProjection::default_3d();
    lens.area = Rect::from_center_size(Vec2::ZERO, Vec2::new(160.0, 90.0));
    app.world_mut().spawn((
        Camera3d::default(),
        Projection::Orthographic(lens),
        place,
        GlobalTransform::from(place),
    ));
    app.update();
    settle(&mut app);
    let below = ((position.xz() + 2048.0) / 64.0).as_uvec2();
    assert_eq!(level(&app, below.x, below.y), 0);
    assert!(level(&app, 0, 63) >= 2, "far aside of the picture");
    assert!(triangles(&mut app) <= 2_000_000);
}

#[test]
fn levels_follow_the_camera() {
    let mut app = create_app(wide_land(1025, 1.0));
    let state = |app: &App| {
        let state = app.world().resource::<TerrainViewState>();
        (state.rebuilt(), state.triangles())
    };
    let full = 2 * 1024 * 1024;
    assert!(state(&app).1 < full, "more than allowed");
    let mut view = app.world_mut().resource_mut::<TerrainView>();
    view.detail.triangles = 3_000_000;
    app.update();
    settle(&mut app);
    assert_eq!(state(&app).1, full, "in full without a camera");

    app.world_mut().resource_mut::<TerrainView>().detail.reach = 2.0;
    let camera = place_camera(&mut app, Vec3::new(-500.0, 10.0, 0.0));
    app.update();
    settle(&mut app);
    let (rebuilt, few) = state(&app);
    assert!(few < 1024 * 1024);
    assert_eq!(level(&app, 0, 8), 0);
    assert!(level(&app, 15, 8) >= 3);
    let row: Vec<u8> = (0..16).map(|x| level(&app, x, 8)).collect();
    assert!(row.is_sorted(), "{row:?}");
    // Standing still costs nothing, whatever the clock does.
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(state(&app), (rebuilt, few));

    move_camera(&mut app, camera, Vec3::new(500.0, 10.0, 0.0));
    assert_eq!(level(&app, 15, 8), 0);
    assert!(level(&app, 0, 8) >= 3);
    // Height counts.
    move_camera(&mut app, camera, Vec3::new(500.0, 1500.0, 0.0));
    assert!(level(&app, 15, 8) >= 3);
    // The nearest of several cameras counts; one that is off does not.
    let other = place_camera(&mut app, Vec3::new(-500.0, 10.0, 0.0));
    app.update();
    settle(&mut app);
    assert_eq!(level(&app, 0, 8), 0);
    let mut off = app.world_mut().entity_mut(other);
    off.get_mut::<Camera>().expect("a camera").is_active = false;
    app.update();
    settle(&mut app);
    assert!(level(&app, 0, 8) >= 3);
    // A long lens sees as if it were near.
    let mut lens = app.world_mut().entity_mut(camera);
    lens.insert(Projection::from(PerspectiveProjection {
        fov: 0.05,
        ..default()
    }));
    app.update();
    settle(&mut app);
    assert_eq!(level(&app, 15, 8), 0);
}

#[test]
fn levels_do_not_flicker() {
    let mut app = create_app(wide_land(1025, 1.0));
    app.world_mut().resource_mut::<TerrainView>().detail.reach = 2.0;
    let camera = place_camera(&mut app, Vec3::new(-500.0, 10.0, 3.0));
    move_camera(&mut app, camera, Vec3::new(-500.0, 10.0, 3.0));
    // Swaying by a few metres around any place changes each chunk once at most.
    for x in [-440.0, -400.0, -333.0, -250.0] {
        move_camera(&mut app, camera, Vec3::new(x + 3.0, 10.0, 3.0));
        move_camera(&mut app, camera, Vec3::new(x - 3.0, 10.0, 3.0));
        move_camera(&mut app, camera, Vec3::new(x + 3.0, 10.0, 3.0));
        let rebuilt = |app: &App| app.world().resource::<TerrainViewState>().rebuilt();
        let before = rebuilt(&app);
        for sway in [-3.0, 2.0, -2.5, 3.0] {
            move_camera(&mut app, camera, Vec3::new(x + sway, 10.0, 3.0));
        }
        assert_eq!(rebuilt(&app), before, "around {x}");
    }
}

#[test]
fn far_chunks_follow_an_edit_too() {
    let mut app = create_app(wide_land(641, 1.0));
    app.world_mut().resource_mut::<TerrainView>().detail.reach = 1.0;
    let camera = place_camera(&mut app, Vec3::new(-300.0, 10.0, -300.0));
    move_camera(&mut app, camera, Vec3::new(-300.0, 10.0, -300.0));
    assert!(level(&app, 9, 9) >= 3);
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let raised = terrain.bedrock().iter().map(|h| h + 7.0).collect();
    terrain.set_layer(Layer::Bedrock, raised).expect("valid");
    app.update();
    settle(&mut app);
    let terrain = app.world().resource::<Terrain>().clone();
    let mut query = app.world_mut().query::<(&TerrainChunk, &Mesh3d, &Aabb)>();
    let meshes = app.world().resource::<Assets<Mesh>>();
    let mut pieces = HashMap::new();
    for (chunk, mesh, bounds) in query.iter(app.world()) {
        let mesh = meshes.get(&mesh.0).expect("a mesh").clone();
        pieces.insert(chunk.coord, read(&terrain, chunk.coord, (mesh, *bounds)));
    }
    assert_eq!(pieces.len(), 100);
    assert_shared_vertices_agree(&pieces);
    for vertex in pieces.values().flat_map(|piece| &piece.vertices) {
        let cell = terrain.grid().index(vertex.cell.x, vertex.cell.y);
        assert_eq!(vertex.height, terrain.ground(cell));
    }
}
