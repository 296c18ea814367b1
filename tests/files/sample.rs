//! A small heightmap, and files of it.

use bevy::math::UVec2;
use bevy_erode::prelude::*;

/// A small land, so that many rounds are quick.
pub fn map() -> Heightmap {
    let terrain = crate::land(5, UVec2::new(11, 7), 2.0);
    Heightmap::from_ground(&terrain)
}

/// The map as an EXR of some kind.
pub fn exr_of(compression: exr::prelude::Compression, blocks: exr::prelude::Blocks) -> Vec<u8> {
    use exr::prelude::*;
    let channel = AnyChannel::new("Y", FlatSamples::F32(map().values));
    let encoding = Encoding {
        compression,
        blocks,
        line_order: LineOrder::Increasing,
    };
    let layer = Layer::new(
        (11, 7),
        LayerAttributes::default(),
        encoding,
        AnyChannels::sort([channel].into_iter().collect()),
    );
    let mut file = std::io::Cursor::new(Vec::new());
    let image = Image::from_layer(layer);
    image.write().to_buffered(&mut file).expect("writable");
    file.into_inner()
}
