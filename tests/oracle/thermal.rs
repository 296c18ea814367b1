//! One pass of thermal weathering, pair by pair.

/// Constants of a pass, heights in metres.
#[derive(Clone, Copy)]
pub struct Pass {
    pub cell_size: f64,
    /// D·dt/l².
    pub share: f64,
    pub tan_soil: f64,
    pub tan_rock: f64,
    /// Kb·dt.
    pub breaking: f64,
    pub shelter: f64,
}

/// Advances bedrock and soil by one pass.
pub fn pass(bedrock: &mut [f64], soil: &mut [f64], (width, height): (i64, i64), pass: &Pass) {
    let ground: Vec<f64> = bedrock.iter().zip(&*soil).map(|(b, s)| b + s).collect();
    let old_soil = soil.to_vec();
    let neighbors = |x: i64, y: i64| {
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        around.filter_map(move |(dx, dy)| {
            let (nx, ny) = (x + dx, y + dy);
            let inside = nx >= 0 && ny >= 0 && nx < width && ny < height && (dx, dy) != (0, 0);
            let diagonal = dx != 0 && dy != 0;
            inside.then_some(((ny * width + nx) as usize, diagonal))
        })
    };
    let length = |diagonal: bool| {
        if diagonal {
            pass.cell_size * std::f64::consts::SQRT_2
        } else {
            pass.cell_size
        }
    };
    for y in 0..height {
        for x in 0..width {
            let here = (y * width + x) as usize;
            let wish = |other: usize, diagonal: bool| {
                let weight = if diagonal { 1.0 / 6.0 } else { 2.0 / 3.0 };
                let excess = ground[here] - ground[other] - pass.tan_soil * length(diagonal);
                weight * pass.share * excess.max(0.0)
            };
            let total: f64 = neighbors(x, y).map(|(n, d)| wish(n, d)).sum();
            if total > 0.0 {
                let allowed = (old_soil[here] / total).min(1.0);
                for (other, diagonal) in neighbors(x, y) {
                    let flow = allowed * wish(other, diagonal);
                    soil[here] -= flow;
                    soil[other] += flow;
                }
            }
            let steepest = neighbors(x, y)
                .map(|(n, d)| (ground[here] - ground[n]) / length(d))
                .fold(0.0, f64::max);
            let excess = (steepest - pass.tan_rock).max(0.0);
            let limited = (pass.breaking * excess).min(0.25 * excess * pass.cell_size);
            let broken = limited * pass.shelter / (pass.shelter + old_soil[here]);
            bedrock[here] -= broken;
            soil[here] += broken;
        }
    }
}
