//! Rivers on a stretch of the shared terrain.

use super::*;
use bevy::prelude::*;
use bevy_erode::models::meander::TerrainRiver;
use bevy_erode::prelude::*;
use bevy_erode::{
    models::meander::RiverStretch,
    terrain::landform::{Sum, TiltedPlane, Valley, WindingChannel},
};

/// Time of a step. units: s
pub const STEP: f32 = 0.1;

/// A straight channel down a valley that falls along +Z, 512 m × 1024 m.
pub fn land() -> Terrain {
    let valley = Valley::default()
        .with_floor_width(320.0)
        .with_flank_width(80.0)
        .with_flank_height(30.0);
    let channel = WindingChannel::default()
        .with_slope(0.0)
        .with_base(0.0)
        .with_channel_width(80.0)
        .with_channel_depth(8.0)
        .with_meander_amplitude(10.0)
        .with_meander_wavelength(320.0);
    Terrain::generate(&Sum::new(valley, channel), UVec2::new(64, 128), 8.0).expect("valid")
}

pub fn stretch() -> RiverStretch {
    RiverStretch {
        length: 1000.0,
        width: 400.0,
        inflow: 1000.0,
    }
}

/// At the upper end, looking down the valley.
pub fn upper_end() -> Transform {
    Transform::from_xyz(0.0, 0.0, -510.0).looking_to(Vec3::Z, Vec3::Y)
}

pub fn start(terrain: &Terrain) -> TerrainRiver {
    let settings = settings(3);
    TerrainRiver::new(settings, stretch(), &upper_end(), terrain).expect("valid")
}

pub fn advance(river: &mut TerrainRiver, terrain: &mut Terrain, steps: usize) {
    for _ in 0..steps {
        river.step_on(Workers::serial(), terrain, STEP);
    }
}

/// Drift in proportion to all there is: solids by the volume moved, too.
pub fn assert_balanced(terrain: &Terrain) {
    let ledger = terrain.ledger();
    let drifts = [
        ledger.solids.drift_of_total(),
        ledger.solids.drift_of_moved(),
        ledger.water.drift_of_total(),
    ];
    assert!(
        drifts.iter().all(|drift| drift.abs() < 1e-7),
        "{drifts:?}, {ledger:?}"
    );
}

#[test]
fn all_that_a_river_carries_is_in_the_ledger() {
    let mut terrain = land();
    let before = terrain.state_hash();
    let mut river = start(&terrain);
    for _ in 0..4 {
        advance(&mut river, &mut terrain, 1000);
        assert_balanced(&terrain);
        // The books of the river and those of the terrain agree, but for what
        // is too little to be written yet.
        let ledger = terrain.ledger();
        let own = river.river().ledger();
        let waiting = own.left - own.fed;
        let heights = river.river().ground().heights().iter();
        let unwritten: f64 = heights.map(|height| height * 64.0).sum::<f64>()
            - ledger.solids.bedrock
            - ledger.solids.soil
            + outside_the_box(&terrain, &river);
        let carried = own.carried + waiting + unwritten;
        assert!(
            (ledger.solids.in_rivers - carried).abs() < 1e-3,
            "{} against {carried}",
            ledger.solids.in_rivers
        );
        let water = river.carried_water();
        assert!((ledger.water.in_rivers - water).abs() < 1e-6);
        let particles = 1000.0 * river.river().water().len() as f64;
        assert!((0.0..1000.0).contains(&(water - particles)), "{water}");
    }
    assert!(terrain.ledger().solids.moved > 1e4);
    assert_ne!(terrain.state_hash(), before);
}

/// Solids of the cells that are not the river's.
fn outside_the_box(terrain: &Terrain, river: &TerrainRiver) -> f64 {
    let size = river.river().ground().size();
    let origin = river.origin();
    let half = size.as_dvec2() * 4.0;
    let outside = (0..terrain.grid().cells()).filter(|&cell| {
        let (x, y) = (cell % 64, cell / 64);
        let center = terrain.grid().cell_center(x as u32, y as u32);
        let away = DVec2::new(f64::from(center.x), f64::from(center.z)) - origin;
        !away.abs().cmplt(half).all()
    });
    outside
        .map(|cell| f64::from(terrain.bedrock()[cell]) * 64.0)
        .sum()
}

#[test]
fn written_back_nothing_is_lost_and_nothing_is_carried() {
    let mut terrain = land();
    let mut river = start(&terrain);
    advance(&mut river, &mut terrain, 1500);
    let water = river.carried_water();
    assert!(water > 5e4, "{water}");
    assert_eq!(terrain.ledger().water.standing, 0.0);
    river.write_back(&mut terrain);
    assert_balanced(&terrain);
    let ledger = terrain.ledger();
    assert!((ledger.water.standing - water).abs() < 1e-6 * water);
    assert!(
        ledger.water.in_rivers.abs() < 1e-6,
        "{}",
        ledger.water.in_rivers
    );
    assert!(
        ledger.solids.in_rivers.abs() < 1e-4,
        "{}",
        ledger.solids.in_rivers
    );
    assert!(river.river().water().is_empty() && river.river().sediment().is_empty());
    // No heaps of sediment: the steepest bank is hardly steeper than they stand.
    let heights = terrain.ground_heights();
    let steepest = (0..127 * 64).map(|cell| (heights[cell] - heights[cell + 64]).abs() / 8.0);
    assert!(steepest.fold(0.0, f32::max) < 1.2);
    // It goes on.
    advance(&mut river, &mut terrain, 300);
    assert!(river.river().water().len() > 20);
    assert_balanced(&terrain);
}

#[test]
fn the_terrain_shows_the_stream() {
    let mut terrain = land();
    let mut river = start(&terrain);
    advance(&mut river, &mut terrain, 1500);
    let (mut volume, mut widest) = (0.0, 0);
    for y in 0..128 {
        let depths = (0..64).map(|x| terrain.water_depth(x, y));
        volume += depths
            .clone()
            .map(|depth| f64::from(depth) * 64.0)
            .sum::<f64>();
        widest = widest.max(depths.filter(|depth| *depth > 0.2).count());
    }
    let particles = 1000.0 * river.river().water().len() as f64;
    assert!(
        (volume / particles - 1.0).abs() < 1e-3,
        "{volume} of {particles}"
    );
    assert!(widest <= 16, "{widest} cells wide");
    assert!(terrain.water().iter().all(|depth| *depth == 0.0));

    // What flows through the rows of the middle is what comes in.
    let through: f32 = (40..100)
        .flat_map(|y| (0..64).map(move |x| (x, y)))
        .map(|(x, y)| terrain.discharge(x, y).y * 8.0)
        .sum::<f32>()
        / 60.0;
    assert!((700.0..1400.0).contains(&through), "{through} m³/s");

    let on_it = river.river().water()[0].position + river.origin();
    let at = Vec3::new(on_it.x as f32, 0.0, on_it.y as f32);
    let depth = terrain.water_depth_at(at).expect("on the land");
    let surface = terrain.water_surface_at(at).expect("wet");
    let ground = terrain.height_at(at).expect("on the land");
    assert!(depth > 0.2 && surface > ground, "{depth}");
    let velocity = terrain.velocity_at(at).expect("on the land");
    assert!((3.0..15.0).contains(&velocity.y), "{velocity}");
    assert_eq!(terrain.velocity(1, 60), Vec2::ZERO);
}

#[test]
fn others_may_change_the_ground_meanwhile() {
    let mut terrain = land();
    let mut river = start(&terrain);
    advance(&mut river, &mut terrain, 400);
    // Someone heaps soil across the channel, and takes it away again.
    let bare = terrain.soil().to_vec();
    let mut heaped = bare.clone();
    for soil in &mut heaped[70 * 64 + 20..70 * 64 + 44] {
        *soil += 3.0;
    }
    terrain.set_layer(Layer::Soil, heaped).expect("valid");
    let agree = |river: &TerrainRiver, terrain: &Terrain, within: f64| {
        let (first, size) = river.cells();
        for (cell, height) in river.river().ground().heights().iter().enumerate() {
            let (x, y) = (cell as u32 % size.x, cell as u32 / size.x);
            let at = terrain.grid().index(x + first.x, y + first.y);
            let ground = f64::from(terrain.ground(at));
            assert!((ground - height).abs() < within, "{ground}, {height}");
        }
    };
    river.step(&mut terrain, STEP);
    agree(&river, &terrain, 0.2);
    advance(&mut river, &mut terrain, 99);
    agree(&river, &terrain, 1e-3 + 0.2);
    let now = terrain.soil().to_vec();
    let cut: Vec<f32> = now.iter().map(|soil| (soil - 1.0).max(0.0)).collect();
    terrain.set_layer(Layer::Soil, cut).expect("valid");
    advance(&mut river, &mut terrain, 200);
    agree(&river, &terrain, 0.2);
    river.write_back(&mut terrain);
    agree(&river, &terrain, 1e-4);
    assert_balanced(&terrain);
}

#[test]
fn hard_rock_stays_and_soil_goes_first() {
    let settings = MeanderingRiver {
        talus: f32::INFINITY,
        ..settings(1)
    };
    let with_hardness = |hardness: f32, soil: f32| {
        let mut terrain = land().with_soil_depth(soil).expect("valid");
        let cells = terrain.grid().cells();
        let hard = vec![hardness; cells];
        terrain = terrain.with_layer(Layer::Hardness, hard).expect("valid");
        let before = terrain.bedrock().to_vec();
        let mut river =
            TerrainRiver::new(settings.clone(), stretch(), &upper_end(), &terrain).expect("valid");
        advance(&mut river, &mut terrain, 1000);
        let rock = before.iter().zip(terrain.bedrock());
        let rock: f32 = rock.map(|(before, now)| before - now).sum();
        assert_balanced(&terrain);
        (rock, terrain.ledger().solids.moved)
    };
    let (rock, moved) = with_hardness(1.0, 0.0);
    assert_eq!((rock, moved), (0.0, 0.0));
    let (half, _) = with_hardness(0.5, 0.0);
    let (free, _) = with_hardness(0.0, 0.0);
    assert!(free > 1.3 * half && half > 0.0, "{free} against {half}");
    let (rock, moved) = with_hardness(0.0, 50.0);
    assert_eq!(rock, 0.0, "there is soil enough");
    assert!(moved > 1e3);
}

#[test]
fn a_turned_stretch_leaves_the_land_beside_it_alone() {
    let plane = TiltedPlane::default().with_slope(0.05).with_downhill(120.0);
    let mut terrain = Terrain::generate(&plane, UVec2::new(100, 90), 8.0).expect("valid");
    let before = terrain.ground_heights();
    // Downhill, not along an axis of the grid.
    let way = Vec3::new(0.866, 0.0, 0.5);
    let place = Transform::from_xyz(-250.0, 0.0, -140.0).looking_to(way, Vec3::Y);
    let stretch = RiverStretch {
        length: 560.0,
        width: 200.0,
        inflow: 1000.0,
    };
    let mut river = TerrainRiver::new(settings(1), stretch, &place, &terrain).expect("fits");
    advance(&mut river, &mut terrain, 800);
    river.write_back(&mut terrain);
    let start = place.translation;
    let (mut inside, mut changed) = (0, 0);
    for (cell, before) in before.iter().enumerate() {
        let (x, y) = (cell as u32 % 100, cell as u32 / 100);
        let away = terrain.grid().cell_center(x, y) - start;
        let (along, across) = (away.dot(way), away.cross(way).y.abs());
        let near = (-16.0..576.0).contains(&along) && across < 116.0;
        inside += u32::from(near);
        if terrain.ground(cell) != *before {
            changed += 1;
            assert!(near, "{along} m along, {across} m across");
        }
    }
    assert!(changed * 10 > inside, "{changed} of {inside} cells changed");
    assert_balanced(&terrain);
}

#[test]
fn what_cannot_be_is_named() {
    let terrain = land();
    let refused = |settings: MeanderingRiver, stretch: RiverStretch, place: Transform| {
        let error = TerrainRiver::new(settings, stretch, &place, &terrain);
        error.expect_err("cannot be").to_string()
    };
    let far = Transform::from_xyz(300.0, 0.0, -510.0).looking_to(Vec3::Z, Vec3::Y);
    let error = refused(settings(0), stretch(), far);
    assert!(error.contains("RiverStretch"), "{error}");
    assert!(
        error.contains("must lie on the terrain of 512 m × 1024 m"),
        "{error}"
    );
    let short = RiverStretch {
        length: 60.0,
        ..stretch()
    };
    let error = refused(settings(0), short, upper_end());
    assert!(
        error.contains("length") && error.contains("was 60"),
        "{error}"
    );
    let up = Transform::from_xyz(0.0, 0.0, -510.0).looking_to(Vec3::Y, Vec3::X);
    assert!(refused(settings(0), stretch(), up).contains("Transform.rotation"));
    let small = MeanderingRiver {
        radius: 5.0,
        reach: 4.0,
        merging: 3.0,
        ..settings(0)
    };
    assert!(refused(small, stretch(), upper_end()).contains("radius"));
}

#[test]
fn it_takes_the_water_of_others_in_and_passes_it_on() {
    let mut terrain = land();
    // Water at the upper end, and some farther down that stays.
    let mut water = vec![0.0; 64 * 128];
    water[2 * 64 + 20..2 * 64 + 44].fill(5.0);
    water[60 * 64 + 5] = 2.0;
    terrain.set_layer(Layer::Water, water).expect("valid");
    let dry = RiverStretch {
        inflow: 0.0,
        ..stretch()
    };
    let mut river = TerrainRiver::new(settings(1), dry, &upper_end(), &terrain).expect("valid");
    river.pass_water_on(true);
    advance(&mut river, &mut terrain, 3);
    let taken = 24.0 * 5.0 * 64.0;
    assert!((river.carried_water() - taken).abs() < 1e-6);
    assert_eq!(river.river().water().len(), 7);
    assert_eq!(terrain.ledger().water.standing, 2.0 * 64.0);
    advance(&mut river, &mut terrain, 2000);
    assert!(river.river().water().is_empty(), "all left");
    let ledger = terrain.ledger().water;
    assert_eq!(ledger.left, 0.0);
    assert!((ledger.standing - 7128.0).abs() < 1e-3, "{ledger:?}");
    let passed: f32 = terrain.water()[110 * 64..].iter().sum::<f32>() * 64.0;
    assert!(passed > 5000.0, "{passed} m³ at the lower end");
    assert_balanced(&terrain);
}

#[test]
fn any_number_of_threads_gives_the_same_land() {
    let run = |workers: fn() -> Workers<'static>| {
        let mut terrain = land();
        let mut river = start(&terrain);
        for _ in 0..300 {
            river.step_on(workers(), &mut terrain, STEP);
        }
        terrain.state_hash()
    };
    assert_eq!(run(Workers::serial), run(Workers::global));
}

#[test]
fn a_river_at_three_thousand_metres_moves_as_much() {
    let moved = |height: f32| {
        let low = land();
        let heights = low.bedrock().iter().map(|rock| rock + height).collect();
        let mut terrain = Terrain::from_heights(low.size(), 8.0, heights).expect("valid");
        let mut river = start(&terrain);
        advance(&mut river, &mut terrain, 600);
        assert_balanced(&terrain);
        terrain.ledger().solids.moved
    };
    let (low, high) = (moved(0.0), moved(3000.0));
    assert!((high / low - 1.0).abs() < 0.05, "{low} and {high} m³");
}

#[test]
fn a_slower_river_takes_the_same_course() {
    let moved = |times: f32| {
        let mut terrain = land();
        let settings = settings(3).slower(times);
        let stretch = RiverStretch {
            inflow: 1000.0 / times,
            ..stretch()
        };
        let mut river =
            TerrainRiver::new(settings, stretch, &upper_end(), &terrain).expect("valid");
        for _ in 0..800 {
            river.step_on(Workers::serial(), &mut terrain, STEP * times);
        }
        (terrain.ledger().solids.moved, river.river().water().len())
    };
    let (fast, many) = moved(1.0);
    let (slow, as_many) = moved(4.0);
    assert!((slow / fast - 1.0).abs() < 0.1, "{fast} and {slow} m³");
    assert!(many.abs_diff(as_many) <= many / 20, "{many} and {as_many}");
}
