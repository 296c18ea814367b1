//! What a frame does on the GPU: commands of the main world, planned as
//! dispatches and copies in their order.

use super::{
    constants::{Surroundings, TerrainConstants},
    exchange::ReadbackRequest,
    pass::{GivenSlot, MapSlot, Pass, Plane, WorkingBuffer},
    status::{GROUP, StatusLayout},
    terrain_buffers::{self, TerrainBuffers},
};
use bevy::{
    math::*,
    render::{
        render_resource::{
            Buffer, BufferDescriptor, BufferUsages, ShaderType,
            encase::{self, internal::WriteInto},
        },
        renderer::{RenderDevice, RenderQueue},
    },
};
use core::any::Any;

/// Work for the GPU, recorded in the main world and planned in the render world.
pub(super) trait GpuCommand: Any + Send + Sync {
    /// Turns it into dispatches.
    fn plan(self: Box<Self>, plan: &mut FramePlan);
}

/// One dispatch of a frame.
#[derive(Clone)]
pub(super) struct Dispatch {
    pub pass: &'static Pass,
    /// The pass's own constants, if it has any.
    pub constants: Option<ConstantsOffset>,
    pub groups: UVec3,
    /// What comes along with it.
    pub given: Vec<(&'static GivenSlot, Buffer)>,
}

/// Where constants lie in the frame's buffer of them. units: bytes
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConstantsOffset(pub u32);

/// What a frame does, in its order.
pub(super) enum Work {
    Dispatch {
        dispatch: Dispatch,
        /// The terrain's constants, and which copy of the state is the newest.
        terrain: ConstantsOffset,
        current: usize,
    },
    CopyStatus {
        to: Buffer,
        bytes: u64,
    },
    Copy {
        from: Buffer,
        to: Buffer,
        at: u64,
        bytes: u64,
    },
    /// From here on, tiles that change are to be read back again.
    ClearChanges,
}

/// A buffer that a frame fills, to be mapped once it is submitted.
pub(super) struct PendingReadback {
    pub buffer: Buffer,
    pub request: ReadbackRequest,
    pub current: usize,
}

/// Constants of all dispatches of a frame, each at an offset that a device can
/// bind.
pub(super) struct FrameConstants {
    bytes: encase::DynamicUniformBuffer<Vec<u8>>,
    largest: u64,
}

impl FrameConstants {
    pub fn new(device: &RenderDevice) -> Self {
        let alignment = device.limits().min_uniform_buffer_offset_alignment;
        let alignment = u64::from(alignment.max(32)).next_power_of_two();
        Self {
            bytes: encase::DynamicUniformBuffer::new_with_alignment(Vec::new(), alignment),
            largest: 0,
        }
    }

    pub fn push<C: ShaderType + WriteInto>(&mut self, constants: &C) -> ConstantsOffset {
        self.largest = self.largest.max(constants.size().get());
        // A vector grows as it must.
        let offset = self.bytes.write(constants).unwrap_or_default();
        ConstantsOffset(offset as u32)
    }

    /// The buffer of all of them.
    pub fn upload(self, device: &RenderDevice, queue: &RenderQueue) -> Buffer {
        let mut bytes = self.bytes.into_inner();
        // What is bound at the last offset must fit, too.
        bytes.resize(bytes.len() + self.largest as usize, 0);
        let (label, usage) = ("erosion constants", BufferUsages::UNIFORM);
        terrain_buffers::filled(device, queue, label, usage, &bytes)
    }
}

/// Plans the commands of a frame for the terrain on the GPU.
pub(super) struct FramePlan<'a> {
    pub buffers: &'a mut TerrainBuffers,
    pub surroundings: &'a Surroundings,
    pub device: &'a RenderDevice,
    pub queue: &'a RenderQueue,
    pub frame: &'a mut FrameWork,
}

/// What was planned so far.
pub(super) struct FrameWork {
    pub work: Vec<Work>,
    pub constants: FrameConstants,
    pub readbacks: Vec<PendingReadback>,
    /// Constants of the terrain as it is now, if a dispatch needed them already.
    terrain: Option<ConstantsOffset>,
}

impl FrameWork {
    pub fn new(device: &RenderDevice) -> Self {
        Self {
            work: Vec::new(),
            constants: FrameConstants::new(device),
            readbacks: Vec::new(),
            terrain: None,
        }
    }

    /// The terrain is another, or not as it was.
    pub fn forget_terrain(&mut self) {
        self.terrain = None;
    }
}

impl FramePlan<'_> {
    pub fn device(&self) -> &RenderDevice {
        self.device
    }

    pub fn layout(&self) -> &StatusLayout {
        &self.buffers.layout
    }

    /// Cells along x and y.
    pub fn size(&self) -> UVec2 {
        self.buffers.grid.size()
    }

    pub fn cell_size(&self) -> f32 {
        self.buffers.grid.cell_size()
    }

    /// Where the status buffer has the discharges over the borders, of the newest
    /// state.
    pub fn edges(&self) -> u32 {
        self.buffers.layout.edges(self.buffers.current)
    }

    /// Takes a pass's own constants in.
    pub fn constants<C: ShaderType + WriteInto>(&mut self, own: &C) -> Option<ConstantsOffset> {
        Some(self.frame.constants.push(own))
    }

    /// A dispatch of one invocation a cell.
    pub fn dispatch_over_cells(
        &self,
        pass: &'static Pass,
        constants: Option<ConstantsOffset>,
    ) -> Dispatch {
        let size = self.size();
        Dispatch {
            pass,
            constants,
            groups: UVec3::new(size.x.div_ceil(GROUP), size.y.div_ceil(GROUP), 1),
            given: Vec::new(),
        }
    }

    /// Dispatches one invocation a cell.
    pub fn over_cells(&mut self, pass: &'static Pass, constants: Option<ConstantsOffset>) {
        self.dispatch(self.dispatch_over_cells(pass, constants));
    }

    pub fn dispatch(&mut self, dispatch: Dispatch) {
        self.buffers
            .make_working_buffers(dispatch.pass, self.device);
        let terrain = match self.frame.terrain {
            Some(offset) => offset,
            None => {
                let constants = self.terrain_constants();
                *self
                    .frame
                    .terrain
                    .insert(self.frame.constants.push(&constants))
            }
        };
        self.frame.work.push(Work::Dispatch {
            dispatch,
            terrain,
            current: self.buffers.current,
        });
    }

    fn terrain_constants(&self) -> TerrainConstants {
        self.buffers.constants(self.surroundings)
    }

    /// The copy that passes wrote becomes the newest.
    pub fn flip_state(&mut self) {
        self.buffers.current = 1 - self.buffers.current;
        self.frame.forget_terrain();
    }

    /// How often the flow changed so far.
    pub fn flow_version(&self) -> u64 {
        self.buffers.flow_version
    }

    /// Passes or the host changed how the water flows.
    pub fn flow_changed(&mut self) {
        self.buffers.flow_version += 1;
    }

    /// Reads or changes what a model keeps on this side, for this terrain.
    pub fn with_state<T: Default + Send + Sync + 'static, R>(
        &mut self,
        act: impl FnOnce(&mut T) -> R,
    ) -> R {
        self.buffers.with_state(act)
    }

    /// The newest copy of a plane.
    pub fn state(&self, plane: Plane) -> Buffer {
        self.buffers.state(plane, self.buffers.current).clone()
    }

    /// Room to work in.
    pub fn working(&mut self, buffer: &'static WorkingBuffer) -> Buffer {
        self.buffers.working(buffer, self.device).clone()
    }

    pub fn has_map(&self, slot: &MapSlot) -> bool {
        self.buffers.has_map(slot)
    }

    pub fn set_map(&mut self, slot: &'static MapSlot, map: Option<&[f32]>) {
        self.buffers.set_map(slot, map, self.device, self.queue);
        self.frame.forget_terrain();
    }

    pub fn set_flow(&mut self, flow: &[Vec2], edges: &[f32], pace: f32) {
        self.buffers.set_flow(flow, edges, pace, self.queue);
    }

    /// A storage buffer of so many bytes.
    pub fn storage(&self, label: &'static str, bytes: u64) -> Buffer {
        terrain_buffers::storage(self.device, label, bytes)
    }

    /// A list of entries for a dispatch.
    pub fn list(&self, bytes: &[u8]) -> Buffer {
        let usage = BufferUsages::STORAGE;
        terrain_buffers::filled(self.device, self.queue, "erosion list", usage, bytes)
    }

    /// A buffer that the host can read once it is mapped.
    pub fn mappable(&self, bytes: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: Some("erosion readback"),
            size: bytes,
            usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            mapped_at_creation: false,
        })
    }

    /// Copies the beginning of the status buffer.
    pub fn copy_status(&mut self, to: &Buffer, bytes: u64) {
        let to = to.clone();
        self.frame.work.push(Work::CopyStatus { to, bytes });
    }

    /// Copies the beginning of a buffer to a place in another.
    pub fn copy(&mut self, from: &Buffer, to: &Buffer, at: u64, bytes: u64) {
        self.frame.work.push(Work::Copy {
            from: from.clone(),
            to: to.clone(),
            at,
            bytes,
        });
    }

    pub fn clear_changes(&mut self) {
        self.frame.work.push(Work::ClearChanges);
    }

    /// Maps a buffer once the frame is submitted.
    pub fn read_back(&mut self, buffer: Buffer, request: ReadbackRequest) {
        self.frame.readbacks.push(PendingReadback {
            buffer,
            request,
            current: self.buffers.current,
        });
    }
}
