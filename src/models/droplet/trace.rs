//! The way of a drop over the frozen ground, and the exchange of sediment along it.

use super::{
    Droplets, Streams,
    brush::ErosionBrush,
    lakes::{Lakes, Spill},
    streams::{Passed, StreamCell},
};
use crate::{
    models::{least, most},
    terrain::Grid,
};
use bevy::math::Vec2;
use core::ops::Range;
use multiversion::multiversion;

/// The settings, made ready for the inner loops.
#[derive(Clone, Debug)]
pub(crate) struct Physics {
    pub width: usize,
    pub height: usize,
    tiles_x: usize,
    cell_size: f32,
    pub per_cell: f32,
    pub gravity: f32,
    pub friction: f32,
    /// Capacity in units of sediment per m/s and slope, for a whole drop.
    pub capacity: f32,
    pub max_load: f32,
    pub erosion: f32,
    pub deposition: f32,
    pub evaporation: f32,
    pub min_volume: f32,
    pub max_steps: u32,
    /// Steps between two exchanges of sediment.
    pub steps_per_leg: u32,
    pub bedrock_erodibility: f32,
    pub streams: Option<Streams>,
    /// Most of a leg's fall that a batch may cut and fill.
    cut_of_fall: f32,
    fill_of_fall: f32,
    /// How far ahead the way goes on down to the lowest ground that it may cut,
    /// in legs.
    floor_reach: f32,
    pub brush: ErosionBrush,
    /// Units that change the brush's center by one metre.
    pub units_per_metre_at_peak: f32,
    /// A hollow deeper than this is a lake. units: m
    pub lake_depth: f32,
    /// Most that a batch fills up of a lake. units: m
    lake_fill: f32,
    /// Deposit that a batch may lay on level ground. units: m
    pub layer: f32,
    /// Height of one cell that a unit of sediment makes. units: m
    pub unit: f32,
    /// Units that one drop may take up in its life, so that no sum overflows.
    pub lifetime_load: i32,
}

/// How many times its largest load a drop may take up in its life. Only a
/// guarantee that a batch's sums fit; drops in practice take up far less.
const LIFETIME_LOADS: f64 = 8.0;

/// Thickest layer that a batch lays on level ground, as a share of the brush's
/// radius: too flat a bump to be seen, and the next batch flows around it.
const LAYER: f32 = 0.01;

/// Shallowest hollow that counts as a lake, as a share of the brush's radius.
const LAKE_DEPTH: f32 = 0.0025;

/// Most that a batch fills up of a lake, as a share of the brush's radius.
const LAKE_FILL: f32 = 0.25;

/// Most steps between two exchanges of sediment, however large the brush.
const MAX_STEPS_PER_LEG: u32 = 6;

impl Physics {
    pub fn new(settings: &Droplets, grid: &Grid, batch: usize) -> Self {
        let l = grid.cell_size();
        let brush = ErosionBrush::new(settings.radius / l);
        // Streams go over the same ground again and again, and so would scour it.
        let (cut_of_fall, fill_of_fall, floor_reach) = match settings.streams {
            None => (0.5, 0.5, brush.reach() as f32),
            Some(_) => (0.08, 0.05, 0.5),
        };
        // Radius of the brush that is really used. units: m
        let reach = settings.radius.max(1.5 * l);
        // The largest load as a height of one cell, and a power of two as unit
        // such that a whole batch of such drops on one cell fits an i32.
        let max_load =
            f64::from(settings.volume) * f64::from(settings.max_concentration) / grid.cell_area();
        // A cell gets the peak of the brush at most, four times that in a corner.
        let share = (4.0 * f64::from(brush.peak())).min(1.0);
        let worst_sum = max_load * LIFETIME_LOADS * share * batch as f64;
        let unit = libm::exp2(libm::ceil(libm::log2(worst_sum)) - 30.0);
        let max_load = max_load / unit;
        let capacity =
            f64::from(settings.capacity) * f64::from(settings.volume) / (grid.cell_area() * unit);
        Self {
            width: grid.width(),
            height: grid.height(),
            tiles_x: grid.tiles().x as usize,
            cell_size: l,
            per_cell: 1.0 / l,
            gravity: settings.gravity,
            friction: settings.friction,
            capacity: capacity as f32,
            max_load: max_load as f32,
            erosion: settings.erosion,
            deposition: settings.deposition,
            evaporation: settings.evaporation,
            min_volume: settings.min_volume,
            max_steps: settings.max_steps,
            // To cut and fill once in a radius is enough, for the discs overlap.
            // A step is about 0.7 of a cell.
            steps_per_leg: ((settings.radius / (0.7 * l)).round() as u32)
                .clamp(1, MAX_STEPS_PER_LEG),
            bedrock_erodibility: settings.bedrock_erodibility,
            streams: settings.streams,
            cut_of_fall,
            fill_of_fall,
            floor_reach,
            units_per_metre_at_peak: (1.0 / unit) as f32 / brush.peak(),
            brush,
            lake_depth: LAKE_DEPTH * reach,
            lake_fill: LAKE_FILL * reach,
            layer: LAYER * reach,
            unit: unit as f32,
            lifetime_load: (max_load * LIFETIME_LOADS) as i32,
        }
    }
}

/// What drops see while they fall: it stays as it is during a batch.
pub(super) struct Scene<'a> {
    pub ground: &'a [f32],
    /// `None` where the whole terrain is dry.
    pub water: Option<&'a [f32]>,
    /// Empty without [`Streams`].
    pub streams: &'a [StreamCell],
    /// None found without [`Streams`].
    pub lakes: &'a Lakes,
}

/// What drops cut and fill: it stays as it is during a batch too.
pub(super) struct Bed<'a> {
    pub ground: &'a [f32],
    /// How often the batch's drops came through each cell.
    pub visits: &'a [i32],
    pub soil: &'a [f32],
    pub hardness: Option<&'a [f32]>,
}

/// Column and row in 16 bits each: both the place in a plane and the
/// coordinates are needed, and a division is slow.
#[derive(Clone, Copy, Debug, Default)]
struct PackedCell(u32);

impl PackedCell {
    #[inline(always)]
    fn nearest(x: f32, y: f32) -> Self {
        // Casts to i32 are the cheap ones.
        Self((x + 0.5) as i32 as u32 | ((y + 0.5) as i32 as u32) << 16)
    }

    #[inline(always)]
    fn coordinates(self) -> (usize, usize) {
        ((self.0 & 0xFFFF) as usize, (self.0 >> 16) as usize)
    }

    #[inline(always)]
    fn index(self, width: usize) -> usize {
        let (x, y) = self.coordinates();
        y * width + x
    }
}

/// One or a few steps of a drop, between two exchanges of sediment.
#[derive(Clone, Copy, Debug)]
struct Leg {
    cell: PackedCell,
    /// Height lost. units: m
    fall: f32,
    /// What the drop can carry, in units.
    capacity: f32,
    /// Duration. units: s
    dt: f32,
}

/// How a drop's way ended: the load goes into the ground or over the border.
#[derive(Clone, Copy, Debug)]
struct Ending {
    legs: u32,
    left: bool,
}

/// Drops that a worker follows side by side: one alone would wait for memory
/// and square roots most of the time.
const LANES: usize = 8;

/// One worker's record of its share of a batch, by lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    lanes: [Trace; LANES],
    /// How many drops of each lane had ended after each call of [`follow`].
    marks: Vec<[usize; LANES]>,
}

/// The ways of the drops that ran in one lane, one after the other.
#[derive(Clone, Debug, Default)]
struct Trace {
    legs: Vec<Leg>,
    endings: Vec<Ending>,
}

/// One worker's planes of sums, added up over workers afterwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// First visits, then changes of the ground in units.
    pub plane: Vec<i32>,
    /// Drops since the streams were renewed; empty without [`Streams`].
    pub passed: Vec<Passed>,
    pub touched: Vec<bool>,
    /// Units that went over the border.
    pub left: i64,
    /// Units taken up.
    pub taken: i64,
}

/// Legs uphill after which a drop among [`Streams`] has found no way down.
const LOST_CLIMBS: u32 = 4;

/// How many times the onset of [`Streams`] the catchment is at which a stream
/// carries what the settings' capacity says.
const FULL_STREAM: f32 = 4.0;

/// Least catchment that counts, in onsets. Less would depend on the size of cells.
const LONE_DROP: f32 = 0.25;

/// Speed of a drop that leaves a lake. units: m/s
const SPILL_SPEED: f32 = 1.0;

/// Water deeper than this ends a drop. units: m
pub(crate) const STANDING_WATER: f32 = 0.01;

type Lanes = [f32; LANES];

/// The drops under way, as a structure of arrays.
#[derive(Default)]
struct Drops {
    x: Lanes,
    y: Lanes,
    velocity_x: Lanes,
    velocity_y: Lanes,
    volume: Lanes,
    /// The stream where the leg under way began: how much of one it is, 0 to 1,
    /// and its velocity.
    stream: Lanes,
    /// What share of the settings' capacity it has; more than one in a river.
    gain: Lanes,
    flow_x: Lanes,
    flow_y: Lanes,
    /// Height and cell where the leg under way began, its capacity (times its
    /// fall by its duration) and its duration.
    height: Lanes,
    cell: [PackedCell; LANES],
    load: Lanes,
    dt: Lanes,
    steps: [u32; LANES],
    /// Steps of the leg under way.
    steps_in_leg: [u32; LANES],
    /// Legs that led uphill since the drop fell or left a lake.
    climbs: [u32; LANES],
    /// How often it found no way down.
    times_lost: [u32; LANES],
    /// How often it went on beyond a sill; as few as steps, so that it ends.
    spills: [u32; LANES],
    running: [bool; LANES],
}

impl Drops {
    #[inline(always)]
    fn start(&mut self, lane: usize, start: Option<&Vec2>) -> bool {
        self.running[lane] = start.is_some();
        let start = start.copied().unwrap_or_default();
        (self.x[lane], self.y[lane]) = (start.x, start.y);
        (self.velocity_x[lane], self.velocity_y[lane]) = (0.0, 0.0);
        self.volume[lane] = 1.0;
        self.gain[lane] = 1.0;
        self.times_lost[lane] = 0;
        self.spills[lane] = 0;
        self.climbs[lane] = 0;
        self.steps[lane] = 0;
        self.steps_in_leg[lane] = 0;
        self.running[lane]
    }

    /// Puts a drop that reached a lake beyond its sill.
    #[inline(always)]
    fn flow_on(&mut self, lane: usize, spill: &Spill) {
        let place = match spill.way {
            Some(_) => spill.place,
            // Out of the land.
            None => Vec2::splat(-1.0),
        };
        (self.x[lane], self.y[lane]) = (place.x, place.y);
        let velocity = spill.way.unwrap_or_default() * SPILL_SPEED;
        (self.velocity_x[lane], self.velocity_y[lane]) = (velocity.x, velocity.y);
        self.climbs[lane] = 0;
        self.spills[lane] += 1;
    }
}

/// Lets drops run from `starts` (grid coordinates, cell centers at whole
/// numbers), records their ways and counts their visits.
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
pub(super) fn follow(
    physics: &Physics,
    scene: &Scene,
    starts: &[Vec2],
    traces: &mut Traces,
    sums: &mut Sums,
) {
    let (width, l) = (physics.width, physics.cell_size);
    let (last_x, last_y) = ((width - 1) as f32, (physics.height - 1) as f32);
    let mut waiting = starts.iter();
    let mut drops = Drops::default();
    let mut running = 0;
    for lane in 0..LANES {
        running += usize::from(drops.start(lane, waiting.next()));
    }
    while running > 0 {
        let surface = Surface::under(scene.ground, physics, &drops.x, &drops.y);

        // Finish the leg that led here, and let lanes whose drop has ended go on
        // with the next drop.
        let mut moving = [false; LANES];
        for lane in 0..LANES {
            if !drops.running[lane] {
                continue;
            }
            let (x, y) = (drops.x[lane], drops.y[lane]);
            let inside = x >= 0.0 && x < last_x && y >= 0.0 && y < last_y;
            let trace = &mut traces.lanes[lane];
            let cell = PackedCell::nearest(x, y);
            let ended = !inside
                || drops.volume[lane] < physics.min_volume
                || drops.steps[lane] >= physics.max_steps;
            let in_water = !ended
                && scene
                    .water
                    .is_some_and(|water| water[cell.index(width)] > STANDING_WATER);
            let in_leg = drops.steps_in_leg[lane];
            if in_leg > 0 && (in_leg >= physics.steps_per_leg || ended || in_water) {
                // Over the border the ground is as high as where the drop came from.
                let fall = if inside {
                    drops.height[lane] - surface.height[lane]
                } else {
                    0.0
                };
                let most_load = physics.max_load * least(drops.gain[lane], 1.0);
                let limit = (most_load * drops.volume[lane]).max(0.0);
                drops.steps_in_leg[lane] = 0;
                drops.climbs[lane] += u32::from(fall <= 0.0);
                trace.legs.push(Leg {
                    cell: drops.cell[lane],
                    fall,
                    // |v|·Δh/|Δp| = Δh/dt: the leg's length cancels.
                    capacity: (fall * drops.load[lane] / drops.dt[lane]).clamp(0.0, limit),
                    dt: drops.dt[lane],
                });
            }
            if in_water {
                // A leg of no fall and no capacity: the drop settles here.
                trace.legs.push(Leg {
                    cell,
                    fall: 0.0,
                    capacity: 0.0,
                    dt: 0.0,
                });
                let (x, y) = cell.coordinates();
                sums.plane[cell.index(width)] += 1;
                sums.touched[tile_of(physics, x, y)] = true;
            }
            if ended || in_water {
                trace.endings.push(Ending {
                    legs: trace.legs.len() as u32,
                    left: !inside,
                });
                running -= usize::from(!drops.start(lane, waiting.next()));
                continue;
            }
            let (cell_x, cell_y) = cell.coordinates();
            let height = surface.height[lane];
            let may_spill = physics.streams.is_some()
                && drops.steps_in_leg[lane] == 0
                && drops.spills[lane] < physics.max_steps;
            if may_spill
                && let Some(spill) = scene
                    .lakes
                    .spill(cell_x, cell_y, height, physics.lake_depth)
            {
                // A leg that climbs towards the brim: the drop fills the lake.
                trace.legs.push(Leg {
                    cell,
                    fall: -least(0.5 * spill.depth, physics.lake_fill),
                    capacity: 0.0,
                    dt: 0.0,
                });
                sums.plane[cell.index(width)] += 1;
                sums.touched[tile_of(physics, cell_x, cell_y)] = true;
                drops.flow_on(lane, &spill);
                continue;
            }
            if may_spill && drops.climbs[lane] > LOST_CLIMBS {
                // A hollow that is newer than the lakes. To look for lower
                // ground each time leads out of any.
                let below = physics.layer * (1u32 << drops.times_lost[lane].min(12)) as f32;
                if let Some(spill) = scene.lakes.way_out(cell_x, cell_y, height - below) {
                    drops.flow_on(lane, &spill);
                    drops.times_lost[lane] += 1;
                    continue;
                }
            }
            moving[lane] = true;
            if drops.steps_in_leg[lane] == 0 {
                drops.cell[lane] = cell;
                drops.height[lane] = height;
                drops.dt[lane] = 0.0;
            }
            drops.steps_in_leg[lane] += 1;
            drops.steps[lane] += 1;
        }

        let mut take_along = 0.0;
        if let Some(settings) = &physics.streams {
            // Once a leg is enough.
            for lane in (0..LANES).filter(|&lane| moving[lane] && drops.steps_in_leg[lane] == 1) {
                let record = &scene.streams[drops.cell[lane].index(width)];
                let area = most(record.area, 1e-6);
                drops.stream[lane] = record.area / (record.area + settings.onset);
                let size = (record.area / settings.onset + LONE_DROP) / FULL_STREAM;
                drops.gain[lane] = least(libm::powf(size, settings.power), 1e6);
                drops.flow_x[lane] = record.momentum.x / area;
                drops.flow_y[lane] = record.momentum.y / area;
            }
            take_along = settings.pull;
        }

        // All lanes alike, without branches; lanes that do not move are not used.
        let before = (
            drops.x,
            drops.y,
            drops.velocity_x,
            drops.velocity_y,
            drops.volume,
        );
        for lane in 0..LANES {
            let (gx, gy) = (
                surface.gradient_x[lane] * physics.per_cell,
                surface.gradient_y[lane] * physics.per_cell,
            );
            let (vx, vy) = (drops.velocity_x[lane], drops.velocity_y[lane]);
            let down = -physics.gravity / (1.0 + (gx * gx + gy * gy));
            let along = take_along * drops.stream[lane];
            let pull_x = gx * down + (drops.flow_x[lane] - vx) * along;
            let pull_y = gy * down + (drops.flow_y[lane] - vy) * along;
            let speed = (vx * vx + vy * vy).sqrt();
            let pull = (pull_x * pull_x + pull_y * pull_y).sqrt();
            let quickness = speed + (pull * l).sqrt();
            let dt = l / most(quickness, 1e-6);
            let damping = 1.0 / (1.0 + physics.friction * dt);
            let (vx, vy) = ((vx + pull_x * dt) * damping, (vy + pull_y * dt) * damping);
            drops.velocity_x[lane] = vx;
            drops.velocity_y[lane] = vy;
            drops.x[lane] += vx * (dt * physics.per_cell);
            drops.y[lane] += vy * (dt * physics.per_cell);
            let left =
                drops.volume[lane] / (1.0 + physics.evaporation * dt * (1.0 - drops.stream[lane]));
            // A drop at rest on level ground will never move again.
            drops.volume[lane] = if quickness > 1e-6 { left } else { -1.0 };
            drops.load[lane] = physics.capacity * drops.gain[lane] * left;
            drops.dt[lane] += dt;
        }
        for lane in 0..LANES {
            if !moving[lane] {
                drops.x[lane] = before.0[lane];
                drops.y[lane] = before.1[lane];
                drops.velocity_x[lane] = before.2[lane];
                drops.velocity_y[lane] = before.3[lane];
                drops.volume[lane] = before.4[lane];
                continue;
            }
            // A visit is where a leg begins: there it will cut or fill.
            if drops.steps_in_leg[lane] > 1 {
                continue;
            }
            let (x, y) = drops.cell[lane].coordinates();
            let cell = y * width + x;
            sums.plane[cell] += 1;
            sums.touched[tile_of(physics, x, y)] = true;
            if physics.streams.is_some() {
                sums.passed[cell].add_drop(drops.velocity_x[lane], drops.velocity_y[lane]);
            }
        }
    }
    let ended = traces.lanes.each_ref().map(|trace| trace.endings.len());
    traces.marks.push(ended);
}

impl Traces {
    pub fn clear(&mut self) {
        for trace in &mut self.lanes {
            trace.legs.clear();
            trace.endings.clear();
        }
        self.marks.clear();
    }

    /// Cuts and fills along all recorded ways.
    pub fn exchange(&self, physics: &Physics, bed: &Bed, sums: &mut Sums) {
        // In the order in which they were followed: drops of one call are
        // neighbors, and find the ground and the sums in the cache.
        let mut from = [0; LANES];
        for to in &self.marks {
            for (lane, trace) in self.lanes.iter().enumerate() {
                exchange(trace, from[lane]..to[lane], physics, bed, sums);
            }
            from = *to;
        }
    }
}

/// Legs that are read ahead.
const AHEAD: usize = 16;

/// What a drop meets on its next legs. To read it in one go lets the memory
/// answer all at once, where leg by leg each would wait for the one before.
struct Ahead {
    /// Most units that one visit may lay down or take up.
    fill_bound: [f32; AHEAD],
    cut_bound: [f32; AHEAD],
    /// Shares of a surplus or lack that are exchanged.
    fill_share: [f32; AHEAD],
    cut_share: [f32; AHEAD],
    /// Units of soil for one visit.
    loose: [f32; AHEAD],
    /// A cut reaches no deeper than the slope of the way goes on under the
    /// brush; lower ground beside it would become a pit. units: m
    floor: [f32; AHEAD],
}

impl Ahead {
    #[inline(always)]
    fn read(legs: &[Leg], physics: &Physics, bed: &Bed) -> Self {
        let (mut fall, mut dt) = ([0.0f32; AHEAD], [0.0f32; AHEAD]);
        let (mut visits, mut soil, mut ground) = ([1i32; AHEAD], [0.0; AHEAD], [0.0; AHEAD]);
        for (i, leg) in legs.iter().enumerate().take(AHEAD) {
            let cell = leg.cell.index(physics.width);
            (fall[i], dt[i]) = (leg.fall, leg.dt);
            visits[i] = bed.visits[cell];
            soil[i] = bed.soil[cell];
            ground[i] = bed.ground[cell];
        }
        let mut ahead = Self {
            fill_bound: [0.0; AHEAD],
            cut_bound: [0.0; AHEAD],
            fill_share: [0.0; AHEAD],
            cut_share: [0.0; AHEAD],
            loose: [0.0; AHEAD],
            floor: [0.0; AHEAD],
        };
        for i in 0..AHEAD {
            let share_of_visit = physics.units_per_metre_at_peak / visits[i].max(1) as f32;
            let down = most(fall[i], 0.0);
            let up = most(-fall[i], 0.0);
            ahead.fill_bound[i] =
                (physics.fill_of_fall * down + up + physics.layer) * share_of_visit;
            ahead.cut_bound[i] = physics.cut_of_fall * down * share_of_visit;
            ahead.fill_share[i] = share(physics.deposition * dt[i]);
            ahead.cut_share[i] = share(physics.erosion * dt[i]);
            ahead.loose[i] = soil[i] * share_of_visit;
            ahead.floor[i] = ground[i] - fall[i] * physics.floor_reach;
        }
        ahead
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn exchange(trace: &Trace, drops: Range<usize>, physics: &Physics, bed: &Bed, sums: &mut Sums) {
    let before = drops.start.checked_sub(1);
    let mut first = before.map_or(0, |drop| trace.endings[drop].legs as usize);
    for ending in &trace.endings[drops] {
        let legs = &trace.legs[first..ending.legs as usize];
        first = ending.legs as usize;
        let mut load = 0i32;
        let mut budget = physics.lifetime_load;
        for legs in legs.chunks(AHEAD) {
            let ahead = Ahead::read(legs, physics, bed);
            for (i, leg) in legs.iter().enumerate() {
                let lacking = leg.capacity - load as f32;
                let change = if leg.fall <= 0.0 {
                    // Uphill: fill the hollow, at most to the brim.
                    least(load as f32, ahead.fill_bound[i])
                } else if lacking < 0.0 {
                    least(-lacking * ahead.fill_share[i], ahead.fill_bound[i])
                } else {
                    let wanted = least(lacking * ahead.cut_share[i], budget as f32);
                    // Soil goes first, then bedrock at its own pace.
                    let loose = least(wanted, ahead.loose[i]);
                    -least(
                        loose + (wanted - loose) * physics.bedrock_erodibility,
                        ahead.cut_bound[i],
                    )
                };
                if change.abs() < 1.0 {
                    continue;
                }
                let floor = if change < 0.0 {
                    ahead.floor[i]
                } else {
                    f32::NEG_INFINITY
                };
                let added = lay(physics, bed, leg, change, floor, sums);
                load -= added;
                if added < 0 {
                    budget += added;
                    sums.taken -= i64::from(added);
                }
            }
        }
        if ending.left {
            sums.left += i64::from(load);
        } else if load != 0 {
            settle(physics, bed, legs, load, sums);
        }
    }
}

/// Stamps an amount around a leg's cell, where the ground lies above `floor`.
#[inline(always)]
fn lay(physics: &Physics, bed: &Bed, leg: &Leg, amount: f32, floor: f32, sums: &mut Sums) -> i32 {
    let (size, at) = ((physics.width, physics.height), leg.cell.coordinates());
    sums.touch(physics, at);
    let brush = &physics.brush;
    if let (Some(hardness), true) = (bed.hardness, amount < 0.0) {
        // Bare rock is as hard as it is itself, not as what the drop runs over.
        let resists = |cell: usize, units: f32| {
            // All drops of the batch that come by may take as much.
            let drops = (bed.visits[cell].max(0) + 8) as f32;
            let bare = bed.soil[cell] < units * physics.unit * drops;
            if bed.ground[cell] <= floor {
                0.0
            } else if bare {
                1.0 - hardness[cell]
            } else {
                1.0
            }
        };
        return brush.stamp_each(&mut sums.plane, size, at, amount, resists);
    }
    brush.stamp(&mut sums.plane, bed.ground, size, at, amount, floor)
}

/// Lays down what a drop still carries at its end: thin layers back along its
/// way, and should they not suffice, the rest evenly over all of it. A heap at
/// the last cell would grow into a spike, for many drops end at one place.
#[inline(always)]
fn settle(physics: &Physics, bed: &Bed, legs: &[Leg], mut load: i32, sums: &mut Sums) {
    const ANYWHERE: f32 = f32::NEG_INFINITY;
    for leg in legs.iter().rev() {
        if load == 0 {
            break;
        }
        let visits = bed.visits[leg.cell.index(physics.width)].max(1) as f32;
        let bound = physics.layer * physics.units_per_metre_at_peak / visits;
        let amount = (load as f32).min(bound);
        if amount >= 1.0 {
            load -= lay(physics, bed, leg, amount, ANYWHERE, sums);
        }
    }
    let even = load as f32 / legs.len() as f32;
    for leg in legs.iter().filter(|_| even >= 1.0) {
        load -= lay(physics, bed, leg, even, ANYWHERE, sums);
    }
    // What was cut off to whole units, so that nothing is lost.
    if let Some(leg) = legs.last() {
        sums.touch(physics, leg.cell.coordinates());
        sums.plane[leg.cell.index(physics.width)] += load;
    }
}

impl Sums {
    /// Marks the tiles under a brush as changed.
    #[inline(always)]
    fn touch(&mut self, physics: &Physics, (x, y): (usize, usize)) {
        const TILE: usize = crate::terrain::TILE as usize;
        self.touched[tile_of(physics, x, y)] = true;
        let reach = physics.brush.reach();
        let inner = reach..TILE - reach;
        if inner.contains(&(x % TILE)) && inner.contains(&(y % TILE)) {
            return;
        }
        let (west, east) = (x.saturating_sub(reach), (x + reach).min(physics.width - 1));
        let (north, south) = (y.saturating_sub(reach), (y + reach).min(physics.height - 1));
        for (x, y) in [(west, north), (east, north), (west, south), (east, south)] {
            self.touched[tile_of(physics, x, y)] = true;
        }
    }
}

#[inline]
fn tile_of(physics: &Physics, x: usize, y: usize) -> usize {
    const TILE: usize = crate::terrain::TILE as usize;
    (y / TILE) * physics.tiles_x + x / TILE
}

/// Share of a difference that is made up in `x` = rate × time; it stays below
/// one for any step.
#[inline]
fn share(x: f32) -> f32 {
    x / (1.0 + x)
}

/// Height and gradient (rise per cell) of the bilinear ground under each drop.
struct Surface {
    height: Lanes,
    gradient_x: Lanes,
    gradient_y: Lanes,
}

impl Surface {
    #[inline(always)]
    fn under(ground: &[f32], physics: &Physics, x: &Lanes, y: &Lanes) -> Self {
        let width = physics.width;
        let (most_x, most_y) = ((width - 2) as f32, (physics.height - 2) as f32);
        // North-west, north-east, south-west and south-east corners.
        let (mut nw, mut ne, mut sw, mut se): (Lanes, Lanes, Lanes, Lanes) = Default::default();
        let (mut u, mut v): (Lanes, Lanes) = Default::default();
        let (mut west, mut north) = ([0i32; LANES], [0i32; LANES]);
        for lane in 0..LANES {
            // Lanes without a drop, or with one that is about to end outside,
            // read some cell that exists.
            west[lane] = least(most(x[lane], 0.0), most_x) as i32;
            north[lane] = least(most(y[lane], 0.0), most_y) as i32;
            u[lane] = x[lane] - west[lane] as f32;
            v[lane] = y[lane] - north[lane] as f32;
        }
        for lane in 0..LANES {
            let (west, north) = (west[lane] as usize, north[lane] as usize);
            let upper = &ground[north * width + west..][..2];
            let lower = &ground[(north + 1) * width + west..][..2];
            (nw[lane], ne[lane]) = (upper[0], upper[1]);
            (sw[lane], se[lane]) = (lower[0], lower[1]);
        }
        let (mut height, mut gradient_x, mut gradient_y): (Lanes, Lanes, Lanes) =
            Default::default();
        for lane in 0..LANES {
            let (upper, lower) = (ne[lane] - nw[lane], se[lane] - sw[lane]);
            let (west, east) = (sw[lane] - nw[lane], se[lane] - ne[lane]);
            gradient_x[lane] = upper + (lower - upper) * v[lane];
            gradient_y[lane] = west + (east - west) * u[lane];
            height[lane] = (nw[lane] + upper * u[lane]) + gradient_y[lane] * v[lane];
        }
        Self {
            height,
            gradient_x,
            gradient_y,
        }
    }
}
