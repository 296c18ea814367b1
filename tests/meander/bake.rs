//! Rivers ahead of time.

use super::*;
use bevy_erode::bake::{BakeError, BakeProgress, RiverBake, RiverTask};

fn river() -> River {
    let plain = RiverPlain {
        waviness: 8.0,
        ..plain(2)
    };
    plain.river(settings(2)).expect("valid")
}

#[test]
fn a_baked_river_is_the_one_that_ran_by_hand() {
    let mut by_hand = river();
    run(&mut by_hand, 200);
    let progress = BakeProgress::default();
    let baked = RiverBake::new(river(), 200).run(&progress).expect("baked");
    assert_eq!(progress.done(), 1.0);
    assert_eq!(baked.water(), by_hand.water());
    assert_eq!(baked.ground(), by_hand.ground());
    let wrong = RiverBake::new(river(), 1).with_step(f64::NAN);
    let error = wrong.run(&progress).expect_err("no step");
    assert!(matches!(error, BakeError::Settings(_)), "{error}");
}

#[test]
fn a_river_grows_in_the_background_and_can_be_cancelled() {
    let wait = |mut task: RiverTask<GridGround>| loop {
        if let Some(result) = task.finished() {
            assert!(task.finished().is_none(), "it ends once");
            break result;
        }
        std::thread::yield_now();
    };
    let grown = wait(RiverTask::start(RiverBake::new(river(), 100))).expect("grown");
    assert!((grown.time() - 10.0).abs() < 1e-9);
    let task = RiverTask::start(RiverBake::new(river(), u64::MAX));
    task.cancel();
    let error = wait(task).expect_err("cancelled");
    assert_eq!(error, BakeError::Cancelled);
}
