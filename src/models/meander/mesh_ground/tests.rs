//! The sheet stays whole, finds its points and keeps its volume.

use super::{
    super::{GridGround, MeanderingRiver},
    topology::{NONE, Sheet},
    *,
};
use bevy::math::UVec2;

/// Numbers from 0 to 1.
fn random(mut state: u32) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1u32 << 24)
    }
}

fn hills(cells: UVec2) -> GridGround {
    let height = |i: u32| {
        let (x, y) = (f64::from(i % cells.x), f64::from(i / cells.x));
        40.0 + 6.0 * (0.3 * x).sin() * (0.23 * y).cos() - 0.4 * x
    };
    let heights = (0..cells.x * cells.y).map(height).collect();
    GridGround::new(cells, 8.0, heights).unwrap()
}

fn mesh() -> MeshGround {
    MeshGround::from_grid(&hills(UVec2::new(61, 37)), MeshDetail::default()).unwrap()
}

#[test]
fn a_rectangle_is_a_whole_sheet() {
    for (columns, rows) in [(1, 1), (1, 5), (4, 1), (7, 6)] {
        let sheet = Sheet::rectangle(DVec2::ZERO, DVec2::new(9.0, 4.0), columns, rows);
        sheet.check().unwrap();
        assert_eq!(sheet.triangle_count(), 2 * columns * rows);
    }
}

#[test]
fn a_sheet_has_the_volume_of_its_grid() {
    let grid = hills(UVec2::new(61, 37));
    let ground = mesh();
    ground.sheet.check().unwrap();
    let (own, other) = (ground.solids(), grid.solids());
    assert!((own - other).abs() < 1e-12 * other, "{own} {other}");
    let mut unit = random(3);
    for _ in 0..500 {
        let at = DVec2::new(unit() - 0.5, unit() - 0.5) * DVec2::new(480.0, 290.0);
        let (a, b) = (ground.surface(at).height, grid.surface(at).height);
        assert!((a - b).abs() < 0.8, "{a} {b}");
    }
}

#[test]
fn a_place_is_in_the_triangle_found_for_it() {
    let ground = mesh();
    let mut unit = random(5);
    for _ in 0..2000 {
        let at = DVec2::new(unit() - 0.5, unit() - 0.5) * DVec2::new(488.0, 296.0);
        let (t, shares) = ground.buckets.locate(&ground.sheet, at);
        let places = ground.sheet.places(t);
        let back = places[0] * shares[0] + places[1] * shares[1] + places[2] * shares[2];
        assert!(back.distance(at) < 1e-9, "{at} {back}");
        // The slope is that of the hills: 6·(0.3 or 0.23)/8 at most, and 0.05.
        let Surface { height, slope } = ground.surface(at);
        assert!(slope.x.abs() < 0.3 && slope.y.abs() < 0.2, "{slope}");
        let step = DVec2::new(0.0, 4.0);
        let rise = ground.surface(at + step).height - ground.surface(at - step).height;
        assert!(
            (rise / 8.0 - slope.y).abs() < 0.1,
            "{height} {slope} {rise}"
        );
    }
    let beyond = ground.surface(DVec2::new(1e6, 0.0)).height;
    assert!((beyond - ground.surface(DVec2::new(244.0, 0.0)).height).abs() < 1e-9);
}

#[test]
fn points_in_a_rectangle_are_each_met_once_also_after_moves() {
    let mut ground = mesh();
    let mut unit = random(7);
    let settings = MeanderingRiver::default();
    let before = ground.clone();
    for point in 0..ground.sheet.points.len() {
        let cut = Cut {
            point,
            sideways: DVec2::new(unit() - 0.5, unit() - 0.5) * 4.0,
            down: 0.0,
            floor: f64::NEG_INFINITY,
        };
        let volume = ground.cut_volume(&settings, &cut);
        ground.take(&settings, &cut, volume);
    }
    let far = |p: usize| {
        ground.sheet.points[p]
            .at
            .distance(before.sheet.points[p].at)
    };
    assert!((0..before.sheet.points.len()).any(|p| far(p) > 0.5));
    let mut met = vec![0; ground.sheet.points.len()];
    for column in -16..16 {
        for row in -10..10 {
            let min = DVec2::new(f64::from(column), f64::from(row)) * 17.0;
            ground.points_in(min, min + 17.0, |point, _| met[point] += 1);
        }
    }
    for (point, times) in met.into_iter().enumerate() {
        let live = ground.sheet.points[point].triangle != NONE;
        assert_eq!(times, usize::from(live));
    }
}

#[test]
fn random_edits_keep_the_sheet_whole_and_its_volume() {
    let mut ground = mesh();
    let mut unit = random(11);
    let settings = MeanderingRiver::default();
    let mut expected = ground.solids();
    let start = expected;
    for round in 0..60 {
        for _ in 0..200 {
            let at = DVec2::new(unit() - 0.5, unit() - 0.5) * DVec2::new(488.0, 296.0);
            let point = ground.point_at(at);
            if unit() < 0.7 {
                let cut = Cut {
                    point,
                    sideways: DVec2::new(unit() - 0.5, unit() - 0.5) * 20.0,
                    down: unit(),
                    floor: 20.0,
                };
                let volume = unit() * ground.cut_volume(&settings, &cut);
                assert!(volume >= 0.0);
                ground.take(&settings, &cut, volume);
                expected -= volume;
            } else {
                let volume = 200.0 * unit();
                ground.lay(point, volume);
                expected += volume;
            }
        }
        // The water wanders: where it was, the sheet becomes coarse again.
        let at = DVec2::new(8.0 * f64::from(round) - 240.0, 0.0);
        ground.buckets.wet(at, 40.0, DVec2::X);
        ground.settle(&Workers::serial(), &settings, 5.0);
        ground.sheet.check().unwrap();
        let solids = ground.solids();
        let off = (solids - expected).abs() / start;
        assert!(off < 1e-12, "round {round}: {off:e}");
    }
    let tally = ground.remesh_tally();
    assert!(
        tally.splits > 100 && tally.collapses > 100 && tally.flips > 100,
        "{tally:?}"
    );
}

#[test]
fn a_cut_takes_what_it_said() {
    let mut ground = mesh();
    let settings = MeanderingRiver::default();
    let point = ground.point_at(DVec2::new(10.0, 20.0));
    let cut = Cut {
        point,
        sideways: DVec2::new(-0.5, 0.3),
        down: 0.0,
        floor: f64::NEG_INFINITY,
    };
    let (before, at) = (ground.solids(), ground.sheet.points[point]);
    let volume = ground.cut_volume(&settings, &cut);
    assert!(volume > 0.0);
    ground.take(&settings, &cut, volume);
    let taken = before - ground.solids();
    assert!((taken - volume).abs() < 1e-9 * volume, "{taken} {volume}");
    // All by moving: the point kept its height.
    let now = ground.sheet.points[point];
    assert!((now.height - at.height).abs() < 1e-12 && now.at != at.at);
    // Down the slope nothing is taken.
    let back = Cut {
        sideways: -cut.sideways,
        ..cut
    };
    assert_eq!(ground.cut_volume(&settings, &back), 0.0);
}

#[test]
fn evening_out_keeps_the_volume() {
    let mut ground = mesh();
    let before = ground.solids();
    let points: Vec<usize> = ground.sheet.live_points().map(|p| p as usize).collect();
    ground.smooth(&points);
    assert!((ground.solids() - before).abs() < 1e-12 * before);
    let bad = MeshDetail {
        fine: f64::NAN,
        ..MeshDetail::default()
    };
    assert!(MeshGround::from_grid(&hills(UVec2::new(5, 5)), bad).is_err());
}

#[test]
fn the_sheet_follows_wandering_water_and_does_not_grow_forever() {
    let mut ground = mesh();
    let settings = MeanderingRiver::default();
    let mut unit = random(17);
    let mut counts = Vec::new();
    for _ in 0..4 {
        for step in 0..120 {
            let at = DVec2::new(4.0 * f64::from(step) - 240.0, 100.0 * (unit() - 0.5));
            ground.buckets.wet(at, 25.0, DVec2::X);
            for _ in 0..20 {
                let near = at + DVec2::new(unit() - 0.5, unit() - 0.5) * 50.0;
                let cut = Cut {
                    point: ground.point_at(near),
                    sideways: DVec2::new(0.0, unit() - 0.5) * 4.0,
                    down: 0.0,
                    floor: f64::NEG_INFINITY,
                };
                let volume = ground.cut_volume(&settings, &cut);
                ground.take(&settings, &cut, volume);
                ground.lay(ground.point_at(near), volume);
            }
            ground.settle(&Workers::serial(), &settings, 10.0);
        }
        // Near the water no edge is longer than the paper's rule allows.
        let last = DVec2::new(4.0 * 119.0 - 240.0, 0.0);
        for at in [last, last - DVec2::new(8.0, 0.0)] {
            let (corners, _) = ground.under(at);
            let nearest = corners.map(|p| ground.sheet.at(p).distance(at));
            assert!(nearest.iter().all(|far| *far < 25.0), "{nearest:?}");
        }
        counts.push(ground.triangle_count());
    }
    ground.sheet.check().unwrap();
    assert!(counts[3] < counts[0] * 6 / 5, "{counts:?}");
}

#[test]
fn soft_deposits_are_cut_faster_until_they_harden_and_hard_rock_slower() {
    let cells = UVec2::new(61, 37);
    let hard = vec![4.0; (cells.x * cells.y) as usize];
    let grid = hills(cells).with_hardness(hard).unwrap();
    let mut ground = MeshGround::from_grid(&grid, MeshDetail::default()).unwrap();
    let settings = MeanderingRiver::default();
    let at = DVec2::new(10.0, 20.0);
    let point = ground.point_at(at);
    assert_eq!(ground.softness(&settings, point), 0.25);
    ground.lay(point, 0.3 * ground.sheet.area(point as u32));
    assert_eq!(
        ground.softness(&settings, point),
        f64::from(settings.softness)
    );
    let half = 2f64.ln() / f64::from(settings.hardening);
    ground.settle(&Workers::serial(), &settings, half);
    let soft = ground.sheet.points[point].soft;
    assert!((soft - 0.15).abs() < 1e-6, "{soft}");
    ground.settle(&Workers::serial(), &settings, 4.0 * half);
    assert_eq!(ground.softness(&settings, ground.point_at(at)), 0.25);
}

#[test]
fn steep_banks_cave_in_and_nothing_is_lost() {
    let mut ground = mesh();
    let settings = MeanderingRiver::default();
    let at = DVec2::new(10.0, 20.0);
    let point = ground.point_at(at);
    let area = ground.sheet.area(point as u32);
    let before = ground.solids();
    ground.lay(point, 30.0 * area);
    for _ in 0..200 {
        ground.buckets.wet(at, 80.0, DVec2::ZERO);
        ground.settle(&Workers::serial(), &settings, 1.0);
    }
    ground.sheet.check().unwrap();
    let off = (ground.solids() - before - 30.0 * area).abs();
    assert!(off < 1e-12 * before, "{off:e}");
    let mut steepest = 0.0f64;
    for p in 0..ground.sheet.points.len() {
        let own = &ground.sheet.points[p];
        for &other in ground.rings.neighbors(p, own.border) {
            let drop = (own.height - ground.sheet.height(other)).abs();
            let steep = drop / own.at.distance(ground.sheet.at(other));
            steepest = steepest.max(steep);
        }
    }
    let talus = f64::from(settings.talus);
    assert!(
        steepest < talus + 0.05 && steepest > 0.8 * talus,
        "{steepest}"
    );
}
