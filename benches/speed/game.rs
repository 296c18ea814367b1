//! What a game does with the terrain: asks, edits, saves.

use super::{flooded, median, mountains};
use avian3d::prelude::*;
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::{
    physics::{ChunkHeights, PhysicsEngine, avian::Avian},
    prelude::*,
};
use core::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::{hint::black_box, time::Instant};

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

/// One chunk's collider, from the layers to a finished shape.
pub fn collider_chunk() -> f64 {
    let terrain = mountains(256);
    let seconds = median(101, || {
        let heights = ChunkHeights::copy(&terrain, UVec2::ONE, None);
        black_box(Avian::collider(&heights.place, heights.by_columns()));
    });
    seconds * 1e3
}

/// One frame's edit with a 20 m brush on cells of 1 m, with its history.
pub fn edit_apply() -> f64 {
    let mut terrain = Terrain::flat(UVec2::splat(1024), 1.0).expect("valid");
    let mut history = TerrainHistory::default();
    let mut frame = 0;
    let seconds = median(201, || {
        frame += 1;
        let at = Vec3::new(frame as f32 * 0.7, 0.0, 3.0);
        let edit = TerrainEdit::raise(at, Brush::circle(20.0)).in_stroke(1 + frame / 50);
        history.apply(&edit, &mut terrain).expect("valid");
    });
    seconds * 1e3
}

/// A whole frame of an app without a renderer while a 20 m brush is drawn over
/// cells of 1 m: edit, meshes, colliders, and what the engine itself costs.
fn edit_frame(cells: u32) -> f64 {
    let land = Fbm::seeded(3).with_feature_size(300.0);
    let land = Terrain::generate(&land, UVec2::splat(cells), 1.0).expect("a valid landform");
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
        PhysicsPlugins::default(),
        ErosionPlugin::default(),
    ))
    .init_asset::<StandardMaterial>()
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
        16_667,
    )))
    .insert_resource(TerrainColliders {
        area: ColliderArea::NearBodies { radius: 100.0 },
        ..default()
    })
    .insert_resource(land);
    app.world_mut()
        .spawn((Camera3d::default(), Transform::from_xyz(0.0, 300.0, 200.0)));
    app.world_mut().spawn((
        RigidBody::Dynamic,
        Collider::sphere(1.0),
        Transform::from_xyz(0.0, 400.0, 0.0),
    ));
    app.finish();
    app.cleanup();
    for _ in 0..400 {
        app.update();
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut frames: Vec<f64> = (0..240u32)
        .map(|frame| {
            let turn = frame as f32 * 0.05;
            let at = Vec3::new(80.0 * turn.cos(), 0.0, 80.0 * turn.sin());
            let edit = TerrainEdit::raise(at, Brush::circle(20.0)).with_strength(5.0);
            let start = Instant::now();
            app.world_mut()
                .write_message(edit.for_seconds(1.0 / 60.0).in_stroke(1));
            app.update();
            let seconds = start.elapsed().as_secs_f64();
            // The rest of a frame, in which others work.
            std::thread::sleep(Duration::from_millis(12));
            seconds
        })
        .collect();
    frames.sort_by(f64::total_cmp);
    frames[frames.len() / 2] * 1e3
}

pub fn edit_frame_1024() -> f64 {
    edit_frame(1024)
}

pub fn edit_frame_4096() -> f64 {
    edit_frame(4096)
}

/// A flooded land in the middle of a run, with what its solvers remember.
fn saved_run() -> (Terrain, DropletSolver, PipeSolver) {
    let mut terrain = flooded(1024);
    let droplets = Droplets::seeded(1).with_streams();
    let mut droplets = DropletSolver::new(droplets, terrain.grid()).expect("valid");
    let mut pipe = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    for _ in 0..10 {
        droplets.step(&mut terrain, 0.2);
        pipe.step(&mut terrain, 0.2);
    }
    (terrain, droplets, pipe)
}

fn to_bytes((terrain, droplets, pipe): &(Terrain, DropletSolver, PipeSolver)) -> Vec<u8> {
    SavedState::of(terrain)
        .and_then(|state| state.with_solver(droplets, terrain))
        .and_then(|state| state.with_solver(pipe, terrain))
        .and_then(|state| state.to_bytes())
        .expect("writable")
}

pub fn save() -> f64 {
    let run = saved_run();
    let seconds = median(7, || {
        black_box(to_bytes(&run));
    });
    seconds * 1e3
}

pub fn load() -> f64 {
    let bytes = to_bytes(&saved_run());
    let seconds = median(7, || {
        black_box(SavedState::from_bytes(&bytes).expect("readable"));
    });
    seconds * 1e3
}

/// All masks of a terrain whose every tile changed.
pub fn masks_full() -> f64 {
    let terrain = flooded(1024);
    let mut masks = TerrainMasks::all();
    let seconds = median(9, || {
        masks.restart();
        black_box(masks.update(&terrain, 0.1));
    });
    seconds * 1e3
}
