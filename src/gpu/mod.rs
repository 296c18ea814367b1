//! The same models as compute passes, in Bevy's render graph.
//!
//! ```text
//! game: edits, springs ─▶ Terrain (the mirror) ─▶ differences ─┐
//!       rain, models   ─▶ orders ──────────────────────────────┤ once a frame
//! GPU:  differences, weather, water, thermal ◀─────────────────┘
//!       └▶ tiles that changed, books ─▶ answers ─▶ Terrain
//! ```
//!
//! Choose by [`ErosionBackend`], on the plugin or at any time later. While the
//! GPU runs it is the truth, and [`Terrain`](crate::terrain::Terrain) a mirror
//! that follows a few frames behind: [`TerrainAge`] says how far. Nothing waits
//! for it. Whatever is done to the mirror in the meantime reaches the GPU as a
//! difference, so nothing is lost.
//!
//! | runs on the GPU | runs on the host, and reaches the GPU as differences |
//! |---|---|
//! | `PipeModel`, `ShallowWater`, `Thermal`, `Rain` (even, or by a map), `Evaporation` | edits and undo, springs and drains, `Rain` in drops, `Droplets`, `PipeModel::as_published()`, `ShallowWater::as_published()` and all other models |
//!
//! A folder a model, a file a pass; `passes` has the table of what each binds.
//! State is kept in pairs of numbers, so that 4096² cells fit the binding limit
//! that every device has.

mod backend;
mod executor;
mod job;
mod limits;
mod mirror;
mod order;
mod passes;
mod plugin;
mod shallow_water;
#[cfg(feature = "render")]
mod view;

#[doc(hidden)]
pub use backend::GpuJob;
pub use backend::{
    BackendChanged, EditsFellShort, ErosionBackend, ErosionBackendStatus, MirrorWhole, ReadBack,
    device_lost,
};
pub(crate) use backend::{GpuControl, GpuTask};
pub use plugin::{GpuPlugin, TerrainAge, bytes_per_cell};
