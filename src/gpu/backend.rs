//! Who really runs the models: the change from one to the other, and what the main
//! world sends and receives in a frame.

use super::{
    control::{DeviceState, FallbackWarning, GpuControl, Owner},
    limits::missing,
    pass::Readiness,
};
use crate::{
    backend::{ErosionBackend, StepDevice, TileRequests},
    forcing::edits::TerrainHistory,
    schedule::{Erosion, ErosionTime, LastRun},
    terrain::{Grid, Terrain},
};
use bevy::{
    prelude::*,
    render::{
        render_resource::WgpuLimits,
        renderer::{RenderAdapterInfo, RenderDevice},
    },
};

/// Who really runs the models now.
///
/// [The guide](crate::guide::gpu) has an example.
#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq, Eq)]
#[reflect(Resource, Default)]
pub struct ErosionBackendStatus {
    /// Whether the GPU runs them.
    pub on_gpu: bool,
    /// The adapter's name, if there is a renderer.
    pub adapter: Option<String>,
    /// Why the GPU does not run them although it was chosen.
    pub missing: Vec<String>,
    /// Models that the GPU has no passes for as they are set: the host (the CPU)
    /// runs them, and what they change travels to the GPU. E.g. `Droplets` with
    /// streams.
    pub on_host: Vec<String>,
    /// Whether something that happened on the GPU is not in the terrain yet.
    pub readback_pending: bool,
}

/// The models moved from one backend to the other.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct BackendChanged {
    /// Whether the GPU runs them from now on.
    pub on_gpu: bool,
    /// Why, e.g. `requested` or `the device was lost`.
    pub reason: String,
}

/// Edits took more than was left on the GPU when they got there. What was
/// missing counts in the ledger as added by edits.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct EditShortfall {
    /// Loose ground. units: m³
    pub solids: f64,
    /// Water. units: m³
    pub water: f64,
}

/// What is read back from the GPU, and how much of it a frame.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default)]
pub struct Readback {
    /// Tiles of 64 × 64 cells a frame, besides those requested. With 0, only
    /// what is requested comes back.
    pub tiles_per_frame: usize,
    /// Time between two readbacks of the whole terrain, which serve when the
    /// device is lost, and for the ledger; as many times longer as the terrain is
    /// larger than 1024². units: s
    pub full_interval: f32,
    /// Tiles to be read before others, if they changed; taken each frame.
    pub tiles: Vec<UVec2>,
    /// Whether the whole terrain is to be read, at one step; taken each frame.
    pub everything: bool,
}

impl Default for Readback {
    fn default() -> Self {
        Self {
            tiles_per_frame: 64,
            full_interval: 5.0,
            tiles: Vec::new(),
            everything: false,
        }
    }
}

impl Readback {
    /// Requests tiles before others, if they changed. Colliders near bodies do so
    /// by themselves.
    pub fn request_tiles(&mut self, tiles: impl IntoIterator<Item = UVec2>) {
        self.tiles.extend(tiles);
    }

    /// Requests the whole terrain at one step: [`ReadbackCompleted`] says when it is
    /// there.
    pub fn request_all(&mut self) {
        self.everything = true;
    }
}

/// The whole terrain is as it was on the GPU at one step, ledger included.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadbackCompleted {
    /// That step.
    pub step: u64,
}

/// Tells erosion that the graphics device is lost, or that nothing is rendered
/// any more: the CPU goes on from the last moment at which everything was read
/// back, and [`BackendChanged`] says so. Should the renderer recover, the GPU
/// takes over again. The plugin sees to it; only a `RenderErrorHandler` of your
/// own, inserted after the plugin, must call this.
pub fn device_lost(main_world: &mut World) {
    if let Some(mut control) = main_world.get_resource_mut::<GpuControl>() {
        control.device = DeviceState::Lost;
    }
}

/// Why the GPU cannot run this terrain.
fn obstacles(
    backend: ErosionBackend,
    grid: &Grid,
    control: &GpuControl,
    limits: Option<&WgpuLimits>,
    adapter: Option<&RenderAdapterInfo>,
) -> Vec<String> {
    let Some(limits) = limits else {
        return vec![
            "no render device: the app has no `RenderPlugin`, or no graphics adapter was found"
                .into(),
        ];
    };
    let mut missing = missing(limits, grid);
    if control.device == DeviceState::Lost {
        missing.push("the device was lost".into());
    }
    // The type itself is not re-exported by Bevy.
    let software = adapter.is_some_and(|info| format!("{:?}", info.device_type) == "Cpu");
    if backend == ErosionBackend::Auto && software {
        missing.push("the graphics adapter is a software renderer: set `ErosionBackend::Gpu` to use it anyway".into());
    }
    if let Some(Readiness::Failed(reason)) = &control.readiness {
        missing.push(reason.clone());
    }
    missing
}

/// Takes results in, and changes the backend when asked to.
pub(super) fn receive(
    terrain: Option<ResMut<Terrain>>,
    backend: Res<ErosionBackend>,
    mut status: ResMut<ErosionBackendStatus>,
    mut control: ResMut<GpuControl>,
    mut last: ResMut<LastRun>,
    mut history: ResMut<TerrainHistory>,
    device: Option<Res<RenderDevice>>,
    adapter: Option<Res<RenderAdapterInfo>>,
    mut changes: MessageWriter<BackendChanged>,
    mut completed: MessageWriter<ReadbackCompleted>,
    mut shortfalls: MessageWriter<EditShortfall>,
) {
    let control = &mut *control;
    if status.adapter.is_none() {
        status.adapter = adapter.as_ref().map(|info| info.name.clone());
    }
    let Some(mut terrain) = terrain else {
        if control.owner.mirror().is_some() {
            control.stop();
            status.on_gpu = false;
            changes.write(BackendChanged {
                on_gpu: false,
                reason: "the terrain was removed".into(),
            });
        }
        return;
    };
    last.mixes_moments = control.mixes_moments();
    control.full_readback.begin_frame();
    last.lost_by_models += core::mem::take(&mut control.skipped_time);
    let replaced = !control.is_of(&terrain);
    if !replaced {
        control.send_differences(&terrain);
    }
    for result in control.results.take() {
        let (shortfall, is_whole) = control.take(&result, &mut terrain, &mut last);
        if shortfall.max_element() > 0.0 {
            shortfalls.write(EditShortfall {
                solids: shortfall.x,
                water: shortfall.y,
            });
        }
        if is_whole {
            last.mixes_moments = false;
            control.snapshot = Some(Box::new(terrain.clone()));
            completed.write(ReadbackCompleted {
                step: result.request.step,
            });
            // An earlier reading may still have been on its way.
            if matches!(control.owner, Owner::Returning(_)) && !control.pacing.is_waiting() {
                control.stop();
                status.on_gpu = false;
                changes.write(BackendChanged {
                    on_gpu: false,
                    reason: "requested".into(),
                });
            }
        }
    }

    let limits = device.as_ref().map(|device| device.limits());
    let lacks = match *backend {
        ErosionBackend::Cpu => Vec::new(),
        choice => obstacles(
            choice,
            terrain.grid(),
            control,
            limits.as_ref(),
            adapter.as_deref(),
        ),
    };
    let wants_gpu = *backend != ErosionBackend::Cpu && lacks.is_empty();
    if !lacks.is_empty() && control.warning == FallbackWarning::Due {
        control.warning = FallbackWarning::Given;
        warn!("erosion runs on the CPU: {}", lacks.join("; "));
    }
    if status.missing != lacks {
        status.missing = lacks;
    }
    let ready = control.readiness == Some(Readiness::Ready);
    match &control.owner {
        Owner::Gpu(_) | Owner::Returning(_) if control.device == DeviceState::Lost => {
            if let Some(snapshot) = control.snapshot.take() {
                terrain.return_to(*snapshot);
                // What was done since then is gone, and cannot be undone.
                history.clear();
            }
            control.stop();
            control.commands.clear();
            status.on_gpu = false;
            changes.write(BackendChanged {
                on_gpu: false,
                reason: "the device was lost".into(),
            });
        }
        Owner::Gpu(_) if replaced && wants_gpu => control.start(&mut terrain),
        Owner::Gpu(_) | Owner::Returning(_) if replaced => {
            control.stop();
            status.on_gpu = false;
            changes.write(BackendChanged {
                on_gpu: false,
                reason: "the terrain was replaced".into(),
            });
        }
        Owner::Gpu(_) if !wants_gpu => {
            if let Owner::Gpu(mirror) = core::mem::take(&mut control.owner) {
                control.owner = Owner::Returning(mirror);
                control.request_everything();
            }
        }
        Owner::Cpu if wants_gpu && ready => {
            control.start(&mut terrain);
            status.on_gpu = true;
            changes.write(BackendChanged {
                on_gpu: true,
                reason: "requested".into(),
            });
        }
        _ => {}
    }
}

/// Sends the rest of the frame's commands, and asks for what is to come back.
pub(super) fn send(
    terrain: Option<Res<Terrain>>,
    time: Res<Time<Erosion>>,
    mut control: ResMut<GpuControl>,
    mut readback: ResMut<Readback>,
    mut tiles: ResMut<TileRequests>,
    mut status: ResMut<ErosionBackendStatus>,
    mut last: ResMut<LastRun>,
) {
    let control = &mut *control;
    control.step = time.steps();
    let Some(terrain) = terrain else { return };
    if !control.is_of(&terrain) {
        return;
    }
    control.send_differences(&terrain);
    report_host_models(control, &mut status);
    // What was recorded in the frame in which all of it came is not in it yet,
    // but what is in it is of one moment.
    let arrived = control.full_readback.arrived_this_frame();
    last.mixes_moments = !arrived && control.mixes_moments();
    readback.tiles.append(&mut tiles.0);
    request_readback(control, &terrain, &mut readback);
    let behind = control.is_behind();
    if status.readback_pending != behind {
        status.readback_pending = behind;
    }
}

/// Says which models the host ran, once a step has shown it.
fn report_host_models(control: &mut GpuControl, status: &mut ResMut<ErosionBackendStatus>) {
    let models = core::mem::take(&mut control.host_models.this_frame);
    if control.is_running() && !control.pacing.has_new_steps() {
        return;
    }
    for model in &models {
        if !control.host_models.warned.contains(model) {
            control.host_models.warned.push(model);
            warn!(
                "{model} has no GPU implementation for its settings: it runs on the CPU, other models on the GPU"
            );
        }
    }
    let known = status.on_host.iter().map(String::as_str);
    if !known.eq(models.iter().copied()) {
        status.on_host = models.iter().map(ToString::to_string).collect();
    }
}

/// Asks for what is to come back.
fn request_readback(control: &mut GpuControl, terrain: &Terrain, readback: &mut Readback) {
    let Owner::Gpu(mirror) = &mut control.owner else {
        readback.tiles.clear();
        readback.everything = false;
        return;
    };
    for tile in readback.tiles.drain(..) {
        mirror.want(tile.y * terrain.grid().tiles().x + tile.x);
    }
    let wants_tiles = mirror.wants_any(readback.tiles_per_frame);
    let everything = core::mem::take(&mut readback.everything);
    let size = terrain.grid().cells() as f32 / (1 << 20) as f32;
    let interval = readback.full_interval * size.max(1.0);
    if everything || control.full_readback.is_due(interval) {
        control.request_everything();
    } else if control.pacing.has_new_steps() || wants_tiles {
        control.request_tiles(readback.tiles_per_frame);
    }
}
