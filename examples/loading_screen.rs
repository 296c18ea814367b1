//! A loading screen: a terrain is baked (eroded ahead of time) in the background while a
//! progress bar shows how far it is; the game begins when it is done.
//!
//! `cargo run --example loading_screen`
//!
//! Escape cancels and starts again with another seed.

mod common;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_erode::prelude::*;
use bevy_erode::{bake::BakeModel, models::thermal::ThermalSolver};
use clap::Parser;

const CELLS: u32 = 384;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: loading screen");
    app.add_plugins((
        ErosionPlugin::default(),
        EguiPlugin::default(),
        common::SunAndCamera::new(CELLS as f32 * 2.0, 200.0),
    ))
    .insert_resource(Loading {
        seed: 7,
        drops: cli.drops,
        title: "Eroding the terrain".into(),
    })
    .add_systems(Startup, start)
    .add_systems(
        Update,
        (
            cancel.run_if(resource_exists::<ButtonInput<KeyCode>>),
            begin,
        ),
    )
    .add_systems(EguiPrimaryContextPass, show_bar);
    let seconds = cli.options.seconds_or(2.0);
    // The first picture is taken at once, of the bar.
    let mut screenshots = common::Screenshots::start_and_end(seconds);
    screenshots.ready =
        |world| world.contains_resource::<Terrain>() || world.resource::<Loading>().half_way(world);
    common::run(app, screenshots)
}

#[derive(Resource)]
struct Loading {
    seed: u32,
    drops: u64,
    title: String,
}

impl Loading {
    fn half_way(&self, world: &World) -> bool {
        let bakes = world.try_query::<&BakeTask>();
        bakes.is_some_and(|mut bakes| bakes.iter(world).any(|bake| bake.done() > 0.4))
    }
}

fn start(mut commands: Commands, loading: Res<Loading>) -> Result {
    let range = Ridged::seeded(loading.seed).with_feature_size(320.0);
    let land = Terrain::generate(&range, UVec2::splat(CELLS), 2.0)?;
    // Hours of rain and frost in a few seconds.
    let bake = Bake::new(land)
        .droplets(Droplets::default().with_streams(), loading.drops)
        .with_step(0.1)
        .simulate(8.0, [BakeModel::new::<ThermalSolver>(Thermal::default())]);
    commands.spawn(BakeTask::start(bake));
    Ok(())
}

fn cancel(keys: Res<ButtonInput<KeyCode>>, bakes: Query<&BakeTask>) {
    if keys.just_pressed(KeyCode::Escape) {
        bakes.iter().for_each(BakeTask::cancel);
    }
}

/// The game begins, or loading starts again.
fn begin(
    mut commands: Commands,
    mut finished: MessageReader<BakeFinished>,
    mut loading: ResMut<Loading>,
) {
    for BakeFinished { result, .. } in finished.read() {
        match result {
            Ok(took) => {
                info!("baked in {:.1} s", took.as_secs_f32());
                // From here on it is an ordinary, living terrain.
                commands.insert_resource(Thermal::default());
            }
            Err(error) => {
                warn!("bake failed: {error}; trying another seed");
                loading.seed += 1;
                loading.title = format!("Eroding terrain {}", loading.seed);
                commands.run_system_cached(start);
            }
        }
    }
}

fn show_bar(mut contexts: EguiContexts, bakes: Query<&BakeTask>, loading: Res<Loading>) -> Result {
    let Ok(bake) = bakes.single() else {
        return Ok(());
    };
    let context = contexts.ctx_mut()?;
    egui::Window::new(&loading.title)
        .collapsible(false)
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .show(context, |ui| {
            ui.set_width(320.0);
            ui.add(egui::ProgressBar::new(bake.done()).show_percentage());
            match bake.time_left() {
                Some(left) => ui.label(format!("{:.0} s to go", left.as_secs_f32().ceil())),
                None => ui.label("starting"),
            };
            if ui.button("Another seed (Esc)").clicked() {
                bake.cancel();
            }
        });
    Ok(())
}

/// A progress bar while a land is baked.
#[derive(Parser)]
struct Cli {
    /// Droplets to bake
    #[arg(long, default_value_t = 400_000)]
    drops: u64,
    #[command(flatten)]
    options: common::Options,
}
