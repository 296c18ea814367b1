//! Rain, evaporation, springs and drains: right amounts, right places, right books.

use bevy::{math::UVec2, prelude::*, tasks::TaskPoolBuilder, time::TimeUpdateStrategy};
use bevy_erode::{
    forcing::{EvaporationSolver, RainPattern, RainSolver, Season},
    models::plugin::ModelFailed,
};
use bevy_erode::{
    parallel::Workers,
    prelude::*,
    terrain::{LayerGroup, TerrainCursor, WaterLedger},
};
use core::time::Duration;

const SIZE: UVec2 = UVec2::new(150, 131);
const DT: f32 = 1.0 / 64.0;

fn plain() -> Terrain {
    Terrain::flat(SIZE, 2.0).expect("valid")
}

/// A land with lakes of several depths, all of them muddy.
fn lakes() -> Terrain {
    let terrain = crate::land(4, SIZE, 2.0);
    let water = terrain.bedrock().iter().map(|h| (20.0 - h).max(0.0));
    let water: Vec<f32> = water.collect();
    let mud = water.iter().map(|w| w * 0.01).collect();
    terrain
        .with_soil_depth(1.7)
        .and_then(|t| t.with_layer(Layer::Water, water))
        .and_then(|t| t.with_layer(Layer::Suspended, mud))
        .expect("valid")
}

fn rain_for(rain: Rain, terrain: &mut Terrain, steps: u32, dt: f32) {
    let mut solver = RainSolver::new(rain, terrain.grid()).expect("valid settings");
    for _ in 0..steps {
        solver.step(terrain, dt);
    }
}

fn patterns() -> [RainPattern; 4] {
    let weights = (0..SIZE.x * SIZE.y).map(|i| (i % SIZE.x) as f32);
    [
        RainPattern::Uniform,
        RainPattern::drops(3),
        RainPattern::blue_noise(3),
        RainPattern::Map(weights.collect()),
    ]
}

/// m³ that a rain of so many mm/h brings in so many seconds.
fn expected(terrain: &Terrain, mm_per_hour: f64, seconds: f64) -> f64 {
    mm_per_hour / 3.6e6 * seconds * terrain.grid().cells() as f64 * terrain.grid().cell_area()
}

fn assert_balanced(terrain: &Terrain) {
    let ledger = terrain.ledger();
    let (water, solids) = (
        ledger.water.drift_of_total(),
        ledger.solids.drift_of_total(),
    );
    assert!(water.abs() < 1e-9, "water: {water}");
    assert!(solids.abs() < 1e-9, "solids: {solids}");
    for layer in [terrain.water(), terrain.suspended(), terrain.soil()] {
        assert!(layer.iter().all(|v| v.is_finite() && *v >= 0.0));
    }
}

#[test]
fn it_rains_as_much_as_asked_for() {
    for (pattern, steps, tolerance) in patterns()
        .into_iter()
        .zip([1000, 20_000, 20_000, 1000])
        .zip([1e-6, 0.01, 0.01, 1e-6])
        .map(|((pattern, steps), tolerance)| (pattern, steps, tolerance))
    {
        let name = format!("{pattern:.20?}");
        let mut terrain = plain();
        let rain = Rain::mm_per_hour(40.0).with_pattern(pattern);
        rain_for(rain, &mut terrain, steps, DT);
        let ledger = terrain.ledger();
        let expected = expected(&terrain, 40.0, f64::from(steps) * f64::from(DT));
        let off = ledger.water.standing / expected - 1.0;
        assert!(off.abs() < tolerance, "{name:.40}: {off}");
        assert!(ledger.water.rained > 0.0);
        assert_balanced(&terrain);
    }
}

#[test]
fn long_steps_and_tiny_drops_keep_the_rate() {
    for pattern in [
        RainPattern::Drops {
            radius: 0.05,
            depth: 1e-5,
            seed: 1,
        },
        RainPattern::BlueNoise {
            spacing: 1.0,
            radius: 30.0,
            depth: 1e-4,
            seed: 1,
        },
        RainPattern::BlueNoise {
            spacing: 1e5,
            radius: 2.0,
            depth: 0.1,
            seed: 1,
        },
    ] {
        let mut terrain = plain();
        let rain = Rain::mm_per_hour(40.0).with_pattern(pattern.clone());
        rain_for(rain, &mut terrain, 20, 600.0);
        let off = terrain.ledger().water.rained / expected(&terrain, 40.0, 12_000.0) - 1.0;
        assert!(off.abs() < 0.02, "{pattern:?}: {off}");
        assert_balanced(&terrain);
    }
}

#[test]
fn the_edge_gets_as_much_rain_as_the_middle() {
    for pattern in [
        RainPattern::Drops {
            radius: 15.0,
            depth: 0.01,
            seed: 5,
        },
        RainPattern::BlueNoise {
            spacing: 20.0,
            radius: 15.0,
            depth: 0.01,
            seed: 5,
        },
    ] {
        let mut terrain = plain();
        let rain = Rain::mm_per_hour(400.0).with_pattern(pattern.clone());
        rain_for(rain, &mut terrain, 2000, 10.0);
        let (mut edge, mut count) = (0.0, 0);
        let near = |at: u32, end: u32| at < 4 || at + 4 >= end;
        for y in 0..SIZE.y {
            for x in 0..SIZE.x {
                if near(x, SIZE.x) || near(y, SIZE.y) {
                    edge += f64::from(terrain.water()[terrain.grid().index(x, y)]);
                    count += 1;
                }
            }
        }
        let mean = terrain.water().iter().map(|&w| f64::from(w)).sum::<f64>();
        let mean = mean / terrain.grid().cells() as f64;
        let ratio = edge / f64::from(count) / mean;
        assert!((ratio - 1.0).abs() < 0.05, "{pattern:?}: {ratio}");
    }
}

#[test]
fn drizzle_on_a_deep_lake_is_not_lost() {
    for (pattern, steps) in patterns().into_iter().zip([6400, 200_000, 200_000, 6400]) {
        let name = format!("{pattern:.20?}");
        let cells = plain().grid().cells();
        let mut terrain = plain()
            .with_layer(Layer::Water, vec![1000.0; cells])
            .expect("valid");
        let rain = Rain::mm_per_hour(0.1).with_pattern(pattern);
        rain_for(rain, &mut terrain, steps, DT);
        let ledger = terrain.ledger().water;
        let expected = expected(&terrain, 0.1, f64::from(steps) * f64::from(DT));
        let grown = ledger.standing - ledger.initial;
        let off = grown / expected - 1.0;
        assert!(off.abs() < 0.02, "{name:.40}: {off}");
        assert!((ledger.rained - grown).abs() < 1e-3 * expected);
        let mut solver = EvaporationSolver::new(Evaporation::mm_per_hour(0.1), terrain.grid())
            .expect("valid settings");
        for _ in 0..steps.min(6400) {
            solver.step(&mut terrain, DT);
        }
        let evaporated = terrain.ledger().water.evaporated;
        let off = evaporated / self::expected(&terrain, 0.1, f64::from(steps.min(6400)) / 64.0);
        assert!((off - 1.0).abs() < 1e-3, "{off}");
        assert_balanced(&terrain);
    }
}

#[test]
fn a_map_gives_the_proportions() {
    let mut terrain = plain();
    let weights: Vec<f32> = (0..terrain.grid().cells())
        .map(|i| [0.0, 1.0, 5.0][i % 3])
        .collect();
    let rain = Rain::mm_per_hour(60.0).with_pattern(RainPattern::Map(weights.clone()));
    rain_for(rain, &mut terrain, 60, 1.0);
    // 1 mm in the mean, and the mean weight is 2.
    for (cell, weight) in weights.iter().enumerate() {
        let off = terrain.water()[cell] - 1e-3 * weight / 2.0;
        assert!(off.abs() < 1e-9, "{cell}: off by {off}");
    }
    assert_balanced(&terrain);

    // Only the tile on which it rains has changed.
    let mut corner = vec![0.0; weights.len()];
    corner[0] = 1e6;
    let mut terrain = plain();
    let seen = TerrainCursor::at(&terrain);
    let rain = Rain::default().with_pattern(RainPattern::Map(corner));
    rain_for(rain, &mut terrain, 1, 1.0);
    let changed: Vec<UVec2> = seen.peek(&terrain).water().collect();
    assert_eq!(changed, [UVec2::ZERO]);
}

/// Variance of the water in blocks of so many cells, in proportion to the mean.
fn unevenness(terrain: &Terrain, block: u32) -> f64 {
    let blocks = SIZE / block;
    let mut sums = vec![0.0f64; (blocks.x * blocks.y) as usize];
    for y in 0..blocks.y * block {
        for x in 0..blocks.x * block {
            sums[(y / block * blocks.x + x / block) as usize] +=
                f64::from(terrain.water()[terrain.grid().index(x, y)]);
        }
    }
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let square = |sum: &f64| (sum / mean - 1.0) * (sum / mean - 1.0);
    sums.iter().map(square).sum::<f64>() / sums.len() as f64
}

#[test]
fn blue_noise_is_more_even_than_chance() {
    for (steps, block) in [(1, 15), (1, 30), (12, 15), (12, 30)] {
        let uneven = |pattern: RainPattern| {
            let mut terrain = plain();
            // Some 400 drops a step.
            let rain = Rain::mm_per_hour(40.0).with_pattern(pattern);
            rain_for(rain, &mut terrain, steps, 28.8);
            unevenness(&terrain, block)
        };
        let chance: f64 = (0..8).map(|seed| uneven(RainPattern::drops(seed))).sum();
        let blue: f64 = (0..8)
            .map(|seed| uneven(RainPattern::blue_noise(seed)))
            .sum();
        println!("{steps} steps, blocks of {block}: {blue} to {chance}");
        assert!(blue < 0.6 * chance, "{steps}, {block}: {blue} to {chance}");
        assert!(blue > 0.0);
    }
}

#[test]
fn the_same_bits_on_1_2_3_and_8_threads() {
    for pattern in patterns() {
        let run = |workers: Workers| {
            let mut terrain = lakes();
            let rain = Rain::mm_per_hour(400.0).with_pattern(pattern.clone());
            let mut rain = RainSolver::new(rain, terrain.grid()).expect("valid");
            let dry = Evaporation::mm_per_hour(200.0);
            let mut dry = EvaporationSolver::new(dry, terrain.grid()).expect("valid");
            for _ in 0..20 {
                rain.step_on(workers, &mut terrain, 5.0);
                dry.step_on(workers, &mut terrain, 5.0);
            }
            assert_balanced(&terrain);
            let water = terrain.ledger().water;
            assert!(water.evaporated > 0.0 && water.rained > 0.0);
            let books = (water.rained.to_bits(), water.evaporated.to_bits());
            (terrain.state_hash(), books)
        };
        let one = run(Workers::serial());
        assert_eq!(run(Workers::global()), one);
        // The calling thread works too, so a pool of one less makes 2, 3 and 8.
        for threads in [1, 2, 7] {
            let pool = TaskPoolBuilder::new().num_threads(threads).build();
            assert_eq!(run(Workers::on(&pool)), one, "{threads}");
        }
    }
}

#[test]
fn evaporation_takes_no_more_than_there_is_and_leaves_the_mud() {
    let mut terrain = lakes();
    let before = terrain.ledger();
    let seen = TerrainCursor::at(&terrain);
    let mut solver =
        EvaporationSolver::new(Evaporation::mm_per_hour(3600.0), terrain.grid()).expect("valid");
    // A millimetre each second.
    for _ in 0..50 {
        solver.step(&mut terrain, 7.3);
        assert_balanced(&terrain);
    }
    for (cell, &water) in terrain.water().iter().enumerate() {
        let deep = (20.0 - terrain.bedrock()[cell]).max(0.0);
        assert!(
            (water - (deep - 0.365).max(0.0)).abs() < 1e-4,
            "{cell}: {deep} to {water}"
        );
        assert!(water > 0.0 || terrain.suspended()[cell] == 0.0, "{cell}");
    }
    let after = terrain.ledger();
    assert!(after.solids.soil > before.solids.soil);
    assert!(after.solids.suspended < before.solids.suspended);
    assert!(seen.peek(&terrain).ground().count() > 0);
    solver.step(&mut terrain, 1e9);
    assert!(terrain.water().iter().all(|&w| w == 0.0));
    let water = terrain.ledger().water;
    assert_eq!(water.standing, 0.0);
    assert!((water.evaporated - water.initial).abs() < 1e-9 * water.initial);
    assert_balanced(&terrain);
    // Dry land is left alone.
    let (hash, seen) = (terrain.state_hash(), TerrainCursor::at(&terrain));
    solver.step(&mut terrain, 1.0);
    assert_eq!(terrain.state_hash(), hash);
    assert!(seen.peek(&terrain).is_empty());
}

#[test]
fn steps_that_are_no_steps_change_nothing() {
    let mut terrain = lakes();
    let mut other = Terrain::flat(UVec2::new(5, 7), 2.0).expect("valid");
    let hashes = (terrain.state_hash(), other.state_hash());
    for pattern in patterns() {
        let rain = Rain::default().with_pattern(pattern);
        let mut rain = RainSolver::new(rain, terrain.grid()).expect("valid");
        let mut dry = EvaporationSolver::new(Evaporation::default(), terrain.grid()).expect("ok");
        for nothing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            rain.step(&mut terrain, nothing);
            dry.step(&mut terrain, nothing);
            let source = WaterSource::default();
            assert_eq!(source.pour(&mut terrain, Vec3::ZERO, nothing), Ok(0.0));
            let sink = WaterSink::default();
            assert_eq!(sink.drain(&mut terrain, Vec3::ZERO, nothing), Ok(0.0));
        }
        rain.step(&mut other, 1.0);
        dry.step(&mut other, 1.0);
    }
    assert_eq!((terrain.state_hash(), other.state_hash()), hashes);
    // The smallest lands, and steps beyond reason.
    for size in [(1, 1), (1, 9), (9, 1), (65, 64), (129, 3)] {
        let mut terrain = Terrain::flat(size.into(), 0.5).expect("valid");
        let cells = terrain.grid().cells();
        for pattern in [
            RainPattern::Uniform,
            RainPattern::drops(1),
            RainPattern::blue_noise(1),
            RainPattern::Map(vec![1e6; cells]),
        ] {
            rain_for(
                Rain::mm_per_hour(1e5).with_pattern(pattern),
                &mut terrain,
                3,
                1e30,
            );
        }
        assert!(terrain.water().iter().all(|w| w.is_finite() && *w >= 0.0));
        assert!(terrain.ledger().water.drift_of_total().abs() < 1e-9);
    }
}

#[test]
fn a_source_pours_exactly_its_discharge() {
    for radius in [0.0, 0.3, 3.0, 40.0, 1e6] {
        // Off the middle, near a corner, and on the very edge.
        for (x, z) in [(0.3, 7.9), (-148.0, -129.5), (-150.0, 130.9)] {
            let mut terrain = lakes();
            let source = WaterSource::cubic_metres_per_second(20.0)
                .with_radius(radius)
                .with_sediment(0.1);
            let before = terrain.ledger();
            let seen = TerrainCursor::at(&terrain);
            for _ in 0..100 {
                let poured = source.pour(&mut terrain, Vec3::new(x, -5.0, z), DT);
                assert!((poured.expect("on the land") - 20.0 / 64.0).abs() < 1e-6);
            }
            let after = terrain.ledger();
            let volume = 2000.0 / 64.0;
            assert!((after.water.poured - volume).abs() < 1e-6 * volume);
            let grown = after.water.standing - before.water.standing;
            assert!((grown - volume).abs() < 1e-6 * volume, "{radius}: {grown}");
            let mud = after.solids.suspended - before.solids.suspended;
            assert!((mud / (0.1 * volume) - 1.0).abs() < 1e-3, "{mud}");
            assert_balanced(&terrain);
            let changes = seen.peek(&terrain);
            assert!(!changes.changed(LayerGroup::Ground));
            assert!(changes.water().count() > 0);
        }
    }
    // A small one stays in the cell that covers it.
    let mut terrain = plain();
    let at = terrain.grid().cell_center(17, 90) + Vec3::new(0.9, 3.0, -0.9);
    let source = WaterSource::default().with_radius(0.1);
    source.pour(&mut terrain, at, 4.0).expect("on the land");
    let wet: Vec<usize> = (0..terrain.grid().cells())
        .filter(|&cell| terrain.water()[cell] > 0.0)
        .collect();
    assert_eq!(wet, [terrain.grid().index(17, 90)]);
    assert_eq!(terrain.water()[wet[0]], 1.0);
}

#[test]
fn a_sink_takes_what_is_there_and_its_mud() {
    for (radius, discharge) in [(0.0, 1e9), (30.0, 5.0), (60.0, 2000.0), (1e6, 1e9)] {
        let mut terrain = lakes();
        let deepest = (0..terrain.grid().cells())
            .max_by(|&a, &b| terrain.water()[a].total_cmp(&terrain.water()[b]))
            .expect("cells") as u32;
        let at = terrain
            .grid()
            .cell_center(deepest % SIZE.x, deepest / SIZE.x);
        let sink = WaterSink::cubic_metres_per_second(discharge).with_radius(radius);
        let mut sum = 0.0;
        for step in 0..200 {
            let taken = sink.drain(&mut terrain, at, 1.0).expect("on the land");
            assert!(taken >= 0.0 && taken <= f64::from(discharge) * (1.0 + 1e-6));
            assert!(step > 0 || taken > 0.0);
            sum += taken;
        }
        assert_balanced(&terrain);
        let ledger = terrain.ledger();
        assert!((ledger.water.drained - sum).abs() < 1e-9 * sum);
        // One part in a hundred was mud everywhere.
        let share = ledger.solids.left / sum;
        assert!((share - 0.01).abs() < 1e-4, "{share}");
        if discharge == 1e9 {
            assert_eq!(terrain.water()[deepest as usize], 0.0);
            assert_eq!(terrain.suspended()[deepest as usize], 0.0);
        }
    }
}

#[test]
fn wrong_values_are_named() {
    let grid = *plain().grid();
    let bad_map = |index: usize, value: f32| {
        let mut weights = vec![1.0; grid.cells()];
        weights[index] = value;
        RainPattern::Map(weights)
    };
    let drops = |radius, depth| RainPattern::Drops {
        radius,
        depth,
        seed: 0,
    };
    let blue = |spacing| RainPattern::BlueNoise {
        spacing,
        radius: 2.0,
        depth: 0.01,
        seed: 0,
    };
    let nan = f32::NAN;
    for (rate, pattern, field) in [
        (nan, RainPattern::Uniform, "`Rain.mm_per_hour`"),
        (-1.0, RainPattern::Uniform, "`Rain.mm_per_hour`"),
        (1.0, drops(0.0, 0.01), "`Rain.pattern.radius`"),
        (1.0, drops(1e5, 0.01), "512 m"),
        (1.0, drops(1.0, f32::INFINITY), "`Rain.pattern.depth`"),
        (1.0, blue(nan), "`Rain.pattern.spacing`"),
        (1.0, bad_map(7, -1.0), "was -1 at 7"),
        (1.0, bad_map(9, nan), "was NaN at 9"),
        (1.0, RainPattern::Map(vec![0.0; grid.cells()]), "above 0"),
        (
            1.0,
            RainPattern::Map(vec![1.0; 7]),
            "150 × 131 cells need 19650, but there are 7",
        ),
    ] {
        let rain = Rain::mm_per_hour(rate).with_pattern(pattern);
        let error = RainSolver::new(rain.clone(), &grid).expect_err(field);
        assert!(error.to_string().contains(field), "{error}");
        let mut solver = RainSolver::new(Rain::default(), &grid).expect("valid");
        assert_eq!(solver.set_settings(rain), Err(error));
    }
    let error = EvaporationSolver::new(Evaporation::mm_per_hour(nan), &grid).expect_err("nan");
    assert_eq!(error.field, "mm_per_hour");

    let mut terrain = lakes();
    let hash = terrain.state_hash();
    let source = WaterSource::default();
    for (source, at, field) in [
        (
            WaterSource {
                discharge: f32::INFINITY,
                ..source
            },
            0.0,
            "discharge",
        ),
        (
            WaterSource {
                discharge: -1.0,
                ..source
            },
            0.0,
            "discharge",
        ),
        (
            WaterSource {
                radius: nan,
                ..source
            },
            0.0,
            "radius",
        ),
        (
            WaterSource {
                sediment: 0.6,
                ..source
            },
            0.0,
            "sediment",
        ),
        (source, 1e4, "Transform.translation"),
        (source, nan, "Transform.translation"),
    ] {
        let at = Vec3::new(at, 0.0, 0.0);
        let error = source.pour(&mut terrain, at, 1.0).expect_err(field);
        assert_eq!((error.model, &*error.field), ("WaterSource", field));
        let sink = WaterSink {
            discharge: source.discharge,
            radius: source.radius,
        };
        if field != "sediment" {
            let error = sink.drain(&mut terrain, at, 1.0).expect_err(field);
            assert_eq!((error.model, &*error.field), ("WaterSink", field));
        }
    }
    assert_eq!(terrain.state_hash(), hash);
}

/// An app whose frames last as long as an erosion step.
fn create_app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(
            15_625,
        )))
        .insert_resource(ErosionPace::Budget(1e6))
        .insert_resource(plain());
    app.update();
    app
}

fn tick(app: &mut App, frames: u32) -> WaterLedger {
    for _ in 0..frames {
        app.update();
    }
    app.world().resource::<Terrain>().ledger().water
}

fn water_at(app: &App, x: f32, z: f32) -> f32 {
    let terrain = app.world().resource::<Terrain>();
    let cell = terrain.grid().cell_at(Vec3::new(x, 0.0, z)).expect("land");
    terrain.water()[terrain.grid().index(cell.x, cell.y)]
}

fn faults(app: &mut App) -> Vec<ModelFailed> {
    let mut faults = app.world_mut().resource_mut::<Messages<ModelFailed>>();
    faults.drain().collect()
}

#[test]
fn sources_pour_where_they_stand() {
    let mut app = create_app();
    let source = WaterSource::cubic_metres_per_second(64.0).with_radius(4.0);
    let spring = app
        .world_mut()
        .spawn((source, Transform::from_xyz(-100.0, 9.0, 40.0)))
        .id();
    assert!((tick(&mut app, 3).poured - 3.0).abs() < 1e-6);
    assert!(water_at(&app, -100.0, 40.0) > 0.0);
    assert_eq!(water_at(&app, 50.0, -50.0), 0.0);

    // It follows its entity, and a parent, from the first step on.
    let parent = app.world_mut().spawn(Transform::from_xyz(50.0, 0.0, 0.0));
    let parent = parent.id();
    app.world_mut()
        .entity_mut(spring)
        .insert((Transform::from_xyz(0.0, 0.0, -50.0), ChildOf(parent)));
    let before = water_at(&app, -100.0, 40.0);
    assert!((tick(&mut app, 3).poured - 6.0).abs() < 1e-6);
    assert_eq!(water_at(&app, -100.0, 40.0), before);
    assert!(water_at(&app, 50.0, -50.0) > 0.0);
    assert_eq!(water_at(&app, 0.0, -50.0), 0.0);

    app.world_mut().entity_mut(spring).despawn();
    assert!((tick(&mut app, 3).poured - 6.0).abs() < 1e-6);

    // A sink empties what the source filled.
    app.world_mut().spawn((
        WaterSink::cubic_metres_per_second(1e4).with_radius(8.0),
        Transform::from_xyz(50.0, 0.0, -50.0),
    ));
    let water = tick(&mut app, 3);
    assert!((water.drained - 3.0).abs() < 1e-6, "{water:?}");
    assert_eq!(water_at(&app, 50.0, -50.0), 0.0);
    assert!(faults(&mut app).is_empty());
}

#[test]
fn bad_sources_are_reported_once_each() {
    let mut app = create_app();
    let mut spawn = |source: WaterSource, x: f32| {
        let at = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut().spawn((source, at)).id()
    };
    let source = WaterSource::cubic_metres_per_second(64.0);
    let outside = spawn(source, 1000.0);
    let wrong = spawn(
        WaterSource {
            discharge: f32::NAN,
            ..source
        },
        0.0,
    );
    spawn(source, 0.0);
    assert!(
        (tick(&mut app, 1).poured - 1.0).abs() < 1e-6,
        "the good one"
    );
    let said = faults(&mut app);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|fault| fault.model == "WaterSource"));
    assert!(said.iter().any(|f| f.reason.contains("on the land")));
    assert!(said.iter().any(|f| f.reason.contains("discharge")));
    tick(&mut app, 3);
    assert!(faults(&mut app).is_empty(), "said once");
    // Still outside, though elsewhere: nothing new.
    let mut entity = app.world_mut().entity_mut(outside);
    entity.insert(Transform::from_xyz(2000.0, 0.0, 0.0));
    tick(&mut app, 2);
    assert!(faults(&mut app).is_empty());
    // Mended, both pour; wrong in another way, it is said again.
    let mut entity = app.world_mut().entity_mut(outside);
    entity.insert(Transform::from_xyz(20.0, 0.0, 0.0));
    app.world_mut().entity_mut(wrong).insert(source);
    let before = tick(&mut app, 0).poured;
    assert!((tick(&mut app, 1).poured - before - 3.0).abs() < 1e-6);
    let bad = WaterSource {
        discharge: -1.0,
        ..source
    };
    app.world_mut().entity_mut(wrong).insert(bad);
    tick(&mut app, 2);
    assert_eq!(faults(&mut app).len(), 1);
}

#[test]
fn sources_act_alike_in_any_order() {
    let run = |order: [usize; 3]| {
        let mut app = create_app();
        for number in order {
            let number = number as f32;
            app.world_mut().spawn((
                WaterSource::cubic_metres_per_second(1.0 + number).with_radius(9.7),
                Transform::from_xyz(number * 1.3, 0.0, 0.2),
            ));
        }
        app.world_mut()
            .spawn((WaterSink::default(), Transform::default()));
        tick(&mut app, 20);
        app.world().resource::<Terrain>().state_hash()
    };
    assert_eq!(run([0, 1, 2]), run([2, 0, 1]));
}

#[test]
fn weather_is_a_resource() {
    let mut app = create_app();
    app.insert_resource(Rain::mm_per_hour(3600.0));
    let wet = tick(&mut app, 64);
    // A millimetre in a second.
    let terrain = app.world().resource::<Terrain>();
    let all = 1e-3 * terrain.grid().cells() as f64 * terrain.grid().cell_area();
    assert!((wet.standing / all - 1.0).abs() < 1e-6, "{wet:?}");
    app.insert_resource(Evaporation::mm_per_hour(7200.0));
    // Rain comes first, so that all of it and as much again evaporates.
    let wet = tick(&mut app, 32);
    assert!((wet.evaporated / all - 1.0).abs() < 1e-5, "{wet:?}");
    app.world_mut().remove_resource::<Rain>();
    let dry = tick(&mut app, 64);
    assert_eq!(dry.standing, 0.0);
    assert_eq!(dry.rained, wet.rained);
    app.insert_resource(Rain::default().with_pattern(RainPattern::Map(vec![1.0])));
    tick(&mut app, 2);
    let said = faults(&mut app);
    assert_eq!(said.len(), 1);
    assert!(said[0].reason.contains("`Rain.pattern.Map`"), "{said:?}");
}

#[test]
fn it_rains_and_dries_in_its_season_only() {
    let mut land = Terrain::flat(UVec2::new(20, 10), 2.0).expect("valid");
    let wet = Season {
        year: 8.0,
        start: 0.25,
        share: 0.5,
    };
    let rain = Rain::mm_per_hour(3600.0).with_season(wet);
    let drought = Evaporation::mm_per_hour(360.0).with_season(wet.opposite());
    let mut rain = RainSolver::new(rain, land.grid()).expect("valid");
    let mut drought = EvaporationSolver::new(drought, land.grid()).expect("valid");
    for second in 0..24 {
        let before = land.ledger().water;
        rain.step(&mut land, 1.0);
        drought.step(&mut land, 1.0);
        let after = land.ledger().water;
        let is_wet = (2..6).contains(&(second % 8));
        assert_eq!(
            after.rained > before.rained,
            is_wet,
            "rain, second {second}"
        );
        let may_dry = !is_wet && before.standing > 0.0;
        let dried = after.evaporated > before.evaporated;
        assert_eq!(dried, may_dry, "drought, second {second}");
        // A new solver that recalls goes on in the same season.
        let mut next = RainSolver::new(rain.settings().clone(), land.grid()).expect("valid");
        let memory = rain.save_state(&land);
        next.load_state(&memory, &land).expect("its own");
        rain = next;
    }
    // Twelve wet seconds of a millimetre each on 800 m².
    let rained = land.ledger().water.rained;
    assert!((rained - 12.0 * 0.001 * 800.0).abs() < 1e-3, "{rained}");

    for (season, field) in [
        (Season { year: 0.0, ..wet }, "season.year"),
        (Season { start: 1.5, ..wet }, "season.start"),
        (
            Season {
                share: f32::NAN,
                ..wet
            },
            "season.share",
        ),
    ] {
        let errors = [
            Rain::default().with_season(season).check(),
            Evaporation::default().with_season(season).check(),
        ];
        for error in errors {
            assert_eq!(error.expect_err("refused").field, field);
        }
    }
}
