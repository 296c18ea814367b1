//! Rivers as data: the network of a land against the slow measures of the tests, and what
//! games make of it.

use super::network::{Network, flood};
use crate::hills;
use bevy::{math::*, prelude::*};
use bevy_erode::drainage::{
    channel::{ChannelShape, carve_channel},
    network::{NONE, RiverMap, RiverMapUpdated, RiverNetwork, RiverSettings, RiverSpring},
};
use bevy_erode::models::pipe::PipeSolver;
use bevy_erode::prelude::*;
use core::time::Duration;

/// So low a sea that water leaves at every cell of the border, as in the tests' own network.
fn falls() -> Borders {
    Borders::all(Border::Sea { level: -1e6 })
}

/// Hills without hollows: each cell lies higher than one that the flood reached before.
fn drained_hills(seed: u32) -> Terrain {
    let land = hills(seed);
    let (width, height) = (land.grid().width(), land.grid().height());
    let mut ground = land.ground_heights();
    let (_, order) = flood(&ground, width, height);
    let mut seen = vec![false; ground.len()];
    for cell in order {
        let (x, y) = (cell % width, cell / width);
        let rows = y.saturating_sub(1)..(y + 2).min(height);
        let around = rows.flat_map(|ny| {
            let columns = x.saturating_sub(1)..(x + 2).min(width);
            columns.map(move |nx| ny * width + nx)
        });
        let lowest = around.filter(|&next| seen[next]).map(|next| ground[next]);
        let lowest = lowest.fold(f32::INFINITY, f32::min);
        if lowest.is_finite() && ground[cell] <= lowest {
            // Not by the same amount everywhere, so that no two ways are alike.
            ground[cell] = lowest + 0.01 + (cell * 7919 % 997) as f32 * 1e-4;
        }
        seen[cell] = true;
    }
    Terrain::from_heights(land.size(), land.cell_size(), ground)
        .and_then(|land| land.with_borders(falls()))
        .expect("valid")
}

#[test]
fn area_and_orders_are_those_of_the_slow_network() {
    for seed in 1..4 {
        let land = drained_hills(seed);
        let ground = land.ground_heights();
        let slow = Network::of(&ground, land.grid().width(), land.cell_size());
        let settings = RiverSettings::default().with_onset_area(200.0);
        let network = RiverNetwork::of(&land, &settings).expect("valid");
        assert!(network.lakes().is_empty());
        let differ = |cell: &usize| network.area(*cell) != slow.area[*cell];
        assert_eq!((0..ground.len()).filter(differ).count(), 0, "seed {seed}");
        let orders: Vec<u32> = network.orders().iter().map(|&order| order.into()).collect();
        assert_eq!(orders, slow.strahler(200.0));
        let figures = slow.figures(&ground, 200.0);
        assert_eq!(u32::from(network.highest_order()), figures.order);
        assert!(figures.order >= 3, "{figures:?}");
    }
}

#[test]
fn lakes_hold_what_a_flood_holds() {
    for seed in 1..4 {
        let land = hills(seed).with_borders(falls()).expect("valid");
        let ground = land.ground_heights();
        let settings = RiverSettings::default().with_all_lakes();
        let network = RiverNetwork::of(&land, &settings).expect("valid");
        let (level, _) = flood(&ground, land.grid().width(), land.grid().height());
        assert!(network.lakes().len() > 3);
        let mut volumes = vec![0.0; network.lakes().len()];
        for (cell, &number) in network.lake_numbers().iter().enumerate() {
            let depth = f64::from(level[cell]) - f64::from(ground[cell]);
            assert_eq!(number != NONE, depth > 0.0, "cell {cell}");
            if let Some(lake) = network.lakes().get(number as usize) {
                assert_eq!(lake.level, level[cell]);
                volumes[number as usize] += depth * land.grid().cell_area();
            }
        }
        for (lake, volume) in network.lakes().iter().zip(volumes) {
            assert!((lake.volume - volume).abs() < 1e-9 * volume.max(1.0));
        }
    }
}

/// A land seen in a mirror, and where its cells were.
fn mirrored(land: &Terrain) -> (Terrain, impl Fn(usize) -> usize + use<>) {
    let (width, ground) = (land.grid().width(), land.ground_heights());
    let mirror = move |cell: usize| cell / width * width + (width - 1 - cell % width);
    let heights = (0..ground.len()).map(|cell| ground[mirror(cell)]).collect();
    let other = Terrain::from_heights(land.size(), land.cell_size(), heights)
        .and_then(|other| other.with_borders(*land.borders()))
        .expect("valid");
    (other, mirror)
}

#[test]
fn a_mirrored_land_has_mirrored_rivers() {
    let settings = RiverSettings::default().with_onset_area(200.0);
    for seed in [5, 6] {
        let land = drained_hills(seed);
        let (other, mirror) = mirrored(&land);
        let one = RiverNetwork::of(&land, &settings).expect("valid");
        let two = RiverNetwork::of(&other, &settings).expect("valid");
        for cell in 0..land.grid().cells() {
            assert_eq!(one.area(cell), two.area(mirror(cell)), "cell {cell}");
            assert_eq!(one.orders()[cell], two.orders()[mirror(cell)]);
        }
        assert_eq!(one.rivers().len(), two.rivers().len());
        assert!((one.total_length() - two.total_length()).abs() < 0.01);

        // Where lakes spill over one cell into several, the way beyond may differ.
        let land = hills(seed);
        let (other, mirror) = mirrored(&land);
        let one = RiverNetwork::of(&land, &settings).expect("valid");
        let two = RiverNetwork::of(&other, &settings).expect("valid");
        for cell in 0..land.grid().cells() {
            assert_eq!(one.lake_depth(cell), two.lake_depth(mirror(cell)));
        }
        let volumes = |network: &RiverNetwork| {
            let mut volumes: Vec<f64> = network.lakes().iter().map(|lake| lake.volume).collect();
            volumes.sort_by(f64::total_cmp);
            volumes
        };
        for (a, b) in volumes(&one).into_iter().zip(volumes(&two)) {
            assert!((a - b).abs() < 1e-9 * a, "{a} {b}");
        }
    }
}

#[test]
fn the_nearest_river_is_that_of_all() {
    let land = hills(2)
        .with_origin(Vec3::new(30.0, 7.0, -80.0))
        .expect("finite");
    let settings = RiverSettings::default().with_onset_area(400.0);
    let network = RiverNetwork::of(&land, &settings).expect("valid");
    assert!(network.rivers().len() > 10);
    for number in 0..400u32 {
        let hash = number.wrapping_mul(2_654_435_761);
        // Over the land and around it.
        let at = Vec3::new(
            (hash % 1000) as f32 * 0.5 - 220.0,
            0.0,
            (hash / 1000 % 1000) as f32 * 0.45 - 300.0,
        );
        let found = network.nearest_river(at).expect("a river");
        let mut least = f32::INFINITY;
        for river in 0..network.rivers().len() {
            for pair in network.positions(river).windows(2) {
                let [from, to] = [pair[0].xz(), pair[1].xz()];
                let line = to - from;
                let part = ((at.xz() - from).dot(line) / line.length_squared()).clamp(0.0, 1.0);
                least = least.min((from + line * part).distance(at.xz()));
            }
        }
        assert!(
            (found.distance - least).abs() < 1e-3 * least.max(1.0),
            "{at}: {found:?} {least}"
        );
        assert!((found.position.xz().distance(at.xz()) - least).abs() < 1e-2);
        let river = &network.rivers()[found.river as usize];
        assert!(found.along <= river.length * 1.0001 && found.width > 0.0);
        let main = network.nearest_river_where(at, |river| river.order >= 2);
        let main = main.expect("rivers meet");
        assert!(main.distance >= found.distance);
        assert!(network.rivers()[main.river as usize].order >= 2);
    }
}

#[test]
fn geojson_is_read_back() {
    let land = hills(2)
        .with_origin(Vec3::new(500.0, 20.0, 0.0))
        .expect("finite");
    let settings = RiverSettings::default()
        .with_onset_area(200.0)
        .with_all_lakes();
    let network = RiverNetwork::of(&land, &settings).expect("valid");
    let text = network.to_geojson().expect("written");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read["type"], "FeatureCollection");
    let features = read["features"].as_array().expect("a list");
    assert_eq!(
        features.len(),
        network.rivers().len() + network.lakes().len()
    );
    let number = |value: &serde_json::Value| value.as_f64().expect("a number") as f32;
    for (feature, (index, river)) in features.iter().zip(network.rivers().iter().enumerate()) {
        assert_eq!(feature["type"], "Feature");
        assert_eq!(feature["geometry"]["type"], "LineString");
        let line = feature["geometry"]["coordinates"]
            .as_array()
            .expect("a list");
        assert_eq!(line.len(), river.points.len());
        for (place, position) in line.iter().zip(network.positions(index)) {
            let place = Vec3::new(number(&place[0]), number(&place[2]), number(&place[1]));
            assert_eq!(place, position);
        }
        let properties = &feature["properties"];
        assert_eq!(properties["kind"], "river");
        assert_eq!(properties["order"], river.order);
        for (name, value) in [
            ("width", river.width()),
            ("discharge", river.discharge()),
            ("slope", river.slope()),
            ("length", river.length),
        ] {
            assert_eq!(number(&properties[name]), value, "{name}");
        }
        assert_eq!(
            properties["widths"].as_array().map(Vec::len),
            Some(line.len())
        );
    }
    for (feature, lake) in features
        .iter()
        .skip(network.rivers().len())
        .zip(network.lakes())
    {
        assert_eq!(feature["geometry"]["type"], "Point");
        let volume = feature["properties"]["volume"].as_f64().expect("a number");
        assert!((volume - lake.volume).abs() < 1e-12 * lake.volume);
        assert_eq!(number(&feature["properties"]["level"]), 20.0 + lake.level);
    }
}

/// A bumpy slope with soil, and a line that winds down it.
fn slope_and_line() -> (Terrain, Vec<Vec3>) {
    let size = UVec2::new(160, 96);
    let ground = (0..160 * 96).map(|cell| {
        let (x, y) = ((cell % 160) as f32, (cell / 160) as f32);
        let bumps = 1.5 * (x * 0.31).sin() * (y * 0.23).cos();
        60.0 - 0.15 * x + bumps
    });
    let land = Terrain::from_heights(size, 2.0, ground.collect())
        .and_then(|land| land.with_soil_depth(0.5))
        .expect("valid");
    let line = (0..40).map(|point| {
        let x = -150.0 + point as f32 * 7.8;
        Vec3::new(x, 0.0, 30.0 * (x * 0.03).sin())
    });
    (land, line.collect())
}

#[test]
fn a_channel_falls_all_the_way_and_is_booked() {
    for piled in [0.0, 1.0] {
        let (mut land, line) = slope_and_line();
        let before = land.ground_heights();
        let shape = ChannelShape::new(7.0, 1.0).with_piled(piled);
        let carved = carve_channel(&mut land, &line, &shape).expect("carved");
        assert!(carved.bed.is_sorted_by(|a, b| a.y > b.y));
        let mut last = f32::INFINITY;
        for place in &carved.bed {
            // The ground of the cell is the bed, within half a cell's way along it.
            let cell = land.grid().cell_at(*place).expect("on the land");
            let index = land.grid().index(cell.x, cell.y);
            assert!((land.ground(index) - place.y).abs() < 1.5, "{place}");
            assert!(before[index] - land.ground(index) > 0.99, "{place}");
            // Along the line itself the ground never rises.
            let height = land.height_at(*place).expect("on the land");
            assert!(height <= last + 2e-2, "{place}: {height} after {last}");
            last = height;
        }
        let ledger = land.ledger().solids;
        assert!(ledger.drift_of_total().abs() < 1e-6, "{ledger:?}");
        assert!(ledger.drift().abs() < 1e-6 * carved.dug, "{ledger:?}");
        assert!((ledger.added - (carved.piled - carved.dug)).abs() < 1e-9);
        assert!((carved.piled - f64::from(piled) * carved.dug).abs() < 1e-3 * carved.dug);
        // Far from the line all is as it was.
        assert_eq!(land.ground(0), before[0]);
    }
}

#[test]
fn wrong_channels_are_refused_and_odd_ones_do_no_harm() {
    let (mut land, line) = slope_and_line();
    let hash = land.state_hash();
    let shape = ChannelShape::default();
    let wide = ChannelShape {
        width: -1.0,
        ..shape
    };
    assert!(carve_channel(&mut land, &line, &wide).is_err());
    assert!(carve_channel(&mut land, &[Vec3::NAN, Vec3::ZERO], &shape).is_err());
    let endless = [Vec3::ZERO, Vec3::X * 1e30];
    assert!(carve_channel(&mut land, &endless, &shape).is_err());
    assert_eq!(carve_channel(&mut land, &[], &shape), Ok(default()));
    let outside = [Vec3::X * 1e4, Vec3::X * 2e4];
    assert_eq!(carve_channel(&mut land, &outside, &shape), Ok(default()));
    assert_eq!(land.state_hash(), hash);
    // A single point digs a hole, and a line from beyond the land a part of a channel.
    for line in [
        &[Vec3::ZERO, Vec3::ZERO][..],
        &[Vec3::X * -500.0, Vec3::ZERO],
    ] {
        let carved = carve_channel(&mut land, line, &shape).expect("carved");
        assert!(carved.dug > 0.0);
    }
    for size in [UVec2::ONE, UVec2::new(1, 9), UVec2::new(9, 1)] {
        let mut land = Terrain::flat(size, 2.0).expect("valid");
        let line = [Vec3::new(-9.0, 0.0, -9.0), Vec3::new(9.0, 0.0, 9.0)];
        carve_channel(&mut land, &line, &shape).expect("carved");
        assert!(land.ledger().solids.drift().abs() < 1e-9);
    }
}

#[test]
fn water_runs_in_a_carved_channel() {
    let (mut land, line) = slope_and_line();
    let carved = carve_channel(&mut land, &line, &ChannelShape::new(8.0, 2.5)).expect("carved");
    let bed: Vec<usize> = {
        let cells = carved
            .bed
            .iter()
            .filter_map(|place| land.grid().cell_at(*place));
        cells
            .map(|cell| land.grid().index(cell.x, cell.y))
            .collect()
    };
    let mut solver = PipeSolver::new(PipeModel::default(), land.grid()).expect("valid");
    let spring = RiverSpring {
        position: carved.bed[6],
        source: WaterSource::cubic_metres_per_second(1.0).with_radius(3.0),
        river: 0,
    };
    for _ in 0..9000 {
        spring
            .source
            .pour(&mut land, spring.position, 0.1)
            .expect("on the land");
        solver.step(&mut land, 0.1);
    }
    // It runs over all of the bed but the ends, and nearly all of it is there.
    let wet = bed[12..bed.len() - 6].iter();
    let dry = wet.filter(|&&cell| land.water()[cell] < 0.01).count();
    assert!(dry * 20 < bed.len(), "{dry} of {} cells are dry", bed.len());
    let width = land.grid().width();
    let near = |cell: usize| {
        let (x, y) = ((cell % width) as i32, (cell / width) as i32);
        bed.iter().any(|&other| {
            let (dx, dy) = ((other % width) as i32 - x, (other / width) as i32 - y);
            dx * dx + dy * dy <= 16
        })
    };
    let (mut within, mut all) = (0.0, 0.0);
    for (cell, &depth) in land
        .water()
        .iter()
        .enumerate()
        .filter(|(_, depth)| **depth > 0.0)
    {
        all += f64::from(depth);
        within += if near(cell) { f64::from(depth) } else { 0.0 };
    }
    assert!(within > 0.95 * all, "{within} of {all}");
}

#[test]
fn rivers_of_a_network_are_carved_and_run() {
    let mut land = drained_hills(2);
    let settings = RiverSettings::default().with_onset_area(1500.0);
    let network = RiverNetwork::of(&land, &settings).expect("valid");
    let longest = network.rivers().iter().enumerate();
    let (longest, _) = longest
        .max_by(|a, b| a.1.length.total_cmp(&b.1.length))
        .expect("a river");
    let line = network.positions(longest);
    let carved = carve_channel(&mut land, &line, &ChannelShape::new(3.0, 0.5)).expect("carved");
    assert!(carved.dug > 0.0 && carved.bed.is_sorted_by(|a, b| a.y > b.y));
    // The new land's water goes the same way.
    let again = RiverNetwork::of(&land, &settings).expect("valid");
    let near = again.nearest_river(line[line.len() / 2]).expect("a river");
    assert!(near.distance < 3.0, "{near:?}");
    for spring in network.springs(0.0, 50.0) {
        spring.source.check().expect("valid");
        assert!(
            spring
                .source
                .pour(&mut land, spring.position, 1.0)
                .expect("on the land")
                > 0.0
        );
    }
}

fn map_app(land: Terrain) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .insert_resource(land)
        .insert_resource(RiverMap::default().with_interval(Duration::ZERO));
    app
}

/// Runs frames until there is news.
fn wait(app: &mut App) -> RiverMapUpdated {
    for _ in 0..10_000 {
        app.update();
        let mut news = app.world_mut().resource_mut::<Messages<RiverMapUpdated>>();
        if let Some(message) = news.drain().last() {
            return message;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no network");
}

fn map(app: &App) -> &RiverMap {
    app.world().resource::<RiverMap>()
}

#[test]
fn an_app_has_a_map_that_follows_the_ground() {
    let mut app = map_app(hills(3));
    let news = wait(&mut app);
    let expected = RiverNetwork::of(&hills(3), &RiverSettings::default()).expect("valid");
    let network = map(&app).shared().expect("made");
    assert_eq!(network.rivers(), expected.rivers());
    assert_eq!(
        (news.rivers, news.lakes),
        (expected.rivers().len(), expected.lakes().len())
    );

    // Land at rest costs nothing.
    for _ in 0..50 {
        app.update();
        assert!(!map(&app).is_busy());
    }
    // Some of it changes: the network is that of the new ground.
    let (mut land, at) = (
        app.world_mut().resource_mut::<Terrain>(),
        Vec3::new(20.0, 0.0, 30.0),
    );
    let line = [at, at + Vec3::X * 50.0];
    carve_channel(&mut land, &line, &ChannelShape::new(6.0, 8.0)).expect("carved");
    wait(&mut app);
    let land = app.world().resource::<Terrain>();
    let expected = RiverNetwork::of(land, &RiverSettings::default()).expect("valid");
    let now = map(&app).network().expect("made");
    assert_eq!(now.rivers(), expected.rivers());
    assert_ne!(now.rivers(), network.rivers());

    // Other settings, another network; wrong ones leave the old one.
    let finer = RiverSettings::default().with_onset_area(100.0);
    app.world_mut().resource_mut::<RiverMap>().settings = finer;
    assert!(wait(&mut app).rivers > expected.rivers().len());
    let wrong = RiverSettings::default().with_runoff(f32::NAN);
    app.world_mut().resource_mut::<RiverMap>().settings = wrong;
    for _ in 0..5 {
        app.update();
    }
    let error = map(&app).error().expect("refused").to_string();
    assert!(error.contains("runoff"), "{error}");
    assert!(map(&app).network().is_some() && !map(&app).is_busy());
    app.world_mut().resource_mut::<RiverMap>().settings = RiverSettings::default();

    // Another land, of another size.
    let other = crate::land(9, UVec2::new(70, 200), 2.0);
    let expected = RiverNetwork::of(&other, &RiverSettings::default()).expect("valid");
    app.insert_resource(other);
    wait(&mut app);
    while map(&app).is_busy() {
        wait(&mut app);
    }
    assert_eq!(
        map(&app).network().expect("made").rivers(),
        expected.rivers()
    );
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    assert!(map(&app).network().is_none());
}

#[test]
fn a_map_waits_for_its_interval() {
    let mut app = map_app(hills(3));
    app.insert_resource(RiverMap::default().with_interval(Duration::from_secs(3600)));
    wait(&mut app);
    let cells = 128 * 96;
    for round in 0..50 {
        let soil = vec![round as f32; cells];
        let mut land = app.world_mut().resource_mut::<Terrain>();
        land.set_layer(Layer::Soil, soil).expect("valid");
        app.update();
        let news = app.world().resource::<Messages<RiverMapUpdated>>();
        assert!(news.is_empty() && map(&app).is_busy());
    }
}
