//! Each mask by number, and tile by tile as all at once.

use super::{fields::Scope, *};
use crate::{
    models::{
        Solver,
        droplet::{DropletSolver, Droplets},
        pipe::{PipeModel, PipeSolver},
    },
    terrain::{Layer, Terrain, landform::Fbm},
};
use bevy::math::UVec2;

fn flat(size: UVec2) -> Terrain {
    Terrain::flat(size, 2.0).expect("valid")
}

/// A value per cell.
fn map(terrain: &Terrain, value: impl Fn(UVec2) -> f32) -> Vec<f32> {
    let size = terrain.size();
    let cells = (0..size.y).flat_map(|y| (0..size.x).map(move |x| UVec2::new(x, y)));
    cells.map(value).collect()
}

fn at(masks: &TerrainMasks, mask: Mask, x: u32, y: u32) -> f32 {
    let grid = masks.grid().expect("a terrain");
    masks.field(mask).expect("chosen")[grid.index(x, y)]
}

#[test]
fn wear_and_deposit_are_the_net_change() {
    let mut terrain = flat(UVec2::new(5, 3)).with_soil_depth(1.0).expect("valid");
    let mut masks = TerrainMasks::new([Mask::Wear, Mask::Deposit, Mask::SoilDepth]);
    assert!(masks.update(&terrain, 0.0));
    assert!(!masks.update(&terrain, 1.0), "nothing changed");
    let heights = map(&terrain, |at| at.x as f32 - 1.0);
    terrain.set_layer(Layer::Bedrock, heights).expect("valid");
    assert!(masks.update(&terrain, 1.0));
    let row = |mask| [0, 1, 2, 4].map(|x| at(&masks, mask, x, 1));
    assert_eq!(row(Mask::Wear), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(row(Mask::Deposit), [0.0, 0.0, 1.0, 3.0]);
    assert_eq!(row(Mask::SoilDepth), [1.0; 4]);
    // Piled up again: nothing is left of the wear.
    let soil = map(&terrain, |at| 2.0 - at.x as f32 * 0.25);
    terrain.set_layer(Layer::Soil, soil).expect("valid");
    masks.update(&terrain, 1.0);
    assert_eq!(at(&masks, Mask::Wear, 0, 2), 0.0);
    assert_eq!(at(&masks, Mask::SoilDepth, 4, 2), 1.0);
    masks.restart();
    masks.update(&terrain, 1.0);
    assert_eq!(masks.field(Mask::Deposit), Some(&[0.0; 15][..]));
}

#[test]
fn slope_is_rise_per_metre() {
    let mut terrain = flat(UVec2::new(130, 70));
    let plane = map(&terrain, |at| 0.6 * at.x as f32 + 0.8 * at.y as f32);
    terrain.set_layer(Layer::Bedrock, plane).expect("valid");
    let mut masks = TerrainMasks::new([Mask::Slope]);
    masks.update(&terrain, 0.0);
    // Cells of 2 m: 0.3 along x, 0.4 along y.
    for slope in masks.field(Mask::Slope).expect("chosen") {
        assert!((slope - 0.5).abs() < 1e-4, "{slope}");
    }
    assert!(masks.field(Mask::Wear).is_none());
    // A cell at a tile's corner changes the slopes of three other tiles.
    let i = terrain.grid().index(63, 63);
    terrain.layers_mut().bedrock[i] += 50.0;
    terrain.mark_tiles([0]);
    masks.update(&terrain, 0.0);
    for (x, y) in [(63, 63), (64, 63), (63, 64), (62, 63), (64, 64)] {
        assert_eq!(at(&masks, Mask::Slope, x, y), terrain.slope(x, y).length());
    }
}

#[test]
fn ground_wets_at_once_and_dries_slowly() {
    let mut terrain = flat(UVec2::new(4, 2));
    let mut masks = TerrainMasks::new([Mask::Wetness]).with_settings(MaskSettings {
        drying: 10.0,
        soak_depth: 0.01,
        ..MaskSettings::default()
    });
    masks.update(&terrain, 0.0);
    assert_eq!(masks.field(Mask::Wetness), Some(&[0.0; 8][..]));
    let depths = map(&terrain, |at| 0.005 * at.x as f32);
    terrain.set_layer(Layer::Water, depths).expect("valid");
    masks.update(&terrain, 0.5);
    let row = |masks: &TerrainMasks| [0, 1, 2, 3].map(|x| at(masks, Mask::Wetness, x, 0));
    assert_eq!(row(&masks), [0.0, 0.5, 1.0, 1.0]);
    let dry = map(&terrain, |_| 0.0);
    terrain.set_layer(Layer::Water, dry).expect("valid");
    masks.update(&terrain, 2.5);
    assert_eq!(row(&masks), [0.0, 0.25, 0.75, 0.75]);
    // It goes on though nobody touches the water, and ends.
    assert!(masks.update(&terrain, 2.5));
    assert_eq!(row(&masks), [0.0, 0.0, 0.5, 0.5]);
    assert!(!masks.update(&terrain, 0.0), "no time, no drying");
    assert!(masks.update(&terrain, 6.0));
    assert_eq!(row(&masks), [0.0; 4]);
    assert!(!masks.update(&terrain, 6.0), "all is dry");
}

#[test]
fn flow_follows_the_discharge_in_time() {
    let mut terrain = flat(UVec2::new(70, 3));
    let mut masks = TerrainMasks::new([Mask::Flow]).with_settings(MaskSettings {
        memory: 4.0,
        ..MaskSettings::default()
    });
    masks.update(&terrain, 0.0);
    terrain.ensure_flow();
    if let Some(flow) = terrain.layers_mut().flow {
        flow.east.fill(3.0);
        flow.south.fill(4.0);
    }
    terrain.mark_water_tiles([0]);
    masks.update(&terrain, 4.0);
    let expected = 5.0 * (1.0 - (-1f32).exp());
    assert!((at(&masks, Mask::Flow, 30, 1) - expected).abs() < 1e-4);
    // The tile beside reads a face of the marked one.
    assert!(at(&masks, Mask::Flow, 64, 1) > 1.0);
    for _ in 0..40 {
        masks.update(&terrain, 4.0);
    }
    assert_eq!(at(&masks, Mask::Flow, 30, 1), 5.0, "it arrives");
    if let Some(flow) = terrain.layers_mut().flow {
        flow.east.fill(0.0);
        flow.south.fill(0.0);
    }
    // Nobody said so: what flows is looked after.
    masks.update(&terrain, 4.0);
    assert!((at(&masks, Mask::Flow, 30, 1) - 5.0 * (-1f32).exp()).abs() < 1e-3);
    for _ in 0..40 {
        masks.update(&terrain, 4.0);
    }
    assert_eq!(at(&masks, Mask::Flow, 30, 1), 0.0);
    assert!(!masks.update(&terrain, 4.0), "all is at rest");
}

#[test]
fn tile_by_tile_is_the_same_as_all_at_once() {
    let shape = Fbm::seeded(4).with_feature_size(150.0).with_height(60.0);
    let mut terrain = Terrain::generate(&shape, UVec2::new(300, 200), 2.0).expect("valid");
    let depths = map(&terrain, |at| {
        if at.x.abs_diff(150) < 6 && at.y.abs_diff(100) < 6 {
            2.0
        } else {
            0.0
        }
    });
    terrain.set_layer(Layer::Water, depths).expect("valid");
    let (mut by_tile, mut at_once) = (TerrainMasks::all(), TerrainMasks::all());
    let quick = MaskSettings {
        memory: 0.3,
        drying: 1.5,
        ..MaskSettings::default()
    };
    (by_tile.settings, at_once.settings) = (quick, quick);
    let mut drops = DropletSolver::new(Droplets::seeded(2), terrain.grid()).expect("valid");
    let mut pipe = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    let mut skipped = 0;
    for round in 0..60 {
        if round % 7 == 3 {
            let start = terrain.grid().cell_center(20 + round, 30);
            drops.release(&mut terrain, &[start; 10]);
        }
        if round < 40 {
            pipe.step(&mut terrain, 0.1);
        }
        by_tile.update(&terrain, 0.1);
        at_once.update_scope(&terrain, 0.1, Scope::All);
        skipped += usize::from(by_tile.watched_tiles() < 20);
        for mask in Mask::ALL {
            let bits = |masks: &TerrainMasks| -> Vec<u32> {
                let field = masks.field(mask).expect("chosen");
                field.iter().map(|v| v.to_bits()).collect()
            };
            assert_eq!(bits(&by_tile), bits(&at_once), "{mask:?} in round {round}");
        }
    }
    assert!(skipped > 30, "most tiles were left alone");
    for mask in Mask::ALL
        .into_iter()
        .filter(|&mask| mask != Mask::SoilDepth)
    {
        let field = by_tile.field(mask).expect("chosen");
        assert!(field.iter().any(|&v| v > 0.0), "{mask:?} shows something");
        assert!(field.iter().all(|v| v.is_finite() && *v >= 0.0));
    }
}

#[cfg(feature = "render")]
#[test]
fn halves_are_the_nearest() {
    use super::images::half;
    let widened = |half: u16| {
        let (exponent, fraction) = (i32::from(half >> 10), f32::from(half & 0x3FF));
        match exponent {
            0 => fraction * 2f32.powi(-24),
            _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
        }
    };
    // Each number that there is, and the middle between it and the next.
    for bits in 0..0x7BFF {
        let (low, high) = (widened(bits), widened(bits + 1));
        assert_eq!(half(low), bits);
        let even = bits + (bits & 1);
        assert_eq!(half(0.5 * (low + high)), even, "{bits:x}");
        assert_eq!(half(0.75 * low + 0.25 * high), bits);
    }
    assert_eq!(half(1.0), 0x3C00);
    assert_eq!(half(1e9), 0x7BFF);
    assert_eq!(half(-1.0), 0);
}

#[test]
fn one_more_mask_leaves_the_others_as_they_are() {
    let mut terrain = crate::terrain::Terrain::generate(
        &Fbm::seeded(3).with_feature_size(80.0).with_height(30.0),
        UVec2::new(150, 90),
        2.0,
    )
    .expect("valid");
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Water, vec![0.2; cells])
        .expect("valid");
    let mut solver = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    let mut all = TerrainMasks::all();
    let mut some = TerrainMasks::new([Mask::Wear, Mask::Flow, Mask::Slope]);
    let mut run = |terrain: &mut Terrain, masks: &mut [&mut TerrainMasks]| {
        for _ in 0..30 {
            solver.step(terrain, 0.05);
            for masks in masks.iter_mut() {
                masks.update(terrain, 0.05);
            }
        }
    };
    run(&mut terrain, &mut [&mut all, &mut some]);
    let before = terrain.ground_heights();
    for mask in [Mask::Deposit, Mask::Wetness, Mask::SoilDepth] {
        some.set_enabled(mask, true);
    }
    assert!(some.field(Mask::Wetness).is_none(), "not seen yet");
    run(&mut terrain, &mut [&mut all, &mut some]);
    assert_ne!(
        terrain.ground_heights(),
        before,
        "the land goes on changing"
    );
    for mask in Mask::ALL {
        // Deposit counts from the same beginning as wear does. Wetness remembers
        // only what it saw.
        if mask != Mask::Wetness {
            assert_eq!(some.field(mask), all.field(mask), "{mask:?}");
        }
    }
    let wet = some.field(Mask::Wetness).expect("chosen");
    let wettest = all.field(Mask::Wetness).expect("chosen");
    assert!(wet.iter().zip(wettest).all(|(new, old)| new <= old));
    assert!(wet.iter().any(|wet| *wet > 0.9));

    // Away and back again: it begins anew, the others do not.
    some.set_enabled(Mask::Wear, false);
    assert!(!some.is_enabled(Mask::Wear) && some.field(Mask::Wear).is_none());
    some.set_enabled(Mask::Deposit, false);
    some.update(&terrain, 0.05);
    all.update(&terrain, 0.05);
    some.set_enabled(Mask::Wear, true);
    some.update(&terrain, 0.05);
    all.update(&terrain, 0.05);
    let wear = some.field(Mask::Wear).expect("chosen");
    assert!(wear.iter().all(|wear| *wear == 0.0));
    assert_eq!(some.field(Mask::Flow), all.field(Mask::Flow));
}

#[test]
fn settings_that_are_no_numbers_do_not_spoil_the_fields() {
    let mut terrain = flat(UVec2::new(70, 5));
    let mut masks = TerrainMasks::all();
    masks.update(&terrain, 0.0);
    let cells = terrain.grid().cells();
    for wrong in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
        masks.settings = MaskSettings {
            memory: wrong,
            drying: wrong,
            soak_depth: wrong,
            image_interval: wrong,
        };
        terrain
            .set_layer(Layer::Water, vec![0.5; cells])
            .expect("valid");
        masks.update(&terrain, 0.1);
        for mask in Mask::ALL {
            let field = masks.field(mask).expect("chosen");
            assert!(field.iter().all(|value| value.is_finite()), "{mask:?}");
        }
    }
}
