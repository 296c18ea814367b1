//! Pictures without a window: simulate fast, then draw, again and again.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use bevy::{
    camera::RenderTarget,
    prelude::*,
    render::{
        ExtractSchedule, MainWorld, RenderApp,
        render_resource::PipelineCache,
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
};

use super::{
    Film, Mode, Options, StageCamera, picture,
    probe::{erosion_seconds, paint_relief, terrain_is_drawn},
};
use bevy_erode::prelude::Terrain;

/// How far the app's clock moves in one update while it simulates: one fixed
/// step of Bevy's, up to the most that its virtual clock takes. units: s
const SHORT_STRIDE: f32 = 1.0 / 64.0;
const LONG_STRIDE: f32 = 0.25;
/// What the real clock shows as a frame while a picture is drawn.
const FRAME: Duration = Duration::from_millis(16);
/// So many frames in a row must be complete before the picture is taken.
const STEADY_FRAMES: u32 = 3;
/// Without any progress for this long, something is broken.
const PATIENCE: Duration = Duration::from_secs(300);
/// A frame that takes this long past the limit will never end.
const GRACE: Duration = Duration::from_secs(30);
/// The first meshes may take this long before the camera goes on without them.
const FIRST_MESHES: Duration = Duration::from_secs(20);
/// How often to tell how far it got.
const REPORT: Duration = Duration::from_secs(5);

/// Set by the renderer: nothing is left to compile.
#[derive(Resource, Default)]
struct PipelinesReady(bool);

/// Where the picture arrives.
#[derive(Resource, Default)]
struct Captured(Option<Image>);

/// An app that is run for its pictures.
pub struct Studio {
    app: App,
    mode: Mode,
    options: Options,
    began: Instant,
    /// Whether it was told how long shaders and a frame take.
    told_frame: bool,
}

impl Studio {
    pub fn new(mut app: App) -> Result<Self, String> {
        let mode = *app.world().resource::<Mode>();
        let options = app.world().resource::<Options>().clone();
        let out = &options.out;
        fs::create_dir_all(out)
            .map_err(|error| format!("cannot make the folder {}: {error}", out.display()))?;

        app.init_resource::<PipelinesReady>()
            .init_resource::<Captured>();
        if let Some(renderer) = app.get_sub_app_mut(RenderApp) {
            renderer.add_systems(ExtractSchedule, watch_pipelines);
        }
        app.finish();
        app.cleanup();
        let mut studio = Self {
            app,
            mode,
            options,
            began: Instant::now(),
            told_frame: false,
        };
        studio.guard();
        studio.stand_still();
        studio.update()?;
        if mode == Mode::Offscreen {
            studio.wait_for_land()?;
        }
        Ok(studio)
    }

    /// Lets the meshes of the land be built while no camera takes the cores.
    fn wait_for_land(&mut self) -> Result<(), String> {
        let began = Instant::now();
        let is_due =
            |world: &World| world.contains_resource::<Terrain>() && !terrain_is_drawn(world);
        while is_due(self.app.world()) && began.elapsed() < FIRST_MESHES {
            thread::sleep(Duration::from_millis(1));
            self.update()?;
        }
        Ok(())
    }

    /// Takes all pictures, in order.
    pub fn shoot(&mut self, film: Film) -> Result<(), String> {
        for shot in film.shots {
            self.simulate(shot.seconds)?;
            if let Some(before) = shot.before {
                before(self.app.world_mut());
            }
            let path = self.options.out.join(format!("{}.png", shot.name));
            match self.mode {
                Mode::Relief => paint_relief(self.app.world(), &path)?,
                _ => self.photograph(&path, film.ready)?,
            }
            let seconds = erosion_seconds(self.app.world());
            println!("  {} after {seconds:.1} s of erosion", path.display());
        }
        Ok(())
    }

    /// Lets the erosion clock run to `until`, as fast as it can, drawing nothing.
    fn simulate(&mut self, until: f32) -> Result<(), String> {
        let mut seconds = erosion_seconds(self.app.world());
        let (mut moved, mut reported) = (Instant::now(), Instant::now());
        // The first stride is short: it tells how fast erosion runs.
        let mut stride = SHORT_STRIDE;
        self.app
            .world_mut()
            .resource_mut::<Time<Virtual>>()
            .unpause();
        while seconds + 1e-3 < until {
            self.pace(Duration::from_secs_f32(stride));
            self.update()?;

            let now = erosion_seconds(self.app.world());
            if now > seconds {
                moved = Instant::now();
                let speed = (now - seconds) / stride;
                stride = ((until - now) / speed).clamp(SHORT_STRIDE, LONG_STRIDE);
            }
            seconds = now;
            if moved.elapsed() > PATIENCE {
                return Err(format!(
                    "erosion stands still at {seconds:.1} of {until:.1} s: is it paused?"
                ));
            }
            if reported.elapsed() > REPORT {
                reported = Instant::now();
                println!("  {seconds:.1} of {until:.1} s of erosion");
            }
        }
        self.stand_still();
        Ok(())
    }

    /// Draws frames until the picture is complete, and saves it.
    fn photograph(&mut self, path: &Path, ready: fn(&World) -> bool) -> Result<(), String> {
        let target = self.film_camera(true)?;
        let began = Instant::now();
        let mut steady = 0;
        let (mut since_steady, mut frame) = (began, Duration::ZERO);
        while steady < STEADY_FRAMES {
            self.update()?;
            let world = self.app.world();
            let complete = world.resource::<PipelinesReady>().0 && ready(world);
            if steady == 0 {
                since_steady = Instant::now();
            }
            steady = if complete { steady + 1 } else { 0 };
            frame = since_steady.elapsed() / (STEADY_FRAMES - 1);
            if began.elapsed() > PATIENCE {
                return Err(format!("{} never got ready to be drawn", path.display()));
            }
        }
        if !core::mem::replace(&mut self.told_frame, true) {
            let shaders = (since_steady - began).saturating_sub(frame).as_secs_f32();
            let frame = frame.as_secs_f32();
            println!("  shaders took {shaders:.1} s, and each frame takes {frame:.2} s");
        }
        self.app
            .world_mut()
            .spawn(Screenshot::image(target))
            .observe(
                |captured: On<ScreenshotCaptured>, mut slot: ResMut<Captured>| {
                    slot.0 = Some(captured.image.clone());
                },
            );
        // One frame is enough: only its way back from the renderer takes longer.
        self.update()?;
        self.film_camera(false)?;
        let picture = loop {
            if let Some(picture) = self.app.world_mut().resource_mut::<Captured>().0.take() {
                break picture;
            }
            if began.elapsed() > PATIENCE {
                return Err(format!(
                    "no picture for {} came from the renderer",
                    path.display()
                ));
            }
            self.update()?;
        };

        let fail = |error: String| format!("cannot write {}: {error}", path.display());
        let picture = picture
            .try_into_dynamic()
            .map_err(|error| fail(error.to_string()))?;
        let mut picture = picture.to_rgb8();
        if self.options.smooth {
            picture = picture::halve(&picture);
        }
        match self.options.palette {
            true => picture::save_with_palette(&picture, path).map_err(|e| fail(e.to_string())),
            false => picture.save(path).map_err(|e| fail(e.to_string())),
        }
    }

    /// Switches the stage's camera and returns the image it films to.
    fn film_camera(&mut self, on: bool) -> Result<Handle<Image>, String> {
        let world = self.app.world_mut();
        let mut cameras = world.query_filtered::<(&mut Camera, &RenderTarget), With<StageCamera>>();
        let mut target = None;
        for (mut camera, film) in cameras.iter_mut(world) {
            camera.is_active = on;
            target = film.as_image().cloned();
        }
        target.ok_or_else(|| "there is no camera: add common::Stage to the app".into())
    }

    /// Holds erosion while pictures are drawn; the real clock runs on, so
    /// that panels and cameras finish what they are at.
    fn stand_still(&mut self) {
        self.app.world_mut().resource_mut::<Time<Virtual>>().pause();
        self.pace(FRAME);
    }

    fn pace(&mut self, stride: Duration) {
        self.app
            .insert_resource(TimeUpdateStrategy::ManualDuration(stride));
    }

    /// One frame, with all that can go wrong.
    fn update(&mut self) -> Result<(), String> {
        self.app.update();
        if let Some(exit) = self.app.should_exit() {
            return Err(format!(
                "the app stopped before the last picture ({exit:?})"
            ));
        }
        if self.began.elapsed() > self.options.limit {
            let limit = self.options.limit.as_secs_f32();
            return Err(format!("not done within {limit} s (see --limit)"));
        }
        Ok(())
    }

    /// Ends the program even if a frame never ends.
    fn guard(&self) {
        let end = self.options.limit + GRACE;
        thread::spawn(move || {
            thread::sleep(end);
            eprintln!("error: not done within the time limit, and a frame hangs (see --limit)");
            std::process::exit(1);
        });
    }
}

/// Tells the main world whether all pipelines are compiled.
fn watch_pipelines(mut main: ResMut<MainWorld>, pipelines: Res<PipelineCache>) {
    main.resource_mut::<PipelinesReady>().0 = pipelines.waiting_pipelines().next().is_none();
}
