//! Presets, scenes and files.

use super::*;
use crate::{
    forcing::{Rain, WaterSink, WaterSource},
    scene::{ErosionPreset, ErosionScene},
};
use std::{fs, path::PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bevy_erode_{}_{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("writable");
    folder
}

#[test]
fn a_preset_goes_there_and_back() {
    let mut bench = Bench::open();
    let rain = Rain::mm_per_hour(123.0);
    let source = WaterSource::cubic_metres_per_second(3.0).with_sediment(0.1);
    bench.app.insert_resource(rain.clone());
    bench.app.insert_resource(PipeModel {
        roughness: 0.05,
        ..default()
    });
    bench
        .world()
        .spawn((source, Transform::from_xyz(10.0, 0.0, -4.0)));
    bench
        .world()
        .spawn((WaterSink::default(), Transform::from_xyz(-10.0, 0.0, 4.0)));
    bench.click("write out");
    let text = bench.world().resource::<PanelPresets>().text.clone();
    let captured = ErosionPreset::from_ron("text", &text).expect("readable");
    assert_eq!(captured.forcing.sources[0].sediment, 0.1);
    // A preset is a part of a scene.
    ErosionScene::from_ron("text", &text).expect("readable as a scene");

    bench.world().remove_resource::<PipeModel>();
    bench.world().remove_resource::<Rain>();
    bench.world().init_resource::<Thermal>();
    let mut sources = bench.world().query::<(Entity, &WaterSource)>();
    let (entity, _) = sources.single(bench.app.world()).expect("one");
    bench.world().entity_mut(entity).remove::<WaterSource>();
    bench.click("apply");
    assert_eq!(bench.world().get_resource::<Rain>(), Some(&rain));
    assert!(!bench.world().contains_resource::<Thermal>());
    let mut again = ErosionPreset::capture(bench.world());
    again.title.clone_from(&captured.title);
    assert_eq!(again, captured);
}

#[test]
fn a_bad_preset_is_refused_with_line_and_field() {
    let mut bench = Bench::open();
    bench.world().init_resource::<Droplets>();
    let before = ErosionPreset::capture(bench.world());
    for (text, said) in [
        (
            "(\n  models: (pipe: (roughness: 5.0)),\n)",
            ["text:2:", "models.pipe.roughness"],
        ),
        (
            "(\n  models: (\n    thermal: (shelter: x)),\n)",
            ["text:3:", "models.thermal.shelter"],
        ),
        ("(models: (magic: ()))", ["text:1:", "magic"]),
        (
            "(forcing: (sources: [(at: (1e6, 0.0))]))",
            ["forcing.sources[0].at", "outside the terrain"],
        ),
        ("(terrain: (soil_depth: 1.0))", ["text:1:", "terrain"]),
    ] {
        bench.world().resource_mut::<PanelPresets>().text = text.into();
        bench.click("apply");
        let presets = bench.world().resource::<PanelPresets>();
        let line = presets.status().expect("something is said").clone();
        let error = line.expect_err("refused");
        for word in said {
            assert!(error.contains(word), "`{word}` in `{error}`");
        }
        assert_eq!(ErosionPreset::capture(bench.world()), before, "{text}");
    }
}

#[test]
fn presets_are_files_of_a_folder() {
    let mut bench = Bench::open();
    let folder = folder("presets");
    bench.world().init_resource::<Thermal>();
    let mut presets = bench.world().resource_mut::<PanelPresets>();
    presets.folder.clone_from(&folder);
    presets.name = "dry hills".into();
    bench
        .world()
        .resource_scope(|world, mut presets: Mut<PanelPresets>| {
            let path = presets.save(world).expect("saved");
            assert!(path.is_file());
            for bad in ["", "../up", ".hidden", "a/b"] {
                presets.name = bad.into();
                assert!(presets.save(world).is_err(), "`{bad}`");
            }
            presets.name = "other".into();
        });
    bench.world().remove_resource::<Thermal>();
    bench.click("dry hills");
    assert!(bench.world().contains_resource::<Thermal>());
    fs::remove_dir_all(folder).expect("removable");
}

#[test]
fn scenes_of_a_folder_are_opened_by_a_click() {
    let mut bench = Bench::open();
    let folder = folder("scenes");
    let hill = "(title: \"A hill\", terrain: (size: (20, 10)), models: (thermal: ()))";
    fs::write(folder.join("hill.scene.ron"), hill).expect("writable");
    fs::write(
        folder.join("wrong.scene.ron"),
        "(\nmodels: (pipe: (gravity: 0.0)))",
    )
    .expect("writable");
    let given = ErosionScene::default();
    bench
        .app
        .insert_resource(PanelScenes::in_folder(&folder).with("given", given));
    bench.click("hill");
    bench.app.update();
    assert_eq!(
        bench.world().resource::<Terrain>().size(),
        UVec2::new(20, 10)
    );
    assert!(bench.world().contains_resource::<Thermal>());
    assert_eq!(
        bench.world().resource::<PanelScenes>().opened(),
        Some("hill")
    );
    let mut opened = bench.world().resource_mut::<Messages<PanelSceneOpened>>();
    let opened: Vec<_> = opened.drain().collect();
    assert!(opened.len() == 1 && opened[0].scene.title == "A hill" && !opened[0].again);

    bench.click("wrong");
    bench.app.update();
    assert_eq!(
        bench.world().resource::<PanelScenes>().opened(),
        Some("hill")
    );
    bench.frame(vec![]);
    let error = bench
        .world()
        .resource::<PanelScenes>()
        .error()
        .expect("said");
    assert!(error.contains("wrong.scene.ron:2:") && error.contains("models.pipe.gravity"));
    fs::remove_dir_all(folder).expect("removable");
}

#[cfg(feature = "io")]
#[test]
fn states_and_heightmaps_are_written_and_read() {
    use crate::{
        forcing::RainPattern,
        masks::{Mask, TerrainMasks},
        terrain::Layer,
    };
    let mut bench = Bench::open();
    let folder = folder("files");
    let path = |name: &str| folder.join(name).display().to_string();
    bench.world().resource_mut::<Time<Erosion>>().pause();
    bench.world().resource_mut::<PanelFiles>().state = path("land.erode");
    let before = bench.world().resource::<Terrain>().state_hash();
    bench
        .world()
        .resource_scope(|world, mut files: Mut<PanelFiles>| {
            assert!(
                files
                    .load(world)
                    .expect_err("no file")
                    .contains("land.erode")
            );
            files.save(world).expect("saved");
            let bump = TerrainEdit::raise(Vec3::ZERO, Brush::circle(20.0));
            let mut terrain = world.resource_mut::<Terrain>();
            bump.apply(&mut terrain).expect("applied");
            assert_ne!(terrain.state_hash(), before);
            files.load(world).expect("loaded");
            assert_eq!(world.resource::<Terrain>().state_hash(), before);

            for name in ["land.png", "land.exr", "land.tif", "land.r32"] {
                files.heightmap = path(name);
                files.export(world).expect(name);
                let old = world.resource::<Terrain>().ground_heights();
                files.cell_size = Some(4.0);
                files.size = name.ends_with("r32").then_some(UVec2::new(48, 32));
                files.import(world).expect(name);
                let new = world.resource::<Terrain>().ground_heights();
                let worst = old.iter().zip(&new).map(|(a, b)| (a - b).abs());
                assert!(worst.fold(0.0, f32::max) < 0.02, "{name}");
            }
            files.heightmap = path("slope.exr");
            files.exported = ExportedField::Mask(Mask::Slope);
            assert!(files.export(world).expect_err("not kept").contains("slope"));
            let mut masks = TerrainMasks::new([Mask::Slope]);
            masks.update(world.resource::<Terrain>(), 0.0);
            world.insert_resource(masks);
            files.export(world).expect("a mask");
            files.size = None;
            files.imported = ImportedField::Layer(Layer::Soil);
            files.import(world).expect("as soil");
            assert!(
                world
                    .resource::<Terrain>()
                    .soil()
                    .iter()
                    .any(|soil| *soil > 0.1)
            );
            files.imported = ImportedField::RainMap;
            files.import(world).expect("as rain");
            let rain = world.resource::<Rain>();
            assert!(matches!(&rain.pattern, RainPattern::Map(map) if map.len() == 48 * 32));

            files.heightmap = path("land.doc");
            assert!(files.export(world).expect_err("no format").contains(".png"));
        });
    bench.frame(vec![]);
    fs::remove_dir_all(folder).expect("removable");
}
