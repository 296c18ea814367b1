//! Finds particles nearby: they are sorted by square cells, row by row, so the
//! nine cells around a place are three runs of the sorted list.

use bevy::math::DVec2;
use core::ops::Range;

/// Which particles lie in which cell, after a counting sort.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    min: DVec2,
    inverse: f64,
    size: f64,
    columns: usize,
    rows: usize,
    /// First particle of each cell, and one past the last.
    starts: Vec<u32>,
    keys: Vec<u32>,
}

impl Cells {
    /// Cells of this size over a rectangle. They grow where there would be too
    /// many of them, which changes the speed alone.
    pub fn new(bounds: (DVec2, DVec2), size: f64) -> Self {
        let extent = bounds.1 - bounds.0;
        let size = size.max((extent.x * extent.y / f64::from(1 << 22)).sqrt());
        let columns = (extent.x / size).ceil().max(1.0) as usize;
        let rows = (extent.y / size).ceil().max(1.0) as usize;
        Self {
            min: bounds.0,
            inverse: 1.0 / size,
            size,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            keys: Vec::new(),
        }
    }

    /// Cells of this size around all of these places, with the places and their
    /// numbers sorted by cell.
    pub fn of(places: &[DVec2], size: f64) -> (Self, Vec<(u32, DVec2)>) {
        let min = places.iter().copied().reduce(DVec2::min);
        let max = places.iter().copied().reduce(DVec2::max);
        let bounds = (min.unwrap_or_default(), max.unwrap_or_default());
        let mut cells = Self::new(bounds, size);
        let mut numbered: Vec<(u32, DVec2)> = (0..).zip(places.iter().copied()).collect();
        cells.sort(&mut numbered, &mut Vec::new(), |own| own.1);
        (cells, numbered)
    }

    #[inline]
    fn place(&self, at: DVec2) -> (usize, usize) {
        let cell = (at - self.min) * self.inverse;
        // `as` takes what lies outside to the border.
        let column = (cell.x as usize).min(self.columns - 1);
        (column, (cell.y as usize).min(self.rows - 1))
    }

    /// Sorts the particles by cell, those of one cell stay in their order.
    pub fn sort<T: Copy>(
        &mut self,
        particles: &mut Vec<T>,
        sorted: &mut Vec<T>,
        position: impl Fn(&T) -> DVec2,
    ) {
        self.starts.fill(0);
        self.keys.clear();
        for particle in particles.iter() {
            let (column, row) = self.place(position(particle));
            let key = row * self.columns + column;
            self.keys.push(key as u32);
            self.starts[key] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        sorted.clear();
        let Some(&any) = particles.first() else {
            return;
        };
        sorted.resize(particles.len(), any);
        // Backwards, so that each cell's start ends where it belongs.
        for (particle, &key) in particles.iter().zip(&self.keys).rev() {
            let start = &mut self.starts[key as usize];
            *start -= 1;
            sorted[*start as usize] = *particle;
        }
        core::mem::swap(particles, sorted);
    }

    #[inline]
    fn runs(&self, column: usize, row: usize) -> [Range<usize>; 3] {
        let first = column.saturating_sub(1);
        let last = (column + 1).min(self.columns - 1);
        core::array::from_fn(|i| {
            // A row beyond the border has none.
            match (row + i).checked_sub(1) {
                Some(row) if row < self.rows => {
                    let row = row * self.columns;
                    self.starts[row + first] as usize..self.starts[row + last + 1] as usize
                }
                _ => 0..0,
            }
        })
    }

    /// Runs of the sorted particles that hold all within a cell's size of here.
    #[inline]
    pub fn around(&self, at: DVec2) -> [Range<usize>; 3] {
        let (column, row) = self.place(at);
        self.runs(column, row)
    }

    /// Cells with particles in or next to them, as rectangles with the runs of
    /// those particles.
    pub fn busy(&self) -> Vec<Busy> {
        let mut busy = Vec::new();
        let first_of = |row: usize| self.starts[row.min(self.rows) * self.columns];
        for row in 0..self.rows {
            if first_of(row.saturating_sub(1)) == first_of(row + 2) {
                continue;
            }
            for column in 0..self.columns {
                let runs = self.runs(column, row);
                if runs.iter().any(|run| !run.is_empty()) {
                    let min = self.min + DVec2::new(column as f64, row as f64) * self.size;
                    let max =
                        self.min + DVec2::new((column + 1) as f64, (row + 1) as f64) * self.size;
                    busy.push(Busy { min, max, runs });
                }
            }
        }
        busy
    }
}

/// Finds the nearest of some places. Each cell knows the few that may be nearest
/// to a place in it.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    cells: Cells,
    /// Numbers and places by cell.
    members: Vec<(u32, DVec2)>,
}

impl Nearest {
    /// Of these places, for any within `reach` of them.
    pub fn new(places: &[DVec2], reach: f64) -> Self {
        let min = places.iter().copied().reduce(DVec2::min);
        let max = places.iter().copied().reduce(DVec2::max);
        let bounds = (
            min.unwrap_or_default() - reach,
            max.unwrap_or_default() + reach,
        );
        let mut cells = Cells::new(bounds, 0.5 * reach);
        // From the middle of a cell to its corners, and a bit for rounding.
        let corner = cells.size * core::f64::consts::FRAC_1_SQRT_2 * (1.0 + 1e-9);
        let (coarse, sorted) = Cells::of(places, reach + corner);
        let (mut members, mut near) = (Vec::new(), Vec::new());
        for key in 0..cells.columns * cells.rows {
            cells.starts[key] = members.len() as u32;
            let (column, row) = (key % cells.columns, key / cells.columns);
            let middle = DVec2::new(column as f64, row as f64) + 0.5;
            let middle = cells.min + middle * cells.size;
            near.clear();
            for run in coarse.around(middle) {
                let places = sorted[run].iter();
                near.extend(places.map(|own| (own.1.distance(middle), *own)));
            }
            let least = near.iter().map(|own| own.0).fold(reach - corner, f64::min);
            let within = least + 2.0 * corner;
            let may_be_nearest = near.iter().filter(|own| own.0 <= within);
            members.extend(may_be_nearest.map(|own| own.1));
        }
        if let Some(end) = cells.starts.last_mut() {
            *end = members.len() as u32;
        }
        Self { cells, members }
    }

    /// Number of the place nearest to here, if one is within `reach`; the first
    /// of two that are as near.
    #[inline]
    pub fn find(&self, at: DVec2, reach: f64) -> Option<usize> {
        let (column, row) = self.cells.place(at);
        let key = row * self.cells.columns + column;
        let (start, end) = (self.cells.starts[key], self.cells.starts[key + 1]);
        let (mut distance, mut nearest) = (reach * reach, u32::MAX);
        for &(number, place) in &self.members[start as usize..end as usize] {
            let square = place.distance_squared(at);
            // No branch: which one is nearest cannot be foreseen.
            let nearer = (square < distance) | ((square == distance) & (number < nearest));
            distance = if nearer { square } else { distance };
            nearest = if nearer { number } else { nearest };
        }
        (nearest != u32::MAX).then_some(nearest as usize)
    }
}

/// A cell that particles reach.
#[derive(Clone, Debug)]
pub(super) struct Busy {
    pub min: DVec2,
    pub max: DVec2,
    pub runs: [Range<usize>; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places all over a rectangle of 100 m × 60 m.
    fn scattered(count: usize) -> Vec<DVec2> {
        let mut state = 1u32;
        let mut unit = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1u32 << 24)
        };
        let place = |_| DVec2::new(unit() * 100.0 - 50.0, unit() * 60.0 - 30.0);
        (0..count).map(place).collect()
    }

    #[test]
    fn runs_hold_every_neighbor() {
        let bounds = (DVec2::new(-50.0, -30.0), DVec2::new(50.0, 30.0));
        let mut cells = Cells::new(bounds, 7.0);
        let mut particles = scattered(300);
        cells.sort(&mut particles, &mut Vec::new(), |p| *p);
        for a in &particles {
            let near = |b: &&DVec2| a.distance(**b) < 7.0;
            let all = particles.iter().filter(near).count();
            let found: usize = cells
                .around(*a)
                .map(|run| particles[run].iter().filter(near).count())
                .iter()
                .sum();
            assert_eq!(all, found);
        }
        cells.sort(&mut Vec::<DVec2>::new(), &mut Vec::new(), |p| *p);
        assert!(cells.busy().is_empty());
    }

    #[test]
    fn the_nearest_place_is_found_and_none_beyond_reach() {
        let mut all = scattered(2000);
        let places = all.split_off(1960);
        let nearest = Nearest::new(&places, 12.0);
        // Inside, outside, and at the places themselves.
        let asked = all.iter().map(|at| *at * 1.5).chain(places.iter().copied());
        let mut found = 0;
        for at in asked {
            let distances = places.iter().map(|place| place.distance_squared(at));
            let least = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            let least = least.filter(|own| own.1 <= 144.0).map(|own| own.0);
            found += usize::from(least.is_some());
            assert_eq!(nearest.find(at, 12.0), least, "{at}");
        }
        assert!(found > 500, "{found}");
        assert_eq!(Nearest::new(&[], 12.0).find(DVec2::ZERO, 12.0), None);
    }
}
