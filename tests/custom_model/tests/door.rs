//! A model of another crate is checked, run, saved, baked and switched like the models
//! of bevy_erode.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::{
    bake::{BakeModel, BakeProgress},
    io::SaveError,
    models::pipe::PipeSolver,
    models::plugin::ModelFailed,
    scene::ErosionPreset,
    schedule::ErosionStepSystems,
    terrain::{Grid, SettingsError},
};
use bevy_erode::{
    models::{ErosionModels, ModelEntry},
    parallel::Workers,
    prelude::*,
    testing::{Conditions, check_contract},
};
use core::time::Duration;
use custom_model::{FrostPlugin, FrostShattering, FrostSolver};
use serde::{Deserialize, Serialize};

fn frost() -> FrostShattering {
    FrostShattering {
        frost_line: 10.0,
        cycle: 0.3,
        ..FrostShattering::default()
    }
}

fn hills() -> Terrain {
    let shape = Fbm::seeded(3).with_height(60.0);
    Terrain::generate(&shape, UVec2::new(96, 70), 2.0).expect("valid")
}

fn list_with_frost() -> ErosionModels {
    ErosionModels::default().with::<FrostSolver>().expect("new")
}

/// An app that makes a step in each frame, of an eighth of a second.
fn app() -> App {
    let mut app = App::new();
    let step = Duration::from_millis(125);
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(step))
        .insert_resource(ErosionPace::StepsPerTick(1));
    app.world_mut()
        .resource_mut::<Time<Erosion>>()
        .set_step_size(step);
    app
}

fn frames(app: &mut App, count: u64) {
    let end = app.world().resource::<Time<Erosion>>().steps() + count;
    while app.world().resource::<Time<Erosion>>().steps() < end {
        app.update();
    }
}

fn hash(app: &App) -> u64 {
    app.world().resource::<Terrain>().state_hash()
}

#[test]
fn it_keeps_the_contract() {
    for soil in [0.5, 0.0] {
        let conditions = Conditions {
            soil,
            ..Conditions::default()
        };
        check_contract::<FrostSolver>(frost(), &conditions)
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn rock_above_the_frost_line_becomes_soil() {
    let run = |dt: f32| {
        let mut terrain = hills();
        let mut solver = FrostSolver::new(frost(), terrain.grid()).expect("valid");
        for _ in 0..(30.0 / dt) as u32 {
            solver.step(&mut terrain, dt);
        }
        terrain
    };
    let (before, after, coarse) = (hills(), run(0.1), run(3.0));
    let mut broken = 0;
    for cell in 0..before.grid().cells() {
        let soil = after.soil()[cell];
        assert_eq!(soil > 0.0, before.ground(cell) > 10.0);
        // Loose ground takes no more room than rock: the ground stays.
        assert!((after.ground(cell) - before.ground(cell)).abs() < 1e-3);
        assert!(
            (soil - coarse.soil()[cell]).abs() < 3e-3,
            "steps of any length"
        );
        broken += u32::from(soil > 0.0);
    }
    assert!(broken > 100, "{broken}");
    assert!(after.ledger().solids.drift_of_total().abs() < 1e-6);
}

#[test]
fn it_runs_in_an_app_like_alone_and_in_a_bake() {
    let mut app = app();
    app.add_plugins(FrostPlugin)
        .insert_resource(hills())
        .insert_resource(frost());
    frames(&mut app, 40);

    let mut alone = hills();
    let mut solver = FrostSolver::new(frost(), alone.grid()).expect("valid");
    for _ in 0..40 {
        solver.step(&mut alone, 0.125);
    }
    assert_eq!(hash(&app), alone.state_hash());

    let plan = [BakeModel::new::<FrostSolver>(frost())];
    let baked = Bake::new(hills()).with_step(0.125).simulate(5.0, plan);
    let baked = baked.run(&BakeProgress::default()).expect("baked");
    assert_eq!(baked.state_hash(), alone.state_hash());
}

#[test]
fn it_is_saved_and_loaded_where_it_is_known() {
    let mut first = app();
    first
        .add_plugins(FrostPlugin)
        .insert_resource(hills())
        .insert_resource(frost())
        .insert_resource(Thermal::default());
    frames(&mut first, 10);
    let bytes = SavedState::capture(first.world_mut()).and_then(|state| state.to_bytes());
    let bytes = bytes.expect("writable");
    frames(&mut first, 10);

    let mut second = app();
    second.add_plugins(FrostPlugin);
    let state = SavedState::from_bytes(&bytes).expect("readable");
    state.restore(second.world_mut()).expect("it has the model");
    assert_eq!(second.world().get_resource(), Some(&frost()));
    frames(&mut second, 10);
    assert_eq!(hash(&second), hash(&first));

    // An app without the model says so, changes nothing and loses nothing.
    let mut without = app();
    without.insert_resource(hills());
    let before = hash(&without);
    let state = SavedState::from_bytes(&bytes).expect("readable");
    assert_eq!(state.to_bytes().expect("writable"), bytes);
    let error = state.restore(without.world_mut()).expect_err("unknown");
    assert!(matches!(&error, SaveError::UnknownModel { name, .. } if name == "FrostShattering"));
    assert!(error.to_string().contains("add_erosion_model"), "{error}");
    assert_eq!(hash(&without), before);
    assert!(!without.world().contains_resource::<Thermal>());

    // Without an app it needs no list of models at all.
    let state = SavedState::from_bytes(&bytes).expect("readable");
    let solver: Option<FrostSolver> = state.solver().expect("usable");
    assert_eq!(solver.expect("there").settings(), &frost());
}

#[test]
fn it_can_be_added_before_the_crate_s_own_plugin() {
    let run = |frost_first: bool| {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        if frost_first {
            app.add_plugins(FrostPlugin);
        }
        app.add_plugins(ErosionPlugin::default());
        if !frost_first {
            app.add_plugins(FrostPlugin);
        }
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            125,
        )))
        .insert_resource(ErosionPace::StepsPerTick(4))
        .insert_resource(hills())
        .insert_resource(frost())
        .insert_resource(Thermal::default());
        frames(&mut app, 40);
        hash(&app)
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn it_runs_where_a_list_of_models_was_inserted_before() {
    let run = |prepare: fn(&mut App)| {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        prepare(&mut app);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            125,
        )))
        .insert_resource(ErosionPace::StepsPerTick(4))
        .insert_resource(hills())
        .insert_resource(frost());
        frames(&mut app, 40);
        hash(&app)
    };
    let expected = run(|app| {
        app.add_plugins((ErosionPlugin::default(), FrostPlugin));
    });
    assert_ne!(expected, hills().state_hash(), "it has much to do");
    let found = run(|app| {
        app.insert_resource(list_with_frost())
            .add_plugins((FrostPlugin, ErosionPlugin::default()));
    });
    assert_eq!(found, expected);
    let found = run(|app| {
        app.add_plugins(ErosionPlugin::default())
            .insert_resource(list_with_frost())
            .add_plugins(FrostPlugin)
            .add_erosion_model::<FrostSolver>();
    });
    assert_eq!(found, expected);
    // The list alone, before the plugin.
    let found = run(|app| {
        app.insert_resource(list_with_frost())
            .add_plugins(ErosionPlugin::default());
    });
    assert_eq!(found, expected);
    // A list that lacks it, after it was added: it is listed again and runs once.
    let found = run(|app| {
        app.add_plugins((ErosionPlugin::default(), FrostPlugin))
            .insert_resource(ErosionModels::default())
            .add_erosion_model::<FrostSolver>();
        let models = app.world().resource::<ErosionModels>();
        assert!(models.named("FrostShattering").is_some());
    });
    assert_eq!(found, expected);
}

#[test]
fn scenes_and_presets_can_have_it() {
    let text = "(
        terrain: (size: (16, 16)),
        models: (
            frost_shattering: (rate: 0.01),
            thermal: (),
        ),
    )";
    let models = list_with_frost();
    let scene = ErosionScene::from_ron_with("frost.scene.ron", text, &models).expect("valid");
    let settings = scene.models.get::<FrostShattering>().expect("there");
    assert_eq!(settings.rate, 0.01);
    let written = scene.to_ron().expect("writable");
    let again = ErosionScene::from_ron_with("again", &written, &models).expect("valid");
    assert_eq!(again, scene);

    // Errors are as precise as those of other models.
    let wrong = text.replace("0.01", "7.0");
    let error = ErosionScene::from_ron_with("frost.scene.ron", &wrong, &models);
    assert_eq!(
        error.expect_err("wrong").to_string(),
        "frost.scene.ron:4:32: `models.frost_shattering.rate`: must be 0 to 1, was 7"
    );
    let wrong = text.replace("rate: 0.01", "speed: 1.0");
    let error = ErosionScene::from_ron_with("frost.scene.ron", &wrong, &models);
    let error = error.expect_err("wrong");
    assert_eq!(error.place, Some((4, 32)), "{error}");
    assert!(error.to_string().contains("`frost_line`"), "{error}");
    let error = ErosionScene::from_ron("frost.scene.ron", text).expect_err("unknown");
    assert_eq!(error.place, Some((4, 13)), "{error}");
    assert!(
        error.reason.contains("no model `frost_shattering`"),
        "{error}"
    );
    assert!(error.reason.contains("`thermal`"), "{error}");

    // A scene turns it on, the next one off; a preset holds it.
    let mut app = app();
    app.add_plugins(FrostPlugin);
    let world = app.world_mut();
    scene.apply(world).expect("valid");
    assert_eq!(world.resource::<FrostShattering>().rate, 0.01);
    let preset = ErosionPreset::capture(world);
    ErosionScene::default().apply(world).expect("valid");
    assert!(!world.contains_resource::<FrostShattering>());
    let known = ErosionModels::of(world);
    let preset = preset.to_ron().expect("writable");
    let preset = ErosionPreset::from_ron_with("frost", &preset, &known).expect("valid");
    preset.apply(world).expect("valid");
    assert_eq!(world.resource::<FrostShattering>().rate, 0.01);
}

/// A water model that lets water stand. Those of different numbers are different
/// solvers with the same name and settings.
struct Pond<const NUMBER: u32 = 0>(PondSettings);

#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PondSettings {}

impl<const NUMBER: u32> Solver for Pond<NUMBER> {
    type Settings = PondSettings;

    const NAME: &'static str = "PondSettings";
    const KEY: &'static str = "pond";
    const READS: &'static [Layer] = &[];
    const WRITES: &'static [Layer] = &[];
    const MOVES_WATER: bool = true;

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Water
    }

    fn new(settings: PondSettings, _: &Grid) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn check_settings(_: &PondSettings) -> Result<(), SettingsError> {
        Ok(())
    }

    fn settings(&self) -> &PondSettings {
        &self.0
    }

    fn set_settings(&mut self, settings: PondSettings) -> Result<(), SettingsError> {
        self.0 = settings;
        Ok(())
    }

    fn step_on(&mut self, _: Workers, _: &mut Terrain, _: f32) {}
}

#[test]
fn another_solver_of_the_same_name_is_another_model() {
    let (pond, other) = (ModelEntry::of::<Pond>(), ModelEntry::of::<Pond<1>>());
    assert_eq!(pond, ModelEntry::of::<Pond<0>>());
    assert_ne!(pond, other);
    let models = ErosionModels::default().with::<Pond>().expect("new");
    let again = models.clone().with::<Pond>().expect("there already");
    assert_eq!(again.iter().count(), models.iter().count());
    let error = models.with::<Pond<1>>().expect_err("the name is taken");
    assert_eq!(error.field, "NAME");
    assert!(error.reason.contains("`PondSettings`"), "{error}");
}

#[test]
fn only_one_water_model_runs_whichever_crate_it_is_from() {
    let mut app = app();
    app.add_erosion_model::<Pond>();
    app.insert_resource(hills())
        .insert_resource(PondSettings {});
    app.update();
    app.insert_resource(PipeModel::default())
        .insert_resource(ShallowWater::default());
    app.update();
    let world = app.world_mut();
    assert!(world.contains_resource::<PondSettings>());
    assert!(!world.contains_resource::<PipeModel>());
    assert!(!world.contains_resource::<ShallowWater>());
    let failed: Vec<ModelFailed> = world
        .resource_mut::<Messages<ModelFailed>>()
        .drain()
        .collect();
    let removed: Vec<&str> = failed.iter().map(|failed| failed.model).collect();
    assert_eq!(removed, ["PipeModel", "ShallowWater"]);

    // Removed and inserted in one frame, another takes over.
    world.remove_resource::<PondSettings>();
    world.insert_resource(PipeModel::default());
    app.update();
    assert!(app.world().contains_resource::<PipeModel>());

    let plan = [
        BakeModel::new::<Pond>(PondSettings {}),
        BakeModel::new::<PipeSolver>(PipeModel::default()),
    ];
    let bake = Bake::new(hills()).simulate(1.0, plan);
    let error = bake.run(&BakeProgress::default()).expect_err("two");
    assert!(
        error.to_string().contains("PondSettings and PipeModel"),
        "{error}"
    );

    let models = ErosionModels::default().with::<Pond>().expect("new");
    let error = ErosionScene::from_ron_with("two", "(models: (pond: (), pipe: ()))", &models);
    let error = error.expect_err("two");
    assert!(
        error.to_string().contains("only one water model"),
        "{error}"
    );
}
