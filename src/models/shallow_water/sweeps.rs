//! Tridiagonal systems, many at once: a lane each, so that the compiler makes
//! vectors of the lanes.
//!
//! A line has `n` cells and `n + 1` faces, the first and the last at its ends.
//! With conductance `c`, fall `D` of the old level over the face and `w` what a
//! cell gains from elsewhere, the flow `F` through face k from cell k − 1 to
//! cell k and the rise `δ` of the cells obey
//!
//! ```text
//! F_k = c_k·(D_k + δ_{k−1} − δ_k)        δ_k = w_k + F_k − F_{k+1}
//! ```
//!
//! and beyond the ends δ = 0. Eliminating cells from the left turns the left
//! part into `F_k = p_k − b_k·δ_k`, with
//!
//! ```text
//! a = 1 + b_k,  s = c/(a + c)    b_{k+1} = a·s,  p_{k+1} = s·(a·D + w_k + p_k)
//! F_k = (p_k − b_k·w_k)/a + (b_k/a)·F_{k+1}
//! ```
//!
//! and the same from the right, mirrored. Both meet in the middle cell. Unlike
//! the usual form for levels nothing is subtracted that nearly cancels, however
//! large `c` is, still water gives flows of exactly zero, and what one cell
//! loses the next one gains.

/// Lines that are solved at once.
pub(super) const LANES: usize = 16;

/// What is known of `L` lines.
pub(super) struct Known<'a, const L: usize> {
    /// c of each face.
    pub conductance: &'a [[f32; L]],
    /// D of each face. units: m
    pub fall: &'a [[f32; L]],
    /// w of each cell, and room for one more. units: m
    pub push: &'a [[f32; L]],
}

/// Memory for [`LANES`] lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// See [`Known`].
    pub conductance: Vec<[f32; LANES]>,
    pub fall: Vec<[f32; LANES]>,
    pub push: Vec<[f32; LANES]>,
    /// The result: F of each face. units: m
    pub flow: Vec<[f32; LANES]>,
    share: Vec<[f32; LANES]>,
}

impl Lines {
    /// Makes room for lines of `cells`.
    pub fn fit(&mut self, cells: usize) {
        let faces = cells + 1;
        if self.flow.len() != faces {
            self.conductance.resize(faces, [0.0; LANES]);
            self.fall.resize(faces, [0.0; LANES]);
            self.push.resize(faces, [0.0; LANES]);
            self.flow.resize(faces, [0.0; LANES]);
            self.share.resize(faces, [0.0; LANES]);
        }
    }

    /// Finds the flows.
    #[inline(always)]
    pub fn solve(&mut self) {
        let known = Known {
            conductance: &self.conductance,
            fall: &self.fall,
            push: &self.push,
        };
        solve(&known, &mut self.share, &mut self.flow);
    }
}

/// Finds the flow F of each face. `share` is scratch, for b/a of each face.
#[inline(always)]
pub(super) fn solve<const L: usize>(
    known: &Known<L>,
    share: &mut [[f32; L]],
    flow: &mut [[f32; L]],
) {
    let n = flow.len() - 1;
    let (conductance, fall) = (&known.conductance[..=n], &known.fall[..=n]);
    let push = &known.push[..n];
    let share = &mut share[..=n];
    let middle = n / 2;
    let mut left = Side::start(&conductance[0], &fall[0], 1.0);
    let mut right = Side::start(&conductance[n], &fall[n], -1.0);
    // Both sides at once: neither has to wait for its own last result.
    for i in 0..middle {
        let next = (&conductance[i + 1], &fall[i + 1]);
        left.pass(&push[i], next, &mut share[i], &mut flow[i]);
        let k = n - 1 - i;
        if k > middle {
            let next = (&conductance[k], &fall[k]);
            right.pass(&push[k], next, &mut share[k + 1], &mut flow[k + 1]);
        }
    }
    let push = &push[middle];
    for i in 0..L {
        let whole = 1.0 + (left.b[i] + right.b[i]);
        let rise = (push[i] + (left.p[i] + right.p[i])) / whole;
        flow[middle][i] = left.p[i] - left.b[i] * rise;
        flow[middle + 1][i] = -(right.p[i] - right.b[i] * rise);
    }
    let (mut before, mut behind) = (flow[middle], flow[middle + 1]);
    for i in 0..middle {
        let k = middle - 1 - i;
        for i in 0..L {
            before[i] = flow[k][i] + share[k][i] * before[i];
        }
        flow[k] = before;
        let k = middle + 2 + i;
        if k <= n {
            for i in 0..L {
                behind[i] = flow[k][i] + share[k][i] * behind[i];
            }
            flow[k] = behind;
        }
    }
}

/// What has been eliminated from one end.
struct Side<const L: usize> {
    b: [f32; L],
    p: [f32; L],
    /// −1 for the right side, which is the left one mirrored.
    sign: f32,
}

impl<const L: usize> Side<L> {
    /// The level beyond the end is given.
    #[inline(always)]
    fn start(conductance: &[f32; L], fall: &[f32; L], sign: f32) -> Self {
        let mut p = [0.0; L];
        for i in 0..L {
            p[i] = conductance[i] * (sign * fall[i]);
        }
        Self {
            b: *conductance,
            p,
            sign,
        }
    }

    /// Eliminates a cell and its next face; records how the flow through the face
    /// before depends on that of the next.
    #[inline(always)]
    fn pass(
        &mut self,
        push: &[f32; L],
        (conductance, fall): (&[f32; L], &[f32; L]),
        share: &mut [f32; L],
        flow: &mut [f32; L],
    ) {
        for i in 0..L {
            let (b, p, w) = (self.b[i], self.p[i], push[i]);
            let a = 1.0 + b;
            let part = 1.0 / a;
            share[i] = b * part;
            flow[i] = self.sign * ((p - b * w) * part);
            let s = conductance[i] / (a + conductance[i]);
            self.b[i] = a * s;
            self.p[i] = s * (a * (self.sign * fall[i]) + (w + p));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, solve};

    /// Gaussian elimination of the full system for the rises, in `f64`.
    fn rises(c: &[f64], fall: &[f64], push: &[f64]) -> Vec<f64> {
        let n = push.len();
        let mut matrix: Vec<Vec<f64>> = vec![vec![0.0; n + 1]; n];
        for k in 0..n {
            matrix[k][k] = 1.0 + c[k] + c[k + 1];
            if k > 0 {
                matrix[k][k - 1] = -c[k];
            }
            if k + 1 < n {
                matrix[k][k + 1] = -c[k + 1];
            }
            matrix[k][n] = push[k] + c[k] * fall[k] - c[k + 1] * fall[k + 1];
        }
        for k in 0..n {
            let pivot = matrix[k].clone();
            for row in matrix.iter_mut().skip(k + 1) {
                let factor = row[k] / pivot[k];
                for (value, above) in row.iter_mut().zip(&pivot) {
                    *value -= factor * above;
                }
            }
        }
        let mut rises = vec![0.0; n];
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|j| matrix[k][j] * rises[j]).sum();
            rises[k] = (matrix[k][n] - known) / matrix[k][k];
        }
        rises
    }

    #[test]
    fn lines_of_any_length_are_solved() {
        for n in 1..9usize {
            for scale in [0.01, 1.0, 1e4] {
                let number = |i: usize| ((i * 7919 + n * 104_729) % 1000) as f64 / 1000.0;
                let c: Vec<f64> = (0..=n).map(|k| scale * number(k)).collect();
                let fall: Vec<f64> = (0..=n).map(|k| number(k + 50) - 0.5).collect();
                let push: Vec<f64> = (0..n).map(|k| number(k + 90) - 0.5).collect();
                let twice = |values: &[f64]| -> Vec<[f32; 2]> {
                    (0..=n)
                        .map(|k| [values.get(k).map_or(0.0, |v| *v as f32); 2])
                        .collect()
                };
                let known = Known {
                    conductance: &twice(&c),
                    fall: &twice(&fall),
                    push: &twice(&push),
                };
                let (mut share, mut flow) = (twice(&[]), twice(&[]));
                solve(&known, &mut share, &mut flow);
                let expected = rises(&c, &fall, &push);
                for k in 0..n {
                    let flows = [flow[k][1], flow[k + 1][1]].map(f64::from);
                    let rise = push[k] + flows[0] - flows[1];
                    let off = (rise - expected[k]).abs();
                    // What crosses the ends is as large as c.
                    let bar = 2e-5 + 1e-7 * scale;
                    assert!(off < bar, "{n} cells, cell {k}, c {scale}: off by {off}");
                }
            }
        }
    }
}
