//! Who runs the models: the choice, and what the rest of the crate asks of a
//! device that runs steps in place of the models' own solvers. Without the feature
//! `gpu` there is no such device.

use crate::{models::Solver, terrain::Terrain};
use bevy::prelude::*;
use core::time::Duration;

#[cfg(feature = "gpu")]
pub(crate) use crate::gpu::GpuControl as Device;
#[cfg(not(feature = "gpu"))]
pub(crate) use NoDevice as Device;

/// Who runs the models. May be changed at any time: the state moves over.
///
/// [The guide](crate::guide::gpu) has an example.
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Resource, Default)]
pub enum ErosionBackend {
    /// The GPU, if there is one that has what is needed; else the CPU, with one
    /// warning that says what is missing. A software adapter is no GPU.
    Auto,
    /// The CPU: same bits on any machine.
    #[default]
    Cpu,
    /// The GPU, even if it is a software one; else the CPU, with one warning.
    Gpu,
}

/// Takes on the choice.
pub(crate) fn build(app: &mut App, backend: ErosionBackend) {
    app.register_type::<ErosionBackend>()
        .insert_resource(backend);
    if !Device::EXISTS && backend != ErosionBackend::Cpu {
        warn!("erosion runs on the CPU: bevy_erode was built without its feature `gpu`");
    }
}

/// A device that can run steps in place of the models' own solvers.
pub(crate) trait StepDevice: Resource {
    /// Whether there can be one at all.
    const EXISTS: bool;

    /// Whether it runs the models now.
    fn is_running(&self) -> bool;

    /// Runs a step of a model. Returns false if it has no way to do it: then the
    /// solver is to run it on the host.
    fn run_step<S: Solver>(&mut self, solver: &mut S, terrain: &mut Terrain, dt: f32) -> bool;

    /// The host runs a model, which moves the water or does not, beside it.
    fn host_runs(&mut self, model: &'static str, moves_water: bool);

    /// How many steps this frame may take.
    fn allowed_steps(&self, budget: Option<Duration>) -> u32;

    /// A step begins.
    fn count_step(&mut self, step: u64);

    /// Steps by which a tile of the terrain may be behind.
    fn age(&self, tile: UVec2) -> u64;

    /// The greatest [`age`](Self::age) of any tile.
    fn oldest(&self) -> u64;
}

/// Tiles that someone needs to know of before others. It is there while a device
/// takes them.
#[cfg(any(feature = "gpu", feature = "avian", feature = "rapier"))]
#[derive(Resource, Debug, Default)]
pub(crate) struct TileRequests(pub Vec<UVec2>);

/// Stands for a device where there can be none.
#[cfg_attr(feature = "gpu", expect(dead_code, reason = "there is a real one"))]
#[derive(Resource)]
pub(crate) enum NoDevice {}

impl StepDevice for NoDevice {
    const EXISTS: bool = false;

    fn is_running(&self) -> bool {
        match *self {}
    }

    fn run_step<S: Solver>(&mut self, _: &mut S, _: &mut Terrain, _: f32) -> bool {
        match *self {}
    }

    fn host_runs(&mut self, _: &'static str, _: bool) {
        match *self {}
    }

    fn allowed_steps(&self, _: Option<Duration>) -> u32 {
        match *self {}
    }

    fn count_step(&mut self, _: u64) {
        match *self {}
    }

    fn age(&self, _: UVec2) -> u64 {
        match *self {}
    }

    fn oldest(&self) -> u64 {
        match *self {}
    }
}
