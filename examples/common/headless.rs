//! Screenshots without a window: simulates fast, then renders, for each of them.

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
    ExampleCamera, Mode, Options, Screenshots, picture,
    probe::{erosion_seconds, paint_hillshade, terrain_is_drawn},
};
use bevy_erode::prelude::Terrain;

/// Time step of an update while it simulates: one fixed step of Bevy's, up to the
/// longest that its virtual clock takes. units: s
const SHORT_STRIDE: f32 = 1.0 / 64.0;
const LONG_STRIDE: f32 = 0.25;
/// Time step of a frame while a screenshot is rendered.
const FRAME: Duration = Duration::from_millis(16);
/// Complete frames in a row before the screenshot is taken.
const STEADY_FRAMES: u32 = 3;
/// Time without any progress after which it fails.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);
/// Time past the limit after which a frame counts as hung.
const WATCHDOG_MARGIN: Duration = Duration::from_secs(30);
/// Longest time to wait for the first meshes.
const FIRST_MESHES_TIMEOUT: Duration = Duration::from_secs(20);
/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// Set by the renderer: nothing is left to compile.
#[derive(Resource, Default)]
struct PipelinesReady(bool);

/// The screenshot, once the renderer has delivered it.
#[derive(Resource, Default)]
struct Captured(Option<Image>);

/// Runs an app to take its screenshots.
pub struct HeadlessRunner {
    app: App,
    mode: Mode,
    options: Options,
    began: Instant,
    /// Whether the time of shaders and of a frame was reported.
    reported_frame: bool,
}

impl HeadlessRunner {
    pub fn new(mut app: App) -> Result<Self, String> {
        let mode = *app.world().resource::<Mode>();
        let options = app.world().resource::<Options>().clone();
        let out = &options.out;
        fs::create_dir_all(out)
            .map_err(|error| format!("cannot create the folder {}: {error}", out.display()))?;

        app.init_resource::<PipelinesReady>()
            .init_resource::<Captured>();
        if let Some(renderer) = app.get_sub_app_mut(RenderApp) {
            renderer.add_systems(ExtractSchedule, check_pipelines);
        }
        app.finish();
        app.cleanup();
        let mut runner = Self {
            app,
            mode,
            options,
            began: Instant::now(),
            reported_frame: false,
        };
        runner.start_watchdog();
        runner.pause_erosion();
        runner.update()?;
        if mode == Mode::Offscreen {
            runner.wait_for_first_meshes()?;
        }
        Ok(runner)
    }

    /// Waits for the first meshes while no camera renders: a software renderer would
    /// take the cores that build them.
    fn wait_for_first_meshes(&mut self) -> Result<(), String> {
        let began = Instant::now();
        let is_due =
            |world: &World| world.contains_resource::<Terrain>() && !terrain_is_drawn(world);
        while is_due(self.app.world()) && began.elapsed() < FIRST_MESHES_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
            self.update()?;
        }
        Ok(())
    }

    /// Takes all screenshots, in order.
    pub fn take(&mut self, screenshots: Screenshots) -> Result<(), String> {
        for shot in screenshots.shots {
            self.simulate(shot.seconds)?;
            if let Some(before) = shot.before {
                before(self.app.world_mut());
            }
            let path = self.options.out.join(format!("{}.png", shot.name));
            match self.mode {
                Mode::Hillshade => paint_hillshade(self.app.world(), &path)?,
                _ => self.render_picture(&path, screenshots.ready)?,
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
        // The first stride is short: it shows how fast erosion runs.
        let mut stride = SHORT_STRIDE;
        self.app
            .world_mut()
            .resource_mut::<Time<Virtual>>()
            .unpause();
        while seconds + 1e-3 < until {
            self.set_time_step(Duration::from_secs_f32(stride));
            self.update()?;

            let now = erosion_seconds(self.app.world());
            if now > seconds {
                moved = Instant::now();
                let speed = (now - seconds) / stride;
                stride = ((until - now) / speed).clamp(SHORT_STRIDE, LONG_STRIDE);
            }
            seconds = now;
            if moved.elapsed() > STALL_TIMEOUT {
                return Err(format!(
                    "no progress: erosion is at {seconds:.1} of {until:.1} s; is it paused?"
                ));
            }
            if reported.elapsed() > REPORT_INTERVAL {
                reported = Instant::now();
                println!("  {seconds:.1} of {until:.1} s of erosion");
            }
        }
        self.pause_erosion();
        Ok(())
    }

    /// Renders frames until everything is ready, and saves a screenshot.
    fn render_picture(&mut self, path: &Path, ready: fn(&World) -> bool) -> Result<(), String> {
        let target = self.set_camera_active(true)?;
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
            if began.elapsed() > STALL_TIMEOUT {
                return Err(format!(
                    "{} was not ready to be rendered in time",
                    path.display()
                ));
            }
        }
        if !core::mem::replace(&mut self.reported_frame, true) {
            let shaders = (since_steady - began).saturating_sub(frame).as_secs_f32();
            let frame = frame.as_secs_f32();
            println!("  shaders compiled in {shaders:.1} s, {frame:.2} s per frame");
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
        self.set_camera_active(false)?;
        let picture = loop {
            if let Some(picture) = self.app.world_mut().resource_mut::<Captured>().0.take() {
                break picture;
            }
            if began.elapsed() > STALL_TIMEOUT {
                return Err(format!(
                    "the renderer delivered no screenshot for {}",
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

    /// Turns the camera on or off and returns the image that it renders to.
    fn set_camera_active(&mut self, on: bool) -> Result<Handle<Image>, String> {
        let world = self.app.world_mut();
        let mut cameras =
            world.query_filtered::<(&mut Camera, &RenderTarget), With<ExampleCamera>>();
        let mut target = None;
        for (mut camera, render_target) in cameras.iter_mut(world) {
            camera.is_active = on;
            target = render_target.as_image().cloned();
        }
        target.ok_or_else(|| "no camera: add the plugin common::SunAndCamera to the app".into())
    }

    /// Pauses erosion while screenshots are rendered. The real clock runs on, so that
    /// panels and cameras finish their animations.
    fn pause_erosion(&mut self) {
        self.app.world_mut().resource_mut::<Time<Virtual>>().pause();
        self.set_time_step(FRAME);
    }

    fn set_time_step(&mut self, stride: Duration) {
        self.app
            .insert_resource(TimeUpdateStrategy::ManualDuration(stride));
    }

    /// Runs one frame. Fails if the app exits or the time limit is over.
    fn update(&mut self) -> Result<(), String> {
        self.app.update();
        if let Some(exit) = self.app.should_exit() {
            return Err(format!(
                "the app exited before the last screenshot ({exit:?})"
            ));
        }
        if self.began.elapsed() > self.options.limit {
            let limit = self.options.limit.as_secs_f32();
            return Err(format!("time limit of {limit} s exceeded (see --limit)"));
        }
        Ok(())
    }

    /// Ends the program even if a frame never ends.
    fn start_watchdog(&self) {
        let end = self.options.limit + WATCHDOG_MARGIN;
        thread::spawn(move || {
            thread::sleep(end);
            eprintln!("error: time limit exceeded, and a frame hangs (see --limit)");
            std::process::exit(1);
        });
    }
}

/// Reports to the main world whether all pipelines are compiled.
fn check_pipelines(mut main: ResMut<MainWorld>, pipelines: Res<PipelineCache>) {
    main.resource_mut::<PipelinesReady>().0 = pipelines.waiting_pipelines().next().is_none();
}
