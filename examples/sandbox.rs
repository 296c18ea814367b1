//! The sandbox: pick a land or a scene, pick models, turn every knob and watch.
//!
//! `cargo run --example sandbox`
//! `cargo run --example sandbox -- --scene letters_in_rain`
//!
//! Space pauses, N takes one step, R makes a new land with another seed or
//! starts the scene again, C shows change, depth, velocity, discharge and
//! sediment in turn, B the land as it was, Tab hides the panels. Drag to orbit,
//! drag with the right button to pan, scroll to zoom.
//! Keys 1 to 0 choose a brush: the left button paints, the middle one orbits,
//! brackets change its radius, Ctrl+Z undoes, Ctrl+Shift+Z redoes, Escape puts
//! the brush away.
//! Without a display it renders headless and says which PNGs it wrote; without
//! any graphics adapter it writes shaded reliefs.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_erode::prelude::*;
use bevy_panorbit_camera::PanOrbitCamera;
use clap::Parser;

/// Side of the land. units: m
const EXTENT: f32 = 1024.0;

fn main() -> AppExit {
    let cli = Cli::parse();
    if cli.list_scenes {
        return list_scenes();
    }
    let scene = match cli.scene.as_deref().map(common::read_scene).transpose() {
        Ok(scene) => scene,
        Err(error) => {
            eprintln!("error: {error}");
            return AppExit::error();
        }
    };
    let mut app = common::app(&cli.options, "bevy_erode: sandbox");
    app.add_plugins((
        ErosionPlugin::default().with_backend(cli.backend.into()),
        EguiPlugin::default(),
        ErosionPanelPlugin,
        common::BrushPlugin,
        common::Stage {
            pitch: 0.5,
            distance: 0.72,
            ..common::Stage::new(EXTENT, 230.0)
        },
    ))
    .insert_resource(Choice {
        land: cli.land,
        seed: cli.seed,
        cells: cli.cells,
        scene: cli.scene,
        ..default()
    })
    .add_systems(Startup, make_land)
    .add_systems(EguiPrimaryContextPass, show_choice)
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

    let (seconds, middle) = match &scene {
        Some(scene) => (cli.options.seconds_or(scene.seconds), 0.5),
        None => (cli.options.seconds_or(6.0), 0.3),
    };
    // Pictures for people: the land alone, and once with the panels.
    let hide = |world: &mut World| world.resource_mut::<ErosionPanel>().visible = false;
    let mut film = common::Film::new()
        .shot_with("start", 0.0, hide)
        .shot("middle", middle * seconds)
        .shot("end", seconds)
        .shot_with("change", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::Change;
        });
    // A relief shows no panels.
    if scene.is_none() && app.world().resource::<common::Mode>().renders() {
        film = film.shot_with("panel", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::None;
            world.resource_mut::<ErosionPanel>().visible = true;
        });
    }
    common::run(app, film)
}

fn list_scenes() -> AppExit {
    for name in common::scene_names() {
        match common::read_scene(&name) {
            Ok(scene) => println!("{name}\n    {}. {}", scene.title, scene.description),
            Err(error) => println!("{name}\n    {error}"),
        }
    }
    AppExit::Success
}

/// The land that the user chose.
#[derive(Resource, Clone, Debug)]
struct Choice {
    land: Land,
    seed: u32,
    /// Cells along each side.
    cells: u32,
    /// Depth of soil at the start. units: m
    soil: f32,
    /// The scene to open instead of a land.
    scene: Option<String>,
    /// The scene that was opened last.
    opened: Option<String>,
    /// What it shows.
    description: String,
    /// All scenes there are.
    scenes: Vec<String>,
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
            scene: None,
            opened: None,
            description: String::new(),
            scenes: common::scene_names(),
            has_models: false,
            aim: None,
            again: false,
            error: None,
        }
    }
}

/// The landforms on offer.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Land {
    Range,
    Island,
    Ridged,
    Fbm,
    Billow,
    Warped,
    Faults,
    Cone,
    Plane,
    Waves,
    Basin,
    Channel,
    Letters,
}

impl Land {
    const ALL: [Land; 13] = [
        Land::Range,
        Land::Island,
        Land::Ridged,
        Land::Fbm,
        Land::Billow,
        Land::Warped,
        Land::Faults,
        Land::Cone,
        Land::Plane,
        Land::Waves,
        Land::Basin,
        Land::Channel,
        Land::Letters,
    ];

    fn form(self, seed: u32) -> LandformKind {
        let ridged = || LandformKind::from(Ridged::seeded(seed));
        match self {
            Land::Range => {
                let ridges = Ridged::seeded(seed)
                    .with_feature_size(900.0)
                    .with_height(150.0);
                // Falls off to all borders, where the rivers run out.
                let slopes = ConicalHill::seeded(seed)
                    .with_height(190.0)
                    .with_radius(760.0)
                    .with_roughness(0.0);
                Sum::new(ridges.into(), slopes.into()).into()
            }
            Land::Island => Island::new(ridged(), seed).into(),
            Land::Ridged => ridged(),
            Land::Fbm => Fbm::seeded(seed).into(),
            Land::Billow => Billow::seeded(seed).into(),
            Land::Warped => Warped::new(ridged(), seed).into(),
            Land::Faults => Faults::seeded(seed).into(),
            Land::Cone => ConicalHill::seeded(seed).into(),
            Land::Plane => {
                let bumps = Fbm::seeded(seed).with_feature_size(60.0).with_height(4.0);
                Sum::new(TiltedPlane::default().into(), bumps.into()).into()
            }
            Land::Waves => SineWaves::default().into(),
            Land::Basin => FourSlopeBasin::default().into(),
            Land::Channel => WindingChannel::default().into(),
            Land::Letters => Letters::seeded(seed).into(),
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
            models: SceneModels {
                droplets: Some(Droplets {
                    rate: 0.1,
                    // Mountains in seconds.
                    volume: 50.0,
                    ..Droplets::default().with_streams()
                }),
                thermal: Some(Thermal::default()),
                ..default()
            },
            camera: SceneCamera {
                focus: (0.0, 40.0, 0.0),
                yaw: 28.6,
                pitch: 32.0,
                distance: 1200.0,
            },
            ..default()
        }
    }

    fn open(&mut self, commands: &mut Commands) -> Result<(), String> {
        let scene = match &self.scene {
            // From the file again: it may have been edited.
            Some(name) => common::read_scene(name)?,
            None => self.land_scene(),
        };
        if self.scene.is_none() && self.has_models {
            let terrain = scene.build_terrain();
            commands.insert_resource(terrain.map_err(|error| error.to_string())?);
            return Ok(());
        }
        scene.insert(commands).map_err(|error| error.to_string())?;
        // The same scene again leaves the camera where it is.
        if self.scene.is_none() || self.opened != self.scene {
            self.aim = Some(scene.camera);
        }
        self.has_models = self.scene.is_none();
        self.opened.clone_from(&self.scene);
        self.description = scene.description;
        Ok(())
    }
}

fn make_land(mut commands: Commands, mut choice: ResMut<Choice>) {
    choice.again = false;
    choice.error = choice.open(&mut commands).err();
    if let Some(error) = &choice.error {
        error!("{error}");
    }
}

/// Looks from where the scene says.
fn aim_camera(
    mut choice: ResMut<Choice>,
    mut cameras: Query<&mut PanOrbitCamera, With<common::StageCamera>>,
) {
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

fn show_choice(
    mut contexts: EguiContexts,
    mut choice: ResMut<Choice>,
    mut painting: ResMut<common::Painting>,
    history: Res<TerrainHistory>,
    mut requests: MessageWriter<HistoryRequest>,
    panel: Res<ErosionPanel>,
) -> Result {
    if !panel.visible {
        return Ok(());
    }
    let context = contexts.ctx_mut()?;
    egui::Window::new("Land")
        .anchor(egui::Align2::RIGHT_TOP, [-10.0, 10.0])
        .resizable(false)
        .show(context, |ui| {
            let mut new = (*choice).clone();
            egui::ComboBox::from_label("scene")
                .selected_text(new.scene.as_deref().unwrap_or("none"))
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut new.scene, None, "none");
                    for name in &choice.scenes {
                        ui.selectable_value(&mut new.scene, Some(name.clone()), name);
                    }
                });
            if !new.description.is_empty() {
                ui.label(&new.description);
            }
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
            let other = (new.land, new.seed, new.soil, new.cells)
                != (choice.land, choice.seed, choice.soil, choice.cells);
            if other {
                new.scene = None;
            }
            ui.horizontal(|ui| {
                new.again |= ui.button("start again").clicked();
                if ui.button("new seed").clicked() {
                    new.seed = (new.seed + 1) % 10_000;
                    new.scene = None;
                    new.again = true;
                }
            });
            ui.separator();
            if let Some(request) = painting.show(ui, &history) {
                requests.write(request);
            }
            ui.separator();
            ui.label("Space pause · N step · R new seed\nC overlays · B before · Tab hide");
            if let Some(error) = &new.error {
                ui.colored_label(egui::Color32::LIGHT_RED, error);
            }
            if other || new.again || new.scene != choice.scene {
                new.again = true;
                *choice = new;
            }
        });
    Ok(())
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut choice: ResMut<Choice>,
    mut time: ResMut<Time<Erosion>>,
    mut view: ResMut<TerrainView>,
    mut panel: ResMut<ErosionPanel>,
    mut backend: ResMut<ErosionBackend>,
) {
    if keys.just_pressed(KeyCode::Space) {
        match time.is_paused() {
            true => time.unpause(),
            false => time.pause(),
        }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        time.pause();
        time.single_step(1);
    }
    if keys.just_pressed(KeyCode::KeyR) {
        if choice.scene.is_none() {
            choice.seed = (choice.seed + 1) % 10_000;
        }
        choice.again = true;
    }
    if keys.just_pressed(KeyCode::KeyC) {
        view.overlay = view.overlay.next();
    }
    if keys.just_pressed(KeyCode::KeyB) {
        view.before = !view.before;
    }
    if keys.just_pressed(KeyCode::KeyG) {
        *backend = match *backend {
            ErosionBackend::Cpu => ErosionBackend::Gpu,
            _ => ErosionBackend::Cpu,
        };
    }
    if keys.just_pressed(KeyCode::Tab) {
        panel.visible = !panel.visible;
    }
}

/// Pick a land or a scene, pick models, turn every knob and watch.
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
