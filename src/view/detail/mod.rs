//! How finely each chunk is drawn: level of detail.
//!
//! A chunk of level `k` draws every 2^k-th vertex along each side, and always
//! the last one. The level grows with the distance to the nearest camera, and
//! all levels together keep within a number of triangles; see [`Detail`].
//!
//! Nothing tears: on the line between two chunks both draw the vertices of the
//! coarser one. And nothing flashes: position, normal and color of the ground
//! at a vertex are those of full resolution at any level. The water's surface
//! between far vertices needs a rule of its own for each level; a vertex goes by
//! that of the coarsest chunk that it belongs to, so all of them agree.

mod level_choice;
mod levels;
mod vertex_grid;

pub(super) use levels::{Levels, choose_levels};
pub(super) use vertex_grid::VertexGrid;

use crate::settings::Setting;
use bevy::prelude::*;

/// How finely the ground, its water and its lava are drawn.
///
/// Distances are those of a camera with Bevy's default field of view; a longer
/// lens sees farther. To draw everything in full everywhere, set both to their
/// largest values.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default)]
pub struct Detail {
    /// Distance from the camera to which chunks are drawn in full, in sides of
    /// a chunk (64 cells). Twice as far away the spacing of vertices is double,
    /// and so on. units: chunks
    #[reflect(@Setting::new("chunks", 0.5..=64.0).label("detail")
        .about("How far from the camera land is drawn in full"))]
    pub reach: f32,
    /// Triangles of ground, water and lava that are drawn at most, seen or not. If
    /// `reach` asks for more, everything is drawn more coarsely.
    pub triangles: u32,
}

impl Default for Detail {
    fn default() -> Self {
        Self {
            reach: 6.0,
            triangles: 2_000_000,
        }
    }
}

/// The level of a chunk and of those around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkDetail {
    pub(crate) own: u8,
    /// West, east, north, south.
    pub(crate) edges: [u8; 4],
    /// North-west, north-east, south-west, south-east.
    pub(crate) corners: [u8; 4],
}

impl ChunkDetail {
    /// The coarsest level: a chunk is two triangles.
    pub const COARSEST: u8 = 6;

    /// Every vertex, among chunks that are drawn so too.
    pub const FULL: Self = Self {
        own: 0,
        edges: [0; 4],
        corners: [0; 4],
    };

    /// The chunk in the middle of three by three levels, rows from north to
    /// south. Where there is no land, any level will do that is not above the
    /// chunk's own. Levels above [`COARSEST`](Self::COARSEST) are taken as that.
    pub fn among(levels: [[u8; 3]; 3]) -> Self {
        let [[nw, n, ne], [w, own, e], [sw, s, se]] =
            levels.map(|row| row.map(|level| level.min(Self::COARSEST)));
        let edges = [w, e, n, s].map(|level| level.max(own));
        let [west, east, north, south] = edges;
        Self {
            own,
            edges,
            corners: [
                nw.max(west).max(north),
                ne.max(east).max(north),
                sw.max(west).max(south),
                se.max(east).max(south),
            ],
        }
    }

    /// Four bits a level, for shaders: own, west, east, north, south; and the
    /// corners: north-west, north-east, south-west, south-east.
    pub fn packed(&self) -> [u32; 2] {
        let pack = |levels: &[u8]| {
            let bits = levels.iter().rev();
            bits.fold(0, |packed, level| packed << 4 | u32::from(*level))
        };
        let [west, east, north, south] = self.edges;
        [
            pack(&[self.own, west, east, north, south]),
            pack(&self.corners),
        ]
    }

    /// The level of the chunk itself.
    #[inline]
    pub fn level(&self) -> u8 {
        self.own
    }
}

/// Quads that one side of `quads` cells is drawn by at a level.
#[inline]
fn quads_at(quads: u32, level: u8) -> u32 {
    quads.div_ceil(1 << level)
}
