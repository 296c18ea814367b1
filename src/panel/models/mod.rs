//! The models: a switch and all settings of each.
//!
//! To add one, implement [`ModelSettings`] for its settings in a file here and
//! add a line to [`MODELS`]. Rivers are entities, of which there may be several.

mod droplets;
mod lava;
mod rivers;
#[cfg(test)]
mod tests;
mod thermal;
mod water;
mod weather;

use super::{ErosionPanel, rows::Rows};
use crate::{
    forcing::{Evaporation, Rain},
    models::{
        ErosionModels, ModelEntry, droplet::Droplets, lava::Lava, pipe::PipeModel,
        shallow_water::ShallowWater, thermal::Thermal,
    },
};
use bevy::{ecs::component::Mutable, prelude::*};
use bevy_egui::egui::{self, Ui, collapsing_header::CollapsingState};

/// All models, in the order in which they are shown.
const MODELS: &[Model] = &[
    Model::of::<Rain>(),
    Model::of::<Evaporation>(),
    Model::of::<Droplets>(),
    Model::of::<PipeModel>(),
    Model::of::<ShallowWater>(),
    Model::of::<Lava>(),
    Model::of::<Thermal>(),
];

/// What the panel knows of a model's settings.
pub(super) trait ModelSettings: Default + Clone + PartialEq {
    /// The model's name for people.
    const NAME: &'static str;
    /// What it does, for the tooltip.
    const ABOUT: &'static str;

    /// Shows every setting.
    fn show(&mut self, rows: &mut Rows);
}

/// A line of the table of models.
struct Model {
    show: fn(&mut Ui, &mut World),
}

impl Model {
    const fn of<M: ModelSettings + Resource<Mutability = Mutable>>() -> Self {
        Self {
            show: show_model::<M>,
        }
    }
}

/// All models below each other.
pub(super) fn show(ui: &mut Ui, world: &mut World) {
    for model in MODELS {
        (model.show)(ui, world);
    }
    rivers::show(ui, world);
    if let Some(fault) = &world.resource::<ErosionPanel>().fault {
        ui.colored_label(egui::Color32::LIGHT_RED, fault);
    }
}

/// A model's switch and settings. Settings are only marked as changed when the
/// user changes them.
fn show_model<M: ModelSettings + Resource<Mutability = Mutable>>(ui: &mut Ui, world: &mut World) {
    let id = ui.make_persistent_id(M::NAME);
    let state = CollapsingState::load_with_default_open(ui.ctx(), id, false);
    let header = state.show_header(ui, |ui| {
        let mut on = world.contains_resource::<M>();
        let switch = ui.checkbox(&mut on, M::NAME).on_hover_text(M::ABOUT);
        if switch.changed() {
            turn::<M>(world, on);
        }
    });
    header.body(|ui| {
        let Some(mut model) = world.get_resource_mut::<M>() else {
            ui.weak("off");
            return;
        };
        if let Some(edited) = edit(ui, &*model) {
            *model = edited;
            // It will be said again if it still holds.
            world.resource_mut::<ErosionPanel>().fault = None;
        }
    });
}

/// All settings of a model. Returns them if the user changed one.
fn edit<M: ModelSettings>(ui: &mut Ui, settings: &M) -> Option<M> {
    let mut edited = settings.clone();
    let reset = ui.add_enabled(edited != M::default(), egui::Button::new("reset all"));
    if reset
        .on_hover_text("All settings to their defaults")
        .clicked()
    {
        edited = M::default();
    }
    edited.show(&mut Rows {
        ui,
        #[cfg(test)]
        path: String::new(),
        #[cfg(test)]
        shown: &mut Vec::new(),
    });
    (edited != *settings).then_some(edited)
}

/// Turns a model on with its defaults, or off. One water model takes the place
/// of the other in the same frame, so that the water stays.
fn turn<M: ModelSettings + Resource<Mutability = Mutable>>(world: &mut World, on: bool) {
    if !on {
        world.remove_resource::<M>();
        return;
    }
    let models = ErosionModels::of(world);
    if models
        .with_settings::<M>()
        .is_some_and(ModelEntry::moves_water)
    {
        for other in models.water_models() {
            other.remove_from(world);
        }
    }
    world.init_resource::<M>();
    world.resource_mut::<ErosionPanel>().fault = None;
}
