//! The erosion brush: spreads an amount of sediment over a disc of cells, in whole
//! units.

/// Lanes a row of weights is padded to, so that rows are added vector-wise.
const LANES: usize = 4;

/// Steps in which weights are summed up; a power of two.
pub(crate) const WEIGHT_STEPS: f32 = 8_388_608.0;

/// 1.5 · 2²³: added to a number, it puts the whole part into the lowest bits.
pub(crate) const SHIFT: f32 = 12_582_912.0;

/// The weights of a drop's erosion brush: a cone, in sum one. Not to be confused with the
/// brush of an edit, [`Brush`](crate::forcing::edits::Brush).
#[derive(Clone, Debug)]
pub(crate) struct ErosionBrush {
    /// Cells from the center to the outermost row or column.
    pub reach: usize,
    /// Padded length of a row of weights.
    pub pitch: usize,
    pub weights: Vec<f32>,
}

impl ErosionBrush {
    /// The largest reach: beyond it a brush could touch more than four tiles.
    pub const MAX_REACH: usize = 31;

    /// A brush of a radius in cells. One that is smaller than a cell still
    /// covers the neighbors a little: a change of single cells makes spikes.
    pub fn new(radius: f32) -> Self {
        let radius = radius.clamp(1.5, Self::MAX_REACH as f32 + 1.0);
        let reach = (radius.ceil() as usize - 1).max(1);
        let side = 2 * reach + 1;
        let pitch = side.next_multiple_of(LANES);
        let mut weights = vec![0.0f32; pitch * side];
        for y in 0..side {
            for x in 0..side {
                let (dx, dy) = (x as f32 - reach as f32, y as f32 - reach as f32);
                weights[y * pitch + x] = (1.0 - (dx * dx + dy * dy).sqrt() / radius).max(0.0);
            }
        }
        let sum: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        Self {
            reach,
            pitch,
            weights,
        }
    }

    #[inline]
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Weight of the center: the largest share that one cell gets.
    #[inline]
    pub fn peak(&self) -> f32 {
        self.weights[self.reach * self.pitch + self.reach]
    }

    /// Adds `amount` units around cell (x, y) of a `width` × `height` plane, but
    /// only where `ground` lies above `floor`, and returns the sum really added:
    /// every share is cut off to whole units.
    #[inline(always)]
    pub fn stamp(
        &self,
        plane: &mut [i32],
        ground: &[f32],
        (width, height): (usize, usize),
        (x, y): (usize, usize),
        amount: f32,
        floor: f32,
    ) -> i32 {
        let reach = self.reach;
        let inner = x >= reach && y >= reach && x + reach < width && y + reach < height;
        // Padded rows reach beyond the disc: the very last ones over the end.
        if !inner || (y + reach) * width + x + self.pitch > plane.len() {
            return self.stamp_clipped(plane, ground, (width, height), (x, y), amount, floor);
        }
        let mut first = (y - reach) * width + x - reach;
        let (size, sign) = (amount.abs(), if amount < 0.0 { -1i32 } else { 1 });
        let mut added = [0i32; LANES];
        let (weights, _) = self.weights.as_chunks::<LANES>();
        for row in weights.chunks_exact(self.pitch / LANES) {
            let (cells, _) = plane[first..first + self.pitch].as_chunks_mut::<LANES>();
            let (ground, _) = ground[first..first + self.pitch].as_chunks::<LANES>();
            for ((cells, ground), weights) in cells.iter_mut().zip(ground).zip(row) {
                // All ones where the ground may change: no branch, so that the
                // compiler makes vectors of this.
                let open = ground.map(|height| -i32::from(height > floor));
                let shares = weights.map(|weight| whole_units(size * weight));
                for lane in 0..LANES {
                    let share = (shares[lane] & open[lane]).wrapping_mul(sign);
                    // No sum overflows, see `LIFETIME_LOADS`; `wrapping` only
                    // keeps checks out of the loop.
                    cells[lane] = cells[lane].wrapping_add(share);
                    added[lane] = added[lane].wrapping_add(share);
                }
            }
            first += width;
        }
        added.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
    }

    /// The same at the border, with the weights inside scaled up to sum to one.
    #[inline(never)]
    fn stamp_clipped(
        &self,
        plane: &mut [i32],
        ground: &[f32],
        size: (usize, usize),
        at: (usize, usize),
        amount: f32,
        floor: f32,
    ) -> i32 {
        let open = |cell: usize, _: f32| f32::from(u8::from(ground[cell] > floor));
        self.stamp_each(plane, size, at, amount, open)
    }

    /// Cell by cell, each taking the part (0 to 1) of its share that `part` says
    /// for the cell and the share's size in units.
    #[inline]
    pub fn stamp_each(
        &self,
        plane: &mut [i32],
        (width, height): (usize, usize),
        (x, y): (usize, usize),
        amount: f32,
        part: impl Fn(usize, f32) -> f32,
    ) -> i32 {
        let reach = self.reach;
        let inside = |at: usize, offset: usize, size: usize| {
            (at + offset).checked_sub(reach).filter(|&c| c < size)
        };
        let side = 2 * reach + 1;
        let cells = (0..side).flat_map(|dy| (0..side).map(move |dx| (dx, dy)));
        let cells = cells.filter_map(|(dx, dy)| {
            let cell = inside(y, dy, height)? * width + inside(x, dx, width)?;
            Some((cell, self.weights[dy * self.pitch + dx]))
        });
        // Whole numbers sum up alike in any order.
        let steps = cells.clone().map(|(_, w)| (w * WEIGHT_STEPS) as i32);
        let sum = steps.sum::<i32>() as f32 * (1.0 / WEIGHT_STEPS);
        let mut added = 0;
        for (cell, weight) in cells {
            let share = amount * (weight / sum);
            let share = (share * part(cell, share.abs())) as i32;
            plane[cell] += share;
            added += share;
        }
        added
    }
}

/// `value` cut off to whole units, for 0 ≤ `value` < 2²¹: adding 1.5 · 2²³ puts
/// the whole part into the lowest bits. A plain cast would not vectorize.
#[inline(always)]
fn whole_units(value: f32) -> i32 {
    let bits = ((value - 0.5) + SHIFT).to_bits() as i32;
    bits.wrapping_sub(SHIFT.to_bits() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_adds_what_it_says_everywhere() {
        for radius in [0.1, 1.5, 2.0, 3.7, 9.0] {
            let brush = ErosionBrush::new(radius);
            let size = (13, 7);
            let ground = vec![1.0; size.0 * size.1];
            for y in 0..size.1 {
                for x in 0..size.0 {
                    let mut plane = vec![0i32; size.0 * size.1];
                    let added = brush.stamp(&mut plane, &ground, size, (x, y), -10_000.0, 0.0);
                    assert_eq!(plane.iter().sum::<i32>(), added);
                    assert!(
                        (-10_000..=-9_600).contains(&added),
                        "{radius} {x} {y} {added}"
                    );
                }
            }
        }
    }

    #[test]
    fn ground_below_the_floor_is_left_alone() {
        let brush = ErosionBrush::new(3.0);
        let size = (16, 16);
        let ground: Vec<f32> = (0..256).map(|i| (i % 16) as f32).collect();
        let mut plane = vec![0i32; 256];
        let added = brush.stamp(&mut plane, &ground, size, (8, 8), -10_000.0, 7.5);
        assert_eq!(plane.iter().sum::<i32>(), added);
        assert!(added < -4_000);
        for (cell, units) in plane.iter().enumerate() {
            assert!(*units == 0 || ground[cell] > 7.5);
        }
    }
}
