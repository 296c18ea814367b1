//! Settings of every `MeanderingRiver`.

use super::{edit, title_of};
use crate::{models::meander::MeanderingRiver, panel::ErosionPanel};
use bevy::{prelude::*, reflect::Typed};
use bevy_egui::egui::{CollapsingHeader, Ui};

/// All rivers below each other.
pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let (name, about) = title_of(MeanderingRiver::type_info());
    let mut rivers: Vec<Entity> = world
        .query_filtered::<Entity, With<MeanderingRiver>>()
        .iter(world)
        .collect();
    rivers.sort();
    for (number, entity) in rivers.into_iter().enumerate() {
        let Some(river) = world.get::<MeanderingRiver>(entity) else {
            continue;
        };
        let title = format!("{name} {}", number + 1);
        let section = CollapsingHeader::new(title).id_salt(entity);
        let shown = section.show(ui, |ui| edit(ui, river));
        shown.header_response.on_hover_text(about);
        if let Some(edited) = shown.body_returned.flatten() {
            world.entity_mut(entity).insert(edited);
            world.resource_mut::<ErosionPanel>().fault = None;
        }
    }
}
