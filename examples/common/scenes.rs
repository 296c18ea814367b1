//! The scene files that come with the crate.

use std::{env, path::PathBuf};

use bevy_erode::prelude::*;

/// The scenes of `assets/scenes`, where Bevy looks for assets, or in the
/// checkout that the example was built from.
pub fn scenes() -> PanelScenes {
    let folder = ["BEVY_ASSET_ROOT", "CARGO_MANIFEST_DIR"]
        .into_iter()
        .filter_map(|root| env::var_os(root).map(PathBuf::from))
        .chain([".".into(), env!("CARGO_MANIFEST_DIR").into()])
        .map(|root| root.join("assets").join("scenes"))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| "assets/scenes".into());
    PanelScenes::in_folder(folder)
}
