//! What a game does with the terrain: asks, edits, saves.

use super::{flooded, median, mountains};
use avian3d::prelude::*;
use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*, time::TimeUpdateStrategy};
use bevy_erode::{
    forcing::edits::TerrainHistory, models::droplet::DropletSolver, models::pipe::PipeSolver,
    view::TerrainViewState,
};
use bevy_erode::{
    physics::{ChunkHeights, PhysicsEngine, TerrainColliderState, avian::Avian},
    prelude::*,
};
use core::time::Duration;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::{hint::black_box, sync::OnceLock, time::Instant};

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

/// A frame of a game in the rain, without a renderer: a step of the pipe model and
/// of thermal weathering on 512², and the meshes of ground and water that follow.
pub fn game_frame() -> f64 {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
        ErosionPlugin::default(),
    ))
    .init_asset::<StandardMaterial>()
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
        16_667,
    )))
    .insert_resource(ErosionPace::StepsPerTick(1))
    .insert_resource(mountains(512))
    .insert_resource(PipeModel::default())
    .insert_resource(Thermal::default())
    .insert_resource(Rain::mm_per_hour(500.0));
    let camera = (Camera3d::default(), Transform::from_xyz(0.0, 400.0, 600.0));
    app.world_mut().spawn(camera);
    app.finish();
    app.cleanup();
    for _ in 0..200 {
        app.update();
    }
    median(301, || app.update()) * 1e3
}

/// Main-thread time of an app without a renderer, while nothing happens and
/// while a 20 m brush is drawn over cells of 1 m: edit, history, meshes and
/// colliders of the touched chunks.
///
/// A frame with avian takes its time whether anything is edited or not. So what
/// an edit costs is what a frame of a stroke takes longer than an idle one, and
/// both are told beside it. All systems run on the main thread, so that nothing
/// of it hides on another. The two kinds of frames take turns.
struct EditFrames {
    /// units: s
    idle: Vec<f64>,
    stroke: Vec<f64>,
    /// The frame in which the terrain comes into the running app, by the clock:
    /// all cores work for it.
    insert: f64,
}

/// An app with a square terrain of `cells` along a side, and the times of its frames.
struct EditingApp {
    app: App,
    frame: u32,
    frames: EditFrames,
}

/// Rounds of idle frames and of a stroke's, short ones: whatever else the machine
/// does for a second shall meet both lands alike.
const ROUNDS: usize = 48;

impl EditingApp {
    fn new(cells: u32) -> Self {
        let (app, insert) = editing_app(cells);
        Self {
            app,
            frame: 0,
            frames: EditFrames {
                idle: Vec::new(),
                stroke: Vec::new(),
                insert,
            },
        }
    }

    /// Some frames of either kind.
    fn round(&mut self) {
        // The last of the stroke before may still be under way.
        for _ in 0..3 {
            timed_frame(&mut self.app);
        }
        for _ in 0..9 {
            let seconds = timed_frame(&mut self.app);
            self.frames.idle.push(seconds);
        }
        for _ in 0..2 {
            self.stroke_frame();
        }
        for _ in 0..9 {
            let seconds = self.stroke_frame();
            self.frames.stroke.push(seconds);
        }
    }

    fn stroke_frame(&mut self) -> f64 {
        self.frame += 1;
        let turn = self.frame as f32 * 0.05;
        let at = Vec3::new(80.0 * turn.cos(), 0.0, 80.0 * turn.sin());
        let edit = TerrainEdit::raise(at, Brush::circle(20.0)).with_strength(5.0);
        self.app
            .world_mut()
            .write_message(edit.for_seconds(1.0 / 60.0).in_stroke(1));
        timed_frame(&mut self.app)
    }
}

/// A frame that little else disturbed: a quarter of them is shorter.
fn quiet(frames: &[f64]) -> f64 {
    let mut frames = frames.to_vec();
    frames.sort_by(f64::total_cmp);
    frames[frames.len() / 4]
}

impl EditFrames {
    /// Of 1024² and of 4096² cells. They take turns.
    fn both() -> &'static [Self; 2] {
        static FRAMES: OnceLock<[EditFrames; 2]> = OnceLock::new();
        FRAMES.get_or_init(|| {
            let mut apps = [1024, 4096].map(EditingApp::new);
            for _ in 0..ROUNDS {
                apps.iter_mut().for_each(EditingApp::round);
            }
            apps.map(|app| app.frames)
        })
    }

    fn at_1024() -> &'static Self {
        &Self::both()[0]
    }

    fn at_4096() -> &'static Self {
        &Self::both()[1]
    }

    /// What a stroke adds to an idle frame.
    fn added_ms(&self) -> f64 {
        (quiet(&self.stroke) - quiet(&self.idle)) * 1e3
    }
}

/// What a stroke adds on 4096² as a share of what it adds on 1024².
pub fn edit_frame_4096_ratio() -> f64 {
    EditFrames::at_4096().added_ms() / EditFrames::at_1024().added_ms()
}

/// Seconds that this thread computes in a frame.
fn timed_frame(app: &mut App) -> f64 {
    let start = Instant::now();
    app.update();
    let seconds = start.elapsed().as_secs_f64();
    // Others work meanwhile. This thread stays awake: a core that slept has
    // forgotten what it knew.
    while start.elapsed() < Duration::from_millis(5) {
        core::hint::spin_loop();
    }
    seconds
}

/// The app, and the seconds that the terrain's first frame took.
fn editing_app(cells: u32) -> (App, f64) {
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
    });
    app.world_mut()
        .spawn((Camera3d::default(), Transform::from_xyz(0.0, 300.0, 200.0)));
    app.world_mut().spawn((
        RigidBody::Dynamic,
        Collider::sphere(1.0),
        // Ground that moves wakes bodies up; what they cost is the game's. Nor
        // shall it fall and roll: colliders stand around it.
        SleepingDisabled,
        GravityScale(0.0),
        Transform::from_xyz(0.0, 400.0, 0.0),
    ));
    app.finish();
    app.cleanup();
    let mut schedules = app.world_mut().resource_mut::<Schedules>();
    for (_, schedule) in schedules.iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    // Engines set themselves up in their first frames.
    for _ in 0..5 {
        app.update();
    }
    app.insert_resource(land);
    let start = Instant::now();
    app.update();
    let insert = start.elapsed().as_secs_f64();
    for _ in 0..400 {
        app.update();
        std::thread::sleep(Duration::from_millis(2));
    }
    let world = app.world();
    let terrain = world.resource::<Terrain>();
    let colliders = world.resource::<TerrainColliderState<Avian>>();
    assert!(colliders.is_settled(terrain) && colliders.standing() > 0);
    assert!(world.resource::<TerrainViewState>().is_settled(terrain));
    (app, insert)
}

pub fn insert_1024() -> f64 {
    EditFrames::at_1024().insert * 1e3
}

pub fn insert_4096() -> f64 {
    EditFrames::at_4096().insert * 1e3
}

pub fn edit_frame_1024() -> f64 {
    EditFrames::at_1024().added_ms()
}

pub fn edit_frame_1024_idle() -> f64 {
    quiet(&EditFrames::at_1024().idle) * 1e3
}

pub fn edit_frame_1024_whole() -> f64 {
    quiet(&EditFrames::at_1024().stroke) * 1e3
}

pub fn edit_frame_4096() -> f64 {
    EditFrames::at_4096().added_ms()
}

pub fn edit_frame_4096_idle() -> f64 {
    quiet(&EditFrames::at_4096().idle) * 1e3
}

pub fn edit_frame_4096_whole() -> f64 {
    quiet(&EditFrames::at_4096().stroke) * 1e3
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
