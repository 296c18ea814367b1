//! Tridiagonal systems, many at once: a lane each, so that the compiler makes
//! vectors of the lanes.
//!
//! A line has `n` cells and `n + 1` faces, the first and the last at its ends.
//! With `P` what the old state drives through a face, `A` and `C` by how much the
//! cells before and behind it change that as they rise, none of them below zero,
//! and `w` what a cell gains from elsewhere, the flow `F` through face k from cell
//! k − 1 to cell k and the rise `δ` of the cells obey
//!
//! ```text
//! F_k = P_k + A_k·δ_{k−1} − C_k·δ_k      δ_k = w_k + F_k − F_{k+1}
//! ```
//!
//! and beyond the ends δ = 0. Eliminating cells from the left turns the left
//! part into `F_k = p_k − b_k·δ_k`, from `b_0 = C_0` and `p_0 = P_0` on, with
//!
//! ```text
//! a = 1 + b_k    b_{k+1} = a·C/(a + A),  p_{k+1} = (a·P + A·(w_k + p_k))/(a + A)
//! F_k = (p_k − b_k·w_k)/a + (b_k/a)·F_{k+1}
//! ```
//!
//! where A, C and P are those of face k + 1; and the same from the right, mirrored:
//! A and C change places and P its sign. Both meet in the middle cell. Unlike the
//! usual form for levels nothing is subtracted that nearly cancels, however large
//! A and C are, still water gives flows of exactly zero, and what one cell loses
//! the next one gains.

/// Lines that are solved at once.
pub(super) const LANES: usize = 16;

/// What is known of `L` lines.
pub(super) struct Known<'a, const L: usize> {
    /// A of each face.
    pub before: &'a [[f32; L]],
    /// C of each face.
    pub behind: &'a [[f32; L]],
    /// P of each face. units: m
    pub drive: &'a [[f32; L]],
    /// w of each cell, and room for one more. units: m
    pub push: &'a [[f32; L]],
}

/// Memory for [`LANES`] lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// See [`Known`].
    pub before: Vec<[f32; LANES]>,
    pub behind: Vec<[f32; LANES]>,
    pub drive: Vec<[f32; LANES]>,
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
            self.before.resize(faces, [0.0; LANES]);
            self.behind.resize(faces, [0.0; LANES]);
            self.drive.resize(faces, [0.0; LANES]);
            self.push.resize(faces, [0.0; LANES]);
            self.flow.resize(faces, [0.0; LANES]);
            self.share.resize(faces, [0.0; LANES]);
        }
    }

    /// Finds the flows.
    #[inline(always)]
    pub fn solve(&mut self) {
        let known = Known {
            before: &self.before,
            behind: &self.behind,
            drive: &self.drive,
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
    let (before, behind) = (&known.before[..=n], &known.behind[..=n]);
    let drive = &known.drive[..=n];
    let push = &known.push[..n];
    let share = &mut share[..=n];
    let middle = n / 2;
    let mut left = Side::start(&behind[0], &drive[0], 1.0);
    let mut right = Side::start(&before[n], &drive[n], -1.0);
    // Both sides at once: neither has to wait for its own last result.
    for i in 0..middle {
        let next = (&before[i + 1], &behind[i + 1], &drive[i + 1]);
        left.pass(&push[i], next, &mut share[i], &mut flow[i]);
        let k = n - 1 - i;
        if k > middle {
            // What lies before a face lies behind it for this side.
            let next = (&behind[k], &before[k], &drive[k]);
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
    fn start(behind: &[f32; L], drive: &[f32; L], sign: f32) -> Self {
        let mut p = [0.0; L];
        for i in 0..L {
            p[i] = sign * drive[i];
        }
        Self {
            b: *behind,
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
        (before, behind, drive): (&[f32; L], &[f32; L], &[f32; L]),
        share: &mut [f32; L],
        flow: &mut [f32; L],
    ) {
        for i in 0..L {
            let (b, p, w) = (self.b[i], self.p[i], push[i]);
            let a = 1.0 + b;
            let part = 1.0 / a;
            share[i] = b * part;
            flow[i] = self.sign * ((p - b * w) * part);
            let whole = 1.0 / (a + before[i]);
            self.b[i] = (a * behind[i]) * whole;
            self.p[i] = (a * (self.sign * drive[i]) + before[i] * (w + p)) * whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, solve};

    /// Gaussian elimination of the full system for the rises, in `f64`.
    fn rises([before, behind, drive]: [&[f64]; 3], push: &[f64]) -> Vec<f64> {
        let n = push.len();
        let mut matrix: Vec<Vec<f64>> = vec![vec![0.0; n + 1]; n];
        for k in 0..n {
            matrix[k][k] = 1.0 + behind[k] + before[k + 1];
            if k > 0 {
                matrix[k][k - 1] = -before[k];
            }
            if k + 1 < n {
                matrix[k][k + 1] = -behind[k + 1];
            }
            matrix[k][n] = push[k] + drive[k] - drive[k + 1];
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
            // Without and with faces whose flow follows one cell alone.
            for (scale, most_carried) in [
                (0.01, 0.0),
                (1.0, 0.0),
                (1e4, 0.0),
                (0.01, 20.0),
                (1.0, 20.0),
                (1e4, 20.0),
                (0.0, 5.0),
            ] {
                let number = |i: usize| ((i * 7919 + n * 104_729) % 1000) as f64 / 1000.0;
                let signed = |i: usize| number(i) - 0.5;
                let c = |k: usize| scale * number(k);
                let carried = |k: usize| 2.0 * most_carried * signed(k + 20);
                let faces = |value: &dyn Fn(usize) -> f64| (0..=n).map(value).collect::<Vec<_>>();
                let before = faces(&|k| c(k) + carried(k).max(0.0));
                let behind = faces(&|k| c(k) + (-carried(k)).max(0.0));
                let drive = faces(&|k| c(k) * signed(k + 50) + carried(k) * signed(k + 70));
                let push: Vec<f64> = (0..n).map(|k| signed(k + 90)).collect();
                let twice = |values: &[f64]| -> Vec<[f32; 2]> {
                    (0..=n)
                        .map(|k| [values.get(k).map_or(0.0, |v| *v as f32); 2])
                        .collect()
                };
                let known = Known {
                    before: &twice(&before),
                    behind: &twice(&behind),
                    drive: &twice(&drive),
                    push: &twice(&push),
                };
                let (mut share, mut flow) = (twice(&[]), twice(&[]));
                solve(&known, &mut share, &mut flow);
                let expected = rises([&before, &behind, &drive], &push);
                for k in 0..n {
                    let flows = [flow[k][1], flow[k + 1][1]].map(f64::from);
                    let rise = push[k] + flows[0] - flows[1];
                    let off = (rise - expected[k]).abs();
                    // What crosses the ends is as large as A and C.
                    let bar = 2e-5 + 1e-7 * scale;
                    assert!(
                        off < bar,
                        "{n} cells, cell {k}, c {scale}, up to {most_carried} carried: off by {off}"
                    );
                }
            }
        }
    }
}
