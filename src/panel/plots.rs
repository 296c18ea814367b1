//! Live plots and the ledger.

use super::ErosionPanel;
use crate::{
    schedule::{Erosion, ErosionDiagnostics, LastRun},
    terrain::{StandingVolumes, Terrain, TerrainCursor},
};
use bevy::{diagnostic::DiagnosticsStore, prelude::*};
use bevy_egui::egui::{self, Color32, Sense, Stroke, Ui, pos2, vec2};
use std::collections::VecDeque;

/// Values that a plot holds.
const MAX_VALUES: usize = 240;
/// Time between two values. units: s
const INTERVAL: f32 = 0.25;
/// Height of a plot. units: points
const HEIGHT: f32 = 44.0;

/// The latest values of something measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it is.
    pub name: &'static str,
    /// Its unit; empty for a share.
    pub unit: &'static str,
    values: VecDeque<f64>,
}

impl Plot {
    fn new(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            values: VecDeque::with_capacity(MAX_VALUES),
        }
    }

    /// The values, oldest first; a few hundred at most.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.values.iter().copied()
    }

    /// Adds a value, and lets the oldest go when there are too many.
    pub fn push(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        while self.values.len() >= MAX_VALUES {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }
}

/// What the panel plots, measured a few times a second while the panel is shown.
#[derive(Resource, Clone, Debug)]
pub struct PanelPlots {
    /// Mean time of a step.
    pub step_time: Plot,
    /// Water on the land.
    pub water: Plot,
    /// Rock and earth taken up from the ground so far.
    pub eroded: Plot,
    /// Solids that appeared or vanished, in proportion to all there are.
    pub drift: Plot,
    since: f32,
    cursor: TerrainCursor,
    volumes: StandingVolumes,
}

impl Default for PanelPlots {
    fn default() -> Self {
        Self {
            step_time: Plot::new("step time", "ms"),
            water: Plot::new("water", "m³"),
            eroded: Plot::new("eroded", "m³"),
            drift: Plot::new("mass drift", ""),
            since: INTERVAL,
            cursor: TerrainCursor::default(),
            volumes: StandingVolumes::default(),
        }
    }
}

impl PanelPlots {
    /// All of them.
    pub fn all(&self) -> [&Plot; 4] {
        [&self.step_time, &self.water, &self.eroded, &self.drift]
    }
}

/// Samples every plot a few times a second.
pub(super) fn sample_plots(
    mut plots: ResMut<PanelPlots>,
    panel: Res<ErosionPanel>,
    real: Res<Time<Real>>,
    time: Option<Res<Time<Erosion>>>,
    last_run: Option<Res<LastRun>>,
    terrain: Option<Res<Terrain>>,
    diagnostics: Option<Res<DiagnosticsStore>>,
) {
    plots.since += real.delta_secs();
    let runs = time.is_some_and(|time| !time.delta().is_zero());
    if !panel.visible || plots.since < INTERVAL || !runs {
        return;
    }
    plots.since = 0.0;
    let step = diagnostics.and_then(|store| store.get(&ErosionDiagnostics::STEP_MS)?.smoothed());
    if let Some(ms) = step {
        plots.step_time.push(ms);
    }
    // While the GPU is ahead, the terrain's volumes are of different moments.
    let mixed = last_run.is_some_and(|run| run.mixes_moments);
    let Some(terrain) = terrain.filter(|_| !mixed) else {
        return;
    };
    let PanelPlots {
        water,
        eroded,
        drift,
        volumes,
        cursor,
        ..
    } = &mut *plots;
    if cursor.changes(&terrain).replaced() {
        for plot in [&mut *water, &mut *eroded, &mut *drift] {
            plot.values.clear();
        }
    }
    let ledger = volumes.ledger(&terrain);
    water.push(ledger.water.standing);
    eroded.push(ledger.solids.moved);
    drift.push(ledger.solids.drift_of_total());
}

pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let plots = world.resource::<PanelPlots>();
    for plot in plots.all() {
        show_plot(ui, plot);
    }
}

/// A curve from the lowest to the highest value, with both labelled.
fn show_plot(ui: &mut Ui, plot: &Plot) {
    let unit = match plot.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let latest = plot.values.back().copied();
    let latest = latest.map_or("no value yet".into(), |value| short(value) + &unit);
    ui.horizontal(|ui| {
        ui.label(plot.name);
        ui.strong(latest);
    });
    let size = vec2(ui.available_width().max(20.0), HEIGHT);
    let (frame, response) = ui.allocate_exact_size(size, Sense::hover());
    let visuals = ui.visuals();
    let (ground, ink) = (visuals.extreme_bg_color, visuals.weak_text_color());
    let painter = ui.painter_at(frame);
    painter.rect_filled(frame, 2.0, ground);
    let (low, high) = range(plot);
    let across = (MAX_VALUES - 1) as f32;
    let first = MAX_VALUES - plot.values.len();
    let points = plot.values().enumerate().map(|(i, value)| {
        let x = frame.left() + frame.width() * (first + i) as f32 / across;
        let share = ((value - low) / (high - low)) as f32;
        pos2(x, frame.bottom() - 3.0 - share * (frame.height() - 6.0))
    });
    let points: Vec<_> = points.collect();
    if points.len() > 1 {
        let stroke = Stroke::new(1.5, Color32::from_rgb(110, 190, 240));
        painter.line(points, stroke);
        let font = egui::FontId::proportional(9.0);
        let corners = [
            (frame.left_top(), egui::Align2::LEFT_TOP, high),
            (frame.left_bottom(), egui::Align2::LEFT_BOTTOM, low),
        ];
        for (corner, align, value) in corners {
            painter.text(corner, align, short(value), font.clone(), ink);
        }
    }
    let minute = MAX_VALUES as f32 * INTERVAL;
    response.on_hover_text(format!("The last {minute:.0} s that erosion ran"));
}

/// The ends of a plot's scale, never the same.
fn range(plot: &Plot) -> (f64, f64) {
    let low = plot.values().fold(f64::INFINITY, f64::min);
    let high = plot.values().fold(f64::NEG_INFINITY, f64::max);
    if low < high {
        (low, high)
    } else {
        let least = if low.is_finite() { low } else { 0.0 };
        let room = least.abs().max(f64::MIN_POSITIVE.sqrt());
        (least - room, least + room)
    }
}

/// Rounded to about three digits.
fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        s if !(1e-2..1e6).contains(&s) => format!("{value:.2e}"),
        s if s >= 100.0 => format!("{value:.0}"),
        s if s >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

pub(super) fn show_ledger(ui: &mut Ui, world: &mut World) {
    let Some(terrain) = world.get_resource::<Terrain>() else {
        ui.weak("no terrain");
        return;
    };
    let (size, cell) = (terrain.size(), terrain.cell_size());
    ui.label(format!("{} × {} cells of {cell} m", size.x, size.y));
    // Running terms only: summing up every cell each frame would cost too much.
    let (solids, water) = (terrain.account.solids, terrain.account.water);
    let rows = [
        ("moved", solids.moved),
        ("left across the border", solids.left),
        ("added by edits", solids.added),
        ("uplifted", solids.uplifted),
        ("carried", solids.carried),
        ("in rivers", solids.in_rivers),
        ("lost by a published method", solids.lost),
        ("rained", water.rained),
        ("poured by springs", water.poured),
        ("inflow from the sea", water.sea_inflow),
        ("evaporated", water.evaporated),
        ("drained by sinks", water.drained),
        ("water left across the border", water.left),
        ("water added by edits", water.added),
        ("water carried", water.carried),
        ("water in rivers", water.in_rivers),
    ];
    egui::Grid::new("ledger").num_columns(2).show(ui, |ui| {
        for (name, volume) in rows {
            if volume != 0.0 {
                ui.label(name);
                ui.label(format!("{volume:.0} m³"));
                ui.end_row();
            }
        }
    });
    let drift = world
        .get_resource::<DiagnosticsStore>()
        .and_then(|store| store.get(&ErosionDiagnostics::MASS_DRIFT)?.value());
    if let Some(drift) = drift {
        ui.label(format!("mass drift {drift:.1e} of the total"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_bounded_and_take_numbers_only() {
        let mut plot = Plot::new("test", "");
        for value in 0..10 * MAX_VALUES {
            plot.push(value as f64);
        }
        plot.push(f64::NAN);
        assert_eq!(plot.values().len(), MAX_VALUES);
        assert_eq!(plot.values().last(), Some(10.0 * MAX_VALUES as f64 - 1.0));
        assert!(plot.values.capacity() < 2 * MAX_VALUES, "no memory grows");
    }

    #[test]
    fn a_scale_has_two_ends() {
        for values in [&[][..], &[0.0], &[5.0, 5.0], &[-3.0, 2.0], &[1e-300]] {
            let mut plot = Plot::new("test", "");
            values.iter().for_each(|value| plot.push(*value));
            let (low, high) = range(&plot);
            assert!(low < high && (high - low).is_finite(), "{values:?}");
        }
    }
}
