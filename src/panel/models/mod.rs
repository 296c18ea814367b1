//! The models: a switch and all settings of each, from the descriptions at their
//! fields ([`Setting`]).
//!
//! Which models there are, [`ErosionModels`] says: this crate's and those that other
//! crates added. Rivers are entities, of which there may be several.

mod rivers;
#[cfg(test)]
mod tests;

use super::{ErosionPanel, rows::show_rows};
use crate::{
    models::{AnyModel, ErosionModels, ModelEntry},
    settings::Setting,
};
use bevy::{
    prelude::*,
    reflect::{ReflectMut, TypeInfo, Typed, structs::Struct},
};
use bevy_egui::egui::{self, Ui, collapsing_header::CollapsingState};

/// Settings that the panel can show.
trait Settings: Default + Clone + PartialEq + Struct + Typed {}

impl<S: Default + Clone + PartialEq + Struct + Typed> Settings for S {}

/// All models below each other.
pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let models = ErosionModels::of(world);
    for entry in models.iter() {
        show_model(entry, &models, ui, world);
    }
    rivers::show(ui, world);
    if let Some(fault) = &world.resource::<ErosionPanel>().fault {
        ui.colored_label(egui::Color32::LIGHT_RED, fault);
    }
}

/// The title of settings, and what their model does.
fn title_of(info: &'static TypeInfo) -> (String, &'static str) {
    let type_name = info.type_path_table().short_path();
    match Setting::of_type(info) {
        Some(setting) => (setting.label_or(type_name), setting.explanation()),
        None => (type_name.into(), ""),
    }
}

/// Turns a model on with its defaults, or off. One water model takes the place of
/// the other in the same frame, so that the water stays.
fn turn(entry: &ModelEntry, models: &ErosionModels, world: &mut World, on: bool) {
    if !on {
        entry.remove_from(world);
        return;
    }
    if entry.moves_water() {
        for other in models.water_models() {
            other.remove_from(world);
        }
    }
    entry.default_model().insert(world);
    world.resource_mut::<ErosionPanel>().fault = None;
}

/// A model's switch and settings. Settings are only marked as changed when the
/// user changes them.
fn show_model(entry: &ModelEntry, models: &ErosionModels, ui: &mut Ui, world: &mut World) {
    let default = entry.default_model();
    let info = default.settings().get_represented_type_info();
    let (title, about) = info.map_or_else(|| (entry.name().into(), ""), title_of);
    let id = ui.make_persistent_id(&title);
    let state = CollapsingState::load_with_default_open(ui.ctx(), id, false);
    let header = state.show_header(ui, |ui| {
        let mut on = entry.is_in(world);
        let switch = ui.checkbox(&mut on, title).on_hover_text(about);
        if switch.changed() {
            turn(entry, models, world, on);
        }
    });
    header.body(|ui| {
        let Some(current) = entry.capture(world) else {
            ui.weak("off");
            return;
        };
        if let Some(edited) = edit_model(ui, &current, &default) {
            edited.insert(world);
            // If the settings are still wrong, the error is reported again.
            world.resource_mut::<ErosionPanel>().fault = None;
        }
    });
}

/// All settings of a model. Returns the model with them if the user changed one.
fn edit_model(ui: &mut Ui, current: &AnyModel, default: &AnyModel) -> Option<AnyModel> {
    let mut edited = current.clone();
    if show_reset(ui, edited != *default) {
        edited = default.clone();
    }
    if let ReflectMut::Struct(settings) = edited.settings_mut().reflect_mut() {
        let usual = default.settings().as_partial_reflect();
        show_rows(ui, |rows| rows.all(settings, Some(usual)));
    }
    (edited != *current).then_some(edited)
}

/// The button that resets all settings. Returns whether it was clicked.
fn show_reset(ui: &mut Ui, is_changed: bool) -> bool {
    let reset = ui.add_enabled(is_changed, egui::Button::new("reset all"));
    reset
        .on_hover_text("All settings to their defaults")
        .clicked()
}

/// Shows a row for every described field ([`Setting`]) of settings, such as those
/// of a game's own model, with unit, range, explanation and a way back to the
/// default. Returns whether the user changed one.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::{panel, prelude::*, settings::Setting};
/// use bevy_erode::panel::{PanelSection, PanelSections};
///
/// #[derive(Resource, Reflect, Clone, Debug, Default, PartialEq)]
/// struct Frost {
///     #[reflect(@Setting::new("m/s", 0.0..=0.01).about("Rock broken in a second"))]
///     rate: f32,
/// }
///
/// fn add(mut sections: ResMut<PanelSections>) {
///     sections.0.push(PanelSection::new("Frost", |ui, world| {
///         let mut frost = world.resource_mut::<Frost>();
///         let mut edited = frost.clone();
///         if panel::show_settings(ui, &mut edited) {
///             *frost = edited;
///         }
///     }));
/// }
/// # App::new().init_resource::<Frost>().add_systems(Startup, add);
/// ```
pub fn show_settings<S>(ui: &mut Ui, settings: &mut S) -> bool
where
    S: Default + Clone + PartialEq + Struct + Typed,
{
    match edit(ui, settings) {
        Some(edited) => {
            *settings = edited;
            true
        }
        None => false,
    }
}

/// All settings of one kind. Returns them if the user changed one.
fn edit<S: Settings>(ui: &mut Ui, settings: &S) -> Option<S> {
    let (mut edited, default) = (settings.clone(), S::default());
    if show_reset(ui, edited != default) {
        edited = S::default();
    }
    show_rows(ui, |rows| rows.all(&mut edited, Some(&default)));
    (edited != *settings).then_some(edited)
}
