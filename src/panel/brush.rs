//! The brush that edits the terrain, and undo.

use super::rows::show_rows;
use crate::forcing::edits::{
    Brush, BrushShape, EditAction, Falloff, Fill, HeightStamp, HistoryRequest, Matter, TerrainEdit,
    TerrainHistory,
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// What a brush does to the ground: every action of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrushTool {
    /// Adds ground.
    Raise,
    /// Takes ground.
    Lower,
    /// Evens bumps out.
    Smooth,
    /// Brings the ground to the height at which the stroke begins.
    Flatten,
    /// Builds a ramp from where the stroke begins to the pointer.
    Ramp,
    /// Adds bumps and hollows, others in each stroke.
    Noise,
    /// Adds soil, rock, water or lava.
    Add(Matter),
    /// Takes soil, rock, water or lava.
    Take(Matter),
    /// Brings hardness to a value.
    Harden,
    /// Presses a crater into the ground.
    Crater,
}

impl BrushTool {
    /// All of them, in the order of the panel.
    pub const ALL: [Self; 16] = [
        Self::Raise,
        Self::Lower,
        Self::Smooth,
        Self::Flatten,
        Self::Ramp,
        Self::Noise,
        Self::Add(Matter::Soil),
        Self::Take(Matter::Soil),
        Self::Add(Matter::Rock),
        Self::Take(Matter::Rock),
        Self::Add(Matter::Water),
        Self::Take(Matter::Water),
        Self::Add(Matter::Lava),
        Self::Take(Matter::Lava),
        Self::Harden,
        Self::Crater,
    ];

    /// Its label.
    pub fn name(self) -> String {
        match self {
            Self::Add(matter) => format!("add {matter:?}").to_lowercase(),
            Self::Take(matter) => format!("take {matter:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// How much it does in a second at first, how much at most, and the unit.
    fn strength(self) -> (f32, f32, &'static str) {
        match self {
            Self::Smooth => (240.0, 2000.0, "m²/s"),
            Self::Flatten | Self::Ramp => (36.0, 200.0, "m/s"),
            Self::Harden => (2.0, 20.0, "1/s"),
            _ => (12.0, 100.0, "m/s"),
        }
    }

    /// Whether it adds ground that may be soil or rock.
    fn fills(self) -> bool {
        matches!(
            self,
            Self::Raise | Self::Flatten | Self::Ramp | Self::Noise | Self::Crater
        )
    }
}

/// The brush that the panel shows. A game asks it for edits by
/// [`stroke`](Self::stroke), where the pointer meets the ground.
///
/// [The guide](crate::guide::panel) has an example.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct PanelBrush {
    /// What it does; `None` leaves the pointer to the game.
    pub tool: Option<BrushTool>,
    /// Shape, radius and falloff.
    pub brush: Brush,
    /// What it adds, where it adds ground.
    pub fill: Fill,
    /// Digging adds to a stock, and only what is in it can be added.
    pub by_hand: bool,
    /// What [`BrushTool::Harden`] brings hardness to, 0 to 1.
    pub hardness: f32,
    /// Distance of bumps of [`BrushTool::Noise`], as a share of the radius.
    pub bump_size: f32,
    strengths: [f32; BrushTool::ALL.len()],
    stroke: Option<Stroke>,
    strokes: u64,
    /// The button was pressed before the pointer came to the ground.
    blocked: bool,
}

/// A stroke under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stroke {
    number: u64,
    began: Vec3,
    /// Where it was in the frame before, if it was on the ground.
    last: Option<Vec3>,
}

impl Default for PanelBrush {
    fn default() -> Self {
        Self {
            tool: None,
            brush: Brush::circle(30.0),
            fill: Fill::Soil,
            by_hand: false,
            hardness: 1.0,
            bump_size: 0.6,
            strengths: BrushTool::ALL.map(|tool| tool.strength().0),
            stroke: None,
            strokes: 0,
            blocked: false,
        }
    }
}

/// Longest time that one edit covers: a hitch must not dig a hole. units: s
const MAX_SECONDS: f32 = 0.1;

impl PanelBrush {
    /// How much a tool does in a second, in the unit of its action.
    pub fn strength(&self, tool: BrushTool) -> f32 {
        self.strengths[place(tool)]
    }

    /// Lets a tool do more or less.
    pub fn set_strength(&mut self, tool: BrushTool, strength: f32) {
        self.strengths[place(tool)] = strength;
    }

    /// Call it every frame, with where the pointer meets the ground (nowhere,
    /// if it is [the panel's](super::ErosionPanel::has_pointer)), whether the
    /// button is held, and the frame's time. Gives the edit to send. All edits
    /// from a press to its release are undone together; a press that does not
    /// begin on the ground paints nothing.
    pub fn stroke(
        &mut self,
        ground: Option<Vec3>,
        held: bool,
        seconds: f32,
    ) -> Option<TerrainEdit> {
        let Some(tool) = self.tool.filter(|_| held) else {
            self.stroke = None;
            // A tool that is taken up while the button is held has to wait.
            self.blocked = held;
            return None;
        };
        let Some(at) = ground else {
            self.blocked |= self.stroke.is_none();
            // It may come back, but draws no line over what lies between.
            if let Some(stroke) = &mut self.stroke {
                stroke.last = None;
            }
            return None;
        };
        if self.blocked {
            return None;
        }
        let stroke = self.stroke.unwrap_or_else(|| {
            self.strokes += 1;
            Stroke {
                number: TerrainEdit::new_stroke(),
                began: at,
                last: None,
            }
        });
        let last = Some(at);
        self.stroke = Some(Stroke { last, ..stroke });
        let edit = self.edit(tool, stroke.began, stroke.last.unwrap_or(at), at);
        let edit = edit.in_stroke(stroke.number);
        Some(edit.for_seconds(seconds.clamp(0.0, MAX_SECONDS)))
    }

    /// The edit of a tool whose stroke began at a place and goes from another to
    /// the next.
    fn edit(&self, tool: BrushTool, began: Vec3, from: Vec3, to: Vec3) -> TerrainEdit {
        let brush = self.brush;
        let edit = match tool {
            BrushTool::Raise => TerrainEdit::raise(to, brush),
            BrushTool::Lower => TerrainEdit::lower(to, brush),
            BrushTool::Smooth => TerrainEdit::smooth(to, brush),
            BrushTool::Flatten => {
                let flat = EditAction::Flatten { height: began.y };
                TerrainEdit::new(flat, to, brush)
            }
            BrushTool::Ramp => TerrainEdit::ramp(began, to, brush),
            BrushTool::Noise => {
                let bumps = EditAction::Noise {
                    seed: self.strokes as u32,
                    feature_size: (self.bump_size * brush.radius).max(0.1),
                };
                TerrainEdit::new(bumps, to, brush)
            }
            BrushTool::Add(matter) => TerrainEdit::add(matter, to, brush),
            BrushTool::Take(matter) => TerrainEdit::remove(matter, to, brush),
            BrushTool::Harden => {
                let value = self.hardness.clamp(0.0, 1.0);
                TerrainEdit::new(EditAction::SetHardness { value }, to, brush)
            }
            BrushTool::Crater => {
                let brush = brush.with_falloff(Falloff::Hard);
                TerrainEdit::stamp(HeightStamp::crater(), to, brush)
            }
        };
        let edit = match tool {
            BrushTool::Ramp => edit,
            _ => edit.drawn_from(from),
        };
        let edit = edit.with_strength(self.strength(tool)).with_fill(self.fill);
        match self.by_hand {
            true => edit.by_hand(),
            false => edit,
        }
    }
}

fn place(tool: BrushTool) -> usize {
    let place = BrushTool::ALL.iter().position(|other| *other == tool);
    place.unwrap_or_default()
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    show_history(ui, world);
    let mut brush = world.resource::<PanelBrush>().clone();
    show_tool(ui, &mut brush);
    if brush != *world.resource::<PanelBrush>() {
        *world.resource_mut::<PanelBrush>() = brush;
    }
}

fn show_history(ui: &mut Ui, world: &mut World) {
    let Some(history) = world.get_resource::<TerrainHistory>() else {
        return;
    };
    let counts = [history.undo_count(), history.redo_count()];
    let names = ["undo", "redo"];
    let requests = [HistoryRequest::UNDO, HistoryRequest::REDO];
    ui.horizontal(|ui| {
        for ((count, name), request) in counts.into_iter().zip(names).zip(requests) {
            let text = format!("{name} ({count})");
            let button = ui.add_enabled(count > 0, egui::Button::new(text));
            if button.clicked() {
                world.write_message(request);
            }
        }
    });
}

fn show_tool(ui: &mut Ui, brush: &mut PanelBrush) {
    let name = brush.tool.map_or("none".into(), BrushTool::name);
    egui::ComboBox::from_label("tool")
        .selected_text(name)
        // Tall enough to show all of them without scrolling.
        .height(360.0)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut brush.tool, None, "none");
            for tool in BrushTool::ALL {
                ui.selectable_value(&mut brush.tool, Some(tool), tool.name());
            }
        });
    let default = PanelBrush::default().brush;
    show_rows(ui, |rows| {
        rows.field(&mut brush.brush, Some(&default), "radius");
    });
    if let Some(tool) = brush.tool {
        let (_, most, unit) = tool.strength();
        let strength = &mut brush.strengths[place(tool)];
        let slider = egui::Slider::new(strength, 0.0..=most)
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(true);
        let slider = slider.smallest_positive(f64::from(most) * 1e-3);
        ui.add(slider.suffix(format!(" {unit}")).text("strength"))
            .on_hover_text("Strength per second");
    }
    ui.horizontal_wrapped(|ui| {
        ui.label("falloff");
        for (falloff, name) in [
            (Falloff::Hard, "hard"),
            (Falloff::Linear, "linear"),
            (Falloff::Smooth, "smooth"),
            (Falloff::Sphere, "sphere"),
        ] {
            ui.selectable_value(&mut brush.brush.falloff, falloff, name);
        }
    });
    ui.horizontal_wrapped(|ui| {
        ui.label("shape");
        ui.selectable_value(&mut brush.brush.shape, BrushShape::Circle, "circle");
        ui.selectable_value(&mut brush.brush.shape, BrushShape::Square, "square");
        if brush.tool.is_some_and(BrushTool::fills) {
            ui.label("of");
            ui.selectable_value(&mut brush.fill, Fill::Soil, "soil");
            ui.selectable_value(&mut brush.fill, Fill::Rock, "rock");
        }
    });
    if brush.tool == Some(BrushTool::Harden) {
        ui.add(
            egui::Slider::new(&mut brush.hardness, 0.0..=1.0)
                .clamping(egui::SliderClamping::Edits)
                .text("hardness"),
        )
        .on_hover_text("0 erodes freely, 1 not at all");
    }
    if brush.tool == Some(BrushTool::Noise) {
        ui.add(
            egui::Slider::new(&mut brush.bump_size, 0.1..=2.0)
                .clamping(egui::SliderClamping::Edits)
                .text("bump size"),
        )
        .on_hover_text("Distance of bumps, as a share of the radius");
    }
    ui.checkbox(&mut brush.by_hand, "fill only with what was dug")
        .on_hover_text("Digging adds to a stock, and filling takes from it");
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Vec3 = Vec3::new(1.0, 5.0, 2.0);
    const THERE: Vec3 = Vec3::new(9.0, 7.0, 2.0);

    #[test]
    fn every_tool_makes_a_valid_edit_of_one_stroke() {
        for tool in BrushTool::ALL {
            let mut brush = PanelBrush {
                tool: Some(tool),
                by_hand: true,
                ..default()
            };
            assert_eq!(brush.stroke(Some(HERE), false, 0.1), None, "not pressed");
            let first = brush.stroke(Some(HERE), true, 5.0).expect("pressed");
            let second = brush.stroke(Some(THERE), true, 0.01).expect("held");
            for edit in [&first, &second] {
                assert_eq!(edit.check(), Ok(()), "{tool:?}");
                assert_eq!(edit.stroke, first.stroke, "{tool:?}");
                assert!(edit.seconds <= MAX_SECONDS, "a hitch digs no hole");
            }
            assert_eq!((second.from, second.to), (HERE, THERE), "{tool:?}");
            assert_eq!(brush.stroke(Some(THERE), false, 0.1), None);
            let next = brush.stroke(Some(THERE), true, 0.1).expect("again");
            assert_eq!(next.from, THERE, "{tool:?}");
            assert_ne!(next.stroke, first.stroke, "{tool:?}");
        }
    }

    #[test]
    fn a_press_that_begins_elsewhere_paints_nothing() {
        let mut brush = PanelBrush {
            tool: Some(BrushTool::Raise),
            ..default()
        };
        assert_eq!(brush.stroke(None, true, 0.1), None);
        assert_eq!(brush.stroke(Some(HERE), true, 0.1), None, "dragged there");
        assert_eq!(brush.stroke(Some(HERE), false, 0.1), None);
        let pressed = brush.stroke(Some(HERE), true, 0.1).expect("pressed there");
        // Over the panel and back: the same stroke, and no line between.
        assert_eq!(brush.stroke(None, true, 0.1), None);
        let back = brush.stroke(Some(THERE), true, 0.1).expect("still held");
        assert_eq!((back.stroke, back.from), (pressed.stroke, THERE));
        // A tool that is taken up with the button held waits for a new press.
        brush.tool = None;
        assert_eq!(brush.stroke(Some(HERE), true, 0.1), None);
        brush.tool = Some(BrushTool::Lower);
        assert_eq!(brush.stroke(Some(HERE), true, 0.1), None);
    }
}
