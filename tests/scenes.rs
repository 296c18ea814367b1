//! Scene files: all that are there work, and all that is wrong is named.

use bevy::{
    asset::{AssetPlugin, LoadState},
    prelude::*,
};
use bevy_erode::prelude::*;
use bevy_erode::{
    bake::{BakeModel, BakeProgress},
    models::lava::LavaSolver,
    models::pipe::PipeSolver,
    scene::{ErosionPreset, SceneCamera, SceneEntity, SceneError},
};
use std::{fs, path::PathBuf, time::Duration};

/// Every file in the folder, by name.
fn files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let mut files: Vec<(String, String)> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a file").to_string_lossy();
            (
                name.into_owned(),
                fs::read_to_string(&path).expect("readable"),
            )
        })
        .collect();
    files.sort();
    files
}

fn read(text: &str) -> Result<ErosionScene, SceneError> {
    ErosionScene::from_ron("test.scene.ron", text)
}

/// The error of a text that must not be read.
fn error(text: &str) -> SceneError {
    let error = read(text).expect_err("wrong");
    assert_eq!(error.file, "test.scene.ron");
    assert!(error.to_string().starts_with("test.scene.ron:"), "{error}");
    error
}

/// A scene with every kind of thing in it.
fn full() -> ErosionScene {
    let mut scene = read(
        r#"(
            title: "full \"of\" things",
            terrain: (
                landform: Sum(
                    a: Scaled(land: Warped(land: Faults(count: 9)), factor: 0.5),
                    b: Island(land: Billow(height: 31.0), radius: 50.0),
                ),
                size: (24, 17),
                cell_size: 3.5,
                soil_depth: 0.25,
                hardness: 0.5,
                borders: (west: Wall, north: Sea(level: -3.5)),
            ),
            models: (
                droplets: (streams: (), published: (friction: 0.2)),
                pipe: (roughness: 0.1, published: ()),
                lava: (viscosity: 500.0),
                thermal: (),
            ),
            forcing: (
                rain: (mm_per_hour: 12.0),
                evaporation: (mm_per_hour: 3.0),
                sources: [(at: (-10.0, 20.0), discharge: 3.0), (radius: 2.0)],
                sinks: [(at: (10.0, -20.0))],
                lava_sources: [(at: (5.0, 5.0), discharge: 7.0)],
            ),
            camera: (focus: (1.0, 2.0, 3.0), yaw: 90.0, distance: 10.0),
            seconds: 12.5,
            speed: 3.0,
            step: 0.1,
        )"#,
    )
    .expect("valid");
    scene.description = "tabs\tand\nlines".into();
    scene
}

#[test]
fn every_file_is_a_scene_that_can_be_built() {
    let files = files();
    assert!(files.len() >= 6);
    for (name, text) in files {
        assert!(name.ends_with(".scene.ron"), "{name}");
        let scene = ErosionScene::from_ron(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        scene.check().unwrap_or_else(|error| panic!("{error}"));
        let terrain = scene.build_terrain().expect("checked");
        assert_eq!(terrain.size(), UVec2::from(scene.terrain.size));
        assert_eq!(*terrain.borders(), scene.terrain.borders);
        assert!(!scene.title.is_empty() && !scene.description.is_empty());
        assert!(
            !scene.models.is_empty() || !scene.rivers.is_empty(),
            "{name} does nothing"
        );
        let camera = scene.camera.transform().translation;
        let ground = terrain.height_at(camera).unwrap_or(0.0);
        assert!(
            camera.y > ground + 10.0,
            "{name}: the camera is in the ground"
        );
    }
}

#[test]
fn the_guide_shows_a_scene_and_an_error() {
    let guide = include_str!("../src/guide/scenes.md");
    let sample = guide.split("```ron\n").nth(1).expect("a sample");
    let sample = sample.split("```").next().expect("its end");
    let scene = read(sample).expect("valid");
    scene.build_terrain().expect("valid");
    assert!(scene.models.get::<PipeModel>().is_some() && scene.forcing.rain.is_some());

    let wrong = sample.replace("roughness: 0.05", "roughness: 5.0");
    let error = ErosionScene::from_ron("island.scene.ron", &wrong).expect_err("wrong");
    assert!(guide.contains(&error.to_string()), "{error}");
}

#[test]
fn springs_of_the_files_stand_on_high_ground() {
    for (name, text) in files() {
        let scene = ErosionScene::from_ron(&name, &text).expect("valid");
        let terrain = scene.build_terrain().expect("valid");
        let mut heights = terrain.ground_heights();
        heights.sort_by(f32::total_cmp);
        for source in &scene.forcing.sources {
            let place = Vec3::new(source.at.0, 0.0, source.at.1);
            let height = terrain.height_at(place).expect("on the land");
            let lower = heights.partition_point(|&other| other < height);
            assert!(lower * 4 > heights.len() * 3, "{name}: {height} m");
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    let mut scenes = vec![ErosionScene::default(), full()];
    for (name, text) in files() {
        scenes.push(ErosionScene::from_ron(&name, &text).expect("valid"));
    }
    for scene in scenes {
        let text = scene.to_ron().expect("it can be written");
        assert_eq!(read(&text).expect(&text), scene);
    }
}

#[test]
fn optional_parts_can_be_written_in_full_too() {
    let short = read("(models: (thermal: (shelter: 0.1)), terrain: (hardness: 0.5))");
    let long = read("(models: (thermal: Some(shelter: 0.1)), terrain: (hardness: Some(0.5)))");
    assert_eq!(short.expect("valid"), long.expect("valid"));
    let none = read("(models: (thermal: None))").expect("valid");
    assert_eq!(none, ErosionScene::default());
    assert_eq!(read("()").expect("valid"), ErosionScene::default());
}

#[test]
fn errors_name_place_and_field() {
    for (text, place, field, reason) in [
        // Not known.
        ("(\n  titel: \"x\",\n)", (2, 3), "titel", "`title`"),
        (
            "(\n  models: (\n    pipe: (ruffness: 1.0),\n  ),\n)",
            (3, 12),
            "models.pipe.ruffness",
            "`roughness`",
        ),
        (
            "(\n  models: (streams: ()),\n)",
            (2, 12),
            "models.streams",
            "`droplets`",
        ),
        (
            "(terrain: (\n  landform: Rigded(seed: 1),\n))",
            (2, 13),
            "terrain.landform",
            "`Ridged`",
        ),
        (
            "(terrain: (\n  landform: Island(\n    land: Ridged(sed: 1),\n)))",
            (3, 18),
            "terrain.landform.land.sed",
            "`seed`",
        ),
        (
            "(terrain: (borders: (\n  west: Sea(level: 1.0, salt: 2.0))))",
            (2, 25),
            "terrain.borders.west.salt",
            "`level`",
        ),
        // Of another type.
        (
            "(\n  seconds: \"long\",\n)",
            (2, 12),
            "seconds",
            "Expected float",
        ),
        (
            "(terrain: (\n  size: (64.5, 64),\n))",
            (2, 10),
            "terrain.size",
            "",
        ),
        (
            "(terrain: (\n  size: (-4, 64),\n))",
            (2, 10),
            "terrain.size",
            "",
        ),
        (
            "(terrain: (\n  landform: Fbm(\n    octaves: 2.5)))",
            (3, 14),
            "terrain.landform.octaves",
            "",
        ),
        // Out of range.
        (
            "(\n  models: (\n    droplets: (),\n    pipe: (\n      roughness: -1.0,\n)))",
            (5, 7),
            "models.pipe.roughness",
            "must be 0 to 1, was -1",
        ),
        (
            "(models: (\n  droplets: (streams: (\n    memory: 7.0))))",
            (3, 5),
            "models.droplets.streams.memory",
            "was 7",
        ),
        (
            "(models: (\n  thermal: (mobility: NaN)))",
            (2, 13),
            "models.thermal.mobility",
            "was NaN",
        ),
        (
            "(terrain: (\n  // height: 3\n  landform: Island(\n    land: Fbm(height: -3.0), radius: 9.0)))",
            (4, 15),
            "terrain.landform.land.height",
            "was -3",
        ),
        (
            "(terrain: (\n  landform: Sum(a: Fbm(octaves: 3),\n   b: Fbm(octaves: 99))))",
            (3, 11),
            "terrain.landform.b.octaves",
            "was 99",
        ),
        (
            "(terrain: (\n  landform: Letters(text: \"PG!\")))",
            (2, 21),
            "terrain.landform.text",
            "had '!'",
        ),
        (
            "(\n  terrain: (\n    size: (64, 0),\n))",
            (3, 5),
            "terrain.size",
            "64 × 0",
        ),
        (
            "(terrain: (\n  size: (99999, 2),\n))",
            (2, 3),
            "terrain.size",
            "99999",
        ),
        (
            "(terrain: (\n  cell_size: 0.0,\n))",
            (2, 3),
            "terrain.cell_size",
            "0.001",
        ),
        (
            "(terrain: (\n  soil_depth: -1.0,\n))",
            (2, 3),
            "terrain.soil_depth",
            "was -1",
        ),
        (
            "(terrain: (\n  hardness: 2.0,\n))",
            (2, 3),
            "terrain.hardness",
            "was 2",
        ),
        (
            "(terrain: (borders: (\n  east: Sea(level: inf))))",
            (2, 13),
            "terrain.borders.east.level",
            "inf",
        ),
        (
            "(forcing: (\n  rain: (mm_per_hour: -2.0),\n))",
            (2, 10),
            "forcing.rain.mm_per_hour",
            "was -2",
        ),
        (
            "(forcing: (\n  sources: [\n    (),\n    (at: (0.0, 900.0)),\n]))",
            (4, 6),
            "forcing.sources[1].at",
            "outside the terrain",
        ),
        (
            "(forcing: (\n  sinks: [(discharge: -1.0)]))",
            (2, 12),
            "forcing.sinks[0].discharge",
            "was -1",
        ),
        (
            "(\n  camera: (distance: 0.0),\n)",
            (2, 12),
            "camera.distance",
            "was 0",
        ),
        ("(\n  speed: -1.0,\n)", (2, 3), "speed", "was -1"),
        ("(\n  step: 0.0,\n)", (2, 3), "step", "was 0"),
        (
            "(models: (\n  pipe: (),\n  shallow_water: (),\n))",
            (3, 3),
            "models.shallow_water",
            "only one water model",
        ),
        (
            "(models: (\n  shallow_water: (published: (\n    solves: 0))))",
            (3, 5),
            "models.shallow_water.published.solves",
            "was 0",
        ),
        (
            "(terrain: (\n  columns: [(radius: 0.0)]))",
            (2, 14),
            "terrain.columns[0].radius",
            "was 0",
        ),
        // No RON.
        ("(\n  seconds 3.0,\n)", (2, 11), "", "Expected colon"),
        ("(\n  title: \"x,\n)", (2, 10), "title", "string"),
    ] {
        let error = error(text);
        assert_eq!(
            (error.place, error.field.as_str()),
            (Some(place), field),
            "{error}\n{text}"
        );
        assert!(error.reason.contains(reason), "{error}");
    }
}

#[test]
fn files_that_are_cut_off_are_refused_where_they_end() {
    for (name, text) in files() {
        let text = text.trim_end();
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let error = ErosionScene::from_ron(&name, &text[..end]).expect_err("cut off");
            assert!(error.place.is_some());
        }
    }
    let cut = error("(\n  models: (\n    pipe: (roughness: 0.1,\n");
    assert_eq!(cut.place, Some((3, 27)), "{cut}");
    assert_eq!(cut.field, "models.pipe", "{cut}");
}

#[test]
fn texts_without_a_scene_are_refused() {
    for text in [
        "",
        "   \n\n",
        "// nothing",
        "hello",
        "[]",
        "1",
        "\u{feff}",
        "()()",
    ] {
        let error = error(text);
        assert!(error.place.is_some() && !error.reason.is_empty(), "{error}");
    }
}

#[test]
fn rubbish_of_any_size_is_refused_in_a_few_words() {
    let size = 10_000_000;
    for rubbish in [
        "(",
        "((a:",
        "[",
        "\"",
        "/*",
        "x",
        "(title:\"",
        "(x",
        "r#",
        "é",
        "\0",
        "(terrain:(",
        "(terrain:(landform:",
    ] {
        let text = rubbish.repeat(size / rubbish.len());
        assert!(error(&text).to_string().len() < 2000, "{rubbish}");
    }
    for start in [
        "(title: ",
        "(title: \"",
        "(",
        "(terrain: (landform: ",
        "(seconds: ",
    ] {
        let text = format!("{start}{}", "x".repeat(size));
        assert!(error(&text).to_string().len() < 2000, "{start}");
    }
}

#[test]
fn lands_in_lands_are_read_to_a_limit_and_never_overflow_the_stack() {
    let nested = |depth: usize| {
        let open = "Warped(land: ".repeat(depth);
        let close = ")".repeat(depth);
        format!("(terrain: (size: (4, 4), landform: {open}Fbm(){close}))")
    };
    // A small stack, as tasks of an asset server may have.
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let run = thread.spawn(move || {
        let scene = read(&nested(12)).expect("not too deep");
        scene.build_terrain().expect("valid");
        for depth in [200, 10_000, 300_000] {
            let error = error(&nested(depth));
            assert!(error.to_string().contains("recursion"), "{error}");
            assert!(error.to_string().len() < 2000, "{error}");
        }
    });
    run.expect("a thread").join().expect("no overflow");
}

#[test]
fn the_camera_looks_at_its_focus() {
    let camera = SceneCamera {
        focus: (10.0, 20.0, 30.0),
        yaw: 90.0,
        pitch: 30.0,
        distance: 100.0,
    };
    let transform = camera.transform();
    assert!((transform.translation - Vec3::new(96.6, 70.0, 30.0)).length() < 0.1);
    let seen = transform.translation + transform.forward() * 100.0;
    assert!((seen - Vec3::new(10.0, 20.0, 30.0)).length() < 1e-3);
}

#[test]
fn a_scene_takes_the_place_of_the_one_before() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()));
    let world = app.world_mut();
    let own = world.spawn(Transform::default()).id();
    full().apply(world).expect("valid");
    assert_eq!(world.resource::<Terrain>().size(), UVec2::new(24, 17));
    assert_eq!(world.resource::<PipeModel>().roughness, 0.1);
    assert!(world.contains_resource::<Droplets>() && world.contains_resource::<Thermal>());
    let mut points = world.query_filtered::<&Transform, With<SceneEntity>>();
    assert_eq!(points.iter(world).count(), 4);
    let time = world.resource::<Time<Erosion>>();
    assert_eq!(time.speed(), 3.0);
    assert!(time.step_size().abs_diff(Duration::from_millis(100)) < Duration::from_micros(1));

    // A bad one changes nothing.
    let mut bad = full();
    let thermal = bad.models.get_mut::<Thermal>().expect("thermal");
    thermal.shelter = -1.0;
    let error = bad.apply(world).expect_err("bad");
    assert_eq!(error.field, "models.thermal.shelter");
    assert_eq!(error.place, None);
    assert!(
        error.to_string().starts_with("full \"of\" things: `models"),
        "{error}"
    );
    assert_eq!(points.iter(world).count(), 4);

    let second = read("(terrain: (size: (9, 8)), models: (thermal: ()))").expect("valid");
    second.insert(&mut world.commands()).expect("valid");
    world.flush();
    assert_eq!(world.resource::<Terrain>().size(), UVec2::new(9, 8));
    assert!(!world.contains_resource::<Droplets>() && !world.contains_resource::<PipeModel>());
    assert!(world.contains_resource::<Thermal>());
    assert_eq!(points.iter(world).count(), 0);
    assert!(world.get_entity(own).is_ok(), "it was not the scene's");
    assert_eq!(world.resource::<Time<Erosion>>().speed(), 1.0);
}

/// Updates until the asset server is done with a file.
fn load(app: &mut App, file: &str) -> (Handle<ErosionScene>, LoadState) {
    let assets = app.world().resource::<AssetServer>().clone();
    let handle = assets.load(file.to_owned());
    for _ in 0..2000 {
        app.update();
        match assets.load_state(&handle) {
            LoadState::NotLoaded | LoadState::Loading => {}
            state => return (handle, state),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{file} was never loaded");
}

#[test]
fn the_asset_server_loads_scenes() {
    let folder = std::env::temp_dir().join(format!("bevy_erode_scenes_{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let text = full().to_ron().expect("it can be written");
    fs::write(folder.join("good.scene.ron"), text).expect("written");
    fs::write(folder.join("bad.scene.ron"), "(\n  speed: -1.0,\n)").expect("written");
    fs::write(folder.join("binary.scene.ron"), b"(title: \"\xff\")").expect("written");
    let assets = || AssetPlugin {
        file_path: folder.to_string_lossy().into_owned(),
        ..default()
    };
    // Whichever plugin comes first.
    for assets_first in [true, false] {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        if assets_first {
            app.add_plugins((assets(), ErosionPlugin::default()));
        } else {
            app.add_plugins((ErosionPlugin::default(), assets()));
        }
        app.finish();
        app.cleanup();
        let (handle, state) = load(&mut app, "good.scene.ron");
        assert!(matches!(state, LoadState::Loaded), "{state:?}");
        let scenes = app.world().resource::<Assets<ErosionScene>>();
        assert_eq!(scenes.get(&handle), Some(&full()));
        for (file, reason) in [
            ("bad.scene.ron", "bad.scene.ron:2:3: `speed`: must be"),
            (
                "binary.scene.ron",
                "binary.scene.ron: not a scene file: not UTF-8 text",
            ),
        ] {
            let LoadState::Failed(error) = load(&mut app, file).1 else {
                panic!("{file} was loaded");
            };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn the_volcano_builds_land_in_the_sea() {
    let files = files();
    let (name, text) = files
        .iter()
        .find(|(name, _)| name.starts_with("volcano"))
        .expect("the scene");
    let scene = ErosionScene::from_ron(name, text).expect("valid");
    let before = scene.build_terrain().expect("checked");
    let models = scene.forcing.bake_points(&before).into_iter().chain([
        BakeModel::new::<PipeSolver>(scene.models.get::<PipeModel>().cloned().expect("water")),
        BakeModel::new::<LavaSolver>(scene.models.get::<Lava>().cloned().expect("lava")),
    ]);
    let after = Bake::new(before.clone())
        .with_step(0.1)
        .simulate(140.0, models)
        .run(&BakeProgress::default())
        .expect("valid");
    let (old, new) = (before.ledger(), after.ledger());
    // All that the vent poured is lava still, or rock.
    let poured = new.solids.added;
    assert!((poured - 140.0 * 120.0).abs() < 1.0, "{poured} m³ poured");
    let gained = new.solids.bedrock + new.solids.soil + new.solids.suspended
        - (old.solids.bedrock + old.solids.soil + old.solids.suspended);
    let whole = new.solids.lava + gained + new.solids.left;
    assert!(
        (whole - poured).abs() < 1e-3 * poured,
        "{whole} of {poured}"
    );
    assert!(new.solids.lava > 0.2 * poured, "it still flows: {new:?}");
    assert!(new.water.evaporated > 20.0, "steam: {:?}", new.water);
    assert!(new.solids.drift_of_total().abs() < 1e-9);
    assert!(new.water.drift_of_total().abs() < 1e-6);
    // Where the sea was, there is rock above it.
    let risen = (0..before.grid().cells()).filter(|&cell| {
        let was_sea = before.water()[cell] > 0.2;
        was_sea && after.water()[cell] <= 0.01 && after.ground(cell) > 31.9
    });
    let risen = risen.count();
    assert!(risen > 10, "{risen} cells of new land");
}

#[test]
fn of_several_water_models_the_one_that_runs_is_captured() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(Terrain::flat(UVec2::splat(16), 1.0).expect("valid"))
        .insert_resource(ShallowWater::default())
        .insert_resource(Thermal::default());
    app.update();
    // Not the first in the table; it comes second, and will be removed.
    app.insert_resource(PipeModel::default());
    let preset = ErosionPreset::capture(app.world_mut());
    assert!(preset.models.get::<ShallowWater>().is_some());
    assert!(preset.models.get::<PipeModel>().is_none());
    assert!(preset.models.get::<Thermal>().is_some());
    let text = preset.to_ron().expect("writable");
    assert_eq!(ErosionPreset::from_ron("again", &text), Ok(preset));
    let saved = SavedState::capture(app.world_mut()).expect("writable");
    let names: Vec<&str> = saved.model_names().collect();
    assert_eq!(names, ["ShallowWater", "Thermal"]);
    // As the next frame has it.
    app.update();
    assert!(app.world().contains_resource::<ShallowWater>());
    assert!(!app.world().contains_resource::<PipeModel>());

    // In a world where none runs yet, the first in the table.
    let mut world = World::new();
    world.insert_resource(Terrain::flat(UVec2::splat(16), 1.0).expect("valid"));
    world.insert_resource(ShallowWater::default());
    world.insert_resource(PipeModel::default());
    let preset = ErosionPreset::capture(&mut world);
    assert!(preset.models.get::<PipeModel>().is_some());
    assert!(preset.models.get::<ShallowWater>().is_none());
    let saved = SavedState::capture(&mut world).expect("writable");
    assert_eq!(saved.model_names().collect::<Vec<_>>(), ["PipeModel"]);
}
