//! Brings the drawn levels of detail to those that cameras ask for.

use super::{
    ChunkDetail, Detail, TerrainView, TerrainViewState,
    detail::{ChunkBox, Eye, LevelChoice},
    mesh::Baseline,
    water::{Liquid, mesh::any_deeper},
};
use crate::{
    parallel::Workers,
    terrain::{TILE, Terrain},
};
use bevy::{math::*, prelude::*};
use std::collections::BTreeSet;

/// Vertices that are built for new levels at a time, roughly, and the share of
/// them if there are more: a nearby edit must not wait for a whole land to be
/// built anew, nor must the land wait for many frames.
const VERTICES_AT_A_TIME: u32 = 40_000;
const SHARE_AT_A_TIME: u32 = 3;

/// The levels that chunks are drawn at, and those that they should be.
#[derive(Debug, Default)]
pub(super) struct Levels {
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
    is_stale: bool,
}

impl Levels {
    /// Levels for a terrain that was not drawn before. `thinnest` is the depth
    /// above which water and lava are drawn, if they are.
    pub fn new(terrain: &Terrain, baseline: &Baseline, thinnest: [Option<f32>; 2]) -> Self {
        let grid = terrain.grid();
        let chunks = grid.chunks();
        let look = |number: u32| {
            let chunk = UVec2::new(number % chunks.x, number / chunks.x);
            let (first, last) = grid.chunk_cells(chunk);
            let (low, high) = baseline.ranges[number as usize];
            let drawn = |liquid: Liquid| {
                let deeper = |thinnest| any_deeper(terrain, liquid, first, last, thinnest);
                thinnest[liquid as usize].is_some_and(deeper)
            };
            let corner = grid.chunk_corner(chunk);
            let extent = (last - first).as_vec2() * grid.cell_size();
            ChunkBox {
                lowest: corner + Vec3::Y * low,
                highest: corner + Vec3::new(extent.x, high, extent.y),
                quads: last - first,
                liquids: [Liquid::Water, Liquid::Lava].map(drawn),
            }
        };
        let mut boxes = vec![None; chunks.element_product() as usize];
        let rows = (0..).step_by(chunks.x.max(1) as usize);
        let rows = rows.zip(boxes.chunks_mut(chunks.x.max(1) as usize));
        Workers::global().each(rows, |(first, row)| {
            for (number, place) in (first..).zip(row) {
                *place = Some(look(number));
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
    pub fn level(&self, number: usize) -> Option<u8> {
        self.drawn.get(number).copied()
    }

    /// Whether all chunks have the levels that they should have.
    pub fn is_settled(&self) -> bool {
        !self.is_stale && self.drawn == self.choice.levels()
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

    /// Notes the heights between which a chunk was drawn, in the world. units: m
    pub fn note_heights(&mut self, number: usize, lowest: f32, highest: f32) {
        if let Some(chunk) = self.boxes.get_mut(number) {
            (chunk.lowest.y, chunk.highest.y) = (lowest, highest);
        }
    }

    /// Notes whether a chunk's water or lava is drawn.
    pub fn note_liquid(&mut self, number: usize, liquid: Liquid, drawn: bool) {
        if let Some(chunk) = self.boxes.get_mut(number) {
            let known = &mut chunk.liquids[liquid as usize];
            self.is_stale |= *known != drawn;
            *known = drawn;
        }
    }

    /// Chooses levels for these cameras, if there is a reason to.
    fn choose(&mut self, detail: &Detail, eyes: &[Eye]) {
        let is_new = self.drawn.len() != self.boxes.len();
        let stands = self.detail == *detail && self.choice.stands(eyes, self.side);
        // In rain some chunk or other turns wet in every frame.
        let is_too_much = self.is_stale && !self.choice.suffices(detail, &self.boxes);
        self.is_stale = false;
        if is_new || is_too_much || !stands {
            self.choice.choose(detail, self.side, &self.boxes, eyes);
            self.detail = *detail;
        }
        if is_new {
            self.drawn = self.choice.levels().to_vec();
        }
    }

    /// Takes on some of the levels that are asked for, and returns the chunks
    /// to be drawn anew for it: those, and the ones whose edges change with
    /// them. Whichever are taken, all edges fit.
    pub fn advance(&mut self) -> BTreeSet<usize> {
        let mut touched = BTreeSet::new();
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
                if self.detail(near) != before && touched.insert(near) {
                    vertices += self.boxes[near].vertices(self.drawn[near]);
                }
            }
        }
        touched
    }

    /// A chunk and those around it.
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
pub(super) fn choose_levels(
    view: Res<TerrainView>,
    cameras: Query<(&Camera, &GlobalTransform, &Projection), With<Camera3d>>,
    mut state: ResMut<TerrainViewState>,
) {
    let any_active = cameras.iter().any(|(camera, ..)| camera.is_active);
    let eyes = cameras
        .iter()
        .filter(|(camera, ..)| camera.is_active || !any_active)
        .map(|(_, transform, projection)| {
            let position = transform.translation();
            match projection {
                Projection::Perspective(lens) => Eye::perspective(position, lens.fov),
                Projection::Orthographic(lens) => {
                    let axis = transform.forward().as_vec3();
                    Eye::parallel(position, axis, lens.area.size())
                }
                Projection::Custom(_) => {
                    Eye::perspective(position, PerspectiveProjection::default().fov)
                }
            }
        })
        .filter(Eye::is_finite);
    let eyes: Vec<Eye> = eyes.collect();
    state.levels.choose(&view.detail, &eyes);
}
