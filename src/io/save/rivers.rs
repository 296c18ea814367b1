//! Rivers in a saved state: their entities, and the working state of the rivers that
//! run there.

use super::{
    SaveError, SavedState,
    container::{BodyReader, BodyWriter},
    header::{PlaceHeader, RiverHeader, RunningHeader},
    read_bytes, write_bytes,
};
use crate::{
    models::meander::{MeanderingRiver, RiverStretch, Rivers, TerrainRiver},
    scene::SceneEntity,
    terrain::Terrain,
};
use bevy::{ecs::system::SystemState, prelude::*};
use std::io::{self, Write};

/// A river's entity.
#[derive(Clone, Debug)]
pub(super) struct SavedRiver {
    /// Its `Transform` where it has no parent, otherwise its place in the world.
    at: Vec3,
    turned: Quat,
    stretch: RiverStretch,
    settings: MeanderingRiver,
    /// Nothing before its first step.
    running: Option<SavedRunning>,
}

/// The river that runs there.
#[derive(Clone, Debug)]
struct SavedRunning {
    /// Its own, where the entity's were changed since its last step.
    place: Option<Transform>,
    stretch: Option<RiverStretch>,
    settings: Option<MeanderingRiver>,
    state: Vec<u8>,
}

impl SavedState {
    /// The same with a river that runs on `terrain`, the one that was given to
    /// [`of`](Self::of).
    ///
    /// # Errors
    /// When it could not be loaded again.
    pub fn with_river(
        mut self,
        river: &TerrainRiver,
        terrain: &Terrain,
    ) -> Result<Self, SaveError> {
        let place = river.place();
        let mut saved = SavedRiver {
            at: place.translation,
            turned: place.rotation,
            stretch: *river.stretch(),
            settings: river.river().settings().clone(),
            running: None,
        };
        saved.running = Some(saved.running_as(river, terrain, terrain));
        saved.check(&self.terrain)?;
        self.rivers.push(saved);
        Ok(self)
    }

    /// The rivers that ran, to continue with on the terrain that
    /// [`into_terrain`](Self::into_terrain) gives; or to
    /// [write back](TerrainRiver::write_back) into its layers.
    ///
    /// # Errors
    /// When the working state of a river cannot be used.
    pub fn rivers(&self) -> Result<Vec<TerrainRiver>, SaveError> {
        Ok(self.open_rivers()?.into_iter().flatten().collect())
    }

    /// For each river the one that runs there, if one does.
    pub(super) fn open_rivers(&self) -> Result<Vec<Option<TerrainRiver>>, SaveError> {
        let rivers = self.rivers.iter();
        rivers.map(|river| river.open(&self.terrain)).collect()
    }
}

impl SavedRiver {
    /// Checks the entity's settings and what runs there.
    pub fn check(&self, terrain: &Terrain) -> Result<(), SaveError> {
        if !self.turned.is_normalized() {
            return Err(SaveError::Damaged(
                "the rotation of a river is not normalized",
            ));
        }
        let (stretch, settings) = (&self.stretch, &self.settings);
        stretch.check_on(settings, &self.place(), terrain.grid())?;
        self.open(terrain).map(drop)
    }

    /// The river that runs there, if one does.
    fn open(&self, terrain: &Terrain) -> Result<Option<TerrainRiver>, SaveError> {
        let Some(running) = &self.running else {
            return Ok(None);
        };
        let place = running.place.unwrap_or_else(|| self.place());
        if !place.rotation.is_normalized() {
            return Err(SaveError::Damaged(
                "the rotation of a river is not normalized",
            ));
        }
        let stretch = running.stretch.unwrap_or(self.stretch);
        let settings = running.settings.as_ref().unwrap_or(&self.settings);
        // Before the state is read: these errors name the field.
        stretch.check_on(settings, &place, terrain.grid())?;
        let state = &running.state;
        let river = TerrainRiver::load_state(settings.clone(), stretch, &place, state, terrain)?;
        Ok(Some(river))
    }

    fn transform(&self) -> Transform {
        Transform::from_translation(self.at).with_rotation(self.turned)
    }

    /// Its place in the world, to the bit as systems find it.
    fn place(&self) -> Transform {
        GlobalTransform::from(self.transform()).compute_transform()
    }

    /// Whether it is the same entity, whatever runs there.
    fn is_like(&self, other: &Self) -> bool {
        self.at == other.at
            && self.turned == other.turned
            && self.stretch == other.stretch
            && self.settings == other.settings
    }

    /// A river that runs there on `terrain`, of which `copy` is saved.
    fn running_as(&self, river: &TerrainRiver, terrain: &Terrain, copy: &Terrain) -> SavedRunning {
        let settings = river.river().settings();
        SavedRunning {
            place: Some(*river.place()).filter(|place| *place != self.place()),
            stretch: Some(*river.stretch()).filter(|stretch| *stretch != self.stretch),
            settings: Some(settings).filter(|own| **own != self.settings).cloned(),
            state: river.save_state_for(terrain, copy),
        }
    }

    /// Reads what the header does not have.
    pub fn read(header: RiverHeader, body: &mut BodyReader) -> Result<Self, SaveError> {
        let running = match header.running {
            Some(running) => Some(SavedRunning {
                place: running.place.map(|place| Transform {
                    translation: place.at.into(),
                    rotation: quat(place.turned),
                    scale: place.scale.into(),
                }),
                stretch: running.stretch,
                settings: running.settings,
                state: read_bytes(body, running.state)?,
            }),
            None => None,
        };
        Ok(Self {
            at: header.at.into(),
            turned: quat(header.turned),
            stretch: header.stretch,
            settings: header.settings,
            running,
        })
    }

    /// What [`read`](Self::read) takes.
    pub fn header(&self) -> RiverHeader {
        RiverHeader {
            at: self.at.into(),
            turned: self.turned.into(),
            stretch: self.stretch,
            settings: self.settings.clone(),
            running: self.running.as_ref().map(|running| RunningHeader {
                place: running.place.map(|place| PlaceHeader {
                    at: place.translation.into(),
                    turned: place.rotation.into(),
                    scale: place.scale.into(),
                }),
                stretch: running.stretch,
                settings: running.settings.clone(),
                state: running.state.len() as u64,
            }),
        }
    }

    pub fn write<W: Write>(&self, body: &mut BodyWriter<W>) -> io::Result<()> {
        match &self.running {
            Some(running) => write_bytes(body, &running.state),
            None => Ok(()),
        }
    }
}

fn quat((x, y, z, w): (f32, f32, f32, f32)) -> Quat {
    Quat::from_xyzw(x, y, z, w)
}

/// All entities with rivers, where they are.
pub(super) fn find_rivers(world: &mut World) -> Vec<(Entity, SavedRiver)> {
    type Found<'w, 's> = Query<
        'w,
        's,
        (
            Entity,
            &'static MeanderingRiver,
            &'static RiverStretch,
            Option<&'static Transform>,
            Has<ChildOf>,
        ),
    >;
    let mut state: SystemState<(Found, TransformHelper)> = SystemState::new(world);
    // Queries are always there to be had.
    let Ok((rivers, places)) = state.get(world) else {
        return Vec::new();
    };
    let found = rivers
        .iter()
        .map(|(entity, settings, stretch, own, is_child)| {
            // The own one where that says all: from a place in the world it would be
            // found again but for rounding.
            let own = own
                .filter(|own| !is_child && own.scale == Vec3::ONE && own.rotation.is_normalized());
            let place = own.copied().unwrap_or_else(|| {
                let place = places.compute_global_transform(entity);
                place.map_or_else(|_| Transform::default(), |place| place.compute_transform())
            });
            let river = SavedRiver {
                at: place.translation,
                turned: place.rotation,
                stretch: *stretch,
                settings: settings.clone(),
                running: None,
            };
            (entity, river)
        });
    found.collect()
}

/// Rivers with what runs there on `terrain`, of which `copy` is saved.
pub(super) fn capture_rivers(
    found: Vec<(Entity, SavedRiver)>,
    running: Option<&Rivers>,
    terrain: &Terrain,
    copy: &Terrain,
) -> Vec<SavedRiver> {
    let of = |entity| running.and_then(|rivers| rivers.running_on(entity, terrain));
    let mut rivers: Vec<(Option<usize>, SavedRiver)> = found
        .into_iter()
        .map(|(entity, mut river)| {
            let own = of(entity);
            river.running = own.map(|(_, own)| river.running_as(own, terrain, copy));
            (own.map(|(place, _)| place), river)
        })
        .collect();
    // The order in which a world holds its entities may differ from run to run.
    rivers.sort_by_key(|(place, river)| {
        let numbers = [
            river.at.x,
            river.at.z,
            river.stretch.length,
            river.stretch.width,
        ];
        let numbers = numbers.map(f32::to_bits);
        (place.is_none(), *place, numbers, river.settings.seed)
    });
    rivers.into_iter().map(|(_, river)| river).collect()
}

/// Lets there be these rivers and no others. Returns their entities.
pub(super) fn restore_rivers(world: &mut World, wanted: &[SavedRiver]) -> Vec<Entity> {
    let mut entities: Vec<Option<Entity>> = vec![None; wanted.len()];
    for (entity, river) in find_rivers(world) {
        // Those of a despawned parent are gone.
        if world.get_entity(entity).is_err() {
            continue;
        }
        let mut open = wanted.iter().zip(&mut entities);
        let same = open.find(|(other, own)| own.is_none() && other.is_like(&river));
        if let Some((_, own)) = same {
            *own = Some(entity);
        } else if world.get::<SceneEntity>(entity).is_some() {
            world.despawn(entity);
        } else {
            world.entity_mut(entity).remove::<MeanderingRiver>();
        }
    }
    let rivers = wanted.iter().zip(entities);
    let spawned = rivers.map(|(river, entity)| {
        entity.unwrap_or_else(|| {
            let (settings, stretch) = (river.settings.clone(), river.stretch);
            let name = Name::new("river");
            let river = (SceneEntity, name, settings, stretch, river.transform());
            world.spawn(river).id()
        })
    });
    spawned.collect()
}
