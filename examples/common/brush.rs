//! The panel's brush under the pointer: dig, pile, smooth and pour with the
//! mouse.

use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::{
    panel::{BrushTool, Shortcuts},
    view::BrushRing,
};
use bevy_panorbit_camera::PanOrbitCamera;

use super::ExampleCamera;

/// The number keys and their tools; Escape puts the brush away.
const KEYS: [(KeyCode, BrushTool); 10] = [
    (KeyCode::Digit1, BrushTool::Raise),
    (KeyCode::Digit2, BrushTool::Lower),
    (KeyCode::Digit3, BrushTool::Smooth),
    (KeyCode::Digit4, BrushTool::Flatten),
    (KeyCode::Digit5, BrushTool::Noise),
    (KeyCode::Digit6, BrushTool::Add(Matter::Rock)),
    (KeyCode::Digit7, BrushTool::Add(Matter::Water)),
    (KeyCode::Digit8, BrushTool::Take(Matter::Water)),
    (KeyCode::Digit9, BrushTool::Harden),
    (KeyCode::Digit0, BrushTool::Crater),
];

/// Lets the player paint with [`PanelBrush`].
pub struct BrushPlugin;

impl Plugin for BrushPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, list_keys).add_systems(
            Update,
            (choose, paint)
                .chain()
                .before(ErosionSystems::Input)
                .run_if(resource_exists::<ButtonInput<MouseButton>>),
        );
    }
}

fn list_keys(mut shortcuts: ResMut<Shortcuts>) {
    shortcuts.extend([
        ("1 … 0", "take a brush; the left button paints"),
        ("Escape", "put the brush away"),
        ("[ ]", "make the brush smaller or larger"),
        ("Ctrl+Z", "undo a stroke"),
        ("Ctrl+Shift+Z", "redo it"),
        ("left drag", "turn the camera (middle drag with a brush)"),
        ("right drag", "move the camera"),
        ("wheel", "come nearer or go away"),
    ]);
}

/// Whether a key is held, or was in this frame: a slow one may see all of a press.
pub fn held(keys: &ButtonInput<KeyCode>, either: [KeyCode; 2]) -> bool {
    keys.any_pressed(either) || keys.any_just_pressed(either)
}

/// Number keys choose a tool, brackets its radius, Ctrl+Z undoes.
pub(super) fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    panel: Res<ErosionPanel>,
    mut brush: ResMut<PanelBrush>,
    mut requests: MessageWriter<HistoryRequest>,
    mut cameras: Query<&mut PanOrbitCamera, With<ExampleCamera>>,
    time: Res<Time<Real>>,
) {
    // With a tool in hand the left button paints, and the middle one turns.
    let orbit = match brush.tool {
        None => MouseButton::Left,
        Some(_) => MouseButton::Middle,
    };
    let enabled = !panel.has_pointer();
    for mut camera in &mut cameras {
        if (camera.button_orbit, camera.enabled) != (orbit, enabled) {
            (camera.button_orbit, camera.enabled) = (orbit, enabled);
        }
    }
    if panel.has_keyboard() {
        return;
    }
    let control = held(&keys, [KeyCode::ControlLeft, KeyCode::ControlRight]);
    let shift = held(&keys, [KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    if control && keys.just_pressed(KeyCode::KeyZ) {
        requests.write(match shift {
            true => HistoryRequest::REDO,
            false => HistoryRequest::UNDO,
        });
    }
    if keys.just_pressed(KeyCode::Escape) {
        brush.tool = None;
    }
    for (key, tool) in KEYS {
        if keys.just_pressed(key) {
            brush.tool = Some(tool);
        }
    }
    let grow = |key| if keys.pressed(key) { 1.0 } else { 0.0 };
    let grow = grow(KeyCode::BracketRight) - grow(KeyCode::BracketLeft);
    if grow != 0.0 {
        let factor = 1.0 + 1.5 * grow * time.delta_secs();
        brush.brush.radius = (brush.brush.radius * factor).clamp(1.0, 200.0);
    }
}

/// Shows the brush on the ground, and paints while the button is held.
fn paint(
    buttons: Res<ButtonInput<MouseButton>>,
    panel: Res<ErosionPanel>,
    windows: Query<&Window>,
    cameras: Query<(&Camera, &GlobalTransform), With<ExampleCamera>>,
    ground: TerrainQuery,
    time: Res<Time<Real>>,
    mut brush: ResMut<PanelBrush>,
    mut ring: ResMut<BrushRing>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    let pointer = windows.single().ok().and_then(Window::cursor_position);
    let ray = pointer.zip(cameras.single().ok()).and_then(|(at, camera)| {
        let (camera, place) = camera;
        camera.viewport_to_world(place, at).ok()
    });
    let hit = ray
        .filter(|_| brush.tool.is_some() && !panel.has_pointer())
        .and_then(|ray| ground.raycast(ray, 1e5))
        .map(|hit| hit.position);
    let shown = BrushRing {
        at: hit,
        brush: brush.brush,
        ..*ring
    };
    ring.set_if_neq(shown);
    let held = buttons.pressed(MouseButton::Left);
    let edit = brush
        .bypass_change_detection()
        .stroke(hit, held, time.delta_secs());
    edits.write_batch(edit);
}
