//! The scene files that come with the crate.

use std::{env, fs, path::PathBuf};

use bevy_erode::prelude::*;

const ENDING: &str = ".scene.ron";

/// The folder of scenes, where Bevy looks for assets, or in the checkout that
/// the example was built from.
fn folder() -> PathBuf {
    ["BEVY_ASSET_ROOT", "CARGO_MANIFEST_DIR"]
        .into_iter()
        .filter_map(|root| env::var_os(root).map(PathBuf::from))
        .chain([".".into(), env!("CARGO_MANIFEST_DIR").into()])
        .map(|root| root.join("assets").join("scenes"))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| "assets/scenes".into())
}

/// The names of all scenes, in order.
pub fn scene_names() -> Vec<String> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(ENDING).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Reads a scene by its name, or by the path of a file anywhere.
pub fn read_scene(name: &str) -> Result<ErosionScene, String> {
    let path = match name.ends_with(".ron") {
        true => PathBuf::from(name),
        false => folder().join(format!("{name}{ENDING}")),
    };
    if !path.is_file() {
        return Err(format!(
            "there is no scene `{name}`; there are {}, and files *{ENDING} of your own",
            scene_names().join(", ")
        ));
    }
    let file = path.display().to_string();
    let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    ErosionScene::from_ron(&file, &text).map_err(|error| error.to_string())
}
