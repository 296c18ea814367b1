//! `erode settings` lists what `--set` takes, and `--set` takes what it lists.

use super::{erode, report};
use crate::folder::Folder;
use serde_json::Value;

/// A land of a few cells, and the files of a run on it.
const LAND: &str = "land.r32 --size 4x4 --cell-size 2 --out out.r32";

fn make_land(folder: &Folder) {
    report(folder, "generate billow --size 4x4 --out land.r32");
}

/// The settings of a pass's only model.
fn settings_of(folder: &Folder, pass: &str) -> Value {
    let report = report(folder, &format!("{LAND} {pass} --seconds 0"));
    let models = report["passes"][0]["models"].as_array().expect("models");
    assert_eq!(models.len(), 1, "{pass}");
    models[0]["settings"].clone()
}

/// A number that is listed.
struct Listed {
    /// The model, then the names of fields and variants.
    path: Vec<String>,
    default: f64,
    /// The highest that is allowed.
    highest: f64,
}

impl Listed {
    fn from_line(line: &str) -> Option<Self> {
        let (path, rest) = line.split_once(" = ")?;
        let default = rest.split_whitespace().next()?.parse().ok()?;
        let limits = rest.split_once("  (").map_or("", |(_, limits)| limits);
        let limits = limits.split_once("; usually").map(|(limits, _)| limits);
        let highest = limits.and_then(|limits| limits.split_once(" to ")?.1.parse().ok());
        Some(Self {
            path: path.split('.').map(Into::into).collect(),
            default,
            highest: highest.unwrap_or(f64::INFINITY),
        })
    }

    /// Another value, whole where the default is: it may be a count.
    fn other(&self) -> f64 {
        match self.default.fract() == 0.0 {
            true if self.default + 1.0 <= self.highest => self.default + 1.0,
            true => self.default - 1.0,
            false => self.default * 0.5,
        }
    }
}

/// What `--model` takes.
fn model_names(folder: &Folder) -> Vec<String> {
    let unknown = erode(folder, "settings magma");
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""));
    assert!(unknown.err.contains("`magma`"), "{}", unknown.err);
    let names = unknown.err.trim_end().split_once("expected one of ");
    let names = names.expect("the models that there are").1;
    names.split(", ").map(Into::into).collect()
}

#[test]
fn settings_are_listed_with_units_and_limits() {
    let folder = Folder::new("cli-listed");
    let names = model_names(&folder);
    for known in ["rain", "evaporation", "droplets", "pipe", "thermal"] {
        assert!(names.iter().any(|name| name == known), "{names:?}");
    }
    let all = erode(&folder, "settings");
    assert_eq!((all.code, all.err.as_str()), (Some(0), ""));
    let mut lines = all.out.lines();
    for name in &names {
        let own = erode(&folder, &format!("settings {name}"));
        assert_eq!(own.code, Some(0), "{name}");
        assert!(own.out.lines().count() > 1, "{name}: {}", own.out);
        for line in own.out.lines() {
            assert!(line.starts_with(&format!("{name}.")), "{line}");
            assert_eq!(lines.next(), Some(line), "in the list of all");
            if Listed::from_line(line).is_some() {
                assert!(line.contains("usually "), "no range: {line}");
            }
        }
    }
    assert_eq!(lines.next(), None);
    for start in [
        "pipe.roughness = 0.06 s/m^⅓  (0 to 1; usually 0 to 0.2)  ",
        "shallow-water.roughness = 0.03 s/m^⅓  (",
        "rain.season = None  ",
        "rain.season.year = 120 s  (0.1 to 100000000; usually 1 to 3600)  ",
        "rain.pattern.BlueNoise.spacing = 8 m  (",
        "droplets.streams.onset = 2000 m²  (",
    ] {
        assert!(
            all.out.lines().any(|line| line.starts_with(start)),
            "{start}: {}",
            all.out
        );
    }
    // In whatever case.
    let pipe = erode(&folder, "settings Pipe").out;
    assert_eq!(pipe, erode(&folder, "settings pipe").out);
}

#[test]
fn all_that_is_listed_can_be_set() {
    let folder = Folder::new("cli-set-listed");
    make_land(&folder);
    let mut count = 0;
    for name in model_names(&folder) {
        let listed = erode(&folder, &format!("settings {name}")).out;
        let listed: Vec<Listed> = listed.lines().filter_map(Listed::from_line).collect();
        let sets = listed
            .iter()
            .map(|listed| format!("--set {}={}", listed.path.join("."), listed.other()));
        let sets: Vec<String> = sets.collect();
        let settings = settings_of(&folder, &format!("--model {name} {}", sets.join(" ")));
        for listed in &listed {
            let path = listed.path.join(".");
            let mut value = &settings;
            for part in &listed.path[1..] {
                value = &value[part];
            }
            // Another variant was chosen after this one.
            let replaced = ["rain.pattern.Drops.", "ageing.uplift.Rate."];
            if replaced.iter().any(|start| path.starts_with(start)) {
                assert!(value.is_null(), "{path}");
                continue;
            }
            let value = value.as_f64().expect("a number");
            let expected = listed.other();
            assert!(
                (value - expected).abs() <= 1e-6 * expected.abs(),
                "{path}: {value}, not {expected}"
            );
            count += 1;
        }
    }
    assert!(count > 70, "{count}");
}

#[test]
fn a_part_that_is_off_starts_with_its_defaults() {
    let folder = Folder::new("cli-set-parts");
    make_land(&folder);
    // With and without the model's name.
    for path in ["droplets.streams.onset", "streams.onset"] {
        let settings = settings_of(&folder, &format!("--model droplets --set {path}=4000"));
        assert_eq!(settings["streams"]["onset"], 4000.0, "{path}");
        assert_eq!(settings["streams"]["pull"], 0.5, "{path}");
        assert!(settings["published"].is_null(), "{path}");
    }
    // Water dries in the other half of the year, unless it is told otherwise.
    let season = &settings_of(&folder, "--model evaporation --set season.year=60")["season"];
    assert_eq!(
        (&season["year"], &season["start"]),
        (&60.0.into(), &0.5.into())
    );
    // What a preset switches on stays as it is.
    let preset = "(models: (droplets: (streams: (pull: 0.25))))";
    std::fs::write(folder.file("preset.ron"), preset).expect("writable");
    let pass = "--preset preset.ron --model droplets --set streams.onset=4000";
    let streams = &settings_of(&folder, pass)["streams"];
    assert_eq!(
        (&streams["onset"], &streams["pull"]),
        (&4000.0.into(), &0.25.into())
    );
    // A variant keeps its values when one of them is set, and is chosen by its name.
    let pass = "--model rain --set pattern.Drops.radius=3 --set pattern.Drops.seed=7 \
                --set pattern.depth=0.5";
    let drops = &settings_of(&folder, pass)["pattern"]["Drops"];
    assert_eq!((&drops["radius"], &drops["seed"]), (&3.0.into(), &7.into()));
    assert_eq!(drops["depth"], 0.5);
}

#[test]
fn optional_parts_are_written_as_options_or_without() {
    let folder = Folder::new("cli-set-options");
    make_land(&folder);
    let streams = |sets: &str| {
        let settings = settings_of(&folder, &format!("--model droplets {sets}"));
        settings["streams"].clone()
    };
    let defaults = streams("--set streams=()");
    assert_eq!(defaults["onset"], 2000.0);
    assert_eq!(streams("--set streams=Some(())"), defaults);
    for written in [
        "(onset:9.0)",
        "Some((onset:9.0))",
        "Some(onset:9.0)",
        "Some((onset:9.0,),)",
    ] {
        let streams = streams(&format!("--set streams={written}"));
        assert_eq!(streams["onset"], 9.0, "{written}");
        assert_eq!(streams["pull"], defaults["pull"], "{written}");
    }
    assert!(streams("--set streams=() --set streams=None").is_null());
    assert!(streams("--set streams=Some(()) --set droplets.streams=None").is_null());
    // Once off, a part starts anew.
    let anew = streams("--set streams=(pull:0.1) --set streams=None --set streams.onset=9");
    assert_eq!(
        (&anew["onset"], &anew["pull"]),
        (&9.0.into(), &defaults["pull"])
    );
}
