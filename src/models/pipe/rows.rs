//! The kernels of the sweep, a row each: plain loops over disjoint slices that
//! load both sides and select, so that the compiler makes vectors of them. All
//! slices of a loop have its length: a bounds check that is left would make a remainder
//! of up to eight cells that are done one by one. What a loop writes to comes in
//! parameters of its own: only then the compiler knows that they do not overlap. The
//! sweep is bound by the number of operations per cell, so nothing is computed twice,
//! and of two divisions or roots that others wait for one is made where possible.
//!
//! `ground` rows and `water` rows are padded by one cell at each end. A row of
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
    /// n²/2: the bed's stress by twice the square of the speed, at a depth of 1 m.
    pub stress: f32,
    /// Cut for each metre of stress above the threshold. units: m/m
    pub carving: f32,
    /// Stress that the ground withstands, as a height of water. units: m
    pub threshold: f32,
    /// Most sediment for each metre of water. units: m/m
    pub carrying: f32,
    /// How far sediment sinks. units: m
    pub settling: f32,
    /// How much more edges wear than notches. units: 1/m
    pub smoothing: f32,
    /// How readily bedrock is taken up where soil is one.
    pub rock_per_soil: f32,
}

/// Share of a discharge along an axis that goes to each side. Water that the
/// grid carries askew, by turns along x and y, spreads by itself. 0.6 is even for
/// water alone; beds cut by it keep what it favors, and are even with more.
pub(crate) const SPREADING: f32 = 0.8;

/// A flood runs so many times as fast as its water, by Manning's law.
pub(crate) const FLOOD: f32 = 5.0 / 3.0;

/// Water at ten times the speed of waves is the fastest that shortens a step: v² by
/// g·d.
pub(crate) const MAX_SQUARED_FROUDE: f32 = 100.0;

/// Largest share of a cell that a flood may run through in a sub-step.
pub(crate) const MAX_BORNE_SHARE: f32 = 0.9;

/// Water runs a cell far in a sub-step, and what it wears or lets fall is spread a
/// cell farther: so near to an edge it concerns the tile beyond. units: cells
pub(crate) const WET_REACH: usize = 2;

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

/// Water above the higher ground at a face, where the ground rises by `rise` from
/// the first cell to the second. From depths and not from levels, which high
/// above the datum would round a film of water away.
#[inline(always)]
fn face_depth(rise: f32, water: [f32; 2]) -> f32 {
    most(water[0] - most(rise, 0.0), water[1] + least(rise, 0.0))
}

/// What [`load_row`] needs of the row before: ground and water of its cells, old
/// discharges between it and the row before it, between it and this one, and along
/// it.
pub(super) struct North<'a> {
    pub ground: &'a [f32],
    pub water: &'a [f32],
    pub before: &'a [f32],
    pub old: &'a [f32],
    pub along: &'a [f32],
}

/// Takes a row from memory, all layers at once: the processor then waits for all
/// at the same time, and has the faces to the row before to work on meanwhile.
/// Gives ground above the datum, the water on it, the discharges, and what
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
    depth: &mut [f32],
    east: &mut [f32],
    south: &mut [f32],
    wish: &mut [f32],
) -> bool {
    let n = source.bedrock.len();
    let (bedrock, rest) = (&source.bedrock[..n], &source.bedrock_low[..n]);
    let (soil, water) = (&source.soil[..n], &source.water[..n]);
    let (suspended, west) = (&source.suspended[..n], &west[..n]);
    let (old_east, old_south) = (&source.east[..n], &source.south[..n]);
    let (ground, depth) = (&mut ground[..n], &mut depth[..n]);
    let (east, south, wish) = (&mut east[..n], &mut south[..n], &mut wish[..n]);
    let (north_ground, north_water) = (&north.ground[..n], &north.water[..n]);
    let (before, old) = (&north.before[..n], &north.old[..n]);
    let [north_west, north_east] = shifted(north.along, n);
    let push = Push::new(step);
    // Bits of positive numbers are ordered as the numbers are.
    let (mut deepest, mut load) = (0u32, 0u32);
    for x in 0..n {
        let z = relative_ground(bedrock[x], rest[x], soil[x], step.datum);
        ground[x] = z;
        depth[x] = water[x];
        east[x] = old_east[x];
        south[x] = old_south[x];
        wish[x] = push.discharge(
            [north_ground[x], z],
            [north_water[x], water[x]],
            [before[x], old[x], old_south[x]],
            [[north_west[x], north_east[x]], [west[x], old_east[x]]],
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
    water: [&'a [f32]; 2],
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
    /// [`FLOOD`]·dt/l. units: s/m
    flood: f32,
}

impl Push {
    #[inline(always)]
    fn new(step: &Step) -> Self {
        Self {
            push: step.push,
            drag: step.drag,
            calm: step.calm,
            stay: 1.0 - 2.0 * step.calm,
            flood: FLOOD * step.per_length,
        }
    }

    /// The discharge of a face between two cells. `old` are the old discharges of
    /// the next face before, here, and of the next face behind; `across` those
    /// that cross the face's direction at the two sides of each of its cells.
    #[inline(always)]
    fn discharge(
        &self,
        ground: [f32; 2],
        water: [f32; 2],
        [before, old, behind]: [f32; 3],
        across: [[f32; 2]; 2],
    ) -> f32 {
        let rise = ground[1] - ground[0];
        let depth = face_depth(rise, water);
        let h = most(depth, FILM);
        let power = depth_power(h);
        let sums = [across[0][0] + across[0][1], across[1][0] + across[1][1]];
        let crossing = sums[0] + sums[1];
        let size = (old * old + (crossing * crossing) * (1.0 / 16.0)).sqrt();
        let calmed = self.stay * old + self.calm * (before + behind);
        let pushed = calmed - (self.push * h) * (rise + (water[1] - water[0]));
        // What flows along an axis spreads to the sides as far as the grid
        // spreads what flows askew, but not up onto a bank with less water.
        let straight = most(sums[0].abs() - (before + old).abs(), 0.0)
            - most(sums[1].abs() - (old + behind).abs(), 0.0);
        // Never less than the face's own depth, where that counts.
        let deeper = most(most(water[0], water[1]), FILM);
        // What the giving cell sends out in all, signed like the discharge.
        let sent = if old > 0.0 {
            (old - before) + (across[0][1] - across[0][0])
        } else {
            (old - behind) + (across[1][0] - across[1][1])
        };
        let borne = least(self.flood * old.abs(), MAX_BORNE_SHARE * deeper);
        let drag = self.drag * size;
        // (q̄ + F·q − borne/deeper·sent + P + F·f) / (1 + 2F) with F = drag/power.
        let flows = (pushed * deeper - borne * sent) * power
            + drag * (old * deeper + (0.5 * SPREADING) * (straight * h));
        let flows = flows / ((power + 2.0 * drag) * deeper);
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
                at(self.ground, x),
                at(self.water, x),
                at(self.old, x),
                [at(self.across[0], x), at(self.across[1], x)],
            );
        }
    }
}

// Arrays' own `map` is not inlined without link-time optimisation.

/// A number of each row.
#[inline(always)]
fn at<const N: usize>(rows: [&[f32]; N], x: usize) -> [f32; N] {
    core::array::from_fn(|row| rows[row][x])
}

/// The first `n` numbers of each row.
#[inline(always)]
fn cut<const N: usize>(rows: [&[f32]; N], n: usize) -> [&[f32]; N] {
    core::array::from_fn(|row| &rows[row][..n])
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
    water: &[f32],
    old: &[f32],
    [north, south]: [&[f32]; 2],
    step: &Step,
    new: &mut [f32],
) {
    let n = new.len();
    let ([north0, north1], [south0, south1]) = (shifted(north, n), shifted(south, n));
    let faces = Faces {
        ground: shifted(ground, n),
        water: shifted(water, n),
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
    water: [&[f32]; 2],
    old: [&[f32]; 3],
    along: [&[f32]; 2],
    step: &Step,
    new: &mut [f32],
) {
    let n = new.len();
    let faces = Faces {
        ground: cut(ground, n),
        water: cut(water, n),
        old: cut(old, n),
        across: [shifted(along[0], n), shifted(along[1], n)],
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
    let [share0, share1] = cut(share, n);
    let [load0, load1] = cut(load, n);
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

/// Moves water and sediment. Gives what each cell's water would wear off its bed, what
/// it lets fall, the same by its depth, and its level. Returns the most of g·d + v²: it
/// bounds the next step.
#[inline(always)]
pub(super) fn move_on(
    given: &Around,
    carried: &Around,
    ground: &[f32],
    step: &Step,
    water: &mut [f32],
    water_low: &mut [f32],
    suspended: &mut [f32],
    new_east: &mut [f32],
    worn: &mut [f32],
    fallen: &mut [f32],
    thinned: &mut [f32],
    level: &mut [f32],
) -> f32 {
    let n = water.len();
    let [west, east] = shifted(given.along, n);
    let (north, south) = (&given.north[..n], &given.south[..n]);
    let [load_west, load_east] = shifted(carried.along, n);
    let (load_north, load_south) = (&carried.north[..n], &carried.south[..n]);
    let (water_low, suspended) = (&mut water_low[..n], &mut suspended[..n]);
    let (ground, new_east) = (&ground[..n], &mut new_east[..n]);
    let (worn, fallen) = (&mut worn[..n], &mut fallen[..n]);
    let (thinned, level) = (&mut thinned[..n], &mut level[..n]);
    let a = step.per_length;
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
        let load = most(suspended[x] + gain, 0.0);
        suspended[x] = load;
        new_east[x] = east[x];

        let d = most(most(before, after), FILM);
        let flow =
            (west[x] * west[x] + east[x] * east[x]) + (north[x] * north[x] + south[x] * south[x]);
        // One division serves the speed, 2·v² = flow/d², the stress, n²·v²·d²/d^(7/3),
        // the share that falls, and what falls by depth.
        let (power, square, sunk) = (depth_power(d), d * d, d + step.settling);
        let (both, inverse) = (square * power, 1.0 / ((square * power) * sunk));
        let per_square = power * (sunk * inverse);
        // A cell that runs dry shows any speed up to l/dt: were it to shorten the
        // next step, that would show twice the speed. Water at ten times the
        // speed of waves is the fastest that counts.
        let wave = (2.0 * step.gravity) * d;
        let most_speed = MAX_SQUARED_FROUDE * wave;
        let speed = least(flow * per_square, most_speed);
        // Bits of positive numbers are ordered as the numbers are.
        most_pace = most_pace.max((wave + speed).to_bits());
        // The bed feels where the water goes as a whole: by its faces alone a thread
        // that turns in each cell, as all do that run askew, would wear more.
        let (u, v) = (west[x] + east[x], north[x] + south[x]);
        let drawn = least((0.5 * (u * u + v * v)) * per_square, most_speed);
        let stress = (drawn * step.stress) * ((square * square) * (sunk * inverse));
        let wet = after > FILM;
        let cut = step.carving * most(stress - step.threshold, 0.0);
        worn[x] = if wet { cut } else { 0.0 };
        let share = if wet {
            step.settling * (both * inverse)
        } else {
            1.0
        };
        fallen[x] = load * share;
        thinned[x] = (load * share) * ((d * power) * (sunk * inverse));
        level[x] = ground[x] + d;
    }
    0.5 * f32::from_bits(most_pace)
}

/// Share of what falls that goes to each neighbor, as far as that lies below the
/// water's level.
pub(crate) const SCATTER: f32 = 1.0 / 6.0;

/// What of that which falls goes from the first of two rows of cells to the second:
/// onto all of a cell that lies below the giver's bed, onto nothing that lies above
/// its level. So banks stay what they are, and fans and lake beds become even.
#[inline(always)]
pub(super) fn scatter(
    ground: [&[f32]; 2],
    level: [&[f32]; 2],
    fallen: [&[f32]; 2],
    thinned: [&[f32]; 2],
    flow: &mut [f32],
) {
    let n = flow.len();
    let ([ground0, ground1], [level0, level1]) = (cut(ground, n), cut(level, n));
    let ([fallen0, fallen1], [thinned0, thinned1]) = (cut(fallen, n), cut(thinned, n));
    for x in 0..n {
        let there = least(
            most((level0[x] - ground1[x]) * thinned0[x], 0.0),
            fallen0[x],
        );
        let back = least(
            most((level1[x] - ground0[x]) * thinned1[x], 0.0),
            fallen1[x],
        );
        flow[x] = SCATTER * (there - back);
    }
}

/// Sharp edges wear so much more, and notches so much less, at most.
pub(crate) const MAX_SMOOTHING: f32 = 0.8;

/// The mean over a cell and its eight neighbors. One that gives the cell itself more
/// weight lets beds along an axis become narrower than others and so outrun them.
/// Opposite neighbors are added first: a turned land gives the same bits.
#[inline(always)]
fn smoothed([north, here, south]: [&[f32]; 3], x: usize) -> f32 {
    let corners = (north[x] + south[x + 2]) + (north[x + 2] + south[x]);
    let sides = (north[x + 1] + south[x + 1]) + (here[x] + here[x + 2]);
    ((corners + sides) + here[x + 1]) * (1.0 / 9.0)
}

/// Adds to a thickness, rounded down: what is left over of `gain` is never negative.
#[inline(always)]
fn add_rounded_down(thickness: f32, gain: f32) -> f32 {
    let sum = thickness + gain;
    let above = sum - thickness > gain;
    f32::from_bits(sum.to_bits() - u32::from(above))
}

/// Lets the water take up what it wears, smoothed over the neighbors, and drop what
/// falls: `fallen` in the row itself and what is scattered `along` it and from and to
/// the rows north and south. `rock` gets the bedrock to cut, were it of no hardness;
/// `from_soil` what left the soil, negative where it came. Returns bits of all cuts and
/// changes of soil: zero where nothing changed.
#[inline(always)]
pub(super) fn exchange(
    ground: [&[f32]; 3],
    worn: [&[f32]; 3],
    fallen: &[f32],
    scattered: &Around,
    water: &[f32],
    step: &Step,
    suspended: &mut [f32],
    soil: &mut [f32],
    rock: &mut [f32],
    from_soil: &mut [f32],
) -> [u32; 2] {
    let n = water.len();
    let (ground, worn) = (cut(ground, n + 2), cut(worn, n + 2));
    let fallen = &fallen[..n];
    let [west, east] = shifted(scattered.along, n);
    let (north, south) = (&scattered.north[..n], &scattered.south[..n]);
    let (suspended, soil) = (&mut suspended[..n], &mut soil[..n]);
    let (rock, from_soil) = (&mut rock[..n], &mut from_soil[..n]);
    let (mut any_cut, mut any_soil) = (0, 0);
    for x in 0..n {
        // Edges wear more than notches, so that beds do not break into steps.
        let [north_ground, here_ground, south_ground] = ground;
        let around =
            (here_ground[x] + here_ground[x + 2]) + (north_ground[x + 1] + south_ground[x + 1]);
        let bend = step.smoothing * (around - 4.0 * here_ground[x + 1]);
        let shape = 1.0 - most(least(bend, MAX_SMOOTHING), -MAX_SMOOTHING);
        let worn = smoothed(worn, x) * shape;
        let scattered = (west[x] - east[x]) + (north[x] - south[x]);
        let comes = most(fallen[x] + scattered, 0.0);
        let wet = water[x] > FILM;
        let load = most(suspended[x] - fallen[x], 0.0);
        // Water never bears more than its share: as that is reached less is taken,
        // and what is too much falls.
        let full = step.carrying * water[x];
        let room = most(full - load, 0.0);
        let wanted = worn * room / most(full + worn, 1e-30);
        let wanted = if wet { wanted } else { 0.0 };
        let surplus = most(load - full, 0.0);
        let old_soil = soil[x];
        let taken = least(wanted, old_soil);
        let bare = old_soil - taken;
        // A load that stays keeps what rounding leaves; of one that dries all falls.
        let gain = comes + surplus;
        let new_soil = if wet {
            add_rounded_down(bare, gain)
        } else {
            bare + gain
        };
        // What the soil's numbers really lost, so that nothing is made up.
        let lost = old_soil - new_soil;
        soil[x] = new_soil;
        from_soil[x] = lost;
        rock[x] = (wanted - taken) * step.rock_per_soil;
        suspended[x] = if wet {
            most((load + comes) + lost, 0.0)
        } else {
            0.0
        };
        any_cut |= rock[x].to_bits();
        // Without the sign bit: −0 does not count as a change.
        any_soil |= lost.to_bits() << 1;
    }
    [any_cut, any_soil]
}
