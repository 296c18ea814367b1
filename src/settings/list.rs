//! All described settings below each other, for people.

use super::{Setting, check::Number};
use bevy::reflect::{PartialReflect, Reflect, ReflectRef, enums::VariantInfo};
use core::fmt;

/// A line of a [`list`] of settings.
#[derive(Clone, Debug)]
pub struct ListedSetting {
    /// Where the field stands, such as `streams.onset`.
    pub path: String,
    /// The default; `None` for a part that is switched off.
    pub value: String,
    /// Its description.
    pub setting: Setting,
}

impl fmt::Display for ListedSetting {
    /// `gravity = 9.81 m/s²  (0.001 to 1000; usually 0.1 to 30)  Gravity`
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            path,
            value,
            setting,
        } = self;
        write!(f, "{path} = {value}")?;
        if !setting.unit().is_empty() {
            write!(f, " {}", setting.unit())?;
        }
        if let Some(range) = setting.range() {
            let limits = setting.hard_limits();
            f.write_str("  (")?;
            if *limits.start() != f64::MIN || *limits.end() != f64::MAX {
                write!(f, "{} to {}; ", limits.start(), limits.end())?;
            }
            write!(f, "usually {} to {})", range.start(), range.end())?;
        }
        if !setting.explanation().is_empty() {
            write!(f, "  {}", setting.explanation())?;
        }
        Ok(())
    }
}

/// All described fields of settings in order, those of optional parts and of the
/// variants of enums too: with the values that they start with.
pub fn list(settings: &dyn Reflect) -> Vec<ListedSetting> {
    let mut listed = Vec::new();
    list_fields(settings.as_partial_reflect(), "", &mut listed);
    listed
}

fn list_fields(settings: &dyn PartialReflect, path: &str, listed: &mut Vec<ListedSetting>) {
    let ReflectRef::Struct(fields) = settings.reflect_ref() else {
        return;
    };
    let Some(info) = fields.get_represented_struct_info() else {
        return;
    };
    for (index, field) in info.iter().enumerate() {
        if let (Some(value), Some(setting)) = (fields.field_at(index), field.get_attribute()) {
            list_field(value, setting, &below(path, field.name()), listed);
        }
    }
}

fn list_field(
    value: &dyn PartialReflect,
    setting: &Setting,
    path: &str,
    listed: &mut Vec<ListedSetting>,
) {
    let mut line = |value: String| {
        listed.push(ListedSetting {
            path: path.into(),
            value,
            setting: setting.clone(),
        });
    };
    let ReflectRef::Enum(chosen) = value.reflect_ref() else {
        match Number::of(value) {
            Some(number) => line(number.to_string()),
            None => line(format!("{value:?}")),
        }
        return;
    };
    if let Some(start) = setting.start() {
        line(chosen.variant_name().into());
        list_fields(&*start, path, listed);
        return;
    }
    let variants = chosen.get_represented_enum_info();
    let names = variants.map_or_else(String::new, |info| info.variant_names().join(", "));
    line(format!("{} (of {names})", chosen.variant_name()));
    for variant in variants.into_iter().flat_map(|info| info.iter()) {
        let start = variant.get_attribute::<Setting>().and_then(Setting::start);
        let (Some(start), VariantInfo::Struct(info)) = (start, variant) else {
            continue;
        };
        let path = below(path, variant.name());
        if let ReflectRef::Enum(fields) = start.reflect_ref() {
            for (index, field) in info.iter().enumerate() {
                if let (Some(value), Some(setting)) =
                    (fields.field_at(index), field.get_attribute())
                {
                    list_field(value, setting, &below(&path, field.name()), listed);
                }
            }
        }
    }
}

fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.into(),
        path => format!("{path}.{name}"),
    }
}
