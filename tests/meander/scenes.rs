//! What the scenes with rivers show really happens.

use super::stretch::assert_balanced;
use super::*;
use bevy_erode::models::meander::TerrainRiver;
use bevy_erode::prelude::*;

/// A scene with one river, played for some steps.
struct Played {
    terrain: Terrain,
    river: TerrainRiver,
    step: f32,
}

impl Played {
    fn of(name: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes");
        let text = std::fs::read_to_string(format!("{folder}/{name}.scene.ron"));
        let scene = ErosionScene::from_ron(name, &text.expect("a scene")).expect("valid");
        let terrain = scene.build_terrain().expect("valid");
        let own = &scene.rivers[0];
        let river = TerrainRiver::new(own.river.clone(), own.stretch(), &own.transform(), &terrain);
        Self {
            river: river.expect("it fits"),
            terrain,
            step: scene.step,
        }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.river
                .step_on(Workers::serial(), &mut self.terrain, self.step);
        }
    }

    /// The way of the water through the whole stretch.
    fn course(&self) -> Centerline {
        let (from, along) = self.river.entry();
        let to = from + along * f64::from(self.river.stretch().length);
        let solver = self.river.river();
        let radius = f64::from(solver.settings().radius);
        course(solver.water(), radius, from, to).expect("the water is connected")
    }

    /// Share of the water that is farther than this from the straight line
    /// through the stretch. units: m
    fn farther_than(&self, distance: f64) -> f64 {
        let (from, along) = self.river.entry();
        let water = self.river.river().water();
        let far = |own: &&WaterParticle| (own.position - from).perp_dot(along).abs() > distance;
        water.iter().filter(far).count() as f64 / water.len().max(1) as f64
    }

    /// It reaches the lower end, and all volumes are accounted for.
    fn assert_runs(&self) {
        let ledger = self.terrain.ledger();
        let through = ledger.water.left / ledger.water.poured;
        assert!(through > 0.4, "{through} of the water came through");
        assert!(ledger.solids.moved > 1e4, "{} m³", ledger.solids.moved);
        assert_balanced(&self.terrain);
    }
}

#[test]
fn on_the_plain_bends_grow() {
    let mut played = Played::of("river_plain");
    played.run(4500);
    let young = played.course();
    assert!(young.straight > 3900.0, "{} m", young.straight);
    played.run(4500);
    played.assert_runs();
    let old = played.course();
    let (young, old) = (young.sinuosity(), old.sinuosity());
    assert!(old > young + 0.015, "{young}, then {old}");
    assert_eq!(played.farther_than(200.0), 0.0, "it keeps to its plain");
}

#[test]
fn in_the_valley_the_stream_swings_from_side_to_side() {
    let mut played = Played::of("river_valley");
    played.run(6000);
    played.assert_runs();
    let course = played.course();
    assert!(course.straight > 1900.0, "{} m", course.straight);
    // The bottom of the valley is at x = 0, and the stream enters beside it.
    let across = course
        .points
        .iter()
        .map(|at| at.x + played.river.origin().x);
    let (least, most) = across.fold((0.0f64, 0.0f64), |(least, most), x| {
        (least.min(x), most.max(x))
    });
    assert!(least < -40.0 && most > 10.0, "{least} to {most} m");
    assert_eq!(played.farther_than(250.0), 0.0, "it stays in the valley");
}

#[test]
fn through_meadows_it_winds_more_and_more() {
    let mut played = Played::of("river_meadow");
    played.run(3000);
    let young = played.course();
    assert!(young.straight > 1900.0, "{} m", young.straight);
    played.run(6000);
    played.assert_runs();
    let old = played.course();
    let (young, old) = (young.sinuosity(), old.sinuosity());
    assert!(old > young + 0.015, "{young}, then {old}");
    assert_eq!(played.farther_than(200.0), 0.0, "it keeps to its meadows");
}
