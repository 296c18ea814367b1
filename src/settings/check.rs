//! Checks settings against the limits at their fields.

use super::Setting;
use crate::terrain::SettingsError;
use bevy::reflect::{PartialReflect, Reflect, ReflectRef, TypePath, enums::VariantInfo};
use core::fmt;

/// Checks every field against its [`Setting`]'s limits, those of optional parts
/// and of an enum's variant too. Numbers that are not described must be finite.
///
/// Rules that concern several fields or the grid are a model's own.
///
/// # Errors
/// Names the first field that is out of its limits, such as `streams.onset`.
pub fn check<S: Reflect + TypePath>(settings: &S) -> Result<(), SettingsError> {
    visit_numbers(
        settings.as_partial_reflect(),
        &mut |path, setting, number| {
            let (is_good, expected) = match setting {
                Some(setting) => {
                    let limits = setting.hard_limits();
                    let accepts = match number {
                        Number::Single(value) => setting.accepts_single(value),
                        _ => setting.accepts(number.as_f64()),
                    };
                    let unlimited = *limits.start() == f64::MIN && *limits.end() == f64::MAX;
                    (accepts, (!unlimited).then_some(limits))
                }
                None => (number.as_f64().is_finite(), None),
            };
            if is_good {
                return Ok(());
            }
            Err(SettingsError {
                model: S::short_type_path(),
                field: path.to_string().into(),
                reason: match expected {
                    Some(limits) => format!(
                        "must be {} to {}, was {number}",
                        limits.start(),
                        limits.end()
                    ),
                    None => format!("must be finite, was {number}"),
                },
            })
        },
    )
}

/// A number that a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Single(f32),
    Double(f64),
    Natural(u64),
    Integer(i64),
}

impl Number {
    /// The number in a field, if it holds one.
    pub fn of(value: &dyn PartialReflect) -> Option<Self> {
        macro_rules! first_of {
            ($($kind:ty => $variant:ident,)+) => {
                $(if let Some(&value) = value.try_downcast_ref::<$kind>() {
                    return Some(Self::$variant(value.into()));
                })+
            };
        }
        first_of! {
            f32 => Single,
            u32 => Natural,
            u64 => Natural,
            f64 => Double,
            i32 => Integer,
            i64 => Integer,
            u16 => Natural,
            u8 => Natural,
            i16 => Integer,
            i8 => Integer,
        }
        let size = value.try_downcast_ref::<usize>()?;
        Some(Self::Natural(*size as u64))
    }

    pub fn as_f64(self) -> f64 {
        match self {
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
            Self::Natural(value) => value as f64,
            Self::Integer(value) => value as f64,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Single(value) => value.fmt(f),
            Self::Double(value) => value.fmt(f),
            Self::Natural(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
        }
    }
}

/// Where a field stands within its settings: `streams.onset`. It is put together
/// only when it is needed.
#[derive(Clone, Copy)]
pub(super) enum FieldPath<'a> {
    Root,
    Field(&'a FieldPath<'a>, &'a str),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
        }
    }
}

/// What is called for each number. An error ends the visit.
type Visit<'v, E> = dyn FnMut(&FieldPath, Option<&Setting>, Number) -> Result<(), E> + 'v;

/// Visits every number of settings in order.
pub(super) fn visit_numbers<E>(
    settings: &dyn PartialReflect,
    visit: &mut Visit<E>,
) -> Result<(), E> {
    visit_value(settings, None, &FieldPath::Root, visit)
}

fn visit_value<E>(
    value: &dyn PartialReflect,
    setting: Option<&Setting>,
    path: &FieldPath,
    visit: &mut Visit<E>,
) -> Result<(), E> {
    match value.reflect_ref() {
        ReflectRef::Struct(fields) => {
            let Some(info) = fields.get_represented_struct_info() else {
                return Ok(());
            };
            for (index, field) in info.iter().enumerate() {
                if let Some(value) = fields.field_at(index) {
                    let path = FieldPath::Field(path, field.name());
                    visit_value(value, field.get_attribute(), &path, visit)?;
                }
            }
        }
        ReflectRef::Enum(fields) => {
            let info = fields.get_represented_enum_info();
            match info.and_then(|info| info.variant_at(fields.variant_index())) {
                Some(VariantInfo::Struct(info)) => {
                    for (index, field) in info.iter().enumerate() {
                        if let Some(value) = fields.field_at(index) {
                            let path = FieldPath::Field(path, field.name());
                            visit_value(value, field.get_attribute(), &path, visit)?;
                        }
                    }
                }
                // `Some(…)`: what is in it stands under the field's own name.
                Some(VariantInfo::Tuple(info)) => {
                    for (index, field) in info.iter().enumerate() {
                        if let Some(value) = fields.field_at(index) {
                            let setting = field.get_attribute().or(setting);
                            visit_value(value, setting, path, visit)?;
                        }
                    }
                }
                _ => {}
            }
        }
        _ => {
            if let Some(number) = Number::of(value) {
                visit(path, setting, number)?;
            }
        }
    }
    Ok(())
}
