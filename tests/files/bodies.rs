//! What the targets in `fuzz/` do with any bytes, so that the tests do it too:
//! a reader gives what it says, or an error, and never panics.

use bevy::math::UVec2;
use bevy_erode::io::{Endian, Heightmap, HeightmapFormat, HeightmapOptions, SavedState, Vertical};

/// Bytes as a PNG.
pub fn png(bytes: &[u8]) {
    heightmap(bytes, HeightmapFormat::Png16);
}

/// Bytes as an OpenEXR.
pub fn exr(bytes: &[u8]) {
    heightmap(bytes, HeightmapFormat::Exr);
}

/// Bytes as a TIFF.
pub fn tiff(bytes: &[u8]) {
    heightmap(bytes, HeightmapFormat::Tiff32);
}

fn heightmap(bytes: &[u8], format: HeightmapFormat) {
    let options = HeightmapOptions {
        format: Some(format),
        vertical: Some(Vertical::METRES),
        no_data: Some(0.0),
        ..HeightmapOptions::default()
    };
    read(bytes, &options);
}

/// Bytes as RAW of any size.
pub fn raw(width: u32, height: u32, scale: f32, bytes: &[u8]) {
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
        read(bytes, &options);
    }
}

fn read(bytes: &[u8], options: &HeightmapOptions) {
    if let Ok(map) = Heightmap::read(bytes, options) {
        assert_eq!(map.values.len() as u32, map.size.element_product());
        assert!(map.values.iter().all(|value| value.is_finite()));
    }
}

/// Bytes as a saved state.
pub fn save(bytes: &[u8]) {
    if let Ok(state) = SavedState::from_bytes(bytes) {
        let again = state.to_bytes().expect("what was read can be written");
        let again = SavedState::from_bytes(&again).expect("and read again");
        assert_eq!(again.terrain().state_hash(), state.terrain().state_hash());
    }
}
