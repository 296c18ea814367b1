//! Fields by their paths, such as `streams.onset`.

use super::Setting;
use crate::terrain::SettingsError;
use bevy::reflect::{
    PartialReflect, Reflect, ReflectMut,
    enums::{DynamicEnum, DynamicVariant, Enum, EnumInfo, VariantInfo},
    tuple::DynamicTuple,
};

/// Makes sure that the settings have a field that [`list`](super::list) names, such
/// as `streams.onset` or `pattern.Drops.radius`: optional parts on the way are
/// switched on and variants are chosen, with the values that their [`Setting`]
/// starts with. What is on already keeps its values.
///
/// Returns the path without the names of variants, as in the errors of
/// [`check`](super::check): `pattern.radius`.
///
/// ```
/// use bevy_erode::{prelude::*, settings};
///
/// let mut droplets = Droplets::default();
/// assert!(droplets.streams.is_none());
/// assert_eq!(settings::open_path(&mut droplets, "streams.onset")?, "streams.onset");
/// assert!(droplets.streams.is_some());
/// # Ok::<(), bevy_erode::terrain::SettingsError>(())
/// ```
///
/// # Errors
/// When there is no such field, or a part on the way has no values to start with.
/// Then nothing is changed.
pub fn open_path(settings: &mut dyn Reflect, path: &str) -> Result<String, SettingsError> {
    let info = settings.get_represented_type_info();
    let model = info.map_or("settings", |info| info.type_path_table().short_path());
    let names: Vec<&str> = path.split('.').collect();
    let mut opened = Vec::new();
    let settings = settings.as_partial_reflect_mut();
    match open(settings, None, Way::new(&names), &mut opened) {
        Ok(()) => Ok(opened.join(".")),
        Err(reason) => Err(SettingsError {
            model,
            field: path.to_owned().into(),
            reason,
        }),
    }
}

/// The names that lead to a value, and those below it.
#[derive(Clone, Copy)]
struct Way<'a> {
    names: &'a [&'a str],
    passed: usize,
}

impl<'a> Way<'a> {
    fn new(names: &'a [&'a str]) -> Self {
        Self { names, passed: 0 }
    }

    /// The next name, if the value is not there yet.
    fn next(self) -> Option<&'a str> {
        self.names.get(self.passed).copied()
    }

    /// The way past that name.
    fn on(self) -> Self {
        let passed = self.passed + 1;
        Self { passed, ..self }
    }

    /// Where the value stands.
    fn here(self) -> String {
        self.names[..self.passed].join(".")
    }

    /// A name below the value.
    fn below(self, name: &str) -> String {
        match self.passed {
            0 => name.into(),
            _ => format!("{}.{name}", self.here()),
        }
    }

    fn unknown<'n>(self, name: &str, known: impl Iterator<Item = &'n str>) -> String {
        let known: Vec<String> = known.map(|name| self.below(name)).collect();
        format!(
            "no setting `{}`, expected {}",
            self.below(name),
            known.join(", ")
        )
    }
}

/// Opens the way below a value. `opened` gets the names without variants. Parts that
/// are off are opened before they are switched on, so that an error changes nothing.
fn open<'a>(
    value: &mut dyn PartialReflect,
    setting: Option<&Setting>,
    way: Way<'a>,
    opened: &mut Vec<&'a str>,
) -> Result<(), String> {
    let Some(name) = way.next() else {
        return Ok(());
    };
    let no_parts = || format!("`{}` has no parts, expected a value for it", way.here());
    match value.reflect_mut() {
        ReflectMut::Struct(fields) => {
            let info = fields.get_represented_struct_info().ok_or_else(no_parts)?;
            let unknown = || way.unknown(name, info.iter().map(|field| field.name()));
            let index = info.index_of(name).ok_or_else(unknown)?;
            let setting = info.field_at(index).and_then(|field| field.get_attribute());
            let field = fields.field_at_mut(index).ok_or_else(no_parts)?;
            opened.push(name);
            open(field, setting, way.on(), opened)
        }
        ReflectMut::Enum(chosen) => {
            let info = chosen.get_represented_enum_info().ok_or_else(no_parts)?;
            match info.variant_names() {
                ["None", "Some"] => open_optional(chosen, setting, way, opened),
                _ => open_variant(chosen, info, name, way, opened),
            }
        }
        _ => Err(no_parts()),
    }
}

/// What is in `Some(…)` stands under the option's own name.
fn open_optional<'a>(
    option: &mut dyn Enum,
    setting: Option<&Setting>,
    way: Way<'a>,
    opened: &mut Vec<&'a str>,
) -> Result<(), String> {
    if let Some(inside) = option.field_at_mut(0) {
        return open(inside, None, way, opened);
    }
    let here = way.here();
    let mut start = setting.and_then(Setting::start).ok_or_else(|| {
        format!("`{here}` is None and has no values to start with, expected a value for all of it")
    })?;
    open(&mut *start, None, way, opened)?;
    let mut inside = DynamicTuple::default();
    inside.insert_boxed(start.to_dynamic());
    apply(
        option,
        &DynamicEnum::new("Some", DynamicVariant::Tuple(inside)),
    )
}

fn open_variant<'a>(
    chosen: &mut dyn Enum,
    info: &'static EnumInfo,
    name: &'a str,
    way: Way<'a>,
    opened: &mut Vec<&'a str>,
) -> Result<(), String> {
    let Some(variant) = info.variant(name) else {
        // The field of the variant that is chosen.
        return open_field_of_variant(chosen, info, way, opened);
    };
    if way.on().next().is_none() {
        let here = way.here();
        return Err(format!(
            "`{name}` is a variant of `{here}`, expected one of its fields after it"
        ));
    }
    if chosen.variant_name() == name {
        return open_field_of_variant(chosen, info, way.on(), opened);
    }
    let start = variant.get_attribute::<Setting>().and_then(Setting::start);
    let mut start = start.ok_or_else(|| {
        let here = way.here();
        format!("`{name}` has no values to start with, expected a value for all of `{here}`")
    })?;
    if let ReflectMut::Enum(start) = start.reflect_mut() {
        open_field_of_variant(start, info, way.on(), opened)?;
    }
    apply(chosen, &*start)
}

/// A field of the variant that an enum has.
fn open_field_of_variant<'a>(
    chosen: &mut dyn Enum,
    info: &'static EnumInfo,
    way: Way<'a>,
    opened: &mut Vec<&'a str>,
) -> Result<(), String> {
    let Some(name) = way.next() else {
        return Ok(());
    };
    let fields = |variant: &'static VariantInfo| match variant {
        VariantInfo::Struct(fields) => Some(fields),
        _ => None,
    };
    let has = info.variant(chosen.variant_name()).and_then(fields);
    let index = has.and_then(|fields| fields.index_of(name));
    let Some((fields, index)) = has.zip(index) else {
        let named = info.iter().flat_map(|variant| {
            let fields = fields(variant).into_iter().flat_map(|fields| fields.iter());
            fields.map(|field| format!("{}.{}", variant.name(), field.name()))
        });
        let named: Vec<String> = named.collect();
        return Err(format!(
            "no setting `{}` while it is {}, expected one of {} after it",
            way.below(name),
            chosen.variant_name(),
            named.join(", ")
        ));
    };
    let setting = fields
        .field_at(index)
        .and_then(|field| field.get_attribute());
    let Some(field) = chosen.field_at_mut(index) else {
        return Err(format!("no setting `{}`", way.below(name)));
    };
    opened.push(name);
    open(field, setting, way.on(), opened)
}

fn apply(value: &mut dyn Enum, new: &dyn PartialReflect) -> Result<(), String> {
    value.try_apply(new).map_err(|error| error.to_string())
}
