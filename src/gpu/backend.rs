//! Who runs the models: the choice, the change from one to the other, and the
//! frame's orders and answers. Main world only.

use super::{
    limits::missing,
    mirror::{Mirror, flow_of, pace_of},
    order::{Answer, DropBatch, Land, Mailbox, Order},
    passes::Readiness,
};
use crate::{
    forcing::edits::TerrainHistory,
    models::{
        pipe::{PipeModel, PublishedPipe},
        shallow_water::WaterStep,
        thermal,
    },
    schedule::{Erosion, ErosionTime, LastRun},
    terrain::{Grid, Terrain},
};
use bevy::{
    math::DVec2,
    platform::time::Instant,
    prelude::*,
    render::{
        render_resource::WgpuLimits,
        renderer::{RenderAdapterInfo, RenderDevice},
    },
};
use core::time::Duration;

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
    /// Why the GPU does not run them although it should.
    pub missing: Vec<String>,
    /// Models that the GPU has no passes for as they are set: the host runs them,
    /// and what they change travels to the GPU. E.g. `Droplets` with streams.
    pub on_host: Vec<String>,
    /// Whether something that happened on the GPU is not in the terrain yet.
    pub mirror_is_behind: bool,
}

/// The models moved from one backend to the other.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct BackendChanged {
    /// Whether the GPU runs them from now on.
    pub on_gpu: bool,
    /// Why, e.g. `asked for` or `the device was lost`.
    pub reason: String,
}

/// Edits took more than was left on the GPU when they got there. What was
/// missing is booked as added by edits.
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
    /// Tiles of 64 × 64 cells a frame, besides those asked for. With 0, only
    /// what is asked for comes back.
    pub tiles_per_frame: usize,
    /// Seconds between two readings of everything at once, which serve when the
    /// device is lost, and for the ledger; as many times longer as the terrain is
    /// larger than 1024². units: s
    pub whole_every: f32,
    /// Tiles to be read before others, if they changed; taken each frame.
    pub tiles: Vec<UVec2>,
    /// Whether all is to be read, of one moment; taken each frame.
    pub everything: bool,
}

impl Default for Readback {
    fn default() -> Self {
        Self {
            tiles_per_frame: 64,
            whole_every: 5.0,
            tiles: Vec::new(),
            everything: false,
        }
    }
}

impl Readback {
    /// Asks for tiles to be read before others, if they changed. Colliders near
    /// bodies do so by themselves.
    pub fn ask(&mut self, tiles: impl IntoIterator<Item = UVec2>) {
        self.tiles.extend(tiles);
    }

    /// Asks for everything, of one moment: [`ReadbackCompleted`] says when it is there.
    pub fn ask_everything(&mut self) {
        self.everything = true;
    }
}

/// The whole terrain is as it was on the GPU at one step, ledger included.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadbackCompleted {
    /// That step.
    pub step: u64,
}

/// What a model wants the GPU to do. Only our own models have passes.
pub struct GpuJob<'a>(pub(crate) GpuTask<'a>);

/// What there are passes for.
pub(crate) enum GpuTask<'a> {
    /// Rain, by a map if there is one. units: m
    Rain(f32, Option<&'a [f32]>),
    /// Evaporation. units: m
    Drying(f32),
    Pipe(&'a PipeModel),
    ShallowWater(WaterStep),
    PublishedPipe(&'a PublishedPipe),
    Drops(Vec<DropBatch>),
    Thermal(u32, thermal::Pass),
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Cpu,
    Running(Box<Mirror>),
    /// Waits for the last answer.
    Leaving(Box<Mirror>),
}

/// Orders and answers of the GPU.
#[derive(Resource, Default)]
pub(crate) struct GpuControl {
    phase: Phase,
    pub(super) outbox: Vec<Order>,
    pub(super) land: Land,
    pub(super) mailbox: Mailbox,
    pub(super) readiness: Option<Readiness>,
    /// Set while the device is gone.
    pub(super) lost: bool,
    /// The terrain when it was last whole: all that is left if the device is lost.
    snapshot: Option<Box<Terrain>>,
    warned: bool,
    step: u64,
    rain_map: Option<Vec<f32>>,
    /// A model on the host lets the water flow.
    host_flows: bool,
    /// Models that the host ran in this frame's steps, and those that it was said
    /// of already.
    host_models: Vec<&'static str>,
    host_models_told: Vec<&'static str>,
    /// Steps of each frame with orders that no answer came to yet.
    unanswered: Vec<u32>,
    steps_this_frame: u32,
    /// Steps that a frame may order: more while the GPU keeps up, fewer when not.
    allowance: f64,
    whole_at: Option<Instant>,
    /// Whether the answers that make the mirror whole are still to come.
    whole_pending: bool,
    /// Whether anything was ordered since everything was last asked for, and
    /// whether the terrain is still what came back then.
    ordered_since_whole: bool,
    whole_is_current: bool,
    /// It came back in this frame.
    whole_came: bool,
    /// Erosion time that was not ordered because it needs too many sub-steps.
    /// units: s
    time_not_ordered: f32,
}

/// Frames that the GPU may be behind before it gets no more steps.
const MOST_UNANSWERED: usize = 3;

impl GpuControl {
    /// Whether the GPU runs the models.
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    /// How many steps this frame may order; none limits them when the CPU runs.
    pub fn allowed_steps(&self, budget: Option<Duration>) -> u32 {
        match (&self.phase, budget) {
            (Phase::Cpu, _) => u32::MAX,
            (Phase::Leaving(_), _) => 0,
            (Phase::Running(_), None) => u32::MAX,
            (Phase::Running(_), Some(_)) if self.unanswered.len() >= MOST_UNANSWERED => 0,
            (Phase::Running(_), Some(_)) => self.allowance.clamp(1.0, 4096.0) as u32,
        }
    }

    /// Notes that a step was ordered.
    pub fn count_step(&mut self, step: u64) {
        self.step = step;
        self.steps_this_frame += 1;
    }

    /// Sends what the host changed.
    fn flush(&mut self, terrain: &Terrain) {
        let (Phase::Running(mirror) | Phase::Leaving(mirror)) = &mut self.phase else {
            return;
        };
        if !mirror.is_of(terrain) {
            // Another one came in this frame; the next begins with it.
            return;
        }
        let differences = mirror.differences(terrain);
        if let Some(map) = mirror.new_hardness() {
            self.outbox.push(Order::Hardness(map));
        }
        if !differences.is_empty() {
            self.outbox.push(Order::Differences(differences));
            self.note_order();
        }
        self.land.datum = terrain.datum();
        self.land.borders = *terrain.borders();
    }

    /// Orders a job of a model.
    pub fn order(&mut self, job: GpuJob, terrain: &mut Terrain, dt: f32) {
        if !self.is_of(terrain) {
            self.start(terrain);
        }
        self.flush(terrain);
        let Phase::Running(mirror) = &mut self.phase else {
            return;
        };
        let lets_flow = matches!(
            job.0,
            GpuTask::Pipe(_) | GpuTask::PublishedPipe(_) | GpuTask::ShallowWater(_)
        );
        if lets_flow && self.host_flows {
            // The GPU does not know how the water flows.
            self.host_flows = false;
            mirror.keeps_flow = false;
            let (flow, edges) = flow_of(terrain);
            mirror.pace = pace_of(terrain, self.land.gravity);
            self.outbox.push(Order::Flow {
                flow,
                edges,
                pace: mirror.pace,
            });
        }
        let pace = mirror.pace;
        self.note_order();
        match job.0 {
            GpuTask::Rain(rain, map) => {
                if self.rain_map.as_deref() != map {
                    self.rain_map = map.map(Into::into);
                    self.outbox.push(Order::RainMap(self.rain_map.clone()));
                }
                self.outbox.push(Order::Weather { rain, drying: 0.0 });
            }
            GpuTask::Drying(drying) => match self.outbox.last_mut() {
                // One pass does both.
                Some(Order::Weather { drying: dry, .. }) if *dry == 0.0 => *dry = drying,
                _ => self.outbox.push(Order::Weather { rain: 0.0, drying }),
            },
            GpuTask::Pipe(model) => {
                let grid = terrain.grid();
                self.land.gravity = model.gravity;
                let (part, sub_steps) = split(dt, pace, grid, model.max_substeps);
                self.time_not_ordered += (dt - part * sub_steps as f32).max(0.0);
                let dt = part;
                let step = model.constants(grid, terrain.datum(), dt);
                self.outbox.push(Order::Pipe {
                    dt,
                    sub_steps,
                    step,
                });
            }
            GpuTask::ShallowWater(step) => self.outbox.push(Order::ShallowWater(step)),
            GpuTask::PublishedPipe(settings) => {
                self.land.gravity = settings.gravity;
                let settings = settings.clone();
                self.outbox.push(Order::Published { dt, settings });
            }
            GpuTask::Drops(batches) => self.outbox.extend(batches.into_iter().map(Order::Drops)),
            GpuTask::Thermal(passes, pass) => self.outbox.push(Order::Thermal { passes, pass }),
        }
    }

    /// Whether the terrain is not what the GPU had at any one moment, or is older
    /// than what was ordered.
    fn mixes_moments(&self) -> bool {
        !matches!(self.phase, Phase::Cpu) && !self.whole_is_current
    }

    fn note_order(&mut self) {
        self.ordered_since_whole = true;
        self.whole_is_current = false;
    }

    /// Notes that the host runs a model, and whether it lets the water flow.
    pub fn host_runs(&mut self, model: &'static str, lets_flow: bool) {
        if !self.host_models.contains(&model) {
            self.host_models.push(model);
        }
        if !lets_flow {
            return;
        }
        self.host_flows = true;
        if let Phase::Running(mirror) = &mut self.phase {
            mirror.keeps_flow = true;
        }
    }

    /// Steps since a tile was read back; 0 while the CPU runs.
    pub fn age(&self, tile: UVec2) -> u64 {
        match &self.phase {
            Phase::Running(mirror) | Phase::Leaving(mirror) => mirror.age(tile, self.step),
            Phase::Cpu => 0,
        }
    }

    /// The greatest [`age`](Self::age) of any tile.
    pub fn oldest(&self) -> u64 {
        match &self.phase {
            Phase::Running(mirror) | Phase::Leaving(mirror) => mirror.oldest(self.step),
            Phase::Cpu => 0,
        }
    }

    /// Whether it is this terrain that is on the GPU, or none.
    fn is_of(&self, terrain: &Terrain) -> bool {
        match &self.phase {
            Phase::Running(mirror) | Phase::Leaving(mirror) => mirror.is_of(terrain),
            Phase::Cpu => true,
        }
    }

    /// Whether orders or answers are on their way, or tiles wait to be read.
    fn is_behind(&self) -> bool {
        let stale = match &self.phase {
            Phase::Running(mirror) | Phase::Leaving(mirror) => mirror.wants_any(1),
            Phase::Cpu => return false,
        };
        stale || self.steps_this_frame > 0 || !self.unanswered.is_empty()
    }

    /// There is a device again. Nothing of an older one is left on it.
    pub(super) fn device_is_back(&mut self) {
        self.lost = false;
        self.warned = false;
    }

    /// Begins anew on the GPU.
    fn start(&mut self, terrain: &mut Terrain) {
        terrain.ensure_flow();
        let (mirror, upload) = Mirror::new(terrain, self.step, self.land.gravity);
        // What still came of an earlier time is of no use.
        self.mailbox.take();
        self.outbox.clear();
        self.outbox.push(Order::Upload(Box::new(upload)));
        self.rain_map = None;
        self.host_flows = false;
        self.snapshot = None;
        self.unanswered.clear();
        self.whole_pending = false;
        // Everything is read at once, in case the device is lost.
        self.whole_at = None;
        self.whole_is_current = false;
        self.phase = Phase::Running(Box::new(mirror));
    }

    fn stop(&mut self) {
        self.snapshot = None;
        self.outbox.clear();
        self.outbox.push(Order::Forget);
        self.unanswered.clear();
        self.phase = Phase::Cpu;
    }

    fn ask_everything(&mut self) {
        let (Phase::Running(mirror) | Phase::Leaving(mirror)) = &mut self.phase else {
            return;
        };
        let asks = mirror.ask_all(self.step);
        self.outbox.extend(asks.into_iter().map(Order::Ask));
        self.unanswered.push(self.steps_this_frame);
        self.steps_this_frame = 0;
        self.ordered_since_whole = false;
        self.whole_pending = true;
        self.whole_at = Some(Instant::now());
    }

    /// Takes an answer in; returns what edits took in vain, and whether the
    /// mirror is whole now.
    fn take(&mut self, answer: &Answer, terrain: &mut Terrain, run: &mut LastRun) -> (DVec2, bool) {
        let (Phase::Running(mirror) | Phase::Leaving(mirror)) = &mut self.phase else {
            return (DVec2::ZERO, false);
        };
        if answer.ask.terrain != terrain.id.get() {
            return (DVec2::ZERO, false);
        }
        let news = mirror.take(answer, terrain);
        run.lost_by_models += news.lost;
        let mut whole = false;
        if answer.ask.last {
            if !self.unanswered.is_empty() {
                let steps = f64::from(self.unanswered.remove(0));
                // A GPU that answers within a frame or two has time for more.
                let keeps_up = self.unanswered.len() + 1 < MOST_UNANSWERED;
                let allowance = self.allowance.max(1.0);
                self.allowance = match keeps_up {
                    true if steps + 1.0 > allowance => (1.25 * allowance).min(4096.0),
                    true => allowance,
                    false => (0.5 * allowance).max(1.0),
                };
            }
            whole = answer.ask.whole;
            if whole {
                self.whole_pending = false;
                self.whole_is_current = !self.ordered_since_whole;
            }
        }
        (news.short, whole)
    }
}

/// Tells erosion that the graphics device is lost, or that nothing is rendered
/// any more: the CPU goes on from the last moment at which everything was read
/// back, and [`BackendChanged`] says so. Should the renderer recover, the GPU
/// takes over again. The plugin sees to it; only a `RenderErrorHandler` of your
/// own, inserted after the plugin, must call this.
pub fn device_lost(main_world: &mut World) {
    if let Some(mut control) = main_world.get_resource_mut::<GpuControl>() {
        control.lost = true;
    }
}

/// Equal sub-steps that are stable for what is known of the water.
fn split(dt: f32, pace: f32, grid: &Grid, most: u32) -> (f32, u32) {
    let longest = crate::models::pipe::longest_step(pace, grid.cell_size());
    let parts = (dt / longest).ceil().clamp(1.0, most as f32);
    ((dt / parts).min(longest), parts as u32)
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
        return vec!["a renderer: there is none".into()];
    };
    let mut missing = missing(limits, grid);
    if control.lost {
        missing.push("the device was lost".into());
    }
    // The type itself is not re-exported by Bevy.
    let software = adapter.is_some_and(|info| format!("{:?}", info.device_type) == "Cpu");
    if backend == ErosionBackend::Auto && software {
        missing.push("the adapter is a software one".into());
    }
    if let Some(Readiness::Failed(reason)) = &control.readiness {
        missing.push(reason.clone());
    }
    missing
}

/// Takes answers in, and changes the backend when asked to.
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
    mut whole: MessageWriter<ReadbackCompleted>,
    mut shortages: MessageWriter<EditShortfall>,
) {
    let control = &mut *control;
    if status.adapter.is_none() {
        status.adapter = adapter.as_ref().map(|info| info.name.clone());
    }
    let Some(mut terrain) = terrain else {
        if !matches!(control.phase, Phase::Cpu) {
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
    control.whole_came = false;
    last.lost_by_models += core::mem::take(&mut control.time_not_ordered);
    let replaced = match &control.phase {
        Phase::Running(mirror) | Phase::Leaving(mirror) => !mirror.is_of(&terrain),
        Phase::Cpu => false,
    };
    if !replaced {
        control.flush(&terrain);
    }
    for answer in control.mailbox.take() {
        let (short, is_whole) = control.take(&answer, &mut terrain, &mut last);
        if short.max_element() > 0.0 {
            shortages.write(EditShortfall {
                solids: short.x,
                water: short.y,
            });
        }
        if is_whole {
            last.mixes_moments = false;
            control.snapshot = Some(Box::new(terrain.clone()));
            control.whole_came = true;
            whole.write(ReadbackCompleted {
                step: answer.ask.step,
            });
            // An earlier reading may still have been on its way.
            if matches!(control.phase, Phase::Leaving(_)) && control.unanswered.is_empty() {
                control.stop();
                status.on_gpu = false;
                changes.write(BackendChanged {
                    on_gpu: false,
                    reason: "asked for".into(),
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
    if !lacks.is_empty() && !control.warned {
        control.warned = true;
        warn!("erosion runs on the CPU: {}", lacks.join("; "));
    }
    if status.missing != lacks {
        status.missing = lacks;
    }
    let ready = control.readiness == Some(Readiness::Ready);
    match &control.phase {
        Phase::Running(_) | Phase::Leaving(_) if control.lost => {
            if let Some(snapshot) = control.snapshot.take() {
                terrain.return_to(*snapshot);
                // What was done since then is gone, and cannot be undone.
                history.clear();
            }
            control.stop();
            control.outbox.clear();
            status.on_gpu = false;
            changes.write(BackendChanged {
                on_gpu: false,
                reason: "the device was lost".into(),
            });
        }
        Phase::Running(_) if replaced && wants_gpu => control.start(&mut terrain),
        Phase::Running(_) | Phase::Leaving(_) if replaced => {
            control.stop();
            status.on_gpu = false;
            changes.write(BackendChanged {
                on_gpu: false,
                reason: "the terrain was replaced".into(),
            });
        }
        Phase::Running(_) if !wants_gpu => {
            if let Phase::Running(mirror) = core::mem::take(&mut control.phase) {
                control.phase = Phase::Leaving(mirror);
                control.ask_everything();
            }
        }
        Phase::Cpu if wants_gpu && ready => {
            control.start(&mut terrain);
            status.on_gpu = true;
            changes.write(BackendChanged {
                on_gpu: true,
                reason: "asked for".into(),
            });
        }
        _ => {}
    }
}

/// Sends the rest of the frame's orders, and asks for what is to come back.
pub(super) fn send(
    terrain: Option<Res<Terrain>>,
    time: Res<Time<Erosion>>,
    mut control: ResMut<GpuControl>,
    mut read_back: ResMut<Readback>,
    mut status: ResMut<ErosionBackendStatus>,
    mut last: ResMut<LastRun>,
) {
    let control = &mut *control;
    control.step = time.steps();
    let Some(terrain) = terrain else { return };
    if !control.is_of(&terrain) {
        return;
    }
    control.flush(&terrain);
    tell_host_models(control, &mut status);
    // What was ordered in the frame in which all of it came is not in it yet,
    // but what is in it is of one moment.
    last.mixes_moments = !control.whole_came && control.mixes_moments();
    ask(control, &terrain, &mut read_back);
    let behind = control.is_behind();
    if status.mirror_is_behind != behind {
        status.mirror_is_behind = behind;
    }
}

/// Says which models the host ran, once a step has shown it.
fn tell_host_models(control: &mut GpuControl, status: &mut ResMut<ErosionBackendStatus>) {
    let models = core::mem::take(&mut control.host_models);
    if control.is_running() && control.steps_this_frame == 0 {
        return;
    }
    for model in &models {
        if !control.host_models_told.contains(model) {
            control.host_models_told.push(model);
            warn!("{model} has no passes for its settings: the host runs it beside the GPU");
        }
    }
    let known = status.on_host.iter().map(String::as_str);
    if !known.eq(models.iter().copied()) {
        status.on_host = models.iter().map(ToString::to_string).collect();
    }
}

/// Asks for what is to come back.
fn ask(control: &mut GpuControl, terrain: &Terrain, read_back: &mut Readback) {
    let Phase::Running(mirror) = &mut control.phase else {
        read_back.tiles.clear();
        read_back.everything = false;
        return;
    };
    for tile in read_back.tiles.drain(..) {
        mirror.want(tile.y * terrain.grid().tiles().x + tile.x);
    }
    let everything = core::mem::take(&mut read_back.everything);
    let size = terrain.grid().cells() as f32 / (1 << 20) as f32;
    let interval = read_back.whole_every * size.max(1.0);
    let due = control
        .whole_at
        .is_none_or(|at| at.elapsed().as_secs_f32() >= interval);
    let needed = due && !control.whole_pending && !control.whole_is_current;
    if everything || needed {
        control.ask_everything();
    } else if control.steps_this_frame > 0 || mirror.wants_any(read_back.tiles_per_frame) {
        let asks = mirror.ask(control.step, read_back.tiles_per_frame, false);
        control.outbox.extend(asks.into_iter().map(Order::Ask));
        control.unanswered.push(control.steps_this_frame);
        control.steps_this_frame = 0;
    }
}
