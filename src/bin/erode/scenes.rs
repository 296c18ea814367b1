//! The scenes that come with the program, and those in files.

use crate::{args::ScenesArgs, failure::Failure, report::print};
use bevy_erode::prelude::*;

/// What stands before the name of a scene of the program's own.
const OWN: &str = "scene:";

/// Name and text of each.
macro_rules! own_scenes {
    ($($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../../assets/scenes/", $name, ".scene.ron")),
        )),+]
    };
}

const OWN_SCENES: &[(&str, &str)] = own_scenes![
    "age_then_rain",
    "dry_channel",
    "four_slope_basin",
    "letters_in_rain",
    "mountain_by_rain",
    "mountain_by_source",
    "mountain_rain_and_source",
    "river_meadow",
    "river_plain",
    "river_valley",
    "seasons",
    "sine_pool",
    "still_water",
    "two_columns",
    "volcano",
];

/// Lists scenes, or prints one.
pub fn run(args: &ScenesArgs) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        return print(own_text(name)?.trim_end());
    }
    let widest = OWN_SCENES.iter().map(|(name, _)| name.len()).max();
    let widest = widest.unwrap_or_default();
    let mut lines = Vec::new();
    for (name, text) in OWN_SCENES {
        let scene = ErosionScene::from_ron(name, text).map_err(Failure::failed)?;
        let (width, height) = scene.terrain.size;
        lines.push(format!(
            "{name:widest$}  {} ({width} × {height} cells, {} s)",
            scene.title, scene.seconds
        ));
    }
    print(&lines.join("\n"))
}

/// Whether a text names a scene rather than a heightmap.
pub fn is_scene(source: &str) -> bool {
    source.starts_with(OWN) || source.ends_with(".ron")
}

/// Reads `scene:NAME` or a file.
pub fn read(source: &str) -> Result<ErosionScene, Failure> {
    if let Some(name) = source.strip_prefix(OWN) {
        return ErosionScene::from_ron(source, own_text(name)?).map_err(Failure::failed);
    }
    ErosionScene::read_file(source).map_err(Failure::failed)
}

fn own_text(name: &str) -> Result<&'static str, Failure> {
    let found = OWN_SCENES.iter().find(|(own, _)| *own == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<&str> = OWN_SCENES.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        Failure::usage(format!("no scene `{name}`, expected {names}"))
    })
}
