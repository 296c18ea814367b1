//! Any bytes as TIFF: a heightmap or an error, no panic.

#![no_main]

use bevy_erode::io::{Heightmap, HeightmapFormat, HeightmapOptions, Vertical};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options = HeightmapOptions {
        format: Some(HeightmapFormat::Tiff32),
        vertical: Some(Vertical::METRES),
        no_data: Some(0.0),
        ..HeightmapOptions::default()
    };
    if let Ok(map) = Heightmap::read(bytes, &options) {
        assert!(map.values.iter().all(|value| value.is_finite()));
    }
});
