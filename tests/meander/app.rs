//! Rivers as entities of an app.

use super::stretch::{STEP, advance, assert_balanced, land, start, stretch, upper_end};
use super::*;
use crate::app::create_app;
use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::{
    bake::{BakeModel, BakeProgress},
    models::meander::{RiverRequest, Rivers},
};
use bevy_erode::{models::plugin::ModelFailed, terrain::landform::Valley};
use core::time::Duration;

fn app() -> App {
    let mut app = create_app();
    app.insert_resource(ErosionPace::StepsPerTick(1))
        .insert_resource(land());
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.set_step_size(Duration::from_secs_f32(STEP));
    app
}

fn with_river() -> (App, Entity) {
    let mut app = app();
    let river = (settings(3), stretch(), upper_end());
    let river = app.world_mut().spawn(river).id();
    (app, river)
}

fn update(app: &mut App, times: usize) {
    for _ in 0..times {
        app.update();
    }
}

fn terrain(app: &App) -> &Terrain {
    app.world().resource::<Terrain>()
}

#[test]
fn an_entity_runs_a_river_as_the_plain_one_does() {
    let (mut app, entity) = with_river();
    // The first frame has no time to run.
    while app.world().resource::<Time<Erosion>>().steps() < 200 {
        app.update();
    }
    let mut other = land();
    let mut river = start(&other);
    advance(&mut river, &mut other, 200);
    assert_eq!(terrain(&app).state_hash(), other.state_hash());
    assert_eq!(terrain(&app).ledger(), other.ledger());
    let running = app.world().resource::<Rivers>().get(entity);
    let running = running.expect("it runs");
    assert_eq!(running.river().water().len(), river.river().water().len());
}

#[test]
fn a_river_that_is_removed_leaves_its_water_and_its_sediment() {
    for despawn in [false, true] {
        let (mut app, entity) = with_river();
        update(&mut app, 600);
        let water = terrain(&app).ledger().water.in_rivers;
        assert!(water > 2e4 && terrain(&app).water_depth(32, 30) > 0.0);
        if despawn {
            app.world_mut().despawn(entity);
        } else {
            app.world_mut()
                .entity_mut(entity)
                .remove::<MeanderingRiver>();
        }
        app.update();
        assert_balanced(terrain(&app));
        let ledger = terrain(&app).ledger();
        assert!((ledger.water.standing - water).abs() < 1e-6 * water);
        assert!(ledger.water.in_rivers.abs() < 1e-6);
        assert!(ledger.solids.in_rivers.abs() < 1e-4);
        assert_eq!(terrain(&app).stream_depth(32, 30), 0.0);
        assert_eq!(app.world().resource::<Rivers>().iter().count(), 0);
    }
}

#[test]
fn a_river_follows_the_window_until_it_leaves_the_land() {
    let (mut app, entity) = with_river();
    // Long enough that the stretch stays on it when it moves by a tile.
    let valley = Valley::default().with_floor_width(320.0);
    let long = Terrain::generate(&valley, UVec2::new(64, 320), 8.0).expect("valid");
    app.insert_resource(long);
    update(&mut app, 300);
    let shift = |app: &mut App, by: IVec2| {
        let mut terrain = app.world_mut().resource_mut::<Terrain>();
        terrain.shift_tiles(by, |new| new.edge).expect("valid");
        app.update();
    };
    let river = |app: &App| {
        let river = app.world().resource::<Rivers>().get(entity);
        river.map(|river| (river.cells(), river.carried_water()))
    };
    let ((first, size), water) = river(&app).expect("it runs");
    assert!(water > 1e3, "{water}");
    shift(&mut app, IVec2::NEG_Y);
    let (cells, now) = river(&app).expect("it runs on");
    assert_eq!(cells, (first + UVec2::Y * 64, size));
    assert!((now - water).abs() < 0.1 * water, "{water} to {now}");
    assert_balanced(terrain(&app));
    update(&mut app, 50);
    assert_balanced(terrain(&app));

    let before = terrain(&app).ledger();
    shift(&mut app, IVec2::Y * 9);
    assert!(river(&app).is_none(), "its place is not on the land");
    let after = terrain(&app).ledger();
    assert!(before.water.in_rivers > 1e3 && after.water.in_rivers.abs() < 1e-6);
    assert!(after.water.left >= before.water.left + before.water.in_rivers - 1e-6);
    let depth = (0..320).map(|y| terrain(&app).stream_depth(32, y));
    assert_eq!(depth.sum::<f32>(), 0.0);
    assert_balanced(terrain(&app));
}

#[test]
fn a_request_writes_it_back_and_it_goes_on() {
    let (mut app, entity) = with_river();
    update(&mut app, 300);
    app.world_mut()
        .write_message(RiverRequest::WriteBack(entity));
    app.update();
    let ledger = terrain(&app).ledger();
    assert!(ledger.water.standing > 1e4);
    assert!(
        ledger.water.in_rivers < 2000.0,
        "{}",
        ledger.water.in_rivers
    );
    update(&mut app, 100);
    assert!(terrain(&app).ledger().water.in_rivers > 5e3);
    assert_balanced(terrain(&app));
}

#[test]
fn a_stretch_that_cannot_be_is_said_once() {
    let (mut app, entity) = with_river();
    let far = Transform::from_xyz(400.0, 0.0, 0.0);
    *app.world_mut().get_mut::<Transform>(entity).expect("there") = far;
    let messages = app.world().resource::<Messages<ModelFailed>>();
    let mut cursor = messages.get_cursor();
    let mut faults: Vec<ModelFailed> = Vec::new();
    for _ in 0..5 {
        app.update();
        let messages = app.world().resource::<Messages<ModelFailed>>();
        faults.extend(cursor.read(messages).cloned());
    }
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].model, "MeanderingRiver");
    assert!(
        faults[0].reason.contains("RiverStretch"),
        "{}",
        faults[0].reason
    );
    // Mended, it runs.
    *app.world_mut().get_mut::<Transform>(entity).expect("there") = upper_end();
    update(&mut app, 100);
    assert!(terrain(&app).ledger().water.in_rivers > 5e3);
}

#[test]
fn what_a_river_carries_is_in_no_ones_hand() {
    let (mut app, _) = with_river();
    update(&mut app, 200);
    assert!(terrain(&app).ledger().water.in_rivers > 5e3);
    for matter in [Matter::Water, Matter::Soil] {
        assert_eq!(matter.in_hand(terrain(&app)), 0.0, "{matter:?}");
    }
    let before = terrain(&app).ledger().water.standing;
    let pour = TerrainEdit::add(
        Matter::Water,
        Vec3::new(100.0, 0.0, 300.0),
        Brush::circle(30.0),
    );
    app.world_mut().write_message(pour.by_hand());
    update(&mut app, 1);
    assert_eq!(terrain(&app).ledger().water.standing, before);
    assert_balanced(terrain(&app));
}

#[test]
fn settings_may_change_while_it_runs() {
    let (mut app, entity) = with_river();
    update(&mut app, 200);
    let mut river = app.world_mut().get_mut::<MeanderingRiver>(entity);
    let settings = river.as_mut().expect("there");
    settings.particle_volume = 500.0;
    update(&mut app, 100);
    assert_balanced(terrain(&app));
    let mut river = app.world_mut().get_mut::<MeanderingRiver>(entity);
    river.as_mut().expect("there").radius = 30.0;
    update(&mut app, 100);
    assert!(
        terrain(&app).ledger().water.standing > 1e4,
        "it started anew"
    );
    let mut own = app
        .world_mut()
        .get_mut::<RiverStretch>(entity)
        .expect("there");
    own.inflow = 0.0;
    let poured = terrain(&app).ledger().water.poured;
    update(&mut app, 50);
    assert_eq!(terrain(&app).ledger().water.poured, poured);
    assert_balanced(terrain(&app));
}

#[test]
fn a_bake_ends_as_an_app_does() {
    let model = BakeModel::river(settings(3), stretch(), upper_end());
    let bake = Bake::new(land()).with_step(STEP).simulate(20.0, [model]);
    let baked = bake.run(&BakeProgress::default()).expect("baked");
    let mut other = land();
    let mut river = start(&other);
    advance(&mut river, &mut other, 200);
    river.write_back(&mut other);
    assert_eq!(baked.state_hash(), other.state_hash());
    assert!(baked.ledger().water.standing > 1e4);
}
