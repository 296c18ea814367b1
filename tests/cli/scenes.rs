//! Scenes with options: what is set in them, and what other models leave of them.

use super::{Run, erode, names};
use crate::folder::Folder;
use bevy_erode::prelude::*;
use bevy_erode::{
    bake::{BakeModel, BakeProgress},
    forcing::{EvaporationSolver, RainSolver},
    models::{pipe::PipeSolver, thermal::ThermalSolver},
};
use serde_json::{Value, json};

const SCENE: &str = r#"(
    terrain: (landform: Fbm(seed: 2, height: 40.0), size: (24, 20), soil_depth: 1.0),
    models: (pipe: (roughness: 0.05), thermal: (mobility: 1.5)),
    forcing: (
        rain: (mm_per_hour: 2000.0),
        evaporation: (mm_per_hour: 20.0),
        sources: [(at: (10.0, 5.0), discharge: 4.0)],
    ),
    seconds: 1.0,
    step: 0.1,
)"#;

/// A folder with the scene as `mine.ron`.
fn folder_with_scene(name: &str) -> (Folder, ErosionScene) {
    let folder = Folder::new(name);
    std::fs::write(folder.file("mine.ron"), SCENE).expect("writable");
    let scene = ErosionScene::from_ron("mine.ron", SCENE).expect("a scene");
    (folder, scene)
}

/// The report of a run that must succeed, and what it said besides.
fn run(folder: &Folder, options: &str) -> (Value, String) {
    let line = format!("{options} --out out.r32 --json");
    let Run { code, out, err } = erode(folder, &line);
    assert_eq!(code, Some(0), "{line}: {err}");
    (serde_json::from_str(&out).expect("a report"), err)
}

/// Names of the models of the first pass.
fn models(report: &Value) -> Vec<&str> {
    let models = report["passes"][0]["models"].as_array().expect("models");
    let names = models.iter().map(|model| model["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

/// A setting of a model of the first pass.
fn setting<'r>(report: &'r Value, model: &str, field: &str) -> &'r Value {
    let place = models(report).iter().position(|name| *name == model);
    &report["passes"][0]["models"][place.expect("the model runs")]["settings"][field]
}

/// The scene's sources, rain and evaporation, and then these models.
fn bake(scene: &ErosionScene, seconds: f32, step: f32, models: Vec<BakeModel>) -> Value {
    let land = scene.build_terrain().expect("a land");
    let mut all = scene.forcing.bake_points(&land);
    let rain = scene.forcing.rain.clone().expect("rain");
    let evaporation = scene.forcing.evaporation.expect("evaporation");
    all.push(BakeModel::new::<RainSolver>(rain));
    all.push(BakeModel::new::<EvaporationSolver>(evaporation));
    all.extend(models);
    let bake = Bake::new(land).with_step(step).simulate(seconds, all);
    let baked = bake.run(&BakeProgress::default()).expect("baked");
    json!(format!("{:016x}", baked.state_hash()))
}

#[test]
fn options_without_a_model_belong_to_the_scene() {
    let (folder, mut scene) = folder_with_scene("cli-scene-set");
    let set = "--set roughness=0.1 --set rain.mm_per_hour=500 --seconds 0.5 --step 0.25";
    let (report, err) = run(&folder, &format!("mine.ron {set}"));
    assert_eq!(models(&report), ["rain", "evaporation", "pipe", "thermal"]);
    assert_eq!(*setting(&report, "pipe", "roughness"), 0.1);
    assert_eq!(*setting(&report, "rain", "mm_per_hour"), 500.0);
    assert_eq!(*setting(&report, "thermal", "mobility"), 1.5);
    assert_eq!(report["passes"][0]["erosion_seconds"], 0.5);
    assert_eq!(report["passes"][0]["step"], 0.25);
    assert!(!err.contains("not run"), "{err}");

    scene.forcing.rain = Some(Rain::mm_per_hour(500.0));
    let pipe = PipeModel {
        roughness: 0.1,
        ..PipeModel::default()
    };
    let thermal = Thermal {
        mobility: 1.5,
        ..Thermal::default()
    };
    let models = vec![
        BakeModel::new::<PipeSolver>(pipe),
        BakeModel::new::<ThermalSolver>(thermal),
    ];
    assert_eq!(report["state_hash"], bake(&scene, 0.5, 0.25, models));

    // A preset goes before the scene, and an option before the preset.
    let preset = "(models: (pipe: (roughness: 0.2, carving: 0.75)))";
    std::fs::write(folder.file("preset.ron"), preset).expect("writable");
    let (report, _) = run(
        &folder,
        "mine.ron --seconds 0 --preset preset.ron --set roughness=0.3",
    );
    assert_eq!(*setting(&report, "pipe", "roughness"), 0.3);
    assert_eq!(*setting(&report, "pipe", "carving"), 0.75);
}

#[test]
fn options_that_a_scene_cannot_take() {
    let (folder, _) = folder_with_scene("cli-scene-errors");
    for (options, words) in [
        (
            "--set mm_per_hour=3",
            &[
                "--set mm_per_hour=3: ",
                "rain.mm_per_hour or evaporation.mm_per_hour",
            ][..],
        ),
        (
            "--set droplets.rate=1",
            &[
                "--set droplets.rate=1: ",
                "no model `droplets`",
                "pipe and thermal",
            ],
        ),
        ("--set tides=1", &["--set tides=1: ", "no setting `tides`"]),
        (
            "--set roughness=7",
            &["--set roughness=7: ", "0 to 1, was 7"],
        ),
        ("--droplets 5", &["--model droplets"]),
        (
            "--set roughness=0.1 --model pipe",
            &["--set roughness=0.1: ", "give `--model` before it"],
        ),
        (
            "--seconds 1 --seconds 2",
            &["--seconds 2: ", "already given for the scene"],
        ),
    ] {
        let run = erode(&folder, &format!("mine.ron --out out.r32 {options}"));
        assert_eq!(run.code, Some(2), "{options}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{options}: {}", run.err);
        }
    }
    // A scene of which nothing can be set.
    let run = erode(&folder, "scene:river_valley --out out.r32 --set tides=1");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("no model to set"), "{}", run.err);
    assert_eq!(names(&folder.file("")), ["mine.ron"], "nothing was written");
}

#[test]
fn other_models_run_on_the_scenes_land_in_its_weather() {
    let (folder, scene) = folder_with_scene("cli-scene-models");
    let (report, err) = run(&folder, "mine.ron --model thermal");
    assert_eq!(models(&report), ["rain", "evaporation", "thermal"]);
    assert_eq!(*setting(&report, "rain", "mm_per_hour"), 2000.0);
    // What the scene says of a model that is named again is kept, and its times.
    assert_eq!(*setting(&report, "thermal", "mobility"), 1.5);
    assert_eq!(report["passes"][0]["erosion_seconds"], 1.0);
    assert_eq!(report["passes"][0]["step"].as_f64(), Some(0.1));
    let thermal = Thermal {
        mobility: 1.5,
        ..Thermal::default()
    };
    let thermal = vec![BakeModel::new::<ThermalSolver>(thermal)];
    assert_eq!(report["state_hash"], bake(&scene, 1.0, 0.1, thermal));
    let dropped = |err: &str| -> Vec<String> {
        let lines = err.lines().filter(|line| line.contains("not run"));
        lines.map(Into::into).collect()
    };
    let start = "mine.ron: `--model` replaces the scene's models; not run:";
    assert_eq!(dropped(&err), [format!("{start} pipe")]);

    // Nothing is dropped, although the models are named one after the other.
    let (report, err) = run(
        &folder,
        "mine.ron --model thermal --model pipe --seconds 0.5",
    );
    assert_eq!(dropped(&err), [""; 0]);
    assert_eq!(report["passes"][1]["erosion_seconds"], 0.5);
    assert_eq!(
        report["passes"][1]["models"][2]["settings"]["roughness"],
        0.05
    );

    // The weather can be set, and named.
    let weather = "--model rain+pipe --seconds 0 --set rain.mm_per_hour=7";
    let (report, _) = run(&folder, &format!("mine.ron {weather}"));
    assert_eq!(models(&report), ["rain", "evaporation", "pipe"]);
    assert_eq!(*setting(&report, "rain", "mm_per_hour"), 7.0);

    // Droplets by number take no time.
    let drops = "mine.ron --model droplets --droplets 50";
    let (report, err) = run(&folder, drops);
    assert_eq!(models(&report), ["droplets"]);
    let all = "rain, evaporation, pipe, thermal, sources";
    assert_eq!(dropped(&err), [format!("{start} {all}")]);
    assert_eq!(report["ledger"]["water"]["poured"], 0.0);

    let (_, err) = run(&folder, &format!("{drops} --quiet"));
    assert_eq!(err, "");
    let (_, err) = run(&folder, "scene:river_valley --model thermal --seconds 0");
    assert!(err.contains("not run: rivers"), "{err}");
}
