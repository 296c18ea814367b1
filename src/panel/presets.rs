//! Presets: all models and weather as text, to keep and to share (feature
//! `serialize`).

use super::{scenes::names_in, status::StatusLine};
use crate::{
    models::ErosionModels,
    scene::{ErosionPreset, SceneError},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};
use std::{fs, io, path::PathBuf};

/// How files of presets end.
const ENDING: &str = ".preset.ron";
/// Longest text that the box shows. units: bytes
const MAX_SHOWN: usize = 100_000;

/// The presets of the panel. Copying from and pasting into its text box works
/// with the system's clipboard where the app has bevy_egui's feature
/// `manage_clipboard`.
#[derive(Resource, Clone, Debug)]
pub struct PanelPresets {
    /// Where presets are kept as files `*.preset.ron`.
    pub folder: PathBuf,
    /// The preset as text.
    pub text: String,
    /// Name of the file to save it as.
    pub name: String,
    names: Option<Vec<String>>,
    line: StatusLine,
}

impl Default for PanelPresets {
    fn default() -> Self {
        Self {
            folder: "presets".into(),
            text: String::new(),
            name: "mine".into(),
            names: None,
            line: default(),
        }
    }
}

impl PanelPresets {
    /// Writes the world's models and weather out as text.
    ///
    /// # Errors
    /// When there is too much for a text, such as a map of rain.
    pub fn take(&mut self, world: &mut World) -> Result<(), SceneError> {
        let text = ErosionPreset::capture(world).to_ron()?;
        if text.len() > MAX_SHOWN {
            return Err(SceneError {
                file: "preset".into(),
                place: None,
                field: String::new(),
                reason: format!(
                    "the preset has {} kB, too long for the text box: save it as a file",
                    text.len() / 1000
                ),
            });
        }
        self.text = text;
        Ok(())
    }

    /// Replaces the world's models and weather by those of the text.
    ///
    /// # Errors
    /// Says line and field of what is wrong; then nothing changes.
    pub fn apply(&self, world: &mut World) -> Result<(), SceneError> {
        let models = ErosionModels::of(world);
        ErosionPreset::from_ron_with("text", &self.text, &models)?.apply(world)
    }

    /// Saves the world's models and weather as a file of the folder.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&mut self, world: &mut World) -> Result<PathBuf, SceneError> {
        let path = self.path(&self.name);
        let failed = |error: io::Error| SceneError {
            file: path.display().to_string(),
            place: None,
            field: String::new(),
            reason: error.to_string(),
        };
        if !is_file_name(&self.name) {
            return Err(failed(io::Error::other(
                "the name of a preset must be letters, digits, spaces and `_-+.`",
            )));
        }
        let mut preset = ErosionPreset::capture(world);
        preset.title.clone_from(&self.name);
        let text = preset.to_ron()?;
        fs::create_dir_all(&self.folder).map_err(failed)?;
        // Under another name first, so that an interrupted save destroys nothing.
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, text).map_err(failed)?;
        fs::rename(&unfinished, &path).map_err(failed)?;
        self.names = None;
        Ok(path)
    }

    /// Replaces the world's models and weather by those of a preset of the folder.
    ///
    /// # Errors
    /// When the file cannot be read, or something is wrong in it; then nothing
    /// changes.
    pub fn load(&mut self, name: &str, world: &mut World) -> Result<(), SceneError> {
        let models = ErosionModels::of(world);
        let preset = ErosionPreset::read_file_with(self.path(name), &models)?;
        preset.apply(world)?;
        self.name = name.into();
        Ok(())
    }

    /// How the last click went.
    #[cfg(test)]
    pub(super) fn status(&self) -> Option<&Result<String, String>> {
        self.line.last()
    }

    /// Names of the presets in the folder; read again after each save.
    fn names(&mut self) -> Vec<String> {
        let folder = &self.folder;
        let names = self.names.get_or_insert_with(|| names_in(folder, ENDING));
        names.clone()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{ENDING}"))
    }
}

/// Whether a name stays within its folder.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _-+.".contains(c);
    !name.trim().is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    world.resource_scope(|world, mut presets: Mut<PanelPresets>| {
        let presets = presets.bypass_change_detection();
        show_files(ui, world, presets);
        ui.horizontal(|ui| {
            let hint = "Writes all models and weather into the box, to copy and share";
            if ui.button("write out").on_hover_text(hint).clicked() {
                let done = presets.take(world).map(|()| "written out".to_owned());
                presets.line.set(done);
            }
            let hint = "Replaces all models and weather by those in the box";
            if ui.button("apply").on_hover_text(hint).clicked() {
                let done = presets.apply(world).map(|()| "applied".to_owned());
                presets.line.set(done);
            }
        });
        egui::ScrollArea::vertical()
            .id_salt("text of a preset")
            .max_height(120.0)
            .show(ui, |ui| {
                let text = egui::TextEdit::multiline(&mut presets.text)
                    .code_editor()
                    .hint_text("(models: (thermal: ()))")
                    .desired_rows(4)
                    .desired_width(f32::INFINITY);
                ui.add(text);
            });
        presets.line.show(ui);
    });
}

fn show_files(ui: &mut Ui, world: &mut World, presets: &mut PanelPresets) {
    ui.horizontal(|ui| {
        let name = egui::TextEdit::singleline(&mut presets.name).desired_width(110.0);
        ui.add(name).on_hover_text("The preset's name");
        if ui.button("save").clicked() {
            let saved = presets.save(world);
            presets
                .line
                .set(saved.map(|path| format!("saved {}", path.display())));
        }
        if ui
            .button("⟲")
            .on_hover_text("Reads the folder again")
            .clicked()
        {
            presets.names = None;
        }
    });
    let mut wanted = None;
    ui.horizontal_wrapped(|ui| {
        for name in presets.names() {
            let button = ui.selectable_label(presets.name == name, &name);
            if button
                .on_hover_text("Replaces all models and weather by those of the preset")
                .clicked()
            {
                wanted = Some(name);
            }
        }
    });
    if let Some(name) = wanted {
        let loaded = presets.load(&name, world);
        presets.line.set(loaded.map(|()| format!("loaded {name}")));
    }
}
