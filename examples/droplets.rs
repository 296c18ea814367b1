//! Droplet erosion: droplets carve a mountain range, before and after, and where the
//! rock went.
//!
//! `cargo run --example droplets [-- --published]`
//!
//! Space pauses, C shows erosion in red and deposits in blue, then the other
//! overlays, B shows the land as it was, R starts again with another seed.

mod common;

use bevy::prelude::*;
use bevy_erode::prelude::*;
use clap::Parser;

const CELLS: u32 = 384;
const CELL_SIZE: f32 = 2.5;

fn main() -> AppExit {
    let cli = Cli::parse();
    let mut app = common::app(&cli.options, "bevy_erode: droplets");
    let extent = CELLS as f32 * CELL_SIZE;
    app.add_plugins((
        ErosionPlugin::default(),
        common::SunAndCamera::new(extent, 250.0),
    ))
    .insert_resource(Seed(7))
    .insert_resource(match cli.published {
        true => Droplets::as_published(),
        false => Droplets {
            rate: 0.1,
            ..Droplets::default().with_streams()
        },
    })
    .add_systems(Startup, start)
    .add_systems(Update, keys.run_if(resource_exists::<ButtonInput<KeyCode>>));
    let seconds = cli.options.seconds_or(8.0);
    let screenshots =
        common::Screenshots::start_and_end(seconds).shot_with("change", seconds, |world| {
            world.resource_mut::<TerrainView>().overlay = Overlay::Change;
        });
    common::run(app, screenshots)
}

#[derive(Resource)]
struct Seed(u32);

fn start(mut commands: Commands, seed: Res<Seed>) -> Result {
    let range = Island::new(Ridged::seeded(seed.0).with_feature_size(380.0), seed.0);
    let terrain = Terrain::generate(&range, UVec2::splat(CELLS), CELL_SIZE)?;
    commands.insert_resource(terrain);
    Ok(())
}

fn keys(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    mut seed: ResMut<Seed>,
    mut time: ResMut<Time<Erosion>>,
    mut view: ResMut<TerrainView>,
) {
    if keys.just_pressed(KeyCode::Space) {
        match time.is_paused() {
            true => time.unpause(),
            false => time.pause(),
        }
    }
    if keys.just_pressed(KeyCode::KeyC) {
        view.overlay = view.overlay.next();
    }
    if keys.just_pressed(KeyCode::KeyB) {
        view.before = !view.before;
    }
    if keys.just_pressed(KeyCode::KeyR) {
        seed.0 += 1;
        commands.run_system_cached(start);
    }
}

/// Droplets carve a mountain range.
#[derive(Parser)]
struct Cli {
    /// Use the method of the source, literally.
    #[arg(long)]
    published: bool,
    #[command(flatten)]
    options: common::Options,
}
