//! Draws ground and water where they are: passes write heights, normals, colors
//! and flow of all chunks straight into the buffers of their meshes, which stay
//! ordinary `Mesh3d`s of any material. No mesh is built on the CPU but when a chunk
//! changes its level of detail or the view's colors change, and nothing is read
//! back to draw.

use super::{
    backend::GpuControl,
    executor::{Executor, filled, run_orders, texture},
    passes::{Pass, Passes, Source},
};
use crate::{
    schedule::ErosionSystems,
    terrain::{StreamMap, Terrain, TerrainCursor},
    view::{Overlay, TerrainView, TerrainViewState, WaterView, colors::PaletteUniform},
};
use bevy::{
    core_pipeline::schedule::camera_driver,
    ecs::schedule::InternedScheduleLabel,
    mesh::{MeshVertexAttribute, MeshVertexBufferLayoutRef},
    platform::collections::HashMap,
    prelude::*,
    render::{
        ExtractSchedule, MainWorld, RenderApp,
        diagnostic::RecordDiagnostics,
        mesh::{
            RenderMesh,
            allocator::{MeshAllocator, MeshAllocatorSettings},
        },
        render_asset::RenderAssets,
        render_resource::{
            BindingResource, Buffer, BufferId, BufferUsages, ComputePassDescriptor, PipelineCache,
            ShaderType, TextureFormat, TextureView,
            encase::{self, internal::WriteInto},
        },
        renderer::{RenderContext, RenderDevice, RenderGraph, RenderQueue},
    },
};
use std::sync::Arc;

/// Vertices of a workgroup.
const GROUP: u32 = 64;

/// Frames for which everything is painted after a mesh or the colors changed:
/// a mesh takes a frame or two to get to the GPU.
const REPAINTS: u32 = 4;

/// How the ground is painted; `ground.wgsl` says what it means.
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
struct GroundLook {
    stride: u32,
    position: u32,
    normal: u32,
    layers: u32,
    color: u32,
    overlay: u32,
    all: u32,
    range: f32,
    palette: PaletteUniform,
    stops: [Vec4; 5],
    rivers: UVec4,
}

/// How water is painted; `water.wgsl` says what it means.
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
struct WaterLook {
    stride: u32,
    position: u32,
    normal: u32,
    load: u32,
    velocity: u32,
    all: u32,
    thinnest: f32,
    spare: f32,
    rivers: UVec4,
}

/// A chunk's mesh, and what it shows.
#[derive(Clone, Copy)]
struct Chunk {
    mesh: AssetId<Mesh>,
    /// First cell, and quads along x and y.
    cell: UVec2,
    quads: UVec2,
    /// Levels of detail; `chunks.wgsl` says how they are packed.
    levels: [u32; 2],
}

/// What is to be painted.
#[derive(Resource, Default)]
struct Canvas {
    ground: Vec<Chunk>,
    water: Vec<Chunk>,
    ground_look: GroundLook,
    water_look: WaterLook,
    /// The ground as it was at the start, when the GPU does not have it yet.
    before: Option<Arc<Vec<f32>>>,
    /// All rivers, when the GPU does not know how they are.
    streams: Option<StreamMap>,
    stream_revision: u64,
    /// First cell and size of the box that rivers are in.
    rivers: UVec4,
    terrain: TerrainCursor,
    /// Meshes of ground and of water built so far.
    rebuilt: [u64; 2],
    repaints: u32,
}

pub(super) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<Canvas>().add_systems(
        schedule,
        plan_painting
            .after(ErosionSystems::Output)
            .run_if(resource_exists::<TerrainViewState>),
    );
}

/// In the render world, once there is a device.
pub(super) fn finish(app: &mut App) {
    let limits = app.world().get_resource::<RenderDevice>();
    let largest = limits.map(|device| device.limits().max_storage_buffer_binding_size);
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    if let Some(mut settings) = render_app
        .world_mut()
        .get_resource_mut::<MeshAllocatorSettings>()
    {
        settings.extra_buffer_usages |= BufferUsages::STORAGE;
        // The whole of it is bound at once.
        let largest = largest.unwrap_or(128 << 20);
        settings.max_slab_size = settings.max_slab_size.min(largest);
        settings.large_threshold = settings.large_threshold.min(settings.max_slab_size);
    }
    render_app
        .init_resource::<Easel>()
        .add_systems(ExtractSchedule, carry_canvas)
        .add_systems(RenderGraph, paint.after(run_orders).before(camera_driver));
}

/// Notes what is to be painted, and lets the view know that it is.
fn plan_painting(
    control: Res<GpuControl>,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    water_view: Res<WaterView>,
    mut state: ResMut<TerrainViewState>,
    mut canvas: ResMut<Canvas>,
) {
    let terrain = terrain.filter(|_| control.is_running() && !view.before);
    state.set_gpu_vertices(terrain.is_some());
    canvas.ground.clear();
    canvas.water.clear();
    let Some(terrain) = terrain else {
        canvas.terrain = TerrainCursor::default();
        canvas.before = None;
        return;
    };
    let grid = terrain.grid();
    let chunk = |(chunk, mesh): (UVec2, AssetId<Mesh>)| {
        let (cell, last) = grid.chunk_cells(chunk);
        Chunk {
            mesh,
            cell,
            quads: last - cell,
            levels: state.detail(chunk).packed(),
        }
    };
    canvas.ground.extend(state.ground_meshes().map(chunk));
    canvas.water.extend(state.water_meshes().map(chunk));
    let is_new = !canvas.terrain.is_at(&terrain);
    if is_new || canvas.stream_revision != terrain.stream_revision() {
        canvas.stream_revision = terrain.stream_revision();
        let map = terrain.stream_map().unwrap_or_default();
        canvas.rivers = UVec4::new(map.first.x, map.first.y, map.size.x, map.size.y);
        canvas.streams = Some(map);
        canvas.repaints = canvas.repaints.max(1);
    }
    let ground_look = GroundLook {
        rivers: canvas.rivers,
        ..look_of(&view, &state)
    };
    let water_look = WaterLook {
        thinnest: water_view.min_depth,
        rivers: canvas.rivers,
        ..WaterLook::default()
    };
    let rebuilt = [state.rebuilt(), state.water_rebuilt()];
    if is_new {
        canvas.terrain = TerrainCursor::at(&terrain);
        canvas.before = Some(state.baseline().ground.clone());
        canvas.repaints = REPAINTS;
    }
    let known = (canvas.ground_look, canvas.water_look, canvas.rebuilt);
    if known != (ground_look, water_look, rebuilt) {
        canvas.ground_look = ground_look;
        canvas.water_look = water_look;
        canvas.rebuilt = rebuilt;
        canvas.repaints = REPAINTS;
    }
}

fn look_of(view: &TerrainView, state: &TerrainViewState) -> GroundLook {
    let palette = &view.palette;
    let (lowest, relief) = state.baseline().range();
    let overlay = Overlay::ALL.iter().position(|o| *o == view.overlay);
    GroundLook {
        overlay: overlay.unwrap_or_default() as u32,
        range: palette.range(view.overlay),
        palette: PaletteUniform::new(palette, lowest, relief),
        stops: view.overlay.stops().map(|stop| {
            let [red, green, blue] = stop.to_f32_array_no_alpha();
            Vec4::new(red, green, blue, 1.0)
        }),
        ..GroundLook::default()
    }
}

/// The render world's side: what to paint, and on what.
#[derive(Resource, Default)]
struct Easel {
    ground: Vec<Chunk>,
    water: Vec<Chunk>,
    ground_look: GroundLook,
    water_look: WaterLook,
    before: Option<Buffer>,
    streams: Option<TextureView>,
}

fn carry_canvas(
    mut main: ResMut<MainWorld>,
    mut easel: ResMut<Easel>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let mut canvas = main.resource_mut::<Canvas>();
    easel.ground.clone_from(&canvas.ground);
    easel.water.clone_from(&canvas.water);
    let all = (canvas.repaints > 0).into();
    easel.ground_look = GroundLook {
        all,
        ..canvas.ground_look
    };
    easel.water_look = WaterLook {
        all,
        ..canvas.water_look
    };
    canvas.repaints = canvas.repaints.saturating_sub(1);
    if let Some(before) = canvas.before.take() {
        let bytes: Vec<u8> = before.iter().flat_map(|z| z.to_le_bytes()).collect();
        let label = "erosion ground before";
        easel.before = Some(filled(
            &device,
            &queue,
            label,
            BufferUsages::STORAGE,
            &bytes,
        ));
    }
    if let Some(map) = canvas.streams.take() {
        let numbers = map.cells.iter().flat_map(Vec4::to_array);
        let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
        let format = TextureFormat::Rgba32Float;
        let label = "erosion rivers";
        easel.streams = Some(texture(&device, &queue, label, format, map.size, &bytes));
    }
}

/// Chunks whose vertices lie in one buffer, in one layout.
struct Slab {
    buffer: Buffer,
    layout: MeshVertexBufferLayoutRef,
    /// First vertex, vertices, and what the chunk is.
    chunks: Vec<[u32; 8]>,
}

/// Sorts chunks by the buffers that their vertices lie in.
fn slabs(
    chunks: &[Chunk],
    allocator: &MeshAllocator,
    meshes: &RenderAssets<RenderMesh>,
) -> HashMap<BufferId, Slab> {
    let mut slabs: HashMap<BufferId, Slab> = HashMap::default();
    for chunk in chunks {
        let slice = allocator.mesh_vertex_slice(&chunk.mesh);
        let (Some(slice), Some(mesh)) = (slice, meshes.get(chunk.mesh)) else {
            continue;
        };
        let slab = slabs.entry(slice.buffer.id()).or_insert_with(|| Slab {
            buffer: slice.buffer.clone(),
            layout: mesh.layout.clone(),
            chunks: Vec::new(),
        });
        let [edges, corners] = chunk.levels;
        slab.chunks.push([
            slice.range.start,
            mesh.vertex_count,
            chunk.cell.x,
            chunk.cell.y,
            chunk.quads.x,
            chunk.quads.y,
            edges,
            corners,
        ]);
    }
    slabs
}

/// Writes the vertices.
fn paint(
    mut context: RenderContext,
    queue: Res<RenderQueue>,
    cache: Res<PipelineCache>,
    passes: Option<Res<Passes>>,
    easel: Res<Easel>,
    executor: Res<Executor>,
    allocator: Res<MeshAllocator>,
    meshes: Res<RenderAssets<RenderMesh>>,
) {
    let (Some(passes), Some(buffers)) = (passes, executor.buffers()) else {
        return;
    };
    let (Some(before), Some(streams)) = (&easel.before, &easel.streams) else {
        return;
    };
    let device = context.render_device().clone();
    let diagnostics = context.diagnostic_recorder();
    let diagnostics = diagnostics.as_deref();
    let encoder = context.command_encoder();
    let Some(constants) = executor.constants_now(&device, &queue) else {
        return;
    };
    let mut brush = |which: Pass, slab: &Slab, look: &Buffer| {
        let (layout, pipeline) = passes.get(which);
        let Some(pipeline) = cache.get_compute_pipeline(pipeline) else {
            return;
        };
        let words = slab.chunks.iter().flatten();
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let list = filled(
            &device,
            &queue,
            "erosion chunks",
            BufferUsages::STORAGE,
            &bytes,
        );
        let entries = buffers.entries(which, buffers.now(), |source| match source {
            Source::Constants => Some(constants.as_entire_binding()),
            Source::Before => Some(before.as_entire_binding()),
            Source::List => Some(list.as_entire_binding()),
            Source::Vertices => Some(slab.buffer.as_entire_binding()),
            Source::Look => Some(look.as_entire_binding()),
            Source::Streams => Some(BindingResource::TextureView(streams)),
            _ => None,
        });
        let layout = cache.get_bind_group_layout(layout);
        let group = device.create_bind_group(which.label(), &layout, &entries);
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor {
            label: Some(which.label()),
            timestamp_writes: None,
        });
        let span = diagnostics.pass_span(&mut pass, which.label());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[0]);
        let most = slab.chunks.iter().map(|chunk| chunk[1]).max();
        let groups = most.unwrap_or_default().div_ceil(GROUP);
        pass.dispatch_workgroups(groups, slab.chunks.len() as u32, 1);
        span.end(&mut pass);
    };
    for slab in slabs(&easel.ground, &allocator, &meshes).values() {
        if let Some(look) = easel.ground_look.on(&slab.layout) {
            brush(Pass::Ground, slab, &uniform(look, &device, &queue));
        }
    }
    for slab in slabs(&easel.water, &allocator, &meshes).values() {
        if let Some(look) = easel.water_look.on(&slab.layout) {
            brush(Pass::Water, slab, &uniform(look, &device, &queue));
        }
    }
    buffers.forget_repaints(encoder);
}

fn uniform<L: ShaderType + WriteInto>(
    look: L,
    device: &RenderDevice,
    queue: &RenderQueue,
) -> Buffer {
    let mut bytes = encase::UniformBuffer::new(Vec::new());
    // A vector grows as it must.
    let _ = bytes.write(&look);
    let (label, usage) = ("erosion look", BufferUsages::UNIFORM);
    filled(device, queue, label, usage, &bytes.into_inner())
}

/// The length of a vertex, and where an attribute lies in it. units: words
fn places(
    layout: &MeshVertexBufferLayoutRef,
) -> (u32, impl Fn(MeshVertexAttribute) -> Option<u32>) {
    let ids = layout.0.attribute_ids();
    let layout = layout.0.layout();
    let place = move |attribute: MeshVertexAttribute| {
        let place = ids.iter().position(|id| *id == attribute.id)?;
        Some(layout.attributes.get(place)?.offset as u32 / 4)
    };
    (layout.array_stride as u32 / 4, place)
}

impl GroundLook {
    /// With the places of things in a vertex.
    fn on(self, layout: &MeshVertexBufferLayoutRef) -> Option<Self> {
        let (stride, place) = places(layout);
        Some(Self {
            stride,
            position: place(Mesh::ATTRIBUTE_POSITION)?,
            normal: place(Mesh::ATTRIBUTE_NORMAL)?,
            layers: place(Mesh::ATTRIBUTE_UV_1)?,
            color: place(Mesh::ATTRIBUTE_COLOR)?,
            ..self
        })
    }
}

impl WaterLook {
    /// With the places of things in a vertex.
    fn on(self, layout: &MeshVertexBufferLayoutRef) -> Option<Self> {
        let (stride, place) = places(layout);
        Some(Self {
            stride,
            position: place(Mesh::ATTRIBUTE_POSITION)?,
            normal: place(Mesh::ATTRIBUTE_NORMAL)?,
            load: place(Mesh::ATTRIBUTE_UV_0)?,
            velocity: place(Mesh::ATTRIBUTE_UV_1)?,
            ..self
        })
    }
}
