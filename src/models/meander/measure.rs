//! Measures of a river: its course, its bends and what it moved.

use super::WaterParticle;
use bevy::math::DVec2;

/// Links between particles grow up to this many radii where the stream is thin.
const LONGEST_LINK: f64 = 3.0;

/// What a river cut and laid down so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Cut in all. units: m³
    pub cut: f64,
    /// Of it, on the outer side of bends. units: m³
    pub outer: f64,
    /// Of it, on the inner side of bends. units: m³
    pub inner: f64,
    /// Laid down. units: m³
    pub laid: f64,
}

impl Tally {
    pub(super) fn count_cut(&mut self, volume: f64, outer: Option<bool>) {
        self.cut += volume;
        match outer {
            Some(true) => self.outer += volume,
            Some(false) => self.inner += volume,
            None => {}
        }
    }
}

/// The way of the water from the first place to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Centreline {
    /// Places along it, about evenly spaced. units: m
    pub points: Vec<DVec2>,
    /// Length of the shortest path through the water. units: m
    pub length: f64,
    /// Straight distance between its ends. units: m
    pub straight: f64,
}

/// The shortest path through the water from the particle next to `from` to the
/// one next to `to`, by links of at most `radius`, longer ones where the water
/// has gaps. Nothing, if there is no such path.
pub fn course(water: &[WaterParticle], radius: f64, from: DVec2, to: DVec2) -> Option<Centreline> {
    let places: Vec<DVec2> = water.iter().map(|own| own.position).collect();
    let nearest = |at: DVec2| {
        let by = |a: &usize, b: &usize| {
            let square = |i: usize| places[i].distance_squared(at);
            square(*a).total_cmp(&square(*b))
        };
        (0..places.len()).min_by(by)
    };
    let (start, end) = (nearest(from)?, nearest(to)?);
    let mut link = radius;
    let path = loop {
        if let Some(path) = shortest(&places, link, start, end) {
            break path;
        }
        link *= 1.25;
        if link > LONGEST_LINK * radius {
            return None;
        }
    };
    let length = path
        .windows(2)
        .map(|p| places[p[0]].distance(places[p[1]]))
        .sum();
    // The path cuts corners; the middle of the water around it does not.
    let middles: Vec<DVec2> = path
        .iter()
        .map(|&i| {
            let near = places.iter().filter(|p| p.distance(places[i]) < radius);
            let (sum, count) = near.fold((DVec2::ZERO, 0.0), |(s, n), p| (s + *p, n + 1.0));
            sum / count
        })
        .collect();
    Some(Centreline {
        points: smoothed(&spaced(&middles, 0.5 * radius), 3),
        length,
        straight: places[start].distance(places[end]),
    })
}

/// Dijkstra's way with a plain list: rivers have some hundred particles.
fn shortest(places: &[DVec2], link: f64, start: usize, end: usize) -> Option<Vec<usize>> {
    let mut cells: std::collections::BTreeMap<(i64, i64), Vec<usize>> = Default::default();
    let cell = |p: DVec2| ((p.x / link).floor() as i64, (p.y / link).floor() as i64);
    for (i, place) in places.iter().enumerate() {
        cells.entry(cell(*place)).or_default().push(i);
    }
    let mut distances = vec![f64::INFINITY; places.len()];
    let mut before = vec![usize::MAX; places.len()];
    // Bits of a positive number sort like the number.
    let mut front = std::collections::BTreeSet::from([(0u64, start)]);
    distances[start] = 0.0;
    while let Some((_, own)) = front.pop_first() {
        if own == end {
            let mut path = vec![end];
            let mut at = end;
            while at != start {
                at = before[at];
                path.push(at);
            }
            path.reverse();
            return Some(path);
        }
        let (x, y) = cell(places[own]);
        for near in (-1..=1).flat_map(|j| (-1..=1).map(move |i| (x + i, y + j))) {
            for &other in cells.get(&near).into_iter().flatten() {
                let step = places[own].distance(places[other]);
                let distance = distances[own] + step;
                if step <= link && distance < distances[other] {
                    front.remove(&(distances[other].to_bits(), other));
                    distances[other] = distance;
                    before[other] = own;
                    front.insert((distance.to_bits(), other));
                }
            }
        }
    }
    None
}

/// Places along a line, this far apart.
fn spaced(line: &[DVec2], spacing: f64) -> Vec<DVec2> {
    let mut out: Vec<DVec2> = line.first().copied().into_iter().collect();
    let mut due = spacing;
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        let mut at = due;
        while at <= length {
            out.push(pair[0].lerp(pair[1], at / length));
            at += spacing;
        }
        due = at - length;
    }
    out
}

/// Mean of this many neighbours on either side, fewer at the ends.
fn smoothed(line: &[DVec2], reach: usize) -> Vec<DVec2> {
    let mean = |i: usize| {
        let reach = reach.min(i).min(line.len() - 1 - i);
        let near = &line[i - reach..=i + reach];
        near.iter().sum::<DVec2>() / near.len() as f64
    };
    (0..line.len()).map(mean).collect()
}

impl Centreline {
    /// Length of the river for each metre of its valley: 1 if straight; a
    /// meandering river has 1.5 and more.
    pub fn sinuosity(&self) -> f64 {
        self.length / self.straight.max(1e-9)
    }

    /// Signed curvature at each inner point, positive to the left. units: 1/m
    pub fn curvature(&self) -> Vec<f64> {
        let turns = self.points.windows(3).map(|p| {
            let (a, b) = (p[1] - p[0], p[2] - p[1]);
            let size = (a.length() * b.length()).max(1e-12);
            2.0 * a.perp_dot(b) / size / (a.length() + b.length())
        });
        turns.collect()
    }

    /// The strongest point of each bend: number of the point, and whether it
    /// bends to the left. Bends weaker than a quarter of the usual curvature
    /// count as part of their neighbours.
    pub fn apexes(&self) -> Vec<(usize, bool)> {
        let raw = self.curvature();
        let mean = |i: usize| {
            let reach = 4.min(i).min(raw.len() - 1 - i);
            let near = &raw[i - reach..=i + reach];
            near.iter().sum::<f64>() / near.len() as f64
        };
        let curve: Vec<f64> = (0..raw.len()).map(mean).collect();
        let square: f64 = curve.iter().map(|c| c * c).sum();
        let usual = (square / curve.len().max(1) as f64).sqrt();
        let mut apexes: Vec<(usize, bool)> = Vec::new();
        for (i, c) in curve.iter().enumerate() {
            if c.abs() < 0.5 * usual {
                continue;
            }
            match apexes.last_mut() {
                Some(last) if last.1 == (*c > 0.0) => {
                    if c.abs() > curve[last.0 - 1].abs() {
                        last.0 = i + 1;
                    }
                }
                _ => apexes.push((i + 1, *c > 0.0)),
            }
        }
        apexes
    }

    /// Mean distance along the valley from a bend to the next that turns the
    /// same way. units: m
    pub fn wavelength(&self) -> Option<f64> {
        let apexes = self.apexes();
        let (first, last) = (apexes.first()?, apexes.last()?);
        let bends = apexes.len() as f64 - 1.0;
        let distance = self.points[first.0].distance(self.points[last.0]);
        (bends > 0.0).then(|| 2.0 * distance / bends)
    }
}
