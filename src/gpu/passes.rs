//! The compute passes: which shader each runs, and what it binds. The table is
//! the one place that knows both.

use super::job::Job;
use bevy::{
    asset::{embedded_asset, load_embedded_asset},
    prelude::*,
    render::render_resource::{
        BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType,
        CachedComputePipelineId, CachedPipelineState, ComputePipelineDescriptor, PipelineCache,
        ShaderStages, ShaderType, TextureSampleType, TextureViewDimension,
    },
    shader::load_shader_library,
};

/// What a pass may bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Constants,
    Notes,
    /// State of the cells, two numbers each: bedrock and its rest.
    Rock,
    NewRock,
    /// Soil and water.
    Cover,
    NewCover,
    /// Suspended sediment and water's rest.
    Load,
    NewLoad,
    /// Discharge through the east and the south face.
    Flow,
    NewFlow,
    /// Room to work in: thermal weathering's slides, or the water's velocity.
    Slides,
    /// Working state of shallow water. The soft top of the ground.
    Regolith,
    /// Discharge of the fluid that is solved: of water, or of regolith.
    Current,
    /// Level and depth of that fluid.
    Sheet,
    /// Of the east and the south face: conductance, kept flow, new flow.
    Conductance,
    Kept,
    Swept,
    /// One number a cell.
    Shares,
    /// Outflow through the source's own pipes, along x and along y.
    AlongX,
    AlongY,
    /// Drops' visits to cells, and how they change them.
    Tallies,
    /// The ways of drops.
    Ways,
    Hardness,
    RainMap,
    /// What came along with the order.
    List,
    Packed,
    /// The ground as it was at the start.
    Before,
    /// A slab of meshes.
    Vertices,
    /// How the ground is painted.
    Look,
    /// Rivers, which the host runs: depth, discharge and fresh deposits.
    Streams,
}

/// What a pass does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    /// Both.
    Change,
}

/// A compute pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    Flow,
    Update,
    PublishedHeed,
    PublishedOutflow,
    PublishedDepth,
    PublishedDissolve,
    PublishedCarry,
    DropFollow,
    DropExchange,
    DropApply,
    Shares,
    Slide,
    Faces,
    Sweep,
    Finish,
    Soften,
    Apply,
    Link,
    Unite,
    Measure,
    Restore,
    Weather,
    Differences,
    Gather,
    Ground,
    Water,
}

impl Pass {
    pub const ALL: [Self; 26] = [
        Self::Flow,
        Self::Update,
        Self::PublishedHeed,
        Self::PublishedOutflow,
        Self::PublishedDepth,
        Self::PublishedDissolve,
        Self::PublishedCarry,
        Self::DropFollow,
        Self::DropExchange,
        Self::DropApply,
        Self::Shares,
        Self::Slide,
        Self::Faces,
        Self::Sweep,
        Self::Finish,
        Self::Soften,
        Self::Apply,
        Self::Link,
        Self::Unite,
        Self::Measure,
        Self::Restore,
        Self::Weather,
        Self::Differences,
        Self::Gather,
        Self::Ground,
        Self::Water,
    ];

    /// The passes of one sub-step of the pipe model, in their order.
    pub const PIPE: [Self; 2] = [Self::Flow, Self::Update];

    /// The passes in which pools make up for cells that gave more than they had.
    pub const POOLS: [Self; 4] = [Self::Link, Self::Unite, Self::Measure, Self::Restore];

    /// The passes of one step of the source's own pipe model, in their order.
    pub const PUBLISHED: [Self; 4] = [
        Self::PublishedOutflow,
        Self::PublishedDepth,
        Self::PublishedDissolve,
        Self::PublishedCarry,
    ];

    /// Name in render diagnostics.
    pub fn label(self) -> &'static str {
        match self {
            Self::Flow => "erosion/pipe/flow",
            Self::Update => "erosion/pipe/update",
            Self::PublishedHeed => "erosion/pipe/published/heed",
            Self::PublishedOutflow => "erosion/pipe/published/outflow",
            Self::PublishedDepth => "erosion/pipe/published/depth",
            Self::PublishedDissolve => "erosion/pipe/published/dissolve",
            Self::PublishedCarry => "erosion/pipe/published/carry",
            Self::DropFollow => "erosion/droplet/follow",
            Self::DropExchange => "erosion/droplet/exchange",
            Self::DropApply => "erosion/droplet/apply",
            Self::Shares => "erosion/thermal/shares",
            Self::Slide => "erosion/thermal/slide",
            Self::Faces => "erosion/shallow_water/faces",
            Self::Sweep => "erosion/shallow_water/sweep",
            Self::Finish => "erosion/shallow_water/finish",
            Self::Soften => "erosion/shallow_water/soften",
            Self::Apply => "erosion/shallow_water/apply",
            Self::Link => "erosion/pools/link",
            Self::Unite => "erosion/pools/unite",
            Self::Measure => "erosion/pools/measure",
            Self::Restore => "erosion/pools/restore",
            Self::Weather => "erosion/forcing/weather",
            Self::Differences => "erosion/exchange/differences",
            Self::Gather => "erosion/exchange/gather",
            Self::Ground => "erosion/view/ground",
            Self::Water => "erosion/view/water",
        }
    }

    /// What it binds, in the order of its bindings.
    pub fn bindings(self) -> &'static [(Source, Use)] {
        use Source::*;
        use Use::{Change, Read, Write};
        match self {
            Self::Flow => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Flow, Read),
                (NewFlow, Write),
            ],
            Self::Update => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Load, Read),
                (NewFlow, Read),
                (NewRock, Write),
                (NewCover, Write),
                (NewLoad, Write),
                (Hardness, Read),
            ],
            Self::PublishedHeed => &[
                (Constants, Read),
                (Flow, Read),
                (AlongX, Write),
                (AlongY, Write),
            ],
            Self::PublishedOutflow => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (AlongX, Change),
                (AlongY, Change),
            ],
            Self::PublishedDepth => &[
                (Constants, Read),
                (Notes, Change),
                (Cover, Read),
                (Load, Read),
                (AlongX, Read),
                (AlongY, Read),
                (NewCover, Write),
                (NewLoad, Write),
                (Slides, Write),
            ],
            Self::PublishedDissolve => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Load, Change),
                (Slides, Read),
                (NewRock, Write),
                (NewCover, Change),
            ],
            Self::PublishedCarry => &[
                (Constants, Read),
                (Notes, Change),
                (Load, Read),
                (Slides, Read),
                (AlongX, Read),
                (AlongY, Read),
                (NewCover, Change),
                (NewLoad, Change),
                (NewFlow, Write),
            ],
            Self::DropFollow => &[
                (Constants, Read),
                (List, Read),
                (Rock, Read),
                (Cover, Read),
                (Tallies, Change),
                (Ways, Write),
            ],
            Self::DropExchange => &[
                (Constants, Read),
                (Notes, Change),
                (List, Read),
                (Rock, Read),
                (Cover, Read),
                (Tallies, Change),
                (Ways, Read),
                (Hardness, Read),
            ],
            Self::DropApply => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Change),
                (Cover, Change),
                (Tallies, Change),
            ],
            Self::Shares => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Slides, Write),
            ],
            Self::Slide => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Change),
                (Cover, Change),
                (Slides, Read),
                (Hardness, Read),
            ],
            Self::Faces => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Regolith, Read),
                (Current, Read),
                (Sheet, Write),
                (Conductance, Write),
                (Kept, Write),
                (Hardness, Read),
            ],
            Self::Sweep => &[
                (Constants, Read),
                (Notes, Change),
                (Sheet, Read),
                (Conductance, Read),
                (Kept, Read),
                (Swept, Change),
                (Shares, Change),
            ],
            Self::Finish => &[
                (Constants, Read),
                (Notes, Change),
                (Sheet, Read),
                (Kept, Read),
                (Swept, Read),
                (Cover, Change),
                (Load, Change),
                (Regolith, Change),
                (Current, Write),
            ],
            Self::Soften => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Change),
                (Cover, Change),
                (Load, Change),
                (Regolith, Write),
                (Current, Write),
                (Hardness, Read),
            ],
            Self::Apply => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Change),
                (Cover, Change),
                (Regolith, Read),
                (Hardness, Read),
            ],
            // A finished solve no longer needs `Shares`, `Conductance` and `Kept`:
            // pools keep their parents and sums there.
            Self::Link => &[
                (Constants, Read),
                (Notes, Change),
                (Shares, Change),
                (Sheet, Read),
                (Current, Read),
                (Conductance, Write),
                (Kept, Write),
                (Cover, Read),
                (Regolith, Read),
            ],
            Self::Unite => &[(Constants, Read), (Notes, Change), (Shares, Change)],
            Self::Measure => &[
                (Constants, Read),
                (Notes, Change),
                (Shares, Change),
                (Conductance, Change),
                (Kept, Change),
                (Cover, Read),
                (Load, Read),
                (Regolith, Read),
            ],
            Self::Restore => &[
                (Constants, Read),
                (Notes, Change),
                (Shares, Change),
                (Conductance, Read),
                (Kept, Read),
                (Cover, Change),
                (Load, Change),
                (Regolith, Change),
            ],
            Self::Weather => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Change),
                (Cover, Change),
                (Load, Change),
                (RainMap, Read),
            ],
            Self::Differences => &[
                (Constants, Read),
                (Notes, Change),
                (List, Read),
                (Rock, Change),
                (Cover, Change),
                (Load, Change),
            ],
            Self::Gather => &[
                (Constants, Read),
                (List, Read),
                (Rock, Read),
                (Cover, Read),
                (Load, Read),
                (Flow, Read),
                (Packed, Write),
            ],
            Self::Ground => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Load, Read),
                (Flow, Read),
                (Streams, Read),
                (Before, Read),
                (List, Read),
                (Vertices, Change),
                (Look, Read),
            ],
            Self::Water => &[
                (Constants, Read),
                (Notes, Change),
                (Rock, Read),
                (Cover, Read),
                (Load, Read),
                (Flow, Read),
                (Streams, Read),
                (List, Read),
                (Vertices, Change),
                (Look, Read),
            ],
        }
    }

    /// Storage buffers that it binds.
    pub fn storage_buffers(self) -> u32 {
        let bindings = self.bindings().iter();
        let storage = bindings.filter(|(source, _)| source.is_storage());
        storage.count() as u32
    }

    /// Memory that it moves for each cell, where it moves all that it may and
    /// nothing twice. units: bytes
    pub fn bytes_per_cell(self) -> u32 {
        let bindings = self.bindings().iter();
        let bytes = bindings.map(|(source, used)| {
            let times = if *used == Use::Change { 2 } else { 1 };
            times * source.bytes_per_cell()
        });
        bytes.sum()
    }

    fn shader(self, assets: &AssetServer) -> Handle<bevy::shader::Shader> {
        match self {
            Self::Flow => load_embedded_asset!(assets, "pipe/flow.wgsl"),
            Self::Update => load_embedded_asset!(assets, "pipe/update.wgsl"),
            Self::PublishedHeed => load_embedded_asset!(assets, "pipe/published/heed.wgsl"),
            Self::PublishedOutflow => load_embedded_asset!(assets, "pipe/published/outflow.wgsl"),
            Self::PublishedDepth => load_embedded_asset!(assets, "pipe/published/depth.wgsl"),
            Self::PublishedDissolve => load_embedded_asset!(assets, "pipe/published/dissolve.wgsl"),
            Self::PublishedCarry => load_embedded_asset!(assets, "pipe/published/carry.wgsl"),
            Self::DropFollow => load_embedded_asset!(assets, "droplet/follow.wgsl"),
            Self::DropExchange => load_embedded_asset!(assets, "droplet/exchange.wgsl"),
            Self::DropApply => load_embedded_asset!(assets, "droplet/apply.wgsl"),
            Self::Shares => load_embedded_asset!(assets, "thermal/shares.wgsl"),
            Self::Slide => load_embedded_asset!(assets, "thermal/slide.wgsl"),
            Self::Faces => load_embedded_asset!(assets, "shallow_water/faces.wgsl"),
            Self::Sweep => load_embedded_asset!(assets, "shallow_water/sweep.wgsl"),
            Self::Finish => load_embedded_asset!(assets, "shallow_water/finish.wgsl"),
            Self::Soften => load_embedded_asset!(assets, "shallow_water/soften.wgsl"),
            Self::Apply => load_embedded_asset!(assets, "shallow_water/apply.wgsl"),
            Self::Link => load_embedded_asset!(assets, "pools/link.wgsl"),
            Self::Unite => load_embedded_asset!(assets, "pools/unite.wgsl"),
            Self::Measure => load_embedded_asset!(assets, "pools/measure.wgsl"),
            Self::Restore => load_embedded_asset!(assets, "pools/restore.wgsl"),
            Self::Weather => load_embedded_asset!(assets, "forcing/weather.wgsl"),
            Self::Differences => load_embedded_asset!(assets, "exchange/differences.wgsl"),
            Self::Gather => load_embedded_asset!(assets, "exchange/gather.wgsl"),
            Self::Ground => load_embedded_asset!(assets, "view/ground.wgsl"),
            Self::Water => load_embedded_asset!(assets, "view/water.wgsl"),
        }
    }

    fn layout(self) -> BindGroupLayoutDescriptor {
        let entry = |(number, (source, used)): (usize, &(Source, Use))| BindGroupLayoutEntry {
            binding: number as u32,
            visibility: ShaderStages::COMPUTE,
            ty: match source {
                Source::Constants => BindingType::Buffer {
                    ty: BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: Some(Job::min_size()),
                },
                Source::Look => BindingType::Buffer {
                    ty: BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                Source::Hardness | Source::RainMap | Source::Streams => BindingType::Texture {
                    sample_type: TextureSampleType::Float { filterable: false },
                    view_dimension: TextureViewDimension::D2,
                    multisampled: false,
                },
                _ => BindingType::Buffer {
                    ty: BufferBindingType::Storage {
                        read_only: *used == Use::Read,
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            },
            count: None,
        };
        let entries: Vec<_> = self.bindings().iter().enumerate().map(entry).collect();
        BindGroupLayoutDescriptor::new(self.label(), &entries)
    }
}

impl Source {
    fn is_storage(self) -> bool {
        let others = [
            Self::Constants,
            Self::Look,
            Self::Hardness,
            Self::RainMap,
            Self::Streams,
        ];
        !others.contains(&self)
    }

    fn bytes_per_cell(self) -> u32 {
        match self {
            Self::Constants | Self::Notes | Self::List | Self::Packed | Self::Ways => 0,
            Self::Vertices | Self::Look | Self::Streams => 0,
            Self::Hardness | Self::RainMap | Self::Before | Self::Shares => 4,
            _ => 8,
        }
    }
}

/// The passes' pipelines, compiled in the background.
#[derive(Resource)]
pub(super) struct Passes(Vec<(BindGroupLayoutDescriptor, CachedComputePipelineId)>);

/// How far the pipelines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Compiling,
    Ready,
    Failed(String),
}

impl Passes {
    pub fn get(&self, pass: Pass) -> (&BindGroupLayoutDescriptor, CachedComputePipelineId) {
        let (layout, pipeline) = &self.0[pass as usize];
        (layout, *pipeline)
    }

    pub fn readiness(&self, cache: &PipelineCache) -> Readiness {
        let mut ready = Readiness::Ready;
        for (pass, (_, pipeline)) in Pass::ALL.iter().zip(&self.0) {
            match cache.get_compute_pipeline_state(*pipeline) {
                CachedPipelineState::Ok(_) => {}
                CachedPipelineState::Err(error) if !is_loading(error) => {
                    return Readiness::Failed(format!("{}: {error}", pass.label()));
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
pub(super) fn embed(app: &mut App) {
    crate::shaders::load(app);
    load_shader_library!(app, "state.wgsl");
    load_shader_library!(app, "notes.wgsl");
    load_shader_library!(app, "ledger.wgsl");
    load_shader_library!(app, "shallow_water/sheet.wgsl");
    load_shader_library!(app, "pools/pool.wgsl");
    load_shader_library!(app, "view/chunks.wgsl");
    load_shader_library!(app, "view/streams.wgsl");
    embedded_asset!(app, "pipe/flow.wgsl");
    embedded_asset!(app, "pipe/update.wgsl");
    load_shader_library!(app, "droplet/exact.wgsl");
    embedded_asset!(app, "pipe/published/heed.wgsl");
    embedded_asset!(app, "pipe/published/outflow.wgsl");
    embedded_asset!(app, "pipe/published/depth.wgsl");
    embedded_asset!(app, "pipe/published/dissolve.wgsl");
    embedded_asset!(app, "pipe/published/carry.wgsl");
    embedded_asset!(app, "droplet/follow.wgsl");
    embedded_asset!(app, "droplet/exchange.wgsl");
    embedded_asset!(app, "droplet/apply.wgsl");
    embedded_asset!(app, "thermal/shares.wgsl");
    embedded_asset!(app, "thermal/slide.wgsl");
    embedded_asset!(app, "shallow_water/faces.wgsl");
    embedded_asset!(app, "shallow_water/sweep.wgsl");
    embedded_asset!(app, "shallow_water/finish.wgsl");
    embedded_asset!(app, "shallow_water/soften.wgsl");
    embedded_asset!(app, "shallow_water/apply.wgsl");
    embedded_asset!(app, "pools/link.wgsl");
    embedded_asset!(app, "pools/unite.wgsl");
    embedded_asset!(app, "pools/measure.wgsl");
    embedded_asset!(app, "pools/restore.wgsl");
    embedded_asset!(app, "forcing/weather.wgsl");
    embedded_asset!(app, "exchange/differences.wgsl");
    embedded_asset!(app, "exchange/gather.wgsl");
    embedded_asset!(app, "view/ground.wgsl");
    embedded_asset!(app, "view/water.wgsl");
}

/// Starts compiling.
pub(super) fn queue_pipelines(
    mut commands: Commands,
    assets: Res<AssetServer>,
    cache: Res<PipelineCache>,
) {
    let pipelines = Pass::ALL.map(|pass| {
        let layout = pass.layout();
        let pipeline = cache.queue_compute_pipeline(ComputePipelineDescriptor {
            label: Some(pass.label().into()),
            layout: vec![layout.clone()],
            shader: pass.shader(&assets),
            // Workgroups count up from nothing.
            zero_initialize_workgroup_memory: true,
            ..default()
        });
        (layout, pipeline)
    });
    commands.insert_resource(Passes(pipelines.into()));
}
