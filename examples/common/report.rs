//! The state of the app as a file that tests read: one `name value` line each.

use std::{fmt::Write, fs, path::PathBuf};

use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::{forcing::edits::TerrainHistory, panel::BrushTool};
use bevy_panorbit_camera::PanOrbitCamera;

use super::{ExampleCamera, probe};

/// Rewrites the file in every frame.
#[derive(Resource, Clone)]
pub struct Report(pub PathBuf);

impl Plugin for Report {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.clone())
            .add_systems(Last, write_report);
    }
}

fn write_report(world: &mut World, mut frame: Local<u64>) -> Result {
    *frame += 1;
    let mut text = String::new();
    writeln!(text, "frame {}", *frame)?;
    writeln!(text, "drawn {}", probe::terrain_is_drawn(world))?;
    if let Some(terrain) = world.get_resource::<Terrain>() {
        let ledger = terrain.ledger();
        writeln!(text, "hash {:016x}", terrain.state_hash())?;
        writeln!(text, "water {}", ledger.water.standing)?;
        writeln!(text, "moved {}", ledger.solids.moved)?;
        writeln!(text, "added {}", ledger.solids.added)?;
        writeln!(text, "drift {}", ledger.solids.drift_of_total())?;
    }
    let time = world.resource::<Time<Erosion>>();
    writeln!(text, "steps {}", time.steps())?;
    writeln!(text, "paused {}", time.is_paused())?;
    let models = [
        ("droplets", world.contains_resource::<Droplets>()),
        ("pipe", world.contains_resource::<PipeModel>()),
        ("shallow_water", world.contains_resource::<ShallowWater>()),
        ("thermal", world.contains_resource::<Thermal>()),
        ("rain", world.contains_resource::<Rain>()),
    ];
    let models = models
        .into_iter()
        .filter_map(|(name, on)| on.then_some(name));
    writeln!(text, "models {}", models.collect::<Vec<_>>().join("+"))?;
    let scene = world.resource::<PanelScenes>().opened().unwrap_or("none");
    writeln!(text, "scene {scene}")?;
    let brush = world.resource::<PanelBrush>();
    let tool = brush.tool.map_or("none".into(), BrushTool::name);
    writeln!(text, "tool {tool}")?;
    writeln!(text, "radius {}", brush.brush.radius)?;
    let history = world.resource::<TerrainHistory>();
    writeln!(text, "undo {}", history.undo_count())?;
    writeln!(text, "redo {}", history.redo_count())?;
    let panel = world.resource::<ErosionPanel>();
    writeln!(text, "panel {}", panel.visible)?;
    writeln!(text, "keys {}", panel.shortcuts)?;
    let overlay = world.resource::<TerrainView>().overlay;
    writeln!(text, "overlay {}", overlay.name())?;
    let mut cameras = world.query_filtered::<&PanOrbitCamera, With<ExampleCamera>>();
    for camera in cameras.iter(world) {
        let (focus, yaw, pitch) = (camera.target_focus, camera.target_yaw, camera.target_pitch);
        writeln!(
            text,
            "camera {focus} {yaw} {pitch} {}",
            camera.target_radius
        )?;
    }
    // A reader never meets half a file.
    let path = &world.resource::<Report>().0;
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)?;
    Ok(())
}
