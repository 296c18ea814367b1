//! The GPU's side: buffers of one terrain, and the orders of a frame carried
//! out as compute passes before the cameras draw.

use super::{
    job::{DropConstants, GROUP, Job, NotesLayout},
    order::{Answer, Ask, Difference, DropBatch, Land, Mailbox, Order, TILES_PER_ASK, Upload},
    passes::{Pass, Passes, Source},
    shallow_water::{self, SolveBuffers},
};
use crate::terrain::{Grid, TILE};
use bevy::{
    platform::collections::HashMap,
    prelude::*,
    render::{
        diagnostic::RecordDiagnostics,
        render_resource::{
            BindGroup, BindGroupEntry, BindingResource, Buffer, BufferDescriptor, BufferUsages,
            CommandEncoder, ComputePassDescriptor, DynamicUniformBuffer, Extent3d, MapMode,
            Origin3d, PipelineCache, TexelCopyBufferLayout, TexelCopyTextureInfo, Texture,
            TextureAspect, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
            TextureView, TextureViewDescriptor, encase,
        },
        renderer::{RenderContext, RenderDevice, RenderQueue},
    },
};

/// Bytes of a cell in a packed tile.
const CELL_BYTES: u64 = 32;
const TILE_BYTES: u64 = TILE as u64 * TILE as u64 * CELL_BYTES;

/// State of a tile that may be wet everywhere.
const ALL_WET: u32 = 0b1_1111;
/// Differences in one dispatch: their list must fit a binding.
const MOST_DIFFERENCES: usize = 1 << 20;

/// Bytes of a leg of a drop's way.
const LEG_BYTES: u64 = 16;
/// Bytes that the ways of one part of a batch of drops may take.
const MOST_WAYS: u64 = 1 << 24;
/// Drops that a workgroup follows.
const DROPS_PER_GROUP: u32 = 64;

/// Orders that came from the game with this frame.
#[derive(Resource, Default)]
pub(super) struct Inbox {
    pub orders: Vec<Order>,
    pub land: Land,
    pub mailbox: Mailbox,
    /// The device is another than before.
    pub is_new: bool,
}

/// A terrain's buffers.
pub(super) struct Buffers {
    grid: Grid,
    layout: NotesLayout,
    rock: [Buffer; 2],
    cover: [Buffer; 2],
    load: [Buffer; 2],
    flow: [Buffer; 2],
    notes: Buffer,
    slides: Option<Buffer>,
    solve: Option<SolveBuffers>,
    packed: Option<Buffer>,
    /// Outflow through the source's own pipes, and whether it is that of the
    /// newest state.
    outflow: Option<[Buffer; 2]>,
    outflow_is_known: bool,
    tallies: Option<Buffer>,
    /// The ways of each part of a batch of drops.
    ways: Vec<Buffer>,
    hardness: TextureView,
    has_hardness: bool,
    rain_map: TextureView,
    has_rain_map: bool,
    /// Which copy of the state, and which of the deepest soil, is the newest.
    now: usize,
    deep: usize,
}

/// What is on the GPU, and what is on its way back.
#[derive(Resource, Default)]
pub(super) struct Executor {
    buffers: Option<Buffers>,
    constants: DynamicUniformBuffer<Job>,
    /// Copied, and to be mapped once the frame is submitted.
    copied: Vec<(Buffer, Ask, usize)>,
}

/// One dispatch of a frame.
#[derive(Clone)]
struct Dispatch {
    pass: Pass,
    /// Which copy is the newest when it runs.
    now: usize,
    /// Whether it is regolith, not water, whose discharge it binds.
    creeps: bool,
    constants: u32,
    groups: UVec3,
    list: Option<Buffer>,
    ways: Option<Buffer>,
}

impl Dispatch {
    /// A pass that reads no list.
    fn of_land(pass: Pass, now: usize, constants: u32, groups: UVec3) -> Work {
        Work::Dispatch(Self {
            pass,
            now,
            creeps: false,
            constants,
            groups,
            list: None,
            ways: None,
        })
    }
}

/// What a frame does, in its order.
enum Work {
    Dispatch(Dispatch),
    /// Copies the notes, and packed tiles after them, to a buffer to be mapped.
    CopyNotes(Buffer, bool),
    CopyTiles(Buffer, u64, u64),
    /// Notes which tiles changed from here on.
    ForgetChanges,
}

/// Carries out the orders of this frame.
pub(super) fn run_orders(
    mut context: RenderContext,
    queue: Res<RenderQueue>,
    cache: Res<PipelineCache>,
    passes: Option<Res<Passes>>,
    mut inbox: ResMut<Inbox>,
    mut executor: ResMut<Executor>,
) {
    let orders = core::mem::take(&mut inbox.orders);
    let Some(passes) = passes.filter(|_| !orders.is_empty()) else {
        return;
    };
    let device = context.render_device().clone();
    let executor = &mut *executor;
    executor.constants.clear();
    let mut work = Vec::new();
    for order in orders {
        executor.plan(order, &inbox.land, &device, &queue, &mut work);
    }
    executor.constants.write_buffer(&device, &queue);
    let Some(buffers) = &executor.buffers else {
        return;
    };
    let diagnostics = context.diagnostic_recorder();
    let diagnostics = diagnostics.as_deref();
    let encoder = context.command_encoder();
    let span = diagnostics.time_span(encoder, "erosion");
    let mut groups: HashMap<(Pass, usize, bool), BindGroup> = HashMap::default();
    for work in &work {
        match work {
            Work::Dispatch(dispatch) => {
                let (layout, pipeline) = passes.get(dispatch.pass);
                let Some(pipeline) = cache.get_compute_pipeline(pipeline) else {
                    // The game sends no orders before all are ready.
                    continue;
                };
                let make = || {
                    let layout = cache.get_bind_group_layout(layout);
                    let list = dispatch.list.as_ref();
                    let entries =
                        buffers.entries(dispatch.pass, dispatch.now, |source| match source {
                            Source::Constants => executor.constants.binding(),
                            Source::List => list.map(|list| list.as_entire_binding()),
                            Source::Current => buffers.current(dispatch.creeps, dispatch.now),
                            Source::Ways => {
                                let ways = dispatch.ways.as_ref();
                                ways.map(|ways| ways.as_entire_binding())
                            }
                            _ => None,
                        });
                    device.create_bind_group(dispatch.pass.label(), &layout, &entries)
                };
                let own;
                let group = match &dispatch.list {
                    Some(_) => {
                        own = make();
                        &own
                    }
                    None => &*groups
                        .entry((dispatch.pass, dispatch.now, dispatch.creeps))
                        .or_insert_with(make),
                };
                let label = dispatch.pass.label();
                let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor {
                    label: Some(label),
                    timestamp_writes: None,
                });
                let span = diagnostics.pass_span(&mut pass, label);
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[dispatch.constants]);
                let UVec3 { x, y, z } = dispatch.groups;
                pass.dispatch_workgroups(x, y, z);
                span.end(&mut pass);
            }
            Work::CopyNotes(to, books) => {
                let words = match books {
                    true => buffers.layout.words(),
                    false => buffers.layout.books(),
                };
                encoder.copy_buffer_to_buffer(&buffers.notes, 0, to, 0, u64::from(words) * 4);
            }
            Work::CopyTiles(to, at, bytes) => {
                if let Some(packed) = &buffers.packed {
                    encoder.copy_buffer_to_buffer(packed, 0, to, *at, *bytes);
                }
            }
            Work::ForgetChanges => forget_changes(encoder, buffers),
        }
    }
    span.end(encoder);
}

fn forget_changes(encoder: &mut CommandEncoder, buffers: &Buffers) {
    let from = u64::from(buffers.layout.ground_changed()) * 4;
    let to = u64::from(buffers.layout.repaint()) * 4;
    encoder.clear_buffer(&buffers.notes, from, Some(to - from));
}

impl Executor {
    /// The terrain that is on the GPU.
    #[cfg(feature = "render")]
    pub fn buffers(&self) -> Option<&Buffers> {
        self.buffers.as_ref()
    }

    /// Constants of the terrain as it is after this frame's orders.
    #[cfg(feature = "render")]
    pub fn constants_now(&self, device: &RenderDevice, queue: &RenderQueue) -> Option<Buffer> {
        let buffers = self.buffers.as_ref()?;
        let land = Land::default();
        let (now, deep) = (buffers.now, buffers.deep);
        let layout = buffers.layout;
        let job = layout.job(&buffers.grid, land.datum, &land.borders, now, deep);
        let mut bytes = encase::UniformBuffer::new(Vec::new());
        // A vector grows as it must.
        let _ = bytes.write(&job);
        let (label, usage) = ("erosion constants", BufferUsages::UNIFORM);
        Some(filled(device, queue, label, usage, &bytes.into_inner()))
    }

    fn plan(
        &mut self,
        order: Order,
        land: &Land,
        device: &RenderDevice,
        queue: &RenderQueue,
        work: &mut Vec<Work>,
    ) {
        match order {
            Order::Upload(upload) => {
                self.buffers = Some(Buffers::new(&upload, device, queue));
                return;
            }
            Order::Forget => {
                self.buffers = None;
                return;
            }
            _ => {}
        }
        let Some(buffers) = &mut self.buffers else {
            return;
        };
        let constants = &mut self.constants;
        let base = |buffers: &Buffers| Job {
            gravity: land.gravity,
            has_hardness: buffers.has_hardness.into(),
            has_rain_map: buffers.has_rain_map.into(),
            ..buffers.layout.job(
                &buffers.grid,
                land.datum,
                &land.borders,
                buffers.now,
                buffers.deep,
            )
        };
        let size = buffers.grid.size();
        let over_cells = UVec3::new(size.x.div_ceil(GROUP), size.y.div_ceil(GROUP), 1);
        match order {
            Order::Upload(_) | Order::Forget => {}
            Order::Hardness(map) => {
                buffers.has_hardness = map.is_some();
                buffers.hardness = map_texture(device, queue, size, map.as_deref());
            }
            Order::RainMap(map) => {
                buffers.has_rain_map = map.is_some();
                buffers.rain_map = map_texture(device, queue, size, map.as_deref());
            }
            Order::Flow { flow, edges, pace } => {
                let states = vec![ALL_WET; buffers.grid.tiles().element_product() as usize];
                let edges: Vec<u32> = edges.iter().map(|edge| edge.to_bits()).collect();
                for copy in [0, 1] {
                    write_pairs(queue, &buffers.flow[copy], &flow);
                    let layout = buffers.layout;
                    write_words(queue, &buffers.notes, layout.edges(copy), &edges);
                    write_words(queue, &buffers.notes, layout.tile_states(copy), &states);
                    let place = NotesLayout::PACE[copy] as u32;
                    write_words(queue, &buffers.notes, place, &[pace.to_bits()]);
                }
                buffers.outflow_is_known = false;
            }
            Order::Differences(list) => {
                for list in list.chunks(MOST_DIFFERENCES) {
                    // A row of workgroups must not be too long.
                    let groups = list.len().div_ceil(256) as u32;
                    let wide = groups.min(1024);
                    let job = Job {
                        count: list.len() as u32,
                        ..base(buffers)
                    };
                    work.push(Work::Dispatch(Dispatch {
                        pass: Pass::Differences,
                        now: buffers.now,
                        creeps: false,
                        constants: constants.push(&job),
                        groups: UVec3::new(wide, groups.div_ceil(wide.max(1)), 1),
                        list: Some(list_buffer(device, queue, &difference_bytes(list))),
                        ways: None,
                    }));
                }
            }
            Order::Weather { rain, drying } => {
                let job = Job {
                    rain,
                    drying,
                    ..base(buffers)
                };
                work.push(Dispatch::of_land(
                    Pass::Weather,
                    buffers.now,
                    constants.push(&job),
                    over_cells,
                ));
            }
            Order::Pipe {
                dt,
                sub_steps,
                step,
            } => {
                for _ in 0..sub_steps {
                    let job = base(buffers).with_pipe(dt, crate::models::pipe::COURANT, &step);
                    let offset = constants.push(&job);
                    for pass in Pass::PIPE {
                        work.push(Dispatch::of_land(pass, buffers.now, offset, over_cells));
                    }
                    buffers.now = 1 - buffers.now;
                }
                buffers.outflow_is_known = false;
            }
            Order::Published { dt, settings } => {
                let room = |label| storage(device, label, buffers.rock[0].size());
                buffers.slides.get_or_insert_with(|| room("erosion slides"));
                buffers.outflow.get_or_insert_with(|| {
                    [
                        room("erosion outflow along x"),
                        room("erosion outflow along y"),
                    ]
                });
                let offset = constants.push(&base(buffers).with_published(dt, &settings));
                let mut land = |pass| {
                    work.push(Dispatch::of_land(pass, buffers.now, offset, over_cells));
                };
                if !core::mem::replace(&mut buffers.outflow_is_known, true) {
                    land(Pass::PublishedHeed);
                }
                Pass::PUBLISHED.into_iter().for_each(land);
                buffers.now = 1 - buffers.now;
            }
            Order::Drops(batch) => {
                let drops = DropConstants {
                    account: NotesLayout::DROPS,
                    ..batch.constants
                };
                let job = Job {
                    drops,
                    ..base(buffers)
                };
                buffers.plan_drops(&batch, job, constants, device, queue, work);
            }
            Order::ShallowWater(step) => {
                buffers
                    .solve
                    .get_or_insert_with(|| SolveBuffers::new(device, buffers.grid.cells()));
                let base = base(buffers);
                for (pass, job) in shallow_water::dispatches(&step, base, &buffers.layout) {
                    work.push(Work::Dispatch(Dispatch {
                        pass,
                        now: buffers.now,
                        creeps: job.creeps != 0,
                        constants: constants.push(&job),
                        groups: match pass {
                            Pass::Sweep => shallow_water::sweep_groups(&job),
                            _ => over_cells,
                        },
                        list: None,
                        ways: None,
                    }));
                }
                buffers.outflow_is_known = false;
            }
            Order::Thermal { passes, pass } => {
                let bytes = buffers.rock[0].size();
                buffers
                    .slides
                    .get_or_insert_with(|| storage(device, "erosion slides", bytes));
                for _ in 0..passes {
                    let job = Job {
                        rest: pass.stable.into(),
                        share: pass.share.into(),
                        rock_rest: pass.rock_stable,
                        breaking: pass.breaking,
                        shelter: pass.shelter,
                        ..base(buffers)
                    };
                    let offset = constants.push(&job);
                    for pass in [Pass::Shares, Pass::Slide] {
                        work.push(Dispatch::of_land(pass, buffers.now, offset, over_cells));
                    }
                    buffers.deep = 1 - buffers.deep;
                }
            }
            Order::Ask(ask) => {
                let notes = match ask.books {
                    true => buffers.layout.words(),
                    false => buffers.layout.books(),
                };
                let notes = u64::from(notes) * 4;
                let count = ask.tiles.len();
                let bytes = count as u64 * TILE_BYTES;
                let buffer = device.create_buffer(&BufferDescriptor {
                    label: Some("erosion answer"),
                    size: notes + bytes,
                    usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
                    mapped_at_creation: false,
                });
                work.push(Work::CopyNotes(buffer.clone(), ask.books));
                if count > 0 {
                    let most = (buffers.grid.tiles().element_product() as usize).min(TILES_PER_ASK);
                    buffers.packed.get_or_insert_with(|| {
                        storage(device, "erosion tiles", most as u64 * TILE_BYTES)
                    });
                    let bytes_of_list: Vec<u8> = ask
                        .tiles
                        .iter()
                        .flat_map(|tile| tile.to_le_bytes())
                        .collect();
                    let groups = TILE / GROUP;
                    work.push(Work::Dispatch(Dispatch {
                        pass: Pass::Gather,
                        now: buffers.now,
                        creeps: false,
                        constants: constants.push(&base(buffers)),
                        groups: UVec3::new(groups, groups, count as u32),
                        list: Some(list_buffer(device, queue, &bytes_of_list)),
                        ways: None,
                    }));
                    work.push(Work::CopyTiles(buffer.clone(), notes, bytes));
                }
                if ask.last {
                    work.push(Work::ForgetChanges);
                }
                self.copied.push((buffer, ask, buffers.now));
            }
        }
    }
}

/// Maps what was copied, now that it is submitted. The frame does not wait: the
/// answer is put in the mailbox whenever it is there.
pub(super) fn map_answers(
    mut executor: ResMut<Executor>,
    inbox: Res<Inbox>,
    device: Res<RenderDevice>,
) {
    for (buffer, ask, now) in executor.copied.drain(..) {
        let mailbox = inbox.mailbox.clone();
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
            mailbox.put(Answer { ask, words, now });
        });
    }
    // Lets callbacks run; does not wait.
    let _ = device.poll(bevy::render::render_resource::PollType::Poll);
}

impl Buffers {
    /// Which copy of the state is the newest.
    #[cfg(feature = "render")]
    pub fn now(&self) -> usize {
        self.now
    }

    /// From here on, tiles that change are to be painted again.
    #[cfg(feature = "render")]
    pub fn forget_repaints(&self, encoder: &mut CommandEncoder) {
        let from = u64::from(self.layout.repaint()) * 4;
        let to = u64::from(self.layout.edges(0)) * 4;
        encoder.clear_buffer(&self.notes, from, Some(to - from));
    }

    fn new(upload: &Upload, device: &RenderDevice, queue: &RenderQueue) -> Self {
        let layout = NotesLayout::new(&upload.grid);
        let pair = |label: &'static str, values: &[Vec2]| {
            [0, 1].map(|_| {
                let buffer = storage(device, label, values.len() as u64 * 8);
                write_pairs(queue, &buffer, values);
                buffer
            })
        };
        let notes = storage(device, "erosion notes", u64::from(layout.total()) * 4);
        let mut words = vec![0u32; layout.books() as usize];
        words[NotesLayout::PACE[0]] = upload.pace.to_bits();
        let states = layout.tile_states(0) as usize..layout.tile_states(1) as usize;
        // All tiles are taken as wet, and the first sub-step looks.
        words[states].fill(ALL_WET);
        let edges = layout.edges(0) as usize;
        for (word, edge) in words[edges..].iter_mut().zip(&upload.edges) {
            *word = edge.to_bits();
        }
        write_words(queue, &notes, 0, &words);
        Self {
            grid: upload.grid,
            layout,
            rock: pair("erosion rock", &upload.rock),
            cover: pair("erosion cover", &upload.cover),
            load: pair("erosion load", &upload.load),
            flow: pair("erosion flow", &upload.flow),
            notes,
            slides: None,
            solve: None,
            packed: None,
            outflow: None,
            outflow_is_known: false,
            tallies: None,
            ways: Vec::new(),
            hardness: map_texture(device, queue, UVec2::ONE, None),
            has_hardness: false,
            rain_map: map_texture(device, queue, UVec2::ONE, None),
            has_rain_map: false,
            now: 0,
            deep: 0,
        }
    }

    /// Discharge of water or of regolith.
    fn current(&self, creeps: bool, now: usize) -> Option<BindingResource<'_>> {
        let buffer = match creeps {
            true => &self.solve.as_ref()?.creep,
            false => &self.flow[now],
        };
        Some(buffer.as_entire_binding())
    }

    /// Lets a batch of drops fall. Where the ways of all do not fit a binding they
    /// are in several parts, but all visits are counted before any drop cuts.
    fn plan_drops(
        &mut self,
        batch: &DropBatch,
        job: Job,
        constants: &mut DynamicUniformBuffer<Job>,
        device: &RenderDevice,
        queue: &RenderQueue,
        work: &mut Vec<Work>,
    ) {
        let room = self.rock[0].size();
        self.tallies
            .get_or_insert_with(|| storage(device, "erosion tallies", room));
        let limit = device.limits().max_storage_buffer_binding_size;
        let way = u64::from(job.drops.places) * LEG_BYTES;
        let most = (limit.min(MOST_WAYS) / way).max(1) as usize;
        let mut exchanges = Vec::new();
        for (part, starts) in batch.starts.chunks(most).enumerate() {
            let bytes = starts.len() as u64 * way;
            if self.ways.get(part).is_none_or(|ways| ways.size() < bytes) {
                self.ways.truncate(part);
                self.ways.push(storage(device, "erosion ways", bytes));
            }
            let starts_flat = starts.iter().flat_map(|start| start.to_array());
            let numbers = batch.brush.iter().copied().chain(starts_flat);
            let list: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
            let drops = DropConstants {
                count: starts.len() as u32,
                ..job.drops
            };
            let follow = Dispatch {
                pass: Pass::DropFollow,
                now: self.now,
                creeps: false,
                constants: constants.push(&Job { drops, ..job }),
                groups: UVec3::new(drops.count.div_ceil(DROPS_PER_GROUP), 1, 1),
                list: Some(list_buffer(device, queue, &list)),
                ways: Some(self.ways[part].clone()),
            };
            exchanges.push(Work::Dispatch(Dispatch {
                pass: Pass::DropExchange,
                ..follow.clone()
            }));
            work.push(Work::Dispatch(follow));
        }
        work.append(&mut exchanges);
        let size = self.grid.size();
        let over_cells = UVec3::new(size.x.div_ceil(GROUP), size.y.div_ceil(GROUP), 1);
        let offset = constants.push(&job);
        work.push(Dispatch::of_land(
            Pass::DropApply,
            self.now,
            offset,
            over_cells,
        ));
    }

    /// What a pass binds; `others` are those that are not the terrain's.
    pub fn entries<'a>(
        &'a self,
        pass: Pass,
        now: usize,
        others: impl Fn(Source) -> Option<BindingResource<'a>>,
    ) -> Vec<BindGroupEntry<'a>> {
        let next = 1 - now;
        let resource = |source: Source| -> Option<BindingResource<'a>> {
            let buffer = match source {
                Source::Hardness => return Some(BindingResource::TextureView(&self.hardness)),
                Source::RainMap => return Some(BindingResource::TextureView(&self.rain_map)),
                Source::Notes => &self.notes,
                Source::Rock => &self.rock[now],
                Source::NewRock => &self.rock[next],
                Source::Cover => &self.cover[now],
                Source::NewCover => &self.cover[next],
                Source::Load => &self.load[now],
                Source::NewLoad => &self.load[next],
                Source::Flow => &self.flow[now],
                Source::NewFlow => &self.flow[next],
                Source::Slides => self.slides.as_ref()?,
                Source::Regolith => &self.solve.as_ref()?.regolith,
                Source::Sheet => &self.solve.as_ref()?.sheet,
                Source::Conductance => &self.solve.as_ref()?.conductance,
                Source::Kept => &self.solve.as_ref()?.kept,
                Source::Swept => &self.solve.as_ref()?.swept,
                Source::Shares => &self.solve.as_ref()?.shares,
                Source::AlongX => &self.outflow.as_ref()?[0],
                Source::AlongY => &self.outflow.as_ref()?[1],
                Source::Tallies => self.tallies.as_ref()?,
                Source::Packed => self.packed.as_ref()?,
                other => return others(other),
            };
            Some(buffer.as_entire_binding())
        };
        let bindings = pass.bindings().iter().enumerate();
        bindings
            .filter_map(|(number, (source, _))| {
                Some(BindGroupEntry {
                    binding: number as u32,
                    resource: resource(*source)?,
                })
            })
            .collect()
    }
}

pub(super) fn storage(device: &RenderDevice, label: &'static str, bytes: u64) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size: bytes.max(16),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// A buffer that holds these bytes. Written by the queue: to map a new buffer
/// would panic while a lost device is not known to be lost.
pub(super) fn filled(
    device: &RenderDevice,
    queue: &RenderQueue,
    label: &'static str,
    usage: BufferUsages,
    bytes: &[u8],
) -> Buffer {
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size: (bytes.len() as u64).next_multiple_of(16).max(16),
        usage: usage | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}

fn list_buffer(device: &RenderDevice, queue: &RenderQueue, bytes: &[u8]) -> Buffer {
    filled(device, queue, "erosion list", BufferUsages::STORAGE, bytes)
}

fn difference_bytes(list: &[Difference]) -> Vec<u8> {
    let mut bytes = encase::StorageBuffer::new(Vec::with_capacity(list.len() * Difference::SIZE));
    match bytes.write(&list) {
        Ok(()) => bytes.into_inner(),
        // A vector grows as it must.
        Err(_) => Vec::new(),
    }
}

/// Writes words from a word on.
fn write_words(queue: &RenderQueue, buffer: &Buffer, from: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    queue.write_buffer(buffer, u64::from(from) * 4, &bytes);
}

/// Writes in pieces, so that no copy of everything is needed.
fn write_pairs(queue: &RenderQueue, buffer: &Buffer, values: &[Vec2]) {
    const PIECE: usize = 1 << 20;
    for (number, piece) in values.chunks(PIECE).enumerate() {
        let bytes: Vec<u8> = piece
            .iter()
            .flat_map(|pair| pair.to_array())
            .flat_map(f32::to_le_bytes)
            .collect();
        queue.write_buffer(buffer, (number * PIECE * 8) as u64, &bytes);
    }
}

/// A map of one number a cell; one zero if there is none.
fn map_texture(
    device: &RenderDevice,
    queue: &RenderQueue,
    size: UVec2,
    map: Option<&[f32]>,
) -> TextureView {
    let numbers = map.unwrap_or_default().iter();
    let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
    let format = TextureFormat::R32Float;
    texture(device, queue, "erosion map", format, size, &bytes)
}

/// A texture of these pixels, row by row; one empty pixel if there are none.
pub(super) fn texture(
    device: &RenderDevice,
    queue: &RenderQueue,
    label: &'static str,
    format: TextureFormat,
    size: UVec2,
    bytes: &[u8],
) -> TextureView {
    let size = if bytes.is_empty() { UVec2::ONE } else { size };
    let extent = Extent3d {
        width: size.x,
        height: size.y,
        depth_or_array_layers: 1,
    };
    let texture: Texture = device.create_texture(&TextureDescriptor {
        label: Some(label),
        size: extent,
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    });
    if !bytes.is_empty() {
        queue.write_texture(
            TexelCopyTextureInfo {
                texture: &texture,
                mip_level: 0,
                origin: Origin3d::ZERO,
                aspect: TextureAspect::All,
            },
            bytes,
            TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some((bytes.len() / size.y as usize) as u32),
                rows_per_image: None,
            },
            extent,
        );
    }
    texture.create_view(&TextureViewDescriptor::default())
}
