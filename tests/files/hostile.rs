//! Cut off, corrupt and hostile files: an answer, and never a panic. The runs
//! are bounded and always the same.

use super::{
    bodies,
    sample::{exr_of, map},
};
use bevy::math::UVec2;
use bevy_erode::io::{Endian, HeightmapFormat, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use rand::Rng;
use rand_pcg::Pcg32;

/// Gives a reader every beginning of a file, and some thousand mutations.
pub fn torment(seed: u64, file: &[u8], rounds: u32, mut read: impl FnMut(&[u8])) {
    for length in 0..file.len() {
        read(&file[..length]);
    }
    let mut random = Pcg32::new(seed, 7);
    let mut below = |limit: usize| random.next_u32() as usize % limit.max(1);
    for round in 0..rounds {
        let mut bytes = file.to_vec();
        // Mostly a single change, sometimes up to eight.
        let changes = if round % 4 == 0 { 1 + below(8) } else { 1 };
        for _ in 0..changes {
            let place = below(bytes.len());
            match below(8) {
                0 => bytes[place] ^= 1 << below(8),
                1 => bytes[place] = 0,
                2 => bytes[place] = 0xff,
                3 => bytes[place] = bytes[place].wrapping_add(1),
                4 => {
                    bytes.remove(place);
                }
                5 => bytes.insert(place, below(256) as u8),
                6 => {
                    // A number of four bytes becomes a great one.
                    let end = (place + 4).min(bytes.len());
                    bytes[place..end].fill([0x7f, 0xff, 0x80][below(3)]);
                }
                _ => bytes[place] = below(256) as u8,
            }
        }
        read(&bytes);
    }
}

/// Reads what may be anything. Where it comes to something, that is a map.
fn read(bytes: &[u8], options: &HeightmapOptions) {
    match Heightmap::read(bytes, options) {
        Ok(map) => {
            assert_eq!(map.values.len() as u32, map.size.element_product());
            assert!(map.values.iter().all(|value| value.is_finite()));
        }
        // Not even a panic that was caught.
        Err(error) => assert!(!error.to_string().contains("panicked"), "{error}"),
    }
}

/// The file is one that can be read, or its beginnings and mutations say little.
fn intact(file: &[u8], options: &HeightmapOptions, tolerance: f32) {
    let found = Heightmap::read(file, options).expect("readable");
    let wanted = map();
    assert_eq!(found.size, wanted.size);
    for (found, wanted) in found.values.iter().zip(&wanted.values) {
        assert!((found - wanted).abs() <= tolerance, "{found} for {wanted}");
    }
}

fn torment_format(format: HeightmapFormat, vertical: Vertical, seed: u64) {
    let map = map();
    let file = map.write(format, vertical).expect("writable");
    let options = HeightmapOptions {
        format: Some(format),
        vertical: Some(vertical),
        ..HeightmapOptions::default()
    };
    intact(&file, &options, 0.01);
    torment(seed, &file, 6000, |bytes| read(bytes, &options));
    // The same where nothing is said.
    let default = HeightmapOptions::default();
    torment(seed + 1, &file, 2000, |bytes| read(bytes, &default));
}

#[test]
fn png() {
    torment_format(
        HeightmapFormat::Png16,
        VerticalRange::new(-100.0, 200.0).into(),
        1,
    );
    // Behind the checksums: a file whose checksums are right.
    let file = map().write(
        HeightmapFormat::Png16,
        VerticalRange::new(-100.0, 200.0).into(),
    );
    let file = file.expect("writable");
    let options = HeightmapOptions {
        vertical: Some(Vertical::METRES),
        ..HeightmapOptions::default()
    };
    torment(3, &file, 6000, |bytes| {
        let mut bytes = bytes.to_vec();
        mend_png(&mut bytes);
        read(&bytes, &options);
    });
}

/// Sets the checksum of every chunk.
fn mend_png(bytes: &mut [u8]) {
    let mut start = 8;
    while let Some(length) = bytes.get(start..start + 4) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let end = start.saturating_add(8).saturating_add(length);
        let Some(content) = bytes.get(start + 4..end) else {
            break;
        };
        let sum = content.iter().fold(!0u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
            })
        });
        let Some(place) = bytes.get_mut(end..end + 4) else {
            break;
        };
        place.copy_from_slice(&(!sum).to_be_bytes());
        start = end + 4;
    }
}

#[test]
fn exr() {
    torment_format(HeightmapFormat::Exr, Vertical::METRES, 10);
}

#[test]
fn exr_of_every_compression() {
    use exr::prelude::{Blocks, Compression, Vec2};
    for compression in [
        Compression::Uncompressed,
        Compression::RLE,
        Compression::ZIP1,
        Compression::PIZ,
        Compression::PXR24,
        Compression::B44,
    ] {
        for blocks in [Blocks::ScanLines, Blocks::Tiles(Vec2(4, 3))] {
            let file = exr_of(compression, blocks);
            let options = HeightmapOptions::default();
            // Some keep only 24 bits of a number.
            intact(&file, &options, 0.01);
            torment(11, &file, 1500, |bytes| read(bytes, &options));
        }
    }
}

#[test]
fn tiff() {
    torment_format(HeightmapFormat::Tiff32, Vertical::METRES, 20);
    torment_format(
        HeightmapFormat::Tiff16,
        VerticalRange::new(-100.0, 200.0).into(),
        22,
    );
}

#[test]
fn tiff_of_every_compression() {
    use tiff::encoder::{Compression, TiffEncoder, colortype::Gray32Float};
    let map = map();
    for compression in [
        Compression::Uncompressed,
        Compression::Lzw,
        Compression::Packbits,
    ] {
        let mut file = std::io::Cursor::new(Vec::new());
        let encoder = TiffEncoder::new(&mut file).expect("an encoder");
        let mut encoder = encoder.with_compression(compression);
        let image = encoder.write_image::<Gray32Float>(11, 7, &map.values);
        image.expect("writable");
        let (file, options) = (file.into_inner(), HeightmapOptions::default());
        intact(&file, &options, 0.0);
        torment(23, &file, 3000, |bytes| read(bytes, &options));
    }
}

#[test]
fn raw() {
    for endian in [Endian::Little, Endian::Big] {
        for format in [
            HeightmapFormat::Raw16(endian),
            HeightmapFormat::Raw32(endian),
        ] {
            let map = map();
            let vertical = VerticalRange::new(-100.0, 200.0).into();
            let file = map.write(format, vertical).expect("writable");
            let options = HeightmapOptions {
                format: Some(format),
                size: Some(map.size),
                vertical: Some(vertical),
                ..HeightmapOptions::default()
            };
            intact(&file, &options, 0.01);
            torment(30, &file, 1000, |bytes| read(bytes, &options));
        }
    }
}

/// The bodies of the fuzz targets, with noise behind the right first bytes and
/// with what was a file.
#[test]
fn fuzz_targets_hold() {
    let metres = Vertical::METRES;
    let range = VerticalRange::new(-100.0, 200.0).into();
    let write = |format, vertical| map().write(format, vertical).expect("writable");
    let state = SavedState::of(&crate::land(5, UVec2::new(11, 7), 2.0));
    let save = state.and_then(|state| state.to_bytes()).expect("writable");
    let raw = |bytes: &[u8]| {
        let number = |i: usize| u32::from(bytes.get(i).copied().unwrap_or_default());
        // The right size, any small one, and one that is far too large.
        bodies::raw(11, 7, 0.01, bytes);
        bodies::raw(number(0) % 16, number(1) % 16, number(2) as f32, bytes);
        bodies::raw(u32::MAX - number(3), number(4), f32::NAN, bytes);
    };
    type Reader<'a> = &'a dyn Fn(&[u8]);
    let targets: [(Vec<u8>, Reader); 5] = [
        (write(HeightmapFormat::Png16, range), &bodies::png),
        (write(HeightmapFormat::Exr, metres), &bodies::exr),
        (write(HeightmapFormat::Tiff32, metres), &bodies::tiff),
        (write(HeightmapFormat::Raw32(Endian::Little), range), &raw),
        (save, &bodies::save),
    ];
    for (number, (file, body)) in targets.into_iter().enumerate() {
        torment(40 + number as u64, &file, 1000, body);
        let mut random = Pcg32::new(50 + number as u64, 7);
        for round in 0..1000usize {
            let kept = (round % 64).min(file.len());
            let noise = (0..round % 200).map(|_| random.next_u32() as u8);
            let bytes: Vec<u8> = file[..kept].iter().copied().chain(noise).collect();
            body(&bytes);
        }
    }
}

#[test]
fn what_declares_too_much_is_refused_before_there_is_room_made_for_it() {
    let map = map();
    let range = VerticalRange::new(-100.0, 200.0).into();
    let refused = |bytes: &[u8], why: &str| {
        let error = Heightmap::read(bytes, &HeightmapOptions::default()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    };
    // 16 000 × 16 000 fits a terrain, but not in a file of this length.
    let mut file = map.write(HeightmapFormat::Png16, range).expect("writable");
    for (side, why) in [
        (16_000u32, "declares"),
        (20_000, "16384"),
        (1 << 30, "16384"),
    ] {
        file[16..20].copy_from_slice(&side.to_be_bytes());
        file[20..24].copy_from_slice(&side.to_be_bytes());
        mend_png(&mut file);
        refused(&file, why);
    }
    let mut file = map
        .write(HeightmapFormat::Tiff32, Vertical::METRES)
        .expect("writable");
    let directory = u32::from_le_bytes([file[4], file[5], file[6], file[7]]) as usize;
    let entries = usize::from(u16::from_le_bytes([file[directory], file[directory + 1]]));
    for (side, why) in [
        (16_000u32, "declares"),
        (20_000, "16384"),
        (1 << 31, "16384"),
    ] {
        let mut changed = 0;
        for entry in file[directory + 2..].chunks_mut(12).take(entries) {
            // Width, height and the rows of a strip, as numbers of four bytes.
            if matches!(u16::from_le_bytes([entry[0], entry[1]]), 256 | 257 | 278) {
                entry[2..4].copy_from_slice(&4u16.to_le_bytes());
                entry[8..12].copy_from_slice(&side.to_le_bytes());
                changed += 1;
            }
        }
        assert_eq!(changed, 3);
        refused(&file, why);
    }
    // The data window of an EXR: two corners.
    let mut file = map
        .write(HeightmapFormat::Exr, Vertical::METRES)
        .expect("writable");
    let name = b"dataWindow\0box2i\0";
    let place = file.windows(name.len()).position(|window| window == name);
    let place = place.expect("a data window") + name.len() + 4 + 8;
    for (last, why) in [(15_999i32, "declares"), (19_999, "16384")] {
        file[place..place + 4].copy_from_slice(&last.to_le_bytes());
        file[place + 4..place + 8].copy_from_slice(&last.to_le_bytes());
        refused(&file, why);
    }
}

#[test]
fn empty_land_packs_well_and_is_read_all_the_same() {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 1024, 1024);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("writable");
    writer
        .write_image_data(&vec![0; 1 << 20])
        .expect("writable");
    writer.finish().expect("writable");
    let options = HeightmapOptions {
        vertical: Some(VerticalRange::new(0.0, 1.0).into()),
        ..HeightmapOptions::default()
    };
    let found = Heightmap::read(&file, &options).expect("readable");
    assert_eq!(found.size, UVec2::splat(1024));
    assert!(found.values.iter().all(|value| *value == 0.0));
}
