//! Whatever is written through the guard is noticed, balanced and valid.

use super::*;
use crate::terrain::TerrainCursor;

fn land(size: UVec2) -> Terrain {
    let cells = (size.x * size.y) as usize;
    let heights = (0..cells).map(|i| 1000.0 + (i % 17) as f32 * 0.3).collect();
    Terrain::from_heights(size, 2.0, heights)
        .and_then(|terrain| terrain.with_soil_depth(1.0))
        .and_then(|terrain| terrain.with_layer(Layer::Water, vec![0.5; cells]))
        .expect("valid")
}

fn assert_balanced(terrain: &Terrain) {
    let ledger = terrain.ledger();
    assert!(ledger.solids.drift().abs() < 1e-6, "{:?}", ledger.solids);
    assert!(ledger.water.drift().abs() < 1e-6, "{:?}", ledger.water);
}

fn tiles(cursor: &TerrainCursor, terrain: &Terrain, group: LayerGroup) -> Vec<(u32, u32)> {
    let changes = cursor.peek(terrain);
    changes.tiles(group).map(|tile| (tile.x, tile.y)).collect()
}

#[test]
fn what_is_written_is_marked_and_recorded() {
    let mut terrain = land(UVec2::new(130, 70));
    let seen = TerrainCursor::at(&terrain);
    let mut write = terrain.write(&[Layer::Soil, Layer::Water]);
    let layers = write.layers();
    let (soil, water) = (
        layers.soil.write().expect("declared"),
        layers.water.write().expect("declared"),
    );
    soil[5] += 2.0;
    soil[69 * 130 + 129] = 0.25;
    water[66 * 130 + 70] = 3.5;
    drop(write);
    assert_eq!(tiles(&seen, &terrain, LayerGroup::Ground), [(0, 0), (2, 1)]);
    assert_eq!(tiles(&seen, &terrain, LayerGroup::Water), [(1, 1)]);
    assert!(!seen.peek(&terrain).changed(LayerGroup::Lava));
    let ledger = terrain.ledger();
    assert_eq!(ledger.solids.added, (2.0 - 0.75) * 4.0);
    assert_eq!(ledger.solids.moved, 0.75 * 4.0);
    assert_eq!(ledger.water.added, 3.0 * 4.0);
    assert_balanced(&terrain);
}

#[test]
fn nothing_written_changes_nothing() {
    for size in [UVec2::ONE, UVec2::new(70, 3)] {
        let mut terrain = land(size);
        let (seen, hash) = (TerrainCursor::at(&terrain), terrain.state_hash());
        let mut write = terrain.write(&Layer::ALL);
        let layers = write.layers();
        assert!(layers.hardness.is_some() && layers.lava.is_some());
        write.flow_mut().expect("water is declared");
        assert_eq!(write.finish(), Ok(()));
        assert!(seen.peek(&terrain).is_empty());
        assert_eq!(terrain.state_hash(), hash);
        assert!(terrain.hardness().is_none() && terrain.lava().is_none());
        assert!(terrain.flow().is_none());
        assert_eq!(terrain.ledger().solids.added, 0.0);
    }
}

#[test]
fn undeclared_layers_can_only_be_read() {
    let mut terrain = land(UVec2::splat(4));
    let mut write = terrain.write(&[Layer::Soil]);
    let layers = write.layers();
    assert_eq!(layers.water[3], 0.5);
    assert!(layers.lava.is_none() && layers.hardness.is_none());
    let refused = layers.water.write().expect_err("not declared");
    assert_eq!(refused, TerrainError::UndeclaredLayer(Layer::Water));
    assert!(refused.to_string().contains("`water`"), "{refused}");
    let undeclared = |layer| Err(TerrainError::UndeclaredLayer(layer));
    assert_eq!(
        write.add(Layer::Bedrock, 0, 1.0),
        undeclared(Layer::Bedrock)
    );
    let moved = write.transfer(Layer::Bedrock, Layer::Soil, 0, 1.0);
    assert_eq!(moved, undeclared(Layer::Bedrock));
    assert!(write.flow_mut().is_err());
    assert!(matches!(
        write.add(Layer::Soil, 16, 1.0),
        Err(TerrainError::OutsideGrid { x: 0, y: 4, .. })
    ));
}

#[test]
fn wrong_values_are_put_back() {
    let mut terrain = land(UVec2::new(8, 4));
    let seen = TerrainCursor::at(&terrain);
    let before = terrain.clone();
    let mut write = terrain.write(&[
        Layer::Bedrock,
        Layer::Soil,
        Layer::Water,
        Layer::Hardness,
        Layer::Lava,
    ]);
    let layers = write.layers();
    let bedrock = layers.bedrock.write().expect("declared");
    (bedrock[1], bedrock[2]) = (f32::NAN, f32::NEG_INFINITY);
    layers.soil.write().expect("declared")[9] = -1e-6;
    layers.water.write().expect("declared")[10] = 1e30;
    layers
        .hardness
        .expect("declared")
        .write()
        .expect("declared")[3] = 1.5;
    layers.lava.expect("declared").write().expect("declared")[4] = f32::INFINITY;
    layers
        .lava_heat
        .expect("declared")
        .write()
        .expect("declared")[5] = 1.0;
    let flow = write.flow_mut().expect("declared");
    (flow.east[0], flow.west_border[3]) = (f32::NAN, 1e30);
    let error = write.finish().expect_err("wrong values");
    assert!(
        matches!(error, TerrainError::Value { layer: Layer::Bedrock, x: 1, y: 0, value, .. } if value.is_nan()),
        "{error}"
    );
    assert!(seen.peek(&terrain).is_empty());
    assert_eq!(terrain.state_hash(), before.state_hash());
    assert_balanced(&terrain);
}

#[test]
fn good_values_beside_wrong_ones_stay() {
    let mut terrain = land(UVec2::new(8, 4));
    let mut write = terrain.write(&[Layer::Soil]);
    let soil = write.rows(1..2).soil.write().expect("declared");
    (soil[0], soil[1]) = (4.0, f32::NAN);
    drop(write);
    assert_eq!(terrain.soil()[8..11], [4.0, 1.0, 1.0]);
    assert_eq!(terrain.ledger().solids.added, 3.0 * 4.0);
    assert_balanced(&terrain);
}

#[test]
fn recorded_volumes_are_not_added() {
    let mut terrain = land(UVec2::splat(3));
    let mut write = terrain.write(&[Layer::Soil, Layer::Water]);
    let layers = write.layers();
    layers.soil.write().expect("declared")[4] -= 0.5;
    layers.water.write().expect("declared")[4] += 0.25;
    write.record_solids(SolidsTerm::Left, 0.5 * 4.0);
    write.record_water(WaterTerm::Evaporated, 2.0);
    write.record_water(WaterTerm::Rained, 3.0);
    write.record_water(WaterTerm::Poured, f64::NAN);
    drop(write);
    let ledger = terrain.ledger();
    assert_eq!((ledger.solids.left, ledger.solids.added), (2.0, 0.0));
    assert_eq!((ledger.water.evaporated, ledger.water.rained), (2.0, 3.0));
    assert_eq!((ledger.water.poured, ledger.water.added), (0.0, 0.0));
    assert_balanced(&terrain);
}

#[test]
fn rock_becomes_soil_without_loss_at_any_altitude() {
    let size = UVec2::splat(2);
    let mut terrain = Terrain::from_heights(size, 1.0, vec![3000.0; 4]).expect("valid");
    for _ in 0..10_000 {
        let mut write = terrain.write(&[Layer::Bedrock, Layer::Soil]);
        // Far below the last place of 3000.
        let moved = write.transfer(Layer::Bedrock, Layer::Soil, 1, 1e-6);
        assert!((moved.expect("valid") - 1e-6).abs() < 1e-9);
    }
    let ledger = terrain.ledger().solids;
    assert!((terrain.soil()[1] - 0.01).abs() < 1e-5);
    assert!((terrain.bedrock()[1] - 2999.99).abs() < 1e-3);
    assert!(ledger.added.abs() < 1e-6, "{}", ledger.added);
    assert!(ledger.drift().abs() < 1e-9, "{}", ledger.drift());
    assert_eq!(ledger.moved, 0.0);

    // No more than there is.
    let mut write = terrain.write(&[Layer::Bedrock, Layer::Soil, Layer::Suspended]);
    let moved = write.transfer(Layer::Soil, Layer::Suspended, 1, 5.0);
    assert!((moved.expect("valid") - 0.01).abs() < 1e-5);
    let gone = write.add(Layer::Suspended, 1, -7.0).expect("valid");
    assert!((gone + 0.01).abs() < 1e-5, "{gone}");
    for wrong in [-1.0, f32::NAN, f32::INFINITY] {
        write
            .transfer(Layer::Bedrock, Layer::Soil, 1, wrong)
            .expect_err("no amount");
    }
    write.add(Layer::Soil, 0, f32::NAN).expect_err("no number");
    drop(write);
    let mut write = terrain.write(&Layer::ALL);
    for other in [Layer::Water, Layer::Hardness] {
        write
            .transfer(Layer::Soil, other, 1, 0.0)
            .expect_err("not solids");
    }
    write.add(Layer::Soil, 0, 2e9).expect_err("out of range");
    drop(write);
    assert_eq!((terrain.soil()[1], terrain.suspended()[1]), (0.0, 0.0));
    let ledger = terrain.ledger().solids;
    assert!((ledger.added + 0.01).abs() < 1e-5 && ledger.moved > 0.0099);
    assert!(ledger.drift().abs() < 1e-9, "{}", ledger.drift());
}

#[test]
fn cells_can_be_written_both_ways_at_once() {
    let mut terrain = land(UVec2::splat(4));
    let mut write = terrain.write(&[Layer::Bedrock, Layer::Soil]);
    write.layers().soil.write().expect("declared")[5] = 3.0;
    write
        .transfer(Layer::Soil, Layer::Bedrock, 5, 2.5)
        .expect("valid");
    write.layers().soil.write().expect("declared")[5] += 1.0;
    write.layers().soil.write().expect("declared")[6] = f32::NAN;
    write
        .transfer(Layer::Soil, Layer::Bedrock, 6, 1.0)
        .expect("valid");
    write.finish().expect_err("not a number");
    assert_eq!(terrain.soil()[5..7], [1.5, 0.0]);
    assert_eq!(terrain.ledger().solids.added, (2.0 + 1.0) * 4.0);
    assert_balanced(&terrain);
}

#[test]
fn low_parts_stay_low() {
    let size = UVec2::splat(2);
    let mut terrain = Terrain::from_heights(size, 1.0, vec![3000.0; 4]).expect("valid");
    let mut write = terrain.write(&[Layer::Bedrock]);
    for cell in 0..4 {
        write.add(Layer::Bedrock, cell, 5e-5).expect("valid");
    }
    drop(write);
    assert!(terrain.bedrock_low()[0] > 4e-5);
    let mut write = terrain.write(&[Layer::Bedrock]);
    let bedrock = write.layers().bedrock.write().expect("declared");
    (bedrock[0], bedrock[1]) = (2999.5, 0.0);
    drop(write);
    // Still too small for the one, and no longer for the other.
    assert!(terrain.bedrock_low()[0] > 4e-5);
    assert_eq!(terrain.bedrock_low()[1], 0.0);
    assert!(terrain.ledger().solids.drift().abs() < 1e-9);
}

#[test]
fn heat_goes_with_the_lava() {
    let lava = vec![2.0, 2.0, 2.0, 0.0];
    let mut terrain = Terrain::flat(UVec2::splat(2), 1.0)
        .and_then(|terrain| terrain.with_layer(Layer::Lava, lava))
        .expect("valid");
    let seen = TerrainCursor::at(&terrain);
    let mut write = terrain.write(&[Layer::Lava]);
    let layers = write.layers();
    let heat = layers.lava_heat.expect("there").write().expect("declared");
    heat[..2].fill(1.0);
    drop(write);
    assert_eq!(tiles(&seen, &terrain, LayerGroup::Lava), [(0, 0)]);
    let mut write = terrain.write(&[Layer::Lava]);
    let layers = write.layers();
    let depth = layers.lava.expect("there").write().expect("declared");
    depth.copy_from_slice(&[3.0, 1.0, 0.0, 1.5]);
    drop(write);
    assert_eq!(terrain.lava_heat(), Some(&[2.0, 0.5, 0.0, 1.5][..]));
    assert_eq!(terrain.ledger().solids.added, 5.5 - 6.0);
    assert_balanced(&terrain);
}

#[test]
fn a_model_may_let_water_flow() {
    let mut terrain = land(UVec2::new(70, 5));
    let seen = TerrainCursor::at(&terrain);
    let mut write = terrain.write(&[Layer::Water]);
    let flow = write.flow_mut().expect("declared");
    flow.east[69] = 0.5;
    drop(write);
    assert_eq!(tiles(&seen, &terrain, LayerGroup::Water), [(1, 0)]);
    assert_eq!(terrain.discharge(69, 0).x, 0.25);
}

#[test]
fn what_is_too_small_for_the_thicker_layer_does_not_move() {
    let mut terrain = Terrain::flat(UVec2::ONE, 1.0)
        .and_then(|land| land.with_layer(Layer::Soil, vec![10.0]))
        .and_then(|land| land.with_layer(Layer::Suspended, vec![1e-4]))
        .expect("valid");
    for _ in 0..1000 {
        let mut write = terrain.write(&[Layer::Soil, Layer::Suspended]);
        let moved = write.transfer(Layer::Soil, Layer::Suspended, 0, 1e-7);
        assert_eq!(moved, Ok(0.0));
        let moved = write.transfer(Layer::Suspended, Layer::Soil, 0, 1e-7);
        assert!(moved.is_ok_and(|moved| moved.abs() < 1e-6));
    }
    let solids = terrain.ledger().solids;
    assert!(solids.added.abs() < 1e-9, "{}", solids.added);
}
