//! Changes the sheet to what the river needs: long edges are split near the
//! water, points that bunch up or are not needed are collapsed into a neighbor,
//! edges are flipped for better triangles.
//!
//! No change turns a triangle over, and each keeps the volume: a split leaves
//! the surface as it is; what a collapse or a flip would add or remove is
//! corrected by the heights of the points it concerns. Those two are done only
//! where the surface stays within a tolerance.

use super::{
    rings::{BATCH, Rings},
    topology::{NONE, Sheet, doubled, quality},
};
use crate::parallel::Workers;
use bevy::math::DVec2;

/// An edge longer than `SPLIT` times what is wanted is split, a shorter one is
/// collapsed; a collapse makes no edge that would soon be split again.
const SPLIT: f64 = 1.4;
const COLLAPSE: f64 = 0.5;
const MAX_COLLAPSED_EDGE: f64 = 1.25;
/// A triangle's plan area stays above this share of the fine edge squared.
pub(super) const MIN_AREA: f64 = 0.02;
/// Triangles better than this may become worse in a collapse, down to it.
const GOOD: f64 = 0.35;
/// Edges are turned for at least so much better a triangle.
const BETTER: f64 = 1.15;
/// The worst triangles may change the surface more, or they would stay forever.
const POOR: f64 = 0.15;
const TOLERANCE_OF_POOR: f64 = 4.0;
/// Rounds of splitting at once; each halves the longest edges.
const ROUNDS: usize = 12;

/// What is wanted of the sheet.
pub(super) struct Wish<'a, E, T> {
    pub workers: &'a Workers<'a>,
    /// Length of an edge at a place. units: m
    pub edge: E,
    /// How far the surface may move at a place. units: m
    pub tolerance: T,
    /// The shortest length wanted anywhere. units: m
    pub fine: f64,
}

/// How often each change was made, and how much volume was corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RemeshTally {
    /// Edges that were split.
    pub splits: u64,
    /// Points that were collapsed into a neighbor.
    pub collapses: u64,
    /// Edges that were flipped.
    pub flips: u64,
    /// Volume that collapses and flips moved, without regard to sign.
    /// units: m³
    pub moved: f64,
}

impl<E, T> Wish<'_, E, T>
where
    E: Fn(DVec2) -> f64 + Sync,
    T: Fn(DVec2) -> f64 + Sync,
{
    #[inline]
    fn least_doubled(&self) -> f64 {
        2.0 * MIN_AREA * self.fine * self.fine
    }

    /// What `look` finds at each of some items, in their order.
    fn find<I: Copy + Send + Sync, F: Send>(
        &self,
        items: &[I],
        look: impl Fn(I, &mut Vec<F>) + Sync,
    ) -> Vec<F> {
        let mut parts: Vec<Vec<F>> = Vec::new();
        parts.resize_with(items.len().div_ceil(BATCH), Vec::new);
        self.workers
            .each(items.chunks(BATCH).zip(&mut parts), |(items, part)| {
                items.iter().for_each(|&item| look(item, part));
            });
        parts.into_iter().flatten().collect()
    }

    /// Splits edges that are too long, the longest first. `made` is told of
    /// each new point.
    pub fn split(
        &self,
        sheet: &mut Sheet,
        tally: &mut RemeshTally,
        mut made: impl FnMut(&mut Sheet, u32),
    ) {
        let mut recent: Vec<u32> = sheet.live_triangles().collect();
        sheet.take_touched();
        for round in 0..ROUNDS {
            let mut long = self.find(&recent, |t, long| {
                let places = sheet.places(t);
                let own = &sheet.triangles[t as usize];
                for i in 0..3 {
                    // Of all triangles each inner edge from one side.
                    if round == 0 && own.across[i] < t {
                        continue;
                    }
                    let (b, c) = (places[(i + 1) % 3], places[(i + 2) % 3]);
                    let length = b.distance(c);
                    if length > SPLIT * self.fine && length > SPLIT * (self.edge)((b + c) * 0.5) {
                        let ends = (own.corners[(i + 1) % 3], own.corners[(i + 2) % 3]);
                        long.push((length, t, ends.0, ends.1));
                    }
                }
            });
            if long.is_empty() {
                return;
            }
            long.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, t, b, c) in long {
                // A split beside it may have changed the triangle.
                let own = &sheet.triangles[t as usize].corners;
                if let Some(corner) = (0..3)
                    .find(|&i| own[(i + 1) % 3] == b && own[(i + 2) % 3] == c)
                    .filter(|_| !own.contains(&NONE))
                {
                    let point = sheet.split(t, corner);
                    made(sheet, point);
                    tally.splits += 1;
                }
            }
            // From here on only what changed can be too long, or be turned.
            recent = sheet.take_touched();
            self.flip(sheet, Some(&recent), tally);
            recent.extend(sheet.take_touched());
            recent.sort_unstable();
            recent.dedup();
        }
    }

    /// Flips edges for better triangles: those of some, or of all triangles.
    pub fn flip(&self, sheet: &mut Sheet, some: Option<&[u32]>, tally: &mut RemeshTally) {
        let look = |t: u32, better: &mut Vec<u32>| {
            let across = sheet.triangles[t as usize].across;
            let turns = |corner: usize| {
                // Of all triangles each inner edge from one side.
                let own = some.is_some() || across[corner] > t;
                own && self.gain(sheet, t, corner).is_some()
            };
            if (0..3).any(turns) {
                better.push(t);
            }
        };
        let better = match some {
            Some(some) => self.find(some, look),
            None => self.find(&sheet.live_triangles().collect::<Vec<u32>>(), look),
        };
        for t in better {
            for corner in 0..3 {
                if self.try_flip(sheet, t, corner, tally) {
                    break;
                }
            }
        }
    }

    /// Whether the edge opposite to a corner would better be turned: the four
    /// points that it concerns, and how good the worse triangle is now.
    #[inline]
    fn gain(&self, sheet: &Sheet, t: u32, corner: usize) -> Option<([u32; 4], f64)> {
        let points = sheet.quad(t, corner)?;
        let [a, b, c, d] = points.map(|p| sheet.at(p));
        let before = quality(a, b, c).min(quality(d, c, b));
        let after = quality(a, b, d).min(quality(a, d, c));
        let smaller = doubled(a, b, d).min(doubled(a, d, c));
        let better = after > before * BETTER && smaller >= self.least_doubled();
        better.then_some((points, before))
    }

    fn try_flip(&self, sheet: &mut Sheet, t: u32, corner: usize, tally: &mut RemeshTally) -> bool {
        let Some((points, before)) = self.gain(sheet, t, corner) else {
            return false;
        };
        let [a, b, c, d] = points.map(|p| sheet.at(p));
        let (one, two) = (doubled(a, b, d), doubled(a, d, c));
        // Heights of both edges where they cross.
        let [ha, hb, hc, hd] = points.map(|p| sheet.height(p));
        let (on_new, on_old) = (
            doubled(b, c, a) / (doubled(b, c, a) - doubled(b, c, d)),
            one / (one + two),
        );
        let change = (ha + (hd - ha) * on_new) - (hb + (hc - hb) * on_old);
        let poor = if before < POOR {
            TOLERANCE_OF_POOR
        } else {
            1.0
        };
        if change.abs() > poor * (self.tolerance)((b + c) * 0.5) {
            return false;
        }
        let pair = [t, sheet.triangles[t as usize].across[corner]];
        let volume = |sheet: &Sheet| sheet.volume(pair[0]) + sheet.volume(pair[1]);
        let old = volume(sheet);
        sheet.flip(t, corner);
        let surplus = volume(sheet) - old;
        // The four points share in making it good.
        let area: f64 = points.iter().map(|&p| sheet.area(p)).sum();
        for p in points {
            sheet.points[p as usize].height -= surplus / area;
        }
        tally.flips += 1;
        tally.moved += surplus.abs();
        true
    }

    /// Collapses points into a neighbor where they bunch up, and where they are not
    /// needed. Points that are only not needed are looked at where it is their `turn`. The rings must be those of the sheet.
    pub fn collapse(
        &self,
        sheet: &mut Sheet,
        rings: &Rings,
        turn: impl Fn(DVec2) -> bool + Sync,
        tally: &mut RemeshTally,
    ) {
        let all: Vec<u32> = (0..sheet.points.len() as u32).collect();
        let crowded = self.find(&all, |p, crowded| {
            let own = &sheet.points[p as usize];
            let wanted = (self.edge)(own.at);
            if own.border || wanted > self.fine && !turn(own.at) {
                return;
            }
            let least = COLLAPSE * COLLAPSE * wanted * wanted;
            let near = |other: &u32| own.at.distance_squared(sheet.at(*other)) < least;
            if rings.of(p as usize).iter().any(near) {
                crowded.push(p);
            }
        });
        let mut ring: Vec<u32> = Vec::new();
        let mut order: Vec<(f64, u32)> = Vec::new();
        for p in crowded {
            let own = sheet.points[p as usize];
            let wanted = (self.edge)(own.at);
            sheet.neighbors(p, &mut ring);
            order.clear();
            for &other in &ring {
                let length = own.at.distance(sheet.at(other));
                if length < COLLAPSE * wanted {
                    order.push((length, other));
                }
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // The nearest neighbor that the point can be drawn into.
            for &(_, into) in &order {
                if let Some(moved) = self.try_collapse(sheet, p, into, &ring) {
                    tally.collapses += 1;
                    tally.moved += moved;
                    break;
                }
            }
        }
    }

    /// Draws a point into a neighbor if all stays well, and tells how much
    /// volume was made good.
    fn try_collapse(&self, sheet: &mut Sheet, p: u32, into: u32, ring: &[u32]) -> Option<f64> {
        let (at, to) = (sheet.at(p), sheet.at(into));
        let mut common = 0;
        for &other in ring {
            if other == into {
                continue;
            }
            let end = sheet.at(other);
            let length = to.distance(end);
            let kept = sheet
                .around(into)
                .any(|(t, _)| sheet.triangles[t as usize].corners.contains(&other));
            common += usize::from(kept);
            if !kept && length > MAX_COLLAPSED_EDGE * (self.edge)((to + end) * 0.5) {
                return None;
            }
        }
        if common != 2 {
            return None;
        }
        let least = self.least_doubled();
        let (mut worst_before, mut worst_after) = (f64::INFINITY, f64::INFINITY);
        let (mut old, mut new) = (0.0, 0.0);
        // Triangles after the collapse, for a look at their heights.
        let mut after: [[u32; 3]; 12] = [[0; 3]; 12];
        let mut count = 0;
        let heights = |corners: [u32; 3]| -> f64 {
            corners
                .iter()
                .map(|&c| sheet.height(c) - sheet.height(into))
                .sum()
        };
        for (t, i) in sheet.around(p) {
            let corners = sheet.triangles[t as usize].corners;
            let (b, c) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
            let (pb, pc) = (sheet.at(b), sheet.at(c));
            worst_before = worst_before.min(quality(at, pb, pc));
            old += doubled(at, pb, pc) / 6.0 * heights([p, b, c]);
            if b == into || c == into {
                continue;
            }
            if doubled(to, pb, pc) < least || count == after.len() {
                return None;
            }
            worst_after = worst_after.min(quality(to, pb, pc));
            new += doubled(to, pb, pc) / 6.0 * heights([into, b, c]);
            after[count] = [into, b, c];
            count += 1;
        }
        if worst_after < GOOD.min(worst_before) {
            return None;
        }
        let surplus = new - old;
        let after = &after[..count];
        let gained: f64 = after
            .iter()
            .map(|&[a, b, c]| doubled(sheet.at(a), sheet.at(b), sheet.at(c)))
            .sum::<f64>()
            - sheet
                .around(p)
                .filter(|&(t, _)| sheet.triangles[t as usize].corners.contains(&into))
                .map(|(t, _)| {
                    let [a, b, c] = sheet.places(t);
                    doubled(a, b, c)
                })
                .sum::<f64>();
        let lift = -surplus / (sheet.area(into) + gained / 6.0);
        let tolerance = (self.tolerance)(at);
        if lift.is_nan() || lift.abs() > tolerance {
            return None;
        }
        // The surface moves most at the point and along its old edges.
        let off = |place: DVec2, height: f64| {
            let new = after.iter().find_map(|&[a, b, c]| {
                let (pa, pb, pc) = (sheet.at(a), sheet.at(b), sheet.at(c));
                let parts = [
                    doubled(pb, pc, place),
                    doubled(pc, pa, place),
                    doubled(pa, pb, place),
                ];
                let sum = doubled(pa, pb, pc);
                let within = parts.iter().all(|part| *part >= -1e-9 * sum);
                let high = sheet.height(a) + lift;
                within.then(|| {
                    (parts[0] * high + parts[1] * sheet.height(b) + parts[2] * sheet.height(c))
                        / sum
                })
            });
            new.map_or(0.0, |new| (new - height).abs())
        };
        let own = sheet.height(p);
        let fits = off(at, own) <= tolerance
            && ring.iter().all(|&other| {
                let middle = (at + sheet.at(other)) * 0.5;
                off(middle, (own + sheet.height(other)) * 0.5) <= tolerance
            });
        if !fits {
            return None;
        }
        let (one, two) = (sheet.area(p), sheet.area(into));
        let soft = sheet.points[p as usize].soft * one + sheet.points[into as usize].soft * two;
        sheet.collapse(p, into);
        let area = sheet.area(into);
        let kept = &mut sheet.points[into as usize];
        kept.height -= surplus / area;
        kept.soft = soft / (one + two);
        Some(surplus.abs())
    }
}
