//! Ages: keeps snapshots while the land ages, and shows any age of it.

use crate::models::ageing::{AgeTimeline, ShowAge};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// The age that the slider stands at, while it is not at the newest. units: yr
#[derive(Resource, Default)]
pub(super) struct ShownAge(Option<f64>);

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let mut keeps = world.contains_resource::<AgeTimeline>();
    let switch = ui
        .checkbox(&mut keeps, "keep ages")
        .on_hover_text("Keep snapshots while Ageing runs, to go back and forth in time");
    if switch.changed() {
        match keeps {
            true => world.insert_resource(AgeTimeline::default()),
            false => {
                world.remove_resource::<AgeTimeline>();
            }
        }
        world.insert_resource(ShownAge::default());
    }
    let Some(timeline) = world.get_resource::<AgeTimeline>() else {
        return;
    };
    let (count, oldest) = (timeline.ages().len(), timeline.oldest());
    let megabytes = timeline.bytes() as f64 / f64::from(1 << 20);
    ui.label(format!("{count} snapshots, {megabytes:.0} MiB"));
    if oldest <= 0.0 {
        ui.label("turn Ageing on");
        return;
    }
    let shown = world.get_resource_or_init::<ShownAge>().0;
    let mut years = shown.unwrap_or(oldest).min(oldest);
    let slider = egui::Slider::new(&mut years, 0.0..=oldest)
        .suffix(" yr")
        .fixed_decimals(0);
    if ui.add(slider).changed() {
        world.resource_mut::<ShownAge>().0 = (years < oldest).then_some(years);
        world.write_message(ShowAge { years });
    }
}
