//! A slider for every setting of every model.

use crate::{
    forcing::{Evaporation, Rain, RainPattern, Season},
    models::{
        droplet::{Droplets, PublishedDroplets, Streams},
        pipe::{PipeModel, PublishedPipe},
        shallow_water::{PublishedShallowWater, ShallowWater},
        thermal::Thermal,
    },
};
use bevy_egui::egui::{self, Slider, Ui};
use core::ops::RangeInclusive;

/// A slider with unit, explanation and reset (by a click with the other button).
fn slider<T: egui::emath::Numeric>(
    ui: &mut Ui,
    (name, unit): (&str, &str),
    value: &mut T,
    default: T,
    range: RangeInclusive<T>,
    explanation: &str,
) {
    // Ranges over several powers of ten are easier to set on a log scale.
    let (low, high) = (range.start().to_f64(), range.end().to_f64());
    let wide = low >= 0.0 && high / low.max(high * 1e-3) > 50.0;
    let text = if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, {unit}")
    };
    let slider = Slider::new(value, range)
        .logarithmic(wide)
        .smallest_positive(high * 1e-5)
        .text(text)
        // A value from code may lie beyond the slider's range: leave it.
        .clamping(egui::SliderClamping::Edits);
    let hint = format!(
        "{explanation}\nSecondary click: back to {}",
        default.to_f64()
    );
    if ui.add(slider).on_hover_text(hint).secondary_clicked() {
        *value = default;
    }
}

/// A checkbox for an optional part of the settings.
fn optional<T: Default>(ui: &mut Ui, name: &str, value: &mut Option<T>, explanation: &str) {
    let mut on = value.is_some();
    if ui
        .checkbox(&mut on, name)
        .on_hover_text(explanation)
        .changed()
    {
        *value = on.then(T::default);
    }
}

pub fn droplets(ui: &mut Ui, droplets: &mut Droplets) {
    let d = Droplets::default();
    slider(
        ui,
        ("seed", ""),
        &mut droplets.seed,
        d.seed,
        0..=9999,
        "Same seed, same landscape",
    );
    slider(
        ui,
        ("rate", "1/(m²·s)"),
        &mut droplets.rate,
        d.rate,
        0.0..=1.0,
        "Drops that fall on a square metre in a second",
    );
    optional(
        ui,
        "the source's own method",
        &mut droplets.published,
        "T. Power's method, literally: it loses mass and makes spikes",
    );
    if let Some(published) = &mut droplets.published {
        self::published(ui, published);
        return;
    }
    slider(
        ui,
        ("volume", "m³"),
        &mut droplets.volume,
        d.volume,
        0.1..=100.0,
        "Water in a drop when it falls",
    );
    slider(
        ui,
        ("radius", "m"),
        &mut droplets.radius,
        d.radius,
        0.0..=24.0,
        "Radius over which a drop cuts and fills",
    );
    slider(
        ui,
        ("gravity", "m/s²"),
        &mut droplets.gravity,
        d.gravity,
        0.1..=30.0,
        "Gravity",
    );
    slider(
        ui,
        ("friction", "1/s"),
        &mut droplets.friction,
        d.friction,
        0.0..=5.0,
        "Friction with the ground",
    );
    slider(
        ui,
        ("capacity", "s/m"),
        &mut droplets.capacity,
        d.capacity,
        0.0..=10.0,
        "Sediment that water carries at 1 m/s on a slope of 1",
    );
    slider(
        ui,
        ("max concentration", ""),
        &mut droplets.max_concentration,
        d.max_concentration,
        0.01..=1.0,
        "Largest share of sediment in the water",
    );
    slider(
        ui,
        ("erosion", "1/s"),
        &mut droplets.erosion,
        d.erosion,
        0.0..=5.0,
        "How fast a drop fills up to its capacity",
    );
    slider(
        ui,
        ("deposition", "1/s"),
        &mut droplets.deposition,
        d.deposition,
        0.0..=5.0,
        "How fast a drop lets fall what is too much",
    );
    slider(
        ui,
        ("evaporation", "1/s"),
        &mut droplets.evaporation,
        d.evaporation,
        0.0..=0.2,
        "How fast a drop evaporates",
    );
    slider(
        ui,
        ("min volume", ""),
        &mut droplets.min_volume,
        d.min_volume,
        0.0..=0.5,
        "A drop ends when less of its water is left",
    );
    slider(
        ui,
        ("max steps", ""),
        &mut droplets.max_steps,
        d.max_steps,
        1..=2048,
        "A drop ends after so many steps",
    );
    slider(
        ui,
        ("bedrock erodibility", ""),
        &mut droplets.bedrock_erodibility,
        d.bedrock_erodibility,
        0.0..=1.0,
        "How readily bedrock is cut, where soil is 1",
    );
    optional(
        ui,
        "streams",
        &mut droplets.streams,
        "Drops join into streams and run out of hollows",
    );
    if let Some(streams) = &mut droplets.streams {
        let d = Streams::default();
        slider(
            ui,
            ("onset", "m²"),
            &mut streams.onset,
            d.onset,
            10.0..=100_000.0,
            "Catchment at which run-off is half a stream",
        );
        slider(
            ui,
            ("pull", "1/s"),
            &mut streams.pull,
            d.pull,
            0.0..=5.0,
            "How fast a stream takes a drop along",
        );
        slider(
            ui,
            ("power", ""),
            &mut streams.power,
            d.power,
            0.0..=2.0,
            "How a stream's capacity grows with its catchment",
        );
        slider(
            ui,
            ("memory", ""),
            &mut streams.memory,
            d.memory,
            0.01..=1.0,
            "How much of the record a batch renews",
        );
    }
}

fn published(ui: &mut Ui, published: &mut PublishedDroplets) {
    let d = PublishedDroplets::default();
    slider(
        ui,
        ("time step", ""),
        &mut published.time_step,
        d.time_step,
        0.1..=2.0,
        "Δt of the source",
    );
    slider(
        ui,
        ("height scale", "cells"),
        &mut published.height_scale,
        d.height_scale,
        1.0..=500.0,
        "Height of one unit of the source's heightmap",
    );
    slider(
        ui,
        ("density", ""),
        &mut published.density,
        d.density,
        0.1..=10.0,
        "Density of water",
    );
    slider(
        ui,
        ("friction", ""),
        &mut published.friction,
        d.friction,
        0.0..=0.45,
        "The source says 0.05 to 0.30",
    );
    slider(
        ui,
        ("deposition rate", ""),
        &mut published.deposition_rate,
        d.deposition_rate,
        0.0..=1.0,
        "The source says 0.10 to 0.50",
    );
    slider(
        ui,
        ("evaporation rate", ""),
        &mut published.evaporation_rate,
        d.evaporation_rate,
        0.001..=0.45,
        "The source says 0.01 to 0.05",
    );
    slider(
        ui,
        ("min water", ""),
        &mut published.min_water,
        d.min_water,
        0.001..=0.5,
        "A drop ends below this",
    );
}

pub fn thermal(ui: &mut Ui, thermal: &mut Thermal) {
    let d = Thermal::default();
    slider(
        ui,
        ("soil angle", "°"),
        &mut thermal.soil_angle,
        d.soil_angle,
        0.0..=89.0,
        "Steepest slope on which soil rests",
    );
    slider(
        ui,
        ("bedrock angle", "°"),
        &mut thermal.bedrock_angle,
        d.bedrock_angle,
        0.0..=89.0,
        "Steepest slope on which bedrock stands",
    );
    slider(
        ui,
        ("mobility", "m²/s"),
        &mut thermal.mobility,
        d.mobility,
        0.0..=50.0,
        "How fast soil slides where it is too steep",
    );
    slider(
        ui,
        ("breaking", "m/s"),
        &mut thermal.breaking,
        d.breaking,
        0.0..=1.0,
        "Bedrock broken in a second, bare and one unit too steep",
    );
    slider(
        ui,
        ("shelter", "m"),
        &mut thermal.shelter,
        d.shelter,
        0.01..=5.0,
        "Soil of this thickness halves the breaking",
    );
}

fn published_pipe(ui: &mut Ui, published: &mut PublishedPipe) {
    let d = PublishedPipe::default();
    slider(
        ui,
        ("pipe area", "m²"),
        &mut published.pipe_area,
        d.pipe_area,
        0.01..=100.0,
        "Cross-section of every pipe",
    );
    slider(
        ui,
        ("gravity", "m/s²"),
        &mut published.gravity,
        d.gravity,
        0.1..=30.0,
        "Gravity",
    );
    slider(
        ui,
        ("capacity", "s"),
        &mut published.capacity,
        d.capacity,
        0.0..=1.0,
        "Sediment that water carries at 1 m/s on a cliff",
    );
    slider(
        ui,
        ("dissolving", ""),
        &mut published.dissolving,
        d.dissolving,
        0.0..=1.0,
        "Share of what is lacking that a step takes up",
    );
    slider(
        ui,
        ("deposition", ""),
        &mut published.deposition,
        d.deposition,
        0.0..=1.0,
        "Share of what is too much that a step lets fall",
    );
    slider(
        ui,
        ("evaporation", "1/s"),
        &mut published.evaporation,
        d.evaporation,
        0.0..=0.5,
        "Share of the water that dries in a second",
    );
    slider(
        ui,
        ("min tilt", "°"),
        &mut published.min_tilt,
        d.min_tilt,
        0.0..=45.0,
        "Level ground counts as so steep",
    );
}

pub fn pipe(ui: &mut Ui, pipe: &mut PipeModel) {
    let d = PipeModel::default();
    optional(
        ui,
        "the source's own method",
        &mut pipe.published,
        "X. Mei's method, literally: it depends on the step and loses mass",
    );
    if let Some(published) = &mut pipe.published {
        published_pipe(ui, published);
        return;
    }
    slider(
        ui,
        ("gravity", "m/s²"),
        &mut pipe.gravity,
        d.gravity,
        0.1..=30.0,
        "Gravity",
    );
    slider(
        ui,
        ("roughness", "s/m^⅓"),
        &mut pipe.roughness,
        d.roughness,
        0.0..=0.2,
        "Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush",
    );
    slider(
        ui,
        ("capacity", "s/m"),
        &mut pipe.capacity,
        d.capacity,
        0.0..=10.0,
        "Sediment that a metre of water carries at 1 m/s on a slope of 1",
    );
    slider(
        ui,
        ("rounding", "m"),
        &mut pipe.rounding,
        d.rounding,
        0.0..=50.0,
        "Beds curved more sharply than one over this are cut no further",
    );
    slider(
        ui,
        ("full depth", "m"),
        &mut pipe.full_depth,
        d.full_depth,
        0.01..=50.0,
        "Depth beyond which deeper water carries no more",
    );
    slider(
        ui,
        ("min tilt", "°"),
        &mut pipe.min_tilt,
        d.min_tilt,
        0.0..=20.0,
        "Water carries on level ground what it would on this slope",
    );
    slider(
        ui,
        ("soil erosion", "1/s"),
        &mut pipe.soil_erosion,
        d.soil_erosion,
        0.0..=10.0,
        "How fast water takes up soil",
    );
    slider(
        ui,
        ("bedrock erosion", "1/s"),
        &mut pipe.bedrock_erosion,
        d.bedrock_erosion,
        0.0..=10.0,
        "How fast water takes up bare bedrock",
    );
    slider(
        ui,
        ("deposition", "1/s"),
        &mut pipe.deposition,
        d.deposition,
        0.0..=10.0,
        "How fast water lets fall what is too much",
    );
    slider(
        ui,
        ("max sub-steps", ""),
        &mut pipe.max_substeps,
        d.max_substeps,
        1..=64,
        "Most parts of a step; beyond it time slows down for the water",
    );
}

fn published_shallow_water(ui: &mut Ui, published: &mut PublishedShallowWater) {
    let d = PublishedShallowWater::default();
    slider(
        ui,
        ("gravity", "m/s²"),
        &mut published.gravity,
        d.gravity,
        0.1..=30.0,
        "Gravity",
    );
    slider(
        ui,
        ("water damping", ""),
        &mut published.water_damping,
        d.water_damping,
        0.0..=1.0,
        "Share of its motion that water loses in a solve",
    );
    slider(
        ui,
        ("regolith damping", ""),
        &mut published.regolith_damping,
        d.regolith_damping,
        0.0..=1.0,
        "Share of its motion that regolith loses in a solve",
    );
    slider(
        ui,
        ("regolith depth", "m"),
        &mut published.regolith_depth,
        d.regolith_depth,
        0.0..=0.1,
        "Depth to which water softens the ground; the source says 0 to 0.01",
    );
    slider(
        ui,
        ("solves", ""),
        &mut published.solves,
        d.solves,
        1..=50,
        "Solves after which water or regolith counts as steady",
    );
    slider(
        ui,
        ("steady", "m/s"),
        &mut published.steady,
        d.steady,
        0.0..=0.01,
        "A level that rises and falls slower than this is steady",
    );
}

pub fn shallow_water(ui: &mut Ui, water: &mut ShallowWater) {
    let d = ShallowWater::default();
    optional(
        ui,
        "the source's own method",
        &mut water.published,
        "B. Beneš's method, literally: it depends on the step and makes water at shores",
    );
    if let Some(published) = &mut water.published {
        published_shallow_water(ui, published);
        return;
    }
    slider(
        ui,
        ("gravity", "m/s²"),
        &mut water.gravity,
        d.gravity,
        0.1..=30.0,
        "Gravity",
    );
    slider(
        ui,
        ("roughness", "s/m^⅓"),
        &mut water.roughness,
        d.roughness,
        0.0..=0.2,
        "Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush",
    );
    slider(
        ui,
        ("damping", "1/s"),
        &mut water.damping,
        d.damping,
        0.0..=2.0,
        "How fast all waves die away",
    );
    slider(
        ui,
        ("regolith depth", "m"),
        &mut water.regolith_depth,
        d.regolith_depth,
        0.0..=0.5,
        "Depth to which water softens the ground",
    );
    slider(
        ui,
        ("regolith roughness", "s/m^⅓"),
        &mut water.regolith_roughness,
        d.regolith_roughness,
        0.0..=2.0,
        "The larger, the slower soft ground creeps",
    );
    slider(
        ui,
        ("interval", "s"),
        &mut water.interval,
        d.interval,
        0.05..=10.0,
        "Time between two exchanges with the ground",
    );
    slider(
        ui,
        ("regolith solves", ""),
        &mut water.regolith_solves,
        d.regolith_solves,
        1..=20,
        "Parts of the interval in which soft ground creeps",
    );
    slider(
        ui,
        ("steady", "m/s"),
        &mut water.steady,
        d.steady,
        0.0..=0.001,
        "Soft ground that rises and falls slower than this is left",
    );
}

pub fn rain(ui: &mut Ui, rain: &mut Rain) {
    let d = Rain::default();
    slider(
        ui,
        ("rate", "mm/h"),
        &mut rain.mm_per_hour,
        d.mm_per_hour,
        0.0..=10_000.0,
        "Mean over the land: 10 is rain, 50 a cloudburst, more is a game's",
    );
    let kind = core::mem::discriminant(&rain.pattern);
    ui.horizontal(|ui| {
        let choices = [
            (RainPattern::Uniform, "even", "Everywhere alike"),
            (RainPattern::drops(0), "drops", "At random places"),
            (
                RainPattern::blue_noise(0),
                "spaced drops",
                "At places that keep a distance from one another",
            ),
        ];
        for (pattern, name, explanation) in choices {
            let chosen = core::mem::discriminant(&pattern) == kind;
            let label = ui.selectable_label(chosen, name);
            if label.on_hover_text(explanation).clicked() && !chosen {
                rain.pattern = pattern;
            }
        }
        // A map comes from code or a scene; it can be left but not made here.
        if let RainPattern::Map(weights) = &rain.pattern {
            let _ = ui.selectable_label(true, format!("map of {} cells", weights.len()));
        }
    });
    match &mut rain.pattern {
        RainPattern::Uniform | RainPattern::Map(_) => {}
        RainPattern::Drops {
            radius,
            depth,
            seed,
        } => drops(ui, radius, depth, seed),
        RainPattern::BlueNoise {
            spacing,
            radius,
            depth,
            seed,
        } => {
            slider(
                ui,
                ("spacing", "m"),
                spacing,
                8.0,
                0.5..=200.0,
                "Distance that drops keep from the latest before them",
            );
            drops(ui, radius, depth, seed);
        }
    }
    season(ui, &mut rain.season, Season::default());
}

/// Whether something is of a season, and which.
fn season(ui: &mut Ui, season: &mut Option<Season>, first: Season) {
    let mut seasonal = season.is_some();
    let explanation = "Only in a part of every year, which may be short";
    if ui
        .checkbox(&mut seasonal, "in a season")
        .on_hover_text(explanation)
        .changed()
    {
        *season = seasonal.then_some(first);
    }
    let Some(season) = season else { return };
    slider(
        ui,
        ("year", "s"),
        &mut season.year,
        first.year,
        1.0..=3600.0,
        "Length of a year",
    );
    slider(
        ui,
        ("start", ""),
        &mut season.start,
        first.start,
        0.0..=1.0,
        "When in the year it begins",
    );
    slider(
        ui,
        ("share", ""),
        &mut season.share,
        first.share,
        0.0..=1.0,
        "How much of the year it lasts",
    );
}

fn drops(ui: &mut Ui, radius: &mut f32, depth: &mut f32, seed: &mut u64) {
    slider(
        ui,
        ("radius", "m"),
        radius,
        2.0,
        0.1..=50.0,
        "Radius of a drop's splash",
    );
    slider(
        ui,
        ("depth", "m"),
        depth,
        0.01,
        0.0001..=1.0,
        "Water in the middle of a splash: deeper ones fall more rarely",
    );
    slider(ui, ("seed", ""), seed, 0, 0..=9999, "Same seed, same drops");
}

pub fn evaporation(ui: &mut Ui, evaporation: &mut Evaporation) {
    let d = Evaporation::default();
    slider(
        ui,
        ("rate", "mm/h"),
        &mut evaporation.mm_per_hour,
        d.mm_per_hour,
        0.0..=1000.0,
        "Depth that goes into the air wherever there is water",
    );
    let dry = Season::default().opposite();
    season(ui, &mut evaporation.season, dry);
}
