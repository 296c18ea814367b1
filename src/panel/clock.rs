//! The clock, the time budget, and the backend that runs the models.

use crate::schedule::{Erosion, ErosionDiagnostics, ErosionPace, ErosionTime};
use bevy::{diagnostic::DiagnosticsStore, prelude::*};
use bevy_egui::egui::{self, Ui};
use core::time::Duration;

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    show_clock(ui, world);
    show_pace(ui, world);
    #[cfg(feature = "gpu")]
    crate::gpu::show_backend(ui, world);
}

fn show_clock(ui: &mut Ui, world: &mut World) {
    let Some(mut time) = world.get_resource_mut::<Time<Erosion>>() else {
        ui.label("Add `ErosionPlugin` to the app.");
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let label = match time.is_paused() {
            true => "▶ run",
            false => "⏸ pause",
        };
        if ui.button(label).clicked() {
            match time.is_paused() {
                true => time.unpause(),
                false => time.pause(),
            }
        }
        let step = ui.button("step").on_hover_text("Run a single step");
        if step.clicked() {
            time.pause();
            time.single_step(1);
        }
        let elapsed = time.elapsed_secs();
        ui.label(format!("{elapsed:.1} s, {} steps", time.steps()));
    });
    let mut speed = time.speed();
    let slider = egui::Slider::new(&mut speed, 0.0..=100.0)
        .clamping(egui::SliderClamping::Edits)
        .logarithmic(true)
        .smallest_positive(0.1)
        .text("speed");
    let slider = ui.add(slider).on_hover_text("Erosion seconds per second");
    if slider.changed() {
        time.set_speed(speed);
    }
    let mut ms = time.step_size().as_secs_f32() * 1000.0;
    let slider = egui::Slider::new(&mut ms, 1.0..=1000.0)
        .clamping(egui::SliderClamping::Edits)
        .logarithmic(true)
        .suffix(" ms")
        .text("step");
    let slider = ui.add(slider).on_hover_text("Erosion time of one step");
    if slider.changed()
        && let Ok(step) = Duration::try_from_secs_f32(ms / 1000.0)
    {
        time.set_step_size(step);
    }
}

fn show_pace(ui: &mut Ui, world: &mut World) {
    if let Some(mut pace) = world.get_resource_mut::<ErosionPace>() {
        let mut new = *pace;
        match &mut new {
            ErosionPace::Budget(ms) => {
                let slider = egui::Slider::new(ms, 0.5..=50.0)
                    .clamping(egui::SliderClamping::Edits)
                    .suffix(" ms")
                    .text("budget");
                ui.add(slider).on_hover_text(
                    "Time that erosion may take in a frame; beyond it erosion slows down",
                );
            }
            ErosionPace::StepsPerTick(steps) => {
                let slider = egui::Slider::new(steps, 0..=64)
                    .clamping(egui::SliderClamping::Edits)
                    .text("steps per tick");
                ui.add(slider)
                    .on_hover_text("Exactly this many steps per tick, however long they take");
            }
        }
        pace.set_if_neq(new);
    }
    let diagnostics = world.get_resource::<DiagnosticsStore>();
    let value = |path| diagnostics.and_then(|store| store.get(path)?.smoothed());
    if let (Some(ms), Some(time_lost)) = (
        value(&ErosionDiagnostics::STEP_MS),
        value(&ErosionDiagnostics::TIME_LOST),
    ) {
        let slow = if time_lost > 1e-3 {
            ", slowed down"
        } else {
            ""
        };
        ui.label(format!("{ms:.2} ms per step{slow}"));
    }
}
