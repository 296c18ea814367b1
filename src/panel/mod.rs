//! A ready tuning panel (feature `egui`): clock, models and view in one window.
//!
//! Add [`EguiPlugin`](bevy_egui::EguiPlugin) and [`ErosionPanelPlugin`] to any
//! app. The panel shows whatever is there: models that are not inserted can be
//! switched on, and everything a model can be told has a slider with its unit,
//! an explanation and a way back to the default. It is a floating window, so
//! pointer events over it are egui's and never reach the game.

mod settings;

use crate::{
    forcing::{Evaporation, Rain},
    models::{
        droplet::Droplets, pipe::PipeModel, plugin::ErosionFault, shallow_water::ShallowWater,
        thermal::Thermal,
    },
    schedule::{Erosion, ErosionDiagnostics, ErosionPace, ErosionTime},
    terrain::Terrain,
};
use bevy::{diagnostic::DiagnosticsStore, prelude::*};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

/// Shows the panel.
pub struct ErosionPanelPlugin;

impl Plugin for ErosionPanelPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ErosionPanel>()
            .add_message::<ErosionFault>()
            .add_systems(Update, note_faults)
            .add_systems(EguiPrimaryContextPass, show_panel);
    }
}

/// State of the panel.
#[derive(Resource, Clone, Debug)]
pub struct ErosionPanel {
    /// Whether the panel is shown.
    pub visible: bool,
    /// What is wrong with a model's settings, until they change.
    fault: Option<String>,
}

impl Default for ErosionPanel {
    fn default() -> Self {
        Self {
            visible: true,
            fault: None,
        }
    }
}

fn note_faults(mut panel: ResMut<ErosionPanel>, mut faults: MessageReader<ErosionFault>) {
    if let Some(fault) = faults.read().last() {
        panel.fault = Some(fault.reason.clone());
    }
}

fn show_panel(world: &mut World) {
    if !world.resource::<ErosionPanel>().visible {
        return;
    }
    let mut system_state = bevy::ecs::system::SystemState::<EguiContexts>::new(world);
    let Ok(mut contexts) = system_state.get_mut(world) else {
        return;
    };
    let Ok(context) = contexts.ctx_mut() else {
        return;
    };
    let context = context.clone();
    egui::Window::new("Erosion")
        .anchor(egui::Align2::LEFT_TOP, [10.0, 10.0])
        .default_width(290.0)
        .vscroll(true)
        .show(&context, |ui| {
            show_clock(ui, world);
            #[cfg(feature = "gpu")]
            show_backend(ui, world);
            if let Some(fault) = &world.resource::<ErosionPanel>().fault {
                ui.colored_label(egui::Color32::LIGHT_RED, fault);
            }
            show_model::<Rain>(ui, world, "Rain", false, settings::rain);
            show_model::<Evaporation>(ui, world, "Evaporation", false, settings::evaporation);
            show_model::<Droplets>(ui, world, "Droplets", true, settings::droplets);
            show_model::<PipeModel>(ui, world, "Water (pipe model)", false, settings::pipe);
            show_model::<ShallowWater>(
                ui,
                world,
                "Water (implicit)",
                false,
                settings::shallow_water,
            );
            show_model::<Thermal>(ui, world, "Thermal weathering", false, settings::thermal);
            #[cfg(feature = "render")]
            show_view(ui, world);
            show_ledger(ui, world);
        });
}

fn show_clock(ui: &mut egui::Ui, world: &mut World) {
    let Some(mut time) = world.get_resource_mut::<Time<Erosion>>() else {
        return;
    };
    ui.horizontal(|ui| {
        let label = if time.is_paused() {
            "▶ run"
        } else {
            "⏸ pause"
        };
        if ui.button(label).clicked() {
            if time.is_paused() {
                time.unpause();
            } else {
                time.pause();
            }
        }
        if ui
            .button("step")
            .on_hover_text("Run a single step")
            .clicked()
        {
            time.pause();
            time.single_step(1);
        }
        ui.label(format!(
            "{:.1} s, {} steps",
            time.elapsed_secs(),
            time.steps()
        ));
    });
    let mut speed = time.speed();
    let slider = egui::Slider::new(&mut speed, 0.0..=100.0)
        .logarithmic(true)
        .text("speed");
    let slider = slider.smallest_positive(0.1);
    if ui
        .add(slider)
        .on_hover_text("Erosion seconds per second")
        .changed()
    {
        time.set_speed(speed);
    }
    if let Some(mut pace) = world.get_resource_mut::<ErosionPace>()
        && let ErosionPace::Budget(ms) = *pace
    {
        let mut new = ms;
        let slider = egui::Slider::new(&mut new, 0.5..=50.0).text("budget, ms a frame");
        ui.add(slider)
            .on_hover_text("Time that erosion may take; beyond it erosion slows down");
        if new != ms {
            *pace = ErosionPace::Budget(new);
        }
    }
    let diagnostics = world.get_resource::<DiagnosticsStore>();
    let value = |path| diagnostics.and_then(|store| store.get(path)?.smoothed());
    if let (Some(ms), Some(behind)) = (
        value(&ErosionDiagnostics::STEP_MS),
        value(&ErosionDiagnostics::BEHIND),
    ) {
        let slow = if behind > 1e-3 { ", slowed down" } else { "" };
        ui.label(format!("{ms:.2} ms a step{slow}"));
    }
}

/// Who runs the models, and the choice of it.
#[cfg(feature = "gpu")]
fn show_backend(ui: &mut egui::Ui, world: &mut World) {
    use crate::gpu::{ErosionBackend, ErosionBackendStatus};
    let Some(status) = world.get_resource::<ErosionBackendStatus>().cloned() else {
        return;
    };
    let Some(mut backend) = world.get_resource_mut::<ErosionBackend>() else {
        return;
    };
    let mut choice = *backend;
    ui.horizontal(|ui| {
        ui.label("run by");
        for (value, name) in [
            (ErosionBackend::Auto, "auto"),
            (ErosionBackend::Cpu, "CPU"),
            (ErosionBackend::Gpu, "GPU"),
        ] {
            ui.selectable_value(&mut choice, value, name);
        }
        let now = if status.on_gpu {
            "GPU runs"
        } else {
            "CPU runs"
        };
        ui.label(now)
            .on_hover_text(status.adapter.as_deref().unwrap_or("no graphics adapter"));
    });
    for lack in &status.missing {
        ui.small(lack);
    }
    for model in &status.on_host {
        ui.small(format!("{model}: the host runs it"));
    }
    if choice != *backend {
        *backend = choice;
    }
}

/// A model's switch and settings. Settings are only marked as changed when the
/// user changes them.
fn show_model<
    M: Resource<Mutability = bevy::ecs::component::Mutable> + Default + Clone + PartialEq,
>(
    ui: &mut egui::Ui,
    world: &mut World,
    name: &str,
    open: bool,
    show: fn(&mut egui::Ui, &mut M),
) {
    egui::CollapsingHeader::new(name)
        .default_open(open)
        .show(ui, |ui| {
            let mut on = world.contains_resource::<M>();
            if ui.checkbox(&mut on, "on").changed() {
                if on {
                    world.init_resource::<M>();
                } else {
                    world.remove_resource::<M>();
                }
            }
            let Some(mut model) = world.get_resource_mut::<M>() else {
                return;
            };
            let mut edited = model.clone();
            if ui.button("reset to defaults").clicked() {
                edited = M::default();
            }
            show(ui, &mut edited);
            if edited != *model {
                *model = edited;
                // It will be said again if it still holds.
                world.resource_mut::<ErosionPanel>().fault = None;
            }
        });
}

#[cfg(feature = "render")]
fn show_view(ui: &mut egui::Ui, world: &mut World) {
    use crate::view::{Overlay, TerrainView, WaterView};
    if let Some(mut view) = world.get_resource_mut::<TerrainView>() {
        let mut edited = (view.overlay, view.before);
        ui.horizontal_wrapped(|ui| {
            ui.label("show");
            for overlay in Overlay::ALL {
                ui.selectable_value(&mut edited, (overlay, false), overlay.name());
            }
            ui.selectable_value(&mut edited, (Overlay::None, true), "before");
        });
        if edited != (view.overlay, view.before) {
            (view.overlay, view.before) = edited;
        }
        if view.overlay != Overlay::None {
            show_legend(ui, view.overlay, view.palette.range(view.overlay));
        }
    }
    if let Some(mut view) = world.get_resource_mut::<WaterView>() {
        let mut visible = view.visible;
        if ui.checkbox(&mut visible, "draw water").changed() {
            view.visible = visible;
        }
    }
}

/// The colours of an overlay and what their ends stand for.
#[cfg(feature = "render")]
fn show_legend(ui: &mut egui::Ui, overlay: crate::view::Overlay, range: f32) {
    use crate::view::Overlay;
    let unit = overlay.unit();
    let (from, to) = match overlay {
        Overlay::Change => (format!("+{range} {unit}"), format!("−{range} {unit}")),
        _ => ("0".into(), format!("{range} {unit}")),
    };
    ui.horizontal(|ui| {
        ui.label(from);
        let (bar, _) = ui.allocate_exact_size(egui::vec2(140.0, 12.0), egui::Sense::hover());
        let steps = 35;
        for step in 0..steps {
            let at = |step: i32| bar.left() + bar.width() * step as f32 / steps as f32;
            let piece = egui::Rect::from_x_y_ranges(at(step)..=at(step + 1), bar.y_range());
            let colour = Srgba::from(overlay.ramp((step as f32 + 0.5) / steps as f32));
            let [r, g, b, _] = colour.to_u8_array();
            let colour = egui::Color32::from_rgb(r, g, b);
            ui.painter().rect_filled(piece, 0.0, colour);
        }
        ui.label(to);
    });
}

fn show_ledger(ui: &mut egui::Ui, world: &mut World) {
    let Some(terrain) = world.get_resource::<Terrain>() else {
        return;
    };
    let size = terrain.size();
    ui.separator();
    ui.label(format!(
        "{} × {} cells of {} m",
        size.x,
        size.y,
        terrain.cell_size()
    ));
    // Running terms only: summing up every cell each frame would cost too much.
    let solids = terrain.account.solids;
    ui.label(format!(
        "moved {:.0} m³, left {:.0} m³",
        solids.moved, solids.left
    ));
    let drift = world
        .get_resource::<DiagnosticsStore>()
        .and_then(|store| store.get(&ErosionDiagnostics::MASS_DRIFT)?.value());
    if let Some(drift) = drift {
        ui.label(format!("mass drift {drift:.1e} of the total"));
    }
}
