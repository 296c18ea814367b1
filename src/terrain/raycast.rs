//! Rays against the ground, exact on the triangles that are drawn.
//!
//! A ray walks over tiles, over blocks of 8 × 8 quads and over quads, and leaves
//! out what lies wholly below or above it. The bounds that this needs are found
//! when a ray first comes by, and again only after the tile has changed.
//!
//! Within a quad the height of the ray over the ground is linear on each side of
//! the diagonal, so a change of its sign is a hit. Neighbors share the values on
//! their common edge: no ray slips between them.

use super::{Grid, TILE, Terrain};
use bevy::math::*;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Quads along the side of a block, and blocks along that of a tile.
const BLOCK: u32 = 8;
const BLOCKS: u32 = TILE / BLOCK;

/// Where a ray meets the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TerrainHit {
    /// World position. units: m
    pub position: Vec3,
    /// Upward unit normal of the triangle.
    pub normal: Vec3,
    /// From the ray's origin, in lengths of its direction: metres for a unit one.
    pub distance: f32,
    /// The nearest cell.
    pub cell: UVec2,
}

/// Lowest and highest ground of tiles and blocks. Interior mutability, so that
/// reading a terrain stays possible from many threads: who finds a tile out of
/// date writes the same values as anybody else would.
#[derive(Debug)]
pub(super) struct HeightBounds {
    tiles: Vec<TileBounds>,
}

#[derive(Debug)]
struct TileBounds {
    /// Newest revision of the cells that the bounds were made of.
    revision: AtomicU64,
    whole: Bounds,
    blocks: [Bounds; (BLOCKS * BLOCKS) as usize],
}

/// Two floats as bits.
#[derive(Debug, Default)]
struct Bounds {
    low: AtomicU32,
    high: AtomicU32,
}

impl Bounds {
    #[inline]
    fn set(&self, low: f32, high: f32) {
        self.low.store(low.to_bits(), Ordering::Relaxed);
        self.high.store(high.to_bits(), Ordering::Relaxed);
    }

    /// Whether heights from one to another may meet the ground here.
    #[inline]
    fn meet(&self, from: f32, to: f32) -> bool {
        let low = f32::from_bits(self.low.load(Ordering::Relaxed));
        let high = f32::from_bits(self.high.load(Ordering::Relaxed));
        from.min(to) <= high && from.max(to) >= low
    }
}

impl HeightBounds {
    pub fn new(grid: &Grid) -> Self {
        Self::of_chunks(grid.chunks().element_product() as usize)
    }

    /// Bounds that nobody has found yet.
    fn of_chunks(chunks: usize) -> Self {
        let tile = |_| TileBounds {
            revision: AtomicU64::new(0),
            whole: Bounds::default(),
            blocks: core::array::from_fn(|_| Bounds::default()),
        };
        Self {
            tiles: (0..chunks).map(tile).collect(),
        }
    }
}

impl Clone for HeightBounds {
    /// A copy finds its bounds anew.
    fn clone(&self) -> Self {
        Self::of_chunks(self.tiles.len())
    }
}

/// A ray in grid coordinates: quad (i, j) lies between cells (i, j) and
/// (i + 1, j + 1), heights count from the grid's origin.
struct GridRay {
    from: DVec3,
    along: DVec3,
}

impl GridRay {
    #[inline]
    fn height(&self, t: f64) -> f64 {
        self.from.y + self.along.y * t
    }

    #[inline]
    fn place(&self, t: f64) -> DVec2 {
        self.from.xz() + self.along.xz() * t
    }

    /// The part of `t` in which the ray is over a rectangle.
    #[inline]
    fn within(&self, low: DVec2, high: DVec2, [mut start, mut end]: [f64; 2]) -> Option<[f64; 2]> {
        for (from, along, low, high) in [
            (self.from.x, self.along.x, low.x, high.x),
            (self.from.z, self.along.z, low.y, high.y),
        ] {
            if along == 0.0 {
                if from < low || from > high {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low - from) / along, (high - from) / along);
            start = start.max(a.min(b));
            end = end.min(a.max(b));
        }
        (start <= end).then_some([start, end])
    }

    /// Visits the squares of a side that the ray crosses between two `t`, in
    /// order, until one gives a result.
    fn walk<R>(
        &self,
        side: f64,
        [start, end]: [f64; 2],
        low: IVec2,
        high: IVec2,
        mut visit: impl FnMut(IVec2, [f64; 2]) -> Option<R>,
    ) -> Option<R> {
        let at = self.place(start);
        let clamp = |square: DVec2| square.floor().as_ivec2().clamp(low, high);
        let mut square = clamp(at / side);
        let step = DVec2::new(self.along.x, self.along.z);
        let way = IVec2::new(sign(step.x), sign(step.y));
        // `t` at the square's far edges.
        let far = |square: i32, from: f64, along: f64| {
            let edge = if along > 0.0 { square + 1 } else { square };
            match along == 0.0 {
                true => f64::INFINITY,
                false => (f64::from(edge) * side - from) / along,
            }
        };
        let mut now = start;
        loop {
            let next = DVec2::new(
                far(square.x, self.from.x, step.x),
                far(square.y, self.from.z, step.y),
            );
            let leave = next.x.min(next.y).clamp(now, end);
            let found = visit(square, [now, leave]);
            if found.is_some() || leave >= end {
                return found;
            }
            if next.x <= next.y {
                square.x += way.x;
            } else {
                square.y += way.y;
            }
            if square.cmplt(low).any() || square.cmpgt(high).any() {
                return None;
            }
            now = leave;
        }
    }
}

#[inline]
fn sign(value: f64) -> i32 {
    if value > 0.0 { 1 } else { -1 }
}

impl Terrain {
    /// Where a ray first meets the ground, from above or from below, up to
    /// `far` lengths of its direction. Exact on the triangles that are drawn
    /// at full detail; the half cell around the outermost centers has none.
    /// What is not finite hits nothing.
    pub fn raycast(&self, ray: Ray3d, far: f32) -> Option<TerrainHit> {
        let grid = self.grid();
        let chunks = grid.chunks();
        if chunks.min_element() == 0 || !(ray.origin.is_finite() && far >= 0.0) {
            return None;
        }
        let l = f64::from(grid.cell_size());
        let corner = grid.cell_center(0, 0).as_dvec3();
        let from = ray.origin.as_dvec3() - corner;
        let along = ray.direction.as_dvec3();
        let local = GridRay {
            from: DVec3::new(from.x / l, from.y, from.z / l),
            along: DVec3::new(along.x / l, along.y, along.z / l),
        };
        let quads = (grid.size() - 1).as_dvec2();
        // Endless rays would have endless heights.
        let far = f64::from(far).min(1e9);
        let whole = local.within(DVec2::ZERO, quads, [0.0, far])?;
        let last_quad = (grid.size() - 2).as_ivec2();
        let t = local.walk(
            f64::from(TILE),
            whole,
            IVec2::ZERO,
            chunks.as_ivec2() - 1,
            |chunk, part| {
                let bounds = self.bounds_of(chunk.as_uvec2());
                if !meets(&bounds.whole, &local, part) {
                    return None;
                }
                let first = chunk * BLOCKS as i32;
                local.walk(
                    f64::from(BLOCK),
                    part,
                    first,
                    first + BLOCKS as i32 - 1,
                    |block, part| {
                        let inner = block - first;
                        let number = inner.y * BLOCKS as i32 + inner.x;
                        if !meets(&bounds.blocks[number as usize], &local, part) {
                            return None;
                        }
                        let low = block * BLOCK as i32;
                        let high = (low + BLOCK as i32 - 1).min(last_quad);
                        local.walk(1.0, part, low, high, |quad, part| {
                            self.cross_quad(&local, quad.as_uvec2(), part)
                        })
                    },
                )
            },
        )?;
        let (distance, quad, lower) = t;
        let place = local.place(distance);
        let position = DVec3::new(place.x * l, local.height(distance), place.y * l) + corner;
        Some(TerrainHit {
            position: position.as_vec3(),
            normal: self.triangle_normal(quad, lower),
            distance: distance as f32,
            cell: place.round().as_uvec2().min(grid.size() - 1),
        })
    }

    /// The bounds of a chunk, brought up to date if a ray is the first to see
    /// its newest change.
    fn bounds_of(&self, chunk: UVec2) -> &TileBounds {
        let grid = self.grid();
        let bounds = &self.bounds.tiles[(chunk.y * grid.chunks().x + chunk.x) as usize];
        let newest = self.tiles.newest_around(chunk);
        if bounds.revision.load(Ordering::Acquire) == newest {
            return bounds;
        }
        let (first, last) = grid.chunk_cells(chunk);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        for number in 0..BLOCKS * BLOCKS {
            let from = first + UVec2::new(number % BLOCKS, number / BLOCKS) * BLOCK;
            let to = (from + BLOCK).min(last);
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            // Blocks beyond the last cell stay empty: nothing meets them.
            for y in from.y..=to.y {
                if from.x > to.x {
                    break;
                }
                let row = grid.index(from.x, y)..grid.index(to.x, y) + 1;
                let layers = self.bedrock[row.clone()].iter().zip(&self.soil[row]);
                for (bedrock, soil) in layers {
                    low = low.min(bedrock + soil);
                    high = high.max(bedrock + soil);
                }
            }
            bounds.blocks[number as usize].set(low, high);
            lowest = lowest.min(low);
            highest = highest.max(high);
        }
        bounds.whole.set(lowest, highest);
        bounds.revision.store(newest, Ordering::Release);
        bounds
    }

    /// Ground of a quad's corners: north-west, north-east, south-west, south-east.
    #[inline]
    fn corners(&self, quad: UVec2) -> [f64; 4] {
        let cell = self.grid().index(quad.x, quad.y);
        let below = cell + self.grid().width();
        [cell, cell + 1, below, below + 1].map(|i| f64::from(self.ground(i)))
    }

    /// Where the ray's height over a quad changes its sign: `t`, the quad, and
    /// whether it is on the triangle south-east of the diagonal.
    fn cross_quad(
        &self,
        ray: &GridRay,
        quad: UVec2,
        [start, end]: [f64; 2],
    ) -> Option<(f64, UVec2, bool)> {
        let [nw, ne, sw, se] = self.corners(quad);
        let corner = quad.as_dvec2();
        let over = |t: f64| {
            let at = (ray.place(t) - corner).clamp(DVec2::ZERO, DVec2::ONE);
            let ground = if at.x + at.y <= 1.0 {
                nw + (ne - nw) * at.x + (sw - nw) * at.y
            } else {
                se + (sw - se) * (1.0 - at.x) + (ne - se) * (1.0 - at.y)
            };
            ray.height(t) - ground
        };
        let sum = |t: f64| {
            let at = ray.place(t) - corner;
            at.x + at.y - 1.0
        };
        // The part on each side of the diagonal.
        let (a, b) = (sum(start), sum(end));
        let middle = match (a < 0.0) != (b < 0.0) {
            true => (start + (end - start) * (a / (a - b))).clamp(start, end),
            false => end,
        };
        for (from, to) in [(start, middle), (middle, end)] {
            let (before, after) = (over(from), over(to));
            if (before > 0.0) != (after > 0.0) || before == 0.0 {
                let share = match before == after {
                    true => 0.0,
                    false => (before / (before - after)).clamp(0.0, 1.0),
                };
                let t = from + (to - from) * share;
                let lower = sum(0.5 * (from + to)) > 0.0;
                return Some((t, quad, lower));
            }
            if middle == end {
                break;
            }
        }
        None
    }

    fn triangle_normal(&self, quad: UVec2, lower: bool) -> Vec3 {
        let [nw, ne, sw, se] = self.corners(quad);
        let l = f64::from(self.cell_size());
        let (rise_x, rise_z) = match lower {
            false => (ne - nw, sw - nw),
            true => (se - sw, se - ne),
        };
        DVec3::new(-rise_x / l, 1.0, -rise_z / l)
            .normalize()
            .as_vec3()
    }
}

#[inline]
fn meets(bounds: &Bounds, ray: &GridRay, [start, end]: [f64; 2]) -> bool {
    // Rounded outwards: a ray that grazes the highest ground still meets it.
    let (from, to) = (ray.height(start), ray.height(end));
    let margin = 1e-4 + 1e-6 * from.abs().max(to.abs());
    let (low, high) = (from.min(to) - margin, from.max(to) + margin);
    bounds.meet(low as f32, high as f32)
}
