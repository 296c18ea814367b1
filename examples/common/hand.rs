//! A hand that picks earth, water or lava up into a floating ball and pours it
//! out again. Nothing appears or vanishes: what the ball holds is in the ledger.

use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use bevy_erode::prelude::*;
use bevy_panorbit_camera::PanOrbitCamera;

use super::ExampleCamera;

/// A ball with less than this is empty. units: m³
const EMPTY: f64 = 0.01;

/// The player's hand. Hold the left button to pick up, the right one to pour.
#[derive(Resource, Clone, Debug)]
pub struct Hand {
    /// Whether it is in use. Then the middle button orbits the camera, and pans it with
    /// Shift.
    pub active: bool,
    /// Where it takes and gives.
    pub brush: Brush,
    /// How fast. units: m/s
    pub strength: f32,
    /// What the ball is of. An empty hand takes what it finds.
    pub matter: Matter,
    /// Where on the ground it is.
    pub at: Option<Vec3>,
    /// Edits of one press of a button are undone together.
    pub stroke: u64,
}

impl Default for Hand {
    fn default() -> Self {
        Self {
            active: false,
            brush: Brush::circle(9.0),
            strength: 4.0,
            matter: Matter::Soil,
            at: None,
            stroke: 0,
        }
    }
}

impl Hand {
    /// The edit that picks up, or pours out, for `seconds`.
    pub fn edit(&self, at: Vec3, picks_up: bool, seconds: f32) -> TerrainEdit {
        let edit = match picks_up {
            true => TerrainEdit::remove(self.matter, at, self.brush),
            false => TerrainEdit::add(self.matter, at, self.brush),
        };
        edit.with_strength(self.strength)
            .for_seconds(seconds)
            .in_stroke(self.stroke)
            .by_hand()
    }

    /// What the ball holds. units: m³
    pub fn volume(&self, terrain: &Terrain) -> f64 {
        self.matter.in_hand(terrain).max(0.0)
    }
}

/// The topmost matter at a position.
fn found_at(ground: &TerrainQuery, at: Vec3) -> Matter {
    let deep = |depth: Option<f32>, least: f32| depth.is_some_and(|depth| depth > least);
    if deep(ground.lava_depth(at), 0.05) {
        Matter::Lava
    } else if deep(ground.water_depth(at), 0.2) {
        Matter::Water
    } else {
        Matter::Soil
    }
}

/// Gives the player a [`Hand`].
#[derive(Default)]
pub struct HandPlugin {
    /// The hand at the start.
    pub hand: Hand,
    /// The key that turns it on and off, if any.
    pub key: Option<KeyCode>,
}

#[derive(Resource)]
struct HandKey(Option<KeyCode>);

#[derive(Component)]
struct Ball;

#[derive(Resource)]
struct BallMaterials {
    earth: Handle<StandardMaterial>,
    water: Handle<StandardMaterial>,
    lava: Handle<StandardMaterial>,
}

impl Plugin for HandPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.hand.clone())
            .insert_resource(HandKey(self.key))
            .add_systems(Startup, spawn_ball)
            .add_systems(
                Update,
                (toggle_hand, use_hand)
                    .chain()
                    // The brush decides first which button orbits the camera.
                    .after(super::brush::choose)
                    .before(ErosionSystems::Input)
                    .run_if(resource_exists::<ButtonInput<MouseButton>>),
            )
            .add_systems(Update, show_ball.after(ErosionSystems::Publish));
    }
}

fn spawn_ball(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let paint = BallMaterials {
        earth: materials.add(StandardMaterial {
            base_color: Color::srgb(0.45, 0.34, 0.22),
            perceptual_roughness: 0.95,
            ..default()
        }),
        water: materials.add(StandardMaterial {
            base_color: Color::srgba(0.18, 0.45, 0.70, 0.75),
            perceptual_roughness: 0.08,
            alpha_mode: AlphaMode::Blend,
            ..default()
        }),
        lava: materials.add(StandardMaterial {
            base_color: Color::srgb(0.9, 0.3, 0.05),
            unlit: true,
            ..default()
        }),
    };
    commands.spawn((
        Ball,
        Mesh3d(meshes.add(Sphere::new(1.0).mesh().uv(48, 24))),
        MeshMaterial3d(paint.earth.clone()),
        Visibility::Hidden,
    ));
    commands.insert_resource(paint);
}

/// A key turns the hand on and off; choosing a brush turns it off. The camera's buttons
/// follow.
fn toggle_hand(
    keys: Res<ButtonInput<KeyCode>>,
    key: Res<HandKey>,
    wants: Option<Res<EguiWantsInput>>,
    mut hand: ResMut<Hand>,
    brush: Option<ResMut<PanelBrush>>,
    mut cameras: Query<&mut PanOrbitCamera, With<ExampleCamera>>,
) {
    let typing = wants.is_some_and(|wants| wants.wants_any_keyboard_input());
    let pressed = key.0.is_some_and(|key| keys.just_pressed(key)) && !typing;
    if pressed {
        hand.active = !hand.active;
    }
    if let Some(mut brush) = brush
        && hand.active
        && brush.tool.is_some()
    {
        match pressed {
            true => brush.tool = None,
            false => hand.active = false,
        }
    }
    for mut camera in &mut cameras {
        let (orbit, pan, shift) = match hand.active {
            true => (
                MouseButton::Middle,
                MouseButton::Middle,
                Some(KeyCode::ShiftLeft),
            ),
            // The brush decides which button orbits.
            false => (camera.button_orbit, MouseButton::Right, None),
        };
        if (camera.button_orbit, camera.button_pan, camera.modifier_pan) != (orbit, pan, shift) {
            camera.button_orbit = orbit;
            camera.button_pan = pan;
            camera.modifier_pan = shift;
        }
    }
}

/// Follows the pointer, and takes or gives while a button is held.
fn use_hand(
    buttons: Res<ButtonInput<MouseButton>>,
    wants: Option<Res<EguiWantsInput>>,
    windows: Query<&Window>,
    cameras: Query<(&Camera, &GlobalTransform), With<ExampleCamera>>,
    ground: TerrainQuery,
    time: Res<Time<Real>>,
    mut hand: ResMut<Hand>,
    mut edits: MessageWriter<TerrainEdit>,
) {
    let over_panel = wants.is_some_and(|wants| wants.wants_any_pointer_input());
    let pointer = windows.single().ok().and_then(Window::cursor_position);
    let Some(pointer) = pointer.filter(|_| hand.active && !over_panel) else {
        return;
    };
    let ray = cameras.single().ok().and_then(|(camera, place)| {
        let ray = camera.viewport_to_world(place, pointer);
        ray.ok()
    });
    hand.at = ray
        .and_then(|ray| ground.raycast(ray, 1e5))
        .map(|hit| hit.position);
    let (Some(at), Some(terrain)) = (hand.at, ground.terrain()) else {
        return;
    };
    // A long frame must not dig a hole.
    let seconds = time.delta_secs().min(0.1);
    for (button, picks_up) in [(MouseButton::Left, true), (MouseButton::Right, false)] {
        if buttons.just_pressed(button) {
            hand.stroke = TerrainEdit::new_stroke();
            if picks_up && hand.volume(terrain) < EMPTY {
                hand.matter = found_at(&ground, at);
            }
        }
        if buttons.pressed(button) {
            edits.write(hand.edit(at, picks_up, seconds));
        }
    }
}

/// The ball, as large as what it holds.
fn show_ball(
    hand: Res<Hand>,
    paint: Res<BallMaterials>,
    terrain: Option<Res<Terrain>>,
    time: Res<Time<Real>>,
    mut balls: Query<
        (
            &mut Transform,
            &mut Visibility,
            &mut MeshMaterial3d<StandardMaterial>,
        ),
        With<Ball>,
    >,
) {
    let volume = terrain.map_or(0.0, |terrain| hand.volume(&terrain));
    let material = match hand.matter {
        Matter::Water => &paint.water,
        Matter::Lava => &paint.lava,
        _ => &paint.earth,
    };
    let radius = (volume * 3.0 / (4.0 * core::f64::consts::PI)).cbrt() as f32;
    let shown = hand.at.filter(|_| volume > EMPTY);
    for (mut place, mut visibility, mut color) in &mut balls {
        let Some(at) = shown else {
            visibility.set_if_neq(Visibility::Hidden);
            continue;
        };
        visibility.set_if_neq(Visibility::Visible);
        // It floats, and bobs a little.
        let bob = 0.06 * radius * (2.0 * time.elapsed_secs()).sin();
        let above = at + (1.6 * radius + 0.4 * hand.brush.radius + bob) * Vec3::Y;
        *place = Transform::from_translation(above).with_scale(Vec3::splat(radius));
        color.set_if_neq(MeshMaterial3d(material.clone()));
    }
}
