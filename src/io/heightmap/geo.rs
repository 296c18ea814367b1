//! What a GeoTIFF says about its cells: how large, in which unit, and which number
//! marks cells without a value.

use super::HeightmapError;
use ::tiff::{
    decoder::{Decoder, ifd::Value},
    tags::Tag,
};
use std::io::{Read, Seek};

/// Keys of the directory.
const MODEL_TYPE: u16 = 1024;
const LINEAR_UNITS: u16 = 3076;
/// Most entries of the directory that are looked at, four numbers each.
const MAX_KEYS: usize = 256;

/// Side of a cell, if the file knows it in metres. With `any_shape`,
/// cells that are not square are accepted. units: m
pub(super) fn cell_size<R: Read + Seek>(
    decoder: &mut Decoder<R>,
    any_shape: bool,
) -> Result<Option<f32>, HeightmapError> {
    let Some(Value::List(scale)) = tag(decoder, Tag::ModelPixelScaleTag) else {
        return Ok(None);
    };
    let scale: Vec<f64> = scale
        .into_iter()
        .filter_map(|v| v.into_f64().ok())
        .collect();
    let keys = keys(decoder);
    let key = |name: u16| keys.iter().find(|key| key[0] == name).map(|key| key[3]);
    let unit = match key(LINEAR_UNITS) {
        None | Some(9001) => 1.0,
        Some(9002) => 0.3048,
        Some(9003) => 1200.0 / 3937.0,
        // A user-defined unit.
        Some(_) => return Ok(None),
    };
    // A geographic model: its unit is degrees, not metres.
    if key(MODEL_TYPE) == Some(2) {
        return Ok(None);
    }
    let [x, y, ..] = scale[..] else {
        return Ok(None);
    };
    let (x, y) = (x.abs() * unit, y.abs() * unit);
    if !(1e-3..=1e5).contains(&x) {
        return Ok(None);
    }
    if (x - y).abs() > 1e-4 * x && !any_shape {
        return Err(HeightmapError::NotSquare { x, y });
    }
    Ok(Some(x as f32))
}

/// The number that marks cells without a value.
pub(super) fn no_data<R: Read + Seek>(decoder: &mut Decoder<R>) -> Option<f32> {
    let Some(Value::Ascii(text)) = tag(decoder, Tag::GdalNodata) else {
        return None;
    };
    let number: f64 = text.trim_matches(['\0', ' ']).parse().ok()?;
    Some(number as f32)
}

/// Entries of the directory: key, place, count, value.
fn keys<R: Read + Seek>(decoder: &mut Decoder<R>) -> Vec<[u16; 4]> {
    let Some(Value::List(numbers)) = tag(decoder, Tag::GeoKeyDirectoryTag) else {
        return Vec::new();
    };
    let numbers = numbers.into_iter().take(4 * MAX_KEYS);
    let numbers: Vec<u16> = numbers.map_while(|v| v.into_u16().ok()).collect();
    numbers.as_chunks::<4>().0.to_vec()
}

/// A tag that may be missing or invalid.
fn tag<R: Read + Seek>(decoder: &mut Decoder<R>, tag: Tag) -> Option<Value> {
    decoder.find_tag(tag).ok().flatten()
}
