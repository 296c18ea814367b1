//! What the source's figures show really happens in the scenes that follow them.

use super::solver;
use bevy::math::{Vec2, Vec3};
use bevy_erode::{
    forcing::{EvaporationSolver, RainSolver},
    models::{pipe::PipeSolver, thermal::ThermalSolver},
};
use bevy_erode::{prelude::*, scene::ErosionScene};

/// A scene of the pipe model, and how its land was at the start.
pub(super) struct Played {
    pub scene: ErosionScene,
    pub before: Vec<f32>,
    pub terrain: Terrain,
    pipes: PipeSolver,
    thermal: Option<ThermalSolver>,
    rain: Option<RainSolver>,
    evaporation: Option<EvaporationSolver>,
}

/// The text of one of the crate's scenes.
pub(super) fn scene_text(name: &str) -> String {
    let file = format!(
        "{}/assets/scenes/{name}.scene.ron",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&file).expect("a scene of the crate")
}

impl Played {
    /// One of the crate's scenes after some of its time.
    fn of(name: &str, seconds: f32) -> Self {
        let scene = ErosionScene::from_ron(name, &scene_text(name)).expect("valid");
        let terrain = scene.build_terrain().expect("valid");
        let mut played = Self::start(scene, terrain);
        played.play(seconds);
        played
    }

    /// A scene's models and weather on a land.
    pub fn start(scene: ErosionScene, terrain: Terrain) -> Self {
        let grid = *terrain.grid();
        let pipes = scene.models.get::<PipeModel>().cloned();
        let thermal = scene.models.get::<Thermal>().cloned();
        let (rain, evaporation) = (scene.forcing.rain.clone(), scene.forcing.evaporation);
        Self {
            before: terrain.ground_heights(),
            pipes: solver(pipes.expect("a scene of the pipe model"), &terrain),
            thermal: thermal.map(|s| ThermalSolver::new(s, &grid).expect("valid")),
            rain: rain.map(|s| RainSolver::new(s, &grid).expect("valid")),
            evaporation: evaporation.map(|s| EvaporationSolver::new(s, &grid).expect("valid")),
            scene,
            terrain,
        }
    }

    /// Lets so much more erosion time pass.
    pub fn play(&mut self, seconds: f32) {
        let (terrain, dt) = (&mut self.terrain, self.scene.step);
        for _ in 0..(seconds / dt).round() as u32 {
            for point in &self.scene.forcing.sources {
                let source = WaterSource::cubic_metres_per_second(point.discharge);
                let at = Vec3::new(point.at.0, 0.0, point.at.1);
                let source = source.with_radius(point.radius);
                source.pour(terrain, at, dt).expect("on the land");
            }
            if let Some(rain) = &mut self.rain {
                rain.step(terrain, dt);
            }
            if let Some(evaporation) = &mut self.evaporation {
                evaporation.step(terrain, dt);
            }
            self.pipes.step(terrain, dt);
            assert_eq!(self.pipes.time_lost(), 0.0);
            if let Some(thermal) = &mut self.thermal {
                thermal.step(terrain, dt);
            }
        }
        let ledger = terrain.ledger();
        assert!(ledger.solids.drift_of_total().abs() < 1e-6, "{ledger:?}");
        assert!(ledger.water.drift_of_total().abs() < 1e-6, "{ledger:?}");
    }

    /// Index and place (m from the middle) of every cell.
    fn cells(&self) -> impl Iterator<Item = (usize, Vec2)> + '_ {
        let grid = self.terrain.grid();
        (0..grid.cells()).map(move |cell| {
            let (x, y) = (cell % grid.width(), cell / grid.width());
            let center = grid.cell_center(x as u32, y as u32);
            (cell, Vec2::new(center.x, center.z))
        })
    }

    /// Rise of the ground since the start. units: m
    fn rise(&self, cell: usize) -> f64 {
        f64::from(self.terrain.ground(cell) - self.before[cell])
    }

    /// Mean of something over the cells that a rule picks.
    fn mean(&self, picks: impl Fn(usize, Vec2) -> bool, what: impl Fn(usize) -> f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (cell, _) in self.cells().filter(|&(cell, at)| picks(cell, at)) {
            sum += what(cell);
            count += 1.0;
        }
        sum / f64::max(count, 1.0)
    }

    /// Beds that cross a circle: runs of cells cut deeper than `depth`.
    fn beds_across(&self, radius: f32, depth: f64) -> usize {
        let steps = 2000;
        let cut = |i: usize| {
            let angle = i as f32 / steps as f32 * std::f32::consts::TAU;
            let at = Vec3::new(angle.cos() * radius, 0.0, angle.sin() * radius);
            let cell = self.terrain.grid().cell_at(at).expect("on the land");
            let cell = self.terrain.grid().index(cell.x, cell.y);
            self.rise(cell) < -depth
        };
        (0..steps)
            .filter(|&i| cut(i) && !cut((i + 1) % steps))
            .count()
    }
}

#[test]
fn rain_wears_letters_of_rock_and_spreads_them_at_their_feet() {
    let played = Played::of("letters_in_rain", 300.0);
    let start = played.scene.build_terrain().expect("valid");
    let steep = |cell: usize| {
        let width = start.grid().width();
        start
            .slope((cell % width) as u32, (cell / width) as u32)
            .length()
    };
    let flanks = played.mean(|cell, _| steep(cell) > 0.8, |cell| played.rise(cell));
    let feet = |cell: usize| steep(cell) < 0.3 && played.before[cell] < 20.0;
    let fans = played
        .cells()
        .filter(|&(cell, _)| feet(cell) && played.rise(cell) > 0.2)
        .count();
    println!("flanks {flanks:.3} m, {fans} cells of fans");
    assert!(flanks < -0.3, "{flanks}");
    assert!(fans > 2000, "{fans}");
}

#[test]
fn water_leaves_the_dry_channel_for_a_new_path() {
    let played = Played::of("dry_channel", 600.0);
    // The bed is what lies lower than a plane of the same slope.
    let width = played.terrain.grid().width();
    let row_mean = |cell: usize| {
        let row = &played.before[cell / width * width..][..width];
        row.iter().map(|h| f64::from(*h)).sum::<f64>() / width as f64
    };
    let means: Vec<f64> = (0..played.before.len() / width)
        .map(|y| row_mean(y * width))
        .collect();
    let in_bed = |cell: usize| f64::from(played.before[cell]) < means[cell / width] - 0.8;
    let volume = |inside: bool| {
        let cells = played.cells().filter(|&(cell, _)| in_bed(cell) == inside);
        cells
            .map(|(cell, _)| (-played.rise(cell)).max(0.0))
            .sum::<f64>()
    };
    let (inside, outside) = (volume(true), volume(false));
    let wet = |inside: bool| {
        let cells = played.cells().filter(|&(cell, _)| in_bed(cell) == inside);
        cells
            .filter(|&(cell, _)| played.terrain.water()[cell] > 0.05)
            .count()
    };
    let bed_rise = played.mean(|cell, _| in_bed(cell), |cell| played.rise(cell));
    println!(
        "cut {inside:.0} inside, {outside:.0} outside; wet {} and {}; bed {bed_rise:.2}",
        wet(true),
        wet(false)
    );
    assert!(outside > inside, "{outside} against {inside}");
    assert!(wet(false) > wet(true));
    let deepest = played.cells().filter(|&(cell, _)| !in_bed(cell));
    let deepest = deepest
        .map(|(cell, _)| -played.rise(cell))
        .fold(0.0, f64::max);
    assert!(deepest > 1.0, "{deepest}");
}

#[test]
fn the_bottom_of_four_slopes_flattens() {
    let played = Played::of("four_slope_basin", 900.0);
    let start = played.scene.build_terrain().expect("valid");
    let width = start.grid().width();
    let slope = |terrain: &Terrain, cell: usize| {
        let slope = terrain.slope((cell % width) as u32, (cell / width) as u32);
        f64::from(slope.length())
    };
    let middle = |_: usize, at: Vec2| at.length() < 24.0;
    let before = played.mean(middle, |cell| slope(&start, cell));
    let after = played.mean(middle, |cell| slope(&played.terrain, cell));
    let ring = |from: f32, to: f32| {
        let within = move |_: usize, at: Vec2| (from..to).contains(&at.length());
        played.mean(within, |cell| played.rise(cell))
    };
    let (core, around, slopes) = (ring(0.0, 24.0), ring(40.0, 64.0), ring(100.0, 200.0));
    println!("slope {before:.3} to {after:.3}; rise {core:.2}, {around:.2}, {slopes:.2}");
    assert!(after < 0.5 * before, "{before} to {after}");
    assert!(
        core > 1.0 && core > around && around > slopes,
        "{core}, {around}, {slopes}"
    );
    assert!(slopes < 0.0);
}

#[test]
fn a_source_cuts_one_bed_and_rain_wears_all_sides() {
    let rain = Played::of("mountain_by_rain", 400.0);
    let source = Played::of("mountain_by_source", 400.0);
    let both = Played::of("mountain_rain_and_source", 400.0);
    let beds = [&rain, &source, &both].map(|played| played.beds_across(130.0, 1.0));
    // Share of all cuts that the most cut hundredth of the cells has.
    let gathered = |played: &Played| {
        let mut cuts: Vec<f64> = played
            .cells()
            .map(|(c, _)| (-played.rise(c)).max(0.0))
            .collect();
        cuts.sort_by(|a, b| b.total_cmp(a));
        cuts[..cuts.len() / 100].iter().sum::<f64>() / cuts.iter().sum::<f64>()
    };
    let shares = [&rain, &source, &both].map(gathered);
    let moved = [&rain, &source, &both].map(|played| played.terrain.ledger().solids.moved);
    println!("beds {beds:?}, gathered {shares:.3?}, moved {moved:.0?}");
    assert!(beds[0] >= 10, "{beds:?}");
    assert!((1..=4).contains(&beds[1]), "{beds:?}");
    assert!(shares[1] > 2.0 * shares[0], "{shares:?}");
    // Fig. 7: gullies everywhere and the river's bed among them.
    assert!(beds[2] >= 8, "{beds:?}");
    assert!(moved[2] > moved[0] && moved[2] > moved[1], "{moved:?}");
}
