//! The sheet stays whole, and the river runs on it as on the grid.

use super::{
    super::{GridGround, MeanderingRiver, Plain, RiverSink, RiverSolver, RiverSource, course},
    topology::{NONE, Sheet},
    *,
};
use bevy::math::UVec2;
use core::f64::consts::{PI, TAU};

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

/// A river on a sheet, like [`Plain::river`] on the grid.
fn river(plain: &Plain, settings: MeanderingRiver) -> RiverSolver<MeshGround> {
    let ground = MeshGround::from_grid(&plain.ground().unwrap(), MeshDetail::default()).unwrap();
    let at = plain.spread.max(f64::from(settings.radius)) - 0.5 * plain.length;
    let speed = 0.8 * f64::from(settings.gravity) * plain.slope / f64::from(settings.drag);
    // The middle of the channel is where the ground is lowest.
    let steps = (-200..=200).map(|i| DVec2::new(at, f64::from(i) * 0.0025 * plain.width * 0.5));
    let depth = |at: DVec2| ground.floodplain_at(at) - ground.surface(at).height;
    let (sum, weight) = steps.fold((0.0, 1e-9), |(sum, weight), at| {
        (sum + at.y * depth(at).max(0.0), weight + depth(at).max(0.0))
    });
    let mut river = RiverSolver::new(settings, ground).unwrap();
    river
        .add_source(RiverSource {
            position: DVec2::new(at, sum / weight),
            spread: DVec2::splat(plain.spread),
            velocity: DVec2::new(speed, 0.0),
            rate: plain.rate,
        })
        .unwrap();
    river
        .add_sink(RiverSink {
            position: DVec2::new(0.5 * plain.length, 0.0),
            half_size: DVec2::new(2.0 * plain.cell_size, plain.width),
        })
        .unwrap();
    river
}

const WIDTH: f64 = 40.0;

/// Amplitude (m) and phase of one wave of the channel, away from its ends.
fn wave(ground: &MeshGround, wavelength: f64) -> (f64, f64) {
    let (min, max) = ground.bounds();
    let (mut sine, mut cosine, mut count) = (0.0, 0.0, 0.0);
    for column in 0..200 {
        let x = (min.x + (max.x - min.x) * (0.25 + 0.003 * f64::from(column))).round();
        let (mut depth, mut moment) = (1e-9, 0.0);
        for row in 1..128 {
            let at = DVec2::new(x, min.y + (max.y - min.y) * f64::from(row) / 128.0);
            let here = (ground.floodplain_at(at) - ground.surface(at).height).max(0.0);
            depth += here;
            moment += here * at.y;
        }
        let (s, c) = (TAU * x / wavelength).sin_cos();
        sine += s * moment / depth;
        cosine += c * moment / depth;
        count += 1.0;
    }
    let (s, c) = (2.0 * sine / count, 2.0 * cosine / count);
    (s.hypot(c), c.atan2(s))
}

/// Mean depth (m) of the outer and of the inner half of the channel at the
/// strongest point of each bend.
fn cross_sections(river: &RiverSolver<MeshGround>) -> Option<(f64, f64)> {
    let ground = river.ground();
    let (min, max) = ground.bounds();
    let (from, to) = (DVec2::new(min.x, 0.0), DVec2::new(max.x, 0.0));
    let line = course(river.water(), f64::from(river.settings().radius), from, to)?;
    let (mut sums, mut count) = ((0.0, 0.0), 0.0);
    for (apex, bends_left) in line.apexes() {
        if apex < 2 || apex + 2 >= line.points.len() {
            continue;
        }
        let way = (line.points[apex + 2] - line.points[apex - 2]).normalize();
        let outward = way.perp() * if bends_left { -1.0 } else { 1.0 };
        let depth = |off: f64| {
            let at = line.points[apex] + outward * off;
            ground.floodplain_at(at) - ground.surface(at).height
        };
        let bank = |sign: f64| {
            let far = (0..100).map(f64::from).find(|&far| depth(sign * far) < 1.0);
            far.unwrap_or(100.0)
        };
        let (outer, inner) = (bank(1.0), bank(-1.0));
        let (middle, half) = (0.5 * (outer - inner), 0.5 * (outer + inner));
        for i in 0..10 {
            let off = (f64::from(i) + 0.5) * 0.1 * half;
            sums.0 += 0.1 * depth(middle + off);
            sums.1 += 0.1 * depth(middle - off);
        }
        count += 1.0;
    }
    (count > 0.0).then(|| (sums.0 / count, sums.1 / count))
}

/// What was seen of a river that grew from gentle bends of 7 widths.
struct Grown {
    growth: f64,
    downstream: f64,
    outer_by_inner: f64,
    outside: f64,
    outer_depth: f64,
    inner_depth: f64,
    drift: f64,
    triangles: usize,
    sheet: Result<(), String>,
}

fn grow(seed: u64) -> Grown {
    let wavelength = 7.0 * WIDTH;
    let plain = Plain {
        length: 1536.0,
        width: 512.0,
        amplitude: 8.0,
        wavelength,
        seed,
        ..Plain::default()
    };
    let settings = MeanderingRiver {
        seed,
        ..MeanderingRiver::default()
    };
    let mut river = river(&plain, settings);
    let (before, solids) = (wave(river.ground(), wavelength), river.ledger().total());
    let (mut outside, mut seen) = (0, 0);
    for step in 1..=4000 {
        river.step_on(Workers::serial(), 0.1);
        if step % 200 == 0 {
            let ground = river.ground();
            let places = river.water().iter().map(|water| water.position);
            let out = |&at: &DVec2| ground.floodplain_at(at) - ground.surface(at).height < 1.0;
            outside += places.filter(out).count();
            seen += river.water().len();
        }
    }
    let after = wave(river.ground(), wavelength);
    let lag = (before.1 - after.1 + PI).rem_euclid(TAU) - PI;
    let (outer_depth, inner_depth) = cross_sections(&river).expect("water all along");
    Grown {
        growth: after.0 / before.0,
        downstream: lag / TAU * wavelength,
        outer_by_inner: river.tally().outer / river.tally().inner,
        outside: outside as f64 / seen as f64,
        outer_depth,
        inner_depth,
        drift: (river.ledger().total() - solids).abs() / solids.abs().max(river.tally().cut),
        triangles: river.ground().triangle_count(),
        sheet: river.ground().sheet.check(),
    }
}

#[test]
fn a_river_grows_as_on_the_grid() {
    let grown: Vec<Grown> = std::thread::scope(|scope| {
        let seeds: Vec<_> = (0..5).map(|seed| scope.spawn(move || grow(seed))).collect();
        let join = |seed: std::thread::ScopedJoinHandle<'_, Grown>| seed.join().expect("grown");
        seeds.into_iter().map(join).collect()
    });
    let median = |of: fn(&Grown) -> f64| {
        let mut values: Vec<f64> = grown.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    // Bends of seven widths grow and wander downstream.
    let (growth, downstream) = (median(|g| g.growth), median(|g| g.downstream));
    assert!(growth > 1.2, "{growth}");
    assert!(downstream > 20.0, "{downstream} m");
    // Outer banks are cut, and the water stays in its channel.
    let (sides, outside) = (median(|g| g.outer_by_inner), median(|g| g.outside));
    assert!(sides > 3.0, "{sides}");
    assert!(outside < 0.05, "{outside}");
    // Bends are deeper at the outer bank.
    let deeper = median(|g| g.outer_depth - g.inner_depth);
    assert!(deeper > 0.3, "{deeper} m");
    // The sheet is whole, and no solids are lost.
    for grown in &grown {
        assert_eq!(grown.sheet, Ok(()));
        assert!(grown.drift < 1e-9, "{:e}", grown.drift);
        assert!(grown.triangles < 12_000, "{}", grown.triangles);
    }
}

#[test]
fn short_bends_decay() {
    let wavelength = 3.0 * WIDTH;
    let grown = |seed| {
        let plain = Plain {
            length: 1536.0,
            width: 512.0,
            amplitude: 8.0,
            wavelength,
            seed,
            ..Plain::default()
        };
        let settings = MeanderingRiver {
            seed,
            ..MeanderingRiver::default()
        };
        let mut river = river(&plain, settings);
        let (before, _) = wave(river.ground(), wavelength);
        for _ in 0..4000 {
            river.step_on(Workers::serial(), 0.1);
        }
        wave(river.ground(), wavelength).0 / before
    };
    let mut sizes: Vec<f64> = (0..5).map(grown).collect();
    sizes.sort_by(f64::total_cmp);
    assert!(sizes[2] < 0.7, "{sizes:?}");
}

#[test]
fn without_a_disturbance_it_stays_straight() {
    let settings = MeanderingRiver {
        coriolis: 0.0,
        ..MeanderingRiver::default()
    };
    let plain = Plain {
        length: 1536.0,
        width: 512.0,
        spread: 0.0,
        ..Plain::default()
    };
    let mut river = river(&plain, settings);
    for _ in 0..4000 {
        river.step_on(Workers::serial(), 0.1);
    }
    let (amplitude, _) = wave(river.ground(), 7.0 * WIDTH);
    let off = river.water().iter().map(|water| water.position.y.abs());
    let off = off.fold(0.0, f64::max);
    assert!(amplitude < 0.5, "{amplitude} m");
    assert!(off < 0.5 * WIDTH, "{off} m");
}

#[test]
fn the_same_seed_gives_the_same_sheet() {
    let plain = Plain {
        length: 512.0,
        width: 256.0,
        amplitude: 8.0,
        ..Plain::default()
    };
    let run = || {
        let mut river = river(&plain, MeanderingRiver::default());
        for _ in 0..600 {
            river.step_on(Workers::serial(), 0.1);
        }
        river.into_ground()
    };
    let (one, two) = (run(), run());
    assert!(one.remesh_tally().splits > 0);
    assert_eq!(one, two);
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
fn a_neck_is_broken_through_and_nothing_is_lost() {
    let plain = Plain {
        length: 1280.0,
        width: 768.0,
        loop_way: 700.0,
        loop_neck: 30.0,
        ..Plain::default()
    };
    let mut river = river(&plain, MeanderingRiver::default());
    let solids = river.ledger().total();
    for _ in 0..4000 {
        river.step_on(Workers::serial(), 0.1);
        if !river.cutoffs().is_empty() {
            break;
        }
    }
    let cutoff = river.cutoffs().first().expect("a cut-off").clone();
    assert!(
        cutoff.place.x.abs() < 80.0 && cutoff.neck < 40.0,
        "{cutoff:?}"
    );
    assert!(cutoff.length_before - cutoff.length_after > 300.0);
    for _ in 0..600 {
        river.step_on(Workers::serial(), 0.1);
    }
    assert!(
        river.water_ledger().lakes > 1e4,
        "{:?}",
        river.water_ledger()
    );
    assert_eq!(river.water_ledger().total(), 0.0);
    let drift = (river.ledger().total() - solids).abs() / river.tally().cut;
    assert!(drift < 1e-9, "{drift}");
    river.ground().sheet.check().unwrap();
}
