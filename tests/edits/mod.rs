//! Edits: what they change, what they count, undo and redo, and their order.

mod history;

use crate::hills;
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::forcing::edits::{
    EditAction, EditApplied, EditEffect, EditRefused, Falloff, Fill, HeightStamp, TerrainHistory,
};
use bevy_erode::{
    prelude::*,
    terrain::{LayerGroup, TerrainCursor},
};
use core::time::Duration;
use std::sync::Arc;

fn flat() -> Terrain {
    Terrain::flat(UVec2::new(200, 150), 0.5)
        .and_then(|terrain| terrain.with_soil_depth(1.0))
        .expect("valid")
}

fn ground(terrain: &Terrain, at: Vec3) -> f32 {
    terrain.height_at(at).expect("on the land")
}

fn sum(layer: &[f32], terrain: &Terrain) -> f64 {
    layer.iter().map(|v| f64::from(*v)).sum::<f64>() * terrain.grid().cell_area()
}

fn balanced(terrain: &Terrain) {
    let ledger = terrain.ledger();
    assert!(ledger.solids.drift_of_total().abs() < 1e-9, "{ledger:?}");
    assert!(ledger.water.drift().abs() < 1e-3, "{ledger:?}");
}

const HERE: Vec3 = Vec3::new(7.3, 0.0, -11.2);

#[test]
fn raise_and_lower_act_in_metres_a_second() {
    let mut terrain = flat();
    let brush = Brush::circle(10.0).with_falloff(Falloff::Hard);
    let edit = TerrainEdit::raise(HERE, brush).with_strength(3.0);
    let effect = edit
        .clone()
        .for_seconds(0.5)
        .apply(&mut terrain)
        .expect("valid");
    assert!((ground(&terrain, HERE) - 2.5).abs() < 1e-5);
    assert_eq!(ground(&terrain, HERE + Vec3::X * 11.0), 1.0);
    let disc = core::f64::consts::PI * 100.0 * 1.5;
    assert!((effect.solids / disc - 1.0).abs() < 0.02, "{effect:?}");
    assert!(
        terrain.bedrock().iter().all(|b| *b == 0.0),
        "soil by default"
    );

    // Soil goes first, then rock.
    let dig = TerrainEdit::lower(HERE, brush).with_strength(4.0);
    dig.apply(&mut terrain).expect("valid");
    assert!((ground(&terrain, HERE) + 1.5).abs() < 1e-5);
    assert_eq!(terrain.layer_at(Layer::Soil, HERE), Some(0.0));
    balanced(&terrain);

    let rock = edit.with_fill(Fill::Rock);
    rock.apply(&mut terrain).expect("valid");
    assert_eq!(terrain.layer_at(Layer::Soil, HERE), Some(0.0));
    assert!((ground(&terrain, HERE) - 1.5).abs() < 1e-5);
    balanced(&terrain);
}

#[test]
fn the_same_stroke_at_any_resolution() {
    let volume = |cell: f32| {
        let size = UVec2::splat((100.0 / cell) as u32);
        let mut terrain = Terrain::flat(size, cell).expect("valid");
        let edit = TerrainEdit::raise(Vec3::ZERO, Brush::circle(20.0));
        edit.apply(&mut terrain).expect("valid").solids
    };
    let (fine, coarse) = (volume(0.25), volume(2.0));
    assert!((fine / coarse - 1.0).abs() < 0.02, "{fine} {coarse}");
}

#[test]
fn a_drawn_stroke_leaves_no_gaps() {
    let mut terrain = flat();
    let (from, to) = (Vec3::new(-40.0, 0.0, 5.0), Vec3::new(40.0, 0.0, 5.0));
    let edit = TerrainEdit::raise(to, Brush::circle(3.0)).drawn_from(from);
    edit.apply(&mut terrain).expect("valid");
    for x in -40..=40 {
        let at = Vec3::new(x as f32, 0.0, 5.0);
        assert!(ground(&terrain, at) > 1.9, "{x}: {}", ground(&terrain, at));
    }
}

#[test]
fn a_brush_smaller_than_a_cell_still_paints() {
    for at in [
        Vec3::ZERO,
        Vec3::new(0.25, 0.0, 0.25),
        Vec3::new(0.1, 0.0, 0.4),
    ] {
        let mut terrain = flat();
        let edit = TerrainEdit::raise(at, Brush::circle(0.0));
        let effect = edit.apply(&mut terrain).expect("valid");
        assert!(effect.solids > 0.0, "{at}");
    }
}

#[test]
fn flatten_and_ramp_reach_their_heights() {
    let mut terrain = hills(3)
        .with_origin(Vec3::new(50.0, 20.0, -9.0))
        .expect("valid");
    let at = Vec3::new(50.0, 45.0, -9.0);
    let brush = Brush::square(12.0).with_falloff(Falloff::Hard);
    let edit = TerrainEdit::flatten(at, brush).with_strength(1e4);
    edit.apply(&mut terrain).expect("valid");
    for (x, z) in [(-9.0, -9.0), (0.0, 0.0), (9.0, 4.0)] {
        let height = ground(&terrain, at + Vec3::new(x, 0.0, z));
        assert!((height - 45.0).abs() < 1e-3, "{height}");
    }
    balanced(&terrain);

    let (from, to) = (Vec3::new(0.0, 30.0, 20.0), Vec3::new(100.0, 60.0, 20.0));
    let ramp = TerrainEdit::ramp(from, to, brush).with_strength(1e4);
    ramp.apply(&mut terrain).expect("valid");
    for share in [0.1, 0.5, 0.9] {
        let place = from.lerp(to, share);
        let height = ground(&terrain, place);
        assert!((height - place.y).abs() < 0.35, "{height} {place}");
    }
    balanced(&terrain);
}

#[test]
fn smoothing_and_noise_keep_all_that_is_there() {
    let before = hills(5).with_soil_depth(0.4).expect("valid");
    let at = Vec3::new(4.0, 0.0, 8.0);
    let brush = Brush::circle(40.0);
    let noise = EditAction::Noise {
        seed: 4,
        feature_size: 10.0,
    };
    let edits = [
        TerrainEdit::smooth(at, brush).with_strength(30.0),
        TerrainEdit::new(noise, at, brush).with_strength(3.0),
    ];
    let roughness = |terrain: &Terrain| {
        let mut sum = 0.0f64;
        for y in 40..60u32 {
            for x in 55..75u32 {
                let here = terrain.grid().index(x, y);
                let mean = 0.25
                    * (terrain.ground(here - 1)
                        + terrain.ground(here + 1)
                        + terrain.ground(here - 128)
                        + terrain.ground(here + 128));
                sum += f64::from((terrain.ground(here) - mean).powi(2));
            }
        }
        sum
    };
    let mut changed = Vec::new();
    for edit in edits {
        let mut terrain = before.clone();
        let effect = edit.apply(&mut terrain).expect("valid");
        let moved = terrain.ledger().solids.moved;
        assert!(moved > 10.0, "{moved}");
        assert!(effect.solids.abs() < 1e-5 * moved, "{effect:?} of {moved}");
        balanced(&terrain);
        changed.push(roughness(&terrain) / roughness(&before));
    }
    assert!(changed[0] < 0.3 && changed[1] > 1.5, "{changed:?}");
}

#[test]
fn matter_is_added_and_taken() {
    let mut terrain = flat();
    let brush = Brush::circle(5.0).with_falloff(Falloff::Hard);
    let mut run = |edit: TerrainEdit| edit.apply(&mut terrain).expect("valid");
    let water = run(TerrainEdit::add(Matter::Water, HERE, brush).with_strength(2.0));
    assert!(water.water > 100.0 && water.solids == 0.0);
    let drained = run(TerrainEdit::remove(Matter::Water, HERE, brush).with_strength(50.0));
    assert!((drained.water + water.water).abs() < 1e-3);
    let soil = run(TerrainEdit::remove(Matter::Soil, HERE, brush).with_strength(50.0));
    assert!(
        (soil.solids + water.water / 2.0).abs() < 1e-2,
        "all soil, no rock: {soil:?}"
    );
    let rock = run(TerrainEdit::add(Matter::Rock, HERE, brush).with_strength(3.0));
    assert!(rock.solids > 0.0);
    assert_eq!(terrain.water().iter().copied().fold(0.0, f32::max), 0.0);
    assert!((terrain.layer_at(Layer::Bedrock, HERE).expect("land") - 3.0).abs() < 1e-5);
    balanced(&terrain);
}

#[test]
fn water_that_is_taken_takes_its_load() {
    let cells = flat().grid().cells();
    let mut terrain = flat()
        .with_layer(Layer::Water, vec![2.0; cells])
        .and_then(|terrain| terrain.with_layer(Layer::Suspended, vec![0.1; cells]))
        .expect("valid");
    let brush = Brush::circle(5.0).with_falloff(Falloff::Hard);
    let edit = TerrainEdit::remove(Matter::Water, HERE, brush).by_hand();
    let effect = edit.apply(&mut terrain).expect("valid");
    assert!((effect.solids / effect.water - 0.05).abs() < 1e-4);
    let ledger = terrain.ledger();
    assert!((ledger.water.carried + effect.water).abs() < 1e-9);
    assert!((ledger.solids.carried + effect.solids).abs() < 1e-9);
    balanced(&terrain);
}

#[test]
fn a_hand_gives_what_it_took_and_no_more() {
    let mut terrain = flat();
    let brush = Brush::circle(8.0);
    let far = HERE + Vec3::X * -30.0;
    let nothing = TerrainEdit::raise(far, brush).by_hand();
    let effect = nothing.apply(&mut terrain).expect("valid");
    assert_eq!(effect.solids, 0.0, "an empty hand");
    let dug = TerrainEdit::lower(HERE, brush).with_strength(2.0).by_hand();
    let dug = dug.apply(&mut terrain).expect("valid").solids;
    let filled = TerrainEdit::raise(far, brush).with_strength(50.0).by_hand();
    let filled = filled.apply(&mut terrain).expect("valid").solids;
    assert!((filled + dug).abs() < 1e-4 * filled, "{dug} {filled}");
    assert!(terrain.ledger().solids.carried >= 0.0);
    assert_eq!(terrain.ledger().solids.added, 0.0);
    balanced(&terrain);
}

#[test]
fn a_hand_carries_lava_as_lava() {
    let mut terrain = flat();
    let brush = Brush::circle(8.0);
    let far = HERE + Vec3::X * -30.0;
    let before = terrain.state_hash();
    let take = TerrainEdit::remove(Matter::Lava, HERE, brush).by_hand();
    let nothing = take.apply(&mut terrain).expect("valid");
    assert_eq!(nothing, EditEffect::default(), "there is no lava");
    assert!(terrain.lava().is_none());
    let mut history = TerrainHistory::default();
    let mut run = |edit: TerrainEdit, terrain: &mut Terrain| {
        history.apply(&edit, terrain).expect("valid").lava
    };
    let add = TerrainEdit::add(Matter::Lava, HERE, brush).with_strength(3.0);
    let poured = run(add.clone(), &mut terrain);
    assert!(poured > 100.0, "{poured}");
    let taken = run(take.with_strength(9.0), &mut terrain);
    assert!((taken + poured).abs() < 1e-6 * poured, "all of it");
    let solids = terrain.ledger().solids;
    assert!((solids.lava_carried - poured).abs() < 1e-6 * poured);
    assert_eq!(solids.carried, 0.0, "it is no earth");
    let earth = TerrainEdit::raise(far, brush).by_hand();
    assert_eq!(earth.apply(&mut terrain).expect("valid").solids, 0.0);
    let give = TerrainEdit::add(Matter::Lava, far, brush).by_hand();
    let given = run(give.with_strength(50.0), &mut terrain);
    assert!(
        (given - poured).abs() < 1e-4 * poured,
        "{given} of {poured}"
    );
    assert_eq!(terrain.lava_heat(), terrain.lava(), "still hot");
    balanced(&terrain);
    let after = terrain.state_hash();
    for _ in 0..3 {
        assert!(history.undo(&mut terrain));
        balanced(&terrain);
    }
    assert_eq!(terrain.state_hash(), before);
    assert!(terrain.ledger().solids.lava_carried.abs() < 1e-9);
    for _ in 0..3 {
        assert!(history.redo(&mut terrain));
    }
    assert_eq!(terrain.state_hash(), after);
    balanced(&terrain);
}

#[test]
fn hardness_and_stamps_are_painted() {
    let mut terrain = flat();
    let brush = Brush::circle(10.0);
    let hard = EditAction::SetHardness { value: 0.8 };
    let edit = TerrainEdit::new(hard, HERE, brush).with_strength(10.0);
    edit.apply(&mut terrain).expect("valid");
    assert!((terrain.layer_at(Layer::Hardness, HERE).expect("land") - 0.8).abs() < 1e-5);
    assert_eq!(
        terrain.layer_at(Layer::Hardness, HERE + Vec3::X * 20.0),
        Some(0.0)
    );

    let hard_rim = brush.with_falloff(Falloff::Hard);
    let crater = TerrainEdit::stamp(HeightStamp::crater(), HERE, hard_rim).with_strength(2.0);
    crater.apply(&mut terrain).expect("valid");
    assert!(
        (ground(&terrain, HERE) + 1.0).abs() < 0.05,
        "two metres deep"
    );
    assert!(ground(&terrain, HERE + Vec3::X * 7.0) > 1.4, "a rim");

    // A stamp is turned about its middle: east goes to north by a quarter turn.
    let east = |i: u32| if i % 9 == 8 { 1.0 } else { 0.0 };
    let east = HeightStamp::new(UVec2::splat(9), (0..81).map(east).collect()).expect("valid");
    let turn = EditAction::Stamp {
        map: Arc::new(east),
        rotation: core::f32::consts::FRAC_PI_2,
    };
    let mut terrain = flat();
    let edit = TerrainEdit::new(turn, HERE, hard_rim);
    edit.apply(&mut terrain).expect("valid");
    assert!(ground(&terrain, HERE + Vec3::Z * -9.0) > 1.5);
    assert_eq!(ground(&terrain, HERE + Vec3::X * 9.0), 1.0);
}

#[test]
fn wrong_edits_are_refused_and_change_nothing() {
    let mut terrain = flat();
    let before = terrain.state_hash();
    let good = TerrainEdit::raise(HERE, Brush::circle(5.0));
    let noise = |feature_size| EditAction::Noise {
        seed: 0,
        feature_size,
    };
    let wrong = [
        (good.clone().with_strength(f32::NAN), "strength"),
        (good.clone().with_strength(-1.0), "strength"),
        (good.clone().for_seconds(f32::INFINITY), "seconds"),
        (TerrainEdit::raise(HERE, Brush::circle(-1.0)), "radius"),
        (TerrainEdit::raise(HERE, Brush::circle(f32::NAN)), "radius"),
        (TerrainEdit::raise(Vec3::NAN, Brush::default()), "from"),
        (good.clone().drawn_from(Vec3::INFINITY), "from"),
        (
            TerrainEdit::new(noise(0.0), HERE, Brush::default()),
            "feature_size",
        ),
        (
            TerrainEdit::new(
                EditAction::SetHardness { value: 2.0 },
                HERE,
                Brush::default(),
            ),
            "value",
        ),
    ];
    let mut history = TerrainHistory::default();
    for (edit, field) in wrong {
        let error = edit.apply(&mut terrain).expect_err("refused");
        assert_eq!(error.field, field);
        history.apply(&edit, &mut terrain).expect_err("refused");
    }
    let far = TerrainEdit::raise(Vec3::splat(1e8), Brush::circle(5.0));
    assert_eq!(far.apply(&mut terrain), Ok(EditEffect::default()));
    assert_eq!(terrain.state_hash(), before);
    assert_eq!(history.undo_count(), 0);
    for size in [UVec2::ZERO, UVec2::splat(5000), UVec2::new(3, 3)] {
        HeightStamp::new(size, vec![0.0; 4]).expect_err("refused");
    }
    HeightStamp::new(UVec2::ONE, vec![f32::NAN]).expect_err("refused");
}

#[test]
fn extreme_edits_stay_finite() {
    let mut terrain = flat();
    for _ in 0..5 {
        for edit in [
            TerrainEdit::raise(HERE, Brush::circle(1e6)),
            TerrainEdit::add(Matter::Water, HERE, Brush::circle(1e6)),
            TerrainEdit::smooth(HERE, Brush::circle(30.0)),
            TerrainEdit::lower(HERE, Brush::circle(20.0)),
        ] {
            let edit = edit.with_strength(1e6).for_seconds(86_400.0);
            edit.apply(&mut terrain).expect("valid");
        }
    }
    let layers = [terrain.bedrock(), terrain.soil(), terrain.water()];
    assert!(
        layers
            .iter()
            .all(|layer| layer.iter().all(|v| v.is_finite()))
    );
    assert!(terrain.soil().iter().all(|v| *v >= 0.0));
}

fn app(millis: u64) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            millis,
        )))
        .insert_resource(flat());
    app.update();
    app
}

fn messages<M: Message + Clone>(app: &App) -> Vec<M> {
    let messages = app.world().resource::<Messages<M>>();
    messages.iter_current_update_messages().cloned().collect()
}

#[test]
fn messages_are_applied_and_answered() {
    let mut app = app(16);
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    let edit = TerrainEdit::raise(HERE, Brush::circle(5.0));
    app.world_mut().write_message(edit.clone());
    app.world_mut()
        .write_message(edit.clone().with_strength(f32::NAN));
    let late = edit.clone().at_step(0, 0);
    app.world_mut().write_message(late.clone());
    app.update();
    assert!(
        ground(app.world().resource::<Terrain>(), HERE) > 1.9,
        "paused or not"
    );
    let applied: Vec<EditApplied> = messages(&app);
    assert!(
        applied.len() == 1 && applied[0].effect.solids > 10.0,
        "{applied:?}"
    );
    let refused: Vec<EditRefused> = messages(&app);
    assert_eq!(refused.len(), 2);
    assert!(refused[0].reason.contains("strength"), "{refused:?}");
    assert!(refused[1].reason.contains("step 0"), "{refused:?}");

    app.world_mut().write_message(HistoryRequest::UNDO);
    app.update();
    assert_eq!(ground(app.world().resource::<Terrain>(), HERE), 1.0);
    app.world_mut().write_message(HistoryRequest::REDO);
    app.update();
    assert!(ground(app.world().resource::<Terrain>(), HERE) > 1.9);

    app.world_mut().remove_resource::<Terrain>();
    app.world_mut().write_message(edit);
    app.update();
    assert_eq!(messages::<EditRefused>(&app).len(), 1);
}

#[test]
fn stamped_edits_wait_for_their_step_and_order() {
    // The second in order flattens what the first has raised.
    let flatten = TerrainEdit::flatten(HERE + Vec3::Y * 1.5, Brush::circle(5.0));
    let raise = TerrainEdit::raise(HERE, Brush::circle(5.0)).with_strength(9.0);
    let brush_hard = |edit: TerrainEdit| TerrainEdit {
        brush: edit.brush.with_falloff(Falloff::Hard),
        ..edit
    };
    let flatten = brush_hard(flatten.with_strength(99.0)).at_step(40, 2);
    let raise = brush_hard(raise).at_step(40, 1);
    let mut app = app(125);
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    app.world_mut().write_message(flatten);
    app.world_mut().write_message(raise);
    app.update();
    let height = |app: &App| ground(app.world().resource::<Terrain>(), HERE);
    app.world_mut()
        .resource_mut::<Time<Erosion>>()
        .single_step(38);
    let steps = |app: &App| app.world().resource::<Time<Erosion>>().steps();
    while steps(&app) < 39 {
        assert_eq!(height(&app), 1.0);
        app.world_mut()
            .resource_mut::<Time<Erosion>>()
            .single_step(1);
        app.update();
        if steps(&app) >= 39 {
            break;
        }
    }
    while steps(&app) < 40 {
        app.world_mut()
            .resource_mut::<Time<Erosion>>()
            .single_step(1);
        app.update();
    }
    assert!((height(&app) - 1.5).abs() < 1e-4, "{}", height(&app));
}

#[test]
fn edits_mark_only_their_tiles() {
    let mut terrain = hills(2);
    let mut cursor = TerrainCursor::at(&terrain);
    let edit = TerrainEdit::raise(Vec3::new(-100.0, 0.0, -80.0), Brush::circle(10.0));
    edit.apply(&mut terrain).expect("valid");
    let changes = cursor.changes(&terrain);
    assert_eq!(changes.ground().collect::<Vec<_>>(), [UVec2::ZERO]);
    assert_eq!(changes.water().count(), 0);
}

/// A mix of everything that can be undone.
fn edits() -> Vec<TerrainEdit> {
    let brush = Brush::circle(9.0);
    let noise = EditAction::Noise {
        seed: 1,
        feature_size: 4.0,
    };
    let hard = EditAction::SetHardness { value: 0.5 };
    vec![
        TerrainEdit::raise(HERE, brush).with_strength(3.3),
        TerrainEdit::lower(HERE + Vec3::X * 5.0, brush).with_strength(2.7),
        TerrainEdit::add(Matter::Water, HERE, brush),
        TerrainEdit::lower(HERE, brush).by_hand(),
        TerrainEdit::new(noise, HERE, brush),
        TerrainEdit::smooth(HERE, brush),
        TerrainEdit::remove(Matter::Water, HERE + Vec3::Z * 4.0, brush),
        TerrainEdit::new(hard, HERE, brush),
        TerrainEdit::stamp(HeightStamp::crater(), HERE, brush),
        TerrainEdit::raise(HERE, brush).by_hand(),
    ]
}

#[test]
fn edits_can_be_written_and_read() {
    for edit in edits() {
        let text = ron::to_string(&edit).expect("written");
        assert_eq!(ron::from_str::<TerrainEdit>(&text).expect("read"), edit);
    }
    let wrong = "(size: (2, 2), values: [1.0])";
    ron::from_str::<HeightStamp>(wrong).expect_err("refused");
}

#[test]
fn sums_of_layers_follow_the_effect() {
    let mut terrain = hills(4);
    let before = sum(terrain.soil(), &terrain) + sum(terrain.bedrock(), &terrain);
    let mut gained = 0.0;
    for edit in edits() {
        gained += edit.apply(&mut terrain).expect("valid").solids;
    }
    let after = sum(terrain.soil(), &terrain) + sum(terrain.bedrock(), &terrain);
    assert!(
        (after - before - gained).abs() < 0.5,
        "{before} {after} {gained}"
    );
}

#[test]
fn edits_concern_only_the_chunks_they_come_near() {
    // Two tiles and a bit along x, so that a chunk lies between two others.
    let mut terrain = Terrain::flat(UVec2::new(193, 193), 1.0).expect("valid");
    let mut chunks = |cell: UVec2| {
        let seen = TerrainCursor::at(&terrain);
        let at = terrain.grid().cell_center(cell.x, cell.y);
        let edit = TerrainEdit::raise(at, Brush::circle(4.0));
        edit.apply(&mut terrain).expect("valid");
        let changes = seen.peek(&terrain);
        let mut chunks: Vec<usize> = changes.chunks(LayerGroup::Ground).collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    };
    assert_eq!(chunks(UVec2::splat(96)), [4]);
    assert_eq!(chunks(UVec2::new(67, 96)), [3, 4]);
    assert_eq!(chunks(UVec2::new(125, 96)), [4, 5]);
    assert_eq!(chunks(UVec2::new(64, 64)), [0, 1, 3, 4]);
    assert_eq!(chunks(UVec2::splat(192)), [8]);
    // What models change may be anywhere in a tile.
    let seen = TerrainCursor::at(&terrain);
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Soil, vec![1.0; cells])
        .expect("valid");
    let changes = seen.peek(&terrain);
    let mut all: Vec<usize> = changes.chunks(LayerGroup::Ground).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, (0..9).collect::<Vec<_>>());
}

#[test]
fn edits_that_wait_go_with_their_terrain() {
    let mut app = app(16);
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    let edit = TerrainEdit::raise(HERE, Brush::circle(5.0)).at_step(50, 0);
    app.world_mut().write_message(edit);
    app.update();
    assert!(messages::<EditRefused>(&app).is_empty());
    app.insert_resource(flat());
    app.update();
    assert_eq!(messages::<EditRefused>(&app).len(), 1);
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.single_step(60);
    while app.world().resource::<Time<Erosion>>().steps() < 60 {
        app.update();
    }
    assert_eq!(ground(app.world().resource::<Terrain>(), HERE), 1.0);
}

#[test]
fn what_does_nothing_marks_nothing() {
    let mut terrain = flat();
    let brush = Brush::circle(8.0);
    let soft = |value| TerrainEdit::new(EditAction::SetHardness { value }, HERE, brush);
    let (seen, hash) = (TerrainCursor::at(&terrain), terrain.state_hash());
    for nothing in [
        TerrainEdit::raise(HERE, brush).by_hand(),
        TerrainEdit::add(Matter::Water, HERE, brush).by_hand(),
        TerrainEdit::add(Matter::Lava, HERE, brush).by_hand(),
        TerrainEdit::remove(Matter::Water, HERE, brush),
        TerrainEdit::remove(Matter::Lava, HERE, brush),
        TerrainEdit::raise(HERE, brush).with_strength(0.0),
        TerrainEdit::raise(Vec3::Z * 1e4, brush),
        soft(0.0),
    ] {
        let effect = nothing.apply(&mut terrain).expect("valid");
        assert_eq!(effect, EditEffect::default(), "{nothing:?}");
        assert!(seen.peek(&terrain).is_empty(), "{nothing:?}");
        assert_eq!(terrain.state_hash(), hash, "{nothing:?}");
    }
    assert!(terrain.hardness().is_none());
    // Hard as it can be, the ground is not drawn anew for a brush that is held.
    for expected in [true, false] {
        let seen = TerrainCursor::at(&terrain);
        let hard = soft(0.4).with_strength(100.0);
        TerrainEdit {
            brush: brush.with_falloff(Falloff::Hard),
            ..hard
        }
        .apply(&mut terrain)
        .expect("valid");
        assert_eq!(!seen.peek(&terrain).is_empty(), expected);
    }
}

#[test]
fn a_line_across_the_land_marks_what_it_passes() {
    let mut terrain = Terrain::flat(UVec2::splat(640), 1.0).expect("valid");
    let seen = TerrainCursor::at(&terrain);
    let (from, to) = (Vec3::new(-310.0, 0.0, -310.0), Vec3::new(310.0, 0.0, 310.0));
    let line = TerrainEdit::raise(to, Brush::circle(4.0)).drawn_from(from);
    line.apply(&mut terrain).expect("valid");
    let marked: Vec<UVec2> = seen.peek(&terrain).ground().collect();
    assert!((10..=30).contains(&marked.len()), "{marked:?}");
    for (cell, _) in (0..).zip(terrain.bedrock()) {
        if terrain.ground(cell) > 0.0 {
            let tile = UVec2::new(cell as u32 % 640, cell as u32 / 640) / 64;
            assert!(marked.contains(&tile), "{tile}");
        }
    }
}

#[test]
fn a_ramp_may_lead_anywhere() {
    for (from, to) in [
        (Vec3::new(-40.0, 2.0, -30.0), Vec3::new(35.0, 9.0, 25.0)),
        (Vec3::new(10.0, 5.0, 30.0), Vec3::new(10.0, 1.0, -30.0)),
        (Vec3::new(40.0, 3.0, -10.0), Vec3::new(-30.0, 3.5, -10.0)),
    ] {
        let mut terrain = flat();
        let brush = Brush::circle(5.0).with_falloff(Falloff::Hard);
        let ramp = TerrainEdit::ramp(from, to, brush).with_strength(1e4);
        ramp.apply(&mut terrain).expect("valid");
        for part in 0..=50 {
            let at = from.lerp(to, part as f32 / 50.0);
            let height = ground(&terrain, at);
            assert!((height - at.y).abs() < 0.1, "{height} at {at}");
        }
        balanced(&terrain);
    }
}
