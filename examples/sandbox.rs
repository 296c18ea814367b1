//! The sandbox: pick a land, pick models, turn every knob and watch.
//!
//! `cargo run --example sandbox`
//!
//! Space pauses, N takes one step, R makes a new land with another seed, C
//! shows erosion in red and deposits in blue, B the land as it was, Tab hides
//! the panels. Drag to orbit, drag with the right button to pan, scroll to zoom.
//! Without a display it renders headless and says which PNGs it wrote; without
//! any graphics adapter it writes shaded reliefs.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_erode::prelude::*;
use clap::Parser;

/// Side of the land. units: m
const EXTENT: f32 = 1024.0;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: sandbox");
    app.add_plugins((
        ErosionPlugin::default(),
        EguiPlugin::default(),
        ErosionPanelPlugin,
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
        ..default()
    })
    .insert_resource(Droplets {
        rate: 0.1,
        ..Droplets::default().with_streams()
    })
    .insert_resource(Thermal::default())
    .add_systems(Startup, make_land)
    .add_systems(EguiPrimaryContextPass, show_choice)
    .add_systems(
        Update,
        (
            keys.run_if(resource_exists::<ButtonInput<KeyCode>>),
            make_land.run_if(|choice: Res<Choice>| choice.again),
        )
            .chain()
            .before(ErosionSystems::Input),
    );

    let seconds = cli.options.seconds_or(12.0);
    // Pictures for people: the land alone, and once with the panels.
    let hide = |world: &mut World| world.resource_mut::<ErosionPanel>().visible = false;
    let mut film = common::Film::new()
        .shot_with("start", 0.0, hide)
        .shot("middle", 0.3 * seconds)
        .shot("end", seconds)
        .shot_with("change", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::Change;
        });
    // A relief shows no panels.
    if app.world().resource::<common::Mode>().renders() {
        film = film.shot_with("panel", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::None;
            world.resource_mut::<ErosionPanel>().visible = true;
        });
    }
    common::run(app, film)
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
    /// Whether to make the land again.
    again: bool,
    /// What was wrong with the last attempt.
    error: Option<String>,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            land: Land::Range,
            seed: 12,
            cells: 512,
            soil: 0.0,
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

    fn form(self, seed: u32) -> Box<dyn Landform> {
        match self {
            Land::Range => {
                let peaks = Ridged::seeded(seed)
                    .with_feature_size(430.0)
                    .with_height(230.0);
                // Wider than the land: it falls off on all sides, but has no shore.
                Box::new(Island {
                    radius: 800.0,
                    falloff: 620.0,
                    ..Island::new(peaks, seed)
                })
            }
            Land::Island => Box::new(Island::new(Ridged::seeded(seed), seed)),
            Land::Ridged => Box::new(Ridged::seeded(seed)),
            Land::Fbm => Box::new(Fbm::seeded(seed)),
            Land::Billow => Box::new(Billow::seeded(seed)),
            Land::Warped => Box::new(Warped::new(Ridged::seeded(seed), seed)),
            Land::Faults => Box::new(Faults::seeded(seed)),
            Land::Cone => Box::new(ConicalHill {
                seed,
                ..ConicalHill::default()
            }),
            Land::Plane => Box::new(Sum {
                a: TiltedPlane::default(),
                b: Fbm::seeded(seed).with_feature_size(60.0).with_height(4.0),
            }),
            Land::Waves => Box::new(SineWaves::default()),
            Land::Basin => Box::new(FourSlopeBasin::default()),
            Land::Channel => Box::new(WindingChannel::default()),
            Land::Letters => Box::new(Letters::seeded(seed)),
        }
    }
}

fn make_land(mut commands: Commands, mut choice: ResMut<Choice>) {
    choice.again = false;
    let cell_size = EXTENT / choice.cells.max(1) as f32;
    let form = choice.land.form(choice.seed);
    let terrain = Terrain::generate(&*form, UVec2::splat(choice.cells), cell_size)
        .and_then(|terrain| terrain.with_soil_depth(choice.soil));
    choice.error = match terrain {
        Ok(terrain) => {
            commands.insert_resource(terrain);
            None
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(error) = &choice.error {
        error!("{error}");
    }
}

fn show_choice(
    mut contexts: EguiContexts,
    mut choice: ResMut<Choice>,
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
            ui.horizontal(|ui| {
                new.again |= ui.button("start again").clicked();
                if ui.button("new seed").clicked() {
                    new.seed = (new.seed + 1) % 10_000;
                    new.again = true;
                }
            });
            ui.label("Space pause · N step · R new seed\nC change · B before · Tab hide");
            if let Some(error) = &new.error {
                ui.colored_label(egui::Color32::LIGHT_RED, error);
            }
            if other || new.again {
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
        choice.seed = (choice.seed + 1) % 10_000;
        choice.again = true;
    }
    if keys.just_pressed(KeyCode::KeyC) {
        view.overlay = match view.overlay {
            Overlay::None => Overlay::Change,
            Overlay::Change => Overlay::None,
        };
    }
    if keys.just_pressed(KeyCode::KeyB) {
        view.before = !view.before;
    }
    if keys.just_pressed(KeyCode::Tab) {
        panel.visible = !panel.visible;
    }
}

/// Pick a land, pick models, turn every knob and watch.
#[derive(Parser)]
struct Cli {
    /// The land to start with.
    #[arg(long, value_enum, default_value = "range")]
    land: Land,
    /// Another seed gives another land of the same kind.
    #[arg(long, default_value_t = 12)]
    seed: u32,
    /// Cells along each side.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(2..=4096))]
    cells: u32,
    #[command(flatten)]
    options: common::Options,
}
