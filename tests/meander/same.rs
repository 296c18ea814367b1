//! The same river again: by seed, by threads, in a mirror.

use super::*;
use bevy::tasks::TaskPoolBuilder;

/// Everything that a river is, in an order of its own.
pub(super) fn state(river: &River, mirrored: bool) -> (Vec<u64>, Vec<[u64; 5]>) {
    let sign = if mirrored { -1.0 } else { 1.0 };
    let width = river.ground().size().x as usize;
    let rows: Vec<&[f64]> = river.ground().heights().chunks(width).collect();
    let heights = |row: &&[f64]| row.iter().map(|h| h.to_bits()).collect::<Vec<u64>>();
    let heights: Vec<u64> = if mirrored {
        rows.iter().rev().flat_map(heights).collect()
    } else {
        rows.iter().flat_map(heights).collect()
    };
    // Adding zero makes the sign of zero the same.
    let bits = |value: f64| (value + 0.0).to_bits();
    let mut water: Vec<[u64; 5]> = river
        .water()
        .iter()
        .map(|w| {
            let (x, y) = (w.position.x, sign * w.position.y);
            let (u, v) = (w.velocity.x, sign * w.velocity.y);
            [w.id, bits(x), bits(y), bits(u), bits(v)]
        })
        .collect();
    water.sort_unstable();
    (heights, water)
}

#[test]
fn a_seed_gives_the_same_river_and_another_seed_another() {
    let grown = |seed| {
        let mut river = plain(1).river(settings(seed)).expect("valid");
        run(&mut river, 600);
        state(&river, false)
    };
    assert!(grown(5) == grown(5));
    assert!(grown(5) != grown(6));
}

#[test]
fn any_number_of_threads_gives_the_same_river() {
    // Many short streams, so that the work is really split.
    let settings = settings(1);
    let plain = RiverPlain {
        waviness: 8.0,
        rate: 0.0,
        ..plain(2)
    };
    let mut first = plain.river(settings).expect("valid");
    for row in -6..=6 {
        let source = RiverSource {
            position: DVec2::new(-700.0, f64::from(row) * 35.0),
            spread: DVec2::splat(10.0),
            velocity: DVec2::new(8.0, 0.0),
            rate: 2.0,
        };
        first.add_source(source).expect("valid");
    }
    let mut rivers: Vec<River> = vec![first; 3];
    for (river, threads) in rivers.iter_mut().zip([0, 1, 5]) {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        for _ in 0..1100 {
            river.step_on(Workers::on(&pool), 0.1);
        }
    }
    assert!(
        rivers[0].water().len() > 1600,
        "{}",
        rivers[0].water().len()
    );
    assert!(rivers[0].tally().cut > 0.0);
    let one = state(&rivers[0], false);
    assert!(one == state(&rivers[1], false));
    assert!(one == state(&rivers[2], false));
}

#[test]
fn a_mirrored_river_is_the_mirror_image_to_the_last_bit() {
    let plain = RiverPlain {
        amplitude: 15.0,
        ..plain(0)
    };
    let mirror = RiverPlain {
        amplitude: -15.0,
        spread: -plain.spread,
        ..plain.clone()
    };
    let settings = settings(3);
    let mirrored = MeanderingRiver {
        coriolis: -settings.coriolis,
        ..settings.clone()
    };
    let mut river = plain.river(settings).expect("valid");
    let mut image = mirror.river(mirrored).expect("valid");
    assert!(state(&river, false) == state(&image, true), "at the start");
    for step in 0..20 {
        run(&mut river, 100);
        run(&mut image, 100);
        assert!(state(&river, false) == state(&image, true), "{step}");
    }
    assert!(river.tally().cut > 1e4);
}
