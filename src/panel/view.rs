//! What is drawn: overlays, the land as it was, water, detail.

use crate::view::{Overlay, Quality, TerrainView, WaterView};
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
        ui.checkbox(&mut edited.visible, "draw water");
        let clarity = egui::Slider::new(&mut edited.clarity, 0.1..=50.0)
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(true);
        ui.add(clarity.suffix(" m").text("clarity"))
            .on_hover_text("Depth at which two thirds of the ground are hidden");
        let murk = egui::Slider::new(&mut edited.murk, 0.001..=1.0)
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(true);
        ui.add(murk.text("murk"))
            .on_hover_text("Share of sediment at which water is as brown as it gets");
        let foam = egui::Slider::new(&mut edited.foam_speed, 0.1..=20.0)
            .clamping(egui::SliderClamping::Edits);
        ui.add(foam.suffix(" m/s").text("foam"))
            .on_hover_text("Speed above which water foams");
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
        Overlay::Change => Some(&mut palette.overlay_range),
        Overlay::Depth => Some(&mut palette.depth_range),
        Overlay::Velocity => Some(&mut palette.velocity_range),
        Overlay::Discharge => Some(&mut palette.discharge_range),
        Overlay::Sediment => Some(&mut palette.sediment_range),
        Overlay::River => Some(&mut palette.fresh_range),
    };
    if let Some(range) = range {
        show_legend(ui, view.overlay, *range);
        let slider = egui::Slider::new(range, 0.01..=100.0)
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(true);
        let unit = format!(" {}", view.overlay.unit());
        ui.add(slider.suffix(unit).text("full color"));
    }
    ui.horizontal(|ui| {
        ui.label("quality");
        for quality in Quality::ALL {
            ui.selectable_value(&mut view.quality, quality, format!("{quality:?}"));
        }
    });
    let reach = egui::Slider::new(&mut view.detail.reach, 0.5..=64.0)
        .clamping(egui::SliderClamping::Edits)
        .logarithmic(true);
    ui.add(reach.suffix(" chunks").text("detail"))
        .on_hover_text("How far from the camera land is drawn in full");
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
