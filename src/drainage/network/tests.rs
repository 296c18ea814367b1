use super::*;
use crate::terrain::{Border, Borders, Layer, landform::Fbm};
use bevy::{math::UVec2, tasks::TaskPoolBuilder};

fn network(
    width: usize,
    ground: Vec<f32>,
    borders: Borders,
    settings: &RiverSettings,
) -> RiverNetwork {
    let size = UVec2::new(width as u32, (ground.len() / width) as u32);
    let land = Terrain::from_heights(size, 2.0, ground)
        .and_then(|land| land.with_borders(borders))
        .expect("valid");
    RiverNetwork::of(&land, settings).expect("valid")
}

fn fine() -> RiverSettings {
    RiverSettings {
        onset_cells: 4,
        onset_area: 16.0,
        ..RiverSettings::default()
    }
    .with_all_lakes()
}

fn bumps(width: usize, height: usize) -> Vec<f32> {
    let noise =
        |cell: usize| (crate::drainage::routing::scramble(cell as u32 + 5) % 1000) as f32 * 0.01;
    (0..width * height).map(noise).collect()
}

/// What must be true of any network.
fn check(network: &RiverNetwork) {
    let cells = network.grid().cells();
    let land: f64 = network.basins().iter().map(|basin| basin.area).sum();
    let sea = network
        .basin_numbers()
        .iter()
        .filter(|basin| **basin == NONE);
    let sea = sea.count() as f64 * network.grid().cell_area();
    let all = cells as f64 * network.grid().cell_area();
    assert!((land + sea - all).abs() < 1e-6 * all, "{land} {sea} {all}");
    for (number, river) in network.rivers().iter().enumerate() {
        assert!(river.points.len() >= 2 && river.order >= 1);
        for pair in river.points.windows(2) {
            let next = network.receiver(pair[0].cell as usize);
            assert_eq!(next, Some(pair[1].cell as usize));
            assert!(pair[1].surface <= pair[0].surface);
            assert!(pair[1].discharge >= pair[0].discharge && pair[0].slope >= 0.0);
        }
        let last = river.points[river.points.len() - 1].cell;
        match (river.end, river.downstream) {
            (RiverEnd::Junction, Some(next)) => {
                let next = &network.rivers()[next as usize];
                assert_eq!(next.points[0].cell, last);
                assert!(next.order >= river.order && next.basin == river.basin);
            }
            (RiverEnd::Lake(lake), _) => assert_eq!(network.lake_numbers()[last as usize], lake),
            (RiverEnd::Sea, None) => assert_eq!(network.basin_numbers()[last as usize], NONE),
            (RiverEnd::Outlet, None) => assert_eq!(network.receiver(last as usize), None),
            other => panic!("river {number}: {other:?}"),
        }
        assert_eq!(network.positions(number).len(), river.points.len());
        assert!(network.curve(number).is_some());
    }
    for (number, lake) in network.lakes().iter().enumerate() {
        assert_eq!(network.lake_numbers()[lake.pit as usize], number as u32);
        assert_eq!(network.ground()[lake.spill as usize], lake.level);
        assert!(lake.volume > 0.0 && lake.depth > 0.0 && lake.catchment >= lake.area);
        let way: Vec<usize> = network.way(lake.pit as usize).collect();
        assert!(way.contains(&(lake.exit as usize)) && way.contains(&(lake.spill as usize)));
        assert_eq!(way.last(), Some(&(lake.outlet as usize)));
    }
    for field in RiverField::ALL {
        let values = network.field(field);
        assert_eq!(values.len(), cells);
        assert!(
            values
                .iter()
                .all(|value| value.is_finite() && *value >= 0.0),
            "{field:?}"
        );
    }
}

#[test]
fn every_size_and_border() {
    let sea = Border::Sea { level: 4.0 };
    let mixed = Borders {
        west: sea,
        east: Border::Wall,
        north: Border::Open,
        south: Border::Sea { level: 6.0 },
    };
    for (width, height) in [
        (1, 1),
        (1, 9),
        (9, 1),
        (2, 2),
        (2, 9),
        (3, 3),
        (41, 30),
        (33, 140),
    ] {
        for borders in [
            Borders::default(),
            Borders::closed(),
            Borders::all(sea),
            mixed,
        ] {
            check(&network(width, bumps(width, height), borders, &fine()));
            check(&network(width, vec![5.0; width * height], borders, &fine()));
            let some = RiverSettings::default();
            check(&network(width, bumps(width, height), borders, &some));
        }
    }
}

#[test]
fn a_valley_is_one_river() {
    // A gutter that falls to the south, 21 cells wide, 2 m cells.
    let (width, height) = (21, 60);
    let ground = (0..width * height)
        .map(|cell| {
            let (x, y) = ((cell % width) as f32, (cell / width) as f32);
            (x - 10.0).abs() * 3.0 + 100.0 - y
        })
        .collect();
    let walls = Borders {
        south: Border::Open,
        ..Borders::closed()
    };
    let settings = RiverSettings::default()
        .with_onset_area(400.0)
        .with_runoff(1.0);
    let network = network(width, ground, walls, &settings);
    check(&network);
    assert_eq!(network.onset(), 100);
    assert_eq!(network.rivers().len(), 1);
    let river = &network.rivers()[0];
    assert_eq!(
        (river.start, river.end),
        (RiverStart::Source, RiverEnd::Outlet)
    );
    assert_eq!((river.order, river.downstream), (1, None));
    assert!((river.slope() - 0.5).abs() < 1e-6);
    assert!(
        river
            .points
            .iter()
            .all(|point| point.cell as usize % width == 10)
    );
    // All the land drains there: 21 · 60 cells of 4 m², a metre in a year.
    let expected = (21.0 * 60.0 * 4.0 / SECONDS_PER_YEAR) as f32;
    assert_eq!(river.discharge(), expected);
    assert_eq!(river.width(), 7.2 * expected.sqrt());
    assert!((settings.depth_of(1.0) - 0.27).abs() < 1e-6);
    let springs = network.springs(0.0, 2.0);
    assert_eq!(springs.len(), 1);
    assert_eq!(springs[0].source.discharge, 2.0 * expected);
    assert_eq!(
        network
            .basins()
            .iter()
            .filter(|basin| basin.area > 4.0)
            .count(),
        1
    );
}

#[test]
fn rivers_meet_and_lakes_part_them() {
    let hills = Fbm::seeded(4).with_feature_size(150.0).with_height(60.0);
    let land = Terrain::generate(&hills, UVec2::new(160, 120), 2.0).expect("valid");
    let network = RiverNetwork::of(&land, &fine()).expect("valid");
    check(&network);
    let count =
        |test: &dyn Fn(&River) -> bool| network.rivers().iter().filter(|river| test(river)).count();
    assert!(network.highest_order() >= 3 && network.total_length() > 1000.0);
    assert!(count(&|river| river.start == RiverStart::Junction) > 10);
    assert!(count(&|river| matches!(river.start, RiverStart::Lake(_))) > 3);
    assert!(count(&|river| matches!(river.end, RiverEnd::Lake(_))) > 3);
    // Springs above each river's end pour what it carries.
    let springs = network.springs(0.0, 1.0);
    let mut poured = vec![0.0f64; network.rivers().len()];
    for spring in &springs {
        let mut at = Some(spring.river);
        while let Some(river) = at {
            poured[river as usize] += f64::from(spring.source.discharge);
            at = network.rivers()[river as usize].downstream;
        }
    }
    for (river, poured) in network.rivers().iter().zip(poured) {
        let expected = f64::from(river.discharge());
        assert!(
            (poured - expected).abs() < 1e-4 * expected,
            "{poured} {expected}"
        );
    }
}

#[test]
fn a_map_of_runoff_is_followed() {
    let land = bumps(40, 30);
    let even = network(40, land.clone(), Borders::default(), &fine());
    let same = fine().with_runoff_map(vec![3.0; 1200]);
    let same = network(40, land.clone(), Borders::default(), &same);
    for cell in 0..1200 {
        let (a, b) = (even.discharge(cell), same.discharge(cell));
        assert!((a - b).abs() <= 1e-6 * a, "{a} {b}");
    }
    // All of it falls on the first row.
    let weights = (0..1200)
        .map(|cell| if cell < 40 { 1.0 } else { 0.0 })
        .collect();
    let north = fine().with_runoff_map(weights);
    let north = network(40, land, Borders::default(), &north);
    let sum = |network: &RiverNetwork| {
        let basins = network.basins().iter();
        basins.map(|basin| f64::from(basin.discharge)).sum::<f64>()
    };
    assert!((sum(&even) - sum(&north)).abs() < 1e-5 * sum(&even));
    assert!(north.field(RiverField::Discharge)[1199] < even.discharge(1199));
}

#[test]
fn wrong_settings_are_refused() {
    let land = Terrain::flat(UVec2::new(8, 4), 1.0).expect("valid");
    let error =
        |settings: RiverSettings| RiverNetwork::of(&land, &settings).unwrap_err().to_string();
    let negative = error(RiverSettings::default().with_runoff(-1.0));
    assert!(negative.contains("`RiverSettings.runoff`"), "{negative}");
    let short = error(RiverSettings::default().with_runoff_map(vec![1.0; 31]));
    assert!(
        short.contains("8 × 4 cells need 32, but there are 31"),
        "{short}"
    );
    let nan = error(RiverSettings::default().with_runoff_map(vec![f32::NAN; 32]));
    assert!(nan.contains("0 to 1e6"), "{nan}");
    let none = error(RiverSettings::default().with_runoff_map(vec![0.0; 32]));
    assert!(none.contains("above 0"), "{none}");
}

#[test]
fn onset_suits_any_land() {
    let onset = |cells: u32, size: f32| {
        let grid = Grid::new(UVec2::splat(cells), size).expect("valid");
        RiverSettings::default().onset_on(&grid)
    };
    assert_eq!(onset(1024, 2.0), 2500);
    assert_eq!(onset(1024, 30.0), 64);
    assert_eq!(onset(512, 0.1), (512.0 * 512.0 * 0.0025f64).ceil() as u32);
    assert_eq!(onset(1, 1.0), 64);
}

#[test]
fn same_bits_on_any_threads() {
    let hills = Fbm::seeded(8).with_feature_size(300.0).with_height(200.0);
    let land = Terrain::generate(&hills, UVec2::new(210, 330), 4.0).expect("valid");
    let weights = (0..210 * 330).map(|cell| (cell % 7) as f32).collect();
    let settings = fine().with_runoff_map(weights);
    let one = RiverNetwork::of_on(Workers::serial(), &land, &settings).expect("valid");
    for threads in [1, 6] {
        let pool = TaskPoolBuilder::new().num_threads(threads).build();
        let other = RiverNetwork::of_on(Workers::on(&pool), &land, &settings).expect("valid");
        assert_eq!(one.rivers(), other.rivers());
        assert_eq!(one.lakes(), other.lakes());
        assert_eq!(one.basins(), other.basins());
        for field in RiverField::ALL {
            assert_eq!(one.field(field), other.field(field), "{field:?}");
        }
    }
}

#[test]
fn directions_are_told_clockwise() {
    use crate::drainage::routing::DIRECTIONS;
    let around = [
        (1, 0),
        (1, 1),
        (0, 1),
        (-1, 1),
        (-1, 0),
        (-1, -1),
        (0, -1),
        (1, -1),
    ];
    // Planes that fall in each direction.
    for (number, (dx, dy)) in around.into_iter().enumerate() {
        let fall = |cell: isize| 50 - dx * (cell % 5) - dy * (cell / 5);
        let ground = (0..25).map(|cell| fall(cell) as f32).collect();
        let network = network(5, ground, Borders::default(), &fine());
        let told = network.field(RiverField::Direction)[12];
        assert_eq!(told, number as f32 + 1.0);
        let index = network.directions()[12] as usize;
        assert_eq!(DIRECTIONS[index], (dx, dy));
    }
}

#[test]
fn places_are_asked_about() {
    let hills = Fbm::seeded(4).with_feature_size(150.0).with_height(60.0);
    let land = Terrain::generate(&hills, UVec2::new(100, 80), 2.0)
        .and_then(|land| land.with_origin(Vec3::new(1000.0, 50.0, -300.0)))
        .expect("valid");
    let network = RiverNetwork::of(&land, &fine()).expect("valid");
    assert!(network.drains_to(Vec3::ZERO).is_none() && network.area_at(Vec3::ZERO).is_none());
    assert!(network.path(Vec3::ZERO).is_empty());
    assert!(network.nearest_river(Vec3::NAN).is_none());
    let at = Vec3::new(1003.0, 0.0, -290.0);
    let path = network.path(at);
    let drainage = network.drains_to(at).expect("on the land");
    assert_eq!(path[path.len() - 1], drainage.position);
    let length: f32 = path
        .windows(2)
        .map(|p| p[0].with_y(0.0).distance(p[1].with_y(0.0)))
        .sum();
    assert!((f64::from(length) - drainage.length).abs() < 0.01);
    assert!((path[0].y - land.height_at(path[0]).expect("on the land")).abs() < 1e-3);
    let lake = &network.lakes()[0];
    let wet = network.position(lake.pit as usize);
    assert_eq!(network.lake_at(wet), Some(lake));
    assert_eq!(network.drains_to(wet).expect("on the land").lake, Some(0));
    assert!(network.discharge_at(wet).expect("on the land") > 0.0);
    // Water that lies on the land changes nothing.
    let cells = land.grid().cells();
    let flooded = land
        .with_layer(Layer::Water, vec![3.0; cells])
        .expect("valid");
    let again = RiverNetwork::of(&flooded, &fine()).expect("valid");
    assert_eq!(network.rivers(), again.rivers());
}
