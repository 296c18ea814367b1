//! The sandbox: choose a landform or a scene and the models, change every setting in the
//! panel and watch.
//!
//! `cargo run --example sandbox`
//! `cargo run --example sandbox -- --scene letters_in_rain`
//!
//! F1 lists all keys. Drag to orbit, drag with the right button to pan, scroll
//! to zoom; with a brush (keys 1 to 0) the left button paints and the middle one
//! orbits. H turns the hand on: hold the left button to pick up earth, water or lava, the
//! right one to pour it out again.
//! Without a display it renders headless and says which PNGs it wrote; without
//! any graphics adapter it writes hillshade pictures.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiPlugin, egui};
use bevy_erode::prelude::*;
use bevy_erode::{models::droplet::DropletSolver, models::thermal::ThermalSolver};
use bevy_erode::{
    panel::{PanelFiles, PanelSceneOpened, PanelSection, PanelSections, Shortcuts},
    scene::{SceneCamera, SceneError, SceneModels, SceneTerrain},
    view::RiverView,
};
use bevy_panorbit_camera::PanOrbitCamera;
use clap::Parser;
use common::Land;

/// Side of the land. units: m
const EXTENT: f32 = 1024.0;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut scenes = common::scenes();
    if cli.list_scenes {
        return list_scenes(&scenes);
    }
    let scene = match cli
        .scene
        .as_deref()
        .map(|name| scenes.read(name))
        .transpose()
    {
        Ok(scene) => scene,
        Err(error) => {
            eprintln!("error: {error}");
            return AppExit::error();
        }
    };
    if let Some(name) = &cli.scene {
        scenes.open(name);
    }
    let mut app = common::app(&cli.options, "bevy_erode: sandbox");
    app.add_plugins((
        ErosionPlugin::default().with_backend(cli.backend.into()),
        EguiPlugin::default(),
        ErosionPanelPlugin,
        common::BrushPlugin,
        common::HandPlugin {
            hand: common::Hand {
                brush: Brush::circle(25.0),
                strength: 12.0,
                ..default()
            },
            key: Some(KeyCode::KeyH),
        },
        common::SunAndCamera {
            pitch: 0.5,
            distance: 0.72,
            ..common::SunAndCamera::new(EXTENT, 230.0)
        },
    ))
    .insert_resource(Choice {
        land: cli.land,
        seed: cli.seed,
        cells: cli.cells,
        again: cli.scene.is_none(),
        ..default()
    })
    .insert_resource(scenes)
    .add_systems(Startup, list_keys)
    .add_systems(
        Update,
        (
            keys.run_if(resource_exists::<ButtonInput<KeyCode>>),
            make_land.run_if(|choice: Res<Choice>| choice.again),
            aim_camera,
        )
            .chain()
            .before(ErosionSystems::Input),
    );
    if let Some(file) = cli.report {
        app.add_plugins(common::Report(file));
    }
    let land = PanelSection::new("Land", show_land);
    let mut sections = app.world_mut().resource_mut::<PanelSections>();
    sections.0.insert(0, land);

    let (seconds, middle) = match &scene {
        Some(scene) => (cli.options.seconds_or(scene.seconds), 0.5),
        None => (cli.options.seconds_or(6.0), 0.3),
    };
    // Pictures for people: the land alone, and once with the panel.
    let hide = |world: &mut World| world.resource_mut::<ErosionPanel>().visible = false;
    let mut screenshots = common::Screenshots::new()
        .shot_with("start", 0.0, hide)
        .shot("middle", middle * seconds)
        .shot("end", seconds)
        .shot_with("change", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::Change;
        });
    if scene.as_ref().is_some_and(|scene| !scene.rivers.is_empty()) {
        screenshots = screenshots.shot_with("river", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::River;
            world.resource_mut::<RiverView>().particles = true;
        });
    }
    // A relief shows no panel.
    if scene.is_none() && app.world().resource::<common::Mode>().renders() {
        screenshots = screenshots.shot_with("panel", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::None;
            world.resource_mut::<ErosionPanel>().visible = true;
        });
    }
    common::run(app, screenshots)
}

fn list_scenes(scenes: &PanelScenes) -> AppExit {
    for name in scenes.names() {
        match scenes.read(name) {
            Ok(scene) => println!("{name}\n    {}. {}", scene.title, scene.description),
            Err(error) => println!("{name}\n    {error}"),
        }
    }
    AppExit::Success
}

/// The land that the user chose.
#[derive(Resource, Clone, Debug, PartialEq)]
struct Choice {
    land: Land,
    seed: u32,
    /// Cells along each side.
    cells: u32,
    /// Depth of soil at the start. units: m
    soil: f32,
    /// Whether models are those of a land, which stay when the land changes.
    has_models: bool,
    /// Where the camera is to go.
    aim: Option<SceneCamera>,
    /// Whether to make the land again.
    again: bool,
    /// What was wrong with the last attempt.
    error: Option<String>,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            land: Land::Range,
            seed: 21,
            cells: 512,
            soil: 0.0,
            has_models: false,
            aim: None,
            again: false,
            error: None,
        }
    }
}

impl Choice {
    /// The land as a scene, with the models that lands start with.
    fn land_scene(&self) -> ErosionScene {
        ErosionScene {
            terrain: SceneTerrain {
                landform: self.land.form(self.seed),
                size: (self.cells, self.cells),
                cell_size: EXTENT / self.cells.max(1) as f32,
                soil_depth: self.soil,
                ..default()
            },
            models: SceneModels::default()
                .with::<DropletSolver>(Droplets {
                    rate: 0.1,
                    // Mountains in seconds.
                    volume: 50.0,
                    ..Droplets::default().with_streams()
                })
                .with::<ThermalSolver>(Thermal::default()),
            camera: SceneCamera {
                focus: (0.0, 40.0, 0.0),
                yaw: 28.6,
                pitch: 32.0,
                distance: 1200.0,
            },
            ..default()
        }
    }

    fn open(&mut self, commands: &mut Commands) -> Result<(), SceneError> {
        let scene = self.land_scene();
        if self.has_models {
            commands.insert_resource(scene.build_terrain()?);
            return Ok(());
        }
        scene.insert(commands)?;
        self.aim = Some(scene.camera);
        self.has_models = true;
        Ok(())
    }

    /// Starts the scene again, or the land, with another seed if that is wanted.
    fn start_again(world: &mut World, other_seed: bool) {
        let mut scenes = world.resource_mut::<PanelScenes>();
        if let Some(name) = scenes.opened().map(str::to_owned) {
            scenes.open(name);
            return;
        }
        let mut choice = world.resource_mut::<Self>();
        choice.seed = (choice.seed + u32::from(other_seed)) % 10_000;
        choice.again = true;
    }
}

fn make_land(mut commands: Commands, mut choice: ResMut<Choice>, mut scenes: ResMut<PanelScenes>) {
    choice.again = false;
    scenes.close();
    let opened = choice.open(&mut commands);
    choice.error = opened.err().map(|error| error.to_string());
    if let Some(error) = &choice.error {
        error!("{error}");
    }
}

/// Looks from where the scene says.
fn aim_camera(
    mut choice: ResMut<Choice>,
    mut opened: MessageReader<PanelSceneOpened>,
    mut cameras: Query<&mut PanOrbitCamera, With<common::ExampleCamera>>,
) {
    for opened in opened.read() {
        choice.has_models = false;
        // The same scene again leaves the camera where it is.
        if !opened.again {
            choice.aim = Some(opened.scene.camera);
        }
    }
    if choice.aim.is_none() {
        return;
    }
    if let Ok(mut camera) = cameras.single_mut()
        && let Some(aim) = choice.aim.take()
    {
        camera.focus = aim.focus.into();
        camera.yaw = Some(aim.yaw.to_radians());
        camera.pitch = Some(aim.pitch.to_radians());
        camera.radius = Some(aim.distance);
        // It jumps there, as at the start.
        camera.initialized = false;
    }
}

/// The land, as a section of the panel.
fn show_land(ui: &mut egui::Ui, world: &mut World) {
    let choice = world.resource::<Choice>().clone();
    let mut new = choice.clone();
    egui::ComboBox::from_label("landform")
        .selected_text(format!("{:?}", new.land))
        .show_ui(ui, |ui| {
            for land in Land::ALL {
                ui.selectable_value(&mut new.land, land, format!("{land:?}"));
            }
        });
    ui.add(egui::Slider::new(&mut new.seed, 0..=9999).text("seed"));
    ui.add(egui::Slider::new(&mut new.soil, 0.0..=10.0).text("soil, m"));
    ui.horizontal(|ui| {
        ui.label("cells");
        for cells in [128, 256, 512, 1024] {
            ui.selectable_value(&mut new.cells, cells, cells.to_string());
        }
    });
    // Any other choice makes a new terrain.
    new.again |= new != choice;
    let mut again = false;
    ui.horizontal(|ui| {
        again = ui.button("start again").clicked();
        if ui.button("new seed").clicked() {
            new.seed = (new.seed + 1) % 10_000;
            new.again = true;
        }
        ui.weak("F1: keys");
    });
    if let Some(error) = &new.error {
        ui.colored_label(egui::Color32::LIGHT_RED, error);
    }
    if new != choice {
        world.insert_resource(new);
    }
    if again {
        Choice::start_again(world, false);
    }
}

fn list_keys(mut shortcuts: ResMut<Shortcuts>) {
    shortcuts.extend([
        ("Space", "pause"),
        ("N", "single step"),
        ("R", "new terrain with another seed, or restart the scene"),
        ("Page Up, Page Down", "previous scene, next scene"),
        (
            "C",
            "show change, depth, velocity, discharge, sediment, rivers",
        ),
        ("P", "show the particles of rivers"),
        ("B", "show the terrain at the start"),
        ("G", "change the backend"),
        ("M", "change the water model"),
        (
            "H",
            "hand on or off: the left button picks up, the right one pours",
        ),
        ("Ctrl+S, Ctrl+O", "save the whole state, load it"),
        ("Tab", "hide or show the panel"),
    ]);
}

fn keys(world: &mut World) {
    if world.resource::<ErosionPanel>().has_keyboard() {
        return;
    }
    let keys = world.resource::<ButtonInput<KeyCode>>();
    let control = common::held(keys, [KeyCode::ControlLeft, KeyCode::ControlRight]);
    let pressed: Vec<KeyCode> = keys.get_just_pressed().copied().collect();
    for key in pressed {
        match key {
            KeyCode::KeyS if control => save_or_load(world, PanelFiles::save),
            KeyCode::KeyO if control => save_or_load(world, PanelFiles::load),
            KeyCode::Space => {
                let mut time = world.resource_mut::<Time<Erosion>>();
                match time.is_paused() {
                    true => time.unpause(),
                    false => time.pause(),
                }
            }
            KeyCode::KeyN => {
                let mut time = world.resource_mut::<Time<Erosion>>();
                time.pause();
                time.single_step(1);
            }
            KeyCode::KeyR => Choice::start_again(world, true),
            KeyCode::PageDown => next_scene(world, 1),
            KeyCode::PageUp => next_scene(world, -1),
            KeyCode::KeyC => {
                let mut view = world.resource_mut::<TerrainView>();
                view.overlay = view.overlay.next();
            }
            KeyCode::KeyP => {
                let mut rivers = world.resource_mut::<RiverView>();
                rivers.particles = !rivers.particles;
            }
            KeyCode::KeyB => {
                let mut view = world.resource_mut::<TerrainView>();
                view.before = !view.before;
            }
            KeyCode::KeyG => {
                let mut backend = world.resource_mut::<ErosionBackend>();
                *backend = match *backend {
                    ErosionBackend::Cpu => ErosionBackend::Gpu,
                    _ => ErosionBackend::Cpu,
                };
            }
            KeyCode::KeyM => next_water(world),
            KeyCode::Tab => {
                let mut panel = world.resource_mut::<ErosionPanel>();
                panel.visible = !panel.visible;
            }
            _ => {}
        }
    }
}

/// The pipe model, then implicit shallow water, then none, and again.
fn next_water(world: &mut World) {
    if world.remove_resource::<PipeModel>().is_some() {
        world.init_resource::<ShallowWater>();
    } else if world.remove_resource::<ShallowWater>().is_none() {
        world.init_resource::<PipeModel>();
    }
}

/// Opens the scene `step` places further in the list.
fn next_scene(world: &mut World, step: isize) {
    let mut scenes = world.resource_mut::<PanelScenes>();
    let names: Vec<String> = scenes.names().map(str::to_owned).collect();
    let opened = names.iter().position(|name| scenes.opened() == Some(name));
    let next = match (opened, step > 0) {
        (None, true) => 0,
        (None, false) => names.len().saturating_sub(1),
        (Some(place), _) => (place as isize + step).rem_euclid(names.len() as isize) as usize,
    };
    if let Some(name) = names.get(next) {
        scenes.open(name);
    }
}

/// The panel says below its fields how it went.
fn save_or_load(world: &mut World, act: fn(&mut PanelFiles, &mut World) -> Result<String, String>) {
    let done = world.resource_scope(|world, mut files: Mut<PanelFiles>| act(&mut files, world));
    match done {
        Ok(done) => info!("{done}"),
        Err(error) => error!("{error}"),
    }
}

/// Choose a landform or a scene and the models, change every setting and watch.
#[derive(Parser)]
struct Cli {
    /// The land to start with.
    #[arg(long, value_enum, default_value = "range")]
    land: Land,
    /// Another seed gives another land of the same kind.
    #[arg(long, default_value_t = 21)]
    seed: u32,
    /// Who runs the models; the panel and the key G change it later.
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// Cells along each side.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(2..=4096))]
    cells: u32,
    /// Open a scene instead: a name in assets/scenes, or the path of a *.scene.ron.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["land", "seed", "cells"])]
    scene: Option<String>,
    /// List the scenes and exit.
    #[arg(long)]
    list_scenes: bool,
    /// Write the state of the app into this file in every frame (for tests).
    #[arg(long, value_name = "FILE")]
    report: Option<std::path::PathBuf>,
    #[command(flatten)]
    options: common::Options,
}

/// Who runs the models.
#[derive(clap::ValueEnum, Clone, Copy)]
enum Backend {
    /// The GPU if there is one.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU, even if it is a software one.
    Gpu,
}

impl From<Backend> for ErosionBackend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Auto => Self::Auto,
            Backend::Cpu => Self::Cpu,
            Backend::Gpu => Self::Gpu,
        }
    }
}
