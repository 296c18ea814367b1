//! Any bytes as RAW of any size: a heightmap or an error, no panic.

#![no_main]

use bevy::math::UVec2;
use bevy_erode::io::{Endian, Heightmap, HeightmapFormat, HeightmapOptions, Vertical};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, u32, f32, &[u8])| {
    let (width, height, scale, bytes) = input;
    for format in [
        HeightmapFormat::Raw16(Endian::Little),
        HeightmapFormat::Raw16(Endian::Big),
        HeightmapFormat::Raw32(Endian::Little),
        HeightmapFormat::Raw32(Endian::Big),
    ] {
        let options = HeightmapOptions {
            format: Some(format),
            size: Some(UVec2::new(width, height)),
            vertical: Some(Vertical::Scale(scale)),
            ..HeightmapOptions::default()
        };
        if let Ok(map) = Heightmap::read(bytes, &options) {
            assert!(map.values.iter().all(|value| value.is_finite()));
        }
    }
});
