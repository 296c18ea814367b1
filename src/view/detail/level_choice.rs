//! Chooses the levels of all chunks, by distance and within a budget.

use super::{ChunkDetail, Detail, quads_at};
use bevy::math::*;

/// A level stays until the distance is past its threshold by this much, in
/// levels: nothing flickers where a camera hovers on a threshold.
const HYSTERESIS: f32 = 0.12;

/// Steps in which everything is made coarser, or finer again. units: levels
const BIAS_STEP: f32 = 0.25;

/// Everything is made finer again if it takes no more than this share of the
/// triangles.
const REFINE_BELOW: f32 = 0.9;

/// A camera that moved less far than this is where it was. units: sides of a chunk
const MIN_MOVE: f32 = 1.0 / 64.0;

/// Half of Bevy's default field of view, as a slope.
const DEFAULT_LENS: f32 = 0.414_213_56;

/// The position and lens of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::view) struct Viewpoint {
    position: Vec3,
    lens: Lens,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lens {
    /// Sees what is near larger; distances count so many times.
    Perspective(f32),
    /// Sees everything within `reach` of its axis as from one distance.
    Parallel {
        axis: Vec3,
        reach: f32,
        distance: f32,
    },
}

impl Viewpoint {
    /// A camera with a vertical field of view. units: m, radians
    pub fn perspective(position: Vec3, field_of_view: f32) -> Self {
        let lens = (0.5 * field_of_view).tan() / DEFAULT_LENS;
        let lens = Lens::Perspective(lens.clamp(1e-3, 1e3));
        Self { position, lens }
    }

    /// A camera without perspective, that sees so many metres of width and
    /// height along an axis.
    pub fn parallel(position: Vec3, axis: Vec3, seen: Vec2) -> Self {
        let lens = Lens::Parallel {
            axis,
            reach: 0.5 * seen.length(),
            distance: 0.5 * seen.y.abs() / DEFAULT_LENS,
        };
        Self { position, lens }
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let lens = match self.lens {
            Lens::Perspective(lens) => lens.is_finite(),
            Lens::Parallel { axis, reach, .. } => axis.is_finite() && reach.is_finite(),
        };
        lens && self.position.is_finite()
    }

    #[inline]
    fn distance(&self, chunk: &ChunkBox) -> f32 {
        match self.lens {
            Lens::Perspective(lens) => {
                let nearest = self.position.clamp(chunk.lowest, chunk.highest);
                nearest.distance(self.position) * lens
            }
            Lens::Parallel {
                axis,
                reach,
                distance,
            } => {
                // What lies aside of the picture may be coarser.
                let middle = 0.5 * (chunk.lowest + chunk.highest) - self.position;
                let aside = (middle - axis * middle.dot(axis)).length();
                let size = 0.5 * chunk.lowest.distance(chunk.highest);
                distance + (aside - size - reach).max(0.0)
            }
        }
    }

    fn is_near(&self, other: &Self, near: f32) -> bool {
        self.position.distance(other.position) <= near && self.lens == other.lens
    }
}

/// Where a chunk lies, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::view) struct ChunkBox {
    /// Bounds in the world. units: m
    pub lowest: Vec3,
    pub highest: Vec3,
    /// Quads along x and y at full resolution.
    pub quads: UVec2,
    /// The layers that are drawn, a bit each by number.
    pub layers: u32,
}

impl ChunkBox {
    /// Vertices of the ground at a level.
    #[inline]
    pub fn vertices(&self, level: u8) -> u32 {
        (quads_at(self.quads.x, level) + 1) * (quads_at(self.quads.y, level) + 1)
    }

    /// Triangles at a level, at most.
    #[inline]
    fn triangles(&self, level: u8) -> u64 {
        let quads = quads_at(self.quads.x, level) * quads_at(self.quads.y, level);
        2 * u64::from(quads) * u64::from(self.layers.count_ones())
    }
}

/// The level that each chunk should have.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct LevelChoice {
    levels: Vec<u8>,
    /// How much coarser than by distance everything is. units: levels
    bias: f32,
    viewpoints: Vec<Viewpoint>,
    /// The level of each chunk by its distance alone, with its fraction.
    distances: Vec<f32>,
}

impl LevelChoice {
    /// The levels, one a chunk.
    pub fn levels(&self) -> &[u8] {
        &self.levels
    }

    /// How far away a chunk is: each doubling counts one.
    pub fn distance(&self, number: usize) -> f32 {
        self.distances.get(number).copied().unwrap_or_default()
    }

    /// Whether levels that nothing had to make coarser still are not too much.
    pub fn suffices(&self, detail: &Detail, chunks: &[ChunkBox]) -> bool {
        let triangles = self.levels.iter().zip(chunks);
        let triangles = triangles.map(|(level, chunk)| chunk.triangles(*level));
        self.bias == 0.0 && triangles.sum::<u64>() <= u64::from(detail.triangles)
    }

    /// Whether cameras moved so little since the last choice that it stands.
    pub fn stands(&self, viewpoints: &[Viewpoint], side: f32) -> bool {
        let pairs = || self.viewpoints.iter().zip(viewpoints);
        self.viewpoints.len() == viewpoints.len()
            && pairs().all(|(a, b)| a.is_near(b, MIN_MOVE * side))
    }

    /// Chooses anew, for chunks with a side of `side` metres.
    pub fn choose(
        &mut self,
        detail: &Detail,
        side: f32,
        chunks: &[ChunkBox],
        viewpoints: &[Viewpoint],
    ) {
        self.viewpoints = viewpoints.to_vec();
        let reach = side
            * if detail.reach > 1e-3 {
                detail.reach
            } else {
                1e-3
            };
        // Finite, so that the budget can make anything coarser.
        let coarsest = f32::from(ChunkDetail::COARSEST);
        self.distances = chunks
            .iter()
            .map(|chunk| {
                let distances = viewpoints.iter().map(|viewpoint| viewpoint.distance(chunk));
                let nearest = distances.fold(f32::INFINITY, f32::min);
                // Seen by nobody, everything is well within reach.
                let level = match viewpoints.is_empty() {
                    true => -0.5,
                    false => (nearest / reach).log2(),
                };
                level.clamp(-coarsest, 2.0 * coarsest)
            })
            .collect();
        let is_new = self.levels.len() != chunks.len();
        let at = |bias: f32, old: &[u8]| -> (Vec<u8>, u64) {
            let mut triangles = 0;
            let levels = self.distances.iter().zip(chunks).enumerate();
            let levels = levels.map(|(number, (distance, chunk))| {
                let level = |exact: f32| exact.ceil().clamp(0.0, coarsest) as u8;
                let exact = distance + bias;
                let mut chosen = level(exact);
                if !is_new
                    && (level(exact - HYSTERESIS)..=level(exact + HYSTERESIS))
                        .contains(&old[number])
                {
                    chosen = old[number];
                }
                triangles += chunk.triangles(chosen);
                chosen
            });
            (levels.collect(), triangles)
        };

        let budget = u64::from(detail.triangles);
        let mut bias = if is_new { 0.0 } else { self.bias };
        let mut best = at(bias, &self.levels);
        if best.1 > budget {
            // At the end everything is as coarse as can be.
            while best.1 > budget && bias <= 2.0 * coarsest + 1.0 {
                bias += BIAS_STEP;
                best = at(bias, &self.levels);
            }
        } else {
            let refine_below = (budget as f32 * REFINE_BELOW) as u64;
            while bias > 0.0 {
                let finer = at(bias - BIAS_STEP, &self.levels);
                if finer.1 > refine_below {
                    break;
                }
                (bias, best) = (bias - BIAS_STEP, finer);
            }
        }
        self.bias = bias;
        self.levels = best.0;
    }
}
