//! A compute pass: the shader it runs, what it binds and its own constants. Each
//! model's folder declares its passes, and [`MODULES`](super::MODULES) lists the
//! folders.
//!
//! To add a pass, add its WGSL file and a `static` [`Pass`] to the folder, name it
//! in the folder's [`PassModule`], and dispatch it where the folder plans a step
//! ([`GpuCommand::plan`](super::frame_plan::GpuCommand::plan)). Room to work in and
//! maps are made by naming a [`WorkingBuffer`] or a [`MapSlot`].
//!
//! To add a model, add a folder and a line in [`MODULES`](super::MODULES); its
//! [`GpuTwin`](super::twin::GpuTwin) turns a step into a command, and
//! [`shader_module!`](super::shader_module) declares its constants.

use super::{constants::TerrainConstants, shader_module::ShaderModule, twin::Twins};
use bevy::{
    asset::AssetServer,
    platform::collections::HashMap,
    prelude::*,
    render::render_resource::{
        BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType,
        CachedComputePipelineId, CachedPipelineState, ComputePipelineDescriptor, PipelineCache,
        ShaderStages, ShaderType, TextureSampleType, TextureViewDimension,
    },
    shader::Shader,
};
use core::num::NonZeroU64;

/// What a folder of passes brings. Adding a pass touches its folder only.
pub(super) struct PassModule {
    /// All passes, in no order that matters.
    pub passes: &'static [&'static Pass],
    /// WGSL files that passes import.
    pub libraries: &'static [ShaderFile],
    /// Structs and constants that passes import.
    pub constants: &'static [&'static ShaderModule],
    /// Tells which solvers these passes run in place of.
    pub twins: fn(&mut Twins),
}

/// A WGSL file beside the Rust file that names it; made by [`shader_file!`].
pub(super) struct ShaderFile {
    pub embed: fn(&mut App),
    pub load: fn(&AssetServer) -> Handle<Shader>,
    #[cfg(test)]
    pub source: &'static str,
}

/// A [`ShaderFile`] beside this Rust file.
macro_rules! shader_file {
    ($path:literal) => {
        $crate::gpu::pass::ShaderFile {
            embed: |app| {
                bevy::asset::embedded_asset!(app, $path);
            },
            load: |assets| bevy::asset::load_embedded_asset!(assets, $path),
            #[cfg(test)]
            source: include_str!($path),
        }
    };
}
pub(super) use shader_file;

/// A compute pass. Binding 0 of group 0 has the constants of the terrain
/// ([`TerrainConstants`]); `bindings` follow in their order. Group 1 has the
/// pass's own constants, if there are any.
pub(super) struct Pass {
    /// Name in render diagnostics, unique.
    pub label: &'static str,
    pub shader: ShaderFile,
    pub bindings: &'static [(Binding, Access)],
    /// Size of its own constants.
    pub constants: Option<fn() -> NonZeroU64>,
}

/// What a pass can bind.
#[derive(Clone, Copy)]
pub(super) enum Binding {
    /// The status buffer; see [`StatusLayout`](super::status::StatusLayout).
    Status,
    /// A plane of the terrain's state, as it is.
    State(Plane),
    /// The same plane in the copy that becomes the newest after this step.
    Next(Plane),
    /// A map of one number a cell.
    Map(&'static MapSlot),
    /// Room to work in, made when a pass first needs it.
    Working(&'static WorkingBuffer),
    /// What comes along with the dispatch.
    Given(&'static GivenSlot),
}

/// What a pass does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    ReadWrite,
}

/// State of the cells, two numbers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Plane {
    /// Bedrock and its rounding error.
    Rock,
    /// Soil and water.
    Cover,
    /// Suspended sediment and the rounding error of the water.
    Load,
    /// Discharge through the east and the south face.
    Flow,
}

/// A map of one number a cell, kept as a texture. Known by its label.
#[derive(Debug)]
pub(super) struct MapSlot {
    pub label: &'static str,
}

/// A buffer of so many bytes a cell that passes work in. Known by its label:
/// passes that use the same one share it.
#[derive(Debug)]
pub(super) struct WorkingBuffer {
    pub label: &'static str,
    pub bytes_per_cell: u32,
}

/// A place for a buffer or a texture that comes along with a dispatch. Known by
/// its label.
#[derive(Debug)]
pub(super) struct GivenSlot {
    pub label: &'static str,
    pub kind: GivenKind,
    /// Memory that a pass moves of it for each cell. units: bytes
    pub bytes_per_cell: u32,
}

/// What is bound in a [`GivenSlot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenKind {
    Buffer,
    Texture,
}

/// Hardness of the bedrock. [`TerrainConstants::has_hardness`] tells whether
/// there is such a map.
pub(super) static HARDNESS: MapSlot = MapSlot {
    label: "erosion hardness",
};

/// Two numbers a cell that one pass of a step leaves for the next.
pub(super) static SCRATCH: WorkingBuffer = WorkingBuffer {
    label: "erosion scratch",
    bytes_per_cell: 8,
};

/// A list of entries: what each is, the pass knows.
pub(super) static LIST: GivenSlot = GivenSlot {
    label: "erosion list",
    kind: GivenKind::Buffer,
    bytes_per_cell: 0,
};

impl Binding {
    pub fn is_texture(self) -> bool {
        match self {
            Self::Map(_) => true,
            Self::Given(slot) => slot.kind == GivenKind::Texture,
            Self::Status | Self::State(_) | Self::Next(_) | Self::Working(_) => false,
        }
    }

    fn bytes_per_cell(self) -> u32 {
        match self {
            Self::Status => 0,
            Self::State(_) | Self::Next(_) => 8,
            Self::Map(_) => 4,
            Self::Working(buffer) => buffer.bytes_per_cell,
            Self::Given(slot) => slot.bytes_per_cell,
        }
    }
}

impl Pass {
    /// Storage buffers that it binds.
    pub fn storage_buffers(&self) -> u32 {
        let storage = self.bindings.iter().filter(|(b, _)| !b.is_texture());
        storage.count() as u32
    }

    /// Memory that it moves for each cell, where it moves all that it may and
    /// nothing twice. units: bytes
    pub fn bytes_per_cell(&self) -> u32 {
        let bytes = self.bindings.iter().map(|(binding, access)| {
            let times = if *access == Access::ReadWrite { 2 } else { 1 };
            times * binding.bytes_per_cell()
        });
        bytes.sum()
    }

    /// Layouts of its bind groups.
    fn layouts(&self) -> Vec<BindGroupLayoutDescriptor> {
        let mut entries = vec![uniform_entry(TerrainConstants::min_size())];
        let bindings = self.bindings.iter().enumerate();
        entries.extend(
            bindings.map(|(number, (binding, access))| BindGroupLayoutEntry {
                binding: number as u32 + 1,
                visibility: ShaderStages::COMPUTE,
                ty: match binding.is_texture() {
                    true => BindingType::Texture {
                        sample_type: TextureSampleType::Float { filterable: false },
                        view_dimension: TextureViewDimension::D2,
                        multisampled: false,
                    },
                    false => BindingType::Buffer {
                        ty: BufferBindingType::Storage {
                            read_only: *access == Access::Read,
                        },
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                },
                count: None,
            }),
        );
        let mut layouts = vec![BindGroupLayoutDescriptor::new(self.label, &entries)];
        if let Some(size) = self.constants {
            let entries = [uniform_entry(size())];
            layouts.push(BindGroupLayoutDescriptor::new(self.label, &entries));
        }
        layouts
    }
}

/// Constants at an offset that each dispatch chooses.
fn uniform_entry(size: NonZeroU64) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding: 0,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: Some(size),
        },
        count: None,
    }
}

/// All passes of all folders.
pub(super) fn all_passes() -> impl Iterator<Item = &'static Pass> {
    let modules = super::MODULES.iter();
    modules.flat_map(|module| module.passes.iter().copied())
}

/// The passes' pipelines, compiled in the background; by label.
#[derive(Resource)]
pub(super) struct Pipelines(HashMap<&'static str, Pipeline>);

pub(super) struct Pipeline {
    pub layouts: Vec<BindGroupLayoutDescriptor>,
    pub id: CachedComputePipelineId,
}

/// How far the pipelines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Compiling,
    Ready,
    Failed(String),
}

impl Pipelines {
    pub fn get(&self, pass: &Pass) -> Option<&Pipeline> {
        self.0.get(pass.label)
    }

    pub fn readiness(&self, cache: &PipelineCache) -> Readiness {
        let mut ready = Readiness::Ready;
        for (label, pipeline) in &self.0 {
            match cache.get_compute_pipeline_state(pipeline.id) {
                CachedPipelineState::Ok(_) => {}
                CachedPipelineState::Err(error) if !is_loading(error) => {
                    return Readiness::Failed(format!("{label}: {error}"));
                }
                _ => ready = Readiness::Compiling,
            }
        }
        ready
    }
}

/// Whether a shader is merely not there yet.
fn is_loading(error: &bevy::shader::ShaderCacheError) -> bool {
    use bevy::shader::ShaderCacheError::{ShaderImportNotYetAvailable, ShaderNotLoaded};
    matches!(error, ShaderNotLoaded(_) | ShaderImportNotYetAvailable)
}

/// Makes the shaders known.
pub(super) fn embed_shaders(app: &mut App) {
    for module in super::MODULES {
        for constants in module.constants {
            constants.load(app);
        }
        for library in module.libraries {
            (library.embed)(app);
            let handle = (library.load)(app.world().resource::<AssetServer>());
            // As `load_shader_library!` does: nothing else holds a library.
            core::mem::forget(handle);
        }
        for pass in module.passes {
            (pass.shader.embed)(app);
        }
    }
}

/// Starts compiling.
pub(super) fn queue_pipelines(
    mut commands: Commands,
    assets: Res<AssetServer>,
    cache: Res<PipelineCache>,
) {
    let pipelines = all_passes().map(|pass| {
        let layouts = pass.layouts();
        let id = cache.queue_compute_pipeline(ComputePipelineDescriptor {
            label: Some(pass.label.into()),
            layout: layouts.clone(),
            shader: (pass.shader.load)(&assets),
            // Workgroups count up from nothing.
            zero_initialize_workgroup_memory: true,
            ..default()
        });
        (pass.label, Pipeline { layouts, id })
    });
    commands.insert_resource(Pipelines(pipelines.collect()));
}
