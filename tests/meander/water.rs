//! Water in a channel that does not change.

use super::*;

/// Nothing is cut, nothing turns the water.
fn still_ground() -> MeanderingRiver {
    MeanderingRiver {
        erosion: 0.0,
        coriolis: 0.0,
        ..MeanderingRiver::default()
    }
}

#[test]
fn a_straight_stream_runs_and_fills_as_predicted() {
    let settings = still_ground();
    let plain = RiverPlain {
        length: 2048.0,
        ..RiverPlain::default()
    };
    let predicted = f64::from(settings.gravity) * plain.slope / f64::from(settings.drag);
    let mut river = plain.river(settings).expect("valid");
    run(&mut river, 4000);
    // Away from the ends, where it starts slower and is taken out.
    let middle = |water: &&WaterParticle| water.position.x.abs() < 512.0;
    let inside: Vec<&WaterParticle> = river.water().iter().filter(middle).collect();
    let speed = inside.iter().map(|w| w.velocity.x).sum::<f64>() / inside.len() as f64;
    assert!(
        (speed / predicted - 1.0).abs() < 0.03,
        "{speed} {predicted}"
    );
    let count = plain.rate * 1024.0 / predicted;
    let found = inside.len() as f64;
    assert!((found / count - 1.0).abs() < 0.06, "{found} {count}");
    assert!(outside(&river) == 0.0, "{}", outside(&river));
}

#[test]
fn a_stream_turns_with_the_coriolis_force() {
    // Without banks the drift's slope is coriolis/drag.
    let settings = MeanderingRiver {
        coriolis: 0.006,
        stiffness: 0.0,
        friction: Friction::Linear,
        ..still_ground()
    };
    let plain = RiverPlain {
        channel_depth: 0.0,
        spread: 0.0,
        ..plain(0)
    };
    let expected = f64::from(settings.coriolis) / f64::from(settings.drag);
    for turn in [1.0, -1.0] {
        let coriolis = settings.coriolis * turn as f32;
        let mut river = plain
            .river(MeanderingRiver {
                coriolis,
                ..settings.clone()
            })
            .expect("valid");
        run(&mut river, 1500);
        let far = |water: &&WaterParticle| water.position.x > 300.0;
        let drift = river.water().iter().filter(far);
        let drift: Vec<f64> = drift.map(|w| w.velocity.y / w.velocity.x).collect();
        let drift = turn * median(drift);
        assert!((drift / expected - 1.0).abs() < 0.05, "{drift} {expected}");
    }
}

#[test]
fn sources_and_sinks_come_move_and_go() {
    let plain = plain(0);
    let mut river =
        RiverSolver::new(still_ground(), plain.ground().expect("valid")).expect("valid");
    run(&mut river, 10);
    assert!(river.water().is_empty());
    let source = RiverSource {
        position: DVec2::new(-500.0, 0.0),
        spread: DVec2::ZERO,
        velocity: DVec2::new(8.0, 0.0),
        rate: 1.0,
    };
    let id = river.add_source(source).expect("valid");
    run(&mut river, 100);
    // Steps of 0.1 s do not add up to 10 s exactly.
    assert!((9..=10).contains(&river.water().len()));
    let moved = RiverSource {
        position: DVec2::new(400.0, 0.0),
        ..source
    };
    assert_eq!(river.set_source(id, moved), Ok(true));
    run(&mut river, 50);
    let east = river.water().iter().filter(|w| w.position.x >= 400.0);
    assert!((4..=5).contains(&east.count()));
    assert!(river.remove_source(id) && !river.remove_source(id));
    assert_eq!(river.set_source(id, moved), Ok(false));
    let before = river.water().len();
    run(&mut river, 50);
    assert_eq!(river.water().len(), before);

    let sink = RiverSink {
        position: DVec2::new(0.0, 200.0),
        half_size: DVec2::splat(10.0),
    };
    let id = river.add_sink(sink).expect("valid");
    run(&mut river, 10);
    assert_eq!(river.water().len(), before);
    let everywhere = RiverSink {
        position: DVec2::ZERO,
        half_size: DVec2::splat(5000.0),
    };
    assert_eq!(river.set_sink(id, everywhere), Ok(true));
    run(&mut river, 1);
    assert!(river.water().is_empty());
    assert!(river.remove_sink(id) && !river.remove_sink(id));

    let wrong = RiverSource {
        rate: f64::NAN,
        ..source
    };
    let error = river.add_source(wrong).expect_err("no rate");
    assert_eq!((error.model, &*error.field), ("RiverSource", "rate"));
}

#[test]
fn long_steps_are_split_and_bad_ones_do_nothing() {
    let mut river = plain(1).river(still_ground()).expect("valid");
    run(&mut river, 300);
    let before: Vec<WaterParticle> = river.water().to_vec();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        river.step_on(Workers::serial(), dt);
        assert_eq!(river.water(), before);
    }
    let longest = river.largest_step();
    assert!(longest > 0.1 && longest < 2.0, "{longest}");
    river.step_on(Workers::serial(), 20.0);
    assert!(outside(&river) == 0.0);
    let fastest = river.water().iter().map(|w| w.velocity.length());
    assert!(fastest.fold(0.0, f64::max) < 15.0);
}

#[test]
fn settings_out_of_range_name_their_field() {
    let wrong = |change: fn(&mut MeanderingRiver)| {
        let mut settings = MeanderingRiver::default();
        change(&mut settings);
        settings.check().expect_err("out of range").field
    };
    assert_eq!(wrong(|s| s.radius = 0.0), "radius");
    assert_eq!(wrong(|s| s.reach = -1.0), "reach");
    assert_eq!(wrong(|s| s.curve_start = 1.0), "curve_start");
    assert_eq!(wrong(|s| s.erosion = f32::NAN), "erosion");
    // A radius alone may change: what depends on it follows.
    for radius in [5.0, 25.0, 80.0] {
        let settings = MeanderingRiver {
            radius,
            ..MeanderingRiver::default()
        };
        assert_eq!(settings.check(), Ok(()), "{radius} m");
    }
    assert_eq!(MeanderingRiver::default().check(), Ok(()));
    assert_eq!(MeanderingRiver::as_published().check(), Ok(()));
}
