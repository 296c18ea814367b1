//! The game's keys, in a list.

use super::ErosionPanel;
use bevy::prelude::*;
use bevy_egui::egui;

/// Keys and what they do, for the list that F1 shows. The panel itself knows
/// only F1; fill in what your game does.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::prelude::*;
/// use bevy_erode::panel::Shortcuts;
///
/// fn list(mut shortcuts: ResMut<Shortcuts>) {
///     shortcuts.extend([("Space", "pause"), ("Ctrl+Z", "undo")]);
/// }
/// # App::new().add_systems(Startup, list);
/// ```
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
pub struct Shortcuts(pub Vec<(String, String)>);

impl Default for Shortcuts {
    fn default() -> Self {
        Self(vec![("F1".into(), "show or hide this list".into())])
    }
}

impl Shortcuts {
    /// Adds keys and what they do.
    pub fn extend<'a>(&mut self, more: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let more = more.into_iter();
        self.0
            .extend(more.map(|(keys, action)| (keys.to_owned(), action.to_owned())));
    }
}

/// Shows the list if it is wanted.
pub(super) fn show(context: &egui::Context, world: &mut World) {
    let asked = context.input(|input| input.key_pressed(egui::Key::F1));
    let mut panel = world.resource_mut::<ErosionPanel>();
    if asked {
        panel.shortcuts = !panel.shortcuts;
    }
    let mut open = panel.shortcuts;
    if !open {
        return;
    }
    let screen = context.content_rect();
    let shortcuts = world.resource::<Shortcuts>();
    egui::Window::new("Keys")
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .open(&mut open)
        .collapsible(false)
        .resizable(false)
        .fade_in(false)
        .show(context, |ui| {
            ui.set_max_width((screen.width() - 30.0).max(1.0));
            egui::ScrollArea::vertical()
                .max_height((screen.height() - 60.0).max(24.0))
                .show(ui, |ui| {
                    egui::Grid::new("keys")
                        .num_columns(2)
                        .striped(true)
                        .show(ui, |ui| {
                            for (keys, action) in &shortcuts.0 {
                                ui.strong(keys);
                                ui.label(action);
                                ui.end_row();
                            }
                        });
                });
        });
    world.resource_mut::<ErosionPanel>().shortcuts = open;
}
