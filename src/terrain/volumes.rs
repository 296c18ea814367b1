//! The volumes that stand on the grid, kept up tile by tile, so that watching
//! for drift costs in proportion to what changed.

use super::{Ledger, Terrain, TerrainCursor};
use crate::parallel::Workers;

/// Tiles that one task sums.
const TILES_AT_ONCE: usize = 64;

/// Sums of thicknesses of one tile. units: m
#[derive(Clone, Copy, Debug, Default)]
struct TileSums {
    bedrock: f64,
    absolute: f64,
    soil: f64,
    suspended: f64,
    lava: f64,
    water: f64,
}

/// Volumes by tile, and how much of the terrain they were summed of.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandingVolumes {
    cursor: TerrainCursor,
    tiles: Vec<TileSums>,
    /// Those of the rows of tiles: all tiles of a large world are many.
    rows: Vec<TileSums>,
}

impl StandingVolumes {
    /// The ledger now.
    pub fn ledger(&mut self, terrain: &Terrain) -> Ledger {
        let changes = self.cursor.changes(terrain).shift_as_replaced();
        if changes.replaced() {
            let tiles = terrain.grid.tiles();
            self.tiles = vec![TileSums::default(); tiles.element_product() as usize];
            self.rows = vec![TileSums::default(); tiles.y as usize];
        }
        let wide = terrain.grid.tiles().x;
        let mut changed: Vec<usize> = (changes.ground())
            .chain(changes.water())
            .chain(changes.lava())
            .map(|tile| (tile.y * wide + tile.x) as usize)
            .collect();
        changed.sort_unstable();
        changed.dedup();
        // A new terrain is summed as a whole, and a frame waits for it.
        let mut sums = vec![TileSums::default(); changed.len()];
        let lots = changed.chunks(TILES_AT_ONCE);
        Workers::global().each(lots.zip(sums.chunks_mut(TILES_AT_ONCE)), |(tiles, sums)| {
            for (&tile, sum) in tiles.iter().zip(sums) {
                *sum = TileSums::of(terrain, tile);
            }
        });
        for (&tile, sum) in changed.iter().zip(sums) {
            self.tiles[tile] = sum;
        }
        let wide = wide as usize;
        let mut rows: Vec<usize> = changed.iter().map(|tile| tile / wide).collect();
        rows.dedup();
        for row in rows {
            self.rows[row] = TileSums::total(&self.tiles[row * wide..(row + 1) * wide]);
        }

        let area = terrain.grid.cell_area();
        let all = TileSums::total(&self.rows);
        let mut ledger = terrain.account;
        let solids = &mut ledger.solids;
        solids.bedrock = all.bedrock * area;
        solids.soil = all.soil * area;
        solids.suspended = all.suspended * area;
        solids.lava = all.lava * area;
        solids.sum_of_absolute_volumes =
            all.absolute * area + solids.soil + solids.suspended + solids.lava;
        ledger.water.standing = all.water * area;
        ledger
    }
}

impl TileSums {
    fn total(parts: &[Self]) -> Self {
        parts.iter().fold(Self::default(), |all, part| Self {
            bedrock: all.bedrock + part.bedrock,
            absolute: all.absolute + part.absolute,
            soil: all.soil + part.soil,
            suspended: all.suspended + part.suspended,
            lava: all.lava + part.lava,
            water: all.water + part.water,
        })
    }

    fn of(terrain: &Terrain, tile: usize) -> Self {
        let grid = &terrain.grid;
        let wide = grid.tiles().x as usize;
        let coord = bevy::math::UVec2::new((tile % wide) as u32, (tile / wide) as u32);
        let (columns, rows) = grid.tile_cells(coord);
        let mut sums = Self::default();
        for row in rows {
            let first = row * grid.width();
            let cells = first + columns.start..first + columns.end;
            let sum = |layer: &[f32]| super::sum_of(&layer[cells.clone()], f64::from);
            sums.bedrock += sum(&terrain.bedrock) + sum(&terrain.bedrock_low);
            sums.absolute += super::sum_of(&terrain.bedrock[cells.clone()], |v| f64::from(v.abs()));
            sums.soil += sum(&terrain.soil);
            sums.suspended += sum(&terrain.suspended);
            if let Some(lava) = &terrain.lava {
                sums.lava += sum(&lava.depth) + sum(&lava.low);
            }
            sums.water += sum(&terrain.water) + sum(&terrain.water_low);
        }
        sums
    }
}
