//! Passes: models that run one after the other, in the order of the command line.

use crate::{
    failure::Failure,
    models::{self, Model},
    settings::{Assignment, OpenSettings},
};
use bevy_erode::{
    bake::BakeModel,
    models::droplet::DropletSolver,
    scene::{SceneForcing, SceneRiver},
};
use bevy_erode::{
    models::{AnyModel, BUILT_IN, ModelEntry},
    prelude::*,
};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use core::fmt;

/// Erosion time of a step unless another is asked for. units: s
const STEP: f32 = 0.1;

/// Models that run side by side.
#[derive(Clone)]
struct Together(Vec<&'static ModelEntry>);

/// An option that belongs to a pass.
#[derive(Clone)]
enum PassOption {
    Model(Together),
    Droplets(u64),
    Seconds(f32),
    Step(f32),
    Set(Assignment),
}

/// The options of all passes, in the order in which they were given: each
/// belongs to the last `--model` before it.
#[derive(Clone)]
pub struct PassOptions(Vec<PassOption>);

impl Args for PassOptions {
    fn augment_args(command: Command) -> Command {
        let several = |name: &'static str, value: &'static str, help: String| {
            let arg = Arg::new(name).long(name).value_name(value).help(help);
            let arg = arg.action(ArgAction::Append).help_heading("Passes");
            // So that the error is about the number.
            arg.allow_negative_numbers(true)
        };
        let model = format!(
            "Start a pass with these models: {}; models joined by + run together in each step, \
             instead of a scene's models",
            models::all_names()
        );
        let drops = "Number of droplets to simulate; only in a pass whose one model is droplets";
        let seconds = "Erosion time [s; default: the scene's]";
        let step = format!("Erosion time of one step [s; default: the scene's, else {STEP}]");
        let set = "Set any field that `erode settings` lists, by RON; e.g. pipe.roughness=0.05 or \
                   droplets.streams.onset=4000";
        command
            .arg(several("model", "MODELS", model).value_parser(parse_models))
            .arg(several("droplets", "N", drops.into()).value_parser(clap::value_parser!(u64)))
            .arg(several("seconds", "S", seconds.into()).value_parser(parse_seconds))
            .arg(several("step", "S", step).value_parser(parse_step))
            .arg(several("set", "KEY=VALUE", set.into()).value_parser(Assignment::parse))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PassOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        fn collect<T: Clone + Send + Sync + 'static>(
            matches: &ArgMatches,
            name: &str,
            option: impl Fn(T) -> PassOption,
            into: &mut Vec<(usize, PassOption)>,
        ) {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<T>(name).into_iter().flatten();
            into.extend(places.zip(values.cloned().map(option)));
        }
        let mut options = Vec::new();
        collect(matches, "model", PassOption::Model, &mut options);
        collect(matches, "droplets", PassOption::Droplets, &mut options);
        collect(matches, "seconds", PassOption::Seconds, &mut options);
        collect(matches, "step", PassOption::Step, &mut options);
        collect(matches, "set", PassOption::Set, &mut options);
        options.sort_by_key(|(place, _)| *place);
        Ok(Self(
            options.into_iter().map(|(_, option)| option).collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn parse_models(text: &str) -> Result<Together, String> {
    let mut found: Vec<&'static ModelEntry> = Vec::new();
    for name in text.split('+') {
        let model = models::named(name)
            .ok_or_else(|| format!("no model `{name}`, expected {}", models::all_names()))?;
        if found.contains(&model) {
            return Err(format!("`{name}` is given twice"));
        }
        let other = found.iter().find(|other| other.moves_water());
        if let Some(other) = other.filter(|_| model.moves_water()) {
            return Err(format!(
                "only one water model can run in a pass, found `{}` and `{}`",
                models::command_name(other),
                models::command_name(model)
            ));
        }
        found.push(model);
    }
    found.sort_by_key(|model| models::place(model));
    Ok(Together(found))
}

fn parse_seconds(text: &str) -> Result<f32, String> {
    number_within(text, 0.0, 1e9)
}

fn parse_step(text: &str) -> Result<f32, String> {
    number_within(text, 1e-6, 86_400.0)
}

fn number_within(text: &str, low: f32, high: f32) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|_| "not a number")?;
    match (low..=high).contains(&number) {
        true => Ok(number),
        false => Err(format!("must be {low} to {high}, was {number}")),
    }
}

/// How much of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Droplets(u64),
    Seconds { seconds: f32, step: f32 },
}

/// What runs, and for how long.
pub struct Pass {
    pub models: Vec<Model>,
    pub amount: Amount,
    /// Sources, sinks and vents of a scene.
    pub points: Option<SceneForcing>,
    /// Rivers of a scene.
    pub rivers: Vec<SceneRiver>,
}

impl Pass {
    /// The plan for a terrain.
    pub fn bake(&self, terrain: Terrain) -> Bake {
        match self.amount {
            Amount::Droplets(count) => {
                let settings = self
                    .models
                    .first()
                    .and_then(|model| model.settings.get::<Droplets>().cloned());
                Bake::new(terrain).droplets(settings.unwrap_or_default(), count)
            }
            Amount::Seconds { seconds, step } => {
                let points = self.points.as_ref();
                let points = points.map(|forcing| forcing.bake_points(&terrain));
                let models = self.models.iter().map(|model| model.settings.bake_model());
                let rivers = self.rivers.iter().map(SceneRiver::bake_model);
                let models = points.into_iter().flatten().chain(models).chain(rivers);
                let models: Vec<BakeModel> = models.collect();
                Bake::new(terrain).with_step(step).simulate(seconds, models)
            }
        }
    }

    /// Whether a water model runs here that will never see any water.
    pub fn is_dry(&self, terrain: &Terrain) -> bool {
        let rains = self
            .models
            .iter()
            .any(|model| model.settings.get::<Rain>().is_some());
        let Borders {
            west,
            east,
            north,
            south,
        } = *terrain.borders();
        let borders = [west, east, north, south];
        let sea = borders
            .iter()
            .any(|border| matches!(border, Border::Sea { .. }));
        let points = self.points.as_ref();
        self.models.iter().any(|model| model.entry.moves_water())
            && !rains
            && !sea
            && points.is_none_or(|forcing| forcing.sources.is_empty())
            && terrain.water().iter().all(|depth| *depth <= 0.0)
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.models.iter().map(Model::name).collect();
        match names.is_empty() {
            true => f.write_str("sources and sinks")?,
            false => f.write_str(&names.join("+"))?,
        }
        match self.amount {
            Amount::Droplets(count) => write!(f, ", {count} drops"),
            Amount::Seconds { seconds, .. } => write!(f, ", {seconds} s"),
        }
    }
}

impl PassOptions {
    /// Takes out what is set before any pass: it belongs to the land.
    pub fn take_land(&mut self) -> Vec<Assignment> {
        let is_model = |option: &PassOption| matches!(option, PassOption::Model(_));
        let first = self.0.iter().position(is_model).unwrap_or(self.0.len());
        let mut land = Vec::new();
        let mut others = Vec::new();
        for (place, option) in self.0.drain(..).enumerate() {
            match option {
                PassOption::Set(set) if place < first => land.push(set),
                other => others.push(other),
            }
        }
        self.0 = others;
        land
    }

    /// Whether the command line says which models run.
    fn names_models(&self) -> bool {
        let is_model = |option: &PassOption| matches!(option, PassOption::Model(_));
        self.0.iter().any(is_model)
    }

    /// The passes, with every setting checked. A scene without any is a pass of its
    /// own, to which all options belong.
    pub fn passes(self, given: &Given, seed: Option<u64>) -> Result<Vec<Pass>, Failure> {
        let mut drafts: Vec<Draft> = Vec::new();
        if let (Some(scene), false) = (&given.scene, self.names_models()) {
            drafts.push(Draft::of_scene(scene));
        }
        for option in self.0 {
            if let PassOption::Model(together) = option {
                drafts.push(Draft::new(together));
                continue;
            }
            let Some(draft) = drafts.last_mut() else {
                let reason = "belongs to a pass: give `--model` before it";
                return Err(Failure::usage(format!("{}: {reason}", option.text())));
            };
            let text = option.text();
            let is_new = match option {
                PassOption::Droplets(count) => draft.droplets.replace(count).is_none(),
                PassOption::Seconds(seconds) => draft.seconds.replace(seconds).is_none(),
                PassOption::Step(step) => draft.step.replace(step).is_none(),
                PassOption::Set(set) => {
                    draft.sets.push(set);
                    true
                }
                PassOption::Model(_) => true,
            };
            if !is_new {
                let reason = format!("already given for {}", draft.label());
                return Err(Failure::usage(format!("{text}: {reason}")));
            }
        }
        drafts
            .into_iter()
            .map(|draft| draft.finish(given, seed))
            .collect()
    }
}

/// Where a pass takes from what the command line does not say.
#[derive(Default)]
pub struct Given {
    /// Settings that go before those of a scene.
    pub preset: ErosionScene,
    /// The scene that the land is the ground of.
    pub scene: Option<ErosionScene>,
}

impl Given {
    /// The settings of a model.
    fn settings(&self, entry: &ModelEntry) -> AnyModel {
        let preset = self.preset.model(entry);
        let set = preset.or_else(|| self.scene.as_ref()?.model(entry));
        set.unwrap_or_else(|| entry.default_model())
    }

    /// What of the scene does not run in any pass, in a line for people.
    pub fn dropped(&self, source: &str, passes: &[Pass]) -> Option<String> {
        let scene = self.scene.as_ref()?;
        let runs = |entry: &ModelEntry| {
            let mut all = passes.iter().flat_map(|pass| &pass.models);
            all.any(|model| *model.entry == *entry)
        };
        let models = entries_of(scene).filter(|entry| !runs(entry));
        let mut dropped: Vec<String> = models.map(models::command_name).collect();
        let SceneForcing {
            sources,
            sinks,
            lava_sources,
            ..
        } = &scene.forcing;
        // Droplets by number take no time, so nothing else acts.
        let acts = passes.iter().any(|pass| pass.points.is_some());
        let flows = passes.iter().any(|pass| !pass.rivers.is_empty());
        for (name, there, runs) in [
            ("sources", !sources.is_empty(), acts),
            ("sinks", !sinks.is_empty(), acts),
            ("lava sources", !lava_sources.is_empty(), acts),
            ("rivers", !scene.rivers.is_empty(), flows),
        ] {
            if there && !runs {
                dropped.push(name.into());
            }
        }
        let dropped = (!dropped.is_empty()).then(|| dropped.join(", "))?;
        Some(format!(
            "{source}: `--model` replaces the scene's models; not run: {dropped}"
        ))
    }
}

/// The models and the weather of a scene, in the order of a step.
fn entries_of(scene: &ErosionScene) -> impl Iterator<Item = &'static ModelEntry> {
    let is_there = |entry: &&ModelEntry| scene.model(entry).is_some();
    BUILT_IN.iter().filter(is_there)
}

impl PassOption {
    /// As it was given.
    fn text(&self) -> String {
        match self {
            Self::Model(together) => format!("--model {}", names(&together.0)),
            Self::Droplets(count) => format!("--droplets {count}"),
            Self::Seconds(seconds) => format!("--seconds {seconds}"),
            Self::Step(step) => format!("--step {step}"),
            Self::Set(set) => format!("--set {}", set.text),
        }
    }
}

fn names(models: &[&ModelEntry]) -> String {
    let names = models.iter().map(|model| models::command_name(model));
    let names: Vec<String> = names.collect();
    names.join("+")
}

/// A pass that is being read.
struct Draft {
    entries: Vec<&'static ModelEntry>,
    /// Whether it is all that a scene does by itself.
    is_scene: bool,
    droplets: Option<u64>,
    seconds: Option<f32>,
    step: Option<f32>,
    sets: Vec<Assignment>,
}

impl Draft {
    fn new(together: Together) -> Self {
        Self {
            entries: together.0,
            is_scene: false,
            droplets: None,
            seconds: None,
            step: None,
            sets: Vec::new(),
        }
    }

    fn of_scene(scene: &ErosionScene) -> Self {
        Self {
            is_scene: true,
            ..Self::new(Together(entries_of(scene).collect()))
        }
    }

    /// What it is called in messages.
    fn label(&self) -> String {
        match self.is_scene {
            true => "the scene".into(),
            false => format!("`--model {}`", names(&self.entries)),
        }
    }

    fn finish(mut self, given: &Given, seed: Option<u64>) -> Result<Pass, Failure> {
        let amount = self.amount(given.scene.as_ref())?;
        // Weather and sources need time.
        let is_timed = matches!(amount, Amount::Seconds { .. });
        let scene = given.scene.as_ref().filter(|_| is_timed);
        if let Some(scene) = scene {
            let weather = entries_of(scene).filter(|entry| entry.is_forcing());
            let more: Vec<_> = weather.filter(|own| !self.entries.contains(own)).collect();
            self.entries.extend(more);
            self.entries.sort_by_key(|model| models::place(model));
        }
        let mut models: Vec<Model> = Vec::new();
        for entry in &self.entries {
            let mut model = Model::new(entry, given.settings(entry));
            if let Some(seed) = seed
                && let Ok(field) = model.find("seed")
            {
                model.set(&field, &seed.to_string(), format!("--seed {seed}"))?;
            }
            models.push(model);
        }
        for set in &self.sets {
            let (model, field) = find(&mut models, set)?;
            model.set(&field, &set.value, format!("--set {}", set.text))?;
        }
        for model in &models {
            model.check()?;
        }
        let rivers = scene.filter(|_| self.is_scene);
        Ok(Pass {
            models,
            amount,
            points: scene.map(|scene| scene.forcing.clone()),
            rivers: rivers.map_or_else(Vec::new, |scene| scene.rivers.clone()),
        })
    }

    /// What is not given is that of the scene.
    fn amount(&self, scene: Option<&ErosionScene>) -> Result<Amount, Failure> {
        let wrong = |reason: &str| {
            let pass = match self.is_scene {
                true => self.label(),
                false => format!("--model {}", names(&self.entries)),
            };
            Err(Failure::usage(format!("{pass}: {reason}")))
        };
        let droplets_alone = !self.is_scene
            && matches!(self.entries[..], [model] if model.key() == DropletSolver::KEY);
        let seconds = self.seconds.or(scene.map(|scene| scene.seconds));
        let step = self.step.or(scene.map(|scene| scene.step));
        match (self.droplets, self.seconds) {
            (Some(_), Some(_)) => wrong("give either `--droplets` or `--seconds`, not both"),
            (Some(_), None) if self.is_scene => wrong(
                "runs for a time: give `--seconds`, or `--model droplets` before `--droplets`",
            ),
            (Some(_), None) if !droplets_alone => {
                wrong("`--droplets` is for a pass of droplets alone; give `--seconds`")
            }
            (Some(_), None) if self.step.is_some() => {
                wrong("`--step` goes with `--seconds`, not with `--droplets`")
            }
            (Some(count), None) => Ok(Amount::Droplets(count)),
            (None, _) => match seconds {
                Some(seconds) => Ok(Amount::Seconds {
                    seconds,
                    step: step.unwrap_or(STEP),
                }),
                None if droplets_alone => wrong("no duration: give `--droplets` or `--seconds`"),
                None => wrong("no duration: give `--seconds`"),
            },
        }
    }
}

/// The model of a pass that an assignment means, and its field.
fn find<'a>(
    models: &'a mut [Model],
    set: &Assignment,
) -> Result<(&'a mut Model, OpenSettings), Failure> {
    let wrong = |reason: String| Failure::usage(format!("--set {}: {reason}", set.text));
    let (named, key) = set.model_and_key();
    let is_meant = |model: &&mut Model| named.is_none_or(|named| *model.entry == *named);
    let there: Vec<String> = models.iter().map(Model::name).collect();
    if there.is_empty() {
        return Err(wrong("no model to set runs here".into()));
    }
    let meant: Vec<&mut Model> = models.iter_mut().filter(is_meant).collect();
    if let (Some(named), true) = (named, meant.is_empty()) {
        let name = models::command_name(named);
        let there = there.join(" and ");
        return Err(wrong(format!(
            "no model `{name}` in this pass, expected {there}"
        )));
    }
    let (mut found, mut others, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    let group = key.split('.').next().unwrap_or(key);
    for model in meant {
        match model.find(key) {
            Ok(field) => found.push((model, field)),
            Err(reason) => {
                let fields = model.field_names();
                if fields.iter().any(|field| field == group) {
                    reasons.push(reason);
                }
                others.push(format!("`{}` has {}", model.name(), fields.join(", ")));
            }
        }
    }
    if found.len() > 1 {
        let all = found.iter().map(|(model, _)| model.name());
        let all: Vec<String> = all.map(|name| format!("{name}.{key}")).collect();
        return Err(wrong(format!("ambiguous: give {}", all.join(" or "))));
    }
    found.pop().ok_or_else(|| {
        // One that has the group, but not the part, says what parts there are.
        wrong(match reasons.pop() {
            Some(reason) => format!("{reason} (`erode settings` lists units and limits)"),
            None => format!(
                "no setting `{key}`; {} (`erode settings` lists units and limits)",
                others.join("; ")
            ),
        })
    })
}
