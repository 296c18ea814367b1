//! The stage that all examples share: camera, light and sky, and a headless
//! mode that writes pictures on machines without a display or even a GPU.
//!
//! ```ignore
//! mod common;
//!
//! fn main() -> AppExit {
//!     let cli = Cli::parse();                                   // flattens `common::Options`
//!     let mut app = common::app(&cli.common, "Erosion: basic");
//!     app.add_plugins((ErosionPlugin, common::Stage::new(512.0, 120.0)));
//!     common::run(app, common::Film::start_and_end(cli.common.seconds_or(60.0)))
//! }
//! ```
#![allow(
    dead_code,
    unused_imports,
    reason = "each example uses only a part of it"
)]

mod args;
mod brush;
mod film;
mod hand;
mod headless;
mod land;
mod mode;
mod picture;
mod plinth;
mod probe;
mod report;
mod scenes;
mod sky;
mod stage;

pub use args::Options;
pub use brush::{BrushPlugin, held};
pub use film::Film;
pub use hand::{Hand, HandPlugin};
pub use land::Land;
pub use mode::Mode;
pub use report::Report;
pub use scenes::scenes;
pub use stage::{Stage, StageCamera, frame_camera};

use std::time::Instant;

use bevy::{
    log::LogPlugin,
    prelude::*,
    render::{RenderPlugin, pipelined_rendering::PipelinedRenderingPlugin, settings::WgpuSettings},
    window::{ExitCondition, WindowResolution},
    winit::WinitPlugin,
};

/// An app with Bevy's usual plugins, for the best [`Mode`] of this machine.
/// All other plugins, egui too, can be added the same way in every mode.
pub fn app(options: &Options, title: &str) -> App {
    let began = Instant::now();
    let (mode, why) = Mode::choose(options);
    println!("{title}: {why}");

    let log = LogPlugin {
        filter: log_filter(mode),
        ..default()
    };
    let windowless = WindowPlugin {
        primary_window: None,
        exit_condition: ExitCondition::DontExit,
        ..default()
    };
    let plugins = match mode {
        Mode::Window => DefaultPlugins.build().set(WindowPlugin {
            primary_window: Some(Window {
                title: title.into(),
                resolution: WindowResolution::new(options.size.x, options.size.y),
                ..default()
            }),
            ..default()
        }),
        Mode::Offscreen => DefaultPlugins
            .set(windowless)
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
        // Without a back end, Bevy's render plugins stay idle.
        Mode::Relief => DefaultPlugins
            .set(windowless)
            .set(RenderPlugin {
                render_creation: WgpuSettings {
                    backends: None,
                    ..default()
                }
                .into(),
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    };

    let mut app = App::new();
    app.insert_resource(mode)
        .insert_resource(options.clone())
        .add_plugins(plugins.set(log))
        .add_systems(Last, move |world: &mut World, mut told: Local<bool>| {
            if !*told && probe::terrain_is_there(world) {
                *told = true;
                let seconds = began.elapsed().as_secs_f32();
                println!("  the land is there after {seconds:.1} s");
            }
        });
    app
}

/// Warnings, without those about slow or missing graphics adapters, which the
/// first line tells already. `RUST_LOG` in the environment overrides it.
fn log_filter(mode: Mode) -> String {
    let renderer = if mode.renders() { "error" } else { "off" };
    let example = env!("CARGO_CRATE_NAME");
    format!(
        "warn,bevy_erode=info,{example}=info,bevy_render={renderer},\
         bevy_egui=error,winit=error,wgpu=error,wgpu_core=error,wgpu_hal=off,naga=error"
    )
}

/// Runs the app: live in a window, else until the film's pictures are written.
pub fn run(mut app: App, film: Film) -> AppExit {
    match *app.world().resource::<Mode>() {
        Mode::Window => app.run(),
        Mode::Offscreen | Mode::Relief => film.shoot(app),
    }
}
