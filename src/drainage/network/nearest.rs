//! Which river is nearest to a place.

use super::{River, RiverNetwork};
use crate::terrain::Grid;
use bevy::math::{UVec2, Vec2, Vec3};

/// Side of a square in which segments are looked up together. units: cells
const SIDE: u32 = 32;

/// The place on a river that is nearest to another place, as seen from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestRiver {
    /// Number of the river.
    pub river: u32,
    /// The point upstream of the place, by its place in [`River::points`].
    pub point: u32,
    /// How far the place lies between that point and the next, 0 to 1.
    pub part: f32,
    /// World position, on the ground between the two points. units: m
    pub position: Vec3,
    /// Distance on the map. units: m
    pub distance: f32,
    /// Way along the river from its first point. units: m
    pub along: f32,
    /// Width of the river there. units: m
    pub width: f32,
    /// Water of the river there. units: m³/s
    pub discharge: f32,
}

/// The segments of all rivers by the square in which they begin.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentTiles {
    tiles: UVec2,
    /// Where each square's part begins, and the end of the last.
    starts: Vec<u32>,
    /// River and segment.
    segments: Vec<(u32, u32)>,
}

impl SegmentTiles {
    pub fn new(grid: &Grid, rivers: &[River]) -> Self {
        let tiles = (grid.size() + (SIDE - 1)) / SIDE;
        let width = grid.width();
        let tile_of = |cell: u32| {
            let (x, y) = (cell as usize % width, cell as usize / width);
            y / SIDE as usize * tiles.x as usize + x / SIDE as usize
        };
        let each = |visit: &mut dyn FnMut(usize, (u32, u32))| {
            for (number, river) in rivers.iter().enumerate() {
                let last = river.points.len().saturating_sub(1);
                for (segment, point) in river.points[..last].iter().enumerate() {
                    visit(tile_of(point.cell), (number as u32, segment as u32));
                }
            }
        };
        let mut starts = vec![0u32; (tiles.x * tiles.y) as usize + 1];
        each(&mut |tile, _| starts[tile + 1] += 1);
        for tile in 1..starts.len() {
            starts[tile] += starts[tile - 1];
        }
        let mut next = starts.clone();
        let total = starts.last().map_or(0, |&total| total as usize);
        let mut segments = vec![(0, 0); total];
        each(&mut |tile, segment| {
            segments[next[tile] as usize] = segment;
            next[tile] += 1;
        });
        Self {
            tiles,
            starts,
            segments,
        }
    }

    fn tile(&self, x: i64, y: i64) -> &[(u32, u32)] {
        let size = self.tiles.as_i64vec2();
        if x < 0 || y < 0 || x >= size.x || y >= size.y {
            return &[];
        }
        let tile = (y * size.x + x) as usize;
        &self.segments[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }
}

impl RiverNetwork {
    /// The river that is nearest to a world position on the map (its y is ignored). The
    /// place may lie beyond the land. None if there is no river, or the position is not
    /// finite. Of equally near rivers it is the first.
    pub fn nearest_river(&self, position: Vec3) -> Option<NearestRiver> {
        self.nearest_river_where(position, |_| true)
    }

    /// As [`nearest_river`](Self::nearest_river), of those rivers alone for which
    /// `accepts` says so, such as those of an order of 3 or more.
    pub fn nearest_river_where(
        &self,
        position: Vec3,
        accepts: impl Fn(&River) -> bool,
    ) -> Option<NearestRiver> {
        let at = self.grid.world_to_grid(position);
        if !at.is_finite() {
            return None;
        }
        // Nothing is nearer to a place beyond the land than to its nearest place on it.
        let inside = at.clamp(Vec2::ZERO, (self.grid.size() - 1).as_vec2());
        let (tile_x, tile_y) = (
            (inside.x as u32 / SIDE) as i64,
            (inside.y as u32 / SIDE) as i64,
        );
        let rings = self.tiles.tiles.max_element() as i64;
        let mut best: Option<Candidate> = None;
        for ring in 0..=rings {
            if let Some(best) = &best {
                // Segments reach one cell beyond their square.
                let least = (ring - 1) as f32 * SIDE as f32 - 1.5;
                if least > 0.0 && least * least > best.squared {
                    break;
                }
            }
            for y in tile_y - ring..=tile_y + ring {
                let edge = (y - tile_y).abs() == ring;
                let step = if edge || ring == 0 { 1 } else { 2 * ring };
                for x in (tile_x - ring..=tile_x + ring).step_by(step as usize) {
                    for &(river, segment) in self.tiles.tile(x, y) {
                        if accepts(&self.rivers[river as usize]) {
                            let candidate = self.candidate(at, river, segment);
                            if best.as_ref().is_none_or(|best| candidate.is_before(best)) {
                                best = Some(candidate);
                            }
                        }
                    }
                }
            }
        }
        best.map(|best| self.describe(&best))
    }

    fn candidate(&self, at: Vec2, river: u32, segment: u32) -> Candidate {
        let points = &self.rivers[river as usize].points;
        let from = self.cell_place(points[segment as usize].cell);
        let to = self.cell_place(points[segment as usize + 1].cell);
        let line = to - from;
        let part = (at - from).dot(line) / line.length_squared();
        let part = part.clamp(0.0, 1.0);
        Candidate {
            squared: (from + line * part).distance_squared(at),
            part,
            river,
            segment,
        }
    }

    fn cell_place(&self, cell: u32) -> Vec2 {
        let width = self.grid.width();
        let cell = cell as usize;
        Vec2::new((cell % width) as f32, (cell / width) as f32)
    }

    fn describe(&self, found: &Candidate) -> NearestRiver {
        let points = &self.rivers[found.river as usize].points;
        let at = found.segment as usize;
        let (from, to) = (&points[at], &points[at + 1]);
        let [here, next] = [from, to].map(|point| self.position(point.cell as usize));
        let length = |pair: &[super::RiverPoint]| {
            super::build::step_length(&self.grid, pair[0].cell as usize, pair[1].cell as usize)
        };
        let before: f64 = points[..=at].windows(2).map(length).sum();
        let rest = f64::from(found.part) * length(&points[at..=at + 1]);
        let blend = |a: f32, b: f32| a + (b - a) * found.part;
        NearestRiver {
            river: found.river,
            point: found.segment,
            part: found.part,
            position: here.lerp(next, found.part),
            distance: found.squared.sqrt() * self.grid.cell_size(),
            along: (before + rest) as f32,
            width: blend(from.width, to.width),
            discharge: blend(from.discharge, to.discharge),
        }
    }
}

/// A place on a segment. Distances are in cells.
struct Candidate {
    squared: f32,
    part: f32,
    river: u32,
    segment: u32,
}

impl Candidate {
    /// Nearer, or as near and earlier.
    fn is_before(&self, other: &Self) -> bool {
        let order = self.squared.total_cmp(&other.squared);
        let order = order.then((self.river, self.segment).cmp(&(other.river, other.segment)));
        order.is_lt()
    }
}
