//! What travels between the game and the GPU: orders one way, answers the other.

use super::job::DropConstants;
use crate::{
    models::{
        pipe::{PublishedPipe, Step},
        shallow_water::WaterStep,
        thermal::Pass as ThermalPass,
    },
    terrain::{Borders, Grid, TerrainCursor},
};
use bevy::{
    math::*,
    render::render_resource::{ShaderSize, ShaderType},
};
use std::sync::{Arc, Mutex, PoisonError};

/// What the GPU is to do, in this order.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Takes on a whole terrain. Always the first of its frame.
    Upload(Box<Upload>),
    /// Takes on another hardness map, or none.
    Hardness(Option<Vec<f32>>),
    /// Takes on another map of rain, or none.
    RainMap(Option<Vec<f32>>),
    /// Takes on how the host lets the water flow.
    Flow {
        flow: Vec<Vec2>,
        edges: Vec<f32>,
        pace: f32,
    },
    /// Adds what the host changed.
    Differences(Vec<Difference>),
    /// Rain and evaporation. units: m
    Weather { rain: f32, drying: f32 },
    /// Equal sub-steps of the pipe model.
    Pipe { dt: f32, sub_steps: u32, step: Step },
    /// A step of shallow water.
    ShallowWater(WaterStep),
    /// A step of the source's own pipe model.
    Published { dt: f32, settings: PublishedPipe },
    /// A batch of drops.
    Drops(DropBatch),
    /// Passes of thermal weathering.
    Thermal { passes: u32, pass: ThermalPass },
    /// Reads tiles back.
    Ask(Ask),
    /// Frees everything.
    Forget,
}

/// Drops that fall on the ground as it is when the first of them falls.
#[derive(Clone, Debug)]
pub(crate) struct DropBatch {
    pub constants: DropConstants,
    /// Weights of the brush, and their sums.
    pub brush: Arc<[f32]>,
    /// In grid coordinates.
    pub starts: Vec<Vec2>,
}

/// All layers, as the GPU keeps them: two numbers a cell in each.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub grid: Grid,
    pub rock: Vec<Vec2>,
    pub cover: Vec<Vec2>,
    pub load: Vec<Vec2>,
    pub flow: Vec<Vec2>,
    /// Discharges over the west border, then over the north border.
    pub edges: Vec<f32>,
    /// Most of g·d + v². units: m²/s²
    pub pace: f32,
}

/// What the host changed in a cell. units: m
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Difference {
    pub cell: u32,
    pub soil: f32,
    pub suspended: f32,
    pub spare: f32,
    /// Two-float sums.
    pub rock: Vec2,
    pub water: Vec2,
}

impl Difference {
    pub const SIZE: usize = Self::SHADER_SIZE.get() as usize;
}

/// What is to be read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ask {
    /// Which terrain it is of, and where that was; other answers are ignored.
    pub terrain: TerrainCursor,
    /// Steps that were ordered before it.
    pub step: u64,
    /// Differences that were sent before it.
    pub differences: u64,
    /// Row-major numbers.
    pub tiles: Vec<u32>,
    pub books: bool,
    /// The last one of its frame.
    pub last: bool,
    /// With it and those before it in its frame, everything was read.
    pub whole: bool,
}

/// Largest number of tiles in one [`Ask`].
pub(crate) const TILES_PER_ASK: usize = 256;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub ask: Ask,
    /// Notes up to the books, then the books if asked for, then the tiles.
    pub words: Vec<u32>,
    /// Which copy of the state was the newest.
    pub now: usize,
}

/// Constants of the terrain that a frame's orders need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Land {
    pub datum: f32,
    pub borders: Borders,
    /// units: m/s²
    pub gravity: f32,
}

impl Default for Land {
    fn default() -> Self {
        Self {
            datum: 0.0,
            borders: Borders::default(),
            gravity: 9.81,
        }
    }
}

/// Answers, put in whenever a buffer is mapped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Vec<Answer>>>);

impl Mailbox {
    pub fn put(&self, answer: Answer) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(answer);
    }

    pub fn take(&self) -> Vec<Answer> {
        core::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
