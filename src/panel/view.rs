//! What is drawn: overlays, the land as it was, water, detail.

use super::rows::show_rows;
use crate::view::{Detail, Overlay, Palette, Quality, TerrainView, WaterView};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    if let Some(mut view) = world.get_resource_mut::<TerrainView>() {
        let mut edited = view.clone();
        show_terrain(ui, &mut edited);
        view.set_if_neq(edited);
    }
    if let Some(mut view) = world.get_resource_mut::<WaterView>() {
        let mut edited = view.clone();
        let default = WaterView::default();
        show_rows(ui, |rows| rows.all(&mut edited, Some(&default)));
        view.set_if_neq(edited);
    }
}

fn show_terrain(ui: &mut Ui, view: &mut TerrainView) {
    let mut shown = (view.overlay, view.before);
    ui.horizontal_wrapped(|ui| {
        for overlay in Overlay::ALL {
            ui.selectable_value(&mut shown, (overlay, false), overlay.name());
        }
        ui.selectable_value(&mut shown, (Overlay::None, true), "before");
    });
    (view.overlay, view.before) = shown;
    let palette = &mut view.palette;
    let range = match view.overlay {
        Overlay::None => None,
        Overlay::Change => Some(("overlay_range", palette.overlay_range)),
        Overlay::Depth => Some(("depth_range", palette.depth_range)),
        Overlay::Velocity => Some(("velocity_range", palette.velocity_range)),
        Overlay::Discharge => Some(("discharge_range", palette.discharge_range)),
        Overlay::Sediment => Some(("sediment_range", palette.sediment_range)),
        Overlay::River => Some(("fresh_range", palette.fresh_range)),
    };
    if let Some((field, range)) = range {
        show_legend(ui, view.overlay, range);
        let default = Palette::default();
        show_rows(ui, |rows| rows.field(palette, Some(&default), field));
    }
    ui.horizontal(|ui| {
        ui.label("quality");
        for quality in Quality::ALL {
            ui.selectable_value(&mut view.quality, quality, format!("{quality:?}"));
        }
    });
    let default = Detail::default();
    show_rows(ui, |rows| {
        rows.field(&mut view.detail, Some(&default), "reach")
    });
}

/// The colors of an overlay and what their ends stand for.
fn show_legend(ui: &mut Ui, overlay: Overlay, range: f32) {
    let unit = overlay.unit();
    let (from, to) = match overlay {
        Overlay::Change => (format!("+{range} {unit}"), format!("−{range} {unit}")),
        _ => ("0".into(), format!("{range} {unit}")),
    };
    ui.horizontal(|ui| {
        ui.label(from);
        let (bar, _) = ui.allocate_exact_size(egui::vec2(120.0, 12.0), egui::Sense::hover());
        let steps = 30;
        for step in 0..steps {
            let at = |step: i32| bar.left() + bar.width() * step as f32 / steps as f32;
            let piece = egui::Rect::from_x_y_ranges(at(step)..=at(step + 1), bar.y_range());
            let color = Srgba::from(overlay.ramp((step as f32 + 0.5) / steps as f32));
            let [r, g, b, _] = color.to_u8_array();
            ui.painter()
                .rect_filled(piece, 0.0, egui::Color32::from_rgb(r, g, b));
        }
        ui.label(to);
    });
}
