//! The header of a saved state, as RON: everything but planes.

use super::{SaveError, SavedModel, SavedSettings, SavedSolverState};
use crate::{
    forcing::{LavaSource, WaterSink, WaterSource},
    models::meander::{MeanderingRiver, RiverStretch},
    scene::points::Placed,
    schedule::{Erosion, ErosionPace},
    terrain::{Borders, Grid, Ledger, TerrainParts},
};
use bevy::math::UVec2;
use core::time::Duration;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// For people who look into a file.
    pub written_by: String,
    pub size: (u32, u32),
    pub cell_size: f32,
    pub origin: (f32, f32, f32),
    /// Not in files of terrains that were never shifted, nor in older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowHeader>,
    pub borders: Borders,
    pub datum: f32,
    pub account: Ledger,
    pub hardness: bool,
    pub flow: bool,
    /// Not in files written before there was lava.
    #[serde(default)]
    pub lava: bool,
    /// Not in files written before rivers were saved as they run.
    #[serde(default)]
    pub streams: Vec<StreamHeader>,
    pub revisions: (u64, u64),
    pub clock: Option<Clock>,
    pub pace: Option<ErosionPace>,
    pub models: Vec<ModelHeader>,
    pub sources: Vec<Placed<WaterSource>>,
    pub sinks: Vec<Placed<WaterSink>>,
    #[serde(default)]
    pub vents: Vec<Placed<LavaSource>>,
    /// Not in files written before there were rivers.
    #[serde(default)]
    pub rivers: Vec<RiverHeader>,
}

/// Where the window of a shifted terrain began.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowHeader {
    /// The origin before the first shift. units: m
    pub start: (f32, f32, f32),
    /// How far it has moved since, along x and z. units: tiles
    pub moved: (i32, i32),
}

/// `Time<Erosion>`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clock {
    pub context: Erosion,
    pub elapsed: Duration,
    pub delta: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelHeader {
    pub name: String,
    pub settings: SettingsHeader,
    pub solver: Option<SolverHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsHeader {
    pub text: String,
    /// Numbers of its plane.
    pub plane: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SolverHeader {
    /// Where they are not the model's.
    pub settings: Option<SettingsHeader>,
    /// Bytes of its working state.
    #[serde(rename = "memory")]
    pub state: u64,
}

/// The box of cells in which a stream is seen.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamHeader {
    pub first: (u32, u32),
    pub size: (u32, u32),
}

/// The entity of a river.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RiverHeader {
    pub at: (f32, f32, f32),
    /// Quaternion: x, y, z, w.
    pub turned: (f32, f32, f32, f32),
    pub stretch: RiverStretch,
    pub settings: MeanderingRiver,
    /// Not in older files: their rivers start anew.
    #[serde(default)]
    pub running: Option<RunningHeader>,
}

/// The river that runs there, with what of it is not the entity's.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunningHeader {
    pub place: Option<PlaceHeader>,
    pub stretch: Option<RiverStretch>,
    pub settings: Option<MeanderingRiver>,
    /// Bytes of its working state.
    #[serde(rename = "memory")]
    pub state: u64,
}

/// A `Transform`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceHeader {
    pub at: (f32, f32, f32),
    pub turned: (f32, f32, f32, f32),
    pub scale: (f32, f32, f32),
}

impl Clock {
    pub fn check(&self) -> Result<(), SaveError> {
        self.context.check()?;
        // Beyond this, the clock could not count further.
        let most = Duration::from_secs(1 << 60);
        if self.elapsed > most || self.delta > self.elapsed {
            return Err(SaveError::Damaged("the clock is out of range"));
        }
        Ok(())
    }
}

impl Header {
    pub fn from_text(text: &str) -> Result<Self, SaveError> {
        let read = ron::Options::default().from_str(text);
        read.map_err(|error| {
            // A broken file may make the parser quote all of it.
            let reason = error.to_string();
            SaveError::Header(reason.chars().take(400).collect())
        })
    }

    pub fn to_text(&self) -> Result<String, SaveError> {
        let written = ron::Options::default().to_string(self);
        written.map_err(|error| SaveError::Header(error.to_string()))
    }

    /// What the terrain is made of, if there can be such a grid.
    pub fn terrain_parts(&self) -> Result<TerrainParts, SaveError> {
        let grid = Grid::new(UVec2::from(self.size), self.cell_size)?;
        let (solids, water) = (self.account.solids.terms(), self.account.water.terms());
        let finite = |terms: &[f64]| terms.iter().all(|term| term.is_finite());
        if !(finite(&solids) && finite(&water)) {
            return Err(SaveError::Damaged("the ledger is not finite"));
        }
        let streams = self.streams.iter();
        let (window_start, window_moved) = match self.window {
            Some(window) => (window.start, window.moved),
            None => (self.origin, (0, 0)),
        };
        let parts = TerrainParts {
            grid: grid.with_origin(self.origin.into())?,
            window_start: window_start.into(),
            window_moved: window_moved.into(),
            borders: self.borders,
            datum: self.datum,
            account: self.account,
            hardness: self.hardness,
            flow: self.flow,
            lava: self.lava,
            streams: streams
                .map(|own| [own.first.into(), own.size.into()])
                .collect(),
            revisions: self.revisions.into(),
        };
        // Before their planes are counted.
        if !parts.streams_fit() {
            return Err(SaveError::Damaged("a stream lies outside the terrain"));
        }
        Ok(parts)
    }

    /// Words that the body must have, if they can be counted.
    pub fn body_words(&self, parts: &TerrainParts) -> Option<u64> {
        let planes = parts.plane_lengths();
        let planes = planes.iter().map(|&length| length as u64).sum::<u64>();
        let mut words = planes + 4 * parts.tiles() as u64;
        for model in &self.models {
            let solver = model.solver.as_ref();
            let other = solver.and_then(|solver| solver.settings.as_ref());
            words = words.checked_add(model.settings.plane)?;
            words = words.checked_add(other.map_or(0, |settings| settings.plane))?;
            words = words.checked_add(solver.map_or(0, |solver| solver.state.div_ceil(4)))?;
        }
        for running in self.rivers.iter().filter_map(|own| own.running.as_ref()) {
            words = words.checked_add(running.state.div_ceil(4))?;
        }
        Some(words)
    }
}

impl ModelHeader {
    pub fn of(model: &SavedModel) -> Self {
        let settings = |settings: &SavedSettings| SettingsHeader {
            text: settings.text.clone(),
            plane: settings.plane.len() as u64,
        };
        let solver = |solver: &SavedSolverState| SolverHeader {
            settings: solver.settings.as_ref().map(settings),
            state: solver.state.len() as u64,
        };
        Self {
            name: model.name.clone(),
            settings: settings(&model.settings),
            solver: model.solver.as_ref().map(solver),
        }
    }
}
