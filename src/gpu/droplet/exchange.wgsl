// Second pass of a batch of drops: they cut and fill along their paths, in whole
// units, whose sums do not depend on their order. One invocation a drop.
#define_import_path bevy_erode::gpu::droplet::exchange

#import bevy_erode::gpu::constants::constants
#import bevy_erode::gpu::state::{exactly, ground_of, index, inside}
#import bevy_erode::gpu::status::status
#import bevy_erode::gpu::droplet::exact::{sum, less, product, quotient, number}
#import bevy_erode::gpu::droplet::constants::{droplet, DROPLET_SUMS, SHIFT, WEIGHT_STEPS, DROPS_PER_GROUP}

@group(0) @binding(2) var<storage, read> list: array<f32>;
@group(0) @binding(3) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> cover: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> tallies: array<atomic<i32>>;
@group(0) @binding(6) var<storage, read> paths: array<vec4<u32>>;
@group(0) @binding(7) var hardness: texture_2d<f32>;

// A floor below any ground.
const ANYWHERE: f32 = -3e38;

// Taken up and carried away, each in a lower and an upper half.
var<workgroup> sums: array<atomic<u32>, 4>;

fn ground_at(at: u32) -> f32 {
    return exactly(ground_of(rock[at], cover[at].x));
}

fn visits_of(at: u32) -> i32 {
    return max(atomicLoad(&tallies[at * 2u]), 0);
}

// Share of a difference that is made up in x = rate × time.
fn share_of(x: f32) -> f32 {
    return quotient(x, sum(1.0, x));
}

// A number cut off to whole units, as on the CPU: adding 1.5 · 2²³ puts the
// whole part into the lowest bits.
fn whole_units(value: f32) -> i32 {
    return i32(bitcast<u32>(sum(less(value, 0.5), SHIFT)) - bitcast<u32>(SHIFT));
}

// A brush at its place.
struct Stamp {
    corner: vec2<i32>,
    amount: f32,
    floor: f32,
    // Whether it cuts ground of unlike hardness, and whether it lies inside.
    resists: bool,
    is_whole: bool,
    // Sum of the weights inside.
    weights: f32,
}

// Sum of the weights that lie in so many of the first columns and rows.
fn steps_to(corner: vec2<i32>) -> f32 {
    let drops = droplet;
    let side = 2u * drops.reach + 2u;
    return list[drops.pitch * (side - 1u) + u32(corner.y) * side + u32(corner.x)];
}

fn stamp_at(at: u32, amount: f32, floor: f32) -> Stamp {
    let drops = droplet;
    let size = vec2<i32>(constants.size);
    let reach = i32(drops.reach);
    let middle = vec2(i32(at % constants.size.x), i32(at / constants.size.x));
    let resists = amount < 0.0 && constants.has_hardness != 0u;
    // The CPU's padded rows must not reach over the end.
    let end = (middle.y + reach) * size.x + middle.x + i32(drops.pitch);
    let inner = all(middle >= vec2(reach)) && all(middle + reach < size);
    let is_whole = inner && end <= size.x * size.y;
    let corner = middle - reach;
    // Columns and rows of the brush from which on, and up to which, it is inside.
    let low = max(-corner, vec2(0));
    let high = min(size - corner, vec2(2 * reach + 1));
    // Whole numbers: exact in any order.
    let upper = steps_to(vec2(high.x, low.y)) - steps_to(low);
    let steps = (steps_to(high) - steps_to(vec2(low.x, high.y))) - upper;
    return Stamp(corner, amount, floor, resists, is_whole, product(steps, 1.0 / WEIGHT_STEPS));
}

// Stamps one cell of a brush; returns the units really added.
fn lay_cell(stamp: Stamp, offset: vec2<u32>) -> i32 {
    let place = stamp.corner + vec2<i32>(offset);
    let weight = list[offset.y * droplet.pitch + offset.x];
    if weight == 0.0 || !inside(place) { return 0; }
    let cell = index(place);
    var units = 0;
    if stamp.is_whole && !stamp.resists {
        units = whole_units(product(abs(stamp.amount), weight));
        if stamp.amount < 0.0 { units = -units; }
    } else {
        // At the border the weights inside are scaled up to sum to one.
        let share = product(stamp.amount, quotient(weight, stamp.weights));
        var part = 1.0;
        if stamp.resists {
            // All drops of the batch that come by may take as much. Bare rock is
            // as hard as it is itself.
            let others = f32(visits_of(cell) + 8);
            if cover[cell].x < product(product(abs(share), droplet.unit), others) {
                part = less(1.0, textureLoad(hardness, place, 0).x);
            }
        }
        units = i32(product(share, part));
    }
    if units == 0 || stamp.floor > ANYWHERE && !(ground_at(cell) > stamp.floor) { return 0; }
    atomicAdd(&tallies[cell * 2u + 1u], units);
    return units;
}

// Stamps an amount around a cell where the ground lies above the floor; returns
// the units really added. Four cells a turn: software devices count turns.
fn lay(at: u32, amount: f32, floor: f32) -> i32 {
    let stamp = stamp_at(at, amount, floor);
    let quads = droplet.pitch / 4u;
    let turns = (2u * droplet.reach + 1u) * quads;
    var added = 0;
    for (var i = 0u; i < turns; i++) {
        let first = vec2(i % quads * 4u, i / quads);
        added += lay_cell(stamp, first);
        added += lay_cell(stamp, first + vec2(1u, 0u));
        added += lay_cell(stamp, first + vec2(2u, 0u));
        added += lay_cell(stamp, first + vec2(3u, 0u));
    }
    return added;
}

// Lays down what a drop still carries at its end: thin layers back along its
// path, and should they not suffice, the rest evenly over all of it.
fn settle(drop: u32, legs: u32, carried: i32) {
    let drops = droplet;
    var load = carried;
    for (var leg = legs; leg > 0u && load != 0; leg--) {
        let at = paths[leg * drops.count + drop].x;
        let visits = f32(max(visits_of(at), 1));
        let bound = quotient(product(drops.layer, drops.units_per_metre_at_peak), visits);
        let amount = min(number(load), bound);
        if amount >= 1.0 { load -= lay(at, amount, ANYWHERE); }
    }
    let even = quotient(number(load), f32(legs));
    if even >= 1.0 {
        for (var leg = 1u; leg <= legs; leg++) {
            load -= lay(paths[leg * drops.count + drop].x, even, ANYWHERE);
        }
    }
    // What was cut off to whole units, so that nothing is lost.
    atomicAdd(&tallies[paths[legs * drops.count + drop].x * 2u + 1u], load);
}

// What a leg takes up (negative) or lays down, in units.
fn wish(leg: vec4<u32>, load: f32, budget: f32) -> f32 {
    let drops = droplet;
    let fall = bitcast<f32>(leg.y);
    let lacking = less(bitcast<f32>(leg.z), load);
    let time = bitcast<f32>(leg.w);
    let visits = f32(max(visits_of(leg.x), 1));
    let share_of_visit = quotient(drops.units_per_metre_at_peak, visits);
    let down = product(0.5, max(fall, 0.0));
    let up = max(-fall, 0.0);
    let fill_bound = product(sum(sum(down, up), drops.layer), share_of_visit);
    // Uphill: fill the hollow, at most to the brim.
    if fall <= 0.0 { return min(load, fill_bound); }
    if lacking < 0.0 {
        return min(product(-lacking, share_of(product(drops.rates.z, time))), fill_bound);
    }
    let wanted = min(product(lacking, share_of(product(drops.rates.y, time))), budget);
    // Soil goes first, then bedrock at its own pace.
    let loose = min(wanted, product(cover[leg.x].x, share_of_visit));
    let hard = product(less(wanted, loose), drops.bedrock_erodibility);
    return -min(sum(loose, hard), product(down, share_of_visit));
}

@compute @workgroup_size(DROPS_PER_GROUP)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let drop = id.x;
    let drops = droplet;
    if drop < drops.count {
        let header = paths[drop];
        let legs = header.x;
        var load = 0;
        var budget = drops.lifetime_load;
        var taken = 0u;
        for (var i = 1u; i <= legs; i++) {
            let leg = paths[i * drops.count + drop];
            let change = wish(leg, number(load), number(budget));
            if abs(change) < 1.0 { continue; }
            var floor = ANYWHERE;
            if change < 0.0 {
                // A cut reaches no deeper than the slope of the path goes on
                // under the brush; lower ground beside it would become a pit.
                floor = less(ground_at(leg.x), product(bitcast<f32>(leg.y), f32(drops.reach)));
            }
            let added = lay(leg.x, change, floor);
            load -= added;
            if added < 0 {
                budget += added;
                taken += u32(-added);
            }
        }
        if header.y != 0u {
            atomicAdd(&sums[2], u32(load & 0xFFFF));
            atomicAdd(&sums[3], u32(load >> 16u));
        } else if load != 0 {
            settle(drop, legs, load);
        }
        atomicAdd(&sums[0], taken & 0xFFFFu);
        atomicAdd(&sums[1], taken >> 16u);
    }
    workgroupBarrier();
    if local < 4u {
        let part = atomicLoad(&sums[local]);
        if part != 0u { atomicAdd(&status[DROPLET_SUMS + local], part); }
    }
}
