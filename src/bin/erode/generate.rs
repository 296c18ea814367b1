//! Generated terrains.

use crate::{
    args::GenerateArgs,
    failure::Failure,
    input::{Land, check_cell_size},
    job,
    passes::Given,
    settings::{self, Assignment},
};
use bevy_erode::prelude::*;
use bevy_erode::terrain::landform::LandformKind;

/// What `erode generate …` does.
pub fn run(mut args: GenerateArgs) -> Result<(), Failure> {
    check_cell_size(args.cell_size)?;
    let sets = args.passes.take_land();
    let (text, landform) = read_landform(&args.land, args.run.seed, &sets)?;
    let given = Given {
        preset: job::read_preset(&args.run)?,
        scene: None,
    };
    let passes = args.passes.passes(&given, args.run.seed)?;
    job::run(&args.run, passes, || {
        let terrain = Terrain::generate(&landform, args.size.into(), args.cell_size);
        let terrain = terrain.map_err(|error| Failure::usage(format!("{text}: {error}")))?;
        Ok(Land {
            terrain: job::shape(terrain, args.soil, args.borders)?,
            source: text,
            range: None,
            notice: None,
        })
    })
}

/// A landform by its name and what is set, or as RON.
fn read_landform(
    land: &str,
    seed: Option<u64>,
    sets: &[Assignment],
) -> Result<(String, LandformKind), Failure> {
    if land.contains('(') {
        if let Some(set) = sets.first() {
            let reason = "the landform is given as RON: set it there";
            return Err(Failure::usage(format!("--set {}: {reason}", set.text)));
        }
        let landform = parse(land).map_err(|error| Failure::usage(format!("{land}: {error}")))?;
        return Ok((land.into(), landform));
    }
    let name = camel_case(land);
    let mut text = format!("{name}()");
    let mut landform = parse(&text).map_err(|error| Failure::usage(format!("{land}: {error}")))?;
    let mut fields = Vec::new();
    // A field that is set is not seeded as well.
    let is_seeded = sets.iter().any(|set| set.path == "seed");
    if let Some(seed) = seed.filter(|_| !is_seeded) {
        let field = format!("seed: {seed}");
        match parse(&format!("{name}({field})")) {
            Ok(_) => fields.push(field),
            // Cones and planes have no seed.
            Err(ron::Error::NoSuchStructField { .. }) => {}
            Err(error) => return Err(Failure::usage(format!("--seed {seed}: {error}"))),
        }
    }
    for set in sets {
        if set.path.contains('.') {
            let reason = format!(
                "before any `--model` it sets a field of {name}, expected one name before `=`; for \
                 a part of a field, give the landform as RON"
            );
            return Err(Failure::usage(format!("--set {}: {reason}", set.text)));
        }
        fields.push(format!("{}: {}", set.path, set.value));
        parse(&format!("{name}({}\n)", fields.join(", ")))
            .map_err(|error| Failure::usage(format!("--set {}: {error}", set.text)))?;
    }
    if !fields.is_empty() {
        text = format!("{name}({})", fields.join(", "));
        landform = parse(&text).map_err(|error| Failure::usage(format!("{text}: {error}")))?;
    }
    Ok((text, landform))
}

fn parse(text: &str) -> Result<LandformKind, ron::Error> {
    let read = settings::ron_options().from_str(text);
    read.map_err(|error| error.code)
}

/// `conical-hill` is `ConicalHill`; what is so already stays.
fn camel_case(name: &str) -> String {
    let words = name.split(['-', '_', ' ']).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}
