//! Bakes: what they give, progress, cancellation, in an app and without.

use crate::hills;
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_erode::schedule::ErosionStepSystems;
use bevy_erode::{
    bake::{BakeError, BakeModel, BakeProgress, BakedTerrain},
    forcing::{EvaporationSolver, RainSolver},
    models::droplet::DropletSolver,
    models::pipe::{PipeSolver, PublishedPipe},
    models::shallow_water::ShallowWaterSolver,
    models::thermal::ThermalSolver,
    terrain::{Grid, SettingsError},
};
use bevy_erode::{parallel::Workers, prelude::*};
use std::sync::Arc;

fn plan(terrain: Terrain) -> Bake {
    Bake::new(terrain)
        .droplets(Droplets::default(), 20_000)
        .with_step(0.05)
        .simulate(
            1.0,
            [
                BakeModel::new::<RainSolver>(Rain::mm_per_hour(500.0)),
                BakeModel::new::<PipeSolver>(PipeModel::default()),
                BakeModel::new::<ThermalSolver>(Thermal::default()),
            ],
        )
}

#[test]
fn a_bake_is_what_its_solvers_do() {
    let mut by_hand = hills(6);
    let grid = *by_hand.grid();
    let mut droplets = DropletSolver::new(Droplets::default(), &grid).expect("valid");
    droplets.rain(&mut by_hand, 16_384);
    droplets.rain(&mut by_hand, 20_000 - 16_384);
    let mut rain = RainSolver::new(Rain::mm_per_hour(500.0), &grid).expect("valid");
    let mut pipe = PipeSolver::new(PipeModel::default(), &grid).expect("valid");
    let mut thermal = ThermalSolver::new(Thermal::default(), &grid).expect("valid");
    for _ in 0..20 {
        rain.step(&mut by_hand, 0.05);
        pipe.step(&mut by_hand, 0.05);
        thermal.step(&mut by_hand, 0.05);
    }
    let progress = BakeProgress::default();
    let baked = plan(hills(6)).run(&progress).expect("baked");
    assert_eq!(baked.state_hash(), by_hand.state_hash());
    assert_eq!(progress.done(), 1.0);
}

#[test]
fn wrong_settings_are_told_before_anything_runs() {
    let wrong = Thermal {
        soil_angle: f32::NAN,
        ..default()
    };
    let progress = BakeProgress::default();
    let error = Bake::new(hills(1))
        .droplets(Droplets::default(), u64::MAX)
        .simulate(1.0, [BakeModel::new::<ThermalSolver>(wrong)])
        .run(&progress)
        .expect_err("refused");
    assert!(matches!(error, BakeError::Settings(_)), "{error}");
    assert_eq!(progress.done(), 0.0);
    for seconds in [f32::NAN, -1.0, f32::INFINITY] {
        let error = Bake::new(hills(1)).simulate(seconds, []).run(&progress);
        assert!(matches!(error, Err(BakeError::Settings(_))));
    }
    let step = Bake::new(hills(1)).with_step(0.0).simulate(1.0, []);
    assert!(matches!(step.run(&progress), Err(BakeError::Settings(_))));
}

#[test]
fn a_land_that_leaves_all_heights_is_an_error() {
    let absurd = PipeModel {
        published: Some(PublishedPipe {
            capacity: 1000.0,
            dissolving: 1.0,
            ..default()
        }),
        ..default()
    };
    let land = Fbm::seeded(3).with_height(800.0).with_feature_size(600.0);
    let land = Terrain::generate(&land, UVec2::splat(32), 30.0).expect("valid");
    let models = || {
        [
            BakeModel::new::<RainSolver>(Rain::mm_per_hour(20_000.0)),
            BakeModel::new::<PipeSolver>(absurd.clone()),
        ]
    };
    let bake = Bake::new(land).with_step(0.1).simulate(20.0, models());
    let error = bake.run(&BakeProgress::default()).expect_err("absurd");
    let BakeError::Diverged {
        models,
        x,
        y,
        height,
        lowest,
        highest,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(models, "Rain+PipeModel");
    assert!(x < 32 && y < 32, "({x}, {y})");
    assert!(!(lowest..=highest).contains(&height), "{height}");
}

#[test]
fn a_bake_lasts_as_long_as_it_is_told() {
    let rain = || BakeModel::new::<RainSolver>(Rain::mm_per_hour(3600.0));
    let fallen = |seconds: f32| {
        let bake = Bake::new(hills(1))
            .with_step(0.05)
            .simulate(seconds, [rain()]);
        let baked = bake.run(&BakeProgress::default()).expect("baked");
        let ledger = baked.ledger();
        let area = baked.grid().cells() as f64 * baked.grid().cell_area();
        // A millimetre a second.
        ledger.water.standing / area * 1e3
    };
    for seconds in [0.0, 0.007, 0.05, 0.12, 1.0, 1.02] {
        let fallen = fallen(seconds);
        assert!(
            (fallen - f64::from(seconds)).abs() < 1e-4,
            "{fallen} {seconds}"
        );
    }
}

#[test]
fn a_bake_has_one_water_model() {
    let two = [
        BakeModel::new::<PipeSolver>(PipeModel::default()),
        BakeModel::new::<ShallowWaterSolver>(ShallowWater::default()),
    ];
    let bake = Bake::new(hills(1)).simulate(1.0, two);
    let error = bake.run(&BakeProgress::default()).expect_err("refused");
    assert!(error.to_string().contains("one water model"), "{error}");
    // One after the other they may run.
    let bake = Bake::new(hills(1))
        .simulate(0.1, [BakeModel::new::<PipeSolver>(PipeModel::default())])
        .simulate(
            0.1,
            [BakeModel::new::<ShallowWaterSolver>(ShallowWater::default())],
        );
    bake.run(&BakeProgress::default()).expect("baked");
}

#[test]
fn a_scene_bakes_as_it_runs_in_an_app() {
    let scene = ErosionScene::from_ron(
        "springs",
        r#"(
            terrain: (landform: Fbm(seed: 4, feature_size: 90.0, height: 30.0), size: (70, 50), soil_depth: 0.3),
            models: (droplets: (rate: 0.5), pipe: (), thermal: ()),
            forcing: (
                rain: (mm_per_hour: 900.0),
                evaporation: (mm_per_hour: 50.0),
                sources: [(at: (20.0, 10.0), discharge: 3.0), (at: (-30.0, -12.0), discharge: 5.0), (at: (-27.0, -12.0))],
                sinks: [(at: (18.0, 9.0), discharge: 2.0)],
            ),
            step: 0.125,
        )"#,
    )
    .expect("a scene");
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(
            core::time::Duration::from_millis(125),
        ))
        .insert_resource(ErosionPace::StepsPerTick(1));
    scene.apply(app.world_mut()).expect("opened");
    while app.world().resource::<Time<Erosion>>().steps() < 40 {
        app.update();
    }

    let land = scene.build_terrain().expect("a land");
    let ErosionScene {
        models, forcing, ..
    } = scene;
    let mut plan = forcing.bake_points(&land);
    plan.extend([
        BakeModel::new::<RainSolver>(forcing.rain.expect("rain")),
        BakeModel::new::<EvaporationSolver>(forcing.evaporation.expect("evaporation")),
        BakeModel::new::<DropletSolver>(models.get::<Droplets>().cloned().expect("droplets")),
        BakeModel::new::<PipeSolver>(models.get::<PipeModel>().cloned().expect("pipe")),
        BakeModel::new::<ThermalSolver>(models.get::<Thermal>().cloned().expect("thermal")),
    ]);
    let baked = Bake::new(land).with_step(0.125).simulate(5.0, plan);
    let baked = baked.run(&BakeProgress::default()).expect("baked");
    let ledger = baked.ledger().water;
    assert!(ledger.poured > 40.0 && ledger.drained > 0.0, "{ledger:?}");
    let terrain = app.world().resource::<Terrain>();
    assert_eq!(baked.state_hash(), terrain.state_hash());
}

#[test]
fn springs_off_the_land_are_refused() {
    let far = Vec3::new(1e4, 0.0, 0.0);
    for model in [
        BakeModel::source(WaterSource::default(), far),
        BakeModel::sink(WaterSink::default(), far),
    ] {
        let bake = Bake::new(hills(1)).simulate(1.0, [model]);
        let error = bake.run(&BakeProgress::default()).expect_err("refused");
        assert!(error.to_string().contains("must be on the land"), "{error}");
    }
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let land = hills(2);
    let hash = land.state_hash();
    let progress = BakeProgress::default();
    let baked = Bake::new(land).run(&progress).expect("baked");
    assert_eq!((baked.state_hash(), progress.done()), (hash, 1.0));
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()));
    app.update();
    app
}

fn finish(app: &mut App) -> BakeFinished {
    loop {
        app.update();
        let mut messages = app.world_mut().resource_mut::<Messages<BakeFinished>>();
        if let Some(finished) = messages.drain().next() {
            return finished;
        }
        std::thread::sleep(core::time::Duration::from_millis(2));
    }
}

#[test]
fn a_task_brings_its_terrain() {
    let expected = plan(hills(6)).run(&BakeProgress::default()).expect("baked");
    let mut app = app();
    let entity = app.world_mut().spawn(BakeTask::start(plan(hills(6)))).id();
    let finished = finish(&mut app);
    assert_eq!(finished.entity, entity);
    assert!(finished.result.is_ok(), "{finished:?}");
    let terrain = app.world().resource::<Terrain>();
    assert_eq!(terrain.state_hash(), expected.state_hash());
    assert!(app.world().get::<BakeTask>(entity).is_none());

    let bake = BakeTask::start(plan(hills(6))).aside();
    let aside = app.world_mut().spawn(bake).id();
    app.world_mut().remove_resource::<Terrain>();
    finish(&mut app);
    assert!(!app.world().contains_resource::<Terrain>());
    let baked = app.world().get::<BakedTerrain>(aside).expect("kept aside");
    assert_eq!(baked.0.state_hash(), expected.state_hash());
}

#[test]
fn a_task_tells_how_far_it_is_and_how_long_it_will_take() {
    let idle = BakeModel::new::<Idle>(Watched::default());
    let slow = Bake::new(crate::land(3, UVec2::splat(300), 1.0))
        .droplets(Droplets::default(), 400_000)
        .simulate(1.0, [idle]);
    let mut task = Some(BakeTask::start(slow));
    let (mut seen, mut said) = (vec![0.0f32], 0);
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    app.world_mut()
        .entity_mut(entity)
        .insert(task.take().expect("started"));
    while let Some(task) = app.world().get::<BakeTask>(entity) {
        let (done, left, elapsed) = (task.done(), task.time_left(), task.elapsed());
        assert!(done >= seen[seen.len() - 1] && done <= 1.0);
        seen.push(done);
        match left {
            Some(left) => {
                said += 1;
                let wanted = elapsed.as_secs_f32() * (1.0 - done) / done;
                let left = left.as_secs_f32();
                assert!(
                    (left - wanted).abs() < 0.1 * wanted + 0.05,
                    "{left} {wanted}"
                );
            }
            None => assert_eq!(done, 0.0),
        }
        app.update();
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
    seen.dedup();
    assert!(seen.len() > 5, "{seen:?}");
    assert!(said > 3, "{said}");
}

#[test]
fn a_task_can_be_cancelled() {
    let endless = || Bake::new(hills(1)).droplets(Droplets::default(), 1 << 40);
    let mut app = app();
    let entity = app.world_mut().spawn(BakeTask::start(endless())).id();
    app.update();
    let task = app.world().get::<BakeTask>(entity).expect("running");
    assert!(task.done() < 0.5);
    task.cancel();
    assert_eq!(finish(&mut app).result, Err(BakeError::Cancelled));
    assert!(!app.world().contains_resource::<Terrain>());

    // Without its task a bake ends too: the pool's thread is free again.
    let lost = app.world_mut().spawn(BakeTask::start(endless())).id();
    app.world_mut().despawn(lost);
    let entity = app.world_mut().spawn(BakeTask::start(plan(hills(1)))).id();
    assert_eq!(finish(&mut app).entity, entity);
}

/// A model that changes nothing. Its settings are shared with whoever wants to
/// know whether it still exists.
struct Idle(Watched);

#[derive(Resource, Reflect, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Watched {
    #[reflect(ignore)]
    #[serde(skip)]
    shared: Arc<()>,
}

impl PartialEq for Watched {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Solver for Idle {
    type Settings = Watched;
    const NAME: &'static str = "Watched";
    const KEY: &'static str = "watched";
    const READS: &'static [Layer] = &[];
    const WRITES: &'static [Layer] = &[];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Thermal
    }

    fn new(settings: Watched, _: &Grid) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn check_settings(_: &Watched) -> Result<(), SettingsError> {
        Ok(())
    }

    fn settings(&self) -> &Watched {
        &self.0
    }

    fn set_settings(&mut self, settings: Watched) -> Result<(), SettingsError> {
        self.0 = settings;
        Ok(())
    }

    fn step_on(&mut self, _: Workers, _: &mut Terrain, _: f32) {}
}

#[test]
fn a_bake_ends_when_its_task_is_replaced() {
    let watch = Arc::new(());
    let idle = BakeModel::new::<Idle>(Watched {
        shared: watch.clone(),
    });
    // More steps than anyone can wait for.
    let endless = Bake::new(hills(1)).with_step(1e-6).simulate(1e9, [idle]);
    let mut app = app();
    let entity = app.world_mut().spawn(BakeTask::start(endless)).id();
    app.update();
    let new = BakeTask::start(plan(hills(1)));
    app.world_mut().entity_mut(entity).insert(new);
    // The old one lets its model go, and only the new one is told of.
    while Arc::strong_count(&watch) > 1 {
        std::thread::sleep(core::time::Duration::from_millis(2));
    }
    let finished = finish(&mut app);
    assert_eq!(finished.entity, entity);
    assert!(finished.result.is_ok(), "{finished:?}");
}
