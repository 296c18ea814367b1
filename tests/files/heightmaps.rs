//! Heightmaps and masks in every format, there and back.

use super::Folder;
use bevy::math::{UVec2, Vec3};
use bevy_erode::io::{Endian, HeightmapError, HeightmapFormat, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use std::{fs, io::Cursor};

const FLOATS: [HeightmapFormat; 4] = [
    HeightmapFormat::Raw32(Endian::Little),
    HeightmapFormat::Raw32(Endian::Big),
    HeightmapFormat::Exr,
    HeightmapFormat::Tiff32,
];
const WHOLE: [HeightmapFormat; 4] = [
    HeightmapFormat::Raw16(Endian::Little),
    HeightmapFormat::Raw16(Endian::Big),
    HeightmapFormat::Png16,
    HeightmapFormat::Tiff16,
];

/// A land that is no square, with something in every layer.
fn full_land() -> Terrain {
    let land = crate::land(3, UVec2::new(37, 21), 2.5);
    let ramp = |scale: f32| (0..37 * 21).map(|i| i as f32 * scale).collect::<Vec<_>>();
    land.with_layer(Layer::Soil, ramp(0.01))
        .and_then(|land| land.with_layer(Layer::Water, ramp(0.003)))
        .and_then(|land| land.with_layer(Layer::Suspended, ramp(0.000_1)))
        .and_then(|land| land.with_layer(Layer::Hardness, ramp(1.0 / (37.0 * 21.0))))
        .expect("valid")
}

/// What a format needs to be told.
fn options(format: HeightmapFormat, map: &Heightmap) -> HeightmapOptions {
    match format {
        HeightmapFormat::Raw16(_) | HeightmapFormat::Raw32(_) => HeightmapOptions {
            format: Some(format),
            size: Some(map.size),
            cell_size: map.cell_size,
            ..HeightmapOptions::default()
        },
        _ => HeightmapOptions::default(),
    }
}

fn every_map(terrain: &Terrain) -> Vec<Heightmap> {
    let layers = [
        Layer::Bedrock,
        Layer::Soil,
        Layer::Water,
        Layer::Suspended,
        Layer::Hardness,
    ];
    let maps = layers.map(|layer| Heightmap::from_layer(terrain, layer));
    [Heightmap::from_ground(terrain)]
        .into_iter()
        .chain(maps)
        .collect()
}

#[test]
fn floats_come_back_bit_by_bit() {
    for map in every_map(&full_land()) {
        for format in FLOATS {
            let bytes = map.write(format, Vertical::METRES).expect("writable");
            let again = Heightmap::read(&bytes, &options(format, &map)).expect("readable");
            assert_eq!(again, map, "{format:?}");
        }
    }
}

#[test]
fn sixteen_bits_come_back_to_half_a_step() {
    for map in every_map(&full_land()) {
        let range = VerticalRange::from_values(&map.values);
        let half = 0.5 * (range.highest - range.lowest) / 65_535.0;
        for format in WHOLE {
            let bytes = map.write(format, range.into()).expect("writable");
            // PNG and TIFF say what the range is; RAW files cannot.
            let mut options = options(format, &map);
            if options.size.is_some() {
                options.vertical = Some(range.into());
            }
            let again = Heightmap::read(&bytes, &options).expect("readable");
            assert_eq!((again.size, again.cell_size), (map.size, map.cell_size));
            for (old, new) in map.values.iter().zip(&again.values) {
                assert!(
                    (old - new).abs() <= half * 1.001 + 1e-5,
                    "{format:?} {old} {new}"
                );
            }
            // What was rounded once stays so.
            let twice = again.write(format, range.into()).expect("writable");
            assert_eq!(twice, bytes, "{format:?}");
        }
    }
}

#[test]
fn a_mask_of_any_kind_goes_out_and_comes_in() {
    let terrain = full_land();
    let mask: Vec<f32> = (0..terrain.grid().cells())
        .map(|i| (i % 3) as f32 * 0.5)
        .collect();
    let map = Heightmap::new(terrain.size(), mask.clone()).expect("valid");
    let png = map.write(HeightmapFormat::Png16, VerticalRange::new(0.0, 1.0).into());
    let again = Heightmap::read(&png.expect("writable"), &HeightmapOptions::default());
    let values = again
        .expect("readable")
        .into_layer(terrain.grid())
        .expect("fits");
    for (old, new) in mask.iter().zip(&values) {
        assert!((old - new).abs() <= 0.5 / 65_535.0, "{old} {new}");
    }
    // As many cells, but the other way round.
    let turned = Heightmap::new(UVec2::new(21, 37), values).expect("valid");
    let error = turned.into_layer(terrain.grid()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "grid size mismatch: found 21 × 37 cells, expected 37 × 21"
    );
}

#[test]
fn masks_go_out_as_they_are() {
    let mut terrain = full_land();
    let mut masks = TerrainMasks::new([Mask::Wear, Mask::Slope, Mask::SoilDepth]);
    assert_eq!(
        Heightmap::from_mask(&masks, Mask::Wear),
        None,
        "nothing seen"
    );
    masks.update(&terrain, 0.0);
    let dig = TerrainEdit::lower(Vec3::ZERO, Brush::circle(15.0)).with_strength(2.0);
    dig.apply(&mut terrain).expect("valid");
    masks.update(&terrain, 1.0);
    assert_eq!(Heightmap::from_mask(&masks, Mask::Flow), None, "not kept");
    for mask in [Mask::Wear, Mask::Slope, Mask::SoilDepth] {
        let map = Heightmap::from_mask(&masks, mask).expect("kept");
        assert_eq!(map.size, terrain.size());
        assert!(map.values.iter().any(|value| *value > 0.1), "{mask:?}");
        for (format, step) in [
            (HeightmapFormat::Png16, 20.0 / 65_535.0),
            (HeightmapFormat::Raw16(Endian::Big), 20.0 / 65_535.0),
            (HeightmapFormat::Raw32(Endian::Little), 1e-5),
            (HeightmapFormat::Exr, 1e-5),
            (HeightmapFormat::Tiff16, 20.0 / 65_535.0),
            (HeightmapFormat::Tiff32, 1e-5),
        ] {
            let range = Vertical::Range(VerticalRange::new(0.0, 20.0));
            let file = map.write(format, range).expect("writable");
            let options = HeightmapOptions {
                format: Some(format),
                size: Some(map.size),
                vertical: Some(range),
                ..HeightmapOptions::default()
            };
            let again = Heightmap::read(&file, &options).expect("readable");
            for (old, new) in map.values.iter().zip(&again.values) {
                assert!(
                    (old - new).abs() <= step,
                    "{mask:?} {format:?}: {old} {new}"
                );
            }
        }
    }
}

#[test]
fn a_file_of_ours_knows_its_scale() {
    // Feet in, metres out, without a word.
    let map = Heightmap::new(UVec2::new(2, 1), vec![304.8, 30.48]).expect("valid");
    for format in [
        HeightmapFormat::Png16,
        HeightmapFormat::Exr,
        HeightmapFormat::Tiff16,
        HeightmapFormat::Tiff32,
    ] {
        let file = map
            .write(format, Vertical::Scale(0.3048))
            .expect("writable");
        let again = Heightmap::read(&file, &HeightmapOptions::default()).expect("readable");
        for (old, new) in map.values.iter().zip(&again.values) {
            assert!((old - new).abs() < 1e-3, "{format:?}: {old} {new}");
        }
    }
}

#[test]
fn a_terrain_comes_from_a_map() {
    let terrain = full_land();
    let map = Heightmap::from_ground(&terrain);
    let land = map.clone().into_terrain().expect("it has a cell size");
    assert_eq!(land.ground_heights(), terrain.ground_heights());
    assert_eq!((land.size(), land.cell_size()), (terrain.size(), 2.5));
    let unknown = Heightmap {
        cell_size: None,
        ..map.clone()
    };
    let error = unknown.clone().into_terrain().unwrap_err();
    assert!(error.to_string().contains("cell size"), "{error}");
    let land = unknown.with_cell_size(8.0).into_terrain().expect("valid");
    assert_eq!(land.cell_size(), 8.0);
    assert!(map.with_cell_size(f32::NAN).into_terrain().is_err());
}

#[test]
fn raw_files_are_what_they_say() {
    let raw = |bytes: &[u8], format, vertical| {
        let options = HeightmapOptions {
            format: Some(format),
            size: Some(UVec2::new(3, 1)),
            vertical,
            ..HeightmapOptions::default()
        };
        Heightmap::read(bytes, &options)
    };
    let range = Some(VerticalRange::new(-10.0, 10.0).into());
    let little = HeightmapFormat::Raw16(Endian::Little);
    let map = raw(&[0, 0, 0xff, 0xff, 0x00, 0x80], little, range).expect("readable");
    assert_eq!(map.values[..2], [-10.0, 10.0]);
    assert!(
        (map.values[2] - 1.525_9e-4).abs() < 1e-6,
        "{:?}",
        map.values
    );
    let big = HeightmapFormat::Raw16(Endian::Big);
    let map = raw(&[0, 1, 1, 0, 0xff, 0xff], big, Some(Vertical::Scale(0.5))).expect("readable");
    assert_eq!(map.values, [0.5, 128.0, 32_767.5]);
    let floats: Vec<u8> = [1.5f32, -2.0, 1e6]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let format = HeightmapFormat::Raw32(Endian::Big);
    assert_eq!(
        raw(&floats, format, None).expect("readable").values,
        [1.5, -2.0, 1e6]
    );
    // Feet, and from 0 … 1 to a range.
    let feet = raw(&floats, format, Some(Vertical::Scale(0.3048))).expect("readable");
    assert!((feet.values[0] - 0.4572).abs() < 1e-6);
    let stretched = raw(&floats, format, range).expect("readable");
    assert_eq!(stretched.values[0], 20.0);

    let wrong = raw(&floats[..11], format, None).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "RAW file size mismatch: found 11 bytes, expected 12 for 3 × 1 cells"
    );
    let error = raw(&[0; 6], little, None).unwrap_err();
    assert!(matches!(error, HeightmapError::NeedsRange), "{error}");
    let options = HeightmapOptions {
        format: Some(little),
        ..HeightmapOptions::default()
    };
    let error = Heightmap::read(&[0; 6], &options).unwrap_err();
    assert!(matches!(error, HeightmapError::NeedsSize), "{error}");
    let error = Heightmap::read(&[0; 6], &HeightmapOptions::default()).unwrap_err();
    assert!(matches!(error, HeightmapError::UnknownFormat), "{error}");
}

#[test]
fn values_that_cannot_be_are_named() {
    let map = Heightmap::new(UVec2::new(2, 2), vec![0.0, 5.0, 12.0, 3.0]).expect("valid");
    let narrow = VerticalRange::new(0.0, 10.0).into();
    let error = map.write(HeightmapFormat::Png16, narrow).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid value 12 at cell (0, 1): the file can hold 0 to 10"
    );
    for vertical in [
        VerticalRange::new(1.0, 1.0).into(),
        VerticalRange::new(0.0, f32::NAN).into(),
        Vertical::Scale(0.0),
        Vertical::Scale(f32::INFINITY),
    ] {
        let error = map.write(HeightmapFormat::Exr, vertical).unwrap_err();
        assert!(matches!(error, HeightmapError::Vertical { .. }), "{error}");
    }
    let error = Heightmap::new(UVec2::new(2, 1), vec![0.0, f32::NAN]).unwrap_err();
    assert!(error.to_string().contains("cell (1, 0)"), "{error}");
    assert!(Heightmap::new(UVec2::new(2, 2), vec![0.0]).is_err());
    assert!(Heightmap::new(UVec2::new(0, 2), vec![]).is_err());
    assert!(Heightmap::new(UVec2::new(16_385, 1), vec![0.0; 16_385]).is_err());

    let floats: Vec<u8> = [1.0f32, f32::NAN]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let mut options = HeightmapOptions {
        format: Some(HeightmapFormat::Raw32(Endian::Little)),
        size: Some(UVec2::new(2, 1)),
        ..HeightmapOptions::default()
    };
    let error = Heightmap::read(&floats, &options).unwrap_err();
    assert!(error.to_string().contains("no_data"), "{error}");
    options.no_data = Some(-3.0);
    let map = Heightmap::read(&floats, &options).expect("filled");
    assert_eq!(map.values, [1.0, -3.0]);
}

/// Writes a PNG of any kind.
fn png(color: png::ColorType, depth: png::BitDepth, size: (u32, u32), data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![10, 0, 0, 200, 1, 2]);
    }
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(data).expect("data");
    writer.finish().expect("an end");
    bytes
}

#[test]
fn all_kinds_of_png_are_read() {
    use png::{BitDepth, ColorType};
    let metres = HeightmapOptions {
        vertical: Some(Vertical::METRES),
        ..HeightmapOptions::default()
    };
    let read = |bytes: &[u8]| Heightmap::read(bytes, &metres).expect("readable");
    let gray = png(
        ColorType::Grayscale,
        BitDepth::Eight,
        (2, 2),
        &[0, 7, 8, 255],
    );
    assert_eq!(read(&gray).values, [0.0, 7.0, 8.0, 255.0]);
    // 8 bits are as wide as 16: white is the highest.
    let options = HeightmapOptions {
        vertical: Some(VerticalRange::new(0.0, 51.0).into()),
        ..HeightmapOptions::default()
    };
    let map = Heightmap::read(&gray, &options).expect("readable");
    assert_eq!(map.values[3], 51.0);
    let error = Heightmap::read(&gray, &HeightmapOptions::default()).unwrap_err();
    assert!(matches!(error, HeightmapError::NeedsRange), "{error}");
    // Of colors the first channel, without alpha.
    let colors = png(ColorType::Rgb, BitDepth::Eight, (2, 1), &[5, 1, 1, 6, 2, 2]);
    assert_eq!(read(&colors).values, [5.0, 6.0]);
    let deep = [1, 2, 0, 0, 0, 0, 0, 9];
    assert_eq!(
        read(&png(ColorType::Rgba, BitDepth::Sixteen, (1, 1), &deep)).values,
        [258.0]
    );
    let alpha = png(
        ColorType::GrayscaleAlpha,
        BitDepth::Eight,
        (2, 1),
        &[5, 0, 6, 255],
    );
    assert_eq!(read(&alpha).values, [5.0, 6.0]);
    // A palette's colors, and bits that become bytes.
    let palette = png(ColorType::Indexed, BitDepth::One, (3, 1), &[0b0100_0000]);
    assert_eq!(read(&palette).values, [10.0, 200.0, 10.0]);
    let bits = png(ColorType::Grayscale, BitDepth::One, (3, 1), &[0b1010_0000]);
    assert_eq!(read(&bits).values, [255.0, 0.0, 255.0]);
    // Interlaced, 3 × 2 of 16 bits.
    let interlaced = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 3, 0, 0, 0, 2, 16,
        0, 0, 0, 1, 159, 136, 213, 19, 0, 0, 0, 24, 73, 68, 65, 84, 120, 218, 99, 96, 100, 98, 96,
        101, 99, 96, 102, 97, 16, 20, 18, 22, 249, 255, 31, 0, 5, 57, 2, 94, 177, 97, 102, 119, 0,
        0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ];
    let expected = [0x0102, 0x0304, 0x0506, 0x1112, 0x1314, 0xffff];
    assert_eq!(
        read(&interlaced).values,
        expected.map(|v: u16| f32::from(v))
    );
}

#[test]
fn exr_channels_are_chosen_by_name() {
    use exr::prelude::*;
    let write = |channels: Vec<AnyChannel<FlatSamples>>| {
        let layer = Layer::new(
            (2, 1),
            LayerAttributes::default(),
            Encoding::FAST_LOSSLESS,
            AnyChannels::sort(channels.into_iter().collect()),
        );
        let mut bytes = Cursor::new(Vec::new());
        let image = Image::from_layer(layer);
        image.write().to_buffered(&mut bytes).expect("writable");
        let options = HeightmapOptions::default();
        Heightmap::read(&bytes.into_inner(), &options)
            .expect("readable")
            .values
    };
    let channel = |name: &str, a: f32, b: f32| AnyChannel::new(name, FlatSamples::F32(vec![a, b]));
    let colors = vec![
        channel("B", 1.0, 2.0),
        channel("G", 3.0, 4.0),
        channel("R", 5.0, 6.0),
    ];
    assert_eq!(write(colors.clone()), [5.0, 6.0]);
    let with_luma = [colors, vec![channel("Y", 7.0, -8.0)]].concat();
    assert_eq!(write(with_luma), [7.0, -8.0]);
    assert_eq!(write(vec![channel("depth", 9.0, 0.5)]), [9.0, 0.5]);
    let half = FlatSamples::F16(vec![f16::from_f32(1.5), f16::from_f32(-2.0)]);
    assert_eq!(write(vec![AnyChannel::new("Z", half)]), [1.5, -2.0]);
    let whole = FlatSamples::U32(vec![7, 1000]);
    assert_eq!(write(vec![AnyChannel::new("Z", whole)]), [7.0, 1000.0]);
}

#[test]
fn files_are_known_by_content_and_name() {
    let folder = Folder::new("heightmaps");
    let map = Heightmap::from_ground(&full_land());
    let range: Vertical = VerticalRange::from_values(&map.values).into();
    for (name, format, vertical) in [
        ("a.png", HeightmapFormat::Png16, range),
        ("no_extension", HeightmapFormat::Exr, Vertical::METRES),
        ("wrong.png", HeightmapFormat::Tiff32, Vertical::METRES),
        ("b.r16", HeightmapFormat::Raw16(Endian::Little), range),
        (
            "c.R32",
            HeightmapFormat::Raw32(Endian::Little),
            Vertical::METRES,
        ),
    ] {
        let path = folder.file(name);
        // Something is there already, and it is replaced.
        fs::write(&path, "old").expect("writable");
        map.write_file(&path, format, vertical).expect("writable");
        let options = HeightmapOptions {
            size: Some(map.size),
            vertical: Some(vertical),
            cell_size: map.cell_size,
            ..HeightmapOptions::default()
        };
        let again = Heightmap::read_file(&path, &options).expect("readable");
        assert_eq!(
            (again.size, again.cell_size),
            (map.size, map.cell_size),
            "{name}"
        );
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 0.01;
        assert!(again.values.iter().zip(&map.values).all(close), "{name}");
        let other = HeightmapOptions {
            size: Some(UVec2::new(21, 37)),
            ..options
        };
        // RAW files of as many cells cannot tell.
        let raw = matches!(
            format,
            HeightmapFormat::Raw16(_) | HeightmapFormat::Raw32(_)
        );
        let turned = Heightmap::read_file(&path, &other);
        assert_eq!(turned.is_ok(), raw, "{name}");
    }
    // What cannot be written leaves the old file alone.
    let path = folder.file("a.png");
    let before = fs::read(&path).expect("there");
    let narrow = VerticalRange::new(0.0, 1e-3).into();
    assert!(
        map.write_file(&path, HeightmapFormat::Png16, narrow)
            .is_err()
    );
    assert_eq!(fs::read(&path).expect("there"), before);
    let error = Heightmap::read_file(folder.file("none.png"), &HeightmapOptions::default());
    assert!(error.unwrap_err().to_string().contains("none.png"));
    let entries = fs::read_dir(&folder.0).expect("a folder").count();
    assert_eq!(entries, 5, "no other file is left");
}
