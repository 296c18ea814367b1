//! What a bake gives: what the library gives, on any threads.

use super::{erode, make_hills, names, report};
use crate::folder::Folder;
use bevy::math::UVec2;
use bevy_erode::prelude::*;
use bevy_erode::{
    bake::{BakeModel, BakeProgress},
    forcing::{EvaporationSolver, RainSolver},
    models::pipe::PipeSolver,
    models::shallow_water::ShallowWaterSolver,
    models::thermal::ThermalSolver,
};
use serde_json::{Value, json};

/// The land that [`make_hills`] makes.
fn hills() -> Terrain {
    let land = Fbm::seeded(3).with_height(120.0).with_feature_size(150.0);
    Terrain::generate(&land, UVec2::splat(64), 4.0).expect("valid")
}

fn hash(terrain: &Terrain) -> Value {
    json!(format!("{:016x}", terrain.state_hash()))
}

fn run(bake: Bake) -> Terrain {
    bake.run(&BakeProgress::default()).expect("baked")
}

#[test]
fn passes_run_in_order_and_give_what_the_library_gives() {
    let folder = Folder::new("cli-passes");
    let made = make_hills(&folder, "land.exr");
    assert_eq!(made["state_hash"], hash(&hills()));

    let thermal = Thermal {
        soil_angle: 25.0,
        bedrock_angle: 35.0,
        ..Thermal::default()
    };
    let slides = || [BakeModel::new::<ThermalSolver>(thermal.clone())];
    let drops = Droplets::seeded(9);
    let bake = Bake::new(hills()).with_step(0.1);
    let rained_first = run(bake.droplets(drops.clone(), 20_000).simulate(5.0, slides()));
    let bake = Bake::new(hills()).with_step(0.1);
    let slid_first = run(bake.simulate(5.0, slides()).droplets(drops, 20_000));

    let drops = "--model droplets --droplets 20000";
    let slides = "--model thermal --seconds 5 --set soil_angle=25 --set thermal.bedrock_angle=35";
    for threads in [1, 2, 5] {
        let rest = format!("--seed 9 --threads {threads} --out out.exr");
        let report_of = |passes: &str| report(&folder, &format!("land.exr {passes} {rest}"));
        let first = report_of(&format!("{drops} {slides}"));
        assert_eq!(
            first["state_hash"],
            hash(&rained_first),
            "{threads} threads"
        );
        assert_eq!(first["threads"], threads);
        let second = report_of(&format!("{slides} {drops}"));
        assert_eq!(second["state_hash"], hash(&slid_first), "{threads} threads");
        assert_eq!(first["passes"][0]["droplets"], 20_000);
        assert_eq!(second["passes"][0]["models"][0]["name"], "thermal");
        assert_eq!(
            second["passes"][0]["models"][0]["settings"]["soil_angle"],
            25.0
        );
        assert_eq!(second["passes"][1]["models"][0]["settings"]["seed"], 9);
    }
    let written = Heightmap::read_file(folder.file("out.exr"), &HeightmapOptions::default());
    assert_eq!(written.expect("a map").values, slid_first.ground_heights());
}

/// Numbers of a small bake, so that a change of any default is noticed.
#[test]
fn a_small_bake_moves_what_it_always_moved() {
    let folder = Folder::new("cli-golden");
    make_hills(&folder, "land.exr");
    let passes = "--model droplets --droplets 20000 --model thermal --seconds 5 \
                  --model rain+pipe --seconds 5 --set rain.mm_per_hour=2000 --seed 9";
    let report = report(&folder, &format!("land.exr {passes} --out out.png"));
    let is = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!(
            (value / expected - 1.0).abs() < 1e-3,
            "{value}, not {expected}"
        );
    };
    is(&report["input"]["lowest"], GOLDEN[0]);
    is(&report["output"]["highest"], GOLDEN[1]);
    is(&report["passes"][0]["moved"], GOLDEN[2]);
    is(&report["passes"][1]["moved"], GOLDEN[3]);
    // Five seconds of rain do not carve yet.
    assert_eq!(report["passes"][2]["moved"], 0.0);
    is(&report["ledger"]["solids"]["left"], GOLDEN[4]);
    is(&report["ledger"]["water"]["rained"], GOLDEN[5]);
    // Some of the land lies below height zero: there the sum of absolute volumes is
    // more than the volumes together.
    let solids = &report["ledger"]["solids"];
    assert!(solids["total"].is_null(), "{solids}");
    let volumes = ["bedrock", "soil", "suspended"].map(|name| solids[name].as_f64());
    let volumes: f64 = volumes.into_iter().flatten().sum();
    let absolute = solids["sum_of_absolute_volumes"].as_f64();
    assert!(absolute > Some(volumes + 1.0), "{solids}");
    for drift in ["solids", "water"] {
        let drift = report["drift"][drift].as_f64().expect("a number");
        assert!(drift.abs() < 1e-9, "{drift}");
    }
    let seconds = |part: &str| report["seconds"][part].as_f64().expect("a number");
    assert!(seconds("total") >= seconds("bake") && seconds("bake") > 0.0);
}

/// Lowest before and highest after (m), moved by each pass, gone over the border,
/// rained (m³).
const GOLDEN: [f64; 6] = [-12.0085, 146.25, 97_290.1, 20_273.1, 2_934.57, 182.044];

#[test]
fn models_of_a_pass_run_side_by_side() {
    let folder = Folder::new("cli-together");
    make_hills(&folder, "land.exr");
    let expected = run(Bake::new(hills().with_soil_depth(0.5).expect("valid"))
        .with_step(0.25)
        .simulate(
            4.0,
            [
                BakeModel::new::<RainSolver>(Rain::mm_per_hour(3000.0)),
                BakeModel::new::<EvaporationSolver>(Evaporation::mm_per_hour(70.0)),
                BakeModel::new::<ShallowWaterSolver>(ShallowWater::default()),
                BakeModel::new::<ThermalSolver>(Thermal::default()),
            ],
        ));
    // In whatever order they are named, they act as in an app.
    for models in [
        "rain+evaporation+shallow-water+thermal",
        "Thermal+shallow_water+evaporation+rain",
    ] {
        let set = "--set rain.mm_per_hour=3000 --set evaporation.mm_per_hour=70";
        let pass = format!("--model {models} --seconds 4 --step 0.25 {set}");
        let line = format!("land.exr --soil 0.5 {pass} --out out.erode");
        assert_eq!(report(&folder, &line)["state_hash"], hash(&expected));
    }
    // Nothing of it is lost in a saved state, which can be gone on with.
    let saved = SavedState::read_file(folder.file("out.erode")).expect("a state");
    assert_eq!(saved.terrain().state_hash(), expected.state_hash());
    let more = report(
        &folder,
        "out.erode --model thermal --seconds 1 --out more.tif",
    );
    let bake = Bake::new(saved.into_terrain()).with_step(0.1);
    let expected = run(bake.simulate(1.0, [BakeModel::new::<ThermalSolver>(Thermal::default())]));
    assert_eq!(more["state_hash"], hash(&expected));
}

#[test]
fn scenes_run_by_themselves_or_as_lands() {
    let folder = Folder::new("cli-scenes");
    let text = r#"(
        terrain: (landform: Fbm(seed: 2, height: 40.0), size: (48, 40), soil_depth: 1.0),
        models: (pipe: (roughness: 0.05), thermal: ()),
        forcing: (rain: (mm_per_hour: 2000.0), sources: [(at: (10.0, 5.0), discharge: 4.0)]),
        seconds: 3.0,
        step: 0.05,
    )"#;
    std::fs::write(folder.file("mine.scene.ron"), text).expect("writable");
    let scene = ErosionScene::from_ron("mine", text).expect("a scene");
    let land = scene.build_terrain().expect("a land");
    let mut models = scene.forcing.bake_points(&land);
    models.extend([
        BakeModel::new::<RainSolver>(scene.forcing.rain.clone().expect("rain")),
        BakeModel::new::<PipeSolver>(scene.models.get::<PipeModel>().cloned().expect("pipe")),
        BakeModel::new::<ThermalSolver>(Thermal::default()),
    ]);
    let expected = run(Bake::new(land.clone())
        .with_step(0.05)
        .simulate(3.0, models));
    let own = report(&folder, "mine.scene.ron --out out.r32");
    assert_eq!(own["state_hash"], hash(&expected));
    assert!(own["ledger"]["water"]["poured"].as_f64() > Some(10.0));

    let drops = report(
        &folder,
        "mine.scene.ron --model droplets --droplets 500 --out out.r32",
    );
    let expected = run(Bake::new(land).droplets(Droplets::default(), 500));
    assert_eq!(drops["state_hash"], hash(&expected));
}

#[test]
fn the_programs_own_scenes_are_those_of_the_crate() {
    let folder = Folder::new("cli-own-scenes");
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scenes");
    let listed = erode(&folder, "scenes").out;
    let listed: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let files = names(&assets);
    let files: Vec<&str> = files
        .iter()
        .filter_map(|file| file.strip_suffix(".scene.ron"))
        .collect();
    assert_eq!(listed, files);
    for name in listed {
        let text = std::fs::read_to_string(assets.join(format!("{name}.scene.ron")));
        assert_eq!(
            erode(&folder, &format!("scenes {name}")).out,
            text.expect("a file")
        );
        let about = report(&folder, &format!("info scene:{name}"));
        assert!(
            about["scene"]["title"]
                .as_str()
                .is_some_and(|title| !title.is_empty())
        );
    }
}

/// Every number of every model can be set, and presets are overruled.
#[test]
fn every_setting_can_be_set() {
    let folder = Folder::new("cli-settings");
    report(&folder, "generate billow --size 4x4 --out land.r32");
    let raw = "land.r32 --size 4x4 --cell-size 2 --out out.r32";
    for model in [
        "rain",
        "evaporation",
        "ageing",
        "droplets",
        "pipe",
        "shallow-water",
        "thermal",
    ] {
        let pass = format!("{raw} --model {model} --seconds 0");
        let settings = |report: &Value| report["passes"][0]["models"][0]["settings"].clone();
        let defaults = settings(&report(&folder, &pass));
        let mut expected = defaults.clone();
        let mut line = pass.clone();
        for (key, value) in defaults.as_object().expect("fields") {
            if let Some(number) = value.as_f64() {
                // Any other number that is still in range.
                let other = if value.is_u64() {
                    number + 1.0
                } else {
                    number * 0.5
                };
                line += &format!(" --set {key}={other}");
                expected[key] = match value.is_u64() {
                    true => json!(other as u64),
                    false => json!(other),
                };
            }
        }
        assert_ne!(expected, defaults);
        let set = settings(&report(&folder, &line));
        for (key, value) in expected.as_object().expect("fields") {
            match (value.as_f64(), set[key].as_f64()) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-6 * a.abs(), "{model}.{key}"),
                _ => assert_eq!(value, &set[key], "{model}.{key}"),
            }
        }
    }
    // What is no number: an option and a pattern.
    let line = format!("{raw} --model droplets --seconds 0 --set streams=()");
    let streams = &report(&folder, &line)["passes"][0]["models"][0]["settings"]["streams"];
    assert!(streams.is_object(), "{streams}");
    let rain = "--model rain --seconds 0 --set pattern=Drops(radius:2.0,depth:0.01,seed:4)";
    let settings = &report(&folder, &format!("{raw} {rain}"))["passes"][0]["models"][0]["settings"];
    assert_eq!(settings["pattern"]["Drops"]["seed"], 4);

    let preset =
        "(models: (thermal: (shelter: 0.75, mobility: 3.5)), forcing: (rain: (mm_per_hour: 9)))";
    std::fs::write(folder.file("preset.ron"), preset).expect("writable");
    let pass = "--model thermal+rain --seconds 0 --set mobility=1.5 --preset preset.ron";
    let models = &report(&folder, &format!("{raw} {pass}"))["passes"][0]["models"];
    assert_eq!(models[0]["settings"]["mm_per_hour"], 9.0);
    assert_eq!(models[1]["settings"]["shelter"], 0.75);
    assert_eq!(models[1]["settings"]["mobility"], 1.5);
    assert_eq!(models[1]["settings"]["breaking"], 0.02);
}

/// A land at the scale that people bake: 30 m cells, a relief of more than 1 km.
const ALPS: &str = "generate fbm --seed 5 --set height=1200 --set feature_size=5000 --size 160x160 \
                    --cell-size 30 --out alps.tif";

/// Mean change of the ground, its mean removed, by the relief of the land.
fn change(folder: &Folder, before: &str, after: &str) -> f64 {
    let heights = |name: &str| {
        let options = HeightmapOptions::default();
        let map = Heightmap::read_file(folder.file(name), &options).expect("readable");
        map.values
    };
    let (before, after) = (heights(before), heights(after));
    let low = before.iter().copied().fold(f32::INFINITY, f32::min);
    let high = before.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let change: Vec<f64> = before
        .iter()
        .zip(&after)
        .map(|(before, after)| f64::from(after - before))
        .collect();
    let mean = change.iter().sum::<f64>() / change.len() as f64;
    let away = change
        .iter()
        .map(|change| (change - mean).abs())
        .sum::<f64>();
    away / change.len() as f64 / f64::from(high - low)
}

/// The guide's bakes, on a land of that scale.
#[test]
fn bakes_of_the_guide_change_real_lands_visibly() {
    let folder = Folder::new("cli-real-scale");
    report(&folder, ALPS);
    let drops = erode(
        &folder,
        "alps.tif --model droplets --droplets 20000 --out drops.tif",
    );
    assert!(drops.err.contains("hardly visible"), "{}", drops.err);
    assert!(drops.err.contains("try --runoff"), "{}", drops.err);
    assert!(change(&folder, "alps.tif", "drops.tif") < 0.001);
    for (bake, years) in [
        ("--age 500000", 500_000.0),
        ("--age alpine", 500_000.0),
        ("--age young", 50_000.0),
        ("--age 300000 --model droplets --runoff 30", 300_000.0),
    ] {
        let run = report(&folder, &format!("alps.tif {bake} --out aged.tif"));
        assert_eq!(run["passes"][0]["years"], years, "{bake}");
        let drift = run["drift"]["solids"].as_f64().expect("a number");
        assert!(drift.abs() < 1e-6, "{bake}: {drift}");
        let share = change(&folder, "alps.tif", "aged.tif");
        assert!(share > 0.01, "{bake}: {share}");
    }
}

#[test]
fn ages_are_years_or_names() {
    let folder = Folder::new("cli-ages");
    make_hills(&folder, "land.png");
    for (options, words) in [
        ("--age ancient", &["young, alpine, old"][..]),
        ("--age -5", &["0 to"]),
        ("--age 1000 --seconds 5", &["--age 1000", "`--seconds`"]),
        ("--model thermal --years 10", &["ageing alone"]),
        ("--model ageing", &["`--years`"]),
        ("--model droplets --runoff 5 --seconds 3", &["`--runoff`"]),
    ] {
        let run = erode(&folder, &format!("land.png --out out.r32 {options}"));
        assert_eq!(run.code, Some(2), "{options}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{options}: {}", run.err);
        }
    }
    let run = report(&folder, "land.png --age old --years 5000 --out out.r32");
    assert_eq!(run["passes"][0]["years"], 5000.0);
    assert_eq!(
        run["passes"][0]["models"][0]["settings"]["slope_angle"],
        32.0
    );
}
