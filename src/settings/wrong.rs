//! Settings that must be refused: each has one number outside its limits.

use super::{
    Setting,
    check::{FieldPath, Number},
};
use bevy::reflect::{
    PartialReflect, ReflectMut, ReflectRef,
    enums::{DynamicEnum, DynamicVariant, Enum, VariantInfo},
    tuple::DynamicTuple,
};
use core::ops::RangeInclusive;

/// Another value for one part of some settings.
pub(crate) struct Replacement {
    /// Which part it is, counted in the order of a visit.
    place: usize,
    /// Where the part stands, such as `streams.onset`.
    pub path: String,
    /// The limits of the part.
    pub limits: RangeInclusive<f64>,
    pub value: Box<dyn PartialReflect>,
}

impl Replacement {
    /// Puts it into settings with the same parts as those that it was made for.
    pub fn write_to(&self, settings: &mut dyn PartialReflect) {
        let mut place = 0;
        visit_parts(settings, None, &FieldPath::Root, &mut |_, _, part| {
            if place == self.place {
                part.apply(&*self.value);
            }
            place += 1;
        });
    }
}

/// All values for described numbers that are outside their limits: just below and just
/// above, infinite, and not a number.
pub(crate) fn wrong_numbers(settings: &mut dyn PartialReflect) -> Vec<Replacement> {
    replacements(settings, |setting, part| match setting {
        Some(setting) => outside(setting, part),
        None => Vec::new(),
    })
}

/// Optional parts that are off, switched on, and the other variants of enums, as far as
/// their descriptions say what they start with.
pub(crate) fn other_variants(settings: &mut dyn PartialReflect) -> Vec<Replacement> {
    replacements(settings, |setting, part| match part.reflect_ref() {
        ReflectRef::Enum(chosen) => variants(setting, chosen),
        _ => Vec::new(),
    })
}

fn replacements(
    settings: &mut dyn PartialReflect,
    values: impl Fn(Option<&Setting>, &dyn PartialReflect) -> Vec<Box<dyn PartialReflect>>,
) -> Vec<Replacement> {
    let mut found = Vec::new();
    let mut place = 0;
    visit_parts(
        settings,
        None,
        &FieldPath::Root,
        &mut |path, setting, part| {
            let limits = setting.map_or(f64::MIN..=f64::MAX, Setting::hard_limits);
            found.extend(values(setting, part).into_iter().map(|value| Replacement {
                place,
                path: path.to_string(),
                limits: limits.clone(),
                value,
            }));
            place += 1;
        },
    );
    found
}

/// Numbers of a field's type that its limits do not allow; none if it is no number.
fn outside(setting: &Setting, number: &dyn PartialReflect) -> Vec<Box<dyn PartialReflect>> {
    let (low, high) = setting.limits;
    if number.represents::<f32>() {
        let tried = [
            (low as f32).next_down(),
            (high as f32).next_up(),
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        let wrong = tried.into_iter();
        return boxed(wrong.filter(|value| !setting.accepts_single(*value)));
    }
    if number.represents::<f64>() {
        let tried = [
            low.next_down(),
            high.next_up(),
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let wrong = tried.into_iter();
        return boxed(wrong.filter(|value| !setting.accepts(*value)));
    }
    let tried = [low.ceil() - 1.0, high.floor() + 1.0];
    macro_rules! whole_numbers {
        ($($kind:ty)+) => {
            $(if number.represents::<$kind>() {
                // What the type cannot hold cannot be set either.
                let fits = |value: &f64| *value as $kind as f64 == *value;
                let wrong = tried.into_iter().filter(|value| !setting.accepts(*value));
                return boxed(wrong.filter(fits).map(|value| value as $kind));
            })+
        };
    }
    whole_numbers!(u32 u64 usize u16 u8 i32 i64 i16 i8);
    Vec::new()
}

fn boxed<T: PartialReflect>(values: impl Iterator<Item = T>) -> Vec<Box<dyn PartialReflect>> {
    values
        .map(|value| Box::new(value) as Box<dyn PartialReflect>)
        .collect()
}

/// What an enum could be instead of what it is.
fn variants(setting: Option<&Setting>, chosen: &dyn Enum) -> Vec<Box<dyn PartialReflect>> {
    if let Some(start) = setting.and_then(Setting::start) {
        if chosen.variant_name() != "None" {
            return Vec::new();
        }
        let mut content = DynamicTuple::default();
        content.insert_boxed(start);
        let some = DynamicEnum::new("Some", DynamicVariant::Tuple(content));
        return vec![Box::new(some)];
    }
    let Some(info) = chosen.get_represented_enum_info() else {
        return Vec::new();
    };
    let others = info
        .iter()
        .filter(|variant| variant.name() != chosen.variant_name());
    others
        .filter_map(|variant| variant.get_attribute::<Setting>()?.start())
        .collect()
}

/// What is called for each number and each enum.
type Visit<'v> = dyn FnMut(&FieldPath, Option<&Setting>, &mut dyn PartialReflect) + 'v;

/// Visits every number and every enum of settings in order, to change them. Paths are
/// those of [`check`](super::check()).
fn visit_parts(
    value: &mut dyn PartialReflect,
    setting: Option<&Setting>,
    path: &FieldPath,
    visit: &mut Visit,
) {
    let is_enum = matches!(value.reflect_ref(), ReflectRef::Enum(_));
    if is_enum || Number::of(value).is_some() {
        visit(path, setting, value);
    }
    match value.reflect_mut() {
        ReflectMut::Struct(fields) => {
            let Some(info) = fields.get_represented_struct_info() else {
                return;
            };
            for (index, field) in info.iter().enumerate() {
                if let Some(value) = fields.field_at_mut(index) {
                    let path = FieldPath::Field(path, field.name());
                    visit_parts(value, field.get_attribute(), &path, visit);
                }
            }
        }
        ReflectMut::Enum(fields) => {
            let info = fields.get_represented_enum_info();
            match info.and_then(|info| info.variant_at(fields.variant_index())) {
                Some(VariantInfo::Struct(info)) => {
                    for (index, field) in info.iter().enumerate() {
                        if let Some(value) = fields.field_at_mut(index) {
                            let path = FieldPath::Field(path, field.name());
                            visit_parts(value, field.get_attribute(), &path, visit);
                        }
                    }
                }
                // `Some(…)`: what is in it stands under the field's own name.
                Some(VariantInfo::Tuple(info)) => {
                    for (index, field) in info.iter().enumerate() {
                        if let Some(value) = fields.field_at_mut(index) {
                            let setting = field.get_attribute().or(setting);
                            visit_parts(value, setting, path, visit);
                        }
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}
