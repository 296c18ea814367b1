//! The equations: steady state, mass, and years that mean the same on any land.

use super::{aged, hills, mean, relief};
use crate::oracle::ageing as oracle;
use bevy::math::UVec2;
use bevy_erode::{
    drainage::routing::Routing,
    models::ageing::{Ageing, AgeingSolver, RockVariation, Uplift},
    parallel::Workers,
    prelude::*,
};

/// Nothing but running water.
fn water_alone() -> Ageing {
    Ageing {
        erodibility: 1e-5,
        creep: 0.0,
        slope_angle: 89.0,
        soil_erodibility: 1.0,
        variation: RockVariation {
            strength: 0.0,
            ..RockVariation::default()
        },
        straying: 0.0,
        breach: false,
        ..Ageing::default()
    }
}

#[test]
fn steady_state_has_the_slope_of_its_area() {
    let (cells, cell_size, rate) = (60usize, 100.0, 1.0);
    for deposition in [0.0f32, 1.0] {
        let rough = |cell: usize| (cell * 7919 % 1000) as f32 * 1e-3;
        let heights = (0..cells * cells).map(rough).collect();
        let size = UVec2::splat(cells as u32);
        let mut land = Terrain::from_heights(size, cell_size, heights).expect("valid");
        let settings = Ageing {
            deposition,
            uplift: Uplift::Rate { mm_per_year: rate },
            ..water_alone()
        };
        let mut solver = AgeingSolver::new(settings, land.grid()).expect("valid");
        solver.age(&mut land, 6e6);
        let before = land.ledger().solids;
        solver.age(&mut land, 1e5);
        let after = land.ledger().solids;
        let share = (after.left - before.left) / (after.uplifted - before.uplifted);
        assert!(
            (share - 1.0).abs() < 0.002,
            "G {deposition}: {share} leaves"
        );

        let ground = land.ground_heights();
        let mut routing = Routing::new(cells, cells);
        routing.route(Workers::serial(), &ground, Borders::default(), None);
        let mut area = Vec::new();
        routing.accumulate(Workers::serial(), None, &mut area);
        let (mut ratios, mut points) = (Vec::new(), Vec::new());
        for cell in 0..ground.len() {
            let Some(next) = routing.receiver(cell) else {
                continue;
            };
            let diagonal = routing.directions()[cell] >= 4;
            let length = f64::from(cell_size) * if diagonal { 2f64.sqrt() } else { 1.0 };
            let slope = f64::from(ground[cell] - ground[next]) / length;
            let drained = area[cell] * f64::from(cell_size * cell_size);
            let law = (1.0 + f64::from(deposition)) * f64::from(rate) / 1000.0 / 1e-5
                * drained.powf(-0.45);
            ratios.push(slope / law);
            points.push((drained.ln(), slope.ln()));
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        assert!((median - 1.0).abs() < 1e-3, "G {deposition}: {median}");
        let count = points.len() as f64;
        let sums = points
            .iter()
            .fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        let (mx, my) = (sums.0 / count, sums.1 / count);
        let xy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
        let xx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
        assert!((xy / xx + 0.45).abs() < 2e-3, "G {deposition}: {}", xy / xx);
    }
}

#[test]
fn a_step_follows_the_oracle() {
    let width = 24usize;
    // A rough slope without hollows.
    let height = |cell: usize| {
        let (x, y) = ((cell % width) as f32, (cell / width) as f32);
        400.0 - 6.0 * y + 2.5 * (x * 0.9 + 0.3 * y).sin() - 0.4 * x
    };
    let heights: Vec<f32> = (0..width * 30).map(height).collect();
    let size = UVec2::new(width as u32, 30);
    let land = Terrain::from_heights(size, 20.0, heights.clone()).expect("valid");
    let exact: Vec<f64> = heights.iter().map(|z| f64::from(*z)).collect();
    for deposition in [0.0f32, 0.7, 2.0] {
        let settings = Ageing {
            deposition,
            ..water_alone()
        };
        let after = aged(land.clone(), &settings, 2000.0);
        let step = oracle::Step {
            cell_size: 20.0,
            years: 2000.0,
            erodibility: f64::from(settings.erodibility),
            area_exponent: f64::from(settings.area_exponent),
            deposition: deposition.into(),
        };
        let lost = oracle::lowering(&exact, width, &step);
        let most = lost.iter().copied().fold(0.0, f64::max);
        assert!(most > 0.2, "{most}");
        for (cell, lost) in lost.iter().enumerate() {
            let found = exact[cell] - f64::from(after.ground(cell));
            assert!(
                (found - lost).abs() < 1e-4 + 1e-4 * most,
                "G {deposition}, cell {cell}: {found} instead of {lost} m"
            );
        }
    }
}

#[test]
fn nothing_is_lost() {
    let sea = Border::Sea { level: -20.0 };
    let mixed = Borders {
        west: sea,
        east: Border::Wall,
        north: Border::Open,
        south: Border::Open,
    };
    let bordered = [
        Borders::default(),
        Borders::closed(),
        Borders::all(sea),
        mixed,
    ];
    for borders in bordered {
        let land = hills(96, 10.0, 400.0, 2);
        let rates = vec![0.1; land.grid().cells()];
        let lifts = [
            Uplift::None,
            Uplift::Rate { mm_per_year: 0.2 },
            Uplift::Map(rates),
            Uplift::Keep {
                share: 0.8,
                years: 1e4,
            },
        ];
        let land = land.with_borders(borders).expect("valid");
        let land = land.with_soil_depth(0.5).expect("valid");
        for uplift in lifts {
            let settings = Ageing::default().with_uplift(uplift);
            let old = aged(land.clone(), &settings, 50_000.0);
            let solids = old.ledger().solids;
            let drift = solids.drift_of_moved();
            assert!(drift.abs() < 1e-6, "{borders:?} {settings:?}: {drift}");
            assert!(old.ground_heights().iter().all(|z| z.is_finite()));
            assert!(old.soil().iter().all(|soil| *soil >= 0.0));
            assert!(solids.moved > 1e6, "{borders:?}");
            if borders == Borders::closed() {
                assert_eq!(solids.left, 0.0);
            }
        }
    }
}

#[test]
fn years_mean_the_same_for_any_step() {
    let land = hills(128, 8.0, 300.0, 1);
    let lowered = |step_years: f32| {
        let settings = Ageing {
            step_years,
            ..Ageing::default()
        };
        mean(&land) - mean(&aged(land.clone(), &settings, 100_000.0))
    };
    let (long, short) = (lowered(2500.0), lowered(1250.0));
    assert!(
        long > 5.0 && (long / short - 1.0).abs() < 0.1,
        "{long} {short}"
    );
}

#[test]
fn years_mean_the_same_for_any_cell() {
    let fine = hills(256, 4.0, 300.0, 1).ground_heights();
    let lowered = |merged: usize| {
        let width = 256 / merged;
        let block = |cell: usize| {
            let (x, y) = (cell % width * merged, cell / width * merged);
            let all =
                (0..merged * merged).map(|at| fine[(y + at / merged) * 256 + x + at % merged]);
            all.sum::<f32>() / (merged * merged) as f32
        };
        let heights = (0..width * width).map(block).collect();
        let size = UVec2::splat(width as u32);
        let land = Terrain::from_heights(size, 4.0 * merged as f32, heights).expect("valid");
        mean(&land) - mean(&aged(land.clone(), &Ageing::default(), 100_000.0))
    };
    let by_cell = [1, 2, 4].map(lowered);
    println!("mean lowering at 4, 8 and 16 m: {by_cell:?} m");
    for pair in by_cell.windows(2) {
        assert!((pair[0] / pair[1] - 1.0).abs() < 0.1, "{by_cell:?}");
    }
}

#[test]
fn the_mountains_are_kept() {
    // Land of 2 km with a relief of about 300 m, and of 20 km with 3000 m.
    for (cell_size, height) in [(16.0, 300.0), (160.0, 3000.0)] {
        let land = hills(128, cell_size, height, 3);
        println!("relief {} m", relief(&land));
        let settings = Ageing::default().with_uplift(Uplift::Keep {
            share: 0.8,
            years: 40_000.0,
        });
        let old = aged(land.clone(), &settings, 250_000.0);
        let share = relief(&old) / relief(&land);
        assert!((share / 0.8 - 1.0).abs() < 0.05, "{height} m: {share}");
        // Without it they are not.
        let worn = aged(land.clone(), &Ageing::default(), 250_000.0);
        assert!(relief(&worn) < 0.85 * relief(&land), "{}", relief(&worn));
    }
}

#[test]
fn a_map_of_uplift_is_in_millimetres_as_a_rate_is() {
    let land = hills(48, 10.0, 100.0, 7);
    let lifted = |uplift: Uplift| {
        let settings = Ageing::default().with_uplift(uplift);
        aged(land.clone(), &settings, 5000.0)
            .ledger()
            .solids
            .uplifted
    };
    let by_rate = lifted(Uplift::Rate { mm_per_year: 0.4 });
    let by_map = lifted(Uplift::Map(vec![0.4; land.grid().cells()]));
    // Two metres on nearly all of the land.
    let whole = 2.0 * 480.0 * 480.0;
    assert!(by_rate > 0.9 * whole && by_rate <= whole, "{by_rate}");
    assert!((by_map / by_rate - 1.0).abs() < 1e-5, "{by_map} {by_rate}");
}

#[test]
fn soil_goes_first_and_hard_rock_last() {
    let left = |hardness: f32, soil: f32| {
        let land = hills(64, 10.0, 200.0, 9);
        let mut land = land.with_soil_depth(soil).expect("valid");
        let hard = vec![hardness; land.grid().cells()];
        land.set_layer(Layer::Hardness, hard).expect("valid");
        let settings = Ageing {
            slope_angle: 89.0,
            breach: false,
            ..Ageing::default()
        };
        aged(land, &settings, 20_000.0).ledger().solids.left
    };
    assert!(left(0.9, 0.0) < 0.5 * left(0.0, 0.0));
    assert!(left(0.0, 5.0) > 1.1 * left(0.0, 0.0));
}

#[test]
fn rain_cuts_where_it_falls() {
    let land = hills(96, 10.0, 300.0, 4);
    let wet_east = (0..96 * 96).map(|cell| if cell % 96 < 48 { 0.2 } else { 1.8 });
    let settings = Ageing {
        rain_map: wet_east.collect(),
        ..Ageing::default()
    };
    let lowered = |settings: &Ageing| {
        let (before, after) = (
            land.ground_heights(),
            aged(land.clone(), settings, 50_000.0),
        );
        let after = after.ground_heights();
        let side = |east: bool| {
            let cells = (0..before.len()).filter(|cell| (cell % 96 >= 48) == east);
            cells
                .map(|cell| f64::from(before[cell] - after[cell]))
                .sum::<f64>()
        };
        side(true) / side(false)
    };
    assert!(lowered(&settings) > 1.3 * lowered(&Ageing::default()));
}

#[test]
fn wrong_settings_are_named() {
    let grid = *hills(16, 10.0, 10.0, 1).grid();
    let refused = |settings: Ageing| {
        AgeingSolver::new(settings, &grid)
            .err()
            .map(|e| e.to_string())
    };
    let rain = Ageing {
        rain_map: vec![1.0; 7],
        ..Ageing::default()
    };
    let error = refused(rain).expect("refused");
    assert!(
        error.contains("rain_map") && error.contains("256"),
        "{error}"
    );
    let rain = Ageing {
        rain_map: vec![0.0; 256],
        ..Ageing::default()
    };
    assert!(refused(rain).expect("refused").contains("rain_map"));
    let lift = Ageing::default().with_uplift(Uplift::Map(vec![f32::NAN; 256]));
    assert!(refused(lift).expect("refused").contains("uplift"));
    let flat = Ageing {
        slope_angle: f32::NAN,
        ..Ageing::default()
    };
    assert!(refused(flat).expect("refused").contains("slope_angle"));
}
