//! Masks: which are enabled, how they follow the water, and a preview of one.

use super::rows::show_rows;
use crate::masks::{Mask, MaskSettings, TerrainMasks};
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, ColorImage, TextureHandle, TextureOptions, Ui};

/// Longest side of the picture. units: pixels
const SIDE: usize = 96;
/// Time between two pictures. units: s
const INTERVAL: f32 = 0.5;

/// The mask of the preview.
#[derive(Resource)]
pub(super) struct MaskPreview {
    mask: Mask,
    since: f32,
    shown: Option<Picture>,
}

struct Picture {
    mask: Mask,
    texture: TextureHandle,
    size: egui::Vec2,
    highest: f32,
}

impl Default for MaskPreview {
    fn default() -> Self {
        Self {
            mask: Mask::Wear,
            since: 0.0,
            shown: None,
        }
    }
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let masks = world.get_resource::<TerrainMasks>();
    let settings = masks.map(|masks| masks.settings).unwrap_or_default();
    let had = |mask| masks.is_some_and(|masks| masks.is_enabled(mask));
    let mut wanted = Mask::ALL.map(had);
    let before = wanted;
    ui.horizontal_wrapped(|ui| {
        for (mask, on) in Mask::ALL.into_iter().zip(&mut wanted) {
            ui.checkbox(on, mask.name());
        }
    });
    let mut edited = settings;
    ui.collapsing("mask settings", |ui| {
        let default = MaskSettings::default();
        show_rows(ui, |rows| rows.all(&mut edited, Some(&default)));
    });
    if !wanted.contains(&true) {
        world.remove_resource::<TerrainMasks>();
    } else if wanted != before {
        // Those that were enabled already keep their values.
        let mut masks = world.get_resource_or_init::<TerrainMasks>();
        masks.settings = edited;
        for (mask, on) in Mask::ALL.into_iter().zip(wanted) {
            masks.set_enabled(mask, on);
        }
    } else if edited != settings
        && let Some(mut masks) = world.get_resource_mut::<TerrainMasks>()
    {
        masks.settings = edited;
    }
    if world.contains_resource::<TerrainMasks>() {
        world.resource_scope(|world, mut preview: Mut<MaskPreview>| {
            show_preview(ui, world, preview.bypass_change_detection());
        });
    }
}

fn show_preview(ui: &mut Ui, world: &mut World, preview: &mut MaskPreview) {
    let Some(masks) = world.get_resource::<TerrainMasks>() else {
        return;
    };
    if !masks.is_enabled(preview.mask)
        && let Some(other) = Mask::ALL.into_iter().find(|mask| masks.is_enabled(*mask))
    {
        preview.mask = other;
    }
    egui::ComboBox::from_label("preview")
        .selected_text(preview.mask.name())
        .show_ui(ui, |ui| {
            for mask in Mask::ALL.into_iter().filter(|mask| masks.is_enabled(*mask)) {
                ui.selectable_value(&mut preview.mask, mask, mask.name());
            }
        });
    let real = world.get_resource::<Time<Real>>();
    preview.since += real.map_or(INTERVAL, |real| real.delta_secs());
    let same = preview
        .shown
        .as_ref()
        .is_some_and(|shown| shown.mask == preview.mask);
    if (!same || preview.since >= INTERVAL)
        && let Some((image, highest)) = picture(masks, preview.mask)
    {
        preview.since = 0.0;
        let size = egui::vec2(image.width() as f32, image.height() as f32);
        let texture = ui
            .ctx()
            .load_texture("terrain mask preview", image, TextureOptions::NEAREST);
        preview.shown = Some(Picture {
            mask: preview.mask,
            texture,
            size,
            highest,
        });
    }
    if let Some(shown) = preview
        .shown
        .as_ref()
        .filter(|shown| shown.mask == preview.mask)
    {
        let width = ui.available_width().min(180.0);
        let size = shown.size * (width / shown.size.x.max(1.0));
        ui.image((shown.texture.id(), size));
        ui.small(format!("0 to {} {}", shown.highest, shown.mask.unit()));
    }
}

/// The mask from black to white, its highest value being white.
fn picture(masks: &TerrainMasks, mask: Mask) -> Option<(ColorImage, f32)> {
    let (field, grid) = (masks.field(mask)?, masks.grid()?);
    let (width, height) = (grid.width(), grid.height());
    let stride = width.max(height).div_ceil(SIDE).max(1);
    let size = [width.div_ceil(stride), height.div_ceil(stride)];
    let cells = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x * stride, y * stride)));
    let values: Vec<f32> = cells.map(|(x, y)| field[y * width + x]).collect();
    let highest = values.iter().copied().fold(0.0, f32::max);
    let shade = |value: &f32| {
        // The root makes small values visible.
        let share = (value / highest.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        Color32::from_gray((share.sqrt() * 255.0) as u8)
    };
    let pixels = values.iter().map(shade).collect();
    Some((ColorImage::new(size, pixels), highest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terrain::{Terrain, landform::Ridged};

    #[test]
    fn the_picture_of_a_mask_is_small_and_shows_it() {
        let size = bevy::math::UVec2::new(300, 150);
        let terrain = Terrain::generate(&Ridged::seeded(3), size, 2.0).expect("valid");
        let mut masks = TerrainMasks::new([Mask::Slope]);
        masks.update(&terrain, 0.0);
        let (image, highest) = picture(&masks, Mask::Slope).expect("there is a field");
        assert_eq!(image.size, [75, 38], "every fourth cell");
        assert!(highest > 0.1);
        let bright = image.pixels.iter().filter(|pixel| pixel.r() > 128).count();
        assert!(bright > 0 && bright < image.pixels.len());
        assert!(picture(&masks, Mask::Wear).is_none(), "not kept");
    }
}
