//! Exactly one water model runs, and each can take over from the other.

use crate::app::create_app;
use bevy::{math::UVec2, prelude::*};
use bevy_erode::models::plugin::ModelFailed;
use bevy_erode::prelude::*;

/// An app with a closed lake that is not at rest.
fn lake_app() -> App {
    let mut app = create_app();
    app.insert_resource(crate::flooded_hills(2, UVec2::new(70, 50)));
    app
}

fn faults(app: &mut App) -> Vec<ModelFailed> {
    let mut faults = app.world_mut().resource_mut::<Messages<ModelFailed>>();
    faults.drain().collect()
}

fn terrain(app: &App) -> &Terrain {
    app.world().resource()
}

#[test]
fn a_second_water_model_is_removed_with_a_message() {
    let mut app = lake_app();
    app.insert_resource(PipeModel::default());
    app.update();
    app.insert_resource(ShallowWater::default());
    app.update();
    assert!(app.world().contains_resource::<PipeModel>());
    assert!(!app.world().contains_resource::<ShallowWater>());
    let said = faults(&mut app);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].model, "ShallowWater");
    assert!(said[0].reason.contains("`PipeModel` is in use"), "{said:?}");
    app.update();
    assert!(faults(&mut app).is_empty(), "said once");

    // And the other way round.
    let mut app = lake_app();
    app.insert_resource(ShallowWater::default());
    app.update();
    app.insert_resource(PipeModel::default());
    app.update();
    assert!(!app.world().contains_resource::<PipeModel>());
    assert!(app.world().contains_resource::<ShallowWater>());
    assert_eq!(faults(&mut app)[0].model, "PipeModel");

    // Two at once: one of them runs.
    let mut app = lake_app();
    app.insert_resource(ShallowWater::default())
        .insert_resource(PipeModel::default());
    app.update();
    let world = app.world();
    assert!(world.contains_resource::<PipeModel>());
    assert!(!world.contains_resource::<ShallowWater>());
    assert_eq!(faults(&mut app).len(), 1);
}

#[test]
fn a_second_water_model_never_steps() {
    let mut one = lake_app();
    one.insert_resource(PipeModel::default());
    let mut two = lake_app();
    two.insert_resource(PipeModel::default());
    for frame in 0..20 {
        if frame == 7 {
            two.insert_resource(ShallowWater::default());
        }
        one.update();
        two.update();
    }
    assert_eq!(terrain(&one).state_hash(), terrain(&two).state_hash());
}

#[test]
fn switching_in_one_frame_keeps_the_water_and_how_it_moves() {
    let mut app = lake_app();
    app.insert_resource(PipeModel::default());
    for round in 0..4 {
        for _ in 0..30 {
            app.update();
        }
        let before = terrain(&app).clone();
        let world = app.world_mut();
        if round % 2 == 0 {
            world.insert_resource(ShallowWater::default());
            world.remove_resource::<PipeModel>();
        } else {
            world.remove_resource::<ShallowWater>();
            world.insert_resource(PipeModel::default());
        }
        app.update();
        assert!(faults(&mut app).is_empty());
        let shallow = app.world().contains_resource::<ShallowWater>();
        assert_eq!(shallow, round % 2 == 0, "it is the other's turn");
        let after = terrain(&app);
        let books = after.ledger().water;
        let off = books.standing / before.ledger().water.standing - 1.0;
        assert!(off.abs() < 1e-6, "round {round}: {off}");
        assert!(books.drift_of_total().abs() < 1e-6);
        // One step of either changes the discharge a little, and does not stop
        // it. Water of a metre and more shows it.
        let (mut sum, mut product) = (0.0, 0.0);
        for y in 0..50 {
            for x in 0..70 {
                if before.water()[before.grid().index(x, y)] > 1.0 {
                    let was = before.discharge(x, y);
                    sum += was.length_squared();
                    product += was.dot(after.discharge(x, y));
                }
            }
        }
        let kept = product / sum;
        println!("round {round}: {kept:.3} of the motion is kept");
        assert!((0.8..1.2).contains(&kept), "{kept}");
    }
    let moving = app.world().resource::<Terrain>();
    assert!(moving.flow().is_some());
}

#[test]
fn it_works_with_all_the_others() {
    let mut app = create_app();
    app.insert_resource(crate::hills(3))
        .insert_resource(ShallowWater::default())
        .insert_resource(Droplets::default())
        .insert_resource(Thermal::default())
        .insert_resource(Rain::mm_per_hour(500.0))
        .insert_resource(Evaporation::mm_per_hour(50.0));
    app.world_mut().spawn((
        WaterSource::cubic_metres_per_second(5.0),
        Transform::from_xyz(10.0, 0.0, 5.0),
    ));
    for step in 0..200 {
        if step % 20 == 0 {
            let at = Vec3::new(step as f32 * 0.3 - 30.0, 0.0, 10.0);
            app.world_mut()
                .write_message(TerrainEdit::raise(at, Brush::circle(12.0)));
        }
        app.update();
    }
    let terrain = terrain(&app);
    let ledger = terrain.ledger();
    assert!(ledger.water.rained > 0.0 && ledger.solids.added > 0.0);
    assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
    assert!(ledger.solids.drift_of_total().abs() < 1e-6, "{ledger:?}");
    assert!(terrain.soil().iter().all(|v| *v >= 0.0 && v.is_finite()));
    assert!(terrain.water().iter().all(|v| *v >= 0.0 && v.is_finite()));
}
