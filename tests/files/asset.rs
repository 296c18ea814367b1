//! Heightmaps by the asset server.

use super::Folder;
use bevy::{
    asset::{AssetPlugin, LoadState},
    math::UVec2,
    prelude::*,
};
use bevy_erode::io::{Endian, HeightmapFormat, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use core::time::Duration;
use std::{fs, thread};

fn create_app(folder: &Folder) -> App {
    let mut app = App::new();
    let assets = AssetPlugin {
        file_path: folder.0.to_string_lossy().into(),
        ..AssetPlugin::default()
    };
    app.add_plugins((MinimalPlugins, assets, ErosionPlugin::default()));
    app.finish();
    app
}

/// Updates until a heightmap is there or cannot be.
fn wait(app: &mut App, handle: &Handle<Heightmap>) -> Result<Heightmap, String> {
    for _ in 0..2000 {
        app.update();
        if let Some(map) = app.world().resource::<Assets<Heightmap>>().get(handle) {
            return Ok(map.clone());
        }
        let server = app.world().resource::<AssetServer>();
        if let LoadState::Failed(error) = server.load_state(handle) {
            return Err(error.to_string());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err("it takes too long".into())
}

#[test]
fn heightmaps_are_assets() {
    let folder = Folder::new("assets");
    let terrain = crate::land(3, UVec2::new(19, 11), 2.0);
    let map = Heightmap::from_ground(&terrain);
    let range: Vertical = VerticalRange::from_values(&map.values).into();
    let write = |name: &str, format, vertical| {
        map.write_file(folder.file(name), format, vertical)
            .expect("writable");
    };
    write("ours.png", HeightmapFormat::Png16, range);
    write("land.exr", HeightmapFormat::Exr, Vertical::METRES);
    write("land.tif", HeightmapFormat::Tiff32, Vertical::METRES);
    write("land.r16", HeightmapFormat::Raw16(Endian::Little), range);
    fs::write(folder.file("broken.tif"), b"II\x2a\0\xff\xff").expect("writable");

    let mut app = create_app(&folder);
    for name in ["ours.png", "land.exr", "land.tif"] {
        let handle: Handle<Heightmap> = app.world().resource::<AssetServer>().load(name);
        let loaded = wait(&mut app, &handle).expect(name);
        assert_eq!(
            (loaded.size, loaded.cell_size),
            (map.size, map.cell_size),
            "{name}"
        );
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 0.01;
        assert!(loaded.values.iter().zip(&map.values).all(close), "{name}");
    }
    // A RAW file is told what it is.
    let server = app.world().resource::<AssetServer>();
    let handle = server
        .load_builder()
        .with_settings(move |options: &mut HeightmapOptions| {
            options.size = Some(UVec2::new(19, 11));
            options.vertical = Some(range);
            options.cell_size = Some(2.0);
        })
        .load("land.r16");
    let loaded = wait(&mut app, &handle).expect("a heightmap");
    app.insert_resource(loaded.into_terrain().expect("a terrain"));
    app.update();
    assert_eq!(app.world().resource::<Terrain>().size(), UVec2::new(19, 11));

    let handle: Handle<Heightmap> = app.world().resource::<AssetServer>().load("broken.tif");
    let error = wait(&mut app, &handle).unwrap_err();
    assert!(error.contains("TIFF"), "{error}");
}

/// A `.meta` file tells what a file does not.
#[test]
fn settings_come_from_a_meta_file() {
    let folder = Folder::new("meta");
    let bytes: Vec<u8> = [0u16, 65_535]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    fs::write(folder.file("two.r16"), bytes).expect("writable");
    let meta = r#"(
        meta_format_version: "1.0",
        asset: Load(
            loader: "bevy_erode::io::HeightmapLoader",
            settings: (
                format: Some(Raw16(Big)),
                size: Some((2, 1)),
                vertical: Some(Range((lowest: -5.0, highest: 7.0))),
            ),
        ),
    )"#;
    fs::write(folder.file("two.r16.meta"), meta).expect("writable");
    let mut app = create_app(&folder);
    let handle: Handle<Heightmap> = app.world().resource::<AssetServer>().load("two.r16");
    let loaded = wait(&mut app, &handle).expect("a heightmap");
    assert_eq!(loaded.values, [-5.0, 7.0]);
}

/// Pictures that are loaded without a type stay pictures.
#[test]
fn names_of_pictures_are_left_to_others() {
    let folder = Folder::new("names");
    let app = create_app(&folder);
    let server = app.world().resource::<AssetServer>().clone();
    let loads = |extension: &str| {
        let loader = server.get_asset_loader_with_extension(extension);
        bevy::tasks::block_on(loader).is_ok()
    };
    assert!(!loads("png") && !loads("exr") && !loads("tif") && !loads("tiff"));
    assert!(loads("r16") && loads("r32") && loads("heightmap.png"));
}
