//! Rivers in an app: each entity with a [`MeanderingRiver`] runs one.

use super::{MeanderingRiver, RiverStretch, TerrainRiver};
use crate::{
    backend::{Device, StepDevice},
    models::{
        plugin::ModelFailed,
        water::{RunningWaterModel, keep_one_water_model},
    },
    schedule::{Erosion, ErosionStep, ErosionStepSystems, ErosionSystems},
    terrain::{SettingsError, Terrain, TerrainCursor},
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

const NAME: &str = "MeanderingRiver";

/// A request to a river.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiverRequest {
    /// Put all water of this entity's river into the `water` layer and all its
    /// sediment on the ground. It goes on dry.
    WriteBack(Entity),
}

/// The rivers that run, by the entities they belong to.
#[derive(Resource, Default)]
pub struct Rivers {
    running: Vec<Running>,
    /// Rivers that cannot run, and why: reported once.
    refused: Vec<(Entity, SettingsError)>,
}

struct Running {
    entity: Entity,
    /// The terrain that it runs on.
    cursor: TerrainCursor,
    river: TerrainRiver,
}

impl Rivers {
    /// The river of an entity, once it runs.
    pub fn get(&self, entity: Entity) -> Option<&TerrainRiver> {
        let own = self.running.iter().find(|own| own.entity == entity);
        own.map(|own| &own.river)
    }

    /// All rivers that run.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &TerrainRiver)> {
        self.running.iter().map(|own| (own.entity, &own.river))
    }

    /// A copy of a terrain in which all its rivers are written back.
    #[cfg(feature = "egui")]
    pub(crate) fn written_back(&self, terrain: &Terrain) -> Terrain {
        self.written_back_except(terrain, |_| false)
    }

    /// A copy of a terrain in which its rivers are written back, except those of some
    /// entities.
    #[cfg(any(feature = "io", feature = "egui"))]
    pub(crate) fn written_back_except(
        &self,
        terrain: &Terrain,
        keeps: impl Fn(Entity) -> bool,
    ) -> Terrain {
        let mut copy = terrain.clone();
        for own in &self.running {
            if own.cursor.is_at(terrain) && !keeps(own.entity) {
                own.river.clone().write_back(&mut copy);
            }
        }
        copy
    }

    /// Moves along when the terrain's window has moved over the world. Rivers
    /// that are no longer wholly on the land leave it.
    pub(crate) fn follow_shift(&mut self, terrain: &mut Terrain) {
        let is_shifted = |own: &Running| own.cursor.peek(terrain).shifted().is_some();
        if !self.running.iter().any(is_shifted) {
            return;
        }
        self.running.retain_mut(|own| {
            let Some(by) = own.cursor.peek(terrain).shifted() else {
                return true;
            };
            own.cursor = TerrainCursor::at(terrain);
            let stays = own.river.shift(by, terrain.grid());
            if !stays {
                own.river.leave(terrain);
            }
            stays
        });
    }

    /// The river of an entity if it runs on this terrain, and its index among them.
    #[cfg(feature = "io")]
    pub(crate) fn running_on(
        &self,
        entity: Entity,
        terrain: &Terrain,
    ) -> Option<(usize, &TerrainRiver)> {
        let mut running = self.running.iter().enumerate();
        let (place, own) = running.find(|(_, own)| own.entity == entity)?;
        (own.cursor.is_at(terrain)).then_some((place, &own.river))
    }

    /// Goes on with these rivers on this terrain, and with no others.
    #[cfg(feature = "io")]
    pub(crate) fn resume(
        &mut self,
        terrain: &Terrain,
        rivers: impl IntoIterator<Item = (Entity, TerrainRiver)>,
    ) {
        let running = rivers.into_iter().map(|(entity, river)| Running {
            entity,
            cursor: TerrainCursor::at(terrain),
            river,
        });
        self.running = running.collect();
        self.refused.clear();
    }
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<Rivers>()
        .register_type::<MeanderingRiver>()
        .register_type::<RiverStretch>()
        .add_message::<ModelFailed>()
        .add_message::<RiverRequest>()
        .add_systems(ErosionStep, run_rivers.in_set(ErosionStepSystems::River))
        .add_systems(
            schedule,
            write_rivers_back
                // It sees what was removed or requested in this frame.
                .after(ErosionSystems::Input)
                // Either order would do; a fixed one keeps replays alike.
                .after(keep_one_water_model)
                // Models then find the water in the layer.
                .before(ErosionSystems::Simulate),
        );
}

/// Writes back the rivers for which this was requested, or whose entity or component
/// was removed.
fn write_rivers_back(
    terrain: Option<ResMut<Terrain>>,
    entities: Query<(), With<MeanderingRiver>>,
    mut requests: MessageReader<RiverRequest>,
    mut rivers: ResMut<Rivers>,
) {
    let asked: Vec<Entity> = requests
        .read()
        .map(|RiverRequest::WriteBack(entity)| *entity)
        .collect();
    let terrain = terrain.map(|mut terrain| {
        // Mostly nothing was shifted, and the resource counts as unchanged.
        rivers.follow_shift(terrain.bypass_change_detection());
        terrain
    });
    let is_gone = |own: &Running| !entities.contains(own.entity);
    if !rivers
        .running
        .iter()
        .any(|own| is_gone(own) || asked.contains(&own.entity))
    {
        return;
    }
    if let Some(mut terrain) = terrain {
        for own in &mut rivers.running {
            let is_due = is_gone(own) || asked.contains(&own.entity);
            if is_due && own.cursor.is_at(&terrain) {
                own.river.write_back(&mut terrain);
            }
        }
    }
    rivers.running.retain(|own| !is_gone(own));
}

/// Runs all rivers for a step.
fn run_rivers(
    terrain: Option<ResMut<Terrain>>,
    entities: Query<(Entity, Ref<MeanderingRiver>, &RiverStretch, &Transform)>,
    places: TransformHelper,
    time: Res<Time<Erosion>>,
    water_model: Res<RunningWaterModel>,
    mut rivers: ResMut<Rivers>,
    mut faults: MessageWriter<ModelFailed>,
    device: Option<ResMut<Device>>,
) {
    if entities.is_empty() {
        rivers.refused.clear();
        return;
    }
    let Some(mut terrain) = terrain else {
        rivers.running.clear();
        return;
    };
    rivers.follow_shift(&mut terrain);
    if let Some(mut device) = device.filter(|device| device.is_running()) {
        device.host_runs(NAME, false);
    }
    let mut found: Vec<_> = entities
        .iter()
        .map(|(entity, settings, stretch, own)| {
            let place = places.compute_global_transform(entity);
            let place = place.map_or(*own, |place| place.compute_transform());
            (entity, settings, *stretch, place)
        })
        .collect();
    // The order in which a world holds its entities may differ from run to run.
    found.sort_by_key(|(_, settings, stretch, place)| {
        let at = place.translation;
        let numbers = [at.x, at.z, stretch.length, stretch.width].map(f32::to_bits);
        (numbers, settings.seed)
    });
    let dt = time.context().step_size().as_secs_f32();
    let passes_water_on = water_model.0.is_some();
    let mut wrong = Vec::new();
    let mut changed = Vec::new();
    for (entity, settings, stretch, place) in found {
        if settings.is_changed() {
            changed.push(entity);
        }
        let ready = rivers.make_ready(entity, &settings, stretch, place, &mut terrain);
        match ready {
            Ok(river) => {
                river.pass_water_on(passes_water_on);
                river.step(&mut terrain, dt);
            }
            Err(error) => wrong.push((entity, error)),
        }
    }
    for known in &wrong {
        // Reported once, and again when the settings have changed.
        if !rivers.refused.contains(known) || changed.contains(&known.0) {
            let (entity, error) = known;
            warn!("river of entity {entity} is not running: {error}");
            faults.write(ModelFailed {
                model: NAME,
                reason: error.to_string(),
            });
        }
    }
    rivers.refused = wrong;
}

impl Rivers {
    /// The river of an entity, as it is set and placed now.
    fn make_ready(
        &mut self,
        entity: Entity,
        settings: &MeanderingRiver,
        stretch: RiverStretch,
        place: Transform,
        terrain: &mut Terrain,
    ) -> Result<&mut TerrainRiver, SettingsError> {
        let number = self.running.iter().position(|own| own.entity == entity);
        let number = match number {
            Some(number) => number,
            None => {
                let river = TerrainRiver::new(settings.clone(), stretch, &place, terrain)?;
                self.running.push(Running {
                    entity,
                    cursor: TerrainCursor::at(terrain),
                    river,
                });
                self.running.len() - 1
            }
        };
        let own = &mut self.running[number];
        let other_land = !own.cursor.is_at(terrain);
        let inflow = own.river.stretch().inflow;
        let same = RiverStretch { inflow, ..stretch } == *own.river.stretch();
        if other_land || !same || !own.river.runs_at(&place) {
            let new = TerrainRiver::new(settings.clone(), stretch, &place, terrain)?;
            if !other_land {
                own.river.write_back(terrain);
            }
            own.river = new;
            own.cursor = TerrainCursor::at(terrain);
        }
        if own.river.river().settings() != settings {
            own.river.set_settings(settings.clone(), terrain)?;
        }
        if inflow != stretch.inflow {
            own.river.set_inflow(stretch.inflow)?;
        }
        Ok(&mut own.river)
    }
}
