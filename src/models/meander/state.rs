//! Saves and loads a river's state: all that its next step depends on besides
//! settings, stretch, place and terrain.
//!
//! Particles are saved in their order. What can be computed again is not saved: the
//! neighbor cells, the outline, where water is taken in. Levels of the ground are
//! saved as differences of bits: most of them are equal and compress well.

use super::{
    Cutoff, Ground, MeanderingRiver, OxbowLake, RiverSink, RiverSolver, RiverSource, RiverStretch,
    SedimentParticle, SourceId, Tally, TerrainRiver, WaterParticle, cutoff::Necks, grade::Grade,
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
/// Highest level of the ground, and lowest below zero. units: m
const MAX_LEVEL: f64 = 1e10;
/// Fastest water: a step is split by its speed. units: m/s
const MAX_SPEED: f64 = 1e5;
/// Largest volume that a river has moved, and longest time that it has run.
/// units: m³, s
const MAX_TOTAL: f64 = 1e18;
/// Longest time between two looks at the ground that settings allow. units: s
const MAX_WAIT: f64 = 1e4;
/// Most particles that a source has yet to release. units: particles
const MAX_DUE: f64 = 1e4;
/// Volume of a sediment particle: at most the largest capacity. Rounding may leave
/// it slightly negative. units: m³
const LOAD_RANGE: RangeInclusive<f64> = -1.0..=2e9;
/// Most water in a lake. units: particles
const MAX_LAKE_PARTICLES: u64 = 1 << 32;
/// Largest sum over neighbors.
const MAX_SUM: f64 = 1e30;

type Read<T> = Result<T, StateError>;

impl TerrainRiver {
    /// Saves what its next step depends on besides its settings, stretch and place
    /// and the terrain that it runs on. A river that [`load_state`](Self::load_state)s
    /// it goes on with the same bits. Empty for a terrain of another size, cell size
    /// or position.
    pub fn save_state(&self, terrain: &Terrain) -> Vec<u8> {
        self.save_state_for(terrain, terrain)
    }

    /// The same, to be loaded on a copy of the terrain in which other rivers may no
    /// longer be visible.
    pub(crate) fn save_state_for(&self, terrain: &Terrain, copy: &Terrain) -> Vec<u8> {
        let mut writer = StateWriter::default();
        if *terrain.grid() != self.grid {
            return writer.finish();
        }
        writer.write_count(self.source.0);
        let knows = self.cursor.is_at(terrain);
        let seen = self.cursor.revision(LayerGroup::Ground);
        writer.write_count(if knows { seen } else { 0 });
        // The terrain has the stream as it is seen.
        let stream = copy.stream_place(self.number);
        writer.write_count(stream.map_or(0, |place| place as u64 + 1));
        writer.write_count(self.looks);
        writer.write_real(self.carried_solids);
        writer.write_real(self.carried_water);
        writer.write_flag(self.passes_water_on);
        self.river.ground.save_state(&mut writer);
        put_differences(&mut writer, &self.shown, self.river.ground.heights());
        put_differences(&mut writer, &self.base, &self.shown);
        self.river.save_state(&mut writer);
        writer.finish()
    }

    /// The river whose state was [saved](Self::save_state), with the settings, stretch
    /// and place that it had, on the same terrain: the one itself, a clone or a loaded
    /// one.
    ///
    /// # Errors
    /// When the bytes are not the state of such a river.
    pub fn load_state(
        settings: MeanderingRiver,
        stretch: RiverStretch,
        place: &Transform,
        bytes: &[u8],
        terrain: &Terrain,
    ) -> Result<Self, StateError> {
        let mut reader = StateReader::new(M, bytes);
        let layout = Layout::new(&settings, &stretch, place, terrain.grid());
        let layout = layout.map_err(|error| reader.error(format!("invalid stretch: {error}")))?;
        let cells = layout.cells();
        let source = SourceId(reader.read_count()?);
        let seen = reader.read_count()?;
        let cursor = TerrainCursor::restored(terrain, LayerGroup::Ground, seen);
        let cursor = cursor.ok_or_else(|| {
            let newest = TerrainCursor::at(terrain).revision(LayerGroup::Ground);
            reader.error(format!(
                "the river has seen revision {seen} of the ground, but the terrain is at {newest}"
            ))
        })?;
        let number = match reader.read_count()? {
            0 => Some(StreamPatch::new_number()),
            place => terrain.river_at(place as usize - 1),
        };
        let number = number
            .ok_or_else(|| reader.error("the terrain does not have the stream of this river"))?;
        let looks = reader.read_count()?;
        let carried_solids = volume(&mut reader)?;
        let carried_water = volume(&mut reader)?;
        let passes_water_on = reader.read_flag()?;
        let ground = layout.ground(vec![0.0; cells]);
        let mut ground =
            ground.map_err(|error| reader.error(format!("invalid ground: {error}")))?;
        ground.load_state(&mut reader)?;
        let shown = levels_from_differences(&mut reader, ground.heights())?;
        let base = levels_from_differences(&mut reader, &shown)?;
        let mut river = RiverSolver::new(settings, ground)
            .map_err(|error| reader.error(format!("invalid river: {error}")))?;
        river.load_state(&mut reader)?;
        let is_there = river.springs.iter().any(|spring| spring.id == source.0);
        reader.ensure(
            is_there,
            format!("source {} is not among the river's sources", source.0),
        )?;
        let due: f64 = river.springs.iter().map(|spring| spring.due).sum();
        let own = f64::from(river.settings().particle_volume);
        let water = (river.particles() as f64 + due) * own;
        let slack = 1.0 + own + 1e-3 * water.abs();
        let agrees = (carried_water - water).abs() <= slack;
        reader.ensure(
            agrees,
            format!(
                "the water that it carries must be {water:?} m³, as its particles hold, was \
                 {carried_water:?} m³"
            ),
        )?;
        reader.finish()?;
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
    fn save_state(&self, writer: &mut StateWriter) {
        let none = vec![0.0; self.heights.len()];
        put_differences(writer, &self.heights, &none);
        put_differences(writer, &self.soft, &none);
        put_differences(writer, &self.plain, &self.heights);
        writer.write_flag(self.hardness.is_some());
        if let Some(hardness) = &self.hardness {
            writer.write_floats(hardness);
        }
        for ((since, moved), changed) in self.waiting.iter().zip(&self.changed) {
            writer.write_real(*since);
            writer.write_words([u32::from(*moved) | u32::from(*changed) << 1]);
        }
    }

    fn load_state(&mut self, reader: &mut StateReader) -> Read<()> {
        self.heights = levels_from_differences(reader, &vec![0.0; self.heights.len()])?;
        self.soft = levels_from_differences(reader, &vec![0.0; self.heights.len()])?;
        let thick = self.soft.iter().all(|soft| *soft >= 0.0);
        reader.ensure(thick, "the thickness of a deposit is negative")?;
        self.plain = levels_from_differences(reader, &self.heights)?;
        self.hardness = match reader.read_flag()? {
            true => Some(reader.read_floats(self.heights.len())?),
            false => None,
        };
        let mut hardness = self.hardness.iter().flatten();
        reader.ensure(
            hardness.all(|own| *own > 0.0),
            "a hardness is not above zero",
        )?;
        for (waiting, changed) in self.waiting.iter_mut().zip(&mut self.changed) {
            let since = time(reader)?;
            let flags = reader.read_words(1)?.next().unwrap_or_default();
            reader.ensure(
                flags <= 3,
                format!("the flags of a tile must be 0 to 3, were {flags}"),
            )?;
            (*waiting, *changed) = ((since, flags & 1 != 0), flags & 2 != 0);
        }
        Ok(())
    }
}

impl RiverSolver<GridGround> {
    fn save_state(&self, writer: &mut StateWriter) {
        for count in [
            self.next_id,
            self.next_drop,
            self.entered,
            self.gone,
            self.steps,
            self.looks,
        ] {
            writer.write_count(count);
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
            writer.write_real(real);
        }
        self.tally.save_state(writer);
        put_all(writer, &self.springs, Spring::save_state);
        put_all(writer, &self.sinks, |(id, sink), writer| {
            writer.write_count(*id);
            put_place(writer, sink.position);
            put_place(writer, sink.half_size);
        });
        self.water.save_state(writer);
        self.sediment.save_state(writer);
        self.necks.save_state(writer);
        self.grade.save_state(writer);
    }

    fn load_state(&mut self, reader: &mut StateReader) -> Read<()> {
        self.next_id = reader.read_count()?;
        self.next_drop = reader.read_count()?;
        self.entered = reader.read_count()?;
        self.gone = reader.read_count()?;
        self.steps = reader.read_count()?;
        self.looks = reader.read_count()?;
        self.time = time(reader)?;
        self.since_look = reader.read_real_in(
            0.0..=MAX_WAIT,
            "the time since the last look at the ground, in seconds,",
        )?;
        self.since_smoothing = time(reader)?;
        self.fastest = reader.read_real_in(0.0..=MAX_SPEED, "the fastest water, in m/s,")?;
        self.left = volume(reader)?;
        self.fed = volume(reader)?;
        self.waiting = reader.read_real_in(0.0..=MAX_TOTAL, "the sediment that waits, in m³,")?;
        self.tally = Tally::load_state(reader)?;
        self.springs = all(reader, Spring::load_state)?;
        self.sinks = all(reader, |reader| {
            let id = reader.read_count()?;
            let sink = RiverSink {
                position: vector(reader)?,
                half_size: vector(reader)?,
            };
            if let Err(error) = sink.check() {
                return Err(reader.error(format!("invalid sink: {error}")));
            };
            Ok((id, sink))
        })?;
        let known = self.springs.iter().map(|spring| spring.id);
        let mut known = known.chain(self.sinks.iter().map(|sink| sink.0));
        reader.ensure(
            known.all(|id| id <= self.next_id),
            "a source or sink has an id that was not given out yet",
        )?;
        let bounds = Bounds::of(self);
        self.water.load_state(reader, &bounds, self.next_drop)?;
        self.sediment.load_state(reader, &bounds)?;
        self.necks = Necks::load_state(reader, &bounds)?;
        self.grade = Grade::load_state(reader, &bounds, &self.settings)?;
        Ok(())
    }
}

impl Tally {
    fn save_state(&self, writer: &mut StateWriter) {
        let Self {
            cut,
            outer,
            inner,
            laid,
        } = *self;
        for real in [cut, outer, inner, laid] {
            writer.write_real(real);
        }
    }

    fn load_state(reader: &mut StateReader) -> Read<Self> {
        Ok(Self {
            cut: volume(reader)?,
            outer: volume(reader)?,
            inner: volume(reader)?,
            laid: volume(reader)?,
        })
    }
}

impl Spring {
    fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.id);
        writer.write_count(self.emitted);
        writer.write_real(self.due);
        put_place(writer, self.source.position);
        put_place(writer, self.source.spread);
        put_place(writer, self.source.velocity);
        writer.write_real(self.source.rate);
    }

    fn load_state(reader: &mut StateReader) -> Read<Self> {
        let (id, emitted) = (reader.read_count()?, reader.read_count()?);
        let due = reader.read_real_in(
            -MAX_DUE..=MAX_DUE,
            "the particles that a source has yet to release",
        )?;
        let source = RiverSource {
            position: vector(reader)?,
            spread: vector(reader)?,
            velocity: vector(reader)?,
            rate: reader.read_real()?,
        };
        if let Err(error) = source.check() {
            return Err(reader.error(format!("invalid source: {error}")));
        };
        Ok(Self {
            id,
            source,
            due,
            emitted,
        })
    }
}

impl Water {
    fn save_state(&self, writer: &mut StateWriter) {
        put_all(writer, &self.particles, |own, writer| {
            put_place(writer, own.position);
            put_place(writer, own.velocity);
            put_place(writer, own.mean_velocity);
            writer.write_real(own.curve);
            writer.write_real(own.density);
            writer.write_count(own.id);
        });
    }

    fn load_state(&mut self, reader: &mut StateReader, bounds: &Bounds, drops: u64) -> Read<()> {
        self.particles = all(reader, |reader| {
            let own = WaterParticle {
                position: bounds.place(reader)?,
                velocity: velocity(reader)?,
                mean_velocity: velocity(reader)?,
                curve: reader.read_real_in(-MAX_SUM..=MAX_SUM, "the curvature at a particle")?,
                density: reader.read_real_in(0.0..=MAX_SUM, "the density at a particle")?,
                id: reader.read_count()?,
            };
            reader.ensure(
                own.id < drops,
                "a water particle has an id that was not given out yet",
            )?;
            Ok(own)
        })?;
        Ok(())
    }
}

impl Sediment {
    fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.next_id);
        put_all(writer, &self.particles, |own, writer| {
            put_place(writer, own.position);
            put_place(writer, own.velocity);
            for real in [own.volume, own.age, own.amount, own.off_center] {
                writer.write_real(real);
            }
            writer.write_count(own.id);
        });
    }

    fn load_state(&mut self, reader: &mut StateReader, bounds: &Bounds) -> Read<()> {
        self.next_id = reader.read_count()?;
        self.particles = all(reader, |reader| {
            let own = SedimentParticle {
                position: bounds.place(reader)?,
                velocity: velocity(reader)?,
                volume: reader
                    .read_real_in(LOAD_RANGE, "the volume of a sediment particle, in m³,")?,
                age: time(reader)?,
                amount: reader
                    .read_real_in(0.0..=MAX_SUM, "the water around a sediment particle")?,
                off_center: reader.read_real_in(
                    0.0..=MAX_SUM,
                    "the distance of sediment from the center line",
                )?,
                id: reader.read_count()?,
            };
            reader.ensure(
                own.id < self.next_id,
                "a sediment particle has an id that was not given out yet",
            )?;
            Ok(own)
        })?;
        Ok(())
    }
}

impl Necks {
    fn save_state(&self, writer: &mut StateWriter) {
        writer.write_real(self.since_look);
        put_all(writer, &self.cutoffs, Cutoff::save_state);
        put_all(writer, &self.lakes, OxbowLake::save_state);
        put_all(writer, &self.plugs, |mouths, writer| {
            for plug in mouths {
                plug.save_state(writer);
            }
        });
        put_all(writer, &self.courses, |course, writer| {
            put_line(writer, course)
        });
    }

    fn load_state(reader: &mut StateReader, bounds: &Bounds) -> Read<Self> {
        Ok(Self {
            since_look: time(reader)?,
            cutoffs: all(reader, |reader| Cutoff::load_state(reader, bounds))?,
            lakes: all(reader, |reader| OxbowLake::load_state(reader, bounds))?,
            plugs: all(reader, |reader| {
                Ok([
                    Plug::load_state(reader, bounds)?,
                    Plug::load_state(reader, bounds)?,
                ])
            })?,
            courses: all(reader, |reader| bounds.course(reader))?,
        })
    }
}

impl Cutoff {
    fn save_state(&self, writer: &mut StateWriter) {
        writer.write_real(self.time);
        writer.write_count(self.step);
        put_place(writer, self.place);
        for real in [self.neck, self.length_before, self.length_after, self.cut] {
            writer.write_real(real);
        }
        writer.write_count(self.lake);
    }

    fn load_state(reader: &mut StateReader, bounds: &Bounds) -> Read<Self> {
        Ok(Self {
            time: time(reader)?,
            step: reader.read_count()?,
            place: bounds.place(reader)?,
            neck: reader.read_real()?,
            length_before: reader.read_real()?,
            length_after: reader.read_real()?,
            cut: reader.read_real()?,
            lake: reader.read_count()?,
        })
    }
}

impl OxbowLake {
    fn save_state(&self, writer: &mut StateWriter) {
        writer.write_count(self.id);
        put_line(writer, &self.line);
        for real in [self.reach, self.level, self.brim] {
            writer.write_real(real);
        }
        writer.write_count(self.particles);
        writer.write_flag(self.outlet.is_some());
        if let Some(outlet) = self.outlet {
            put_place(writer, outlet);
        }
        writer.write_flag(self.opened);
    }

    fn load_state(reader: &mut StateReader, bounds: &Bounds) -> Read<Self> {
        let lake = Self {
            id: reader.read_count()?,
            line: bounds.line(reader)?,
            reach: reader.read_real_in(0.0..=MAX_LEVEL, "the reach of a lake, in metres,")?,
            level: level(reader)?,
            brim: level(reader)?,
            particles: reader.read_count()?,
            outlet: match reader.read_flag()? {
                true => Some(bounds.place(reader)?),
                false => None,
            },
            opened: reader.read_flag()?,
        };
        reader.ensure(!lake.line.is_empty(), "the line of an oxbow lake is empty")?;
        // One with an outlet gives up a particle at a time.
        let has_any = lake.particles > 0 || lake.outlet.is_none();
        let fits = has_any && lake.particles <= MAX_LAKE_PARTICLES;
        reader.ensure(
            fits,
            format!(
                "the water of an oxbow lake must be 0 to {MAX_LAKE_PARTICLES} particles, and not 0 \
                 with an outlet, was {}",
                lake.particles
            ),
        )?;
        Ok(lake)
    }
}

impl Plug {
    fn save_state(&self, writer: &mut StateWriter) {
        put_place(writer, self.at);
        put_place(writer, self.along);
        put_line(writer, &self.river);
    }

    fn load_state(reader: &mut StateReader, bounds: &Bounds) -> Read<Self> {
        let plug = Self {
            at: bounds.place(reader)?,
            along: vector(reader)?,
            river: bounds.line(reader)?,
        };
        reader.ensure(
            plug.along.is_normalized(),
            "the direction of a plug is not a unit vector",
        )?;
        Ok(plug)
    }
}

impl Grade {
    fn save_state(&self, writer: &mut StateWriter) {
        put_line(writer, &self.places);
        if self.places.is_empty() {
            return;
        }
        writer.write_real(self.end);
        for (level, last) in self.levels.iter().zip(&self.last) {
            writer.write_real(*level);
            writer.write_flag(*last);
        }
    }

    fn load_state(
        reader: &mut StateReader,
        bounds: &Bounds,
        settings: &MeanderingRiver,
    ) -> Read<Self> {
        let places = bounds.line(reader)?;
        if places.is_empty() {
            return Ok(Self::default());
        }
        let mut grade = Self::default();
        grade.end = level(reader)?;
        for _ in &places {
            grade.levels.push(level(reader)?);
            grade.last.push(reader.read_flag()?);
        }
        // A place that is not the last of its course asks for the next.
        reader.ensure(grade.last.ends_with(&[true]), "the last course has no end")?;
        grade.places = places;
        Ok(grade.ready(settings))
    }
}

/// The region in which the parts of a river lie.
struct Bounds {
    /// Smallest and largest coordinates. units: m
    corners: (DVec2, DVec2),
    radius: f64,
}

impl Bounds {
    fn of(river: &RiverSolver<GridGround>) -> Self {
        let (min, max) = river.ground.bounds();
        let radius = river.kernels.radius;
        Self {
            corners: (min - radius, max + radius),
            radius,
        }
    }

    fn place(&self, reader: &mut StateReader) -> Read<DVec2> {
        let place = vector(reader)?;
        let (min, max) = self.corners;
        let there = place.cmpge(min).all() && place.cmple(max).all();
        reader.ensure(there, "a position lies outside the river's stretch")?;
        Ok(place)
    }

    fn line(&self, reader: &mut StateReader) -> Read<Vec<DVec2>> {
        all(reader, |reader| self.place(reader))
    }

    /// A line that can be followed: each place is near the one before.
    fn course(&self, reader: &mut StateReader) -> Read<Vec<DVec2>> {
        let course = self.line(reader)?;
        let mut steps = course.windows(2).map(|pair| pair[0].distance(pair[1]));
        // They are half a radius apart; courses with gaps would take any room.
        reader.ensure(
            steps.all(|step| step <= self.radius),
            "a course has gaps of more than the radius",
        )?;
        Ok(course)
    }
}

fn put_place(writer: &mut StateWriter, place: DVec2) {
    writer.write_real(place.x);
    writer.write_real(place.y);
}

fn put_line(writer: &mut StateWriter, line: &[DVec2]) {
    put_all(writer, line, |place, writer| put_place(writer, *place));
}

fn put_all<T>(writer: &mut StateWriter, items: &[T], put: impl Fn(&T, &mut StateWriter)) {
    writer.write_count(items.len() as u64);
    for item in items {
        put(item, writer);
    }
}

/// Reads a count and as many items. Memory is taken only for what is really read.
fn all<T>(
    reader: &mut StateReader,
    mut read: impl FnMut(&mut StateReader) -> Read<T>,
) -> Read<Vec<T>> {
    let count = reader.read_count()?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(read(reader)?);
    }
    Ok(items)
}

/// Writes the bits by which values differ from others.
fn put_differences(writer: &mut StateWriter, values: &[f64], others: &[f64]) {
    writer.write_words(values.iter().zip(others).flat_map(|(value, other)| {
        let bits = value.to_bits() ^ other.to_bits();
        [bits as u32, (bits >> 32) as u32]
    }));
}

/// Reads levels that differ from others by these bits. units: m
fn levels_from_differences(reader: &mut StateReader, others: &[f64]) -> Read<Vec<f64>> {
    let mut words = reader.read_words(2 * others.len())?;
    let mut word = || u64::from(words.next().unwrap_or_default());
    let levels: Vec<f64> = others
        .iter()
        .map(|other| f64::from_bits((word() | word() << 32) ^ other.to_bits()))
        .collect();
    // NaN fails the comparison, so it is found too.
    let fits = levels
        .iter()
        .all(|own| (-MAX_LEVEL..=MAX_LEVEL).contains(own));
    reader.ensure(
        fits,
        "a level of the ground is not a number or out of range",
    )?;
    Ok(levels)
}

fn vector(reader: &mut StateReader) -> Read<DVec2> {
    Ok(DVec2::new(reader.read_real()?, reader.read_real()?))
}

fn velocity(reader: &mut StateReader) -> Read<DVec2> {
    let velocity = vector(reader)?;
    reader.ensure(
        velocity.length() <= MAX_SPEED,
        format!(
            "a speed must be at most {MAX_SPEED:?} m/s, was {:?} m/s",
            velocity.length()
        ),
    )?;
    Ok(velocity)
}

fn level(reader: &mut StateReader) -> Read<f64> {
    reader.read_real_in(-MAX_LEVEL..=MAX_LEVEL, "a level, in metres,")
}

fn volume(reader: &mut StateReader) -> Read<f64> {
    reader.read_real_in(-MAX_TOTAL..=MAX_TOTAL, "a volume, in m³,")
}

fn time(reader: &mut StateReader) -> Read<f64> {
    reader.read_real_in(0.0..=MAX_TOTAL, "a time, in seconds,")
}
