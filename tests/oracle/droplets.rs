//! T. Power 2025, one drop, step by step as the source's listing has it.

/// The source's parameters.
#[derive(Clone, Copy)]
pub struct Params {
    pub time_step: f64,
    pub height_scale: f64,
    pub density: f64,
    pub friction: f64,
    pub deposition_rate: f64,
    pub evaporation_rate: f64,
    pub min_water: f64,
}

/// Runs one drop over `heights` (row-major) from a position in cells and
/// returns the number of its steps.
pub fn simulate_droplet(
    heights: &mut [f64],
    (width, height): (i64, i64),
    (mut px, mut py): (f64, f64),
    params: &Params,
) -> usize {
    let dt = params.time_step;
    let (mut vx, mut vy, mut water, mut sediment) = (0.0, 0.0, 1.0, 0.0);
    let mut steps = 0;
    while water > params.min_water {
        let (x, y) = (px as i64, py as i64);
        if x < 1 || x >= width - 1 || y < 1 || y >= height - 1 {
            break;
        }
        let normal = surface_normal(heights, width, (x, y), params.height_scale);
        let inverse_mass = 1.0 / (params.density * water);
        vx += normal[0] * inverse_mass * dt;
        vy += normal[2] * inverse_mass * dt;
        px += vx * dt;
        py += vy * dt;
        vx *= 1.0 - params.friction * dt;
        vy *= 1.0 - params.friction * dt;
        if px < 0.0 || px >= width as f64 || py < 0.0 || py >= height as f64 {
            break;
        }
        let (next_x, next_y) = (px as i64, py as i64);
        let here = (y * width + x) as usize;
        let start_height = heights[here];
        let next_height = heights[(next_y * width + next_x) as usize];
        let speed = (vx * vx + vy * vy).sqrt();
        let capacity = f64::max(0.0, water * speed * (start_height - next_height));
        let capacity_delta = capacity - sediment;
        sediment += dt * params.deposition_rate * capacity_delta;
        heights[here] -= dt * water * params.deposition_rate * capacity_delta;
        water *= 1.0 - dt * params.evaporation_rate;
        steps += 1;
    }
    steps
}

/// The source's weighted normal of an interior cell: eight facets, each
/// normalized, weighted and summed, the sum not renormalized.
fn surface_normal(heights: &[f64], width: i64, (x, y): (i64, i64), scale: f64) -> [f64; 3] {
    let h = |dx: i64, dy: i64| heights[((y + dy) * width + x + dx) as usize];
    let root2 = std::f64::consts::SQRT_2;
    let center = h(0, 0);
    let facets = [
        ([scale * (center - h(1, 0)), 1.0, 0.0], 0.15),
        ([scale * (h(-1, 0) - center), 1.0, 0.0], 0.15),
        ([0.0, 1.0, scale * (center - h(0, 1))], 0.15),
        ([0.0, 1.0, scale * (h(0, -1) - center)], 0.15),
        (
            [
                scale * (center - h(1, 1)) / root2,
                root2,
                scale * (center - h(1, 1)) / root2,
            ],
            0.10,
        ),
        (
            [
                scale * (center - h(1, -1)) / root2,
                root2,
                scale * (h(1, -1) - center) / root2,
            ],
            0.10,
        ),
        (
            [
                scale * (h(-1, 1) - center) / root2,
                root2,
                scale * (center - h(-1, 1)) / root2,
            ],
            0.10,
        ),
        (
            [
                scale * (h(-1, -1) - center) / root2,
                root2,
                scale * (h(-1, -1) - center) / root2,
            ],
            0.10,
        ),
    ];
    let mut sum = [0.0; 3];
    for (facet, weight) in facets {
        let length = facet.iter().map(|c| c * c).sum::<f64>().sqrt();
        for (sum, component) in sum.iter_mut().zip(facet) {
            *sum += component / length * weight;
        }
    }
    sum
}
