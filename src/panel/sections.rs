//! The panel's sections and where they stand.

use super::{ages, bakes, brush, clock, masks, models, plots};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Ui};

/// Width of a window of the panel, and distance from the screen's border.
/// units: points
const WIDTH: f32 = 286.0;
const MARGIN: f32 = 8.0;
/// On a narrower screen everything stands in one window. units: points
const ROOM_FOR_TWO: f32 = 2.0 * WIDTH + 200.0;

/// On which side of the screen a section stands, where there is room for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelSide {
    /// What is simulated, and how it goes.
    #[default]
    Left,
    /// Tools of the player.
    Right,
}

/// A part of the panel under a title that opens and closes it.
#[derive(Clone, Copy, Debug)]
pub struct PanelSection {
    /// Its title, which tells it from others.
    pub title: &'static str,
    /// Where it stands.
    pub side: PanelSide,
    /// Whether it is open at first.
    pub open: bool,
    /// Shows it.
    pub show: fn(&mut Ui, &mut World),
}

impl PanelSection {
    /// A section of the right side, open at first.
    pub fn new(title: &'static str, show: fn(&mut Ui, &mut World)) -> Self {
        Self {
            title,
            side: PanelSide::Right,
            open: true,
            show,
        }
    }

    /// On the left side.
    pub fn on_the_left(self) -> Self {
        let side = PanelSide::Left;
        Self { side, ..self }
    }

    /// Closed at first.
    pub fn closed(self) -> Self {
        Self {
            open: false,
            ..self
        }
    }
}

/// All sections, in order. A game may add its own, move or remove any.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::prelude::*;
/// use bevy_erode::panel::{PanelSection, PanelSections};
///
/// fn add(mut sections: ResMut<PanelSections>) {
///     sections.0.insert(0, PanelSection::new("Village", |ui, world| {
///         ui.label(format!("{} houses", world.query::<&Mesh3d>().iter(world).count()));
///     }));
/// }
/// # App::new().add_systems(Startup, add);
/// ```
#[derive(Resource, Clone, Debug)]
pub struct PanelSections(pub Vec<PanelSection>);

impl Default for PanelSections {
    fn default() -> Self {
        let right = PanelSection::new;
        let left = |title, show| PanelSection::new(title, show).on_the_left();
        let mut sections = vec![
            left("Clock", clock::show),
            left("Models", models::show),
            left("Plots", plots::show).closed(),
            left("Ledger", plots::show_ledger).closed(),
        ];
        #[cfg(feature = "serialize")]
        sections.push(right("Scenes", super::scenes::show).closed());
        sections.push(right("Brush", brush::show));
        #[cfg(feature = "render")]
        sections.push(right("View", super::view::show).closed());
        sections.push(right("Masks", masks::show).closed());
        #[cfg(feature = "serialize")]
        sections.push(right("Presets", super::presets::show).closed());
        #[cfg(feature = "io")]
        sections.push(right("Files", super::files::show).closed());
        sections.push(right("Bakes", bakes::show).closed());
        sections.push(right("Ages", ages::show).closed());
        Self(sections)
    }
}

/// Shows all sections, in one window or two.
pub(super) fn show(context: &egui::Context, world: &mut World) {
    let sections = world.resource::<PanelSections>().0.clone();
    let of = |side| sections.iter().filter(move |section| section.side == side);
    let screen = context.content_rect();
    let room = screen.width() >= ROOM_FOR_TWO;
    let right: Vec<_> = of(PanelSide::Right).collect();
    let left: Vec<_> = match room {
        true => of(PanelSide::Left).collect(),
        // The tools come first.
        false => of(PanelSide::Right).chain(of(PanelSide::Left)).collect(),
    };
    window("Erosion", Align2::LEFT_TOP, &left, context, world);
    if room && !right.is_empty() {
        window("Tools", Align2::RIGHT_TOP, &right, context, world);
    }
}

/// A window in a corner that never outgrows the screen.
fn window(
    title: &str,
    corner: Align2,
    sections: &[&PanelSection],
    context: &egui::Context,
    world: &mut World,
) {
    let screen = context.content_rect();
    let width = WIDTH.min(screen.width() - 2.0 * MARGIN).max(1.0);
    // Frame and title are not counted by egui.
    let height = (screen.height() - 2.0 * MARGIN - 44.0).max(24.0);
    let inwards = if corner == Align2::RIGHT_TOP {
        -1.0
    } else {
        1.0
    };
    egui::Window::new(title)
        .anchor(corner, [inwards * MARGIN, MARGIN])
        .resizable(false)
        .fade_in(false)
        .default_width(width - 14.0)
        .show(context, |ui| {
            ui.set_width(width - 14.0);
            egui::ScrollArea::vertical()
                .max_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    // The scroll bar must not cover what is at the border.
                    ui.set_max_width(width - 28.0);
                    for section in sections {
                        egui::CollapsingHeader::new(section.title)
                            .default_open(section.open)
                            .show_unindented(ui, |ui| (section.show)(ui, world));
                    }
                });
        });
}
