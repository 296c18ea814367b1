//! Creep: linear diffusion by super-time-stepping (Runge–Kutta–Legendre of first order,
//! Meyer, Balsara and Aslam, 2014), eight neighbors weighted 2/3 and 1/6: isotropic, in flux
//! form, stable for any step. Creep that grows with slope would need implicit coefficients:
//! lagged ones ripple.

use crate::drainage::routing::OUTLET;

/// Weight of the four near neighbors.
const NEAR: f64 = 2.0 / 3.0;
/// Weight of the four diagonal ones.
const FAR: f64 = 1.0 / 6.0;

/// Stages that a step needs; `reach` is D·dt/dx².
pub(super) fn stages(reach: f64) -> usize {
    // The largest rate at which a wave decays: that of rows that alternate.
    let stiff = reach * (4.0 * NEAR + 4.0 * FAR);
    let stages = (((1.0 + 8.0 * stiff).sqrt() - 1.0) * 0.5).ceil();
    // Odd numbers damp the shortest waves.
    (stages as usize | 1).clamp(1, 199)
}

/// How a stage mixes the two stages before it and its own fluxes.
pub(super) fn mix(stage: usize, stages: usize, reach: f64) -> [f64; 3] {
    let (j, s) = (stage as f64, stages as f64);
    let share = 2.0 / (s * s + s) * reach;
    match stage {
        1 => [1.0, 0.0, share],
        _ => [
            (2.0 * j - 1.0) / j,
            (1.0 - j) / j,
            (2.0 * j - 1.0) / j * share,
        ],
    }
}

/// One stage for whole rows from `first` on. `out` holds the stage before the last and
/// gets the new one; `last` is the whole plane of the last stage. Outlets stay.
pub(super) fn stage_rows(
    out: &mut [f64],
    first: usize,
    last: &[f64],
    toward: &[u8],
    width: usize,
    [mu, nu, share]: [f64; 3],
) {
    let height = last.len() / width;
    for (row, out) in out.chunks_mut(width).enumerate() {
        let y = first + row;
        // Beyond the edge lies the same row again: no difference, no flux.
        let (north, south) = (y.saturating_sub(1), (y + 1).min(height - 1));
        let inner = y > 0 && y + 1 < height && width > 2;
        if inner {
            let count = width - 2;
            let z = |y: usize, x: usize| &last[y * width + x..][..count];
            let (c, w, e) = (z(y, 1), z(y, 0), z(y, 2));
            let (u, uw, ue) = (z(north, 1), z(north, 0), z(north, 2));
            let (d, dw, de) = (z(south, 1), z(south, 0), z(south, 2));
            let out = &mut out[1..][..count];
            for x in 0..count {
                let z = c[x];
                let near = (w[x] + e[x]) + (u[x] + d[x]) - 4.0 * z;
                let far = (uw[x] + ue[x]) + (dw[x] + de[x]) - 4.0 * z;
                out[x] = mu * z + nu * out[x] + share * (NEAR * near + FAR * far);
            }
        }
        for x in (0..width).step_by(if inner { width - 1 } else { 1 }) {
            let (here, mut sum) = (y * width + x, 0.0);
            for (ny, dy) in [(north, y > 0), (y, true), (south, y + 1 < height)] {
                for nx in x.saturating_sub(1)..=(x + 1).min(width - 1) {
                    let next = ny * width + nx;
                    let weight = if nx == x || ny == y { NEAR } else { FAR };
                    if dy && next != here {
                        sum += weight * (last[next] - last[here]);
                    }
                }
            }
            out[x] = mu * last[here] + nu * out[x] + share * sum;
        }
        // Outlets are the land's base. A closed land's sink is one that lies inside.
        let toward = &toward[y * width..][..width];
        if toward
            .iter()
            .fold(false, |any, &toward| any | (toward >= OUTLET))
        {
            for x in 0..width {
                if toward[x] >= OUTLET {
                    out[x] = last[y * width + x];
                }
            }
        }
    }
}
