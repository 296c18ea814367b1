//! The panel as a user meets it: shown without a window, and clicked by what is
//! written on it.

use super::*;
use crate::{
    ErosionPlugin,
    forcing::edits::{Brush, TerrainEdit, TerrainHistory},
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

    /// Clicks on a text, wherever it must be scrolled to.
    fn click(&mut self, text: &str) {
        for _ in 0..40 {
            self.frame(vec![]);
            self.frame(vec![]);
            if let Some(at) = self.find(text) {
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
        (vec2(200.0, 120.0), 1.0),
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
    bench.click("age the land");
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
mod with_files {
    use super::*;
    use crate::{
        forcing::{Rain, WaterSink, WaterSource},
        scene::{ErosionPreset, ErosionScene},
    };
    use std::{fs, path::PathBuf};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("bevy_erode_{}_{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("writable");
        folder
    }

    #[test]
    fn a_preset_goes_there_and_back() {
        let mut bench = Bench::open();
        let rain = Rain::mm_per_hour(123.0);
        let source = WaterSource::cubic_metres_per_second(3.0).with_sediment(0.1);
        bench.app.insert_resource(rain.clone());
        bench.app.insert_resource(PipeModel {
            roughness: 0.05,
            ..default()
        });
        bench
            .world()
            .spawn((source, Transform::from_xyz(10.0, 0.0, -4.0)));
        bench
            .world()
            .spawn((WaterSink::default(), Transform::from_xyz(-10.0, 0.0, 4.0)));
        bench.click("write out");
        let text = bench.world().resource::<PanelPresets>().text.clone();
        let captured = ErosionPreset::from_ron("text", &text).expect("readable");
        assert_eq!(captured.forcing.sources[0].sediment, 0.1);
        // A preset is a part of a scene.
        ErosionScene::from_ron("text", &text).expect("readable as a scene");

        bench.world().remove_resource::<PipeModel>();
        bench.world().remove_resource::<Rain>();
        bench.world().init_resource::<Thermal>();
        let mut sources = bench.world().query::<(Entity, &WaterSource)>();
        let (entity, _) = sources.single(bench.app.world()).expect("one");
        bench.world().entity_mut(entity).remove::<WaterSource>();
        bench.click("apply");
        assert_eq!(bench.world().get_resource::<Rain>(), Some(&rain));
        assert!(!bench.world().contains_resource::<Thermal>());
        let mut again = ErosionPreset::capture(bench.world());
        again.title.clone_from(&captured.title);
        assert_eq!(again, captured);
    }

    #[test]
    fn a_bad_preset_is_refused_with_line_and_field() {
        let mut bench = Bench::open();
        bench.world().init_resource::<Droplets>();
        let before = ErosionPreset::capture(bench.world());
        for (text, said) in [
            (
                "(\n  models: (pipe: (roughness: 5.0)),\n)",
                ["text:2:", "models.pipe.roughness"],
            ),
            (
                "(\n  models: (\n    thermal: (shelter: x)),\n)",
                ["text:3:", "models.thermal.shelter"],
            ),
            ("(models: (magic: ()))", ["text:1:", "magic"]),
            (
                "(forcing: (sources: [(at: (1e6, 0.0))]))",
                ["forcing.sources[0].at", "outside the land"],
            ),
            ("(terrain: (soil_depth: 1.0))", ["text:1:", "terrain"]),
        ] {
            bench.world().resource_mut::<PanelPresets>().text = text.into();
            bench.click("apply");
            let presets = bench.world().resource::<PanelPresets>();
            let line = presets.status().expect("something is said").clone();
            let error = line.expect_err("refused");
            for word in said {
                assert!(error.contains(word), "`{word}` in `{error}`");
            }
            assert_eq!(ErosionPreset::capture(bench.world()), before, "{text}");
        }
    }

    #[test]
    fn presets_are_files_of_a_folder() {
        let mut bench = Bench::open();
        let folder = folder("presets");
        bench.world().init_resource::<Thermal>();
        let mut presets = bench.world().resource_mut::<PanelPresets>();
        presets.folder.clone_from(&folder);
        presets.name = "dry hills".into();
        bench
            .world()
            .resource_scope(|world, mut presets: Mut<PanelPresets>| {
                let path = presets.save(world).expect("saved");
                assert!(path.is_file());
                for bad in ["", "../up", ".hidden", "a/b"] {
                    presets.name = bad.into();
                    assert!(presets.save(world).is_err(), "`{bad}`");
                }
                presets.name = "other".into();
            });
        bench.world().remove_resource::<Thermal>();
        bench.click("dry hills");
        assert!(bench.world().contains_resource::<Thermal>());
        fs::remove_dir_all(folder).expect("removable");
    }

    #[test]
    fn scenes_of_a_folder_are_opened_by_a_click() {
        let mut bench = Bench::open();
        let folder = folder("scenes");
        let hill = "(title: \"A hill\", terrain: (size: (20, 10)), models: (thermal: ()))";
        fs::write(folder.join("hill.scene.ron"), hill).expect("writable");
        fs::write(
            folder.join("wrong.scene.ron"),
            "(\nmodels: (pipe: (gravity: 0.0)))",
        )
        .expect("writable");
        let given = ErosionScene::default();
        bench
            .app
            .insert_resource(PanelScenes::in_folder(&folder).with("given", given));
        bench.click("hill");
        bench.app.update();
        assert_eq!(
            bench.world().resource::<Terrain>().size(),
            UVec2::new(20, 10)
        );
        assert!(bench.world().contains_resource::<Thermal>());
        assert_eq!(
            bench.world().resource::<PanelScenes>().opened(),
            Some("hill")
        );
        let mut opened = bench.world().resource_mut::<Messages<PanelSceneOpened>>();
        let opened: Vec<_> = opened.drain().collect();
        assert!(opened.len() == 1 && opened[0].scene.title == "A hill" && !opened[0].again);

        bench.click("wrong");
        bench.app.update();
        assert_eq!(
            bench.world().resource::<PanelScenes>().opened(),
            Some("hill")
        );
        bench.frame(vec![]);
        let error = bench
            .world()
            .resource::<PanelScenes>()
            .error()
            .expect("said");
        assert!(error.contains("wrong.scene.ron:2:") && error.contains("models.pipe.gravity"));
        fs::remove_dir_all(folder).expect("removable");
    }

    #[cfg(feature = "io")]
    #[test]
    fn states_and_heightmaps_are_written_and_read() {
        use crate::{
            forcing::RainPattern,
            masks::{Mask, TerrainMasks},
            terrain::Layer,
        };
        let mut bench = Bench::open();
        let folder = folder("files");
        let path = |name: &str| folder.join(name).display().to_string();
        bench.world().resource_mut::<Time<Erosion>>().pause();
        bench.world().resource_mut::<PanelFiles>().state = path("land.erode");
        let before = bench.world().resource::<Terrain>().state_hash();
        bench
            .world()
            .resource_scope(|world, mut files: Mut<PanelFiles>| {
                assert!(
                    files
                        .load(world)
                        .expect_err("no file")
                        .contains("land.erode")
                );
                files.save(world).expect("saved");
                let bump = TerrainEdit::raise(Vec3::ZERO, Brush::circle(20.0));
                let mut terrain = world.resource_mut::<Terrain>();
                bump.apply(&mut terrain).expect("applied");
                assert_ne!(terrain.state_hash(), before);
                files.load(world).expect("loaded");
                assert_eq!(world.resource::<Terrain>().state_hash(), before);

                for name in ["land.png", "land.exr", "land.tif", "land.r32"] {
                    files.heightmap = path(name);
                    files.export(world).expect(name);
                    let old = world.resource::<Terrain>().ground_heights();
                    files.cell_size = Some(4.0);
                    files.size = name.ends_with("r32").then_some(UVec2::new(48, 32));
                    files.import(world).expect(name);
                    let new = world.resource::<Terrain>().ground_heights();
                    let worst = old.iter().zip(&new).map(|(a, b)| (a - b).abs());
                    assert!(worst.fold(0.0, f32::max) < 0.02, "{name}");
                }
                files.heightmap = path("slope.exr");
                files.exported = ExportedField::Mask(Mask::Slope);
                assert!(files.export(world).expect_err("not kept").contains("slope"));
                let mut masks = TerrainMasks::new([Mask::Slope]);
                masks.update(world.resource::<Terrain>(), 0.0);
                world.insert_resource(masks);
                files.export(world).expect("a mask");
                files.size = None;
                files.imported = ImportedField::Layer(Layer::Soil);
                files.import(world).expect("as soil");
                assert!(
                    world
                        .resource::<Terrain>()
                        .soil()
                        .iter()
                        .any(|soil| *soil > 0.1)
                );
                files.imported = ImportedField::RainMap;
                files.import(world).expect("as rain");
                let rain = world.resource::<Rain>();
                assert!(matches!(&rain.pattern, RainPattern::Map(map) if map.len() == 48 * 32));

                files.heightmap = path("land.doc");
                assert!(files.export(world).expect_err("no format").contains(".png"));
            });
        bench.frame(vec![]);
        fs::remove_dir_all(folder).expect("removable");
    }
}
