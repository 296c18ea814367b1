// First pass of a batch of drops: their paths over the frozen ground, and how
// often they come through each cell. One invocation a drop; the equations are
// those of the module `droplet`.
#define_import_path bevy_erode::gpu::droplet::follow

#import bevy_erode::gpu::constants::constants
#import bevy_erode::gpu::state::{exactly, ground_of, index}
#import bevy_erode::gpu::droplet::exact::{sum, less, product, quotient, root}
#import bevy_erode::gpu::droplet::constants::{droplet, STANDING_WATER, DROPS_PER_GROUP}

// The brush, then where the drops start.
@group(0) @binding(1) var<storage, read> list: array<f32>;
@group(0) @binding(2) var<storage, read> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> cover: array<vec2<f32>>;
// Visits and changes of each cell.
@group(0) @binding(4) var<storage, read_write> tallies: array<atomic<i32>>;
// For each drop how many legs it has and whether it left the land, then the
// legs: cell, fall, capacity and duration.
@group(0) @binding(5) var<storage, read_write> paths: array<vec4<u32>>;

// Height and gradient (rise per cell) of the bilinear ground.
struct Surface {
    height: f32,
    gradient: vec2<f32>,
}

fn ground_at(cell: vec2<i32>) -> f32 {
    let at = index(cell);
    return exactly(ground_of(rock[at], cover[at].x));
}

fn surface_at(place: vec2<f32>) -> Surface {
    let corner = vec2<i32>(clamp(place, vec2(0.0), vec2<f32>(constants.size - 2u)));
    let u = less(place.x, f32(corner.x));
    let v = less(place.y, f32(corner.y));
    let nw = ground_at(corner);
    let ne = ground_at(corner + vec2(1, 0));
    let sw = ground_at(corner + vec2(0, 1));
    let se = ground_at(corner + vec2(1, 1));
    let upper = less(ne, nw);
    let lower = less(se, sw);
    let west = less(sw, nw);
    let east = less(se, ne);
    let gradient_x = sum(upper, product(less(lower, upper), v));
    let gradient_y = sum(west, product(less(east, west), u));
    let height = sum(sum(nw, product(upper, u)), product(gradient_y, v));
    return Surface(height, vec2(gradient_x, gradient_y));
}

fn length_of(v: vec2<f32>) -> f32 {
    return root(sum(product(v.x, v.x), product(v.y, v.y)));
}

fn visit(cell: vec2<i32>) {
    atomicAdd(&tallies[index(cell) * 2u], 1);
}

@compute @workgroup_size(DROPS_PER_GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let drop = id.x;
    let drops = droplet;
    if drop >= drops.count { return; }
    let l = constants.cell_size;
    let last = vec2<f32>(constants.size - 1u);
    let start = drops.weights + drop * 2u;
    var place = vec2(list[start], list[start + 1u]);
    var velocity = vec2(0.0);
    var volume = 1.0;
    var steps = 0u;
    // The leg under way.
    var steps_in_leg = 0u;
    var leg_cell = vec2(0);
    var leg_height = 0.0;
    var leg_load = 0.0;
    var leg_time = 0.0;
    var legs = 0u;
    var left = false;
    loop {
        let here = surface_at(place);
        let within = all(place >= vec2(0.0)) && all(place < last);
        let ended = !within || volume < drops.min_volume || steps >= drops.max_steps;
        var cell = vec2(0);
        var in_water = false;
        if !ended {
            cell = vec2(i32(sum(place.x, 0.5)), i32(sum(place.y, 0.5)));
            in_water = cover[index(cell)].y > STANDING_WATER;
        }
        if steps_in_leg > 0u && (steps_in_leg >= drops.steps_per_leg || ended || in_water) {
            // Over the border the ground is as high as where the drop came from.
            let fall = select(0.0, less(leg_height, here.height), within);
            let limit = max(product(drops.max_load, volume), 0.0);
            let capacity = clamp(quotient(product(fall, leg_load), leg_time), 0.0, limit);
            legs += 1u;
            paths[legs * drops.count + drop] = vec4(
                index(leg_cell),
                bitcast<u32>(fall),
                bitcast<u32>(capacity),
                bitcast<u32>(leg_time),
            );
            steps_in_leg = 0u;
        }
        if in_water {
            // A leg of no fall and no capacity: the drop settles here.
            legs += 1u;
            paths[legs * drops.count + drop] = vec4(index(cell), 0u, 0u, 0u);
            visit(cell);
        }
        if ended || in_water {
            left = !within;
            break;
        }
        if steps_in_leg == 0u {
            leg_cell = cell;
            leg_height = here.height;
            leg_time = 0.0;
            visit(cell);
        }
        steps_in_leg += 1u;
        steps += 1u;

        let gx = product(here.gradient.x, drops.per_cell);
        let gy = product(here.gradient.y, drops.per_cell);
        let down = quotient(-drops.gravity, sum(1.0, sum(product(gx, gx), product(gy, gy))));
        let pull = vec2(product(gx, down), product(gy, down));
        let quickness = sum(length_of(velocity), root(product(length_of(pull), l)));
        let dt = quotient(l, max(quickness, 1e-6));
        let damping = quotient(1.0, sum(1.0, product(drops.rates.x, dt)));
        velocity.x = product(sum(velocity.x, product(pull.x, dt)), damping);
        velocity.y = product(sum(velocity.y, product(pull.y, dt)), damping);
        let way = product(dt, drops.per_cell);
        place.x = sum(place.x, product(velocity.x, way));
        place.y = sum(place.y, product(velocity.y, way));
        let remains = quotient(volume, sum(1.0, product(drops.rates.w, dt)));
        // A drop at rest on level ground will never move again.
        volume = select(-1.0, remains, quickness > 1e-6);
        leg_load = product(drops.capacity, remains);
        leg_time = sum(leg_time, dt);
    }
    paths[drop] = vec4(legs, select(0u, 1u, left), 0u, 0u);
}
