// What all passes share: the constants of a job, where things lie, and exact sums.
#define_import_path bevy_erode::gpu::state

struct Job {
    size: vec2<u32>,
    tiles: vec2<u32>,
    // West, east, north, south: 0 wall, 1 open, 2 sea of this level.
    borders: vec4<u32>,
    seas: vec4<f32>,
    cell_size: f32,
    datum: f32,
    dt: f32,
    // Always zero, but the compiler does not know: see `exactly`.
    zero: u32,
    // Where parts of the notes begin; two of a kind are [now, next].
    pace: vec2<u32>,
    deepest: vec2<u32>,
    tile_states: vec2<u32>,
    edges: vec2<u32>,
    lost: u32,
    ground_changed: u32,
    water_changed: u32,
    repaint: u32,
    books: u32,
    // Pipe model.
    per_length: f32,
    push: f32,
    drag: f32,
    calm: f32,
    gravity: f32,
    gradient: f32,
    capacity: f32,
    full_depth: f32,
    min_sine_squared: f32,
    rounding: f32,
    soil_share: f32,
    rock_per_soil: f32,
    fall_share: f32,
    courant: f32,
    // Thermal weathering.
    rest: vec2<f32>,
    share: vec2<f32>,
    rock_rest: f32,
    breaking: f32,
    shelter: f32,
    // Rain and evaporation. units: m
    rain: f32,
    drying: f32,
    // Whether hardness and rain maps are there.
    has_hardness: u32,
    has_rain_map: u32,
    // Entries of a list.
    count: u32,
    // Implicit shallow water. Whether it is regolith that flows, and which lines
    // a sweep solves, before or after the others.
    creeps: u32,
    by_columns: u32,
    is_second: u32,
    is_first: u32,
    keep: f32,
    conduct: f32,
    // units: m
    regolith_depth: f32,
    steady: f32,
    // Where the largest change of a level is noted: [last solve, this solve].
    fastest: vec2<u32>,
    lacking: u32,
    rim: u32,
    drops: Drops,
    published: Published,
}

// A batch of drops; `models::droplet` says what they mean.
struct Drops {
    // Of friction, erosion, deposition and evaporation. units: 1/s
    rates: vec4<f32>,
    // Drops of this part of the batch, and places for the legs of each.
    count: u32,
    places: u32,
    // Where what drops took up and carried away is counted.
    account: u32,
    // Numbers of the brush and of its sums, which stand before the starts.
    weights: u32,
    reach: u32,
    pitch: u32,
    max_steps: u32,
    steps_per_leg: u32,
    lifetime_load: i32,
    per_cell: f32,
    gravity: f32,
    capacity: f32,
    max_load: f32,
    min_volume: f32,
    bedrock_erodibility: f32,
    units_per_metre_at_peak: f32,
    layer: f32,
    unit: f32,
}

// The source's own pipe model.
struct Published {
    // What a step takes up of what is lacking, lets fall of what is too much, and
    // dries; and the sine of the least tilt.
    shares: vec4<f32>,
    // Time by area and by length of a cell.
    per_area: f32,
    cells: f32,
}

@group(0) @binding(0) var<uniform> constants: Job;

const FILM: f32 = 1e-5;
const TILE: u32 = 64u;

// Bits of a tile's state: some water in it, and at each of its edges.
const WET: u32 = 1u;
const WET_NORTH: u32 = 2u;
const WET_SOUTH: u32 = 4u;
const WET_WEST: u32 = 8u;
const WET_EAST: u32 = 16u;
// Both copies of the state are equal, so nothing need be copied.
const SETTLED: u32 = 32u;
// One of the two copies is as it will stay.
const SETTLING: u32 = 64u;
const AT_REST: u32 = 96u;

// Terms of the books, each a two-float sum.
const MOVED: u32 = 0u;
const SOLIDS_LEFT: u32 = 3u;
const RAINED: u32 = 4u;
const SHORT: u32 = 6u;
const LOST: u32 = 8u;
const TERMS: u32 = 10u;

const WALL: u32 = 0u;
const OPEN: u32 = 1u;
const SEA: u32 = 2u;

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
    let last = cell + 1u == constants.size;
    return WET
        | select(0u, WET_NORTH, within.y == 0u)
        | select(0u, WET_SOUTH, within.y == TILE - 1u || last.y)
        | select(0u, WET_WEST, within.x == 0u)
        | select(0u, WET_EAST, within.x == TILE - 1u || last.x);
}

// Ground and level beyond the border of a cell: the ground goes on as it does
// at the edge. `side` is 0 to 3: west, east, north, south.
fn beyond(side: u32, edge: vec2<f32>, inner_ground: f32) -> vec2<f32> {
    let outer = edge.x + (edge.x - inner_ground);
    switch constants.borders[side] {
        case OPEN: {
            // At least as steep as an outfall over a step.
            let fall = max(edge.x - outer, edge.y - edge.x);
            return vec2(outer, max(edge.y - fall, outer));
        }
        case SEA: {
            let bed = min(outer, edge.x);
            return vec2(bed, max(constants.seas[side] - constants.datum, bed));
        }
        default: { return vec2(outer, outer); }
    }
}

// A depth of at least FILM to the power of 7/3, as on the CPU: a guess of the cube
// root from the exponent's bits, and a parabola that takes its error away.
fn depth_power(depth: f32) -> f32 {
    let h = min(depth, 1e3);
    let guess = 1.4857176e9 - f32(bitcast<i32>(h)) * (1.0 / 3.0);
    let root = bitcast<f32>(bitcast<u32>(guess) << 7u);
    let rooted = h * (root * root);
    let cubed = rooted * root;
    let parabola = (7.039226e-20 * cubed - 2.7528211e-12) * cubed + 4.19768e-5;
    return (h * h) * (rooted * parabola);
}
