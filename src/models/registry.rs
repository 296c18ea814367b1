//! The models that an app knows: this crate's and those of other crates.

use super::{AnyModel, Solver, ageing, lava, meander, plugin::ModelPlugin, table::BUILT_IN, water};
#[cfg(feature = "io")]
use crate::io::ModelFiles;
use crate::{
    forcing::ForcingSystems,
    schedule::{ErosionStep, ErosionStepSystems},
    terrain::{Layer, SettingsError},
};
use bevy::{
    ecs::schedule::{InternedScheduleLabel, InternedSystemSet},
    prelude::*,
};
use core::{any::TypeId, fmt};

/// A model as everything sees it that deals with models in general: what its
/// [`Solver`] declares, and what can be done with it without knowing its type.
#[derive(Clone, Copy)]
pub struct ModelEntry {
    name: &'static str,
    key: &'static str,
    reads: &'static [Layer],
    writes: &'static [Layer],
    moves_water: bool,
    is_forcing: bool,
    solver_type: TypeId,
    settings_type: TypeId,
    step_set: fn() -> InternedSystemSet,
    default_model: fn() -> AnyModel,
    contains: fn(&World) -> bool,
    capture: fn(&World) -> Option<AnyModel>,
    remove: fn(&mut World),
    is_wired: fn(&App) -> bool,
    wire: fn(&mut App, InternedSystemSet),
    #[cfg(feature = "serialize")]
    pub(super) deserialize: super::any_model::Deserialize,
    #[cfg(feature = "io")]
    pub(crate) files: ModelFiles,
}

impl ModelEntry {
    /// The entry of a solver.
    pub const fn of<S: Solver>() -> Self {
        Self {
            name: S::NAME,
            key: S::KEY,
            reads: S::READS,
            writes: S::WRITES,
            moves_water: S::MOVES_WATER,
            is_forcing: S::IS_FORCING,
            solver_type: TypeId::of::<S>(),
            settings_type: TypeId::of::<S::Settings>(),
            step_set: || S::step_set().intern(),
            default_model: || AnyModel::new::<S>(default()),
            contains: |world| world.contains_resource::<S::Settings>(),
            capture: |world| {
                let settings = world.get_resource::<S::Settings>();
                settings.cloned().map(AnyModel::new::<S>)
            },
            remove: |world| {
                world.remove_resource::<S::Settings>();
            },
            is_wired: |app| app.is_plugin_added::<ModelPlugin<S>>(),
            wire: |app, set| {
                app.register_type::<S::Settings>()
                    .add_plugins(ModelPlugin::<S>::new(set));
            },
            #[cfg(feature = "serialize")]
            deserialize: super::any_model::deserialize::<S>,
            #[cfg(feature = "io")]
            files: ModelFiles::of::<S>(),
        }
    }

    /// Name of the settings type, such as `PipeModel`, also used in saved states.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Name in scenes and presets, such as `shallow_water`.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Layers that a step depends on.
    pub const fn reads(&self) -> &'static [Layer] {
        self.reads
    }

    /// Layers that a step may change.
    pub const fn writes(&self) -> &'static [Layer] {
        self.writes
    }

    /// Whether it lets water flow: only one such model runs at a time.
    pub const fn moves_water(&self) -> bool {
        self.moves_water
    }

    /// Whether it is weather, which scenes keep in their forcing instead of in
    /// their models: rain and evaporation.
    pub const fn is_forcing(&self) -> bool {
        self.is_forcing
    }

    /// The type of its settings.
    pub const fn settings_type(&self) -> TypeId {
        self.settings_type
    }

    /// The model with default settings.
    pub fn default_model(&self) -> AnyModel {
        (self.default_model)()
    }

    /// Whether a world has its settings, so that it runs.
    pub fn is_in(&self, world: &World) -> bool {
        (self.contains)(world)
    }

    /// The model as it is set in a world, if it is there.
    pub fn capture(&self, world: &World) -> Option<AnyModel> {
        (self.capture)(world)
    }

    /// Turns it off in a world: removes its settings.
    pub fn remove_from(&self, world: &mut World) {
        (self.remove)(world);
    }
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEntry")
            .field("name", &self.name)
            .field("key", &self.key)
            .field("moves_water", &self.moves_water)
            .finish_non_exhaustive()
    }
}

/// Two entries are the same if they are of the same solver.
impl PartialEq for ModelEntry {
    fn eq(&self, other: &Self) -> bool {
        self.solver_type == other.solver_type
    }
}

/// The models of an app: a resource that [`ErosionPlugin`](crate::ErosionPlugin)
/// inserts. The default has those of this crate, [`BUILT_IN`].
///
/// It is a list: what runs a model in an app is
/// [`add_erosion_model`](AppErosionExt::add_erosion_model), or
/// [`ErosionPlugin`](crate::ErosionPlugin) for those that are in the list before it is
/// added.
///
/// Without an app, for instance to read a scene file with a model of another crate:
///
/// ```
/// use bevy_erode::{models::ErosionModels, prelude::*};
///
/// let models = ErosionModels::default();
/// let water: Vec<&str> = models.iter().filter(|m| m.moves_water()).map(|m| m.key()).collect();
/// assert_eq!(water, ["pipe", "shallow_water"]);
/// assert_eq!(models.named("PipeModel"), models.with_key("pipe"));
/// ```
#[derive(Resource, Clone, Debug)]
pub struct ErosionModels {
    entries: Vec<ModelEntry>,
}

impl Default for ErosionModels {
    fn default() -> Self {
        Self {
            entries: BUILT_IN.to_vec(),
        }
    }
}

impl ErosionModels {
    /// The models of a world; this crate's, if it has no [`ErosionModels`].
    pub fn of(world: &World) -> Self {
        world.get_resource::<Self>().cloned().unwrap_or_default()
    }

    /// The same models and the one of a solver. In an app, use
    /// [`add_erosion_model`](AppErosionExt::add_erosion_model) instead.
    ///
    /// # Errors
    /// When another model has the same name, key or settings.
    pub fn with<S: Solver>(mut self) -> Result<Self, SettingsError> {
        self.add(ModelEntry::of::<S>())?;
        Ok(self)
    }

    /// Adds a model, unless it is there already.
    fn add(&mut self, entry: ModelEntry) -> Result<(), SettingsError> {
        if self.entries.contains(&entry) {
            return Ok(());
        }
        let taken = |field: &'static str, reason| SettingsError {
            model: entry.name,
            field: field.into(),
            reason,
        };
        for other in &self.entries {
            if other.name == entry.name {
                let reason = format!(
                    "`{}` is already the name of another model, expected a unique name",
                    entry.name
                );
                return Err(taken("NAME", reason));
            }
            if other.key == entry.key {
                let reason = format!(
                    "`{}` is already the key of model `{}`, expected a unique key",
                    entry.key, other.name
                );
                return Err(taken("KEY", reason));
            }
            if other.settings_type == entry.settings_type {
                let reason = format!(
                    "this type is already the settings of model `{}`, expected a type of its own",
                    other.name
                );
                return Err(taken("Settings", reason));
            }
        }
        self.entries.push(entry);
        Ok(())
    }

    /// All models, in the order in which those of the same
    /// [set](Solver::step_set) act in a step.
    pub fn iter(&self) -> impl Iterator<Item = &ModelEntry> {
        self.entries.iter()
    }

    pub(super) fn as_slice(&self) -> &[ModelEntry] {
        &self.entries
    }

    /// The model of this [name](ModelEntry::name).
    pub fn named(&self, name: &str) -> Option<&ModelEntry> {
        self.iter().find(|entry| entry.name == name)
    }

    /// The model of this [key](ModelEntry::key).
    pub fn with_key(&self, key: &str) -> Option<&ModelEntry> {
        self.iter().find(|entry| entry.key == key)
    }

    /// The model whose settings are of this type.
    pub fn with_settings<T: Resource>(&self) -> Option<&ModelEntry> {
        let wanted = TypeId::of::<T>();
        self.iter().find(|entry| entry.settings_type == wanted)
    }

    /// The models of which only one runs at a time.
    pub fn water_models(&self) -> impl Iterator<Item = &ModelEntry> {
        self.iter().filter(|entry| entry.moves_water)
    }

    /// Names of all models, for messages.
    #[cfg(feature = "io")]
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.iter().map(|entry| entry.name).collect();
        names.join(", ")
    }
}

/// The system set of a model within [`ErosionStep`], by the model's
/// [name](Solver::NAME): to run own systems before or after it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelSystems(pub &'static str);

/// Adds models to an app.
///
/// [The guide](crate::guide::custom_models) has an example.
pub trait AppErosionExt {
    /// Adds a model of your own: from then on it is run while its settings are there
    /// as a resource, registered for reflection, saved and loaded, written to and
    /// read from scenes and presets, and switched like the models of this crate. A
    /// model that runs already is not added again; one that is only in the app's
    /// [`ErosionModels`] runs from then on.
    ///
    /// When another model has the same name, key or settings type, nothing is added
    /// and an error is logged.
    fn add_erosion_model<S: Solver>(&mut self) -> &mut Self;
}

impl AppErosionExt for App {
    fn add_erosion_model<S: Solver>(&mut self) -> &mut Self {
        let entry = ModelEntry::of::<S>();
        let mut models = self.world_mut().get_resource_or_init::<ErosionModels>();
        match models.add(entry) {
            Ok(()) => wire(self, &entry),
            Err(error) => error!("model not added: {error}"),
        }
        self
    }
}

/// Runs a model in its set of the step, after the models of the same set that were
/// added before. One that runs already stays as it is.
fn wire(app: &mut App, entry: &ModelEntry) {
    if (entry.is_wired)(app) {
        return;
    }
    let set = (entry.step_set)();
    let models = app.world_mut().get_resource_or_init::<ErosionModels>();
    let earlier = models.iter().take_while(|other| *other != entry);
    let previous = earlier.filter(|other| (other.step_set)() == set).last();
    let previous = previous.map(|other| ModelSystems(other.name));
    let own = ModelSystems(entry.name);
    app.configure_sets(ErosionStep, own.in_set(set));
    if set == ErosionStepSystems::Forcing.intern() {
        // Rain, sources and evaporation have sets of their own within this one.
        app.configure_sets(ErosionStep, own.after(ForcingSystems::Evaporation));
    }
    if let Some(previous) = previous {
        app.configure_sets(ErosionStep, own.after(previous));
    }
    (entry.wire)(app, own.intern());
}

/// Adds this crate's models to an app, and others that its list has already.
pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<ErosionModels>();
    for entry in ErosionModels::of(app.world()).iter() {
        wire(app, entry);
    }
    water::build(app, schedule);
    ageing::timeline::build(app, schedule);
    lava::steam::build(app);
    meander::plugin::build(app, schedule);
}
