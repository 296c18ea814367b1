//! The height grid under a river, and where the solids go.

use super::*;
use bevy::math::UVec2;

/// Steps of a metre each, along x.
fn stairs() -> GridGround {
    let heights = (0..16 * 9).map(|cell| f64::from(cell % 16)).collect();
    GridGround::new(UVec2::new(16, 9), 4.0, heights).expect("valid")
}

fn sideways(point: usize, x: f64, y: f64) -> Cut {
    Cut {
        point,
        sideways: DVec2::new(x, y),
        down: 0.0,
        floor: f64::NEG_INFINITY,
    }
}

#[test]
fn grounds_that_cannot_be_are_refused() {
    let huge = RiverPlain {
        length: 1e6,
        width: 1e6,
        cell_size: 1.0,
        ..RiverPlain::default()
    };
    let error = huge.ground().expect_err("too many cells");
    assert_eq!(error, GroundError::Size(UVec2::splat(1_000_000)));
    let size = UVec2::new(3, 2);
    let new = |size, cell, heights| GridGround::new(size, cell, heights);
    let error = new(UVec2::new(0, 2), 1.0, vec![]).expect_err("empty");
    assert_eq!(error, GroundError::Size(UVec2::new(0, 2)));
    assert_eq!(new(size, 0.0, vec![0.0; 6]), Err(GroundError::CellSize));
    let error = new(size, 1.0, vec![0.0; 5]);
    assert_eq!(
        error,
        Err(GroundError::Length {
            what: "heights",
            found: 5,
            expected: 6
        })
    );
    let error = new(size, 1.0, vec![f64::NAN; 6]);
    assert_eq!(
        error,
        Err(GroundError::Value {
            what: "heights",
            index: 0
        })
    );
    let ground = new(size, 1.0, vec![0.0; 6]).expect("valid");
    let error = ground.clone().with_hardness(vec![0.0; 6]);
    assert_eq!(
        error,
        Err(GroundError::Value {
            what: "hardness",
            index: 0
        })
    );
    let error = ground.with_plain(vec![0.0; 7]);
    assert_eq!(
        error,
        Err(GroundError::Length {
            what: "floodplain",
            found: 7,
            expected: 6
        })
    );
}

#[test]
fn heights_and_slopes_are_those_of_the_cells() {
    let ground = stairs();
    let at = ground.center(16 * 4 + 5);
    assert_eq!(ground.point_at(at), 16 * 4 + 5);
    let between = ground.surface(at + DVec2::new(1.0, 0.5));
    assert!((between.height - 5.25).abs() < 1e-12);
    assert_eq!(between.slope, DVec2::new(0.25, 0.0));
    // One cell alone is flat everywhere.
    let one = GridGround::new(UVec2::ONE, 2.0, vec![3.0]).expect("valid");
    let far = one.surface(DVec2::new(100.0, -7.0));
    assert_eq!((far.height, far.slope), (3.0, DVec2::ZERO));
}

#[test]
fn a_bank_moves_back_at_the_speed_of_the_cut_whatever_its_height() {
    let settings = MeanderingRiver::default();
    for height in [1.0, 8.0] {
        let bank = |cell: usize| if cell % 16 < 8 { 0.0 } else { height };
        let heights = (0..16 * 3).map(bank).collect();
        let ground = GridGround::new(UVec2::new(16, 3), 4.0, heights).expect("valid");
        // A metre of a bank four metres on from the last one: a quarter of it.
        let volume = ground.cut_volume(&settings, &sideways(16 + 8, 1.0, 0.0));
        assert_eq!(volume, 0.25 * height * 16.0);
        // Away from the bank, along it, and behind it there is nothing to take.
        for cut in [
            sideways(16 + 8, -1.0, 0.0),
            sideways(16 + 8, 0.0, 1.0),
            sideways(16 + 9, 1.0, 0.0),
        ] {
            assert_eq!(ground.cut_volume(&settings, &cut), 0.0);
        }
        let two_points = MeanderingRiver::as_published();
        let volume = ground.cut_volume(&two_points, &sideways(16 + 8, 0.25, 0.0));
        assert_eq!(
            volume,
            0.25 * 16.0,
            "the paper's rule takes the same of all"
        );
    }
}

#[test]
fn what_is_cut_and_laid_is_what_the_ground_loses_and_gains() {
    for settings in [MeanderingRiver::default(), MeanderingRiver::as_published()] {
        let mut ground = stairs();
        let before = ground.solids();
        let cut = Cut {
            down: 0.3,
            floor: -1.0,
            ..sideways(16 * 4 + 5, 0.5, 0.25)
        };
        let volume = ground.cut_volume(&settings, &cut);
        ground.take(&settings, &cut, 0.5 * volume);
        assert!((before - ground.solids() - 0.5 * volume).abs() < 1e-9);
        ground.lay(3, 7.0);
        assert!((before - ground.solids() - 0.5 * volume + 7.0).abs() < 1e-9);
        assert!((ground.soft()[3] - 7.0 / 16.0).abs() < 1e-12);
    }
    let mut low = Cut {
        down: 5.0,
        floor: 4.0,
        ..sideways(16 * 4 + 5, 0.0, 0.0)
    };
    let settings = MeanderingRiver::default();
    assert_eq!(stairs().cut_volume(&settings, &low), 16.0);
    low.floor = 6.0;
    assert_eq!(stairs().cut_volume(&settings, &low), 0.0);
    assert_eq!(stairs().room(16 * 4 + 5, 7.5), 2.5 * 16.0);
    assert_eq!(stairs().room(16 * 4 + 5, 2.0), 0.0);
}

#[test]
fn soft_deposits_are_cut_faster_until_they_harden_and_hard_rock_slower() {
    let settings = MeanderingRiver::default();
    let cells = 16 * 9;
    let mut ground = stairs().with_hardness(vec![4.0; cells]).expect("valid");
    assert_eq!(ground.softness(&settings, 20), 0.25);
    ground.lay(20, 1.6);
    assert_eq!(ground.softness(&settings, 20), f64::from(settings.softness));
    let half = 2f64.ln() / f64::from(settings.hardening);
    ground.settle(&Workers::serial(), &settings, half);
    assert!(
        (ground.soft()[20] - 0.05).abs() < 1e-6,
        "{}",
        ground.soft()[20]
    );
}

#[test]
fn steep_banks_cave_in_and_nothing_is_lost() {
    let settings = MeanderingRiver::default();
    let mut ground = stairs();
    let tower = 16 * 4 + 7;
    let before = ground.solids();
    ground.lay(tower, 40.0 * 16.0);
    for _ in 0..3000 {
        ground.settle(&Workers::serial(), &settings, 1.0);
    }
    assert!((ground.solids() - before - 40.0 * 16.0).abs() < 1e-8);
    let talus = f64::from(settings.talus);
    let steepest = (0..16 * 9).filter(|cell| cell % 16 < 15);
    let steepest = steepest.map(|cell| (ground.heights()[cell] - ground.heights()[cell + 1]).abs());
    let steepest = steepest.fold(0.0, f64::max) / 4.0;
    assert!(
        steepest < talus + 0.02 && steepest > 0.9 * talus,
        "{steepest}"
    );
}

#[test]
fn the_floodplain_spans_hollows_and_keeps_hills() {
    let ground = plain(3).ground().expect("valid");
    let found = ground.clone().with_plain_over_hollows(40.0);
    let size = ground.size();
    for cell in 0..found.plain().len() {
        let column = cell as u32 % size.x;
        // The lower end has nothing beyond it to be level with.
        if (16..size.x - 16).contains(&column) {
            let off = found.plain()[cell] - ground.plain()[cell];
            assert!(off.abs() < 1e-9, "cell {cell}: {off}");
        }
    }
}

#[test]
fn no_solids_are_lost() {
    for (settings, bar) in [(settings(4), 1e-9), (MeanderingRiver::as_published(), 1e-9)] {
        let mut river = RiverPlain {
            waviness: 8.0,
            ..plain(4)
        }
        .river(settings)
        .expect("valid");
        let total = river.ledger().total();
        run(&mut river, 4000);
        let (ledger, moved) = (river.ledger(), river.tally().cut);
        assert!(moved > 1e4 && ledger.carried > 0.0 && ledger.left > 0.0);
        let drift = (ledger.total() - total).abs();
        assert!(drift / moved < bar, "{drift} of {moved}");
        let end = river.into_ground().solids() + ledger.left - ledger.fed;
        assert!((end - total).abs() / moved < bar);
    }
}
