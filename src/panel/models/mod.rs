//! The models: a switch and all settings of each, from the descriptions at their
//! fields ([`Setting`]).
//!
//! A new model needs one line in [`MODELS`]. Rivers are entities, of which there
//! may be several.

mod rivers;
#[cfg(test)]
mod tests;

use super::{ErosionPanel, rows::show_rows};
use crate::{
    forcing::{Evaporation, Rain},
    models::{
        droplet::Droplets, lava::Lava, pipe::PipeModel, shallow_water::ShallowWater,
        thermal::Thermal,
    },
    settings::Setting,
};
use bevy::{
    ecs::component::Mutable,
    prelude::*,
    reflect::{Typed, structs::Struct},
};
use bevy_egui::egui::{self, Ui, collapsing_header::CollapsingState};

/// All models, in the order in which they are shown, and whether each is a water
/// model, of which only one can run. This is the panel's only list of models.
const MODELS: &[Model] = &[
    Model::of::<Rain>(false),
    Model::of::<Evaporation>(false),
    Model::of::<Droplets>(false),
    Model::of::<PipeModel>(true),
    Model::of::<ShallowWater>(true),
    Model::of::<Lava>(false),
    Model::of::<Thermal>(false),
];

/// Settings that the panel can show.
trait Settings: Default + Clone + PartialEq + Struct + Typed {}

impl<S: Default + Clone + PartialEq + Struct + Typed> Settings for S {}

/// A line of the table of models.
#[derive(Clone, Copy)]
struct Model {
    is_water: bool,
    remove: fn(&mut World),
    insert: fn(&mut World),
    show: fn(Model, &mut Ui, &mut World),
}

impl Model {
    const fn of<S: Settings + Resource<Mutability = Mutable>>(is_water: bool) -> Self {
        Self {
            is_water,
            remove: |world| {
                world.remove_resource::<S>();
            },
            insert: |world| {
                world.init_resource::<S>();
            },
            show: show_model::<S>,
        }
    }

    /// Turns the model on with its defaults, or off. One water model takes the
    /// place of the other in the same frame, so that the water stays.
    fn turn(self, world: &mut World, on: bool) {
        if !on {
            (self.remove)(world);
            return;
        }
        if self.is_water {
            for other in MODELS.iter().filter(|other| other.is_water) {
                (other.remove)(world);
            }
        }
        (self.insert)(world);
        world.resource_mut::<ErosionPanel>().fault = None;
    }
}

/// All models below each other.
pub(super) fn show(ui: &mut Ui, world: &mut World) {
    for model in MODELS {
        (model.show)(*model, ui, world);
    }
    rivers::show(ui, world);
    if let Some(fault) = &world.resource::<ErosionPanel>().fault {
        ui.colored_label(egui::Color32::LIGHT_RED, fault);
    }
}

/// The title of settings, and what their model does.
fn title_of<S: Settings>() -> (String, &'static str) {
    let type_name = S::short_type_path();
    match Setting::of::<S>() {
        Some(setting) => (setting.label_or(type_name), setting.explanation()),
        None => (type_name.into(), ""),
    }
}

/// A model's switch and settings. Settings are only marked as changed when the
/// user changes them.
fn show_model<S: Settings + Resource<Mutability = Mutable>>(
    model: Model,
    ui: &mut Ui,
    world: &mut World,
) {
    let (title, about) = title_of::<S>();
    let id = ui.make_persistent_id(&title);
    let state = CollapsingState::load_with_default_open(ui.ctx(), id, false);
    let header = state.show_header(ui, |ui| {
        let mut on = world.contains_resource::<S>();
        let switch = ui.checkbox(&mut on, title).on_hover_text(about);
        if switch.changed() {
            model.turn(world, on);
        }
    });
    header.body(|ui| {
        let Some(mut settings) = world.get_resource_mut::<S>() else {
            ui.weak("off");
            return;
        };
        if let Some(edited) = edit(ui, &*settings) {
            *settings = edited;
            // If the settings are still wrong, the error is reported again.
            world.resource_mut::<ErosionPanel>().fault = None;
        }
    });
}

/// Shows a row for every described field ([`Setting`]) of settings, such as those
/// of a game's own model, with unit, range, explanation and a way back to the
/// default. Returns whether the user changed one.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::{panel, prelude::*, settings::Setting};
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

/// All settings of a model. Returns them if the user changed one.
fn edit<S: Settings>(ui: &mut Ui, settings: &S) -> Option<S> {
    let (mut edited, default) = (settings.clone(), S::default());
    let reset = ui.add_enabled(edited != default, egui::Button::new("reset all"));
    if reset
        .on_hover_text("All settings to their defaults")
        .clicked()
    {
        edited = S::default();
    }
    show_rows(ui, |rows| rows.all(&mut edited, Some(&default)));
    (edited != *settings).then_some(edited)
}
