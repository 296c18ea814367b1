//! What the source's figures show really happens in the scenes that follow them.

use super::solver;
use bevy_erode::forcing::{EvaporationSolver, RainSolver};
use bevy_erode::{prelude::*, scene::ErosionScene};

/// A scene after its time.
struct Played {
    start: Terrain,
    terrain: Terrain,
    /// Cells that stood under ten centimetres of water at some time.
    wetted: Vec<bool>,
}

impl Played {
    fn of(name: &str) -> Self {
        let file = format!(
            "{}/assets/scenes/{name}.scene.ron",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(&file).expect("a scene of the crate");
        let scene = ErosionScene::from_ron(name, &text).expect("valid");
        let start = scene.build_terrain().expect("valid");
        let mut terrain = start.clone();
        let grid = *terrain.grid();
        let model = scene.models.get::<ShallowWater>();
        let model = model.cloned().expect("a scene of it");
        let mut water = solver(model, &terrain);
        let rain = scene.forcing.rain.clone();
        let mut rain = rain.map(|s| RainSolver::new(s, &grid).expect("valid"));
        let drought = scene.forcing.evaporation;
        let mut drought = drought.map(|s| EvaporationSolver::new(s, &grid).expect("valid"));
        let mut wetted = vec![false; grid.cells()];
        for step in 0..(scene.seconds / scene.step) as u32 {
            if let Some(rain) = &mut rain {
                rain.step(&mut terrain, scene.step);
            }
            if let Some(drought) = &mut drought {
                drought.step(&mut terrain, scene.step);
            }
            water.step(&mut terrain, scene.step);
            if step % 10 == 0 {
                for (wetted, depth) in wetted.iter_mut().zip(terrain.water()) {
                    *wetted |= *depth > 0.1;
                }
            }
        }
        let ledger = terrain.ledger();
        assert!(ledger.solids.drift_of_total().abs() < 1e-6, "{ledger:?}");
        assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
        Self {
            start,
            terrain,
            wetted,
        }
    }

    fn width(&self) -> usize {
        self.start.grid().width()
    }

    /// Cells with four neighbors.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        let (width, height) = (self.width(), self.start.grid().height());
        let rows = 1..height - 1;
        rows.flat_map(move |y| (1..width - 1).map(move |x| y * width + x))
    }

    /// Mean size of the ground's bend at the cells that a rule picks. units: m
    fn unevenness(&self, terrain: &Terrain, picks: impl Fn(usize) -> bool) -> f64 {
        let width = self.width();
        let bend = |i: usize| {
            let around = [i - 1, i + 1, i - width, i + width];
            let around: f32 = around.iter().map(|&i| terrain.ground(i)).sum();
            f64::from((around / 4.0 - terrain.ground(i)).abs())
        };
        let cells: Vec<usize> = self.inner().filter(|&i| picks(i)).collect();
        cells.iter().map(|&i| bend(i)).sum::<f64>() / cells.len().max(1) as f64
    }

    /// Mean rise of the ground at the cells that a rule picks. units: m
    fn rise(&self, picks: impl Fn(usize) -> bool) -> f64 {
        let cells: Vec<usize> = self.inner().filter(|&i| picks(i)).collect();
        let rises = cells
            .iter()
            .map(|&i| self.terrain.ground(i) - self.start.ground(i));
        rises.map(f64::from).sum::<f64>() / cells.len().max(1) as f64
    }
}

#[test]
fn two_columns_splash_a_fractal_and_smooth_their_way() {
    let played = Played::of("two_columns");
    let wet_at_first = played.start.water().iter().filter(|d| **d > 0.1).count();
    let wetted = played.wetted.iter().filter(|wet| **wet).count();
    let way = |i: usize| played.wetted[i];
    let before = played.unevenness(&played.start, way);
    let after = played.unevenness(&played.terrain, way);
    let dry = |i: usize| !played.wetted[i];
    let dry_before = played.unevenness(&played.start, dry);
    let dry_after = played.unevenness(&played.terrain, dry);
    println!(
        "{wet_at_first} cells under the columns, {wetted} wetted; uneven by {before:.4} m, \
         then {after:.4}; elsewhere {dry_before:.4}, then {dry_after:.4}"
    );
    assert!(wetted > 3 * wet_at_first, "{wetted} of {wet_at_first}");
    assert!(after < 0.5 * before, "{before} to {after}");
    assert!(dry_after > 0.9 * dry_before, "{dry_before} to {dry_after}");
}

#[test]
fn still_water_smooths_its_bed() {
    let played = Played::of("still_water");
    let deep = |i: usize| played.start.water()[i] > 0.5;
    let land = |i: usize| played.start.ground(i) > 6.5;
    let bed = [&played.start, &played.terrain].map(|t| played.unevenness(t, deep));
    let shore = [&played.start, &played.terrain].map(|t| played.unevenness(t, land));
    println!("bed {bed:.4?} m, land {shore:.4?} m");
    assert!(bed[1] < 0.25 * bed[0], "{bed:?}");
    assert_eq!(shore[1], shore[0], "no water, no change");
    // The lake is still: what moves is the bed.
    let level = |i: usize| played.terrain.ground(i) + played.terrain.water()[i];
    let levels = played.inner().filter(|&i| played.terrain.water()[i] > 0.5);
    let (low, high) = levels.fold((f32::MAX, f32::MIN), |(low, high), i| {
        (low.min(level(i)), high.max(level(i)))
    });
    assert!(high - low < 0.02, "{low} to {high}");
}

#[test]
fn seasons_carve_rivers_and_fill_lakes() {
    let played = Played::of("seasons");
    let terrain = &played.terrain;
    let width = played.width();
    // Lakes: deep and all but still. Rivers: where it runs.
    let speed = |i: usize| {
        terrain
            .velocity((i % width) as u32, (i / width) as u32)
            .length()
    };
    let is_lake = |i: usize| terrain.water()[i] > 0.3 && speed(i) < 0.3;
    let lakes = played.inner().filter(|&i| is_lake(i)).count();
    let rivers = |i: usize| terrain.water()[i] > 0.02 && speed(i) > 0.5;
    let in_rivers = played.inner().filter(|&i| rivers(i)).count();
    // Water gathers: a tenth of the cells carries most of the discharge.
    let mut discharge: Vec<f32> = played
        .inner()
        .map(|i| {
            terrain
                .discharge((i % width) as u32, (i / width) as u32)
                .length()
        })
        .collect();
    discharge.sort_by(|a, b| b.total_cmp(a));
    let tenth: f32 = discharge[..discharge.len() / 10].iter().sum();
    let share = tenth / discharge.iter().sum::<f32>();
    // A river works on its bed and its banks, six metres to each side.
    let mut by_river = vec![false; terrain.grid().cells()];
    let reach = |at: usize| at.saturating_sub(3)..=(at + 3).min(width - 1);
    for i in played.inner().filter(|&i| rivers(i)) {
        for y in reach(i / width) {
            by_river[y * width..][reach(i % width)].fill(true);
        }
    }
    // Share of the cells that were cut by a foot or more: rain smooths all the
    // land a little. Lakes do not count as land, they work on their shores too.
    let cuts = [true, false].map(|near| {
        let picked = |i: usize| by_river[i] == near && (near || !is_lake(i));
        let cells = || played.inner().filter(|&i| picked(i));
        let is_cut = |&i: &usize| played.start.ground(i) - terrain.ground(i) > 0.3;
        cells().filter(is_cut).count() as f64 / cells().count() as f64
    });
    let filled = played.rise(is_lake);
    let uneven = [&played.start, terrain].map(|t| played.unevenness(t, rivers));
    println!(
        "{lakes} cells of lakes filled by {filled:.3} m, {in_rivers} of rivers; cut are {:.3} \
         there and {:.4} elsewhere; uneven {uneven:.3?}; a tenth has {share:.2} of the discharge",
        cuts[0], cuts[1]
    );
    assert!(lakes > 500, "{lakes}");
    assert!(in_rivers > 1000, "{in_rivers}");
    assert!(share > 0.5, "{share}");
    assert!(cuts[0] > 5.0 * cuts[1], "{cuts:?}");
    assert!(filled > 0.1, "{filled}");
    let smoother = uneven[1] < 0.5 * uneven[0];
    assert!(smoother, "it is smoother there: {uneven:?}");
}

#[test]
fn walls_of_a_sine_surface_erode_and_its_bottoms_fill() {
    let played = Played::of("sine_pool");
    // Heights run from 0 to 16 m.
    let height = |i: usize| played.start.ground(i);
    let bottoms = played.rise(|i| height(i) < 2.0);
    let walls = played.rise(|i| (6.0..12.0).contains(&height(i)));
    let soil = |i: usize| f64::from(played.terrain.soil()[i]);
    let deposit: Vec<usize> = played.inner().filter(|&i| height(i) < 2.0).collect();
    let deposit = deposit.iter().map(|&i| soil(i)).sum::<f64>() / deposit.len() as f64;
    println!("bottoms rise {bottoms:.3} m, walls {walls:.3} m, deposit {deposit:.3} m");
    assert!(bottoms > 0.1, "{bottoms}");
    assert!(walls < -0.02, "{walls}");
    assert!(deposit > 0.1, "the pool is of soil: {deposit}");
}
