//! The kernels of the sweep, a row each: plain loops over disjoint slices that
//! load both sides and select, so that the compiler makes vectors of them. All
//! slices of a loop have its length: a bounds check that is left would make a remainder
//! of up to eight cells that are done one by one. What a loop writes to comes in
//! parameters of its own: only then the compiler knows that they do not overlap. The
//! sweep is bound by the number of operations per cell, so nothing is computed twice,
//! and of two divisions or roots that others wait for one is made where possible.
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
pub(crate) const SPREADING: f32 = 0.6;

/// A cell that gives away all it has would come out a hair below zero.
pub(crate) const NEVER_ALL: f32 = 1.000_001;

/// Cells of a row, as the layers have them.
pub(super) struct Source<'a> {
    pub bedrock: &'a [f32],
    pub bedrock_low: &'a [f32],
    pub soil: &'a [f32],
    pub water: &'a [f32],
    pub suspended: &'a [f32],
    pub east: &'a [f32],
    pub south: &'a [f32],
}

/// No water runs stronger through a metre of width: a kilometre deep at ten
/// kilometres a second. Products of discharges stay far from the largest number.
/// units: m²/s
pub(crate) const MAX_UNIT_DISCHARGE: f32 = 1e7;

/// A depth (m, at least [`FILM`]) to the power of 7/3, which decides friction, to
/// 1e-4. Only additions, multiplications and shifts: the same bits on every
/// machine.
///
/// A float's bits, read as a whole number, are about its logarithm. So a third of
/// them, taken from a constant, are those of about `x^(−1/3)`, here `root` times
/// 2⁸. The float that holds them is between 2³⁰ and 2³¹, where a shift by 7 turns
/// it into its whole number. Then `cubed` = x·root³ is near one, and a parabola
/// through `cubed^(−2/3)` takes the guess's error away.
#[inline(always)]
pub(in crate::models) fn depth_power(depth: f32) -> f32 {
    use power::{GUESS, LINE, MAX_FRICTION_DEPTH, SQUARE, START};
    let h = least(depth, MAX_FRICTION_DEPTH);
    let logarithm = h.to_bits() as i32 as f32;
    let guess = GUESS - logarithm * (1.0 / 3.0);
    let root = f32::from_bits(guess.to_bits() << 7);
    let rooted = h * (root * root);
    let cubed = rooted * root;
    (h * h) * (rooted * ((SQUARE * cubed + LINE) * cubed + START))
}

/// Constants of [`depth_power`].
pub(crate) mod power {
    /// Friction does not tell deeper water apart. It also keeps products of powers
    /// far from the largest number. units: m
    pub(crate) const MAX_FRICTION_DEPTH: f32 = 1e3;
    pub(crate) const GUESS: f32 = 1.485_717_6e9;
    // Of the parabola in `cubed`, whose scale is 2²⁴; the whole has that of
    // `rooted`, 2⁻¹⁶.
    pub(crate) const SQUARE: f32 = 1.298_508 / (1u128 << 64) as f32;
    pub(crate) const LINE: f32 = -3.026_759 / (1u64 << 40) as f32;
    pub(crate) const START: f32 = 2.750_991_6 / (1u64 << 16) as f32;
}

/// Water above the higher ground at a face.
#[inline(always)]
fn face_depth(ground: [f32; 2], level: [f32; 2]) -> f32 {
    most(level[0], level[1]) - most(ground[0], ground[1])
}

/// What [`load_row`] needs of the row before: ground and level of its cells, old
/// discharges between it and the row before it, between it and this one, and along
/// it.
pub(super) struct North<'a> {
    pub ground: &'a [f32],
    pub level: &'a [f32],
    pub before: &'a [f32],
    pub old: &'a [f32],
    pub along: &'a [f32],
}

/// Takes a row from memory, all layers at once: the processor then waits for all
/// at the same time, and has the faces to the row before to work on meanwhile.
/// Gives ground above the datum, the water's level on it, the discharges, and what
/// those faces wish. Returns whether anything in the row may move.
///
/// `west` are the discharges through the cells' west faces; what comes before the
/// first cell may be any.
#[inline(always)]
pub(super) fn load_row(
    source: &Source,
    west: &[f32],
    north: &North,
    step: &Step,
    ground: &mut [f32],
    level: &mut [f32],
    east: &mut [f32],
    south: &mut [f32],
    wish: &mut [f32],
) -> bool {
    let n = source.bedrock.len();
    let (bedrock, rest) = (&source.bedrock[..n], &source.bedrock_low[..n]);
    let (soil, water) = (&source.soil[..n], &source.water[..n]);
    let (suspended, west) = (&source.suspended[..n], &west[..n]);
    let (old_east, old_south) = (&source.east[..n], &source.south[..n]);
    let (ground, level) = (&mut ground[..n], &mut level[..n]);
    let (east, south, wish) = (&mut east[..n], &mut south[..n], &mut wish[..n]);
    let (north_ground, north_level) = (&north.ground[..n], &north.level[..n]);
    let (before, old) = (&north.before[..n], &north.old[..n]);
    let [north_west, north_east] = shifted(north.along, n);
    let push = Push::new(step);
    // Bits of positive numbers are ordered as the numbers are.
    let (mut deepest, mut load) = (0u32, 0u32);
    for x in 0..n {
        let z = relative_ground(bedrock[x], rest[x], soil[x], step.datum);
        let h = z + water[x];
        ground[x] = z;
        level[x] = h;
        east[x] = old_east[x];
        south[x] = old_south[x];
        wish[x] = push.discharge(
            [north_ground[x], z],
            [north_level[x], h],
            [before[x], old[x], old_south[x]],
            [north_west[x] + north_east[x], west[x] + old_east[x]],
        );
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

/// Makes new discharges from old ones, before any limit.
#[derive(Clone, Copy)]
struct Push {
    push: f32,
    drag: f32,
    calm: f32,
    stay: f32,
    spreading: f32,
}

impl Push {
    #[inline(always)]
    fn new(step: &Step) -> Self {
        Self {
            push: step.push,
            drag: step.drag,
            calm: step.calm,
            stay: 1.0 - 2.0 * step.calm,
            spreading: (0.5 * SPREADING) * step.drag,
        }
    }

    /// The discharge of a face between two cells. `old` are the old discharges of
    /// the next face before, here, and of the next face behind; `across` twice
    /// those that cross the face's direction in its cells.
    #[inline(always)]
    fn discharge(
        &self,
        ground: [f32; 2],
        level: [f32; 2],
        [before, old, behind]: [f32; 3],
        across: [f32; 2],
    ) -> f32 {
        let depth = face_depth(ground, level);
        let h = most(depth, FILM);
        let power = depth_power(h);
        let crossing = across[0] + across[1];
        let size = (old * old + (crossing * crossing) * (1.0 / 16.0)).sqrt();
        let calmed = self.stay * old + self.calm * (before + behind);
        let pushed = calmed - (self.push * h) * (level[1] - level[0]);
        // What flows along an axis spreads to the sides as far as the grid
        // spreads what flows askew, but not up onto a bank with less water.
        let straight = most(across[0].abs() - (before + old).abs(), 0.0)
            - most(across[1].abs() - (old + behind).abs(), 0.0);
        // Never less than the face's own depth, where that counts.
        let deeper = most(level[0] - ground[0], level[1] - ground[1]);
        // r·pushed + (1 − r)·f with r = power / (power + drag·size).
        let flows = pushed * (power * deeper) + (straight * h) * (self.spreading * size);
        let flows = flows / ((power + self.drag * size) * deeper);
        // A sea far above the land would give an unbounded discharge.
        let flows = most(least(flows, MAX_UNIT_DISCHARGE), -MAX_UNIT_DISCHARGE);
        if depth > FILM { flows } else { 0.0 }
    }
}

impl Faces<'_> {
    /// New discharges before any limit.
    #[inline(always)]
    fn discharges(&self, step: &Step, new: &mut [f32]) {
        let push = Push::new(step);
        for x in 0..new.len() {
            new[x] = push.discharge(
                self.ground.map(|row| row[x]),
                self.level.map(|row| row[x]),
                self.old.map(|row| row[x]),
                self.across.map(|[one, other]| one[x] + other[x]),
            );
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
    faces.discharges(step, new);
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
    let per_wish = step.per_length * NEVER_ALL;
    for x in 0..n {
        let out = (most(east[x], 0.0) - least(west[x], 0.0))
            + (most(south[x], 0.0) - least(north[x], 0.0));
        let wish = most(out * per_wish, 1e-30);
        let depth = most(water[x], FILM);
        // One division serves both ratios.
        let inverse = 1.0 / (wish * depth);
        let part = water[x] * (depth * inverse);
        share[x] = if wish > water[x] { part } else { 1.0 };
        load[x] = suspended[x] * (wish * inverse);
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

/// Moves water and sediment. Gives each cell's depth (the most of before and
/// after) and twice its v²·sin²α. `ground` is padded and of the rows north, here
/// and south. Returns the most of g·d + v²: it bounds the next step.
#[inline(always)]
pub(super) fn move_on(
    given: &Around,
    carried: &Around,
    ground: [&[f32]; 3],
    step: &Step,
    water: &mut [f32],
    water_low: &mut [f32],
    suspended: &mut [f32],
    new_east: &mut [f32],
    depth: &mut [f32],
    wear: &mut [f32],
) -> f32 {
    let n = water.len();
    let [west, east] = shifted(given.along, n);
    let (north, south) = (&given.north[..n], &given.south[..n]);
    let [load_west, load_east] = shifted(carried.along, n);
    let (load_north, load_south) = (&carried.north[..n], &carried.south[..n]);
    let [ground_west, _, ground_east] = shifted(ground[1], n);
    let [ground_north, ground_south] = [ground[0], ground[2]].map(|row| &row[1..][..n]);
    let (water_low, suspended) = (&mut water_low[..n], &mut suspended[..n]);
    let (new_east, depth, wear) = (&mut new_east[..n], &mut depth[..n], &mut wear[..n]);
    let a = step.per_length;
    let gradient_squared = step.gradient * step.gradient;
    let mut most_pace = 0;
    for x in 0..n {
        let before = water[x];
        let gain = a * ((west[x] - east[x]) + (north[x] - south[x]));
        let (mut after, mut rest) = (before, water_low[x]);
        add_exactly(&mut after, &mut rest, gain);
        let after = most(after, 0.0);
        water[x] = after;
        water_low[x] = rest;
        let gain = a * ((load_west[x] - load_east[x]) + (load_north[x] - load_south[x]));
        suspended[x] = most(suspended[x] + gain, 0.0);
        new_east[x] = east[x];

        let d = most(most(before, after), FILM);
        depth[x] = d;
        let rise_x = ground_east[x] - ground_west[x];
        let rise_y = ground_south[x] - ground_north[x];
        let tilt = (rise_x * rise_x + rise_y * rise_y) * gradient_squared;
        let flow =
            (west[x] * west[x] + east[x] * east[x]) + (north[x] * north[x] + south[x] * south[x]);
        // One division serves speed and slope: 2·v² = flow/depth²,
        // sin²α = tilt/(1 + tilt).
        let steep = 1.0 + tilt;
        let inverse = flow / ((d * d) * steep);
        // A cell that runs dry shows any speed up to l/dt: were it to shorten the
        // next step, that would show twice the speed. Deep water at twice the
        // speed of waves is the fastest that counts.
        let wave = (2.0 * step.gravity) * d;
        let pace = wave + least(inverse * steep, 4.0 * wave);
        // Bits of positive numbers are ordered as the numbers are.
        most_pace = most_pace.max(pace.to_bits());
        let sine = most(tilt, step.min_sine_squared * steep);
        wear[x] = inverse * sine;
    }
    0.5 * f32::from_bits(most_pace)
}

/// Lets the water take up what it lacks and drop what is too much. In `cut` it
/// finds what [`move_on`] gave as wear, and leaves the bedrock to cut, were it of
/// no hardness; in `from_soil` the depth, and what left the soil, negative where it
/// came. Returns bits of all cuts and changes of soil: zero where nothing changed.
#[inline(always)]
pub(super) fn exchange(
    ground: [&[f32]; 3],
    water: &[f32],
    step: &Step,
    suspended: &mut [f32],
    soil: &mut [f32],
    cut: &mut [f32],
    from_soil: &mut [f32],
) -> [u32; 2] {
    let n = water.len();
    let [ground_west, ground_here, ground_east] = shifted(ground[1], n);
    let [ground_north, ground_south] = [ground[0], ground[2]].map(|row| &row[1..][..n]);
    let (suspended, soil) = (&mut suspended[..n], &mut soil[..n]);
    let (cut, from_soil) = (&mut cut[..n], &mut from_soil[..n]);
    // Of twice the square of the speed.
    let capacity_factor = step.capacity * core::f32::consts::FRAC_1_SQRT_2;
    let (mut any_cut, mut any_soil) = (0, 0);
    for x in 0..n {
        let active = least(from_soil[x], step.full_depth);
        // Sharp notches are spared and edges worn: without a bound on the bed's
        // curvature, channels would be as narrow as the grid allows.
        let around = (ground_west[x] + ground_east[x]) + (ground_north[x] + ground_south[x]);
        let curvature = around - 4.0 * ground_here[x];
        let shape = least(most(1.0 - step.rounding * curvature, 0.0), 2.0);
        let capacity = (capacity_factor * active) * cut[x].sqrt() * shape;

        let load = suspended[x];
        let wet = water[x] > FILM;
        let capacity = if wet { capacity } else { 0.0 };
        let fall_share = if wet { step.fall_share } else { 1.0 };
        let fallen = most(load - capacity, 0.0) * fall_share;
        let wanted = most(capacity - load, 0.0) * step.soil_share;
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
        any_cut |= rock.to_bits();
        // Without the sign bit: −0 does not count as a change.
        any_soil |= lost.to_bits() << 1;
    }
    [any_cut, any_soil]
}
