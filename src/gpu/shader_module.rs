//! Structs and constants that Rust and WGSL share, written once.
//!
//! [`shader_module!`] takes one list and makes both sides of it: the Rust structs
//! with their `ShaderType`, and the text of a WGSL module of the same structs and
//! constants, which passes import. Shader definitions would not do: they cannot
//! hold floats.

use bevy::{math::*, prelude::*, shader::Shader};

/// A WGSL module whose text is made from a list in Rust.
pub(super) struct ShaderModule {
    /// What passes import it by.
    pub path: &'static str,
    pub source: fn() -> String,
    #[cfg(test)]
    pub layouts: fn() -> Vec<StructLayout>,
}

impl ShaderModule {
    /// Makes it known to the app's shaders, for as long as the app runs.
    pub fn load(&self, app: &mut App) {
        let Some(mut shaders) = app.world_mut().get_resource_mut::<Assets<Shader>>() else {
            return;
        };
        let file = format!("{}.wgsl", self.path.replace("::", "/"));
        let handle = shaders.add(Shader::from_wgsl((self.source)(), file));
        // As `load_shader_library!` does: nothing else holds a library.
        core::mem::forget(handle);
    }
}

/// Where the fields of a struct lie, as the Rust side writes them.
#[cfg(test)]
pub(super) struct StructLayout {
    pub name: &'static str,
    pub fields: Vec<(&'static str, u64)>,
    pub size: u64,
}

/// A Rust type that WGSL has too.
pub(super) trait WgslType {
    /// How WGSL spells it.
    const NAME: &'static str;
}

macro_rules! wgsl_types {
    ($($rust:ty => $wgsl:literal,)*) => {
        $(impl WgslType for $rust { const NAME: &'static str = $wgsl; })*
    };
}

wgsl_types! {
    f32 => "f32",
    u32 => "u32",
    i32 => "i32",
    Vec2 => "vec2<f32>",
    Vec4 => "vec4<f32>",
    UVec2 => "vec2<u32>",
    UVec4 => "vec4<u32>",
    [Vec4; 5] => "array<vec4<f32>, 5>",
}

/// A value that WGSL can hold as a constant.
pub(super) trait WgslValue: WgslType {
    /// An expression of exactly this value.
    fn literal(&self) -> String;
}

impl WgslValue for f32 {
    /// The shortest decimal number that is read back as the same bits.
    fn literal(&self) -> String {
        format!("{self:?}f")
    }
}

impl WgslValue for u32 {
    fn literal(&self) -> String {
        format!("{self}u")
    }
}

impl WgslValue for i32 {
    fn literal(&self) -> String {
        format!("{self}i")
    }
}

impl WgslValue for Vec2 {
    fn literal(&self) -> String {
        format!("vec2<f32>({}, {})", self.x.literal(), self.y.literal())
    }
}

/// Declares a [`ShaderModule`] and the Rust side of its structs:
///
/// ```text
/// shader_module! {
///     pub(super) static MODULE = "bevy_erode::gpu::thermal::constants";
///     import "bevy_erode::gpu::other::Name";
///     constants { HIGH: f32 = WALL; }
///     /// A struct without a binding is an entry of a list.
///     struct ThermalConstants as thermal at (1, 0) { ... }
/// }
/// ```
macro_rules! shader_module {
    (
        $(#[$attribute:meta])*
        $visibility:vis static $module:ident = $path:literal;
        $(import $import:literal;)*
        constants {
            $(
                $(#[doc = $constant_doc:literal])*
                $constant:ident: $constant_type:ty = $value:expr;
            )*
        }
        $(
            $(#[doc = $struct_doc:literal])*
            struct $name:ident $(as $variable:ident at ($group:literal, $binding:literal))? {
                $(
                    $(#[doc = $field_doc:literal])*
                    $field:ident: $field_type:ty,
                )*
            }
        )*
    ) => {
        $(
            $(#[doc = $struct_doc])*
            #[derive(bevy::render::render_resource::ShaderType, Clone, Copy, Debug, Default, PartialEq)]
            $visibility struct $name {
                $(
                    $(#[doc = $field_doc])*
                    pub $field: $field_type,
                )*
            }

            impl $crate::gpu::shader_module::WgslType for $name {
                const NAME: &'static str = stringify!($name);
            }
        )*

        $(#[$attribute])*
        $visibility static $module: $crate::gpu::shader_module::ShaderModule =
            $crate::gpu::shader_module::ShaderModule {
                path: $path,
                source: || {
                    #[allow(unused_imports)]
                    use $crate::gpu::shader_module::{WgslType, WgslValue};
                    let mut text = String::from(concat!("#define_import_path ", $path, "\n\n"));
                    $(text += concat!("#import ", $import, "\n");)*
                    $(
                        $(text += concat!("//", $constant_doc, "\n");)*
                        let value: $constant_type = $value;
                        text += &format!(
                            "const {}: {} = {};\n",
                            stringify!($constant),
                            <$constant_type as WgslType>::NAME,
                            value.literal(),
                        );
                    )*
                    $(
                        $(text += concat!("//", $struct_doc, "\n");)*
                        text += concat!("struct ", stringify!($name), " {\n");
                        $(
                            $(text += concat!("    //", $field_doc, "\n");)*
                            text += &format!(
                                "    {}: {},\n",
                                stringify!($field),
                                <$field_type as WgslType>::NAME,
                            );
                        )*
                        text += "}\n";
                        $(
                            text += &format!(
                                "@group({}) @binding({}) var<uniform> {}: {};\n",
                                $group,
                                $binding,
                                stringify!($variable),
                                stringify!($name),
                            );
                        )?
                    )*
                    text
                },
                #[cfg(test)]
                layouts: || {
                    use bevy::render::render_resource::ShaderType;
                    vec![$(
                        $crate::gpu::shader_module::StructLayout {
                            name: stringify!($name),
                            fields: [$(stringify!($field)),*]
                                .into_iter()
                                .zip(<$name as ShaderType>::METADATA.extra.offsets)
                                .collect(),
                            size: <$name as ShaderType>::min_size().get(),
                        }
                    ),*]
                },
            };
    };
}
pub(super) use shader_module;
