//! OpenEXR files.

use super::{Decoded, HeightmapError, Metadata, cells, check_declared, guarded, metadata};
use ::exr::{
    block::chunk::CompressedBlock,
    compression::Compression,
    image::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer},
    meta::{
        BlockDescription, MetaData,
        attribute::{AttributeValue, LevelMode, SampleType, Text},
        header::LayerAttributes,
    },
    prelude::{ReadChannels, ReadLayers, SmallVec, WritableImage, read as read_exr},
};
use bevy::math::UVec2;
use std::io::Cursor;

const EXR: &str = "EXR";
/// Layers and channels that a file may have: each takes memory.
const MAX_CHANNELS: usize = 64;
/// A block may be larger than the picture, but not beyond this. units: bytes
const MAX_BLOCK: u64 = 64 << 20;

pub(super) fn read(bytes: &[u8]) -> Result<Decoded, HeightmapError> {
    guarded(EXR, || decode(bytes))
}

fn decode(bytes: &[u8]) -> Result<Decoded, HeightmapError> {
    check_headers(bytes)?;
    let reader = read_exr()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel();
    let image = reader
        .from_buffered(Cursor::new(bytes))
        .map_err(|error| damaged(error.to_string()))?;
    let layer = image.layer_data;
    let size = size_of(layer.size)?;
    let attribute = layer.attributes.other.get(&Text::from(metadata::KEY));
    let metadata = match attribute {
        Some(AttributeValue::Text(text)) => Metadata::parse(&text.to_string()),
        _ => Metadata::default(),
    };
    let mut channels = layer.channel_data.list;
    let named = |name: &str| {
        let mut channels = channels.iter();
        channels.position(|channel| channel.name.to_string() == name)
    };
    let chosen = named("Y").or_else(|| named("R")).unwrap_or(0);
    if channels.len() <= chosen {
        return Err(damaged("it has no channels".into()));
    }
    let channel = channels.swap_remove(chosen);
    let values = match channel.sample_data {
        FlatSamples::F16(values) => values.into_iter().map(|value| value.to_f32()).collect(),
        FlatSamples::F32(values) => values,
        FlatSamples::U32(values) => values.into_iter().map(|value| value as f32).collect(),
    };
    if values.len() as u64 != cells(size) {
        return Err(damaged(format!(
            "found {} values in the channel, expected {}",
            values.len(),
            cells(size)
        )));
    }
    Ok(Decoded {
        size,
        values,
        whole: None,
        metadata,
        no_data: None,
    })
}

/// Checks all that is declared, before the decoder takes memory for it.
fn check_headers(bytes: &[u8]) -> Result<(), HeightmapError> {
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false);
    let meta = meta.map_err(|error| damaged(error.to_string()))?;
    let channels = meta.headers.iter().map(|header| header.channels.list.len());
    if channels.sum::<usize>() > MAX_CHANNELS {
        return Err(damaged(format!("it has more than {MAX_CHANNELS} channels")));
    }
    let mut tiled = false;
    for header in &meta.headers {
        let samples = header.channels.list.iter();
        let per_cell: u64 = samples
            .map(|channel| match channel.sample_type {
                SampleType::F16 => 2,
                SampleType::F32 | SampleType::U32 => 4,
            })
            .sum();
        let size = size_of(header.layer_size)?;
        let declared = cells(size).saturating_mul(per_cell);
        check_declared(size, declared, bytes.len(), EXR)?;
        // They are lossy, and the decoder believes whatever they say of their size.
        if let Compression::DWAA(_) | Compression::DWAB(_) = header.compression {
            return Err(damaged("DWA compression is not supported".into()));
        }
        let (single, block) = match header.blocks {
            BlockDescription::ScanLines => {
                let lines = header.compression.scan_lines_per_block();
                (true, header.layer_size.0.saturating_mul(lines))
            }
            BlockDescription::Tiles(tiles) => {
                tiled = true;
                let size = tiles.tile_size;
                let single = tiles.level_mode == LevelMode::Singular;
                (single, size.0.saturating_mul(size.1))
            }
        };
        if (block as u64).saturating_mul(per_cell) > declared.max(MAX_BLOCK) {
            return Err(damaged(
                "its tiles or scan line blocks are too large".into(),
            ));
        }
        if header.deep || !single {
            return Err(damaged("deep data and mip maps are not supported".into()));
        }
    }
    if tiled { check_tiles(bytes) } else { Ok(()) }
}

/// Checks that every tile is one of the whole picture. The decoder takes that for
/// granted, and panics where it is not so.
fn check_tiles(bytes: &[u8]) -> Result<(), HeightmapError> {
    let chunks = ::exr::block::read(Cursor::new(bytes), false)
        .and_then(|reader| reader.filter_chunks(false, |_, _, _| true))
        .map_err(|error| damaged(error.to_string()))?;
    for chunk in chunks {
        let chunk = chunk.map_err(|error| damaged(error.to_string()))?;
        if let CompressedBlock::Tile(tile) = chunk.compressed_block
            && tile.coordinates.level_index != ::exr::math::Vec2(0, 0)
        {
            return Err(damaged("a tile belongs to another resolution level".into()));
        }
    }
    Ok(())
}

fn size_of(size: ::exr::math::Vec2<usize>) -> Result<UVec2, HeightmapError> {
    match (u32::try_from(size.0), u32::try_from(size.1)) {
        (Ok(x), Ok(y)) => Ok(UVec2::new(x, y)),
        _ => Err(damaged("its size does not fit into 32 bits".into())),
    }
}

fn damaged(reason: String) -> HeightmapError {
    HeightmapError::Damaged {
        format: EXR,
        reason,
    }
}

pub(super) fn write(
    size: UVec2,
    values: Vec<f32>,
    metadata: &Metadata,
) -> Result<Vec<u8>, HeightmapError> {
    let mut attributes = LayerAttributes::default();
    if !metadata.is_empty() {
        let text = AttributeValue::Text(Text::from(metadata.to_string().as_str()));
        attributes.other.insert(Text::from(metadata::KEY), text);
    }
    let channel = AnyChannel::new("Y", FlatSamples::F32(values));
    let layer = Layer::new(
        (size.x as usize, size.y as usize),
        attributes,
        Encoding::SMALL_LOSSLESS,
        AnyChannels::sort(SmallVec::from_iter([channel])),
    );
    let mut bytes = Cursor::new(Vec::new());
    let image = Image::from_layer(layer);
    let written = image.write().non_parallel();
    written
        .to_buffered(&mut bytes)
        .map_err(|error| HeightmapError::Encoder {
            format: EXR,
            reason: error.to_string(),
        })?;
    Ok(bytes.into_inner())
}
