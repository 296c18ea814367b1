//! RAW files: numbers row by row, and nothing else.

use super::{Decoded, Endian, HeightmapError, Metadata, cells, check_size};
use bevy::math::UVec2;

pub(super) fn read16(
    bytes: &[u8],
    size: Option<UVec2>,
    endian: Endian,
) -> Result<Decoded, HeightmapError> {
    let number = match endian {
        Endian::Little => u16::from_le_bytes,
        Endian::Big => u16::from_be_bytes,
    };
    let whole = Some(0.0..=65_535.0);
    read(bytes, size, whole, |bytes: &[u8; 2]| number(*bytes).into())
}

pub(super) fn read32(
    bytes: &[u8],
    size: Option<UVec2>,
    endian: Endian,
) -> Result<Decoded, HeightmapError> {
    let number = match endian {
        Endian::Little => f32::from_le_bytes,
        Endian::Big => f32::from_be_bytes,
    };
    read(bytes, size, None, |bytes: &[u8; 4]| number(*bytes))
}

fn read<const N: usize>(
    bytes: &[u8],
    size: Option<UVec2>,
    whole: Option<core::ops::RangeInclusive<f64>>,
    number: impl Fn(&[u8; N]) -> f32,
) -> Result<Decoded, HeightmapError> {
    let size = size.ok_or(HeightmapError::NeedsSize)?;
    check_size(size)?;
    let expected = cells(size) * N as u64;
    if bytes.len() as u64 != expected {
        return Err(HeightmapError::RawLength {
            found: bytes.len() as u64,
            expected,
            size,
        });
    }
    Ok(Decoded {
        size,
        values: bytes.as_chunks::<N>().0.iter().map(number).collect(),
        whole,
        metadata: Metadata::default(),
        no_data: None,
    })
}

pub(super) fn write16(values: &[u16], endian: Endian) -> Vec<u8> {
    let bytes = match endian {
        Endian::Little => u16::to_le_bytes,
        Endian::Big => u16::to_be_bytes,
    };
    values.iter().flat_map(|&value| bytes(value)).collect()
}

pub(super) fn write32(values: &[f32], endian: Endian) -> Vec<u8> {
    let bytes = match endian {
        Endian::Little => f32::to_le_bytes,
        Endian::Big => f32::to_be_bytes,
    };
    values.iter().flat_map(|&value| bytes(value)).collect()
}
