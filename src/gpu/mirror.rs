//! Keeps the game's terrain and the GPU's in step, both ways.
//!
//! While the GPU runs it is the truth, and [`Terrain`] mirrors it. Whatever the
//! host changes in the mirror (edits, springs, models that have no passes)
//! travels to the GPU as differences, so that nothing the GPU did in the
//! meantime is lost. A tile that comes back takes the place of the mirror's,
//! with those differences on top that were sent after it was read.

use super::{
    exchange::{
        CELL_WORDS, CellDifference, ReadbackRequest, ReadbackResult, TILES_PER_REQUEST, Upload,
    },
    status::{self, LEDGER_TERMS, StatusLayout},
};
use crate::terrain::{Grid, TILE, Terrain, TerrainCursor};
use bevy::math::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bedrock, its rest, soil, water, its rest, suspended sediment.
type Cell = [f32; 6];

/// Who lets the water flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FlowOwner {
    #[default]
    Gpu,
    /// The flow is the host's own, not a mirror of the GPU's.
    Host,
}

/// The mirror of a terrain on the GPU.
#[derive(Debug)]
pub(super) struct Mirror {
    /// How much of the terrain is in `known`.
    cursor: TerrainCursor,
    grid: Grid,
    layout: StatusLayout,
    /// What the GPU is known or bound to have: the mirror as it was when it was
    /// last compared.
    known: Vec<Cell>,
    /// Differences sent so far, and those that no result knows of yet.
    sent: u64,
    under_way: VecDeque<(u64, BTreeMap<u32, Vec<CellDifference>>)>,
    /// The step at which each tile was read.
    read_at: Vec<u64>,
    /// The last step of which it is known which tiles had changed by then.
    known_at: u64,
    /// Tiles that changed on the GPU since they were read, and since when.
    stale: BTreeMap<u32, u64>,
    /// Tiles that someone needs soon.
    wanted: BTreeSet<u32>,
    requested: BTreeSet<u32>,
    /// Most of g·d + v² that is known of. units: m²/s²
    pub pace: f32,
    /// The GPU's ledger as it was last read.
    ledger: [f64; LEDGER_TERMS as usize],
    /// Erosion time that sub-steps could not cover, as last read. units: s
    lost: f32,
    flow_owner: FlowOwner,
    /// The hardness map that the GPU has.
    hardness: Option<Vec<f32>>,
    hardness_changed: bool,
}

/// What a result brought besides the tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct News {
    /// Erosion time lost since the last. units: s
    pub lost: f32,
    /// Solids and water that edits took although they were not there. units: m³
    pub shortfall: DVec2,
}

impl Mirror {
    /// A mirror of a terrain that is being uploaded.
    pub fn new(terrain: &Terrain, step: u64, gravity: f32) -> (Self, Upload) {
        let grid = *terrain.grid();
        let known: Vec<Cell> = (0..grid.cells())
            .map(|cell| cell_of(terrain, cell))
            .collect();
        let pair = |a: usize, b: usize| known.iter().map(|cell| vec2(cell[a], cell[b])).collect();
        let (flow, edges) = flow_of(terrain);
        let pace = pace_of(terrain, gravity);
        let upload = Upload {
            grid,
            rock: pair(0, 1),
            cover: pair(2, 3),
            load: pair(5, 4),
            flow,
            edges,
            pace,
        };
        let mirror = Self {
            cursor: TerrainCursor::at(terrain),
            layout: StatusLayout::new(&grid),
            sent: 0,
            under_way: VecDeque::new(),
            read_at: vec![step; grid.tiles().element_product() as usize],
            known_at: step,
            stale: BTreeMap::new(),
            wanted: BTreeSet::new(),
            requested: BTreeSet::new(),
            pace,
            ledger: [0.0; LEDGER_TERMS as usize],
            lost: 0.0,
            flow_owner: FlowOwner::Gpu,
            hardness: terrain.hardness().map(Into::into),
            hardness_changed: true,
            known,
            grid,
        };
        (mirror, upload)
    }

    /// Whether it is the mirror of this terrain.
    pub fn is_of(&self, terrain: &Terrain) -> bool {
        self.cursor.is_at(terrain)
    }

    /// Whether a model on the host lets the water flow.
    pub fn flow_is_the_hosts(&self) -> bool {
        self.flow_owner == FlowOwner::Host
    }

    /// From here on a model on the host lets the water flow.
    pub fn give_flow(&mut self) {
        self.flow_owner = FlowOwner::Host;
    }

    /// From here on the GPU lets the water flow, which is so fast now.
    pub fn take_flow(&mut self, pace: f32) {
        self.flow_owner = FlowOwner::Gpu;
        self.pace = pace;
    }

    /// What the host changed since this was last asked for.
    pub fn differences(&mut self, terrain: &Terrain) -> Vec<CellDifference> {
        let mut tiles: BTreeSet<u32> = BTreeSet::new();
        let wide = self.grid.tiles().x;
        let number = |tile: UVec2| tile.y * wide + tile.x;
        let changes = self.cursor.changes(terrain);
        tiles.extend(changes.ground().map(number));
        self.compare_hardness(terrain, &tiles);
        tiles.extend(changes.water().map(number));
        let mut list = Vec::new();
        let mut by_tile = BTreeMap::new();
        for tile in tiles {
            let from = list.len();
            for cell in self.grid.tile_indices(tile as usize) {
                let new = cell_of(terrain, cell);
                let old = core::mem::replace(&mut self.known[cell], new);
                if old != new {
                    list.push(difference(cell, old, new));
                }
            }
            if list.len() > from {
                by_tile.insert(tile, list[from..].to_vec());
            }
        }
        if !list.is_empty() {
            self.sent += 1;
            self.under_way.push_back((self.sent, by_tile));
        }
        list
    }

    /// Looks whether the host changed hardness in some tiles.
    fn compare_hardness(&mut self, terrain: &Terrain, tiles: &BTreeSet<u32>) {
        match (&mut self.hardness, terrain.hardness()) {
            (Some(known), Some(hardness)) => {
                for cell in tiles
                    .iter()
                    .flat_map(|tile| self.grid.tile_indices(*tile as usize))
                {
                    self.hardness_changed |= known[cell] != hardness[cell];
                    known[cell] = hardness[cell];
                }
            }
            (None, None) => {}
            (known, hardness) => {
                *known = hardness.map(Into::into);
                self.hardness_changed = true;
            }
        }
    }

    /// The hardness map, if it is another than when this was last asked for.
    pub fn new_hardness(&mut self) -> Option<Option<Vec<f32>>> {
        core::mem::take(&mut self.hardness_changed).then(|| self.hardness.clone())
    }

    /// Asks for a tile to be read before others, if it changed.
    pub fn want(&mut self, tile: u32) {
        if self.stale.contains_key(&tile) {
            self.wanted.insert(tile);
        }
    }

    /// What to read back next: tiles that are wanted, then those that have been
    /// stale the longest, but no more than `most`. `changes` were recorded so far.
    pub fn request(&mut self, step: u64, changes: u64, most: usize) -> Vec<ReadbackRequest> {
        let mut tiles: Vec<u32> = core::mem::take(&mut self.wanted).into_iter().collect();
        let mut stale: Vec<(u64, u32)> = self.stale.iter().map(|(t, s)| (*s, *t)).collect();
        stale.sort_unstable();
        let rest = stale.into_iter().map(|(_, tile)| tile);
        let rest = rest.filter(|tile| !tiles.contains(tile));
        let rest: Vec<u32> = rest.take(most.saturating_sub(tiles.len())).collect();
        tiles.extend(rest);
        self.make_requests(step, changes, tiles)
    }

    /// Whether there is something to read.
    pub fn wants_any(&self, most: usize) -> bool {
        !self.wanted.is_empty() || most > 0 && !self.stale.is_empty()
    }

    /// Asks for everything at once.
    pub fn request_all(&mut self, step: u64, changes: u64) -> Vec<ReadbackRequest> {
        let tiles = (0..self.read_at.len() as u32).collect();
        let mut requests = self.make_requests(step, changes, tiles);
        if let Some(first) = requests.first_mut() {
            first.ledger = true;
        }
        if let Some(last) = requests.last_mut() {
            last.whole = true;
        }
        requests
    }

    fn make_requests(&mut self, step: u64, changes: u64, tiles: Vec<u32>) -> Vec<ReadbackRequest> {
        for tile in &tiles {
            self.stale.remove(tile);
            self.requested.insert(*tile);
        }
        let request = ReadbackRequest {
            terrain: self.cursor,
            step,
            differences: self.sent,
            changes,
            ..ReadbackRequest::default()
        };
        let mut requests: Vec<ReadbackRequest> = tiles
            .chunks(TILES_PER_REQUEST)
            .map(|tiles| ReadbackRequest {
                tiles: tiles.to_vec(),
                ..request.clone()
            })
            .collect();
        if requests.is_empty() {
            requests.push(request);
        }
        if let Some(last) = requests.last_mut() {
            last.last = true;
        }
        requests
    }

    /// Takes a result in. [`differences`](Self::differences) must have been
    /// asked for since the host last changed the terrain.
    pub fn take(&mut self, result: &ReadbackResult, terrain: &mut Terrain) -> News {
        let ReadbackResult {
            request,
            words,
            current,
        } = result;
        let layout = self.layout;
        let header = layout.ledger() as usize;
        let ledger = match request.ledger {
            true => (layout.words() - layout.ledger()) as usize,
            false => 0,
        };
        let tile_words = (TILE * TILE) as usize * CELL_WORDS;
        if !self.is_of(terrain) || words.len() < header + ledger + request.tiles.len() * tile_words
        {
            return News::default();
        }
        while let Some((sent, _)) = self.under_way.front()
            && *sent <= request.differences
        {
            self.under_way.pop_front();
        }
        self.known_at = request.step;
        let number = |place: usize| f32::from_bits(words[place]);
        self.pace = number(status::PACE[*current] as usize).max(0.0);
        let lost = number(status::LOST_TIME as usize);
        let mut news = News {
            lost: (lost - self.lost).max(0.0),
            ..News::default()
        };
        self.lost = lost;
        for tile in 0..self.read_at.len() as u32 {
            let ground = words[(layout.ground_changed() + tile) as usize];
            let water = words[(layout.water_changed() + tile) as usize];
            // Others of the same moment may still be on their way.
            let comes = request.tiles.contains(&tile) || self.requested.contains(&tile);
            if ground | water != 0 && !comes {
                self.stale.entry(tile).or_insert(request.step);
            }
        }
        if request.ledger {
            news.shortfall = self.read_ledger(&words[header..header + ledger], terrain);
        }
        let edges = layout.edges(*current) as usize;
        self.read_edges(&words[edges..], terrain);
        let tiles = words[header + ledger..].chunks_exact(tile_words);
        let (mut ground, mut water) = (Vec::new(), Vec::new());
        for (tile, words) in request.tiles.iter().zip(tiles) {
            let changed = self.read_tile(*tile, words, terrain);
            ground.extend(changed[0].then_some(*tile as usize));
            water.extend(changed[1].then_some(*tile as usize));
            self.read_at[*tile as usize] = request.step;
            self.requested.remove(tile);
        }
        if !ground.is_empty() {
            terrain.mark_tiles(ground);
        }
        if !water.is_empty() {
            terrain.mark_water_tiles(water);
        }
        self.cursor = TerrainCursor::at(terrain);
        news
    }

    /// Puts a tile in the mirror; returns whether its ground and its water are
    /// other than they were.
    fn read_tile(&mut self, tile: u32, words: &[u32], terrain: &mut Terrain) -> [bool; 2] {
        let mut later: BTreeMap<u32, Vec<&CellDifference>> = BTreeMap::new();
        for (_, by_tile) in &self.under_way {
            for difference in by_tile.get(&tile).into_iter().flatten() {
                later.entry(difference.cell).or_default().push(difference);
            }
        }
        let mut changed = [false; 2];
        let corner = corner_of(&self.grid, tile);
        let layers = terrain.layers_mut();
        let mut flow = layers.flow.filter(|_| self.flow_owner == FlowOwner::Gpu);
        for cell in self.grid.tile_indices(tile as usize) {
            let place = uvec2(
                (cell % self.grid.width()) as u32,
                (cell / self.grid.width()) as u32,
            ) - corner;
            let first = (place.y * TILE + place.x) as usize * CELL_WORDS;
            let number = |i: usize| f32::from_bits(words[first + i]);
            let mut new: Cell = [
                number(0),
                number(1),
                number(2),
                number(3),
                number(5),
                number(4),
            ];
            for difference in later.get(&(cell as u32)).into_iter().flatten() {
                new = with_difference(new, difference);
            }
            let old = core::mem::replace(&mut self.known[cell], new);
            let faces = [number(6), number(7)];
            changed[0] |= old[..3] != new[..3];
            changed[1] |= old[3..] != new[3..];
            layers.bedrock[cell] = new[0];
            layers.bedrock_low[cell] = new[1];
            layers.soil[cell] = new[2];
            layers.water[cell] = new[3];
            layers.water_low[cell] = new[4];
            layers.suspended[cell] = new[5];
            if let Some(flow) = &mut flow {
                changed[1] |= flow.east[cell] != faces[0] || flow.south[cell] != faces[1];
                flow.east[cell] = faces[0];
                flow.south[cell] = faces[1];
            }
        }
        changed
    }

    fn read_edges(&self, words: &[u32], terrain: &mut Terrain) {
        let Some(flow) = terrain
            .layers_mut()
            .flow
            .filter(|_| self.flow_owner == FlowOwner::Gpu)
        else {
            return;
        };
        let edges = flow.west_border.iter_mut().chain(&mut flow.north_border);
        for (edge, word) in edges.zip(words) {
            *edge = f32::from_bits(*word);
        }
    }

    /// Adds what the GPU did to the terrain's ledger; returns what edits took in
    /// vain. units: m³
    fn read_ledger(&mut self, words: &[u32], terrain: &mut Terrain) -> DVec2 {
        let mut sums = [0.0f64; LEDGER_TERMS as usize];
        for account in words.chunks_exact(2 * LEDGER_TERMS as usize) {
            for (sum, pair) in sums.iter_mut().zip(account.chunks_exact(2)) {
                *sum += f64::from(f32::from_bits(pair[0])) + f64::from(f32::from_bits(pair[1]));
            }
        }
        let area = self.grid.cell_area();
        let before = core::mem::replace(&mut self.ledger, sums);
        let new = |term: u32| (sums[term as usize] - before[term as usize]) * area;
        let account = &mut terrain.account;
        account.solids.moved += new(status::MOVED);
        account.solids.left += new(status::SOLIDS_LEFT);
        account.water.left += new(status::WATER_LEFT);
        account.water.sea_inflow += new(status::SEA_INFLOW);
        account.water.rained += new(status::RAINED);
        account.water.evaporated += new(status::EVAPORATED);
        account.solids.lost += new(status::LOST_SOLIDS);
        account.water.lost += new(status::LOST_WATER);
        // Whoever took it has it: so much was added.
        let shortfall = dvec2(new(status::SHORTFALL_SOLIDS), new(status::SHORTFALL_WATER));
        account.solids.added += shortfall.x;
        account.water.added += shortfall.y;
        shortfall
    }

    /// Steps since a tile was read, or since it is known not to have changed.
    pub fn age(&self, tile: UVec2, step: u64) -> u64 {
        let number = tile.y * self.grid.tiles().x + tile.x;
        let Some(read) = self.read_at.get(number as usize) else {
            return 0;
        };
        let changed = self.stale.contains_key(&number) || self.requested.contains(&number);
        let since = if changed { *read } else { self.known_at };
        step.saturating_sub(since)
    }

    /// The greatest [`age`](Self::age) of any tile.
    pub fn oldest(&self, step: u64) -> u64 {
        let waiting = self.stale.keys().chain(&self.requested);
        let read = waiting.filter_map(|tile| self.read_at.get(*tile as usize).copied());
        step.saturating_sub(read.fold(self.known_at, u64::min))
    }
}

/// Most of g·d + v². units: m²/s²
pub(super) fn pace_of(terrain: &Terrain, gravity: f32) -> f32 {
    let size = terrain.size();
    let cells = (0..size.y).flat_map(|y| (0..size.x).map(move |x| (x, y)));
    cells.fold(0.0, |most, (x, y)| {
        let wave = gravity * terrain.water()[terrain.grid().index(x, y)];
        let speed = terrain.velocity(x, y).length_squared();
        most.max(wave + speed.min(4.0 * wave))
    })
}

/// Discharges through the cells' faces, and those over the west and the north
/// border.
pub(super) fn flow_of(terrain: &Terrain) -> (Vec<Vec2>, Vec<f32>) {
    let grid = terrain.grid();
    match terrain.flow() {
        Some(flow) => {
            let faces = flow.east.iter().zip(&flow.south);
            let edges = flow.west_border.iter().chain(&flow.north_border);
            (
                faces.map(|(east, south)| vec2(*east, *south)).collect(),
                edges.copied().collect(),
            )
        }
        None => (
            vec![Vec2::ZERO; grid.cells()],
            vec![0.0; grid.width() + grid.height()],
        ),
    }
}

fn cell_of(terrain: &Terrain, cell: usize) -> Cell {
    let (bedrock, bedrock_low, soil) = terrain.ground_parts(cell);
    let (water, water_low, suspended) = terrain.water_parts(cell);
    [bedrock, bedrock_low, soil, water, water_low, suspended]
}

fn corner_of(grid: &Grid, tile: u32) -> UVec2 {
    let wide = grid.tiles().x;
    uvec2(tile % wide, tile / wide) * TILE
}

/// A number as the sum of two floats.
fn two_floats(value: f64) -> Vec2 {
    let high = value as f32;
    vec2(high, (value - f64::from(high)) as f32)
}

fn difference(cell: usize, old: Cell, new: Cell) -> CellDifference {
    let pair = |c: &Cell, i: usize| f64::from(c[i]) + f64::from(c[i + 1]);
    CellDifference {
        cell: cell as u32,
        soil: new[2] - old[2],
        suspended: new[5] - old[5],
        spare: 0.0,
        rock: two_floats(pair(&new, 0) - pair(&old, 0)),
        water: two_floats(pair(&new, 3) - pair(&old, 3)),
    }
}

/// The same as the GPU will do.
fn with_difference(mut cell: Cell, difference: &CellDifference) -> Cell {
    let mut add = |i: usize, change: Vec2| {
        if change == Vec2::ZERO {
            return;
        }
        let sum = f64::from(cell[i]) + f64::from(cell[i + 1]);
        let sum = two_floats(sum + f64::from(change.x) + f64::from(change.y));
        [cell[i], cell[i + 1]] = sum.into();
    };
    add(0, difference.rock);
    add(3, difference.water);
    if cell[3] < 0.0 {
        (cell[3], cell[4]) = (0.0, 0.0);
    }
    cell[2] = (cell[2] + difference.soil).max(0.0);
    cell[5] = (cell[5] + difference.suspended).max(0.0);
    cell
}
