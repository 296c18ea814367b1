//! The masks as textures (feature `render`).

use super::{Mask, TerrainMasks, fields::tile_cells};
use bevy::{
    asset::RenderAssetUsages,
    image::ImageSampler,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};
use core::time::Duration;

/// Sides beyond this are more than a graphics adapter need be able to hold.
const MAX_SIDE: u32 = 8192;

/// Cells of the image that [`MaskSettings::image_interval`](super::MaskSettings)
/// speaks of.
const USUAL_CELLS: f32 = 1024.0 * 1024.0;

/// The images of the enabled masks.
#[derive(Debug, Default)]
pub(super) struct MaskImages {
    handles: [Option<Handle<Image>>; 6],
    /// When each was last uploaded, by the real clock.
    uploaded: [Option<Duration>; 6],
    is_too_large: bool,
}

impl MaskImages {
    /// The next images are new ones.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// A mask's next image is a new one.
    pub fn forget_one(&mut self, mask: Mask) {
        self.handles[mask.place()] = None;
        self.uploaded[mask.place()] = None;
    }
}

impl TerrainMasks {
    /// A mask as an image, a texel a cell; see the [module](super). None if it
    /// is not enabled, as long as there is no terrain, and for lands
    /// of more than 8192 cells along a side, which no texture holds.
    pub fn image(&self, mask: Mask) -> Option<Handle<Image>> {
        self.images.handles[mask.place()].clone()
    }
}

/// Copies what changed into the images.
pub(crate) fn paint_images(
    mut masks: ResMut<TerrainMasks>,
    mut images: ResMut<Assets<Image>>,
    time: Res<Time<Real>>,
) {
    // Change detection is for the fields, not for their images.
    let masks = masks.bypass_change_detection();
    let Some(grid) = masks.grid().copied() else {
        return;
    };
    if grid.size().max_element() > MAX_SIDE {
        if !masks.images.is_too_large {
            warn!(
                "no mask images for a terrain of {} cells: each side must be at most {MAX_SIDE}",
                grid.size()
            );
        }
        masks.images.is_too_large = true;
        masks.fresh = Default::default();
        return;
    }
    let wait = masks.settings.image_interval.max(0.0) * grid.cells() as f32 / USUAL_CELLS;
    for mask in Mask::ALL {
        let place = mask.place();
        if masks.fresh[place].is_empty() {
            continue;
        }
        let since = masks.images.uploaded[place].map(|last| time.elapsed().saturating_sub(last));
        if since.is_some_and(|since| since.as_secs_f32() < wait) {
            continue;
        }
        masks.images.uploaded[place] = Some(time.elapsed());
        let tiles = core::mem::take(&mut masks.fresh[place]);
        let Some(field) = masks.field(mask) else {
            continue;
        };
        let handle = masks.images.handles[place].clone();
        let image = handle.and_then(|handle| images.get_mut(&handle));
        let data = image.and_then(|image| image.into_inner().data.as_mut());
        if let Some(data) = data.filter(|data| data.len() == 2 * field.len()) {
            for tile in tiles {
                let (columns, rows) = tile_cells(&grid, tile);
                for y in rows {
                    let row = y * grid.width() + columns.start..y * grid.width() + columns.end;
                    write_halves(&field[row.clone()], &mut data[2 * row.start..2 * row.end]);
                }
            }
        } else {
            let mut data = vec![0; 2 * field.len()];
            write_halves(field, &mut data);
            let mut image = Image::new(
                Extent3d {
                    width: grid.size().x,
                    height: grid.size().y,
                    depth_or_array_layers: 1,
                },
                TextureDimension::D2,
                data,
                TextureFormat::R16Float,
                RenderAssetUsages::default(),
            );
            image.sampler = ImageSampler::linear();
            masks.images.handles[place] = Some(images.add(image));
        }
    }
}

#[inline]
fn write_halves(values: &[f32], texels: &mut [u8]) {
    for (&value, texel) in values.iter().zip(texels.chunks_exact_mut(2)) {
        texel.copy_from_slice(&half(value).to_le_bytes());
    }
}

/// The nearest half-precision number to one that is not negative; the largest
/// there is for those beyond.
#[inline]
pub(super) fn half(value: f32) -> u16 {
    const MAX_FINITE: u16 = 0x7BFF;
    // Below the smallest normal number the steps are even: 2⁻²⁴.
    if value < 6.103_515_6e-5 {
        return (value.max(0.0) * 16_777_216.0).round_ties_even() as u16;
    }
    if value >= 65_504.0 {
        return MAX_FINITE;
    }
    let bits = value.to_bits();
    // Exponents count from −127 there and from −15 here, ten bits of the
    // fraction remain, and a tie goes to the even one.
    let rounded = bits + 0x0FFF + ((bits >> 13) & 1);
    (((rounded >> 13) - (112 << 10)).min(u32::from(MAX_FINITE))) as u16
}
