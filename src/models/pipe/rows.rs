//! The kernels of the sweep, a row each: plain loops over disjoint slices that
//! load both sides and select, so that the compiler makes vectors of them.
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

/// Ground of a row above the datum and the water's level on it. Returns whether
/// anything in the row may move.
#[inline(always)]
pub(super) fn load_row(
    bedrock: &[f32],
    rest: &[f32],
    soil: &[f32],
    water: &[f32],
    suspended: &[f32],
    datum: f32,
    ground: &mut [f32],
    level: &mut [f32],
) -> bool {
    let n = bedrock.len();
    let (rest, soil, water) = (&rest[..n], &soil[..n], &water[..n]);
    let suspended = &suspended[..n];
    let (ground, level) = (&mut ground[..n], &mut level[..n]);
    // Bits of positive numbers are ordered as the numbers are.
    let (mut deepest, mut load) = (0u32, 0u32);
    for x in 0..n {
        let z = relative_ground(bedrock[x], rest[x], soil[x], datum);
        ground[x] = z;
        level[x] = z + water[x];
        deepest = deepest.max(water[x].to_bits());
        load |= suspended[x].to_bits();
    }
    deepest > FILM.to_bits() || load != 0
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

/// The new discharge of a face before any limit. `before` and `behind` are the
/// old discharges of the next faces in its direction, `across` twice the ones
/// that cross the face's direction in its two cells.
#[inline(always)]
fn face(
    ground: [f32; 2],
    level: [f32; 2],
    old: f32,
    [before, behind]: [f32; 2],
    across: [f32; 2],
    step: &Step,
) -> f32 {
    let depth = most(level[0], level[1]) - most(ground[0], ground[1]);
    let h = most(depth, FILM);
    let r = inverse_cube_root(h);
    // h^(7/3)
    let power = (h * h) * (h * (r * r));
    let crossing = across[0] + across[1];
    let size = (old * old + (crossing * crossing) * (1.0 / 16.0)).sqrt();
    let calmed = old + step.calm * ((before + behind) - 2.0 * old);
    let pushed = calmed - step.push * h * (level[1] - level[0]);
    // What flows along an axis spreads to the sides as far as the grid spreads
    // what flows askew, but not up onto a bank with less water.
    let straight = most(across[0].abs() - (before + old).abs(), 0.0)
        - most(across[1].abs() - (old + behind).abs(), 0.0);
    let deeper = most(level[0] - ground[0], level[1] - ground[1]);
    let spread = (SPREADING * 0.5) * straight * (h / most(deeper, h));
    // The ratio first: it is at most one, whatever the depth.
    let ratio = power / (power + step.drag * size);
    let new = pushed * ratio + spread * (1.0 - ratio);
    if depth > FILM { new } else { 0.0 }
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
    let (ground, level) = (&ground[..n + 1], &level[..n + 1]);
    let (north, south) = (&north[..n + 1], &south[..n + 1]);
    let old = &old[..n + 2];
    for x in 0..n {
        new[x] = face(
            [ground[x], ground[x + 1]],
            [level[x], level[x + 1]],
            old[x + 1],
            [old[x], old[x + 2]],
            [north[x] + south[x], north[x + 1] + south[x + 1]],
            step,
        );
    }
}

/// Faces between two rows; `along` are the old discharges along both, `old` those
/// of the faces between the rows before, here and behind.
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
    let [ground0, ground1] = ground.map(|row| &row[..n]);
    let [level0, level1] = level.map(|row| &row[..n]);
    let [along0, along1] = along.map(|row| &row[..n + 1]);
    let [before, old, behind] = old.map(|row| &row[..n]);
    for x in 0..n {
        new[x] = face(
            [ground0[x], ground1[x]],
            [level0[x], level1[x]],
            old[x],
            [before[x], behind[x]],
            [along0[x] + along0[x + 1], along1[x] + along1[x + 1]],
            step,
        );
    }
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
    let (suspended, along) = (&suspended[..n], &along[..n + 1]);
    let (north, south) = (&north[..n], &south[..n]);
    let (share, load) = (&mut share[..n], &mut load[..n]);
    let wish = step.per_length * NEVER_ALL;
    for x in 0..n {
        let out = (most(along[x + 1], 0.0) - least(along[x], 0.0))
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
    /// Scratch: bedrock to cut, were it of no hardness.
    pub cut: &'a mut [f32],
    /// Scratch: what left the soil, negative where it came.
    pub from_soil: &'a mut [f32],
    /// Scratch: g·d + v², which bounds the next step.
    pub pace: &'a mut [f32],
}

/// Moves water and sediment, and lets the water take up and drop. `ground` is
/// padded and of the rows north, here and south.
#[inline(always)]
pub(super) fn update(
    given: &Around,
    carried: &Around,
    ground: [&[f32]; 3],
    step: &Step,
    cells: &mut Cells,
) {
    let n = cells.water.len();
    let (along, north, south) = (&given.along[..n + 1], &given.north[..n], &given.south[..n]);
    let (load_along, load_north, load_south) = (
        &carried.along[..n + 1],
        &carried.north[..n],
        &carried.south[..n],
    );
    let [ground_north, ground_here, ground_south] = ground.map(|row| &row[..n + 2]);
    let (water, water_rest) = (&mut cells.water[..n], &mut cells.water_rest[..n]);
    let (suspended, soil) = (&mut cells.suspended[..n], &mut cells.soil[..n]);
    let (cut, from_soil) = (&mut cells.cut[..n], &mut cells.from_soil[..n]);
    let pace = &mut cells.pace[..n];
    let a = step.per_length;
    for x in 0..n {
        let before = water[x];
        let gain = a * ((along[x] - along[x + 1]) + (north[x] - south[x]));
        let (mut after, mut rest) = (before, water_rest[x]);
        add_exactly(&mut after, &mut rest, gain);
        let after = most(after, 0.0);
        water[x] = after;
        water_rest[x] = rest;
        let gain = a * ((load_along[x] - load_along[x + 1]) + (load_north[x] - load_south[x]));
        let load = most(suspended[x] + gain, 0.0);

        let depth = most(most(before, after), FILM);
        let rise_x = (ground_here[x + 2] - ground_here[x]) * step.gradient;
        let rise_y = (ground_south[x + 1] - ground_north[x + 1]) * step.gradient;
        let tilt = rise_x * rise_x + rise_y * rise_y;
        let flow = ((along[x] * along[x] + along[x + 1] * along[x + 1])
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
        pace[x] = wave + least(inverse * steep, 4.0 * wave);
        let active = least(depth, step.full_depth);
        let sine = most(tilt, step.min_sine_squared * steep);
        // Sharp notches are spared and edges worn: without a bound on the bed's
        // curvature, channels would be as narrow as the grid allows.
        let around =
            (ground_here[x] + ground_here[x + 2]) + (ground_north[x + 1] + ground_south[x + 1]);
        let curvature = around - 4.0 * ground_here[x + 1];
        let shape = least(most(1.0 - step.rounding * curvature, 0.0), 2.0);
        let capacity = step.capacity * active * (inverse * sine).sqrt() * shape;
        let wet = after > FILM;
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
}
