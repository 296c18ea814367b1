//! Draws ground and water where they are: passes write heights, normals, colors
//! and flow of all chunks straight into the buffers of their meshes, which stay
//! ordinary `Mesh3d`s of any material. No mesh is built on the CPU but when a chunk
//! changes its level of detail or the view's colors change, and nothing is read
//! back to draw.

mod constants;
mod streams;

use super::{
    constants::Surroundings,
    control::GpuControl,
    executor::{Executor, bind_groups, encode, run_commands},
    frame_plan::FrameConstants,
    pass::{
        Access::{Read, ReadWrite},
        Binding::{Given, State, Status},
        GivenKind, GivenSlot, LIST, Pass, PassModule, Pipelines,
        Plane::{Cover, Flow, Load, Rock},
        shader_file,
    },
    terrain_buffers::{filled, texture},
};
use crate::{
    backend::StepDevice,
    schedule::ErosionSystems,
    terrain::{Terrain, TerrainCursor},
    view::{
        ChunkDetail, Overlay, TerrainView, TerrainViewState, WaterView, colors::PaletteUniform,
    },
};
use bevy::{
    core_pipeline::schedule::camera_driver,
    ecs::schedule::InternedScheduleLabel,
    mesh::{MeshVertexAttribute, MeshVertexBufferLayoutRef},
    platform::collections::HashMap,
    prelude::*,
    render::{
        ExtractSchedule, MainWorld, RenderApp,
        mesh::{
            RenderMesh,
            allocator::{MeshAllocator, MeshAllocatorSettings},
        },
        render_asset::RenderAssets,
        render_resource::{
            BindingResource, Buffer, BufferId, BufferUsages, PipelineCache, ShaderType,
            TextureFormat, TextureView, encase,
        },
        renderer::{RenderContext, RenderDevice, RenderGraph, RenderQueue},
    },
};
use constants::{
    CONSTANTS, Chunk, GROUND_LOOK, GroundLook, VERTICES_PER_GROUP, WATER_LOOK, WaterLook,
};
use std::sync::Arc;
use streams::StreamMap;

/// The ground as it was at the start.
static BEFORE: GivenSlot = GivenSlot {
    label: "erosion ground before",
    kind: GivenKind::Buffer,
    bytes_per_cell: 4,
};

/// Rivers, which the host runs: depth, discharge and fresh deposits.
static STREAMS: GivenSlot = GivenSlot {
    label: "erosion rivers",
    kind: GivenKind::Texture,
    bytes_per_cell: 0,
};

/// A slab of meshes.
static VERTICES: GivenSlot = GivenSlot {
    label: "erosion vertices",
    kind: GivenKind::Buffer,
    bytes_per_cell: 0,
};

static GROUND: Pass = Pass {
    label: "erosion/view/ground",
    shader: shader_file!("ground.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Load), Read),
        (State(Flow), Read),
        (Given(&STREAMS), Read),
        (Given(&BEFORE), Read),
        (Given(&LIST), Read),
        (Given(&VERTICES), ReadWrite),
    ],
    constants: Some(GroundLook::min_size),
};

static WATER: Pass = Pass {
    label: "erosion/view/water",
    shader: shader_file!("water.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), Read),
        (State(Cover), Read),
        (State(Load), Read),
        (State(Flow), Read),
        (Given(&STREAMS), Read),
        (Given(&LIST), Read),
        (Given(&VERTICES), ReadWrite),
    ],
    constants: Some(WaterLook::min_size),
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&GROUND, &WATER],
    libraries: &[
        shader_file!("chunks.wgsl"),
        shader_file!("foam.wgsl"),
        shader_file!("streams.wgsl"),
    ],
    constants: &[&CONSTANTS, &GROUND_LOOK, &WATER_LOOK],
    twins: |_| {},
};

/// Frames for which everything is drawn after a mesh or the colors changed: a mesh
/// takes a frame or two to get to the GPU.
const REDRAWS: u32 = 4;

/// A chunk's mesh, and what it shows; where its vertices lie is not known yet.
#[derive(Clone, Copy)]
struct ChunkMesh {
    mesh: AssetId<Mesh>,
    chunk: Chunk,
}

/// What is to be drawn, as the main world knows it.
#[derive(Resource, Default)]
struct ChunksToDraw {
    ground: Vec<ChunkMesh>,
    water: Vec<ChunkMesh>,
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
    redraws: u32,
}

pub(super) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<ChunksToDraw>().add_systems(
        schedule,
        plan_drawing
            .after(ErosionSystems::Output)
            .run_if(resource_exists::<TerrainViewState>),
    );
}

/// In the render world, once there is a device.
pub(super) fn finish(app: &mut App) {
    crate::shaders::load(app);
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
        .init_resource::<ExtractedChunks>()
        .add_systems(ExtractSchedule, extract_chunks)
        .add_systems(
            RenderGraph,
            write_vertices.after(run_commands).before(camera_driver),
        );
}

/// Collects what is to be drawn, and lets the view know that it is.
fn plan_drawing(
    control: Res<GpuControl>,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    water_view: Res<WaterView>,
    mut state: ResMut<TerrainViewState>,
    mut chunks: ResMut<ChunksToDraw>,
) {
    let terrain = terrain.filter(|_| control.is_running() && !view.before);
    state.set_gpu_vertices(terrain.is_some());
    chunks.ground.clear();
    chunks.water.clear();
    let Some(terrain) = terrain else {
        chunks.terrain = TerrainCursor::default();
        chunks.before = None;
        return;
    };
    let grid = terrain.grid();
    let chunk = |(chunk, mesh): (UVec2, AssetId<Mesh>)| {
        let (cell, last) = grid.chunk_cells(chunk);
        let [edges, corners] = packed(&state.detail(chunk));
        let chunk = Chunk {
            cell,
            quads: last - cell,
            edges,
            corners,
            ..Chunk::default()
        };
        ChunkMesh { mesh, chunk }
    };
    chunks.ground.extend(state.ground_meshes().map(chunk));
    chunks.water.extend(state.water_meshes().map(chunk));
    let is_new = !chunks.terrain.is_at(&terrain);
    if is_new || chunks.stream_revision != terrain.stream_revision {
        chunks.stream_revision = terrain.stream_revision;
        let map = StreamMap::new(&terrain).unwrap_or_default();
        chunks.rivers = UVec4::new(map.first.x, map.first.y, map.size.x, map.size.y);
        chunks.streams = Some(map);
        chunks.redraws = chunks.redraws.max(1);
    }
    let ground_look = GroundLook {
        rivers: chunks.rivers,
        ..look_of(&view, &state)
    };
    let water_look = WaterLook {
        thinnest: water_view.min_depth,
        foam_speed: water_view.foam_speed.max(1e-3),
        rivers: chunks.rivers,
        ..WaterLook::default()
    };
    let rebuilt = [state.rebuilt(), state.water_rebuilt()];
    if is_new {
        chunks.terrain = TerrainCursor::at(&terrain);
        chunks.before = Some(state.baseline().ground.clone());
        chunks.redraws = REDRAWS;
    }
    let known = (chunks.ground_look, chunks.water_look, chunks.rebuilt);
    if known != (ground_look, water_look, rebuilt) {
        chunks.ground_look = ground_look;
        chunks.water_look = water_look;
        chunks.rebuilt = rebuilt;
        chunks.redraws = REDRAWS;
    }
}

/// Four bits a level: own, west, east, north, south; and the corners.
fn packed(detail: &ChunkDetail) -> [u32; 2] {
    let pack = |levels: &[u8]| {
        let bits = levels.iter().rev();
        bits.fold(0, |packed, level| packed << 4 | u32::from(*level))
    };
    let [west, east, north, south] = detail.edges;
    [
        pack(&[detail.own, west, east, north, south]),
        pack(&detail.corners),
    ]
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

/// The same in the render world.
#[derive(Resource, Default)]
struct ExtractedChunks {
    ground: Vec<ChunkMesh>,
    water: Vec<ChunkMesh>,
    ground_look: GroundLook,
    water_look: WaterLook,
    before: Option<Buffer>,
    streams: Option<TextureView>,
}

fn extract_chunks(
    mut main: ResMut<MainWorld>,
    mut extracted: ResMut<ExtractedChunks>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let mut chunks = main.resource_mut::<ChunksToDraw>();
    extracted.ground.clone_from(&chunks.ground);
    extracted.water.clone_from(&chunks.water);
    let all = (chunks.redraws > 0).into();
    extracted.ground_look = GroundLook {
        all,
        ..chunks.ground_look
    };
    extracted.water_look = WaterLook {
        all,
        ..chunks.water_look
    };
    chunks.redraws = chunks.redraws.saturating_sub(1);
    if let Some(before) = chunks.before.take() {
        let bytes: Vec<u8> = before.iter().flat_map(|z| z.to_le_bytes()).collect();
        let label = BEFORE.label;
        extracted.before = Some(filled(
            &device,
            &queue,
            label,
            BufferUsages::STORAGE,
            &bytes,
        ));
    }
    if let Some(map) = chunks.streams.take() {
        let numbers = map.cells.iter().flat_map(Vec4::to_array);
        let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
        let format = TextureFormat::Rgba32Float;
        let label = STREAMS.label;
        extracted.streams = Some(texture(&device, &queue, label, format, map.size, &bytes));
    }
}

/// Chunks whose vertices lie in one buffer, in one layout.
struct Slab {
    buffer: Buffer,
    layout: MeshVertexBufferLayoutRef,
    chunks: Vec<Chunk>,
}

/// Sorts chunks by the buffers that their vertices lie in.
fn slabs(
    chunks: &[ChunkMesh],
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
        slab.chunks.push(Chunk {
            first_vertex: slice.range.start,
            vertices: mesh.vertex_count,
            ..chunk.chunk
        });
    }
    slabs
}

/// Writes the vertices.
fn write_vertices(
    mut context: RenderContext,
    queue: Res<RenderQueue>,
    cache: Res<PipelineCache>,
    pipelines: Option<Res<Pipelines>>,
    extracted: Res<ExtractedChunks>,
    executor: Res<Executor>,
    allocator: Res<MeshAllocator>,
    meshes: Res<RenderAssets<RenderMesh>>,
) {
    let (Some(pipelines), Some(buffers)) = (pipelines, executor.buffers()) else {
        return;
    };
    let (Some(before), Some(streams)) = (&extracted.before, &extracted.streams) else {
        return;
    };
    let device = context.render_device().clone();
    let mut constants = FrameConstants::new(&device);
    let terrain = constants.push(&buffers.constants(&Surroundings::default()));
    let mut draws = Vec::new();
    for slab in slabs(&extracted.ground, &allocator, &meshes).into_values() {
        if let Some(look) = extracted.ground_look.on(&slab.layout) {
            draws.push((&GROUND, slab, constants.push(&look)));
        }
    }
    for slab in slabs(&extracted.water, &allocator, &meshes).into_values() {
        if let Some(look) = extracted.water_look.on(&slab.layout) {
            draws.push((&WATER, slab, constants.push(&look)));
        }
    }
    let constants = constants.upload(&device, &queue);
    let diagnostics = context.diagnostic_recorder();
    let diagnostics = diagnostics.as_deref();
    let encoder = context.command_encoder();
    for (pass, slab, look) in &draws {
        let mut bytes = encase::StorageBuffer::new(Vec::new());
        // A vector grows as it must.
        let _ = bytes.write(&slab.chunks);
        let (usage, bytes) = (BufferUsages::STORAGE, bytes.into_inner());
        let list = filled(&device, &queue, "erosion chunks", usage, &bytes);
        let given = |slot: &'static GivenSlot| match slot.label {
            label if label == BEFORE.label => Some(before.as_entire_binding()),
            label if label == LIST.label => Some(list.as_entire_binding()),
            label if label == VERTICES.label => Some(slab.buffer.as_entire_binding()),
            label if label == STREAMS.label => Some(BindingResource::TextureView(streams)),
            _ => None,
        };
        let groups = bind_groups(
            pass,
            &pipelines,
            &cache,
            &device,
            buffers,
            buffers.current,
            &constants,
            given,
        );
        let most = slab.chunks.iter().map(|chunk| chunk.vertices).max();
        let wide = most.unwrap_or_default().div_ceil(VERTICES_PER_GROUP);
        encode(
            pass,
            &pipelines,
            &cache,
            encoder,
            diagnostics,
            &groups.unwrap_or_default(),
            [Some(terrain), Some(*look)],
            UVec3::new(wide, slab.chunks.len() as u32, 1),
        );
    }
    buffers.clear_redraws(encoder);
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
            color: place(Mesh::ATTRIBUTE_COLOR)?,
            ..self
        })
    }
}
