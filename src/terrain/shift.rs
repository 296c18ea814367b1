//! The terrain's window moves over the world by whole tiles: what stays keeps its
//! place in the world, what leaves is recorded in the ledger, and what comes in is
//! given by the caller. It remains the same terrain.

use super::{
    Flow, Grid, LavaPlanes, Layer, StreamPatch, TILE, Terrain, TerrainError, check_value,
    raycast::HeightBounds, tiles::TileRevisions,
};
use bevy::math::*;

/// Farthest that a window may move from where it began. units: tiles
const MAX_SHIFT: i32 = 1 << 24;

/// Where the terrain's window lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The grid's origin before it first moved. units: m
    pub start: Vec3,
    /// How far it has moved since, along x and z. units: tiles
    pub moved: IVec2,
    /// How often it has moved, also there and back.
    pub moves: u64,
}

impl Window {
    /// A window that has not moved.
    pub fn at(origin: Vec3) -> Self {
        Self {
            start: origin,
            moved: IVec2::ZERO,
            moves: 0,
        }
    }

    /// The window of a grid that began elsewhere; none if it cannot lie where the grid
    /// does.
    #[cfg(feature = "io")]
    pub fn restored(start: Vec3, moved: IVec2, grid: &Grid) -> Option<Self> {
        let window = Self {
            start,
            moved,
            moves: 0,
        };
        let fits = start.is_finite()
            && is_near(&moved)
            && window.origin(grid.cell_size()) == grid.origin();
        fits.then_some(window)
    }

    /// The origin of a grid in this window. Counted from the start, so that
    /// roundings do not add up.
    fn origin(&self, cell_size: f32) -> Vec3 {
        let tile = f64::from(TILE) * f64::from(cell_size);
        let at = self.start.as_dvec3()
            + DVec3::new(self.moved.x.into(), 0.0, self.moved.y.into()) * tile;
        // The height does not move, to the last bit.
        Vec3::new(at.x as f32, self.start.y, at.z as f32)
    }
}

/// Whether a window may be so many tiles from where it began.
fn is_near(tiles: &IVec2) -> bool {
    let most = IVec2::splat(MAX_SHIFT);
    tiles.cmpge(-most).all() && tiles.cmple(most).all()
}

/// All layers of one cell, in their [units](Layer). None of it, unless said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellLayers {
    /// Elevation of bedrock. units: m
    pub bedrock: f32,
    /// Thickness of loose ground. units: m
    pub soil: f32,
    /// Depth of water. units: m
    pub water: f32,
    /// Suspended sediment as a thickness. units: m
    pub suspended: f32,
    /// Resistance to erosion, 0 to 1.
    pub hardness: f32,
    /// Thickness of molten rock. units: m
    pub lava: f32,
    /// [Heat](Terrain::lava_heat) of the lava, 0 to its thickness. units: m
    pub lava_heat: f32,
}

impl CellLayers {
    fn values(&self) -> [(Layer, f32); 6] {
        [
            (Layer::Bedrock, self.bedrock),
            (Layer::Soil, self.soil),
            (Layer::Water, self.water),
            (Layer::Suspended, self.suspended),
            (Layer::Hardness, self.hardness),
            (Layer::Lava, self.lava),
        ]
    }
}

/// A cell that comes into a terrain's window; see [`Terrain::shift_tiles`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncomingCell {
    /// Its column and row in the terrain as it will be.
    pub cell: UVec2,
    /// World position of its center, at height zero. units: m
    pub center: Vec3,
    /// The layers of the nearest cell that was there before: the land goes on as
    /// it was at the edge if these are given back.
    pub edge: CellLayers,
}

/// What a [shift](Terrain::shift_tiles) took out of a terrain and brought in.
/// Solids are counted as in the [ledger](super::SolidsLedger): rock from height
/// zero. units: m³
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShiftVolumes {
    /// Solids that left: in the ledger, gone over the border.
    pub solids_out: f64,
    /// Solids that came in: in the ledger, added.
    pub solids_in: f64,
    /// Water that left: in the ledger, gone over the border.
    pub water_out: f64,
    /// Water that came in: in the ledger, added.
    pub water_in: f64,
}

impl Terrain {
    /// All layers of a cell.
    ///
    /// # Errors
    /// When it lies outside the grid.
    pub fn cell_layers(&self, x: u32, y: u32) -> Result<CellLayers, TerrainError> {
        let size = self.size();
        if x >= size.x || y >= size.y {
            return Err(TerrainError::OutsideGrid { x, y, size });
        }
        Ok(self.layers_at(self.grid.index(x, y)))
    }

    #[inline]
    fn layers_at(&self, cell: usize) -> CellLayers {
        let (lava, _, lava_heat) = self.lava_parts(cell);
        CellLayers {
            bedrock: self.bedrock[cell],
            soil: self.soil[cell],
            water: self.water[cell],
            suspended: self.suspended[cell],
            hardness: self.hardness().map_or(0.0, |hardness| hardness[cell]),
            lava,
            lava_heat,
        }
    }

    /// Moves the terrain's window over the world by whole tiles of 64 × 64
    /// cells, along x and z: for worlds without an end, around a player. Cells
    /// that stay keep their place in the world, with their water, its flow, and
    /// the water of rivers; `incoming` is asked for each cell that comes in, row
    /// by row. What leaves is recorded as gone over the border, what comes in as
    /// added.
    ///
    /// It remains the same terrain: a [`TerrainCursor`](super::TerrainCursor)
    /// reports [by how much](super::TerrainChanges::shifted) it moved, and as
    /// changed only the tiles that came in, those cut at the grid's edge, and
    /// those that have become the edge. Who cannot follow takes it for another
    /// terrain. The undo history is emptied. Borders stay on the terrain's
    /// sides.
    ///
    /// The size need not be a multiple of 64, but along a shifted axis it must be
    /// at least 64 cells. A shift by more than the whole terrain replaces all
    /// cells.
    ///
    /// While the GPU computes, the terrain may be some steps behind it: what it
    /// did in tiles that were not read back yet is lost by a shift. Ask for all
    /// tiles first.
    ///
    /// ```
    /// use bevy::math::{IVec2, UVec2};
    /// use bevy_erode::terrain::{CellLayers, Terrain, TerrainCursor};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let height = |x: f32| 10.0 + 0.01 * x;
    /// let mut terrain = Terrain::flat(UVec2::splat(256), 1.0)?;
    /// let mut cursor = TerrainCursor::at(&terrain);
    /// // The player walked east.
    /// terrain.shift_tiles(IVec2::X, |new| CellLayers {
    ///     bedrock: height(new.center.x),
    ///     ..CellLayers::default()
    /// })?;
    /// let changes = cursor.changes(&terrain);
    /// assert_eq!(changes.shifted(), Some(IVec2::X));
    /// assert!(!changes.replaced());
    /// assert_eq!(terrain.grid().origin().x, 64.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the terrain is too small, the shift too far, or a cell that comes in
    /// has values out of range; nothing changes then.
    pub fn shift_tiles(
        &mut self,
        by: IVec2,
        mut incoming: impl FnMut(IncomingCell) -> CellLayers,
    ) -> Result<ShiftVolumes, TerrainError> {
        if by == IVec2::ZERO {
            return Ok(ShiftVolumes::default());
        }
        let (window, grid) = self.moved_window(by)?;
        let shift = CellShift::new(by, grid.size());
        let last = (grid.size() - 1).as_ivec2();
        let mut new: Vec<(usize, CellLayers)> = Vec::new();
        for cell in shift.incoming() {
            let at = cell.as_ivec2();
            let edge = (at + shift.by).clamp(IVec2::ZERO, last).as_uvec2();
            let layers = incoming(IncomingCell {
                cell,
                center: grid.cell_center(cell.x, cell.y),
                edge: self.layers_at(self.grid.index(edge.x, edge.y)),
            });
            check_cell(&layers, cell)?;
            new.push((grid.index(cell.x, cell.y), layers));
        }

        let mut volumes = self.leaving(&shift);
        let area = grid.cell_area();
        for (_, cell) in &new {
            let solids = [cell.bedrock, cell.soil, cell.suspended, cell.lava];
            volumes.solids_in += solids.map(f64::from).iter().sum::<f64>() * area;
            volumes.water_in += f64::from(cell.water) * area;
        }
        self.move_cells(&shift, &new);
        self.move_streams(&shift);
        for revisions in [&mut self.tiles, &mut self.water_tiles, &mut self.lava_tiles] {
            revisions.shift(by, &grid);
        }
        self.bounds = HeightBounds::new(&grid);
        (self.window, self.grid) = (window, grid);
        self.account.solids.left += volumes.solids_out;
        self.account.solids.added += volumes.solids_in;
        self.account.water.left += volumes.water_out;
        self.account.water.added += volumes.water_in;
        Ok(volumes)
    }

    /// Window and grid after a shift, if it can be.
    fn moved_window(&self, by: IVec2) -> Result<(Window, Grid), TerrainError> {
        let size = self.size();
        let wrong = |reason| TerrainError::Shift { by, size, reason };
        let too_small = |by: i32, cells: u32| by != 0 && cells < TILE;
        if too_small(by.x, size.x) || too_small(by.y, size.y) {
            return Err(wrong("along a shifted axis it must have at least 64 cells"));
        }
        let moved = (self.window.moved.checked_add(by))
            .filter(|moved| is_near(moved) && is_near(&by))
            .ok_or_else(|| wrong("it would be more than 2^24 tiles from where it began"))?;
        let window = Window {
            moved,
            moves: self.window.moves + 1,
            ..self.window
        };
        let grid = self.grid.with_origin(window.origin(self.cell_size()))?;
        Ok((window, grid))
    }

    /// The volumes of the cells that leave.
    fn leaving(&self, shift: &CellShift) -> ShiftVolumes {
        let area = self.grid.cell_area();
        let mut volumes = ShiftVolumes::default();
        for at in shift.leaving() {
            let cell = self.grid.index(at.x, at.y);
            let (bedrock, low, soil) = self.ground_parts(cell);
            let (water, water_low, suspended) = self.water_parts(cell);
            let (lava, lava_low, _) = self.lava_parts(cell);
            let solids = [bedrock, low, soil, suspended, lava, lava_low];
            volumes.solids_out += solids.map(f64::from).iter().sum::<f64>() * area;
            volumes.water_out += (f64::from(water) + f64::from(water_low)) * area;
        }
        volumes
    }

    fn move_cells(&mut self, shift: &CellShift, new: &[(usize, CellLayers)]) {
        let cells = self.grid.cells();
        if new.iter().any(|(_, cell)| cell.hardness != 0.0) {
            self.hardness_mut();
        }
        if new.iter().any(|(_, cell)| cell.lava != 0.0) {
            self.lava.get_or_insert_with(|| LavaPlanes::none(cells));
        }
        let fill = |plane: &mut Vec<f32>, value: &dyn Fn(&CellLayers) -> f32| {
            *plane = shift.moved(plane);
            for (cell, layers) in new {
                plane[*cell] = value(layers);
            }
        };
        fill(&mut self.bedrock, &|cell| cell.bedrock);
        fill(&mut self.bedrock_low, &|_| 0.0);
        fill(&mut self.soil, &|cell| cell.soil);
        fill(&mut self.water, &|cell| cell.water);
        fill(&mut self.water_low, &|_| 0.0);
        fill(&mut self.suspended, &|cell| cell.suspended);
        if let Some(hardness) = &mut self.hardness {
            fill(hardness, &|cell| cell.hardness);
        }
        if let Some(lava) = &mut self.lava {
            fill(&mut lava.depth, &|cell| cell.lava);
            fill(&mut lava.low, &|_| 0.0);
            fill(&mut lava.heat, &|cell| cell.lava_heat);
        }
        if let Some(flow) = &mut self.flow {
            *flow = flow.moved(shift);
        }
    }

    fn move_streams(&mut self, shift: &CellShift) {
        let streams = core::mem::take(&mut self.streams);
        let moved = streams.iter().filter_map(|patch| patch.moved(shift));
        self.streams = moved.collect();
        self.stream_revision += 1;
    }
}

fn check_cell(cell: &CellLayers, at: UVec2) -> Result<(), TerrainError> {
    for (layer, value) in cell.values() {
        check_value(layer, value, at)?;
    }
    if !(0.0..=cell.lava).contains(&cell.lava_heat) {
        return Err(TerrainError::Value {
            layer: Layer::Lava,
            x: at.x,
            y: at.y,
            value: cell.lava_heat,
            expected: "heat of lava must be 0 to its thickness",
        });
    }
    Ok(())
}

/// A shift in cells: what is at a cell after it was at `cell + by` before.
struct CellShift {
    by: IVec2,
    size: UVec2,
}

impl CellShift {
    fn new(by: IVec2, size: UVec2) -> Self {
        // Farther than the whole terrain is all the same.
        let most = IVec2::splat(Grid::MAX_SIDE as i32);
        let by = by.clamp(-most, most) * TILE as i32;
        Self { by, size }
    }

    /// The cells after the shift that were not there before.
    fn incoming(&self) -> impl Iterator<Item = UVec2> + use<> {
        self.cells(self.by)
    }

    /// The cells before the shift that are not there after it.
    fn leaving(&self) -> impl Iterator<Item = UVec2> + use<> {
        self.cells(-self.by)
    }

    /// The cells that lie outside when moved by some cells, row by row.
    #[inline]
    fn cells(&self, by: IVec2) -> impl Iterator<Item = UVec2> + use<> {
        let size = self.size;
        let rows = stay(by.y, size.y);
        (0..size.y).flat_map(move |y| {
            let stay = match rows.contains(&y) {
                true => stay(by.x, size.x),
                false => 0..0,
            };
            let cells = (0..stay.start).chain(stay.end..size.x);
            cells.map(move |x| UVec2::new(x, y))
        })
    }

    /// A plane of all cells after the shift, zero where cells come in.
    fn moved(&self, plane: &[f32]) -> Vec<f32> {
        let width = self.size.x as usize;
        let mut new = vec![0.0; plane.len()];
        let columns = stay(self.by.x, self.size.x);
        if columns.is_empty() {
            return new;
        }
        for y in stay(self.by.y, self.size.y) {
            let old = y.wrapping_add_signed(self.by.y) as usize * width;
            let from = old + columns.start.wrapping_add_signed(self.by.x) as usize;
            let to = y as usize * width + columns.start as usize;
            let count = columns.len();
            new[to..to + count].copy_from_slice(&plane[from..from + count]);
        }
        new
    }
}

/// The columns or rows after a shift that were there before.
fn stay(by: i32, count: u32) -> core::ops::Range<u32> {
    let count = count as i32;
    let from = (-by).clamp(0, count);
    let to = (count - by).clamp(from, count);
    from as u32..to as u32
}

impl Flow {
    /// The flow after a shift. Faces between what stays and what comes in keep
    /// what flowed over the border there.
    fn moved(&self, shift: &CellShift) -> Self {
        let (width, height) = (shift.size.x as usize, shift.size.y as usize);
        let mut east = shift.moved(&self.east);
        let mut south = shift.moved(&self.south);
        let mut west_border = vec![0.0; height];
        let mut north_border = vec![0.0; width];
        let (columns, rows) = (
            stay(shift.by.x, shift.size.x),
            stay(shift.by.y, shift.size.y),
        );
        let old_row = |y: u32| y.wrapping_add_signed(shift.by.y) as usize;
        let old_column = |x: u32| x.wrapping_add_signed(shift.by.x) as usize;
        if !columns.is_empty() {
            for y in rows.clone() {
                // The face west of the first column that stays.
                let old = match old_column(columns.start) {
                    0 => self.west_border[old_row(y)],
                    x => self.east[old_row(y) * width + x - 1],
                };
                match columns.start as usize {
                    0 => west_border[y as usize] = old,
                    x => east[y as usize * width + x - 1] = old,
                }
            }
        }
        if !rows.is_empty() {
            for x in columns {
                let old = match old_row(rows.start) {
                    0 => self.north_border[old_column(x)],
                    y => self.south[(y - 1) * width + old_column(x)],
                };
                match rows.start as usize {
                    0 => north_border[x as usize] = old,
                    y => south[(y - 1) * width + x as usize] = old,
                }
            }
        }
        Self {
            east,
            south,
            west_border,
            north_border,
        }
    }
}

impl StreamPatch {
    /// The patch after a shift, cut at the grid's edge; none if nothing is left.
    fn moved(&self, shift: &CellShift) -> Option<Self> {
        let start = self.first.as_ivec2() - shift.by;
        let from = start.max(IVec2::ZERO);
        let to = (start + self.size.as_ivec2()).min(shift.size.as_ivec2());
        if from.cmpge(to).any() {
            return None;
        }
        let (first, size) = (from.as_uvec2(), (to - from).as_uvec2());
        let offset = (from - start).as_uvec2();
        let cut = |plane: &[f32]| -> Vec<f32> {
            let rows = offset.y..offset.y + size.y;
            rows.flat_map(|y| {
                let row = (y * self.size.x + offset.x) as usize;
                plane[row..row + size.x as usize].iter().copied()
            })
            .collect()
        };
        let [x, z] = &self.velocity;
        Some(Self {
            river: self.river,
            first,
            size,
            depth: cut(&self.depth),
            velocity: [cut(x), cut(z)],
            fresh: cut(&self.fresh),
        })
    }
}

impl TileRevisions {
    /// Moves along with the terrain. Tiles that came in, that are cut otherwise
    /// than before, or that lie at another edge count as changed now.
    fn shift(&mut self, by: IVec2, grid: &Grid) {
        let tiles = grid.tiles().as_ivec2();
        let size_of = |tile: IVec2| {
            let (columns, rows) = grid.tile_cells(tile.as_uvec2());
            (columns.len(), rows.len())
        };
        self.move_tiles(|tile| {
            let tile = tile.as_ivec2();
            // Far shifts bring nothing along.
            let old = tile.checked_add(by)?;
            let is_old = old.cmpge(IVec2::ZERO).all() && old.cmplt(tiles).all();
            let is_edge = |tile: i32, by: i32, count: i32| match by.signum() {
                1 => tile == 0,
                -1 => tile == count - 1,
                _ => false,
            };
            let is_new_edge = is_edge(tile.x, by.x, tiles.x) || is_edge(tile.y, by.y, tiles.y);
            let keeps = is_old && !is_new_edge && size_of(tile) == size_of(old);
            keeps.then(|| old.as_uvec2())
        });
    }
}

#[cfg(test)]
mod tests;
