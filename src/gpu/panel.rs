//! The tuning panel's choice of the backend.

use super::{ErosionBackend, ErosionBackendStatus};
use bevy::prelude::*;
use bevy_egui::egui::Ui;

/// Who runs the models, and the choice of it.
pub(crate) fn show_backend(ui: &mut Ui, world: &mut World) {
    let Some(status) = world.get_resource::<ErosionBackendStatus>().cloned() else {
        return;
    };
    let Some(mut backend) = world.get_resource_mut::<ErosionBackend>() else {
        return;
    };
    let mut choice = *backend;
    ui.horizontal_wrapped(|ui| {
        ui.label("backend");
        for (value, name) in [
            (ErosionBackend::Auto, "auto"),
            (ErosionBackend::Cpu, "CPU"),
            (ErosionBackend::Gpu, "GPU"),
        ] {
            ui.selectable_value(&mut choice, value, name);
        }
        let now = match status.on_gpu {
            true => "running on the GPU",
            false => "running on the CPU",
        };
        ui.label(now)
            .on_hover_text(status.adapter.as_deref().unwrap_or("no graphics adapter"));
    });
    for lack in &status.missing {
        ui.small(lack);
    }
    for model in &status.on_host {
        ui.small(format!("{model}: run by the CPU"));
    }
    backend.set_if_neq(choice);
}
