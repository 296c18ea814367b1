//! The panel as a user meets it: shown without a window, and clicked by what is
//! written on it.

use super::*;
use crate::{
    ErosionPlugin,
    forcing::{
        Rain, RainPattern, Season,
        edits::{Brush, TerrainEdit, TerrainHistory},
    },
    models::{droplet::Droplets, pipe::PipeModel, thermal::Thermal},
    schedule::{Erosion, ErosionTime},
    terrain::{Terrain, landform::Ridged},
};
use bevy::{math::UVec2, time::TimeUpdateStrategy};
use bevy_egui::egui::{
    Event, Id, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, pos2, vec2,
};
use core::time::Duration;

/// An app with erosion and the panel, and egui's context without a window.
struct Bench {
    app: App,
    context: egui::Context,
    size: egui::Vec2,
    scale: f32,
    /// Texts that were drawn last, and where.
    texts: Vec<(String, Rect)>,
}

impl Bench {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ErosionPlugin::default(), ErosionPanelPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
                100,
            )));
        let land = Terrain::generate(&Ridged::seeded(5), UVec2::new(48, 32), 4.0);
        app.insert_resource(land.expect("a valid land"));
        app.update();
        Self {
            app,
            context: egui::Context::default(),
            size: vec2(960.0, 540.0),
            scale: 1.0,
            texts: Vec::new(),
        }
    }

    /// The same with all sections open.
    fn open() -> Self {
        let mut bench = Self::new();
        let mut sections = bench.world().resource_mut::<PanelSections>();
        sections
            .0
            .iter_mut()
            .for_each(|section| section.open = true);
        bench
    }

    fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// A frame with these events.
    fn frame(&mut self, events: Vec<Event>) {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            events,
            ..Default::default()
        };
        let viewport = input.viewports.entry(input.viewport_id).or_default();
        viewport.native_pixels_per_point = Some(self.scale);
        self.context.begin_pass(input);
        show(&self.context, self.app.world_mut());
        let output = self.context.end_pass();
        self.texts.clear();
        for clipped in output.shapes {
            collect(&clipped.shape, clipped.clip_rect, &mut self.texts);
        }
    }

    /// Where a text stands, if it is seen.
    fn find(&self, text: &str) -> Option<Pos2> {
        let found = self.texts.iter().find(|(written, _)| written == text);
        found.map(|(_, place)| place.center())
    }

    /// Where a text stands when nothing moves any more, if it is seen.
    fn settle(&mut self, text: &str) -> Option<Pos2> {
        // A window is not drawn in its first frame.
        for number in 0..120 {
            let before = self.texts.clone();
            self.frame(vec![]);
            if number > 2 && before == self.texts {
                break;
            }
        }
        self.find(text)
    }

    /// Clicks on a text, wherever it must be scrolled to.
    fn click(&mut self, text: &str) {
        for _ in 0..40 {
            if let Some(at) = self.settle(text) {
                self.frame(vec![Event::PointerMoved(at)]);
                for pressed in [true, false] {
                    self.frame(vec![Event::PointerButton {
                        pos: at,
                        button: PointerButton::Primary,
                        pressed,
                        modifiers: Modifiers::NONE,
                    }]);
                }
                return;
            }
            // Both windows are scrolled, one after the other.
            for x in [100.0, self.size.x - 100.0] {
                let at = pos2(x, 0.5 * self.size.y);
                self.frame(vec![
                    Event::PointerMoved(at),
                    Event::MouseWheel {
                        unit: egui::MouseWheelUnit::Point,
                        delta: vec2(0.0, -60.0),
                        phase: egui::TouchPhase::Move,
                        modifiers: Modifiers::NONE,
                    },
                ]);
            }
        }
        let texts: Vec<&String> = self.texts.iter().map(|(text, _)| text).collect();
        panic!("`{text}` is nowhere to be seen; there are {texts:?}");
    }
}

fn collect(shape: &Shape, clip: Rect, texts: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Vec(shapes) => {
            for shape in shapes {
                collect(shape, clip, texts);
            }
        }
        Shape::Text(text) => {
            let place = text.visual_bounding_rect();
            if clip.contains(place.center()) {
                texts.push((text.galley.text().to_owned(), place));
            }
        }
        _ => {}
    }
}

#[test]
fn the_panel_fits_small_screens_and_high_resolutions() {
    for (size, scale) in [
        (vec2(480.0, 270.0), 1.0),
        (vec2(960.0, 540.0), 1.0),
        (vec2(960.0, 540.0), 2.0),
        (vec2(3840.0, 2160.0), 1.5),
        (vec2(320.0, 200.0), 1.0),
    ] {
        let mut bench = Bench::open();
        (bench.size, bench.scale) = (size, scale);
        // All models are on, their settings open: there is most to show.
        bench.world().init_resource::<PipeModel>();
        bench.world().init_resource::<Droplets>();
        for _ in 0..6 {
            bench.frame(vec![]);
        }
        assert_eq!(bench.context.pixels_per_point(), scale);
        let screen = Rect::from_min_size(Pos2::ZERO, size);
        let place = |title: &str| {
            let area = bench
                .context
                .memory(|memory| memory.area_rect(Id::new(title)));
            area.map(|area| area.expand(-0.5))
        };
        let left = place("Erosion").expect("it is shown");
        assert!(screen.contains_rect(left), "{left:?} at {size:?}");
        let right = place("Tools");
        assert_eq!(right.is_some(), size.x >= 800.0, "{size:?}");
        if let Some(right) = right {
            assert!(screen.contains_rect(right), "{right:?} at {size:?}");
            // Most of the land is to be seen.
            assert!(right.left() - left.right() > 0.35 * size.x, "{size:?}");
        }
        let most = left.width().max(right.map_or(0.0, |right| right.width()));
        assert!(most <= 300.0, "{most} at {size:?}");
    }
}

#[test]
fn clicks_reach_clock_and_models() {
    let mut bench = Bench::open();
    bench.click("⏸ pause");
    assert!(bench.world().resource::<Time<Erosion>>().is_paused());
    bench.click("step");
    bench.app.update();
    assert_eq!(bench.world().resource::<Time<Erosion>>().steps(), 1);
    bench.click("▶ run");
    assert!(!bench.world().resource::<Time<Erosion>>().is_paused());
    assert!(!bench.world().contains_resource::<Thermal>());
    bench.click("Thermal weathering");
    assert!(bench.world().contains_resource::<Thermal>());
    bench.click("Thermal weathering");
    assert!(!bench.world().contains_resource::<Thermal>());
    // What is wrong is said where the settings are.
    bench.world().insert_resource(Thermal {
        shelter: -1.0,
        ..default()
    });
    for _ in 0..3 {
        bench.app.update();
    }
    bench.frame(vec![]);
    let said = bench.world().resource::<ErosionPanel>().fault.clone();
    assert!(said.is_some_and(|said| said.contains("shelter")));
}

#[test]
fn parts_and_variants_of_settings_are_clicked() {
    let mut bench = Bench::new();
    bench.world().init_resource::<Rain>();
    let section = PanelSection::new("My rain", |ui, world| {
        let mut rain = world.resource::<Rain>().clone();
        if show_settings(ui, &mut rain) {
            world.insert_resource(rain);
        }
    });
    bench.world().insert_resource(PanelSections(vec![section]));
    bench.click("in a season");
    let season = Some(Season::default());
    assert_eq!(bench.world().resource::<Rain>().season, season);
    bench.click("spaced drops");
    let rain = bench.world().resource::<Rain>().clone();
    assert_eq!(rain.pattern, RainPattern::blue_noise(0));
    assert_eq!(rain.season, season, "the rest stays");
    assert!(bench.settle("spacing").is_some() && bench.settle("share").is_some());
    bench.click("even");
    bench.click("in a season");
    assert_eq!(*bench.world().resource::<Rain>(), Rain::default());
    assert!(bench.settle("spacing").is_none());
}

#[test]
fn undo_and_redo_are_clicked() {
    let mut bench = Bench::open();
    bench.world().resource_mut::<Time<Erosion>>().pause();
    let before = bench.world().resource::<Terrain>().state_hash();
    let edit = TerrainEdit::raise(Vec3::ZERO, Brush::circle(20.0)).with_strength(5.0);
    bench.world().write_message(edit);
    bench.app.update();
    let raised = bench.world().resource::<Terrain>().state_hash();
    assert_ne!(raised, before);
    bench.click("undo (1)");
    bench.app.update();
    assert_eq!(bench.world().resource::<Terrain>().state_hash(), before);
    bench.click("redo (1)");
    bench.app.update();
    assert_eq!(bench.world().resource::<Terrain>().state_hash(), raised);
    assert_eq!(bench.world().resource::<TerrainHistory>().undo_count(), 1);
}

#[test]
fn a_brush_is_chosen_from_the_list() {
    let mut bench = Bench::open();
    bench.click("none");
    bench.click("take water");
    let tool = bench.world().resource::<PanelBrush>().tool;
    assert_eq!(
        tool,
        Some(BrushTool::Take(crate::forcing::edits::Matter::Water))
    );
}

#[test]
fn f1_lists_the_keys() {
    let mut bench = Bench::new();
    bench
        .world()
        .resource_mut::<Shortcuts>()
        .extend([("Ctrl+K", "does something")]);
    let press = |pressed| Event::Key {
        key: Key::F1,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    bench.frame(vec![]);
    assert!(bench.find("Ctrl+K").is_none());
    bench.frame(vec![press(true)]);
    bench.frame(vec![press(false)]);
    bench.frame(vec![]);
    assert!(bench.find("Ctrl+K").is_some() && bench.find("does something").is_some());
    bench.frame(vec![press(true)]);
    bench.frame(vec![press(false)]);
    bench.frame(vec![]);
    assert!(bench.find("Ctrl+K").is_none());
}

#[test]
fn keys_are_the_games_unless_text_is_typed() {
    let mut bench = Bench::open();
    let tab = Event::Key {
        key: Key::Tab,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    for _ in 0..3 {
        bench.frame(vec![tab.clone()]);
        bench.frame(vec![]);
        assert_eq!(bench.context.memory(|memory| memory.focused()), None);
    }
    bench.click("land.erode");
    bench.frame(vec![]);
    assert!(bench.context.text_edit_focused());
}

#[test]
fn plots_follow_a_running_model() {
    let mut bench = Bench::new();
    bench.world().init_resource::<Thermal>();
    for _ in 0..60 {
        bench.app.update();
    }
    let plots = bench.world().resource::<PanelPlots>().clone();
    for plot in plots.all() {
        assert!(
            plot.values().len() > 10,
            "{}: {}",
            plot.name,
            plot.values().len()
        );
    }
    assert!(plots.eroded.values().last() > plots.eroded.values().next());
    assert!(plots.drift.values().all(|drift| drift.abs() < 1e-6));
    // Another terrain is another story.
    let terrain = bench.world().resource::<Terrain>().clone();
    bench.app.insert_resource(terrain);
    for _ in 0..4 {
        bench.app.update();
    }
    assert!(bench.world().resource::<PanelPlots>().water.values().len() < 4);
}

#[test]
fn bakes_are_started_watched_and_cancelled() {
    use crate::bake::{BakeError, BakeFinished, BakeTask};
    let mut bench = Bench::open();
    bench.click("bake droplets");
    let mut tasks = bench.world().query::<&BakeTask>();
    assert_eq!(tasks.iter(bench.app.world()).count(), 1);
    // A longer one, so that there is time to cancel it.
    let land = bench.world().resource::<Terrain>().clone();
    let long = crate::bake::Bake::new(land).droplets(Droplets::default(), 500_000_000);
    let mut entities = bench.world().query_filtered::<Entity, With<BakeTask>>();
    let entity = entities.single(bench.app.world()).expect("one");
    bench
        .world()
        .entity_mut(entity)
        .insert(BakeTask::start(long));
    bench.click("cancel");
    let mut result = None;
    for _ in 0..2000 {
        bench.app.update();
        let mut finished = bench.world().resource_mut::<Messages<BakeFinished>>();
        if let Some(finished) = finished.drain().find(|finished| finished.entity == entity) {
            result = Some(finished.result);
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(result, Some(Err(BakeError::Cancelled)));
}

#[cfg(feature = "serialize")]
mod with_files;
