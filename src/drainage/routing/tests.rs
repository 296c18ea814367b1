use super::*;
use crate::terrain::{Border, Terrain, landform::Fbm};
use bevy::{math::UVec2, tasks::TaskPoolBuilder};

fn routed(width: usize, ground: &[f32], borders: Borders) -> Routing {
    let mut routing = Routing::new(width, ground.len() / width);
    routing.route(Workers::global(), ground, borders, None);
    routing
}

fn raw(width: usize, height: usize) -> Vec<f32> {
    (0..width * height)
        .map(|cell| (scramble(cell as u32 + 77) % 1000) as f32)
        .collect()
}

/// Every cell reaches an outlet, in the order given, and never climbs above the water.
fn check(routing: &Routing, ground: &[f32]) {
    let cells = ground.len();
    let mut place = vec![usize::MAX; cells];
    let order = routing.order();
    let all = order.bands().flatten().chain(order.trunk());
    for (number, &cell) in all.enumerate() {
        assert_eq!(place[cell as usize], usize::MAX);
        place[cell as usize] = number;
    }
    assert!(place.iter().all(|place| *place < cells));
    let surface = |cell: usize| ground[cell].max(routing.cover_level(routing.covers()[cell]));
    for cell in 0..cells {
        if let Some(next) = routing.receiver(cell) {
            assert!(place[next] > place[cell]);
            assert!(surface(next) <= surface(cell), "climbs at {cell}");
        }
    }
    let mut flow = Vec::new();
    routing.accumulate(Workers::global(), None, &mut flow);
    let outlets = (0..cells).filter(|&cell| routing.receiver(cell).is_none());
    assert_eq!(outlets.map(|cell| flow[cell]).sum::<f64>(), cells as f64);
    for (number, lake) in routing.lakes().iter().enumerate() {
        assert_eq!(lake.level, ground[lake.spill as usize]);
        assert!(ground[lake.pit as usize] <= lake.level);
        if ground[lake.pit as usize] < lake.level {
            assert_eq!(routing.cover(lake.pit as usize), Cover::Lake(number));
        }
    }
}

/// Levels by a flood from the outlets inwards: slow and literal.
fn flood(ground: &[f32], width: usize, outlets: &[(usize, f32)]) -> Vec<f32> {
    let mut level = vec![f32::INFINITY; ground.len()];
    for &(cell, sea) in outlets {
        level[cell] = ground[cell].max(sea);
    }
    loop {
        let mut changed = false;
        for cell in 0..ground.len() {
            let (x, y) = ((cell % width) as isize, (cell / width) as isize);
            for (dx, dy) in DIRECTIONS {
                let (nx, ny) = (x + dx, y + dy);
                let height = (ground.len() / width) as isize;
                if nx < 0 || ny < 0 || nx >= width as isize || ny >= height {
                    continue;
                }
                let next = level[(ny * width as isize + nx) as usize].max(ground[cell]);
                if next < level[cell] {
                    level[cell] = next;
                    changed = true;
                }
            }
        }
        if !changed {
            return level;
        }
    }
}

#[test]
fn every_size_and_border() {
    let sea = Border::Sea { level: 300.0 };
    let mixed = Borders {
        west: sea,
        east: Border::Wall,
        north: Border::Open,
        south: Border::Sea { level: 500.0 },
    };
    for (width, height) in [
        (1, 1),
        (1, 5),
        (5, 1),
        (2, 2),
        (3, 3),
        (2, 7),
        (40, 23),
        (33, 150),
    ] {
        for borders in [
            Borders::default(),
            Borders::closed(),
            Borders::all(sea),
            mixed,
        ] {
            let ground = raw(width, height);
            check(&routed(width, &ground, borders), &ground);
            let flat = vec![5.0; width * height];
            check(&routed(width, &flat, borders), &flat);
        }
    }
}

#[test]
fn levels_are_those_of_a_flood() {
    let (width, height) = (37, 130);
    let ground = raw(width, height);
    let on_edge = |cell: usize| {
        (cell % width).is_multiple_of(width - 1) || (cell / width).is_multiple_of(height - 1)
    };
    let edge: Vec<(usize, f32)> = (0..ground.len())
        .filter(|&cell| on_edge(cell))
        .map(|cell| (cell, f32::NEG_INFINITY))
        .collect();
    let routing = routed(width, &ground, Borders::default());
    let expected = flood(&ground, width, &edge);
    for cell in 0..ground.len() {
        let level = ground[cell].max(routing.cover_level(routing.covers()[cell]));
        assert_eq!(level, expected[cell], "{cell}");
    }
    let sea = Borders::all(Border::Sea { level: 400.0 });
    let edge: Vec<(usize, f32)> = edge.iter().map(|&(cell, _)| (cell, 400.0)).collect();
    let routing = routed(width, &ground, sea);
    let expected = flood(&ground, width, &edge);
    for cell in 0..ground.len() {
        let level = ground[cell].max(routing.cover_level(routing.covers()[cell]));
        assert!(level == expected[cell] || ground[cell] == 400.0, "{cell}");
    }
}

#[test]
fn a_bowl_spills_over_its_edge() {
    let width = 21;
    let ground: Vec<f32> = (0..width * width)
        .map(|cell| {
            let (x, y) = ((cell % width) as f32 - 10.0, (cell / width) as f32 - 10.0);
            x * x + y * y + if cell == 10 { -5.0 } else { 0.0 }
        })
        .collect();
    let routing = routed(width, &ground, Borders::default());
    check(&routing, &ground);
    assert_eq!(routing.lakes().len(), 1);
    assert_eq!(routing.lakes()[0].spill, 10);
    assert_eq!(routing.lakes()[0].pit as usize, 10 * width + 10);
    assert_eq!(routing.receiver(10), None);
}

#[test]
fn walls_lead_to_the_lowest_pit() {
    let ground = raw(30, 30);
    let routing = routed(30, &ground, Borders::closed());
    check(&routing, &ground);
    let mut ends = (0..900).filter(|&cell| routing.receiver(cell).is_none());
    let end = ends.next().expect("one outlet");
    assert_eq!(ends.next(), None);
    assert!(ground.iter().all(|&z| z >= ground[end]));
}

#[test]
fn same_bits_on_any_threads() {
    let hills = Fbm::seeded(3).with_feature_size(400.0).with_height(300.0);
    let land = Terrain::generate(&hills, UVec2::new(200, 300), 4.0).expect("valid");
    let land = land.ground_heights();
    for ground in [raw(200, 300), land] {
        let (mut one, mut flow_one) = (Routing::new(200, 300), Vec::new());
        let jitter = Some(Jitter {
            seed: 5,
            step: 1,
            amount: 1.0,
        });
        one.route(Workers::serial(), &ground, Borders::default(), jitter);
        one.accumulate(Workers::serial(), Some(&ground), &mut flow_one);
        for threads in [2, 7] {
            let pool = TaskPoolBuilder::new().num_threads(threads - 1).build();
            let workers = Workers::on(&pool);
            let (mut other, mut flow) = (Routing::new(200, 300), Vec::new());
            // Other land first: memory that is reused must not show.
            other.route(workers, &raw(200, 300), Borders::closed(), None);
            other.route(workers, &ground, Borders::default(), jitter);
            other.accumulate(workers, Some(&ground), &mut flow);
            assert_eq!(one.directions(), other.directions());
            assert_eq!(one.covers(), other.covers());
            assert_eq!(one.lakes(), other.lakes());
            assert!(one.order().bands().eq(other.order().bands()));
            assert_eq!(one.order().trunk(), other.order().trunk());
            assert_eq!(flow_one, flow);
        }
    }
}

#[test]
fn sums_weights() {
    let ground: Vec<f32> = (0..10).map(|x| 10.0 - x as f32).collect();
    let routing = routed(10, &ground, walls_but_east());
    let mut flow = Vec::new();
    routing.accumulate(Workers::serial(), Some(&[0.5; 10]), &mut flow);
    assert_eq!(flow[9], 5.0);
    assert_eq!(flow[3], 2.0);
}

fn walls_but_east() -> Borders {
    Borders {
        east: Border::Open,
        ..Borders::closed()
    }
}
