//! The kernels of the sweep, a row each: plain loops over disjoint slices that
//! load both sides and select, so that the compiler makes vectors of them. All
//! slices of a loop have its length: a check that is left would cost a rest of
//! eight cells, one by one. Several short loops are faster than a long one: more
//! cells fit into the processor while it waits for a root or a ratio. Only loops
//! that wait for memory are given more to do.
//!
//! `level` rows and `ground` rows are padded by one cell at each end. A row of
//! `n` cells has `n + 1` faces along it, the first being its west end.

use crate::{
    models::{least, most},
    terrain::{FILM, add_exactly, relative_ground},
};

/// Constants of one sub-step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub datum: f32,
    /// dt / l. units: s/m
    pub per_length: f32,
    /// g·dt / l. units: 1/s · m/m
    pub push: f32,
    /// g·n²·dt.
    pub drag: f32,
    /// Share of a discharge that comes from each of the faces before and behind
    /// it (after de Almeida et al. 2012): it calms waves as short as the grid.
    pub calm: f32,
    pub gravity: f32,
    /// 1 / 2l. units: 1/m
    pub gradient: f32,
    pub capacity: f32,
    pub full_depth: f32,
    /// Square of the sine of the least tilt.
    pub min_sine_squared: f32,
    /// λ / l². units: 1/m
    pub rounding: f32,
    /// 1 − e^(−Ks·dt): share of a lack that soil makes up.
    pub soil_share: f32,
    /// How readily bedrock is taken up where soil is one.
    pub rock_per_soil: f32,
    /// 1 − e^(−Kd·dt): share of a surplus that falls.
    pub fall_share: f32,
}

/// Share of a discharge along an axis that goes to each side. Water that the
/// grid carries askew, by turns along x and y, spreads by itself.
const SPREADING: f32 = 0.6;

/// A cell that gives away all it has would come out a hair below zero.
const NEVER_ALL: f32 = 1.000_001;

/// Cells of a row, as the layers have them.
pub(super) struct Source<'a> {
    pub bedrock: &'a [f32],
    pub bedrock_rest: &'a [f32],
    pub soil: &'a [f32],
    pub water: &'a [f32],
    pub suspended: &'a [f32],
    pub east: &'a [f32],
    pub south: &'a [f32],
}

/// Where [`load_row`] puts what it knows of each cell.
pub(super) struct Loaded<'a> {
    /// Ground above the datum, and the water's level on it.
    pub ground: &'a mut [f32],
    pub level: &'a mut [f32],
    pub east: &'a mut [f32],
    pub south: &'a mut [f32],
    /// Depth powers of the faces to the row before.
    pub power: &'a mut [f32],
}

/// x^(−1/3) for positive normal numbers, to 2e-5: a first guess from the
/// exponent's bits and two steps of Newton's method. Only shifts, additions and
/// multiplications: the same bits on every machine.
#[inline(always)]
pub(in crate::models) fn inverse_cube_root(x: f32) -> f32 {
    let bits = x.to_bits();
    // A third of the bits: 1/4 + 1/16 + 1/64 + …
    let third = (bits >> 2) + (bits >> 4);
    let third = third + (third >> 4);
    let third = third + (third >> 8);
    let mut r = f32::from_bits(0x54A2_0000u32.wrapping_sub(third));
    for _ in 0..2 {
        r *= 4.0 / 3.0 - (x * r) * (r * r) * (1.0 / 3.0);
    }
    r
}

/// Depth of a face to the power of 7/3, which decides its friction.
#[inline(always)]
fn depth_power(ground: [f32; 2], level: [f32; 2]) -> f32 {
    let h = most(face_depth(ground, level), FILM);
    let r = inverse_cube_root(h);
    (h * h) * (h * (r * r))
}

/// Water above the higher ground at a face.
#[inline(always)]
fn face_depth(ground: [f32; 2], level: [f32; 2]) -> f32 {
    most(level[0], level[1]) - most(ground[0], ground[1])
}

/// Depth powers of a row of faces between the cells of two rows.
#[inline(always)]
pub(super) fn depth_powers(ground: [&[f32]; 2], level: [&[f32]; 2], power: &mut [f32]) {
    let n = power.len();
    let (ground, level) = (ground.map(|row| &row[..n]), level.map(|row| &row[..n]));
    for x in 0..n {
        power[x] = depth_power(ground.map(|row| row[x]), level.map(|row| row[x]));
    }
}

/// Takes a row from memory, all layers at once: the processor then waits for all
/// at the same time, and has the depth powers to work on meanwhile. `north` is
/// ground and level of the row before. Returns whether anything in the row may
/// move.
#[inline(always)]
pub(super) fn load_row(source: &Source, north: [&[f32]; 2], datum: f32, loaded: Loaded) -> bool {
    let n = source.bedrock.len();
    let (bedrock, rest) = (&source.bedrock[..n], &source.bedrock_rest[..n]);
    let (soil, water) = (&source.soil[..n], &source.water[..n]);
    let suspended = &source.suspended[..n];
    let (old_east, old_south) = (&source.east[..n], &source.south[..n]);
    let (ground, level) = (&mut loaded.ground[..n], &mut loaded.level[..n]);
    let (east, south) = (&mut loaded.east[..n], &mut loaded.south[..n]);
    let [north_ground, north_level] = north.map(|row| &row[..n]);
    let power = &mut loaded.power[..n];
    // Bits of positive numbers are ordered as the numbers are.
    let (mut deepest, mut load) = (0u32, 0u32);
    for x in 0..n {
        let z = relative_ground(bedrock[x], rest[x], soil[x], datum);
        let h = z + water[x];
        ground[x] = z;
        level[x] = h;
        east[x] = old_east[x];
        south[x] = old_south[x];
        power[x] = depth_power([north_ground[x], z], [north_level[x], h]);
        deepest = deepest.max(water[x].to_bits());
        load |= suspended[x].to_bits();
    }
    deepest > FILM.to_bits() || load != 0
}

/// What decides the discharges of a row of faces. Each pair is of the two cells
/// of a face; all slices are as long as the row.
struct Faces<'a> {
    ground: [&'a [f32]; 2],
    level: [&'a [f32]; 2],
    /// Old discharges: of the next face before, here, of the next face behind.
    old: [&'a [f32]; 3],
    /// Old discharges on both sides of each cell that cross the face's direction.
    across: [[&'a [f32]; 2]; 2],
}

impl Faces<'_> {
    /// Twice the discharges that cross the face's direction in its two cells.
    #[inline(always)]
    fn across(&self, x: usize) -> [f32; 2] {
        self.across.map(|[one, other]| one[x] + other[x])
    }

    /// Makes depth powers into new discharges before any limit.
    #[inline(always)]
    fn discharges(&self, step: &Step, new: &mut [f32]) {
        let n = new.len();
        // The share that friction leaves: at most one, whatever the depth.
        for x in 0..n {
            let (power, old) = (new[x], self.old[1][x]);
            let across = self.across(x);
            let crossing = across[0] + across[1];
            let size = (old * old + (crossing * crossing) * (1.0 / 16.0)).sqrt();
            new[x] = power / (power + step.drag * size);
        }
        for x in 0..n {
            let ratio = new[x];
            let [before, old, behind] = self.old.map(|row| row[x]);
            let (ground, level) = (self.ground.map(|row| row[x]), self.level.map(|row| row[x]));
            let across = self.across(x);
            let depth = face_depth(ground, level);
            let h = most(depth, FILM);
            let calmed = old + step.calm * ((before + behind) - 2.0 * old);
            let pushed = calmed - step.push * h * (level[1] - level[0]);
            // What flows along an axis spreads to the sides as far as the grid
            // spreads what flows askew, but not up onto a bank with less water.
            let straight = most(across[0].abs() - (before + old).abs(), 0.0)
                - most(across[1].abs() - (old + behind).abs(), 0.0);
            let deeper = most(level[0] - ground[0], level[1] - ground[1]);
            let spread = (SPREADING * 0.5) * straight * (h / most(deeper, h));
            let flows = pushed * ratio + spread * (1.0 - ratio);
            new[x] = if depth > FILM { flows } else { 0.0 };
        }
    }
}

/// A row as seen from each of `n` cells or faces and from the next ones.
#[inline(always)]
fn shifted<const N: usize>(row: &[f32], n: usize) -> [&[f32]; N] {
    core::array::from_fn(|by| &row[by..][..n])
}

/// Faces along a row: the n + 1 between its cells and at its ends. `old` is
/// padded by a face at each end.
#[inline(always)]
pub(super) fn faces_along(
    ground: &[f32],
    level: &[f32],
    old: &[f32],
    [north, south]: [&[f32]; 2],
    step: &Step,
    new: &mut [f32],
) {
    let n = new.len();
    let ([north0, north1], [south0, south1]) = (shifted(north, n), shifted(south, n));
    let faces = Faces {
        ground: shifted(ground, n),
        level: shifted(level, n),
        old: shifted(old, n),
        across: [[north0, south0], [north1, south1]],
    };
    depth_powers(faces.ground, faces.level, new);
    faces.discharges(step, new);
}

/// Faces between two rows; `along` are the old discharges along both, `old` those
/// of the faces between the rows before, here and behind. `new` has the depth
/// powers to begin with.
#[inline(always)]
pub(super) fn faces_between(
    ground: [&[f32]; 2],
    level: [&[f32]; 2],
    old: [&[f32]; 3],
    along: [&[f32]; 2],
    step: &Step,
    new: &mut [f32],
) {
    let n = new.len();
    let faces = Faces {
        ground: ground.map(|row| &row[..n]),
        level: level.map(|row| &row[..n]),
        old: old.map(|row| &row[..n]),
        across: along.map(|row| shifted(row, n)),
    };
    faces.discharges(step, new);
}

/// The share of its wish that each cell can give, and its sediment per water.
#[inline(always)]
pub(super) fn shares(
    water: &[f32],
    suspended: &[f32],
    along: &[f32],
    [north, south]: [&[f32]; 2],
    step: &Step,
    share: &mut [f32],
    load: &mut [f32],
) {
    let n = water.len();
    let suspended = &suspended[..n];
    let [west, east] = shifted(along, n);
    let (north, south) = (&north[..n], &south[..n]);
    let (share, load) = (&mut share[..n], &mut load[..n]);
    let wish = step.per_length * NEVER_ALL;
    for x in 0..n {
        let out = (most(east[x], 0.0) - least(west[x], 0.0))
            + (most(south[x], 0.0) - least(north[x], 0.0));
        share[x] = water[x] / most(out * wish, most(water[x], 1e-30));
        load[x] = suspended[x] / most(water[x], FILM);
    }
}

/// Limits discharges by what the giving side has, and loads them with its
/// sediment. Sides are given as [before, after] the faces.
#[inline(always)]
pub(super) fn limit(
    wish: &[f32],
    share: [&[f32]; 2],
    load: [&[f32]; 2],
    given: &mut [f32],
    carried: &mut [f32],
) {
    let n = wish.len();
    let [share0, share1] = share.map(|row| &row[..n]);
    let [load0, load1] = load.map(|row| &row[..n]);
    let (given, carried) = (&mut given[..n], &mut carried[..n]);
    for x in 0..n {
        // One of the two terms is zero: a selection that needs no branch.
        let (forward, back) = (most(wish[x], 0.0), least(wish[x], 0.0));
        let (forward, back) = (forward * share0[x], back * share1[x]);
        given[x] = forward + back;
        carried[x] = forward * load0[x] + back * load1[x];
    }
}

/// Limited discharges and their sediment around a row.
pub(super) struct Around<'a> {
    pub along: &'a [f32],
    pub north: &'a [f32],
    pub south: &'a [f32],
}

/// What a row's update changes.
pub(super) struct Cells<'a> {
    pub water: &'a mut [f32],
    pub water_rest: &'a mut [f32],
    pub suspended: &'a mut [f32],
    pub soil: &'a mut [f32],
    pub east: &'a mut [f32],
    /// Bedrock to cut, were it of no hardness.
    pub cut: &'a mut [f32],
    /// What left the soil, negative where it came.
    pub from_soil: &'a mut [f32],
}

/// Moves water and sediment, and lets the water take up and drop. `ground` is
/// padded and of the rows north, here and south. Returns the most of g·d + v², as
/// bits: it bounds the next step.
#[inline(always)]
pub(super) fn update(
    given: &Around,
    carried: &Around,
    ground: [&[f32]; 3],
    step: &Step,
    cells: &mut Cells,
) -> u32 {
    let n = cells.water.len();
    let [west, east] = shifted(given.along, n);
    let (north, south) = (&given.north[..n], &given.south[..n]);
    let [load_west, load_east] = shifted(carried.along, n);
    let (load_north, load_south) = (&carried.north[..n], &carried.south[..n]);
    let [ground_west, ground_here, ground_east] = shifted(ground[1], n);
    let [ground_north, ground_south] = [ground[0], ground[2]].map(|row| &row[1..][..n]);
    let (water, water_rest) = (&mut cells.water[..n], &mut cells.water_rest[..n]);
    let (suspended, soil) = (&mut cells.suspended[..n], &mut cells.soil[..n]);
    let new_east = &mut cells.east[..n];
    let (cut, from_soil) = (&mut cells.cut[..n], &mut cells.from_soil[..n]);

    // Water and sediment move on. For the next loops `from_soil` keeps the depth
    // and `cut` v²·sin²α.
    let a = step.per_length;
    let mut most_pace = 0;
    for x in 0..n {
        let before = water[x];
        let gain = a * ((west[x] - east[x]) + (north[x] - south[x]));
        let (mut after, mut rest) = (before, water_rest[x]);
        add_exactly(&mut after, &mut rest, gain);
        let after = most(after, 0.0);
        water[x] = after;
        water_rest[x] = rest;
        let gain = a * ((load_west[x] - load_east[x]) + (load_north[x] - load_south[x]));
        suspended[x] = most(suspended[x] + gain, 0.0);
        new_east[x] = east[x];

        let depth = most(most(before, after), FILM);
        from_soil[x] = depth;
        let rise_x = (ground_east[x] - ground_west[x]) * step.gradient;
        let rise_y = (ground_south[x] - ground_north[x]) * step.gradient;
        let tilt = rise_x * rise_x + rise_y * rise_y;
        let flow = ((west[x] * west[x] + east[x] * east[x])
            + (north[x] * north[x] + south[x] * south[x]))
            * 0.5;
        // One division serves speed and slope: v² = flow/depth²,
        // sin²α = tilt/(1 + tilt).
        let steep = 1.0 + tilt;
        let inverse = flow / ((depth * depth) * steep);
        // A cell that runs dry shows any speed up to l/dt: were it to shorten the
        // next step, that would show twice the speed. Deep water at twice the
        // speed of waves is the fastest that counts.
        let wave = step.gravity * depth;
        let pace = wave + least(inverse * steep, 4.0 * wave);
        most_pace = most_pace.max(pace.to_bits());
        let sine = most(tilt, step.min_sine_squared * steep);
        cut[x] = inverse * sine;
    }

    // The sediment that the water can carry, in `cut`.
    for x in 0..n {
        let active = least(from_soil[x], step.full_depth);
        // Sharp notches are spared and edges worn: without a bound on the bed's
        // curvature, channels would be as narrow as the grid allows.
        let around = (ground_west[x] + ground_east[x]) + (ground_north[x] + ground_south[x]);
        let curvature = around - 4.0 * ground_here[x];
        let shape = least(most(1.0 - step.rounding * curvature, 0.0), 2.0);
        cut[x] = step.capacity * active * cut[x].sqrt() * shape;
    }

    // It takes up what it lacks and drops what is too much.
    for x in 0..n {
        let (load, capacity) = (suspended[x], cut[x]);
        let wet = water[x] > FILM;
        let capacity = if wet { capacity } else { 0.0 };
        let fall_share = if wet { step.fall_share } else { 1.0 };

        let lack = capacity - load;
        let fallen = most(-lack, 0.0) * fall_share;
        let wanted = most(lack, 0.0) * step.soil_share;
        let old_soil = soil[x];
        let taken = least(wanted, old_soil);
        let rock = (wanted - taken) * step.rock_per_soil;
        let new_soil = (old_soil - taken) + fallen;
        // What the soil's numbers really lost, so that nothing is made up.
        let lost = old_soil - new_soil;
        soil[x] = new_soil;
        from_soil[x] = lost;
        cut[x] = rock;
        suspended[x] = if wet { most(load + lost, 0.0) } else { 0.0 };
    }
    most_pace
}
