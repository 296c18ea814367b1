//! Brings the drawn levels of detail to those that cameras ask for.

use super::{
    ChunkDetail, Detail,
    level_choice::{ChunkBox, LevelChoice, Viewpoint},
};
use crate::{
    parallel::Workers,
    terrain::{TILE, Terrain},
    view::{
        TerrainView, TerrainViewState,
        ground::mesh::Baseline,
        surface::{ChunkSet, Surface},
    },
};
use bevy::{math::*, prelude::*};

/// Vertices that are built for new levels at a time, roughly, and the share of
/// them if there are more: a nearby edit must not wait for a whole land to be
/// built anew, nor must the land wait for many frames.
const VERTICES_AT_A_TIME: u32 = 40_000;
const SHARE_AT_A_TIME: u32 = 3;

/// The levels that chunks are drawn at, and those that they should be.
#[derive(Debug, Default)]
pub(in crate::view) struct Levels {
    chunks: UVec2,
    /// Side of a chunk. units: m
    side: f32,
    boxes: Vec<ChunkBox>,
    choice: LevelChoice,
    /// One a chunk: as drawn, or as it will be when what is being built is shown.
    drawn: Vec<u8>,
    /// What the choice was made for.
    detail: Detail,
    /// Water or lava came to a chunk or left it since the choice was made.
    is_outdated: bool,
}

impl Levels {
    /// Levels for a terrain that was not drawn before.
    pub fn new(terrain: &Terrain, baseline: &Baseline, layers: &[Box<dyn Surface>]) -> Self {
        let grid = terrain.grid();
        let chunks = grid.chunks();
        let bounds_of = |number: u32| {
            let chunk = UVec2::new(number % chunks.x, number / chunks.x);
            let (first, last) = grid.chunk_cells(chunk);
            let (low, high) = baseline.ranges[number as usize];
            let layers = layers.iter().enumerate();
            let drawn = layers.filter(|(_, layer)| layer.is_in(terrain, first, last));
            let corner = grid.chunk_corner(chunk);
            let extent = (last - first).as_vec2() * grid.cell_size();
            ChunkBox {
                lowest: corner + Vec3::Y * low,
                highest: corner + Vec3::new(extent.x, high, extent.y),
                quads: last - first,
                layers: drawn.fold(0, |layers, (layer, _)| layers | 1 << layer),
            }
        };
        let mut boxes = vec![None; chunks.element_product() as usize];
        let rows = (0..).step_by(chunks.x.max(1) as usize);
        let rows = rows.zip(boxes.chunks_mut(chunks.x.max(1) as usize));
        Workers::global().each(rows, |(first, row)| {
            for (number, place) in (first..).zip(row) {
                *place = Some(bounds_of(number));
            }
        });
        Self {
            chunks,
            side: TILE as f32 * grid.cell_size(),
            boxes: boxes.into_iter().flatten().collect(),
            ..Self::default()
        }
    }

    /// The level that a chunk is drawn at.
    #[inline]
    pub fn level(&self, number: usize) -> Option<u8> {
        self.drawn.get(number).copied()
    }

    /// Whether all chunks have the levels that they should have.
    pub fn is_settled(&self) -> bool {
        !self.is_outdated && self.drawn == self.choice.levels()
    }

    /// The level of a chunk and of those around it.
    pub fn detail(&self, number: usize) -> ChunkDetail {
        let wide = self.chunks.x as i32;
        let (x, y) = (number as i32 % wide.max(1), number as i32 / wide.max(1));
        let level = |dx: i32, dy: i32| {
            let inside =
                (0..wide).contains(&(x + dx)) && (0..self.chunks.y as i32).contains(&(y + dy));
            let number = (y + dy) * wide + x + dx;
            self.drawn
                .get(number as usize)
                .copied()
                .filter(|_| inside)
                .unwrap_or_default()
        };
        ChunkDetail::among([-1, 0, 1].map(|dy| [-1, 0, 1].map(|dx| level(dx, dy))))
    }

    /// Sets the heights between which a chunk is drawn, in the world. units: m
    pub fn set_heights(&mut self, number: usize, lowest: f32, highest: f32) {
        if let Some(chunk) = self.boxes.get_mut(number) {
            (chunk.lowest.y, chunk.highest.y) = (lowest, highest);
        }
    }

    /// Sets whether a layer of a chunk is drawn.
    pub fn set_drawn(&mut self, number: usize, layer: usize, is_drawn: bool) {
        if let Some(chunk) = self.boxes.get_mut(number) {
            let was_drawn = chunk.layers >> layer & 1 == 1;
            if was_drawn != is_drawn {
                self.is_outdated = true;
                chunk.layers ^= 1 << layer;
            }
        }
    }

    /// Chooses levels for these cameras, if there is a reason to.
    fn choose(&mut self, detail: &Detail, cameras: &[Viewpoint]) {
        let is_new = self.drawn.len() != self.boxes.len();
        let stands = self.detail == *detail && self.choice.stands(cameras, self.side);
        // In rain some chunk or other turns wet in every frame.
        let is_too_much = self.is_outdated && !self.choice.suffices(detail, &self.boxes);
        self.is_outdated = false;
        if is_new || is_too_much || !stands {
            self.choice.choose(detail, self.side, &self.boxes, cameras);
            self.detail = *detail;
        }
        if is_new {
            self.drawn = self.choice.levels().to_vec();
        }
    }

    /// Takes on some of the levels that are asked for, and returns the chunks
    /// to be drawn anew for it: those, and the ones whose edges change with
    /// them. Whichever are taken, all edges fit.
    pub fn advance(&mut self) -> ChunkSet {
        let mut touched = ChunkSet::default();
        if self.drawn == self.choice.levels() {
            return touched;
        }
        let levels = self.choice.levels();
        let mut changes: Vec<(bool, f32, usize)> = (0..self.drawn.len())
            .filter(|&number| self.drawn[number] != levels[number])
            .map(|number| {
                let refines = levels[number] < self.drawn[number];
                (refines, self.choice.distance(number), number)
            })
            .collect();
        // Coarser ones first, so that there never are too many triangles; then
        // what is nearest.
        changes.sort_by(|a, b| {
            (a.0.cmp(&b.0))
                .then(a.1.total_cmp(&b.1))
                .then(a.2.cmp(&b.2))
        });
        let all = changes.iter().map(|&(_, _, number)| number);
        let all: u32 = all
            .map(|number| self.boxes[number].vertices(levels[number]))
            .sum();
        let room = VERTICES_AT_A_TIME.max(all / SHARE_AT_A_TIME);
        let mut vertices = 0;
        for (_, _, number) in changes {
            if vertices >= room {
                break;
            }
            let around = self.around(number);
            let before = around.clone().map(|near| self.detail(near));
            let before: Vec<ChunkDetail> = before.collect();
            self.drawn[number] = self.choice.levels()[number];
            for (near, before) in around.zip(before) {
                if self.detail(near) != before && !touched.contains(near) {
                    touched.insert(near);
                    vertices += self.boxes[near].vertices(self.drawn[near]);
                }
            }
        }
        touched
    }

    /// A chunk and those around it.
    #[inline]
    fn around(&self, number: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let chunks = self.chunks;
        let at = UVec2::new(number as u32 % chunks.x, number as u32 / chunks.x);
        let from = at.saturating_sub(UVec2::ONE);
        let to = (at + 2).min(chunks);
        (from.y..to.y).flat_map(move |y| (from.x..to.x).map(move |x| (y * chunks.x + x) as usize))
    }
}

/// Chooses levels by where the cameras are. Cameras that are switched off
/// count only if there is no other.
pub(in crate::view) fn choose_levels(
    view: Res<TerrainView>,
    terrain: Option<Res<Terrain>>,
    cameras: Query<(&Camera, &GlobalTransform, &Projection), With<Camera3d>>,
    mut state: ResMut<TerrainViewState>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else { return };
    if state.is_new {
        state.levels = Levels::new(&terrain, &state.baseline, &state.layers);
    }
    let any_active = cameras.iter().any(|(camera, ..)| camera.is_active);
    let viewpoints = cameras
        .iter()
        .filter(|(camera, ..)| camera.is_active || !any_active)
        .map(|(_, transform, projection)| {
            let position = transform.translation();
            match projection {
                Projection::Perspective(lens) => Viewpoint::perspective(position, lens.fov),
                Projection::Orthographic(lens) => {
                    let axis = transform.forward().as_vec3();
                    Viewpoint::parallel(position, axis, lens.area.size())
                }
                Projection::Custom(_) => {
                    Viewpoint::perspective(position, PerspectiveProjection::default().fov)
                }
            }
        })
        .filter(Viewpoint::is_finite);
    let viewpoints: Vec<Viewpoint> = viewpoints.collect();
    state.levels.choose(&view.detail, &viewpoints);
}
