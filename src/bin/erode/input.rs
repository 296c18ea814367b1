//! The terrain to begin with: heightmaps, saved states and scenes.

use crate::{args::InputArgs, failure::Failure};
use bevy_erode::prelude::*;
use bevy_erode::{
    io::{HeightmapError, SaveError, Vertical, VerticalRange},
    terrain::Grid,
};
use std::path::Path;

/// A terrain, and where it comes from.
pub struct Land {
    pub terrain: Terrain,
    /// What was read, for messages.
    pub source: String,
    /// The range of heights that its file was said to have.
    pub range: Option<VerticalRange>,
    /// What is not used of where it comes from, in a line for people.
    pub notice: Option<String>,
}

/// Reads a terrain from a scene that was read, a saved state or a heightmap.
pub fn read(source: &str, args: &InputArgs, scene: Option<&ErosionScene>) -> Result<Land, Failure> {
    let terrain = if let Some(scene) = scene {
        args.refuse_for(source, "a scene")?;
        scene.build_terrain().map_err(Failure::failed)?
    } else if is_state(source) {
        args.refuse_for(source, "a saved state")?;
        written_back(read_state(source)?)?
    } else {
        let map = read_heightmap(source, &args.options()?)?;
        let terrain = map.into_terrain();
        terrain.map_err(|error| explain(source, error))?
    };
    Ok(Land {
        terrain,
        source: source.into(),
        range: args.vertical_range(),
        notice: None,
    })
}

/// Whether a name is that of a saved state.
pub fn is_state(source: &str) -> bool {
    Path::new(source)
        .extension()
        .is_some_and(|ending| ending == "erode")
}

pub fn read_state(source: &str) -> Result<SavedState, Failure> {
    SavedState::read_file(source).map_err(|error| match error {
        SaveError::File { .. } => Failure::failed(error),
        other => Failure::failed(format!("{source}: {other}")),
    })
}

/// A land that waits for no river: what its rivers carried is in its layers.
fn written_back(state: SavedState) -> Result<Terrain, Failure> {
    let rivers = state.rivers().map_err(Failure::failed)?;
    let mut terrain = state.into_terrain();
    for mut river in rivers {
        river.write_back(&mut terrain);
    }
    Ok(terrain)
}

pub fn read_heightmap(source: &str, options: &HeightmapOptions) -> Result<Heightmap, Failure> {
    Heightmap::read_file(source, options).map_err(|error| explain(source, error))
}

impl InputArgs {
    /// What the file does not say, checked.
    pub fn options(&self) -> Result<HeightmapOptions, Failure> {
        if let Some(cell_size) = self.cell_size {
            check_cell_size(cell_size)?;
        }
        let range = self.vertical_range().map(Vertical::Range);
        Ok(HeightmapOptions {
            format: self.input_format,
            size: self.size.map(Into::into),
            vertical: range.or(self.scale.map(Vertical::Scale)),
            cell_size: self.cell_size,
            no_data: self.no_data,
        })
    }

    fn vertical_range(&self) -> Option<VerticalRange> {
        to_range(self.range.as_deref())
    }

    /// What is no heightmap knows all of this itself.
    pub fn refuse_for(&self, source: &str, what: &str) -> Result<(), Failure> {
        let given = [
            ("--cell-size", self.cell_size.is_some()),
            ("--range", self.range.is_some()),
            ("--scale", self.scale.is_some()),
            ("--size", self.size.is_some()),
            ("--input-format", self.input_format.is_some()),
            ("--no-data", self.no_data.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::usage(format!(
                "{option}: expected a heightmap, but {source} is {what}, which stores this itself"
            ))),
        }
    }
}

/// Two numbers as a range.
pub fn to_range(numbers: Option<&[f32]>) -> Option<VerticalRange> {
    match numbers {
        Some(&[lowest, highest]) => Some(VerticalRange::new(lowest, highest)),
        _ => None,
    }
}

/// Says what a terrain would say.
pub fn check_cell_size(cell_size: f32) -> Result<(), Failure> {
    match Grid::new((1, 1).into(), cell_size) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage(format!("--cell-size {cell_size}: {error}"))),
    }
}

/// What is wrong with a heightmap, in the words of the command line.
fn explain(source: &str, error: HeightmapError) -> Failure {
    let usage = |reason: &str| Failure::usage(format!("{source}: {reason}"));
    match error {
        HeightmapError::File { .. } => Failure::failed(error),
        HeightmapError::NeedsRange => usage(
            "the file holds integers, not metres: give `--range LOWEST HIGHEST`, or `--scale` for \
             the metres of one unit",
        ),
        HeightmapError::NeedsSize => usage("a RAW file needs its size: give `--size WxH`"),
        HeightmapError::NeedsCellSize => usage("the file has no cell size: give `--cell-size`"),
        HeightmapError::UnknownFormat => Failure::failed(format!(
            "{source}: unknown format, expected PNG, EXR or TIFF; for a RAW file give `--input-format`"
        )),
        HeightmapError::NotSquare { x, y } => usage(&format!(
            "the cells are {x} m × {y} m, expected square cells: give `--cell-size` to override"
        )),
        HeightmapError::Vertical { what, reason } => {
            let option = if what == "no_data" { "no-data" } else { what };
            usage(&format!("--{option}: {reason}"))
        }
        other => {
            let reason = other.to_string().replace("`no_data`", "`--no-data`");
            Failure::failed(format!("{source}: {reason}"))
        }
    }
}
