//! The list of scenes (feature `serialize`).

use crate::{
    models::ErosionModels,
    scene::{ErosionScene, SceneError},
    schedule::ErosionSystems,
};
use bevy::prelude::*;
use bevy_egui::egui::{Color32, Ui};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// How files of scenes end.
const ENDING: &str = ".scene.ron";

/// Scenes to choose from: those of a folder, and given ones.
///
/// [The guide](crate::guide::panel) has an example.
#[derive(Resource, Clone, Debug, Default)]
pub struct PanelScenes {
    folder: Option<PathBuf>,
    names: Vec<String>,
    given: Vec<(String, ErosionScene)>,
    wanted: Option<String>,
    opened: Option<String>,
    about: String,
    error: Option<String>,
}

/// A scene was opened; a game may point its camera.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct PanelSceneOpened {
    /// Its name in the list.
    pub name: String,
    /// The scene.
    pub scene: ErosionScene,
    /// Whether it was open before.
    pub again: bool,
}

impl PanelScenes {
    /// All files `*.scene.ron` of a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            names: names_in(&folder, ENDING),
            folder: Some(folder),
            ..default()
        }
    }

    /// One more scene.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, scene: ErosionScene) -> Self {
        self.given.push((name.into(), scene));
        self
    }

    /// The names of all scenes, given ones first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let given = self.given.iter().map(|(name, _)| name);
        given.chain(&self.names).map(String::as_str)
    }

    /// The scene that was opened last.
    pub fn opened(&self) -> Option<&str> {
        self.opened.as_deref()
    }

    /// What was wrong with the scene that was to be opened last.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Opens a scene in this frame or the next, before
    /// [`ErosionSystems::Input`].
    pub fn open(&mut self, name: impl Into<String>) {
        self.wanted = Some(name.into());
    }

    /// Forgets which scene was opened: the terrain does not come from a scene any
    /// more.
    pub fn close(&mut self) {
        self.opened = None;
        self.about.clear();
    }

    /// A scene by its name, or by the path of a file anywhere. Files are read
    /// again each time: they may have been edited.
    ///
    /// # Errors
    /// When there is no such scene, or something is wrong in its file.
    pub fn read(&self, name: &str) -> Result<ErosionScene, SceneError> {
        self.read_with(name, &ErosionModels::default())
    }

    /// [`read`](Self::read) of a scene that may have models of other crates.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with(
        &self,
        name: &str,
        models: &ErosionModels,
    ) -> Result<ErosionScene, SceneError> {
        if let Some((_, scene)) = self.given.iter().find(|(given, _)| given == name) {
            return Ok(scene.clone());
        }
        if name.ends_with(".ron") {
            return ErosionScene::read_file_with(name, models);
        }
        match &self.folder {
            Some(folder) if self.names.iter().any(|known| known == name) => {
                let path = folder.join(format!("{name}{ENDING}"));
                ErosionScene::read_file_with(path, models)
            }
            _ => {
                let names: Vec<&str> = self.names().collect();
                Err(SceneError {
                    file: name.into(),
                    place: None,
                    field: String::new(),
                    reason: format!(
                        "no such scene: expected one of {}, or the path of a *{ENDING} file",
                        names.join(", ")
                    ),
                })
            }
        }
    }
}

/// The names of the files of a folder that end so, without the ending, in order.
pub(super) fn names_in(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    names
}

pub(super) fn build(app: &mut App) {
    app.init_resource::<PanelScenes>()
        .add_message::<PanelSceneOpened>()
        .add_systems(
            Update,
            open_wanted
                .run_if(|scenes: Res<PanelScenes>| scenes.wanted.is_some())
                // Models see the scene in this very frame.
                .before(ErosionSystems::Input),
        );
}

fn open_wanted(world: &mut World) {
    world.resource_scope(|world, mut scenes: Mut<PanelScenes>| {
        let Some(name) = scenes.wanted.take() else {
            return;
        };
        let models = ErosionModels::of(world);
        let opened = scenes.read_with(&name, &models).and_then(|scene| {
            scene.apply(world)?;
            Ok(scene)
        });
        match opened {
            Ok(scene) => {
                let again = scenes.opened.as_ref() == Some(&name);
                scenes.about = format!("{}. {}", scene.title, scene.description);
                scenes.opened = Some(name.clone());
                scenes.error = None;
                world.write_message(PanelSceneOpened { name, scene, again });
            }
            Err(error) => {
                error!("{error}");
                scenes.error = Some(error.to_string());
            }
        }
    });
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let scenes = world.resource::<PanelScenes>();
    let mut wanted = None;
    let mut count = 0;
    ui.horizontal_wrapped(|ui| {
        for name in scenes.names() {
            count += 1;
            let label = ui.selectable_label(scenes.opened() == Some(name), name);
            if label.clicked() {
                wanted = Some(name.to_owned());
            }
        }
    });
    if count == 0 {
        ui.weak("no scenes: insert `PanelScenes::in_folder`");
    }
    if !scenes.about.is_empty() {
        ui.label(&scenes.about);
    }
    if let Some(error) = &scenes.error {
        ui.colored_label(Color32::LIGHT_RED, error);
    }
    if let Some(wanted) = wanted {
        world.resource_mut::<PanelScenes>().open(wanted);
    }
}
