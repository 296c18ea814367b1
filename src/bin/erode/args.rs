//! The command line.

use crate::{output::Format, passes::PassOptions, preview::PreviewStyle};
use bevy_erode::{
    io::{Endian, HeightmapFormat},
    terrain::Borders,
};
use clap::{Args, FromArgMatches, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Erode a heightmap in which black is 400 m and white is 4800 m:
    erode alps.png --range 400 4800 --cell-size 30 --model droplets --droplets 200000 --out aged.png

  Several passes, one after the other; models joined by + run side by side:
    erode land.exr --model droplets --droplets 200000 \\
                   --model rain+pipe --seconds 120 --set rain.mm_per_hour=500 \\
                   --model thermal --seconds 100 --step 0.25 --set soil_angle=30 \\
                   --out aged.exr --masks masks --preview aged.png

  A generated terrain, and one of the scenes with its own models and weather:
    erode generate ridged --seed 7 --size 512x512 --cell-size 2 --out land.png
    erode scene:seasons --out seasons.tif --json

  A scene with another setting, and with other models on its terrain in its weather:
    erode scene:seasons --set shallow-water.interval=0.25 --out seasons.tif
    erode scene:seasons --model pipe+thermal --out seasons.tif

  The rivers of a terrain, as data and as a picture:
    erode rivers land.exr --out rivers.geojson --fields fields --preview rivers.png

  erode generate --help, erode info --help and erode scenes --help give more;
  erode settings pipe lists all that --set can change in a model.

Exit codes: 0 success, 1 file or system error or a land that left all sane heights,
2 invalid command line, 130 interrupted.
Nothing is written before all passes are done, and no file is ever half written.";

/// What the program is asked to do.
pub enum Invocation {
    Bake(Box<BakeArgs>),
    Other(Command),
}

impl Invocation {
    /// Reads the program's arguments. Ends the program where they are wrong, or
    /// where they only ask for help.
    pub fn parse() -> Self {
        let about = "Erodes heightmaps: droplets, flowing water, lava, thermal weathering";
        let command = clap::Command::new("erode")
            .version(env!("CARGO_PKG_VERSION"))
            .about(about)
            .after_help(EXAMPLES)
            .arg_required_else_help(true)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true);
        let mut command = Command::augment_subcommands(BakeArgs::augment_args(command));
        let matches = command.get_matches_mut();
        let read = match matches.subcommand_name() {
            Some(_) => Command::from_arg_matches(&matches).map(Self::Other),
            None => BakeArgs::from_arg_matches(&matches).map(|args| Self::Bake(Box::new(args))),
        };
        read.unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Generate a terrain, and erode it if passes are given
    Generate(Box<GenerateArgs>),
    /// Show what is in a heightmap, a saved state or a scene
    Info(InfoArgs),
    /// Find the rivers, lakes and basins of a terrain, without eroding it
    Rivers(Box<RiversArgs>),
    /// List the scenes that come with the program, or print one
    Scenes(ScenesArgs),
    /// List the settings of the models with defaults, units and limits, for --set
    Settings(SettingsArgs),
}

#[derive(Args)]
pub struct BakeArgs {
    /// PNG, EXR, TIFF, RAW (.r16, .r32), saved state (.erode), scene (.ron) or scene:NAME
    #[arg(value_name = "IN")]
    pub source: String,
    #[command(flatten)]
    pub input: InputArgs,
    /// Thickness of a soil layer to put on the bedrock [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub soil: Option<f32>,
    /// Boundary condition of each side, as RON, e.g. '(west: Sea(level: 0.0), north: Wall)'
    #[arg(long, value_name = "RON", value_parser = parse_borders)]
    pub borders: Option<Borders>,
    #[command(flatten)]
    pub passes: PassOptions,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  erode generate ridged --seed 7 --set height=400 --size 1024x1024 --cell-size 2 --out land.png
  erode generate 'Island(land: Ridged(seed: 3), radius: 240.0)' --out island.exr --preview island.png
  erode generate fbm --out aged.r16 --model droplets --droplets 100000")]
pub struct GenerateArgs {
    /// A landform: ridged, fbm, billow, faults, conical-hill, …, or RON such as 'Island(radius: 240.0)'
    pub land: String,
    /// Cells along both sides
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "512x512")]
    pub size: (u32, u32),
    /// Side of a cell [m]
    #[arg(
        long,
        value_name = "M",
        default_value_t = 2.0,
        allow_negative_numbers = true
    )]
    pub cell_size: f32,
    /// Thickness of a soil layer to put on the bedrock [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub soil: Option<f32>,
    /// Boundary condition of each side, as RON, e.g. '(west: Sea(level: 0.0))'
    #[arg(long, value_name = "RON", value_parser = parse_borders)]
    pub borders: Option<Borders>,
    #[command(flatten)]
    pub passes: PassOptions,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Args)]
pub struct InfoArgs {
    /// Heightmap, saved state (.erode), scene (.ron) or scene:NAME
    #[arg(value_name = "FILE")]
    pub source: String,
    #[command(flatten)]
    pub input: InputArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  erode rivers alps.tif --cell-size 30 --runoff 1.2 --out rivers.geojson --preview rivers.png
  erode rivers land.erode --fields fields --field-format exr")]
pub struct RiversArgs {
    /// Heightmap, saved state (.erode), scene (.ron) or scene:NAME
    #[arg(value_name = "IN")]
    pub source: String,
    #[command(flatten)]
    pub input: InputArgs,
    /// Where to write rivers and lakes as GeoJSON, in metres
    #[arg(long, value_name = "GEOJSON")]
    pub out: Option<PathBuf>,
    /// Write direction, area, discharge, basin, order, width and lake depth into this folder
    #[arg(long, value_name = "DIR")]
    pub fields: Option<PathBuf>,
    /// Format of the fields
    #[arg(long, value_name = "FORMAT", value_parser = parse_heightmap_format, default_value = "png")]
    pub field_format: HeightmapFormat,
    /// Write a picture: the rivers and lakes over the hillshade
    #[arg(long, value_name = "PNG")]
    pub preview: Option<PathBuf>,
    /// Water that runs off in a year [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub runoff: Option<f32>,
    /// Area that must drain together for a river [m²; default: by the land and its cells]
    #[arg(long, value_name = "M2", allow_negative_numbers = true)]
    pub onset: Option<f32>,
    /// Boundary condition of each side, as RON, e.g. '(west: Sea(level: 0.0), north: Wall)'
    #[arg(long, value_name = "RON", value_parser = parse_borders)]
    pub borders: Option<Borders>,
    /// Threads; the result is the same for any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print a report as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and the report, with --json)
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct ScenesArgs {
    /// Print this scene's RON, to start one of your own
    pub name: Option<String>,
}

#[derive(Args)]
pub struct SettingsArgs {
    /// List only the settings of this model, e.g. pipe
    pub model: Option<String>,
}

// What a heightmap's file does not say itself. (No doc comment here and below:
// it would become the help of the whole command.)
#[derive(Args)]
pub struct InputArgs {
    /// Side of a cell, unless the file has it [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub cell_size: Option<f32>,
    /// Heights of the file's smallest and largest possible value (black and white) [m]
    #[arg(
        long,
        num_args = 2,
        value_names = ["LOWEST", "HIGHEST"],
        allow_negative_numbers = true,
        conflicts_with = "scale"
    )]
    pub range: Option<Vec<f32>>,
    /// Metres per unit of the file's values
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub scale: Option<f32>,
    /// Width and height of a RAW file [cells]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<(u32, u32)>,
    /// Format, if not known from the file or its name: r16, r16be, r32, r32be
    #[arg(long, value_name = "FORMAT", value_parser = parse_heightmap_format)]
    pub input_format: Option<HeightmapFormat>,
    /// Height of cells without data [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub no_data: Option<f32>,
}

// What is common to all that computes.
#[derive(Args)]
pub struct RunArgs {
    /// Where to write the ground: .png, .exr, .tif, .r16, .r32, or .erode for all layers
    #[arg(long, value_name = "OUT")]
    pub out: PathBuf,
    /// Format, if not known from the name: png, exr, tif, tif16, r16, r16be, r32, r32be, erode
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<Format>,
    /// Heights of OUT's smallest and largest possible value (black and white) [m; default for integer formats: --range if the result fits, else its lowest and highest]
    #[arg(
        long,
        num_args = 2,
        value_names = ["LOWEST", "HIGHEST"],
        allow_negative_numbers = true
    )]
    pub out_range: Option<Vec<f32>>,
    /// Write wear, deposit, flow, wetness, slope and soil depth into this folder
    #[arg(long, value_name = "DIR")]
    pub masks: Option<PathBuf>,
    /// Format of the masks
    #[arg(long, value_name = "FORMAT", value_parser = parse_heightmap_format, default_value = "png")]
    pub mask_format: HeightmapFormat,
    /// Write a picture of the result, by default a shaded relief
    #[arg(long, value_name = "PNG")]
    pub preview: Option<PathBuf>,
    /// What the picture shows: colored relief, gray hillshade, slope (0° white, 15° green, 30° yellow, 45° red, 60° violet, 90° black) or water depth over the hillshade
    #[arg(
        long,
        value_name = "STYLE",
        value_enum,
        default_value_t = PreviewStyle::Relief,
        requires = "preview"
    )]
    pub preview_style: PreviewStyle,
    /// Seed of droplets, and of a generated terrain
    #[arg(long)]
    pub seed: Option<u64>,
    /// Settings of models and weather, before those of a scene that is eroded: a .ron file or scene:NAME
    #[arg(long, value_name = "FILE")]
    pub preset: Option<String>,
    /// Threads; the result is the same for any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print a report as JSON: settings, files, ledger, timings
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and the report, with --json)
    #[arg(long, short)]
    pub quiet: bool,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let sides = sides.and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    let (x, y) = sides.ok_or("expected WxH, such as 512x256")?;
    // Says what a terrain would say.
    match bevy_erode::terrain::Grid::new((x, y).into(), 1.0) {
        Ok(_) => Ok((x, y)),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_borders(text: &str) -> Result<Borders, String> {
    let borders = crate::settings::ron_options().from_str(text);
    borders.map_err(|error| error.to_string())
}

pub fn parse_heightmap_format(text: &str) -> Result<HeightmapFormat, String> {
    match parse_format(text)? {
        Format::Heightmap(format) => Ok(format),
        Format::State => Err(
            "`erode` is a saved state, expected png, exr, tif, tif16, r16, r16be, r32 or r32be"
                .into(),
        ),
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    let format = match text.to_ascii_lowercase().as_str() {
        "erode" => return Ok(Format::State),
        "png" => HeightmapFormat::Png16,
        "exr" => HeightmapFormat::Exr,
        "tif" | "tiff" => HeightmapFormat::Tiff32,
        "tif16" | "tiff16" => HeightmapFormat::Tiff16,
        "r16" | "raw" => HeightmapFormat::Raw16(Endian::Little),
        "r16be" => HeightmapFormat::Raw16(Endian::Big),
        "r32" | "r32f" => HeightmapFormat::Raw32(Endian::Little),
        "r32be" => HeightmapFormat::Raw32(Endian::Big),
        _ => {
            return Err(
                "expected png, exr, tif, tif16, r16, r16be, r32 or r32be, or erode for --format"
                    .into(),
            );
        }
    };
    Ok(Format::Heightmap(format))
}
