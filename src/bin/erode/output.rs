//! The files to write: the ground, its masks and a picture.

use crate::{
    args::RunArgs,
    failure::Failure,
    input::to_range,
    interrupt,
    preview::{self, PreviewStyle},
    report::{GroundReport, MaskReport, bounds},
};
use bevy_erode::io::{Endian, HeightmapError, HeightmapFormat, SaveError, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use core::fmt;
use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// What a result can be written as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// The ground alone.
    Heightmap(HeightmapFormat),
    /// All layers and the ledger.
    State,
}

impl Format {
    fn from_path(path: &Path) -> Option<Self> {
        if path.extension().is_some_and(|ending| ending == "erode") {
            return Some(Self::State);
        }
        HeightmapFormat::from_path(path).map(Self::Heightmap)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "erode",
            Self::Heightmap(format) => match format {
                HeightmapFormat::Png16 => "png",
                HeightmapFormat::Raw16(Endian::Little) => "r16",
                HeightmapFormat::Raw16(Endian::Big) => "r16be",
                HeightmapFormat::Raw32(Endian::Little) => "r32",
                HeightmapFormat::Raw32(Endian::Big) => "r32be",
                HeightmapFormat::Exr => "exr",
                HeightmapFormat::Tiff16 => "tif16",
                HeightmapFormat::Tiff32 => "tif",
            },
        })
    }
}

/// How a mask's file name ends.
pub fn ending(format: HeightmapFormat) -> &'static str {
    match format {
        HeightmapFormat::Png16 => "png",
        HeightmapFormat::Raw16(_) => "r16",
        HeightmapFormat::Raw32(_) => "r32",
        HeightmapFormat::Exr => "exr",
        HeightmapFormat::Tiff16 | HeightmapFormat::Tiff32 => "tif",
    }
}

/// Whether it holds whole numbers, which need a range of heights.
pub fn is_whole(format: HeightmapFormat) -> bool {
    matches!(
        format,
        HeightmapFormat::Png16 | HeightmapFormat::Raw16(_) | HeightmapFormat::Tiff16
    )
}

/// What is to be written, and where.
pub struct Outputs {
    out: PathBuf,
    format: Format,
    range: Option<VerticalRange>,
    masks: Option<PathBuf>,
    mask_format: HeightmapFormat,
    preview: Option<PathBuf>,
    preview_style: PreviewStyle,
}

/// What was written.
pub struct Written {
    pub ground: GroundReport,
    pub masks: Vec<MaskReport>,
    pub preview: Option<String>,
}

impl Outputs {
    /// Finds out before any work whether all can be written.
    pub fn plan(args: &RunArgs) -> Result<Self, Failure> {
        let out = args.out.clone();
        let format = args.format.or_else(|| Format::from_path(&out));
        let format = format.ok_or_else(|| {
            Failure::usage(format!(
                "--out {}: unknown format: end the name in .png, .exr, .tif, .r16, .r32 or \
                 .erode, or give `--format`",
                out.display()
            ))
        })?;
        let range = to_range(args.out_range.as_deref());
        if let Some(VerticalRange { lowest, highest }) = range
            && (lowest >= highest || lowest.is_nan() || highest.is_nan())
        {
            let reason = "expected LOWEST < HIGHEST";
            return Err(Failure::usage(format!(
                "--out-range {lowest} {highest}: {reason}"
            )));
        }
        if format == Format::State && range.is_some() {
            let reason = "only for heightmaps: a saved state (.erode) always stores metres";
            return Err(Failure::usage(format!("--out-range: {reason}")));
        }
        if let Some(preview) = &args.preview {
            let is_png = preview
                .extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
            let wrong = if !is_png {
                Some("expected a file name that ends in .png")
            } else if is_same(preview, &out) {
                Some("same file as `--out`, expected another path")
            } else {
                None
            };
            if let Some(reason) = wrong {
                let preview = preview.display();
                return Err(Failure::usage(format!("--preview {preview}: {reason}")));
            }
            check_writable("--preview", preview)?;
        }
        check_writable("--out", &out)?;
        if let Some(masks) = &args.masks {
            check_folder("--masks", masks)?;
            let files = Mask::ALL.map(|mask| mask_file(masks, mask, args.mask_format));
            let others = [Some(&out), args.preview.as_ref()];
            let mut others = others.into_iter().flatten();
            if let Some(other) = others.find(|other| files.iter().any(|file| is_same(file, other)))
            {
                let (masks, other) = (masks.display(), other.display());
                return Err(Failure::usage(format!(
                    "--masks {masks}: a mask file would overwrite {other}; give another folder"
                )));
            }
        }
        Ok(Self {
            out,
            format,
            range,
            masks: args.masks.clone(),
            mask_format: args.mask_format,
            preview: args.preview.clone(),
            preview_style: args.preview_style,
        })
    }

    /// The masks that must follow the land from its beginning.
    pub fn new_masks(&self) -> Option<TerrainMasks> {
        self.masks.is_some().then(TerrainMasks::all)
    }

    /// Writes everything. `range` is that of the land's own file.
    pub fn write(
        &self,
        terrain: &Terrain,
        masks: Option<&TerrainMasks>,
        range: Option<VerticalRange>,
    ) -> Result<Written, Failure> {
        let mut hold = interrupt::hold();
        let ground = self.write_ground(terrain, range)?;
        let masks = match (&self.masks, masks) {
            (Some(folder), Some(masks)) => self.write_masks(folder, masks)?,
            _ => Vec::new(),
        };
        let preview = match &self.preview {
            None => None,
            Some(path) => {
                let written = preview::write(terrain, self.preview_style, path);
                written.map_err(|error| at(path, error))?;
                Some(path.display().to_string())
            }
        };
        hold.complete();
        Ok(Written {
            ground,
            masks,
            preview,
        })
    }

    fn write_ground(
        &self,
        terrain: &Terrain,
        range: Option<VerticalRange>,
    ) -> Result<GroundReport, Failure> {
        let map = Heightmap::from_ground(terrain);
        let (lowest, highest) = bounds(&map.values);
        let mut used = None;
        match self.format {
            Format::State => {
                let written = SavedState::of(terrain).and_then(|state| state.write_file(&self.out));
                written.map_err(|error| match error {
                    SaveError::File { .. } => Failure::failed(error),
                    other => Failure::failed(format!("{}: {other}", self.out.display())),
                })?;
            }
            Format::Heightmap(format) => {
                // The file that it was made from had this range: so the two can
                // be compared, unless it is now too small.
                let former = range.filter(|r| r.lowest <= lowest && highest <= r.highest);
                used = self.range;
                if is_whole(format) {
                    used = used
                        .or(former)
                        .or(Some(VerticalRange::from_values(&map.values)));
                }
                let vertical = used.map_or(Vertical::METRES, Vertical::Range);
                let written = map.write_file(&self.out, format, vertical);
                written.map_err(|error| match error {
                    HeightmapError::Value { .. } => Failure::failed(format!(
                        "{}: {error}; see `--out-range`",
                        self.out.display()
                    )),
                    other => at(&self.out, other),
                })?;
            }
        }
        Ok(GroundReport {
            file: self.out.display().to_string(),
            format: self.format.to_string(),
            lowest,
            highest,
            range: used.map(|range| [range.lowest, range.highest]),
        })
    }

    fn write_masks(&self, folder: &Path, masks: &TerrainMasks) -> Result<Vec<MaskReport>, Failure> {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        let mut reports = Vec::new();
        for mask in Mask::ALL {
            let Some(map) = Heightmap::from_mask(masks, mask) else {
                continue;
            };
            let highest = map.values.iter().copied().fold(0.0, f32::max);
            let range = match mask {
                Mask::Wetness => VerticalRange::new(0.0, 1.0),
                _ if highest > 0.0 => VerticalRange::new(0.0, highest),
                _ => VerticalRange::new(0.0, 1.0),
            };
            let is_whole = is_whole(self.mask_format);
            let vertical = if is_whole {
                Vertical::Range(range)
            } else {
                Vertical::METRES
            };
            let name = mask.name().replace(' ', "_");
            let path = mask_file(folder, mask, self.mask_format);
            map.write_file(&path, self.mask_format, vertical)
                .map_err(|error| at(&path, error))?;
            reports.push(MaskReport {
                mask: name,
                file: path.display().to_string(),
                unit: mask.unit(),
                highest,
                range: is_whole.then_some([range.lowest, range.highest]),
            });
        }
        Ok(reports)
    }
}

/// An error of a file, which not all of them name.
pub fn at(path: &Path, error: HeightmapError) -> Failure {
    match error {
        HeightmapError::File { .. } => Failure::failed(error),
        other => Failure::failed(format!("{}: {other}", path.display())),
    }
}

/// Whether a file can be written. Hours of work should not be lost for a
/// mistyped folder.
pub fn check_writable(option: &str, path: &Path) -> Result<(), Failure> {
    let failed = |reason: &dyn fmt::Display| {
        Failure::failed(format!("{option} {}: {reason}", path.display()))
    };
    if path.is_dir() || path.file_name().is_none() {
        return Err(failed(&"is a folder, expected a file"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(failed(&format_args!("no folder {}", folder.display())));
    }
    probe(folder).map_err(|error| failed(&error))
}

/// Whether a folder is there, or can be made, and files in it.
pub fn check_folder(option: &str, path: &Path) -> Result<(), Failure> {
    let failed = |reason: &dyn fmt::Display| {
        Failure::failed(format!("{option} {}: {reason}", path.display()))
    };
    let mut there = path;
    while !there.exists() && there != folder_of(there) {
        there = folder_of(there);
    }
    if !there.is_dir() {
        return Err(failed(&format_args!("{} is not a folder", there.display())));
    }
    probe(there).map_err(|error| failed(&error))
}

/// The folder that a file lies in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes an empty file and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let _hold = interrupt::hold();
    let path = folder.join(format!(".erode-{}.tmp", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs::remove_file(&path)
}

/// The file of a mask.
fn mask_file(folder: &Path, mask: Mask, format: HeightmapFormat) -> PathBuf {
    let name = mask.name().replace(' ', "_");
    folder.join(format!("{name}.{}", ending(format)))
}

/// Whether two paths name one file, which need not be there yet.
fn is_same(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    a == b || whole(a).is_some_and(|a| Some(a) == whole(b))
}
