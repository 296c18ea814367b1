//! Machines that get the same edits keep the same terrain, step by step.

use crate::land;
use bevy::{
    app::TaskPoolOptions, ecs::message::MessageCursor, prelude::*, time::TimeUpdateStrategy,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::edits::{EditAction, EditApplied, EditRefused, EditStep, HeightStamp, HistoryApplied},
    schedule::{ErosionStep, ErosionStepSystems},
};
use core::time::Duration;

const STEPS: u64 = 3000;
const EVERY: u64 = 250;

#[derive(Resource, Default)]
struct Hashes(Vec<(u64, u64)>);

fn note_hash(terrain: Res<Terrain>, time: Res<Time<Erosion>>, mut hashes: ResMut<Hashes>) {
    if time.steps().is_multiple_of(EVERY) && time.steps() <= STEPS {
        hashes.0.push((time.steps(), terrain.state_hash()));
    }
}

/// The edits of two players, each stamped with its step.
fn edits() -> Vec<TerrainEdit> {
    let place = |i: u64| {
        Vec3::new(
            (i * 37 % 100) as f32 - 50.0,
            0.0,
            (i * 53 % 60) as f32 - 30.0,
        )
    };
    let brush = Brush::circle(9.0);
    let noise = EditAction::Noise {
        seed: 4,
        feature_size: 3.0,
    };
    let hard = EditAction::SetHardness { value: 0.6 };
    (0..120u64)
        .map(|i| {
            let edit = match i % 11 {
                0 => TerrainEdit::raise(place(i), brush),
                1 => TerrainEdit::lower(place(i), brush).by_hand(),
                2 => TerrainEdit::smooth(place(i), brush),
                3 => TerrainEdit::add(Matter::Water, place(i), brush),
                4 => TerrainEdit::raise(place(i), brush).by_hand(),
                5 => TerrainEdit::lower(place(i), brush).drawn_from(place(i + 3)),
                6 => TerrainEdit::new(noise.clone(), place(i), Brush::square(7.0)),
                7 => TerrainEdit::new(hard.clone(), place(i), brush),
                8 => TerrainEdit::stamp(HeightStamp::crater(), place(i), brush),
                9 => TerrainEdit::ramp(place(i), place(i + 5) + Vec3::Y * 20.0, brush),
                _ => TerrainEdit::flatten(place(i) + Vec3::Y * 30.0, brush),
            };
            // Both players act in the same steps, some of it in strokes.
            let (step, player) = (10 + i / 2 * 45, (i % 2) as u32);
            let stroke = u64::from(player) + i / 16 * 2 * (i % 3);
            edit.in_stroke(stroke).at_step(step, player)
        })
        .collect()
}

/// They change their minds, too.
fn requests() -> Vec<HistoryRequest> {
    let at_step = |step| Some(EditStep { step, order: 0 });
    let undo = (0..20).map(|i| HistoryRequest::Undo {
        at_step: at_step(40 + i * 130),
    });
    let redo = (0..10).map(|i| HistoryRequest::Redo {
        at_step: at_step(70 + i * 260),
    });
    undo.chain(redo).collect()
}

/// Runs to the last step with frames of so many milliseconds. `turned` gets
/// each step's edits in another order, and all of them a little before they are
/// due rather than at once.
fn run(frame: f32, plugin: ErosionPlugin, pace: ErosionPace, turned: bool) -> Vec<(u64, u64)> {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
            frame / 1000.0,
        )))
        .insert_resource(pace)
        .init_resource::<Hashes>()
        .insert_resource(land(9, UVec2::new(200, 150), 2.0))
        .insert_resource(Droplets::default())
        .insert_resource(PipeModel::default())
        .insert_resource(Rain::mm_per_hour(80.0))
        .insert_resource(Thermal::default())
        .add_systems(ErosionStep, note_hash.after(ErosionStepSystems::Thermal));
    app.world_mut().spawn((
        WaterSource::cubic_metres_per_second(2.0),
        Transform::from_xyz(20.0, 0.0, 10.0),
    ));
    for request in requests() {
        app.world_mut().write_message(request);
    }
    let mut waiting = edits();
    let mut applied = MessageCursor::<EditApplied>::default();
    let mut turned_back = MessageCursor::<HistoryApplied>::default();
    let (mut edits_done, mut requests_done) = (0, 0);
    if !turned {
        for edit in waiting.drain(..) {
            app.world_mut().write_message(edit);
        }
    }
    while app.world().resource::<Time<Erosion>>().steps() < STEPS {
        let soon = app.world().resource::<Time<Erosion>>().steps() + 60;
        let (due, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|edit: &TerrainEdit| edit.at_step.is_some_and(|at| at.step <= soon));
        for edit in due.into_iter().rev() {
            app.world_mut().write_message(edit);
        }
        waiting = later;
        app.update();
        let refused = app.world().resource::<Messages<EditRefused>>();
        assert!(refused.is_empty(), "an edit came too late");
        edits_done += applied.read(app.world().resource()).count();
        requests_done += turned_back.read(app.world().resource()).count();
    }
    assert_eq!(edits_done, edits().len());
    assert!(requests_done > 10, "{requests_done} undone and redone");
    app.world().resource::<Hashes>().0.clone()
}

/// Bevy's pools are made once a program, so each number of threads wants one.
const THREADS: &str = "BEVY_ERODE_TEST_THREADS";

#[test]
fn the_same_edits_give_the_same_bits_on_any_threads() {
    let pace = ErosionPace::StepsPerTick(1);
    if let Ok(threads) = std::env::var(THREADS) {
        let threads = threads.parse().expect("a number");
        TaskPoolOptions::with_num_threads(threads).create_default_pools();
        let hashes = run(15.625, ErosionPlugin::default(), pace, false);
        println!("hashes {hashes:?}");
        return;
    }
    let own_name = "lockstep::the_same_edits_give_the_same_bits_on_any_threads";
    let on = |threads: u32| {
        let program = std::env::current_exe().expect("this program");
        let child = std::process::Command::new(program)
            .args([own_name, "--exact", "--nocapture"])
            .env(THREADS, threads.to_string())
            .output()
            .expect("started");
        let text = String::from_utf8_lossy(&child.stdout).into_owned();
        let line = text.lines().find_map(|line| line.split_once("hashes "));
        line.map(|(_, hashes)| hashes.to_owned())
            .unwrap_or_else(|| panic!("{text}"))
    };
    let one = on(1);
    assert!(one.matches('(').count() as u64 >= STEPS / EVERY, "{one}");
    for threads in [2, 5] {
        assert_eq!(on(threads), one, "{threads} threads");
    }
}

#[test]
fn the_same_edits_give_the_same_bits_at_any_frame_rate() {
    let expected = run(
        15.625,
        ErosionPlugin::default(),
        ErosionPace::StepsPerTick(1),
        false,
    );
    assert_eq!(expected.len() as u64, STEPS / EVERY);
    let unlike = |hashes: &[(u64, u64)]| {
        let mut values: Vec<u64> = hashes.iter().map(|(_, hash)| *hash).collect();
        values.dedup();
        values.len()
    };
    assert_eq!(unlike(&expected), expected.len(), "the land keeps changing");
    let slow = run(
        100.0,
        ErosionPlugin::default(),
        ErosionPace::Budget(1e6),
        true,
    );
    assert_eq!(slow, expected);
    let fixed = run(
        7.3,
        ErosionPlugin::in_schedule(FixedUpdate),
        ErosionPace::StepsPerTick(3),
        true,
    );
    assert_eq!(fixed, expected);
}
