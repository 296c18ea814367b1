//! A sheet of triangles seen from above: points, triangles and what lies across
//! their edges. The plan is cut into triangles without gaps or overlaps, all
//! counter-clockwise; heights stand on its points.

use bevy::math::DVec2;

/// No point, no triangle.
pub(super) const NONE: u32 = u32::MAX;

/// A point of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub at: DVec2,
    pub height: f64,
    /// Thickness of what was laid down lately, part of the height. units: m
    pub soft: f64,
    /// Level of the floodplain here. units: m
    pub plain: f64,
    /// How many times slower it is cut than soil.
    pub hardness: f64,
    /// One of its triangles; none if the point is free.
    pub triangle: u32,
    /// On the border of the sheet. Such points keep their place.
    pub border: bool,
}

/// A triangle of the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Triangle {
    /// Its points, counter-clockwise; none if the triangle is free.
    pub corners: [u32; 3],
    /// The triangle across the edge opposite to each corner; none at the border.
    pub across: [u32; 3],
}

const FREE: Triangle = Triangle {
    corners: [NONE; 3],
    across: [NONE; 3],
};

impl Triangle {
    #[inline]
    pub fn is_free(&self) -> bool {
        self.corners[0] == NONE
    }

    /// Which of its corners a point is.
    #[inline]
    pub fn corner(&self, point: u32) -> usize {
        usize::from(self.corners[1] == point) + 2 * usize::from(self.corners[2] == point)
    }

    /// Which of its edges another triangle lies across.
    #[inline]
    fn edge_to(&self, other: u32) -> usize {
        usize::from(self.across[1] == other) + 2 * usize::from(self.across[2] == other)
    }
}

/// Points and triangles; free ones are used again, the latest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sheet {
    pub points: Vec<Point>,
    pub triangles: Vec<Triangle>,
    free_points: Vec<u32>,
    free_triangles: Vec<u32>,
    /// Triangles that became others since somebody asked; some more than once,
    /// some free by now.
    touched: Vec<u32>,
}

/// Twice the signed area.
#[inline(always)]
pub(super) fn doubled(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// 1 for an equilateral triangle, 0 for a flat one, below 0 if turned over.
#[inline]
pub(super) fn quality(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    // 2·√3, for the doubled area.
    3.464_101_615_137_754_6 * doubled(a, b, c) / squares
}

/// Sorts by keys, of which `counts` tells how many there are of each; those
/// without a key are left out. Returns the numbers in their new order, and the
/// new place of each. `counts` becomes the first place of each key.
fn counting_sort(counts: &mut [u32], keys: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut sum = 0;
    for count in counts.iter_mut() {
        sum += *count;
        *count = sum;
    }
    let (mut order, mut places) = (vec![NONE; sum as usize], vec![NONE; keys.len()]);
    // Backwards, so that each key's count ends as its first place.
    for (i, &key) in keys.iter().enumerate().rev().filter(|own| *own.1 != NONE) {
        let place = &mut counts[key as usize];
        *place -= 1;
        order[*place as usize] = i as u32;
        places[i] = *place;
    }
    (order, places)
}

impl Sheet {
    /// A rectangle of squares of two triangles each, flat at height zero.
    pub fn rectangle(min: DVec2, max: DVec2, columns: usize, rows: usize) -> Self {
        let mut sheet = Self {
            points: Vec::with_capacity((columns + 1) * (rows + 1)),
            triangles: Vec::with_capacity(2 * columns * rows),
            free_points: Vec::new(),
            free_triangles: Vec::new(),
            touched: Vec::new(),
        };
        let share = |i: usize, count: usize| i as f64 / count as f64;
        for row in 0..=rows {
            for column in 0..=columns {
                let part = DVec2::new(share(column, columns), share(row, rows));
                sheet.points.push(Point {
                    at: min + (max - min) * part,
                    height: 0.0,
                    soft: 0.0,
                    plain: 0.0,
                    hardness: 1.0,
                    triangle: NONE,
                    border: row == 0 || column == 0 || row == rows || column == columns,
                });
            }
        }
        let square = |column: usize, row: usize| 2 * (row * columns + column) as u32;
        for row in 0..rows {
            for column in 0..columns {
                let low = (row * (columns + 1) + column) as u32;
                let high = low + columns as u32 + 1;
                let own = square(column, row);
                let below = (row > 0).then(|| square(column, row - 1));
                let above = (row + 1 < rows).then(|| square(column, row + 1));
                let before = (column > 0).then(|| square(column - 1, row));
                let after = (column + 1 < columns).then(|| square(column + 1, row));
                // The diagonals alternate, so that no direction is preferred:
                // up-going ones where column + row is even.
                let upward = |c: usize, r: usize| (c + r).is_multiple_of(2);
                let or_none = |n: Option<u32>, second: bool| {
                    n.map_or(NONE, |square| square + u32::from(second))
                };
                // Each square's first triangle holds its lower edge, its
                // second one the upper edge. The other two edges follow the
                // diagonal, which is the other way in all squares beside.
                let (first, second) = if upward(column, row) {
                    (
                        // low, low+1, high+1: right edge in the first.
                        Triangle {
                            corners: [low, low + 1, high + 1],
                            across: [or_none(after, false), own + 1, or_none(below, true)],
                        },
                        Triangle {
                            corners: [low, high + 1, high],
                            across: [or_none(above, false), or_none(before, true), own],
                        },
                    )
                } else {
                    (
                        // low, low+1, high: left edge in the first.
                        Triangle {
                            corners: [low, low + 1, high],
                            across: [own + 1, or_none(before, false), or_none(below, true)],
                        },
                        Triangle {
                            corners: [low + 1, high + 1, high],
                            across: [or_none(above, false), own, or_none(after, true)],
                        },
                    )
                };
                sheet.triangles.extend([first, second]);
                for (triangle, own) in [(first, own), (second, own + 1)] {
                    for corner in triangle.corners {
                        sheet.points[corner as usize].triangle = own;
                    }
                }
            }
        }
        sheet
    }

    pub fn point_count(&self) -> usize {
        self.points.len() - self.free_points.len()
    }

    pub fn triangle_count(&self) -> usize {
        self.triangles.len() - self.free_triangles.len()
    }

    /// Numbers of all triangles in use.
    #[inline]
    pub fn live_triangles(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.triangles.len() as u32).filter(|&t| !self.triangles[t as usize].is_free())
    }

    #[inline(always)]
    pub fn at(&self, point: u32) -> DVec2 {
        self.points[point as usize].at
    }

    #[inline(always)]
    pub fn height(&self, point: u32) -> f64 {
        self.points[point as usize].height
    }

    /// Places of a triangle's corners.
    #[inline(always)]
    pub fn places(&self, triangle: u32) -> [DVec2; 3] {
        self.triangles[triangle as usize]
            .corners
            .map(|corner| self.at(corner))
    }

    /// The triangles around a point, counter-clockwise, each with the point's
    /// corner in it.
    #[inline]
    pub fn around(&self, point: u32) -> Around<'_> {
        let mut first = self.points[point as usize].triangle;
        if self.points[point as usize].border {
            // From the border on, so that one round meets all.
            loop {
                let triangle = &self.triangles[first as usize];
                match triangle.across[(triangle.corner(point) + 2) % 3] {
                    NONE => break,
                    before => first = before,
                }
            }
        }
        Around {
            sheet: self,
            point,
            first,
            next: first,
        }
    }

    /// The point's neighbors, each once; the order is counter-clockwise.
    #[inline]
    pub fn neighbors(&self, point: u32, out: &mut Vec<u32>) {
        out.clear();
        for (t, i) in self.around(point) {
            let triangle = &self.triangles[t as usize];
            out.push(triangle.corners[(i + 1) % 3]);
            if triangle.across[(i + 1) % 3] == NONE {
                out.push(triangle.corners[(i + 2) % 3]);
            }
        }
    }

    /// Plan area that a point stands for: a third of its triangles. units: m²
    #[inline]
    pub fn area(&self, point: u32) -> f64 {
        let at = self.at(point);
        let doubled: f64 = self
            .around(point)
            .map(|(t, i)| {
                let corners = &self.triangles[t as usize].corners;
                let (b, c) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
                doubled(at, self.at(b), self.at(c))
            })
            .sum();
        doubled / 6.0
    }

    /// Volume under a triangle. units: m³
    #[inline]
    pub fn volume(&self, triangle: u32) -> f64 {
        let [a, b, c] = self.places(triangle);
        let corners = self.triangles[triangle as usize].corners;
        let heights: f64 = corners.map(|corner| self.height(corner)).iter().sum();
        doubled(a, b, c) / 6.0 * heights
    }

    fn new_point(&mut self, point: Point) -> u32 {
        match self.free_points.pop() {
            Some(free) => {
                self.points[free as usize] = point;
                free
            }
            None => {
                self.points.push(point);
                self.points.len() as u32 - 1
            }
        }
    }

    fn new_triangle(&mut self) -> u32 {
        self.free_triangles.pop().unwrap_or_else(|| {
            self.triangles.push(FREE);
            self.triangles.len() as u32 - 1
        })
    }

    fn set(&mut self, triangle: u32, corners: [u32; 3], across: [u32; 3]) {
        self.triangles[triangle as usize] = Triangle { corners, across };
        self.touched.push(triangle);
        for corner in corners {
            self.points[corner as usize].triangle = triangle;
        }
    }

    /// Tells `triangle` that what lay across towards `old` is `new` now.
    fn relink(&mut self, triangle: u32, old: u32, new: u32) {
        if triangle != NONE {
            let own = &mut self.triangles[triangle as usize];
            let edge = own.edge_to(old);
            own.across[edge] = new;
        }
    }

    /// Triangles in use that became others since the last call, in order.
    pub fn take_touched(&mut self) -> Vec<u32> {
        let mut touched = core::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&t| !self.triangles[t as usize].is_free());
        touched
    }

    /// Gives points and triangles new numbers, without gaps: the points by their
    /// bucket, those of one bucket in their order, and each triangle next to
    /// its first point. So what lies near lies near in memory too. Returns the
    /// first point of each bucket, and one past the last.
    pub fn renumber(&mut self, buckets: usize, bucket_of: impl Fn(DVec2) -> usize) -> Vec<u32> {
        let mut starts = vec![0u32; buckets + 1];
        let mut keys = vec![NONE; self.points.len()];
        for (key, own) in keys.iter_mut().zip(&self.points) {
            if own.triangle != NONE {
                *key = bucket_of(own.at) as u32;
                starts[*key as usize] += 1;
            }
        }
        let (order, numbers) = counting_sort(&mut starts, &keys);
        self.points = order.iter().map(|&p| self.points[p as usize]).collect();

        let mut firsts = vec![0u32; self.points.len() + 1];
        let mut keys = vec![NONE; self.triangles.len()];
        for (key, own) in keys.iter_mut().zip(&mut self.triangles) {
            if !own.is_free() {
                own.corners = own.corners.map(|corner| numbers[corner as usize]);
                *key = own.corners.into_iter().fold(NONE, u32::min);
                firsts[*key as usize] += 1;
            }
        }
        let (order, mut numbers) = counting_sort(&mut firsts, &keys);
        // The last number stands for none.
        numbers.push(NONE);
        let last = numbers.len() - 1;
        let renumbered = |t: u32| numbers[(t as usize).min(last)];
        let triangles = order.iter().map(|&t| {
            let own = self.triangles[t as usize];
            Triangle {
                across: own.across.map(renumbered),
                ..own
            }
        });
        self.triangles = triangles.collect();
        for own in &mut self.points {
            own.triangle = renumbered(own.triangle);
        }
        self.free_points.clear();
        self.free_triangles.clear();
        self.touched.clear();
        starts
    }

    /// Splits the edge opposite to a corner in its middle and returns the new
    /// point. The surface stays as it is.
    pub fn split(&mut self, triangle: u32, corner: usize) -> u32 {
        let Triangle { corners, across } = self.triangles[triangle as usize];
        let [a, b, c] = [0, 1, 2].map(|i| corners[(corner + i) % 3]);
        let [beyond, beside_c, beside_b] = [0, 1, 2].map(|i| across[(corner + i) % 3]);
        let (one, two) = (self.points[b as usize], self.points[c as usize]);
        let m = self.new_point(Point {
            at: (one.at + two.at) * 0.5,
            height: (one.height + two.height) * 0.5,
            soft: (one.soft + two.soft) * 0.5,
            plain: (one.plain + two.plain) * 0.5,
            hardness: (one.hardness + two.hardness) * 0.5,
            triangle,
            border: beyond == NONE,
        });
        let second = self.new_triangle();
        self.relink(beside_c, triangle, second);
        let (near_b, near_c) = if beyond == NONE {
            (NONE, NONE)
        } else {
            let far = self.triangles[beyond as usize];
            let j = far.edge_to(triangle);
            let [d, beside_fb, beside_fc] = [
                far.corners[j],
                far.across[(j + 1) % 3],
                far.across[(j + 2) % 3],
            ];
            let fourth = self.new_triangle();
            self.relink(beside_fb, beyond, fourth);
            self.set(beyond, [d, c, m], [second, fourth, beside_fc]);
            self.set(fourth, [d, m, b], [triangle, beside_fb, beyond]);
            (fourth, beyond)
        };
        self.set(triangle, [a, b, m], [near_b, second, beside_b]);
        self.set(second, [a, m, c], [near_c, beside_c, triangle]);
        m
    }

    /// The four points of two triangles: the corner, the edge opposite to it,
    /// and the corner beyond that edge. Nothing at the border.
    #[inline]
    pub fn quad(&self, triangle: u32, corner: usize) -> Option<[u32; 4]> {
        let own = &self.triangles[triangle as usize];
        let beyond = own.across[corner];
        (beyond != NONE).then(|| {
            let far = &self.triangles[beyond as usize];
            let [a, b, c] = [0, 1, 2].map(|i| own.corners[(corner + i) % 3]);
            [a, b, c, far.corners[far.edge_to(triangle)]]
        })
    }

    /// Flips the edge opposite to a corner, which must not be of the border.
    pub fn flip(&mut self, triangle: u32, corner: usize) {
        let Triangle { corners, across } = self.triangles[triangle as usize];
        let [a, b, c] = [0, 1, 2].map(|i| corners[(corner + i) % 3]);
        let [beyond, beside_c, beside_b] = [0, 1, 2].map(|i| across[(corner + i) % 3]);
        let far = self.triangles[beyond as usize];
        let j = far.edge_to(triangle);
        let d = far.corners[j];
        let (beside_fb, beside_fc) = (far.across[(j + 1) % 3], far.across[(j + 2) % 3]);
        self.relink(beside_fb, beyond, triangle);
        self.relink(beside_c, triangle, beyond);
        self.set(triangle, [a, b, d], [beside_fb, beyond, beside_b]);
        self.set(beyond, [a, d, c], [beside_fc, beside_c, triangle]);
    }

    /// Collapses an inner point into a neighbor, which keeps its place. The two
    /// must have no more than two neighbors in common.
    pub fn collapse(&mut self, point: u32, into: u32) {
        let star: Vec<(u32, usize)> = self.around(point).collect();
        for (t, i) in star {
            let Triangle { corners, across } = self.triangles[t as usize];
            if !corners.contains(&into) {
                self.triangles[t as usize].corners[i] = into;
                self.touched.push(t);
                self.points[into as usize].triangle = t;
                continue;
            }
            // The two that hold both vanish; their neighbors meet.
            let side = (3 - i) - self.triangles[t as usize].corner(into);
            let kept = across[i];
            let turned = across[self.triangles[t as usize].corner(into)];
            self.relink(kept, t, turned);
            self.relink(turned, t, kept);
            self.points[corners[side] as usize].triangle = turned;
            self.triangles[t as usize] = FREE;
            self.free_triangles.push(t);
        }
        self.points[point as usize].triangle = NONE;
        self.free_points.push(point);
    }
}

/// See [`Sheet::around`].
pub(super) struct Around<'a> {
    sheet: &'a Sheet,
    point: u32,
    first: u32,
    next: u32,
}

impl Iterator for Around<'_> {
    type Item = (u32, usize);

    #[inline]
    fn next(&mut self) -> Option<(u32, usize)> {
        if self.next == NONE {
            return None;
        }
        let own = self.next;
        let triangle = &self.sheet.triangles[own as usize];
        let corner = triangle.corner(self.point);
        self.next = match triangle.across[(corner + 1) % 3] {
            end if end == self.first => NONE,
            next => next,
        };
        Some((own, corner))
    }
}

#[cfg(test)]
impl Sheet {
    /// Numbers of all points in use.
    #[inline]
    pub fn live_points(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.points.len() as u32).filter(|&p| self.points[p as usize].triangle != NONE)
    }

    /// Checks the mesh: it must be one disc of triangles, none inverted.
    pub fn check(&self) -> Result<(), String> {
        let mut edges = 0;
        let mut plan = 0.0;
        for t in self.live_triangles() {
            let Triangle { corners, across } = self.triangles[t as usize];
            let [a, b, c] = self.places(t);
            if doubled(a, b, c) <= 0.0 {
                return Err(format!("triangle {t} is turned over: {a} {b} {c}"));
            }
            plan += doubled(a, b, c) / 2.0;
            for i in 0..3 {
                if self.points[corners[i] as usize].triangle == NONE {
                    return Err(format!("triangle {t} has a free corner"));
                }
                let (b, c) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
                let ends = [b, c].map(|p| self.points[p as usize].border);
                if across[i] == NONE {
                    edges += 2;
                    if ends != [true, true] {
                        return Err(format!("triangle {t} has a torn edge"));
                    }
                    continue;
                }
                edges += 1;
                let far = self.triangles[across[i] as usize];
                let j = far.edge_to(t);
                if far.is_free() || far.across[j] != t {
                    return Err(format!("triangles {t} and {} disagree", across[i]));
                }
                if (far.corners[(j + 1) % 3], far.corners[(j + 2) % 3]) != (c, b) {
                    return Err(format!("triangles {t} and {} share no edge", across[i]));
                }
            }
        }
        let mut border = 0;
        for p in self.live_points() {
            let own = &self.points[p as usize];
            let numbers = [
                own.at.x,
                own.at.y,
                own.height,
                own.soft,
                own.plain,
                own.hardness,
            ];
            if !numbers.iter().all(|n| n.is_finite()) || own.soft < 0.0 {
                return Err(format!("point {p} is {own:?}"));
            }
            border += usize::from(own.border);
            let corners = self.triangles[own.triangle as usize].corners;
            if !corners.contains(&p) {
                return Err(format!("point {p} is not in its triangle"));
            }
        }
        let corners = 3 * self.triangle_count();
        let met: usize = self.live_points().map(|p| self.around(p).count()).sum();
        if corners != met {
            return Err(format!("{met} of {corners} corners are met around points"));
        }
        let (points, triangles) = (self.point_count() as i64, self.triangle_count() as i64);
        if points - edges / 2 + triangles != 1 {
            return Err(format!(
                "{points} points, {edges}/2 edges, {triangles} triangles"
            ));
        }
        let (min, max) = self
            .live_points()
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(min, max), p| {
                (min.min(self.at(p)), max.max(self.at(p)))
            });
        let whole = (max - min).element_product();
        if (plan - whole).abs() > 1e-9 * whole || border < 4 {
            return Err(format!("{plan} m² of {whole} m² are covered"));
        }
        Ok(())
    }
}
