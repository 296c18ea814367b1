//! Necks that are broken through, and the lakes they leave.

use super::{same::state, *};
use bevy::tasks::TaskPoolBuilder;

/// A river with a loop whose neck is so wide (m).
fn omega(neck: f64) -> RiverPlain {
    RiverPlain {
        width: 768.0,
        loop_way: 700.0,
        loop_neck: neck,
        ..plain(1)
    }
}

/// Runs until a neck is broken through, at most so many steps.
fn run_to_cutoff(river: &mut River, most: usize) -> Option<Cutoff> {
    for _ in 0..most {
        run(river, 1);
        if let Some(cutoff) = river.cutoffs().first() {
            return Some(cutoff.clone());
        }
    }
    None
}

#[test]
fn a_narrow_neck_is_broken_through() {
    let mut river = omega(30.0).river(settings(1)).expect("valid");
    let solids = river.ledger().total();
    // Before the water is round the loop there is no neck.
    run(&mut river, 500);
    assert_eq!(river.cutoffs(), []);
    let cutoff = run_to_cutoff(&mut river, 4000).expect("a cut-off");
    assert!(
        cutoff.neck < 40.0 && cutoff.place.x.abs() < 60.0,
        "{cutoff:?}"
    );
    let saved = cutoff.length_before - cutoff.length_after;
    assert!((400.0..700.0).contains(&saved), "{saved} m");
    assert!(cutoff.cut > 1e3, "{} m³", cutoff.cut);

    // The bend is a lake, and no water of the stream is in it.
    assert_eq!(river.lakes().len(), 1);
    let lake = &river.lakes()[0];
    assert_eq!(lake.id, cutoff.lake);
    assert!(river.water().iter().all(|own| !lake.holds(own.position)));

    // What is more than full runs off; what stays is what the lake holds.
    run(&mut river, 900);
    let lake = &river.lakes()[0];
    let ground = river.ground();
    let area = ground.cell_size().powi(2);
    let points = lake.points(ground);
    let depths = points
        .iter()
        .map(|(p, _)| lake.level - ground.heights()[*p]);
    let filled = depths.sum::<f64>() * area;
    let volume = lake.particles as f64 * f64::from(river.settings().particle_volume);
    assert!((filled / volume - 1.0).abs() < 1e-9, "{filled} {volume}");
    assert!(points.len() > 40 && lake.level < lake.brim && lake.outlet.is_none());

    // The river takes the short way and loses none of it all.
    assert!(cutoff.length_before > 1.3 * cutoff.length_after);
    let sinuosity = river.course().expect("water").sinuosity();
    assert!(sinuosity < 1.2, "{sinuosity}");
    assert_eq!(river.water_ledger().total(), 0.0);
    assert!(
        river.water_ledger().lakes > 2e4,
        "{:?}",
        river.water_ledger()
    );
    let drift = (river.ledger().total() - solids).abs() / river.tally().cut;
    assert!(drift < 1e-9, "{drift}");
}

#[test]
fn plugs_close_the_old_bend_up_to_the_floodplain() {
    let mut river = omega(30.0).river(settings(1)).expect("valid");
    run_to_cutoff(&mut river, 4500).expect("a cut-off");
    run(&mut river, 300);
    let ground = river.ground();
    let width = ground.size().x as usize;
    let hollow = |cell: usize| ground.plain()[cell] - ground.heights()[cell] > 1.0;
    // All that is lower than the floodplain and joined with the lake.
    let [lake] = river.lakes() else {
        panic!("{} lakes", river.lakes().len());
    };
    let mut joined: Vec<usize> = lake.points(ground).iter().map(|own| own.0).collect();
    let mut met = vec![false; ground.heights().len()];
    joined.iter().for_each(|cell| met[*cell] = true);
    while let Some(cell) = joined.pop() {
        for other in [cell - 1, cell + 1, cell - width, cell + width] {
            if hollow(other) && !met[other] {
                met[other] = true;
                joined.push(other);
            }
        }
    }
    let wet = |own: &WaterParticle| met[ground.point_at(own.position)];
    assert!(
        !river.water().iter().any(wet),
        "the river runs into its lake"
    );
}

#[test]
fn gentle_bends_are_not_cut_off() {
    let plain = RiverPlain {
        amplitude: 35.0,
        wavelength: 400.0,
        ..plain(1)
    };
    let mut river = plain.river(settings(1)).expect("valid");
    run(&mut river, 6000);
    assert_eq!(river.cutoffs(), []);
    // Neither is a neck when it may not.
    let settings = MeanderingRiver {
        neck: 0.0,
        ..settings(1)
    };
    let mut river = omega(30.0).river(settings).expect("valid");
    run(&mut river, 3000);
    assert_eq!(river.cutoffs(), []);
}

#[test]
fn a_mirrored_cutoff_is_the_mirror_image_to_the_last_bit() {
    let plain = omega(30.0);
    let mirror = RiverPlain {
        loop_way: -plain.loop_way,
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
    let cutoff = run_to_cutoff(&mut river, 4500).expect("a cut-off");
    let other = run_to_cutoff(&mut image, 4500).expect("a cut-off");
    let turned = Cutoff {
        place: DVec2::new(other.place.x, -other.place.y),
        ..other
    };
    assert_eq!(cutoff, turned);
    assert_eq!(river.lakes()[0].level, image.lakes()[0].level);
    run(&mut river, 300);
    run(&mut image, 300);
    assert!(state(&river, false) == state(&image, true));
}

#[test]
fn any_number_of_threads_gives_the_same_cutoff() {
    // Many short streams beside the loop, so that the work is really split.
    let plain = RiverPlain {
        width: 1024.0,
        ..omega(30.0)
    };
    let mut first = plain.river(settings(1)).expect("valid");
    for row in 0..6 {
        let source = RiverSource {
            position: DVec2::new(-700.0, -470.0 + 56.0 * f64::from(row)),
            spread: DVec2::splat(10.0),
            velocity: DVec2::new(8.0, 0.0),
            rate: 2.0,
        };
        first.add_source(source).expect("valid");
    }
    let mut rivers: Vec<River> = vec![first; 4];
    for (river, threads) in rivers.iter_mut().zip([0, 1, 2, 7]) {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        for _ in 0..2100 {
            river.step_on(Workers::on(&pool), 0.1);
        }
    }
    assert!(
        rivers[0].water().len() > 1600,
        "{}",
        rivers[0].water().len()
    );
    assert_eq!(rivers[0].cutoffs().len(), 1);
    for other in &rivers[1..] {
        assert_eq!(rivers[0].cutoffs(), other.cutoffs());
        assert_eq!(rivers[0].lakes(), other.lakes());
        assert!(state(&rivers[0], false) == state(other, false));
    }
}

#[test]
fn a_lake_that_the_river_comes_to_again_is_drained() {
    let mut river = omega(30.0).river(settings(1)).expect("valid");
    run_to_cutoff(&mut river, 4500).expect("a cut-off");
    let lake = river.lakes()[0].clone();
    assert_eq!(lake.outlet, None);
    let middle = lake.line[lake.line.len() / 2];
    let source = RiverSource {
        position: middle,
        spread: DVec2::splat(10.0),
        velocity: DVec2::new(8.0, 0.0),
        rate: 1.0,
    };
    river.add_source(source).expect("valid");
    run(&mut river, 300);
    assert!(river.lakes()[0].outlet.is_some());
    run(&mut river, 10 * lake.particles as usize + 600);
    assert_eq!(river.lakes(), []);
    assert_eq!(river.water_ledger().lakes, 0.0);
    assert_eq!(river.water_ledger().total(), 0.0);
}
