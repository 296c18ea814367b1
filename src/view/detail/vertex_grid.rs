//! Which vertices a chunk is drawn by, and the triangles between them.

use super::ChunkDetail;
use bevy::math::*;

const WEST: usize = 0;
const EAST: usize = 1;
const NORTH: usize = 2;
const SOUTH: usize = 3;

/// Stands for a vertex that is left out.
const NONE: u16 = u16::MAX;

/// The vertices of a chunk at its level, edges thinned out as coarser
/// neighbors ask for.
#[derive(Clone, Debug)]
pub(in crate::view) struct VertexGrid {
    detail: ChunkDetail,
    /// Cells, counted from the chunk's first, in which vertices lie.
    columns: Vec<u32>,
    rows: Vec<u32>,
}

/// A vertex on a line: where it lies on it, and its number.
type EdgeVertex = (u32, u16);

impl VertexGrid {
    /// Vertices of a chunk of this many cells between its first and its last.
    pub fn new(quads: UVec2, detail: ChunkDetail) -> Self {
        let line = |quads: u32| {
            let inner = (0..quads).step_by(1 << detail.own);
            inner.chain([quads]).collect()
        };
        Self {
            detail,
            columns: line(quads.x),
            rows: line(quads.y),
        }
    }

    /// Vertices there are at most.
    pub fn capacity(&self) -> usize {
        self.columns.len() * self.rows.len()
    }

    /// Calls `visit` with the place of each vertex, counted in cells from the
    /// chunk's first, and the level by whose rule it is computed.
    #[inline]
    pub fn each_vertex(&self, mut visit: impl FnMut(UVec2, u8)) {
        for (j, &y) in self.rows.iter().enumerate() {
            for (i, &x) in self.columns.iter().enumerate() {
                if let Some(level) = self.level(i, j) {
                    visit(UVec2::new(x, y), level);
                }
            }
        }
    }

    /// The level of a vertex; none if a coarser neighbor leaves it out.
    #[inline]
    fn level(&self, i: usize, j: usize) -> Option<u8> {
        let (right, bottom) = (self.columns.len() - 1, self.rows.len() - 1);
        let (on_x, on_y) = (i == 0 || i == right, j == 0 || j == bottom);
        let edge = |side: usize, at: u32| {
            let level = self.detail.edges[side];
            at.is_multiple_of(1 << level).then_some(level)
        };
        match (on_x, on_y) {
            (false, false) => Some(self.detail.own),
            (true, true) => {
                Some(self.detail.corners[usize::from(i == right) + 2 * usize::from(j == bottom)])
            }
            (true, false) => edge(if i == 0 { WEST } else { EAST }, self.rows[j]),
            (false, true) => edge(if j == 0 { NORTH } else { SOUTH }, self.columns[i]),
        }
    }

    /// Calls `put` with the triangles of each quad, split along the diagonal
    /// from +X to +Z, and with each triangle that leads over to a coarser edge.
    pub fn each_patch(&self, mut put: impl FnMut(&[[u16; 3]])) {
        let numbers = self.numbers();
        let pitch = self.columns.len();
        let (right, bottom) = (pitch - 1, self.rows.len() - 1);
        let column = |i: usize, rows: core::ops::RangeInclusive<usize>| -> Vec<EdgeVertex> {
            let vertices = rows.map(|j| (self.rows[j], numbers[j * pitch + i]));
            vertices.filter(|&(_, number)| number != NONE).collect()
        };
        let row = |j: usize, columns: core::ops::RangeInclusive<usize>| -> Vec<EdgeVertex> {
            let vertices = columns.map(|i| (self.columns[i], numbers[j * pitch + i]));
            vertices.filter(|&(_, number)| number != NONE).collect()
        };
        // An edge of one quad is the same at any coarser level.
        let thinned = |side: usize, quads: usize| {
            usize::from(quads > 1 && self.detail.edges[side] > self.detail.own)
        };
        let west = thinned(WEST, bottom);
        let east = thinned(EAST, bottom);
        let north = thinned(NORTH, right);
        let south = thinned(SOUTH, right);
        // One quad wide: no vertex lies between two opposite edges.
        if right == 1 && west + east > 0 {
            return bridge(&column(0, 0..=bottom), &column(1, 0..=bottom), |t| {
                put(&[t])
            });
        }
        if bottom == 1 && north + south > 0 {
            let (from, to) = (row(0, 0..=right), row(1, 0..=right));
            return bridge(&from, &to, |[a, b, c]| put(&[[a, c, b]]));
        }
        for j in north..bottom - south {
            for i in west..right - east {
                let north_west = numbers[j * pitch + i];
                let north_east = numbers[j * pitch + i + 1];
                let south_west = numbers[(j + 1) * pitch + i];
                let south_east = numbers[(j + 1) * pitch + i + 1];
                put(&[
                    [north_west, south_west, north_east],
                    [north_east, south_west, south_east],
                ]);
            }
        }
        // A strip along each thinned edge, mitred where two of them meet.
        let (rows, columns) = (north..=bottom - south, west..=right - east);
        if west == 1 {
            let (from, to) = (column(0, 0..=bottom), column(1, rows.clone()));
            bridge(&from, &to, |t| put(&[t]));
        }
        if east == 1 {
            let (from, to) = (column(right - 1, rows), column(right, 0..=bottom));
            bridge(&from, &to, |t| put(&[t]));
        }
        if north == 1 {
            let (from, to) = (row(0, 0..=right), row(1, columns.clone()));
            bridge(&from, &to, |[a, b, c]| put(&[[a, c, b]]));
        }
        if south == 1 {
            let (from, to) = (row(bottom - 1, columns), row(bottom, 0..=right));
            bridge(&from, &to, |[a, b, c]| put(&[[a, c, b]]));
        }
    }

    /// The number of each place's vertex in the order of
    /// [`each_vertex`](Self::each_vertex).
    fn numbers(&self) -> Vec<u16> {
        let mut next = 0;
        let mut numbers = Vec::with_capacity(self.capacity());
        for j in 0..self.rows.len() {
            for i in 0..self.columns.len() {
                let there = self.level(i, j).is_some();
                numbers.push(if there { next } else { NONE });
                next += u16::from(there);
            }
        }
        numbers
    }
}

/// Fills the strip between two lines of vertices with triangles, the shorter
/// diagonal first. They face up if the lines run along +Z and `to` lies east of
/// `from`, and down if they run along +X and `to` lies south.
#[inline]
fn bridge(from: &[EdgeVertex], to: &[EdgeVertex], mut put: impl FnMut([u16; 3])) {
    let (mut i, mut j) = (0, 0);
    while i + 1 < from.len() || j + 1 < to.len() {
        let onward_from = match (from.get(i + 1), to.get(j + 1)) {
            (Some(a), Some(b)) => a.0.abs_diff(to[j].0) <= b.0.abs_diff(from[i].0),
            (ahead, _) => ahead.is_some(),
        };
        if onward_from {
            put([from[i].1, from[i + 1].1, to[j].1]);
            i += 1;
        } else {
            put([from[i].1, to[j + 1].1, to[j].1]);
            j += 1;
        }
    }
}
