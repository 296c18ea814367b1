//! What a hostile file takes of the machine's memory.

use crate::sample::exr_of;
use bevy_erode::prelude::*;

/// A TIFF of one directory: each entry is a tag, its kind and its value.
fn tiff_of(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 300]);
    file
}

#[test]
fn a_small_file_takes_no_huge_block() {
    let size = |width, height| [(256, 4, width), (257, 4, height)];
    let floats = |samples| {
        [
            (258, 3, 64),
            (259, 3, 1),
            (262, 3, 1),
            (277, 3, samples),
            (339, 3, 3),
        ]
    };
    // One cell in a tile as wide as can be, of very many channels.
    let tile = [
        (317, 3, 3),
        (322, 4, u32::MAX),
        (323, 4, 1),
        (324, 4, 64),
        (325, 4, 64),
    ];
    // More strips than a number can count.
    let strips = [(273, 4, 64), (278, 4, 1), (279, 4, 64), (284, 3, 2)];
    let sorted = |mut entries: Vec<(u16, u16, u32)>| {
        entries.sort_unstable();
        tiff_of(&entries)
    };
    let options = HeightmapOptions::default();
    for samples in [65_535, 1] {
        let file = sorted([&size(1, 1)[..], &floats(samples), &tile].concat());
        let measured = allocation_counter::measure(|| {
            Heightmap::read(&file, &options).expect_err("refused");
        });
        assert!(measured.bytes_max < 64 << 20, "{measured:?}");
    }
    // Here the decoder itself panics, if it checks its sums at all.
    let file = sorted([&size(2, 0x8000_0000)[..], &floats(2), &strips].concat());
    Heightmap::read(&file, &options).expect_err("refused");
}

#[test]
fn an_exr_takes_no_huge_block() {
    use exr::prelude::{Blocks, Compression, Vec2};
    let file = exr_of(Compression::Uncompressed, Blocks::Tiles(Vec2(4, 3)));
    let place = |name: &[u8]| {
        let place = file.windows(name.len()).position(|window| window == name);
        // Behind the name comes the length of the value.
        place.expect("an attribute") + name.len() + 4
    };
    let (tiles, packed) = (
        place(b"tiles\0tiledesc\0"),
        place(b"compression\0compression\0"),
    );
    let refused = |file: &[u8], why: &str| {
        let measured = allocation_counter::measure(|| {
            let error = Heightmap::read(file, &HeightmapOptions::default()).expect_err("refused");
            assert!(error.to_string().contains(why), "{error}");
        });
        assert!(measured.bytes_max < 64 << 20, "{measured:?}");
    };
    for side in [100_000u32, 1_000_000_000, (1 << 30) - 2] {
        let mut file = file.clone();
        file[tiles..tiles + 4].copy_from_slice(&side.to_le_bytes());
        file[tiles + 4..tiles + 8].copy_from_slice(&side.to_le_bytes());
        refused(&file, "");
    }
    for compression in [8, 9] {
        let mut file = file.clone();
        file[packed] = compression;
        refused(&file, "DWA");
    }
}
