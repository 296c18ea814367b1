//! Rows of settings, from their descriptions ([`Setting`]): a slider, checkbox or
//! choice each, with unit, range, explanation and a way back to the default.

use crate::settings::Setting;
use bevy::reflect::{
    PartialReflect, ReflectMut, ReflectRef,
    enums::{DynamicEnum, DynamicVariant, Enum, EnumInfo, VariantInfo},
    structs::Struct,
    tuple::DynamicTuple,
};
use bevy_egui::egui::{self, Slider, SliderClamping, Ui, emath::Numeric};
use core::ops::RangeInclusive;

/// Widest slider beside its value and name. units: points
const SLIDER_WIDTH: f32 = 84.0;

/// What was shown, for tests.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub path: String,
    pub explanation: String,
}

/// Draws settings below each other.
pub(super) struct Rows<'a> {
    pub ui: &'a mut Ui,
    /// Where the settings stand within their model, such as `streams.`.
    #[cfg(test)]
    pub path: String,
    #[cfg(test)]
    pub shown: &'a mut Vec<Shown>,
}

/// Rows in a part of the panel.
pub(super) fn show_rows(ui: &mut Ui, show: impl FnOnce(&mut Rows)) {
    show(&mut Rows {
        ui,
        #[cfg(test)]
        path: String::new(),
        #[cfg(test)]
        shown: &mut Vec::new(),
    });
}

/// A field to show, and the value that it can be set back to.
struct Row<'a> {
    field: &'a str,
    setting: &'a Setting,
    default: Option<&'a dyn PartialReflect>,
}

impl Rows<'_> {
    /// All described fields of a struct, in order.
    pub fn all(&mut self, settings: &mut dyn Struct, default: Option<&dyn PartialReflect>) {
        let Some(info) = settings.get_represented_struct_info() else {
            return;
        };
        // An alternative method that is on leaves no meaning to most fields.
        let method = info.iter().find_map(|field| {
            let beside = field.get_attribute::<Setting>()?.shown_beside()?;
            is_some(settings.field(field.name())?).then_some((field.name(), beside))
        });
        for field in info.iter() {
            let name = field.name();
            if method.is_none_or(|(method, beside)| name == method || beside.contains(&name)) {
                self.field(settings, default, name);
            }
        }
    }

    /// A field of a struct, if it is described.
    pub fn field(
        &mut self,
        settings: &mut dyn Struct,
        default: Option<&dyn PartialReflect>,
        field: &'static str,
    ) {
        let info = settings.get_represented_struct_info();
        let info = info.and_then(|info| info.field(field));
        let setting = info.and_then(|info| info.get_attribute::<Setting>());
        let default = default.and_then(|default| match default.reflect_ref() {
            ReflectRef::Struct(default) => default.field(field),
            _ => None,
        });
        if let (Some(setting), Some(value)) = (setting, settings.field_mut(field)) {
            let row = Row {
                field,
                setting,
                default,
            };
            self.value(row, value);
        }
    }

    /// Any value.
    fn value(&mut self, row: Row, value: &mut dyn PartialReflect) {
        #[cfg(test)]
        self.record(row.field, row.setting.explanation());
        macro_rules! numbers {
            ($($kind:ty)+) => {
                $(if let Some(number) = value.try_downcast_mut::<$kind>() {
                    self.number(&row, number);
                    return;
                })+
            };
        }
        numbers!(f32 f64 u32 u64 usize i32 i64 u16 u8 i16 i8);
        if let Some(on) = value.try_downcast_mut::<bool>() {
            let label = row.setting.label_or(row.field);
            let checkbox = self.ui.checkbox(on, label);
            checkbox.on_hover_text(row.setting.explanation());
            return;
        }
        match value.reflect_mut() {
            ReflectMut::Struct(settings) => {
                let label = row.setting.label_or(row.field);
                let label = self.ui.label(label);
                label.on_hover_text(row.setting.explanation());
                self.inner(row.field, |rows| rows.all(settings, row.default));
            }
            ReflectMut::Enum(chosen) => match chosen.get_represented_enum_info() {
                Some(info) if info.variant_names() == ["None", "Some"] => {
                    self.optional(&row, chosen);
                }
                Some(info) => self.choice(&row, chosen, info),
                None => {}
            },
            // What comes from code or a file.
            ReflectMut::List(list) => {
                let label = row.setting.label_or(row.field);
                let label = self.ui.label(format!("{label}: {} values", list.len()));
                label.on_hover_text(row.setting.explanation());
            }
            _ => {}
        }
    }

    /// A number with a slider.
    fn number<T: Numeric + PartialReflect>(&mut self, row: &Row, value: &mut T) {
        let Some(range) = row.setting.range() else {
            return;
        };
        let default = row.default.and_then(|default| default.try_downcast_ref());
        let (low, high) = (*range.start(), *range.end());
        // Ranges over several powers of ten are easier to set on a log scale.
        let wide = low >= 0.0 && high / low.max(high * 1e-3) > 50.0;
        let name = row.setting.label_or(row.field);
        let unit = match row.setting.unit() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let mut hint = format!("{}\n{low} to {high}{unit}", row.setting.explanation());
        if let Some(default) = default {
            hint += &format!(", by default {}{unit}", T::to_f64(*default));
        }
        let range: RangeInclusive<T> = T::from_f64(low)..=T::from_f64(high);
        self.ui.horizontal(|ui| {
            ui.spacing_mut().slider_width = SLIDER_WIDTH;
            ui.spacing_mut().item_spacing.x = 4.0;
            if let Some(default) = default {
                reset(ui, value, *default);
            }
            let slider = Slider::new(value, range)
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
    fn optional(&mut self, row: &Row, value: &mut dyn Enum) {
        let start = row.setting.start();
        let mut on = is_some(value.as_partial_reflect());
        let label = row.setting.label_or(row.field);
        let checkbox = self.ui.checkbox(&mut on, label);
        let checkbox = checkbox.on_hover_text(row.setting.explanation());
        if checkbox.changed() {
            let variant = match (on, &start) {
                (true, Some(start)) => {
                    let mut tuple = DynamicTuple::default();
                    tuple.insert_boxed(start.to_dynamic());
                    DynamicEnum::new("Some", DynamicVariant::Tuple(tuple))
                }
                _ => DynamicEnum::new("None", DynamicVariant::Unit),
            };
            set(value, &variant);
        }
        let inside = value.field_at_mut(0).map(PartialReflect::reflect_mut);
        if let Some(ReflectMut::Struct(settings)) = inside {
            self.inner(row.field, |rows| rows.all(settings, start.as_deref()));
        }
    }

    /// One of several kinds, each with its name and what it means, and the rows
    /// of the one that is chosen, which keeps what stands within it.
    fn choice(&mut self, row: &Row, value: &mut dyn Enum, info: &'static EnumInfo) {
        let name = row.setting.label_or(row.field);
        let mut chosen = None;
        self.ui.horizontal_wrapped(|ui| {
            ui.label(name).on_hover_text(row.setting.explanation());
            for kind in info.iter() {
                let is_chosen = kind.name() == value.variant_name();
                let Some(setting) = kind.get_attribute::<Setting>() else {
                    continue;
                };
                // What comes from code or a file can be left but not made here.
                let can_start = setting.start().is_some();
                if !(can_start || is_chosen) {
                    continue;
                }
                let label = ui.selectable_label(is_chosen, setting.label_or(kind.name()));
                if label.on_hover_text(setting.explanation()).clicked() && !is_chosen {
                    chosen = setting.start();
                }
            }
        });
        if let Some(chosen) = chosen {
            set(value, &*chosen);
        }
        let Some(kind) = info.variant(value.variant_name()) else {
            return;
        };
        let start = kind.get_attribute::<Setting>().and_then(Setting::start);
        let VariantInfo::Struct(fields) = kind else {
            if let Some(ReflectRef::List(list)) = value.field_at(0).map(PartialReflect::reflect_ref)
            {
                self.ui.label(format!("{} values", list.len()));
            }
            return;
        };
        self.inner(row.field, |rows| {
            for (index, field) in fields.iter().enumerate() {
                let default = start
                    .as_deref()
                    .and_then(|start| match start.reflect_ref() {
                        ReflectRef::Enum(start) => start.field_at(index),
                        _ => None,
                    });
                if let (Some(setting), Some(value)) =
                    (field.get_attribute(), value.field_at_mut(index))
                {
                    let row = Row {
                        field: field.name(),
                        setting,
                        default,
                    };
                    rows.value(row, value);
                }
            }
        });
    }

    /// Rows that stand within a field, indented.
    fn inner(&mut self, field: &str, inside: impl FnOnce(&mut Rows)) {
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
    fn record(&mut self, field: &str, explanation: &str) {
        self.shown.push(Shown {
            path: format!("{}{field}", self.path),
            explanation: explanation.into(),
        });
    }
}

/// Whether an `Option` is `Some`.
fn is_some(value: &dyn PartialReflect) -> bool {
    matches!(value.reflect_ref(), ReflectRef::Enum(value) if value.variant_name() == "Some")
}

/// Gives an enum another variant.
fn set(value: &mut dyn Enum, variant: &dyn PartialReflect) {
    if let Err(error) = value.try_apply(variant) {
        bevy::log::warn_once!("the panel cannot set this choice: {error}");
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
