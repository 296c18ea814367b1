//! Every number of every settings type is described, and the descriptions agree
//! with the defaults, with each other and with the docs.

use super::{check::visit_numbers, *};
use crate::{
    forcing::{
        Evaporation, LavaSource, Rain, RainPattern, Season, WaterSink, WaterSource, edits::Brush,
    },
    masks::MaskSettings,
    models::{
        droplet::{Droplets, PublishedDroplets, Streams},
        lava::Lava,
        meander::{CurveSignal, MeanderingRiver, RiverStretch},
        pipe::{PipeModel, PublishedPipe},
        shallow_water::{PublishedShallowWater, ShallowWater},
        thermal::Thermal,
    },
    terrain::SettingsError,
};
use core::convert::Infallible;
use std::collections::BTreeMap;

/// Calls `visit` with each number's path and description, over settings in
/// which all optional parts and all variants occur.
fn every_number(visit: &mut dyn FnMut(String, Option<&Setting>, f64)) {
    let season = Some(Season::default());
    let accumulated = MeanderingRiver {
        curve: CurveSignal::Accumulated {
            least_turn: 0.0,
            decay: 3.0,
            limit: 1.5,
        },
        ..default()
    };
    let all: [&dyn Reflect; 20] = [
        &Rain {
            season,
            ..default()
        },
        &Rain::default().with_pattern(RainPattern::drops(1)),
        &Rain::default().with_pattern(RainPattern::blue_noise(1)),
        &Evaporation {
            season,
            ..default()
        },
        &WaterSource::default(),
        &WaterSink::default(),
        &LavaSource::default(),
        &Brush::default(),
        &MaskSettings::default(),
        &Droplets {
            streams: Some(Streams::default()),
            published: Some(PublishedDroplets::default()),
            ..default()
        },
        &PipeModel::default(),
        &PipeModel::as_published(),
        &ShallowWater::default(),
        &ShallowWater::as_published(),
        &PublishedPipe::default(),
        &PublishedShallowWater::default(),
        &Lava::default(),
        &Thermal::default(),
        &MeanderingRiver::default(),
        &accumulated,
    ];
    let mut of = |settings: &dyn Reflect| {
        let name = settings.reflect_short_type_path();
        let visited: Result<(), Infallible> = visit_numbers(
            settings.as_partial_reflect(),
            &mut |path, setting, number| {
                visit(format!("{name}.{path}"), setting, number.as_f64());
                Ok(())
            },
        );
        let Ok(()) = visited;
    };
    for settings in all {
        of(settings);
    }
    of(&RiverStretch::default());
}

#[test]
fn every_number_is_described_and_its_default_is_sensible() {
    let mut count = 0;
    every_number(&mut |path, setting, default| {
        count += 1;
        let Some(setting) = setting else {
            panic!("{path} has no description");
        };
        let range = setting.range().expect("a number has a range");
        let limits = setting.hard_limits();
        assert!(range.start() < range.end(), "{path}: {range:?}");
        let within = limits.start() <= range.start() && range.end() <= limits.end();
        assert!(within, "{path}: {range:?} within {limits:?}");
        // Single precision: 0.1 is a little more than 0.1.
        let (low, high) = (*range.start() as f32, *range.end() as f32);
        assert!(
            (low..=high).contains(&(default as f32)),
            "{path}: {default} in {range:?}"
        );
        assert!(!setting.explanation().is_empty(), "{path}");
    });
    assert!(count > 140, "{count}");
}

/// The units that doc comments name: field, unit of its attribute, unit of its
/// docs.
fn units_in(source: &str) -> Vec<(String, String, Option<String>)> {
    let mut found = Vec::new();
    let (mut docs, mut attribute) = (String::new(), String::new());
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            docs = format!("{docs} {}", text.trim());
        } else if line.starts_with('#') || (!attribute.is_empty() && line.starts_with('.')) {
            attribute += line;
        } else {
            let unit = attribute
                .split_once("@Setting::new(\"")
                .map(|(_, rest)| rest);
            if let Some((unit, _)) = unit.and_then(|rest| rest.split_once('"')) {
                let named = docs.rsplit_once("units: ").map(|(_, named)| {
                    let named = named.split(" (").next().unwrap_or_default();
                    named.trim_end_matches('.').to_owned()
                });
                found.push((line.to_owned(), unit.to_owned(), named));
            }
            docs.clear();
            attribute.clear();
        }
    }
    found
}

#[test]
fn units_agree_with_the_docs() {
    let sources = BTreeMap::from([
        ("rain", include_str!("../forcing/rain.rs")),
        ("evaporation", include_str!("../forcing/evaporation.rs")),
        ("season", include_str!("../forcing/season.rs")),
        ("springs", include_str!("../forcing/springs.rs")),
        ("vents", include_str!("../forcing/vents.rs")),
        ("brush", include_str!("../forcing/edits/brush.rs")),
        ("masks", include_str!("../masks/fields.rs")),
        ("droplet", include_str!("../models/droplet/mod.rs")),
        ("streams", include_str!("../models/droplet/streams.rs")),
        (
            "published droplets",
            include_str!("../models/droplet/published.rs"),
        ),
        ("pipe", include_str!("../models/pipe/mod.rs")),
        (
            "published pipe",
            include_str!("../models/pipe/published.rs"),
        ),
        (
            "shallow water",
            include_str!("../models/shallow_water/mod.rs"),
        ),
        (
            "published water",
            include_str!("../models/shallow_water/published.rs"),
        ),
        ("lava", include_str!("../models/lava/mod.rs")),
        ("thermal", include_str!("../models/thermal/mod.rs")),
        ("river", include_str!("../models/meander/mod.rs")),
        ("curve", include_str!("../models/meander/curve.rs")),
        ("stretch", include_str!("../models/meander/stretch.rs")),
        ("colors", include_str!("../view/colors.rs")),
        ("water view", include_str!("../view/water/mod.rs")),
        ("detail", include_str!("../view/detail/mod.rs")),
    ]);
    for (name, source) in sources {
        let units = units_in(source);
        assert!(!units.is_empty(), "{name}");
        for (field, unit, named) in units {
            assert_eq!(unit, named.unwrap_or_default(), "{name}: {field}");
        }
    }
}

#[test]
fn limits_are_those_of_the_fields_precision() {
    // 89.9 as `f32` is a little more than 89.9.
    let steep = Thermal {
        bedrock_angle: 89.9,
        ..default()
    };
    assert_eq!(check(&steep), Ok(()));
    for angle in [f32::NAN, f32::INFINITY, -0.1, 90.0] {
        let thermal = Thermal {
            bedrock_angle: angle,
            ..default()
        };
        let error = check(&thermal).expect_err("out of range");
        assert_eq!((error.model, &*error.field), ("Thermal", "bedrock_angle"));
        assert_eq!(error.reason, format!("must be 0 to 89.9, was {angle}"));
    }
    assert_eq!(
        check(&Droplets::seeded(u64::MAX)),
        Ok(()),
        "a seed has no limits"
    );
    // Infinite where the limits are.
    assert_eq!(check(&MeanderingRiver::as_published()), Ok(()));
    let setting = Setting::new("", 0.0..=1.0);
    assert!(setting.accepts_single(f32::MAX) && !setting.accepts_single(f32::INFINITY));
    assert!(!setting.accepts_single(f32::NAN) && !setting.accepts(f64::NEG_INFINITY));
}

#[test]
fn errors_name_fields_of_parts_and_variants() {
    let field = |error: Result<(), SettingsError>| error.expect_err("out of range").to_string();
    let droplets = Droplets {
        streams: Some(Streams {
            memory: 2.0,
            ..default()
        }),
        ..default()
    };
    assert_eq!(
        field(droplets.check()),
        "`Droplets.streams.memory`: must be 0.001 to 1, was 2"
    );
    let droplets = Droplets {
        published: Some(PublishedDroplets {
            time_step: 10.0,
            ..default()
        }),
        ..default()
    };
    assert!(field(droplets.check()).starts_with("`Droplets.published.time_step`: times"));
    let rain = Rain::default().with_pattern(RainPattern::Drops {
        radius: 0.0,
        depth: 0.1,
        seed: 1,
    });
    assert_eq!(
        field(rain.check()),
        "`Rain.pattern.radius`: must be 0.001 to 1000000, was 0"
    );
    let lava = Lava {
        max_substeps: 0,
        ..default()
    };
    assert_eq!(
        field(lava.check()),
        "`Lava.max_substeps`: must be 1 to 1024, was 0"
    );
}

#[test]
fn numbers_without_a_description_must_be_finite() {
    #[derive(Reflect)]
    struct Bare {
        share: f64,
        count: Option<u8>,
    }
    let bare = |share| Bare {
        share,
        count: Some(3),
    };
    assert_eq!(check(&bare(1e300)), Ok(()));
    let error = check(&bare(f64::NAN)).expect_err("not finite");
    assert_eq!(error.to_string(), "`Bare.share`: must be finite, was NaN");
}

#[test]
fn the_list_shows_parts_and_variants() {
    let lines: Vec<String> = list(&Droplets::default())
        .iter()
        .map(ToString::to_string)
        .collect();
    let gravity = "gravity = 9.81 m/s²  (0.001 to 1000; usually 0.1 to 30)  Gravity";
    assert!(lines.iter().any(|line| line == gravity), "{lines:#?}");
    for start in [
        "seed = 0  (usually 0 to 9999)",
        "streams = None  ",
        "streams.onset = 2000 m²",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{start}: {lines:#?}"
        );
    }
    let rain = list(&Rain::default());
    let value = |path: &str| {
        let line = rain.iter().find(|line| line.path == path);
        line.map(|line| line.value.clone())
    };
    assert_eq!(
        value("pattern").as_deref(),
        Some("Uniform (of Uniform, Drops, BlueNoise, Map)")
    );
    assert_eq!(value("pattern.BlueNoise.spacing").as_deref(), Some("8"));
}

#[test]
fn paths_switch_on_what_they_lead_through() {
    let mut droplets = Droplets::default();
    for listed in list(&Droplets::default()) {
        let path = open_path(&mut droplets, &listed.path).expect("listed");
        assert_eq!(path, listed.path);
    }
    assert_eq!(droplets.streams, Some(Streams::default()));
    assert_eq!(droplets.published, Some(PublishedDroplets::default()));

    // What is on already stays as it is.
    let streams = Some(Streams {
        onset: 7.0,
        ..default()
    });
    droplets.streams = streams;
    open_path(&mut droplets, "streams.pull").expect("there");
    assert_eq!(droplets.streams, streams);

    // An option that leads no further stays off, and starts with its own values:
    // water dries when it does not rain.
    let mut evaporation = Evaporation::default();
    open_path(&mut evaporation, "season").expect("there");
    assert_eq!(evaporation.season, None);
    open_path(&mut evaporation, "season.year").expect("there");
    assert_eq!(evaporation.season, Some(Season::default().opposite()));
}

#[test]
fn paths_choose_variants() {
    let mut rain = Rain::default();
    let path = open_path(&mut rain, "pattern.Drops.radius");
    assert_eq!(path.as_deref(), Ok("pattern.radius"));
    assert_eq!(rain.pattern, RainPattern::drops(0));
    // The variant that it is already keeps its values, named or not.
    rain.pattern = RainPattern::drops(5);
    for path in ["pattern.Drops.seed", "pattern.seed"] {
        assert_eq!(
            open_path(&mut rain, path).as_deref(),
            Ok("pattern.seed"),
            "{path}"
        );
        assert_eq!(rain.pattern, RainPattern::drops(5), "{path}");
    }
    for listed in list(&Rain::default()) {
        assert!(
            open_path(&mut rain, &listed.path).is_ok(),
            "{}",
            listed.path
        );
    }
}

#[test]
fn paths_to_nothing_say_what_there_is_and_change_nothing() {
    let mut droplets = Droplets::default();
    for (path, words) in [
        ("tides", &["`Droplets.tides`", "gravity", "streams"][..]),
        (
            "streams.tides",
            &["`streams.tides`", "streams.onset", "streams.memory"],
        ),
        ("gravity.x", &["`gravity` has no parts"]),
        ("", &["no setting ``", "gravity"]),
        ("streams.", &["`streams.`", "streams.onset"]),
    ] {
        let error = open_path(&mut droplets, path).expect_err(path).to_string();
        for word in words {
            assert!(error.contains(word), "{path}: `{word}` is not in {error}");
        }
    }
    assert_eq!(droplets, Droplets::default());
    let mut rain = Rain::default();
    for (path, words) in [
        ("pattern.spacing", &["Uniform", "BlueNoise.spacing"][..]),
        ("pattern.Drops.spacing", &["pattern.Drops.spacing"]),
        ("pattern.Drops", &["variant of `pattern`"]),
        ("pattern.Map.weight", &["`Map` has no values to start with"]),
    ] {
        let error = open_path(&mut rain, path).expect_err(path).to_string();
        for word in words {
            assert!(error.contains(word), "{path}: `{word}` is not in {error}");
        }
    }
    assert_eq!(rain, Rain::default());

    // An option without values to start with.
    #[derive(Reflect)]
    struct Outer {
        inner: Option<Inner>,
    }
    #[derive(Reflect)]
    struct Inner {
        share: f32,
    }
    let mut outer = Outer { inner: None };
    let error = open_path(&mut outer, "inner.share").expect_err("nothing to start with");
    assert!(error.reason.contains("`inner` is None"), "{error}");
    outer.inner = Some(Inner { share: 0.5 });
    assert!(open_path(&mut outer, "inner.share").is_ok());
    assert!(outer.inner.is_some_and(|inner| inner.share == 0.5));
}
