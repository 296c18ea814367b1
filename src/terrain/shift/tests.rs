//! A shifted terrain is the same land, seen through a window elsewhere.

use super::*;
use crate::terrain::{LayerGroup, TerrainCursor};

/// Layers that follow from the place in the world alone.
fn world(center: Vec3) -> CellLayers {
    let at = |a: f32, b: f32| (center.x * a + center.z * b).sin().abs();
    CellLayers {
        bedrock: 100.0 + 20.0 * at(0.01, 0.02),
        soil: at(0.03, 0.01),
        water: 0.5 * at(0.02, 0.05),
        suspended: 0.1 * at(0.07, 0.03),
        hardness: 0.5 * at(0.02, 0.02),
        lava: at(0.04, 0.01),
        lava_heat: 0.5 * at(0.04, 0.01),
    }
}

fn window(size: UVec2, origin: Vec3) -> Terrain {
    let mut terrain = Terrain::flat(size, 2.0)
        .and_then(|terrain| terrain.with_origin(origin))
        .expect("valid");
    let grid = *terrain.grid();
    let cells: Vec<CellLayers> = (0..size.y)
        .flat_map(|y| (0..size.x).map(move |x| world(grid.cell_center(x, y))))
        .collect();
    let plane = |value: fn(&CellLayers) -> f32| cells.iter().map(value).collect::<Vec<f32>>();
    for (layer, values) in [
        (Layer::Bedrock, plane(|cell| cell.bedrock)),
        (Layer::Soil, plane(|cell| cell.soil)),
        (Layer::Water, plane(|cell| cell.water)),
        (Layer::Suspended, plane(|cell| cell.suspended)),
        (Layer::Hardness, plane(|cell| cell.hardness)),
        (Layer::Lava, plane(|cell| cell.lava)),
    ] {
        terrain = terrain.with_layer(layer, values).expect("valid");
    }
    terrain.ensure_lava().heat = plane(|cell| cell.lava_heat);
    terrain
}

/// World positions and cell size are sums of powers of two: they are exact.
const ORIGIN: Vec3 = Vec3::new(256.0, 7.0, -512.0);

fn assert_balanced(terrain: &Terrain) {
    let ledger = terrain.ledger();
    assert!(ledger.solids.drift_of_total().abs() < 1e-12, "{ledger:?}");
    assert!(ledger.water.drift_of_total().abs() < 1e-12, "{ledger:?}");
}

#[test]
fn a_shifted_window_shows_what_is_there() {
    for size in [
        UVec2::new(192, 128),
        UVec2::new(200, 150),
        UVec2::new(64, 65),
    ] {
        for by in [
            IVec2::new(1, 0),
            IVec2::new(-1, 0),
            IVec2::new(0, 2),
            IVec2::new(2, -1),
            IVec2::new(-9, 1),
            IVec2::new(40, -50),
        ] {
            let mut terrain = window(size, ORIGIN);
            let mut asked = Vec::new();
            let volumes = terrain
                .shift_tiles(by, |new| {
                    asked.push(new.cell);
                    world(new.center)
                })
                .expect("valid");
            let moved = ORIGIN + Vec3::new(by.x as f32, 0.0, by.y as f32) * 128.0;
            let expected = window(size, moved);
            assert_eq!(terrain.state_hash(), expected.state_hash(), "{size} {by}");
            let mut once = asked.clone();
            once.sort_by_key(|cell| (cell.y, cell.x));
            once.dedup();
            assert_eq!(once, asked, "row by row, each once");
            assert_balanced(&terrain);
            let ledger = terrain.ledger();
            assert_eq!(ledger.solids.left, volumes.solids_out);
            assert_eq!(ledger.water.added, volumes.water_in);
            assert!(volumes.solids_in > 0.0 && volumes.water_out > 0.0);
        }
    }
}

#[test]
fn there_and_back_is_where_it_was() {
    let mut terrain = window(UVec2::new(200, 150), ORIGIN);
    let hash = terrain.state_hash();
    let mut cursor = TerrainCursor::at(&terrain);
    for by in [IVec2::new(1, 1), IVec2::new(-3, 0), IVec2::new(2, -1)] {
        terrain
            .shift_tiles(by, |new| world(new.center))
            .expect("valid");
    }
    assert_eq!(terrain.state_hash(), hash);
    assert_balanced(&terrain);
    let changes = cursor.changes(&terrain);
    assert!(changes.shifted().is_none() && !changes.replaced());
    assert!(changes.ground().count() > 0, "it was filled anew");
}

#[test]
fn cursors_report_the_shift_and_what_is_new() {
    let mut terrain = window(UVec2::new(256, 256), ORIGIN);
    let mut cursor = TerrainCursor::at(&terrain);
    terrain.mark_tiles([2 * 4 + 2]);
    terrain
        .shift_tiles(IVec2::X, |new| new.edge)
        .expect("valid");
    assert!(cursor.is_of(&terrain) && !cursor.is_at(&terrain));
    let changes = cursor.peek(&terrain);
    assert_eq!(changes.shifted(), Some(IVec2::X));
    assert!(!changes.replaced());
    // The tile that was marked has moved; one column is new, another an edge.
    let mut expected: Vec<UVec2> = (0..4)
        .flat_map(|y| [UVec2::new(0, y), UVec2::new(3, y)])
        .collect();
    let water = changes.water().collect::<Vec<_>>();
    assert_eq!(water, expected);
    expected.push(UVec2::new(1, 2));
    expected.sort_by_key(|tile| (tile.y, tile.x));
    assert_eq!(changes.ground().collect::<Vec<_>>(), expected);
    let whole = changes.shift_as_replaced();
    assert!(whole.replaced() && whole.shifted().is_none());
    assert_eq!(whole.tiles(LayerGroup::Lava).count(), 16);

    // An owner that has followed already is told of new tiles only.
    let mut follower = cursor;
    follower.shift(IVec2::X);
    assert!(follower.peek(&terrain).shifted().is_none());
    assert_eq!(follower.peek(&terrain).ground().count(), 9);
    // Several shifts are reported as one.
    terrain
        .shift_tiles(IVec2::new(1, -1), |new| new.edge)
        .expect("valid");
    assert_eq!(cursor.changes(&terrain).shifted(), Some(IVec2::new(2, -1)));
    assert!(cursor.changes(&terrain).is_empty());
}

#[test]
fn tiles_cut_at_the_edge_count_as_new() {
    let mut terrain = window(UVec2::new(100, 200), ORIGIN);
    let mut cursor = TerrainCursor::at(&terrain);
    terrain
        .shift_tiles(IVec2::NEG_Y, |new| new.edge)
        .expect("valid");
    let rows: Vec<u32> = cursor
        .changes(&terrain)
        .ground()
        .map(|tile| tile.y)
        .collect();
    // The first is new, the last is cut and an edge.
    assert_eq!(rows, [0, 0, 3, 3]);
}

#[test]
fn the_land_can_go_on_as_at_its_edge() {
    let mut terrain = window(UVec2::new(128, 64), ORIGIN);
    let before = terrain.clone();
    terrain
        .shift_tiles(IVec2::NEG_X, |new| new.edge)
        .expect("valid");
    for y in 0..64 {
        let edge = before.cell_layers(0, y).expect("inside");
        for x in [0, 30, 63, 64] {
            assert_eq!(terrain.cell_layers(x, y), Ok(edge));
        }
    }
    assert!(terrain.cell_layers(128, 0).is_err());
}

#[test]
fn flow_and_rivers_move_along() {
    let mut terrain = window(UVec2::new(192, 128), ORIGIN);
    terrain.ensure_flow();
    let flow = terrain.layers_mut().flow.expect("there");
    for (i, value) in flow.east.iter_mut().chain(&mut flow.south).enumerate() {
        *value = i as f32;
    }
    flow.west_border.fill(-1.0);
    flow.north_border.fill(-2.0);
    let patch = StreamPatch {
        river: 1,
        first: UVec2::new(60, 10),
        size: UVec2::new(10, 2),
        depth: (0..20).map(|i| i as f32).collect(),
        velocity: [vec![1.0; 20], vec![2.0; 20]],
        fresh: vec![0.5; 20],
    };
    terrain.show_stream(patch);
    let before = terrain.clone();
    let by = |terrain: &mut Terrain, by: IVec2| {
        terrain.shift_tiles(by, |new| new.edge).expect("valid");
    };
    by(&mut terrain, IVec2::X);
    for y in [10, 11, 100] {
        for x in 0..127 {
            let old = before.discharge(x + 64, y);
            assert_eq!(terrain.discharge(x, y), old, "{x}, {y}");
            assert_eq!(terrain.water_depth(x, y), before.water_depth(x + 64, y));
        }
    }
    assert_eq!(terrain.stream_depth(5, 11), 19.0);
    assert_eq!(terrain.stream_depth(6, 11), 0.0);
    // What was cut off does not come back; faces at the border do not get lost.
    by(&mut terrain, IVec2::NEG_X);
    assert_eq!(terrain.stream_depth(63, 11), 0.0);
    assert_eq!(terrain.discharge(64, 5), before.discharge(64, 5));
    by(&mut terrain, IVec2::NEG_Y);
    assert_eq!(terrain.discharge(70, 64 + 5), before.discharge(70, 5));
    assert_eq!(terrain.discharge(70, 64), before.discharge(70, 0));
    by(&mut terrain, IVec2::new(0, 9));
    assert!(!terrain.has_streams());
    assert_eq!(terrain.discharge(70, 64), Vec2::ZERO);
}

#[test]
fn what_cannot_be_changes_nothing() {
    let mut terrain = window(UVec2::new(100, 40), ORIGIN);
    let (hash, seen) = (terrain.state_hash(), TerrainCursor::at(&terrain));
    let small = terrain.shift_tiles(IVec2::Y, |new| new.edge);
    let small = small.expect_err("too small").to_string();
    assert!(
        small.contains("100 × 40") && small.contains("64 cells"),
        "{small}"
    );
    let far = terrain.shift_tiles(IVec2::new(i32::MIN, 0), |new| new.edge);
    far.expect_err("too far");
    let wrong = terrain.shift_tiles(IVec2::X, |new| CellLayers {
        soil: -1.0,
        ..new.edge
    });
    let wrong = wrong.expect_err("out of range").to_string();
    assert!(wrong.contains("`soil` at cell (36, 0)"), "{wrong}");
    let hot = terrain.shift_tiles(IVec2::X, |new| CellLayers {
        lava_heat: 2.0 + new.edge.lava,
        ..new.edge
    });
    hot.expect_err("hotter than fresh");
    let none = terrain.shift_tiles(IVec2::ZERO, |_| CellLayers::default());
    assert_eq!(none, Ok(ShiftVolumes::default()));
    assert_eq!(terrain.state_hash(), hash);
    assert!(seen.peek(&terrain).is_empty());
    terrain
        .shift_tiles(IVec2::X, |new| new.edge)
        .expect("wide enough");
}

#[test]
fn many_shifts_add_no_rounding() {
    let size = UVec2::splat(64);
    let origin = Vec3::new(0.1, 3.3, 0.7);
    let mut terrain = Terrain::flat(size, 0.3)
        .and_then(|terrain| terrain.with_origin(origin))
        .expect("valid");
    for way in [IVec2::new(1, 1), IVec2::new(-1, -1)] {
        for _ in 0..500 {
            terrain.shift_tiles(way, |new| new.edge).expect("valid");
        }
    }
    assert_eq!(terrain.grid().origin(), origin);
}
