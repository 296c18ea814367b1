//! Passes: models that run one after the other, in the order of the command line.

use crate::{
    failure::Failure,
    models::{self, Model},
    settings::{Assignment, OpenSettings},
};
use bevy_erode::{
    bake::BakeModel,
    models::{
        ageing::{AgePreset, Ageing, AgeingSolver, Uplift},
        droplet::DropletSolver,
    },
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
    Age(Age),
    Years(f64),
    Droplets(u64),
    Runoff(f32),
    Seconds(f32),
    Step(f32),
    Set(Assignment),
}

/// How old the land is to get.
#[derive(Clone, Copy)]
enum Age {
    Years(f64),
    Preset(&'static AgePreset),
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
        let drops = "Number of droplets to simulate; only in a pass whose one model is droplets. \
                     With --runoff: at least so many";
        let presets: Vec<&str> = AgePreset::ALL.iter().map(|preset| preset.name).collect();
        let age = format!(
            "Start a pass that ages the land by this many years, with uplift that keeps 0.8 of its \
             relief, or by a preset: {}",
            presets.join(", ")
        );
        let years = "Years of a pass of ageing [default with a preset: its own]";
        let runoff = "Water that runs off as droplets [m over the whole land]: 3 cell sizes carve \
                      gullies. Sets number and volume of the drops";
        let seconds = "Erosion time [s; default: the scene's]";
        let step = format!("Erosion time of one step [s; default: the scene's, else {STEP}]");
        let set = "Set any field that `erode settings` lists, by RON; e.g. pipe.roughness=0.05 or \
                   droplets.streams.onset=4000";
        command
            .arg(several("model", "MODELS", model).value_parser(parse_models))
            .arg(several("age", "YEARS|NAME", age).value_parser(parse_age))
            .arg(several("years", "YEARS", years.into()).value_parser(parse_years))
            .arg(several("droplets", "N", drops.into()).value_parser(clap::value_parser!(u64)))
            .arg(several("runoff", "M", runoff.into()).value_parser(parse_runoff))
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
        collect(matches, "age", PassOption::Age, &mut options);
        collect(matches, "years", PassOption::Years, &mut options);
        collect(matches, "droplets", PassOption::Droplets, &mut options);
        collect(matches, "runoff", PassOption::Runoff, &mut options);
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

fn parse_age(text: &str) -> Result<Age, String> {
    if let Some(preset) = AgePreset::named(&text.to_ascii_lowercase()) {
        return Ok(Age::Preset(preset));
    }
    if text.parse::<f64>().is_err() {
        let presets = AgePreset::ALL.iter().map(|preset| preset.name);
        let presets: Vec<&str> = presets.collect();
        let presets = presets.join(", ");
        return Err(format!("expected a number of years or one of {presets}"));
    }
    parse_years(text).map(Age::Years)
}

fn parse_years(text: &str) -> Result<f64, String> {
    number_within(text, 0.0, 1e9).map(f64::from)
}

fn parse_runoff(text: &str) -> Result<f32, String> {
    number_within(text, 0.0, 10_000.0)
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
    /// Run-off, by at least so many drops. units: m
    Runoff {
        metres: f32,
        drops: u64,
    },
    /// Of ageing. units: yr
    Years(f64),
    Seconds {
        seconds: f32,
        step: f32,
    },
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
            Amount::Droplets(count) => Bake::new(terrain).droplets(self.droplets(), count),
            Amount::Runoff { metres, drops } => {
                Bake::new(terrain).runoff(self.droplets(), metres, drops)
            }
            Amount::Years(years) => Bake::new(terrain).age(self.ageing(), years),
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

    /// The settings of its droplets.
    pub fn droplets(&self) -> Droplets {
        let mut models = self.models.iter();
        let droplets = models.find_map(|model| model.settings.get::<Droplets>());
        droplets.cloned().unwrap_or_default()
    }

    /// The settings of its ageing.
    pub fn ageing(&self) -> Ageing {
        let mut models = self.models.iter();
        let ageing = models.find_map(|model| model.settings.get::<Ageing>());
        ageing.cloned().unwrap_or_default()
    }

    /// How strongly it rains. units: mm/h
    pub fn rain_mm_per_hour(&self) -> Option<f32> {
        let mut models = self.models.iter();
        let rain = models.find_map(|model| model.settings.get::<Rain>());
        rain.map(|rain| rain.mm_per_hour)
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
            Amount::Runoff { metres, .. } => write!(f, ", {metres} m of run-off"),
            Amount::Years(years) => write!(f, ", {years} years"),
            Amount::Seconds { seconds, .. } => write!(f, ", {seconds} s"),
        }
    }
}

impl PassOptions {
    /// Takes out what is set before any pass: it belongs to the land.
    pub fn take_land(&mut self) -> Vec<Assignment> {
        let is_model =
            |option: &PassOption| matches!(option, PassOption::Model(_) | PassOption::Age(_));
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
        let is_model =
            |option: &PassOption| matches!(option, PassOption::Model(_) | PassOption::Age(_));
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
            match option {
                PassOption::Model(together) => {
                    drafts.push(Draft::new(together));
                    continue;
                }
                PassOption::Age(age) => {
                    drafts.push(Draft::of_age(age));
                    continue;
                }
                _ => {}
            }
            let Some(draft) = drafts.last_mut() else {
                let reason = "belongs to a pass: give `--model` before it, or `--age`";
                return Err(Failure::usage(format!("{}: {reason}", option.text())));
            };
            let text = option.text();
            let is_new = match option {
                PassOption::Droplets(count) => draft.droplets.replace(count).is_none(),
                // A preset's own years may be replaced, those of `--age YEARS` not.
                PassOption::Years(years) => {
                    let before = draft.years.replace(years);
                    before.is_none() || matches!(draft.age, Some(Age::Preset(_)))
                }
                PassOption::Runoff(metres) => draft.runoff.replace(metres).is_none(),
                PassOption::Seconds(seconds) => draft.seconds.replace(seconds).is_none(),
                PassOption::Step(step) => draft.step.replace(step).is_none(),
                PassOption::Set(set) => {
                    draft.sets.push(set);
                    true
                }
                PassOption::Model(_) | PassOption::Age(_) => true,
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
    /// The settings of a model, where the preset or the scene has some.
    fn named_settings(&self, entry: &ModelEntry) -> Option<AnyModel> {
        let preset = self.preset.model(entry);
        preset.or_else(|| self.scene.as_ref()?.model(entry))
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
            Self::Age(age) => format!("--age {age}"),
            Self::Years(years) => format!("--years {years}"),
            Self::Droplets(count) => format!("--droplets {count}"),
            Self::Runoff(metres) => format!("--runoff {metres}"),
            Self::Seconds(seconds) => format!("--seconds {seconds}"),
            Self::Step(step) => format!("--step {step}"),
            Self::Set(set) => format!("--set {}", set.text),
        }
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Years(years) => write!(f, "{years}"),
            Self::Preset(preset) => f.write_str(preset.name),
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
    /// Given by `--age`.
    age: Option<Age>,
    years: Option<f64>,
    droplets: Option<u64>,
    runoff: Option<f32>,
    seconds: Option<f32>,
    step: Option<f32>,
    sets: Vec<Assignment>,
}

impl Draft {
    fn new(together: Together) -> Self {
        Self {
            entries: together.0,
            is_scene: false,
            age: None,
            years: None,
            droplets: None,
            runoff: None,
            seconds: None,
            step: None,
            sets: Vec::new(),
        }
    }

    /// A pass of ageing, as `--age` asks for.
    fn of_age(age: Age) -> Self {
        let ageing = BUILT_IN
            .iter()
            .filter(|entry| entry.key() == AgeingSolver::KEY);
        let years = match age {
            Age::Years(years) => years,
            Age::Preset(preset) => preset.years,
        };
        Self {
            age: Some(age),
            years: Some(years),
            ..Self::new(Together(ageing.collect()))
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
            false => format!("`{}`", self.start()),
        }
    }

    /// The option that it began with.
    fn start(&self) -> String {
        match self.age {
            Some(age) => format!("--age {age}"),
            None => format!("--model {}", names(&self.entries)),
        }
    }

    /// Settings before any are set one by one.
    fn settings(&self, entry: &ModelEntry, given: &Given) -> AnyModel {
        let named = given.named_settings(entry);
        match (self.age, named) {
            (_, Some(named)) => named,
            (None, None) => entry.default_model(),
            (Some(Age::Preset(preset)), None) => AnyModel::new::<AgeingSolver>(preset.settings()),
            (Some(Age::Years(_)), None) => {
                let kept = Ageing::default().with_uplift(Uplift::keep(0.8));
                AnyModel::new::<AgeingSolver>(kept)
            }
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
            let mut model = Model::new(entry, self.settings(entry, given));
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
                false => self.start(),
            };
            Err(Failure::usage(format!("{pass}: {reason}")))
        };
        let droplets_alone = !self.is_scene
            && matches!(self.entries[..], [model] if model.key() == DropletSolver::KEY);
        let seconds = self.seconds.or(scene.map(|scene| scene.seconds));
        let step = self.step.or(scene.map(|scene| scene.step));
        let ageing_alone = !self.is_scene
            && matches!(self.entries[..], [model] if model.key() == AgeingSolver::KEY);
        if let Some(years) = self.years {
            let others = [
                ("--seconds", self.seconds.is_some()),
                ("--step", self.step.is_some()),
                ("--droplets", self.droplets.is_some()),
                ("--runoff", self.runoff.is_some()),
            ];
            return match others.iter().find(|(_, given)| *given) {
                _ if !ageing_alone => {
                    wrong("`--years` is for a pass of ageing alone; give `--seconds`")
                }
                Some((option, _)) => wrong(&format!("takes years: `{option}` does not go with it")),
                None => Ok(Amount::Years(years)),
            };
        }
        let by_drops = self.droplets.is_some() || self.runoff.is_some();
        let option = match self.runoff {
            Some(_) => "--runoff",
            None => "--droplets",
        };
        match (by_drops, self.seconds) {
            (true, Some(_)) => wrong(&format!("give either `{option}` or `--seconds`, not both")),
            (true, None) if self.is_scene => wrong(&format!(
                "runs for a time: give `--seconds`, or `--model droplets` before `{option}`"
            )),
            (true, None) if !droplets_alone => wrong(&format!(
                "`{option}` is for a pass of droplets alone; give `--seconds`"
            )),
            (true, None) if self.step.is_some() => wrong(&format!(
                "`--step` goes with `--seconds`, not with `{option}`"
            )),
            (true, None) => Ok(match (self.runoff, self.droplets.unwrap_or(0)) {
                (Some(metres), drops) => Amount::Runoff { metres, drops },
                (None, count) => Amount::Droplets(count),
            }),
            (false, _) => match seconds {
                Some(seconds) => Ok(Amount::Seconds {
                    seconds,
                    step: step.unwrap_or(STEP),
                }),
                None if droplets_alone => {
                    wrong("no duration: give `--runoff`, `--droplets` or `--seconds`")
                }
                None if ageing_alone => wrong("no duration: give `--years` or `--seconds`"),
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
