//! Machines that get the same edits keep the same terrain, step by step.

use crate::land;
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::prelude::*;
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
    (0..120u64)
        .map(|i| {
            let edit = match i % 5 {
                0 => TerrainEdit::raise(place(i), brush),
                1 => TerrainEdit::lower(place(i), brush).by_hand(),
                2 => TerrainEdit::smooth(place(i), brush),
                3 => TerrainEdit::add(Matter::Water, place(i), brush),
                _ => TerrainEdit::raise(place(i), brush).by_hand(),
            };
            // Both players act in the same steps.
            edit.at_step(10 + i / 2 * 45, (i % 2) as u32)
        })
        .collect()
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
        .insert_resource(land(9, UVec2::new(96, 72), 2.0))
        .insert_resource(Droplets::default())
        .insert_resource(PipeModel::default())
        .insert_resource(Rain::mm_per_hour(80.0))
        .insert_resource(Thermal::default())
        .add_systems(ErosionStep, note_hash.after(ErosionStepSystems::Thermal));
    app.world_mut().spawn((
        WaterSource::cubic_metres_per_second(2.0),
        Transform::from_xyz(20.0, 0.0, 10.0),
    ));
    let mut waiting = edits();
    if !turned {
        for edit in waiting.drain(..) {
            app.world_mut().write_message(edit);
        }
    }
    while app.world().resource::<Time<Erosion>>().steps() < STEPS {
        let soon = app.world().resource::<Time<Erosion>>().steps() + 60;
        let (due, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|edit: &TerrainEdit| edit.stamp.is_some_and(|stamp| stamp.step <= soon));
        for edit in due.into_iter().rev() {
            app.world_mut().write_message(edit);
        }
        waiting = later;
        app.update();
        let refused = app.world().resource::<Messages<EditRefused>>();
        assert!(refused.is_empty(), "an edit came too late");
    }
    app.world().resource::<Hashes>().0.clone()
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
