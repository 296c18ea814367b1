//! TIFF files, also GeoTIFF.

use super::{Decoded, HeightmapError, Metadata, cells, check_declared, geo, guarded, metadata};
use crate::terrain::Grid;
use ::tiff::{
    TiffError,
    decoder::{Decoder, DecodingResult, Limits, ifd::Value},
    encoder::{Compression, DeflateLevel, TiffEncoder, TiffValue, colortype::ColorType},
    tags::Tag,
};
use bevy::math::UVec2;
use core::ops::RangeInclusive;
use std::io::Cursor;

const TIFF: &str = "TIFF";
/// Channels that a file may have: a row of a tile is unpacked with all of them.
const MAX_CHANNELS: u64 = 64;

/// With `any_shape`, cells that are not square are accepted.
pub(super) fn read(bytes: &[u8], any_shape: bool) -> Result<Decoded, HeightmapError> {
    guarded(TIFF, || decode(bytes, any_shape))
}

fn decode(bytes: &[u8], any_shape: bool) -> Result<Decoded, HeightmapError> {
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(damaged)?;
    let (width, height) = decoder.dimensions().map_err(damaged)?;
    let size = UVec2::new(width, height);
    let color = decoder.colortype().map_err(damaged)?;
    let channels = u64::from(color.num_samples()).max(1);
    let per_cell = channels * u64::from(color.bit_depth()).div_ceil(8).max(1);
    let declared = cells(size).saturating_mul(per_cell);
    check_declared(size, declared, bytes.len(), TIFF)?;
    if let ::tiff::ColorType::Palette(_) = color {
        return Err(wrong("images with a palette are not supported"));
    }
    if !matches!(color.bit_depth(), 8 | 16 | 32 | 64) {
        return Err(wrong(
            "unsupported bits per sample: expected 8, 16, 32 or 64",
        ));
    }
    // The color type does not count a pixel's extra samples.
    let samples = decoder.find_tag_unsigned::<u64>(Tag::SamplesPerPixel);
    if samples.map_err(damaged)?.unwrap_or(1) > MAX_CHANNELS {
        return Err(wrong("it has more than 64 channels"));
    }
    // A strip or tile may reach beyond the picture, but not by much. Strips may
    // also be declared to have all rows that there can be.
    let (wide, _) = decoder.chunk_dimensions();
    if wide > 2 * Grid::MAX_SIDE {
        return Err(wrong("its tiles are wider than twice the largest grid"));
    }
    let room = usize::try_from(declared).unwrap_or(usize::MAX);
    let mut limits = Limits::default();
    // The limit holds for metadata, too.
    limits.decoding_buffer_size = room.max(1 << 20);
    limits.intermediate_buffer_size = room.saturating_add(1 << 24);
    let mut decoder = decoder.with_limits(limits);

    let metadata = match decoder.find_tag(Tag::ImageDescription) {
        Ok(Some(Value::Ascii(text))) => match text.strip_prefix(metadata::KEY) {
            Some(text) => Metadata::parse(text.trim_matches(['\0', ' '])),
            None => Metadata::default(),
        },
        _ => Metadata::default(),
    };
    let cell_size = geo::cell_size(&mut decoder, any_shape)?;
    let no_data = geo::no_data(&mut decoder);
    let pixels = decoder.read_image().map_err(damaged)?;
    let (values, whole) = first_channel(pixels, size)?;
    if values.len() as u64 != cells(size) {
        return Err(wrong("it has fewer values than cells"));
    }
    Ok(Decoded {
        size,
        values,
        whole,
        metadata: Metadata {
            cell_size: metadata.cell_size.or(cell_size),
            ..metadata
        },
        no_data,
    })
}

/// The first channel, and what whole numbers can be.
fn first_channel(
    pixels: DecodingResult,
    size: UVec2,
) -> Result<(Vec<f32>, Option<RangeInclusive<f64>>), HeightmapError> {
    /// Channels lie side by side, or the first alone was read.
    #[inline]
    fn pick<T: Copy>(values: &[T], size: UVec2, number: impl Fn(T) -> f32) -> Vec<f32> {
        let channels = values.len() / (cells(size) as usize).max(1);
        let first = values.iter().step_by(channels.max(1));
        first.map(|&value| number(value)).collect()
    }
    let unsigned = |bits: u32| Some(0.0..=((1u64 << bits) - 1) as f64);
    let signed = |bits: u32| {
        let half = (1u64 << (bits - 1)) as f64;
        Some(-half..=half - 1.0)
    };
    Ok(match pixels {
        DecodingResult::U8(v) => (pick(&v, size, f32::from), unsigned(8)),
        DecodingResult::U16(v) => (pick(&v, size, f32::from), unsigned(16)),
        DecodingResult::U32(v) => (pick(&v, size, |v| v as f32), unsigned(32)),
        DecodingResult::I8(v) => (pick(&v, size, f32::from), signed(8)),
        DecodingResult::I16(v) => (pick(&v, size, f32::from), signed(16)),
        DecodingResult::I32(v) => (pick(&v, size, |v| v as f32), signed(32)),
        DecodingResult::F16(v) => (pick(&v, size, |v| v.to_f32()), None),
        DecodingResult::F32(v) => (pick(&v, size, |v| v), None),
        DecodingResult::F64(v) => (pick(&v, size, |v| v as f32), None),
        _ => return Err(wrong("64-bit integers are not supported")),
    })
}

fn damaged(error: TiffError) -> HeightmapError {
    HeightmapError::Damaged {
        format: TIFF,
        reason: error.to_string(),
    }
}

fn wrong(reason: &str) -> HeightmapError {
    HeightmapError::Damaged {
        format: TIFF,
        reason: reason.into(),
    }
}

pub(super) fn write<C: ColorType>(
    size: UVec2,
    values: &[C::Inner],
    metadata: &Metadata,
) -> Result<Vec<u8>, HeightmapError>
where
    [C::Inner]: TiffValue,
{
    let mut bytes = Cursor::new(Vec::new());
    let write = |bytes: &mut Cursor<Vec<u8>>| -> Result<(), TiffError> {
        let encoder = TiffEncoder::new(bytes)?;
        let mut encoder = encoder.with_compression(Compression::Deflate(DeflateLevel::Fast));
        let mut image = encoder.new_image::<C>(size.x, size.y)?;
        if !metadata.is_empty() {
            let text = format!("{} {metadata}", metadata::KEY);
            image
                .encoder()
                .write_tag(Tag::ImageDescription, text.as_str())?;
        }
        if let Some(cell_size) = metadata.cell_size {
            let side = f64::from(cell_size);
            let scale = [side, side, 0.0];
            image
                .encoder()
                .write_tag(Tag::ModelPixelScaleTag, &scale[..])?;
        }
        image.write_data(values)
    };
    write(&mut bytes).map_err(|error| HeightmapError::Encoder {
        format: TIFF,
        reason: error.to_string(),
    })?;
    Ok(bytes.into_inner())
}
