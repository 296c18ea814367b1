//! Weather, sources, sinks and vents of a scene.

use super::{
    error::{FieldError, settings},
    models::check_model,
    open::SceneEntity,
    points::{Placed, capture_points, restore_points},
};
use crate::{
    bake::BakeModel,
    forcing::{
        Evaporation, EvaporationSolver, LavaSource, Rain, RainSolver, WaterSink, WaterSource,
    },
    models::AnyModel,
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
    /// Where water comes up.
    pub sources: Vec<ScenePoint>,
    /// Where water is taken away.
    pub sinks: Vec<ScenePoint>,
    /// Where lava comes up.
    pub lava_sources: Vec<ScenePoint>,
}

/// A place where water or lava comes up, or water is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenePoint {
    /// World x and z, from the center of the terrain. units: m
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

    /// Its place on the ground.
    fn transform(&self, terrain: &Terrain) -> Transform {
        let place = Vec3::new(self.at.0, 0.0, self.at.1);
        let height = terrain.height_at(place).unwrap_or(0.0);
        Transform::from_translation(place.with_y(height))
    }

    fn check_place(&self, path: &str, extent: Vec2) -> Result<(), FieldError> {
        let place = Vec2::from(self.at);
        if place.abs().cmple(extent / 2.0).all() {
            return Ok(());
        }
        let (x, z) = self.at;
        let reason = format!(
            "({x}, {z}) lies outside the terrain of {} m × {} m around (0, 0)",
            extent.x, extent.y
        );
        Err(FieldError::new(format!("{path}.at"), reason))
    }
}

impl SceneForcing {
    /// Rain and evaporation, if they are there.
    pub fn weather(&self) -> impl Iterator<Item = AnyModel> {
        let rain = self.rain.clone().map(AnyModel::new::<RainSolver>);
        let evaporation = self.evaporation.map(AnyModel::new::<EvaporationSolver>);
        rain.into_iter().chain(evaporation)
    }

    /// `extent` is the terrain's width and depth in metres.
    pub(super) fn check(&self, extent: Vec2) -> Result<(), FieldError> {
        for model in self.weather() {
            check_model("forcing", &model)?;
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
                let reason = "must be 0: a sink takes the sediment of the water that it drains";
                return Err(FieldError::new(format!("{path}.sediment"), reason));
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
    /// bake: they act first in an app, too.
    pub fn bake_points(&self, terrain: &Terrain) -> Vec<BakeModel> {
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

    /// Weather, sources, sinks and vents of a world.
    pub(super) fn of(world: &mut World) -> Self {
        let sources = capture_points::<WaterSource>(world);
        let sinks = capture_points::<WaterSink>(world);
        let vents = capture_points::<LavaSource>(world);
        let point = |at: (f32, f32, f32), discharge, radius, sediment| ScenePoint {
            at: (at.0, at.2),
            discharge,
            radius,
            sediment,
        };
        let sources = sources.iter().map(|Placed { at, component: own }| {
            point(*at, own.discharge, own.radius, own.sediment)
        });
        let sinks = sinks
            .iter()
            .map(|Placed { at, component: own }| point(*at, own.discharge, own.radius, 0.0));
        let vents = vents
            .iter()
            .map(|Placed { at, component: own }| point(*at, own.discharge, own.radius, 0.0));
        Self {
            rain: world.get_resource().cloned(),
            evaporation: world.get_resource().copied(),
            sources: sources.collect(),
            sinks: sinks.collect(),
            lava_sources: vents.collect(),
        }
    }

    /// Replaces all weather, sources, sinks and vents of a world.
    pub(super) fn replace(self, world: &mut World) {
        let terrain = world.get_resource::<Terrain>();
        let place = |point: &ScenePoint| -> (f32, f32, f32) {
            let place = Vec3::new(point.at.0, 0.0, point.at.1);
            let height = terrain.and_then(|terrain| terrain.height_at(place));
            place.with_y(height.unwrap_or(0.0)).into()
        };
        let sources = self.sources.iter().map(|point| Placed {
            at: place(point),
            component: point.source(),
        });
        let sinks = self.sinks.iter().map(|point| Placed {
            at: place(point),
            component: point.sink(),
        });
        let vents = self.lava_sources.iter().map(|point| Placed {
            at: place(point),
            component: point.vent(),
        });
        let (sources, sinks, vents) = (sources.collect(), sinks.collect(), vents.collect());
        restore_points(world, "source", sources);
        // Found only now: a sink may have gone with a source.
        restore_points(world, "sink", sinks);
        restore_points(world, "vent", vents);
        super::open::set_resource(world, self.rain);
        super::open::set_resource(world, self.evaporation);
    }

    /// Replaces the former scene's weather; sources, sinks and vents are spawned.
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
