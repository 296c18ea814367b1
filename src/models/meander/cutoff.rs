//! Cut-offs: where a neck of land between two reaches is narrower than the
//! channel, the river breaks through.
//!
//! Once in a while the course is looked at. Of two of its places that are far
//! apart along the stream and have little land between them, the nearest are
//! joined:
//!
//! ```text
//! bed(t)   = grade of the new course, from the upper place to the lower one
//! cut      = what stands above bed + 0.8·max(0, off − 0.6·r)    off: from the new middle
//! plugs    = both mouths up to the floodplain, of the cut and of what the old bend carried
//! lake     = all water of the old bend
//! ```
//!
//! What is cut and not laid in the plugs becomes sediment in the stream. Plugs
//! that are not full take what comes by later.
//!
//! Where the water has found a shorter way by itself, over a low bar or where two
//! reaches have grown together, that way is cut to its grade in the same manner.

use super::{
    Centerline, Ground, RiverSolver, WaterParticle,
    grade::Grade,
    kernels::whole,
    measure::{Courses, foot, spaced},
    oxbow::{DRAIN_EVERY, OxbowLake, PLUG_SLOPE, Plug, TOWARDS_LAKE, away},
    water::Felt,
};
use crate::parallel::Workers;
use bevy::math::DVec2;
use core::cmp::Ordering;

/// Half the flat bottom of a new channel, of the radius.
const BOTTOM: f64 = 0.6;
/// Middles of reaches with a neck between them are at most so much farther apart
/// than the neck is wide, of the radius.
const BOTH_HALVES: f64 = 2.4;
/// Places of a former course farther from the new one are left, in radii.
const LEFT: f64 = 1.2;
/// Land on a neck is counted in steps of this length, of the radius.
const STEP: f64 = 0.04;
/// Sediment so near fills a plug, of the radius.
const PLUG_REACH: f64 = 2.0;

/// A neck that a river broke through.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutoff {
    /// When it happened. units: s
    pub time: f64,
    /// Steps so far.
    pub step: u64,
    /// Middle of the neck. units: m
    pub place: DVec2,
    /// Width of the land between the reaches, zero where the water had found the
    /// shorter way by itself. units: m
    pub neck: f64,
    /// Length of the river before. units: m
    pub length_before: f64,
    /// Length of the river after. units: m
    pub length_after: f64,
    /// What was cut through. units: m³
    pub cut: f64,
    /// Number of the lake that it left.
    pub lake: u64,
}

/// Where the water of a river is. Counted in whole particles, so exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RiverWaterLedger {
    /// Let in at the sources, so far. units: m³
    pub entered: f64,
    /// Gone through sinks and over the border, so far. units: m³
    pub left: f64,
    /// On its way. units: m³
    pub stream: f64,
    /// In oxbow lakes. units: m³
    pub lakes: f64,
}

impl RiverWaterLedger {
    /// What must stay zero. units: m³
    pub fn total(&self) -> f64 {
        self.stream + self.lakes + self.left - self.entered
    }
}

/// What is known of cut-offs so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Necks {
    pub cutoffs: Vec<Cutoff>,
    pub lakes: Vec<OxbowLake>,
    /// Pairs of mouths that are not full yet.
    pub plugs: Vec<[Plug; 2]>,
    /// Courses at the last look.
    pub courses: Vec<Vec<DVec2>>,
    pub since_look: f64,
}

impl Necks {
    /// Whether there is nothing to look after.
    fn is_empty(&self) -> bool {
        self.lakes.is_empty() && self.plugs.is_empty()
    }
}

/// Two places of a course with a shorter way between them.
struct Neck {
    upper: usize,
    lower: usize,
    land: f64,
    /// From the upper place to the lower one.
    way: Vec<DVec2>,
}

impl<G: Ground> RiverSolver<G> {
    /// The way of the water from the first source as far down as it goes. It
    /// keeps to the channel: unlike [`course`](super::course()) it never jumps
    /// over the land between two reaches.
    pub fn course(&self) -> Option<Centerline> {
        let courses = Courses::new(&self.water.particles, &self.ground, &self.settings);
        courses.from(self.springs.first()?.source.position)
    }

    /// Necks that it broke through so far.
    pub fn cutoffs(&self) -> &[Cutoff] {
        &self.necks.cutoffs
    }

    /// Bends that it left as lakes.
    pub fn lakes(&self) -> &[OxbowLake] {
        &self.necks.lakes
    }

    /// Where the water is.
    pub fn water_ledger(&self) -> RiverWaterLedger {
        let volume = f64::from(self.settings.particle_volume);
        let lakes = self.particles() - self.water.particles.len() as u64;
        RiverWaterLedger {
            entered: self.entered as f64 * volume,
            left: self.gone as f64 * volume,
            stream: self.water.particles.len() as f64 * volume,
            lakes: lakes as f64 * volume,
        }
    }

    /// Particles of all water, in the stream and in lakes.
    pub(super) fn particles(&self) -> u64 {
        let lakes: u64 = self.necks.lakes.iter().map(|lake| lake.particles).sum();
        self.water.particles.len() as u64 + lakes
    }

    /// Lets all water go at once, that of lakes too.
    pub(super) fn forget_water(&mut self) {
        self.gone += self.particles();
        self.water.particles.clear();
        self.necks.lakes.clear();
    }

    /// Looks after plugs and lakes, and for necks when it is time.
    pub(super) fn look_at_necks(&mut self, workers: &Workers, dt: f64) {
        self.necks.since_look += dt;
        let due = self.necks.since_look >= f64::from(self.settings.course_interval) - 1e-9;
        if due || !self.necks.is_empty() {
            self.water.sort();
        }
        self.fill_plugs();
        self.keep_lakes();
        let settings = &self.settings;
        let wanted = settings.neck > 0.0 || settings.grading > 0.0 || !self.necks.is_empty();
        if !(wanted && due) {
            return;
        }
        self.necks.since_look = 0.0;
        let ways = Courses::new(&self.water.particles, &self.ground, &self.settings);
        let mut found = vec![None; self.springs.len()];
        workers.each(self.springs.iter().zip(&mut found), |(spring, found)| {
            *found = ways.from(spring.source.position);
        });
        let courses = found.into_iter().flatten().map(|course| course.points);
        let courses: Vec<Vec<DVec2>> = courses.collect();
        let grade = self.grade_along(&courses);
        // Where a river runs dry its course ends; its channel keeps its grade.
        if grade.end < self.grade.end + self.settings.bank() {
            self.grade = grade;
        }
        let former = core::mem::replace(&mut self.necks.courses, courses.clone());
        for (number, course) in courses.iter().enumerate() {
            let known = former.get(number).filter(|_| former.len() == courses.len());
            // Other courses may run through the same bend: they wait.
            if let Some(neck) = known.and_then(|known| self.find_left_bend(known, course)) {
                self.break_through(&former, number, &neck);
                return;
            }
            if let Some(neck) = self.find_neck(course) {
                self.break_through(&courses, number, &neck);
                return;
            }
        }
        self.meet_lakes(&courses.concat());
    }

    fn grade_along(&self, courses: &[Vec<DVec2>]) -> Grade {
        match self.settings.grading > 0.0 && self.settings.depth.is_finite() {
            true => Grade::along(&self.settings, &self.ground, courses),
            false => Grade::default(),
        }
    }

    /// The narrowest neck that the river can break through.
    fn find_neck(&self, course: &[DVec2]) -> Option<Neck> {
        let settings = &self.settings;
        let radius = f64::from(settings.radius);
        let (widest, way) = (f64::from(settings.neck), settings.way_round());
        let apart = widest + BOTH_HALVES * radius;
        let ways = ways(course);
        // By its bed, for a bend may run back up its valley.
        let level = |at: DVec2| self.bed_of_way(at);
        let mut best: Option<(f64, Neck)> = None;
        for (upper, a) in course.iter().enumerate() {
            let far = ways.partition_point(|w| *w < ways[upper] + way);
            for (lower, b) in course.iter().enumerate().skip(far) {
                let between = a.distance(*b);
                let nearest = best.as_ref().map_or(apart, |(between, _)| *between);
                if between >= nearest || level(*a) <= level(*b) {
                    continue;
                }
                let land = self.land_on(*a, *b);
                if land < widest {
                    let way = vec![*a, *b];
                    let neck = Neck {
                        upper,
                        lower,
                        land,
                        way,
                    };
                    best = Some((between, neck));
                }
            }
        }
        best.map(|(_, neck)| neck)
    }

    /// The first bend of a former course that the water has left by itself.
    fn find_left_bend(&self, former: &[DVec2], course: &[DVec2]) -> Option<Neck> {
        let settings = &self.settings;
        let least = settings.way_round();
        if settings.neck <= 0.0 {
            return None;
        }
        let ways = ways(former);
        let kept = former
            .iter()
            .enumerate()
            .filter(|(_, at)| away(course, **at) < LEFT * self.kernels.radius)
            .map(|(i, _)| i);
        let kept: Vec<usize> = kept.collect();
        kept.windows(2).find_map(|pair| {
            let (upper, lower) = (pair[0], pair[1]);
            let (a, b) = (former[upper], former[lower]);
            let (from, to) = (nearest(course, a), nearest(course, b));
            let round = ways[lower] - ways[upper];
            if round < least || from >= to {
                return None;
            }
            let mut way = vec![a];
            way.extend_from_slice(&course[from + 1..to]);
            way.push(b);
            let shorter = length(&way) + 0.5 * least < round;
            shorter.then_some(Neck {
                upper,
                lower,
                land: 0.0,
                way,
            })
        })
    }

    /// Width of the land between two places: what is higher than half way up the
    /// banks. units: m
    fn land_on(&self, a: DVec2, b: DVec2) -> f64 {
        let bank = self.settings.bank();
        let way = a.distance(b);
        let count = (way / (STEP * self.kernels.radius)).ceil().max(1.0);
        let high = (0..count as usize).filter(|i| {
            let at = a.lerp(b, (*i as f64 + 0.5) / count);
            let plain = self.ground.floodplain(self.ground.point_at(at));
            self.ground.surface(at).height > plain - 0.5 * bank
        });
        high.count() as f64 * way / count
    }

    /// Cuts through a neck, plugs the old bend and makes a lake of it.
    fn break_through(&mut self, courses: &[Vec<DVec2>], number: usize, neck: &Neck) {
        let course = &courses[number];
        let bank = self.settings.bank();
        let crest = 0.5 * self.settings.plug_length();
        let way_to = ways(course);
        let (upper, lower) = (course[neck.upper], course[neck.lower]);
        // The river as it will run.
        let mut river = course[..neck.upper].to_vec();
        river.extend_from_slice(&neck.way);
        river.extend_from_slice(&course[neck.lower + 1..]);

        let river = spaced(&river, 0.5 * self.kernels.radius);
        let mut after = courses.to_vec();
        after[number] = river.clone();
        self.grade = self.grade_along(&after);
        let cut = self.cut_way(&neck.way);
        // Mouths begin beside the new channel; water from there on is the lake's.
        let mouth = self.kernels.radius;
        let plug = mouth + bank / PLUG_SLOPE + crest;
        let from_ends = |i: usize| {
            let (down, up) = (
                way_to[i] - way_to[neck.upper],
                way_to[neck.lower] - way_to[i],
            );
            down.min(up)
        };
        let in_bend = |at: DVec2| {
            let i = nearest(course, at);
            let inside = (neck.upper..=neck.lower).contains(&i) && from_ends(i) > mouth;
            inside && course[i].distance(at) < 2.0 * mouth && along(&neck.way, at).0 > mouth
        };
        let water: Vec<WaterParticle> = core::mem::take(&mut self.water.particles);
        let (old, kept): (Vec<_>, Vec<_>) =
            water.into_iter().partition(|own| in_bend(own.position));
        self.water.particles = kept;
        let mut stock = cut;
        self.sediment.particles.retain(|own| {
            let stays = !in_bend(own.position);
            if !stays {
                stock += own.volume;
            }
            stays
        });
        let mouths = [false, true].map(|lower_end| {
            let bend = neck.upper + 1..neck.lower;
            let off = |i: &usize| {
                let way = if lower_end {
                    way_to[neck.lower] - way_to[*i]
                } else {
                    way_to[*i] - way_to[neck.upper]
                };
                (way - plug).abs()
            };
            let middle = bend
                .min_by(|a, b| off(a).total_cmp(&off(b)))
                .unwrap_or(neck.upper);
            let (before, after) = (middle.saturating_sub(1), middle + 1);
            let ahead = course[after.min(course.len() - 1)] - course[before];
            let near = 8.0 * self.kernels.radius;
            let close = |at: &&DVec2| at.distance(course[middle]) < near;
            Plug {
                at: course[middle],
                along: ahead.normalize_or(DVec2::X),
                river: river.iter().filter(close).copied().collect(),
            }
        });
        // The lake lies between the plugs, at least in the middle of the bend.
        let farthest =
            (neck.upper..=neck.lower).max_by(|a, b| from_ends(*a).total_cmp(&from_ends(*b)));
        let line = (neck.upper..=neck.lower)
            .filter(|&i| Some(i) == farthest || from_ends(i) > plug + crest + mouth)
            .map(|i| course[i])
            .collect();
        let (laid, full) = Plug::fill(&mouths, &self.settings, &mut self.ground, stock);
        self.tally.laid += laid;
        if !full {
            self.necks.plugs.push(mouths);
        }
        self.spread_sediment(stock - laid, &neck.way);

        let id = self.new_id();
        let lake = OxbowLake::new(&self.settings, &self.ground, id, line, old.len() as u64);
        self.necks.lakes.push(lake);
        self.necks.cutoffs.push(Cutoff {
            time: self.time,
            step: self.steps,
            place: upper.midpoint(lower),
            neck: neck.land,
            length_before: length(course),
            length_after: length(&river),
            cut,
            lake: id,
        });
        // Of other courses through the same bend nothing is known until the next look.
        for (other, course) in after.iter_mut().enumerate() {
            if other != number {
                course.clear();
            }
        }
        self.necks.courses = after;
        self.water.sort();
        self.sediment.sort();
    }

    /// The bed of a new channel. units: m
    fn bed_of_way(&self, at: DVec2) -> f64 {
        let point = self.ground.point_at(at);
        let deepest = self.ground.floodplain(point) - 2.0 * self.settings.bank();
        self.bed_at(point, at).max(deepest)
    }

    /// Cuts a channel that falls evenly along a way. Returns its volume. units: m³
    fn cut_way(&mut self, line: &[DVec2]) -> f64 {
        let (&[upper, ..], &[.., lower]) = (line, line) else {
            return 0.0;
        };
        let bank = self.settings.bank();
        let bottom = BOTTOM * self.kernels.radius;
        let (high, low) = (self.bed_of_way(upper), self.bed_of_way(lower));
        let all = length(line).max(1e-6);
        let reach = bottom + bank / PLUG_SLOPE;
        let mut points = Vec::new();
        let min = line.iter().copied().fold(upper, DVec2::min) - reach;
        let max = line.iter().copied().fold(upper, DVec2::max) + reach;
        self.ground.points_in(min, max, |point, at| {
            let (off, way) = along(line, at);
            let share = way / all;
            if off < reach {
                let rise = PLUG_SLOPE * (off - bottom).max(0.0);
                points.push((point, high + (low - high) * share + rise));
            }
        });
        let mut cut = 0.0;
        for (point, level) in points {
            let volume = whole(self.ground.excess(point, level));
            if volume > 0.0 {
                self.ground.dig(point, volume);
                cut += volume;
            }
        }
        self.tally.cut += cut;
        cut
    }

    /// Plugs that are not full take what is carried past them.
    fn fill_plugs(&mut self) {
        let reach = PLUG_REACH * self.kernels.radius;
        for mouths in core::mem::take(&mut self.necks.plugs) {
            let near = |at: DVec2| mouths.iter().any(|plug| plug.at.distance(at) < reach);
            let particles = &mut self.sediment.particles;
            let taken: Vec<usize> = (0..particles.len())
                .filter(|slot| near(particles[*slot].position))
                .collect();
            let stock: f64 = taken.iter().map(|slot| particles[*slot].volume).sum();
            let (laid, full) = Plug::fill(&mouths, &self.settings, &mut self.ground, stock);
            self.tally.laid += laid;
            // All give the same share, the largest what rounding leaves.
            let mut rest = laid;
            for &slot in &taken {
                let own = &mut particles[slot].volume;
                let given = whole(*own * (laid / stock)).min(*own);
                *own -= given;
                rest -= given;
            }
            // Told apart by what a mirror keeps.
            let size = |slot: &usize| {
                let own = &particles[*slot];
                [own.volume, own.position.x, own.position.y.abs()].map(|value| value + 0.0)
            };
            let largest = taken
                .iter()
                .copied()
                .max_by(|a, b| size(a).partial_cmp(&size(b)).unwrap_or(Ordering::Equal));
            if let Some(slot) = largest {
                particles[slot].volume -= rest;
            }
            if !full {
                self.necks.plugs.push(mouths);
            }
        }
    }

    /// What is left of a cut goes with the stream, in as many particles as carry
    /// it, along the new channel.
    fn spread_sediment(&mut self, volume: f64, way: &[DVec2]) {
        let capacity = f64::from(self.settings.capacity);
        let count = (volume / capacity).ceil();
        let felt = Felt {
            amount: 1.0,
            ..Felt::default()
        };
        let mut rest = volume;
        for i in 0..count as usize {
            let at = place_along(way, length(way) * (i as f64 + 0.5) / count);
            let part = if i + 1 < count as usize {
                capacity.min(rest)
            } else {
                rest
            };
            self.sediment.add(at, part, &felt);
            rest -= part;
        }
    }

    /// Lakes catch water that strays into them, and give up water where the
    /// river has opened them or where they are too full.
    fn keep_lakes(&mut self) {
        let drains = self.looks.is_multiple_of(DRAIN_EVERY);
        let mut lakes = core::mem::take(&mut self.necks.lakes);
        for lake in &mut lakes {
            let before = self.water.particles.len();
            match lake.outlet {
                Some(outlet) if drains => {
                    lake.particles -= 1;
                    self.let_in(outlet);
                }
                None if lake.level < lake.brim => {
                    let (settings, ground) = (&self.settings, &self.ground);
                    let particles = &mut self.water.particles;
                    particles.retain(|own| !lake.catches(settings, ground, own));
                    lake.particles += (before - particles.len()) as u64;
                }
                _ => {}
            }
            if self.water.particles.len() != before {
                lake.find_level(&self.settings, &self.ground);
                self.water.sort();
            }
        }
        lakes.retain(|lake| lake.particles > 0);
        self.necks.lakes = lakes;
    }

    /// Lets a particle of a lake into the stream.
    fn let_in(&mut self, at: DVec2) {
        let felt = self.water.felt(&self.kernels, at).unwrap_or_default();
        self.water.particles.push(WaterParticle {
            position: at,
            velocity: felt.velocity,
            mean_velocity: felt.velocity,
            curve: felt.curve,
            density: 0.0,
            id: self.next_drop,
        });
        self.next_drop += 1;
    }

    /// Sees which lakes and plugs the river has come to.
    fn meet_lakes(&mut self, course: &[DVec2]) {
        let (settings, ground) = (&self.settings, &self.ground);
        self.necks.plugs.retain(|mouths| {
            !mouths
                .iter()
                .any(|plug| plug.is_washed_out(settings, course))
        });
        for lake in &mut self.necks.lakes {
            let overfull = lake.find_level(settings, ground);
            if let Some(outlet) = lake.opening(settings, ground, course) {
                lake.opened = true;
                lake.outlet = Some(outlet);
            } else if !lake.opened {
                let nearest = lake.nearest_on(course).filter(|_| overfull);
                lake.outlet = nearest.map(|(at, own)| at.lerp(own, TOWARDS_LAKE));
            }
        }
    }
}

/// Way along a line to each of its places. units: m
fn ways(line: &[DVec2]) -> Vec<f64> {
    let mut way = 0.0;
    let steps = line.windows(2).map(|p| {
        way += p[0].distance(p[1]);
        way
    });
    let first = line.first().map(|_| 0.0);
    first.into_iter().chain(steps).collect()
}

/// Length of a line. units: m
fn length(line: &[DVec2]) -> f64 {
    line.windows(2).map(|p| p[0].distance(p[1])).sum()
}

/// Distance of a place from a line, and the way along it to the nearest of its
/// places. units: m
fn along(line: &[DVec2], at: DVec2) -> (f64, f64) {
    let mut best = (f64::INFINITY, 0.0);
    let mut before = 0.0;
    for part in line.windows(2) {
        let (place, share) = foot(part[0], part[1], at);
        let (off, long) = (place.distance(at), part[0].distance(part[1]));
        if off < best.0 {
            best = (off, before + share * long);
        }
        before += long;
    }
    best
}

/// The place so far along a line (m).
fn place_along(line: &[DVec2], far: f64) -> DVec2 {
    let mut rest = far;
    for part in line.windows(2) {
        let long = part[0].distance(part[1]);
        if rest <= long {
            return part[0].lerp(part[1], rest / long.max(1e-12));
        }
        rest -= long;
    }
    line.last().copied().unwrap_or_default()
}

/// Number of the place that is nearest.
fn nearest(line: &[DVec2], at: DVec2) -> usize {
    let square = |i: &usize| line[*i].distance_squared(at);
    let nearest = (0..line.len()).min_by(|a, b| square(a).total_cmp(&square(b)));
    nearest.unwrap_or(0)
}
