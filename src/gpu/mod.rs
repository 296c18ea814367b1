//! The same models as compute passes, in Bevy's render graph.
//!
//! ```text
//! game: edits, springs ─▶ Terrain (the mirror) ─▶ differences ─┐
//!       rain, models   ─▶ commands ────────────────────────────┤ once a frame
//! GPU:  differences, weather, drops, water, thermal  ◀─────────┘
//!       └▶ tiles that changed, ledger ─▶ results ─▶ Terrain
//! ```
//!
//! Choose by [`ErosionBackend`], on the plugin or at any time later. While the
//! GPU runs it is the truth, and [`Terrain`](crate::terrain::Terrain) a mirror
//! that follows a few frames behind:
//! [`TerrainQuery::age`](crate::query::TerrainQuery::age) says how far. Nothing
//! waits for it. Whatever is done to the mirror in the meantime reaches the GPU
//! as a difference, so nothing is lost.
//!
//! | runs on the GPU | runs on the host, and reaches the GPU as differences |
//! |---|---|
//! | `PipeModel` and `PipeModel::as_published()`, `ShallowWater`, `Droplets`, `Thermal`, `Rain` (even, or by a map), `Evaporation` | edits and undo, springs and drains, `Rain` in drops, `Droplets` with streams or as published, `ShallowWater::as_published()`, all other models |
//!
//! [`ErosionBackendStatus::on_host`] names the models that the host runs beside
//! the GPU. Drops that form streams need to know where lakes spill, which is
//! found one cell after the other; drops of many thousand steps would take longer
//! than a device allows.
//!
//! Drops fall bit by bit as on the CPU: whoever changes the backend in mid-run
//! gets the same land. Both count in whole units; the passes round every sum and
//! product on its own, and put the last places of quotients and roots right
//! themselves, which a device may get wrong. Two things are left to the device,
//! and WGSL does not promise them: that sums and products are rounded to nearest,
//! as is usual, and that it does what it says. The tests prove it for the adapter
//! they run on. The ledger's terms agree to the rounding of their sums.
//!
//! The other models agree within a tolerance that their tests state. When the
//! backend changes, the source's own pipe model takes over how much flows through
//! each face, not how much of it flows both ways at once.
//!
//! Each model has a folder here, which declares its passes (a WGSL file each), its
//! constants and how a step becomes dispatches; `MODULES` lists the folders. The
//! rest is common: `twin` (which solvers the GPU runs), `control` and `backend`
//! (the main world), `frame_plan`, `terrain_buffers` and `executor` (the render
//! world), `mirror` and `exchange` (what travels between them).
//!
//! State is kept in pairs of numbers, so that 4096² cells fit the binding limit
//! that every device has.

mod backend;
mod constants;
mod control;
mod droplet;
mod exchange;
mod executor;
mod forcing;
mod frame_plan;
mod full_readback;
mod limits;
mod mirror;
mod pacing;
#[cfg(feature = "egui")]
mod panel;
mod pass;
mod pipe;
mod plugin;
mod pools;
mod shader_module;
mod shallow_water;
mod status;
mod terrain_buffers;
#[cfg(test)]
mod tests;
mod thermal;
mod twin;
#[cfg(feature = "render")]
mod view;

pub use crate::backend::ErosionBackend;
pub use backend::{
    BackendChanged, EditShortfall, ErosionBackendStatus, Readback, ReadbackCompleted, device_lost,
};
pub(crate) use control::GpuControl;
#[cfg(feature = "egui")]
pub(crate) use panel::show_backend;
pub use plugin::{GpuPlugin, bytes_per_cell};

use pass::PassModule;

/// All folders of passes: a model's passes are known once it is listed here.
static MODULES: &[&PassModule] = &[
    &constants::MODULE,
    &exchange::MODULE,
    &forcing::MODULE,
    &droplet::MODULE,
    &pipe::MODULE,
    &pipe::published::MODULE,
    &shallow_water::MODULE,
    &pools::MODULE,
    &thermal::MODULE,
    #[cfg(feature = "render")]
    &view::MODULE,
];
