//! Bakes of the current terrain: start, progress, cancel.

use crate::{
    bake::{Bake, BakeTask},
    models::{droplet::Droplets, meander::Rivers},
    terrain::Terrain,
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// What the next bake does.
#[derive(Resource, Clone, Debug)]
pub(super) struct BakeChoice {
    drops: u64,
}

impl Default for BakeChoice {
    fn default() -> Self {
        Self { drops: 100_000 }
    }
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let mut bakes = world.query::<(Entity, &BakeTask)>();
    let mut is_running = false;
    for (entity, bake) in bakes.iter(world) {
        is_running = true;
        let left = match bake.time_left() {
            Some(left) => format!("{:.0} %, {} s to go", bake.done() * 100.0, left.as_secs()),
            None => "starting".into(),
        };
        ui.push_id(entity, |ui| {
            ui.add(egui::ProgressBar::new(bake.done()).text(left));
            if ui.button("cancel").clicked() {
                bake.cancel();
            }
        });
    }
    if is_running {
        return;
    }
    let mut choice = world.resource::<BakeChoice>().clone();
    let slider = egui::Slider::new(&mut choice.drops, 1000..=1_000_000).logarithmic(true);
    ui.add(slider.text("drops"));
    let drops = choice.drops;
    world.insert_resource(choice);
    let Some(terrain) = world.get_resource::<Terrain>() else {
        ui.weak("no terrain");
        return;
    };
    let start = ui.button("bake droplets").on_hover_text(
        "Simulates this many droplets in the background with the settings of Droplets; \
         then replaces the terrain with the result",
    );
    if start.clicked() {
        let settings = world
            .get_resource::<Droplets>()
            .cloned()
            .unwrap_or_default();
        // A river's own water and sediment go along in the layers.
        let land = match world.get_resource::<Rivers>() {
            Some(rivers) => rivers.written_back(terrain),
            None => terrain.clone(),
        };
        let bake = Bake::new(land).droplets(settings, drops);
        world.spawn((Name::new("panel bake"), BakeTask::start(bake)));
    }
}
