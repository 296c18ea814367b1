//! Hollows: their basins, the passes between these, and the way out over the lowest
//! ones (Cordonnier, Bovy and Braun, 2019: a minimum spanning tree of basins).

use super::receivers::{Edge, edge_at};
use super::{DIRECTIONS, Lake, NO_CELL, OPPOSITE, OUTLET, PIT, Reach};
use crate::parallel::Workers;
use crate::terrain::Borders;

/// Basin of all that drains out over land.
const OUTSIDE: u32 = 0;
/// Basins 1 to 4: the seas of the west, east, north and south side.
pub(super) const SEAS: usize = 4;
/// First basin of a hollow.
pub(super) const FIRST: usize = SEAS + 1;
/// Directions in which to look for passes, so that each pair is seen once.
const AHEAD: [usize; 4] = [0, 2, 4, 5];
/// Codes of passes from a cell: the four above, and over the land's edge.
const CODES: u32 = 5;

/// A way from one basin into another.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    /// Height as a number that sorts alike.
    key: u32,
    /// Cell and direction.
    code: u32,
}

/// A link of the tree of basins.
#[derive(Clone, Copy, Debug)]
struct Link {
    pass: Pass,
    next: u32,
}

/// Working memory for hollows.
#[derive(Clone, Debug, Default)]
pub(super) struct Basins {
    /// Basin of each cell; later the lake over each cell.
    pub(super) plane: Vec<u32>,
    /// Level to which water stands in each basin. units: m
    pub(super) level: Vec<f32>,
    /// Lake that fills each basin.
    lake: Vec<u32>,
    /// Deepest cell of each basin.
    pits: Vec<u32>,
    stack: Vec<u32>,
    bands: Vec<Vec<Pass>>,
    passes: Vec<Pass>,
    sorted: Vec<Pass>,
    counts: Vec<[u32; 2048]>,
    group: Vec<u32>,
    heads: Vec<u32>,
    links: Vec<Link>,
    queue: Vec<u32>,
    at: usize,
}

impl Basins {
    pub(super) fn clear(&mut self, cells: usize) {
        self.plane.clear();
        self.plane.resize(cells, OUTSIDE);
        self.pits.clear();
        self.pits.resize(FIRST, NO_CELL);
        self.stack.clear();
    }

    /// Whether there is no hollow and no sea.
    pub(super) fn none(&self) -> bool {
        self.pits.len() == FIRST && self.stack.is_empty()
    }

    /// Finds the pits of some rows, and the cells at which a sea begins.
    pub(super) fn find_pits(
        &mut self,
        toward: &[u8],
        ground: &[f32],
        width: usize,
        borders: &Borders,
        rows: core::ops::Range<usize>,
    ) {
        let size = (width, ground.len() / width);
        for y in rows {
            let row = &toward[y * width..][..width];
            let on_edge = y == 0 || y + 1 == size.1;
            // Most rows of old land hold no pit: look at them once, in vector code.
            let ends = row.iter().fold(false, |any, &toward| any | (toward == PIT));
            let all = if ends || on_edge {
                1
            } else {
                (width - 1).max(1)
            };
            for x in (0..width).step_by(all) {
                let cell = y * width + x;
                if row[x] == PIT {
                    self.plane[cell] = self.pits.len() as u32;
                    self.pits.push(cell as u32);
                    self.stack.push(cell as u32);
                } else if row[x] == OUTLET
                    && let Edge::Sea(level, side) = edge_at(borders, size, (x, y), ground[cell])
                    && ground[cell] <= level
                {
                    self.plane[cell] = side + 1;
                    self.stack.push(cell as u32);
                }
            }
        }
    }

    /// Land that is closed all around: its lowest pit takes all water.
    pub(super) fn open_lowest_pit(&mut self, toward: &mut [u8], ground: &[f32]) {
        let pits = self.pits.iter().enumerate().skip(FIRST);
        let height = |cell: u32| ground[cell as usize];
        let lowest = pits.min_by(|a, b| height(*a.1).total_cmp(&height(*b.1)));
        if let Some((basin, &cell)) = lowest {
            toward[cell as usize] = OUTLET;
            self.plane[cell as usize] = OUTSIDE;
            self.stack.retain(|&other| other != cell);
            // Its number stays unused: a basin without cells.
            self.pits[basin] = NO_CELL;
        }
    }

    /// Spreads the basins upstream, for at most `budget` cells. Whether all is done.
    pub(super) fn spread(
        &mut self,
        toward: &[u8],
        ground: &[f32],
        width: usize,
        borders: &Borders,
        budget: usize,
    ) -> bool {
        let (reach, height) = (Reach::new(width), ground.len() / width);
        let seas = sea_levels(borders);
        for _ in 0..budget {
            let Some(cell) = self.stack.pop() else {
                return true;
            };
            let cell = cell as usize;
            let basin = self.plane[cell];
            // Of a sea's catchment only what lies below its level matters.
            let highest = seas.get(basin as usize).map_or(f32::INFINITY, |sea| *sea);
            let (x, y) = (cell % width, cell / width);
            let inner = x > 0 && y > 0 && x + 1 < width && y + 1 < height;
            for direction in 0..8 {
                let (dx, dy) = DIRECTIONS[direction];
                if !inner
                    && (x.wrapping_add_signed(dx) >= width || y.wrapping_add_signed(dy) >= height)
                {
                    continue;
                }
                let next = reach.step(cell, direction as u8);
                if toward[next] == OPPOSITE[direction] && ground[next] <= highest {
                    self.plane[next] = basin;
                    self.stack.push(next as u32);
                }
            }
        }
        self.stack.is_empty()
    }

    /// Finds the passes between basins.
    pub(super) fn find_passes(
        &mut self,
        workers: Workers,
        ground: &[f32],
        width: usize,
        borders: &Borders,
        band_rows: usize,
    ) {
        let height = ground.len() / width;
        self.bands.resize_with(height.div_ceil(band_rows), Vec::new);
        let plane = &self.plane;
        workers.each(self.bands.iter_mut().enumerate(), |(band, passes)| {
            passes.clear();
            let first = band * band_rows;
            for y in first..(first + band_rows).min(height) {
                passes_of_row(passes, plane, ground, (width, height), y, borders);
            }
        });
        self.passes.clear();
        for band in &self.bands {
            self.passes.extend_from_slice(band);
        }
        self.sorted.resize(self.passes.len(), Pass::default());
        self.counts.clear();
        self.counts.resize(3, [0; 2048]);
        for pass in &self.passes {
            for (digit, counts) in self.counts.iter_mut().enumerate() {
                counts[digit_of(pass.key, digit)] += 1;
            }
        }
        for counts in &mut self.counts {
            let mut sum = 0;
            for count in counts.iter_mut() {
                sum += core::mem::replace(count, sum);
            }
        }
    }

    /// One of three rounds of sorting the passes by height; equal ones keep the order
    /// of their cells.
    pub(super) fn sort(&mut self, digit: usize) {
        let Some(places) = self.counts.get_mut(digit) else {
            return;
        };
        for pass in &self.passes {
            let place = &mut places[digit_of(pass.key, digit)];
            self.sorted[*place as usize] = *pass;
            *place += 1;
        }
        core::mem::swap(&mut self.passes, &mut self.sorted);
    }

    /// Prepares the tree of basins.
    pub(super) fn begin_tree(&mut self) {
        let basins = self.pits.len();
        self.group.clear();
        self.group.extend(0..basins as u32);
        self.group[..FIRST].fill(OUTSIDE);
        self.heads.clear();
        self.heads.resize(basins, NO_CELL);
        self.links.clear();
        self.at = 0;
    }

    /// Joins basins over the lowest passes, looking at most at `budget` of these.
    /// Whether the tree is complete.
    pub(super) fn grow_tree(&mut self, width: usize, budget: usize) -> bool {
        let reach = Reach::new(width);
        let end = (self.at + budget).min(self.passes.len());
        let complete = 2 * (self.pits.len() - FIRST);
        while self.at < end && self.links.len() < complete {
            let pass = self.passes[self.at];
            self.at += 1;
            let (one, other) = self.sides(reach, pass);
            let (a, b) = (find(&mut self.group, one), find(&mut self.group, other));
            if a == b {
                continue;
            }
            self.group[a.max(b) as usize] = a.min(b);
            for basin in [one, other] {
                let head = &mut self.heads[basin as usize];
                let next = core::mem::replace(head, self.links.len() as u32);
                self.links.push(Link { pass, next });
            }
        }
        self.at == self.passes.len() || self.links.len() >= complete
    }

    /// Prepares the walk from the outside inwards.
    pub(super) fn begin_walk(&mut self, borders: &Borders) {
        self.level.clear();
        self.level.resize(self.pits.len(), f32::NEG_INFINITY);
        self.level[..FIRST].copy_from_slice(&sea_levels(borders));
        self.lake.clear();
        self.lake.extend(0..self.pits.len() as u32);
        self.queue.clear();
        self.queue.extend(0..FIRST as u32);
        self.at = 0;
        // Reused as "seen".
        self.group.fill(0);
        self.group[..FIRST].fill(1);
    }

    /// Walks the tree from the outside inwards over at most `budget` basins: sets
    /// levels, and turns the way from each pit to its pass round. Whether all is done.
    pub(super) fn walk(
        &mut self,
        toward: &mut [u8],
        ground: &[f32],
        width: usize,
        lakes: &mut Vec<Lake>,
        budget: usize,
    ) -> bool {
        let reach = Reach::new(width);
        for _ in 0..budget {
            let Some(&basin) = self.queue.get(self.at) else {
                return true;
            };
            self.at += 1;
            let mut link = self.heads[basin as usize];
            while let Some(&Link { pass, next }) = self.links.get(link as usize) {
                link = next;
                let (one, other) = self.sides(reach, pass);
                let inner = if one == basin { other } else { one } as usize;
                if core::mem::replace(&mut self.group[inner], 1) == 1 {
                    continue;
                }
                self.queue.push(inner as u32);
                let (cell, direction) = (pass.code / CODES, pass.code % CODES);
                let (mut cell, mut direction) = (cell as usize, direction as usize);
                let mut sill = cell;
                direction = AHEAD.get(direction).map_or(OUTLET as usize, |ahead| *ahead);
                if direction < OUTLET as usize {
                    let beyond = reach.step(cell, direction as u8);
                    if ground[beyond] > ground[cell] {
                        sill = beyond;
                    }
                    if one != inner as u32 {
                        cell = beyond;
                        direction = OPPOSITE[direction] as usize;
                    }
                }
                let pit = self.pits[inner];
                // Only a pass below the water joins two hollows to one lake, so that a
                // lake has one exit and its cells lead there under water.
                if self.level[basin as usize] > ground[sill] {
                    self.level[inner] = self.level[basin as usize];
                    self.lake[inner] = self.lake[basin as usize];
                    let known = self.lake[inner] as usize;
                    if let Some(lake) = known.checked_sub(FIRST).and_then(|at| lakes.get_mut(at))
                        && ground[pit as usize] < ground[lake.pit as usize]
                    {
                        lake.pit = pit;
                    }
                } else {
                    self.level[inner] = ground[sill];
                    self.lake[inner] = (lakes.len() + FIRST) as u32;
                    lakes.push(Lake {
                        pit,
                        spill: sill as u32,
                        level: ground[sill],
                    });
                }
                turn_round(toward, reach, cell, direction as u8);
            }
        }
        self.at >= self.queue.len()
    }

    /// Replaces the basin of each cell by the lake over it: 0 where it is dry.
    pub(super) fn flood(&mut self, workers: Workers, ground: &[f32], rows_cells: usize) {
        let (levels, lakes) = (&self.level, &self.lake);
        let parts = self
            .plane
            .chunks_mut(rows_cells)
            .zip(ground.chunks(rows_cells));
        workers.each(parts, |(plane, ground)| {
            for (here, &ground) in plane.iter_mut().zip(ground) {
                if *here == OUTSIDE {
                    continue;
                }
                let basin = *here as usize;
                // A sea's own level counts as covered, as its outlets do.
                let wet = ground < levels[basin];
                *here = if wet { lakes[basin] } else { 0 };
            }
        });
    }

    /// The basins on both sides of a pass.
    fn sides(&self, reach: Reach, pass: Pass) -> (u32, u32) {
        let (cell, code) = ((pass.code / CODES) as usize, (pass.code % CODES) as usize);
        let beyond = AHEAD.get(code).map_or(OUTSIDE, |&direction| {
            self.plane[reach.step(cell, direction as u8)]
        });
        (self.plane[cell], beyond)
    }
}

/// Levels of the basins that lie outside: over land, and the four seas.
fn sea_levels(borders: &Borders) -> [f32; FIRST] {
    use crate::terrain::Border;
    let level = |border| match border {
        Border::Sea { level } => level,
        _ => f32::NEG_INFINITY,
    };
    [
        f32::NEG_INFINITY,
        level(borders.west),
        level(borders.east),
        level(borders.north),
        level(borders.south),
    ]
}

/// Turns the way from `cell` down to its pit round; `cell` itself goes `direction`.
fn turn_round(toward: &mut [u8], reach: Reach, mut cell: usize, mut direction: u8) {
    loop {
        let before = core::mem::replace(&mut toward[cell], direction);
        if before >= OUTLET {
            return;
        }
        direction = OPPOSITE[before as usize];
        cell = reach.step(cell, before);
    }
}

/// Passes from the cells of row `y` to cells ahead, and over the land's edge.
fn passes_of_row(
    passes: &mut Vec<Pass>,
    plane: &[u32],
    ground: &[f32],
    size: (usize, usize),
    y: usize,
    borders: &Borders,
) {
    let (width, height) = size;
    let reach = Reach::new(width);
    let rows = if y + 1 < height { 2 } else { 1 };
    let both = &plane[y * width..][..rows * width];
    if both.iter().fold(0, |any, &basin| any | basin) == 0 {
        return;
    }
    for x in 0..width {
        let cell = y * width + x;
        let here = plane[cell];
        let on_edge = x == 0 || y == 0 || x + 1 == width || y + 1 == height;
        if !on_edge {
            let below = &plane[cell + width - 1..][..3];
            let same = plane[cell + 1] == here && below == [here; 3];
            if same {
                continue;
            }
        }
        let height_here = ground[cell];
        let mut ahead = [(here, f32::INFINITY); 4];
        for (code, &direction) in AHEAD.iter().enumerate() {
            let (dx, dy) = DIRECTIONS[direction];
            if x.wrapping_add_signed(dx) < width && y.wrapping_add_signed(dy) < height {
                let next = reach.step(cell, direction as u8);
                ahead[code] = (plane[next], height_here.max(ground[next]));
            }
        }
        for (code, &(basin, pass)) in ahead.iter().enumerate() {
            let outside = here < FIRST as u32 && basin < FIRST as u32;
            // Of several passes from this cell into a basin only the lowest counts.
            let lower = |&(other, height): &(u32, f32)| other == basin && height < pass;
            let equal = |&(other, height): &(u32, f32)| other == basin && height == pass;
            if basin == here
                || outside
                || ahead.iter().any(lower)
                || ahead[..code].iter().any(equal)
            {
                continue;
            }
            passes.push(Pass {
                key: sortable(pass),
                code: cell as u32 * CODES + code as u32,
            });
        }
        if on_edge
            && here >= FIRST as u32
            && edge_at(borders, size, (x, y), height_here) != Edge::Closed
        {
            passes.push(Pass {
                key: sortable(height_here),
                code: cell as u32 * CODES + CODES - 1,
            });
        }
    }
}

/// A number that sorts as the height does.
fn sortable(height: f32) -> u32 {
    let bits = height.to_bits();
    bits ^ (((bits as i32) >> 31) as u32 | 0x8000_0000)
}

fn digit_of(key: u32, digit: usize) -> usize {
    ((key >> (11 * digit)) & 2047) as usize
}

/// The group that a basin belongs to by now.
fn find(group: &mut [u32], basin: u32) -> u32 {
    let mut at = basin;
    while group[at as usize] != at {
        let up = group[group[at as usize] as usize];
        group[at as usize] = up;
        at = up;
    }
    at
}
