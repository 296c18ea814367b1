//! Random settings of any type whose fields are described by `Setting`s.

use bevy::reflect::{
    PartialReflect, Reflect, ReflectMut,
    enums::{DynamicEnum, DynamicVariant, Enum, VariantInfo},
    tuple::DynamicTuple,
};
use bevy_erode::settings::Setting;
use proptest::prelude::*;

/// What is drawn for a field: which kind of value, where in its range, and any
/// number at all.
pub type Draw = (u8, f64, f32);

/// As many draws as the largest settings have fields, with their parts.
pub fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let draw = (0u8..32, 0.0f64..1.0, any::<f32>());
    prop::collection::vec(draw, 64)
}

/// Makes settings random: mostly from the fields' sensible ranges, sometimes from
/// all that their limits allow, sometimes anything at all. Optional parts are on or
/// off, and enums have any variant.
pub fn fill_all(settings: &mut dyn Reflect, draws: Vec<Draw>) {
    let settings = settings.as_partial_reflect_mut();
    fill(settings, None, &mut draws.into_iter().cycle());
}

/// Gives a value and everything in it what is drawn.
fn fill(
    value: &mut dyn PartialReflect,
    setting: Option<&Setting>,
    draws: &mut dyn Iterator<Item = Draw>,
) {
    macro_rules! numbers {
        ($($kind:ty)+) => {
            $(if let Some(number) = value.try_downcast_mut::<$kind>() {
                if let Some(drawn) = setting.and_then(|setting| number_of(setting, draws)) {
                    *number = drawn as $kind;
                }
                return;
            })+
        };
    }
    numbers!(f32 f64 u32 u64);
    if let Some(is_on) = value.try_downcast_mut::<bool>() {
        *is_on = draws.next().is_some_and(|(_, share, _)| share < 0.5);
        return;
    }
    match value.reflect_mut() {
        ReflectMut::Struct(fields) => {
            let Some(info) = fields.get_represented_struct_info() else {
                return;
            };
            for (index, field) in info.iter().enumerate() {
                if let Some(value) = fields.field_at_mut(index) {
                    fill(value, field.get_attribute(), draws);
                }
            }
        }
        ReflectMut::Enum(chosen) => choose(chosen, setting, draws),
        _ => {}
    }
}

/// Gives an enum a variant that is drawn, and its fields.
fn choose(value: &mut dyn Enum, setting: Option<&Setting>, draws: &mut dyn Iterator<Item = Draw>) {
    let Some(info) = value.get_represented_enum_info() else {
        return;
    };
    let share = draws.next().map_or(0.0, |(_, share, _)| share);
    if let Some(start) = setting.and_then(Setting::start) {
        let variant = match share < 0.5 {
            true => DynamicEnum::new("None", DynamicVariant::Unit),
            false => {
                let mut tuple = DynamicTuple::default();
                tuple.insert_boxed(start);
                DynamicEnum::new("Some", DynamicVariant::Tuple(tuple))
            }
        };
        value.apply(&variant);
        if let Some(part) = value.field_at_mut(0) {
            fill(part, None, draws);
        }
        return;
    }
    let start = |variant: &VariantInfo| variant.get_attribute::<Setting>()?.start();
    let variants: Vec<_> = info.iter().filter_map(start).collect();
    if let Some(variant) = variants.get((share * variants.len() as f64) as usize) {
        value.apply(&**variant);
    }
    let Some(VariantInfo::Struct(fields)) = info.variant(value.variant_name()) else {
        return;
    };
    for (index, field) in fields.iter().enumerate() {
        if let Some(value) = value.field_at_mut(index) {
            fill(value, field.get_attribute(), draws);
        }
    }
}

/// A number for a field.
fn number_of(setting: &Setting, draws: &mut dyn Iterator<Item = Draw>) -> Option<f64> {
    let range = setting.range()?;
    let limits = setting.hard_limits();
    let (kind, share, any) = draws.next()?;
    Some(match kind {
        // Those that shrinking tries come first.
        0..30 => range.start() + share * (range.end() - range.start()),
        // Evenly over the powers of ten.
        30 => {
            let most = limits.end().min(f32::MAX.into());
            let least = limits.start().max(most * 1e-12);
            least * (most / least).powf(share)
        }
        _ => match (share * 8.0) as u32 {
            0 => 0.0,
            1 => f64::NAN,
            2 => f64::INFINITY,
            3 => -1.0,
            _ => any.into(),
        },
    })
}
