//! The shared terrain: construction, places, sampling, ledger, hash.

use bevy::math::{UVec2, Vec3};
use bevy_erode::{prelude::*, terrain::TerrainCursor};
use bevy_erode::{
    terrain::landform::TiltedPlane,
    terrain::{Grid, TerrainError},
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn cells_lie_where_the_design_says() {
    let grid = Grid::new(UVec2::new(4, 2), 3.0)
        .and_then(|grid| grid.with_origin(Vec3::new(10.0, 5.0, -20.0)))
        .expect("valid");
    // origin + ((i + ½)·l − W·l/2, 0, (j + ½)·l − H·l/2)
    assert_eq!(grid.cell_center(0, 0), Vec3::new(5.5, 5.0, -21.5));
    assert_eq!(grid.cell_center(3, 1), Vec3::new(14.5, 5.0, -18.5));
    for y in 0..2 {
        for x in 0..4 {
            let center = grid.cell_center(x, y);
            assert_eq!(grid.cell_at(center), Some(UVec2::new(x, y)));
            assert_eq!(grid.world_to_grid(center), UVec2::new(x, y).as_vec2());
        }
    }
    assert_eq!(grid.cell_at(Vec3::new(16.1, 0.0, -20.0)), None);
    assert_eq!(grid.cell_at(Vec3::splat(f32::NAN)), None);
}

#[test]
fn heights_are_bilinear_and_normals_point_up() {
    let plane = TiltedPlane {
        slope: 0.5,
        downhill: 90.0,
        base: 100.0,
    };
    let terrain = Terrain::generate(&plane, UVec2::new(20, 10), 2.0)
        .and_then(|t| t.with_soil_depth(1.0))
        .and_then(|t| t.with_origin(Vec3::new(0.0, 7.0, 0.0)))
        .expect("valid");
    for x in [-15.0, -3.3, 0.0, 8.8] {
        let at = Vec3::new(x, 0.0, 3.0);
        let height = terrain.height_at(at).expect("inside");
        // 100 m in the middle, falling by 0.5 towards +X, 1 m of soil, origin at 7 m.
        assert!((height - (108.0 - 0.5 * x)).abs() < 1e-3, "{x}: {height}");
        let normal = terrain.normal_at(at).expect("inside");
        let expected = Vec3::new(0.5, 1.0, 0.0).normalize();
        assert!((normal - expected).length() < 1e-3, "{normal}");
        assert_eq!(terrain.layer_at(Layer::Soil, at), Some(1.0));
        assert_eq!(terrain.layer_at(Layer::Hardness, at), Some(0.0));
    }
    assert_eq!(terrain.height_at(Vec3::new(21.0, 0.0, 0.0)), None);
}

#[test]
fn a_single_cell_is_a_terrain() {
    let terrain = Terrain::from_heights(UVec2::ONE, 5.0, vec![3.0]).expect("valid");
    assert_eq!(terrain.height_at(Vec3::new(2.4, 0.0, -2.4)), Some(3.0));
    assert_eq!(terrain.normal_at(Vec3::ZERO), Some(Vec3::Y));
    assert_eq!(terrain.ledger().solids.bedrock, 75.0);
}

#[test]
fn wrong_input_is_named() {
    let say = |result: Result<Terrain, TerrainError>| match result {
        Ok(_) => panic!("must be refused"),
        Err(error) => error.to_string(),
    };
    let flat = |size: (u32, u32), l| say(Terrain::flat(size.into(), l));
    assert!(flat((0, 4), 1.0).contains("0 × 4"));
    assert!(flat((4, 99_999), 1.0).contains("1 to 16384"));
    assert!(flat((4, 4), 0.0).contains("cell size 0"));
    assert!(flat((4, 4), f32::NAN).contains("cell size NaN"));
    let size = UVec2::new(3, 2);
    let short = say(Terrain::from_heights(size, 1.0, vec![0.0; 5]));
    assert!(
        short.contains("`bedrock` has 5 values") && short.contains("need 6"),
        "{short}"
    );
    let mut heights = vec![0.0; 6];
    heights[4] = f32::INFINITY;
    let bad = say(Terrain::from_heights(size, 1.0, heights));
    assert!(bad.contains("cell (1, 1)") && bad.contains("inf"), "{bad}");
    let deep = Terrain::from_heights(size, 1.0, vec![-500.0; 6]).expect("may be negative");
    let thin = say(deep.clone().with_layer(Layer::Soil, vec![-0.1; 6]));
    assert!(
        thin.contains("`soil`") && thin.contains("cell (0, 0)"),
        "{thin}"
    );
    let hard = say(deep.clone().with_layer(Layer::Hardness, vec![1.5; 6]));
    assert!(hard.contains("0 to 1"), "{hard}");
    let far = say(deep.with_origin(Vec3::new(0.0, f32::NAN, 0.0)));
    assert!(far.contains("origin"), "{far}");
    let noise = Fbm::seeded(1).with_octaves(99);
    let noise = say(Terrain::generate(&noise, size, 1.0));
    assert!(noise.contains("`Fbm.octaves`"), "{noise}");
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut terrain = crate::hills(1);
    let (hash, seen) = (terrain.state_hash(), TerrainCursor::at(&terrain));
    assert!(terrain.set_layer(Layer::Water, vec![1.0; 3]).is_err());
    assert!(
        terrain
            .set_layer(Layer::Water, vec![f32::NAN; 128 * 96])
            .is_err()
    );
    assert_eq!(terrain.state_hash(), hash);
    assert!(seen.peek(&terrain).is_empty());
}

#[test]
fn edits_are_booked() {
    let mut terrain = crate::hills(1);
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Soil, vec![2.0; cells])
        .expect("valid");
    terrain
        .set_layer(Layer::Water, vec![0.5; cells])
        .expect("valid");
    let ledger = terrain.ledger();
    let area = cells as f64 * 4.0;
    assert!((ledger.solids.added - 2.0 * area).abs() < 1e-6);
    assert!((ledger.water.added - 0.5 * area).abs() < 1e-6);
    assert!(ledger.solids.drift().abs() < 1e-6 && ledger.water.drift().abs() < 1e-6);
}

#[test]
fn the_hash_sees_every_layer() {
    let hash = |layer: Option<Layer>| {
        let mut terrain = crate::hills(1);
        if let Some(layer) = layer {
            let mut values = vec![0.0; terrain.grid().cells()];
            values[777] = 0.5;
            terrain.set_layer(layer, values).expect("valid");
        }
        terrain.state_hash()
    };
    let mut hashes = vec![
        hash(None),
        hash(Some(Layer::Bedrock)),
        hash(Some(Layer::Soil)),
        hash(Some(Layer::Water)),
        hash(Some(Layer::Suspended)),
        hash(Some(Layer::Hardness)),
    ];
    assert_eq!(crate::hills(1).clone().state_hash(), hash(None));
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 6, "{hashes:x?}");
}

#[test]
fn the_same_land_at_any_resolution() {
    // Odd refinement keeps cell centers in place.
    let coarse = crate::land(4, UVec2::new(21, 15), 9.0);
    let fine = crate::land(4, UVec2::new(63, 45), 3.0);
    for y in 0..15 {
        for x in 0..21 {
            let a = coarse.ground(coarse.grid().index(x, y));
            let b = fine.ground(fine.grid().index(3 * x + 1, 3 * y + 1));
            assert!((a - b).abs() < 1e-3, "({x}, {y}): {a} against {b}");
        }
    }
}

/// Ten thousand random inputs: each gives a terrain or an error, never a panic,
/// and what is accepted is sound.
#[test]
fn ten_thousand_random_inputs() {
    let mut random = Pcg64::seed_from_u64(1);
    let odd = [
        0.0,
        -0.0,
        -1.0,
        1.0,
        f32::NAN,
        f32::INFINITY,
        f32::MIN,
        f32::MAX,
        1e-40,
        3e9,
    ];
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..10_000 {
        let mut value = |likely: f32| {
            if random.random_bool(0.02) {
                odd[random.random_range(0..odd.len())]
            } else {
                likely * random.random_range(-0.01f32..1.0)
            }
        };
        let (l, origin) = (value(10.0), Vec3::new(value(1e3), value(1e3), value(1e3)));
        let (width, height) = (random.random_range(0..9), random.random_range(0..9));
        let length = (width * height) as usize + usize::from(random.random_bool(0.05));
        let mut layer = |likely: f32| -> Vec<f32> {
            let oddity = random.random_bool(0.2);
            let pick = random.next_u32() as usize;
            let mut values: Vec<f32> = (0..length)
                .map(|_| likely * random.random_range(0.0f32..1.0))
                .collect();
            if oddity && let Some(place) = pick.checked_rem(length) {
                values[place] = odd[pick % odd.len()];
            }
            values
        };
        let (bedrock, soil, hardness) = (layer(500.0), layer(2.0), layer(1.0));
        let result = Terrain::from_heights(UVec2::new(width, height), l, bedrock)
            .and_then(|t| t.with_layer(Layer::Soil, soil))
            .and_then(|t| t.with_layer(Layer::Hardness, hardness))
            .and_then(|t| t.with_origin(origin));
        match result {
            Ok(terrain) => {
                accepted += 1;
                let sound = |layer: &[f32]| layer.iter().all(|v| v.is_finite());
                assert!(sound(terrain.bedrock()) && sound(terrain.soil()));
                assert!(terrain.soil().iter().all(|&s| s >= 0.0));
                assert!(terrain.ledger().solids.balance().is_finite());
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().len() > 20, "{error}");
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}
