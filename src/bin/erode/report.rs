//! What was done, for people and for programs.

use crate::{
    failure::Failure,
    passes::{Amount, Pass},
};
use bevy_erode::prelude::*;
use bevy_erode::terrain::{Grid, Ledger};
use core::{fmt, time::Duration};
use serde::Serialize;
use std::io::{self, Write};

/// All of a run.
#[derive(Serialize)]
pub struct Report {
    pub version: &'static str,
    pub input: LandReport,
    pub passes: Vec<PassReport>,
    pub output: GroundReport,
    pub masks: Vec<MaskReport>,
    pub preview: Option<String>,
    /// Volumes at the end. units: m³
    pub ledger: Ledger,
    /// Volume that appeared or vanished: of solids in proportion to the ledger's
    /// `sum_of_absolute_volumes`, of water to all that was there or came.
    pub drift: Drift,
    /// Of the whole terrain: the same for the same input, settings and seed.
    pub state_hash: String,
    pub threads: usize,
    pub seconds: Timings,
}

/// The land as it was.
#[derive(Serialize)]
pub struct LandReport {
    pub source: String,
    /// Cells along x and y.
    pub size: [u32; 2],
    /// units: m
    pub cell_size: f32,
    /// units: m
    pub lowest: f32,
    /// units: m
    pub highest: f32,
}

#[derive(Serialize)]
pub struct PassReport {
    pub models: Vec<ModelReport>,
    pub droplets: Option<u64>,
    /// Water that ran off as droplets. units: m
    pub runoff: Option<f32>,
    /// Years that the land has aged.
    pub years: Option<f64>,
    /// Erosion time. units: s
    pub erosion_seconds: Option<f32>,
    /// units: s
    pub step: Option<f32>,
    /// Rock and earth taken up from the ground. units: m³
    pub moved: f64,
    /// Time it took. units: s
    pub seconds: f64,
}

#[derive(Serialize)]
pub struct ModelReport {
    pub name: String,
    pub settings: serde_json::Value,
}

#[derive(Serialize)]
pub struct GroundReport {
    pub file: String,
    pub format: String,
    /// units: m
    pub lowest: f32,
    /// units: m
    pub highest: f32,
    /// Heights of the least and greatest number of the file, if it holds no
    /// metres. units: m
    pub range: Option<[f32; 2]>,
}

#[derive(Serialize)]
pub struct MaskReport {
    pub mask: String,
    pub file: String,
    pub unit: &'static str,
    pub highest: f32,
    /// What the least and greatest number of the file stand for, if it holds
    /// whole numbers.
    pub range: Option<[f32; 2]>,
}

#[derive(Serialize)]
pub struct Drift {
    pub solids: f64,
    pub water: f64,
}

/// Where the time went. units: s
#[derive(Serialize)]
pub struct Timings {
    pub read: f64,
    pub bake: f64,
    pub write: f64,
    pub total: f64,
}

impl LandReport {
    pub fn of(source: &str, terrain: &Terrain) -> Self {
        let (lowest, highest) = bounds(&terrain.ground_heights());
        Self {
            source: source.into(),
            size: terrain.size().into(),
            cell_size: terrain.cell_size(),
            lowest,
            highest,
        }
    }
}

/// Prints lines on the standard output. Who reads may stop doing so, as `head`
/// does.
pub fn print(lines: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{lines}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("the standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The least and the greatest of some heights.
pub fn bounds(heights: &[f32]) -> (f32, f32) {
    let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
    let highest = heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    (lowest, highest)
}

/// As JSON, by way of a text: a value of its own would show 0.7 of 32 bits as
/// 0.699999988079071.
pub fn as_json(value: &impl Serialize) -> serde_json::Value {
    let text = serde_json::to_string(value);
    let json = text.and_then(|text| serde_json::from_str(&text));
    json.unwrap_or_default()
}

impl PassReport {
    pub fn of(pass: &Pass, grid: &Grid, moved: f64, took: Duration) -> Self {
        let models = pass.models.iter().map(|model| ModelReport {
            name: model.name(),
            settings: as_json(&model.settings),
        });
        let (mut droplets, mut runoff, mut years, mut seconds, mut step) =
            (None, None, None, None, None);
        match pass.amount {
            Amount::Droplets(count) => {
                droplets = Some(count);
                runoff = Some(pass.droplets().runoff_of(count, grid));
            }
            Amount::Runoff { metres, drops } => {
                // It was run with these, so it is no error.
                let plan = pass.droplets().runoff_by(metres, grid, drops);
                droplets = plan.ok().map(|plan| plan.count);
                runoff = Some(metres);
            }
            Amount::Years(all) => years = Some(all),
            Amount::Seconds {
                seconds: s,
                step: dt,
            } => (seconds, step) = (Some(s), Some(dt)),
        }
        Self {
            models: models.collect(),
            droplets,
            runoff,
            years,
            erosion_seconds: seconds,
            step,
            moved,
            seconds: took.as_secs_f64(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.input)?;
        let solids = &self.ledger.solids;
        if !self.passes.is_empty() {
            writeln!(
                f,
                "{:.0} m³ moved, {:.0} m³ left across the border; mass drift {:.1e} of the sum of \
                 absolute volumes",
                solids.moved, solids.left, self.drift.solids
            )?;
        }
        let Self { output, .. } = self;
        write!(
            f,
            "{}: {:.1} m to {:.1} m",
            output.file, output.lowest, output.highest
        )?;
        if let Some([lowest, highest]) = output.range {
            write!(f, ", stored with the range {lowest} m to {highest} m")?;
        }
        for mask in &self.masks {
            let highest = format!("{} {}", mask.highest, mask.unit);
            write!(f, "\n{}: up to {}", mask.file, highest.trim_end())?;
        }
        if let Some(preview) = &self.preview {
            write!(f, "\n{preview}")?;
        }
        write!(f, "\n{:.2} s", self.seconds.total)
    }
}

impl fmt::Display for LandReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height] = self.size;
        write!(
            f,
            "{}: {width} × {height} cells of {} m, {:.1} m to {:.1} m",
            self.source, self.cell_size, self.lowest, self.highest
        )
    }
}
