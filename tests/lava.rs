//! Lava against its oracle, and by its promises.

use crate::oracle::lava::{Land, Settings};
use bevy::{ecs::message::Messages, math::UVec2, prelude::Vec3, tasks::TaskPoolBuilder};
use bevy_erode::models::lava::{LavaSolver, LavaSteam};
use bevy_erode::{parallel::Workers, prelude::*, terrain::TerrainCursor};

fn solver(settings: Lava, terrain: &Terrain) -> LavaSolver {
    LavaSolver::new(settings, terrain.grid()).expect("valid settings")
}

/// Lava that never freezes.
fn hot() -> Lava {
    Lava {
        cooling: 0.0,
        ..Lava::default()
    }
}

fn with_lava(terrain: Terrain, depth: impl Fn(u32, u32) -> f32) -> Terrain {
    let UVec2 { x: w, y: h } = terrain.size();
    let depths = (0..w * h).map(|i| depth(i % w, i / w)).collect();
    terrain.with_layer(Layer::Lava, depths).expect("valid")
}

fn flat(size: UVec2, cell_size: f32) -> Terrain {
    Terrain::flat(size, cell_size).expect("valid")
}

/// A plane that falls by `slope` along x.
fn incline(size: UVec2, cell_size: f32, slope: f32) -> Terrain {
    let heights = (0..size.x * size.y).map(|i| -slope * cell_size * (i % size.x) as f32);
    Terrain::from_heights(size, cell_size, heights.collect()).expect("valid")
}

fn lava(terrain: &Terrain) -> &[f32] {
    terrain.lava().expect("a land with lava")
}

fn holding(terrain: &Terrain) -> usize {
    lava(terrain).iter().filter(|depth| **depth > 0.0).count()
}

#[test]
fn follows_the_oracle() {
    for size in [UVec2::new(70, 67), UVec2::new(64, 64), UVec2::new(3, 130)] {
        let cells = size.element_product() as usize;
        let bumpy = |x: u32, y: u32| ((x * 7 + y * 13) % 11) as f32;
        let mut terrain = with_lava(crate::land(3, size, 2.0), |x, y| {
            (bumpy(x, y) - 4.0).max(0.0) * 0.4
        });
        for (layer, values) in [
            (Layer::Soil, vec![0.2; cells]),
            (Layer::Suspended, vec![0.01; cells]),
            (
                Layer::Water,
                (0..cells)
                    .map(|i| if i % 5 == 0 { 0.3 } else { 0.0 })
                    .collect(),
            ),
        ] {
            terrain = terrain.with_layer(layer, values).expect("valid");
        }
        let settings = Lava {
            cooling: 0.05,
            max_substeps: 1,
            ..Lava::default()
        };
        let set = Settings {
            viscosity: f64::from(settings.viscosity),
            stiffening: f64::from(settings.stiffening),
            yield_strength: f64::from(settings.yield_strength),
            density: f64::from(settings.density),
            gravity: f64::from(settings.gravity),
            cooling: f64::from(settings.cooling),
            edge_cooling: f64::from(settings.edge_cooling),
            steam: f64::from(settings.steam),
        };
        let real = |layer: &[f32]| layer.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        let mut land = Land {
            size: (size.x.into(), size.y.into()),
            cell_size: 2.0,
            bedrock: real(terrain.bedrock()),
            soil: real(terrain.soil()),
            water: real(terrain.water()),
            suspended: real(terrain.suspended()),
            lava: real(lava(&terrain)),
            heat: real(terrain.lava_heat().expect("lava")),
        };
        let mut solver = solver(settings, &terrain);
        let dt = 0.02f32;
        let mut steam = 0.0;
        for step in 0..10 {
            solver.step(&mut terrain, dt);
            land.flow(&set, dt.into());
            steam += land.freeze(&set, dt.into());
            let off = |name: &str, layer: &[f32], exact: &[f64]| {
                for (i, (&found, &exact)) in layer.iter().zip(exact).enumerate() {
                    let off = (f64::from(found) - exact).abs();
                    assert!(off < 2e-4, "{size}, step {step}, {name} {i}: off by {off}");
                }
            };
            off("bedrock", terrain.bedrock(), &land.bedrock);
            off("soil", terrain.soil(), &land.soil);
            off("water", terrain.water(), &land.water);
            off("lava", lava(&terrain), &land.lava);
            off("heat", terrain.lava_heat().expect("lava"), &land.heat);
        }
        let booked = terrain.ledger().water.evaporated / terrain.grid().cell_area();
        assert!(
            steam > 1.0 && (booked - steam).abs() < 1e-3 * steam,
            "{booked} {steam}"
        );
        let settled = real(terrain.suspended()).iter().sum::<f64>();
        assert!(settled < 0.01 * cells as f64, "some load was baked");
    }
}

#[test]
fn spreads_evenly_on_a_plane_and_keeps_its_volume() {
    let heap = |x: u32, y: u32| match x.abs_diff(40).pow(2) + y.abs_diff(40).pow(2) {
        0..64 => 6.0,
        _ => 0.0,
    };
    let mut terrain = with_lava(flat(UVec2::splat(81), 2.0), heap);
    let before = terrain.ledger().solids;
    let cells = holding(&terrain);
    let mut solver = solver(hot(), &terrain);
    for _ in 0..400 {
        solver.step(&mut terrain, 0.1);
    }
    assert!(holding(&terrain) > 3 * cells, "{}", holding(&terrain));
    let after = terrain.ledger().solids;
    // The thinnest film at its rim is rock at once.
    let rock = after.bedrock - before.bedrock;
    assert!((0.0..1e-2 * before.lava).contains(&rock), "{rock}");
    assert!((after.lava + rock - before.lava).abs() < 1e-9 * before.lava);
    // As far along a diagonal as along an axis.
    let reach = |dx: u32, dy: u32| {
        let edge = (0..40)
            .take_while(|i| lava(&terrain)[((40 + i * dy) * 81 + 40 + i * dx) as usize] > 0.05);
        edge.count() as f32 * ((dx * dx + dy * dy) as f32).sqrt()
    };
    let (axis, diagonal) = (reach(1, 0), reach(1, 1));
    assert!((axis - diagonal).abs() <= 1.5, "{axis} against {diagonal}");
    // The same to all sides, bit by bit.
    for y in 0..81usize {
        for x in 0..81usize {
            let here = lava(&terrain)[y * 81 + x];
            assert_eq!(here, lava(&terrain)[y * 81 + 80 - x], "{x}, {y}");
            assert_eq!(here, lava(&terrain)[(80 - y) * 81 + x], "{x}, {y}");
            assert_eq!(here, lava(&terrain)[x * 81 + y], "{x}, {y}");
        }
    }
}

#[test]
fn comes_to_rest_on_a_slope() {
    let settings = hot();
    let hold = settings.yield_strength / (settings.density * settings.gravity);
    // As thick as the slope and its strength allow.
    let thick = hold * (1.0f32 + 0.04).sqrt() / 0.2;
    let land = || incline(UVec2::new(120, 9), 2.0, 0.2);
    let run = |depth: &dyn Fn(u32) -> f32, steps: u32| {
        let mut terrain = with_lava(land(), |x, _| depth(x));
        let mut solver = solver(settings.clone(), &terrain);
        for _ in 0..steps {
            solver.step(&mut terrain, 0.2);
        }
        lava(&terrain)[4 * 120..][..120].to_vec()
    };
    let thin = 0.97 * thick;
    assert_eq!(run(&|_| thin, 100), vec![thin; 120], "it does not move");
    let flowed = run(&|_| 1.2 * thick, 100);
    assert!(flowed[0] < 1.19 * thick && flowed[119] > 1.21 * thick);
    // A heap runs out to that thickness, ever slower, and never below it.
    let heap = |x: u32| if (10..20).contains(&x) { 3.0 } else { 0.0 };
    let rests = run(&heap, 6000);
    for depth in &rests[30..40] {
        assert!(
            (0.999..1.15).contains(&(depth / thick)),
            "{depth} m, not {thick} m"
        );
    }
    let reach = |row: &[f32]| row.iter().filter(|depth| **depth > 0.0).count();
    let early = run(&heap, 500);
    assert!(reach(&early) > 40 && reach(&rests) < 2 * reach(&early));
}

#[test]
fn freezes_from_its_border_inwards() {
    let disc = |x: u32, y: u32| {
        let far = x.abs_diff(20).pow(2) + y.abs_diff(20).pow(2);
        if far < 150 { 1.0 } else { 0.0 }
    };
    let settings = Lava {
        // So strong that it does not flow.
        yield_strength: 1e9,
        ..Lava::default()
    };
    let mut terrain = with_lava(flat(UVec2::splat(41), 2.0), disc);
    let volume = terrain.ledger().solids.lava;
    let mut solver = solver(settings, &terrain);
    let (mut count, mut rounds) = (holding(&terrain), 0);
    while count > 0 {
        for _ in 0..10 {
            solver.step(&mut terrain, 1.0);
        }
        let is_lava = |x: usize, y: usize| lava(&terrain)[y * 41 + x] > 0.0;
        if is_lava(20, 20) {
            // What is left is one piece around the middle, without holes.
            for x in 20..41 {
                assert!(is_lava(x, 20) || !(x..41).any(|x| is_lava(x, 20)), "{x}");
            }
        }
        let left = holding(&terrain);
        assert!(left <= count);
        count = left;
        rounds += 1;
        assert!(rounds < 100, "it takes too long");
    }
    assert!(rounds > 5, "the middle lasts longer than the border");
    let solids = terrain.ledger().solids;
    assert_eq!(solids.lava, 0.0);
    assert!(
        (solids.bedrock - volume).abs() < 1e-9 * volume,
        "all of it is rock"
    );
    assert!(solids.drift_of_total().abs() < 1e-12);
    // Nothing is left to do, and a land where all froze is like any other.
    let like = Terrain::from_heights(UVec2::splat(41), 2.0, terrain.bedrock().to_vec());
    assert_eq!(
        terrain.ground_heights(),
        like.expect("valid").ground_heights()
    );
}

#[test]
fn turns_to_rock_in_water_and_boils_it() {
    let size = UVec2::new(60, 9);
    let sea = incline(size, 2.0, 0.15);
    let depth = sea.bedrock().iter().map(|z| (-9.0 - z).max(0.0)).collect();
    let sea = sea.with_layer(Layer::Water, depth).expect("valid");
    let mut terrain = with_lava(sea, |x, _| if x < 20 { 3.0 } else { 0.0 });
    let before = terrain.ledger();
    let mut solver = solver(hot(), &terrain);
    for _ in 0..3000 {
        solver.step(&mut terrain, 0.1);
        let both = terrain.water().iter().zip(lava(&terrain));
        assert!(
            both.clone().all(|(w, l)| *w == 0.0 || *l == 0.0),
            "they never share a cell"
        );
    }
    let after = terrain.ledger();
    let frozen = before.solids.lava - after.solids.lava;
    assert!(frozen > 20.0, "{frozen} m³ of rock");
    assert!((after.solids.bedrock - before.solids.bedrock - frozen).abs() < 1e-6);
    let steam = after.water.evaporated;
    assert!(
        (steam - 0.5 * frozen).abs() < 1e-2 * steam,
        "{steam} m³ for {frozen} m³"
    );
    assert!(after.water.drift_of_total().abs() < 1e-12);
    assert!((before.water.standing - after.water.standing - steam).abs() < 1e-6);
    // Land was made where there was sea.
    let shore = (0..60).find(|x| terrain.water()[4 * 60 + x] > 0.0);
    assert!(shore.is_some_and(|x| x > 31), "{shore:?}");
}

#[test]
fn an_app_is_told_where_water_boils_off() {
    // Lava in the west, a pond in the east, on two tiles of flat land.
    let land = Terrain::flat(UVec2::new(100, 20), 2.0).expect("valid");
    let pond = (0..2000).map(|i| if i % 100 >= 75 { 0.5 } else { 0.0 });
    let land = land
        .with_layer(Layer::Water, pond.collect())
        .expect("valid");
    let land = with_lava(land, |x, _| if (70..75).contains(&x) { 4.0 } else { 0.0 });
    let mut app = crate::app::create_app();
    app.insert_resource(land).insert_resource(hot());
    let (mut told, mut count) = (0.0, 0);
    for _ in 0..120 {
        app.update();
        let mut messages = app.world_mut().resource_mut::<Messages<LavaSteam>>();
        for steam in messages.drain() {
            told += steam.volume;
            count += 1;
            let cell = (steam.position.x + 100.0) / 2.0;
            assert!((70.0..80.0).contains(&cell), "{steam:?}");
        }
    }
    let terrain = app.world().resource::<Terrain>();
    let boiled = terrain.ledger().water.evaporated;
    assert!(count > 0 && boiled > 1.0, "{count} messages, {boiled} m³");
    assert!(
        (told - boiled).abs() < 1e-9 * boiled,
        "{told} of {boiled} m³"
    );
}

#[test]
fn climbs_no_wall_and_stays_in_its_basin() {
    // A pit of one metre behind a wall of three, beside a deep hole.
    let size = UVec2::new(30, 5);
    let height = |x: u32| match x {
        10 | 11 => 3.0,
        12.. => -20.0,
        _ => 0.0,
    };
    let heights = (0..150).map(|i| height(i % 30)).collect();
    let terrain = Terrain::from_heights(size, 1.0, heights).expect("valid");
    let mut terrain = with_lava(terrain, |x, _| if x < 10 { 2.0 } else { 0.0 });
    let mut solver = solver(hot(), &terrain);
    for _ in 0..200 {
        solver.step(&mut terrain, 0.5);
    }
    for (i, depth) in lava(&terrain).iter().enumerate() {
        let expected = if i % 30 < 10 { 2.0 } else { 0.0 };
        assert!((depth - expected).abs() < 1e-5, "{i}: {depth}");
    }
}

#[test]
fn same_bits_on_1_2_3_and_8_threads() {
    let run = |workers: Workers| {
        let mut terrain = crate::land(11, UVec2::new(300, 270), 2.0)
            .with_soil_depth(0.5)
            .expect("valid");
        terrain = with_lava(
            terrain,
            |x, y| if (x / 40 + y / 50) % 3 == 0 { 3.0 } else { 0.0 },
        );
        let mut solver = solver(Lava::default(), &terrain);
        for _ in 0..10 {
            solver.step_on(workers, &mut terrain, 0.3);
        }
        (terrain.state_hash(), terrain.ledger())
    };
    let expected = run(Workers::serial());
    assert_eq!(run(Workers::global()), expected);
    for threads in [1, 2, 7] {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        assert_eq!(run(Workers::on(&pool)), expected, "{threads}");
    }
}

#[test]
fn a_new_solver_goes_on_alike() {
    let mut one = with_lava(crate::hills(5), |x, y| if x + y < 60 { 2.0 } else { 0.0 });
    let mut two = one.clone();
    let mut known = solver(Lava::default(), &one);
    for _ in 0..20 {
        known.step(&mut one, 0.1);
        solver(Lava::default(), &two).step(&mut two, 0.1);
    }
    assert_eq!(one.state_hash(), two.state_hash());
}

#[test]
fn a_source_pours_what_it_says() {
    let mut terrain = flat(UVec2::splat(40), 2.0);
    let hash = terrain.state_hash();
    let at = Vec3::new(5.0, 0.0, -3.0);
    for radius in [0.0, 7.0] {
        let source = LavaSource::cubic_metres_per_second(4.0).with_radius(radius);
        let poured = source.pour(&mut terrain, at, 0.5).expect("valid");
        assert!((poured - 2.0).abs() < 1e-5, "{poured}");
    }
    let solids = terrain.ledger().solids;
    assert!((solids.lava - 4.0).abs() < 1e-5 && solids.drift().abs() < 1e-9);
    assert_ne!(terrain.state_hash(), hash);
    let depth = terrain.lava_depth_at(at).expect("on the land");
    assert!(depth > 0.1, "{depth}");
    assert_eq!(terrain.layer_at(Layer::Lava, at), Some(depth));
    assert_eq!(terrain.lava_heat(), terrain.lava(), "it is fresh");

    let source = LavaSource::cubic_metres_per_second(f32::NAN);
    let error = source.pour(&mut terrain, at, 1.0).expect_err("no number");
    assert!(error.to_string().contains("discharge"), "{error}");
    let far = LavaSource::default().pour(&mut terrain, Vec3::splat(1e4), 1.0);
    assert!(
        far.expect_err("outside")
            .to_string()
            .contains("on the land")
    );
}

#[test]
fn a_land_without_lava_is_what_it_was() {
    let mut terrain = crate::hills(2);
    let (hash, seen) = (terrain.state_hash(), TerrainCursor::at(&terrain));
    solver(Lava::default(), &terrain).step(&mut terrain, 1.0);
    assert_eq!(terrain.state_hash(), hash);
    assert!(seen.peek(&terrain).is_empty());
    assert!(terrain.lava().is_none());
    // Room for lava is no lava.
    let none = with_lava(crate::hills(2), |_, _| 0.0);
    assert_eq!(none.state_hash(), hash);
}

#[test]
fn thick_lava_is_slow_but_stable() {
    let settings = Lava {
        max_substeps: 2,
        yield_strength: 0.0,
        ..hot()
    };
    let mut terrain = with_lava(
        flat(UVec2::splat(30), 1.0),
        |x, _| if x < 15 { 80.0 } else { 0.0 },
    );
    let mut solver = solver(settings, &terrain);
    solver.step(&mut terrain, 1.0);
    assert!(solver.time_lost() > 0.9, "{}", solver.time_lost());
    for _ in 0..2000 {
        solver.step(&mut terrain, 1.0);
    }
    for depth in lava(&terrain) {
        assert!((depth - 40.0).abs() < 0.1, "{depth}");
    }
    assert!(terrain.ledger().solids.drift_of_total().abs() < 1e-12);
}
