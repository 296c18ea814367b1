//! A ready tuning panel (feature `egui`).
//!
//! Add [`EguiPlugin`](bevy_egui::EguiPlugin) and [`ErosionPanelPlugin`] to any
//! app. The panel shows whatever is there, in sections: the clock and the
//! backend; every model with a switch and all its settings, each with unit,
//! range, explanation and a way back to the default; plots and the ledger;
//! brushes and undo; views and masks; bakes under way; with feature `serialize`
//! scenes and presets, with `io` files. [`PanelSections`] takes more sections of
//! your own.
//!
//! What the panel chooses but a game must do is in resources: [`PanelBrush`]
//! makes edits where the pointer meets the ground, [`Shortcuts`] lists the
//! game's keys (F1 shows them). While [`ErosionPanel::has_pointer`], the pointer
//! is the panel's: it neither paints nor turns a camera.
#![cfg_attr(
    feature = "render",
    doc = r#"
```no_run
use bevy::prelude::*;
use bevy_erode::prelude::*;

/// Lets the player paint with the left button.
fn paint(
    pointer: Query<&Window>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    ground: TerrainQuery,
    panel: Res<ErosionPanel>,
    time: Res<Time<Real>>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut brush: ResMut<PanelBrush>,
    mut edits: MessageWriter<TerrainEdit>,
) -> Result {
    let (camera, place) = cameras.single()?;
    let at = pointer.single()?.cursor_position();
    let ray = at.and_then(|at| camera.viewport_to_world(place, at).ok());
    let hit = ray.filter(|_| !panel.has_pointer()).and_then(|ray| ground.raycast(ray, 1e5));
    let is_held = buttons.pressed(MouseButton::Left);
    let edit = brush.stroke(hit.map(|hit| hit.position), is_held, time.delta_secs());
    edits.write_batch(edit);
    Ok(())
}
```
"#
)]

mod ages;
mod bakes;
mod brush;
mod clock;
#[cfg(feature = "io")]
mod files;
mod masks;
mod models;
mod plots;
mod pointer;
#[cfg(feature = "serialize")]
mod presets;
mod rows;
#[cfg(feature = "serialize")]
mod scenes;
mod sections;
mod shortcuts;
#[cfg(feature = "serialize")]
mod status;
#[cfg(test)]
mod tests;
#[cfg(feature = "render")]
mod view;

pub use brush::{BrushTool, PanelBrush};
#[cfg(feature = "io")]
pub use files::{ExportedField, ImportedField, PanelFiles};
pub use models::show_settings;
pub use plots::{PanelPlots, Plot};
#[cfg(feature = "serialize")]
pub use presets::PanelPresets;
#[cfg(feature = "serialize")]
pub use scenes::{PanelSceneOpened, PanelScenes};
pub use sections::{PanelSection, PanelSections, PanelSide};
pub use shortcuts::Shortcuts;

use crate::models::plugin::ModelFailed;
use bevy::{ecs::system::SystemState, prelude::*};
use bevy_egui::{EguiContexts, EguiPreUpdateSet, EguiPrimaryContextPass, egui};

/// Shows the panel.
///
/// [The guide](crate::guide::panel) has an example.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErosionPanelPlugin;

impl Plugin for ErosionPanelPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ErosionPanel>()
            .init_resource::<PanelSections>()
            .init_resource::<PanelBrush>()
            .init_resource::<PanelPlots>()
            .init_resource::<masks::MaskPreview>()
            .init_resource::<bakes::BakeChoice>()
            .init_resource::<Shortcuts>()
            .add_message::<ModelFailed>()
            .add_systems(
                PreUpdate,
                // The pointer is where egui knows it to be now.
                pointer::watch_pointer.after(EguiPreUpdateSet::BeginPass),
            )
            .add_systems(Update, record_faults)
            .add_systems(PostUpdate, plots::sample_plots)
            .add_systems(EguiPrimaryContextPass, show_panel);
        #[cfg(feature = "serialize")]
        {
            app.init_resource::<PanelPresets>();
            scenes::build(app);
        }
        #[cfg(feature = "io")]
        app.init_resource::<PanelFiles>();
    }
}

/// State of the panel.
///
/// [The guide](crate::guide::panel) has an example.
#[derive(Resource, Clone, Debug)]
pub struct ErosionPanel {
    /// Whether the panel is shown.
    pub visible: bool,
    /// Whether the list of [`Shortcuts`] is shown. F1 changes it.
    pub shortcuts: bool,
    /// What is wrong with a model's settings, until they change.
    fault: Option<String>,
    pointer: pointer::PointerWatch,
}

impl Default for ErosionPanel {
    fn default() -> Self {
        Self {
            visible: true,
            shortcuts: false,
            fault: None,
            pointer: default(),
        }
    }
}

impl ErosionPanel {
    /// Whether the pointer is over the panel (or anything else of egui's), or
    /// was pressed there and is still held. A game leaves it alone then. It is
    /// known from `PreUpdate` on.
    pub fn has_pointer(&self) -> bool {
        self.pointer.is_taken()
    }

    /// Whether text is being typed into the panel. A game leaves the keys alone
    /// then.
    pub fn has_keyboard(&self) -> bool {
        self.pointer.typing
    }
}

fn record_faults(mut panel: ResMut<ErosionPanel>, mut faults: MessageReader<ModelFailed>) {
    if let Some(fault) = faults.read().last() {
        panel.fault = Some(fault.reason.clone());
    }
}

fn show_panel(world: &mut World) {
    let mut contexts = SystemState::<EguiContexts>::new(world);
    let Ok(mut contexts) = contexts.get_mut(world) else {
        return;
    };
    let Ok(context) = contexts.ctx_mut() else {
        return;
    };
    let context = context.clone();
    show(&context, world);
}

/// Shows everything in an egui context.
fn show(context: &egui::Context, world: &mut World) {
    shortcuts::show(context, world);
    if world.resource::<ErosionPanel>().visible {
        sections::show(context, world);
    }
    // Keys are the game's, but for text: Space must not press a button that Tab
    // came to.
    if !context.text_edit_focused()
        && let Some(focus) = context.memory(|memory| memory.focused())
    {
        context.memory_mut(|memory| memory.surrender_focus(focus));
    }
}
