//! PNG files.

use super::{Decoded, HeightmapError, Metadata, cells, check_declared, metadata};
use ::png::{BitDepth, ColorType, Decoder, Encoder, Limits, Transformations};
use bevy::math::UVec2;
use std::io::Cursor;

const PNG: &str = "PNG";

/// Memory for rows and metadata; the picture itself comes on top.
const WORKING_BYTES: usize = 64 << 20;

pub(super) fn read(bytes: &[u8]) -> Result<Decoded, HeightmapError> {
    let damaged = |error: ::png::DecodingError| HeightmapError::Damaged {
        format: PNG,
        reason: error.to_string(),
    };
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_limits(Limits {
        bytes: WORKING_BYTES,
    });
    // Palettes become colors, and few bits become eight.
    decoder.set_transformations(Transformations::EXPAND);
    let header = decoder.read_header_info().map_err(damaged)?;
    let size = UVec2::new(header.width, header.height);
    let declared = header.raw_row_length() as u64 * u64::from(header.height);
    check_declared(size, declared, bytes.len(), PNG)?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (color, depth) = reader.output_color_type();
    let length = reader.output_buffer_size().unwrap_or(usize::MAX);
    let channels = color.samples();
    let sample = if depth == BitDepth::Sixteen { 2 } else { 1 };
    // At most four channels of 16 bits.
    if length as u64 > cells(size) * 8 {
        return Err(HeightmapError::Damaged {
            format: PNG,
            reason: "its rows are longer than four channels of 16 bits".into(),
        });
    }
    let mut pixels = vec![0; length];
    let frame = reader.next_frame(&mut pixels).map_err(damaged)?;
    if (frame.width, frame.height) != (size.x, size.y) {
        return Err(HeightmapError::Damaged {
            format: PNG,
            reason: format!(
                "its first frame has {} × {} pixels, expected {} × {}",
                frame.width, frame.height, size.x, size.y
            ),
        });
    }
    // The first channel, the highest byte first.
    let pixels = pixels.chunks_exact(channels * sample);
    let values = pixels.map(|pixel| match pixel {
        [high, low, ..] if sample == 2 => f32::from(u16::from_be_bytes([*high, *low])),
        [value, ..] => f32::from(*value),
        [] => 0.0,
    });
    let texts = &reader.info().uncompressed_latin1_text;
    let text = texts.iter().find(|text| text.keyword == metadata::KEY);
    let greatest = if sample == 2 { 65_535.0 } else { 255.0 };
    Ok(Decoded {
        size,
        values: values.collect(),
        whole: Some(0.0..=greatest),
        metadata: text.map_or(Metadata::default(), |text| Metadata::parse(&text.text)),
        no_data: None,
    })
}

pub(super) fn write(
    size: UVec2,
    values: &[u16],
    metadata: &Metadata,
) -> Result<Vec<u8>, HeightmapError> {
    let failed = |error: ::png::EncodingError| HeightmapError::Encoder {
        format: PNG,
        reason: error.to_string(),
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, size.x, size.y);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Sixteen);
    if !metadata.is_empty() {
        let text = encoder.add_text_chunk(metadata::KEY.into(), metadata.to_string());
        text.map_err(failed)?;
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    let pixels: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    writer.write_image_data(&pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}
