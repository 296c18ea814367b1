//! Whole states as files, which continue where they were.

mod container;
mod error;
mod header;
mod models;
mod rivers;
#[cfg(test)]
mod tests;
mod world;

pub use error::SaveError;
pub(crate) use models::ModelFiles;

use super::atomic;
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    models::{ErosionModels, Solver},
    scene::points::Placed,
    schedule::ErosionPace,
    terrain::Terrain,
};
use bevy::math::IVec2;
use container::{BodyReader, BodyWriter};
use header::{Clock, Header, ModelHeader, SettingsHeader, StreamHeader, WindowHeader};
use rivers::SavedRiver;
use std::{
    io::{self, Write},
    path::Path,
};

/// Longest file of a state. units: bytes
const MAX_BYTES: u64 = 64 << 30;

/// Everything that erosion needs to continue: terrain, models with their working
/// state, rivers with all that they carry, weather, sources, sinks, vents and clock.
///
/// In an app, use [`capture`](Self::capture) and [`restore`](Self::restore).
/// Without one, a terrain and its solvers can be saved alike:
///
/// ```
/// use bevy::math::UVec2;
/// use bevy_erode::prelude::*;
/// use bevy_erode::models::droplet::DropletSolver;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut terrain = Terrain::generate(&Ridged::seeded(7), UVec2::splat(48), 4.0)?;
/// let mut droplets = DropletSolver::new(Droplets::seeded(1), terrain.grid())?;
/// droplets.step(&mut terrain, 1.0);
/// let bytes = SavedState::of(&terrain)?.with_solver(&droplets, &terrain)?.to_bytes()?;
///
/// let loaded = SavedState::from_bytes(&bytes)?;
/// let mut again: DropletSolver = loaded.solver()?.expect("it was saved");
/// let mut other = loaded.into_terrain();
/// droplets.step(&mut terrain, 1.0);
/// again.step(&mut other, 1.0);
/// assert_eq!(other.state_hash(), terrain.state_hash());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SavedState {
    terrain: Terrain,
    clock: Option<Clock>,
    pace: Option<ErosionPace>,
    models: Vec<SavedModel>,
    sources: Vec<Placed<WaterSource>>,
    sinks: Vec<Placed<WaterSink>>,
    vents: Vec<Placed<LavaSource>>,
    rivers: Vec<SavedRiver>,
}

/// A model as it is kept: nothing of it is interpreted, so that a model that is not
/// known here is not lost.
#[derive(Clone, Debug)]
pub(crate) struct SavedModel {
    name: String,
    settings: SavedSettings,
    solver: Option<SavedSolverState>,
}

/// Settings as RON, without what is too large for it.
#[derive(Clone, Debug)]
struct SavedSettings {
    text: String,
    plane: Vec<f32>,
}

#[derive(Clone, Debug)]
struct SavedSolverState {
    /// The solver's own settings, where the model's were changed since its last
    /// step.
    settings: Option<SavedSettings>,
    state: Vec<u8>,
}

impl SavedState {
    /// A terrain alone.
    ///
    /// # Errors
    /// When a layer holds a value that is out of range, so that it could not be loaded
    /// again.
    pub fn of(terrain: &Terrain) -> Result<Self, SaveError> {
        terrain.check_saved()?;
        Ok(Self {
            terrain: terrain.clone(),
            clock: None,
            pace: None,
            models: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            vents: Vec::new(),
            rivers: Vec::new(),
        })
    }

    /// The same with a solver that works on `terrain`, the one that was given to
    /// [`of`](Self::of). It replaces a solver of the same model.
    ///
    /// # Errors
    /// When its settings cannot be written.
    pub fn with_solver<S: Solver>(
        mut self,
        solver: &S,
        terrain: &Terrain,
    ) -> Result<Self, SaveError> {
        let model = SavedModel::of(solver.settings(), Some(solver), terrain)?;
        self.models.retain(|other| other.name != model.name);
        self.models.push(model);
        Ok(self)
    }

    /// The terrain.
    pub fn terrain(&self) -> &Terrain {
        &self.terrain
    }

    /// The terrain, to continue with. Where there are [`rivers`](Self::rivers), their
    /// water and sediment are not in its layers but with them.
    pub fn into_terrain(self) -> Terrain {
        self.terrain
    }

    /// The solver of a model, if there is one, to continue with on the terrain that
    /// [`into_terrain`](Self::into_terrain) gives.
    ///
    /// # Errors
    /// When its settings or its working state cannot be used.
    pub fn solver<S: Solver>(&self) -> Result<Option<S>, SaveError> {
        match self.model(S::NAME) {
            Some(model) => Ok(model.open::<S>(&self.terrain)?.1),
            None => Ok(None),
        }
    }

    /// Names of the saved models, such as `PipeModel`.
    pub fn model_names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|model| model.name.as_str())
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// When there are too many sources, sinks and vents for a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a file's bytes, and checks all of it. Models of other crates are kept as
    /// they are, and checked by [`solver`](Self::solver) and
    /// [`restore`](Self::restore).
    ///
    /// # Errors
    /// When it is not a saved state, of a later version, damaged, or a value is out of
    /// range.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SaveError> {
        let container::Opened { header, mut body } = container::open(bytes)?;
        let header = Header::from_text(header)?;
        let parts = header.terrain_parts()?;
        let words = header.body_words(&parts);
        if words.and_then(|words| words.checked_mul(4)) != Some(body.length()) {
            return Err(SaveError::Damaged(
                "the body has not the length that the header declares",
            ));
        }
        let mut planes = Vec::new();
        for length in parts.plane_lengths() {
            planes.push(body.words(length, f32::from_bits)?);
        }
        let mut revisions = || {
            let words = body.words(2 * parts.tiles(), |word| word)?;
            let pairs = words.as_chunks::<2>().0.iter();
            let joined = pairs.map(|[low, high]| u64::from(*low) | u64::from(*high) << 32);
            Ok::<Vec<u64>, SaveError>(joined.collect())
        };
        let revisions = [revisions()?, revisions()?];
        let mut models = Vec::new();
        for model in header.models {
            models.push(SavedModel::read(model, &mut body)?);
        }
        let mut rivers = Vec::new();
        for river in header.rivers {
            rivers.push(SavedRiver::read(river, &mut body)?);
        }
        body.finish()?;
        let state = Self {
            terrain: Terrain::from_parts(parts, planes, revisions)?,
            clock: header.clock,
            pace: header.pace,
            models,
            sources: header.sources,
            sinks: header.sinks,
            vents: header.vents,
            rivers,
        };
        state.check()?;
        Ok(state)
    }

    /// Writes a file. An old one of that name stays as it was until the new one
    /// is complete.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let written = atomic::write(path, |file| self.write(file));
        written.map_err(|error| match error {
            SaveError::Write(error) => SaveError::File {
                path: path.into(),
                error,
            },
            other => other,
        })
    }

    /// Reads a file, and checks all of it.
    ///
    /// # Errors
    /// When the file cannot be read; otherwise as
    /// [`from_bytes`](Self::from_bytes).
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, SaveError> {
        let path = path.as_ref();
        let bytes = atomic::read(path, MAX_BYTES).map_err(|error| SaveError::File {
            path: path.into(),
            error,
        })?;
        Self::from_bytes(&bytes)
    }

    fn model(&self, name: &str) -> Option<&SavedModel> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Checks everything but the terrain, which was checked when it was made.
    fn check(&self) -> Result<(), SaveError> {
        if let Some(clock) = &self.clock {
            clock.check()?;
        }
        for source in &self.sources {
            source.component.check()?;
            source.check_place("WaterSource")?;
        }
        for sink in &self.sinks {
            sink.component.check()?;
            sink.check_place("WaterSink")?;
        }
        for vent in &self.vents {
            vent.component.check()?;
            vent.check_place("LavaSource")?;
        }
        for river in &self.rivers {
            river.check(&self.terrain)?;
        }
        let known = ErosionModels::default();
        for (number, model) in self.models.iter().enumerate() {
            if self.models[..number]
                .iter()
                .any(|other| other.name == model.name)
            {
                return Err(SaveError::Damaged("a model is there twice"));
            }
            if let Some(entry) = known.named(&model.name) {
                drop((entry.files.prepare)(Some(model), &self.terrain)?);
            }
        }
        Ok(())
    }

    fn write(&self, file: impl Write) -> Result<(), SaveError> {
        let parts = self.terrain.parts();
        let origin = parts.grid.origin();
        let header = Header {
            written_by: concat!("bevy_erode ", env!("CARGO_PKG_VERSION")).into(),
            size: parts.grid.size().into(),
            cell_size: parts.grid.cell_size(),
            origin: origin.into(),
            window: (parts.window_moved != IVec2::ZERO).then(|| WindowHeader {
                start: parts.window_start.into(),
                moved: parts.window_moved.into(),
            }),
            borders: parts.borders,
            datum: parts.datum,
            account: parts.account,
            hardness: parts.hardness,
            flow: parts.flow,
            lava: parts.lava,
            streams: (parts.streams.iter())
                .map(|[first, size]| StreamHeader {
                    first: (*first).into(),
                    size: (*size).into(),
                })
                .collect(),
            revisions: parts.revisions.into(),
            clock: self.clock,
            pace: self.pace,
            models: self.models.iter().map(ModelHeader::of).collect(),
            sources: self.sources.clone(),
            sinks: self.sinks.clone(),
            vents: self.vents.clone(),
            rivers: self.rivers.iter().map(SavedRiver::header).collect(),
        };
        let words = header.body_words(&parts).unwrap_or_default();
        container::write(file, &header.to_text()?, 4 * words, |body| {
            for plane in self.terrain.planes() {
                write_floats(body, plane)?;
            }
            for tiles in self.terrain.tile_revisions() {
                body.words(2 * tiles.len(), |word| {
                    (tiles[word / 2] >> (32 * (word % 2))) as u32
                })?;
            }
            for model in &self.models {
                model.write(body)?;
            }
            for river in &self.rivers {
                river.write(body)?;
            }
            Ok(())
        })
    }
}

impl SavedModel {
    /// Reads what the header does not have.
    fn read(header: ModelHeader, body: &mut BodyReader) -> Result<Self, SaveError> {
        let settings = |header: SettingsHeader, body: &mut BodyReader| {
            Ok::<SavedSettings, SaveError>(SavedSettings {
                text: header.text,
                plane: body.words(header.plane as usize, f32::from_bits)?,
            })
        };
        let own = settings(header.settings, body)?;
        let solver = match header.solver {
            Some(solver) => Some(SavedSolverState {
                settings: match solver.settings {
                    Some(other) => Some(settings(other, body)?),
                    None => None,
                },
                state: read_bytes(body, solver.state)?,
            }),
            None => None,
        };
        Ok(Self {
            name: header.name,
            settings: own,
            solver,
        })
    }

    fn write<W: Write>(&self, body: &mut BodyWriter<W>) -> io::Result<()> {
        write_floats(body, &self.settings.plane)?;
        let Some(solver) = &self.solver else {
            return Ok(());
        };
        if let Some(settings) = &solver.settings {
            write_floats(body, &settings.plane)?;
        }
        write_bytes(body, &solver.state)
    }
}

/// Reads so many bytes, which whole words hold.
fn read_bytes(body: &mut BodyReader, length: u64) -> Result<Vec<u8>, SaveError> {
    let length = length as usize;
    let words = body.words(length.div_ceil(4), u32::to_le_bytes)?;
    let mut bytes = words.into_flattened();
    bytes.truncate(length);
    Ok(bytes)
}

fn write_bytes<W: Write>(body: &mut BodyWriter<W>, bytes: &[u8]) -> io::Result<()> {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    body.words(bytes.len().div_ceil(4), |word| {
        u32::from_le_bytes(words.get(word).copied().unwrap_or(last))
    })
}

#[inline]
fn write_floats<W: Write>(body: &mut BodyWriter<W>, values: &[f32]) -> io::Result<()> {
    body.words(values.len(), |index| values[index].to_bits())
}
