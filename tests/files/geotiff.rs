//! TIFF of many kinds, and what a GeoTIFF says of its cells.

use bevy_erode::io::{HeightmapError, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use std::io::Cursor;
use tiff::{
    encoder::{
        TiffEncoder, TiffValue,
        colortype::{self, ColorType},
    },
    tags::Tag,
};

/// What is said of the cells.
#[derive(Default)]
struct Geo {
    scale: Option<[f64; 3]>,
    keys: Option<Vec<u16>>,
    no_data: Option<&'static str>,
}

fn write<C: ColorType>(size: (u32, u32), values: &[C::Inner], geo: Geo) -> Vec<u8>
where
    [C::Inner]: TiffValue,
{
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).expect("an encoder");
    let mut image = encoder.new_image::<C>(size.0, size.1).expect("an image");
    if let Some(scale) = geo.scale {
        let tag = image
            .encoder()
            .write_tag(Tag::ModelPixelScaleTag, &scale[..]);
        tag.expect("a tag");
    }
    if let Some(keys) = geo.keys {
        let tag = image
            .encoder()
            .write_tag(Tag::GeoKeyDirectoryTag, &keys[..]);
        tag.expect("a tag");
    }
    if let Some(text) = geo.no_data {
        image
            .encoder()
            .write_tag(Tag::GdalNodata, text)
            .expect("a tag");
    }
    image.write_data(values).expect("data");
    bytes.into_inner()
}

fn metres() -> HeightmapOptions {
    HeightmapOptions {
        vertical: Some(Vertical::METRES),
        ..HeightmapOptions::default()
    }
}

#[test]
fn numbers_of_all_kinds_are_read() {
    let read = |bytes: Vec<u8>| Heightmap::read(&bytes, &metres()).expect("readable").values;
    let plain = Geo::default;
    assert_eq!(
        read(write::<colortype::Gray8>((2, 1), &[1, 255], plain())),
        [1.0, 255.0]
    );
    assert_eq!(
        read(write::<colortype::Gray16>((1, 2), &[1, 65_535], plain())),
        [1.0, 65_535.0]
    );
    assert_eq!(
        read(write::<colortype::GrayI16>((2, 1), &[-430, 8848], plain())),
        [-430.0, 8848.0]
    );
    assert_eq!(
        read(write::<colortype::Gray32>((2, 1), &[1, 1 << 20], plain())),
        [1.0, 1048576.0]
    );
    assert_eq!(
        read(write::<colortype::GrayI32>((2, 1), &[-7, 7], plain())),
        [-7.0, 7.0]
    );
    assert_eq!(
        read(write::<colortype::Gray64Float>(
            (2, 1),
            &[0.5, -1e3],
            plain()
        )),
        [0.5, -1e3]
    );
    let colors = [9, 1, 1, 8, 2, 2];
    assert_eq!(
        read(write::<colortype::RGB8>((2, 1), &colors, plain())),
        [9.0, 8.0]
    );

    // Floats are metres unless said otherwise; whole numbers are not.
    let floats = write::<colortype::Gray32Float>((2, 1), &[1.5, -2.0], plain());
    let map = Heightmap::read(&floats, &HeightmapOptions::default()).expect("readable");
    assert_eq!((map.values, map.cell_size), (vec![1.5, -2.0], None));
    let whole = write::<colortype::GrayI16>((2, 1), &[i16::MIN, i16::MAX], plain());
    let error = Heightmap::read(&whole, &HeightmapOptions::default()).unwrap_err();
    assert!(matches!(error, HeightmapError::NeedsRange), "{error}");
    let options = HeightmapOptions {
        vertical: Some(VerticalRange::new(-5.0, 5.0).into()),
        ..HeightmapOptions::default()
    };
    let map = Heightmap::read(&whole, &options).expect("readable");
    assert_eq!(map.values, [-5.0, 5.0]);
}

#[test]
fn big_endian_and_strips() {
    // 2 × 2 cells of 16 bits in two strips, the highest byte first.
    let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        let mut bytes = tag.to_be_bytes().to_vec();
        bytes.extend(kind.to_be_bytes());
        bytes.extend(count.to_be_bytes());
        bytes.extend(value);
        bytes
    };
    let short = |value: u16| {
        let [high, low] = value.to_be_bytes();
        [high, low, 0, 0]
    };
    let shorts = |a: u16, b: u16| {
        let ([a, b], [c, d]) = (a.to_be_bytes(), b.to_be_bytes());
        [a, b, c, d]
    };
    let mut bytes = vec![b'M', b'M', 0, 42, 0, 0, 0, 16];
    for value in [0x0102u16, 0x0304, 0x0506, 0xfffe] {
        bytes.extend(value.to_be_bytes());
    }
    bytes.extend(9u16.to_be_bytes());
    bytes.extend(entry(256, 3, 1, short(2)));
    bytes.extend(entry(257, 3, 1, short(2)));
    bytes.extend(entry(258, 3, 1, short(16)));
    bytes.extend(entry(259, 3, 1, short(1)));
    bytes.extend(entry(262, 3, 1, short(1)));
    bytes.extend(entry(273, 3, 2, shorts(8, 12)));
    bytes.extend(entry(277, 3, 1, short(1)));
    bytes.extend(entry(278, 3, 1, short(1)));
    bytes.extend(entry(279, 3, 2, shorts(4, 4)));
    bytes.extend([0; 4]);
    let map = Heightmap::read(&bytes, &metres()).expect("readable");
    assert_eq!(map.values, [258.0, 772.0, 1286.0, 65_534.0]);
}

#[test]
fn the_pixel_scale_is_the_cell_size() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let read = |geo: Geo, options: &HeightmapOptions| {
        let bytes = write::<colortype::Gray32Float>((3, 2), &values, geo);
        Heightmap::read(&bytes, options)
    };
    let default = HeightmapOptions::default();
    let scale = |x, y| Geo {
        scale: Some([x, y, 0.0]),
        ..Geo::default()
    };
    let map = read(scale(30.0, 30.0), &default).expect("readable");
    assert_eq!(map.cell_size, Some(30.0));
    assert_eq!(map.into_terrain().expect("valid").cell_size(), 30.0);

    let keyed = |key: u16, value: u16| Geo {
        scale: Some([10.0, 10.0, 0.0]),
        keys: Some(vec![1, 1, 0, 1, key, 0, 1, value]),
        ..Geo::default()
    };
    // Degrees are no metres; feet can be made some.
    assert_eq!(
        read(keyed(1024, 2), &default).expect("readable").cell_size,
        None
    );
    assert_eq!(
        read(keyed(1024, 1), &default).expect("readable").cell_size,
        Some(10.0)
    );
    assert_eq!(
        read(keyed(3076, 9001), &default)
            .expect("readable")
            .cell_size,
        Some(10.0)
    );
    assert_eq!(
        read(keyed(3076, 9002), &default)
            .expect("readable")
            .cell_size,
        Some(3.048)
    );
    assert_eq!(
        read(keyed(3076, 9999), &default)
            .expect("readable")
            .cell_size,
        None
    );

    let error = read(scale(30.0, 20.0), &default).unwrap_err();
    assert!(matches!(error, HeightmapError::NotSquare { .. }), "{error}");
    let own = HeightmapOptions {
        cell_size: Some(25.0),
        ..default
    };
    let map = read(scale(30.0, 20.0), &own).expect("readable");
    assert_eq!(map.cell_size, Some(25.0));
    assert_eq!(
        read(scale(f64::NAN, 1.0), &default)
            .expect("readable")
            .cell_size,
        None
    );
}

#[test]
fn cells_without_data_are_found() {
    let values = [-9999.0, 2.0];
    let geo = || Geo {
        no_data: Some("-9999"),
        ..Geo::default()
    };
    let bytes = write::<colortype::Gray32Float>((2, 1), &values, geo());
    let error = Heightmap::read(&bytes, &HeightmapOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cell (0, 0)"), "{error}");
    let options = HeightmapOptions {
        no_data: Some(0.0),
        ..HeightmapOptions::default()
    };
    let map = Heightmap::read(&bytes, &options).expect("filled");
    assert_eq!(map.values, [0.0, 2.0]);
    let bytes = write::<colortype::GrayI16>((2, 1), &[-9999, 2], geo());
    let options = HeightmapOptions {
        vertical: Some(Vertical::METRES),
        ..options
    };
    let map = Heightmap::read(&bytes, &options).expect("filled");
    assert_eq!(map.values, [0.0, 2.0]);
}
