//! Lava that cools, freezes and meets water, cell by cell, in bands of rows.

use super::Lava;
use crate::{
    models::{least, most},
    terrain::{LayersMut, TILE, Terrain, add_exactly},
};
use bevy::math::UVec2;

const SIDE: usize = TILE as usize;
/// Lava thinner than this turns to rock at once. units: m
const MIN_THICKNESS: f32 = 1e-4;

/// Sides without lava of a tile's cells, 0 to 4, row by row.
#[derive(Clone, Debug)]
pub(super) struct OpenSides {
    /// Row-major number of the tile.
    pub tile: usize,
    sides: Vec<u8>,
}

impl OpenSides {
    /// A tile whose sides are not counted yet.
    pub fn new(tile: usize) -> Self {
        Self {
            tile,
            sides: Vec::new(),
        }
    }

    /// Counts them. What lies beyond the border takes no heat.
    pub fn count(&mut self, terrain: &Terrain) {
        let grid = terrain.grid();
        let wide = grid.tiles().x as usize;
        let tile = UVec2::new((self.tile % wide) as u32, (self.tile / wide) as u32);
        let (columns, rows) = grid.tile_cells(tile);
        self.sides.clear();
        let Some(depth) = terrain.lava() else {
            return;
        };
        let (width, height) = (grid.width(), grid.height());
        for y in rows {
            for x in columns.clone() {
                let cell = y * width + x;
                let open = |is_there: bool, other: usize| u8::from(is_there && depth[other] <= 0.0);
                let sides = match depth[cell] > 0.0 {
                    true => {
                        open(x > 0, cell.wrapping_sub(1))
                            + open(x + 1 < width, cell + 1)
                            + open(y > 0, cell.wrapping_sub(width))
                            + open(y + 1 < height, cell + width)
                    }
                    false => 0,
                };
                self.sides.push(sides);
            }
        }
    }
}

/// What changed in a tile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changed {
    pub ground: bool,
    pub water: bool,
    /// Whether lava is left.
    pub holds: bool,
    /// Water that became steam. units: m
    pub boiled: f64,
    /// The cell of the band where most of it did, and how much there. units: m
    pub hottest: (usize, f64),
}

/// Sixty-four rows of all layers, and the tiles in them that have lava.
pub(super) struct Band<'a> {
    pub layers: BandLayers<'a>,
    pub tiles: &'a [OpenSides],
    /// For each of those tiles.
    pub changed: &'a mut [Changed],
    pub width: usize,
    pub tiles_wide: usize,
}

/// The rows of a band.
pub(super) struct BandLayers<'a> {
    bedrock: &'a mut [f32],
    bedrock_low: &'a mut [f32],
    soil: &'a mut [f32],
    water: &'a mut [f32],
    water_low: &'a mut [f32],
    suspended: &'a mut [f32],
    depth: &'a mut [f32],
    rest: &'a mut [f32],
    heat: &'a mut [f32],
}

/// All layers in bands of `cells` cells; empty where there is no lava.
pub(super) fn bands(layers: LayersMut<'_>, cells: usize) -> impl Iterator<Item = BandLayers<'_>> {
    let lava = layers.lava.into_iter().flat_map(move |lava| {
        lava.depth
            .chunks_mut(cells)
            .zip(lava.low.chunks_mut(cells))
            .zip(lava.heat.chunks_mut(cells))
    });
    let ground = layers
        .bedrock
        .chunks_mut(cells)
        .zip(layers.bedrock_low.chunks_mut(cells))
        .zip(layers.soil.chunks_mut(cells));
    let water = layers
        .water
        .chunks_mut(cells)
        .zip(layers.water_low.chunks_mut(cells))
        .zip(layers.suspended.chunks_mut(cells));
    let all = lava.zip(ground).zip(water);
    all.map(|((lava, ground), water)| {
        let ((depth, rest), heat) = lava;
        let ((bedrock, bedrock_low), soil) = ground;
        let ((water, water_low), suspended) = water;
        BandLayers {
            bedrock,
            bedrock_low,
            soil,
            water,
            water_low,
            suspended,
            depth,
            rest,
            heat,
        }
    })
}

/// Cools the lava of a band for `dt` seconds.
pub(super) fn freeze_band(band: Band, settings: &Lava, dt: f32) {
    let Band {
        mut layers,
        tiles,
        changed,
        width,
        tiles_wide,
    } = band;
    for (open, changed) in tiles.iter().zip(changed) {
        let left = open.tile % tiles_wide * SIDE;
        let columns = SIDE.min(width - left);
        for (place, &sides) in open.sides.iter().enumerate() {
            let cell = place / columns * width + left + place % columns;
            if layers.depth[cell] > 0.0 {
                let lost = settings.cooling * (1.0 + settings.edge_cooling * f32::from(sides)) * dt;
                let boiled = layers.freeze(cell, lost, settings.steam, changed);
                changed.boiled += boiled;
                if boiled > changed.hottest.1 {
                    changed.hottest = (cell, boiled);
                }
            }
        }
    }
}

impl BandLayers<'_> {
    /// Takes heat from a cell's lava, lets it meet the cell's water, and makes
    /// rock of what freezes. Returns the water that became steam. units: m
    fn freeze(&mut self, cell: usize, lost: f32, steam: f32, changed: &mut Changed) -> f64 {
        let (depth, water) = (self.depth[cell], self.water[cell]);
        let warmth = least(self.heat[cell] / depth, 1.0);
        let cooled = self.heat[cell] - lost;
        let cold = least(most(-cooled, 0.0), depth);
        // One of the two is used up.
        let quenched = match water > 0.0 {
            true if steam * (depth - cold) > water => water / steam,
            true => depth - cold,
            false => 0.0,
        };
        let frozen = cold + quenched;
        if frozen > 0.0 {
            changed.ground = true;
        }
        let bedrock = (&mut self.bedrock[cell], &mut self.bedrock_low[cell]);
        let lava = (&mut self.depth[cell], &mut self.rest[cell]);
        if depth - frozen < MIN_THICKNESS {
            add(bedrock, sum(depth, *lava.1));
            (*lava.0, *lava.1, self.heat[cell]) = (0.0, 0.0, 0.0);
            changed.ground = true;
        } else {
            add(bedrock, f64::from(frozen));
            add(lava, -f64::from(frozen));
            let kept = most(cooled, 0.0) - quenched * warmth;
            self.heat[cell] = most(least(kept, self.depth[cell]), 0.0);
            changed.holds = true;
        }
        let bedrock = (&mut self.bedrock[cell], &mut self.bedrock_low[cell]);
        if frozen > 0.0 && self.soil[cell] > 0.0 {
            add(bedrock, f64::from(self.soil[cell]));
            self.soil[cell] = 0.0;
        }
        if quenched <= 0.0 {
            return 0.0;
        }
        changed.water = true;
        let rest = self.water_low[cell];
        let (new, new_rest) = (&mut self.water[cell], &mut self.water_low[cell]);
        add_exactly(new, new_rest, -least(steam * quenched, water));
        if *new <= 0.0 {
            (*new, *new_rest) = (0.0, 0.0);
            // What was in the water is baked, too.
            let bedrock = (&mut self.bedrock[cell], &mut self.bedrock_low[cell]);
            add(bedrock, f64::from(self.suspended[cell]));
            self.suspended[cell] = 0.0;
        }
        (f64::from(water) - f64::from(*new)) + (f64::from(rest) - f64::from(*new_rest))
    }
}

/// The value of a two-float sum.
#[inline]
fn sum(high: f32, rest: f32) -> f64 {
    f64::from(high) + f64::from(rest)
}

/// Adds to a two-float sum, also where the change is as large as the sum: a
/// whole cell freezes at once.
#[inline]
fn add((high, rest): (&mut f32, &mut f32), change: f64) {
    let total = sum(*high, *rest) + change;
    *high = total as f32;
    *rest = (total - f64::from(*high)) as f32;
}
