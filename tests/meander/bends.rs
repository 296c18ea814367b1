//! Bends that decay, grow and wander. Medians over five seeds.

use super::*;
use core::f64::consts::{PI, TAU};

/// Width of the channel that the plain starts with. units: m
const WIDTH: f64 = 40.0;

/// Amplitude (m) and phase of one wave of the channel, by the middle of the
/// hollow in each column, away from the ends.
fn wave(ground: &GridGround, wavelength: f64) -> (f64, f64) {
    let (width, height) = (ground.size().x as usize, ground.size().y as usize);
    let length = ground.cell_size() * width as f64;
    let (mut sine, mut cosine, mut count) = (0.0, 0.0, 0.0);
    for column in 0..width {
        let x = ground.center(column).x;
        if !(-0.25 * length..0.35 * length).contains(&x) {
            continue;
        }
        let (mut depth, mut moment) = (0.0, 0.0);
        for row in 0..height {
            let cell = row * width + column;
            let here = (ground.plain()[cell] - ground.heights()[cell]).max(0.0);
            depth += here;
            moment += here * ground.center(cell).y;
        }
        let (s, c) = (TAU * x / wavelength).sin_cos();
        sine += s * moment / depth;
        cosine += c * moment / depth;
        count += 1.0;
    }
    let (s, c) = (2.0 * sine / count, 2.0 * cosine / count);
    (s.hypot(c), c.atan2(s))
}

/// How much bends of this length (m) grow in 4000 steps, and how far they
/// wander downstream (m).
fn growth(wavelength: f64) -> (f64, f64) {
    let grown = |seed| {
        let plain = RiverPlain {
            amplitude: 8.0,
            wavelength,
            ..plain(seed)
        };
        let mut river = plain.river(settings(seed)).expect("valid");
        let before = wave(river.ground(), wavelength);
        run(&mut river, 4000);
        let after = wave(river.ground(), wavelength);
        // A wave that wandered downstream lags behind.
        let lag = (before.1 - after.1 + PI).rem_euclid(TAU) - PI;
        (after.0 / before.0, lag / TAU * wavelength)
    };
    let (sizes, ways) = (0..5).map(grown).unzip();
    (median(sizes), median(ways))
}

#[test]
fn short_bends_decay() {
    let (size, _) = growth(3.0 * WIDTH);
    assert!(size < 0.7, "{size}");
}

#[test]
fn bends_of_six_and_eight_widths_grow_and_wander_downstream() {
    for widths in [6.0, 8.0] {
        let (size, way) = growth(widths * WIDTH);
        assert!(size > 1.2, "{widths} widths: {size}");
        assert!(way > 20.0, "{widths} widths: {way} m");
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
    let mut river = plain.river(settings).expect("valid");
    run(&mut river, 4000);
    assert!(river.water().iter().all(|water| water.position.y == 0.0));
    // The bed may sink; the banks stay where they were.
    let (amplitude, _) = wave(river.ground(), 7.0 * WIDTH);
    assert!(amplitude < 1e-9, "{amplitude}");
    let course = measured(&river).expect("water all along");
    assert!((course.sinuosity() - 1.0).abs() < 1e-9);
}

#[test]
fn the_signal_is_the_curvature_of_the_stream() {
    // A sine of 7 widths: its strongest curvature is a·k².
    let (amplitude, wavelength) = (12.0, 7.0 * WIDTH);
    let settings = MeanderingRiver {
        erosion: 0.0,
        coriolis: 0.0,
        ..MeanderingRiver::default()
    };
    let plain = RiverPlain {
        amplitude,
        wavelength,
        ..plain(0)
    };
    let mut river = plain.river(settings).expect("valid");
    run(&mut river, 3000);
    let inside = river.water().iter().filter(|w| w.position.x.abs() < 500.0);
    let k = TAU / wavelength;
    // Left bends where the channel's second derivative is positive. The signal
    // lags by its smoothing time.
    let lag = 3.0 * 9.8;
    let pairs: Vec<(f64, f64)> = inside
        .map(|w| {
            let bend = -amplitude * k * k * (k * (w.position.x - lag)).sin();
            (bend, w.curve)
        })
        .collect();
    let sum = |f: fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
    let correlation = sum(|p| p.0 * p.1) / (sum(|p| p.0 * p.0) * sum(|p| p.1 * p.1)).sqrt();
    assert!(correlation > 0.8, "{correlation}");
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
}

fn grow(seed: u64) -> Grown {
    let wavelength = 10.0 * WIDTH;
    let plain = RiverPlain {
        amplitude: 35.0,
        wavelength,
        waviness: 4.0,
        ..plain(seed)
    };
    let mut river = plain.river(settings(seed)).expect("valid");
    let (steps, every) = (24_000, 2_000);
    let mut waves = Vec::new();
    let mut outside_sum = 0.0;
    for _ in 0..steps / every {
        run(&mut river, every);
        waves.push(wave(river.ground(), wavelength));
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
    }
}

#[test]
fn a_river_grows_to_full_meanders() {
    let grown: Vec<Grown> = std::thread::scope(|scope| {
        let seeds: Vec<_> = (1..=5)
            .map(|seed| scope.spawn(move || grow(seed)))
            .collect();
        seeds
            .into_iter()
            .filter_map(|one| one.join().ok())
            .collect()
    });
    assert_eq!(grown.len(), 5);
    let middle = |value: fn(&Grown) -> f64| median(grown.iter().map(value).collect());
    let sinuosity = middle(|river| river.sinuosity);
    assert!(sinuosity > 1.5, "sinuosity {sinuosity}");
    let wavelength = middle(|river| river.wavelength);
    assert!((8.0..16.0).contains(&wavelength), "{wavelength} widths");
    let ratio = middle(|river| river.outer_by_inner);
    assert!(ratio > 3.0, "outer against inner bank {ratio}");
    let outside = middle(|river| river.outside);
    assert!(outside < 0.05, "outside the channel {outside}");
    let (outward, downstream) = (middle(|r| r.outward), middle(|r| r.downstream));
    assert!(outward > 5.0, "outward {outward} m");
    assert!(downstream > 5.0, "downstream {downstream} m");
}
