//! A river on the sheet passes the checks that it passes on the grid, see
//! `tests/meander`.

use super::{
    super::{
        Centerline, MeanderingRiver, RiverPlain, RiverSink, RiverSolver, RiverSource,
        WaterParticle, course,
    },
    *,
};
use bevy::tasks::TaskPoolBuilder;
use core::f64::consts::{PI, TAU};

type River = RiverSolver<MeshGround>;

impl MeshGround {
    /// How far the ground lies below the floodplain. units: m
    fn depth_at(&self, at: DVec2) -> f64 {
        self.floodplain_at(at) - self.surface(at).height
    }
}

/// A river on a sheet, like [`RiverPlain::river`] on the grid.
fn river(plain: &RiverPlain, settings: MeanderingRiver) -> RiverSolver<MeshGround> {
    let ground = MeshGround::from_grid(&plain.ground().unwrap(), MeshDetail::default()).unwrap();
    let at = plain.spread.abs().max(f64::from(settings.radius)) - 0.5 * plain.length;
    let speed = 0.8 * settings.steady_speed(plain.slope);
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
            spread: DVec2::new(plain.spread.abs(), plain.spread),
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

/// Width of the channel that the plain starts with. units: m
const WIDTH: f64 = 40.0;

/// A short plain, so that a test takes seconds.
fn plain(seed: u64) -> RiverPlain {
    RiverPlain {
        length: 1536.0,
        width: 512.0,
        seed,
        ..RiverPlain::default()
    }
}

fn seeded(seed: u64) -> MeanderingRiver {
    MeanderingRiver {
        seed,
        ..MeanderingRiver::default()
    }
}

/// Nothing is cut, nothing turns the water.
fn still_ground() -> MeanderingRiver {
    MeanderingRiver {
        erosion: 0.0,
        coriolis: 0.0,
        ..MeanderingRiver::default()
    }
}

fn run(river: &mut River, steps: usize) {
    for _ in 0..steps {
        river.step_on(Workers::serial(), 0.1);
    }
}

/// Share of the water that stands less than a metre below the floodplain.
fn outside(river: &River) -> f64 {
    let out = |water: &&WaterParticle| river.ground().depth_at(water.position) < 1.0;
    let count = river.water().iter().filter(out).count();
    count as f64 / river.water().len().max(1) as f64
}

/// What `of` makes of each of five seeds, on as many threads.
fn five<T: Send>(of: impl Fn(u64) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let seeds: Vec<_> = (0..5)
            .map(|seed| {
                scope.spawn({
                    let of = &of;
                    move || of(seed)
                })
            })
            .collect();
        let join = |seed: std::thread::ScopedJoinHandle<'_, T>| seed.join().expect("it ran");
        seeds.into_iter().map(join).collect()
    })
}

/// The middle one of some numbers.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

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

/// The channel at the strongest point of each bend, in the mean. units: m
#[derive(Clone, Copy, Debug, Default)]
struct CrossSection {
    /// Depth of the half at the outer bank and at the inner one.
    outer_depth: f64,
    inner_depth: f64,
    /// How far it is from the edge of each bank down to five metres: a bar is
    /// wide, a cut bank is not.
    outer_bank: f64,
    inner_bank: f64,
}

fn cross_sections(river: &River) -> Option<CrossSection> {
    let ground = river.ground();
    let line = measured(river)?;
    let (mut sum, mut count) = (CrossSection::default(), 0.0);
    for (apex, bends_left) in line.apexes() {
        if apex < 2 || apex + 2 >= line.points.len() {
            continue;
        }
        let way = (line.points[apex + 2] - line.points[apex - 2]).normalize();
        let outward = way.perp() * if bends_left { -1.0 } else { 1.0 };
        let depth = |off: f64| ground.depth_at(line.points[apex] + outward * off);
        let bank = |sign: f64, least: f64| {
            let mut far = (0..400).map(|i| 0.25 * f64::from(i));
            far.find(|&far| depth(sign * far) < least).unwrap_or(100.0)
        };
        let (outer, inner) = (bank(1.0, 1.0), bank(-1.0, 1.0));
        let (middle, half) = (0.5 * (outer - inner), 0.5 * (outer + inner));
        for i in 0..10 {
            let off = (f64::from(i) + 0.5) * 0.1 * half;
            sum.outer_depth += 0.1 * depth(middle + off);
            sum.inner_depth += 0.1 * depth(middle - off);
        }
        sum.outer_bank += outer - bank(1.0, 5.0);
        sum.inner_bank += inner - bank(-1.0, 5.0);
        count += 1.0;
    }
    (count > 0.0).then(|| CrossSection {
        outer_depth: sum.outer_depth / count,
        inner_depth: sum.inner_depth / count,
        outer_bank: sum.outer_bank / count,
        inner_bank: sum.inner_bank / count,
    })
}

/// The way of the water along the whole plain.
fn measured(river: &River) -> Option<Centerline> {
    let (min, max) = river.ground().bounds();
    let radius = f64::from(river.settings().radius);
    let (from, to) = (DVec2::new(min.x, 0.0), DVec2::new(max.x, 0.0));
    course(river.water(), radius, from, to)
}

#[test]
fn a_straight_stream_runs_and_fills_as_predicted() {
    let settings = still_ground();
    let plain = RiverPlain {
        length: 2048.0,
        ..RiverPlain::default()
    };
    let steady = settings.steady_speed(plain.slope);
    let rest = f64::from(settings.rest_density);
    let mut river = river(&plain, settings);
    run(&mut river, 4000);
    // Away from the ends, where it starts slower and is taken out.
    let middle = |water: &&WaterParticle| water.position.x.abs() < 512.0;
    let inside: Vec<&WaterParticle> = river.water().iter().filter(middle).collect();
    let speed = inside.iter().map(|w| w.velocity.x).sum::<f64>() / inside.len() as f64;
    // Deeper water, which is denser, is faster.
    let deep = inside.iter().map(|w| (w.density / rest).max(1.0).sqrt());
    let predicted = steady * deep.sum::<f64>() / inside.len() as f64;
    assert!(
        (speed / predicted - 1.0).abs() < 0.03,
        "{speed} {predicted}"
    );
    let (found, count) = (inside.len() as f64, plain.rate * 1024.0 / predicted);
    assert!((found / count - 1.0).abs() < 0.06, "{found} {count}");
    assert!(outside(&river) == 0.0, "{}", outside(&river));
}

#[test]
fn the_signal_is_the_curvature_of_the_stream() {
    // A sine of 7 widths: its strongest curvature is a·k².
    let (amplitude, wavelength) = (12.0, 7.0 * WIDTH);
    let plain = RiverPlain {
        amplitude,
        wavelength,
        ..plain(0)
    };
    let mut river = river(&plain, still_ground());
    run(&mut river, 3000);
    let k = TAU / wavelength;
    // The signal lags by its smoothing time.
    let lag = 3.0 * 9.8;
    let inside = river.water().iter().filter(|w| w.position.x.abs() < 500.0);
    let pairs = inside.map(|w| {
        let bend = -amplitude * k * k * (k * (w.position.x - lag)).sin();
        (bend, w.curve)
    });
    let (both, bends, signals) = pairs.fold((0.0, 0.0, 0.0), |sum, (bend, curve)| {
        (
            sum.0 + bend * curve,
            sum.1 + bend * bend,
            sum.2 + curve * curve,
        )
    });
    let correlation = both / (bends * signals).sqrt();
    assert!(correlation > 0.8, "{correlation}");
}

/// How much bends of this length (m) grow in 4000 steps, how far they wander
/// downstream (m), and the share of solids that got lost.
fn growth(wavelength: f64, seed: u64) -> (f64, f64, f64) {
    let plain = RiverPlain {
        amplitude: 8.0,
        wavelength,
        ..plain(seed)
    };
    let mut river = river(&plain, seeded(seed));
    let (before, solids) = (wave(river.ground(), wavelength), river.ledger().total());
    run(&mut river, 4000);
    let after = wave(river.ground(), wavelength);
    // A wave that wandered downstream lags behind.
    let lag = (before.1 - after.1 + PI).rem_euclid(TAU) - PI;
    let lost = (river.ledger().total() - solids).abs() / river.tally().cut;
    (after.0 / before.0, lag / TAU * wavelength, lost)
}

#[test]
fn short_bends_decay() {
    let sizes = five(|seed| growth(3.0 * WIDTH, seed).0);
    assert!(median(sizes.clone()) < 0.7, "{sizes:?}");
}

#[test]
fn bends_of_six_and_eight_widths_grow_and_wander_downstream() {
    for widths in [6.0, 8.0] {
        let grown = five(|seed| growth(widths * WIDTH, seed));
        let size = median(grown.iter().map(|g| g.0));
        let way = median(grown.iter().map(|g| g.1));
        assert!(size > 1.2, "{widths} widths: {size}");
        assert!(way > 20.0, "{widths} widths: {way} m");
        assert!(grown.iter().all(|g| g.2 < 1e-9), "{grown:?}");
    }
}

#[test]
fn without_a_disturbance_it_stays_straight() {
    let settings = MeanderingRiver {
        coriolis: 0.0,
        ..MeanderingRiver::default()
    };
    let plain = RiverPlain {
        spread: 0.0,
        ..plain(0)
    };
    let mut river = river(&plain, settings);
    run(&mut river, 4000);
    let (amplitude, _) = wave(river.ground(), 7.0 * WIDTH);
    let off = river.water().iter().map(|water| water.position.y.abs());
    let off = off.fold(0.0, f64::max);
    assert!(amplitude < 0.5, "{amplitude} m");
    assert!(off < 0.5 * WIDTH, "{off} m");
}

/// A river that was grown from gentle bends, and what was seen on the way.
struct Grown {
    sinuosity: f64,
    /// In channel widths.
    wavelength: f64,
    outer_by_inner: f64,
    outside: f64,
    /// How far a bend moved outward and downstream while it was young. units: m
    outward: f64,
    downstream: f64,
    section: CrossSection,
    lost: f64,
    /// After each part of the run.
    triangles: Vec<usize>,
    sheet: Result<(), String>,
}

fn grow(seed: u64) -> Grown {
    let wavelength = 10.0 * WIDTH;
    let plain = RiverPlain {
        amplitude: 35.0,
        wavelength,
        waviness: 4.0,
        ..plain(seed + 1)
    };
    let mut river = river(&plain, seeded(seed + 1));
    let solids = river.ledger().total();
    let (steps, every) = (16_000, 2_000);
    let (mut waves, mut triangles) = (Vec::new(), Vec::new());
    let mut outside_sum = 0.0;
    for _ in 0..steps / every {
        run(&mut river, every);
        waves.push(wave(river.ground(), wavelength));
        triangles.push(river.ground().triangle_count());
        outside_sum += outside(&river);
    }
    let lag = (waves[0].1 - waves[3].1 + PI).rem_euclid(TAU) - PI;
    let course = measured(&river);
    let tally = river.tally();
    Grown {
        sinuosity: course.as_ref().map_or(0.0, Centerline::sinuosity),
        wavelength: course.and_then(|c| c.wavelength()).unwrap_or(0.0) / WIDTH,
        outer_by_inner: tally.outer / tally.inner,
        outside: outside_sum * every as f64 / steps as f64,
        outward: waves[3].0 - waves[0].0,
        downstream: lag / TAU * wavelength,
        section: cross_sections(&river).unwrap_or_default(),
        lost: (river.ledger().total() - solids).abs() / tally.cut,
        triangles,
        sheet: river.ground().sheet.check(),
    }
}

#[test]
fn a_river_grows_to_full_meanders() {
    let grown = five(grow);
    let middle = |value: fn(&Grown) -> f64| median(grown.iter().map(value));
    let sinuosity = middle(|river| river.sinuosity);
    let wavelength = middle(|river| river.wavelength);
    let ratio = middle(|river| river.outer_by_inner);
    let outside = middle(|river| river.outside);
    let (outward, downstream) = (middle(|r| r.outward), middle(|r| r.downstream));
    let deeper = middle(|r| r.section.outer_depth - r.section.inner_depth);
    let wider = middle(|r| r.section.inner_bank / r.section.outer_bank);
    assert!(sinuosity > 1.5, "sinuosity {sinuosity}");
    assert!((8.0..16.0).contains(&wavelength), "{wavelength} widths");
    assert!(ratio > 3.0, "outer against inner bank {ratio}");
    assert!(outside < 0.05, "outside the channel {outside}");
    assert!(outward > 5.0, "outward {outward} m");
    assert!(downstream > 5.0, "downstream {downstream} m");
    // Bends are deeper at the outer bank, and have a bar at the inner one.
    assert!(deeper > 0.3, "{deeper} m");
    assert!(wider > 1.2, "{wider}");
    for grown in &grown {
        assert_eq!(grown.sheet, Ok(()));
        assert!(grown.lost < 1e-9, "{:e}", grown.lost);
        // All over the plain fine triangles would be 22 400.
        let triangles = &grown.triangles;
        assert!(triangles.iter().all(|&n| n < 17_000), "{triangles:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_sheet() {
    let plain = RiverPlain {
        length: 512.0,
        width: 256.0,
        amplitude: 8.0,
        ..RiverPlain::default()
    };
    let run = || {
        let mut river = river(&plain, MeanderingRiver::default());
        run(&mut river, 600);
        river.into_ground()
    };
    let (one, two) = (run(), run());
    assert!(one.remesh_tally().splits > 0);
    assert_eq!(one, two);
}

#[test]
fn any_number_of_threads_gives_the_same_river() {
    // Many short streams, so that the work is really split.
    let plain = RiverPlain {
        waviness: 8.0,
        rate: 0.0,
        ..plain(2)
    };
    let mut first = river(&plain, seeded(1));
    for row in -6..=6 {
        let source = RiverSource {
            position: DVec2::new(-700.0, f64::from(row) * 35.0),
            spread: DVec2::splat(10.0),
            velocity: DVec2::new(8.0, 0.0),
            rate: 2.0,
        };
        first.add_source(source).unwrap();
    }
    let mut rivers: Vec<River> = vec![first; 3];
    for (river, threads) in rivers.iter_mut().zip([0, 1, 5]) {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        for _ in 0..1100 {
            river.step_on(Workers::on(&pool), 0.1);
        }
    }
    let count = rivers[0].water().len();
    assert!(count > 1600, "{count}");
    assert!(rivers[0].ground().remesh_tally().splits > 0 && rivers[0].tally().cut > 0.0);
    for other in &rivers[1..] {
        assert_eq!(rivers[0].water(), other.water());
        assert_eq!(rivers[0].sediment(), other.sediment());
        assert!(rivers[0].ground() == other.ground());
    }
}

#[test]
fn a_neck_is_broken_through_and_nothing_is_lost() {
    let plain = RiverPlain {
        length: 1280.0,
        width: 768.0,
        loop_way: 700.0,
        loop_neck: 30.0,
        ..RiverPlain::default()
    };
    let mut river = river(&plain, MeanderingRiver::default());
    let solids = river.ledger().total();
    for _ in 0..4000 {
        run(&mut river, 1);
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
    run(&mut river, 600);
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
