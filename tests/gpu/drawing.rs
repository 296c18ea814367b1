//! The ground, drawn where it is.

use crate::{gpu, read, step, terrain, until, wet_hills};
use bevy::{
    camera::primitives::Aabb,
    mesh::VertexAttributeValues,
    prelude::*,
    render::{
        RenderApp,
        mesh::allocator::MeshAllocator,
        render_resource::{
            BufferDescriptor, BufferUsages, CommandEncoderDescriptor, MapMode, PollType,
        },
        renderer::{RenderDevice, RenderQueue},
    },
};
use bevy_erode::prelude::*;
use bevy_erode::{
    terrain::landform::TiltedPlane,
    view::{ChunkDetail, TerrainViewState, WaterChunk, WaterView, liquid::mesh::LiquidChunkCopy},
};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);

/// Place and mesh of every chunk of water.
fn water_chunks(app: &mut App) -> Vec<(UVec2, AssetId<Mesh>)> {
    let world = app.world_mut();
    let mut chunks = world.query::<(&WaterChunk, &Mesh3d)>();
    let chunks = chunks.iter(world);
    chunks
        .map(|(chunk, mesh)| (chunk.coord, mesh.0.id()))
        .collect()
}

/// The vertices of a mesh as they are on the GPU, `N` numbers each.
fn vertices<const N: usize>(app: &mut App, mesh: AssetId<Mesh>) -> Vec<[f32; N]> {
    let world = app.sub_app_mut(RenderApp).world_mut();
    let device = world.resource::<RenderDevice>().clone();
    let queue = world.resource::<RenderQueue>().clone();
    let allocator = world.resource::<MeshAllocator>();
    let slice = allocator.mesh_vertex_slice(&mesh).expect("a mesh");
    let (from, to) = (u64::from(slice.range.start), u64::from(slice.range.end));
    let bytes = (to - from) * 4 * N as u64;
    let copy = device.create_buffer(&BufferDescriptor {
        label: None,
        size: bytes,
        usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(slice.buffer, from * 4 * N as u64, &copy, 0, bytes);
    queue.submit([encoder.finish()]);
    copy.slice(..).map_async(MapMode::Read, |_| {});
    device.poll(PollType::wait_indefinitely()).expect("done");
    let mapped = copy.slice(..).get_mapped_range();
    let words: Vec<f32> = mapped
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    words.as_chunks::<N>().0.to_vec()
}

#[test]
fn vertices_are_written_in_place() {
    let size = UVec2::new(100, 70);
    let mut app = gpu(wet_hills(3, size), STEP);
    app.insert_resource(PipeModel::default())
        .insert_resource(Thermal {
            soil_angle: 5.0,
            ..Thermal::default()
        });
    for _ in 0..20 {
        app.update();
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = terrain(&app).ground_heights();
    let built = app.world().resource::<TerrainViewState>().rebuilt();
    for _ in 0..3 {
        step(&mut app, 20);
    }
    read(&mut app);
    app.update();
    let state = app.world().resource::<TerrainViewState>();
    assert_eq!(state.rebuilt(), built, "no mesh is built on the CPU");
    let land = terrain(&app).clone();
    let moved = land.ground_heights();
    let moved = before.iter().zip(&moved).filter(|(a, b)| a != b).count();
    assert!(moved > 500, "only {moved} cells changed");
    let chunks: Vec<(UVec2, Entity)> = (0..2)
        .flat_map(|y| (0..2).map(move |x| UVec2::new(x, y)))
        .filter_map(|coord| Some((coord, state.chunk(coord)?)))
        .collect();
    for (coord, entity) in chunks {
        let mesh = app.world().get::<Mesh3d>(entity).expect("a mesh").0.id();
        let bounds = *app.world().get::<Aabb>(entity).expect("bounds");
        let (first, _) = land.grid().chunk_cells(coord);
        for vertex in vertices::<14>(&mut app, mesh) {
            let place = first + UVec2::new((vertex[0] / 2.0) as u32, (vertex[2] / 2.0) as u32);
            let ground = land.ground(land.grid().index(place.x, place.y));
            assert_eq!(vertex[1], ground, "chunk {coord}, cell {place}");
            assert!((bounds.min().y..=bounds.max().y).contains(&ground));
            let slope = land.slope(place.x, place.y);
            let normal = Vec3::new(-slope.x, 1.0, -slope.y).normalize();
            let drawn = Vec3::new(vertex[3], vertex[4], vertex[5]);
            assert!(drawn.distance(normal) < 1e-4, "{drawn} for {normal}");
            let cell = land.grid().index(place.x, place.y);
            assert_eq!(vertex[8], land.soil()[cell], "soil");
            // Colors are colors.
            assert!(vertex[10..14].iter().all(|c| (0.0..=1.0).contains(c)));
        }
    }
}

#[test]
fn water_is_written_in_place() {
    let size = UVec2::new(100, 70);
    let mut app = gpu(wet_hills(3, size), STEP);
    app.insert_resource(PipeModel::default());
    for _ in 0..3 {
        step(&mut app, 20);
    }
    // Until all that water came near to has a mesh.
    for _ in 0..40 {
        read(&mut app);
    }
    let built = app.world().resource::<TerrainViewState>().water_rebuilt();
    let before = terrain(&app).water().to_vec();
    for _ in 0..3 {
        step(&mut app, 20);
    }
    read(&mut app);
    app.update();
    let state = app.world().resource::<TerrainViewState>();
    assert_eq!(state.water_rebuilt(), built, "no mesh is built on the CPU");
    let land = terrain(&app).clone();
    assert_ne!(land.water(), before);
    let thinnest = app.world().resource::<WaterView>().min_depth;
    let world = app.world_mut();
    let mut chunks = world.query::<(&WaterChunk, &Mesh3d, &Aabb)>();
    let chunks: Vec<_> = chunks
        .iter(world)
        .map(|(chunk, mesh, bounds)| (chunk.coord, mesh.0.id(), *bounds))
        .collect();
    assert_eq!(chunks.len(), 4);
    let (mut wet, mut dry) = (0, 0);
    for (coord, mesh, bounds) in chunks {
        let (first, _) = land.grid().chunk_cells(coord);
        for vertex in vertices::<14>(&mut app, mesh) {
            let place = first + UVec2::new((vertex[0] / 2.0) as u32, (vertex[2] / 2.0) as u32);
            let cell = land.grid().index(place.x, place.y);
            let (ground, depth) = (land.ground(cell), land.water()[cell]);
            assert!((bounds.min().y..=bounds.max().y).contains(&vertex[1]));
            if depth > thinnest {
                wet += 1;
                assert_eq!(vertex[1], ground + depth, "chunk {coord}, cell {place}");
                assert_eq!(vertex[6], depth);
                let velocity = Vec2::new(vertex[8], vertex[9]);
                let inner = place.cmpgt(UVec2::ZERO).all();
                let off = velocity.distance(land.velocity(place.x, place.y));
                assert!(!inner || off < 1e-3 * (1.0 + velocity.length()), "{off}");
            } else {
                dry += 1;
                assert!(vertex[1] < ground, "hidden below the ground");
            }
        }
    }
    assert!(wet > 500 && dry > 50, "{wet} wet, {dry} dry");
}

#[test]
fn water_is_as_white_as_on_the_cpu() {
    // So much water on rough hills breaks all over them.
    let shape = Fbm::seeded(5).with_feature_size(40.0).with_height(30.0);
    let size = UVec2::new(100, 70);
    let land = Terrain::generate(&shape, size, 2.0)
        .and_then(|land| land.with_layer(Layer::Water, vec![0.4; 7000]))
        .expect("valid");
    let mut app = gpu(land, STEP);
    app.insert_resource(PipeModel {
        carving: 0.0,
        ..PipeModel::default()
    });
    for _ in 0..5 {
        step(&mut app, 30);
    }
    for _ in 0..40 {
        read(&mut app);
    }
    app.update();
    let land = terrain(&app).clone();
    let thinnest = app.world().resource::<WaterView>().min_depth;
    let chunks = water_chunks(&mut app);
    assert_eq!(chunks.len(), 4);
    let (mut white, mut clear) = (0, 0);
    for (coord, mesh) in chunks {
        let (first, last) = land.grid().chunk_cells(coord);
        let width = last.x - first.x + 1;
        let ours = LiquidChunkCopy::of_water(&land, coord, thinnest, ChunkDetail::FULL);
        let (ours, _) = ours.expect("water").build();
        let Some(VertexAttributeValues::Float32x4(colors)) = ours.attribute(Mesh::ATTRIBUTE_COLOR)
        else {
            panic!("no colors");
        };
        for vertex in vertices::<14>(&mut app, mesh) {
            let place = UVec2::new((vertex[0] / 2.0) as u32, (vertex[2] / 2.0) as u32);
            let at = first + place;
            let theirs = vertex[10];
            assert_eq!(vertex[10..14], [theirs, theirs, theirs, 1.0]);
            assert!((1.0..=2.0).contains(&theirs));
            // What came in over the border is not known to the GPU's vertices, nor is
            // a dry vertex the same at every level of detail.
            let is_wet = land.water()[land.grid().index(at.x, at.y)] > thinnest;
            if is_wet && at.cmpgt(UVec2::ONE).all() {
                let ours = colors[(place.y * width + place.x) as usize][0];
                assert!((ours - theirs).abs() < 0.05, "{at}: {ours} {theirs}");
                white += usize::from(theirs > 1.5);
                clear += usize::from(theirs < 1.05);
            }
        }
    }
    assert!(white > 30 && clear > 500, "{white} white, {clear} clear");
}

#[test]
fn a_chunk_that_ran_dry_loses_its_water() {
    // A pond in the first of four times four chunks.
    let land = Terrain::flat(UVec2::splat(256), 2.0).expect("valid");
    let mut water = vec![0.0; land.grid().cells()];
    for y in 20..30 {
        for x in 20..30 {
            water[y * 256 + x] = 0.1;
        }
    }
    let land = land.with_layer(Layer::Water, water).expect("valid");
    let mut app = gpu(land, STEP);
    let count = |world: &World| {
        let mut chunks = world.try_query_filtered::<(), (With<WaterChunk>, With<Mesh3d>)>();
        chunks
            .as_mut()
            .map_or(0, |chunks| chunks.iter(world).count())
    };
    // The chunks beside it have some too, for it may come.
    until(&mut app, "the pond is drawn", |world| count(world) == 4);
    app.insert_resource(Evaporation::mm_per_hour(1e5));
    for _ in 0..10 {
        step(&mut app, 50);
    }
    until(&mut app, "all water is gone", |world| count(world) == 0);
}

#[test]
fn the_water_of_rivers_is_drawn_although_the_host_runs_them() {
    let plane = TiltedPlane::default().with_slope(0.05).with_downhill(90.0);
    let land = Terrain::generate(&plane, UVec2::new(128, 64), 8.0).expect("a valid landform");
    let mut app = gpu(land, Duration::from_millis(100));
    app.insert_resource(PipeModel::default());
    app.world_mut().spawn((
        MeanderingRiver::default(),
        RiverStretch {
            length: 1000.0,
            width: 480.0,
            inflow: 3000.0,
        },
        Transform::from_xyz(-500.0, 0.0, 0.0).looking_to(Vec3::X, Vec3::Y),
    ));
    for _ in 0..10 {
        step(&mut app, 30);
    }
    // Until all that the stream came near to has a mesh.
    for _ in 0..40 {
        read(&mut app);
    }
    let land = terrain(&app).clone();
    let chunks = water_chunks(&mut app);
    let (mut streams, mut moving) = (0, 0);
    for (coord, mesh) in chunks {
        let (first, _) = land.grid().chunk_cells(coord);
        for vertex in vertices::<14>(&mut app, mesh) {
            let place = first + UVec2::new((vertex[0] / 8.0) as u32, (vertex[2] / 8.0) as u32);
            let depth = land.water_depth(place.x, place.y);
            if land.stream_depth(place.x, place.y) > 0.1 {
                streams += 1;
                assert!((vertex[6] - depth).abs() < 1e-5, "chunk {coord}, {place}");
                let velocity = Vec2::new(vertex[8], vertex[9]);
                let off = velocity.distance(land.velocity(place.x, place.y));
                assert!(off < 1e-2 * (1.0 + velocity.length()), "{off} at {place}");
                moving += usize::from(velocity.x > 1.0);
            }
        }
    }
    assert!(streams > 100, "{streams} cells with a stream");
    assert!(moving > streams / 2, "{moving} of {streams} move");
}
