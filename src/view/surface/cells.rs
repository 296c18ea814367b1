//! The cells that vertices are made from: the terrain's own, or a copy of those
//! that a build in the background needs.

use crate::{
    terrain::Terrain,
    view::{ground::mesh::Baseline, liquid::Liquid},
};
use bevy::math::*;
use core::marker::PhantomData;

/// What a vertex is made from.
pub(in crate::view) trait Cells {
    /// Height of the ground that is drawn.
    fn ground(&self, x: u32, y: u32) -> f32;
    /// Thickness of loose ground.
    fn soil(&self, x: u32, y: u32) -> f32;
    /// Depth of the liquid, zero where it is too thin to be seen.
    fn depth(&self, x: u32, y: u32) -> f32;
    /// Sediment as a share of the water, or heat as a share of the hottest.
    fn share(&self, x: u32, y: u32) -> f32;
    /// Velocity of the liquid.
    fn velocity(&self, x: u32, y: u32) -> Vec2;
}

/// The terrain itself, and one liquid on it.
pub(in crate::view) struct LiveCells<'a, Q> {
    terrain: &'a Terrain,
    /// The ground is drawn as it was.
    before: Option<&'a Baseline>,
    /// The liquid is seen where it is deeper.
    min_depth: f32,
    liquid: PhantomData<Q>,
}

impl<'a, Q: Liquid> LiveCells<'a, Q> {
    /// The ground as it is, and the liquid where it is deeper than `min_depth`.
    pub fn new(terrain: &'a Terrain, min_depth: f32) -> Self {
        Self {
            terrain,
            before: None,
            min_depth,
            liquid: PhantomData,
        }
    }

    /// The ground as it was, if one is given.
    pub fn with_ground_of(self, before: Option<&'a Baseline>) -> Self {
        Self { before, ..self }
    }

    #[inline]
    fn visible(&self, depth: f32) -> f32 {
        if depth > self.min_depth { depth } else { 0.0 }
    }
}

impl<Q: Liquid> Cells for LiveCells<'_, Q> {
    #[inline]
    fn ground(&self, x: u32, y: u32) -> f32 {
        let cell = self.terrain.grid().index(x, y);
        match self.before {
            Some(before) => before.ground_of(cell),
            None => self.terrain.ground(cell),
        }
    }

    #[inline]
    fn soil(&self, x: u32, y: u32) -> f32 {
        self.terrain.soil()[self.terrain.grid().index(x, y)]
    }

    #[inline]
    fn depth(&self, x: u32, y: u32) -> f32 {
        self.visible(Q::depth(self.terrain, x, y))
    }

    #[inline]
    fn share(&self, x: u32, y: u32) -> f32 {
        match self.depth(x, y) {
            depth if depth > 0.0 => {
                let load = Q::loads(self.terrain);
                load.map_or(0.0, |load| load[self.terrain.grid().index(x, y)]) / depth
            }
            _ => 0.0,
        }
    }

    #[inline]
    fn velocity(&self, x: u32, y: u32) -> Vec2 {
        match self.depth(x, y) > 0.0 {
            true => Q::velocity(self.terrain, x, y),
            false => Vec2::ZERO,
        }
    }
}

/// What is copied beside the ground; the rest reads as zero.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::view) struct Planes {
    pub soil: bool,
    pub depth: bool,
    /// What the liquid carries, and its velocity.
    pub flow: bool,
}

/// The cells of a chunk and a ring around them, cut at the border. A copy row by
/// row takes a fraction of the time that it takes to look at every vertex and
/// the cells around it.
#[derive(Clone, Debug)]
pub(in crate::view) struct CopiedCells {
    first: UVec2,
    width: u32,
    ground: Vec<f32>,
    soil: Vec<f32>,
    depth: Vec<f32>,
    share: Vec<f32>,
    velocity: Vec<Vec2>,
}

impl CopiedCells {
    /// Copies the cells from `first` to `last` and `ring` cells around them.
    pub fn copy<Q: Liquid>(
        live: &LiveCells<Q>,
        (first, last): (UVec2, UVec2),
        ring: u32,
        planes: Planes,
    ) -> Self {
        let (terrain, grid) = (live.terrain, live.terrain.grid());
        let from = first.saturating_sub(UVec2::splat(ring));
        let to = (last + ring).min(grid.size() - 1);
        let size = to - from + 1;
        let cells = size.element_product() as usize;
        let moves = planes.flow && Q::is_moving(terrain);
        let room = |is_copied: bool| Vec::with_capacity(if is_copied { cells } else { 0 });
        let mut copied = Self {
            first: from,
            width: size.x,
            ground: room(true),
            soil: room(planes.soil),
            depth: room(planes.depth),
            share: room(planes.flow),
            velocity: Vec::with_capacity(if moves { cells } else { 0 }),
        };
        let load = Q::loads(terrain).filter(|_| planes.flow);
        for y in from.y..=to.y {
            let row = grid.index(from.x, y)..grid.index(to.x, y) + 1;
            let soil = &terrain.soil()[row.clone()];
            match live.before {
                Some(before) => {
                    let before = row.clone().map(|cell| before.ground_of(cell));
                    copied.ground.extend(before);
                }
                None => {
                    let layers = terrain.bedrock()[row.clone()].iter().zip(soil);
                    copied.ground.extend(layers.map(|(b, s)| b + s));
                }
            }
            if planes.soil {
                copied.soil.extend_from_slice(soil);
            }
            if !planes.depth {
                continue;
            }
            let depths = &*Q::depths(terrain, from.x..to.x + 1, y);
            let visible = depths.iter().map(|&depth| live.visible(depth));
            copied.depth.extend(visible);
            if let Some(load) = load {
                let share = |(&depth, &load): (&f32, &f32)| {
                    if depth > live.min_depth {
                        load / depth
                    } else {
                        0.0
                    }
                };
                copied
                    .share
                    .extend(depths.iter().zip(&load[row]).map(share));
            }
            if moves {
                let columns = (from.x..=to.x).zip(depths);
                let velocity = columns.map(|(x, &depth)| match depth > live.min_depth {
                    true => Q::velocity(terrain, x, y),
                    false => Vec2::ZERO,
                });
                copied.velocity.extend(velocity);
            }
        }
        copied
    }

    /// Whether the liquid is nowhere in the copy.
    pub fn is_dry(&self) -> bool {
        self.depth.iter().all(|depth| *depth == 0.0)
    }

    /// What a plane holds of a cell; nothing if it was not copied.
    #[inline]
    fn get<T: Copy + Default>(&self, plane: &[T], x: u32, y: u32) -> T {
        let cell = (y - self.first.y) * self.width + (x - self.first.x);
        plane.get(cell as usize).copied().unwrap_or_default()
    }
}

impl Cells for CopiedCells {
    #[inline]
    fn ground(&self, x: u32, y: u32) -> f32 {
        self.get(&self.ground, x, y)
    }

    #[inline]
    fn soil(&self, x: u32, y: u32) -> f32 {
        self.get(&self.soil, x, y)
    }

    #[inline]
    fn depth(&self, x: u32, y: u32) -> f32 {
        self.get(&self.depth, x, y)
    }

    #[inline]
    fn share(&self, x: u32, y: u32) -> f32 {
        self.get(&self.share, x, y)
    }

    #[inline]
    fn velocity(&self, x: u32, y: u32) -> Vec2 {
        self.get(&self.velocity, x, y)
    }
}
