//! The buffers of one terrain on the GPU.

use super::{
    constants::{Surroundings, TerrainConstants},
    exchange::Upload,
    pass::{Binding, GivenSlot, HARDNESS, MapSlot, Pass, Plane, WorkingBuffer},
    status::{ALL_WET, PACE, StatusLayout},
};
use crate::terrain::Grid;
use bevy::{
    platform::collections::HashMap,
    prelude::*,
    render::{
        render_resource::{
            BindGroupEntry, BindingResource, Buffer, BufferDescriptor, BufferUsages,
            CommandEncoder, Extent3d, Origin3d, TexelCopyBufferLayout, TexelCopyTextureInfo,
            Texture, TextureAspect, TextureDescriptor, TextureDimension, TextureFormat,
            TextureUsages, TextureView, TextureViewDescriptor,
        },
        renderer::{RenderDevice, RenderQueue},
    },
};
use core::any::{Any, TypeId};

/// A terrain's state, and what passes need beside it.
pub(super) struct TerrainBuffers {
    pub grid: Grid,
    pub layout: StatusLayout,
    rock: [Buffer; 2],
    cover: [Buffer; 2],
    load: [Buffer; 2],
    flow: [Buffer; 2],
    pub status: Buffer,
    /// By label.
    working: HashMap<&'static str, Buffer>,
    maps: HashMap<&'static str, TextureView>,
    /// In place of a map that is not there.
    no_map: TextureView,
    model_states: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    /// Which copy of the state is the newest.
    pub current: usize,
    /// How often the flow changed so far.
    pub flow_version: u64,
}

impl TerrainBuffers {
    pub fn new(upload: &Upload, device: &RenderDevice, queue: &RenderQueue) -> Self {
        let layout = StatusLayout::new(&upload.grid);
        let pair = |label: &'static str, values: &[Vec2]| {
            [0, 1].map(|_| {
                let buffer = storage(device, label, values.len() as u64 * 8);
                write_pairs(queue, &buffer, values);
                buffer
            })
        };
        let status = storage(device, "erosion status", u64::from(layout.total()) * 4);
        let mut words = vec![0u32; layout.ledger() as usize];
        words[PACE[0] as usize] = upload.pace.to_bits();
        let states = layout.tile_states(0) as usize..layout.tile_states(1) as usize;
        // All tiles are taken as wet, and the first sub-step looks.
        words[states].fill(ALL_WET);
        let edges = layout.edges(0) as usize;
        for (word, edge) in words[edges..].iter_mut().zip(&upload.edges) {
            *word = edge.to_bits();
        }
        write_words(queue, &status, 0, &words);
        Self {
            grid: upload.grid,
            layout,
            rock: pair("erosion rock", &upload.rock),
            cover: pair("erosion cover", &upload.cover),
            load: pair("erosion load", &upload.load),
            flow: pair("erosion flow", &upload.flow),
            status,
            working: HashMap::default(),
            maps: HashMap::default(),
            no_map: map_texture(device, queue, UVec2::ONE, &[]),
            model_states: HashMap::default(),
            current: 0,
            flow_version: 0,
        }
    }

    /// Constants of the terrain as it is now.
    pub fn constants(&self, surroundings: &Surroundings) -> TerrainConstants {
        let (layout, has_hardness) = (&self.layout, self.has_map(&HARDNESS));
        TerrainConstants::new(&self.grid, layout, surroundings, self.current, has_hardness)
    }

    /// A copy of a plane.
    pub fn state(&self, plane: Plane, copy: usize) -> &Buffer {
        match plane {
            Plane::Rock => &self.rock[copy],
            Plane::Cover => &self.cover[copy],
            Plane::Load => &self.load[copy],
            Plane::Flow => &self.flow[copy],
        }
    }

    /// Room to work in, made when it is first needed.
    pub fn working(&mut self, buffer: &'static WorkingBuffer, device: &RenderDevice) -> &Buffer {
        let bytes = self.grid.cells() as u64 * u64::from(buffer.bytes_per_cell);
        let make = || storage(device, buffer.label, bytes);
        self.working.entry(buffer.label).or_insert_with(make)
    }

    /// Makes the room that a pass works in, where it is not there yet.
    pub fn make_working_buffers(&mut self, pass: &Pass, device: &RenderDevice) {
        for (binding, _) in pass.bindings {
            if let Binding::Working(buffer) = binding {
                self.working(buffer, device);
            }
        }
    }

    pub fn has_map(&self, slot: &MapSlot) -> bool {
        self.maps.contains_key(slot.label)
    }

    pub fn set_map(
        &mut self,
        slot: &'static MapSlot,
        map: Option<&[f32]>,
        device: &RenderDevice,
        queue: &RenderQueue,
    ) {
        match map {
            Some(map) => {
                let texture = map_texture(device, queue, self.grid.size(), map);
                self.maps.insert(slot.label, texture);
            }
            None => {
                self.maps.remove(slot.label);
            }
        }
    }

    /// Replaces the flow in both copies of the state.
    pub fn set_flow(&mut self, flow: &[Vec2], edges: &[f32], pace: f32, queue: &RenderQueue) {
        let states = vec![ALL_WET; self.layout.tile_count() as usize];
        let edges: Vec<u32> = edges.iter().map(|edge| edge.to_bits()).collect();
        for copy in [0, 1] {
            write_pairs(queue, &self.flow[copy], flow);
            let layout = self.layout;
            write_words(queue, &self.status, layout.edges(copy), &edges);
            write_words(queue, &self.status, layout.tile_states(copy), &states);
            write_words(queue, &self.status, PACE[copy], &[pace.to_bits()]);
        }
    }

    /// Reads or changes what a model keeps beside its buffers.
    pub fn with_state<T: Default + Send + Sync + 'static, R>(
        &mut self,
        act: impl FnOnce(&mut T) -> R,
    ) -> R {
        let known = self.model_states.remove(&TypeId::of::<T>());
        let known = known.and_then(|state| state.downcast::<T>().ok());
        let mut state = known.unwrap_or_default();
        let result = act(&mut state);
        self.model_states.insert(TypeId::of::<T>(), state);
        result
    }

    /// From here on, tiles that change are to be read back again.
    pub fn clear_changes(&self, encoder: &mut CommandEncoder) {
        let from = u64::from(self.layout.ground_changed()) * 4;
        let to = u64::from(self.layout.redraw()) * 4;
        encoder.clear_buffer(&self.status, from, Some(to - from));
    }

    /// From here on, tiles that change are to be drawn again.
    #[cfg(feature = "render")]
    pub fn clear_redraws(&self, encoder: &mut CommandEncoder) {
        let from = u64::from(self.layout.redraw()) * 4;
        let to = u64::from(self.layout.edges(0)) * 4;
        encoder.clear_buffer(&self.status, from, Some(to - from));
    }

    /// What a pass binds in group 0 after its first binding, the constants of the
    /// terrain. `given` are those that come along with the dispatch. Nothing, if one
    /// is missing.
    pub fn entries<'a>(
        &'a self,
        pass: &Pass,
        current: usize,
        constants: BindingResource<'a>,
        given: impl Fn(&'static GivenSlot) -> Option<BindingResource<'a>>,
    ) -> Option<Vec<BindGroupEntry<'a>>> {
        let first = Some(BindGroupEntry {
            binding: 0,
            resource: constants,
        });
        let bindings = pass.bindings.iter().enumerate();
        let others = bindings.map(|(number, (binding, _))| {
            let buffer = match binding {
                Binding::Status => &self.status,
                Binding::State(plane) => self.state(*plane, current),
                Binding::Next(plane) => self.state(*plane, 1 - current),
                Binding::Working(buffer) => self.working.get(buffer.label)?,
                Binding::Map(slot) => {
                    let map = self.maps.get(slot.label).unwrap_or(&self.no_map);
                    return Some((number, BindingResource::TextureView(map)));
                }
                Binding::Given(slot) => return Some((number, given(slot)?)),
            };
            Some((number, buffer.as_entire_binding()))
        });
        let others = others.map(|entry| {
            let (number, resource) = entry?;
            Some(BindGroupEntry {
                binding: number as u32 + 1,
                resource,
            })
        });
        core::iter::once(first).chain(others).collect()
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

/// A map of one number a cell; one zero if there are none.
fn map_texture(
    device: &RenderDevice,
    queue: &RenderQueue,
    size: UVec2,
    map: &[f32],
) -> TextureView {
    let bytes: Vec<u8> = map.iter().flat_map(|number| number.to_le_bytes()).collect();
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
