//! Brushes under the pointer: dig, pile, smooth and pour with the mouse.

use bevy::prelude::*;
use bevy_egui::{egui, input::EguiWantsInput};
use bevy_erode::prelude::*;
use bevy_panorbit_camera::PanOrbitCamera;

use super::StageCamera;

/// What the left button does to the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Turns the camera instead.
    #[default]
    None,
    Raise,
    Lower,
    Smooth,
    Flatten,
    Noise,
    Rock,
    Water,
    Drain,
    Harden,
    Crater,
}

impl Tool {
    const ALL: [Self; 11] = [
        Self::None,
        Self::Raise,
        Self::Lower,
        Self::Smooth,
        Self::Flatten,
        Self::Noise,
        Self::Rock,
        Self::Water,
        Self::Drain,
        Self::Harden,
        Self::Crater,
    ];

    /// The number keys, in the order of the tools.
    const KEYS: [KeyCode; 11] = [
        KeyCode::Escape,
        KeyCode::Digit1,
        KeyCode::Digit2,
        KeyCode::Digit3,
        KeyCode::Digit4,
        KeyCode::Digit5,
        KeyCode::Digit6,
        KeyCode::Digit7,
        KeyCode::Digit8,
        KeyCode::Digit9,
        KeyCode::Digit0,
    ];
}

/// The brush in the player's hand.
#[derive(Resource, Clone, Debug)]
pub struct Painting {
    pub tool: Tool,
    pub brush: Brush,
    /// Metres a second, or what the tool makes of it.
    pub strength: f32,
    /// Digging fills the hand, piling empties it.
    pub by_hand: bool,
    stroke: u64,
    /// Where the stroke began, and where the pointer was last.
    began: Option<Vec3>,
    last: Option<Vec3>,
}

impl Default for Painting {
    fn default() -> Self {
        Self {
            tool: Tool::None,
            brush: Brush::circle(30.0),
            strength: 12.0,
            by_hand: false,
            stroke: 0,
            began: None,
            last: None,
        }
    }
}

impl Painting {
    /// The edit that the tool makes here, for so long.
    fn edit(&self, at: Vec3, seconds: f32) -> Option<TerrainEdit> {
        let brush = self.brush;
        let (edit, strength) = match self.tool {
            Tool::None => return None,
            Tool::Raise => (TerrainEdit::raise(at, brush), self.strength),
            Tool::Lower => (TerrainEdit::lower(at, brush), self.strength),
            Tool::Smooth => (TerrainEdit::smooth(at, brush), 20.0 * self.strength),
            Tool::Flatten => {
                let height = self.began.unwrap_or(at).y;
                let flat = EditAction::Flatten { height };
                (TerrainEdit::new(flat, at, brush), 3.0 * self.strength)
            }
            Tool::Noise => {
                let bumps = EditAction::Noise {
                    seed: self.stroke as u32,
                    feature_size: 0.6 * brush.radius,
                };
                (TerrainEdit::new(bumps, at, brush), self.strength)
            }
            Tool::Rock => (TerrainEdit::add(Matter::Rock, at, brush), self.strength),
            Tool::Water => (TerrainEdit::add(Matter::Water, at, brush), self.strength),
            Tool::Drain => (TerrainEdit::remove(Matter::Water, at, brush), self.strength),
            Tool::Harden => {
                let hard = EditAction::SetHardness { value: 1.0 };
                (TerrainEdit::new(hard, at, brush), 2.0)
            }
            Tool::Crater => {
                let brush = brush.with_falloff(Falloff::Hard);
                let crater = TerrainEdit::stamp(HeightStamp::crater(), at, brush);
                (crater, self.strength)
            }
        };
        let edit = edit.with_strength(strength).for_seconds(seconds);
        let edit = edit.in_stroke(self.stroke);
        Some(if self.by_hand { edit.by_hand() } else { edit })
    }

    /// Choice of tool, radius and strength, and undo.
    pub fn show(&mut self, ui: &mut egui::Ui, history: &TerrainHistory) -> Option<HistoryRequest> {
        egui::ComboBox::from_label("brush (Esc, 1 to 0)")
            .selected_text(format!("{:?}", self.tool))
            .show_ui(ui, |ui| {
                for tool in Tool::ALL {
                    ui.selectable_value(&mut self.tool, tool, format!("{tool:?}"));
                }
            });
        let radius = egui::Slider::new(&mut self.brush.radius, 1.0..=200.0).logarithmic(true);
        ui.add(radius.text("radius, m"));
        ui.add(egui::Slider::new(&mut self.strength, 0.5..=50.0).text("strength, m/s"));
        ui.checkbox(&mut self.by_hand, "fill only with what was dug");
        let mut request = None;
        ui.horizontal(|ui| {
            let can = [history.undo_count() > 0, history.redo_count() > 0];
            for (can, name, wish) in [
                (can[0], "undo", HistoryRequest::UNDO),
                (can[1], "redo", HistoryRequest::REDO),
            ] {
                if ui.add_enabled(can, egui::Button::new(name)).clicked() {
                    request = Some(wish);
                }
            }
        });
        request
    }
}

/// Lets the player paint with [`Painting`].
pub struct BrushPlugin;

impl Plugin for BrushPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Painting>().add_systems(
            Update,
            (choose, paint)
                .chain()
                .before(ErosionSystems::Input)
                .run_if(resource_exists::<ButtonInput<MouseButton>>),
        );
    }
}

/// Number keys choose a tool, brackets its radius, Ctrl+Z undoes.
pub(super) fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    wants: Option<Res<EguiWantsInput>>,
    mut painting: ResMut<Painting>,
    mut requests: MessageWriter<HistoryRequest>,
    mut cameras: Query<&mut PanOrbitCamera, With<StageCamera>>,
    time: Res<Time<Real>>,
) {
    if wants.is_some_and(|wants| wants.wants_any_keyboard_input()) {
        return;
    }
    let control = keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]);
    let shift = keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    if control && keys.just_pressed(KeyCode::KeyZ) {
        requests.write(match shift {
            true => HistoryRequest::REDO,
            false => HistoryRequest::UNDO,
        });
    }
    for (tool, key) in Tool::ALL.into_iter().zip(Tool::KEYS) {
        if keys.just_pressed(key) {
            painting.tool = tool;
        }
    }
    let grow = |key| if keys.pressed(key) { 1.0 } else { 0.0 };
    let grow = grow(KeyCode::BracketRight) - grow(KeyCode::BracketLeft);
    if grow != 0.0 {
        let factor = 1.0 + 1.5 * grow * time.delta_secs();
        painting.brush.radius = (painting.brush.radius * factor).clamp(1.0, 200.0);
    }
    // With a tool in hand the left button paints, and the middle one turns.
    let orbit = match painting.tool {
        Tool::None => MouseButton::Left,
        _ => MouseButton::Middle,
    };
    for mut camera in &mut cameras {
        if camera.button_orbit != orbit {
            camera.button_orbit = orbit;
        }
    }
}

/// Shows the brush on the ground, and paints while the button is held.
fn paint(
    buttons: Res<ButtonInput<MouseButton>>,
    wants: Option<Res<EguiWantsInput>>,
    windows: Query<&Window>,
    cameras: Query<(&Camera, &GlobalTransform), With<StageCamera>>,
    ground: TerrainQuery,
    time: Res<Time<Real>>,
    mut painting: ResMut<Painting>,
    mut ring: ResMut<BrushRing>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    let over_panel = wants.is_some_and(|wants| wants.wants_any_pointer_input());
    let pointer = windows.single().ok().and_then(Window::cursor_position);
    let ray = pointer.zip(cameras.single().ok()).and_then(|(at, camera)| {
        let (camera, place) = camera;
        camera.viewport_to_world(place, at).ok()
    });
    let hit = ray
        .filter(|_| painting.tool != Tool::None && !over_panel)
        .and_then(|ray| ground.raycast(ray, 1e5));
    let shown = BrushRing {
        at: hit.map(|hit| hit.position),
        brush: painting.brush,
        ..*ring
    };
    ring.set_if_neq(shown);
    let Some(hit) = hit.filter(|_| buttons.pressed(MouseButton::Left)) else {
        painting.began = None;
        painting.last = None;
        return;
    };
    if painting.began.is_none() {
        painting.stroke += 1;
        painting.began = Some(hit.position);
    }
    // A hitch must not dig a hole.
    let seconds = time.delta_secs().min(0.1);
    let from = painting.last.replace(hit.position).unwrap_or(hit.position);
    if let Some(edit) = painting.edit(hit.position, seconds) {
        edits.write(edit.drawn_from(from));
    }
}
