//! The least there is to it: a terrain, a model, a camera and a light.
//!
//! `cargo run --example minimal`

mod common;

use bevy::prelude::*;
use bevy_erode::prelude::*;
use clap::Parser;

fn main() -> AppExit {
    let options = Cli::parse().options;
    // `common` stands for `DefaultPlugins`, with a headless mode for machines
    // without a display, and for a camera and a light as in any Bevy scene.
    let mut app = common::app(&options, "bevy_erode: minimal");
    app.add_plugins((
        ErosionPlugin::default(),
        common::SunAndCamera::new(512.0, 120.0),
    ))
    .add_systems(Startup, setup);
    common::run(
        app,
        common::Screenshots::start_and_end(options.seconds_or(10.0)),
    )
}

fn setup(mut commands: Commands) -> Result {
    let mountains = Ridged::seeded(7)
        .with_feature_size(250.0)
        .with_height(120.0);
    commands.insert_resource(Terrain::generate(&mountains, UVec2::splat(256), 2.0)?);
    commands.insert_resource(Droplets::default());
    Ok(())
}

/// A terrain that erodes, in a few lines.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: common::Options,
}
