//! What travels between the mirror and the GPU.

use crate::{gpu, layers_apart, read, step, terrain, twin, until, wet_hills};
use bevy::prelude::*;
use bevy_erode::{
    forcing::edits::{EditAction, TerrainHistory},
    io::SaveError,
};
use bevy_erode::{gpu::bytes_per_cell, prelude::*};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);
const SIZE: UVec2 = UVec2::new(100, 70);

fn edit(action: EditAction, at: Vec3, radius: f32, strength: f32) -> TerrainEdit {
    TerrainEdit::new(action, at, Brush::circle(radius)).with_strength(strength)
}

#[test]
fn edits_and_undo_follow_the_cpu() {
    let mut theirs = gpu(wet_hills(3, SIZE), STEP);
    let mut ours = twin(wet_hills(3, SIZE), STEP);
    for app in [&mut theirs, &mut ours] {
        app.insert_resource(PipeModel::default())
            .init_resource::<TerrainHistory>();
        let world = app.world_mut();
        let [east, west, north] = [[20.0, 5.0], [-40.0, 0.0], [0.0, -30.0]];
        let at = |[x, z]: [f32; 2]| Vec3::new(x, 0.0, z);
        world.write_message(edit(EditAction::Raise, at(east), 15.0, 3.0));
        world.write_message(edit(EditAction::Lower, at(west), 12.0, 2.0));
        world.write_message(edit(EditAction::Add(Matter::Water), at(north), 10.0, 4.0));
    }
    // Steps to run, what to do then, and how far both may be apart.
    for (steps, undo, bar) in [
        (1, false, 1e-5),
        (20, true, 2e-4),
        (0, false, 2e-4),
        (20, false, 2e-3),
    ] {
        for app in [&mut theirs, &mut ours] {
            step(app, steps);
        }
        read(&mut theirs);
        let apart = layers_apart(terrain(&theirs), terrain(&ours));
        println!("after {steps} more: {apart:?}");
        assert!(apart.iter().all(|apart| *apart < bar), "{apart:?}");
        for app in [&mut theirs, &mut ours] {
            if undo {
                app.world_mut().write_message(HistoryRequest::UNDO);
            }
            app.update();
        }
    }
    let ledger = terrain(&theirs).ledger();
    let drift = ledger.solids.drift_of_total().abs();
    assert!(drift < 1e-6, "{drift:e}");
    let drift = ledger.water.drift_of_total().abs();
    assert!(drift < 1e-6, "{drift:e}");
}

#[test]
fn the_mirror_follows_by_itself_and_knows_its_age() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default())
        .insert_resource(ErosionPace::StepsPerTick(1));
    let before = terrain(&app).state_hash();
    until(&mut app, "the mirror moves", |world| {
        world.resource::<Terrain>().state_hash() != before
    });
    // Once nothing runs it catches up.
    app.insert_resource(ErosionPace::StepsPerTick(0));
    for _ in 0..200 {
        app.update();
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut state = bevy::ecs::system::SystemState::<TerrainQuery>::new(app.world_mut());
    let ground = state.get(app.world()).expect("params");
    assert_eq!((ground.age(), ground.age_at(Vec3::ZERO)), (0, Some(0)));
    let mirrored = terrain(&app).clone();
    read(&mut app);
    assert_eq!(layers_apart(&mirrored, terrain(&app)), [0.0; 4]);
}

#[test]
fn steps_without_an_answer_count_as_age() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    read(&mut app);
    until(&mut app, "nothing is on its way", |world| {
        !world.resource::<ErosionBackendStatus>().readback_pending
    });
    let mut state = bevy::ecs::system::SystemState::<TerrainQuery>::new(app.world_mut());
    let mut ages = |app: &App| {
        let ground = state.get(app.world()).expect("params");
        (ground.age(), ground.age_at(Vec3::ZERO))
    };
    assert_eq!(ages(&app), (0, Some(0)));
    step(&mut app, 5);
    assert_eq!(ages(&app), (5, Some(5)), "nothing came back yet");
    read(&mut app);
    assert_eq!(ages(&app), (0, Some(0)));
}

#[test]
fn what_edits_took_in_vain_is_booked() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default());
    // Several steps a frame: the mirror does not see that the water is gone.
    let world = app.world_mut();
    for _ in 0..2 {
        world.spawn((
            WaterSink::cubic_metres_per_second(2000.0),
            Transform::from_xyz(0.0, 0.0, 0.0),
        ));
    }
    app.update();
    for _ in 0..10 {
        step(&mut app, 10);
    }
    read(&mut app);
    let ledger = terrain(&app).ledger();
    let drift = ledger.water.drift_of_total().abs();
    assert!(drift < 1e-6, "{drift:e}");
    assert!(terrain(&app).water().iter().all(|depth| *depth >= 0.0));
}

#[test]
fn a_sub_step_moves_at_most_100_bytes_a_cell() {
    let bytes = bytes_per_cell();
    println!("{bytes} bytes a cell");
    assert!((1..=100).contains(&bytes));
}

#[test]
fn a_save_is_of_one_moment() {
    let mut app = gpu(wet_hills(3, SIZE), STEP);
    app.insert_resource(PipeModel::default())
        .insert_resource(Rain::mm_per_hour(1000.0));
    read(&mut app);
    until(&mut app, "nothing is on its way", |world| {
        !world.resource::<ErosionBackendStatus>().readback_pending
    });
    step(&mut app, 20);
    let error = SavedState::capture(app.world_mut()).expect_err("the GPU is ahead");
    assert!(matches!(error, SaveError::Behind), "{error}");
    read(&mut app);
    let saved = SavedState::capture(app.world_mut()).expect("whole");
    assert!(saved.to_bytes().is_ok());
    let drift = terrain(&app).ledger().water.drift_of_total().abs();
    assert!(drift < 1e-6, "{drift:e}");
}

#[test]
fn water_that_the_host_let_flow_flows_on() {
    let mut theirs = gpu(wet_hills(3, SIZE), STEP);
    let mut ours = twin(wet_hills(3, SIZE), STEP);
    for model in [PipeModel::as_published(), PipeModel::default()] {
        for app in [&mut theirs, &mut ours] {
            app.insert_resource(model.clone());
            step(app, 10);
        }
        read(&mut theirs);
        let apart = layers_apart(terrain(&theirs), terrain(&ours));
        println!("published, then ours: {apart:?}");
        assert!(apart.iter().all(|apart| *apart < 1e-3), "{apart:?}");
    }
}
