//! Rivers of a scene.

use super::{
    error::{FieldError, settings},
    open::SceneEntity,
};
use crate::{
    bake::BakeModel,
    models::meander::{MeanderingRiver, RiverStretch},
    terrain::Grid,
};
use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// A river of a scene, and the stretch of the terrain that it runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneRiver {
    /// World x and z where it enters. units: m
    pub from: (f32, f32),
    /// World x and z where it leaves. units: m
    pub to: (f32, f32),
    /// Width of its stretch. units: m
    pub width: f32,
    /// Water that comes in, beside what other models bring. units: m³/s
    pub inflow: f32,
    /// The river itself.
    pub river: MeanderingRiver,
}

impl Default for SceneRiver {
    fn default() -> Self {
        let RiverStretch { width, inflow, .. } = RiverStretch::default();
        Self {
            from: (0.0, -256.0),
            to: (0.0, 256.0),
            width,
            inflow,
            river: MeanderingRiver::default(),
        }
    }
}

impl SceneRiver {
    /// The stretch it runs on.
    pub fn stretch(&self) -> RiverStretch {
        RiverStretch {
            length: Vec2::from(self.from).distance(self.to.into()),
            width: self.width,
            inflow: self.inflow,
        }
    }

    /// Where it enters, looking downstream.
    pub fn transform(&self) -> Transform {
        let place = |(x, z): (f32, f32)| Vec3::new(x, 0.0, z);
        let way = place(self.to) - place(self.from);
        Transform::from_translation(place(self.from)).looking_to(way, Vec3::Y)
    }

    /// The same in a bake.
    pub fn bake_model(&self) -> BakeModel {
        BakeModel::river(self.river.clone(), self.stretch(), self.transform())
    }

    /// Whether it fits on the scene's terrain.
    pub(super) fn check(&self, path: &str, grid: &Grid) -> Result<(), FieldError> {
        settings(&format!("{path}.river"), self.river.check())?;
        let stretch = self.stretch();
        let checked = stretch.check_on(&self.river, &self.transform(), grid);
        checked.map_err(|error| {
            // A scene has two places instead of a length.
            let field = match &*error.field {
                field @ ("width" | "inflow") => field,
                "radius" => "river.radius",
                _ => "to",
            };
            FieldError::new(format!("{path}.{field}"), error.reason)
        })
    }

    pub(super) fn spawn(self, world: &mut World) {
        let (stretch, place) = (self.stretch(), self.transform());
        world.spawn((SceneEntity, Name::new("river"), self.river, stretch, place));
    }
}
