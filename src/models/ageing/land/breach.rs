//! Hollows cut open at the start, and filled at the end of a land without outlets.

use crate::drainage::routing::{OUTLET, Reach, Routing};

/// Cells around a closed land's lowest pit over which sediment is laid, to each side.
const AROUND: usize = 32;

/// Cuts every hollow open along the way its water takes: walks down from each cell under
/// water and lowers what stands above, by `fall` metres a cell. `cuts` gets the depth taken
/// from each cell; gives back their sum, in metres · cells.
pub(super) fn cut(routing: &Routing, ground: &mut [f64], cuts: &mut [[f64; 2]], fall: f64) -> f64 {
    let reach = Reach::new(routing.size().0);
    let (toward, covers) = (routing.directions(), routing.covers());
    cuts.fill([0.0; 2]);
    let mut sum = 0.0;
    for start in 0..ground.len() {
        if covers[start] < 5 {
            continue;
        }
        let (mut at, mut level) = (start, ground[start]);
        while toward[at] < OUTLET {
            at = reach.step(at, toward[at]);
            level -= fall;
            // What lies under a sea needs no way out.
            if ground[at] <= level || (1..5).contains(&covers[at]) {
                break;
            }
            sum += ground[at] - level;
            cuts[at][0] += ground[at] - level;
            ground[at] = level;
        }
    }
    sum
}

/// Lays a volume (in metres · cells) around the lowest pit, level.
pub(super) fn pour(routing: &Routing, ground: &mut [f64], soil: &mut [f32], volume: f64) {
    let (width, height) = routing.size();
    let toward = routing.directions();
    let Some(pit) = toward.iter().position(|&toward| toward >= OUTLET) else {
        return;
    };
    let (x, y) = (pit % width, pit / width);
    let rows = y.saturating_sub(AROUND)..(y + AROUND + 1).min(height);
    let columns = x.saturating_sub(AROUND)..(x + AROUND + 1).min(width);
    let mut cells: Vec<usize> = rows
        .flat_map(|y| columns.clone().map(move |x| y * width + x))
        .collect();
    cells.sort_by(|a, b| ground[*a].total_cmp(&ground[*b]));
    // How many of the lowest cells the volume covers, and up to which level.
    let (mut sum, mut level) = (0.0, 0.0);
    for (count, &cell) in cells.iter().enumerate() {
        if count > 0 && (volume + sum) / count as f64 <= ground[cell] {
            break;
        }
        sum += ground[cell];
        level = (volume + sum) / (count + 1) as f64;
    }
    for cell in cells {
        let rise = level - ground[cell];
        if rise > 0.0 {
            ground[cell] = level;
            soil[cell] += rise as f32;
        }
    }
}
