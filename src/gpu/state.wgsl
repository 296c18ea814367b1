// What all passes share: cells and borders, and exact sums.
#define_import_path bevy_erode::gpu::state

#import bevy_erode::gpu::constants::{constants, TILE, WET, WET_NORTH, WET_SOUTH, WET_WEST, WET_EAST, WET_REACH, OPEN, SEA}
#import bevy_erode::gpu::constants::{POWER_DEEPEST, POWER_GUESS, POWER_SQUARE, POWER_LINE, POWER_START}

fn index(cell: vec2<i32>) -> u32 {
    return u32(cell.y) * constants.size.x + u32(cell.x);
}

fn inside(cell: vec2<i32>) -> bool {
    return all(cell >= vec2(0)) && all(cell < vec2<i32>(constants.size));
}

fn tile_of(cell: vec2<u32>) -> u32 {
    return cell.y / TILE * constants.tiles.x + cell.x / TILE;
}

// A number that the compiler must take as it comes: without it `(a + b) - a`
// may be simplified to `b`, and what rounding lost would be lost.
fn exactly(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ constants.zero);
}

// Adds to a quantity kept as a two-float sum (high, rest).
fn add_exactly(sum: vec2<f32>, change: f32) -> vec2<f32> {
    let wanted = exactly(sum.y + change);
    let now = exactly(sum.x + wanted);
    let gained = exactly(now - sum.x);
    let error = exactly(sum.x - exactly(now - gained)) + exactly(wanted - gained);
    return vec2(now, exactly(error));
}

// Ground above the datum, the difference first: it is exact.
fn ground_of(rock: vec2<f32>, soil: f32) -> f32 {
    return exactly(exactly(rock.x - constants.datum) + rock.y) + soil;
}

// The state that a wet cell gives its tile.
fn wet_bits(cell: vec2<u32>) -> u32 {
    let within = cell % TILE;
    let far = (within >= vec2(TILE - WET_REACH)) | (cell + WET_REACH >= constants.size);
    return WET
        | select(0u, WET_NORTH, within.y < WET_REACH)
        | select(0u, WET_SOUTH, far.y)
        | select(0u, WET_WEST, within.x < WET_REACH)
        | select(0u, WET_EAST, far.x);
}

// Ground and water beyond the border of a cell with such ground and water: the
// ground goes on as it does at the edge. `side` is 0 to 3: west, east, north, south.
fn beyond(side: u32, edge: vec2<f32>, inner_ground: f32) -> vec2<f32> {
    let rise = edge.x - inner_ground;
    let outer = edge.x + rise;
    switch constants.borders[side] {
        case OPEN: {
            // At least as steep as an outfall over a step.
            let fall = max(-rise, edge.y);
            return vec2(outer, max(edge.y - fall - rise, 0.0));
        }
        case SEA: {
            let bed = min(outer, edge.x);
            return vec2(bed, max(constants.seas[side] - constants.datum - bed, 0.0));
        }
        default: { return vec2(outer, 0.0); }
    }
}

// A depth of at least FILM to the power of 7/3, as on the CPU: a guess of the cube
// root from the exponent's bits, and a parabola that takes its error away.
fn depth_power(depth: f32) -> f32 {
    let h = min(depth, POWER_DEEPEST);
    let guess = POWER_GUESS - f32(bitcast<i32>(h)) * (1.0 / 3.0);
    let root = bitcast<f32>(bitcast<u32>(guess) << 7u);
    let rooted = h * (root * root);
    let cubed = rooted * root;
    let parabola = (POWER_SQUARE * cubed + POWER_LINE) * cubed + POWER_START;
    return (h * h) * (rooted * parabola);
}
