//! One sub-step of a band of rows, in a single sweep.
//!
//! A cell's new water needs the old state of cells up to two rows away: its faces'
//! discharges are limited by what its neighbors give in all. So the sweep loads
//! row r, then knows the faces between rows r − 1 and r, then what row r − 1 can
//! give, then the limited faces between r − 2 and r − 1, and moves the water of
//! row r − 2 in place. What that water wears and lets fall is spread over a cell's
//! neighbors, so that the ground of row r − 3 comes last. A few rolling rows keep
//! what is still needed of the old state, and the rows beyond the band's edges are
//! saved before any band starts. Memory is read and written once.

use super::rows::{
    Around, North, Source, Step, exchange, faces_along, faces_between, limit, load_row, move_on,
    scatter, shares,
};
use crate::{
    models::{most, rows::Rows},
    terrain::{Border, Borders, FILM, Ledger, TILE, add_exactly, relative_ground},
};
use core::ops::Range;
use multiversion::multiversion;

/// Side of a tile, in cells.
pub(super) const SIDE: usize = TILE as usize;

/// Rows of a band, by the rows of the grid: one tile, or two where there
/// are enough bands for everyone. Each band works on six rows beyond its own,
/// so higher ones waste less. It must not depend on the workers: the ledger
/// adds up band by band.
pub(super) fn band_rows(height: usize) -> usize {
    if height < 16 * SIDE { SIDE } else { 2 * SIDE }
}

/// Bits of a tile's state: some water in it, and at each of its edges; and some
/// before the last sub-step, so that a tile that ran dry is swept once more and
/// keeps no discharges for the next water.
pub(super) mod wet {
    use super::super::rows::WET_REACH as REACH;

    pub const ANY: u8 = 1;
    pub const NORTH: u8 = 2;
    pub const SOUTH: u8 = 4;
    pub const WEST: u8 = 8;
    pub const EAST: u8 = 16;
    pub const BEFORE: u8 = 32;

    /// What is left of a tile's state when a sub-step begins.
    #[inline(always)]
    pub fn before(state: u8) -> u8 {
        if state & ANY != 0 { BEFORE } else { 0 }
    }

    /// Whether a row of a tile, of so many rows, is near to its north and south edge.
    #[inline(always)]
    pub fn near_edges(row: usize, rows: usize) -> [bool; 2] {
        [row < REACH, row + REACH >= rows]
    }

    /// The state that one wet row gives its tile.
    #[inline(always)]
    pub fn row(water: &[f32], [north, south]: [bool; 2]) -> u8 {
        let side = |there: bool, bit: u8| if there { bit } else { 0 };
        let wet = |cells: &[f32]| cells.iter().any(|&depth| depth > super::FILM);
        let reach = REACH.min(water.len());
        ANY | side(north, NORTH)
            | side(south, SOUTH)
            | side(wet(&water[..reach]), WEST)
            | side(wet(&water[water.len() - reach..]), EAST)
    }
}

/// A row as it was before the sub-step.
#[derive(Clone, Debug, Default)]
pub(super) struct OldRow {
    /// Ground above the datum and water on it, padded by a cell at each end.
    pub ground: Vec<f32>,
    pub water: Vec<f32>,
    pub water_low: Vec<f32>,
    pub suspended: Vec<f32>,
    /// Faces along the row, the west end first.
    pub along: Vec<f32>,
    pub south: Vec<f32>,
}

/// The three rows above a band and the three below it. Beyond a border the nearest
/// one is a ghost, and those farther out are not used.
#[derive(Clone, Debug, Default)]
pub(super) struct Halo {
    pub rows: [OldRow; 6],
    /// Discharges between the fourth row above and the third.
    pub fourth: Vec<f32>,
}

impl Halo {
    /// The saved row of this number, of a band from `first` to before `end`.
    #[inline(always)]
    fn row(&self, row: isize, [first, end]: [isize; 2]) -> &OldRow {
        let number = if row < first {
            row - first + 3
        } else {
            row - end + 3
        };
        &self.rows[number as usize]
    }
}

/// What a band reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Most of g·d + v² over the cells. units: m²/s²
    pub pace: f32,
    /// Sum of thicknesses taken up. units: m
    pub taken: f64,
    /// Sums of thicknesses that went out and came in over the border. units: m
    pub water_out: f64,
    pub water_in: f64,
    pub solids_out: f64,
    /// Tiles whose ground changed.
    pub ground_changed: Vec<bool>,
}

impl Report {
    pub fn clear(&mut self, tiles: usize) {
        let mut ground_changed = core::mem::take(&mut self.ground_changed);
        ground_changed.clear();
        ground_changed.resize(tiles, false);
        *self = Self {
            ground_changed,
            ..Self::default()
        };
    }

    /// Adds what this band did to the ledger.
    pub fn add_to(&self, account: &mut Ledger, cell_area: f64) {
        account.solids.moved += self.taken * cell_area;
        account.solids.left += self.solids_out * cell_area;
        account.water.left += self.water_out * cell_area;
        account.water.sea_inflow += self.water_in * cell_area;
    }

    /// A face on the border: `given` is positive where water goes out.
    #[inline(always)]
    fn cross_border(&mut self, given: f32, carried: f32, per_length: f32) {
        let given = f64::from(given) * f64::from(per_length);
        self.water_out += given.max(0.0);
        self.water_in += (-given).max(0.0);
        self.solids_out += f64::from(carried) * f64::from(per_length);
    }
}

/// The rows of the layers that a band changes.
pub(super) struct Band<'a> {
    /// Number of the band's first row, of rows in it, and of all rows.
    pub first: usize,
    pub rows: usize,
    pub height: usize,
    pub width: usize,
    pub borders: Borders,
    pub bedrock: &'a mut [f32],
    pub bedrock_low: &'a mut [f32],
    pub soil: &'a mut [f32],
    pub water: &'a mut [f32],
    pub water_low: &'a mut [f32],
    pub suspended: &'a mut [f32],
    pub hardness: Option<&'a [f32]>,
    pub east: &'a mut [f32],
    pub south: &'a mut [f32],
    pub west_border: &'a mut [f32],
    /// Of the first band only.
    pub north_border: Option<&'a mut [f32]>,
    pub halo: &'a Halo,
    /// Runs of columns that take part, and the state of the band's tiles.
    pub strips: &'a [Range<usize>],
    pub tiles: &'a mut [u8],
    pub report: &'a mut Report,
}

/// Rolling rows of one worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch(Vec<f32>);

const SCRATCH_ROWS: usize = 45;

impl Scratch {
    pub fn fit(&mut self, width: usize) {
        self.0.resize(SCRATCH_ROWS * Rows::pitch(width + 3), 0.0);
    }
}

/// Ground and water beyond the border of a cell, from the cell and its inner
/// neighbor: the ground goes on as it does at the edge.
#[inline(always)]
pub(super) fn beyond(
    border: Border,
    datum: f32,
    [ground, water]: [f32; 2],
    inner_ground: f32,
) -> [f32; 2] {
    let rise = ground - inner_ground;
    let outer = ground + rise;
    match border {
        Border::Wall => [outer, 0.0],
        Border::Open => {
            // At least as steep as an outfall over a step.
            let fall = (-rise).max(water);
            [outer, (water - fall - rise).max(0.0)]
        }
        Border::Sea { level: sea } => {
            let outer = outer.min(ground);
            [outer, (sea - datum - outer).max(0.0)]
        }
    }
}

/// Keeps a discharge that a border allows; `outward` is +1 or −1.
#[inline(always)]
fn allowed(border: Border, discharge: f32, outward: f32) -> f32 {
    match border {
        Border::Wall => 0.0,
        Border::Open => (discharge * outward).max(0.0) * outward,
        Border::Sea { .. } => discharge,
    }
}

/// Advances all strips of a band.
pub(super) fn sweep(mut band: Band, step: &Step, scratch: &mut Scratch) {
    for strip in band.strips {
        sweep_strip(&mut band, strip.clone(), step, scratch);
    }
}

/// The newest of two rolling rows, and the one before it.
#[inline(always)]
fn roll<'r>(ring: &'r mut [&mut [f32]; 2], newest: usize) -> (&'r mut [f32], &'r [f32]) {
    let [even, odd] = ring;
    match newest % 2 {
        0 => (even, odd),
        _ => (odd, even),
    }
}

/// The newest of three rolling rows, and the two before it, the nearer one first.
#[inline(always)]
fn roll_three<'r>(ring: &'r mut [&mut [f32]; 3], newest: usize) -> (&'r mut [f32], [&'r [f32]; 2]) {
    let [a, b, c] = ring;
    match newest % 3 {
        0 => (a, [c, b]),
        1 => (b, [a, c]),
        _ => (c, [b, a]),
    }
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl",
    "x86_64+avx2",
    "x86_64+sse4.1"
))]
fn sweep_strip(band: &mut Band, strip: Range<usize>, step: &Step, scratch: &mut Scratch) {
    let (width, n, first) = (band.width, strip.len(), band.first);
    let mut scratch = Rows::of(&mut scratch.0, width + 3);
    // Padded rows of the old state; row r at (r + 2) % length.
    let mut ground: [_; 5] = scratch.take_padded(1);
    let mut depth: [_; 2] = scratch.take_padded(1);
    let mut old_along: [_; 2] = scratch.take_padded(2);
    let mut old_south: [_; 3] = scratch.take_padded(1);
    for row in &mut old_south {
        // Beyond the strip nothing flows.
        (row[0], row[n + 1]) = (0.0, 0.0);
    }
    if first > 0 {
        // The sweep begins with faces whose neighbors lie before it.
        let fourth = &band.halo.fourth[strip.clone()];
        old_south[(first - 2) % 3][1..=n].copy_from_slice(fourth);
    }
    // Wishes, shares (padded), and what is given, of the two newest rows.
    let mut wish_south: [_; 2] = scratch.take();
    let [wish_along] = scratch.take();
    let mut share: [_; 2] = scratch.take_padded(1);
    let mut load: [_; 2] = scratch.take_padded(1);
    for row in share.iter_mut() {
        (row[0], row[n + 1]) = (1.0, 1.0);
    }
    for row in load.iter_mut() {
        (row[0], row[n + 1]) = (0.0, 0.0);
    }
    let along: [_; 2] = scratch.take();
    let carried_along: [_; 2] = scratch.take();
    let mut carried_south: [_; 2] = scratch.take();
    // Limited faces of rows beyond the band, and the new state of such a row.
    let given_beyond: [_; 2] = scratch.take();
    let [water_beyond, low_beyond, load_beyond, unused] = scratch.take();
    // What the water of a row wears and lets fall, padded, and what of the latter goes
    // to the next cell and to the next row.
    let mut worn: [_; 3] = scratch.take_padded(1);
    let mut fallen: [_; 2] = scratch.take_padded(1);
    let mut thinned: [_; 2] = scratch.take_padded(1);
    let mut level: [_; 2] = scratch.take_padded(1);
    let [scattered_along] = scratch.take();
    let mut scattered_south: [_; 2] = scratch.take();
    let [cut, from_soil] = scratch.take();
    // Whether something in a row may move, and whether it did.
    let (mut stirs, mut moved) = ([false; 4], [false; 3]);

    let (first, end, height) = (
        band.first as isize,
        (band.first + band.rows) as isize,
        band.height as isize,
    );
    let at = |row: isize| (row + 2) as usize;
    let at_west = strip.start == 0;
    let at_east = strip.end == width;
    let begin = if first == 0 { -1 } else { first - 3 };
    for newest in begin..=end + 2 {
        // Load row `newest`.
        if newest <= height {
            let own = (first..end).contains(&newest);
            let rows = [at(newest) % 5, at(newest - 1) % 5];
            let Ok([ground, north_ground]) = ground.get_disjoint_mut(rows) else {
                // Two neighbors are never the same.
                return;
            };
            let (depth, north_depth) = roll(&mut depth, at(newest));
            let (along, north_along) = roll(&mut old_along, at(newest));
            let (south, [north_south, before]) = roll_three(&mut old_south, at(newest));
            if own {
                let row = (newest - first) as usize;
                let north = North {
                    ground: &north_ground[1..],
                    water: &north_depth[1..],
                    // Beyond the north border there is no other row.
                    before: &if newest == 0 { north_south } else { before }[1..],
                    old: &north_south[1..],
                    along: &north_along[1..],
                };
                let (wish, _) = roll(&mut wish_south, at(newest - 1));
                let loaded: [&mut [f32]; 5] = [ground, depth, along, south, wish];
                stirs[at(newest) % 4] = load_own_row(band, row, &strip, &north, step, loaded);
            } else {
                let old = band.halo.row(newest, [first, end]);
                ground[..n + 2].copy_from_slice(&old.ground[strip.start..strip.end + 2]);
                depth[..n + 2].copy_from_slice(&old.water[strip.start..strip.end + 2]);
                along[1..n + 2].copy_from_slice(&old.along[strip.start..=strip.end]);
                south[1..=n].copy_from_slice(&old.south[strip.clone()]);
                let loads = &old.suspended[strip.clone()];
                stirs[at(newest) % 4] = depth[1..=n].iter().any(|depth| *depth > FILM)
                    || loads.iter().any(|load| *load > 0.0);
            }
            // Beyond its ends the row flows as it does there.
            (along[0], along[n + 2]) = (along[1], along[n + 1]);
        }

        // Faces between rows `newest − 1` and `newest`.
        let row = newest - 1;
        if row < begin {
            continue;
        }
        if newest <= height {
            let (wish, _) = roll(&mut wish_south, at(row));
            let wish = &mut wish[..n];
            if stirs[at(row) % 4] || stirs[at(newest) % 4] {
                // Those of an own row came with it, but for the first, for which
                // the discharge to its west was not known. The band's first cell
                // has no neighbor in memory, so that all of its row was not.
                let came = (first..end).contains(&newest) && (newest > first || !at_west);
                let count = if came { 1 } else { n };
                faces_between(
                    [&ground[at(row) % 5][1..], &ground[at(newest) % 5][1..]],
                    [&depth[at(row) % 2][1..], &depth[at(newest) % 2][1..]],
                    // Beyond the north border there is no other row.
                    [
                        &old_south[at(row.max(0) - 1) % 3][1..],
                        &old_south[at(row) % 3][1..],
                        &old_south[at(newest) % 3][1..],
                    ],
                    [
                        &old_along[at(row) % 2][1..],
                        &old_along[at(newest) % 2][1..],
                    ],
                    step,
                    &mut wish[..count],
                );
                let border = match row {
                    -1 => Some((band.borders.north, -1.0)),
                    row if row == height - 1 => Some((band.borders.south, 1.0)),
                    _ => None,
                };
                if let Some((border, outward)) = border {
                    for wish in wish {
                        *wish = allowed(border, *wish, outward);
                    }
                }
            } else {
                wish.fill(0.0);
            }
        }

        // Faces along row `newest − 1`, and what its cells can give.
        if row < first - 2 {
            continue;
        }
        let ghost = row < 0 || row >= height;
        let (share_here, share_north) = roll(&mut share, at(row));
        let (load_here, load_north) = roll(&mut load, at(row));
        let own = (first..end).contains(&row);
        // The water of the rows next to the band is moved as well, for what it wears.
        let near = (first - 1..=end).contains(&row);
        if ghost {
            share_here[1..=n].fill(1.0);
            load_here[1..=n].fill(0.0);
        } else if !stirs[at(row) % 4] {
            share_here[1..=n].fill(0.0);
            load_here[1..=n].fill(0.0);
            if near {
                along[at(row) % 2][..=n].fill(0.0);
                carried_along[at(row) % 2][..=n].fill(0.0);
            }
        } else {
            faces_along(
                &ground[at(row) % 5][..],
                &depth[at(row) % 2][..],
                &old_along[at(row) % 2][..],
                [&old_south[at(row - 1) % 3][..], &old_south[at(row) % 3][..]],
                step,
                &mut wish_along[..n + 1],
            );
            if at_west {
                wish_along[0] = allowed(band.borders.west, wish_along[0], -1.0);
            }
            if at_east {
                wish_along[n] = allowed(band.borders.east, wish_along[n], 1.0);
            }
            let (water, suspended) = if own {
                let row = (row - first) as usize;
                let cells = row * width + strip.start..row * width + strip.end;
                (&band.water[cells.clone()], &band.suspended[cells])
            } else {
                let old = band.halo.row(row, [first, end]);
                (
                    &old.water[strip.start + 1..=strip.end],
                    &old.suspended[strip.clone()],
                )
            };
            let (wish_here, wish_north) = roll(&mut wish_south, at(row));
            shares(
                water,
                suspended,
                wish_along,
                [wish_north, wish_here],
                step,
                &mut share_here[1..=n],
                &mut load_here[1..=n],
            );
            if near {
                limit(
                    &wish_along[..n + 1],
                    [share_here, &share_here[1..]],
                    [load_here, &load_here[1..]],
                    &mut along[at(row) % 2][..],
                    &mut carried_along[at(row) % 2][..],
                );
            }
        }

        // Limited faces between rows `newest − 2` and `newest − 1`.
        let row = newest - 2;
        if row < begin.max(first - 2) {
            continue;
        }
        let own = (first..end).contains(&row);
        let local = (row - first).max(0) as usize;
        let cells = local * width + strip.start..local * width + strip.end;
        let (carried, carried_north) = roll(&mut carried_south, at(row));
        if row < height {
            let given = match own {
                true => &mut band.south[cells.clone()],
                false => &mut given_beyond[at(row) % 2][..n],
            };
            if stirs[at(row) % 4] || stirs[at(row + 1) % 4] {
                limit(
                    &roll(&mut wish_south, at(row)).0[..n],
                    [&share_north[1..], &share_here[1..]],
                    [&load_north[1..], &load_here[1..]],
                    given,
                    carried,
                );
            } else {
                given.fill(0.0);
                carried[..n].fill(0.0);
            }
            if row == -1 || row == height - 1 {
                let outward = if row < 0 { -1.0 } else { 1.0 };
                for (given, carried) in given.iter().zip(&carried[..n]) {
                    let (given, carried) = (given * outward, carried * outward);
                    band.report.cross_border(given, carried, step.per_length);
                }
                if let (-1, Some(border)) = (row, band.north_border.as_deref_mut()) {
                    border[strip.clone()].copy_from_slice(given);
                }
            }
        }

        // The new water of row `newest − 2`.
        if row < first - 1 {
            continue;
        }
        let ghost = row < 0 || row >= height;
        let stirred = stirs[at(row - 1) % 4] || stirs[at(row) % 4] || stirs[at(row + 1) % 4];
        moved[at(row) % 3] = stirred && !ghost;
        let along = &along[at(row) % 2][..=n];
        let carried_along = &carried_along[at(row) % 2][..=n];
        let worn_here = &mut worn[at(row) % 3];
        let (fallen_here, fallen_north) = roll(&mut fallen, at(row));
        let (thinned_here, thinned_north) = roll(&mut thinned, at(row));
        let (level_here, level_north) = roll(&mut level, at(row));
        if own && at_west {
            band.west_border[local] = along[0];
            let report = &mut band.report;
            report.cross_border(-along[0], -carried_along[0], step.per_length);
        }
        if own && at_east {
            let report = &mut band.report;
            report.cross_border(along[n], carried_along[n], step.per_length);
        }
        if moved[at(row) % 3] {
            let north = match row - 1 {
                before if before < first || before >= end => &given_beyond[at(before) % 2][..n],
                before => {
                    let before = (before - first) as usize * width;
                    &band.south[before + strip.start..before + strip.end]
                }
            };
            let south = match own {
                true => &band.south[cells.clone()],
                false => &given_beyond[at(row) % 2][..n],
            };
            let given = Around {
                along,
                north,
                south,
            };
            let carried = Around {
                along: carried_along,
                north: carried_north,
                south: carried,
            };
            let [water, low, load, east] = if own {
                [
                    &mut band.water[cells.clone()],
                    &mut band.water_low[cells.clone()],
                    &mut band.suspended[cells.clone()],
                    &mut band.east[cells.clone()],
                ]
            } else {
                let old = band.halo.row(row, [first, end]);
                water_beyond[..n].copy_from_slice(&old.water[strip.start + 1..=strip.end]);
                low_beyond[..n].copy_from_slice(&old.water_low[strip.clone()]);
                load_beyond[..n].copy_from_slice(&old.suspended[strip.clone()]);
                [
                    &mut water_beyond[..n],
                    &mut low_beyond[..n],
                    &mut load_beyond[..n],
                    &mut unused[..n],
                ]
            };
            let pace = move_on(
                &given,
                &carried,
                &ground[at(row) % 5][1..],
                step,
                water,
                low,
                load,
                east,
                &mut worn_here[1..=n],
                &mut fallen_here[1..=n],
                &mut thinned_here[1..=n],
                &mut level_here[1..=n],
            );
            if own {
                band.report.pace = band.report.pace.max(pace);
            }
        } else {
            worn_here[1..=n].fill(0.0);
            fallen_here[1..=n].fill(0.0);
            thinned_here[1..=n].fill(0.0);
            if own {
                // Nothing flows along the row.
                band.east[cells].fill(0.0);
            }
        }
        // What is worn beyond a border is as at its edge; beyond the strip it is dry.
        worn_here[0] = if at_west { worn_here[1] } else { 0.0 };
        worn_here[n + 1] = if at_east { worn_here[n] } else { 0.0 };

        // What falls and is scattered between rows `newest − 3` and `newest − 2`.
        let row = newest - 3;
        let (scattered, scattered_north) = roll(&mut scattered_south, at(row));
        let scattered = &mut scattered[..n];
        if ghost || row < 0 || !(moved[at(row) % 3] || moved[at(row + 1) % 3]) {
            scattered.fill(0.0);
        } else {
            scatter(
                [&ground[at(row) % 5][1..], &ground[at(row + 1) % 5][1..]],
                [&level_north[1..], &level_here[1..]],
                [&fallen_north[1..], &fallen_here[1..]],
                [&thinned_north[1..], &thinned_here[1..]],
                scattered,
            );
        }

        // The new ground of row `newest − 3`.
        if row < first {
            continue;
        }
        let (north, south) = ((row - 1).max(0), (row + 1).min(height - 1));
        if moved[at(north) % 3] || moved[at(row) % 3] || moved[at(south) % 3] {
            let local = (row - first) as usize;
            let cells = local * width + strip.start..local * width + strip.end;
            // Beyond a border the ground goes on.
            let around = [
                &ground[at(row - 1) % 5][..],
                &ground[at(row) % 5][..],
                &ground[at(row + 1) % 5][..],
            ];
            scatter(
                [&around[1][1..], &around[1][2..]],
                [&level_north[1..], &level_north[2..]],
                [&fallen_north[1..], &fallen_north[2..]],
                [&thinned_north[1..], &thinned_north[2..]],
                &mut scattered_along[1..n],
            );
            // Nothing over a border; beyond the strip it is dry.
            (scattered_along[0], scattered_along[n]) = (0.0, 0.0);
            let scattered = Around {
                along: &scattered_along[..=n],
                north: scattered_north,
                south: scattered,
            };
            let [north, here, south] = [at(north) % 3, at(row) % 3, at(south) % 3];
            let (cut, from_soil) = (&mut cut[..n], &mut from_soil[..n]);
            let changes = exchange(
                around,
                [worn[north], worn[here], worn[south]],
                &fallen_north[1..],
                &scattered,
                &band.water[cells.clone()],
                step,
                &mut band.suspended[cells.clone()],
                &mut band.soil[cells],
                cut,
                from_soil,
            );
            finish_row(band, local, &strip, changes, cut, from_soil);
        }
    }
}

/// Loads a row of the band, and the ground and water of the cells beside the
/// strip. What the face of its first cell to the row before wishes is not right
/// yet.
#[inline(always)]
fn load_own_row(
    band: &Band,
    row: usize,
    strip: &Range<usize>,
    north: &North,
    step: &Step,
    [ground, depth, along, south, wish]: [&mut [f32]; 5],
) -> bool {
    let (n, datum) = (strip.len(), step.datum);
    let cells = row * band.width + strip.start..row * band.width + strip.end;
    let source = Source {
        bedrock: &band.bedrock[cells.clone()],
        bedrock_low: &band.bedrock_low[cells.clone()],
        soil: &band.soil[cells.clone()],
        water: &band.water[cells.clone()],
        suspended: &band.suspended[cells.clone()],
        east: &band.east[cells.clone()],
        south: &band.south[cells.clone()],
    };
    let west = &band.east[cells.start.saturating_sub(1)..];
    let mut stirs = load_row(
        &source,
        west,
        north,
        step,
        &mut ground[1..=n],
        &mut depth[1..=n],
        &mut along[2..n + 2],
        &mut south[1..=n],
        wish,
    );
    let beside = |cell: usize| {
        let (bedrock, rest) = (band.bedrock[cell], band.bedrock_low[cell]);
        let ground = relative_ground(bedrock, rest, band.soil[cell], datum);
        [ground, band.water[cell]]
    };
    if strip.start > 0 {
        [ground[0], depth[0]] = beside(cells.start - 1);
        along[1] = 0.0;
    } else {
        let edge = [ground[1], depth[1]];
        [ground[0], depth[0]] = beyond(band.borders.west, datum, edge, ground[2.min(n)]);
        along[1] = band.west_border[row];
        // A sea may come in over dry land.
        stirs |=
            matches!(band.borders.west, Border::Sea { .. }) && ground[0] + depth[0] > ground[1];
    }
    if strip.end < band.width {
        [ground[n + 1], depth[n + 1]] = beside(cells.end);
    } else {
        let edge = [ground[n], depth[n]];
        let inner = ground[(n - 1).max(1)];
        [ground[n + 1], depth[n + 1]] = beyond(band.borders.east, datum, edge, inner);
        stirs |= matches!(band.borders.east, Border::Sea { .. })
            && ground[n + 1] + depth[n + 1] > ground[n];
    }
    stirs
}

/// Cuts bedrock, records which tiles are wet and which have changed.
#[inline(always)]
fn finish_row(
    band: &mut Band,
    row: usize,
    strip: &Range<usize>,
    [any_cut, any_soil]: [u32; 2],
    cut: &mut [f32],
    from_soil: &[f32],
) {
    let cells = row * band.width + strip.start..row * band.width + strip.end;
    if any_cut != 0 {
        if let Some(hardness) = band.hardness {
            for (cut, hardness) in cut.iter_mut().zip(&hardness[cells.clone()]) {
                *cut *= 1.0 - hardness;
            }
        }
        let bedrock = band.bedrock[cells.clone()].iter_mut();
        let rest = band.bedrock_low[cells.clone()].iter_mut();
        let suspended = band.suspended[cells].iter_mut();
        for (((bedrock, rest), suspended), cut) in bedrock.zip(rest).zip(suspended).zip(&*cut) {
            add_exactly(bedrock, rest, -cut);
            *suspended += cut;
        }
        band.report.taken += sum_of_positive(cut);
    }
    if any_soil != 0 {
        band.report.taken += sum_of_positive(from_soil);
    }
    // A tile that is known to have changed, or to be wet, is not looked at again.
    let tiles = row / SIDE * band.width.div_ceil(SIDE);
    let first = row / SIDE * SIDE;
    let near_edges = wet::near_edges(row - first, SIDE.min(band.rows - first));
    let mut from = strip.start;
    while from < strip.end {
        let to = ((from / SIDE + 1) * SIDE).min(strip.end);
        let tile = tiles + from / SIDE;
        let here = from - strip.start..to - strip.start;
        if any_cut | any_soil != 0 && !band.report.ground_changed[tile] {
            let changes = cut[here.clone()].iter().zip(&from_soil[here]);
            let any = changes.fold(0, |any, (cut, soil)| {
                any | cut.to_bits() | (soil.to_bits() << 1)
            });
            band.report.ground_changed[tile] = any != 0;
        }
        let water = &band.water[row * band.width + from..row * band.width + to];
        let known = band.tiles[tile] & wet::ANY != 0 && near_edges == [false; 2];
        if known || deepest(water) > FILM {
            band.tiles[tile] |= wet::row(water, near_edges);
        }
        from = to;
    }
}

/// The most of some depths.
#[inline(always)]
fn deepest(water: &[f32]) -> f32 {
    // Bits of positive numbers are ordered as the numbers are.
    f32::from_bits(water.iter().map(|depth| depth.to_bits()).fold(0, u32::max))
}

/// Sum of what is above zero, in a fixed order of sixteen lanes.
#[inline(always)]
fn sum_of_positive(values: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut lanes = [0.0f32; LANES];
    let (chunks, tail) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += most(chunk[lane], 0.0);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(tail) {
        *lane += most(*value, 0.0);
    }
    lanes.iter().map(|&lane| f64::from(lane)).sum()
}
