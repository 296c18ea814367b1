use super::*;

const EXTENT: DVec2 = DVec2::new(1000.0, 800.0);

/// Every landform with its default settings, and what the random ones are with another seed.
fn zoo(seed: u32) -> Vec<(&'static str, Box<dyn Landform>)> {
    vec![
        ("Fbm", Box::new(Fbm::seeded(seed))),
        ("Ridged", Box::new(Ridged::seeded(seed))),
        ("Billow", Box::new(Billow::seeded(seed))),
        ("Warped", Box::new(Warped::new(Fbm::default(), seed))),
        ("Island", Box::new(Island::new(Fbm::default(), seed))),
        ("Faults", Box::new(Faults::seeded(seed))),
        ("ConicalHill", Box::new(ConicalHill::seeded(seed))),
        ("Letters", Box::new(Letters::seeded(seed))),
        ("Scaled", Box::new(Scaled::new(Fbm::seeded(seed), 0.5, 3.0))),
        (
            "Sum",
            Box::new(Sum::new(TiltedPlane::default(), Billow::seeded(seed))),
        ),
    ]
}

fn seedless() -> Vec<(&'static str, Box<dyn Landform>)> {
    vec![
        ("TiltedPlane", Box::new(TiltedPlane::default())),
        ("SineWaves", Box::new(SineWaves::default())),
        ("FourSlopeBasin", Box::new(FourSlopeBasin::default())),
        ("WindingChannel", Box::new(WindingChannel::default())),
        ("Valley", Box::new(Valley::default())),
    ]
}

/// `side`² points over the extent, and their elevations.
fn sample(land: &dyn Landform, side: u32) -> Vec<(DVec2, f64)> {
    let elevation = land.sampler(EXTENT);
    let at = |i: u32| f64::from(i) / f64::from(side - 1) - 0.5;
    let points = (0..side).flat_map(|y| (0..side).map(move |x| DVec2::new(at(x), at(y)) * EXTENT));
    points.map(|point| (point, elevation(point))).collect()
}

#[test]
fn defaults_pass_their_check_and_rise_a_few_hundred_metres() {
    for (name, land) in zoo(5).into_iter().chain(seedless()) {
        land.check().unwrap();
        let heights = || sample(&*land, 60).into_iter().map(|(_, height)| height);
        let (low, high) = (
            heights().fold(f64::MAX, f64::min),
            heights().fold(f64::MIN, f64::max),
        );
        let relief = high - low;
        assert!((90.0..500.0).contains(&relief), "{name} rises {relief} m");
    }
}

#[test]
fn seed_alone_decides_the_land() {
    for ((name, one), (_, same)) in zoo(7).into_iter().zip(zoo(7)) {
        assert_eq!(sample(&*one, 20), sample(&*same, 20), "{name}");
    }
    for ((name, one), (_, other)) in zoo(7).into_iter().zip(zoo(8)) {
        let differ = sample(&*one, 20)
            .iter()
            .zip(sample(&*other, 20))
            .filter(|(a, b)| (a.1 - b.1).abs() > 1e-3)
            .count();
        assert!(differ > 100, "{name} differs at {differ} points of 400");
    }
}

#[test]
fn elevations_are_finite_everywhere() {
    for (name, land) in zoo(3).into_iter().chain(seedless()) {
        for (point, height) in sample(&*land, 40) {
            assert!(height.is_finite(), "{name} at {point}");
        }
        let elevation = land.sampler(EXTENT);
        for far in [1e5, -1e7, 1e12, -1e15] {
            for point in [
                DVec2::new(far, 0.0),
                DVec2::new(3.0, far),
                DVec2::splat(far),
            ] {
                assert!(elevation(point).is_finite(), "{name} at {point}");
            }
        }
    }
}

#[test]
fn finer_sampling_shows_the_same_land() {
    for (name, land) in zoo(4).into_iter().chain(seedless()) {
        let (coarse, fine) = (sample(&*land, 11), sample(&*land, 41));
        for (i, &(point, height)) in coarse.iter().enumerate() {
            let (x, y) = (i % 11, i / 11);
            let (other, other_height) = fine[y * 4 * 41 + x * 4];
            assert!(point.distance(other) < 1e-9);
            // The two points differ by rounding, so the heights may by slope times that.
            assert!((height - other_height).abs() < 1e-6, "{name} at {point}");
        }
    }
}

#[test]
fn elevations_are_pinned() {
    // A change here changes every land made so far: that must be on purpose.
    let at = |land: &dyn Landform| land.sampler(EXTENT)(DVec2::new(123.0, -45.0));
    let pinned: Vec<String> = zoo(1)
        .iter()
        .map(|(name, land)| format!("{name} {:.6}", at(&**land)))
        .collect();
    assert_eq!(pinned, PINNED);
}

const PINNED: [&str; 10] = [
    "Fbm 182.446232",
    "Ridged 121.338331",
    "Billow 0.515369",
    "Warped 140.026322",
    "Island 182.446232",
    "Faults -147.091388",
    "ConicalHill 172.019217",
    "Letters -1.152273",
    "Scaled 94.223116",
    "Sum 136.765369",
];

/// What `check` says about a land with a bad field.
fn complaint(land: impl Landform) -> (&'static str, &'static str) {
    // The sampler of a rejected land may be nonsense but must not panic.
    let elevation = land.sampler(EXTENT);
    for point in [DVec2::ZERO, DVec2::new(31.0, 7.0), DVec2::splat(1e30)] {
        elevation(point);
    }
    let error = land.check().unwrap_err();
    (error.landform, error.field)
}

/// Asserts that each bad value of each field is rejected under that field's name.
macro_rules! rejects {
    ($land:ident: $base:expr; $($field:ident = [$($bad:expr),+ $(,)?]),+ $(,)?) => {
        $($({
            let land = $land { $field: $bad, ..$base };
            assert_eq!(complaint(land), (stringify!($land), stringify!($field)));
        })+)+
    };
}

#[test]
fn bad_fields_are_rejected_by_name() {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    macro_rules! rejects_fractal {
        ($($land:ident),+) => {$(
            rejects!($land: $land::default();
                feature_size = [0.0, -1.0, NAN, INF],
                height = [-1.0, NAN, INF],
                octaves = [0, 33, u32::MAX],
                roughness = [-0.1, 1.1, NAN],
                lacunarity = [1.0, 0.0, -2.0, 9.0, NAN],
            );
        )+};
    }
    rejects_fractal!(Fbm, Ridged, Billow);
    rejects!(Warped: Warped::new(Fbm::default(), 1);
        strength = [-1.0, NAN, INF], feature_size = [0.0, NAN]);
    rejects!(Island: Island::new(Fbm::default(), 1);
        radius = [0.0, -1.0, NAN], falloff = [0.0, NAN, INF],
        irregularity = [-0.1, 1.1, NAN], sea_floor = [0.0, 5.0, NAN, -INF]);
    rejects!(Faults: Faults::default();
        count = [0, 10_001, u32::MAX], height = [-1.0, NAN], scarp = [-1.0, NAN],
        roughness = [-1.0, NAN], grain = [0.0, -1.0, NAN]);
    rejects!(TiltedPlane: TiltedPlane::default();
        slope = [NAN, INF], downhill = [NAN], base = [INF]);
    rejects!(ConicalHill: ConicalHill::default();
        height = [NAN], radius = [0.0, -1.0, NAN], base = [NAN],
        roughness = [-1.0, NAN], feature_size = [0.0, NAN]);
    rejects!(SineWaves: SineWaves::default();
        amplitude = [NAN], wavelength = [0.0, -1.0, NAN], base = [INF]);
    rejects!(FourSlopeBasin: FourSlopeBasin::default();
        depth = [-1.0, NAN], half_width = [0.0, -1.0, NAN], base = [NAN]);
    rejects!(WindingChannel: WindingChannel::default();
        slope = [-0.1, NAN], channel_width = [0.0, -1.0, NAN], channel_depth = [-1.0, NAN],
        meander_amplitude = [-1.0, NAN], meander_wavelength = [0.0, NAN], base = [NAN]);
    rejects!(Valley: Valley::default();
        slope = [-0.1, NAN], floor_width = [-1.0, NAN], flank_width = [0.0, -1.0, NAN],
        flank_height = [NAN], base = [NAN], hills = [-1.0, NAN],
        feature_size = [0.0, -1.0, NAN]);
    rejects!(Letters: Letters::default();
        text = [String::new(), "  ".into(), "Ä".into(), "A-B".into(), "A".repeat(33)],
        height = [NAN], stroke_width = [0.0, -1.0, NAN], size = [0.0, -1.0, NAN, INF],
        roughness = [-1.0, NAN]);
    rejects!(Scaled: Scaled::new(Fbm::default(), 1.0, 0.0); factor = [NAN, INF], offset = [NAN]);
}

#[test]
fn wrappers_check_the_land_inside() {
    let bad = || Fbm::default().with_octaves(99);
    let good = Fbm::default;
    assert_eq!(complaint(Warped::new(bad(), 1)), ("Fbm", "octaves"));
    assert_eq!(complaint(Island::new(bad(), 1)), ("Fbm", "octaves"));
    assert_eq!(complaint(Scaled::new(bad(), 1.0, 0.0)), ("Fbm", "octaves"));
    assert_eq!(complaint(Sum::new(bad(), good())), ("Fbm", "octaves"));
    assert_eq!(complaint(Sum::new(good(), bad())), ("Fbm", "octaves"));
    assert_eq!(complaint(Box::new(bad())), ("Fbm", "octaves"));
    let reference: &dyn Landform = &bad();
    assert_eq!(complaint(reference), ("Fbm", "octaves"));
    assert_eq!(
        bad().check().unwrap_err().to_string(),
        "`Fbm.octaves`: must be 1 to 32, was 99"
    );
}

#[test]
fn nonsense_extents_do_not_panic() {
    for (_, land) in zoo(1).into_iter().chain(seedless()) {
        for extent in [0.0, -5.0, 1e300, f64::INFINITY, f64::NAN] {
            land.sampler(DVec2::splat(extent))(DVec2::new(1.0, 2.0));
        }
    }
}

#[test]
fn fractal_lands_span_their_height() {
    // Much more land than one feature, or chance decides.
    let wide = DVec2::splat(40_000.0);
    for seed in 0..3 {
        let lands: [Box<dyn Landform>; 3] = [
            Box::new(Fbm::seeded(seed).with_height(100.0)),
            Box::new(Ridged::seeded(seed).with_height(100.0).with_octaves(15)),
            Box::new(Billow::seeded(seed).with_height(100.0).with_roughness(0.7)),
        ];
        for land in lands {
            let elevation = land.sampler(wide);
            let inside = (0..2500)
                .map(|i| DVec2::new(f64::from(i % 50) / 50.0, f64::from(i / 50) / 50.0))
                .filter(|&place| (0.0..=100.0).contains(&elevation((place - 0.5) * wide)))
                .count();
            assert!((2350..2500).contains(&inside), "{inside} of 2500");
        }
    }
}

#[test]
fn plane_has_its_exact_slope() {
    for (downhill, way) in [
        (0.0, DVec2::NEG_Y),
        (90.0, DVec2::X),
        (180.0, DVec2::Y),
        (270.0, DVec2::NEG_X),
    ] {
        let plane = TiltedPlane::default()
            .with_slope(0.3)
            .with_downhill(downhill);
        let elevation = plane.sampler(EXTENT);
        let start = DVec2::new(40.0, -70.0);
        let drop = elevation(start) - elevation(start + 200.0 * way);
        assert!((drop - 60.0).abs() < 1e-9, "{drop}");
        assert_eq!(elevation(DVec2::ZERO), 125.0);
    }
}

#[test]
fn smooth_cone_has_its_exact_apex_flank_and_foot() {
    let cone = ConicalHill::default().with_roughness(0.0).with_base(10.0);
    let elevation = cone.sampler(EXTENT);
    assert_eq!(elevation(DVec2::ZERO), 260.0);
    assert_eq!(elevation(DVec2::new(0.0, -210.0)), 135.0);
    assert_eq!(elevation(DVec2::new(420.0, 0.0)), 10.0);
    assert_eq!(elevation(DVec2::new(-400.0, 300.0)), 10.0);
}

#[test]
fn sine_waves_have_their_amplitude_and_wavelength() {
    let waves = SineWaves::default();
    let elevation = waves.sampler(EXTENT);
    assert!((elevation(DVec2::splat(100.0)) - 120.0).abs() < 1e-9);
    assert!((elevation(DVec2::new(-100.0, 100.0)) - 0.0).abs() < 1e-9);
    assert!((elevation(DVec2::splat(4100.0)) - 120.0).abs() < 1e-9);
    assert_eq!(elevation(DVec2::new(0.0, 100.0)), 60.0);
}

#[test]
fn basin_is_lowest_at_its_center_and_slopes_evenly() {
    let basin = FourSlopeBasin::default();
    for (point, height) in sample(&basin, 41) {
        assert!(height > 0.0 || point == DVec2::ZERO, "at {point}");
        assert!((height - 0.3 * point.abs().max_element()).abs() < 1e-9);
    }
    assert_eq!(basin.sampler(EXTENT)(DVec2::new(9e9, 0.0)), 150.0);
}

#[test]
fn channel_lies_below_its_banks_and_falls_along_its_whole_length() {
    let channel = WindingChannel::default();
    let elevation = channel.sampler(EXTENT);
    let mut last = f64::INFINITY;
    for y in (-400..=400).map(f64::from) {
        let row: Vec<f64> = (-500..=500)
            .map(|x| elevation(DVec2::new(f64::from(x), y)))
            .collect();
        let bed = row.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((row[0] - bed - 25.0).abs() < 0.1, "left bank at {y}");
        assert!((row[1000] - bed - 25.0).abs() < 0.1, "right bank at {y}");
        // The bed is found to the nearest metre of x only.
        assert!(bed < last + 0.05, "the bed rises at {y}");
        last = bed;
    }
}

#[test]
fn letters_are_high_on_their_strokes_and_low_between() {
    for roughness in [0.0, 30.0] {
        let letters = Letters::new("o h").with_size(300.0).with_stroke_width(80.0);
        let letters = letters.with_roughness(roughness).with_seed(9);
        let elevation = letters.sampler(EXTENT);
        // From the left: O is 240 m wide, the space 120 m, H 210 m, with two gaps of 104 m.
        let left = -(240.0 + 104.0 + 120.0 + 104.0 + 210.0) / 2.0;
        let high = [
            (0.0, 0.0),
            (240.0, 0.0),
            (568.0, -100.0),
            (778.0, 90.0),
            (673.0, 0.0),
        ];
        let low = [
            (120.0, 0.0),
            (404.0, 0.0),
            (673.0, -110.0),
            (673.0, 110.0),
            (404.0, 140.0),
        ];
        let at = |(x, y): (f64, f64)| elevation(DVec2::new(left + x, y));
        let lowest = high.map(at).into_iter().fold(f64::INFINITY, f64::min);
        let highest = low.map(at).into_iter().fold(f64::NEG_INFINITY, f64::max);
        assert!(lowest > 80.0, "a stroke of {lowest} m");
        assert!(highest < 20.0, "a gap of {highest} m");
    }
}

#[test]
fn long_words_shrink_to_fit() {
    let long = Letters::new("EROSION 2007").with_roughness(0.0);
    for (point, height) in sample(&long, 101) {
        let rim = (EXTENT / 2.0 - point.abs()).min_element() < 1.0;
        assert!(!rim || height == 0.0, "{height} m at the rim {point}");
    }
}

#[test]
fn every_letter_and_digit_can_be_written_inside_its_box() {
    for character in ('A'..='Z').chain('0'..='9').chain('a'..='z') {
        let (strokes, width) = glyphs::glyph(character).unwrap();
        assert!(!strokes.is_empty());
        for end in strokes.into_iter().flat_map(|(a, b)| [a, b]) {
            let inside = (-0.01..=width + 0.01).contains(&end.x) && (-0.01..=1.01).contains(&end.y);
            assert!(inside, "{character} leaves its box at {end}");
        }
    }
}

#[test]
fn islands_end_in_the_sea() {
    for seed in 0..8 {
        let island = Island::new(Ridged::seeded(seed), seed);
        let elevation = island.sampler(DVec2::splat(1000.0));
        let mut land = 0;
        for step in 0..360 {
            let angle = f64::from(step).to_radians();
            let way = DVec2::new(libm::cos(angle), libm::sin(angle));
            assert_eq!(elevation(way * 490.001), -30.0);
            assert_eq!(elevation(way * 5000.0), -30.0);
            land += i32::from(elevation(way * 200.0) > 0.0);
        }
        assert!(land > 200, "the middle is land at {land} of 360 points");
    }
}

#[test]
fn faults_lift_one_side() {
    let one = Faults::seeded(2)
        .with_count(1)
        .with_scarp(0.0)
        .with_roughness(0.0);
    let mut heights: Vec<f64> = sample(&one, 30).into_iter().map(|(_, h)| h).collect();
    heights.sort_by(f64::total_cmp);
    heights.dedup();
    assert_eq!(heights.len(), 2, "one fault has two sides");
    assert_eq!(heights[0], -heights[1]);
}

#[test]
fn noise_shows_no_grid() {
    // On average over many lands, no direction is rougher than another.
    let steps = 16;
    let mut energy = vec![0.0; steps];
    for seed in 0..60 {
        let land = Fbm::seeded(seed).with_feature_size(40.0).with_octaves(1);
        let elevation = land.sampler(EXTENT);
        for (direction, energy) in energy.iter_mut().enumerate() {
            let angle = core::f64::consts::PI * direction as f64 / steps as f64;
            let way = DVec2::new(libm::cos(angle), libm::sin(angle));
            for along in 0..2000 {
                let start = way * f64::from(along) * 8.0;
                let change = elevation(start + way) - elevation(start);
                *energy += change * change;
            }
        }
    }
    let low = energy.iter().copied().fold(f64::MAX, f64::min);
    let high = energy.iter().copied().fold(f64::MIN, f64::max);
    assert!(high / low < 1.1, "roughest to smoothest {}", high / low);
}
