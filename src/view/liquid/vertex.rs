//! Where the surface of a liquid lies at a vertex, and what it carries there.

use crate::{
    terrain::Grid,
    view::{colors::ramp, surface::Cells, water::foam::foam},
};
use bevy::math::*;

/// A dry vertex beside water lies at least this far below the ground, and at
/// most that far where the land falls away. units: m
pub(crate) const SINK: (f32, f32) = (0.02, 0.3);

/// Cells to either side that a rule looks at, at most; its normals look twice
/// as far. So a chunk depends on no tile beyond those around its own.
pub(crate) const WIDEST: u32 = 31;

/// Cells to either side in which a coarse vertex looks for a stream, at most:
/// from where still more lie between vertices, none can be seen.
pub(crate) const WIDEST_STREAM: u32 = 4;

/// Speeds between which water counts as running more and more. units: m/s
pub(crate) const RUNNING: (f32, f32) = (0.2, 0.8);

/// Depths between which a brook of one cell spreads over its banks more and more.
/// units: m
pub(crate) const BROOK: (f32, f32) = (0.6, 0.2);

/// A vertex of the surface.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vertex {
    pub height: f32,
    pub normal: Vec3,
    pub depth: f32,
    pub share: f32,
    pub velocity: Vec2,
    /// How much of it is white, 0 to 1.
    pub foam: f32,
    /// Whether there is water to be seen; a surface ends at vertices without.
    pub is_wet: bool,
}

/// How vertices of a level are computed. Chunks that share a vertex use the
/// same rule on the same cells in the same order, so they agree bit by bit.
pub(super) struct Rule {
    /// Last cell of the land.
    last: UVec2,
    cell_size: f32,
    /// Cells to the vertices around.
    reach: u32,
    /// Cells to either side in which streams count; none at full resolution.
    stream: u32,
    min_depth: f32,
    /// Speed that the liquid loses where it is all white, if it foams. units: m/s
    foam_speed: Option<f32>,
}

/// Sums over wet cells.
#[derive(Clone, Copy, Debug, Default)]
struct Wet {
    count: f32,
    level: f32,
    depth: f32,
    deepest: f32,
    share: f32,
    velocity: Vec2,
    foam: f32,
}

impl Wet {
    #[inline]
    fn mean(&self, sum: f32) -> f32 {
        sum / self.count.max(1.0)
    }

    /// How much the water runs, 0 to 1.
    #[inline]
    fn runs(&self) -> f32 {
        ramp(self.mean(self.velocity.length()), RUNNING.0, RUNNING.1)
    }
}

impl Rule {
    /// The rule of a level.
    pub fn new(grid: &Grid, level: u8, min_depth: f32, foam_speed: Option<f32>) -> Self {
        Self {
            last: grid.size() - 1,
            cell_size: grid.cell_size(),
            reach: (1 << level).min(WIDEST),
            stream: ((1 << level) / 2).min(WIDEST_STREAM),
            min_depth,
            foam_speed,
        }
    }

    /// How much of the liquid in a cell is white.
    fn foam(&self, cells: &impl Cells, at: UVec2) -> f32 {
        // Whatever the level: cells far apart do not tell where water breaks.
        let foam_of = |speed| foam(cells, at, self.last, self.cell_size, speed);
        self.foam_speed.map_or(0.0, foam_of)
    }

    /// Visits the wet cells of a square around a cell, `step` apart.
    #[inline]
    fn each_wet(
        &self,
        cells: &impl Cells,
        at: UVec2,
        (reach, step): (u32, u32),
        mut visit: impl FnMut(u32, u32, f32),
    ) {
        let line = |at: u32, last: u32| {
            let (at, reach) = (at as i32, reach as i32);
            (at - reach..=at + reach)
                .step_by(step as usize)
                .filter(move |place| (0..=last as i32).contains(place))
        };
        for y in line(at.y, self.last.y) {
            for x in line(at.x, self.last.x) {
                let (x, y) = (x as u32, y as u32);
                let depth = cells.depth(x, y);
                if depth > 0.0 {
                    visit(x, y, depth);
                }
            }
        }
    }

    #[inline]
    fn wet(&self, cells: &impl Cells, at: UVec2, square: (u32, u32)) -> Wet {
        let mut wet = Wet::default();
        self.each_wet(cells, at, square, |x, y, depth| {
            wet.count += 1.0;
            wet.level += cells.ground(x, y) + depth;
            wet.depth += depth;
            wet.deepest = wet.deepest.max(depth);
            wet.share += cells.share(x, y);
            wet.velocity += cells.velocity(x, y);
            wet.foam += self.foam(cells, UVec2::new(x, y));
        });
        wet
    }

    /// The level that water has in a cell, or would have if that of the
    /// vertices around it went on; NaN far from water.
    #[inline]
    fn level(&self, cells: &impl Cells, at: UVec2) -> f32 {
        let depth = cells.depth(at.x, at.y);
        if depth > 0.0 {
            return cells.ground(at.x, at.y) + depth;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        self.each_wet(cells, at, (self.reach, self.reach), |x, y, depth| {
            sum += cells.ground(x, y) + depth;
            count += 1.0;
        });
        // None around: zero by zero is the NaN that says so.
        sum / count
    }

    /// The surface at a cell's center.
    pub fn vertex(&self, cells: &impl Cells, at: UVec2) -> Vertex {
        let depth = cells.depth(at.x, at.y);
        let ground = cells.ground(at.x, at.y);
        if depth > 0.0 {
            let level = ground + depth;
            return Vertex {
                height: level,
                normal: self.normal(cells, at, level),
                depth,
                share: cells.share(at.x, at.y),
                velocity: cells.velocity(at.x, at.y),
                foam: self.foam(cells, at),
                is_wet: true,
            };
        }
        if let Some(stream) = self.stream(cells, at, ground) {
            return stream;
        }
        let wet = self.wet(cells, at, (self.reach, self.reach));
        // None around: zero by zero is the NaN that says so.
        let level = wet.level / wet.count;
        let normal = self.normal(cells, at, level);
        // The water's level goes on into the bank and meets the ground where
        // real water would. Where the land falls away instead, the surface
        // follows it down: it must not hang over dry ground.
        let buried = ground - wet.mean(wet.depth).clamp(SINK.0, SINK.1);
        // `min` drops the NaN of a vertex far from water.
        let level = level.min(buried);
        // A brook that is a cell wide would be a thread between its banks: it
        // spreads over them instead, too thin for anyone to see it climb.
        let height = level + (buried - level) * wet.runs() * ramp(wet.deepest, BROOK.0, BROOK.1);
        Vertex {
            height,
            normal,
            depth: height - ground,
            share: wet.mean(wet.share),
            velocity: wet.velocity / wet.count.max(1.0),
            foam: wet.mean(wet.foam),
            is_wet: false,
        }
    }

    /// A stream that runs between coarse vertices would be drawn in dashes or
    /// not at all. It is spread over the vertices beside it instead, as thinly
    /// as its water allows: so it pales with the distance as it should.
    #[inline]
    fn stream(&self, cells: &impl Cells, at: UVec2, ground: f32) -> Option<Vertex> {
        if self.stream == 0 {
            return None;
        }
        let wet = self.wet(cells, at, (self.stream, 1));
        let side = (2 * self.stream + 1) as f32;
        let depth = wet.depth / (side * side) * wet.runs();
        (depth > self.min_depth).then(|| Vertex {
            height: ground + depth,
            normal: self.normal(cells, at, wet.level / wet.count),
            depth,
            share: wet.mean(wet.share),
            velocity: wet.velocity / wet.count.max(1.0),
            foam: wet.mean(wet.foam),
            is_wet: true,
        })
    }

    /// Upward normal of the surface; land around is as level as the water.
    #[inline]
    fn normal(&self, cells: &impl Cells, at: UVec2, own: f32) -> Vec3 {
        if own.is_nan() {
            return Vec3::Y;
        }
        let level = |x: u32, y: u32| match self.level(cells, UVec2::new(x, y)) {
            level if level.is_nan() => own,
            level => level,
        };
        let (west, east) = (
            at.x.saturating_sub(self.reach),
            (at.x + self.reach).min(self.last.x),
        );
        let (north, south) = (
            at.y.saturating_sub(self.reach),
            (at.y + self.reach).min(self.last.y),
        );
        let l = self.cell_size;
        let slope = Vec2::new(
            (level(east, at.y) - level(west, at.y)) / ((east - west).max(1) as f32 * l),
            (level(at.x, south) - level(at.x, north)) / ((south - north).max(1) as f32 * l),
        );
        Vec3::new(-slope.x, 1.0, -slope.y).normalize()
    }
}
