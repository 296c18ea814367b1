//! Undo and redo of edits while the simulation goes on.

use super::*;
use bevy_erode::{
    forcing::edits::{EditStep, HistoryApplied, HistoryRefused},
    models::thermal::ThermalSolver,
};

#[test]
fn undo_and_redo_restore_every_bit() {
    let mut terrain = hills(8).with_soil_depth(0.7).expect("valid");
    let mut history = TerrainHistory::default();
    let mut hashes = vec![terrain.state_hash()];
    for edit in edits() {
        history.apply(&edit, &mut terrain).expect("valid");
        hashes.push(terrain.state_hash());
        balanced(&terrain);
    }
    for round in 0..2 {
        for expected in hashes.iter().rev().skip(1) {
            assert!(history.undo(&mut terrain));
            assert_eq!(terrain.state_hash(), *expected, "round {round}");
            balanced(&terrain);
        }
        assert!(!history.undo(&mut terrain));
        for expected in hashes.iter().skip(1) {
            assert!(history.redo(&mut terrain));
            assert_eq!(terrain.state_hash(), *expected, "round {round}");
        }
        assert!(!history.redo(&mut terrain));
    }
    assert!(terrain.ledger().solids.carried >= 0.0);
    // A new edit leaves nothing to redo.
    history.undo(&mut terrain);
    history.apply(&edits()[0], &mut terrain).expect("valid");
    assert_eq!(history.redo_count(), 0);
}

#[test]
fn strokes_are_undone_at_once() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let before = terrain.state_hash();
    for step in 0..20 {
        let at = HERE + Vec3::X * step as f32;
        let edit = TerrainEdit::raise(at, Brush::circle(6.0)).in_stroke(7);
        history.apply(&edit, &mut terrain).expect("valid");
    }
    assert_eq!(history.undo_count(), 1);
    history.undo(&mut terrain);
    assert_eq!(terrain.state_hash(), before);
}

#[test]
fn undo_leaves_what_the_simulation_did() {
    // The same rain of droplets on a land that was edited and undone, and on
    // one that was not, far from the edit: equal. At the edit: the hill is gone.
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let edit = TerrainEdit::raise(HERE, Brush::circle(10.0)).with_strength(5.0);
    let mut stroke = 0.0;
    let mut solver = ThermalSolver::new(Thermal::default(), terrain.grid()).expect("valid");
    for _ in 0..30 {
        let part = edit.clone().for_seconds(1.0 / 30.0).in_stroke(1);
        stroke += history.apply(&part, &mut terrain).expect("valid").solids;
        solver.step(&mut terrain, 0.1);
    }
    let settled = terrain.ground_heights();
    let hill = ground(&terrain, HERE) - 1.0;
    assert!(hill > 3.0, "{hill}");
    let worn = eroded_below(&terrain);
    assert!(history.undo(&mut terrain));
    balanced(&terrain);
    // The hill's volume is gone, as far as it was still there.
    let gone: f64 = settled
        .iter()
        .enumerate()
        .map(|(i, old)| f64::from(old - terrain.ground(i)))
        .sum::<f64>()
        * terrain.grid().cell_area();
    assert!(
        gone > 0.6 * stroke && gone <= stroke * 1.001,
        "{gone} {stroke}"
    );
    assert!(terrain.soil().iter().all(|v| *v >= 0.0));
    assert!(eroded_below(&terrain) >= worn);
    assert!(history.redo(&mut terrain));
    let back = terrain.ground_heights();
    let most = back.iter().zip(&settled).map(|(a, b)| (a - b).abs());
    assert!(
        most.fold(0.0, f32::max) < 1e-5,
        "redo brings the settled hill back"
    );
}

fn eroded_below(terrain: &Terrain) -> usize {
    (0..terrain.grid().cells())
        .filter(|&i| terrain.ground(i) < 1.0 - 1e-4)
        .count()
}

#[test]
fn history_stays_within_its_limit() {
    let mut terrain = hills(1);
    let limit = 3 << 20;
    let mut history = TerrainHistory::with_limit(limit);
    for i in 0..100 {
        let at = Vec3::new(i as f32, 0.0, 0.0);
        let edit = TerrainEdit::raise(at, Brush::circle(15.0));
        history.apply(&edit, &mut terrain).expect("valid");
        assert!(history.bytes() <= limit);
    }
    assert!(
        (3..100).contains(&history.undo_count()),
        "{}",
        history.undo_count()
    );
    let mut none = TerrainHistory::with_limit(0);
    none.apply(&edits()[0], &mut terrain).expect("valid");
    assert!(!none.undo(&mut terrain));
    // Another terrain has another history.
    let mut other = hills(2);
    assert!(!history.undo(&mut other));
}

#[test]
fn undo_of_a_washed_out_stroke_leaves_no_less_than_nothing() {
    // Between two edits of a stroke all that the first brought is taken away.
    for (layer, matter) in [(Layer::Soil, Matter::Soil), (Layer::Water, Matter::Water)] {
        let mut terrain = Terrain::flat(UVec2::splat(70), 1.0).expect("valid");
        let cells = terrain.grid().cells();
        let mut history = TerrainHistory::default();
        let edit = TerrainEdit::add(matter, Vec3::ZERO, Brush::circle(9.0)).in_stroke(4);
        history.apply(&edit, &mut terrain).expect("valid");
        terrain.set_layer(layer, vec![0.0; cells]).expect("valid");
        history.apply(&edit, &mut terrain).expect("valid");
        assert!(history.undo(&mut terrain));
        let left = [terrain.soil(), terrain.water()];
        assert!(left.iter().all(|layer| layer.iter().all(|v| *v == 0.0)));
        balanced(&terrain);
    }
}

#[test]
fn a_stroke_leaves_cells_alone_that_it_never_touched() {
    let mut terrain = hills(9);
    let mut history = TerrainHistory::default();
    let cells = terrain.grid().cells();
    let edit = TerrainEdit::raise(Vec3::new(-60.0, 0.0, -40.0), Brush::circle(8.0)).in_stroke(2);
    for round in 1..5 {
        history.apply(&edit, &mut terrain).expect("valid");
        // As models do: all cells change a little.
        let soil = (0..cells).map(|i| (i % 7) as f32 * 0.013 * round as f32);
        terrain
            .set_layer(Layer::Soil, soil.collect())
            .expect("valid");
    }
    history.apply(&edit, &mut terrain).expect("valid");
    let far = |terrain: &Terrain| -> Vec<u32> {
        let cells = (0..40u32).map(|x| terrain.grid().index(x, 60));
        cells.map(|i| terrain.soil()[i].to_bits()).collect()
    };
    let before = far(&terrain);
    assert!(history.undo(&mut terrain));
    assert_eq!(far(&terrain), before);
}

#[test]
fn a_stroke_that_moved_on_is_undone_as_a_whole() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let before = ground(&terrain, HERE);
    let path = [HERE, HERE + Vec3::X * 9.0, HERE + Vec3::X * 18.0];
    for (number, at) in (1u8..).zip(path) {
        let edit = TerrainEdit::raise(at, Brush::circle(4.0)).in_stroke(3);
        history.apply(&edit, &mut terrain).expect("valid");
        // As models do: a deposit everywhere, on the new hills too.
        let soil = terrain.soil().iter().map(|soil| soil + 0.25).collect();
        terrain.set_layer(Layer::Soil, soil).expect("valid");
        let hill = ground(&terrain, at) - before - 0.25 * f32::from(number);
        assert!(hill > 0.5, "{hill} at {at}");
    }
    assert!(history.undo(&mut terrain));
    for at in path {
        let deposit = ground(&terrain, at) - before;
        assert!((deposit - 0.75).abs() < 1e-5, "{deposit} at {at}");
    }
}

#[test]
fn what_changes_nothing_is_not_remembered() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let edit = TerrainEdit::raise(HERE, Brush::circle(5.0));
    history.apply(&edit, &mut terrain).expect("valid");
    history.undo(&mut terrain);
    for nothing in [
        TerrainEdit::raise(Vec3::X * 1e5, Brush::circle(5.0)),
        edit.clone().for_seconds(0.0),
        edit.clone().by_hand(),
    ] {
        history.apply(&nothing, &mut terrain).expect("valid");
        assert_eq!((history.undo_count(), history.redo_count()), (0, 1));
    }
    // One that is larger than the history is applied, and cannot be undone.
    let mut small = TerrainHistory::with_limit(1 << 10);
    small.apply(&edit, &mut terrain).expect("valid");
    assert!(ground(&terrain, HERE) > 1.9 && small.undo_count() == 0);
}

#[test]
fn strokes_of_two_players_are_told_apart() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let before = terrain.state_hash();
    let there = HERE + Vec3::X * 8.0;
    let mut only_first = flat();
    for part in 0..10 {
        let along = Vec3::Z * part as f32;
        let first = TerrainEdit::raise(HERE + along, Brush::circle(6.0)).in_stroke(1);
        let second = TerrainEdit::lower(there + along, Brush::circle(6.0)).in_stroke(2);
        first.apply(&mut only_first).expect("valid");
        for edit in [first, second] {
            history.apply(&edit, &mut terrain).expect("valid");
        }
    }
    assert_eq!(history.undo_count(), 2, "a stroke each");
    // The second began last, so it goes first, and leaves what the first did.
    assert!(history.undo(&mut terrain));
    for (cell, wanted) in only_first.ground_heights().iter().enumerate() {
        let height = terrain.ground(cell);
        assert!((height - wanted).abs() < 1e-4, "{height} for {wanted}");
    }
    balanced(&terrain);
    assert!(history.undo(&mut terrain));
    let flat = flat();
    for cell in 0..terrain.grid().cells() {
        assert!((terrain.ground(cell) - flat.ground(cell)).abs() < 1e-4);
    }
    balanced(&terrain);
    assert!(history.redo(&mut terrain) && history.redo(&mut terrain));
    assert_ne!(terrain.state_hash(), before);
}

#[test]
fn a_stroke_that_is_too_long_is_not_undone_by_half() {
    let mut terrain = Terrain::flat(UVec2::splat(512), 1.0).expect("valid");
    // Room for some tiles of ground, not for all along the stroke.
    let mut history = TerrainHistory::with_limit(1 << 20);
    let small = TerrainEdit::raise(Vec3::X * 200.0, Brush::circle(3.0));
    history.apply(&small, &mut terrain).expect("valid");
    let mut longest = 0;
    for part in 0..60 {
        let at = Vec3::new(part as f32 * 8.0 - 240.0, 0.0, part as f32 * 8.0 - 240.0);
        let edit = TerrainEdit::raise(at, Brush::circle(10.0)).in_stroke(5);
        history.apply(&edit, &mut terrain).expect("valid");
        longest = history.bytes().max(longest);
        assert!(history.bytes() <= 1 << 20);
        // Another player's edits between them change nothing of it.
        let other = TerrainEdit::lower(Vec3::Z * 200.0, Brush::circle(3.0));
        history.apply(&other, &mut terrain).expect("valid");
        assert!(history.undo(&mut terrain));
    }
    assert!(longest > 1 << 19, "{longest}: the limit was never met");
    // Neither its end nor anything before it.
    assert_eq!(history.undo_count(), 0);
    let whole = terrain.state_hash();
    assert!(!history.undo(&mut terrain));
    assert_eq!(terrain.state_hash(), whole);
    // What comes after it can be undone.
    history.apply(&small, &mut terrain).expect("valid");
    assert!(history.undo(&mut terrain));
    assert_eq!(terrain.state_hash(), whole);
}

#[test]
fn a_hand_gets_back_what_it_gave_as_far_as_it_is_there() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let brush = Brush::circle(6.0);
    for edit in [
        TerrainEdit::lower(HERE, brush).by_hand(),
        TerrainEdit::raise(HERE + Vec3::X * 20.0, brush).by_hand(),
    ] {
        history.apply(&edit, &mut terrain).expect("valid");
    }
    // All that was filled in is washed away before the undo.
    let carried = terrain.ledger().solids.carried;
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Soil, vec![0.0; cells])
        .expect("valid");
    assert!(history.undo(&mut terrain));
    balanced(&terrain);
    let now = terrain.ledger().solids.carried;
    assert!(
        (now - carried).abs() < 1e-6,
        "{now} m³ in the hand, out of {carried} and nothing"
    );
}

fn ask(app: &mut App, request: HistoryRequest) -> (usize, Vec<String>) {
    app.world_mut().write_message(request);
    app.update();
    let refused = messages::<HistoryRefused>(app);
    assert!(refused.iter().all(|refused| refused.request == request));
    let applied = messages::<HistoryApplied>(app);
    assert!(applied.iter().all(|applied| applied.request == request));
    let reasons = refused.into_iter().map(|refused| refused.reason);
    (applied.len(), reasons.collect())
}

#[test]
fn requests_are_answered() {
    let mut app = app(16);
    app.world_mut().resource_mut::<Time<Erosion>>().pause();
    let (done, reasons) = ask(&mut app, HistoryRequest::UNDO);
    assert!(done == 0 && reasons == ["nothing to undo"]);
    let edit = TerrainEdit::raise(HERE, Brush::circle(5.0));
    app.world_mut().write_message(edit.clone());
    app.update();
    assert_eq!(ask(&mut app, HistoryRequest::UNDO), (1, vec![]));
    assert_eq!(ask(&mut app, HistoryRequest::REDO), (1, vec![]));
    let (done, reasons) = ask(&mut app, HistoryRequest::REDO);
    assert!(done == 0 && reasons == ["nothing to redo"]);

    let undo_at = |step| HistoryRequest::Undo {
        at_step: Some(EditStep { step, order: 0 }),
    };
    let (done, reasons) = ask(&mut app, undo_at(0));
    assert!(done == 0 && reasons[0].contains("step 0"), "{reasons:?}");

    // One that waits is answered in its step, or when its terrain goes.
    assert_eq!(ask(&mut app, undo_at(5)), (0, vec![]));
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.single_step(5);
    let mut answered = Vec::new();
    while app.world().resource::<Time<Erosion>>().steps() < 5 {
        app.update();
        answered.extend(messages::<HistoryApplied>(&app));
    }
    let undone = HistoryApplied {
        request: undo_at(5),
        step: answered.first().map_or(0, |answer| answer.step),
    };
    assert_eq!(answered, [undone]);
    assert!((4..=5).contains(&undone.step), "{undone:?}");

    assert_eq!(ask(&mut app, undo_at(99)), (0, vec![]));
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    let refused = messages::<HistoryRefused>(&app);
    assert!(refused.len() == 1 && refused[0].reason.contains("removed"));
    let (done, reasons) = ask(&mut app, HistoryRequest::REDO);
    assert!(done == 0 && reasons == ["there is no `Terrain` resource"]);
    let history = app.world().resource::<TerrainHistory>();
    assert_eq!(history.bytes(), 0, "its memory goes with its terrain");
}

#[test]
fn one_stroke_may_change_everything() {
    let at = Vec3::new(0.5, 0.0, -0.5);
    let brush = Brush::circle(7.0);
    let hard = EditAction::SetHardness { value: 0.7 };
    let parts = [
        TerrainEdit::raise(at, brush),
        TerrainEdit::add(Matter::Water, at, brush),
        TerrainEdit::new(hard, at, brush),
        TerrainEdit::add(Matter::Lava, at, brush),
        TerrainEdit::lower(at, brush),
    ];
    let stroke = TerrainEdit::new_stroke();
    assert_ne!(stroke, TerrainEdit::new_stroke());
    // Over the corner of four tiles, with room for all of it and with too little.
    for (limit, kept) in [(64 << 20, 1), (600_000, 0)] {
        let mut terrain = Terrain::flat(UVec2::splat(128), 1.0).expect("valid");
        let mut history = TerrainHistory::with_limit(limit);
        let before = terrain.state_hash();
        for edit in parts.clone() {
            history
                .apply(&edit.in_stroke(stroke), &mut terrain)
                .expect("valid");
            assert!(history.bytes() <= limit);
        }
        let after = terrain.state_hash();
        assert_eq!(history.undo_count(), kept);
        assert_eq!(history.undo(&mut terrain), kept == 1);
        if kept == 1 {
            assert_eq!(terrain.state_hash(), before);
            assert!(history.redo(&mut terrain));
        }
        assert_eq!(terrain.state_hash(), after);
        balanced(&terrain);
    }
}

#[test]
fn a_hand_that_gave_into_a_pit_gets_all_of_it_back() {
    // The pit was dug for nothing, then filled by half from the hand.
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    let brush = Brush::circle(6.0);
    let fetch = TerrainEdit::lower(HERE + Vec3::X * 25.0, brush).by_hand();
    history.apply(&fetch, &mut terrain).expect("valid");
    let carried = terrain.ledger().solids.carried;
    for edit in [
        TerrainEdit::lower(HERE, brush).with_strength(2.0),
        TerrainEdit::raise(HERE, brush).by_hand(),
    ] {
        history
            .apply(&edit.in_stroke(3), &mut terrain)
            .expect("valid");
    }
    assert!(terrain.ledger().solids.carried < 0.1 * carried);
    assert!(history.undo(&mut terrain));
    let now = terrain.ledger().solids.carried;
    assert!((now - carried).abs() < 1e-3, "{now} of {carried}");
    balanced(&terrain);
}

#[test]
fn what_is_too_large_but_does_nothing_leaves_the_history_alone() {
    let mut terrain = flat();
    let mut history = TerrainHistory::with_limit(400_000);
    let edit = TerrainEdit::raise(HERE, Brush::circle(5.0));
    history.apply(&edit, &mut terrain).expect("valid");
    for nothing in [
        TerrainEdit::raise(HERE, Brush::circle(500.0)).by_hand(),
        TerrainEdit::raise(HERE, Brush::circle(500.0)).for_seconds(0.0),
        TerrainEdit::remove(Matter::Lava, HERE, Brush::circle(500.0)),
    ] {
        history.apply(&nothing, &mut terrain).expect("valid");
        assert_eq!(history.undo_count(), 1);
    }
    let large = TerrainEdit::raise(HERE, Brush::circle(500.0));
    history.apply(&large, &mut terrain).expect("valid");
    assert_eq!(history.undo_count(), 0);
}

#[test]
fn a_long_stroke_is_one_among_single_edits() {
    let mut terrain = flat();
    let mut history = TerrainHistory::default();
    for _ in 0..40 {
        let edit = TerrainEdit::raise(HERE, Brush::circle(4.0)).in_stroke(8);
        history.apply(&edit, &mut terrain).expect("valid");
        let single = TerrainEdit::lower(HERE + Vec3::X * 20.0, Brush::circle(3.0));
        history.apply(&single, &mut terrain).expect("valid");
    }
    assert_eq!(history.undo_count(), 41);
}

#[test]
fn a_shift_empties_the_history_even_there_and_back() {
    // An edit in a tile that leaves, and one in a tile that stays.
    let (leaves, stays) = (Vec3::new(-96.0, 0.0, -96.0), Vec3::new(0.0, 0.0, -96.0));
    let edited = |at: Vec3| {
        let mut terrain = Terrain::flat(UVec2::splat(256), 1.0).expect("valid");
        let mut history = TerrainHistory::default();
        let edit = TerrainEdit::raise(at, Brush::circle(8.0)).with_strength(2.0);
        history.apply(&edit, &mut terrain).expect("valid");
        history.apply(&edit, &mut terrain).expect("valid");
        assert!(history.undo(&mut terrain));
        assert_eq!((history.undo_count(), history.redo_count()), (1, 1));
        (terrain, history)
    };
    for at in [leaves, stays] {
        for shifts in [vec![IVec2::X], vec![IVec2::X, IVec2::NEG_X]] {
            let (mut terrain, mut history) = edited(at);
            for by in &shifts {
                terrain.shift_tiles(*by, |new| new.edge).expect("valid");
            }
            let hash = terrain.state_hash();
            assert!(!history.undo(&mut terrain), "{at} {shifts:?}");
            assert!(!history.redo(&mut terrain), "{at} {shifts:?}");
            assert_eq!((history.undo_count(), history.redo_count()), (0, 0));
            assert_eq!(terrain.state_hash(), hash, "{at} {shifts:?}");
            // It goes on from there.
            let edit = TerrainEdit::raise(stays, Brush::circle(8.0));
            history.apply(&edit, &mut terrain).expect("valid");
            assert!(history.undo(&mut terrain));
            assert_eq!(terrain.state_hash(), hash);
        }
        // What does not move keeps it.
        let (mut terrain, mut history) = edited(at);
        terrain
            .shift_tiles(IVec2::ZERO, |new| new.edge)
            .expect("valid");
        terrain
            .shift_tiles(IVec2::splat(i32::MAX), |new| new.edge)
            .expect_err("too far");
        assert!(history.redo(&mut terrain));
        assert_eq!(history.undo_count(), 2);
    }
}
