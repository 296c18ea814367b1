//! Weather and springs of a scene.

use super::{
    error::{Fault, settings},
    open::SceneEntity,
    springs::{Spring, capture_springs, restore_springs},
};
use crate::{
    bake::BakeModel,
    forcing::{Evaporation, LavaSource, Rain, WaterSink, WaterSource},
    terrain::Terrain,
};
use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// What acts on the ground of a scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneForcing {
    /// Rain, if any falls.
    pub rain: Option<Rain>,
    /// Evaporation, if any.
    pub evaporation: Option<Evaporation>,
    /// Springs: where water comes up.
    pub sources: Vec<ScenePoint>,
    /// Where water is taken away.
    pub sinks: Vec<ScenePoint>,
    /// Vents: where lava comes up.
    pub lava_sources: Vec<ScenePoint>,
}

/// A spring or a vent, or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenePoint {
    /// World x and z, from the land's center. units: m
    pub at: (f32, f32),
    /// Water or lava in a second. units: m³/s
    pub discharge: f32,
    /// Radius over which it is spread. units: m
    pub radius: f32,
    /// Sediment that comes with a source's water, as a share of its volume.
    pub sediment: f32,
}

impl Default for ScenePoint {
    fn default() -> Self {
        Self {
            at: (0.0, 0.0),
            discharge: 1.0,
            radius: 5.0,
            sediment: 0.0,
        }
    }
}

impl ScenePoint {
    fn source(&self) -> WaterSource {
        WaterSource {
            discharge: self.discharge,
            radius: self.radius,
            sediment: self.sediment,
        }
    }

    fn sink(&self) -> WaterSink {
        WaterSink::cubic_metres_per_second(self.discharge).with_radius(self.radius)
    }

    fn vent(&self) -> LavaSource {
        LavaSource::cubic_metres_per_second(self.discharge).with_radius(self.radius)
    }

    /// A place on the land.
    fn transform(&self, terrain: &Terrain) -> Transform {
        let place = Vec3::new(self.at.0, 0.0, self.at.1);
        let height = terrain.height_at(place).unwrap_or(0.0);
        Transform::from_translation(place.with_y(height))
    }

    fn check_place(&self, path: &str, extent: Vec2) -> Result<(), Fault> {
        let place = Vec2::from(self.at);
        if place.abs().cmple(extent / 2.0).all() {
            return Ok(());
        }
        let (x, z) = self.at;
        let reason = format!(
            "({x}, {z}) lies outside the land of {} m × {} m around (0, 0)",
            extent.x, extent.y
        );
        Err(Fault::new(format!("{path}.at"), reason))
    }
}

impl SceneForcing {
    /// `extent` is the land's width and depth in metres.
    pub(super) fn check(&self, extent: Vec2) -> Result<(), Fault> {
        if let Some(rain) = &self.rain {
            settings("forcing.rain", rain.check())?;
        }
        if let Some(evaporation) = &self.evaporation {
            settings("forcing.evaporation", evaporation.check())?;
        }
        for (index, point) in self.sources.iter().enumerate() {
            let path = format!("forcing.sources[{index}]");
            point.check_place(&path, extent)?;
            settings(&path, point.source().check())?;
        }
        for (index, point) in self.sinks.iter().enumerate() {
            let path = format!("forcing.sinks[{index}]");
            point.check_place(&path, extent)?;
            settings(&path, point.sink().check())?;
            if point.sediment != 0.0 {
                let reason = "a sink takes what sediment there is";
                return Err(Fault::new(format!("{path}.sediment"), reason));
            }
        }
        for (index, point) in self.lava_sources.iter().enumerate() {
            let path = format!("forcing.lava_sources[{index}]");
            point.check_place(&path, extent)?;
            settings(&path, point.vent().check())?;
        }
        Ok(())
    }

    /// Sources, then sinks, then vents, on the scene's terrain, as the first models of a
    /// bake: so they act in an app, too.
    pub fn bake_springs(&self, terrain: &Terrain) -> Vec<BakeModel> {
        let place = |point: &ScenePoint| point.transform(terrain).translation;
        let sources = self
            .sources
            .iter()
            .map(|point| (point.source(), place(point)));
        let mut sources: Vec<_> = sources.collect();
        sources.sort_by_key(|(source, at)| source.order(*at));
        let sinks = self.sinks.iter().map(|point| (point.sink(), place(point)));
        let mut sinks: Vec<_> = sinks.collect();
        sinks.sort_by_key(|(sink, at)| sink.order(*at));
        let sources = sources
            .into_iter()
            .map(|(source, at)| BakeModel::source(source, at));
        let sinks = sinks
            .into_iter()
            .map(|(sink, at)| BakeModel::sink(sink, at));
        let vents = self.lava_sources.iter();
        let mut vents: Vec<_> = vents.map(|point| (point.vent(), place(point))).collect();
        vents.sort_by_key(|(vent, at)| vent.order(*at));
        let vents = vents
            .into_iter()
            .map(|(vent, at)| BakeModel::vent(vent, at));
        sources.chain(sinks).chain(vents).collect()
    }

    /// Weather and springs of a world.
    pub(super) fn of(world: &mut World) -> Self {
        let sources = capture_springs::<WaterSource>(world);
        let sinks = capture_springs::<WaterSink>(world);
        let vents = capture_springs::<LavaSource>(world);
        let point = |at: (f32, f32, f32), discharge, radius, sediment| ScenePoint {
            at: (at.0, at.2),
            discharge,
            radius,
            sediment,
        };
        let sources = sources.iter().map(|Spring { at, spring }| {
            point(*at, spring.discharge, spring.radius, spring.sediment)
        });
        let sinks = sinks
            .iter()
            .map(|Spring { at, spring }| point(*at, spring.discharge, spring.radius, 0.0));
        let vents = vents
            .iter()
            .map(|Spring { at, spring }| point(*at, spring.discharge, spring.radius, 0.0));
        Self {
            rain: world.get_resource().cloned(),
            evaporation: world.get_resource().copied(),
            sources: sources.collect(),
            sinks: sinks.collect(),
            lava_sources: vents.collect(),
        }
    }

    /// Takes the place of all weather and springs of a world.
    pub(super) fn replace(self, world: &mut World) {
        let terrain = world.get_resource::<Terrain>();
        let place = |point: &ScenePoint| -> (f32, f32, f32) {
            let place = Vec3::new(point.at.0, 0.0, point.at.1);
            let height = terrain.and_then(|terrain| terrain.height_at(place));
            place.with_y(height.unwrap_or(0.0)).into()
        };
        let sources = self.sources.iter().map(|point| Spring {
            at: place(point),
            spring: point.source(),
        });
        let sinks = self.sinks.iter().map(|point| Spring {
            at: place(point),
            spring: point.sink(),
        });
        let vents = self.lava_sources.iter().map(|point| Spring {
            at: place(point),
            spring: point.vent(),
        });
        let (sources, sinks, vents) = (sources.collect(), sinks.collect(), vents.collect());
        restore_springs(world, "source", sources);
        // Found only now: a sink may have gone with a source.
        restore_springs(world, "sink", sinks);
        restore_springs(world, "vent", vents);
        super::open::set_resource(world, self.rain);
        super::open::set_resource(world, self.evaporation);
    }

    /// Takes the place of the former scene's weather and springs.
    pub(super) fn apply(self, world: &mut World, terrain: &Terrain) {
        super::open::set_resource(world, self.rain);
        super::open::set_resource(world, self.evaporation);
        for point in &self.sources {
            let place = point.transform(terrain);
            world.spawn((SceneEntity, Name::new("source"), point.source(), place));
        }
        for point in &self.sinks {
            let place = point.transform(terrain);
            world.spawn((SceneEntity, Name::new("sink"), point.sink(), place));
        }
        for point in &self.lava_sources {
            let place = point.transform(terrain);
            world.spawn((SceneEntity, Name::new("vent"), point.vent(), place));
        }
    }
}
