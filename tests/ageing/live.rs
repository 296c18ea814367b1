//! Beside other models: in slices, saved in the middle, back and forth in time.

use super::{aged, hills, relief};
use bevy_erode::{
    models::ageing::{AgeTimeline, Ageing, AgeingSolver, TimelineError, Uplift},
    prelude::*,
};

/// 2500 years in ten steps.
const STEP: f32 = 0.1;

fn settings() -> Ageing {
    Ageing {
        years_per_second: 2500.0,
        ..Ageing::default().with_uplift(Uplift::Keep {
            share: 0.9,
            years: 20_000.0,
        })
    }
}

#[test]
fn slices_give_what_a_step_at_once_gives() {
    let land = hills(100, 10.0, 300.0, 3);
    let mut sliced = land.clone();
    let mut solver = AgeingSolver::new(settings(), land.grid()).expect("valid");
    let unchanged = land.state_hash();
    for step in 1..=40 {
        solver.step(&mut sliced, STEP);
        if step < 9 {
            // Nothing is applied before the years are over.
            assert_eq!(sliced.state_hash(), unchanged);
        }
    }
    solver.step(&mut sliced, STEP);
    assert_eq!(solver.years(), 10_000.0);
    let at_once = aged(land, &settings(), 10_000.0);
    assert_eq!(sliced.state_hash(), at_once.state_hash());
}

#[test]
fn what_others_do_meanwhile_stays() {
    let land = hills(64, 10.0, 200.0, 4)
        .with_soil_depth(1.0)
        .expect("valid");
    let mut solver = AgeingSolver::new(settings(), land.grid()).expect("valid");
    let (mut left_alone, mut dug) = (land.clone(), land);
    let mut other = solver.clone();
    for step in 0..12 {
        if step == 5 {
            // A player takes all soil of a corner away, and some rock.
            let mut bedrock = dug.bedrock().to_vec();
            let mut soil = dug.soil().to_vec();
            (0..8).for_each(|cell| (bedrock[cell], soil[cell]) = (bedrock[cell] - 3.0, 0.0));
            dug.set_layer(Layer::Bedrock, bedrock).expect("valid");
            dug.set_layer(Layer::Soil, soil).expect("valid");
        }
        solver.step(&mut left_alone, STEP);
        other.step(&mut dug, STEP);
    }
    for cell in 0..64 {
        let expected = if cell < 8 { -4.0 } else { 0.0 };
        let difference = dug.ground(cell) - left_alone.ground(cell);
        assert!((difference - expected).abs() < 1e-3, "{cell}: {difference}");
    }
    assert!(dug.ledger().solids.drift_of_total().abs() < 1e-9);
}

#[test]
fn a_saved_step_goes_on() {
    let land = hills(80, 10.0, 300.0, 5);
    let mut through = land.clone();
    let mut solver = AgeingSolver::new(settings(), land.grid()).expect("valid");
    for _ in 0..26 {
        solver.step(&mut through, STEP);
    }
    // In the middle of the third step, and right between two.
    for more in [0, 4] {
        for _ in 0..more {
            solver.step(&mut through, STEP);
        }
        let state = solver.save_state(&through);
        let mut loaded = AgeingSolver::new(settings(), land.grid()).expect("valid");
        loaded.load_state(&state, &through).expect("its own state");
        let mut on = through.clone();
        let mut original = solver.clone();
        let mut straight = through.clone();
        for _ in 0..25 {
            original.step(&mut straight, STEP);
            loaded.step(&mut on, STEP);
        }
        assert_eq!(on.state_hash(), straight.state_hash());
        // A damaged one changes nothing.
        let mut other = AgeingSolver::new(settings(), land.grid()).expect("valid");
        assert!(
            other
                .load_state(&state[..state.len() - 3], &through)
                .is_err()
        );
        assert_eq!(other.years(), 0.0);
    }
}

#[test]
fn lakes_are_filled_if_asked_for() {
    // A bowl in a plain.
    let mut land = Terrain::flat(bevy::math::UVec2::splat(40), 10.0).expect("valid");
    let bowl = |cell: usize| {
        let (x, y) = ((cell % 40) as f32 - 20.0, (cell / 40) as f32 - 20.0);
        ((x * x + y * y).sqrt() - 10.0).min(0.0)
    };
    land.set_layer(Layer::Bedrock, (0..1600).map(bowl).collect())
        .expect("valid");
    let settings = Ageing {
        breach: false,
        fill_lakes: true,
        creep: 0.0,
        ..Ageing::default()
    };
    let old = aged(land.clone(), &settings, 2500.0);
    let middle = 20 * 40 + 20;
    assert!(
        (old.water()[middle] - 10.0).abs() < 1.0,
        "{}",
        old.water()[middle]
    );
    let water = old.ledger().water;
    assert!(water.poured > 0.0 && water.drift().abs() < 1e-6 * water.poured);
    let dry = aged(
        land,
        &Ageing {
            fill_lakes: false,
            ..settings
        },
        2500.0,
    );
    assert!(dry.water().iter().all(|depth| *depth == 0.0));
}

#[test]
fn a_timeline_goes_back_and_forth() {
    let land = hills(64, 10.0, 300.0, 6);
    let mut old = land.clone();
    let mut solver = AgeingSolver::new(Ageing::default(), land.grid()).expect("valid");
    // Room for five.
    let mut timeline = AgeTimeline::with_budget(5 * 64 * 64 * 12);
    assert_eq!(timeline.show(&mut old, 0.0), Err(TimelineError::Empty));
    timeline.record(&land, 0.0);
    let mut hashes = vec![(0.0, land.state_hash())];
    for _ in 0..20 {
        solver.age(&mut old, 2500.0);
        timeline.record(&old, solver.years());
        hashes.push((solver.years(), old.state_hash()));
        assert!(timeline.bytes() <= timeline.budget);
    }
    let ages: Vec<f64> = timeline.ages().collect();
    assert!(
        ages.len() == 5 && ages[0] == 0.0 && ages[4] == 50_000.0,
        "{ages:?}"
    );
    let mut shown = old.clone();
    for &(age, hash) in hashes.iter().filter(|(age, _)| ages.contains(age)) {
        timeline.show(&mut shown, age).expect("recorded");
        assert_eq!(shown.state_hash(), hash, "{age} years");
    }
    // Between snapshots it lies between them.
    timeline
        .show(&mut shown, 0.5 * (ages[0] + ages[1]))
        .expect("recorded");
    let mut after = old.clone();
    timeline.show(&mut after, ages[1]).expect("recorded");
    for cell in [77, 2000, 4000] {
        let middle = 0.5 * (land.ground(cell) + after.ground(cell));
        assert!((shown.ground(cell) - middle).abs() < 1e-3);
    }
    assert!(shown.ledger().solids.drift_of_total().abs() < 1e-9);
    let mut other = hills(32, 10.0, 1.0, 1);
    let error = timeline.show(&mut other, 0.0).unwrap_err().to_string();
    assert!(
        error.contains("64 × 64") && error.contains("32 × 32"),
        "{error}"
    );
    assert!(relief(&old) > 0.0);
}
