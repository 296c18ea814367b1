//! The render world's side: carries out the commands of a frame as compute passes
//! before the cameras draw.

use super::{
    constants::{Surroundings, TerrainConstants},
    exchange::{ReadbackResult, ReadbackResults, Upload},
    frame_plan::{
        ConstantsOffset, Dispatch, FramePlan, FrameWork, GpuCommand, PendingReadback, Work,
    },
    pass::{GivenSlot, Pass, Pipelines},
    terrain_buffers::TerrainBuffers,
};
use bevy::{
    platform::collections::HashMap,
    prelude::*,
    render::{
        diagnostic::RecordDiagnostics,
        render_resource::{
            BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferId,
            CommandEncoder, ComputePassDescriptor, MapMode, PipelineCache, ShaderType,
        },
        renderer::{RenderContext, RenderDevice, RenderQueue},
    },
};
use core::num::NonZeroU64;

/// What the main world wants of the GPU, in its order.
pub(super) enum Command {
    /// Takes on a whole terrain. Always the first of its frame.
    Upload(Box<Upload>),
    /// Frees everything.
    Release,
    /// Does something with the terrain.
    Run(Box<dyn GpuCommand>),
}

impl Command {
    pub fn run(command: impl GpuCommand) -> Self {
        Self::Run(Box::new(command))
    }
}

/// Commands that came from the main world with this frame.
#[derive(Resource, Default)]
pub(super) struct CommandQueue {
    pub commands: Vec<Command>,
    pub surroundings: Surroundings,
    pub results: ReadbackResults,
    /// The device is another than before.
    pub is_new_device: bool,
}

/// What is on the GPU, and what is on its way back.
#[derive(Resource, Default)]
pub(super) struct Executor {
    buffers: Option<TerrainBuffers>,
    /// Copied, and to be mapped once the frame is submitted.
    readbacks: Vec<PendingReadback>,
}

impl Executor {
    /// The terrain that is on the GPU.
    #[cfg(feature = "render")]
    pub fn buffers(&self) -> Option<&TerrainBuffers> {
        self.buffers.as_ref()
    }

    fn plan(
        &mut self,
        command: Command,
        surroundings: &Surroundings,
        device: &RenderDevice,
        queue: &RenderQueue,
        frame: &mut FrameWork,
    ) {
        match command {
            Command::Upload(upload) => {
                self.buffers = Some(TerrainBuffers::new(&upload, device, queue));
                frame.forget_terrain();
            }
            Command::Release => self.buffers = None,
            Command::Run(command) => {
                if let Some(buffers) = &mut self.buffers {
                    command.plan(&mut FramePlan {
                        buffers,
                        surroundings,
                        device,
                        queue,
                        frame,
                    });
                }
            }
        }
    }
}

/// Carries out the commands of this frame.
pub(super) fn run_commands(
    mut context: RenderContext,
    queue: Res<RenderQueue>,
    cache: Res<PipelineCache>,
    pipelines: Option<Res<Pipelines>>,
    mut commands: ResMut<CommandQueue>,
    mut executor: ResMut<Executor>,
) {
    let waiting = core::mem::take(&mut commands.commands);
    let Some(pipelines) = pipelines.filter(|_| !waiting.is_empty()) else {
        return;
    };
    let device = context.render_device().clone();
    let mut frame = FrameWork::new(&device);
    for command in waiting {
        executor.plan(command, &commands.surroundings, &device, &queue, &mut frame);
    }
    executor.readbacks.append(&mut frame.readbacks);
    let Some(buffers) = &executor.buffers else {
        return;
    };
    let mut encoding = Encoding {
        buffers,
        constants: frame.constants.upload(&device, &queue),
        device: &device,
        cache: &cache,
        pipelines: &pipelines,
        groups: HashMap::default(),
    };
    let diagnostics = context.diagnostic_recorder();
    let diagnostics = diagnostics.as_deref();
    let encoder = context.command_encoder();
    let span = diagnostics.time_span(encoder, "erosion");
    for work in &frame.work {
        match work {
            Work::Dispatch {
                dispatch,
                terrain,
                current,
            } => encoding.dispatch(encoder, diagnostics, dispatch, *terrain, *current),
            Work::CopyStatus { to, bytes } => {
                encoder.copy_buffer_to_buffer(&buffers.status, 0, to, 0, *bytes);
            }
            Work::Copy {
                from,
                to,
                at,
                bytes,
            } => encoder.copy_buffer_to_buffer(from, 0, to, *at, *bytes),
            Work::ClearChanges => buffers.clear_changes(encoder),
        }
    }
    span.end(encoder);
}

/// Which bind groups are the same in a frame.
type GroupKey = (&'static str, usize, Vec<BufferId>);

/// What is needed to write dispatches into a command buffer.
struct Encoding<'a> {
    buffers: &'a TerrainBuffers,
    constants: Buffer,
    device: &'a RenderDevice,
    cache: &'a PipelineCache,
    pipelines: &'a Pipelines,
    groups: HashMap<GroupKey, Vec<BindGroup>>,
}

impl Encoding<'_> {
    fn dispatch(
        &mut self,
        encoder: &mut CommandEncoder,
        diagnostics: Option<&impl RecordDiagnostics>,
        dispatch: &Dispatch,
        terrain: ConstantsOffset,
        current: usize,
    ) {
        let given = |slot: &'static GivenSlot| {
            let mut given = dispatch.given.iter();
            let (_, buffer) = given.find(|(other, _)| other.label == slot.label)?;
            Some(buffer.as_entire_binding())
        };
        let ids = dispatch.given.iter().map(|(_, buffer)| buffer.id());
        let key = (dispatch.pass.label, current, ids.collect());
        let make = || {
            let groups = bind_groups(
                dispatch.pass,
                self.pipelines,
                self.cache,
                self.device,
                self.buffers,
                current,
                &self.constants,
                given,
            );
            groups.unwrap_or_default()
        };
        let groups = self.groups.entry(key).or_insert_with(make);
        encode(
            dispatch.pass,
            self.pipelines,
            self.cache,
            encoder,
            diagnostics,
            groups,
            [Some(terrain), dispatch.constants],
            dispatch.groups,
        );
    }
}

/// The bind groups of a pass. All constants are in one buffer, and a dispatch
/// chooses where.
pub(super) fn bind_groups<'a>(
    pass: &Pass,
    pipelines: &Pipelines,
    cache: &PipelineCache,
    device: &RenderDevice,
    buffers: &'a TerrainBuffers,
    current: usize,
    constants: &'a Buffer,
    given: impl Fn(&'static GivenSlot) -> Option<BindingResource<'a>>,
) -> Option<Vec<BindGroup>> {
    let pipeline = pipelines.get(pass)?;
    let part = |size: NonZeroU64| {
        BindingResource::Buffer(BufferBinding {
            buffer: constants,
            offset: 0,
            size: Some(size),
        })
    };
    let terrain = part(TerrainConstants::min_size());
    let mut entries = vec![buffers.entries(pass, current, terrain, given)?];
    if let Some(size) = pass.constants {
        entries.push(vec![BindGroupEntry {
            binding: 0,
            resource: part(size()),
        }]);
    }
    let groups = pipeline
        .layouts
        .iter()
        .zip(entries)
        .map(|(layout, entries)| {
            let layout = cache.get_bind_group_layout(layout);
            device.create_bind_group(pass.label, &layout, &entries)
        });
    Some(groups.collect())
}

/// Writes a dispatch into a command buffer. `constants` are those of the terrain
/// and the pass's own.
pub(super) fn encode(
    pass: &Pass,
    pipelines: &Pipelines,
    cache: &PipelineCache,
    encoder: &mut CommandEncoder,
    diagnostics: Option<&impl RecordDiagnostics>,
    bind_groups: &[BindGroup],
    constants: [Option<ConstantsOffset>; 2],
    groups: UVec3,
) {
    let pipeline = pipelines.get(pass);
    let pipeline = pipeline.and_then(|pipeline| cache.get_compute_pipeline(pipeline.id));
    // The main world sends no commands before all pipelines are ready.
    let (Some(pipeline), false) = (pipeline, bind_groups.is_empty()) else {
        return;
    };
    let mut encoded = encoder.begin_compute_pass(&ComputePassDescriptor {
        label: Some(pass.label),
        timestamp_writes: None,
    });
    let span = diagnostics.pass_span(&mut encoded, pass.label);
    encoded.set_pipeline(pipeline);
    for (number, (group, offset)) in bind_groups.iter().zip(constants).enumerate() {
        let ConstantsOffset(offset) = offset.unwrap_or(ConstantsOffset(0));
        encoded.set_bind_group(number as u32, group, &[offset]);
    }
    encoded.dispatch_workgroups(groups.x, groups.y, groups.z);
    span.end(&mut encoded);
}

/// Maps what was copied, now that it is submitted. The frame does not wait: the
/// result is put in the queue whenever it is there.
pub(super) fn map_readbacks(
    mut executor: ResMut<Executor>,
    commands: Res<CommandQueue>,
    device: Res<RenderDevice>,
) {
    for readback in executor.readbacks.drain(..) {
        let PendingReadback {
            buffer,
            request,
            current,
        } = readback;
        let results = commands.results.clone();
        let mapped = buffer.clone();
        buffer.slice(..).map_async(MapMode::Read, move |result| {
            if result.is_err() {
                // The device is gone; whoever watches it says so.
                return;
            }
            let words = {
                let bytes = mapped.slice(..).get_mapped_range();
                let (words, _) = bytes.as_chunks::<4>();
                words.iter().map(|word| u32::from_le_bytes(*word)).collect()
            };
            mapped.unmap();
            results.push(ReadbackResult {
                request,
                words,
                current,
            });
        });
    }
    // Lets callbacks run; does not wait.
    let _ = device.poll(bevy::render::render_resource::PollType::Poll);
}
