//! What all examples share: sun, sky and an orbit camera, command line options, and a
//! headless mode that writes screenshots on machines without a display or even a GPU.
//! Your own game needs none of this; see the example `minimal`.
//!
//! ```ignore
//! mod common;
//!
//! fn main() -> AppExit {
//!     let cli = Cli::parse(); // flattens `common::Options`
//!     let mut app = common::app(&cli.options, "bevy_erode: basic");
//!     app.add_plugins((ErosionPlugin::default(), common::SunAndCamera::new(512.0, 120.0)));
//!     common::run(app, common::Screenshots::start_and_end(cli.options.seconds_or(60.0)))
//! }
//! ```
#![allow(
    dead_code,
    unused_imports,
    reason = "each example uses only a part of it"
)]

mod args;
mod brush;
mod hand;
mod headless;
mod land;
mod mode;
mod picture;
mod probe;
mod report;
mod scenes;
mod screenshots;
mod skirt;
mod sky;
mod sun_and_camera;

pub use args::Options;
pub use brush::{BrushPlugin, held};
pub use hand::{Hand, HandPlugin};
pub use land::Land;
pub use mode::Mode;
pub use report::Report;
pub use scenes::scenes;
pub use screenshots::Screenshots;
pub use sun_and_camera::{ExampleCamera, SunAndCamera, frame_camera};

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
        Mode::Hillshade => DefaultPlugins
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
        .add_systems(
            Last,
            move |world: &mut World, mut is_reported: Local<bool>| {
                if !*is_reported && probe::terrain_is_there(world) {
                    *is_reported = true;
                    let seconds = began.elapsed().as_secs_f32();
                    println!("  terrain drawn after {seconds:.1} s");
                }
            },
        );
    app
}

/// Warnings, without those about slow or missing graphics adapters, which the first
/// line of output reports already. `RUST_LOG` in the environment overrides it.
fn log_filter(mode: Mode) -> String {
    let renderer = if mode.renders() { "error" } else { "off" };
    let example = env!("CARGO_CRATE_NAME");
    format!(
        "warn,bevy_erode=info,{example}=info,bevy_render={renderer},\
         bevy_egui=error,winit=error,wgpu=error,wgpu_core=error,wgpu_hal=off,naga=error"
    )
}

/// Runs the app: live in a window, else until all screenshots are written.
pub fn run(mut app: App, screenshots: Screenshots) -> AppExit {
    match *app.world().resource::<Mode>() {
        Mode::Window => app.run(),
        Mode::Offscreen | Mode::Hillshade => screenshots.take(app),
    }
}
