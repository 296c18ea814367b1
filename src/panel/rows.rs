//! Rows of settings: a slider each, with unit, range, explanation and a way back
//! to the default.

use bevy_egui::egui::{self, Slider, SliderClamping, Ui, emath::Numeric};
use core::ops::RangeInclusive;

/// Widest slider beside its value and name. units: points
const SLIDER_WIDTH: f32 = 84.0;

/// What a row says about its setting.
pub(super) struct Row<T> {
    /// The field's name in code.
    pub field: &'static str,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
    /// What the slider reaches. A value from code may lie beyond it.
    pub range: RangeInclusive<T>,
    /// What the setting does, for the tooltip.
    pub explanation: &'static str,
}

/// What was shown, for tests.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub path: String,
    pub explanation: String,
    pub default_in_range: bool,
}

/// Draws the settings of a model below each other.
pub(super) struct Rows<'a> {
    pub ui: &'a mut Ui,
    /// Where the settings stand within their model, such as `streams.`.
    #[cfg(test)]
    pub path: String,
    #[cfg(test)]
    pub shown: &'a mut Vec<Shown>,
}

impl Rows<'_> {
    /// A number with a slider.
    pub fn number<T: Numeric>(&mut self, row: Row<T>, value: &mut T, default: T) {
        #[cfg(test)]
        self.note(
            row.field,
            row.explanation,
            row.range.contains(&default) && row.range.start() < row.range.end(),
        );
        let (low, high) = (row.range.start().to_f64(), row.range.end().to_f64());
        // Ranges over several powers of ten are easier to set on a log scale.
        let wide = low >= 0.0 && high / low.max(high * 1e-3) > 50.0;
        let name = row.field.replace('_', " ");
        let unit = match row.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let hint = format!(
            "{}\n{low} to {high}{unit}, by default {}{unit}",
            row.explanation,
            default.to_f64()
        );
        self.ui.horizontal(|ui| {
            ui.spacing_mut().slider_width = SLIDER_WIDTH;
            ui.spacing_mut().item_spacing.x = 4.0;
            reset(ui, value, default);
            let slider = Slider::new(value, row.range)
                .logarithmic(wide)
                .smallest_positive(high * 1e-5)
                .max_decimals(6)
                .suffix(unit)
                .clamping(SliderClamping::Edits);
            ui.add(slider).on_hover_text(&hint);
            ui.add(egui::Label::new(name).truncate())
                .on_hover_text(hint);
        });
    }

    /// A part of the settings that may be left out, and its own rows.
    pub fn optional<T: PartialEq>(
        &mut self,
        (field, name): (&'static str, &str),
        value: &mut Option<T>,
        first: impl FnOnce() -> T,
        explanation: &'static str,
        inside: impl FnOnce(&mut Rows, &mut T),
    ) {
        #[cfg(test)]
        self.note(field, explanation, true);
        let mut on = value.is_some();
        let box_ = self.ui.checkbox(&mut on, name).on_hover_text(explanation);
        if box_.changed() {
            *value = on.then(first);
        }
        if let Some(value) = value {
            self.inner(field, |rows| inside(rows, value));
        }
    }

    /// A yes or no.
    pub fn switch(&mut self, field: &'static str, value: &mut bool, explanation: &'static str) {
        #[cfg(test)]
        self.note(field, explanation, true);
        let name = field.replace('_', " ");
        self.ui.checkbox(value, name).on_hover_text(explanation);
    }

    /// One of several kinds, each with its name and what it means. The one that
    /// is chosen keeps what stands within it.
    pub fn choice<T>(
        &mut self,
        field: &'static str,
        value: &mut T,
        kinds: impl IntoIterator<Item = (T, &'static str, &'static str)>,
    ) {
        #[cfg(test)]
        self.note(field, "the kinds say what they are", true);
        let name = field.replace('_', " ");
        let now = core::mem::discriminant(value);
        self.ui.horizontal_wrapped(|ui| {
            ui.label(name);
            for (kind, name, explanation) in kinds {
                let chosen = core::mem::discriminant(&kind) == now;
                let label = ui.selectable_label(chosen, name);
                if label.on_hover_text(explanation).clicked() && !chosen {
                    *value = kind;
                }
            }
        });
    }

    /// Rows that stand within a field, indented.
    pub fn inner(&mut self, field: &'static str, inside: impl FnOnce(&mut Rows)) {
        #[cfg(test)]
        let path = format!("{}{field}.", self.path);
        #[cfg(test)]
        let shown = &mut *self.shown;
        self.ui.indent(field, |ui| {
            inside(&mut Rows {
                ui,
                #[cfg(test)]
                path,
                #[cfg(test)]
                shown,
            });
        });
    }

    #[cfg(test)]
    pub fn note(&mut self, field: &str, explanation: &str, default_in_range: bool) {
        self.shown.push(Shown {
            path: format!("{}{field}", self.path),
            explanation: explanation.into(),
            default_in_range,
        });
    }
}

/// A small button that brings back the default; dim where there is no need.
fn reset<T: Numeric>(ui: &mut Ui, value: &mut T, default: T) {
    let button = egui::Button::new(egui::RichText::new("⟲").small()).frame(false);
    let button = ui.add_enabled(*value != default, button);
    if button.on_hover_text("back to the default").clicked() {
        *value = default;
    }
}

/// Rows of numbers that are fields of one struct: field, unit, range, explanation.
macro_rules! numbers {
    ($rows:expr, $settings:expr, $default:expr;
     $($field:ident, $unit:literal, $range:expr, $explanation:literal;)+) => {{
        let default = $default;
        $(
            $rows.number(
                $crate::panel::rows::Row {
                    field: stringify!($field),
                    unit: $unit,
                    range: $range,
                    explanation: $explanation,
                },
                &mut $settings.$field,
                default.$field,
            );
        )+
    }};
}
pub(super) use numbers;
