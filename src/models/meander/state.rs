//! What a river remembers: all that its next step depends on besides settings,
//! stretch, place and terrain.
//!
//! Particles are kept in their order. What can be found again is not kept: cells
//! of neighbours, the outline, where water is taken in. Levels of the ground are
//! kept as differences of bits, for most of them are alike and pack well.

use super::{
    Cutoff, Ground, MeanderingRiver, OxbowLake, RiverSink, RiverSolver, RiverSource, RiverStretch,
    SedimentParticle, SourceId, Stretch, Tally, WaterParticle, cutoff::Necks, grade::Grade,
    grid_ground::GridGround, layout::Layout, oxbow::Plug, sediment::Sediment, springs::Spring,
    water::Water,
};
use crate::{
    models::solver_state::{StateError, StateReader, StateWriter},
    terrain::{LayerGroup, StreamPatch, Terrain, TerrainCursor},
};
use bevy::{math::DVec2, prelude::Transform};
use core::ops::RangeInclusive;

const M: &str = "MeanderingRiver";
/// No ground is higher or lower. units: m
const HIGHEST: f64 = 1e10;
/// No water is faster: a step is split by its speed. units: m/s
const FASTEST: f64 = 1e5;
/// No river has moved more, nor run longer. units: m³, s
const MOST: f64 = 1e18;
/// Looks at the ground are not farther apart, as settings go. units: s
const LONGEST_WAIT: f64 = 1e4;
/// No source owes more. units: particles
const MOST_DUE: f64 = 1e4;
/// What a particle of sediment holds: at most the largest capacity. Rounding may
/// leave a bit less than nothing. units: m³
const MOST_LOAD: RangeInclusive<f64> = -1.0..=2e9;
/// No lake holds more. units: particles
const LARGEST_LAKE: u64 = 1 << 32;
/// Sums over neighbours are not larger.
const LARGEST_SUM: f64 = 1e30;

type Read<T> = Result<T, StateError>;

impl RiverStretch {
    /// What its next step depends on besides its settings, stretch and place and
    /// the terrain that it runs on, so that what [`load_state`](Self::load_state)s it
    /// goes on with the same bits. Nothing for a terrain of another size, cell
    /// size or place.
    pub fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        self.save_state_for(terrain, terrain)
    }

    /// The same, to be recalled on a copy of the terrain in which other rivers
    /// may no longer be seen.
    pub(crate) fn save_state_for(&self, terrain: &Terrain, copy: &Terrain) -> Vec<u8> {
        let mut memory = StateWriter::default();
        if *terrain.grid() != self.grid {
            return memory.finish();
        }
        memory.count(self.source.0);
        let knows = self.cursor.is_at(terrain);
        let seen = self.cursor.revision(LayerGroup::Ground);
        memory.count(if knows { seen } else { 0 });
        // The terrain has the stream as it is seen.
        let stream = copy.stream_place(self.number);
        memory.count(stream.map_or(0, |place| place as u64 + 1));
        memory.count(self.looks);
        memory.real(self.carried_solids);
        memory.real(self.carried_water);
        memory.flag(self.passes_water_on);
        self.river.ground.save_state(&mut memory);
        put_unlike(&mut memory, &self.shown, self.river.ground.heights());
        put_unlike(&mut memory, &self.base, &self.shown);
        self.river.save_state(&mut memory);
        memory.finish()
    }

    /// The river that [remembered](Self::save_state) this, with the settings,
    /// stretch and place that it had, on the same terrain: the one itself, a
    /// clone or a loaded one.
    ///
    /// # Errors
    /// When the memory is not of such a river, or cannot be.
    pub fn load_state(
        settings: MeanderingRiver,
        stretch: Stretch,
        place: &Transform,
        memory: &[u8],
        terrain: &Terrain,
    ) -> Result<Self, StateError> {
        let mut memory = StateReader::new(M, memory);
        let layout = Layout::new(&settings, &stretch, place, terrain.grid());
        let layout = layout.map_err(|_| memory.fault("there is no such stretch"))?;
        let cells = layout.cells();
        let source = SourceId(memory.count()?);
        let seen = memory.count()?;
        let cursor = TerrainCursor::restored(terrain, LayerGroup::Ground, seen)
            .ok_or_else(|| memory.fault("it knows ground newer than the terrain's"))?;
        let number = match memory.count()? {
            0 => Some(StreamPatch::new_number()),
            place => terrain.river_at(place as usize - 1),
        };
        let number = number.ok_or_else(|| memory.fault("no such stream is seen"))?;
        let looks = memory.count()?;
        let carried_solids = volume(&mut memory)?;
        let carried_water = volume(&mut memory)?;
        let passes_water_on = memory.flag()?;
        let ground = layout.ground(vec![0.0; cells]);
        let mut ground = ground.map_err(|_| memory.fault("there is no such ground"))?;
        ground.load_state(&mut memory)?;
        let shown = levels_unlike(&mut memory, ground.heights())?;
        let base = levels_unlike(&mut memory, &shown)?;
        let mut river = RiverSolver::new(settings, ground)
            .map_err(|_| memory.fault("there is no such river"))?;
        river.load_state(&mut memory)?;
        let is_there = river.springs.iter().any(|spring| spring.id == source.0);
        memory.ensure(is_there, "its source is none")?;
        let due: f64 = river.springs.iter().map(|spring| spring.due).sum();
        let own = f64::from(river.settings().particle_volume);
        let water = (river.particles() as f64 + due) * own;
        let slack = 1.0 + own + 1e-3 * water.abs();
        let agrees = (carried_water - water).abs() <= slack;
        memory.ensure(agrees, "it carries other water than it has")?;
        memory.finish()?;
        let mut new = Self::on(layout, river, stretch, place, source, number);
        (new.shown, new.base) = (shown, base);
        new.cursor = cursor;
        new.looks = looks;
        (new.carried_solids, new.carried_water) = (carried_solids, carried_water);
        new.passes_water_on = passes_water_on;
        Ok(new)
    }
}

impl GridGround {
    fn save_state(&self, memory: &mut StateWriter) {
        let none = vec![0.0; self.heights.len()];
        put_unlike(memory, &self.heights, &none);
        put_unlike(memory, &self.soft, &none);
        put_unlike(memory, &self.plain, &self.heights);
        memory.flag(self.hardness.is_some());
        if let Some(hardness) = &self.hardness {
            memory.floats(hardness);
        }
        for ((since, moved), changed) in self.waiting.iter().zip(&self.changed) {
            memory.real(*since);
            memory.words([u32::from(*moved) | u32::from(*changed) << 1]);
        }
    }

    fn load_state(&mut self, memory: &mut StateReader) -> Read<()> {
        self.heights = levels_unlike(memory, &vec![0.0; self.heights.len()])?;
        self.soft = levels_unlike(memory, &vec![0.0; self.heights.len()])?;
        let thick = self.soft.iter().all(|soft| *soft >= 0.0);
        memory.ensure(thick, "a deposit is thinner than none")?;
        self.plain = levels_unlike(memory, &self.heights)?;
        self.hardness = match memory.flag()? {
            true => Some(memory.floats(self.heights.len())?),
            false => None,
        };
        let mut hardness = self.hardness.iter().flatten();
        memory.ensure(hardness.all(|own| *own > 0.0), "a hardness is none")?;
        for (waiting, changed) in self.waiting.iter_mut().zip(&mut self.changed) {
            let since = time(memory)?;
            let flags = memory.words(1)?.next().unwrap_or_default();
            memory.ensure(flags <= 3, "a tile is in no state")?;
            (*waiting, *changed) = ((since, flags & 1 != 0), flags & 2 != 0);
        }
        Ok(())
    }
}

impl RiverSolver<GridGround> {
    fn save_state(&self, memory: &mut StateWriter) {
        for count in [
            self.next_id,
            self.next_drop,
            self.entered,
            self.gone,
            self.steps,
            self.looks,
        ] {
            memory.count(count);
        }
        for real in [
            self.time,
            self.since_look,
            self.since_smoothing,
            self.fastest,
            self.left,
            self.fed,
            self.waiting,
        ] {
            memory.real(real);
        }
        self.tally.save_state(memory);
        put_all(memory, &self.springs, Spring::save_state);
        put_all(memory, &self.sinks, |(id, sink), memory| {
            memory.count(*id);
            put_place(memory, sink.position);
            put_place(memory, sink.half_size);
        });
        self.water.save_state(memory);
        self.sediment.save_state(memory);
        self.necks.save_state(memory);
        self.grade.save_state(memory);
    }

    fn load_state(&mut self, memory: &mut StateReader) -> Read<()> {
        self.next_id = memory.count()?;
        self.next_drop = memory.count()?;
        self.entered = memory.count()?;
        self.gone = memory.count()?;
        self.steps = memory.count()?;
        self.looks = memory.count()?;
        self.time = time(memory)?;
        self.since_look = memory.real_in(0.0..=LONGEST_WAIT, "its last look is too long ago")?;
        self.since_smoothing = time(memory)?;
        self.fastest = memory.real_in(0.0..=FASTEST, "water is too fast")?;
        self.left = volume(memory)?;
        self.fed = volume(memory)?;
        self.waiting = memory.real_in(0.0..=MOST, "less than nothing waits")?;
        self.tally = Tally::load_state(memory)?;
        self.springs = all(memory, Spring::load_state)?;
        self.sinks = all(memory, |memory| {
            let id = memory.count()?;
            let sink = RiverSink {
                position: vector(memory)?,
                half_size: vector(memory)?,
            };
            memory.ensure(sink.check().is_ok(), "there is no such sink")?;
            Ok((id, sink))
        })?;
        let known = self.springs.iter().map(|spring| spring.id);
        let mut known = known.chain(self.sinks.iter().map(|sink| sink.0));
        memory.ensure(
            known.all(|id| id <= self.next_id),
            "a number is not given yet",
        )?;
        let reach = Reach::of(self);
        self.water.load_state(memory, &reach, self.next_drop)?;
        self.sediment.load_state(memory, &reach)?;
        self.necks = Necks::load_state(memory, &reach)?;
        self.grade = Grade::load_state(memory, &reach, &self.settings)?;
        Ok(())
    }
}

impl Tally {
    fn save_state(&self, memory: &mut StateWriter) {
        let Self {
            cut,
            outer,
            inner,
            laid,
        } = *self;
        for real in [cut, outer, inner, laid] {
            memory.real(real);
        }
    }

    fn load_state(memory: &mut StateReader) -> Read<Self> {
        Ok(Self {
            cut: volume(memory)?,
            outer: volume(memory)?,
            inner: volume(memory)?,
            laid: volume(memory)?,
        })
    }
}

impl Spring {
    fn save_state(&self, memory: &mut StateWriter) {
        memory.count(self.id);
        memory.count(self.emitted);
        memory.real(self.due);
        put_place(memory, self.source.position);
        put_place(memory, self.source.spread);
        put_place(memory, self.source.velocity);
        memory.real(self.source.rate);
    }

    fn load_state(memory: &mut StateReader) -> Read<Self> {
        let (id, emitted) = (memory.count()?, memory.count()?);
        let due = memory.real_in(-MOST_DUE..=MOST_DUE, "a source owes too much")?;
        let source = RiverSource {
            position: vector(memory)?,
            spread: vector(memory)?,
            velocity: vector(memory)?,
            rate: memory.real()?,
        };
        memory.ensure(source.check().is_ok(), "there is no such source")?;
        Ok(Self {
            id,
            source,
            due,
            emitted,
        })
    }
}

impl Water {
    fn save_state(&self, memory: &mut StateWriter) {
        put_all(memory, &self.particles, |own, memory| {
            put_place(memory, own.position);
            put_place(memory, own.velocity);
            put_place(memory, own.mean_velocity);
            memory.real(own.curve);
            memory.real(own.density);
            memory.count(own.id);
        });
    }

    fn load_state(&mut self, memory: &mut StateReader, reach: &Reach, drops: u64) -> Read<()> {
        self.particles = all(memory, |memory| {
            let own = WaterParticle {
                position: reach.place(memory)?,
                velocity: velocity(memory)?,
                mean_velocity: velocity(memory)?,
                curve: memory.real_in(-LARGEST_SUM..=LARGEST_SUM, "a bend is none")?,
                density: memory.real_in(0.0..=LARGEST_SUM, "a density is none")?,
                id: memory.count()?,
            };
            memory.ensure(own.id < drops, "a drop is not born yet")?;
            Ok(own)
        })?;
        Ok(())
    }
}

impl Sediment {
    fn save_state(&self, memory: &mut StateWriter) {
        memory.count(self.next_id);
        put_all(memory, &self.particles, |own, memory| {
            put_place(memory, own.position);
            put_place(memory, own.velocity);
            for real in [own.volume, own.age, own.amount, own.off_center] {
                memory.real(real);
            }
            memory.count(own.id);
        });
    }

    fn load_state(&mut self, memory: &mut StateReader, reach: &Reach) -> Read<()> {
        self.next_id = memory.count()?;
        self.particles = all(memory, |memory| {
            let own = SedimentParticle {
                position: reach.place(memory)?,
                velocity: velocity(memory)?,
                volume: memory.real_in(MOST_LOAD, "sediment is too much")?,
                age: time(memory)?,
                amount: memory.real_in(0.0..=LARGEST_SUM, "less than no water")?,
                off_center: memory.real_in(0.0..=LARGEST_SUM, "a distance is none")?,
                id: memory.count()?,
            };
            memory.ensure(own.id < self.next_id, "sediment is not taken up yet")?;
            Ok(own)
        })?;
        Ok(())
    }
}

impl Necks {
    fn save_state(&self, memory: &mut StateWriter) {
        memory.real(self.since_look);
        put_all(memory, &self.cutoffs, Cutoff::save_state);
        put_all(memory, &self.lakes, OxbowLake::save_state);
        put_all(memory, &self.plugs, |mouths, memory| {
            for plug in mouths {
                plug.save_state(memory);
            }
        });
        put_all(memory, &self.courses, |course, memory| {
            put_line(memory, course)
        });
    }

    fn load_state(memory: &mut StateReader, reach: &Reach) -> Read<Self> {
        Ok(Self {
            since_look: time(memory)?,
            cutoffs: all(memory, |memory| Cutoff::load_state(memory, reach))?,
            lakes: all(memory, |memory| OxbowLake::load_state(memory, reach))?,
            plugs: all(memory, |memory| {
                Ok([
                    Plug::load_state(memory, reach)?,
                    Plug::load_state(memory, reach)?,
                ])
            })?,
            courses: all(memory, |memory| reach.course(memory))?,
        })
    }
}

impl Cutoff {
    fn save_state(&self, memory: &mut StateWriter) {
        memory.real(self.time);
        memory.count(self.step);
        put_place(memory, self.place);
        for real in [self.neck, self.length_before, self.length_after, self.cut] {
            memory.real(real);
        }
        memory.count(self.lake);
    }

    fn load_state(memory: &mut StateReader, reach: &Reach) -> Read<Self> {
        Ok(Self {
            time: time(memory)?,
            step: memory.count()?,
            place: reach.place(memory)?,
            neck: memory.real()?,
            length_before: memory.real()?,
            length_after: memory.real()?,
            cut: memory.real()?,
            lake: memory.count()?,
        })
    }
}

impl OxbowLake {
    fn save_state(&self, memory: &mut StateWriter) {
        memory.count(self.id);
        put_line(memory, &self.line);
        for real in [self.reach, self.level, self.brim] {
            memory.real(real);
        }
        memory.count(self.particles);
        memory.flag(self.outlet.is_some());
        if let Some(outlet) = self.outlet {
            put_place(memory, outlet);
        }
        memory.flag(self.opened);
    }

    fn load_state(memory: &mut StateReader, reach: &Reach) -> Read<Self> {
        let lake = Self {
            id: memory.count()?,
            line: reach.line(memory)?,
            reach: memory.real_in(0.0..=HIGHEST, "a lake reaches too far")?,
            level: level(memory)?,
            brim: level(memory)?,
            particles: memory.count()?,
            outlet: match memory.flag()? {
                true => Some(reach.place(memory)?),
                false => None,
            },
            opened: memory.flag()?,
        };
        memory.ensure(!lake.line.is_empty(), "a lake lies nowhere")?;
        // One with an outlet gives up a particle at a time.
        let has_any = lake.particles > 0 || lake.outlet.is_none();
        let fits = has_any && lake.particles <= LARGEST_LAKE;
        memory.ensure(fits, "a lake's water is wrong")?;
        Ok(lake)
    }
}

impl Plug {
    fn save_state(&self, memory: &mut StateWriter) {
        put_place(memory, self.at);
        put_place(memory, self.along);
        put_line(memory, &self.river);
    }

    fn load_state(memory: &mut StateReader, reach: &Reach) -> Read<Self> {
        let plug = Self {
            at: reach.place(memory)?,
            along: vector(memory)?,
            river: reach.line(memory)?,
        };
        memory.ensure(plug.along.is_normalized(), "a direction is none")?;
        Ok(plug)
    }
}

impl Grade {
    fn save_state(&self, memory: &mut StateWriter) {
        put_line(memory, &self.places);
        if self.places.is_empty() {
            return;
        }
        memory.real(self.end);
        for (level, last) in self.levels.iter().zip(&self.last) {
            memory.real(*level);
            memory.flag(*last);
        }
    }

    fn load_state(
        memory: &mut StateReader,
        reach: &Reach,
        settings: &MeanderingRiver,
    ) -> Read<Self> {
        let places = reach.line(memory)?;
        if places.is_empty() {
            return Ok(Self::default());
        }
        let mut grade = Self::default();
        grade.end = level(memory)?;
        for _ in &places {
            grade.levels.push(level(memory)?);
            grade.last.push(memory.flag()?);
        }
        // Who is not the last asks for the next.
        memory.ensure(grade.last.ends_with(&[true]), "a course has no end")?;
        grade.places = places;
        Ok(grade.ready(settings))
    }
}

/// Where something of a river may be.
struct Reach {
    /// Smallest and largest coordinates. units: m
    bounds: (DVec2, DVec2),
    radius: f64,
}

impl Reach {
    fn of(river: &RiverSolver<GridGround>) -> Self {
        let (min, max) = river.ground.bounds();
        let radius = river.kernels.radius;
        Self {
            bounds: (min - radius, max + radius),
            radius,
        }
    }

    fn place(&self, memory: &mut StateReader) -> Read<DVec2> {
        let place = vector(memory)?;
        let (min, max) = self.bounds;
        let there = place.cmpge(min).all() && place.cmple(max).all();
        memory.ensure(there, "a place is beyond the river's land")?;
        Ok(place)
    }

    fn line(&self, memory: &mut StateReader) -> Read<Vec<DVec2>> {
        all(memory, |memory| self.place(memory))
    }

    /// A line that can be followed: each place is near the one before.
    fn course(&self, memory: &mut StateReader) -> Read<Vec<DVec2>> {
        let course = self.line(memory)?;
        let mut steps = course.windows(2).map(|pair| pair[0].distance(pair[1]));
        // They are half a radius apart; courses with gaps would take any room.
        memory.ensure(steps.all(|step| step <= self.radius), "a course has gaps")?;
        Ok(course)
    }
}

fn put_place(memory: &mut StateWriter, place: DVec2) {
    memory.real(place.x);
    memory.real(place.y);
}

fn put_line(memory: &mut StateWriter, line: &[DVec2]) {
    put_all(memory, line, |place, memory| put_place(memory, *place));
}

fn put_all<T>(memory: &mut StateWriter, items: &[T], put: impl Fn(&T, &mut StateWriter)) {
    memory.count(items.len() as u64);
    for item in items {
        put(item, memory);
    }
}

/// As many as there are said to be. Room is made only for what is read.
fn all<T>(
    memory: &mut StateReader,
    mut read: impl FnMut(&mut StateReader) -> Read<T>,
) -> Read<Vec<T>> {
    let count = memory.count()?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(read(memory)?);
    }
    Ok(items)
}

/// Bits by which values differ from others.
fn put_unlike(memory: &mut StateWriter, values: &[f64], others: &[f64]) {
    memory.words(values.iter().zip(others).flat_map(|(value, other)| {
        let bits = value.to_bits() ^ other.to_bits();
        [bits as u32, (bits >> 32) as u32]
    }));
}

/// Levels that differ from others by these bits. units: m
fn levels_unlike(memory: &mut StateReader, others: &[f64]) -> Read<Vec<f64>> {
    let mut words = memory.words(2 * others.len())?;
    let mut word = || u64::from(words.next().unwrap_or_default());
    let levels: Vec<f64> = others
        .iter()
        .map(|other| f64::from_bits((word() | word() << 32) ^ other.to_bits()))
        .collect();
    // NaN fails the comparison, so it is found too.
    let fits = levels.iter().all(|own| (-HIGHEST..=HIGHEST).contains(own));
    memory.ensure(fits, "a level is none")?;
    Ok(levels)
}

fn vector(memory: &mut StateReader) -> Read<DVec2> {
    Ok(DVec2::new(memory.real()?, memory.real()?))
}

fn velocity(memory: &mut StateReader) -> Read<DVec2> {
    let velocity = vector(memory)?;
    memory.ensure(velocity.length() <= FASTEST, "water is too fast")?;
    Ok(velocity)
}

fn level(memory: &mut StateReader) -> Read<f64> {
    memory.real_in(-HIGHEST..=HIGHEST, "a level is none")
}

fn volume(memory: &mut StateReader) -> Read<f64> {
    memory.real_in(-MOST..=MOST, "a volume is too large")
}

fn time(memory: &mut StateReader) -> Read<f64> {
    memory.real_in(0.0..=MOST, "a time is none")
}
