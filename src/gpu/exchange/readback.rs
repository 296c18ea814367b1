//! From the GPU to the host: the status buffer and packed tiles, copied to a
//! buffer that is mapped once the frame is submitted.

use super::{
    super::{
        frame_plan::{Dispatch, FramePlan, GpuCommand},
        pass::LIST,
        status::GROUP,
    },
    GATHER, PACKED,
};
use crate::terrain::{TILE, TerrainCursor};
use bevy::{math::*, render::render_resource::Buffer};
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers of a cell in a result.
pub(in crate::gpu) const CELL_WORDS: usize = 8;
const TILE_BYTES: u64 = TILE as u64 * TILE as u64 * CELL_WORDS as u64 * 4;

/// Largest number of tiles in one [`ReadbackRequest`].
pub(in crate::gpu) const TILES_PER_REQUEST: usize = 256;

/// What is to be read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gpu) struct ReadbackRequest {
    /// Which terrain it is of; results of an older one are ignored.
    pub terrain: TerrainCursor,
    /// Steps that were recorded before it.
    pub step: u64,
    /// Differences that were sent before it.
    pub differences: u64,
    /// Changes to the GPU's terrain that were recorded before it.
    pub changes: u64,
    /// Row-major numbers.
    pub tiles: Vec<u32>,
    /// Whether the ledger is read too.
    pub ledger: bool,
    /// The last one of its frame.
    pub last: bool,
    /// With it and those before it in its frame, everything was read.
    pub whole: bool,
}

/// What came back.
#[derive(Debug)]
pub(in crate::gpu) struct ReadbackResult {
    pub request: ReadbackRequest,
    /// The status buffer up to the ledger, then the ledger if asked for, then the
    /// tiles.
    pub words: Vec<u32>,
    /// Which copy of the state was the newest.
    pub current: usize,
}

/// Results, put in whenever a buffer is mapped.
#[derive(Clone, Debug, Default)]
pub(in crate::gpu) struct ReadbackResults(Arc<Mutex<Vec<ReadbackResult>>>);

impl ReadbackResults {
    pub fn push(&self, result: ReadbackResult) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(result);
    }

    pub fn take(&self) -> Vec<ReadbackResult> {
        core::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Room for packed tiles.
#[derive(Default)]
struct PackedTiles(Option<Buffer>);

impl GpuCommand for ReadbackRequest {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        let status_words = match self.ledger {
            true => plan.layout().words(),
            false => plan.layout().ledger(),
        };
        let status_bytes = u64::from(status_words) * 4;
        let bytes = self.tiles.len() as u64 * TILE_BYTES;
        let result = plan.mappable(status_bytes + bytes);
        plan.copy_status(&result, status_bytes);
        if !self.tiles.is_empty() {
            let packed = packed_tiles(plan);
            let tiles = self.tiles.iter();
            let list: Vec<u8> = tiles.flat_map(|tile| tile.to_le_bytes()).collect();
            let list = plan.list(&list);
            let side = TILE / GROUP;
            let groups = UVec3::new(side, side, self.tiles.len() as u32);
            plan.dispatch(Dispatch {
                pass: &GATHER,
                constants: None,
                groups,
                given: vec![(&LIST, list), (&PACKED, packed.clone())],
            });
            plan.copy(&packed, &result, status_bytes, bytes);
        }
        if self.last {
            plan.clear_changes();
        }
        plan.read_back(result, *self);
    }
}

fn packed_tiles(plan: &mut FramePlan) -> Buffer {
    if let Some(buffer) = plan.with_state(|packed: &mut PackedTiles| packed.0.clone()) {
        return buffer;
    }
    let tiles = plan.layout().tile_count() as usize;
    let bytes = tiles.min(TILES_PER_REQUEST) as u64 * TILE_BYTES;
    let buffer = plan.storage(PACKED.label, bytes);
    plan.with_state(|packed: &mut PackedTiles| packed.0 = Some(buffer.clone()));
    buffer
}
