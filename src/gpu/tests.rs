//! The shaders as the app composes them, against the Rust side of what they share.

use super::{
    MODULES,
    pass::{Access, all_passes},
    shader_module::WgslValue,
    status,
};
use crate::{models::pipe::rows::power, terrain::FILM};
use bevy::{
    asset::{AssetId, uuid::Uuid},
    render::render_resource::WgpuFeatures,
    shader::{Shader, ShaderCache, ShaderCacheError, ShaderCacheSource},
};
use std::collections::BTreeSet;
use wgpu::naga::{AddressSpace, Expression, Literal, Module, StorageAccess, TypeInner};

/// All passes, composed with what they import.
fn composed() -> Vec<(&'static str, Module)> {
    let (features, flags) = (WgpuFeatures::empty(), wgpu::DownlevelFlags::all());
    let mut cache = ShaderCache::new((), features, flags, |(), source, _| match source {
        ShaderCacheSource::Naga(module) => Ok(module),
        _ => Err(ShaderCacheError::ShaderImportNotYetAvailable),
    });
    let mut number = 0;
    let mut id = || {
        number += 1;
        AssetId::<Shader>::from(Uuid::from_u128(number))
    };
    let mut add = |text: String| {
        let id = id();
        cache.set_shader(id, Shader::from_wgsl(text, format!("{id}.wgsl")));
        id
    };
    add(include_str!("../view/colors.wgsl").into());
    for module in MODULES {
        for constants in module.constants {
            add((constants.source)());
        }
        for library in module.libraries {
            add(library.source.into());
        }
    }
    let passes: Vec<_> = all_passes()
        .map(|pass| (pass.label, add(pass.shader.source.into())))
        .collect();
    passes
        .into_iter()
        .enumerate()
        .map(|(number, (label, id))| {
            let module = cache.get(number, id, &[]);
            let module = module.unwrap_or_else(|error| panic!("{label}: {error}"));
            (label, Module::clone(&module))
        })
        .collect()
}

/// Whether this is the name that composing gives to something of that name.
fn is_named(found: Option<&String>, name: &str) -> bool {
    found
        .and_then(|found| found.strip_prefix(name))
        .is_some_and(|rest| rest.starts_with("X_naga_oil_mod_X"))
}

#[test]
fn structs_lie_in_shaders_as_rust_writes_them() {
    let passes = composed();
    let mut structs = 0;
    for layout in MODULES
        .iter()
        .flat_map(|module| module.constants)
        .flat_map(|constants| (constants.layouts)())
    {
        let mut found = 0;
        for (label, module) in &passes {
            let types = module.types.iter().map(|(_, found)| found);
            for found_type in types.filter(|found| is_named(found.name.as_ref(), layout.name)) {
                let TypeInner::Struct { members, span } = &found_type.inner else {
                    panic!("{label}: {} is not a struct", layout.name);
                };
                let members: Vec<_> = members
                    .iter()
                    .map(|member| {
                        let name = member.name.as_deref().unwrap_or_default();
                        (name, u64::from(member.offset))
                    })
                    .collect();
                assert_eq!(members, layout.fields, "{label}: {}", layout.name);
                assert_eq!(u64::from(*span), layout.size, "{label}: {}", layout.name);
                found += 1;
            }
        }
        assert!(found > 0, "no pass uses {}", layout.name);
        structs += 1;
    }
    assert!(structs >= 10, "{structs} structs");
    // Written by hand on both sides, for the view draws with it too.
    #[cfg(feature = "render")]
    for (label, module) in &passes {
        use crate::view::colors::PaletteUniform;
        use bevy::render::render_resource::ShaderType;
        let types = module.types.iter().map(|(_, found)| found);
        for found in types.filter(|found| is_named(found.name.as_ref(), "Palette")) {
            let TypeInner::Struct { members, span } = &found.inner else {
                panic!("{label}: Palette is not a struct");
            };
            let offsets = members.iter().map(|member| u64::from(member.offset));
            assert!(
                offsets.eq(PaletteUniform::METADATA.extra.offsets),
                "{label}"
            );
            assert_eq!(u64::from(*span), PaletteUniform::min_size().get());
        }
    }
}

#[test]
fn passes_bind_what_their_shaders_declare() {
    for (label, module) in composed() {
        let pass = all_passes().find(|pass| pass.label == label);
        let pass = pass.expect("composed from it");
        let mut declared = 0;
        for (_, variable) in module.global_variables.iter() {
            let Some(place) = &variable.binding else {
                continue;
            };
            let name = variable.name.as_deref().unwrap_or_default();
            let inner = &module.types[variable.ty].inner;
            match (place.group, place.binding) {
                (0, 0) => assert_eq!(variable.space, AddressSpace::Uniform, "{label}: {name}"),
                (0, number) => {
                    let (binding, access) = pass.bindings[number as usize - 1];
                    let is_texture = matches!(inner, TypeInner::Image { .. });
                    assert_eq!(is_texture, binding.is_texture(), "{label}: {name}");
                    if let AddressSpace::Storage { access: declared } = variable.space {
                        let only_reads = !declared.contains(StorageAccess::STORE);
                        assert_eq!(only_reads, access == Access::Read, "{label}: {name}");
                    }
                    declared += 1;
                }
                (1, 0) => {
                    let size = pass.constants.map(|size| size().get());
                    let TypeInner::Struct { span, .. } = inner else {
                        panic!("{label}: {name} is not a struct");
                    };
                    assert_eq!(size, Some(u64::from(*span)), "{label}: {name}");
                }
                (group, binding) => panic!("{label}: {name} at {group}, {binding}"),
            }
        }
        assert_eq!(declared, pass.bindings.len(), "{label}");
    }
}

#[test]
fn constants_have_the_same_bits_in_shaders() {
    let wanted = [
        ("FILM", FILM),
        ("POWER_SQUARE", power::SQUARE),
        ("POWER_LINE", power::LINE),
        ("POWER_START", power::START),
    ];
    let passes = composed();
    for (name, value) in wanted {
        let mut found = 0;
        for (label, module) in &passes {
            let constants = module.constants.iter().map(|(_, constant)| constant);
            for constant in constants.filter(|found| is_named(found.name.as_ref(), name)) {
                let init = &module.global_expressions[constant.init];
                let Expression::Literal(Literal::F32(number)) = init else {
                    panic!("{label}: {name} is {init:?}");
                };
                assert_eq!(number.to_bits(), value.to_bits(), "{label}: {name}");
                found += 1;
            }
        }
        assert!(found > 0, "no pass uses {name}");
    }
}

#[test]
fn floats_are_written_exactly() {
    let extremes = [1e-5, 0.1, f32::MIN_POSITIVE, f32::MAX, -1.5e-45, 1.0 / 3.0];
    for value in extremes {
        let text = value.literal();
        let number = text.strip_suffix('f').and_then(|text| text.parse().ok());
        let bits = number.map(|number: f32| number.to_bits());
        assert_eq!(bits, Some(value.to_bits()), "{text}");
    }
}

#[test]
fn labels_are_unique() {
    let mut labels = BTreeSet::new();
    for pass in all_passes() {
        assert!(labels.insert(pass.label), "{} is there twice", pass.label);
    }
}

#[test]
fn words_of_the_status_header_are_used_once() {
    let mut words: Vec<u32> = [status::PACE, status::DEEPEST, status::LEVEL_CHANGE].concat();
    words.extend([status::LOST_TIME, status::DEFICIT]);
    words.extend(status::DROPLET_SUMS..status::DROPLET_SUMS + 4);
    let count = words.len();
    let unique: BTreeSet<u32> = words.into_iter().collect();
    assert_eq!(unique.len(), count);
}

#[test]
fn shaders_are_imported_by_their_path() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.join("gpu")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "wgsl") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let place = path.strip_prefix(&root).expect("below the root");
            let names = place.with_extension("");
            let names = names.iter().map(|name| name.to_string_lossy());
            let names: Vec<_> = names.collect();
            let wanted = format!("#define_import_path bevy_erode::{}\n", names.join("::"));
            assert!(text.contains(&wanted), "{}", place.display());
            files += 1;
        }
    }
    assert!(files > 30, "{files} files");
}
