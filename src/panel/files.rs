//! Heightmaps and masks in and out, and the whole state (feature `io`).

use super::status::StatusLine;
use crate::{
    forcing::{Rain, RainPattern},
    io::{Heightmap, HeightmapError, HeightmapFormat, HeightmapOptions, SavedState, VerticalRange},
    masks::{Mask, TerrainMasks},
    terrain::{Layer, Terrain},
};
use bevy::{math::UVec2, prelude::*};
use bevy_egui::egui::{self, Ui};

/// What is written as a heightmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportedField {
    /// Elevation of the ground.
    #[default]
    Ground,
    /// A layer of the terrain.
    Layer(Layer),
    /// A mask, if it is kept.
    Mask(Mask),
}

/// What a heightmap becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportedField {
    /// A new land of bare bedrock.
    #[default]
    Land,
    /// A layer of the land that is there.
    Layer(Layer),
    /// Where rain falls, on the land that is there.
    RainMap,
}

const LAYERS: [Layer; 5] = [
    Layer::Bedrock,
    Layer::Soil,
    Layer::Water,
    Layer::Suspended,
    Layer::Hardness,
];

/// Files of the panel. Formats go by the name's ending: `.png`, `.exr`, `.tif`,
/// `.r16`, `.r32`; states end in `.erode`, by custom.
#[derive(Resource, Clone, Debug)]
pub struct PanelFiles {
    /// Where the whole state is saved and loaded.
    pub state: String,
    /// Where a heightmap is read or written.
    pub heightmap: String,
    /// What is written.
    pub exported: ExportedField,
    /// What a file that is read becomes.
    pub imported: ImportedField,
    /// Heights of the least and the greatest number of a file of whole numbers
    /// that does not say so itself. units: m
    pub range: Option<VerticalRange>,
    /// Side of a cell, where the file does not say it. units: m
    pub cell_size: Option<f32>,
    /// Cells along x and y of a RAW file.
    pub size: Option<UVec2>,
    line: StatusLine,
}

impl Default for PanelFiles {
    fn default() -> Self {
        Self {
            state: "land.erode".into(),
            heightmap: "land.png".into(),
            exported: ExportedField::Ground,
            imported: ImportedField::Land,
            range: None,
            cell_size: None,
            size: None,
            line: default(),
        }
    }
}

impl PanelFiles {
    /// Saves the whole state.
    ///
    /// # Errors
    /// When there is no terrain or the file cannot be written.
    pub fn save(&mut self, world: &mut World) -> Result<String, String> {
        let saved = SavedState::capture(world).and_then(|state| state.write_file(&self.state));
        self.report("saved", &self.state.clone(), saved)
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// When the file cannot be read or is not a saved state; then nothing changes.
    pub fn load(&mut self, world: &mut World) -> Result<String, String> {
        let loaded = SavedState::read_file(&self.state).and_then(|state| state.restore(world));
        self.report("loaded", &self.state.clone(), loaded)
    }

    /// Writes a heightmap.
    ///
    /// # Errors
    /// When there is nothing to write, the name has no known ending, or the
    /// file cannot be written.
    pub fn export(&mut self, world: &mut World) -> Result<String, String> {
        let written = self.write_heightmap(world);
        self.report("wrote", &self.heightmap.clone(), written)
    }

    /// Reads a heightmap.
    ///
    /// # Errors
    /// When the file cannot be read, lacks a value that must be set below, or does
    /// not fit the terrain; then nothing changes.
    pub fn import(&mut self, world: &mut World) -> Result<String, String> {
        let read = self.read_heightmap(world);
        self.report("read", &self.heightmap.clone(), read)
    }

    fn write_heightmap(&self, world: &World) -> Result<(), String> {
        let terrain = world.get_resource::<Terrain>();
        let terrain = terrain.ok_or("there is no `Terrain` resource")?;
        let map = match self.exported {
            ExportedField::Ground => Heightmap::from_ground(terrain),
            ExportedField::Layer(layer) => Heightmap::from_layer(terrain, layer),
            ExportedField::Mask(mask) => {
                let masks = world.get_resource::<TerrainMasks>();
                let map = masks.and_then(|masks| Heightmap::from_mask(masks, mask));
                map.ok_or_else(|| {
                    format!(
                        "mask `{}` is not enabled: choose it under Masks",
                        mask.name()
                    )
                })?
            }
        };
        let format = HeightmapFormat::from_path(&self.heightmap)
            .ok_or("the name must end in .png, .exr, .tif, .r16 or .r32")?;
        let vertical = match format {
            HeightmapFormat::Png16 | HeightmapFormat::Raw16(_) | HeightmapFormat::Tiff16 => self
                .range
                .unwrap_or_else(|| VerticalRange::from_values(&map.values))
                .into(),
            _ => crate::io::Vertical::METRES,
        };
        map.write_file(&self.heightmap, format, vertical)
            .map_err(|error| error.to_string())
    }

    fn read_heightmap(&self, world: &mut World) -> Result<(), String> {
        let options = HeightmapOptions {
            size: self.size,
            vertical: self.range.map(Into::into),
            cell_size: self.cell_size,
            ..default()
        };
        let words = |error: HeightmapError| error.to_string();
        let map = Heightmap::read_file(&self.heightmap, &options).map_err(words)?;
        if self.imported == ImportedField::Land {
            let terrain = map.into_terrain().map_err(words)?;
            world.insert_resource(terrain);
            return Ok(());
        }
        let terrain = world.get_resource_mut::<Terrain>();
        let mut terrain = terrain.ok_or("there is no `Terrain` resource")?;
        let values = map.into_layer(terrain.grid()).map_err(words)?;
        match self.imported {
            ImportedField::Layer(layer) => terrain
                .set_layer(layer, values)
                .map_err(|error| error.to_string()),
            _ => {
                let rain = world.get_resource::<Rain>().cloned().unwrap_or_default();
                let rain = rain.with_pattern(RainPattern::Map(values));
                rain.check().map_err(|error| error.to_string())?;
                world.insert_resource(rain);
                Ok(())
            }
        }
    }

    fn report(
        &mut self,
        done: &str,
        path: &str,
        result: Result<(), impl core::fmt::Display>,
    ) -> Result<String, String> {
        let report = match result {
            Ok(()) => Ok(format!("{done} {path}")),
            Err(error) => {
                let error = error.to_string();
                // Some errors name the file themselves.
                match error.contains(path) {
                    true => Err(error),
                    false => Err(format!("{path}: {error}")),
                }
            }
        };
        self.line.set(report.clone());
        report
    }
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    world.resource_scope(|world, mut files: Mut<PanelFiles>| {
        let files = files.bypass_change_detection();
        path(ui, "whole state", &mut files.state);
        ui.horizontal(|ui| {
            // What went wrong stands in the line below.
            if ui.button("save").clicked() {
                let _ = files.save(world);
            }
            if ui.button("load").clicked() {
                let _ = files.load(world);
            }
        });
        ui.separator();
        path(ui, "heightmap", &mut files.heightmap);
        ui.horizontal(|ui| {
            if ui.button("write").clicked() {
                let _ = files.export(world);
            }
            show_exported(ui, &mut files.exported);
        });
        ui.horizontal(|ui| {
            if ui.button("read").clicked() {
                let _ = files.import(world);
            }
            show_imported(ui, &mut files.imported);
        });
        ui.collapsing("heightmap options", |ui| show_options(ui, files));
        files.line.show(ui);
    });
}

fn path(ui: &mut Ui, name: &str, path: &mut String) {
    ui.horizontal(|ui| {
        ui.label(name);
        ui.add(egui::TextEdit::singleline(path).desired_width(f32::INFINITY))
            .on_hover_text("Path of the file; the format goes by its ending");
    });
}

fn show_exported(ui: &mut Ui, chosen: &mut ExportedField) {
    let name = |field: ExportedField| match field {
        ExportedField::Ground => "ground".to_owned(),
        ExportedField::Layer(layer) => layer.to_string(),
        ExportedField::Mask(mask) => format!("mask: {}", mask.name()),
    };
    let layers = LAYERS.map(ExportedField::Layer);
    let masks = Mask::ALL.map(ExportedField::Mask);
    egui::ComboBox::from_id_salt("written")
        .selected_text(name(*chosen))
        .show_ui(ui, |ui| {
            for field in [ExportedField::Ground]
                .into_iter()
                .chain(layers)
                .chain(masks)
            {
                ui.selectable_value(chosen, field, name(field));
            }
        });
}

fn show_imported(ui: &mut Ui, chosen: &mut ImportedField) {
    let name = |field: ImportedField| match field {
        ImportedField::Land => "as a new terrain".to_owned(),
        ImportedField::Layer(layer) => format!("as {layer}"),
        ImportedField::RainMap => "as a rain map".to_owned(),
    };
    let layers = LAYERS.map(ImportedField::Layer);
    let more = [ImportedField::RainMap];
    egui::ComboBox::from_id_salt("read")
        .selected_text(name(*chosen))
        .show_ui(ui, |ui| {
            for field in [ImportedField::Land].into_iter().chain(layers).chain(more) {
                ui.selectable_value(chosen, field, name(field));
            }
        });
}

fn show_options(ui: &mut Ui, files: &mut PanelFiles) {
    optional(
        ui,
        "heights",
        &mut files.range,
        VerticalRange::new(0.0, 1000.0),
        |ui, range| {
            ui.add(egui::DragValue::new(&mut range.lowest).suffix(" m"));
            ui.label("to");
            ui.add(egui::DragValue::new(&mut range.highest).suffix(" m"));
        },
    );
    optional(ui, "cell size", &mut files.cell_size, 2.0, |ui, size| {
        ui.add(egui::DragValue::new(size).range(0.01..=1e4).suffix(" m"));
    });
    optional(
        ui,
        "cells (RAW)",
        &mut files.size,
        UVec2::splat(512),
        |ui, size| {
            ui.add(egui::DragValue::new(&mut size.x).range(1..=16_384));
            ui.label("×");
            ui.add(egui::DragValue::new(&mut size.y).range(1..=16_384));
        },
    );
}

/// A row that may be left out.
fn optional<T>(
    ui: &mut Ui,
    name: &str,
    value: &mut Option<T>,
    first: T,
    show: impl FnOnce(&mut Ui, &mut T),
) {
    ui.horizontal(|ui| {
        let mut on = value.is_some();
        if ui.checkbox(&mut on, name).changed() {
            *value = on.then_some(first);
        }
        if let Some(value) = value {
            show(ui, value);
        }
    });
}
