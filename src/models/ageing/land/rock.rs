//! Rock that is not the same everywhere: gradient noise (Perlin, 2002) in metres, so that
//! any cell size sees the same rock.

use super::law::RockNoise;
use super::powers::exp;
use crate::drainage::routing::scramble;
use crate::parallel::Workers;
use core::f32::consts::FRAC_1_SQRT_2;

/// Octaves of the noise.
const OCTAVES: u32 = 5;
/// Each octave's height over that of the one before.
const FADING: f32 = 0.75;
/// Makes the sum of octaves spread by 1.
const NORM: f32 = 3.17;

/// Fills `plane` with factors on erodibility; empties it when there is no noise.
pub(super) fn fill(
    plane: &mut Vec<f32>,
    workers: Workers,
    noise: RockNoise,
    (width, height): (usize, usize),
    cell: f64,
) {
    plane.clear();
    if !(noise.spread > 0.0 && noise.size > 0.0) || width == 0 {
        return;
    }
    plane.resize(width * height, 1.0);
    let spread = noise.spread as f32 * NORM;
    workers.each(plane.chunks_mut(width * 16).enumerate(), |(part, rows)| {
        for (row, out) in rows.chunks_mut(width).enumerate() {
            let y = ((part * 16 + row) as f64 + 0.5) * cell;
            for (x, out) in out.iter_mut().enumerate() {
                let x = (x as f64 + 0.5) * cell;
                let (mut sum, mut size, mut share) = (0.0, noise.size, 1.0f32);
                for octave in 0..OCTAVES {
                    // Shorter waves than two cells would be noise without shape.
                    if size >= 2.0 * cell {
                        sum += share * gradient(x / size, y / size, noise.seed ^ (octave << 20));
                    }
                    size *= 0.5;
                    share *= FADING;
                }
                *out = exp(spread * sum.clamp(-1.6, 1.6));
            }
        }
    });
}

/// Gradient noise of about ±0.7.
fn gradient(x: f64, y: f64, seed: u32) -> f32 {
    /// Directions of gradients, in fixed numbers: the same on every machine.
    const WAYS: [(f32, f32); 16] = [
        (1.0, 0.0),
        (0.923_88, 0.382_68),
        (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        (0.382_68, 0.923_88),
        (0.0, 1.0),
        (-0.382_68, 0.923_88),
        (-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        (-0.923_88, 0.382_68),
        (-1.0, 0.0),
        (-0.923_88, -0.382_68),
        (-FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
        (-0.382_68, -0.923_88),
        (0.0, -1.0),
        (0.382_68, -0.923_88),
        (FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
        (0.923_88, -0.382_68),
    ];
    let (floor_x, floor_y) = (x.floor(), y.floor());
    let (tx, ty) = ((x - floor_x) as f32, (y - floor_y) as f32);
    let (ix, iy) = (floor_x as i64 as u32, floor_y as i64 as u32);
    let corner = |dx: u32, dy: u32| {
        let row = scramble(iy.wrapping_add(dy) ^ scramble(seed));
        let hash = scramble(ix.wrapping_add(dx).wrapping_mul(0x85eb_ca6b) ^ row);
        let (gx, gy) = WAYS[(hash >> 28) as usize];
        gx * (tx - dx as f32) + gy * (ty - dy as f32)
    };
    let fade = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let (u, v) = (fade(tx), fade(ty));
    let north = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * u;
    let south = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * u;
    north + (south - north) * v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_as_set_and_is_the_same_for_any_cell() {
        let noise = RockNoise {
            spread: 0.3,
            size: 500.0,
            seed: 4,
        };
        let (mut fine, mut coarse) = (Vec::new(), Vec::new());
        fill(&mut fine, Workers::global(), noise, (900, 900), 10.0);
        fill(&mut coarse, Workers::serial(), noise, (300, 300), 30.0);
        let logs: Vec<f64> = fine.iter().map(|&k| f64::from(k).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let spread = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!(mean.abs() < 0.03, "{mean}");
        assert!((spread.sqrt() / 0.3 - 1.0).abs() < 0.1, "{}", spread.sqrt());
        // The middle cell of three by three has the same middle; the coarse land lacks
        // the shortest waves.
        let difference = (0..300 * 300).map(|at| {
            let (x, y) = (at % 300, at / 300);
            (fine[(y * 3 + 1) * 900 + x * 3 + 1] / coarse[at])
                .ln()
                .abs()
        });
        assert!(difference.sum::<f32>() / 90_000.0 < 0.1);
    }
}
