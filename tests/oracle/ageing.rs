//! One step of stream power with deposition, cell by cell, iterated until it stands still.

/// Constants of a step.
#[derive(Clone, Copy)]
pub struct Step {
    pub cell_size: f64,
    pub years: f64,
    pub erodibility: f64,
    pub area_exponent: f64,
    pub deposition: f64,
}

/// Depth that each cell of a land without hollows loses. Cells of the border that no
/// neighbor is lower than are outlets.
pub fn lowering(ground: &[f64], width: usize, step: &Step) -> Vec<f64> {
    let receivers: Vec<Option<(usize, f64)>> = (0..ground.len())
        .map(|cell| receiver(ground, width, cell, step.cell_size))
        .collect();
    let downhill = |mut cell: usize, mut visit: Box<dyn FnMut(usize) + '_>| {
        visit(cell);
        while let Some((next, _)) = receivers[cell] {
            visit(next);
            cell = next;
        }
    };
    let mut drained = vec![0.0; ground.len()];
    for cell in 0..ground.len() {
        downhill(cell, Box::new(|on_the_way| drained[on_the_way] += 1.0));
    }
    let mut lost = vec![0.0f64; ground.len()];
    for _ in 0..10_000 {
        // What comes from all cells above.
        let mut passing = vec![0.0; ground.len()];
        for cell in 0..ground.len() {
            let own = lost[cell];
            downhill(cell, Box::new(|on_the_way| passing[on_the_way] += own));
        }
        let mut change = 0.0f64;
        for cell in 0..ground.len() {
            let Some((next, length)) = receivers[cell] else {
                continue;
            };
            let area = drained[cell] * step.cell_size * step.cell_size;
            let power = step.erodibility * area.powf(step.area_exponent) * step.years / length;
            let laying = step.deposition / drained[cell];
            // Everything at the end of the step.
            let fall = (ground[cell] - ground[next]).max(0.0);
            let inflow = passing[cell] - lost[cell];
            let new = (power * (fall + lost[next]) - laying * inflow) / (1.0 + power + laying);
            change = change.max((new - lost[cell]).abs());
            // Half a step at a time: all of it would swing.
            lost[cell] += 0.5 * (new - lost[cell]);
        }
        if change < 1e-12 {
            break;
        }
    }
    lost
}

/// The steepest lower neighbor and its distance. At the border the land goes on as it
/// does from the neighbor inside.
fn receiver(ground: &[f64], width: usize, cell: usize, size: f64) -> Option<(usize, f64)> {
    let height = ground.len() / width;
    let (x, y) = ((cell % width) as i64, (cell / width) as i64);
    let at = |x: i64, y: i64| {
        let inside = x >= 0 && y >= 0 && x < width as i64 && y < height as i64;
        inside.then(|| (y as usize) * width + x as usize)
    };
    let mut best: Option<(usize, f64, f64)> = None;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let Some(next) = at(x + dx, y + dy).filter(|next| *next != cell) else {
                continue;
            };
            let length = size * ((dx * dx + dy * dy) as f64).sqrt();
            let slope = (ground[cell] - ground[next]) / length;
            if slope > best.map_or(0.0, |best| best.2) {
                best = Some((next, length, slope));
            }
        }
    }
    let beyond = [(1, 0), (-1, 0), (0, 1), (0, -1)]
        .into_iter()
        .filter_map(|(dx, dy)| {
            let inner = at(x - dx, y - dy)?;
            at(x + dx, y + dy)
                .is_none()
                .then(|| (ground[inner] - ground[cell]) / size)
        });
    let steepest_out = beyond.fold(0.0, f64::max);
    let (next, length, slope) = best?;
    (slope >= steepest_out).then_some((next, length))
}
