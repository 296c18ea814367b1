//! Files in and out: every format, masks, previews, and what is said of them.

use super::{erode, make_hills, names, report};
use crate::folder::Folder;
use bevy_erode::prelude::*;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn every_format_is_written_and_read_again() {
    let folder = Folder::new("cli-formats");
    let made = make_hills(&folder, "land.erode");
    let (lowest, highest) = (
        number(&made["output"]["lowest"]),
        number(&made["output"]["highest"]),
    );
    let mut grounds = Vec::new();
    for (format, name) in [
        ("png", "a.png"),
        ("exr", "a.exr"),
        ("tif", "a.tif"),
        ("tif16", "b.tif"),
        ("r16", "a.r16"),
        ("r16be", "b.r16"),
        ("r32", "a.r32"),
        ("r32be", "b.r32"),
    ] {
        // No erosion: only the format changes.
        let nothing = "--model thermal --seconds 0";
        let line = format!("land.erode {nothing} --out {name} --format {format}");
        let written = report(&folder, &line);
        assert_eq!(written["output"]["format"], format);
        let mut options = String::new();
        if format.starts_with('r') {
            options = format!("--size 64x64 --cell-size 4 --input-format {format}");
        }
        if format.starts_with("r16") {
            let range = &written["output"]["range"];
            options += &format!(" --range {} {}", range[0], range[1]);
        }
        let about = report(&folder, &format!("info {name} {options}"));
        assert_eq!(about["size"], serde_json::json!([64, 64]), "{format}");
        assert_eq!(about["cell_size"], 4.0, "{format}");
        assert!(
            (number(&about["lowest"]) - lowest).abs() < 0.002,
            "{format}"
        );
        assert!(
            (number(&about["highest"]) - highest).abs() < 0.002,
            "{format}"
        );
        let again = report(
            &folder,
            &format!("{name} {options} {nothing} --out again.r32"),
        );
        let raw = std::fs::read(folder.file("again.r32")).expect("written");
        grounds.push(raw);
        assert_eq!(again["input"]["size"], about["size"]);
    }
    // Floats keep every bit, 16 bits a part of the range.
    let heights = |raw: &[u8]| -> Vec<f32> {
        raw.as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect()
    };
    let exact = heights(&grounds[1]);
    for (number, ground) in grounds.iter().enumerate() {
        let whole = matches!(number, 0 | 3 | 4 | 5);
        let step = if whole {
            (highest - lowest) / 65_535.0
        } else {
            0.0
        };
        for (a, b) in heights(ground).iter().zip(&exact) {
            assert!(f64::from((a - b).abs()) <= step, "format {number}: {a} {b}");
        }
    }
}

#[test]
fn a_range_that_was_given_is_kept_while_it_fits() {
    let folder = Folder::new("cli-range");
    make_hills(&folder, "land.r16");
    let raw = "land.r16 --size 64x64 --cell-size 4 --range -50 300";
    let drops = "--model droplets --droplets 2000";
    let kept = report(&folder, &format!("{raw} {drops} --out out.png"));
    assert_eq!(kept["output"]["range"], serde_json::json!([-50.0, 300.0]));
    let other = report(
        &folder,
        &format!("{raw} {drops} --out out.png --out-range -100 400"),
    );
    assert_eq!(other["output"]["range"], serde_json::json!([-100.0, 400.0]));
    // A soil of 10 m lifts the land out of it.
    let grown = report(&folder, &format!("{raw} --soil 10 {drops} --out out.png"));
    assert!(number(&grown["output"]["range"][1]) > 300.0);
    let map = Heightmap::read_file(folder.file("out.png"), &HeightmapOptions::default());
    let highest = map.expect("a map").values.into_iter().fold(0.0, f32::max);
    assert!((f64::from(highest) - number(&grown["output"]["highest"])).abs() < 0.01);
}

#[test]
fn masks_and_preview_are_written() {
    let folder = Folder::new("cli-masks");
    make_hills(&folder, "land.png");
    let passes = "--model rain+pipe --seconds 5 --set rain.mm_per_hour=3000 \
                  --model droplets --droplets 3000";
    let files = "--masks all/masks --preview view.png";
    let report = report(&folder, &format!("land.png {passes} {files} --out out.png"));
    let masks = report["masks"].as_array().expect("masks");
    let expected = ["deposit", "flow", "slope", "soil_depth", "wear", "wetness"];
    assert_eq!(
        names(&folder.file("all/masks")),
        expected.map(|name| format!("{name}.png"))
    );
    assert_eq!(masks.len(), expected.len());
    for mask in masks {
        let path = folder.file(mask["file"].as_str().expect("a path"));
        let map = Heightmap::read_file(path, &HeightmapOptions::default()).expect("a map");
        assert_eq!(map.cell_size, Some(4.0));
        let highest = map.values.iter().copied().fold(0.0, f32::max);
        let said = number(&mask["highest"]);
        assert!(
            said > 0.0 && (f64::from(highest) - said).abs() < 1e-4 * said,
            "{mask}"
        );
    }
    // Wear is what the ground lost.
    let read = |name: &str| {
        let map = Heightmap::read_file(folder.file(name), &HeightmapOptions::default());
        map.expect("a map").values
    };
    let (before, after, wear) = (
        read("land.png"),
        read("out.png"),
        read("all/masks/wear.png"),
    );
    for ((before, after), wear) in before.iter().zip(&after).zip(&wear) {
        assert!(((before - after).max(0.0) - wear).abs() < 0.01);
    }
    let view = image::open(folder.file("view.png"))
        .expect("a picture")
        .to_rgb8();
    assert_eq!(view.dimensions(), (768, 768));
    // Light and shadow, not a single color.
    let brightness = view
        .pixels()
        .map(|pixel| pixel.0.iter().map(|c| u32::from(*c)).sum());
    let mut brightness: Vec<u32> = brightness.collect();
    brightness.sort_unstable();
    let (dark, light) = (
        brightness[brightness.len() / 20],
        brightness[brightness.len() * 19 / 20],
    );
    assert!(light > dark + 150, "{dark} to {light}");

    let line = format!("land.png {passes} --masks m --mask-format exr --out out.png");
    super::report(&folder, &line);
    assert_eq!(
        names(&folder.file("m")),
        expected.map(|name| format!("{name}.exr"))
    );
}

#[test]
fn progress_is_plain_lines_where_there_is_no_terminal() {
    let folder = Folder::new("cli-lines");
    make_hills(&folder, "land.png");
    let line = "land.png --model droplets --droplets 500 --model thermal --seconds 1 --out o.png";
    let run = erode(&folder, line);
    assert_eq!(
        run.err
            .lines()
            .map(|line| line.split(" done in").next().unwrap_or(line))
            .collect::<Vec<_>>(),
        [
            "pass 1 of 2: droplets, 500 drops: will be hardly visible (38 mm of run-off, expected \
             mean change about 19 mm); try --runoff 20",
            "pass 1 of 2: droplets, 500 drops",
            "pass 1 of 2: droplets, 500 drops:",
            "pass 2 of 2: thermal, 1 s: will be small by nature (1 s)",
            "pass 2 of 2: thermal, 1 s",
            "pass 2 of 2: thermal, 1 s:",
        ]
    );
    assert!(!run.err.contains(['\u{1b}', '\r']), "{:?}", run.err);
    assert!(
        run.out.contains("m³ moved")
            && run.out.contains("of the sum of absolute volumes")
            && run.out.contains("o.png: "),
        "{}",
        run.out
    );

    let quiet = erode(&folder, &format!("{line} --quiet"));
    assert_eq!(
        (quiet.code, quiet.out.as_str(), quiet.err.as_str()),
        (Some(0), "", "")
    );
    let json = erode(&folder, &format!("{line} -q --json"));
    assert_eq!(json.err, "");
    let report: Value = serde_json::from_str(&json.out).expect("nothing but JSON");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));

    let dry = erode(&folder, "land.png --model pipe --seconds 1 --out o.png");
    assert_eq!(dry.code, Some(0));
    assert!(
        dry.err.contains("there is no water and no rain"),
        "{}",
        dry.err
    );
}

#[test]
fn files_are_told_of() {
    let folder = Folder::new("cli-info");
    let made = make_hills(&folder, "land.erode");
    let state = report(&folder, "info land.erode");
    assert_eq!(state["kind"], "state");
    assert_eq!(state["state_hash"], made["state_hash"]);
    assert_eq!(state["land"]["cell_size"], 4.0);

    make_hills(&folder, "land.r16");
    let raw = report(&folder, "info land.r16 --size 64x64");
    assert_eq!(
        (&raw["metres"], &raw["highest"]),
        (&false.into(), &65_535.0.into())
    );
    let said = erode(&folder, "info land.r16 --size 64x64").out;
    assert!(said.contains("--range") && said.contains("65535"), "{said}");
    let scene = erode(&folder, "info scene:seasons").out;
    assert!(
        scene.contains("Rivers and lakes") && scene.contains("400 × 400"),
        "{scene}"
    );
}

#[test]
fn help_has_examples() {
    let folder = Folder::new("cli-help");
    for (line, words) in [
        ("--help", "erode alps.png --range 400 4800"),
        ("generate --help", "erode generate ridged --seed 7"),
        ("info --help", "--json"),
        ("scenes --help", "[NAME]"),
        ("settings --help", "[MODEL]"),
    ] {
        let run = erode(&folder, line);
        assert_eq!(run.code, Some(0));
        assert!(run.out.contains(words), "{line}: {}", run.out);
    }
    let nothing = erode(&folder, "");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Examples:"), "{}", nothing.err);
}
